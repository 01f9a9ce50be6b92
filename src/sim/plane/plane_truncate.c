/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Truncated packets: if a link goes down during a transmission, the packet beyond it has lost its
 * tail, and so have all copies that multicast made of it after the link. State: the lineage of
 * copies, empty without multicast, in each shard. Ways in: cut_receiving(), cut_copied(). Does not
 * discard: the receiver of a broken packet does.
 */
#include "sim/plane/plane_priv.h"

/* A complete packet no longer depends on its parent. */
static void forget(struct shard *sh)
{
	size_t n = 0;

	for (size_t i = 0; i < sh->own.lineage.n; i++)
		if (sh->own.lineage.at[i].whole > sh->now)
			sh->own.lineage.at[n++] = sh->own.lineage.at[i];
	sh->own.lineage.n = n;
	sh->own.lineage_full = 2 * n + 64;
}

/* A copy has left; until the last byte has been received it depends on the packet it was made
 * of. */
void cut_copied(struct shard *sh, uint32_t cell, uint32_t copy)
{
	const struct plane *pl = sh->plane;
	const struct cell *c = &pl->cells.at[cell];

	if (sh->own.lineage.n >= sh->own.lineage_full)
		forget(sh);
	if (c->tail > sh->now)
		vec_push(&sh->own.lineage, (struct lineage){.pkt = copy,
							    .serial = pl->pkts.at[copy].serial,
							    .parent = c->pkt,
							    .parent_serial = c->serial,
							    .made = sh->now,
							    .whole = c->tail});
}

/* Links go down rarely, so copies are found by a search of all. Those made before `since` were
 * made upstream of the link: the packet itself leaves with its last copy. Its head may have been
 * discarded already. */
static void mark(struct shard *sh, uint32_t pkt, uint16_t serial, time_ps since,
		 enum sim_discard why)
{
	const struct plane *pl = sh->plane;
	struct dpkt *p = &pl->pkts.at[pkt];

	if (p->serial == serial && !p->broken) {
		p->broken = true;
		p->why = (uint8_t)why;
	}
	for (size_t i = 0; i < sh->own.lineage.n; i++) {
		struct lineage *l = &sh->own.lineage.at[i];

		if (l->parent != pkt || l->parent_serial != serial || l->whole <= sh->now ||
		    l->made < since)
			continue;
		l->whole = 0; /* marked once, so that the recursion ends */
		mark(sh, l->pkt, l->serial, 0, why);
	}
}

/* The cell exists until the tail has been received. */
void cut_receiving(struct shard *sh, port_id p, enum sim_discard why)
{
	struct plane_port *port = &sh->plane->ports[p];

	if (port->rx_cell != CELL_NONE && port->rx_tail > sh->now) {
		const struct cell *c = &sh->plane->cells.at[port->rx_cell];

		mark(sh, c->pkt, c->serial, c->ready, why);
	}
	port->rx_cell = CELL_NONE;
}
