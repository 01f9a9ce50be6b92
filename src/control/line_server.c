/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server of a control socket. State: the listening socket and, for each client, requests not
 * answered yet, responses that come later and responses not written yet. Ways in: lines_listen() and callbacks of its libuv loop.
 * Does not interpret lines; the client is line_client.c.
 */
#include "control/lines_priv.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/vec.h"

enum {
	LINE_MAX_BYTES = 64 << 10,
	UNREAD_MAX_BYTES = 16 << 20,
	BACKLOG = 128,
	TICK_MS = 20,	   /* how often requests beyond the rate are served */
	IDLE_CHECKS = 8,   /* within the idle time */
	LATER_MOST = 4096, /* responses of a client that wait; then it is not read */
	ALL_LINES = ~0u >> 1,
};

/* A response that comes later, or one that waits for it. */
struct later {
	uint64_t ticket; /* 0: text is the response */
	struct strbuf text;
};

struct client {
	struct client *next, *prev;
	struct lines *l;
	uv_pipe_t pipe;
	struct strbuf in; /* received, not answered yet, from in_at on */
	size_t in_at;
	VEC(struct later) later; /* in the order of requests */
	unsigned writes;	 /* not completed */
	uint64_t active_ms;	 /* when it last sent a request or took a response */
	bool waiting;		 /* a request waits for the rate */
	bool events;		 /* subscribed to events */
	bool ended;		 /* the client has closed its sending side */
	char chunk[16 << 10];
};

struct lines {
	uv_pipe_t pipe;
	struct client *clients;
	unsigned n;	  /* clients */
	unsigned handles; /* not closed yet, the listening one included */
	struct lines_limits most;
	uv_timer_t tick, idle;
	uint64_t spent, second_ms; /* requests in the present second, and its begin */
	bool closing;
	uint64_t tickets; /* given so far */
	bool deferred;	  /* the request that is being answered is answered later */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	dev_t dev; /* of the socket file: only this one is removed */
	ino_t ino;
	lines_answer *answer;
	void *ctx;
};

struct out {
	uv_write_t req;
	struct client *c;
	char *text;
};

/* ---- clients ---- */

static void handle_closed(struct lines *l)
{
	if (!--l->handles)
		free(l);
}

static void client_closed(uv_handle_t *h)
{
	struct client *c = h->data;

	strbuf_free(&c->in);
	for (size_t i = 0; i < c->later.n; i++)
		strbuf_free(&c->later.at[i].text);
	vec_free(&c->later);
	handle_closed(c->l);
	free(c);
}

static void client_drop(struct client *c)
{
	if (uv_is_closing((uv_handle_t *)&c->pipe))
		return;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->l->clients = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->l->n--;
	uv_close((uv_handle_t *)&c->pipe, client_closed);
}

static void client_serve(struct client *c, unsigned most);

static void client_is_active(struct client *c)
{
	c->active_ms = uv_now(c->pipe.loop);
}

static void out_done(uv_write_t *req, int status)
{
	struct out *o = req->data;
	struct client *c = o->c;

	free(o->text);
	free(o);
	c->writes--;
	if (status < 0) {
		client_drop(c);
		return;
	}
	client_is_active(c);
	client_serve(c, ALL_LINES);
}

/* Takes ownership of the text. The loop writes what the socket does not accept at once. */
static void client_put(struct client *c, struct strbuf *text)
{
	uv_buf_t b = uv_buf_init(text->s, (unsigned)text->len);
	bool gone = uv_is_closing((uv_handle_t *)&c->pipe);
	int n = gone || c->writes ? 0 : uv_try_write((uv_stream_t *)&c->pipe, &b, 1);
	struct out *o;

	if (gone || n == (int)text->len) {
		strbuf_free(text);
		return;
	}
	o = mem_zalloc(sizeof(*o));
	o->c = c;
	o->text = text->s;
	o->req.data = o;
	n = MAX(n, 0);
	b = uv_buf_init(text->s + n, (unsigned)(text->len - (size_t)n));
	if (uv_write(&o->req, (uv_stream_t *)&c->pipe, &b, 1, out_done)) {
		free(o->text);
		free(o);
		client_drop(c);
		return;
	}
	c->writes++;
}

static void one_line(struct strbuf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (b->s[i] == '\n' || b->s[i] == '\0')
			b->s[i] = ' ';
	while (b->len && b->s[b->len - 1] == ' ')
		b->len--;
	strbuf_add(b, "\n");
}

static void client_answer(struct client *c, char *line, size_t len)
{
	struct strbuf out = {0};

	if (memchr(line, 0, len)) {
		client_drop(c);
		return;
	}
	if (len && line[len - 1] == '\r')
		len--;
	line[len] = 0;
	if (!strcmp(line, "events")) {
		c->events = true;
		strbuf_addf(&out, "{\"ok\":true,\"version\":%d}", LINES_EVENTS_VERSION);
	} else {
		c->l->deferred = false;
		c->l->answer(c->l->ctx, line, &out);
	}
	if (c->l->deferred || c->later.n)
		vec_push(&c->later, (struct later){c->l->deferred ? c->l->tickets : 0, out});
	if (c->l->deferred || c->later.n) {
		c->l->deferred = false;
		return;
	}
	one_line(&out);
	client_put(c, &out);
}

/* ---- responses that come later ---- */

uint64_t lines_defer(struct lines *l)
{
	l->deferred = true;
	return ++l->tickets;
}

/* Sends those that wait for no other. */
static void later_put(struct client *c)
{
	size_t n = 0;

	while (n < c->later.n && !c->later.at[n].ticket) {
		one_line(&c->later.at[n].text);
		client_put(c, &c->later.at[n++].text);
	}
	c->later.n -= n;
	memmove(c->later.at, c->later.at + n, c->later.n * sizeof(*c->later.at));
	client_is_active(c);
	client_serve(c, ALL_LINES);
}

void lines_reply(struct lines *l, uint64_t ticket, struct strbuf *text)
{
	for (struct client *c = l->clients; c; c = c->next)
		for (size_t i = 0; i < c->later.n; i++)
			if (c->later.at[i].ticket == ticket) {
				c->later.at[i] = (struct later){0, *text};
				if (!i)
					later_put(c);
				return;
			}
	strbuf_free(text); /* the client is gone */
}

/* The next complete line, or the rest after the client has closed its sending side. */
static char *line_take(struct client *c, size_t *len)
{
	char *at = c->in.s + c->in_at, *end;
	size_t left = c->in.len - c->in_at;

	end = left ? memchr(at, '\n', left) : NULL;
	if (!end && (!c->ended || !left))
		return NULL;
	*len = end ? (size_t)(end - at) : left;
	c->in_at += *len + (end ? 1 : 0);
	return at;
}

/* ---- limits ---- */

/* One more request within this second? */
static bool rate_allows(struct lines *l)
{
	uint64_t now = uv_now(l->pipe.loop);

	if (now >= l->second_ms + 1000) {
		l->second_ms = now;
		l->spent = 0;
	}
	return !l->most.rate || l->spent < l->most.rate;
}

/* One request of each client in turn, so that a greedy one does not take what others need. */
static void on_tick(uv_timer_t *t)
{
	struct lines *l = t->data;
	bool waits = true;

	while (waits && rate_allows(l)) {
		waits = false;
		for (struct client *c = l->clients, *next; c; c = next) {
			next = c->next;
			if (!c->waiting)
				continue;
			waits = true;
			c->waiting = false;
			client_serve(c, 1);
		}
	}
	if (waits)
		uv_timer_start(t, on_tick, TICK_MS, 0);
}

static void client_wait(struct client *c)
{
	c->waiting = true;
	uv_read_stop((uv_stream_t *)&c->pipe);
	if (!uv_is_active((uv_handle_t *)&c->l->tick))
		uv_timer_start(&c->l->tick, on_tick, TICK_MS, 0);
}

static void on_idle(uv_timer_t *t)
{
	struct lines *l = t->data;
	uint64_t now = uv_now(t->loop);

	for (struct client *c = l->clients, *next; c; c = next) {
		next = c->next;
		if (!c->events && !c->waiting && !c->later.n &&
		    now > c->active_ms + l->most.idle_s * 1000ull)
			client_drop(c);
	}
}

void lines_limit(struct lines *l, const struct lines_limits *most)
{
	uint64_t check_ms = most->idle_s * 1000ull / IDLE_CHECKS;

	l->most = *most;
	uv_timer_stop(&l->idle);
	if (most->idle_s)
		uv_timer_start(&l->idle, on_idle, check_ms, check_ms);
}

static void client_refuse(struct client *c)
{
	static const char text[] = "{\"ok\":false,\"error\":\"too many connections "
				   "(control.connections)\"}\n";
	uv_buf_t b = uv_buf_init((char *)text, sizeof(text) - 1);

	uv_try_write((uv_stream_t *)&c->pipe, &b, 1);
	client_drop(c);
}

/* ---- requests ---- */

static void chunk_give(uv_handle_t *h, size_t want UNUSED, uv_buf_t *b)
{
	struct client *c = h->data;

	*b = uv_buf_init(c->chunk, sizeof(c->chunk));
}

static void client_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct client *c = s->data;

	client_is_active(c);
	if (n > 0) {
		strbuf_addn(&c->in, b->base, (size_t)n);
	} else if (n == UV_EOF) {
		c->ended = true;
		uv_read_stop(s);
	} else if (n < 0) {
		client_drop(c);
		return;
	}
	client_serve(c, ALL_LINES);
}

/* Answers complete lines; false: one waits for the rate, or for its turn. */
static bool client_answer_some(struct client *c, unsigned most)
{
	char *line;
	size_t len, was;

	while (!uv_is_closing((uv_handle_t *)&c->pipe) && !c->writes && c->later.n < LATER_MOST) {
		was = c->in_at;
		line = line_take(c, &len);
		if (!line)
			return true;
		if (!most-- || !rate_allows(c->l)) {
			c->in_at = was;
			return false;
		}
		c->l->spent++;
		client_answer(c, line, len);
	}
	return true;
}

/* Answers received lines until a response cannot be written at once, then stops reading this client. */
static void client_serve(struct client *c, unsigned most)
{
	uv_stream_t *s = (uv_stream_t *)&c->pipe;
	bool all = c->waiting ? false : client_answer_some(c, most);

	if (uv_is_closing((uv_handle_t *)s))
		return;
	if (c->in_at) {
		memmove(c->in.s, c->in.s + c->in_at, c->in.len - c->in_at);
		c->in.len -= c->in_at;
		c->in_at = 0;
	}
	if (!all)
		client_wait(c);
	else if (c->writes || c->later.n >= LATER_MOST || (c->ended && c->later.n))
		uv_read_stop(s);
	else if (c->ended || c->in.len > LINE_MAX_BYTES)
		client_drop(c);
	else
		uv_read_start(s, chunk_give, client_read);
}

static void client_accept(uv_stream_t *server, int status)
{
	struct lines *l = server->data;
	struct client *c;

	if (status < 0)
		return;
	c = mem_zalloc(sizeof(*c));
	c->l = l;
	c->pipe.data = c;
	uv_pipe_init(server->loop, &c->pipe, 0);
	l->handles++;
	c->next = l->clients;
	if (c->next)
		c->next->prev = c;
	l->clients = c;
	l->n++;
	client_is_active(c);
	if (uv_accept(server, (uv_stream_t *)&c->pipe))
		client_drop(c);
	else if (l->most.clients && l->n > l->most.clients)
		client_refuse(c);
	else
		uv_read_start((uv_stream_t *)&c->pipe, chunk_give, client_read);
}

/* ---- the socket ---- */

static int socket_bind(struct lines *l, const struct sockaddr_un *a, unsigned mode, struct err *e)
{
	struct stat st;
	int fd = lines_socket(), rc = 0;

	if (fd < 0 || bind(fd, (const struct sockaddr *)a, sizeof(*a)))
		rc = -errno;
	else if (chmod(l->path, mode) ||
		 lstat(l->path, &st)) /* no client can connect before listen() */
		rc = -errno;
	if (rc) {
		if (fd >= 0)
			close(fd);
		return err_set(e, rc, "%s: cannot listen: %s", a->sun_path, strerror(-rc));
	}
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return fd;
}

static void path_remove(const struct lines *l)
{
	struct stat st;

	if (!lstat(l->path, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
}

static void server_closed(uv_handle_t *h)
{
	handle_closed(h->data);
}

static int server_start(struct lines *l, uv_loop_t *loop, unsigned mode, struct err *e)
{
	struct sockaddr_un a;
	int rc = lines_address(&a, l->path, e), fd;

	rc = rc ? rc : lines_path_free(&a, e);
	fd = rc ? rc : socket_bind(l, &a, mode, e);
	if (fd < 0)
		return fd;
	uv_pipe_init(loop, &l->pipe, 0);
	l->pipe.data = l;
	uv_timer_init(loop, &l->tick);
	uv_timer_init(loop, &l->idle);
	uv_unref((uv_handle_t *)&l->idle);
	l->tick.data = l->idle.data = l;
	l->handles = 3;
	rc = uv_pipe_open(&l->pipe, fd);
	if (rc)
		close(fd);
	rc = rc ? rc : uv_listen((uv_stream_t *)&l->pipe, BACKLOG, client_accept);
	if (!rc)
		return 0;
	err_set(e, rc, "%s: cannot listen: %s", l->path, uv_strerror(rc));
	lines_close(l);
	return rc;
}

int lines_listen(struct lines **out, uv_loop_t *loop, const char *path, unsigned mode,
		 lines_answer *answer, void *ctx, struct err *e)
{
	struct sockaddr_un a;
	struct lines *l;
	int rc = lines_address(&a, path, e), lock;

	if (rc)
		return rc;
	l = mem_zalloc(sizeof(*l));
	snprintf(l->path, sizeof(l->path), "%s", path);
	l->answer = answer;
	l->ctx = ctx;
	lock = lines_directory_lock(path);
	rc = server_start(l, loop, mode, e);
	if (lock >= 0)
		close(lock);
	if (!rc)
		*out = l;
	else if (!l->handles)
		free(l);
	return rc;
}

void lines_send_event(struct lines *l, const char *line)
{
	for (struct client *c = l->clients, *next; c; c = next) {
		struct strbuf out = {0};

		next = c->next;
		if (!c->events)
			continue;
		if (uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) > UNREAD_MAX_BYTES) {
			client_drop(c);
			continue;
		}
		strbuf_add(&out, line);
		one_line(&out);
		client_put(c, &out);
	}
}

void lines_close(struct lines *l)
{
	if (!l || l->closing)
		return;
	l->closing = true;
	path_remove(l);
	while (l->clients)
		client_drop(l->clients);
	uv_close((uv_handle_t *)&l->pipe, server_closed);
	uv_close((uv_handle_t *)&l->tick, server_closed);
	uv_close((uv_handle_t *)&l->idle, server_closed);
}
