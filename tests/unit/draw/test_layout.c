/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layouts: shapes are recognised whatever the order of nodes, no two boxes overlap, groups enclose what belongs to
 * them, the same fabric gives the same bytes. Keeps no state.
 * Covers: layout.c, layout_apart.c, layout_damaged.c, layout_dragonfly.c, layout_free.c, layout_graph.c, layout_grid.c,
 * layout_grid_place.c, layout_hosts.c, layout_line.c, layout_pack.c, layout_tree.c, layout_tree_order.c,
 * layout_tree_place.c, layout_turn.c
 */
#include "fabric_fixture.h"

#include "base/rng.h"
#include "draw/layout.h"

struct box {
	float x0, y0, x1, y1;
};

static struct box box_of(const struct fab *f, const struct layout *l, node_id n)
{
	float w = fab_is_switch(f, n) ? LAYOUT_SWITCH_W / 2.0f : LAYOUT_HOST / 2.0f;
	float h = fab_is_switch(f, n) ? LAYOUT_SWITCH_H / 2.0f : LAYOUT_HOST / 2.0f;

	return (struct box){l->x[n] - w, l->y[n] - h, l->x[n] + w, l->y[n] + h};
}

static int by_left(const void *a, const void *b)
{
	const struct box *p = a, *q = b;

	return p->x0 < q->x0 ? -1 : p->x0 > q->x0;
}

/* Sorted by their left edges, so that few pairs are compared. */
static void assert_apart(struct box *box, size_t n)
{
	qsort(box, n, sizeof(*box), by_left);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && box[j].x0 < box[i].x1; j++)
			if (box[j].y0 < box[i].y1 && box[i].y0 < box[j].y1)
				fail_msg("boxes at %g %g and %g %g overlap", box[i].x0, box[i].y0,
					 box[j].x0, box[j].y0);
}

static void assert_inside(struct box in, float x0, float y0, float x1, float y1)
{
	assert_true(in.x0 >= x0 && in.y0 >= y0 && in.x1 <= x1 && in.y1 <= y1);
}

static void assert_groups(const struct fab *f, const struct layout *l)
{
	struct box *box = mem_array(l->ngroups, sizeof(*box));

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct layout_group *g = l->groups + l->group[n];

		if (l->group[n] != FAB_NONE)
			assert_inside(box_of(f, l, n), g->x0, g->y0, g->x1, g->y1);
	}
	for (uint32_t up = 0; up <= l->ngroups; up++) {
		size_t n = 0;

		for (uint32_t i = 0; i < l->ngroups; i++) {
			const struct layout_group *g = &l->groups[i];

			if (g->parent == (up ? up - 1 : FAB_NONE))
				box[n++] = (struct box){g->x0, g->y0, g->x1, g->y1};
			if (up && g->parent == up - 1) {
				const struct layout_group *p = &l->groups[up - 1];

				assert_true(up - 1 < i);
				assert_inside(box[n - 1], p->x0, p->y0, p->x1, p->y1);
			}
		}
		assert_apart(box, n);
	}
	free(box);
}

static bool same_floats(const float *a, const float *b, size_t n)
{
	return !memcmp(a, b, n * sizeof(*a));
}

/* What holds for any layout; the caller frees it. */
static struct layout *checked(const struct fab *f)
{
	struct layout *l = layout_make(f), *again = layout_make(f);
	struct box *box = mem_array(f->nnodes, sizeof(*box));

	assert_true(same_floats(l->x, again->x, f->nnodes) &&
		    same_floats(l->y, again->y, f->nnodes));
	layout_free(again);
	for (node_id n = 0; n < f->nnodes; n++) {
		const struct layout_part *p = &l->parts[l->part[n]];

		box[n] = box_of(f, l, n);
		assert_true(l->part[n] < l->nparts);
		assert_inside(box[n], 0, 0, l->width, l->height);
		assert_inside(box[n], p->x0, p->y0, p->x1, p->y1);
		assert_true(fab_is_switch(f, n) ? l->level[n] > 0 && l->level[n] <= p->nlevels
						: l->level[n] == 0);
	}
	assert_apart(box, f->nnodes);
	assert_groups(f, l);
	free(box);
	return l;
}

/* A copy with nodes in another order and ports of switches exchanged. */
static struct fab *shuffled(const struct fab *f, uint64_t seed)
{
	struct fab_builder *b = fab_builder_new();
	node_id *at = mem_array(f->nnodes, sizeof(*at)),
		*order = mem_array(f->nnodes, sizeof(*order));
	struct rng r;

	rng_seed(&r, seed, 0);
	for (node_id n = 0; n < f->nnodes; n++) {
		uint32_t k = rng_below(&r, n + 1);

		order[n] = order[k];
		order[k] = n;
	}
	for (node_id n = 0; n < f->nnodes; n++)
		at[order[n]] = fab_add_node(b, f->nodes[order[n]].type, 0x1000 + order[n],
					    f->nodes[order[n]].nports, "x");
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *a = &f->ports[p],
				      *c = a->peer == FAB_NONE ? a : &f->ports[a->peer];
		unsigned an = f->nodes[a->node].nports, cn = f->nodes[c->node].nports;

		if (c != a && a->peer > p)
			assert_int_equal(fab_add_link(b, at[a->node], (a->num + a->node) % an + 1,
						      at[c->node], (c->num + c->node) % cn + 1),
					 0);
	}
	free(at);
	free(order);
	return fab_build(b);
}

static struct layout *recognised(const struct fab *f, enum layout_shape shape)
{
	struct layout *l = checked(f);

	assert_string_equal(layout_shape_name(l->parts[0].shape), layout_shape_name(shape));
	return l;
}

TEST(shapes_are_recognised_in_any_order)
{
	static const struct {
		struct fab_gen gen;
		enum layout_shape shape;
		uint32_t ndims, dims[4], wrap, nlevels;
	} row[] = {
		{GEN("mtree", 8, 3), LAYOUT_TREE, .nlevels = 3},
		{GEN("mtree", 4, 4), LAYOUT_TREE, .nlevels = 4},
		{GEN("kary", 3, 3), LAYOUT_TREE, .nlevels = 3},
		{GEN("clos", 3, 1, 4), LAYOUT_TREE, .nlevels = 2},
		{GEN("star", 9), LAYOUT_TREE, .nlevels = 2},
		{GEN("torus", 6, 5), LAYOUT_GRID, 2, {6, 5}, 3, 1},
		{GEN("torus", 3, 3), LAYOUT_GRID, 2, {3, 3}, 3, 1},
		{GEN("torus", 4, 4, 4), LAYOUT_GRID, 3, {4, 4, 4}, 7, 1},
		{GEN("torus", 5, 4, 3), LAYOUT_GRID, 3, {5, 4, 3}, 7, 1},
		{GEN("torus", 6, 2, 3), LAYOUT_GRID, 3, {6, 3, 2}, 3, 1},
		{GEN("torus", 3, 3, 3, 3), LAYOUT_GRID, 4, {3, 3, 3, 3}, 15, 1},
		{GEN("mesh", 5, 3), LAYOUT_GRID, 2, {5, 3}, 0, 1},
		{GEN("mesh", 4, 3, 2), LAYOUT_GRID, 3, {4, 3, 2}, 0, 1},
		{GEN("hypercube", 3), LAYOUT_GRID, 2, {4, 2}, 1, 1},
		{GEN("hypercube", 6), LAYOUT_GRID, 3, {4, 4, 4}, 7, 1},
		{GEN("dragonfly", 2, 4, 2), LAYOUT_DRAGONFLY, .nlevels = 1},
		{GEN("dragonfly", 1, 6, 2, 5), LAYOUT_DRAGONFLY, .nlevels = 1},
		{GEN("fullmesh", 6), LAYOUT_FULL_MESH, .nlevels = 1},
		{GEN("ring", 8), LAYOUT_RING, .nlevels = 1},
		{GEN("ring", 3), LAYOUT_RING, .nlevels = 1},
		{GEN("mesh", 40), LAYOUT_CHAIN, .nlevels = 1},
		{GEN("irregular", 32), LAYOUT_FREE, .nlevels = 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		for (uint64_t seed = 0; seed < 3; seed++) {
			struct fab *made = fabric_make(row[i].gen);
			struct fab *f = seed ? shuffled(made, seed) : made;
			struct layout *l = recognised(f, row[i].shape);

			assert_int_equal(l->parts[0].ndims, row[i].ndims);
			for (uint32_t d = 0; d < row[i].ndims; d++)
				assert_int_equal(l->parts[0].dims[d], row[i].dims[d]);
			assert_int_equal(l->parts[0].wrap, row[i].wrap);
			assert_int_equal(l->parts[0].nlevels, MAX(row[i].nlevels, 1));
			layout_free(l);
			if (f != made)
				fab_free(f);
			fab_free(made);
		}
}

static uint32_t count_groups(const struct layout *l, enum layout_group_kind kind, uint32_t depth)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->ngroups; i++) {
		uint32_t d = 0;

		for (uint32_t up = l->groups[i].parent; up != FAB_NONE; up = l->groups[up].parent)
			d++;
		n += l->groups[i].kind == kind && d == depth;
	}
	return n;
}

TEST(groups_are_pods_planes_and_rows)
{
	static const struct {
		struct fab_gen gen;
		enum layout_group_kind kind;
		uint32_t depth, count;
	} row[] = {
		{GEN("mtree", 8, 3), LAYOUT_POD, 0, 8},
		{GEN("mtree", 8, 3), LAYOUT_PLANE, 0, 4},
		{GEN("mtree", 4, 4), LAYOUT_POD, 0, 4},
		{GEN("mtree", 4, 4), LAYOUT_POD, 1, 8},
		{GEN("mtree", 8, 2), LAYOUT_POD, 0, 0},
		{GEN("mtree", 8, 2), LAYOUT_PLANE, 0, 0},
		{GEN("torus", 5, 4, 3), LAYOUT_PLANE, 0, 3},
		{GEN("mesh", 5, 4), LAYOUT_ROW, 0, 4},
		{GEN("dragonfly", 2, 4, 2), LAYOUT_GROUP, 0, 9},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fab *f = fabric_make(row[i].gen);
		struct layout *l = checked(f);

		assert_int_equal(count_groups(l, row[i].kind, row[i].depth), row[i].count);
		if (row[i].kind == LAYOUT_POD && row[i].count == 8 && !row[i].depth) {
			assert_string_equal(l->groups[0].name, "pod 1");
			assert_int_equal(l->groups[0].nswitches, 8);
			assert_int_equal(l->groups[0].nhosts, 16);
		}
		layout_free(l);
		fab_free(f);
	}
}

/* A leaf whose hosts are all gone, a host at a root, a cable between two leaves: still a tree with its pods. */
TEST(a_tree_with_faults_is_a_tree)
{
	struct fab *f = fabric_make(GEN("mtree", 8, 3));
	struct fab_builder *b = fab_builder_new();
	struct layout *l;
	node_id leaf = FAB_NONE, other = FAB_NONE, root = FAB_NONE, host;

	for (node_id n = 0; n < f->nnodes; n++) {
		fab_add_node(b, f->nodes[n].type, f->nodes[n].guid, f->nodes[n].nports + 1,
			     fab_node_name(f, n));
		if (!strcmp(fab_node_name(f, n), "leaf3_1"))
			leaf = n;
		if (!strcmp(fab_node_name(f, n), "leaf5_2"))
			other = n;
		if (!strcmp(fab_node_name(f, n), "root0_0"))
			root = n;
	}
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *a = &f->ports[p];
		const struct fab_port *c = a->peer == FAB_NONE ? a : &f->ports[a->peer];
		bool host_of_leaf = (a->node == leaf && !fab_is_switch(f, c->node)) ||
				    (c->node == leaf && !fab_is_switch(f, a->node));

		if (c != a && a->peer > p && !host_of_leaf)
			assert_int_equal(fab_add_link(b, a->node, a->num, c->node, c->num), 0);
	}
	host = fab_add_node(b, IBA_NODE_CA, 0x99, 1, "manager");
	assert_int_equal(fab_add_link(b, root, 9, host, 1), 0);
	assert_int_equal(fab_add_link(b, leaf, 9, other, 9), 0);
	fab_free(f);
	f = fab_build(b);
	l = recognised(f, LAYOUT_TREE);
	assert_int_equal(l->level[leaf], 1);
	assert_int_equal(l->level[root], 3);
	assert_int_equal(count_groups(l, LAYOUT_POD, 1) + count_groups(l, LAYOUT_POD, 0), 8);
	layout_free(l);
	fab_free(f);
}

/* Groups of four leaves and four spines; each spine is joined with the same spine of the other groups. */
TEST(dragonfly_plus_is_a_dragonfly)
{
	enum { GROUPS = 5, EACH = 4 };
	struct fab_builder *b = fab_builder_new();
	struct layout *l;
	struct fab *f;

	for (unsigned i = 0; i < GROUPS * 2 * EACH; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x100 + i, 16, "");
	for (unsigned g = 0; g < GROUPS; g++)
		for (unsigned i = 0; i < EACH; i++) {
			node_id leaf = g * 2 * EACH + i, spine = leaf + EACH;
			node_id host = fab_add_node(b, IBA_NODE_CA, 0x1000 + leaf, 1, "");

			assert_int_equal(fab_add_link(b, leaf, 16, host, 1), 0);
			for (unsigned j = 0; j < EACH; j++)
				fab_add_link(b, leaf, j + 1, g * 2 * EACH + EACH + j, i + 1);
			for (unsigned o = 0; o < g; o++)
				fab_add_link(b, spine, 5 + o, o * 2 * EACH + EACH + i, 5 + g);
		}
	f = fab_build(b);
	l = recognised(f, LAYOUT_DRAGONFLY);
	assert_int_equal(count_groups(l, LAYOUT_GROUP, 0), GROUPS);
	assert_int_equal(l->level[0], 1);
	assert_int_equal(l->level[EACH], 2);
	layout_free(l);
	fab_free(f);
}

/* A copy without some of the cables between switches, and without all cables of one switch. */
static struct fab *damaged(const struct fab *f, const uint32_t *cut, uint32_t ncut, node_id gone)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t nth = 0;

	for (node_id n = 0; n < f->nnodes; n++)
		fab_add_node(b, f->nodes[n].type, f->nodes[n].guid, f->nodes[n].nports, "");
	for (port_id p = 0; p < f->nports; p++) {
		port_id q = f->ports[p].peer;
		bool whole = q != FAB_NONE && q > p && f->ports[p].node != gone &&
			     f->ports[q].node != gone;

		if (!whole)
			continue;
		nth += fab_is_switch(f, f->ports[p].node) && fab_is_switch(f, f->ports[q].node);
		for (uint32_t i = 0; i < ncut; i++)
			whole = whole && nth != cut[i];
		if (whole)
			fab_add_link(b, f->ports[p].node, f->ports[p].num, f->ports[q].node,
				     f->ports[q].num);
	}
	return fab_build(b);
}

TEST(a_torus_with_faults_is_a_torus)
{
	static const struct fab_gen row[] = {GEN("torus", 6, 5), GEN("torus", 4, 4, 4),
					     GEN("hypercube", 5), GEN("torus", 5, 3, 3)};
	static const uint32_t cuts[][3] = {{1}, {7, 12, 30}, {20, 21, 22}};

	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		for (unsigned fault = 0; fault < 4; fault++) {
			struct fab *f = fabric_make(row[i]);
			struct fab *bad = fault < 3
						  ? damaged(f, cuts[fault], fault ? 3 : 1, FAB_NONE)
						  : damaged(f, NULL, 0, f->switches[9]);

			layout_free(recognised(bad, LAYOUT_GRID));
			fab_free(bad);
			fab_free(f);
		}
}

TEST(islands_are_side_by_side)
{
	struct fab *f = fabric_odd();
	struct layout *l = checked(f);

	assert_int_equal(l->nparts, 4); /* two rings, a switch and a host */
	assert_int_equal(l->parts[2].shape, LAYOUT_SINGLE);
	assert_int_equal(l->parts[3].shape, LAYOUT_NO_SWITCH);
	assert_int_equal(count_groups(l, LAYOUT_ISLAND, 0), 2);
	layout_free(l);
	fab_free(f);
	for (unsigned seed = 1; seed < 60; seed++) {
		struct fab_gen g = {.kind = "odd", .seed = seed, .duplicates = seed % 2};

		f = fabric_make(g);
		layout_free(checked(f));
		fab_free(f);
	}
}

TEST(small_fabrics_have_a_layout)
{
	struct fab *f = fab_build(fab_builder_new());
	struct layout *l = checked(f);
	struct fab_builder *b;

	assert_int_equal(l->nparts, 0);
	assert_int_equal(l->ngroups, 0);
	layout_free(l);
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_CA, 1, 1, "alone");
	f = fab_build(b);
	layout_free(recognised(f, LAYOUT_NO_SWITCH));
	fab_free(f);
	b = fab_builder_new();
	fab_add_node(b, IBA_NODE_SWITCH, 1, 4, "alone");
	f = fab_build(b);
	layout_free(recognised(f, LAYOUT_SINGLE));
	fab_free(f);
}

/* Many hosts at each switch, and many switches. */
TEST(large_fabrics_do_not_overlap)
{
	static const struct {
		struct fab_gen gen;
		unsigned hosts;
	} row[] = {
		{GEN("mtree", 24, 3), 0},	{GEN("torus", 16, 16), 9},
		{GEN("torus", 8, 8, 8), 1},	{GEN("ring", 60), 30},
		{GEN("dragonfly", 4, 8, 4), 0}, {GEN("irregular", 700), 0},
		{GEN("hypercube", 9), 20},	{GEN("fullmesh", 40), 100},
	};

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fab_gen g = row[i].gen;
		struct fab *f;

		g.has_hosts = row[i].hosts > 0;
		g.hosts = row[i].hosts;
		f = fabric_make(g);
		layout_free(checked(f));
		fab_free(f);
	}
}

/* The same bytes from every compiler: a change here means that all drawings change. */
TEST(bytes_are_the_same_everywhere)
{
	static const struct {
		struct fab_gen gen;
		uint64_t hash;
	} row[] = {
		{GEN("mtree", 12, 3), 0xb4282cf609fc8ac6},
		{GEN("torus", 7, 5, 3), 0xfda28e3716a63bbc},
		{GEN("dragonfly", 2, 4, 2), 0xb71f444d6e588f6d},
		{GEN("irregular", 100), 0xb8eb99a215b4d039},
		{GEN("irregular", 400), 0x1d6637e5459cf3a7},
		{GEN("ring", 17), 0x44d227ac2941c34a},
	};

	unsigned wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		struct fab *f = fabric_make(row[i].gen);
		struct layout *l = layout_make(f);
		uint64_t h = 0;

		for (node_id n = 0; n < f->nnodes; n++) {
			h = hash64_add(h, (uint64_t)(l->x[n] * 64));
			h = hash64_add(h, (uint64_t)(l->y[n] * 64));
		}
		if (h != row[i].hash)
			print_message("# %s: hash 0x%016llx\n", row[i].gen.kind,
				      (unsigned long long)h);
		wrong += h != row[i].hash;
		layout_free(l);
		fab_free(f);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_recognised_in_any_order),
		cmocka_unit_test(groups_are_pods_planes_and_rows),
		cmocka_unit_test(a_tree_with_faults_is_a_tree),
		cmocka_unit_test(dragonfly_plus_is_a_dragonfly),
		cmocka_unit_test(a_torus_with_faults_is_a_torus),
		cmocka_unit_test(islands_are_side_by_side),
		cmocka_unit_test(small_fabrics_have_a_layout),
		cmocka_unit_test(large_fabrics_do_not_overlap),
		cmocka_unit_test(bytes_are_the_same_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
