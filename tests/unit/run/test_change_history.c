/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history of changes: numbered from 1, the oldest ones dropped, also when a reload lowers the limit.
 */
#include "unit_test.h"

#include "run/change_history.h"

static uint64_t add(struct run_history *h, uint32_t switches, unsigned max)
{
	return run_history_add(h, &(struct run_change){.switches = switches}, max)->number;
}

TEST(changes_are_numbered_from_1)
{
	struct run_history h = {0};

	assert_int_equal(add(&h, 10, 5), 1);
	assert_int_equal(add(&h, 11, 5), 2);
	assert_int_equal(h.changes.n, 2);
	assert_int_equal(h.changes.at[1].switches, 11);
	run_history_free(&h);
}

TEST(the_oldest_are_dropped)
{
	struct run_history h = {0};

	for (uint32_t i = 1; i <= 8; i++)
		assert_int_equal(add(&h, i, 3), i);
	assert_int_equal(h.changes.n, 3);
	assert_int_equal(h.changes.at[0].number, 6);
	assert_int_equal(h.changes.at[2].switches, 8);
	run_history_free(&h);
}

TEST(a_lower_limit_takes_effect_with_the_next_change)
{
	struct run_history h = {0};

	for (uint32_t i = 1; i <= 8; i++)
		add(&h, i, 8);
	assert_int_equal(add(&h, 9, 2), 9);
	assert_int_equal(h.changes.n, 2);
	assert_int_equal(h.changes.at[0].number, 8);
	run_history_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_numbered_from_1),
		cmocka_unit_test(the_oldest_are_dropped),
		cmocka_unit_test(a_lower_limit_takes_effect_with_the_next_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
