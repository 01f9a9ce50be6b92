/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A route through forwarding tables, hop by hop, with the lowest MTU and rate on its way. State: struct sa_walk of the caller.
 * Trusts nothing: tables that lead to a port without a link, to another host or in a circle lead nowhere.
 */
#include "sa/paths.h"

static void narrow(struct sa_walk *w, port_id p)
{
	w->mtu = MIN(w->mtu, w->v->mtu[p]);
	w->rate = MIN(w->rate, w->v->rate[p]);
}

/* Over the link of a port. */
static enum sa_step cross(struct sa_walk *w, port_id near)
{
	const struct sa_link *x = &w->v->links[near];

	if (x->far == FAB_NONE)
		return SA_LOST;
	w->mtu = MIN(w->mtu, x->mtu);
	w->rate = MIN(w->rate, x->rate);
	if (x->sw == FAB_NONE)
		return x->far == w->to ? SA_THERE : SA_LOST;
	w->sw = x->sw;
	w->node = w->v->fab->switches[x->sw];
	w->in = x->in;
	return SA_ON;
}

void sa_walk_begin(struct sa_walk *w, const struct sa_view *v, const struct rt_tables *t,
		   port_id from, port_id to, uint16_t dlid)
{
	const struct fab_port *p = &v->fab->ports[from];

	*w = (struct sa_walk){
		.v = v, .t = t, .to = to, .dlid = dlid, .mtu = UINT8_MAX, .rate = UINT16_MAX};
	narrow(w, from);
	if (from == to) {
		w->step = SA_THERE;
	} else if (fab_is_switch(v->fab, p->node)) {
		w->node = p->node;
		w->sw = v->fab->switch_index[p->node];
		w->step = SA_ON;
	} else {
		w->step = cross(w, from);
	}
	if (w->step == SA_ON && dlid <= t->top_lid)
		w->sl = (uint8_t)rt_sl(t, w->sw, w->in, dlid);
}

static uint8_t entry(const struct sa_walk *w)
{
	uint8_t out = w->dlid <= w->t->top_lid ? rt_row(w->t, w->sw)[w->dlid] : IBA_PORT_NONE;

	return out == IBA_PORT_NONE && w->t->dflt && w->dlid <= w->t->top_lid ? w->t->dflt[w->sw]
									      : out;
}

/* The switch maps this SL to a lane that it has. */
static bool has_lane(const struct sa_walk *w)
{
	return !w->t->lanes || rt_vl(w->t, w->sw, w->in, w->out, w->sl) < rt_nvls(w->t);
}

void sa_walk_on(struct sa_walk *w)
{
	const struct fab *f = w->v->fab;
	const struct fab_node *n = &f->nodes[w->node];

	w->out = entry(w);
	if (w->hops++ > f->nswitches) {
		w->step = SA_LOST;
	} else if (!w->out) {
		w->step = w->to == n->first_port ? SA_THERE : SA_LOST;
		narrow(w, n->first_port);
	} else if (w->out > n->nports || !has_lane(w)) {
		w->step = SA_LOST;
	} else {
		w->step = cross(w, n->first_port + w->out);
	}
}
