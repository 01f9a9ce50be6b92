/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State on disk through the writer thread: written soon, restored at the next start, and a full disk in
 * between.
 * Covers: state_writer.c, subnet_state_file.c
 */
#include "unit_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/state_writer.h"

struct bench {
	char dir[64], db[96], log_path[96];
	uv_loop_t loop;
	struct run_log log;
	struct run_state_writer k;
	struct sm_config cfg;
};

static void writer_open(struct bench *b)
{
	struct err e;

	sm_config_default(&b->cfg);
	if (run_state_writer_open(&b->k, &b->loop, &b->log, b->db, &b->cfg, &e))
		fail_msg("%s", e.text);
}

static void writer_close(struct bench *b)
{
	run_state_writer_close(&b->k);
	uv_run(&b->loop, UV_RUN_DEFAULT);
}

static int setup(void **state)
{
	struct bench *b = mem_zalloc(sizeof(*b));
	struct err e;

	strcpy(b->dir, "/tmp/weft-writer-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->db, sizeof(b->db), "%s/db", b->dir);
	snprintf(b->log_path, sizeof(b->log_path), "%s/log", b->dir);
	assert_int_equal(log_open(&b->log, b->log_path, RUN_LOG_DEBUG, RUN_LOG_TEXT, &e), 0);
	uv_loop_init(&b->loop);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;
	char command[96];

	log_close(&b->log);
	assert_int_equal(uv_loop_close(&b->loop), 0);
	snprintf(command, sizeof(command), "rm -rf %s", b->dir);
	assert_int_equal(system(command), 0);
	free(b);
	return 0;
}

static unsigned logged(struct bench *b, const char *what)
{
	char *text, *at;
	unsigned n = 0;
	size_t len;
	struct err e;

	assert_int_equal(file_read(b->log_path, &text, &len, &e), 0);
	for (at = text; (at = strstr(at, what)); at++)
		n++;
	free(text);
	return n;
}

/* Until the thread is done and told so. */
static void until_written(struct bench *b)
{
	run_state_writer_flush(&b->k);
	while (b->k.busy || b->k.soon)
		uv_run(&b->loop, UV_RUN_ONCE);
}

TEST(the_next_manager_restores_the_state)
{
	struct bench *b = *state;
	struct sm *sm;
	unsigned lmc;

	writer_open(b);
	run_state_writer_add_lid(&b->k, 0x10, 7, 0);
	run_state_writer_add_lid(&b->k, 0x20, 8, 2);
	run_state_writer_add_lid(&b->k, 0x10, 6, 0); /* another one since */
	run_state_writer_add_name(&b->k, 0x10, "leaf");
	until_written(b);
	run_state_writer_add_lid(&b->k, 0x30, 12, 0); /* is written at the end */
	writer_close(b);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 3);
	sm = sm_new(&b->cfg);
	run_state_writer_seed(&b->k, sm);
	assert_int_equal(sm_lid_of(sm, 0x10, &lmc), 6);
	assert_int_equal(sm_lid_of(sm, 0x20, &lmc), 8);
	assert_int_equal(lmc, 2);
	assert_int_equal(sm_lid_of(sm, 0x30, &lmc), 12);
	sm_free(sm);
	writer_close(b);
}

/* Without being asked, not long after. */
TEST(state_is_written_without_a_request)
{
	struct bench *b = *state;

	writer_open(b);
	run_state_writer_add_lid(&b->k, 0x10, 7, 0);
	while (b->k.pending.n || b->k.busy)
		uv_run(&b->loop, UV_RUN_ONCE);
	assert_int_equal(b->k.writing.n, 0);
	writer_close(b);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

TEST(a_full_disk_is_reported_once)
{
	struct bench *b = *state;
	char path[112];
	struct stat st;

	writer_open(b);
	snprintf(path, sizeof(path), "%s-wal", b->db);
	assert_int_equal(stat(path, &st), 0);
	limit_files((rlim_t)st.st_size + 1024); /* the log of the test is shorter */
	for (unsigned i = 1; i <= 3; i++) {
		run_state_writer_add_lid(&b->k, 0x100 * i, (uint16_t)i, 0);
		until_written(b);
	}
	limit_files(RLIM_INFINITY);
	assert_int_equal(logged(b, "state_failed"), 1);
	until_written(b);
	assert_int_equal(logged(b, "state_written"), 1);
	writer_close(b);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 3);
	writer_close(b);
}

TEST(a_full_disk_at_the_start)
{
	struct bench *b = *state;

	limit_files(1024);
	writer_open(b);
	run_state_writer_add_lid(&b->k, 0x10, 7, 0); /* goes nowhere, but is known */
	run_state_writer_add_name(&b->k, 0x10, "leaf");
	until_written(b);
	limit_files(RLIM_INFINITY);
	assert_int_equal(logged(b, "state_failed"), 1);
	assert_int_equal(b->k.lids.n, 1);
	until_written(b);
	assert_int_equal(logged(b, "state_written"), 1);
	writer_close(b);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 1);
	writer_close(b);
}

/* What is there can be read without room to write. */
TEST(a_full_disk_at_the_next_start)
{
	struct bench *b = *state;

	writer_open(b);
	run_state_writer_add_lid(&b->k, 0x10, 7, 0);
	writer_close(b);
	limit_files(1024);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 1);
	run_state_writer_add_lid(&b->k, 0x20, 8, 0);
	until_written(b);
	assert_int_equal(logged(b, "state_failed"), 1);
	limit_files(RLIM_INFINITY);
	until_written(b);
	writer_close(b);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 2);
	writer_close(b);
}

/* Nor for one that was killed: what it wrote last is in SQLite's log alone. */
TEST(a_full_disk_after_a_kill)
{
	struct bench *b = *state;
	int status;
	pid_t pid = fork();

	if (!pid) {
		writer_open(b);
		run_state_writer_add_lid(&b->k, 0x10, 7, 0);
		until_written(b);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	limit_files(1024);
	writer_open(b);
	assert_int_equal(b->k.lids.n, 1);
	limit_files(RLIM_INFINITY);
	writer_close(b);
}

TEST(a_file_that_is_not_a_state_file_is_refused)
{
	struct bench *b = *state;
	struct err e;

	assert_int_equal(file_write(b->db, "not a database, far from it\n", 28, &e), 0);
	sm_config_default(&b->cfg);
	assert_int_not_equal(run_state_writer_open(&b->k, &b->loop, &b->log, b->db, &b->cfg, &e),
			     0);
	run_state_writer_close(&b->k); /* does no harm */
	assert_non_null(strstr(e.text, b->db));
}

TEST(without_a_file_state_is_kept_in_memory)
{
	struct bench *b = *state;

	b->db[0] = 0;
	writer_open(b);
	run_state_writer_add_lid(&b->k, 0x10, 7, 0);
	run_state_writer_add_name(&b->k, 0x10, "x");
	run_state_writer_flush(&b->k);
	assert_false(b->k.busy);
	assert_int_equal(b->k.lids.n, 1);
	writer_close(b);
}

TEST(keys_are_restored)
{
	struct bench *b = *state;
	struct err e;

	sm_config_default(&b->cfg);
	b->cfg.m_key = 0xabc;
	assert_int_equal(run_state_writer_open(&b->k, &b->loop, &b->log, b->db, &b->cfg, &e), 0);
	writer_close(b);
	sm_config_default(&b->cfg);
	b->cfg.m_key = 0xdef;
	assert_int_equal(run_state_writer_open(&b->k, &b->loop, &b->log, b->db, &b->cfg, &e), 0);
	assert_int_equal(b->cfg.m_keys[0], 0xabc);
	assert_int_equal(b->cfg.m_keys[1], 0);
	writer_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_next_manager_restores_the_state, setup,
						teardown),
		cmocka_unit_test_setup_teardown(state_is_written_without_a_request, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_is_reported_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_at_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_at_the_next_start, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_after_a_kill, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_a_state_file_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_a_file_state_is_kept_in_memory, setup,
						teardown),
		cmocka_unit_test_setup_teardown(keys_are_restored, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
