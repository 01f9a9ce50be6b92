/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast trees: every member gets one copy, no other port does, and no cycle closes with unicast routes, whatever the
 * engine; joins and leaves change one branch; on the way from old trees to new ones no mixture has a loop or a cycle. The
 * verifier, which shares no code with what builds trees, is the judge.
 * Covers: multicast.c, multicast_updown.c, multicast_order.c, multicast_grow.c, multicast_change.c, multicast_verify.c
 */
#include "route_fixture.h"

#include "route/multicast_trees.h"

enum { MOST = 24 };

/* Groups by port GUID, so that they outlive a snapshot. */
struct party {
	uint32_t n;
	struct {
		uint64_t guid;
		bool receives;
	} at[MOST];
};

struct parties {
	uint32_t n;
	struct party *at;
	struct rt_group *groups;
	struct rt_member *members;
};

static port_id host_port(const struct fab *f, uint64_t guid)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid == guid && guid)
			return p;
	return FAB_NONE;
}

static uint64_t draw(const struct fab *f, struct rng *r, bool switches)
{
	for (;;) {
		node_id n = rng_below(r, f->nnodes);

		if (!fab_is_switch(f, n) || (switches && !rng_below(r, 8)))
			return f->ports[fab_port_id(f, n, fab_is_switch(f, n) ? 0 : 1)].guid;
	}
}

static void join(struct party *p, uint64_t guid, bool receives)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->at[i].guid == guid) {
			p->at[i].receives = receives;
			return;
		}
	if (p->n == MOST)
		return;
	p->at[p->n].guid = guid;
	p->at[p->n++].receives = receives;
}

static struct parties parties_new(const struct fab *f, uint32_t n, struct rng *r, bool switches)
{
	struct parties x = {.n = n};

	x.at = mem_zarray(n, sizeof(*x.at));
	x.groups = mem_zarray(n, sizeof(*x.groups));
	x.members = mem_zarray((size_t)n * MOST, sizeof(*x.members));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = rng_below(r, MOST); k; k--)
			join(&x.at[i], draw(f, r, switches), rng_below(r, 5) != 0);
	return x;
}

static void parties_free(struct parties *x)
{
	free(x->at);
	free(x->groups);
	free(x->members);
}

/* The groups over a snapshot. */
static void parties_place(struct parties *x, const struct fab *f, unsigned sl)
{
	for (uint32_t i = 0; i < x->n; i++) {
		struct rt_member *m = x->members + (size_t)i * MOST;
		uint32_t n = 0;

		for (uint32_t k = 0; k < x->at[i].n; k++) {
			port_id p = host_port(f, x->at[i].at[k].guid);

			if (p != FAB_NONE &&
			    (f->ports[p].peer != FAB_NONE || fab_is_switch(f, f->ports[p].node)))
				m[n++] = (struct rt_member){p, x->at[i].at[k].receives};
		}
		x->groups[i] =
			(struct rt_group){(uint16_t)(IBA_LID_MCAST_FIRST + i), (uint8_t)sl, m, n};
	}
}

static void expect_right(const struct fab *f, const struct rt_tables *t, const struct parties *x,
			 const rt_mtrees *trees)
{
	struct rt_mreport r;

	rt_multicast_verify(f, t, NULL, x->groups, x->n, trees, &r);
	if (!r.ok)
		fail_msg("%s", r.problem[0]);
	assert_int_equal(r.groups, x->n);
}

static rt_mtrees trees_make(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
			    const struct parties *x, const rt_mtrees *old)
{
	struct rt_multicast m = {.f = f,
				 .t = t,
				 .rank = t->lanes ? NULL : rank,
				 .groups = x->groups,
				 .ngroups = x->n,
				 .old = old};
	rt_mtrees out = {0};

	assert_int_equal(rt_multicast(&m, &out), 0);
	return out;
}

static bool same_tree(const struct rt_mtree *a, const struct rt_mtree *b)
{
	for (size_t i = 0; a->at.n == b->at.n && i < a->at.n; i++)
		if (a->at.at[i].sw != b->at.at[i].sw ||
		    memcmp(&a->at.at[i].ports, &b->at.at[i].ports, sizeof(struct rt_ports)))
			return false;
	return a->at.n == b->at.n;
}

/* ---- engines and shapes ---- */

static void check_engine(const struct rt_engine *g, struct fab_gen gen, uint64_t seed)
{
	unsigned sls, sl;
	struct fab *f = world_make(gen);
	struct rt_opts o = {.root = rt_root_choose(f, NULL, 0, FAB_NONE), .threads = 1};
	uint64_t *rank = mem_array(f->nswitches + 1u, sizeof(*rank));
	struct rt_tables *t;
	struct parties x;
	rt_mtrees trees, again;
	struct rng r;
	struct err e;

	rng_seed(&r, seed, 1);
	if (rt_compute(g, f, &o, &t, &e))
		fail_msg("%s: %s", g->name, e.text);
	rt_tables_fill(t);
	if (g->updown)
		assert_int_equal(rt_engine_ranks(g, f, &o, rank, &e), 0);
	sls = rt_multicast_sls(f, t, g->updown ? rank : NULL);
	assert_int_not_equal(sls, 0);
	sl = (unsigned)__builtin_ctz(sls);
	x = parties_new(f, 40, &r, true);
	parties_place(&x, f, sl);
	trees = trees_make(f, t, g->updown ? rank : NULL, &x, NULL);
	expect_right(f, t, &x, &trees);
	again = trees_make(f, t, g->updown ? rank : NULL, &x, &trees);
	for (uint32_t i = 0; i < x.n; i++)
		assert_true(same_tree(&trees.at[i], &again.at[i]));
	rt_mtrees_free(&again);
	rt_mtrees_free(&trees);
	parties_free(&x);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
}

TEST(trees_over_ranks)
{
	static const struct rt_engine *const engines[] = {&rt_fera, &rt_updn, &rt_pira};

	for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
		check_engine(engines[i], (struct fab_gen){.kind = "mtree", .dims = {8, 3}}, 1);
		check_engine(engines[i], (struct fab_gen){.kind = "kary", .dims = {3, 3}}, 2);
		check_engine(engines[i], (struct fab_gen){.kind = "torus", .dims = {4, 4}}, 3);
		check_engine(engines[i], (struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}},
			     4);
		check_engine(
			engines[i],
			(struct fab_gen){.kind = "irregular", .dims = {24}, .ports = 8, .seed = 5},
			5);
	}
	check_engine(&rt_tree, (struct fab_gen){.kind = "mtree", .dims = {8, 3}}, 6);
}

TEST(trees_inside_dependencies)
{
	check_engine(&rt_nue,
		     (struct fab_gen){.kind = "irregular", .dims = {20}, .ports = 8, .seed = 2}, 1);
	check_engine(&rt_nue, (struct fab_gen){.kind = "torus", .dims = {4, 4}}, 2);
	check_engine(&rt_balanced, (struct fab_gen){.kind = "mtree", .dims = {8, 2}}, 3);
	check_engine(&rt_balanced, (struct fab_gen){.kind = "ring", .dims = {6}}, 4);
	check_engine(&rt_balanced,
		     (struct fab_gen){.kind = "irregular", .dims = {20}, .ports = 8, .seed = 4}, 4);
	check_engine(&rt_torus, (struct fab_gen){.kind = "torus", .dims = {5, 4}}, 5);
	check_engine(&rt_torus, (struct fab_gen){.kind = "torus", .dims = {4, 3, 3}}, 6);
	check_engine(&rt_dragonfly, (struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}, 7);
	check_engine(&rt_balanced, (struct fab_gen){.kind = "hypercube", .dims = {4}}, 8);
}

/* A switch of the uppermost level: its neighbours have no hosts. */
static bool is_spine(const struct fab *f, uint32_t s)
{
	for (unsigned p = 1; p <= world_ports(f, s); p++) {
		uint32_t t = world_peer(f, s, p);

		for (unsigned q = 1; t != FAB_NONE && q <= world_ports(f, t); q++)
			if (world_peer(f, t, q) == FAB_NONE)
				return false;
		if (t == FAB_NONE)
			return false;
	}
	return true;
}

/* Trees of large groups are spread over the uppermost switches. */
TEST(trees_are_spread)
{
	unsigned sl = 0;
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_opts o = {.root = FAB_NONE, .threads = 1};
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	struct rt_tables *t;
	struct rng r;
	struct parties x;
	rt_mtrees trees;
	uint32_t used[256] = {0}, spines = 0, most = 0;
	struct err e;

	rng_seed(&r, 7, 1);
	assert_int_equal(rt_compute(&rt_updn, f, &o, &t, &e), 0);
	assert_int_equal(rt_engine_ranks(&rt_updn, f, &o, rank, &e), 0);
	x = parties_new(f, 64, &r, false);
	for (uint32_t i = 0; i < x.n; i++)
		while (x.at[i].n < MOST)
			join(&x.at[i], draw(f, &r, false), true);
	parties_place(&x, f, sl);
	trees = trees_make(f, t, rank, &x, NULL);
	for (uint32_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < trees.at[i].at.n; k++)
			used[trees.at[i].at.at[k].sw]++;
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (is_spine(f, s)) {
			spines += used[s] > 0;
			most = MAX(most, used[s]);
		}
	assert_int_equal(spines, 16);
	assert_true(most <= 10);
	rt_mtrees_free(&trees);
	parties_free(&x);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
}

/* ---- joins and leaves ---- */

static bool has_links_of(const struct fab *f, const struct rt_mtree *big,
			 const struct rt_mtree *small)
{
	for (size_t i = 0; i < small->at.n; i++) {
		const struct rt_ports *p = rt_mtree_at(big, small->at.at[i].sw);
		node_id n = f->switches[small->at.at[i].sw];

		for (unsigned k = rt_ports_next(&small->at.at[i].ports, 1); k < 256;
		     k = rt_ports_next(&small->at.at[i].ports, k + 1)) {
			port_id q = f->ports[fab_port_id(f, n, k)].peer;

			if (fab_is_switch(f, f->ports[q].node) && (!p || !rt_ports_has(p, k)))
				return false;
		}
	}
	return true;
}

static void check_joins(const struct rt_engine *g, struct fab_gen gen, uint64_t seed)
{
	unsigned sl;
	struct fab *f = world_make(gen);
	struct rt_opts o = {.root = rt_root_choose(f, NULL, 0, FAB_NONE), .threads = 1};
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	struct rt_tables *t;
	struct parties x;
	rt_mtrees trees, next;
	struct rng r;
	struct err e;

	rng_seed(&r, seed, 3);
	assert_int_equal(rt_compute(g, f, &o, &t, &e), 0);
	if (g->updown)
		assert_int_equal(rt_engine_ranks(g, f, &o, rank, &e), 0);
	sl = (unsigned)__builtin_ctz(rt_multicast_sls(f, t, g->updown ? rank : NULL));
	x = parties_new(f, 12, &r, true);
	parties_place(&x, f, sl);
	trees = trees_make(f, t, g->updown ? rank : NULL, &x, NULL);
	for (unsigned step = 0; step < 60; step++) {
		uint32_t i = rng_below(&r, x.n), was = x.at[i].n;
		bool leave = was && rng_below(&r, 2);

		if (leave)
			x.at[i].at[rng_below(&r, was)] = x.at[i].at[--x.at[i].n];
		else
			join(&x.at[i], draw(f, &r, true), rng_below(&r, 4) != 0);
		parties_place(&x, f, sl);
		next = trees_make(f, t, g->updown ? rank : NULL, &x, &trees);
		expect_right(f, t, &x, &next);
		for (uint32_t k = 0; k < x.n; k++)
			if (k != i)
				assert_true(same_tree(&trees.at[k], &next.at[k]));
		/* Over ranks a join adds a branch, and a leave removes one. */
		if (g->updown)
			assert_true(leave ? has_links_of(f, &trees.at[i], &next.at[i])
					  : has_links_of(f, &next.at[i], &trees.at[i]));
		rt_mtrees_free(&trees);
		trees = next;
	}
	rt_mtrees_free(&trees);
	parties_free(&x);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
}

TEST(a_join_adds_a_branch_and_a_leave_removes_one)
{
	check_joins(&rt_fera, (struct fab_gen){.kind = "mtree", .dims = {8, 3}}, 1);
	check_joins(&rt_updn, (struct fab_gen){.kind = "mtree", .dims = {6, 3}}, 2);
	check_joins(&rt_fera,
		    (struct fab_gen){.kind = "irregular", .dims = {24}, .ports = 8, .seed = 3}, 3);
	check_joins(&rt_nue,
		    (struct fab_gen){.kind = "irregular", .dims = {16}, .ports = 8, .seed = 4}, 4);
	check_joins(&rt_torus, (struct fab_gen){.kind = "torus", .dims = {4, 4}}, 5);
}

/* ---- switches without room ---- */

TEST(switches_without_room_are_left_out)
{
	unsigned sl = 0;
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}});
	struct rt_opts o = {.root = FAB_NONE, .threads = 1};
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	uint16_t *cap = mem_array(f->nswitches, sizeof(*cap));
	struct rt_multicast m = {.f = f, .rank = rank, .cap = cap};
	struct rt_tables *t;
	struct parties x;
	rt_mtrees out = {0};
	struct rng r;
	struct err e;
	uint32_t partial;

	rng_seed(&r, 1, 9);
	assert_int_equal(rt_compute(&rt_updn, f, &o, &t, &e), 0);
	assert_int_equal(rt_engine_ranks(&rt_updn, f, &o, rank, &e), 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		cap[s] = s % 5 == 0 ? 10 : 1024;
	x = parties_new(f, 20, &r, true);
	parties_place(&x, f, sl);
	m.t = t;
	m.groups = x.groups;
	m.ngroups = x.n;
	partial = rt_multicast(&m, &out);
	assert_true(partial > 0 && partial <= 10);
	for (uint32_t i = 0; i < x.n; i++)
		for (size_t k = 0; k < out.at[i].at.n; k++)
			assert_true(i < cap[out.at[i].at.at[k].sw]);
	for (uint32_t i = 0; i < 10; i++)
		assert_false(out.at[i].partial);
	rt_mtrees_free(&out);
	parties_free(&x);
	rt_tables_free(t);
	free(rank);
	free(cap);
	fab_free(f);
}

/* ---- changes ---- */

/* Trees of one snapshot over another one, by GUID. */
static rt_mtrees trees_carry(const struct fab *from, const rt_mtrees *t, const struct fab *to)
{
	rt_mtrees out = {0};

	for (size_t i = 0; i < t->n; i++) {
		struct rt_mtree x = {.mlid = t->at[i].mlid, .sl = t->at[i].sl};

		for (uint32_t s = 0; s < to->nswitches; s++) {
			node_id n = fab_node_by_guid(from, to->nodes[to->switches[s]].guid);
			const struct rt_ports *p =
				n == FAB_NONE ? NULL
					      : rt_mtree_at(&t->at[i], from->switch_index[n]);

			if (p)
				vec_push(&x.at, (struct rt_branch){s, *p});
		}
		vec_push(&out, x);
	}
	return out;
}

/* For each switch and tree, the masks of one or the other. */
static rt_mtrees mixture(const struct fab *f, const rt_mtrees *a, const rt_mtrees *b, struct rng *r)
{
	rt_mtrees out = {0};

	for (size_t i = 0; i < a->n; i++) {
		struct rt_mtree x = {.mlid = a->at[i].mlid, .sl = a->at[i].sl};

		for (uint32_t s = 0; s < f->nswitches; s++) {
			const struct rt_ports *p = rt_mtree_at(
				rng_below(r, 2) ? &a->at[i] : rt_mtree_find(b, x.mlid), s);

			if (p)
				vec_push(&x.at, (struct rt_branch){s, *p});
		}
		vec_push(&out, x);
	}
	return out;
}

static struct rt_tables *mixed_tables(const struct fab *f, const struct rt_tables *a,
				      const struct rt_tables *b, struct rng *r)
{
	struct rt_tables *t = rt_tables_new(f->nswitches, a->top_lid);

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 0; lid <= a->top_lid; lid++)
			rt_row(t, s)[lid] = rt_row(rng_below(r, 2) ? a : b, s)[lid];
	return t;
}

/* No packet gets back to a switch, none is doubled, no cycle closes. */
static void expect_safe(const struct fab *f, const struct rt_tables *t, const struct parties *x,
			const rt_mtrees *trees)
{
	struct rt_mreport r;

	rt_multicast_verify(f, t, NULL, x->groups, x->n, trees, &r);
	if (r.loops || r.cyclic || r.doubled)
		fail_msg("%s", r.problem[0]);
}

static void check_change(const struct fab *f, const rt_mtrees *had, struct parties *x,
			 const struct rt_tables *old, const struct rt_tables *t,
			 const uint64_t *rank, const struct rt_plan *plan, struct rng *r,
			 unsigned *pruned)
{
	rt_mtrees new = trees_make(f, t, rank, x, had), mid = {0}, mix;
	struct rt_mlosses lost;
	struct rt_mchange c = {
		.f = f, .was = old, .t = t, .rank = rank, .plan = plan, .old = had, .new = &new};

	expect_right(f, t, x, &new);
	rt_multicast_between(&c, &mid, &lost);
	assert_int_equal(mid.n, had->n);
	for (size_t i = 0; i < mid.n; i++)
		*pruned += !same_tree(&mid.at[i], &had->at[i]);
	for (unsigned k = 0; k < 3; k++) {
		struct rt_tables *any = mixed_tables(f, old, t, r);

		mix = mixture(f, had, &mid, r);
		expect_safe(f, old, x, &mix);
		rt_mtrees_free(&mix);
		expect_safe(f, plan->kind == RT_PLAN_ANY_ORDER ? any : t, x, &mid);
		mix = mixture(f, &mid, &new, r);
		expect_safe(f, t, x, &mix);
		rt_mtrees_free(&mix);
		rt_tables_free(any);
	}
	rt_mtrees_free(&mid);
	rt_mtrees_free(&new);
}

static bool is_whole(const struct fab *f)
{
	uint32_t *dist = mem_array(f->nnodes, sizeof(*dist));
	bool whole = true;

	fab_distances(f, f->switches[0], dist);
	for (uint32_t s = 0; s < f->nswitches; s++)
		whole &= dist[f->switches[s]] != UINT32_MAX;
	free(dist);
	return whole;
}

/* A link or switch goes; ranks stay as far as they can, or are those of a new start. */
static void check_failure(struct fab_gen gen, uint64_t seed, unsigned *pruned, unsigned *planned)
{
	struct fab *whole = world_make(gen), *f;
	struct world_down down = world_down_new(whole);
	struct rng r;
	uint64_t *rank = mem_array(whole->nswitches, sizeof(*rank)),
		 *carried = mem_array(whole->nswitches, sizeof(*rank)),
		 *rank2 = mem_array(whole->nswitches, sizeof(*rank));
	node_id root = whole->switches[0];
	struct rt_tables *t, *old, *new;
	struct rt_plan plan = {0};
	struct parties x;
	rt_mtrees trees, had;
	struct err e;

	rng_seed(&r, seed, 4);
	rt_updown_rank(whole, root, rank);
	t = world_fera(whole, rank);
	x = parties_new(whole, 10, &r, true);
	parties_place(&x, whole, 0);
	trees = trees_make(whole, t, rank, &x, NULL);
	world_change(whole, &down, &r);
	f = world_now(whole, &down);
	rt_updown_rank_carry(whole, rank, f, carried);
	root = rt_root_choose(f, NULL, 0, FAB_NONE);
	if (seed % 2)
		rt_updown_rank_keep(f, root, carried, rank2);
	else
		rt_updown_rank(f, root, rank2);
	old = rt_tables_carry(whole, t, f);
	new = world_fera(f, rank2);
	had = trees_carry(whole, &trees, f);
	parties_place(&x, f, 0);
	if (old->top_lid == new->top_lid && is_whole(f) &&
	    !rt_plan(f, old, new, rank2, NULL, 1, &plan, &e)) {
		check_change(f, &had, &x, old, new, rank2, &plan, &r, pruned);
		++*planned;
	}
	rt_plan_free(&plan);
	rt_mtrees_free(&had);
	rt_mtrees_free(&trees);
	parties_free(&x);
	rt_tables_free(t);
	rt_tables_free(old);
	rt_tables_free(new);
	free(rank);
	free(carried);
	free(rank2);
	fab_free(f);
	fab_free(whole);
	world_down_free(&down);
}

TEST(no_mixture_of_trees_has_a_loop_or_a_cycle)
{
	unsigned pruned = 0, planned = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		check_failure(
			(struct fab_gen){
				.kind = "irregular", .dims = {16}, .ports = 8, .seed = seed},
			seed, &pruned, &planned);
		check_failure((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, seed, &pruned,
			      &planned);
		check_failure((struct fab_gen){.kind = "torus", .dims = {4, 4}}, seed, &pruned,
			      &planned);
	}
	assert_true(planned > 100);
	assert_true(pruned > 0);
}

/* ---- the verifier itself ---- */

TEST(the_verifier_finds_faults)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {4}});
	struct rt_member two[2] = {{fab_port_id(f, f->nswitches, 1), true},
				   {fab_port_id(f, f->nswitches + 1, 1), true}};
	struct rt_group g = {IBA_LID_MCAST_FIRST, 0, two, 2};
	rt_mtrees trees = {0};
	struct rt_mtree x = {.mlid = IBA_LID_MCAST_FIRST};
	struct rt_mreport r;

	rt_multicast_verify(f, NULL, NULL, &g, 1, &trees, &r);
	assert_false(r.ok);
	assert_true(r.missing > 0);
	/* Every port of every switch: a ring. */
	for (uint32_t s = 0; s < f->nswitches; s++) {
		struct rt_branch b = {.sw = s};

		for (unsigned p = 1; p <= f->nodes[f->switches[s]].nports; p++)
			if (f->ports[fab_port_id(f, f->switches[s], p)].peer != FAB_NONE)
				rt_ports_add(&b.ports, p);
		vec_push(&x.at, b);
	}
	vec_push(&trees, x);
	rt_multicast_verify(f, NULL, NULL, &g, 1, &trees, &r);
	assert_false(r.ok);
	assert_true(r.loops > 0);
	assert_true(r.cyclic > 0);
	/* One link less: no loop, but hosts that are no members get copies. */
	for (unsigned p = 1; p <= world_ports(f, 0); p++)
		if (world_peer(f, 0, p) == 1) {
			port_id q = f->ports[fab_port_id(f, f->switches[0], p)].peer;

			rt_ports_drop(&trees.at[0].at.at[0].ports, p);
			rt_ports_drop(&trees.at[0].at.at[1].ports, f->ports[q].num);
		}
	rt_multicast_verify(f, NULL, NULL, &g, 1, &trees, &r);
	assert_false(r.ok);
	assert_int_equal(r.loops, 0);
	assert_true(r.strangers > 0);
	/* A port without a link. */
	rt_ports_add(&trees.at[0].at.at[0].ports, 200);
	rt_multicast_verify(f, NULL, NULL, &g, 1, &trees, &r);
	assert_false(r.ok);
	rt_mtrees_free(&trees);
	fab_free(f);
}

static uint8_t port_to(const struct fab *f, uint32_t sw, uint32_t peer)
{
	unsigned p = 1;

	while (p < world_ports(f, sw) && world_peer(f, sw, p) != peer)
		p++;
	return (uint8_t)p;
}

/* From sw to the next one and from there to the one behind it, clockwise: packets for a LID that no port has. */
static void lead(const struct fab *f, struct rt_tables *t, uint32_t lid, uint32_t sw)
{
	rt_row(t, sw)[lid] = port_to(f, sw, (sw + 1) % 4);
	rt_row(t, (sw + 1) % 4)[lid] = port_to(f, (sw + 1) % 4, (sw + 2) % 4);
}

/* Two switches of a tree and the link between them. */
static void connect_two(const struct fab *f, struct rt_mtree *x, uint32_t a, uint32_t b)
{
	rt_ports_add(&x->at.at[a].ports, port_to(f, a, b));
	rt_ports_add(&x->at.at[b].ports, port_to(f, b, a));
}

/* Hosts left, also the one that had the last LID: packets for them go round half of a ring, and a tree round the other half. */
TEST(packets_for_hosts_that_are_gone_and_a_tree_close_no_cycle)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {4}});
	struct rt_member all[4];
	struct rt_group g = {IBA_LID_MCAST_FIRST, 0, all, 4};
	uint32_t gone = fab_top_lid(f) + 1;
	rt_mtrees trees = {0}, built = {0};
	struct rt_mtree x = {.mlid = IBA_LID_MCAST_FIRST};
	struct rt_mreport r;
	struct rt_tables *t = rt_tables_new(4, gone - 1);

	lead(f, t, gone, 1);	 /* 1 -> 2 -> 3 */
	lead(f, t, gone + 1, 2); /* 2 -> 3 -> 0 */
	for (uint32_t s = 0; s < 4; s++) {
		struct rt_branch b = {.sw = s};

		all[s] = (struct rt_member){fab_port_id(f, f->nswitches + s, 1), true};
		rt_ports_add(&b.ports, port_to(f, s, UINT32_MAX));
		vec_push(&x.at, b);
	}
	connect_two(f, &x, 3, 0);
	connect_two(f, &x, 0, 1);
	connect_two(f, &x, 1, 2);
	vec_push(&trees, x);
	rt_multicast_verify(f, t, NULL, &g, 1, &trees, &r);
	assert_int_equal(r.missing + r.doubled + r.strangers + r.loops + r.dead, 0);
	assert_true(r.cyclic > 0);
	assert_int_equal(
		rt_multicast(&(struct rt_multicast){.f = f, .t = t, .groups = &g, .ngroups = 1},
			     &built),
		0);
	rt_multicast_verify(f, t, NULL, &g, 1, &built, &r);
	assert_true(r.ok);
	rt_mtrees_free(&trees);
	rt_mtrees_free(&built);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_over_ranks),
		cmocka_unit_test(trees_inside_dependencies),
		cmocka_unit_test(trees_are_spread),
		cmocka_unit_test(a_join_adds_a_branch_and_a_leave_removes_one),
		cmocka_unit_test(switches_without_room_are_left_out),
		cmocka_unit_test(no_mixture_of_trees_has_a_loop_or_a_cycle),
		cmocka_unit_test(the_verifier_finds_faults),
		cmocka_unit_test(packets_for_hosts_that_are_gone_and_a_tree_close_no_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
