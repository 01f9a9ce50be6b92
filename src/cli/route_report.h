/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of weft route compute and weft route verify, the root they name, and the verifier's
 * figures as text and JSON.
 */
#ifndef WEFT_CLI_ROUTE_REPORT_H
#define WEFT_CLI_ROUTE_REPORT_H

#include "cli/cmds.h"
#include "cli/host_groups.h"
#include "route/choose.h"

struct route_opts {
	const char *engine, *root, *directions, *ties, *lfts, *sls, *sl2vl, *scheme;
	const char *given_lfts, *given_sls, *given_sl2vl; /* of engine file */
	cli_strings groups;
	cli_strings roots; /* of commands that take several; root is not used there */
	unsigned threads, lmc, lanes, valiant;
	bool hosts_only;
};

extern const char route_engine_default[]; /* route_o.engine points here when no engine was given */
extern struct route_opts route_o;
extern const char *const route_directions[]; /* by enum rt_directions; ends with NULL */

/* Options of commands that compute routes and change them. */
/* clang-format off */
#define ROUTE_GRAPH_OPTS                                                                          \
	{"root", 'r', CLI_STR, &route_o.root, "NODE", "root of the up/down graph; default centre", \
	 NULL, 0, 0},                                                                              \
	{"directions", 0, CLI_CHOICE, &route_o.directions, "HOW",                                  \
	 "which end of a link is up; default distance", route_directions, 0, 0},                   \
	{"threads", 't', CLI_UINT, &route_o.threads, "N", "threads to use; default all", NULL, 1,  \
	 256}
/* clang-format on */

/* 0 and the root that --root names, by default the one that weft sm chooses; or CLI_BAD after a
 * message. */
int route_root_find(const struct fab *f, const char *file, node_id *root);
/* The same for commands that take several: o->root is the first, o->roots all of them, which the caller frees; none when none
 * was given, or auto. Engines of one root refuse more. */
int route_roots_find(const struct fab *f, const char *file, struct rt_opts *o);
/* The groups of hosts that --groups names, one for each time, into o->group, which the caller frees. CLI_BAD after a message. */
int route_groups_find(const struct fab *f, const char *file, struct rt_opts *o);
#define ROUTE_GROUPS_OPT                                                                                                                                     \
	{                                                                                                                                                    \
		"groups", 0, CLI_LIST, &route_o.groups, "GROUP",                                                                                             \
			"hosts that are balanced by themselves, as storage beside compute nodes; once for each group; parts with commas: " HOST_GROUPS_HELP, \
			NULL, 0, 0                                                                                                                           \
	}
enum rt_directions route_directions_find(void);
extern const char *const route_ties[]; /* by enum rt_ties; ends with NULL */
enum rt_ties route_ties_find(void);

/* route_dumps.c: tables of a dump and the fabric with its LIDs; the lanes that --sls and --sl2vl name, if any. CLI_BAD
 * after a message. */
int route_tables_load(const struct fab *f, const char *path, struct fab **with_lids,
		      struct rt_tables **t);
int route_lanes_load(const struct fab *f, struct rt_tables *t);
/* The dumps of engine file into o->given; freed by route_given_free(). CLI_BAD after a message: they are missing, or not asked
 * for, or cannot be read. */
int route_given_load(struct rt_opts *o);
void route_given_free(const struct rt_opts *o);
#define ROUTE_GIVEN_OPTS                                                                             \
	{"routes-file",                                                                              \
	 0,                                                                                          \
	 CLI_STR,                                                                                    \
	 &route_o.given_lfts,                                                                        \
	 "FILE",                                                                                     \
	 "engine file: the tables, in the format of opensm-lfts.dump",                               \
	 NULL,                                                                                       \
	 0,                                                                                          \
	 0},                                                                                         \
		{"routes-sls",                                                                       \
		 0,                                                                                  \
		 CLI_STR,                                                                            \
		 &route_o.given_sls,                                                                 \
		 "FILE",                                                                             \
		 "engine file: service level of every path, as for weft route verify; default SL 0", \
		 NULL,                                                                               \
		 0,                                                                                  \
		 0},                                                                                 \
	{                                                                                            \
		"routes-sl2vl", 0, CLI_STR, &route_o.given_sl2vl, "FILE",                            \
			"engine file: SL-to-VL maps, as for weft route verify; default VL = SL",     \
			NULL, 0, 0                                                                   \
	}

/* Hops, load of links and problems. */
/* Pairs that no cables connect, and the islands that they are in. */
void route_islands_json(struct json *j, const struct rt_report *r);
void route_islands_print(FILE *to, const struct rt_report *r);
void route_report_json(struct json *j, const struct rt_report *r);
void route_report_print(FILE *to, const struct rt_report *r);

/* Tables by the engine that route_o names. auto: by the one that is chosen, and *c says why; its engine is NULL otherwise. */
int route_compute_by(const struct fab *f, const struct rt_opts *o, struct rt_choice *c,
		     const struct rt_engine **engine, struct rt_tables **t, struct err *e);
/* The engines that were tried, as an array "tried" and as lines of text. */
void route_choice_json(struct json *j, const struct rt_choice *c);
void route_choice_print(FILE *to, const struct rt_choice *c);

#endif
