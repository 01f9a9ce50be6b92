/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Express mode: what is sent arrives within sim_settle(), links with latency take their time, loops
 * end, and nothing else is different from the simulation with events.
 */
#include "simworld.h"

static void express_open(struct world *w, struct fab *f)
{
	struct sim_config c;

	sim_config_default(&c);
	c.express = true;
	c.traps = true;
	world_open(w, f, &c);
}

static const struct sim_smp *ask(struct world *w, const struct sim_smp *s)
{
	size_t from = w->inbox.n;

	world_send(w, s);
	sim_settle(w->sim, sim_now(w->sim));
	world_check_sums(w);
	return w->inbox.n > from ? &w->inbox.at[w->inbox.n - 1] : NULL;
}

static void a_directed_smp_comes_back_at_once(void **state UNUSED)
{
	struct world w;
	struct sim_smp s;
	const struct sim_smp *r;
	struct iba_node_info ni;

	express_open(&w, draw_chain(4));
	for (unsigned hops = 0; hops <= 5; hops++) {
		s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), hops);
		r = ask(&w, &s);
		assert_non_null(r);
		assert_int_equal(smp_status(r), 0);
		iba_node_info_get(&ni, iba_smp_data_const(r->mad), IBA_SMP_DATA_SIZE);
		assert_true(ni.node_guid == w.fab->nodes[hops].guid);
	}
	assert_int_equal(sim_now(w.sim), 0);
	assert_int_equal(sim_stats(w.sim)->hops, 2 * (1 + 2 + 3 + 4 + 5));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_directed_smp_comes_back_at_once),
	};

	return cmocka_run_group_tests_name("express mode", tests, NULL, NULL);
}
