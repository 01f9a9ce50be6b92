/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes under load, drawn from a seed. State: struct trial during one run. Way in:
 * change_trial_run(). Does not compute the levels during the run: lab/watch.c does.
 */
#include "lab/verdict.h"
#include "lab/load.h"
#include "route/choose.h"
#include "trial/change_trial.h"
#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

#define LIMIT  (600 * PS_PER_S)
#define WARMUP (200 * PS_PER_US)
#define AFTER  (6 * PS_PER_MS) /* traffic after the last change; most rounds end within it */

enum { MAX_CHANGES = 4 };

struct trial {
	struct rng rng;
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct lab_watch watch;
	bool *on;	  /* by node: on at the start */
	uint16_t *lids;	  /* by port: before the changes */
	unsigned planned; /* changes */
	time_ps last_change;
	struct change_trial *out;
};

/* ---- drawing ---- */

static struct fab *draw_fabric(struct rng *r, unsigned max, struct err *e)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1, .width = 1, .speed = FAB_SDR};
	unsigned octaves = 1, n;

	while (4u << octaves <= max)
		octaves++;
	n = 4u << rng_below(r, octaves); /* small subnets are as likely as large ones */
	g.dims[0] = MIN(n + rng_below(r, n), max);
	g.ports = 4 + rng_below(r, 3);
	g.seed = rng_u64(r);
	return fab_generate(&g, e);
}

static const struct sm_technique *draw_technique(struct rng *r, bool same_graph)
{
	static const char *const names[] = {"full", "ports", "dependencies", "plan", "outwards"};

	/* "outwards" is safe only between routes of one up/down graph: provisional, then final. */
	return sm_technique_find(names[rng_below(r, same_graph ? 5 : 4)]);
}

static struct sm_mechanism draw_combination(struct rng *r)
{
	static const char *const first[] = {"none", "pira", "fera", "repair", "update"};
	static const char *const last[] = {"fera", "update", "pira"};
	struct sm_mechanism m = {.name = "drawn"};
	bool same_graph;

	m.discovery = &sm_discoveries[rng_below(r, 2)];
	m.provisional = sm_supply_find(first[rng_below(r, ARRAY_LEN(first))]);
	m.routes = sm_supply_find(last[rng_below(r, ARRAY_LEN(last))]);
	m.first = draw_technique(r, false);
	same_graph = m.provisional == sm_supply_find("pira") && m.routes == sm_supply_find("fera");
	m.second = draw_technique(r, same_graph);
	m.partial_tables = rng_below(r, 2);
	m.by_lid = m.first->plan && m.second->plan && rng_below(r, 2);
	m.traps = rng_below(r, 2);
	return m;
}

/* Its own random stream: the other draws of a seed stay the same. */
static bool draw_thrift(uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed, 11);
	return rng_below(&r, 2);
}

/* One that has a name, or a combination of techniques. */
static struct sm_mechanism draw_mechanism(struct rng *r, uint64_t seed, char name[96])
{
	struct sm_mechanism m;

	if (rng_below(r, 2)) {
		m = *trial_draw_mechanism(r);
		snprintf(name, 96, "%s", m.name);
		return m;
	}
	m = draw_combination(r);
	m.thrifty = draw_thrift(seed);
	snprintf(name, 96, "%s/%s/%s/%s/%s%s%s%s", m.discovery->name, m.provisional->name,
		 m.routes->name, m.first->name, m.second->name, m.partial_tables ? "/partial" : "",
		 m.by_lid ? "/by-lid" : "", m.thrifty ? "/thrifty" : "");
	return m;
}

static void draw_config(struct trial *t, struct lab_config *c)
{
	static const unsigned windows[] = {1, 4, 32, 256}, buffers[] = {1024, 4096, 16384};
	struct rng *r = &t->rng;
	unsigned per_mille = rng_below(r, 2) ? rng_below(r, 31) : 0;

	c->threads = 1;
	c->sim.seed = rng_u64(r);
	c->sim.traps = rng_below(r, 4) > 0;
	c->sim.vl_cap = (uint8_t)(1 + rng_below(r, 3));
	c->sim.mtu_cap = 4;
	c->sim.faults.loss_q32 = ((uint64_t)per_mille << 32) / 1000;
	c->sim.plane.on = true;
	c->sim.plane.buffer_bytes = MAX(buffers[rng_below(r, ARRAY_LEN(buffers))], 2176u);
	c->sm.window = windows[rng_below(r, ARRAY_LEN(windows))];
	c->sm.explore = rng_below(r, 4) ? SM_EXPLORE_PROPAGATION : SM_EXPLORE_BFS;
	c->sm.lmc = rng_below(r, 5) ? 0 : 1 + rng_below(r, 2);
	c->sm.activate_by_lid = rng_below(r, 2);
	c->sm.qos = rng_below(r, 3) == 0;
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	t->out->loss = per_mille / 1000.0;
}

static void draw_traffic(struct trial *t, struct traffic_config *c)
{
	static const unsigned payloads[] = {256, 1024, 2048};
	struct rng *r = &t->rng;

	t->out->load = 5 + rng_below(r, 36);
	*c = (struct traffic_config){
		.pattern = rng_below(r, 4) ? TRAFFIC_UNIFORM : TRAFFIC_PERMUTATION,
		.arrivals = rng_below(r, 3) ? TRAFFIC_POISSON : TRAFFIC_CONSTANT,
		.payload = (uint16_t)payloads[rng_below(r, ARRAY_LEN(payloads))],
		.sl_mask = 0xffff,
		.known_only = true,
		.start_ps = sim_now(t->sim),
		.stop_ps = t->last_change + AFTER,
		.seed = rng_u64(r)};
	c->interval_ps = lab_load_interval(
		MAX(lab_load_full_rate(t->fab, c->payload) * t->out->load / 100, 1u));
}

static node_id draw_switch(struct trial *t)
{
	return t->fab->switches[rng_below(&t->rng, t->fab->nswitches)];
}

/* ---- changes ---- */

static void on_fault(void *ctx, uint64_t cookie)
{
	struct trial *t = ctx;

	t->out->changes++;
	trial_fault_apply(t->sim, t->fab, cookie);
}

static void schedule(struct trial *t, time_ps when, enum trial_fault what, uint32_t id)
{
	t->planned++;
	t->last_change = MAX(t->last_change, when);
	sim_call(t->sim, when, on_fault, t, trial_fault_cookie(what, id));
}

/* Switch on a switch that is off, or take away a link or a switch, which may return. */
static void draw_change(struct trial *t, time_ps when, time_ps back)
{
	bool link = rng_below(&t->rng, 3) == 0, returns = rng_below(&t->rng, 3) == 0;
	node_id n = draw_switch(t);
	port_id p = rng_below(&t->rng, t->fab->nports);
	port_id sm_port = trial_manager_port(t->lab);

	if (link) {
		if (t->fab->ports[p].peer == FAB_NONE || p == sm_port ||
		    t->fab->ports[p].peer == sm_port)
			return;
		schedule(t, when, TRIAL_LINK_DOWN, p);
		if (returns)
			schedule(t, back, TRIAL_LINK_UP, p);
	} else if (!t->on[n]) {
		schedule(t, when, TRIAL_NODE_ON, n);
	} else if (trial_may_power_off(t->lab, n)) {
		schedule(t, when, TRIAL_NODE_OFF, n);
		if (returns)
			schedule(t, back, TRIAL_NODE_ON, n);
	}
}

/* One change, several at once, or one while the manager still handles another. */
static void draw_changes(struct trial *t)
{
	unsigned mode = rng_below(&t->rng, 3),
		 n = mode ? 2 + rng_below(&t->rng, MAX_CHANGES - 1) : 1;
	time_ps start = sim_now(t->sim) + WARMUP,
		spread = PS_PER_MS / 4 + rng_u64(&t->rng) % (2 * PS_PER_MS);

	t->last_change = start;
	for (unsigned tries = 0; t->planned < n && tries < 100; tries++) {
		time_ps when = mode == 2 ? start + rng_u64(&t->rng) % spread : start;

		draw_change(t, when, when + rng_u64(&t->rng) % (2 * spread));
	}
	for (uint32_t i = 0; i < t->fab->nswitches; i++)
		if (!t->on[t->fab->switches[i]] && rng_below(&t->rng, 2))
			schedule(t, start, TRIAL_NODE_ON, t->fab->switches[i]);
}

/* ---- the end ---- */

/* The root that the manager chooses. */
static node_id root_of(const struct trial *t, const struct fab *f)
{
	const struct fab *g = t->fab;
	const struct fab_port *p = &g->ports[trial_manager_port(t->lab)];
	node_id root = p->num ? g->ports[p->peer].node : lab_sm_node(t->lab);

	return fab_node_by_guid(f, g->nodes[root].guid);
}

static void check_bytes(struct trial *t, const struct fab *f, const struct rt_tables *tables)
{
	for (uint32_t sw = 0; sw < f->nswitches; sw++) {
		node_id n = fab_node_by_guid(t->fab, f->nodes[f->switches[sw]].guid);

		for (uint32_t lid = 1; lid <= tables->top_lid; lid++)
			if (sim_lft(t->sim, n, lid) != rt_row(tables, sw)[lid])
				lab_fail(t->out->why,
					 "%016llx, LID %u: port %u, computed from scratch port %u",
					 (unsigned long long)t->fab->nodes[n].guid, lid,
					 sim_lft(t->sim, n, lid), rt_row(tables, sw)[lid]);
	}
}

static void check_quality(struct trial *t, const struct fab *f, const struct rt_tables *tables)
{
	struct rt_verify_opts o = {.threads = 1};
	struct rt_report is = {0}, could = {0};

	if (rt_verify(f, sm_tables(lab_sm(t->lab)), &o, &is, NULL) ||
	    rt_verify(f, tables, &o, &could, NULL))
		lab_fail(t->out->why, "the tables cannot be verified");
	else if (20 * is.hops_sum > 21 * could.hops_sum ||
		 4 * is.link_load_max > 5 * could.link_load_max + 8)
		lab_fail(
			t->out->why,
			"%llu hops and %llu routes on the busiest link; from scratch %llu and %llu",
			(unsigned long long)is.hops_sum, (unsigned long long)is.link_load_max,
			(unsigned long long)could.hops_sum,
			(unsigned long long)could.link_load_max);
	rt_report_free(&is);
	rt_report_free(&could);
}

/* Routes made from a reference: not more than a tenth worse. */
static void check_balance(struct trial *t, const struct fab *f, const struct rt_tables *tables)
{
	struct rt_try fresh = {0};
	uint64_t bisection, shifts;
	struct err e = {{0}};

	if (rt_quick_quality(f, tables, 1, &fresh.bisection, &fresh.shifts, &e) ||
	    rt_quick_quality(f, sm_tables(lab_sm(t->lab)), 1, &bisection, &shifts, &e))
		lab_fail(t->out->why, "measuring tables: %.200s", e.text);
	else if (rt_clearly_worse(bisection, shifts, &fresh))
		lab_fail(t->out->why,
			 "shares of %llu and %llu millionths; from scratch %llu and %llu",
			 (unsigned long long)bisection / 1000, (unsigned long long)shifts / 1000,
			 (unsigned long long)fresh.bisection / 1000,
			 (unsigned long long)fresh.shifts / 1000);
}

/* Where the manager chose an engine with a reference. Others depend on changes before: an engine stays after a failure. */
static void check_chosen(struct trial *t, const struct fab *f)
{
	struct rt_opts o = {.threads = 1, .root = root_of(t, f)};
	struct rt_tables *tables = NULL;
	const struct rt_engine *g;
	const char *why;
	struct err e;

	g = sm_engine(lab_sm(t->lab), &why);
	if (!g || !g->update || rt_compute(g, f, &o, &tables, &e))
		return;
	rt_tables_fill(tables);
	check_balance(t, f, tables);
	rt_tables_free(tables);
}

/* Compare with the tables that the engine computes from this fabric and these LIDs alone. */
static void check_fresh(struct trial *t)
{
	const struct sm_supply *routes = lab_config(t->lab)->sm.mechanism.routes;
	const struct fab *f = sm_fabric(lab_sm(t->lab));
	struct rt_tables *tables = NULL;
	struct rt_opts o = {.threads = 1};
	struct err e = {{0}};

	if (!f || t->out->why[0])
		return;
	if (routes->choose) {
		check_chosen(t, f);
		return;
	}
	o.root = root_of(t, f);
	sm_lanes(lab_sm(t->lab), &o.lanes);
	if (rt_compute(routes->update ? &rt_fera : routes->engine, f, &o, &tables, &e) &&
	    (routes->update ||
	     (!routes->engine->ranks &&
	      !routes->engine->lanes) || /* FERa serves where such an engine cannot */
	     rt_compute(&rt_fera, f, &o, &tables, &e))) {
		lab_fail(t->out->why, "computing tables from scratch: %.200s", e.text);
		return;
	}
	rt_tables_fill(tables);
	if (routes->update)
		check_quality(t, f, tables);
	else if (routes->engine->update && lab_config(t->lab)->sm.mechanism.provisional->keep)
		check_balance(t, f, tables);
	else
		check_bytes(t, f, tables);
	rt_tables_free(tables);
}

static void check_lids(struct trial *t)
{
	const struct fab *f = sm_fabric(lab_sm(t->lab));

	for (port_id p = 0; p < t->fab->nports; p++) {
		node_id n = t->fab->ports[p].node;
		uint16_t now = sim_port_info(t->sim, p)->lid;

		if (t->lids[p] && now && now != t->lids[p] && f &&
		    fab_node_by_guid(f, t->fab->nodes[n].guid) != FAB_NONE)
			lab_fail(t->out->why, "port %u of %016llx had LID %u and has %u",
				 t->fab->ports[p].num, (unsigned long long)t->fab->nodes[n].guid,
				 t->lids[p], now);
	}
}

static void check_watch(struct trial *t)
{
	const struct lab_watch *w = &t->watch;

	if (w->unsafe_at != TIME_NEVER)
		lab_fail(t->out->why, "at %llu us the tables allowed a deadlock of %zu links",
			 (unsigned long long)(w->unsafe_at / PS_PER_US), w->ncycle);
	if (w->nring)
		lab_fail(t->out->why, "at %llu us packets were deadlocked at %zu ports",
			 (unsigned long long)(w->locked_at / PS_PER_US), w->nring);
}

static void check_verdict(struct trial *t)
{
	struct lab_verdict v;

	lab_judge(t->lab, &v);
	if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		lab_fail(t->out->why, "%.200s", v.why);
	/* Switches that the manager cannot reach keep their old tables. */
	if (!v.unreached && t->watch.now.connected != t->watch.now.pairs)
		lab_fail(t->out->why, "at the end %llu of %llu pairs of hosts are connected",
			 (unsigned long long)t->watch.now.connected,
			 (unsigned long long)t->watch.now.pairs);
	rt_report_free(&v.report);
}

/* After the traffic: each packet is delivered or discarded, and all credits are back. */
static void check_packets(struct trial *t)
{
	const struct sim_plane_stats *st = sim_plane_stats(t->sim);
	uint64_t left;
	char why[160];

	/* Hosts that sent more than the fabric carries have long queues: wait while they shrink. */
	do {
		left = st->in_flight;
		trial_run_for(t->lab, PS_PER_MS);
	} while (st->in_flight && st->in_flight < left);
	trial_run_for(t->lab, PS_PER_MS);
	t->out->packets = st->generated;
	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		t->out->lost += st->discarded[i];
	if (st->generated != st->delivered + t->out->lost + st->in_flight)
		lab_fail(t->out->why,
			 "%llu packets generated, %llu delivered, %llu discarded, %llu in flight",
			 (unsigned long long)st->generated, (unsigned long long)st->delivered,
			 (unsigned long long)t->out->lost, (unsigned long long)st->in_flight);
	if (st->discarded[SIM_DISCARD_BUFFER])
		lab_fail(t->out->why, "%llu data packets overran a buffer",
			 (unsigned long long)st->discarded[SIM_DISCARD_BUFFER]);
	if (!sim_plane_drained(t->sim, why, sizeof(why)))
		lab_fail(t->out->why, "%s", why);
}

/* ---- one trial ---- */

static void power_on(struct trial *t)
{
	t->on = mem_array(t->fab->nnodes, sizeof(*t->on));
	memset(t->on, true, t->fab->nnodes * sizeof(*t->on));
	for (unsigned i = rng_below(&t->rng, 3); i; i--) {
		node_id n = draw_switch(t);

		t->on[n] = !trial_may_power_off(t->lab, n);
	}
	lab_power_on(t->lab, t->on);
	if (!lab_run_settled(t->lab, 0, LIMIT))
		lab_fail(t->out->why, "the manager did not come to rest in 600 s");
	t->lids = mem_array(t->fab->nports, sizeof(*t->lids));
	for (port_id p = 0; p < t->fab->nports; p++)
		t->lids[p] = sim_port_info(t->sim, p)->lid;
}

static void change(struct trial *t)
{
	time_ps training = rng_below(&t->rng, 2) ? rng_below(&t->rng, 200) * PS_PER_US : 0;
	struct traffic_config traffic;
	struct err e = {{0}};

	lab_watch_start(&t->watch, t->lab);
	draw_changes(t);
	draw_traffic(t, &traffic);
	if (sim_traffic(t->sim, &traffic, &e))
		lab_fail(t->out->why, "traffic: %s", e.text);
	/* Not from power-on: the manager would start before its own link is up. */
	sim_set_training(t->sim, training);
	lab_run_until(t->lab, MAX(t->last_change + training, traffic.stop_ps));
	/* A lost SMP can start a round at any time; check only once the manager is at rest. */
	if (!lab_run_settled(t->lab, sim_now(t->sim), LIMIT))
		lab_fail(t->out->why,
			 "the manager did not come to rest in 600 s after the changes");
	lab_watch_stop(&t->watch);
	check_watch(t);
	check_verdict(t);
	check_lids(t);
	check_fresh(t);
	check_packets(t);
}

static void fill_result(struct trial *t)
{
	struct change_trial *out = t->out;

	out->ok = !out->why[0];
	out->hash = sim_hash(t->sim);
	out->smps = sim_stats(t->sim)->sent;
	out->sim_events = sim_events(t->sim);
	out->looks = t->watch.looks;
	out->circle = t->watch.ncircle;
	out->connectivity_min = t->watch.connectivity_min;
	out->end = sim_now(t->sim);
}

void change_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *m,
		      struct change_trial *out)
{
	struct trial t = {.out = out};
	struct lab_config c;
	struct err e = {{0}};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 9);
	t.fab = draw_fabric(&t.rng, MAX(max_switches, 4u), &e);
	if (!t.fab) {
		lab_fail(out->why, "no topology: %.200s", e.text);
		return;
	}
	out->switches = t.fab->nswitches;
	out->hosts = t.fab->nhosts;
	out->links = t.fab->nlinks;
	lab_config_default(&c);
	draw_config(&t, &c);
	if (m)
		snprintf(out->mechanism, sizeof(out->mechanism), "%s", m->name);
	c.sm.mechanism = m ? *m : draw_mechanism(&t.rng, seed, out->mechanism);
	c.sm.plain = seed % 3 == 0; /* not drawn: the other draws of a seed stay the same */
	c.sm.timeout_ps = seed % 5 == 0 ? 12 * PS_PER_MS : 0;
	t.lab = lab_new(t.fab, &c, &e);
	t.sim = lab_sim(t.lab);
	power_on(&t);
	if (!out->why[0])
		change(&t);
	fill_result(&t);
	lab_free(t.lab);
	lab_watch_free(&t.watch);
	fab_free(t.fab);
	free(t.on);
	free(t.lids);
}
