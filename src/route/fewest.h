/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fewest entries that must change after a failure, whatever routing by destination is used. Pure.
 */
#ifndef WEFT_ROUTE_FEWEST_H
#define WEFT_ROUTE_FEWEST_H

#include "route/route.h"

struct rt_fewest {
	uint64_t entries;
	uint64_t blocks; /* of 64 entries, with an entry that has to change in any case */
};

/*
 * A lower bound for tables of before->f that shall connect all that f connects; before->rank is not looked at, deadlocks
 * are not. An entry whose link is dead has to change. If the switch has only neighbours whose routes lead back to it, entries
 * of these have to change as well, as few as possible. A new LID needs an entry in each switch.
 */
int rt_fewest_changes(const struct fab *f, const struct rt_before *before, struct rt_fewest *out,
		      struct err *e);

#endif
