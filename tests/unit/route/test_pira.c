/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PIRa against its definition, node by node; directions of links; roots and break nodes. Keeps no state;
 * each test makes its own fabric. The thesis's example is in tests/golden.
 * Covers: pira.c, directions.c, root.c, break_nodes.c
 */
#include "unit_test.h"

#include "route/route.h"

enum { NDIRECTIONS = RT_BY_DFS + 1 };

/* ---- fabrics ---- */

static struct fab *with_lids(struct fab *f, unsigned lmc)
{
	struct err e;
	struct fab *g = fab_assign_lids(f, lmc, &e);

	assert_non_null(g);
	fab_free(f);
	return g;
}

static struct fab *make(struct fab_gen g, unsigned lmc)
{
	struct err e;
	struct fab *f;

	while (g.ndims < ARRAY_LEN(g.dims) && g.dims[g.ndims])
		g.ndims++;
	f = fab_generate(&g, &e);
	if (!f)
		fail_msg("%s", e.text);
	return with_lids(f, lmc);
}

static struct fab *irregular(unsigned n, unsigned ports, uint64_t seed, unsigned lmc)
{
	return make(
		(struct fab_gen){.kind = "irregular", .dims = {n}, .ports = ports, .seed = seed},
		lmc);
}

struct cable {
	unsigned a, pa, b, pb; /* switches by their position */
};

/* Switches 0x10, 0x11, ... of 6 ports, with a host on port 6 of each, and these cables. */
static struct fab *wired(unsigned n, const struct cable *c, size_t ncables)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x10 + i, 6, "switch");
	for (size_t i = 0; i < ncables; i++)
		assert_int_equal(fab_add_link(b, c[i].a, c[i].pa, c[i].b, c[i].pb), 0);
	for (unsigned i = 0; i < n; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + 2 * i, 1, "host");

		fab_builder_port(b, h, 1)->guid = 0x101 + 2 * i;
		assert_int_equal(fab_add_link(b, h, 1, i, 6), 0);
	}
	return with_lids(fab_build(b), 0);
}

static uint32_t peer_switch(const struct fab *f, uint32_t sw, unsigned port)
{
	port_id p = f->ports[fab_port_id(f, f->switches[sw], port)].peer;

	return p == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[p].node];
}

static unsigned nports(const struct fab *f, uint32_t sw)
{
	return f->nodes[f->switches[sw]].nports;
}

/* ---- running ---- */

static struct rt_tables *compute(const struct rt_engine *g, const struct fab *f, struct rt_opts o)
{
	struct rt_tables *t;
	struct err e;

	if (rt_compute(g, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static uint64_t *ranks(const struct fab *f, node_id root, enum rt_directions d)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));

	rt_updown_rank_by(f, root, d, rank);
	return rank;
}

static void expect_verified(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	struct rt_verify_opts o = {.rank = rank};
	struct rt_report r;
	struct err e;

	assert_int_equal(rt_verify(f, t, &o, &r, &e), 0);
	if (!r.ok)
		fail_msg("%s", r.problem[0]);
	assert_int_equal(r.down_up, 0);
	rt_report_free(&r);
}

static void expect_same(const struct rt_tables *a, const struct rt_tables *b)
{
	assert_int_equal(a->entries, b->entries);
	assert_int_equal(a->stride, b->stride);
	assert_memory_equal(a->lft, b->lft, (size_t)a->nswitches * a->stride);
	assert_int_equal(!a->dflt, !b->dflt);
	if (a->dflt)
		assert_memory_equal(a->dflt, b->dflt, a->nswitches);
}

/* ---- PIRa by its definition ---- */

/* One step of thesis 6.2.3. The parent is the engine's choice, but must be an upper neighbour. */
static void define_visit(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
			 struct rt_tables *want, bool *visited, uint32_t x)
{
	unsigned own = f->ports[fab_port_id(f, f->switches[x], 0)].lid;
	uint32_t parent = t->dflt[x] == IBA_PORT_NONE ? FAB_NONE : peer_switch(f, x, t->dflt[x]);

	assert_true(parent == FAB_NONE || rank[parent] < rank[x]);
	for (uint32_t y = 0; y < f->nswitches; y++) /* FT(y, x) = FT(y, parent) */
		if (visited[y] && y != parent)
			rt_row(want, y)[own] = rt_row(
				want, y)[f->ports[fab_port_id(f, f->switches[parent], 0)].lid];
	for (unsigned p = nports(f, x); p > 0; p--) {
		uint32_t y = peer_switch(f, x, p);

		if (y == FAB_NONE || rank[y] >= rank[x])
			continue;
		assert_true(visited[y]);
		assert_int_not_equal(parent, FAB_NONE);
		rt_row(want, y)[own] =
			f->ports[f->ports[fab_port_id(f, f->switches[x], p)].peer].num;
		if (y != parent)
			rt_row(want, x)[f->ports[fab_port_id(f, f->switches[y], 0)].lid] =
				(uint8_t)p;
	}
	rt_row(want, x)[own] = 0;
	visited[x] = true;
}

static void define_host(const struct fab *f, struct rt_tables *want, const struct fab_port *h)
{
	const struct fab_port *sw = &f->ports[h->peer];
	unsigned via = f->ports[fab_port_id(f, sw->node, 0)].lid;

	for (uint32_t y = 0; y < f->nswitches; y++)
		for (unsigned i = 0; i < 1u << h->lmc; i++)
			rt_row(want, y)[h->lid + i] =
				f->switches[y] == sw->node ? sw->num : rt_row(want, y)[via];
}

/* The smallest rank among switches that are not visited yet. */
static uint32_t next_to_visit(const struct fab *f, const uint64_t *rank, const bool *visited)
{
	uint32_t x = FAB_NONE;

	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!visited[s] && (x == FAB_NONE || rank[s] < rank[x]))
			x = s;
	return x;
}

static void expect_pira(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	struct rt_tables *want = rt_tables_new(f->nswitches, fab_top_lid(f));
	bool *visited = mem_zarray(f->nswitches, sizeof(*visited));

	for (uint32_t i = 0; i < f->nswitches; i++)
		define_visit(f, t, rank, want, visited, next_to_visit(f, rank, visited));
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid && f->ports[p].peer != FAB_NONE)
			define_host(f, want, &f->ports[p]);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned lid = 0; lid <= t->top_lid; lid++) {
			assert_int_equal(rt_row(t, s)[lid], rt_row(want, s)[lid]);
			want->entries += rt_row(want, s)[lid] != IBA_PORT_NONE;
		}
	assert_int_equal(t->entries, want->entries);
	rt_tables_free(want);
	free(visited);
}

/* Both engines with every choice of directions: as defined, and all pairs connected legally. */
static void expect_good(const struct fab *f, node_id root)
{
	for (int d = 0; d < NDIRECTIONS; d++) {
		struct rt_opts o = {.root = root, .directions = (enum rt_directions)d};
		uint64_t *rank = ranks(f, root, o.directions);
		struct rt_tables *pira = compute(&rt_pira, f, o), *fera = compute(&rt_fera, f, o);

		expect_pira(f, pira, rank);
		rt_tables_fill(pira);
		expect_verified(f, pira, rank);
		expect_verified(f, fera, rank);
		rt_tables_free(pira);
		rt_tables_free(fera);
		free(rank);
	}
}

TEST(pira_is_legal_and_complete_on_every_family)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {9}},	   {.kind = "mesh", .dims = {4, 5}},
		{.kind = "torus", .dims = {3, 4}}, {.kind = "mtree", .dims = {4, 3}},
		{.kind = "kary", .dims = {3, 2}},  {.kind = "dragonfly", .dims = {1, 3, 1}},
		{.kind = "star", .dims = {5}},	   {.kind = "hypercube", .dims = {4}},
	};

	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		struct fab *f = make(families[i], i % 2);

		expect_good(f, FAB_NONE);
		expect_good(f, f->nnodes - 1);
		expect_good(f, rt_root_centre(f));
		fab_free(f);
	}
}

TEST(pira_is_legal_and_complete_on_irregular_fabrics)
{
	const unsigned sizes[] = {1, 2, 5, 8, 16, 33, 60};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (uint64_t seed = 1; seed <= 12; seed++) {
			struct fab *f = irregular(sizes[i], seed % 2 ? 4 : 7, seed, seed % 3);

			expect_good(f, f->switches[seed % f->nswitches]);
			fab_free(f);
		}
}

/* Parallel cables, a cable from a switch to itself, a host with both ports in use. */
TEST(loops_and_parallel_cables_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	node_id r = fab_add_node(b, IBA_NODE_SWITCH, 0x30, 6, "r");
	node_id s = fab_add_node(b, IBA_NODE_SWITCH, 0x20, 6, "s");
	node_id h = fab_add_node(b, IBA_NODE_CA, 0x100, 2, "h");
	struct rt_tables *t;
	struct fab *f;

	for (unsigned p = 1; p <= 3; p++)
		assert_int_equal(fab_add_link(b, r, p, s, 4 - p), 0);
	assert_int_equal(fab_add_link(b, s, 5, s, 6), 0);
	assert_int_equal(fab_add_link(b, h, 1, r, 4), 0);
	assert_int_equal(fab_add_link(b, h, 2, s, 4), 0);
	f = with_lids(fab_build(b), 0);
	expect_good(f, r);
	t = compute(&rt_pira, f, (struct rt_opts){.root = r});
	assert_int_equal(t->dflt[1], 1); /* the smallest port number of three */
	assert_int_equal(rt_row(t, 0)[f->ports[fab_port_id(f, s, 0)].lid], 3);
	assert_int_equal(t->entries, 4 + 2); /* s knows itself and its host; r knows all four */
	rt_tables_free(t);
	fab_free(f);
}

TEST(the_parent_is_nearest_to_the_root)
{
	/* 3 hangs on 2, far from the root, and on 1, next to it; both were visited before */
	const struct cable c[] = {{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 3, 1}, {1, 3, 3, 2}};
	struct fab *f = wired(4, c, ARRAY_LEN(c));
	const uint64_t rank[] = {0, 1, 2, 3};
	struct rt_tables *t = compute(&rt_pira, f, (struct rt_opts){.rank = rank});

	assert_int_equal(t->dflt[0], IBA_PORT_NONE);
	assert_int_equal(t->dflt[3], 2);
	assert_int_equal(rt_row(t, 3)[f->ports[fab_port_id(f, 2, 0)].lid], 1);
	rt_tables_free(t);
	fab_free(f);
}

TEST(the_number_of_threads_does_not_change_the_tables)
{
	struct fab *f = make((struct fab_gen){.kind = "torus", .dims = {6, 6, 4}}, 1);
	struct rt_tables *one = compute(&rt_pira, f, (struct rt_opts){.threads = 1});

	for (unsigned threads = 2; threads <= 4; threads++) {
		struct rt_tables *t = compute(&rt_pira, f, (struct rt_opts){.threads = threads});

		expect_same(one, t);
		rt_tables_free(t);
	}
	rt_tables_free(one);
	fab_free(f);
}

/* ---- filling ---- */

/* Follow LID lid from switch s; returns the switch where 255 ends the way. */
static uint32_t follow(const struct fab *f, const struct rt_tables *t, uint32_t s, unsigned lid)
{
	for (uint32_t hops = 0; hops <= f->nswitches; hops++) {
		unsigned port = rt_row(t, s)[lid];

		if (port == IBA_PORT_NONE)
			return s;
		assert_in_range(port, 1, nports(f, s));
		s = peer_switch(f, s, port);
		assert_int_not_equal(s, FAB_NONE);
	}
	fail_msg("LID %u goes in circles", lid);
	return FAB_NONE;
}

TEST(packets_to_unassigned_lids_end_at_the_root)
{
	struct fab *f = irregular(20, 4, 3, 2);
	node_id root = f->switches[7];
	struct rt_tables *t = compute(&rt_pira, f, (struct rt_opts){.root = root});
	unsigned unused = 0;
	port_id *owner;
	uint32_t top;
	struct err e;

	rt_tables_fill(t);
	assert_int_equal(fab_lid_table(f, &owner, &top, &e), 0);
	for (unsigned lid = 1; lid <= top; lid++) {
		if (owner[lid] != FAB_NONE)
			continue;
		unused++;
		for (uint32_t s = 0; s < f->nswitches; s++)
			assert_int_equal(follow(f, t, s, lid), 7);
	}
	assert_true(unused > 0);
	free(owner);
	rt_tables_free(t);
	fab_free(f);
}

TEST(filling_writes_empty_entries_of_assigned_lids_only)
{
	struct fab *f = irregular(8, 4, 1, 0);
	struct rt_tables *t = compute(&rt_pira, f, (struct rt_opts){0});
	struct rt_tables *full = compute(&rt_pira, f, (struct rt_opts){0});
	struct rt_tables *fera = compute(&rt_fera, f, (struct rt_opts){0});
	struct rt_tables *same = compute(&rt_fera, f, (struct rt_opts){0});

	rt_tables_fill(full);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned lid = 0; lid < t->stride; lid++) {
			unsigned was = rt_row(t, s)[lid], is = rt_row(full, s)[lid];
			bool open = was == IBA_PORT_NONE && lid >= 1 && lid <= t->top_lid;

			assert_int_equal(is, open ? t->dflt[s] : was);
		}
	rt_row(fera, 2)[3] = rt_row(same, 2)[3] = IBA_PORT_NONE;
	rt_tables_fill(fera); /* has no default ports */
	assert_null(fera->dflt);
	expect_same(fera, same);
	rt_tables_free(t);
	rt_tables_free(full);
	rt_tables_free(fera);
	rt_tables_free(same);
	fab_free(f);
}

/* ---- directions ---- */

static void expect_order(const struct fab *f, enum rt_directions d, const unsigned *want)
{
	uint64_t *rank = ranks(f, FAB_NONE, d);

	for (uint32_t i = 0; i + 1 < f->nswitches; i++)
		assert_true(rank[want[i]] < rank[want[i + 1]]);
	free(rank);
}

/* From 0 port 1 leads to 3 and port 2 to 1; 2 hangs on 1, 4 on 3; 4 and 2 are joined. */
TEST(trees_differ_in_their_order_of_switches)
{
	const struct cable c[] = {
		{0, 1, 3, 1}, {0, 2, 1, 1}, {1, 2, 2, 1}, {3, 2, 4, 1}, {4, 2, 2, 2}};
	struct fab *f = wired(5, c, ARRAY_LEN(c));

	expect_order(f, RT_BY_DISTANCE, (const unsigned[]){0, 1, 3, 2, 4});
	expect_order(f, RT_BY_BFS, (const unsigned[]){0, 3, 1, 4, 2});
	expect_order(f, RT_BY_DFS, (const unsigned[]){0, 3, 4, 2, 1});
	fab_free(f);
}

static void expect_one_sink(const struct fab *f, node_id root, const uint64_t *rank)
{
	for (uint32_t s = 0; s < f->nswitches; s++) {
		unsigned up = 0;

		for (uint32_t v = 0; v < s; v++)
			assert_true(rank[s] != rank[v]);
		for (unsigned p = 1; p <= nports(f, s); p++) {
			uint32_t v = peer_switch(f, s, p);

			up += v != FAB_NONE && rank[v] < rank[s];
		}
		assert_int_equal(!up, f->switches[s] == root);
	}
}

TEST(ranks_are_unique_and_the_root_is_the_only_sink)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		for (int d = 0; d < NDIRECTIONS; d++) {
			struct fab *f = irregular(30, 5, seed, 0);
			node_id root = f->switches[seed];
			uint64_t *rank = ranks(f, root, (enum rt_directions)d);

			expect_one_sink(f, root, rank);
			free(rank);
			fab_free(f);
		}
}

TEST(given_ranks_replace_root_and_directions)
{
	const struct rt_engine *const engines[] = {&rt_fera, &rt_pira};
	struct fab *f = irregular(24, 6, 5, 0);

	for (int i = 0; i < 2 * NDIRECTIONS; i++) {
		enum rt_directions d = (enum rt_directions)(i / 2);
		uint64_t *rank = ranks(f, f->switches[9], d);
		struct rt_opts told = {.root = f->switches[9], .directions = d};
		struct rt_opts given = {.root = f->switches[2], .rank = rank};
		struct rt_tables *a = compute(engines[i % 2], f, told);
		struct rt_tables *b = compute(engines[i % 2], f, given);

		expect_same(a, b);
		rt_tables_free(a);
		rt_tables_free(b);
		free(rank);
	}
	fab_free(f);
}

/* Two rings without a cable between them: routes inside each, none across, ranks given or not. */
TEST(disconnected_parts_are_routed_separately)
{
	const struct cable c[] = {{0, 1, 1, 2}, {1, 1, 2, 2}, {2, 1, 0, 2},
				  {3, 1, 4, 2}, {4, 1, 5, 2}, {5, 1, 3, 2}};
	struct fab *f = wired(6, c, ARRAY_LEN(c));
	uint64_t *rank = ranks(f, 0, RT_BY_DISTANCE);

	assert_true(rank[4] == UINT64_MAX);
	for (int i = 0; i < 2 * (NDIRECTIONS + 1); i++) {
		enum rt_directions d = (enum rt_directions)(i / 2 % NDIRECTIONS);
		struct rt_opts o = {.directions = d, .rank = i / 2 < NDIRECTIONS ? NULL : rank};
		struct rt_tables *t = compute(i % 2 ? &rt_pira : &rt_fera, f, o);
		struct rt_report r;
		struct err e;

		rt_tables_fill(t);
		assert_int_equal(rt_verify(f, t, &(struct rt_verify_opts){0}, &r, &e), 0);
		assert_int_equal(r.unreachable, 0);
		assert_int_equal(r.apart, 2 * 6 * 6); /* 6 LIDs in each part */
		assert_int_equal(r.loops + r.cycles, 0);
		rt_report_free(&r);
		rt_tables_free(t);
	}
	free(rank);
	fab_free(f);
}

/* ---- the centre ---- */

static uint32_t farthest(const struct fab *f, node_id from)
{
	uint32_t *dist = mem_array(f->nnodes, sizeof(*dist)), max = 0;

	fab_distances(f, from, dist);
	for (uint32_t s = 0; s < f->nswitches; s++)
		max = MAX(max, dist[f->switches[s]]);
	free(dist);
	return max;
}

TEST(the_centre_agrees_with_brute_force)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fab *f = irregular((unsigned)(seed * 17), 4, seed, 0);
		node_id best = f->switches[0];

		for (uint32_t s = 1; s < f->nswitches; s++) {
			node_id n = f->switches[s];
			uint32_t a = farthest(f, n), b = farthest(f, best);

			if (a < b || (a == b && f->nodes[n].guid < f->nodes[best].guid))
				best = n;
		}
		assert_int_equal(rt_root_centre(f), best);
		fab_free(f);
	}
}

TEST(the_centre_is_in_the_largest_part)
{
	/* 0 - 1 are close together, but 2 - 3 - 4 - 5 - 6 are more */
	const struct cable c[] = {
		{0, 1, 1, 1}, {2, 1, 3, 1}, {3, 2, 4, 1}, {4, 2, 5, 1}, {5, 2, 6, 1}};
	struct fab *f = wired(7, c, ARRAY_LEN(c)), *ring, *none;

	assert_int_equal(rt_root_centre(f), 4);
	fab_free(f);
	ring = make((struct fab_gen){.kind = "ring", .dims = {70}}, 0);
	assert_int_equal(rt_root_centre(ring), ring->switches[0]);
	fab_free(ring);
	none = fab_build(fab_builder_new());
	assert_int_equal(rt_root_centre(none), FAB_NONE);
	fab_free(none);
}

/* The first GUID that is there, else what the caller has, else the centre. */
TEST(the_root_is_chosen_in_one_place)
{
	const struct cable c[] = {{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 3, 1}, {3, 2, 4, 1}};
	struct fab *f = wired(5, c, ARRAY_LEN(c));
	uint64_t guids[] = {0xbad, f->nodes[3].guid, f->nodes[1].guid};

	assert_int_equal(rt_root_choose(f, guids, 3, 0), 3);
	assert_int_equal(rt_root_choose(f, guids, 1, 0), 0);
	assert_int_equal(rt_root_choose(f, guids, 1, FAB_NONE), 2);
	assert_int_equal(rt_root_choose(f, NULL, 0, FAB_NONE), 2);
	guids[0] = 0;
	assert_int_equal(rt_root_choose(f, guids, 3, 4), 4);
	fab_free(f);
}

/* ---- break nodes ---- */

TEST(a_ring_has_one_break_node)
{
	struct fab *f = make((struct fab_gen){.kind = "ring", .dims = {7}}, 0);

	for (int d = 0; d < NDIRECTIONS; d++) {
		uint64_t *rank = ranks(f, f->switches[2], (enum rt_directions)d);
		rt_turns turns = {0};

		rt_forbidden_turns(f, rank, &turns);
		assert_int_equal(turns.n, 2); /* there and back */
		assert_int_equal(turns.at[0].sw, turns.at[1].sw);
		assert_int_equal(turns.at[0].in, turns.at[1].out);
		assert_true(turns.at[0].in < turns.at[1].in);
		vec_free(&turns);
		free(rank);
	}
	fab_free(f);
}

TEST(parallel_links_make_a_break_node)
{
	const struct cable c[] = {{0, 1, 1, 4}, {0, 2, 1, 2}, {0, 3, 1, 1}, {1, 3, 2, 1}};
	const uint8_t want[][2] = {{1, 2}, {1, 4}, {2, 1}, {2, 4}, {4, 1}, {4, 2}};
	struct fab *f = wired(3, c, ARRAY_LEN(c));
	uint64_t *rank = ranks(f, 0, RT_BY_DISTANCE);
	rt_turns turns = {0};

	rt_forbidden_turns(f, rank, &turns);
	assert_int_equal(turns.n, ARRAY_LEN(want));
	for (size_t i = 0; i < turns.n; i++) {
		assert_int_equal(turns.at[i].sw, 1);
		assert_int_equal(turns.at[i].in, want[i][0]);
		assert_int_equal(turns.at[i].out, want[i][1]);
	}
	vec_free(&turns);
	free(rank);
	fab_free(f);
}

/* ---- what is refused, what is empty ---- */

TEST(duplicate_or_large_lids_are_refused)
{
	struct fab *f = irregular(4, 4, 1, 0);
	struct rt_tables *t = rt_tables_new(f->nswitches, 2);
	struct rt_opts o = {0};
	struct err e;

	assert_int_equal(rt_pira.route(f, &o, t, &e), -ERANGE);
	assert_string_equal(e.text, "pira: LID 8 does not fit tables up to LID 2");
	f->ports[fab_port_id(f, f->switches[0], 0)].lid =
		f->ports[fab_port_id(f, f->switches[1], 0)].lid;
	assert_int_equal(rt_pira.route(f, &o, t, &e), -EEXIST);
	rt_tables_free(t);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab *none = fab_build(fab_builder_new()), *alone = wired(2, NULL, 0);
	struct rt_tables *t = compute(&rt_pira, none, (struct rt_opts){.root = FAB_NONE});

	rt_tables_fill(t);
	assert_int_equal(t->entries, 0);
	rt_tables_free(t);
	t = compute(&rt_pira, alone, (struct rt_opts){.directions = RT_BY_DFS});
	assert_int_equal(t->entries, 4);
	rt_tables_free(t);
	fab_free(none);
	fab_free(alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pira_is_legal_and_complete_on_every_family),
		cmocka_unit_test(pira_is_legal_and_complete_on_irregular_fabrics),
		cmocka_unit_test(loops_and_parallel_cables_do_no_harm),
		cmocka_unit_test(the_parent_is_nearest_to_the_root),
		cmocka_unit_test(the_number_of_threads_does_not_change_the_tables),
		cmocka_unit_test(packets_to_unassigned_lids_end_at_the_root),
		cmocka_unit_test(filling_writes_empty_entries_of_assigned_lids_only),
		cmocka_unit_test(trees_differ_in_their_order_of_switches),
		cmocka_unit_test(ranks_are_unique_and_the_root_is_the_only_sink),
		cmocka_unit_test(given_ranks_replace_root_and_directions),
		cmocka_unit_test(disconnected_parts_are_routed_separately),
		cmocka_unit_test(the_centre_agrees_with_brute_force),
		cmocka_unit_test(the_centre_is_in_the_largest_part),
		cmocka_unit_test(the_root_is_chosen_in_one_place),
		cmocka_unit_test(a_ring_has_one_break_node),
		cmocka_unit_test(parallel_links_make_a_break_node),
		cmocka_unit_test(duplicate_or_large_lids_are_refused),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
