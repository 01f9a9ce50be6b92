/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlocks: packets that wait for each other in a cycle. An output channel without credits waits
 * for the input buffer at the far end; that buffer's head waits for its own output channel. Every
 * channel waits for at most one other, so a cycle is found by walking. State: none. Ways in:
 * sim_deadlock(), and sim_plane_buffered() for a search that follows packets through tables. Does
 * not resolve a deadlock.
 */
#include "sim/plane/plane_priv.h"

static unsigned head_blocks(const struct plane *pl, uint32_t cell)
{
	return pl->cells.at[cell].blocks;
}

/* The far buffer has no room for the head, even with the credits that are on the link. */
static bool out_stuck(const struct sim *s, uint32_t out)
{
	const struct plane *pl = s->plane;
	const struct out_chan *o = &pl->out[out];
	port_id far = s->ports[chan_port(pl, out)].peer;
	const struct in_chan *in;
	unsigned coming;

	if (o->head == CELL_NONE || far == FAB_NONE || slot_is_15(pl, chan_slot(pl, out)))
		return false;
	in = &pl->in[chan_of(pl, far, chan_slot(pl, out))];
	coming = (o->fctbs - in->abr) & 0xfffu;
	return in->used + coming + head_blocks(pl, o->head) > in->cap;
}

/* The output buffer has no room for the first packet that waits to cross. */
static bool in_stuck(const struct sim *s, uint32_t out)
{
	const struct plane *pl = s->plane;
	const struct out_chan *o = &pl->out[out];
	const struct plane_port *port = &pl->ports[chan_port(pl, out)];
	unsigned leaving =
		port->tx_busy && port->tx_slot == chan_slot(pl, out) ? port->tx_blocks : 0;

	return o->wait_head != CHAN_NONE &&
	       o->used - leaving + head_blocks(pl, pl->in[o->wait_head].head) > o->cap;
}

/* The output channel that must move before this one can, or CHAN_NONE. */
static uint32_t waits_for(const struct sim *s, uint32_t out)
{
	const struct plane *pl = s->plane;
	port_id far = s->ports[chan_port(pl, out)].peer;
	const struct in_chan *in;
	uint32_t next;

	if (!out_stuck(s, out))
		return CHAN_NONE;
	in = &pl->in[chan_of(pl, far, chan_slot(pl, out))];
	if (in->state != IN_WAITING)
		return CHAN_NONE;
	next = chan_of(pl, s->fab->nodes[s->fab->ports[far].node].first_port + in->out,
		       in->out_slot);
	return in_stuck(s, next) ? next : CHAN_NONE;
}

size_t sim_deadlock(struct sim *s, port_id **ring)
{
	const struct plane *pl = s->plane;
	uint32_t nchans = pl ? s->fab->nports << pl->shift : 0;
	uint32_t *mark = mem_zarray(nchans, sizeof(*mark)); /* the walk that visited it, from 1 */
	size_t n = 0;

	for (uint32_t start = 0; start < nchans && !n; start++) {
		uint32_t c = start;

		while (c != CHAN_NONE && !mark[c]) {
			mark[c] = start + 1;
			c = waits_for(s, c);
		}
		if (c == CHAN_NONE || mark[c] != start + 1)
			continue;
		*ring = mem_array(nchans, sizeof(**ring));
		for (uint32_t d = c; n == 0 || d != c; d = waits_for(s, d))
			(*ring)[n++] = chan_port(pl, d);
	}
	free(mark);
	return n;
}

/* ---- packets in buffers ---- */

struct visit {
	const struct plane *pl;
	void (*fn)(void *ctx, const struct sim_buffered *b);
	void *ctx;
};

static bool has_route(const struct in_chan *in)
{
	return in->state == IN_MAPPING || in->state == IN_WAITING;
}

/* The head is about to be discarded: its output does not accept it. */
static bool is_refused(const struct plane *pl, const struct in_chan *in)
{
	return has_route(in) && in->out_slot >= pl->nslots;
}

static uint32_t second(const struct plane *pl, const struct in_chan *in)
{
	return pl->cells.at[in->head].next;
}

/* b: where they are, and where the first one goes. */
static void visit_cells(const struct visit *v, uint32_t cell, struct sim_buffered b)
{
	for (; cell != CELL_NONE; cell = v->pl->cells.at[cell].next, b.out = 0) {
		const struct cell *c = &v->pl->cells.at[cell];
		const struct dpkt *p = &v->pl->pkts.at[c->pkt];

		b.dlid = p->dlid;
		b.sl = p->sl;
		if (!c->trail && !c->smp && p->dlid < IBA_LID_MCAST_FIRST)
			v->fn(v->ctx, &b);
	}
}

void sim_plane_buffered(const struct sim *s, void (*fn)(void *ctx, const struct sim_buffered *b),
			void *ctx)
{
	struct visit v = {s->plane, fn, ctx};

	for (port_id p = 0; v.pl && s->main.own.stats.in_flight && p < s->fab->nports; p++) {
		port_id far = s->ports[p].peer;

		if (!v.pl->ports[p].in_switch)
			continue;
		for (unsigned vl = 0; vl < v.pl->nvl; vl++) {
			const struct in_chan *in = &v.pl->in[chan_of(v.pl, p, vl)];
			bool routed = has_route(in) && !is_refused(v.pl, in);

			visit_cells(&v, is_refused(v.pl, in) ? second(v.pl, in) : in->head,
				    (struct sim_buffered){.in = p,
							  .vl = vl,
							  .out = routed ? in->out : 0,
							  .out_vl = in->out_slot});
			if (far != FAB_NONE && v.pl->ports[far].in_switch)
				visit_cells(&v, v.pl->out[chan_of(v.pl, p, vl)].head,
					    (struct sim_buffered){.in = far, .vl = vl});
		}
	}
}
