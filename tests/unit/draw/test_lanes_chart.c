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
	const struct lanes_mark marks[] = {{500, 0, LANES_FAULT, "crash & burn"},
					   {1000, -1, LANES_END, "join"}};
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
	/* labels need 48 pixels, title, key and one row of marks 71, the axis has 820 */
	assert_non_null(strstr(
		out.s, "<rect x=\"48\" y=\"71\" width=\"410\" height=\"26\" fill=\"#111111\"/>"));
	assert_non_null(strstr(
		out.s, "<rect x=\"458\" y=\"71\" width=\"410\" height=\"26\" fill=\"#222222\"/>"));
	assert_non_null(strstr(
		out.s, "<rect x=\"253\" y=\"107\" width=\"0.6\" height=\"26\" fill=\"#222222\"/>"));
	assert_non_null(strstr(out.s, "<circle cx=\"458\" cy=\"84\"")); /* in its lane */
	assert_non_null(strstr(out.s, "crash &#38; burn"));
	assert_non_null(strstr(out.s, "b&#60;c"));
	assert_int_equal(strncmp(out.s + out.len - 7, "</svg>\n", 7), 0);
	strbuf_free(&out);
}

/* Row of the first text that begins so: rows are 14 pixels high. */
static unsigned row_of(const char *svg, const char *text)
{
	const char *at = strstr(svg, text), *y = at;

	assert_non_null(at);
	while (strncmp(y, " y=\"", 4))
		y--;
	return ((unsigned)atoi(y + 4) - 64) / 14;
}

/* A text goes below those that reach to its mark, and to the first row where none does. */
TEST(texts_of_marks_do_not_cover_each_other)
{
	const char *long_text = "cut sw1, sw2, sw3, sw4, sw5, sw6, sw7, sw8, sw9, sw10, sw11, sw12";
	const struct lanes_mark marks[] = {{100, -1, LANES_FAULT, "first mark"},
					   {100, -1, LANES_FAULT, "second mark"},
					   {120, -1, LANES_FAULT, "third mark"},
					   {600, -1, LANES_END, "fourth mark"},
					   {990, -1, LANES_NOTE, long_text}};
	struct lanes_chart c = {.title = "t",
				.subtitle = "what it is about",
				.x_label = "ms",
				.to = 1000,
				.mark_names = {"fault", "end"},
				.marks = marks,
				.nmarks = ARRAY_LEN(marks)};
	struct strbuf out = {0};
	unsigned wide;

	lanes_chart_svg(&c, &out);
	assert_int_equal(row_of(out.s, "first mark"), 1); /* the subtitle shifts all by one */
	assert_int_equal(row_of(out.s, "second mark"), 2);
	assert_int_equal(row_of(out.s, "third mark"), 3);
	assert_int_equal(row_of(out.s, "fourth mark"), 1);
	assert_non_null(strstr(out.s, "what it is about"));
	/* cut, with the whole one as a tooltip, and inside the drawing */
	assert_non_null(strstr(out.s, "sw12</title>cut sw1"));
	assert_non_null(strstr(out.s, "...</text>"));
	assert_int_equal(sscanf(out.s, "<svg xmlns=\"%*[^\"]\" width=\"%u\"", &wide), 1);
	assert_true(wide >= 48 + 811 + 56 * 7);
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
		cmocka_unit_test(texts_of_marks_do_not_cover_each_other),
		cmocka_unit_test(an_empty_chart_is_a_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
