/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves of LIDs: a virtual machine starts, stops or migrates, its LID goes with it, and no route is
 * computed. The column of a LID in the tables becomes that of another LID (MECHANISM 10): a copy of the
 * entries of the new host's physical function (dynamic LIDs), or a swap, which is two such moves
 * (prepopulated LIDs).
 *
 *	rt_moves_effects(f, t, moves, n, &e);      the entries that change
 *	rt_moves_plan(f, t, rank, deps, &e, ...);  in which order they may change while traffic flows
 *	rt_move_deps_apply(deps, t, &e);           the dependencies of the tables after it
 *	rt_moves_apply(t, &e);                     the tables after it
 *
 * All of it costs time by what moves: switches times LIDs that move.
 */
#ifndef WEFT_ROUTE_MOVES_H
#define WEFT_ROUTE_MOVES_H

#include "route/route.h"

/* The column of `lid` becomes what the column of `like` is in the tables before all moves; 0: it is
 * emptied. In one batch each lid moves at most once. */
struct rt_move {
	uint16_t lid, like;
};

/* One entry that changes. */
struct rt_move_entry {
	uint32_t sw;
	uint16_t lid;
	uint8_t from, to;
	uint16_t stage; /* 0 until rt_moves_plan() sets it */
};
typedef VEC(struct rt_move_entry) rt_move_entries;

/*
 * Add the entries that differ to `out`, by switch, then LID. All reads are from t as it is; a LID beyond
 * its top_lid has an empty column. With f, a move between two hosts of one switch changes the entry of
 * that switch alone: routes of all others end there already. f NULL: every entry that differs.
 */
void rt_moves_effects(const struct fab *f, const struct rt_tables *t, const struct rt_move *m,
		      size_t n, rt_move_entries *out);

/* Let t have rows for LIDs up to `lid`: new entries are empty. Nothing happens where the LID fits. */
void rt_moves_reach(struct rt_tables *t, uint32_t lid);
/* In place; every LID of e fits t. */
void rt_moves_apply(struct rt_tables *t, const rt_move_entries *e);
void rt_moves_apply_stage(struct rt_tables *t, const rt_move_entries *e, unsigned stage);
void rt_moves_undo(struct rt_tables *t, const rt_move_entries *e);

/* SMPs that e takes: distinct (switch, block of 64 LIDs, stage). e is in the order of
 * rt_moves_effects(). switches: how many of them e changes; may be NULL. */
uint32_t rt_moves_blocks(const rt_move_entries *e, uint32_t *switches);

/* ---- the order ---- */

/*
 * The channel dependencies of tables in force, kept between plans. Make it once for tables, let it follow
 * every batch, and free it when anything else changes the tables. f must outlive it.
 */
struct rt_move_deps;

struct rt_move_deps *rt_move_deps_new(const struct fab *f, const struct rt_tables *t);
void rt_move_deps_free(struct rt_move_deps *d);
/* e is carried out. t: the tables before it, after it or between. */
void rt_move_deps_apply(struct rt_move_deps *d, const struct rt_tables *t,
			const rt_move_entries *e);

/*
 * Entries of stage k may be written in any order once all of stage k - 1 are acknowledged and, where bit k
 * of `drain` is set (bit 63 stands for all further stages), packets that were under way then have drained.
 */
struct rt_moves_plan {
	unsigned stages; /* 0: nothing changes */
	bool ordered;	 /* more than one */
	uint64_t drain;
	bool drain_after; /* packets must drain before the next batch begins */
	char why[192];	  /* where ordered: one pair of entries that must keep an order */
};

/*
 * Set the stages of e, which rt_moves_effects() made from t, so that at no moment the channel dependencies
 * of all LIDs, those that move in every mixture of old and new entries that the stages allow, close a
 * cycle. So no packet loops and nothing deadlocks. Stages are as few as a search finds.
 *
 * rank: up/down ranks that every column of t obeys; NULL: not known. deps: of t; NULL: with ranks every
 * mixture that turns from down to up is ruled out, which takes more stages; without ranks the
 * dependencies are collected for this call. Packets keep the SL that their senders know.
 *
 * -EDEADLK with a sentence when no order was found; with ranks there always is one. Before a LID moves
 * again, packets on its former routes must have drained.
 */
int rt_moves_plan(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		  struct rt_move_deps *deps, rt_move_entries *e, struct rt_moves_plan *p,
		  struct err *err);

#endif
