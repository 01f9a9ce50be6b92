/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages about experiments: what HTML and Markdown escape, tables beside their source, plots, and exports.
 * Covers: report.c, report_export.c, report_plot.c, report_series.c, page.c
 */
#include "unit_test.h"

#include "experiment/page.h"
#include "experiment/report.h"
#include "experiment_fixture.h"

#include <unistd.h>

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static const char text[] =
	"name: small\nsource: \"<004> & 'co'\"\nitem: Table 1\nclaim: \"a | b < c\"\n"
	"notes: |\n  See <script>alert(1)</script> and `code`.\n"
	"parameters: {size: [8, 16], how: [full, part]}\n"
	"seeds: 2\n"
	"run: sim up {net} --name '```<b>'\n"
	"results: {smps: {is: .smps, title: \"S*M*Ps\"}, curve: '.c[]', xs: '.x[]'}\n"
	"tables:\n"
	"  - item: Table 1\n"
	"    title: SMPs\n"
	"    theirs: |\n"
	"      n,full,part\n"
	"      8,10,5\n"
	"      16,,7\n" /* no value in the first column */
	"    rows: {n: size}\n"
	"    columns:\n"
	"      full: {where: {how: full}, result: smps}\n"
	"      part: {where: {how: part}, result: smps, title: in part}\n"
	"    because: [{why: \"rounding | <i>\"}]\n"
	"plots:\n"
	"  - {item: Fig. 1, title: \"A < B\", x: size, x_title: switches, y: smps, y_title: SMPs, series: how}\n"
	"  - {item: Fig. 2, title: it's, x: xs, y: curve, panels: size}\n"
	"trends:\n"
	"  - {section: \"1\", says: It grows., holds: 'grows(smps, size)', because: \"a_b\"}\n"
	"  - {section: \"2\", says: It is there., holds: 'smps > 0'}\n";

static void results_make(struct results *r)
{
	static const char *const rows[][2] = {
		{"size=8 how=full seed=1", "{\"smps\":9,\"curve\":[1,2],\"xs\":[0,10]}"},
		{"size=8 how=full seed=2", "{\"smps\":11,\"curve\":[3,4],\"xs\":[0,10]}"},
		{"size=8 how=part seed=1", "{\"smps\":8,\"curve\":[1],\"xs\":[5]}"},
		{"size=16 how=part seed=1", "{\"smps\":7}"},
	};

	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		fixture_result(r, rows[i][0], rows[i][1]);
	fixture_sort(r);
}

struct made {
	struct experiment *x;
	experiment_list list;
	struct results r;
	struct comparison c;
	struct report_page page;
};

static void made_make(struct made *m)
{
	struct err e;

	*m = (struct made){.x = fixture_experiment(text)};
	vec_push(&m->list, m->x);
	results_make(&m->r);
	assert_int_equal(compare_experiment(m->x, &m->r, &m->c, &e), 0);
	m->page = (struct report_page){.experiments = &m->list,
				       .results = &m->r,
				       .from = "here.db",
				       .command = "weft lab report",
				       .date = "2026-01-02"};
}

static void made_free(struct made *m)
{
	comparison_free(&m->c);
	results_free(&m->r);
	experiments_free(&m->list);
}

TEST(html_escapes_what_is_text)
{
	struct strbuf out = {0};
	struct made m;
	struct err e;

	made_make(&m);
	assert_int_equal(report_html(&m.page, &out, &e), 0);
	assert_null(strstr(out.s, "<script>"));
	assert_null(strstr(out.s, "<b>"));
	assert_null(strstr(out.s, "<i>"));
	assert_non_null(strstr(out.s, "&#60;004&#62; &#38; &#39;co&#39;"));
	assert_non_null(strstr(out.s, "&#60;script&#62;alert(1)"));
	assert_non_null(strstr(out.s, "on 2026-01-02, from here.db"));
	assert_null(strstr(out.s, "href=\"http")); /* it needs nothing else */
	assert_null(strstr(out.s, "src="));
	made_free(&m);
	strbuf_free(&out);
}

TEST(html_has_tables_plots_and_trends)
{
	struct strbuf out = {0};
	struct made m;
	struct err e;

	made_make(&m);
	assert_int_equal(report_html(&m.page, &out, &e), 0);
	assert_int_equal(count(out.s, "<table>"), count(out.s, "</table>"));
	assert_int_equal(count(out.s, "<tr>"), count(out.s, "</tr>"));
	assert_int_equal(count(out.s, "<svg "), count(out.s, "</svg>"));
	assert_int_equal(count(out.s, "<figure>"), 2);
	/* ours with its interval, the ratio; 8 instead of 5 is marked */
	assert_non_null(strstr(out.s, "<td>10</td><td>10 ± 13</td><td>1.000</td>"));
	assert_non_null(
		strstr(out.s, "<td>5</td><td class=\"bad\">8</td><td class=\"bad\">1.600</td>"));
	/* the empty cells of the row 16 are those of its first column */
	assert_non_null(strstr(
		out.s,
		"<tr><td>16</td><td></td><td></td><td></td><td>7</td><td>7</td><td>1.000</td></tr>"));
	assert_non_null(strstr(out.s, "Why: rounding | "));
	assert_non_null(strstr(out.s, "no (0 of 1)"));
	assert_non_null(strstr(out.s, "yes (3 of 3)"));
	made_free(&m);
	strbuf_free(&out);
}

static void drawing_is_there(const char *dir, const char *name)
{
	char path[100], *svg;
	size_t len;
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_read(path, &svg, &len, &e), 0);
	assert_non_null(strstr(svg, "<svg "));
	free(svg);
	unlink(path);
}

TEST(markdown_tables_keep_their_columns)
{
	char dir[] = "/tmp/test-report-XXXXXX";
	struct strbuf out = {0};
	struct made m;
	struct err e;

	made_make(&m);
	assert_int_equal(report_markdown(&m.page, fixture_dir(dir), &out, &e), 0);
	assert_non_null(strstr(out.s, "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"));
	assert_non_null(strstr(out.s, "| 8 | 10 | 10 ± 13 | 1.000 | 5 | **8** | **1.600** |\n"));
	assert_non_null(strstr(out.s, "| 16 |  |  |  | 7 | 7 | 1.000 |\n"));
	assert_non_null(strstr(out.s, "a \\| b \\< c"));
	assert_non_null(strstr(out.s, "\\`code\\`"));
	assert_non_null(strstr(out.s, "a\\_b"));
	assert_non_null(
		strstr(out.s, "\n````\nweft lab run small\n")); /* longer than the ``` inside */
	assert_non_null(strstr(out.s, "![A \\< B](small-1.svg)"));
	assert_null(strstr(out.s, "<script>"));
	drawing_is_there(dir, "small-1.svg");
	drawing_is_there(dir, "small-2.svg");
	rmdir(dir);
	out.len = 0; /* no such directory: the drawings cannot be written */
	assert_int_equal(report_markdown(&m.page, dir, &out, &e), -ENOENT);
	made_free(&m);
	strbuf_free(&out);
}

/* A \ before a | would undo the escape of the |. */
TEST(markdown_escapes_the_escape)
{
	struct strbuf out = {0};
	struct err e;
	struct page p = {.kind = PAGE_MARKDOWN, .out = &out, .e = &e};

	page_table(&p, 2);
	page_cell(&p, false, "a");
	page_cell(&p, false, "b");
	page_cell(&p, false, "%s", "c\\|d [x](y) \xff\x01");
	page_cell(&p, true, "two\nlines");
	page_table_end(&p);
	assert_string_equal(out.s, "| a | b |\n| --- | ---: |\n"
				   "| c\\\\\\|d \\[x\\](y) ?? | **two lines** |\n\n");
	strbuf_free(&out);
}

TEST(the_same_results_give_the_same_page)
{
	struct strbuf one = {0}, two = {0};
	struct made m;
	struct err e;

	made_make(&m);
	assert_int_equal(report_html(&m.page, &one, &e), 0);
	assert_int_equal(report_html(&m.page, &two, &e), 0);
	assert_string_equal(one.s, two.s);
	made_free(&m);
	strbuf_free(&one);
	strbuf_free(&two);
}

TEST(an_experiment_without_tables_shows_its_results)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD "parameters: {size: [8, 16]}\nseeds: 2\n" EXPERIMENT_TAIL);
	experiment_list l = {0};
	struct results r = {0};
	struct report_page page = {.experiments = &l, .results = &r, .from = "x", .command = "c"};
	struct strbuf out = {0};
	struct err e;

	vec_push(&l, x);
	fixture_result(&r, "size=8 seed=1", "{\"smps\":3}");
	fixture_result(&r, "size=8 seed=2", "{\"smps\":4}");
	fixture_sort(&r);
	assert_int_equal(report_html(&page, &out, &e), 0);
	assert_non_null(strstr(out.s, "<tr><td>size=8</td><td>3.5</td></tr>"));
	assert_non_null(strstr(out.s, "<tr><td>size=16</td><td>-</td></tr>"));
	results_free(&r);
	experiments_free(&l);
	strbuf_free(&out);
}

/* With several experiments a table of them comes first; Markdown has the rest on pages of their own. */
TEST(several_experiments_have_an_overview)
{
	struct costs costs = {0};
	struct strbuf out = {0};
	struct made m;
	struct err e;

	made_make(&m);
	vec_push(&m.list,
		 fixture_experiment("name: other\nsource: s\nitem: i\nclaim: c\n" EXPERIMENT_TAIL));
	assert_int_equal(report_markdown(&m.page, "/none/such", &out, &e), 0); /* no drawing */
	assert_non_null(strstr(out.s, "| [small](small.md) |"));
	assert_non_null(strstr(out.s, " | 3 of 3 | 2 | 2 | **1 of 2** |\n"));
	assert_non_null(strstr(out.s, "| [other](other.md) | s, i |  |  |  | 0 of 0 |\n"));
	assert_null(strstr(out.s, "## small"));
	costs_add(&costs, &(struct cost){.experiment = (char[]){"small"},
					 .key = (char[]){"k"},
					 .cpu_s = 2.5,
					 .events = 1000});
	m.page.costs = &costs;
	out.len = 0;
	assert_int_equal(report_html(&m.page, &out, &e), 0);
	assert_non_null(strstr(out.s, "<a href=\"#small\">small</a>"));
	assert_non_null(strstr(out.s, "<td>1</td><td>2.5</td><td>1000</td></tr>"));
	assert_non_null(strstr(out.s, "<h2 id=\"small\">"));
	costs_free(&costs);
	made_free(&m);
	strbuf_free(&out);
}

/* Lists of objects are ranked tables, at the points and with the columns that the experiment names. */
TEST(tables_of_results_are_ranked)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD "parameters: {how: [a, b], sample: {some: -s, full: -f}}\n"
				"sampled: {sample: some}\nrun: sim up {net}\n"
				"results:\n  smps: .smps\n"
				"  worst: {table: .worst, title: The worst, where: {how: b}, "
				"columns: {what: cable, cut: pairs cut}}\n"
				"  plain: {table: .plain, where: {how: a}}\n");
	experiment_list l = {0};
	struct results r = {0};
	struct report_page page = {.experiments = &l, .results = &r, .from = "x", .command = "c"};
	struct strbuf out = {0};
	struct err e;

	vec_push(&l, x);
	fixture_result(
		&r, "how=a sample=some",
		"{\"smps\":3,\"worst\":[{\"what\":\"no\"}],\"plain\":[{\"k\":true,\"v\":1.5}]}");
	fixture_result(
		&r, "how=b sample=some",
		"{\"smps\":4,\"worst\":[{\"cut\":9,\"x\":1,\"what\":\"s1\"},{\"what\":\"s2\",\"cut\":8}],\"plain\":[]}");
	fixture_sort(&r);
	assert_int_equal(report_html(&page, &out, &e), 0);
	assert_non_null(strstr(out.s, "The worst, how=b sample=some:"));
	assert_non_null(strstr(out.s, "<th></th><th>cable</th><th>pairs cut</th>"));
	assert_non_null(strstr(out.s, "<tr><td>1</td><td>s1</td><td>9</td></tr>"));
	assert_non_null(strstr(out.s, "<tr><td>2</td><td>s2</td><td>8</td></tr>"));
	assert_null(strstr(out.s, "<td>no</td><td></td>"));
	assert_non_null(strstr(out.s, "<tr><td>1</td><td>yes</td><td>1.5</td></tr>"));
	/* the full run was not made: no row of it */
	assert_non_null(strstr(out.s, "<tr><td>how=b sample=some</td><td>4</td></tr>"));
	assert_null(strstr(out.s, "sample=full"));
	results_free(&r);
	experiments_free(&l);
	strbuf_free(&out);
}

/* ---- plots ---- */

/* x and y are results: a point for each choice of a parameter. */
TEST(a_plot_along_a_parameter_has_a_point_for_each_choice)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD
		"parameters: {load: [low, high], how: [a, b]}\nrun: sim up {net}\n"
		"results: {rate: .rate, delay: .delay}\n"
		"plots:\n  - {item: Fig. 3, title: Delay, x: rate, y: delay, along: load, series: how}\n");
	struct comparison c = {0};
	struct results r = {0};
	struct strbuf out = {0};

	fixture_result(&r, "load=low how=a", "{\"rate\":10,\"delay\":1}");
	fixture_result(&r, "load=high how=a", "{\"rate\":20,\"delay\":4}");
	fixture_result(&r, "load=low how=b", "{\"rate\":11,\"delay\":2}");
	fixture_sort(&r);
	assert_true(report_gnuplot(x, 0, &r, &c, &out));
	assert_non_null(strstr(out.s, "$data_0_0 << END\n10 1 0\n20 4 0\nEND\n"));
	assert_non_null(strstr(out.s, "$data_0_1 << END\n11 2 0\nEND\n"));
	results_free(&r);
	experiment_free(x);
	strbuf_free(&out);
}

TEST(a_plot_has_the_sources_points_beside_ours)
{
	struct strbuf svg = {0};
	struct made m;

	made_make(&m);
	assert_true(report_plot(m.x, 0, &m.r, &m.c, &svg));
	assert_non_null(strstr(svg.s, "Fig. 1: A &"));
	assert_null(strstr(svg.s, "A < B"));
	assert_non_null(strstr(svg.s, ">full</text>"));
	assert_non_null(strstr(svg.s, ">full, source</text>"));
	assert_non_null(strstr(svg.s, ">part</text>"));
	assert_non_null(strstr(svg.s, ">part, source</text>"));
	assert_non_null(strstr(svg.s, "stroke-dasharray=\"2 3\"")); /* the source's lines */
	strbuf_free(&svg);
	assert_true(report_plot(m.x, 1, &m.r, &m.c, &svg)); /* a panel for 8; 16 has no curve */
	assert_non_null(strstr(svg.s, "Fig. 2: it"));
	assert_int_equal(count(svg.s, "Fig. 2"), 1);
	strbuf_free(&svg);
	results_free(&m.r);
	comparison_free(&m.c);
	assert_false(report_plot(m.x, 0, &m.r, &m.c, &svg));
	made_free(&m);
	strbuf_free(&svg);
}

TEST(gnuplot_gets_data_and_a_line_for_each_series)
{
	struct strbuf out = {0};
	struct made m;

	made_make(&m);
	assert_true(report_gnuplot(m.x, 0, &m.r, &m.c, &out));
	assert_non_null(strstr(
		out.s, "$data_0_0 << END\n8 10 12.706\nEND\n")); /* full: mean of two seeds */
	assert_non_null(strstr(out.s, "$data_0_1 << END\n8 8 0\n16 7 0\nEND\n"));
	assert_non_null(strstr(out.s, "$data_0_2 << END\n8 10 0\nEND\n")); /* the source's */
	assert_non_null(strstr(out.s, "$data_0_3 << END\n8 5 0\n16 7 0\nEND\n"));
	assert_non_null(strstr(out.s, "title 'part, source'"));
	out.len = 0;
	assert_true(report_gnuplot(m.x, 1, &m.r, &m.c, &out));
	assert_non_null(strstr(out.s, "set title 'Fig. 2: it''s, 8'"));
	assert_non_null(
		strstr(out.s, "$data_0_0 << END\n0 2 0\n10 3 0\nEND\n")); /* averaged curves */
	made_free(&m);
	strbuf_free(&out);
}

TEST(csv_has_a_row_for_each_job)
{
	struct strbuf out = {0};
	struct made m;

	made_make(&m);
	report_csv(m.x, &m.r, &out);
	assert_string_equal(out.s, "size,how,seed,smps,curve,xs\n"
				   "8,full,1,9,,\n8,full,2,11,,\n8,part,1,8,,\n16,part,1,7,,\n");
	made_free(&m);
	strbuf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(html_escapes_what_is_text),
		cmocka_unit_test(html_has_tables_plots_and_trends),
		cmocka_unit_test(markdown_tables_keep_their_columns),
		cmocka_unit_test(markdown_escapes_the_escape),
		cmocka_unit_test(the_same_results_give_the_same_page),
		cmocka_unit_test(an_experiment_without_tables_shows_its_results),
		cmocka_unit_test(several_experiments_have_an_overview),
		cmocka_unit_test(tables_of_results_are_ranked),
		cmocka_unit_test(a_plot_along_a_parameter_has_a_point_for_each_choice),
		cmocka_unit_test(a_plot_has_the_sources_points_beside_ours),
		cmocka_unit_test(gnuplot_gets_data_and_a_line_for_each_series),
		cmocka_unit_test(csv_has_a_row_for_each_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
