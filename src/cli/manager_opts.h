/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say what a simulated manager does and how well SMPs travel: one table, one way
 * from it to a configuration. Functions give CLI_OK, or CLI_BAD after a message.
 */
#ifndef WEFT_MANAGER_OPTS_H
#define WEFT_MANAGER_OPTS_H

#include "cli/rft_opts.h"
#include "lab/lab.h"

struct manager_opts {
	const char *sm, *discovery, *detection, *activation, *mechanism, *cpu, *engine, *root;
	const char *provisional, *routes, *distribution, *second, *tables;
	unsigned window, lmc, retries, sweep_factor, threads, damp;
	uint64_t seed, m_key;
	double loss, delay, dup;
	time_ps sweep_period, damp_window, damp_hold; /* the last two TIME_NEVER: not given */
	bool qos;
};

extern struct manager_opts manager_o; /* of the one command that runs */
extern const char *const manager_mechanisms[];
extern const char *const manager_discoveries[], *const manager_detections[],
							*const manager_activations[];
extern const char *const manager_supplies[], *const manager_first_supplies[],
						     *const manager_techniques[];
extern const char *const manager_tables[], *const manager_cpus[];

/* clang-format off */
#define MANAGER_OPTS \
	RFT_OPT, \
	{"sm", 0, CLI_STR, &manager_o.sm, "NODE", "where the manager sits: GUID, S-/H- id or name (default: the first host)", NULL, 0, 0}, \
	{"discovery", 0, CLI_CHOICE, &manager_o.discovery, "HOW", "full: in propagation order; bfs: breadth-first, one SMP at a time; partial: what changed", manager_discoveries, 0, 0}, \
	{"engine", 0, CLI_CHOICE, &manager_o.engine, "NAME", "routing engine (default fera)", rt_engine_names, 0, 0}, \
	{"root", 0, CLI_STR, &manager_o.root, "NODE", "root of the up/down graph, a node or centre (default: the manager's switch)", NULL, 0, 0}, \
	{"activation", 0, CLI_CHOICE, &manager_o.activation, "HOW", "SMPs that activate ports: directed or by lid (default directed)", manager_activations, 0, 0}, \
	{"window", 0, CLI_UINT, &manager_o.window, "N", "SMPs outstanding at once (default 32)", NULL, 1, SM_MAX_WINDOW}, \
	{"retries", 0, CLI_UINT, &manager_o.retries, "N", "times an unanswered SMP is sent again (default 4)", NULL, 0, 20}, \
	{"lmc", 0, CLI_UINT, &manager_o.lmc, "N", "2^N LIDs for each host port (default 0)", NULL, 0, 7}, \
	{"m-key", 0, CLI_U64, &manager_o.m_key, "KEY", "management key the manager sets and shows (default 0: none)", NULL, 0, 0}, \
	{"qos", 0, CLI_FLAG, &manager_o.qos, NULL, "also write SL-to-VL and VL arbitration tables", NULL, 0, 0}, \
	{"damp", 0, CLI_UINT, &manager_o.damp, "N", "hold a link that changed N times: it counts as Down until it kept quiet (default: never)", NULL, 1, SM_MAX_FLAPS}, \
	{"damp-window", 0, CLI_TIME, &manager_o.damp_window, "TIME", "with --damp: N times within this (default 60s)", NULL, 0, 0}, \
	{"damp-hold", 0, CLI_TIME, &manager_o.damp_hold, "TIME", "with --damp: how long it has to keep quiet (default 30s)", NULL, 0, 0}, \
	{"cpu", 0, CLI_CHOICE, &manager_o.cpu, "MODEL", "what work costs: host, or the thesis's reference machine (default host)", manager_cpus, 0, 0}, \
	{"seed", 0, CLI_U64, &manager_o.seed, "N", "seed of everything random (default 1)", NULL, 0, 0}, \
	{"loss", 0, CLI_SHARE, &manager_o.loss, "P", "share of SMPs lost", NULL, 0, 0}, \
	{"delay", 0, CLI_SHARE, &manager_o.delay, "P", "share of SMPs delayed by up to 2 ms", NULL, 0, 0}, \
	{"dup", 0, CLI_SHARE, &manager_o.dup, "P", "share of SMPs that arrive twice", NULL, 0, 0}, \
	{"threads", 0, CLI_UINT, &manager_o.threads, "N", "threads for routes and verification; changes no result (default: all cores)", NULL, 0, 256}

/* How a change is assimilated. */
#define MANAGER_CHANGE_OPTS \
	{"mechanism", 0, CLI_CHOICE, &manager_o.mechanism, "NAME", "how a change is assimilated; see docs/mechanism.md (default weft)", manager_mechanisms, 0, 0}, \
	{"provisional", 0, CLI_CHOICE, &manager_o.provisional, "ROUTES", "routes computed and sent first, in place of the mechanism's", manager_first_supplies, 0, 0}, \
	{"routes", 0, CLI_CHOICE, &manager_o.routes, "ROUTES", "the routes that stay", manager_supplies, 0, 0}, \
	{"distribution", 0, CLI_CHOICE, &manager_o.distribution, "HOW", "how the first tables are distributed", manager_techniques, 0, 0}, \
	{"then", 0, CLI_CHOICE, &manager_o.second, "HOW", "and how final tables, after provisional ones", manager_techniques, 0, 0}, \
	{"tables", 0, CLI_CHOICE, &manager_o.tables, "WHICH", "full: all blocks; partial: only those that differ", manager_tables, 0, 0}, \
	{"detection", 0, CLI_CHOICE, &manager_o.detection, "HOW", "sweep, traps or both (default as the mechanism has it; sweeps go on in any case)", manager_detections, 0, 0}, \
	{"sweep-factor", 0, CLI_UINT, &manager_o.sweep_factor, "K", "a sweep every K times the duration of one (default 100)", NULL, 0, 1000000}, \
	{"sweep-period", 0, CLI_TIME, &manager_o.sweep_period, "TIME", "a sweep every TIME instead", NULL, 0, 0}
/* clang-format on */

/* What every simulating command asks of the manager: defaults, then where it sits, the root of its
 * routes and its engine, each NULL for the usual. */
int manager_place(const struct fab *f, const char *sm, const char *root, const char *engine,
		  struct lab_config *c);

/* All that manager_o says. */
int manager_config(const struct fab *f, struct lab_config *c);

#endif
