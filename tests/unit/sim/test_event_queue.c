/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event queue against a sorted list, for every mix of pushing and popping. Keeps no state.
 *
 * Covers: event_queue.c, event_ladder.c
 */
#include "unit_test.h"

#include "base/rng.h"
#include "base/vec.h"
#include "sim/kernel/event_queue.h"

struct ref {
	time_ps when;
	uint8_t priority;
	uint32_t seq;
};

static bool ref_before(const struct ref *a, const struct ref *b)
{
	if (a->when != b->when)
		return a->when < b->when;
	if (a->priority != b->priority)
		return a->priority < b->priority;
	return a->seq < b->seq;
}

typedef VEC(struct ref) ref_list;

/* The list is kept sorted, latest first, so that the next is the last. */
static void ref_insert(ref_list *l, struct ref r)
{
	size_t i;

	vec_push(l, r);
	for (i = l->n - 1; i && ref_before(&l->at[i - 1], &r); i--)
		l->at[i] = l->at[i - 1];
	l->at[i] = r;
}

static void pop_and_compare(struct evq *q, ref_list *l)
{
	struct ref want = l->at[--l->n];
	struct ev e;

	assert_int_equal(evq_next(q), want.when);
	assert_true(evq_pop(q, &e));
	assert_int_equal(e.when, want.when);
	assert_int_equal(e.order >> 56, want.priority);
	assert_int_equal(e.what.link.port, want.seq);
	assert_int_equal(e.what.kind, EV_LINK);
	assert_int_equal(e.what.link.epoch, want.seq * 3);
}

static void push_both(struct evq *q, ref_list *l, time_ps when, uint8_t priority, uint32_t seq)
{
	evq_push(q, when, priority, (struct ev_what){.kind = EV_LINK, .link = {seq, seq * 3}});
	ref_insert(l, (struct ref){when, priority, seq});
}

TEST(empty)
{
	struct evq q = {0};
	struct ev e;

	assert_false(evq_pop(&q, &e));
	assert_true(evq_next(&q) == TIME_NEVER);
	evq_push(&q, 5, 0, (struct ev_what){.kind = EV_LINK});
	assert_int_equal(evq_next(&q), 5);
	assert_true(evq_pop(&q, &e));
	assert_false(evq_pop(&q, &e));
	assert_true(evq_next(&q) == TIME_NEVER);
	evq_free(&q);
}

TEST(equal_times_go_by_priority_then_order_of_arrival)
{
	static const uint8_t priority[] = {2, 0, 1, 0, 2, 1, 255};
	static const uint32_t order[] = {1, 3, 2, 5, 0, 4, 6};
	struct evq q = {0};
	struct ev e;

	for (uint32_t i = 0; i < ARRAY_LEN(priority); i++)
		evq_push(&q, 10, priority[i], (struct ev_what){.call = {i}});
	for (uint32_t i = 0; i < ARRAY_LEN(order); i++) {
		assert_true(evq_pop(&q, &e));
		assert_int_equal(e.what.call.slot, order[i]);
	}
	evq_free(&q);
}

/* With a rank before those without, whenever they came; what was popped goes back as it was. */
TEST(equal_times_go_by_rank)
{
	static const uint32_t order[] = {4, 1, 0, 2, 3};
	struct evq q = {0}, other = {0};
	struct ev e;

	evq_push(&q, 10, 1, (struct ev_what){.call = {0}});
	evq_put(&q, &(struct ev){.when = 10, .order = evq_rank(1, 7), .what.call = {1}});
	evq_push(&q, 10, 1, (struct ev_what){.call = {2}});
	evq_push(&q, 10, 2, (struct ev_what){.call = {3}});
	evq_put(&q, &(struct ev){.when = 10, .order = evq_rank(1, 3), .what.call = {4}});
	while (evq_pop(&q, &e))
		evq_put(&other, &e);
	for (uint32_t i = 0; i < ARRAY_LEN(order); i++) {
		assert_true(evq_pop(&other, &e));
		assert_int_equal(e.what.call.slot, order[i]);
	}
	evq_free(&q);
	evq_free(&other);
}

/* Few different times and priorities, so that ties are the rule. */
TEST(events_come_out_sorted)
{
	struct rng r;

	for (unsigned round = 0; round < 40; round++) {
		unsigned span = 1 + round * 5;
		struct evq q = {0};
		ref_list l = {0};
		time_ps now = 0;

		rng_seed(&r, round, 3);
		for (uint32_t i = 0; i < 1500; i++) {
			if (l.n && rng_below(&r, 5) < 2) {
				now = l.at[l.n - 1].when;
				pop_and_compare(&q, &l);
			} else {
				push_both(&q, &l, now + rng_below(&r, span),
					  (uint8_t)rng_below(&r, 3), i);
			}
		}
		while (l.n)
			pop_and_compare(&q, &l);
		assert_int_equal(q.n, 0);
		evq_free(&q);
		vec_free(&l);
	}
}

/* Pushes and pops with as many events pending as `most`, and delays that rng_below() draws below
 * 2^bits: near events only, far ones only, or both. */
static void mix(uint64_t seed, uint32_t most, unsigned bits, unsigned rare_bits)
{
	struct evq q = {0};
	ref_list l = {0};
	time_ps now = seed * PS_PER_MS;
	struct rng r;

	rng_seed(&r, seed, 4);
	for (uint32_t i = 0; i < 3 * most; i++) {
		unsigned b = rng_below(&r, 16) ? bits : rare_bits;

		if (l.n && (l.n >= most || rng_below(&r, 8) < 3)) {
			now = l.at[l.n - 1].when;
			pop_and_compare(&q, &l);
		} else {
			push_both(&q, &l, now + (rng_u64(&r) >> (64 - b)), 1, i);
		}
	}
	while (l.n)
		pop_and_compare(&q, &l);
	evq_free(&q);
	vec_free(&l);
}

/* The wheel spans 2^21 ps in at least 1,024 buckets and grows with the number of events. */
TEST(near_and_far_events_come_out_sorted)
{
	for (uint64_t seed = 0; seed < 6; seed++) {
		mix(seed, 50, 17, 30);
		mix(seed, 50, 30, 17);
		mix(seed, 3000, 20, 22); /* around the end of the wheel */
		mix(seed, 3000, 11, 21); /* crowded buckets */
		mix(seed, 400, 1, 40);	 /* nearly all at the same time */
	}
}

/* A queue that ran empty, or lost its last event in the far future, takes earlier ones again. */
TEST(time_may_go_back_in_an_empty_queue)
{
	static const time_ps t[] = {PS_PER_S, 5, PS_PER_MS, TIME_NEVER, 17, PS_PER_US, 3};
	struct evq q = {0};
	ref_list l = {0};

	for (uint32_t i = 0; i < ARRAY_LEN(t); i++) {
		push_both(&q, &l, t[i], 0, i);
		push_both(&q, &l, t[i] / 2, 0, 100 + i);
		push_both(&q, &l, t[i] / 3 + PS_PER_NS, 0, 200 + i);
		while (l.n)
			pop_and_compare(&q, &l);
	}
	evq_free(&q);
	vec_free(&l);
}

/* An event before the present is taken first and leaves the others in order. */
TEST(an_event_of_the_past_does_not_turn_the_wheel_back)
{
	struct evq q = {0};
	ref_list l = {0};

	push_both(&q, &l, 10 * PS_PER_US, 0, 0);
	pop_and_compare(&q, &l);
	push_both(&q, &l, 10 * PS_PER_US + 2000000, 0, 1); /* the end of the wheel */
	push_both(&q, &l, 9 * PS_PER_US, 0, 2);
	pop_and_compare(&q, &l);
	push_both(&q, &l, 10 * PS_PER_US + 1000, 0, 3);
	push_both(&q, &l, 10 * PS_PER_US - 100000, 0, 4);
	while (l.n)
		pop_and_compare(&q, &l);
	evq_free(&q);
	vec_free(&l);
}

/* Constructors by words set the members that handlers read. */
TEST(frequent_events_are_made_of_words)
{
	struct ev_what e = ev_credit(0x12345678, 0xfedc, 0xab9, 13, 0x9876543);

	assert_int_equal(e.kind, EV_P_FC);
	assert_int_equal(e.credit.port, 0x12345678);
	assert_int_equal(e.credit.fccl, 0xfedc);
	assert_int_equal(e.credit.fctbs, 0xab9);
	assert_int_equal(e.credit.slot, 13);
	assert_int_equal(e.credit.epoch, 0x9876543);
	e = ev_head(1, 0xfffffffe, 3);
	assert_true(e.kind == EV_P_HEAD && e.head.port == 1 && e.head.cell == 0xfffffffe);
	assert_int_equal(e.head.epoch, 3);
	e = ev_port(EV_P_SENT, 0xfffffff0, 7);
	assert_true(e.kind == EV_P_SENT && e.port.port == 0xfffffff0 && e.port.life == 7);
	e = ev_chan(EV_P_CROSS, 0xfffffff1, 0xffffffff);
	assert_true(e.kind == EV_P_CROSS && e.chan.chan == 0xfffffff1);
	assert_int_equal(e.chan.life, 0xffffffff);
	e = ev_node(EV_P_ROUTE, 5, 9);
	assert_true(e.kind == EV_P_ROUTE && e.node.node == 5 && e.node.incarnation == 9);
}

TEST(extreme_times)
{
	static const time_ps t[] = {TIME_NEVER, 0, TIME_NEVER - 1, 1, PS_PER_S};
	struct evq q = {0};
	ref_list l = {0};

	for (uint32_t i = 0; i < ARRAY_LEN(t); i++)
		push_both(&q, &l, t[i], 0, i);
	while (l.n)
		pop_and_compare(&q, &l);
	push_both(&q, &l, TIME_NEVER - 1, 0, 10); /* the end and the beginning of time */
	push_both(&q, &l, TIME_NEVER, 0, 11);
	pop_and_compare(&q, &l);
	push_both(&q, &l, TIME_NEVER - 2, 0, 12);
	push_both(&q, &l, 5, 0, 13);
	push_both(&q, &l, 3000, 0, 14);
	while (l.n)
		pop_and_compare(&q, &l);
	evq_free(&q);
	vec_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(equal_times_go_by_priority_then_order_of_arrival),
		cmocka_unit_test(equal_times_go_by_rank),
		cmocka_unit_test(events_come_out_sorted),
		cmocka_unit_test(near_and_far_events_come_out_sorted),
		cmocka_unit_test(time_may_go_back_in_an_empty_queue),
		cmocka_unit_test(an_event_of_the_past_does_not_turn_the_wheel_back),
		cmocka_unit_test(frequent_events_are_made_of_words),
		cmocka_unit_test(extreme_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
