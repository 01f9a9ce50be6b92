/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reference tables without ranks and with lanes on fabrics that lose and regain parts: routes that lead on stay with their SLs,
 * the others are replaced, no (link, VL) cycle, and nothing is left when all is as it was. Keeps no state.
 * Covers: reroute_lanes.c, reroute_lanes_tree.c, reroute_lanes_deps.c, reroute_lanes_escape.c
 */
#include "route_fixture.h"
#include "route/fewest.h"
#include "route/quality.h"

struct state {
	struct fab *f;
	struct rt_tables *t;
	uint64_t *rank; /* that they obey: balanced in a tree; NULL */
};

static void state_free(struct state *x)
{
	rt_tables_free(x->t);
	free(x->rank);
	fab_free(x->f);
}

/* Takes f over. */
static struct state state_scratch(const struct rt_engine *g, struct fab *f)
{
	struct state x = {.f = f};
	struct rt_opts o = {.root = f->switches[0]};
	struct err e;

	if (rt_compute(g, f, &o, &x.t, &e))
		fail_msg("%s: %s", g->name, e.text);
	x.rank = rt_tables_ranks(g, f, &o, x.t);
	return x;
}

/* Takes f over; t NULL: no way was found. */
static struct state state_reroute(const struct state *ref, struct fab *f,
				  struct rt_update_stats *st)
{
	struct state x = {.f = f};
	struct rt_before b = {ref->f, ref->rank, ref->t};
	struct err e;
	int rc;

	x.rank = ref->rank ? mem_array((size_t)f->nswitches + 1, sizeof(*x.rank)) : NULL;
	rc = rt_balanced.update(f, &b, &x.t, x.rank, st, &e);
	if (rc && rc != -EDEADLK)
		fail_msg("%s", e.text);
	return x;
}

static void expect_sound(const struct state *x)
{
	struct rt_tables *t = world_fera(x->f, NULL);
	struct rt_report fresh = world_verify(x->f, t, (struct rt_verify_opts){0}),
			 r = world_verify(x->f, x->t, (struct rt_verify_opts){0});

	if (r.unreachable != fresh.unreachable || r.loops || r.discarded || r.cycles)
		fail_msg(
			"%llu of %llu pairs unreachable, %llu loops, %llu discarded, %u cycles: %s",
			(unsigned long long)r.unreachable, (unsigned long long)fresh.unreachable,
			(unsigned long long)r.loops, (unsigned long long)r.discarded, r.cycles,
			r.nproblems ? r.problem[0] : "");
	rt_report_free(&r);
	rt_report_free(&fresh);
	rt_tables_free(t);
}

/* ---- what stays ---- */

static uint32_t in_reference(const struct state *ref, const struct state *x, uint32_t s)
{
	node_id n = fab_node_by_guid(ref->f, x->f->nodes[x->f->switches[s]].guid);

	return n == FAB_NONE ? FAB_NONE : ref->f->switch_index[n];
}

/* Whether the route of the reference still leads from switch s of x to switch `to`. */
static bool route_stands(const struct state *ref, const struct state *x, uint32_t s, uint32_t lid,
			 uint32_t to)
{
	for (uint32_t hops = 0; s != to; hops++) {
		uint32_t was = in_reference(ref, x, s), then, now;
		unsigned port;

		if (was == FAB_NONE || lid > ref->t->top_lid || hops > x->f->nswitches)
			return false;
		port = rt_row(ref->t, was)[lid];
		then = world_peer(ref->f, was, port);
		now = world_peer(x->f, s, port);
		if (then == FAB_NONE || now == FAB_NONE || in_reference(ref, x, now) != then)
			return false;
		s = now;
	}
	return true;
}

static uint32_t switch_of(const struct fab *f, const struct fab_port *p)
{
	if (fab_is_switch(f, p->node))
		return p->num ? FAB_NONE : f->switch_index[p->node];
	return p->peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[p->peer].node];
}

/* Routes that hold stay. Returns to how many LIDs they do not: these have routes along a tree. */
static unsigned columns_replaced(const struct state *ref, const struct state *x)
{
	unsigned n = 0;

	for (port_id p = 0; p < x->f->nports; p++) {
		uint32_t lid = x->f->ports[p].lid, to = switch_of(x->f, &x->f->ports[p]);
		bool other = false;

		for (uint32_t s = 0; lid && to != FAB_NONE && s < x->f->nswitches; s++) {
			uint32_t was = in_reference(ref, x, s);

			if (s == to || !route_stands(ref, x, s, lid, to))
				continue;
			other |= rt_row(x->t, s)[lid] != rt_row(ref->t, was)[lid] ||
				 rt_sl(x->t, s, 0, lid) != rt_sl(ref->t, was, 0, lid);
		}
		n += other;
	}
	return n;
}

static void expect_same(const struct state *ref, const struct state *x)
{
	assert_int_equal(ref->t->stride, x->t->stride);
	assert_memory_equal(ref->t->lft, x->t->lft, (size_t)ref->t->nswitches * ref->t->stride);
	assert_true(rt_lanes_same(ref->f, ref->t, x->t));
	assert_int_equal(rt_nvls(ref->t), rt_nvls(x->t));
}

/* ---- sequences ---- */

static struct fab *any_fabric(uint64_t i, const struct rt_engine **g)
{
	const struct {
		struct fab_gen gen;
		const struct rt_engine *engine;
	} all[] = {
		{{.kind = "torus", .dims = {4, 5}}, &rt_torus},
		{{.kind = "torus", .dims = {3, 4, 3}}, &rt_balanced},
		{{.kind = "irregular", .dims = {16}, .ports = 6, .seed = i}, &rt_balanced},
		{{.kind = "dragonfly", .dims = {2, 4, 2}}, &rt_dragonfly},
		{{.kind = "irregular", .dims = {20}, .ports = 5, .seed = i}, &rt_nue},
		{{.kind = "mtree", .dims = {6, 3}}, &rt_balanced},
		{{.kind = "torus", .dims = {6, 6}}, &rt_nue},
		{{.kind = "odd", .seed = i}, &rt_nue},
		{{.kind = "torus", .dims = {5, 5}}, &rt_torus},
	};

	*g = all[i % ARRAY_LEN(all)].engine;
	return world_make(all[i % ARRAY_LEN(all)].gen);
}

struct tally {
	unsigned steps, refused, turns, columns, replaced;
};

static void one_step(const struct state *ref, struct fab *f, struct tally *n)
{
	struct rt_update_stats st;
	struct state x = state_reroute(ref, f, &st);
	struct rt_tables *old;
	struct rt_plan plan;
	struct err e;

	n->steps++;
	if (!x.t) {
		n->refused++;
		fab_free(f);
		return;
	}
	expect_sound(&x);
	n->columns += st.searched;
	n->replaced += columns_replaced(ref, &x);
	assert_int_equal(st.new_links, 0);
	old = rt_tables_carry(ref->f, ref->t, f);
	assert_int_equal(rt_plan_cut(f, old, x.t, NULL, NULL, 1, &plan, &e), 0);
	n->turns += plan.turns.n > 0;
	rt_plan_free(&plan);
	rt_tables_free(old);
	state_free(&x);
}

static void one_sequence(uint64_t i, struct rng *r, struct tally *n)
{
	const struct rt_engine *g;
	struct fab *f = any_fabric(i, &g);
	struct world_down d = world_down_new(f), none = world_down_new(f);
	struct state ref = state_scratch(g, f), back;
	struct rt_update_stats st;

	for (unsigned k = 0; k < 4; k++) {
		struct fab *next;

		world_change(f, &d, r);
		next = world_now(f, &d);
		if (next->nswitches)
			one_step(&ref, next, n);
		else
			fab_free(next);
	}
	back = state_reroute(&ref, world_now(f, &none), &st);
	assert_non_null(back.t);
	assert_int_equal(st.changed, 0);
	expect_same(&ref, &back);
	state_free(&back);
	state_free(&ref);
	world_down_free(&d);
	world_down_free(&none);
}

TEST(tables_are_sound_after_any_failures_and_the_same_when_all_is_back)
{
	struct tally n = {0};
	struct rng r;

	rng_seed(&r, 16, 2);
	for (uint64_t i = 0; i < 72; i++)
		one_sequence(i, &r, &n);
	print_message("# %u steps, %u without a way, %u with turns to disable; %u columns, %u of "
		      "them along a tree\n",
		      n.steps, n.refused, n.turns, n.columns, n.replaced);
	assert_true(n.refused * 20 <= n.steps);
	assert_true(n.replaced * 50 <= n.columns);
	assert_true(n.turns * 2 <= n.steps);
}

/* ---- each link and switch ---- */

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
	struct state fresh = state_scratch(&rt_balanced, world_now(x->f, &none));

	for (unsigned p = RT_BISECTION; p <= RT_SHIFTS; p += RT_SHIFTS - RT_BISECTION)
		if (merit(x, p) * 10 < merit(&fresh, p) * 9)
			fail_msg("%s: %llu, from scratch %llu",
				 p == RT_SHIFTS ? "shifts" : "bisections",
				 (unsigned long long)merit(x, p),
				 (unsigned long long)merit(&fresh, p));
	state_free(&fresh);
	world_down_free(&none);
}

static void one_failure(const struct state *ref, const struct world_down *d)
{
	struct rt_update_stats st;
	struct state x = state_reroute(ref, world_now(ref->f, d), &st);
	struct rt_before b = {ref->f, NULL, ref->t};
	struct rt_fewest few;
	struct err e;

	assert_non_null(x.t);
	expect_sound(&x);
	assert_true(columns_replaced(ref, &x) * 5 <= st.searched);
	expect_balanced(&x);
	assert_int_equal(rt_fewest_changes(x.f, &b, &few, &e), 0);
	assert_true(few.entries <= st.changed);
	state_free(&x);
}

TEST(one_failure_leaves_balanced_routes_nearly_as_even_as_from_scratch)
{
	const struct fab_gen gen[] = {{.kind = "mtree", .dims = {8, 3}},
				      {.kind = "torus", .dims = {4, 4, 4}},
				      {.kind = "dragonfly", .dims = {2, 4, 2}}};

	for (size_t i = 0; i < ARRAY_LEN(gen); i++) {
		struct state ref = state_scratch(&rt_balanced, world_make(gen[i]));
		struct world_down d = world_down_new(ref.f);

		for (uint32_t s = 0; s < ref.f->nswitches; s += 5) {
			d.node[ref.f->switches[s]] = true;
			one_failure(&ref, &d);
			d.node[ref.f->switches[s]] = false;
		}
		for (port_id p = 0; p < ref.f->nports; p += 7) {
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

/* A dead link of a ring leaves one way round: with the lanes of the reference, whose maps stay. */
TEST(a_ring_without_a_link_keeps_its_maps)
{
	struct state ref = state_scratch(
			     &rt_torus, world_make((struct fab_gen){.kind = "torus", .dims = {8}})),
		     x;
	struct world_down d = world_down_new(ref.f);
	struct rt_update_stats st;

	assert_int_equal(rt_nvls(ref.t), 2);
	for (port_id p = 0; p < ref.f->nports; p++)
		if (ref.f->ports[p].peer != FAB_NONE &&
		    fab_is_switch(ref.f, ref.f->ports[p].node) &&
		    fab_is_switch(ref.f, ref.f->ports[ref.f->ports[p].peer].node)) {
			d.port[p] = true;
			x = state_reroute(&ref, world_now(ref.f, &d), &st);
			assert_non_null(x.t);
			expect_sound(&x);
			for (uint32_t s = 0; s < ref.f->nswitches; s++)
				for (unsigned out = 1; out <= world_ports(ref.f, s); out++)
					for (unsigned sl = 0; sl < RT_SLS; sl++)
						assert_int_equal(rt_vl(x.t, s, 0, out, sl),
								 rt_vl(ref.t, s, 0, out, sl));
			state_free(&x);
			d.port[p] = false;
		}
	world_down_free(&d);
	state_free(&ref);
}

/* ---- hosts ---- */

/* The reference does not know a host: it gets routes, and nothing else changes. */
TEST(a_host_that_is_new_gets_routes)
{
	const struct rt_engine *const engines[] = {&rt_balanced, &rt_torus, &rt_nue};

	for (unsigned i = 0; i < ARRAY_LEN(engines); i++) {
		struct fab *all = world_make((struct fab_gen){.kind = "torus", .dims = {5, 5}});
		struct world_down d = world_down_new(all), none = world_down_new(all);
		struct state ref, x;
		struct rt_update_stats st;
		node_id h = all->nnodes - 1;

		while (fab_is_switch(all, h))
			h--;
		d.node[h] = true;
		ref = state_scratch(engines[i], world_now(all, &d));
		x = state_reroute(&ref, world_now(all, &none), &st);
		assert_non_null(x.t);
		expect_sound(&x);
		assert_int_equal(columns_replaced(&ref, &x), 0);
		assert_int_equal(st.changed, all->nswitches);
		state_free(&x);
		state_free(&ref);
		fab_free(all);
		world_down_free(&d);
		world_down_free(&none);
	}
}

/* A VF that is new has the entries and SLs of its HCA. */
TEST(a_vf_that_is_new_has_the_routes_of_its_hca)
{
	struct fab *bare = world_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}), *f;
	struct world_down none = world_down_new(bare);
	struct state ref, x;
	struct rt_update_stats st;

	f = world_vfs(world_now(bare, &none), 1);
	ref = state_scratch(&rt_balanced, bare);
	x = state_reroute(&ref, f, &st);
	assert_non_null(x.t);
	assert_true(f->nvlids > 0);
	for (uint32_t i = 0; i < f->nvlids; i++)
		for (uint32_t s = 0; s < f->nswitches; s++) {
			uint32_t lid = f->vlids[i].lid, of = f->ports[f->vlids[i].port].lid;

			assert_int_equal(rt_row(x.t, s)[lid], rt_row(x.t, s)[of]);
			assert_int_equal(rt_sl(x.t, s, 0, lid), rt_sl(x.t, s, 0, of));
		}
	expect_sound(&x);
	state_free(&x);
	state_free(&ref);
	world_down_free(&none);
}

/* ---- refused ---- */

TEST(lanes_that_depend_on_input_ports_are_refused)
{
	struct state ref = state_scratch(
		&rt_torus, world_make((struct fab_gen){.kind = "torus", .dims = {4, 5}}));
	struct rt_before b = {ref.f, NULL, ref.t};
	struct rt_sl2vl other = {{1}};
	struct rt_update_stats st;
	struct rt_tables *t = NULL;
	struct err e;

	rt_sl2vl_use(ref.t, 3, 1, 2, rt_sl2vl_map(ref.t, &other));
	assert_int_equal(rt_reroute_lanes(ref.f, &b, &t, NULL, &st, &e), -ENOTSUP);
	assert_null(t);
	assert_non_null(strstr(e.text, "input ports"));
	rt_lanes_drop(ref.t);
	rt_lanes_add(ref.t, ref.f, 9, 1);
	assert_int_equal(rt_reroute_lanes(ref.f, &b, &t, NULL, &st, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "9 lanes"));
	state_free(&ref);
}

/* Tables that may deadlock are no reference. */
TEST(a_reference_with_a_cycle_is_refused)
{
	struct state ref = state_scratch(
		&rt_torus, world_make((struct fab_gen){.kind = "torus", .dims = {6}}));
	struct rt_before b = {ref.f, NULL, ref.t};
	struct rt_update_stats st;
	struct rt_tables *t = NULL;
	struct err e;

	rt_lanes_drop(ref.t);
	assert_int_equal(rt_reroute_lanes(ref.f, &b, &t, NULL, &st, &e), -EDEADLK);
	assert_null(t);
	state_free(&ref);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound_after_any_failures_and_the_same_when_all_is_back),
		cmocka_unit_test(one_failure_leaves_balanced_routes_nearly_as_even_as_from_scratch),
		cmocka_unit_test(a_ring_without_a_link_keeps_its_maps),
		cmocka_unit_test(a_host_that_is_new_gets_routes),
		cmocka_unit_test(a_vf_that_is_new_has_the_routes_of_its_hca),
		cmocka_unit_test(lanes_that_depend_on_input_ports_are_refused),
		cmocka_unit_test(a_reference_with_a_cycle_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
