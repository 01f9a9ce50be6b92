/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a request to what is done with it: paths, methods, sessions, limits. State: none. Way in: web_route().
 */
#include "web/http_priv.h"

static const struct {
	const char *path;
	enum web_action action;
	enum web_method method;
	uint64_t body; /* at most */
} actions[] = {
	{"/stream", ACT_STREAM, WEB_GET, 0},
	{"/command", ACT_COMMAND, WEB_POST, WEB_BODY_MAX},
	{"/restart", ACT_RESTART, WEB_POST, 4096},
};

static int refuse(struct web_route *out, int status, const char *why)
{
	out->why = why;
	return status;
}

static bool session_read(struct web_text s, char *name)
{
	if (s.len > WEB_SESSION_MAX)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (!((s.s[i] >= 'a' && s.s[i] <= 'z') || (s.s[i] >= 'A' && s.s[i] <= 'Z') ||
		      (s.s[i] >= '0' && s.s[i] <= '9') || s.s[i] == '_' || s.s[i] == '-'))
			return false;
	if (s.len)
		memcpy(name, s.s, s.len);
	name[s.len] = 0;
	return true;
}

static int file_route(const struct web_server *w, const struct web_request *r,
		      struct web_route *out)
{
	int status = web_access_check(&w->access, r, false, &out->why);

	if (status != 200)
		return status;
	out->action = ACT_FILE;
	out->file = static_file_find(r->path);
	if (!out->file)
		return refuse(out, 404, "there is no such file; the page is at /");
	if (r->method == WEB_POST) {
		out->allow = "GET, HEAD";
		return refuse(out, 405, "this file can only be read");
	}
	return 200;
}

static int limits_check(const struct web_server *w, const struct web_request *r, size_t i,
			struct web_route *out)
{
	if (r->body > actions[i].body)
		return refuse(out, 413, "the body of the request is too large: at most 64 MiB");
	if (actions[i].action == ACT_STREAM && w->streams >= w->most.streams)
		return refuse(out, 503, "too many streams are open; close a page");
	if (r->body > 1 << 20 && w->bodies >= w->most.bodies)
		return refuse(out, 503, "too many large requests at once; try again");
	return 200;
}

static int action_route(const struct web_server *w, const struct web_request *r, size_t i,
			struct web_route *out)
{
	int status = web_access_check(&w->access, r, true, &out->why);

	if (status != 200)
		return status;
	out->action = actions[i].action;
	if (r->method != actions[i].method) {
		out->allow = actions[i].method == WEB_POST ? "POST" : "GET";
		return refuse(out, 405, "this path has another method");
	}
	if (!session_read(r->session, out->session))
		return refuse(out, 400,
			      "session: expected at most 32 letters, digits, '-' and '_'");
	return limits_check(w, r, i, out);
}

void web_route(const struct web_server *w, const struct web_request *r, struct web_route *out)
{
	size_t i = 0;

	memset(out, 0, sizeof(*out));
	while (i < ARRAY_LEN(actions) && !web_text_is(r->path, actions[i].path))
		i++;
	out->status = i < ARRAY_LEN(actions) ? action_route(w, r, i, out) : file_route(w, r, out);
}
