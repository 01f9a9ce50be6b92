/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The laboratory: a subnet manager on a simulated fabric, under one clock. It carries SMPs between
 * the two, charges the SM's work to a CPU model, computes and verifies routes when the SM asks, and
 * judges the outcome from outside.
 */
#ifndef WEFT_LAB_H
#define WEFT_LAB_H

#include "lab/usage.h"
#include "sim/sim_config.h"
#include "sim/stats/sim_stats.h"
#include "sim/traffic/traffic.h"
#include "sm/sm.h"

/* ---- what work costs in simulated time ---- */

struct lab_cpu {
	const char *name, *summary;
	time_ps smi_ps, sma_ps; /* in every device */
	time_ps sm_ps;		/* the SM, for each SMP that arrives */
	time_ps (*route_ps)(const struct fab *f, const struct sm_work_done *w);
};

extern const struct lab_cpu lab_cpus[]; /* ends with name == NULL */
const struct lab_cpu *lab_cpu_find(const char *name);

struct lab_config {
	struct sim_config sim;
	struct sm_config sm;
	const struct lab_cpu *cpu;
	unsigned
		threads; /* for routes, verifying and packets; 0: as many as pay; changes no result */
	node_id sm_node; /* FAB_NONE: the first host of the largest part, or any node */
};

void lab_config_default(struct lab_config *c);

struct lab;

struct lab *lab_new(const struct fab *f, const struct lab_config *c, struct err *e);
void lab_free(struct lab *l);

/* Everything the SM notes, as it happens. */
void lab_on_note(struct lab *l, void (*fn)(void *ctx, const struct sm_note *n), void *ctx);

/* Every so many events, for whoever shows progress. */
void lab_on_tick(struct lab *l, void (*fn)(void *ctx), void *ctx);

struct sim *lab_sim(struct lab *l);
const struct sm *lab_sm(const struct lab *l);
node_id lab_sm_node(const struct lab *l);
const struct fab *lab_fabric(const struct lab *l);
/* As the lab uses it: the port of the first manager is filled in. */
const struct lab_config *lab_config(const struct lab *l);
/* Of the leading manager after its last step. */
const struct sm_status *lab_status(const struct lab *l);

/* Power on: all nodes, or those for which on[node] is set; the SM starts. */
void lab_power_on(struct lab *l, const bool *on);

/* Run until the SM is at rest (READY and nothing pending), or the limit. True: at rest. */
bool lab_run_ready(struct lab *l, time_ps limit);
/* Run until a sweep that began at or after `since` found nothing new. */
bool lab_run_settled(struct lab *l, time_ps since, time_ps limit);
void lab_run_until(struct lab *l, time_ps t);

/* ---- managers that come and go; the first has seat 0 ---- */

enum { LAB_SEATS = 2 };

/* It is gone at once, with all it knew; what it sent is still under way. */
void lab_manager_stop(struct lab *l, unsigned seat);
/* A new one sits down. Seeded: it is told the LIDs that the last one had given. */
void lab_manager_start(struct lab *l, unsigned seat, bool seeded);
/* The same with all that the last one knew, if that was at rest when it went; else with its LIDs. True: was. */
bool lab_manager_resume(struct lab *l, unsigned seat);
void lab_manager_config(struct lab *l, unsigned seat,
			const struct sm_config *c); /* of the next one */
/* Another one, on another node; before lab_power_on(). */
void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c);
/* Whom lab_sm(), lab_run_*(), lab_sum() and lab_judge() are about, until told otherwise seat 0. */
void lab_manager_lead(struct lab *l, unsigned seat);

/* The rounds (assimilations) added up since lab_sum_reset(). */
struct lab_sum {
	uint32_t rounds, restarts;
	time_ps first_start, last_end; /* detection and final READY */
	enum sm_cause cause;	       /* of the first */
	time_ps in_place
		[SM_NSTAGES]; /* moments when a stage's tables were in the switches; 0: none */
	time_ps compute[SM_NSTAGES];
	uint64_t entries, sent_blocks; /* changed in the switches; blocks written */
	time_ps time[SM_NPHASES];
	uint64_t smps[SM_NPURPOSES];
};

void lab_sum_reset(struct lab *l);
const struct lab_sum *lab_sum(const struct lab *l);

/* ---- the verdict ---- */

struct lab_verdict {
	bool active;   /* every port at the end of a link is Active */
	bool verified; /* the tables in the switches connect every pair without deadlock */
	bool lids_unique;
	bool complete; /* the SM knows exactly what is there */
	uint32_t nodes, lids, ports_inactive;
	uint32_t unreached;	 /* nodes that are on but not connected to the manager's */
	struct rt_report report; /* filled when the tables had to be looked at anew */
	char why[256];		 /* the first thing that is wrong, or empty */
};

/* Look at the fabric itself, as it is now: what can be reached from the SM's node. */
void lab_judge(struct lab *l, struct lab_verdict *v);

/* Two levels of the thesis (Table 10), for the tables, port states and SL-to-VL mappings in the devices
 * as they are now, in millionths, with the numbers behind them. */
struct lab_levels {
	uint32_t connectivity; /* of the pairs, those that can reach each other */
	uint32_t deadlock;     /* of the links, those that are part of a potential deadlock */
	uint64_t pairs;	       /* ordered pairs of host ports that cables connect right now */
	uint64_t connected;
	uint32_t links; /* directed links between switches that carry data */
	uint32_t cyclic;
};

void lab_levels(const struct lab *l, struct lab_levels *v);

/* ---- a change of the world ---- */

/* A copy of f without these nodes and their links. */
struct fab *lab_without(const struct fab *f, const bool *gone);

struct lab_change; /* BEFORE and AFTER as one fabric with two sets of links */

struct lab_change *lab_change_new(const struct fab *before, const struct fab *after, struct err *e);
void lab_change_free(struct lab_change *c);
const struct fab *lab_change_fab(const struct lab_change *c); /* simulate this one */
const bool *lab_change_on(const struct lab_change *c);	      /* nodes there before */
node_id lab_change_sm(const struct lab_change *c); /* where a manager sits unless told otherwise */
void lab_change_text(const struct lab_change *c, char *buf, size_t size); /* "1 node off, ..." */
bool lab_change_has(const struct lab_change *c, node_id n); /* there before and after */
void lab_change_apply(const struct lab_change *c, struct sim *s);

/* ---- traffic: a fabric under load ---- */

enum { LAB_OVERHEAD_BYTES = 26 }; /* of a data packet: LRH, BTH, ICRC, VCRC */

/* What is sent and for how long one looks. Rates are packets a second and node, where a node is a
 * linked port of a CA; of times without a value see lab_load_times(). */
struct lab_load {
	struct traffic_config traffic; /* start, stop, trace and burst_gap are lab_load_run()'s */
	traffic_trace *
		trace; /* its times count from the start of the traffic: they are moved; outlives the lab */
	time_ps warmup, duration; /* what is not counted; what is */
	bool detail;		  /* by host, switch and link as well */
};

struct lab_load_result {
	uint32_t hosts, senders;
	time_ps start, window_start, window_end;
	struct sim_plane_stats plane; /* at the end of the window */
	uint64_t discarded;	      /* of all causes */
	bool conserved;		      /* generated = delivered + discarded + in flight */
	uint64_t offered, accepted;   /* packets a second and sending node, in the window */
	uint64_t events;	      /* while there was traffic */
	uint64_t smps, hash;	      /* of the whole run; SMPs are the manager's */
	uint64_t smps_by[SM_NPURPOSES];
	struct sim_stats net;	/* what became of SMPs, of the whole run */
	struct lab_usage usage; /* with detail */
	port_id *ring;		/* output ports that wait for each other for good; see nring */
	size_t nring;
};

/* The slowest link of a host, in data bits a second (0: there is no host), and what it carries. */
uint64_t lab_host_bps(const struct fab *f);
uint64_t lab_load_full_rate(const struct fab *f, unsigned payload);
uint64_t lab_load_interval(uint64_t rate); /* picoseconds between packets of one node */
/* Hosts are numbered as sim_traffic() does; UINT32_MAX when n has no linked port or is no CA. */
uint32_t lab_host_number(const struct fab *f, node_id n);

/* Where warmup or duration is TIME_NEVER: so long that each node sends 200 packets and all of them
 * 8000, and 1000 packets pass on a host's link; a quarter of it before. Traces: no warm-up, and 1 ms
 * behind the last packet. */
void lab_load_times(const struct fab *f, struct lab_load *d);

/* Switch all on and wait until the manager is at rest. -ETIME with e filled. */
int lab_load_up(struct lab *l, time_ps limit, struct err *e);
/* Then send, until the window's end. 0, or -EINVAL with e filled. Free the result in either case. */
int lab_load_run(struct lab *l, const struct lab_load *d, struct lab_load_result *r, struct err *e);
void lab_load_free(struct lab_load_result *r);

/* ---- saturation ---- */

struct lab_sat_point {
	uint64_t rate;		    /* asked for, packets a second and sending node */
	uint64_t offered, accepted; /* what came of it */
	time_ps mean, p99;	    /* latency */
	bool saturated, deadlock, conserved;
};

struct lab_saturation {
	uint64_t rate;	   /* the highest found that is not saturated */
	bool full;	   /* that is all a host's link carries */
	time_ps zero_load; /* mean latency when packets hardly meet */
	uint64_t runs, events;
	bool sound; /* no deadlock, all packets accounted for */
	VEC(struct lab_sat_point) curve;
};

/* What lab_saturation() needs to know; `done` hears of every simulation. */
struct lab_sat_config {
	const struct fab *fab;
	const struct lab_config *lab;
	const struct lab_load
		*load;	 /* without interval; times TIME_NEVER unless they are the same for all */
	unsigned points; /* of the curve, the last at 6/5 of saturation */
	void (*done)(void *ctx, const struct lab_sat_point *p);
	void (*tick)(void *ctx);
	void *ctx;
};

/*
 * A point is saturated when less than 95 % of what is offered in the window is delivered in it, or
 * the mean latency is above 5 times that at zero load. Rates double from 1/64 of the host's link
 * until one is; then the gap is halved until it is 1/32. Each point is a simulation of its own; as
 * many as lab->threads run at once, some of them before it is known whether they are needed.
 * 0, or -EINVAL with e filled (also when packets are discarded even at zero load).
 */
int lab_saturation(const struct lab_sat_config *c, struct lab_saturation *s, struct err *e);
void lab_saturation_free(struct lab_saturation *s);

#endif
