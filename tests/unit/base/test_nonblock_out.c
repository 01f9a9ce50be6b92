/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output to a reader that stalls: text is written whole, kept or refused, and never blocks. Keeps no
 * state.
 */
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/nonblock_out.h"

enum { LINE = 100 };

static char line[LINE]; /* ends with a newline, all of it the same letter */

static void letter(char c)
{
	memset(line, c, LINE - 1);
	line[LINE - 1] = '\n';
}

/* Read what is available, without blocking. */
static void drain(int fd, struct strbuf *all)
{
	char buf[5000];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_addn(all, buf, (size_t)n);
}

/* Only whole lines, each of one letter. */
static size_t whole_lines(const struct strbuf *all)
{
	assert_int_equal(all->len % LINE, 0);
	for (size_t i = 0; i < all->len; i += LINE) {
		assert_int_equal(all->s[i + LINE - 1], '\n');
		for (size_t k = i + 1; k < i + LINE - 1; k++)
			assert_int_equal(all->s[k], all->s[i]);
	}
	return all->len / LINE;
}

/* Fill it, which must end; then read, and there is room again. */
static void fill_and_drain(struct nonblock_out *o, int reader)
{
	struct strbuf all = {0};
	unsigned taken = 0;

	alarm(60); /* ends the test if a write blocks */
	letter('a');
	while (nonblock_put(o, line, LINE))
		assert_in_range(++taken, 1, 1000000);
	assert_false(nonblock_put(o, line, LINE));
	drain(reader, &all);
	assert_true(nonblock_flush(o));
	letter('b');
	assert_true(nonblock_put(o, line, LINE));
	drain(reader, &all);
	assert_int_equal(whole_lines(&all), taken + 1);
	strbuf_free(&all);
	alarm(0);
}

TEST(a_full_pipe_refuses)
{
	struct nonblock_out o;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	nonblock_open(&o, fd[1]);
	fill_and_drain(&o, fd[0]);
	assert_int_equal(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0); /* other processes may share it */
	nonblock_close(&o);
	close(fd[0]);
	close(fd[1]);
}

/* Where the descriptor cannot be opened again. */
TEST(a_full_pipe_refuses_when_shared)
{
	struct nonblock_out o;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	o = (struct nonblock_out){.fd = fd[1], .unsure = true};
	fill_and_drain(&o, fd[0]);
	nonblock_close(&o);
	close(fd[0]);
	close(fd[1]);
}

TEST(a_full_socket_refuses)
{
	struct nonblock_out o;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	nonblock_open(&o, fd[1]);
	fill_and_drain(&o, fd[0]);
	nonblock_close(&o);
	close(fd[0]);
	close(fd[1]);
}

/* Text of any length waits for its reader, up to a limit. */
TEST(kept_text_is_written_later)
{
	struct strbuf all = {0};
	struct nonblock_out o;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	nonblock_open(&o, fd[1]);
	alarm(60);
	letter('k');
	for (unsigned i = 0; i < 10000; i++)
		assert_true(nonblock_keep(&o, line, LINE, 2000000));
	assert_false(nonblock_put(&o, line, LINE));
	while (nonblock_keep(&o, line, LINE, 2000000))
		;
	do
		drain(fd[0], &all);
	while (!nonblock_flush(&o));
	drain(fd[0], &all);
	assert_in_range(whole_lines(&all), 20000, 22000);
	assert_true(nonblock_keep(&o, line, LINE, 2000000));
	alarm(0);
	strbuf_free(&all);
	nonblock_close(&o);
	close(fd[0]);
	close(fd[1]);
}

TEST(text_is_dropped_when_the_reader_has_closed)
{
	struct nonblock_out o;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	nonblock_open(&o, fd[1]);
	close(fd[0]);
	letter('x');
	for (unsigned i = 0; i < 1000; i++)
		assert_true(nonblock_put(&o, line, LINE));
	assert_true(nonblock_keep(&o, line, LINE, 10000));
	assert_int_equal(o.rest.len, 0);
	nonblock_close(&o);
	close(fd[1]);
	nonblock_open(&o, -1);
	assert_true(nonblock_put(&o, line, LINE));
	nonblock_close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_pipe_refuses),
		cmocka_unit_test(a_full_pipe_refuses_when_shared),
		cmocka_unit_test(a_full_socket_refuses),
		cmocka_unit_test(kept_text_is_written_later),
		cmocka_unit_test(text_is_dropped_when_the_reader_has_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
