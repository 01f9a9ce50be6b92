/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of the emulator: words, names, and what each command does to the fabric. Uses no sockets.
 * Covers: console.c, console_input.c, console_output.c, command_line.c, command_parse.c, target_names.c,
 * cmd_cable.c, cmd_fault.c, cmd_meter.c, cmd_port.c, cmd_show.c, event_log.c, smp_meter.c
 */
#include "emu_fixture.h"

#include "emu/console.h"
#include "emu/command_line.h"

static int setup(void **state)
{
	*state = emu_make(NULL, 8);
	return 0;
}

static int teardown(void **state)
{
	emu_close(*state);
	return 0;
}

/* ---- words ---- */

TEST(words_are_quoted_or_not)
{
	struct line l;
	struct err e;

	assert_int_equal(
		line_split(&l, "  Link \"switch 0\"[13] S-0200[2]\t\"switch 1[4]\" # rest", &e), 0);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.at[0].text, "Link");
	assert_int_equal(l.at[0].port, -1);
	assert_string_equal(l.at[1].text, "switch 0");
	assert_int_equal(l.at[1].port, 13);
	assert_string_equal(l.at[2].text, "S-0200");
	assert_int_equal(l.at[2].port, 2);
	assert_string_equal(l.at[3].text, "switch 1");
	assert_int_equal(l.at[3].port, 4);
	assert_int_equal(line_split(&l, " \t # nothing", &e), 0);
	assert_int_equal(l.n, 0);
}

TEST(bad_words_are_refused)
{
	static const char *const bad[] = {
		"Dump \"open",	 "Dump S-1[",	 "Dump S-1[x]",	  "Dump S-1[-1]",
		"Dump S-1[255]", "Dump S-1[1]x", "Dump \"S-1\"x", "a b c d e f g h i",
	};
	struct strbuf longer = {0};
	struct line l;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(line_split(&l, bad[i], &e), -EINVAL);
	for (unsigned i = 0; i < WORD_SIZE; i++)
		strbuf_add(&longer, "x");
	assert_int_equal(line_split(&l, longer.s, &e), -EINVAL);
	strbuf_free(&longer);
}

TEST(times_and_shares)
{
	uint64_t q;
	time_ps t;

	assert_int_equal(line_time("2", &t), 0);
	assert_int_equal(t, 2 * PS_PER_S);
	assert_int_equal(line_time("2.5s", &t), 0);
	assert_int_equal(t, 2500 * PS_PER_MS);
	assert_int_equal(line_time("5us", &t), 0);
	assert_int_equal(t, 5 * PS_PER_US);
	assert_int_equal(line_time("101d", &t), -EINVAL);
	assert_int_equal(line_time("99999999", &t), -EINVAL);
	assert_int_equal(line_time("-1s", &t), -EINVAL);
	assert_int_equal(line_share("50%", &q), 0);
	assert_int_equal(q, 1ull << 31);
	assert_int_equal(line_share("0.25", &q), 0);
	assert_int_equal(q, 1ull << 30);
	assert_int_equal(line_share("101%", &q), -EINVAL);
}

/* ---- names ---- */

TEST(nodes_have_ids_names_and_guids)
{
	struct emu *m = *state;

	assert_non_null(strstr(does(m, "Dump \"switch 1\""), "dumped 1 nodes"));
	assert_non_null(strstr(does(m, "d S-0000000000000201"), "dumped 1 nodes"));
	assert_non_null(strstr(does(m, "DUMP 0x201"), "dumped 1 nodes"));
	assert_non_null(strstr(does(m, "Dump"), "dumped 6 nodes"));
	refuses(m, "Dump nobody", "expected a node of the netlist, found 'nobody'");
	refuses(m, "Unlink host0[2]", "has ports 1 to 1, found 2");
	refuses(m, "Unlink S-0000000000000200[0]", "port 0 of \"S-0000000000000200\" has no link");
	refuses(m, "off host0[1]", "expected a whole node");
	refuses(m, "Link host0 host1[1]",
		"expected a port in brackets after \"H-0000000000000100\"");
}

/* ---- which command ---- */

TEST(commands_may_be_short)
{
	struct emu *m = *state;
	static const struct {
		const char *typed, *name;
	} words[] = {{"d", "Dump"},
		     {"r", "Route"},
		     {"l", "Link"},
		     {"u", "Unlink"},
		     {"c", "Clear"},
		     {"g", "Guid"},
		     {"e", "Error"},
		     {"b", "Baselid"},
		     {"s", "Start"},
		     {"v", "Verbose"},
		     {"w", "Wait"},
		     {"a", "Attached"},
		     {"x", "X"},
		     {"h", "Help"},
		     {"q", "Quit"},
		     {"rel", "ReLink"},
		     {"P", "PerformanceSet"},
		     {"lo", "loss"},
		     {"la", "latency"},
		     {"co", "counter"},
		     {"f", "flow"},
		     {"stat", "stat"},
		     {"of", "off"}};
	const char *help = mem_strdup(does(m, "help"));

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct emu_op op;
		struct err e;
		char want[64];

		/* The usage shows the number when there are too many words. */
		snprintf(want, sizeof(want), "%s 1 2 3 4 5 6 7", words[i].typed);
		assert_int_equal(console_parse(m, want, &op, &e), -EINVAL);
		snprintf(want, sizeof(want), "expected %s", words[i].name);
		assert_true(!strncmp(e.text, want, strlen(want)));
		snprintf(want, sizeof(want), "  %s ", words[i].name);
		assert_non_null(strstr(help, want));
	}
	free((char *)help);
	refuses(m, "relnk all", "did you mean ReLink?");
	refuses(m, "frobnicate", "unknown command 'frobnicate'");
	assert_string_equal(does(m, "# a comment"), "");
	assert_string_equal(does(m, ""), "");
}

/* ---- cables and power ---- */

TEST(links_are_cut_and_restored)
{
	struct emu *m = *state;

	assert_int_equal(state_of(m, "switch 0", 2), IBA_PORT_INIT);
	does(m, "Unlink \"switch 0\"[2]");
	assert_int_equal(state_of(m, "switch 0", 2), IBA_PORT_DOWN);
	assert_int_equal(state_of(m, "switch 1", 3), IBA_PORT_DOWN);
	refuses(m, "Unlink \"switch 0\"[2]", "is not linked");
	does(m, "ReLink \"switch 1\"[3]");
	assert_int_equal(state_of(m, "switch 0", 2), IBA_PORT_INIT);
	refuses(m, "ReLink \"switch 1\"[3]", "was not unlinked");
	refuses(m, "Link \"switch 1\"[3] \"switch 2\"[4]",
		"\"S-0000000000000201\"[3] is linked already");
	does(m, "Link \"switch 1\"[4] \"switch 2\"[4]");
	assert_int_equal(sim_port_peer(m->sim, port(m, "switch 1", 4)), port(m, "switch 2", 4));
	refuses(m, "Link \"switch 0\"[4] \"switch 0\"[4]", "found one twice");
}

TEST(whole_nodes_are_cut_and_restored)
{
	struct emu *m = *state;

	does(m, "Unlink \"switch 1\"");
	for (unsigned p = 1; p <= 4; p++)
		assert_int_equal(state_of(m, "switch 1", p), IBA_PORT_DOWN);
	assert_int_equal(state_of(m, "host1", 2), IBA_PORT_DOWN);
	does(m, "Unlink host0");
	does(m, "ReLink all");
	assert_int_equal(state_of(m, "host1", 2), IBA_PORT_INIT);
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_INIT);
	assert_int_equal(state_of(m, "switch 2", 3), IBA_PORT_INIT);
}

TEST(relink_does_not_replace_another_cable)
{
	struct emu *m = *state;

	does(m, "Unlink host0[1]");
	does(m, "Link \"switch 0\"[1] \"switch 2\"[4]");
	refuses(m, "ReLink host0[1]", "is linked already");
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_DOWN);
}

TEST(nodes_go_off_and_on)
{
	struct emu *m = *state;

	does(m, "baselid \"switch 1\"[0] 7");
	assert_int_equal(sim_port_info(m->sim, port(m, "switch 1", 0))->lid, 7);
	does(m, "off \"switch 1\"");
	assert_false(sim_node_on(m->sim, fab_node_by_text(m->fab, "switch 1")));
	assert_int_equal(state_of(m, "switch 0", 2), IBA_PORT_DOWN);
	refuses(m, "off \"switch 1\"", "is off already");
	does(m, "on \"switch 1\"");
	assert_int_equal(state_of(m, "switch 0", 2), IBA_PORT_INIT);
	assert_int_equal(sim_port_info(m->sim, port(m, "switch 1", 0))->lid, 0);
}

TEST(clear_resets_everything)
{
	struct emu *m = *state;

	does(m, "baselid host0[1] 9");
	does(m, "counter host0[1] SymbolErrorCounter 5");
	does(m, "loss host0[1] 10%");
	does(m, "Clear host0");
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_DOWN);
	assert_int_equal(sim_port_info(m->sim, port(m, "host0", 1))->lid, 0);
	assert_int_equal(sim_counted(m->sim, port(m, "host0", 1), SIM_CNT_SYMBOL_ERROR), 0);
	does(m, "ReLink host0[1]");
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_INIT);
}

/* ---- what a node says of itself ---- */

TEST(guids_change)
{
	struct emu *m = *state;
	uint8_t data[64] = {0};
	struct iba_node_info ni;
	char ident[32], unlink[64];

	fab_node_ident(m->fab, m->fab->ports[port(m, "switch 1", 0)].node, ident);
	snprintf(unlink, sizeof(unlink), "Unlink \"%s\"[1]", ident);
	does(m, "Guid \"switch 1\" 0xabc");
	assert_true(emu_ask(m, port(m, "switch 1", 0), IBA_GET, IBA_ATTR_NODE_INFO, 0, data));
	iba_node_info_get(&ni, data, sizeof(data));
	assert_int_equal(ni.node_guid, 0xabc);
	does(m, "Dump S-0000000000000abc");
	does(m, unlink); /* as the netlist calls it, and as ibsim still would */
	refuses(m, "Guid host0 0xabc", "\"S-0000000000000abc\" already has this GUID");
	does(m, "Guid host0[1] 0x777");
	assert_true(emu_ask(m, port(m, "host0", 1), IBA_GET, IBA_ATTR_NODE_INFO, 0, data));
	iba_node_info_get(&ni, data, sizeof(data));
	assert_int_equal(ni.port_guid, 0x777);
}

TEST(lids_change)
{
	struct emu *m = *state;

	does(m, "Baselid host0[1] 8 2");
	assert_int_equal(sim_port_info(m->sim, port(m, "host0", 1))->lid, 8);
	assert_int_equal(sim_port_info(m->sim, port(m, "host0", 1))->lmc, 2);
	refuses(m, "Baselid host0[1] 9 2", "refused the Set"); /* not aligned */
	refuses(m, "Baselid \"switch 0\"[1] 9", "only port 0 of a switch has a LID");
	refuses(m, "Baselid host0[1] 49152", "expected a LID up to 49151");
	does(m, "off host0");
	refuses(m, "Baselid host0[1] 8", "no response from the node");
}

/* ---- troubles and counters ---- */

TEST(links_can_lose_and_delay_packets)
{
	struct emu *m = *state;
	struct sim_link_fault t;

	does(m, "loss \"switch 0\"[2] 50%");
	does(m, "latency \"switch 0\"[2] 5us");
	sim_get_link_fault(m->sim, port(m, "switch 1", 3), &t);
	assert_int_equal(t.loss_q32, 1ull << 31);
	assert_int_equal(t.latency_ps, 5 * PS_PER_US);
	assert_non_null(strstr(does(m, "Dump \"switch 1\""), "# loss 50%\t# latency 5 us"));
	does(m, "Error \"switch 0\" 0");
	sim_get_link_fault(m->sim, port(m, "switch 1", 3), &t);
	assert_int_equal(t.loss_q32, 0);
	assert_int_equal(t.latency_ps, 5 * PS_PER_US);
	does(m, "Error \"switch 0\"[1] 25");
	sim_get_link_fault(m->sim, port(m, "host0", 1), &t);
	assert_int_equal(t.loss_q32, 1ull << 30);
	refuses(m, "loss host0[1] 2", "expected a share such as 1% or 0.01, found '2'");
	refuses(m, "latency host0[1] 2min", "expected a time such as 5us");
	refuses(m, "Error host0[1] 101", "expected an error rate in percent up to 100");
	does(m, "Error host0[1] 10 17");
	assert_non_null(strstr(does(m, "Dump host0"), "# loss 10% of attribute 17"));
	does(m, "loss host0[1] 10%");
	sim_get_link_fault(m->sim, port(m, "host0", 1), &t);
	assert_int_equal(t.loss_attr, 0);
	refuses(m, "Error host0[1] 10 PortInfo", "expected an attribute's number");
}

TEST(counters_can_be_set)
{
	struct emu *m = *state;
	port_id p = port(m, "host0", 1);
	uint64_t before = sim_counted(m->sim, p, SIM_CNT_XMIT_DISCARDS);

	does(m, "counter host0[1] symbolerrorcounter 5");
	does(m, "error host0[1] SymbolErrorCounter");
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_SYMBOL_ERROR), 6);
	does(m, "counter host0[1] PortXmitDiscards");
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_XMIT_DISCARDS), before + 1);
	does(m, "PerformanceSet host0[1] PortCounters.LinkDownedCounter=7");
	does(m, "PerformanceSet \"host0\"[1] PortCountersExtended.PortXmitPkts = 0x10");
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_LINK_DOWNED), 7);
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_XMIT_PKTS), 16);
	does(m, "agent host0 narrow");
	assert_int_equal(sim_agent(m->sim, m->fab->ports[p].node), SIM_AGENT_NARROW);
	does(m, "agent all full");
	for (node_id n = 0; n < m->fab->nnodes; n++)
		assert_int_equal(sim_agent(m->sim, n), SIM_AGENT_FULL);
	refuses(m, "agent host0 deaf", "expected wide, narrow, full or silent");
	refuses(m, "agent nowhere wide", "expected a node");
	refuses(m, "counter host0 SymbolErrorCounter", "expected a port in brackets");
	refuses(m, "counter host0[1] Symbols", "expected a counter such as");
	refuses(m, "PerformanceSet host0[1] PortCounters.LinkDownedCounter",
		"expected = and a number");
	refuses(m, "PerformanceSet host0[1] Nothing.LinkDownedCounter=1",
		"expected PortCounters.NAME=N");
}

/* LIDs and tables by hand, as an SM would leave them. */
static void bring_up(struct emu *m)
{
	static const char *const hosts[] = {"host0", "host1", "host2"};
	static const unsigned out[3][3] = {{1, 2, 2}, {3, 1, 2}, {3, 3, 1}}; /* switch, host */
	unsigned num[] = {1, 2, 1};

	for (unsigned s = 0; s < 3; s++) {
		char name[16];
		uint8_t lft[64];
		struct iba_switch_info si = *sim_switch_info(m->sim, s);
		uint8_t data[64];

		snprintf(name, sizeof(name), "switch %u", s);
		memset(lft, 255, sizeof(lft));
		for (unsigned h = 0; h < 3; h++)
			lft[h + 1] = (uint8_t)out[s][h];
		assert_true(emu_ask(m, port(m, name, 0), IBA_SET, IBA_ATTR_LFT, 0, lft));
		si.linear_top = 63;
		iba_switch_info_put(&si, data);
		assert_true(emu_ask(m, port(m, name, 0), IBA_SET, IBA_ATTR_SWITCH_INFO, 0, data));
	}
	for (unsigned h = 0; h < 3; h++) {
		char line[64];

		snprintf(line, sizeof(line), "Baselid %s[%u] %u", hosts[h], num[h], h + 1);
		does(m, line);
	}
	for (port_id p = 0; p < m->fab->nports; p++)
		for (unsigned st = IBA_PORT_ARMED; st <= IBA_PORT_ACTIVE; st++) {
			uint8_t data[64];
			struct iba_port_info pi = *sim_port_info(m->sim, p);

			if (!m->fab->ports[p].num || pi.state == IBA_PORT_DOWN)
				continue;
			pi.state = (uint8_t)st;
			pi.phys_state = 0;
			iba_port_info_put(&pi, data);
			assert_true(emu_ask(m, p, IBA_SET, IBA_ATTR_PORT_INFO, m->fab->ports[p].num,
					    data));
		}
}

TEST(routes_are_followed)
{
	struct emu *m = *state;

	refuses(m, "Route 1 3", "no port has the LID 1");
	bring_up(m);
	assert_string_equal(does(m, "Route 1 3"), "From node \"H-0000000000000100\" port 1 lid 1\n"
						  "[1] -> \"S-0000000000000200\"[1]\n"
						  "[2] -> \"S-0000000000000201\"[3]\n"
						  "[2] -> \"S-0000000000000202\"[3]\n"
						  "[1] -> \"H-0000000000000120\"[1]\n"
						  "To node \"H-0000000000000120\" port 1 lid 3\n");
	assert_non_null(strstr(does(m, "route host2 host1"),
			       "To node \"H-0000000000000110\" port 2 lid 2"));
	does(m, "Unlink \"switch 1\"[2]");
	refuses(m, "Route 1 3", "Bad port state found: node \"S-0000000000000201\" port 2 state 1");
}

TEST(flows_are_counted)
{
	struct emu *m = *state;
	port_id p = port(m, "switch 1", 2);
	uint64_t before, words;

	refuses(m, "flow host0 host2 1000", "has no LID");
	bring_up(m);
	before = sim_counted(m->sim, p, SIM_CNT_XMIT_PKTS);
	words = sim_counted(m->sim, p, SIM_CNT_XMIT_DATA);
	assert_string_equal(does(m, "flow host0 host2 1000 256"),
			    "1000 packets counted over 4 links\n");
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_XMIT_PKTS), before + 1000);
	assert_int_equal(sim_counted(m->sim, p, SIM_CNT_XMIT_DATA), words + 64000);
	does(m, "off \"switch 2\"");
	refuses(m, "flow host0 host2 1000", "would be discarded");
}

TEST(figures_are_shown)
{
	struct emu *m = *state;
	const char *text = does(m, "stat");

	assert_non_null(strstr(text, "clients                  0\n"));
	assert_non_null(strstr(text, "ports Init"));
	assert_string_equal(does(m, "Attached"), "");
	refuses(m, "X 0", "no client 0");
	refuses(m, "X 8", "expected a client's number up to 7");
	assert_string_equal(does(m, "Verbose 2"), "verbose level is 2\n");
	assert_string_equal(does(m, "Verbose 7"), "verbose level is 2\n"); /* ibsim has no limit */
	refuses(m, "Wait 1", "wait works only on the console");
	refuses(m, "Wait soon", "expected a time");
	does(m, "quit");
	assert_true(m->stop);
}

int main(void)
{
#define EMU_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_quoted_or_not),
		cmocka_unit_test(bad_words_are_refused),
		cmocka_unit_test(times_and_shares),
		EMU_TEST(nodes_have_ids_names_and_guids),
		EMU_TEST(commands_may_be_short),
		EMU_TEST(links_are_cut_and_restored),
		EMU_TEST(whole_nodes_are_cut_and_restored),
		EMU_TEST(relink_does_not_replace_another_cable),
		EMU_TEST(nodes_go_off_and_on),
		EMU_TEST(clear_resets_everything),
		EMU_TEST(guids_change),
		EMU_TEST(lids_change),
		EMU_TEST(links_can_lose_and_delay_packets),
		EMU_TEST(counters_can_be_set),
		EMU_TEST(routes_are_followed),
		EMU_TEST(flows_are_counted),
		EMU_TEST(figures_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
