/* SPDX-License-Identifier: BSD-2-Clause */
/* Between plan.c, which knows tables, and turns.c, which knows only dependencies and ranks. */
#ifndef WEFT_ROUTE_PLAN_PRIV_H
#define WEFT_ROUTE_PLAN_PRIV_H

#include "route/cdg.h"

/*
 * A set of turns from up link to up link (by rank) that takes every cycle out of `all` and nothing
 * out of `keep`; no turn in it can be spared, unless the search became too long. In the order of
 * switch, in, out. -EINVAL when there is no such set.
 */
int turns_choose(const struct cdg *all, const struct cdg *keep, const uint64_t *rank,
		 rt_turns *turns, struct err *e);

#endif
