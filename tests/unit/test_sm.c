/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet manager alone: events in, actions out, against devices that are nothing but a few
 * tables and answer as the test wants. State: struct rig, the devices and the SMPs on their way.
 * Does not use the simulator: what it would hide must show here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "sm/sm_priv.h"

/* ---- devices ---- */

enum { MAX_DEVS = 16, MAX_PORTS = 8, LIDS = 512 };

struct dev {
	uint64_t guid;
	uint8_t type, nports;
	bool gone; /* its cables are pulled */
	bool mute; /* it is there, but does not answer */
	struct iba_switch_info si;
	struct iba_port_info pi[MAX_PORTS + 1];
	struct {
		unsigned dev, port;
	} peer[MAX_PORTS + 1]; /* port 0: no cable */
	uint8_t lft[LIDS];
};

struct flight {
	time_ps when;
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid;
};

struct sent {
	time_ps when;
	struct sm_send send;
	enum sm_phase phase;
};

struct rig {
	struct dev dev[MAX_DEVS];
	unsigned n;
	struct sm_config cfg;
	struct sm *sm;
	struct sm_actions out;
	time_ps now, wake;
	VEC(struct flight) air;
	VEC(struct sent) log;
	VEC(struct sm_note) notes;
	unsigned outstanding, peak, peak_discover; /* requests without an answer */
	struct sm_routes routes;		   /* computed, to be given next */
	bool unverified, no_routes, hold;
	unsigned copies; /* how often each response comes; 0: once */
	/* Looks at a request and may spoil its answer (resp). False: no answer at all. */
	bool (*twist)(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp);
	struct sm *twin; /* gets the same events and must do the same */
	struct sm_actions twin_out;
	struct rng rng;
};

static unsigned add_dev(struct rig *g, unsigned type, unsigned nports)
{
	struct dev *d = &g->dev[g->n];

	assert_true(g->n < MAX_DEVS && nports <= MAX_PORTS);
	d->type = (uint8_t)type;
	d->nports = (uint8_t)nports;
	d->guid = (type == IBA_NODE_SWITCH ? 0x100 : 0x2000) + g->n * 0x10u;
	d->si = (struct iba_switch_info){.linear_cap = 49152, .port_state_change = 1};
	for (unsigned p = 0; p <= nports; p++)
		d->pi[p] = (struct iba_port_info){.state = IBA_PORT_DOWN,
						  .mtu_cap = 4,
						  .vl_cap = 2,
						  .resp_time = 8,
						  .neighbor_mtu = 1,
						  .oper_vls = 1};
	d->pi[0].state = IBA_PORT_ACTIVE;
	memset(d->lft, 255, sizeof(d->lft));
	return g->n++;
}

static void join(struct rig *g, unsigned a, unsigned pa, unsigned b, unsigned pb)
{
	g->dev[a].peer[pa].dev = b;
	g->dev[a].peer[pa].port = pb;
	g->dev[b].peer[pb].dev = a;
	g->dev[b].peer[pb].port = pa;
	g->dev[a].pi[pa].state = g->dev[b].pi[pb].state = IBA_PORT_INIT;
}

static bool link_up(const struct rig *g, unsigned d, unsigned p)
{
	return g->dev[d].peer[p].port && !g->dev[d].gone && !g->dev[g->dev[d].peer[p].dev].gone;
}

/* Pull all cables of a device, or put them back; its switches notice. */
static void set_gone(struct rig *g, unsigned d, bool gone)
{
	g->dev[d].gone = gone;
	for (unsigned p = 1; p <= g->dev[d].nports; p++) {
		unsigned far = g->dev[d].peer[p].dev, fp = g->dev[d].peer[p].port;

		if (!fp)
			continue;
		g->dev[d].pi[p].state = g->dev[far].pi[fp].state =
		    gone ? IBA_PORT_DOWN : IBA_PORT_INIT;
		g->dev[far].si.port_state_change = 1;
	}
}

/* ---- how devices answer ---- */

static bool find_lid(const struct rig *g, uint16_t lid, unsigned *dev)
{
	for (*dev = 0; *dev < g->n; ++*dev)
		for (unsigned p = 0; p <= g->dev[*dev].nports; p++)
			if (!g->dev[*dev].gone && g->dev[*dev].pi[p].lid == lid)
				return true;
	return false;
}

/* By LID, by a directed route, or by LID to where the directed route begins. */
static bool find_target(const struct rig *g, const struct sm_send *s, unsigned *dev,
			unsigned *in_port)
{
	const uint8_t *path = iba_smp_initial_path((uint8_t *)s->mad);

	*dev = 0;
	*in_port = g->dev[0].type == IBA_NODE_SWITCH ? 0 : 1;
	if (s->dlid != IBA_LID_PERMISSIVE) {
		*in_port = 1;
		if (!find_lid(g, s->dlid, dev) || !iba_smp_is_dr(s->mad))
			return *dev < g->n;
	}
	for (unsigned i = 1; i <= iba_smp_hop_cnt(s->mad); i++) {
		unsigned p = path[i], far;

		assert_true(p >= 1 && p <= g->dev[*dev].nports); /* the SM knows its ports */
		assert_true(*dev == 0 || g->dev[*dev].type == IBA_NODE_SWITCH);
		if (!link_up(g, *dev, p))
			return false;
		far = g->dev[*dev].peer[p].dev;
		*in_port = g->dev[*dev].peer[p].port;
		*dev = far;
	}
	return true;
}

static void answer_port_info(struct dev *d, unsigned in_port, bool set, uint32_t mod, uint8_t *data)
{
	unsigned p = d->type == IBA_NODE_SWITCH || mod ? mod : in_port;
	struct iba_port_info v, *pi;

	assert_true(p <= d->nports);
	pi = &d->pi[p];
	if (set) {
		struct iba_port_info old = *pi;

		iba_port_info_get(&v, data, IBA_SMP_DATA_SIZE);
		*pi = v;
		pi->state = v.state == IBA_PORT_NO_CHANGE ? old.state
			    : v.state == IBA_PORT_DOWN	  ? IBA_PORT_INIT
							  : v.state;
		pi->mtu_cap = old.mtu_cap;
		pi->vl_cap = old.vl_cap;
	}
	v = *pi;
	v.local_port = (uint8_t)in_port;
	iba_port_info_put(&v, data);
}

static void answer(struct dev *d, unsigned in_port, uint8_t *m)
{
	bool set = iba_smp_method(m) == IBA_SET;
	uint8_t *data = iba_smp_data(m);
	uint32_t mod = iba_smp_attr_mod(m);

	if (iba_smp_attr_id(m) == IBA_ATTR_NODE_INFO) {
		struct iba_node_info ni = {1,
					   1,
					   d->type,
					   d->nports,
					   d->guid,
					   d->guid,
					   d->guid + (d->type == IBA_NODE_SWITCH ? 0 : in_port),
					   32,
					   1,
					   1,
					   (uint8_t)in_port,
					   1};

		iba_node_info_put(&ni, data);
	} else if (iba_smp_attr_id(m) == IBA_ATTR_PORT_INFO) {
		answer_port_info(d, in_port, set, mod, data);
	} else if (iba_smp_attr_id(m) == IBA_ATTR_SWITCH_INFO) {
		struct iba_switch_info v;

		iba_switch_info_get(&v, data, IBA_SMP_DATA_SIZE);
		if (set) {
			d->si.linear_top = v.linear_top;
			d->si.port_state_change &= !v.port_state_change;
		}
		iba_switch_info_put(&d->si, data);
	} else if (iba_smp_attr_id(m) == IBA_ATTR_LFT) {
		assert_true(mod < LIDS / 64);
		if (set)
			memcpy(d->lft + mod * 64, data, 64);
		else
			memcpy(data, d->lft + mod * 64, 64);
	}
	iba_smp_set_method(m, IBA_GET_RESP);
}

static void fly(struct rig *g, time_ps when, const uint8_t *mad, uint16_t slid)
{
	struct flight f = {.when = when, .slid = slid};

	memcpy(f.mad, mad, IBA_MAD_SIZE);
	vec_push(&g->air, f);
}

static void on_send(struct rig *g, const struct sm_send *s)
{
	unsigned method = iba_smp_method(s->mad), dev, in_port;
	struct sent rec = {.when = g->now, .send = *s};
	uint8_t resp[IBA_MAD_SIZE];
	struct sm_status st;

	sm_status(g->sm, &st);
	rec.phase = st.phase;
	vec_push(&g->log, rec);
	if ((method != IBA_GET && method != IBA_SET) || !find_target(g, s, &dev, &in_port) ||
	    g->dev[dev].mute)
		return;
	memcpy(resp, s->mad, IBA_MAD_SIZE);
	answer(&g->dev[dev], in_port, resp);
	if (g->twist && !g->twist(g, dev, s, resp))
		return;
	for (unsigned i = 0; i <= g->copies; i++)
		fly(g, g->now + 10 * PS_PER_US, resp, 0);
}

/* ---- running ---- */

static void expect_same_actions(const struct rig *g)
{
	const struct sm_actions *a = &g->out, *b = &g->twin_out;

	assert_int_equal(a->sends.n, b->sends.n);
	for (size_t i = 0; i < a->sends.n; i++) {
		assert_memory_equal(a->sends.at[i].mad, b->sends.at[i].mad, IBA_MAD_SIZE);
		assert_int_equal(a->sends.at[i].slid, b->sends.at[i].slid);
		assert_int_equal(a->sends.at[i].dlid, b->sends.at[i].dlid);
		assert_int_equal(a->sends.at[i].sl, b->sends.at[i].sl);
	}
	assert_int_equal(a->notes.n, b->notes.n);
	for (size_t i = 0; i < a->notes.n; i++) {
		assert_int_equal(a->notes.at[i].kind, b->notes.at[i].kind);
		assert_int_equal(a->notes.at[i].when, b->notes.at[i].when);
		assert_int_equal(a->notes.at[i].a, b->notes.at[i].a);
		assert_int_equal(a->notes.at[i].b, b->notes.at[i].b);
	}
	assert_true(a->wake == b->wake);
	assert_int_equal(a->compute.epoch, b->compute.epoch);
	if (a->compute.epoch)
		assert_int_equal(a->compute.root, b->compute.root);
}

static struct rt_tables *compute(const struct sm_compute *c)
{
	struct rt_opts o = {.root = c->root, .threads = 1};
	struct rt_tables *t = NULL;
	struct err e;

	assert_int_equal(rt_compute(&rt_fera, c->fab, &o, &t, &e), 0);
	return t;
}

static struct rt_tables *copy_tables(const struct rt_tables *t)
{
	struct rt_tables *c = t ? rt_tables_new(t->nswitches, t->top_lid) : NULL;

	if (c)
		memcpy(c->lft, t->lft, (size_t)t->nswitches * t->stride);
	return c;
}

static void step(struct rig *g, struct sm_event ev)
{
	ev.now = g->now;
	if (g->twin) {
		struct sm_event same = ev;

		same.routes.tables = copy_tables(ev.routes.tables);
		sm_step(g->twin, &same, &g->twin_out);
	}
	assert_int_equal(sm_step(g->sm, &ev, &g->out), 0);
	if (g->twin)
		expect_same_actions(g);
	for (size_t i = 0; i < g->out.notes.n; i++)
		vec_push(&g->notes, g->out.notes.at[i]);
	for (size_t i = 0; i < g->out.sends.n; i++)
		on_send(g, &g->out.sends.at[i]);
	g->wake = g->out.wake;
	if (g->out.compute.epoch) {
		rt_tables_free(g->routes.tables);
		g->routes =
		    (struct sm_routes){.epoch = g->out.compute.epoch,
				       .tables = g->no_routes ? NULL : compute(&g->out.compute),
				       .verified = !g->unverified};
	}
	assert_true(g->sm->noutstanding <= g->cfg.window);
	g->peak = MAX(g->peak, g->sm->noutstanding);
	if (g->sm->phase == SM_DISCOVER)
		g->peak_discover = MAX(g->peak_discover, g->sm->noutstanding);
}

static void give_smp(struct rig *g, const uint8_t *mad, uint16_t slid)
{
	step(g, (struct sm_event){.kind = SM_EV_SMP, .mad = mad, .slid = slid});
}

static void give_routes(struct rig *g)
{
	struct sm_routes r = g->routes;

	g->routes = (struct sm_routes){0};
	step(g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

/* One event: routes at once, else whatever is due first. False: nothing will happen any more. */
static bool one_event(struct rig *g)
{
	size_t first = 0;
	struct flight f;

	if (g->routes.epoch && !g->hold) {
		give_routes(g);
		return true;
	}
	for (size_t i = 1; i < g->air.n; i++)
		if (g->air.at[i].when < g->air.at[first].when)
			first = i;
	if (g->air.n && g->air.at[first].when <= g->wake) {
		f = g->air.at[first];
		memmove(&g->air.at[first], &g->air.at[first + 1],
			(g->air.n - first - 1) * sizeof(f));
		g->air.n--;
		g->now = MAX(g->now, f.when);
		give_smp(g, f.mad, f.slid);
		return true;
	}
	if (g->wake == TIME_NEVER)
		return false;
	g->now = MAX(g->now, g->wake);
	step(g, (struct sm_event){.kind = SM_EV_WAKE});
	return true;
}

static struct sm_status status(const struct rig *g)
{
	struct sm_status st;

	sm_status(g->sm, &st);
	return st;
}

/* Until the SM has nothing to do but wait for its next sweep. */
static void run_ready(struct rig *g)
{
	for (unsigned i = 0; i < 200000; i++) {
		struct sm_status st = status(g);

		if (st.phase == SM_READY && st.rounds && !st.change_pending && !g->air.n)
			return;
		if (!one_event(g))
			fail_msg("nothing more will happen in phase %s",
				 sm_phase_name(status(g).phase));
	}
	fail_msg("does not come to rest");
}

/* Until the phase is entered once more. */
static void run_phase(struct rig *g, enum sm_phase p)
{
	for (unsigned i = 0; i < 200000 && g->sm->phase != p; i++)
		assert_true(one_event(g));
	assert_int_equal(g->sm->phase, p);
}

static unsigned count_notes(const struct rig *g, enum sm_note_kind k)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->notes.n; i++)
		n += g->notes.at[i].kind == k;
	return n;
}

static unsigned count_sends(const struct rig *g, unsigned method, uint16_t attr)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		n += iba_smp_method(g->log.at[i].send.mad) == method &&
		     iba_smp_attr_id(g->log.at[i].send.mad) == attr;
	return n;
}

/* ---- life ---- */

static void rig_open(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	sm_config_default(&g->cfg);
	g->cfg.mechanism = *sm_mechanism_find("basic");
	g->wake = TIME_NEVER;
	rng_seed(&g->rng, 1, 1);
}

static void rig_start(struct rig *g)
{
	g->cfg.port = g->dev[0].type == IBA_NODE_SWITCH ? 0 : 1;
	g->sm = sm_new(&g->cfg);
	step(g, (struct sm_event){.kind = SM_EV_START});
}

static void rig_close(struct rig *g)
{
	sm_free(g->sm);
	sm_free(g->twin);
	sm_actions_free(&g->out);
	sm_actions_free(&g->twin_out);
	rt_tables_free(g->routes.tables);
	vec_free(&g->air);
	vec_free(&g->log);
	vec_free(&g->notes);
}

/* h0 - sw1 - sw2 - h3: what most of the stories need. */
static void draw_pair(struct rig *g)
{
	rig_open(g);
	add_dev(g, IBA_NODE_CA, 1);
	add_dev(g, IBA_NODE_SWITCH, 4);
	add_dev(g, IBA_NODE_SWITCH, 4);
	add_dev(g, IBA_NODE_CA, 1);
	join(g, 0, 1, 1, 1);
	join(g, 1, 2, 2, 1);
	join(g, 2, 2, 3, 1);
}

/* A switch with seven neighbours, hosts and switches in turn. */
static void draw_star(struct rig *g)
{
	unsigned hub;

	rig_open(g);
	add_dev(g, IBA_NODE_CA, 1);
	hub = add_dev(g, IBA_NODE_SWITCH, 8);
	join(g, 0, 1, hub, 1);
	for (unsigned p = 2; p <= 8; p++)
		join(g, hub, p, add_dev(g, p % 2 ? IBA_NODE_CA : IBA_NODE_SWITCH, p % 2 ? 1 : 4),
		     1);
}

static uint16_t lid_of(const struct rig *g, unsigned d)
{
	return g->dev[d].pi[g->dev[d].type == IBA_NODE_SWITCH ? 0 : 1].lid;
}

/* Every link Active, every LID given once, every LID reached from every switch. */
static void expect_up(const struct rig *g)
{
	for (unsigned d = 0; d < g->n; d++) {
		assert_true(g->dev[d].gone || lid_of(g, d));
		for (unsigned p = 1; p <= g->dev[d].nports; p++)
			if (link_up(g, d, p))
				assert_int_equal(g->dev[d].pi[p].state, IBA_PORT_ACTIVE);
		for (unsigned e = 0; e < d; e++)
			assert_true(g->dev[d].gone || g->dev[e].gone ||
				    lid_of(g, d) != lid_of(g, e));
		for (unsigned to = 0; to < g->n; to++) {
			unsigned at = d;

			if (g->dev[d].type != IBA_NODE_SWITCH || g->dev[d].gone || g->dev[to].gone)
				continue;
			for (unsigned hops = 0; at != to; hops++) {
				unsigned out = g->dev[at].lft[lid_of(g, to)];

				assert_true(hops < 8 && g->dev[at].type == IBA_NODE_SWITCH);
				assert_true(out >= 1 && out <= g->dev[at].nports &&
					    link_up(g, at, out));
				at = g->dev[at].peer[out].dev;
			}
		}
	}
}

/* ---- stories ---- */

static void test_brings_a_subnet_up(void **state)
{
	struct rig g;
	struct sm_status st;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	st = status(&g);
	assert_int_equal(st.nodes, 4);
	assert_int_equal(st.switches, 2);
	assert_int_equal(st.lids, 4);
	assert_int_equal(st.lid, lid_of(&g, 0));
	assert_int_equal(st.state, IBA_SM_MASTER);
	assert_int_equal(st.rounds, 1);
	assert_true(st.last.clean);
	assert_int_equal(st.retries + st.timeouts + st.late + st.bad, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_CHANGE), 1);
	assert_non_null(sm_tables(g.sm));
	for (unsigned d = 0; d < g.n; d++)
		assert_int_equal(
		    sm_lid_of(g.sm, g.dev[d].guid + (g.dev[d].type == IBA_NODE_CA), NULL),
		    lid_of(&g, d));
	/* A second start makes no sense. */
	assert_int_equal(
	    sm_step(g.sm, &(struct sm_event){.kind = SM_EV_START, .now = g.now}, &g.out), -EINVAL);
	rig_close(&g);
}

static void test_window(void **state)
{
	static const unsigned windows[] = {1, 2, 5, 32};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
		struct rig g;

		draw_star(&g);
		g.cfg.window = windows[i];
		rig_start(&g);
		run_ready(&g);
		expect_up(&g);
		assert_true(g.peak <= windows[i]);
		if (windows[i] <= 5) /* and it is made use of */
			assert_int_equal(g.peak, windows[i]);
		rig_close(&g);
	}
}

static void test_breadth_first_asks_one_at_a_time(void **state)
{
	struct rig g;

	(void)state;
	draw_star(&g);
	g.cfg.explore = SM_EXPLORE_BFS;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(g.peak_discover, 1);
	assert_true(g.peak > 1); /* later phases have the window */
	rig_close(&g);
}

/* ---- time-outs ---- */

static time_ps timeout_by_hand(unsigned hops, unsigned resp)
{
	time_ps r = 4096000ull << resp; /* 4.096 us * 2^resp */

	return 2 * hops * (1260 * PS_PER_NS + r) + r;
}

/* When each copy of the request that was sent most often went out. */
static unsigned times_of(const struct rig *g, uint64_t tid, time_ps *t, unsigned max)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		if (iba_smp_tid(g->log.at[i].send.mad) == tid && n < max)
			t[n++] = g->log.at[i].when;
	return n;
}

/* hops: the depth known when the request first went out, and when it was repeated. */
static void check_silence(unsigned switches, unsigned resp, unsigned hops_first, unsigned hops_then)
{
	time_ps t[16];
	uint64_t tid = 0;
	struct rig g;
	unsigned last;

	rig_open(&g);
	last = add_dev(&g, IBA_NODE_CA, 1);
	for (unsigned i = 0; i < switches; i++) {
		unsigned sw = add_dev(&g, IBA_NODE_SWITCH, 2);

		join(&g, last, i ? 2 : 1, sw, 1);
		last = sw;
	}
	join(&g, last, 2, add_dev(&g, IBA_NODE_CA, 1), 1);
	for (unsigned d = 0; d < g.n; d++)
		g.dev[d].pi[0].resp_time = g.dev[d].pi[1].resp_time = (uint8_t)resp;
	g.dev[g.n - 1].mute = true;
	g.cfg.retries = 2;
	g.cfg.restarts = 0;
	rig_start(&g);
	run_phase(&g, SM_CONFIGURE);
	for (size_t i = 0; i < g.log.n; i++)
		if (iba_smp_hop_cnt(g.log.at[i].send.mad) == switches + 1)
			tid = iba_smp_tid(g.log.at[i].send.mad);
	assert_int_equal(times_of(&g, tid, t, 16), 3);
	assert_int_equal(t[1] - t[0], timeout_by_hand(hops_first, resp));
	assert_int_equal(t[2] - t[1], timeout_by_hand(hops_then, resp));
	assert_int_equal(g.now - t[2], timeout_by_hand(hops_then, resp));
	assert_int_equal(status(&g).retries, 2);
	assert_int_equal(status(&g).timeouts, 1);
	assert_int_equal(count_notes(&g, SM_NOTE_UNREACHABLE), 1);
	assert_int_equal(sm_fabric(g.sm)->nnodes, g.n - 1);
	rig_close(&g);
}

static void test_timeout_to_the_picosecond(void **state)
{
	(void)state;
	check_silence(1, 8, 4, 4); /* few hops: four are assumed */
	/* Six switches deep; looking back from the last one took a route of seven. */
	check_silence(6, 8, 6, 7);
	check_silence(1, 10, 4, 4); /* slow agents */
}

static void test_a_silent_host_does_not_hold_up_the_rest(void **state)
{
	struct sm_status st;
	struct rig g;
	time_ps first;

	(void)state;
	draw_pair(&g);
	g.dev[3].mute = true;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	st = status(&g);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 3);
	assert_int_equal(count_notes(&g, SM_NOTE_UNREACHABLE), 4);
	assert_false(st.last.clean);
	assert_int_equal(st.last.restarts, 3);
	assert_int_equal(st.nodes, 3);
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_ACTIVE);
	assert_int_equal(g.dev[2].pi[2].state, IBA_PORT_INIT); /* towards the silent one */
	/* It looks again, after longer and longer pauses. */
	assert_true(st.change_pending);
	first = g.wake - g.now;
	while (status(&g).rounds < 2)
		assert_true(one_event(&g));
	assert_int_equal(g.wake - g.now, 2 * first);
	g.dev[3].mute = false;
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).nodes, 4);
	rig_close(&g);
}

static unsigned lose_countdown;

static bool lose_some(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)dev;
	(void)s;
	(void)resp;
	return ++lose_countdown % 5 != 0;
}

static void test_lost_responses_are_asked_for_again(void **state)
{
	struct rig g;

	(void)state;
	draw_star(&g);
	g.twist = lose_some;
	lose_countdown = 0;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_true(status(&g).retries > 10);
	assert_int_equal(status(&g).timeouts, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 0);
	rig_close(&g);
}

static void test_doubled_responses_are_dropped(void **state)
{
	struct rig g;
	uint64_t requests;

	(void)state;
	draw_pair(&g);
	g.copies = 1;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	requests = g.log.n;
	assert_int_equal(status(&g).late, requests);
	assert_int_equal(status(&g).retries, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 0);
	assert_true(status(&g).smps[SM_FOR_AUDIT] >
		    0); /* Sets were doubled: it has a second look */
	rig_close(&g);
}

/* ---- traps, sweeps, late answers ---- */

static void make_trap(uint8_t *mad, unsigned number, uint64_t tid)
{
	struct iba_notice n = {
	    .is_generic = 1, .type = IBA_NOTICE_URGENT, .trap_number = (uint16_t)number};

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	iba_smp_set_tid(mad, tid);
	iba_notice_put(&n, iba_smp_data(mad));
}

static void test_late_answers_after_a_new_start(void **state)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;
	size_t asked;
	uint64_t late;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	step(&g, (struct sm_event){.kind = SM_EV_SWEEP});
	asked = g.air.n;
	assert_int_equal(asked, 2); /* two switches were asked and have answered */
	make_trap(trap, IBA_TRAP_LINK_STATE, 99);
	give_smp(&g, trap, lid_of(&g, 1));
	assert_int_equal(g.sm->phase, SM_DISCOVER);
	assert_int_equal(g.sm->noutstanding, 1);
	late = status(&g).late;
	for (size_t i = 0; i < asked; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).late, late + asked);
	assert_int_equal(g.sm->phase, SM_DISCOVER);
	assert_int_equal(g.sm->nodes.n, 0); /* they told nothing */
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(status(&g).last.cause, SM_CAUSE_TRAP);
	rig_close(&g);
}

static void test_a_trap_is_repressed_and_looked_into(void **state)
{
	uint8_t trap[IBA_MAD_SIZE];
	const struct sm_send *s;
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.m_key = 0x77;
	rig_start(&g);
	run_ready(&g);
	make_trap(trap, IBA_TRAP_LINK_STATE, 0x123456789abcdef0ull);
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 2);
	s = &g.out.sends.at[0];
	assert_int_equal(iba_smp_method(s->mad), IBA_TRAP_REPRESS);
	assert_int_equal(iba_smp_tid(s->mad), 0x123456789abcdef0ull);
	assert_int_equal(iba_smp_m_key(s->mad), 0x77);
	assert_int_equal(s->dlid, lid_of(&g, 2));
	assert_int_equal(s->slid, lid_of(&g, 0));
	assert_memory_equal(iba_smp_data_const(s->mad), iba_smp_data_const(trap),
			    IBA_SMP_DATA_SIZE);
	assert_int_equal(g.sm->phase, SM_DISCOVER);
	/* One that comes while it is busy: another round afterwards. */
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 1);
	assert_true(status(&g).change_pending);
	run_ready(&g);
	assert_int_equal(status(&g).rounds, 3);
	assert_int_equal(status(&g).traps, 2);
	rig_close(&g);
}

static void test_traps_that_change_nothing(void **state)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	make_trap(trap, IBA_TRAP_BAD_MKEY, 5);
	give_smp(&g, trap, lid_of(&g, 2));
	assert_int_equal(g.out.sends.n, 1); /* repressed */
	assert_int_equal(g.sm->phase, SM_READY);
	/* From nowhere: nobody to answer, but worth a look. */
	make_trap(trap, IBA_TRAP_BAD_MKEY, 6);
	give_smp(&g, trap, 0);
	assert_int_equal(g.out.sends.n, 0);
	give_smp(&g, trap, 0xc001);
	assert_int_equal(g.out.sends.n, 0);
	give_smp(&g, trap, IBA_LID_PERMISSIVE);
	assert_int_equal(g.out.sends.n, 0);
	assert_int_equal(count_notes(&g, SM_NOTE_TRAP), 4);
	rig_close(&g);
}

static void test_sweeps_find_changes(void **state)
{
	struct rig g;
	uint64_t swept;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	run_phase(&g, SM_SWEEP); /* its own idea */
	run_phase(&g, SM_READY);
	assert_int_equal(status(&g).clean_sweeps, 1);
	assert_int_equal(status(&g).rounds, 1);
	swept = status(&g).smps[SM_FOR_SWEEP];
	assert_int_equal(swept, 2);
	for (size_t i = g.log.n - swept; i < g.log.n; i++) /* sweeps are LID-routed */
		assert_int_equal(iba_smp_mgmt_class(g.log.at[i].send.mad), IBA_CLASS_SUBN_LID);
	set_gone(&g, 3, true);
	while (status(&g).rounds < 2)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).last.cause, SM_CAUSE_SWEEP);
	assert_int_equal(status(&g).nodes, 3);
	/* A switch that says nothing at all is a change too. */
	g.dev[2].mute = true;
	while (status(&g).rounds < 3)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).last.cause, SM_CAUSE_SILENCE);
	assert_int_equal(status(&g).nodes, 2);
	rig_close(&g);
}

/* ---- LIDs ---- */

static void look_again(struct rig *g)
{
	uint8_t trap[IBA_MAD_SIZE];

	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(g, trap, lid_of(g, 1));
	run_ready(g);
}

static void test_lids_stay(void **state)
{
	uint16_t was[4];
	struct rig g;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	for (unsigned d = 0; d < 4; d++)
		was[d] = lid_of(&g, d);
	look_again(&g);
	for (unsigned d = 0; d < 4; d++)
		assert_int_equal(lid_of(&g, d), was[d]);
	/* h3 leaves, and another host comes; when h3 is back, blank, it is h3 again. */
	set_gone(&g, 3, true);
	add_dev(&g, IBA_NODE_CA, 1);
	join(&g, 1, 3, 4, 1);
	g.dev[4].guid = 1; /* smaller than all */
	look_again(&g);
	expect_up(&g);
	assert_true(lid_of(&g, 4) && lid_of(&g, 4) != was[3]);
	set_gone(&g, 3, false);
	g.dev[3].pi[1].lid = 0;
	look_again(&g);
	expect_up(&g);
	for (unsigned d = 0; d < 4; d++)
		assert_int_equal(lid_of(&g, d), was[d]);
	rig_close(&g);
}

static void test_lmc_ranges_are_aligned_and_apart(void **state)
{
	uint8_t used[LIDS] = {0};
	struct rig g;

	(void)state;
	draw_star(&g);
	g.dev[2].si.enhanced_port0 = 1;
	g.cfg.lmc = 2;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	for (unsigned d = 0; d < g.n; d++) {
		bool sw = g.dev[d].type == IBA_NODE_SWITCH;
		const struct iba_port_info *pi = &g.dev[d].pi[sw ? 0 : 1];

		assert_int_equal(pi->lmc, sw && d != 2 ? 0 : 2); /* base port 0 has one LID */
		assert_int_equal(pi->lid % (1u << pi->lmc), 0);
		for (unsigned i = 0; i < 1u << pi->lmc; i++)
			assert_int_equal(used[pi->lid + i]++, 0);
	}
	rig_close(&g);
}

static void test_lids_in_devices_are_kept(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.dev[0].pi[1].lid = 100;
	g.dev[1].pi[0].lid = 7;
	g.dev[3].pi[1].lid = 300;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 0), 100);
	assert_int_equal(lid_of(&g, 1), 7);
	assert_int_equal(lid_of(&g, 3), 300);
	rig_close(&g);
}

static void test_two_devices_with_one_lid(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.dev[2].pi[0].lid = 50;
	g.dev[3].pi[1].lid = 50;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g); /* all different */
	assert_true(lid_of(&g, 2) == 50 || lid_of(&g, 3) == 50);
	assert_int_equal(count_notes(&g, SM_NOTE_MISMATCH), 0);
	rig_close(&g);
}

static void test_lids_that_no_port_may_have(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.lmc = 1;
	g.dev[0].pi[1].lid = 5;	     /* odd */
	g.dev[1].pi[0].lid = 0xc000; /* multicast */
	g.dev[3].pi[1].lid = 0xffff;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(lid_of(&g, 0) % 2, 0);
	assert_true(lid_of(&g, 1) < LIDS && lid_of(&g, 3) < LIDS);
	rig_close(&g);
}

static void test_lids_run_out(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.port = 1;
	g.sm = sm_new(&g.cfg);
	memset(g.sm->lid_used + 4, 1, sizeof(g.sm->lid_used) - 4); /* three are left for four */
	step(&g, (struct sm_event){.kind = SM_EV_START});
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_true(count_notes(&g, SM_NOTE_NO_LID) >= 1);
	assert_int_equal(status(&g).nodes, 3); /* the others work */
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_ACTIVE);
	rig_close(&g);
}

static void test_not_even_one_for_itself(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.port = 1;
	g.sm = sm_new(&g.cfg);
	memset(g.sm->lid_used, 1, sizeof(g.sm->lid_used));
	step(&g, (struct sm_event){.kind = SM_EV_START});
	for (unsigned i = 0; i < 1000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1);
	assert_int_equal(status(&g).nodes, 0);
	assert_true(count_notes(&g, SM_NOTE_NO_LID) >= 1);
	rig_close(&g);
}

static unsigned port0_lost;

/* The local switch's port 0 answers so late that everybody else is known by then. */
static bool late_port0(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	(void)resp;
	if (dev == 0 && iba_smp_attr_id(s->mad) == IBA_ATTR_PORT_INFO && !iba_smp_attr_mod(s->mad))
		return port0_lost++ > 0;
	return true;
}

static void check_late_own_lid(bool lids_left)
{
	struct rig g;

	rig_open(&g);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	add_dev(&g, IBA_NODE_CA, 1);
	add_dev(&g, IBA_NODE_CA, 1);
	join(&g, 0, 1, 1, 1);
	join(&g, 0, 2, 2, 1);
	g.twist = late_port0;
	port0_lost = 0;
	g.sm = sm_new(&g.cfg);
	if (!lids_left)
		memset(g.sm->lid_used, 1, sizeof(g.sm->lid_used));
	step(&g, (struct sm_event){.kind = SM_EV_START});
	for (unsigned i = 0; i < 1000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1);
	assert_int_equal(status(&g).nodes, lids_left ? 3 : 0);
	if (lids_left)
		expect_up(&g);
	rig_close(&g);
}

static void test_others_wait_for_the_sms_own_lid(void **state)
{
	(void)state;
	check_late_own_lid(true);
	check_late_own_lid(false);
}

static void test_lids_of_the_departed_are_given_again(void **state)
{
	struct sm_config c;
	struct sm_status st;
	struct sm *sm;
	unsigned n;

	(void)state;
	sm_config_default(&c);
	c.mechanism = *sm_mechanism_find("basic");
	sm = sm_new(&c);
	sm->epoch = 1;
	for (n = 0; sm_lid_give(sm, 1000 + n, 7, 0); n++)
		assert_int_equal(sm_lid_of(sm, 1000 + n, NULL) % 128, 0);
	assert_int_equal(n, 49152 / 128 - 1); /* LIDs 1 to 127 are no range of 128 */
	sm_status(sm, &st);
	assert_int_equal(st.lids, n * 128);
	sm->epoch = 5;					    /* nobody has been seen for long */
	assert_int_equal(sm_lid_give(sm, 1000, 7, 0), 128); /* but for this one */
	assert_int_equal(sm_lid_give(sm, 5000, 7, 0), 256);
	assert_int_equal(sm_lid_of(sm, 1001, NULL), 0);
	sm_status(sm, &st);
	assert_int_equal(st.lids, 2 * 128);
	/* Another LMC: the old range is free again. */
	assert_int_equal(sm_lid_give(sm, 5000, 0, 256), 256);
	sm_status(sm, &st);
	assert_int_equal(st.lids, 128 + 1);
	sm_free(sm);
}

/* ---- routes ---- */

static void check_refused(bool no_routes)
{
	struct rig g;

	draw_pair(&g);
	g.unverified = true;
	g.no_routes = no_routes;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_int_equal(count_notes(&g, SM_NOTE_REFUSED), 1);
	assert_int_equal(count_sends(&g, IBA_SET, IBA_ATTR_LFT), 0);
	assert_null(sm_tables(g.sm));
	assert_int_equal(g.dev[0].pi[1].state, IBA_PORT_INIT);
	assert_false(status(&g).last.clean);
	/* It tries again, and takes what is verified. */
	g.unverified = g.no_routes = false;
	run_ready(&g);
	expect_up(&g);
	assert_true(status(&g).last.clean);
	rig_close(&g);
}

static void test_unverified_tables_are_refused(void **state)
{
	(void)state;
	check_refused(false);
	check_refused(true);
}

static void test_routes_nobody_asked_for(void **state)
{
	struct rig g;
	struct sm_routes old;

	(void)state;
	draw_pair(&g);
	g.hold = true;
	rig_start(&g);
	while (!g.routes.epoch)
		assert_true(one_event(&g));
	/* An answer to another question is thrown away. */
	old = g.routes;
	old.epoch++;
	old.tables = copy_tables(g.routes.tables);
	step(&g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = old});
	assert_int_equal(g.sm->phase, SM_COMPUTE);
	g.hold = false;
	run_ready(&g);
	expect_up(&g);
	old.tables = copy_tables(sm_tables(g.sm));
	step(&g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = old});
	assert_int_equal(g.sm->phase, SM_READY);
	rig_close(&g);
}

/* ---- nonsense ---- */

static void test_garbage_is_counted_and_ignored(void **state)
{
	static const uint8_t methods[] = {0x00,	   IBA_SEND, IBA_REPORT, IBA_TRAP_REPRESS,
					  IBA_GET, 0x99};
	uint8_t mad[IBA_MAD_SIZE];
	struct sm_status before;
	struct rig g;

	(void)state;
	draw_pair(&g);
	rig_start(&g);
	run_ready(&g);
	before = status(&g);
	for (unsigned i = 0; i < 3000; i++) {
		for (unsigned k = 0; k < IBA_MAD_SIZE; k++)
			mad[k] = (uint8_t)rng_u64(&g.rng);
		mad[0] = 2; /* no version we know */
		give_smp(&g, mad, (uint16_t)rng_u64(&g.rng));
		assert_int_equal(g.out.sends.n + g.out.notes.n, 0);
	}
	assert_int_equal(status(&g).bad, before.bad + 3000);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		iba_smp_init(mad, IBA_CLASS_SUBN_LID, (enum iba_method)methods[i],
			     IBA_ATTR_NODE_INFO, 0);
		give_smp(&g, mad, 3);
		assert_int_equal(g.out.sends.n + g.out.notes.n, 0);
	}
	iba_smp_init(mad, (enum iba_class)0x04, IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0);
	give_smp(&g, mad, 3);
	assert_int_equal(status(&g).bad, before.bad + 3000 + ARRAY_LEN(methods) + 1);
	for (unsigned i = 0; i < 100; i++) { /* answers to nothing */
		iba_smp_init(mad, IBA_CLASS_SUBN_DR, IBA_GET_RESP, IBA_ATTR_NODE_INFO, 0);
		iba_smp_set_tid(mad, rng_u64(&g.rng));
		give_smp(&g, mad, 3);
	}
	assert_int_equal(status(&g).late, before.late + 100);
	run_ready(&g);
	assert_int_equal(status(&g).nodes, 4);
	rig_close(&g);
}

/* The answer to another question: right transaction, wrong attribute. */
static bool wrong_attribute(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	if (dev == 3 && iba_smp_attr_id(s->mad) == IBA_ATTR_NODE_INFO &&
	    !count_notes(g, SM_NOTE_RESTART)) {
		resp[17] = IBA_ATTR_NODE_DESC;
		return true;
	}
	return true;
}

static void test_an_answer_must_fit_its_question(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.twist = wrong_attribute;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_int_equal(count_notes(&g, SM_NOTE_RESTART), 1);
	assert_int_equal(status(&g).late, 5);
	rig_close(&g);
}

/* Capabilities that the specification does not know. */
static bool nonsense_caps(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_port_info pi;

	(void)g;
	if (iba_smp_attr_id(s->mad) != IBA_ATTR_PORT_INFO || dev != 2)
		return true;
	iba_port_info_get(&pi, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	pi.vl_cap = 0;
	pi.mtu_cap = 0;
	pi.resp_time = 31;
	iba_port_info_put(&pi, iba_smp_data(resp));
	return true;
}

static void test_nonsense_capabilities(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.qos = true;
	g.twist = nonsense_caps;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	assert_true(g.wake > g.now); /* however long the time-outs are, the next sweep is to come */
	rig_close(&g);
}

static bool wrong_node_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_node_info ni;

	(void)g;
	if (iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_INFO || dev != 3)
		return true;
	iba_node_info_get(&ni, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	ni.num_ports = 0;
	iba_node_info_put(&ni, iba_smp_data(resp));
	return true;
}

static void test_a_device_that_makes_no_sense_is_left_out(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.twist = wrong_node_info;
	rig_start(&g);
	while (!status(&g).rounds)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).nodes, 3);
	assert_int_equal(g.dev[1].pi[2].state, IBA_PORT_ACTIVE);
	assert_false(status(&g).last.clean);
	rig_close(&g);
}

/* The local node shrinks between two discoveries: fewer ports than the one the SM sits on. */
static bool shrunken_self(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	struct iba_node_info ni;

	if (iba_smp_attr_id(s->mad) != IBA_ATTR_NODE_INFO || dev != 0 || !status(g).rounds)
		return true;
	iba_node_info_get(&ni, iba_smp_data_const(resp), IBA_SMP_DATA_SIZE);
	ni.num_ports = 1;
	ni.local_port = 1;
	iba_node_info_put(&ni, iba_smp_data(resp));
	return true;
}

static void test_the_own_node_makes_no_sense(void **state)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	(void)state;
	rig_open(&g);
	add_dev(&g, IBA_NODE_CA, 2);
	add_dev(&g, IBA_NODE_SWITCH, 4);
	join(&g, 0, 1, 1, 1);
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	g.twist = shrunken_self;
	g.sm->cfg.port = 2; /* as if it had been there all the time */
	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, trap, lid_of(&g, 1));
	for (unsigned i = 0; i < 2000 && status(&g).rounds < 2; i++)
		assert_true(one_event(&g));
	rig_close(&g);
}

/* ---- a device that answers, but refuses ---- */

static bool refuse_switch_info(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)g;
	if (dev == 2 && iba_smp_method(s->mad) == IBA_SET &&
	    iba_smp_attr_id(s->mad) == IBA_ATTR_LFT)
		iba_smp_set_status(resp, IBA_STATUS_BAD_FIELD);
	return true;
}

static void test_a_stubborn_device_does_not_keep_the_sm_busy(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.twist = refuse_switch_info;
	rig_start(&g);
	for (unsigned i = 0; i < 5000 && !status(&g).rounds; i++)
		assert_true(one_event(&g));
	assert_int_equal(status(&g).rounds, 1); /* it gives up on that one, not on the others */
	assert_false(status(&g).last.clean);
	assert_true(status(&g).change_pending);
	assert_true(count_notes(&g, SM_NOTE_BAD_STATUS) >= 1);
	assert_int_equal(count_notes(&g, SM_NOTE_LEFT_OUT), 1);
	assert_int_equal(sm_fabric(g.sm)->nnodes, 2);
	assert_non_null(sm_tables(g.sm));
	g.twist = NULL;
	run_ready(&g);
	expect_up(&g);
	rig_close(&g);
}

/* ---- who is asking ---- */

static void test_tells_who_it_is(void **state)
{
	struct iba_sm_info si;
	uint8_t mad[IBA_MAD_SIZE];
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.priority = 9;
	rig_start(&g);
	run_ready(&g);
	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_tid(mad, 4711);
	give_smp(&g, mad, 42);
	assert_int_equal(g.out.sends.n, 1);
	assert_int_equal(g.out.sends.at[0].dlid, 42);
	assert_int_equal(g.out.sends.at[0].slid, lid_of(&g, 0));
	assert_int_equal(iba_smp_method(g.out.sends.at[0].mad), IBA_GET_RESP);
	assert_int_equal(iba_smp_tid(g.out.sends.at[0].mad), 4711);
	iba_sm_info_get(&si, iba_smp_data_const(g.out.sends.at[0].mad), IBA_SMP_DATA_SIZE);
	assert_int_equal(si.state, IBA_SM_MASTER);
	assert_int_equal(si.priority, 9);
	rig_close(&g);
}

static void test_every_request_shows_the_key(void **state)
{
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.m_key = 0xabcdef;
	g.cfg.m_key_protect = 2;
	g.cfg.m_key_lease_s = 60;
	rig_start(&g);
	run_ready(&g);
	for (size_t i = 0; i < g.log.n; i++)
		assert_int_equal(iba_smp_m_key(g.log.at[i].send.mad), 0xabcdef);
	assert_int_equal(g.dev[3].pi[1].m_key, 0xabcdef);
	assert_int_equal(g.dev[3].pi[1].m_key_protect, 2);
	assert_int_equal(g.dev[3].pi[1].m_key_lease, 60);
	assert_int_equal(g.dev[2].pi[0].m_key, 0xabcdef);
	rig_close(&g);
}

/* ---- purity ---- */

static bool chaos(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	(void)dev;
	(void)s;
	if (rng_below(&g->rng, 40) == 0)
		resp[rng_below(&g->rng, IBA_MAD_SIZE)] ^= (uint8_t)(1 + rng_below(&g->rng, 255));
	return rng_below(&g->rng, 12) != 0;
}

static void test_same_events_same_actions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint8_t trap[IBA_MAD_SIZE];
		struct rig g;

		draw_star(&g);
		rng_seed(&g.rng, seed, 5);
		g.cfg.window = 1 + (unsigned)seed * 2;
		g.cfg.qos = seed % 2;
		g.cfg.sweep_factor = 1;
		g.cfg.port = 1;
		g.twin = sm_new(&g.cfg);
		g.twist = chaos;
		rig_start(&g);
		for (unsigned i = 0; i < 1500; i++) {
			if (!one_event(&g))
				break;
			if (rng_below(&g.rng, 200) == 0) {
				make_trap(trap, IBA_TRAP_LINK_STATE, i);
				give_smp(&g, trap, (uint16_t)rng_below(&g.rng, 20));
			}
		}
		rig_close(&g);
	}
}

/* Device 2 does as it is told, but its answers are lost; when the manager gives up, the host is back. */
static bool lose_table_answers(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp)
{
	static unsigned lost;

	(void)resp;
	if (dev != 2 || iba_smp_method(s->mad) != IBA_SET || iba_smp_attr_id(s->mad) != IBA_ATTR_LFT)
		return true;
	if (++lost <= g->cfg.retries)
		return false;
	g->twist = NULL;
	set_gone(g, 3, false);
	return false;
}

static void test_a_table_that_was_set_without_an_answer_is_not_known(void **state)
{
	uint8_t trap[IBA_MAD_SIZE];
	struct rig g;

	(void)state;
	draw_pair(&g);
	g.cfg.mechanism.discovery = sm_discovery_find("partial");
	g.cfg.mechanism.first = g.cfg.mechanism.second = sm_technique_find("none");
	g.cfg.mechanism.partial_tables = true;
	rig_start(&g);
	run_ready(&g);
	expect_up(&g);
	g.twist = lose_table_answers;
	set_gone(&g, 3, true);
	make_trap(trap, IBA_TRAP_LINK_STATE, 1);
	give_smp(&g, trap, lid_of(&g, 2));
	run_ready(&g);
	assert_null(g.twist);
	expect_up(&g); /* the table before the change, once more: it has to be sent */
	rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_brings_a_subnet_up),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_breadth_first_asks_one_at_a_time),
	    cmocka_unit_test(test_timeout_to_the_picosecond),
	    cmocka_unit_test(test_a_silent_host_does_not_hold_up_the_rest),
	    cmocka_unit_test(test_lost_responses_are_asked_for_again),
	    cmocka_unit_test(test_doubled_responses_are_dropped),
	    cmocka_unit_test(test_late_answers_after_a_new_start),
	    cmocka_unit_test(test_a_trap_is_repressed_and_looked_into),
	    cmocka_unit_test(test_traps_that_change_nothing),
	    cmocka_unit_test(test_sweeps_find_changes),
	    cmocka_unit_test(test_lids_stay),
	    cmocka_unit_test(test_lmc_ranges_are_aligned_and_apart),
	    cmocka_unit_test(test_lids_in_devices_are_kept),
	    cmocka_unit_test(test_two_devices_with_one_lid),
	    cmocka_unit_test(test_lids_that_no_port_may_have),
	    cmocka_unit_test(test_lids_run_out),
	    cmocka_unit_test(test_not_even_one_for_itself),
	    cmocka_unit_test(test_others_wait_for_the_sms_own_lid),
	    cmocka_unit_test(test_lids_of_the_departed_are_given_again),
	    cmocka_unit_test(test_unverified_tables_are_refused),
	    cmocka_unit_test(test_routes_nobody_asked_for),
	    cmocka_unit_test(test_garbage_is_counted_and_ignored),
	    cmocka_unit_test(test_an_answer_must_fit_its_question),
	    cmocka_unit_test(test_nonsense_capabilities),
	    cmocka_unit_test(test_a_device_that_makes_no_sense_is_left_out),
	    cmocka_unit_test(test_the_own_node_makes_no_sense),
	    cmocka_unit_test(test_a_stubborn_device_does_not_keep_the_sm_busy),
	    cmocka_unit_test(test_tells_who_it_is),
	    cmocka_unit_test(test_every_request_shows_the_key),
	    cmocka_unit_test(test_same_events_same_actions),
	    cmocka_unit_test(test_a_table_that_was_set_without_an_answer_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
