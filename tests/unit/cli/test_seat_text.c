/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --sm says: every part alone and together, names that look like parts, and what is refused.
 */
#include "unit_test.h"

#include "cli/seat_text.h"

static struct seat_text parse(const char *text)
{
	struct seat_text s;
	struct err e;

	assert_int_equal(seat_text_parse(text, &s, &e), 0);
	return s;
}

static void refuses(const char *text, const char *why)
{
	struct seat_text s;
	struct err e = {{0}};

	assert_int_equal(seat_text_parse(text, &s, &e), -EINVAL);
	assert_string_equal(e.text, why);
}

TEST(every_part_may_be_missing)
{
	struct seat_text s = parse("host 1");

	assert_string_equal(s.node, "host 1");
	assert_false(s.has_priority || s.has_start);
	assert_null(s.mechanism);
	s = parse("host 1:15");
	assert_string_equal(s.node, "host 1");
	assert_true(s.has_priority && s.priority == 15 && !s.has_start);
	s = parse("host 1@20ms");
	assert_string_equal(s.node, "host 1");
	assert_true(s.has_start && s.start == 20 * PS_PER_MS && !s.has_priority);
	s = parse("host 1,improved+traps");
	assert_string_equal(s.node, "host 1");
	assert_string_equal(s.mechanism->name, "improved+traps");
	s = parse("host 1:3@1.5ms,basic");
	assert_string_equal(s.node, "host 1");
	assert_true(s.priority == 3 && s.start == 1500 * PS_PER_US);
	assert_string_equal(s.mechanism->name, "basic");
}

TEST(names_may_look_like_parts)
{
	assert_string_equal(parse("rack:a").node, "rack:a");
	assert_string_equal(parse("node@site").node, "node@site");
	assert_string_equal(parse("a,b").node, "a,b");
	assert_string_equal(parse("rack:a@b,c:7").node, "rack:a@b,c");
	assert_true(parse("rack:a@b,c:7").priority == 7);
}

TEST(parts_that_cannot_be_read_are_refused)
{
	char longest[300];

	refuses("sw1:16", "--sm 'sw1:16': found priority 16, expected 0 to 15");
	refuses("sw1:99999999999999999999",
		"--sm 'sw1:99999999999999999999': found priority 99999999999999999999, expected 0 to 15");
	refuses("sw1:3@soon", "--sm 'sw1:3@soon': found 'soon', expected a time such as 20ms");
	refuses("sw1:3,fast", "--sm 'sw1:3,fast': found 'fast', expected a mechanism such as weft");
	refuses("sw1@3ms,fast",
		"--sm 'sw1@3ms,fast': found 'fast', expected a mechanism such as weft");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	refuses(longest, "--sm 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...': "
			 "expected fewer than 256 letters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_may_be_missing),
		cmocka_unit_test(names_may_look_like_parts),
		cmocka_unit_test(parts_that_cannot_be_read_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
