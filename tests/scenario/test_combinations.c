/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials of any combination of techniques, sensible or not, in TAP: first those that once
 * went wrong, then seeds, each with a mechanism of its own. Keeps no state between seeds. Does not
 * try named mechanisms: see test_trials.c. usage: test_combinations FIRST COUNT [MAX_SWITCHES]
 */
#include "base/rng.h"
#include "trial/fault_trial.h"
#include "seeds.h"

enum { STREAM = 77 };

/* Seeds and techniques that once left a subnet in a wrong state, each for a different reason. */
static const struct {
	uint64_t seed;
	const char *discovery, *provisional, *routes, *first, *second;
	bool partial_tables, by_lid, traps;
} once_wrong[] = {
	/* the manager's own link bounced between its own port and its switch's */
	{1605, "partial", "none", "pira", "plan", "none", false, true, false},
	/* LID-routed SMPs looped in partly updated tables, until switches were left out */
	{3532, "full", "fera", "pira", "dependencies", "none", true, true, true},
	{3653, "full", "pira", "fera", "full", "ports", true, true, false},
	/* a device that was left out was never tried again: a sweep forgot it */
	{1513, "partial", "repair", "update", "outwards", "dependencies", true, true, false},
	{2001, "partial", "pira", "fera", "outwards", "none", true, true, false},
	{4433, "partial", "fera", "repair", "none", "dependencies", true, false, false},
	/* the audit read turns of switches that were there before (out of bounds) */
	{5479, "partial", "fera", "update", "none", "dependencies", false, false, true},
	/* a restart was hidden by LinearFDBTop, written before the manager noticed */
	{18345, "partial", "update", "update", "full", "ports", true, false, false},
	{19481, "partial", "fera", "fera", "full", "full", true, false, true},
	/* a trap that could not be repressed kept the manager from sweeping */
	{17361, "partial", "update", "update", "outwards", "full", true, false, true},
	/* a late copy undid a Set after the audit that the next round forgot */
	{34102, "partial", "update", "repair", "full", "full", false, false, true},
	{34850, "partial", "update", "fera", "outwards", "ports", true, true, false},
	{35435, "partial", "repair", "fera", "dependencies", "plan", true, true, true},
};

static bool try(const struct sm_mechanism *m, struct seed_run *r)
{
	struct fault_trial t;

	fault_trial_run(r->seed, r->max_switches, m, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.smps;
	snprintf(r->why, sizeof(r->why), "%s/%s/%s/%s/%s%s%s%s%s: %s", m->discovery->name,
		 m->provisional->name, m->routes->name, m->first->name, m->second->name,
		 m->partial_tables ? ", partial tables" : "", m->by_lid ? ", by LID" : "",
		 m->traps ? ", traps" : "", m->thrifty ? ", thrifty" : "", t.why);
	return r->ok;
}

static bool run_once_wrong(size_t i)
{
	struct sm_mechanism m = {.name = "any",
				 .summary = "",
				 .discovery = sm_discovery_find(once_wrong[i].discovery),
				 .provisional = sm_supply_find(once_wrong[i].provisional),
				 .routes = sm_supply_find(once_wrong[i].routes),
				 .first = sm_technique_find(once_wrong[i].first),
				 .second = sm_technique_find(once_wrong[i].second),
				 .partial_tables = once_wrong[i].partial_tables,
				 .by_lid = once_wrong[i].by_lid,
				 .traps = once_wrong[i].traps};
	struct seed_run r = {.seed = once_wrong[i].seed, .max_switches = 64};

	if (!try(&m, &r))
		printf("# seed %llu, %s\n", (unsigned long long)r.seed, r.why);
	return r.ok;
}

static bool run_all_once_wrong(void)
{
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(once_wrong); i++)
		ok &= run_once_wrong(i);
	return ok;
}

#define COUNT(n, table)                                                                            \
	for (n = 0; (table)[n].name; n++)                                                          \
		;

static void run_drawn(struct seed_run *run)
{
	struct sm_mechanism m = {.name = "any", .summary = ""};
	unsigned discoveries, supplies, techniques;
	struct rng r;

	COUNT(discoveries, sm_discoveries)
	COUNT(supplies, sm_supplies)
	supplies--; /* auto is the last: it takes long, and stands for others */
	COUNT(techniques, sm_techniques)
	rng_seed(&r, run->seed, STREAM);
	m.discovery = &sm_discoveries[rng_below(&r, discoveries)];
	m.provisional = &sm_supplies[rng_below(&r, supplies)];
	m.routes = &sm_supplies[1 + rng_below(&r, supplies - 1)]; /* the first is none */
	m.first = &sm_techniques[rng_below(&r, techniques)];
	m.second = &sm_techniques[rng_below(&r, techniques)];
	m.partial_tables = rng_below(&r, 2);
	m.by_lid = rng_below(&r, 2);
	m.traps = rng_below(&r, 2);
	m.thrifty = rng_below(&r, 2);
	try(&m, run);
}

int main(int argc, char **argv)
{
	static const struct seeds combinations = {
		.name = "test_combinations",
		.batch = 250,
		.max_switches = 64,
		.run = run_drawn,
		.before_name = "what once went wrong",
		.before = run_all_once_wrong,
	};

	return seeds_main(argc, argv, &combinations);
}
