/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the next run is made with. State: the next schedule of struct window. Way in: the command setup. Does not check
 * values itself: it writes lines of a schedule, and the reader of schedules checks them.
 */
#include "window/window_priv.h"

/* A word of a schedule. */
static int add_word(struct strbuf *b, const char *key, const char *text, struct err *e)
{
	if (!*text || strlen(text) > 100 || strpbrk(text, "\"\n"))
		return err_set(e, -EINVAL, "%s: expected 1 to 100 characters without quotes", key);
	strbuf_addf(b, " \"%s\"", text);
	return 0;
}

static int add_value(struct strbuf *b, const char *key, json_t *v, struct err *e)
{
	if (json_is_string(v))
		return add_word(b, key, json_string_value(v), e);
	if (json_is_integer(v))
		strbuf_addf(b, " %lld", (long long)json_integer_value(v));
	else if (json_is_boolean(v))
		strbuf_add(b, json_is_true(v) ? " on" : " off");
	else
		return err_set(e, -EINVAL, "%s: expected a number, text, true or false", key);
	return 0;
}

static int add_microseconds(struct strbuf *b, const char *key, json_t *v, struct err *e)
{
	double us = json_is_number(v) ? json_number_value(v) : -1;

	if (!(us >= 0 && us <= 3.6e9))
		return err_set(e, -EINVAL, "%s: expected microseconds from 0 to an hour", key);
	strbuf_addf(b, " %lldns", (long long)(us * 1e3 + 0.5));
	return 0;
}

/* {"node": ..., "priority": 3, ...}: keys are the words of schedule_options, with _ for -. */
static int add_option(struct strbuf *b, const char *key, json_t *v, struct err *e)
{
	char word[40];
	size_t n = strlen(key);
	bool us = n > 3 && !strcmp(key + n - 3, "_us");

	if (n >= sizeof(word) || strpbrk(key, " \t\r\n\"#"))
		return err_set(e, -EINVAL,
			       "expected an option of a manager such as priority, found '%.40s'",
			       key);
	snprintf(word, sizeof(word), "%.*s", (int)(n - (us ? 3 : 0)), key);
	for (char *c = word; *c; c++)
		*c = *c == '_' ? '-' : *c;
	strbuf_addf(b, " %s", word);
	return us ? add_microseconds(b, key, v, e) : add_value(b, key, v, e);
}

static int add_manager(struct window *w, struct strbuf *b, json_t *m, struct err *e)
{
	const char *key;
	json_t *v;
	node_id n;

	if (!json_is_object(m))
		return err_set(e, -EINVAL, "managers: expected objects with a node");
	if (window_arg_node(w, m, "node", &n, e))
		return -EINVAL;
	strbuf_addf(b, "manager 0x%016llx", (unsigned long long)w->fabric.fab->nodes[n].guid);
	json_object_foreach(m, key, v) if (strcmp(key, "node") && !json_is_null(v) &&
					   add_option(b, key, v, e)) return -EINVAL;
	strbuf_add(b, "\n");
	return 0;
}

static int add_managers(struct window *w, struct strbuf *b, json_t *list, struct err *e)
{
	size_t n = json_array_size(list);

	if (!n || n > SCHEDULE_MANAGERS)
		return err_set(e, -EINVAL, "managers: expected 1 to %d of them", SCHEDULE_MANAGERS);
	for (size_t i = 0; i < n; i++)
		if (add_manager(w, b, json_array_get(list, i), e))
			return -EINVAL;
	return 0;
}

/* Time between packets of 256 bytes of payload, so that the first host's link is used to this share. */
static int add_load(struct window *w, struct strbuf *b, json_t *args, struct err *e)
{
	const struct fab *f = w->fabric.fab;
	uint64_t bps = 4 * fab_lane_bps(FAB_QDR), load, ns;

	if (window_arg_u64(args, "load", 100, &load, e))
		return -EINVAL;
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].peer != FAB_NONE && !fab_is_switch(f, f->ports[p].node) &&
		    f->ports[p].speed && f->ports[p].width) {
			bps = f->ports[p].width * fab_lane_bps(f->ports[p].speed);
			break;
		}
	ns = load ? 282 * 8 * 100 * 1000000000ull / bps / load : 0;
	strbuf_addf(b, "traffic %lluns\n", (unsigned long long)(load ? MAX(ns, 1u) : 0));
	return 0;
}

static int add_lines(struct window *w, struct strbuf *b, json_t *args, struct err *e)
{
	uint64_t seed = 1;
	const char *text;

	if (window_arg_has(args, "seed") && window_arg_u64(args, "seed", UINT64_MAX, &seed, e))
		return -EINVAL;
	strbuf_addf(b, "seed %llu\n", (unsigned long long)seed);
	if (window_arg_has(args, "traps")) {
		strbuf_add(b, "traps");
		if (add_value(b, "traps", json_object_get(args, "traps"), e))
			return -EINVAL;
		strbuf_add(b, "\n");
	}
	if (window_arg_has(args, "traffic") && window_arg_text(args, "traffic", &text, e))
		return -EINVAL;
	if (window_arg_has(args, "traffic") && *text) {
		strbuf_add(b, "traffic");
		if (add_word(b, "traffic", text, e))
			return -EINVAL;
		strbuf_add(b, "\n");
	} else if (window_arg_has(args, "load") && add_load(w, b, args, e)) {
		return -EINVAL;
	}
	return 0;
}

/* Managers that are not given stay as they are. */
static void add_old_managers(struct window *w, struct strbuf *b)
{
	struct schedule s = {.managers.at = w->next.managers.at,
			     .managers.n = w->next.managers.n,
			     .kind = (char *)"none"};
	struct strbuf all = {0};
	const char *first;

	s.gen.kind = s.kind;
	schedule_write(&s, &all);
	first = strstr(all.s, "\nmanager");
	strbuf_add(b, first ? first + 1 : "");
	strbuf_free(&all);
}

int window_cmd_setup(struct window *w, json_t *args, struct json *reply, struct err *e)
{
	struct strbuf text = {0};
	struct schedule s;
	int rc;

	if (!w->fabric.fab)
		return err_set(e, -EINVAL, "expected a fabric first: open or generate one");
	rc = add_lines(w, &text, args, e);
	if (!rc && window_arg_has(args, "managers"))
		rc = add_managers(w, &text, json_object_get(args, "managers"), e);
	else if (!rc)
		add_old_managers(w, &text);
	if (!rc)
		rc = schedule_read_on(&s, w->fabric.fab, "setup", text.s, text.len, e);
	strbuf_free(&text);
	if (rc)
		return rc;
	s.kind = w->next.kind;
	s.netlist = w->next.netlist;
	s.gen = w->next.gen;
	w->next.kind = w->next.netlist = NULL;
	schedule_free(&w->next);
	w->next = s;
	json_u64(reply, "managers", s.managers.n);
	return 0;
}
