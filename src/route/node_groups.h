/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts (rt_opts.group) as engines and the choice among them need them.
 */
#ifndef WEFT_ROUTE_NODE_GROUPS_H
#define WEFT_ROUTE_NODE_GROUPS_H

#include "route/route.h"

enum { RT_MAX_GROUPS = 200 };

/* How many there are: the largest number and one. */
unsigned rt_group_count(const struct fab *f, const struct rt_opts *o);
/* By LID, those of virtual functions too; 0 for the LIDs of switches. The caller frees it. */
uint8_t *rt_group_by_lid(const struct fab *f, const struct rt_opts *o, uint32_t top_lid);
/* Mean shares of bisections and shifts inside the groups, by their hosts. A group of one host has none. */
int rt_group_quality(const struct fab *f, const struct rt_tables *t, const struct rt_opts *o,
		     uint32_t patterns, uint64_t *bisection, uint64_t *shifts, struct err *e);

#endif
