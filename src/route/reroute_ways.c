/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways that are left for one LID after a change: distances over entries that stay, and the choice among equal ports. State:
 * struct solve of reroute.c. Ways in: reroute_offers(), reroute_decide(). Changes no entry.
 */
#include "route/reroute.h"

/* ---- distances ---- */

/* Follows the entries from a switch that is not marked to one with a known distance. */
static void walk(struct solve *z, uint32_t s)
{
	const struct switch_graph *g = &z->x.g;
	uint32_t n = 0;

	while (z->known[s] != z->stamp) {
		uint32_t a = reroute_arc(z, s);

		z->known[s] = z->stamp;
		z->down[s] = z->dist[s] = NO_WAY;
		if (a == FAB_NONE)
			break;
		z->path[n++] = a;
		s = g->arc[a].to;
	}
	while (n--) {
		uint32_t a = z->path[n], v = g->arc[a].to;

		s = g->arc[a].from;
		if (z->dist[v] == NO_WAY)
			continue;
		z->dist[s] = (uint16_t)(z->dist[v] + 1);
		if (z->down[v] != NO_WAY && !z->upper[a])
			z->down[s] = (uint16_t)(z->down[v] + 1);
	}
}

/* One look tells of most switches that their route does not lead down. */
static inline uint16_t down_of(struct solve *z, uint32_t s)
{
	if (z->known[s] != z->stamp) {
		uint32_t a = reroute_arc(z, s);

		if (a == FAB_NONE || z->upper[a])
			return NO_WAY;
		walk(z, s);
	}
	return z->down[s];
}

static inline uint16_t dist_of(struct solve *z, uint32_t s)
{
	if (z->known[s] != z->stamp)
		walk(z, s);
	return z->dist[s];
}

static inline uint16_t step(uint16_t d)
{
	return (uint16_t)(d + (d != NO_WAY));
}

uint16_t reroute_offers(struct solve *z, uint32_t i, bool up)
{
	const struct switch_graph *g = &z->x.g;
	uint32_t s = z->todo[i], *offer = z->offer + (size_t)i * g->ports;
	uint16_t best = NO_WAY, n = 0;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint16_t d;

		if (z->upper[a] != up)
			continue;
		d = step(up ? dist_of(z, g->arc[a].to) : down_of(z, g->arc[a].to));
		if (d < best) {
			best = d;
			n = 0;
		}
		if (d == best && d != NO_WAY)
			offer[n++] = a;
	}
	z->noffers[i] = n;
	return best;
}

/* ---- choices ---- */

/* The arc to which the fewest entries were moved so far; of equals the next one after the port that the entry had, where
 * it had none by the number of the LID. */
static uint32_t choose(const struct solve *z, const uint32_t *arc, unsigned n, uint8_t had)
{
	const struct graph_arc *of = z->x.g.arc;
	unsigned start = had == IBA_PORT_NONE ? z->lid % n : 0;
	uint32_t best;

	while (had != IBA_PORT_NONE && start < n && of[arc[start]].port < had)
		start++;
	best = arc[start % n];
	for (unsigned i = 1; i < n; i++) {
		uint32_t a = arc[(start + i) % n];

		if (z->added[a] < z->added[best])
			best = a;
	}
	return best;
}

uint32_t reroute_decide(const struct solve *z, uint32_t i, uint8_t *port)
{
	uint8_t had = z->x.lost[z->lid] ? IBA_PORT_NONE : *reroute_entry(z, z->todo[i]);
	const uint32_t *arc = z->offer + (size_t)i * z->x.g.ports;
	uint32_t best;

	*port = had;
	for (unsigned k = 0; k < z->noffers[i]; k++)
		if (z->x.g.arc[arc[k]].port == had)
			return z->x.g.narcs;
	*port = IBA_PORT_NONE;
	if (!z->noffers[i])
		return z->x.g.narcs;
	best = choose(z, arc, z->noffers[i], had);
	*port = z->x.g.arc[best].port;
	return best;
}
