/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Given tables in the laboratory: devices get their entries and LIDs, also where they deadlock; another subnet gets the
 * engine's. A torus whose tables have a credit loop. No state between tests.
 * Covers: given_tables.c
 */
#include "unit_test.h"

#include "lab/given_tables.h"
#include "lab/verdict.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { SIDE = 5, FIRST_LID = 100 };

struct bench {
	struct fab *net, *f; /* without LIDs; with those of the tables */
	struct rt_tables *t;
	struct lab_given given;
	struct lab *l;
};

/* LIDs that no manager would choose: from the last port down, far from 1. */
static struct fab *numbered(const struct fab *net)
{
	struct fab_builder *b = fab_builder_new();
	uint16_t lid = (uint16_t)(FIRST_LID + net->nnodes);

	for (node_id n = 0; n < net->nnodes; n++) {
		const struct fab_node *x = &net->nodes[n];
		node_id k = fab_add_node(b, x->type, x->guid, x->nports, "");

		for (unsigned i = 0; i <= x->nports; i++)
			fab_builder_port(b, k, i)->guid = net->ports[x->first_port + i].guid;
		fab_builder_port(b, k, fab_is_switch(net, n) ? 0 : 1)->lid = lid--;
	}
	for (port_id p = 0; p < net->nports; p++) {
		const struct fab_port *x = &net->ports[p];

		if (x->peer != FAB_NONE && x->peer > p)
			fab_add_link(b, fab_builder_find(b, net->nodes[x->node].guid), x->num,
				     fab_builder_find(b, net->nodes[net->ports[x->peer].node].guid),
				     net->ports[x->peer].num);
	}
	return fab_build(b);
}

static void start(struct bench *b)
{
	struct lab_config c;
	struct err e;

	b->given = (struct lab_given){b->f, b->t};
	lab_config_default(&c);
	c.sm.mechanism = *sm_mechanism_find("weft");
	c.sm.mechanism.routes = sm_supply_find("auto");
	c.sm.mechanism.by_lid = c.sm.activate_by_lid = false; /* tables may lead nowhere */
	c.sim.traps = true;
	c.sim.vl_cap = 2;
	c.threads = 1;
	c.given = &b->given;
	b->l = lab_new(b->net, &c, &e);
	lab_power_on(b->l, NULL);
	assert_true(lab_run_ready(b->l, 100 * PS_PER_S));
}

static void up(struct bench *b, bool lanes)
{
	struct fab_gen g = {.kind = "torus", .dims = {SIDE, SIDE}, .ndims = 2, .hosts = 1};
	struct rt_opts o = {.lanes = 2};
	struct err e;

	memset(b, 0, sizeof(*b));
	b->net = fab_generate(&g, &e);
	b->f = numbered(b->net);
	assert_int_equal(rt_compute(rt_engine_find("torus"), b->f, &o, &b->t, &e), 0);
	assert_non_null(b->t->lanes);
	if (!lanes)
		rt_lanes_drop(b->t); /* what is left has a credit loop in each ring */
	start(b);
}

static void down(struct bench *b)
{
	lab_free(b->l);
	rt_tables_free(b->t);
	fab_free(b->f);
	fab_free(b->net);
}

/* Entries in the devices that are not those of the tables; false LIDs count as well. */
static unsigned wrong(const struct bench *b)
{
	unsigned bad = 0;

	for (node_id n = 0; n < b->f->nnodes; n++) {
		node_id m = fab_node_by_guid(b->net, b->f->nodes[n].guid);
		bool sw = fab_is_switch(b->f, n);

		bad += sim_port_info(lab_sim(b->l), fab_port_id(b->net, m, sw ? 0 : 1))->lid !=
		       b->f->ports[fab_port_id(b->f, n, sw ? 0 : 1)].lid;
		for (uint32_t lid = FIRST_LID + 1; sw && lid <= b->t->top_lid; lid++)
			bad += sim_lft(lab_sim(b->l), m, lid) !=
			       rt_row(b->t, b->f->switch_index[n])[lid];
	}
	return bad;
}

static bool is_free_of_deadlock(const struct bench *b)
{
	struct lab_verdict v;
	bool ok;

	lab_judge(b->l, &v);
	assert_true(v.active && v.lids_unique);
	ok = v.verified;
	rt_report_free(&v.report);
	return ok;
}

TEST(devices_hold_given_tables_and_lids)
{
	struct bench b;

	up(&b, false);
	assert_int_equal(wrong(&b), 0);
	assert_false(is_free_of_deadlock(&b));
	down(&b);
}

TEST(lanes_of_given_tables_are_programmed)
{
	struct bench b;

	up(&b, true);
	assert_int_equal(wrong(&b), 0);
	assert_int_equal(rt_nvls(sm_tables(lab_sm(b.l))), 2);
	assert_true(sm_sls_number(lab_sm(b.l)) > 0);
	assert_true(is_free_of_deadlock(&b));
	down(&b);
}

/* At rest the manager compares its tables with others: given ones stay, also where they lead to a host in a loop. */
TEST(they_are_not_replaced_by_better_ones)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 3}, .ndims = 2};
	struct rt_opts o = {.root = FAB_NONE};
	struct bench b = {0};
	struct err e;

	b.net = fab_generate(&g, &e);
	b.f = numbered(b.net);
	assert_int_equal(rt_compute(&rt_fera, b.f, &o, &b.t, &e), 0);
	rt_tables_fill(b.t);
	for (uint32_t s = 0; s < b.f->nswitches; s++)
		rt_row(b.t, s)[FIRST_LID + 1] = 3;
	start(&b);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_int_equal(wrong(&b), 0);
	assert_false(is_free_of_deadlock(&b));
	down(&b);
}

/* A switch fails: the manager computes its own tables. It returns: the given ones are back. */
TEST(another_subnet_gets_other_tables)
{
	struct bench b;

	up(&b, false);
	sim_node_power(lab_sim(b.l), b.net->switches[7], false);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_true(wrong(&b) > 0);
	assert_true(is_free_of_deadlock(&b));
	sim_node_power(lab_sim(b.l), b.net->switches[7], true);
	assert_true(lab_run_settled(b.l, sim_now(lab_sim(b.l)), 100 * PS_PER_S));
	assert_int_equal(wrong(&b), 0);
	down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_hold_given_tables_and_lids),
		cmocka_unit_test(lanes_of_given_tables_are_programmed),
		cmocka_unit_test(they_are_not_replaced_by_better_ones),
		cmocka_unit_test(another_subnet_gets_other_tables),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
