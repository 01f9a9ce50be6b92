/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of `weft ctl`: the socket to ask, waiting until a subnet is at rest, and answers as text.
 */
#ifndef WEFT_CTL_H
#define WEFT_CTL_H

#include <jansson.h>

#include "cli/cli.h"

/* ---- ctl_socket.c: which socket ---- */

struct ctl_target {
	const char *kind;   /* "sm": a manager; "fabric": an emulator */
	const char *socket; /* its path, or NULL: look in the default directories */
	const char *name;   /* of the fabric, or NULL */
	const char *option; /* that gives the name; NULL: --name */
	time_ps wait;	    /* retry so long while no process listens */
};

/* CLI_OK with the path, or CLI_BAD after a message that says where no process listens and what to do. */
int ctl_socket_find(const struct ctl_target *t, char *path, size_t size);

/* Returns when no process listens at path any more: CLI_OK, or CLI_NO after a message at the limit. */
int ctl_socket_wait_end(const char *path, time_ps limit);

/* ---- ctl_wait.c: until the subnet is at rest ---- */

/* Asks the manager at path for a sweep, and returns when one that found no change has ended: then
 * everything that had changed before the call is done. The final status is appended to answer. CLI_OK;
 * CLI_NO after a message when that takes longer than limit; CLI_BAD when the manager cannot be asked. */
int ctl_wait_for_rest(const char *path, time_ps limit, struct strbuf *answer);

/* ---- members of an answer ---- */

static inline const char *ctl_text(const json_t *a, const char *key)
{
	const char *s = json_string_value(json_object_get(a, key));

	return s ? s : "-";
}

static inline uint64_t ctl_number(const json_t *a, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(a, key));

	return v > 0 ? (uint64_t)v : 0;
}

/* Seconds in the answer, as people write them. */
static inline const char *ctl_duration(const json_t *a, const char *key)
{
	double s = json_number_value(json_object_get(a, key));

	return s > 0 && s < 1e6 ? cli_duration((time_ps)(s * 1e9) * PS_PER_NS)
	       : s > 0		? "days"
				: "0 s";
}

/* ---- ctl_show.c: one answer each, on standard output ---- */

typedef void ctl_show(const json_t *answer);
/* What follows "went down" about a link of this change that the manager isolated; "" for other changes. */
const char *ctl_isolation(const json_t *change);
ctl_show ctl_show_status, ctl_show_rest, ctl_show_topology, ctl_show_route, ctl_show_switches,
	ctl_show_ports, ctl_show_changes, ctl_show_smps, ctl_show_sa, ctl_show_paths,
	ctl_show_groups, ctl_show_partitions, ctl_show_services, ctl_show_subscriptions,
	ctl_show_text, ctl_show_level, ctl_show_dump, ctl_show_reload, ctl_show_perf, ctl_show_sick;

/* The answer's own text with line breaks; numbers are not changed. */
void ctl_json_indent(const char *line, struct strbuf *out);

#endif
