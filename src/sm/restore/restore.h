/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an earlier manager knew of the subnet, saved while it was at rest: read, written, and used to
 * answer questions of the first discovery that need not be asked.
 */
#ifndef WEFT_SM_RESTORE_H
#define WEFT_SM_RESTORE_H

#include "sm/discovery/discovery.h"

struct sm_memory; /* saved_state.h */

struct sm_restored {
	struct sm_memory *memory; /* for the first discovery; NULL: none */
};

/* saved_answers.c */
/* The answer to a question, in data (zeroed); false: the device is to be asked. */
bool sm_saved_answer(struct sm *sm, struct sm_work w, uint8_t *data);
/* Whether what a device answered shows that another manager was at work since. */
bool sm_saved_misleads(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_saved_turns(const struct sm *sm, uint32_t node); /* its turns are known to be enabled */
void sm_saved_lost(struct sm *sm);			 /* and what it said of tables and names */
void sm_saved_end(struct sm *sm);			 /* it served its purpose */

#endif
