/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Express mode: what is sent arrives within sim_settle(), links with latency take their time, loops
 * end, and nothing else is different from the simulation with events.
 */
#include "expressworld.h"

static void a_directed_smp_comes_back_at_once(void **state UNUSED)
{
	struct world w;
	struct sim_smp s;
	const struct sim_smp *r;
	struct iba_node_info ni;

	express_open(&w, draw_chain(4));
	for (unsigned hops = 0; hops <= 5; hops++) {
		s = smp_dr(IBA_GET, IBA_ATTR_NODE_INFO, 0, chain_path(), hops);
		r = express_ask(&w, &s);
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
