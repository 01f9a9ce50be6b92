/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of the emulator: which client gets which MAD, timeouts, dead clients, floods. The test plays the
 * clients on plain sockets, takes the emulator's turns one by one and sets the time of late packets.
 * Covers: clients.c, client_control.c, client_socket.c, mad_dispatch.c, node_query.c, socket_loop.c,
 * emu.c, emu_clock.c
 */
#include "emu_fixture.h"

static int setup(void **state)
{
	char name[48];

	snprintf(name, sizeof(name), "weft-test-%d", (int)getpid());
	*state = emu_make(name, 24);
	return 0;
}

static int teardown(void **state)
{
	emu_close(*state);
	return 0;
}

/* ---- joining ---- */

TEST(clients_attach_to_the_port_they_name)
{
	struct emu *m = *state;
	static const struct {
		const char *node;
		uint64_t port_guid;
	} places[] = {{"", 0x101},
		      {"host2", 0x121},
		      {"H-0000000000000110", 0x999},
		      {"0x110", 0x999},
		      {"host1[1]", 0x111},
		      {"switch 2", 0x202},
		      {"S-0000000000000200", 0x200}};
	struct peer p[ARRAY_LEN(places)];

	for (unsigned i = 0; i < ARRAY_LEN(places); i++) {
		struct ibsim_ctl msg;
		struct iba_node_info ni;
		struct iba_port_info pi;

		assert_true(peer_join(m, &p[i], 1000 + i, places[i].node, false));
		assert_int_equal(p[i].client, i);
		msg = peer_ask(m, &p[i], IBSIM_GET_NODE_INFO, "", 0);
		iba_node_info_get(&ni, msg.data, sizeof(msg.data));
		msg = peer_ask(m, &p[i], IBSIM_GET_PORT_INFO, "", 0);
		iba_port_info_get(&pi, msg.data, sizeof(msg.data));
		/* what libumad2sim makes of the two */
		assert_int_equal(ni.node_guid + pi.local_port, places[i].port_guid);
	}
	for (unsigned i = 0; i < ARRAY_LEN(places); i++)
		peer_die(&p[i]);
}

TEST(bad_connections_are_refused)
{
	struct emu *m = *state;
	struct strbuf out = {0};
	struct peer p[26], sm, other;
	struct ibsim_ctl msg;
	int32_t on = 1;

	assert_false(peer_join(m, &p[0], 1, "nobody", false));
	peer_die(&p[0]);
	assert_false(peer_join(m, &p[0], 1, "host0[7]", false));
	peer_die(&p[0]);
	assert_true(peer_join(m, &p[0], 1, "host1", false));
	p[0].client = 0;
	msg = peer_ask(m, &p[0], IBSIM_CONNECT,
		       &(struct ibsim_client_info){.id = 9, .is_sm = 1, .node = "host2"},
		       sizeof(struct ibsim_client_info)); /* no client reads there */
	assert_int_equal(msg.type, IBSIM_ERROR);
	assert_ptr_equal(m->ports->next, NULL); /* and nothing is left of it */
	peer_die(&p[0]);
	clients_probe(m);
	assert_int_equal(emu_command(m, "off host2", &out), 0);
	assert_false(peer_join(m, &p[0], 1, "host2", false));
	peer_die(&p[0]);
	assert_true(peer_join(m, &sm, 50, "host0", true));
	assert_false(peer_join(m, &other, 51, "host0", true)); /* one SM a port */
	peer_die(&other);
	assert_true(peer_join(m, &other, 52, "host0", false));
	msg = peer_ask(m, &other, IBSIM_SET_IS_SM, &on, sizeof(on));
	assert_int_equal(msg.type, IBSIM_ERROR);
	for (unsigned i = 0; i < 22; i++)
		assert_true(peer_join(m, &p[i], 100 + i, "", false));
	assert_false(peer_join(m, &p[22], 200, "", false)); /* 24 are there */
	peer_die(&p[22]);
	peer_die(&p[5]);
	clients_probe(m);
	assert_true(peer_join(m, &p[5], 201, "", false)); /* one is gone */
	assert_int_equal(p[5].client, 7);
	for (unsigned i = 0; i < 22; i++)
		peer_die(&p[i]);
	peer_die(&sm);
	peer_die(&other);
	strbuf_free(&out);
}

TEST(a_client_cannot_act_for_another)
{
	struct emu *m = *state;
	struct ibsim_ctl msg;
	struct peer a, b;

	assert_true(peer_join(m, &a, 1, "", false));
	assert_true(peer_join(m, &b, 2, "", false));
	b.client = a.client;
	msg = peer_ask(m, &b, IBSIM_GET_PORT, "", 0);
	assert_int_equal(msg.type, IBSIM_ERROR);
	peer_ask(m, &b, IBSIM_DISCONNECT, "", 0);
	assert_true(m->clients[a.client].used);
	/* nor does it connect in the place of another */
	msg = peer_ask(m, &b, IBSIM_CONNECT, &(struct ibsim_client_info){.id = 1},
		       sizeof(struct ibsim_client_info));
	assert_int_equal(msg.type, IBSIM_ERROR);
	assert_true(m->clients[a.client].used);
	peer_ask(m, &a, IBSIM_DISCONNECT, "", 0);
	assert_false(m->clients[a.client].used);
	peer_die(&a);
	peer_die(&b);
}

TEST(random_control_messages_do_no_harm)
{
	struct emu *m = *state;
	uint8_t junk[200];
	struct peer p;

	assert_true(peer_join(m, &p, 1, "", false));
	for (unsigned i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)(i * 37);
	for (unsigned len = 0; len < sizeof(junk); len += 7) {
		struct ibsim_ctl msg;

		assert_int_equal(send(p.ctl, junk, len, 0), len);
		emu_turn(m);
		assert_true(recv(p.ctl, &msg, sizeof(msg), MSG_DONTWAIT) < 0);
	}
	assert_int_equal(peer_ask(m, &p, 77, "", 0).type, IBSIM_ERROR);
	assert_int_equal(peer_ask(m, &p, IBSIM_GET_PORT, "", 0).type, IBSIM_GET_PORT);
	peer_die(&p);
}

/* ---- responses ---- */

TEST(each_client_gets_its_own_responses)
{
	struct emu *m = *state;
	static const uint8_t path[] = {1, 2};
	struct ibsim_packet in;
	struct iba_node_info ni;
	struct peer p[3];

	for (unsigned i = 0; i < 3; i++)
		assert_true(peer_join(m, &p[i], 10 + i, "host0", false));
	for (unsigned i = 0; i < 3; i++) { /* the same id, by chance */
		struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, ((uint64_t)i << 32) + 5, i, path);

		peer_send(&p[i], &smp);
	}
	emu_turn(m);
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t guid[] = {0x100, 0x200, 0x201};

		assert_true(peer_recv(&p[i], &in));
		assert_int_equal(in.status, 0);
		assert_int_equal(iba_smp_method(in.mad), IBA_GET_RESP);
		assert_int_equal(iba_smp_tid(in.mad), ((uint64_t)i << 32) + 5);
		iba_node_info_get(&ni, iba_smp_data(in.mad), 64);
		assert_int_equal(ni.node_guid, guid[i]);
		assert_false(peer_recv(&p[i], &in));
	}
	assert_int_equal(m->pend.n, 0);
	for (unsigned i = 0; i < 3; i++)
		peer_die(&p[i]);
}

TEST(unanswered_requests_are_returned_as_timed_out)
{
	struct emu *m = *state;
	static const uint8_t nowhere[] = {1, 4}; /* a port without a cable */
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 5, 2, nowhere);
	struct ibsim_packet in;
	struct peer p;
	time_ps now;

	assert_true(peer_join(m, &p, 10, "host0", false));
	peer_send(&p, &smp);
	emu_turn(m);
	assert_int_equal(m->pend.n, 1);
	now = m->pend.at.at[0].since;
	for (unsigned i = 1; i <= 3; i++) {
		deliver_late(m, now + 199 * PS_PER_MS);
		assert_int_equal(m->stats.repeats, i - 1);
		deliver_late(m, now += 200 * PS_PER_MS);
		assert_int_equal(m->stats.repeats, i);
	}
	emu_turn(m);
	assert_false(peer_recv(&p, &in));
	deliver_late(m, now + 200 * PS_PER_MS);
	emu_turn(m);
	assert_true(peer_recv(&p, &in));
	assert_int_equal(ntohl(in.status), 110);
	assert_memory_equal(in.mad, smp.mad, IBA_MAD_SIZE);
	assert_int_equal(m->pend.n, 0);
	peer_die(&p);
}

/* The emulator did not run for a while: a response that was due meanwhile is no reason to repeat the request. */
TEST(a_response_that_is_due_is_delivered_before_requests_are_repeated)
{
	struct emu *m = *state;
	static const uint8_t path[] = {1};
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 5, 1, path);
	struct ibsim_packet in;
	struct peer p;

	assert_true(peer_join(m, &p, 10, "host0", false));
	does(m, "latency host0[1] 30s");
	peer_send(&p, &smp);
	emu_turn(m);
	assert_int_equal(m->pend.n, 1);
	emu_tick(m, m->pend.at.at[0].since + 100 * PS_PER_S);
	assert_int_equal(m->stats.repeats, 0);
	assert_int_equal(m->pend.n, 0);
	wire_flush(m);
	assert_true(peer_recv(&p, &in));
	assert_int_equal(iba_smp_method(in.mad), IBA_GET_RESP);
	peer_die(&p);
}

TEST(clients_can_set_their_timeout)
{
	struct emu *m = *state;
	static const uint8_t nowhere[] = {1, 4};
	static const uint32_t never[2] = {0, 0};
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 5, 2, nowhere);
	struct ibsim_packet in;
	struct peer p;

	assert_true(peer_join(m, &p, 10, "host0", false));
	assert_int_equal(peer_ask(m, &p, IBSIM_SET_TIMEOUT, never, sizeof(never)).type,
			 IBSIM_SET_TIMEOUT);
	for (unsigned i = 0; i < EMU_PENDING_MAX + 100; i++) {
		iba_smp_set_tid(smp.mad, i + 1);
		peer_send(&p, &smp);
		emu_turn(m);
	}
	deliver_late(m, emu_now(m) + 100 * PS_PER_S);
	emu_turn(m);
	assert_false(peer_recv(&p, &in));
	assert_int_equal(m->pend.n, EMU_PENDING_MAX); /* the oldest were forgotten */
	assert_int_equal(m->stats.repeats + m->stats.timeouts, 0);
	peer_die(&p);
}

/* ---- MADs without a request ---- */

static void deliver(struct emu *m, const struct peer *at, const struct sim_smp *smp)
{
	struct emu_port *h = m->ports;

	while (h->port != m->clients[at->client].port)
		h = h->next;
	deliver_to_port(h, smp);
	wire_flush(m);
}

static struct sim_smp gmp(unsigned cls, unsigned method, uint64_t tid)
{
	struct sim_smp smp = {.slid = 3, .dlid = 1};

	iba_smp_init(smp.mad, (enum iba_class)cls, (enum iba_method)method, 0x11, 0);
	iba_smp_set_tid(smp.mad, tid);
	return smp;
}

TEST(requests_go_to_the_client_that_serves_the_class)
{
	struct emu *m = *state;
	struct sim_smp trap = gmp(0x01, IBA_TRAP, 1), sa = gmp(0x03, 0x12, 2),
		       ping = gmp(0x32, IBA_GET, 3), report = gmp(0x03, IBA_REPORT, 4),
		       asked = gmp(0x03, IBA_SET, 9), pong = gmp(0x32, IBA_GET_RESP, 3);
	struct peer sm, server, tool;
	struct ibsim_packet in;

	assert_true(peer_join(m, &sm, 10, "host0", true));
	assert_true(peer_join(m, &server, 11, "host0", false));
	assert_true(peer_join(m, &tool, 12, "host0", false));
	peer_send(&tool, &asked);
	emu_turn(m);
	deliver(m, &sm, &trap);
	assert_true(peer_recv(&sm, &in));
	deliver(m, &sm, &sa);
	assert_true(peer_recv(&sm, &in));
	assert_int_equal(ntohl(in.sqp), 1);
	assert_int_equal(ntohs((uint16_t)in.slid), 3);

	/* A client that has just connected may be about to send: it gets no request. */
	m->clients[server.client].since = emu_now(m);
	deliver(m, &sm, &ping);
	assert_false(peer_recv(&server, &in));
	m->clients[server.client].since -= PS_PER_S;
	deliver(m, &sm, &ping);
	assert_true(peer_recv(&server, &in));
	assert_false(peer_recv(&tool, &in));
	assert_false(peer_recv(&sm, &in));
	peer_send(&server, &pong); /* now it is known for it */
	emu_turn(m);
	deliver(m, &sm, &ping);
	assert_true(peer_recv(&server, &in));

	deliver(m, &sm, &report); /* to the client that uses the SA and is not the SM */
	assert_true(peer_recv(&tool, &in));
	assert_false(peer_recv(&sm, &in));
	peer_die(&sm);
	peer_die(&server);
	peer_die(&tool);
}

/* A library that knows what its program registered need not be guessed at. */
TEST(a_client_that_declares_a_class_gets_its_requests)
{
	struct emu *m = *state;
	static const uint32_t yes[2] = {0x32, 1}, no[2] = {0x32, 0}, what[2] = {0x100, 1};
	struct sim_smp ping = gmp(0x32, IBA_GET, 3), asked = gmp(0x03, IBA_SET, 9);
	struct peer server, tool;
	struct ibsim_packet in;

	assert_true(peer_join(m, &server, 11, "host0", false));
	assert_true(peer_join(m, &tool, 12, "host0", false));
	m->clients[tool.client].since -= PS_PER_S;
	peer_send(&server, &asked); /* neither silent nor known for an answer */
	emu_turn(m);
	assert_int_equal(peer_ask(m, &server, IBSIM_SET_SERVES, yes, sizeof(yes)).type,
			 IBSIM_SET_SERVES);
	assert_int_equal(peer_ask(m, &server, IBSIM_SET_SERVES, what, sizeof(what)).type,
			 IBSIM_ERROR);
	deliver(m, &server, &ping);
	assert_true(peer_recv(&server, &in));
	assert_false(peer_recv(&tool, &in));
	assert_int_equal(peer_ask(m, &server, IBSIM_SET_SERVES, no, sizeof(no)).type,
			 IBSIM_SET_SERVES);
	deliver(m, &server, &ping);
	assert_false(peer_recv(&server, &in));
	peer_die(&server);
	peer_die(&tool);
}

/* The class of mirrors: not to a silent client, which may not survive it; the server says that it knows the class. */
TEST(requests_between_managers_go_to_managers)
{
	struct emu *m = *state;
	static const uint32_t yes[3] = {IBA_CLASS_MIRROR, 1, 0};
	struct sim_smp ask = gmp(IBA_CLASS_MIRROR, IBA_GET, 3);
	struct peer sm, silent;
	struct ibsim_packet in;
	struct ibsim_ctl c;
	uint32_t back[3];

	assert_true(peer_join(m, &sm, 11, "host0", true));
	assert_true(peer_join(m, &silent, 12, "host0", false));
	m->clients[silent.client].since -= PS_PER_S;
	deliver(m, &sm, &ask);
	assert_false(peer_recv(&silent, &in));
	assert_false(peer_recv(&sm, &in));
	c = peer_ask(m, &sm, IBSIM_SET_SERVES, yes, sizeof(yes));
	memcpy(back, c.data, sizeof(back));
	assert_int_equal(back[2], IBSIM_SERVES);
	deliver(m, &sm, &ask);
	assert_true(peer_recv(&sm, &in));
	assert_int_equal(ntohl(in.dqp), 1);
	assert_false(peer_recv(&silent, &in));
	peer_die(&sm);
	peer_die(&silent);
}

/* OpenSM sends traps of its own; a kernel takes TrapRepress for their response, and misses it in time. */
TEST(a_trap_is_repeated_until_repressed)
{
	struct emu *m = *state;
	struct sim_smp trap = gmp(0x01, IBA_TRAP, 7), repress = gmp(0x01, IBA_TRAP_REPRESS, 7);
	struct ibsim_packet in;
	struct peer p;

	assert_true(peer_join(m, &p, 10, "host0", true));
	peer_send(&p, &trap);
	emu_turn(m);
	assert_int_equal(m->pend.n, 1);
	deliver(m, &p, &repress);
	assert_true(peer_recv(&p, &in));
	assert_int_equal(in.mad[3], IBA_TRAP_REPRESS);
	assert_int_equal(m->pend.n, 0);
	peer_send(&p, &trap);
	emu_turn(m);
	for (unsigned i = 0; i < 10; i++)
		deliver_late(m, emu_now(m) + (i + 1) * PS_PER_S);
	wire_flush(m);
	assert_true(peer_recv(&p, &in));
	assert_int_equal(ntohl(in.status), 110);
	assert_int_equal(m->pend.n, 0);
	peer_die(&p);
}

TEST(rmpp_segments_go_to_the_requester)
{
	struct emu *m = *state;
	struct sim_smp ask = gmp(0x03, 0x12, 7), part = gmp(0x03, 0x92, 7);
	struct ibsim_packet in;
	struct peer p;

	assert_true(peer_join(m, &p, 11, "host0", false));
	peer_send(&p, &ask);
	emu_turn(m);
	part.mad[25] = 1;
	for (unsigned i = 1; i <= 3; i++) {
		part.mad[26] = (uint8_t)(1 | (i == 1 ? 2 : 0) |
					 (i == 3 ? 4 : 0)); /* active, first, last */
		part.mad[31] = (uint8_t)i;
		deliver(m, &p, &part);
		assert_true(peer_recv(&p, &in));
		assert_int_equal(in.mad[31], i);
		assert_int_equal(m->pend.n, i < 3);
	}
	deliver(m, &p, &part);
	assert_false(peer_recv(&p, &in));
	peer_die(&p);
}

/* ---- bad company ---- */

TEST(dead_clients_are_detached)
{
	struct emu *m = *state;
	struct sim_smp trap = gmp(0x01, IBA_TRAP, 1);
	port_id at;
	struct peer p;

	assert_true(peer_join(m, &p, 10, "host0", true));
	at = m->clients[p.client].port;
	assert_true(sim_port_info(m->sim, at)->cap_mask & IBA_CAP_IS_SM);
	clients_probe(m);
	assert_true(m->clients[p.client].used);
	peer_die(&p);
	deliver(m, &p, &trap);
	assert_false(m->clients[p.client].used);
	assert_false(sim_port_info(m->sim, at)->cap_mask & IBA_CAP_IS_SM);
	assert_null(m->ports);
}

/* A manager is killed and started again before the emulator has noticed: both ways to become the port's SM are open. */
TEST(a_killed_sm_leaves_its_place_at_once)
{
	struct emu *m = *state;
	struct peer killed, again, last;
	struct ibsim_ctl msg;
	int32_t on = 1;
	port_id at;

	assert_true(peer_join(m, &killed, 10, "host0", true));
	peer_die(&killed);
	assert_true(peer_join(m, &again, 11, "host0", true));
	assert_true(m->clients[again.client].is_sm);
	peer_die(&again);
	assert_true(peer_join(m, &last, 12, "host0", false));
	msg = peer_ask(m, &last, IBSIM_SET_IS_SM, &on, sizeof(on));
	assert_int_equal(msg.type, IBSIM_SET_IS_SM);
	assert_true(m->clients[last.client].is_sm);
	at = m->clients[last.client].port;
	assert_true(sim_port_info(m->sim, at)->cap_mask & IBA_CAP_IS_SM);
	for (uint32_t c = 0; c < m->cfg.clients; c++)
		assert_true(m->clients[c].used == (c == last.client));
	peer_die(&last);
}

TEST(a_client_that_reconnects_counts_once)
{
	struct emu *m = *state;
	struct peer p;

	assert_true(peer_join(m, &p, 10, "host0", true));
	peer_die(&p);
	assert_true(peer_join(m, &p, 10, "host2", false)); /* before the emulator noticed */
	assert_int_equal(p.client, 0);
	assert_int_equal(m->fab->ports[m->clients[0].port].guid, 0x121);
	assert_false(m->clients[0].is_sm);
	assert_int_equal(m->stats.connects, 2);
	peer_die(&p);
}

/* One asks without ever reading; the other is served all the same, and the first gets what fits. */
TEST(a_client_that_does_not_read_loses_packets)
{
	struct emu *m = *state;
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 1, 0, NULL);
	struct peer deaf, kind;
	struct ibsim_packet in;

	assert_true(peer_join(m, &deaf, 10, "host0", false));
	assert_true(peer_join(m, &kind, 11, "host0", false));
	for (unsigned i = 0; i < EMU_QUEUE_MAX + 200; i++) {
		iba_smp_set_tid(smp.mad, i + 1);
		peer_send(&deaf, &smp);
		if (i % 64 == 0)
			peer_send(&kind, &smp);
		emu_turn(m);
		if (i % 64 == 0)
			assert_true(peer_recv(&kind, &in));
	}
	assert_true(m->clients[deaf.client].lost > 0);
	assert_int_equal(m->clients[kind.client].lost, 0);
	for (uint64_t tid = 1; tid <= EMU_QUEUE_MAX; tid++) { /* in order, when it reads at last */
		while (!peer_recv(&deaf, &in))
			emu_turn(m);
		assert_int_equal(iba_smp_tid(in.mad), tid);
	}
	peer_die(&deaf);
	peer_die(&kind);
}

/* As much as the socket holds, turn by turn: another client is served in the same turn. */
TEST(a_flooding_client_gets_its_share_only)
{
	struct emu *m = *state;
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 1, 0, NULL);
	struct peer flood, kind;
	struct ibsim_packet out = {.dlid = 0xffff, .slid = 0xffff}, in;

	assert_true(peer_join(m, &flood, 10, "host0", false));
	assert_true(peer_join(m, &kind, 11, "host0", false));
	memcpy(out.mad, smp.mad, IBA_MAD_SIZE);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t before = m->clients[flood.client].mads_in;

		while (send(flood.data, &out, sizeof(out), MSG_DONTWAIT) > 0)
			;
		peer_send(&kind, &smp);
		emu_turn(m);
		assert_true(peer_recv(&kind, &in));
		assert_in_range(m->clients[flood.client].mads_in - before, 1, EMU_BATCH);
		while (peer_recv(&flood, &in))
			;
	}
	peer_die(&flood);
	peer_die(&kind);
}

TEST(random_packets_do_no_harm)
{
	struct emu *m = *state;
	struct ibsim_packet junk;
	struct sim_smp smp = smp_get(IBA_ATTR_NODE_INFO, 99, 0, NULL);
	struct ibsim_packet in;
	struct peer p;
	unsigned x = 1;

	assert_true(peer_join(m, &p, 10, "host0", false));
	for (unsigned i = 0; i < 3000; i++) {
		for (unsigned b = 0; b < sizeof(junk); b++)
			((uint8_t *)&junk)[b] = (uint8_t)((x = x * 1103515245 + 12345) >> 16);
		junk.mad[1] = (uint8_t[]){0x81, 0x01, 0x03, 0x04, 0x32, junk.mad[1]}[i % 6];
		assert_true(send(p.data, &junk, i % 50 ? sizeof(junk) : i / 11, 0) >= 0);
		emu_turn(m);
		while (peer_recv(&p, &in))
			emu_turn(m);
	}
	assert_true(m->stats.bad_packets > 0);
	peer_send(&p, &smp);
	emu_turn(m);
	do
		assert_true(peer_recv(&p, &in));
	while (iba_smp_tid(in.mad) != 99);
	peer_die(&p);
}

int main(void)
{
#define EMU_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		EMU_TEST(clients_attach_to_the_port_they_name),
		EMU_TEST(bad_connections_are_refused),
		EMU_TEST(a_client_cannot_act_for_another),
		EMU_TEST(random_control_messages_do_no_harm),
		EMU_TEST(each_client_gets_its_own_responses),
		EMU_TEST(unanswered_requests_are_returned_as_timed_out),
		EMU_TEST(a_response_that_is_due_is_delivered_before_requests_are_repeated),
		EMU_TEST(clients_can_set_their_timeout),
		EMU_TEST(requests_go_to_the_client_that_serves_the_class),
		EMU_TEST(a_client_that_declares_a_class_gets_its_requests),
		EMU_TEST(requests_between_managers_go_to_managers),
		EMU_TEST(a_trap_is_repeated_until_repressed),
		EMU_TEST(rmpp_segments_go_to_the_requester),
		EMU_TEST(dead_clients_are_detached),
		EMU_TEST(a_killed_sm_leaves_its_place_at_once),
		EMU_TEST(a_client_that_reconnects_counts_once),
		EMU_TEST(a_client_that_does_not_read_loses_packets),
		EMU_TEST(a_flooding_client_gets_its_share_only),
		EMU_TEST(random_packets_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
