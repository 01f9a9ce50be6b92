/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Child processes: their result, one that is killed, and one that starts when no descriptor is left.
 */
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "run/child_process.h"

struct world {
	uv_loop_t loop;
	struct run_child child;
	bool succeeds, waits;
	int ended; /* 0: not yet, 1: success, -1: failure */
};

static bool work(void *ctx)
{
	const struct world *w = ctx;

	if (w->waits)
		pause();
	return w->succeeds;
}

static void done(void *ctx, bool ok)
{
	struct world *w = ctx;

	w->ended = ok ? 1 : -1;
}

static void world_init(struct world *w, bool succeeds)
{
	*w = (struct world){.succeeds = succeeds};
	w->child = (struct run_child){.work = work, .done = done, .ctx = w};
	assert_int_equal(uv_loop_init(&w->loop), 0);
}

static void world_end(struct world *w)
{
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	assert_int_equal(w->child.pid, 0);
}

TEST(the_result_comes_on_the_loop)
{
	struct world w;

	for (int i = 0; i < 2; i++) {
		world_init(&w, i);
		assert_int_equal(run_child_start(&w.child, &w.loop, NULL), 0);
		world_end(&w);
		assert_int_equal(w.ended, i ? 1 : -1);
	}
}

TEST(a_killed_child_has_failed)
{
	struct world w;

	world_init(&w, true);
	w.waits = true;
	assert_int_equal(run_child_start(&w.child, &w.loop, NULL), 0);
	kill(w.child.pid, SIGKILL);
	world_end(&w);
	assert_int_equal(w.ended, -1);
}

TEST(waiting_blocks_and_does_not_call_back)
{
	struct world w;

	world_init(&w, true);
	assert_int_equal(run_child_start(&w.child, &w.loop, NULL), 0);
	assert_true(run_child_wait(&w.child));
	world_end(&w);
	assert_int_equal(w.ended, 0);
}

/* The descriptor of the process was not checked: the daemon crashed when descriptors ran short. */
TEST(no_descriptor_is_needed)
{
	struct rlimit was, none;
	struct world w;
	int lowest;

	world_init(&w, true);
	lowest = dup(0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){(rlim_t)lowest, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dup(0), -1);
	assert_int_equal(run_child_start(&w.child, &w.loop, NULL), 0);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	world_end(&w);
	assert_int_equal(w.ended, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_comes_on_the_loop),
		cmocka_unit_test(a_killed_child_has_failed),
		cmocka_unit_test(waiting_blocks_and_does_not_call_back),
		cmocka_unit_test(no_descriptor_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
