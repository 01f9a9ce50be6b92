/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples over time (thesis Table 10), from the counters of ports, buffers and the data plane. State: struct
 * lab_series. Way in: lab_series_start(). Does not influence the run, except for its number of events.
 */
#include "lab/series.h"
#include "lab/forwarding_scan.h"
#include "lab/lab_priv.h"
#include "lab/load.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/traffic/sim_traffic.h"

static uint32_t share(uint64_t part, uint64_t whole)
{
	unsigned __int128 millionths = whole ? (unsigned __int128)part * 1000000 / whole : 0;

	return (uint32_t)MIN(millionths, (unsigned __int128)1000000);
}

static bool linked(const struct lab *l, port_id p)
{
	return l->fab->ports[p].num && sim_port_peer(l->sim, p) != FAB_NONE;
}

/* ---- totals ---- */

static struct lab_sample counters_now(const struct lab *l)
{
	const struct sim_plane_stats *st = sim_plane_stats(l->sim);
	struct lab_sample now = {.generated = st->generated, .delivered = st->delivered};
	struct sm_status sm;

	sm_status(l->lead->sm, &sm);
	now.bytes = st->delivered_bytes + st->delivered * LAB_OVERHEAD_BYTES;
	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		now.discarded_by[i] = st->discarded[i];
		now.discarded += st->discarded[i];
	}
	for (unsigned i = 0; i < SM_NPURPOSES; i++) {
		now.smps_by[i] = sm.smps[i];
		now.smps += sm.smps[i];
	}
	return now;
}

static struct lab_sample counted_between(const struct lab_sample *then,
					 const struct lab_sample *now)
{
	struct lab_sample x = {.generated = now->generated - then->generated,
			       .delivered = now->delivered - then->delivered,
			       .discarded = now->discarded - then->discarded,
			       .smps = now->smps - then->smps,
			       .bytes = now->bytes - then->bytes};

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		x.discarded_by[i] = now->discarded_by[i] - then->discarded_by[i];
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		x.smps_by[i] = now->smps_by[i] - then->smps_by[i];
	return x;
}

static void sample_latency(struct lab_series *s, struct lab_sample *x)
{
	struct hist packet, header;

	sim_detail_latency(s->lab->sim, &packet, &header);
	x->latency_ps = hist_mean(&packet);
	x->latency_p99_ps = hist_percentile(&packet, 990);
	x->header_ps = hist_mean(&header);
	x->header_p99_ps = hist_percentile(&header, 990);
}

/* ---- by link ---- */

static struct lab_series_port port_now(const struct lab *l, port_id p)
{
	struct lab_series_port now = {.tx_bytes = sim_port_counters(l->sim, p)->tx_bytes};
	struct sim_port_detail d;
	struct sim_lane_detail lane;

	sim_port_detail(l->sim, p, &d);
	now.busy = d.busy;
	now.wait = d.wait;
	for (unsigned vl = 0; vl < sim_vl_count(l->sim); vl++) {
		sim_lane_detail(l->sim, p, vl, &lane);
		now.packets += lane.packets;
		now.bytes += lane.bytes;
		now.no_credit += lane.no_credit;
	}
	return now;
}

static uint32_t port_buffers(const struct lab *l, port_id p)
{
	unsigned nvl = sim_vl_count(l->sim);
	uint32_t sum = 0;

	for (unsigned vl = 0; vl < nvl; vl++)
		sum += sim_lane_buffer(l->sim, p, vl);
	return sum / nvl;
}

static struct lab_link_sample sample_link(struct lab_series *s, port_id p, time_ps span)
{
	struct lab_series_port now = port_now(s->lab, p), *then = &s->ports[p];
	struct lab_link_sample x = {
		.at = sim_now(s->lab->sim),
		.port = p,
		.packets = now.packets - then->packets,
		.bytes = now.tx_bytes - then->tx_bytes,
		.use = share(now.busy - then->busy, span),
		.wait = share(now.wait - then->wait, span),
		.no_credit =
			share(now.no_credit - then->no_credit, span * sim_vl_count(s->lab->sim)),
		.buffer_use = port_buffers(s->lab, sim_port_peer(s->lab->sim, p))};

	*then = now;
	return x;
}

static void sample_links(struct lab_series *s, struct lab_sample *x, time_ps span)
{
	const struct lab *l = s->lab;
	uint64_t use = 0, no_credit = 0;
	uint32_t n = 0;

	for (port_id p = 0; p < l->fab->nports; p++) {
		struct lab_link_sample k;

		if (!linked(l, p))
			continue;
		k = sample_link(s, p, span);
		if (s->sink.link)
			s->sink.link(s->sink.ctx, &k);
		x->link_use_max = MAX(x->link_use_max, k.use);
		x->no_credit_max = MAX(x->no_credit_max, k.no_credit);
		use += k.use;
		no_credit += k.no_credit;
		n++;
	}
	x->link_use = n ? (uint32_t)(use / n) : 0;
	x->no_credit = n ? (uint32_t)(no_credit / n) : 0;
}

/* ---- by node ---- */

/* Counters since the start; latency_ps is the sum over received packets. */
static struct lab_node_sample node_now(const struct lab *l, node_id n)
{
	struct lab_node_sample x = {.at = sim_now(l->sim), .node = n};
	struct sim_lane_detail lane;
	uint64_t buffers = 0, ports = 0;

	for (unsigned num = 0; num <= l->fab->nodes[n].nports; num++) {
		port_id p = fab_port_id(l->fab, n, num);

		x.discarded += sim_port_counters(l->sim, p)->discarded;
		for (unsigned vl = 0; num && vl < sim_vl_count(l->sim); vl++) {
			sim_lane_detail(l->sim, p, vl, &lane);
			x.sent += lane.packets;
			x.queue += sim_lane_queue(l->sim, p, vl);
		}
		buffers += linked(l, p) ? port_buffers(l, p) : 0;
		ports += linked(l, p);
	}
	x.buffer_use = ports ? (uint32_t)(buffers / ports) : 0;
	return x;
}

static void add_host(struct lab_node_sample *x, const struct sim_host_detail *h)
{
	x->generated += h->generated;
	x->received += h->delivered;
	x->latency_ps += h->latency_sum;
}

/* Hosts are numbered in the order of nodes: *host is the first that can belong to this node. */
static struct lab_node_sample node_total(const struct lab *l, node_id n, uint32_t *host)
{
	struct lab_node_sample x = node_now(l, n);

	for (; *host < sim_host_count(l->sim); ++*host) {
		const struct sim_host_detail *h = sim_host_detail(l->sim, *host);

		if (l->fab->ports[h->port].node != n)
			break;
		add_host(&x, h);
	}
	return x;
}

static void sample_nodes(struct lab_series *s)
{
	uint32_t host = 0;

	for (node_id n = 0; n < s->lab->fab->nnodes; n++) {
		struct lab_node_sample now = node_total(s->lab, n, &host), *then = &s->nodes[n],
				       x = now;

		x.generated -= then->generated;
		x.sent -= then->sent;
		x.received -= then->received;
		x.discarded -= then->discarded;
		x.latency_ps = x.received ? (now.latency_ps - then->latency_ps) / x.received : 0;
		*then = now;
		s->sink.node(s->sink.ctx, &x);
	}
}

/* ---- the clock ---- */

static void take_sample(struct lab_series *s)
{
	struct sim *sim = s->lab->sim;
	struct lab_sample now = counters_now(s->lab), x = counted_between(&s->sum, &now);
	struct lab_levels v;

	x.at = sim_now(sim);
	x.span = x.at - s->last;
	x.in_flight = sim_plane_stats(sim)->in_flight;
	sample_latency(s, &x);
	sample_links(s, &x, x.span);
	if (s->sink.node)
		sample_nodes(s);
	sim_buffer_use(sim, &x.buffer_use, &x.buffer_use_max);
	if (s->levels) {
		lab_levels(s->lab, &v);
		x.connectivity = v.connectivity;
		x.deadlock = v.deadlock;
	}
	s->sum = now;
	s->last = x.at;
	vec_push(&s->samples, x);
}

static void on_time(void *ctx, uint64_t cookie)
{
	struct lab_series *s = ctx;

	(void)cookie;
	if (!s->running)
		return;
	take_sample(s);
	sim_call(s->lab->sim, sim_now(s->lab->sim) + s->period, on_time, s, 0);
}

void lab_series_start(struct lab_series *s, struct lab *l, time_ps period, bool levels)
{
	memset(s, 0, sizeof(*s));
	s->lab = l;
	s->period = MAX(period, PS_PER_US);
	s->levels = levels;
	s->running = true;
	s->ports = mem_zarray(l->fab->nports, sizeof(*s->ports));
	sim_detail_start(l->sim);
	take_sample(s); /* the starting values */
	s->samples.n = 0;
	sim_call(l->sim, sim_now(l->sim) + s->period, on_time, s, 0);
}

void lab_series_sink(struct lab_series *s, struct lab_series_sink sink)
{
	uint32_t host = 0;

	if (!s->nodes && sink.node) {
		s->nodes = mem_zarray(s->lab->fab->nnodes, sizeof(*s->nodes));
		for (node_id n = 0; n < s->lab->fab->nnodes; n++)
			s->nodes[n] = node_total(s->lab, n, &host);
	}
	s->sink = sink;
}

void lab_series_stop(struct lab_series *s)
{
	if (s->running && sim_now(s->lab->sim) > s->last)
		take_sample(s); /* so that the intervals add up to the run */
	s->running = false;
}

void lab_series_free(struct lab_series *s)
{
	vec_free(&s->samples);
	free(s->ports);
	free(s->nodes);
}
