/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to engine "tree": the tree that was recognised, and what its files share.
 *
 *	tree_graph_new()     the switches and their neighbours             tree_graph.c
 *	tree_levels()        a level for each switch, or why there is none  tree_levels.c
 *	tree_rank()          a rank for each switch                         tree_rank.c
 *	tree_shape()         which switches correspond to one another       tree_shape.c
 *	tree_number()        a number for each destination, its digits      tree_number.c
 *	tree_search()        distances to up to TREE_BLOCK switches         tree_search.c
 *
 * A struct tree is only read once these have run.
 */
#ifndef WEFT_ROUTE_TREE_H
#define WEFT_ROUTE_TREE_H

#include "route/route_priv.h"

enum {
	TREE_BLOCK = 64,  /* destination switches side by side: a cache line of distances */
	TREE_FAR = 255,	  /* no way */
	TREE_NEVER = 254, /* a distance that no switch has */
	TREE_MAX_LEVELS = 60,
	TREE_NO_SLOT = 255,
};

/* Destinations that are balanced by themselves. */
enum tree_class {
	TREE_COMPUTE, /* hosts at leaves */
	TREE_SPECIAL, /* aggregation nodes, routers, hosts elsewhere */
	TREE_SWITCH,  /* switches themselves */
	TREE_CLASSES  /* and from here on further groups of hosts at leaves */
};

/* All links of a switch to one neighbour. */
struct tree_group {
	uint32_t sw;
	uint32_t first; /* of its ports in tree.port */
	uint16_t slot;	/* upper neighbours: which digit leads there */
	uint8_t nports;
	bool lower;   /* the neighbour has the larger rank */
	bool exports; /* lower, and part of ways down: see tree_search.c */
};

struct tree_dest {
	uint16_t lid;
	uint8_t port;	 /* of the destination's own switch */
	uint8_t class;	 /* enum tree_class */
	bool head;	 /* first LID of its port */
	uint32_t number; /* within its class */
};

struct tree {
	const struct fab *f;
	uint32_t n; /* switches */

	/* Neighbours of switch s: group[first[s] .. first[s + 1]), by level: upper ones first, then by pos. */
	uint32_t *first;
	struct tree_group *group;
	uint8_t *port;
	uint32_t *hosts; /* by switch: ports with hosts, special ones not counted */

	uint32_t nparts, *part; /* parts of the fabric that no link joins */
	uint8_t *level;
	uint32_t nlevels;

	uint32_t *order, *rank; /* switches by rank and back */
	uint32_t *pivot;	/* by part: the switch of the smallest rank */

	uint8_t *nup;  /* by switch: upper neighbours */
	uint32_t *pos; /* by switch: its place in its row, */
	uint32_t *
		row; /* the switches that are upper neighbours of the same ones where no link is dead: how many */
	uint32_t *width;      /* by switch: how many upper neighbours it should have, at least 1 */
	uint32_t *seq;	      /* switches in the order of their destinations */
	uint32_t *dest_first; /* by switch */
	struct tree_dest *dest;
	uint8_t *digit[TREE_MAX_LEVELS + 1]; /* [level][LID] */
};

void tree_graph_new(struct tree *t, const struct fab *f);
/* When levels are known: upper neighbours first, and without links inside a level that are not needed. */
void tree_upper_first(struct tree *t);
void tree_free(struct tree *t);

/* -EINVAL when f is no tree, with a switch or link that shows it. */
int tree_levels(struct tree *t, struct err *e);
int tree_rank(struct tree *t, struct err *e);
/* A switch in a sentence: its name and id, or its id alone. */
const char *tree_name(const struct tree *t, uint32_t s, char buf[96]);

/* Places of switches in their rows, slots of upper neighbours, the order of destinations. */
void tree_shape(struct tree *t);

/* The class of each port with a LID; others are not looked at. by_port has f->nports entries. */
void tree_classes(const struct tree *t, const uint8_t *group, uint8_t *by_port);
/* Numbers for all destinations; those of a class count from 0. top_lid: of the tables. */
void tree_number(struct tree *t, const uint8_t *class_by_port, uint32_t top_lid);

struct tree_work {			/* of one thread */
	bool any;			/* all lower groups export */
	uint8_t *down, *dist;		/* [switch][TREE_BLOCK] */
	uint8_t valid[256][TREE_BLOCK]; /* by group of one switch: is among the best */
	uint8_t climbs[TREE_BLOCK], all[TREE_BLOCK], last[TREE_BLOCK];
	uint8_t want_down[TREE_BLOCK], want_up[TREE_BLOCK];
};

struct tree_work *tree_work_new(uint32_t nswitches);
void tree_work_free(struct tree_work *w);
/* Distances from every switch to up to TREE_BLOCK destination switches. With `any` each way down counts. */
void tree_search(const struct tree *t, struct tree_work *w, const uint32_t *dests, uint32_t nd,
		 bool any);
/* Which groups of s lead to each of them: w->valid[]; how many upper ones do (climbs), how many in all, and the last. */
void tree_offers(const struct tree *t, struct tree_work *w, uint32_t s);

#endif
