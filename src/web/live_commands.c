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

/* What a request needs for a bounded answer. */
enum live_bound { LIVE_BOUNDED, LIVE_OF_A_NODE, LIVE_IN_PIECES, LIVE_LATER };

static const struct {
	const char *cmd;
	bool changes; /* the subnet, or what the manager does */
	enum live_bound bound;
} allowed[] = {
	{"status", false, LIVE_BOUNDED},       {"topology", false, LIVE_IN_PIECES},
	{"route", false, LIVE_BOUNDED},	       {"ports", false, LIVE_OF_A_NODE},
	{"node", false, LIVE_OF_A_NODE},       {"tree", false, LIVE_BOUNDED},
	{"tables", false, LIVE_BOUNDED},       {"counters", false, LIVE_LATER},
	{"changes", false, LIVE_BOUNDED},      {"smps", false, LIVE_BOUNDED},
	{"config", false, LIVE_BOUNDED},       {"vm_list", false, LIVE_IN_PIECES},
	{"sa", false, LIVE_BOUNDED},	       {"paths", false, LIVE_BOUNDED},
	{"groups", false, LIVE_IN_PIECES},     {"group_tree", false, LIVE_IN_PIECES},
	{"services", false, LIVE_IN_PIECES},   {"subscriptions", false, LIVE_IN_PIECES},
	{"partitions", false, LIVE_IN_PIECES}, {"vm_hosts", false, LIVE_BOUNDED},
	{"sweep", true, LIVE_BOUNDED},	       {"resync", true, LIVE_BOUNDED},
	{"handover", true, LIVE_BOUNDED},      {"vm_create", true, LIVE_LATER},
	{"vm_start", true, LIVE_LATER},	       {"vm_stop", true, LIVE_LATER},
	{"vm_migrate", true, LIVE_LATER},      {"vm_destroy", true, LIVE_LATER},
	{"vm_batch", true, LIVE_LATER},
};

enum { PIECE_MOST = 1000 };

static int find_allowed(const char *cmd)
{
	for (size_t i = 0; cmd && i < ARRAY_LEN(allowed); i++)
		if (!strcmp(allowed[i].cmd, cmd))
			return (int)i;
	return -1;
}

static const char *unbounded(const json_t *request, enum live_bound bound)
{
	json_int_t count = json_integer_value(json_object_get(request, "count"));

	switch (bound) {
	case LIVE_OF_A_NODE:
		return json_is_string(json_object_get(request, "node"))
			       ? NULL
			       : "expected the member 'node': pages ask for one node at a time";
	case LIVE_IN_PIECES:
		return json_is_integer(json_object_get(request, "first")) && count > 0 &&
				       count <= PIECE_MOST
			       ? NULL
			       : "expected the members 'first' and 'count', at most 1000: pages ask "
				 "for large lists in pieces";
	case LIVE_BOUNDED:
	case LIVE_LATER:
		break;
	}
	return NULL;
}

const char *live_request_refused(const json_t *request, bool changes)
{
	int i = find_allowed(json_string_value(json_object_get(request, "cmd")));

	if (i < 0)
		return "the manager is not asked for this from a page";
	if (allowed[i].changes && !changes)
		return "the live view is read-only: start weft ui with --allow-changes";
	return unbounded(request, allowed[i].bound);
}

static bool is_answered_later(const json_t *request)
{
	int i = find_allowed(json_string_value(json_object_get(request, "cmd")));

	return i >= 0 && allowed[i].bound == LIVE_LATER;
}

/* ---- replies ---- */

void live_reply_begin(struct json *j, const char *id)
{
	j->line = true;
	json_open(j, NULL, '{');
	json_raw(j, "re", id);
}

void live_reply_end(struct live *l, struct json *j)
{
	json_close(j);
	live_send_json(l, j->out.s, j->out.len);
	json_free(j);
}

void live_reply_error(struct live *l, const char *id, const char *why)
{
	struct json j = {0};

	live_reply_begin(&j, id);
	json_str(&j, "error", why);
	live_reply_end(l, &j);
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
		live_reply_error(l, q->id, why ? why : "refused");
	} else {
		live_reply_begin(&j, q->id);
		json_bool(&j, "ok", true);
		if (q->wish == LIVE_NODE)
			live_reply_node(l, &j, a);
		else if (q->wish == LIVE_ROUTE)
			live_reply_route(l, &j, a);
		else if (q->wish == LIVE_TREE)
			live_reply_tree(l, &j, a);
		else
			json_raw(&j, "answer", line);
		live_reply_end(l, &j);
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

void live_page_lost(struct live *l, bool slow_only)
{
	for (size_t i = l->questions.n; i-- > 0;)
		if (l->questions.at[i].slow == slow_only) {
			live_reply_error(l, l->questions.at[i].id,
					 "the connection to the manager is lost");
			question_remove(l, i);
		}
	if (!slow_only)
		live_routes_refuse(l, "the connection to the manager is lost");
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
	const char *why = live_request_refused(request, l->changes);
	struct live_question q = {.tag = LIVE_TAG_PAGE + l->next_tag,
				  .wish = wish,
				  .slow = is_answered_later(request)};
	struct live_client *client = q.slow ? l->slow : l->client;
	struct err e;
	char *text;

	if (why)
		return why;
	if (!rate_allows(l))
		return "too many requests to the manager; try again";
	text = json_dumps(request, JSON_COMPACT);
	if (!text || strlen(text) > REQUEST_MAX)
		why = "the request is too long";
	else if ((q.slow && live_client_connect(client, &e)) ||
		 !live_client_ask(client, q.tag, text))
		why = "the manager does not answer";
	free(text);
	if (why)
		return why;
	l->next_tag = (l->next_tag + 1) % 1000000;
	q.id = mem_strdup(id);
	vec_push(&l->questions, q);
	return NULL;
}

/* Commands of the engine that the manager can answer, and counters. */
static const char *as_engine(struct live *l, const json_t *a, const char *cmd, const char *id)
{
	const json_t *lid = json_object_get(a, "lid");
	enum live_wish wish = LIVE_ANSWER;
	json_t *request, *to = json_object_get(a, strcmp(cmd, "tree") ? "to" : "node");
	char number[24];
	const char *why;

	snprintf(number, sizeof(number), "%lld", json_integer_value(lid));
	to = json_is_integer(lid) ? json_string(number) : json_incref(to);
	if (!strcmp(cmd, "node"))
		request = json_pack("{s:s, s:O?}", "cmd", cmd, "node", json_object_get(a, "node"));
	else if (!strcmp(cmd, "route"))
		request = json_pack("{s:s, s:O?, s:O?}", "cmd", cmd, "from",
				    json_object_get(a, "from"), "to", to);
	else if (!strcmp(cmd, "tree"))
		request = json_pack("{s:s, s:O?}", "cmd", cmd, "to", to);
	else
		request = json_pack("{s:s, s:O?, s:O*}", "cmd", cmd, "node",
				    json_object_get(a, "node"), "port", json_object_get(a, "port"));
	wish = !strcmp(cmd, "node")    ? LIVE_NODE
	       : !strcmp(cmd, "route") ? LIVE_ROUTE
	       : !strcmp(cmd, "tree")  ? LIVE_TREE
				       : LIVE_ANSWER;
	why = request ? control(l, request, id, wish) : "expected nodes by GUID";
	json_decref(request);
	json_decref(to);
	return why;
}

/* Lists that are kept. */
static void put_list(struct live *l, struct json *j, const char *cmd)
{
	json_t *list = strcmp(cmd, "vms") ? l->lists.changes : l->lists.vms;
	char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;

	json_raw(j, cmd, text ? text : "[]");
	free(text);
}

/* Commands that need no manager. */
static const char *at_once(struct live *l, const json_t *a, const char *cmd, const char *id)
{
	const char *netlist = live_picture_netlist(l->picture);
	bool find = !strcmp(cmd, "find"), list = !strcmp(cmd, "changes") || !strcmp(cmd, "vms");
	struct json j = {0};

	if (!find && !list && strcmp(cmd, "netlist"))
		return "the live view has no such command; take the fabric into the simulator for that";
	if (!list && !netlist)
		return "the topology is not known yet";
	live_reply_begin(&j, id);
	json_bool(&j, "ok", true);
	if (find)
		live_reply_find(l, &j, json_string_value(json_object_get(a, "text")));
	else if (list)
		put_list(l, &j, cmd);
	else
		json_str(&j, "text", netlist);
	live_reply_end(l, &j);
	return NULL;
}

static const char *with_tables(struct live *l, const json_t *a, const char *cmd, const char *id)
{
	const json_t *port = json_object_get(a, "port");

	if (!strcmp(cmd, "users") && !json_is_object(port))
		return "expected a port: {\"node\": GUID, \"port\": N}";
	if (!rate_allows(l))
		return "too many requests to the manager; try again";
	return live_routes_ask(l, cmd, port, id);
}

static void command(struct live *l, const json_t *a, const char *id)
{
	const char *cmd = json_string_value(json_object_get(a, "cmd")), *why = NULL;

	if (!cmd)
		why = "expected an object with the member 'cmd'";
	else if (!strcmp(cmd, "control"))
		why = control(l, json_object_get(a, "request"), id, LIVE_ANSWER);
	else if (!strcmp(cmd, "node") || !strcmp(cmd, "route") || !strcmp(cmd, "tree") ||
		 !strcmp(cmd, "counters"))
		why = as_engine(l, a, cmd, id);
	else if (!strcmp(cmd, "loads") || !strcmp(cmd, "users") || !strcmp(cmd, "quality"))
		why = with_tables(l, a, cmd, id);
	else
		why = at_once(l, a, cmd, id);
	if (why)
		live_reply_error(l, id, why);
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
