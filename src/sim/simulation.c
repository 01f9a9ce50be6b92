/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes and frees a simulation, and runs its events: each goes to the file it belongs to. State:
 * struct sim. Ways in: sim_new(), sim_step(), sim_settle(). Does not know what an event does.
 */
#include "sim/plane/plane_priv.h"

void sim_config_default(struct sim_config *c)
{
	*c = (struct sim_config){
		.seed = 1,
		.smi_ps = 2 * PS_PER_US,
		.sma_ps = 3 * PS_PER_US,
		.hop_ps =
			142 * PS_PER_NS, /* 40 route + 20 map + 40 crossbar + 2 set-up + 40 link */
		.wire_ps = 100 * PS_PER_NS, /* 20 m at 5 ns (thesis 4.2.1) */
		.cable_m_ps = 5 * PS_PER_NS,
		.training_ps = 0,
		.mtu_cap = 4, /* 2048 */
		.vl_cap = 2,  /* two data VLs: thesis 4.4.2 */
		.vlarb_cap = 64,
		.resp_time = 8,	 /* 1.05 ms, the 1 ms of IBA 1.0 (thesis 3.1.3) */
		.phy_errors = 8, /* OpenSM's default */
		.lft_cap = 49152,
		.rft_cap = 0,
		.mft_cap = 1024,
		.pkey_cap = 32,
		.trap_limit = 0,
		.plane = {.route_ps = 40 * PS_PER_NS, /* thesis 4.2.3 */
			  .map_ps = 20 * PS_PER_NS,
			  .crossbar_ps = 40 * PS_PER_NS,
			  .setup_ps = 2 * PS_PER_NS,
			  .link_arb_ps = 40 * PS_PER_NS,
			  .header_bytes = 20,
			  .buffer_bytes = 4096,
			  .retrain_ps = 2 * PS_PER_MS}, /* our choice: IBA sets limits, not times */
	};
}

/* ---- life ---- */

struct sim *sim_new(const struct fab *f, const struct sim_config *c)
{
	struct sim *s = mem_zalloc(sizeof(*s));

	assert(!c->express || !c->plane.on);
	kernel_init(s, f, c);
	devices_new(s, c);
	if (c->plane.on)
		plane_new(s);
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	plane_free(s);
	devices_free(s);
	kernel_free(s);
	free(s);
}

/* ---- events ---- */

static bool alive(const struct sim *s, node_id n, uint32_t incarnation)
{
	return s->nodes[n].on && s->nodes[n].incarnation == incarnation;
}

static void on_call(struct sim *s, const struct ev_what *e)
{
	sim_run_call(s, e->call.slot);
}

static void on_trained(struct sim *s, const struct ev_what *e)
{
	link_trained(s, e->link.port, e->link.epoch);
}

static void on_arrival(struct sim *s, const struct ev_what *e)
{
	if (s->cfg.express)
		express_arrive(s, e->arrive.port, e->arrive.pkt, e->arrive.epoch);
	else
		link_arrive(s, e->arrive.port, e->arrive.pkt, e->arrive.epoch);
}

static void on_smi(struct sim *s, const struct ev_what *e)
{
	if (alive(s, e->node.node, e->node.incarnation))
		smi_done(s, e->node.node);
}

static void on_inject(struct sim *s, const struct ev_what *e)
{
	if (alive(s, e->inject.node, e->inject.incarnation))
		smi_enqueue(s, e->inject.node, e->inject.pkt);
	else
		pkt_drop(s, e->inject.pkt, SIM_DROP_NODE);
}

static void on_trap(struct sim *s, const struct ev_what *e)
{
	if (alive(s, e->trap.node, e->trap.incarnation))
		trap_repeat(s, e->trap.node, e->trap.slot);
}

static void on_lease(struct sim *s, const struct ev_what *e)
{
	sma_lease_over(s, e->lease.port, e->lease.epoch);
}

static void on_order(struct sim *s, const struct ev_what *e)
{
	if (s->nodes[s->fab->ports[e->order.port].node].incarnation == e->order.incarnation)
		link_order(s, e->order.port, (enum iba_phys_state)e->order.to);
}

static void (*const device_handlers[])(struct sim *s, const struct ev_what *e) = {
	[EV_CALL] = on_call,   [EV_LINK] = on_trained,	[EV_ARRIVE] = on_arrival,
	[EV_SMI] = on_smi,     [EV_INJECT] = on_inject, [EV_TRAP] = on_trap,
	[EV_LEASE] = on_lease, [EV_ORDER] = on_order,
};

bool sim_step(struct sim *s)
{
	struct ev e;

	if (!shard_next(&s->main, &e))
		return false;
	if (e.what.kind >= EV_P_HEAD)
		plane_event(&s->main, &e.what);
	else
		device_handlers[e.what.kind](s, &e.what);
	return true;
}

void sim_steps(struct sim *s, time_ps limit, unsigned most)
{
	struct ev e;

	if (s->plane && plane_run(&s->main, limit, most, &e))
		device_handlers[e.what.kind](s, &e.what);
	else if (!s->plane && sim_next(s) <= limit)
		sim_step(s);
}

void sim_settle(struct sim *s, time_ps now)
{
	if (s->dev.walking)
		return;
	do {
		while (sim_next(s) <= now && sim_step(s))
			express_walk(s);
		shard_advance(&s->main, now);
		express_walk(s);
	} while (sim_next(s) <= now);
}
