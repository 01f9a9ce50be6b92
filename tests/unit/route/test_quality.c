/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meter of routes beside a slow one that follows every flow by itself, with floating point and without classes or
 * trees: generated and odd fabrics, whole and damaged tables, LMC, lanes, cables between hosts.
 * Covers: quality_islands.c, quality_patterns.c, quality_shares.c, quality_all.c
 */
#include <math.h>

#include "route_fixture.h"

#include "route/quality_priv.h"

/* ---- the slow meter ---- */

struct slow {
	const struct fab *f;
	const struct rt_tables *t;
	rt_hosts hosts;
	bool spread;
	VEC(struct flow) flows;
	/* over the patterns of a kind */
	double sum, worst, worst_pattern;
	uint64_t n, no_path, busiest, patterns;
	uint64_t *load; /* of the last pattern, by port */
	struct meter_island *islands;
	uint32_t nislands, *lists; /* hosts, island by island */
};

/* The smallest number of a port that cables and switches join with each port. */
static uint32_t *labels(const struct fab *f)
{
	uint32_t *at = mem_array(f->nports, sizeof(*at));
	bool moved = true;

	for (port_id p = 0; p < f->nports; p++)
		at[p] = p;
	while (moved) {
		moved = false;
		for (port_id p = 0; p < f->nports; p++) {
			node_id n = f->ports[p].node;
			port_id peer = f->ports[p].peer, own = f->nodes[n].first_port;
			uint32_t least = peer == FAB_NONE ? at[p] : MIN(at[p], at[peer]);

			if (!fab_is_switch(f, n))
				own = p;
			least = MIN(least, at[own]);
			moved |= least < at[p] || least < at[own];
			at[p] = at[own] = least;
		}
	}
	return at;
}

/* In the order of their first hosts. */
static void slow_islands(struct slow *x)
{
	uint32_t n = (uint32_t)x->hosts.n, *label = labels(x->f), filled = 0;

	x->islands = mem_zarray(n, sizeof(*x->islands));
	x->lists = mem_array(n, sizeof(*x->lists));
	for (uint32_t h = 0; h < n; h++) {
		struct meter_island *to = &x->islands[x->nislands];
		bool seen = false;

		for (uint32_t k = 0; k < h; k++)
			seen |= label[x->hosts.at[k]] == label[x->hosts.at[h]];
		if (seen)
			continue;
		*to = (struct meter_island){.hosts = x->lists + filled, .number = x->nislands++};
		for (uint32_t k = h; k < n; k++)
			if (label[x->hosts.at[k]] == label[x->hosts.at[h]]) {
				x->lists[filled++] = k;
				to->n++;
			}
	}
	free(label);
}

/* Ports that a flow leaves by, at most nswitches + 1 of them; 0: it does not arrive. */
static uint32_t slow_path(const struct slow *x, struct flow w, port_id *out)
{
	port_id to = x->hosts.at[w.to], at = x->hosts.at[w.from];
	uint32_t lid = x->f->ports[to].lid, n = 0;

	if (x->spread)
		lid += w.from % (1u << x->f->ports[to].lmc);
	out[n++] = at;
	at = x->f->ports[at].peer;
	while (at != to && n <= x->f->nswitches + 1) {
		node_id node = x->f->ports[at].node;
		unsigned port;

		if (!fab_is_switch(x->f, node))
			return 0;
		port = rt_row(x->t, x->f->switch_index[node])[lid];
		if (!port || port > x->f->nodes[node].nports)
			return 0;
		out[n++] = fab_port_id(x->f, node, port);
		at = x->f->ports[out[n - 1]].peer;
		if (at == FAB_NONE)
			return 0;
	}
	return at == to ? n : 0;
}

static double slow_share(struct slow *x, struct flow w, port_id *path)
{
	uint32_t n = slow_path(x, w, path);
	uint64_t most = 0, ends;

	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		most = MAX(most, x->load[path[i]]);
	ends = MAX(x->load[path[0]], x->load[path[n - 1]]);
	x->busiest = MAX(x->busiest, most);
	return (double)ends / (double)most;
}

static void slow_pattern(struct slow *x)
{
	port_id *path = mem_array(x->f->nswitches + 3, sizeof(*path));
	double sum = 0;

	memset(x->load, 0, x->f->nports * sizeof(*x->load));
	for (size_t i = 0; i < x->flows.n; i++)
		for (uint32_t k = slow_path(x, x->flows.at[i], path); k--;)
			x->load[path[k]]++;
	for (size_t i = 0; i < x->flows.n; i++) {
		double share = slow_share(x, x->flows.at[i], path);

		sum += share;
		x->no_path += share == 0;
		x->worst = x->n++ ? fmin(x->worst, share) : share;
	}
	if (x->flows.n) {
		double mean = sum / (double)x->flows.n;

		x->worst_pattern = x->patterns++ ? fmin(x->worst_pattern, mean) : mean;
	}
	x->sum += sum;
	x->flows.n = 0;
	free(path);
}

static void slow_begin(struct slow *x)
{
	x->sum = x->worst = x->worst_pattern = 0;
	x->n = x->no_path = x->busiest = x->patterns = 0;
}

static void slow_add(struct slow *x, uint32_t from, uint32_t to)
{
	if (from != to)
		vec_push(&x->flows, (struct flow){from, to});
}

static void same(const struct slow *x, const struct rt_shares *s)
{
	assert_int_equal(s->flows, x->n);
	assert_int_equal(s->no_path, x->no_path);
	assert_int_equal(s->busiest, x->busiest);
	assert_int_equal(s->patterns, x->patterns);
	if (!x->n)
		return;
	assert_true(fabs((double)rt_shares_mean(s) / RT_SHARE_ONE - x->sum / (double)x->n) < 1e-7);
	assert_true(fabs((double)s->worst / RT_SHARE_ONE - x->worst) < 1e-7);
	assert_true(fabs((double)s->worst_pattern / RT_SHARE_ONE - x->worst_pattern) < 1e-7);
}

/* Where host i of n in an island sends to in pattern k; n: nowhere. */
typedef uint32_t target(uint32_t i, uint32_t n, uint32_t k);

static uint32_t to_shift(uint32_t i, uint32_t n, uint32_t k)
{
	return k < n ? (i + k) % n : n;
}

static uint32_t to_complement(uint32_t i, uint32_t n, uint32_t k UNUSED)
{
	return n - 1 - i;
}

static uint32_t to_tornado(uint32_t i, uint32_t n, uint32_t k UNUSED)
{
	return (i + (n - 1) / 2) % n;
}

static uint32_t to_next(uint32_t i, uint32_t n, uint32_t k UNUSED)
{
	return (i + 1) % n;
}

/* Every 32nd is a storage node; the others send to these in turn. */
static uint32_t to_storage(uint32_t i, uint32_t n, uint32_t k UNUSED)
{
	uint32_t storage = (n + 31) / 32, before = i - i / 32 - 1;

	return i % 32 ? before % storage * 32 : n;
}

static uint32_t to_double(uint32_t i, uint32_t n, uint32_t k)
{
	uint32_t most = 1;

	while (2 * most <= n)
		most *= 2;
	return i < most && 1u << k < most ? i ^ 1u << k : n;
}

/* Patterns from first to last, in all islands at once. */
static void slow_kind(struct slow *x, target *where, uint32_t first, uint32_t last,
		      const struct rt_shares *s)
{
	slow_begin(x);
	for (uint32_t k = first; k <= last; k++) {
		for (uint32_t j = 0; j < x->nislands; j++) {
			const struct meter_island *y = &x->islands[j];

			for (uint32_t i = 0; i < y->n; i++) {
				uint32_t to = where(i, y->n, k);

				if (to < y->n)
					slow_add(x, y->hosts[i], y->hosts[to]);
			}
		}
		slow_pattern(x);
	}
	same(x, s);
}

static void slow_kinds(struct slow *x, const struct rt_quality *q)
{
	slow_kind(x, to_shift, 1, (uint32_t)x->hosts.n, &q->by[RT_SHIFTS]);
	slow_kind(x, to_complement, 0, 0, &q->by[RT_BIT_COMPLEMENT]);
	slow_kind(x, to_tornado, 0, 0, &q->by[RT_TORNADO]);
	slow_kind(x, to_next, 0, 0, &q->by[RT_RING]);
	slow_kind(x, to_storage, 0, 0, &q->by[RT_INCAST]);
	slow_kind(x, to_double, 0, 30, &q->by[RT_RECURSIVE_DOUBLING]);
}

/* Whether two hosts are neighbours in a grid with these sides. */
static bool near(uint32_t a, uint32_t b, const uint32_t *side)
{
	unsigned differ = 0;

	for (int d = 2; d >= 0; d--) {
		uint32_t x = a % side[d], y = b % side[d], gap = x > y ? x - y : y - x;

		if (gap)
			differ += gap == 1 || gap == side[d] - 1 ? 1 : 2;
		a /= side[d];
		b /= side[d];
	}
	return differ == 1;
}

static void slow_grids(struct slow *x, const struct rt_quality *q)
{
	for (unsigned g = 0; g < 2; g++) {
		slow_begin(x);
		for (uint32_t j = 0; j < x->nislands; j++) {
			const struct meter_island *y = &x->islands[j];
			uint32_t side[3], n;

			pattern_grid(y->n, g + 2, side);
			n = side[0] * side[1] * side[2];
			assert_true(n && n <= y->n);
			for (uint32_t i = 0; i < n; i++)
				for (uint32_t k = 0; k < n; k++)
					if (near(i, k, side))
						slow_add(x, y->hosts[i], y->hosts[k]);
		}
		slow_pattern(x);
		same(x, &q->by[g ? RT_NEIGHBOURS_3D : RT_NEIGHBOURS_2D]);
	}
}

/* What was drawn is asked from the meter, and checked to be what it should be. */
static void slow_drawn(struct slow *x, const struct rt_quality *q, const struct rt_quality_opts *o,
		       enum rt_pattern p)
{
	uint32_t n = (uint32_t)x->hosts.n;
	struct meter m = {.f = x->f,
			  .t = x->t,
			  .o = o,
			  .hosts = x->hosts.at,
			  .n = n,
			  .islands = x->islands,
			  .nislands = x->nislands};
	struct meter_work w = {.perm = mem_array(n, sizeof(uint32_t))};
	uint32_t *to = mem_array(n, sizeof(*to)), *from = mem_array(n, sizeof(*from));

	slow_begin(x);
	for (uint32_t i = 0; n && i < o->patterns; i++) {
		memset(to, 0xff, n * sizeof(*to));
		memset(from, 0xff, n * sizeof(*from));
		pattern_make(&m, p, i, &w);
		for (size_t k = 0; k < w.flows.n; k++) {
			struct flow y = w.flows.at[k];

			assert_true(y.from < n && y.to < n && y.from != y.to);
			assert_true(to[y.from] == FAB_NONE && from[y.to] == FAB_NONE);
			to[y.from] = y.to;
			from[y.to] = y.from;
			slow_add(x, y.from, y.to);
		}
		for (uint32_t k = 0; p == RT_BISECTION && k < n; k++)
			assert_int_equal(to[k], from[k]);
		for (uint32_t j = 0; p == RT_BISECTION && j < x->nislands; j++) {
			uint32_t alone = 0;

			for (uint32_t k = 0; k < x->islands[j].n; k++)
				alone += to[x->islands[j].hosts[k]] == FAB_NONE;
			assert_int_equal(alone, x->islands[j].n % 2);
		}
		slow_pattern(x);
	}
	same(x, &q->by[p]);
	vec_free(&w.flows);
	free(w.perm);
	free(to);
	free(from);
}

static void slow_all(struct slow *x, const struct rt_quality *q)
{
	port_id *path = mem_array(x->f->nswitches + 3, sizeof(*path));
	uint64_t hops = 0, paths = 0, lanes[RT_MAX_VLS] = {0};
	uint32_t most = 0;

	slow_begin(x);
	for (uint32_t j = 0; j < x->nislands; j++)
		for (uint32_t i = 0; i < x->islands[j].n; i++)
			for (uint32_t k = 0; k < x->islands[j].n; k++)
				slow_add(x, x->islands[j].hosts[i], x->islands[j].hosts[k]);
	for (size_t i = 0; i < x->flows.n; i++) {
		struct flow w = x->flows.at[i];
		uint32_t n = slow_path(x, w, path), lid = x->f->ports[x->hosts.at[w.to]].lid;
		unsigned in, sl = 0;

		if (x->spread)
			lid += w.from % (1u << x->f->ports[x->hosts.at[w.to]].lmc);
		hops += n;
		paths += n > 0;
		most = MAX(most, n);
		for (uint32_t k = 1; k + 1 < n; k++) {
			uint32_t sw = x->f->switch_index[x->f->ports[path[k]].node];

			in = x->f->ports[x->f->ports[path[k - 1]].peer].num;
			sl = k == 1 ? rt_sl(x->t, sw, in, lid) : sl;
			lanes[rt_vl(x->t, sw, in, x->f->ports[path[k]].num, sl)]++;
		}
	}
	slow_pattern(x);
	same(x, &q->by[RT_ALL_TO_ALL]);
	for (port_id p = 0; p < x->f->nports; p++)
		assert_int_equal(q->routes[p], x->load[p]);
	assert_int_equal(q->hops_sum, hops);
	assert_int_equal(q->hops_paths, paths);
	assert_int_equal(q->hops_max, most);
	assert_memory_equal(q->by_lane, lanes, sizeof(lanes));
	free(path);
}

/* The links of bisections: every link of every pattern is in one bin. */
static void links_add_up(const struct fab *f, const struct rt_quality *q)
{
	for (unsigned p = 0; p < RT_NPATTERNS; p++) {
		uint64_t all = 0, flows = 0, trunk = 0;

		for (unsigned i = 0; i < RT_LINK_BINS; i++) {
			all += q->by[p].links[i];
			flows += q->by[p].links[i] * i;
		}
		assert_int_equal(all,
				 p == RT_ALL_TO_ALL ? 0 : q->by[p].patterns * (uint64_t)q->links);
		if (p != RT_BISECTION)
			continue;
		for (port_id k = 0; k < f->nports; k++)
			if (f->ports[k].peer != FAB_NONE && fab_is_switch(f, f->ports[k].node) &&
			    fab_is_switch(f, f->ports[f->ports[k].peer].node))
				trunk += q->flows[k];
		assert_true(flows == trunk || q->by[p].links[RT_LINK_BINS - 1]);
	}
}

static void compare(const struct fab *f, const struct rt_tables *t, bool spread, unsigned threads)
{
	struct rt_quality_opts o = {.patterns = 5, .seed = 7, .spread = spread, .threads = threads};
	struct slow x = {
		.f = f, .t = t, .spread = spread, .load = mem_array(f->nports, sizeof(uint64_t))};
	struct rt_quality q;
	struct err e;

	rt_quality_hosts(f, &x.hosts);
	assert_int_equal(rt_quality(f, t, &o, &q, &e), 0);
	slow_islands(&x);
	assert_int_equal(q.hosts, x.hosts.n);
	assert_int_equal(q.islands, x.nislands);
	slow_drawn(&x, &q, &o, RT_BISECTION);
	slow_drawn(&x, &q, &o, RT_PERMUTATIONS);
	slow_kinds(&x, &q);
	slow_grids(&x, &q);
	slow_all(&x, &q);
	assert_int_equal(q.by[RT_ALL_TO_ALL].flows + q.apart + x.hosts.n, x.hosts.n * x.hosts.n);
	links_add_up(f, &q);
	rt_quality_free(&q);
	free(x.load);
	free(x.islands);
	free(x.lists);
	vec_free(&x.hosts);
	vec_free(&x.flows);
}

/* ---- fabrics and tables ---- */

static void damage(struct rt_tables *t, struct rng *r, unsigned one_in)
{
	for (uint32_t s = 0; s < t->nswitches; s++)
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			if (!rng_below(r, one_in))
				rt_row(t, s)[lid] = rng_below(r, 4) ? (uint8_t)rng_below(r, 9)
								    : (uint8_t)rng_u64(r);
}

static void lanes_draw(const struct fab *f, struct rt_tables *t, struct rng *r)
{
	rt_lanes_add(t, f, 4, 3);
	for (uint32_t row = 0; row < 3; row++)
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			rt_sl_row(t, row)[lid] = (uint8_t)rng_below(r, RT_SLS);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		struct rt_sl2vl map;

		for (unsigned i = 0; i < RT_SLS; i++)
			map.vl[i] = (uint8_t)rng_below(r, 4);
		rt_sl_row_use(t, s, RT_ANY_PORT, rng_below(r, 3));
		rt_sl_row_use(t, s, rng_below(r, world_ports(f, s) + 1), rng_below(r, 3));
		rt_sl2vl_use(t, s, rng_below(r, 2) ? (unsigned)RT_ANY_PORT : 1, RT_ANY_PORT,
			     rt_sl2vl_map(t, &map));
	}
}

/* Whole tables, damaged ones, with and without lanes. */
static void compare_tables(const struct fab *f, uint64_t seed)
{
	struct rt_tables *t = world_fera(f, NULL);
	struct rng r;

	rng_seed(&r, seed, 99);
	rt_tables_fill(t);
	compare(f, t, false, 1);
	compare(f, t, true, 3);
	damage(t, &r, 20);
	compare(f, t, false, 2);
	lanes_draw(f, t, &r);
	compare(f, t, seed & 1, 3);
	damage(t, &r, 2);
	compare(f, t, !(seed & 1), 1);
	rt_tables_free(t);
}

static void compare_family(struct fab_gen g, unsigned lmc, uint64_t seed)
{
	struct fab *f = world_make(g), *h;

	h = fab_assign_lids(f, 0, NULL);
	fab_free(f);
	for (port_id p = 0; p < h->nports; p++)
		h->ports[p].lid = 0;
	h = world_lids(h, lmc);
	compare_tables(h, seed);
	fab_free(h);
}

TEST(generated_fabrics)
{
	compare_family((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, 0, 1);
	compare_family((struct fab_gen){.kind = "mtree", .dims = {4, 2}}, 2, 2);
	compare_family((struct fab_gen){.kind = "torus", .dims = {3, 4}}, 1, 3);
	compare_family((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}, 0, 4);
	compare_family((struct fab_gen){.kind = "star", .dims = {9}}, 0, 5);
	for (unsigned s = 1; s <= 10; s++)
		compare_family((struct fab_gen){.kind = "irregular",
						.dims = {4 + s},
						.ports = 8,
						.hosts = 3 * s,
						.has_hosts = true,
						.seed = s},
			       s % 3, s);
}

TEST(odd_fabrics)
{
	for (unsigned s = 1; s <= 24; s++) {
		struct fab *f = world_make((struct fab_gen){.kind = "odd", .seed = s});

		compare_tables(f, s);
		fab_free(f);
	}
}

/* ---- cables between hosts, HCAs with two ports, a switch without hosts, no hosts ---- */

static struct fab *hosts_only(unsigned n)
{
	struct fab_builder *b = fab_builder_new();

	fab_add_node(b, IBA_NODE_SWITCH, 1, 4, "alone");
	for (unsigned i = 0; i < n; i++) {
		fab_add_node(b, IBA_NODE_CA, 0x10 + 4 * i, 2, "host");
		fab_builder_port(b, 1 + i, 1)->guid = 0x11 + 4 * i;
		fab_builder_port(b, 1 + i, 2)->guid = 0x12 + 4 * i;
	}
	for (unsigned i = 0; i + 1 < n; i += 2)
		assert_int_equal(fab_add_link(b, 1 + i, 1, 2 + i, 2), 0);
	for (unsigned i = 0; i < n && i < 3; i++)
		assert_int_equal(fab_add_link(b, 1 + i, i & 1 ? 1 : 2, 0, 1 + i), 0);
	return world_lids(fab_build(b), 0);
}

TEST(cables_between_hosts)
{
	for (unsigned n = 0; n < 8; n++) {
		struct fab *f = hosts_only(n);

		compare_tables(f, n);
		fab_free(f);
	}
}

/* Two trees and a switch with one host, side by side: no flow from one to another, and the figures of both. */
TEST(islands)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f;

	for (unsigned i = 0; i < 5; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, 8, "switch");
	for (unsigned i = 0; i < 17; i++) {
		unsigned sw = i < 16 ? i % 4 : 4;

		fab_add_node(b, IBA_NODE_CA, 0x100 + i, 1, "host");
		assert_int_equal(fab_add_link(b, 5 + i, 1, sw, 1 + i / 4), 0);
	}
	assert_int_equal(fab_add_link(b, 0, 8, 1, 8), 0);
	assert_int_equal(fab_add_link(b, 2, 8, 3, 8), 0);
	assert_int_equal(fab_add_link(b, 2, 7, 3, 7), 0);
	f = world_lids(fab_build(b), 1);
	compare_tables(f, 5);
	fab_free(f);
}

TEST(a_fabric_without_switches)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct fab *f;

	fab_add_node(b, IBA_NODE_CA, 1, 1, "a");
	fab_add_node(b, IBA_NODE_CA, 2, 1, "b");
	assert_int_equal(fab_add_link(b, 0, 1, 1, 1), 0);
	f = world_lids(fab_build(b), 0);
	t = rt_tables_new(0, fab_top_lid(f));
	compare(f, t, false, 1);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_fabrics),	     cmocka_unit_test(odd_fabrics),
		cmocka_unit_test(cables_between_hosts),	     cmocka_unit_test(islands),
		cmocka_unit_test(a_fabric_without_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
