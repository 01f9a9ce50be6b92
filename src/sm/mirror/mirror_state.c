/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a mirror shows to other rooms, and the clock. State: struct sm_mirroring, of which it changes times only, and
 * that what is known differs from the digests. Does not send anything.
 */
#include "sm/manager.h"
#include "sm/restore/saved_state.h"

enum {
	POLL_MS = 250,	  /* at most; less if the master is polled more often */
	RECENT_POLLS = 4, /* requests may be lost */
};

bool sm_mirror_is_on(const struct sm *sm)
{
	return sm->cfg.mirror && sm->cfg.contest;
}

bool sm_mirror_is_standby(const struct sm *sm)
{
	return sm->core.phase == SM_STANDBY && sm->election.state == IBA_SM_STANDBY;
}

time_ps sm_mirror_poll(const struct sm *sm)
{
	return MIN(sm->cfg.standby_poll_ps, POLL_MS * PS_PER_MS);
}

/* A standby that stopped asking, for whatever reason, gets no copy any more. */
enum sm_copy sm_mirror_copy(const struct sm *sm, uint16_t lid)
{
	const struct sm_mirror_master *m = &sm->mirror.master;

	if (!sm_mirror_is_on(sm) || m->none || sm->mirror.stamp.state == SM_STAMP_REFUSED || !lid)
		return SM_COPY_NONE;
	for (unsigned i = 0; i < SM_MIRRORS; i++)
		if (m->seen[i].lid == lid &&
		    sm->core.now < m->seen[i].at + RECENT_POLLS * sm_mirror_poll(sm))
			return m->valid && sm->mirror.stamp.state == SM_STAMP_SET &&
					       m->seen[i].root == m->of.root
				       ? SM_COPY_WHOLE
				       : SM_COPY_PART;
	return SM_COPY_NONE;
}

/* Longer than a standby needs to repeat requests that were lost. */
static time_ps asks_until(const struct sm *sm, const struct sm_mirror_seen *x)
{
	time_ps t = MAX(RECENT_POLLS * sm_mirror_poll(sm), PS_PER_S);

	return x->lid && sm->core.now < x->at + t ? x->at + t : 0;
}

uint32_t sm_mirror_holds_vms(const struct sm *sm)
{
	const struct sm_mirror_master *m = &sm->mirror.master;
	uint32_t least = UINT32_MAX;

	if (!sm_mirror_is_on(sm) || m->none || sm->mirror.stamp.state == SM_STAMP_REFUSED)
		return least;
	for (unsigned i = 0; i < SM_MIRRORS; i++)
		if (asks_until(sm, &m->seen[i]))
			least = MIN(least, m->seen[i].vms);
	return least;
}

time_ps sm_mirror_silent_at(const struct sm *sm)
{
	const struct sm_mirror_master *m = &sm->mirror.master;
	time_ps t = TIME_NEVER;

	for (unsigned i = 0; i < SM_MIRRORS; i++)
		if (asks_until(sm, &m->seen[i]))
			t = MIN(t, asks_until(sm, &m->seen[i]));
	return t;
}

/* A standby that was master meanwhile has used its copy up, though what is known may be the same again. */
void sm_mirror_copies_unknown(struct sm *sm)
{
	struct sm_mirror_seen *x = sm->mirror.master.seen;

	for (unsigned i = 0; i < SM_MIRRORS; i++) {
		x[i].root = x[i].vms_root = 0;
		x[i].vms = 0;
	}
}

void sm_mirror_outdated(struct sm *sm)
{
	sm->mirror.master.none = false;
	sm->mirror.master.valid = false;
	sm->mirror.master.first.n = 0;
	sm->mirror.master.recent = NONE;
}

uint64_t sm_mirror_manager_node(const struct sm *sm, uint64_t port_guid)
{
	const struct sm_mirror_standby *s = &sm->mirror.standby;

	for (size_t i = 0; i < s->managers.n; i++)
		if (s->managers.at[i].guid == port_guid)
			return s->managers.at[i].node_guid;
	return 0;
}

time_ps sm_mirror_wake(const struct sm *sm)
{
	const struct sm_mirroring *m = &sm->mirror;
	time_ps t = m->stamp.deadline;

	if (!sm_mirror_is_on(sm))
		return t;
	if (!sm_mirror_is_standby(sm))
		return MIN(t, m->master.work_at);
	if (m->standby.step == SM_MIRROR_WAITING || m->standby.step == SM_MIRROR_PORT)
		t = MIN(t, m->standby.next_at);
	for (unsigned i = 0; m->standby.outstanding && i < SM_MIRROR_WINDOW; i++)
		if (m->standby.ask[i].used)
			t = MIN(t, m->standby.ask[i].deadline);
	return t;
}

void sm_mirror_time_back(struct sm *sm, time_ps by)
{
	struct sm_mirroring *m = &sm->mirror;

	sm_time_shift(&m->stamp.deadline, by);
	sm_time_shift(&m->master.asked_at, by);
	sm_time_shift(&m->master.work_at, by);
	sm_time_shift(&m->standby.next_at, by);
	sm_time_shift(&m->standby.confirmed_at, by);
	sm_time_shift(&m->standby.managers_at, by);
	for (unsigned i = 0; i < SM_MIRROR_WINDOW; i++)
		sm_time_shift(&m->standby.ask[i].deadline, by);
	for (unsigned i = 0; i < SM_MIRRORS; i++)
		sm_time_shift(&m->master.seen[i].at, by);
}

void sm_mirror_status(const struct sm *sm, struct sm_mirror_status *st)
{
	const struct sm_mirroring *m = &sm->mirror;

	*st = (struct sm_mirror_status){.on = sm_mirror_is_on(sm) && sm_mirror_is_standby(sm),
					.gmps = m->gmps,
					.gmps_bad = m->gmps_bad};
	if (st->on && m->standby.whole) {
		st->complete = true;
		st->generation = m->standby.of.root;
		st->bytes = (uint64_t)m->standby.have.n[0] * SM_PAGE;
		st->confirmed_at = m->standby.confirmed_at;
		st->nodes = (uint32_t)m->standby.whole->nodes.n;
		for (size_t i = 0; i < m->standby.whole->nodes.n; i++)
			st->switches += m->standby.whole->nodes.at[i].type == IBA_NODE_SWITCH;
	}
	for (unsigned i = 0; m->master.valid && i < SM_MIRRORS; i++)
		st->mirrors += m->master.seen[i].root == m->master.of.root;
}

bool sm_standby_place(const struct sm *sm, uint16_t *own_lid, uint16_t *master_lid, uint8_t *sl)
{
	const struct sm_mirror_standby *s = &sm->mirror.standby;

	if (!sm_mirror_is_on(sm) || !sm_mirror_is_standby(sm) || !s->own_lid || !s->master_lid)
		return false;
	*own_lid = s->own_lid;
	*master_lid = s->master_lid;
	*sl = s->sl;
	return true;
}
