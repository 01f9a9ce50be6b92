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

/* A callback that came while the manager was paused. */
struct lab_late {
	void (*fn)(void *ctx, uint64_t cookie);
	uint64_t cookie;
};

struct lab_sa; /* administration.c */

/* A manager and the port it is attached to. */
struct lab_manager {
	struct lab *lab;
	unsigned index;
	struct sm_config cfg;
	time_ps start;	     /* of the first one */
	struct sm *sm;	     /* NULL: stopped */
	struct lab_sa *sa;   /* NULL: without subnet administration */
	struct pol *policy;  /* of it and of those after it; NULL: the default one */
	uint32_t generation; /* how many managers were stopped here */
	node_id node;
	struct sm_actions out;
	VEC(struct sim_smp) inbox; /* arrived, waiting for the manager's CPU */
	size_t inbox_head;
	time_ps sm_free, wake_at;
	bool paused;
	uint32_t pauses;	   /* how many there were */
	VEC(struct lab_late) late; /* delivered when it continues */
	struct sm_routes routes;   /* computed, delivered when the CPU model says so */
	uint32_t progress_top;	   /* highest LID of tables that are delivered in steps */
	struct sm_status st;	   /* after the last step; only a step changes it */
	uint32_t sls_number;	   /* of the service levels that hosts have from it */
	struct lab_sum sum;
	VEC(struct lab_lid) lids; /* that the stopped manager had assigned */
	VEC(struct sm_vm) vms;	  /* that it had */
	uint8_t *memory; /* subnet state of the stopped manager; NULL: it was not at rest */
	size_t memory_len;
};

struct lab_sls; /* host_sls.h */

struct lab {
	struct lab_config cfg;
	const struct fab *fab;
	struct sim *sim;
	VEC(struct lab_manager *) managers;
	struct lab_manager *lead; /* that runs and the verdict refer to */
	bool follow;		  /* the master leads */
	unsigned noting;	  /* the manager whose note is delivered */
	void (*note)(void *ctx, const struct sm_note *n);
	void *note_ctx;
	void (*vm)(void *ctx, const struct sm_vm_result *r);
	void *vm_ctx;
	void (*tick)(void *ctx);
	void *tick_ctx;
	void (*round)(void *ctx);
	void *round_ctx;
	uint8_t mlid_sl[FAB_MCAST_MAX]; /* SL of packets to a multicast LID, as groups were given */
	struct lab_sls *sls;		/* service levels that hosts have learnt; NULL: none */
};

struct lab_manager *lab_manager_new(struct lab *l, unsigned index, const struct lab_seat *seat);
void lab_manager_free(struct lab_manager *m);
void lab_manager_sum_reset(struct lab_manager *m);
void lab_manager_power_on(struct lab_manager *m);
void lab_manager_event(struct lab_manager *m, struct sm_event *ev); /* now */

/* administration.c: nothing happens where cfg.sa is off */
void lab_sa_open(struct lab_manager *m); /* with what earlier managers here saved */
void lab_sa_close(struct lab_manager *m);
void lab_sa_free(struct lab_manager *m);
void lab_sa_take(struct lab_manager *m, const struct sim_smp *smp);
void lab_sa_work(struct lab_manager *m); /* after each step of the manager */

void lab_note_now(struct lab *l, unsigned index, const struct sm_note *n);

#endif
