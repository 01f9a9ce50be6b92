/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results beside a source's: cells of tables with their tolerance, and trends.
 * Covers: compare_cells.c, compare_trends.c
 */
#include "unit_test.h"

#include "experiment/compare.h"
#include "experiment_fixture.h"

#include <math.h>

#define SIZES "parameters: {size: [8, 16, 32], how: [full, part]}\n" EXPERIMENT_TAIL

static struct comparison compared(const struct experiment *x, const struct results *r)
{
	struct comparison c = {0};
	struct err e = {""};

	if (compare_experiment(x, r, &c, &e))
		fail_msg("%s", e.text);
	return c;
}

/* ---- cells ---- */

static const char table[] = EXPERIMENT_HEAD SIZES
	"tables:\n"
	"  - item: Table 1\n"
	"    title: SMPs\n"
	"    theirs: |\n"
	"      n,full,part\n"
	"      8,1,0.5\n"
	"      16,2,\n"	 /* the source has no value for part */
	"      64,9,9\n" /* the experiment has no 64 */
	"      32,4,0\n"
	"    rows: {n: size}\n"
	"    columns:\n"
	"      full: {where: {how: full}, result: smps, title: all}\n"
	"      part: {where: {how: part}, result: smps}\n"
	"    scale: 100\n"
	"    tolerance: 20%\n"
	"    counted: true\n"
	"    because: [{where: {size: 16}, why: too large}, {where: {how: part}, why: in part}]\n";

static const struct compare_cell *cell(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->cells.n; i++)
		if (!strcmp(c->cells.at[i].name, name))
			return &c->cells.at[i];
	fail_msg("no cell %s", name);
	return NULL;
}

TEST(cells_are_scaled_and_measured_against_ours)
{
	struct experiment *x = fixture_experiment(table);
	struct results r = {0};
	struct comparison c;
	struct compare_counts n;

	fixture_result(&r, "size=8 how=full", "{\"smps\":105}");
	fixture_result(&r, "size=8 how=part", "{\"smps\":40}");
	fixture_result(&r, "size=16 how=full", "{\"smps\":280}");
	fixture_result(&r, "size=32 how=part", "{\"smps\":3}");
	fixture_sort(&r);
	c = compared(x, &r);
	assert_int_equal(c.cells.n, 7); /* four rows of two, less the empty one */
	assert_true(cell(&c, "8, all")->theirs == 100);
	assert_true(fabs(cell(&c, "8, all")->off - 0.05) < 1e-9);
	assert_null(cell(&c, "8, all")->why);
	assert_true(fabs(cell(&c, "8, part")->off - 0.2) < 1e-9);
	assert_string_equal(cell(&c, "8, part")->why, "in part");
	assert_true(fabs(cell(&c, "16, all")->off - 0.4) < 1e-9);
	assert_string_equal(cell(&c, "16, all")->why, "too large");
	assert_false(cell(&c, "64, all")->placed);
	assert_int_equal(cell(&c, "64, all")->ours.n, 0);
	assert_true(cell(&c, "32, all")->placed);
	assert_int_equal(cell(&c, "32, all")->ours.n, 0); /* not run */
	assert_true(isinf(cell(&c, "32, part")->off));	  /* theirs is 0 */
	n = compare_count(&c);
	assert_int_equal(n.cells, 7);
	assert_int_equal(n.run, 4);
	assert_int_equal(n.within_10, 1);
	assert_int_equal(n.within_25, 2);
	assert_int_equal(n.within_50, 3);
	comparison_free(&c);
	results_free(&r);
	experiment_free(x);
}

TEST(tables_that_are_not_counted_are_not_in_the_scoreboard)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD SIZES
		"tables: [{item: a, title: b, theirs: \"n\\n8\\n\", columns: {n: smps}}]\n");
	struct results r = {0};
	struct comparison c;

	fixture_result(&r, "size=8 how=full",
		       "{\"smps\":8}"); /* first choices, where nothing is said */
	fixture_sort(&r);
	c = compared(x, &r);
	assert_int_equal(c.cells.n, 1);
	assert_true(c.cells.at[0].ours.n == 1 && c.cells.at[0].off == 0);
	assert_int_equal(compare_count(&c).cells, 0);
	comparison_free(&c);
	results_free(&r);
	experiment_free(x);
}

TEST(points_that_are_left_out_have_no_cell_of_ours)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD SIZES
		"except: [{size: 8}]\ntables: [{item: a, title: b, theirs: \"n,v\\n8,1\\n16,1\\n\", rows: {n: size}, "
		"columns: {v: smps}}]\n");
	struct results r = {0};
	struct comparison c = compared(x, &r);

	assert_int_equal(c.cells.n, 2);
	assert_false(c.cells.at[0].placed);
	assert_true(c.cells.at[1].placed);
	comparison_free(&c);
	experiment_free(x);
}

TEST(a_word_where_the_source_should_have_a_number_is_a_fault)
{
	static const char *const words[] = {"abc", "nan", "1x", "inf"};
	struct comparison c = {0};
	struct results r = {0};
	struct experiment *x;
	struct err e;
	char text[600], expected[200];

	for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
		snprintf(text, sizeof(text),
			 EXPERIMENT_HEAD SIZES
			 "tables: [{item: a, title: b, theirs: \"n,v\\n8,%s\\n\", "
			 "rows: {n: size}, columns: {v: smps}}]\n",
			 words[i]);
		x = fixture_experiment(text);
		assert_int_equal(compare_experiment(x, &r, &c, &e), -EINVAL);
		snprintf(expected, sizeof(expected),
			 "x.yaml:2: expected a number in column v, found '%s'", words[i]);
		assert_string_equal(e.text, expected);
		comparison_free(&c);
		experiment_free(x);
	}
}

/* ---- trends ---- */

/* smps: full 10, 20, 30; part 5, 5, 6 for 8, 16, 32. */
static void results_make(struct results *r)
{
	static const char *const rows[][2] = {
		{"size=8 how=full", "{\"smps\":10}"},  {"size=16 how=full", "{\"smps\":20}"},
		{"size=32 how=full", "{\"smps\":30}"}, {"size=8 how=part", "{\"smps\":5}"},
		{"size=16 how=part", "{\"smps\":5}"},  {"size=32 how=part", "{\"smps\":6}"},
	};

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		fixture_result(r, rows[i][0], rows[i][1]);
	fixture_sort(r);
}

/* "3/3", or "1/3 COMBINATION" with the first that fails. */
static const char *trend(const char *holds, const char *more, const struct results *r)
{
	static char out[200];
	char text[900];
	struct experiment *x;
	struct comparison c;

	snprintf(text, sizeof(text),
		 EXPERIMENT_HEAD SIZES "trends: [{section: a, says: b, holds: '%s'%s}]\n", holds,
		 more);
	x = fixture_experiment(text);
	c = compared(x, r);
	assert_int_equal(c.trends.n, 1);
	snprintf(out, sizeof(out), "%u/%u%s%s", c.trends.at[0].held, c.trends.at[0].checked,
		 c.trends.at[0].against ? " " : "",
		 c.trends.at[0].against ? c.trends.at[0].against : "");
	comparison_free(&c);
	experiment_free(x);
	return out;
}

TEST(trends_are_checked_at_every_open_combination)
{
	struct results r = {0};

	results_make(&r);
	assert_string_equal(trend("smps[how=part] < smps[how=full]", "", &r),
			    "3/3"); /* each size */
	assert_string_equal(trend("smps > 5", "", &r), "4/6 size=8, how=part");
	assert_string_equal(trend("smps > 5", ", where: {how: full}", &r), "3/3");
	assert_string_equal(trend("smps > 5", ", where: {size: 32, how: part}", &r), "1/1");
	assert_string_equal(trend("smps[how=full] >= 20", "", &r), "2/3 size=8");
	assert_string_equal(trend("smps[size=8, how=full] == 10", "", &r), "1/1");
	assert_string_equal(trend("smps[size=8, how=full] == 11", "", &r), "0/1 ");
	results_free(&r);
}

TEST(trends_grow_fall_or_stay_flat_along_a_parameter)
{
	struct results r = {0};

	results_make(&r);
	assert_string_equal(trend("grows(smps[how=full], size)", "", &r), "1/1");
	assert_string_equal(trend("grows(smps[how=part], size)", "", &r),
			    "0/1 "); /* 5, 5 is no growth */
	assert_string_equal(trend("grows(smps[how=part], size, 1%)", "", &r), "1/1");
	assert_string_equal(trend("grows(smps, size)", "", &r), "1/2 how=part"); /* how is open */
	assert_string_equal(trend("falls(smps, how)", "", &r), "3/3");
	assert_string_equal(trend("falls(smps[how=full], size)", "", &r), "0/1 ");
	assert_string_equal(trend("flat(smps[how=part], size, 20%)", "", &r), "1/1");
	assert_string_equal(trend("flat(smps[how=part], size, 10%)", "", &r), "0/1 ");
	assert_string_equal(trend("grows(smps[how=full] - smps[how=part], size)", "", &r), "1/1");
	assert_string_equal(trend("grows(smps[how=full] / smps[how=part], size)", "", &r), "1/1");
	results_free(&r);
}

TEST(trends_are_joined_by_and_and_or)
{
	struct results r = {0};

	results_make(&r);
	assert_string_equal(
		trend("grows(smps[how=full], size) and flat(smps[how=part], size, 20%)", "", &r),
		"1/1");
	assert_string_equal(
		trend("falls(smps[how=full], size) or flat(smps[how=part], size, 20%)", "", &r),
		"1/1");
	assert_string_equal(
		trend("falls(smps[how=full], size) or flat(smps[how=part], size)", "", &r), "0/1 ");
	assert_string_equal(trend("smps[how=part] < 6 and smps[how=full] < 30", "", &r),
			    "2/3 size=32");
	results_free(&r);
}

TEST(combinations_without_results_are_not_counted)
{
	struct results r = {0};

	assert_string_equal(trend("grows(smps[how=full], size)", "", &r), "0/0");
	fixture_result(&r, "size=8 how=full", "{\"smps\":10}");
	fixture_sort(&r);
	assert_string_equal(trend("grows(smps[how=full], size)", "", &r),
			    "0/0"); /* one is no trend */
	assert_string_equal(trend("smps > 5", "", &r), "1/1");
	fixture_result(&r, "size=32 how=full", "{\"smps\":30}");
	fixture_sort(&r);
	assert_string_equal(trend("grows(smps[how=full], size)", "", &r),
			    "1/1"); /* 16 is missing */
	results_free(&r);
}

TEST(trends_are_counted)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD SIZES
		"trends:\n"
		"  - {section: a, says: b, holds: 'grows(smps[how=full], size)'}\n"
		"  - {section: a, says: b, holds: 'smps > 5'}\n"
		"  - {section: a, says: b, holds: 'smps[how=full] < 0'}\n");
	struct results r = {0};
	struct comparison c;
	struct compare_counts n;

	results_make(&r);
	c = compared(x, &r);
	n = compare_count(&c);
	assert_int_equal(n.trends, 3);
	assert_int_equal(n.checked, 3);
	assert_int_equal(n.held, 1); /* in all combinations */
	comparison_free(&c);
	results_free(&r);
	c = compared(x, &r);
	n = compare_count(&c);
	assert_int_equal(n.trends, 3);
	assert_int_equal(n.checked, 0);
	assert_int_equal(n.held, 0);
	comparison_free(&c);
	experiment_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_scaled_and_measured_against_ours),
		cmocka_unit_test(tables_that_are_not_counted_are_not_in_the_scoreboard),
		cmocka_unit_test(points_that_are_left_out_have_no_cell_of_ours),
		cmocka_unit_test(a_word_where_the_source_should_have_a_number_is_a_fault),
		cmocka_unit_test(trends_are_checked_at_every_open_combination),
		cmocka_unit_test(trends_grow_fall_or_stay_flat_along_a_parameter),
		cmocka_unit_test(trends_are_joined_by_and_and_or),
		cmocka_unit_test(combinations_without_results_are_not_counted),
		cmocka_unit_test(trends_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
