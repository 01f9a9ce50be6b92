/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to engine "balanced": between balanced.c, which routes, and balanced_ranks.c, which finds ranks that its routes obey.
 */
#ifndef WEFT_ROUTE_BALANCED_H
#define WEFT_ROUTE_BALANCED_H

#include "route/switch_graph.h"

/* Whether shortest routes to hosts, without lanes, obey the ranks of a tree. Then routes to switches do as well afterwards. */
bool balanced_settle(const struct switch_graph *g, const struct rt_opts *o, struct rt_tables *t);
/* As rt_engine.obeys. */
bool balanced_obeys(const struct fab *f, const struct rt_opts *o, const struct rt_tables *t,
		    uint64_t *rank);
/* As rt_engine.update. */
int balanced_update(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
		    uint64_t *rank, struct rt_update_stats *st, struct err *e);

#endif
