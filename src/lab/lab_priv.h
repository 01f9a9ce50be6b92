/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The laboratory's inside.
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

/* Where a manager sits. */
struct lab_seat {
	struct lab *lab;
	struct sm_config cfg;
	struct sm *sm; /* NULL: nobody */
	uint32_t life; /* how many sat there before */
	node_id node;
	struct sm_actions out;
	VEC(struct sim_smp) inbox; /* arrived at the SM, waiting for its CPU */
	size_t inbox_head;
	time_ps sm_free, wake_at;
	struct sm_routes routes; /* computed, on their way back */
	uint32_t progress_top;	 /* LIDs of tables given while they are computed */
	struct sm_status st;	 /* the SM's after its last step: nothing else changes it */
	struct lab_sum sum;
	VEC(struct lab_lid) lids; /* what the last one had given */
	uint8_t *memory;	  /* and all it knew, if it was at rest; NULL: it was not */
	size_t memory_len;
};

struct lab {
	struct lab_config cfg;
	const struct fab *fab;
	struct sim *sim;
	struct lab_seat seat[LAB_SEATS];
	unsigned nseats;
	struct lab_seat *lead; /* whom runs and the verdict are about */
	void (*note)(void *ctx, const struct sm_note *n);
	void *note_ctx;
	void (*tick)(void *ctx);
	void *tick_ctx;
};

void lab_seat_init(struct lab_seat *x, struct lab *l, node_id n, const struct sm_config *c);
void lab_seat_free(struct lab_seat *x);
void lab_seat_start(struct lab_seat *x);
node_id lab_choose_node(const struct fab *f); /* FAB_NONE: there is none */
uint64_t lab_burst_gap(const struct lab *l, const struct traffic_config *t);

#endif
