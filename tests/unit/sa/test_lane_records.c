/* SPDX-License-Identifier: BSD-2-Clause */
/* SL-to-VL and VL arbitration tables as the devices hold them, with routes over several lanes; SMInfo of the manager. */
#include "sa_fixture.h"

static node_id node_at(const struct sa_rig *g, uint16_t lid)
{
	const struct fab *f = lab_fabric(g->lab);

	for (port_id p = 0; p < f->nports; p++)
		if (sim_port_info(lab_sim(g->lab), p)->lid == lid)
			return f->ports[p].node;
	fail();
	return 0;
}

static bool linked(const struct fab *f, node_id n, unsigned num)
{
	return num && f->ports[fab_port_id(f, n, num)].peer != FAB_NONE;
}

TEST(tables_are_those_of_the_switches)
{
	struct sa_ask a = {.attr_id = IBA_SA_SLVL, .method = IBA_SA_GET_TABLE};
	unsigned compared = 0, lanes = 0;
	const struct fab *f;
	struct sa_reply r;
	struct sa_rig g;

	sa_rig_open(&g, fabric_make(GEN("torus", 3, 3)), 0, "nue");
	f = lab_fabric(g.lab);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	for (uint32_t i = 0; i < r.n; i++) {
		struct iba_sa_slvl x;
		node_id n;

		iba_sa_slvl_get(&x, r.records + i * r.size, r.size);
		n = node_at(&g, x.lid);
		if (!fab_is_switch(f, n) || !linked(f, n, x.out_port) ||
		    (x.in_port && !linked(f, n, x.in_port)))
			continue;
		for (unsigned sl = 0; sl < 16; sl++) {
			unsigned vl = x.vls[sl / 2] >> (sl % 2 ? 0 : 4) & 15;

			assert_int_equal(vl,
					 sim_slvl(lab_sim(g.lab), n, x.in_port, x.out_port, sl));
			lanes = MAX(lanes, vl);
		}
		compared++;
	}
	assert_true(compared > 100 && lanes > 0);
	sa_reply_free(&r);
	sa_rig_close(&g);
}

/* Each VL of a port between switches has its turn. */
TEST(arbitration_serves_all_lanes)
{
	struct sa_ask a = {.attr_id = IBA_SA_VLARB,
			   .method = IBA_SA_GET_TABLE,
			   .mask = IBA_SA_BIT(vlarb, block)};
	struct iba_sa_vlarb q = {.block = 1};
	unsigned served = 0;
	struct sa_reply r;
	struct sa_rig g;

	sa_rig_open(&g, fabric_make(GEN("torus", 3, 3)), 0, "nue");
	iba_sa_vlarb_put(&q, a.query);
	r = sa_rig_ask(&g, &a);
	assert_int_equal(r.status, 0);
	for (uint32_t i = 0; i < r.n; i++) {
		struct iba_vlarb_table t;
		struct iba_sa_vlarb x;

		iba_sa_vlarb_get(&x, r.records + i * r.size, r.size);
		iba_vlarb_table_get(&t, x.entries, sizeof(x.entries));
		assert_int_equal(x.block, 1);
		served += t.weight[0] && t.weight[1] && t.vl[1] == 1;
	}
	assert_true(served >= 2 * 18); /* both ends of each link of the torus */
	sa_reply_free(&r);
	sa_rig_close(&g);
}

TEST(the_manager_is_listed)
{
	struct sa_ask a = {.attr_id = IBA_SA_SM, .method = IBA_GET};
	struct iba_sa_sm x;
	struct sa_reply r;
	struct sa_rig g;

	sa_rig_open(&g, fabric_make(GEN("mtree", 4, 2)), 0, NULL);
	for (unsigned trusted = 0; trusted < 2; trusted++) {
		a.trusted = trusted;
		r = sa_rig_ask(&g, &a);
		assert_int_equal(r.status, 0);
		iba_sa_sm_get(&x, r.records, r.size);
		assert_int_equal(x.lid, lab_status(g.lab)->lid);
		assert_int_equal(x.guid, lab_manager_guid(g.lab, 0));
		assert_int_equal(x.state, IBA_SM_MASTER);
		assert_int_equal(x.sm_key, trusted ? SA_TEST_KEY : 0);
		assert_true(x.act_count > 0);
		sa_reply_free(&r);
	}
	sa_rig_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_those_of_the_switches),
		cmocka_unit_test(arbitration_serves_all_lanes),
		cmocka_unit_test(the_manager_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
