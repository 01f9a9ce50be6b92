/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that drive the run. State: none of its own. Way in: the table of window.c. Does not run anything except for
 * faults: window_work() does.
 */
#include "window/window_priv.h"

int window_cmd_start(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	(void)args;
	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	if (window_run_new(w, e))
		return -EINVAL;
	w->run->mode = w->speed ? WINDOW_RUNNING : WINDOW_PAUSED;
	window_series_names(reply);
	json_open(reply, "phases", '[');
	for (unsigned i = 0; i < SM_NPHASES; i++)
		json_str(reply, NULL, sm_phase_name((enum sm_phase)i));
	json_close(reply);
	json_u64(reply, "managers", lab_managers(w->run->lab));
	w->show = true;
	return 0;
}

/* Microseconds for each second are picoseconds for each microsecond. */
int window_cmd_speed(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	json_t *v = json_object_get(args, "speed");
	double speed = json_is_number(v) ? json_number_value(v) : -1;

	(void)reply;
	if (json_is_string(v) && !strcmp(json_string_value(v), "max"))
		w->speed = -1;
	else if (speed >= 0 && speed <= 1e12)
		w->speed = speed;
	else
		return err_set(
			e, -EINVAL,
			"speed: expected simulated microseconds for each second, or \"max\"");
	if (!w->run)
		return 0;
	w->run->speed = w->speed;
	w->run->credit = 0;
	w->run->mode = w->speed ? WINDOW_RUNNING : WINDOW_PAUSED;
	w->show = w->run->mode == WINDOW_PAUSED;
	return 0;
}

int window_cmd_step(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	static const char *const words[] = {"event", "smp", "phase"};
	const char *what;

	(void)reply;
	if (!window_run_on(w, e) || window_arg_text(args, "what", &what, e))
		return -EINVAL;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(what, words[i])) {
			w->run->mode = (enum window_mode)(WINDOW_STEP_EVENT + i);
			return 0;
		}
	return err_set(e, -EINVAL, "what: expected event, smp or phase");
}

int window_cmd_go(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	uint64_t at;

	(void)reply;
	if (!window_run_on(w, e) || window_arg_u64(args, "at", 86400 * PS_PER_S, &at, e))
		return -EINVAL;
	if (at < sim_now(w->run->sim))
		return err_set(e, -EINVAL, "at: expected a time from %llu ps on, which is now",
			       (unsigned long long)sim_now(w->run->sim));
	w->run->target = at;
	w->run->mode = WINDOW_GOING;
	return 0;
}

/* ---- faults ---- */

static void emit_journal(struct window *w, const struct schedule_event *ev)
{
	struct json j = {.line = true};
	struct strbuf text = {0};
	char at[24];

	schedule_event_write(ev, &text);
	snprintf(at, sizeof(at), "%llu", (unsigned long long)ev->at);
	json_open(&j, NULL, '{');
	json_open(&j, "journal", '{');
	json_str(&j, "at", at);
	json_str(&j, "text", text.s);
	json_close(&j);
	json_close(&j);
	window_emit_json(w, &j);
	strbuf_free(&text);
}

static int read_event(struct window *w, json_t *args, struct schedule_event *ev, struct err *e)
{
	const char *text;

	if (window_arg_text(args, "text", &text, e))
		return -EINVAL;
	if (strlen(text) > 10000)
		return err_set(e, -EINVAL, "text: expected at most 10000 characters");
	return schedule_event_read(ev, &w->run->schedule, w->fabric.fab, text, e);
}

/* From here the run takes another course than the journal says. */
int window_cmd_event(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct schedule_event ev;

	(void)reply;
	if (!window_run_on(w, e))
		return -EINVAL;
	if (w->run->schedule.events.n >= WINDOW_JOURNAL_MAX)
		return err_set(e, -EINVAL, "expected at most %d faults in a run",
			       WINDOW_JOURNAL_MAX);
	if (read_event(w, args, &ev, e))
		return -EINVAL;
	window_to_come_free(w->run);
	window_run_event(w, &ev);
	emit_journal(w, &ev);
	w->show = true;
	return 0;
}

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

int window_cmd_journal(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	json_t *list = json_object_get(args, "events");
	size_t n = json_array_size(list);

	if (!window_run_on(w, e))
		return -EINVAL;
	if (!json_is_array(list) || n > WINDOW_JOURNAL_MAX)
		return err_set(e, -EINVAL, "events: expected at most %d of them",
			       WINDOW_JOURNAL_MAX);
	window_to_come_free(w->run);
	for (size_t i = 0; i < n; i++)
		if (add_to_come(w, json_array_get(list, i), e)) {
			window_to_come_free(w->run);
			return -EINVAL;
		}
	json_u64(reply, "to_come", w->run->to_come.n);
	return 0;
}

int window_cmd_script(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct schedule s = w->run ? w->run->schedule : w->next; /* only to be written */
	struct strbuf text = {0};
	char number[24];

	(void)args;
	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	if (w->run)
		s.until = sim_now(w->run->sim);
	schedule_write(&s, &text);
	json_str(reply, "text", text.s);
	strbuf_free(&text);
	if (s.netlist)
		json_str(reply, "netlist", s.netlist);
	if (!w->run)
		return 0;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s.until);
	json_str(reply, "at", number);
	snprintf(number, sizeof(number), "%016llx",
		 (unsigned long long)sim_trace_hash(w->run->sim));
	json_str(reply, "hash", number);
	return 0;
}
