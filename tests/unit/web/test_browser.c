/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that leads a browser to the page: only its owner can read the token in it.
 */
#include "unit_test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "web/browser.h"

TEST(a_file_for_the_browser)
{
	struct browser_page p = {{0}};
	struct stat st;
	struct err e;
	char *text;
	size_t len;

	setenv("XDG_RUNTIME_DIR", "/tmp", 1);
	assert_true(browser_page_write(&p, "http://127.0.0.1:1/?token=abc"));
	assert_int_equal(stat(p.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(file_read(p.path, &text, &len, &e), 0);
	assert_non_null(strstr(text, "url=http://127.0.0.1:1/?token=abc\""));
	free(text);
	browser_close(&p);
	assert_int_equal(p.path[0], 0);
	browser_close(&p);
	/* Without a screen nothing is started. */
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	assert_false(browser_open(&p, "http://127.0.0.1:1/"));
	assert_int_equal(p.path[0], 0);
	/* Nowhere to write. */
	setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
	assert_false(browser_page_write(&p, "x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_for_the_browser),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
