/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine of the page: what commands answer, what frames hold, and that a script repeats a run.
 * Covers: window.c, window_args.c, window_commands.c, window_fabric.c, window_flights.c, window_frames.c, window_journal.c, window_links.c,
 * window_lanes.c, window_log.c, window_run.c, window_series.c, window_setup.c, schedule_play.c
 */
#include "unit_test.h"

#include "trial/schedule_run.h"
#include "window_page.h"

#define RING "{'cmd':'generate','words':'ring 4'}"

TEST(a_fabric_is_shown)
{
	struct page p;
	const uint8_t *f;
	uint32_t nodes, links;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'mtree 4 2','id':7}");
	assert_int_equal(json_integer_value(json_object_get(p.reply, "re")), 7);
	f = p.last[WINDOW_FABRIC];
	nodes = (uint32_t)number(f + 12, 4);
	links = (uint32_t)number(f + 16, 4);
	assert_int_equal(nodes, json_integer_value(json_object_get(p.reply, "nodes")));
	assert_int_equal(links, json_integer_value(json_object_get(p.reply, "links")));
	assert_true(p.len[WINDOW_FABRIC] >=
		    28 + 28 * nodes + 12 * links + 24 * number(f + 20, 4) + number(f + 24, 4));
	assert_int_equal(p.len[WINDOW_STATE], 28 + (nodes + 3) / 4 * 4 + (3 * links + 3) / 4 * 4);
	for (uint32_t i = 0; i < links; i++)
		assert_true(number(f + 28 + 28 * nodes + 12 * i, 4) < nodes);
	page_close(&p);
}

TEST(a_netlist_comes_back)
{
	struct page p;
	char *text;
	json_t *open;

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'netlist'}");
	open = json_pack("{s:s,s:s,s:s}", "cmd", "open", "name", "../a b.net", "netlist",
			 text_of(&p, "text"));
	text = json_dumps(open, 0);
	say(&p, text);
	assert_string_equal(text_of(&p, "name"), "a_b.net");
	assert_int_equal(number(p.last[WINDOW_FABRIC] + 8, 4), 2);
	free(text);
	json_decref(open);
	page_close(&p);
}

/* One master and two standbys, as the sample of Kim et al. has them. */
TEST(managers_elect_a_master)
{
	struct page p;
	const uint8_t *m;

	page_open(&p);
	ask(&p, RING);
	ask(&p,
	    "{'cmd':'setup','managers':[{'node':'S-0002000000000001','priority':2},"
	    "{'node':'0x0002000000000003','start_us':20.5,'sm_key':'1'},{'node':5,'priority':1,'mechanism':'weft'}]}");
	ask(&p, "{'cmd':'start'}");
	assert_int_equal(json_integer_value(json_object_get(p.reply, "managers")), 3);
	assert_int_equal(now_of(&p), 0);
	go(&p, 60000);
	m = p.last[WINDOW_STATE] + p.len[WINDOW_STATE] - 24;
	assert_int_equal(m[4], 3);
	assert_int_equal(m[12], 2);
	assert_int_equal(m[20], 2);
	assert_int_equal(m[7], 2);
	assert_int_equal(p.last[WINDOW_STATE][28], 7);
	page_close(&p);
}

/* A moment is reached without frames: what managers did on the way is known all the same. */
TEST(lanes_know_what_no_frame_showed)
{
	json_t *lanes, *step;
	uint64_t last = 0, master_at = UINT64_MAX;
	struct page p;

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'start'}");
	go(&p, 60000);
	ask(&p, "{'cmd':'series'}");
	lanes = json_object_get(p.reply, "lanes");
	assert_true(json_array_size(lanes) > 5);
	for (size_t i = 0; i < json_array_size(lanes); i++) {
		uint64_t at;

		step = json_array_get(lanes, i);
		at = strtoull(json_string_value(json_array_get(step, 1)), NULL, 10);
		assert_true(at >= last && at <= now_of(&p));
		last = at;
		if (json_integer_value(json_array_get(step, 2)) == 3)
			master_at = MIN(master_at, at);
	}
	assert_true(master_at < now_of(&p) / 2);
	page_close(&p);
}

TEST(speed_and_steps)
{
	struct page p;
	uint64_t events, before;

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'speed','speed':500000}");
	ask(&p, "{'cmd':'start'}");
	assert_true(window_work(p.w, 40000, ALL));
	assert_int_equal(now_of(&p), 20 * PS_PER_MS);
	assert_true(p.count[WINDOW_SMPS]);
	ask(&p, "{'cmd':'speed','speed':0}");
	assert_false(window_work(p.w, 40000, ALL));
	events = number(p.last[WINDOW_STATE] + 16, 8);
	ask(&p, "{'cmd':'step','what':'event'}");
	assert_false(window_work(p.w, 0, ALL));
	assert_int_equal(number(p.last[WINDOW_STATE] + 16, 8), events + 1);
	before = now_of(&p);
	ask(&p, "{'cmd':'step','what':'phase'}");
	while (window_work(p.w, 0, 100))
		;
	assert_true(now_of(&p) > before);
	assert_int_not_equal(p.last[WINDOW_STATE][p.len[WINDOW_STATE] - 3], 0);
	ask(&p, "{'cmd':'speed','speed':'max'}");
	assert_true(window_work(p.w, 0, 1000));
	page_close(&p);
}

/* ---- a script repeats a run ---- */

static void expect_same(struct page *p)
{
	struct schedule_result out;
	struct schedule s;
	struct fab *f;
	struct err e;
	char hash[24];

	ask(p, "{'cmd':'script'}");
	if (schedule_read(&s, &f, "script", text_of(p, "text"), strlen(text_of(p, "text")), &e))
		fail_msg("%s\n%s", e.text, text_of(p, "text"));
	schedule_run(&s, NULL, &out);
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)out.trace);
	assert_string_equal(hash, text_of(p, "hash"));
	fab_free(f);
	schedule_free(&s);
}

static void some_steps(struct page *p, unsigned n)
{
	while (n--) {
		ask(p, "{'cmd':'step','what':'event'}");
		window_work(p->w, 0, 1);
	}
}

static void click_about(struct page *p)
{
	ask(p, "{'cmd':'start'}");
	ask(p, "{'cmd':'speed','speed':1000}");
	for (unsigned i = 0; i < 30; i++)
		window_work(p->w, 33333, 777);
	some_steps(p, 300);
	ask(p, "{'cmd':'event','text':'unlink S-0002000000000002[1]'}");
	some_steps(p, 20);
	ask(p, "{'cmd':'event','text':'loss 2%'}");
	go(p, 40123);
	ask(p, "{'cmd':'event','text':'pause 0'}");
	ask(p, "{'cmd':'event','text':'reboot S-0002000000000003 300us'}");
	ask(p, "{'cmd':'speed','speed':'max'}");
	window_work(p->w, 0, 2000);
	go(p, 200000);
}

/* However it was run to a moment, in slices that end anywhere or at once, the moment is the same. Loads are shares of the
 * time since the last frame: they may differ, and stay while no time passes. */
TEST(a_moment_does_not_depend_on_the_way_there)
{
	struct page p;
	uint64_t now, events;
	unsigned busy = 0, n;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'mtree 4 2'}");
	ask(&p, "{'cmd':'setup','managers':[{'node':'H-0001000000000010'}],'load':5}");
	ask(&p, "{'cmd':'start'}");
	go(&p, 60000);
	ask(&p, "{'cmd':'speed','speed':1000}");
	for (unsigned i = 0; i < 50; i++)
		window_work(p.w, 100000, i < 49 ? 97 : 20011);
	n = (unsigned)number(p.last[WINDOW_FABRIC] + 16, 4);
	ask(&p, "{'cmd':'speed','speed':0}");
	now = now_of(&p);
	events = number(p.last[WINDOW_STATE] + 16, 8);
	for (unsigned i = 0; i < 3 * n; i += 3)
		busy += p.last[WINDOW_STATE][28 + 16 + i + 1] > 0;
	assert_true(busy > n / 2);
	ask(&p, "{'cmd':'start'}");
	ask(&p, "{'cmd':'speed','speed':0}");
	go_ps(&p, now);
	assert_int_equal(number(p.last[WINDOW_STATE] + 16, 8), events);
	page_close(&p);
}

TEST(a_script_repeats_a_run)
{
	struct page p;

	page_open(&p);
	ask(&p, RING);
	ask(&p,
	    "{'cmd':'setup','seed':5,'managers':[{'node':'S-0002000000000001','priority':2},{'node':4}]}");
	click_about(&p);
	expect_same(&p);
	ask(&p, "{'cmd':'setup','seed':6,'traffic':'200us'}");
	click_about(&p);
	expect_same(&p);
	page_close(&p);
}

/* Traffic that waits for the first rest, or until the script ends before it. */
TEST(traffic_starts_at_the_same_time)
{
	struct page p;

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'setup','traffic':'300us'}");
	ask(&p, "{'cmd':'start'}");
	go(&p, 12333);
	expect_same(&p);
	some_steps(&p, 1000);
	go(&p, 60000);
	ask(&p, "{'cmd':'speed','speed':'max'}");
	window_work(p.w, 0, 20000);
	assert_true(p.count[WINDOW_PACKETS]);
	expect_same(&p);
	page_close(&p);
}

/* A run that is made again by its journal, as after going back to a checkpoint. */
TEST(a_journal_repeats_a_run)
{
	static const char events[] =
		"{'cmd':'journal','events':[{'at':'30000000000','text':'off S-0002000000000003'},"
		"{'at':'30000000000','text':'crash 0'},{'at':41000000000,'text':'restart 0 with-lids'}]}";
	struct page p;
	char hash[20];

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'start'}");
	go(&p, 30000);
	ask(&p, "{'cmd':'event','text':'off S-0002000000000003'}");
	ask(&p, "{'cmd':'event','text':'crash 0'}");
	go(&p, 41000);
	ask(&p, "{'cmd':'event','text':'restart 0 with-lids'}");
	go(&p, 50000);
	ask(&p, "{'cmd':'script'}");
	snprintf(hash, sizeof(hash), "%s", text_of(&p, "hash"));
	ask(&p, "{'cmd':'start'}");
	ask(&p, events);
	go(&p, 35000);
	ask(&p, events); /* those that have happened are known */
	assert_int_equal(json_integer_value(json_object_get(p.reply, "to_come")), 1);
	go(&p, 50000);
	ask(&p, "{'cmd':'script'}");
	assert_string_equal(hash, text_of(&p, "hash"));
	page_close(&p);
}

/* ---- messages ---- */

TEST(the_log_has_lines_and_mads)
{
	struct page p;
	const uint8_t *line;
	char text[80];

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'speed','speed':400000}");
	ask(&p, "{'cmd':'log','on':true,'method':'GetInfo','attribute':'NodeInfo','limit':50}");
	ask(&p, "{'cmd':'start'}");
	window_work(p.w, 50000, ALL);
	line = p.last[WINDOW_LOG] + 8;
	assert_memory_equal(line + 24, "SM ", 3);
	assert_non_null(
		strstr((const char *)line + 24, "sent a message GetInfo(NodeInfo) to node"));
	snprintf(text, sizeof(text), "{'cmd':'mad','seq':%u}", (unsigned)number(line, 4));
	ask(&p, text);
	assert_non_null(strstr(text_of(&p, "text"), "NodeInfo"));
	forget(&p);
	ask(&p, "{'cmd':'log','on':false}");
	window_work(p.w, 50000, ALL);
	assert_int_equal(p.count[WINDOW_LOG], 0);
	assert_true(p.count[WINDOW_SERIES]);
	page_close(&p);
}

/* ---- bad input ---- */

TEST(what_is_wrong_is_answered)
{
	static const char *const before[] = {
		"",
		"[",
		"7",
		"{}",
		"{\"cmd\":1}",
		"{\"cmd\":\"fly\"}",
		"{\"cmd\":\"start\"}",
		"{\"cmd\":\"setup\"}",
		"{\"cmd\":\"step\",\"what\":\"event\"}",
		"{\"cmd\":\"generate\",\"words\":\"\"}",
		"{\"cmd\":\"generate\",\"words\":\"mtree 9999 9999\"}",
		"{\"cmd\":\"generate\",\"words\":\"ring 4\\nseed 3\"}",
		"{\"cmd\":\"open\",\"netlist\":\"Switch\"}",
		"{\"cmd\":\"open\",\"netlist\":\"\\u0000\"}",
		"{\"cmd\":\"script\"}",
	};
	static const char *const after[] = {
		"{\"cmd\":\"setup\",\"managers\":[]}",
		"{\"cmd\":\"setup\",\"managers\":[{\"node\":99}]}",
		"{\"cmd\":\"setup\",\"managers\":[{\"node\":1},{\"node\":1}]}",
		"{\"cmd\":\"setup\",\"managers\":[{\"node\":1,\"priority\":99}]}",
		"{\"cmd\":\"setup\",\"managers\":[{\"node\":1,\"a b\":9}]}",
		"{\"cmd\":\"setup\",\"managers\":[{\"node\":1,\"mechanism\":\"x\\ny\"}]}",
		"{\"cmd\":\"setup\",\"traffic\":\"fast\"}",
		"{\"cmd\":\"speed\",\"speed\":-1}",
		"{\"cmd\":\"step\",\"what\":\"mile\"}",
		"{\"cmd\":\"go\",\"at\":-1}",
		"{\"cmd\":\"event\",\"text\":\"explode\"}",
		"{\"cmd\":\"event\",\"text\":\"crash 1\"}",
		"{\"cmd\":\"event\",\"text\":\"crash 0\\ncrash 0\"}",
		"{\"cmd\":\"event\",\"text\":\"unlink S-0002000000000001[99]\"}",
		"{\"cmd\":\"journal\",\"events\":[{\"at\":5,\"text\":\"join\"},{\"at\":4,\"text\":\"join\"}]}",
		"{\"cmd\":\"log\",\"node\":\"nobody\"}",
		"{\"cmd\":\"log\",\"method\":\"Fly\"}",
		"{\"cmd\":\"log\",\"attribute\":\"Fly\"}",
		"{\"cmd\":\"mad\",\"seq\":4000000}",
	};
	struct page p;

	page_open(&p);
	for (size_t i = 0; i < ARRAY_LEN(before) + ARRAY_LEN(after); i++) {
		const char *s = i < ARRAY_LEN(before) ? before[i] : after[i - ARRAY_LEN(before)];

		if (i == ARRAY_LEN(before)) {
			ask(&p, RING);
			ask(&p, "{'cmd':'start'}");
		}
		say(&p, s);
		if (!json_is_string(json_object_get(p.reply, "error")))
			fail_msg("no error: %s", s);
	}
	page_close(&p);
}

/* HCAs with virtual functions are shown as their devices are: a switch and a CA for each function. */
TEST(virtual_functions_are_nodes)
{
	struct page p;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'ring 4 hosts 1 vfs 2'}");
	assert_int_equal(json_integer_value(json_object_get(p.reply, "nodes")), 4 + 4 + 4 * 3);
	ask(&p, "{'cmd':'start'}");
	go(&p, 60000);
	expect_same(&p);
	page_close(&p);
}

/* A cable that is plugged elsewhere becomes a link. */
TEST(a_manager_moves)
{
	struct page p;
	uint64_t links;

	page_open(&p);
	ask(&p, "{'cmd':'generate','words':'ring 4 ports 8'}");
	links = number(p.last[WINDOW_FABRIC] + 16, 4);
	ask(&p, "{'cmd':'start'}");
	go(&p, 20000);
	ask(&p, "{'cmd':'event','text':'move 0 S-0002000000000003[8]'}");
	assert_int_equal(number(p.last[WINDOW_FABRIC] + 16, 4), links + 1);
	assert_int_equal(p.count[WINDOW_FABRIC], 2);
	go(&p, 60000);
	expect_same(&p);
	page_close(&p);
}

/* A page that is loaded again gets the lines that it had. */
TEST(lines_come_again)
{
	struct page p;
	uint8_t *last;
	size_t len;

	page_open(&p);
	ask(&p, RING);
	ask(&p, "{'cmd':'start'}");
	ask(&p, "{'cmd':'log','on':true,'method':'Get'}");
	ask(&p, "{'cmd':'speed','speed':1000}");
	while (!p.count[WINDOW_LOG])
		window_work(p.w, 100, 50);
	len = p.len[WINDOW_LOG];
	last = mem_alloc(len);
	memcpy(last, p.last[WINDOW_LOG], len);
	forget(&p);
	ask(&p, "{'cmd':'log','on':true,'method':'Get','last':10000}");
	assert_int_equal(p.count[WINDOW_LOG], 1);
	assert_int_equal(p.len[WINDOW_LOG], len);
	assert_memory_equal(p.last[WINDOW_LOG], last, len);
	free(last);
	page_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_is_shown),
		cmocka_unit_test(a_netlist_comes_back),
		cmocka_unit_test(managers_elect_a_master),
		cmocka_unit_test(lanes_know_what_no_frame_showed),
		cmocka_unit_test(speed_and_steps),
		cmocka_unit_test(a_moment_does_not_depend_on_the_way_there),
		cmocka_unit_test(a_script_repeats_a_run),
		cmocka_unit_test(traffic_starts_at_the_same_time),
		cmocka_unit_test(a_journal_repeats_a_run),
		cmocka_unit_test(the_log_has_lines_and_mads),
		cmocka_unit_test(what_is_wrong_is_answered),
		cmocka_unit_test(virtual_functions_are_nodes),
		cmocka_unit_test(lines_come_again),
		cmocka_unit_test(a_manager_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
