/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results: in an SQLite file that survives kill -9 and has the same bytes in any order, as text, and as means.
 * Covers: results.c, results_db.c, results_text.c
 */
#include "unit_test.h"

#include "experiment_fixture.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/test-results-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[4][100];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static struct result_row row_of(unsigned i)
{
	static char keys[100][24], values[100][40];
	char experiment[] = "small", hash[] = "0123456789abcdef", command[] = "weft x",
	     version[] = "0";
	static char *texts[4];

	if (!texts[0]) {
		texts[0] = mem_strdup(experiment);
		texts[1] = mem_strdup(hash);
		texts[2] = mem_strdup(command);
		texts[3] = mem_strdup(version);
	}
	snprintf(keys[i], sizeof(keys[i]), "k=%u", i);
	snprintf(values[i], sizeof(values[i]), "{\"a\":%u}", i);
	return (struct result_row){.experiment = texts[0],
				   .key = keys[i],
				   .hash = texts[1],
				   .command = texts[2],
				   .version = texts[3],
				   .values = i % 7 ? values[i] : NULL,
				   .message = i % 7 ? NULL : values[i]};
}

static void put_rows(struct results_db *db, unsigned from, unsigned to, int step)
{
	struct err e;

	for (unsigned i = from; i != to; i = (unsigned)((int)i + step)) {
		struct result_row row = row_of(i);

		assert_int_equal(results_db_put_row(db, &row, &e), 0);
	}
}

static struct results_db *open_db(const char *path)
{
	struct err e = {""};
	struct results_db *db = results_db_open(path, &e);

	if (!db)
		print_error("%s\n", e.text);
	assert_non_null(db);
	return db;
}

static void same_bytes(const char *a, const char *b)
{
	char *x, *y;
	size_t n, m;
	struct err e;

	assert_int_equal(file_read(a, &x, &n, &e), 0);
	assert_int_equal(file_read(b, &y, &m, &e), 0);
	assert_int_equal(n, m);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}

TEST(the_order_of_jobs_does_not_change_the_bytes)
{
	struct results_db *db = open_db(in_dir("up.db"));
	struct err e;

	put_rows(db, 0, 60, 1);
	assert_int_equal(results_db_finish(db, &e), 0);
	db = open_db(in_dir("down.db"));
	put_rows(db, 59, (unsigned)-1, -1);
	assert_int_equal(results_db_finish(db, &e), 0);
	same_bytes(in_dir("up.db"), in_dir("down.db"));
	/* In two runs, with rows written twice, and finished in between. */
	db = open_db(in_dir("two.db"));
	put_rows(db, 40, 20, -1);
	assert_int_equal(results_db_finish(db, &e), 0);
	db = open_db(in_dir("two.db"));
	put_rows(db, 0, 60, 1);
	assert_int_equal(results_db_finish(db, &e), 0);
	same_bytes(in_dir("up.db"), in_dir("two.db"));
	assert_int_equal(access(in_dir("two.db.lock"), F_OK), -1);
	assert_int_equal(access(in_dir("two.db-wal"), F_OK), -1);
	assert_int_equal(access(in_dir("two.db.new"), F_OK), -1);
}

TEST(kill_9_keeps_the_rows_that_were_put)
{
	struct results r = {0};
	struct results_db *db;
	int ends[2], status;
	char byte;
	pid_t pid;
	struct err e;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		db = open_db(in_dir("killed.db"));
		put_rows(db, 0, 30, 1);
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(results_db_load(in_dir("killed.db"), &r, &e), 0);
	assert_int_equal(r.rows.n, 30);
	results_free(&r);
	db = open_db(in_dir("killed.db")); /* the lock went with the process */
	put_rows(db, 30, 60, 1);
	assert_int_equal(results_db_finish(db, &e), 0);
	same_bytes(in_dir("up.db"), in_dir("killed.db"));
}

/* The refused writer must not take away the first one's lock. */
TEST(a_second_writer_is_refused_as_long_as_the_first_writes)
{
	struct results_db *db = open_db(in_dir("busy.db"));
	struct results r = {0};
	struct err e;

	for (int i = 0; i < 3; i++) {
		assert_null(results_db_open(in_dir("busy.db"), &e));
		assert_non_null(strstr(e.text, "busy.db: another run writes its results there"));
	}
	put_rows(db, 1, 3, 1);
	assert_int_equal(results_db_load(in_dir("busy.db"), &r, &e), 0); /* reading is free */
	assert_int_equal(r.rows.n, 2);
	results_free(&r);
	results_db_close(db);
	db = open_db(in_dir("busy.db"));
	results_db_close(db);
	results_db_close(NULL);
}

TEST(rows_are_read_as_they_were_put)
{
	struct results r = {0};
	const struct result_row *row;
	struct err e;

	assert_int_equal(results_db_load(in_dir("up.db"), &r, &e), 0);
	assert_int_equal(results_sort(&r, &e), 0);
	assert_int_equal(r.rows.n, 60);
	row = results_find(&r, "small", "k=8");
	assert_non_null(row);
	assert_string_equal(row->values, "{\"a\":8}");
	assert_string_equal(row->hash, "0123456789abcdef");
	assert_non_null(row->parsed);
	assert_null(row->message);
	row = results_find(&r, "small", "k=7"); /* failed */
	assert_null(row->values);
	assert_non_null(row->message);
	assert_null(results_find(&r, "small", "k=99"));
	assert_null(results_find(&r, "other", "k=8"));
	results_free(&r);
}

TEST(files_that_are_no_database_are_refused)
{
	struct results r = {0};
	struct err e;

	assert_int_equal(file_write(in_dir("odd.db"),
				    "not a database at all, but long enough to be one", 48, &e),
			 0);
	assert_int_equal(results_db_load(in_dir("odd.db"), &r, &e), -EIO);
	assert_non_null(strstr(e.text, "odd.db: cannot read it: file is not a database"));
	assert_null(results_db_open(in_dir("odd.db"), &e));
	assert_non_null(strstr(e.text, "odd.db: cannot write it: file is not a database"));
	assert_int_equal(results_db_load(in_dir("none.db"), &r, &e), -ENOENT);
	assert_null(results_db_open(in_dir("none/none.db"), &e));
	results_free(&r);
}

TEST(a_job_twice_is_a_fault)
{
	struct results r = {0};
	struct err e;

	fixture_result(&r, "k=1", "{\"a\":1}");
	fixture_result(&r, "k=1", "{\"a\":2}");
	assert_int_equal(results_sort(&r, &e), -EEXIST);
	assert_string_equal(e.text, "the results of small, k=1 are given twice");
	results_free(&r);
}

TEST(parts_may_repeat_equal_results)
{
	struct results r = {0};
	struct err e;

	fixture_result(&r, "k=2", "{\"a\":1}");
	fixture_result(&r, "k=1", "{\"a\":1}");
	fixture_result(&r, "k=2", "{\"a\":1}");
	assert_int_equal(results_unite(&r, false, &e), 0);
	assert_int_equal(r.rows.n, 2);
	fixture_result(&r, "k=1", "{\"a\":2}");
	assert_int_equal(results_unite(&r, false, &e), -EEXIST);
	assert_string_equal(e.text, "the results of small, k=1 are given twice and differ");
	results_free(&r);
}

TEST(the_last_part_counts_if_asked_for)
{
	struct results r = {0};
	struct err e;

	fixture_result(&r, "k=1", "{\"a\":1}");
	fixture_result(&r, "k=1", "{\"a\":3}");
	fixture_result(&r, "k=1", "{\"a\":2}");
	assert_int_equal(results_unite(&r, true, &e), 0);
	assert_int_equal(r.rows.n, 1);
	assert_string_equal(r.rows.at[0].values, "{\"a\":2}");
	results_free(&r);
}

/* ---- text ---- */

static char *text_of(const struct results *r)
{
	struct strbuf b = {0};

	assert_true(results_text_print(r, "small", &b));
	return b.s;
}

TEST(text_is_the_same_after_a_round_trip)
{
	struct results r = {0}, again = {0};
	char text_dir[] = "/tmp/test-results-XXXXXX", path[100];
	char *one, *two;
	struct err e;

	fixture_result(&r, "k=1 how=two words",
		       "{\"a\":107.4285714,\"b\":[1,2.5,1e-7,2e20],\"c\":0}");
	fixture_result(&r, "k=2", "{\"z\":0.1,\"a\":3}"); /* the order of keys is kept */
	results_add(&r, (struct result_row){
				.experiment = mem_strdup("small"),
				.key = mem_strdup("k=3"),
				.hash = mem_strdup("0123456789abcdef"),
				.command = mem_strdup("weft x"),
				.version = mem_strdup("0"),
				.message = mem_strdup("weft x: exit status 2: \"odd\"\n\x01")});
	fixture_sort(&r);
	one = text_of(&r);
	snprintf(path, sizeof(path), "%s/small.jsonl", fixture_dir(text_dir));
	assert_int_equal(file_write(path, one, strlen(one), &e), 0);
	assert_int_equal(results_text_load(text_dir, &again, &e), 0);
	assert_int_equal(again.rows.n, 3);
	two = text_of(&again);
	assert_string_equal(one, two);
	assert_string_equal(results_find(&again, "small", "k=1 how=two words")->values,
			    r.rows.at[0].values);
	unlink(path);
	rmdir(text_dir);
	free(one);
	free(two);
	results_free(&r);
	results_free(&again);
}

TEST(faults_in_text_have_a_line)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
#define REST   "\"hash\":\"1\",\"command\":\"weft x\",\"version\":\"0\"}\n"
#define WANTED "expected \"key\", \"hash\", \"command\", \"version\", and \"values\" or \"message\""
		{"{\"key\":\"a\",\"values\":{}," REST "\nodd\n", "small.jsonl:3: not JSON: "},
		{"{\"values\":{}," REST, "small.jsonl:1: " WANTED},
		{"{\"key\":\"a\"," REST, "small.jsonl:1: " WANTED},
		{"{\"key\":\"a\",\"values\":{}," REST "{\"key\":\"a\",\"values\":{}}\n",
		 "small.jsonl:2: " WANTED},
	};
	char text_dir[] = "/tmp/test-results-XXXXXX", path[100];
	struct results r = {0};
	struct err e;

	snprintf(path, sizeof(path), "%s/small.jsonl", fixture_dir(text_dir));
	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(file_write(path, cases[i].text, strlen(cases[i].text), &e), 0);
		assert_int_not_equal(results_text_load(text_dir, &r, &e), 0);
		assert_non_null(strstr(e.text, cases[i].expected));
		results_free(&r);
	}
	unlink(path);
	rmdir(text_dir);
	assert_int_equal(results_text_load(text_dir, &r, &e), -ENOENT);
}

/* ---- means ---- */

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

TEST(means_deviations_and_intervals_are_over_seeds)
{
	struct experiment *x = fixture_experiment(EXPERIMENT_HEAD "seeds: 4\n" EXPERIMENT_TAIL);
	struct experiment_point p = {0};
	struct results r = {0};
	struct result_stat s;

	s = results_stat(&r, x, &p, 0);
	assert_int_equal(s.n, 0);
	fixture_result(&r, "seed=2", "{\"smps\":4}");
	fixture_sort(&r);
	s = results_stat(&r, x, &p, 0);
	assert_true(s.n == 1 && s.mean == 4 && s.sd == 0 && s.half == 0);
	fixture_result(&r, "seed=1", "{\"smps\":2}");
	fixture_result(&r, "seed=3", "{\"smps\":6}");
	fixture_result(&r, "seed=4", "{\"other\":6}"); /* has no such result */
	fixture_sort(&r);
	s = results_stat(&r, x, &p, 0);
	assert_int_equal(s.n, 3);
	assert_true(near(s.mean, 4) && near(s.sd, 2));
	assert_true(near(s.half, 4.303 * 2 / sqrt(3))); /* Student's t, two degrees of freedom */
	results_free(&r);
	experiment_free(x);
}

TEST(many_seeds_come_near_the_normal_interval)
{
	struct experiment *x = fixture_experiment(EXPERIMENT_HEAD "seeds: 61\n" EXPERIMENT_TAIL);
	struct experiment_point p = {0};
	struct results r = {0};
	struct result_stat s;
	char key[24], values[40];

	for (unsigned i = 1; i <= 61; i++) {
		snprintf(key, sizeof(key), "seed=%u", i);
		snprintf(values, sizeof(values), "{\"smps\":%d}", i == 61 ? 0 : i % 2 ? 1 : -1);
		fixture_result(&r, key, values);
	}
	fixture_sort(&r);
	s = results_stat(&r, x, &p, 0);
	assert_true(near(s.mean, 0) && near(s.sd, 1)); /* 60 / (61 - 1) */
	assert_true(near(s.half, 2.0 / sqrt(61)));     /* t is 2.000 for 60 degrees of freedom */
	results_free(&r);
	experiment_free(x);
}

TEST(curves_are_averaged_over_seeds)
{
	struct experiment *x = fixture_experiment(EXPERIMENT_HEAD "seeds: 3\n" EXPERIMENT_TAIL);
	struct experiment_point p = {0};
	struct results r = {0};
	expr_numbers v = {0};

	fixture_result(&r, "seed=1", "{\"smps\":[1,2]}");
	fixture_result(&r, "seed=2", "{\"smps\":[3,6]}");
	fixture_result(&r, "seed=3", "{\"smps\":[9]}"); /* of another length: left out */
	fixture_sort(&r);
	results_curve(&r, x, &p, 0, &v);
	assert_int_equal(v.n, 2);
	assert_true(v.at[0] == 2 && v.at[1] == 4);
	vec_free(&v);
	results_free(&r);
	results_curve(&r, x, &p, 0, &v);
	assert_int_equal(v.n, 0);
	experiment_free(x);
}

static int dir_setup(void **state UNUSED)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int dir_teardown(void **state UNUSED)
{
	static const char *const names[] = {"up.db",	   "down.db",	  "two.db", "killed.db",
					    "busy.db",	   "busy.db-wal", "odd.db", "busy.db-shm",
					    "odd.db.lock", NULL};

	for (unsigned i = 0; names[i]; i++)
		unlink(in_dir(names[i]));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_jobs_does_not_change_the_bytes),
		cmocka_unit_test(kill_9_keeps_the_rows_that_were_put),
		cmocka_unit_test(a_second_writer_is_refused_as_long_as_the_first_writes),
		cmocka_unit_test(rows_are_read_as_they_were_put),
		cmocka_unit_test(files_that_are_no_database_are_refused),
		cmocka_unit_test(a_job_twice_is_a_fault),
		cmocka_unit_test(parts_may_repeat_equal_results),
		cmocka_unit_test(the_last_part_counts_if_asked_for),
		cmocka_unit_test(text_is_the_same_after_a_round_trip),
		cmocka_unit_test(faults_in_text_have_a_line),
		cmocka_unit_test(means_deviations_and_intervals_are_over_seeds),
		cmocka_unit_test(many_seeds_come_near_the_normal_interval),
		cmocka_unit_test(curves_are_averaged_over_seeds),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
