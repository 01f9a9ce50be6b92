/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "dragonfly": groups of switches, between dragonfly_groups.c, which finds them, and dragonfly.c, which routes.
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

#endif
