/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs through MPI. State: struct lab_mpi. Way in: lab_mpi_open(). Messages: to a worker the number of a job, or
 * "end"; from a worker "ready", or a result as JSON. Does not write results: cmd_lab_run.c does.
 */
#include "cli/lab_mpi.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/lab_files.h"
#include "mpi/mpi_link.h"

#include <dlfcn.h>
#include <jansson.h>
#include <limits.h>

struct lab_mpi {
	const struct mpi_link *link;
	int rank, size;
};

/* Beside this program, in its library directory, or where the linker looks. */
static void *library_open(void)
{
	static const char *const places[] = {"../mpi/libweft-mpi.so", "../lib/libweft-mpi.so",
					     "../lib/x86_64-linux-gnu/libweft-mpi.so", NULL};
	char path[PATH_MAX + 64], *slash;
	void *lib = NULL;

	for (unsigned i = 0; places[i] && !lib; i++) {
		snprintf(path, sizeof(path), "%s", lab_program());
		slash = strrchr(path, '/');
		if (slash)
			snprintf(slash + 1, sizeof(path) - (size_t)(slash + 1 - path), "%s",
				 places[i]);
		lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	}
	return lib ? lib : dlopen("libweft-mpi.so", RTLD_NOW | RTLD_GLOBAL);
}

struct lab_mpi *lab_mpi_open(void)
{
	void *lib = library_open();
	const struct mpi_link *link = lib ? dlsym(lib, "weft_mpi_link") : NULL;
	struct lab_mpi *m;

	if (!link) {
		cli_bad("--mpi: libweft-mpi.so is not there: Weft was built without MPI (libopenmpi-dev)");
		return NULL;
	}
	m = mem_zalloc(sizeof(*m));
	m->link = link;
	if (!link->open(&m->rank, &m->size) && m->size >= 2)
		return m;
	cli_bad("--mpi: expected two processes or more: mpirun -n 4 weft lab run --mpi ...");
	lab_mpi_close(m);
	return NULL;
}

bool lab_mpi_manager(const struct lab_mpi *m)
{
	return m->rank == 0;
}

void lab_mpi_close(struct lab_mpi *m)
{
	m->link->close();
	free(m);
}

void lab_mpi_abort(struct lab_mpi *m)
{
	m->link->abort();
	exit(CLI_BAD);
}

/* ---- results as messages ---- */

struct sending {
	struct lab_mpi *m;
	size_t number;
};

static void result_send(void *ctx, const struct job_result *r)
{
	struct sending *s = ctx;
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_u64(&j, "job", s->number);
	json_bool(&j, "ok", r->ok);
	json_str(&j, "message", r->message ? r->message : "");
	json_str(&j, "values", r->values ? r->values : "");
	json_double(&j, "wall_s", r->wall_s);
	json_double(&j, "cpu_s", r->cpu_s);
	json_u64(&j, "events", r->events);
	json_close(&j);
	s->m->link->send(0, j.out.s, j.out.len);
	json_free(&j);
}

static int result_take(const char *text, const struct job_queue *q, const experiment_jobs *jobs,
		       struct err *e)
{
	json_t *doc = json_loads(text, 0, NULL);
	size_t number = (size_t)json_integer_value(json_object_get(doc, "job"));
	struct job_result r = {0};

	if (!doc || number >= jobs->n) {
		json_decref(doc);
		return err_set(e, -EBADMSG, "a worker sent what is not a result: %.60s", text);
	}
	r.job = &jobs->at[number];
	r.ok = json_is_true(json_object_get(doc, "ok"));
	r.message = (char *)json_string_value(json_object_get(doc, "message"));
	r.values = r.ok ? (char *)json_string_value(json_object_get(doc, "values")) : NULL;
	r.wall_s = json_number_value(json_object_get(doc, "wall_s"));
	r.cpu_s = json_number_value(json_object_get(doc, "cpu_s"));
	r.events = (uint64_t)json_integer_value(json_object_get(doc, "events"));
	q->done(q->ctx, &r);
	json_decref(doc);
	return 0;
}

/* ---- the manager ---- */

struct handing {
	struct lab_mpi *m;
	const struct job_queue *q;
	const experiment_jobs *jobs;
	const size_t *order;
	size_t n, next;
	VEC(int) idle; /* workers without a job */
	unsigned busy;
};

/* The next job may begin: one that measures real time begins and runs while no other does. */
static bool may_begin(const struct handing *h, bool alone)
{
	if (h->next == h->n || *h->q->stop || alone)
		return false;
	return !h->busy || !h->jobs->at[h->order[h->next]].experiment->real_time;
}

/* Jobs to workers that have none. */
static void jobs_give(struct handing *h)
{
	bool alone = h->next && h->busy && h->jobs->at[h->order[h->next - 1]].experiment->real_time;
	char text[24];

	while (h->idle.n && may_begin(h, alone)) {
		alone = h->jobs->at[h->order[h->next]].experiment->real_time;
		snprintf(text, sizeof(text), "%zu", h->order[h->next++]);
		h->m->link->send(h->idle.at[--h->idle.n], text, strlen(text));
		h->busy++;
	}
}

unsigned lab_mpi_workers(const struct lab_mpi *m)
{
	return (unsigned)m->size - 1;
}

int lab_mpi_manage(struct lab_mpi *m, const struct job_queue *q, const experiment_jobs *jobs,
		   const size_t *order, size_t n, struct err *e)
{
	struct handing h = {.m = m, .q = q, .jobs = jobs, .order = order, .n = n};
	int from, rc = 0;

	while (!rc && (h.busy || h.idle.n < lab_mpi_workers(m) || (h.next < n && !*q->stop))) {
		char *text = m->link->receive(&from, 1000);

		if (!text) {
			q->tick(q->ctx, h.busy);
			continue;
		}
		if (strcmp(text, "ready") != 0) {
			rc = result_take(text, q, jobs, e);
			h.busy--;
		}
		vec_push(&h.idle, from);
		jobs_give(&h);
		free(text);
	}
	for (size_t i = 0; i < h.idle.n; i++)
		m->link->send(h.idle.at[i], "end", 3);
	vec_free(&h.idle);
	return rc;
}

/* ---- a worker ---- */

int lab_mpi_work(struct lab_mpi *m, const char *weft, const experiment_jobs *jobs, struct err *e)
{
	static volatile int never;
	struct sending s = {.m = m};
	struct job_queue q = {
		.weft = weft, .slots = 1, .stop = &never, .done = result_send, .ctx = &s};
	char *text;
	int from, rc = m->link->send(0, "ready", 5);

	while (!rc) {
		uint64_t number;

		text = m->link->receive(&from, 1000);
		if (!text)
			continue;
		if (parse_u64(text, &number) || number >= jobs->n) { /* "end" */
			free(text);
			break;
		}
		free(text);
		s.number = (size_t)number;
		rc = job_queue_run(&q, &jobs->at[number], 1, e);
	}
	return rc;
}
