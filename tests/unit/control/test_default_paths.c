/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Default directories, from the environment.
 */
#include "unit_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "control/default_paths.h"

static char dir[64];

static int setup(void **state UNUSED)
{
	strcpy(dir, "/tmp/weft-paths-XXXXXX");
	unsetenv("RUNTIME_DIRECTORY");
	unsetenv("STATE_DIRECTORY");
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("XDG_STATE_HOME");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state UNUSED)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

TEST(service_directories_come_first)
{
	char want[128], got[128], several[160];
	struct stat st;
	struct err e;

	snprintf(several, sizeof(several), "%s/a/b:%s/c", dir, dir);
	snprintf(want, sizeof(want), "%s/a/b/sm.sock", dir);
	setenv("RUNTIME_DIRECTORY", several, 1);
	setenv("STATE_DIRECTORY", several, 1);
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
	assert_int_equal(paths_runtime(got, sizeof(got), "sm.sock", &e), 0);
	assert_string_equal(got, want);
	assert_int_equal(paths_state(got, sizeof(got), "sm.sock", &e), 0);
	assert_string_equal(got, want);
	*strrchr(want, '/') = 0;
	assert_int_equal(stat(want, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

TEST(a_path_that_is_too_long_is_reported)
{
	char got[20];
	struct err e;

	setenv("RUNTIME_DIRECTORY", dir, 1);
	assert_int_equal(paths_runtime(got, sizeof(got), "sm.sock", &e), -ENAMETOOLONG);
}

TEST(a_file_in_place_of_the_directory_is_reported)
{
	char file[96], got[160];
	struct err e;

	snprintf(file, sizeof(file), "%s/file", dir);
	assert_int_equal(file_write(file, "x", 1, &e), 0);
	strcat(file, "/below");
	setenv("STATE_DIRECTORY", file, 1);
	assert_int_equal(paths_state(got, sizeof(got), "weft.db", &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "cannot create the directory"));
}

TEST(directories_that_clients_search)
{
	char got[128];

	assert_true(paths_runtime_at(0, got, sizeof(got)));
	assert_string_equal(got, "/run/weft");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_true(paths_runtime_at(0, got, sizeof(got)));
	assert_string_equal(got, "/run/user/7/weft");
	assert_true(paths_runtime_at(2, got, sizeof(got)));
	assert_false(paths_runtime_at(3, got, sizeof(got)));
	setenv("RUNTIME_DIRECTORY", "/run/weft-b", 1);
	assert_true(paths_runtime_at(0, got, sizeof(got)));
	assert_string_equal(got, "/run/weft-b");
	assert_false(paths_runtime_at(1, got, sizeof(got)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(service_directories_come_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_reported, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_file_in_place_of_the_directory_is_reported, setup,
						teardown),
		cmocka_unit_test_setup_teardown(directories_that_clients_search, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
