/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "dragonfly": groups of switches, between dragonfly_groups.c, which finds them, dragonfly.c, which routes, and dragonfly_lanes.c.
 */
#ifndef WEFT_ROUTE_DRAGONFLY_H
#define WEFT_ROUTE_DRAGONFLY_H

#include "route/switch_graph.h"

struct groups {
	uint32_t n;
	uint32_t *of; /* by switch of the graph */
};

/* -EINVAL with a switch that shows why there are none. of[] is owned by the caller in any case. */
int groups_find(const struct switch_graph *g, struct groups *out, struct err *e);

/*
 * dragonfly_lanes.c: lanes that change with the group, for tables without lanes and without loops. Returns how many VLs they use,
 * if that is at most `most` (the tables get them then) or two; otherwise more than CHANNEL_VLS (channel_order.h).
 */
unsigned dragonfly_steps(const struct switch_graph *g, const struct groups *groups,
			 struct rt_tables *t, unsigned most);

#endif
