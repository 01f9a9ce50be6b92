/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of fabrics with virtual functions: computed, spread, verified, written and read. Keeps no state.
 */
#include "route_fixture.h"

static struct fab *tree_with_vfs(unsigned vfs)
{
	return world_vfs(world_make((struct fab_gen){.kind = "mtree", .dims = {4, 2}}), vfs);
}

/* f without LIDs: what a netlist says. */
static struct fab *bare(const struct fab *f)
{
	struct fab_builder *b = fab_builder_from(f);

	fab_builder_drop_vlids(b);
	for (port_id p = 0; p < f->nports; p++)
		fab_builder_port(b, f->ports[p].node, f->ports[p].num)->lid = 0;
	return fab_build(b);
}

TEST(every_engine_routes_to_vfs)
{
	struct rt_opts o = {.root = FAB_NONE};
	struct fab *f = tree_with_vfs(3);
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	assert_int_equal(f->nvlids, 3 * f->nhosts);
	for (size_t i = 0; rt_engines[i] && !rt_engines[i]->given; i++) {
		int rc = rt_compute(rt_engines[i], f, &o, &t, &e);

		if (rc && rt_engines[i]->use == RT_USE_SHAPE && rt_engines[i] != &rt_tree)
			continue; /* it has no such shape */
		assert_int_equal(rc, 0);
		rt_tables_fill(t);
		r = world_verify(f, t, (struct rt_verify_opts){0});
		assert_true(r.ok);
		assert_int_equal(r.pairs, (f->nhosts + f->nswitches - 1ull) *
						  (f->nswitches + 4ull * f->nhosts));
		rt_row(t, 2)[f->vlids[7].lid] = IBA_PORT_NONE; /* the verifier looks at them */
		rt_report_free(&r);
		r = world_verify(f, t, (struct rt_verify_opts){0});
		assert_false(r.ok);
		rt_report_free(&r);
		rt_tables_free(t);
	}
	fab_free(f);
}

/* The VFs of one host use all equal ports, and a slot keeps its way when another has no LID. */
TEST(vfs_of_one_host_take_different_ways)
{
	static const uint8_t links[][4] = {{0, 1, 1, 1}, {0, 2, 1, 2}, {0, 3, 1, 3}, {0, 4, 1, 4}};
	struct fab *f = world_vfs(world_links(2, 5, links, 4), 7), *g;
	struct fab_builder *b = fab_builder_from(f);
	struct rt_tables *t = world_fera(f, NULL), *u;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		uint32_t there = f->switch_index[f->ports[f->ports[f->vlids[i].port].peer].node];
		uint8_t own = rt_row(t, 1 - there)[f->ports[f->vlids[i].port].lid];

		/* slot 4 goes as the PF does, slot 5 as slot 1 */
		assert_int_equal((own - 1 + f->vlids[i].slot) % 4 + 1,
				 rt_row(t, 1 - there)[f->vlids[i].lid]);
	}
	fab_builder_drop_vlids(b);
	for (uint32_t i = 1; i < f->nvlids; i += 7)
		fab_add_vlid(b, f->ports[f->vlids[i].port].node, 2, f->vlids[i].lid, 0);
	g = fab_build(b);
	u = world_fera(g, NULL);
	assert_int_equal(g->nvlids, 2);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t i = 0; i < g->nvlids; i++)
			assert_int_equal(rt_row(t, s)[g->vlids[i].lid],
					 rt_row(u, s)[g->vlids[i].lid]);
	rt_tables_free(t);
	rt_tables_free(u);
	fab_free(f);
	fab_free(g);
}

TEST(dumps_of_fabrics_with_vfs_are_read_again)
{
	struct fab *f = tree_with_vfs(2), *plain, *g;
	struct rt_tables *t, *u;
	struct strbuf text = {0}, again = {0};
	struct err e;

	f->vlids[1].guid = 0xabcdef; /* a virtual machine's: known by its name alone */
	plain = bare(f);
	t = world_fera(f, NULL);
	rt_lfts_write(f, t, &text);
	assert_non_null(
		strstr(text.s, " # Channel Adapter portguid 0x0000000000abcdef: 'host 0 VF2'\n"));
	assert_int_equal(rt_lfts_parse(plain, "x", text.s, text.len, &g, &u, &e), 0);
	assert_int_equal(g->nvlids, f->nvlids);
	for (uint32_t i = 0; i < f->nvlids; i++) {
		assert_int_equal(g->vlids[i].lid, f->vlids[i].lid);
		assert_int_equal(g->vlids[i].slot, f->vlids[i].slot);
		assert_int_equal(g->vlids[i].port, f->vlids[i].port);
		assert_true(g->vlids[i].guid == f->vlids[i].guid);
	}
	rt_lfts_write(g, u, &again);
	assert_string_equal(again.s, text.s);
	fab_free(g);
	rt_tables_free(u);
	/* A fabric with LIDs of its own takes those of the dump. */
	for (uint32_t i = 0; i < f->nvlids; i++)
		f->vlids[i].lid = (uint16_t)(1 + i);
	assert_int_equal(rt_lfts_parse(f, "x", text.s, text.len, &g, &u, &e), 0);
	again.len = 0;
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

static void parse_line(const struct fab *f, const char *tail, uint32_t vlids, unsigned slot)
{
	struct strbuf text = {0};
	struct rt_tables *t;
	struct fab *g;
	struct err e;

	strbuf_addf(&text,
		    "Unicast lids [0-9] of switch Lid 1 guid 0x%016llx ('x'):\n0x0040 001 # %s\n",
		    (unsigned long long)f->nodes[f->switches[0]].guid, tail);
	if (rt_lfts_parse(f, "x", text.s, text.len, &g, &t, &e))
		fail_msg("%s", e.text);
	assert_int_equal(g->nvlids, vlids);
	if (vlids) {
		assert_int_equal(g->vlids[0].lid, 0x40);
		assert_int_equal(g->vlids[0].slot, slot);
	}
	rt_tables_free(t);
	fab_free(g);
	strbuf_free(&text);
}

TEST(names_that_are_those_of_vfs_and_names_that_are_not)
{
	struct fab *f = tree_with_vfs(12), *plain = bare(f);

	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 1 VF12'", 1, 12);
	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 1 VF13'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 1 VF0'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 1 VF1234'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 999 VF1'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: 'host 1 VF'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: ' VF1'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: '12'", 0, 0);
	parse_line(plain, "Channel Adapter portguid 0x1234567: ''", 0, 0);
	fab_free(f);
	fab_free(plain);
}

/* ibsim gives port 0 of a switch the node's GUID, whatever the netlist says. */
TEST(a_switch_is_known_by_its_node_guid)
{
	static const char text[] =
		"Unicast lids [0-9] of switch Lid 7 guid 0x0000000000000001 ('x'):\n"
		"0x0007 000 # Switch portguid 0x0000000000000001: 'x'\n"
		"Unicast lids [0-9] of switch Lid 8 guid 0x0000000000000002 ('y'):\n"
		"0x0007 001 # Switch portguid 0x0000000000000001: 'x'\n";
	static const uint8_t links[][4] = {{0, 1, 1, 1}};
	struct fab *f = world_links(2, 2, links, 1), *g;
	struct rt_tables *t;
	struct err e;

	f->ports[fab_port_id(f, 0, 0)].guid = 0x99;
	if (rt_lfts_parse(f, "x", text, strlen(text), &g, &t, &e))
		fail_msg("%s", e.text);
	assert_int_equal(g->ports[fab_port_id(g, 0, 0)].lid, 7);
	rt_tables_free(t);
	fab_free(f);
	fab_free(g);
}

static void put(void *ctx, const char *text, size_t len)
{
	strbuf_addn(ctx, text, len);
}

TEST(service_levels_of_paths_to_vfs_are_written)
{
	struct fab *f = tree_with_vfs(1);
	struct rt_tables *t = world_fera(f, NULL);
	struct strbuf text = {0};
	char line[32];

	rt_path_sls_each(f, t, put, &text);
	snprintf(line, sizeof(line), "\n0x%04x : 0\n", f->vlids[0].lid);
	assert_non_null(strstr(text.s, line));
	strbuf_free(&text);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_routes_to_vfs),
		cmocka_unit_test(vfs_of_one_host_take_different_ways),
		cmocka_unit_test(dumps_of_fabrics_with_vfs_are_read_again),
		cmocka_unit_test(names_that_are_those_of_vfs_and_names_that_are_not),
		cmocka_unit_test(a_switch_is_known_by_its_node_guid),
		cmocka_unit_test(service_levels_of_paths_to_vfs_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
