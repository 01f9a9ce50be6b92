/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to refine*.c: the flows of all shifts over the links, and the routes as arcs.
 */
#ifndef WEFT_REFINE_PRIV_H
#define WEFT_REFINE_PRIV_H

#include "route/refine.h"

enum {
	REFINE_UNIT = 1 << 20, /* the share of a flow that is alone */
	REFINE_LONGEST = 40,   /* links of a path */
	REFINE_NOWHERE = UINT32_MAX,
};

struct link_state {	 /* of an arc in a shift */
	uint16_t load;	 /* flows over it */
	uint16_t limits; /* those for which no link is busier */
	uint16_t alone;	 /* those for which all other links are less busy */
};

struct refine {
	const struct switch_graph *g;
	struct rt_tables *t;
	const struct refine_opts *o;
	uint32_t n;			/* hosts */
	uint32_t *sw, *lid;		/* by host */
	uint32_t *host_first, *host_at; /* hosts by switch */
	uint32_t *taken; /* [host][switch]: the arc towards that host, FAB_NONE: none */
	uint32_t len;	 /* links of a path, at most */
	uint32_t nshifts;
	struct link_state *at; /* [shift][arc] */
	uint32_t *
		first; /* [shift][arc]: of the flows over it, as a list: host * len + place in the path */
	uint32_t *next;	  /* [shift][host][place in the path]: the list of an arc */
	int64_t *share;	  /* by flows over a link */
	uint64_t *routes; /* by arc: of all pairs of hosts */
	uint64_t work;
	/* of one LID; the rest is of refine.c */
	uint32_t *dist, *order;
	uint32_t *first_child,
		*next_child; /* by switch: those whose next switch it is, as a list */
	/* of one step */
	uint32_t *moved, nmoved; /* hosts whose flows it moves */
	bool *above;		 /* by switch: its way leads through the one that changes */
	uint32_t *depth, height; /* links from there to that one, by switch; the most from a host */
	uint32_t *stack;
	uint32_t *others, nothers, *mark, stamp; /* flows over its links, by host */
};

static inline uint32_t *refine_taken(const struct refine *r, uint32_t h)
{
	return r->taken + (size_t)h * r->g->n;
}

static inline struct link_state *refine_links(const struct refine *r, uint32_t k)
{
	return r->at + (size_t)k * r->g->narcs;
}

static inline uint32_t *refine_first(const struct refine *r, uint32_t k)
{
	return r->first + (size_t)k * r->g->narcs;
}

static inline uint32_t *refine_next(const struct refine *r, uint32_t k)
{
	return r->next + (size_t)k * r->n * r->len;
}

/* Tables, routes and flows; false: paths are too long or hosts too few. Free it in any case. */
bool refine_init(struct refine *r);
void refine_free(struct refine *r);
void refine_tables_write(const struct refine *r);

/* The shift in which one host sends to another, REFINE_NOWHERE: it does not count. */
uint32_t refine_shift(const struct refine *r, uint32_t from, uint32_t h);

/* Shift k has a flow to each host h. Counts it at the links that limit it, by 1 or -1; returns its share. */
int64_t refine_flow_count(struct refine *r, uint32_t k, uint32_t h, int by);
void refine_flow_add(struct refine *r, uint32_t k, uint32_t h);
void refine_flow_remove(struct refine *r, uint32_t k, uint32_t h);

#endif
