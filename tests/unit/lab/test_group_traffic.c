/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast traffic: at rest every member gets one copy of each packet and no other host gets any; the counts show what
 * tables do wrong; a switch that fails loses copies, and doubles none.
 * Covers: group_traffic.c
 */
#include "unit_test.h"

#include "lab/change_run.h"
#include "lab/load.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

enum { PAYLOAD = 256 };

static struct fab *tree(void)
{
	struct fab_gen g = {.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	struct err e;
	struct fab *f = fab_generate(&g, &e);

	assert_non_null(f);
	return f;
}

static struct lab_config config(void)
{
	struct lab_config c;

	lab_config_default(&c);
	lab_load_network(&c.sim);
	c.threads = 1;
	c.sm.multicast = true;
	c.sim.traps = true;
	return c;
}

static struct traffic_config traffic(const struct fab *f)
{
	struct traffic_config t;

	lab_load_traffic(&t, 1);
	t.interval_ps = lab_load_interval(lab_load_full_rate(f, PAYLOAD) / 10);
	return t;
}

static const struct lab_groups_config ten = {
	.groups = 10, .members = 4, .interval_ps = 20 * PS_PER_US, .payload = PAYLOAD, .seed = 7};

static void every_member_gets_one_copy(void **state UNUSED)
{
	struct fab *f = tree();
	struct lab_config c = config();
	struct lab_load d = {.traffic = traffic(f),
			     .warmup = PS_PER_MS / 10,
			     .duration = PS_PER_MS,
			     .groups = &ten};
	struct lab_load_result r;
	struct err e;
	struct lab *l = lab_new(f, &c, &e);

	assert_int_equal(lab_load_up(l, 10 * PS_PER_S, &e), 0);
	assert_int_equal(lab_load_run(l, &d, &r, &e), 0);
	assert_true(r.conserved);
	assert_true(r.plane.copies);
	assert_true(r.multicast.packets > 300);
	assert_int_equal(r.multicast.expected, 3 * r.multicast.packets);
	assert_int_equal(r.multicast.delivered, r.multicast.expected);
	assert_int_equal(r.multicast.lost + r.multicast.doubled + r.multicast.astray, 0);
	lab_load_free(&r);
	lab_free(l);
	fab_free(f);
}

/* Switches get the tables of other groups than those that packets are sent to. */
static void the_counts_show_wrong_tables(void **state UNUSED)
{
	struct lab_groups_config all = ten, one = ten;
	struct lab_groups_count n;
	struct fab *f = tree();
	struct lab_config c = config();
	struct err e;
	struct lab *l = lab_new(f, &c, &e);
	struct lab_groups *g, *other;

	all.members = 8;
	one.seed++;
	assert_int_equal(lab_load_up(l, 10 * PS_PER_S, &e), 0);
	for (unsigned i = 0; i < 2; i++) {
		g = lab_groups_new(l, &ten);
		other = lab_groups_new(l, i ? &one : &all); /* the manager follows the last ones */
		assert_true(lab_groups_settle(other, PS_PER_S));
		lab_groups_watch(g);
		lab_groups_start(g);
		lab_run_to(l, sim_now(lab_sim(l)) + PS_PER_MS);
		lab_groups_stop(g);
		lab_groups_drain(g);
		lab_groups_result(g, 0, NULL, &n);
		assert_true(n.astray);
		assert_int_equal(n.lost != 0, i); /* with all hosts in each group none is lost */
		assert_int_equal(n.delivered + n.lost, n.expected);
		lab_groups_free(g);
		lab_groups_free(other);
	}
	lab_free(l);
	fab_free(f);
}

static void fail_switch(const struct fab *f, node_id n, struct lab_change_result *r)
{
	struct lab_change_plan p = {
		.warmup = PS_PER_MS, .tail = PS_PER_MS, .limit = 20 * PS_PER_S, .groups = &ten};
	struct traffic_config t = traffic(f);
	bool *gone = mem_zarray(f->nnodes, sizeof(bool));
	struct lab_config c = config();
	struct lab_change *change;
	struct fab *after;
	struct lab *l;
	struct err e;

	gone[n] = true;
	t.interval_ps = PS_PER_MS;
	after = lab_without(f, gone);
	change = lab_change_new(f, after, &e);
	assert_non_null(change);
	c.sm_node = lab_change_sm(change);
	l = lab_new(lab_change_fab(change), &c, &e);
	p.change = change;
	p.traffic = &t;
	assert_int_equal(lab_change_run(l, &p, r, &e), 0);
	lab_free(l);
	lab_change_free(change);
	fab_free(after);
	free(gone);
}

static void a_switch_fails(void **state UNUSED)
{
	struct fab *f = tree();
	struct lab_change_result r;
	uint64_t lost = 0;

	for (uint32_t i = 0; i < f->nswitches; i++) {
		fail_switch(f, f->switches[i], &r);
		assert_true(r.settled); /* also where the manager is alone then */
		assert_true(r.conserved);
		assert_true(r.multicast.packets);
		assert_int_equal(r.multicast.doubled, 0);
		assert_int_equal(r.multicast.astray, 0);
		assert_int_equal(r.multicast.delivered + r.multicast.lost + r.multicast.futile,
				 r.multicast.expected);
		lost += r.multicast.lost;
		lab_change_result_free(&r);
	}
	assert_true(lost);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_member_gets_one_copy),
		cmocka_unit_test(the_counts_show_wrong_tables),
		cmocka_unit_test(a_switch_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
