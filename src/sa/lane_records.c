/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of lanes: SL-to-VL tables and VL arbitration. No state. Tables are as the manager set or read them. Where one lane
 * serves it does neither: such a table is shown as zeros, as OpenSM shows it, since programs expect a record of each port.
 */
#include "sa/records.h"

/* Port numbers that a component names, or all up to the last. */
static void bounds(bool asked, unsigned n, unsigned most, unsigned *first, unsigned *last)
{
	*first = asked ? n : 0;
	*last = asked ? MIN(n, most) : most;
}

/* ---- SL-to-VL ---- */

/* A host has a table for each port, without an input port; its record has neither, whatever a request names (15.2.5.5). */
static void slvl_of_host(struct sa *sa, const struct sa_request *q, const struct iba_sa_slvl *ask,
			 struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *x = &v->fab->ports[p];
	struct iba_sa_slvl r = {.lid = x->lid};
	uint8_t data[IBA_SMP_DATA_SIZE];
	struct iba_slvl_table t;

	if ((sa_asks(q, slvl, lid) && !sa_port_has_lid(v, p, ask->lid)) || !sa_may_see(sa, q, p))
		return;
	if (!sm_sl2vl(v->sm, v->fab->nodes[x->node].guid, 0, x->num, &t))
		t = (struct iba_slvl_table){0};
	iba_slvl_table_put(&t, data);
	memcpy(r.vls, data, sizeof(r.vls));
	iba_sa_slvl_put(&r, sa_record(a));
	sa_record_match(a, q,
			IBA_SA_BIT(slvl, lid) | IBA_SA_BIT(slvl, in_port) |
				IBA_SA_BIT(slvl, out_port));
}

static void slvl_of_switch(struct sa *sa, const struct sa_request *q, const struct iba_sa_slvl *ask,
			   struct sa_answer *a, node_id n)
{
	const struct sa_view *v = &sa->view;
	const struct fab_node *x = &v->fab->nodes[n];
	unsigned in, in_last, out, out_first, out_last;

	if ((sa_asks(q, slvl, lid) && !sa_port_has_lid(v, x->first_port, ask->lid)) ||
	    !sa_may_see(sa, q, x->first_port))
		return;
	bounds(sa_asks(q, slvl, in_port), ask->in_port, x->nports, &in, &in_last);
	bounds(sa_asks(q, slvl, out_port), ask->out_port, x->nports, &out_first, &out_last);
	for (; in <= in_last; in++)
		for (out = out_first; out <= out_last; out++) {
			struct iba_sa_slvl r = {.lid = v->fab->ports[x->first_port].lid,
						.in_port = (uint8_t)in,
						.out_port = (uint8_t)out};
			uint8_t data[IBA_SMP_DATA_SIZE];
			struct iba_slvl_table t;

			if (!sm_sl2vl(v->sm, x->guid, in, out, &t))
				t = (struct iba_slvl_table){0};
			iba_slvl_table_put(&t, data);
			memcpy(r.vls, data, sizeof(r.vls));
			iba_sa_slvl_put(&r, sa_record(a));
			sa_record_match(a, q, IBA_SA_BIT(slvl, lid));
		}
}

void sa_slvl_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_slvl ask;
	port_id p;

	iba_sa_slvl_get(&ask, q->query, IBA_SA_DATA_SIZE);
	at = sa_nodes_with(v, sa_asks(q, slvl, lid), ask.lid);
	for (node_id n = at.first; n < at.end; n++) {
		if (fab_is_switch(v->fab, n))
			slvl_of_switch(sa, q, &ask, a, n);
		else
			for (unsigned k = 0; (p = sa_linked_port(v, n, k)) != FAB_NONE; k++)
				slvl_of_host(sa, q, &ask, a, p);
	}
}

/* ---- VL arbitration ---- */

enum { VLARB_BLOCKS = 4 }; /* from 1: two halves of the low priority table, two of the high one */

static void vlarb(struct sa *sa, const struct sa_request *q, const struct iba_sa_vlarb *ask,
		  struct sa_answer *a, port_id p)
{
	const struct sa_view *v = &sa->view;
	const struct fab_port *x = &v->fab->ports[p];

	if ((sa_asks(q, vlarb, lid) && !sa_port_has_lid(v, sa_endport(v, p), ask->lid)) ||
	    !sa_lid_of(v, p) || !sa_may_see(sa, q, sa_endport(v, p)))
		return;
	for (unsigned b = 1; b <= VLARB_BLOCKS; b++) {
		struct iba_sa_vlarb r = {
			.lid = sa_lid_of(v, p), .out_port = x->num, .block = (uint8_t)b};
		struct iba_vlarb_table t;

		if (!sm_vlarb(v->sm, v->fab->nodes[x->node].guid, x->num, b, &t))
			t = (struct iba_vlarb_table){0};
		iba_vlarb_table_put(&t, r.entries);
		iba_sa_vlarb_put(&r, sa_record(a));
		sa_record_match(a, q, IBA_SA_BIT(vlarb, lid) | IBA_SA_BIT(vlarb, out_port));
	}
}

void sa_vlarb_records(struct sa *sa, const struct sa_request *q, struct sa_answer *a)
{
	const struct sa_view *v = &sa->view;
	struct sa_nodes_asked at;
	struct iba_sa_vlarb ask;

	iba_sa_vlarb_get(&ask, q->query, IBA_SA_DATA_SIZE);
	at = sa_nodes_with(v, sa_asks(q, vlarb, lid), ask.lid);
	for (node_id n = at.first; n < at.end; n++) {
		const struct fab_node *x = &v->fab->nodes[n];
		unsigned i, last;
		port_id p;

		if (!fab_is_switch(v->fab, n)) { /* its LID says which port */
			for (unsigned k = 0; (p = sa_linked_port(v, n, k)) != FAB_NONE; k++)
				vlarb(sa, q, &ask, a, p);
			continue;
		}
		bounds(sa_asks(q, vlarb, out_port), ask.out_port, x->nports, &i, &last);
		for (; i <= last; i++)
			vlarb(sa, q, &ask, a, x->first_port + i);
	}
}
