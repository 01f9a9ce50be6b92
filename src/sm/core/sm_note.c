/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes: what happened is appended to the actions of the running step. State: none. Way in:
 * sm_note_put(). Their words are in note_table.c.
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

void sm_note_put(struct sm *sm, struct sm_note n)
{
	if (!sm->core.out) /* no step is running */
		return;
	n.when = sm->core.now;
	n.smps = 0;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n.smps += sm->core.st.smps[i];
	vec_push(&sm->core.out->notes, n);
}

static struct sm_subject device(uint64_t guid)
{
	return (struct sm_subject){.kind = guid ? SM_ABOUT_DEVICE : SM_ABOUT_NONE,
				   .a = {.guid = guid}};
}

static struct sm_subject port(uint64_t guid, uint64_t num)
{
	return (struct sm_subject){.kind = SM_ABOUT_PORT, .a = {guid, (uint8_t)num}};
}

static struct sm_note change(uint64_t cause, uint64_t who)
{
	struct sm_note n = {.kind = cause == SM_CAUSE_START ? SM_NOTE_START : SM_NOTE_CHANGE,
			    .change = {(enum sm_cause)cause}};

	if (cause == SM_CAUSE_TRAP && who)
		n.about = (struct sm_subject){.kind = SM_ABOUT_LID, .lid = (uint16_t)who};
	else if (who > UINT32_MAX)
		n.about = device(who);
	return n;
}

/* What two numbers mean for each kind. */
static struct sm_note from_numbers(enum sm_note_kind k, uint64_t a, uint64_t b)
{
	struct sm_note n = {.kind = k};

	switch (k) {
	case SM_NOTE_CHANGE:
		return change(a, b);
	case SM_NOTE_PHASE:
		n.phase.from = (enum sm_phase)a;
		n.phase.to = (enum sm_phase)b;
		break;
	case SM_NOTE_BAD_STATUS:
		n.about = device(a);
		n.request.attribute = (uint16_t)(b >> 16);
		n.request.status = (uint16_t)b;
		break;
	case SM_NOTE_UNREACHABLE:
	case SM_NOTE_MISMATCH:
	case SM_NOTE_LEFT_OUT:
		n.about = device(a);
		n.request.attribute = (uint16_t)b;
		break;
	case SM_NOTE_RESTART:
		n.times = (uint32_t)a;
		break;
	case SM_NOTE_TOO_FAR:
	case SM_NOTE_HELD:
	case SM_NOTE_RELEASED:
		n.about = port(a, b);
		break;
	case SM_NOTE_NO_LID:
	case SM_NOTE_GUESS:
	case SM_NOTE_NAME:
		n.about = device(a);
		break;
	case SM_NOTE_TRAP:
		n.trap.number = (uint16_t)a;
		n.trap.lid = (uint16_t)b;
		break;
	case SM_NOTE_PLAN:
		n.plan.kind = (enum rt_plan_kind)a;
		n.plan.turns = (uint32_t)b;
		break;
	case SM_NOTE_NO_ROOM:
		n.about = device(a);
		n.room.need = (uint32_t)(b >> 32);
		n.room.has = (uint32_t)b;
		break;
	case SM_NOTE_LID:
		n.address.port_guid = a;
		n.address.lid = (uint16_t)(b >> 8);
		n.address.lmc = (uint8_t)b;
		break;
	case SM_NOTE_STATE:
		n.state.from = (enum iba_sm_state)a;
		n.state.to = (enum iba_sm_state)b;
		break;
	case SM_NOTE_OTHER_SM:
		n.about = device(a);
		n.other.priority = (uint8_t)(b >> 8);
		n.other.state = (enum iba_sm_state)(b & 0xff);
		break;
	case SM_NOTE_START:
	case SM_NOTE_REFUSED:
	case SM_NOTE_NODE_GONE:
	case SM_NOTE_NODE_CAME:
	case SM_NOTE_LINK_DOWN:
	case SM_NOTE_LINK_UP:
	case SM_NOTE_MORE_CHANGES:
	case SM_NOTE_NKINDS:
		break;
	}
	return n;
}

void sm_note(struct sm *sm, enum sm_note_kind k, uint64_t a, uint64_t b)
{
	sm_note_put(sm, from_numbers(k, a, b));
}
