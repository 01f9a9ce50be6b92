/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LinkRecord, one for each direction of a link, and SMInfoRecord, one for each manager that is known. No state. A link is
 * there as long as the snapshot has it.
 */
#include "sa/records.h"

/* ---- links ---- */

static void link_from(struct sa *sa, const struct sa_request *q, const struct iba_sa_link *ask,
		      struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	port_id far = v->fab->ports[p].peer;
	struct iba_sa_link r;

	if (far == FAB_NONE || !sa_may_see(sa, q, sa_endport(v, p)) ||
	    !sa_may_see(sa, q, sa_endport(v, far)) ||
	    (sa_asks(q, link, from_lid) && !sa_port_has_lid(v, sa_endport(v, p), ask->from_lid)) ||
	    (sa_asks(q, link, to_lid) && !sa_port_has_lid(v, sa_endport(v, far), ask->to_lid)))
		return;
	r = (struct iba_sa_link){.from_lid = sa_lid_of(v, p),
				 .from_port = v->fab->ports[p].num,
				 .to_port = v->fab->ports[far].num,
				 .to_lid = sa_lid_of(v, far)};
	iba_sa_link_put(&r, sa_record(a));
	sa_record_match(a, q, IBA_SA_BIT(link, from_lid) | IBA_SA_BIT(link, to_lid));
}

void sa_link_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_link ask;
	bool to;

	iba_sa_link_get(&ask, q->query, IBA_SA_DATA_SIZE);
	to = sa_asks(q, link, to_lid) && !sa_asks(q, link, from_lid);
	at = sa_nodes_with(v, to || sa_asks(q, link, from_lid), to ? ask.to_lid : ask.from_lid);
	for (node_id n = at.first; n < at.end; n++) {
		const struct fab_node *x = &v->fab->nodes[n];

		for (unsigned i = 1; i <= x->nports; i++) {
			port_id p = x->first_port + i, far = v->fab->ports[p].peer;

			if (to && far != FAB_NONE) /* links to this node start at its neighbours */
				link_from(sa, q, &ask, a, far);
			else if (!to)
				link_from(sa, q, &ask, a, p);
		}
	}
}

/* ---- managers ---- */

void sa_sm_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct iba_sa_sm ask;
	struct sm_manager m;

	iba_sa_sm_get(&ask, q->query, IBA_SA_DATA_SIZE);
	for (size_t i = 0; sm_manager_get(v->sm, i, &m); i++) {
		port_id p = sa_port_by_guid(v, m.guid);
		struct iba_sa_sm r = {
			.guid = m.guid, .priority = m.priority, .state = (uint8_t)m.state};

		if (m.silent || p == FAB_NONE || !v->fab->ports[p].lid || !sa_may_see(sa, q, p) ||
		    (sa_asks(q, sm, lid) && !sa_port_has_lid(v, p, ask.lid)))
			continue;
		r.lid = v->fab->ports[p].lid;
		if (m.own) {
			r.act_count = sm_act_count(v->sm);
			r.sm_key = q->trusted ? sa->cfg.sm_key : 0;
		}
		iba_sa_sm_put(&r, sa_record(a));
		sa_record_match(a, q, IBA_SA_BIT(sm, lid));
	}
}
