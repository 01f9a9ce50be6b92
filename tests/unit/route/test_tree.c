/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine tree on fat trees of many shapes, whole and damaged, against the verifier, against levels that the test knows, and
 * against all shifts of the hosts; and what it refuses. Keeps no state; each test makes its own fabrics. Does not measure
 * time.
 * Covers: tree.c, tree_graph.c, tree_levels.c, tree_rank.c, tree_shape.c, tree_number.c, tree_search.c
 */
#include "tree_fixture.h"

static const struct pgft shapes[] = {
	{1, {6}, {0}, {0}},			 /* one switch */
	{2, {3, 6}, {3}, {1}},			 /* 6-port 2-tree */
	{2, {4, 8}, {2}, {2}},			 /* parallel links */
	{3, {2, 2, 4}, {2, 2}, {1, 1}},		 /* 4-port 3-tree */
	{3, {4, 4, 8}, {4, 4}, {1, 1}},		 /* 8-port 3-tree */
	{3, {4, 3, 5}, {2, 3}, {2, 2}},		 /* other widths, parallel links at two levels */
	{3, {6, 4, 3}, {6, 4}, {1, 1}},		 /* few pods */
	{4, {2, 2, 2, 2}, {2, 2, 2}, {1, 1, 1}}, /* 2-ary 4-tree */
	{4, {3, 3, 3, 2}, {3, 3, 3}, {1, 1, 1}}, /* 3-ary, wide */
	{5, {2, 2, 2, 2, 2}, {2, 2, 2, 2}, {1, 1, 1, 1}},
};

static struct rt_tables *tree(const struct fab *f, unsigned threads)
{
	struct rt_opts o = {.root = FAB_NONE, .threads = threads};
	struct rt_tables *t = NULL;
	struct err e;

	if (rt_compute(&rt_tree, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static uint64_t *tree_ranks_of(const struct fab *f)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	struct err e;

	if (rt_engine_ranks(&rt_tree, f, &(struct rt_opts){.root = FAB_NONE}, rank, &e))
		fail_msg("%s", e.text);
	return rank;
}

/* Tables that the verifier finds good with the engine's ranks. */
static struct rt_tables *good(const struct fab *f)
{
	struct rt_tables *t = tree(f, 1);
	uint64_t *rank = tree_ranks_of(f);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.rank = rank});

	for (uint32_t i = 0; !r.ok && i < r.nproblems; i++)
		print_error("problem: %s\n", r.problem[i]);
	assert_true(r.ok);
	rt_report_free(&r);
	free(rank);
	return t;
}

/* ---- routes, followed ---- */

enum { LONGEST = 64 };

/* The output ports from one host port to another; how many. */
static unsigned follow(const struct fab *f, const struct rt_tables *t, port_id from, port_id to,
		       port_id out[LONGEST])
{
	port_id at = f->ports[from].peer;
	unsigned n = 0;

	while (at != to) {
		uint32_t s = f->switch_index[f->ports[at].node];

		assert_true(s != FAB_NONE && n < LONGEST);
		out[n] = fab_port_id(f, f->switches[s], rt_row(t, s)[f->ports[to].lid]);
		at = f->ports[out[n++]].peer;
		assert_true(at != FAB_NONE);
	}
	return n;
}

static uint32_t hosts_list(const struct fab *f, uint64_t below, port_id *host)
{
	uint32_t n = 0;

	for (node_id i = 0; i < f->nnodes; i++)
		if (f->nodes[i].type == IBA_NODE_CA && f->nodes[i].guid < below &&
		    f->ports[fab_port_id(f, i, 1)].peer != FAB_NONE)
			host[n++] = fab_port_id(f, i, 1);
	return n;
}

struct shares {
	uint32_t busiest; /* flows over the busiest link of any shift */
	double mean;	  /* share of a flow of its busiest link */
};

static double shift_measure(const struct fab *f, const struct rt_tables *t, const port_id *host,
			    uint32_t n, uint32_t by, uint32_t *load, uint32_t *busiest)
{
	port_id out[LONGEST];
	double sum = 0;

	memset(load, 0, f->nports * sizeof(*load));
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = follow(f, t, host[i], host[(i + by) % n], out); k-- > 0;)
			load[out[k]]++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t most = 1;

		for (unsigned k = follow(f, t, host[i], host[(i + by) % n], out); k-- > 0;)
			most = MAX(most, load[out[k]]);
		*busiest = MAX(*busiest, most);
		sum += 1.0 / most;
	}
	return sum / n;
}

/* All shifts of the hosts whose GUIDs are below a limit. */
static struct shares shifts(const struct fab *f, const struct rt_tables *t, uint64_t below)
{
	port_id *host = mem_array(f->nnodes, sizeof(*host));
	uint32_t *load = mem_array(f->nports, sizeof(*load)), n = hosts_list(f, below, host);
	struct shares s = {0, 0};

	for (uint32_t by = 1; by < n; by++)
		s.mean += shift_measure(f, t, host, n, by, load, &s.busiest) / (n - 1);
	free(host);
	free(load);
	return s;
}

/* ---- whole trees ---- */

TEST(all_shifts_are_perfect_on_whole_trees_in_any_order_of_switches_and_ports)
{
	uint32_t of[4096];

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (uint64_t seed = 0; seed < 4; seed++) {
			struct forest x = {0};
			struct fab *f;
			struct rt_tables *t;

			forest_add(&x, &shapes[i]);
			f = forest_fab(&x, seed, of);
			t = good(f);
			assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
			rt_tables_free(t);
			fab_free(f);
			forest_free(&x);
		}
}

TEST(tapered_trees_share_each_link_evenly)
{
	static const struct {
		struct pgft g;
		uint32_t busiest;
	} tapered[] = {
		{{2, {6, 8}, {3}, {1}}, 2},	     {{2, {6, 8}, {1}, {2}}, 3},
		{{3, {4, 4, 4}, {2, 4}, {1, 1}}, 2}, {{3, {4, 4, 4}, {2, 2}, {1, 1}}, 4},
		{{3, {4, 4, 4}, {4, 2}, {1, 1}}, 2},
	};
	uint32_t of[4096];

	for (size_t i = 0; i < ARRAY_LEN(tapered); i++) {
		struct forest x = {0};
		struct fab *f;
		struct rt_tables *t;

		forest_add(&x, &tapered[i].g);
		f = forest_fab(&x, i, of);
		t = good(f);
		assert_int_equal(shifts(f, t, UINT64_MAX).busiest, tapered[i].busiest);
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
	}
}

TEST(the_generators_trees_are_perfect_too)
{
	const struct fab_gen gens[] = {
		{.kind = "mtree", .dims = {8, 3}},    {.kind = "mtree", .dims = {6, 2}},
		{.kind = "mtree", .dims = {4, 4}},    {.kind = "kary", .dims = {3, 3}},
		{.kind = "clos", .dims = {5, 4, 10}}, {.kind = "star", .dims = {5}}};

	for (size_t i = 0; i < ARRAY_LEN(gens); i++) {
		struct fab *f = make(gens[i]);
		struct rt_tables *t = good(f);

		assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
		rt_tables_free(t);
		fab_free(f);
	}
}

/* Four pods of four leaves and four upper switches, each of which is linked to all four top switches: there are several
 * ways down as well. */
TEST(a_core_in_which_all_are_linked_is_perfect_too)
{
	static const struct pgft pod = {2, {4, 4}, {4}, {1}};
	uint32_t of[4096];

	for (uint64_t seed = 0; seed < 4; seed++) {
		struct forest x = {0};
		struct rt_tables *t;
		struct fab *f;

		for (unsigned p = 0; p < 4; p++)
			forest_add(&x, &pod);
		for (uint32_t top = 32; top < 36; top++)
			for (uint32_t s = 0; s < 32; s++)
				if (x.level[s])
					vec_push(&x.links, (struct forest_link){s, top, false});
		memset(x.level + 32, 2, 4);
		x.n = 36;
		f = forest_fab(&x, seed, of);
		t = good(f);
		assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
	}
}

/* ---- special endpoints ---- */

static void add_endpoint(struct forest *x, uint32_t sw, uint8_t type, uint8_t flags)
{
	vec_push(&x->hosts, (struct forest_host){sw, FAB_NONE, type, flags, true});
}

TEST(special_endpoints_shift_no_level_and_disturb_no_balance)
{
	static const struct pgft g = {3, {4, 4, 8}, {4, 4}, {1, 1}};
	uint32_t of[4096];

	for (uint64_t seed = 0; seed < 6; seed++) {
		struct forest x = {0};
		uint64_t own;
		struct rt_tables *t;
		struct fab *f;
		struct rng r;

		rng_seed(&r, seed, 1);
		forest_add(&x, &g);
		own = 0x100000 + 16 * x.hosts.n;
		for (uint32_t s = 0; s < x.n; s++)
			add_endpoint(&x, s, IBA_NODE_CA, FAB_SHARP_AN);
		for (unsigned i = 0; i < 4; i++) { /* top switches are the last 16 */
			add_endpoint(&x, x.n - 1 - rng_below(&r, 16), IBA_NODE_CA, 0);
			add_endpoint(&x, 32 + rng_below(&r, x.n - 32), IBA_NODE_ROUTER, 0);
			add_endpoint(&x, 32 + rng_below(&r, x.n - 32), IBA_NODE_CA, 0);
		}
		f = forest_fab(&x, seed, of);
		t = good(f);
		assert_int_equal(shifts(f, t, own).busiest, 1);
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
	}
}

TEST(leaves_with_few_hosts_or_none_stay_leaves)
{
	static const struct pgft g = {3, {4, 4, 6}, {4, 4}, {1, 1}};
	uint32_t of[4096];

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct forest x = {0}, y = {0};
		struct rt_tables *t;
		struct fab *f;
		struct rng r;

		rng_seed(&r, seed, 2);
		forest_add(&x, &g);
		forest_add(&y, &g);
		y.hosts.n = 0;
		for (size_t i = 0; i < x.hosts.n;
		     i++) { /* the first pod has one host a leaf, others lack some */
			bool first_pod = x.hosts.at[i].sw < 4;

			if (first_pod ? i % 4 == 0 : x.hosts.at[i].sw % 5 || !rng_below(&r, 4))
				vec_push(&y.hosts, x.hosts.at[i]);
		}
		f = forest_fab(&y, seed, of);
		t = good(f);
		assert_true(shifts(f, t, UINT64_MAX).mean > 0.9); /* the last shifts wrap round */
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
		forest_free(&y);
	}
}

/* ---- planes ---- */

TEST(two_trees_with_hosts_in_both_are_routed_each_by_itself)
{
	static const struct pgft g = {3, {3, 3, 4}, {3, 3}, {1, 1}};
	struct forest x = {0};
	uint32_t of[4096], second;
	uint64_t lids;
	struct rt_tables *t;
	struct rt_report r;
	uint64_t *rank;
	struct fab *f;

	forest_add(&x, &g);
	second = forest_add(&x, &g);
	x.hosts.n /= 2;
	for (size_t i = 0; i < x.hosts.n; i++)
		x.hosts.at[i].sw2 = x.hosts.at[i].sw + second;
	f = forest_fab(&x, 3, of);
	t = tree(f, 1);
	rank = tree_ranks_of(f);
	r = verify(f, t, (struct rt_verify_opts){.rank = rank});
	assert_int_equal(r.loops + r.down_up + r.cycles, 0);
	lids = x.hosts.n + x.n / 2; /* of each tree */
	assert_int_equal(r.unreachable, 0);
	assert_int_equal(r.apart, 2 * lids * lids);
	assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
	rt_report_free(&r);
	rt_tables_free(t);
	free(rank);
	fab_free(f);
	forest_free(&x);
}

/* ---- damage ---- */

static void damage(struct forest *x, struct rng *r, unsigned links, unsigned switches)
{
	for (size_t i = 0; i < x->links.n; i++)
		x->links.at[i].dead = rng_below(r, 1000) < links;
	for (uint32_t s = 0; s < x->n; s++)
		x->dead[s] = rng_below(r, 1000) < switches;
}

/* Switches above s by the test's levels, s too. */
static void above(const struct forest *x, uint32_t s, bool *set)
{
	memset(set, 0, x->n);
	set[s] = true;
	for (size_t i = 0; i < x->links.n; i++) { /* links are in the order of levels */
		const struct forest_link *l = &x->links.at[i];

		if (!l->dead && !x->dead[l->low] && !x->dead[l->high] && set[l->low])
			set[l->high] = true;
	}
}

static bool turns_up(const struct forest *x, const struct fab *f, const uint32_t *of,
		     const port_id *out, unsigned n)
{
	bool down = false;

	for (unsigned k = 0; k + 1 < n; k++) {
		uint8_t from = x->level[of[f->switch_index[f->ports[out[k]].node]]];
		uint8_t to = x->level[of[f->switch_index[f->ports[f->ports[out[k]].peer].node]]];

		if (to > from && down)
			return true;
		down |= to < from;
	}
	return false;
}

struct found {
	uint64_t pairs, detours;
};

/* Pairs of hosts with a way up and down take such a way. */
static void expect_levels(const struct forest *x, const struct fab *f, const uint32_t *of,
			  const struct rt_tables *t, struct found *found)
{
	port_id *host = mem_array(f->nnodes, sizeof(*host)), out[LONGEST];
	uint32_t n = hosts_list(f, UINT64_MAX, host);
	bool *a = mem_array(x->n, sizeof(*a)), *b = mem_array(x->n, sizeof(*b));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = of[f->switch_index[f->ports[f->ports[host[i]].peer].node]];

		if (i && f->ports[f->ports[host[i]].peer].node ==
				 f->ports[f->ports[host[i - 1]].peer].node)
			continue;
		above(x, from, a);
		for (uint32_t j = 0; j < n; j++) {
			uint32_t to = of[f->switch_index[f->ports[f->ports[host[j]].peer].node]];
			bool meet = false;

			above(x, to, b);
			for (uint32_t s = 0; s < x->n; s++)
				meet |= a[s] && b[s];
			if (!meet || i == j)
				continue;
			found->pairs++;
			found->detours +=
				turns_up(x, f, of, out, follow(f, t, host[i], host[j], out));
		}
	}
	free(host);
	free(a);
	free(b);
}

static bool joined(const struct fab *f)
{
	bool *in = mem_array(f->nports, sizeof(*in)), all = true;

	if (f->nswitches)
		fab_subnet(f, fab_port_id(f, f->switches[0], 0), in);
	for (uint32_t s = 0; s < f->nswitches; s++)
		all &= in[fab_port_id(f, f->switches[s], 0)];
	free(in);
	return all;
}

TEST(damaged_trees_are_routed_by_their_levels)
{
	static const unsigned links[] = {10, 50, 100, 200, 350}, switches[] = {0, 30, 100};
	/* top switches that get a place only after others */
	static const uint64_t more[] = {2934, 3757};
	struct found found = {0};
	uint32_t of[4096], routed = 0;

	for (uint64_t i = 0; i < 300 + ARRAY_LEN(more); i++) {
		uint64_t seed = i < 300 ? i + 1 : more[i - 300];
		struct forest x = {0};
		struct fab *f;
		struct rng r;

		rng_seed(&r, seed, 3);
		forest_add(&x, &shapes[rng_below(&r, ARRAY_LEN(shapes))]);
		damage(&x, &r, links[seed % 5], switches[seed % 3]);
		for (unsigned k = 0; k < 3 && seed % 2; k++)
			add_endpoint(&x, rng_below(&r, x.n), IBA_NODE_CA,
				     rng_below(&r, 2) ? FAB_SHARP_AN : 0);
		f = forest_fab(&x, seed % 4 ? seed : 0, of);
		if (joined(f) && f->nswitches) {
			struct rt_tables *t = NULL;
			struct err e = {""};

			if (rt_compute(&rt_tree, f, &(struct rt_opts){.threads = 1}, &t, &e)) {
				fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
			} else {
				rt_tables_free(t);
				t = good(f);
				expect_levels(&x, f, of, t, &found);
				rt_tables_free(t);
				routed++;
			}
		}
		fab_free(f);
		forest_free(&x);
	}
	print_message("# routed %u, pairs %llu, detours %llu\n", routed,
		      (unsigned long long)found.pairs, (unsigned long long)found.detours);
	assert_true(found.detours * 200 < found.pairs);
}

TEST(five_percent_of_dead_links_cost_less_than_with_one_root)
{
	static const struct pgft g = {3, {6, 6, 12}, {6, 6}, {1, 1}};
	uint32_t of[4096];

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct forest x = {0};
		struct shares ours, theirs;
		struct rt_tables *t;
		struct fab *f;
		struct rng r;

		rng_seed(&r, seed, 4);
		forest_add(&x, &g);
		damage(&x, &r, 50, 0);
		f = forest_fab(&x, 0, of);
		t = good(f);
		ours = shifts(f, t, UINT64_MAX);
		rt_tables_free(t);
		t = fera(f, rt_root_centre(f), 1);
		theirs = shifts(f, t, UINT64_MAX);
		rt_tables_free(t);
		assert_true(ours.mean > 0.75 && ours.mean > 1.3 * theirs.mean);
		fab_free(f);
		forest_free(&x);
	}
}

/* ---- links inside a level ---- */

TEST(a_few_cables_between_switches_of_a_level_do_not_matter)
{
	static const struct pgft g = {3, {4, 4, 8}, {4, 4}, {1, 1}};
	uint32_t of[4096];

	for (uint64_t seed = 0; seed < 6; seed++) {
		struct forest x = {0};
		struct rt_tables *t;
		struct fab *f;

		forest_add(&x, &g);
		vec_push(&x.links, (struct forest_link){1, 9 + (uint32_t)seed, false});
		if (seed % 2)
			vec_push(&x.links, (struct forest_link){35, 50, false});
		f = forest_fab(&x, seed, of);
		t = good(f);
		assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
	}
}

/* Trees of 16 to 32 cables between switches: one more between two leaves, two middle or two top switches. */
TEST(one_cable_inside_a_level_of_a_small_tree_does_not_matter)
{
	static const struct pgft trees[] = {{2, {4, 8}, {4}, {1}}, {3, {2, 2, 4}, {2, 2}, {1, 1}}};
	static const uint32_t ends[][2] = {{0, 1}, {0, 3}, {8, 9}, {8, 10}};
	uint32_t of[4096];

	for (size_t i = 0; i < ARRAY_LEN(trees) * ARRAY_LEN(ends); i++) {
		struct forest x = {0};
		struct rt_tables *t;
		struct fab *f;

		forest_add(&x, &trees[i % 2]);
		vec_push(&x.links, (struct forest_link){ends[i / 2][0], ends[i / 2][1], false});
		f = forest_fab(&x, i, of);
		t = good(f);
		assert_int_equal(shifts(f, t, UINT64_MAX).busiest, 1);
		rt_tables_free(t);
		fab_free(f);
		forest_free(&x);
	}
}

TEST(a_leaf_behind_a_leaf_is_served)
{
	static const struct pgft g = {3, {4, 4, 8}, {4, 4}, {1, 1}};
	struct forest x = {0};
	uint32_t of[4096], last;
	struct rt_tables *t;
	struct fab *f;

	forest_add(&x, &g);
	last = x.n++;
	for (unsigned i = 0; i < 3; i++)
		vec_push(&x.hosts, (struct forest_host){last, FAB_NONE, IBA_NODE_CA, 0, true});
	vec_push(&x.links, (struct forest_link){last, 3, false});
	f = forest_fab(&x, 5, of);
	t = good(f);
	assert_true(shifts(f, t, UINT64_MAX).mean > 0.85);
	rt_tables_free(t);
	fab_free(f);
	forest_free(&x);
}

/* ---- the same for all ---- */

TEST(threads_change_nothing)
{
	static const struct pgft g = {3, {4, 4, 8}, {4, 4}, {1, 1}};
	struct forest x = {0};
	uint32_t of[4096];
	struct rt_tables *one, *many;
	struct fab *f;
	struct rng r;

	rng_seed(&r, 1, 5);
	forest_add(&x, &g);
	damage(&x, &r, 100, 20);
	f = forest_fab(&x, 1, of);
	one = good(f);
	many = tree(f, 7);
	assert_int_equal(one->entries, many->entries);
	assert_memory_equal(one->lft, many->lft, (size_t)one->nswitches * one->stride);
	rt_tables_free(one);
	rt_tables_free(many);
	fab_free(f);
	forest_free(&x);
}

TEST(each_rank_is_there_once_and_one_switch_has_none_above_it)
{
	uint32_t of[4096], tops = 0;
	struct forest x = {0};
	uint64_t *rank;
	struct fab *f;
	struct rng r;

	rng_seed(&r, 2, 6);
	forest_add(&x, &shapes[8]);
	damage(&x, &r, 80, 0);
	f = forest_fab(&x, 4, of);
	assert_true(joined(f));
	rank = tree_ranks_of(f);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		bool top = true;

		for (uint32_t v = 0; v < s; v++)
			assert_true(rank[v] != rank[s]);
		for (unsigned p = 1; p <= 64; p++) {
			uint32_t v = peer_switch(f, s, p);

			top &= v == FAB_NONE || rank[v] > rank[s];
		}
		tops += top;
	}
	assert_int_equal(tops, 1);
	free(rank);
	fab_free(f);
	forest_free(&x);
}

TEST(several_lids_of_a_port_have_different_ways)
{
	struct err e;
	struct fab *f = make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct fab_builder *b = fab_builder_from(f);
	struct fab *bare, *g;
	struct rt_tables *t;
	uint32_t same = 0, pairs = 0;

	for (node_id n = 0; n < f->nnodes; n++)
		for (unsigned p = 0; p <= f->nodes[n].nports; p++)
			fab_builder_port(b, n, p)->lid = 0;
	bare = fab_build(b);
	g = fab_assign_lids(bare, 2, &e);
	assert_non_null(g);
	t = good(g);
	for (node_id n = 0; n < g->nnodes; n++) {
		const struct fab_port *p = &g->ports[fab_port_id(g, n, 1)];

		for (uint32_t s = 0; !fab_is_switch(g, n) && s < 32; s++) { /* leaves come first */
			if (g->ports[p->peer].node == g->switches[s])
				continue;
			pairs++;
			same += rt_row(t, s)[p->lid] == rt_row(t, s)[p->lid + 1];
		}
	}
	assert_true(pairs && !same);
	rt_tables_free(t);
	fab_free(f);
	fab_free(bare);
	fab_free(g);
}

/* ---- refused ---- */

static void expect_refused(struct fab *f, const char *why)
{
	struct rt_tables *t = NULL;
	struct err e = {""};

	assert_int_equal(rt_compute(&rt_tree, f, &(struct rt_opts){.threads = 1}, &t, &e), -EINVAL);
	if (!strstr(e.text, why) || !strstr(e.text, "(S-"))
		fail_msg("'%s' does not say '%s' with a switch", e.text, why);
	fab_free(f);
}

TEST(what_is_not_a_tree_is_refused_with_a_reason)
{
	const struct fab_gen gens[] = {{.kind = "torus", .dims = {4, 4}},
				       {.kind = "torus", .dims = {3, 3, 3}},
				       {.kind = "mesh", .dims = {4, 5}},
				       {.kind = "ring", .dims = {6}},
				       {.kind = "hypercube", .dims = {4}},
				       {.kind = "dragonfly", .dims = {4, 2, 2}},
				       {.kind = "irregular", .dims = {32}, .seed = 3}};

	for (size_t i = 0; i < ARRAY_LEN(gens); i++)
		expect_refused(make(gens[i]), "both at level");
}

/* An 8 x 8 torus with hosts at every other switch: two levels, but most pairs of leaves share no neighbour. */
TEST(levels_alone_make_no_tree)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < 64; i++)
		add_switch(b, 0x1000 + i, 8);
	for (unsigned i = 0; i < 64; i++) {
		link_up(b, i, 1, i / 8 * 8 + (i + 1) % 8, 2);
		link_up(b, i, 3, (i + 8) % 64, 4);
		if ((i / 8 + i) % 2)
			add_host(b, 0x10000 + 16 * i, i, 5);
	}
	expect_refused(with_lids(fab_build(b), 0), "no way up and then down");
}

TEST(a_long_chain_is_refused)
{
	struct fab_builder *b = fab_builder_new();
	enum { N = 200 };

	for (unsigned i = 0; i < N; i++)
		add_switch(b, 0x1000 + i, 4);
	for (unsigned i = 0; i + 1 < N; i++)
		link_up(b, i, 1, i + 1, 2);
	add_host(b, 0x10000, 0, 3);
	expect_refused(with_lids(fab_build(b), 0), "links away from any leaf");
}

TEST(fabrics_without_switches_or_hosts_have_tables)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct fab *f;

	fab_add_node(b, IBA_NODE_CA, 1, 1, "alone");
	f = with_lids(fab_build(b), 0);
	t = tree(f, 0);
	assert_int_equal(t->entries, 0);
	rt_tables_free(t);
	fab_free(f);

	f = make((struct fab_gen){.kind = "mtree", .dims = {6, 2}, .has_hosts = true});
	t = good(f);
	rt_tables_free(t);
	fab_free(f);
	f = make((struct fab_gen){.kind = "ring", .dims = {5}, .has_hosts = true});
	t = good(f);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			all_shifts_are_perfect_on_whole_trees_in_any_order_of_switches_and_ports),
		cmocka_unit_test(tapered_trees_share_each_link_evenly),
		cmocka_unit_test(the_generators_trees_are_perfect_too),
		cmocka_unit_test(a_core_in_which_all_are_linked_is_perfect_too),
		cmocka_unit_test(one_cable_inside_a_level_of_a_small_tree_does_not_matter),
		cmocka_unit_test(a_leaf_behind_a_leaf_is_served),
		cmocka_unit_test(special_endpoints_shift_no_level_and_disturb_no_balance),
		cmocka_unit_test(leaves_with_few_hosts_or_none_stay_leaves),
		cmocka_unit_test(two_trees_with_hosts_in_both_are_routed_each_by_itself),
		cmocka_unit_test(damaged_trees_are_routed_by_their_levels),
		cmocka_unit_test(five_percent_of_dead_links_cost_less_than_with_one_root),
		cmocka_unit_test(a_few_cables_between_switches_of_a_level_do_not_matter),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(each_rank_is_there_once_and_one_switch_has_none_above_it),
		cmocka_unit_test(several_lids_of_a_port_have_different_ways),
		cmocka_unit_test(what_is_not_a_tree_is_refused_with_a_reason),
		cmocka_unit_test(levels_alone_make_no_tree),
		cmocka_unit_test(a_long_chain_is_refused),
		cmocka_unit_test(fabrics_without_switches_or_hosts_have_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
