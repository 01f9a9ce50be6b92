/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric under load. Keeps no state beyond the lab and the caller's result. Way in: lab_load_up(),
 * lab_load_run(). Does not choose rates: see saturation.c.
 */
#include "lab/load.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

typedef unsigned __int128 u128;

enum { PACKETS_PER_NODE = 200, PACKETS_IN_TOTAL = 8000, LINK_PACKETS = 1000 };

/* ---- hosts and their links ---- */

static bool sends(const struct fab *f, port_id p)
{
	const struct fab_port *x = &f->ports[p];
	bool function = f->nodes[x->node].flags & FAB_FUNCTION;

	return x->num && x->peer != FAB_NONE && f->nodes[x->node].type == IBA_NODE_CA &&
	       !(function && f->ports[x->peer].num > FAB_SLOT0_PORT);
}

static uint64_t port_bps(const struct fab_port *p)
{
	return (uint64_t)(p->width ? p->width : 1) * fab_lane_bps(p->speed ? p->speed : FAB_SDR);
}

uint64_t lab_host_bps(const struct fab *f)
{
	uint64_t least = 0;

	for (port_id p = 0; p < f->nports; p++) {
		uint64_t bps = sends(f, p) ? port_bps(&f->ports[p]) : 0;

		if (bps && (!least || bps < least))
			least = bps;
	}
	return least;
}

uint32_t lab_host_number(const struct fab *f, node_id n)
{
	uint32_t number = 0;

	if (f->nodes[n].flags & FAB_VSWITCH && f->nodes[n].nports >= FAB_SLOT0_PORT &&
	    f->ports[fab_port_id(f, n, FAB_SLOT0_PORT)].peer != FAB_NONE)
		n = f->ports[f->ports[fab_port_id(f, n, FAB_SLOT0_PORT)].peer].node; /* its PF */
	for (port_id p = 0; p < f->nports; p++) {
		if (sends(f, p) && f->ports[p].node == n)
			return number;
		number += sends(f, p);
	}
	return UINT32_MAX;
}

uint32_t lab_load_hosts(const struct fab *f)
{
	uint32_t n = 0;

	for (port_id p = 0; p < f->nports; p++)
		n += sends(f, p);
	return n;
}

/* The number of hosts, of n, that send at all. */
static uint32_t count_senders(const struct traffic_config *t, uint32_t n)
{
	bool one_less = t->pattern == TRAFFIC_INCAST || (t->pattern == TRAFFIC_COMPLEMENT && n % 2);

	return n > 1 ? n - one_less : n;
}

/* ---- rates and times ---- */

uint64_t lab_load_full_rate(const struct fab *f, unsigned payload)
{
	return lab_host_bps(f) / ((payload + LAB_OVERHEAD_BYTES) * 8ull);
}

void lab_load_network(struct sim_config *c)
{
	unsigned packet = (iba_mtu_bytes(1) + LAB_OVERHEAD_BYTES - 2 + 63) / 64 * 64;

	c->mtu_cap = 1; /* 256 bytes */
	c->vl_cap = 2;	/* 2 VLs */
	c->wire_ps = 100 * PS_PER_NS;
	c->phy_errors = 8;
	c->plane.on = true;
	c->plane.route_ps = c->plane.crossbar_ps = c->plane.link_arb_ps = 40 * PS_PER_NS;
	c->plane.map_ps = 20 * PS_PER_NS;
	c->plane.setup_ps = 2 * PS_PER_NS;
	c->plane.retrain_ps = 2 * PS_PER_MS;
	c->plane.buffer_bytes = MAX(c->plane.buffer_bytes, 2 * packet);
}

void lab_load_traffic(struct traffic_config *t, uint64_t seed)
{
	*t = (struct traffic_config){.pattern = TRAFFIC_UNIFORM,
				     .arrivals = TRAFFIC_POISSON,
				     .payload = (uint16_t)iba_mtu_bytes(1),
				     .shift = 1,
				     .burst_packets = 16,
				     .sl_mask = 0xffff,
				     .seed = seed};
}

uint64_t lab_load_share_interval(uint64_t bps, unsigned payload, uint64_t share_q32)
{
	unsigned __int128 bits = (unsigned __int128)(payload + LAB_OVERHEAD_BYTES) * 8;

	bits = (bits * PS_PER_S << 32) / ((unsigned __int128)bps * share_q32);
	return bits > TIME_NEVER / 1024 ? TIME_NEVER / 1024 : MAX((uint64_t)bits, 1u);
}

uint64_t lab_load_interval(uint64_t rate)
{
	return MAX((PS_PER_S + rate / 2) / rate, (time_ps)1);
}

static time_ps trace_end(const traffic_trace *t)
{
	time_ps last = t->n ? t->at[t->n - 1].when_ps : 0;

	return last > TIME_NEVER / 2 ? TIME_NEVER / 2 : last + PS_PER_MS;
}

void lab_load_times(const struct fab *f, struct lab_load *d)
{
	uint32_t senders = count_senders(&d->traffic, lab_load_hosts(f));
	uint64_t full = lab_load_full_rate(f, d->traffic.payload), packets;
	u128 span;

	packets = MAX((uint64_t)PACKETS_PER_NODE, PACKETS_IN_TOTAL / MAX(senders, 1u));
	span = MAX((u128)d->traffic.interval_ps * packets,
		   (u128)LINK_PACKETS * lab_load_interval(MAX(full, 1u)));
	if (d->trace)
		span = trace_end(d->trace);
	if (d->duration == TIME_NEVER)
		d->duration = (time_ps)MIN(span, (u128)TIME_NEVER / 4);
	if (d->warmup == TIME_NEVER)
		d->warmup = d->trace ? 0 : d->duration / 4;
}

/* Events a second and node, for n nodes, rounded. */
static uint64_t rate_of(uint64_t count, time_ps span, uint32_t n)
{
	u128 div = (u128)span * n;

	return div ? (uint64_t)(((u128)count * PS_PER_S + div / 2) / div) : 0;
}

/* ---- a run ---- */

int lab_load_up(struct lab *l, time_ps limit, struct err *e)
{
	lab_power_on(l, NULL);
	if (lab_run_ready(l, limit))
		return 0;
	return err_set(e, -ETIME,
		       "the manager did not come to rest within %llu ms of simulated time",
		       (unsigned long long)(limit / PS_PER_MS));
}

/* A ring may dissolve when credits arrive: only one that is still there a millisecond later counts. The
 * traffic has ended, and the measurements are in the result already. */
static void find_deadlock(struct lab *l, struct lab_load_result *r)
{
	struct sim *s = lab_sim(l);

	r->nring = sim_deadlock(s, &r->ring);
	if (!r->nring)
		return;
	free(r->ring);
	r->ring = NULL;
	lab_run_until(l, r->window_end + PS_PER_MS);
	r->nring = sim_deadlock(s, &r->ring);
}

static void fill_result(struct lab *l, struct lab_load_result *r, bool detail)
{
	struct sim *s = lab_sim(l);
	struct sm_status st;

	sm_status(lab_sm(l), &st);
	r->plane = *sim_plane_stats(s);
	r->hash = sim_hash(s);
	r->events = sim_events(s) - r->events;
	r->net = *sim_stats(s);
	for (unsigned i = 0; i < SM_NPURPOSES; i++) {
		r->smps_by[i] = st.smps[i];
		r->smps += st.smps[i];
	}
	if (detail)
		lab_usage_take(&r->usage, l->fab, s);
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		r->discarded += r->plane.discarded[i];
	r->conserved = r->plane.generated + r->plane.copies ==
		       r->plane.delivered + r->discarded + r->plane.in_flight;
	r->offered =
		rate_of(r->plane.window_generated, r->window_end - r->window_start, r->senders);
	r->accepted =
		rate_of(r->plane.window_delivered, r->window_end - r->window_start, r->senders);
}

static time_ps add_times(time_ps a, time_ps b)
{
	return a > TIME_NEVER / 2 || b > TIME_NEVER / 4 ? TIME_NEVER / 4 * 3 : a + b;
}

uint64_t lab_burst_gap(const struct lab *l, const struct traffic_config *t)
{
	uint64_t link = lab_load_interval(MAX(lab_load_full_rate(l->fab, t->payload), 1u));

	return MIN(link, t->interval_ps - (t->interval_ps > 0));
}

/* Groups are in the tables before the traffic starts. */
static int groups_up(struct lab *l, const struct lab_load *d, struct lab_groups **g, struct err *e)
{
	*g = d->groups ? lab_groups_new(l, d->groups) : NULL;
	if (!*g || lab_groups_settle(*g, 10 * PS_PER_S))
		return 0;
	return err_set(e, -ETIME,
		       "switches did not get the tables of %u groups within 10 s of simulated time",
		       d->groups->groups);
}

static void groups_end(struct lab_groups *g, struct lab_load_result *r)
{
	if (!g)
		return;
	lab_groups_drain(g);
	lab_groups_result(g, 0, NULL, &r->multicast);
}

static int run_traffic(struct lab *l, const struct lab_load *d, struct lab_groups *g,
		       struct lab_load_result *r, struct err *e)
{
	struct traffic_config t = d->traffic;
	struct sim *s = lab_sim(l);
	int rc;

	*r = (struct lab_load_result){.hosts = lab_load_hosts(l->fab), .start = sim_now(s)};
	r->senders = count_senders(&t, r->hosts);
	r->window_start = add_times(r->start, d->warmup);
	r->window_end = add_times(r->window_start, d->duration);
	r->events = sim_events(s);
	t.start_ps = r->start;
	t.stop_ps = r->window_end;
	t.trace = d->trace;
	t.machines = r->hosts < sim_host_count(s); /* the others are VFs */
	t.burst_gap_ps = lab_burst_gap(l, &t);
	for (size_t i = 0; d->trace && i < d->trace->n; i++)
		d->trace->at[i].when_ps = add_times(d->trace->at[i].when_ps, r->start);
	rc = sim_traffic(s, &t, e);
	if (rc)
		return rc;
	if (g)
		lab_groups_start(g);
	if (d->detail)
		sim_detail_start(s);
	sim_window(s, r->window_start, r->window_end);
	lab_run_until(l, r->window_end);
	fill_result(l, r, d->detail);
	if (g)
		lab_groups_stop(g);
	find_deadlock(l, r);
	groups_end(g, r);
	return 0;
}

int lab_load_run(struct lab *l, const struct lab_load *d, struct lab_load_result *r, struct err *e)
{
	struct lab_groups *g;
	int rc;

	*r = (struct lab_load_result){0};
	rc = groups_up(l, d, &g, e);
	if (!rc)
		rc = run_traffic(l, d, g, r, e);
	lab_groups_free(g);
	return rc;
}

void lab_load_free(struct lab_load_result *r)
{
	free(r->ring);
	r->ring = NULL;
	lab_usage_free(&r->usage);
}
