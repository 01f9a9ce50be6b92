/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU models: what SM and SMA work costs in simulated time (thesis 4.3.5). Constants only: a model
 * that measured the machine it runs on would give another answer on every run.
 */
#include "lab/lab.h"

#include <math.h>

/* A time in seconds to whole microseconds, so that the last bit of pow() decides nothing. */
static time_ps from_seconds(double s)
{
	return (time_ps)llround(s * 1e6) * PS_PER_US;
}

/* A failed computation names no cost: it is charged as FERa. */
static const struct rt_cost *cost_of(const struct sm_work_done *w)
{
	return w->cost ? w->cost : &rt_fera.cost;
}

/* An engine that searches destinations takes its share of the time for those it searched. */
static time_ps thesis_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	const struct rt_cost *c = cost_of(w);
	double s = c->thesis_s * pow(f->nnodes, c->thesis_exponent);

	return from_seconds(c->search_ps ? s * w->searched / MAX(f->nswitches, 1u) : s);
}

static time_ps host_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	const struct rt_cost *c = cost_of(w);
	uint64_t links = 2ull * f->nlinks, all = (uint64_t)f->nswitches * fab_top_lid(f);

	return links * w->searched * c->search_ps + all * c->cell_ps + w->entries * c->entry_ps +
	       10 * PS_PER_US;
}

const struct lab_cpu lab_cpus[] = {
	{
		/* Devices: the order of a firmware agent. SM: sm_step() (docs/benchmarks.md) and the way
		 * through the host for each packet. */
		.name = "host",
		.summary = "a present-day machine",
		.smi_ps = 2 * PS_PER_US,
		.sma_ps = 3 * PS_PER_US,
		.sm_ps = 1 * PS_PER_US,
		.route_ps = host_route_ps,
	},
	{
		/* 0.15 ms a transaction, out and back through the SM's SMI, in Tables 11, 16 and 23. */
		.name = "thesis",
		.summary = "the thesis's Pentium III at 1.06 GHz",
		.smi_ps = 75 * PS_PER_US,
		.sma_ps = 10 * PS_PER_US,
		.sm_ps = 20 * PS_PER_US,
		.route_ps = thesis_route_ps,
	},
	{0},
};

const struct lab_cpu *lab_cpu_find(const char *name)
{
	for (const struct lab_cpu *c = lab_cpus; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
