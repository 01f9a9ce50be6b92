/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft lab run: runs the jobs of experiments and keeps their results. Keeps the options of the command and what
 * has been done so far. Way in: cmd_lab_run. Does not judge results: weft lab compare does.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "cli/lab_costs.h"
#include "cli/lab_files.h"
#include "cli/lab_mpi.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct {
	bool quick, full, resume, keep, mpi;
	unsigned jobs;
	const char *db, *part, *net, *from;
	cli_strings only;
} o = {.db = "weft-lab.db"};

static volatile int stopped;

struct run {
	struct results_db *db;
	FILE *costs_file;
	struct costs costs; /* of jobs that ran now */
	struct costs known; /* of earlier runs: what takes long begins first */
	const experiment_jobs *jobs;
	bool *wanted;	     /* by job: it is to be run */
	size_t *order;	     /* jobs to run */
	size_t n;	     /* how many */
	size_t kept;	     /* of an earlier run */
	struct results from; /* of --from, and which of its rows are taken over */
	VEC(const struct result_row *) taken;
	unsigned done, failed, slots;
	double begun_s;
	double mean_s;	   /* of `known`, a job */
	double expected_s; /* processor time by `known`, of all jobs to run */
	double passed_s;   /* of those that ended */
	struct json failing;
	int rc; /* a result could not be written */
};

static void stop(int signal UNUSED)
{
	stopped = 1;
}

/* ---- results ---- */

static void cost_put(struct run *r, const struct job_result *j)
{
	struct cost c = {.experiment = j->job->experiment->name,
			 .key = j->job->key,
			 .wall_s = j->wall_s,
			 .cpu_s = j->cpu_s,
			 .events = j->events,
			 .time = time(NULL)};
	struct strbuf line = {0};

	costs_add(&r->costs, &c);
	cost_print(&c, &line);
	if (r->costs_file) {
		fputs(line.s, r->costs_file);
		fflush(r->costs_file);
	}
	strbuf_free(&line);
}

static void job_failed(struct run *r, const struct job_result *j)
{
	r->failed++;
	json_open(&r->failing, NULL, '{');
	json_str(&r->failing, "experiment", j->job->experiment->name);
	json_str(&r->failing, "key", j->job->key);
	json_str(&r->failing, "message", j->message ? j->message : "");
	json_close(&r->failing);
	cli_progress_end();
	cli_warn("%s, %s failed: %s", j->job->experiment->name, j->job->key,
		 j->message ? j->message : "");
}

/* What a job took before; the mean of all if it did not run yet. */
static double expected_s(const struct run *r, const struct experiment_job *j)
{
	const struct cost *c = costs_find(&r->known, j->experiment->name, j->key);

	return 0.01 + (c ? c->cpu_s : r->mean_s); /* and a little, for a process */
}

static double left_s(const struct run *r)
{
	double each = r->passed_s > 0 ? (cli_wall_s() - r->begun_s) / r->passed_s : 0;

	return each * (r->expected_s - r->passed_s);
}

static void progress(void *ctx, unsigned running)
{
	const struct run *r = ctx;
	double left = left_s(r);

	if (r->done)
		cli_progress("%u of %zu jobs, %u running, %u failed, about %.0f %s left", r->done,
			     r->n, running, r->failed, left < 90 ? left : left / 60,
			     left < 90 ? "s" : "min");
	else
		cli_progress("%u of %zu jobs, %u running", r->done, r->n, running);
}

static void job_done(void *ctx, const struct job_result *j)
{
	struct run *r = ctx;
	struct err e;

	if (stopped && !j->ok)
		return; /* interrupted: it runs again with --resume */
	r->done++;
	r->passed_s += expected_s(r, j->job);
	if (!j->ok)
		job_failed(r, j);
	cost_put(r, j);
	if (!r->rc && results_db_put(r->db, j, &e)) {
		r->rc = cli_bad("%s", e.text);
		stopped = 1;
	}
	progress(r, 0);
}

/* ---- what is run ---- */

/* Parts run beside each other: jobs that measure this machine are left out, with a message. */
static void real_time_leave(struct run *r)
{
	const struct experiment *last = NULL;

	for (size_t k = 0; k < r->jobs->n; k++) {
		const struct experiment *x = r->jobs->at[k].experiment;

		if (!x->real_time)
			continue;
		r->wanted[k] = false;
		if (x != last)
			cli_warn(
				"%s is left out: it measures real time, and parts share their machines; run it without --part",
				x->name);
		last = x;
	}
}

/* Of --part I/N: every N-th job, from the I-th. */
static int part_choose(struct run *r)
{
	unsigned i, n;
	int used = 0;

	if (!o.part)
		return CLI_OK;
	if (sscanf(o.part, "%u/%u%n", &i, &n, &used) != 2 || o.part[used] || !i || i > n)
		return cli_bad("--part: expected I/N with I from 1 to N, found '%s'", o.part);
	for (size_t k = 0; k < r->jobs->n; k++)
		r->wanted[k] = k % n == i - 1;
	real_time_leave(r);
	return CLI_OK;
}

/* The job's result, from the same definition. */
static const struct result_row *row_of(const struct results *have, const struct experiment_job *j)
{
	const struct result_row *row = results_find(have, j->experiment->name, j->key);

	return row && row->values && !strcmp(row->hash, j->hash) ? row : NULL;
}

/* Not the jobs whose results are there. */
static int resume_choose(struct run *r)
{
	struct results have = {0};
	struct err e;

	if (!o.resume || access(o.db, F_OK))
		return CLI_OK;
	if (results_db_load(o.db, &have, &e) || results_sort(&have, &e)) {
		results_free(&have);
		return cli_bad("%s", e.text);
	}
	for (size_t k = 0; k < r->jobs->n; k++)
		if (r->wanted[k] && row_of(&have, &r->jobs->at[k])) {
			r->wanted[k] = false;
			r->kept++;
		}
	results_free(&have);
	return CLI_OK;
}

/* Nor those whose results --from has: these are copied. */
static int from_choose(struct run *r)
{
	struct err e;

	if (!o.from)
		return CLI_OK;
	if (results_load(o.from, &r->from, &e) || results_sort(&r->from, &e))
		return cli_bad("%s", e.text);
	for (size_t k = 0; k < r->jobs->n; k++) {
		const struct result_row *row =
			r->wanted[k] ? row_of(&r->from, &r->jobs->at[k]) : NULL;

		if (!row)
			continue;
		vec_push(&r->taken, row);
		r->wanted[k] = false;
		r->kept++;
	}
	return CLI_OK;
}

static const struct run *ordering; /* of qsort */

/* Real time last; what takes longest first, so that no core waits at the end; else in the order of the files. */
static int begin_order(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct experiment_job *x = &ordering->jobs->at[i], *y = &ordering->jobs->at[k];
	double u, v;

	if (x->experiment->real_time != y->experiment->real_time)
		return x->experiment->real_time ? 1 : -1;
	u = expected_s(ordering, x);
	v = expected_s(ordering, y);
	if (u > v || u < v)
		return u > v ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int known_load(const char *results, struct costs *out)
{
	char *file = costs_file(results);
	struct err e;
	int rc = costs_load(file, out, &e) ? cli_bad("%s", e.text) : CLI_OK;

	free(file);
	return rc;
}

static int jobs_order(struct run *r)
{
	char *kept = lab_results_path();
	struct cost_sum all;
	int rc = known_load(kept, &r->known);

	if (!rc && o.from)
		rc = known_load(o.from, &r->known);
	rc = rc ? rc : known_load(o.db, &r->known);
	free(kept);
	costs_sort(&r->known);
	all = costs_sum(&r->known, NULL);
	r->mean_s = all.jobs ? all.cpu_s / (double)all.jobs : 1;
	r->order = mem_array(r->jobs->n + 1, sizeof(*r->order));
	for (size_t k = 0; k < r->jobs->n; k++)
		if (r->wanted[k]) {
			r->order[r->n++] = k;
			r->expected_s += expected_s(r, &r->jobs->at[k]);
		}
	ordering = r;
	if (r->n)
		qsort(r->order, r->n, sizeof(*r->order), begin_order);
	return rc;
}

static int jobs_choose(struct run *r)
{
	int rc;

	r->wanted = mem_array(r->jobs->n + 1, sizeof(*r->wanted));
	memset(r->wanted, true, r->jobs->n);
	rc = part_choose(r);
	rc = rc ? rc : resume_choose(r);
	rc = rc ? rc : from_choose(r);
	return rc ? rc : jobs_order(r);
}

/* ---- reports ---- */

/* The share of the run's time that its jobs had a processor. */
static double busy(const struct run *r, const struct cost_sum *s, double wall)
{
	return wall > 0 ? s->cpu_s / (wall * r->slots) : 0;
}

static int report_json(struct run *r, const experiment_list *l, double wall)
{
	struct cost_sum s = costs_sum(&r->costs, NULL);
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_open(&j, "experiments", '[');
	for (size_t i = 0; i < l->n; i++)
		json_str(&j, NULL, l->at[i]->name);
	json_close(&j);
	json_u64(&j, "jobs", r->n + r->kept);
	json_u64(&j, "run", r->done);
	json_u64(&j, "kept", r->kept);
	json_u64(&j, "failed", r->failed);
	json_close(&r->failing);
	json_raw(&j, "failing", r->failing.out.s);
	json_u64(&j, "events", s.events);
	json_double(&j, "wall_s", wall);
	json_double(&j, "cpu_s", s.cpu_s);
	json_double(&j, "events_per_s", cost_events_per_s(&s));
	json_u64(&j, "at_once", r->slots);
	json_double(&j, "busy", busy(r, &s, wall));
	lab_costs_json(&j, "costs", l, &r->costs);
	json_str(&j, "db", o.db);
	json_close(&j);
	return cli_print_json(&j);
}

static void report_text(struct run *r, const experiment_list *l, double wall)
{
	struct cost_sum s = costs_sum(&r->costs, NULL);

	if (s.jobs)
		lab_costs_print(l, &r->costs);
	printf("%s%u jobs run, %u failed, %zu kept; %.1f s, %u at once, %.0f %% of their time busy; results in %s\n",
	       s.jobs ? "\n" : "", r->done, r->failed, r->kept, wall, r->slots,
	       100 * busy(r, &s, wall), o.db);
}

static int report(struct run *r, const experiment_list *l)
{
	double wall = cli_wall_s() - r->begun_s;
	int rc = CLI_OK;

	cli_progress_end();
	costs_sort(&r->costs);
	if (cli_json)
		rc = report_json(r, l, wall);
	else
		report_text(r, l, wall);
	if (!rc && stopped)
		return cli_bad("interrupted: --resume continues");
	return rc ? rc : r->failed ? CLI_NO : CLI_OK;
}

/* ---- running ---- */

/* Appends; what kept results cost comes from where they come from. */
static void costs_open(struct run *r)
{
	char *path = costs_file(o.db);
	struct strbuf lines = {0};

	r->costs_file = fopen(path, "ae");
	for (size_t i = 0; i < r->taken.n; i++) {
		const struct cost *c =
			costs_find(&r->known, r->taken.at[i]->experiment, r->taken.at[i]->key);

		if (c)
			cost_print(c, &lines);
	}
	if (r->costs_file && lines.len)
		fputs(lines.s, r->costs_file);
	strbuf_free(&lines);
	free(path);
}

static int taken_put(struct run *r)
{
	struct err e;

	for (size_t i = 0; i < r->taken.n; i++)
		if (results_db_put_row(r->db, r->taken.at[i], &e))
			return cli_bad("%s", e.text);
	return CLI_OK;
}

/* On this machine: the wanted jobs in a list of their own. */
static int queue_run(const struct job_queue *q, const struct run *r, struct err *e)
{
	experiment_jobs wanted = {0};
	int rc;

	for (size_t k = 0; k < r->n; k++)
		vec_push(&wanted, r->jobs->at[r->order[k]]); /* texts belong to r->jobs */
	rc = job_queue_run(q, wanted.at, wanted.n, e);
	vec_free(&wanted);
	return rc;
}

static int jobs_run(struct run *r, struct lab_mpi *mpi, const experiment_list *l)
{
	struct job_queue q = {.weft = lab_program(),
			      .slots = o.jobs ? o.jobs : (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
			      .keep = o.keep,
			      .stop = &stopped,
			      .done = job_done,
			      .tick = progress,
			      .ctx = r};
	struct err e;
	int rc;

	r->db = results_db_open(o.db, &e);
	if (!r->db)
		return cli_bad("%s", e.text);
	costs_open(r);
	r->slots = mpi ? lab_mpi_workers(mpi) : q.slots;
	r->begun_s = cli_wall_s();
	r->failing.line = true;
	json_open(&r->failing, NULL, '[');
	rc = taken_put(r);
	if (!rc &&
	    (mpi ? lab_mpi_manage(mpi, &q, r->jobs, r->order, r->n, &e) : queue_run(&q, r, &e)))
		rc = cli_bad("%s", e.text);
	rc = rc ? rc : r->rc;
	if (r->costs_file)
		fclose(r->costs_file);
	if (results_db_finish(r->db, &e) && !rc)
		rc = cli_bad("%s", e.text);
	if (!rc)
		rc = report(r, l);
	json_free(&r->failing);
	return rc;
}

static void run_free(struct run *r)
{
	free(r->wanted);
	free(r->order);
	vec_free(&r->taken);
	results_free(&r->from);
	costs_free(&r->costs);
	costs_free(&r->known);
}

static int manage(const experiment_jobs *jobs, struct lab_mpi *mpi, const experiment_list *l)
{
	struct sigaction sa = {.sa_handler = stop};
	struct run r = {.jobs = jobs};
	int rc = jobs_choose(&r);

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	rc = rc ? rc : jobs_run(&r, mpi, l);
	run_free(&r);
	if (rc == CLI_BAD && mpi)
		lab_mpi_abort(mpi);
	return rc;
}

static int work(const experiment_jobs *jobs, struct lab_mpi *mpi)
{
	struct err e;

	if (!lab_mpi_work(mpi, lab_program(), jobs, &e))
		return CLI_OK;
	cli_bad("%s", e.text);
	lab_mpi_abort(mpi);
}

/* The netlist is read here as well, so that its faults are found before anything runs. */
static int net_use(const experiment_list *l)
{
	struct fab *f = cli_load_wire(o.net);

	for (size_t i = 0; i < l->n && f; i++)
		experiment_net(l->at[i], o.net);
	fab_free(f);
	return f ? CLI_OK : CLI_BAD;
}

static int lab_run(char **args, unsigned n)
{
	struct experiment_scope scope = experiment_everything();
	struct lab_mpi *mpi = o.mpi ? lab_mpi_open() : NULL;
	experiment_list l = {0};
	experiment_jobs jobs = {0};
	int rc = o.mpi && !mpi ? CLI_BAD : lab_experiments(args, n, &l);

	scope.quick = o.quick;
	scope.full = o.full;
	if (!rc && o.net)
		rc = net_use(&l);
	rc = rc ? rc : lab_jobs(&l, &scope, o.only.at, o.only.n, &jobs);
	if (!rc)
		rc = mpi && !lab_mpi_manager(mpi) ? work(&jobs, mpi) : manage(&jobs, mpi, &l);
	else if (mpi)
		lab_mpi_abort(mpi);
	if (mpi)
		lab_mpi_close(mpi);
	experiment_jobs_free(&jobs);
	experiments_free(&l);
	return rc;
}

/* clang-format off */
static const struct cli_opt run_opts[] = {
	{.name = "quick", .type = CLI_FLAG, .dst = &o.quick, .help = "fewer points, as each experiment states"},
	{.name = "full", .type = CLI_FLAG, .dst = &o.full,
	 .help = "everything, in experiments that take a sample otherwise"},
	{.name = "jobs", .letter = 'j', .type = CLI_UINT, .dst = &o.jobs, .arg = "N", .min = 1, .max = 1024,
	 .help = "jobs at once (default: one for each core)"},
	{.name = "resume", .type = CLI_FLAG, .dst = &o.resume,
	 .help = "keep the results that are there, run what is missing, failed or changed"},
	{.name = "from", .type = CLI_STR, .dst = &o.from, .arg = "PATH",
	 .help = "copy results of the same jobs from another file, or from text (a directory, or NAME.jsonl); run the others"},
	{.name = "db", .type = CLI_STR, .dst = &o.db, .arg = "FILE", .help = "file of the results (default weft-lab.db)"},
	{.name = "only", .type = CLI_LIST, .dst = &o.only, .arg = "PARAM=CHOICE",
	 .help = "only the points with this choice"},
	{.name = "part", .type = CLI_STR, .dst = &o.part, .arg = "I/N", .help = "only the I-th of N parts of the jobs"},
	{.name = "net", .type = CLI_STR, .dst = &o.net, .arg = "FILE",
	 .help = "run the experiments on this netlist instead of their own fabrics"},
	{.name = "mpi", .type = CLI_FLAG, .dst = &o.mpi,
	 .help = "as one of several processes that mpirun started: the first hands out jobs, the others run them"},
	{.name = "keep", .type = CLI_FLAG, .dst = &o.keep, .help = "keep the directories in which jobs run"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_lab_run = {
	.name = "lab run",
	.args = "[NAME...]",
	.summary = "run experiments and keep their results",
	.about =
		"Without NAME, all experiments. Everything is checked before anything runs. Each job is a process of its "
		"own, one for each core; results are written as jobs end, so that --resume continues after a kill. "
		"Status 1: a job failed. FILE.costs lists the time and the simulated events of each job. On several machines: "
		"'mpirun -n 8 weft lab run --mpi', or 'weft lab slurm'.",
	.examples = "weft lab run thesis-discovery\nweft lab run --quick --jobs 2 --db quick.db\n"
		    "weft lab run thesis-discovery --only switches=8 --resume\n"
		    "weft lab run --from docs/results/lab",
	.opts = run_opts,
	.shared = (const struct cli_opt *const[]){lab_experiment_opts, NULL},
	.max_args = 100,
	.run = lab_run,
};
