/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an earlier manager knew of the subnet, saved while it was at rest: read, written, and used to
 * answer questions of the first discovery that need not be asked.
 */
#ifndef WEFT_SM_RESTORE_H
#define WEFT_SM_RESTORE_H

#include "sm/discovery/discovery.h"

/* saved_answers.c */
bool sm_recall(struct sm *sm, struct sm_work w); /* true: answered, nothing is to be asked */
bool sm_recall_misleads(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
bool sm_recalls_turns(const struct sm *sm, uint32_t node);
void sm_recall_lost(struct sm *sm); /* and what it said of tables and names */
void sm_recall_end(struct sm *sm);

#endif
