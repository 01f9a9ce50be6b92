/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays a schedule and tells its story, as text and as a drawing. State: struct replay, for one command. Way in:
 * swarm_replay(). Does not run or judge: src/trial does.
 */
#include "cli/cli.h"
#include "cli/swarm_report.h"
#include "draw/lanes_chart.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/notes.h"
#include "trial/schedule_run.h"

/* States of a manager in the drawing: those of IBA, then those of its process. */
enum { STOPPED = IBA_SM_MASTER + 1, PAUSED, NSTATES };

static const char *const state_names[NSTATES] = {
	[IBA_SM_NOT_ACTIVE] = "NotActive",
	[IBA_SM_DISCOVERING] = "Discovering",
	[IBA_SM_STANDBY] = "Standby",
	[IBA_SM_MASTER] = "Master",
	[STOPPED] = "stopped",
	[PAUSED] = "paused",
};

static const char *const state_colours[NSTATES] = {
	[IBA_SM_NOT_ACTIVE] = "#d9d2c5", [IBA_SM_DISCOVERING] = "#fbe3b6",
	[IBA_SM_STANDBY] = "#cfe0f3",	 [IBA_SM_MASTER] = "#6fbf8b",
	[STOPPED] = "#f0f0f0",		 [PAUSED] = "#c9a3d6",
};

struct replay {
	const struct swarm_opts *o;
	const struct schedule *s;
	const struct fab *fab;
	bool timeline;
	VEC(struct lanes_span) spans;
	VEC(struct lanes_mark) marks;
	unsigned *state; /* by manager, */
	time_ps *since;	 /* and when it began */
};

/* ---- states over time ---- */

static unsigned state_of(const struct lab *l, unsigned i)
{
	if (!lab_manager_sm(l, i))
		return STOPPED;
	return lab_manager_paused(l, i) ? PAUSED : lab_manager_status(l, i)->state;
}

static void close_span(struct replay *p, unsigned i, time_ps now)
{
	if (now > p->since[i])
		vec_push(&p->spans, (struct lanes_span){i, p->state[i], p->since[i], now});
	p->since[i] = now;
}

static void see_states(struct replay *p, struct lab *l)
{
	time_ps now = sim_now(lab_sim(l));

	for (unsigned i = 0; i < lab_managers(l); i++) {
		unsigned is = state_of(l, i);

		if (is == p->state[i])
			continue;
		close_span(p, i, now);
		p->state[i] = is;
	}
}

static const char *name_of(const void *ctx, uint64_t guid)
{
	static char buf[4][96]; /* a note names two devices at most */
	static unsigned next;
	const struct replay *p = ctx;
	node_id n = fab_node_by_guid(p->fab, guid);
	char *s = buf[next++ % ARRAY_LEN(buf)];

	if (n == FAB_NONE)
		snprintf(s, 96, "%016llx", (unsigned long long)guid);
	else if (*fab_node_name(p->fab, n))
		snprintf(s, 96, "%.60s", fab_node_name(p->fab, n));
	else
		fab_node_ident(p->fab, n, s);
	return s;
}

static void line(const struct lab *l, const char *who, const char *text)
{
	time_ps t = sim_now(lab_sim((struct lab *)l));

	printf("%8llu.%03llu ms  %-10s  %s\n", (unsigned long long)(t / PS_PER_MS),
	       (unsigned long long)(t / PS_PER_US % 1000), who, text);
}

/* Sweeps that find nothing, and what every bring-up has a hundred times, would hide the rest. */
static bool is_shown(const struct sm_note *n)
{
	if (n->kind == SM_NOTE_PHASE)
		return n->phase.to != SM_SWEEP && n->phase.from != SM_SWEEP;
	return !n->more && n->kind != SM_NOTE_LID && n->kind != SM_NOTE_NAME &&
	       n->kind != SM_NOTE_TRAP;
}

static void on_note(void *ctx, struct lab *l, unsigned manager, const struct sm_note *n)
{
	struct replay *p = ctx;
	struct strbuf text = {0};
	char who[32];

	see_states(p, l);
	if (!p->timeline || !is_shown(n))
		return;
	snprintf(who, sizeof(who), "manager %u", manager);
	sm_note_text(n, &(struct sm_names){name_of, p}, &text);
	line(l, who, text.s ? text.s : "");
	strbuf_free(&text);
}

static void on_event(void *ctx, struct lab *l, const struct schedule_event *ev)
{
	struct replay *p = ctx;
	bool of_manager = strchr(schedule_words[ev->kind].operands, 'M');
	struct strbuf text = {0};

	schedule_event_write(ev, &text);
	if (p->timeline)
		line(l, "FAULT", text.s);
	see_states(p, l);
	vec_push(&p->marks, (struct lanes_mark){sim_now(lab_sim(l)),
						of_manager ? (int)ev->manager : -1, text.s});
}

static void on_changed(void *ctx, struct lab *l)
{
	see_states(ctx, l);
}

static void on_say(void *ctx, struct lab *l, const char *text)
{
	struct replay *p = ctx;

	if (p->timeline)
		line(l, "", text);
}

static int print_json(const struct schedule_result *r)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_bool(&j, "ok", !r->fault);
	json_str(&j, "why", r->why);
	json_str(&j, "fault", schedule_fault_name(r->fault));
	json_u64(&j, "switches", r->switches);
	json_u64(&j, "hosts", r->hosts);
	json_u64(&j, "links", r->links);
	json_u64(&j, "smps", r->smps);
	json_u64(&j, "events", r->sim_events);
	json_seconds(&j, "time_s", r->end);
	json_hex64(&j, "trace_hash", r->hash);
	json_close(&j);
	return cli_print_json(&j);
}

static int draw(struct replay *p, const struct schedule_result *r)
{
	unsigned n = (unsigned)p->s->managers.n;
	char(*names)[64] = mem_zarray(n, sizeof(*names));
	const char **lanes = mem_array(n, sizeof(*lanes));
	struct strbuf svg = {0};
	struct lanes_chart c = {.title = p->o->replay,
				.note = r->fault ? r->why : NULL,
				.x_label = "simulated time in ms",
				.x_unit = PS_PER_MS,
				.to = r->end,
				.lanes = lanes,
				.nlanes = n,
				.states = state_names,
				.colours = state_colours,
				.nstates = NSTATES,
				.spans = p->spans.at,
				.nspans = p->spans.n,
				.marks = p->marks.at,
				.nmarks = p->marks.n};

	for (unsigned i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%u: %.32s, priority %u", i,
			 name_of(p, p->s->managers.at[i].guid), p->s->managers.at[i].sm.priority);
		lanes[i] = names[i];
	}
	lanes_chart_svg(&c, &svg);
	free(names);
	free(lanes);
	return cli_write(p->o->svg, &svg);
}

static int report(struct replay *p, const struct schedule_result *r)
{
	if (p->o->svg && draw(p, r))
		return CLI_BAD;
	if (cli_json)
		return print_json(r) ? CLI_BAD : CLI_OK;
	printf("%s%s: %u switches, %u hosts, %s SMPs, %s, hash %016llx\n",
	       r->fault ? "FAILED: " : "ok", r->why, r->switches, r->hosts, cli_count(r->smps),
	       cli_duration(r->end), (unsigned long long)r->hash);
	return CLI_OK;
}

static void replay_free(struct replay *p)
{
	for (size_t i = 0; i < p->marks.n; i++)
		free((char *)p->marks.at[i].text);
	vec_free(&p->marks);
	vec_free(&p->spans);
	free(p->state);
	free(p->since);
}

static void run(struct replay *p, struct schedule_result *r)
{
	struct schedule_story story = {
		.ctx = p, .note = on_note, .event = on_event, .changed = on_changed, .say = on_say};

	schedule_run(p->s, &story, r);
	for (unsigned i = 0; i < p->s->managers.n; i++)
		close_span(p, i, r->end);
}

int swarm_replay(const struct swarm_opts *o)
{
	struct replay p = {.o = o, .timeline = o->timeline && !cli_json};
	struct schedule_result r;
	struct schedule s;
	struct fab *f;
	struct err e;
	int rc;

	if (schedule_load(&s, &f, o->replay, &e))
		return cli_bad("%s", e.text);
	p.s = &s;
	p.fab = f;
	p.state = mem_zarray(s.managers.n, sizeof(*p.state));
	p.since = mem_zarray(s.managers.n, sizeof(*p.since));
	run(&p, &r);
	rc = report(&p, &r);
	replay_free(&p);
	fab_free(f);
	schedule_free(&s);
	return rc == CLI_OK && r.fault ? CLI_NO : rc;
}
