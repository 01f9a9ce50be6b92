/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of techniques and the named mechanisms made of them. A new technique is a part of its
 * own file and one line here. Constants only; the ways in are the sm_*_find() functions.
 */
#include "sm/manager.h"

enum { FULL, PARTIAL };
enum {
	SUPPLY_none,
#define X(e) SUPPLY_##e,
#include "route/engines.h"
#undef X
	SUPPLY_update,
	SUPPLY_repair,
	SUPPLY_auto,
};
enum { ALL_PORTS, BREAK_PORTS, DEPENDENCIES, NOTHING, OUTWARDS, PLAN };

const struct sm_discovery sm_discoveries[] = {
	[FULL] = {.name = "full",
		  .summary = "forget everything and explore again (thesis 5.3)",
		  .part = &sm_part_discover},
	[PARTIAL] = {.name = "partial",
		     .summary = "explore only what changed, keep the rest (thesis 5.4)",
		     .part = &sm_part_partial,
		     .partial = true},
	{0},
};

const struct sm_supply sm_supplies[] = {
	[SUPPLY_none] = {.name = "none", .summary = "no provisional routes", .absent = true},
#define X(e) [SUPPLY_##e] = {.name = #e, .engine = &rt_##e},
#include "route/engines.h"
#undef X
	[SUPPLY_update] = {.name = "update",
			   .summary = "as FERa, but only destinations that the change touches",
			   .update = true},
	[SUPPLY_repair] =
		{.name = "repair",
		 .summary = "as update, over the link directions in use as far as they serve",
		 .update = true,
		 .keep = true},
	[SUPPLY_auto] = {.name = "auto",
			 .summary = "of the engine that gives this subnet the most bandwidth",
			 .choose = true},
	{0},
};

const struct sm_technique sm_techniques[] = {
	[ALL_PORTS] = {.name = "full",
		       .summary = "stop all traffic: every port to Initialize (thesis 7.2.1)",
		       .before = &sm_part_deactivate,
		       .tables = &sm_part_blocks,
		       .stops_all = true},
	[BREAK_PORTS] = {.name = "ports",
			 .summary = "stop the up ports of break nodes, all but one (thesis 7.2.2)",
			 .before = &sm_part_break_ports,
			 .tables = &sm_part_blocks,
			 .stops_some = true},
	[DEPENDENCIES] = {.name = "dependencies",
			  .summary = "disable forbidden turns of break nodes (thesis 7.2.3)",
			  .before = &sm_part_turns_off,
			  .tables = &sm_part_blocks,
			  .stay_off = true},
	[NOTHING] = {.name = "none",
		     .summary = "stop nothing, in any order: may deadlock",
		     .tables = &sm_part_blocks,
		     .safety = SM_UNSAFE},
	[OUTWARDS] =
		{.name = "outwards",
		 .summary =
			 "stop nothing, entry by entry from each destination outwards (thesis 6.3)",
		 .tables = &sm_part_waves,
		 .safety = SM_SAFE_ON_ONE_GRAPH,
		 .overlaps = true},
	[PLAN] = {.name = "plan",
		  .summary =
			  "whatever is needed and no more: any order, outwards, or turns disabled",
		  .before = &sm_part_turns_off,
		  .tables = &sm_part_planned,
		  .plan = true},
	{0},
};

#define ADOPT .adopt_routes = &sm_supplies[SUPPLY_update], .adopt = &sm_techniques[PLAN]
#define IMPROVED                                                                                   \
	.discovery = &sm_discoveries[PARTIAL], .provisional = &sm_supplies[SUPPLY_pira],           \
	.routes = &sm_supplies[SUPPLY_fera], .first = &sm_techniques[DEPENDENCIES],                \
	.second = &sm_techniques[OUTWARDS], ADOPT

const struct sm_mechanism sm_mechanisms[] = {
	{.name = "basic",
	 .summary = "full discovery, FERa, full deactivation (thesis Table 26)",
	 .discovery = &sm_discoveries[FULL],
	 .provisional = &sm_supplies[SUPPLY_none],
	 .routes = &sm_supplies[SUPPLY_fera],
	 .first = &sm_techniques[ALL_PORTS],
	 .second = &sm_techniques[ALL_PORTS],
	 ADOPT},
	{.name = "improved",
	 .summary = "partial discovery, PIRa by break-node dependencies, then FERa while traffic "
		    "flows (Table 26)",
	 IMPROVED},
	{.name = "improved+partial",
	 .summary = "improved, and only table blocks that differ (thesis 8.6)",
	 IMPROVED,
	 .partial_tables = true},
	{.name = "improved+traps",
	 .summary = "improved, told by traps as well as sweeps (thesis 8.9)",
	 IMPROVED,
	 .traps = true},
	{.name = "weft",
	 .summary = "repair first, recompute what is touched, send what differs, plan every step",
	 .discovery = &sm_discoveries[PARTIAL],
	 .provisional = &sm_supplies[SUPPLY_repair],
	 .routes = &sm_supplies[SUPPLY_update],
	 .first = &sm_techniques[PLAN],
	 .second = &sm_techniques[PLAN],
	 ADOPT,
	 .partial_tables = true,
	 .by_lid = true,
	 .traps = true,
	 .ahead = true,
	 .thrifty = true},
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

static bool uses_lanes(const struct sm_supply *s)
{
	return s->engine && s->engine->lanes;
}

/* Other techniques rely on the link directions of an up/down graph, which these routes do not have. */
static bool lanes_may_go_by(const struct sm_technique *t)
{
	return t->plan || t->stops_all;
}

bool sm_mechanism_needs_directions(const struct sm_mechanism *m)
{
	return !lanes_may_go_by(m->first) || !lanes_may_go_by(m->second);
}

int sm_mechanism_check(const struct sm_mechanism *m, struct err *e)
{
	const struct rt_engine *first = m->provisional->engine;
	bool one_graph = first && first->refined_by && first->refined_by == m->routes->engine;

	if (m->routes->absent)
		return err_set(e, -EINVAL, "final routes cannot be '%s'", m->routes->name);
	if (m->provisional->choose)
		return err_set(e, -EINVAL, "provisional routes cannot be '%s'",
			       m->provisional->name);
	if (uses_lanes(m->provisional))
		return err_set(e, -EINVAL,
			       "engine '%s' is for final routes: it may use several lanes",
			       m->provisional->name);
	if (uses_lanes(m->routes) && sm_mechanism_needs_directions(m))
		return err_set(e, -EINVAL,
			       "engine '%s' may use several lanes: its tables are distributed by "
			       "'plan' or 'full', found '%s' and '%s'",
			       m->routes->name, m->first->name, m->second->name);
	if (m->first->safety != SM_SAFE)
		return err_set(e, -EDEADLK,
			       "first tables distributed by '%s' may deadlock packets in flight",
			       m->first->name);
	if (!m->provisional->absent &&
	    m->second->safety > (one_graph ? SM_SAFE_ON_ONE_GRAPH : SM_SAFE))
		return err_set(
			e, -EDEADLK,
			"final tables distributed by '%s' after '%s' may deadlock packets in flight",
			m->second->name, m->provisional->name);
	return 0;
}
