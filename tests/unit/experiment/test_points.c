/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters to points, points to jobs, templates to commands.
 */
#include "unit_test.h"

#include "experiment_fixture.h"

#define THREE "parameters: {size: [8, 16], how: {up: --on, down: --off}, k: 1..3}\n"

static void keys_are(const struct experiment *x, const struct experiment_scope *s,
		     const char *const *keys)
{
	experiment_jobs jobs = {0};
	struct err e;
	size_t n = 0;

	assert_int_equal(experiment_jobs_add(x, s, &jobs, &e), 0);
	for (; keys[n]; n++) {
		assert_true(n < jobs.n);
		assert_string_equal(jobs.at[n].key, keys[n]);
	}
	assert_int_equal(jobs.n, n);
	experiment_jobs_free(&jobs);
}

TEST(the_last_parameter_changes_fastest)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD "parameters: {a: [1, 2], b: [x, y]}\n" EXPERIMENT_TAIL);
	struct experiment_scope all = experiment_everything();

	keys_are(x, &all, (const char *const[]){"a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y", NULL});
	experiment_free(x);
}

TEST(seeds_are_part_of_the_key_if_there_are_several)
{
	struct experiment *x =
		fixture_experiment(EXPERIMENT_HEAD "parameters: {a: [1, 2]}\n"
						   "seeds: [5, 7]\n" EXPERIMENT_TAIL);
	struct experiment_scope all = experiment_everything();

	keys_are(x, &all,
		 (const char *const[]){"a=1 seed=5", "a=1 seed=7", "a=2 seed=5", "a=2 seed=7",
				       NULL});
	experiment_free(x);
	x = fixture_experiment(EXPERIMENT_HEAD EXPERIMENT_TAIL);
	keys_are(x, &all, (const char *const[]){"seed=1", NULL});
	experiment_free(x);
}

TEST(points_are_left_out)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD THREE "except: [{size: 16, how: up}, {k: 2}, {how: down, k: 3}]\n"
				      "quick: {size: 16}\n" EXPERIMENT_TAIL);
	struct experiment_scope s = experiment_everything();

	keys_are(x, &s,
		 (const char *const[]){"size=8 how=up k=1", "size=8 how=up k=3",
				       "size=8 how=down k=1", "size=16 how=down k=1", NULL});
	s.only.choice[1] = 0;
	keys_are(x, &s, (const char *const[]){"size=8 how=up k=1", "size=8 how=up k=3", NULL});
	s = experiment_everything();
	s.quick = true;
	keys_are(x, &s, (const char *const[]){"size=16 how=down k=1", NULL});
	experiment_free(x);
}

TEST(a_sample_and_everything_are_alternatives)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD "parameters: {a: [1, 2], sample: {some: -s, full: -f}}\n"
				"sampled: {sample: some}\n" EXPERIMENT_TAIL);
	struct experiment_scope s = experiment_everything();

	keys_are(x, &s, (const char *const[]){"a=1 sample=some", "a=2 sample=some", NULL});
	s.full = true;
	keys_are(x, &s, (const char *const[]){"a=1 sample=full", "a=2 sample=full", NULL});
	s.any = true; /* for reports */
	keys_are(x, &s,
		 (const char *const[]){"a=1 sample=some", "a=1 sample=full", "a=2 sample=some",
				       "a=2 sample=full", NULL});
	experiment_free(x);
}

/* Another network: every fabric is that file, and no result of the experiment's own fabrics is taken for its. */
TEST(a_netlist_takes_the_place_of_all_fabrics)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD
		"parameters: {f: [one, two]}\nfabrics: {one: gen ring 4, two: file x.net}\n"
		"fabric: \"{f}\"\n" EXPERIMENT_TAIL);
	struct experiment_scope all = experiment_everything();
	experiment_jobs before = {0}, after = {0};
	job_commands c = {0};
	struct err e;

	assert_int_equal(experiment_jobs_add(x, &all, &before, &e), 0);
	experiment_net(x, "/tmp");
	assert_int_equal(experiment_jobs_add(x, &all, &after, &e), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(before.at[i].key, after.at[i].key);
		assert_string_not_equal(before.at[i].hash, after.at[i].hash);
		assert_int_equal(job_commands_make(&after.at[i], &c, &e), 0);
		assert_string_equal(c.at[0][0], "ln");
		assert_string_equal(c.at[0][2], "/tmp");
		assert_string_equal(c.at[0][3], "net");
		job_commands_free(&c);
	}
	experiment_jobs_free(&before);
	experiment_jobs_free(&after);
	experiment_free(x);
}

TEST(quick_runs_take_fewer_seeds_or_nothing)
{
	struct experiment *x =
		fixture_experiment(EXPERIMENT_HEAD "seeds: 3\nquick: {seeds: 1}\n" EXPERIMENT_TAIL);
	struct experiment_scope s = experiment_everything();

	s.quick = true;
	keys_are(x, &s, (const char *const[]){"seed=1", NULL});
	experiment_free(x);
	x = fixture_experiment(EXPERIMENT_HEAD "quick: false\n" EXPERIMENT_TAIL);
	keys_are(x, &s, (const char *const[]){NULL});
	experiment_free(x);
}

/* ---- templates ---- */

static const char *expanded(const struct experiment *x, const char *template)
{
	static char text[600];
	struct experiment_job j = {.experiment = x, .seed = 77, .hash = (char *)"0"};
	struct err e = {""};
	char *s;

	j.point.choice[1] = 1;
	s = experiment_text(&j, template, &e);
	snprintf(text, sizeof(text), "%s", s ? s : e.text);
	free(s);
	return text;
}

TEST(templates_take_parameters_seed_net_and_dir)
{
	struct experiment *x =
		fixture_experiment(EXPERIMENT_HEAD THREE "seeds: 2\n" EXPERIMENT_TAIL);
	char expected[600];

	assert_string_equal(expanded(x, "sim {size} {how} {k}x{net} --seed {seed}"),
			    "sim 8 --off 1xnet --seed 77");
	assert_string_equal(expanded(x, ""), "");
	assert_string_equal(expanded(x, "{ {} {a b} }{"), "{ {} {a b} }{"); /* JSON and shell */
	snprintf(expected, sizeof(expected), "%s/f", x->dir);
	assert_string_equal(expanded(x, "{dir}/f"), expected);
	assert_string_equal(expanded(x, "{siez}"),
			    "{siez} is not a parameter of 'small', nor {seed}, {net} or {dir}");
	experiment_free(x);
}

TEST(templates_may_name_others_but_not_themselves)
{
	struct experiment *x = fixture_experiment(
		EXPERIMENT_HEAD "parameters: {a: {one: \"-a {b}\"}, b: [2, 3], c: {x: \"{d}\"}, "
				"d: {x: \"{c}\"}}\n" EXPERIMENT_TAIL);

	assert_string_equal(expanded(x, "{a}"), "-a 3");
	assert_string_equal(expanded(x, "{c}"),
			    "parameters of 'small' name each other without end");
	experiment_free(x);
}

/* ---- what defines a result ---- */

static void hash_of(const char *text, size_t job, char *out)
{
	struct experiment *x = fixture_experiment(text);
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct err e;

	assert_int_equal(experiment_jobs_add(x, &all, &jobs, &e), 0);
	assert_int_equal(strlen(jobs.at[job].hash), 16);
	strcpy(out, jobs.at[job].hash);
	experiment_jobs_free(&jobs);
	experiment_free(x);
}

TEST(the_hash_follows_commands_fabrics_and_expressions)
{
#define PARTS(fabric, run, is)                                                                     \
	EXPERIMENT_HEAD "fabrics: {f: " fabric "}\nfabric: f\nrun: " run "\nresults: {a: " is "}\n"
	static const char *const other[] = {
		PARTS("gen ring 5", "sim up {net}", ".a"),
		PARTS("gen ring 4", "sim up {net} --seed 2", ".a"),
		PARTS("gen ring 4", "sim up {net}", ".b"),
		"before: [topo check net]\n" PARTS("gen ring 4", "sim up {net}", ".a"),
	};
	char one[20], two[20];

	hash_of(PARTS("gen ring 4", "sim up {net}", ".a"), 0, one);
	hash_of("notes: x\nquick: false\n" PARTS("gen ring 4", "sim up {net}", ".a"), 0, two);
	assert_string_equal(one, two);
	for (unsigned i = 0; i < ARRAY_LEN(other); i++) {
		hash_of(other[i], 0, two);
		assert_string_not_equal(one, two);
	}
}

/* ---- faults ---- */

static const char *jobs_fault(const char *text)
{
	static struct err e;
	struct experiment *x = fixture_experiment(text);
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};

	assert_int_not_equal(experiment_jobs_add(x, &all, &jobs, &e), 0);
	experiment_jobs_free(&jobs);
	experiment_free(x);
	return e.text;
}

TEST(faults_have_the_place_of_what_is_wrong)
{
	assert_string_equal(
		jobs_fault(EXPERIMENT_HEAD "run: sim up {nett}\nresults: {a: .a}\n"),
		"x.yaml:5:6: {nett} is not a parameter of 'small', nor {seed}, {net} or {dir}");
	assert_string_equal(
		jobs_fault(
			EXPERIMENT_HEAD EXPERIMENT_TAIL
			"parameters: {s: [8, 16]}\nfabrics: {\"8\": gen ring 8}\nfabric: \"{s}\"\n"),
		"x.yaml:9:9: '16' is not one of the experiment's fabrics");
	assert_string_equal(
		jobs_fault(EXPERIMENT_HEAD EXPERIMENT_TAIL
			   "fabrics: {\"8\": gen ring 8}\nfabric: \"{s}\"\n"),
		"x.yaml:8:9: {s} is not a parameter of 'small', nor {seed}, {net} or {dir}");
}

TEST(a_million_points_are_refused)
{
	assert_string_equal(jobs_fault(EXPERIMENT_HEAD EXPERIMENT_TAIL
				       "parameters: {a: 1..100, b: 1..100, c: 1..100}\n"),
			    "x.yaml:5:6: the parameters of 'small' make more than 100000 jobs");
	assert_string_equal(jobs_fault(EXPERIMENT_HEAD EXPERIMENT_TAIL
				       "parameters: {a: 1..100}\nseeds: 10000\n"),
			    "x.yaml:5:6: the parameters of 'small' make more than 100000 jobs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_parameter_changes_fastest),
		cmocka_unit_test(seeds_are_part_of_the_key_if_there_are_several),
		cmocka_unit_test(points_are_left_out),
		cmocka_unit_test(a_sample_and_everything_are_alternatives),
		cmocka_unit_test(a_netlist_takes_the_place_of_all_fabrics),
		cmocka_unit_test(quick_runs_take_fewer_seeds_or_nothing),
		cmocka_unit_test(templates_take_parameters_seed_net_and_dir),
		cmocka_unit_test(templates_may_name_others_but_not_themselves),
		cmocka_unit_test(the_hash_follows_commands_fabrics_and_expressions),
		cmocka_unit_test(faults_have_the_place_of_what_is_wrong),
		cmocka_unit_test(a_million_points_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
