/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches with random forwarding tables: they come up beside linear ones under each mechanism, survive
 * changes with few updates, and one that is too small is reported and left out. State: struct rig, one
 * lab.
 * Covers: random_tables.c, random_table_updates.c
 */
#include "lab/verdict.h"
#include "unit_test.h"

#include "trial/fault_trial.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct rig {
	struct fab *fab;
	struct lab *lab;
	uint64_t no_room;
	uint32_t needs, has;
	unsigned left; /* SM_NOTE_NO_ROOM */
	unsigned rft_sets, lft_sets, default_sets;
};

static void on_note(void *ctx, const struct sm_note *n)
{
	struct rig *g = ctx;

	if (n->kind != SM_NOTE_NO_ROOM)
		return;
	g->no_room = n->about.a.guid;
	g->needs = n->room.need;
	g->has = n->room.has;
	g->left++;
}

static void seen(void *ctx, enum sim_seen what, node_id n UNUSED, unsigned port UNUSED,
		 const struct sim_smp *smp, unsigned detail UNUSED)
{
	struct rig *g = ctx;
	struct iba_switch_info si;

	if (what != SIM_SEEN_RECV || iba_smp_method(smp->mad) != IBA_SET)
		return;
	g->lft_sets += iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
	g->rft_sets += iba_smp_attr_id(smp->mad) == IBA_ATTR_RFT;
	if (iba_smp_attr_id(smp->mad) != IBA_ATTR_SWITCH_INFO)
		return;
	iba_switch_info_get(&si, iba_smp_data_const(smp->mad), IBA_SMP_DATA_SIZE);
	g->default_sets += si.default_port != IBA_PORT_NONE && !si.port_state_change;
}

/* A mesh of 4 x 4 switches; every `each`th has a random table with room for cap LIDs; 0: just all.
 */
static void rig_make(struct rig *g, const struct sm_mechanism *m, unsigned each, uint16_t cap,
		     unsigned lmc)
{
	struct fab_gen gen = {.kind = "mesh", .ndims = 2, .dims = {4, 4}, .ports = 8};
	struct lab_config c;
	uint16_t *caps;
	struct err e;

	memset(g, 0, sizeof(*g));
	g->fab = fab_generate(&gen, &e);
	assert_non_null(g->fab);
	if (!cap)
		cap = (uint16_t)(g->fab->nswitches + ((g->fab->nnodes - g->fab->nswitches) << lmc));
	caps = mem_zarray(g->fab->nnodes, sizeof(*caps));
	for (uint32_t s = 0; s < g->fab->nswitches; s += each)
		caps[g->fab->switches[s]] = cap;
	lab_config_default(&c);
	c.sm.mechanism = *m;
	c.sm.lmc = lmc;
	c.sim.random_only = caps;
	c.threads = 1;
	g->lab = lab_new(g->fab, &c, &e);
	assert_non_null(g->lab);
	free(caps);
	lab_on_note(g->lab, on_note, g);
	sim_watch(lab_sim(g->lab), (struct sim_watch){seen, g});
	lab_power_on(g->lab, NULL);
}

static void rig_free(struct rig *g)
{
	lab_free(g->lab);
	fab_free(g->fab);
}

static void all_is_well(struct rig *g, const char *when)
{
	struct lab_verdict v;

	if (!lab_run_settled(g->lab, sim_now(lab_sim(g->lab)),
			     sim_now(lab_sim(g->lab)) + 60 * PS_PER_S))
		fail_msg("%s: no rest", when);
	lab_judge(g->lab, &v);
	if (v.why[0] || !v.active || !v.verified || !v.complete)
		fail_msg("%s: %s", when, v.why);
	rt_report_free(&v.report);
}

static void change(struct rig *g, const char *mechanism)
{
	struct sim *s = lab_sim(g->lab);
	port_id cut = fab_port_id(g->fab, g->fab->switches[5], 1), far;
	char when[64];

	for (; g->fab->ports[cut].peer == FAB_NONE ||
	       !fab_is_switch(g->fab, g->fab->ports[g->fab->ports[cut].peer].node);)
		cut++;
	far = g->fab->ports[cut].peer;
	snprintf(when, sizeof(when), "%s, up", mechanism);
	all_is_well(g, when);
	sim_uncable(s, cut);
	snprintf(when, sizeof(when), "%s, a link cut", mechanism);
	all_is_well(g, when);
	sim_cable(s, cut, far);
	snprintf(when, sizeof(when), "%s, the link back", mechanism);
	all_is_well(g, when);
	sim_node_power(s, g->fab->switches[10], false);
	snprintf(when, sizeof(when), "%s, a switch off", mechanism);
	all_is_well(g, when);
	sim_node_power(s, g->fab->switches[10], true);
	snprintf(when, sizeof(when), "%s, the switch back", mechanism);
	all_is_well(g, when);
}

TEST(linear_and_random_tables_under_every_mechanism)
{
	struct rig g;

	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++)
		for (unsigned each = 1; each <= 2; each++) {
			rig_make(&g, m, each, 256, 0);
			change(&g, m->name);
			assert_true(g.rft_sets > 0 && g.default_sets > 0);
			assert_int_equal(g.lft_sets > 0, each == 2);
			rig_free(&g);
		}
}

/* Room for every LID and no more: old and new entries do not fit together. */
TEST(full_random_tables_can_change)
{
	struct rig g;

	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		rig_make(&g, m, 1, 0, 1);
		change(&g, m->name);
		assert_int_equal(g.left, 0);
		rig_free(&g);
	}
}

/* A cut link changes few entries: the weft mechanism sends the blocks that hold them. */
TEST(a_small_change_sends_few_blocks)
{
	struct rig g;
	unsigned up;

	rig_make(&g, sm_mechanism_find("weft"), 1, 256, 0);
	all_is_well(&g, "up");
	up = g.rft_sets;
	assert_int_equal(up, 16 * (256 / IBA_RFT_BLOCK)); /* all are empty or not, but not known */
	assert_int_equal(g.default_sets, 16);
	sim_uncable(lab_sim(g.lab), fab_port_id(g.fab, g.fab->switches[5], 1));
	all_is_well(&g, "cut");
	assert_in_range(g.rft_sets - up, 1, up / 4);
	rig_free(&g);
}

/* Packets for an unassigned LID end: default ports make no loop. */
TEST(default_ports_make_no_loop)
{
	struct rig g;
	const uint16_t unassigned = 1000;

	for (const struct sm_mechanism *m = sm_mechanisms; m->name; m++) {
		rig_make(&g, m, 1, 256, 0);
		change(&g, m->name);
		for (uint32_t s = 0; s < g.fab->nswitches; s++) {
			node_id n = g.fab->switches[s];
			unsigned out, hops = 0;

			for (; (out = sim_route(lab_sim(g.lab), n, unassigned)) != 0; hops++) {
				port_id peer =
					sim_port_peer(lab_sim(g.lab), fab_port_id(g.fab, n, out));

				assert_true(out <= g.fab->nodes[n].nports && peer != FAB_NONE &&
					    hops < 16);
				n = g.fab->ports[peer].node;
				assert_true(fab_is_switch(g.fab, n));
			}
		}
		rig_free(&g);
	}
}

/* The root needs an entry for each LID: three are too few. */
TEST(a_switch_whose_table_is_too_small_is_reported_and_left_out)
{
	struct rig g;
	struct lab_verdict v;
	struct fab_gen gen = {.kind = "mesh", .ndims = 2, .dims = {4, 4}, .ports = 8};
	char root[32];
	const struct sm_inputs inputs = {.roots = root};
	struct lab_config c;
	uint16_t *caps;
	node_id small;
	struct err e;

	memset(&g, 0, sizeof(g));
	g.fab = fab_generate(&gen, &e);
	caps = mem_zarray(g.fab->nnodes, sizeof(*caps));
	small = g.fab->switches[5];
	caps[small] = 3;
	lab_config_default(&c);
	c.sim.random_only = caps;
	snprintf(root, sizeof(root), "0x%llx\n", (unsigned long long)g.fab->nodes[small].guid);
	c.sm.inputs = &inputs;
	g.lab = lab_new(g.fab, &c, &e);
	free(caps);
	lab_on_note(g.lab, on_note, &g);
	sim_watch(lab_sim(g.lab), (struct sim_watch){seen, &g});
	lab_power_on(g.lab, NULL);
	lab_run_until(g.lab, PS_PER_S);
	assert_int_equal(g.no_room, g.fab->nodes[small].guid);
	assert_int_equal(g.has, 3);
	assert_int_equal(g.needs, g.fab->nnodes);
	assert_int_equal(g.rft_sets, 0); /* not half of it */
	assert_int_equal(sm_fabric(lab_sm(g.lab))->nswitches, 15);
	lab_judge(g.lab, &v);
	assert_false(v.complete);
	assert_int_equal(
		sim_port_info(lab_sim(g.lab), fab_port_id(g.fab, g.fab->switches[0], 1))->state,
		IBA_PORT_ACTIVE);
	rt_report_free(&v.report);
	rig_free(&g);
}

/* Seeds that draw such switches, among them some that once failed. */
TEST(random_trials_pass)
{
	static const uint64_t seeds[] = {168, 447, 1061, 1561, 1993, 2042, 2371, 2650, 3482};
	struct fault_trial t;

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		fault_trial_run(seeds[i], 64, NULL, &t);
		assert_true(t.random_tables > 0);
		if (!t.ok)
			fail_msg("seed %llu: %s", (unsigned long long)seeds[i], t.why);
	}
}

/* A switch that is off between a question and a Set looks as if it had never been: its LID tells.
 */
TEST(a_hidden_restart_is_noticed)
{
	static const struct {
		uint64_t seed;
		unsigned max;
	} seeds[] = {{211, 64}, {1359, 64}, {168, 128}};
	struct fault_trial t;

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		fault_trial_run(seeds[i].seed, seeds[i].max, NULL, &t);
		if (!t.ok)
			fail_msg("seed %llu: %s", (unsigned long long)seeds[i].seed, t.why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_and_random_tables_under_every_mechanism),
		cmocka_unit_test(full_random_tables_can_change),
		cmocka_unit_test(a_small_change_sends_few_blocks),
		cmocka_unit_test(default_ports_make_no_loop),
		cmocka_unit_test(a_switch_whose_table_is_too_small_is_reported_and_left_out),
		cmocka_unit_test(random_trials_pass),
		cmocka_unit_test(a_hidden_restart_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
