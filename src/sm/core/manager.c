/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager's life: made, told to behave otherwise, its clock moved, freed. State: sm->core.wanted, a
 * configuration that waits for the running round to end. Does not decide anything.
 */
#include "sm/tables/random_tables.h"

void sm_config_default(struct sm_config *c)
{
	*c = (struct sm_config){
		.window = 32,
		.retries = 4,
		.restarts = 3,
		.sweep_factor = 100,		 /* what the thesis's evaluations use */
		.link_smp_ps = 1260 * PS_PER_NS, /* 290 bytes at 1X and 100 ns of wire */
		.activate_by_lid = false,
		.priority = 1,
		.drain_ps = PS_PER_MS,
		.ahead_switches = 128,
		.ahead_bytes = 64u << 20,
		.flap_ps = 60 * PS_PER_S,
		.hold_ps = 30 * PS_PER_S,
		.standby_poll_ps = 10 * PS_PER_S, /* as OpenSM */
		.standby_tries = 4,
		.mechanism = *sm_mechanism_find("weft"),
	};
}

/* ---- another configuration ---- */

/* What is as it is for the SM's whole life stays; sizes of memory depend on it. */
static void take_config(struct sm *sm, const struct sm_config *c)
{
	struct sm_config old = sm->cfg;

	sm->cfg = *c;
	sm->cfg.port = old.port;
	sm->cfg.lmc = old.lmc;
	sm->cfg.window = old.window;
	sm->cfg.flaps = MIN(c->flaps, (unsigned)SM_MAX_FLAPS);
	if (sm->cfg.flaps != old.flaps)
		sm_damp_reset(sm);
	sm_ahead_reset(sm); /* other roots, other repairs */
	sm_sweep_plan(sm);
	if (sm->cfg.m_key == old.m_key && sm->cfg.m_key_protect == old.m_key_protect &&
	    sm->cfg.m_key_lease_s == old.m_key_lease_s)
		return;
	sm_keys_changed(sm, sm->core.phase == SM_OFF ? 0 : old.m_key);
	if (sm->core.phase == SM_READY) { /* everybody is to be told */
		sm->disc.full_needed = sm->core.incomplete = sm->core.change_pending = true;
		sm->core.pending_cause = SM_CAUSE_RETRY;
	}
}

void sm_reconfigure(struct sm *sm, const struct sm_config *c)
{
	sm->core.wanted = *c;
	sm->core.has_wanted = true;
	if (sm->core.phase == SM_OFF || sm->core.phase == SM_READY || sm->core.phase == SM_STANDBY)
		sm_config_settle(sm);
}

void sm_config_settle(struct sm *sm)
{
	if (!sm->core.has_wanted)
		return;
	sm->core.has_wanted = false;
	take_config(sm, &sm->core.wanted);
}

/* ---- the clock ---- */

/* What is longer ago than the new clock's beginning was at its beginning. */
static void back(time_ps *t, time_ps by)
{
	if (*t != TIME_NEVER)
		*t = *t > by ? *t - by : 0;
}

/* The same where 0 means that it never was. */
static void back_if(time_ps *t, time_ps by)
{
	if (*t && *t != TIME_NEVER)
		*t = *t > by ? *t - by : 1;
}

static void round_back(struct sm_round *r, time_ps by)
{
	back(&r->start, by);
	back_if(&r->end, by);
	for (unsigned i = 0; i < SM_NSTAGES; i++)
		back_if(&r->in_place[i], by);
}

void sm_time_back(struct sm *sm, time_ps by)
{
	time_ps *const due[] = {
		&sm->txn.next_deadline, &sm->sweep.next,  &sm->sweep.retry_at,
		&sm->audit.due,		&sm->core.now,	  &sm->core.phase_since,
		&sm->election.poll_at,	&sm->sweep.start, &sm->core.st.last_sweep_start};

	for (size_t i = 0; i < ARRAY_LEN(due); i++)
		back(due[i], by);
	back_if(&sm->core.hold_until, by);
	for (uint32_t i = 0; i < sm->cfg.window; i++)
		back(&sm->txn.slots[i].deadline, by);
	round_back(&sm->core.round, by);
	round_back(&sm->core.st.last, by);
	sm_damp_time_back(sm, by);
}

/* ---- beginning and end ---- */

struct sm *sm_new(const struct sm_config *c)
{
	struct sm *sm = mem_zalloc(sizeof(*sm));

	sm->cfg = *c;
	sm->cfg.window = MAX(1u, MIN(c->window, (unsigned)SM_MAX_WINDOW));
	sm->cfg.lmc = MIN(c->lmc, 7u);
	sm->cfg.flaps = MIN(c->flaps, (unsigned)SM_MAX_FLAPS);
	sm->txn.slots = mem_zarray(sm->cfg.window, sizeof(*sm->txn.slots));
	sm->txn.free = mem_array(sm->cfg.window, sizeof(*sm->txn.free));
	for (uint32_t i = sm->cfg.window; i-- > 0;)
		sm->txn.free[sm->txn.nfree++] = i;
	for (unsigned k = 0; k < ARRAY_LEN(sm->lids.next); k++)
		sm->lids.next[k] = 1u << k;
	sm->txn.next_deadline = sm->sweep.next = sm->sweep.retry_at = sm->audit.due = TIME_NEVER;
	sm->run.clear = NONE;
	sm->keys.hint = sm->cfg.m_key;
	sm->disc.arriving = true;
	return sm;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	sm->routes.answered = sm->routes.request_id; /* nobody looks any more */
	sm_retired_free(sm, sm->routes.request_id);
	vec_free(&sm->routes.retired);
	sm_recall_end(sm);
	sm_snapshot_free(sm);
	sm_snapshot_forget(sm);
	sm_retire_task(sm, sm->routes.task);
	rt_tables_free(sm->routes.tables);
	rt_plan_free(&sm->routes.plan);
	free(sm->routes.rank);
	sm_waves_free(sm);
	sm_ahead_reset(sm);
	sm_rows_free(sm);
	vec_free(&sm->dev.off);
	map64_free(&sm->dev.off_by);
	vec_free(&sm->dev.rft_todo);
	vec_free(&sm->dev.turns);
	vec_free(&sm->disc.suspects);
	free(sm->txn.slots);
	free(sm->txn.free);
	vec_free(&sm->topo.nodes);
	vec_free(&sm->topo.ports);
	vec_free(&sm->topo.hops);
	vec_free(&sm->disc.work);
	vec_free(&sm->lids.list);
	vec_free(&sm->lids.waiting);
	vec_free(&sm->disc.shunned);
	sm_damp_free(sm);
	vec_free(&sm->names.list);
	vec_free(&sm->keys.list);
	map64_free(&sm->keys.by_guid);
	vec_free(&sm->election.others);
	vec_free(&sm->election.sm_ports);
	map64_free(&sm->names.by_guid);
	map64_free(&sm->topo.by_guid);
	map64_free(&sm->lids.by_guid);
	free(sm);
}

void sm_actions_free(struct sm_actions *a)
{
	vec_free(&a->sends);
	vec_free(&a->notes);
}
