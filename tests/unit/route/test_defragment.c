/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other routes for VMs: no LID moves, every VM is reached and no cycle closes in any state on the way, the balance is that
 * of new routes, and SMPs are fewer. Keeps no state; each test makes its own fabric.
 * Covers: defragment_ways.c
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

static struct rt_defragment defragment(struct churn *c, bool even, unsigned draws)
{
	struct churn_check k = {.draws = draws};
	struct rt_defragment d;
	struct err e;

	if (churn_defragment(c, even, &k, &d, &e))
		fail_msg("%s", e.text);
	assert_true(k.sound);
	assert_int_equal(k.states, (uint64_t)(draws ? draws + 1 : 0) * d.plan.stages);
	return d;
}

/* Only entries of VMs change, and none at the switch of a VM's host. */
static void nothing_else_changed(const struct churn *c, const struct rt_tables *before)
{
	uint32_t *at = mem_array(IBA_LID_MAX_UNICAST + 1u, sizeof(*at));
	struct fab *f = churn_fabric(c);

	memset(at, 0xff, (IBA_LID_MAX_UNICAST + 1u) * sizeof(*at));
	for (uint32_t i = 0; i < f->nvlids; i++)
		at[f->vlids[i].lid] = rt_switch_of(f, f->vlids[i].port);
	for (uint32_t s = 0; s < c->t->nswitches; s++)
		for (uint32_t lid = 0; lid <= c->t->top_lid; lid++)
			if (rt_row(c->t, s)[lid] != rt_row(before, s)[lid])
				assert_true(at[lid] != FAB_NONE && at[lid] != s);
	fab_free(f);
	free(at);
}

static struct rt_tables *copy(const struct rt_tables *t)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, t->top_lid);

	memcpy(c->lft, t->lft, (size_t)t->nswitches * t->stride);
	return c;
}

static void restored(struct fab_gen g, unsigned vfs, unsigned pack)
{
	struct churn c =
		churn_of(g, &(struct churn_opts){.vfs = vfs, .load = 50, .pack = pack, .seed = 3});
	struct rt_tables *before;
	struct rt_defragment d;
	struct churn_sample s;
	struct err e;

	steps(&c, 1500);
	before = copy(c.t);
	d = defragment(&c, false, 2);
	assert_true(d.reached);
	assert_true(d.moved && d.moved <= d.lids && !d.left);
	assert_true(d.smps <= d.smps_fresh && d.smps_fresh <= d.smps_all);
	assert_true(d.before.deviation > d.after.deviation);
	nothing_else_changed(&c, before);
	assert_int_equal(churn_measure(&c, &s, &e), 0); /* counted once more */
	assert_int_equal(s.now.busiest, d.after.busiest);
	assert_int_equal(s.now.deviation, d.after.deviation);
	assert_int_equal(s.fresh.deviation, d.fresh.deviation);
	rt_defragment_free(&d);
	d = defragment(&c, false, 0);
	assert_true(d.reached && !d.entries.n && !d.smps);
	rt_defragment_free(&d);
	rt_tables_free(before);
	churn_free(&c);
}

TEST(balance_is_restored_and_every_state_on_the_way_is_sound)
{
	restored((struct fab_gen){.kind = "clos", .dims = {6, 6, 6}}, 8, 1);
	restored((struct fab_gen){.kind = "mtree", .dims = {6, 3}}, 8, 6);
	restored((struct fab_gen){.kind = "torus", .dims = {4, 4}, .hosts = 2, .has_hosts = true},
		 6, 4);
	restored((struct fab_gen){.kind = "irregular",
				  .dims = {16},
				  .ports = 8,
				  .hosts = 32,
				  .has_hosts = true,
				  .seed = 5},
		 8, 1);
}

/* Two leaves, two spines, two hosts a leaf: the host whose way is over one spine has all VMs. */
TEST(vms_of_one_host_spread_over_both_spines)
{
	struct churn c = churn_of((struct fab_gen){.kind = "clos", .dims = {2, 2, 2}},
				  &(struct churn_opts){.vfs = 4, .load = 1, .pack = 1, .seed = 1});
	struct rt_defragment d;

	c.want = 2;
	while (c.running < 4)
		steps(&c, 1);
	d = defragment(&c, true, 2);
	assert_true(d.after.busiest <= d.before.busiest);
	assert_true(d.after.deviation <= d.fresh.deviation);
	rt_defragment_free(&d);
	churn_free(&c);
}

TEST(beyond_new_routes_it_takes_more_smps)
{
	struct fab_gen g = {.kind = "clos", .dims = {6, 6, 6}};
	struct churn_opts o = {.vfs = 16, .load = 50, .pack = 1, .seed = 7};
	struct churn a = churn_of(g, &o), b = churn_of(g, &o);
	struct rt_defragment x, y;

	steps(&a, 2000);
	steps(&b, 2000);
	x = defragment(&a, false, 0);
	y = defragment(&b, true, 0);
	assert_int_equal(x.before.deviation, y.before.deviation);
	assert_true(y.after.deviation < x.after.deviation);
	assert_true(y.smps > x.smps);
	rt_defragment_free(&x);
	rt_defragment_free(&y);
	churn_free(&a);
	churn_free(&b);
}

/* A route that is not a shortest one stays: with others it could close a cycle. */
TEST(routes_that_are_not_shortest_ones_stay)
{
	struct churn c = churn_of((struct fab_gen){.kind = "clos", .dims = {4, 4, 4}},
				  &(struct churn_opts){.vfs = 8, .load = 50, .pack = 1, .seed = 2});
	uint32_t slot = c.vms[0], spine = 0;
	struct rt_tables *before;
	struct rt_defragment d;

	steps(&c, 500);
	slot = c.vms[0];
	while (c.loads.hosts[spine])
		spine++;
	rt_row(c.t, spine)[c.slots[slot].lid] ^= 1; /* to another leaf */
	before = copy(c.t);
	d = defragment(&c, true, 0);
	assert_int_equal(d.left, 1);
	for (uint32_t s = 0; s < c.t->nswitches; s++)
		assert_int_equal(rt_row(c.t, s)[c.slots[slot].lid],
				 rt_row(before, s)[c.slots[slot].lid]);
	rt_defragment_free(&d);
	rt_tables_free(before);
	churn_free(&c);
}

TEST(a_fabric_without_vms_needs_nothing)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}});
	struct rt_tables *t = world_fera(f, NULL);
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	struct rt_defragment d;
	struct err e;

	rt_updown_rank(f, rt_root_centre(f), rank);
	assert_int_equal(rt_defragment(f, t, &(struct rt_defragment_opts){.rank = rank}, &d, &e),
			 0);
	assert_true(d.reached && !d.entries.n && !d.lids);
	rt_defragment_free(&d);
	free(rank);
	rt_tables_free(t);
	fab_free(f);
}

static bool count_down(void *ctx)
{
	unsigned *left = ctx;

	return !(*left)--;
}

/* Stopped after any number of questions: no result; asked often, so that what needs the machine does not wait. */
TEST(it_can_be_stopped)
{
	struct churn c = churn_of((struct fab_gen){.kind = "mtree", .dims = {6, 3}},
				  &(struct churn_opts){.vfs = 8, .load = 50, .pack = 6, .seed = 3});
	struct fab *f;
	unsigned asked = 0;
	int rc;

	steps(&c, 500);
	f = churn_fabric(&c);
	do {
		unsigned left = asked;
		struct rt_defragment_opts o = {
			.rank = c.rank, .threads = 1, .stop = count_down, .ctx = &left};
		struct rt_defragment d;
		struct err e;

		rc = rt_defragment(f, c.t, &o, &d, &e);
		assert_true(!rc || (rc == -ECANCELED && !d.entries.n));
		rt_defragment_free(&d);
		asked += 1 + asked / 8;
	} while (rc);
	assert_true(asked > 30);
	fab_free(f);
	churn_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(balance_is_restored_and_every_state_on_the_way_is_sound),
		cmocka_unit_test(vms_of_one_host_spread_over_both_spines),
		cmocka_unit_test(beyond_new_routes_it_takes_more_smps),
		cmocka_unit_test(routes_that_are_not_shortest_ones_stay),
		cmocka_unit_test(a_fabric_without_vms_needs_nothing),
		cmocka_unit_test(it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
