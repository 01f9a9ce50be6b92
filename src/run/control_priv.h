/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of the control socket: each is a function and a line in the table of control_commands.c. It
 * writes its members into an open JSON object and returns 0, or -EINVAL with e filled: then the object is
 * discarded.
 */
#ifndef WEFT_CONTROL_PRIV_H
#define WEFT_CONTROL_PRIV_H

#include "run/subnet_view.h"

enum { CTL_MAX_ARGS = 5 };
/* The most of one response, for requests that give the subnet in parts. */
enum {
	CTL_PART_NODES = 512,
	CTL_PART_PORTS = 4096,
	CTL_PART_ENTRIES = 256 << 10,
	CTL_PART_RECORDS = 512
};

struct ctl_ask {
	const struct run_view *v;
	const struct run_orders *o;
	const char *text[CTL_MAX_ARGS]; /* by position in the command's table; NULL: not given */
	uint64_t number[CTL_MAX_ARGS];	/* for arguments that are numbers; UINT64_MAX: not given */
	const struct json_t *list;	/* the argument that is an array */
	struct strbuf *faults; /* what a refused request found, one in each line; "": one, in e */
};

typedef int ctl_run(const struct ctl_ask *a, struct json *j, struct err *e);

/* control_status.c */
ctl_run ctl_status, ctl_changes, ctl_smps, ctl_config;
/* control_vm.c: -EINPROGRESS, the line is answered later */
ctl_run ctl_vm_list, ctl_vm_hosts, ctl_vm_create, ctl_vm_start, ctl_vm_stop, ctl_vm_migrate,
	ctl_vm_destroy, ctl_vm_batch, ctl_vm_defragment;
void ctl_vm_members(struct json *j, const struct sm *sm, const struct sm_vm_request *q,
		    const struct sm_vm_result *r);
/* vm_log.c */
struct run_log;
void run_vm_log(struct run_log *l, const struct sm *sm, const struct sm_vm_request *q,
		const struct sm_vm_result *r);
/* control_subnet.c */
ctl_run ctl_topology, ctl_switches, ctl_ports, ctl_route;
void ctl_hop_row(struct json *j, const struct ctl_ask *a, const struct fab *f,
		 const struct view_hop *h, unsigned sl);
int ctl_subnet(const struct ctl_ask *a, const struct fab **f, struct err *e);
/* What a text in parts was made of: parts with the same one go together. */
void ctl_version(const struct ctl_ask *a, struct json *j);
/* The request waits for rest (its argument `at_rest` is 1) and the manager works on a change: the answer is "busy". */
bool ctl_busy(const struct ctl_ask *a, uint64_t at_rest, struct json *j);
void ctl_node_members(struct json *j, const struct ctl_ask *a, const struct fab *f, node_id n);
uint16_t ctl_lid_of(const struct fab *f, port_id p); /* its own, or its switch's */
/* The LID of the port that the text names, else its base LID. */
uint16_t ctl_lid_named(const struct fab *f, port_id p, const char *text);
void ctl_state_members(struct json *j, const struct iba_port_info *pi);
void ctl_port_row(struct json *j, const struct ctl_ask *a, const struct fab *f, port_id p,
		  void (*more)(struct json *j, const struct iba_port_info *pi));
/* control_sa.c */
ctl_run ctl_sa, ctl_paths, ctl_groups, ctl_services, ctl_subscriptions;
void ctl_gid_member(struct json *j, const char *key, const uint8_t gid[16]);
void ctl_hex_member(struct json *j, const char *key, uint64_t v, unsigned digits);
/* The records of an attribute that match, as subnet administration would answer; the caller frees r->bytes. */
int ctl_records(const struct ctl_ask *a, uint16_t attr_id, uint64_t mask, const uint8_t *query,
		struct sa_records *r, struct err *e);
/* control_partitions.c */
ctl_run ctl_partitions;
/* control_memberships.c */
ctl_run ctl_memberships;
/* control_groups.c */
ctl_run ctl_group_tree;
/* control_perf.c */
ctl_run ctl_perf, ctl_sick;
/* control_node.c */
ctl_run ctl_node, ctl_tables, ctl_tree;
ctl_run ctl_counters; /* -EINPROGRESS, the line is answered later */

#endif
