/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference tables on fabrics that lose and regain parts: what stays, what is replaced, and that nothing is left when all is
 * as it was. Keeps no state; each test makes its own fabrics. Does not measure time.
 * Covers: reroute.c, reroute_ways.c, reroute_compare.c, rank_mend.c, fewest.c
 */
#include "route_fixture.h"
#include "route/fewest.h"
#include "route/quality.h"

struct state { /* a fabric, tables for it and the ranks they obey */
	struct fab *f;
	struct rt_tables *t;
	uint64_t *rank;
};

static struct rt_before before_of(const struct state *x)
{
	return (struct rt_before){x->f, x->rank, x->t};
}

static void state_free(struct state *x)
{
	rt_tables_free(x->t);
	free(x->rank);
	fab_free(x->f);
}

/* Takes f over. */
static struct state state_scratch(const struct rt_engine *g, struct fab *f)
{
	struct state x = {.f = f, .rank = mem_array(f->nswitches, sizeof(*x.rank))};
	struct rt_opts o = {.root = f->switches[0], .rank = x.rank};
	uint64_t high = 0;
	struct err e;

	if (rt_engine_ranks(g, f, &o, x.rank, &e))
		fail_msg("%s", e.text);
	for (uint32_t s = 0; s < f->nswitches; s++) /* other parts: behind all others */
		high = x.rank[s] != UINT64_MAX ? MAX(high, x.rank[s]) : high;
	for (uint32_t s = 0; s < f->nswitches; s++)
		x.rank[s] = x.rank[s] == UINT64_MAX ? ++high : x.rank[s];
	if (rt_compute(g, f, &o, &x.t, &e))
		fail_msg("%s", e.text);
	rt_tables_fill(x.t);
	return x;
}

static struct state state_reroute(const struct state *ref, struct fab *f,
				  struct rt_update_stats *st)
{
	struct state x = {.f = f, .rank = mem_array(f->nswitches, sizeof(*x.rank))};
	struct rt_before b = before_of(ref);
	struct err e;

	if (rt_reroute(f, &b, &x.t, x.rank, st, &e))
		fail_msg("%s", e.text);
	return x;
}

static void expect_same(const struct state *a, const struct state *b)
{
	assert_int_equal(a->t->nswitches, b->t->nswitches);
	assert_int_equal(a->t->stride, b->t->stride);
	assert_memory_equal(a->t->lft, b->t->lft, (size_t)a->t->nswitches * a->t->stride);
	for (uint32_t s = 0; s < a->f->nswitches; s++)
		for (unsigned p = 1; p <= world_ports(a->f, s); p++) {
			uint32_t v = world_peer(a->f, s, p);

			if (v != FAB_NONE)
				assert_int_equal(a->rank[s] < a->rank[v], b->rank[s] < b->rank[v]);
		}
}

/* Faults but missing links: as many pairs without a route as any routing leaves, and no others. */
static void expect_sound(const struct state *x)
{
	struct rt_tables *t = world_fera(x->f, NULL);
	struct rt_report r, fresh;

	fresh = world_verify(x->f, t, (struct rt_verify_opts){0});
	r = world_verify(x->f, x->t, (struct rt_verify_opts){.rank = x->rank});
	if (r.unreachable != fresh.unreachable || r.loops || r.down_up || r.cycles)
		fail_msg("%llu of %llu pairs unreachable, %llu loops, %llu turns, %u cycles: %s",
			 (unsigned long long)r.unreachable, (unsigned long long)fresh.unreachable,
			 (unsigned long long)r.loops, (unsigned long long)r.down_up, r.cycles,
			 r.nproblems ? r.problem[0] : "");
	rt_report_free(&r);
	rt_report_free(&fresh);
	rt_tables_free(t);
}

/* The switch to which a switch of the reference sends a LID, as a GUID; 0: none, or not over a link that is there. */
static uint64_t sends_to(const struct state *x, uint64_t guid, uint32_t lid, uint64_t *rank)
{
	node_id n = fab_node_by_guid(x->f, guid);
	uint32_t s = n == FAB_NONE ? FAB_NONE : x->f->switch_index[n], v;

	if (s == FAB_NONE || lid > x->t->top_lid)
		return 0;
	*rank = x->rank[s];
	v = world_peer(x->f, s, rt_row(x->t, s)[lid]);
	return v == FAB_NONE ? 0 : x->f->nodes[x->f->switches[v]].guid;
}

/* Whether the route of the reference still leads from switch s of x to the destination, and is legal. */
static bool route_stands(const struct state *ref, const struct state *x, uint32_t s, uint32_t lid,
			 uint32_t dest)
{
	bool down = false;

	for (uint32_t hops = 0; s != dest; hops++) {
		uint64_t guid = x->f->nodes[x->f->switches[s]].guid, was, next;
		uint32_t v;

		next = sends_to(ref, guid, lid, &was);
		if (!next || hops > x->f->nswitches)
			return false;
		v = world_peer(
			x->f, s,
			rt_row(ref->t, ref->f->switch_index[fab_node_by_guid(ref->f, guid)])[lid]);
		if (v == FAB_NONE || x->f->nodes[x->f->switches[v]].guid != next)
			return false;
		if (down && x->rank[v] < x->rank[s])
			return false;
		down |= x->rank[v] > x->rank[s];
		s = v;
	}
	return true;
}

/* Routes of the reference that hold stay, and counts entries that do not. Columns may be decided as a whole where the
 * reference goes up though it could go down; those are counted. */
static void expect_kept(const struct state *ref, const struct state *x, uint64_t *stands,
			uint64_t *differ)
{
	for (port_id p = 0; p < x->f->nports; p++) {
		const struct fab_port *port = &x->f->ports[p];
		bool own = fab_is_switch(x->f, port->node);
		uint32_t d = own ? x->f->switch_index[port->node]
				 : (port->peer == FAB_NONE
					    ? FAB_NONE
					    : x->f->switch_index[x->f->ports[port->peer].node]);

		if (!port->lid || d == FAB_NONE || (own && port->num))
			continue;
		for (uint32_t s = 0; s < x->f->nswitches; s++) {
			node_id n = fab_node_by_guid(ref->f, x->f->nodes[x->f->switches[s]].guid);

			if (s == d || n == FAB_NONE || !route_stands(ref, x, s, port->lid, d))
				continue;
			++*stands;
			*differ += rt_row(x->t, s)[port->lid] !=
				   rt_row(ref->t, ref->f->switch_index[n])[port->lid];
		}
	}
}

static void expect_bound(const struct state *ref, const struct state *x)
{
	struct rt_before b = before_of(ref);
	struct rt_tables *old = rt_tables_carry(ref->f, ref->t, x->f);
	struct rt_changes c;
	struct rt_fewest few;
	struct err e;

	assert_int_equal(rt_fewest_changes(x->f, &b, &few, &e), 0);
	rt_changes_count(old, x->t, &c);
	assert_true(few.entries <= c.entries);
	assert_true(few.blocks <= c.blocks);
	rt_tables_free(old);
}

static struct fab *any_fabric(uint64_t i, const struct rt_engine **g)
{
	const struct fab_gen gen[] = {
		{.kind = "mtree", .dims = {4, 3}},
		{.kind = "torus", .dims = {3, 4}},
		{.kind = "mtree", .dims = {8, 2}},
		{.kind = "irregular", .dims = {12}, .ports = 5, .seed = i},
		{.kind = "kary", .dims = {3, 3}},
		{.kind = "odd", .seed = i},
		{.kind = "mtree", .dims = {6, 3}},
		{.kind = "irregular", .dims = {24}, .ports = 6, .seed = i},
		{.kind = "torus", .dims = {3, 3, 3}},
		{.kind = "mtree", .dims = {4, 4}},
	};
	const struct fab_gen *x = &gen[i % ARRAY_LEN(gen)];

	*g = !strcmp(x->kind, "mtree") || !strcmp(x->kind, "kary") ? &rt_tree : &rt_fera;
	if (strcmp(x->kind, "odd") && i / ARRAY_LEN(gen) % 2)
		*g = &rt_updn;
	return world_make(*x);
}

/* ---- sequences of failures ---- */

struct tally {
	uint64_t stands, differ, steps, proven, whole;
};

static void one_step(const struct state *ref, struct state *now, struct fab *f, struct tally *n)
{
	struct rt_update_stats st;
	struct state next = state_reroute(ref, f, &st);
	struct rt_before b = before_of(now);
	struct rt_report r;

	expect_sound(&next);
	expect_kept(ref, &next, &n->stands, &n->differ);
	expect_bound(ref, &next);
	assert_int_equal(st.new_links, 0);
	r = world_verify(f, next.t, (struct rt_verify_opts){.rank = next.rank});
	n->steps++;
	n->whole += r.ok && !r.apart;
	n->proven += r.ok && !r.apart && rt_verify_change(f, next.t, next.rank, &b);
	rt_report_free(&r);
	state_free(now);
	*now = next;
}

static void one_sequence(uint64_t i, struct rng *r, struct tally *n)
{
	const struct rt_engine *g;
	struct fab *f = any_fabric(i, &g);
	struct world_down d = world_down_new(f), none = world_down_new(f);
	struct state ref = state_scratch(g, f), now = state_scratch(g, world_now(f, &none));

	for (unsigned k = 0; k < 6; k++) {
		do
			world_change(f, &d, r);
		while (d.node[f->switches[0]] && f->nswitches < 2);
		struct fab *next = world_now(f, &d);

		if (next->nswitches)
			one_step(&ref, &now, next, n);
		else
			fab_free(next);
	}
	one_step(&ref, &now, world_now(f, &none), n);
	expect_same(&ref, &now);
	state_free(&now);
	state_free(&ref);
	world_down_free(&d);
	world_down_free(&none);
}

TEST(tables_are_sound_after_any_failures_and_the_same_when_all_is_back)
{
	struct tally n = {0};
	struct rng r;

	rng_seed(&r, 16, 1);
	for (uint64_t i = 0; i < 120; i++)
		one_sequence(i, &r, &n);
	print_message(
		"# %llu steps, %llu connected, %llu of these proven from the change; %llu routes "
		"hold, %llu were replaced\n",
		(unsigned long long)n.steps, (unsigned long long)n.whole,
		(unsigned long long)n.proven, (unsigned long long)n.stands,
		(unsigned long long)n.differ);
	assert_int_equal(n.proven, n.whole);
	assert_true(n.differ * 100 <= n.stands);
}

/* ---- each link and switch of a tree ---- */

static uint64_t merit(const struct state *x, enum rt_pattern p)
{
	struct rt_quality_opts o = {.patterns = 64, .seed = 1, .quick = true};
	struct rt_quality q;
	uint64_t mean;
	struct err e;

	if (rt_quality(x->f, x->t, &o, &q, &e))
		fail_msg("%s", e.text);
	mean = rt_shares_mean(&q.by[p]);
	rt_quality_free(&q);
	return mean;
}

static void expect_balanced(const struct state *x)
{
	struct world_down none = world_down_new(x->f);
	struct state fresh = state_scratch(&rt_tree, world_now(x->f, &none));

	for (unsigned p = RT_BISECTION; p <= RT_SHIFTS; p += RT_SHIFTS - RT_BISECTION)
		assert_true(merit(x, p) * 10 >= merit(&fresh, p) * 9);
	state_free(&fresh);
	world_down_free(&none);
}

static void one_failure(const struct state *ref, const struct world_down *d)
{
	struct rt_update_stats st;
	struct state x = state_reroute(ref, world_now(ref->f, d), &st);
	struct rt_before b = before_of(ref);
	uint64_t stands = 0, differ = 0;

	expect_sound(&x);
	expect_kept(ref, &x, &stands, &differ);
	assert_int_equal(differ, 0);
	assert_true(rt_verify_change(x.f, x.t, x.rank, &b));
	expect_balanced(&x);
	state_free(&x);
}

/* The pivot, its links and what is above it too: routes of hosts that hold stay. */
TEST(one_failure_in_a_tree_replaces_nothing_that_holds)
{
	const struct fab_gen gen[] = {{.kind = "mtree", .dims = {8, 3}},
				      {.kind = "kary", .dims = {3, 3}},
				      {.kind = "mtree", .dims = {12, 2}}};

	for (size_t i = 0; i < ARRAY_LEN(gen); i++) {
		struct state ref = state_scratch(&rt_tree, world_make(gen[i]));
		struct world_down d = world_down_new(ref.f);

		for (uint32_t s = 0; s < ref.f->nswitches; s++) {
			d.node[ref.f->switches[s]] = true;
			one_failure(&ref, &d);
			d.node[ref.f->switches[s]] = false;
		}
		for (port_id p = 0; p < ref.f->nports; p += 3) {
			port_id q = ref.f->ports[p].peer;

			if (q == FAB_NONE || q < p)
				continue;
			d.port[p] = true;
			one_failure(&ref, &d);
			d.port[p] = false;
		}
		world_down_free(&d);
		state_free(&ref);
	}
}

/* Many failures at once: as even as from scratch within a tenth. */
TEST(trees_with_many_failures_stay_balanced)
{
	struct rng r;

	rng_seed(&r, 7, 1);
	for (unsigned i = 0; i < 12; i++) {
		struct state ref = state_scratch(
			&rt_tree, world_make((struct fab_gen){.kind = "mtree",
							      .dims = {8 + 2 * (i % 3), 3}}));
		struct world_down d = world_down_new(ref.f);
		struct rt_update_stats st;
		struct state x;

		for (port_id p = 0; p < ref.f->nports; p++)
			d.port[p] = ref.f->ports[p].peer != FAB_NONE &&
				    fab_is_switch(ref.f, ref.f->ports[p].node) &&
				    fab_is_switch(ref.f, ref.f->ports[ref.f->ports[p].peer].node) &&
				    rng_below(&r, 100) < 1 + i / 4;
		x = state_reroute(&ref, world_now(ref.f, &d), &st);
		expect_sound(&x);
		expect_balanced(&x);
		state_free(&x);
		world_down_free(&d);
		state_free(&ref);
	}
}

/* ---- what the reference has not ---- */

TEST(links_and_hosts_that_the_reference_has_not_are_counted_and_reached)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}});
	struct world_down d = world_down_new(f);
	struct rt_update_stats st;
	struct state ref, x;

	d.node[f->switches[f->nswitches - 1]] = true;
	d.node[f->switches[3]] = true;
	for (node_id n = 0; n < f->nnodes; n++)
		if (!fab_is_switch(f, n) && n % 5 == 0)
			d.node[n] = true;
	ref = state_scratch(&rt_tree, world_now(f, &d));
	x = state_reroute(&ref, f, &st);
	assert_int_equal(st.new_links, 2 * (6 + 3));
	expect_sound(&x);
	state_free(&x);
	state_free(&ref);
	world_down_free(&d);
}

TEST(vfs_that_moved_have_the_routes_of_their_hca)
{
	struct fab *f = world_vfs(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}), 2);
	struct world_down none = world_down_new(f);
	struct state ref = state_scratch(&rt_tree, world_now(f, &none)), x;
	struct rt_update_stats st;
	struct rng r;

	rng_seed(&r, 3, 1);
	for (unsigned i = 0; i < 5; i++)
		world_swap(f, &r);
	x = state_reroute(&ref, f, &st);
	expect_sound(&x);
	state_free(&x);
	state_free(&ref);
	world_down_free(&none);
}

TEST(a_reference_that_does_not_fit_is_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {4}});
	struct rt_tables *few = rt_tables_new(3, fab_top_lid(f)), *t = NULL;
	uint64_t rank[4] = {0, 1, 2, 3};
	struct rt_before b = {f, rank, few};
	struct rt_update_stats st;
	struct err e;

	assert_int_equal(rt_reroute(f, &b, &t, rank, &st, &e), -EINVAL);
	assert_null(t);
	rt_tables_free(few);
	few = rt_tables_new(4, fab_top_lid(f));
	rt_lanes_add(few, f, 2, 1);
	b.t = few;
	assert_int_equal(rt_reroute(f, &b, &t, rank, &st, &e), -EINVAL);
	rt_tables_free(few);
	fab_free(f);
}

/* ---- the fewest entries ---- */

/* A ring of four with hosts: the two entries that lose their link, and where the way back is only through the
 * switch itself, those of the neighbours. */
TEST(the_fewest_entries_of_a_ring)
{
	static const uint8_t links[][4] = {{0, 1, 1, 2}, {1, 1, 2, 2}, {2, 1, 3, 2}, {3, 1, 0, 2}};
	struct fab *f = world_links(4, 3, links, ARRAY_LEN(links));
	struct world_down d = world_down_new(f);
	struct state ref = state_scratch(&rt_fera, f);
	struct rt_before b = before_of(&ref);
	struct rt_fewest few;
	struct fab *now;
	struct err e;

	assert_int_equal(rt_fewest_changes(f, &b, &few, &e), 0);
	assert_int_equal(few.entries, 0);
	d.port[fab_port_id(f, f->switches[1], 1)] = true; /* between switches 1 and 2 */
	now = world_now(f, &d);
	assert_int_equal(rt_fewest_changes(now, &b, &few, &e), 0);
	/* 1 -> 2: 1 changes, and 0 if its way to 2 led over 1; the same from the other side */
	assert_in_range(few.entries, 4, 16);
	fab_free(now);
	state_free(&ref);
	world_down_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound_after_any_failures_and_the_same_when_all_is_back),
		cmocka_unit_test(one_failure_in_a_tree_replaces_nothing_that_holds),
		cmocka_unit_test(trees_with_many_failures_stay_balanced),
		cmocka_unit_test(
			links_and_hosts_that_the_reference_has_not_are_counted_and_reached),
		cmocka_unit_test(vfs_that_moved_have_the_routes_of_their_hca),
		cmocka_unit_test(a_reference_that_does_not_fit_is_refused),
		cmocka_unit_test(the_fewest_entries_of_a_ring),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
