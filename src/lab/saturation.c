/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for the saturation rate. State: struct search, with simulations that the search has not needed
 * yet. Way in: lab_saturation(). Does not share anything between points: each has a lab of its own.
 *
 * With several threads, rates that the search may need next are simulated together with the one it needs
 * now. The search itself takes one point after another, so its result does not depend on the threads.
 */
#include "lab/saturation.h"

#ifdef _OPENMP
#include <omp.h>
#define SAT_OMP(x) _Pragma(#x)
#else
#define SAT_OMP(x)
#endif

enum {
	BRING_UP_LIMIT_S = 1000,
	KEEPS_UP_PERCENT = 95,
	SLOWER_TIMES = 5,
	PRECISION = 32,
	AHEAD_MAX = 256
};

struct run { /* a simulation and its outcome */
	uint64_t rate;
	int rc;
	struct err e;
	struct lab_load_result r;
};

struct search {
	const struct lab_sat_config *c;
	struct lab_saturation *s;
	unsigned threads;
	VEC(struct run) runs;	   /* not needed yet */
	uint64_t ahead[AHEAD_MAX]; /* rates that may be needed next, the likeliest first */
	unsigned nahead;
};

/* Simulate one rate. Discarded packets are an error at the lowest rate only. */
static int run_point(const struct search *q, uint64_t rate, bool ticks, struct lab_load_result *r,
		     struct err *e)
{
	const struct lab_sat_config *c = q->c;
	struct lab_load d = *c->load;
	struct lab_config lc = *c->lab;
	struct lab *l;
	int rc;

	if (q->threads > 1)
		lc.threads = 1; /* the other threads simulate other points */
	l = lab_new(c->fab, &lc, e);
	if (!l)
		return -EINVAL;
	if (c->tick && ticks)
		lab_on_tick(l, c->tick, c->ctx);
	d.traffic.interval_ps = lab_load_interval(rate);
	lab_load_times(c->fab, &d);
	rc = lab_load_up(l, BRING_UP_LIMIT_S * PS_PER_S, e);
	if (!rc)
		rc = lab_load_run(l, &d, r, e);
	lab_free(l);
	return rc;
}

/* ---- several simulations at a time ---- */

static unsigned thread_count(unsigned want)
{
#ifdef _OPENMP
	return MIN(want ? want : (unsigned)omp_get_max_threads(), (unsigned)AHEAD_MAX);
#else
	(void)want;
	return 1;
#endif
}

static bool on_first_thread(void)
{
#ifdef _OPENMP
	return omp_get_thread_num() == 0;
#else
	return true;
#endif
}

static struct run *find_run(struct search *q, uint64_t rate)
{
	for (size_t i = 0; i < q->runs.n; i++)
		if (q->runs.at[i].rate == rate)
			return &q->runs.at[i];
	return NULL;
}

/* The search may need this rate soon. */
static void foresee(struct search *q, uint64_t rate)
{
	for (unsigned i = 0; i < q->nahead; i++)
		if (q->ahead[i] == rate)
			return;
	if (rate && q->nahead < AHEAD_MAX && !find_run(q, rate))
		q->ahead[q->nahead++] = rate;
}

/* Simulate this rate and, on the other threads, rates that may be needed next. */
static void run_batch(struct search *q, uint64_t rate)
{
	size_t first = q->runs.n;

	vec_push(&q->runs, (struct run){.rate = rate});
	for (unsigned i = 0; i < q->nahead && q->runs.n - first < q->threads; i++)
		if (!find_run(q, q->ahead[i]))
			vec_push(&q->runs, (struct run){.rate = q->ahead[i]});
	SAT_OMP(omp parallel for num_threads(q->threads) schedule(dynamic, 1))
	for (size_t i = first; i < q->runs.n; i++) {
		struct run *r = &q->runs.at[i];

		r->rc = run_point(q, r->rate, on_first_thread(), &r->r, &r->e);
	}
}

/* The result for a rate, which may exist already. The caller frees *r. */
static int take_run(struct search *q, uint64_t rate, struct lab_load_result *r, struct err *e)
{
	struct run *found = find_run(q, rate);
	int rc;

	if (!found) {
		run_batch(q, rate);
		found = find_run(q, rate);
	}
	q->nahead = 0;
	rc = found->rc;
	*r = found->r;
	*e = found->e;
	*found = q->runs.at[--q->runs.n];
	return rc;
}

static void search_free(struct search *q)
{
	for (size_t i = 0; i < q->runs.n; i++)
		lab_load_free(&q->runs.at[i].r);
	vec_free(&q->runs);
}

/* ---- points ---- */

static bool is_saturated(const struct lab_sat_point *p, time_ps zero_load)
{
	return p->deadlock || p->accepted * 100 < p->offered * KEEPS_UP_PERCENT ||
	       (zero_load && p->mean > zero_load * SLOWER_TIMES);
}

static int measure(struct search *q, uint64_t rate, struct lab_sat_point *p, struct err *e)
{
	const struct lab_sat_config *c = q->c;
	struct lab_saturation *s = q->s;
	struct lab_load_result r = {0};
	int rc = take_run(q, rate, &r, e);

	if (rc)
		return rc;
	*p = (struct lab_sat_point){
		.rate = rate,
		.offered = r.offered,
		.accepted = r.accepted,
		.mean = hist_mean(&r.plane.latency),
		.p99 = hist_percentile(&r.plane.latency, 990),
		.deadlock = r.nring != 0,
		.conserved = r.conserved,
	};
	p->saturated = is_saturated(p, s->zero_load);
	s->runs++;
	s->events += r.events;
	s->sound &= p->conserved && !p->deadlock;
	if (r.discarded && !s->zero_load)
		rc = err_set(e, -EINVAL,
			     "%llu of %llu packets were discarded at %llu packets a second and "
			     "node: expected a fabric "
			     "in which every host reaches every other",
			     (unsigned long long)r.discarded, (unsigned long long)r.plane.generated,
			     (unsigned long long)rate);
	lab_load_free(&r);
	if (!rc && c->done)
		c->done(c->ctx, p);
	return rc;
}

static void foresee_bounds(struct search *q, uint64_t rate, uint64_t full)
{
	for (; rate < full; rate = MIN(rate * 2, full))
		foresee(q, rate);
	foresee(q, full);
}

/* Lower the rate until latency no longer falls; *low is that rate. */
static int find_zero_load(struct search *q, uint64_t full, uint64_t *low, struct err *e)
{
	struct lab_sat_point p = {0}, lower = {0};
	uint64_t rate = MAX(full / 128, 1u);
	bool level = false;
	int rc;

	foresee(q, MAX(rate / 8, 1u));
	foresee_bounds(q, MAX(full / 64, 1u), full);
	rc = measure(q, rate, &p, e);
	while (!rc && !level && rate > 1) {
		rate = MAX(rate / 8, 1u);
		foresee_bounds(q, MAX(full / 64, 1u), full);
		rc = measure(q, rate, &lower, e);
		level = !p.saturated && lower.mean * 20 >= p.mean * 19;
		p = lower;
	}
	q->s->zero_load = MAX(p.mean, (time_ps)1);
	*low = rate;
	return rc;
}

/* Double the rate until a point is saturated. *high is 0 when even the full link rate is not. */
static int find_bounds(struct search *q, uint64_t full, uint64_t *low, uint64_t *high,
		       struct err *e)
{
	struct lab_sat_point p;
	int rc;

	for (uint64_t rate = MAX(full / 64, 1u);; rate = MIN(rate * 2, full)) {
		foresee_bounds(q, rate, full);
		rc = measure(q, rate, &p, e);
		if (rc)
			return rc;
		*high = p.saturated ? rate : 0;
		if (p.saturated)
			return 0;
		*low = rate;
		if (rate >= full)
			return 0;
	}
}

static bool is_narrow(uint64_t low, uint64_t high)
{
	return high <= low + 1 || (high - low) * PRECISION <= low;
}

/* The middle, then both rates that may follow it, and so on. */
static void foresee_middles(struct search *q, uint64_t low, uint64_t high, unsigned levels)
{
	uint64_t middle = low + (high - low) / 2;

	if (!levels || is_narrow(low, high))
		return;
	foresee(q, middle);
	foresee_middles(q, low, middle, levels - 1);
	foresee_middles(q, middle, high, levels - 1);
}

static int find_rate(struct search *q, uint64_t full, struct err *e)
{
	struct lab_saturation *s = q->s;
	uint64_t low, high = 0, middle;
	struct lab_sat_point p;
	int rc = find_zero_load(q, full, &low, e);

	if (!rc)
		rc = find_bounds(q, full, &low, &high, e);
	while (!rc && !is_narrow(low, high)) {
		middle = low + (high - low) / 2;
		for (unsigned levels = 2; levels <= 4; levels++) /* the nearest first */
			foresee_middles(q, low, high, levels);
		rc = measure(q, middle, &p, e);
		if (!rc && p.saturated)
			high = middle;
		else
			low = middle;
	}
	s->rate = low;
	s->full = !high;
	return rc;
}

static uint64_t curve_rate(const struct search *q, unsigned i)
{
	/* 128 bits: the rate times 6 may not fit */
	unsigned __int128 rate = (unsigned __int128)q->s->rate * 6 * i / (5ull * q->c->points);

	return MAX((uint64_t)rate, (uint64_t)1);
}

static int draw_curve(struct search *q, struct err *e)
{
	struct lab_sat_point p;
	int rc = 0;

	for (unsigned i = 1; !rc && i <= q->c->points; i++) {
		for (unsigned k = i; k <= q->c->points; k++)
			foresee(q, curve_rate(q, k));
		rc = measure(q, curve_rate(q, i), &p, e);
		if (!rc)
			vec_push(&q->s->curve, p);
	}
	return rc;
}

int lab_saturation(const struct lab_sat_config *c, struct lab_saturation *s, struct err *e)
{
	uint64_t full = lab_load_full_rate(c->fab, c->load->traffic.payload);
	struct search q = {.c = c, .s = s, .threads = thread_count(c->lab->threads)};
	int rc;

	*s = (struct lab_saturation){.sound = true};
	if (!full)
		return err_set(e, -EINVAL, "found no host with a link, expected at least two");
	if (c->load->traffic.pattern == TRAFFIC_TRACE)
		return err_set(e, -EINVAL,
			       "a trace defines its own rate: expected another pattern");
	rc = find_rate(&q, full, e);
	if (!rc)
		rc = draw_curve(&q, e);
	search_free(&q);
	return rc;
}

void lab_saturation_free(struct lab_saturation *s)
{
	vec_free(&s->curve);
}
