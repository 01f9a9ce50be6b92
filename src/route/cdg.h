/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The channel dependency graph. A channel is a switch's output port towards another switch, on one
 * VL; it depends on the next when a packet can hold it while it waits for the next. The fabric
 * cannot deadlock when the graph has no cycle.
 *
 * Any number of threads may add to one graph at the same time: a graph is a set, so the order does
 * not matter.
 */
#ifndef WEFT_ROUTE_CDG_H
#define WEFT_ROUTE_CDG_H

#include "route/route.h"

struct cdg {
	const struct fab *f;
	uint32_t nvls;	/* VLs in use; 1 where packets never change lanes */
	uint32_t words; /* that hold one bit for each port of the largest switch */
	uint64_t *bits; /* [vl][port id][next vl][word]: the next switch's output ports */
};

typedef VEC(struct rt_channel) cdg_path;

void cdg_init(struct cdg *c, const struct fab *f, uint32_t nvls);
void cdg_free(struct cdg *c);

static inline uint64_t *cdg_row(const struct cdg *c, port_id from, unsigned vl, unsigned next_vl)
{
	return c->bits + (((size_t)vl * c->f->nports + from) * c->nvls + next_vl) * c->words;
}

/* Packets that leave by `from` on `vl` may leave the switch behind it by `out` on `next_vl`. */
static inline void cdg_add(struct cdg *c, port_id from, unsigned vl, unsigned out, unsigned next_vl)
{
	uint64_t *w = cdg_row(c, from, vl, next_vl) + out / 64, bit = 1ull << out % 64;

	if (!(__atomic_load_n(w, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(w, bit, __ATOMIC_RELAXED);
}

/* Add all dependencies of another graph over the same channels. One thread at a time. */
void cdg_unite(struct cdg *to, const struct cdg *from);
/* No packet goes from port `in` to port `out` of switch sw on any VL: remove those dependencies. */
void cdg_cut(struct cdg *c, uint32_t sw, unsigned in, unsigned out);

/* Channels are numbered vl * nports + port id. The number of the cyclic part that each channel
 * belongs to, 0: none. Returns how many parts there are. */
uint32_t cdg_parts(const struct cdg *c, uint32_t *part);

/* Strongly connected parts that hold a cycle, and how many channels are in them; path gets a short
 * cycle of the smallest. */
uint32_t cdg_cycles(const struct cdg *c, cdg_path *path, uint32_t *channels);

#endif
