/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quality of service and values of links in the manager: a small tree in the laboratory, tables and PortInfo read from the
 * devices, at power-on and by a manager that takes over.
 * Covers: qos_tables.c, policy_vls.c
 */
#include "unit_test.h"

#include "lab/lab.h"
#include "policy/policy.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct bench {
	struct fab *f;
	struct lab *l;
	unsigned unused; /* notes */
};

static void on_note(void *ctx, const struct sm_note *n)
{
	((struct bench *)ctx)->unused += n->kind == SM_NOTE_QOS_UNUSED;
}

static void prepare(struct bench *b, struct lab_config *c)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct err e;

	memset(b, 0, sizeof(*b));
	b->f = fab_generate(&g, &e);
	assert_non_null(b->f);
	lab_config_default(c);
	c->sim.traps = true;
	c->sim.vl_cap = 4; /* 8 VLs */
	c->threads = 1;
	c->sm.read_back = true;
}

static void start(struct bench *b, const struct lab_config *c, const struct pol *p)
{
	struct err e;

	b->l = lab_new(b->f, c, &e);
	lab_on_note(b->l, on_note, b);
	if (p)
		lab_manager_policy(b->l, 0, p);
	lab_power_on(b->l, NULL);
	assert_true(lab_run_ready(b->l, 100 * PS_PER_S));
}

static void down(struct bench *b)
{
	lab_free(b->l);
	fab_free(b->f);
}

static bool is_leaf_port(const struct bench *b, port_id p)
{
	return b->f->ports[p].peer != FAB_NONE &&
	       !fab_is_switch(b->f, b->f->ports[b->f->ports[p].peer].node);
}

static void vls(struct pol *p, enum pol_class c, const char *key, const char *text)
{
	struct err e;

	assert_int_equal(pol_vls_set(&p->vls[c], key, text, &e), 0);
}

TEST(tables_by_kind_of_port)
{
	static const uint8_t swe[16] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 15},
			     ca[16] = {3, 2, 1};
	struct pol *p = pol_new();
	struct lab_config c;
	struct bench b;

	vls(p, POL_ANY_PORT, "high_limit", "6");
	vls(p, POL_ANY_PORT, "sl2vl", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
	vls(p, POL_CA_PORT, "sl2vl", "3,2,1");
	vls(p, POL_CA_PORT, "high_limit", "9");
	vls(p, POL_SWITCH_PORT, "vlarb_high", "0:4");
	vls(p, POL_SWITCH_PORT, "vlarb_low", "1:64,2:128");
	p->qos = true;
	prepare(&b, &c);
	c.sm.qos = true;
	start(&b, &c, p);
	for (port_id q = 0; q < b.f->nports; q++) {
		const struct fab_port *x = &b.f->ports[q];
		bool sw = fab_is_switch(b.f, x->node);

		if (!x->num || x->peer == FAB_NONE)
			continue;
		assert_int_equal(sim_port_info(lab_sim(b.l), q)->vl_high_limit, sw ? 6 : 9);
		for (unsigned sl = 0; sl < 16; sl++)
			assert_int_equal(sim_slvl(lab_sim(b.l), x->node, 0, x->num, sl),
					 sw ? swe[sl] : ca[sl]);
	}
	assert_int_equal(b.unused, 0);
	down(&b);
	pol_free(p);
}

TEST(most_vls_of_links)
{
	struct lab_config c;
	struct bench b;

	prepare(&b, &c);
	c.sm.max_op_vls = 2;
	start(&b, &c, NULL);
	for (port_id q = 0; q < b.f->nports; q++)
		if (b.f->ports[q].num && b.f->ports[q].peer != FAB_NONE)
			assert_int_equal(sim_port_info(lab_sim(b.l), q)->oper_vls, 2);
	down(&b);
}

static void check_values(const struct bench *b)
{
	for (port_id q = 0; q < b->f->nports; q++) {
		const struct fab_port *x = &b->f->ports[q];
		const struct iba_port_info *pi = sim_port_info(lab_sim(b->l), q);
		bool sw = fab_is_switch(b->f, x->node);

		if (sw && !x->num)
			assert_int_equal(sim_switch_info(lab_sim(b->l), x->node)->life_time, 17);
		if (!x->num || x->peer == FAB_NONE)
			continue;
		assert_int_equal(pi->local_phy_errors, 5);
		assert_int_equal(pi->overrun_errors, 6);
		if (!sw)
			continue;
		assert_int_equal(pi->hoq_life, is_leaf_port(b, q) ? 14 : 15);
		assert_int_equal(pi->vl_stall_count, is_leaf_port(b, q) ? 3 : 4);
	}
}

static void set_values(struct sm_config *c)
{
	c->hoq_life = 15;
	c->leaf_hoq_life = 14;
	c->vl_stall = 4;
	c->leaf_vl_stall = 3;
	c->packet_life = 17;
	c->phy_errors = 5;
	c->overrun_errors = 6;
}

/* At power-on they travel in Sets that are needed anyway. */
TEST(values_cost_no_smps)
{
	struct lab_config c;
	struct bench a, b;
	uint64_t sent[2] = {0};

	prepare(&a, &c);
	start(&a, &c, NULL);
	prepare(&b, &c);
	set_values(&c.sm);
	start(&b, &c, NULL);
	check_values(&b);
	for (unsigned i = 0; i < SM_NPURPOSES; i++) {
		sent[0] += lab_status(a.l)->smps[i];
		sent[1] += lab_status(b.l)->smps[i];
	}
	assert_int_equal(sent[0], sent[1]);
	down(&a);
	down(&b);
}

TEST(values_of_ports_that_are_active)
{
	struct sm_config with;
	struct lab_config c;
	struct bench b;

	prepare(&b, &c);
	start(&b, &c, NULL);
	with = *lab_manager_cfg(b.l, 0);
	set_values(&with);
	lab_manager_stop(b.l, 0);
	lab_manager_config(b.l, 0, &with);
	lab_manager_start(b.l, 0, true);
	assert_true(lab_run_ready(b.l, sim_now(lab_sim(b.l)) + 100 * PS_PER_S));
	lab_run_to(b.l, sim_now(lab_sim(b.l)) + 10 * PS_PER_MS);
	check_values(&b);
	for (port_id q = 0; q < b.f->nports; q++)
		if (b.f->ports[q].num && b.f->ports[q].peer != FAB_NONE)
			assert_int_equal(sim_port_info(lab_sim(b.l), q)->state, IBA_PORT_ACTIVE);
	down(&b);
}

static void up_with(struct bench *b, const struct fab_gen *g, const char *engine, const char *map)
{
	struct pol *p = pol_new();
	struct lab_config c;
	struct err e;

	vls(p, POL_ANY_PORT, "sl2vl", map);
	p->qos = true;
	prepare(b, &c);
	fab_free(b->f);
	b->f = fab_generate(g, &e);
	c.sm.qos = true;
	c.sm.mechanism.routes = sm_supply_find(engine);
	start(b, &c, p);
	lab_run_to(b->l, sim_now(lab_sim(b->l)) + 10 * PS_PER_MS);
	assert_true(lab_run_ready(b->l, sim_now(lab_sim(b->l)) + 100 * PS_PER_S));
	pol_free(p);
}

/* Routes with several lanes have their own SL-to-VL tables. */
TEST(lanes_win)
{
	struct fab_gen g = {.kind = "torus", .dims = {4, 4}, .ndims = 2};
	struct bench b;

	up_with(&b, &g, "nue", "1");
	assert_non_null(sm_tables(lab_sm(b.l))->lanes);
	assert_int_equal(b.unused, 1);
	down(&b);
}

/* An engine that can use several lanes and needs one leaves them to QoS, from the start on. */
TEST(one_lane_leaves_maps_to_qos)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct bench b;

	up_with(&b, &g, "balanced", "0,3");
	assert_null(sm_tables(lab_sm(b.l))->lanes);
	assert_int_equal(b.unused, 0);
	assert_int_equal(sim_slvl(lab_sim(b.l), b.f->switches[0], 1, 3, 1), 3);
	down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_by_kind_of_port),
		cmocka_unit_test(most_vls_of_links),
		cmocka_unit_test(values_cost_no_smps),
		cmocka_unit_test(values_of_ports_that_are_active),
		cmocka_unit_test(lanes_win),
		cmocka_unit_test(one_lane_leaves_maps_to_qos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
