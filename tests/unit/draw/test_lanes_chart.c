/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States over time: positions and colours of spans, marks, and that no text breaks the document.
 */
#include "unit_test.h"

#include "draw/lanes_chart.h"

static const char *const lanes[] = {"a", "b<c"};
static const char *const states[] = {"one", "two"};
static const char *const colours[] = {"#111111", "#222222"};

TEST(spans_and_marks_are_where_they_belong)
{
	const struct lanes_span spans[] = {{0, 0, 0, 500}, {0, 1, 500, 1000}, {1, 1, 250, 250}};
	const struct lanes_mark marks[] = {{500, 0, "crash & burn"}, {1000, -1, "join"}};
	struct lanes_chart c = {.title = "t",
				.x_label = "ms",
				.to = 1000,
				.lanes = lanes,
				.nlanes = 2,
				.states = states,
				.colours = colours,
				.nstates = 2,
				.spans = spans,
				.nspans = 3,
				.marks = marks,
				.nmarks = 2};
	struct strbuf out = {0};

	lanes_chart_svg(&c, &out);
	/* labels need 48 pixels, marks 78 above the lanes, the axis has 820 */
	assert_non_null(strstr(
		out.s, "<rect x=\"48\" y=\"142\" width=\"410\" height=\"26\" fill=\"#111111\"/>"));
	assert_non_null(strstr(
		out.s, "<rect x=\"458\" y=\"142\" width=\"410\" height=\"26\" fill=\"#222222\"/>"));
	assert_non_null(strstr(
		out.s, "<rect x=\"253\" y=\"178\" width=\"0.6\" height=\"26\" fill=\"#222222\"/>"));
	assert_non_null(strstr(out.s, "crash &#38; burn"));
	assert_non_null(strstr(out.s, "b&#60;c"));
	assert_int_equal(strncmp(out.s + out.len - 7, "</svg>\n", 7), 0);
	strbuf_free(&out);
}

TEST(an_empty_chart_is_a_document)
{
	struct lanes_chart c = {.title = "t", .x_label = "ms", .note = "n"};
	struct strbuf out = {0};

	lanes_chart_svg(&c, &out);
	assert_non_null(strstr(out.s, "</svg>"));
	strbuf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_and_marks_are_where_they_belong),
		cmocka_unit_test(an_empty_chart_is_a_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
