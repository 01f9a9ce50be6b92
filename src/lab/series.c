/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Series over time (thesis Table 10): one sample a period, from the counters of ports, buffers and the
 * plane. State: struct lab_series. Way in: lab_series_start(). Does not influence the run.
 */
#include "lab/series.h"
#include "lab/lab_priv.h"

static uint64_t all_discards(const struct sim_plane_stats *st)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		n += st->discarded[i];
	return n;
}

static uint64_t all_smps(const struct lab *l)
{
	struct sm_status st;
	uint64_t n = 0;

	sm_status(l->sm, &st);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		n += st.smps[i];
	return n;
}

/* How much of the period the links have been sending. */
static void sample_links(struct lab_series *s, struct lab_sample *x)
{
	const struct lab *l = s->lab;
	uint64_t sum = 0;
	uint32_t n = 0;

	for (port_id p = 0; p < l->fab->nports; p++) {
		uint64_t bytes = sim_port_counters(l->sim, p)->tx_bytes, use;

		if (!l->fab->ports[p].num || sim_port_peer(l->sim, p) == FAB_NONE)
			continue;
		use = sim_wire_time(l->sim, p, bytes - s->tx_bytes[p]) / (s->period / 1000000);
		s->tx_bytes[p] = bytes;
		use = MIN(use, (uint64_t)1000000);
		x->link_use_max = MAX(x->link_use_max, (uint32_t)use);
		sum += use;
		n++;
	}
	x->link_use = n ? (uint32_t)(sum / n) : 0;
}

static void sample_latency(struct lab_series *s, struct lab_sample *x)
{
	const struct hist *h = &sim_plane_stats(s->lab->sim)->latency;

	if (h->n > s->latency_n)
		x->latency_ps = (uint64_t)((h->sum - s->latency_sum) / (h->n - s->latency_n));
	s->latency_n = h->n;
	s->latency_sum = h->sum;
}

static void take(struct lab_series *s)
{
	const struct sim_plane_stats *st = sim_plane_stats(s->lab->sim);
	struct lab_sample now = {.generated = st->generated,
				 .delivered = st->delivered,
				 .discarded = all_discards(st),
				 .smps = all_smps(s->lab)};
	struct lab_sample x = {.at = sim_now(s->lab->sim),
			       .generated = now.generated - s->sum.generated,
			       .delivered = now.delivered - s->sum.delivered,
			       .discarded = now.discarded - s->sum.discarded,
			       .smps = now.smps - s->sum.smps,
			       .in_flight = st->in_flight};
	struct lab_levels v;

	sample_links(s, &x);
	sample_latency(s, &x);
	sim_buffer_use(s->lab->sim, &x.buffer_use, &x.buffer_use_max);
	if (s->levels) {
		lab_levels(s->lab, &v);
		x.connectivity = v.connectivity;
		x.deadlock = v.deadlock;
	}
	s->sum = now;
	vec_push(&s->samples, x);
}

static void on_time(void *ctx, uint64_t cookie)
{
	struct lab_series *s = ctx;

	(void)cookie;
	if (!s->running)
		return;
	take(s);
	sim_call(s->lab->sim, sim_now(s->lab->sim) + s->period, on_time, s, 0);
}

void lab_series_start(struct lab_series *s, struct lab *l, time_ps period, bool levels)
{
	memset(s, 0, sizeof(*s));
	s->lab = l;
	s->period = MAX(period, PS_PER_US);
	s->levels = levels;
	s->running = true;
	s->tx_bytes = mem_zarray(l->fab->nports, sizeof(*s->tx_bytes));
	take(s); /* where everything starts from */
	s->samples.n = 0;
	sim_call(l->sim, sim_now(l->sim) + s->period, on_time, s, 0);
}

void lab_series_stop(struct lab_series *s)
{
	s->running = false;
}

void lab_series_free(struct lab_series *s)
{
	vec_free(&s->samples);
	free(s->tx_bytes);
}
