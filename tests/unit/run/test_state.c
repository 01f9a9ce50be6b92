/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What survives: what was put is there again, whoever is killed and whatever the disk says; files of
 * others are left alone.
 */
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "run/run.h"

static char dir[64], path[80];

static int setup(void **state UNUSED)
{
	strcpy(dir, "/tmp/weft-state-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/weft.db", dir);
	return 0;
}

static int teardown(void **state UNUSED)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

static struct run_state *open_state(void)
{
	struct run_state *s;
	struct err e = {""};

	if (run_state_open(&s, path, &e))
		fail_msg("%s", e.text);
	return s;
}

struct seen {
	uint64_t guid[64];
	uint16_t lid[64];
	unsigned lmc[64], n;
};

static void see(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc)
{
	struct seen *x = ctx;

	assert_true(x->n < 64);
	x->guid[x->n] = guid;
	x->lid[x->n] = lid;
	x->lmc[x->n++] = lmc;
}

TEST(what_was_put_is_there_again)
{
	struct run_state *s = open_state();
	struct seen x = {.n = 0};
	uint64_t keys[4];
	struct stat st;
	struct err e;

	run_state_put_lid(s, 0xffff000000000001, 3, 0); /* greater than any signed number */
	run_state_put_lid(s, 2, 2, 1);
	run_state_put_lid(s, 1, 9, 0);
	run_state_put_lid(s, 1, 1, 7); /* the last one counts */
	run_state_put_m_key(s, 0x11);
	run_state_put_m_key(s, 0xffffffffffffffff);
	run_state_put_m_key(s, 0x11);
	run_state_put_name(s, 1, "one");
	run_state_put_name(s, 1, "eins");
	assert_int_equal(run_state_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 0); /* gathered, not yet there */
	assert_int_equal(run_state_commit(s, &e), 0);
	assert_int_equal(run_state_commit(s, &e), 0);
	run_state_close(s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	s = open_state();
	assert_int_equal(run_state_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 3);
	assert_true(x.guid[0] == 1 && x.lid[0] == 1 && x.lmc[0] == 7);
	assert_true(x.guid[1] == 2 && x.lid[1] == 2 && x.lmc[1] == 1);
	assert_true(x.guid[2] == 0xffff000000000001 && x.lid[2] == 3);
	assert_int_equal(run_state_m_keys(s, keys, 4, &e), 2);
	assert_true(keys[0] == 0x11 && keys[1] == 0xffffffffffffffff);
	assert_int_equal(run_state_m_keys(s, keys, 1, &e), 1);
	run_state_close(s);
}

TEST(a_lid_has_one_owner)
{
	struct run_state *s = open_state();
	struct seen x = {.n = 0};
	struct err e;

	for (uint16_t i = 1; i <= 3; i++)
		run_state_put_lid(s, i, i, 0);
	assert_int_equal(run_state_commit(s, &e), 0);
	run_state_put_lid(s, 1, 2, 0); /* these two change places */
	run_state_put_lid(s, 2, 1, 0);
	run_state_put_lid(s, 4, 3, 0); /* and this one takes another's */
	assert_int_equal(run_state_commit(s, &e), 0);
	assert_int_equal(run_state_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 3);
	assert_true(x.guid[0] == 1 && x.lid[0] == 2 && x.guid[1] == 2 && x.lid[1] == 1);
	assert_true(x.guid[2] == 4 && x.lid[2] == 3);
	run_state_close(s);
}

TEST(one_process_at_a_time)
{
	struct run_state *s = open_state(), *t;
	struct err e;

	assert_int_equal(run_state_open(&t, path, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another process uses it"));
	run_state_close(s);
	run_state_close(open_state());
}

static void refused(const char *why)
{
	struct run_state *s;
	struct err e;
	char *before, *after;
	size_t n, m;

	assert_int_equal(file_read(path, &before, &n, &e), 0);
	assert_int_equal(run_state_open(&s, path, &e), -EBADMSG);
	if (!strstr(e.text, why))
		fail_msg("said '%s'", e.text);
	assert_int_equal(file_read(path, &after, &m, &e), 0);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
	unlink(path);
}

static void sql(const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), 0);
	assert_int_equal(sqlite3_close(db), 0);
}

TEST(files_of_others_are_left_alone)
{
	struct run_state *s;
	char page[4096];
	struct err e;
	int fd;

	assert_int_equal(file_write(path, "a letter", 8, &e), 0);
	refused("not an SQLite database");
	memset(page, 'x', sizeof(page));
	assert_int_equal(file_write(path, page, sizeof(page), &e), 0);
	refused("not an SQLite database");
	sql("CREATE TABLE x (y)");
	refused("another program's database");
	run_state_close(open_state());
	sql("PRAGMA journal_mode = DELETE; PRAGMA user_version = 2");
	refused("is of version 2");
	/* ours, but damaged */
	s = open_state();
	for (unsigned i = 1; i < 2000; i++)
		run_state_put_lid(s, i, (uint16_t)i, 0);
	assert_int_equal(run_state_commit(s, &e), 0);
	run_state_close(s);
	fd = open(path, O_RDWR);
	for (off_t at = 4096; at < 40960; at += 4096)
		assert_int_equal(pwrite(fd, page, 600, at), 600);
	close(fd);
	assert_int_equal(run_state_open(&s, path, &e), -EBADMSG);
	unlink(path);
	assert_int_equal(run_state_open(&s, "/nonexistent/weft.db", &e), -ENOENT);
	assert_int_equal(run_state_open(&s, dir, &e), -EISDIR);
	assert_int_equal(run_state_open(&s, "/dev/null", &e), -EBADMSG);
}

/* ---- killed ---- */

enum { GUIDS = 40 };

/* For ever: all GUIDs with LIDs in a row in one transaction, then tell which. */
static void write_until_killed(int fd)
{
	struct run_state *s;
	struct err e;

	if (run_state_open(&s, path, &e))
		_exit(1);
	for (uint16_t lid = 1; lid < 40000; lid++) {
		for (unsigned g = 0; g < GUIDS; g++)
			run_state_put_lid(s, g + 1, (uint16_t)(lid + g), 0);
		run_state_put_m_key(s, lid);
		if (run_state_commit(s, &e) || write(fd, &lid, sizeof(lid)) != sizeof(lid))
			_exit(1);
	}
	_exit(2);
}

TEST(killed_at_any_moment)
{
	struct rng r;

	rng_seed(&r, 4711, 0);
	for (unsigned round = 0; round < 50; round++) {
		struct seen x = {.n = 0};
		uint16_t lid = 0, last = 0;
		struct run_state *s;
		uint64_t key = 0;
		struct err e;
		int fd[2], status;
		pid_t child;

		assert_int_equal(pipe(fd), 0);
		child = fork();
		if (!child)
			write_until_killed(fd[1]);
		close(fd[1]);
		if (round % 5) /* from the midst of it, else from the very beginning */
			assert_int_equal(read(fd[0], &last, sizeof(last)), sizeof(last));
		usleep((useconds_t)rng_below(&r, 8000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status));
		while (read(fd[0], &lid, sizeof(lid)) == sizeof(lid))
			last = lid;
		close(fd[0]);
		s = open_state();
		assert_int_equal(run_state_lids(s, see, &x, &e), 0);
		assert_true(x.n == GUIDS || (!x.n && !last));
		for (unsigned i = 1; i < x.n; i++)
			assert_int_equal(x.lid[i], x.lid[0] + i); /* whole transactions only */
		if (last) /* nothing that commit had acknowledged is lost */
			assert_in_range(x.lid[0], last, last + 1);
		assert_int_equal(run_state_m_keys(s, &key, 1, &e), x.n ? 1 : 0);
		assert_int_equal(key, x.n ? x.lid[0] : 0);
		run_state_close(s);
		unlink(path);
	}
}

/* ---- a disk that is full ---- */

static unsigned char on_a_full_disk(void)
{
	struct rlimit limit = {.rlim_cur = 256 << 10, .rlim_max = 256 << 10};
	struct run_state *s;
	struct err e;
	unsigned guid = 100;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	if (run_state_open(&s, path, &e))
		return 1;
	run_state_put_lid(s, 1, 1, 0);
	if (run_state_commit(s, &e) || setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	for (unsigned i = 0; i < 90 && !rc; i++) {
		for (unsigned k = 0; k < 500; k++)
			run_state_put_lid(s, guid + k, (uint16_t)(guid + k), 0);
		guid += 500;
		e.text[0] = 0;
		rc = run_state_commit(s, &e);
	}
	if (rc >= 0 || !strstr(e.text, path))
		return 3;
	if (run_state_commit(s, &e) != rc || e.text[0]) /* told once */
		return 4;
	run_state_close(s);
	return 0;
}

static void count(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc UNUSED)
{
	++*(unsigned *)ctx;
	assert_int_equal(lid, guid);
}

TEST(disk_full)
{
	unsigned n = 0;
	struct run_state *s;
	struct err e;
	int status;
	pid_t child = fork();

	if (!child)
		_exit(on_a_full_disk());
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	s = open_state();
	assert_int_equal(run_state_lids(s, count, &n, &e), 0);
	assert_true(n >= 1);
	assert_int_equal(n % 500, 1); /* whole transactions only */
	run_state_close(s);
}

/* What was gathered stays, and goes in when the file can be written again. */
TEST(tried_again)
{
	struct run_state *s;
	unsigned n = 0;
	sqlite3 *db;
	struct err e;

	run_state_close(open_state());
	s = open_state();
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), 0);
	run_state_put_lid(s, 1, 1, 0);
	assert_int_equal(run_state_commit(s, &e), -EBUSY);
	assert_non_null(strstr(e.text, "locked"));
	run_state_put_lid(s, 2, 2, 0);
	assert_int_equal(run_state_commit(s, &e), -EBUSY);
	assert_string_equal(e.text, "");
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(run_state_commit(s, &e), 0);
	assert_int_equal(run_state_lids(s, count, &n, &e), 0);
	assert_int_equal(n, 2);
	run_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_put_is_there_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lid_has_one_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_others_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_at_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(disk_full, setup, teardown),
		cmocka_unit_test_setup_teardown(tried_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
