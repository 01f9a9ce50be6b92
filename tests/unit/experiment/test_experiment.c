/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments from their files: every key, and every fault with file, line and column.
 * Covers: experiment_read.c, experiment_params.c, experiment_values.c, experiment_sources.c, experiment_free.c
 */
#include "unit_test.h"

#include "experiment_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static const char whole[] =
	"name: whole-1\n"
	"source: \"004\"\n"
	"item: Table 9\n"
	"claim: More switches take more SMPs.\n"
	"notes: |\n  Two\n  lines.\n"
	"parameters:\n"
	"  switches: [8, 16]\n"
	"  technique: {none: --plan none, full: \"--plan full\"}\n"
	"  load: 10..30..10\n"
	"  fixed: one\n"
	"except:\n  - {switches: 16, technique: full}\n"
	"seeds: 3\n"
	"quick: {switches: 8, technique: [none, full], seeds: 2}\n"
	"fabrics: {\"8\": gen ring 8, \"16\": file net.txt}\n"
	"fabric: \"{switches}\"\n"
	"before: [topo check net, topo show net]\n"
	"run: sim change {net} {technique} --load {load} --seed {seed}\n"
	"accept: [0, 1]\n"
	"real_time: true\n"
	"results:\n"
	"  smps: {is: .mean.smps, unit: SMPs, title: all SMPs}\n"
	"  time: max(.runs[].time_s)\n"
	"  curve: .series[].t\n"
	"tables:\n"
	"  - item: Table 9\n"
	"    title: SMPs\n"
	"    theirs: |\n"
	"      n,how,a,b\n"
	"      8,none,1,2\n"
	"    rows: {n: switches, how: technique}\n"
	"    columns:\n"
	"      a: {where: {load: 10}, result: smps, title: first}\n"
	"      b: time\n"
	"    where: {load: 20}\n"
	"    scale: 1000\n"
	"    tolerance: 25%\n"
	"    counted: true\n"
	"    because:\n"
	"      - {where: {switches: 16}, why: too large}\n"
	"      - {why: unknown}\n"
	"plots:\n"
	"  - {item: Fig. 1, title: T, note: N, x: switches, x_title: X, y: smps, y_title: Y, series: technique, "
	"panels: load, where: {fixed: one}, log_x: true, log_y: true}\n"
	"  - {item: Fig. 2, title: T, x: curve, y: curve}\n"
	"trends:\n"
	"  - {section: \"1.2\", says: It grows., holds: \"grows(smps[technique=full], switches, 5%)\", "
	"where: {load: 30}, because: few runs}\n";

static void sources_are_read(const struct experiment *x)
{
	const struct experiment_table *t = &x->tables.at[0];
	const struct experiment_plot *p = &x->plots.at[0];

	assert_int_equal(x->tables.n, 1);
	assert_string_equal(t->item, "Table 9");
	assert_int_equal(t->key_columns.n, 2);
	assert_string_equal(t->key_columns.at[1], "how");
	assert_int_equal(t->key_params.at[1], 1);
	assert_int_equal(t->columns.n, 2);
	assert_string_equal(t->columns.at[0].title, "first");
	assert_int_equal(t->columns.at[0].where.choice[2], 0);
	assert_int_equal(t->columns.at[1].result, 1);
	assert_int_equal(t->where.choice[2], 1);
	assert_true(t->scale == 1000 && t->tolerance == 0.25 && t->counted);
	assert_int_equal(t->reasons.n, 2);
	assert_string_equal(t->reasons.at[0].why, "too large");
	assert_int_equal(t->reasons.at[1].where.choice[0], -1);

	assert_int_equal(x->plots.n, 2);
	assert_int_equal(p->x_param, 0);
	assert_int_equal(p->series, 1);
	assert_int_equal(p->panels, 2);
	assert_int_equal(p->where.choice[3], 0);
	assert_true(p->log_x && p->log_y);
	assert_int_equal(x->plots.at[1].x_param, -1);
	assert_int_equal(x->plots.at[1].x_result, 2);

	assert_int_equal(x->trends.n, 1);
	assert_string_equal(x->trends.at[0].section, "1.2");
	assert_string_equal(x->trends.at[0].why, "few runs");
	assert_int_equal(x->trends.at[0].where.choice[2], 2);
}

TEST(every_key_is_read)
{
	struct experiment *x = fixture_experiment(whole);

	assert_string_equal(x->name, "whole-1");
	assert_string_equal(x->notes, "Two\nlines.\n");
	assert_int_equal(x->params.n, 4);
	assert_string_equal(x->params.at[1].choices.at[0].label, "none");
	assert_string_equal(x->params.at[1].choices.at[0].text, "--plan none");
	assert_int_equal(x->params.at[2].choices.n, 3); /* 10, 20, 30 */
	assert_string_equal(x->params.at[2].choices.at[2].label, "30");
	assert_int_equal(x->params.at[3].choices.n, 1);
	assert_true(x->params.at[0].choices.at[0].quick && !x->params.at[0].choices.at[1].quick);
	assert_true(x->params.at[2].choices.at[1].quick); /* not mentioned: all */
	assert_int_equal(x->except.n, 1);
	assert_int_equal(x->except.at[0].choice[0], 1);
	assert_int_equal(x->seeds.n, 3);
	assert_int_equal(x->quick_seeds, 2);
	assert_int_equal(x->fabrics.n, 2);
	assert_string_equal(experiment_fabric_find(x, "16")->text, "file net.txt");
	assert_string_equal(x->fabrics.at[0].file, "x.yaml");
	assert_int_equal(x->before.n, 2);
	assert_int_equal(x->accept.n, 2);
	assert_true(x->real_time && x->quick);
	assert_int_equal(x->run_line, 20);
	assert_int_equal(x->run_column, 6);
	assert_int_equal(x->results.n, 3);
	assert_string_equal(x->results.at[0].unit, "SMPs");
	assert_string_equal(x->results.at[1].text, "max(.runs[].time_s)");
	assert_int_equal(experiment_result_find(x, "curve"), 2);
	assert_int_equal(experiment_result_find(x, "none"), -1);
	sources_are_read(x);
	experiment_free(x);
}

TEST(what_is_not_given_has_a_default)
{
	struct experiment *x = fixture_experiment(EXPERIMENT_HEAD EXPERIMENT_TAIL);

	assert_int_equal(x->seeds.n, 1);
	assert_int_equal(x->seeds.at[0], 1);
	assert_int_equal(x->quick_seeds, 1);
	assert_int_equal(x->accept.n, 1);
	assert_int_equal(x->accept.at[0], 0);
	assert_true(x->quick && !x->real_time && !x->fabric && !x->shell);
	experiment_free(x);
	x = fixture_experiment(EXPERIMENT_HEAD "seeds: [7, 9]\nquick: false\n" EXPERIMENT_TAIL);
	assert_int_equal(x->seeds.at[1], 9);
	assert_false(x->quick);
	experiment_free(x);
}

/* ---- faults ---- */

struct fault {
	const char *more;     /* after the head and the tail, which have six lines */
	const char *expected; /* behind "x.yaml:" */
};

static const struct fault faults[] = {
	{"sceds: 3\n", "7:1: unknown key 'sceds' in an experiment, did you mean 'seeds'?"},
	{"qqq:\n  a: 1\n", "7:1: unknown key 'qqq' in an experiment"},
	{"notes: [a]\n", "7:8: expected a text, found a list"},
	{"real_time: yes\n", "7:12: expected true or false, found yes"},
	{"real_time: []\n", "7:12: expected true or false, found a list"},
	{"accept: 1\n", "7:9: expected a list of exit statuses"},
	{"accept: [200]\n", "7:10: expected an exit status, 0 to 125"},
	{"before: x\n", "7:9: expected a list of commands"},
	{"before: [[x]]\n", "7:10: expected a text, found a list"},
	{"shell: 'true'\n", "1:1: expected either 'run' or 'shell'"},
	{"fabric: a\n", "7:9: expected 'fabrics' with this one in it"},

	{"seeds: 0\n", "7:8: expected a number of seeds from 1 to 10000, or a list"},
	{"seeds: 10001\n", "7:8: expected a number of seeds from 1 to 10000, or a list"},
	{"seeds: []\n", "7:8: expected a number of seeds from 1 to 10000, or a list"},
	{"seeds: [1, x]\n", "7:12: expected a seed, a whole number"},
	{"seeds: [1, 2, 1]\n", "7:15: the seed 1 is given twice"},

	{"parameters: x\n", "7:13: expected parameters and their choices, found a single value"},
	{"parameters: {a-b: [1]}\n",
	 "7:14: expected a parameter's name of letters, digits and _, but not seed, seeds, net or dir; found 'a-b'"},
	{"parameters: {seed: [1]}\n",
	 "7:14: expected a parameter's name of letters, digits and _, but not seed, seeds, net or dir; found 'seed'"},
	{"parameters: {a: []}\n", "7:17: the parameter a has no choice"},
	{"parameters: {a: [1, 1]}\n", "7:21: the parameter a has the choice '1' twice"},
	{"parameters: {a: [[1]]}\n", "7:18: expected a value of a, found a list"},
	{"parameters: {a: {b: [1]}}\n", "7:21: expected the text of b, found a list"},
	{"parameters: {a: ['1,2']}\n",
	 "7:18: expected a label of up to 60 characters without , = and \""},
	{"parameters: {a: 1..251}\n", "7:17: expected a range of 1 to 250 numbers, found '1..251'"},
	{"parameters: {a: 5..1}\n", "7:17: expected a range of 1 to 250 numbers, found '5..1'"},
	{"parameters: {a: 1..5..0}\n",
	 "7:17: expected a range of 1 to 250 numbers, found '1..5..0'"},

	{"parameters: {size: [8]}\nexcept: {}\n", "8:9: expected a list of points to leave out"},
	{"parameters: {size: [8]}\nexcept: [{siez: 8}]\n",
	 "8:11: 'siez' is not a parameter of this experiment, did you mean 'size'?"},
	{"parameters: {how: [full, none]}\nexcept: [{how: nome}]\n",
	 "8:16: 'nome' is not a choice of the parameter how, did you mean 'none'?"},
	{"parameters: {size: [8]}\nexcept: [{size: [8]}]\n",
	 "8:17: expected a choice of size, found a list"},
	{"parameters: {size: [8]}\nexcept: [8]\n",
	 "8:10: expected parameters and their choices, found a single value"},

	{"quick: []\n", "7:8: expected false, or parameters with fewer choices"},
	{"quick: maybe\n", "7:8: expected true or false, found maybe"},
	{"quick: {size: 8}\n", "7:9: 'size' is not a parameter of this experiment"},
	{"quick: {seeds: 0}\n", "7:16: expected a number of seeds"},
	{"parameters: {size: [8]}\nquick: {size: 9}\n",
	 "8:15: expected choices of size, as the parameter lists them"},
	{"parameters: {size: [8]}\nquick: {size: []}\n",
	 "8:15: expected choices of size, as the parameter lists them"},

	{"fabrics: [a]\n", "7:10: expected fabrics by name, or the file that has them"},
	{"fabrics: {a: ring 8}\n",
	 "7:14: expected 'gen KIND SIZE...' as in 'weft topo gen', or 'file NAME'"},

	{"parameters: {size: [8]}\nsampled: {sise: 8}\n",
	 "8:11: 'sise' is not a parameter of this experiment, did you mean 'size'?"},
	{"parameters: {size: [8]}\nsampled: 8\n",
	 "8:10: expected parameters and their choices, found a single value"},

	{"tables: {}\n", "7:9: expected a list of tables, found a mapping"},
	{"tables: [{item: a}]\n", "7:10: expected a key 'title' in a table"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {}}]\n",
	 "7:57: expected columns of the CSV and their results"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smp}}]\n",
	 "7:61: 'smp' is not a result of this experiment, did you mean 'smps'?"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {b: smps}}]\n",
	 "7:10: x.yaml has no column 'b'"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smps}, rows: {c: d}}]\n",
	 "7:78: 'd' is not a parameter of this experiment"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smps}, scale: x}]\n",
	 "7:75: expected a number such as 0.1 or 10%, found 'x'"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smps}, tolerance: nan}]\n",
	 "7:79: expected a number such as 0.1 or 10%, found 'nan'"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smps}, tolerance: -5%}]\n",
	 "7:79: expected a number such as 0.1 or 10%, found '-5%'"},
	{"tables: [{item: a, title: b, theirs: \"a\\n1\\n\", columns: {a: smps}, because: x}]\n",
	 "7:77: expected a list of reasons"},
	{"tables: [{item: a, title: b, theirs: [], columns: {a: smps}}]\n",
	 "7:38: expected CSV text or a file's name, found a list"},
	{"tables: [{item: a, title: b, theirs: \"a,b\\n1\\n\", columns: {a: smps}}]\n",
	 "2: expected 2 values, found 1"},

	{"plots: x\n", "7:8: expected a list of plots, found a single value"},
	{"plots: [{item: a, title: b, x: smsp, y: smps}]\n",
	 "7:32: 'smsp' is not a result of this experiment, did you mean 'smps'?"},
	{"plots: [{item: a, title: b, x: smps, y: smps, along: s}]\n",
	 "7:54: 's' is not a parameter of this experiment"},
	{"plots: [{item: a, title: b, x: smps, y: smps, series: s}]\n",
	 "7:55: 's' is not a parameter of this experiment"},

	{"trends: x\n", "7:9: expected a list of trends, found a single value"},
	{"trends: [{section: a, says: b, holds: smps <}]\n",
	 "7:39: in 'smps <': column 7: expected a number, a path such as .mean.smps or a name, found the end"},
	{"trends: [{section: a, says: b, holds: smpx < 1}]\n",
	 "7:39: 'smpx' is not a result of this experiment"},
	{"trends: [{section: a, says: b, holds: .smps < 1}]\n",
	 "7:39: a trend names results, not paths such as .smps"},
	{"trends: [{section: a, says: b, holds: rises(smps)}]\n",
	 "7:39: 'rises' is not a function"},
	{"trends: [{section: a, says: b, holds: 'grows(smps)'}]\n",
	 "7:39: expected grows(RESULT, PARAMETER)"},
	{"trends: [{section: a, says: b, holds: 'flat(smps, size)'}]\n",
	 "7:39: expected flat(RESULT, PARAMETER)"},
	{"trends: [{section: a, says: b, holds: 'smps[size=8] < 1'}]\n",
	 "7:39: this experiment has no 'size=8'"},
	{"parameters: {size: [8]}\ntrends: [{section: a, says: b, holds: 'smps[size=9] < 1'}]\n",
	 "8:39: this experiment has no 'size=9'"},
	{"trends: [{section: a, says: b, holds: [1]}]\n",
	 "7:39: expected an expression, found a list"},
};

static const char *fault_of(const char *text)
{
	static struct err e;
	struct experiment *x = experiment_parse("x.yaml", text, strlen(text), &e);

	if (x)
		print_error("no fault in:\n%s\n", text);
	assert_null(x);
	return e.text;
}

TEST(every_fault_has_file_line_and_column)
{
	char text[1000], expected[1000];

	for (unsigned i = 0; i < ARRAY_LEN(faults); i++) {
		snprintf(text, sizeof(text), "%s%s", EXPERIMENT_HEAD EXPERIMENT_TAIL,
			 faults[i].more);
		snprintf(expected, sizeof(expected), "x.yaml:%s", faults[i].expected);
		assert_string_equal(fault_of(text), expected);
	}
}

TEST(what_must_be_given_is_asked_for)
{
	assert_string_equal(fault_of("a\n"),
			    "x.yaml:1:1: expected the keys of an experiment, found a single value");
	assert_string_equal(fault_of("name: a\n"),
			    "x.yaml:1:1: expected a key 'source' in an experiment");
	assert_string_equal(fault_of(EXPERIMENT_HEAD "run: sim up\n"),
			    "x.yaml:1:1: expected a key 'results' in an experiment");
	assert_string_equal(fault_of(EXPERIMENT_HEAD "results: {a: .a}\n"),
			    "x.yaml:1:1: expected either 'run' or 'shell'");
	assert_string_equal(
		fault_of("name: Not Good\nsource: a\nitem: b\nclaim: c\n" EXPERIMENT_TAIL),
		"x.yaml:1:7: expected a name of up to 40 small letters, digits and -");
}

/* Results are written as keys of JSON and as names in expressions: a wrong one is found before anything runs. */
TEST(results_are_words_and_paths)
{
	assert_string_equal(fault_of(EXPERIMENT_HEAD "run: sim up\nresults: {}\n"),
			    "x.yaml:6:10: expected results and their expressions");
	assert_string_equal(
		fault_of(EXPERIMENT_HEAD "run: sim up\nresults: {'a\"b': .a}\n"),
		"x.yaml:6:11: expected a result's name of letters, digits and _, found 'a\"b'");
	assert_string_equal(
		fault_of(EXPERIMENT_HEAD "run: sim up\nresults:\n  a: .a + mean\n"),
		"x.yaml:7:6: in '.a + mean': column 6: expected a path such as .mean.mean");
	assert_string_equal(fault_of(EXPERIMENT_HEAD "run: sim up\nresults:\n  a: maximum(.a)\n"),
			    "x.yaml:7:6: in 'maximum(.a)': column 1: 'maximum' is not a function");
	assert_string_equal(
		fault_of(EXPERIMENT_HEAD "run: sim up\nresults:\n  a: {is: '.a[0]'}\n"),
		"x.yaml:7:11: in '.a[0]': column 4: expected ']': a path takes all elements of a list, found '0]'");
	assert_string_equal(fault_of(EXPERIMENT_HEAD "run: sim up\nresults:\n  a: {si: .a}\n"),
			    "x.yaml:7:7: unknown key 'si' in a result, did you mean 'is'?");
}

TEST(numbers_of_things_are_limited)
{
	struct strbuf b = {0};

	strbuf_add(&b, EXPERIMENT_HEAD EXPERIMENT_TAIL "parameters:\n");
	for (int i = 0; i < 17; i++)
		strbuf_addf(&b, "  p%d: [1]\n", i);
	assert_string_equal(fault_of(b.s), "x.yaml:24:3: more than 16 parameters");
	b.len = 0;
	strbuf_add(&b, EXPERIMENT_HEAD "run: sim up\nresults:\n");
	for (int i = 0; i < 65; i++)
		strbuf_addf(&b, "  r%d: .a\n", i);
	assert_string_equal(fault_of(b.s), "x.yaml:71:3: more than 64 results");
	b.len = 0;
	strbuf_add(&b, EXPERIMENT_HEAD EXPERIMENT_TAIL "parameters:\n  p: [");
	for (int i = 0; i < 251; i++)
		strbuf_addf(&b, "%d,", i);
	strbuf_add(&b, "]\n");
	assert_non_null(strstr(fault_of(b.s), "the parameter p has more than 250 choices"));
	strbuf_free(&b);
}

/* ---- files ---- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[200];
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(file_write(path, text, strlen(text), &e), 0);
}

static void take_away(const char *dir, const char *const *names)
{
	char path[200];

	for (; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *names);
		unlink(path);
	}
	rmdir(dir);
}

TEST(a_directory_is_read_in_the_order_of_names)
{
	char dir[] = "/tmp/test-experiment-XXXXXX", expected[200];
	experiment_list l = {0};
	struct err e;

	fixture_dir(dir);
	put(dir, "z.yaml", "name: a1\nsource: s\nitem: i\nclaim: c\n" EXPERIMENT_TAIL);
	put(dir, "a.yaml",
	    "name: z1\nsource: s\nitem: i\nclaim: c\nfabrics: _f.yaml\nfabric: r\n" EXPERIMENT_TAIL);
	put(dir, "_f.yaml", "r: gen ring 4\n");
	put(dir, "notes.txt", "no experiment");
	assert_int_equal(experiments_read(dir, &l, &e), 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(l.at[0]->name, "a1");
	assert_string_equal(l.at[1]->fabrics.at[0].text, "gen ring 4");
	assert_ptr_equal(experiment_named(&l, "z1"), l.at[1]);
	assert_null(experiment_named(&l, "b1"));
	snprintf(expected, sizeof(expected), "%s/_f.yaml", dir);
	assert_string_equal(l.at[1]->fabrics.at[0].file, expected);
	experiments_free(&l);

	put(dir, "_f.yaml", "r: ring 4\n"); /* a fault there names that file */
	assert_int_equal(experiments_read(dir, &l, &e), -EINVAL);
	snprintf(expected, sizeof(expected), "%s/_f.yaml:1:4: expected 'gen KIND", dir);
	assert_non_null(strstr(e.text, expected));
	experiments_free(&l);

	put(dir, "a.yaml", "name: a1\nsource: s\nitem: i\nclaim: c\n" EXPERIMENT_TAIL);
	assert_int_equal(experiments_read(dir, &l, &e), -EINVAL);
	assert_non_null(strstr(e.text, ":1:1: the experiment 'a1' is also in "));
	experiments_free(&l);
	take_away(dir, (const char *const[]){"z.yaml", "a.yaml", "_f.yaml", "notes.txt", NULL});
	assert_int_equal(experiments_read(dir, &l, &e), -ENOENT);
}

TEST(files_that_are_missing_are_named)
{
	struct err e;

	assert_null(experiment_read("/no/such.yaml", &e));
	assert_string_equal(e.text, "/no/such.yaml: No such file or directory");
	assert_non_null(strstr(fault_of(EXPERIMENT_HEAD EXPERIMENT_TAIL "fabrics: none.yaml\n"),
			       "none.yaml: No such file or directory"));
	assert_non_null(strstr(
		fault_of(EXPERIMENT_HEAD EXPERIMENT_TAIL
			 "tables: [{item: a, title: b, theirs: no.csv, columns: {a: smps}}]\n"),
		"x.yaml:7:38: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(what_is_not_given_has_a_default),
		cmocka_unit_test(every_fault_has_file_line_and_column),
		cmocka_unit_test(what_must_be_given_is_asked_for),
		cmocka_unit_test(results_are_words_and_paths),
		cmocka_unit_test(numbers_of_things_are_limited),
		cmocka_unit_test(a_directory_is_read_in_the_order_of_names),
		cmocka_unit_test(files_that_are_missing_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
