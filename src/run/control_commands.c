/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of `weft ctl`: the table of commands; a line of JSON in, a line of JSON out. State: none. Way
 * in: run_control_answer(). Changes nothing itself: orders go through struct run_orders.
 */
#include <jansson.h>

#include "base/spelling.h"
#include "run/control_priv.h"

enum ctl_arg_kind { CTL_NONE, CTL_TEXT, CTL_NUMBER, CTL_LIST };

struct ctl_arg {
	const char *name;
	enum ctl_arg_kind kind;
	bool required;
};

struct ctl_cmd {
	const char *name;
	ctl_run *run;
	struct ctl_arg args[CTL_MAX_ARGS];
};

/* ---- orders ---- */

static int ctl_sweep(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	if (!a->v->sm)
		return err_set(e, -EINVAL, "not connected to a fabric; there is nothing to sweep");
	a->o->sweep(a->o->ctx);
	return 0;
}

static int ctl_resync(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	if (!a->v->sm)
		return err_set(
			e, -EINVAL,
			"not connected to a fabric; the whole subnet is read when the connection is open");
	a->o->resync(a->o->ctx);
	return 0;
}

static int ctl_handover(const struct ctl_ask *a, struct json *j UNUSED, struct err *e)
{
	uint64_t guid = 0;

	if (!a->v->sm)
		return err_set(e, -EINVAL,
			       "not connected to a fabric; there is nothing to hand over");
	if (a->text[0] && (parse_u64(a->text[0], &guid) || !guid))
		return err_set(e, -EINVAL,
			       "expected a port GUID such as 0x0001000000000011, found '%.60s'",
			       a->text[0]);
	return a->o->handover(a->o->ctx, guid, e);
}

static const char *const levels[] = {"error", "warning", "notice", "info",
				     "debug"}; /* enum run_log_level */

static int ctl_log(const struct ctl_ask *a, struct json *j, struct err *e)
{
	for (unsigned i = 0; a->text[0] && i < ARRAY_LEN(levels); i++) {
		if (strcmp(a->text[0], levels[i]))
			continue;
		a->o->log_level(a->o->ctx, (enum run_log_level)i);
		json_str(j, "level", levels[i]);
		return 0;
	}
	if (a->text[0])
		return err_set(e, -EINVAL,
			       "expected error, warning, notice, info or debug; found '%.60s'",
			       a->text[0]);
	json_str(j, "level", levels[a->v->log_level]);
	return 0;
}

static int ctl_dump(const struct ctl_ask *a, struct json *j, struct err *e)
{
	int rc = a->o->dump(a->o->ctx, e);

	if (!rc)
		json_str(j, "directory", a->v->cfg->dumps);
	return rc;
}

static int ctl_reload(const struct ctl_ask *a, struct json *j, struct err *e)
{
	struct strbuf fixed = {0};
	int rc = a->o->reload(a->o->ctx, &fixed, a->faults, e);

	if (!rc)
		json_str(j, "after_restart", fixed.len ? fixed.s : "");
	strbuf_free(&fixed);
	return rc;
}

static int ctl_stop(const struct ctl_ask *a, struct json *j UNUSED, struct err *e UNUSED)
{
	a->o->stop(a->o->ctx);
	return 0;
}

/* ---- the table ---- */

static const struct ctl_cmd cmds[] = {
	{"status", ctl_status, {{0}}},
	{"topology",
	 ctl_topology,
	 {{"netlist", CTL_NUMBER, false},
	  {"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"route", ctl_route, {{"from", CTL_TEXT, true}, {"to", CTL_TEXT, true}}},
	{"switches", ctl_switches, {{0}}},
	{"ports", ctl_ports, {{"node", CTL_TEXT, false}}},
	{"node", ctl_node, {{"node", CTL_TEXT, true}}},
	{"tables",
	 ctl_tables,
	 {{"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"tree", ctl_tree, {{"to", CTL_TEXT, true}}},
	{"counters", ctl_counters, {{"node", CTL_TEXT, true}, {"port", CTL_NUMBER, false}}},
	{"perf",
	 ctl_perf,
	 {{"node", CTL_TEXT, false},
	  {"sort", CTL_TEXT, false},
	  {"count", CTL_NUMBER, false},
	  {"filter", CTL_TEXT, false}}},
	{"sick", ctl_sick, {{0}}},
	{"changes", ctl_changes, {{"count", CTL_NUMBER, false}}},
	{"smps", ctl_smps, {{0}}},
	{"config", ctl_config, {{0}}},
	{"sa", ctl_sa, {{0}}},
	{"paths", ctl_paths, {{"from", CTL_TEXT, true}, {"to", CTL_TEXT, true}}},
	{"groups",
	 ctl_groups,
	 {{"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"mgid", CTL_TEXT, false},
	  {"members", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"group_tree",
	 ctl_group_tree,
	 {{"mlid", CTL_TEXT, true},
	  {"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"partitions",
	 ctl_partitions,
	 {{"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"pkey", CTL_TEXT, false},
	  {"members", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"memberships", ctl_memberships, {{"node", CTL_TEXT, true}}},
	{"services",
	 ctl_services,
	 {{"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"subscriptions",
	 ctl_subscriptions,
	 {{"first", CTL_NUMBER, false},
	  {"count", CTL_NUMBER, false},
	  {"at_rest", CTL_NUMBER, false}}},
	{"sweep", ctl_sweep, {{0}}},
	{"resync", ctl_resync, {{0}}},
	{"handover", ctl_handover, {{"guid", CTL_TEXT, false}}},
	{"log", ctl_log, {{"level", CTL_TEXT, false}}},
	{"dump", ctl_dump, {{0}}},
	{"reload", ctl_reload, {{0}}},
	{"stop", ctl_stop, {{0}}},
	{"vm_list", ctl_vm_list, {{"first", CTL_NUMBER, false}, {"count", CTL_NUMBER, false}}},
	{"vm_hosts", ctl_vm_hosts, {{0}}},
	{"vm_create", ctl_vm_create, {{"vm", CTL_TEXT, true}, {"guid", CTL_TEXT, false}}},
	{"vm_start", ctl_vm_start, {{"vm", CTL_TEXT, true}, {"host", CTL_TEXT, true}}},
	{"vm_stop", ctl_vm_stop, {{"vm", CTL_TEXT, true}}},
	{"vm_migrate", ctl_vm_migrate, {{"vm", CTL_TEXT, true}, {"host", CTL_TEXT, true}}},
	{"vm_destroy", ctl_vm_destroy, {{"vm", CTL_TEXT, true}}},
	{"vm_batch", ctl_vm_batch, {{"requests", CTL_LIST, true}}},
	{"vm_defragment",
	 ctl_vm_defragment,
	 {{"goal", CTL_TEXT, false}, {"dry_run", CTL_NUMBER, false}}},
};

/* ---- reading a request ---- */

static const struct ctl_cmd *cmd_find(const char *name, struct err *e)
{
	struct spelling near = {.word = name};
	struct strbuf all = {0};

	for (unsigned i = 0; i < ARRAY_LEN(cmds); i++) {
		if (!strcmp(cmds[i].name, name))
			return strbuf_free(&all), &cmds[i];
		spelling_offer(&near, cmds[i].name, cmds[i].name);
		strbuf_addf(&all, "%s%s", i ? ", " : "", cmds[i].name);
	}
	if (near.best)
		err_set(e, 0, "unknown command '%.60s', did you mean '%s'?", name, near.best);
	else
		err_set(e, 0, "unknown command '%.60s': expected one of %s", name, all.s);
	strbuf_free(&all);
	return NULL;
}

static int arg_take(struct ctl_ask *a, unsigned i, const struct ctl_arg *arg, const json_t *value,
		    struct err *e)
{
	if (arg->kind == CTL_TEXT) {
		a->text[i] = json_string_value(value);
		return a->text[i] ? 0 : err_set(e, -EINVAL, "'%s': expected a string", arg->name);
	}
	if (arg->kind == CTL_LIST) {
		a->list = value;
		return json_is_array(value)
			       ? 0
			       : err_set(e, -EINVAL, "'%s': expected a list", arg->name);
	}
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return err_set(e, -EINVAL, "'%s': expected a number", arg->name);
	a->number[i] = (uint64_t)json_integer_value(value);
	return 0;
}

static int args_take(struct ctl_ask *a, const struct ctl_cmd *c, json_t *q, struct err *e)
{
	const char *key;
	json_t *value;

	for (unsigned i = 0; i < CTL_MAX_ARGS && c->args[i].name; i++) {
		value = json_object_get(q, c->args[i].name);
		if (!value && c->args[i].required)
			return err_set(e, -EINVAL, "%s needs '%s'", c->name, c->args[i].name);
		if (value && arg_take(a, i, &c->args[i], value, e))
			return -EINVAL;
	}
	json_object_foreach(q, key, value)
	{
		bool is_known = !strcmp(key, "cmd");

		for (unsigned i = 0; i < CTL_MAX_ARGS && c->args[i].name; i++)
			is_known |= !strcmp(key, c->args[i].name);
		if (!is_known)
			return err_set(e, -EINVAL, "%s takes no '%.60s'", c->name, key);
	}
	return 0;
}

/* ---- answering ---- */

static void refuse(struct strbuf *out, const char *why, struct strbuf *faults)
{
	struct json j = {.line = true};
	char *rest = faults->s, *line;

	json_open(&j, NULL, '{');
	json_bool(&j, "ok", false);
	json_str(&j, "error", why);
	if (faults->len)
		json_open(&j, "faults", '[');
	while (faults->len && (line = strsep(&rest, "\n")) && *line)
		json_str(&j, NULL, line);
	if (faults->len)
		json_close(&j);
	json_close(&j);
	strbuf_addn(out, j.out.s, j.out.len);
	json_free(&j);
}

static int answer(struct ctl_ask *a, json_t *q, struct json *j, struct err *e)
{
	const char *name = json_string_value(json_object_get(q, "cmd"));
	const struct ctl_cmd *c;

	if (!name)
		return err_set(e, -EINVAL, "expected {\"cmd\": \"...\"}");
	c = cmd_find(name, e);
	if (!c || args_take(a, c, q, e))
		return -EINVAL;
	return c->run(a, j, e);
}

bool run_control_answer(const struct run_view *v, const struct run_orders *o, const char *line,
			struct strbuf *out)
{
	struct strbuf faults = {0};
	struct ctl_ask a = {.v = v, .o = o, .faults = &faults};
	struct json j = {.line = true};
	json_error_t why;
	json_t *q = json_loads(line, JSON_REJECT_DUPLICATES, &why);
	struct err e = {""};
	int rc;

	if (!q) {
		err_set(&e, 0, "not JSON: %.160s", why.text);
		refuse(out, e.text, &faults);
		return true;
	}
	memset(a.number, 0xff, sizeof(a.number)); /* UINT64_MAX */
	json_open(&j, NULL, '{');
	json_bool(&j, "ok", true);
	rc = answer(&a, q, &j, &e);
	if (rc && rc != -EINPROGRESS) {
		refuse(out, e.text, &faults);
	} else if (!rc) {
		json_close(&j);
		strbuf_addn(out, j.out.s, j.out.len);
	}
	json_free(&j);
	strbuf_free(&faults);
	json_decref(q);
	return rc != -EINPROGRESS;
}
