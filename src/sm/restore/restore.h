/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subnet state that an earlier manager saved while it was ready: written, read, and used to
 * answer questions of the first discovery without asking devices.
 */
#ifndef WEFT_SM_RESTORE_H
#define WEFT_SM_RESTORE_H

#include "sm/discovery/discovery.h"

struct sm_saved; /* saved_state.h */

struct sm_restored {
	struct sm_saved *saved;	  /* for the first discovery; NULL: none */
	struct sm_saved *dropped; /* is not used further in that discovery, which has not ended */
	bool same; /* that discovery found the subnet as it was saved, with the tables of a manager like this */
};

/* saved_answers.c */
/* The answer to a question, in data (zeroed); false: the device is to be asked. */
bool sm_saved_answer(struct sm *sm, struct sm_work w, uint8_t *data);
/* Whether what a device answered shows that another manager was at work since. */
bool sm_saved_misleads(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
/* The stamp that proves a mirror, in a switch that may have it. */
bool sm_saved_stamp(const struct sm *sm, uint32_t node, uint32_t *block);
bool sm_saved_unproven(const struct sm *sm); /* the switch with the stamp was not met */
/* Its turns are known to be enabled. */
bool sm_saved_turns(const struct sm *sm, uint32_t node);
/* It is not used further, nor what it said of tables and names; lost: because it is wrong, which is noted. */
void sm_saved_drop(struct sm *sm);
void sm_saved_lost(struct sm *sm);
void sm_saved_end(struct sm *sm); /* it served its purpose */
/* The mirror of a discovery that did not end, used or dropped: it is the caller's again. NULL: there is none. */
struct sm_saved *sm_saved_return(struct sm *sm);

/* saved_lanes.c */
void sm_saved_restore_lanes(struct sm *sm); /* of devices that were found as saved */

#endif
