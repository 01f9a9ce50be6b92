/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window's HTTP server with clients that are correct, slow, greedy or foreign.
 * Covers: http_server.c, http_connection.c, http_stream.c, http_routes.c, http_response.c, static_files.c
 */
#include "unit_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/http_server.h"
#include "web/static_files.h"

struct world {
	uv_loop_t loop;
	struct web_server *w;
	char token[WEB_TOKEN_LEN + 1];
	unsigned port;
	struct web_stream *stream;
	unsigned left, commands, restarts;
	size_t body;
	char session[64];
};

static int stream(void *ctx, const char *session, struct web_stream *s, const char **why)
{
	struct world *w = ctx;
	struct frame *f;

	snprintf(w->session, sizeof(w->session), "%s", session);
	if (!strcmp(session, "none")) {
		*why = "no such session";
		return 404;
	}
	w->stream = s;
	web_stream_set_data(s, w);
	assert_ptr_equal(web_stream_data(s), w);
	f = frame_json("{}");
	web_stream_send(s, f);
	frame_unref(f);
	return 200;
}

static void left(void *ctx, struct web_stream *s)
{
	struct world *w = ctx;

	assert_ptr_equal(s, w->stream);
	w->stream = NULL;
	w->left++;
}

static int command(void *ctx, const char *session, struct strbuf *body, const char **why)
{
	struct world *w = ctx;

	snprintf(w->session, sizeof(w->session), "%s", session);
	w->commands++;
	w->body = body->len;
	if (body->len == 4 && !memcmp(body->s, "full", 4)) {
		*why = "too many commands wait";
		return 503;
	}
	return 204;
}

static int restart(void *ctx, const char *session UNUSED, const char **why UNUSED)
{
	((struct world *)ctx)->restarts++;
	return 204;
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct web_handler h = {stream, left, command, restart, w};
	struct err e;

	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&w->loop);
	assert_int_equal(web_server_listen(&w->w, &w->loop, 0, &h, &e), 0);
	strcpy(w->token, web_server_access(w->w)->token);
	w->port = web_server_access(w->w)->port;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	web_server_close(w->w);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	free(w);
	return 0;
}

static int dial(const struct world *w)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)w->port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	return fd;
}

static void turn(struct world *w)
{
	for (int i = 0; i < 20; i++)
		uv_run(&w->loop, UV_RUN_NOWAIT);
}

/* What is there to read now; "GONE" at the end of the connection. */
static const char *get(struct world *w, int fd)
{
	static char text[1 << 20];
	size_t len = 0;
	ssize_t n;

	do {
		turn(w);
		n = recv(fd, text + len, sizeof(text) - 1 - len, MSG_DONTWAIT);
		len += (size_t)MAX(n, 0);
	} while (n > 0);
	if (!len && (n == 0 || errno == ECONNRESET))
		return "GONE";
	text[len] = 0;
	return text;
}

static void put(int fd, const char *s, size_t len)
{
	assert_int_equal(send(fd, s, len, MSG_NOSIGNAL), len);
}

static void ask(const struct world *w, int fd, const char *line, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n", line, w->port,
		 more);
	put(fd, text, strlen(text));
}

static void ask_with_token(const struct world *w, int fd, const char *line, const char *more)
{
	char text[256];

	snprintf(text, sizeof(text), "%s?token=%s", line, w->token);
	ask(w, fd, text, more);
}

static void expect(struct world *w, int fd, const char *status)
{
	const char *got = get(w, fd);

	if (strncmp(got, "HTTP/1.1 ", 9) || strncmp(got + 9, status, strlen(status)))
		fail_msg("expected %s, found: %.200s", status, got);
}

TEST(the_page_and_its_headers)
{
	struct world *w = *state;
	int fd = dial(w);
	const char *got;

	ask(w, fd, "GET /", "");
	got = get(w, fd);
	assert_non_null(strstr(got, "HTTP/1.1 200 OK\r\n"));
	assert_non_null(
		strstr(got, "Content-Security-Policy: default-src 'none'; script-src 'self'; "));
	assert_non_null(strstr(got, "X-Content-Type-Options: nosniff\r\n"));
	assert_non_null(strstr(got, "Content-Type: text/html; charset=utf-8\r\n"));
	assert_non_null(strstr(got, "\r\n\r\n<!"));
	/* The same connection, a path with a query, HEAD. */
	ask(w, fd, "GET /app.js?x=1", "");
	assert_non_null(strstr(get(w, fd), "text/javascript"));
	ask(w, fd, "HEAD /app.css", "");
	got = get(w, fd);
	assert_non_null(strstr(got, "200 OK"));
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
	ask(w, fd, "HEAD /none", "");
	got = get(w, fd);
	assert_non_null(strstr(got, "404 Not Found"));
	assert_string_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
	ask(w, fd, "GET /../etc/passwd", "");
	expect(w, fd, "404");
	ask(w, fd, "POST /", "");
	got = get(w, fd);
	assert_non_null(strstr(got, "405 Method"));
	assert_non_null(strstr(got, "Allow: GET, HEAD\r\n"));
	ask(w, fd, "GET /", "Connection: close\r\n");
	assert_non_null(strstr(get(w, fd), "Connection: close\r\n"));
	shutdown(fd, SHUT_WR);
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
}

TEST(what_takes_the_token)
{
	struct world *w = *state;
	int fd = dial(w);

	ask(w, fd, "POST /command", "Content-Length: 0\r\n");
	expect(w, fd, "403");
	ask(w, fd, "POST /command?token=0123456789abcdef0123456789abcdef", "");
	expect(w, fd, "403");
	ask(w, fd, "GET /stream", "");
	expect(w, fd, "403");
	ask_with_token(w, fd, "POST /command", "Origin: http://evil.example\r\n");
	expect(w, fd, "403");
	ask_with_token(w, fd, "GET /command", "");
	expect(w, fd, "405");
	assert_int_equal(w->commands, 0);
	ask_with_token(w, fd, "POST /restart", "");
	expect(w, fd, "204");
	assert_int_equal(w->restarts, 1);
	put(fd, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 39);
	expect(w, fd, "421");
	close(fd);
}

TEST(commands)
{
	struct world *w = *state;
	int fd = dial(w);
	char line[128];

	/* In pieces, two at once, one refused by the handler. */
	ask_with_token(w, fd, "POST /command", "Content-Length: 5\r\n");
	put(fd, "he", 2);
	assert_string_equal(get(w, fd), "");
	put(fd, "llo", 3);
	expect(w, fd, "204");
	assert_int_equal(w->body, 5);
	assert_string_equal(w->session, "");
	snprintf(line, sizeof(line), "POST /command?session=a_1-B&token=%s", w->token);
	ask(w, fd, line, "Content-Length: 4\r\n");
	put(fd, "full", 4);
	ask(w, fd, line, "Content-Length: 0\r\n");
	assert_non_null(strstr(get(w, fd),
			       "503 Service Unavailable: too many commands wait\nHTTP/1.1 204"));
	assert_string_equal(w->session, "a_1-B");
	assert_int_equal(w->commands, 3);
	snprintf(line, sizeof(line), "POST /command?session=a%%20b&token=%s", w->token);
	ask(w, fd, line, "");
	expect(w, fd, "400");
	ask_with_token(w, fd, "POST /command", "Content-Length: 3\r\nExpect: 100-continue\r\n");
	assert_string_equal(get(w, fd), "HTTP/1.1 100 Continue\r\n\r\n");
	put(fd, "abc", 3);
	expect(w, fd, "204");
	close(fd);
}

TEST(large_bodies)
{
	struct world *w = *state;
	int fd = dial(w), others[4];
	static char much[1 << 20];
	size_t sum = 0;

	ask_with_token(w, fd, "POST /command", "Content-Length: 3145728\r\n");
	while (sum < 3 << 20) {
		ssize_t n = send(fd, much, MIN(sizeof(much), (3 << 20) - sum), MSG_DONTWAIT);

		sum += (size_t)MAX(n, 0);
		turn(w);
	}
	expect(w, fd, "204");
	assert_int_equal(w->body, 3 << 20);
	for (unsigned i = 0; i < 4; i++) {
		others[i] = dial(w);
		ask_with_token(w, others[i], "POST /command", "Content-Length: 67108864\r\n");
		assert_string_equal(get(w, others[i]), "");
	}
	ask_with_token(w, fd, "POST /command", "Content-Length: 2000000\r\n");
	expect(w, fd, "503");
	close(fd);
	for (unsigned i = 0; i < 4; i++)
		close(others[i]);
	turn(w);
	/* The answer comes before the body, and although the body is on its way. */
	fd = dial(w);
	ask_with_token(w, fd, "POST /command", "Content-Length: 67108865\r\n");
	put(fd, "xyz", 3);
	expect(w, fd, "413");
	put(fd, "xyz", 3);
	shutdown(fd, SHUT_WR);
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
}

TEST(nonsense_ends_the_connection)
{
	struct world *w = *state;
	int fd = dial(w);

	put(fd, "\x16\x03\x01\r\n\r\n",
	    7); /* TLS does not end with empty lines, but it begins so */
	expect(w, fd, "400");
	shutdown(fd, SHUT_WR);
	assert_string_equal(get(w, fd), "GONE");
	close(fd);
}

TEST(streams)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w);
	struct frame *f = frame_json("{\"a\":1}");
	const char *got;
	char line[128];

	ask_with_token(w, fd, "GET /stream", "");
	got = strstr(get(w, fd), "\r\n\r\n");
	assert_non_null(got);
	assert_memory_equal(got + 4, "a\r\n\x0a\0\0\0\x01\0\0\0{}\r\n", 15);
	web_stream_send(w->stream, f);
	assert_memory_equal(get(w, fd), "f\r\n\x0f\0\0\0\x01\0\0\0{\"a\":1}\r\n", 20);
	snprintf(line, sizeof(line), "GET /stream?session=none&token=%s", w->token);
	ask(w, other, line, "");
	expect(w, other, "404");
	close(fd);
	turn(w);
	assert_int_equal(w->left, 1);
	ask_with_token(w, other, "GET /stream", "");
	expect(w, other, "200");
	web_stream_end(w->stream);
	assert_int_equal(w->left, 1);
	assert_string_equal(get(w, other), "GONE");
	assert_int_equal(w->left, 2);
	close(other);
	frame_unref(f);
}

/* The page does not read: memory stays bounded, others are served, and it then gets what is new. */
TEST(a_page_that_does_not_read)
{
	struct world *w = *state;
	int fd = dial(w), other = dial(w);
	struct frame *f = frame_new(FRAME_SMPS, NULL, 1 << 20),
		     *last = frame_new(FRAME_STATE, "END", 3);
	struct strbuf all = {0};
	const char *got;

	memset(f->data + FRAME_HEAD, 'x', 1 << 20);
	ask_with_token(w, fd, "GET /stream", "");
	turn(w);
	for (int i = 0; i < 100; i++) {
		web_stream_send(w->stream, f);
		web_stream_send(w->stream, last);
		turn(w);
	}
	assert_in_range(f->refs, 1, 10);
	ask(w, other, "GET /", "");
	expect(w, other, "200");
	while (*(got = get(w, fd)))
		strbuf_addn(&all, got, 1 << 20); /* frames contain NUL */
	assert_non_null(memmem(all.s, all.len, "{\"dropped\":{\"frames\":", 21));
	assert_non_null(memmem(all.s, all.len, "\x03\0\0\0END\r\n", 9));
	assert_int_equal(f->refs, 1);
	frame_unref(f);
	frame_unref(last);
	strbuf_free(&all);
	close(fd);
	close(other);
}

TEST(limits_of_time_and_number)
{
	struct world *w = *state;
	struct web_limits most = {.connections = 2,
				  .streams = 1,
				  .bodies = 1,
				  .head_ms = 20,
				  .body_ms = 20,
				  .idle_ms = 60};
	int a, b, c;

	web_server_limit(w->w, &most);
	a = dial(w);
	b = dial(w);
	c = dial(w);
	expect(w, c, "503");
	close(c);
	ask_with_token(w, a, "GET /stream", "");
	expect(w, a, "200");
	ask_with_token(w, b, "GET /stream", "");
	expect(w, b, "503");
	put(b, "GET", 3);
	turn(w);
	usleep(40000);
	assert_string_equal(get(w, b), "GONE"); /* a head that takes too long */
	close(b);
	b = dial(w);
	ask(w, b, "GET /", "");
	expect(w, b, "200");
	usleep(40000);
	assert_string_equal(get(w, b), "");
	usleep(40000);
	assert_string_equal(get(w, b), "GONE"); /* idle */
	close(b);
	b = dial(w);
	ask_with_token(w, b, "POST /command", "Content-Length: 9\r\n");
	turn(w);
	usleep(40000);
	assert_string_equal(get(w, b), "GONE"); /* a body that does not come */
	assert_int_equal(w->left, 0);		/* streams have no such limit */
	close(b);
	close(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_page_and_its_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(what_takes_the_token, setup, teardown),
		cmocka_unit_test_setup_teardown(commands, setup, teardown),
		cmocka_unit_test_setup_teardown(large_bodies, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_ends_the_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(streams, setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_that_does_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_of_time_and_number, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
