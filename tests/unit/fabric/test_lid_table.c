/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs of virtual functions in a snapshot: given, kept, found, and refused when there are too few. Keeps no
 * state. LIDs of ports are in test_fabric.c.
 */
#include "fabric_fixture.h"

/* A switch with so many HCAs, each with VFs behind a vSwitch, and one host without. */
static struct fab *hypervisors(unsigned n, unsigned vfs)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i <= n; i++) {
		if (i % 200 == 0)
			fab_add_node(b, IBA_NODE_SWITCH, 1 + i / 200, 254, "");
	}
	for (unsigned i = 0; i <= n; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x10000 + 2 * i, 1, "");

		fab_builder_port(b, h, 1)->guid = 0x10001 + 2 * i;
		fab_add_link(b, i / 200, i % 200 + 1, h, 1);
		if (i == n)
			break;
		fab_builder_node(b, h)->sriov = FAB_SRIOV_VSWITCH;
		fab_builder_node(b, h)->vfs = (uint8_t)vfs;
	}
	return fab_build(b);
}

TEST(vfs_get_lids_behind_all_ports)
{
	struct fab *f = hypervisors(3, 2), *plain = fab_assign_lids(f, 0, NULL),
		   *g = fab_assign_vf_lids(f, 0, NULL);
	port_id *table;
	uint32_t top;

	assert_int_equal(plain->nvlids, 0);
	assert_int_equal(fab_top_lid(plain), 5);
	for (port_id p = 0; p < f->nports; p++)
		assert_int_equal(g->ports[p].lid, plain->ports[p].lid);
	assert_int_equal(g->nvlids, 6);
	assert_int_equal(fab_top_lid(g), 11);
	assert_int_equal(fab_lid_count(g), 11);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(g->vlids[i].lid, 6 + i);
		assert_int_equal(g->vlids[i].slot, 1 + i % 2);
		assert_int_equal(g->vlids[i].port, fab_port_id(g, 1 + i / 2, 1));
	}
	assert_int_equal(fab_lid_table(g, &table, &top, NULL), 0);
	assert_int_equal(top, 11);
	assert_int_equal(table[6], fab_port_id(g, 1, 1));
	assert_int_equal(table[11], fab_port_id(g, 3, 1));
	free(table);
	fab_free(plain);
	fab_free(g);
	fab_free(f);
}

TEST(vfs_keep_lids_that_are_valid)
{
	struct fab *f = hypervisors(2, 2), *g, *h;
	struct fab_builder *b = fab_builder_from(f);

	fab_builder_port(b, 1, 1)->lid = 7;
	fab_add_vlid(b, 1, 2, 20, 0x99);  /* stays */
	fab_add_vlid(b, 2, 1, 7, 0);	  /* that of a port */
	fab_add_vlid(b, 2, 2, 0xc001, 0); /* no unicast LID */
	fab_free(f);
	f = fab_build(b);
	g = fab_assign_lids(f, 0, NULL); /* those in use, no others */
	assert_int_equal(g->nvlids, 1);
	assert_int_equal(g->vlids[0].lid, 20);
	assert_int_equal(g->vlids[0].guid, 0x99);
	h = fab_assign_vf_lids(f, 0, NULL);
	assert_int_equal(h->nvlids, 4);
	assert_int_equal(h->vlids[1].lid, 20);
	assert_int_equal(h->vlids[1].guid, 0x99);
	fab_free(g);
	g = fab_assign_vf_lids(h, 0, NULL); /* a second time changes nothing */
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(g->vlids[i].lid, h->vlids[i].lid);
	fab_free(f);
	fab_free(g);
	fab_free(h);
}

TEST(an_hca_without_a_cable_has_no_lids)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;

	fab_add_node(b, IBA_NODE_CA, 1, 1, "");
	fab_builder_node(b, 0)->sriov = FAB_SRIOV_VSWITCH;
	fab_builder_node(b, 0)->vfs = 3;
	f = fab_build(b);
	g = fab_assign_vf_lids(f, 0, NULL);
	assert_int_equal(fab_lid_count(g), 0);
	fab_free(f);
	fab_free(g);
}

TEST(vfs_behind_a_shared_port_have_no_lids)
{
	struct fab *f = hypervisors(2, 2), *g;

	for (node_id n = 1; n < 3; n++)
		f->nodes[n].sriov = FAB_SRIOV_SHARED;
	g = fab_assign_vf_lids(f, 0, NULL);
	assert_int_equal(g->nvlids, 0);
	fab_free(f);
	fab_free(g);
}

/* 49,151 LIDs: without switches 2,891 hypervisors with 16 VFs; with 15 switches for them and one host that
 * is no hypervisor 2,890. */
TEST(too_many_vfs_are_refused_with_figures)
{
	struct fab *f = hypervisors(2890, 16), *g;
	struct err e = {""};

	g = fab_assign_vf_lids(f, 0, &e);
	assert_non_null(g);
	assert_int_equal(fab_lid_count(g), 2890 * 17 + 15 + 1);
	fab_free(g);
	fab_free(f);
	f = hypervisors(2892, 16);
	assert_null(fab_assign_vf_lids(f, 0, &e));
	assert_string_equal(e.text, "16 VFs on 2,892 hosts need 49,164 LIDs and 15 for switches, "
				    "1 for other ports; 49,151 exist");
	g = fab_assign_lids(f, 0, &e); /* without VFs there is room */
	assert_non_null(g);
	fab_free(g);
	assert_null(fab_assign_vf_lids(f, 1, &e));
	assert_non_null(strstr(e.text, "need 52,056 LIDs and 15 for switches"));
	assert_non_null(strstr(e.text, "(LMC 1); 49,151 exist"));
	f->nodes[f->nnodes - 2].vfs = 252; /* not the same everywhere: all of them are counted */
	assert_null(fab_assign_vf_lids(f, 0, &e));
	assert_string_equal(e.text, "46,508 VFs on 2,892 hosts need 49,400 LIDs and 15 for "
				    "switches, 1 for other ports; 49,151 exist");
	fab_free(f);
}

TEST(a_lid_at_two_places_is_refused)
{
	struct fab *f = hypervisors(2, 2), *g = fab_assign_vf_lids(f, 0, NULL);
	port_id *table;
	struct err e;
	uint32_t top;

	g->vlids[3].lid = g->vlids[0].lid;
	assert_int_equal(fab_lid_table(g, &table, &top, &e), -EEXIST);
	assert_string_equal(e.text,
			    "LID 5 belongs to both H-0000000000010000 and H-0000000000010002");
	fab_free(f);
	fab_free(g);
}

TEST(a_pf_shares_the_lid_of_its_vswitch)
{
	struct fab *f = hypervisors(2, 2), *g = fab_assign_vf_lids(f, 0, NULL), *w, *again;
	port_id *table;
	uint32_t top;
	struct err e;

	w = fab_wire(g, NULL);
	assert_int_equal(w->ports[fab_port_id(w, 1, 0)].lid, w->ports[fab_port_id(w, 4, 1)].lid);
	assert_int_equal(fab_lid_table(w, &table, &top, &e), 0);
	assert_int_equal(table[2], fab_port_id(w, 1, 0));
	free(table);
	/* Only with its own one. */
	w->ports[fab_port_id(w, 7, 1)].lid = 2;
	assert_int_equal(fab_lid_table(w, &table, &top, &e), -EEXIST);
	/* A manager that does not know vSwitches gives the PF a LID of its own. */
	again = fab_assign_lids(w, 0, &e);
	assert_true(again->ports[fab_port_id(again, 4, 1)].lid != 2);
	fab_free(again);
	fab_free(f);
	fab_free(g);
	fab_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vfs_get_lids_behind_all_ports),
		cmocka_unit_test(vfs_keep_lids_that_are_valid),
		cmocka_unit_test(an_hca_without_a_cable_has_no_lids),
		cmocka_unit_test(vfs_behind_a_shared_port_have_no_lids),
		cmocka_unit_test(too_many_vfs_are_refused_with_figures),
		cmocka_unit_test(a_lid_at_two_places_is_refused),
		cmocka_unit_test(a_pf_shares_the_lid_of_its_vswitch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
