/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal: faults that were clicked, those still to come, and the script of both. State: the journal of struct
 * window_run. Way in: the commands event, journal and script, and window_journal_start(). Does not know what a fault
 * does: src/trial does.
 *
 * A node that is added becomes part of the fabric, which a run cannot change. So the run is made again on the larger
 * fabric, with the same faults, and goes to the moment of the click. Until its own moment the node has no power and no
 * cable, and changes nothing.
 */
#include "window/window_priv.h"

static void write_entry(struct json *j, const char *key, const struct schedule_event *ev)
{
	struct strbuf text = {0};
	char at[24];

	schedule_event_write(ev, &text);
	snprintf(at, sizeof(at), "%llu", (unsigned long long)ev->at);
	json_open(j, key, '{');
	json_str(j, "at", at);
	json_str(j, "text", text.s);
	json_close(j);
	strbuf_free(&text);
}

static void emit_journal(struct window *w, const struct schedule_event *ev)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	write_entry(&j, "journal", ev);
	json_close(&j);
	window_emit_json(w, &j);
}

static int read_event(struct window *w, json_t *args, struct schedule_event *ev, struct err *e)
{
	const struct schedule *s = w->run ? &w->run->schedule : &w->next;
	const char *text;

	if (window_arg_text(args, "text", &text, e))
		return -EINVAL;
	if (strlen(text) > 10000)
		return err_set(e, -EINVAL, "text: expected at most 10000 characters");
	return schedule_event_read(ev, s, w->fabric.fab, text, e);
}

/* ---- nodes that are added ---- */

static bool is_new_node(const struct window *w, const struct schedule_event *ev)
{
	return ev->kind == SCHEDULE_ADD &&
	       fab_node_by_guid(w->fabric.fab, ev->port.guid) == FAB_NONE;
}

static int check_room(const struct window *w, struct err *e)
{
	const struct window_fabric *wf = &w->fabric;

	if (wf->fab->nnodes - wf->base->nnodes >= SCHEDULE_ADDED)
		return err_set(e, -EINVAL, "expected at most %d nodes that are added",
			       SCHEDULE_ADDED);
	return 0;
}

/* The run again, on a fabric with this node. Faults that happened are to come now, and this one after them. */
static void run_again(struct window *w, struct schedule_event *ev)
{
	struct window_run *r = w->run;
	enum window_mode mode = r->mode;
	time_ps now = sim_now(r->sim);
	struct schedule s = r->schedule;
	struct err e;

	schedule_init(&r->schedule); /* s has it */
	ev->at = now;
	vec_push(&s.events, *ev);
	window_run_free(w);
	window_fabric_extend(w, schedule_fabric_with(w->fabric.fab, ev));
	if (window_run_new(w, &s, &e))
		assert(!"a run cannot be made again");
	r = w->run;
	for (size_t i = 0; i < s.events.n; i++)
		vec_push(&r->to_come, s.events.at[i]);
	s.events.n = 0;
	schedule_free(&s);
	r->mode = WINDOW_GOING;
	r->target = now;
	r->goes_on = mode == WINDOW_RUNNING;
	window_emit_fabric(w);
}

/* ---- clicks ---- */

static int check_click(struct window *w, const struct schedule_event *ev, struct err *e)
{
	node_id n = ev->kind == SCHEDULE_ADD ? fab_node_by_guid(w->fabric.fab, ev->port.guid)
					     : FAB_NONE;

	if (n != FAB_NONE && sim_node_on(w->run->sim, n))
		return err_set(e, -EINVAL, "text: expected a GUID that no node has");
	return is_new_node(w, ev) ? check_room(w, e) : 0;
}

/* From here the run takes another course than the journal says. */
int window_cmd_event(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct schedule_event ev;

	(void)reply;
	if (!window_run_on(w, e))
		return -EINVAL;
	if (w->run->mode == WINDOW_GOING)
		return err_set(e, -EINVAL, "expected no fault while the run goes to a moment");
	if (w->run->schedule.events.n >= WINDOW_JOURNAL_MAX)
		return err_set(e, -EINVAL, "expected at most %d faults in a run",
			       WINDOW_JOURNAL_MAX);
	if (read_event(w, args, &ev, e))
		return -EINVAL;
	if (check_click(w, &ev, e)) {
		vec_free(&ev.nodes);
		return -EINVAL;
	}
	window_to_come_free(w->run);
	window_run_finish_moment(w);
	if (is_new_node(w, &ev)) {
		run_again(w, &ev);
		emit_journal(w, &ev);
		return 0;
	}
	window_run_event(w, &ev);
	emit_journal(w, &ev);
	w->show = true;
	return 0;
}

/* ---- events to come ---- */

static bool same_event(const struct schedule_event *a, const struct schedule_event *b)
{
	struct strbuf x = {0}, y = {0};
	bool same;

	schedule_event_write(a, &x);
	schedule_event_write(b, &y);
	same = a->at == b->at && !strcmp(x.s, y.s);
	strbuf_free(&x);
	strbuf_free(&y);
	return same;
}

static bool has_happened(const struct window_run *r, const struct schedule_event *ev)
{
	for (size_t i = r->schedule.events.n; i--;)
		if (r->schedule.events.at[i].at <= ev->at)
			return same_event(&r->schedule.events.at[i], ev) ||
			       (i && r->schedule.events.at[i - 1].at == ev->at &&
				same_event(&r->schedule.events.at[i - 1], ev));
	return false;
}

/* Faults that have happened are left out. */
static int add_to_come(struct window *w, json_t *item, struct err *e)
{
	struct window_run *r = w->run;
	struct schedule_event ev;
	uint64_t at;

	if (window_arg_u64(item, "at", 86400 * PS_PER_S, &at, e) || read_event(w, item, &ev, e))
		return -EINVAL;
	ev.at = at;
	if (at <= sim_now(r->sim) && has_happened(r, &ev)) {
		vec_free(&ev.nodes);
		return 0;
	}
	if (at < sim_now(r->sim) || (r->to_come.n && r->to_come.at[r->to_come.n - 1].at > at)) {
		vec_free(&ev.nodes);
		return err_set(e, -EINVAL, "events: expected times from now on, in order");
	}
	vec_push(&r->to_come, ev);
	return 0;
}

static int take_journal(struct window *w, json_t *args, struct err *e)
{
	json_t *list = json_object_get(args, "events");
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n > WINDOW_JOURNAL_MAX)
		return err_set(e, -EINVAL, "events: expected at most %d of them",
			       WINDOW_JOURNAL_MAX);
	window_to_come_free(w->run);
	for (size_t i = 0; i < n; i++)
		if (add_to_come(w, json_array_get(list, i), e)) {
			window_to_come_free(w->run);
			return -EINVAL;
		}
	return 0;
}

int window_cmd_journal(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	if (!window_run_on(w, e) || take_journal(w, args, e))
		return -EINVAL;
	json_u64(reply, "to_come", w->run->to_come.n);
	return 0;
}

/* Faults of a run that begins: nodes that they add are made first. */
static int extend_fabric(struct window *w, json_t *list, struct err *e)
{
	struct schedule_event ev;
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(json_object_get(item, "text"));

		if (!text || strncmp(text, "add ", 4))
			continue;
		if (read_event(w, item, &ev, e))
			return -EINVAL;
		if (!is_new_node(w, &ev) || check_room(w, e))
			return err_set(e, -EINVAL, "events: %.100s: this node is there", text);
		window_fabric_extend(w, schedule_fabric_with(w->fabric.fab, &ev));
	}
	return 0;
}

int window_journal_start(struct window *w, json_t *events, struct err *e)
{
	bool extended = w->fabric.fab != w->fabric.base;
	json_t *args;
	int rc;

	window_run_free(w);
	if (extended)
		window_fabric_extend(w, NULL);
	rc = extend_fabric(w, events, e);
	if (extended || w->fabric.fab != w->fabric.base)
		window_emit_fabric(w);
	if (rc || window_run_new(w, &w->next, e))
		return -EINVAL;
	if (!events)
		return 0;
	args = json_pack("{s:O}", "events", events);
	rc = take_journal(w, args, e);
	json_decref(args);
	if (rc)
		window_run_free(w);
	return rc;
}

void window_journal_write(const struct window *w, struct json *reply)
{
	const struct window_run *r = w->run;

	json_open(reply, "journal", '[');
	for (size_t i = 0; i < r->schedule.events.n; i++)
		write_entry(reply, NULL, &r->schedule.events.at[i]);
	for (size_t i = r->next; i < r->to_come.n; i++)
		write_entry(reply, NULL, &r->to_come.at[i]);
	json_close(reply);
	if (r->mode != WINDOW_RUNNING)
		json_u64(reply, "speed", 0);
	else if (r->speed < 0)
		json_str(reply, "speed", "max");
	else
		json_double(reply, "speed", r->speed);
	json_bool(reply, "log", r->log.on);
}

size_t window_journal(const struct window *w, void (*each)(void *ctx, time_ps at, const char *text),
		      void *ctx)
{
	const struct window_run *r = w->run;
	size_t n = r ? r->schedule.events.n : 0, all = r ? n + r->to_come.n - r->next : 0;

	for (size_t i = 0; each && i < all; i++) {
		const struct schedule_event *ev =
			i < n ? &r->schedule.events.at[i] : &r->to_come.at[r->next + i - n];
		struct strbuf text = {0};

		schedule_event_write(ev, &text);
		each(ctx, ev->at, text.s);
		strbuf_free(&text);
	}
	return n;
}

time_ps window_next_fault(const struct window *w)
{
	const struct window_run *r = w->run;

	return r && r->next < r->to_come.n ? r->to_come.at[r->next].at : TIME_NEVER;
}

/* ---- the script ---- */

int window_cmd_script(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct schedule s = w->run ? w->run->schedule : w->next; /* only to be written */
	struct strbuf text = {0};
	char number[24];

	(void)args;
	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	if (w->run) {
		time_ps was = sim_now(w->run->sim);

		window_run_finish_moment(w); /* a script cannot name a moment within a picosecond */
		s = w->run->schedule;
		s.until = sim_now(w->run->sim);
		w->show |= s.until != was;
	}
	schedule_write(&s, &text);
	json_str(reply, "text", text.s);
	strbuf_free(&text);
	if (s.netlist)
		json_str(reply, "netlist", s.netlist);
	window_engines_write(reply);
	if (!w->run)
		return 0;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s.until);
	json_str(reply, "at", number);
	snprintf(number, sizeof(number), "%016llx",
		 (unsigned long long)sim_trace_hash(w->run->sim));
	json_str(reply, "hash", number);
	return 0;
}
