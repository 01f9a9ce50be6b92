/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of techniques and the named mechanisms made of them. A new technique is a part of its
 * own file and one line here. Constants only; the ways in are the sm_*_find() functions.
 */
#include "sm/manager.h"

const struct sm_discovery sm_discoveries[] = {
	{"full", "forget everything and explore anew (thesis 5.3)", &sm_part_discover},
	{"partial", "explore only what changed, keep the rest (thesis 5.4)", &sm_part_partial},
	{0},
};

const struct sm_supply sm_supplies[] = {
	{"none", "no provisional routes", NULL, false, false},
#define X(e) {.name = #e, .engine = &rt_##e},
#include "route/engines.h"
#undef X
	{"update", "as FERa, but only destinations that the change touches", NULL, true, false},
	{"repair", "as update, over the link directions in use as far as they serve", NULL, true,
	 true},
	{0},
};

const struct sm_technique sm_techniques[] = {
	{"full", "stop all traffic: every port to Initialize (thesis 7.2.1)", &sm_part_deactivate,
	 &sm_part_blocks, false, false},
	{"ports", "stop the up ports of break nodes, all but one (thesis 7.2.2)",
	 &sm_part_break_ports, &sm_part_blocks, false, false},
	{"dependencies", "switch forbidden turns of break nodes off (thesis 7.2.3)",
	 &sm_part_turns_off, &sm_part_blocks, false, true},
	{"none", "stop nothing, in any order: may deadlock", NULL, &sm_part_blocks, false, false},
	{"outwards", "stop nothing, entry by entry from each destination outwards (thesis 6.3)",
	 NULL, &sm_part_waves, false, false},
	{"plan", "whatever is needed and no more: any order, outwards, or turns off",
	 &sm_part_turns_off, &sm_part_planned, true, false},
	{0},
};

enum { FULL, PARTIAL };
enum {
	SUPPLY_none,
#define X(e) SUPPLY_##e,
#include "route/engines.h"
#undef X
	SUPPLY_update,
	SUPPLY_repair,
};
enum { ALL_PORTS, BREAK_PORTS, DEPENDENCIES, NOTHING, OUTWARDS, PLAN };

#define IMPROVED                                                                                   \
	&sm_discoveries[PARTIAL], &sm_supplies[SUPPLY_pira], &sm_supplies[SUPPLY_fera],            \
		&sm_techniques[DEPENDENCIES], &sm_techniques[OUTWARDS]

const struct sm_mechanism sm_mechanisms[] = {
	{"basic", "full discovery, FERa, full deactivation (thesis Table 26)",
	 &sm_discoveries[FULL], &sm_supplies[SUPPLY_none], &sm_supplies[SUPPLY_fera],
	 &sm_techniques[ALL_PORTS], &sm_techniques[ALL_PORTS], false, false, false, false, false},
	{"improved",
	 "partial discovery, PIRa by break-node dependencies, then FERa while traffic flows (Table 26)",
	 IMPROVED, false, false, false, false, false},
	{"improved+partial", "improved, and only table blocks that differ (thesis 8.6)", IMPROVED,
	 true, false, false, false, false},
	{"improved+traps", "improved, told by traps as well as sweeps (thesis 8.9)", IMPROVED,
	 false, false, true, false, false},
	{"weft", "repair first, recompute what is touched, send what differs, plan every step",
	 &sm_discoveries[PARTIAL], &sm_supplies[SUPPLY_repair], &sm_supplies[SUPPLY_update],
	 &sm_techniques[PLAN], &sm_techniques[PLAN], true, true, true, true, true},
	{0},
};

#define FIND(type, table)                                                                          \
	for (const struct type *x = table; x->name; x++)                                           \
		if (!strcmp(x->name, name))                                                        \
			return x;                                                                  \
	return NULL

const struct sm_discovery *sm_discovery_find(const char *name)
{
	FIND(sm_discovery, sm_discoveries);
}

const struct sm_supply *sm_supply_find(const char *name)
{
	FIND(sm_supply, sm_supplies);
}

const struct sm_technique *sm_technique_find(const char *name)
{
	FIND(sm_technique, sm_techniques);
}

const struct sm_mechanism *sm_mechanism_find(const char *name)
{
	FIND(sm_mechanism, sm_mechanisms);
}

static bool is(const char *name, const char *what)
{
	return !strcmp(name, what);
}

/* Routes of one up/down graph: old and new ones may mix in any way that loses no packet. */
static bool same_graph(const struct sm_mechanism *m)
{
	return is(m->provisional->name, "pira") && is(m->routes->name, "fera");
}

static bool uses_lanes(const struct sm_supply *s)
{
	return s->engine && s->engine->lanes;
}

int sm_mechanism_check(const struct sm_mechanism *m, struct err *e)
{
	bool two = !is(m->provisional->name, "none");

	if (is(m->routes->name, "none"))
		return err_set(e, -EINVAL, "final routes cannot be 'none'");
	if (uses_lanes(m->provisional) || uses_lanes(m->routes))
		return err_set(
			e, -EINVAL,
			"engine '%s' needs SL-to-VL tables, which the manager does not program",
			uses_lanes(m->routes) ? m->routes->name : m->provisional->name);
	if (is(m->first->name, "none") || is(m->first->name, "outwards"))
		return err_set(e, -EDEADLK,
			       "first tables distributed by '%s' may deadlock packets in flight",
			       m->first->name);
	if (two &&
	    (is(m->second->name, "none") || (is(m->second->name, "outwards") && !same_graph(m))))
		return err_set(
			e, -EDEADLK,
			"final tables distributed by '%s' after '%s' may deadlock packets in flight",
			m->second->name, m->provisional->name);
	return 0;
}
