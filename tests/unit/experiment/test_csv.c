/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comma-separated values: names, rows, lines of faults.
 */
#include "unit_test.h"

#include "experiment/csv.h"

TEST(rows_have_names_and_lines)
{
	struct err e;
	struct csv *c = csv_read(
		"t.csv", "# Table 1\nn, how,value\r\n\n8, none ,1.5\r\n  \n# more\n16,,2", &e);

	assert_non_null(c);
	assert_int_equal(c->names.n, 3);
	assert_int_equal(c->lines.n, 2);
	assert_int_equal(c->lines.at[0], 4);
	assert_int_equal(c->lines.at[1], 7);
	assert_int_equal(csv_column(c, "how"), 1);
	assert_int_equal(csv_column(c, "value"), 2);
	assert_int_equal(csv_column(c, "none"), -1);
	assert_string_equal(csv_cell(c, 0, 1), "none");
	assert_string_equal(csv_cell(c, 0, 2), "1.5");
	assert_string_equal(csv_cell(c, 1, 1), "");
	assert_string_equal(csv_cell(c, 1, 2), "2");
	csv_free(c);
}

TEST(a_row_has_as_many_values_as_there_are_names)
{
	struct err e;

	assert_null(csv_read("t.csv", "a,b\n1,2\n3\n", &e));
	assert_string_equal(e.text, "t.csv:3: expected 2 values, found 1");
	assert_null(csv_read("t.csv", "a,b\n1,2,3\n", &e));
	assert_string_equal(e.text, "t.csv:2: expected 2 values, found 3");
	assert_null(csv_read("t.csv", "", &e));
	assert_string_equal(e.text, "t.csv:1: expected a line of names");
	assert_null(csv_read("t.csv", "# nothing\n\n", &e));
	csv_free(NULL);
}

/* Values beyond the limit must not be dropped without a word. */
TEST(lines_have_a_limit)
{
	struct strbuf b = {0};
	struct csv *c;
	struct err e;

	strbuf_add(&b, "n1");
	for (int i = 2; i <= 64; i++)
		strbuf_addf(&b, ",n%d", i);
	c = csv_read("t.csv", b.s, &e);
	assert_non_null(c);
	assert_int_equal(csv_column(c, "n64"), 63);
	csv_free(c);
	strbuf_add(&b, ",n65");
	assert_null(csv_read("t.csv", b.s, &e));
	assert_string_equal(e.text, "t.csv:1: expected at most 64 values in a line");
	strbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_names_and_lines),
		cmocka_unit_test(a_row_has_as_many_values_as_there_are_names),
		cmocka_unit_test(lines_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
