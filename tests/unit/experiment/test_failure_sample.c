/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of failures: the bridge between two halves is always in, levels of a tree are all represented, and every
 * choice has its number of different members.
 */
#include "unit_test.h"

#include "experiment/failure_sample.h"

/* Two triangles of switches, two hosts at each switch, and a link from switch 2 to switch 3. */
static struct fab *two_triangles(void)
{
	static const unsigned links[][4] = {{0, 1, 1, 1}, {1, 2, 2, 1}, {2, 2, 0, 2}, {3, 1, 4, 1},
					    {4, 2, 5, 1}, {5, 2, 3, 2}, {2, 3, 3, 3}};
	struct fab_builder *b = fab_builder_new();
	node_id sw[6];

	for (unsigned i = 0; i < 6; i++)
		sw[i] = fab_add_node(b, IBA_NODE_SWITCH, 0x100 + i, 5, "");
	for (unsigned i = 0; i < 12; i++) {
		node_id host = fab_add_node(b, IBA_NODE_CA, 0x200 + i, 1, "");

		assert_int_equal(fab_add_link(b, host, 1, sw[i / 2], 4 + i % 2), 0);
	}
	for (unsigned i = 0; i < ARRAY_LEN(links); i++)
		assert_int_equal(
			fab_add_link(b, sw[links[i][0]], links[i][1], sw[links[i][2]], links[i][3]),
			0);
	return fab_build(b);
}

static lab_failures all_of(const struct fab *f, enum lab_failure_kind kind)
{
	lab_failures all = {0};

	for (uint32_t i = 0; kind == LAB_FAILS_SWITCH && i < f->nswitches; i++)
		vec_push(&all, ((struct lab_failure){.kind = kind, .node = f->switches[i]}));
	for (port_id p = 0; kind == LAB_FAILS_LINK && p < f->nports; p++) {
		port_id q = f->ports[p].peer;

		if (q != FAB_NONE && q > p && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[q].node))
			vec_push(&all, ((struct lab_failure){
					       .kind = kind, .node = f->ports[p].node, .port = p}));
	}
	return all;
}

TEST(weights_are_pairs_on_shortest_ways)
{
	struct fab *f = two_triangles();
	node_id two = fab_node_by_guid(f, 0x102), zero = fab_node_by_guid(f, 0x100);
	struct failure_weights w;
	port_id bridge = fab_port_id(f, two, 3);

	failure_weights(f, &w);
	/* six hosts on either side, both ways */
	assert_int_equal(w.ports[bridge], 2 * 6 * 6 * WEIGHT_OF_A_PAIR);
	assert_int_equal(w.ports[f->ports[bridge].peer], w.ports[bridge]);
	/* switch 0: its two hosts with all twelve, both ways; nothing passes */
	assert_int_equal(w.nodes[zero], (2 * 2 * 12 - 2 * 2) * WEIGHT_OF_A_PAIR);
	assert_true(w.nodes[two] > w.nodes[zero]);
	failure_weights_free(&w);
	fab_free(f);
}

TEST(a_sample_has_the_bridge)
{
	struct fab *f = two_triangles();
	lab_failures links = all_of(f, LAB_FAILS_LINK), switches = all_of(f, LAB_FAILS_SWITCH);
	struct failure_weights w;

	failure_weights(f, &w);
	failure_sample(&w, &links, 0, 1);
	assert_int_equal(links.n, 1);
	assert_int_equal(links.at[0].port, fab_port_id(f, fab_node_by_guid(f, 0x102), 3));
	failure_sample(&w, &switches, 0, 3); /* both ends of the bridge, and another */
	assert_int_equal(switches.n, 3);
	assert_true(f->nodes[switches.at[0].node].guid <= 0x102);
	vec_free(&links);
	vec_free(&switches);
	failure_weights_free(&w);
	fab_free(f);
}

/* Of any number: different ones, in their order; all, if that many are wanted; what is before `from` stays. */
TEST(samples_of_a_tree_are_different_and_in_order)
{
	struct fab_gen g = {
		.kind = "mtree", .dims = {4, 3}, .ndims = 2, .width = 4, .speed = FAB_QDR};
	struct err e;
	struct fab *f = fab_generate(&g, &e);
	struct failure_weights w;

	assert_non_null(f);
	failure_weights(f, &w);
	for (size_t many = 0; many < 40; many++) {
		lab_failures all = all_of(f, LAB_FAILS_LINK);
		size_t n = all.n;

		assert_int_equal(n, 32);
		failure_sample(&w, &all, 2, many);
		assert_int_equal(all.n, 2 + MIN(many, n - 2));
		for (size_t i = 1; i < all.n; i++)
			assert_true(all.at[i].port > all.at[i - 1].port);
		vec_free(&all);
	}
	failure_weights_free(&w);
	fab_free(f);
}

TEST(no_hosts_no_weights)
{
	struct fab_builder *b = fab_builder_new();
	node_id a = fab_add_node(b, IBA_NODE_SWITCH, 1, 2, ""),
		c = fab_add_node(b, IBA_NODE_SWITCH, 2, 2, "");
	struct failure_weights w;
	lab_failures all;
	struct fab *f;

	fab_add_link(b, a, 1, c, 1);
	f = fab_build(b);
	all = all_of(f, LAB_FAILS_SWITCH);
	failure_weights(f, &w);
	failure_sample(&w, &all, 0, 1);
	assert_int_equal(all.n, 1);
	vec_free(&all);
	failure_weights_free(&w);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_pairs_on_shortest_ways),
		cmocka_unit_test(a_sample_has_the_bridge),
		cmocka_unit_test(samples_of_a_tree_are_different_and_in_order),
		cmocka_unit_test(no_hosts_no_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
