/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables as text: both formats, and files that are refused. Keeps no state.
 * Covers: lfts.c, dump_lines.c
 */
#include "table_fixture.h"

/* ---- tables as text ---- */

static int parse(const struct fab *f, const char *text, struct fab **g, struct rt_tables **t,
		 struct err *e)
{
	return rt_lfts_parse(f, "x.lfts", text, strlen(text), g, t, e);
}

static void expect_refused(const struct fab *f, const char *text, const char *message)
{
	struct rt_tables *t = NULL;
	struct fab *g = NULL;
	struct err e = {0};

	assert_int_equal(parse(f, text, &g, &t, &e), -EINVAL);
	assert_null(g);
	assert_null(t);
	if (!strstr(e.text, message))
		fail_msg("expected '%s', got '%s'", message, e.text);
}

TEST(tables_survive_writing_and_reading)
{
	struct fab *plain = two_switches(3, 4), *f = with_lids(two_switches(3, 4), 1), *g;
	struct rt_tables *t = fera(f, FAB_NONE, 0), *u;
	struct strbuf text = {0}, again = {0};
	struct err e;

	rt_lfts_write(f, t, &text);
	assert_int_equal(parse(plain, text.s, &g, &u, &e), 0);
	assert_int_equal(u->top_lid, t->top_lid);
	assert_int_equal(u->stride, t->stride);
	assert_int_equal(u->entries, t->entries);
	assert_memory_equal(u->lft, t->lft, (size_t)t->nswitches * t->stride);
	for (port_id p = 0; p < f->nports; p++) {
		assert_int_equal(g->ports[p].lid, f->ports[p].lid);
		assert_int_equal(g->ports[p].lmc, f->ports[p].lmc);
	}
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

/* No table has an entry for hosts that a cable joins without a switch: the dump is right without their LIDs. */
TEST(hosts_that_a_cable_joins_need_no_entry)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *plain, *f, *g;
	struct rt_tables *t, *u;
	struct strbuf text = {0};
	struct rt_report r;
	struct err e;

	add_switch(b, 0x10, 3);
	add_host(b, 0x100, 0, 1);
	add_host(b, 0x110, 0, 2);
	for (unsigned i = 0; i < 2; i++) {
		node_id n = fab_add_node(b, IBA_NODE_CA, 0x200 + 16 * i, 1, "host");

		fab_builder_port(b, n, 1)->guid = 0x201 + 16 * i;
	}
	assert_int_equal(fab_add_link(b, 3, 1, 4, 1), 0);
	plain = fab_build(b);
	f = with_lids(fab_build(fab_builder_from(plain)), 0);
	t = fera(f, FAB_NONE, 0);
	rt_lfts_write(f, t, &text);
	assert_int_equal(parse(plain, text.s, &g, &u, &e), 0);
	r = verify(g, u, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.nproblems, 0);
	rt_report_free(&r);
	strbuf_free(&text);
	rt_tables_free(t);
	rt_tables_free(u);
	fab_free(f);
	fab_free(g);
	fab_free(plain);
}

/* Two switches and a host on each, with the text that OpenSM and dump_lfts have for them. */
static struct fab *pair(void)
{
	struct fab_builder *b = fab_builder_new();

	add_switch(b, 0x10, 2);
	add_switch(b, 0x11, 2);
	link_up(b, 0, 1, 1, 1);
	add_host(b, 0x100, 0, 2);
	add_host(b, 0x110, 1, 2);
	return fab_build(b);
}

static const char of_opensm[] =
	"Unicast lids [0-9] of switch Lid 2 guid 0x0000000000000010 ('switch'):\n"
	"0x0001 002 # Channel Adapter portguid 0x0000000000000101: 'host'\n"
	"0x0002 000 # Switch portguid 0x0000000000000010: 'switch'\n"
	"0x0003 001 # Switch portguid 0x0000000000000011: 'switch'\n"
	"0x0007 001 # unknown node and type\n"
	"0x0009 001 # Channel Adapter portguid 0x0000000000000111: 'host'\n"
	"5 lids dumped\n"
	"Unicast lids [0-9] of switch Lid 3 guid 0x0000000000000011 ('switch'):\n"
	"0x0001 001 # Channel Adapter portguid 0x0000000000000101: 'host'\n"
	"0x0002 001 # Switch portguid 0x0000000000000010: 'switch'\n"
	"0x0003 000 # Switch portguid 0x0000000000000011: 'switch'\n"
	"0x0009 002 # Channel Adapter portguid 0x0000000000000111: 'host'\n"
	"4 lids dumped\n";

static const char of_dump_lfts[] =
	"# a remark\r\n"
	"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000010 "
	"(switch):\r\n"
	"  Lid  Out   Destination\r\n"
	"       Port     Info \r\n"
	"0x0000 255 : (path #0 - illegal port)\r\n"
	"0x0001 002 : (Channel Adapter portguid 0x0000000000000101: 'host')\r\n"
	"0x0002 000 : (Switch portguid 0x0000000000000010: 'switch')\r\n"
	"0x0003 001 : (Switch portguid 0x0000000000000011: 'switch')\r\n"
	"0x0007 001 : (path #0 - unknown)\r\n"
	"0x0009 001 : (path #1 out of 1: portguid 0x0000000000000111)\r\n"
	"6 valid lids dumped \r\n"
	"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1,1 guid 0x0000000000000011 "
	"(switch):\r\n"
	"0x0001 001\r\n"
	"0x0002 001\r\n"
	"0x0003 000\r\n"
	"0x0009 002\r\n"
	"\r\n"
	"*** WARNING ***: this command has been replaced by dump_fts\r\n";

TEST(both_dialects_are_read)
{
	struct fab *f = pair(), *g, *h;
	struct rt_tables *t, *u;
	struct rt_report r;
	struct err e;

	assert_int_equal(parse(f, of_opensm, &g, &t, &e), 0);
	assert_int_equal(parse(f, of_dump_lfts, &h, &u, &e), 0);
	assert_int_equal(t->top_lid, 9);
	assert_int_equal(t->entries, 9);
	assert_memory_equal(t->lft, u->lft, 2 * (size_t)t->stride);
	for (port_id p = 0; p < f->nports; p++)
		assert_int_equal(g->ports[p].lid, h->ports[p].lid);
	assert_int_equal(lid_of(g, 3), 9);
	r = verify(g, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(r.pairs, 12);
	rt_report_free(&r);
	rt_tables_free(t);
	rt_tables_free(u);
	fab_free(g);
	fab_free(h);
	fab_free(f);
}

/* ibsim calls port 1 of node 0x100 0x101 whatever the netlist says, here even where it says that
 * 0x101 is a port of another node. The names show what is meant. */
TEST(port_guids_of_ibsim_are_understood_by_name)
{
	struct fab_builder *b = fab_builder_new();
	struct rt_tables *t;
	struct fab *f, *g;
	struct err e;

	add_switch(b, 0x10, 3);
	for (unsigned i = 0; i < 3; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + i, 1,
					 i == 0	  ? "a"
					 : i == 1 ? "b"
						  : "c");

		fab_builder_port(b, h, 1)->guid = 0x100 + i;
		link_up(b, h, 1, 0, i + 1);
	}
	f = fab_build(b);
	assert_int_equal(parse(f,
			       "Unicast lids [0-3] of switch Lid 4 guid 0x0000000000000010 ('s'):\n"
			       "0x0001 001 # Channel Adapter portguid 0x0000000000000101: 'a'\n"
			       "0x0002 002 # Channel Adapter portguid 0x0000000000000102: 'b'\n"
			       "0x0003 003 # Channel Adapter portguid 0x0000000000000103: 'c'\n",
			       &g, &t, &e),
			 0);
	for (node_id n = 1; n <= 3; n++)
		assert_int_equal(lid_of(g, n), n);
	assert_int_equal(lid_of(g, 0), 4);
	rt_tables_free(t);
	fab_free(g);
	fab_free(f);
}

TEST(a_switch_without_a_table_has_no_routes)
{
	struct fab *f = pair(), *g;
	char *half = mem_strdup(of_opensm);
	struct rt_tables *t;
	struct rt_report r;
	struct err e;

	*strstr(half + 10, "Unicast") = 0;
	assert_int_equal(parse(f, half, &g, &t, &e), 0);
	r = verify(g, t, (struct rt_verify_opts){0});
	assert_int_equal(r.pairs, 12);
	assert_int_equal(r.unreachable, 3 + 3 + 2 * 2); /* from behind 0x11; then over it */
	rt_report_free(&r);
	free(half);
	rt_tables_free(t);
	fab_free(g);
	fab_free(f);
}

#define HEAD "Unicast lids [0-9] of switch Lid 2 guid 0x0000000000000010 ('switch'):\n"

TEST(bad_dumps_are_refused_with_file_and_line)
{
	struct fab *f = pair();

	expect_refused(f, "", "x.lfts: expected 'Unicast lids ...', found no forwarding table");
	expect_refused(f, "0x0001 002\n", "x.lfts:1: expected 'Unicast lids");
	expect_refused(f, HEAD "nonsense\n", "x.lfts:2: expected 'Unicast lids ...', an entry");
	expect_refused(f, HEAD "0x0001 256\n", "x.lfts:2: expected a port number up to 255");
	expect_refused(f, HEAD "0x0001 00x2\n", "x.lfts:2: expected a port number");
	expect_refused(f, HEAD "\n0xc000 001\n", "x.lfts:3: expected a unicast LID up to 0xbfff");
	expect_refused(f, HEAD "0x 001\n", "x.lfts:2: expected a unicast LID");
	expect_refused(f, HEAD "0x0001 001\n0x0001 002\n",
		       "x.lfts:3: LID 0x0001 goes to port 2 here, but to port 1 above");
	expect_refused(f, HEAD HEAD, "x.lfts:2: a second table for switch 0x0000000000000010");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2\n",
		       "x.lfts:1: expected '... guid 0x");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2 guid 0x99 ('x'):\n",
		       "x.lfts:1: switch 0x0000000000000099 is not in the topology");
	expect_refused(f, "Unicast lids [0-9] of switch Lid 2 guid 0x100 ('x'):\n",
		       "x.lfts:1: switch 0x0000000000000100 is no switch in the topology");
	expect_refused(f,
		       HEAD "0x0001 001 # Switch portguid 0x11: 'switch'\n"
			    "0x0001 001 # Channel Adapter portguid 0x101: 'host'\n",
		       "x.lfts:3: LID 0x0001 belongs to port 0x0000000000000101 here, but to port "
		       "0x0000000000000011 in line 2");
	expect_refused(f,
		       HEAD "0x0001 001 # Switch portguid 0x11: 'switch'\n"
			    "0x0901 001 # Switch portguid 0x11: 'switch'\n",
		       "x.lfts:3: LIDs 0x0001 and 0x0901 both belong to port 0x0000000000000011");
	expect_refused(f, HEAD "0x0001 001 # Switch portguid 0xzz\n",
		       "x.lfts:2: expected a port GUID");
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_survive_writing_and_reading),
		cmocka_unit_test(hosts_that_a_cable_joins_need_no_entry),
		cmocka_unit_test(both_dialects_are_read),
		cmocka_unit_test(port_guids_of_ibsim_are_understood_by_name),
		cmocka_unit_test(a_switch_without_a_table_has_no_routes),
		cmocka_unit_test(bad_dumps_are_refused_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
