/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a schedule from power-on to rest. State: struct run, for one run. Way in: schedule_run(). Does not know what
 * a fault does (faults.c) nor what must hold (invariants.c).
 */
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"
#include "trial/run_priv.h"

static const char *const fault_names[SCHEDULE_NFAULTS] = {
	[SCHEDULE_FINE] = "",
	[SCHEDULE_NO_FABRIC] = "no_fabric",
	[SCHEDULE_TWO_MASTERS] = "two_masters",
	[SCHEDULE_NO_REST] = "no_rest",
	[SCHEDULE_WRONG_SUBNET] = "wrong_subnet",
	[SCHEDULE_CYCLE] = "cycle",
	[SCHEDULE_DEADLOCK] = "deadlock",
	[SCHEDULE_PACKETS_LOST] = "packets_lost",
};

const char *schedule_fault_name(enum schedule_fault f)
{
	return fault_names[f];
}

void run_fail(struct run *r, enum schedule_fault fault, const char *fmt, ...)
{
	va_list ap;

	if (r->out->fault)
		return;
	r->out->fault = fault;
	va_start(ap, fmt);
	vsnprintf(r->out->why, sizeof(r->out->why), fmt, ap);
	va_end(ap);
}

void run_say(struct run *r, const char *text)
{
	if (r->story && r->story->say)
		r->story->say(r->story->ctx, r->lab, text);
}

static void on_note(void *ctx, const struct sm_note *n)
{
	struct run *r = ctx;

	if (n->kind == SM_NOTE_PHASE)
		r->out->phases |= 1ull << n->phase.to;
	if (n->kind == SM_NOTE_PHASE && n->phase.to == SM_SWEEP)
		run_sweep_begins(r, lab_noting(r->lab));
	if (r->story && r->story->note)
		r->story->note(r->story->ctx, r->lab, lab_noting(r->lab), n);
}

/* ---- time ---- */

static void on_time(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

enum { MOST_AT_ONCE = 1000000 };

/* False: something was found to be wrong. */
static bool run_to(struct run *r, time_ps t)
{
	time_ps last = TIME_NEVER;
	uint32_t events = 0;

	sim_call(r->sim, t, on_time, NULL, 0); /* the clock stops at the last event */
	while (!r->out->fault && sim_next(r->sim) <= t) {
		sim_step(r->sim);
		events = sim_now(r->sim) == last ? events + 1 : 0;
		last = sim_now(r->sim);
		if (events == MOST_AT_ONCE)
			run_fail(r, SCHEDULE_NO_REST,
				 "%u events at one moment: a manager wakes up without end", events);
		run_check_masters(r);
	}
	run_check_watch(r);
	return !r->out->fault;
}

static bool run_to_rest(struct run *r, time_ps since, time_ps limit)
{
	while (!run_at_rest(r, since)) {
		if (sim_now(r->sim) >= limit || !run_to(r, MIN(sim_now(r->sim) + RUN_LOOK, limit)))
			return false;
		if (r->healed) /* a DISABLE may have waited for a manager that was stopped */
			run_enable(r);
	}
	return true;
}

/* ---- the lab ---- */

void run_make_lab(struct run *r)
{
	const struct schedule *s = r->s;
	struct lab_config c;
	struct lab_seat seat;
	struct err e = {{0}};
	struct lab *l = NULL;

	lab_config_default(&c);
	c.threads = 1;
	c.sim.seed = s->seed;
	c.sim.plane.on = s->traffic != 0;
	for (size_t i = 0; i < s->managers.n; i++) {
		const struct schedule_manager *m = &s->managers.at[i];

		seat = (struct lab_seat){fab_node_by_guid(r->fab, m->guid), m->sm, m->start};
		if (l) {
			lab_seat_add(l, &seat);
			continue;
		}
		c.sm_node = seat.node;
		c.sm = m->sm;
		c.sm_start = m->start;
		c.sim.traps = s->traps;
		l = lab_new(r->fab, &c, &e);
	}
	r->lab = l;
	r->sim = lab_sim(l);
	lab_on_note(l, on_note, r);
}

void run_power_on(struct run *r)
{
	bool *on = mem_array(r->fab->nnodes, sizeof(*on));

	for (node_id n = 0; n < r->fab->nnodes; n++)
		on[n] = !(r->fab->nodes[n].flags & FAB_LATER);
	lab_power_on(r->lab, on);
	free(on);
}

static bool fits(struct run *r)
{
	struct err e = {{0}};

	r->fab = schedule_fabric(r->s, &e);
	if (!r->fab)
		run_fail(r, SCHEDULE_NO_FABRIC, "no fabric: %.200s", e.text);
	else if (!r->s->managers.n || r->s->managers.n > RUN_MANAGERS)
		run_fail(r, SCHEDULE_NO_FABRIC, "%zu managers: expected 1 to %d", r->s->managers.n,
			 RUN_MANAGERS);
	for (size_t i = 0; !r->out->fault && i < r->s->managers.n; i++)
		if (fab_node_by_guid(r->fab, r->s->managers.at[i].guid) == FAB_NONE)
			run_fail(r, SCHEDULE_NO_FABRIC,
				 "manager %zu: its node is not in the fabric", i);
	return !r->out->fault;
}

void run_start_traffic(struct run *r)
{
	struct traffic_config t = {.pattern = TRAFFIC_UNIFORM,
				   .arrivals = TRAFFIC_POISSON,
				   .payload = 256,
				   .sl_mask = 1,
				   .known_only = true,
				   .interval_ps = r->s->traffic,
				   .stop_ps = TIME_NEVER / 2,
				   .seed = r->s->seed};
	struct err e;

	if (!r->s->traffic)
		return;
	t.start_ps = sim_now(r->sim);
	if (!sim_traffic(r->sim, &t, &e)) /* fewer than two hosts: no packets */
		run_say(r, "hosts begin to send");
}

/* ---- a run ---- */

static void run_events(struct run *r)
{
	for (size_t i = 0; i < r->s->events.n && !r->out->fault; i++) {
		const struct schedule_event *ev = &r->s->events.at[i];

		if (ev->at > sim_now(r->sim) && !run_to(r, ev->at))
			return;
		if (r->story && r->story->event)
			r->story->event(r->story->ctx, r->lab, ev);
		run_fault(r, ev);
		run_forgive(r);
		if (r->story && r->story->changed)
			r->story->changed(r->story->ctx, r->lab);
	}
	if (r->s->until > sim_now(r->sim) && !r->out->fault)
		run_to(r, r->s->until);
}

/*
 * A change may have come after a device was asked, and a manager that got an order asks its sender: what is wrong at
 * rest may be put right. What is still wrong SCHEDULE_RIGHT_BOUND later, with a sweep that found nothing, stays wrong.
 */
static void expect_right(struct run *r)
{
	time_ps until = sim_now(r->sim) + SCHEDULE_RIGHT_BOUND, now = sim_now(r->sim);

	while (!run_is_right(r, now >= until) && !r->out->fault) {
		now = sim_now(r->sim);
		if (!run_to(r, now + RUN_LOOK) || !run_to_rest(r, now, now + SCHEDULE_REST_BOUND))
			run_fail(r, SCHEDULE_NO_REST, "a manager does not come back to rest");
	}
}

static bool expect_rest(struct run *r)
{
	time_ps since = sim_now(r->sim);
	char text[LAB_WHY];

	if (run_to_rest(r, since, since + SCHEDULE_REST_BOUND)) {
		r->out->rest = MAX(r->out->rest, sim_now(r->sim) - since);
		return true;
	}
	run_describe(r, text, sizeof(text));
	run_fail(r, SCHEDULE_NO_REST, "not at rest after %llu s: %.200s",
		 (unsigned long long)(SCHEDULE_REST_BOUND / PS_PER_S), text);
	return false;
}

static void run_end(struct run *r)
{
	r->out->trace = sim_trace_hash(r->sim);
	run_say(r, "no more faults");
	run_heal(r);
	r->healed = true;
	run_forgive(r);
	if (!expect_rest(r) || (run_resync(r) && !expect_rest(r)))
		return;
	run_say(r, "all managers are at rest");
	expect_right(r);
	if (!r->out->fault && run_to(r, sim_now(r->sim) + SCHEDULE_HOLD))
		expect_right(r);
}

/* Traffic starts at the first rest, or with the first fault, or at last when faults may end. */
static void run_up(struct run *r)
{
	time_ps first = MIN(r->s->until ? r->s->until : TIME_NEVER, SCHEDULE_REST_BOUND);

	if (r->s->events.n)
		first = MIN(first, r->s->events.at[0].at);
	if (!r->s->traffic)
		return;
	r->checks.traffic = run_to_rest(r, 0, first) && run_is_one_subnet(r);
	if (!r->out->fault)
		run_start_traffic(r);
}

void schedule_run(const struct schedule *s, const struct schedule_story *story,
		  struct schedule_result *out)
{
	struct run r = {.s = s, .story = story, .out = out};

	memset(out, 0, sizeof(*out));
	if (!fits(&r)) {
		fab_free(r.fab);
		return;
	}
	run_make_lab(&r);
	out->switches = r.fab->nswitches;
	out->hosts = r.fab->nhosts;
	out->links = r.fab->nlinks;
	run_checks_begin(&r);
	if (story && story->begin)
		story->begin(story->ctx, r.lab);
	run_power_on(&r);
	run_up(&r);
	if (!out->fault)
		run_events(&r);
	if (!out->fault)
		run_end(&r);
	for (unsigned i = 0; i < lab_managers(r.lab); i++)
		run_see_pairs(&r, i);
	out->hash = sim_hash(r.sim);
	out->end = sim_now(r.sim);
	out->smps = sim_stats(r.sim)->sent;
	out->sim_events = sim_events(r.sim);
	run_faults_free(&r);
	lab_watch_stop(&r.checks.watch);
	lab_free(r.lab);
	run_checks_end(&r);
	fab_free(r.fab);
}
