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

static time_ps thesis_route_ps(const struct fab *f)
{
	return from_seconds(2.33e-5 * pow(f->nnodes, 2.684));
}

/* FERa as built here: about 0.3 ns for each switch and pair of destination switch and live port, and
 * 2 ns for each table entry (bench/, one core). */
static time_ps host_route_ps(const struct fab *f)
{
	uint64_t links = 2ull * f->nlinks, dests = f->nswitches;

	return (links * dests * 300 + (uint64_t)f->nswitches * fab_top_lid(f) * 2000) + 10 * PS_PER_US;
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
