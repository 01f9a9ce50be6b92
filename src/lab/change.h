/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change from one fabric to another: BEFORE and AFTER joined in one fabric with two sets of nodes and links,
 * so that a simulation can switch from the first to the second at once. Nodes are the same when their GUIDs
 * are.
 */
#ifndef WEFT_CHANGE_H
#define WEFT_CHANGE_H

#include "lab/lab.h"

/* A copy of f without these nodes and their links. */
struct fab *lab_without(const struct fab *f, const bool *gone);

/* A copy of f without the link at this port. */
struct fab *lab_without_link(const struct fab *f, port_id p);

/* The switch at the manager's port, or the manager's own node if that is a switch; FAB_NONE: there is none. */
node_id lab_sm_switch(const struct fab *f, node_id sm);

/* The i-th of `many` numbers below `all`, spread evenly; many <= all. */
size_t lab_spread(size_t i, size_t many, size_t all);

struct lab_change;

/* NULL with e filled: a node is another device before than after. */
struct lab_change *lab_change_new(const struct fab *before, const struct fab *after, struct err *e);
void lab_change_free(struct lab_change *c);
const struct fab *lab_change_fab(const struct lab_change *c); /* the joined fabric, to simulate */
const bool *lab_change_on(const struct lab_change *c);	      /* by node: exists before */
node_id lab_change_sm(const struct lab_change *c);	      /* the default node of a manager */
void lab_change_text(const struct lab_change *c, char *buf,
		     size_t size);			    /* "1 node off, 8 links down" */
bool lab_change_has(const struct lab_change *c, node_id n); /* exists before and after */
void lab_change_apply(const struct lab_change *c, struct sim *s);

#endif
