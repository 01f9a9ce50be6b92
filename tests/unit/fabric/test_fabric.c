/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshots: building, lookup, LIDs, differences. Keeps no state. Does not read text (test_netlist.c) and
 * does not generate (test_gen.c).
 * Covers: fabric.c, diff.c
 */
#include "unit_test.h"

#include "fabric/fabric.h"

/* Two switches, two links between them, a host on each, a dual-port host on both. */
static struct fab_builder *small(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id s1 = fab_add_node(b, IBA_NODE_SWITCH, 0x21, 4, "left");
	node_id s2 = fab_add_node(b, IBA_NODE_SWITCH, 0x22, 4, "right");
	node_id h1 = fab_add_node(b, IBA_NODE_CA, 0x11, 1, "h1");
	node_id h2 = fab_add_node(b, IBA_NODE_CA, 0x12, 1, "h2");
	node_id dual = fab_add_node(b, IBA_NODE_CA, 0x30, 2, "dual");

	assert_int_equal(fab_add_link(b, s1, 1, s2, 1), 0);
	assert_int_equal(fab_add_link(b, s1, 2, s2, 2), 0);
	assert_int_equal(fab_add_link(b, h1, 1, s1, 3), 0);
	assert_int_equal(fab_add_link(b, h2, 1, s2, 3), 0);
	assert_int_equal(fab_add_link(b, dual, 1, s1, 4), 0);
	assert_int_equal(fab_add_link(b, dual, 2, s2, 4), 0);
	fab_builder_port(b, dual, 2)->guid = 0x32;
	return b;
}

TEST(building_a_snapshot)
{
	struct fab *f = fab_build(small());

	assert_int_equal(f->nnodes, 5);
	assert_int_equal(f->nports, 5 + 5 + 2 + 2 + 3);
	assert_int_equal(f->nswitches, 2);
	assert_int_equal(f->nhosts, 3);
	assert_int_equal(f->nrouters, 0);
	assert_int_equal(f->nlinks, 6);
	assert_int_equal(f->switches[1], 1);
	assert_int_equal(f->switch_index[1], 1);
	assert_int_equal(f->switch_index[2], FAB_NONE);
	assert_int_equal(f->ports[fab_port_id(f, 4, 2)].peer, fab_port_id(f, 1, 4));
	assert_int_equal(f->ports[fab_port_id(f, 1, 4)].peer, fab_port_id(f, 4, 2));
	assert_int_equal(f->ports[fab_port_id(f, 0, 0)].guid,
			 0x21); /* port 0 has the node's GUID */
	assert_int_equal(f->ports[fab_port_id(f, 0, 1)].guid, 0);
	fab_free(f);
}

TEST(an_empty_snapshot)
{
	struct fab *f = fab_build(fab_builder_new());
	struct fab *g = fab_assign_lids(f, 0, NULL);

	assert_non_null(g);
	assert_int_equal(g->nnodes, 0);
	assert_int_equal(fab_top_lid(g), 0);
	assert_int_equal(fab_node_by_guid(g, 0), FAB_NONE);
	assert_int_equal(fab_node_by_text(g, "x"), FAB_NONE);
	fab_free(f);
	fab_free(g);
}

TEST(impossible_links_are_refused)
{
	struct fab_builder *b = small();

	assert_int_equal(fab_add_link(b, 0, 1, 1, 3), -EEXIST);
	assert_int_equal(fab_add_link(b, 0, 0, 1, 1), -EINVAL); /* port 0 has no cable */
	assert_int_equal(fab_add_link(b, 0, 5, 1, 1), -EINVAL);
	assert_int_equal(fab_add_link(b, 0, 1, 9, 1), -EINVAL);
	assert_int_equal(fab_add_link(b, 9, 1, 0, 1), -EINVAL);
	fab_add_node(b, IBA_NODE_SWITCH, 0x23, 2, "loop");
	assert_int_equal(fab_add_link(b, 5, 1, 5, 1), -EINVAL);
	assert_int_equal(fab_add_link(b, 5, 1, 5, 2),
			 0); /* a cable from a switch to itself is one */
	fab_builder_free(b);
}

TEST(lookups)
{
	struct fab_builder *b = small();
	struct fab *f;
	char ident[32];

	assert_int_equal(fab_builder_find(b, 0x30), 4);
	assert_int_equal(fab_builder_find(b, 0x31), FAB_NONE);
	fab_builder_rename(b, 2, "face"); /* a name that could be a number */
	f = fab_build(b);
	assert_int_equal(fab_node_by_guid(f, 0x22), 1);
	assert_int_equal(fab_node_by_guid(f, 0x99), FAB_NONE);
	assert_int_equal(fab_node_by_text(f, "0x22"), 1);
	assert_int_equal(fab_node_by_text(f, "S-0000000000000022"), 1);
	assert_int_equal(fab_node_by_text(f, "dual"), 4);
	assert_int_equal(fab_node_by_text(f, "0x32"), 4); /* a port's GUID */
	assert_int_equal(fab_node_by_text(f, "face"), 2);
	assert_int_equal(fab_node_by_text(f, "Dual"), FAB_NONE);
	assert_int_equal(fab_node_by_text(f, ""), FAB_NONE);
	assert_int_equal(fab_node_by_text(f, "H-"), FAB_NONE);
	fab_node_ident(f, 4, ident);
	assert_string_equal(ident, "H-0000000000000030");
	assert_string_equal(fab_speed_name(FAB_FDR10), "FDR10");
	assert_string_equal(fab_speed_name(99), "?");
	assert_true(fab_lane_bps(FAB_EDR) == 25000000000ull);
	for (unsigned s = FAB_DDR; s < FAB_NSPEEDS; s++)
		assert_true(fab_lane_bps(s) > fab_lane_bps(s - 1));
	fab_free(f);
}

TEST(a_copy_can_be_changed)
{
	struct fab *f = fab_build(small()), *g;
	struct fab_builder *b = fab_builder_from(f);

	fab_add_node(b, IBA_NODE_ROUTER, 0x40, 1, "rt");
	fab_builder_rename(b, 0, "LEFT");
	g = fab_build(b);
	assert_int_equal(g->nrouters, 1);
	assert_int_equal(g->nlinks, f->nlinks);
	assert_string_equal(fab_node_name(g, 0), "LEFT");
	assert_string_equal(fab_node_name(f, 0), "left");
	assert_memory_equal(f->ports, g->ports, f->nports * sizeof(*f->ports));
	fab_free(f);
	fab_free(g);
}

/* ---- LIDs ---- */

static unsigned lid_at(const struct fab *f, node_id n, unsigned port)
{
	return f->ports[fab_port_id(f, n, port)].lid;
}

TEST(lids_in_node_order)
{
	struct fab *f = fab_build(small());
	struct fab *g = fab_assign_lids(f, 0, NULL);

	assert_int_equal(lid_at(g, 0, 0), 1);
	assert_int_equal(lid_at(g, 1, 0), 2);
	assert_int_equal(lid_at(g, 2, 1), 3);
	assert_int_equal(lid_at(g, 3, 1), 4);
	assert_int_equal(lid_at(g, 4, 1), 5);
	assert_int_equal(lid_at(g, 4, 2), 6);
	assert_int_equal(lid_at(g, 0, 1), 0); /* external ports have none */
	assert_int_equal(lid_at(g, 4, 0), 0);
	assert_int_equal(fab_top_lid(g), 6);
	assert_int_equal(fab_top_lid(f), 0); /* the original is as it was */
	fab_free(f);
	fab_free(g);
}

TEST(valid_lids_are_kept)
{
	struct fab_builder *b = small();
	struct fab *f, *g;

	fab_builder_port(b, 1, 0)->lid = 1;
	fab_builder_port(b, 2, 1)->lid = 700;
	fab_builder_port(b, 3, 1)->lid = 700;	 /* taken */
	fab_builder_port(b, 4, 1)->lid = 0xc001; /* multicast */
	fab_builder_port(b, 0, 2)->lid = 5;	 /* an external port needs none */
	f = fab_build(b);
	g = fab_assign_lids(f, 0, NULL);
	assert_int_equal(lid_at(g, 1, 0), 1);
	assert_int_equal(lid_at(g, 2, 1), 700);
	assert_int_equal(lid_at(g, 0, 0), 2);
	assert_int_equal(lid_at(g, 3, 1), 3);
	assert_int_equal(lid_at(g, 4, 1), 4);
	assert_int_equal(lid_at(g, 4, 2), 5);
	assert_int_equal(lid_at(g, 0, 2), 0);
	fab_free(f);
	fab_free(g);
}

TEST(lid_ranges_are_aligned_to_the_lmc)
{
	struct fab_builder *b = small();
	struct fab *f, *g;

	fab_builder_node(b, 1)->flags = FAB_ENHANCED_PORT0;
	fab_builder_port(b, 2, 1)->lid = 10; /* not a multiple of 8 */
	fab_builder_port(b, 3, 1)->lid = 16;
	f = fab_build(b);
	g = fab_assign_lids(f, 3, NULL);
	assert_int_equal(lid_at(g, 0, 0), 1); /* a base port 0 has one LID whatever the LMC */
	assert_int_equal(g->ports[fab_port_id(g, 0, 0)].lmc, 0);
	assert_int_equal(lid_at(g, 1, 0), 8);
	assert_int_equal(g->ports[fab_port_id(g, 1, 0)].lmc, 3);
	assert_int_equal(lid_at(g, 2, 1), 24);
	assert_int_equal(lid_at(g, 3, 1), 16);
	assert_int_equal(lid_at(g, 4, 1), 32);
	assert_int_equal(lid_at(g, 4, 2), 40);
	assert_int_equal(fab_top_lid(g), 47);
	fab_free(f);
	fab_free(g);
}

TEST(an_lmc_above_7_is_refused)
{
	struct fab *f = fab_build(small());
	struct err e;

	assert_null(fab_assign_lids(f, 8, &e));
	assert_string_equal(e.text, "found LMC 8, expected 0 to 7");
	fab_free(f);
}

TEST(too_few_lids_are_reported)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	struct err e = {0};

	for (unsigned i = 0; i < 384;
	     i++) /* 128 LIDs each: 0xc000 / 128 = 384 blocks, less block 0 */
		fab_builder_node(b, fab_add_node(b, IBA_NODE_SWITCH, i + 1, 1, ""))->flags =
			FAB_ENHANCED_PORT0;
	f = fab_build(b);
	g = fab_assign_lids(f, 6, &e);
	assert_non_null(g);
	assert_true(fab_top_lid(g) <= IBA_LID_MAX_UNICAST);
	fab_free(g);
	assert_null(fab_assign_lids(f, 7, &e));
	assert_non_null(strstr(e.text, "49151 unicast LIDs (LMC 7)"));
	fab_free(f);
}

TEST(lid_tables)
{
	struct fab_builder *b = small();
	struct fab *f;
	port_id *table = NULL;
	uint32_t top = 0;
	struct err e;

	fab_builder_port(b, 0, 0)->lid = 1;
	fab_builder_port(b, 2, 1)->lid = 4;
	fab_builder_port(b, 2, 1)->lmc = 1;
	f = fab_build(b);
	assert_int_equal(fab_lid_table(f, &table, &top, &e), 0);
	assert_int_equal(top, 5);
	assert_int_equal(table[0], FAB_NONE);
	assert_int_equal(table[1], fab_port_id(f, 0, 0));
	assert_int_equal(table[3], FAB_NONE);
	assert_int_equal(table[4], fab_port_id(f, 2, 1));
	assert_int_equal(table[5], fab_port_id(f, 2, 1));
	free(table);
	b = fab_builder_from(f);
	fab_free(f);
	fab_builder_port(b, 3, 1)->lid = 5; /* the second LID of h1 */
	f = fab_build(b);
	assert_int_equal(fab_lid_table(f, &table, &top, &e), -EEXIST);
	assert_string_equal(e.text,
			    "LID 5 belongs to both H-0000000000000011 and H-0000000000000012");
	fab_free(f);
}

/* ---- differences ---- */

TEST(equal_snapshots_do_not_differ)
{
	struct fab *f = fab_build(small()), *g = fab_build(small());
	fab_diff_list l = {0};

	fab_diff(f, g, &l);
	assert_int_equal(l.n, 0);
	fab_diff_free(&l);
	fab_free(f);
	fab_free(g);
}

static void check_item(const struct fab_diff_item *i, enum fab_diff_kind kind, uint64_t guid_a,
		       unsigned port_a, uint64_t guid_b, unsigned port_b, const char *text)
{
	assert_int_equal(i->kind, kind);
	assert_int_equal(i->guid_a, guid_a);
	assert_int_equal(i->port_a, port_a);
	assert_int_equal(i->guid_b, guid_b);
	assert_int_equal(i->port_b, port_b);
	if (text)
		assert_string_equal(i->text, text);
	else
		assert_null(i->text);
}

/* h2 is replaced by h3 on the same port, a trunk moves, names, LIDs and a rate change. */
static struct fab *changed(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id h3 = fab_add_node(b, IBA_NODE_CA, 0x13, 1, "h3");
	node_id dual = fab_add_node(b, IBA_NODE_CA, 0x30, 2, "dual");
	node_id h1 = fab_add_node(b, IBA_NODE_CA, 0x11, 1, "h1 renamed");
	node_id s2 = fab_add_node(b, IBA_NODE_SWITCH, 0x22, 4, "right");
	node_id s1 = fab_add_node(b, IBA_NODE_SWITCH, 0x21, 5, "left");

	fab_add_link(b, s1, 1, s2, 1);
	fab_add_link(b, s1, 5, s2, 2);
	fab_add_link(b, h1, 1, s1, 3);
	fab_add_link(b, h3, 1, s2, 3);
	fab_add_link(b, dual, 1, s1, 4);
	fab_add_link(b, dual, 2, s2, 4);
	fab_builder_port(b, dual, 2)->guid = 0x32;
	fab_builder_port(b, dual, 2)->width = 4;
	fab_builder_port(b, dual, 2)->speed = FAB_HDR;
	fab_builder_port(b, s2, 0)->lid = 7;
	fab_builder_node(b, s2)->flags = FAB_ENHANCED_PORT0;
	return fab_build(b);
}

TEST(differences_are_sorted)
{
	struct fab *f = fab_build(small()), *g = changed();
	fab_diff_list l = {0};

	fab_diff(f, g, &l);
	assert_int_equal(l.n, 10);
	check_item(&l.at[0], FAB_NODE_ADDED, 0x13, 0, 0, 0, NULL);
	check_item(&l.at[1], FAB_NODE_GONE, 0x12, 0, 0, 0, NULL);
	check_item(&l.at[2], FAB_LINK_ADDED, 0x13, 1, 0x22, 3, NULL);
	check_item(&l.at[3], FAB_LINK_ADDED, 0x21, 5, 0x22, 2, NULL);
	check_item(&l.at[4], FAB_LINK_GONE, 0x12, 1, 0x22, 3, NULL);
	check_item(&l.at[5], FAB_LINK_GONE, 0x21, 2, 0x22, 2, NULL);
	check_item(&l.at[6], FAB_NODE_CHANGED, 0x11, 0, 0, 0, "name \"h1\" -> \"h1 renamed\"");
	check_item(&l.at[7], FAB_NODE_CHANGED, 0x21, 0, 0, 0, "ports 4 -> 5");
	check_item(&l.at[8], FAB_NODE_CHANGED, 0x22, 0, 0, 0,
		   "port 0 base -> enhanced; LID 0 -> 7");
	check_item(&l.at[9], FAB_NODE_CHANGED, 0x30, 2, 0, 0, "rate unknown -> 4xHDR");
	fab_diff_free(&l);
	fab_free(f);
	fab_free(g);
}

TEST(a_switch_cabled_to_itself_is_one_link)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	fab_diff_list l = {0};

	fab_add_node(b, IBA_NODE_SWITCH, 9, 4, "");
	f = fab_build(b);
	b = fab_builder_from(f);
	fab_add_link(b, 0, 4, 0, 2);
	g = fab_build(b);
	fab_diff(f, g, &l);
	assert_int_equal(l.n, 1);
	check_item(&l.at[0], FAB_LINK_ADDED, 9, 2, 9, 4, NULL);
	fab_diff_free(&l);
	fab_free(f);
	fab_free(g);
}

TEST(each_changed_property_of_a_node_is_found)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	fab_diff_list l = {0};

	fab_add_node(b, IBA_NODE_CA, 9, 1, "");
	fab_add_node(b, IBA_NODE_CA, 8, 1, "");
	f = fab_build(b);
	b = fab_builder_from(f);
	fab_builder_node(b, 0)->vendor_id = 0x2c9;
	fab_builder_node(b, 0)->device_id = 0xcf09;
	fab_builder_node(b, 0)->sys_guid = 0x10;
	fab_builder_node(b, 0)->flags = FAB_SHARP_AN;
	fab_builder_node(b, 0)->sriov = FAB_SRIOV_SHARED;
	fab_builder_node(b, 0)->vfs = 16;
	fab_builder_port(b, 1, 1)->guid = 0xa;
	fab_builder_port(b, 1, 1)->lmc = 2;
	g = fab_build(b);
	fab_diff(f, g, &l);
	assert_int_equal(l.n, 2);
	check_item(&l.at[0], FAB_NODE_CHANGED, 8, 1, 0, 0, "port GUID 0x0 -> 0xa; LMC 0 -> 2");
	check_item(&l.at[1], FAB_NODE_CHANGED, 9, 0, 0, 0,
		   "vendor 0x0 -> 0x2c9; device 0x0 -> 0xcf09; system GUID 0x9 -> 0x10; "
		   "now an aggregation node; sriov none -> shared; VFs 0 -> 16");
	fab_diff_free(&l);
	fab_free(f);
	fab_free(g);
}

/* The port of the lower end decides before the higher end's GUID does. */
TEST(links_sort_by_port_first)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	fab_diff_list l = {0};

	for (uint64_t guid = 1; guid <= 3; guid++)
		fab_add_node(b, IBA_NODE_SWITCH, guid, 4, "");
	f = fab_build(b);
	b = fab_builder_from(f);
	fab_add_link(b, 0, 1, 2, 1);
	fab_add_link(b, 0, 2, 1, 1);
	g = fab_build(b);
	fab_diff(f, g, &l);
	assert_int_equal(l.n, 2);
	check_item(&l.at[0], FAB_LINK_ADDED, 1, 1, 3, 1, NULL);
	check_item(&l.at[1], FAB_LINK_ADDED, 1, 2, 2, 1, NULL);
	fab_diff_free(&l);
	fab_free(f);
	fab_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(building_a_snapshot),
		cmocka_unit_test(an_empty_snapshot),
		cmocka_unit_test(impossible_links_are_refused),
		cmocka_unit_test(lookups),
		cmocka_unit_test(a_copy_can_be_changed),
		cmocka_unit_test(lids_in_node_order),
		cmocka_unit_test(valid_lids_are_kept),
		cmocka_unit_test(lid_ranges_are_aligned_to_the_lmc),
		cmocka_unit_test(an_lmc_above_7_is_refused),
		cmocka_unit_test(too_few_lids_are_reported),
		cmocka_unit_test(lid_tables),
		cmocka_unit_test(equal_snapshots_do_not_differ),
		cmocka_unit_test(differences_are_sorted),
		cmocka_unit_test(a_switch_cabled_to_itself_is_one_link),
		cmocka_unit_test(each_changed_property_of_a_node_is_found),
		cmocka_unit_test(links_sort_by_port_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
