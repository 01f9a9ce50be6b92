/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as events for the subnet manager: answers to what it really asked, right, wrong or
 * garbage, traps, requests, time-outs, jumps of the clock, routes. No crash, never more requests
 * outstanding than the window, and no step that sends without end. State: struct play, one an
 * input. Way in: libFuzzer, or replay.c over files.
 */
#include "sm/manager.h" /* checks the limits of its queues after each event */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "fuzz_sm: %s\n", #x);                                      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

enum { RING = 64, MAX_DEPTH = 4, NODES = 64, PORTS = 4, BLOCKS = 2 };

/* What devices remember; two devices may share an entry, which makes their answers inconsistent. */
struct place {
	bool changed; /* PortStateChange */
	uint16_t top;
	uint8_t state[PORTS]; /* 0: as after power-on */
	uint8_t vl[PORTS][PORTS];
	uint8_t lft[BLOCKS * IBA_LFT_BLOCK];
	uint8_t before; /* not 0: what another manager left */
};

struct play {
	const uint8_t *data;
	size_t left;
	struct sm_config cfg;
	struct sm *sm;
	struct sm_actions out;
	time_ps now;
	struct sm_send ring[RING]; /* the last requests, to be answered or not */
	uint32_t head, tail;
	struct sm_compute want;
	struct place place[NODES];
};

static unsigned byte(struct play *p)
{
	if (!p->left)
		return 0;
	p->left--;
	return *p->data++;
}

static void step(struct play *p, struct sm_event ev)
{
	ev.now = p->now;
	sm_step(p->sm, &ev, &p->out);
	CHECK(p->sm->txn.outstanding <= p->sm->cfg.window);
	CHECK(p->out.sends.n <= 4 * p->sm->cfg.window + 4);
	CHECK(p->out.notes.n <= 8 * p->sm->cfg.window + 64 + SM_NOTES_LISTED);
	for (size_t i = 0; i < p->out.sends.n; i++) {
		unsigned method = iba_smp_method(p->out.sends.at[i].mad);

		if (method != IBA_GET && method != IBA_SET)
			continue;
		p->ring[p->head++ % RING] = p->out.sends.at[i];
		if (p->head - p->tail > RING)
			p->tail = p->head - RING;
	}
	if (p->out.compute.epoch)
		p->want = p->out.compute;
}

/* ---- a plausible world: a tree of switches, hosts at its leaves ---- */

/* Port 1 leads back to the parent, so a route that goes there and back is shortened. */
static unsigned shorten(const uint8_t *path, unsigned hops, uint8_t *out)
{
	unsigned n = 0;

	for (unsigned i = 1; i <= hops; i++) {
		if (path[i] == 1 && n > 1)
			n--;
		else if (path[i] == 1 && n == 1)
			n = 0; /* the SM's own host */
		else
			out[n++] = path[i];
		if (n == 0 && i < hops)
			out[n++] = 1;
	}
	return n;
}

/* Where a request ends, as a path from the SM's port: a switch reached by LID is found by what the
 * SM knows, and its GUID is its path. */
static unsigned target(const struct play *p, const struct sm_send *s, uint8_t *at)
{
	const uint8_t *mad = s->mad;
	uint8_t path[2 * IBA_PATH_SIZE] = {0};
	unsigned n = 0, hops = iba_smp_is_dr(mad) ? iba_smp_hop_cnt(mad) & 63 : 0;
	uint32_t node = s->dlid == IBA_LID_PERMISSIVE ? NONE : sm_node_by_lid(p->sm, s->dlid);
	uint64_t guid = node == NONE ? 0 : p->sm->topo.nodes.at[node].guid;

	for (; guid > 0x1000 && n < MAX_DEPTH; guid >>= 3)
		n++;
	guid = node == NONE ? 0 : p->sm->topo.nodes.at[node].guid;
	for (unsigned i = n; i > 0; i--, guid >>= 3)
		path[i] = guid & 7;
	memcpy(path + n + 1, iba_smp_initial_path((uint8_t *)mad) + 1, hops);
	return shorten(path, MIN(n + hops, IBA_MAX_HOPS), at);
}

static uint64_t guid_of(const uint8_t *at, unsigned depth)
{
	uint64_t guid = 0x1000;

	for (unsigned i = 0; i < depth; i++)
		guid = guid * 8 + (at[i] & 7);
	return guid;
}

static struct place *place_of(struct play *p, uint64_t guid)
{
	return &p->place[guid * 0x9e3779b97f4a7c15ull >> 58];
}

static void fill_node_info(const uint8_t *path, unsigned hops, const uint8_t *at, unsigned depth,
			   uint8_t *data)
{
	struct iba_node_info ni = {.base_version = 1, .class_version = 1};
	uint64_t guid = guid_of(at, depth);
	bool sw = depth && depth < MAX_DEPTH && (depth == 1 || at[depth - 1] != 3);

	ni.node_type = sw ? IBA_NODE_SWITCH : IBA_NODE_CA;
	ni.num_ports = sw ? 3 : 1;
	ni.node_guid = ni.sys_guid = guid;
	ni.port_guid = sw ? guid : guid + (1ull << 40);
	ni.local_port = hops && path[hops] == 1 && depth ? 2 : 1;
	iba_node_info_put(&ni, data);
}

static void fill_port_info(struct place *x, const struct sm_send *s, uint8_t *data)
{
	struct iba_port_info pi = {
		.mtu_cap = 4, .vl_cap = 2, .resp_time = 8, .neighbor_mtu = 1, .oper_vls = 1};
	unsigned num = iba_smp_attr_mod(s->mad) & 0xff;
	uint8_t *state = &x->state[num % PORTS];

	if (iba_smp_method(s->mad) == IBA_SET) {
		iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
		if (pi.state == IBA_PORT_DOWN)
			*state = IBA_PORT_INIT;
		else if (pi.state != IBA_PORT_NO_CHANGE)
			*state = pi.state;
	}
	pi.state = num == 0 ? IBA_PORT_ACTIVE : *state ? *state : IBA_PORT_INIT;
	if (x->before) { /* another manager was here before */
		pi.lid = (uint16_t)(x->before * 3);
		pi.sm_lid = x->before & 7;
		pi.subnet_timeout = x->before & 31;
		pi.cap_mask = x->before & 64 ? IBA_CAP_IS_SM : 0;
		pi.m_key = x->before & 128 ? 0x4321 : 0;
	}
	iba_port_info_put(&pi, data);
}

static void fill_switch_info(struct place *x, bool set, uint8_t *data)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (set) {
		x->top = si.linear_top;
		x->changed &= !si.port_state_change;
	}
	si = (struct iba_switch_info){
		.linear_cap = 49152, .linear_top = x->top, .port_state_change = x->changed};
	iba_switch_info_put(&si, data);
}

static void fill_sm_info(const struct place *x, uint8_t *data)
{
	struct iba_sm_info si = {
		.guid = x->before, .priority = x->before >> 2 & 3, .state = x->before & 3};

	iba_sm_info_put(&si, data);
}

static void fill_tables(struct place *x, const struct sm_send *s, uint8_t *data)
{
	uint32_t mod = iba_smp_attr_mod(s->mad);
	bool set = iba_smp_method(s->mad) == IBA_SET;

	if (iba_smp_attr_id(s->mad) == IBA_ATTR_LFT) {
		uint8_t *block = x->lft + (mod % BLOCKS) * IBA_LFT_BLOCK;

		memcpy(set ? block : data, set ? data : block, IBA_LFT_BLOCK);
	} else if (iba_smp_attr_id(s->mad) == IBA_ATTR_SLVL_TABLE) {
		uint8_t *vl = &x->vl[(mod >> 8) % PORTS][mod % PORTS];

		if (set)
			*vl = data[0];
		data[0] = *vl;
	}
}

static void answer(struct play *p, const struct sm_send *s, unsigned spoil)
{
	uint8_t mad[IBA_MAD_SIZE], *data = iba_smp_data(mad), at[2 * IBA_PATH_SIZE];
	unsigned depth = target(p, s, at);
	struct place *x = place_of(p, guid_of(at, depth));

	memcpy(mad, s->mad, IBA_MAD_SIZE);
	x->changed |= spoil & 1;
	if (iba_smp_attr_id(mad) == IBA_ATTR_NODE_INFO)
		fill_node_info(iba_smp_initial_path(mad), iba_smp_hop_cnt(mad) & 63, at, depth,
			       data);
	else if (iba_smp_attr_id(mad) == IBA_ATTR_PORT_INFO)
		fill_port_info(x, s, data);
	else if (iba_smp_attr_id(mad) == IBA_ATTR_SWITCH_INFO)
		fill_switch_info(x, iba_smp_method(mad) == IBA_SET, data);
	else if (iba_smp_attr_id(mad) == IBA_ATTR_SM_INFO)
		fill_sm_info(x, data);
	else
		fill_tables(x, s, data);
	iba_smp_set_method(mad, IBA_GET_RESP);
	if (spoil & 2)
		iba_smp_set_status(mad, (uint16_t)byte(p));
	if (spoil & 4) { /* some bytes of the attribute */
		unsigned from = byte(p) % IBA_SMP_DATA_SIZE, n = byte(p) % 16;

		for (unsigned i = 0; i < n && from + i < IBA_SMP_DATA_SIZE; i++)
			data[from + i] = (uint8_t)byte(p);
	}
	if (spoil & 8)
		mad[byte(p)] ^= (uint8_t)byte(p);
	step(p, (struct sm_event){.kind = SM_EV_SMP, .mad = mad, .slid = (uint16_t)(spoil >> 4)});
}

/* ---- what the input may do ---- */

static bool answer_next(struct play *p, unsigned spoil)
{
	struct sm_send s;

	if (p->tail == p->head)
		return false;
	s = p->ring[p->tail++ % RING];
	answer(p, &s, spoil);
	return true;
}

static void do_raw(struct play *p, bool trap)
{
	uint8_t mad[IBA_MAD_SIZE] = {0};
	uint16_t slid = (uint16_t)(byte(p) << 8 | byte(p));
	unsigned n = byte(p);

	if (trap)
		iba_smp_init(mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	for (unsigned i = trap ? IBA_SMP_DATA_OFF : 0; n-- && i < IBA_MAD_SIZE && p->left; i++)
		mad[i] = (uint8_t)byte(p);
	step(p, (struct sm_event){.kind = SM_EV_SMP, .mad = mad, .slid = slid});
}

/* Turns of ports that are there, as a plan has them. */
static void draw_plan(struct play *p, struct rt_plan *plan)
{
	const struct fab *f = p->want.fab;

	plan->kind = byte(p) % 4;
	for (unsigned n = plan->kind == RT_PLAN_TURNS ? byte(p) % 8 : 0; n && f->nswitches; n--) {
		uint32_t sw = byte(p) % f->nswitches;
		unsigned nports = f->nodes[f->switches[sw]].nports;

		vec_push(&plan->turns, (struct rt_turn){sw, (uint8_t)(1 + byte(p) % nports),
							(uint8_t)(1 + byte(p) % nports)});
	}
}

/* Routes and ranks as an engine would give them, and the way there when it is asked for. */
static void real_routes(struct play *p, struct sm_routes *r)
{
	const struct sm_compute *c = &p->want;
	const struct rt_engine *g = c->supply->engine ? c->supply->engine : &rt_fera;
	struct rt_opts o = {.root = c->root, .threads = 1};
	struct err e;

	r->rank = mem_array(c->fab->nswitches, sizeof(*r->rank));
	rt_updown_rank_by(c->fab, c->root, c->directions, r->rank);
	if (rt_compute(g, c->fab, &o, &r->tables, &e))
		r->tables = NULL;
	else
		rt_tables_fill(r->tables);
	if (c->plan && c->old && r->tables)
		r->verified &=
			!rt_plan(c->fab, c->old, r->tables, r->rank, c->off, 1, &r->plan, &e);
}

static void do_routes(struct play *p, unsigned how)
{
	struct sm_routes r = {.epoch = p->want.epoch + (how & 1),
			      .verified = !(how & 2),
			      .settled = how & 16,
			      .ready = how & 32 ? (uint16_t)byte(p) : 0};

	if (!(how & 4) && p->sm->topo.fab && p->want.epoch == p->sm->routes.request_id &&
	    p->sm->core.phase == SM_COMPUTE) {
		if (how & 8) {
			real_routes(p, &r);
		} else {
			r.tables = rt_tables_new(p->want.fab->nswitches, fab_top_lid(p->want.fab));
			memset(r.tables->lft, (int)byte(p),
			       (size_t)r.tables->nswitches * r.tables->stride);
			draw_plan(p, &r.plan);
		}
	} else if (!(how & 4)) {
		r.epoch = p->want.epoch + 1; /* for a question of long ago: of any size */
		r.tables = rt_tables_new(how, how);
	}
	step(p, (struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

static void do_progress(struct play *p)
{
	unsigned how = byte(p);

	step(p, (struct sm_event){.kind = SM_EV_PROGRESS,
				  .routes = {.epoch = p->want.epoch + (how & 1),
					     .ready = (uint16_t)(how >> 1)}});
}

/* The caller moves the clock or changes the configuration. */
static void do_orders(struct play *p)
{
	unsigned what = byte(p), n = byte(p);
	time_ps by = (uint64_t)n << (byte(p) % 56);
	struct sm_config c = p->cfg;

	if (what & 1) {
		by = MIN(by, p->now);
		sm_time_back(p->sm, by);
		p->now -= by;
		p->out.wake = p->out.wake == TIME_NEVER || p->out.wake < by ? p->out.wake
									    : p->out.wake - by;
	} else {
		c.contest = what & 2;
		c.read_back = what & 4;
		c.names = what & 8;
		c.m_key = what & 16 ? 0x4321 : c.m_key;
		c.flaps = what >> 5;
		sm_reconfigure(p->sm, &c);
	}
}

/* A device forgets all, or one of its links comes or goes. */
static void do_change(struct play *p)
{
	struct place *x = &p->place[byte(p) % NODES];
	unsigned what = byte(p);

	if (what & 128)
		*x = (struct place){.changed = true, .before = (uint8_t)(what & 32 ? byte(p) : 0)};
	x->state[what % PORTS] = what & 64 ? IBA_PORT_DOWN : IBA_PORT_INIT;
	x->changed = true;
}

static void do_one(struct play *p)
{
	unsigned op = byte(p), n;

	switch (op % 12) {
	case 0:
		do_raw(p, false);
		break;
	case 1:
		do_raw(p, true);
		break;
	case 2:
	case 3: /* many good answers */
		for (n = byte(p); n && answer_next(p, 0); n--)
			;
		break;
	case 4:
	case 5:
		answer_next(p, byte(p));
		break;
	case 6: /* an old one again */
		if (p->head)
			answer(p,
			       &p->ring[(p->head - 1 - byte(p) % MIN(p->head, (uint32_t)RING)) %
					RING],
			       byte(p));
		break;
	case 7:
		p->now = p->out.wake != TIME_NEVER && p->out.wake > p->now ? p->out.wake : p->now;
		step(p, (struct sm_event){.kind = SM_EV_WAKE});
		break;
	case 8:
		if (op >= 128) {
			n = byte(p); /* one after the other, whatever the compiler */
			p->now += (uint64_t)n << (byte(p) % 56);
			p->now = MIN(p->now, TIME_NEVER / 2);
			step(p, (struct sm_event){.kind = op & 64 ? SM_EV_WAKE : SM_EV_SWEEP});
		} else if (p->tail != p->head) {
			p->tail++; /* one is lost */
		}
		break;
	case 9:
		do_routes(p, byte(p));
		break;
	case 10:
		if (op >= 192)
			do_orders(p);
		else
			do_progress(p);
		break;
	case 11:
		do_change(p);
		break;
	}
}

/* Any combination, sensible or not: from the end of the input, where nothing else is read first. */
static void draw_mechanism(struct play *p, struct sm_mechanism *m, struct sm_config *c)
{
	unsigned n = 0, supplies = 0, techniques = 0;
	const uint8_t *tail;

	if (p->left < 6)
		return;
	p->left -= 4;
	tail = p->data + p->left;
	while (sm_mechanisms[n].name)
		n++;
	while (sm_supplies[supplies].name)
		supplies++;
	while (sm_techniques[techniques].name)
		techniques++;
	*m = sm_mechanisms[tail[0] % n];
	c->read_back = tail[3] & 8;
	c->contest = tail[3] & 16;
	c->names = tail[3] & 32;
	c->m_keys[0] = tail[3] & 64 ? 0x4321 : 0;
	c->standby_poll_ps = PS_PER_S;
	c->standby_tries = 1;
	if (tail[0] < 128)
		return;
	m->discovery = &sm_discoveries[tail[0] & 1];
	m->provisional = &sm_supplies[tail[1] % supplies];
	m->routes = &sm_supplies[1 + (tail[1] >> 4) % (supplies - 1)]; /* the first is none */
	m->first = &sm_techniques[tail[2] % techniques];
	m->second = &sm_techniques[(tail[2] >> 4) % techniques];
	m->partial_tables = tail[3] & 1;
	m->by_lid = tail[3] & 2;
	m->traps = tail[3] & 4;
	m->thrifty = tail[3] & 128;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = {.data = data, .left = size};
	struct sm_status st;
	unsigned a = byte(&p), b = byte(&p);

	sm_config_default(&p.cfg);
	p.cfg.port = a & 1 ? 1 : b & 1 ? 0 : 2;
	p.cfg.window = 1 + (a >> 1) % 16;
	p.cfg.qos = a & 32;
	p.cfg.explore = a & 64 ? SM_EXPLORE_BFS : SM_EXPLORE_PROPAGATION;
	p.cfg.activate_by_lid = a & 128;
	p.cfg.lmc = (b >> 1) % 8;
	p.cfg.retries = (b >> 4) % 3;
	p.cfg.restarts = (b >> 6) % 3;
	p.cfg.m_key = b & 8 ? 0x1234 : 0;
	draw_mechanism(&p, &p.cfg.mechanism, &p.cfg);
	p.sm = sm_new(&p.cfg);
	step(&p, (struct sm_event){.kind = SM_EV_START});
	for (unsigned i = 0; p.left && i < 2000; i++)
		do_one(&p);
	sm_status(p.sm, &st);
	sm_actions_free(&p.out);
	sm_free(p.sm);
	return 0;
}
