/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials of any combination of techniques, sensible or not, in TAP: first those that once
 * went wrong, then seeds FIRST to FIRST+COUNT-1, each with a mechanism of its own. Keeps no state
 * between seeds. Does not try named mechanisms: see test_trials.c. usage: test_combinations FIRST
 * COUNT MAX_SWITCHES
 */
#include "base/rng.h"
#include "lab/lab.h"

enum { BATCH = 250, STREAM = 77 };

/* Where and what: each of these left a subnet that was not as it should be, for another reason. */
static const struct {
	uint64_t seed;
	const char *discovery, *provisional, *routes, *first, *second;
	bool partial_tables, by_lid, traps;
} once_wrong[] = {
    /* the manager's own link bounced between its own port and its switch's */
    {1605, "partial", "none", "pira", "plan", "none", false, true, false},
    /* SMPs by LID went in circles of half-new tables, until switches were left out */
    {3532, "full", "fera", "pira", "dependencies", "none", true, true, true},
    {3653, "full", "pira", "fera", "full", "ports", true, true, false},
    /* what was left out was never tried again: a sweep forgot it */
    {1513, "partial", "repair", "update", "outwards", "dependencies", true, true, false},
    {2001, "partial", "pira", "fera", "outwards", "none", true, true, false},
    {4433, "partial", "fera", "repair", "none", "dependencies", true, false, false},
    /* the audit read turns of switches that were there before (out of bounds) */
    {5479, "partial", "fera", "update", "none", "dependencies", false, false, true},
    /* a restart was hidden by LinearFDBTop, written before anybody noticed */
    {18345, "partial", "update", "update", "full", "ports", true, false, false},
    {19481, "partial", "fera", "fera", "full", "full", true, false, true},
    /* a trap that could not be repressed kept the manager from sweeping */
    {17361, "partial", "update", "update", "outwards", "full", true, false, true},
    /* a late copy undid a Set after the audit that the next round forgot */
    {34102, "partial", "update", "repair", "full", "full", false, false, true},
    {34850, "partial", "update", "fera", "outwards", "ports", true, true, false},
    {35435, "partial", "repair", "fera", "dependencies", "plan", true, true, true},
};

static bool run(uint64_t seed, unsigned max, const struct sm_mechanism *m)
{
	struct lab_trial t;

	lab_trial(seed, max, m, &t);
	if (!t.ok)
		printf("# seed %llu, %s/%s/%s/%s/%s%s%s%s%s: %s\n", (unsigned long long)seed,
		       m->discovery->name, m->provisional->name, m->routes->name, m->first->name,
		       m->second->name, m->partial_tables ? ", partial tables" : "",
		       m->by_lid ? ", by LID" : "", m->traps ? ", traps" : "",
		       m->thrifty ? ", thrifty" : "", t.why);
	return t.ok;
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

	return run(once_wrong[i].seed, 64, &m);
}

#define COUNT(n, table)                                                                            \
	for (n = 0; (table)[n].name; n++)                                                          \
		;

static bool run_drawn(uint64_t seed, unsigned max)
{
	struct sm_mechanism m = {.name = "any", .summary = ""};
	unsigned discoveries, supplies, techniques;
	struct rng r;

	COUNT(discoveries, sm_discoveries)
	COUNT(supplies, sm_supplies)
	COUNT(techniques, sm_techniques)
	rng_seed(&r, seed, STREAM);
	m.discovery = &sm_discoveries[rng_below(&r, discoveries)];
	m.provisional = &sm_supplies[rng_below(&r, supplies)];
	m.routes = &sm_supplies[1 + rng_below(&r, supplies - 1)]; /* the first is none */
	m.first = &sm_techniques[rng_below(&r, techniques)];
	m.second = &sm_techniques[rng_below(&r, techniques)];
	m.partial_tables = rng_below(&r, 2);
	m.by_lid = rng_below(&r, 2);
	m.traps = rng_below(&r, 2);
	m.thrifty = rng_below(&r, 2);
	return run(seed, max, &m);
}

int main(int argc, char **argv)
{
	uint64_t first, count, max;
	unsigned failed = 0, bad = 0;

	if (argc < 4 || parse_u64(argv[1], &first) || parse_u64(argv[2], &count) ||
	    parse_u64(argv[3], &max)) {
		fputs("usage: test_combinations FIRST COUNT MAX_SWITCHES\n", stderr);
		return 2;
	}
	printf("1..%llu\n", (unsigned long long)(1 + (count + BATCH - 1) / BATCH));
	for (size_t i = 0; i < ARRAY_LEN(once_wrong); i++)
		bad += !run_once_wrong(i);
	printf("%s 1 - what once went wrong\n", bad ? "not ok" : "ok");
	failed += bad;
	for (uint64_t s = first, n = 2; s < first + count; s += BATCH, n++) {
		uint64_t end = MIN(s + BATCH, first + count);

		bad = 0;
		for (uint64_t i = s; i < end; i++)
			bad += !run_drawn(i, (unsigned)max);
		printf("%s %llu - seeds %llu to %llu, up to %llu switches\n", bad ? "not ok" : "ok",
		       (unsigned long long)n, (unsigned long long)s, (unsigned long long)end - 1,
		       (unsigned long long)max);
		fflush(stdout);
		failed += bad;
	}
	return failed ? 1 : 0;
}
