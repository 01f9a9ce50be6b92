/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a lab. manager_host.c writes struct lab_manager, lab.c writes struct lab; the other files of the
 * room read.
 */
#ifndef WEFT_LAB_PRIV_H
#define WEFT_LAB_PRIV_H

#include "lab/lab.h"
#include "sim/device/sim_device.h"

struct lab_lid {
	uint64_t guid;
	uint16_t lid;
	unsigned lmc;
};

/* A manager and the port it is attached to. */
struct lab_manager {
	struct lab *lab;
	struct sm_config cfg;
	struct sm *sm;	     /* NULL: stopped */
	uint32_t generation; /* how many managers were stopped here */
	node_id node;
	struct sm_actions out;
	VEC(struct sim_smp) inbox; /* arrived, waiting for the manager's CPU */
	size_t inbox_head;
	time_ps sm_free, wake_at;
	struct sm_routes routes; /* computed, delivered when the CPU model says so */
	uint32_t progress_top;	 /* highest LID of tables that are delivered in steps */
	struct sm_status st;	 /* after the last step; only a step changes it */
	struct lab_sum sum;
	VEC(struct lab_lid) lids; /* that the stopped manager had assigned */
	uint8_t *memory; /* subnet state of the stopped manager; NULL: it was not at rest */
	size_t memory_len;
};

struct lab {
	struct lab_config cfg;
	const struct fab *fab;
	struct sim *sim;
	struct lab_manager manager[LAB_MANAGERS];
	unsigned nmanagers;
	struct lab_manager *lead; /* that runs and the verdict refer to */
	void (*note)(void *ctx, const struct sm_note *n);
	void *note_ctx;
	void (*tick)(void *ctx);
	void *tick_ctx;
};

void lab_manager_free(struct lab_manager *m);
void lab_manager_power_on(struct lab_manager *m);
node_id lab_choose_node(const struct fab *f); /* FAB_NONE: the fabric is empty */

#endif
