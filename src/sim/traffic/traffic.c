/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns and arrival processes. State: for each host its progress and a random stream of its own,
 * in struct traffic. Way in: traffic_new(). Does not know the fabric, nor whether a packet arrives.
 *
 * Patterns with few hosts: all need two, a tornado three (n/2 rounds up, so that three hosts form a
 * ring). With two hosts every pattern is one host sending to the other. A shift by a multiple of n
 * is refused. With an odd n the host in the middle of the complement would send to itself, so it
 * sends nothing. The host at the hot spot sends uniformly.
 */
#include "sim/traffic/traffic.h"
#include "sim/traffic/traffic_priv.h"

/* Streams of hosts follow this number; the permutation's comes after the last possible host. */
#define STREAM_HOSTS	   0x5472616600000000ull
#define STREAM_PERMUTATION (STREAM_HOSTS + (1ull << 32))

#define ULL(x) ((unsigned long long)(x))

enum { PAYLOAD_MAX = 4096, BURST_MAX = 1000000, SL_MAX = 15 };

struct source {
	struct rng rng;
	uint64_t when; /* of the last packet */
	uint64_t time_frac,
		burst_frac;  /* remainder of rounding, carried on so that means are exact */
	uint64_t burst_left; /* remaining packets of the burst */
	uint32_t turn;	     /* all to all: distance to the destination; trace: index in order */
	bool begun, done;
};

struct traffic {
	struct traffic_config c;
	uint32_t n;
	struct source *sources;
	uint32_t *partners;		 /* permutation */
	uint32_t *order;		 /* trace: items by host, */
	uint32_t *order_at;		 /* those of host i from order_at[i] to order_at[i + 1] */
	u128 off_low_q16, burst_low_q16; /* bursty: the shortest pause and burst */
	struct traffic_logs logs;
};

/* ---- names ---- */

const char *traffic_pattern_name(enum traffic_pattern p)
{
	switch (p) {
	case TRAFFIC_UNIFORM:
		return "uniform";
	case TRAFFIC_PERMUTATION:
		return "permutation";
	case TRAFFIC_SHIFT:
		return "shift";
	case TRAFFIC_HOTSPOT:
		return "hotspot";
	case TRAFFIC_COMPLEMENT:
		return "complement";
	case TRAFFIC_TORNADO:
		return "tornado";
	case TRAFFIC_ALL_TO_ALL:
		return "all-to-all";
	case TRAFFIC_INCAST:
		return "incast";
	case TRAFFIC_TRACE:
		return "trace";
	}
	return "unknown";
}

const char *traffic_arrivals_name(enum traffic_arrivals a)
{
	switch (a) {
	case TRAFFIC_POISSON:
		return "poisson";
	case TRAFFIC_CONSTANT:
		return "constant";
	case TRAFFIC_BURSTY:
		return "bursty";
	}
	return "unknown";
}

/* ---- checks ---- */

static int check_pattern(const struct traffic_config *c, uint32_t n, struct err *e)
{
	const char *name = traffic_pattern_name(c->pattern);
	uint32_t least = c->pattern == TRAFFIC_TORNADO ? 3 : 2;
	bool hot = c->pattern == TRAFFIC_HOTSPOT || c->pattern == TRAFFIC_INCAST;

	if ((unsigned)c->pattern > TRAFFIC_TRACE)
		return err_set(e, -EINVAL, "found traffic pattern %u, expected one from 0 to %u",
			       (unsigned)c->pattern, TRAFFIC_TRACE);
	if (n < least)
		return err_set(e, -EINVAL, "pattern %s needs at least %u hosts, found %u", name,
			       least, n);
	if (hot && c->hot_host >= n)
		return err_set(e, -EINVAL,
			       "pattern %s: found hot host %u, expected one from 0 to %u", name,
			       c->hot_host, n - 1);
	if (c->pattern == TRAFFIC_HOTSPOT && c->hot_share_q32 > 1ull << 32)
		return err_set(e, -EINVAL,
			       "pattern %s: found a hot share above 1, expected one from 0 to 1",
			       name);
	if (c->pattern == TRAFFIC_SHIFT && c->shift % n == 0)
		return err_set(e, -EINVAL,
			       "pattern %s: found a shift by %u, which leads each of %u hosts to "
			       "itself, expected no multiple of %u",
			       name, c->shift, n, n);
	return 0;
}

static int check_bursts(const struct traffic_config *c, struct err *e)
{
	if (c->burst_packets < 1 || c->burst_packets > BURST_MAX)
		return err_set(e, -EINVAL,
			       "found bursts of %u packets in the mean, expected 1 to %u",
			       c->burst_packets, BURST_MAX);
	if (c->burst_gap_ps >= c->interval_ps)
		return err_set(e, -EINVAL,
			       "found a gap of %llu ps between the packets of a burst, expected "
			       "less than the mean interval of %llu ps",
			       ULL(c->burst_gap_ps), ULL(c->interval_ps));
	/* The fixed-point product of a Pareto variable has room for 62 bits of mean. */
	if ((u128)c->interval_ps * c->burst_packets >> 62)
		return err_set(e, -EINVAL,
			       "found bursts of %u packets every %llu ps each, expected less than "
			       "2^62 ps between bursts",
			       c->burst_packets, ULL(c->interval_ps));
	return 0;
}

static int check_arrivals(const struct traffic_config *c, struct err *e)
{
	if ((unsigned)c->arrivals > TRAFFIC_BURSTY)
		return err_set(e, -EINVAL, "found arrival process %u, expected one from 0 to %u",
			       (unsigned)c->arrivals, TRAFFIC_BURSTY);
	if (!c->interval_ps)
		return err_set(e, -EINVAL,
			       "found a mean interval of 0 ps between packets, expected at least "
			       "1 ps");
	if (c->payload > PAYLOAD_MAX)
		return err_set(e, -EINVAL, "found a payload of %u bytes, expected at most %u",
			       c->payload, PAYLOAD_MAX);
	return c->arrivals == TRAFFIC_BURSTY ? check_bursts(c, e) : 0;
}

static int check_trace(const traffic_trace *trace, uint32_t n, struct err *e)
{
	uint64_t before = 0;

	if (!trace)
		return err_set(e, -EINVAL, "pattern trace needs a trace, found none");
	if (trace->n >= UINT32_MAX)
		return err_set(e, -EINVAL, "found a trace of %zu packets, expected less than 2^32",
			       trace->n);
	for (size_t i = 0; i < trace->n; i++) {
		const struct traffic_trace_item *it = &trace->at[i];

		if (it->src >= n || it->dst >= n || it->src == it->dst)
			return err_set(e, -EINVAL,
				       "packet %zu of the trace: found host %u sending to %u, "
				       "expected two hosts from 0 to %u",
				       i, it->src, it->dst, n - 1);
		if (it->bytes > PAYLOAD_MAX || it->sl > SL_MAX)
			return err_set(e, -EINVAL,
				       "packet %zu of the trace: found %u bytes on service level "
				       "%u, expected at most %u on one from 0 to %u",
				       i, it->bytes, it->sl, PAYLOAD_MAX, SL_MAX);
		if (it->when_ps < before)
			return err_set(e, -EINVAL,
				       "packet %zu of the trace: found %llu ps behind %llu ps, "
				       "expected packets sorted by time",
				       i, ULL(it->when_ps), ULL(before));
		before = it->when_ps;
	}
	return 0;
}

static int check(const struct traffic_config *c, uint32_t n, struct err *e)
{
	int rc = check_pattern(c, n, e);

	if (rc)
		return rc;
	if (c->stop_ps < c->start_ps)
		return err_set(e, -EINVAL,
			       "found a stop at %llu ps, expected none before the start at %llu ps",
			       ULL(c->stop_ps), ULL(c->start_ps));
	return c->pattern == TRAFFIC_TRACE ? check_trace(c->trace, n, e) : check_arrivals(c, e);
}

/* ---- set-up ---- */

/* The least value of a Pareto variable with this mean. */
static u128 pareto_low_q16(u128 mean)
{
	return (mean << 16) * TRAFFIC_PARETO_DEN / TRAFFIC_PARETO_NUM;
}

/* Drawn until no host sends to itself: every such permutation is equally likely; e tries in the
 * mean. */
static uint32_t *permutation_draw(uint64_t seed, uint32_t n)
{
	uint32_t *p = mem_array(n, sizeof(*p)), i;
	struct rng r;

	rng_seed(&r, seed, STREAM_PERMUTATION);
	for (i = 0; i < n; i++)
		p[i] = i;
	do {
		for (i = n; i > 1; i--) {
			uint32_t j = rng_below(&r, i), swap = p[j];

			p[j] = p[i - 1];
			p[i - 1] = swap;
			if (swap == i - 1) /* final, and a fixed point */
				break;
		}
	} while (i > 1 || p[0] == 0);
	return p;
}

/* Indexes of the trace by host, for each host by time: a counting sort. */
static void trace_deal(struct traffic *t)
{
	const traffic_trace *trace = t->c.trace;

	t->order = mem_array(trace->n, sizeof(*t->order));
	t->order_at = mem_zarray((size_t)t->n + 1, sizeof(*t->order_at));
	for (size_t i = 0; i < trace->n; i++)
		t->order_at[trace->at[i].src + 1]++;
	for (uint32_t h = 0; h < t->n; h++) {
		t->order_at[h + 1] += t->order_at[h];
		t->sources[h].turn = t->order_at[h];
	}
	for (size_t i = 0; i < trace->n; i++)
		t->order[t->sources[trace->at[i].src].turn++] = (uint32_t)i;
	for (uint32_t h = 0; h < t->n; h++)
		t->sources[h].turn = t->order_at[h];
}

static bool host_sends(const struct traffic *t, uint32_t host)
{
	if (t->c.pattern == TRAFFIC_INCAST)
		return host != t->c.hot_host;
	if (t->c.pattern == TRAFFIC_COMPLEMENT)
		return host != t->n - 1 - host;
	return true;
}

struct traffic *traffic_new(const struct traffic_config *c, uint32_t n, struct err *e)
{
	struct traffic *t;

	if (check(c, n, e))
		return NULL;
	t = mem_zalloc(sizeof(*t));
	t->c = *c;
	t->n = n;
	t->sources = mem_zarray(n, sizeof(*t->sources));
	for (uint32_t h = 0; h < n; h++) {
		rng_seed(&t->sources[h].rng, c->seed, STREAM_HOSTS + h);
		t->sources[h].when = c->start_ps;
		t->sources[h].done = !host_sends(t, h);
	}
	traffic_logs_make(&t->logs);
	if (c->pattern == TRAFFIC_PERMUTATION)
		t->partners = permutation_draw(c->seed, n);
	if (c->pattern == TRAFFIC_TRACE) {
		trace_deal(t);
	} else if (c->arrivals == TRAFFIC_BURSTY) {
		t->burst_low_q16 = pareto_low_q16(c->burst_packets - 1);
		t->off_low_q16 =
			pareto_low_q16((u128)(c->interval_ps - c->burst_gap_ps) * c->burst_packets);
	}
	return t;
}

void traffic_free(struct traffic *t)
{
	if (!t)
		return;
	free(t->sources);
	free(t->partners);
	free(t->order);
	free(t->order_at);
	free(t);
}

/* ---- arrivals ---- */

/* Integer part of a fixed-point value; the fraction is kept in carry for the next time. */
static uint64_t carry_round(u128 v, unsigned bits, uint64_t *carry)
{
	v += *carry;
	*carry = (uint64_t)(v & (((u128)1 << bits) - 1));
	v >>= bits;
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

static uint64_t sum_or_never(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t poisson_gap(struct traffic *t, struct source *s)
{
	uint64_t x_q48 = traffic_exponential_q48(&t->logs, rng_u64(&s->rng));

	return carry_round((u128)t->c.interval_ps * x_q48, 48, &s->time_frac);
}

static uint64_t constant_gap(struct traffic *t, struct source *s)
{
	if (!s->begun)
		return traffic_scaled(rng_u64(&s->rng), t->c.interval_ps);
	return t->c.interval_ps;
}

static uint64_t pareto_next(struct traffic *t, struct source *s, u128 low_q16, uint64_t *carry)
{
	return carry_round(low_q16 * traffic_pareto_q40(&t->logs, rng_u64(&s->rng)), 56, carry);
}

/* The length of one that is in progress at a random moment. */
static uint64_t pareto_met(struct source *s, u128 low_q16, uint64_t *carry)
{
	return carry_round(low_q16 * traffic_pareto_met_q40(rng_u64(&s->rng)), 56, carry);
}

/* Time to the next packet of the burst, or if it is over, to the next burst after a pause. */
static uint64_t burst_step(struct traffic *t, struct source *s, uint64_t gap)
{
	if (!s->burst_left) {
		gap = sum_or_never(gap, pareto_next(t, s, t->off_low_q16, &s->time_frac));
		s->burst_left = 1 + pareto_next(t, s, t->burst_low_q16, &s->burst_frac);
	}
	s->burst_left--;
	return gap;
}

/*
 * The process is stationary: at the start a host is in a burst as often as at any other time, and
 * the burst or pause in progress has the length distribution seen at a random moment. So the rate
 * is right from the start; if every host began with a new burst, heavy tails would keep it wrong
 * for very long.
 */
static uint64_t burst_begin(struct traffic *t, struct source *s)
{
	uint64_t phase = traffic_scaled(rng_u64(&s->rng), t->c.interval_ps), off, packets;

	s->burst_frac = rng_u64(&s->rng) >> 8; /* also the remainder of rounding */
	if (phase >= t->c.burst_gap_ps) {      /* in a pause */
		off = pareto_met(s, t->off_low_q16, &s->time_frac);
		s->burst_left = pareto_next(t, s, t->burst_low_q16, &s->burst_frac);
		return traffic_scaled(rng_u64(&s->rng), off);
	}
	/* A burst is one packet plus a Pareto number: the random moment falls on the one or on
	 * the others. */
	packets = 1 + (rng_below(&s->rng, t->c.burst_packets)
			       ? pareto_met(s, t->burst_low_q16, &s->burst_frac)
			       : pareto_next(t, s, t->burst_low_q16, &s->burst_frac));
	s->burst_left = traffic_scaled(rng_u64(&s->rng), packets);
	return burst_step(t, s, phase);
}

static uint64_t next_gap(struct traffic *t, struct source *s)
{
	switch (t->c.arrivals) {
	case TRAFFIC_POISSON:
		return poisson_gap(t, s);
	case TRAFFIC_CONSTANT:
		return constant_gap(t, s);
	case TRAFFIC_BURSTY:
		return s->begun ? burst_step(t, s, t->c.burst_gap_ps) : burst_begin(t, s);
	}
	return UINT64_MAX;
}

/* ---- destinations ---- */

static uint32_t any_other(struct rng *r, uint32_t n, uint32_t self)
{
	uint32_t d = rng_below(r, n - 1);

	return d + (d >= self);
}

static uint32_t hosts_on(const struct traffic *t, uint32_t host, uint32_t by)
{
	return (uint32_t)(((uint64_t)host + by) % t->n);
}

static uint32_t next_destination(struct traffic *t, struct source *s, uint32_t host)
{
	const struct traffic_config *c = &t->c;

	switch (c->pattern) {
	case TRAFFIC_UNIFORM:
		break;
	case TRAFFIC_PERMUTATION:
		return t->partners[host];
	case TRAFFIC_SHIFT:
		return hosts_on(t, host, c->shift);
	case TRAFFIC_HOTSPOT:
		if (host != c->hot_host && rng_chance(&s->rng, c->hot_share_q32))
			return c->hot_host;
		break;
	case TRAFFIC_COMPLEMENT:
		return t->n - 1 - host;
	case TRAFFIC_TORNADO:
		return hosts_on(t, host, t->n / 2 + t->n % 2 - 1);
	case TRAFFIC_ALL_TO_ALL:
		s->turn = s->turn % (t->n - 1) + 1;
		return hosts_on(t, host, s->turn);
	case TRAFFIC_INCAST:
		return c->hot_host;
	case TRAFFIC_TRACE:
		assert(!"the trace has its own destinations");
	}
	return any_other(&s->rng, t->n, host);
}

static uint8_t next_sl(struct source *s, uint16_t mask)
{
	unsigned n = (unsigned)__builtin_popcount(mask), skip = n > 1 ? rng_below(&s->rng, n) : 0;

	if (!mask)
		return 0;
	while (skip--)
		mask &= (uint16_t)(mask - 1);
	return (uint8_t)__builtin_ctz(mask);
}

/* ---- the next packet ---- */

static bool trace_next(struct traffic *t, uint32_t host, struct traffic_packet *p)
{
	struct source *s = &t->sources[host];

	while (s->turn < t->order_at[host + 1]) {
		const struct traffic_trace_item *it = &t->c.trace->at[t->order[s->turn++]];

		if (it->when_ps < t->c.start_ps || it->when_ps >= t->c.stop_ps)
			continue;
		*p = (struct traffic_packet){it->when_ps, it->dst, it->bytes, it->sl};
		return true;
	}
	return false;
}

bool traffic_next(struct traffic *t, uint32_t host, struct traffic_packet *p)
{
	struct source *s = &t->sources[host];
	uint64_t gap;

	assert(host < t->n);
	if (t->c.pattern == TRAFFIC_TRACE)
		return trace_next(t, host, p);
	if (s->done)
		return false;
	gap = next_gap(t, s);
	s->begun = true;
	if (gap >= t->c.stop_ps - s->when) {
		s->done = true;
		return false;
	}
	s->when += gap;
	p->when_ps = s->when;
	p->dst = next_destination(t, s, host);
	p->payload = t->c.payload;
	p->sl = next_sl(s, t->c.sl_mask);
	return true;
}
