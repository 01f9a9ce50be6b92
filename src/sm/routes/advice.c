/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A warning where an engine or roots that were named give clearly less bandwidth than auto would. State: routes.advice. The
 * worker compares at rest, once, and ends early when it is needed for anything else. Changes no routes.
 */
#include "route/quality.h"
#include "sm/manager.h"

enum { ENTRIES_MOST = 4000000 }; /* of larger subnets a comparison takes too long */

const char *sm_advice(const struct sm *sm)
{
	return sm->routes.advice.text;
}

void sm_advice_forget(struct sm *sm)
{
	sm->routes.advice = (struct sm_advice_state){0};
}

void sm_advice_drop(struct sm *sm)
{
	sm->routes.advice.id = 0;
}

/* An engine, or roots. */
static bool is_named(const struct sm *sm)
{
	const struct sm_inputs *in = sm->cfg.inputs;

	return !sm->cfg.mechanism.routes->choose || (in && in->roots && *in->roots);
}

bool sm_advice_is_due(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;

	return sm->cfg.advise && is_named(sm) && f && sm->routes.tables &&
	       !sm->routes.advice.done && sm->election.state == IBA_SM_MASTER &&
	       !sm->core.incomplete && !sm_is_doubtful(&sm->disc) && f->nhosts > 1 &&
	       (uint64_t)f->nswitches * fab_top_lid(f) <= ENTRIES_MOST;
}

static unsigned thousandths(uint64_t share)
{
	return (unsigned)((share + RT_SHARE_ONE / 2000) / (RT_SHARE_ONE / 1000));
}

static void put(struct sm *sm, const struct sm_advice *a)
{
	struct sm_note n = {.kind = a->roots ? SM_NOTE_WORSE_ROOTS : SM_NOTE_WORSE,
			    .about = SM_ABOUT_NOTHING};
	char *text = sm->routes.advice.text;
	unsigned v[] = {thousandths(a->bisection), thousandths(a->shifts),
			thousandths(a->best_bisection), thousandths(a->best_shifts)};
	const char *why;

	snprintf(text, SM_WHY,
		 "bisections %u.%03u, shifts %u.%03u; %s: bisections %u.%03u, shifts %u.%03u",
		 v[0] / 1000, v[0] % 1000, v[1] / 1000, v[1] % 1000,
		 a->roots ? "roots: auto" : a->engine->name, v[2] / 1000, v[2] % 1000, v[3] / 1000,
		 v[3] % 1000);
	snprintf(n.engine.name, sizeof(n.engine.name), "%s", sm_engine(sm, &why)->name);
	snprintf(n.engine.why, sizeof(n.engine.why), "%s", text);
	sm_note_put(sm, n);
}

bool sm_advice_answer(struct sm *sm, struct sm_routes *r)
{
	struct sm_advice_state *x = &sm->routes.advice;

	if (!x->id || r->epoch != x->id)
		return false;
	x->id = 0;
	x->done |= r->advice.engine != NULL; /* else it was stopped, and is asked for again */
	if (r->advice.worse)
		put(sm, &r->advice);
	sm_routes_free(r);
	return true;
}
