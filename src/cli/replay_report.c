/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays a schedule and tells its story, as text and as a drawing. State: struct replay, for one command. Way in:
 * swarm_replay(). Does not run or judge: src/trial does.
 */
#include "cli/cli.h"
#include "cli/replay_drawing.h"
#include "cli/swarm_report.h"
#include "sim/kernel/sim_kernel.h"
#include "sm/notes.h"
#include "trial/schedule_run.h"

/* Phases that follow each other without another line between. */
struct phases {
	bool any;
	unsigned manager;
	time_ps from, until;
	uint64_t smps;
	struct strbuf text;
};

struct replay {
	const struct swarm_opts *o;
	const struct schedule *s;
	const struct fab *fab;
	bool timeline;
	struct phases phases;
	struct replay_drawing drawing;
};

static time_ps now_of(const struct lab *l)
{
	return sim_now(lab_sim((struct lab *)l));
}

/* ---- names ---- */

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

/* An event in the words of the schedule, but with names instead of GUIDs: "cut sw1, sw3", "pause manager 0". */
static void event_text(const struct replay *p, const struct schedule_event *ev, struct strbuf *out)
{
	bool of_manager = strchr(schedule_words[ev->kind].operands, 'M');
	struct strbuf text = {0};
	const char *s;

	schedule_event_write(ev, &text);
	for (s = text.s; *s; s++) {
		if (s[0] == '0' && s[1] == 'x') {
			char *end;
			uint64_t guid = strtoull(s, &end, 16);

			strbuf_add(out, name_of(p, guid));
			strbuf_add(out, !strncmp(end, " 0x", 3) ? "," : "");
			s = end - 1;
		} else {
			strbuf_addn(out, s, 1);
		}
		if (*s == ' ' && of_manager) {
			strbuf_add(out, "manager ");
			of_manager = false;
		}
	}
	strbuf_free(&text);
}

/* Does the event end a fault? */
static bool is_end(const struct schedule_event *ev)
{
	switch (ev->kind) {
	case SCHEDULE_RESTART:
	case SCHEDULE_CONTINUE:
	case SCHEDULE_PLUG:
	case SCHEDULE_ON:
	case SCHEDULE_RELINK:
	case SCHEDULE_JOIN:
	case SCHEDULE_ADD:
	case SCHEDULE_LINK:
		return true;
	case SCHEDULE_LOSS:
	case SCHEDULE_DELAY:
	case SCHEDULE_DUP:
	case SCHEDULE_LIE:
		return !ev->share;
	case SCHEDULE_LATENCY:
		return !ev->time;
	case SCHEDULE_CRASH:
	case SCHEDULE_PAUSE:
	case SCHEDULE_HANDOVER:
	case SCHEDULE_RESYNC:
	case SCHEDULE_ORDER:
	case SCHEDULE_PULL:
	case SCHEDULE_MOVE:
	case SCHEDULE_OFF:
	case SCHEDULE_REBOOT:
	case SCHEDULE_UNLINK:
	case SCHEDULE_CUT:
	case SCHEDULE_ROGUE:
	case SCHEDULE_SEAT:
	case SCHEDULE_NKINDS:
		return false;
	}
	return false;
}

/* ---- the timeline ---- */

static void print_line(time_ps t, const char *who, const char *text)
{
	printf("%8llu.%03llu ms  %-10s  %s\n", (unsigned long long)(t / PS_PER_MS),
	       (unsigned long long)(t / PS_PER_US % 1000), who, text);
}

static void end_phases(struct replay *p)
{
	struct phases *ph = &p->phases;
	char who[32];

	if (!ph->any)
		return;
	if (ph->until > ph->from)
		strbuf_addf(&ph->text, " at %llu.%03llu ms",
			    (unsigned long long)(ph->until / PS_PER_MS),
			    (unsigned long long)(ph->until / PS_PER_US % 1000));
	strbuf_addf(&ph->text, ", %s SMPs so far", cli_count(ph->smps));
	snprintf(who, sizeof(who), "manager %u", ph->manager);
	print_line(ph->from, who, ph->text.s);
	strbuf_free(&ph->text);
	*ph = (struct phases){.any = false};
}

static void line(struct replay *p, const struct lab *l, const char *who, const char *text)
{
	if (!p->timeline)
		return;
	end_phases(p);
	print_line(now_of(l), who, text);
}

static void on_phase(struct replay *p, unsigned manager, const struct sm_note *n)
{
	struct phases *ph = &p->phases;

	if (!p->timeline)
		return;
	if (ph->any && ph->manager != manager)
		end_phases(p);
	if (!ph->any) {
		*ph = (struct phases){.any = true, .manager = manager, .from = n->when};
		strbuf_add(&ph->text, sm_phase_name(n->phase.from));
	}
	strbuf_addf(&ph->text, " -> %s", sm_phase_name(n->phase.to));
	ph->until = n->when;
	ph->smps = n->smps;
}

/* Sweeps that find nothing, and what every bring-up has a hundred times, would hide the rest. */
static bool is_shown(const struct sm_note *n)
{
	if (n->kind == SM_NOTE_PHASE)
		return n->phase.to != n->phase.from && n->phase.to != SM_SWEEP &&
		       (n->phase.from != SM_SWEEP || n->phase.to != SM_READY);
	if (n->kind == SM_NOTE_PLAN)
		return n->plan.kind != RT_PLAN_NOTHING;
	return !n->more && n->kind != SM_NOTE_LID && n->kind != SM_NOTE_NAME &&
	       n->kind != SM_NOTE_TRAP;
}

static void on_note(void *ctx, struct lab *l, unsigned manager, const struct sm_note *n)
{
	struct replay *p = ctx;
	struct strbuf text = {0};
	char who[32];

	replay_drawing_see(&p->drawing, l, now_of(l));
	if (!is_shown(n))
		return;
	if (n->kind == SM_NOTE_PHASE) {
		on_phase(p, manager, n);
		return;
	}
	snprintf(who, sizeof(who), "manager %u", manager);
	sm_note_text(n, &(struct sm_names){name_of, p}, &text);
	line(p, l, who, text.s ? text.s : "");
	strbuf_free(&text);
}

static void on_event(void *ctx, struct lab *l, const struct schedule_event *ev)
{
	struct replay *p = ctx;
	bool of_manager = strchr(schedule_words[ev->kind].operands, 'M');
	struct strbuf text = {0};

	event_text(p, ev, &text);
	line(p, l, is_end(ev) ? "END" : "FAULT", text.s);
	replay_drawing_see(&p->drawing, l, now_of(l));
	replay_drawing_mark(&p->drawing, now_of(l), of_manager ? (int)ev->manager : -1,
			    is_end(ev) ? LANES_END : LANES_FAULT, text.s);
	strbuf_free(&text);
}

static void on_changed(void *ctx, struct lab *l)
{
	replay_drawing_see(&((struct replay *)ctx)->drawing, l, now_of(l));
}

static void on_say(void *ctx, struct lab *l, const char *text)
{
	struct replay *p = ctx;

	line(p, l, "", text);
	replay_drawing_mark(&p->drawing, now_of(l), -1, LANES_NOTE, text);
}

/* Who is who. */
static void print_managers(const struct replay *p)
{
	for (unsigned i = 0; p->timeline && i < p->s->managers.n; i++) {
		const struct schedule_manager *m = &p->s->managers.at[i];

		printf("manager %u: %s, GUID 0x%016llx, priority %u, mechanism %s%s%s\n", i,
		       name_of(p, m->guid), (unsigned long long)m->guid, m->sm.priority,
		       m->sm.mechanism.name, m->start ? ", starts at " : "",
		       m->start ? cli_duration(m->start) : "");
	}
}

/* ---- results ---- */

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
	json_hex64(&j, "faults_trace_hash", r->trace);
	json_close(&j);
	return cli_print_json(&j);
}

/* The first line of a schedule, if it is a comment: what it is about. The caller frees it. */
static char *comment_of(const char *path)
{
	size_t len, n;
	struct err e;
	char *text, *s;

	if (!strcmp(path, "-") || file_read(path, &text, &len, &e))
		return NULL;
	n = strcspn(text, "\n");
	text[n] = 0;
	s = *text == '#' ? mem_strdup(text + 1 + strspn(text + 1, " ")) : NULL;
	free(text);
	return s;
}

static int draw(struct replay *p, const struct schedule_result *r)
{
	const char *slash = strrchr(p->o->replay, '/');
	unsigned n = (unsigned)p->s->managers.n;
	char(*names)[128] = mem_zarray(n, sizeof(*names));
	const char **lanes = mem_array(n, sizeof(*lanes));
	char *comment = comment_of(p->o->replay);
	struct strbuf svg = {0}, note = {0};

	for (unsigned i = 0; i < n; i++) {
		const struct schedule_manager *m = &p->s->managers.at[i];

		snprintf(names[i], sizeof(names[i]), "%u: %.32s, priority %u, %s", i,
			 name_of(p, m->guid), m->sm.priority, m->sm.mechanism.name);
		lanes[i] = names[i];
	}
	strbuf_addf(&note, "%s%s: %u switches, %u hosts, %s SMPs", r->fault ? "FAILED: " : "ok",
		    r->why, r->switches, r->hosts, cli_count(r->smps));
	replay_drawing_svg(&p->drawing, r->end, lanes,
			   (struct lanes_chart){.title = slash ? slash + 1 : p->o->replay,
						.subtitle = comment,
						.note = note.s},
			   &svg);
	strbuf_free(&note);
	free(comment);
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

int swarm_replay(const struct swarm_opts *o)
{
	struct replay p = {.o = o, .timeline = o->timeline && !cli_json};
	struct schedule_story story = {.ctx = &p,
				       .note = on_note,
				       .event = on_event,
				       .changed = on_changed,
				       .say = on_say};
	struct schedule_result r;
	struct schedule s;
	struct fab *f;
	struct err e;
	int rc;

	if (schedule_load(&s, &f, o->replay, &e))
		return cli_bad("%s", e.text);
	p.s = &s;
	p.fab = f;
	replay_drawing_init(&p.drawing, (unsigned)s.managers.n);
	print_managers(&p);
	schedule_run(&s, &story, &r);
	end_phases(&p);
	rc = report(&p, &r);
	replay_drawing_free(&p.drawing);
	fab_free(f);
	schedule_free(&s);
	return rc == CLI_OK && r.fault ? CLI_NO : rc;
}
