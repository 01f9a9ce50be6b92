/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VMs that start, stop and migrate at random: LIDs and routes stay right, swaps keep the balance and copies lose it, loads
 * are those that the verifier counts. Keeps no state; each test makes its own fabric.
 * Covers: link_loads.c
 */
#include "route_fixture.h"
#include "route/churn.h"

static struct churn churn_of(struct fab_gen g, const struct churn_opts *o)
{
	struct churn_opts co = *o;
	struct fab *f = world_make(g);
	struct churn c;
	struct err e;

	co.engine = "fera";
	co.routes.root = rt_root_centre(f);
	if (churn_make(&c, f, &co, &e))
		fail_msg("%s", e.text);
	fab_free(f);
	return c;
}

static void steps(struct churn *c, unsigned n)
{
	struct err e;

	while (n-- > 0)
		if (churn_step(c, &e))
			fail_msg("%s", e.text);
}

static struct churn_sample sample(struct churn *c)
{
	struct churn_sample s;
	struct err e;

	if (churn_measure(c, &s, &e))
		fail_msg("%s", e.text);
	return s;
}

static void is_sound(struct churn *c)
{
	struct fab *f = churn_fabric(c);
	struct rt_verify_opts o = {.rank = c->rank};
	struct rt_report r;
	struct err e;

	assert_int_equal(f->nvlids, c->running);
	assert_int_equal(rt_verify(f, c->t, &o, &r, &e), 0);
	assert_true(r.ok && !r.down_up);
	rt_report_free(&r);
	fab_free(f);
}

TEST(every_vm_is_reached_after_many_events)
{
	const struct fab_gen g[] = {
		{.kind = "mtree", .dims = {4, 3}},
		{.kind = "torus", .dims = {3, 4}, .hosts = 2, .has_hosts = true}};

	for (unsigned i = 0; i < 2 * ARRAY_LEN(g); i++) {
		struct churn c = churn_of(
			g[i / 2],
			&(struct churn_opts){
				.swap = i % 2, .vfs = 4, .load = 60, .pack = 1 + i, .seed = i});

		steps(&c, 800);
		is_sound(&c);
		assert_true(c.events[CHURN_START] && c.events[CHURN_STOP] && c.smps[CHURN_MIGRATE]);
		if (c.swap) /* a slot has its LID and routes already */
			assert_true(!c.smps[CHURN_START] && !c.smps[CHURN_STOP]);
		churn_free(&c);
	}
}

/* What is counted event by event is what a new count finds. */
TEST(loads_follow_the_events)
{
	struct churn c = churn_of((struct fab_gen){.kind = "mtree", .dims = {4, 3}},
				  &(struct churn_opts){.vfs = 4, .load = 50, .seed = 9});
	struct rt_link_loads l;
	struct fab *f;

	steps(&c, 500);
	f = churn_fabric(&c);
	rt_link_loads_init(&l, f);
	assert_int_equal(rt_link_loads_vlids(&l, c.t), 0);
	assert_memory_equal(l.load, c.loads.load, f->nports * sizeof(*l.load));
	rt_link_loads_free(&l);
	fab_free(f);
	churn_free(&c);
}

TEST(loads_are_those_of_the_verifier)
{
	struct fab *f = world_vfs(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}), 2);
	struct rt_tables *t = world_fera(f, NULL);
	struct rt_verify_opts o = {.hosts_only = true};
	struct rt_link_loads l;
	struct rt_balance b;
	struct rt_report r;
	struct err e;

	rt_link_loads_init(&l, f);
	assert_int_equal(rt_link_loads_vlids(&l, t), 0);
	for (node_id n = 0; n < f->nnodes; n++)
		if (!fab_is_switch(f, n))
			assert_true(rt_link_loads_lid(&l, t, f->ports[fab_port_id(f, n, 1)].lid,
						      rt_switch_of(f, fab_port_id(f, n, 1)), true));
	rt_balance_get(&l, &b);
	assert_int_equal(rt_verify(f, t, &o, &r, &e), 0);
	assert_int_equal(b.links, r.nlinks);
	assert_int_equal(b.busiest, r.link_load_max);
	assert_int_equal(b.mean, r.link_load_sum * 1000 / r.nlinks);
	rt_report_free(&r);
	rt_link_loads_free(&l);
	rt_tables_free(t);
	fab_free(f);
}

TEST(copies_lose_balance_and_swaps_keep_it)
{
	struct fab_gen g = {.kind = "clos", .dims = {6, 6, 6}};
	struct churn_opts o = {.vfs = 16, .load = 50, .seed = 4};
	struct churn copy = churn_of(g, &o), swap;
	struct churn_sample a, b;

	o.swap = true;
	swap = churn_of(g, &o);
	a = sample(&copy);
	b = sample(&swap);
	assert_int_equal(a.now.deviation, 0); /* as many VMs on each host */
	assert_int_equal(b.now.deviation, b.fresh.deviation);
	steps(&copy, 2000);
	steps(&swap, 2000);
	a = sample(&copy);
	b = sample(&swap);
	assert_int_equal(a.vms, b.vms);
	assert_int_equal(a.fresh.deviation, b.fresh.deviation); /* the same events */
	assert_true(a.now.deviation * 10 > a.fresh.deviation * 13);
	assert_true(b.now.deviation * 10 < b.fresh.deviation * 12);
	churn_free(&copy);
	churn_free(&swap);
}

TEST(a_fabric_with_one_hypervisor_is_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct churn_opts o = {.load = 50, .engine = "fera"};
	struct churn c;
	struct err e;

	o.routes.root = rt_root_centre(f);
	assert_int_equal(churn_make(&c, f, &o, &e), -EINVAL);
	churn_free(&c);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vm_is_reached_after_many_events),
		cmocka_unit_test(loads_follow_the_events),
		cmocka_unit_test(loads_are_those_of_the_verifier),
		cmocka_unit_test(copies_lose_balance_and_swaps_keep_it),
		cmocka_unit_test(a_fabric_with_one_hypervisor_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
