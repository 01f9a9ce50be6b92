/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs as processes: what they run, what becomes of their output, several at once, and how they are stopped.
 * Covers: job_queue.c, job_commands.c, job_values.c
 */
#include "unit_test.h"

#include "experiment_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Instead of libc's: a system without room for another process, and no signal to processes of others. */
static bool no_process;
static unsigned wide_kills;

pid_t fork(void)
{
	if (no_process) {
		errno = EAGAIN;
		return -1;
	}
	return (pid_t)syscall(SYS_fork);
}

int kill(pid_t pid, int signal)
{
	if (pid <= 0) {
		wide_kills++;
		return 0;
	}
	return (int)syscall(SYS_kill, pid, signal);
}

struct seen {
	VEC(char *) lines; /* "KEY: VALUES", or "KEY! MESSAGE" */
	unsigned begun, ticks;
	volatile int stop;
	unsigned stop_after;
};

static void begun(void *ctx, const struct experiment_job *j UNUSED)
{
	struct seen *s = ctx;

	s->begun++;
}

static void done(void *ctx, const struct job_result *r)
{
	struct seen *s = ctx;
	struct strbuf b = {0};

	strbuf_addf(&b, "%s%s %s", r->job->key, r->ok ? ":" : "!", r->ok ? r->values : r->message);
	vec_push(&s->lines, b.s);
	assert_true(r->wall_s >= 0 && r->cpu_s >= 0);
	if (s->lines.n == s->stop_after)
		s->stop = 1;
}

static void tick(void *ctx, unsigned running UNUSED)
{
	struct seen *s = ctx;

	s->ticks++;
}

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Runs all jobs of the experiment; the lines come sorted. */
static int jobs_run(const char *text, unsigned slots, struct seen *s, struct err *e)
{
	struct experiment *x = fixture_experiment(text);
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	struct job_queue q = {.weft = "/bin/echo",
			      .slots = slots,
			      .stop = &s->stop,
			      .begun = begun,
			      .done = done,
			      .tick = tick,
			      .ctx = s};
	int rc;

	assert_int_equal(experiment_jobs_add(x, &all, &jobs, e), 0);
	rc = job_queue_run(&q, jobs.at, jobs.n, e);
	if (s->lines.n)
		qsort(s->lines.at, s->lines.n, sizeof(*s->lines.at), line_order);
	experiment_jobs_free(&jobs);
	experiment_free(x);
	return rc;
}

static void lines_are(struct seen *s, const char *const *lines)
{
	size_t n = 0;

	for (; lines[n]; n++) {
		assert_true(n < s->lines.n);
		assert_string_equal(s->lines.at[n], lines[n]);
	}
	assert_int_equal(s->lines.n, n);
	for (size_t i = 0; i < s->lines.n; i++)
		free(s->lines.at[i]);
	vec_free(&s->lines);
}

#define SHELL(command, results) EXPERIMENT_HEAD "shell: |-\n  " command "\nresults: {" results "}\n"

/* ---- results ---- */

TEST(results_are_expressions_over_the_output)
{
	struct seen s = {0};
	struct err e;

	assert_int_equal(
		jobs_run(
			SHELL("echo '{\"mean\": {\"a\": 1.5, \"up\": true}, \"runs\": [{\"t\": 2}, {\"t\": 4}]}'",
			      "a: .mean.a * 2, b: 'max(.runs[].t)', c: '.runs[].t', d: 1 / 3, e: .mean.up, "
			      "f: 1e-7 * 1, g: 1e20 * 2, h: 0 - 0"),
			1, &s, &e),
		0);
	lines_are(
		&s,
		(const char *const[]){
			"seed=1: {\"a\":3,\"b\":4,\"c\":[2,4],\"d\":0.3333333333,\"e\":1,\"f\":1e-7,\"g\":2e20,\"h\":0}",
			NULL});
}

TEST(a_fault_in_the_output_is_the_jobs_failure)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{SHELL("echo no", "a: .a"),
		 "seed=1! /bin/sh -c echo no: the output is not JSON: line 1: '[' or '{' expected near 'no'"},
		{SHELL("true", "a: .a"),
		 "seed=1! /bin/sh -c true: the output is not JSON: line 1: '[' or '{' expected near end of file"},
		{SHELL("echo '{}'", "a: .b.c"),
		 "seed=1! /bin/sh -c echo '{}': the output has no .b.c"},
		{SHELL("echo '{\"b\": \"x\"}'", "a: .b"),
		 "seed=1! /bin/sh -c echo '{\"b\": \"x\"}': the output has no number at .b"},
		{SHELL("echo '{\"b\": 1}'", "a: '.b[]'"),
		 "seed=1! /bin/sh -c echo '{\"b\": 1}': the output has no list at .b[]"},
		{SHELL("echo '{\"b\": 0}'", "a: 1 / .b"),
		 "seed=1! /bin/sh -c echo '{\"b\": 0}': column 1: division by zero"},
		{SHELL("echo '{\"b\": 1e300}'", "a: .b * .b"),
		 "seed=1! /bin/sh -c echo '{\"b\": 1e300}': the result a is not a finite number"},
		{SHELL("echo '{\"b\": []}'", "a: 'mean(.b[])'"),
		 "seed=1! /bin/sh -c echo '{\"b\": []}': mean() of an empty list"},
		{SHELL("echo one >&2; echo two >&2; exit 3", "a: .a"),
		 "seed=1! /bin/sh -c echo one >&2; echo two >&2; exit 3: exit status 3: two"},
		{SHELL("kill -9 $$", "a: .a"),
		 "seed=1! /bin/sh -c kill -9 $$: ended by signal 9: "},
	};

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct seen s = {0};
		struct err e;

		assert_int_equal(jobs_run(cases[i].text, 1, &s, &e), 0);
		lines_are(&s, (const char *const[]){cases[i].expected, NULL});
	}
}

TEST(statuses_that_are_accepted_are_no_failure)
{
	struct seen s = {0};
	struct err e;

	assert_int_equal(
		jobs_run(SHELL("echo '{\"a\": 7}'; exit 1", "a: .a") "accept: [0, 1]\n", 1, &s, &e),
		0);
	lines_are(&s, (const char *const[]){"seed=1: {\"a\":7}", NULL});
}

/* ---- commands ---- */

static char *commands_text(const char *text)
{
	struct experiment *x = fixture_experiment(text);
	struct experiment_scope all = experiment_everything();
	experiment_jobs jobs = {0};
	job_commands c = {0};
	struct strbuf b = {0};
	struct err e = {""};

	assert_int_equal(experiment_jobs_add(x, &all, &jobs, &e), 0);
	if (job_commands_make(&jobs.at[0], &c, &e))
		strbuf_add(&b, e.text);
	for (size_t i = 0; i < c.n; i++) {
		for (char **w = c.at[i]; *w; w++)
			strbuf_addf(&b, "%s<%s>", w == c.at[i] ? "" : " ", *w);
		strbuf_add(&b, "\n");
	}
	job_commands_free(&c);
	experiment_jobs_free(&jobs);
	experiment_free(x);
	return b.s;
}

TEST(a_job_makes_its_fabric_then_runs_its_commands)
{
	char *text = commands_text(
		EXPERIMENT_HEAD
		"fabrics: {f: 'gen ring 4 --seed {seed}'}\nfabric: f\nseeds: [9]\n"
		"before: [topo check 'a b']\nrun: sim up {net} \"x  y\" ''\nresults: {a: .a}\n");

	assert_string_equal(text, "<weft> <topo> <gen> <ring> <4> <--seed> <9> <-o> <net>\n"
				  "<weft> <topo> <check> <a b>\n"
				  "<weft> <sim> <up> <net> <x  y> <> <--json>\n");
	free(text);
	text = commands_text(
		EXPERIMENT_HEAD
		"fabrics: {f: file /some/net.txt}\nfabric: f\nrun: sim up {net} --json\n"
		"results: {a: .a}\n");
	assert_string_equal(text,
			    "<ln> <-s> </some/net.txt> <net>\n<weft> <sim> <up> <net> <--json>\n");
	free(text);
	text = commands_text(EXPERIMENT_HEAD "run: sim 'up\nresults: {a: .a}\n");
	assert_string_equal(text, "a quote is not closed");
	free(text);
}

TEST(a_job_runs_in_a_directory_of_its_own_without_input)
{
	struct seen s = {0};
	struct err e;

	/* /bin/echo stands in for weft: the first command writes its words to the file "out". */
	assert_int_equal(
		jobs_run(SHELL("cat; ls | wc -l | sed 's/.*/{\"files\": &}/'", "a: .files"), 1, &s,
			 &e),
		0);
	lines_are(&s, (const char *const[]){"seed=1: {\"a\":2}", NULL}); /* out and err */
}

/* ---- the queue ---- */

TEST(several_jobs_run_at_once)
{
	/* Each waits for the other one's file: alone, neither would end. */
	static const char both[] = EXPERIMENT_HEAD
		"parameters: {me: [1, 2]}\n"
		"shell: |-\n  d=$TEST_QUEUE_DIR; touch $d/{me}; i=0\n"
		"  until [ -e $d/1 ] && [ -e $d/2 ]; do sleep 0.01; i=$((i + 1)); [ $i -lt 3000 ] || exit 1; done\n"
		"  echo '{\"me\": {me}}'\n"
		"results: {me: .me}\n";
	char dir[] = "/tmp/test-job-queue-XXXXXX", path[64];
	struct seen s = {0};
	struct err e;

	setenv("TEST_QUEUE_DIR", fixture_dir(dir), 1);
	assert_int_equal(jobs_run(both, 2, &s, &e), 0);
	assert_int_equal(s.begun, 2);
	lines_are(&s, (const char *const[]){"me=1: {\"me\":1}", "me=2: {\"me\":2}", NULL});
	for (int i = 1; i <= 2; i++) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
}

TEST(a_failing_job_does_not_stop_the_others)
{
	struct seen s = {0};
	struct err e;

	assert_int_equal(jobs_run(EXPERIMENT_HEAD
				  "parameters: {k: [1, 2, 3]}\n"
				  "shell: '[ {k} -ne 2 ] && echo ''{\"k\": {k}}'''\n"
				  "results: {k: .k}\n",
				  2, &s, &e),
			 0);
	assert_int_equal(s.lines.n, 3);
	assert_string_equal(s.lines.at[0], "k=1: {\"k\":1}");
	assert_non_null(strstr(s.lines.at[1], "k=2! /bin/sh -c [ 2 -ne 2 ]"));
	assert_non_null(strstr(s.lines.at[1], "exit status 1"));
	assert_string_equal(s.lines.at[2], "k=3: {\"k\":3}");
	for (size_t i = 0; i < s.lines.n; i++)
		free(s.lines.at[i]);
	vec_free(&s.lines);
}

TEST(jobs_that_measure_real_time_run_one_at_a_time)
{
	/* A second one would find the first one's directory. */
	char dir[] = "/tmp/test-job-queue-XXXXXX";
	struct seen s = {0};
	struct err e;

	setenv("TEST_QUEUE_DIR", fixture_dir(dir), 1);
	assert_int_equal(
		jobs_run(
			EXPERIMENT_HEAD
			"parameters: {k: [1, 2, 3]}\nreal_time: true\n"
			"shell: 'mkdir $TEST_QUEUE_DIR/x && sleep 0.02 && rmdir $TEST_QUEUE_DIR/x && echo ''{\"k\": 1}'''\n"
			"results: {k: .k}\n",
			3, &s, &e),
		0);
	lines_are(&s, (const char *const[]){"k=1: {\"k\":1}", "k=2: {\"k\":1}", "k=3: {\"k\":1}",
					    NULL});
	rmdir(dir);
}

TEST(no_job_begins_after_stop)
{
	struct seen s = {.stop_after = 2};
	struct err e;

	assert_int_equal(jobs_run(EXPERIMENT_HEAD
				  "parameters: {k: 1..9}\nshell: 'echo ''{\"k\": {k}}'''\n"
				  "results: {k: .k}\n",
				  1, &s, &e),
			 0);
	assert_int_equal(s.begun, 2);
	lines_are(&s, (const char *const[]){"k=1: {\"k\":1}", "k=2: {\"k\":2}", NULL});
}

static unsigned entries(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	assert_non_null(d);
	for (struct dirent *f; (f = readdir(d));)
		n += *f->d_name != '.';
	closedir(d);
	return n;
}

TEST(directories_are_removed)
{
	char dir[] = "/tmp/test-job-queue-XXXXXX";
	struct seen s = {0};
	struct err e;

	setenv("TMPDIR", fixture_dir(dir), 1);
	assert_int_equal(
		jobs_run(SHELL("mkdir -p a/b; touch a/b/c; echo '{\"a\": 1}'", "a: .a"), 1, &s, &e),
		0);
	lines_are(&s, (const char *const[]){"seed=1: {\"a\":1}", NULL});
	assert_int_equal(entries(dir), 0);
	rmdir(dir);
	assert_int_equal(jobs_run(SHELL("echo '{\"a\": 1}'", "a: .a"), 1, &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "No such file or directory"));
	unsetenv("TMPDIR");
}

/* The pid of a process that could not be started is -1; as an argument of kill() that is every process there is. */
TEST(a_process_that_cannot_be_started_harms_no_other)
{
	struct seen s = {0};
	struct err e;

	no_process = true;
	assert_int_equal(jobs_run(SHELL("true", "a: .a"), 2, &s, &e), -EAGAIN);
	no_process = false;
	assert_string_equal(e.text, "cannot start a process: Resource temporarily unavailable");
	assert_int_equal(wide_kills, 0);
	assert_int_equal(s.lines.n, 0);
}

/* The children of a queue that is killed end with it: nothing else would ever stop them. */
TEST(jobs_end_with_the_process_that_runs_them)
{
	struct seen s = {0};
	int ends[2], status;
	char byte;
	pid_t pid;
	struct err e;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		char text[400];

		close(ends[0]);
		/* The job holds the pipe's end open as long as it lives. */
		snprintf(text, sizeof(text), SHELL("echo x >&%d; exec sleep 1000", "a: .a"),
			 ends[1]);
		jobs_run(text, 1, &s, &e);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1); /* it runs */
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	while (read(ends[0], &byte, 1) > 0) /* ends when the job has ended */
		;
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_expressions_over_the_output),
		cmocka_unit_test(a_fault_in_the_output_is_the_jobs_failure),
		cmocka_unit_test(statuses_that_are_accepted_are_no_failure),
		cmocka_unit_test(a_job_makes_its_fabric_then_runs_its_commands),
		cmocka_unit_test(a_job_runs_in_a_directory_of_its_own_without_input),
		cmocka_unit_test(several_jobs_run_at_once),
		cmocka_unit_test(a_failing_job_does_not_stop_the_others),
		cmocka_unit_test(jobs_that_measure_real_time_run_one_at_a_time),
		cmocka_unit_test(no_job_begins_after_stop),
		cmocka_unit_test(directories_are_removed),
		cmocka_unit_test(a_process_that_cannot_be_started_harms_no_other),
		cmocka_unit_test(jobs_end_with_the_process_that_runs_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
