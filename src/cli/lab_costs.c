/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What experiments cost. State: none. Way in: lab_costs_print(), lab_costs_json(). Does not measure: job_queue.c
 * does.
 */
#include "cli/lab_costs.h"

#include "cli/cli.h"
#include "cli/lab_files.h"

int lab_costs(struct costs *out)
{
	char *results = lab_results_path(), *file = costs_file(results);
	struct err e;
	int rc = costs_load(file, out, &e) ? cli_bad("%s", e.text) : CLI_OK;

	costs_sort(out);
	free(file);
	free(results);
	return rc;
}

void lab_cost_json(struct json *j, const struct cost_sum *s)
{
	json_u64(j, "jobs", s->jobs);
	json_double(j, "cpu_s", s->cpu_s);
	json_double(j, "wall_s", s->wall_s);
	json_u64(j, "events", s->events);
	json_double(j, "events_per_s", cost_events_per_s(s));
}

void lab_costs_json(struct json *j, const char *key, const experiment_list *l,
		    const struct costs *c)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < l->n; i++) {
		struct cost_sum s = costs_sum(c, l->at[i]->name);

		if (!s.jobs)
			continue;
		json_open(j, NULL, '{');
		json_str(j, "experiment", l->at[i]->name);
		lab_cost_json(j, &s);
		json_close(j);
	}
	json_close(j);
}

static void row_add(struct cli_table *t, const char *name, const struct cost_sum *s)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(s->jobs));
	cli_table_add(t, "%.1f", s->cpu_s);
	if (s->events) {
		cli_table_add(t, "%s", cli_count(s->events));
		cli_table_add(t, "%s", cli_count((uint64_t)cost_events_per_s(s)));
	} else {
		cli_table_add(t, "-");
		cli_table_add(t, "-");
	}
}

void lab_costs_print(const experiment_list *l, const struct costs *c)
{
	struct cost_sum all = {0};
	struct cli_table t;

	cli_table_init(&t, "lrrrr", "experiment", "jobs", "processor s", "events", "events/s");
	for (size_t i = 0; i < l->n; i++) {
		struct cost_sum s = costs_sum(c, l->at[i]->name);

		if (!s.jobs)
			continue;
		row_add(&t, l->at[i]->name, &s);
		all.jobs += s.jobs;
		all.cpu_s += s.cpu_s;
		all.stated_cpu_s += s.stated_cpu_s;
		all.events += s.events;
	}
	row_add(&t, "all", &all);
	cli_table_print(&t, stdout);
}
