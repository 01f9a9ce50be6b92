/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small simulated fabric for tests: built by hand, with a client in place of a manager that keeps what it
 * receives, and a log of all that a watcher sees. After each event packets must add up: each one sent is
 * delivered, dropped or on its way.
 */
#ifndef WEFT_TEST_SIM_FIXTURE_H
#define WEFT_TEST_SIM_FIXTURE_H

#include "unit_test.h"

#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/stats/sim_stats.h"

struct world_seen {
	enum sim_seen what;
	node_id node;
	unsigned port, detail;
	time_ps when;
	struct sim_smp smp;
};

struct world {
	struct fab *fab;
	struct sim *sim;
	node_id sm;
	unsigned sm_port;
	bool express; /* express mode: packets arrive at once */
	VEC(struct sim_smp) inbox;
	VEC(struct world_seen) seen;
	void (*after_step)(struct world *w);
};

/* ---- fabrics ---- */

static inline node_id draw_switch(struct fab_builder *b, unsigned nports)
{
	uint64_t guid = 0x100;
	char name[32];

	while (fab_builder_find(b, guid) != FAB_NONE)
		guid++;
	snprintf(name, sizeof(name), "sw%llu", (unsigned long long)(guid - 0x100));
	return fab_add_node(b, IBA_NODE_SWITCH, guid, nports, name);
}

static inline node_id draw_host(struct fab_builder *b, unsigned nports)
{
	uint64_t guid = 0x2000;
	char name[32];
	node_id n;

	while (fab_builder_find(b, guid) != FAB_NONE)
		guid += 0x10;
	snprintf(name, sizeof(name), "h%llu", (unsigned long long)(guid - 0x2000) >> 4);
	n = fab_add_node(b, IBA_NODE_CA, guid, nports, name);
	for (unsigned p = 1; p <= nports; p++)
		fab_builder_port(b, n, p)->guid = guid + p;
	return n;
}

static inline void draw_link(struct fab_builder *b, node_id x, unsigned px, node_id y, unsigned py)
{
	assert_int_equal(fab_add_link(b, x, px, y, py), 0);
}

/*
 * h0 - sw0 - sw1 - ... - sw(n-1) - h1: node 0 is h0, node i + 1 switch i, node n + 1 is h1. Every
 * switch has 4 ports: 1 to the left, 2 to the right, 3 and 4 free.
 */
static inline struct fab *draw_chain(unsigned n)
{
	struct fab_builder *b = fab_builder_new();
	node_id left = draw_host(b, 1), h1;

	for (unsigned i = 0; i < n; i++) {
		node_id sw = draw_switch(b, 4);

		draw_link(b, left, i ? 2 : 1, sw, 1);
		left = sw;
	}
	h1 = draw_host(b, 1);
	draw_link(b, left, n ? 2 : 1, h1, 1);
	return fab_build(b);
}

/* ---- open and close ---- */

static inline void world_recv(void *ctx, const struct sim_smp *smp)
{
	struct world *w = ctx;

	vec_push(&w->inbox, *smp);
}

static inline void world_note(void *ctx, enum sim_seen what, node_id n, unsigned port,
			      const struct sim_smp *smp, unsigned detail)
{
	struct world *w = ctx;
	struct world_seen x = {.what = what, .node = n, .port = port, .detail = detail};

	if (smp)
		x.smp = *smp;
	if (w->sim)
		x.when = sim_now(w->sim);
	vec_push(&w->seen, x);
}

/* Takes ownership of the fabric. The client is at port 1 of node 0 (port 0 if that is a switch).
 */
static inline void world_open(struct world *w, struct fab *f, const struct sim_config *c)
{
	struct sim_config standard;

	if (!c)
		sim_config_default(&standard);
	memset(w, 0, sizeof(*w));
	w->fab = f;
	w->sim = sim_new(f, c ? c : &standard);
	w->express = c && c->express;
	w->sm_port = fab_is_switch(f, 0) ? 0 : 1;
	sim_watch(w->sim, (struct sim_watch){world_note, w});
	for (node_id n = 0; n < f->nnodes; n++)
		sim_node_power(w->sim, n, true);
	sim_attach(w->sim, w->sm, w->sm_port, world_recv, w);
	w->seen.n = 0;
}

static inline void world_close(struct world *w)
{
	sim_free(w->sim);
	fab_free(w->fab);
	vec_free(&w->inbox);
	vec_free(&w->seen);
}

/* ---- running ---- */

static inline uint64_t world_dropped(const struct world *w)
{
	const struct sim_stats *st = sim_stats(w->sim);
	uint64_t sum = 0;

	for (unsigned i = 0; i < SIM_NDROPS; i++)
		sum += st->dropped[i];
	return sum;
}

static inline void world_check_sums(const struct world *w)
{
	const struct sim_stats *st = sim_stats(w->sim);

	assert_int_equal(st->sent + st->duplicated,
			 st->delivered + world_dropped(w) + st->in_flight);
}

static inline bool world_step(struct world *w)
{
	if (!sim_step(w->sim))
		return false;
	world_check_sums(w);
	if (w->after_step)
		w->after_step(w);
	return true;
}

static inline void world_tick(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

/* The clock is at `until` afterwards, even without an event. */
static inline void world_run(struct world *w, time_ps until)
{
	sim_call(w->sim, until, world_tick, NULL, 0);
	while (sim_next(w->sim) <= until)
		world_step(w);
}

/* Until no packet is on its way; timers may still be set. */
static inline void world_drain(struct world *w)
{
	while (sim_stats(w->sim)->in_flight && world_step(w))
		;
	assert_int_equal(sim_stats(w->sim)->in_flight, 0);
}

/* ---- SMPs ---- */

static inline struct sim_smp smp_lid(unsigned method, uint16_t attr, uint32_t mod, uint16_t slid,
				     uint16_t dlid)
{
	struct sim_smp s = {.slid = slid, .dlid = dlid};

	iba_smp_init(s.mad, IBA_CLASS_SUBN_LID, (enum iba_method)method, attr, mod);
	iba_smp_set_tid(s.mad, 0x1234);
	return s;
}

/* ports: the directed route of `hops` hops. */
static inline struct sim_smp smp_dr(unsigned method, uint16_t attr, uint32_t mod,
				    const uint8_t *ports, unsigned hops)
{
	struct sim_smp s = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(s.mad, IBA_CLASS_SUBN_DR, (enum iba_method)method, attr, mod);
	iba_smp_set_tid(s.mad, 0x1234);
	iba_smp_set_dr_slid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(s.mad, (uint8_t)hops);
	if (hops)
		memcpy(iba_smp_initial_path(s.mad) + 1, ports, hops);
	return s;
}

static inline void world_send(struct world *w, const struct sim_smp *s)
{
	sim_send(w->sim, w->sm, w->sm_port, s);
	if (w->express)
		sim_settle(w->sim, sim_now(w->sim));
	world_check_sums(w);
}

/* Send and wait for the response; NULL: none. Traps that arrive before it are ignored. */
static inline const struct sim_smp *world_ask(struct world *w, const struct sim_smp *s)
{
	size_t from = w->inbox.n;

	world_send(w, s);
	for (;;) {
		for (size_t i = from; i < w->inbox.n; i++)
			if (iba_smp_method(w->inbox.at[i].mad) == IBA_GET_RESP)
				return &w->inbox.at[i];
		from = w->inbox.n;
		if (!sim_stats(w->sim)->in_flight || !world_step(w))
			return NULL;
	}
}

static inline unsigned smp_status(const struct sim_smp *s)
{
	return iba_smp_status(s->mad) & 0x7fff;
}

/* On a chain: the directed route from h0 to the node that many hops away. */
static inline const uint8_t *chain_path(void)
{
	static uint8_t path[IBA_PATH_SIZE];

	memset(path, 2, sizeof(path));
	path[0] = 1;
	return path;
}

/* Get(PortInfo) over that many hops of a chain. */
static inline struct iba_port_info world_port_info(struct world *w, unsigned hops, unsigned port)
{
	struct sim_smp s = smp_dr(IBA_GET, IBA_ATTR_PORT_INFO, port, chain_path(), hops);
	const struct sim_smp *r = world_ask(w, &s);
	struct iba_port_info pi;

	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
	iba_port_info_get(&pi, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
	return pi;
}

/* Set(PortInfo); returns the status. States and enables of a PortInfo as read mean no change. */
static inline unsigned world_set_port_info(struct world *w, unsigned hops, unsigned port,
					   const struct iba_port_info *pi)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_PORT_INFO, port, chain_path(), hops);
	const struct sim_smp *r;

	iba_port_info_put(pi, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	return smp_status(r);
}

/* The current PortInfo, to be changed and set: no change of state, and a LID where one is needed.
 */
static inline struct iba_port_info world_port_draft(struct world *w, unsigned hops, unsigned port)
{
	struct iba_port_info pi = world_port_info(w, hops, port);

	pi.state = IBA_PORT_NO_CHANGE;
	pi.phys_state = IBA_PHYS_NO_CHANGE;
	if (!pi.lid)
		pi.lid = 99;
	return pi;
}

static inline void world_give_lid(struct world *w, unsigned hops, uint16_t lid, unsigned lmc)
{
	struct iba_port_info pi = world_port_draft(w, hops, 0);

	pi.lid = lid;
	pi.lmc = (uint8_t)lmc;
	pi.sm_lid = 1;
	assert_int_equal(world_set_port_info(w, hops, 0, &pi), 0);
}

static inline void world_give_top(struct world *w, unsigned hops, unsigned top)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_SWITCH_INFO, 0, chain_path(), hops);
	struct iba_switch_info si =
		*sim_switch_info(w->sim, hops); /* on a chain hops are node ids */
	const struct sim_smp *r;

	si.linear_top = (uint16_t)top;
	si.port_state_change = 0;
	iba_switch_info_put(&si, iba_smp_data(s.mad));
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
}

/* Block 0 of the linear table of the switch that many hops away: pairs of LID and port, ended by 0. */
static inline void world_give_lft(struct world *w, unsigned hops, const uint8_t *pairs)
{
	struct sim_smp s = smp_dr(IBA_SET, IBA_ATTR_LFT, 0, chain_path(), hops);
	const struct sim_smp *r;

	memset(iba_smp_data(s.mad), IBA_PORT_NONE, IBA_LFT_BLOCK);
	world_give_top(w, hops, 63);
	for (; pairs[0]; pairs += 2)
		iba_smp_data(s.mad)[pairs[0]] = pairs[1];
	r = world_ask(w, &s);
	assert_non_null(r);
	assert_int_equal(smp_status(r), 0);
}

/* Send, and expect that it is dropped for this reason and no other, and reaches no client. */
static inline void world_lose(struct world *w, const struct sim_smp *s, enum sim_drop why)
{
	struct sim_stats before = *sim_stats(w->sim);
	size_t heard = w->inbox.n;

	world_send(w, s);
	world_drain(w);
	for (unsigned i = 0; i < SIM_NDROPS; i++)
		if (sim_stats(w->sim)->dropped[i] != before.dropped[i] + (i == why))
			fail_msg("%s: %llu dropped, expected %u", sim_drop_name((enum sim_drop)i),
				 (unsigned long long)(sim_stats(w->sim)->dropped[i] -
						      before.dropped[i]),
				 i == why);
	assert_int_equal(w->inbox.n, heard);
}

static inline const struct world_seen *world_find(const struct world *w, enum sim_seen what,
						  node_id n, unsigned method)
{
	for (size_t i = 0; i < w->seen.n; i++)
		if (w->seen.at[i].what == what && w->seen.at[i].node == n &&
		    iba_smp_method(w->seen.at[i].smp.mad) == method)
			return &w->seen.at[i];
	return NULL;
}

#endif
