/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases and rounds: from (phase, outcome) to the next phase, by the table of phase_table.h. State: the
 * phase and the round, in struct sm_core. Way in: sm_phase_apply(). Does not know what a part does.
 */
#include "sm/manager.h"

/* ---- the tables ---- */

static const char *const phase_names[SM_NPHASES] = {
#define NAME(phase, name, part, text) [SM_##phase] = name,
	SM_PHASES(NAME)
#undef NAME
};

const char *sm_phase_name(enum sm_phase p)
{
	return p < SM_NPHASES ? phase_names[p] : "?";
}

const char *sm_phase_text(enum sm_phase p)
{
	static const char *const texts[SM_NPHASES] = {
#define TEXT(phase, name, part, text) [SM_##phase] = text,
		SM_PHASES(TEXT)
#undef TEXT
	};

	return p < SM_NPHASES ? texts[p] : "?";
}

static const char *const outcome_names[SM_NOUTCOMES] = {
#define NAME(outcome, name, text) [SM_##outcome] = name,
	SM_OUTCOMES(NAME)
#undef NAME
};

const char *sm_outcome_name(enum sm_outcome o)
{
	return o < SM_NOUTCOMES ? outcome_names[o] : "?";
}

const char *sm_outcome_text(enum sm_outcome o)
{
	static const char *const texts[SM_NOUTCOMES] = {
#define TEXT(outcome, name, text) [SM_##outcome] = text,
		SM_OUTCOMES(TEXT)
#undef TEXT
	};

	return o < SM_NOUTCOMES ? texts[o] : "?";
}

const struct sm_transition sm_transitions[] = {
#define ROW(from, outcome, to) {SM_##from, SM_##outcome, SM_##to},
	SM_TRANSITIONS(ROW)
#undef ROW
};
const size_t sm_ntransitions = ARRAY_LEN(sm_transitions);

/* 0 (SM_OFF): no such transition. */
static const uint8_t next_phase[SM_NPHASES][SM_NOUTCOMES] = {
#define NEXT(from, outcome, to) [SM_##from][SM_##outcome] = SM_##to,
	SM_TRANSITIONS(NEXT)
#undef NEXT
};

/* ---- rounds ---- */

static void round_begin(struct sm *sm, enum sm_cause cause, struct sm_subject about)
{
	struct sm_core *c = &sm->core;

	if (c->round.end || c->phase == SM_OFF) { /* the last round is over: this is a new one */
		if (c->phase != SM_SWEEP)	  /* a sweep's marks were set when it began */
			sm_round_mark(sm);
		c->round = (struct sm_round){.cause = cause, .start = c->now};
		c->worked = false;
		sm_audit_round(sm);
		sm_retry_never(sm);
		c->incomplete |= sm_discovery_round(sm);
		c->phase_since = c->now;
	}
	sm_note(sm, .kind = cause == SM_CAUSE_START ? SM_NOTE_START : SM_NOTE_CHANGE,
		.about = about, .change = {cause});
	c->change_pending = false;
}

void sm_round_restarts_reset(struct sm *sm)
{
	sm->core.round.restarts = 0;
}

void sm_phase_entered(struct sm *sm)
{
	sm->core.entered = false;
}

void sm_round_end(struct sm *sm, bool clean)
{
	struct sm_core *c = &sm->core;

	c->round.end = c->now;
	c->round.clean = clean;
	if (clean)
		sm_hosts_registered(sm);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		c->round.smps[i] = c->st.smps[i] - c->mark[i];
	c->st.last = c->round;
	c->st.rounds++;
}

void sm_round_drop(struct sm *sm)
{
	sm->core.round.end = sm->core.now;
}

void sm_round_abandon(struct sm *sm)
{
	struct sm_core *c = &sm->core;

	if (!c->round.end)
		c->round.end = c->now ? c->now : 1;
	c->change_pending = false;
}

void sm_round_in_place(struct sm *sm, enum sm_stage stage)
{
	sm->core.round.in_place[stage] = sm->core.now;
}

void sm_round_in_place_too(struct sm *sm)
{
	sm->core.round.in_place[SM_FINAL] = sm->core.round.in_place[SM_PROVISIONAL];
}

void sm_round_complete(struct sm *sm, enum sm_stage stage)
{
	sm->core.round.complete[stage] = sm->core.now;
}

void sm_round_mark(struct sm *sm)
{
	memcpy(sm->core.mark, sm->core.st.smps, sizeof(sm->core.mark));
}

/* ---- phases ---- */

static uint64_t smps_sent(const struct sm *sm)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += sm->core.st.smps[i];
	return n;
}

static void enter(struct sm *sm, enum sm_phase to)
{
	struct sm_core *c = &sm->core;
	uint64_t sent = smps_sent(sm);

	c->round.time[c->phase] += c->now - c->phase_since;
	c->round.sent[c->phase] += sent - c->phase_mark;
	c->phase_mark = sent;
	if (c->phase == SM_COMPUTE)
		c->round.compute[sm->routes.stage] += c->now - c->phase_since;
	sm_note(sm, .kind = SM_NOTE_PHASE, .phase = {c->phase, to});
	sm_mirror_phase(sm, c->phase, to);
	sm_virtual_phase(sm, c->phase, to);
	c->phase = to;
	c->worked |= to == SM_CONFIGURE;
	c->phase_since = c->now;
}

void sm_phase_apply(struct sm *sm, enum sm_outcome o)
{
	struct sm_core *c = &sm->core;
	enum sm_phase to = next_phase[c->phase][o];

	if (o == SM_GOING_ON)
		return;
	assert(to);
	if (o == SM_CHANGED || (o == SM_STAGED && c->phase == SM_READY))
		round_begin(sm, c->trigger.cause, c->trigger.about);
	/* A change is looked into whatever is under way, and questions of spare time wait. */
	if (o == SM_CHANGED || o == SM_RIVAL || c->phase == SM_READY)
		sm_forget_outstanding(sm);
	assert(sm->txn.outstanding == 0);
	enter(sm, to);
	c->entered = true;
	c->hold_until = 0;
}

enum sm_outcome sm_changed(struct sm *sm, enum sm_cause cause, struct sm_subject about)
{
	sm->core.trigger = (struct sm_trigger){cause, about};
	return SM_CHANGED;
}

enum sm_outcome sm_uneven(struct sm *sm)
{
	sm->core.trigger = (struct sm_trigger){SM_CAUSE_BALANCE, SM_ABOUT_NOTHING};
	return SM_STAGED;
}

void sm_sweep_noticed(struct sm *sm, enum sm_cause cause, struct sm_subject about)
{
	if (sm->core.phase != SM_SWEEP)
		return;
	round_begin(sm, cause, about);
	enter(sm, next_phase[SM_SWEEP][SM_NOTICED]);
}

void sm_phase_hold(struct sm *sm, time_ps until)
{
	sm->core.hold_until = until;
}

void sm_change_later(struct sm *sm, enum sm_cause cause, struct sm_subject about)
{
	sm->core.change_pending = true;
	sm->core.pending = (struct sm_trigger){cause, about};
}

enum sm_outcome sm_sweep_first(struct sm *sm)
{
	sm->core.change_pending = false;
	return SM_DUE;
}

void sm_unfinished(struct sm *sm)
{
	sm->core.incomplete = true;
}

void sm_finished(struct sm *sm)
{
	sm->core.incomplete = false;
}

void sm_round_again(struct sm *sm)
{
	sm->core.round.restarts++;
}
