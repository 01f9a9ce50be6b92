/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process around an engine. State: the engine, the socket, the time of the run, what-ifs under way. Way in:
 * engine_process(). Which checkpoint is woken is decided in the web process (engine_source.c).
 *
 * A checkpoint is a forked copy that waits for a message on a socket of its own. When it comes, with the socket that
 * the new engine shall use, the copy forks again: the child goes on as the engine, the copy stays a checkpoint.
 */
#include "web/engine_process.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/json.h"
#include "web/checkpoints.h"
#include "web/child_link.h"
#include "window/window.h"

enum { SLICE_US = 33333, WORK_US = 20000, WALL_MOST_US = 100000, WHAT_IFS = 4 };
enum { COMMAND_PARSED = 2 << 20 };		  /* bytes; longer ones are netlists */
enum { EVENTS_LEAST = 64, EVENTS_MOST = 200000 }; /* of a slice */
enum { STATE_NOW = FRAME_HEAD, STATE_EVENTS = FRAME_HEAD + 8 };

enum { LAST_BYTES = 200 };

struct what_if {
	int fd; /* 0: free */
	struct strbuf got;
	char *id;  /* JSON */
	char *job; /* NULL: it has no name and cannot be cancelled */
	bool answered;
};

struct engine {
	struct window *w;
	int fd;
	uint64_t now, events;  /* of the last STATE */
	uint64_t saved_events; /* at the last checkpoint */
	uint64_t interval;     /* events between checkpoints */
	bool has_run;	       /* `start` has made a run */
	uint64_t budget;       /* events of a slice */
	uint64_t slice_us;     /* when the last one began */
	bool busy;	       /* there is work */
	bool woken; /* from a checkpoint: it must not run ahead of the command that is to come */
	bool going; /* to a time: at full speed */
	bool alone; /* a what-if: only its answer is sent */
	bool muted, new_fabric, accepted; /* of the command that is being carried out */
	struct what_if what_if[WHAT_IFS];
	const char *doing; /* the last command, for a report of its death */
	char last[LAST_BYTES];
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void put_u64(uint8_t *p, uint64_t v)
{
	frame_put_u32(p, (uint32_t)v);
	frame_put_u32(p + 4, (uint32_t)(v >> 32));
}

/* ---- frames out ---- */

struct journal_tell {
	const struct engine *e;
	size_t from, i; /* the first one that is new; this one */
};

static void event_tell(void *ctx, time_ps at, const char *text)
{
	struct journal_tell *t = ctx;
	size_t len = strlen(text);
	uint8_t *m;

	if (t->i++ < t->from)
		return;
	m = mem_alloc(12 + len);
	put_u64(m, at);
	frame_put_u32(m + 8, (uint32_t)(t->i - 1));
	memcpy(m + 12, text, len);
	child_send_frame(t->e->fd, INTERNAL_EVENT, m, 12 + len, -1);
	free(m);
}

/* The web process keeps the journal: it is needed when this process is not there any more. */
static void journal_tell(const struct engine *e, size_t from)
{
	window_journal(e->w, event_tell, &(struct journal_tell){e, from, 0});
}

/* Faults to come were replaced, perhaps by none, also where one of the new ones is refused. */
static void future_tell(const struct engine *e)
{
	size_t done = window_journal(e->w, NULL, NULL);
	uint64_t events;
	uint8_t m[12];

	put_u64(m, window_now(e->w, &events));
	frame_put_u32(m + 8, (uint32_t)done);
	child_send_frame(e->fd, INTERNAL_CUT, m, sizeof(m), -1);
	journal_tell(e, done);
}

static void json_watch(struct engine *e, const uint8_t *frame, size_t len)
{
	json_t *a;

	if (len - FRAME_HEAD > 65536)
		return;
	a = json_loadb((const char *)frame + FRAME_HEAD, len - FRAME_HEAD, 0, NULL);
	if (json_object_get(a, "re"))
		e->accepted = !json_object_get(a, "error");
	json_decref(a);
}

static void emit(void *ctx, const uint8_t *frame, size_t len)
{
	struct engine *e = ctx;

	if (len < FRAME_HEAD)
		return;
	if (frame[4] == FRAME_STATE && len >= STATE_EVENTS + 8) {
		e->now = frame_u64(frame + STATE_NOW);
		e->events = frame_u64(frame + STATE_EVENTS);
	}
	e->new_fabric |= frame[4] == FRAME_FABRIC;
	if (e->muted || (e->alone && frame[4] != FRAME_JSON))
		return;
	if (frame[4] == FRAME_JSON && !e->alone)
		json_watch(e, frame, len);
	child_send(e->fd, frame, len, -1);
}

static void reply_error(struct engine *e, const char *id, const char *why)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_raw(&j, "re", id);
	json_str(&j, "error", why);
	json_close(&j);
	child_send_frame(e->fd, FRAME_JSON, j.out.s, j.out.len, -1);
	json_free(&j);
}

/* ---- what-ifs, and other commands that take long: a copy of this process computes, the answer comes back through a pipe ---- */

static _Noreturn void what_if_run(struct engine *e, int fd, const struct strbuf *command)
{
	close(e->fd);
	e->fd = fd;
	e->alone = true;
	child_watch(fd);
	child_report_death(NULL, NULL);
	window_command(e->w, command->s, command->len);
	_exit(0);
}

static struct what_if *what_if_free(struct engine *e)
{
	for (unsigned i = 0; i < WHAT_IFS; i++)
		if (!e->what_if[i].fd)
			return &e->what_if[i];
	return NULL;
}

static void what_if_start(struct engine *e, const struct strbuf *command, const char *id,
			  const char *job)
{
	struct what_if *q = what_if_free(e);
	int ends[2];
	pid_t pid;

	if (!q || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		reply_error(e, id, "too many of these at once; wait for one to end");
		return;
	}
	pid = child_fork();
	if (!pid)
		what_if_run(e, ends[1], command);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		reply_error(e, id, "no process for this");
		return;
	}
	q->fd = ends[0];
	q->id = mem_strdup(id);
	q->job = job ? mem_strdup(job) : NULL;
}

/* Its process ends with the socket. */
static void what_if_end(struct what_if *q)
{
	close(q->fd);
	strbuf_free(&q->got);
	free(q->id);
	free(q->job);
	*q = (struct what_if){0};
}

static void what_if_pass_on(struct engine *e, struct what_if *q)
{
	size_t at = 0, len;

	while (q->got.len - at >= FRAME_HEAD &&
	       (len = frame_u32((uint8_t *)q->got.s + at)) >= FRAME_HEAD &&
	       q->got.len - at >= len) {
		const char *text = q->got.s + at + FRAME_HEAD;

		q->answered |= len - FRAME_HEAD > 5 && !memcmp(text, "{\"re\"", 5);
		child_send(e->fd, q->got.s + at, len, -1);
		at += len;
	}
	q->got.len -= at;
	memmove(q->got.s, q->got.s + at, q->got.len);
}

/* Progress and the answer go to the page as they come. */
static void what_if_read(struct engine *e, struct what_if *q)
{
	char part[65536];
	ssize_t n = read(q->fd, part, sizeof(part));

	if (n > 0) {
		strbuf_addn(&q->got, part, (size_t)n);
		what_if_pass_on(e, q);
		return;
	}
	if (!q->answered)
		reply_error(e, q->id, "it ended without a result");
	what_if_end(q);
}

/* {"cmd": "cancel", "job": NAME}: what bears this name is answered by an error. */
static void what_if_cancel(struct engine *e, const char *job, const char *id)
{
	struct json j = {.line = true};
	uint64_t n = 0;

	for (unsigned i = 0; job && i < WHAT_IFS; i++) {
		struct what_if *q = &e->what_if[i];

		if (!q->fd || !q->job || strcmp(q->job, job))
			continue;
		if (!q->answered)
			reply_error(e, q->id, "cancelled");
		what_if_end(q);
		n++;
	}
	json_open(&j, NULL, '{');
	json_raw(&j, "re", id);
	json_bool(&j, "ok", true);
	json_u64(&j, "cancelled", n);
	json_close(&j);
	child_send_frame(e->fd, FRAME_JSON, j.out.s, j.out.len, -1);
	json_free(&j);
}

/* ---- checkpoints ---- */

/* A checkpoint's life. Returns in a new engine, which goes on from here. */
static void sleep_until_woken(struct engine *e, int fd)
{
	struct strbuf s = {0};
	unsigned kind;
	int passed;

	child_watch(-1);
	for (unsigned i = 0; i < WHAT_IFS; i++) { /* these are the engine's */
		if (e->what_if[i].fd)
			close(e->what_if[i].fd);
		e->what_if[i] = (struct what_if){0};
	}
	for (;;) {
		if (!child_receive(fd, &kind, &s, &passed) || passed < 0)
			_exit(0);
		if (kind == MSG_WAKE && !child_fork())
			break;
		close(passed);
	}
	strbuf_free(&s);
	close(fd);
	e->fd = passed;
	child_watch(passed);
	e->woken = true;
}

static void checkpoint_tell(struct engine *e, int fd)
{
	uint8_t m[20];

	put_u64(m, e->now);
	put_u64(m + 8, e->events);
	frame_put_u32(m + 16, (uint32_t)window_journal(e->w, NULL, NULL));
	child_send_frame(e->fd, INTERNAL_CHECKPOINT, m, sizeof(m), fd);
}

static void checkpoint(struct engine *e)
{
	int ends[2];
	pid_t pid;

	e->saved_events = e->events;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	pid = child_fork();
	if (!pid) {
		close(e->fd);
		close(ends[1]);
		sleep_until_woken(e, ends[0]);
		return;
	}
	close(ends[0]);
	if (pid > 0)
		checkpoint_tell(e, ends[1]);
	close(ends[1]);
}

/* Not at the very moment of an event that is still to come: it could be on either side. */
static void checkpoint_if_due(struct engine *e)
{
	e->now = window_now(e->w, &e->events);
	if (e->has_run && e->events >= e->saved_events + e->interval &&
	    window_next_fault(e->w) != e->now)
		checkpoint(e);
}

/* ---- messages in ---- */

static void run_is_new(struct engine *e, bool has_run)
{
	child_send_frame(e->fd, INTERNAL_RESET, NULL, 0, -1);
	e->has_run = has_run;
	e->now = window_now(e->w, &e->events);
	e->interval = CHECKPOINT_EVENTS;
	if (has_run)
		checkpoint(e); /* the way back to the start */
}

static void command_run(struct engine *e, const struct strbuf *s, const char *cmd)
{
	unsigned runs = window_runs(e->w);
	bool faults = !strcmp(cmd, "event") || !strcmp(cmd, "journal");

	snprintf(e->last, sizeof(e->last), "%.*s", (int)MIN(s->len, (size_t)LAST_BYTES - 1), s->s);
	e->new_fabric = e->accepted = false;
	window_command(e->w, s->s, s->len);
	if (window_runs(e->w) != runs) {
		run_is_new(e, true);
		journal_tell(e, 0);
	} else if (e->new_fabric && !faults) {
		run_is_new(e, false);
	} else if (faults && *cmd == 'j') {
		future_tell(e);
	} else if (faults && e->accepted) {
		journal_tell(e, window_journal(e->w, NULL, NULL) - 1);
	}
	e->going = window_is_going(e->w);
	e->busy = true;
}

static void command(struct engine *e, const struct strbuf *s)
{
	json_t *a = s->len <= COMMAND_PARSED ? json_loadb(s->s, s->len, 0, NULL) : NULL;
	const char *cmd = json_string_value(json_object_get(a, "cmd"));
	const char *job = json_string_value(json_object_get(a, "job"));
	char *id = json_object_get(a, "id") ? json_dumps(json_object_get(a, "id"), JSON_ENCODE_ANY)
					    : NULL;

	if (e->woken)
		e->slice_us = now_us();
	e->woken = false;
	if (cmd && (!strcmp(cmd, "whatif") || !strcmp(cmd, "quality")))
		what_if_start(e, s, id ? id : "null", job);
	else if (cmd && !strcmp(cmd, "cancel"))
		what_if_cancel(e, job, id ? id : "null");
	else
		command_run(e, s, cmd ? cmd : "");
	free(id);
	json_decref(a);
}

/* Events still to come, after a checkpoint was woken. */
static void journal(struct engine *e, const struct strbuf *s)
{
	e->muted = true;
	window_command(e->w, s->s, s->len);
	e->muted = false;
}

static void message(struct engine *e)
{
	struct strbuf s = {0};
	uint8_t now[8];
	unsigned kind;
	int passed;

	if (!child_receive(e->fd, &kind, &s, &passed))
		_exit(0);
	if (passed >= 0)
		close(passed);
	if (kind == MSG_COMMAND)
		command(e, &s);
	else if (kind == MSG_JOURNAL)
		journal(e, &s);
	else if (kind == MSG_INTERVAL && s.len == 8)
		e->interval = frame_u64((uint8_t *)s.s);
	else if (kind == MSG_ASK_NOW) {
		put_u64(now, window_now(e->w, &e->events));
		child_send_frame(e->fd, INTERNAL_NOW, now, sizeof(now), -1);
	}
	strbuf_free(&s);
}

/* ---- work ---- */

static void slice(struct engine *e)
{
	uint64_t begin = now_us(), wall = MIN(begin - e->slice_us, (uint64_t)WALL_MOST_US), took;

	e->slice_us = begin;
	e->busy = window_work(e->w, wall, e->budget);
	took = now_us() - begin;
	if (took > WORK_US)
		e->budget = MAX(e->budget * WORK_US / took, (uint64_t)EVENTS_LEAST);
	else if (took < WORK_US / 2)
		e->budget = MIN(e->budget * 2, (uint64_t)EVENTS_MOST);
	e->going = window_is_going(e->w);
	checkpoint_if_due(e);
}

/* Milliseconds until the next slice; -1: none is due. */
static int wait_ms(const struct engine *e)
{
	uint64_t passed = now_us() - e->slice_us;

	if (!e->busy || e->woken)
		return -1;
	return e->going || passed >= SLICE_US ? 0 : (int)((SLICE_US - passed + 999) / 1000);
}

static void turn(struct engine *e)
{
	struct pollfd p[1 + WHAT_IFS] = {{.fd = e->fd, .events = POLLIN}};
	int n;

	for (unsigned i = 0; i < WHAT_IFS; i++)
		p[1 + i] = (struct pollfd){.fd = e->what_if[i].fd ? e->what_if[i].fd : -1,
					   .events = POLLIN};
	n = poll(p, ARRAY_LEN(p), wait_ms(e));
	for (unsigned i = 0; n > 0 && i < WHAT_IFS; i++)
		if (p[1 + i].revents)
			what_if_read(e, &e->what_if[i]);
	if (n > 0 && p[0].revents)
		message(e);
	else if (!wait_ms(e))
		slice(e);
}

void engine_process(int fd, void *ctx UNUSED)
{
	struct engine *e = mem_zalloc(sizeof(*e));

#ifdef _OPENMP
	omp_set_num_threads(1); /* a fork copies one thread */
#endif
	e->fd = fd;
	e->interval = CHECKPOINT_EVENTS;
	e->budget = 20000;
	e->slice_us = now_us();
	e->w = window_new(emit, e);
	e->doing = e->last;
	child_report_death(&e->fd, &e->doing);
	for (;;)
		turn(e);
}
