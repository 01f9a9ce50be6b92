/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The use of each host, switch and link in a run. State: the caller's struct lab_usage. Way in:
 * lab_usage_take(). Does not count anything itself: the simulator does (sim/stats/sim_detail.h).
 */
#include "lab/usage.h"
#include "sim/traffic/sim_traffic.h"

static struct lab_latency latency_of(const struct hist_small *h)
{
	return (struct lab_latency){.n = h->n,
				    .mean = hist_small_mean(h),
				    .p50 = hist_small_percentile(h, 500),
				    .p99 = hist_small_percentile(h, 990),
				    .max = h->max};
}

static uint64_t add_discards(uint64_t by[SIM_NDISCARDS], const struct sim *s, port_id p)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++) {
		by[i] += sim_port_discards(s, p)[i];
		all += sim_port_discards(s, p)[i];
	}
	return all;
}

static struct lab_host_use host_use(const struct sim *s, uint32_t host)
{
	const struct sim_host_detail *d = sim_host_detail(s, host);
	struct lab_host_use u = {.port = d->port,
				 .generated = d->generated,
				 .received = d->delivered,
				 .lost = d->lost,
				 .window_generated = d->window_generated,
				 .window_received = d->window_delivered,
				 .window_bytes = d->window_bytes,
				 .latency = latency_of(&d->latency),
				 .header = latency_of(&d->header)};
	struct sim_port_detail p;
	struct sim_lane_detail l;

	for (unsigned vl = 0; vl < sim_vl_count(s); vl++) {
		sim_lane_detail(s, d->port, vl, &l);
		u.sent += l.packets;
	}
	sim_port_detail(s, d->port, &p);
	u.queue_milli = p.queue_milli;
	u.queue_max = p.queue_max;
	u.discarded_all = add_discards(u.discarded, s, d->port);
	return u;
}

static struct lab_switch_use switch_use(const struct fab *f, const struct sim *s, node_id n)
{
	struct lab_switch_use u = {.node = n};
	uint64_t buffers = 0, no_credit = 0, lanes = 0;
	struct sim_lane_detail l;

	for (unsigned num = 0; num <= f->nodes[n].nports; num++) {
		port_id p = fab_port_id(f, n, num);

		u.discarded_all += add_discards(u.discarded, s, p);
		if (!num)
			continue;
		for (unsigned vl = 0; vl < sim_vl_count(s); vl++) {
			sim_lane_detail(s, p, vl, &l);
			u.forwarded += l.packets;
			u.queue_milli += l.queue_milli;
			if (f->ports[p].peer == FAB_NONE)
				continue;
			u.buffer_max = MAX(u.buffer_max, l.buffer_max);
			buffers += l.buffer;
			no_credit += l.no_credit_share;
			lanes++;
		}
	}
	u.buffer = lanes ? (uint32_t)(buffers / lanes) : 0;
	u.no_credit = lanes ? (uint32_t)(no_credit / lanes) : 0;
	return u;
}

static void take_link(struct lab_usage *u, const struct sim *s, port_id p, port_id far)
{
	struct lab_link_use x = {.port = p, .counters = *sim_port_counters(s, p)};
	struct sim_lane_detail l, there;

	sim_port_detail(s, p, &x.use);
	vec_push(&u->links, x);
	for (unsigned vl = 0; vl < u->nvl; vl++) {
		sim_lane_detail(s, p, vl, &l);
		sim_lane_detail(s, far, vl, &there);
		l.buffer = there.buffer;
		l.buffer_max = there.buffer_max;
		vec_push(&u->lanes, l);
	}
}

void lab_usage_take(struct lab_usage *u, const struct fab *f, const struct sim *s)
{
	*u = (struct lab_usage){.nvl = sim_vl_count(s)};
	for (uint32_t h = 0; h < sim_host_count(s); h++)
		vec_push(&u->hosts, host_use(s, h));
	for (uint32_t i = 0; i < f->nswitches; i++)
		vec_push(&u->switches, switch_use(f, s, f->switches[i]));
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].num && f->ports[p].peer != FAB_NONE)
			take_link(u, s, p, f->ports[p].peer);
}

void lab_usage_free(struct lab_usage *u)
{
	vec_free(&u->hosts);
	vec_free(&u->switches);
	vec_free(&u->links);
	vec_free(&u->lanes);
}
