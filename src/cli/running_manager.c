/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to a running manager. State: none. Ways in: running_find(), running_ask(), running_topology(). Prints no answer.
 */
#include "cli/running_manager.h"

#include "cli/ctl.h"
#include "control/lines.h"

enum { ANSWER_MS = 30000 };

int running_find(struct running *l)
{
	return ctl_socket_find(
		&(struct ctl_target){
			.kind = "sm", .socket = l->socket, .name = l->name, .wait = 5 * PS_PER_S},
		l->path, sizeof(l->path));
}

json_t *running_ask(const struct running *l, const char *question)
{
	struct strbuf answer = {0};
	json_error_t why;
	json_t *a = NULL;
	struct err e;

	if (lines_ask(l->path, question, ANSWER_MS, &answer, &e))
		cli_bad("%s", e.text);
	else if (!(a = json_loads(answer.s, 0, &why)))
		cli_bad("the answer is not JSON: %s", why.text);
	strbuf_free(&answer);
	return a;
}

json_t *running_ask_about(const struct running *l, const char *cmd, const char *key,
			  const char *value)
{
	struct json j = {.line = true};
	json_t *a;

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", cmd);
	json_str(&j, key, value);
	json_close(&j);
	a = running_ask(l, j.out.s);
	json_free(&j);
	return a;
}

struct fab *running_topology(const struct running *l)
{
	json_t *a = running_ask(l, "{\"cmd\":\"topology\"}");
	const char *text = json_string_value(json_object_get(a, "netlist"));
	struct fab_netlist net = {0};
	struct fab *f = NULL;
	struct err e;

	if (a && !text) {
		const char *why = json_string_value(json_object_get(a, "error"));

		cli_bad("topology: %s", why ? why : "the manager has none");
	} else if (a && fab_netlist_parse(&net, "the manager's topology", text, strlen(text), &e)) {
		cli_bad("%s", e.text);
	} else if (a) {
		f = net.fab;
		net.fab = NULL;
		fab_netlist_free(&net);
	}
	json_decref(a);
	return f;
}
