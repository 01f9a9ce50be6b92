/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directories of jobs: what a killed run leaves is removed by the next, what a running one uses is not.
 */
#include "unit_test.h"

#include "experiment/job_dirs.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char tmp[] = "/tmp/test-job-dirs-XXXXXX";

static int begin(void **state UNUSED)
{
	return mkdtemp(tmp) && !setenv("TMPDIR", tmp, 1) ? 0 : -1;
}

static int end(void **state UNUSED)
{
	return rmdir(tmp); /* nothing is left */
}

static unsigned entries(void)
{
	DIR *d = opendir(tmp);
	unsigned n = 0;

	for (struct dirent *f; (f = readdir(d));)
		n += f->d_name[0] != '.';
	closedir(d);
	return n;
}

/* A run that ends by kill -9 while a job has a file in its directory. */
static void run_and_die(void)
{
	char path[PATH_MAX], file[PATH_MAX + 8];
	struct job_dirs *d;
	struct err e;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!job_dirs_open(false, &d, &e) && !job_dir_make(d, path, sizeof(path), &e)) {
			snprintf(file, sizeof(file), "%s/out", path);
			file_write(file, "x", 1, &e);
		}
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

TEST(a_killed_run_is_removed_by_the_next)
{
	struct job_dirs *d;
	struct err e;

	run_and_die();
	assert_int_equal(entries(), 1);
	assert_int_equal(job_dirs_open(false, &d, &e), 0);
	assert_int_equal(entries(), 1); /* its own */
	job_dirs_close(d);
	assert_int_equal(entries(), 0);
}

TEST(a_running_one_is_not)
{
	char path[PATH_MAX];
	struct job_dirs *a, *b;
	struct stat st;
	struct err e;

	assert_int_equal(job_dirs_open(false, &a, &e), 0);
	assert_int_equal(job_dir_make(a, path, sizeof(path), &e), 0);
	assert_int_equal(job_dirs_open(false, &b, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	job_dirs_close(b);
	assert_int_equal(stat(path, &st), 0);
	job_dir_remove(path);
	assert_int_not_equal(stat(path, &st), 0);
	job_dirs_close(a);
	job_dirs_close(NULL);
}

/* Neither what was kept on purpose, nor links and files of others with such a name. */
TEST(kept_and_foreign_ones_stay)
{
	char path[PATH_MAX], link[PATH_MAX];
	struct job_dirs *d;
	struct stat st;
	struct err e;

	assert_int_equal(job_dirs_open(true, &d, &e), 0);
	assert_int_equal(job_dir_make(d, path, sizeof(path), &e), 0);
	job_dirs_close(d);
	snprintf(link, sizeof(link), "%s/weft-lab-link", tmp);
	assert_int_equal(symlink("/tmp", link), 0);
	assert_int_equal(job_dirs_open(false, &d, &e), 0);
	job_dirs_close(d);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(lstat(link, &st), 0);
	unlink(link);
	*strrchr(path, '/') = '\0';
	job_dir_remove(path);
}

TEST(no_directory_is_a_fault)
{
	struct job_dirs *d;
	struct err e;

	setenv("TMPDIR", "/none/such", 1);
	assert_int_equal(job_dirs_open(false, &d, &e), -ENOENT);
	assert_null(d);
	setenv("TMPDIR", tmp, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_run_is_removed_by_the_next),
		cmocka_unit_test(a_running_one_is_not),
		cmocka_unit_test(kept_and_foreign_ones_stay),
		cmocka_unit_test(no_directory_is_a_fault),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
