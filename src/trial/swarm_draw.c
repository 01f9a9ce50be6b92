/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws the schedule of a swarm trial. State: struct draw, for one seed. Way in: swarm_draw(). Does not run it.
 */
#include "base/rng.h"
#include "trial/swarm_trial.h"

enum { STREAM = 41, NODES_MAX = 32, PORTS_MAX = 260 };

/* Kinds of faults that a seed uses or leaves out. */
enum group {
	CRASHES,
	PAUSES,
	ORDERS, /* of a user and of other managers */
	CABLES, /* of managers */
	POWER,
	LINKS,
	CUTS,
	LOSS,
	LATENCY,
	DISORDER, /* delayed and doubled SMPs */
	ROGUE,
	LIES,
	STATES, /* old and torn saved states */
	NGROUPS
};

struct draw {
	struct rng rng;
	struct schedule *s;
	struct fab *fab;
	bool uses[NGROUPS];
	time_ps span; /* in which faults happen */
};

static unsigned below(struct draw *d, unsigned n)
{
	return rng_below(&d->rng, n);
}

static time_ps moment(struct draw *d, time_ps most)
{
	return rng_u64(&d->rng) % (most / PS_PER_US + 1) * PS_PER_US;
}

/* ---- the fabric ---- */

static void draw_gen(struct draw *d, struct schedule *s)
{
	static const char *const kinds[] = {"irregular", "irregular", "irregular", "odd",
					    "ring",	 "mesh",      "star",	   "fullmesh"};
	const char *kind = kinds[below(d, ARRAY_LEN(kinds))];
	struct fab_gen *g = &s->gen;

	free(s->kind);
	s->kind = mem_strdup(kind);
	*g = (struct fab_gen){.kind = s->kind, .seed = rng_u64(&d->rng) >> 32, .ndims = 1};
	g->dims[0] = 1 + below(d, 6);
	if (!strcmp(kind, "irregular"))
		g->ports = 4 + below(d, 3);
	if (!strcmp(kind, "odd"))
		g->ports = 8;
	if (!strcmp(kind, "ring"))
		g->dims[0] = 3 + below(d, 4);
	if (!strcmp(kind, "mesh")) {
		g->dims[g->ndims++] = 2;
		g->dims[0] = 1 + below(d, 3);
	}
	if (!strcmp(kind, "fullmesh") || !strcmp(kind, "star"))
		g->dims[0] = 2 + below(d, 3);
}

/* Small ones: a trial takes milliseconds. */
static bool is_small(const struct fab *f)
{
	return f && f->nnodes <= NODES_MAX && f->nports <= PORTS_MAX && f->nlinks;
}

static void draw_fabric(struct draw *d)
{
	struct err e;

	do {
		fab_free(d->fab);
		draw_gen(d, d->s);
		d->fab = fab_generate(&d->s->gen, &e);
	} while (!is_small(d->fab));
}

/* ---- managers ---- */

static bool may_sit(const struct draw *d, node_id n)
{
	const struct fab_node *node = &d->fab->nodes[n];

	if (node->type == IBA_NODE_ROUTER || node->guid == 0)
		return false;
	for (size_t i = 0; i < d->s->managers.n; i++)
		if (d->s->managers.at[i].guid == node->guid)
			return false;
	for (unsigned p = 1; p <= node->nports; p++)
		if (d->fab->ports[node->first_port + p].peer != FAB_NONE)
			return true;
	return false;
}

/* Three of four on hosts, as far as there are any, unless the caller chose. */
static node_id draw_seat(struct draw *d, enum swarm_where where)
{
	bool drawn = below(d, 4) > 0, host = where == SWARM_ANY ? drawn : where == SWARM_HOST;

	for (unsigned tries = 0; tries < 40; tries++) {
		node_id n = below(d, d->fab->nnodes);

		if (may_sit(d, n) && (tries > 20 || host == !fab_is_switch(d->fab, n)))
			return n;
	}
	return FAB_NONE;
}

/* A random half of the mechanisms is left out; weft is what remains when none does. */
static const struct sm_mechanism *draw_mechanism(struct draw *d, uint64_t allowed)
{
	unsigned n = 0, k;

	while (sm_mechanisms[n].name)
		n++;
	for (unsigned tries = 0; tries < 8; tries++) {
		k = below(d, n);
		if (allowed >> k & 1)
			return &sm_mechanisms[k];
	}
	return sm_mechanism_find("weft");
}

/* What all managers of a subnet have in common. */
static struct schedule_manager draw_common(struct draw *d)
{
	struct schedule_manager m;

	schedule_manager_default(&m);
	m.sm.lmc = below(d, 8) ? 0 : 1;
	m.sm.qos = below(d, 10) == 0;
	m.sm.m_key = below(d, 3) ? 0 : 0x1000 + below(d, 1000);
	m.sm.m_key_protect = m.sm.m_key ? below(d, 4) : 0;
	m.sm.mirror = hash64(d->s->seed) & 1; /* no draw: all others are as without it */
	return m;
}

static void draw_settings(struct draw *d, struct schedule_manager *m)
{
	static const unsigned windows[] = {1, 4, 32, 256};

	m->sm.priority = below(d, 4);
	m->sm.window = windows[below(d, ARRAY_LEN(windows))];
	m->sm.sweep_period_ps = (5 + below(d, 46)) * PS_PER_MS;
	m->sm.retries = 1 + below(d, 4);
	m->sm.standby_poll_ps = (2 + below(d, 9)) * PS_PER_MS;
	m->sm.standby_tries = 2 + below(d, 2);
	m->sm.stall_ps = below(d, 8) ? m->sm.standby_poll_ps * m->sm.standby_tries / 2 : 0;
	m->sm.plain = below(d, 4) == 0;
	m->sm.settle = below(d, 4) == 0;
	m->sm.names = below(d, 4) == 0;
	m->sm.activate_by_lid = below(d, 4) == 0;
	m->sm.timeout_ps = below(d, 5) ? 0 : PS_PER_MS;
	m->start = below(d, 2) ? 0 : moment(d, 100 * PS_PER_MS);
	if (!(hash64(d->s->seed) >> 1 & 7)) { /* no draw; rare sweeps hide nothing */
		m->sm.sweep_period_ps += PS_PER_S;
		m->sm.own_port_ps = 50 * PS_PER_MS;
	}
}

/* What the caller chose of a manager, over what was drawn. */
static void apply_seat(const struct swarm_seat *seat, struct schedule_manager *m)
{
	if (seat->has_priority)
		m->sm.priority = seat->priority;
	if (seat->has_start)
		m->start = seat->start;
	if (seat->mechanism)
		m->sm.mechanism = *seat->mechanism;
}

static void draw_managers(struct draw *d, const struct swarm_managers *want)
{
	static const struct swarm_seat free_seat = {.where = SWARM_ANY};
	struct schedule_manager common = draw_common(d);
	uint64_t allowed = rng_u64(&d->rng);
	unsigned n = want->nseats ? want->nseats : 1 + below(d, want->most);

	for (unsigned i = 0; i < n; i++) {
		const struct swarm_seat *seat = want->nseats ? &want->seats[i] : &free_seat;
		struct schedule_manager m = common;
		node_id at = draw_seat(d, seat->where);

		if (at == FAB_NONE)
			break;
		m.guid = d->fab->nodes[at].guid;
		m.sm.mechanism = *draw_mechanism(d, allowed);
		draw_settings(d, &m);
		apply_seat(seat, &m);
		vec_push(&d->s->managers, m);
	}
	/* Two managers with keys of their own know each other's. */
	if (d->s->managers.n == 2 && common.sm.m_key && below(d, 3) == 0) {
		struct schedule_manager *m = d->s->managers.at;

		m[1].sm.m_key += 7;
		m[0].sm.m_keys[0] = m[1].sm.m_key;
		m[1].sm.m_keys[0] = m[0].sm.m_key;
	}
}

/* ---- faults ---- */

static void add(struct draw *d, time_ps at, struct schedule_event ev)
{
	size_t i;

	ev.at = at;
	vec_push(&d->s->events, ev);
	for (i = d->s->events.n - 1; i && d->s->events.at[i - 1].at > at; i--)
		d->s->events.at[i] = d->s->events.at[i - 1];
	d->s->events.at[i] = ev;
}

/* A fault, and most times its end. */
static void add_pair(struct draw *d, struct schedule_event ev, enum schedule_kind end)
{
	time_ps at = moment(d, d->span);

	add(d, at, ev);
	if (below(d, 4) == 0)
		return;
	memset(&ev.nodes, 0, sizeof(ev.nodes));
	ev.kind = end;
	ev.share = ev.time = 0;
	add(d, at + moment(d, d->span), ev);
}

static struct schedule_event draw_manager_event(struct draw *d, enum schedule_kind kind)
{
	return (struct schedule_event){.kind = kind,
				       .manager = below(d, (unsigned)d->s->managers.n)};
}

/* Of a user, or of another manager. */
static void draw_order(struct draw *d)
{
	struct schedule_event ev = draw_manager_event(d, SCHEDULE_HANDOVER);

	if (below(d, 2)) {
		ev.kind = SCHEDULE_ORDER;
		ev.order =
			(enum schedule_order)(SCHEDULE_ORDER_HANDOVER +
					      below(d, SCHEDULE_NORDERS - SCHEDULE_ORDER_HANDOVER));
	} else if (below(d, 3) == 0) {
		ev.kind = SCHEDULE_RESYNC;
	}
	add(d, moment(d, d->span), ev);
}

static void draw_crash(struct draw *d)
{
	struct schedule_event ev = draw_manager_event(d, SCHEDULE_CRASH);

	ev.knows = (enum schedule_knows)below(d, SCHEDULE_STATE + 1);
	if (d->uses[STATES] && below(d, 2))
		ev.knows = below(d, 2) ? SCHEDULE_OLD_STATE : SCHEDULE_TORN_STATE;
	add_pair(d, ev, SCHEDULE_RESTART);
}

static port_id draw_link(struct draw *d)
{
	for (unsigned tries = 0; tries < 100; tries++) {
		port_id p = below(d, d->fab->nports);

		if (d->fab->ports[p].peer != FAB_NONE && d->fab->ports[p].num)
			return p;
	}
	return FAB_NONE;
}

static struct schedule_port port_ref(const struct draw *d, port_id p)
{
	return (struct schedule_port){d->fab->nodes[d->fab->ports[p].node].guid,
				      d->fab->ports[p].num};
}

static void draw_cable(struct draw *d)
{
	struct schedule_event ev = draw_manager_event(d, SCHEDULE_PULL);

	if (below(d, 2)) {
		add_pair(d, ev, SCHEDULE_PLUG);
		return;
	}
	for (unsigned tries = 0; tries < 30; tries++) {
		port_id p = below(d, d->fab->nports);

		if (d->fab->ports[p].peer == FAB_NONE && d->fab->ports[p].num &&
		    fab_is_switch(d->fab, d->fab->ports[p].node)) {
			ev.kind = SCHEDULE_MOVE;
			ev.port = port_ref(d, p);
			add(d, moment(d, d->span), ev);
			return;
		}
	}
}

static void draw_power(struct draw *d)
{
	node_id n = below(d, 4) && d->fab->nswitches ? d->fab->switches[below(d, d->fab->nswitches)]
						     : below(d, d->fab->nnodes);
	struct schedule_event ev = {.port = {d->fab->nodes[n].guid, 0}};

	if (below(d, 2)) {
		ev.kind = SCHEDULE_REBOOT;
		ev.time = moment(d, below(d, 2) ? 100 * PS_PER_US : 5 * PS_PER_MS);
		add(d, moment(d, d->span), ev);
		return;
	}
	ev.kind = SCHEDULE_OFF;
	add_pair(d, ev, SCHEDULE_ON);
}

static void draw_cut(struct draw *d)
{
	struct schedule_event ev = {.kind = SCHEDULE_CUT};
	uint32_t *dist = mem_array(d->fab->nnodes, sizeof(*dist));
	uint32_t near = below(d, 4);

	fab_distances(d->fab, below(d, d->fab->nnodes), dist);
	for (node_id n = 0; n < d->fab->nnodes; n++)
		if (dist[n] <= near)
			vec_push(&ev.nodes, d->fab->nodes[n].guid);
	free(dist);
	if (below(d, 3))
		add_pair(d, ev, SCHEDULE_JOIN);
	else { /* two subnets that merge: cut from the start */
		add(d, 0, ev);
		add(d, moment(d, d->span), (struct schedule_event){.kind = SCHEDULE_JOIN});
	}
}

static void draw_wire(struct draw *d, enum group g)
{
	struct schedule_event ev = {.kind = SCHEDULE_LOSS, .share = (1 + below(d, 20)) * 5000};
	port_id p = draw_link(d);

	if (g == DISORDER)
		ev.kind = below(d, 2) ? SCHEDULE_DELAY : SCHEDULE_DUP;
	if (g == LOSS && p != FAB_NONE && !d->s->traffic && below(d, 2)) {
		ev.port = port_ref(d, p);
		ev.share *= 1 + below(d, 10);
	}
	add_pair(d, ev, ev.kind);
}

static void draw_latency(struct draw *d)
{
	port_id p = draw_link(d);

	if (p == FAB_NONE || d->s->traffic)
		return;
	add_pair(d,
		 (struct schedule_event){.kind = SCHEDULE_LATENCY,
					 .port = port_ref(d, p),
					 .time = moment(d, PS_PER_MS)},
		 SCHEDULE_LATENCY);
}

static void draw_at_node(struct draw *d, enum schedule_kind kind)
{
	struct schedule_event ev = {.kind = kind,
				    .port = {d->fab->nodes[below(d, d->fab->nnodes)].guid, 0},
				    .share = (1 + below(d, 10)) * 50000};

	add_pair(d, ev, kind);
}

static void draw_link_fault(struct draw *d)
{
	port_id p = draw_link(d);

	if (p != FAB_NONE)
		add_pair(d,
			 (struct schedule_event){.kind = SCHEDULE_UNLINK, .port = port_ref(d, p)},
			 SCHEDULE_RELINK);
}

static void draw_fault(struct draw *d, enum group g)
{
	switch (g) {
	case CRASHES:
	case STATES:
		draw_crash(d);
		return;
	case PAUSES:
		add_pair(d, draw_manager_event(d, SCHEDULE_PAUSE), SCHEDULE_CONTINUE);
		return;
	case ORDERS:
		draw_order(d);
		return;
	case CABLES:
		draw_cable(d);
		return;
	case POWER:
		draw_power(d);
		return;
	case LINKS:
		draw_link_fault(d);
		return;
	case CUTS:
		draw_cut(d);
		return;
	case LOSS:
	case DISORDER:
		draw_wire(d, g);
		return;
	case LATENCY:
		draw_latency(d);
		return;
	case ROGUE:
	case LIES:
		draw_at_node(d, g == ROGUE ? SCHEDULE_ROGUE : SCHEDULE_LIE);
		return;
	case NGROUPS:
		return;
	}
}

/* With packets, half of the time only managers fail: then no packet may be lost. */
static void draw_groups(struct draw *d)
{
	bool managers_only = d->s->traffic && below(d, 2);
	unsigned used = 0;

	for (unsigned g = 0; g < NGROUPS; g++) {
		d->uses[g] = below(d, 2);
		if (managers_only && g > ORDERS)
			d->uses[g] = false;
		used += d->uses[g];
	}
	if (!used)
		d->uses[CRASHES] = true;
}

static void draw_faults(struct draw *d)
{
	static const time_ps spans[] = {20 * PS_PER_MS, 200 * PS_PER_MS, 800 * PS_PER_MS};
	unsigned n = 1 + below(d, 8);

	d->span = spans[below(d, ARRAY_LEN(spans))];
	draw_groups(d);
	while (n) {
		enum group g = (enum group)below(d, NGROUPS);

		if (!d->uses[g])
			continue;
		draw_fault(d, g);
		n--;
	}
}

/*
 * Rare branches, in three of four seeds, where the build has switches for them. Agents that lie may report response
 * times of hours: then timeouts have a limit, as in the daemon.
 */
static void draw_rare(struct draw *d, uint64_t seed)
{
	for (size_t i = 0; i < d->s->managers.n; i++) {
		struct sm_config *c = &d->s->managers.at[i].sm;

		if (sm_can_provoke() && seed % 4)
			c->provoke = hash64_add(seed, i) >> 32;
		if (d->uses[LIES] && !c->timeout_ps)
			c->timeout_ps = PS_PER_MS;
	}
}

void swarm_draw(uint64_t seed, const struct swarm_managers *m, struct schedule *s)
{
	struct draw d = {.s = s};

	schedule_init(s);
	rng_seed(&d.rng, seed, STREAM);
	s->seed = seed;
	s->traps = below(&d, 4) > 0;
	s->traffic = below(&d, 10) ? 0 : (20 + below(&d, 80)) * PS_PER_US;
	do {
		draw_fabric(&d);
		draw_managers(&d, m);
	} while (!s->managers.n);
	draw_faults(&d);
	draw_rare(&d, seed);
	fab_free(d.fab);
}
