/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spanning tree of the switches of each part of a fabric: a way from every switch to every other, whose dependencies have no
 * cycle. Engine nue keeps it free, so that a route to every destination exists whatever other routes there are.
 */
#ifndef WEFT_ROUTE_ESCAPE_TREE_H
#define WEFT_ROUTE_ESCAPE_TREE_H

#include "route/switch_graph.h"

struct escape_tree {
	const struct switch_graph *g;
	uint32_t *up; /* by switch: the arc to its parent; FAB_NONE: it is the root of its part */
	uint32_t *order;    /* all switches, each behind its parent */
	uint32_t *in_first; /* arcs of the tree that lead to switch s: in[in_first[s]] ... */
	uint32_t *in;
	uint32_t *
		toward; /* by switch: the arc of the tree by which it leaves for the switch that escape_aim() was given */
	uint32_t aim;
};

/* Breadth first from this switch; parts that it does not reach each from their first switch. g must outlive it. */
void escape_init(struct escape_tree *t, const struct switch_graph *g, uint32_t root);
void escape_free(struct escape_tree *t);
/* Let toward[] lead to switch `to`. */
void escape_aim(struct escape_tree *t, uint32_t to);
/* The same link in the other direction. */
uint32_t escape_back(const struct switch_graph *g, uint32_t arc);

/*
 * Call need(ctx, a, b) for each pair of arcs that paths of the tree to some destinations take one after the other. dests: by
 * switch, how many there are.
 */
void escape_each(const struct escape_tree *t, const uint32_t *dests,
		 void (*need)(void *ctx, uint32_t a, uint32_t b), void *ctx);

#endif
