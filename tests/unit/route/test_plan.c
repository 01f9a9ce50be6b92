/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans from old tables to new ones: the thesis's cases, and random changes of small fabrics, checked
 * against every order of updates. Keeps no state; each test makes its own fabric. Does not measure time.
 * Covers: plan.c, plan_turns.c, plan_lanes.c, plan_lanes_ports.c
 */
#include "route_fixture.h"

static uint64_t *ranks(const struct fab *f, uint32_t root)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));

	rt_updown_rank(f, f->switches[root], rank);
	return rank;
}

static struct rt_plan plan(const struct fab *f, const struct rt_tables *old,
			   const struct rt_tables *new, const uint64_t *rank, const rt_turns *off)
{
	struct rt_plan p;
	struct err e;

	if (rt_plan(f, old, new, rank, off, 0, &p, &e))
		fail_msg("%s", e.text);
	return p;
}

/* Switches 0, 1, 2, 3 in a ring: port 1 to the next, port 2 to the one before, a host on port 3. */
static struct fab *ring_of_four(bool whole)
{
	const uint8_t links[][4] = {{0, 1, 1, 2}, {2, 1, 3, 2}, {3, 1, 0, 2}, {1, 1, 2, 2}};

	return world_links(4, 3, links, whole ? 4 : 3);
}

static uint32_t host_lid(const struct fab *f, uint32_t sw)
{
	return f->ports[f->ports[fab_port_id(f, f->switches[sw], 3)].peer].lid;
}

/* ---- by hand ---- */

TEST(the_same_tables_need_no_plan)
{
	struct fab *f = ring_of_four(true);
	uint64_t *rank = ranks(f, 0);
	struct rt_tables *t = world_fera(f, rank);
	struct rt_plan p = plan(f, t, t, rank, NULL);

	assert_int_equal(p.kind, RT_PLAN_NOTHING);
	assert_int_equal(p.entries + p.blocks + p.turns.n, 0);
	assert_string_equal(rt_plan_name(RT_PLAN_NOTHING), "nothing");
	assert_string_equal(rt_plan_name(RT_PLAN_ANY_ORDER), "any order");
	assert_string_equal(rt_plan_name(RT_PLAN_OUTWARDS), "outwards");
	assert_string_equal(rt_plan_name(RT_PLAN_TURNS), "disable turns");
	rt_plan_free(&p);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
}

/* Two cables between two switches, one breaks. */
TEST(a_parallel_link_needs_no_order)
{
	const uint8_t links[][4] = {{0, 1, 1, 1}, {0, 2, 1, 2}};
	struct fab *two = world_links(2, 3, links, 2), *one = world_links(2, 3, links, 1);
	uint64_t *rank = ranks(two, 0);
	struct rt_tables *old = world_fera(two, rank), *new = world_fera(one, rank);
	struct rt_plan p = plan(one, old, new, rank, NULL);

	assert_int_equal(p.kind, RT_PLAN_ANY_ORDER);
	assert_true(p.entries > 0);
	assert_int_equal(p.blocks, 2);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	fab_free(two);
	fab_free(one);
}

/* 0 sent packets for 2 by 1; the cable from 1 to 2 breaks. If 1 changes first, it and 0 play ball.
 */
TEST(entries_are_ordered_so_that_no_loop_opens)
{
	struct fab *whole = ring_of_four(true), *broken = ring_of_four(false);
	uint64_t *rank = ranks(whole, 0);
	struct rt_tables *old = world_fera(whole, rank), *new;
	struct rt_plan p;

	rt_row(old, 0)[host_lid(whole, 2)] = 1; /* either way is among the best */
	new = world_fera(broken, rank);
	assert_int_equal(rt_row(new, 1)[host_lid(whole, 2)], 2);
	p = plan(broken, old, new, rank, NULL);
	assert_int_equal(p.kind, RT_PLAN_OUTWARDS);
	assert_int_equal(p.turns.n, 0);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	fab_free(whole);
	fab_free(broken);
}

/* Thesis 7.1.1: nothing breaks, but the root moves from 0 to 2 and with it the break node from 2 to
 * 0. What 0 let pass still does when 2 begins to, and the ring is closed. */
TEST(turns_of_a_moving_break_node_are_disabled)
{
	struct fab *f = ring_of_four(true);
	uint64_t *before = ranks(f, 0), *after = ranks(f, 2);
	struct rt_tables *old = world_fera(f, before), *new = world_fera(f, after);
	struct rt_plan p = plan(f, old, new, after, NULL), q;

	assert_int_equal(p.kind, RT_PLAN_TURNS);
	assert_int_equal(p.turns.n, 2);
	assert_int_equal(p.turns.at[0].sw, 0);
	assert_int_equal(p.turns.at[0].in, 1);
	assert_int_equal(p.turns.at[0].out, 2);
	assert_int_equal(p.turns.at[1].sw, 0);
	assert_int_equal(p.turns.at[1].in, 2);
	assert_int_equal(p.turns.at[1].out, 1);

	/* off already, nothing is left to switch off */
	q = plan(f, old, new, after, &p.turns);
	assert_true(q.kind == RT_PLAN_ANY_ORDER || q.kind == RT_PLAN_OUTWARDS);
	rt_plan_free(&q);
	p.turns.n = 1; /* one of them is not enough */
	q = plan(f, old, new, after, &p.turns);
	assert_int_equal(q.kind, RT_PLAN_TURNS);
	assert_int_equal(q.turns.n, 1);
	assert_int_equal(q.turns.at[0].in, 2);
	rt_plan_free(&q);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	free(before);
	free(after);
	fab_free(f);
}

TEST(tables_that_deadlock_are_refused)
{
	struct fab *f = ring_of_four(true);
	uint64_t *rank = ranks(f, 0);
	struct rt_tables *old = world_fera(f, rank), *new = world_fera(f, rank);
	struct rt_plan p;
	struct err e;

	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t d = 0; d < 4; d++)
			if (s != d) /* all clockwise */
				rt_row(new, s)[host_lid(f, d)] = 1;
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), -EINVAL);
	assert_string_equal(e.text, "plan: the new tables are not free of deadlock");
	rt_tables_free(old);
	old = rt_tables_new(3, 8);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), -EINVAL);
	assert_string_equal(e.text, "plan: tables of 3 and 4 switches for a fabric with 4");
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	fab_free(f);
}

/* A host is gone, but packets for it, in tables of another manager perhaps, turn where others must
 * not: what its entries do counts until they are gone. */
TEST(packets_to_removed_hosts_are_considered)
{
	struct fab *f = ring_of_four(true);
	uint64_t *rank = ranks(f, 0);
	uint32_t top = fab_top_lid(f);
	struct rt_tables *new = world_fera(f, rank), *old = rt_tables_new(4, top + 100);
	struct rt_plan p;

	for (uint32_t s = 0; s < 4; s++) {
		memcpy(rt_row(old, s), rt_row(new, s), top + 1);
		if (s != 3)
			rt_row(old, s)[top + 99] = 1; /* 0 -> 1 -> 2 -> 3 */
		if (s != 1)
			rt_row(old, s)[top + 100] = 2; /* 0 -> 3 -> 2 -> 1 */
	}
	p = plan(f, old, new, rank, NULL);
	assert_int_equal(p.entries, 6);
	assert_int_equal(p.kind, RT_PLAN_TURNS);
	for (size_t i = 0; i < p.turns.n; i++)
		assert_int_equal(p.turns.at[i].sw, 2);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	fab_free(f);
}

/* The host with the last LID is gone: its entries are behind the last LID in use, in a block that others share. */
TEST(packets_to_the_host_that_had_the_last_lid_are_considered)
{
	struct fab *f = ring_of_four(true);
	uint64_t *rank = ranks(f, 0);
	uint32_t gone = fab_top_lid(f) + 1;
	struct rt_tables *old = world_fera(f, rank), *new = world_fera(f, rank);
	struct rt_plan p;
	struct err e;

	for (uint32_t s = 0; s < 4; s++) {
		rt_row(old, s)[gone] = 1;
		rt_row(new, s)[gone] = s == 3 ? 3 : 1;	   /* 0 -> 1 -> 2 -> 3, down and then up */
		rt_row(new, s)[gone + 1] = s == 1 ? 3 : 1; /* 2 -> 3 -> 0 -> 1 */
	}
	assert_true(gone + 1 < new->stride);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), -EINVAL);
	assert_string_equal(e.text, "plan: the new tables are not free of deadlock");
	assert_int_equal(rt_drop_stale(f, new, rank), 4);
	assert_int_equal(rt_row(new, 0)[gone], IBA_PORT_NONE);
	assert_int_equal(rt_row(new, 0)[gone + 1], 1);
	p = plan(f, new, new, rank, NULL);
	assert_int_equal(p.kind, RT_PLAN_NOTHING);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	fab_free(f);
}

/* ---- everything that can happen on the way, on up to six switches ---- */

struct brute {
	const struct fab *f;
	const struct rt_tables *old, *new;
	const rt_turns *off;
	bool *dep; /* [channel][channel] */
};

static uint8_t entry(const struct rt_tables *t, uint32_t s, uint32_t lid)
{
	return lid <= t->top_lid ? rt_row(t, s)[lid] : IBA_PORT_NONE;
}

static uint8_t entry_in(const struct brute *b, uint32_t s, uint32_t lid, uint32_t changed)
{
	return entry(changed >> s & 1 ? b->new : b->old, s, lid);
}

/* Whether this set of switches that have changed can occur: outwards, none changes before the next
 * on its new way, if that has anything to change. */
static bool can_occur(const struct brute *b, uint32_t lid, uint32_t changed, bool outwards)
{
	for (uint32_t s = 0; s < b->f->nswitches; s++) {
		uint32_t v = world_peer(b->f, s, entry(b->new, s, lid));
		bool differs = entry(b->old, s, lid) != entry(b->new, s, lid);

		if (!(changed >> s & 1))
			continue;
		if (!differs) /* nothing to change: count each mixture once */
			return false;
		if (outwards && v != FAB_NONE && entry(b->old, v, lid) != entry(b->new, v, lid) &&
		    !(changed >> v & 1))
			return false;
	}
	return true;
}

static bool is_off(const rt_turns *off, uint32_t sw, unsigned in, unsigned out)
{
	for (size_t i = 0; off && i < off->n; i++)
		if (off->at[i].sw == sw && off->at[i].in == in && off->at[i].out == out)
			return true;
	return false;
}

/* A packet left s while `then` had changed, and waits in the next switch while `now` has. */
static void hold_and_wait(struct brute *b, uint32_t s, uint32_t lid, uint32_t then, uint32_t now)
{
	const struct fab *f = b->f;
	uint8_t port = entry_in(b, s, lid, then), out;
	uint32_t v = world_peer(f, s, port);
	port_id from;

	if (v == FAB_NONE)
		return;
	out = entry_in(b, v, lid, now);
	from = fab_port_id(f, f->switches[s], port);
	if (world_peer(f, v, out) == FAB_NONE ||
	    is_off(b->off, v, f->ports[f->ports[from].peer].num, out))
		return;
	b->dep[(size_t)from * f->nports + fab_port_id(f, f->switches[v], out)] = true;
}

static bool closes(const struct brute *b, port_id p, uint8_t *mark)
{
	mark[p] = 1;
	for (port_id q = 0; q < b->f->nports; q++)
		if (b->dep[(size_t)p * b->f->nports + q] &&
		    (mark[q] == 1 || (!mark[q] && closes(b, q, mark))))
			return true;
	mark[p] = 2;
	return false;
}

static bool can_deadlock(const struct fab *f, const struct rt_tables *old,
			 const struct rt_tables *new, const rt_turns *off, bool outwards)
{
	struct brute b = {f, old, new, off,
			  mem_zarray((size_t)f->nports * f->nports, sizeof(bool))};
	uint8_t *mark = mem_zarray(f->nports, 1);
	uint32_t states = 1u << f->nswitches;
	bool found = false;

	for (uint32_t lid = 1; lid <= MAX(old->top_lid, new->top_lid); lid++)
		for (uint32_t then = 0; then < states; then++) {
			if (!can_occur(&b, lid, then, outwards))
				continue;
			for (uint32_t now = then; now < states; now++)
				if ((now & then) == then && can_occur(&b, lid, now, outwards))
					for (uint32_t s = 0; s < f->nswitches; s++)
						hold_and_wait(&b, s, lid, then, now);
		}
	for (port_id p = 0; p < f->nports && !found; p++)
		found = !mark[p] && closes(&b, p, mark);
	free(b.dep);
	free(mark);
	return found;
}

/* One mixture as the verifier sees it, with the turns mapped to no VL. */
static void expect_mixture(const struct fab *f, struct rt_tables *mix, const struct rt_plan *p)
{
	struct rt_report r;
	unsigned none;

	rt_lanes_add(mix, f, 1, 1);
	none = rt_sl2vl_map(mix, &(struct rt_sl2vl){{RT_VL_NONE}});
	for (size_t i = 0; i < p->turns.n; i++)
		rt_sl2vl_use(mix, p->turns.at[i].sw, p->turns.at[i].in, p->turns.at[i].out, none);
	r = world_verify(f, mix, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 0);
	if (p->kind != RT_PLAN_TURNS)
		assert_int_equal(r.loops, 0);
	rt_report_free(&r);
	rt_lanes_drop(mix);
}

/* One lane that is written down is one lane: the same plan by the other way of collecting. */
static void expect_same_with_lanes(const struct fab *f, struct rt_tables *old,
				   struct rt_tables *new, const uint64_t *rank,
				   const struct rt_plan *want)
{
	struct rt_plan p;

	rt_lanes_add(old, f, 1, 1);
	rt_lanes_add(new, f, 1, 1);
	p = plan(f, old, new, rank, NULL);
	assert_int_equal(p.kind, want->kind);
	assert_int_equal(p.entries, want->entries);
	assert_int_equal(p.turns.n, want->turns.n);
	for (size_t i = 0; i < p.turns.n; i++)
		assert_true(p.turns.at[i].sw == want->turns.at[i].sw &&
			    p.turns.at[i].in == want->turns.at[i].in &&
			    p.turns.at[i].out == want->turns.at[i].out);
	rt_plan_free(&p);
	rt_lanes_drop(old);
	rt_lanes_drop(new);
}

/* Mixtures at random: for every destination some set that can occur. */
static void expect_mixtures(const struct fab *f, const struct rt_tables *old,
			    const struct rt_tables *new, const struct rt_plan *p, struct rng *r)
{
	struct brute b = {.f = f, .old = old, .new = new};
	struct rt_tables *mix = rt_tables_new(f->nswitches, MAX(old->top_lid, new->top_lid));

	for (int k = 0; k < 20; k++) {
		for (uint32_t lid = 1; lid <= mix->top_lid; lid++) {
			uint32_t changed;

			do
				changed = rng_below(r, 1u << f->nswitches);
			while (!can_occur(&b, lid, changed, p->kind != RT_PLAN_ANY_ORDER));
			for (uint32_t s = 0; s < f->nswitches; s++)
				rt_row(mix, s)[lid] = entry_in(&b, s, lid, changed);
		}
		expect_mixture(f, mix, p);
	}
	rt_tables_free(mix);
}

/* The plan is safe, no cheaper one is, and no turn can be spared. */
static void expect_plan(const struct fab *f, const struct rt_tables *old,
			const struct rt_tables *new, const struct rt_plan *p, struct rng *r)
{
	bool outwards = p->kind != RT_PLAN_ANY_ORDER;

	if (p->kind == RT_PLAN_NOTHING)
		return;
	assert_false(can_deadlock(f, old, new, &p->turns, outwards));
	expect_mixtures(f, old, new, p, r);
	if (outwards)
		assert_true(can_deadlock(f, old, new, NULL, false));
	if (p->kind == RT_PLAN_TURNS)
		assert_true(can_deadlock(f, old, new, NULL, true));
	for (size_t i = 0; i < p->turns.n; i++) {
		rt_turns fewer = {0};

		for (size_t k = 0; k < p->turns.n; k++)
			if (k != i)
				vec_push(&fewer, p->turns.at[k]);
		assert_true(can_deadlock(f, old, new, &fewer, true));
		vec_free(&fewer);
	}
}

static struct fab *small_fabric(uint64_t i)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {4 + i / 5 % 3}},
		{.kind = "mesh", .dims = {2, 3}},
		{.kind = "irregular", .dims = {5}, .ports = 5, .seed = i},
		{.kind = "irregular", .dims = {6}, .ports = 5, .seed = i},
		{.kind = "irregular", .dims = {6}, .ports = 6, .seed = i},
	};

	return world_make(families[i % ARRAY_LEN(families)]);
}

TEST(plans_are_safe_and_minimal)
{
	unsigned kinds[4] = {0}, turns = 0;
	struct rng r;

	rng_seed(&r, 11, 0);
	for (uint64_t i = 0; i < 400; i++) {
		struct fab *f = small_fabric(i);
		struct world_down d = world_down_new(f);
		uint64_t *before = ranks(f, rng_below(&r, f->nswitches)), *after, *old_rank;
		struct rt_tables *t = world_fera(f, before), *old, *new;
		struct rt_plan p;

		if (i % 4)
			world_change(f, &d, &r);
		struct fab *g = world_now(f, &d);

		after = mem_array(g->nswitches, sizeof(*after));
		old_rank = mem_array(g->nswitches, sizeof(*old_rank));
		rt_updown_rank_carry(f, before, g, old_rank);
		/* ranks that last, or another root and all of them new */
		if (i % 4 == 1)
			memset(old_rank, 0xff, g->nswitches * sizeof(*old_rank));
		rt_updown_rank_keep(g, g->switches[rng_below(&r, g->nswitches)], old_rank, after);
		old = rt_tables_carry(f, t, g);
		new = world_fera(g, after);
		p = plan(g, old, new, after, NULL);
		expect_plan(g, old, new, &p, &r);
		expect_same_with_lanes(g, old, new, after, &p);
		kinds[p.kind]++;
		turns += (unsigned)p.turns.n;
		rt_plan_free(&p);
		rt_tables_free(t);
		rt_tables_free(old);
		rt_tables_free(new);
		free(before);
		free(after);
		free(old_rank);
		fab_free(g);
		world_down_free(&d);
		fab_free(f);
	}
	print_message("# plans: %u nothing, %u any order, %u outwards, %u with %u turns off\n",
		      kinds[0], kinds[1], kinds[2], kinds[3], turns);
	for (int k = 1; k < 4; k++)
		assert_true(kinds[k] > 20);
}

/* Larger ones, where only the verifier can look: neither threads nor the run change the plan. */
TEST(the_number_of_threads_does_not_change_the_plan)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {5, 5}});
	uint64_t *before = ranks(f, 0), *after = ranks(f, 12);
	struct rt_tables *old = world_fera(f, before), *new = world_fera(f, after);
	struct rt_plan one, more;
	struct err e;

	assert_int_equal(rt_plan(f, old, new, after, NULL, 1, &one, &e), 0);
	assert_int_equal(one.kind, RT_PLAN_TURNS);
	for (unsigned threads = 2; threads < 5; threads++) {
		assert_int_equal(rt_plan(f, old, new, after, NULL, threads, &more, &e), 0);
		assert_int_equal(more.turns.n, one.turns.n);
		for (size_t i = 0; i < one.turns.n; i++)
			assert_true(more.turns.at[i].sw == one.turns.at[i].sw &&
				    more.turns.at[i].in == one.turns.at[i].in &&
				    more.turns.at[i].out == one.turns.at[i].out);
		rt_plan_free(&more);
	}
	expect_mixture(f, old, &one);
	expect_mixture(f, new, &one);
	rt_plan_free(&one);
	rt_tables_free(old);
	rt_tables_free(new);
	free(before);
	free(after);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_tables_need_no_plan),
		cmocka_unit_test(a_parallel_link_needs_no_order),
		cmocka_unit_test(entries_are_ordered_so_that_no_loop_opens),
		cmocka_unit_test(turns_of_a_moving_break_node_are_disabled),
		cmocka_unit_test(tables_that_deadlock_are_refused),
		cmocka_unit_test(packets_to_removed_hosts_are_considered),
		cmocka_unit_test(packets_to_the_host_that_had_the_last_lid_are_considered),
		cmocka_unit_test(plans_are_safe_and_minimal),
		cmocka_unit_test(the_number_of_threads_does_not_change_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
