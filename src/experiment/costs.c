/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What jobs cost. State: struct costs. Way in: costs_load(), costs_sort(), then costs_sum(). Does not measure:
 * job_queue.c does.
 */
#include "experiment/costs.h"

#include "base/json.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

void costs_add(struct costs *c, const struct cost *job)
{
	struct cost copy = *job;

	copy.experiment = mem_strdup(job->experiment);
	copy.key = mem_strdup(job->key);
	copy.order = c->jobs.n;
	vec_push(&c->jobs, copy);
}

static void cost_free(struct cost *c)
{
	free(c->experiment);
	free(c->key);
}

void costs_free(struct costs *c)
{
	for (size_t i = 0; i < c->jobs.n; i++)
		cost_free(&c->jobs.at[i]);
	vec_free(&c->jobs);
}

static int job_order(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int c = strcmp(x->experiment, y->experiment);

	return c ? c : strcmp(x->key, y->key);
}

static int run_order(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int c = job_order(a, b);

	return c ? c : x->order < y->order ? -1 : x->order > y->order;
}

void costs_sort(struct costs *c)
{
	size_t n = 0;

	if (c->jobs.n)
		qsort(c->jobs.at, c->jobs.n, sizeof(*c->jobs.at), run_order);
	for (size_t i = 0; i < c->jobs.n; i++) {
		if (i + 1 < c->jobs.n && !job_order(&c->jobs.at[i], &c->jobs.at[i + 1]))
			cost_free(&c->jobs.at[i]);
		else
			c->jobs.at[n++] = c->jobs.at[i];
	}
	c->jobs.n = n;
}

const struct cost *costs_find(const struct costs *c, const char *experiment, const char *key)
{
	struct cost want = {.experiment = (char *)experiment, .key = (char *)key};

	return c->jobs.n ? bsearch(&want, c->jobs.at, c->jobs.n, sizeof(want), job_order) : NULL;
}

struct cost_sum costs_sum(const struct costs *c, const char *experiment)
{
	struct cost_sum s = {0};

	for (size_t i = 0; i < c->jobs.n; i++) {
		const struct cost *j = &c->jobs.at[i];

		if (experiment && strcmp(j->experiment, experiment) != 0)
			continue;
		s.jobs++;
		s.wall_s += j->wall_s;
		s.cpu_s += j->cpu_s;
		s.events += j->events;
		s.stated_cpu_s += j->events ? j->cpu_s : 0;
	}
	return s;
}

double cost_events_per_s(const struct cost_sum *s)
{
	return s->stated_cpu_s > 0 ? (double)s->events / s->stated_cpu_s : 0;
}

/* ---- files ---- */

char *costs_file(const char *results)
{
	struct strbuf b = {0};
	struct stat st;
	bool dir = !stat(results, &st) && S_ISDIR(st.st_mode);

	strbuf_addf(&b, "%s%s", results, dir ? "/_costs.jsonl" : ".costs");
	return b.s;
}

static int line_load(const char *file, unsigned number, const char *line, size_t len,
		     struct costs *out, struct err *e)
{
	json_error_t why;
	json_t *row = json_loadb(line, len, 0, &why);
	struct cost c = {.experiment =
				 (char *)json_string_value(json_object_get(row, "experiment")),
			 .key = (char *)json_string_value(json_object_get(row, "key")),
			 .wall_s = json_number_value(json_object_get(row, "wall_s")),
			 .cpu_s = json_number_value(json_object_get(row, "cpu_s")),
			 .events = (uint64_t)json_integer_value(json_object_get(row, "events")),
			 .time = json_integer_value(json_object_get(row, "time"))};
	int rc = 0;

	if (!row)
		rc = err_set(e, -EINVAL, "%s:%u: not JSON: %s", file, number, why.text);
	else if (!c.experiment || !c.key)
		rc = err_set(e, -EINVAL, "%s:%u: expected \"experiment\" and \"key\"", file,
			     number);
	else
		costs_add(out, &c);
	json_decref(row);
	return rc;
}

int costs_load(const char *file, struct costs *out, struct err *e)
{
	char *text = NULL;
	unsigned number = 0;
	size_t len;
	int rc = access(file, F_OK) ? 0 : file_read(file, &text, &len, e);

	for (char *at = text; !rc && at && *at;) {
		size_t n = strcspn(at, "\n");

		number++;
		/* A line without an end is of a run that was killed while it wrote. */
		if (n && at[n] == '\n')
			rc = line_load(file, number, at, n, out, e);
		at += n + (at[n] == '\n');
	}
	free(text);
	return rc;
}

void cost_print(const struct cost *job, struct strbuf *out)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "experiment", job->experiment);
	json_str(&j, "key", job->key);
	json_double(&j, "wall_s", job->wall_s);
	json_double(&j, "cpu_s", job->cpu_s);
	json_u64(&j, "events", job->events);
	json_u64(&j, "time", (uint64_t)job->time);
	json_close(&j);
	strbuf_addn(out, j.out.s, strcspn(j.out.s, "\n"));
	strbuf_add(out, "\n");
	json_free(&j);
}
