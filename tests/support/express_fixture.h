/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_fixture.h in express mode: a chain that is up, with LIDs and tables. h0 has LID 1, switch i LID
 * 10 + i, h1 LID 2.
 */
#ifndef WEFT_TEST_EXPRESS_FIXTURE_H
#define WEFT_TEST_EXPRESS_FIXTURE_H

#include "sim_fixture.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

static inline void express_open(struct world *w, struct fab *f)
{
	struct sim_config c;

	sim_config_default(&c);
	c.express = true;
	c.traps = true;
	world_open(w, f, &c);
}

/* Both ends of the link behind port `port` of a node, hops away: Armed, then Active. */
static inline void express_activate(struct world *w, unsigned hops, unsigned port)
{
	struct iba_port_info pi = world_port_draft(w, hops, port);

	pi.neighbor_mtu = pi.mtu_cap;
	pi.state = IBA_PORT_ARMED;
	assert_int_equal(world_set_port_info(w, hops, port, &pi), 0);
	pi.state = IBA_PORT_ACTIVE;
	assert_int_equal(world_set_port_info(w, hops, port, &pi), 0);
}

static inline void express_lids(struct world *w, unsigned n)
{
	world_give_lid(w, 0, 1, 0);
	for (unsigned i = 0; i < n; i++)
		world_give_lid(w, i + 1, (uint16_t)(10 + i), 0);
	world_give_lid(w, n + 1, 2, 0);
}

/* A chain of n switches, ready for GMPs. */
static inline void express_chain(struct world *w, unsigned n)
{
	express_open(w, draw_chain(n));
	express_lids(w, n);
	for (unsigned i = 0; i < n; i++) {
		uint8_t pairs[64] = {1, 1, 2, 2}, *at = pairs + 4;

		for (unsigned k = 0; k < n; k++, at += 2) {
			at[0] = (uint8_t)(10 + k);
			at[1] = k < i ? 1 : k > i ? 2 : 0;
		}
		world_give_lft(w, i + 1, pairs);
	}
	express_activate(w, 0, 0);
	for (unsigned i = 1; i <= n; i++) {
		express_activate(w, i, 1);
		express_activate(w, i, 2);
	}
	express_activate(w, n + 1, 0);
	w->inbox.n = 0;
}

static inline struct sim_smp gmp(unsigned class, unsigned method, uint16_t attr, uint16_t dlid)
{
	struct sim_smp s = {.slid = 1, .dlid = dlid};

	iba_smp_init(s.mad, (enum iba_class) class, (enum iba_method)method, attr, 0);
	iba_smp_set_tid(s.mad, 0x77);
	return s;
}

/* Send from h0; returns the one packet that comes back, NULL if none does. */
static inline const struct sim_smp *express_ask(struct world *w, const struct sim_smp *s)
{
	size_t from;

	sim_settle(w->sim, sim_now(w->sim)); /* traps that are on their way */
	from = w->inbox.n;
	world_send(w, s);
	assert_in_range(w->inbox.n, from, from + 1);
	return w->inbox.n > from ? &w->inbox.at[from] : NULL;
}

static inline port_id express_port(const struct world *w, node_id n, unsigned num)
{
	return fab_port_id(w->fab, n, num);
}

#endif
