/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Channel dependencies that never get a cycle, where packets may change their VL from link to link. A channel is an arc of
 * the switch graph on one VL.
 *
 * All channels are kept in an order that all dependencies follow (Pearce and Kelly's dynamic topological order): a
 * dependency along the order closes no cycle, and one against it is searched for only between the places of its two ends. An
 * engine whose usual routes follow an order that it knows gives that order at the beginning, and these cost no search.
 */
#ifndef WEFT_ROUTE_CHANNEL_ORDER_H
#define WEFT_ROUTE_CHANNEL_ORDER_H

#include "route/switch_graph.h"

enum { CHANNEL_VLS = 8 }; /* at most */

struct channel_order {
	const struct switch_graph *g;
	uint64_t *has;	 /* [arc][port of the next switch]: bit by VL * CHANNEL_VLS + next VL */
	uint32_t *place; /* by channel */
	uint32_t *at;	 /* by place: the channel */
	uint32_t *mark;	 /* by channel: the last search that met it */
	uint32_t search;
	uint32_t *ahead, *behind, *places; /* of a search */
};

static inline uint32_t channel(uint32_t arc, unsigned vl)
{
	return arc * CHANNEL_VLS + vl;
}

static inline uint64_t *channel_bits(const struct channel_order *o, uint32_t a, uint32_t b)
{
	return &o->has[(size_t)a * o->g->ports + o->g->arc[b].port];
}

static inline uint64_t channel_bit(unsigned vl, unsigned next_vl)
{
	return 1ull << (vl * CHANNEL_VLS + next_vl);
}

/* Whether packets that leave by channel x leave by channel y next. */
static inline bool channel_has(const struct channel_order *o, uint32_t x, uint32_t y)
{
	return *channel_bits(o, x / CHANNEL_VLS, y / CHANNEL_VLS) &
	       channel_bit(x % CHANNEL_VLS, y % CHANNEL_VLS);
}

/* key: by channel, what the order begins with; equal ones by number, NULL: all are. g must outlive it. */
void channel_order_init(struct channel_order *o, const struct switch_graph *g, const uint64_t *key);
void channel_order_free(struct channel_order *o);
/* Let packets that leave by x leave by y next. False: that would close a cycle, and nothing changes. */
bool channel_add(struct channel_order *o, uint32_t x, uint32_t y);
void channel_remove(struct channel_order *o, uint32_t x, uint32_t y);

#endif
