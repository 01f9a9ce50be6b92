/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast: the trees that are wanted, and what each switch holds of multicast forwarding tables (MFT).
 *
 * Keeps: groups as the last SM_EV_GROUPS gave them, blocks of MFTs by switch GUID as far as acknowledged Sets and reads tell,
 * trees that were computed for them. Promises: what is known of a switch is what it acknowledged; before a block is written,
 * trees and the way to them were verified. Does not know members by rule: subnet administration does.
 */
#ifndef WEFT_SM_MULTICAST_H
#define WEFT_SM_MULTICAST_H

#include "route/multicast_trees.h"
#include "sm/tables/tables.h"

/* 32 MLIDs at 16 ports. */
struct sm_mft_block {
	uint16_t has[IBA_MFT_BLOCK];   /* as acknowledged or read */
	uint16_t maybe[IBA_MFT_BLOCK]; /* these, and those of Sets that were not acknowledged */
	bool known;
	bool recent; /* set or read since the switch was last known not to have restarted */
	struct sm_block_sets sets;
};

/* What a switch holds. */
struct sm_mft {
	uint64_t guid;
	uint32_t nblocks;	 /* of 32 MLIDs, in `at` */
	uint8_t npos;		 /* of 16 ports */
	uint32_t epoch, asked;	 /* of a take-over: of the discovery; blocks that were asked */
	bool fresh;		 /* it restarted empty: blocks that are not in `at` are empty */
	bool recent;		 /* a block is */
	struct sm_mft_block *at; /* [block][position] */
};

/* What a computation of trees takes. But for `space` it points to nothing of the manager. */
struct sm_trees_task {
	uint32_t version; /* of the groups */
	VEC(struct rt_group) groups;
	VEC(struct rt_member) members;
	uint16_t *cap;
	uint8_t *astray;
	rt_mtrees old;
	struct mc_space **space; /* as rt_multicast has it; NULL: none is wanted */
};

struct sm_trees {
	uint32_t version;
	bool verified;
	rt_mtrees new, mid;
	struct rt_mlosses lost; /* on the way to mid */
	uint32_t partial;	/* groups that lack members */
	bool obey;		/* verified by ranks alone */
	bool some;		/* trees of some groups: switches keep those of the others */
	uint16_t last;		/* MLID of the last of all groups; 0: there is none */
};

/*
 * What is known when all trees are in place, so that the next change computes those of the groups that change alone.
 * Groups that are taken out are among them.
 */
struct sm_mrest {
	bool holds; /* switches have the trees of all groups but `changed`, verified by these ranks over this snapshot */
	bool doubt; /* something else than groups changed since trees were computed */
	uint32_t snapshot;
	uint64_t *rank;
	uint16_t last; /* MLID of the last group */
	struct mc_space
		*space;	    /* as rt_multicast() left it; NULL: an order of channels was needed */
	struct map64 ports; /* of the snapshot, by GUID */
	VEC(uint16_t) changed; /* MLIDs, in any order, some more than once */
};

enum { SM_SOME_GROUPS = 64 }; /* more are computed all together */

/* A block to be written. */
struct sm_mft_write {
	uint32_t node; /* of the topology database */
	uint16_t block;
	uint8_t pos;
	uint16_t mask[IBA_MFT_BLOCK];
};

struct sm_multicast {
	bool told; /* SM_EV_GROUPS came: until then MFTs stay as they are */
	uint32_t version;
	VEC(struct sm_group) groups; /* by MLID; each owns its members */
	struct map64 member_guids;   /* of all of them, if indexed */
	bool indexed;
	VEC(struct sm_mft) mfts;
	struct map64 by_guid;
	uint32_t extent;	/* of an earlier manager: blocks up to the last that is not empty */
	bool dirty;		/* switches may hold other than the trees that are wanted */
	struct sm_trees *ready; /* of the tables that are distributed or in force; NULL: none */
	VEC(struct sm_mft_write) writes; /* of the running step */
	size_t at;
	uint32_t top_at; /* switches whose MulticastFDBTop was looked at */
	enum { SM_TREES_PRUNE, SM_TREES_GROW, SM_TREES_END } step;
	bool at_rest;	    /* the phase was entered from rest */
	bool moved;	    /* and ends there */
	time_ps drained_at; /* packets on links that trees lost are gone */
	struct sm_mrest rest;
	struct sm_multicast_status st;
};

/* moved_members.c */
void sm_multicast_moved(struct sm *sm, uint64_t guid); /* it is behind another port now, or gone */

/* wanted_groups.c */
int sm_groups_in(struct sm *sm, const struct sm_event *ev); /* -EINVAL: they make no sense */
struct sm_trees_task *sm_trees_task_new(const struct sm *sm);
void sm_trees_task_free(struct sm_trees_task *t);
/* Ports of the snapshot by GUID, with those behind which machines are. */
void sm_ports_by_guid(const struct sm *sm, struct map64 *by);
/* The group over the snapshot, into a task; false: a member is not in the map. The task's members may move: groups have theirs
 * when sm_trees_task_link() has been called. */
bool sm_group_place(const struct sm_group *g, const struct map64 *by, struct sm_trees_task *t);
void sm_trees_task_link(struct sm_trees_task *t);
void sm_trees_task_switches(const struct sm *sm,
			    struct sm_trees_task *t); /* all but groups and trees */
const struct sm_group *sm_group_find(const struct sm_multicast *m, uint16_t mlid); /* NULL */

/* some_groups.c */
/* Trees of the groups that changed, where the others stay as they are; NULL: all have to be computed. */
struct sm_trees *sm_trees_some(struct sm *sm);
struct mc_space **
sm_trees_rest_begin(struct sm *sm); /* all are computed, at rest: where their space goes */
void sm_trees_rest(struct sm *sm);  /* the trees that are ready are in place */
/* The blocks of these trees that switches do not hold; less: only masks that have more than they. */
void sm_some_writes(struct sm *sm, const rt_mtrees *t, bool less);

/* mft_rows.c: what switches hold */
void sm_mft_read(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data);
void sm_mft_set(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data);
void sm_mft_sent(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data);
void sm_mft_unknown(struct sm *sm, uint64_t guid); /* it may have restarted */
void sm_mft_restarted(struct sm *sm, uint64_t guid);
void sm_mfts_intact(struct sm *sm); /* no switch of the snapshot has restarted since the last Set */
void sm_mfts_unknown(struct sm *sm);
void sm_mfts_forget(struct sm *sm); /* another manager writes them from now on */
struct sm_mft *sm_mft_make(struct sm *sm, uint64_t guid);	/* found, or made */
struct sm_mft *sm_mft_find(const struct sm *sm, uint64_t guid); /* NULL */
/* NULL: not known. */
const uint16_t *sm_mft_known(const struct sm_mft *m, uint32_t block, unsigned pos);
bool sm_mft_as_set(struct sm *sm, uint64_t guid, uint32_t modifier, const uint8_t *data);
bool sm_mft_is_known(const struct sm *sm, uint64_t guid, uint32_t modifier);
/* What switches may hold, over the snapshot. */
void sm_mfts_trees(const struct sm *sm, rt_mtrees *out);
void sm_mfts_tree(const struct sm *sm, uint16_t mlid,
		  rt_mtrees *out); /* of one MLID; none: they hold nothing */
uint32_t sm_mft_blocks(const struct sm *sm, uint32_t node); /* that it has room for */

/* mft_takeover.c */
void sm_mft_takeover(struct sm *sm, uint32_t node);
void sm_mft_takeover_block(struct sm *sm, uint32_t node, uint32_t modifier, const uint8_t *data);

/* tree_compute.c: pure */
/* c: snapshot, tables and plan; data: the snapshot with silent links, NULL: there are none. */
struct sm_trees *sm_trees_run(const struct sm_trees_task *k, const struct fab *data,
			      const struct rt_mchange *c);
void sm_trees_free(struct sm_trees *t);

/* tree_writes.c */
/* changing: from other unicast tables; space: where it goes, or NULL. */
struct sm_trees *sm_trees_compute(struct sm *sm, bool changing, struct mc_space **space);
/* Computes the task over the snapshot and the tables in force, and frees it; was: tables that change to these, or NULL. */
struct sm_trees *sm_trees_now(struct sm *sm, struct sm_trees_task *k, const struct rt_tables *was);
void sm_trees_ready(struct sm *sm,
		    struct sm_trees *t); /* takes them over, and frees those before */
/* The blocks of these trees that switches do not hold; less: only masks that have more than they. */
void sm_trees_writes(struct sm *sm, const rt_mtrees *t, bool less);
bool sm_trees_first(struct sm *sm,
		    struct sm_trees *ready); /* tables are to change: something has to go before */

/* tree_updates.c */
bool sm_trees_due(struct sm *sm);    /* switches hold other than is wanted */
bool sm_trees_rested(struct sm *sm); /* the phase that ends came from rest and goes there */

/* multicast_state.c */
const uint64_t *sm_trees_rank(const struct sm *sm); /* that the tables obey; NULL */
void sm_multicast_dirty(struct sm *sm);
void sm_groups_differ(struct sm *sm, uint16_t mlid); /* a group is another one than before */
void sm_trees_rest_drop(struct sm *sm);
void sm_group_free(struct sm_group *g);
void sm_groups_free(struct sm *sm);
void sm_multicast_free(struct sm *sm);
void sm_multicast_time_back(struct sm *sm, time_ps by);
bool sm_multicast_busy(const struct sm *sm); /* trees are to change */

static inline uint32_t sm_mft_modifier(uint32_t block, unsigned pos)
{
	return block | (uint32_t)pos << 28;
}

#endif
