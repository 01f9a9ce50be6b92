/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulator with an HCA in vSwitch mode at each of two switches: the command vm, places of clients, clients that
 * follow their machine. Keeps no state; each test has its own emulator. Does not test VFInfo itself: test_vswitch.c
 * does.
 * Covers: cmd_vm.c, vm_clients.c
 */
#include "emu_fixture.h"

static struct fab *virtual_fabric(void)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < 2; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x200 + i, 4, i ? "switch 1" : "switch 0");
	for (unsigned i = 0; i < 2; i++) {
		node_id n =
			fab_add_node(b, IBA_NODE_CA, 0x100 + 0x10 * i, 1, i ? "host1" : "host0");

		fab_builder_node(b, n)->sriov = FAB_SRIOV_VSWITCH;
		fab_builder_node(b, n)->vfs = 2;
		fab_builder_port(b, n, 1)->guid = 0x101 + 0x10 * i;
		assert_int_equal(fab_add_link(b, n, 1, i, 1), 0);
	}
	assert_int_equal(fab_add_link(b, 0, 2, 1, 2), 0);
	return fab_build(b);
}

static int setup(void **state)
{
	struct fab *f = virtual_fabric();
	struct emu_config c;
	struct emu *m = NULL;
	struct err e;

	emu_config_default(&c);
	c.console = false;
	c.quiet = true;
	c.clients = 8;
	snprintf(c.name, sizeof(c.name), "weft-vm-%d", (int)getpid());
	if (emu_open(&m, f, &c, &e))
		fail_msg("%s", e.text);
	fab_free(f);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	emu_close(*state);
	return 0;
}

static uint16_t lid_at(const struct emu *m, const char *name)
{
	return sim_port_info(m->sim, port(m, name, 1))->lid;
}

TEST(machines_are_set_by_hand)
{
	struct emu *m = *state;

	assert_string_equal(does(m, "vm list"), "");
	does(m, "vm attach host0 1 20 0xabc");
	assert_int_equal(lid_at(m, "host0 VF1"), 20);
	assert_string_equal(does(m, "VM LIST"),
			    "\"host0\" 1 lid 20 guid 0x0000000000000abc Init\n");
	does(m, "vm move host0 1 host0 2");
	assert_int_equal(lid_at(m, "host0 VF1"), 0);
	assert_int_equal(lid_at(m, "host0 VF2"), 20);
	does(m, "vm move host0 2 host1 1");
	assert_int_equal(lid_at(m, "host1 VF1"), 20);
	does(m, "vm detach host1 1");
	assert_string_equal(does(m, "vm list"), "");
	assert_int_equal(state_of(m, "host1 VF1", 1), IBA_PORT_DOWN);
}

TEST(bad_requests_are_refused)
{
	struct emu *m = *state;

	does(m, "vm attach host0 1 20 0xabc");
	refuses(m, "vm", "expected vm list|attach|detach|move");
	refuses(m, "vm start host0", "expected vm list, attach, detach or move, found 'start");
	refuses(m, "vm list host0", "expected vm list");
	refuses(m, "vm attach host0 1", "expected vm attach HOST SLOT LID [GUID]");
	refuses(m, "vm attach host9 1 20", "expected a node of the netlist");
	refuses(m, "vm attach \"switch 0\" 1 21", "expected an HCA in vSwitch mode");
	refuses(m, "vm attach \"host0 VF1\" 1 21", "expected an HCA in vSwitch mode");
	refuses(m, "vm attach host0 0 21", "expected a slot from 1 to 2");
	refuses(m, "vm attach host0 3 21", "expected a slot from 1 to 2");
	refuses(m, "vm attach host0 2 0", "expected a LID from 1 on");
	refuses(m, "vm attach host0 2 49152", "expected a LID up to 49151");
	refuses(m, "vm attach host0 2 21 guid", "expected a GUID");
	refuses(m, "vm attach host0 2 20", "the HCA refused it");
	refuses(m, "vm attach host0 2 21 0xabc", "the HCA refused it");
	refuses(m, "vm detach host0 2", "no machine is in slot 2");
	refuses(m, "vm move host0 2 host1 1", "no machine is in slot 2");
	refuses(m, "vm move host0 1 host0 1", "the machine is there already");
	does(m, "vm attach host1 1 21");
	refuses(m, "vm move host0 1 host1 1", "another machine is in slot 1");
	does(m, "off host1");
	refuses(m, "vm move host0 1 host1 1", "the other host is off");
	refuses(m, "vm attach host1 1 22", "the HCA refused it");
	assert_string_equal(does(m, "vm list"),
			    "\"host0\" 1 lid 20 guid 0x0000000000000abc Init\n");
}

TEST(cables_inside_an_hca_stay)
{
	struct emu *m = *state;

	refuses(m, "unlink \"host0 VF1\"", "a link inside the HCA");
	refuses(m, "unlink host0[2]", "a link inside the HCA");
	refuses(m, "link host0[3] \"switch 0\"[4]", "a link inside the HCA");
	does(m, "unlink host0");
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_DOWN);
	assert_int_equal(state_of(m, "host0", 2), IBA_PORT_INIT);
	does(m, "relink host0");
	assert_int_equal(state_of(m, "host0", 1), IBA_PORT_INIT);
}

static uint64_t guid_at(struct emu *m, struct peer *p)
{
	struct ibsim_ctl msg = peer_ask(m, p, IBSIM_GET_NODE_INFO, "", 0);
	struct iba_node_info ni;

	iba_node_info_get(&ni, msg.data, sizeof(msg.data));
	return ni.port_guid;
}

TEST(places_of_programs)
{
	struct emu *m = *state;
	static const struct {
		const char *node;
		uint64_t node_guid; /* 0: the machine's */
	} places[] = {{"", 0x100}, {"host1", 0x110}, {"host0 VF2", 0x100}, {"0xabc", 0}};
	static const unsigned slots[] = {0, 0, 2, 0};
	struct peer p[ARRAY_LEN(places)];

	does(m, "vm attach host0 1 20 0xabc");
	for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
		assert_true(peer_join(m, &p[i], 1000 + i, places[i].node, false));
		assert_int_equal(guid_at(m, &p[i]),
				 places[i].node_guid
					 ? fab_function_guid(places[i].node_guid, slots[i])
					 : 0xabc);
	}
	for (unsigned i = 0; i < ARRAY_LEN(places); i++)
		peer_die(&p[i]);
}

static bool answers(struct emu *m, const struct peer *p, uint64_t tid)
{
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, tid, 0, NULL);
	struct ibsim_packet in;

	peer_send(p, &smp);
	emu_turn(m);
	emu_turn(m);
	return peer_recv(p, &in);
}

/* A program that was there before the machine belongs to it; then it goes where the machine goes. */
TEST(programs_follow_their_machine)
{
	struct emu *m = *state;
	struct peer p;

	assert_true(peer_join(m, &p, 1, "host0 VF1", false));
	assert_true(answers(m, &p, 1));
	does(m, "vm attach host0 1 20 0xabc");
	assert_int_equal(guid_at(m, &p), 0xabc);
	does(m, "vm move host0 1 host1 2");
	assert_int_equal(m->clients[p.client].port, port(m, "host1 VF2", 1));
	assert_int_equal(guid_at(m, &p), 0xabc);
	assert_true(answers(m, &p, 2));
	peer_die(&p);
}

/* A request that waits while the machine is nowhere is sent again where it is then. */
TEST(stopped_machine_is_silent)
{
	struct emu *m = *state;
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 9, 0, NULL);
	struct ibsim_packet in;
	struct peer p, other;

	does(m, "vm attach host0 1 20 0xabc");
	assert_true(peer_join(m, &p, 1, "host0 VF1", false));
	does(m, "vm detach host0 1");
	peer_send(&p, &smp);
	emu_turn(m);
	emu_turn(m);
	assert_false(peer_recv(&p, &in));
	does(m, "vm attach host0 1 21 0xdef"); /* another machine takes the VF */
	assert_true(peer_join(m, &other, 2, "0xdef", false));
	assert_false(answers(m, &p, 10));
	assert_true(answers(m, &other, 11));
	does(m, "vm attach host1 1 20 0xabc");
	assert_int_equal(m->clients[p.client].port, port(m, "host1 VF1", 1));
	emu_tick(m, emu_now(m) + PS_PER_S); /* both requests are sent again */
	emu_settle(m, emu_now(m) + PS_PER_S);
	emu_turn(m);
	assert_true(peer_recv(&p, &in));
	assert_true(peer_recv(&p, &in));
	peer_die(&p);
	peer_die(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(machines_are_set_by_hand, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_requests_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(cables_inside_an_hca_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(places_of_programs, setup, teardown),
		cmocka_unit_test_setup_teardown(programs_follow_their_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped_machine_is_silent, setup, teardown),
	};

	return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
