/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of simulated runs: timeline, table, figures. State: struct sim_report. Does not run
 * anything; the same as JSON is in sim_report_json.c.
 */
#include "cli/sim_report.h"
#include "cli/change_report.h"
#include "cli/cli.h"
#include "cli/given_tables_opts.h"
#include "cli/managers_report.h"
#include "lab/message_log.h"
#include "lab/verdict.h"
#include "sm/notes.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

/* ---- the timeline ---- */

static void line(struct sim_report *r, time_ps when, const char *fmt, ...) PRINTF(3, 4);

static void line(struct sim_report *r, time_ps when, const char *fmt, ...)
{
	va_list ap;

	printf("%8llu.%03llu ms  ", (unsigned long long)(when / PS_PER_MS),
	       (unsigned long long)(when / PS_PER_US % 1000));
	if (r->who)
		printf("%-*s  ", r->who_width, r->who);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static uint64_t smps_total(const struct sm_status *st)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += st->smps[i];
	return n;
}

/* With the SMPs sent since the last such line. */
static void line_smps(struct sim_report *r, time_ps when, uint64_t smps, const char *text)
{
	uint64_t *noted = &r->smps_noted[lab_noting(r->lab)];

	if (smps == *noted)
		line(r, when, "%s", text);
	else
		line(r, when, "%-60s %9s SMPs", text, cli_count(smps - *noted));
	*noted = smps;
}

static const char *name_of(const struct sim_report *r, uint64_t guid, char buf[96])
{
	node_id n = fab_node_by_guid(r->fab, guid);

	if (n == FAB_NONE)
		snprintf(buf, 96, "%016llx", (unsigned long long)guid);
	else if (*fab_node_name(r->fab, n))
		snprintf(buf, 96, "%.60s", fab_node_name(r->fab, n));
	else
		fab_node_ident(r->fab, n, buf);
	return buf;
}

/* What a phase achieved; "" where a line would say nothing. Others have the name of the phase. */
static const char *const phase_done[SM_NPHASES] = {
	[SM_OFF] = "",
	[SM_CONFIGURE] = "switches configured",
	[SM_JOIN] = "new switches and links made ready",
	[SM_TABLES] = "forwarding tables written",
	[SM_RESTORE] = "disabled turns enabled again",
	[SM_ARM] = "ports Armed",
	[SM_ACTIVATE] = "ports Active: the subnet is up",
	[SM_AUDIT] = "SMPs were lost or doubled: read back, all as set",
	[SM_READY] = "",
	[SM_SWEEP] = "",
	[SM_MOVE] = "virtual machines moved",
	[SM_STANDBY] = "",
};

static void phase_text(const struct sim_report *r, enum sm_phase p, char *text, size_t size)
{
	const struct sm *sm = lab_manager_sm(r->lab, lab_noting(r->lab));
	const struct fab *f = sm_fabric(sm);
	const struct rt_tables *t = sm_tables(sm);

	if (p == SM_DISCOVER)
		snprintf(text, size, "topology known: %u switches, %u hosts, %u links",
			 f ? f->nswitches : 0, f ? f->nhosts : 0, f ? f->nlinks : 0);
	else if (p == SM_COMPUTE && t && t->entries)
		snprintf(text, size, "routes computed and verified: %s table entries",
			 cli_count(t->entries));
	else if (p == SM_COMPUTE)
		snprintf(text, size, "routes were computed and verified before");
	else if (p == SM_DEACTIVATE)
		snprintf(text, size, "%s", r->stops);
	else if (phase_done[p])
		snprintf(text, size, "%s", phase_done[p]);
	else
		snprintf(text, size, "phase %s done", sm_phase_name(p));
}

static void on_phase_left(struct sim_report *r, const struct sm_note *n)
{
	char text[128];

	phase_text(r, n->phase.from, text, sizeof(text));
	if (*text)
		line_smps(r, n->when, n->smps, text);
}

/* A phase that came to its end, and did something. */
static bool worth_a_line(const struct sim_report *r, const struct sm_note *n)
{
	if (n->phase.to == SM_DISCOVER)
		return n->phase.from == SM_SWEEP;
	return n->phase.from == SM_DISCOVER || n->phase.from == SM_COMPUTE ||
	       n->smps != r->smps_noted[lab_noting(r->lab)];
}

static const char *names_of(const void *ctx, uint64_t guid)
{
	static char buf[4][96]; /* a note names two devices at most */
	static unsigned next;

	return name_of(ctx, guid, buf[next++ % ARRAY_LEN(buf)]);
}

/* The sentence of the note. Sweeps send SMPs that no phase reports. */
static void note_line(struct sim_report *r, const struct sm_note *n)
{
	struct strbuf text = {0};

	sm_note_text(n, &(struct sm_names){names_of, r}, &text);
	if (n->kind == SM_NOTE_CHANGE &&
	    (n->change.cause == SM_CAUSE_SWEEP || n->change.cause == SM_CAUSE_SILENCE))
		line_smps(r, n->when, n->smps, text.s);
	else
		line(r, n->when, "%s", text.s);
	strbuf_free(&text);
}

/* Kinds with a line of their own. A trap has none: the change that follows says whose it is. */
static const bool has_line[SM_NOTE_NKINDS] = {
	[SM_NOTE_CHANGE] = true,	  [SM_NOTE_UNREACHABLE] = true,
	[SM_NOTE_BAD_STATUS] = true,	  [SM_NOTE_RESTART] = true,
	[SM_NOTE_REFUSED] = true,	  [SM_NOTE_TOO_FAR] = true,
	[SM_NOTE_OTHER_ENGINE] = true,	  [SM_NOTE_NO_LID] = true,
	[SM_NOTE_VFS_WITHOUT_LID] = true, [SM_NOTE_MISMATCH] = true,
	[SM_NOTE_LEFT_OUT] = true,	  [SM_NOTE_PLAN] = true,
	[SM_NOTE_NODE_GONE] = true,	  [SM_NOTE_NODE_CAME] = true,
	[SM_NOTE_LINK_DOWN] = true,	  [SM_NOTE_LINK_UP] = true,
	[SM_NOTE_MORE_CHANGES] = true,	  [SM_NOTE_NO_ROOM] = true,
	[SM_NOTE_GUESS] = true,		  [SM_NOTE_HELD] = true,
	[SM_NOTE_RELEASED] = true,	  [SM_NOTE_DUPLICATE] = true,
	[SM_NOTE_NO_DUPLICATE] = true,	  [SM_NOTE_OUT_OF_REACH] = true,
	[SM_NOTE_ENGINE] = true,
};

/* And where there are several managers. */
static bool about_managers(const struct sm_note *n)
{
	return n->kind == SM_NOTE_STATE || n->kind == SM_NOTE_OTHER_SM;
}

static void timeline(struct sim_report *r, const struct sm_note *n)
{
	bool empty_plan = n->kind == SM_NOTE_PLAN && n->plan.kind == RT_PLAN_NOTHING;
	node_id at = lab_manager_node(r->lab, lab_noting(r->lab));
	bool several = lab_managers(r->lab) > 1;
	char who[96];

	name_of(r, r->fab->nodes[at].guid, who);
	r->who = several ? who : NULL;
	if (n->kind == SM_NOTE_START && several)
		line(r, n->when, "starts to discover");
	else if (n->kind == SM_NOTE_START)
		line(r, n->when, "power on; the manager on %s starts to discover", who);
	else if (n->kind == SM_NOTE_PHASE && worth_a_line(r, n))
		on_phase_left(r, n);
	else if ((has_line[n->kind] || (several && about_managers(n))) && !n->more && !empty_plan)
		note_line(r, n);
	r->who = NULL;
	fflush(stdout);
}

/* Without a timeline, once: the user asked for another engine. */
static void warn_engine(struct sim_report *r, const struct sm_note *n)
{
	struct strbuf text = {0};

	sm_note_text(n, &(struct sm_names){names_of, r}, &text);
	cli_warn("%s", text.s);
	strbuf_free(&text);
	r->warned = true;
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct sim_report *r = ctx;

	r->held += n->kind == SM_NOTE_HELD;
	r->released += n->kind == SM_NOTE_RELEASED;
	r->unlisted += n->kind == SM_NOTE_MORE_CHANGES ? n->changes.unlisted : 0;
	if (n->kind == SM_NOTE_PHASE)
		vec_push(&r->phases, (struct sim_phase){n->when, n->phase.to});
	if (sm_note_is_change(n) && r->events.n < SM_NOTES_LISTED)
		vec_push(&r->events, *n);
	else if (sm_note_is_change(n))
		r->unlisted++;
	if (r->timeline)
		timeline(r, n);
	else if (n->kind == SM_NOTE_OTHER_ENGINE && !r->warned)
		warn_engine(r, n);
}

void sim_report_events(const struct sim_report *r, struct json *j)
{
	sm_notes_changes_json(j, r->events.at, r->events.n, &(struct sm_names){names_of, r});
	json_u64(j, "unlisted", r->unlisted);
}

static void on_tick(void *ctx)
{
	struct sim_report *r = ctx;
	struct sm_status st;

	sm_status(lab_sm(r->lab), &st);
	cli_progress("%s: %s SMPs, %s of simulated time", sm_phase_name(st.phase),
		     cli_count(smps_total(&st)), cli_duration(sim_now(lab_sim(r->lab))));
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	static const char *const words[] = {
		[SIM_SEEN_SEND] = "sends", [SIM_SEEN_RECV] = "gets", [SIM_SEEN_DROP] = "lost"};
	struct sim_report *r = ctx;
	struct strbuf b = {0};
	char who[96];

	if (!smp)
		return;
	iba_mad_summary(&b, smp->mad);
	line(r, sim_now(lab_sim(r->lab)), "%s[%u] %s %s%s%s",
	     name_of(r, r->fab->nodes[n].guid, who), port, words[what], b.s,
	     what == SIM_SEEN_DROP ? ": " : "",
	     what == SIM_SEEN_DROP ? sim_drop_name((enum sim_drop)detail) : "");
	strbuf_free(&b);
}

/* A line with the time stands before the messages of that moment. */
static void on_message(void *ctx, enum sim_seen what, node_id n, unsigned port,
		       const struct sim_smp *smp, unsigned detail)
{
	struct sim_report *r = ctx;
	time_ps now = sim_now(lab_sim(r->lab));
	struct strbuf b = {0};

	if (lab_message_line(&b, r->lab, what, n, port, smp, detail)) {
		if (now != r->message_at)
			printf("Time is %llu.%06llu us:\n", (unsigned long long)(now / PS_PER_US),
			       (unsigned long long)(now % PS_PER_US));
		r->message_at = now;
		printf("%s\n", b.s);
	}
	strbuf_free(&b);
}

void sim_report_messages(struct sim_report *r)
{
	r->message_at = TIME_NEVER;
	sim_watch(lab_sim(r->lab), (struct sim_watch){on_message, r});
	sim_watch_smis(lab_sim(r->lab), (struct sim_watch){on_message, r});
}

void sim_report_say(struct sim_report *r, const char *text)
{
	struct sm_status st;

	sm_status(lab_sm(r->lab), &st);
	if (r->timeline)
		line_smps(r, sim_now(lab_sim(r->lab)), smps_total(&st), text);
}

/* ---- taking stock ---- */

void sim_report_init(struct sim_report *r, const struct fab *f, struct lab *l, bool timeline,
		     bool smps)
{
	char who[96];

	memset(r, 0, sizeof(*r));
	r->fab = f;
	r->lab = l;
	r->smps_noted = mem_zarray(lab_managers(l), sizeof(*r->smps_noted));
	for (unsigned i = 0; i < lab_managers(l); i++)
		r->who_width =
			MAX(r->who_width,
			    (int)strlen(name_of(r, f->nodes[lab_manager_node(l, i)].guid, who)));
	r->timeline = timeline;
	r->stops = "traffic stopped where the table update requires it"; /* techniques differ */
	r->wall_start = cli_wall_s();
	lab_on_note(l, on_note, r);
	if (smps)
		sim_watch(lab_sim(l), (struct sim_watch){.seen = on_seen, .ctx = r});
	lab_on_tick(l, on_tick, r);
}

static void judge(struct sim_report *r)
{
	cli_progress_end();
	lab_judge(r->lab, &r->v);
}

void sim_report_flaps(struct sim_report *r)
{
	r->up = *lab_sum(r->lab);
	lab_sum_reset(r->lab);
	r->changed_at = sim_now(lab_sim(r->lab));
	sim_report_say(r, "LINKS BEGIN TO FLAP");
}

void sim_report_up(struct sim_report *r)
{
	*(r->changed_at ? &r->change : &r->up) = *lab_sum(r->lab);
	judge(r);
}

void sim_report_change(struct sim_report *r, const struct lab_change_result *res)
{
	cli_progress_end();
	r->result = res;
	r->settled = res->settled;
	r->changed_at = res->changed_at;
	r->up = res->up;
	r->change = res->sum;
	r->lids_moved = res->lids_moved;
	r->v = res->v;
}

void sim_report_free(struct sim_report *r)
{
	if (!r->result)
		rt_report_free(&r->v.report);
	free(r->smps_noted);
	vec_free(&r->phases);
	vec_free(&r->events);
}

/* ---- the table ---- */

struct row {
	const char *key, *label;
	unsigned phases; /* bits of the phases whose times add up */
	int purpose;	 /* -1: none */
};

static const struct row rows[] = {
	{"discovery", "discovery", 1 << SM_DISCOVER, SM_FOR_DISCOVERY},
	{"configuration", "configuration", 1 << SM_CONFIGURE, SM_FOR_CONFIGURATION},
	{"computation", "route computation", 1 << SM_COMPUTE, -1},
	{"distribution", "table distribution",
	 1 << SM_DEACTIVATE | 1 << SM_JOIN | 1 << SM_TABLES | 1 << SM_RESTORE, SM_FOR_DISTRIBUTION},
	{"activation", "activation", 1 << SM_ARM | 1 << SM_ACTIVATE, SM_FOR_ACTIVATION},
	{"audit", "audit", 1 << SM_AUDIT, SM_FOR_AUDIT},
};

static time_ps row_time(const struct lab_sum *s, const struct row *w)
{
	time_ps t = 0;

	for (unsigned p = 0; p < SM_NPHASES; p++)
		if (w->phases & 1u << p)
			t += s->time[p];
	return t;
}

static uint64_t sum_smps(const struct lab_sum *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += s->smps[i];
	return n;
}

static void row_cells(struct cli_table *t, const struct lab_sum *s, const struct row *w)
{
	cli_table_add(t, "%s", cli_duration(row_time(s, w)));
	if (w->purpose < 0)
		cli_table_add(t, "-");
	else
		cli_table_add(t, "%s", cli_count(s->smps[w->purpose]));
}

static void print_table(struct sim_report *r)
{
	bool two = r->changed_at != 0;
	struct cli_table t;

	if (two)
		cli_table_init(&t, "lrrrr", "phase", "up: time", "SMPs", "change: time", "SMPs");
	else
		cli_table_init(&t, "lrr", "phase", "time", "SMPs");
	if (two) {
		cli_table_add(&t, "detection");
		cli_table_add(&t, "-");
		cli_table_add(&t, "-");
		cli_table_add(&t, "%s",
			      r->change.rounds ? cli_duration(r->change.first_start - r->changed_at)
					       : "-");
		cli_table_add(
			&t, "%s",
			cli_count(r->change.smps[SM_FOR_SWEEP] + r->change.smps[SM_FOR_TRAP]));
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].purpose == SM_FOR_AUDIT && !r->up.smps[SM_FOR_AUDIT] &&
		    !r->change.smps[SM_FOR_AUDIT])
			continue;
		cli_table_add(&t, "%s", rows[i].label);
		row_cells(&t, &r->up, &rows[i]);
		if (two)
			row_cells(&t, &r->change, &rows[i]);
	}
	cli_table_add(&t, "total");
	cli_table_add(&t, "%s", cli_duration(r->up.last_end - r->up.first_start));
	cli_table_add(&t, "%s", cli_count(sum_smps(&r->up)));
	if (two) {
		cli_table_add(&t, "%s",
			      r->change.rounds ? cli_duration(r->change.last_end - r->changed_at)
					       : "-");
		cli_table_add(&t, "%s", cli_count(sum_smps(&r->change)));
	}
	cli_table_print(&t, stdout);
}

const char *sim_report_state(const struct sim_report *r)
{
	if (!r->settled)
		return "unsettled";
	return r->v.active && r->v.complete ? "active" : "incomplete";
}

static void clients_text(const struct lab_clients_count *n)
{
	if (!n->clients)
		return;
	printf("%u of %u hosts have all their answers: %s requests, %s repeated, %s busy, %s refused; ",
	       n->done, n->clients, cli_count(n->requests), cli_count(n->repeated),
	       cli_count(n->busy), cli_count(n->refused));
	printf("an answer after %s on average, %s at most\n", cli_duration(n->mean_ps),
	       cli_duration(n->longest_ps));
	if (n->gave_up)
		printf("%u hosts gave up: a request was refused %s times, at last with status 0x%04x\n",
		       n->gave_up, cli_count(n->refused), n->last_status);
	printf("%s paths, %s members of the broadcast group: ", cli_count(n->paths),
	       cli_count(n->members));
	if (n->wrong_paths || n->wrong_trees)
		printf("WRONG are %s paths and %s pairs of members\n", cli_count(n->wrong_paths),
		       cli_count(n->wrong_trees));
	else
		printf("devices lead where these say\n");
}

void sim_report_text(struct sim_report *r)
{
	struct sm_status st;
	unsigned most;

	sm_status(lab_sm(r->lab), &st);
	if (r->timeline)
		putchar('\n');
	print_table(r);
	putchar('\n');
	given_text();
	managers_text(r->lab);
	printf("state %s, %s: %u nodes, %u LIDs", sim_report_state(r),
	       r->v.verified ? "verified" : "NOT verified", r->v.nodes, r->v.lids);
	if (sm_lanes(lab_sm(r->lab), &most) > 1)
		printf(", %u of %u lanes", sm_lanes(lab_sm(r->lab), &most), most);
	if (r->v.unreached)
		printf(", %u nodes are not connected to the manager's", r->v.unreached);
	if (r->result)
		printf(", %u LIDs moved", r->lids_moved);
	if (r->held)
		printf(", links held: %u, released: %u", r->held, r->released);
	if (st.retries)
		printf(", %s SMPs repeated", cli_count(st.retries));
	printf("\n");
	if (r->v.why[0])
		printf("why: %s\n", r->v.why);
	if (r->result && r->result->traffic_at)
		change_report_text(r);
	clients_text(&r->clients);
	printf("simulated %s in %.2f s, %.0f MiB, trace hash %016llx\n",
	       cli_duration(sim_now(lab_sim(r->lab))), cli_wall_s() - r->wall_start, cli_rss_mib(),
	       (unsigned long long)sim_hash(lab_sim(r->lab)));
}

/* ---- figures ---- */

unsigned sim_change_smps(const struct lab_sum *s, struct sim_figure at[SIM_FIGURES])
{
	unsigned n = 0;

	at[n++] = (struct sim_figure){"detection", s->smps[SM_FOR_SWEEP] + s->smps[SM_FOR_TRAP]};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].purpose >= 0)
			at[n++] = (struct sim_figure){rows[i].key, s->smps[rows[i].purpose]};
	at[n++] = (struct sim_figure){"total", sum_smps(s)};
	return n;
}

/* Provisional and final: from the moment the change was noticed until those tables were in place. */
unsigned sim_change_times(const struct lab_sum *s, time_ps since, struct sim_figure at[SIM_FIGURES])
{
	unsigned n = 0;

	at[n++] = (struct sim_figure){"detection", s->rounds ? s->first_start - since : 0};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		at[n++] = (struct sim_figure){rows[i].key, row_time(s, &rows[i])};
	at[n++] = (struct sim_figure){
		"provisional",
		s->in_place[SM_PROVISIONAL] ? s->in_place[SM_PROVISIONAL] - s->first_start : 0};
	at[n++] = (struct sim_figure){
		"final", s->in_place[SM_FINAL] ? s->in_place[SM_FINAL] - s->first_start : 0};
	at[n++] = (struct sim_figure){"total", s->rounds ? s->last_end - since : 0};
	return n;
}
