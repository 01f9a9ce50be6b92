/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stages in which LIDs move, against every mixture of old and new entries that they allow. State: struct
 * scene, one for each test. The search for cycles is the verifier's (cdg.c), which the plan does not use.
 * Covers: moves_plan.c, moves_deps.c
 *
 * At stage k an entry is old or new as its stage says, both at stage k. A packet that waits at a switch may have
 * been sent to it by any entry in force since the last drain. All these pairs, over all LIDs, go into one
 * graph for each stage: what has no cycle there has none in any mixture.
 */
#include "route_fixture.h"
#include "route/cdg.h"
#include "route/moves_priv.h"

enum { MOVES = 6 };

struct scene {
	struct fab *f;
	uint64_t *rank;
	struct rt_tables *t;
	struct rt_move_deps *deps;
	uint16_t *hosts; /* LIDs */
	uint32_t nhosts;
	struct rng rng;
	rt_move_entries e;
	struct rt_moves_plan p;
	/* figures */
	unsigned batches, stages, most, strict, least, without, bad, mixtures;
};

static void hosts_find(struct scene *x)
{
	x->hosts = mem_array(x->f->nnodes, sizeof(*x->hosts));
	for (node_id n = 0; n < x->f->nnodes; n++)
		if (!fab_is_switch(x->f, n))
			x->hosts[x->nhosts++] = x->f->ports[fab_port_id(x->f, n, 1)].lid;
}

static struct scene scene_make(struct fab_gen g, uint64_t seed)
{
	struct scene x = {0};

	g.seed = seed;
	x.f = world_make(g);
	x.rank = mem_array(x.f->nswitches, sizeof(*x.rank));
	rt_updown_rank(x.f, rt_root_centre(x.f), x.rank);
	x.t = world_fera(x.f, x.rank);
	x.deps = rt_move_deps_new(x.f, x.t);
	rng_seed(&x.rng, seed, 14);
	hosts_find(&x);
	return x;
}

static void scene_free(struct scene *x)
{
	vec_free(&x->e);
	rt_move_deps_free(x->deps);
	rt_tables_free(x->t);
	free(x->hosts);
	free(x->rank);
	fab_free(x->f);
}

static int plan(struct scene *x, bool ranks, bool deps)
{
	struct err e = {{0}};
	int rc = rt_moves_plan(x->f, x->t, ranks ? x->rank : NULL, deps ? x->deps : NULL, &x->e,
			       &x->p, &e);

	if (rc)
		assert_true(rc == -EDEADLK && e.text[0]);
	return rc;
}

/* ---- every mixture that stages allow ---- */

/* Values of an entry as bits: 1 old, 2 new. */
static unsigned values_now(const struct rt_move_entry *x, unsigned k)
{
	return x->stage < k ? 2 : x->stage > k ? 1 : 3;
}

static unsigned values_under_way(const struct scene *c, const struct rt_move_entry *x, unsigned k)
{
	unsigned v = values_now(x, k);

	for (unsigned i = x->stage + 1u; i <= k; i++)
		if (c->p.drain >> MIN(i, 63u) & 1)
			return v;
	return v | 1;
}

/* The ports of an entry that its values stand for. */
static unsigned ports_of(const struct scene *c, const struct rt_move_entry *const *at, uint32_t s,
			 uint32_t lid, int k, bool under_way, unsigned port[2])
{
	const struct rt_move_entry *x = at[s];
	unsigned v, n = 0;

	if (!x) {
		port[0] = rt_row(c->t, s)[lid];
		return 1;
	}
	v = under_way ? values_under_way(c, x, (unsigned)k) : values_now(x, (unsigned)k);
	if (v & 1)
		port[n++] = x->from;
	if (v & 2)
		port[n++] = x->to;
	return n;
}

static void graph_lid(const struct scene *c, struct cdg *g, uint32_t lid, int k)
{
	const struct rt_move_entry **at = mem_zarray(c->f->nswitches, sizeof(*at));
	unsigned out[2], next[2], n, m;

	for (size_t i = 0; i < c->e.n; i++)
		if (c->e.at[i].lid == lid)
			at[c->e.at[i].sw] = &c->e.at[i];
	for (uint32_t s = 0; s < c->f->nswitches; s++) {
		n = ports_of(c, at, s, lid, k, true, out);
		for (unsigned a = 0; a < n; a++) {
			uint32_t to = world_peer(c->f, s, out[a]);

			if (to == FAB_NONE)
				continue;
			m = ports_of(c, at, to, lid, k, false, next);
			for (unsigned b = 0; b < m; b++)
				if (world_peer(c->f, to, next[b]) != FAB_NONE)
					cdg_add(g, fab_port_id(c->f, c->f->switches[s], out[a]), 0,
						next[b], 0);
		}
	}
	free(at);
}

static bool stage_has_cycle(const struct scene *c, int k)
{
	struct cdg g;
	cdg_path path = {0};
	uint32_t channels, n;

	cdg_init(&g, c->f, 1);
	for (uint32_t lid = 1; lid <= c->t->top_lid; lid++)
		graph_lid(c, &g, lid, k);
	n = cdg_cycles(&g, &path, &channels);
	vec_free(&path);
	cdg_free(&g);
	return n;
}

/* ---- single mixtures ---- */

static bool loops(const struct scene *c, const struct rt_tables *t, uint32_t lid)
{
	for (uint32_t s = 0; s < c->f->nswitches; s++) {
		uint32_t at = s, hops = 0;

		while (at != FAB_NONE && hops++ <= c->f->nswitches)
			at = world_peer(c->f, at, rt_row(t, at)[lid]);
		if (at != FAB_NONE)
			return true;
	}
	return false;
}

/* Entries before stage `from` are new, those up to `to` are drawn; a loop, or a cycle of dependencies. */
static bool drawn_is_bad(struct scene *c, unsigned from, unsigned to)
{
	rt_move_entries drawn = {0};
	struct rt_report r;
	bool bad = false;

	for (size_t i = 0; i < c->e.n; i++)
		if (c->e.at[i].stage < from || (c->e.at[i].stage <= to && rng_below(&c->rng, 2)))
			vec_push(&drawn, c->e.at[i]);
	rt_moves_apply(c->t, &drawn);
	for (size_t i = 0; i < c->e.n && !bad; i++)
		bad = (!i || c->e.at[i].lid != c->e.at[i - 1].lid) &&
		      loops(c, c->t, c->e.at[i].lid);
	if (!bad) {
		r = world_verify(c->f, c->t, (struct rt_verify_opts){.threads = 1});
		bad = r.cycles || r.loops;
		rt_report_free(&r);
	}
	rt_moves_undo(c->t, &drawn);
	vec_free(&drawn);
	return bad;
}

static void plan_holds(struct scene *c)
{
	for (unsigned k = 0; k < c->p.stages; k++) {
		assert_false(stage_has_cycle(c, (int)k));
		assert_false(drawn_is_bad(c, k, k));
	}
	assert_int_equal(c->p.ordered, c->p.stages > 1);
	assert_int_equal(c->p.ordered, c->p.why[0] != 0);
	for (size_t i = 0; i < c->e.n; i++)
		assert_true(c->e.at[i].stage < c->p.stages);
}

/*
 * Stages that no plan can spare: where a switch sends by its old entry to the one that sends back by its new
 * entry, the first must change first, or packets go to and fro. The longest row of such pairs, and one.
 */
static unsigned stages_needed(const struct scene *c)
{
	unsigned *level = mem_zarray(c->e.n, sizeof(*level)), most = 0;

	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < c->e.n; i++)
			for (size_t k = 0; k < c->e.n; k++) {
				const struct rt_move_entry *x = &c->e.at[i], *y = &c->e.at[k];

				if (x->lid == y->lid && level[k] <= level[i] &&
				    world_peer(c->f, x->sw, x->from) == y->sw &&
				    world_peer(c->f, y->sw, y->to) == x->sw) {
					level[k] = level[i] + 1;
					most = MAX(most, level[k]);
					again = true;
				}
			}
	}
	free(level);
	return c->e.n ? most + 1 : 0;
}

/* ---- random batches ---- */

static bool is_in(const struct rt_move *m, size_t n, uint16_t lid)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].lid == lid)
			return true;
	return false;
}

static uint16_t any_host(struct scene *c)
{
	return c->hosts[rng_below(&c->rng, c->nhosts)];
}

/* Up to three swaps of hosts' LIDs, or copies. */
static size_t batch_draw(struct scene *c, struct rt_move m[MOVES])
{
	size_t n = 0, want = 1 + rng_below(&c->rng, 3);

	for (size_t i = 0; i < want; i++) {
		uint16_t a = any_host(c), b = any_host(c);

		if (a == b || is_in(m, n, a) || is_in(m, n, b))
			continue;
		m[n++] = (struct rt_move){a, b};
		m[n++] = (struct rt_move){b, a};
	}
	return n;
}

static void batch_check(struct scene *c, const struct rt_move *m, size_t n)
{
	unsigned strict;

	c->e.n = 0;
	rt_moves_effects(c->f, c->t, m, n, &c->e);
	assert_int_equal(plan(c, true, false), 0); /* ranks alone */
	plan_holds(c);
	assert_false(c->p.drain_after);
	strict = c->p.stages;
	if (!plan(c, false, true)) { /* dependencies alone */
		plan_holds(c);
		c->without++;
	}
	assert_int_equal(plan(c, true, true), 0);
	plan_holds(c);
	assert_true(c->p.stages <= strict);
	c->least += stages_needed(c);
	assert_true(c->p.stages >= stages_needed(c));
	c->batches++;
	c->stages += c->p.stages;
	c->strict += strict;
	c->most = MAX(c->most, c->p.stages);
	for (int i = 0; i < 4; i++) {
		c->mixtures++;
		c->bad += drawn_is_bad(c, 0, UINT16_MAX);
	}
}

static void batches_run(struct scene *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct rt_move m[MOVES];
		size_t moves = batch_draw(c, m);

		batch_check(c, m, moves);
		rt_move_deps_apply(c->deps, c->t, &c->e);
		rt_moves_apply(c->t, &c->e);
	}
}

/* The dependencies that followed all batches are those of the tables. */
static void deps_are_those_of(const struct scene *c)
{
	struct rt_move_deps *now = rt_move_deps_new(c->f, c->t);

	assert_memory_equal(now->count, c->deps->count,
			    (size_t)c->f->nports * now->width * sizeof(*now->count));
	assert_memory_equal(now->bits, c->deps->bits,
			    (size_t)c->f->nports * now->words * sizeof(*now->bits));
	rt_move_deps_free(now);
}

static void family_runs(const char *name, struct fab_gen g, unsigned n)
{
	struct scene c = scene_make(g, 1);

	batches_run(&c, n);
	deps_are_those_of(&c);
	print_message(
		"# %s: %u batches, %u stages (%u by ranks alone, %u needed for loops of two), at most %u; without ranks %u "
		"found; of %u mixtures without stages %u bad\n",
		name, c.batches, c.stages, c.strict, c.least, c.most, c.without, c.mixtures, c.bad);
	assert_true(c.bad > 0);
	assert_true(c.without > 0);
	scene_free(&c);
}

TEST(no_mixture_on_rings_meshes_and_tori_closes_a_cycle)
{
	family_runs("ring",
		    (struct fab_gen){.kind = "ring", .dims = {8}, .hosts = 2, .has_hosts = true},
		    60);
	family_runs("mesh", (struct fab_gen){.kind = "mesh", .dims = {3, 3}}, 60);
	family_runs("torus", (struct fab_gen){.kind = "torus", .dims = {4, 4}}, 40);
}

TEST(no_mixture_on_trees_closes_a_cycle)
{
	family_runs("mtree", (struct fab_gen){.kind = "mtree", .dims = {4, 3}}, 40);
	family_runs("kary", (struct fab_gen){.kind = "kary", .dims = {2, 4}}, 40);
	family_runs("clos", (struct fab_gen){.kind = "clos", .dims = {3, 3, 6}}, 40);
}

TEST(no_mixture_on_irregular_fabrics_closes_a_cycle)
{
	family_runs("irregular 12",
		    (struct fab_gen){.kind = "irregular",
				     .dims = {12},
				     .ports = 6,
				     .hosts = 18,
				     .has_hosts = true},
		    60);
	family_runs("dragonfly", (struct fab_gen){.kind = "dragonfly", .dims = {1, 3, 1}}, 40);
	family_runs("hypercube", (struct fab_gen){.kind = "hypercube", .dims = {3}}, 40);
}

/* ---- by hand ---- */

static void effects(struct scene *c, const struct rt_move *m, size_t n)
{
	c->e.n = 0;
	rt_moves_effects(c->f, c->t, m, n, &c->e);
}

/* Hosts 0 and 1 have one leaf, 2 and 3 the next one of the same pod, 15 is in another pod. */
TEST(stages_on_a_tree_by_distance)
{
	struct scene c = scene_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, 1);
	const uint16_t *h = c.hosts;

	effects(&c, &(struct rt_move){h[0], h[1]}, 1);
	assert_int_equal(plan(&c, true, true), 0);
	assert_int_equal(c.p.stages, 1);
	assert_true(!c.p.ordered && !c.p.drain && !c.p.drain_after && !c.p.why[0]);
	effects(&c, &(struct rt_move){h[0], h[2]}, 1);
	assert_int_equal(plan(&c, true, true), 0);
	assert_int_equal(c.p.stages, 3);
	plan_holds(&c);
	effects(&c, &(struct rt_move){h[0], h[15]}, 1);
	assert_int_equal(plan(&c, true, true), 0);
	assert_in_range(c.p.stages, 3, 5);
	assert_true(c.p.ordered);
	assert_non_null(strstr(c.p.why, "must change at switch"));
	assert_int_equal(rt_moves_blocks(&c.e, NULL), c.e.n);
	plan_holds(&c);
	scene_free(&c);
}

TEST(starts_and_stops_need_no_order)
{
	struct scene c = scene_make((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, 1);
	struct rt_move m[] = {{90, c.hosts[0]}, {91, c.hosts[9]}, {c.hosts[3], 0}};

	rt_moves_reach(c.t, 91);
	effects(&c, m, 3);
	assert_true(c.e.n >= 3 * c.f->nswitches);
	assert_int_equal(plan(&c, true, true), 0);
	assert_int_equal(c.p.stages, 1);
	plan_holds(&c);
	assert_int_equal(plan(&c, false, false), 0);
	assert_int_equal(c.p.stages, 1);
	rt_move_deps_apply(c.deps, c.t, &c.e);
	rt_moves_apply(c.t, &c.e);
	deps_are_those_of(&c);
	effects(&c, m, 3);
	assert_int_equal(c.e.n, 0);
	assert_int_equal(plan(&c, true, true), 0);
	assert_int_equal(c.p.stages, 0);
	scene_free(&c);
}

/* More LIDs than are tried one by one; all hosts of the first half swap with the second. */
TEST(a_large_batch_is_ordered_by_ranks)
{
	struct scene c = scene_make((struct fab_gen){.kind = "mtree", .dims = {4, 4}}, 1);
	struct rt_move m[32];
	uint32_t half = c.nhosts / 2, blocks;

	assert_int_equal(c.nhosts, 32);
	for (uint32_t i = 0; i < c.nhosts; i++)
		m[i] = (struct rt_move){c.hosts[i], c.hosts[(i + half) % c.nhosts]};
	effects(&c, m, c.nhosts);
	blocks = rt_moves_blocks(&c.e, NULL);
	assert_int_equal(plan(&c, true, true), 0);
	plan_holds(&c);
	assert_false(c.p.drain_after);
	assert_true(rt_moves_blocks(&c.e, NULL) >= blocks);
	scene_free(&c);
}

/* The result depends on the tables, not on what was planned before with the same dependencies. */
TEST(plans_leave_no_trace)
{
	struct scene c = scene_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}, 3);
	struct rt_move_deps *used = c.deps;

	batches_run(&c, 20);
	for (int i = 0; i < 20; i++) {
		struct rt_move m[MOVES];
		rt_move_entries first = {0};

		effects(&c, m, batch_draw(&c, m));
		assert_int_equal(plan(&c, i % 2, true), 0);
		for (size_t k = 0; k < c.e.n; k++)
			vec_push(&first, c.e.at[k]);
		c.deps = rt_move_deps_new(c.f, c.t);
		assert_int_equal(plan(&c, i % 2, true), 0);
		assert_int_equal(first.n, c.e.n);
		for (size_t k = 0; k < first.n; k++)
			assert_int_equal(first.at[k].stage, c.e.at[k].stage);
		rt_move_deps_free(c.deps);
		c.deps = used;
		vec_free(&first);
	}
	scene_free(&c);
}

/* Four switches in a ring, all routes clockwise: the tables in force can deadlock themselves. */
static struct scene clockwise(void)
{
	const uint8_t links[][4] = {{0, 1, 1, 2}, {1, 1, 2, 2}, {2, 1, 3, 2}, {3, 1, 0, 2}};
	struct scene c = {.f = world_links(4, 3, links, 4)};

	hosts_find(&c);
	c.t = rt_tables_new(4, fab_top_lid(c.f));
	for (uint32_t s = 0; s < 4; s++)
		for (uint32_t k = 0; k < 4; k++)
			rt_row(c.t, s)[c.hosts[k]] = s == k ? 3 : 1;
	c.deps = rt_move_deps_new(c.f, c.t);
	return c;
}

TEST(tables_with_a_cycle_and_without_ranks_have_no_order)
{
	struct scene c = clockwise();

	effects(&c, &(struct rt_move){c.hosts[0], c.hosts[1]}, 1);
	assert_int_equal(plan(&c, false, true), -EDEADLK);
	assert_int_equal(plan(&c, false, false), -EDEADLK);
	effects(&c, &(struct rt_move){c.hosts[0], 0}, 1);
	assert_int_equal(plan(&c, false, true), 0);
	assert_int_equal(c.p.stages, 1);
	scene_free(&c);
}

/* The same ring with a lane for each destination: each alone is a line. */
TEST(lanes_are_followed_where_ranks_are_not_known)
{
	struct scene c = clockwise();

	rt_lanes_add(c.t, c.f, 4, 1);
	for (uint8_t k = 0; k < 4; k++)
		rt_sl_row(c.t, 0)[c.hosts[k]] = k;
	effects(&c, &(struct rt_move){c.hosts[0], c.hosts[1]}, 1);
	assert_int_equal(c.e.n, 2);
	assert_int_equal(plan(&c, false, false), 0);
	assert_int_equal(c.p.stages, 2); /* switch 1 delivers first, then switch 0 sends there */
	assert_int_equal(c.e.at[0].stage, 1);
	assert_int_equal(c.e.at[1].stage, 0);
	scene_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_mixture_on_rings_meshes_and_tori_closes_a_cycle),
		cmocka_unit_test(no_mixture_on_trees_closes_a_cycle),
		cmocka_unit_test(no_mixture_on_irregular_fabrics_closes_a_cycle),
		cmocka_unit_test(stages_on_a_tree_by_distance),
		cmocka_unit_test(starts_and_stops_need_no_order),
		cmocka_unit_test(a_large_batch_is_ordered_by_ranks),
		cmocka_unit_test(plans_leave_no_trace),
		cmocka_unit_test(tables_with_a_cycle_and_without_ranks_have_no_order),
		cmocka_unit_test(lanes_are_followed_where_ranks_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
