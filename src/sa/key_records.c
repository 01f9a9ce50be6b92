/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * P_KeyTableRecord and GUIDInfoRecord, by block. No state. Keys are for trusted requesters alone (IBA 15.4.1.2). GUID 0 of a
 * port is its own; those of machines that share the port stand at the numbers of their slots, aliases where they were set.
 */
#include "sa/aliases.h"
#include "sa/records.h"

enum { KEYS = SM_PKEYS_A_BLOCK, GUIDS = 8 };

/* ---- P_Keys ---- */

/* How many keys a port has room for: of a switch's external port what it can enforce. A node that was restored from saved
 * state has at least one block. */
static unsigned key_room(const struct sa_view *v, port_id p)
{
	const struct fab_port *x = &v->fab->ports[p];
	uint64_t guid = v->fab->nodes[x->node].guid;
	struct iba_switch_info si;
	struct iba_node_info ni;

	if (!fab_is_switch(v->fab, x->node) || !x->num)
		return sm_node_info(v->sm, guid, &ni) ? MAX(ni.partition_cap, 1u) : 0;
	return sm_switch_info(v->sm, guid, &si) ? si.partition_enf_cap : 0;
}

/* Of a port, or of the VF in this slot behind it. */
static void key_blocks(struct sa *sa, const struct sa_request *q, const struct iba_sa_pkey *ask,
		       struct sa_answer *a, port_id p, const struct sa_end *vf)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *x = &v->fab->ports[p];
	struct iba_pkey_table t;

	for (unsigned b = 0; b * KEYS < key_room(v, p); b++) {
		struct iba_sa_pkey r = {.lid = vf ? vf->lid : sa_lid_of(v, p),
					.block = (uint16_t)b,
					.port = x->num};

		if ((sa_asks(q, pkey, block) && b != ask->block) ||
		    !sm_pkey_block(v->sm, v->fab->nodes[x->node].guid, x->num + (vf ? vf->slot : 0),
				   b, t.pkey))
			continue;
		iba_pkey_table_put(&t, r.pkeys);
		iba_sa_pkey_put(&r, sa_record(a));
		sa_record_match(a, q, IBA_SA_BIT(pkey, lid));
	}
}

static void keys(struct sa *sa, const struct sa_request *q, const struct iba_sa_pkey *ask,
		 struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	const struct sa_end *e;

	if (!sa_lid_of(v, p))
		return;
	if (!sa_asks(q, pkey, lid) || sa_port_has_lid(v, sa_endport(v, p), ask->lid))
		key_blocks(sa, q, ask, a, p, NULL);
	for (uint32_t k = 0; (e = sa_vf_at(v, p, k)); k++)
		if (!sa_asks(q, pkey, lid) || e->lid == ask->lid)
			key_blocks(sa, q, ask, a, p, e);
}

void sa_pkey_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_pkey ask;

	if (!q->trusted) {
		a->status = IBA_SA_INVALID;
		return;
	}
	iba_sa_pkey_get(&ask, q->query, IBA_SA_DATA_SIZE);
	at = sa_nodes_with(v, sa_asks(q, pkey, lid), ask.lid);
	for (node_id n = at.first; n < at.end; n++) {
		const struct fab_node *x = &v->fab->nodes[n];
		unsigned first = sa_asks(q, pkey, port) ? ask.port : 0;
		unsigned last = sa_asks(q, pkey, port) ? ask.port : x->nports;

		for (unsigned i = first; i <= last && i <= x->nports; i++)
			keys(sa, q, &ask, a, x->first_port + i);
	}
}

/* ---- GUIDs ---- */

static uint64_t guid_at(const struct sa *sa, port_id p, unsigned i)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *x = &v->fab->ports[p];
	uint64_t guid = i ? sm_shared_guid(v->sm, v->fab->nodes[x->node].guid, i) : x->guid;

	return guid ? guid : sa_alias_at(sa, x->guid, i);
}

static void guid_block(const struct sa *sa, port_id p, unsigned block, uint8_t *out)
{
	const struct sa_view *v = &sa->view;
	struct iba_sa_guid r = {.lid = v->fab->ports[p].lid, .block = (uint8_t)block};
	uint64_t *at[GUIDS] = {&r.guid0, &r.guid1, &r.guid2, &r.guid3,
			       &r.guid4, &r.guid5, &r.guid6, &r.guid7};

	for (unsigned i = 0; i < GUIDS; i++)
		*at[i] = guid_at(sa, p, block * GUIDS + i);
	iba_sa_guid_put(&r, out);
}

/* A VF has one GUID: its own, or that of the machine that is there. */
static void vf_guids(struct sa *sa, const struct sa_request *q, const struct iba_sa_guid *ask,
		     struct sa_answer *a, port_id p)
{
	const struct sa_end *e;

	for (uint32_t k = 0; (e = sa_vf_at(&sa->view, p, k)); k++) {
		struct iba_sa_guid r = {.lid = e->lid, .guid0 = e->guid};

		if ((sa_asks(q, guid, lid) && e->lid != ask->lid) || !sa_may_ask_of(sa, q, e))
			continue;
		iba_sa_guid_put(&r, sa_record(a));
		sa_record_match(a, q, IBA_SA_BIT(guid, lid));
	}
}

static void guids(struct sa *sa, const struct sa_request *q, const struct iba_sa_guid *ask,
		  struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	struct iba_port_info pi;

	if ((sa_asks(q, guid, lid) && !sa_port_has_lid(v, p, ask->lid)) || !v->fab->ports[p].lid ||
	    !sa_port_info(v, p, &pi) || !sa_may_see(sa, q, p))
		return;
	for (unsigned b = 0; b == 0 || b * GUIDS < pi.guid_cap; b++) {
		if (sa_asks(q, guid, block) && b != ask->block)
			continue;
		guid_block(sa, p, b, sa_record(a));
		sa_record_match(a, q, IBA_SA_BIT(guid, lid));
	}
}

void sa_guid_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_guid ask;
	port_id p;

	iba_sa_guid_get(&ask, q->query, IBA_SA_DATA_SIZE);
	if (q->method == SA_SET || q->method == SA_DELETE) {
		p = sa_alias_request(sa, q, &ask, a);
		if (p != FAB_NONE)
			guid_block(sa, p, ask.block, sa_record(a));
		return;
	}
	at = sa_nodes_with(v, sa_asks(q, guid, lid), ask.lid);
	for (node_id n = at.first; n < at.end; n++)
		for (unsigned k = 0; (p = sa_linked_port(v, n, k)) != FAB_NONE; k++) {
			guids(sa, q, &ask, a, p);
			vf_guids(sa, q, &ask, a, p);
		}
}
