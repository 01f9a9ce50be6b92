/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Set that failed: the device refused it or did not answer. State: none of its own. Way in: sm_failed(),
 * the `fail` of most parts. Does not repeat anything: the next discovery shows what is there.
 */
#include "sm/manager.h"

/*
 * Mostly the device is gone and the next discovery shows it. One that is there and refuses would restart
 * the round for ever and keep all others without routes: after so many failures the device that failed
 * last is excluded. If that is not possible, the manager rests and retries later.
 */
enum { FAILURES_A_ROUND = 8 };

/* The device a request was for; NONE: not known. The audit reads tables of many, and suspects none. */
static uint32_t device_of(const struct sm_txn *t)
{
	return t->purpose == SM_FOR_AUDIT && t->target.kind != SM_TARGET_PORT ? NONE
									      : t->target.node;
}

static bool exclude(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = device_of(t);

	if (node == NONE || node == 0) /* 0: the SM's own */
		return false;
	sm_exclude(sm, sm->topo.nodes.at[node].guid);
	sm_note(sm, .kind = SM_NOTE_LEFT_OUT, .about = sm_about_node(sm, node),
		.request = {t->attr_id, t->status});
	sm_round_restarts_reset(sm);
	return true;
}

enum sm_outcome sm_give_up(struct sm *sm)
{
	sm_discovery_doubt(sm);
	sm_forget_outstanding(sm);
	return SM_REFUSED;
}

/* Until it is Active, a link that was down and came up elsewhere leaves the own port as it was: all paths are in doubt. */
static bool own_link_settled(const struct sm *sm)
{
	return sm->topo.ports.at[sm_own_port(sm)].pi.state == IBA_PORT_ACTIVE;
}

enum sm_outcome sm_failed(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = device_of(t);

	sm_set_unacknowledged(sm, t);
	if (node != NONE)
		sm_suspect(sm, node);
	if (!own_link_settled(sm))
		sm_full_discovery_needed(sm);
	if (sm->core.round.restarts) { /* the second failure: trust neither topology nor tables */
		sm_full_discovery_needed(sm);
		sm_rows_unknown(sm);
	}
	sm_note_failed(sm, t);
	sm_round_again(sm);
	if (sm->core.round.end || sm->core.round.restarts <= FAILURES_A_ROUND || exclude(sm, t))
		return sm_changed(sm, SM_CAUSE_SILENCE, sm_about_target(sm, &t->target));
	return sm_give_up(sm);
}
