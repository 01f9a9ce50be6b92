/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks and routes over a change: directions that are kept, and tables that change no more than necessary
 * but are as good as new ones. Keeps no state; each test makes its own fabric. Does not measure time.
 * Covers: update.c, update_delta.c, updown_keep.c, stale_entries.c
 */
#include "route_fixture.h"

/* ---- ranks that last ---- */

static uint64_t *fresh_ranks(const struct fab *f, node_id root)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank)), high = 0;

	rt_updown_rank(f, root, rank);
	for (uint32_t s = 0; s < f->nswitches; s++) /* other parts: behind all others */
		high = rank[s] != UINT64_MAX ? MAX(high, rank[s]) : high;
	for (uint32_t s = 0; s < f->nswitches; s++)
		rank[s] = rank[s] == UINT64_MAX ? ++high : rank[s];
	return rank;
}

static uint64_t *kept_ranks(const struct fab *from, const uint64_t *rank, const struct fab *to,
			    node_id root, uint32_t *turned)
{
	uint64_t *old = mem_array(to->nswitches, sizeof(*old));
	uint64_t *kept = mem_array(to->nswitches, sizeof(*kept));

	rt_updown_rank_carry(from, rank, to, old);
	*turned = rt_updown_rank_keep(to, root, old, kept);
	free(old);
	return kept;
}

TEST(directions_stay_while_every_switch_has_an_up_link)
{
	struct fab *f = world_make((struct fab_gen){.kind = "torus", .dims = {4, 4}}), *g;
	struct world_down d = world_down_new(f);
	uint64_t *rank = fresh_ranks(f, f->switches[0]), *kept;
	uint32_t turned;

	kept = kept_ranks(f, rank, f, f->switches[0], &turned);
	assert_int_equal(turned, 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t v = 0; v < f->nswitches; v++)
			assert_int_equal(rank[s] < rank[v], kept[s] < kept[v]);
	free(kept);

	/* switch 5, two steps from the root, has another upper neighbour: 1 or 4 */
	for (unsigned p = 1; p <= world_ports(f, 5); p++)
		if (world_peer(f, 5, p) == 1)
			d.port[fab_port_id(f, f->switches[5], p)] = true;
	g = world_now(f, &d);
	kept = kept_ranks(f, rank, g, g->switches[0], &turned);
	assert_int_equal(turned, 0);
	free(kept);
	fab_free(g);

	/* a switch that comes back takes its old place */
	d.node[f->switches[6]] = true;
	g = world_now(f, &d);
	kept = kept_ranks(f, rank, g, g->switches[0], &turned);
	uint64_t *again = kept_ranks(g, kept, f, f->switches[0], &turned);

	assert_int_equal(turned, 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t v = 0; v < f->nswitches; v++)
			assert_int_equal(rank[s] < rank[v], again[s] < again[v]);
	free(again);
	free(kept);
	free(rank);
	fab_free(g);
	world_down_free(&d);
	fab_free(f);
}

/* Ring of six, root 0: 1 and 5 are its neighbours, 3 is opposite. */
TEST(a_switch_without_an_up_link_reverses_one_path)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {6}}), *g;
	struct world_down d = world_down_new(f);
	uint64_t *rank = fresh_ranks(f, f->switches[0]), *kept;
	uint32_t turned;

	for (unsigned p = 1; p <= world_ports(f, 0); p++)
		if (world_peer(f, 0, p) == 1)
			d.port[fab_port_id(f, f->switches[0], p)] = true;
	g = world_now(f, &d);
	kept = kept_ranks(f, rank, g, g->switches[0], &turned);
	assert_int_equal(turned, 2); /* 1-2 and 2-3; 3-4 and 4-5 point the right way already */
	assert_true(kept[0] < kept[5] && kept[5] < kept[4] && kept[4] < kept[3]);
	assert_true(kept[3] < kept[2] && kept[2] < kept[1]);
	free(kept);
	fab_free(g);

	/* the root dies: 5 takes over and only 1, 2 and 3 hang on another way than before */
	memset(d.port, 0, f->nports * sizeof(*d.port));
	d.node[f->switches[0]] = true;
	g = world_now(f, &d);
	kept = kept_ranks(f, rank, g, fab_node_by_guid(g, f->nodes[f->switches[5]].guid), &turned);
	assert_int_equal(turned, 2);
	free(kept);
	free(rank);
	fab_free(g);
	world_down_free(&d);
	fab_free(f);
}

/* One sink a part, and the root is one; every rank once; the count is the count. */
static void expect_ranks(const struct fab *f, node_id root, const uint64_t *old,
			 const uint64_t *rank, uint32_t turned)
{
	uint64_t *scratch = mem_array(f->nswitches, sizeof(*scratch));
	uint32_t sinks = 0, n = 0;
	struct fab_stats st;

	fab_stats(f, &st);
	rt_updown_rank(f, root, scratch);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		bool sink = true;

		for (uint32_t v = 0; v < s; v++)
			assert_true(rank[v] != rank[s]);
		for (unsigned p = 1; p <= world_ports(f, s); p++) {
			uint32_t v = world_peer(f, s, p);

			if (v == FAB_NONE || v == s)
				continue;
			sink &= rank[v] > rank[s];
			n += old[s] < old[v] && old[v] != UINT64_MAX && rank[s] > rank[v];
		}
		sinks += sink && scratch[s] != UINT64_MAX;
		if (sink && scratch[s] != UINT64_MAX)
			assert_true(scratch[s] >> 32 == 0); /* the root itself */
	}
	assert_int_equal(sinks, f->nswitches ? 1 : 0);
	assert_int_equal(n, turned);
	free(scratch);
}

/* The fewest turns of all orders of up to 7 switches. */
struct best {
	const struct fab *f;
	const uint64_t *old;
	uint32_t root, fewest;
	uint64_t rank[8];
};

static void best_try(struct best *b, uint32_t done)
{
	uint32_t n = 0;

	if (done < b->f->nswitches) {
		for (uint32_t s = 0; s < b->f->nswitches; s++) {
			bool below = false;

			if (b->rank[s] != UINT64_MAX || (done == 0) != (s == b->root))
				continue;
			for (unsigned p = 1; p <= world_ports(b->f, s); p++) {
				uint32_t v = world_peer(b->f, s, p);

				below |= v != FAB_NONE && b->rank[v] != UINT64_MAX;
			}
			if (done && !below)
				continue;
			b->rank[s] = done;
			best_try(b, done + 1);
			b->rank[s] = UINT64_MAX;
		}
		return;
	}
	for (uint32_t s = 0; s < b->f->nswitches; s++)
		for (unsigned p = 1; p <= world_ports(b->f, s); p++) {
			uint32_t v = world_peer(b->f, s, p);

			if (v != FAB_NONE && b->old[s] < b->old[v] && b->old[v] != UINT64_MAX)
				n += b->rank[s] > b->rank[v];
		}
	b->fewest = MIN(b->fewest, n);
}

static bool in_one_part(const struct fab *f, node_id root)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	bool one = true;

	rt_updown_rank(f, root, rank);
	for (uint32_t s = 0; s < f->nswitches; s++)
		one &= rank[s] != UINT64_MAX;
	free(rank);
	return one;
}

TEST(few_more_links_are_reversed_than_necessary)
{
	uint64_t mine = 0, best = 0, cases = 0, exact = 0;
	struct rng r;

	rng_seed(&r, 1, 0);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct fab *f = world_make((struct fab_gen){
			.kind = "irregular", .dims = {7}, .ports = 5, .seed = seed});
		struct world_down d = world_down_new(f);
		node_id was = f->switches[rng_below(&r, f->nswitches)], root;
		uint64_t *rank = fresh_ranks(f, was), *kept;
		struct best b = {.fewest = UINT32_MAX};
		uint64_t old[8];
		uint32_t turned;

		if (seed % 2)
			d.node[was] = true;
		else
			world_change(f, &d, &r);
		struct fab *g = world_now(f, &d);

		root = d.node[was] ? g->switches[0] : fab_node_by_guid(g, f->nodes[was].guid);
		if (in_one_part(g, root)) {
			kept = kept_ranks(f, rank, g, root, &turned);
			rt_updown_rank_carry(f, rank, g, old);
			b.f = g;
			b.old = old;
			b.root = g->switch_index[root];
			memset(b.rank, 0xff, sizeof(b.rank));
			best_try(&b, 0);
			assert_true(turned >= b.fewest);
			mine += turned;
			best += b.fewest;
			exact += turned == b.fewest;
			cases++;
			free(kept);
		}
		free(rank);
		fab_free(g);
		world_down_free(&d);
		fab_free(f);
	}
	print_message("# links turned: %u, at least %u; %u of %u cases with the fewest\n",
		      (unsigned)mine, (unsigned)best, (unsigned)exact, (unsigned)cases);
	assert_true(cases > 300);
	assert_true(exact * 100 >= cases * 95);
	assert_true(mine * 100 <= best * 110);
}

/* ---- FERa by its definition ---- */

enum { FAR = 1 << 20 };

static void slow_distances(const struct fab *f, const uint64_t *rank, uint32_t d, unsigned *down,
			   unsigned *dist)
{
	for (uint32_t s = 0; s < f->nswitches; s++)
		down[s] = dist[s] = s == d ? 0 : FAR;
	for (int up = 0; up < 2; up++)
		for (bool news = true; news;) {
			news = false;
			for (uint32_t s = 0; s < f->nswitches; s++)
				for (unsigned p = 1; p <= world_ports(f, s); p++) {
					uint32_t v = world_peer(f, s, p);
					unsigned on;

					if (v == FAB_NONE || v == s || (rank[v] < rank[s]) != up ||
					    (up && down[s] < FAR))
						continue;
					on = (up ? dist[v] : down[v]) + 1;
					if (on >= (up ? dist[s] : down[s]))
						continue;
					dist[s] = on;
					down[s] = up ? down[s] : on;
					news = true;
				}
		}
}

static bool among_best(const struct fab *f, const uint64_t *rank, uint32_t s, unsigned port,
		       const unsigned *down, const unsigned *dist)
{
	uint32_t v = world_peer(f, s, port);

	if (v == FAB_NONE || v == s || dist[s] >= FAR)
		return false;
	return down[s] < FAR ? rank[v] > rank[s] && down[v] + 1 == down[s]
			     : rank[v] < rank[s] && dist[v] + 1 == dist[s];
}

/* Every entry is among the best, and is the old one where that is. */
static void expect_column(const struct fab *f, const uint64_t *rank, const struct rt_tables *old,
			  const struct rt_tables *t, const struct fab_port *x)
{
	unsigned *down = mem_array(f->nswitches, sizeof(*down));
	unsigned *dist = mem_array(f->nswitches, sizeof(*dist));
	bool own = fab_is_switch(f, x->node);
	uint32_t d = f->switch_index[own ? x->node : f->ports[x->peer].node];

	slow_distances(f, rank, d, down, dist);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		unsigned is = rt_row(t, s)[x->lid];
		unsigned was = x->lid <= old->top_lid ? rt_row(old, s)[x->lid] : IBA_PORT_NONE;

		if (s == d)
			assert_int_equal(is, own ? 0 : f->ports[x->peer].num);
		else if (dist[s] >= FAR)
			assert_int_equal(is, IBA_PORT_NONE);
		else if (among_best(f, rank, s, was, down, dist))
			assert_int_equal(is, was);
		else
			assert_true(among_best(f, rank, s, is, down, dist));
	}
	free(down);
	free(dist);
}

static void expect_columns(const struct fab *f, const uint64_t *rank, const struct rt_tables *old,
			   const struct rt_tables *t)
{
	bool *used = mem_zarray(t->stride, sizeof(*used));

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		if (x->lid && (fab_is_switch(f, x->node) || x->peer != FAB_NONE)) {
			expect_column(f, rank, old, t, x);
			used[x->lid] = true;
		}
	}
	for (uint32_t i = 0; i < f->nvlids; i++) {
		struct fab_port x = f->ports[f->vlids[i].port];

		x.lid = f->vlids[i].lid;
		if (x.peer == FAB_NONE)
			continue;
		expect_column(f, rank, old, t, &x);
		used[x.lid] = true;
	}
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 0; lid < t->stride; lid++)
			assert_true(used[lid] || rt_row(t, s)[lid] == IBA_PORT_NONE);
	free(used);
}

/* ---- tables over a change ---- */

struct state {
	struct fab *f;
	uint64_t *rank;
	struct rt_tables *t;
};

static void state_free(struct state *x)
{
	fab_free(x->f);
	free(x->rank);
	rt_tables_free(x->t);
}

static struct rt_tables *updated(const struct fab *f, const struct rt_opts o,
				 const struct rt_tables *old, struct rt_update_stats *st)
{
	struct rt_tables *t = rt_tables_new(f->nswitches, fab_top_lid(f));
	struct err e;

	if (rt_update(f, &o, old, t, st, &e))
		fail_msg("%s", e.text);
	return t;
}

static uint64_t count_changed(const struct rt_tables *old, const struct rt_tables *t)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < t->nswitches; s++)
		for (uint32_t lid = 0; lid <= MAX(old->top_lid, t->top_lid); lid++)
			n += (lid <= old->top_lid ? rt_row(old, s)[lid] : IBA_PORT_NONE) !=
			     (lid <= t->top_lid ? rt_row(t, s)[lid] : IBA_PORT_NONE);
	return n;
}

struct tally {
	uint64_t n, permille, worst; /* busiest link: ours for FERa's, in thousandths */
};

static void tally_add(struct tally *load, uint64_t ours, uint64_t theirs)
{
	uint64_t permille = theirs ? ours * 1000 / theirs : 1000;

	load->n++;
	load->permille += permille;
	load->worst = MAX(load->worst, permille);
}

/* Compared with FERa's tables for the same ranks. */
static void expect_as_good(const struct state *x, struct tally *load)
{
	struct rt_tables *whole = world_fera(x->f, x->rank);
	struct rt_report a = world_verify(x->f, x->t, (struct rt_verify_opts){.rank = x->rank});
	struct rt_report b = world_verify(x->f, whole, (struct rt_verify_opts){.rank = x->rank});

	assert_int_equal(a.loops + a.down_up + a.cycles, 0);
	assert_int_equal(a.unreachable, b.unreachable);
	assert_int_equal(a.hops_sum, b.hops_sum);
	assert_int_equal(a.hops_max, b.hops_max);
	if (load)
		tally_add(load, a.link_load_max, b.link_load_max);
	rt_report_free(&a);
	rt_report_free(&b);
	rt_tables_free(whole);
}

/* From one state to the next: ranks carried over, tables updated, with and without knowing what was
 * before, and all of it checked. Returns the destinations that were searched. */
static uint32_t next_state(struct state *x, struct fab *f, node_id root, bool thorough,
			   struct tally *load)
{
	uint64_t *old_rank = mem_array(f->nswitches, sizeof(*old_rank));
	struct rt_before before = {x->f, x->rank, x->t};
	struct rt_tables *old = rt_tables_carry(x->f, x->t, f), *blind;
	struct rt_update_stats st, st2, all;
	struct state y = {.f = f};
	uint32_t turned;

	y.rank = kept_ranks(x->f, x->rank, f, root, &turned);
	rt_updown_rank_carry(x->f, x->rank, f, old_rank);
	expect_ranks(f, root, old_rank, y.rank, turned);
	y.t = updated(f, (struct rt_opts){.rank = y.rank, .before = &before, .threads = 1}, old,
		      &st);
	blind = updated(f, (struct rt_opts){.rank = y.rank, .threads = 3}, old, &all);
	assert_int_equal(all.searched, f->nswitches);
	assert_int_equal(st.changed, all.changed);
	assert_int_equal(st.changed, count_changed(old, y.t));
	assert_memory_equal(y.t->lft, blind->lft, (size_t)blind->nswitches * blind->stride);
	expect_as_good(&y, load);
	if (thorough) {
		struct state even = y;

		expect_columns(f, y.rank, old, y.t);
		even.t = updated(f,
				 (struct rt_opts){.rank = y.rank, .before = &before, .even = true},
				 old, &st2);
		assert_int_equal(st2.changed, count_changed(old, even.t));
		expect_as_good(&even, NULL);
		rt_tables_free(even.t);
	}
	rt_tables_free(old);
	rt_tables_free(blind);
	free(old_rank);
	state_free(x);
	*x = y;
	return st.searched;
}

static struct state first_state(struct fab *f, node_id root)
{
	struct state x = {.f = f, .rank = fresh_ranks(f, root)};

	x.t = world_fera(f, x.rank);
	return x;
}

static struct fab *any_fabric(uint64_t i)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {5}},
		{.kind = "mesh", .dims = {3, 4}},
		{.kind = "torus", .dims = {3, 3}},
		{.kind = "mtree", .dims = {4, 2}},
		{.kind = "mtree", .dims = {4, 3}},
		{.kind = "kary", .dims = {3, 2}},
		{.kind = "hypercube", .dims = {4}},
		{.kind = "irregular", .dims = {6}, .ports = 5, .seed = i},
		{.kind = "irregular", .dims = {12}, .ports = 6, .seed = i},
		{.kind = "irregular", .dims = {24}, .ports = 8, .seed = i},
	};
	struct fab *f = world_make(families[i % ARRAY_LEN(families)]);

	return i / ARRAY_LEN(families) % 3 ? f : world_vfs(f, 1 + i % 5);
}

static void lid_swap(struct fab *f, uint16_t a, uint16_t b)
{
	for (uint32_t i = 0; i < f->nvlids; i++)
		if (f->vlids[i].lid == a || f->vlids[i].lid == b)
			f->vlids[i].lid = f->vlids[i].lid == a ? b : a;
}

/* A virtual machine moved: snapshot and tables have exchanged two LIDs, no engine ran. */
static void swap_in_force(struct fab *f, struct state *x, struct rng *r)
{
	uint16_t a, b;

	if (!x->f->nvlids)
		return;
	a = x->f->vlids[rng_below(r, x->f->nvlids)].lid;
	b = x->f->vlids[rng_below(r, x->f->nvlids)].lid;
	lid_swap(f, a, b);
	lid_swap(x->f, a, b);
	for (uint32_t s = 0; s < x->t->nswitches; s++) {
		uint8_t *row = rt_row(x->t, s), was = row[a];

		row[a] = row[b];
		row[b] = was;
	}
}

/* Links, hosts and switches come and go, one or several at once, the root among them. */
TEST(updated_tables_are_as_good_as_computed_ones)
{
	enum { FABRICS = 250, CHANGES = 5 };
	uint64_t searched = 0, switches = 0;
	struct tally load = {0};

	for (uint64_t i = 0; i < FABRICS; i++) {
		struct fab *f = any_fabric(i);
		struct world_down d = world_down_new(f);
		node_id root = f->switches[i % f->nswitches];
		struct state x = first_state(world_now(f, &d), root);
		struct rng r;

		rng_seed(&r, 7, i);
		for (unsigned c = 0; c < CHANGES; c++) {
			for (uint32_t k = 1 + (i % 3 ? 0 : rng_below(&r, 4)); k; k--)
				world_change(f, &d, &r);
			if (f->nvlids && c % 2)
				world_swap(f, &r);
			for (unsigned k = 0; k < i % 7; k++)
				swap_in_force(f, &x, &r);
			struct fab *g = world_now(f, &d);
			node_id up = fab_node_by_guid(g, f->nodes[root].guid);

			if (!g->nswitches) {
				fab_free(g);
				continue;
			}
			searched += next_state(&x, g, up == FAB_NONE ? g->switches[0] : up,
					       i % 4 == 0, i % 3 ? &load : NULL);
			switches += x.f->nswitches;
		}
		state_free(&x);
		world_down_free(&d);
		fab_free(f);
	}
	print_message("# searched %u of %u; busiest link for FERa's: mean %u, worst %u of 1000\n",
		      (unsigned)searched, (unsigned)switches, (unsigned)(load.permille / load.n),
		      (unsigned)load.worst);
	assert_true(searched < switches / 2);
}

/* A link of a tree fails and returns. Only what must moves at first; `even` gives what
 * comes back its share. The busiest link between hosts for that of FERa's tables from nothing. */
static void tree_change(struct state *x, struct fab *f, bool even, struct tally *load)
{
	struct rt_before before = {x->f, x->rank, x->t};
	struct rt_tables *old = rt_tables_carry(x->f, x->t, f), *whole;
	struct rt_verify_opts hosts = {.hosts_only = true};
	struct rt_report a, b;
	struct rt_update_stats st;
	struct state y = {.f = f};
	uint32_t turned;

	y.rank = kept_ranks(x->f, x->rank, f, f->switches[0], &turned);
	y.t = updated(f, (struct rt_opts){.rank = y.rank, .before = &before, .even = even}, old,
		      &st);
	assert_int_equal(st.changed, count_changed(old, y.t));
	expect_as_good(&y, NULL);
	whole = world_fera(f, y.rank);
	a = world_verify(f, y.t, hosts);
	b = world_verify(f, whole, hosts);
	tally_add(load, a.link_load_max, b.link_load_max);
	rt_report_free(&a);
	rt_report_free(&b);
	rt_tables_free(whole);
	rt_tables_free(old);
	state_free(x);
	*x = y;
}

/* Two switches with two links; behind each two hosts with 200 VFs. One link fails and returns: each carries
 * half of the 402 LIDs again, also when the snapshot before is not known. */
TEST(many_vfs_behind_one_switch_are_spread_again)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_update_stats st;
	struct rt_tables *t, *u;
	struct world_down d;
	struct state x;
	unsigned n[256] = {0};
	struct fab *f;

	for (unsigned i = 0; i < 2; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 4, "switch");
	fab_add_link(b, 0, 1, 1, 1);
	fab_add_link(b, 0, 2, 1, 2);
	for (unsigned i = 0; i < 4; i++)
		fab_add_link(b, fab_add_node(b, IBA_NODE_CA, 0x100 + i, 1, ""), 1, i / 2,
			     3 + i % 2);
	f = world_vfs(world_lids(fab_build(b), 0), 200);
	d = world_down_new(f);
	d.port[fab_port_id(f, 0, 1)] = true;
	x = first_state(world_now(f, &d), 0);
	t = rt_tables_carry(x.f, x.t, f);
	u = updated(f, (struct rt_opts){.rank = x.rank, .even = true}, t, &st);
	for (uint32_t lid = 1; lid <= u->top_lid; lid++)
		n[rt_row(u, 0)[lid]]++;
	assert_in_range(n[1], 201, 202); /* and the other switch has a LID */
	assert_int_equal(n[1] + n[2], 403);
	rt_tables_free(t);
	rt_tables_free(u);
	state_free(&x);
	world_down_free(&d);
	fab_free(f);
}

TEST(trees_stay_balanced)
{
	struct tally down = {0}, up = {0}, kept = {0};
	struct rng r;

	rng_seed(&r, 5, 0);
	for (unsigned i = 0; i < 60; i++) {
		struct fab *f =
			world_make((struct fab_gen){.kind = "mtree", .dims = {6 + i % 2 * 2, 3}});
		struct world_down d = world_down_new(f);
		struct state x = first_state(world_now(f, &d), f->switches[0]);

		do {
			memset(d.node, 0, f->nnodes * sizeof(*d.node));
			memset(d.port, 0, f->nports * sizeof(*d.port));
			world_change(f, &d, &r);
		} while (d.node[f->switches[0]]);
		tree_change(&x, world_now(f, &d), i % 2, &down);
		memset(d.node, 0, f->nnodes * sizeof(*d.node));
		memset(d.port, 0, f->nports * sizeof(*d.port));
		tree_change(&x, world_now(f, &d), i % 4 < 3, i % 4 < 3 ? &up : &kept);
		state_free(&x);
		world_down_free(&d);
		fab_free(f);
	}
	print_message("# busiest link for FERa's, mean and worst of 1000: down %u %u, up %u %u, "
		      "up without a new share %u %u\n",
		      (unsigned)(down.permille / down.n), (unsigned)down.worst,
		      (unsigned)(up.permille / up.n), (unsigned)up.worst,
		      (unsigned)(kept.permille / kept.n), (unsigned)kept.worst);
	assert_true(down.worst <= 1100);
	assert_true(up.worst <= 1100);
}

/* Two chains, and each switch fails in turn: an update needs the directions of both. */
TEST(islands_have_directions_too)
{
	static const uint8_t links[][4] = {{0, 1, 1, 2}, {1, 1, 2, 2}, {2, 1, 3, 2},
					   {4, 1, 5, 2}, {5, 1, 6, 2}, {6, 1, 7, 2}};
	struct fab *f = world_links(8, 3, links, ARRAY_LEN(links));
	struct rt_opts o = {.root = f->switches[1]};
	uint64_t rank[8], kept[8], old[8];
	struct rt_tables *before;
	struct err e;

	assert_int_equal(rt_compute(&rt_fera, f, &o, &before, &e), 0);
	rt_tables_fill(before);
	assert_int_equal(rt_engine_ranks(&rt_fera, f, &o, rank, &e), 0);
	for (uint32_t s = 0; s < 8; s++) {
		struct world_down down = world_down_new(f);
		struct rt_before b = {f, rank, before};
		struct rt_tables *carried, *t;
		struct rt_update_stats st;
		struct rt_report r;
		struct fab *now;

		down.node[f->switches[s]] = true;
		now = world_now(f, &down);
		rt_updown_rank_carry(f, rank, now, old);
		rt_updown_rank_keep(now, now->switches[s < 2 ? 0 : 1], old, kept);
		carried = rt_tables_carry(f, before, now);
		t = updated(now, (struct rt_opts){.rank = kept, .before = &b, .even = true},
			    carried, &st);
		r = world_verify(now, t, (struct rt_verify_opts){.rank = kept});
		assert_true(r.ok);
		rt_report_free(&r);
		rt_tables_free(carried);
		rt_tables_free(t);
		world_down_free(&down);
		fab_free(now);
	}
	rt_tables_free(before);
	fab_free(f);
}

/* From nothing come FERa's own tables, and from FERa's own tables nothing changes. */
TEST(an_update_without_old_tables_gives_feras)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {6, 3}});
	struct state x = first_state(f, f->switches[0]);
	struct rt_tables *none = rt_tables_new(f->nswitches, 1), *t;
	struct rt_before before = {x.f, x.rank, x.t};
	struct rt_update_stats st;

	t = updated(f, (struct rt_opts){.rank = x.rank, .threads = 2}, none, &st);
	assert_memory_equal(t->lft, x.t->lft, (size_t)t->nswitches * t->stride);
	assert_int_equal(t->entries, x.t->entries);
	assert_int_equal(st.changed, x.t->entries);
	rt_tables_free(t);
	t = updated(f, (struct rt_opts){.rank = x.rank, .before = &before}, x.t, &st);
	assert_memory_equal(t->lft, x.t->lft, (size_t)t->nswitches * t->stride);
	assert_int_equal(t->entries + st.changed + st.searched, 0);
	rt_tables_free(t);
	rt_tables_free(none);
	state_free(&x);
}

static void host_forget(struct fab *f, node_id host)
{
	f->ports[fab_port_id(f, host, 1)].lid = 0;
}

/* Hosts left, and then another root was chosen: routes to their LIDs go down and up by its ranks, and a plan refused
 * all tables that kept them. */
TEST(routes_to_lids_that_are_gone_obey_the_ranks_or_go)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {5}});
	struct state old = first_state(f, f->switches[0]);
	uint64_t *rank = fresh_ranks(f, f->switches[2]);
	struct rt_tables *t = NULL, *kept;
	struct rt_plan p;
	struct err e;
	uint32_t n = 0;

	assert_int_equal(rt_compute(&rt_fera, f, &(struct rt_opts){.rank = rank}, &t, &e), 0);
	kept = rt_tables_carry(f, t, f);
	for (node_id h = 0; h < f->nnodes; h++) {
		uint16_t lid = fab_is_switch(f, h) ? 0 : f->ports[fab_port_id(f, h, 1)].lid;

		for (uint32_t s = 0; lid && s < f->nswitches; s++)
			rt_row(kept, s)[lid] = rt_row(old.t, s)[lid];
		if (lid)
			host_forget(f, h);
	}
	assert_int_equal(rt_plan(f, old.t, kept, rank, NULL, 1, &p, &e), -EINVAL);
	assert_string_equal(e.text, "plan: the new tables are not free of deadlock");

	assert_true(rt_drop_stale(f, kept, rank) > 0);
	assert_int_equal(rt_drop_stale(f, kept, rank), 0);
	assert_int_equal(rt_plan(f, old.t, kept, rank, NULL, 1, &p, &e), 0);
	rt_plan_free(&p);
	for (uint32_t lid = 1; lid <= t->top_lid; lid++)
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (rt_row(kept, s)[lid] == IBA_PORT_NONE)
				n++;
			else if (rt_row(kept, s)[lid] != rt_row(old.t, s)[lid])
				assert_int_equal(rt_row(kept, s)[lid], rt_row(t, s)[lid]);
	assert_true(n % f->nswitches == 0 && n < f->nhosts * f->nswitches);
	free(rank);
	rt_tables_free(t);
	rt_tables_free(kept);
	state_free(&old);
}

TEST(tables_of_another_fabric_are_refused)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {4}});
	struct state x = first_state(f, f->switches[0]);
	struct rt_tables *few = rt_tables_new(3, fab_top_lid(f));
	struct rt_tables *t = rt_tables_new(4, fab_top_lid(f)), *low = rt_tables_new(4, 3);
	struct rt_before before = {x.f, x.rank, few};
	struct rt_opts o = {.rank = x.rank};
	struct rt_update_stats st;
	struct err e;

	assert_int_equal(rt_update(f, &o, few, t, &st, &e), -EINVAL);
	assert_string_equal(e.text, "update: tables of 3 switches for a fabric with 4");
	assert_int_equal(rt_update(f, &o, t, low, &st, &e), -ERANGE);
	o.before = &before;
	assert_int_equal(rt_update(f, &o, t, t, &st, &e), -EINVAL);
	assert_string_equal(e.text, "update: tables of 3 switches for 4 before the change");
	o.rank = NULL;
	assert_int_equal(rt_update(f, &o, t, t, &st, &e), -EINVAL);
	assert_string_equal(e.text, "update: no ranks given");
	rt_tables_free(few);
	rt_tables_free(low);
	rt_tables_free(t);
	state_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directions_stay_while_every_switch_has_an_up_link),
		cmocka_unit_test(a_switch_without_an_up_link_reverses_one_path),
		cmocka_unit_test(few_more_links_are_reversed_than_necessary),
		cmocka_unit_test(updated_tables_are_as_good_as_computed_ones),
		cmocka_unit_test(many_vfs_behind_one_switch_are_spread_again),
		cmocka_unit_test(trees_stay_balanced),
		cmocka_unit_test(islands_have_directions_too),
		cmocka_unit_test(an_update_without_old_tables_gives_feras),
		cmocka_unit_test(routes_to_lids_that_are_gone_obey_the_ranks_or_go),
		cmocka_unit_test(tables_of_another_fabric_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
