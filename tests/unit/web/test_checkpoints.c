/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which checkpoints stay, which one a moment needs, and the journal that goes with it.
 */
#include "unit_test.h"

#include <unistd.h>

#include "web/checkpoints.h"

static bool add(struct checkpoints *k, uint64_t at, size_t done)
{
	return checkpoints_add(k, &(struct checkpoint){.at = at, .done = done, .fd = -1});
}

TEST(thinned_out_when_full)
{
	struct checkpoints k = {0};
	int ends[2];

	checkpoints_reset(&k);
	assert_int_equal(checkpoints_find(&k, 0), -1);
	for (uint64_t i = 0; i < CHECKPOINTS_MOST; i++)
		assert_false(add(&k, i * 10, 0));
	assert_int_equal(checkpoints_find(&k, 0), 0);
	assert_int_equal(checkpoints_find(&k, 29), 2);
	assert_int_equal(k.interval, CHECKPOINT_EVENTS);
	assert_true(add(&k, 240, 0));
	assert_int_equal(k.interval, 2 * CHECKPOINT_EVENTS);
	assert_int_equal(k.c.n, 13);
	for (size_t i = 0; i < k.c.n; i++)
		assert_int_equal(k.c.at[i].at, i * 20);
	/* In between, after going back; and one whose moment is there already is closed. */
	assert_false(add(&k, 30, 0));
	assert_int_equal(k.c.at[2].at, 30);
	assert_int_equal(pipe(ends), 0);
	checkpoints_add(&k, &(struct checkpoint){.at = 30, .fd = ends[0]});
	assert_int_equal(k.c.n, 14);
	assert_int_equal(close(ends[0]), -1);
	close(ends[1]);
	checkpoints_reset(&k);
	assert_int_equal(k.c.n, 0);
}

TEST(an_event_ends_the_former_course)
{
	struct checkpoints k = {0};
	struct strbuf s = {0};

	checkpoints_reset(&k);
	add(&k, 0, 0);
	checkpoints_event(&k, 0, 5, "kill \"a\"");
	add(&k, 10, 1);
	checkpoints_event(&k, 1, 10, "b");
	checkpoints_event(&k, 2, 18, "c");
	add(&k, 20, 3);
	assert_int_equal(k.c.n, 3);
	checkpoints_journal(&k, 1, &s);
	assert_string_equal(s.s, "{\"cmd\":\"journal\",\"events\":[{\"at\":\"10\",\"text\":\"b\"},"
				 "{\"at\":\"18\",\"text\":\"c\"}]}");
	/* Back at 10, after b, something else is done. */
	checkpoints_event(&k, 2, 15, "d");
	assert_int_equal(k.c.n, 2);
	assert_int_equal(k.journal.n, 3);
	s.len = 0;
	checkpoints_journal(&k, 0, &s);
	assert_string_equal(
		s.s, "{\"cmd\":\"journal\",\"events\":[{\"at\":\"5\",\"text\":\"kill \\\"a\\\"\"},"
		     "{\"at\":\"10\",\"text\":\"b\"},{\"at\":\"15\",\"text\":\"d\"}]}");
	/* At the moment of a checkpoint that has not seen it: the checkpoint is as good as before. */
	checkpoints_event(&k, 0, 0, "e");
	assert_int_equal(k.c.n, 1);
	assert_int_equal(k.journal.n, 1);
	/* There is no future any more. */
	add(&k, 30, 1);
	checkpoints_cut(&k, 0, 0);
	assert_int_equal(k.c.n, 1);
	assert_int_equal(k.journal.n, 0);
	checkpoints_reset(&k);
	strbuf_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thinned_out_when_full),
		cmocka_unit_test(an_event_ends_the_former_course),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
