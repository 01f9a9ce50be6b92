/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes: FERa against a search written down as its definition reads, the verifier against a walk
 * of every single pair and against planted faults, tables as text. Keeps no state; every test makes
 * its own fabric. Does not measure time.
 */
#include "unit_test.h"

#include "base/rng.h"
#include "route/route.h"

/* ---- fabrics ---- */

static struct fab *with_lids(struct fab *f, unsigned lmc)
{
	struct err e;
	struct fab *g = fab_assign_lids(f, lmc, &e);

	assert_non_null(g);
	fab_free(f);
	return g;
}

static struct fab *make(struct fab_gen g)
{
	struct err e;
	struct fab *f;

	while (g.ndims < ARRAY_LEN(g.dims) && g.dims[g.ndims])
		g.ndims++;
	f = fab_generate(&g, &e);
	if (!f)
		fail_msg("%s", e.text);
	return with_lids(f, 0);
}

static struct fab *ring(unsigned n)
{
	return make((struct fab_gen){.kind = "ring", .dims = {n}});
}

static node_id add_switch(struct fab_builder *b, uint64_t guid, unsigned nports)
{
	return fab_add_node(b, IBA_NODE_SWITCH, guid, nports, "switch");
}

/* A host whose only port is connected to a switch. */
static node_id add_host(struct fab_builder *b, uint64_t guid, node_id sw, unsigned port)
{
	node_id h = fab_add_node(b, IBA_NODE_CA, guid, 1, "host");

	fab_builder_port(b, h, 1)->guid = guid + 1;
	assert_int_equal(fab_add_link(b, h, 1, sw, port), 0);
	return h;
}

static void link_up(struct fab_builder *b, node_id x, unsigned px, node_id y, unsigned py)
{
	assert_int_equal(fab_add_link(b, x, px, y, py), 0);
}

/* Switches 0x10, 0x11, ... in a line over ports 1 and 2, one host each on port 3. */
static struct fab *line(unsigned n)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		add_switch(b, 0x10 + i, 3);
	for (unsigned i = 0; i + 1 < n; i++)
		link_up(b, i, 2, i + 1, 1);
	for (unsigned i = 0; i < n; i++)
		add_host(b, 0x100 + 0x10 * i, i, 3);
	return with_lids(fab_build(b), 0);
}

static uint32_t lid_of(const struct fab *f, node_id n)
{
	return f->ports[fab_port_id(f, n, fab_is_switch(f, n) ? 0 : 1)].lid;
}

static port_id peer_of(const struct fab *f, uint32_t sw, unsigned port)
{
	return f->ports[fab_port_id(f, f->switches[sw], port)].peer;
}

static uint32_t peer_switch(const struct fab *f, uint32_t sw, unsigned port)
{
	port_id p = peer_of(f, sw, port);

	return p == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[p].node];
}

/* ---- running ---- */

static struct rt_tables *fera(const struct fab *f, node_id root, unsigned threads)
{
	struct rt_opts o = {.root = root, .threads = threads};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_fera, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static struct rt_report verify(const struct fab *f, const struct rt_tables *t,
			       struct rt_verify_opts o)
{
	struct rt_report r;
	struct err e;

	if (rt_verify(f, t, &o, &r, &e))
		fail_msg("%s", e.text);
	return r;
}

static uint64_t *ranks(const struct fab *f, node_id root)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));

	rt_updown_rank(f, root, rank);
	return rank;
}

static void expect_problem(const struct rt_report *r, const char *text)
{
	for (uint32_t i = 0; i < r->nproblems; i++)
		if (strstr(r->problem[i], text))
			return;
	for (uint32_t i = 0; i < r->nproblems; i++)
		print_error("problem: %s\n", r->problem[i]);
	fail_msg("no problem says '%s'", text);
}

/* ---- the up/down graph ---- */

TEST(ranks_grow_with_the_distance_and_ties_go_by_guid)
{
	struct fab_builder *b = fab_builder_new();
	node_id s[5] = {add_switch(b, 0x30, 4), add_switch(b, 0x50, 4), add_switch(b, 0x20, 4),
			add_switch(b, 0x40, 4), add_switch(b, 0x10, 4)};
	node_id h = add_host(b, 0x100, s[3], 4);
	struct fab *f;
	uint64_t *r;

	link_up(b, s[0], 1, s[1], 1);
	link_up(b, s[0], 2, s[2], 1);
	link_up(b, s[1], 2, s[3], 1);
	f = with_lids(fab_build(b), 0); /* 0x10 is alone */

	r = ranks(f, FAB_NONE);
	assert_true(r[0] < r[2] && r[2] < r[1] && r[1] < r[3]);
	assert_true(r[4] == UINT64_MAX);
	free(r);
	r = ranks(f, h); /* a host stands for its switch 0x40 */
	assert_true(r[3] < r[1] && r[1] < r[0] && r[0] < r[2]);
	free(r);
	fab_free(f);
}

/* ---- FERa by its definition, one destination switch at a time ---- */

enum { FAR = 1 << 20 };

static void slow_distances(const struct fab *f, const uint64_t *rank, uint32_t d, unsigned *down,
			   unsigned *dist)
{
	uint32_t n = f->nswitches;
	bool news = true;

	for (uint32_t s = 0; s < n; s++)
		down[s] = dist[s] = s == d ? 0 : FAR;
	for (int up = 0; up < 2; up++, news = true)
		while (news) {
			news = false;
			for (uint32_t s = 0; s < n; s++)
				for (unsigned p = 1; p <= f->nodes[f->switches[s]].nports; p++) {
					uint32_t v = peer_switch(f, s, p);
					unsigned *mine = up ? &dist[s] : &down[s];

					if (v == FAB_NONE || (rank[v] < rank[s]) != up ||
					    (up && down[s] < FAR))
						continue;
					unsigned on = (up ? dist[v] : down[v]) + 1;

					if (on < *mine) {
						*mine = on;
						if (!up)
							dist[s] = on;
						news = true;
					}
				}
		}
}

static void expect_entry(const struct fab *f, const uint64_t *rank, uint32_t s, unsigned port,
			 const unsigned *down, const unsigned *dist)
{
	uint32_t v = peer_switch(f, s, port);

	assert_true(v != FAB_NONE);
	if (down[s] < FAR) {
		assert_true(rank[v] > rank[s]);
		assert_int_equal(down[v] + 1, down[s]);
	} else {
		assert_true(rank[v] < rank[s]);
		assert_int_equal(dist[v] + 1, dist[s]);
	}
}

static void expect_fera(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	unsigned *down = mem_array(f->nswitches, sizeof(*down));
	unsigned *dist = mem_array(f->nswitches, sizeof(*dist));

	for (port_id q = 0; q < f->nports; q++) {
		const struct fab_port *x = &f->ports[q];
		bool sw = fab_is_switch(f, x->node);
		uint32_t d;

		if (!x->lid)
			continue;
		d = f->switch_index[sw ? x->node : f->ports[x->peer].node];
		slow_distances(f, rank, d, down, dist);
		for (uint32_t i = 0; i < 1u << x->lmc; i++)
			for (uint32_t s = 0; s < f->nswitches; s++) {
				unsigned port = rt_row(t, s)[x->lid + i];

				if (s != d)
					expect_entry(f, rank, s, port, down, dist);
				else
					assert_int_equal(port, sw ? 0 : f->ports[x->peer].num);
			}
	}
	free(down);
	free(dist);
}

/* Compute, compare with the definition, verify; returns the tables. */
static struct rt_tables *expect_good(const struct fab *f, node_id root)
{
	struct rt_tables *t = fera(f, root, 0);
	uint64_t *rank = ranks(f, root), lids = 0;
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.rank = rank});

	for (port_id p = 0; p < f->nports; p++)
		lids += f->ports[p].lid ? 1u << f->ports[p].lmc : 0;
	expect_fera(f, t, rank);
	if (!r.ok)
		fail_msg("%s", r.problem[0]);
	assert_int_equal(r.nproblems, 0);
	assert_int_equal(r.cycle.n, 0);
	assert_int_equal(t->entries, lids * f->nswitches);
	rt_report_free(&r);
	free(rank);
	return t;
}

TEST(fera_is_legal_and_complete_on_every_family)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {9}},	   {.kind = "mesh", .dims = {4, 5}},
		{.kind = "torus", .dims = {3, 4}}, {.kind = "mtree", .dims = {4, 3}},
		{.kind = "kary", .dims = {3, 2}},  {.kind = "dragonfly", .dims = {1, 3, 1}},
		{.kind = "star", .dims = {5}},	   {.kind = "hypercube", .dims = {4}},
	};

	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		struct fab *f = make(families[i]);

		rt_tables_free(expect_good(f, FAB_NONE));
		rt_tables_free(expect_good(f, f->nnodes - 1));
		fab_free(f);
	}
}

TEST(fera_is_legal_and_complete_on_irregular_fabrics)
{
	const unsigned sizes[] = {2, 5, 16, 33, 70};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct fab *f = make((struct fab_gen){
				.kind = "irregular", .dims = {sizes[i]}, .ports = 6, .seed = seed});

			rt_tables_free(expect_good(f, f->switches[seed % f->nswitches]));
			fab_free(f);
		}
}

/* Every switch but d is a neighbour of the root, so from a the root is the short way to d; but a
 * can go down by c, e and h, and those behind it rely on that. */
TEST(fera_takes_a_long_way_down_before_a_short_way_up)
{
	struct fab_builder *b = fab_builder_new();
	node_id root = add_switch(b, 1, 4), a = add_switch(b, 2, 4), c = add_switch(b, 3, 4);
	node_id e = add_switch(b, 4, 4), h = add_switch(b, 5, 4), d = add_switch(b, 6, 4);
	struct rt_tables *t;
	struct fab *f;

	link_up(b, root, 1, a, 1);
	link_up(b, root, 2, c, 1);
	link_up(b, root, 3, e, 1);
	link_up(b, root, 4, h, 1);
	link_up(b, a, 2, c, 2);
	link_up(b, c, 3, e, 2);
	link_up(b, e, 3, h, 2);
	link_up(b, h, 3, d, 1);
	f = with_lids(fab_build(b), 0);
	t = expect_good(f, root);
	assert_int_equal(rt_row(t, f->switch_index[a])[lid_of(f, d)], 2);
	rt_tables_free(t);
	fab_free(f);
}

TEST(the_number_of_threads_changes_nothing)
{
	struct fab *f = make((struct fab_gen){
		.kind = "torus", .dims = {6, 6, 3}, .has_hosts = true, .hosts = 2});
	struct rt_tables *one = fera(f, FAB_NONE, 1);

	rt_row(one, 7)[9] = 200; /* so that there is something to report */
	rt_row(one, 3)[50] = IBA_PORT_NONE;
	struct rt_report r1 = verify(f, one, (struct rt_verify_opts){.threads = 1});

	for (unsigned threads = 2; threads <= 4; threads++) {
		struct rt_tables *t = fera(f, FAB_NONE, threads);

		rt_row(t, 7)[9] = 200;
		rt_row(t, 3)[50] = IBA_PORT_NONE;
		assert_int_equal(t->entries, one->entries);
		assert_memory_equal(t->lft, one->lft, (size_t)t->nswitches * t->stride);
		struct rt_report r = verify(f, t, (struct rt_verify_opts){.threads = threads});

		assert_int_equal(r.unreachable, r1.unreachable);
		assert_int_equal(r.hops_sum, r1.hops_sum);
		assert_int_equal(r.link_load_max, r1.link_load_max);
		assert_int_equal(r.nproblems, r1.nproblems);
		assert_memory_equal(r.problem, r1.problem, sizeof(r.problem));
		rt_report_free(&r);
		rt_tables_free(t);
	}
	rt_report_free(&r1);
	rt_tables_free(one);
	fab_free(f);
}

/* ---- equal ports ---- */

static struct fab *two_switches(unsigned links, unsigned hosts)
{
	struct fab_builder *b = fab_builder_new();

	add_switch(b, 1, links + hosts);
	add_switch(b, 2, links + hosts);
	for (unsigned i = 1; i <= links; i++)
		link_up(b, 0, i, 1, links + 1 - i);
	for (unsigned i = 0; i < 2 * hosts; i++)
		add_host(b, 0x100 + 2 * i, i % 2, links + 1 + i / 2);
	return fab_build(b);
}

TEST(parallel_links_share_the_destinations)
{
	struct fab *f = with_lids(two_switches(4, 8), 0);
	struct rt_tables *t = expect_good(f, FAB_NONE);

	for (uint32_t s = 0; s < 2; s++) {
		unsigned used[5] = {0};

		for (node_id h = 2; h < f->nnodes; h++)
			if (peer_switch(f, s, 1) ==
			    f->switch_index[f->ports[f->ports[fab_port_id(f, h, 1)].peer].node])
				used[rt_row(t, s)[lid_of(f, h)]]++;
		for (unsigned p = 1; p <= 4; p++)
			assert_int_equal(used[p], 2);
	}
	rt_tables_free(t);
	fab_free(f);
}

TEST(the_lids_of_one_port_prefer_different_ways)
{
	struct fab *f = with_lids(two_switches(4, 2), 2);
	struct rt_tables *t = expect_good(f, FAB_NONE);

	for (node_id h = 2; h < f->nnodes; h++) {
		uint32_t there =
			f->switch_index[f->ports[f->ports[fab_port_id(f, h, 1)].peer].node];
		unsigned seen = 0;

		assert_int_equal(f->ports[fab_port_id(f, h, 1)].lmc, 2);
		for (unsigned i = 0; i < 4; i++)
			seen |= 1u << rt_row(t, 1 - there)[lid_of(f, h) + i];
		assert_int_equal(seen, 0x1e);
	}
	rt_tables_free(t);
	fab_free(f);
}

/* A tree can carry every host's traffic to every other evenly: the busiest link is hardly busier
 * than the mean (the traffic of the switches themselves is left out). */
TEST(a_tree_is_loaded_evenly)
{
	struct fab *f = make((struct fab_gen){.kind = "mtree", .dims = {8, 3}});
	struct rt_tables *t;
	struct rt_report r;

	for (uint32_t s = 0; s < f->nswitches; s++)
		f->ports[fab_port_id(f, f->switches[s], 0)].lid = 0;
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	assert_int_equal(r.unreachable + r.loops + r.cycles, 0);
	assert_true(r.link_load_max * r.nlinks <= r.link_load_sum * 11 / 10);
	assert_false(r.ok);
	expect_problem(&r, "has no LID, and 79 other connected ports have none");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- shapes that are easy to get wrong ---- */

TEST(both_ports_of_a_host_are_destinations_and_hosts_never_forward)
{
	struct fab_builder *b = fab_builder_new();
	node_id s0 = add_switch(b, 1, 4), s1 = add_switch(b, 2, 4), s2 = add_switch(b, 3, 4);
	node_id h = fab_add_node(b, IBA_NODE_CA, 0x100, 2, "two ports");
	node_id r = fab_add_node(b, IBA_NODE_ROUTER, 0x200, 2, "router");
	struct rt_tables *t;
	struct fab *f;

	/* s0 and s1 share the host and the router, but the only cable between them goes by s2 */
	link_up(b, s0, 1, s2, 1);
	link_up(b, s1, 1, s2, 2);
	link_up(b, h, 1, s0, 2);
	link_up(b, h, 2, s1, 2);
	link_up(b, r, 1, s0, 3);
	link_up(b, r, 2, s1, 3);
	link_up(b, s2, 3, s2, 4); /* and a cable from a switch to itself leads nowhere */
	f = with_lids(fab_build(b), 0);
	t = expect_good(f, FAB_NONE);
	assert_int_equal(rt_row(t, 0)[f->ports[fab_port_id(f, h, 1)].lid], 2);
	assert_int_equal(rt_row(t, 0)[f->ports[fab_port_id(f, h, 2)].lid], 1);
	assert_int_equal(rt_row(t, 1)[f->ports[fab_port_id(f, r, 1)].lid], 1);
	assert_int_equal(rt_row(t, 1)[f->ports[fab_port_id(f, r, 2)].lid], 3);
	rt_tables_free(t);
	fab_free(f);
}

TEST(parts_without_a_way_between_them_are_routed_apart)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	for (unsigned i = 0; i < 8; i++)
		add_host(b, 0x100 + 2 * i, add_switch(b, 1 + i, 4), 4);
	for (unsigned i = 0; i < 3; i++) /* three in a ring, the others in another */
		link_up(b, 2 * i, 1, 2 * ((i + 1) % 3), 2);
	for (unsigned i = 0; i < 5; i++)
		link_up(b, 6 + 2 * i, 1, 6 + 2 * ((i + 1) % 5), 2);
	f = with_lids(fab_build(b), 0);
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.pairs, 16 * 15);
	assert_int_equal(r.unreachable, 2 * 6 * 10);
	assert_int_equal(r.loops + r.cycles, 0);
	assert_int_equal(t->entries, 3 * 6 + 5 * 10);
	expect_problem(&r, "no entry in S-");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(fabrics_without_switches_or_links_do_no_harm)
{
	struct fab_builder *b = fab_builder_new();
	node_id x = fab_add_node(b, IBA_NODE_CA, 1, 1, "x"),
		y = fab_add_node(b, IBA_NODE_CA, 2, 1, "y");
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	link_up(b, x, 1, y, 1);
	f = with_lids(fab_build(b), 0);
	t = fera(f, x, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 2);
	assert_int_equal(r.hops_sum, 2);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);

	f = fab_build(fab_builder_new());
	t = fera(f, FAB_NONE, 0);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 0);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- the verifier counts what a walk of every pair counts ---- */

struct slow {
	uint64_t pairs, unreachable, loops, hops_sum, load_sum, load_max;
	uint32_t hops_max;
	uint64_t *load;
};

/* The links on the way, or -1 unreachable, -2 loop; counts what it crosses in load, if there is
 * one. */
static int slow_walk(const struct fab *f, const struct rt_tables *t, port_id from, uint32_t lid,
		     port_id to, uint64_t *load)
{
	bool from_switch = fab_is_switch(f, f->ports[from].node);
	node_id n = from_switch ? f->ports[from].node : f->ports[f->ports[from].peer].node;
	int hops = !from_switch;

	for (uint32_t steps = 0; steps <= f->nswitches; steps++) {
		unsigned port = rt_row(t, f->switch_index[n])[lid];
		port_id out = fab_port_id(f, n, port), next;

		if (port > f->nodes[n].nports || (port && f->ports[out].peer == FAB_NONE))
			return -1;
		next = port ? f->ports[out].peer : out;
		hops += port != 0;
		if (!port || !fab_is_switch(f, f->ports[next].node))
			return next == to ? hops : -1;
		if (load)
			load[out]++;
		n = f->ports[next].node;
	}
	return -2;
}

static struct slow slow_verify(const struct fab *f, const struct rt_tables *t)
{
	struct slow x = {.load = mem_zarray(f->nports, sizeof(uint64_t))};

	for (port_id from = 0; from < f->nports; from++)
		for (port_id to = 0; to < f->nports; to++) {
			if (from == to || !f->ports[from].lid || !f->ports[to].lid)
				continue;
			int hops = slow_walk(f, t, from, f->ports[to].lid, to, NULL);

			x.pairs++;
			x.unreachable += hops == -1;
			x.loops += hops == -2;
			if (hops < 0)
				continue;
			slow_walk(f, t, from, f->ports[to].lid, to, x.load);
			x.hops_sum += (unsigned)hops;
			x.hops_max = MAX(x.hops_max, (uint32_t)hops);
		}
	for (port_id p = 0; p < f->nports; p++) {
		x.load_sum += x.load[p];
		x.load_max = MAX(x.load_max, x.load[p]);
	}
	free(x.load);
	return x;
}

static void expect_same(const struct fab *f, const struct rt_tables *t)
{
	struct slow x = slow_verify(f, t);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.pairs, x.pairs);
	assert_int_equal(r.unreachable, x.unreachable);
	assert_int_equal(r.loops, x.loops);
	assert_int_equal(r.hops_sum, x.hops_sum);
	assert_int_equal(r.hops_max, x.hops_max);
	assert_int_equal(r.link_load_sum, x.load_sum);
	assert_int_equal(r.link_load_max, x.load_max);
	assert_int_equal(r.ok, !r.unreachable && !r.loops && !r.cycles);
	if (x.loops)
		assert_true(r.cycles > 0); /* a packet that goes round waits for itself */
	rt_report_free(&r);
}

TEST(the_verifier_counts_like_a_walk_of_every_pair)
{
	struct rng g;

	rng_seed(&g, 7, 0);
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct fab *f = make((struct fab_gen){.kind = "irregular",
						      .dims = {12 + (unsigned)seed},
						      .ports = 5,
						      .seed = seed});
		struct rt_tables *t = fera(f, FAB_NONE, 0);

		expect_same(f, t);
		for (unsigned broken = 0; broken < 60; broken++) {
			uint32_t s = rng_below(&g, f->nswitches);
			uint32_t lid = 1 + rng_below(&g, t->top_lid);
			unsigned port = rng_below(&g, 8);

			rt_row(t, s)[lid] = (uint8_t)(port == 7 ? 255 : port);
			if (broken % 4 == 0)
				expect_same(f, t);
		}
		rt_tables_free(t);
		fab_free(f);
	}
}

TEST(hops_and_loads_of_a_line_are_as_by_hand)
{
	struct fab *f = line(3);
	struct rt_tables *t = expect_good(f, FAB_NONE);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.pairs, 30);
	assert_int_equal(r.nlinks, 4);
	assert_int_equal(r.link_load_max, 8); /* 2 sources x 4 destinations, or 4 x 2 */
	assert_int_equal(r.link_load_sum, 32);
	assert_int_equal(r.hops_max, 4);
	/* sum over pairs of switches apart 0, 1, 2: 3 x 2 own links; then 4 pairs each way */
	assert_int_equal(r.hops_sum, 3 * 2 * 1 + 4 * (1 + 2 + 2 + 3) + 2 * (2 + 3 + 3 + 4));
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- planted faults: a line of four, what goes to the last host is spoilt at the second switch
 * ---- */

static void plant(unsigned port, uint64_t unreachable, uint64_t loops, const char *text)
{
	struct fab *f = line(4);
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	node_id last = f->nnodes - 1;
	struct rt_report r;

	assert_int_equal(rt_row(t, 1)[lid_of(f, last)], 2);
	rt_row(t, 1)[lid_of(f, last)] = (uint8_t)port;
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.unreachable, unreachable);
	assert_int_equal(r.loops, loops);
	expect_problem(&r, text);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(a_missing_entry_is_found)
{
	plant(IBA_PORT_NONE, 4, 0, "LID 8 (H-0000000000000130[1]): no entry in S-0000000000000011");
}

TEST(the_wrong_host_is_found)
{
	plant(3, 4, 0, "S-0000000000000011[3] delivers it to H-0000000000000110[1]");
	plant(0, 4, 0, "S-0000000000000011[0] delivers it to S-0000000000000011[0]");
}

TEST(a_dead_port_is_found)
{
	struct fab *f = line(4);
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	struct rt_report r;

	rt_row(t, 0)[lid_of(f, f->nnodes - 1)] = 1; /* the first switch has nothing on port 1 */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.unreachable, 2);
	expect_problem(&r, "S-0000000000000010 sends it to port 1, where nothing is connected");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
	plant(77, 4, 0, "sends it to port 77");
}

TEST(a_loop_is_found)
{
	plant(1, 0, 4, "loops: S-0000000000000010[2] -> S-0000000000000011[1] -> ...");
}

TEST(tables_that_end_early_leave_pairs_unreachable)
{
	struct fab *f = line(4);
	struct rt_tables *t = rt_tables_new(f->nswitches, 0);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){0});
	struct err e;

	assert_int_equal(r.pairs, 56);
	assert_int_equal(r.unreachable, 56);
	rt_report_free(&r);
	rt_tables_free(t);
	t = rt_tables_new(3, 8);
	assert_int_equal(rt_verify(f, t, &(struct rt_verify_opts){0}, &r, &e), -EINVAL);
	rt_tables_free(t);
	fab_free(f);
}

/* The port of switch s towards switch s + 1 of a ring. */
static unsigned clockwise(const struct fab *f, uint32_t s)
{
	for (unsigned p = 1; p <= f->nodes[f->switches[s]].nports; p++)
		if (peer_switch(f, s, p) == (s + 1) % f->nswitches)
			return p;
	fail();
	return 0;
}

TEST(a_turn_up_after_down_is_found)
{
	struct fab *f = ring(5); /* seen from switch 0 the lowest are 2 and 3 */
	struct rt_tables *t = fera(f, FAB_NONE, 0);
	uint64_t *rank = ranks(f, FAB_NONE);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.rank = rank});
	uint32_t dest = lid_of(f, f->switches[4]);

	assert_true(r.ok);
	rt_report_free(&r);
	/* from 1 to 4 the long way round: down to 2 and 3, up to 4 */
	for (uint32_t s = 1; s <= 3; s++)
		rt_row(t, s)[dest] = (uint8_t)clockwise(f, s);
	r = verify(f, t, (struct rt_verify_opts){.rank = rank});
	assert_false(r.ok);
	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.down_up, 1);
	expect_problem(&r, "turns up after down at S-");
	rt_report_free(&r);
	free(rank);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- credit loops ---- */

static struct rt_tables *route_clockwise(const struct fab *f)
{
	struct rt_tables *t = fera(f, FAB_NONE, 0);

	for (port_id q = 0; q < f->nports; q++) {
		const struct fab_port *x = &f->ports[q];
		node_id at =
			fab_is_switch(f, x->node) || !x->lid ? x->node : f->ports[x->peer].node;

		for (uint32_t s = 0; x->lid && s < f->nswitches; s++)
			if (f->switches[s] != at)
				rt_row(t, s)[x->lid] = (uint8_t)clockwise(f, s);
	}
	return t;
}

TEST(a_ring_routed_one_way_round_has_one_credit_loop)
{
	struct fab *f = ring(6);
	struct rt_tables *t = route_clockwise(f);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_false(r.ok);
	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct fab_port *p = &f->ports[r.cycle.at[i].port];
		node_id next = f->ports[r.cycle.at[(i + 1) % 6].port].node;

		assert_int_equal(f->ports[p->peer].node, next);
	}
	expect_problem(&r, "credit loop: S-");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Shortest ways on a ring of an odd number of switches. */
static struct rt_tables *route_minimal(const struct fab *f)
{
	struct rt_tables *t = route_clockwise(f);
	uint32_t n = f->nswitches;

	for (uint32_t s = 0; s < n; s++)
		for (port_id q = 0; q < f->nports; q++) {
			const struct fab_port *x = &f->ports[q];
			uint32_t before = (s + n - 1) % n;
			port_id back = peer_of(f, before, clockwise(f, before));

			if (!x->lid)
				continue;
			node_id at = x->num ? f->ports[x->peer].node : x->node;

			if ((f->switch_index[at] + n - s) % n > n / 2)
				rt_row(t, s)[x->lid] = f->ports[back].num;
		}
	return t;
}

TEST(minimal_routes_on_a_ring_have_a_credit_loop_each_way)
{
	struct fab *f = ring(5);
	struct rt_tables *t = route_minimal(f);
	struct rt_report r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});

	assert_int_equal(r.unreachable + r.loops, 0);
	assert_int_equal(r.hops_max, 4);
	assert_int_equal(r.cycles, 2);
	assert_int_equal(r.cycle.n, 5);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(routes_that_only_switches_use_count_unless_told_otherwise)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_report r;
	struct rt_tables *t;
	struct fab *f;

	for (unsigned i = 0; i < 4; i++)
		add_switch(b, 1 + i, 3);
	for (unsigned i = 0; i < 4; i++)
		link_up(b, i, 1, (i + 1) % 4, 2);
	add_host(b, 0x100, 0, 3); /* what starts here never passes the last link of the ring */
	f = with_lids(fab_build(b), 0);
	t = route_clockwise(f);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.hops_max, 4); /* from switch 1 to the host: three links and its own */
	assert_int_equal(r.cycles, 1);
	rt_report_free(&r);
	r = verify(f, t, (struct rt_verify_opts){.hosts_only = true});
	assert_true(r.ok);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Whether port p of switch sw leads to another switch. */
static bool from_switch(const struct fab *f, uint32_t sw, unsigned p)
{
	return p && peer_switch(f, sw, p) != FAB_NONE;
}

/* Packets of SL 0 that come from another switch and pass through switch 0 go on on this VL. */
static void dateline_set(struct rt_tables *t, const struct fab *f, unsigned vl)
{
	struct rt_sl2vl m = {{(uint8_t)vl}};

	rt_lanes_drop(t);
	rt_lanes_add(t, f, 2, 1);
	rt_sl2vl_use(t, 0, RT_ANY_PORT, RT_ANY_PORT, rt_sl2vl_map(t, &(struct rt_sl2vl){{0}}));
	for (unsigned in = 1; in <= f->nodes[f->switches[0]].nports; in++)
		if (from_switch(f, 0, in))
			rt_sl2vl_use(t, 0, in, RT_ANY_PORT, rt_sl2vl_map(t, &m));
	for (uint32_t s = 1; s < f->nswitches; s++)
		rt_sl2vl_use(t, s, RT_ANY_PORT, RT_ANY_PORT,
			     rt_sl2vl_map(t, &(struct rt_sl2vl){{0}}));
}

/* On a ring of five, routes are at most two links between switches long: those that change to VL 1
 * at switch 0 end one link further, so nothing on VL 1 waits for anything. */
TEST(a_dateline_by_vl_breaks_the_credit_loop)
{
	struct fab *f = ring(5);
	struct rt_tables *t = route_minimal(f);
	struct rt_verify_opts o = {0};
	struct rt_report r;

	dateline_set(t, f, 0);
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 2);
	assert_int_equal(r.cycle.n, 5);
	rt_report_free(&r);

	dateline_set(t, f, 1);
	r = verify(f, t, o);
	assert_true(r.ok);
	rt_report_free(&r);

	dateline_set(t, f, RT_VL_NONE); /* discarded packets wait for nothing, but they are lost */
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 0);
	assert_int_equal(r.discarded, 16); /* through switch 0, and to its host */
	assert_false(r.ok);
	rt_report_free(&r);

	dateline_set(t, f, 1);
	memset(rt_sl_row(t, 0), 1, t->top_lid + 1u); /* SL 1 knows no dateline */
	r = verify(f, t, o);
	assert_int_equal(r.cycles, 2);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Routes that go on behind the dateline come back to VL 0 there: it does not help. */
TEST(a_dateline_does_not_help_long_routes)
{
	struct fab *f = ring(6);
	struct rt_tables *t = route_clockwise(f);
	struct rt_report r;

	dateline_set(t, f, 1);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 6);
	rt_report_free(&r);
	dateline_set(t, f, RT_VL_NONE); /* unless none of them gets there */
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 0);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Packets that come from another switch go on on VL 1. */
static void transit_set(struct rt_tables *t, const struct fab *f)
{
	unsigned zero, one;

	rt_lanes_add(t, f, 2, 1);
	zero = rt_sl2vl_map(t, &(struct rt_sl2vl){{0}});
	one = rt_sl2vl_map(t, &(struct rt_sl2vl){{1}});
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= f->nodes[f->switches[s]].nports; in++)
			rt_sl2vl_use(t, s, in, RT_ANY_PORT, from_switch(f, s, in) ? one : zero);
}

TEST(packets_that_go_round_are_followed_all_the_way)
{
	struct fab *f = ring(3);
	struct rt_tables *t = route_minimal(f);
	struct rt_report r;

	transit_set(t, f);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok); /* every switch is the next one's neighbour: no transit at all */
	rt_report_free(&r);
	for (uint32_t s = 0; s < 3; s++)
		rt_row(t, s)[lid_of(f, f->nnodes - 1)] = (uint8_t)clockwise(f, s);
	r = verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.loops, 5);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 3);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* With one VL for all the general graph and the simple one are the same, loops included. */
TEST(both_dependency_graphs_agree)
{
	struct rng g;

	rng_seed(&g, 11, 0);
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct fab *f = make((struct fab_gen){
			.kind = "irregular", .dims = {14}, .ports = 5, .seed = seed});
		struct rt_tables *t = fera(f, FAB_NONE, 0);

		for (unsigned i = 0; i < 4 * seed; i++)
			rt_row(t, rng_below(&g, f->nswitches))[1 + rng_below(&g, t->top_lid)] =
				(uint8_t)(1 + rng_below(&g, 5));
		for (int hosts_only = 0; hosts_only < 2; hosts_only++) {
			struct rt_verify_opts o = {.hosts_only = hosts_only};
			struct rt_report a, b;

			rt_lanes_drop(t);
			a = verify(f, t, o);
			rt_lanes_add(t, f, RT_MAX_VLS, 1);
			for (uint32_t s = 0; s < f->nswitches; s++)
				rt_sl2vl_use(t, s, RT_ANY_PORT, RT_ANY_PORT,
					     rt_sl2vl_map(t, &(struct rt_sl2vl){{14}}));
			b = verify(f, t, o);
			assert_int_equal(a.cycles, b.cycles);
			assert_int_equal(a.cycle.n, b.cycle.n);
			assert_int_equal(a.unreachable, b.unreachable);
			assert_int_equal(b.discarded, 0);
			rt_report_free(&a);
			rt_report_free(&b);
		}
		rt_tables_free(t);
		fab_free(f);
	}
}

/* ---- tables as text ---- */

static int parse(const struct fab *f, const char *text, struct fab **g, struct rt_tables **t,
		 struct err *e)
{
	return rt_lfts_parse(f, "x.lfts", text, strlen(text), g, t, e);
}

static void expect_refused(const struct fab *f, const char *text, const char *message)
{
	struct rt_tables *t = NULL;
	struct fab *g = NULL;
	struct err e = {0};

	assert_int_equal(parse(f, text, &g, &t, &e), -EINVAL);
	assert_null(g);
	assert_null(t);
	if (!strstr(e.text, message))
		fail_msg("expected '%s', got '%s'", message, e.text);
}

TEST(tables_survive_writing_and_reading)
{
	struct fab *plain = two_switches(3, 4), *f = with_lids(two_switches(3, 4), 1), *g;
	struct rt_tables *t = fera(f, FAB_NONE, 0), *u;
	struct strbuf text = {0}, again = {0};
	struct err e;

	rt_lfts_write(f, t, &text);
	assert_int_equal(parse(plain, text.s, &g, &u, &e), 0);
	assert_int_equal(u->top_lid, t->top_lid);
	assert_int_equal(u->stride, t->stride);
	assert_int_equal(u->entries, t->entries);
	assert_memory_equal(u->lft, t->lft, (size_t)t->nswitches * t->stride);
	for (port_id p = 0; p < f->nports; p++) {
		assert_int_equal(g->ports[p].lid, f->ports[p].lid);
		assert_int_equal(g->ports[p].lmc, f->ports[p].lmc);
	}
	rt_lfts_write(g, u, &again);
	assert_string_equal(again.s, text.s);
	strbuf_free(&text);
	strbuf_free(&again);
	rt_tables_free(t);
	rt_tables_free(u);
	fab_free(f);
	fab_free(g);
	fab_free(plain);
}

/* Two switches and a host on each, with the text that OpenSM and dump_lfts have for them. */
static struct fab *pair(void)
{
	struct fab_builder *b = fab_builder_new();

	add_switch(b, 0x10, 2);
	add_switch(b, 0x11, 2);
	link_up(b, 0, 1, 1, 1);
	add_host(b, 0x100, 0, 2);
	add_host(b, 0x110, 1, 2);
	return fab_build(b);
}

static const char of_opensm[] =
	"Unicast lids [0-9] of switch Lid 2 guid 0x0000000000000010 ('switch'):\n"
	"0x0001 002 # Channel Adapter portguid 0x0000000000000101: 'host'\n"
	"0x0002 000 # Switch portguid 0x0000000000000010: 'switch'\n"
	"0x0003 001 # Switch portguid 0x0000000000000011: 'switch'\n"
	"0x0007 001 # unknown node and type\n"
	"0x0009 001 # Channel Adapter portguid 0x0000000000000111: 'host'\n"
	"5 lids dumped\n"
	"Unicast lids [0-9] of switch Lid 3 guid 0x0000000000000011 ('switch'):\n"
	"0x0001 001 # Channel Adapter portguid 0x0000000000000101: 'host'\n"
	"0x0002 001 # Switch portguid 0x0000000000000010: 'switch'\n"
	"0x0003 000 # Switch portguid 0x0000000000000011: 'switch'\n"
	"0x0009 002 # Channel Adapter portguid 0x0000000000000111: 'host'\n"
	"4 lids dumped\n";

static const char of_dump_lfts[] =
	"# a remark\r\n"
	"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000010 "
	"(switch):\r\n"
	"  Lid  Out   Destination\r\n"
	"       Port     Info \r\n"
	"0x0000 255 : (path #0 - illegal port)\r\n"
	"0x0001 002 : (Channel Adapter portguid 0x0000000000000101: 'host')\r\n"
	"0x0002 000 : (Switch portguid 0x0000000000000010: 'switch')\r\n"
	"0x0003 001 : (Switch portguid 0x0000000000000011: 'switch')\r\n"
	"0x0007 001 : (path #0 - unknown)\r\n"
	"0x0009 001 : (path #1 out of 1: portguid 0x0000000000000111)\r\n"
	"6 valid lids dumped \r\n"
	"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1,1 guid 0x0000000000000011 "
	"(switch):\r\n"
	"0x0001 001\r\n"
	"0x0002 001\r\n"
	"0x0003 000\r\n"
	"0x0009 002\r\n"
	"\r\n"
	"*** WARNING ***: this command has been replaced by dump_fts\r\n";

TEST(both_dialects_are_read)
{
	struct fab *f = pair(), *g, *h;
	struct rt_tables *t, *u;
	struct rt_report r;
	struct err e;

	assert_int_equal(parse(f, of_opensm, &g, &t, &e), 0);
	assert_int_equal(parse(f, of_dump_lfts, &h, &u, &e), 0);
	assert_int_equal(t->top_lid, 9);
	assert_int_equal(t->entries, 9);
	assert_memory_equal(t->lft, u->lft, 2 * (size_t)t->stride);
	for (port_id p = 0; p < f->nports; p++)
		assert_int_equal(g->ports[p].lid, h->ports[p].lid);
	assert_int_equal(lid_of(g, 3), 9);
	r = verify(g, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 12);
	rt_report_free(&r);
	rt_tables_free(t);
	rt_tables_free(u);
	fab_free(g);
	fab_free(h);
	fab_free(f);
}

/* ibsim calls port 1 of node 0x100 0x101 whatever the netlist says, here even where it says that
 * 0x101 is a port of another node. The names show what is meant. */
TEST(port_guids_of_ibsim_are_understood_by_name)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct fab *f, *g;
	struct err e;

	add_switch(b, 0x10, 3);
	for (unsigned i = 0; i < 3; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + i, 1,
					 i == 0	  ? "a"
					 : i == 1 ? "b"
						  : "c");

		fab_builder_port(b, h, 1)->guid = 0x100 + i;
		link_up(b, h, 1, 0, i + 1);
	}
	f = fab_build(b);
	assert_int_equal(parse(f,
			       "Unicast lids [0-3] of switch Lid 4 guid 0x0000000000000010 ('s'):\n"
			       "0x0001 001 # Channel Adapter portguid 0x0000000000000101: 'a'\n"
			       "0x0002 002 # Channel Adapter portguid 0x0000000000000102: 'b'\n"
			       "0x0003 003 # Channel Adapter portguid 0x0000000000000103: 'c'\n",
			       &g, &t, &e),
			 0);
	for (node_id n = 1; n <= 3; n++)
		assert_int_equal(lid_of(g, n), n);
	assert_int_equal(lid_of(g, 0), 4);
	rt_tables_free(t);
	fab_free(g);
	fab_free(f);
}

TEST(a_switch_without_a_table_has_no_routes)
{
	struct fab *f = pair(), *g;
	char *half = mem_strdup(of_opensm);
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	*strstr(half + 10, "Unicast") = 0;
	assert_int_equal(parse(f, half, &g, &t, &e), 0);
	r = verify(g, t, (struct rt_verify_opts){0});
	assert_int_equal(r.pairs, 12);
	assert_int_equal(r.unreachable, 3 + 3 + 2 * 2); /* from behind 0x11; then over it */
	rt_report_free(&r);
	free(half);
	rt_tables_free(t);
	fab_free(g);
	fab_free(f);
}

#define HEAD "Unicast lids [0-9] of switch Lid 2 guid 0x0000000000000010 ('switch'):\n"

TEST(bad_dumps_are_refused_with_file_and_line)
{
	struct fab *f = pair();

	expect_refused(f, "", "x.lfts: expected 'Unicast lids ...', found no forwarding table");
	expect_refused(f, "0x0001 002\n", "x.lfts:1: expected 'Unicast lids");
	expect_refused(f, HEAD "nonsense\n", "x.lfts:2: expected 'Unicast lids ...', an entry");
	expect_refused(f, HEAD "0x0001 256\n", "x.lfts:2: expected a port number up to 255");
	expect_refused(f, HEAD "0x0001 00x2\n", "x.lfts:2: expected a port number");
	expect_refused(f, HEAD "\n0xc000 001\n", "x.lfts:3: expected a unicast LID up to 0xbfff");
	expect_refused(f, HEAD "0x 001\n", "x.lfts:2: expected a unicast LID");
	expect_refused(f, HEAD "0x0001 001\n0x0001 002\n",
		       "x.lfts:3: LID 0x0001 goes to port 2 here, but to port 1 above");
	expect_refused(f, HEAD HEAD, "x.lfts:2: a second table for switch 0x0000000000000010");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2\n",
		       "x.lfts:1: expected '... guid 0x");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2 guid 0x99 ('x'):\n",
		       "x.lfts:1: switch 0x0000000000000099 is not in the topology");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2 guid 0x100 ('x'):\n",
		       "x.lfts:1: switch 0x0000000000000100 is no switch in the topology");
	expect_refused(f,
		       HEAD "0x0001 001 # Switch portguid 0x11: 'switch'\n"
			    "0x0001 001 # Channel Adapter portguid 0x101: 'host'\n",
		       "x.lfts:3: LID 0x0001 belongs to port 0x0000000000000101 here, but to port "
		       "0x0000000000000011 in line 2");
	expect_refused(f,
		       HEAD "0x0001 001 # Switch portguid 0x11: 'switch'\n"
			    "0x0901 001 # Switch portguid 0x11: 'switch'\n",
		       "x.lfts:3: LIDs 0x0001 and 0x0901 both belong to port 0x0000000000000011");
	expect_refused(f, HEAD "0x0001 001 # Switch portguid 0xzz\n",
		       "x.lfts:2: expected a port GUID");
	fab_free(f);
}

TEST(engines_are_found_by_name)
{
	assert_ptr_equal(rt_engine_find("fera"), &rt_fera);
	assert_null(rt_engine_find("feral"));
}

TEST(a_lid_with_two_owners_is_refused)
{
	struct fab *f = line(3);
	struct rt_opts o = {.root = FAB_NONE};
	struct rt_tables *t = NULL;
	struct err e;

	f->ports[fab_port_id(f, 0, 0)].lid = f->ports[fab_port_id(f, 1, 0)].lid;
	assert_int_equal(rt_compute(&rt_fera, f, &o, &t, &e), -EEXIST);
	assert_null(t);
	assert_non_null(strstr(e.text, "belongs to both"));
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_grow_with_the_distance_and_ties_go_by_guid),
		cmocka_unit_test(fera_is_legal_and_complete_on_every_family),
		cmocka_unit_test(fera_is_legal_and_complete_on_irregular_fabrics),
		cmocka_unit_test(fera_takes_a_long_way_down_before_a_short_way_up),
		cmocka_unit_test(the_number_of_threads_changes_nothing),
		cmocka_unit_test(parallel_links_share_the_destinations),
		cmocka_unit_test(the_lids_of_one_port_prefer_different_ways),
		cmocka_unit_test(a_tree_is_loaded_evenly),
		cmocka_unit_test(both_ports_of_a_host_are_destinations_and_hosts_never_forward),
		cmocka_unit_test(parts_without_a_way_between_them_are_routed_apart),
		cmocka_unit_test(fabrics_without_switches_or_links_do_no_harm),
		cmocka_unit_test(the_verifier_counts_like_a_walk_of_every_pair),
		cmocka_unit_test(hops_and_loads_of_a_line_are_as_by_hand),
		cmocka_unit_test(a_missing_entry_is_found),
		cmocka_unit_test(the_wrong_host_is_found),
		cmocka_unit_test(a_dead_port_is_found),
		cmocka_unit_test(a_loop_is_found),
		cmocka_unit_test(tables_that_end_early_leave_pairs_unreachable),
		cmocka_unit_test(a_turn_up_after_down_is_found),
		cmocka_unit_test(a_ring_routed_one_way_round_has_one_credit_loop),
		cmocka_unit_test(minimal_routes_on_a_ring_have_a_credit_loop_each_way),
		cmocka_unit_test(routes_that_only_switches_use_count_unless_told_otherwise),
		cmocka_unit_test(a_dateline_by_vl_breaks_the_credit_loop),
		cmocka_unit_test(a_dateline_does_not_help_long_routes),
		cmocka_unit_test(packets_that_go_round_are_followed_all_the_way),
		cmocka_unit_test(both_dependency_graphs_agree),
		cmocka_unit_test(tables_survive_writing_and_reading),
		cmocka_unit_test(both_dialects_are_read),
		cmocka_unit_test(port_guids_of_ibsim_are_understood_by_name),
		cmocka_unit_test(a_switch_without_a_table_has_no_routes),
		cmocka_unit_test(bad_dumps_are_refused_with_file_and_line),
		cmocka_unit_test(engines_are_found_by_name),
		cmocka_unit_test(a_lid_with_two_owners_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
