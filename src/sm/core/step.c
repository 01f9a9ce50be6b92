/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events in, actions out: the one way in. State: what is due when. Does not know what an event is
 * about.
 */
#include "sm/manager.h"

static void on_smp(struct sm *sm, const struct sm_event *ev)
{
	unsigned cls = iba_smp_mgmt_class(ev->mad), method = iba_smp_method(ev->mad);

	if (ev->qp) {
		sm_mirror_gmp(sm, ev);
		return;
	}
	if (iba_smp_base_version(ev->mad) != 1 || iba_smp_class_version(ev->mad) != 1 ||
	    (cls != IBA_CLASS_SUBN_LID && cls != IBA_CLASS_SUBN_DR)) {
		sm_count(sm, SM_COUNT_BAD);
		return;
	}
	if (method == IBA_GET_RESP && sm_mirror_response(sm, ev))
		return;
	if (method == IBA_GET_RESP)
		sm_response(sm, ev);
	else if (method == IBA_TRAP && iba_smp_attr_id(ev->mad) == IBA_ATTR_NOTICE)
		sm_trap(sm, ev);
	else if ((method == IBA_GET || method == IBA_SET) &&
		 iba_smp_attr_id(ev->mad) == IBA_ATTR_SM_INFO)
		sm_phase_apply(sm, sm_info_answer(sm, ev));
	else
		sm_count(sm, SM_COUNT_BAD);
}

/* Switches report changes to the master, which clears them: who watches has to read everything. */
static enum sm_outcome sweep_now(struct sm *sm)
{
	if (!sm->cfg.observe)
		return SM_DUE;
	sm_full_discovery_needed(sm);
	return sm_changed(sm, SM_CAUSE_SWEEP, SM_ABOUT_NOTHING);
}

/* What the manager does of its own accord when it is ready and the time has come. */
static enum sm_outcome due_now(struct sm *sm)
{
	if (sm->core.now >= sm->sweep.retry_at) {
		sm_full_discovery_needed(sm);
		return sm_changed(sm, sm->disc.look_again ? SM_CAUSE_HIDDEN : SM_CAUSE_RETRY,
				  SM_ABOUT_NOTHING);
	}
	if (sm->core.now >= sm->sweep.own_next)
		sm_own_port_due(sm);
	sm_pkeys_wake_up(sm);
	if (sm->core.now >= sm->audit.due)
		return SM_DOUBTFUL;
	if (sm_damp_ordered(sm))
		return sm_damp_carry_out(sm);
	if (sm->core.now >= sm_damp_due(sm))
		return sm_damp_release(sm);
	if (sm_balance_due(sm))
		return sm_uneven(sm);
	return sm->core.now >= sm_sweep_at(sm) ? sweep_now(sm) : SM_GOING_ON;
}

static void on_wake(struct sm *sm)
{
	sm_phase_apply(sm, sm_election_due(sm));
	if (sm->txn.outstanding) {
		sm_txns_extend(sm);
		sm_overdue(sm);
	}
	if (sm->core.phase == SM_READY)
		sm_phase_apply(sm, due_now(sm));
}

static time_ps wake_time(const struct sm *sm)
{
	time_ps t = sm->txn.outstanding ? sm->txn.next_deadline : TIME_NEVER;

	if (sm_election_checking(sm)) /* all else waits */
		return sm_election_wake(sm);
	if (sm->core.phase == SM_READY && (sm_balance_due(sm) || sm_damp_ordered(sm)))
		return sm->core.now;
	if (sm->core.phase == SM_READY)
		t = MIN(MIN(t, sm_damp_due(sm)), MIN(MIN(sm_sweep_at(sm), sm->sweep.own_next),
						     MIN(MIN(sm->sweep.retry_at, sm->audit.due),
							 MIN(sm_vms_wake(sm), sm_pkeys_wake(sm)))));
	else if (sm->core.hold_until)
		t = MIN(t, sm->core.hold_until);
	return MIN(t, sm_election_wake(sm));
}

/* Time never goes back; a pause of the process shows as a step that comes after its wake-up. */
static void clock_take(struct sm *sm, time_ps now)
{
	struct sm_core *c = &sm->core;
	time_ps ran = MAX(c->now, c->wake); /* the manager ran, or had nothing to do */

	c->now = MAX(c->now, now);
	c->late = c->now > c->wake ? c->now - c->wake : 0;
	c->pause = c->now > ran ? c->now - ran : 0;
}

static int take(struct sm *sm, const struct sm_event *ev)
{
	switch (ev->kind) {
	case SM_EV_START:
		if (sm->core.phase != SM_OFF)
			return -EINVAL;
		sm_phase_apply(sm, sm_election_start(sm));
		break;
	case SM_EV_SMP:
		on_smp(sm, ev);
		break;
	case SM_EV_LOST:
		sm_lost(sm, ev);
		break;
	case SM_EV_WAKE:
		on_wake(sm);
		break;
	case SM_EV_ROUTES:
		sm_phase_apply(sm, sm_routes_in(sm, ev));
		break;
	case SM_EV_PROGRESS:
		sm_routes_progress(sm, ev);
		break;
	case SM_EV_SWEEP:
		if (sm->core.phase == SM_READY)
			sm_phase_apply(sm, sweep_now(sm));
		break;
	case SM_EV_HANDOVER:
		sm_phase_apply(sm, sm_user_handover(sm, ev->guid));
		break;
	case SM_EV_RESYNC:
		sm_phase_apply(sm, sm_election_resync(sm));
		break;
	case SM_EV_VMS_SAVED:
		sm_vms_saved(sm);
		break;
	case SM_EV_GROUPS:
		return sm_groups_in(sm, ev);
	case SM_EV_ALIASES:
		return sm_aliases_in(sm, ev);
	case SM_EV_ISOLATE:
		if (sm_damp_order(sm, ev->guid, ev->port, ev->isolate))
			return -EINVAL;
		if (sm->core.phase == SM_READY)
			sm_phase_apply(sm, sm_damp_carry_out(sm));
		break;
	case SM_EV_VMS:
		sm_vms_in(sm, ev);
		break;
	}
	return 0;
}

int sm_step(struct sm *sm, const struct sm_event *ev, struct sm_actions *out)
{
	int rc;

	out->sends.n = 0;
	out->notes.n = 0;
	out->vms.n = 0;
	out->compute.epoch = 0;
	sm->core.out = out;
	clock_take(sm, ev->now);
	sm_phase_apply(sm, sm_election_stalled(sm));
	rc = take(sm, ev);
	sm_vms_copies_step(sm);
	sm_pump(sm);
	sm_mirror_work(sm);
	out->wake = sm->core.wake = MIN(wake_time(sm), sm_mirror_wake(sm));
	sm->core.out = NULL;
	return rc;
}
