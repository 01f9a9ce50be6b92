/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PortInfoRecord: all ports of switches, ports of CAs and routers with a LID. No state. PortInfo is as the manager read or set
 * it last. M_Keys are shown to trusted requesters only, also when a request compares with one (IBA 15.2.5.3).
 */
#include "sa/records.h"

enum { RID_SIZE = 4 };

bool sa_port_info(const struct sa_view *v, port_id p, struct iba_port_info *pi)
{
	const struct fab_port *x = &v->fab->ports[p];

	return sm_port_info(v->sm, v->fab->nodes[x->node].guid, x->num, pi);
}

/* The record is its RID and PortInfo as on the wire: all of it, whatever options ask for. */
static void port_record(const struct sa_request *q, struct iba_sa_port rid,
			struct iba_port_info *pi, uint8_t *out)
{
	uint8_t data[IBA_SMP_DATA_SIZE];

	if (!q->trusted)
		pi->m_key = 0;
	rid.options = sa_asks(q, port, options) ? rid.options : 0;
	iba_sa_port_put(&rid, out);
	iba_port_info_put(pi, data);
	memcpy(out + RID_SIZE, data, sizeof(data));
}

/* AttributeModifier says that of these masks bits that are set in the request are to be set, whatever the others are. */
enum { MATCH_CAP_MASK = 1u << 31, MATCH_CAP_MASK2 = 1u << 30 };

static bool capable(const struct sa_request *q, const struct iba_sa_port *ask,
		    const struct iba_port_info *pi, uint64_t *but)
{
	uint32_t how = iba_smp_attr_mod(q->mad);

	*but = IBA_SA_BIT(port, lid) | IBA_SA_BIT(port, options);
	if (how & MATCH_CAP_MASK && sa_asks(q, port, cap_mask)) {
		*but |= IBA_SA_BIT(port, cap_mask);
		if (ask->cap_mask & ~pi->cap_mask)
			return false;
	}
	if (how & MATCH_CAP_MASK2 && sa_asks(q, port, cap_mask2)) {
		*but |= IBA_SA_BIT(port, cap_mask2);
		if (ask->cap_mask2 & ~pi->cap_mask2)
			return false;
	}
	return true;
}

static void port(struct sa *sa, const struct sa_request *q, const struct iba_sa_port *ask,
		 struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	struct iba_port_info pi;
	uint64_t but;

	if ((sa_asks(q, port, lid) && !sa_port_has_lid(v, sa_endport(v, p), ask->lid)) ||
	    !sa_lid_of(v, p) || !sa_port_info(v, p, &pi) || !capable(q, ask, &pi, &but) ||
	    !sa_may_see(sa, q, sa_endport(v, p)))
		return;
	port_record(q,
		    (struct iba_sa_port){.lid = sa_lid_of(v, p),
					 .port = v->fab->ports[p].num,
					 .options = ask->options},
		    &pi, sa_record(a));
	sa_record_match(a, q, but);
}

/* Those of the VFs behind a port: port 1 of each. */
static void vf_ports(struct sa *sa, const struct sa_request *q, const struct iba_sa_port *ask,
		     struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	const struct sa_end *e;
	struct iba_port_info pi;
	uint64_t but;

	for (uint32_t k = 0; (e = sa_vf_at(v, p, k)); k++) {
		if ((sa_asks(q, port, lid) && e->lid != ask->lid) || !sa_vf_port(v, e, &pi) ||
		    !capable(q, ask, &pi, &but) || !sa_may_ask_of(sa, q, e))
			continue;
		port_record(q,
			    (struct iba_sa_port){.lid = e->lid, .port = 1, .options = ask->options},
			    &pi, sa_record(a));
		sa_record_match(a, q, but);
	}
}

void sa_port_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_port ask;

	iba_sa_port_get(&ask, q->query, IBA_SA_DATA_SIZE);
	at = sa_nodes_with(v, sa_asks(q, port, lid), ask.lid);
	for (node_id n = at.first; n < at.end; n++) {
		const struct fab_node *x = &v->fab->nodes[n];
		unsigned first = sa_asks(q, port, port) ? ask.port : 0;
		unsigned last = sa_asks(q, port, port) ? ask.port : x->nports;

		for (unsigned i = first; i <= last && i <= x->nports; i++) {
			port(sa, q, &ask, a, x->first_port + i);
			vf_ports(sa, q, &ask, a, x->first_port + i);
		}
	}
}
