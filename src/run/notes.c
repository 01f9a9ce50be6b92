/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the SM says, as records of the log. Keeps no state. Ways in: run_note_log(), run_round_log().
 * Does not act on anything.
 */
#include "run/daemon.h"

static const char *name_of(const struct sm *sm, uint64_t guid)
{
	return guid ? sm_node_desc(sm, guid) : NULL;
}

static struct log_value node(uint64_t guid)
{
	return guid ? LOG_G("node", guid) : LOG_NOT("node");
}

static const char *sm_state(uint64_t s)
{
	return iba_format_word(IBA_FMT_SM_STATE, s);
}

/* A change is told by a LID, a GUID or nobody in particular. */
static void change(struct run_log *l, const struct sm *sm, const struct sm_note *n)
{
	bool lid = n->b && n->b <= IBA_LID_MAX_UNICAST && n->a == SM_CAUSE_TRAP;
	uint64_t guid = n->b > UINT32_MAX ? n->b : 0;

	log_rec(l, LOG_CHANGE, LOG_T("cause", sm_cause_name((enum sm_cause)n->a)), node(guid),
		LOG_T("name", name_of(sm, guid)), lid ? LOG_U("lid", n->b) : LOG_NOT("lid"));
}

static void with_node(struct run_log *l, const struct sm *sm, enum log_kind k, uint64_t guid,
		      struct log_value more, struct log_value yet)
{
	log_rec(l, k, node(guid), LOG_T("name", name_of(sm, guid)), more, yet);
}

static void attribute(struct run_log *l, const struct sm *sm, enum log_kind k,
		      const struct sm_note *n)
{
	with_node(l, sm, k, n->a, LOG_T("attribute", iba_attr_name((unsigned)n->b)), LOG_NOT("-"));
}

void run_note_log(struct run_log *l, const struct sm *sm, const struct sm_note *n)
{
	switch (n->kind) {
	case SM_NOTE_PHASE:
		log_rec(l, LOG_PHASE, LOG_T("from", sm_phase_name((enum sm_phase)n->a)),
			LOG_T("to", sm_phase_name((enum sm_phase)n->b)), LOG_U("smps", n->smps));
		break;
	case SM_NOTE_CHANGE:
		change(l, sm, n);
		break;
	case SM_NOTE_UNREACHABLE:
		attribute(l, sm, LOG_UNREACHABLE, n);
		break;
	case SM_NOTE_BAD_STATUS:
		with_node(l, sm, LOG_BAD_STATUS, n->a,
			  LOG_T("attribute", iba_attr_name((unsigned)(n->b >> 16))),
			  LOG_X("status", n->b & 0xffff));
		break;
	case SM_NOTE_RESTART:
		log_rec(l, LOG_RESTART, LOG_U("times", n->a));
		break;
	case SM_NOTE_REFUSED:
		log_rec(l, LOG_REFUSED);
		break;
	case SM_NOTE_TOO_FAR:
		with_node(l, sm, LOG_TOO_FAR, n->a, LOG_U("num", n->b), LOG_NOT("-"));
		break;
	case SM_NOTE_NO_LID:
		with_node(l, sm, LOG_NO_LID, n->a, LOG_NOT("-"), LOG_NOT("-"));
		break;
	case SM_NOTE_MISMATCH:
		attribute(l, sm, LOG_MISMATCH, n);
		break;
	case SM_NOTE_TRAP:
		log_rec(l, LOG_TRAP, LOG_U("trap", n->a),
			LOG_T("trap_name", iba_trap_name((unsigned)n->a)), LOG_U("lid", n->b));
		break;
	case SM_NOTE_LEFT_OUT:
		attribute(l, sm, LOG_LEFT_OUT, n);
		break;
	case SM_NOTE_PLAN:
		log_rec(l, LOG_PLAN, LOG_T("plan", rt_plan_name((enum rt_plan_kind)n->a)),
			LOG_U("turns", n->b));
		break;
	case SM_NOTE_GONE:
		with_node(l, sm, LOG_GONE, n->a, LOG_NOT("-"), LOG_NOT("-"));
		break;
	case SM_NOTE_NO_ROOM:
		with_node(l, sm, LOG_NO_ROOM, n->a, LOG_U("need", n->b >> 32),
			  LOG_U("has", n->b & UINT32_MAX));
		break;
	case SM_NOTE_GUESS:
		with_node(l, sm, LOG_GUESS, n->a, LOG_NOT("-"), LOG_NOT("-"));
		break;
	case SM_NOTE_HELD:
		with_node(l, sm, LOG_HELD, n->a, LOG_U("num", n->b), LOG_NOT("-"));
		break;
	case SM_NOTE_RELEASED:
		with_node(l, sm, LOG_RELEASED, n->a, LOG_U("num", n->b), LOG_NOT("-"));
		break;
	case SM_NOTE_LID:
		log_rec(l, LOG_LID, node(n->a), LOG_U("lid", n->b >> 8));
		break;
	case SM_NOTE_NAME:
		with_node(l, sm, LOG_NAME, n->a, LOG_NOT("-"), LOG_NOT("-"));
		break;
	case SM_NOTE_STATE:
		log_rec(l, LOG_STATE, LOG_T("from", sm_state(n->a)), LOG_T("to", sm_state(n->b)));
		break;
	case SM_NOTE_OTHER_SM:
		log_rec(l, LOG_OTHER_SM, node(n->a), LOG_T("state", sm_state(n->b & 0xff)),
			LOG_U("priority", n->b >> 8));
		break;
	}
}

void run_round_log(struct run_log *l, const struct run_change *c, bool first)
{
	const struct sm_round *r = &c->round;
	uint64_t smps = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += r->smps[i];
	log_rec(l, first ? LOG_SUBNET_UP : LOG_CHANGE_DONE, LOG_T("cause", sm_cause_name(r->cause)),
		LOG_U("switches", c->switches), LOG_U("hosts", c->nodes - c->switches),
		LOG_U("lids", c->lids), LOG_TIME("took_us", (r->end - r->start) / PS_PER_US),
		LOG_U("smps", smps), LOG_U("blocks", r->sent_blocks), LOG_U("change", c->number),
		r->clean ? LOG_NOT("unanswered") : LOG_T("unanswered", "see warnings"));
}
