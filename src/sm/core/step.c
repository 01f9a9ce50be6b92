/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events in, actions out: the one way in. State: what is due when. Does not know what any of it is
 * about.
 */
#include "sm/manager.h"

static void on_smp(struct sm *sm, const struct sm_event *ev)
{
	unsigned cls = iba_smp_mgmt_class(ev->mad), method = iba_smp_method(ev->mad);

	if (iba_smp_base_version(ev->mad) != 1 || iba_smp_class_version(ev->mad) != 1 ||
	    (cls != IBA_CLASS_SUBN_LID && cls != IBA_CLASS_SUBN_DR)) {
		sm->core.st.bad++;
		return;
	}
	if (method == IBA_GET_RESP)
		sm_txn_response(sm, ev);
	else if (method == IBA_TRAP && iba_smp_attr_id(ev->mad) == IBA_ATTR_NOTICE)
		sm_trap(sm, ev);
	else if ((method == IBA_GET || method == IBA_SET) &&
		 iba_smp_attr_id(ev->mad) == IBA_ATTR_SM_INFO)
		sm_info_answer(sm, ev);
	else
		sm->core.st.bad++;
}

static void on_wake(struct sm *sm)
{
	if (sm->txn.outstanding)
		sm_txns_overdue(sm);
	if (sm->core.phase == SM_READY && sm->core.now >= sm->sweep.retry_at) {
		sm->disc.full_needed = true;
		sm_change(sm, SM_CAUSE_RETRY, 0);
	} else if (sm->core.phase == SM_READY && sm->core.now >= sm->audit.due) {
		sm_phase_set(sm, SM_AUDIT);
	} else if (sm->core.phase == SM_READY && sm->core.now >= sm_damp_due(sm)) {
		sm_damp_release(sm);
	} else if (sm->core.phase == SM_READY && sm->core.now >= sm->sweep.next) {
		sm_phase_set(sm, SM_SWEEP);
	}
}

static time_ps wake_time(const struct sm *sm)
{
	time_ps t = sm->txn.outstanding ? sm->txn.next_deadline : TIME_NEVER;

	if (sm->core.phase == SM_READY)
		t = MIN(MIN(t, sm_damp_due(sm)),
			MIN(sm->sweep.next, MIN(sm->sweep.retry_at, sm->audit.due)));
	else if (sm->core.phase == SM_STANDBY)
		t = sm->election.state == IBA_SM_STANDBY && !sm->txn.outstanding
			    ? MIN(t, sm->election.poll_at)
			    : t;
	else if (sm->core.hold_until)
		t = MIN(t, sm->core.hold_until);
	return t;
}

int sm_step(struct sm *sm, const struct sm_event *ev, struct sm_actions *out)
{
	int rc = 0;

	out->sends.n = 0;
	out->notes.n = 0;
	out->compute.epoch = 0;
	sm->core.out = out;
	sm->core.now = MAX(sm->core.now, ev->now);
	switch (ev->kind) {
	case SM_EV_START:
		if (sm->core.phase != SM_OFF) {
			rc = -EINVAL;
			break;
		}
		sm_state_set(sm, IBA_SM_DISCOVERING);
		sm_change(sm, SM_CAUSE_START, 0);
		break;
	case SM_EV_SMP:
		on_smp(sm, ev);
		break;
	case SM_EV_LOST:
		sm_txn_lost(sm, ev);
		break;
	case SM_EV_WAKE:
		on_wake(sm);
		break;
	case SM_EV_ROUTES:
		sm_routes_in(sm, ev);
		break;
	case SM_EV_PROGRESS:
		sm_routes_progress(sm, ev);
		break;
	case SM_EV_SWEEP:
		if (sm->core.phase == SM_READY)
			sm_phase_set(sm, SM_SWEEP);
		break;
	}
	sm_pump(sm);
	out->wake = wake_time(sm);
	sm->core.out = NULL;
	return rc;
}
