/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: a made-up command with options of every type. Text goes in; values or an error message
 * come out. State: the values of its options.
 * Covers: cli.c, option_parse.c, help.c, man.c, completion.c, text_table.c
 */
#include "unit_test.h"

#include "cli/cli_priv.h" /* the parser and the help, which commands do not call */

static struct {
	bool quick;
	const char *output, *kind;
	unsigned ports;
	uint64_t seed;
	double drop;
	cli_strings cut;
	time_ps wait;
} got;

static const char *const kinds[] = {"ring", "mtree", "irregular", NULL};

static const struct cli_opt opts[] = {
	{.name = "quick", .letter = 'q', .type = CLI_FLAG, .dst = &got.quick, .help = "hurry"},
	{.name = "output",
	 .letter = 'o',
	 .type = CLI_STR,
	 .dst = &got.output,
	 .arg = "FILE",
	 .help = "where to"},
	{.name = "kind",
	 .letter = 'k',
	 .type = CLI_CHOICE,
	 .dst = &got.kind,
	 .arg = "KIND",
	 .choices = kinds,
	 .help = "what sort"},
	{.name = "ports",
	 .letter = 'p',
	 .type = CLI_UINT,
	 .dst = &got.ports,
	 .arg = "N",
	 .min = 1,
	 .max = 254,
	 .help = "how many"},
	{.name = "seed", .type = CLI_U64, .dst = &got.seed, .arg = "SEED", .help = "chance"},
	{.name = "drop", .type = CLI_SHARE, .dst = &got.drop, .arg = "SHARE", .help = "lost"},
	{.name = "cut", .type = CLI_LIST, .dst = &got.cut, .arg = "LINK", .help = "cut it"},
	{.name = "wait", .type = CLI_TIME, .dst = &got.wait, .arg = "TIME", .help = "how long"},
	{.name = "secret", .type = CLI_FLAG, .dst = &got.quick},
	{0},
};

static int run(char **args UNUSED, unsigned n UNUSED)
{
	return CLI_OK;
}

static const struct cli_cmd weave = {
	.name = "loom weave",
	.args = "FILE [SECOND] [options]",
	.summary = "Weave a fabric",
	.about =
		"The first lines\nare filled.\n\n  these are\n  kept\n\n.Not a request: it's text.",
	.examples = "weft loom weave net.txt\nweft loom weave -k ring net.txt",
	.opts = opts,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};
static const struct cli_cmd bare = {.name = "rest", .summary = "Do nothing", .run = run};
static const struct cli_cmd *const cmds[] = {&weave, &bare, NULL};
static const struct cli_cmd *const first[] = {&weave, NULL};
static const struct cli_group groups[] = {{"loom", "making"}, {0}};
static const struct cli_app app = {"7.8.9", "a loom", groups, cmds, first};

/* ---- parsing ---- */

static char *words[32];
static unsigned nwords;
static struct err fault;

/* Parse a line, split at blanks; the plain arguments stay in words. */
static int parse(const char *line)
{
	static char copy[256];

	vec_free(&got.cut);
	memset(&got, 0, sizeof(got));
	cli_json = false;
	fault.text[0] = 0;
	nwords = 0;
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok(copy, " "); w && nwords < ARRAY_LEN(words); w = strtok(NULL, " "))
		words[nwords++] = w;
	return cli_parse(&weave, words, &nwords, &fault);
}

static void refuse(const char *line, const char *why)
{
	int rc = parse(line);

	if (rc != -EINVAL || strcmp(fault.text, why))
		fail_msg("'%s' gave %d, '%s'; expected '%s'", line, rc, fault.text, why);
}

TEST(values_of_every_type)
{
	assert_int_equal(
		parse("net --quick --output out --kind mtree --ports 36 --seed 0xffffffffffffffff "
		      "--drop 5% --cut a --wait 1.5ms --cut=b --json"),
		0);
	assert_true(got.quick);
	assert_string_equal(got.output, "out");
	assert_string_equal(got.kind, "mtree");
	assert_int_equal(got.ports, 36);
	assert_true(got.seed == UINT64_MAX);
	assert_true(got.drop == 0.05);
	assert_int_equal(got.cut.n, 2);
	assert_string_equal(got.cut.at[0], "a");
	assert_string_equal(got.cut.at[1], "b");
	assert_true(got.wait == 1500 * PS_PER_US);
	assert_true(cli_json);
	assert_int_equal(nwords, 1);
	assert_string_equal(words[0], "net");
}

TEST(options_may_follow_arguments)
{
	assert_int_equal(parse("-q net -o- --ports=7 - -k ring"), 0);
	assert_true(got.quick);
	assert_string_equal(got.output, "-");
	assert_string_equal(got.kind, "ring");
	assert_int_equal(got.ports, 7);
	assert_int_equal(nwords, 2);
	assert_string_equal(words[1], "-"); /* standard input is a plain argument */

	assert_int_equal(parse("-qp9 net"), 0);
	assert_true(got.quick);
	assert_int_equal(got.ports, 9);

	assert_int_equal(parse("-q -- -o --ports"), 0);
	assert_null(got.output);
	assert_int_equal(nwords, 2);
	assert_string_equal(words[0], "-o");
	assert_string_equal(words[1], "--ports");

	assert_int_equal(parse("net --ports 3 --ports 4"), 0);
	assert_int_equal(got.ports, 4); /* the last one counts */
	assert_int_equal(parse("net --output=--x"), 0);
	assert_string_equal(got.output, "--x");
}

TEST(help_works_without_required_arguments)
{
	assert_int_equal(parse("--help"), 1);
	assert_int_equal(parse("-h"), 1);
	assert_int_equal(parse("-qh --nonsense"), 1);
	assert_int_equal(parse("net -- -h"), 0);
}

TEST(unknown_options_are_reported_by_name)
{
	refuse("net --foo", "unknown option '--foo'");
	refuse("net --prots 3", "unknown option '--prots', did you mean '--ports'?");
	refuse("net --out=x", "unknown option '--out', did you mean '--output'?");
	refuse("net --secrte", "unknown option '--secrte'"); /* hidden options are not suggested */
	refuse("net -z", "unknown option '-z'");
	refuse("net -5", "unknown option '-5'");
	refuse("net --quick=yes", "--quick takes no value, found 'yes'");
	refuse("net --ports", "--ports needs a value: N");
	refuse("net -o", "--output needs a value: FILE");
	refuse("net --output --quick", "--output needs a value: FILE, found '--quick' (write "
				       "--output=--quick if you mean it)");
	refuse("",
	       "needs at least 1 argument, found 0; usage: weft loom weave FILE [SECOND] [options]");
	refuse("a b c", "unexpected argument 'c'; usage: weft loom weave FILE [SECOND] [options]");
}

TEST(shares_and_times_that_do_not_parse)
{
	refuse("net --drop 200%",
	       "--drop: expected a share such as 5% or 0.05, at most 1; found '200%'");
	refuse("net --wait 10",
	       "--wait: expected a time with its unit (ps, ns, us, ms, s) such as 1.5ms; "
	       "found '10'");
}

TEST(numbers_out_of_range_are_refused)
{
	assert_int_equal(parse("net -p 1"), 0);
	assert_int_equal(parse("net -p 254"), 0);
	refuse("net -p 0", "--ports: expected a number from 1 to 254; found '0'");
	refuse("net -p 255", "--ports: expected a number from 1 to 254; found '255'");
	refuse("net -p 4294967297", "--ports: expected a number from 1 to 254; found '4294967297'");
	refuse("net -p 3x", "--ports: expected a number from 1 to 254; found '3x'");
	refuse("net --ports=", "--ports: expected a number from 1 to 254; found ''");
	refuse("net --seed 18446744073709551616",
	       "--seed: expected a number; found '18446744073709551616'");
	refuse("net --seed=-1", "--seed: expected a number; found '-1'");
}

TEST(choices_are_listed)
{
	refuse("net -k star", "--kind: expected one of ring, mtree, irregular; found 'star'");
	refuse("net -k mtere",
	       "--kind: expected one of ring, mtree, irregular; found 'mtere', did you mean 'mtree'?");
	refuse("net -k irr", "--kind: expected one of ring, mtree, irregular; found 'irr', did you "
			     "mean 'irregular'?");
}

/* A setting is given as text, with its section's key, and takes effect where it is applied. */
TEST(settings_are_options)
{
	static const struct cli_cmd c = {.name = "rule", .settings = SETTING_FOR_SM, .run = run};
	char *typed[] = {"--qos", "--names=false", "-w", "64", "--roots", "0x1,0x2", "--state", ""};
	char *wrong[] = {"--window", "0"}, *bare_value[] = {"--qos", "false"};
	unsigned n = ARRAY_LEN(typed);
	struct settings s;
	struct err e;

	assert_false(cli_setting_given("qos"));
	assert_int_equal(cli_parse(&c, typed, &n, &e), 0);
	assert_true(cli_setting_given("qos") && !cli_setting_given("retries"));
	settings_default(&s);
	assert_int_equal(cli_settings_apply(&s, &e), 0);
	assert_true(s.sm.qos && !s.sm.names);
	assert_int_equal(s.sm.window, 64);
	assert_string_equal(s.roots, "0x0000000000000001\n0x0000000000000002\n");
	assert_string_equal(s.state, "");
	n = 2;
	assert_int_equal(cli_parse(&c, wrong, &n, &e), -EINVAL);
	assert_string_equal(e.text, "--window: expected a number from 1 to 4096; found '0'");
	n = 2;
	assert_int_equal(cli_parse(&c, bare_value, &n, &e), -EINVAL); /* an argument too many */
}

TEST(commands_are_found)
{
	unsigned used;

	assert_ptr_equal(cli_cmd_find(&app, (char *[]){"loom", "weave", "x"}, 3, &used), &weave);
	assert_int_equal(used, 2);
	assert_ptr_equal(cli_cmd_find(&app, (char *[]){"loom-weave"}, 1, &used), &weave);
	assert_int_equal(used, 1);
	assert_ptr_equal(cli_cmd_find(&app, (char *[]){"loom weave"}, 1, &used), &weave);
	assert_ptr_equal(cli_cmd_find(&app, (char *[]){"rest", "x"}, 2, &used), &bare);
	assert_int_equal(used, 1);
	assert_null(cli_cmd_find(&app, (char *[]){"loom"}, 1, &used));
	assert_null(cli_cmd_find(&app, (char *[]){"weave"}, 1, &used));
	assert_null(cli_cmd_find(&app, NULL, 0, &used));
}

/* ---- renderings ---- */

TEST(help_shows_every_option)
{
	struct strbuf b = {0};

	cli_help_cmd(&b, &weave);
	assert_string_equal(b.s, "usage: weft loom weave FILE [SECOND] [options]\n"
				 "\nWeave a fabric.\n"
				 "\nThe first lines are filled.\n"
				 "\n  these are\n  kept\n"
				 "\n.Not a request: it's text.\n"
				 "\noptions:\n"
				 "  -q, --quick        hurry\n"
				 "  -o, --output FILE  where to\n"
				 "  -k, --kind KIND    what sort [ring, mtree, irregular]\n"
				 "  -p, --ports N      how many [1 to 254]\n"
				 "      --seed SEED    chance\n"
				 "      --drop SHARE   lost\n"
				 "      --cut LINK     cut it [may be given again]\n"
				 "      --wait TIME    how long\n"
				 "      --json         print the result as JSON\n"
				 "  -h, --help         print this help\n"
				 "\nexamples:\n"
				 "  weft loom weave net.txt\n"
				 "  weft loom weave -k ring net.txt\n");
	strbuf_free(&b);
}

TEST(overview_groups_by_first_word)
{
	struct strbuf b = {0};

	cli_help_overview(&b, &app);
	assert_non_null(strstr(b.s, "weft 7.8.9 - a loom\n"));
	assert_non_null(strstr(b.s, "\nloom: making\n  loom weave  Weave a fabric\n"));
	assert_non_null(strstr(b.s, "\nother commands:\n  rest        Do nothing\n"));
	assert_non_null(strstr(b.s, "\nexamples:\n  weft loom weave net.txt\n\n"));
	strbuf_free(&b);
}

TEST(man_page_escapes_text)
{
	struct strbuf b = {0};

	cli_man_cmd(&b, &app, &weave);
	assert_non_null(strstr(b.s, ".TH WEFT\\-LOOM\\-WEAVE 1 \"\" \"weft 7.8.9\""));
	assert_non_null(strstr(b.s, "\n\\&.Not a request: it\\(aqs text.\n"));
	assert_non_null(strstr(b.s, "\n.nf\n  these are\n  kept\n.fi\n"));
	assert_non_null(strstr(b.s, "\\fB\\-k\\fR, \\fB\\-\\-kind\\fR \\fIKIND\\fR\n"));
	assert_null(strstr(b.s, "secret"));
	strbuf_free(&b);
}

/* ---- tables and numbers ---- */

TEST(table_columns_are_aligned)
{
	struct cli_table t;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	cli_table_init(&t, "lrl", "switch", "ports", "note");
	cli_table_add(&t, "a");
	cli_table_add(&t, "%d", 7);
	cli_table_add(&t, "%s", "");
	cli_table_add(&t, "J\303\274rgen"); /* six columns, seven bytes */
	cli_table_add(&t, "123456");
	cli_table_add(&t, "evil\033[2J");
	cli_table_add(&t, "short row");
	cli_table_print(&t, f);
	fclose(f);
	assert_string_equal(text, "switch      ports  note\n"
				  "a               7\n"
				  "J\303\274rgen     123456  evil?[2J\n"
				  "short row\n");
	free(text);
}

TEST(counts)
{
	assert_string_equal(cli_count(0), "0");
	assert_string_equal(cli_count(999), "999");
	assert_string_equal(cli_count(1000), "1,000");
	assert_string_equal(cli_count(861518), "861,518");
	assert_string_equal(cli_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(durations)
{
	assert_string_equal(cli_duration(0), "0 ps");
	assert_string_equal(cli_duration(999), "999 ps");
	assert_string_equal(cli_duration(1000), "1.0 ns");
	assert_string_equal(cli_duration(12500 * PS_PER_NS), "12.5 us");
	assert_string_equal(cli_duration(3210 * PS_PER_US), "3.210 ms");
	assert_string_equal(cli_duration(1204 * PS_PER_MS), "1.204 s");
	assert_string_equal(cli_duration(999949 * PS_PER_NS), "999.9 us");
	assert_string_equal(cli_duration(999950 * PS_PER_NS), "1.000 ms"); /* never 1000.0 us */
	assert_string_equal(cli_duration(1234500000), "1.235 ms");	   /* halves go up */
	assert_string_equal(cli_duration(1234499999), "1.234 ms");
	assert_string_equal(cli_duration(UINT64_MAX - 1), "18446744.074 s");
	assert_string_equal(cli_duration(TIME_NEVER), "never");
}

TEST(number_texts_do_not_share_a_buffer)
{
	const char *a = cli_count(1), *b = cli_count(2), *c = cli_duration(3), *d = cli_duration(4);

	assert_string_equal(a, "1");
	assert_string_equal(b, "2");
	assert_string_equal(c, "3 ps");
	assert_string_equal(d, "4 ps");
}

TEST(clock_and_memory)
{
	double before = cli_wall_s();

	assert_true(cli_wall_s() >= before);
	assert_true(cli_rss_mib() > 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_type),
		cmocka_unit_test(options_may_follow_arguments),
		cmocka_unit_test(help_works_without_required_arguments),
		cmocka_unit_test(unknown_options_are_reported_by_name),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(choices_are_listed),
		cmocka_unit_test(shares_and_times_that_do_not_parse),
		cmocka_unit_test(settings_are_options),
		cmocka_unit_test(commands_are_found),
		cmocka_unit_test(help_shows_every_option),
		cmocka_unit_test(overview_groups_by_first_word),
		cmocka_unit_test(man_page_escapes_text),
		cmocka_unit_test(table_columns_are_aligned),
		cmocka_unit_test(counts),
		cmocka_unit_test(durations),
		cmocka_unit_test(number_texts_do_not_share_a_buffer),
		cmocka_unit_test(clock_and_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
