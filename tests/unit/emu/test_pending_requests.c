/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulator's table of requests that wait for a response. Keeps no state.
 */
#include "unit_test.h"

#include "emu/pending_requests.h"

static struct sim_smp request(unsigned cls, uint64_t tid)
{
	struct sim_smp smp = {0};

	iba_smp_init(smp.mad, (enum iba_class)cls, IBA_GET, IBA_ATTR_NODE_INFO, 0);
	iba_smp_set_tid(smp.mad, tid);
	return smp;
}

TEST(pending_is_found_by_port_class_and_id)
{
	struct sim_smp a = request(0x81, 7), b = request(0x01, 7), c = request(0x81, 8);
	struct pend p;
	uint32_t i, j, k;

	pend_init(&p, 4, 16);
	i = pend_add(&p, 0, 100, &a, 1);
	j = pend_add(&p, 1, 200, &a, 2);
	k = pend_add(&p, 0, 100, &b, 3);
	assert_int_equal(pend_find(&p, 100, a.mad), i);
	assert_int_equal(pend_find(&p, 200, a.mad), j);
	assert_int_equal(pend_find(&p, 100, b.mad), k);
	assert_int_equal(pend_find(&p, 100, c.mad), PEND_NONE);
	assert_int_equal(pend_find(&p, 300, a.mad), PEND_NONE);
	pend_del(&p, i);
	assert_int_equal(pend_find(&p, 100, a.mad), PEND_NONE);
	assert_int_equal(pend_find(&p, 200, a.mad), j);
	assert_int_equal(p.n, 2);
	pend_free(&p);
}

TEST(a_response_matches_the_equal_request_then_the_oldest)
{
	struct sim_smp a = request(0x81, 0x100000007), b = request(0x81, 0x200000007),
		       c = request(0x81, 0x300000007);
	struct pend p;
	uint32_t i, j;

	pend_init(&p, 4, 16);
	i = pend_add(&p, 0, 100, &a, 1);
	j = pend_add(&p, 1, 100, &b, 2);
	assert_int_equal(pend_find(&p, 100, a.mad), i);
	assert_int_equal(pend_find(&p, 100, b.mad), j);
	assert_int_equal(pend_find(&p, 100, c.mad),
			 i); /* the upper half is not the sender's alone */
	pend_del(&p, i);
	assert_int_equal(pend_find(&p, 100, c.mad), j);
	pend_free(&p);
}

TEST(a_repeated_request_is_one_entry)
{
	struct sim_smp a = request(0x81, 1), b = request(0x81, 2);
	struct pend p;
	uint32_t i, j;

	pend_init(&p, 4, 2);
	i = pend_add(&p, 0, 100, &a, 1);
	j = pend_add(&p, 0, 100, &b, 2);
	assert_true(pend_full(&p, 0));
	assert_false(pend_full(&p, 1));
	assert_int_equal(p.client[0].oldest, i);
	assert_int_equal(pend_add(&p, 0, 100, &a, 3), i);
	assert_int_equal(p.client[0].oldest, j);
	assert_int_equal(p.n, 2);
	pend_del_client(&p, 0);
	assert_int_equal(p.n, 0);
	assert_int_equal(p.client[0].oldest, PEND_NONE);
	assert_true(pend_add(&p, 0, 100, &a, 4) <= 1); /* the room is used again */
	pend_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pending_is_found_by_port_class_and_id),
		cmocka_unit_test(a_response_matches_the_equal_request_then_the_oldest),
		cmocka_unit_test(a_repeated_request_is_one_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
