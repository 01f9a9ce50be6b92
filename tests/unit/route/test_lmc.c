/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several LIDs of a host: of the pairs of hosts between which there are several shortest ways, how many have LIDs whose routes
 * differ in a link. Keeps no state; each row of the table makes its own fabric.
 * up*-down* routes and one order of dependencies leave some pairs one way: the figures are what engines do today, and for how many
 * pairs the directions of links allow a second way at all.
 * Covers: lmc_ways.c
 */
#include "route_fixture.h"

/* Shortest ways from each switch to one, up to two; parallel links are several. */
static void ways_count(const struct fab *f, uint32_t to, uint32_t *dist, uint8_t *ways)
{
	uint32_t *queue = mem_array(f->nswitches, sizeof(*queue)), head = 0, tail = 0;

	memset(dist, 0xff, f->nswitches * sizeof(*dist));
	memset(ways, 0, f->nswitches);
	dist[to] = 0;
	ways[to] = 1;
	queue[tail++] = to;
	while (head < tail) {
		uint32_t s = queue[head++];

		for (unsigned p = 1; p <= world_ports(f, s); p++) {
			uint32_t n = world_peer(f, s, p);

			if (n == FAB_NONE)
				continue;
			if (dist[n] == UINT32_MAX) {
				dist[n] = dist[s] + 1;
				queue[tail++] = n;
			}
			if (dist[n] == dist[s] + 1)
				ways[n] = (uint8_t)MIN(2, ways[n] + ways[s]);
		}
	}
	free(queue);
}

static bool differ(const struct fab *f, const struct rt_tables *t, uint32_t from, uint32_t to,
		   uint16_t lid)
{
	for (uint32_t s = from, hops = 0; s != to && hops < f->nswitches; hops++) {
		unsigned port = rt_row(t, s)[lid];

		if (rt_row(t, s)[lid + 1] != port)
			return true;
		s = world_peer(f, s, port);
	}
	return false;
}

/* Ways from s that never turn from down to up and pass no switch twice, up to two. */
struct legal {
	const struct fab *f;
	const uint64_t *rank;
	uint32_t to;
	bool *passed; /* by switch */
};

static unsigned legal_ways(struct legal *x, uint32_t s, bool down)
{
	unsigned n = s == x->to;

	x->passed[s] = true;
	for (unsigned p = 1; s != x->to && n < 2 && p <= world_ports(x->f, s); p++) {
		uint32_t v = world_peer(x->f, s, p);

		if (v != FAB_NONE && !x->passed[v] && (!down || x->rank[v] > x->rank[s]))
			n += legal_ways(x, v, down || x->rank[v] > x->rank[s]);
	}
	x->passed[s] = false;
	return n;
}

/* In hundredths of the pairs with several shortest ways: those with two LIDs whose routes differ; rank: those with two ways that
 * these ranks allow, more than which no tables have. */
static unsigned share(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	uint32_t *dist = mem_array(f->nswitches, sizeof(*dist)), have = 0, differs = 0;
	uint8_t *ways = mem_array(f->nswitches, 1);
	struct legal x = {.f = f, .rank = rank, .passed = mem_zarray(f->nswitches, 1)};

	for (port_id p = 0; p < f->nports; p++) {
		uint32_t to;

		if (!f->ports[p].lmc || fab_is_switch(f, f->ports[p].node))
			continue;
		to = f->switch_index[f->ports[f->ports[p].peer].node];
		ways_count(f, to, dist, ways);
		for (uint32_t s = 0; s < f->nswitches; s++) {
			bool hosts = false;

			for (unsigned i = 1; i <= world_ports(f, s); i++) {
				port_id q = f->ports[fab_port_id(f, f->switches[s], i)].peer;

				hosts |= q != FAB_NONE && !fab_is_switch(f, f->ports[q].node);
			}
			if (!hosts || ways[s] < 2)
				continue;
			have++;
			x.to = to;
			differs += rank ? legal_ways(&x, s, false) > 1
					: differ(f, t, s, to, f->ports[p].lid);
		}
	}
	free(x.passed);
	free(dist);
	free(ways);
	return have ? differs * 100 / have : 100;
}

static const struct {
	struct fab_gen gen;
	const struct rt_engine *engine;
	unsigned least;
	unsigned
		most; /* that the ranks of its tables allow, route by route; 0: no limit is known */
} rows[] = {
	{{.kind = "mtree", .dims = {8, 3}}, &rt_tree, 100, 0},
	{{.kind = "mtree", .dims = {8, 3}}, &rt_updn, 100, 100},
	{{.kind = "mtree", .dims = {8, 3}}, &rt_fera, 100, 0},
	{{.kind = "mtree", .dims = {8, 3}}, &rt_balanced, 100, 0},
	{{.kind = "mtree", .dims = {8, 3}}, &rt_nue, 100, 0},
	{{.kind = "torus", .dims = {6, 6}, .hosts = 1, .has_hosts = true}, &rt_torus, 100, 0},
	{{.kind = "torus", .dims = {6, 6}, .hosts = 1, .has_hosts = true}, &rt_nue, 94, 0},
	{{.kind = "torus", .dims = {6, 6}, .hosts = 1, .has_hosts = true}, &rt_balanced, 100, 0},
	{{.kind = "torus", .dims = {6, 6}, .hosts = 1, .has_hosts = true}, &rt_updn, 74, 95},
	{{.kind = "dragonfly", .dims = {2, 4, 2}}, &rt_dragonfly, 100, 0},
	{{.kind = "dragonfly", .dims = {2, 4, 2}}, &rt_balanced, 100, 0},
	{{.kind = "dragonfly", .dims = {2, 4, 2}}, &rt_nue, 98, 0},
	{{.kind = "irregular", .dims = {24}, .ports = 8, .seed = 3}, &rt_nue, 100, 0},
	{{.kind = "irregular", .dims = {24}, .ports = 8, .seed = 3}, &rt_balanced, 100, 0},
	{{.kind = "irregular", .dims = {24}, .ports = 8, .seed = 3}, &rt_updn, 83, 90},
};

TEST(two_lids_of_a_host_have_two_ways)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fab_gen g = rows[i].gen;
		struct rt_opts o = {.root = FAB_NONE, .threads = 1};
		struct rt_tables *t;
		struct rt_report r;
		unsigned percent;
		struct fab *f;
		struct err e;

		while (g.ndims < ARRAY_LEN(g.dims) && g.dims[g.ndims])
			g.ndims++;
		f = world_lids(fab_generate(&g, &e), 1);
		assert_int_equal(rt_compute(rows[i].engine, f, &o, &t, &e), 0);
		rt_tables_fill(t);
		r = world_verify(f, t, (struct rt_verify_opts){.threads = 1});
		assert_true(r.ok);
		rt_report_free(&r);
		percent = share(f, t, NULL);
		if (rows[i].most) {
			uint64_t *rank = rt_tables_ranks(rows[i].engine, f, &o, t);

			assert_int_equal(share(f, t, rank), rows[i].most);
			free(rank);
		}
		if (getenv("WEFT_SHOW"))
			printf("# %s %s %u\n", g.kind, rows[i].engine->name, percent);
		if (percent < rows[i].least)
			fail_msg("%s on %s: %u %% of the pairs, expected %u", rows[i].engine->name,
				 g.kind, percent, rows[i].least);
		rt_tables_free(t);
		fab_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_lids_of_a_host_have_two_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
