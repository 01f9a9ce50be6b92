/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The netlist reader and writer: round trips, untidy files as they exist in practice, and the exact text
 * of each error. Keeps no state. Does not run ibsim.
 * Covers: netlist.c, netlist_nodes.c, netlist_ports.c, netlist_lex.c, netlist_build.c, netlist_write.c, netlist_sriov.c
 */
#include "unit_test.h"

#include "fabric/fabric.h"

/* ---- tools ---- */

static struct fab_netlist read_text(const char *text)
{
	struct fab_netlist n = {0};
	struct err e = {0};

	if (fab_netlist_parse(&n, "t", text, strlen(text), &e))
		fail_msg("%s", e.text);
	return n;
}

/* Every warning in one string: "2: ...\n5: ...\n" */
static char *warnings_of(const struct fab_netlist *n)
{
	struct strbuf b = {0};

	strbuf_add(&b, "");
	for (size_t i = 0; i < n->warnings.n; i++)
		strbuf_addf(&b, "%u: %s\n", n->warnings.at[i].line, n->warnings.at[i].text);
	return b.s;
}

static void assert_warnings(const struct fab_netlist *n, const char *expected)
{
	char *got = warnings_of(n);

	assert_string_equal(got, expected);
	free(got);
}

static const struct fab_port *port_at(const struct fab *f, node_id n, unsigned num)
{
	assert_true(n < f->nnodes && num <= f->nodes[n].nports);
	return &f->ports[fab_port_id(f, n, num)];
}

static void assert_linked(const struct fab *f, node_id a, unsigned pa, node_id b, unsigned pb)
{
	assert_int_equal(port_at(f, a, pa)->peer, fab_port_id(f, b, pb));
	assert_int_equal(port_at(f, b, pb)->peer, fab_port_id(f, a, pa));
}

static void assert_same(const struct fab *a, const struct fab *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nports, b->nports);
	assert_memory_equal(a->ports, b->ports, a->nports * sizeof(*a->ports));
	for (node_id n = 0; n < a->nnodes; n++) {
		const struct fab_node *x = &a->nodes[n], *y = &b->nodes[n];

		assert_string_equal(fab_node_name(a, n), fab_node_name(b, n));
		assert_true(x->guid == y->guid && x->sys_guid == y->sys_guid);
		assert_int_equal(x->vendor_id, y->vendor_id);
		assert_int_equal(x->device_id, y->device_id);
		assert_int_equal(x->type, y->type);
		assert_int_equal(x->nports, y->nports);
		assert_int_equal(x->flags, y->flags);
		assert_int_equal(x->sriov, y->sriov);
		assert_int_equal(x->vfs, y->vfs);
		assert_int_equal(x->linear_cap, y->linear_cap);
		assert_int_equal(x->random_cap, y->random_cap);
		assert_int_equal(x->mcast_cap, y->mcast_cap);
	}
	assert_int_equal(a->nvlids, b->nvlids);
	for (uint32_t i = 0; i < a->nvlids; i++) {
		assert_int_equal(a->vlids[i].port, b->vlids[i].port);
		assert_int_equal(a->vlids[i].slot, b->vlids[i].slot);
		assert_int_equal(a->vlids[i].lid, b->vlids[i].lid);
		assert_true(a->vlids[i].guid == b->vlids[i].guid);
	}
}

/* Write, read, compare, write again: the same snapshot without a warning, the same bytes. */
static void assert_round_trip(const struct fab *f)
{
	struct strbuf first = {0}, second = {0};
	struct fab_netlist n;

	fab_netlist_write(f, &first);
	n = read_text(first.s);
	assert_warnings(&n, "");
	assert_same(f, n.fab);
	fab_netlist_write(n.fab, &second);
	assert_string_equal(first.s, second.s);
	strbuf_free(&first);
	strbuf_free(&second);
	fab_netlist_free(&n);
}

#define SW(n) "S-000000000000000" #n
#define CA(n) "H-000000000000000" #n
#define RT(n) "R-000000000000000" #n

/* ---- what ibnetdiscover prints ---- */

static const char ordinary[] =
	"#\n"
	"# Topology file: generated on Mon Mar  3 09:12:44 2025\n"
	"#\n"
	"# Initiated from node 0000000000000004 port 0000000000000005\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0xd2f0\n"
	"sysimgguid=0x100\n"
	"switchguid=0x1(2)\n"
	"Switch\t41 \"" SW(
		1) "\"\t\t# \"MF0;leaf:MQM8700/U1\" enhanced port 0 lid 3 lmc 1\n"
		   "[1]\t\"" CA(
			   4) "\"[1](5) \t\t# \"n001 mlx5_0\" lid 8 2xHDR\n"
			      "[7]\t\"" RT(
				      6) "\"[2](7) \t\t# \"gate\" lid 9 4xEDR\n"
					 "\n"
					 "vendid=0x15b3\n"
					 "devid=0x101b\n"
					 "sysimgguid=0x4\n"
					 "caguid=0x4\n"
					 "Ca\t2 \"" CA(
						 4) "\"\t\t# \"n001 mlx5_0\"\n"
						    "[1](5) \t\"" SW(
							    1) "\"[1]\t\t# lid 8 lmc 2 \"MF0;leaf:MQM8700/U1\" lid 3 "
							       "2xHDR\n"
							       "\n"
							       "vendid=0x1777\n"
							       "devid=0x1\n"
							       "sysimgguid=0x6\n"
							       "rtguid=0x6\n"
							       "Rt\t2 \"" RT(
								       6) "\"\t\t# \"gate\"\n"
									  "[2](7) \t\"" SW(
										  1) "\"[7]\t\t# lid 9 lmc 0 "
										     "\"MF0;leaf:MQM8700/U1\" lid 3 4xEDR\n";

TEST(an_ordinary_dump)
{
	struct fab_netlist n = read_text(ordinary);
	const struct fab *f = n.fab;

	assert_warnings(&n, "");
	assert_int_equal(f->nswitches, 1);
	assert_int_equal(f->nhosts, 1);
	assert_int_equal(f->nrouters, 1);
	assert_int_equal(f->nlinks, 2);
	assert_linked(f, 0, 1, 1, 1);
	assert_linked(f, 0, 7, 2, 2);
	assert_int_equal(f->nodes[0].nports, 41);
	assert_int_equal(f->nodes[0].sys_guid, 0x100);
	assert_int_equal(f->nodes[0].device_id, 0xd2f0);
	assert_int_equal(f->nodes[0].flags, FAB_ENHANCED_PORT0);
	assert_int_equal(f->nodes[2].vendor_id, 0x1777);
	assert_string_equal(fab_node_name(f, 0), "MF0;leaf:MQM8700/U1");
	assert_int_equal(port_at(f, 0, 0)->guid, 2);
	assert_int_equal(port_at(f, 0, 0)->lid, 3);
	assert_int_equal(port_at(f, 0, 0)->lmc, 1);
	assert_int_equal(port_at(f, 1, 1)->guid, 5);
	assert_int_equal(port_at(f, 1, 1)->lid, 8);
	assert_int_equal(port_at(f, 1, 1)->lmc, 2);
	assert_int_equal(port_at(f, 1, 1)->width, 2);
	assert_int_equal(port_at(f, 1, 1)->speed, FAB_HDR);
	assert_int_equal(port_at(f, 0, 7)->width, 4);
	assert_int_equal(port_at(f, 0, 7)->speed, FAB_EDR);
	assert_round_trip(f);
	fab_netlist_free(&n);
}

TEST(every_rate)
{
	static const unsigned widths[] = {0, 1, 2, 4, 8, 12};
	struct fab_builder *b = fab_builder_new();
	unsigned port = 1;
	struct fab *f;

	fab_add_node(b, IBA_NODE_SWITCH, 1, 60, "a");
	fab_add_node(b, IBA_NODE_SWITCH, 2, 60, "b");
	for (unsigned s = 0; s < FAB_NSPEEDS; s++)
		for (size_t w = 0; w < ARRAY_LEN(widths); w++, port++) {
			if (port % 7) /* some have a rate, but no cable */
				fab_add_link(b, 0, port, 1, port);
			fab_builder_port(b, 0, port)->width = (uint8_t)widths[w];
			fab_builder_port(b, 0, port)->speed = (uint8_t)s;
		}
	f = fab_build(b);
	assert_round_trip(f); /* the far ends have no rate, and it stays so */
	fab_free(f);
}

TEST(names_may_contain_any_byte_except_a_newline)
{
	static const char *const names[] = {
		"",
		" ",
		"plain",
		"#",
		"\"",
		"\"\"",
		"say \"hi\" base port 0 lid 9 lmc 7",
		"[1] \"S-0000000000000001\"[2](3) # lid 5",
		"caf\xc3\xa9 \xe2\x80\x9cq\xe2\x80\x9d",
		"\xff\x80 \x01\t\r",
		"it's",
		"enhanced port 0 12xXDR",
	};
	struct fab_builder *b = fab_builder_new();
	struct fab *f;

	fab_add_node(b, IBA_NODE_SWITCH, 0x100, ARRAY_LEN(names), "hub");
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		node_id n =
			fab_add_node(b, i % 2 ? IBA_NODE_SWITCH : IBA_NODE_CA, i + 1, 2, names[i]);

		fab_add_link(b, 0, i + 1, n, 2);
		if (i % 2 == 0) {
			fab_builder_port(b, n, 2)->guid = 0x200 + i;
			fab_builder_port(b, n, 2)->lid = (uint16_t)(i + 1);
			fab_builder_port(b, n, 1)->guid =
				0x300 + i; /* known, but without a cable */
		}
	}
	f = fab_build(b);
	assert_round_trip(f);
	fab_free(f);
}

TEST(a_newline_in_a_name_becomes_a_space)
{
	struct fab_builder *b = fab_builder_new();
	struct strbuf out = {0};
	struct fab_netlist n;
	struct fab *f;

	fab_add_node(b, IBA_NODE_SWITCH, 1, 2, "two\nlines\n");
	f = fab_build(b);
	fab_netlist_write(f, &out);
	n = read_text(out.s);
	assert_string_equal(fab_node_name(n.fab, 0), "two lines ");
	strbuf_free(&out);
	fab_free(f);
	fab_netlist_free(&n);
}

TEST(a_very_long_name)
{
	struct fab_builder *b = fab_builder_new();
	char *name = mem_zalloc(100001);
	struct fab *f;

	memset(name, 'x', 100000);
	fab_add_node(b, IBA_NODE_SWITCH, 1, 2, name);
	fab_add_node(b, IBA_NODE_SWITCH, 2, 2, name);
	fab_add_link(b, 0, 1, 1, 1);
	f = fab_build(b);
	assert_round_trip(f);
	fab_free(f);
	free(name);
}

/* ---- mess: texts that must read as the same small fabric ---- */

static const char tidy[] = "Switch 4 \"" SW(
	1) "\" # \"a b\" enhanced port 0 lid 5 lmc 0\n"
	   "[1] \"" CA(2) "\"[1](3) # \"h\" lid 7 4xEDR\n"
			  "Ca 1 \"" CA(2) "\" # \"h\"\n"
					  "[1](3) \"" SW(
						  1) "\"[1] # lid 7 lmc 1 \"a b\" lid 5 4xEDR\n";

static const char *const messy[] = {
	/* CRLF, BOM */
	"\xef\xbb\xbfSwitch 4 \"" SW(
		1) "\" # \"a b\" enhanced port 0 lid 5 lmc 0\r\n"
		   "[1] \"" CA(
			   2) "\"[1](3) # \"h\" lid 7 4xEDR\r\n\r\n"
			      "Ca 1 \"" CA(
				      2) "\" # \"h\"\r\n"
					 "[1](3) \"" SW(
						 1) "\"[1] # lid 7 lmc 1 \"a b\" lid 5 4xEDR\r\n",
	/* no spaces */
	"Switch4\"" SW(1) "\"#\"a b\"enhanced port 0 lid 5lmc 0\n"
			  "[1]\"" CA(2) "\"[1](3)#\"h\"lid 7 4xEDR\n"
					"Ca1\"" CA(
						2) "\"#\"h\"\n"
						   "[1](3)\"" SW(
							   1) "\"[1]#lid 7lmc 1\"a b\"lid 5 4xEDR",
	/* more spaces, no-break ones too */
	"  Switch \t 4\t\t\"" SW(
		1) "\"\t \t#\t\t\"a b\"  enhanced port 0  lid  5  lmc\t0  \n"
		   "\t[ 1 ]\xc2\xa0\"" CA(
			   2) "\" [ 1 ] ( 3 )   #  \"h\"  lid\t7   4xEDR\n"
			      " Ca  1  \"" CA(
				      2) "\"  #  \"h\"   \n"
					 " [ 1 ] ( 3 )  \"" SW(
						 1) "\" [1]  # lid 7  lmc 1  \"a b\"  lid 5 4xEDR \n",
	/* single, curly and no quotes */
	"Switch 4 '" SW(
		1) "' # 'a b' enhanced port 0 lid 5 lmc 0\n"
		   "[1] \xe2\x80\x9c" CA(
			   2) "\xe2\x80\x9d[1](3) # \xe2\x80\x9ch\xe2\x80\x9d lid 7 4xEDR\n"
			      "Ca 1 " CA(2) " # h\n"
					    "[1](3) " SW(1) "[1] # lid 7 lmc 1 a b lid 5 4xEDR\n",
	/* half of the quotes, no '#' */
	"Switch 4 \"" SW(
		1) " # \"a b enhanced port 0 lid 5 lmc 0\n"
		   "[1] \"" CA(2) "[1](3) \"h\" lid 7 4xEDR\n"
				  "Ca 1 " CA(2) "\" \"h\"\n"
						"[1](3) \"" SW(
							1) "[1] lid 7 lmc 1 \"a b lid 5 4xEDR\n",
	/* comments anywhere, the words of `-f` and `-g`, other cases */
	"# Max of 3 hops discovered\nMax of 3 hops discovered\n"
	"Initiated from node 01 port 01\nChassis 1 (guid 0x5)\n# Chassis Switches\n\n"
	"SWITCH 4 \"" SW(
		1) "\" # \"a b\" enhanced port 0 lid 5 lmc 0\n"
		   "# [2] \"" SW(9) "\"[1]\n#[3] \"" SW(
			   9) "\"[1]\n"
			      "[1][ext 9] \"" CA(
				      2) "\"[1](3) # \"h\" lid 7 4xedr s=1 w=2 v=4\n\n"
					 "Non-Chassis Nodes\n\n"
					 "hca 1 \"" CA(
						 2) "\" # \"h\"\n"
						    "# a remark\n"
						    "[1](0x3) \"" SW(
							    1) "\"[1][ext 9] # lid 7 lmc 1 \"a "
							       "b\" lid 5 4x EDR s=1 w=2 v=4\n",
};

TEST(untidy_files_give_the_same_fabric_as_tidy_ones)
{
	struct fab_netlist want = read_text(tidy);

	assert_int_equal(port_at(want.fab, 1, 1)->lmc, 1);
	assert_int_equal(port_at(want.fab, 0, 0)->lid, 5);
	for (size_t i = 0; i < ARRAY_LEN(messy); i++) {
		struct fab_netlist got = read_text(messy[i]);

		assert_warnings(&got, "");
		assert_same(want.fab, got.fab);
		fab_netlist_free(&got);
	}
	fab_netlist_free(&want);
}

/* ---- ibsim's own dialect ---- */

TEST(plain_words_as_ids)
{
	struct fab_netlist n = read_text("Switch 8 \"one\"\n"
					 "[1] \"h\" w=2 s=4\n" /* no brackets: port 1 */
					 "[2] \"h 2\"[2] w=12 s=5\n"
					 "[3] two[3]\n"
					 "Switch 8 'two'\n"
					 "[3] \"one\"[3] e=2\n"
					 "Hca 2 \"h\"\n"
					 "[1] \"one\"[1] w=2 s=4\n"
					 "Hca 2 \"h 2\" # \"with a name\"\n"
					 "[2] \"one\"[2]\n"
					 "Rt 1 \"r\"\n");
	const struct fab *f = n.fab;

	assert_warnings(&n, "");
	assert_linked(f, 0, 1, 2, 1);
	assert_linked(f, 0, 2, 3, 2);
	assert_linked(f, 0, 3, 1, 3);
	assert_string_equal(fab_node_name(f, 0), "one");
	assert_string_equal(fab_node_name(f, 3), "with a name");
	assert_int_equal(f->nodes[0].guid, 0x200000); /* as ibsim makes them up */
	assert_int_equal(f->nodes[1].guid, 0x200001);
	assert_int_equal(f->nodes[2].guid, 0x100000);
	assert_int_equal(f->nodes[3].guid, 0x100003);
	assert_int_equal(port_at(f, 2, 1)->guid, 0x100001);
	assert_int_equal(port_at(f, 3, 2)->guid, 0x100005);
	assert_int_equal(port_at(f, 0, 1)->width, 4);
	assert_int_equal(port_at(f, 0, 1)->speed, FAB_QDR);
	assert_int_equal(port_at(f, 0, 2)->width, 12);
	assert_int_equal(port_at(f, 1, 3)->speed, FAB_EDR);
	assert_int_equal(port_at(f, 0, 3)->width, 0); /* not known, so not claimed */
	assert_round_trip(f);
	fab_netlist_free(&n);
}

TEST(generated_guids_do_not_clash_with_given_ones)
{
	struct fab_netlist n = read_text("Switch 1 \"a\"\nSwitch 1 \"b\"\n"
					 "Switch 1 \"S-0000000000200000\"\n"
					 "switchguid=0x500(501)\nSwitch 1 \"c\"\nSwitch 1 \"d\"\n");

	assert_int_equal(n.fab->nodes[3].guid, 0x500);
	assert_int_equal(n.fab->ports[fab_port_id(n.fab, 3, 0)].guid, 0x501);
	assert_int_equal(n.fab->nodes[4].guid, 0x501); /* counted on from there */
	assert_int_equal(n.fab->nodes[0].guid, 0x200001);
	assert_int_equal(n.fab->nodes[1].guid, 0x200002);
	fab_netlist_free(&n);
	n = read_text("Switch 1 \"a\"\nSwitch 1 \"S-0000000000200000\"\n");
	assert_int_equal(n.fab->nodes[0].guid, 0x200001);
	fab_netlist_free(&n);
}

TEST(modules_and_defaults)
{
	struct fab_netlist n = read_text("width=2\nspeed=7\nmodule=\"m1\"\n"
					 "Switch 4 \"x\"\n[1] \"m2#x\"[1]\n[2] \"y\"[2]\n"
					 "Switch 4 \"y\"\n[2] \"x\"[2]\nmodule=\"m2\"\nextspeed=4\n"
					 "Switch 4 \"x\"\n[1] \"m1#x\"[1] # \"x\" lid 0 1xSDR\n"
					 "pdebug=0\ndo Unlink \"x\"\n");

	assert_warnings(&n, "14: the ibsim command 'Unlink \"x\"' is not carried out\n");
	assert_int_equal(n.fab->nnodes, 3);
	assert_linked(n.fab, 0, 1, 2, 1);
	assert_linked(n.fab, 0, 2, 1, 2);
	assert_string_equal(fab_node_name(n.fab, 2), "m2#x");
	assert_int_equal(port_at(n.fab, 0, 1)->width, 4);
	assert_int_equal(port_at(n.fab, 0, 1)->speed, FAB_QDR);
	assert_int_equal(port_at(n.fab, 2, 1)->width, 1);
	fab_netlist_free(&n);
}

/* ---- aggregation nodes, several ports, notes about ports without a cable ---- */

TEST(aggregation_nodes)
{
	struct fab_netlist n = read_text("Switch 40 \"" SW(
		1) "\" # \"leaf\" base port 0 lid 1 lmc 0\n"
		   "[41] \"" CA(
			   2) "\"[1](2) # \"Mellanox Technologies Aggregation Node\" lid 2 4xHDR\n"
			      "[40] \"" CA(
				      3) "\"[1](3) # \"x\" lid 3 4xHDR\n"
					 "Ca 1 \"" CA(
						 2) "\" # \"Mellanox Technologies Aggregation Node\"\n"
						    "[1](2) \"" SW(
							    1) "\"[41] # lid 2 lmc 0 \"leaf\" lid 1 4xHDR\n"
							       "devid=0xcf09\n"
							       "Ca 1 \"" CA(
								       3) "\" # \"x\"\n"
									  "[1](3) \"" SW(
										  1) "\"[40] # lid 3 lmc 0 \"leaf\" "
										     "lid 1 4xHDR\n");

	assert_warnings(&n, "2: " SW(1) " is declared with 40 ports, but port 41 is used; "
					"it is given 41\n");
	assert_int_equal(n.fab->nodes[0].nports, 41);
	assert_int_equal(n.fab->nodes[0].flags, 0);
	assert_int_equal(n.fab->nodes[1].flags, FAB_SHARP_AN);
	assert_int_equal(n.fab->nodes[2].flags, FAB_SHARP_AN);
	assert_linked(n.fab, 0, 41, 1, 1);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);
}

TEST(properties_of_unlinked_ports_are_kept)
{
	struct fab_netlist n = read_text(
		"Ca 3 \"" CA(1) "\" # \"h\"\n"
				"#[2](0x17)\t# lid 6 lmc 1 4xNDR\n"
				"#[9](18)\t# lid 6 lmc 1 4xNDR\n" /* no such port: a comment */
				"#[3](19) \"" SW(1) "\"[1]\n");	  /* a comment too */

	assert_warnings(&n, "");
	assert_int_equal(port_at(n.fab, 0, 2)->guid, 0x17);
	assert_int_equal(port_at(n.fab, 0, 2)->lid, 6);
	assert_int_equal(port_at(n.fab, 0, 2)->lmc, 1);
	assert_int_equal(port_at(n.fab, 0, 2)->speed, FAB_NDR);
	assert_int_equal(port_at(n.fab, 0, 2)->peer, FAB_NONE);
	assert_int_equal(port_at(n.fab, 0, 3)->guid, 0);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);
}

TEST(a_link_described_by_one_end_only)
{
	struct fab_netlist n =
		read_text("Switch 4 \"" SW(1) "\" # \"s\" base port 0 lid 5 lmc 0\n"
					      "[1] \"" CA(2) "\"[2](33) # \"h\" lid 7 4xFDR10\n"
							     "Ca 2 \"" CA(2) "\" # \"h\"\n");

	assert_warnings(&n,
			"2: " SW(1) "[1] \"s\" leads to " CA(2) "[2] \"h\", which does not list "
								"it; the link is completed\n");
	assert_linked(n.fab, 0, 1, 1, 2);
	assert_int_equal(port_at(n.fab, 1, 2)->guid, 0x33);
	assert_int_equal(port_at(n.fab, 1, 2)->lid, 7);
	assert_int_equal(port_at(n.fab, 1, 2)->width, 4);
	assert_int_equal(port_at(n.fab, 1, 2)->speed, FAB_FDR10);
	fab_netlist_free(&n);
}

/* Line by line: the host says 9 of itself and 6 of the switch, the switch says 5 and 7. */
TEST(a_ports_own_line_wins_over_its_peers)
{
	struct fab_netlist n = read_text("Switch 4 \"" SW(
		1) "\" # \"s\" base port 0 lid 5 lmc 0\n"
		   "[1] \"" CA(2) "\"[1](33) # \"h\" lid 7 4xFDR\n"
				  "Ca 1 \"" CA(
					  2) "\" # \"h\"\n"
					     "[1](34) \"" SW(
						     1) "\"[1] # lid 9 lmc 0 \"s\" lid 6 1xSDR\n");

	assert_warnings(&n, "");
	assert_int_equal(port_at(n.fab, 0, 0)->lid, 5);
	assert_int_equal(port_at(n.fab, 1, 1)->lid, 9);
	assert_int_equal(port_at(n.fab, 1, 1)->guid, 0x34);
	assert_int_equal(port_at(n.fab, 0, 1)->speed, FAB_FDR);
	assert_int_equal(port_at(n.fab, 1, 1)->speed, FAB_SDR);
	fab_netlist_free(&n);
}

/* Neither node says its LID or GUIDs itself, and the comments have lost their names. */
TEST(the_peers_line_is_used_when_a_port_has_none)
{
	struct fab_netlist n = read_text("Switch 4 \"" SW(
		1) "\"\n"
		   "[1] \"" CA(2) "\"[1](33) # lid 7 4xFDR\n"
				  "Ca 1 \"" CA(2) "\"\n"
						  "[1] \"" SW(1) "\"[1] # s lid 6 4xFDR\n");

	assert_warnings(&n, "");
	assert_int_equal(port_at(n.fab, 0, 0)->lid, 6);
	assert_int_equal(port_at(n.fab, 1, 1)->lid, 7);
	assert_int_equal(port_at(n.fab, 1, 1)->guid, 0x33);
	fab_netlist_free(&n);
}

TEST(output_of_the_writer)
{
	struct fab_netlist n = read_text("Switch 4 \"" SW(
		1) "\" # \"a\" enhanced port 0 lid 5 lmc 1\n"
		   "[1] \"" CA(
			   2) "\"[1](3) # \"h\" lid 8 4xEDR\n"
			      "[2] \"sw\"[4]\n"
			      "vendid=713\ndevid=0x1017\nsysimgguid=0x99\ncaguid=2\n"
			      "Ca 2 \"" CA(
				      2) "\" # \"h\"\n"
					 "[1](3) \"" SW(
						 1) "\"[1] # lid 8 lmc 3 \"a\" lid 5 2xEDR\n"
						    "#[2](4)\t# lid 0 lmc 0 1xSDR\n"
						    "switchguid=0xab(cd)\nSwitch 4 \"sw\"\n[4] \"" SW(
							    1) "\"[2]\n");
	struct strbuf out = {0};

	fab_netlist_write(n.fab, &out);
	assert_string_equal(
		out.s,
		"# 2 switches, 1 hosts, 0 routers, 2 links\n"
		"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x1\nswitchguid=0x1(1)\n"
		"Switch\t4 \"" SW(
			1) "\"\t\t# \"a\" enhanced port 0 lid 5 lmc 1\n"
			   "[1]\t\"" CA(
				   2) "\"[1](3)\t\t# \"h\" lid 8 4xEDR\n"
				      "[2]\t\"S-00000000000000ab\"[4]\t\t# \"sw\" lid 0\n"
				      "\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x99\ncaguid=0x2\n"
				      "Ca\t2 \"" CA(
					      2) "\"\t\t# \"h\"\n"
						 "[1](3)\t\"" SW(
							 1) "\"[1]\t\t# lid 8 lmc 3 \"a\" lid 5 2xEDR\n"
							    "#[2](4)\t# lid 0 lmc 0 1xSDR\n"
							    "\nvendid=0x0\ndevid=0x0\nsysimgguid="
							    "0xab\nswitchguid=0xab(cd)\n"
							    "Switch\t4 \"S-00000000000000ab\"\t\t# \"sw\" "
							    "base port 0 lid 0 lmc 0\n"
							    "[4]\t\"" SW(
								    1) "\"[2]\t\t# \"a\" lid 5\n");
	strbuf_free(&out);
	fab_netlist_free(&n);
}

/* ---- sizes of tables ---- */

TEST(switches_with_table_sizes_of_their_own)
{
	struct fab_netlist n = read_text(
		"linearcap=1024\nmcastcap = 16384 # all\nSwitch 3 \"a\"\n"
		"RandomCap=65535\nSwitch 3 \"b\"\nSwitch 3 \"c\"\nlinearcap=49152\nSwitch 3 \"c\"\n");
	const struct fab_node *x = n.fab->nodes;

	assert_int_equal(n.warnings.n, 1); /* c is defined twice */
	assert_true(x[0].linear_cap == 1024 && x[0].mcast_cap == 16384 && !x[0].random_cap);
	assert_true(x[1].random_cap == 65535 && !x[1].linear_cap && !x[1].mcast_cap);
	assert_int_equal(x[2].linear_cap, 49152);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);
}

TEST(table_sizes_that_cannot_be)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"linearcap=0\nSwitch 3 \"a\"\n", "1: found 0 entries, expected 1 to 49152"},
		{"linearcap=49153\nSwitch 3 \"a\"\n",
		 "1: found 49153 entries, expected 1 to 49152"},
		{"mcastcap=16385\nSwitch 3 \"a\"\n", "1: found 16385 entries, expected 1 to 16384"},
		{"randomcap=99999999999999999999\nSwitch 3 \"a\"\n", "1: "},
		{"mcastcap=many\nSwitch 3 \"a\"\n", "1: "},
		{"mcastcap 5\nSwitch 3 \"a\"\n", "1: "},
		{"mcastcap=5 6\nSwitch 3 \"a\"\n", "1: "},
		{"mcastcap=5\nCa 1 \"a\"\n", "1: found mcastcap= above a Ca, expected a Switch"},
		{"randomcap=5\nRt 1 \"a\"\n", "1: found randomcap= above a Rt, expected a Switch"},
		{"linearcap=5\nrandomcap=5\nSwitch 3 \"a\"\n",
		 "2: found linearcap= and randomcap=, expected one of them"},
	};
	struct fab_netlist n;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_true(fab_netlist_parse(&n, "x", bad[i].text, strlen(bad[i].text), &e) < 0);
		if (!strstr(e.text, bad[i].why))
			fail_msg("expected '%s', found '%s'", bad[i].why, e.text);
	}
}

/* ---- virtual functions ---- */

TEST(hcas_with_virtual_functions)
{
	static const char *const texts[] = {
		"sriov=vswitch vfs=16\nCa 1 \"" CA(
			1) "\"\n[1] \"a\"[1]\n"
			   "caguid=0x2\nsriov=shared vfs=252\nCa 1 \"" CA(
				   2) "\"\n[1] \"a\"[2]\n"
				      "Ca 1 \"" CA(3) "\"\n[1] \"a\"[3]\nSwitch 3 \"a\"\n[1] \"" CA(
					      1) "\"[1]\n"
						 "[2] \"" CA(2) "\"[1]\n[3] \"" CA(3) "\"[1]\n",
		" SRIOV = VSwitch\tvfs = 16 # busy\ncaguid=0x1\nCa 1 \"" CA(
			1) "\"\n[1] \"a\"[1]\n"
			   "sriov=vswitch vfs=3\nsriov=shared vfs=0252\r\nHca 1 \"" CA(
				   2) "\"\n[1] \"a\"[2]\n"
				      "Ca 1 \"" CA(3) "\"\n[1] \"a\"[3]\nSwitch 3 \"a\"\n[1] \"" CA(
					      1) "\"[1]\n"
						 "[2] \"" CA(2) "\"[1]\n[3] \"" CA(3) "\"[1]\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fab_netlist n = read_text(texts[i]);
		const struct fab_node *x = n.fab->nodes;

		assert_warnings(&n, "");
		assert_true(x[0].sriov == FAB_SRIOV_VSWITCH && x[0].vfs == 16);
		assert_true(x[1].sriov == FAB_SRIOV_SHARED && x[1].vfs == 252);
		assert_true(x[2].sriov == FAB_SRIOV_NONE && x[2].vfs == 0);
		assert_true(x[3].sriov == FAB_SRIOV_NONE && x[3].vfs == 0);
		assert_round_trip(n.fab);
		fab_netlist_free(&n);
	}
}

/* The first statement counts, the second adds what the first does not say. */
TEST(virtual_functions_of_a_node_that_is_defined_twice)
{
	struct fab_netlist n = read_text("Ca 1 \"" CA(1) "\"\nsriov=vswitch vfs=2\nCa 1 \"" CA(
		1) "\"\nsriov=shared vfs=3\nCa 1 \"" CA(1) "\"\n");

	assert_int_equal(n.warnings.n, 2);
	assert_int_equal(n.fab->nnodes, 1);
	assert_true(n.fab->nodes[0].sriov == FAB_SRIOV_VSWITCH && n.fab->nodes[0].vfs == 2);
	fab_netlist_free(&n);
}

/* What a manager knows of VMs is in the text: LIDs of functions, and GUIDs that are not their own. */
TEST(lids_of_virtual_functions)
{
	struct fab_netlist n = read_text(
		"sriov=vswitch vfs=16\nvf=3 lid=70 guid=0x2abc\n vf = 1  lid = 71 # idle\nCa 1 \"" CA(
			1) "\"\n[1] \"a\"[1] # lid 5 lmc 0 \"a\" lid 6\n"
			   "sriov=vswitch vfs=2\nvf=1 lid=99\nCa 1 \"" CA(
				   1) "\"\nSwitch 3 \"a\"\n[1] \"" CA(1) "\"[1]\n");
	const struct fab_vlid *v = n.fab->vlids;

	assert_int_equal(n.fab->nvlids, 2); /* the first definition counts */
	assert_true(v[0].slot == 1 && v[0].lid == 71);
	assert_true(v[0].guid == fab_function_guid(n.fab->nodes[0].guid, 1));
	assert_true(v[1].slot == 3 && v[1].lid == 70 && v[1].guid == 0x2abc);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);
}

/* The wire view as text has its device ids, by which a reader knows what belongs together. */
TEST(the_wire_view_is_read_again)
{
	struct fab_gen g = {
		.kind = "mtree", .dims = {4, 2}, .ndims = 2, .sriov = FAB_SRIOV_VSWITCH, .vfs = 3};
	struct fab *f = fab_generate(&g, NULL), *wire = fab_wire(f, NULL), *folded;
	struct strbuf text = {0};
	struct fab_netlist n;

	assert_round_trip(f);
	assert_round_trip(wire);
	fab_netlist_write(wire, &text);
	n = read_text(text.s);
	folded = fab_fold(n.fab);
	assert_int_equal(folded->nnodes, f->nnodes);
	for (node_id i = 0; i < f->nnodes; i++) {
		assert_int_equal(folded->nodes[i].sriov, f->nodes[i].sriov);
		assert_int_equal(folded->nodes[i].vfs, f->nodes[i].vfs);
	}
	strbuf_free(&text);
	fab_netlist_free(&n);
	fab_free(f);
	fab_free(wire);
	fab_free(folded);
}

/* ---- contradictions: loaded, each with its warning ---- */

static const struct {
	const char *text, *warnings;
	unsigned nodes, links;
} doubtful[] = {
	/* the far node is not there */
	{"Switch 4 \"" SW(1) "\" # \"a\"\n[1] \"" CA(
		 2) "\"[1](3) # \"gone\" lid 7 4xEDR\n[2] \"x\"[4]\n",
	 "2: " SW(1) "[1] \"a\" leads to " CA(
		 2) "[1], which is not in the file; the link is left out\n"
		    "3: " SW(
			    1) "[2] \"a\" leads to x[4], which is not in the file; the link is left out\n",
	 1, 0},
	/* the two sides disagree */
	{"Switch 4 \"a\"\n[1] \"b\"[1]\nSwitch 4 \"b\"\n[1] \"c\"[1]\nSwitch 4 \"c\"\n[1] \"b\"[1]\n",
	 "4: b[1] leads to c[1], but the link between b[1] and a[1] is stated first and kept\n"
	 "6: c[1] leads to b[1], but the link between b[1] and a[1] is stated first and kept\n",
	 3, 1},
	/* the same port twice */
	{"Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[1]\n[1] \"b\"[2]\nSwitch 4 \"b\"\n[1] \"a\"[1]\n",
	 "3: a[1] leads to b[1], as line 2 says already\n"
	 "4: a[1] leads to b[2], but line 2 says otherwise and is kept\n",
	 2, 1},
	/* a loopback plug, and a real cable between two ports of one switch */
	{"Switch 4 \"a\"\n[1] \"a\"[1]\n[2] \"a\"[3]\n[3] \"a\"[2]\n",
	 "2: a[1] leads to a[1], which is itself; a loopback plug is ignored\n", 1, 1},
	/* port 0 */
	{"Switch 4 \"a\"\n[2] \"b\"[0]\nHca 1 \"b\"\n[0] \"a\"[1]\n",
	 "2: a[2] leads to b[0], but port 0 has no cable; the line is ignored\n"
	 "4: b[0] leads to a[1], but port 0 has no cable; the line is ignored\n",
	 2, 0},
	/* more ports than declared, on either side; none declared */
	{"Switch 2 \"a\"\n[3] \"b\"[5]\nHca 1 \"b\"\n[5] \"a\"[3]\nHca 0 \"c\"\nHca 0 \"d\"\n[1] "
	 "\"a\"[1]\n",
	 "2: a is declared with 2 ports, but port 3 is used; it is given 3\n"
	 "2: b is declared with 1 ports, but port 5 is used; it is given 5\n"
	 "5: c is declared with 0 ports; it is given 1\n"
	 "7: d is declared with 0 ports, but port 1 is used; it is given 1\n"
	 "7: d[1] leads to a[1], which does not list it; the link is completed\n",
	 4, 2},
	/* defined twice alike */
	{"Switch 2 \"" SW(1) "\"\n[1] \"b\"[1]\nHca 2 \"b\"\n[1] \"" SW(1) "\"[1]\n[2] \"" SW(
		 1) "\"[2]\n"
		    "Switch 2 \"" SW(1) "\" # \"late name\"\n[1] \"b\"[1]\n[2] \"b\"[2]\n",
	 "6: the node of line 1 is defined once more; both are taken as one\n"
	 "7: " SW(1) "[1] \"late name\" leads to b[1], as line 2 says already\n",
	 2, 2},
	/* GUID 0 is invalid */
	{"Switch 2 \"" SW(0) "\"\n[1] \"b\"[1]\nHca 2 \"b\"\n[1] \"" SW(0) "\"[1]\n",
	 "1: " SW(0) " has GUID 0; it is given 0x0000000000200000\n", 2, 1},
	/* GUID lines that belong to no node */
	{"switchguid=0x9\nSwitch 2 \"" SW(1) "\"\ncaguid=0x8\nSwitch 2 \"" SW(2) "\"\nrtguid=0x7\n",
	 "1: GUID 0x0000000000000009 is not that of the Switch of line 2; it is ignored\n"
	 "3: GUID 0x0000000000000008 is not that of the Switch of line 4; it is ignored\n"
	 "5: GUID 0x0000000000000007 is not followed by its node\n",
	 2, 0},
	/* a line about SR-IOV at the end */
	{"Switch 2 \"" SW(1) "\"\nsriov=shared vfs=2\n", "2: sriov= is not followed by its node\n",
	 1, 0},
	{"Switch 2 \"" SW(1) "\"\nvf=1 lid=2\n", "2: vf= is not followed by its node\n", 1, 0},
	/* impossible addresses */
	{"Switch 2 \"a\" # \"a\" base port 0 lid 49152 lmc 8\n[1] \"b\"[1] # \"b\" lid "
	 "99999999999999999999\n"
	 "Hca 1 \"b\" # \"b\"\n[1] \"a\"[1] # lid 65535 lmc 0 \"a\" lid 0 4xQDR\n",
	 "1: lid 49152 is not a unicast LID (1 to 49151); it is ignored\n"
	 "1: lmc 8 is not an LMC (0 to 7); it is ignored\n"
	 "2: lid 18446744073709551615 is not a unicast LID (1 to 49151); it is ignored\n"
	 "4: lid 65535 is not a unicast LID (1 to 49151); it is ignored\n",
	 2, 1},
	/* what ibnetdiscover complained of, caught in the same file, also in the middle of a node */
	{"src/smp.c:7; umad (DR path 0,1,4) bad status 110; Connection timed out\nSwitch 2 \"a\"\n"
	 "../lib/query.c:12; mad timed out\n[1] \"b\"[1]\nHca 1 \"b\"\n[1] \"a\"[1]\n",
	 "1: the tool that wrote the file reported an error, nodes may be missing: "
	 "src/smp.c:7; umad (DR path 0,1,4) bad status 110; Connection timed out\n"
	 "3: the tool that wrote the file reported an error, nodes may be missing: "
	 "../lib/query.c:12; mad timed out\n",
	 2, 1},
	/* a terminal's log: its header and the prompt, and tabs lost on the way */
	{"=~=~=~=~=~=~= PuTTY log 2024.01.01 10:00:00 =~=~=~=~=~=~=\r\n[root@host ~]# "
	 "ibnetdiscover\r\n"
	 "#\r\n# Topology file: generated on Mon Jan  1 10:00:00 2024\r\n#\r\n"
	 "vendid=0x2c9\r\nSwitch2 \"" SW(
		 1) "\"# \"leaf\" enhanced port 0 lid 1 lmc 0\r\n"
		    "[1]\"H-0000000000000010\"[1](11) # \"host\" lid 2 4xEDR\r\n\r\n"
		    "caguid=0x10\r\nCa1 \"H-0000000000000010\"# \"host\"\r\n"
		    "[1](11) \"" SW(1) "\"[1]# lid 2 lmc 0 \"leaf\" lid 1 4xEDR\r\n",
	 "1: 2 lines before the first node skipped: =~=~=~=~=~=~= PuTTY log "
	 "2024.01.01 10:00:00 =~=~=~=~=~=~=\n",
	 2, 1},
	{"\x1b]0;host\x07 ibnetdiscover\nSwitch 2 \"a\"\n",
	 "1: 1 line before the first node skipped: ?]0;host? ibnetdiscover\n", 1, 0},
	/* control characters of an id do not reach the terminal */
	{"Switch 2 \"a\x1b[2J\"\n[1] \"b\x07\"[1]\n",
	 "2: a?[2J[1] leads to b?[1], which is not in the file; the link is left out\n", 1, 0},
};

TEST(doubtful_files_load_with_warnings)
{
	for (size_t i = 0; i < ARRAY_LEN(doubtful); i++) {
		struct fab_netlist n = read_text(doubtful[i].text);

		assert_warnings(&n, doubtful[i].warnings);
		assert_int_equal(n.fab->nnodes, doubtful[i].nodes);
		assert_int_equal(n.fab->nlinks, doubtful[i].links);
		assert_round_trip(n.fab);
		fab_netlist_free(&n);
	}
}

/* ---- what cannot be understood ---- */

static const struct {
	const char *text, *message;
} broken[] = {
	{"", "t:1: found no node in the file, expected a Switch, Ca or Rt line"},
	{"# only\n\n# comments\n",
	 "t:3: found no node in the file, expected a Switch, Ca or Rt line"},
	{"hello world\n",
	 "t:1: found 'hello world', expected a node, a port, an assignment or a comment"},
	{"Switch 2 \"a\"\n\n%&!\n",
	 "t:3: found '%&!', expected a node, a port, an assignment or a comment"},
	{"Switches 2 \"a\"\n",
	 "t:1: found 'Switches 2 \"a\"', expected a node, a port, an assignment or a comment"},
	{"Switch\t: 0x0002c9020046c588 ports 36 \"x\" base port 0 lid 2 lmc 0\n",
	 "t:1: found ': 0x0002c9020046c588 ports 36 \"x...', expected the number of ports"},
	{"Switch \"a\"\n", "t:1: found '\"a\"', expected the number of ports"},
	{"Switch -1 \"a\"\n", "t:1: found '-1 \"a\"', expected the number of ports"},
	{"Switch 255 \"a\"\n", "t:1: found 255 ports, expected at most 254"},
	{"Ca 99999999999999999999999 \"a\"\n",
	 "t:1: found 99999999999999999999999 ports, expected at most 254"},
	{"Switch 2 \"a\"\nsrc/smp.c:x; lost\n",
	 "t:2: found 'src/smp.c:x; lost', expected a node, a port, an assignment or a comment"},
	/* virtual functions */
	{"sriov\nCa 1 \"a\"\n", "t:1: found the end of the line, expected '='"},
	{"sriov=\n", "t:1: found the end of the line, expected vswitch or shared"},
	{"sriov=bridge vfs=2\nCa 1 \"a\"\n",
	 "t:1: found 'bridge vfs=2', expected vswitch or shared"},
	{"sriov=vswitches vfs=2\n", "t:1: found 'vswitches vfs=2', expected vswitch or shared"},
	{"sriov=vswitch\nCa 1 \"a\"\n",
	 "t:1: found the end of the line, expected vfs= and a number"},
	{"sriov=shared pfs=2\n", "t:1: found 'pfs=2', expected vfs= and a number"},
	{"sriov=shared vfs\n", "t:1: found the end of the line, expected '='"},
	{"sriov=shared vfs=many\n", "t:1: found 'many', expected a number"},
	{"sriov=shared vfs=0\n", "t:1: found 0 VFs, expected 1 to 252"},
	{"sriov=vswitch vfs=253\n", "t:1: found 253 VFs, expected 1 to 252"},
	{"sriov=vswitch vfs=99999999999999999999\n",
	 "t:1: found 99999999999999999999 VFs, expected 1 to 252"},
	{"sriov=vswitch vfs=2 pf=1\n",
	 "t:1: found 'pf=1', expected a comment or the end of the line"},
	{"vf=253 lid=2\n", "t:1: found VF 253, expected one of those that sriov= states"},
	{"vf\n", "t:1: found the end of the line, expected '='"},
	{"vf=one lid=2\n", "t:1: found 'one lid=2', expected a number"},
	{"vf=1\n", "t:1: found the end of the line, expected lid= and a LID"},
	{"vf=1 lmc=2\n", "t:1: found 'lmc=2', expected lid= and a LID"},
	{"vf=1 lid=0\n", "t:1: found LID 0, expected 1 to 49151"},
	{"vf=1 lid=49152\n", "t:1: found LID 49152, expected 1 to 49151"},
	{"vf=1 lid=5 port=2\n", "t:1: found 'port=2', expected guid= and a GUID"},
	{"vf=1 lid=5 guid=none\n", "t:1: found 'none', expected a GUID"},
	{"vf=1 lid=5 guid=0x0\n", "t:1: found GUID 0, expected another one"},
	{"vf=1 lid=5 guid=0x7 more\n",
	 "t:1: found 'more', expected a comment or the end of the line"},
	{"vf=1 lid=5\nCa 1 \"a\"\n", "t:1: found vf=1, expected sriov=vswitch above it"},
	{"sriov=shared vfs=2\nvf=1 lid=5\nCa 1 \"a\"\n",
	 "t:2: found vf=1, expected sriov=vswitch above it"},
	{"sriov=vswitch vfs=2\nvf=3 lid=5\nCa 1 \"a\"\n",
	 "t:2: found VF 3, expected one of those that sriov= states"},
	{"sriov=vswitch vfs=2\nvf=2 lid=5\nvf=2 lid=6\nCa 1 \"a\"\n",
	 "t:3: found VF 2 again, expected each VF once"},
	{"\nsriov=vswitch vfs=2\nSwitch 2 \"a\"\n",
	 "t:2: found sriov= above a Switch, expected a Ca with one port"},
	{"sriov=vswitch vfs=2\nRt 1 \"a\"\n",
	 "t:1: found sriov= above a Rt, expected a Ca with one port"},
	{"sriov=vswitch vfs=2\nCa 2 \"a\"\n",
	 "t:1: found sriov= above a Ca with 2 ports, expected a Ca with one port"},
	{"sriov=vswitch vfs=2\nCa 1 \"a\"\n[2] \"b\"[1]\nSwitch 1 \"b\"\n",
	 "t:1: found sriov= above a Ca with 2 ports, expected a Ca with one port"},
	{"Switch 2 \"a\"\nsriov=vswitch vfs=2\n[1] \"a\"[2]\n",
	 "t:3: found '[1] \"a\"[2]', expected a Switch, Ca or Rt line before the ports"},
	/* what precedes the first node is skipped only if there is one, and if it is no port line */
	{"=~=~=~= PuTTY log 2024.01.01 10:00:00 =~=~=~=\n[root@host ~]# ibnetdiscover\n",
	 "t:1: found '=~=~=~= PuTTY log 2024.01.01 10:...', expected a node, a port, an assignment "
	 "or a comment"},
	{"Swich 2 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\n[1] \"a\"[1]\n",
	 "t:2: found '[1] \"b\"[1]', expected a Switch, Ca or Rt line before the ports"},
	{"a log\nSwitch two \"a\"\n", "t:2: found 'two \"a\"', expected the number of ports"},
	{"Switch 4\n",
	 "t:1: found the end of the line, expected a node's id like \"S-0002000000000001\""},
	{"Switch 4 # \"name\"\n",
	 "t:1: found '# \"name\"', expected a node's id like \"S-0002000000000001\""},
	{"Switch 4 \"\"\n", "t:1: found '\"\"', expected a node's id like \"S-0002000000000001\""},
	{"Switch 4 \"a\n", "t:1: found one quotation mark around the id, expected a second one"},
	{"Switch 4 \"a\" name\n", "t:1: found 'name', expected a comment or the end of the line"},
	{"[1] \"a\"[2]\n",
	 "t:1: found '[1] \"a\"[2]', expected a Switch, Ca or Rt line before the ports"},
	{"Switch 2 \"a\"\nvendid=0x1\n[1] \"a\"[2]\n",
	 "t:3: found '[1] \"a\"[2]', expected a Switch, Ca or Rt line before the ports"},
	{"Switch 2 \"a\"\n[x] \"a\"[2]\n", "t:2: found 'x] \"a\"[2]', expected a port number"},
	{"Switch 2 \"a\"\n[1 \"a\"[2]\n", "t:2: found '\"a\"[2]', expected ']'"},
	{"Switch 2 \"a\"\n[255] \"a\"[2]\n", "t:2: found port 255, expected at most 254"},
	{"Switch 2 \"a\"\n[1] \"a\"[1000]\n", "t:2: found port 1000, expected at most 254"},
	{"Switch 2 \"a\"\n[1] \"a\"[]\n", "t:2: found ']', expected a port number"},
	{"Switch 2 \"a\"\n[1]\n",
	 "t:2: found the end of the line, expected a node's id like \"S-0002000000000001\""},
	{"Switch 2 \"a\"\n[1] [2]\n",
	 "t:2: found '[2]', expected a node's id like \"S-0002000000000001\""},
	{"Switch 2 \"a\"\n[1] \"b\"[2] or so\n",
	 "t:2: found 'or so', expected a comment or the end of the line"},
	{"Ca 2 \"a\"\n[1](xyz) \"b\"[2]\n",
	 "t:2: found 'xyz) \"b\"[2]', expected a port GUID of up to 16 hexadecimal digits"},
	{"Ca 2 \"a\"\n[1](12345678901234567) \"b\"[2]\n",
	 "t:2: found '12345678901234567) \"b\"[2]', expected a port GUID of up to 16 hexadecimal "
	 "digits"},
	{"Ca 2 \"a\"\n[1](12 \"b\"[2]\n", "t:2: found '\"b\"[2]', expected ')'"},
	{"Ca 2 \"a\"\n[1][ext 5 \"b\"\n",
	 "t:2: found '[ext 5 \"b\"', expected ']' behind the external port"},
	{"Ca 2 \"a\"\n@[1] \"alias\"\n",
	 "t:2: found '@[1] \"alias\"', expected a port without an alias"},
	{"vendid\n", "t:1: found the end of the line, expected '='"},
	{"vendid=\n", "t:1: found the end of the line, expected a number"},
	{"vendid=0x100000000\n", "t:1: found 0x100000000, expected at most 0xffffffff"},
	{"devid=70000\n", "t:1: found 70000, expected at most 65535"},
	{"devid=0x1 0x2\n", "t:1: found '0x2', expected a comment or the end of the line"},
	{"devid=0xq\n", "t:1: found '0xq', expected a number of up to 16 hexadecimal digits"},
	{"switchguid=node\n",
	 "t:1: found 'node', expected a number of up to 16 hexadecimal digits"},
	{"switchguid=0x1(2\n", "t:1: found the end of the line, expected ')'"},
	{"caguid=0x00112233445566778\n",
	 "t:1: found '0x00112233445566778', expected a number of up to 16 hexadecimal digits"},
	{"include \"more.net\"\n",
	 "t:1: found an include line, expected the whole fabric in one file"},
	{"module=x\n", "t:1: found 'x', expected a name in quotes"},
	{"module=\"x\n", "t:1: found one quotation mark around the name, expected a second one"},
	{"width=99\n", "t:1: found 99, expected at most 31"},
	{"Switch 4 \"" SW(1) "\"\n\nSwitch 8 \"" SW(1) "\"\n",
	 "t:3: found the same node as Switch with 8 ports, expected Switch with 4 ports as in line 1"},
	{"Ca 4 \"a\"\nRt 4 \"a\"\n",
	 "t:2: found the same node as Rt with 4 ports, expected Ca with 4 ports as in line 1"},
	{"switchguid=0x1\nSwitch 4 \"a\"\nSwitch 4 \"" SW(1) "\"\n",
	 "t:3: found GUID 0x0000000000000001, expected another than the node of line 2 has"},
	{"Switch 2 \"a\"\ncaf\xc3\xa9\x01 with a tail much longer than what fits\n",
	 "t:2: found 'caf\xc3\xa9? with a tail much longer t...', expected a node, a port, an "
	 "assignment "
	 "or a comment"},
	{"\x1f\x8b\x08 \xc3(\xe0\x80\x9b\x9b[2J\xe2\x82\xac\n",
	 "t:1: found '??? ?(????[2J\xe2\x82\xac', expected a node, a port, an assignment or a comment"},
};

/* Each has its own id; what the writer writes gives the same warning again. */
TEST(two_nodes_of_one_guid)
{
	struct fab_netlist n =
		read_text("Switch 2 \"" SW(1) "\"\n[1] \"a\"[2]\nswitchguid=0x1\n"
					      "Switch 2 \"a\"\n[2] \"" SW(1) "\"[1]\n");

	assert_warnings(&n, "4: GUID 0x0000000000000001 is that of the node of line 1, too; both "
			    "are kept\n");
	assert_int_equal(n.fab->nnodes, 2);
	assert_int_equal(n.fab->nlinks, 1);
	assert_int_equal(fab_node_by_guid(n.fab, 1), 0);
	fab_netlist_free(&n);
}

TEST(errors_contain_file_and_line)
{
	assert_true(ARRAY_LEN(broken) >= 25);
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		struct fab_netlist n = {0};
		struct err e = {"nothing"};
		const char *text = broken[i].text;

		assert_int_equal(fab_netlist_parse(&n, "t", text, strlen(text), &e), -EINVAL);
		assert_string_equal(e.text, broken[i].message);
		assert_null(n.fab); /* out is untouched */
		assert_int_equal(n.warnings.n, 0);
	}
}

/* ibnetdiscover separates by tabs; every line is understood without them. */
TEST(lost_tabs_change_nothing)
{
	static const char text[] =
		"switchguid=0x1(1)\n"
		"Switch\t36 \"" SW(
			1) "\"\t\t# \"leaf one\" enhanced port 0 lid 3 lmc 0\n"
			   "[1]\t\"H-0000000000000010\"[1](11) \t\t# \"host HCA-1\" lid 5 4xFDR\n"
			   "[2]\t\"R-0000000000000020\"[1](21) \t\t# \"router\" lid 6 4xEDR\n\n"
			   "caguid=0x10\nCa\t2 \"H-0000000000000010\"\t\t# \"host HCA-1\"\n"
			   "[1](11) \t\"" SW(
				   1) "\"[1]\t\t# lid 5 lmc 0 \"leaf one\" lid 3 4xFDR\n\n"
				      "rtguid=0x20\nRt\t1 \"R-0000000000000020\"\t\t# \"router\"\n"
				      "[1](21) \t\"" SW(
					      1) "\"[2]\t\t# lid 6 lmc 0 \"leaf one\" lid 3 4xEDR\n";
	struct fab_netlist with = {0}, without = {0};
	struct strbuf bare = {0}, a = {0}, b = {0};
	struct err e;

	for (const char *s = text; *s; s++)
		if (*s != '\t')
			strbuf_addn(&bare, s, 1);
	assert_int_equal(fab_netlist_parse(&with, "t", text, strlen(text), &e), 0);
	assert_int_equal(fab_netlist_parse(&without, "t", bare.s, bare.len, &e), 0);
	assert_int_equal(with.warnings.n + without.warnings.n, 0);
	fab_netlist_write(with.fab, &a);
	fab_netlist_write(without.fab, &b);
	assert_string_equal(a.s, b.s);
	assert_int_equal(with.fab->nlinks, 2);
	strbuf_free(&bare);
	strbuf_free(&a);
	strbuf_free(&b);
	fab_netlist_free(&with);
	fab_netlist_free(&without);
}

TEST(zero_bytes_are_refused)
{
	static const char utf16[] = "S\0w\0i\0t\0c\0h\0\n\0";
	static const char late[] = "Switch 2 \"a\"\n# x\0y\n";
	struct fab_netlist n = {0};
	struct err e;

	assert_int_equal(fab_netlist_parse(&n, "t", utf16, sizeof(utf16) - 1, &e), -EINVAL);
	assert_string_equal(e.text, "t:1: found a zero byte, expected plain text");
	assert_int_equal(fab_netlist_parse(&n, "t", late, sizeof(late) - 1, &e), -EINVAL);
	assert_string_equal(e.text, "t:2: found a zero byte, expected plain text");
}

/* Each prefix of a good file either loads or is refused with a line; no prefix crashes. */
TEST(truncated_files_do_no_harm)
{
	for (size_t len = 0; len < sizeof(ordinary); len++) {
		struct fab_netlist n = {0};
		struct err e = {0};
		char *exact = mem_alloc(len); /* so that a sanitizer sees one byte too far */
		int rc;

		memcpy(exact, ordinary, len);
		rc = fab_netlist_parse(&n, "t", exact, len, &e);
		free(exact);
		if (rc) {
			assert_int_equal(rc, -EINVAL);
			assert_memory_equal(e.text, "t:", 2);
		} else {
			fab_netlist_free(&n);
		}
	}
}

/* ---- files ---- */

static struct fab_netlist load(const char *file)
{
	struct fab_netlist n = {0};
	struct err e = {0};
	char path[512];

	snprintf(path, sizeof(path), TEST_DATA "/%s", file);
	if (fab_netlist_load(&n, path, &e))
		fail_msg("%s", e.text);
	return n;
}

TEST(the_sample_cluster)
{
	struct fab_netlist n = load("cluster-hdr.net");
	const struct fab *f = n.fab;
	unsigned sharp = 0, edr = 0;
	node_id gpu = fab_node_by_text(f, "gpu01 mlx5_2");
	node_id router = fab_node_by_text(f, "edge router \"north\"");

	assert_warnings(
		&n,
		"44: S-b8599f0300d20000[10] \"MF0;ib-leaf1:MQM8700/U1\" leads to "
		"H-0c42a1030041ffe0[1], which is not in the file; the link is left out\n"
		"78: S-b8599f0300d20100 is declared with 40 ports, but port 41 is used; it is given "
		"41\n"
		"193: H-0c42a10300410080[1] \"node005 mlx5_0\" leads to S-b8599f0300d20000[9] "
		"\"MF0;ib-leaf1:MQM8700/U1\", but the link between H-0c42a10300410080[1] "
		"\"node005 mlx5_0\" and S-b8599f0300d20000[5] \"MF0;ib-leaf1:MQM8700/U1\" is stated "
		"first and kept\n"
		"285: H-0c42a10300410220[1] \"node018 mlx5_0\" leads to S-b8599f0300d20300[3] "
		"\"MF0;ib-leaf4:MQM8700/U1\", which does not list it; the link is completed\n");
	assert_int_equal(f->nswitches, 6);
	assert_int_equal(f->nhosts, 33);
	assert_int_equal(f->nrouters, 1);
	assert_int_equal(f->nlinks, 57);
	for (node_id i = 0; i < f->nnodes; i++)
		sharp += f->nodes[i].flags == FAB_SHARP_AN;
	for (port_id p = 0; p < f->nports; p++)
		edr += f->ports[p].speed == FAB_EDR;
	assert_int_equal(sharp, 6);
	assert_int_equal(edr, 14);
	assert_int_not_equal(port_at(f, gpu, 1)->peer, FAB_NONE);
	assert_int_not_equal(f->ports[port_at(f, gpu, 1)->peer].node,
			     f->ports[port_at(f, gpu, 2)->peer].node);
	assert_int_equal(f->nodes[router].type, IBA_NODE_ROUTER);
	assert_round_trip(f);
	fab_netlist_free(&n);
}

TEST(the_other_samples)
{
	struct fab_netlist n = load("chassis-grouped.net");

	assert_warnings(&n, "");
	assert_int_equal(n.fab->nlinks, 16);
	assert_int_equal(port_at(n.fab, 2, 18)->speed, FAB_FDR10);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);

	n = load("lab-by-hand.net");
	assert_warnings(&n, "34: the ibsim command 'Dump \"north\"' is not carried out\n");
	assert_int_equal(n.fab->nlinks, 7);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);

	n = load("names.net");
	assert_warnings(&n, "");
	assert_string_equal(fab_node_name(n.fab, 0), "core \"A\" [row 1] #7 (old)");
	assert_int_equal(fab_node_by_text(n.fab, "s\xc3\xa9"
						 "bastien's box #1"),
			 1);
	assert_int_equal(port_at(n.fab, 2, 1)->lmc, 2);
	assert_round_trip(n.fab);
	fab_netlist_free(&n);
}

TEST(a_missing_file_is_reported)
{
	struct fab_netlist n = {0};
	struct err e;

	assert_int_equal(fab_netlist_load(&n, "/no/such.net", &e), -ENOENT);
	assert_string_equal(e.text, "/no/such.net: No such file or directory");
}

/* A two-level tree of 36-port switches with every port in use reads back the same. */
TEST(a_larger_tree)
{
	struct fab_builder *b = fab_builder_new();
	struct fab *f, *g;
	char name[32];

	for (unsigned s = 0; s < 36 + 18; s++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x2000 + s, 36, s < 36 ? "leaf" : "spine");
	for (unsigned h = 0; h < 648; h++) {
		snprintf(name, sizeof(name), "h%u HCA-1", h);
		fab_add_node(b, IBA_NODE_CA, 0x10000 + 2 * h, 1, name);
		fab_builder_port(b, 54 + h, 1)->guid = 0x10001 + 2 * h;
		assert_int_equal(fab_add_link(b, 54 + h, 1, h / 18, h % 18 + 1), 0);
	}
	for (unsigned l = 0; l < 36; l++)
		for (unsigned s = 0; s < 18; s++)
			assert_int_equal(fab_add_link(b, l, 19 + s, 36 + s, l + 1), 0);
	f = fab_build(b);
	g = fab_assign_lids(f, 2, NULL);
	assert_round_trip(g);
	fab_free(f);
	fab_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_dump),
		cmocka_unit_test(every_rate),
		cmocka_unit_test(names_may_contain_any_byte_except_a_newline),
		cmocka_unit_test(a_newline_in_a_name_becomes_a_space),
		cmocka_unit_test(a_very_long_name),
		cmocka_unit_test(untidy_files_give_the_same_fabric_as_tidy_ones),
		cmocka_unit_test(plain_words_as_ids),
		cmocka_unit_test(generated_guids_do_not_clash_with_given_ones),
		cmocka_unit_test(modules_and_defaults),
		cmocka_unit_test(aggregation_nodes),
		cmocka_unit_test(properties_of_unlinked_ports_are_kept),
		cmocka_unit_test(a_link_described_by_one_end_only),
		cmocka_unit_test(a_ports_own_line_wins_over_its_peers),
		cmocka_unit_test(the_peers_line_is_used_when_a_port_has_none),
		cmocka_unit_test(output_of_the_writer),
		cmocka_unit_test(switches_with_table_sizes_of_their_own),
		cmocka_unit_test(table_sizes_that_cannot_be),
		cmocka_unit_test(hcas_with_virtual_functions),
		cmocka_unit_test(virtual_functions_of_a_node_that_is_defined_twice),
		cmocka_unit_test(lids_of_virtual_functions),
		cmocka_unit_test(the_wire_view_is_read_again),
		cmocka_unit_test(doubtful_files_load_with_warnings),
		cmocka_unit_test(two_nodes_of_one_guid),
		cmocka_unit_test(errors_contain_file_and_line),
		cmocka_unit_test(lost_tabs_change_nothing),
		cmocka_unit_test(zero_bytes_are_refused),
		cmocka_unit_test(truncated_files_do_no_harm),
		cmocka_unit_test(the_sample_cluster),
		cmocka_unit_test(the_other_samples),
		cmocka_unit_test(a_missing_file_is_reported),
		cmocka_unit_test(a_larger_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
