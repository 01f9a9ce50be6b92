/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes for tables that are not free of deadlock on one: each path from a switch to a LID is put into a layer so that the
 * dependencies of no layer have a cycle. A layer is an SL, and a VL of the same number.
 */
#ifndef WEFT_ROUTE_LAYERS_H
#define WEFT_ROUTE_LAYERS_H

#include "route/lane_graphs.h"

/*
 * Layers for all paths of tables t, which have no lanes; they get them when more than one layer is needed and at most `most`
 * (0: none in any case). Returns how many layers are needed, count + 1: more than `count`, which is at least `most` and from 1 to
 * LANES_MOST: the fewer, the sooner this is found. Paths that do not arrive need none.
 *
 * Entries that no host's route uses, but only packets that a switch itself sends, may change: to a way that fits the
 * layers, not always a shortest one.
 */
unsigned layers_assign(const struct switch_graph *g, struct rt_tables *t, unsigned most,
		       unsigned count);

#endif
