/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs swarm trials and reports them; shrinks and saves what fails. State: struct swarm, for one command. Way in:
 * swarm_trials(). Does not draw, run or judge: src/trial does.
 */
#include "cli/swarm_report.h"

#include <sys/stat.h>

#include "base/rng.h"
#include "cli/cli.h"

struct failing {
	uint64_t seed;
	char why[LAB_WHY];
	enum schedule_fault fault;
	char *file; /* NULL: it could not be written */
	size_t events, managers;
};

struct swarm {
	const struct swarm_opts *o;
	unsigned done;
	VEC(struct failing) failing;
	uint64_t hash, phases, smps, events;
	uint64_t pairs[SM_NSM_STATES]; /* of the election's table */
	double simulated_s, wall_start;
	time_ps rest, masters; /* the longest */
	unsigned shrinking;    /* runs */
};

static void show_progress(const struct swarm *w)
{
	cli_progress("schedule %u of %u, %zu failed, %.0f s of simulated time", w->done + 1,
		     w->o->count, w->failing.n, w->simulated_s);
}

static void on_shrink(void *ctx)
{
	struct swarm *w = ctx;

	cli_progress("schedule %u of %u failed: shrinking it, run %u", w->done + 1, w->o->count,
		     ++w->shrinking);
}

/* ---- a seed that fails ---- */

static char *save(const struct swarm *w, const struct failing *f, const struct schedule *s)
{
	struct strbuf path = {0}, text = {0};
	struct err e;
	int rc;

	mkdir(w->o->save, 0777);
	strbuf_addf(&path, "%s/swarm-%llu.schedule", w->o->save, (unsigned long long)f->seed);
	strbuf_addf(&text, "# swarm seed %llu: %s\n# weft sim trial --replay %s --timeline\n",
		    (unsigned long long)f->seed, f->why, path.s);
	schedule_write(s, &text);
	rc = file_write(path.s, text.s, text.len, &e);
	strbuf_free(&text);
	if (!rc)
		return path.s;
	cli_warn("%s", e.text);
	strbuf_free(&path);
	return NULL;
}

static void on_failure(struct swarm *w, uint64_t seed, const struct schedule_result *r)
{
	struct failing f = {.seed = seed, .fault = r->fault};
	struct schedule s;

	snprintf(f.why, sizeof(f.why), "%s", r->why);
	swarm_draw(seed, &w->o->managers, &s);
	w->shrinking = 0;
	swarm_shrink(&s, r->fault, on_shrink, w);
	f.events = s.events.n;
	f.managers = s.managers.n;
	f.file = save(w, &f, &s);
	schedule_free(&s);
	vec_push(&w->failing, f);
	if (cli_json)
		return;
	cli_progress_end();
	printf("seed %llu: FAILED  %s\n", (unsigned long long)seed, f.why);
	if (f.file)
		printf("  shrunk to %zu managers and %zu events: weft sim trial --replay %s --timeline\n",
		       f.managers, f.events, f.file);
}

/* ---- all seeds ---- */

static void run_one(struct swarm *w, uint64_t seed)
{
	struct schedule_result r;

	show_progress(w);
	swarm_trial_run(seed, &w->o->managers, &r);
	w->hash = hash64_add(w->hash, r.hash);
	w->phases |= r.phases;
	for (unsigned i = 0; i < SM_NSM_STATES; i++)
		w->pairs[i] |= r.pairs[i];
	w->smps += r.smps;
	w->events += r.sim_events;
	w->simulated_s += (double)r.end / (double)PS_PER_S;
	w->rest = MAX(w->rest, r.rest);
	w->masters = MAX(w->masters, r.masters);
	if (r.fault)
		on_failure(w, seed, &r);
	w->done++;
}

static unsigned count_phases(uint64_t phases)
{
	return (unsigned)__builtin_popcountll(phases & ~(1ull << SM_OFF));
}

static unsigned count_pairs(const uint64_t pairs[SM_NSM_STATES])
{
	unsigned n = 0;

	for (unsigned i = 0; i < SM_NSM_STATES; i++)
		n += (unsigned)__builtin_popcountll(pairs[i]);
	return n;
}

enum { ALL_PAIRS = SM_NSM_STATES * SM_NELECTION_EVENTS };

/* Those that were never met, a line for each state. */
static void print_pairs(const struct swarm *w)
{
	printf("pairs of state and event of the election reached: %u of %d\n",
	       count_pairs(w->pairs), ALL_PAIRS);
	for (unsigned s = 0; s < SM_NSM_STATES; s++) {
		bool any = false;

		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			if (w->pairs[s] >> e & 1)
				continue;
			printf("%s%s", any ? ", " : "  not in ",
			       any ? "" : iba_format_word(IBA_FMT_SM_STATE, s));
			printf("%s%s", any ? "" : ": ",
			       sm_election_event_name((enum sm_election_event)e));
			any = true;
		}
		if (any)
			printf("\n");
	}
}

static void print_text(const struct swarm *w)
{
	printf("%u schedules, %zu failed, %.1f s simulated in %.1f s, %s SMPs, hash %016llx\n",
	       w->done, w->failing.n, w->simulated_s, cli_wall_s() - w->wall_start,
	       cli_count(w->smps), (unsigned long long)w->hash);
	printf("longest: %s until all managers were at rest, %s with two masters\n",
	       cli_duration(w->rest), cli_duration(w->masters));
	printf("phases reached: %u of %u", count_phases(w->phases), SM_NPHASES - 1);
	for (unsigned p = SM_OFF + 1; p < SM_NPHASES; p++)
		if (!(w->phases >> p & 1))
			printf("%s%s", w->phases ? "; not reached: " : " ",
			       sm_phase_name((enum sm_phase)p));
	printf("\n");
	print_pairs(w);
}

/* The pairs that were never met, as "Standby: DISCOVER". */
static void json_pairs(struct json *j, const struct swarm *w)
{
	char text[96];

	json_open(j, "reached", '{');
	json_u64(j, "pairs", count_pairs(w->pairs));
	json_u64(j, "of", ALL_PAIRS);
	json_open(j, "missing", '[');
	for (unsigned s = 0; s < SM_NSM_STATES; s++)
		for (unsigned e = 0; e < SM_NELECTION_EVENTS; e++) {
			if (w->pairs[s] >> e & 1)
				continue;
			snprintf(text, sizeof(text), "%s: %s", iba_format_word(IBA_FMT_SM_STATE, s),
				 sm_election_event_name((enum sm_election_event)e));
			json_str(j, NULL, text);
		}
	json_close(j);
	json_close(j);
}

static int print_json(const struct swarm *w)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "trials", w->done);
	json_u64(&j, "failed", w->failing.n);
	json_open(&j, "failing", '[');
	for (size_t i = 0; i < w->failing.n; i++) {
		const struct failing *f = &w->failing.at[i];

		json_open(&j, NULL, '{');
		json_u64(&j, "seed", f->seed);
		json_str(&j, "why", f->why);
		json_str(&j, "fault", schedule_fault_name(f->fault));
		json_u64(&j, "events", f->events);
		json_u64(&j, "managers", f->managers);
		json_str(&j, "schedule", f->file ? f->file : "");
		json_close(&j);
	}
	json_close(&j);
	json_pairs(&j, w);
	json_open(&j, "phases", '{');
	json_u64(&j, "reached", count_phases(w->phases));
	json_u64(&j, "of", SM_NPHASES - 1);
	json_close(&j);
	json_u64(&j, "seed", w->o->seed);
	json_u64(&j, "smps", w->smps);
	json_u64(&j, "events", w->events);
	json_double(&j, "simulated_s", w->simulated_s);
	json_seconds(&j, "rest_max_s", w->rest);
	json_seconds(&j, "two_masters_max_s", w->masters);
	json_double(&j, "wall_s", cli_wall_s() - w->wall_start);
	json_hex64(&j, "trace_hash", w->hash);
	json_close(&j);
	return cli_print_json(&j);
}

int swarm_trials(const struct swarm_opts *o)
{
	struct swarm w = {.o = o, .wall_start = cli_wall_s()};
	int rc = CLI_OK;

	for (unsigned i = 0; i < o->count; i++)
		run_one(&w, o->seed + i);
	cli_progress_end();
	if (cli_json)
		rc = print_json(&w);
	else
		print_text(&w);
	if (!rc && w.failing.n)
		rc = CLI_NO;
	for (size_t i = 0; i < w.failing.n; i++)
		free(w.failing.at[i].file);
	vec_free(&w.failing);
	return rc;
}
