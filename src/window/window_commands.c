/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands that drive the run. State: none of its own. Way in: the table of window.c. Does not run anything: window_work()
 * does.
 */
#include "window/window_priv.h"

int window_cmd_start(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	if (window_journal_start(w, json_object_get(args, "events"), e))
		return -EINVAL;
	w->run->mode = w->speed ? WINDOW_RUNNING : WINDOW_PAUSED;
	window_series_names(reply);
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
	if (!w->speed && w->run->mode == WINDOW_RUNNING)
		window_run_finish_moment(w);
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
	w->run->goes_on = false;
	w->run->mode = WINDOW_GOING;
	return 0;
}
