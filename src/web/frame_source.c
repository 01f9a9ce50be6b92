/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child that makes frames, seen from the web process. State: its link, its checkpoints, commands that wait behind a
 * `go`. Way in: frame_source_start(). What the child does is in engine_process.c and live_process.c.
 */
#include "web/frame_source.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/checkpoints.h"
#include "web/child_pipe.h"

enum { GO_MAX = 4096, HELD_MOST = 64, HELD_BYTES = 128 << 20 };

struct frame_source {
	uv_loop_t *loop;
	struct child_pipe *pipe;
	pid_t group;
	struct frame_source_ops ops;
	bool engine;
	struct checkpoints k;
	bool asked;	  /* what the engine's time is, because of: */
	struct strbuf go; /* the command */
	uint64_t go_at;
	VEC(struct strbuf) held; /* commands behind it */
	size_t held_bytes;
	struct strbuf why; /* it ended */
};

/* ---- going to a moment ---- */

/* {"cmd":"go","at":...}: its time. */
static bool is_go(const struct strbuf *s, uint64_t *at)
{
	const json_t *v;
	json_t *a;
	bool go;

	if (s->len > GO_MAX || !memmem(s->s, s->len, "\"go\"", 4))
		return false;
	a = json_loadb(s->s, s->len, 0, NULL);
	v = json_object_get(a, "cmd");
	go = json_is_string(v) && !strcmp(json_string_value(v), "go");
	v = json_object_get(a, "at");
	if (go && json_is_string(v))
		go = !parse_u64(json_string_value(v), at);
	else if (go && json_is_integer(v) && json_integer_value(v) >= 0)
		*at = (uint64_t)json_integer_value(v);
	else
		go = false;
	json_decref(a);
	return go;
}

static void send_message(struct frame_source *s, unsigned kind, const void *data, size_t len)
{
	struct strbuf m = {0};

	strbuf_addn(&m, data, len);
	child_pipe_send(s->pipe, kind, &m);
	strbuf_free(&m);
}

static void interval_tell(struct frame_source *s)
{
	uint8_t m[8];

	frame_put_u32(m, (uint32_t)s->k.interval);
	frame_put_u32(m + 4, (uint32_t)(s->k.interval >> 32));
	send_message(s, MSG_INTERVAL, m, sizeof(m));
}

static void pipe_use(struct frame_source *s, int fd);

/* Wakes checkpoint i and talks to the engine that it makes. False: the checkpoint is gone. */
static bool wake(struct frame_source *s, size_t i)
{
	uint8_t head[MSG_HEAD];
	struct strbuf journal = {0};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	frame_put_u32(head, MSG_HEAD);
	frame_put_u32(head + 4, MSG_WAKE);
	if (!child_try_send(s->k.c.at[i].fd, head, sizeof(head), ends[1])) {
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	close(ends[1]);
	child_pipe_close(s->pipe);
	pipe_use(s, ends[0]);
	checkpoints_journal(&s->k, s->k.c.at[i].done, &journal);
	child_pipe_send(s->pipe, MSG_JOURNAL, &journal);
	strbuf_free(&journal);
	interval_tell(s);
	return true;
}

/* Before the first checkpoint there is nothing: it is the moment that comes next. */
static void go_not_before(struct frame_source *s, uint64_t first)
{
	json_t *a = json_loadb(s->go.s, s->go.len, 0, NULL);
	char at[24], *text;

	snprintf(at, sizeof(at), "%llu", (unsigned long long)first);
	json_object_set_new(a, "at", json_string(at));
	text = json_dumps(a, JSON_COMPACT);
	s->go.len = 0;
	strbuf_add(&s->go, text);
	s->go_at = first;
	free(text);
	json_decref(a);
}

/* The engine is at `now`: it goes on from there, or another one goes from a checkpoint. */
static void go(struct frame_source *s, uint64_t now)
{
	int i;

	if (s->k.c.n && s->go_at < s->k.c.at[0].at)
		go_not_before(s, s->k.c.at[0].at);
	i = checkpoints_find(&s->k, s->go_at);
	while (i >= 0 && (s->go_at < now || s->k.c.at[i].at > now) && !wake(s, (size_t)i)) {
		checkpoints_remove(&s->k, (size_t)i);
		i = checkpoints_find(&s->k, s->go_at);
	}
	child_pipe_send(s->pipe, MSG_COMMAND, &s->go);
	strbuf_free(&s->go);
}

static void held_release(struct frame_source *s)
{
	size_t i = 0;

	s->asked = false;
	while (i < s->held.n && !s->asked) {
		s->held_bytes -= s->held.at[i].len;
		frame_source_command(s, &s->held.at[i]);
		strbuf_free(&s->held.at[i++]);
	}
	if (!i)
		return;
	s->held.n -= i;
	memmove(s->held.at, s->held.at + i, s->held.n * sizeof(*s->held.at));
}

static bool hold(struct frame_source *s, struct strbuf *json)
{
	if (s->held.n >= HELD_MOST || s->held_bytes + json->len > HELD_BYTES)
		return false;
	s->held_bytes += json->len;
	vec_push(&s->held, *json);
	*json = (struct strbuf){0};
	return true;
}

bool frame_source_command(struct frame_source *s, struct strbuf *json)
{
	if (!s->pipe)
		return false;
	if (s->asked)
		return hold(s, json);
	if (!s->engine || !is_go(json, &s->go_at))
		return child_pipe_send(s->pipe, MSG_COMMAND, json);
	if (!child_pipe_send(s->pipe, MSG_ASK_NOW, &(struct strbuf){0}))
		return false;
	s->asked = true;
	strbuf_free(&s->go);
	strbuf_addn(&s->go, json->s, json->len);
	return true;
}

/* ---- frames ---- */

static void checkpoint_take(struct frame_source *s, const uint8_t *p, int fd)
{
	struct checkpoint c = {.at = frame_u64(p),
			       .events = frame_u64(p + 8),
			       .done = frame_u32(p + 16),
			       .fd = fd};

	if (checkpoints_add(&s->k, &c))
		interval_tell(s);
}

static void event_take(struct frame_source *s, const uint8_t *p, size_t len)
{
	struct strbuf text = {0};

	strbuf_addn(&text, (const char *)p + 12, len - 12);
	checkpoints_event(&s->k, frame_u32(p + 8), frame_u64(p), text.s);
	strbuf_free(&text);
}

/* Frames that are only between the two processes. */
static void internal(struct frame_source *s, struct frame *f, int fd)
{
	const uint8_t *p = f->data + FRAME_HEAD;
	size_t len = f->len - FRAME_HEAD;
	unsigned kind = frame_kind(f);

	if (kind == INTERNAL_CHECKPOINT && len >= 20 && fd >= 0) {
		checkpoint_take(s, p, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (kind == INTERNAL_EVENT && len >= 12) {
		event_take(s, p, len);
	} else if (kind == INTERNAL_CUT && len >= 12) {
		checkpoints_cut(&s->k, frame_u32(p + 8), frame_u64(p));
	} else if (kind == INTERNAL_DEATH) {
		strbuf_free(&s->why);
		strbuf_addn(&s->why, (const char *)p, len);
	} else if (kind == INTERNAL_RESET) {
		checkpoints_reset(&s->k);
	} else if (kind == INTERNAL_NOW && len >= 8 && s->asked) {
		go(s, frame_u64(p));
		held_release(s);
	}
}

static void pipe_frame(void *ctx, struct frame *f, int fd)
{
	struct frame_source *s = ctx;

	if (frame_kind(f) >= FRAME_INTERNAL) {
		internal(s, f, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	s->ops.frame(s->ops.ctx, f);
}

static void pipe_ended(void *ctx)
{
	struct frame_source *s = ctx;

	s->pipe = NULL;
	s->ops.ended(s->ops.ctx);
}

static void pipe_use(struct frame_source *s, int fd)
{
	s->pipe = child_pipe_open(s->loop, fd, &(struct child_pipe_ops){pipe_frame, pipe_ended, s});
}

struct frame_source *frame_source_start(uv_loop_t *loop, void (*body)(int fd, void *ctx),
					void *copy, bool engine, const struct frame_source_ops *ops)
{
	struct frame_source *s = mem_zalloc(sizeof(*s));
	int fd;

	s->loop = loop;
	s->engine = engine;
	s->ops = *ops;
	checkpoints_reset(&s->k);
	s->group = child_start(body, copy, &fd);
	if (s->group < 0) {
		errno = -s->group;
		free(s);
		return NULL;
	}
	pipe_use(s, fd);
	return s;
}

const char *frame_source_why(const struct frame_source *s)
{
	return s->why.s ? s->why.s : "";
}

void frame_source_free(struct frame_source *s)
{
	if (!s)
		return;
	child_pipe_close(s->pipe);
	kill(-s->group, SIGKILL);
	checkpoints_reset(&s->k);
	for (size_t i = 0; i < s->held.n; i++)
		strbuf_free(&s->held.at[i]);
	vec_free(&s->held);
	strbuf_free(&s->go);
	strbuf_free(&s->why);
	free(s);
}
