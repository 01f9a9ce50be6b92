/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine of final routes where the manager may choose it (supply auto). State: routes.choice. The choice is made with
 * the first tables, and again when the chosen engine cannot route the subnet any more, or at rest when the subnet has
 * become another one; a failure alone changes no engine. Measures nothing: the worker does (choice_worker.c).
 */
#include "sm/manager.h"

const struct sm_supply *sm_final_routes(const struct sm *sm)
{
	const struct sm_supply *s = sm->cfg.mechanism.routes;

	return s->choose && sm->routes.choice.supply ? sm->routes.choice.supply : s;
}

bool sm_choice_is_open(const struct sm *sm)
{
	return sm_final_routes(sm)->choose;
}

unsigned sm_choice_lanes(const struct sm *sm, unsigned most)
{
	bool limited = sm->cfg.mechanism.routes->choose && sm->cfg.auto_lanes;

	return !limited ? most : most ? MIN(sm->cfg.auto_lanes, most) : sm->cfg.auto_lanes;
}

const struct rt_engine *sm_engine(const struct sm *sm, const char **why)
{
	const struct sm_supply *s = sm_final_routes(sm);

	if (sm->routes.instead) {
		*why = sm->routes.instead_why;
		return sm->routes.instead;
	}
	*why = sm->cfg.mechanism.routes->choose ? sm->routes.choice.why : "";
	return s->choose ? NULL : s->engine ? s->engine : &rt_fera;
}

/* FERa's routes are updated where the mechanism repairs them. */
static const struct sm_supply *supply_of(const struct sm *sm, const struct rt_engine *g)
{
	bool update = g == &rt_fera && sm->cfg.mechanism.provisional->update;

	return sm_supply_find(update ? "update" : g->name);
}

static void settle(struct sm *sm)
{
	struct sm_choice *x = &sm->routes.choice;

	x->switches = sm->topo.fab->nswitches;
	x->links = sm->topo.fab->nlinks;
}

void sm_choice_take(struct sm *sm, const struct sm_routes *r)
{
	struct sm_choice *x = &sm->routes.choice;
	const struct sm_supply *former = x->supply;
	struct sm_note n = {.kind = SM_NOTE_ENGINE, .about = SM_ABOUT_NOTHING};

	if (!r->engine || !sm->cfg.mechanism.routes->choose)
		return;
	x->supply = supply_of(sm, r->engine);
	if (x->supply->engine != sm->routes.ref.engine)
		sm_reference_drop(sm);
	settle(sm);
	if (x->supply == former)
		return;
	snprintf(x->why, sizeof(x->why), "%s", r->why);
	snprintf(n.engine.name, sizeof(n.engine.name), "%s", r->engine->name);
	snprintf(n.engine.why, sizeof(n.engine.why), "%s", r->why);
	sm_note_put(sm, n);
}

void sm_choice_forget(struct sm *sm)
{
	sm->routes.choice = (struct sm_choice){0};
}

/* More than a tenth. */
static bool is_other(uint32_t now, uint32_t then)
{
	return 10ull * (now > then ? now - then : then - now) > then;
}

bool sm_choice_is_due(const struct sm *sm)
{
	const struct sm_choice *x = &sm->routes.choice;
	const struct fab *f = sm->topo.fab;

	return sm->cfg.mechanism.routes->choose && f && x->asked != sm->topo.snapshot &&
	       (!x->supply || is_other(f->nswitches, x->switches) || is_other(f->nlinks, x->links));
}

void sm_choice_asked(struct sm *sm, bool asked)
{
	sm->routes.choice.asked = asked ? sm->topo.snapshot : 0;
}

void sm_choice_stays(struct sm *sm)
{
	settle(sm);
}
