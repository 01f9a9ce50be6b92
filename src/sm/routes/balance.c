/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Balance of repaired routes: a settled repair stays in the switches, and the round ends with it. Afterwards, at rest,
 * the SM requests a comparison with routes from scratch; if the repair is clearly less even or longer, a round of its
 * own distributes those. State: struct sm_balance, about the tables in force. Does not measure itself: the worker does.
 */
#include "sm/tables/random_tables.h"

void sm_balance_reset(struct sm *sm)
{
	struct sm_balance *b = &sm->routes.balance;

	sm_routes_free(&b->better);
	b->id = 0;
}

/* A repair is in force that no final routes followed; one of routes without ranks counts as final. */
static bool is_repaired(const struct sm *sm)
{
	const struct sm_routing *x = &sm->routes;

	if (!x->settled || x->balance.measured)
		return false;
	return x->stage == SM_PROVISIONAL ? x->rank != NULL
					  : x->ref.engine && !x->ref.engine->updown;
}

static bool is_wanted(struct sm *sm)
{
	return (is_repaired(sm) || sm_choice_is_due(sm) || sm_wishes_due(sm)) &&
	       sm->routes.tables && !sm->core.incomplete && !sm_is_doubtful(&sm->disc);
}

/* As for final routes after provisional ones; of an engine that is chosen again, where that is due. */
static void request(struct sm *sm)
{
	struct sm_compute *c = &sm->core.out->compute;
	const struct sm_mechanism *m = &sm->cfg.mechanism;
	struct sm_balance *b = &sm->routes.balance;

	b->wished = sm_wishes_due(sm);
	sm_routes_request(sm, true);
	c->stage = SM_FINAL;
	c->supply = sm_final_routes(sm);
	if (sm_choice_is_due(sm)) {
		c->supply = m->routes;
		sm_choice_asked(sm, true);
	}
	c->plan = m->second->plan;
	c->overlap = false;
	c->compare = !b->wished;
	c->wished = b->wished;
	if (!b->wished)
		return;
	b->wish = sm_wishes_asked(sm);
	c->supply = m->routes;
	c->ref = NULL; /* it was made for other settings */
}

bool sm_balance_request(struct sm *sm)
{
	struct sm_balance *b = &sm->routes.balance;

	sm_wishes_compare(sm);
	if (sm_balance_is_open(sm))
		return true;
	if (b->better.tables || !is_wanted(sm))
		return false;
	request(sm);
	b->id = sm->routes.request_id;
	return true;
}

/* Beside the comparison of repairs: that of a named engine with auto. */
bool sm_advice_request(struct sm *sm)
{
	struct sm_compute *c = &sm->core.out->compute;

	if (sm->routes.advice.id)
		return true;
	if (!sm_advice_is_due(sm))
		return false;
	sm_routes_request(sm, true);
	c->advise = true;
	c->lanes = c->lanes ? c->lanes : 1;
	sm->routes.advice.id = sm->routes.request_id;
	/* A mechanism without plans tells no tables: there is nothing to compare. */
	sm->routes.advice.done = !c->old;
	return true;
}

bool sm_balance_answer(struct sm *sm, struct sm_routes *r)
{
	struct sm_balance *b = &sm->routes.balance;
	bool none;

	if (!b->id || r->epoch != b->id)
		return false;
	b->id = 0;
	none = !r->tables || !r->verified;
	if (b->wished && none &&
	    r->verified) { /* the tables in force are those that are wished for */
		sm_engine_note(sm, r);
		sm_wishes_taken(sm);
	}
	b->measured = none && !r->engine; /* else engines were compared, not the repair */
	if (r->engine && !r->tables)
		sm_choice_stays(sm);
	if (none)
		sm_routes_free(r);
	else
		b->better = *r;
	return true;
}

bool sm_balance_is_open(const struct sm *sm)
{
	return sm->routes.balance.id || sm_balance_due(sm);
}

/* Nothing else is to be done: a change or a device that does not answer comes first, with new routes. */
bool sm_balance_due(const struct sm *sm)
{
	return sm->routes.balance.better.tables && sm->election.state == IBA_SM_MASTER &&
	       !sm->core.change_pending && !sm->core.incomplete && !sm_is_doubtful(&sm->disc) &&
	       !sm->disc.suspects.n && !sm->disc.excluded.n && sm->sweep.retry_at == TIME_NEVER &&
	       !sm_audit_open(sm);
}

/* Whether the switches hold what the answer was computed for. */
static bool is_current(const struct sm *sm)
{
	const struct rt_tables *old = sm->routes.task ? sm->routes.task->old : NULL;
	struct rt_tables *t = sm_rows_tables(sm);
	bool same;

	sm_rft_overlay(sm, t);
	same = old && old->nswitches == t->nswitches && old->stride == t->stride &&
	       !memcmp(old->lft, t->lft, (size_t)t->nswitches * t->stride);
	rt_tables_free(t);
	return same;
}

bool sm_balance_use(struct sm *sm, struct sm_routes *r)
{
	struct sm_balance *b = &sm->routes.balance;

	if (!b->better.tables)
		return false;
	sm_unfinished(sm);
	sm->routes.stage = SM_FINAL;
	sm_routes_staged(sm, true);
	if (!is_current(sm)) {
		sm_balance_reset(sm);
		sm_choice_asked(sm, false);
		return false; /* final routes are requested as after any provisional ones */
	}
	*r = b->better;
	b->better = (struct sm_routes){0};
	sm->routes.wishes.requested = b->wished ? b->wish : sm->routes.wishes.requested;
	return true;
}
