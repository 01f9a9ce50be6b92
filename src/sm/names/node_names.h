/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NodeDescriptions, requested while the manager is ready and has nothing else to do.
 *
 * Keeps: names by node GUID, through every discovery.
 */
#ifndef WEFT_SM_NODE_NAMES_H
#define WEFT_SM_NODE_NAMES_H

#include "sm/core/core.h"

enum { SM_NAME_SIZE = IBA_SMP_DATA_SIZE + 1 };

struct sm_name {
	uint64_t guid;
	char text[SM_NAME_SIZE];
	bool known; /* it came, if only once */
	bool asked; /* and nothing happened since that could change it */
	bool answered;
	uint32_t given_up; /* rounds when it was given up; requested again after the next */
};

struct sm_node_names {
	uint32_t changes; /* counts names that are new */
	VEC(struct sm_name) list;
	struct map64 by_guid;
	uint32_t next; /* node of the snapshot to look at next */
};

void sm_names_free(struct sm *sm);
void sm_names_begin(struct sm *sm);
bool sm_names_settled(const struct sm *sm); /* all that are needed for routes were asked for */
bool sm_names_next(struct sm *sm, struct sm_req *r);
void sm_names_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data);
void sm_names_fail(struct sm *sm, const struct sm_txn *t);
void sm_name_ask_again(struct sm *sm, uint64_t guid);
void sm_name_recall(struct sm *sm, uint64_t guid, const uint8_t *text,
		    size_t len);				    /* as if it had come */
const char *sm_name_known(const struct sm *sm, uint64_t node_guid); /* NULL: it never came */
void sm_names_forget(struct sm *sm);				    /* all are requested again */

#endif
