/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets cut short: a link that dies in the middle of a packet takes the tail of what has its head
 * beyond, wherever that is, and of every copy that multicast made of it behind the cut. State: the
 * lineage of copies, empty without multicast. Ways in: cut_receiving(), cut_copied(). Does not
 * discard: who gets a broken packet does.
 */
#include "sim/plane.h"

/* A copy has left; until `whole` its bytes still come from the packet it was made of. */
void cut_copied(struct sim *s, uint32_t parent, uint32_t copy, time_ps whole)
{
	struct plane *pl = s->plane;

	if (copy >= pl->nlineage) {
		uint32_t n = MAX(2 * pl->nlineage, copy + 64);

		pl->lineage = mem_resize(pl->lineage, n, sizeof(*pl->lineage));
		memset(pl->lineage + pl->nlineage, 0, (n - pl->nlineage) * sizeof(*pl->lineage));
		pl->nlineage = n;
	}
	pl->lineage[copy] = (struct lineage){.parent = parent, .made = s->now, .whole = whole};
}

/* Links die rarely, so copies are found by looking at all. Those made before `since` were made
 * upstream of the cut: the packet goes on only when its last copy does. */
static void mark(struct sim *s, uint32_t pkt, time_ps since, enum sim_discard why)
{
	struct plane *pl = s->plane;

	if (!pl->pkts.at[pkt].broken) {
		pl->pkts.at[pkt].broken = true;
		pl->pkts.at[pkt].why = (uint8_t)why;
	}
	for (uint32_t i = 0; i < pl->nlineage; i++) {
		struct lineage *l = &pl->lineage[i];

		if (l->parent != pkt || l->whole <= s->now || l->made < since)
			continue;
		l->whole = 0; /* told once, so that this ends */
		mark(s, i, 0, why);
	}
}

/* When the header of what is being received came: its cell is the last of its channel. */
static time_ps receiving_since(const struct plane *pl, port_id p)
{
	for (unsigned slot = 0; slot < pl->nslots; slot++) {
		uint32_t cell = pl->in[chan_of(pl, p, slot)].tail;

		if (cell != CELL_NONE && pl->cells.at[cell].pkt == pl->ports[p].rx_pkt)
			return pl->cells.at[cell].ready;
	}
	return 0;
}

void cut_receiving(struct sim *s, port_id p, enum sim_discard why)
{
	struct plane_port *port = &s->plane->ports[p];

	if (port->rx_pkt != PKT_NONE && port->rx_tail > s->now &&
	    s->plane->pkts.at[port->rx_pkt].refs)
		mark(s, port->rx_pkt, receiving_since(s->plane, p), why);
	port->rx_pkt = PKT_NONE;
}
