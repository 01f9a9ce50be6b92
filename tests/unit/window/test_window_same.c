/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The window and the program agree: a script repeats a run with `weft sim trial --replay`, and whatif has the figures of
 * `weft sim change`. The first argument is the program.
 * Covers: window_commands.c, window_whatif.c
 */
#include "unit_test.h"

#include "window_page.h"

#include <sys/wait.h>
#include <unistd.h>

static const char *program;

/* What a command prints as JSON. */
static json_t *weft(const char *dir, char **argv)
{
	struct strbuf out = {0};
	int status;
	json_t *j;
	pid_t pid;

	strbuf_addf(&out, "%s/out.json", dir);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!freopen(out.s, "w", stdout))
			_exit(9);
		execv(program, argv);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	j = json_load_file(out.s, 0, NULL);
	assert_non_null(j);
	unlink(out.s);
	strbuf_free(&out);
	return j;
}

static void save(char *path, size_t size, const char *dir, const char *name, const char *text)
{
	struct err e;

	snprintf(path, size, "%s/%s", dir, name);
	if (file_write(path, text, strlen(text), &e))
		fail_msg("%s", e.text);
}

static const char *figure(struct page *p, const char *name)
{
	json_t *v, *all = json_object_get(p->reply, "figures");
	size_t i;

	json_array_foreach(all, i,
			   v) if (!strcmp(json_string_value(json_array_get(v, 0)),
					  name)) return json_string_value(json_array_get(v, 1));
	fail_msg("no figure %s", name);
	return NULL;
}

TEST(what_if_has_the_figures_of_sim_change)
{
	char dir[] = "/tmp/weft-same-XXXXXX", net[100];
	char *argv[] = {"weft",	  "sim", "change",   net,      "--kill", "S-0002000000000006",
			"--load", "5%",	 "--routes", "update", "--json", NULL};
	json_t *j, *packets;
	struct page p;

	assert_non_null(mkdtemp(dir));
	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'mtree 4 2'}");
	ask(&p, "{'cmd':'netlist'}");
	save(net, sizeof(net), dir, "a.net", text_of(&p, "text"));
	j = weft(dir, argv);
	ask(&p, "{'cmd':'whatif','kill':'S-0002000000000006','load':5}");
	assert_string_equal(json_string_value(json_object_get(j, "trace_hash")),
			    text_of(&p, "hash"));
	packets = json_object_get(json_object_get(j, "packets"), "discarded");
	assert_int_equal(json_integer_value(json_object_get(packets, "total")),
			 atoi(figure(&p, "packets lost")));
	json_decref(j);
	/* A link. */
	argv[4] = "--unlink";
	argv[5] = "S-0002000000000006[1]";
	j = weft(dir, argv);
	ask(&p, "{'cmd':'whatif','unlink':{'node':'S-0002000000000006','port':1},'load':5}");
	assert_string_equal(json_string_value(json_object_get(j, "trace_hash")),
			    text_of(&p, "hash"));
	json_decref(j);
	page_close(&p);
	unlink(net);
	rmdir(dir);
}

TEST(a_script_repeats_the_run_of_a_netlist)
{
	char dir[] = "/tmp/weft-same-XXXXXX", net[100], script[100];
	char *argv[] = {"weft", "sim", "trial", "--replay", script, "--json", NULL};
	json_t *j, *open;
	struct page p;
	char *text;

	assert_non_null(mkdtemp(dir));
	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'ring 4'}");
	ask(&p, "{'cmd':'netlist'}");
	save(net, sizeof(net), dir, "ring.net", text_of(&p, "text"));
	open = json_pack("{s:s,s:s,s:s}", "cmd", "open", "name", "ring.net", "netlist",
			 text_of(&p, "text"));
	text = json_dumps(open, 0);
	say(&p, text);
	ask(&p, "{'cmd':'start'}");
	go(&p, 30000);
	ask(&p, "{'cmd':'event','text':'off S-0002000000000003'}");
	go(&p, 45000);
	ask(&p, "{'cmd':'script'}");
	save(script, sizeof(script), dir, "run.schedule", text_of(&p, "text"));
	j = weft(dir, argv);
	/* 0x before the digits */
	assert_string_equal(json_string_value(json_object_get(j, "faults_trace_hash")) + 2,
			    text_of(&p, "hash"));
	json_decref(j);
	json_decref(open);
	free(text);
	page_close(&p);
	unlink(script);
	unlink(net);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_if_has_the_figures_of_sim_change),
		cmocka_unit_test(a_script_repeats_the_run_of_a_netlist),
	};

	program = argc > 1 ? argv[1] : "weft";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
