/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Given tables as answers to a manager's requests. Keeps no state; ways in: lab_given_seed(), lab_given_answer(). Judges
 * no table: a credit loop in them is what a user wants to see.
 */
#include "lab/given_tables.h"

void lab_given_seed(const struct lab_given *g, struct sm *sm)
{
	for (port_id p = 0; p < g->fab->nports; p++) {
		const struct fab_port *x = &g->fab->ports[p];
		const struct fab_node *n = &g->fab->nodes[x->node];
		bool end = n->type == IBA_NODE_SWITCH ? !x->num : x->num;

		uint64_t guid = x->guid ? x->guid : n->guid + x->num;

		if (n->sriov == FAB_SRIOV_VSWITCH || n->flags & FAB_VSWITCH)
			guid = fab_function_guid(n->guid, 0); /* the manager knows the PF's */
		if (end && x->lid)
			sm_seed_lid(sm, guid, x->lid, x->lmc);
	}
}

/* The same cable, or none on both sides. */
static bool same_link(const struct fab *f, port_id p, const struct fab *g, port_id q)
{
	port_id a = f->ports[p].peer, b = g->ports[q].peer;

	if (a == FAB_NONE || b == FAB_NONE)
		return a == b;
	return f->ports[a].num == g->ports[b].num &&
	       f->nodes[f->ports[a].node].guid == g->nodes[g->ports[b].node].guid;
}

static bool same_lid(const struct fab_port *a, const struct fab_port *b)
{
	return !a->lid || !b->lid || (a->lid == b->lid && a->lmc == b->lmc);
}

static bool is_for(const struct lab_given *g, const struct fab *f)
{
	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *x = &f->nodes[n];
		node_id m = fab_node_by_guid(g->fab, x->guid);

		if (m == FAB_NONE || g->fab->nodes[m].nports != x->nports)
			return false;
		for (unsigned i = 0; i <= x->nports; i++) {
			port_id p = fab_port_id(f, n, i), q = fab_port_id(g->fab, m, i);

			if (!same_lid(&f->ports[p], &g->fab->ports[q]) ||
			    (i && x->type == IBA_NODE_SWITCH && !same_link(f, p, g->fab, q)))
				return false;
		}
	}
	return true;
}

bool lab_given_answer(const struct lab_given *g, const struct sm_compute *c, unsigned threads,
		      struct sm_routes *out, struct sm_work_done *done)
{
	struct err e;

	if (c->defragment || c->ahead || !is_for(g, c->fab))
		return false;
	*out = (struct sm_routes){.epoch = c->epoch, .verified = !c->compare};
	*done = (struct sm_work_done){0};
	if (c->compare) /* they stay, even if others would be better */
		return true;
	out->tables = rt_tables_carry(g->fab, g->tables, c->fab);
	*done = (struct sm_work_done){&rt_fera.cost, c->fab->nswitches, out->tables->entries};
	out->plan.kind = RT_PLAN_ANY_ORDER;
	if (c->plan && c->old &&
	    rt_plan_cut(c->data_fab ? c->data_fab : c->fab, c->old, out->tables, NULL, c->off,
			threads, &out->plan, &e)) {
		out->plan = (struct rt_plan){.kind = RT_PLAN_ANY_ORDER};
		out->unplanned = true;
	}
	return true;
}
