/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft top` asks a manager. State: none of its own; one question of the live view runs on a thread, so that keys work while the
 * manager does not answer. Ways in: top_ask(), top_asking_begin(). Shows nothing.
 */
#include "cli/top_ask.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/ctl.h"
#include "control/lines.h"

enum { LINKS = 400, CHANGES = 200, ANSWER_MS = 10000 };

static json_t *ask(const char *path, const char *request, char *why, size_t size)
{
	struct strbuf answer = {0};
	json_t *a = NULL;
	struct err e;

	if (lines_ask(path, request, ANSWER_MS, &answer, &e)) {
		snprintf(why, size, "%.240s", e.text);
	} else {
		a = json_loads(answer.s, 0, NULL);
		if (a && !json_is_true(json_object_get(a, "ok"))) {
			const char *error = json_string_value(json_object_get(a, "error"));

			snprintf(why, size, "%s", error ? error : "refused");
			json_decref(a);
			a = NULL;
		}
	}
	strbuf_free(&answer);
	return a;
}

void top_data_free(struct top_data *d)
{
	json_t *all[] = {d->status, d->perf, d->sick, d->changes, d->sa, d->port};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		json_decref(all[i]);
	*d = (struct top_data){0};
}

static json_t *ask_port(const char *path, const char *port, struct top_data *d)
{
	struct json j = {.line = true};
	json_t *a;

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "perf");
	json_str(&j, "node", port);
	json_close(&j);
	a = ask(path, j.out.s, d->why, sizeof(d->why));
	json_free(&j);
	return a;
}

/* The manager filters: on a large subnet, a link may be far behind the busiest ones. */
static json_t *ask_links(const char *path, const struct top_view *v, struct top_data *d)
{
	struct json j = {.line = true};
	json_t *a;

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "perf");
	json_str(&j, "sort", v->sort);
	json_u64(&j, "count", LINKS);
	json_str(&j, "filter", v->filter);
	json_close(&j);
	a = ask(path, j.out.s, d->why, sizeof(d->why));
	json_free(&j);
	return a;
}

bool top_ask(const char *path, const struct top_view *v, struct top_data *d)
{
	char q[128], unused[256];

	top_data_free(d);
	d->status = ask(path, "{\"cmd\":\"status\"}", d->why, sizeof(d->why));
	if (!d->status)
		return false;
	d->perf = ask_links(path, v, d);
	d->sick = ask(path, "{\"cmd\":\"sick\"}", unused, sizeof(unused));
	snprintf(q, sizeof(q), "{\"cmd\":\"changes\",\"count\":%d}", CHANGES);
	d->changes = ask(path, q, unused, sizeof(unused));
	d->sa = ask(path, "{\"cmd\":\"sa\"}", unused, sizeof(unused));
	if (v->page == TOP_PORT)
		d->port = ask_port(path, v->port, d);
	return true;
}

/* ---- on a thread ---- */

struct top_asking {
	const char *path;
	struct top_view view; /* as it was when the question began */
	struct top_data data;
	bool answered;
	int told[2]; /* a pipe: a byte comes when it is done */
};

static void *asking_run(void *ctx)
{
	struct top_asking *a = ctx;

	a->answered = top_ask(a->path, &a->view, &a->data);
	return write(a->told[1], "", 1) == 1 ? NULL : ctx;
}

struct top_asking *top_asking_begin(const char *path, const struct top_view *v, int *fd)
{
	struct top_asking *a = mem_zarray(1, sizeof(*a));
	sigset_t all, former;
	pthread_t thread;
	int rc;

	a->path = path;
	a->view = *v;
	if (pipe(a->told)) {
		free(a);
		return NULL;
	}
	*fd = a->told[0];
	sigfillset(&all); /* signals are for the thread that reads keys */
	pthread_sigmask(SIG_SETMASK, &all, &former);
	rc = pthread_create(&thread, NULL, asking_run, a);
	pthread_sigmask(SIG_SETMASK, &former, NULL);
	if (rc)
		asking_run(a);
	else
		pthread_detach(thread);
	return a;
}

bool top_asking_end(struct top_asking *a, struct top_data *d)
{
	bool answered = a->answered;

	top_data_free(d);
	*d = a->data;
	close(a->told[0]);
	close(a->told[1]);
	free(a);
	return answered;
}
