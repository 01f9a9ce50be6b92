/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that computes routes: newer requests, order of answers, shutdown during a computation, a defragmentation
 * that ends when routes are needed.
 */
#include "unit_test.h"

#include <sched.h>

#include "run/compute_thread.h"

struct bench {
	uv_loop_t loop;
	struct run_worker *w;
	struct fab *fab;
	VEC(uint32_t) answered;
	VEC(uint64_t) owners;
	uint32_t until;
};

static void on_done(void *ctx, struct sm_routes *r, uint64_t owner, uint64_t took_us)
{
	struct bench *b = ctx;

	(void)took_us;
	assert_true(r->verified);
	assert_int_equal(r->tables->nswitches, b->fab->nswitches);
	vec_push(&b->answered, r->epoch);
	vec_push(&b->owners, owner);
	if (r->epoch == b->until)
		uv_stop(&b->loop);
	sm_routes_free(r);
}

static int setup(void **state)
{
	struct bench *b = mem_zalloc(sizeof(*b));
	struct fab_gen g = {.kind = "torus", .dims = {6, 6}, .ndims = 2};
	struct fab *bare;
	struct err e;

	bare = fab_generate(&g, &e);
	assert_non_null(bare);
	b->fab = fab_assign_lids(bare, 0, &e);
	assert_non_null(b->fab);
	fab_free(bare);
	uv_loop_init(&b->loop);
	assert_int_equal(run_worker_start(&b->w, &b->loop, 1, on_done, b, &e), 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	if (b->w)
		assert_true(run_worker_stop(b->w));
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&b->loop), 0);
	fab_free(b->fab);
	vec_free(&b->answered);
	vec_free(&b->owners);
	free(b);
	return 0;
}

static void ask(struct bench *b, uint32_t epoch, uint64_t owner)
{
	struct sm_compute c = {.epoch = epoch,
			       .fab = b->fab,
			       .root = b->fab->switches[0],
			       .stage = SM_FINAL,
			       .supply = sm_supply_find("fera")};

	run_worker_request(b->w, &c, owner);
}

static void run_until(struct bench *b, uint32_t epoch)
{
	b->until = epoch;
	uv_run(&b->loop, UV_RUN_DEFAULT);
}

TEST(one_request_one_answer)
{
	struct bench *b = *state;

	assert_false(run_worker_busy(b->w));
	ask(b, 7, 3);
	run_until(b, 7);
	assert_int_equal(b->answered.n, 1);
	assert_int_equal(b->owners.at[0], 3);
	assert_false(run_worker_busy(b->w));
}

/* However the thread and the loop take turns: the last is answered, none twice, none out of order. */
TEST(a_newer_request_replaces_a_waiting_one)
{
	struct bench *b = *state;

	for (uint32_t i = 1; i <= 200; i++) {
		ask(b, i, i);
		if (i % 3 == 0)
			uv_run(&b->loop, UV_RUN_NOWAIT);
	}
	run_until(b, 200);
	for (size_t i = 1; i < b->answered.n; i++)
		assert_true(b->answered.at[i] > b->answered.at[i - 1]);
	assert_int_equal(b->answered.at[b->answered.n - 1], 200);
	assert_true(b->answered.n <= 200);
}

/* What has not begun is forgotten; what has is answered. */
TEST(cancelled_requests_are_not_started)
{
	struct bench *b = *state;

	for (uint32_t i = 1; i <= 50; i++)
		ask(b, i, 1);
	run_worker_cancel(b->w);
	while (run_worker_busy(b->w))
		uv_run(&b->loop, UV_RUN_ONCE);
	ask(b, 51, 2);
	run_until(b, 51);
	assert_true(b->answered.n <= 51);
	assert_int_equal(b->owners.at[b->owners.n - 1], 2);
	for (size_t i = 0; i + 1 < b->owners.n; i++)
		assert_int_equal(b->owners.at[i], 1);
}

/* Shutdown with an answer that was not taken. */
TEST(stopping_frees_an_answer_that_waits)
{
	struct bench *b = *state;
	bool over;

	ask(b, 1, 1);
	do
		over = run_worker_stop(b->w);
	while (!over); /* false while it computes */
	b->w = NULL;
	uv_run(&b->loop, UV_RUN_DEFAULT);
	assert_true(b->answered.n <= 1);
}

/* ---- defragmentations ---- */

struct frag_bench {
	struct fab *fab;
	struct rt_tables *t;
	uint64_t *rank;
	unsigned whole, stopped;
};

static void on_frag(void *ctx, struct sm_routes *r, uint64_t owner, uint64_t took_us)
{
	struct frag_bench *b = ctx;

	(void)owner;
	(void)took_us;
	b->whole += r->vms != NULL;
	b->stopped += !r->vms && !r->tables;
	sm_routes_free(r);
}

static void frag_make(struct frag_bench *b)
{
	struct fab_gen g = {.kind = "mtree", .dims = {8, 3}, .ndims = 2};
	struct err e;
	struct fab *bare = fab_generate(&g, &e), *with = fab_with_vfs(bare, FAB_SRIOV_VSWITCH, 16);
	struct fab *lids = fab_assign_lids(with, 0, &e);
	struct rt_opts o = {.root = lids->switches[0], .threads = 1};

	b->fab = fab_assign_vf_lids(lids, 0, &e);
	assert_non_null(b->fab);
	b->rank = mem_array(b->fab->nswitches, sizeof(*b->rank));
	rt_updown_rank_by(b->fab, o.root, RT_BY_DISTANCE, b->rank);
	o.rank = b->rank;
	assert_int_equal(rt_compute(&rt_fera, b->fab, &o, &b->t, &e), 0);
	fab_free(bare);
	fab_free(with);
	fab_free(lids);
}

/* It takes long; routes that are needed meanwhile are computed at once. */
TEST(a_defragmentation_ends_when_routes_are_needed)
{
	struct frag_bench b = {0};
	struct run_worker *w;
	uv_loop_t loop;
	struct err e;

	frag_make(&b);
	uv_loop_init(&loop);
	assert_int_equal(run_worker_start(&w, &loop, 1, on_frag, &b, &e), 0);
	for (uint32_t i = 1; i < 200 && !b.stopped; i += 2) {
		struct sm_compute c = {.epoch = i,
				       .fab = b.fab,
				       .old = b.t,
				       .old_rank = b.rank,
				       .defragment = true,
				       .even = true};

		run_worker_request(w, &c, 1);
		while (!run_worker_busy(w))
			sched_yield();
		c.epoch++; /* as good as any other request */
		run_worker_request(w, &c, 1);
		run_worker_cancel(w);
		while (run_worker_busy(w))
			uv_run(&loop, UV_RUN_ONCE);
	}
	assert_true(b.stopped);
	assert_true(run_worker_stop(w));
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	fab_free(b.fab);
	rt_tables_free(b.t);
	free(b.rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_request_one_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_newer_request_replaces_a_waiting_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(cancelled_requests_are_not_started, setup,
						teardown),
		cmocka_unit_test_setup_teardown(stopping_frees_an_answer_that_waits, setup,
						teardown),
		cmocka_unit_test(a_defragmentation_ends_when_routes_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
