/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which engine routes a fabric best: those that may (rt_engine.use) compute tables, a quick form of the meter compares
 * them, and the verifier has the last word. The result depends on fabric and options only, never on the number of
 * threads or on a clock.
 */
#ifndef WEFT_ROUTE_CHOOSE_H
#define WEFT_ROUTE_CHOOSE_H

#include "route/route.h"

enum { RT_MAX_TRIES = 16 };

/* What one engine did. Shares as in quality.h, of RT_SHARE_ONE. */
struct rt_try {
	const struct rt_engine *engine;
	bool routed;		    /* it has computed tables */
	struct err refused;	    /* why not, or why it was not tried */
	uint64_t bisection, shifts; /* mean shares; 0 where nothing was measured */
	unsigned lanes;
};

struct rt_choice {
	const struct rt_engine *engine;
	struct rt_tables *tables; /* verified; empty entries are filled (rt_tables_fill()) */
	uint64_t *rank;		  /* by switch, that the tables obey; NULL: the engine has none */
	struct rt_report report;  /* the verifier's, on these tables */
	struct rt_try tried[RT_MAX_TRIES];
	unsigned ntried;
	char why[240]; /* one line without the engine's name */
};

/*
 * 0, or a negative errno when no engine gives tables that the verifier accepts: e says why the last of them does not.
 * o as for rt_compute(). Free c after success; tables, ranks and report may be taken out before.
 *
 * In a fabric of several islands all pairs that cables join have a route; the meter measures inside each island.
 */
int rt_choose(const struct fab *f, const struct rt_opts *o, struct rt_choice *c, struct err *e);
void rt_choice_free(struct rt_choice *c);

/* How far tables are from others: a tenth worse in bisections or in shifts. */
bool rt_clearly_worse(uint64_t bisection, uint64_t shifts, const struct rt_try *than);
/* The quick form of the meter that rt_choose() uses. */
int rt_quick_quality(const struct fab *f, const struct rt_tables *t, unsigned threads,
		     uint64_t *bisection, uint64_t *shifts, struct err *e);

#endif
