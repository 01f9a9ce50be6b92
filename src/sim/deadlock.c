/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real deadlocks: packets that wait for each other in a ring. An output channel without credit waits
 * for the input buffer at the far end; that buffer's head waits for its own output channel. Every
 * channel waits for at most one other, so a ring is found by walking. State: none. Way in:
 * sim_deadlock(). Does not resolve anything.
 */
#include "sim/plane.h"

/* The output channel that must move before this one can, or CHAN_NONE. */
static uint32_t waits_for(const struct sim *s, uint32_t out)
{
	const struct plane *pl = s->plane;
	port_id port = out / pl->nslots, far = s->ports[port].peer;
	const struct out_chan *o = &pl->out[out];
	const struct in_chan *in;
	unsigned blocks;

	if (o->head == CELL_NONE || far == FAB_NONE || slot_is_15(pl, out % pl->nslots))
		return CHAN_NONE;
	blocks = pl->pkts.at[pl->cells.at[o->head].pkt].blocks;
	if (((o->fccl - (o->fctbs + blocks)) & 0xfff) <= 2048)
		return CHAN_NONE;
	in = &pl->in[chan_of(pl, far, out % pl->nslots)];
	if (in->state != IN_WAITING || in->head == CELL_NONE)
		return CHAN_NONE;
	return chan_of(pl, s->fab->nodes[s->fab->ports[far].node].first_port + in->out, in->out_slot);
}

size_t sim_deadlock(struct sim *s, port_id **ring)
{
	const struct plane *pl = s->plane;
	uint32_t nchans = s->fab->nports * (pl ? pl->nslots : 0);
	uint32_t *mark = mem_zarray(nchans, sizeof(*mark)); /* the walk that came by, from 1 */
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
			(*ring)[n++] = d / pl->nslots;
	}
	free(mark);
	return n;
}
