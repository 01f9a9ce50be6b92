/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Costs of jobs: the last run of each counts, sums by experiment, and what a killed run leaves in its file.
 */
#include "unit_test.h"

#include "experiment/costs.h"

#include <sys/stat.h>
#include <unistd.h>

static void add(struct costs *c, const char *experiment, const char *key, double cpu_s,
		uint64_t events)
{
	costs_add(c, &(struct cost){.experiment = (char *)experiment,
				    .key = (char *)key,
				    .wall_s = 2 * cpu_s,
				    .cpu_s = cpu_s,
				    .events = events,
				    .time = 1700000000});
}

TEST(the_last_run_of_a_job_counts)
{
	struct costs c = {0};
	struct cost_sum s;

	add(&c, "b", "k=1", 1, 100);
	add(&c, "a", "k=1", 9, 900);
	add(&c, "b", "k=2", 3, 0); /* states no events */
	add(&c, "b", "k=1", 2, 200);
	costs_sort(&c);
	assert_int_equal(c.jobs.n, 3);
	assert_true(costs_find(&c, "b", "k=1")->cpu_s == 2);
	assert_null(costs_find(&c, "b", "k=3"));
	s = costs_sum(&c, "b");
	assert_true(s.jobs == 2 && s.cpu_s == 5 && s.wall_s == 10 && s.events == 200);
	assert_true(cost_events_per_s(&s) == 100); /* of the jobs that state them */
	s = costs_sum(&c, NULL);
	assert_true(s.jobs == 3 && s.cpu_s == 14);
	s = costs_sum(&c, "c");
	assert_true(!s.jobs && cost_events_per_s(&s) == 0);
	costs_free(&c);
}

TEST(lines_survive_a_file_and_a_kill)
{
	char dir[] = "/tmp/test-costs-XXXXXX", path[100];
	struct costs c = {0}, again = {0};
	struct strbuf text = {0};
	struct err e;

	add(&c, "a", "how=\"two\", k=1", 0.125, 77);
	add(&c, "a", "k=2", 1.5, 0);
	cost_print(&c.jobs.at[0], &text);
	cost_print(&c.jobs.at[1], &text);
	strbuf_add(&text, "{\"experiment\":\"a\",\"ke"); /* killed while it wrote */
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.costs", dir);
	assert_int_equal(file_write(path, text.s, text.len, &e), 0);
	assert_int_equal(costs_load(path, &again, &e), 0);
	assert_int_equal(again.jobs.n, 2);
	assert_string_equal(again.jobs.at[0].key, c.jobs.at[0].key);
	assert_true(again.jobs.at[0].cpu_s == 0.125 && again.jobs.at[0].wall_s == 0.25 &&
		    again.jobs.at[0].events == 77 && again.jobs.at[0].time == 1700000000);
	unlink(path);
	assert_int_equal(costs_load(path, &again, &e), 0); /* no file: nothing */
	rmdir(dir);
	costs_free(&c);
	costs_free(&again);
	strbuf_free(&text);
}

TEST(faults_have_a_line)
{
	char path[] = "/tmp/test-costs-XXXXXX";
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"\nexperiment,key\n", ":2: not JSON: "},
		{"{\"experiment\":\"a\"}\n", ":1: expected \"experiment\" and \"key\""},
	};
	struct costs c = {0};
	struct err e;

	close(mkstemp(path));
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(file_write(path, cases[i].text, strlen(cases[i].text), &e), 0);
		assert_int_equal(costs_load(path, &c, &e), -EINVAL);
		assert_non_null(strstr(e.text, cases[i].expected));
	}
	assert_int_equal(c.jobs.n, 0);
	unlink(path);
	costs_free(&c);
}

TEST(costs_are_beside_their_results)
{
	char *file = costs_file("/none/such.db"), *dir = costs_file("/tmp");

	assert_string_equal(file, "/none/such.db.costs");
	assert_string_equal(dir, "/tmp/_costs.jsonl");
	free(file);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_run_of_a_job_counts),
		cmocka_unit_test(lines_survive_a_file_and_a_kill),
		cmocka_unit_test(faults_have_a_line),
		cmocka_unit_test(costs_are_beside_their_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
