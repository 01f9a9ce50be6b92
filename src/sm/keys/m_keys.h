/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M_Keys that devices still hold from before.
 *
 * Keeps: the key of each device that does not have cfg.m_key, by the GUID of the port that it guards.
 */
#ifndef WEFT_SM_M_KEYS_H
#define WEFT_SM_M_KEYS_H

#include "sm/core/core.h"

struct sm_m_keys {
	VEC(uint64_t) list;
	struct map64 by_guid; /* of the port that is guarded */
	uint64_t hint;	      /* the key that the last device accepted */
};

void sm_keys_init(struct sm *sm);
void sm_keys_free(struct sm *sm);
unsigned sm_key_count(const struct sm *sm);
uint64_t sm_key_first(const struct sm *sm);
uint64_t sm_key_next(const struct sm *sm, uint64_t now, unsigned tries);
uint64_t sm_key_of(const struct sm *sm, uint32_t port);
void sm_key_learnt(struct sm *sm, uint64_t port_guid, uint64_t key);
void sm_key_seen(struct sm *sm, uint32_t port);
void sm_key_answered(struct sm *sm, const struct sm_txn *t);
void sm_key_unanswered(struct sm *sm, const struct sm_txn *t); /* it was given up */
void sm_keys_changed(struct sm *sm, uint64_t old);

#endif
