/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child and its link: messages there, frames back, descriptors, a child that dies, one that does not read, one
 * that computes when the web process goes.
 * Covers: child_link.c, child_pipe.c
 */
#include "unit_test.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "web/child_pipe.h"

struct world {
	uv_loop_t loop;
	struct child_pipe *p;
	pid_t group;
	unsigned frames, kind;
	size_t len;
	char text[64];
	int passed;
	bool ended;
};

/* Echoes commands as JSON frames. MSG_ASK_NOW: a frame with a descriptor on which "hi" waits. MSG_INTERVAL: dies.
 * MSG_JOURNAL: computes for ever. */
static void child(int fd, void *ctx UNUSED)
{
	struct strbuf s = {0};
	unsigned kind;
	int passed;

	while (child_receive(fd, &kind, &s, &passed)) {
		int ends[2];

		if (kind == MSG_COMMAND)
			child_send_frame(fd, FRAME_JSON, s.s, s.len, -1);
		if (kind == MSG_ASK_NOW && !pipe(ends)) {
			if (write(ends[1], "hi", 2) == 2)
				child_send_frame(fd, INTERNAL_NOW, NULL, 0, ends[0]);
		}
		if (kind == MSG_INTERVAL)
			abort();
		while (kind == MSG_JOURNAL)
			;
		while (kind == MSG_WAKE) /* nonsense */
			child_send(fd, "\1\0\0\0\0\0\0\0", 8, -1);
	}
	strbuf_free(&s);
}

static void got_frame(void *ctx, struct frame *f, int fd)
{
	struct world *w = ctx;

	w->frames++;
	w->kind = frame_kind(f);
	w->len = f->len - FRAME_HEAD;
	snprintf(w->text, sizeof(w->text), "%.*s", (int)MIN(w->len, (size_t)60),
		 (char *)f->data + FRAME_HEAD);
	w->passed = fd;
}

static void ended(void *ctx)
{
	((struct world *)ctx)->ended = true;
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	int fd;

	uv_loop_init(&w->loop);
	w->group = child_start(child, NULL, &fd);
	assert_true(w->group > 0);
	w->p = child_pipe_open(&w->loop, fd, &(struct child_pipe_ops){got_frame, ended, w});
	*state = w;
	return 0;
}

/* Whatever the test did: when the socket is closed, the child ends by itself. */
static int teardown(void **state)
{
	struct world *w = *state;
	int status;

	if (!w->ended)
		child_pipe_close(w->p);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	alarm(10);
	assert_int_equal(waitpid(w->group, &status, 0), w->group);
	alarm(0);
	free(w);
	return 0;
}

static void say(struct world *w, unsigned kind, const char *text)
{
	struct strbuf s = {0};

	strbuf_add(&s, text);
	assert_true(child_pipe_send(w->p, kind, &s));
	strbuf_free(&s);
}

static void await(struct world *w, unsigned frames)
{
	while (w->frames < frames && !w->ended)
		uv_run(&w->loop, UV_RUN_ONCE);
}

TEST(messages_and_frames)
{
	struct world *w = *state;
	struct strbuf big = {0};
	char two[2];

	say(w, MSG_COMMAND, "one");
	say(w, MSG_COMMAND, "");
	await(w, 2);
	assert_int_equal(w->len, 0);
	for (int i = 0; i < 1 << 20; i++)
		strbuf_add(&big, "abcdefgh");
	assert_true(child_pipe_send(w->p, MSG_COMMAND, &big));
	assert_null(big.s); /* taken over */
	await(w, 3);
	assert_int_equal(w->len, 8 << 20);
	assert_int_equal(strncmp(w->text, "abcdefghabcdefgh", 16), 0);
	say(w, MSG_ASK_NOW, "");
	await(w, 4);
	assert_int_equal(w->kind, INTERNAL_NOW);
	assert_int_equal(read(w->passed, two, 2), 2);
	assert_memory_equal(two, "hi", 2);
	close(w->passed);
}

TEST(a_child_that_dies)
{
	struct world *w = *state;

	say(w, MSG_COMMAND, "last words");
	say(w, MSG_INTERVAL, "");
	await(w, 2);
	assert_true(w->ended);
	assert_string_equal(w->text, "last words");
}

TEST(a_child_that_sends_nonsense)
{
	struct world *w = *state;

	say(w, MSG_WAKE, "");
	await(w, 1);
	assert_true(w->ended);
}

TEST(a_child_that_does_not_read)
{
	struct world *w = *state;
	struct strbuf s = {0};
	unsigned n = 0;

	say(w, MSG_JOURNAL, "");
	for (int i = 0; i < 60000; i++)
		strbuf_add(&s, "x");
	while (n < 1000 && child_pipe_send(w->p, MSG_COMMAND, &s))
		n++;
	assert_in_range(n, PIPE_MESSAGES, 999);
	strbuf_free(&s);
	/* It computes still; teardown closes the socket, and it ends. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_and_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(a_child_that_dies, setup, teardown),
		cmocka_unit_test_setup_teardown(a_child_that_sends_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(a_child_that_does_not_read, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
