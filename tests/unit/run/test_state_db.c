/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state file: stored values are read back after a kill or a full disk; files of other programs are
 * left unchanged; no damage gives a wrong value.
 * Covers: state_db.c, state_file.c, state_lock.c, state_rows.c, state_salvage.c, state_sql.c
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
	/* In memory, where there is such a place: thousands of small transactions are written. */
	strcpy(dir,
	       access("/dev/shm", W_OK) ? "/tmp/weft-state-XXXXXX" : "/dev/shm/weft-state-XXXXXX");
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

	if (state_db_open(&s, path, NULL, &e))
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

static void sql(const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), 0);
	assert_int_equal(sqlite3_close(db), 0);
}

static void see_vm(void *ctx, const struct state_vm *v)
{
	struct state_vm **x = ctx;

	*(*x)++ = *v;
}

TEST(virtual_machines_read_back)
{
	struct state_db *s = open_state();
	struct state_vm seen[4], *x = seen;
	struct state_vm web = {"web", 0x0200000000000001, 0x10, 3, 17, true};
	struct state_vm old = {"old", 0x0200000000000002, 0, 0, 0, false};
	struct err e;

	state_db_put_vm(s, &old);
	state_db_put_vm(s, &web);
	state_db_put_lid(s, 1, 1, 0);
	assert_int_equal(state_db_commit(s, &e), 0);
	web.slot = 2;
	web.host = 0xff00000000000011;
	state_db_put_vm(s, &web);
	state_db_drop_vm(s, old.guid);
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_close(s);
	s = open_state();
	assert_int_equal(state_db_vms(s, see_vm, &x, &e), 0);
	assert_int_equal(x - seen, 1);
	assert_string_equal(seen[0].name, "web");
	assert_true(seen[0].guid == web.guid && seen[0].host == web.host && seen[0].slot == 2 &&
		    seen[0].lid == 17 && seen[0].running);
	state_db_close(s);
}

/* A damaged index leads to a new file: the rows are found in the pages. */
TEST(virtual_machines_of_a_damaged_file_are_kept)
{
	struct state_db *s = open_state();
	struct state_vm seen[8], *x = seen;
	struct state_found found;
	struct err e;

	for (unsigned i = 1; i <= 4; i++) {
		struct state_vm v = {.guid = i, .host = 7, .slot = i, .running = i % 2};

		snprintf(v.name, sizeof(v.name), "vm%u", i);
		state_db_put_vm(s, &v);
	}
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_close(s);
	sql("UPDATE totals SET rows = 5 WHERE name = 'vms'");
	assert_int_equal(state_db_open(&s, path, &found, &e), 0);
	assert_true(found.damaged);
	assert_int_equal(found.vms, 4);
	assert_int_equal(state_db_vms(s, see_vm, &x, &e), 0);
	assert_int_equal(x - seen, 4);
	assert_string_equal(seen[2].name, "vm3");
	assert_true(seen[2].running && !seen[3].running);
	state_db_close(s);
}

/* Made by a version that had no virtual machines. */
TEST(a_file_without_their_table)
{
	struct state_db *s = open_state();
	struct state_vm seen[1], *x = seen, v = {.name = "web", .guid = 5};
	struct err e;

	state_db_close(s);
	sql("DROP TABLE vms; DELETE FROM totals WHERE name = 'vms'");
	s = open_state();
	state_db_put_vm(s, &v);
	assert_int_equal(state_db_commit(s, &e), 0);
	assert_int_equal(state_db_vms(s, see_vm, &x, &e), 0);
	assert_int_equal(x - seen, 1);
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
	char holder[64];
	struct err e;

	assert_int_equal(state_db_open(&t, path, NULL, &e), -EBUSY);
	snprintf(holder, sizeof(holder), "process %d uses it", (int)getpid());
	assert_non_null(strstr(e.text, holder));
	/* The lock does not depend on the file, which may be moved away. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(state_db_open(&t, path, NULL, &e), -EBUSY);
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
	assert_int_equal(state_db_open(&s, path, NULL, &e), -EBADMSG);
	if (!strstr(e.text, why))
		fail_msg("said '%s'", e.text);
	assert_int_equal(file_read(path, &after, &m, &e), 0);
	assert_int_equal(n, m);
	assert_memory_equal(before, after, n);
	free(before);
	free(after);
	unlink(path);
}

TEST(files_of_other_programs_are_left_unchanged)
{
	struct state_db *s;
	char page[4096];
	struct err e;

	assert_int_equal(file_write(path, "a letter", 8, &e), 0);
	refused("not an SQLite database");
	memset(page, 'x', sizeof(page));
	assert_int_equal(file_write(path, page, sizeof(page), &e), 0);
	refused("not an SQLite database");
	sql("CREATE TABLE x (y)");
	refused("a database of another program");
	state_db_close(open_state());
	sql("PRAGMA journal_mode = DELETE; UPDATE meta SET value = '3' WHERE key = 'version';"
	    "PRAGMA user_version = 3");
	refused("has version 3");
	assert_int_equal(state_db_open(&s, "/nonexistent/weft.db", NULL, &e), -ENOENT);
	assert_int_equal(state_db_open(&s, dir, NULL, &e), -EISDIR);
	assert_int_equal(state_db_open(&s, "/dev/null", NULL, &e), -EBADMSG);
}

/* ---- damaged ---- */

enum { SAVED = 300, KEYS = 3 };

/* One in so many; with WEFT_STATE_FLIPS=all, as `make soak` sets it, one in fewer. */
static size_t step(size_t few, size_t many)
{
	const char *v = getenv("WEFT_STATE_FLIPS");

	return v && !strcmp(v, "all") ? many : few;
}

/* What the file below holds. */
static uint16_t lid_of(uint64_t guid)
{
	return (uint16_t)(guid % 49151 + 1);
}

static uint64_t guid_of(unsigned i)
{
	return 0x0002c90300000000 + i * 0x1111u;
}

static void sample_make(void)
{
	struct state_db *s = open_state();
	char name[32];
	struct err e;

	for (unsigned i = 0; i < SAVED; i++) {
		state_db_put_lid(s, guid_of(i), lid_of(guid_of(i)), i % 3);
		snprintf(name, sizeof(name), "host %u HCA-1", i);
		if (i < 40)
			state_db_put_name(s, guid_of(i), name);
	}
	for (unsigned i = 1; i <= KEYS; i++)
		state_db_put_m_key(s, i * 0x1234567);
	assert_int_equal(state_db_commit(s, &e), 0);
	state_db_close(s);
}

static void right_lid(void *ctx, uint64_t guid, uint16_t lid, unsigned lmc)
{
	unsigned i = (unsigned)(guid - guid_of(0)) / 0x1111u;

	assert_true(i < SAVED && guid == guid_of(i));
	assert_int_equal(lid, lid_of(guid));
	assert_int_equal(lmc, i % 3);
	++*(unsigned *)ctx;
}

static void remove_all(void)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd), "rm -f '%s'*", path);
	assert_int_equal(system(cmd), 0);
}

/*
 * It opens, no value of it is wrong, and if one is missing it says so and the file is kept. Returns how
 * many LIDs there are.
 */
static unsigned opens_right(const char *what, size_t at, struct state_found *found)
{
	struct state_db *s;
	uint64_t keys[8];
	unsigned lids = 0;
	struct err e;
	int n;

	if (state_db_open(&s, path, found, &e))
		fail_msg("%s at %zu: %s", what, at, e.text);
	assert_int_equal(state_db_lids(s, right_lid, &lids, &e), 0);
	n = state_db_m_keys(s, keys, 8, &e);
	for (int i = 0; i < n; i++)
		assert_true(keys[i] % 0x1234567 == 0 && keys[i] / 0x1234567 <= KEYS);
	if ((lids < SAVED || n < KEYS) && !found->damaged)
		fail_msg("%s at %zu: %u LIDs and %d keys, and not a word", what, at, lids, n);
	if (found->damaged)
		assert_int_equal(access(found->moved, F_OK), 0);
	state_db_put_lid(s, guid_of(0), lid_of(guid_of(0)), 0);
	if (state_db_commit(s, &e))
		fail_msg("%s at %zu: %s", what, at, e.text);
	state_db_close(s);
	if (found->damaged)
		unlink(found->moved);
	return lids;
}

static void put_back(const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* A sample: many bits of the header, few of the others. */
TEST(no_flipped_bit_gives_a_wrong_value)
{
	unsigned damaged = 0, flips = 0, kept = 0;
	struct state_found found;
	char *bytes;
	struct err e;
	size_t len;

	remove_all();
	sample_make();
	assert_int_equal(file_read(path, &bytes, &len, &e), 0);
	for (size_t bit = 0; bit < len * 8; bit += bit < 800 ? step(3, 1) : step(2003, 131)) {
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		put_back(bytes, len);
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		kept += opens_right("bit", bit, &found);
		damaged += found.damaged;
		flips++;
	}
	print_message("# %u flips, %u files damaged, %u of %u LIDs kept\n", flips, damaged, kept,
		      flips * SAVED);
	assert_true(damaged > flips / 8);
	assert_true(kept > flips * SAVED / 10 * 9);
	free(bytes);
}

TEST(no_truncation_gives_a_wrong_value)
{
	unsigned kept = 0, n = 0;
	struct state_found found;
	char *bytes;
	struct err e;
	size_t len;

	remove_all();
	sample_make();
	assert_int_equal(file_read(path, &bytes, &len, &e), 0);
	for (size_t cut = 1; cut < len; cut += cut < 128 ? step(16, 1) : step(487, 61), n++) {
		put_back(bytes, cut);
		kept += opens_right("cut", cut, &found);
		assert_true(found.damaged);
	}
	put_back(bytes, 0); /* like a new one */
	state_db_close(open_state());
	print_message("# %u truncations, %u of %u LIDs kept\n", n, kept, n * SAVED);
	free(bytes);
}

TEST(holes_and_garbage)
{
	char page[4096] = {0};
	struct state_found found;
	char *bytes;
	struct err e;
	size_t len;

	remove_all();
	sample_make();
	assert_int_equal(file_read(path, &bytes, &len, &e), 0);
	for (int fill = 0; fill < 2; fill++, memset(page, 'x', sizeof(page)))
		for (size_t at = 0; at + 4096 <= len; at += 4096) {
			char *copy = mem_alloc(len);

			memcpy(copy, bytes, len);
			memcpy(copy + at, page, sizeof(page));
			put_back(copy, len);
			if (at || !fill) /* a first page of garbage is another program's */
				opens_right("page", at, &found);
			free(copy);
		}
	free(bytes);
}

/* A damaged file is kept, and so is the next one. */
TEST(damaged_files_are_kept)
{
	struct state_found first, second;
	struct state_db *s;
	struct err e;

	remove_all();
	for (int i = 0; i < 2; i++) {
		sample_make();
		assert_int_equal(truncate(path, 5000), 0);
		assert_int_equal(state_db_open(&s, path, i ? &second : &first, &e), 0);
		state_db_close(s);
	}
	assert_string_not_equal(first.moved, second.moved);
	assert_int_equal(access(first.moved, F_OK), 0);
	assert_int_equal(access(second.moved, F_OK), 0);
	assert_non_null(strstr(first.moved, ".damaged-1"));
	remove_all();
}

/* A file of the first version has no sums. */
TEST(files_of_the_old_version_are_taken)
{
	struct seen x = {.n = 0};
	struct state_found found;
	struct state_db *s;
	uint64_t keys[4];
	struct err e;

	remove_all();
	sql("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
	    "CREATE TABLE lids (guid INTEGER PRIMARY KEY, lid INTEGER NOT NULL UNIQUE, lmc INTEGER NOT NULL,"
	    " seen INTEGER NOT NULL);"
	    "CREATE TABLE m_keys (id INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL UNIQUE);"
	    "CREATE TABLE names (guid INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	    "INSERT INTO lids VALUES (5, 7, 1, 1000), (-2, 9, 0, 1000), (6, 60000, 0, 1000);"
	    "INSERT INTO m_keys (key) VALUES (17), (18);"
	    "PRAGMA application_id = 0x57656674; PRAGMA user_version = 1; PRAGMA journal_mode = WAL");
	assert_int_equal(state_db_open(&s, path, &found, &e), 0);
	assert_false(found.damaged);
	assert_int_equal(state_db_lids(s, see, &x, &e), 0);
	assert_int_equal(x.n, 2);
	assert_true(x.guid[0] == 5 && x.lid[0] == 7 && x.lmc[0] == 1);
	assert_true(x.guid[1] == UINT64_MAX - 1 && x.lid[1] == 9);
	assert_int_equal(state_db_m_keys(s, keys, 4, &e), 2);
	assert_true(keys[0] == 18 && keys[1] == 17);
	state_db_close(s);
	remove_all();
}

/* ---- killed ---- */

enum { GUIDS = 40 };

/* For ever: all GUIDs with LIDs in a row in one transaction, then tell which. */
static void write_until_killed(int fd)
{
	struct state_db *s;
	struct err e;

	if (state_db_open(&s, path, NULL, &e))
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
	if (state_db_open(&s, path, NULL, &e))
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
		cmocka_unit_test_setup_teardown(virtual_machines_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(virtual_machines_of_a_damaged_file_are_kept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_without_their_table, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lid_has_one_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_other_programs_are_left_unchanged, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_flipped_bit_gives_a_wrong_value, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_truncation_gives_a_wrong_value, setup, teardown),
		cmocka_unit_test_setup_teardown(holes_and_garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_files_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_the_old_version_are_taken, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_valid_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(disk_full, setup, teardown),
		cmocka_unit_test_setup_teardown(writing_is_retried, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
