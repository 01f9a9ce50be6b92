/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU models: how long managers and devices work, in simulated time (thesis 4.3.5). Keeps no state. Way in:
 * lab_cpus[]. Does not measure the machine it runs on: each run must give the same result.
 */
#include "lab/lab.h"

#include <math.h>

/* Rounded to microseconds, so that the last bit of pow() does not matter. */
static time_ps from_seconds(double s)
{
	return (time_ps)llround(s * 1e6) * PS_PER_US;
}

/* A computation that failed has no cost of its own: it is charged as FERa. */
static const struct rt_cost *cost_of(const struct sm_work_done *w)
{
	return w->cost ? w->cost : &rt_fera.cost;
}

/* An engine that searches from destinations is charged for those that it searched. */
static time_ps thesis_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	const struct rt_cost *c = cost_of(w);
	double s = c->thesis_s * pow(f->nnodes, c->thesis_exponent);

	return from_seconds(c->search_ps ? s * w->searched / MAX(f->nswitches, 1u) : s);
}

/*
 * The thesis shows the time of the manager for each SMP of a discovery only in pictures (Figs. 59 and 72): a line
 * over the number of nodes, higher for partial discovery. These lines give Table 16 within 10 % where the fabric
 * has as many SMPs as Table 17. Any other SMP takes what Table 11 has beyond 0.15 ms for each switch.
 */
static time_ps thesis_smp_ps(const struct fab *f, const struct sm_config *c, enum sm_phase phase)
{
	if (phase != SM_DISCOVER)
		return 2 * PS_PER_US;
	return c->mechanism.discovery->partial ? 130 * PS_PER_US + f->nnodes * 100 * PS_PER_NS
					       : 80 * PS_PER_US + f->nnodes * 400 * PS_PER_NS;
}

/*
 * The report's other machine (its Fig. 8(a), without numbers). Integer programs are 15 to 20 % faster on a Pentium 4 at
 * 1.5 GHz than on a Pentium III at 1 GHz (Intel Technology Journal, Q1 2001): 13 % against 1.06 GHz.
 */
static time_ps pentium4_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	return thesis_route_ps(f, w) / 113 * 100;
}

/*
 * A machine of 2005 with OpenSM, from what Vishnu et al. measured with one switch and eight hosts (Table 1): 10.82 ms
 * for the 45 SMPs that --profile opensm2005 sends there, 0.38 ms for a table, 82.1 ms for routes to eight hosts.
 * 11 to 13 us of each SMP are those of SMI, SMA and link.
 */
static time_ps opensm2005_smp_ps(const struct fab *f, const struct sm_config *c,
				 enum sm_phase phase)
{
	(void)f, (void)c;
	return (phase == SM_TABLES ? 369 : 227) * PS_PER_US;
}

static time_ps opensm2005_route_ps(const struct fab *f, const struct sm_work_done *w)
{
	(void)w;
	return f->nhosts * 82100ull * PS_PER_US / 8;
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
		/* Devices: typical of firmware agents. Manager: sm_step() (docs/benchmarks.md) and the
		 * host's overhead for each packet. */
		.name = "host",
		.summary = "a present-day machine",
		.smi_ps = 2 * PS_PER_US,
		.sma_ps = 3 * PS_PER_US,
		.sm_ps = 1 * PS_PER_US,
		.route_ps = host_route_ps,
	},
	{
		/* 0.15 ms for each transaction, out and back through the manager's SMI: Tables 11, 16, 23. */
		.name = "thesis",
		.summary = "the thesis's Pentium III at 1.06 GHz",
		.smi_ps = 75 * PS_PER_US,
		.sma_ps = 670 * PS_PER_NS,
		.smp_ps = thesis_smp_ps,
		.route_ps = thesis_route_ps,
	},
	{
		.name = "pentium4",
		.summary = "the report's Pentium 4 at 1.5 GHz",
		.smi_ps = 75 * PS_PER_US,
		.sma_ps = 10 * PS_PER_US,
		.smp_ps = thesis_smp_ps,
		.route_ps = pentium4_route_ps,
	},
	{
		.name = "opensm2005",
		.summary = "a machine of 2005 with OpenSM, as the fat-tree model has it",
		.smi_ps = 2 * PS_PER_US,
		.sma_ps = 3 * PS_PER_US,
		.smp_ps = opensm2005_smp_ps,
		.route_ps = opensm2005_route_ps,
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
