/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charts: positions, ticks and labels of axes, and that no text or value breaks the document.
 * Covers: plot.c, panels.c
 */
#include "unit_test.h"

#include "draw/panels.h"
#include "draw/plot.h"

static char *draw(const struct plot *p)
{
	struct strbuf b = {0};

	plot_svg(p, &b);
	return b.s;
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static const struct plot_point rising[] = {
	{0, 1000, 0, false}, {50000, 2000, 0, false}, {100000, 4000, 0, true}};

TEST(axes_have_round_ticks)
{
	const struct plot_series s = {.name = "one", .at = rising, .n = 3};
	struct plot p = {.title = "t",
			 .x = {.label = "load", .unit = 1000},
			 .y = {.label = "us", .unit = 1000},
			 .series = &s,
			 .n = 1};
	char *svg = draw(&p);

	/* x: 0, 10, ... 100 thousand; y: 0, 0.5, ... 4 */
	assert_non_null(strstr(svg, ">100</text>"));
	assert_non_null(strstr(svg, ">10</text>"));
	assert_null(strstr(svg, ">110</text>"));
	assert_non_null(strstr(svg, ">0.5</text>"));
	assert_non_null(strstr(svg, ">4</text>"));
	assert_null(strstr(svg, ">4.5</text>"));
	/* the middle of x, a quarter of the way to the top of y */
	assert_non_null(strstr(svg, "M0 255L280 170L560 0"));
	assert_int_equal(count(svg, "<circle"), 4); /* three points and the legend's */
	assert_int_equal(count(svg, "fill=\"#ffffff\" stroke"), 1);
	free(svg);
}

TEST(points_beyond_the_axis_are_clipped)
{
	const struct plot_series s = {.name = "one", .at = rising, .n = 3};
	struct plot p = {.title = "t",
			 .x = {.label = "x"},
			 .y = {.label = "y", .max = 2000},
			 .series = &s,
			 .n = 1};
	char *svg = draw(&p);

	assert_non_null(strstr(svg, "M0 170L280 0L560 -340"));
	assert_int_equal(count(svg, "<circle"), 3); /* the last point is missing */
	assert_non_null(strstr(svg, ">2000</text>"));
	assert_null(strstr(svg, ">2200</text>"));
	free(svg);
}

TEST(decades_are_equally_long_on_a_logarithmic_axis)
{
	static const struct plot_point at[] = {
		{0, 1, 0, false}, {10, 1, 0, false}, {100, 1, 0, false}, {1000, 1, 0, false}};
	const struct plot_series s = {.name = "one", .at = at, .n = 4};
	struct plot p = {.title = "t",
			 .x = {.label = "x", .log = true},
			 .y = {.label = "y"},
			 .series = &s,
			 .n = 1};
	char *svg = draw(&p);

	assert_non_null(strstr(svg, "M0 0L280 0L560 0")); /* the point at 0 is left out */
	assert_non_null(strstr(svg, ">10</text>"));
	assert_non_null(strstr(svg, ">200</text>"));
	assert_non_null(strstr(svg, ">500</text>"));
	assert_null(strstr(svg, ">2000</text>"));
	free(svg);
}

TEST(text_is_escaped)
{
	const struct plot_series s = {.name = "<b>\"&'\x01\xff", .at = rising, .n = 3};
	struct plot p = {.title = "a<b",
			 .note = "x > y",
			 .x = {.label = "&"},
			 .y = {.label = "<"},
			 .series = &s,
			 .n = 1};
	char *svg = draw(&p);

	assert_non_null(strstr(svg, ">&#60;b&#62;&#34;&#38;&#39;?"
				    "?</text>"));
	assert_non_null(strstr(svg, ">a&#60;b</text>"));
	assert_non_null(strstr(svg, ">x &#62; y</text>"));
	assert_null(strstr(svg, "<b>"));
	free(svg);
}

TEST(extreme_values_give_a_valid_document)
{
	static const struct plot_point none[] = {{0, 0, 0, false}};
	static const struct plot_point huge[] = {{UINT64_MAX, UINT64_MAX, 0, false},
						 {1, 1, 0, false}};
	const struct plot_series all[] = {{.name = "none", .at = none, .n = 1},
					  {.name = "huge", .at = huge, .n = 2},
					  {.name = "empty", .at = NULL, .n = 0}};

	for (unsigned log = 0; log < 4; log++)
		for (unsigned n = 0; n <= 3; n++) {
			struct plot p = {.title = "",
					 .x = {.label = "", .log = log & 1},
					 .y = {.label = "", .log = log & 2, .unit = 1000},
					 .series = all,
					 .n = n};
			char *svg = draw(&p);

			assert_int_equal(count(svg, "<svg"), count(svg, "</svg>"));
			assert_int_equal(count(svg, "<text"), count(svg, "</text>"));
			assert_true(count(svg, "class=\"g\"") < 300);
			free(svg);
		}
}

TEST(many_series_differ_in_colour_or_dashes)
{
	struct plot_series s[20];
	struct plot p = {
		.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = s, .n = 20};
	char *svg;

	for (unsigned i = 0; i < 20; i++)
		s[i] = (struct plot_series){.name = "s", .at = rising, .n = 3};
	svg = draw(&p);
	assert_int_equal(count(svg, "<path class=\"l\" stroke=\"#1f5fa8\" d="),
			 2); /* line and legend */
	assert_int_equal(count(svg, "stroke-dasharray"), 24);
	assert_non_null(strstr(svg, "height=\"506\"")); /* the legend is the higher part */
	free(svg);
}

TEST(stacked_charts_are_one_document)
{
	const struct plot_series s = {.name = "one", .at = rising, .n = 3};
	struct plot p[2] = {{.title = "upper",
			     .x = {.label = "load"},
			     .y = {.label = "us"},
			     .series = &s,
			     .n = 1},
			    {.title = "lower",
			     .x = {.label = "load"},
			     .y = {.label = "us"},
			     .note = "small print",
			     .series = &s,
			     .n = 1}};
	struct strbuf b = {0};

	plot_svg_stack(p, 2, &b);
	assert_int_equal(count(b.s, "<svg xmlns"), 1);
	assert_int_equal(count(b.s, "<svg "), count(b.s, "</svg>"));
	assert_true(strstr(b.s, "upper") < strstr(b.s, "lower"));
	assert_int_equal(count(b.s, "<svg y=\"0\""), 1);
	assert_int_equal(count(b.s, "M0 255L280 170L560 0"), 2);
	strbuf_free(&b);
}

/* ---- panels ---- */

static char *draw_panels(const struct panels *p)
{
	struct strbuf b = {0};

	panels_svg(p, &b);
	return b.s;
}

TEST(panel_ticks_count_from_the_event)
{
	const struct plot_point up[] = {
		{1000, 0, 0, false}, {2000, 5, 0, false}, {9000, 40, 0, false}};
	const struct panels_line line = {"a <b>", up, 3, true};
	const struct panels_panel one[] = {{"first", 1, 0, &line, 1}, {"second", 1, 0, &line, 1}};
	const struct panels_band bands[] = {
		{2000, 3000, "work", 0}, {3000, 4000, "rest", 5}, {4000, 5000, "work", 0}};
	const struct panels p = {.title = "t",
				 .note = "n & m",
				 .x_label = "time",
				 .x_unit = 1000,
				 .from = 1000,
				 .to = 8000,
				 .zero = 2000,
				 .zero_name = "event",
				 .bands = bands,
				 .nbands = 3,
				 .panels = one,
				 .n = 2};
	char *svg = draw_panels(&p);

	assert_non_null(strstr(svg, ">-1</text>")); /* before the event */
	assert_non_null(strstr(svg, ">6</text>"));
	assert_null(strstr(svg, ">7</text>"));
	assert_int_equal(count(svg, ">work</text>"), 1); /* one name, one colour */
	assert_int_equal(count(svg, "#dccbe8"),
			 3); /* the fifth colour, as requested: both panels and the key */
	assert_int_equal(count(svg, ">event</text>"), 1);
	assert_int_equal(count(svg, "<rect"),
			 1 + 3 * 2 + 2);		/* background; bands in both; two names */
	assert_int_equal(count(svg, "class=\"l\""), 4); /* two lines, two samples */
	assert_int_equal(count(svg, "a &#60;b&#62;"), 2);
	/* Steps: horizontal at the old value, then up. Points beyond the end are not drawn. */
	assert_non_null(strstr(svg, "M84 184H184L184 170.3H784"));
	free(svg);
}

TEST(panels_without_points)
{
	const struct panels_panel empty = {.label = "none"};
	struct panels p = {
		.title = "t", .x_label = "x", .zero_name = "z", .panels = &empty, .n = 1};
	char *svg = draw_panels(&p);

	assert_non_null(strstr(svg, "</svg>"));
	free(svg);
	p.from = UINT64_MAX - 1; /* far from zero */
	p.to = UINT64_MAX;
	svg = draw_panels(&p);
	assert_non_null(strstr(svg, "</svg>"));
	free(svg);
	p.from = p.to = p.zero = UINT64_MAX;
	svg = draw_panels(&p);
	assert_non_null(strstr(svg, "</svg>"));
	free(svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_have_round_ticks),
		cmocka_unit_test(points_beyond_the_axis_are_clipped),
		cmocka_unit_test(decades_are_equally_long_on_a_logarithmic_axis),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(extreme_values_give_a_valid_document),
		cmocka_unit_test(many_series_differ_in_colour_or_dashes),
		cmocka_unit_test(stacked_charts_are_one_document),
		cmocka_unit_test(panel_ticks_count_from_the_event),
		cmocka_unit_test(panels_without_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
