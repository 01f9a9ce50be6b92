/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The laboratory: subnet managers on a simulated fabric, under one clock. It carries SMPs between managers
 * and devices, charges the managers' work to a CPU model and computes routes when a manager requests them.
 * The same fabric, configuration and calls give the same run, for any number of threads.
 *
 * The caller owns the fabric, which must outlive the lab. Other headers of this room measure a lab:
 * verdict.h, forwarding_scan.h, watch.h, series.h; change.h, load.h and saturation.h run experiments.
 */
#ifndef WEFT_LAB_H
#define WEFT_LAB_H

#include "sim/sim_config.h"
#include "sim/stats/sim_stats.h"
#include "sm/sm.h"

/* ---- CPU models: how much simulated time work takes ---- */

struct lab_cpu {
	const char *name, *summary;
	time_ps smi_ps, sma_ps; /* in every device */
	time_ps sm_ps;		/* in the manager, for each SMP that arrives */
	time_ps (*route_ps)(const struct fab *f, const struct sm_work_done *w);
};

extern const struct lab_cpu lab_cpus[]; /* ends with name == NULL */
const struct lab_cpu *lab_cpu_find(const char *name);

/* ---- a lab ---- */

struct lab_config {
	struct sim_config sim;
	struct sm_config sm;
	const struct lab_cpu *cpu;
	unsigned
		threads; /* for routes, verification and packets; 0: automatic; changes no result */
	node_id sm_node; /* FAB_NONE: the first host of the largest part, or any node */
};

void lab_config_default(struct lab_config *c);

struct lab;

/* NULL with e filled when the fabric has no node. */
struct lab *lab_new(const struct fab *f, const struct lab_config *c, struct err *e);
void lab_free(struct lab *l);

/* Called with each note of each manager, when it happens. */
void lab_on_note(struct lab *l, void (*fn)(void *ctx, const struct sm_note *n), void *ctx);

/* Called every 65536 events, to show progress. */
void lab_on_tick(struct lab *l, void (*fn)(void *ctx), void *ctx);

struct sim *lab_sim(struct lab *l);
const struct fab *lab_fabric(const struct lab *l);
/* As the lab uses it: the port of the first manager is filled in. */
const struct lab_config *lab_config(const struct lab *l);

/* Of the leading manager: NULL while it is stopped; its node; its status after its last step. */
const struct sm *lab_sm(const struct lab *l);
node_id lab_sm_node(const struct lab *l);
const struct sm_status *lab_status(const struct lab *l);

/* Power on all nodes, or those for which on[node] is set; then start the managers. */
void lab_power_on(struct lab *l, const bool *on);

/* Run until the leading manager is at rest (READY and nothing pending). False: the limit came first. */
bool lab_run_ready(struct lab *l, time_ps limit);
/* Run until one of its sweeps that began at or after `since` found no change. False: the limit came first. */
bool lab_run_settled(struct lab *l, time_ps since, time_ps limit);
void lab_run_until(struct lab *l, time_ps t);

/* ---- several managers, by index; lab_new() makes manager 0, which leads ---- */

enum { LAB_MANAGERS = 4 };

/* Add a manager on another node; only before lab_power_on(). */
void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c);
/* Stop at once, as a crash does. SMPs that it sent are still delivered. */
void lab_manager_stop(struct lab *l, unsigned index);
/* Start a new manager on the same port. with_lids: it knows the LIDs that the stopped one had assigned. */
void lab_manager_start(struct lab *l, unsigned index, bool with_lids);
/* Start one with the subnet state that the stopped one had, if that was at rest; otherwise with its LIDs.
 * True: the state was restored. */
bool lab_manager_resume(struct lab *l, unsigned index);
/* Configuration of the next one that is started. */
void lab_manager_config(struct lab *l, unsigned index, const struct sm_config *c);
/* The manager that lab_sm(), lab_run_*(), lab_sum() and lab_judge() refer to. */
void lab_manager_lead(struct lab *l, unsigned index);

const struct sm *lab_manager_sm(const struct lab *l, unsigned index); /* NULL: stopped */
const struct sm_status *lab_manager_status(const struct lab *l, unsigned index);

/* ---- what the leading manager did ---- */

/* All rounds since lab_sum_reset(), added up. */
struct lab_sum {
	uint32_t rounds, restarts;
	time_ps first_start, last_end; /* detection; READY at the end */
	enum sm_cause cause;	       /* of the first round */
	time_ps in_place
		[SM_NSTAGES]; /* when the tables of a stage were in the switches; 0: never */
	time_ps compute[SM_NSTAGES];
	uint64_t entries, sent_blocks; /* entries that changed in switches; blocks written */
	time_ps time[SM_NPHASES];
	uint64_t smps[SM_NPURPOSES];
};

void lab_sum_reset(struct lab *l);
const struct lab_sum *lab_sum(const struct lab *l);

#endif
