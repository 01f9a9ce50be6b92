/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rate at which a fabric no longer keeps up, and its latency curve. State: struct
 * lab_saturation, the caller's. Way in: lab_saturation(). Does not share anything between points:
 * each is a lab of its own, brought up anew.
 */
#include "lab/lab.h"

enum { BRING_UP_LIMIT_S = 1000, KEEPS_UP_PERCENT = 95, SLOWER_TIMES = 5, PRECISION = 32 };

/* One lab, one rate. The loss of packets is an answer at any rate but the lowest. */
static int run_point(const struct lab_sat_config *c, uint64_t rate, struct lab_load_result *r,
		     struct err *e)
{
	struct lab_load d = *c->load;
	struct lab *l = lab_new(c->fab, c->lab, e);
	int rc;

	if (!l)
		return -EINVAL;
	if (c->tick)
		lab_on_tick(l, c->tick, c->ctx);
	d.traffic.interval_ps = lab_load_interval(rate);
	lab_load_times(c->fab, &d);
	rc = lab_load_up(l, BRING_UP_LIMIT_S * PS_PER_S, e);
	if (!rc)
		rc = lab_load_run(l, &d, r, e);
	lab_free(l);
	return rc;
}

static bool is_saturated(const struct lab_sat_point *p, time_ps zero_load)
{
	return p->deadlock || p->accepted * 100 < p->offered * KEEPS_UP_PERCENT ||
	       (zero_load && p->mean > zero_load * SLOWER_TIMES);
}

static int measure(const struct lab_sat_config *c, struct lab_saturation *s, uint64_t rate,
		   struct lab_sat_point *p, struct err *e)
{
	struct lab_load_result r = {0};
	int rc = run_point(c, rate, &r, e);

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

/* Down to a rate at which going further down makes packets no faster: *low, which keeps up. */
static int find_zero_load(const struct lab_sat_config *c, struct lab_saturation *s, uint64_t full,
			  uint64_t *low, struct err *e)
{
	struct lab_sat_point p = {0}, lower = {0};
	uint64_t rate = MAX(full / 128, 1u);
	bool level = false;
	int rc = measure(c, s, rate, &p, e);

	while (!rc && !level && rate > 1) {
		rate = MAX(rate / 8, 1u);
		rc = measure(c, s, rate, &lower, e);
		level = !p.saturated && lower.mean * 20 >= p.mean * 19;
		p = lower;
	}
	s->zero_load = MAX(p.mean, (time_ps)1);
	*low = rate;
	return rc;
}

/* Double until it is too much. *high becomes 0 when even the full link is not. */
static int find_bounds(const struct lab_sat_config *c, struct lab_saturation *s, uint64_t full,
		       uint64_t *low, uint64_t *high, struct err *e)
{
	struct lab_sat_point p;
	int rc;

	for (uint64_t rate = MAX(full / 64, 1u);; rate = MIN(rate * 2, full)) {
		rc = measure(c, s, rate, &p, e);
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

static int find_rate(const struct lab_sat_config *c, struct lab_saturation *s, uint64_t full,
		     struct err *e)
{
	uint64_t low, high = 0, middle;
	struct lab_sat_point p;
	int rc = find_zero_load(c, s, full, &low, e);

	if (!rc)
		rc = find_bounds(c, s, full, &low, &high, e);
	while (!rc && high > low + 1 && (high - low) * PRECISION > low) {
		middle = low + (high - low) / 2;
		rc = measure(c, s, middle, &p, e);
		if (!rc && p.saturated)
			high = middle;
		else
			low = middle;
	}
	s->rate = low;
	s->full = !high;
	return rc;
}

int lab_saturation(const struct lab_sat_config *c, struct lab_saturation *s, struct err *e)
{
	uint64_t full = lab_load_full_rate(c->fab, c->load->traffic.payload);
	struct lab_sat_point p;
	int rc;

	*s = (struct lab_saturation){.sound = true};
	if (!full)
		return err_set(e, -EINVAL, "found no host with a link, expected at least two");
	if (c->load->traffic.pattern == TRAFFIC_TRACE)
		return err_set(e, -EINVAL, "a trace has its own rate: expected another pattern");
	rc = find_rate(c, s, full, e);
	for (unsigned i = 1; !rc && i <= c->points; i++) {
		/* 128 bits: the rate times 6 may not fit */
		uint64_t rate = (uint64_t)((unsigned __int128)s->rate * 6 * i / (5ull * c->points));

		rc = measure(c, s, MAX(rate, 1u), &p, e);
		if (!rc)
			vec_push(&s->curve, p);
	}
	return rc;
}

void lab_saturation_free(struct lab_saturation *s)
{
	vec_free(&s->curve);
}
