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

enum { WHAT_MOST = 20 }; /* links and nodes that the record of a change names */

/* "switch mid0_1 is gone; leaf0_0 port 6 <-> mid0_1 port 1 went down; and 3 more" */
static void what_happened(const struct sm *sm, const struct run_events *ev, enum sm_cause cause,
			  struct strbuf *out)
{
	const struct sm_names names = {sm_names_described, sm};
	size_t shown = MIN(ev->list.n, (size_t)WHAT_MOST), more = ev->list.n - shown + ev->unlisted;

	for (size_t i = 0; i < shown; i++) {
		strbuf_add(out, i ? "; " : "");
		sm_note_text(&ev->list.at[i], &names, out);
		if (cause == SM_CAUSE_ISOLATE && ev->list.at[i].kind == SM_NOTE_LINK_DOWN)
			strbuf_add(out, " for routes: it is sick and isolated");
	}
	if (more)
		strbuf_addf(out, "%sand %zu more", shown ? "; " : "", more);
}

static uint64_t count_of(const struct run_events *ev, enum sm_note_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ev->list.n; i++)
		n += ev->list.at[i].kind == kind;
	return n;
}

void run_round_log(struct run_log *l, const struct sm *sm, const struct run_change *c, bool first)
{
	struct strbuf what = {0};
	const struct run_events *ev = &c->events;
	const struct sm_round *r = &c->round;
	struct record_value how = LOG_T("how", sm_cause_text(r->cause));
	uint64_t smps = 0;

	if (!first)
		what_happened(sm, ev, r->cause, &what);
	how.text_only = true;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += r->smps[i];
	log_rec(l, first ? LOG_SUBNET_UP : LOG_CHANGE_DONE, LOG_T("cause", sm_cause_name(r->cause)),
		how, LOG_U("switches", c->switches),
		LOG_U("hosts", c->nodes - c->switches - c->routers),
		c->routers ? LOG_U("routers", c->routers) : LOG_NOT("routers"),
		LOG_U("lids", c->lids), LOG_TIME("took_us", (r->end - r->start) / PS_PER_US),
		LOG_U("smps", smps), LOG_U("entries", r->entries), LOG_U("blocks", r->sent_blocks),
		LOG_U("change", c->number), LOG_U("nodes_gone", count_of(ev, SM_NOTE_NODE_GONE)),
		LOG_U("nodes_came", count_of(ev, SM_NOTE_NODE_CAME)),
		LOG_U("links_down", count_of(ev, SM_NOTE_LINK_DOWN)),
		LOG_U("links_up", count_of(ev, SM_NOTE_LINK_UP)), LOG_U("unlisted", ev->unlisted),
		what.len ? LOG_T("what", what.s) : LOG_NOT("what"),
		r->clean ? LOG_NOT("unanswered") : LOG_T("unanswered", "see warnings"));
	strbuf_free(&what);
}
