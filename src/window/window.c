/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine of the page: its commands and their replies. State: struct window. Way in: window_new(),
 * window_command(). Does not carry commands out: each file of the room has some of them.
 */
#include "window/window_priv.h"

static const struct {
	const char *name;
	window_handler *run;
} commands[] = {
	{"open", window_cmd_open},	 {"generate", window_cmd_generate},
	{"setup", window_cmd_setup},	 {"start", window_cmd_start},
	{"speed", window_cmd_speed},	 {"step", window_cmd_step},
	{"go", window_cmd_go},		 {"event", window_cmd_event},
	{"journal", window_cmd_journal}, {"log", window_cmd_log},
	{"mad", window_cmd_mad},	 {"script", window_cmd_script},
	{"node", window_cmd_node},	 {"find", window_cmd_find},
	{"route", window_cmd_route},	 {"tree", window_cmd_tree},
	{"users", window_cmd_users},	 {"loads", window_cmd_loads},
	{"whatif", window_cmd_whatif},	 {"netlist", window_cmd_netlist},
	{"series", window_cmd_series},	 {"quality", window_cmd_quality},
};

struct window *window_new(void (*emit)(void *ctx, const uint8_t *frame, size_t len), void *ctx)
{
	struct window *w = mem_zalloc(sizeof(*w));

	w->emit = emit;
	w->ctx = ctx;
	w->speed = 1000; /* a millisecond in a second */
	schedule_init(&w->next);
	window_log_default(&w->filter);
	return w;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	window_run_free(w);
	window_fabric_free(w);
	schedule_free(&w->next);
	free(w);
}

/* ---- one command ---- */

static window_handler *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].run;
	return NULL;
}

static int run(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	window_handler *handler;
	const char *name;

	if (!json_is_object(args))
		return err_set(e, -EINVAL, "expected an object with a member cmd");
	if (window_arg_text(args, "cmd", &name, e))
		return -EINVAL;
	handler = find(name);
	if (!handler)
		return err_set(e, -EINVAL, "cmd: no command is called '%.40s'", name);
	return handler(w, args, reply, e);
}

/* The id of the command, so that the page finds what is answered. */
static void open_reply(struct json *j, json_t *id)
{
	j->line = true;
	json_open(j, NULL, '{');
	if (json_is_integer(id))
		json_i64(j, "re", json_integer_value(id));
	else if (json_is_string(id) && json_string_length(id) <= 100)
		json_str(j, "re", json_string_value(id));
	else
		json_none(j, "re");
}

static void answer(struct window *w, json_t *args)
{
	struct json reply = {0};
	struct err e = {""};

	w->show = false;
	open_reply(&reply, json_object_get(args, "id"));
	json_bool(&reply, "ok", true);
	if (run(w, args, &reply, &e)) {
		json_free(&reply);
		reply = (struct json){0};
		open_reply(&reply, json_object_get(args, "id"));
		json_str(&reply, "error", e.text);
	}
	json_close(&reply);
	window_emit_json(w, &reply);
	if (w->show && w->fabric.fab)
		window_emit_slice(w);
}

static void refuse(struct window *w, const char *why)
{
	struct json reply = {0};

	open_reply(&reply, NULL);
	json_str(&reply, "error", why);
	json_close(&reply);
	window_emit_json(w, &reply);
}

void window_command(struct window *w, const char *json, size_t len)
{
	json_error_t bad;
	json_t *args;
	char why[300];

	if (len > WINDOW_COMMAND_MAX) {
		refuse(w, "expected a command of at most 64 MiB");
		return;
	}
	args = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &bad);
	if (!args) {
		snprintf(why, sizeof(why), "expected JSON: %s", bad.text);
		refuse(w, why);
		return;
	}
	answer(w, args);
	json_decref(args);
}
