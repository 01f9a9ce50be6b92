/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet as others are shown it: the SM's snapshot with what it knows beside it.
 */
#ifndef WEFT_VIEW_H
#define WEFT_VIEW_H

#include "run/run.h"

const char *view_name(const struct sm *sm, const struct fab *f, node_id n); /* "": not known */
const char *view_type(const struct fab *f, node_id n); /* "switch", "host", "router" */
unsigned view_lanes(const struct iba_port_info *pi);   /* 0: not known */
enum fab_speed view_speed(const struct iba_port_info *pi);

/* The snapshot with names, ids and rates; NULL when there is none. The caller frees it. */
struct fab *view_fab(const struct sm *sm);

/* A port by whatever people write: GUID of a node or port, LID, S-/H- id or name. The port is the one
 * meant, or the node's first with a link (port 0 of a switch). 0 or -EINVAL with e filled. */
int view_find(const struct sm *sm, const char *text, port_id *p, struct err *e);

/* The way from one port to a LID, as the tables in force lead. */
struct view_hop {
	node_id node;
	uint8_t in, out; /* 255: none, at the ends */
};
typedef VEC(struct view_hop) view_hops;

/* 0; -EHOSTUNREACH, with why in e and the hops so far: it leads nowhere. */
int view_route(const struct sm *sm, port_id from, uint16_t lid, view_hops *hops, struct err *e);

#endif
