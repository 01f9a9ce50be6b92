/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches that have a random forwarding table and a DefaultPort instead of a linear table: what
 * they hold (random_tables.c) and how that is changed (random_table_updates.c). For all other
 * parts such a switch has a linear row like any other (switch_tables.c); the functions here take
 * over where blocks are sent, given up or read back.
 */
#ifndef WEFT_SM_RFT_H
#define WEFT_SM_RFT_H

#include "sm/manager.h"

struct sm_rft_slot {
	uint16_t lid; /* 0: nothing here */
	uint8_t port;
};

enum sm_rft_step { RFT_ADD, RFT_DEFAULT, RFT_REMOVE, RFT_END };

struct sm_rft {
	uint32_t cap, nblocks;
	struct sm_rft_slot *has;  /* as acknowledged; empty in blocks that are not known */
	struct sm_rft_slot *want; /* as it is to be */
	uint8_t *known;		  /* by block: 0, or sm->audit.generation when it was set */
	uint32_t unknown;	  /* blocks that are not known, and DefaultPort */
	uint16_t *at;		  /* by LID: its slot in want, plus 1; 0: none */
	uint32_t nat;
	uint32_t free_at;	  /* where to look for an empty slot */
	uint8_t dflt, dflt_known; /* dflt_known as known */
	/* while it is sent */
	enum sm_rft_step step;
	uint8_t want_dflt;
	bool direct; /* no entry has to wait for another */
	bool resend; /* send blocks in use even if the switch holds them */
	uint32_t cur, flying;
};

/* rft.c */
struct sm_rft *sm_rft_of(const struct sm *sm,
			 uint32_t sw); /* of the snapshot; NULL: a linear table */
enum sm_rft_fit { SM_RFT_FITS, SM_RFT_OTHERS_FULL, SM_RFT_OWN_FULL };
/* For new tables. Switches whose tables do not fit are excluded: routes are needed without them. */
enum sm_rft_fit sm_rft_prepare(struct sm *sm);
bool sm_rft_explicit(uint8_t port, uint8_t dflt); /* does a LID with this port need an entry? */
uint8_t sm_rft_choose(struct sm *sm, uint32_t sw);
void sm_rft_reset(struct sm_rft *t, uint32_t nlids);	       /* want becomes has */
void sm_rft_lay_out(struct sm *sm, uint32_t sw, uint8_t dflt); /* want becomes the new row */
bool sm_rft_crowded(const struct sm *sm, uint32_t sw); /* old and new entries together do not fit */
uint32_t sm_rft_place(struct sm *sm, uint32_t sw, uint16_t lid); /* one LID in want; its block */
bool sm_rft_differs(const struct sm *sm, uint32_t sw, uint16_t lid);
void sm_rft_take(struct sm *sm, uint32_t node, uint32_t block, const struct iba_rft *b);
void sm_rft_take_default(struct sm *sm, uint32_t node, uint8_t port);
void sm_rft_settle(struct sm *sm); /* tables are in place: update the rows */
bool sm_rft_overlay(const struct sm *sm,
		    struct rt_tables *old); /* LIDs that were unassigned until now */
void sm_rft_forget(struct sm_rft *t);
void sm_rft_block_unknown(struct sm *sm, uint32_t node, uint32_t block);
void sm_rft_unknown(struct sm *sm, uint32_t node);
void sm_rft_free(struct sm_rft *t);
/* Whether SwitchInfo shows a DefaultPort that proves a restart. */
bool sm_rft_restarted(const struct sm *sm, uint32_t node, const struct iba_switch_info *si);

/* rft_send.c */
enum sm_rft_which {
	RFT_ALL,   /* every one, whole */
	RFT_EARLY, /* those that cannot change entry by entry */
	RFT_TIDY,  /* what entry by entry left to do: other default ports */
};
void sm_rft_begin(struct sm *sm, enum sm_rft_which which);
bool sm_rft_next(struct sm *sm, struct sm_req *r);
void sm_rft_make(struct sm *sm, uint32_t sw, uint32_t block,
		 struct sm_req *r); /* Set, as want says */
void sm_rft_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_rft_audit_next(struct sm *sm, struct sm_cursor *at, struct sm_req *r);
bool sm_rft_audit(struct sm *sm, const struct sm_txn *t, const uint8_t *data); /* as it was set? */

#endif
