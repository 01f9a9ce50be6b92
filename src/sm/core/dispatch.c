/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dispatcher: asks the part of the running phase for requests while the window has room, hands each
 * response to it, and applies the outcomes it reports. State: none of its own. Ways in: sm_pump(),
 * sm_response(), sm_overdue(). Does not know what the requests are about.
 */
#include "sm/manager.h"

static unsigned window_now(const struct sm *sm)
{
	return sm->core.phase == SM_DISCOVER && sm->cfg.explore == SM_EXPLORE_BFS ? 1
										  : sm->cfg.window;
}

static void apply(struct sm *sm, enum sm_outcome o)
{
	if (o != SM_GOING_ON)
		sm_phase_apply(sm, o);
}

static void begin(struct sm *sm, const struct sm_part *part)
{
	sm_phase_entered(sm);
	if (sm->core.phase == SM_READY)
		sm_config_settle(sm);
	if (part->begin)
		apply(sm, part->begin(sm));
}

/* Send one request of the part; false: it has none for now, or there is no room. */
static bool send_next(struct sm *sm, const struct sm_part *part)
{
	struct sm_req r;

	if (!part->next || sm->txn.outstanding >= window_now(sm) ||
	    (sm->txn.outstanding && PROVOKE(sm, FULL_WINDOW)))
		return false;
	if (part->due) {
		apply(sm, part->due(sm));
		if (sm->core.entered)
			return true;
	}
	memset(&r, 0, offsetof(struct sm_req, data));
	if (!part->next(sm, &r))
		return false;
	sm_txn_send(sm, &r);
	return true;
}

/* Send while there is room and something to send; when all is answered, go on. */
void sm_pump(struct sm *sm)
{
	for (;;) {
		const struct sm_part *part = sm_part_now(sm);

		sm_election_send(sm);
		if (!part || sm->core.now < sm->core.hold_until || sm_election_checking(sm))
			return;
		if (sm->core.hold_until)
			sm_phase_hold(sm, 0);
		if (sm->core.entered) {
			begin(sm, part);
			continue;
		}
		if (send_next(sm, part))
			continue;
		if (sm->txn.outstanding || sm->core.now < sm->core.hold_until)
			return;
		if (part->done)
			apply(sm, part->done(sm));
		if (!sm->core.entered)
			return;
	}
}

void sm_response(struct sm *sm, const struct sm_event *ev)
{
	const struct sm_part *part = sm_part_now(sm);
	struct sm_txn *t = sm_txn_find(sm, ev->mad), copy;
	uint16_t status = iba_smp_status(ev->mad) & 0x7fff;
	enum sm_outcome o;

	if (sm_election_response(sm, ev, &o)) {
		apply(sm, o);
		return;
	}
	if (!t || t->attr_id != iba_smp_attr_id(ev->mad)) {
		sm_count(sm, SM_COUNT_LATE);
		sm_txn_stray(sm, ev->mad);
		return;
	}
	copy = *t;
	sm_txn_close(sm, t, true);
	sm_key_answered(sm, &copy);
	if (status) {
		sm_count(sm, SM_COUNT_BAD);
		copy.status = status;
		sm_note(sm, .kind = SM_NOTE_BAD_STATUS, .about = sm_about_target(sm, &copy.target),
			.request = {copy.attr_id, status});
		apply(sm, part->fail(sm, &copy));
	} else if (part->recv) {
		apply(sm, part->recv(sm, &copy, iba_smp_data_const(ev->mad)));
	}
}

/* As if its time were up: it is repeated, or given up, as others are. */
void sm_lost(struct sm *sm, const struct sm_event *ev)
{
	struct sm_txn *t = sm_txn_find(sm, ev->mad);

	if (sm_election_lost(sm, ev) || !t)
		return;
	sm_txn_expire(sm, t);
	sm_overdue(sm);
}

/* Its place in the window is for others. */
static bool postpone(struct sm *sm, struct sm_txn *t)
{
	const struct sm_part *part = sm_part_now(sm);

	if (!part->postpone || !part->postpone(sm, t))
		return false;
	sm_txn_close(sm, t, false);
	return true;
}

void sm_overdue(struct sm *sm)
{
	bool full = sm->txn.outstanding >= window_now(sm);
	uint32_t epoch = sm->topo.epoch, at = 0;
	time_ps next = TIME_NEVER;
	struct sm_txn *t, copy;

	/* What was sent before a pause is not sent again before the manager has asked who is master. */
	if (sm->core.now < sm->txn.next_deadline || sm_election_checking(sm))
		return;
	while ((t = sm_txn_overdue(sm, &at, &next))) {
		if (full && postpone(sm, t))
			continue;
		if (sm_txn_repeat(sm, t)) {
			sm_count(sm, SM_COUNT_RETRIES);
			next = MIN(next, t->deadline);
			continue;
		}
		sm_count(sm, SM_COUNT_TIMEOUTS);
		copy = *t;
		sm_txn_close(sm, t, false);
		sm_key_unanswered(sm, &copy);
		apply(sm, sm_part_now(sm)->fail(sm, &copy));
		if (sm->topo.epoch != epoch || sm->core.entered)
			break; /* all else was forgotten */
	}
	sm_txn_deadline(sm, next);
}
