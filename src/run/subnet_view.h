/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's snapshot of the subnet, with names, rates and routes, for answers and dumps. Reads only.
 */
#ifndef WEFT_VIEW_H
#define WEFT_VIEW_H

#include "run/run.h"

const char *view_name(const struct sm *sm, const struct fab *f, node_id n); /* "": unknown */
const char *view_type(const struct fab *f, node_id n); /* "switch", "host", "router" */
unsigned view_lanes(const struct iba_port_info *pi);   /* 0: unknown */
enum fab_speed view_speed(const struct iba_port_info *pi);

/* A copy of the snapshot with names, ids and rates; NULL when there is no snapshot. The caller frees it. */
struct fab *view_fab(const struct sm *sm);
/* Nodes of the snapshot as netlist text, with names, ids and rates; all parts in their order are the whole text. */
void view_netlist(const struct sm *sm, node_id first, uint32_t count, struct strbuf *out);
/* A digit for each port with a link of these nodes, in the order of that text: PortState, 0 where it is not known. */
void view_states(const struct sm *sm, node_id first, uint32_t count, struct strbuf *out);

/* Finds a port by text: the GUID of a node or port, a LID, an S-/H- id or a name. For a node it is the
 * first port with a link, or port 0 of a switch. 0 or -EINVAL with e filled. */
int view_find(const struct sm *sm, const char *text, port_id *p, struct err *e);

/* The same for an end of paths: also a virtual machine that runs, by name or vGUID, or a VF by GUID or LID. *p is the port
 * of its HCA then. */
int view_find_end(const struct sm *sm, const char *text, port_id *p, uint64_t *guid, struct err *e);
/* The name of the machine with this GUID, or of the node of its port; FAB_NONE: not known, "". */
const char *view_end_name(const struct sm *sm, const struct fab *f, uint64_t guid, node_id n);

/* The route from a port to a LID by the tables in force. */
struct view_hop {
	node_id node;
	uint8_t in, out; /* 255: none, at the ends */
};
typedef VEC(struct view_hop) view_hops;

/* The output port of a switch, by its index among switches; 255: none. */
uint8_t view_entry(const struct rt_tables *t, uint32_t sw, uint16_t lid);
/* SL of packets from a port to a LID. */
unsigned view_sl(const struct sm *sm, port_id from, uint16_t lid);
/* 0, or -EHOSTUNREACH with the reason in e and the hops up to there. */
int view_route(const struct sm *sm, port_id from, uint16_t lid, view_hops *hops, struct err *e);

#endif
