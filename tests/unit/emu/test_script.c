/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of commands, and scripts of timed commands. Uses no sockets.
 */
#include "emu_fixture.h"

#include "emu/script.h"

static int setup(void **state)
{
	*state = emu_make(NULL, 8);
	return 0;
}

static int teardown(void **state)
{
	emu_close(*state);
	return 0;
}

TEST(files_are_run)
{
	struct emu *m = *state;
	char path[] = "/tmp/weft-emu-XXXXXX", line[64];
	int fd = mkstemp(path);
	static const char text[] = "# cut\nUnlink host0[1]\n\noff \"switch 2\"\n";

	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	snprintf(line, sizeof(line), " ! %s ", path);
	does(m, line);
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_DOWN);
	assert_false(sim_node_on(m->sim, 2));
	refuses(m, line, "is not linked"); /* the first fault ends it */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, line, strlen(line), 0), (ssize_t)strlen(line));
	refuses(m, line, "too many nested command files");
	close(fd);
	unlink(path);
	refuses(m, "!/nowhere/at/all", "No such file");
	refuses(m, "!", "expected the name of a file");
}

TEST(scripts_are_checked_first)
{
	struct emu *m = *state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"at 1s\n", "s:1: expected a time and a command after 'at'"},
		{"\n# x\nunlink host0\n",
		 "s:3: expected at TIME COMMAND or every TIME COMMAND, found 'unlink host0'"},
		{"at soon unlink host0\n",
		 "s:1: expected a time such as 2.5s or 200ms, found 'soon'"},
		{"at 1s unlink host0\nat 2s unlink host9\n",
		 "s:2: expected a node of the netlist, found 'host9'"},
		{"every 0 unlink host0\n", "s:1: expected a time"},
		{"at 1s wait 3\n", "s:1: expected a command that does something"},
		{"at 1s unlink \"host0\n", "s:1: expected a closing quote"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct script *s = NULL;
		char *text = mem_strdup(bad[i].text);
		struct err e;

		assert_int_equal(script_read(&s, m, "s", text, &e), -EINVAL);
		if (!strstr(e.text, bad[i].says))
			fail_msg("expected '%s', found '%s'", bad[i].says, e.text);
		assert_null(s);
		free(text);
	}
}

/* The loop runs until the script itself ends it: no clock decides. */
TEST(scripts_are_run)
{
	struct emu *m = *state;
	char *text =
		mem_strdup("at 3ms quit\nat 2ms relink host0[1] # again\nat 1ms unlink host0[1]\n"
			   "at 1ms unlink host0[1]\nat 2ms off \"switch 2\"\n");
	struct err e;

	assert_int_equal(script_read(&m->script, m, "s", text, &e), 0);
	free(text);
	emu_run(m);
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_INIT);
	assert_int_equal(state_of(m, "switch 0", 1), IBA_PORT_INIT);
	assert_false(sim_node_on(m->sim, 2));
}

int main(void)
{
#define EMU_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		EMU_TEST(files_are_run),
		EMU_TEST(scripts_are_checked_first),
		EMU_TEST(scripts_are_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
