/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has to stop while tables change, on the thesis's example (Fig. 92(b), sections 7.2.1
 * to 7.2.3): which ports go to Initialize and which turns are switched off, by technique. State:
 * the orders seen on the simulated wire, by the tables' LIDs. Does not look at what traffic makes
 * of it.
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { BREAK_NODE_A = 6, BREAK_NODE_B = 10 }; /* LIDs of the tables: GUIDs 0x104 and 0x107 */

struct turn_set {
	unsigned lid, in, out;
	bool off; /* all 16 SLs to VL15 */
};

static bool same_turn(const struct turn_set *a, const struct turn_set *b)
{
	return a->lid == b->lid && a->in == b->in && a->out == b->out && a->off == b->off;
}

struct world {
	struct fab_netlist net;
	struct lab *lab;
	VEC(struct turn_set) turns;
	unsigned char stopped[16][8]; /* by the tables' LID and port: orders to Initialize */
	unsigned nstopped;
};

static unsigned table_lid(const struct world *w, node_id n)
{
	unsigned lid = 0;

	assert_int_equal(sscanf(fab_node_name(w->net.fab, n), "lid %u", &lid), 1);
	return lid;
}

/* Orders as devices receive them. */
static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port UNUSED,
		    const struct sim_smp *smp, unsigned detail UNUSED)
{
	struct world *w = ctx;
	struct iba_port_info pi;
	struct iba_slvl_table t;
	uint32_t mod;

	if (what != SIM_SEEN_RECV || iba_smp_method(smp->mad) != IBA_SET)
		return;
	mod = iba_smp_attr_mod(smp->mad);
	if (iba_smp_attr_id(smp->mad) == IBA_ATTR_PORT_INFO) {
		iba_port_info_get(&pi, iba_smp_data_const(smp->mad), IBA_SMP_DATA_SIZE);
		if (pi.state != IBA_PORT_DOWN)
			return;
		w->stopped[table_lid(w, n)][mod]++;
		w->nstopped++;
	} else if (iba_smp_attr_id(smp->mad) == IBA_ATTR_SLVL_TABLE) {
		struct turn_set x = {table_lid(w, n), mod >> 8 & 0xff, mod & 0xff, true};

		iba_slvl_table_get(&t, iba_smp_data_const(smp->mad), IBA_SMP_DATA_SIZE);
		for (unsigned sl = 0; sl < 16; sl++)
			x.off &= t.vl[sl] == IBA_VL_SUBN;
		vec_push(&w->turns, x);
	}
}

static void world_open(struct world *w, const char *technique)
{
	struct lab_config c;
	char path[512];
	struct err e;

	memset(w, 0, sizeof(*w));
	snprintf(path, sizeof(path), "%s/example15-routing.net", GOLDEN);
	if (fab_netlist_load(&w->net, path, &e))
		fail_msg("%s", e.text);
	lab_config_default(&c);
	c.sm_node = fab_node_by_guid(w->net.fab, 0x100);
	c.sm.mechanism.first = c.sm.mechanism.second = sm_technique_find(technique);
	w->lab = lab_new(w->net.fab, &c, &e);
	assert_non_null(w->lab);
	sim_watch(lab_sim(w->lab), (struct sim_watch){on_seen, w});
	lab_power_on(w->lab, NULL);
	assert_true(lab_run_settled(w->lab, 0, 100 * PS_PER_S));
}

/* Host 8 leaves: no direction of a link changes, so the break nodes are the same as before. */
static void host_leaves(struct world *w)
{
	time_ps at = sim_now(lab_sim(w->lab));
	struct lab_verdict v;

	sim_node_power(lab_sim(w->lab), fab_node_by_guid(w->net.fab, 0x201), false);
	assert_true(lab_run_settled(w->lab, at, at + 100 * PS_PER_S));
	lab_judge(w->lab, &v);
	if (!v.active || !v.verified || !v.complete)
		fail_msg("%s", v.why);
	rt_report_free(&v.report);
}

static void world_close(struct world *w)
{
	vec_free(&w->turns);
	lab_free(w->lab);
	fab_netlist_free(&w->net);
}

/* ---- tests ---- */

/* The four turns of section 7.2.3; ports as Tables 18 and 19 number them (see golden_pira.c). */
TEST(dependencies_take_four_smps)
{
	static const struct turn_set want[] = {
		{6, 1, 2, true}, {6, 2, 1, true}, {10, 1, 2, true}, {10, 2, 1, true}};
	struct world w;

	world_open(&w, "dependencies");
	assert_int_equal(w.turns.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		bool found = false;

		for (size_t k = 0; k < w.turns.n; k++)
			found |= same_turn(&w.turns.at[k], &want[i]);
		assert_true(found);
	}
	assert_int_equal(w.nstopped, 0);
	for (unsigned sl = 0; sl < 16; sl++) /* and the switch executed it */
		assert_int_equal(
			sim_slvl(lab_sim(w.lab), fab_node_by_guid(w.net.fab, 0x107), 1, 2, sl),
			IBA_VL_SUBN);
	/* They stay off, so the next change with the same break nodes needs none. */
	host_leaves(&w);
	assert_int_equal(w.turns.n, 4);
	assert_int_equal(w.nstopped, 0);
	world_close(&w);
}

/* Section 7.2.2: on each break node all up ports but one; here one of two. */
TEST(ports_stop_one_port_a_break_node)
{
	struct world w;

	world_open(&w, "ports");
	assert_int_equal(w.nstopped, 0); /* nothing is Active yet when the subnet comes up */
	host_leaves(&w);
	assert_int_equal(w.nstopped, 2);
	assert_int_equal(w.stopped[BREAK_NODE_A][2], 1);
	assert_int_equal(w.stopped[BREAK_NODE_B][2], 1);
	assert_int_equal(w.turns.n, 0);
	world_close(&w);
}

/* Section 7.2.1: both ends of all 15 links that are left. */
TEST(full_stops_every_port)
{
	struct world w;

	world_open(&w, "full");
	host_leaves(&w);
	assert_int_equal(w.net.fab->nlinks, 16);
	assert_int_equal(w.nstopped, 2 * 15);
	for (node_id n = 0; n < w.net.fab->nnodes; n++)
		for (unsigned p = 1; p <= w.net.fab->nodes[n].nports; p++) {
			port_id peer = w.net.fab->ports[fab_port_id(w.net.fab, n, p)].peer;
			unsigned lid = table_lid(&w, n),
				 far = peer == FAB_NONE
					       ? 0
					       : table_lid(&w, w.net.fab->ports[peer].node);

			assert_int_equal(w.stopped[lid][p], far && far != 13 && lid != 13);
		}
	assert_int_equal(w.turns.n, 0);
	world_close(&w);
}

TEST(none_stops_nothing)
{
	struct world w;

	world_open(&w, "none");
	host_leaves(&w);
	assert_int_equal(w.nstopped, 0);
	assert_int_equal(w.turns.n, 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_take_four_smps),
		cmocka_unit_test(ports_stop_one_port_a_break_node),
		cmocka_unit_test(full_stops_every_port),
		cmocka_unit_test(none_stops_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
