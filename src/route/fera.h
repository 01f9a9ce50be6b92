/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FERa's search, also used by update.c for single destinations. A struct fera is made once for a
 * fabric and its ranks and only read afterwards; a struct work belongs to one thread.
 */
#ifndef WEFT_ROUTE_FERA_H
#define WEFT_ROUTE_FERA_H

#include "route/route_priv.h"

enum {
	BLOCK = 32,	      /* destination switches searched side by side */
	DIST_NONE = 0xffff,   /* no way */
	DIST_NEVER = 0xfffe,  /* a distance that no switch has */
	MAX_SWITCHES = 65000, /* so that every distance is smaller */
};

struct arc {
	uint32_t sw;
	uint8_t port;
};

struct dest {
	uint16_t lid;
	uint16_t spread; /* where the choice among equal ports starts for this LID */
	uint8_t port;	 /* of the destination's own switch */
};

struct fera {
	const struct fab *f;
	struct rt_tables *t;
	uint32_t *order;		 /* switches by rank, the root first */
	uint32_t *up_first, *down_first; /* arcs of switch s: [first[s], first[s + 1]) */
	struct arc *up, *down;		 /* by port number within a switch */
	uint32_t *dest_first;		 /* LIDs behind switch s */
	struct dest *dest;
	uint32_t *hosts_before,
		*leaf_number; /* how tied ports are dealt out: see fera_tie_start() */
	uint8_t *level;
	bool direct; /* every switch has hosts */
	enum rt_ties ties;
};

struct work {
	uint16_t *down, *dist; /* [switch][BLOCK] */
	uint16_t want_down[BLOCK], want_up[BLOCK];
	uint8_t count[BLOCK];
	uint8_t port[256][BLOCK]; /* the tied ports of one switch, for each destination switch */
};

/* Whether FERa can route f into t: not too many switches, every LID once, all of them in t. */
int fera_check(const struct fab *f, const struct rt_tables *t, struct err *e);

/* g->f and g->t are set by the caller. */
void fera_init(struct fera *g, const struct rt_opts *o);
void fera_free(struct fera *g);
struct work *fera_work_new(uint32_t nswitches);
void fera_work_free(struct work *w);

/* Distances from every switch to up to BLOCK destination switches. */
void fera_search(const struct fera *g, struct work *w, const uint32_t *dests, uint32_t nd);
/* The equal best ports of switch s to each of them: w->count[], w->port[]. */
void fera_offers(const struct fera *g, struct work *w, uint32_t s);

/*
 * Where to start dealing the LIDs behind switch d out over c equal ports of switch s. In a tree the
 * first level deals by host and each level above by a further digit of the leaf's number, so that
 * what one level put on one switch the next spreads again. Where every switch has hosts there are
 * no levels, and a hash takes care that two switches on a route do not choose alike.
 */
uint32_t fera_tie_start(const struct fera *g, uint32_t s, uint32_t d, unsigned c);

#endif
