/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generated fabrics and their statistics. Keeps no state. Expected figures come from the families'
 * formulas and from brute force, never from the code under test.
 * Covers: gen.c, gen_tree.c, gen_direct.c, gen_irregular.c, stats.c
 */
#include "fabric_fixture.h"

/* Both ends of each link name each other, carry the rate, and belong to nodes that own them. */
static void assert_symmetric(const struct fab *f, unsigned width, unsigned speed)
{
	for (node_id n = 0; n < f->nnodes; n++) {
		for (unsigned i = 0; i <= f->nodes[n].nports; i++) {
			port_id p = fab_port_id(f, n, i);
			const struct fab_port *a = &f->ports[p];

			assert_int_equal(a->node, n);
			assert_int_equal(a->num, i);
			if (a->peer == FAB_NONE)
				continue;
			assert_int_not_equal(i, 0);
			assert_int_equal(f->ports[a->peer].peer, p);
			assert_int_not_equal(f->ports[a->peer].node, n);
			assert_int_equal(a->width, width);
			assert_int_equal(a->speed, speed);
		}
	}
}

/* The diameters again, one walk a node. */
static void brute_diameters(const struct fab *f, uint32_t *switches, uint32_t *hosts)
{
	uint32_t *d = mem_array(f->nnodes, sizeof(*d));

	*switches = *hosts = 0;
	for (node_id a = 0; a < f->nnodes; a++) {
		fab_distances(f, a, d);
		for (node_id b = 0; b < f->nnodes; b++) {
			if (d[b] == UINT32_MAX || f->nodes[a].type != f->nodes[b].type)
				continue;
			if (fab_is_switch(f, a))
				*switches = MAX(*switches, d[b]);
			else
				*hosts = MAX(*hosts, d[b]);
		}
	}
	free(d);
}

static unsigned links_between(const struct fab *f, node_id a, node_id b)
{
	unsigned n = 0;

	for (unsigned i = 1; i <= f->nodes[a].nports; i++) {
		port_id peer = f->ports[fab_port_id(f, a, i)].peer;

		n += peer != FAB_NONE && f->ports[peer].node == b;
	}
	return n;
}

/* ---- regular families: what the formulas say ---- */

static const struct known {
	struct fab_gen g;
	uint32_t switches, hosts, switch_links, diameter, levels;
} known[] = {
	{GEN("mtree", 8, 3), 80, 128, 256, 4, 3},
	{GEN("mtree", 4, 4), 56, 32, 96, 6, 4},
	{GEN("mtree", 36, 2), 54, 648, 648, 2, 2},
	{GEN("mtree", 24, 3), 720, 3456, 6912, 4, 3},
	{GEN("mtree", 6, 1), 1, 6, 0, 0, 1},
	{GEN("mtree", 2, 3), 5, 2, 4, 4, 3},
	{GEN("kary", 4, 3), 48, 64, 128, 4, 3},
	{GEN("kary", 2, 4), 32, 16, 48, 6, 4},
	{GEN("kary", 5, 1), 1, 5, 0, 0, 1},
	{GEN("clos", 3, 1, 4), 7, 4, 12, 2, 2},
	{GEN("clos", 2, 5, 3), 5, 15, 6, 2, 2},
	{GEN("mesh", 4, 5), 20, 20, 31, 7, 1},
	{GEN("mesh", 7), 7, 7, 6, 6, 1},
	{GEN("mesh", 2, 3, 4), 24, 24, 46, 6, 1},
	{GEN("torus", 4, 4), 16, 16, 32, 4, 1},
	{GEN("torus", 5, 3), 15, 15, 30, 3, 1},
	{GEN("torus", 2, 3), 6, 6, 9, 2, 1}, /* a size of 2 is one link */
	{GEN("torus", 1, 4), 4, 4, 4, 2, 1},
	{GEN("hypercube", 1), 2, 2, 1, 1, 1},
	{GEN("hypercube", 6), 64, 64, 192, 6, 1},
	{GEN("dragonfly", 2, 4, 2), 36, 72, 90, 3, 1},	  /* 9 * 6 inside, 36 pairs of groups */
	{GEN("dragonfly", 1, 4, 2, 5), 20, 20, 50, 3, 1}, /* 5 * 6 inside, 10 pairs twice */
	{GEN("dragonfly", 3, 4, 1, 1), 4, 12, 6, 1, 1},
	{GEN("fullmesh", 7), 7, 7, 21, 1, 1},
	{GEN("ring", 9), 9, 9, 9, 4, 1},
	{GEN("ring", 2), 2, 2, 1, 1, 1},
	{GEN("ring", 1), 1, 1, 0, 0, 1},
	{GEN("star", 6), 7, 6, 6, 2, 2},
};

TEST(families_have_the_sizes_of_their_formulas)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		const struct known *k = &known[i];
		struct fab *f = fabric_make(k->g);
		struct fab_stats s;

		fab_stats(f, &s);
		if (s.switches != k->switches || s.hosts != k->hosts ||
		    s.switch_links != k->switch_links || s.diameter != k->diameter ||
		    s.levels != k->levels || s.components != 1)
			fail_msg("%s (row %zu): %u switches, %u hosts, %u links between switches, "
				 "diameter %u, %u levels, %u parts",
				 k->g.kind, i, s.switches, s.hosts, s.switch_links, s.diameter,
				 s.levels, s.components);
		assert_int_equal(s.links, k->switch_links + k->hosts);
		assert_symmetric(f, 4, FAB_QDR);
		fab_free(f);
	}
}

TEST(large_trees_have_their_known_sizes)
{
	struct fab *f = fabric_make(GEN("mtree", 36, 3));
	struct fab_stats s;

	fab_stats(f, &s);
	assert_int_equal(s.switches, 1620);
	assert_int_equal(s.hosts, 11664);
	assert_int_equal(s.diameter, 4);
	assert_int_equal(s.host_diameter, 6);
	fab_free(f);

	f = fabric_make(GEN("mtree", 56, 3));
	assert_int_equal(f->nswitches, 3920);
	assert_int_equal(f->nhosts, 43904);
	fab_free(f);
}

TEST(tree_ports_down_then_up)
{
	struct fab *f = fabric_make(GEN("mtree", 8, 3));
	node_id leaf = fab_node_by_text(f, "leaf2_3"), mid = fab_node_by_text(f, "mid2_1");

	assert_int_not_equal(leaf, FAB_NONE);
	for (unsigned i = 1; i <= 8; i++) {
		node_id to = f->ports[f->ports[fab_port_id(f, leaf, i)].peer].node;

		assert_int_equal(fab_is_switch(f, to), i > 4);
	}
	/* up port 4 + 1 + w leads to the pod's mid switch w, whose down port 1 + 3 leads back */
	assert_int_equal(f->ports[fab_port_id(f, leaf, 6)].peer, fab_port_id(f, mid, 4));
	fab_free(f);
}

TEST(clos_middle_switches)
{
	struct fab *f = fabric_make(GEN("clos", 3, 1, 4));

	for (node_id n = 0; n < 7; n++) {
		bool host = false;

		for (unsigned i = 1; i <= 4; i++)
			host |= !fab_is_switch(f,
					       f->ports[f->ports[fab_port_id(f, n, i)].peer].node);
		assert_int_equal(host, n < 2 || n > 4);
		assert_int_equal(f->nodes[n].nports, 4);
	}
	fab_free(f);
}

TEST(dragonfly_joins_all_groups)
{
	struct fab *f = fabric_make(GEN("dragonfly", 2, 4, 2));
	unsigned seen[9][9] = {{0}};

	for (node_id a = 0; a < f->nswitches; a++)
		for (node_id b = 0; b < f->nswitches; b++)
			if (a / 4 != b / 4)
				seen[a / 4][b / 4] += links_between(f, a, b);
	for (int a = 0; a < 9; a++)
		for (int b = 0; b < 9; b++)
			assert_int_equal(seen[a][b], a != b);
	fab_free(f);
}

TEST(names_guids_and_options)
{
	struct fab_gen g = GEN("ring", 3);
	struct fab *f;
	node_id h;

	g.has_hosts = true;
	g.hosts = 2;
	g.ports = 9;
	g.width = 12;
	g.speed = FAB_EDR;
	f = fabric_make(g);
	assert_int_equal(f->nhosts, 6);
	assert_int_equal(f->nodes[0].nports, 9);
	assert_symmetric(f, 12, FAB_EDR);
	h = fab_node_by_guid(f, 0x0001000000000010ull + 4 * 5);
	assert_string_equal(fab_node_name(f, h), "host 5");
	assert_true(f->ports[fab_port_id(f, h, 1)].guid == f->nodes[h].guid + 1);
	assert_true(f->nodes[h].sys_guid == f->nodes[h].guid + 3);
	assert_int_equal(fab_node_by_guid(f, 0x0002000000000003ull), 2);
	fab_free(f);
}

/* ---- irregular ---- */

static void irregular_check(const struct fab_gen *g, const struct fab *f)
{
	uint32_t n = g->dims[0], ports = g->ports ? g->ports : 4;
	bool simple = true, can = g->links <= (uint64_t)n * (n - 1) / 2;
	struct fab_stats s;

	fab_stats(f, &s);
	assert_int_equal(s.switches, n);
	assert_int_equal(s.components, 1);
	assert_true(s.degree_max <= ports);
	assert_symmetric(f, 4, FAB_QDR);
	if (g->has_hosts)
		assert_int_equal(s.hosts, g->hosts);
	if (g->links)
		assert_int_equal(s.switch_links, g->links);
	for (node_id a = 0; a < n; a++)
		for (node_id b = 0; b < a; b++)
			simple &= links_between(f, a, b) < 2;
	if (!g->links || (can && n > ports + 1))
		assert_true(simple);
}

TEST(irregular_fabrics_are_connected_and_within_limits)
{
	static const struct {
		unsigned n, ports, hosts, links; /* hosts 999: not given */
	} row[] = {
		{8, 0, 7, 0},	 {16, 0, 14, 0},   {24, 0, 22, 0},   {32, 0, 40, 0}, {64, 0, 82, 0},
		{32, 0, 21, 0},	 {8, 0, 999, 0},   {8, 0, 999, 13},  {8, 0, 0, 16},  {8, 0, 18, 7},
		{12, 6, 20, 24}, {40, 3, 999, 50}, {2, 0, 999, 4},   {3, 2, 999, 0}, {1, 0, 999, 0},
		{5, 0, 999, 10}, {20, 2, 2, 19},   {20, 36, 999, 0}, {6, 0, 12, 0},  {9, 4, 0, 18},
	};

	for (uint64_t seed = 0; seed < 15; seed++) {
		for (size_t i = 0; i < ARRAY_LEN(row); i++) {
			struct fab_gen g = GEN("irregular", row[i].n);
			struct fab *f;

			g.ports = row[i].ports;
			g.has_hosts = row[i].hosts != 999;
			g.hosts = g.has_hosts ? row[i].hosts : 0;
			g.links = row[i].links;
			g.seed = seed;
			f = fabric_make(g);
			irregular_check(&g, f);
			fab_free(f);
		}
	}
}

/* Without numbers every switch has one host; with links given, those that have a port free. */
TEST(irregular_hosts)
{
	struct fab_gen g = GEN("irregular", 16);
	struct fab *f = fabric_make(g);

	assert_int_equal(f->nhosts, 16);
	assert_int_equal(f->nlinks, 16 + 24); /* 3 ports each are left for links: all are used */
	fab_free(f);
	g.links = 27;
	f = fabric_make(g);
	for (node_id n = 0; n < f->nswitches; n++) {
		unsigned hosts = 0, linked = 0;

		for (unsigned i = 1; i <= 4; i++) {
			port_id peer = f->ports[fab_port_id(f, n, i)].peer;

			if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
				linked++;
			else
				hosts += peer != FAB_NONE;
		}
		assert_int_equal(hosts, linked < 4);
	}
	fab_free(f);
}

/* The last switches have one link, and the hosts they are to have. */
TEST(irregular_leaves)
{
	struct fab_gen g = GEN("irregular", 32);
	struct err e;

	g.has_hosts = true;
	g.hosts = 40;
	g.links = 44;
	g.leaves = 6;
	g.leaf_hosts = 3;
	for (g.seed = 0; g.seed < 20; g.seed++) {
		struct fab *f = fabric_make(g);

		irregular_check(&g, f);
		for (node_id n = 26; n < 32; n++) {
			unsigned hosts = 0, links = 0;

			for (unsigned i = 1; i <= 4; i++) {
				port_id peer = f->ports[fab_port_id(f, n, i)].peer;
				bool sw = peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node);

				links += sw;
				hosts += peer != FAB_NONE && !sw;
			}
			assert_int_equal(links, 1);
			assert_int_equal(hosts, 3);
		}
		fab_free(f);
	}
	g.leaf_hosts = 4;
	assert_null(fab_generate(&g, &e));
	g.leaf_hosts = 3;
	g.leaves = 31;
	assert_null(fab_generate(&g, &e));
	g.leaves = 14; /* 42 hosts of 40 */
	assert_null(fab_generate(&g, &e));
	g.leaves = 0;
	assert_null(fab_generate(&g, &e));
}

static bool same(const struct fab *a, const struct fab *b)
{
	return a->nnodes == b->nnodes && a->nports == b->nports &&
	       !memcmp(a->nodes, b->nodes, a->nnodes * sizeof(*a->nodes)) &&
	       !memcmp(a->ports, b->ports, a->nports * sizeof(*a->ports));
}

TEST(the_seed_determines_the_fabric)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct fab_gen g = GEN("irregular", 16);
		struct fab *a, *b, *c;

		g.seed = seed;
		a = fabric_make(g);
		b = fabric_make(g);
		g.seed = seed + 1;
		c = fabric_make(g);
		assert_true(same(a, b));
		assert_false(same(a, c));
		fab_free(a);
		fab_free(b);
		fab_free(c);
	}
}

/* ---- virtual functions ---- */

/* All hosts of every family, and nothing else of it, differ. */
TEST(every_family_can_have_virtual_functions)
{
	static const struct fab_gen families[] = {
		{.kind = "irregular", .dims = {16}, .ndims = 1},
		{.kind = "mtree", .dims = {4, 3}, .ndims = 2},
		{.kind = "kary", .dims = {3, 2}, .ndims = 2},
		{.kind = "clos", .dims = {3, 2, 4}, .ndims = 3},
		{.kind = "mesh", .dims = {3, 3}, .ndims = 2},
		{.kind = "torus", .dims = {3, 3}, .ndims = 2},
		{.kind = "hypercube", .dims = {3}, .ndims = 1},
		{.kind = "dragonfly", .dims = {2, 4, 2}, .ndims = 3},
		{.kind = "fullmesh", .dims = {4}, .ndims = 1},
		{.kind = "ring", .dims = {4}, .ndims = 1},
		{.kind = "star", .dims = {4}, .ndims = 1},
		{.kind = "odd", .seed = 3},
	};

	for (size_t i = 0; fab_families[i].kind; i++) {
		struct fab_gen g = families[i];
		struct fab *plain = fabric_make(g), *f;
		struct fab_stats s;
		uint32_t single = 0;

		assert_string_equal(g.kind, fab_families[i].kind);
		g.sriov = i % 2 ? FAB_SRIOV_SHARED : FAB_SRIOV_VSWITCH;
		g.vfs = 7;
		f = fabric_make(g);
		for (node_id n = 0; n < f->nnodes; n++) {
			bool has = f->nodes[n].type == IBA_NODE_CA && f->nodes[n].nports == 1;

			single += has;
			assert_int_equal(f->nodes[n].sriov, has ? g.sriov : FAB_SRIOV_NONE);
			assert_int_equal(f->nodes[n].vfs, has ? 7 : 0);
			f->nodes[n].sriov = f->nodes[n].vfs = 0;
		}
		assert_true(same(plain, f));
		for (node_id n = 0; n < f->nnodes; n++)
			if (f->nodes[n].type == IBA_NODE_CA && f->nodes[n].nports == 1) {
				f->nodes[n].sriov = (uint8_t)g.sriov;
				f->nodes[n].vfs = 7;
			}
		fab_stats(f, &s);
		assert_true(single > 0);
		assert_int_equal(s.hypervisors[g.sriov], single);
		assert_int_equal(s.vfs[g.sriov], 7 * single);
		assert_int_equal(s.hypervisors[FAB_SRIOV_NONE], 0);
		fab_free(plain);
		fab_free(f);
	}
}

/* ---- what cannot be made ---- */

TEST(bad_parameters_are_refused_with_a_reason)
{
	static const struct {
		struct fab_gen g;
		const char *says;
	} row[] = {
		{{.kind = "moebius"}, "expected one of irregular, mtree"},
		{{.kind = NULL}, "no topology is called ''"},
		{GEN("mtree", 7, 2), "M is 7, expected an even"},
		{GEN("mtree", 8), "expected 2 sizes (M N), found 1"},
		{GEN("mtree", 8, 0), "size 2 is 0"},
		{GEN("mtree", 256, 2), "would need 256 ports"},
		{GEN("mtree", 100, 20), "too large"},
		{GEN("mtree", 4, 21), "expected 1 to 20"},
		{GEN("kary", 2, 20), "too large"},
		{GEN("kary", 4294967295u, 4294967295u), "levels"},
		{GEN("clos", 3, 1), "expected 3 sizes"},
		{GEN("clos", 200, 55, 4), "would need 255 ports"},
		{GEN("mesh", 4096, 4096), "too large"},
		{GEN("torus", 4294967295u, 4294967295u, 4294967295u), "too large"},
		{GEN("hypercube", 21), "expected 1 to 20"},
		{GEN("hypercube", 4294967295u), "expected 1 to 20"},
		{GEN("dragonfly", 2, 4, 2, 10), "reach at most 9"},
		{GEN("dragonfly", 200, 40, 20), "would need 259 ports"},
		{GEN("fullmesh", 300), "would need 300 ports"},
		{GEN("fullmesh", 0), "expected at least 1"},
		{GEN("star", 255), "would need 255 ports"},
		{GEN("ring", 4, 4), "expected 1 size (N), found 2"},
		{{.kind = "ring", .dims = {4}, .ndims = 1, .ports = 2},
		 "needs 3 ports, --ports gives it 2"},
		{{.kind = "ring", .dims = {4}, .ndims = 1, .links = 2}, "--links is for irregular"},
		{{.kind = "ring", .dims = {4}, .ndims = 1, .width = 3},
		 "expected 1, 2, 4, 8 or 12"},
		{{.kind = "ring", .dims = {4}, .ndims = 1, .speed = 99}, "no link speed"},
		{{.kind = "ring", .dims = {4}, .ndims = 1, .ports = 255}, "it can have 254"},
		{{.kind = "clos", .dims = {3, 1, 4}, .ndims = 3, .has_hosts = true},
		 "leave out --hosts"},
		{{.kind = "mtree", .dims = {8, 3}, .ndims = 2, .has_hosts = true, .hosts = 5},
		 "a leaf has 4 ports"},
		{{.kind = "irregular", .dims = {8}, .ndims = 1, .links = 6}, "7 are needed"},
		{{.kind = "irregular", .dims = {8}, .ndims = 1, .links = 17}, "have 32"},
		{{.kind = "irregular", .dims = {1}, .ndims = 1, .links = 1},
		 "nothing to be linked"},
		{{.kind = "irregular", .dims = {8}, .ndims = 1, .has_hosts = true, .hosts = 19},
		 "19 hosts do not fit"},
		{{.kind = "irregular", .dims = {3}, .ndims = 1, .ports = 1}, "need 4 ports"},
		{{.kind = "irregular", .dims = {4294967295u}, .ndims = 1}, "too large"},
		{{.kind = "irregular"}, "expected 1 size (N), found 0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct err e = {""};
		struct fab *f = fab_generate(&row[i].g, &e);

		if (f || !strstr(e.text, row[i].says))
			fail_msg("row %zu: expected '%s', found '%s'", i, row[i].says,
				 f ? "a fabric" : e.text);
	}
}

/* ---- figures ---- */

TEST(diameters_agree_with_brute_force)
{
	static const struct fab_gen row[] = {
		GEN("irregular", 30),	   GEN("irregular", 70),  GEN("mtree", 4, 3),
		GEN("dragonfly", 1, 3, 1), GEN("torus", 3, 4, 5), GEN("star", 3),
		GEN("ring", 67),	   GEN("fullmesh", 1),
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fab *f = fabric_make(row[i]);
		struct fab_stats s;
		uint32_t switches, hosts;

		fab_stats(f, &s);
		brute_diameters(f, &switches, &hosts);
		assert_int_equal(s.diameter, switches);
		assert_int_equal(s.host_diameter, hosts);
		fab_free(f);
	}
}

TEST(stats_of_an_odd_fabric)
{
	struct fab *f = fabric_odd();
	uint32_t d[16];
	struct fab_stats s;

	fab_stats(f, &s);
	assert_int_equal(s.switches, 9);
	assert_int_equal(s.hosts, 2);
	assert_int_equal(s.routers, 1);
	assert_int_equal(s.links, 12);
	assert_int_equal(s.switch_links, 9);
	assert_int_equal(s.isolated, 2);
	assert_int_equal(s.components, 4); /* the host between the rings does not join them */
	assert_int_equal(s.diameter, 2);
	assert_int_equal(s.host_diameter, 0);
	assert_int_equal(s.levels, 3);
	assert_int_equal(s.degree_min, 0);
	assert_int_equal(s.degree_max, 4);
	assert_int_equal(s.degree_sum, 2 * 9 + 3);
	assert_int_equal(s.rate[FAB_SPEED_UNKNOWN][0], 12);
	fab_distances(f, 0, d);
	assert_int_equal(d[2], 2);
	assert_int_equal(d[8], 1);
	assert_int_equal(d[4], UINT32_MAX); /* only through the host */
	fab_distances(f, 8, d);
	assert_int_equal(d[4], 1);
	assert_int_equal(d[9], 3);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_have_the_sizes_of_their_formulas),
		cmocka_unit_test(large_trees_have_their_known_sizes),
		cmocka_unit_test(tree_ports_down_then_up),
		cmocka_unit_test(clos_middle_switches),
		cmocka_unit_test(dragonfly_joins_all_groups),
		cmocka_unit_test(names_guids_and_options),
		cmocka_unit_test(irregular_fabrics_are_connected_and_within_limits),
		cmocka_unit_test(irregular_hosts),
		cmocka_unit_test(irregular_leaves),
		cmocka_unit_test(the_seed_determines_the_fabric),
		cmocka_unit_test(every_family_can_have_virtual_functions),
		cmocka_unit_test(bad_parameters_are_refused_with_a_reason),
		cmocka_unit_test(diameters_agree_with_brute_force),
		cmocka_unit_test(stats_of_an_odd_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
