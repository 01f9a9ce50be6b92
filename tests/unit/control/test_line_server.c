/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines over a unix socket: a server in a loop; clients that are correct, hasty, silent or broken; the
 * blocking client on another thread.
 * Covers: line_server.c, line_client.c, line_socket.c
 */
#include "unit_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/lines.h"

struct world {
	uv_loop_t loop;
	struct lines *l;
	char dir[64], path[80];
	unsigned asked;
	uint64_t ticket; /* of the first request that is answered later; the others follow */
	unsigned later;
};

/* "later" is answered when the test says so; "echo X" comes back; "big N" gives N bytes; the rest is refused. */
static void answer(void *ctx, const char *line, struct strbuf *out)
{
	struct world *w = ctx;
	unsigned n;

	w->asked++;
	if (!strncmp(line, "echo ", 5))
		strbuf_add(out, line + 5);
	else if (sscanf(line, "big %u", &n) == 1)
		for (unsigned i = 0; i < n; i++)
			strbuf_add(out, "x");
	else if (!strcmp(line, "two lines"))
		strbuf_add(out, "{\n  \"ok\": true\n}\n");
	else if (!strcmp(line, "later"))
		w->ticket = lines_defer(w->l) - w->later++;
	else if (!strcmp(line, "close"))
		lines_close(w->l);
	else
		strbuf_addf(out, "what is '%s'?", line);
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct err e;

	signal(SIGPIPE, SIG_IGN);
	strcpy(w->dir, "/tmp/weft-lines-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/ctl", w->dir);
	uv_loop_init(&w->loop);
	assert_int_equal(lines_listen(&w->l, &w->loop, w->path, 0600, answer, w, &e), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	lines_close(w->l);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	assert_int_not_equal(access(w->path, F_OK), 0);
	assert_int_equal(rmdir(w->dir), 0);
	free(w);
	return 0;
}

static int dial(const struct world *w)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", w->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void turn(struct world *w)
{
	for (int i = 0; i < 5; i++)
		uv_run(&w->loop, UV_RUN_NOWAIT);
}

static void put(int fd, const char *s, size_t len)
{
	assert_int_equal(send(fd, s, len, MSG_NOSIGNAL), len);
}

/* What is there to read now; "GONE" at the end of the connection. */
static const char *get(struct world *w, int fd)
{
	static char text[65536];
	ssize_t n;

	turn(w);
	n = recv(fd, text, sizeof(text) - 1, 0);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return "GONE";
	text[MAX(n, 0)] = 0;
	return text;
}

TEST(answers_in_order)
{
	struct world *w = *state;
	int fd = dial(w);

	put(fd, "echo a\necho b\r\nec", 17);
	assert_string_equal(get(w, fd), "a\nb\n");
	put(fd, "ho c\n\n", 6);
	assert_string_equal(get(w, fd), "c\nwhat is ''?\n");
	put(fd, "two lines\n", 10);
	assert_string_equal(get(w, fd), "{   \"ok\": true }\n");
	put(fd, "echo last", 9); /* without its newline */
	shutdown(fd, SHUT_WR);
	assert_string_equal(get(w, fd), "last\n");
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
}

TEST(long_lines_and_nul_bytes_end_the_connection)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w), gone;
	static char much[4096];

	memset(much, 'y', sizeof(much));
	for (gone = 0; gone < 64 && send(fd, much, sizeof(much), MSG_NOSIGNAL) > 0; gone++)
		turn(w);
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
	fd = dial(w);
	put(fd, "echo a\0b\n", 9);
	assert_string_equal(get(w, fd), "GONE");
	put(other, "echo fine\n", 10);
	assert_string_equal(get(w, other), "fine\n");
	assert_int_equal(w->asked, 1);
	close(fd);
	close(other);
}

/* Its questions wait as long as its answers do: nothing grows. */
TEST(the_server_does_not_read_from_a_client_that_does_not_read)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w);
	size_t got = 0;
	unsigned sent = 0;

	for (; sent < 100 && send(fd, "big 1000000\n", 12, MSG_NOSIGNAL) == 12; sent++)
		turn(w);
	assert_true(w->asked < 5);
	put(other, "echo fine\n", 10);
	assert_string_equal(get(w, other), "fine\n");
	while (got < sent * 1000001ull) {
		const char *s = get(w, fd);

		assert_true(strcmp(s, "GONE"));
		got += strlen(s);
	}
	assert_int_equal(w->asked, sent + 1);
	close(fd);
	close(other);
	turn(w);
}

static void reply(struct world *w, uint64_t ticket, const char *text)
{
	struct strbuf b = {0};

	strbuf_add(&b, text);
	lines_reply(w->l, ticket, &b);
}

TEST(responses_that_come_later_keep_their_order)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w);

	put(fd, "echo a\nlater\necho b\nlater\necho c\n", 33);
	assert_string_equal(get(w, fd), "a\n");
	assert_int_equal(w->asked, 5);
	put(other, "echo fine\n", 10);
	assert_string_equal(get(w, other), "fine\n");
	reply(w, w->ticket + 1, "second");
	assert_string_equal(get(w, fd), "");
	reply(w, w->ticket, "first");
	assert_string_equal(get(w, fd), "first\nb\nsecond\nc\n");
	put(fd, "later\n", 6);
	shutdown(fd, SHUT_WR); /* it still waits for its response */
	turn(w);
	reply(w, w->ticket + 2, "third");
	assert_string_equal(get(w, fd), "third\n");
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
	close(other);
}

TEST(a_client_that_left_gets_nothing)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w);

	put(fd, "later\nlater\n", 12);
	turn(w);
	assert_int_equal(w->later, 2);
	close(fd);
	turn(w);
	reply(w, w->ticket, "first");
	turn(w);
	reply(w, w->ticket + 1, "second");
	reply(w, w->ticket + 77, "never asked");
	put(other, "echo fine\n", 10);
	assert_string_equal(get(w, other), "fine\n");
	close(other);
}

/* The server reads no further requests of a client that has 4,096 open ones; the client's own end waits, too. */
TEST(very_many_responses_that_come_later)
{
	enum { ALL = 20000 };
	struct world *w = *state;
	int fd = dial(w);
	unsigned sent = 0, replied = 0, got = 0;

	while (got < ALL) {
		const char *s;

		while (sent < ALL && send(fd, "later\n", 6, MSG_NOSIGNAL) == 6)
			sent++;
		s = get(w, fd);
		assert_true(strcmp(s, "GONE"));
		for (; *s; s++)
			got += *s == '\n';
		assert_true(w->later - replied <= 4096);
		while (replied < w->later)
			reply(w, w->ticket + replied++, "done");
	}
	assert_int_equal(got, ALL);
	close(fd);
	turn(w);
}

TEST(subscribers_get_events)
{
	struct world *w = *state;
	int fd = dial(w), quiet = dial(w), slow = dial(w);
	static char much[1 << 20];

	put(fd, "events\n", 7);
	put(slow, "events\n", 7);
	assert_string_equal(get(w, fd), "{\"ok\":true,\"version\":1}\n");
	lines_send_event(w->l, "it happened");
	assert_string_equal(get(w, fd), "it happened\n");
	assert_string_equal(get(w, quiet), "");
	memset(much, 'z', sizeof(much) - 1);
	for (int i = 0; i < 20; i++) {
		size_t n = 0;

		lines_send_event(w->l, much);
		while (n < sizeof(much)) /* its newline included */
			n += strlen(get(w, fd));
	}
	put(fd, "echo still here\n", 16);
	assert_string_equal(get(w, fd), "still here\n");
	assert_true(send(slow, "x", 1, MSG_NOSIGNAL) < 0); /* cut off */
	close(fd);
	close(quiet);
	close(slow);
}

TEST(too_many_connections_are_refused)
{
	struct world *w = *state;
	int first = dial(w), second, third;

	lines_limit(w->l, &(struct lines_limits){.clients = 2});
	turn(w);
	second = dial(w);
	third = dial(w);
	assert_non_null(strstr(get(w, third), "too many connections"));
	assert_string_equal(get(w, third), "GONE");
	put(second, "echo fine\n", 10);
	assert_string_equal(get(w, second), "fine\n");
	close(first);
	close(third);
	turn(w);
	third = dial(w); /* there is room again */
	put(third, "echo fine\n", 10);
	assert_string_equal(get(w, third), "fine\n");
	close(second);
	close(third);
}

TEST(idle_connections_are_closed)
{
	struct world *w = *state;
	int idle = dial(w), listens = dial(w);
	const char *got = "";

	lines_limit(w->l, &(struct lines_limits){.idle_s = 1});
	put(listens, "events\n", 7);
	assert_string_equal(get(w, listens), "{\"ok\":true,\"version\":1}\n");
	for (int tries = 0; tries < 10000 && strcmp(got, "GONE"); tries++, usleep(1000))
		got = get(w, idle);
	assert_string_equal(got, "GONE");
	lines_send_event(w->l, "it happened");
	assert_string_equal(get(w, listens), "it happened\n");
	close(idle);
	close(listens);
}

/* Within one turn of the loop the clock stands still. */
TEST(requests_beyond_the_rate_wait)
{
	struct world *w = *state;
	int greedy = dial(w), modest = dial(w);
	size_t got = 0;

	lines_limit(w->l, &(struct lines_limits){.rate = 4});
	put(greedy, "echo a\necho b\necho c\necho d\necho e\necho f\n", 42);
	while (!w->asked)
		uv_run(&w->loop, UV_RUN_NOWAIT);
	assert_int_equal(w->asked, 4);
	put(modest, "echo fine\n", 10);
	shutdown(modest, SHUT_WR);
	while (got < 12 || w->asked < 7) {
		usleep(1000);
		got += strlen(get(w, greedy));
	}
	assert_string_equal(get(w, modest), "fine\n");
	assert_int_equal(got, 12);
	close(greedy);
	close(modest);
}

TEST(closing_during_an_answer)
{
	struct world *w = *state;
	int fd = dial(w);

	put(fd, "close\necho a\n", 13);
	assert_string_equal(get(w, fd), "GONE");
	assert_int_not_equal(access(w->path, F_OK), 0);
	close(fd);
}

static int teardown_closed(void **state)
{
	struct world *w = *state;

	assert_int_equal(uv_loop_close(&w->loop), 0);
	rmdir(w->dir);
	free(w);
	return 0;
}

TEST(socket_paths_in_use_and_left_behind)
{
	struct world *w = *state;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct lines *l;
	struct stat st;
	struct err e;
	char path[100], long_path[200];
	int fd;

	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(lines_listen(&l, &w->loop, w->path, 0600, answer, w, &e), -EADDRINUSE);
	assert_non_null(strstr(e.text, "another process listens"));
	/* A socket left behind by a dead process is replaced. */
	snprintf(path, sizeof(path), "%s/stale", w->dir);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	assert_int_equal(lines_listen(&l, &w->loop, path, 0660, answer, w, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	/* A file that another process put there stays. */
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	lines_close(l);
	turn(w);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(lines_listen(&l, &w->loop, path, 0600, answer, w, &e), -EEXIST);
	unlink(path);
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = 0;
	assert_int_equal(lines_listen(&l, &w->loop, long_path, 0600, answer, w, &e), -ENAMETOOLONG);
	assert_int_equal(lines_listen(&l, &w->loop, "/nonexistent/x", 0600, answer, w, &e),
			 -ENOENT);
}

/* ---- the blocking end ---- */

struct asker {
	struct world *w;
	uv_async_t done;
	struct strbuf a, b;
	int rc[4];
	struct err e;
};

static void *ask(void *ctx)
{
	struct asker *k = ctx;

	k->rc[0] = lines_ask(k->w->path, "echo hello", 10000, &k->a, &k->e);
	k->rc[1] = lines_ask(k->w->path, "big 5000000", 10000, &k->b, &k->e);
	uv_async_send(&k->done);
	return NULL;
}

static void asked_enough(uv_async_t *a)
{
	uv_stop(a->loop);
	uv_close((uv_handle_t *)a, NULL);
}

TEST(the_blocking_client)
{
	struct asker k = {.w = *state};
	pthread_t t;

	uv_async_init(&k.w->loop, &k.done, asked_enough);
	assert_int_equal(pthread_create(&t, NULL, ask, &k), 0);
	uv_run(&k.w->loop, UV_RUN_DEFAULT);
	pthread_join(t, NULL);
	assert_int_equal(k.rc[0], 0);
	assert_string_equal(k.a.s, "hello");
	assert_int_equal(k.rc[1], 0);
	assert_int_equal(k.b.len, 5000000);
	k.a.len = 0;
	assert_int_equal(lines_ask("/nonexistent/x", "x", 100, &k.a, &k.e), -ENOENT);
	assert_non_null(strstr(k.e.text, "/nonexistent/x: no process listens there"));
	/* The loop does not run: no answer. */
	assert_int_equal(lines_ask(k.w->path, "x", 50, &k.a, &k.e), -ETIMEDOUT);
	turn(k.w);
	strbuf_free(&k.a);
	strbuf_free(&k.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(long_lines_and_nul_bytes_end_the_connection, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			the_server_does_not_read_from_a_client_that_does_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(responses_that_come_later_keep_their_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_client_that_left_gets_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(very_many_responses_that_come_later, setup,
						teardown),
		cmocka_unit_test_setup_teardown(subscribers_get_events, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_connections_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_connections_are_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_beyond_the_rate_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(closing_during_an_answer, setup, teardown_closed),
		cmocka_unit_test_setup_teardown(socket_paths_in_use_and_left_behind, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_blocking_client, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
