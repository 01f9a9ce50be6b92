/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to a manager's control socket: answers in order with records in between, long answers, a manager that
 * goes; and what pages may ask it for.
 * Covers: live_client.c, live_commands.c, live_refresh.c
 */
#include "unit_test.h"

#include <signal.h>
#include <unistd.h>

#include "control/lines.h"
#include "web/live_client.h"
#include "web/live_priv.h"
#include "web/live_process.h"

struct world {
	uv_loop_t loop;
	struct lines *l;
	struct live_client *c;
	char dir[64], path[80];
	unsigned tags[8], answers, records;
	size_t len;
	char record[64];
};

static void respond(void *ctx UNUSED, const char *line, struct strbuf *out)
{
	strbuf_add(out, "{\"ok\":true,\"x\":\"");
	for (int i = 0; !strcmp(line, "big") && i < 300000; i++)
		strbuf_add(out, "0123456789");
	strbuf_add(out, "\"}");
}

static void got_answer(void *ctx, unsigned tag, char *line UNUSED, size_t len)
{
	struct world *w = ctx;

	assert_int_equal(strlen(line), len);
	w->tags[w->answers++ % 8] = tag;
	w->len = len;
}

static void got_record(void *ctx, char *line, size_t len UNUSED)
{
	struct world *w = ctx;

	w->records++;
	snprintf(w->record, sizeof(w->record), "%s", line);
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct err e;

	signal(SIGPIPE, SIG_IGN);
	strcpy(w->dir, "/tmp/weft-live-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/ctl", w->dir);
	uv_loop_init(&w->loop);
	assert_int_equal(lines_listen(&w->l, &w->loop, w->path, 0600, respond, w, &e), 0);
	w->c = live_client_new(w->path, &(struct live_client_ops){got_answer, got_record, w});
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	live_client_free(w->c);
	lines_close(w->l);
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&w->loop), 0);
	assert_int_equal(rmdir(w->dir), 0);
	free(w);
	return 0;
}

static int turn(struct world *w)
{
	int rc = 0;

	for (int i = 0; i < 50 && !rc; i++) {
		uv_run(&w->loop, UV_RUN_NOWAIT);
		rc = live_client_work(w->c);
	}
	return rc;
}

TEST(answers_and_records)
{
	struct world *w = *state;
	struct err e;

	assert_false(live_client_ask(w->c, 1, "x"));
	assert_int_equal(live_client_connect(w->c, &e), 0);
	assert_true(live_client_connected(w->c) && live_client_fd(w->c) >= 0);
	assert_true(live_client_ask(w->c, 1, "a"));
	assert_true(live_client_ask(w->c, 2, "big"));
	assert_true(live_client_ask(w->c, 3, "b"));
	assert_true(live_client_wants_write(w->c));
	assert_int_equal(turn(w), 0);
	for (int i = 0; i < 100 && w->answers < 3; i++)
		turn(w);
	assert_int_equal(w->answers, 3);
	assert_true(w->tags[0] == 1 && w->tags[1] == 2 && w->tags[2] == 3);
	assert_int_equal(live_client_waiting(w->c), 0);
	lines_send_event(w->l, "{\"note\":\"link_down\"}");
	live_client_ask(w->c, 4, "big");
	while (w->answers < 4)
		assert_int_equal(turn(w), 0);
	assert_int_equal(w->len, 3000000 + 18);
	assert_string_equal(w->record, "{\"note\":\"link_down\"}");
	assert_int_equal(w->records, 1);
}

TEST(too_many_requests)
{
	struct world *w = *state;
	struct err e;
	unsigned n = 0;

	live_client_connect(w->c, &e);
	while (n < 1000 && live_client_ask(w->c, n, "a"))
		n++;
	assert_int_equal(n, LIVE_WAITING_MOST - 1); /* the subscription is one, too */
}

TEST(a_manager_that_goes_and_comes)
{
	struct world *w = *state;
	struct err e;

	assert_int_equal(live_client_connect(w->c, &e), 0);
	turn(w);
	lines_close(w->l);
	assert_int_not_equal(turn(w), 0);
	assert_false(live_client_connected(w->c));
	assert_int_equal(live_client_connect(w->c, &e), -ENOENT);
	assert_non_null(strstr(e.text, w->path));
	uv_run(&w->loop, UV_RUN_DEFAULT);
	assert_int_equal(lines_listen(&w->l, &w->loop, w->path, 0600, respond, w, &e), 0);
	assert_int_equal(live_client_connect(w->c, &e), 0);
	live_client_ask(w->c, 9, "a");
	turn(w);
	assert_int_equal(w->tags[0], 9);
}

static const char *refused(const char *json, bool changes)
{
	json_t *request = json_loads(json, 0, NULL);
	const char *why = live_request_refused(request, changes);

	json_decref(request);
	return why;
}

TEST(what_pages_may_ask)
{
	static const char *const never[] = {"stop",   "reload", "log",	  "dump",
					    "events", "",	"statusx"};

	assert_null(refused("{\"cmd\":\"status\"}", false));
	assert_null(refused("{\"cmd\":\"route\"}", false));
	assert_non_null(refused("{\"cmd\":\"sweep\"}", false));
	assert_non_null(refused("{\"cmd\":\"vm_migrate\"}", false));
	assert_null(refused("{\"cmd\":\"sweep\"}", true));
	assert_null(refused("{\"cmd\":\"vm_migrate\"}", true));
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		char text[64];

		snprintf(text, sizeof(text), "{\"cmd\":\"%s\"}", never[i]);
		assert_non_null(refused(text, true));
	}
	assert_non_null(live_request_refused(NULL, true));
	assert_non_null(refused("[]", true));
	assert_non_null(refused("{\"cmd\":7}", true));
}

/* No answer is larger for a larger subnet. */
TEST(pages_get_pieces)
{
	assert_non_null(refused("{\"cmd\":\"switches\"}", true));
	assert_non_null(refused("{\"cmd\":\"topology\"}", true));
	assert_non_null(refused("{\"cmd\":\"topology\",\"first\":0}", true));
	assert_non_null(refused("{\"cmd\":\"topology\",\"first\":0,\"count\":1001}", true));
	assert_null(refused("{\"cmd\":\"topology\",\"first\":0,\"count\":1000}", true));
	assert_non_null(refused("{\"cmd\":\"ports\"}", true));
	assert_null(refused("{\"cmd\":\"ports\",\"node\":\"1\"}", true));
	assert_non_null(refused("{\"cmd\":\"vm_list\"}", true));
	assert_null(refused("{\"cmd\":\"tables\"}", true));
	assert_null(refused("{\"cmd\":\"sa\"}", false));
	assert_non_null(refused("{\"cmd\":\"groups\"}", true));
	assert_non_null(refused("{\"cmd\":\"group_tree\",\"mlid\":\"0xc000\"}", true));
	assert_null(refused("{\"cmd\":\"groups\",\"first\":0,\"count\":500}", false));
	assert_null(refused("{\"cmd\":\"partitions\",\"first\":0,\"count\":500}", false));
}

/* A manager that is busy is asked again; after seconds of that, for small pieces at once. */
TEST(patience)
{
	struct live_patience p = {0};
	json_t *busy = json_pack("{s:b}", "busy", 1), *piece = json_pack("{s:i}", "first", 0);

	assert_true(live_patient(&p, 1000));
	assert_false(live_patience_takes(&p, piece, 1000));
	assert_true(live_patience_takes(&p, busy, 2000));
	assert_true(live_patience_takes(&p, busy, 2000 + LIVE_PATIENCE_MS - 1));
	assert_true(live_patient(&p, 2000 + LIVE_PATIENCE_MS - 1));
	assert_false(live_patience_takes(&p, piece, 2000 + LIVE_PATIENCE_MS - 1));
	assert_true(live_patient(&p, 2000 + 2 * LIVE_PATIENCE_MS)); /* it was at rest meanwhile */
	assert_true(live_patience_takes(&p, busy, 10000));
	assert_false(live_patient(&p, 10000 + LIVE_PATIENCE_MS));
	assert_false(live_patience_takes(&p, piece, 10000 + LIVE_PATIENCE_MS));
	assert_false(live_patient(&p, 10000 + LIVE_PATIENCE_MS + 1)); /* until all is read */
	json_decref(busy);
	json_decref(piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_and_records, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(a_manager_that_goes_and_comes, setup, teardown),
		cmocka_unit_test(what_pages_may_ask),
		cmocka_unit_test(pages_get_pieces),
		cmocka_unit_test(patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
