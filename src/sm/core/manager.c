/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creation, reconfiguration, the clock, and the end of a manager. State: core.wanted, a
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
		.gid_prefix = 0xfe80000000000000ull,
		.max_op_vls = 5,
		.drain_ps = PS_PER_MS,
		.auto_lanes = 1, /* hosts learn no service levels: there is no SA */
		.ahead_switches = 128,
		.ahead_bytes = 64u << 20,
		.flap_ps = 60 * PS_PER_S,
		.hold_ps = 30 * PS_PER_S,
		.standby_poll_ps = 150 * PS_PER_MS, /* a dead master is missed within 750 ms */
		.standby_tries = 4,
		.settle_ps = 3 * PS_PER_S,
		.copy_ps = 30 * PS_PER_S,
		.stall_ps = 300 * PS_PER_MS, /* half the time after which a standby takes over */
		.mechanism = *sm_mechanism_find("weft"),
	};
}

/* ---- another configuration ---- */

/* Settings that hold for the SM's whole life stay; sizes of memory depend on them. */
static void take_config(struct sm *sm, const struct sm_config *c)
{
	struct sm_config old = sm->cfg;

	sm->cfg = *c;
	sm->cfg.port = old.port;
	sm->cfg.lmc = old.lmc;
	sm->cfg.window = old.window;
	sm->cfg.scheme = old.scheme;
	sm->cfg.flaps = MIN(c->flaps, (unsigned)SM_MAX_FLAPS);
	if (sm->cfg.flaps != old.flaps)
		sm_damp_reset(sm);
	sm_ahead_reset(sm); /* repairs depend on the roots */
	sm_reference_reconfigured(sm, &old);
	sm_wishes_configured(sm);
	if (c->mechanism.routes != old.mechanism.routes || c->auto_lanes != old.auto_lanes)
		sm_choice_forget(sm);
	sm_advice_forget(sm);
	sm_sweep_plan(sm);
	sm_partitions_configured(sm, &old);
	if (sm->cfg.m_key == old.m_key && sm->cfg.m_key_protect == old.m_key_protect &&
	    sm->cfg.m_key_lease_s == old.m_key_lease_s)
		return;
	sm_keys_changed(sm, sm->core.phase == SM_OFF ? 0 : old.m_key);
	if (sm->core.phase == SM_READY) { /* every device gets the new key */
		sm_full_discovery_needed(sm);
		sm_unfinished(sm);
		sm_change_later(sm, SM_CAUSE_ORDER, SM_ABOUT_NOTHING);
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

/* The same where 0 means never. */
static void back_if(time_ps *t, time_ps by)
{
	if (*t && *t != TIME_NEVER)
		*t = *t > by ? *t - by : 1;
}

static void round_back(struct sm_round *r, time_ps by)
{
	sm_time_shift(&r->start, by);
	back_if(&r->end, by);
	for (unsigned i = 0; i < SM_NSTAGES; i++) {
		back_if(&r->in_place[i], by);
		back_if(&r->complete[i], by);
	}
}

static void core_time_back(struct sm *sm, time_ps by)
{
	struct sm_core *c = &sm->core;

	sm_time_shift(&c->now, by);
	sm_time_shift(&c->wake, by);
	sm_time_shift(&c->phase_since, by);
	sm_time_shift(&c->st.last_sweep_start, by);
	back_if(&c->hold_until, by);
	round_back(&c->round, by);
	round_back(&c->st.last, by);
}

void sm_time_back(struct sm *sm, time_ps by)
{
	core_time_back(sm, by);
	sm_txns_time_back(sm, by);
	sm_sweep_time_back(sm, by);
	sm_audit_time_back(sm, by);
	sm_drain_time_back(sm, by);
	sm_election_time_back(sm, by);
	sm_mirror_time_back(sm, by);
	sm_damp_time_back(sm, by);
	sm_virtual_time_back(sm, by);
	sm_multicast_time_back(sm, by);
	sm_partitions_time_back(sm, by);
}

/* ---- beginning and end ---- */

struct sm *sm_new(const struct sm_config *c)
{
	struct sm *sm = mem_zalloc(sizeof(*sm));

	sm->cfg = *c;
	sm->cfg.window = MAX(1u, MIN(c->window, (unsigned)SM_MAX_WINDOW));
	sm->cfg.lmc = MIN(c->lmc, 7u);
	sm->cfg.flaps = MIN(c->flaps, (unsigned)SM_MAX_FLAPS);
	sm->core.wake = TIME_NEVER;
	sm_txns_init(sm);
	sm_lids_init(sm);
	sm_keys_init(sm);
	sm_sweep_init(sm);
	sm_audit_init(sm);
	sm_discovery_init(sm);
	sm_election_init(sm);
	sm_mirror_init(sm);
	sm_partitions_init(sm);
	sm_wishes_configured(sm);
	return sm;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	sm_saved_end(sm);
	sm_routes_exit(sm);
	sm_ahead_reset(sm);
	sm_snapshot_free(sm);
	sm_waves_free(sm);
	sm_tables_free(sm);
	sm_audit_free(sm);
	sm_discovery_free(sm);
	sm_topology_free(sm);
	sm_lids_free(sm);
	sm_keys_free(sm);
	sm_names_free(sm);
	sm_damp_free(sm);
	sm_virtual_free(sm);
	sm_multicast_free(sm);
	sm_partitions_free(sm);
	sm_election_free(sm);
	sm_mirror_free(sm);
	sm_txns_free(sm);
	free(sm);
}

void sm_actions_free(struct sm_actions *a)
{
	vec_free(&a->sends);
	vec_free(&a->notes);
	vec_free(&a->vms);
}
