/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of pages to the live source. State: requests that wait for the manager. Way in: live_page_message(). Only
 * requests of the list reach the manager.
 */
#include "web/child_link.h"
#include "web/live_priv.h"
#include "web/live_process.h"

#include <unistd.h>

enum { QUESTIONS_MOST = 16, REQUESTS_A_SECOND = 20, REQUEST_MAX = 32768 };

static const struct {
	const char *cmd;
	bool changes; /* the subnet, or what the manager does */
} allowed[] = {
	{"status", false},    {"topology", false},  {"route", false},	{"switches", false},
	{"ports", false},     {"changes", false},   {"smps", false},	{"config", false},
	{"vm_list", false},   {"vm_hosts", false},  {"sweep", true},	{"resync", true},
	{"handover", true},   {"vm_create", true},  {"vm_start", true}, {"vm_stop", true},
	{"vm_migrate", true}, {"vm_destroy", true}, {"vm_batch", true},
};

const char *live_request_refused(const char *cmd, bool changes)
{
	for (size_t i = 0; cmd && i < ARRAY_LEN(allowed); i++)
		if (!strcmp(allowed[i].cmd, cmd))
			return !allowed[i].changes || changes
				       ? NULL
				       : "the live view is read-only: start weft ui with --allow-changes";
	return "the manager is not asked for this from a page";
}

/* ---- replies ---- */

static void reply_begin(struct json *j, const char *id)
{
	j->line = true;
	json_open(j, NULL, '{');
	json_raw(j, "re", id);
}

static void reply_end(struct live *l, struct json *j)
{
	json_close(j);
	live_send_json(l, j->out.s, j->out.len);
	json_free(j);
}

static void reply_error(struct live *l, const char *id, const char *why)
{
	struct json j = {0};

	reply_begin(&j, id);
	json_str(&j, "error", why);
	reply_end(l, &j);
}

static void question_remove(struct live *l, size_t i)
{
	free(l->questions.at[i].id);
	l->questions.n--;
	memmove(l->questions.at + i, l->questions.at + i + 1,
		(l->questions.n - i) * sizeof(*l->questions.at));
}

static void answer_pass_on(struct live *l, const struct live_question *q, const char *line,
			   size_t len)
{
	json_t *a = q->wish == LIVE_ANSWER && !strncmp(line, "{\"ok\":true", 10)
			    ? NULL
			    : json_loadb(line, len, 0, NULL);
	const char *why = json_string_value(json_object_get(a, "error"));
	struct json j = {0};

	if (a && !json_is_true(json_object_get(a, "ok"))) {
		reply_error(l, q->id, why ? why : "refused");
	} else {
		reply_begin(&j, q->id);
		json_bool(&j, "ok", true);
		if (q->wish == LIVE_NODE)
			live_reply_node(l, &j, a);
		else if (q->wish == LIVE_ROUTE)
			live_reply_route(l, &j, a);
		else
			json_raw(&j, "answer", line);
		reply_end(l, &j);
	}
	json_decref(a);
}

void live_page_answer(struct live *l, unsigned tag, const char *line, size_t len)
{
	for (size_t i = 0; i < l->questions.n; i++)
		if (l->questions.at[i].tag == tag) {
			answer_pass_on(l, &l->questions.at[i], line, len);
			question_remove(l, i);
			return;
		}
}

void live_page_lost(struct live *l)
{
	while (l->questions.n) {
		reply_error(l, l->questions.at[0].id, "the connection to the manager is lost");
		question_remove(l, 0);
	}
}

/* ---- commands ---- */

static bool rate_allows(struct live *l)
{
	uint64_t second = live_now_ms() / 1000;

	if (second != l->page_second) {
		l->page_second = second;
		l->page_requests = 0;
	}
	return l->page_requests++ < REQUESTS_A_SECOND && l->questions.n < QUESTIONS_MOST;
}

/* NULL, or why the request cannot be sent. */
static const char *control(struct live *l, const json_t *request, const char *id,
			   enum live_wish wish)
{
	const char *cmd = json_string_value(json_object_get(request, "cmd"));
	const char *why = live_request_refused(cmd, l->changes);
	struct live_question q = {.tag = LIVE_TAG_PAGE + l->next_tag, .wish = wish};
	char *text;

	if (why)
		return why;
	if (!rate_allows(l))
		return "too many requests to the manager; try again";
	text = json_dumps(request, JSON_COMPACT);
	if (!text || strlen(text) > REQUEST_MAX)
		why = "the request is too long";
	else if (!live_client_ask(l->client, q.tag, text))
		why = "the manager does not answer";
	free(text);
	if (why)
		return why;
	l->next_tag = (l->next_tag + 1) % 1000000;
	q.id = mem_strdup(id);
	vec_push(&l->questions, q);
	return NULL;
}

/* Commands of the engine that the manager can answer. */
static const char *as_engine(struct live *l, const json_t *a, const char *cmd, const char *id)
{
	const char *why = "expected two nodes by GUID";
	json_t *request = NULL;

	if (!strcmp(cmd, "node"))
		request = json_pack("{s:s, s:O?}", "cmd", "ports", "node",
				    json_object_get(a, "node"));
	else
		request = json_pack("{s:s, s:O?, s:O?}", "cmd", "route", "from",
				    json_object_get(a, "from"), "to", json_object_get(a, "to"));
	if (request)
		why = control(l, request, id, strcmp(cmd, "node") ? LIVE_ROUTE : LIVE_NODE);
	json_decref(request);
	return why;
}

/* Commands that need no manager. */
static const char *at_once(struct live *l, const json_t *a, const char *cmd, const char *id)
{
	const char *netlist = live_picture_netlist(l->picture);
	bool find = !strcmp(cmd, "find");
	struct json j = {0};

	if (!find && strcmp(cmd, "netlist"))
		return "the live view has no such command; take the fabric into the simulator for that";
	if (!netlist)
		return "the topology is not known yet";
	reply_begin(&j, id);
	json_bool(&j, "ok", true);
	if (find)
		live_reply_find(l, &j, json_string_value(json_object_get(a, "text")));
	else
		json_str(&j, "text", netlist);
	reply_end(l, &j);
	return NULL;
}

static void command(struct live *l, const json_t *a, const char *id)
{
	const char *cmd = json_string_value(json_object_get(a, "cmd")), *why = NULL;

	if (!cmd)
		why = "expected an object with the member 'cmd'";
	else if (!strcmp(cmd, "control"))
		why = control(l, json_object_get(a, "request"), id, LIVE_ANSWER);
	else if (!strcmp(cmd, "node") || !strcmp(cmd, "route"))
		why = as_engine(l, a, cmd, id);
	else
		why = at_once(l, a, cmd, id);
	if (why)
		reply_error(l, id, why);
}

void live_page_message(struct live *l)
{
	struct strbuf s = {0};
	char *id = NULL;
	unsigned kind;
	int passed;
	json_t *a;

	if (!child_receive(l->fd, &kind, &s, &passed))
		_exit(0);
	if (passed >= 0)
		close(passed);
	if (kind == MSG_COMMAND) {
		a = json_loadb(s.s, s.len, 0, NULL);
		if (json_object_get(a, "id"))
			id = json_dumps(json_object_get(a, "id"), JSON_ENCODE_ANY);
		command(l, a, id ? id : "null");
		free(id);
		json_decref(a);
	}
	strbuf_free(&s);
}
