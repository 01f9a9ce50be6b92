/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes of the manager, and its rounds, for the log. State: none. Ways in: run_note_log(),
 * run_round_log(). Does not act on anything.
 */
#include "run/daemon.h"

void run_note_log(struct run_log *l, const struct sm *sm, const struct sm_note *n)
{
	log_note(l, n, &(struct sm_names){sm_names_described, sm});
}

void run_round_log(struct run_log *l, const struct run_change *c, bool first)
{
	const struct sm_round *r = &c->round;
	struct record_value how = LOG_T("how", sm_cause_text(r->cause));
	uint64_t smps = 0;

	how.text_only = true;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += r->smps[i];
	log_rec(l, first ? LOG_SUBNET_UP : LOG_CHANGE_DONE, LOG_T("cause", sm_cause_name(r->cause)),
		how, LOG_U("switches", c->switches),
		LOG_U("hosts", c->nodes - c->switches - c->routers),
		c->routers ? LOG_U("routers", c->routers) : LOG_NOT("routers"),
		LOG_U("lids", c->lids), LOG_TIME("took_us", (r->end - r->start) / PS_PER_US),
		LOG_U("smps", smps), LOG_U("entries", r->entries), LOG_U("blocks", r->sent_blocks),
		LOG_U("change", c->number),
		r->clean ? LOG_NOT("unanswered") : LOG_T("unanswered", "see warnings"));
}
