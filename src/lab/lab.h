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
	/* The same by size of the fabric and what the manager does; NULL: always sm_ps. */
	time_ps (*smp_ps)(const struct fab *f, const struct sm_config *c, enum sm_phase phase);
	time_ps (*route_ps)(const struct fab *f, const struct sm_work_done *w);
};

extern const struct lab_cpu lab_cpus[]; /* ends with name == NULL */
const struct lab_cpu *lab_cpu_find(const char *name);

/* ---- a lab ---- */

/* Where a manager sits, how it is configured (its port is filled in), when it starts. */
struct lab_seat {
	node_id node;
	struct sm_config sm;
	time_ps start;
};

struct lab_given;

struct lab_config {
	struct sim_config sim;
	struct sm_config sm;
	const struct lab_cpu *cpu;
	unsigned
		threads; /* for routes, verification and packets; 0: automatic; changes no result */
	node_id sm_node; /* FAB_NONE: the first host of the largest part, or any node */
	time_ps on_at;	 /* when lab_power_on() switches nodes on, if that is later */
	time_ps sm_start; /* when the first manager starts; 0: at power-on */
	/* More managers, read by lab_new() only: runs and the verdict then refer to the master. */
	const struct lab_seat *seats;
	unsigned nseats;
	bool sa; /* managers answer requests of hosts: src/sa; see sa_clients.h */
	const struct lab_given *given; /* given_tables.h: tables to program; NULL: computed ones */
};

void lab_config_default(struct lab_config *c);
/* Where a manager sits by default: the first host of the largest part. FAB_NONE: the fabric is empty. */
node_id lab_choose_node(const struct fab *f);

struct lab;

/* NULL with e filled when the fabric has no node. */
struct lab *lab_new(const struct fab *f, const struct lab_config *c, struct err *e);
void lab_free(struct lab *l);

/* Called with each note of each manager, when it happens. */
void lab_on_note(struct lab *l, void (*fn)(void *ctx, const struct sm_note *n), void *ctx);
/* The manager, by index, whose note is delivered. */
unsigned lab_noting(const struct lab *l);

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

/*
 * Run until the leading manager is at rest (READY and nothing pending); where the master leads, until no
 * manager discovers and the masters, one in each connected part, are at rest. False: the limit came first.
 */
bool lab_run_ready(struct lab *l, time_ps limit);
/* Run until one of its sweeps that began at or after `since` found no change. False: the limit came first. */
bool lab_run_settled(struct lab *l, time_ps since, time_ps limit);
void lab_run_until(struct lab *l, time_ps t); /* the clock stops at the last event */
void lab_run_to(struct lab *l, time_ps t);

/* ---- several managers, by index; lab_new() makes manager 0, which leads, and those of cfg.seats ---- */

unsigned lab_managers(const struct lab *l);
/* Add a manager on another node; only before lab_power_on(). start: when; 0 means at power-on. */
void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c);
void lab_seat_add(struct lab *l, const struct lab_seat *seat);
/* Stop at once, as a crash does. SMPs that it sent are still delivered. */
void lab_manager_stop(struct lab *l, unsigned index);
/* Start a new manager on the same port. with_lids: it knows the LIDs that the stopped one had assigned. */
void lab_manager_start(struct lab *l, unsigned index, bool with_lids);
/* Start one with the subnet state that the stopped one had, if that was at rest; otherwise with its LIDs.
 * True: the state was restored. */
bool lab_manager_resume(struct lab *l, unsigned index);
/*
 * The same with a subnet state that the caller provides: old, or damaged. It is copied. -EBADMSG with e
 * filled: the manager refused it and started with the LIDs alone.
 */
int lab_manager_resume_with(struct lab *l, unsigned index, const uint8_t *state, size_t len,
			    struct err *e);
/* The subnet state that resume would restore; NULL: none. */
const uint8_t *lab_manager_memory(const struct lab *l, unsigned index, size_t *len);
/*
 * A stopped process: it does nothing, while time passes. SMPs wait in its socket buffer, which holds
 * LAB_PAUSED_SMPS, and further ones are lost. On continue it gets its timers, then the SMPs, late.
 */
void lab_manager_pause(struct lab *l, unsigned index);
void lab_manager_continue(struct lab *l, unsigned index);
bool lab_manager_paused(const struct lab *l, unsigned index);
enum { LAB_PAUSED_SMPS = 256 };
/* Of a stopped manager: the next one starts on this node, where none is. */
void lab_manager_seat(struct lab *l, unsigned index, node_id n);
/* What a user orders: SM_EV_SWEEP, SM_EV_HANDOVER (guid: of the heir's port, 0: the best) or SM_EV_RESYNC. A manager that
 * is stopped or paused does not get it. */
void lab_manager_order(struct lab *l, unsigned index, enum sm_event_kind order, uint64_t guid);
/* SM_EV_ISOLATE, for the link at this port of a switch. */
void lab_manager_isolate(struct lab *l, unsigned index, uint64_t guid, unsigned port, bool isolate);
/* Requests about VMs; false: the manager is stopped or paused. Each is answered by lab_on_vm(). */
bool lab_manager_vms(struct lab *l, unsigned index, const struct sm_vm_request *r, size_t n);
/* All multicast groups that are wanted, for this manager; false: it is stopped or paused. A manager that starts knows none.
 */
bool lab_manager_groups(struct lab *l, unsigned index, const struct sm_group *g, size_t n);
/* The same of alias GUIDs of ports. */
bool lab_manager_aliases(struct lab *l, unsigned index, const struct sm_alias *a, size_t n);
/* Called with each answer of each manager to a request about VMs, when it comes. */
void lab_on_vm(struct lab *l, void (*fn)(void *ctx, const struct sm_vm_result *r), void *ctx);
/* Partitions and levels of service of this manager, at once, and of those started here later; copied. */
struct pol;
void lab_manager_policy(struct lab *l, unsigned index, const struct pol *p);
/* Configuration of the next one that is started. */
void lab_manager_config(struct lab *l, unsigned index, const struct sm_config *c);
/* The manager that lab_sm(), lab_run_*(), lab_sum() and lab_judge() refer to. */
void lab_manager_lead(struct lab *l, unsigned index);
/* From now on they refer to the master; while there is none, to the last one or any that runs. */
void lab_master_leads(struct lab *l);

const struct sm *lab_manager_sm(const struct lab *l, unsigned index); /* NULL: stopped */
const struct sm_status *lab_manager_status(const struct lab *l, unsigned index);
const struct sm_config *lab_manager_cfg(const struct lab *l, unsigned index);
node_id lab_manager_node(const struct lab *l, unsigned index);
port_id lab_manager_port(const struct lab *l, unsigned index);
uint64_t lab_manager_guid(const struct lab *l, unsigned index); /* of its port, as in SMInfo */
/* Runs, is not paused, and is Master. */
bool lab_manager_is_master(const struct lab *l, unsigned index);
/* By port: ports between which SMPs can travel have the same number; 0: the node is off. Switches connect
 * their ports, CAs and routers do not. */
void lab_parts(const struct lab *l, uint32_t *part);
bool lab_connected(const struct lab *l, port_id a, port_id b);
/* An SMP that leaves this node, and each one after it, by these ports arrives at the other node. */
bool lab_way_leads(const struct lab *l, node_id from, const uint8_t *hops, unsigned n, node_id to);

/* ---- what the leading manager did ---- */

/* Requests that the manager sent, repetitions included, by attribute of subnet management. */
enum { LAB_ATTRS = 64 };
struct lab_requests {
	uint64_t get[LAB_ATTRS], set[LAB_ATTRS];
};

/* All rounds since lab_sum_reset(), added up. */
struct lab_sum {
	uint32_t rounds, restarts;
	time_ps first_start, last_end; /* detection; READY at the end */
	enum sm_cause cause;	       /* of the first round */
	time_ps in_place
		[SM_NSTAGES]; /* when the tables of a stage were in the switches; 0: never */
	time_ps complete[SM_NSTAGES]; /* and the ports of the subnet were Active */
	time_ps compute[SM_NSTAGES];
	uint64_t entries, sent_blocks; /* entries that changed in switches; blocks written */
	time_ps time[SM_NPHASES];
	uint64_t smps[SM_NPURPOSES];
	uint64_t sent[SM_NPHASES]; /* SMPs by phase */
	/* Also outside of rounds: requests, and SMPs of discovery that the manager's CPU processed. */
	struct lab_requests requests;
	uint64_t processed;
	time_ps processing;
};

/* Called when the leading manager has ended a round. */
void lab_on_round(struct lab *l, void (*fn)(void *ctx), void *ctx);
void lab_sum_reset(struct lab *l);
const struct lab_sum *lab_sum(const struct lab *l);

#endif
