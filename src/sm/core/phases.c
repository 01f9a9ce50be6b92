/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases: which part serves each, what may follow what, and rounds, which are made of them. State: the
 * phase and the round. Does not send anything.
 */
#include "sm/manager.h"

static void nothing_to_stop(struct sm *sm)
{
	sm_phase_set(sm, SM_JOIN);
}

static void nothing_to_join(struct sm *sm)
{
	sm_phase_set(sm, SM_TABLES);
}

static const struct sm_part part_no_stop = {.done = nothing_to_stop},
			    part_no_join = {.done = nothing_to_join};

/* The parts below are those of the basic mechanism; sm_part_now() knows the others. */
static const struct {
	const char *name;
	const struct sm_part *part;
	uint16_t next; /* bits of the phases that may follow */
} phases[SM_NPHASES] = {
	[SM_OFF] = {"off", NULL, 1 << SM_DISCOVER},
	[SM_DISCOVER] = {"discover", &sm_part_discover,
			 1 << SM_DISCOVER | 1 << SM_CONFIGURE | 1 << SM_READY | 1 << SM_STANDBY},
	[SM_CONFIGURE] = {"configure", &sm_part_configure,
			  1 << SM_DISCOVER | 1 << SM_COMPUTE | 1 << SM_READY},
	[SM_COMPUTE] = {"compute", &sm_part_compute,
			1 << SM_DISCOVER | 1 << SM_DEACTIVATE | 1 << SM_READY},
	[SM_DEACTIVATE] = {"deactivate", &part_no_stop,
			   1 << SM_DISCOVER | 1 << SM_JOIN | 1 << SM_READY},
	[SM_JOIN] = {"join", &part_no_join, 1 << SM_DISCOVER | 1 << SM_TABLES | 1 << SM_READY},
	[SM_TABLES] = {"tables", &sm_part_blocks,
		       1 << SM_DISCOVER | 1 << SM_RESTORE | 1 << SM_READY},
	[SM_RESTORE] = {"restore", &sm_part_restore,
			1 << SM_DISCOVER | 1 << SM_ARM | 1 << SM_READY},
	[SM_ARM] = {"arm", &sm_part_arm, 1 << SM_DISCOVER | 1 << SM_ACTIVATE | 1 << SM_READY},
	[SM_ACTIVATE] = {"activate", &sm_part_activate,
			 1 << SM_DISCOVER | 1 << SM_COMPUTE | 1 << SM_AUDIT | 1 << SM_READY},
	[SM_AUDIT] = {"audit", &sm_part_audit, 1 << SM_DISCOVER | 1 << SM_READY},
	[SM_READY] = {"ready", &sm_part_ready,
		      1 << SM_DISCOVER | 1 << SM_SWEEP | 1 << SM_AUDIT | 1 << SM_STANDBY},
	[SM_SWEEP] = {"sweep", &sm_part_sweep, 1 << SM_DISCOVER | 1 << SM_READY},
	[SM_STANDBY] = {"standby", &sm_part_standby, 1 << SM_DISCOVER},
};

const char *sm_phase_name(enum sm_phase p)
{
	return p < SM_NPHASES ? phases[p].name : "?";
}

const struct sm_technique *sm_technique_now(const struct sm *sm)
{
	if (sm->disc.found_old) /* somebody else's tables: whatever is needed, and nothing that need not stop */
		return sm_technique_find("plan");
	return sm->routes.stage == SM_FINAL && sm->routes.staged ? sm->cfg.mechanism.second
								 : sm->cfg.mechanism.first;
}

/* Can what is known be built upon? */
static bool can_be_partial(const struct sm *sm)
{
	return sm->cfg.mechanism.discovery->part == &sm_part_partial && sm->topo.fab &&
	       sm->topo.fab->nswitches && !sm->disc.full_needed;
}

const struct sm_part *sm_part_now(const struct sm *sm)
{
	switch (sm->core.phase) {
	case SM_DISCOVER:
	case SM_SWEEP:
		/* A discovery stays what it began as. */
		if (sm->core.entered ? can_be_partial(sm) : sm->disc.partial)
			return &sm_part_partial;
		break;
	case SM_DEACTIVATE:
		if (sm_technique_now(sm)->before)
			return sm_technique_now(sm)->before;
		break;
	case SM_JOIN:
		if (sm_technique_now(sm)->plan)
			return &sm_part_join;
		break;
	case SM_TABLES:
		return sm_technique_now(sm)->tables;
	case SM_OFF:
	case SM_CONFIGURE:
	case SM_COMPUTE:
	case SM_RESTORE:
	case SM_ARM:
	case SM_ACTIVATE:
	case SM_AUDIT:
	case SM_READY:
	case SM_STANDBY:
	case SM_NPHASES:
		break;
	}
	return phases[sm->core.phase].part;
}

void sm_phase_slide(struct sm *sm, enum sm_phase to)
{
	assert(phases[sm->core.phase].next & 1 << to);
	sm->core.round.time[sm->core.phase] += sm->core.now - sm->core.phase_since;
	if (sm->core.phase == SM_COMPUTE)
		sm->core.round.compute[sm->routes.stage] += sm->core.now - sm->core.phase_since;
	sm_note(sm, SM_NOTE_PHASE, sm->core.phase, to);
	sm->core.phase = to;
	sm->core.worked |= to == SM_CONFIGURE;
	sm->core.phase_since = sm->core.now;
}

void sm_phase_set(struct sm *sm, enum sm_phase to)
{
	if (sm->core.phase == SM_READY) /* questions of spare time wait */
		sm_forget_outstanding(sm);
	assert(sm->txn.outstanding == 0);
	sm_phase_slide(sm, to);
	sm->core.entered = true;
	sm->core.hold_until = 0;
}

void sm_round_begin(struct sm *sm, enum sm_cause cause, uint64_t who)
{
	if (sm->core.round.end ||
	    sm->core.phase == SM_OFF) {		/* the last round is over: this is a new one */
		if (sm->core.phase != SM_SWEEP) /* a sweep's marks were set when it began */
			memcpy(sm->core.mark, sm->core.st.smps, sizeof(sm->core.mark));
		sm->core.round = (struct sm_round){.cause = cause, .start = sm->core.now};
		sm->audit.rewrote = sm->audit.mending = sm->core.worked = false;
		/* An audit that was still to come reads what was set then, too. */
		sm->audit.trouble = sm->audit.due != TIME_NEVER;
		sm->sweep.retry_at = sm->audit.due = TIME_NEVER;
		if (!sm->audit.trouble)
			sm->audit.generation = (uint8_t)(sm->audit.generation == UINT8_MAX
								 ? 1
								 : sm->audit.generation + 1);
		sm->disc.restarts = 0;
		sm->core.incomplete |= sm->disc.shunned.n > 0;
		sm->disc.shunned.n = 0; /* perhaps it is the other device that changed */
		sm->core.phase_since = sm->core.now;
	}
	sm_note(sm, SM_NOTE_CHANGE, cause, who);
	sm->core.change_pending = false;
}

/* A new look at everything, whatever is going on. Late answers to old questions are dropped. */
void sm_change(struct sm *sm, enum sm_cause cause, uint64_t who)
{
	sm_round_begin(sm, cause, who);
	sm_forget_outstanding(sm);
	sm_phase_set(sm, SM_DISCOVER);
}
