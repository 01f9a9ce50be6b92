/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between moves_plan.c, which chooses stages, and moves_deps.c, which keeps the channel dependencies of
 * tables in force and says which further ones close a cycle.
 *
 * A channel is the id of a switch's output port towards another switch. Lanes are not told apart: what has
 * no cycle among links has none among their lanes.
 */
#ifndef WEFT_ROUTE_MOVES_PRIV_H
#define WEFT_ROUTE_MOVES_PRIV_H

#include "route/moves.h"

/* From channel `from` to port `out` of the switch behind it. */
struct dep_edge {
	port_id from;
	uint8_t out;
};

struct dep_place {
	port_id channel;
	uint32_t place;
};

struct rt_move_deps {
	const struct fab *f;
	uint32_t width,
		words; /* ports of the largest switch, 0 included; words that hold a bit for each */
	port_id *first;	   /* by switch: its port 0 */
	uint32_t *next;	   /* by port id: the switch behind a channel; FAB_NONE: not a channel */
	uint16_t *count;   /* [channel][out]: LIDs with this dependency */
	uint64_t *bits;	   /* [channel][word]: the same as a set, and what deps_try() added */
	uint64_t *refused; /* [channel][word]: what deps_try() refused */
	uint32_t *place;   /* by channel: its place in a topological order of bits */
	bool cyclic;	   /* there is no such order */

	/* of the trials since deps_begin() */
	VEC(struct dep_edge) tried, turned_down;
	VEC(struct dep_place) moved;  /* places before */
	uint64_t effort, most_effort; /* dependencies looked at, and how many may be */
	/* of one search */
	uint32_t *seen, look; /* by channel: the last search that met it */
	VEC(port_id) stack;
	VEC(uint64_t) ahead, behind; /* place and channel */
	VEC(uint32_t) places;
};

static inline bool deps_has(const struct rt_move_deps *d, const uint64_t *set, port_id from,
			    unsigned out)
{
	return set[(size_t)from * d->words + out / 64] >> out % 64 & 1;
}

/* The channel by which a switch sends to this port number, FAB_NONE when that is none. */
static inline port_id deps_channel(const struct rt_move_deps *d, uint32_t sw, unsigned port)
{
	return port < d->width && port <= d->f->nodes[d->f->switches[sw]].nports &&
			       d->next[d->first[sw] + port] != FAB_NONE
		       ? d->first[sw] + port
		       : FAB_NONE;
}

/* Trials: each dependency is added unless it closes a cycle with all others; false then, or when it
 * would take more effort to know. deps_end() removes what was added. */
void deps_begin(struct rt_move_deps *d, uint64_t effort);
bool deps_try(struct rt_move_deps *d, port_id from, unsigned out);
void deps_end(struct rt_move_deps *d);

/* The entries of a batch LID by LID, in the order of the LIDs, then of switches. */
struct moves_lids {
	uint32_t n;
	uint32_t *first; /* by LID: where its entries begin; one more at the end */
	uint32_t *entry; /* indexes */
};

void moves_lids_make(struct moves_lids *l, const rt_move_entries *e);
void moves_lids_free(struct moves_lids *l);

/* What a switch does with an entry of its table: default ports stand for empty ones. */
static inline uint8_t moves_port(const struct rt_tables *t, uint32_t sw, uint8_t entry)
{
	return entry == IBA_PORT_NONE && t->dflt ? t->dflt[sw] : entry;
}

#endif
