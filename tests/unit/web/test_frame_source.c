/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine process with checkpoints, on an engine that this file stands in for: each event takes a picosecond and
 * changes a sum, so that the sum at any moment tells the whole course of the run.
 * Covers: frame_source.c, engine_process.c, child_death.c
 */
#include "unit_test.h"

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "web/checkpoints.h"
#include "web/engine_process.h"
#include "web/frame_source.h"
#include "window/window.h"

/* ---- the engine ---- */

struct window {
	void (*emit)(void *ctx, const uint8_t *frame, size_t len);
	void *ctx;
	uint64_t now, target;
	uint64_t sum;
	bool running, going;
	unsigned runs;
	VEC(struct journal_event) past, to_come;
};

static uint64_t mix(uint64_t sum, uint64_t v)
{
	return (sum ^ v) * 0x9e3779b97f4a7c15 + 1;
}

struct window *window_new(void (*emit)(void *ctx, const uint8_t *frame, size_t len), void *ctx)
{
	struct window *w = mem_zalloc(sizeof(*w));

	w->emit = emit;
	w->ctx = ctx;
	return w;
}

void window_free(struct window *w)
{
	free(w);
}

time_ps window_now(const struct window *w, uint64_t *events)
{
	*events = w->now;
	return w->now;
}

bool window_is_going(const struct window *w)
{
	return w->going;
}

unsigned window_runs(const struct window *w)
{
	return w->runs;
}

time_ps window_next_fault(const struct window *w)
{
	return w->to_come.n ? w->to_come.at[0].at : TIME_NEVER;
}

size_t window_journal(const struct window *w, void (*each)(void *ctx, time_ps at, const char *text),
		      void *ctx)
{
	for (size_t i = 0; each && i < w->past.n; i++)
		each(ctx, w->past.at[i].at, w->past.at[i].text);
	for (size_t i = 0; each && i < w->to_come.n; i++)
		each(ctx, w->to_come.at[i].at, w->to_come.at[i].text);
	return w->past.n;
}

static void emit_frame(struct window *w, unsigned kind, const void *data, size_t len)
{
	struct frame *f = frame_new(kind, data, len);

	w->emit(w->ctx, f->data, f->len);
	frame_unref(f);
}

static void emit_state(struct window *w)
{
	uint64_t v[] = {w->now, w->now, w->sum};

	emit_frame(w, FRAME_STATE, v, sizeof(v));
}

static void happen(struct window *w, const char *text)
{
	for (const char *s = text; *s; s++)
		w->sum = mix(w->sum, (unsigned char)*s);
}

static void events_to_come(struct window *w, json_t *events)
{
	json_t *o;
	size_t i;

	w->to_come.n = 0;
	json_array_foreach(events, i, o)
	{
		struct journal_event ev = {
			.text = mem_strdup(json_string_value(json_object_get(o, "text")))};

		parse_u64(json_string_value(json_object_get(o, "at")), &ev.at);
		vec_push(&w->to_come, ev);
	}
}

static void event(struct window *w, const char *text)
{
	char line[128];

	snprintf(line, sizeof(line), "{\"journal\":{\"at\":\"%llu\",\"text\":\"%s\"}}",
		 (unsigned long long)w->now, text);
	w->to_come.n = 0;
	happen(w, text);
	vec_push(&w->past, (struct journal_event){w->now, mem_strdup(text)});
	emit_frame(w, FRAME_JSON, line, strlen(line));
}

static void run_command(struct window *w, const char *cmd, json_t *a)
{
	const char *text = json_string_value(json_object_get(a, "text"));
	const json_t *time = json_object_get(a, "at");
	uint64_t at = (uint64_t)json_integer_value(time);

	if (json_is_string(time))
		parse_u64(json_string_value(time), &at);
	if (!strcmp(cmd, "start"))
		w->now = w->sum = 10, w->running = w->going = false, w->runs++, w->past.n = 0,
		w->to_come.n = 0, emit_state(w);
	else if (!strcmp(cmd, "run"))
		w->running = true;
	else if (!strcmp(cmd, "pause"))
		w->running = false;
	else if (!strcmp(cmd, "go"))
		w->target = at, w->running = w->going = true;
	else if (!strcmp(cmd, "event"))
		event(w, text);
	else if (!strcmp(cmd, "journal"))
		events_to_come(w, json_object_get(a, "events"));
	else if (!strcmp(cmd, "open"))
		emit_frame(w, FRAME_FABRIC, "", 0);
	else if (!strcmp(cmd, "fault"))
		raise(SIGSEGV);
	else if (!strcmp(cmd, "crash") || (text && !strcmp(text, "crash")))
		signal(SIGABRT, SIG_DFL), abort();
	while (!strcmp(cmd, "hang"))
		;
}

void window_command(struct window *w, const char *json, size_t len)
{
	json_t *a = json_loadb(json, len, 0, NULL);
	const char *cmd = json_string_value(json_object_get(a, "cmd"));
	char line[128];

	snprintf(line, sizeof(line), "{\"re\":%d,\"ok\":true,\"now\":%llu}",
		 (int)json_integer_value(json_object_get(a, "id")), (unsigned long long)w->now);
	run_command(w, cmd ? cmd : "", a);
	emit_frame(w, FRAME_JSON, line, strlen(line));
	json_decref(a);
}

bool window_work(struct window *w, uint64_t wall_us UNUSED, uint64_t events)
{
	bool going = w->going;

	for (; w->running && events; events--) {
		while (w->to_come.n && w->to_come.at[0].at == w->now) {
			happen(w, w->to_come.at[0].text);
			vec_push(&w->past, w->to_come.at[0]);
			memmove(w->to_come.at, w->to_come.at + 1,
				--w->to_come.n * sizeof(*w->to_come.at));
		}
		if (going && w->now >= w->target) {
			w->running = w->going = false;
			break;
		}
		w->sum = mix(w->sum, ++w->now);
	}
	if (!w->going)
		emit_state(w);
	return w->running;
}

/* The sum at this moment, with an event at another one. */
static uint64_t expected(uint64_t at, uint64_t event_at, const char *text)
{
	uint64_t sum = 10;

	for (uint64_t t = 10; t < at; t++) {
		if (t == event_at)
			for (const char *s = text; *s; s++)
				sum = mix(sum, (unsigned char)*s);
		sum = mix(sum, t + 1);
	}
	return sum;
}

/* ---- the web process ---- */

struct world {
	uv_loop_t loop;
	struct frame_source *s;
	uint64_t now, sum, journal_at;
	unsigned states;
	char reply[128];
	int re;
	bool ended;
};

static void got_frame(void *ctx, struct frame *f)
{
	struct world *w = ctx;
	char text[128];

	if (frame_kind(f) == FRAME_STATE) {
		w->states++;
		w->now = frame_u64(f->data + 8);
		w->sum = frame_u64(f->data + 24);
	}
	if (frame_kind(f) != FRAME_JSON)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)(f->len - FRAME_HEAD),
		 (char *)f->data + FRAME_HEAD);
	if (sscanf(text, "{\"re\":%d", &w->re) == 1)
		strcpy(w->reply, text);
	else
		sscanf(text, "{\"journal\":{\"at\":\"%lu", &w->journal_at);
}

static void ended(void *ctx)
{
	((struct world *)ctx)->ended = true;
}

static int setup(void **world)
{
	struct world *w = mem_zalloc(sizeof(*w));

	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	uv_loop_init(&w->loop);
	w->s = frame_source_start(&w->loop, engine_process, NULL, true,
				  &(struct frame_source_ops){got_frame, ended, w});
	assert_non_null(w->s);
	*world = w;
	return 0;
}

/* Children of this process, which is the one that orphans come to. */
static unsigned children(void)
{
	char path[64], text[4096] = "";
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		for (const char *s = text; *s; s++)
			n += *s == ' ';
	if (f)
		fclose(f);
	return n;
}

static int teardown(void **world)
{
	struct world *w = *world;

	frame_source_free(w->s);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	for (int i = 0; i < 500 && children(); i++)
		usleep(10000);
	assert_int_equal(children(), 0);
	free(w);
	return 0;
}

static bool say(struct world *w, const char *json)
{
	struct strbuf s = {0};
	bool ok;

	strbuf_add(&s, json);
	ok = frame_source_command(w->s, &s);
	strbuf_free(&s);
	return ok;
}

static void await_reply(struct world *w, int re)
{
	while (w->re != re && !w->ended)
		uv_run(&w->loop, UV_RUN_ONCE);
}

/* To this moment, as the page does it; returns the sum there. */
static uint64_t go(struct world *w, uint64_t at)
{
	static int id = 1000;
	unsigned states = w->states;
	char text[128];

	snprintf(text, sizeof(text), "{\"cmd\":\"go\",\"id\":%d,\"at\":%llu}", ++id,
		 (unsigned long long)at);
	assert_true(say(w, text));
	await_reply(w, id);
	while (!w->ended && (w->now != at || w->states == states))
		uv_run(&w->loop, UV_RUN_ONCE);
	assert_false(w->ended);
	return w->sum;
}

TEST(to_any_moment)
{
	struct world *w = *state;
	struct timespec a, b;
	double took;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	await_reply(w, 1);
	assert_int_equal(go(w, 6000000), expected(6000000, -1ull, ""));
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(go(w, 3000123), expected(3000123, -1ull, ""));
	clock_gettime(CLOCK_MONOTONIC, &b);
	took = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	assert_true(took < 5);
	/* A run begins at 10. */
	assert_true(say(w, "{\"cmd\":\"go\",\"id\":2,\"at\":\"3\"}"));
	while (w->now != 10)
		uv_run(&w->loop, UV_RUN_ONCE);
	assert_int_equal(w->sum, 10);
	/* From a later checkpoint than the engine's own time. */
	assert_int_equal(go(w, 5900001), expected(5900001, -1ull, ""));
	assert_true(children() > 8);
}

/* A link that was shared: its events are to come when the run begins, and again after each step back. */
TEST(a_journal_that_is_given)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	say(w,
	    "{\"cmd\":\"journal\",\"id\":2,\"events\":[{\"at\":\"700000\",\"text\":\"kill a\"}]}");
	await_reply(w, 2);
	assert_int_equal(go(w, 1200000), expected(1200000, 700000, "kill a"));
	assert_int_equal(go(w, 100000), expected(100000, -1ull, ""));
	assert_int_equal(go(w, 900000), expected(900000, 700000, "kill a"));
}

/* What was to come is taken back: checkpoints after it belong to another course. */
TEST(a_journal_with_fewer_events)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	say(w,
	    "{\"cmd\":\"journal\",\"id\":2,\"events\":[{\"at\":\"700000\",\"text\":\"kill a\"}]}");
	await_reply(w, 2);
	assert_int_equal(go(w, 2200000), expected(2200000, 700000, "kill a"));
	assert_int_equal(go(w, 100000), expected(100000, -1ull, ""));
	say(w, "{\"cmd\":\"journal\",\"id\":3,\"events\":[]}");
	await_reply(w, 3);
	assert_int_equal(go(w, 2100000), expected(2100000, -1ull, ""));
	assert_int_equal(go(w, 90000), expected(90000, -1ull, ""));
	assert_int_equal(go(w, 900000), expected(900000, -1ull, ""));
}

TEST(another_course_of_the_run)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	go(w, 1200000);
	say(w, "{\"cmd\":\"event\",\"id\":2,\"text\":\"kill a\"}");
	await_reply(w, 2);
	assert_int_equal(w->journal_at, 1200000);
	assert_int_equal(go(w, 2000001), expected(2000001, 1200000, "kill a"));
	/* Back, and forward again: the event happens again. */
	assert_int_equal(go(w, 700000), expected(700000, -1ull, ""));
	assert_int_equal(go(w, 1999999), expected(1999999, 1200000, "kill a"));
	assert_int_equal(go(w, 1300000), expected(1300000, 1200000, "kill a"));
	/* At its very moment, behind it, one more. */
	go(w, 1200000);
	say(w, "{\"cmd\":\"event\",\"id\":5,\"text\":\"kill b\"}");
	await_reply(w, 5);
	assert_int_equal(go(w, 1700000), expected(1700000, 1200000, "kill akill b"));
	assert_int_equal(go(w, 900000), expected(900000, -1ull, ""));
	assert_int_equal(go(w, 1250000), expected(1250000, 1200000, "kill akill b"));
	/* Back before it, and something else is done: it never happens. */
	go(w, 600000);
	say(w, "{\"cmd\":\"event\",\"id\":3,\"text\":\"unlink b\"}");
	await_reply(w, 3);
	assert_int_equal(go(w, 2100000), expected(2100000, 600000, "unlink b"));
	assert_int_equal(go(w, 1250000), expected(1250000, 600000, "unlink b"));
	/* A new run has no past. */
	say(w, "{\"cmd\":\"start\",\"id\":4}");
	await_reply(w, 4);
	assert_int_equal(go(w, 650000), expected(650000, -1ull, ""));
}

TEST(commands_keep_their_order)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	go(w, 600000);
	say(w, "{\"cmd\":\"go\",\"id\":2,\"at\":1000}");
	say(w, "{\"cmd\":\"pause\",\"id\":3}");
	await_reply(w, 3);
	assert_string_equal(strstr(w->reply, "\"now\""),
			    "\"now\":10}"); /* the woken one, before it goes */
}

TEST(a_run_at_full_speed)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	say(w, "{\"cmd\":\"run\",\"id\":2}");
	while (w->now < 1000000)
		uv_run(&w->loop, UV_RUN_ONCE);
	assert_int_equal(go(w, 300000), expected(300000, -1ull, ""));
}

TEST(an_engine_says_why_it_ends)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	go(w, 1200000);
	go(w, 600000); /* from a checkpoint */
	say(w, "{\"cmd\":\"fault\",\"id\":2}");
	while (!w->ended)
		uv_run(&w->loop, UV_RUN_ONCE);
	assert_non_null(strstr(frame_source_why(w->s), "SIGSEGV"));
	assert_non_null(strstr(frame_source_why(w->s), "{\"cmd\":\"fault\""));
}

TEST(an_engine_that_crashes_or_hangs)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	go(w, 600000);
	say(w, "{\"cmd\":\"crash\",\"id\":2}");
	await_reply(w, 2);
	assert_true(w->ended);
	assert_false(say(w, "{\"cmd\":\"run\",\"id\":3}"));
	assert_int_equal(setup(state), 0);
	frame_source_free(w->s);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	uv_loop_close(&w->loop);
	free(w);
	w = *state;
	say(w, "{\"cmd\":\"hang\",\"id\":4}");
}

TEST(what_ifs_beside_the_run)
{
	struct world *w = *state;

	say(w, "{\"cmd\":\"start\",\"id\":1}");
	say(w, "{\"cmd\":\"whatif\",\"id\":2,\"text\":\"kill a\"}");
	await_reply(w, 2);
	assert_non_null(strstr(w->reply, "\"ok\":true"));
	say(w, "{\"cmd\":\"whatif\",\"id\":3,\"text\":\"crash\"}");
	await_reply(w, 3);
	assert_non_null(strstr(w->reply, "\"error\""));
	say(w, "{\"cmd\":\"run\",\"id\":4}");
	await_reply(w, 4);
	assert_false(w->ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(to_any_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(a_journal_that_is_given, setup, teardown),
		cmocka_unit_test_setup_teardown(a_journal_with_fewer_events, setup, teardown),
		cmocka_unit_test_setup_teardown(another_course_of_the_run, setup, teardown),
		cmocka_unit_test_setup_teardown(commands_keep_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_run_at_full_speed, setup, teardown),
		cmocka_unit_test_setup_teardown(an_engine_says_why_it_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(an_engine_that_crashes_or_hangs, setup, teardown),
		cmocka_unit_test_setup_teardown(what_ifs_beside_the_run, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
