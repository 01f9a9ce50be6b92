/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between defragment_ways.c, which knows the shortest ways to each switch with VMs, and defragment.c, which chooses
 * among them.
 */
#ifndef WEFT_ROUTE_DEFRAGMENT_PRIV_H
#define WEFT_ROUTE_DEFRAGMENT_PRIV_H

#include "route/defragment.h"

enum {
	FRAG_WAYS = 64,	       /* to one switch, at most */
	FRAG_OWN = UINT16_MAX, /* instead of a way: the routes that a LID has in the tables */
};

/* A switch with VMs behind it, and how hosts can reach it: a way gives one port to each switch that it passes. */
struct frag_leaf {
	uint32_t sw;
	uint32_t first, end; /* VMs in struct frag.by_leaf */
	uint32_t nways, room;
	rt_flows *ways; /* room of them */
};

struct frag_vm {
	uint16_t lid, way;
	uint32_t leaf;
	bool fixed; /* its routes are not shortest ones */
};

struct frag {
	const struct fab *f;
	const struct rt_tables *t;
	struct rt_link_loads loads;
	VEC(struct frag_vm) vms; /* by LID */
	VEC(uint32_t) by_leaf;
	VEC(struct frag_leaf) leaves;
};

/* Fill `leaves` for the VMs, and `fixed` of these. -EINVAL, -E2BIG, -ECANCELED with e filled. */
int frag_ways_make(struct frag *x, const struct rt_defragment_opts *o, struct err *e);
void frag_ways_free(struct frag *x);

#endif
