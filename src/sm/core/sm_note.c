/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, for whoever listens: words for notes, causes and purposes. No state.
 */
#include "sm/manager.h"

static const char *const purpose_names[SM_NPURPOSES] = {
	[SM_FOR_SWEEP] = "sweep",
	[SM_FOR_DISCOVERY] = "discovery",
	[SM_FOR_CONFIGURATION] = "configuration",
	[SM_FOR_DISTRIBUTION] = "distribution",
	[SM_FOR_ACTIVATION] = "activation",
	[SM_FOR_AUDIT] = "audit",
	[SM_FOR_TRAP] = "trap",
	[SM_FOR_NAMES] = "names",
};

const char *sm_purpose_name(enum sm_purpose p)
{
	return p < SM_NPURPOSES ? purpose_names[p] : "?";
}

static const char *const note_names[] = {
	[SM_NOTE_PHASE] = "phase",
	[SM_NOTE_CHANGE] = "change",
	[SM_NOTE_UNREACHABLE] = "unreachable",
	[SM_NOTE_BAD_STATUS] = "bad_status",
	[SM_NOTE_RESTART] = "restart",
	[SM_NOTE_REFUSED] = "refused",
	[SM_NOTE_TOO_FAR] = "too_far",
	[SM_NOTE_NO_LID] = "no_lid",
	[SM_NOTE_MISMATCH] = "mismatch",
	[SM_NOTE_TRAP] = "trap",
	[SM_NOTE_LEFT_OUT] = "left_out",
	[SM_NOTE_PLAN] = "plan",
	[SM_NOTE_GONE] = "gone",
	[SM_NOTE_NO_ROOM] = "no_room",
	[SM_NOTE_GUESS] = "guess",
	[SM_NOTE_HELD] = "held",
	[SM_NOTE_RELEASED] = "released",
	[SM_NOTE_LID] = "lid",
	[SM_NOTE_NAME] = "name",
	[SM_NOTE_STATE] = "state",
	[SM_NOTE_OTHER_SM] = "other_sm",
};

const char *sm_note_name(enum sm_note_kind k)
{
	return k < ARRAY_LEN(note_names) ? note_names[k] : "?";
}

const char *sm_cause_name(enum sm_cause c)
{
	static const char *const names[] = {"start", "sweep", "trap",	 "silence",
					    "retry", "far",   "release", "handover"};

	return c < ARRAY_LEN(names) ? names[c] : "?";
}

void sm_note(struct sm *sm, enum sm_note_kind k, uint64_t a, uint64_t b)
{
	uint64_t smps = 0;

	if (!sm->core.out) /* between steps nobody listens */
		return;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += sm->core.st.smps[i];
	vec_push(&sm->core.out->notes, (struct sm_note){k, sm->core.now, a, b, smps});
}
