/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes in, to the side that it is for: GMPs, responses, phases, and time that passes. State: a counter. Ways in:
 * sm_mirror_gmp(), sm_mirror_work(), sm_mirror_phase(). Does not look into pages.
 */
#include "sm/manager.h"

void sm_mirror_gmp(struct sm *sm, const struct sm_event *ev)
{
	struct sm_mirror_mad m;

	if (!sm_mirror_is_on(sm) || !sm_mirror_read(sm, ev->mad, &m)) {
		sm->mirror.gmps_bad++;
		return;
	}
	if (m.method == IBA_GET && sm->election.state == IBA_SM_MASTER)
		sm_mirror_master_gmp(sm, &m, ev->slid);
	else if (m.method == IBA_GET_RESP && sm_mirror_is_standby(sm))
		sm_mirror_standby_gmp(sm, &m, ev->mad + IBA_MIRROR_DATA_OFF);
}

bool sm_mirror_response(struct sm *sm, const struct sm_event *ev)
{
	return sm_tid_is_aside(ev->mad) &&
	       (sm_stamp_response(sm, ev) || sm_mirror_standby_port(sm, ev));
}

void sm_mirror_work(struct sm *sm)
{
	sm_stamp_overdue(sm); /* one that was set is cleared, though mirrors were switched off */
	if (!sm_mirror_is_on(sm))
		return;
	if (sm_mirror_is_standby(sm))
		sm_mirror_standby_work(sm);
	else if (sm->election.state == IBA_SM_MASTER)
		sm_mirror_master_work(sm);
}

void sm_mirror_phase(struct sm *sm, enum sm_phase from, enum sm_phase to)
{
	if (!sm_mirror_is_on(sm))
		return;
	if (to == SM_STANDBY) {
		sm_mirror_master_drop(sm);
		sm_stamp_unknown(sm); /* the stamp stays: it is true */
		sm_mirror_standby_begin(sm);
	}
	if (to == SM_DISCOVER) {
		sm_mirror_outdated(sm);
		sm_stamp_clear(sm);
	}
	if (from == SM_STANDBY)
		sm_mirror_take_over(sm);
}

void sm_mirror_init(struct sm *sm)
{
	sm->mirror.stamp.deadline = TIME_NEVER;
	sm->mirror.stamp.state = sm->cfg.read_back ? SM_STAMP_UNKNOWN : SM_STAMP_CLEAR;
	sm->mirror.master.work_at = TIME_NEVER;
	sm->mirror.master.recent = NONE;
}

void sm_mirror_free(struct sm *sm)
{
	sm_mirror_master_free(sm);
	sm_mirror_standby_free(sm);
}
