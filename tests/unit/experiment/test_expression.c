/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic in experiments: precedence, lists, functions, and faults by column.
 * Covers: expression_parse.c, expression_eval.c
 */
#include "unit_test.h"

#include "experiment/expression.h"

/* Names of one letter are numbers: a = 1, b = 2, ...; the path .list is 1, 2, 3; .none has no elements. */
static int find(void *ctx UNUSED, const struct expr *leaf, expr_numbers *out, struct err *e)
{
	if (leaf->kind == EXPR_PATH && !strcmp(leaf->name, "list[]")) {
		for (int i = 1; i <= 3; i++)
			vec_push(out, i);
		return 0;
	}
	if (leaf->kind == EXPR_PATH && !strcmp(leaf->name, "none[]"))
		return 0;
	if (leaf->kind == EXPR_RESULT && !leaf->name[1]) {
		vec_push(out, leaf->name[0] - 'a' + 1);
		return 0;
	}
	return err_set(e, -ENOENT, "no %s", leaf->name);
}

static const struct expr_scope scope = {find, NULL};

/* As "7" or "[1,2,3]", or the fault. */
static const char *value(const char *text)
{
	static char out[600];
	expr_numbers v = {0};
	struct err e = {""};
	struct expr *x = expr_parse(text, &e);
	size_t n = 0;

	if (!x || expr_eval(x, &scope, &v, &e)) {
		snprintf(out, sizeof(out), "%s", e.text);
	} else {
		for (size_t i = 0; i < v.n; i++)
			n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%g", i ? "," : "",
					      v.at[i]);
		if (!v.n)
			*out = '\0';
	}
	expr_free(x);
	vec_free(&v);
	return out;
}

TEST(products_bind_stronger_than_sums)
{
	assert_string_equal(value("1 + 2 * 3"), "7");
	assert_string_equal(value("(1 + 2) * 3"), "9");
	assert_string_equal(value("2 * 3 + 1"), "7");
	assert_string_equal(value("-2 * 3"), "-6");
	assert_string_equal(value("2 - -3"), "5");
	assert_string_equal(value("- - 3"), "3");
	assert_string_equal(value("-2 - 3"), "-5");
}

TEST(equal_operators_bind_from_the_left)
{
	assert_string_equal(value("10 - 4 - 3"), "3");
	assert_string_equal(value("100 / 10 / 5"), "2");
	assert_string_equal(value("12 / 3 * 2"), "8");
}

TEST(comparisons_bind_weaker_than_sums_and_stronger_than_and)
{
	assert_string_equal(value("1 + 1 < 3"), "1");
	assert_string_equal(value("3 <= 2 + 1"), "1");
	assert_string_equal(value("4 > 4"), "0");
	assert_string_equal(value("4 >= 4"), "1");
	assert_string_equal(value("2 == 1 + 1"), "1");
	assert_string_equal(value("1 < 2 and 2 < 1"), "0");
	assert_string_equal(value("1 < 2 or 2 < 1 and 0"), "1"); /* or is the weakest */
	assert_string_equal(value("(1 < 2 or 2 < 1) and 0"), "0");
}

TEST(words_are_whole_words)
{
	assert_string_equal(value("a and b"), "1");
	assert_string_equal(value("1 andy"),
			    "column 3: expected an operator or the end, found 'andy'");
	assert_string_equal(value("o or a"), "1");
}

TEST(numbers_may_be_percentages)
{
	assert_string_equal(value("50% * 4"), "2");
	assert_string_equal(value("1.5e3"), "1500");
	assert_string_equal(value("110% - 10%"), "1");
	assert_string_equal(value("1e999"), "column 1: expected a smaller number, found '1e999'");
}

TEST(lists_work_element_by_element)
{
	assert_string_equal(value(".list[]"), "1,2,3");
	assert_string_equal(value(".list[] * 2"), "2,4,6");
	assert_string_equal(value("6 / .list[]"), "6,3,2");
	assert_string_equal(value(".list[] + .list[]"), "2,4,6");
	assert_string_equal(value(".list[] >= 2"), "0,1,1");
	assert_string_equal(value("-.list[]"), "-1,-2,-3");
	assert_string_equal(value("1 + .none[]"), "column 1: lists of 1 and 0 numbers");
}

TEST(functions_reduce_lists)
{
	assert_string_equal(value("min(.list[])"), "1");
	assert_string_equal(value("max(.list[])"), "3");
	assert_string_equal(value("sum(.list[])"), "6");
	assert_string_equal(value("mean(.list[])"), "2");
	assert_string_equal(value("sd(.list[])"), "1");
	assert_string_equal(value("sd(5)"), "0");
	assert_string_equal(value("count(.list[])"), "3");
	assert_string_equal(value("count(.none[])"), "0");
	assert_string_equal(value("first(.list[])"), "1");
	assert_string_equal(value("last(.list[])"), "3");
	assert_string_equal(value("abs(.list[] - 2)"), "1,0,1");
	assert_string_equal(value("max(1, 7, 3)"), "7");
	assert_string_equal(value("min(.none[])"), "min() of an empty list");
	assert_true(expr_is_function("first") && !expr_is_function("grows"));
}

TEST(selectors_keep_parameters_and_labels)
{
	struct err e;
	struct expr *x = expr_parse("smps[technique = no provisional, switches=8]", &e);

	assert_non_null(x);
	assert_int_equal(x->kind, EXPR_RESULT);
	assert_string_equal(x->name, "smps");
	assert_int_equal(x->selectors.n, 2);
	assert_string_equal(x->selectors.at[0].param, "technique");
	assert_string_equal(x->selectors.at[0].label, "no provisional");
	assert_string_equal(x->selectors.at[1].label, "8");
	expr_free(x);
}

TEST(paths_take_names_and_all_elements)
{
	static const char *const good[] = {".", ".a", ".a.b_c", ".a[].b", ".a[][]", ".[].b"};
	struct err e;

	for (unsigned i = 0; i < ARRAY_LEN(good); i++) {
		struct expr *x = expr_parse(good[i], &e);

		assert_non_null(x);
		assert_int_equal(x->kind, EXPR_PATH);
		assert_string_equal(x->name, good[i] + 1);
		expr_free(x);
	}
	assert_string_equal(
		value(".runs[0].x"),
		"column 7: expected ']': a path takes all elements of a list, found '0].x'");
	assert_string_equal(value(".a]"), "column 3: expected an operator or the end, found ']'");
}

TEST(faults_name_the_column)
{
	assert_string_equal(
		value(""),
		"column 1: expected a number, a path such as .mean.smps or a name, found the end");
	assert_string_equal(
		value("1 + "),
		"column 5: expected a number, a path such as .mean.smps or a name, found the end");
	assert_string_equal(
		value("1 + * 2"),
		"column 5: expected a number, a path such as .mean.smps or a name, found '* 2'");
	assert_string_equal(value("(1 + 2"), "column 7: expected ')', found the end");
	assert_string_equal(value("max(1, 2"), "column 9: expected ')', found the end");
	assert_string_equal(value("max(1, 2, 3, 4)"),
			    "column 13: expected at most three arguments, found ' 4)'");
	assert_string_equal(value("1 2"), "column 3: expected an operator or the end, found '2'");
	assert_string_equal(value("a[b]"),
			    "column 4: expected '=' and a value of the parameter, found ']'");
	assert_string_equal(value("a[b=]"), "column 5: expected a word, found ']'");
	assert_string_equal(value("a[b=1"), "column 6: expected ']', found the end");
	assert_string_equal(value("1 / (2 - b)"), "column 1: division by zero");
	assert_string_equal(value("zz"), "no zz");
}

/* A sum of n terms is a tree of depth n: both must have a limit, or a text of a megabyte ends the process. */
TEST(depth_and_length_are_limited)
{
	struct strbuf deep = {0}, wide = {0}, minus = {0};

	for (int i = 0; i < 100000; i++) {
		strbuf_add(&deep, "(");
		strbuf_add(&wide, "1+");
		strbuf_add(&minus, "-");
	}
	strbuf_add(&wide, "1");
	assert_non_null(strstr(value(deep.s), "expected fewer brackets"));
	assert_non_null(strstr(value(minus.s), "expected fewer brackets"));
	assert_non_null(strstr(value(wide.s), "column 2001: expected a shorter expression"));
	strbuf_free(&deep);
	strbuf_free(&wide);
	strbuf_free(&minus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_bind_stronger_than_sums),
		cmocka_unit_test(equal_operators_bind_from_the_left),
		cmocka_unit_test(comparisons_bind_weaker_than_sums_and_stronger_than_and),
		cmocka_unit_test(words_are_whole_words),
		cmocka_unit_test(numbers_may_be_percentages),
		cmocka_unit_test(lists_work_element_by_element),
		cmocka_unit_test(functions_reduce_lists),
		cmocka_unit_test(selectors_keep_parameters_and_labels),
		cmocka_unit_test(paths_take_names_and_all_elements),
		cmocka_unit_test(faults_name_the_column),
		cmocka_unit_test(depth_and_length_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
