/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions, their processes and streams. State: the list of sessions. Way in: the functions of the handler
 * (web_sessions_handler()).
 */
#include "web/web_sessions.h"

#include "base/json.h"
#include "web/frame_source.h"

struct session {
	struct web_sessions *all;
	char name[WEB_SESSION_MAX + 1];
	bool live;
	struct frame_source *source;  /* NULL: it ended */
	bool dead;		      /* source has ended and is freed soon */
	struct frame *fabric, *state; /* the last ones, for a page that comes later */
	VEC(struct web_stream *) streams;
	uv_timer_t timer;
	uint64_t idle_since;
};

struct web_sessions {
	uv_loop_t *loop;
	struct web_sessions_config config;
	VEC(struct session *) list;
	unsigned timers; /* not closed yet */
	bool ending;
};

/* ---- frames to streams ---- */

static void send_all(struct session *s, struct frame *f)
{
	for (size_t i = 0; i < s->streams.n; i++)
		web_stream_send(s->streams.at[i], f);
}

static void say(struct session *s, const char *json)
{
	struct frame *f = frame_json(json);

	send_all(s, f);
	frame_unref(f);
}

static void keep(struct frame **slot, struct frame *f)
{
	frame_unref(*slot);
	*slot = f ? frame_ref(f) : NULL;
}

static void source_frame(void *ctx, struct frame *f)
{
	struct session *s = ctx;

	if (frame_kind(f) == FRAME_FABRIC) {
		keep(&s->fabric, f);
		keep(&s->state, NULL);
	} else if (frame_kind(f) == FRAME_STATE) {
		keep(&s->state, f);
	}
	send_all(s, f);
}

/* ---- the process ---- */

static void session_timer(uv_timer_t *t);

static void source_ended(void *ctx)
{
	struct session *s = ctx;
	struct json j = {.line = true};
	const char *why = frame_source_why(s->source);
	struct strbuf text = {0};

	s->dead = true;
	strbuf_addf(&text, "the %s ended: %s", s->live ? "process that asks the manager" : "engine",
		    *why ? why : "it was killed, perhaps for lack of memory");
	json_open(&j, NULL, '{');
	json_str(&j, "engine", "ended");
	json_str(&j, "why", text.s);
	json_close(&j);
	say(s, j.out.s);
	json_free(&j);
	strbuf_free(&text);
	uv_timer_start(&s->timer, session_timer, 0, 0);
}

static bool source_start(struct session *s)
{
	const struct web_sessions_config *c = &s->all->config;
	struct frame_source_ops ops = {source_frame, source_ended, s};
	struct strbuf open = {0};

	s->dead = false;
	s->source = s->live ? frame_source_start(s->all->loop, c->live, c->live_ctx, false, &ops)
			    : frame_source_start(s->all->loop, c->engine, NULL, true, &ops);
	if (!s->source)
		return false;
	if (!s->live && c->open) {
		strbuf_addn(&open, c->open->s, c->open->len);
		frame_source_command(s->source, &open);
		strbuf_free(&open);
	}
	return true;
}

static void source_stop(struct session *s)
{
	frame_source_free(s->source);
	s->source = NULL;
	keep(&s->fabric, NULL);
	keep(&s->state, NULL);
}

/* ---- sessions ---- */

static void session_closed(uv_handle_t *h)
{
	struct session *s = h->data;
	struct web_sessions *all = s->all;

	vec_free(&s->streams);
	free(s);
	if (!--all->timers && all->ending) {
		vec_free(&all->list);
		free(all);
	}
}

static void session_end(struct session *s)
{
	struct web_sessions *all = s->all;
	size_t i = 0;

	while (all->list.at[i] != s)
		i++;
	all->list.n--;
	memmove(all->list.at + i, all->list.at + i + 1, (all->list.n - i) * sizeof(*all->list.at));
	source_stop(s);
	uv_close((uv_handle_t *)&s->timer, session_closed);
}

/* The process ended, or no page came back. */
static void session_timer(uv_timer_t *t)
{
	struct session *s = t->data;

	if (s->dead) {
		source_stop(s);
		s->dead = false;
	}
	if (s->streams.n)
		return;
	if (uv_now(s->all->loop) - s->idle_since >= SESSION_IDLE_MS)
		session_end(s);
	else
		uv_timer_start(t, session_timer, SESSION_IDLE_MS, 0);
}

static const char *name_of(const struct web_sessions *all, const char *name)
{
	return *name ? name : all->config.live ? "live" : "main";
}

static struct session *session_find(const struct web_sessions *all, const char *name)
{
	for (size_t i = 0; i < all->list.n; i++)
		if (!strcmp(all->list.at[i]->name, name_of(all, name)))
			return all->list.at[i];
	return NULL;
}

/* Room for one more. */
static bool session_make_room(struct web_sessions *all)
{
	struct session *oldest = NULL;

	if (all->list.n < SESSIONS_MOST)
		return true;
	for (size_t i = 0; i < all->list.n; i++)
		if (!all->list.at[i]->streams.n &&
		    (!oldest || all->list.at[i]->idle_since < oldest->idle_since))
			oldest = all->list.at[i];
	if (oldest)
		session_end(oldest);
	return oldest;
}

static struct session *session_new(struct web_sessions *all, const char *name, const char **why)
{
	struct session *s;

	if (!strcmp(name_of(all, name), "live") && !all->config.live) {
		*why = "there is no live source: start weft ui with --live";
		return NULL;
	}
	if (!session_make_room(all)) {
		*why = "too many sessions; close a page";
		return NULL;
	}
	s = mem_zalloc(sizeof(*s));
	s->all = all;
	snprintf(s->name, sizeof(s->name), "%s", name_of(all, name));
	s->live = !strcmp(s->name, "live");
	s->timer.data = s;
	uv_timer_init(all->loop, &s->timer);
	all->timers++;
	s->idle_since = uv_now(all->loop);
	vec_push(&all->list, s);
	if (source_start(s))
		return s;
	*why = "no process could be started for the session";
	session_end(s);
	return NULL;
}

/* ---- what the server asks ---- */

static void hello(struct session *s, struct web_stream *stream)
{
	const struct web_sessions_config *c = &s->all->config;
	struct json j = {.line = true};
	struct frame *f;

	json_open(&j, NULL, '{');
	json_open(&j, "hello", '{');
	json_str(&j, "version", WEFT_VERSION);
	json_str(&j, "session", s->name);
	json_str(&j, "source", s->live ? "live" : "engine");
	if (c->live)
		json_str(&j, "live", c->live_name);
	else
		json_none(&j, "live");
	if (c->file)
		json_str(&j, "file", c->file);
	else
		json_none(&j, "file");
	json_bool(&j, "changes", c->changes);
	json_bool(&j, "running", s->source && !s->dead);
	json_close(&j);
	json_close(&j);
	f = frame_new(FRAME_JSON, j.out.s, j.out.len);
	web_stream_send(stream, f);
	frame_unref(f);
	json_free(&j);
}

static int on_stream(void *ctx, const char *name, struct web_stream *stream, const char **why)
{
	struct session *s = session_find(ctx, name);

	if (!s)
		s = session_new(ctx, name, why);
	if (!s)
		return 503;
	if (s->streams.n >= SESSION_STREAMS) {
		*why = "too many pages of this session; close one";
		return 503;
	}
	hello(s, stream);
	if (s->fabric)
		web_stream_send(stream, s->fabric);
	if (s->state)
		web_stream_send(stream, s->state);
	vec_push(&s->streams, stream);
	web_stream_set_data(stream, s);
	return 200;
}

static void on_left(void *ctx UNUSED, struct web_stream *stream)
{
	struct session *s = web_stream_data(stream);
	size_t i = 0;

	while (s->streams.at[i] != stream)
		i++;
	s->streams.at[i] = s->streams.at[--s->streams.n];
	if (s->streams.n)
		return;
	s->idle_since = uv_now(s->all->loop);
	if (!s->dead)
		uv_timer_start(&s->timer, session_timer, SESSION_IDLE_MS, 0);
}

static int on_command(void *ctx, const char *name, struct strbuf *body, const char **why)
{
	struct session *s = session_find(ctx, name);

	if (!s) {
		*why = "there is no such session: open its stream first";
		return 404;
	}
	if (!s->source || s->dead) {
		*why = "the process of this session has ended: send /restart";
		return 409;
	}
	if (frame_source_command(s->source, body))
		return 204;
	*why = "too many commands wait for the process of this session";
	return 503;
}

static int on_restart(void *ctx, const char *name, const char **why)
{
	struct session *s = session_find(ctx, name);

	if (!s) {
		*why = "there is no such session: open its stream first";
		return 404;
	}
	source_stop(s);
	if (!source_start(s)) {
		*why = "no process could be started for the session";
		return 503;
	}
	say(s, "{\"engine\":\"started\"}");
	return 204;
}

struct web_sessions *web_sessions_new(uv_loop_t *loop, const struct web_sessions_config *config)
{
	struct web_sessions *all = mem_zalloc(sizeof(*all));

	all->loop = loop;
	all->config = *config;
	return all;
}

void web_sessions_handler(struct web_sessions *s, struct web_handler *h)
{
	*h = (struct web_handler){on_stream, on_left, on_command, on_restart, s};
}

void web_sessions_free(struct web_sessions *s)
{
	s->ending = true;
	if (!s->list.n && !s->timers) {
		vec_free(&s->list);
		free(s);
		return;
	}
	while (s->list.n)
		session_end(s->list.at[0]);
}
