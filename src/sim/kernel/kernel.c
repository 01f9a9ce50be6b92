/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel: makes the simulated nodes from a snapshot, keeps packets in a pool, runs events in
 * order and hands each to the part it belongs to. State: struct sim. Does not know what an SMP says.
 */
#include "sim/plane/parallel_priv.h"

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
		.phy_errors = 8, /* what OpenSM writes unless told otherwise */
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
			  .retrain_ps = 2 * PS_PER_MS}, /* ours: IBA sets limits, not times */
	};
}

static const char *const drop_names[SIM_NDROPS] = {
	[SIM_DROP_FAULT] = "fault",
	[SIM_DROP_LINK] = "link",
	[SIM_DROP_NODE] = "node",
	[SIM_DROP_UNROUTABLE] = "unroutable",
	[SIM_DROP_TURNED_BACK] = "turned_back",
	[SIM_DROP_BAD_PATH] = "bad_path",
	[SIM_DROP_NOT_FOR_US] = "not_for_us",
	[SIM_DROP_MKEY] = "m_key",
	[SIM_DROP_BAD_MAD] = "bad_mad",
	[SIM_DROP_NO_SM] = "no_sm",
	[SIM_DROP_BUFFER] = "buffer",
	[SIM_DROP_LIFETIME] = "lifetime",
	[SIM_DROP_NO_AGENT] = "no_agent",
};

const char *sim_drop_name(enum sim_drop d)
{
	return d < SIM_NDROPS ? drop_names[d] : "?";
}

/* ---- packets ---- */

uint32_t pkt_new(struct sim *s)
{
	uint32_t p = s->pkt_free;

	if (p == PKT_NONE) {
		p = (uint32_t)s->pkts.n;
		vec_push(&s->pkts, (struct pkt){.next = PKT_NONE});
	} else {
		s->pkt_free = s->pkts.at[p].next;
	}
	s->pkts.at[p].next = PKT_NONE;
	s->stats.in_flight++;
	return p;
}

void pkt_free(struct sim *s, uint32_t p)
{
	s->pkts.at[p].next = s->pkt_free;
	s->pkt_free = p;
	s->stats.in_flight--;
}

void pkt_drop(struct sim *s, uint32_t p, enum sim_drop why)
{
	s->stats.dropped[why]++;
	sim_seen(s, SIM_SEEN_DROP, s->pkts.at[p].node, s->pkts.at[p].in_port, &s->pkts.at[p].smp,
		 why);
	pkt_free(s, p);
}

/* ---- what happened, for watchers and for the hash ---- */

void sim_seen(struct sim *s, enum sim_seen what, node_id n, unsigned port,
	      const struct sim_smp *smp, unsigned detail)
{
	if (what == SIM_SEEN_PORT || what == SIM_SEEN_NODE) {
		sim_hash_add(s, n, s->now);
		sim_hash_add(s, n, (uint64_t)n << 32 | port << 16 | detail << 8 | what);
	}
	if (s->watch.seen)
		s->watch.seen(s->watch.ctx, what, n, port, smp, detail);
}

void sim_hash_smp(struct sim *s, node_id n, const struct sim_smp *smp)
{
	uint64_t w[11];

	if (s->cfg.express) /* real time decides there: no two runs are alike */
		return;
	memcpy(w, smp->mad, 24);
	memcpy(w + 3, iba_smp_data_const(smp->mad), 64);
	sim_hash_add(s, n, s->now);
	sim_hash_add(s, n, (uint64_t)n << 32 | (uint32_t)smp->slid << 16 | smp->dlid);
	for (unsigned i = 0; i < ARRAY_LEN(w); i++)
		sim_hash_add(s, n, w[i]);
}

/* ---- life ---- */

static uint64_t port_bps(const struct fab_port *p)
{
	return (uint64_t)(p->width ? p->width : 1) * fab_lane_bps(p->speed ? p->speed : FAB_SDR);
}

/* Picoseconds a byte, rounded up, so that no link is too fast. */
static time_ps byte_time(const struct fab_port *p)
{
	return (8 * PS_PER_S + port_bps(p) - 1) / port_bps(p);
}

static uint64_t byte_q16(const struct fab_port *p)
{
	return (8 * PS_PER_S << 16) / port_bps(p);
}

static time_ps wire_of(const struct sim *s, uint32_t cm)
{
	return cm ? s->cfg.cable_m_ps * cm / 100 : s->cfg.wire_ps;
}

struct sim *sim_new(const struct fab *f, const struct sim_config *c)
{
	struct sim *s = mem_zalloc(sizeof(*s));

	s->fab = f;
	s->cfg = *c;
	s->cfg.random_only = NULL;
	s->cfg.link_pairs |= c->express;
	if (c->random_only) {
		s->random_only = mem_array(f->nnodes, sizeof(*s->random_only));
		memcpy(s->random_only, c->random_only, f->nnodes * sizeof(*s->random_only));
	}
	s->pkt_free = PKT_NONE;
	s->call_free = PKT_NONE;
	s->walk_head = PKT_NONE;
	s->nodes = mem_zarray(f->nnodes, sizeof(*s->nodes));
	s->hash = mem_zarray(f->nnodes, sizeof(*s->hash));
	s->ports = mem_lines(f->nports, sizeof(*s->ports));
	s->hook_of = mem_zarray(f->nports, sizeof(*s->hook_of));
	assert(!c->express || !c->plane.on);
	if (c->express)
		s->counters = mem_lines(f->nports, sizeof(*s->counters));
	rng_seed(&s->fault_rng, c->seed, 1);
	rng_seed(&s->error_rng, c->seed, 2);
	for (port_id p = 0; p < f->nports; p++) {
		s->ports[p].peer = f->ports[p].peer;
		s->ports[p].wire_ps = wire_of(s, f->ports[p].cable_cm);
		s->ports[p].byte_ps = byte_time(&f->ports[p]);
		s->ports[p].byte_q16 = byte_q16(&f->ports[p]);
	}
	for (node_id n = 0; n < f->nnodes; n++) {
		s->nodes[n].q_head = s->nodes[n].q_tail = PKT_NONE;
		sma_reset(s, n);
	}
	if (c->plane.on)
		plane_new(s);
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	plane_free(s);
	for (node_id n = 0; n < s->fab->nnodes; n++)
		sma_free(s, n);
	free(s->random_only);
	free(s->nodes);
	free(s->hash);
	free(s->ports);
	free(s->hook_of);
	free(s->counters);
	free(s->trouble);
	evq_free(&s->q);
	vec_free(&s->pkts);
	vec_free(&s->calls);
	vec_free(&s->hooks);
	free(s);
}

void sim_watch(struct sim *s, struct sim_watch w)
{
	s->watch = w;
}

void sim_watch_changes(struct sim *s, struct sim_change_watch w)
{
	s->changes = w;
}

void sim_changed(struct sim *s, node_id n, enum sim_change what)
{
	if (s->changes.changed)
		s->changes.changed(s->changes.ctx, n, what);
}

void sim_set_faults(struct sim *s, const struct sim_faults *f)
{
	s->cfg.faults = *f;
}

void sim_set_training(struct sim *s, time_ps t)
{
	s->cfg.training_ps = t;
}

/* ---- events ---- */

/* 64 bits of picoseconds are 213 days: what would come after the end of time never comes. */
void sim_push(struct sim *s, time_ps when, uint8_t priority, struct ev e)
{
	evq_push(&s->q, when < s->now ? TIME_NEVER : when, priority, e);
}

/*
 * What comes from a link comes before what else a node does at that time, by port. So the order does
 * not depend on what the rest of the network was doing when it was sent, and nodes can be simulated
 * apart from each other (crew.c).
 */
void sim_push_arrival(struct sim *s, time_ps when, struct ev e)
{
	const struct ev new = {when < s->now ? TIME_NEVER : when,
			       evq_rank(PRIO_NET, (uint64_t)e.a << 1 | (e.kind == EV_P_FC)),
			       e.kind,
			       e.a,
			       e.b,
			       e.c};

	if (!s->crew || !crew_mail(s, &new))
		evq_put(&s->q, &new);
}

void sim_call(struct sim *s, time_ps when, void (*fn)(void *ctx, uint64_t cookie), void *ctx,
	      uint64_t cookie)
{
	uint32_t c = s->call_free;

	if (c == PKT_NONE) {
		c = (uint32_t)s->calls.n;
		vec_push(&s->calls, (struct call){.next = PKT_NONE});
	} else {
		s->call_free = s->calls.at[c].next;
	}
	s->calls.at[c] = (struct call){fn, ctx, cookie, PKT_NONE};
	sim_push(s, MAX(when, s->now), PRIO_CALL, (struct ev){.kind = EV_CALL, .a = c});
}

static void run_call(struct sim *s, uint32_t c)
{
	struct call call = s->calls.at[c];

	s->calls.at[c].next = s->call_free;
	s->call_free = c;
	call.fn(call.ctx, call.cookie);
}

bool sim_step(struct sim *s)
{
	struct ev e;

	if (evq_next(&s->q) == TIME_NEVER || !evq_pop(&s->q, &e))
		return false;
	assert(e.when >= s->now);
	if (s->plane && s->plane->large)
		plane_prefetch(s);
	s->now = e.when;
	s->stats.events++;
	switch ((enum sim_ev)e.kind) {
	case EV_CALL:
		run_call(s, e.a);
		break;
	case EV_LINK:
		link_trained(s, e.a, e.b);
		break;
	case EV_ARRIVE:
		if (s->cfg.express)
			express_arrive(s, e.a, e.b, e.c);
		else
			link_arrive(s, e.a, e.b, e.c);
		break;
	case EV_SMI:
		if (s->nodes[e.a].on && s->nodes[e.a].incarnation == e.b)
			smi_done(s, e.a);
		break;
	case EV_INJECT:
		if (s->nodes[e.b].on && s->nodes[e.b].incarnation == e.c)
			smi_enqueue(s, e.b, e.a);
		else
			pkt_drop(s, e.a, SIM_DROP_NODE);
		break;
	case EV_TRAP:
		if (s->nodes[e.a].on && s->nodes[e.a].incarnation == e.b)
			trap_repeat(s, e.a, e.c);
		break;
	case EV_LEASE:
		sma_lease_over(s, e.a, e.b);
		break;
	case EV_ORDER:
		if (s->nodes[s->fab->ports[e.a].node].incarnation == e.b)
			link_order(s, e.a, (enum iba_phys_state)e.c);
		break;
	case EV_P_HEAD:
	case EV_P_FC:
	case EV_P_ROUTE:
	case EV_P_MAP:
	case EV_P_CROSS:
	case EV_P_CROSSED:
	case EV_P_LINK:
	case EV_P_SENT:
	case EV_P_SINK:
	case EV_P_MAKE:
	case EV_P_PACED:
	case EV_P_HOQ:
	case EV_P_STALL:
	case EV_P_LIFE:
	case EV_P_REFRESH:
	case EV_P_RETRAIN:
		plane_event(s, &e);
		break;
	}
	return true;
}

time_ps sim_now(const struct sim *s)
{
	return s->now;
}

time_ps sim_next(const struct sim *s)
{
	return evq_next(&s->q);
}

/* ---- the world changes ---- */

void sim_node_power(struct sim *s, node_id n, bool on)
{
	struct sim_node *node = &s->nodes[n];
	const struct fab_node *fn = &s->fab->nodes[n];

	if (node->on == on)
		return;
	node->on = on; /* first: a node that goes off tells nobody about its ports */
	if (!on) {
		for (unsigned p = 1; p <= fn->nports; p++)
			link_cut(s, fn->first_port + p);
		smi_clear(s, n);
		if (s->plane)
			plane_clear_node(s, n);
	}
	node->incarnation++;
	if (s->plane)
		plane_power(s, n);
	sim_seen(s, SIM_SEEN_NODE, n, 0, NULL, on);
	sma_reset(s, n);
	sim_changed(s, n, SIM_CHANGED_POWER);
	for (unsigned p = 1; on && p <= fn->nports; p++)
		link_try_up(s, fn->first_port + p);
}

void sim_cable(struct sim *s, port_id a, port_id b)
{
	assert(a != b && s->ports[a].peer == FAB_NONE && s->ports[b].peer == FAB_NONE);
	s->ports[a].peer = b;
	s->ports[b].peer = a;
	sim_cable_length(s, a, s->fab->ports[a].peer == b ? s->fab->ports[a].cable_cm : 0);
	link_try_up(s, a);
}

void sim_cable_length(struct sim *s, port_id a, uint32_t cm)
{
	s->ports[a].wire_ps = wire_of(s, cm);
	if (s->ports[a].peer != FAB_NONE)
		s->ports[s->ports[a].peer].wire_ps = wire_of(s, cm);
}

void sim_uncable(struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	if (b == FAB_NONE)
		return;
	link_cut(s, a);
	s->ports[a].peer = FAB_NONE;
	s->ports[b].peer = FAB_NONE;
}

/* ---- looking from outside ---- */

bool sim_node_on(const struct sim *s, node_id n)
{
	return s->nodes[n].on;
}

port_id sim_port_peer(const struct sim *s, port_id p)
{
	return s->ports[p].peer;
}

const struct iba_port_info *sim_port_info(const struct sim *s, port_id p)
{
	return &s->ports[p].pi;
}

const struct iba_switch_info *sim_switch_info(const struct sim *s, node_id n)
{
	return &s->nodes[n].si;
}

uint8_t sim_lft(const struct sim *s, node_id n, uint32_t lid)
{
	return lid < s->nodes[n].lft_size ? s->nodes[n].lft[lid] : IBA_PORT_NONE;
}

const struct sim_stats *sim_stats(const struct sim *s)
{
	return &s->stats;
}

uint64_t sim_hash(const struct sim *s)
{
	uint64_t h = s->stats.events;

	for (node_id n = 0; n < s->fab->nnodes; n++)
		h = hash64_add(h, s->hash[n]);
	return h;
}

struct fab *sim_snapshot(const struct sim *s)
{
	struct fab_builder *b = fab_builder_new();
	node_id *id = mem_array(s->fab->nnodes, sizeof(*id));

	for (node_id n = 0; n < s->fab->nnodes; n++) {
		const struct fab_node *fn = &s->fab->nodes[n];

		if (!s->nodes[n].on)
			continue;
		id[n] = fab_add_node(b, fn->type, fn->guid, fn->nports, fab_node_name(s->fab, n));
		fab_builder_node(b, id[n])->flags = fn->flags;
		for (unsigned p = 0; p <= fn->nports; p++) {
			struct fab_port *d = fab_builder_port(b, id[n], p);
			const struct iba_port_info *pi = &s->ports[fn->first_port + p].pi;

			d->guid = s->fab->ports[fn->first_port + p].guid;
			if (fn->type == IBA_NODE_SWITCH ? p == 0 : p > 0) {
				d->lid = pi->lid;
				d->lmc = pi->lmc;
			}
		}
	}
	for (port_id p = 0; p < s->fab->nports; p++) {
		port_id q = s->ports[p].peer;

		if (q != FAB_NONE && q > p && s->ports[p].pi.state != IBA_PORT_DOWN &&
		    s->fab->ports[p].num && s->nodes[s->fab->ports[p].node].on)
			fab_add_link(b, id[s->fab->ports[p].node], s->fab->ports[p].num,
				     id[s->fab->ports[q].node], s->fab->ports[q].num);
	}
	free(id);
	return fab_build(b);
}
