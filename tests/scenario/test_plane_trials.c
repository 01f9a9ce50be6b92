/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trials of the data plane, in TAP: a seed draws a subnet, its rates, cables, lanes and
 * buffers, traffic up to well beyond what it can carry, links that make errors and retrain, and
 * links and switches that fail and return while the manager repairs. Each is run twice, on one
 * thread and on several, and must leave the same hash. Does not judge the manager: test_trials
 * does. usage: test_plane_trials FIRST COUNT [hash]
 */
#include "lab/lab.h"
#include "seeds.h"
#include "sim/plane/plane_priv.h" /* counts credits, cells and free packets, which no public header shows */

enum { MAX_SWITCHES = 24, SMALL_LINKS = 12 };

struct trial {
	uint64_t seed;
	struct rng rng,
		more; /* the second for later additions, so that the other draws of a seed stay the same */
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	bool locked; /* ended in a deadlock */
	unsigned hits;
	uint64_t packets, lost, trainings, hash;
	char why[256]; /* the first thing that is wrong */
};

static void wrong(struct trial *t, const char *fmt, ...) PRINTF(2, 3);
static void wrong(struct trial *t, const char *fmt, ...)
{
	va_list ap;

	if (t->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, ap);
	va_end(ap);
}

/* ---- drawing ---- */

static const struct {
	unsigned width, speed;
} rates[] = {{1, FAB_SDR},  {4, FAB_SDR}, {4, FAB_DDR}, {4, FAB_QDR},
	     {12, FAB_SDR}, {4, FAB_FDR}, {4, FAB_EDR}, {4, FAB_HDR}};

static struct fab *draw_shape(struct rng *r)
{
	static const struct {
		const char *kind;
		unsigned ndims, low[2], high[2];
	} shapes[] = {
		{"irregular", 1, {2}, {MAX_SWITCHES}},
		{"mesh", 2, {2, 1}, {5, 4}},
		{"torus", 2, {3, 3}, {5, 4}},
		{"ring", 1, {3}, {12}},
		{"fullmesh", 1, {2}, {8}},
		{"star", 1, {2}, {8}},
		{"kary", 2, {2, 2}, {3, 3}},
		{"hypercube", 1, {1}, {4}},
	};
	unsigned k = rng_below(r, ARRAY_LEN(shapes)), rate = rng_below(r, ARRAY_LEN(rates));
	struct fab_gen g = {.kind = shapes[k].kind,
			    .ndims = shapes[k].ndims,
			    .seed = rng_u64(r),
			    .width = rates[rate].width,
			    .speed = rates[rate].speed};
	struct err e = {{0}};
	struct fab *f;

	for (unsigned i = 0; i < g.ndims; i++)
		g.dims[i] =
			shapes[k].low[i] + rng_below(r, shapes[k].high[i] - shapes[k].low[i] + 1);
	f = fab_generate(&g, &e);
	if (!f)
		printf("# %s: %s\n", g.kind, e.text);
	return f;
}

/* In some subnets a third of the links have a rate of their own. */
static void draw_rates(struct rng *r, struct fab *f)
{
	if (rng_below(r, 2))
		return;
	for (port_id p = 0; p < f->nports; p++) {
		unsigned rate = rng_below(r, ARRAY_LEN(rates));

		if (f->ports[p].peer == FAB_NONE || f->ports[p].peer < p || rng_below(r, 3))
			continue;
		f->ports[p].width = f->ports[f->ports[p].peer].width = (uint8_t)rates[rate].width;
		f->ports[p].speed = f->ports[f->ports[p].peer].speed = (uint8_t)rates[rate].speed;
	}
}

/* In half of the subnets two links of three have a cable of known length: to 200 m, few to 2 km. */
static void draw_cables(struct rng *r, struct fab *f)
{
	if (rng_below(r, 2))
		return;
	for (port_id p = 0; p < f->nports; p++) {
		uint32_t cm = 1 + rng_below(r, rng_below(r, 20) ? 20000 : 200000);

		if (f->ports[p].peer == FAB_NONE || f->ports[p].peer < p || !rng_below(r, 3))
			continue;
		f->ports[p].cable_cm = f->ports[f->ports[p].peer].cable_cm = cm;
	}
}

/* Links retrain after each error or after many, quickly or slowly; some attempts fail. */
static void draw_training(struct trial *t)
{
	struct sim_plane_config *p = &t->sim->cfg.plane;
	struct rng *r = &t->more;
	unsigned limit = rng_below(r, 3);

	p->retrain_ps = rng_below(r, 4) ? 1 + rng_below(r, 100) * PS_PER_US : 2 * PS_PER_MS;
	p->retrain_fail_q32 = rng_below(r, 3) ? 0 : ((uint64_t)rng_below(r, 30) << 32) / 100;
	for (port_id i = 0; i < t->fab->nports; i++) {
		t->sim->ports[i].pi.local_phy_errors = (uint8_t)limit;
		t->sim->ports[i].pi.vl_stall_count = (uint8_t)rng_below(r, 8);
	}
}

static void draw_config(struct rng *r, struct lab_config *c)
{
	static const unsigned buffers[] = {512, 1024, 4096, 8192, 65536};
	struct sim_plane_config *p = &c->sim.plane;

	c->threads = 1;
	c->sim.seed = rng_u64(r);
	c->sim.traps = rng_below(r, 4) > 0;
	c->sim.vl_cap = (uint8_t)(1 + rng_below(r, 4));
	c->sim.mtu_cap = (uint8_t)(1 + rng_below(r, 5));
	c->sim.faults.loss_q32 = rng_below(r, 2) ? ((uint64_t)rng_below(r, 30) << 32) / 1000 : 0;
	p->on = true;
	p->buffer_bytes = buffers[rng_below(r, ARRAY_LEN(buffers))];
	p->fc_refresh = rng_below(r, 10) == 0;
	p->rate_control = rng_below(r, 4) == 0;
	p->byte_error_q40 = rng_below(r, 10) ? 0 : rng_u64(r) % (1 << 26); /* to one in 16 KB */
	if (rng_below(r, 4) == 0)
		p->link_arb_ps = p->route_ps = 0;
}

static time_ps draw_traffic(struct trial *t, struct traffic_config *c)
{
	static const enum traffic_pattern patterns[] = {
		TRAFFIC_UNIFORM,    TRAFFIC_PERMUTATION, TRAFFIC_SHIFT,	 TRAFFIC_HOTSPOT,
		TRAFFIC_COMPLEMENT, TRAFFIC_ALL_TO_ALL,	 TRAFFIC_INCAST, TRAFFIC_TORNADO};
	struct rng *r = &t->rng;
	uint32_t hosts = sim_host_count(t->sim);
	unsigned load = 5 + rng_below(r, 146); /* per cent of a host's link */
	unsigned mtu = iba_mtu_bytes(t->sim->cfg.mtu_cap);
	unsigned packets = 300 + rng_below(r, 1500);

	memset(c, 0, sizeof(*c));
	c->pattern =
		patterns[rng_below(r, hosts > 2 ? ARRAY_LEN(patterns) : ARRAY_LEN(patterns) - 1)];
	c->arrivals = rng_below(r, 3);
	c->payload = (uint16_t)rng_below(r, rng_below(r, 10) ? MIN(mtu, 1024u) + 1 : mtu + 100);
	c->payload = MIN(c->payload, 4096);
	c->sl_mask = (uint16_t)rng_u64(r);
	c->hot_host = rng_below(r, hosts);
	c->hot_share_q32 = (1ull << 32) / 4;
	c->shift = 1 + rng_below(r, hosts - 1);
	c->interval_ps = wire_time(t->sim->plane, t->sim->plane->hosts.at[0], c->payload + 26u) *
				 100 / load +
			 1;
	if (rng_below(r, 3) ==
	    0) /* long enough for the manager to repair what fails at its start */
		c->interval_ps = MAX(c->interval_ps, 3 * PS_PER_MS * hosts / packets);
	c->burst_packets = 1 + rng_below(r, 20);
	c->burst_gap_ps = c->interval_ps / 3;
	c->seed = rng_u64(r);
	c->start_ps = sim_now(t->sim);
	c->stop_ps = c->start_ps + c->interval_ps * (packets / hosts + 1);
	return c->stop_ps - c->start_ps;
}

/* ---- failures ---- */

enum { HIT_CUT, HIT_JOIN, HIT_OFF, HIT_ON };

static void on_hit(void *ctx, uint64_t cookie)
{
	struct trial *t = ctx;
	uint32_t id = (uint32_t)cookie;

	t->hits++;
	switch (cookie >> 32) {
	case HIT_CUT:
		sim_uncable(t->sim, id);
		break;
	case HIT_JOIN:
		if (sim_port_peer(t->sim, id) == FAB_NONE &&
		    sim_port_peer(t->sim, t->fab->ports[id].peer) == FAB_NONE)
			sim_cable(t->sim, id, t->fab->ports[id].peer);
		break;
	default:
		sim_node_power(t->sim, id, cookie >> 32 == HIT_ON);
		break;
	}
}

static void strike(struct trial *t, time_ps span)
{
	time_ps when = sim_now(t->sim) + rng_u64(&t->rng) % span;
	time_ps away = rng_below(&t->rng, 2) ? PS_PER_US : 4 * span;
	time_ps back = when + rng_u64(&t->rng) % away;
	bool cable = rng_below(&t->rng, 2), returns = rng_below(&t->rng, 3);
	uint32_t id = rng_below(&t->rng, cable ? t->fab->nports : t->fab->nnodes);

	if (cable ? t->fab->ports[id].peer == FAB_NONE : id == lab_sm_node(t->lab))
		return;
	sim_call(t->sim, when, on_hit, t, (uint64_t)(cable ? HIT_CUT : HIT_OFF) << 32 | id);
	if (returns)
		sim_call(t->sim, back, on_hit, t, (uint64_t)(cable ? HIT_JOIN : HIT_ON) << 32 | id);
}

/* ---- checks ---- */

static void check_sums(struct trial *t, const char *when)
{
	const struct sim_plane_stats *st = sim_plane_stats(t->sim);
	uint64_t lost = 0;

	for (unsigned i = 0; i < SIM_NDISCARDS; i++)
		lost += st->discarded[i];
	if (st->generated + st->copies != st->delivered + lost + st->in_flight)
		wrong(t, "%s: %llu packets made, %llu delivered, %llu discarded, %llu in flight",
		      when, (unsigned long long)st->generated, (unsigned long long)st->delivered,
		      (unsigned long long)lost, (unsigned long long)st->in_flight);
	if (st->discarded[SIM_DISCARD_BUFFER])
		wrong(t, "%s: %llu data packets overran a buffer", when,
		      (unsigned long long)st->discarded[SIM_DISCARD_BUFFER]);
	t->packets = st->generated;
	t->lost = lost;
}

/* Each buffer is empty and each sender has credit for the whole receiving buffer. */
static void check_rest(struct trial *t)
{
	const struct plane *pl = t->sim->plane;

	for (port_id p = 0; p < t->fab->nports; p++)
		for (unsigned vl = 0; vl < pl->nvl && t->fab->ports[p].num; vl++) {
			const struct in_chan *in = &pl->in[chan_of(pl, p, vl)];
			const struct out_chan *out = &pl->out[chan_of(pl, p, vl)];
			port_id far = t->sim->ports[p].peer;
			unsigned credit = ((unsigned)out->fccl - out->fctbs) & 0xfff;

			if (in->used || out->used || in->head != CELL_NONE ||
			    out->head != CELL_NONE)
				wrong(t, "port %u VL %u: %u and %u blocks left in its buffers", p,
				      vl, in->used, out->used);
			if (far == FAB_NONE || t->sim->ports[p].pi.state == IBA_PORT_DOWN)
				continue;
			if (credit != pl->in[chan_of(pl, far, vl)].cap)
				wrong(t,
				      "port %u VL %u: credit for %u blocks, the far buffer has %u",
				      p, vl, credit, pl->in[chan_of(pl, far, vl)].cap);
		}
}

/* Memory of delivered packets is free; SMPs live for microseconds. */
static void check_pools(struct trial *t)
{
	const struct plane *pl = t->sim->plane;
	bool *unused = mem_zarray(pl->pkts.n + 1, sizeof(*unused));

	for (uint32_t p = t->sim->main.own.dpkt_free; p != PKT_NONE; p = pl->pkts.at[p].next_free)
		unused[p] = true;
	for (uint32_t p = 0; p < pl->pkts.n; p++)
		if (!unused[p] && pl->pkts.at[p].born + PS_PER_MS / 2 < sim_now(t->sim))
			wrong(t, "packet %u was never given back", p);
	free(unused);
}

/* ---- one trial ---- */

static void drain(struct trial *t)
{
	const struct sim_plane_stats *st = sim_plane_stats(t->sim);
	const struct sim_plane_config *p = &t->sim->cfg.plane;
	time_ps limit = sim_now(t->sim) + 50 * PS_PER_MS;
	port_id *ring;

	if (p->byte_error_q40) /* no limit for a link that retrains most of the time */
		limit += 500 * p->retrain_ps;

	while (st->in_flight && sim_next(t->sim) <= limit)
		lab_run_until(t->lab, sim_next(t->sim));
	if (st->in_flight) {
		t->locked = sim_deadlock(t->sim, &ring) > 0;
		if (t->locked)
			free(ring);
		else
			wrong(t, "%llu packets do not arrive, and there is no deadlock",
			      (unsigned long long)st->in_flight);
	}
	check_sums(t, "drained");
	if (st->in_flight)
		return;
	/* Credits under way, and those that errors took until the cables have been clean for two
	 * refreshes behind the last training. */
	t->sim->cfg.plane.fc_refresh |= t->sim->cfg.plane.byte_error_q40 > 0;
	t->sim->cfg.plane.byte_error_q40 = 0;
	lab_run_until(t->lab, sim_now(t->sim) + t->sim->cfg.plane.retrain_ps + PS_PER_MS);
	check_rest(t);
	check_pools(t);
}

/*
 * Links that make errors refresh their credits, and while the manager waits for lost SMPs that is
 * a hundred times the work of the trial itself. So only small subnets have errors from power-on; in
 * the others they begin when it is up.
 */
static void bring_up(struct trial *t, const struct sim_plane_config *drawn)
{
	struct sim_plane_config *p = &t->sim->cfg.plane;
	bool later = t->fab->nlinks > SMALL_LINKS;

	if (later) {
		p->byte_error_q40 = 0;
		p->fc_refresh = false;
	}
	lab_power_on(t->lab, NULL);
	if (!lab_run_ready(t->lab, 10 * PS_PER_S))
		wrong(t, "the manager did not come to rest in 10 s");
	if (!later)
		return;
	p->byte_error_q40 = drawn->byte_error_q40;
	p->fc_refresh = drawn->fc_refresh;
	for (port_id i = 0; i < t->fab->nports; i++)
		if (t->sim->ports[i].pi.state != IBA_PORT_DOWN && t->sim->ports[i].peer != FAB_NONE)
			refresh_start(&t->sim->main, i);
}

static void try(struct trial *t, uint64_t seed, unsigned threads)
{
	struct traffic_config traffic;
	struct lab_config c;
	struct err e = {{0}};
	time_ps span;

	memset(t, 0, sizeof(*t));
	t->seed = seed;
	rng_seed(&t->rng, seed, 8);
	t->fab = draw_shape(&t->rng);
	if (!t->fab) {
		wrong(t, "no topology");
		return;
	}
	draw_rates(&t->rng, t->fab);
	rng_seed(&t->more, seed, 9);
	draw_cables(&t->more, t->fab);
	lab_config_default(&c);
	draw_config(&t->rng, &c);
	if (!c.sim.plane.byte_error_q40 && rng_below(&t->more, 10) == 0)
		c.sim.plane.byte_error_q40 = rng_u64(&t->more) % (1 << 26);
	c.threads = threads;
	t->lab = lab_new(t->fab, &c, &e);
	t->sim = lab_sim(t->lab);
	bring_up(t, &c.sim.plane);
	/* Not from power-on: the manager would start before its own link is up. */
	t->sim->cfg.training_ps = rng_below(&t->rng, 2) ? rng_below(&t->rng, 200) * PS_PER_US : 0;
	draw_training(t); /* and neither do links that flap: it might not come to rest */
	span = draw_traffic(t, &traffic);
	if (sim_traffic(t->sim, &traffic, &e))
		wrong(t, "traffic: %s", e.text);
	for (unsigned i = rng_below(&t->rng, 4); i; i--)
		strike(t, MAX(span / 4, PS_PER_US));
	lab_run_until(t->lab, sim_now(t->sim) + span / 2);
	check_sums(t, "half way");
	lab_run_until(t->lab, traffic.stop_ps);
	check_sums(t, "end of traffic");
	drain(t);
	t->trainings = sim_plane_stats(t->sim)->recoveries + sim_plane_stats(t->sim)->downed;
	t->hash = sim_hash(t->sim);
	lab_free(t->lab);
	fab_free(t->fab);
}

/* ---- all trials ---- */

static struct {
	uint64_t packets, lost, trainings;
	unsigned hits, locks;
} total;

static void run(struct seed_run *r)
{
	struct trial t;

	try(&t, r->seed, r->again ? 2 + (unsigned)(r->seed % 3) : 1);
	r->ok = !t.why[0];
	r->hash = t.hash;
	r->size = t.packets;
	snprintf(r->why, sizeof(r->why), "%s", t.why);
	if (r->again)
		return;
	total.packets += t.packets;
	total.lost += t.lost;
	total.trainings += t.trainings;
	total.hits += t.hits;
	total.locks += t.locked;
}

static void sums(char *text, size_t len)
{
	snprintf(text, len, "%llu packets, %llu lost, %u failures, %llu trainings, %u locks",
		 (unsigned long long)total.packets, (unsigned long long)total.lost, total.hits,
		 (unsigned long long)total.trainings, total.locks);
	memset(&total, 0, sizeof(total));
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_plane_trials",
		.batch = 100,
		.again = 1,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
