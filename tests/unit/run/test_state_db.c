/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state file: stored values are read back after a kill or a full disk; files of other programs are
 * left unchanged.
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
#include "run/state_db.h"

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

static struct state_db *open_state(void)
{
	struct state_db *s;
	struct err e = {""};

	if (state_db_open(&s, path, &e))
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

TEST(stored_values_read_back)
{
	struct state_db *s = open_state();
	struct seen x = {.n = 0};
	uint64_t keys[4];
	struct stat st;
	struct err e;

	state_db_put_lid(s, 0xffff000000000001, 3, 0); /* greater than any signed number */
	state_db_put_lid(s, 2, 2, 1);
	state_db_put_lid(s, 1, 9, 0);
	state_db_put_lid(s, 1, 1, 7); /* the last one counts */
	state_db_put_m_key(s, 0x11);
	state_db_put_m_key(s, 0xffffffffffffffff);
	state_db_put_m_key(s, 0x11);
	state_db_put_name(s, 1, "one");
	state_db_put_name(s, 1, "eins");
	assert_int_equal(state_db_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 0); /* gathered, not yet there */
	assert_int_equal(state_db_commit(s, &e), 0);
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_close(s);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	s = open_state();
	assert_int_equal(state_db_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 3);
	assert_true(x.guid[0] == 1 && x.lid[0] == 1 && x.lmc[0] == 7);
	assert_true(x.guid[1] == 2 && x.lid[1] == 2 && x.lmc[1] == 1);
	assert_true(x.guid[2] == 0xffff000000000001 && x.lid[2] == 3);
	assert_int_equal(state_db_m_keys(s, keys, 4, &e), 2);
	assert_true(keys[0] == 0x11 && keys[1] == 0xffffffffffffffff);
	assert_int_equal(state_db_m_keys(s, keys, 1, &e), 1);
	state_db_close(s);
}

TEST(a_lid_has_one_owner)
{
	struct state_db *s = open_state();
	struct seen x = {.n = 0};
	struct err e;

	for (uint16_t i = 1; i <= 3; i++)
		state_db_put_lid(s, i, i, 0);
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_put_lid(s, 1, 2, 0); /* these two change places */
	state_db_put_lid(s, 2, 1, 0);
	state_db_put_lid(s, 4, 3, 0); /* and this one takes another's */
	assert_int_equal(state_db_commit(s, &e), 0);
	assert_int_equal(state_db_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 3);
	assert_true(x.guid[0] == 1 && x.lid[0] == 2 && x.guid[1] == 2 && x.lid[1] == 1);
	assert_true(x.guid[2] == 4 && x.lid[2] == 3);
	state_db_close(s);
}

TEST(one_process_at_a_time)
{
	struct state_db *s = open_state(), *t;
	struct err e;

	assert_int_equal(state_db_open(&t, path, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another process uses it"));
	state_db_close(s);
	state_db_close(open_state());
}

static void refused(const char *why)
{
	struct state_db *s;
	struct err e;
	char *before, *after;
	size_t n, m;

	assert_int_equal(file_read(path, &before, &n, &e), 0);
	assert_int_equal(state_db_open(&s, path, &e), -EBADMSG);
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

TEST(files_of_other_programs_are_left_unchanged)
{
	struct state_db *s;
	char page[4096];
	struct err e;
	int fd;

	assert_int_equal(file_write(path, "a letter", 8, &e), 0);
	refused("not an SQLite database");
	memset(page, 'x', sizeof(page));
	assert_int_equal(file_write(path, page, sizeof(page), &e), 0);
	refused("not an SQLite database");
	sql("CREATE TABLE x (y)");
	refused("a database of another program");
	state_db_close(open_state());
	sql("PRAGMA journal_mode = DELETE; PRAGMA user_version = 2");
	refused("has version 2");
	/* ours, but damaged */
	s = open_state();
	for (unsigned i = 1; i < 2000; i++)
		state_db_put_lid(s, i, (uint16_t)i, 0);
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_close(s);
	fd = open(path, O_RDWR);
	for (off_t at = 4096; at < 40960; at += 4096)
		assert_int_equal(pwrite(fd, page, 600, at), 600);
	close(fd);
	assert_int_equal(state_db_open(&s, path, &e), -EBADMSG);
	unlink(path);
	assert_int_equal(state_db_open(&s, "/nonexistent/weft.db", &e), -ENOENT);
	assert_int_equal(state_db_open(&s, dir, &e), -EISDIR);
	assert_int_equal(state_db_open(&s, "/dev/null", &e), -EBADMSG);
}

/* ---- killed ---- */

enum { GUIDS = 40 };

/* For ever: all GUIDs with LIDs in a row in one transaction, then tell which. */
static void write_until_killed(int fd)
{
	struct state_db *s;
	struct err e;

	if (state_db_open(&s, path, &e))
		_exit(1);
	for (uint16_t lid = 1; lid < 40000; lid++) {
		for (unsigned g = 0; g < GUIDS; g++)
			state_db_put_lid(s, g + 1, (uint16_t)(lid + g), 0);
		state_db_put_m_key(s, lid);
		if (state_db_commit(s, &e) || write(fd, &lid, sizeof(lid)) != sizeof(lid))
			_exit(1);
	}
	_exit(2);
}

TEST(a_killed_process_leaves_a_valid_file)
{
	struct rng r;

	rng_seed(&r, 4711, 0);
	for (unsigned round = 0; round < 50; round++) {
		struct seen x = {.n = 0};
		uint16_t lid = 0, last = 0;
		struct state_db *s;
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
		assert_int_equal(state_db_lids(s, see, &x, &e), 0);
		assert_true(x.n == GUIDS || (!x.n && !last));
		for (unsigned i = 1; i < x.n; i++)
			assert_int_equal(x.lid[i], x.lid[0] + i); /* whole transactions only */
		if (last) /* nothing that commit had acknowledged is lost */
			assert_in_range(x.lid[0], last, last + 1);
		assert_int_equal(state_db_m_keys(s, &key, 1, &e), x.n ? 1 : 0);
		assert_int_equal(key, x.n ? x.lid[0] : 0);
		state_db_close(s);
		unlink(path);
	}
}

/* ---- a disk that is full ---- */

static unsigned char on_a_full_disk(void)
{
	struct rlimit limit = {.rlim_cur = 256 << 10, .rlim_max = 256 << 10};
	struct state_db *s;
	struct err e;
	unsigned guid = 100;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	if (state_db_open(&s, path, &e))
		return 1;
	state_db_put_lid(s, 1, 1, 0);
	if (state_db_commit(s, &e) || setrlimit(RLIMIT_FSIZE, &limit))
		return 2;
	for (unsigned i = 0; i < 90 && !rc; i++) {
		for (unsigned k = 0; k < 500; k++)
			state_db_put_lid(s, guid + k, (uint16_t)(guid + k), 0);
		guid += 500;
		e.text[0] = 0;
		rc = state_db_commit(s, &e);
	}
	if (rc >= 0 || !strstr(e.text, path))
		return 3;
	if (state_db_commit(s, &e) != rc || e.text[0]) /* told once */
		return 4;
	state_db_close(s);
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
	struct state_db *s;
	struct err e;
	int status;
	pid_t child = fork();

	if (!child)
		_exit(on_a_full_disk());
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	s = open_state();
	assert_int_equal(state_db_lids(s, count, &n, &e), 0);
	assert_true(n >= 1);
	assert_int_equal(n % 500, 1); /* whole transactions only */
	state_db_close(s);
}

/* What was gathered stays, and goes in when the file can be written again. */
TEST(writing_is_retried)
{
	struct state_db *s;
	unsigned n = 0;
	sqlite3 *db;
	struct err e;

	state_db_close(open_state());
	s = open_state();
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), 0);
	state_db_put_lid(s, 1, 1, 0);
	assert_int_equal(state_db_commit(s, &e), -EBUSY);
	assert_non_null(strstr(e.text, "locked"));
	state_db_put_lid(s, 2, 2, 0);
	assert_int_equal(state_db_commit(s, &e), -EBUSY);
	assert_string_equal(e.text, "");
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(state_db_commit(s, &e), 0);
	assert_int_equal(state_db_lids(s, count, &n, &e), 0);
	assert_int_equal(n, 2);
	state_db_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stored_values_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lid_has_one_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_other_programs_are_left_unchanged, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_valid_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(disk_full, setup, teardown),
		cmocka_unit_test_setup_teardown(writing_is_retried, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
