/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggestions for misspelled words. Keeps no state.
 */
#include "unit_test.h"

#include "base/spelling.h"

TEST(the_nearest_word_is_suggested)
{
	struct spelling n = {.word = "ge"};

	assert_int_equal(spelling_distance("ports", "ports"), 0);
	assert_int_equal(spelling_distance("prots", "ports"), 1);
	assert_int_equal(spelling_distance("port", "ports"), 1);
	assert_int_equal(spelling_distance("kitten", "sitting"), 3);
	assert_int_equal(spelling_distance("", "abc"), 3);
	spelling_offer(&n, "show", "show");
	assert_null(n.best);
	spelling_offer(&n, "gen", "topo gen");
	assert_string_equal(n.best, "topo gen");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_word_is_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
