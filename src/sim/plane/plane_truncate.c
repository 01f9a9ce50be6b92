/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets cut short: a link that dies in the middle of a packet takes the tail of what has its head
 * beyond, wherever that is, and of every copy that multicast made of it behind the cut. State: the
 * lineage of copies, empty without multicast and of each part its own (crew.c). Ways in:
 * cut_receiving(), cut_copied(). Does not discard: who gets a broken packet does.
 */
#include "sim/plane/plane_priv.h"

/* What is whole depends on nobody. */
static void forget(struct sim *s)
{
	struct plane *pl = s->plane;
	size_t n = 0;

	for (size_t i = 0; i < pl->lineage.n; i++)
		if (pl->lineage.at[i].whole > s->now)
			pl->lineage.at[n++] = pl->lineage.at[i];
	pl->lineage.n = n;
	pl->lineage_full = 2 * n + 64;
}

/* A copy has left; until the last byte is here it still depends on the packet it was made of. */
void cut_copied(struct sim *s, uint32_t cell, uint32_t copy)
{
	struct plane *pl = s->plane;
	const struct cell *c = &pl->cells.at[cell];

	if (pl->lineage.n >= pl->lineage_full)
		forget(s);
	if (c->tail > s->now)
		vec_push(&pl->lineage, (struct lineage){.pkt = copy,
							.serial = pl->pkts.at[copy].serial,
							.parent = c->pkt,
							.parent_serial = c->serial,
							.made = s->now,
							.whole = c->tail});
}

/* Links die rarely, so copies are found by looking at all. Those made before `since` were made
 * upstream of the cut: the packet goes on only when its last copy does. Its head may have ended
 * somewhere already. */
static void mark(struct sim *s, uint32_t pkt, uint16_t serial, time_ps since, enum sim_discard why)
{
	struct plane *pl = s->plane;
	struct dpkt *p = &pl->pkts.at[pkt];

	if (p->serial == serial && !p->broken) {
		p->broken = true;
		p->why = (uint8_t)why;
	}
	for (size_t i = 0; i < pl->lineage.n; i++) {
		struct lineage *l = &pl->lineage.at[i];

		if (l->parent != pkt || l->parent_serial != serial || l->whole <= s->now ||
		    l->made < since)
			continue;
		l->whole = 0; /* told once, so that this ends */
		mark(s, l->pkt, l->serial, 0, why);
	}
}

/* The cell is there until the tail is. */
void cut_receiving(struct sim *s, port_id p, enum sim_discard why)
{
	struct plane_port *port = &s->plane->ports[p];

	if (port->rx_cell != CELL_NONE && port->rx_tail > s->now) {
		const struct cell *c = &s->plane->cells.at[port->rx_cell];

		mark(s, c->pkt, c->serial, c->ready, why);
	}
	port->rx_cell = CELL_NONE;
}
