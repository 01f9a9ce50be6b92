/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HCAs with virtual functions: both views of a fabric, each from the other. Keeps no state. Does not read
 * text (test_netlist.c).
 */
#include "fabric_fixture.h"

/* A switch with three hosts: 2 VFs behind a vSwitch, none, 3 VFs behind a shared port. */
static struct fab_builder *three_hosts(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id sw = fab_add_node(b, IBA_NODE_SWITCH, 0x21, 4, "leaf");

	for (unsigned i = 0; i < 3; i++) {
		char name[8];
		node_id n;

		snprintf(name, sizeof(name), "host%u", i);
		n = fab_add_node(b, IBA_NODE_CA, 0x10000 + 0x10 * i, 1, name);
		fab_builder_port(b, n, 1)->guid = 0x10001 + 0x10 * i;
		fab_builder_port(b, n, 1)->lid = (uint16_t)(10 * (i + 1));
		assert_int_equal(fab_add_link(b, sw, i + 1, n, 1), 0);
		fab_builder_port(b, n, 1)->width = 4;
		fab_builder_port(b, n, 1)->speed = FAB_EDR;
	}
	fab_builder_node(b, 1)->sriov = FAB_SRIOV_VSWITCH;
	fab_builder_node(b, 1)->vfs = 2;
	fab_builder_node(b, 1)->vendor_id = 0x2c9;
	fab_builder_node(b, 1)->device_id = IBA_DEVICE_VSWITCH;
	fab_builder_node(b, 3)->sriov = FAB_SRIOV_SHARED;
	fab_builder_node(b, 3)->vfs = 3;
	return b;
}

static void assert_same(const struct fab *a, const struct fab *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nports, b->nports);
	assert_int_equal(a->nlinks, b->nlinks);
	assert_int_equal(a->nvlids, b->nvlids);
	for (node_id n = 0; n < a->nnodes; n++) {
		const struct fab_node *x = &a->nodes[n], *y = &b->nodes[n];

		assert_string_equal(fab_node_name(a, n), fab_node_name(b, n));
		assert_true(x->guid == y->guid && x->sys_guid == y->sys_guid && x->type == y->type);
		assert_true(x->nports == y->nports && x->flags == y->flags && x->sriov == y->sriov);
		assert_true(x->vfs == y->vfs && x->vendor_id == y->vendor_id);
		assert_int_equal(x->device_id, y->device_id);
	}
	for (port_id p = 0; p < a->nports; p++) {
		const struct fab_port *x = &a->ports[p], *y = &b->ports[p];

		assert_true(x->guid == y->guid && x->node == y->node && x->peer == y->peer);
		assert_true(x->lid == y->lid && x->lmc == y->lmc && x->num == y->num);
		assert_true(x->width == y->width && x->speed == y->speed);
		assert_int_equal(x->cable_cm, y->cable_cm);
	}
	for (uint32_t i = 0; i < a->nvlids; i++) {
		const struct fab_vlid *x = &a->vlids[i], *y = &b->vlids[i];

		assert_true(x->guid == y->guid && x->port == y->port);
		assert_true(x->lid == y->lid && x->slot == y->slot);
	}
}

TEST(lids_of_functions_are_in_order_of_port_and_slot)
{
	struct fab_builder *b = three_hosts();
	const struct fab_vlid *v;
	struct fab *f, *g;

	fab_add_vlid(b, 3, 1, 50, 0x99);
	fab_add_vlid(b, 1, 2, 40, 0);
	fab_add_vlid(b, 1, 1, 41, 0x77);
	fab_add_vlid(b, 3, 2, 0, 0x98); /* no LID: nothing */
	f = fab_build(b);
	assert_int_equal(f->nvlids, 3);
	assert_int_equal(fab_vlids_of(f, fab_port_id(f, 1, 1), &v), 2);
	assert_int_equal(v[0].lid, 41);
	assert_int_equal(v[0].slot, 1);
	assert_int_equal(v[0].guid, 0x77);
	assert_int_equal(v[1].lid, 40);
	assert_true(v[1].guid == fab_function_guid(0x10000, 2));
	assert_int_equal(fab_vlids_of(f, fab_port_id(f, 3, 1), &v), 1);
	assert_int_equal(v[0].lid, 50);
	assert_int_equal(fab_vlids_of(f, fab_port_id(f, 2, 1), &v), 0);
	assert_null(v);
	g = fab_build(fab_builder_from(f)); /* a copy keeps them */
	assert_same(f, g);
	fab_free(f);
	fab_free(g);
}

TEST(guids_of_functions_differ)
{
	assert_true(fab_function_guid(0x0010000000000005, 0) == 0x0211000000000005);
	assert_true(fab_function_guid(0x0010000000000005, 1) == 0x0212000000000005);
	assert_true(fab_function_guid(0x0010000000000005, 252) == 0x02ed000000000005);
}

TEST(a_vswitch_on_the_wire)
{
	struct fab_builder *b = three_hosts();
	struct fab *f, *w;
	struct err e = {""};

	fab_add_vlid(b, 1, 2, 40, 0x77);
	f = fab_build(b);
	w = fab_wire(f, &e);
	assert_true(fab_is_virtual(f));
	assert_non_null(w);
	assert_int_equal(w->nnodes, f->nnodes + 3);
	assert_int_equal(w->nswitches, 2);
	assert_int_equal(w->nlinks, 6);
	assert_int_equal(w->nvlids, 0);
	/* The HCA is a switch: port GUID and LID on port 0, the cable at port 1. */
	assert_int_equal(w->nodes[1].type, IBA_NODE_SWITCH);
	assert_int_equal(w->nodes[1].nports, 4);
	assert_int_equal(w->nodes[1].flags, FAB_VSWITCH);
	assert_int_equal(w->nodes[1].device_id, IBA_DEVICE_VSWITCH);
	assert_int_equal(w->nodes[1].sriov, FAB_SRIOV_NONE);
	assert_string_equal(fab_node_name(w, 1), "host0");
	assert_int_equal(w->ports[fab_port_id(w, 1, 0)].guid, 0x10001);
	assert_int_equal(w->ports[fab_port_id(w, 1, 0)].lid, 10);
	assert_int_equal(w->ports[fab_port_id(w, 1, 1)].lid, 0);
	assert_int_equal(w->ports[fab_port_id(w, 1, 1)].peer, fab_port_id(w, 0, 1));
	/* Functions behind it. */
	assert_string_equal(fab_node_name(w, 4), "host0 PF");
	assert_string_equal(fab_node_name(w, 6), "host0 VF2");
	assert_int_equal(w->ports[fab_port_id(w, 1, 2)].peer, fab_port_id(w, 4, 1));
	assert_int_equal(w->ports[fab_port_id(w, 1, 4)].peer, fab_port_id(w, 6, 1));
	assert_int_equal(w->nodes[6].flags, FAB_FUNCTION);
	assert_int_equal(w->nodes[6].device_id, IBA_DEVICE_FUNCTION);
	assert_int_equal(w->nodes[6].vendor_id, 0x2c9);
	assert_int_equal(w->nodes[6].sys_guid, 0x10000);
	assert_true(w->nodes[6].guid == fab_function_guid(0x10000, 2));
	assert_int_equal(w->ports[fab_port_id(w, 6, 1)].guid, 0x77);
	assert_int_equal(w->ports[fab_port_id(w, 6, 1)].lid, 40);
	assert_int_equal(w->ports[fab_port_id(w, 5, 1)].lid, 0);
	assert_int_equal(w->ports[fab_port_id(w, 4, 1)].lid, 10); /* the PF has that of the HCA */
	assert_int_equal(w->ports[fab_port_id(w, 6, 1)].speed, FAB_EDR);
	/* A shared port looks as it did. */
	assert_int_equal(w->nodes[3].sriov, FAB_SRIOV_SHARED);
	assert_int_equal(w->nodes[3].vfs, 3);
	fab_free(f);
	fab_free(w);
}

TEST(folding_undoes_it)
{
	struct fab_builder *b = three_hosts();
	struct fab *f, *w, *g;

	fab_builder_port(b, 1, 1)->lid = 12;
	fab_builder_port(b, 1, 1)->lmc = 2;
	fab_add_vlid(b, 1, 0, 48, 0x66); /* a PF with a LID of its own */
	fab_add_vlid(b, 1, 1, 52, 0x77); /* two addresses of one VF */
	fab_add_vlid(b, 1, 1, 53, 0x77);
	fab_add_vlid(b, 1, 2, 40, 0);
	f = fab_build(b);
	w = fab_wire(f, NULL);
	g = fab_fold(w);
	assert_int_equal(w->ports[fab_port_id(w, 5, 1)].lmc, 1);
	assert_same(f, g);
	fab_free(f);
	fab_free(w);
	fab_free(g);
}

TEST(folding_a_vswitch_whose_pf_has_the_only_lid)
{
	struct fab *f = fab_build(three_hosts()), *w = fab_wire(f, NULL), *g;

	w->ports[fab_port_id(w, 1, 0)].lid = 0;
	g = fab_fold(w);
	assert_same(f, g);
	fab_free(f);
	fab_free(w);
	fab_free(g);
}

TEST(all_hosts_of_a_tree_there_and_back)
{
	struct fab *f = fabric_make(GEN("mtree", 4, 3)), *v, *w, *g;
	struct fab_builder *b = fab_builder_from(f);

	for (node_id n = 0; n < f->nnodes; n++) {
		if (fab_is_switch(f, n))
			continue;
		fab_builder_node(b, n)->sriov = FAB_SRIOV_VSWITCH;
		fab_builder_node(b, n)->vfs = FAB_MAX_VFS;
		fab_builder_node(b, n)->device_id = IBA_DEVICE_VSWITCH;
	}
	v = fab_build(b);
	w = fab_wire(v, NULL);
	g = fab_fold(w);
	assert_int_equal(w->nnodes, f->nnodes + f->nhosts * (FAB_MAX_VFS + 1));
	assert_same(v, g);
	assert_false(fab_is_virtual(f));
	fab_free(f);
	fab_free(v);
	fab_free(w);
	fab_free(g);
}

/* Odd but legal fabrics: hosts with several ports or none in use, islands, routers, cables from a switch to
 * itself. All LIDs come back, and the table of the wire view has those of the compact one. */
TEST(odd_fabrics_there_and_back)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct fab_gen gen = {.kind = "odd",
				      .seed = seed,
				      .sriov = seed % 5 ? FAB_SRIOV_VSWITCH : FAB_SRIOV_SHARED,
				      .vfs = 1 + seed % 9};
		struct fab *bare = fabric_make(gen), *f, *w, *g;
		port_id *compact, *wire;
		uint32_t top, wire_top;
		struct err e;

		for (node_id n = 0; n < bare->nnodes; n++)
			if (bare->nodes[n].sriov == FAB_SRIOV_VSWITCH)
				bare->nodes[n].device_id = IBA_DEVICE_VSWITCH;
		f = fab_assign_vf_lids(bare, seed % 3, &e);
		w = f ? fab_wire(f, &e) : NULL;
		if (!w)
			fail_msg("seed %u: %s", (unsigned)seed, e.text);
		g = fab_fold(w);
		assert_same(f, g);
		assert_int_equal(fab_lid_table(f, &compact, &top, &e), 0);
		assert_int_equal(fab_lid_table(w, &wire, &wire_top, &e), 0);
		assert_int_equal(top, wire_top);
		for (uint32_t lid = 1; lid <= top; lid++)
			assert_int_equal(compact[lid] == FAB_NONE, wire[lid] == FAB_NONE);
		free(compact);
		free(wire);
		fab_free(bare);
		fab_free(f);
		fab_free(w);
		fab_free(g);
	}
}

TEST(a_guid_that_is_in_use)
{
	struct fab_builder *b = three_hosts();
	struct err e = {""};
	struct fab *f;

	fab_builder_node(b, 2)->guid = fab_function_guid(0x10000, 2);
	f = fab_build(b);
	assert_null(fab_wire(f, &e));
	assert_string_equal(e.text, "GUID 0x0203000000010000 of function 2 of H-0000000000010000 "
				    "is in use at H-0203000000010000");
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lids_of_functions_are_in_order_of_port_and_slot),
		cmocka_unit_test(guids_of_functions_differ),
		cmocka_unit_test(a_vswitch_on_the_wire),
		cmocka_unit_test(folding_undoes_it),
		cmocka_unit_test(folding_a_vswitch_whose_pf_has_the_only_lid),
		cmocka_unit_test(all_hosts_of_a_tree_there_and_back),
		cmocka_unit_test(odd_fabrics_there_and_back),
		cmocka_unit_test(a_guid_that_is_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
