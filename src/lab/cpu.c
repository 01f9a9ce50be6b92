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

/* An update is as much of a FERa as destinations are searched; the thesis has none. */
static time_ps thesis_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	if (w->job == SM_JOB_PIRA)
		return from_seconds(1.16e-5 * pow(f->nnodes, 2.494));
	return from_seconds(2.33e-5 * pow(f->nnodes, 2.684) * w->searched / MAX(f->nswitches, 1u));
}

/*
 * As built here (bench/, one core): FERa about 0.3 ns for each live port and destination switch, and
 * 2 ns for each entry; PIRa 4 ns an entry it looks at, which is each switch and LID; an update looks
 * through all rows once, 0.1 ns an entry.
 */
static time_ps host_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	uint64_t links = 2ull * f->nlinks, all = (uint64_t)f->nswitches * fab_top_lid(f);

	if (w->job == SM_JOB_PIRA)
		return all * 1000 + w->entries * 2000 + 10 * PS_PER_US;
	if (w->job == SM_JOB_UPDATE)
		return links * w->searched * 300 + w->entries * 2000 + all * 100 + 10 * PS_PER_US;
	return links * w->searched * 300 + all * 2000 + 10 * PS_PER_US;
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
