/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet state that an earlier SM saved: saved_state.c reads and writes it, saved_answers.c
 * answers from it.
 */
#ifndef WEFT_SM_MEMORY_H
#define WEFT_SM_MEMORY_H

#include "sm/manager.h"

struct sm_saved_node {
	uint64_t guid, sys_guid;
	uint32_t vendor_id, first_port;
	uint16_t device_id, nblocks;
	uint8_t type, nports, name_len;
	const uint8_t *name;	 /* no NUL behind it; NULL: not known */
	const uint8_t *si, *lft; /* of a switch */
};

struct sm_saved_port {
	uint64_t guid, peer; /* of the node behind the cable; 0: none */
	uint8_t peer_num;
	const uint8_t *pi; /* PortInfo; NULL: was not known */
};

struct sm_saved {
	uint8_t *bytes; /* what the others point into */
	VEC(struct sm_saved_node) nodes;
	VEC(struct sm_saved_port) ports;
	struct map64 by_guid;
};

void sm_saved_free(struct sm_saved *m);
void sm_saved_seal(uint8_t *bytes, size_t len); /* the hash goes behind them: 8 bytes more */

#endif
