/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The manager alone: events in, actions out, against devices that consist of a few tables and respond as the
 * test wants. State: struct rig, with the devices and the SMPs on their way. Does not use the simulator, so that
 * each event and each action is visible.
 */
#ifndef WEFT_TEST_SM_FIXTURE_H
#define WEFT_TEST_SM_FIXTURE_H

#include "unit_test.h"

#include "base/rng.h"
#include "sm/manager.h" /* counts requests under way; plants values that no device would send */
#include "sm/notes.h"

/* ---- devices ---- */

enum { MAX_DEVS = 16, MAX_PORTS = 8, LIDS = 512 };

struct dev {
	uint64_t guid;
	uint8_t type, nports;
	bool gone; /* its cables are unplugged */
	bool mute; /* connected, but does not respond */
	struct iba_switch_info si;
	struct iba_port_info pi[MAX_PORTS + 1];
	struct {
		unsigned dev, port;
	} peer[MAX_PORTS + 1]; /* port 0: no cable */
	uint8_t lft[LIDS];
	char name[IBA_SMP_DATA_SIZE + 1];
	struct iba_sm_info sm; /* another manager, if its guid is set */
	unsigned order;	       /* the last order it received */
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
	unsigned outstanding, peak, peak_discover; /* requests without a response */
	struct sm_routes routes;		   /* computed, to be delivered next */
	bool unverified, no_routes, hold;
	bool real_links; /* a port that is set Down takes the other end down too */
	unsigned stops;	 /* ports set Down */
	bool slow;	 /* routes take long: the manager continues while they are computed */
	struct sm_compute busy,
		queued;	 /* the one being computed, the one after it; epoch 0: none */
	unsigned copies; /* copies of each response; 0: one */
	/* Reads a request and may change its response (resp). False: no response. */
	bool (*twist)(struct rig *g, unsigned dev, const struct sm_send *s, uint8_t *resp);
	struct sm *twin; /* gets the same events and must do the same */
	struct sm_actions twin_out;
	time_ps twin_back; /* how far its clock is behind */
	struct rng rng;
};

static inline unsigned add_dev(struct rig *g, unsigned type, unsigned nports)
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
	snprintf(d->name, sizeof(d->name), "device %u", g->n);
	return g->n++;
}

static inline void join(struct rig *g, unsigned a, unsigned pa, unsigned b, unsigned pb)
{
	g->dev[a].peer[pa].dev = b;
	g->dev[a].peer[pa].port = pb;
	g->dev[b].peer[pb].dev = a;
	g->dev[b].peer[pb].port = pa;
	g->dev[a].pi[pa].state = g->dev[b].pi[pb].state = IBA_PORT_INIT;
}

static inline bool link_up(const struct rig *g, unsigned d, unsigned p)
{
	return g->dev[d].peer[p].port && !g->dev[d].gone && !g->dev[g->dev[d].peer[p].dev].gone;
}

/* Unplug all cables of a device, or plug them in again; switches at either end notice. */
static inline void set_gone(struct rig *g, unsigned d, bool gone)
{
	g->dev[d].gone = gone;
	for (unsigned p = 1; p <= g->dev[d].nports; p++) {
		unsigned far = g->dev[d].peer[p].dev, fp = g->dev[d].peer[p].port;

		if (!fp)
			continue;
		g->dev[d].pi[p].state = g->dev[far].pi[fp].state =
			gone ? IBA_PORT_DOWN : IBA_PORT_INIT;
		g->dev[far].si.port_state_change = g->dev[d].si.port_state_change = 1;
	}
}

/* ---- responses of devices ---- */

static inline bool find_lid(const struct rig *g, uint16_t lid, unsigned *dev)
{
	for (*dev = 0; *dev < g->n; ++*dev)
		for (unsigned p = 0; p <= g->dev[*dev].nports; p++)
			if (!g->dev[*dev].gone && g->dev[*dev].pi[p].lid == lid)
				return true;
	return false;
}

/* By LID, by a directed route, or by LID to the start of a directed route. */
static inline bool find_target(const struct rig *g, const struct sm_send *s, unsigned *dev,
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

		assert_true(p >= 1 && p <= g->dev[*dev].nports); /* the manager knows its ports */
		assert_true(*dev == 0 || g->dev[*dev].type == IBA_NODE_SWITCH);
		if (!link_up(g, *dev, p))
			return false;
		far = g->dev[*dev].peer[p].dev;
		*in_port = g->dev[*dev].peer[p].port;
		*dev = far;
	}
	return true;
}

static inline void answer_port_info(struct dev *d, unsigned in_port, bool set, uint32_t mod,
				    uint8_t *data)
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
		pi->cap_mask = old.cap_mask;
		pi->vl_cap = old.vl_cap;
	}
	v = *pi;
	v.local_port = (uint8_t)in_port;
	iba_port_info_put(&v, data);
}

static inline void answer(struct dev *d, unsigned in_port, uint8_t *m)
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
	} else if (iba_smp_attr_id(m) == IBA_ATTR_NODE_DESC) {
		memcpy(data, d->name, IBA_SMP_DATA_SIZE);
	} else if (iba_smp_attr_id(m) == IBA_ATTR_SM_INFO) {
		d->order = set ? mod : d->order;
		iba_sm_info_put(&d->sm, data);
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

static inline void fly(struct rig *g, time_ps when, const uint8_t *mad, uint16_t slid)
{
	struct flight f = {.when = when, .slid = slid};

	memcpy(f.mad, mad, IBA_MAD_SIZE);
	vec_push(&g->air, f);
}

static inline void note_stop(struct rig *g, unsigned dev, const struct sm_send *s)
{
	unsigned p = iba_smp_attr_mod(s->mad);
	struct iba_port_info pi;

	if (iba_smp_method(s->mad) != IBA_SET || iba_smp_attr_id(s->mad) != IBA_ATTR_PORT_INFO)
		return;
	iba_port_info_get(&pi, iba_smp_data_const(s->mad), IBA_SMP_DATA_SIZE);
	if (pi.state != IBA_PORT_DOWN)
		return;
	g->stops++;
	if (g->real_links && g->dev[dev].peer[p].port)
		g->dev[g->dev[dev].peer[p].dev].pi[g->dev[dev].peer[p].port].state = IBA_PORT_INIT;
}

static inline void on_send(struct rig *g, const struct sm_send *s)
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
	note_stop(g, dev, s);
	if (g->twist && !g->twist(g, dev, s, resp))
		return;
	for (unsigned i = 0; i <= g->copies; i++)
		fly(g, g->now + 10 * PS_PER_US, resp, 0);
}

/* ---- running ---- */

static inline struct sm_status status(const struct rig *g)
{
	struct sm_status st;

	sm_status(g->sm, &st);
	return st;
}

static inline void expect_same_actions(const struct rig *g)
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
		assert_int_equal(a->notes.at[i].when, b->notes.at[i].when + g->twin_back);
		struct strbuf x = {0}, y = {0};

		sm_note_text(&a->notes.at[i], NULL, &x);
		sm_note_text(&b->notes.at[i], NULL, &y);
		assert_string_equal(x.s, y.s);
		strbuf_free(&x);
		strbuf_free(&y);
	}
	assert_true(a->wake == TIME_NEVER ? b->wake == TIME_NEVER
					  : a->wake == b->wake + g->twin_back);
	assert_int_equal(a->compute.epoch, b->compute.epoch);
	if (a->compute.epoch)
		assert_int_equal(a->compute.root, b->compute.root);
}

/* Routes as a worker computes them, unless the test wants others. */
static inline void compute(struct rig *g, const struct sm_compute *c)
{
	struct sm_work_done done;

	if (g->slow) {
		*(g->busy.epoch ? &g->queued : &g->busy) = *c;
		return;
	}
	sm_routes_free(&g->routes);
	sm_compute_run(c, 1, &g->routes, &done);
	if ((c->compare || c->wished) && !g->routes.tables) /* the tables in force stay */
		return;
	assert_non_null(g->routes.tables);
	assert_true(g->routes.verified);
	g->routes.verified = !g->unverified;
	if (g->no_routes) {
		rt_tables_free(g->routes.tables);
		g->routes.tables = NULL;
	}
}

static inline struct sm_routes copy_routes(const struct sm_routes *r)
{
	struct sm_routes c = *r;

	if (!r->tables)
		return c;
	c.tables = rt_tables_new(r->tables->nswitches, r->tables->top_lid);
	memcpy(c.tables->lft, r->tables->lft, (size_t)r->tables->nswitches * r->tables->stride);
	c.rank = mem_array(r->tables->nswitches, sizeof(*c.rank));
	memcpy(c.rank, r->rank, r->tables->nswitches * sizeof(*c.rank));
	memset(&c.plan.turns, 0, sizeof(c.plan.turns));
	for (size_t i = 0; i < r->plan.turns.n; i++)
		vec_push(&c.plan.turns, r->plan.turns.at[i]);
	return c;
}

static inline void step(struct rig *g, struct sm_event ev)
{
	ev.now = g->now;
	if (g->twin) {
		struct sm_event same = ev;

		same.routes = copy_routes(&ev.routes);
		same.now -= g->twin_back;
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
	if (g->out.compute.epoch)
		compute(g, &g->out.compute);
	assert_true(g->sm->txn.outstanding <= g->cfg.window);
	g->peak = MAX(g->peak, g->sm->txn.outstanding);
	if (status(g).phase == SM_DISCOVER)
		g->peak_discover = MAX(g->peak_discover, g->sm->txn.outstanding);
}

static inline void give_smp(struct rig *g, const uint8_t *mad, uint16_t slid)
{
	step(g, (struct sm_event){.kind = SM_EV_SMP, .mad = mad, .slid = slid});
}

static inline void give_routes(struct rig *g)
{
	struct sm_routes r = g->routes;

	g->routes = (struct sm_routes){0};
	step(g, (struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

/* A slow worker reads its request until it has finished. */
static inline void worker_done(struct rig *g)
{
	struct sm_event ev = {.kind = SM_EV_ROUTES};
	struct sm_work_done done;

	sm_compute_run(&g->busy, 1, &ev.routes, &done);
	g->busy = g->queued;
	g->queued.epoch = 0;
	step(g, ev);
}

/* One event: routes at once, otherwise the one due first. False: no event is left. */
static inline bool one_event(struct rig *g)
{
	size_t first = 0;
	struct flight f;

	if (g->busy.epoch && (g->wake == TIME_NEVER || rng_below(&g->rng, 30) == 0)) {
		worker_done(g);
		return true;
	}
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

/* Run until the manager only waits for its next sweep. */
static inline void run_ready(struct rig *g)
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

/* Run until the phase is entered again. */
static inline void run_phase(struct rig *g, enum sm_phase p)
{
	for (unsigned i = 0; i < 200000 && status(g).phase != p; i++)
		assert_true(one_event(g));
	assert_int_equal(status(g).phase, p);
}

static inline unsigned count_notes(const struct rig *g, enum sm_note_kind k)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->notes.n; i++)
		n += g->notes.at[i].kind == k;
	return n;
}

static inline unsigned count_sends(const struct rig *g, unsigned method, uint16_t attr)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->log.n; i++)
		n += iba_smp_method(g->log.at[i].send.mad) == method &&
		     iba_smp_attr_id(g->log.at[i].send.mad) == attr;
	return n;
}

/* ---- open and close ---- */

static inline void make_trap(uint8_t *mad, unsigned number, uint64_t tid)
{
	struct iba_notice n = {.is_generic = 1, .trap_number = (uint16_t)number};

	iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	iba_smp_set_tid(mad, tid);
	iba_notice_put(&n, iba_smp_data(mad));
}

static inline void rig_open(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	sm_config_default(&g->cfg);
	g->cfg.mechanism = *sm_mechanism_find("basic");
	g->wake = TIME_NEVER;
	rng_seed(&g->rng, 1, 1);
}

static inline void rig_start(struct rig *g)
{
	g->cfg.port = g->dev[0].type == IBA_NODE_SWITCH ? 0 : 1;
	g->sm = sm_new(&g->cfg);
	step(g, (struct sm_event){.kind = SM_EV_START});
}

static inline void rig_close(struct rig *g)
{
	sm_free(g->sm);
	sm_free(g->twin);
	sm_actions_free(&g->out);
	sm_actions_free(&g->twin_out);
	sm_routes_free(&g->routes);
	vec_free(&g->air);
	vec_free(&g->log);
	vec_free(&g->notes);
}

/* h0 - sw1 - sw2 - h3: the fabric of most tests. */
static inline void draw_pair(struct rig *g)
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

/* A switch with seven neighbours, alternating hosts and switches. */
static inline void draw_star(struct rig *g)
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

static inline uint16_t lid_of(const struct rig *g, unsigned d)
{
	return g->dev[d].pi[g->dev[d].type == IBA_NODE_SWITCH ? 0 : 1].lid;
}

/* Every link is Active, every LID is unique and reached from every switch. */
static inline void expect_up(const struct rig *g)
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

#endif
