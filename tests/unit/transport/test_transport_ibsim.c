/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client of ibsim's protocol against a server on a thread that answers, refuses, is silent, does not
 * read, or goes away.
 * Covers: transport_ibsim.c, transport.c, ibsim_address.c, socket_owner.c
 */
#include "unit_test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport/ibsim.h"
#include "transport/transport.h"

enum manner { ANSWERS, REFUSES, SILENT, UNTERMINATED };

enum { STRANGER = 65534 };

struct server {
	enum manner manner;
	bool stranger;	 /* serves as another user */
	bool whole, udp; /* addresses of the whole struct's length; UDP instead */
	int ctl, out;
	char name[32];
	unsigned udp_port;
	pthread_t thread;
	atomic_bool stop;
	atomic_int is_sm, disconnects;
	struct ibsim_client_info client;
};

/* ---- the server ---- */

static socklen_t unix_name(const struct server *s, struct sockaddr_un *a, const char *fmt, int n)
{
	char what[32];

	snprintf(what, sizeof(what), fmt, n);
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s", s->name, what);
	return s->whole ? sizeof(*a)
			: (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 2 + (size_t)n);
}

static int unix_socket(const struct server *s, const char *fmt, int n)
{
	struct sockaddr_un a;
	socklen_t len = unix_name(s, &a, fmt, n);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	return fd;
}

static int udp_socket(unsigned port, unsigned *got)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	if (bind(fd, (struct sockaddr *)&a, len)) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&a, &len);
	*got = ntohs(a.sin_port);
	return fd;
}

/* The client's packets come to `out`, and go back from it. */
static void attach(struct server *s, const struct sockaddr_in *from)
{
	struct sockaddr_un a;
	struct sockaddr_in in = *from;
	socklen_t len = unix_name(s, &a, "in%d", (int)s->client.id);

	in.sin_port = htons((uint16_t)s->client.id);
	assert_int_equal(s->udp ? connect(s->out, (struct sockaddr *)&in, sizeof(in))
				: connect(s->out, (struct sockaddr *)&a, len),
			 0);
}

static void answer(struct server *s)
{
	struct iba_node_info ni = {
		.node_type = IBA_NODE_CA, .num_ports = 2, .node_guid = 0x1000, .local_port = 1};
	struct iba_port_info pi = {.local_port = 1};
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
	} from;
	socklen_t len = sizeof(from);
	struct ibsim_ctl c;

	if (recvfrom(s->ctl, &c, sizeof(c), 0, &from.any, &len) != (ssize_t)sizeof(c) ||
	    s->manner == SILENT)
		return;
	if (s->manner == REFUSES) {
		c.type = IBSIM_ERROR;
	} else if (c.type == IBSIM_CONNECT) {
		memcpy(&s->client, c.data, sizeof(s->client));
		attach(s, &from.in);
		memcpy(c.data, &(struct ibsim_client_info){.id = 0, .node = "H-1"},
		       sizeof(s->client));
		if (s->manner == UNTERMINATED)
			memset(c.data + offsetof(struct ibsim_client_info, node), 'A',
			       sizeof(s->client.node));
	} else if (s->manner == UNTERMINATED) {
		c.type = IBSIM_ERROR;
	} else if (c.type == IBSIM_GET_NODE_INFO) {
		iba_node_info_put(&ni, c.data);
	} else if (c.type == IBSIM_GET_PORT_INFO) {
		iba_port_info_put(&pi, c.data);
	} else if (c.type == IBSIM_SET_IS_SM) {
		s->is_sm = c.data[0];
	} else if (c.type == IBSIM_DISCONNECT) {
		s->disconnects++;
	}
	assert_int_equal(sendto(s->ctl, &c, sizeof(c), 0, &from.any, len), sizeof(c));
}

static void *serve(void *arg)
{
	struct server *s = arg;

	/* The system call, unlike the function, concerns this thread alone. */
	if (s->stranger)
		assert_int_equal(syscall(SYS_setresuid, STRANGER, STRANGER, STRANGER), 0);
	while (!s->stop) {
		struct pollfd p = {.fd = s->ctl, .events = POLLIN};

		if (poll(&p, 1, 5) > 0)
			answer(s);
	}
	return NULL;
}

static void start_as(struct server *s, enum manner m, bool whole, bool udp, bool stranger)
{
	static unsigned n;

	*s = (struct server){.manner = m, .whole = whole, .udp = udp, .stranger = stranger};
	snprintf(s->name, sizeof(s->name), "t%d-%u", (int)getpid(), n++);
	if (udp) {
		unsigned next;

		do {
			s->ctl = udp_socket(0, &s->udp_port);
			s->out = udp_socket(s->udp_port + 1, &next);
		} while (s->out < 0 && close(s->ctl) == 0);
		snprintf(s->name, sizeof(s->name), "127.0.0.1:%u", s->udp_port);
	} else {
		s->ctl = unix_socket(s, "ctl", 0);
		s->out = unix_socket(s, "out%d", 0);
	}
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void start(struct server *s, enum manner m, bool whole, bool udp)
{
	start_as(s, m, whole, udp, false);
}

static void stop(struct server *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
	close(s->ctl);
	close(s->out);
}

static struct tp *open_at(const struct server *s, const char *node)
{
	struct tp_where w = {0};
	struct tp *t;
	struct err e;

	snprintf(w.server, sizeof(w.server), "%s", s->name);
	snprintf(w.device, sizeof(w.device), "%s", node);
	assert_int_equal(tp_open(&t, "ibsim", &w, &e), 0);
	return t;
}

static int fails_at(const char *server, struct err *e)
{
	struct tp_where w = {0};
	struct tp *t;
	int rc;

	snprintf(w.server, sizeof(w.server), "%s", server);
	rc = tp_open(&t, "ibsim", &w, e);
	assert_null(t);
	return rc;
}

static struct tp_mad request(unsigned tid)
{
	struct tp_mad m = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(m.mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_NODE_INFO, 0);
	iba_smp_set_tid(m.mad, tid);
	return m;
}

/* What the client sent comes back as an answer, with the upper half of the id as ibsim's server does it. */
static unsigned echo(struct server *s, uint32_t status)
{
	struct ibsim_packet p;
	unsigned n = 0;

	while (n < 16 && recv(s->out, &p, sizeof(p), 0) == (ssize_t)sizeof(p)) {
		if (!status)
			iba_smp_set_method(p.mad, IBA_GET_RESP);
		iba_smp_set_tid(p.mad, iba_smp_tid(p.mad) | 7ull << 48);
		p.status = htonl(status);
		assert_int_equal(send(s->out, &p, sizeof(p), 0), sizeof(p));
		n++;
	}
	return n;
}

/* Datagrams on the loopback are there at once; the thread of the server may be slow. */
static int recv_all(struct tp *t, struct tp_mad *m, unsigned want)
{
	int n = 0, rc = 0;

	for (unsigned tries = 0; n < (int)want && tries < 1000 && rc >= 0; tries++) {
		rc = tp_recv(t, m + n, 64);
		n += MAX(rc, 0);
		if (!rc)
			usleep(1000);
	}
	return rc < 0 ? rc : n;
}

/* ---- the tests ---- */

static void there_and_back(struct server *s)
{
	struct tp *t = open_at(s, "H-1");
	struct tp_mad m[64] = {request(1), request(0xfffffff0), request(3)};
	struct tp_info i;

	tp_info(t, &i);
	assert_int_equal(i.node_guid, 0x1000);
	assert_int_equal(i.port, 1);
	assert_int_equal(i.port_guid, 0x1001);
	assert_non_null(strstr(i.name, "H-1"));
	assert_string_equal(s->client.node, "H-1");
	assert_int_equal(tp_recv(t, m + 3, 4), 0);
	assert_int_equal(tp_send(t, m, 3), 3);
	usleep(s->udp ? 1000 : 0);
	assert_int_equal(echo(s, 0), 3);
	assert_int_equal(recv_all(t, m, 3), 3);
	assert_int_equal(iba_smp_tid(m[0].mad), 1);
	assert_int_equal(iba_smp_tid(m[1].mad), 0xfffffff0);
	assert_int_equal(iba_smp_method(m[2].mad), IBA_GET_RESP);
	assert_int_equal(m[2].dlid, IBA_LID_PERMISSIVE);
	assert_int_equal(tp_set_is_sm(t, true), 0);
	assert_int_equal(s->is_sm, 1);
	assert_int_equal(tp_set_is_sm(t, false), 0);
	assert_int_equal(s->is_sm, 0);
	tp_close(t);
	assert_int_equal(s->disconnects, 1);
	stop(s);
}

TEST(mads_are_sent_and_received)
{
	struct server s;

	start(&s, ANSWERS, false, false);
	there_and_back(&s);
}

TEST(padded_addresses_of_old_servers_are_accepted)
{
	struct server s;

	start(&s, ANSWERS, true, false);
	there_and_back(&s);
}

TEST(udp_works_too)
{
	struct server s;

	start(&s, ANSWERS, false, true);
	there_and_back(&s);
}

TEST(a_missing_server_is_reported_at_once)
{
	struct err e;

	assert_int_equal(fails_at("nobody-here", &e), -ECONNREFUSED);
	assert_non_null(strstr(e.text, "nobody-here"));
	assert_int_equal(fails_at("no-such-host-anywhere.invalid:7070", &e), -EINVAL);
}

TEST(a_refused_connection_is_reported)
{
	struct server s;
	struct err e;

	start(&s, REFUSES, false, false);
	assert_int_equal(fails_at(s.name, &e), -EACCES);
	assert_non_null(strstr(e.text, "refused"));
	stop(&s);
}

/* Without a device, a daemon must not look for a server that any local user may run. */
TEST(an_emulator_is_used_only_on_request)
{
	struct tp_where w = {0};
	struct server s;
	struct tp *t;
	struct err e;

	unsetenv("IBSIM_SOCKNAME");
	unsetenv("IBSIM_SERVER_NAME");
	if (access("/sys/class/infiniband", F_OK)) {
		assert_int_equal(tp_open(&t, "", &w, &e), -ENODEV);
		assert_non_null(strstr(e.text, "no InfiniBand device on this machine"));
		assert_non_null(strstr(e.text, "only on request"));
	}
	start(&s, ANSWERS, false, false);
	setenv("IBSIM_SOCKNAME", s.name, 1);
	assert_true(tp_find("ibsim")->is_present(&w));
	unsetenv("IBSIM_SOCKNAME");
	snprintf(w.server, sizeof(w.server), "%s", s.name);
	assert_int_equal(tp_open(&t, "", &w, &e), 0);
	tp_close(t);
	stop(&s);
}

/* 32 bytes without an end: they were printed up to the next zero on the stack. */
TEST(a_node_name_without_end_is_cut)
{
	struct server s;
	struct err e;

	start(&s, UNTERMINATED, false, false);
	assert_int_equal(fails_at(s.name, &e), -EACCES);
	assert_non_null(strstr(e.text, "'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'"));
	stop(&s);
}

TEST(a_server_of_another_user_is_refused)
{
	struct server s;
	struct err e;

	if (geteuid()) {
		print_message("skipped: only root can serve as another user\n");
		skip();
	}
	start_as(&s, ANSWERS, false, false, true);
	assert_int_equal(fails_at(s.name, &e), -EPERM);
	assert_non_null(strstr(e.text, "user 65534 serves socket"));
	stop(&s);
}

static void *send_as_stranger(void *arg)
{
	struct server *s = arg;
	struct ibsim_packet p = {.slid = htons(9), .dlid = htons(1)};

	iba_smp_init(p.mad, IBA_CLASS_SUBN_LID, IBA_SET, IBA_ATTR_SM_INFO, 0);
	assert_int_equal(syscall(SYS_setresuid, STRANGER, STRANGER, STRANGER), 0);
	assert_int_equal(send(s->out, &p, sizeof(p), 0), sizeof(p));
	return NULL;
}

TEST(packets_of_another_user_are_ignored)
{
	struct tp_mad m[8] = {request(5)};
	struct server s;
	pthread_t stranger;
	struct tp *t;

	if (geteuid()) {
		print_message("skipped: only root can send as another user\n");
		skip();
	}
	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	assert_int_equal(pthread_create(&stranger, NULL, send_as_stranger, &s), 0);
	pthread_join(stranger, NULL);
	assert_int_equal(tp_send(t, m, 1), 1);
	assert_int_equal(echo(&s, 0), 1);
	assert_int_equal(recv_all(t, m, 1), 1);
	assert_int_equal(iba_smp_tid(m[0].mad), 5);
	tp_close(t);
	stop(&s);
}

TEST(a_silent_server_does_not_block)
{
	struct server s;
	struct err e;

	start(&s, SILENT, false, false);
	assert_int_equal(fails_at(s.name, &e), -ETIMEDOUT);
	assert_non_null(strstr(e.text, "does not respond"));
	stop(&s);
}

/* A socket holds so much and no more: what does not fit is offered again, nothing waits. */
TEST(a_full_queue_takes_what_fits)
{
	enum { MANY = 4096 };
	struct tp_mad *m = mem_array(MANY, sizeof(*m)), in[64];
	struct server s;
	struct tp *t;
	unsigned sent = 0, answered = 0;
	int rc;

	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	for (unsigned i = 0; i < MANY; i++)
		m[i] = request(i);
	rc = tp_send(t, m, MANY);
	assert_in_range(rc, 1, MANY - 1);
	sent = (unsigned)rc;
	while (answered < MANY) {
		int n;

		echo(&s, 0);
		sent += (unsigned)tp_send(t, m + sent, MANY - sent);
		n = tp_recv(t, in, 64);
		for (int i = 0; i < n; i++)
			assert_int_equal(iba_smp_tid(in[i].mad), answered++);
	}
	tp_close(t);
	stop(&s);
	free(m);
}

TEST(bad_packets_are_ignored)
{
	struct tp_mad m[8] = {request(5)};
	struct server s;
	struct tp *t;

	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	assert_int_equal(tp_send(t, m, 1), 1);
	assert_int_equal(echo(&s, 110), 1); /* it found no way */
	assert_int_equal(send(s.out, "short", 5, 0), 5);
	assert_int_equal(send(s.out, "", 0, 0), 0);
	assert_int_equal(recv_all(t, m, 1), 1);
	assert_true(m[0].lost);
	assert_int_equal(iba_smp_tid(m[0].mad), 5);
	assert_int_equal(tp_recv(t, m, 8), 0);
	m[0] = request(6);
	assert_int_equal(tp_send(t, m, 1), 1);
	assert_int_equal(echo(&s, 0), 1);
	assert_int_equal(recv_all(t, m, 1), 1);
	assert_int_equal(iba_smp_tid(m[0].mad), 6);
	assert_false(m[0].lost);
	tp_close(t);
	stop(&s);
}

/* A request of another node keeps its transaction id, or its response could not be matched. */
TEST(transaction_ids_of_other_requesters_are_kept)
{
	struct ibsim_packet p = {.slid = htons(9), .dlid = htons(1)};
	struct tp_mad m[8];
	struct server s;
	struct tp *t;

	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	iba_smp_init(p.mad, IBA_CLASS_SUBN_LID, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_tid(p.mad, 0x0003000011112222);
	assert_int_equal(send(s.out, &p, sizeof(p), 0), sizeof(p));
	assert_int_equal(recv_all(t, m, 1), 1);
	assert_int_equal(iba_smp_tid(m[0].mad), 0x0003000011112222);
	assert_int_equal(m[0].slid, 9);
	tp_close(t);
	stop(&s);
}

TEST(a_lost_server_is_noticed)
{
	struct tp_mad m[8] = {request(5)};
	struct server s;
	struct tp *t;
	int rc = 0;

	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	stop(&s);
	assert_int_equal(tp_send(t, m, 1), -ENOTCONN);
	assert_int_equal(tp_recv(t, m, 8), -ENOTCONN);
	assert_int_equal(tp_send(t, m, 1), -ENOTCONN);
	tp_close(t);
	/* Also by one that only listens. */
	start(&s, ANSWERS, false, false);
	t = open_at(&s, "");
	assert_int_equal(tp_recv(t, m, 8), 0);
	stop(&s);
	for (unsigned tries = 0; tries < 10000 && !rc; tries++, usleep(1000))
		rc = tp_recv(t, m, 8);
	assert_int_equal(rc, -ENOTCONN);
	tp_close(t);
}

TEST(two_connections_of_one_process)
{
	struct server a, b;
	struct tp *t, *u;

	start(&a, ANSWERS, false, false);
	t = open_at(&a, "");
	b = a; /* the same server, asked twice: only the ids matter here */
	u = open_at(&b, "");
	assert_int_not_equal(tp_fd(t), tp_fd(u));
	tp_close(t);
	tp_close(u);
	stop(&a);
}

TEST(transports_have_names)
{
	struct tp_where w = {0};
	struct err e;
	struct tp *t;

	assert_ptr_equal(tp_find("ibsim"), &tp_ibsim);
	assert_ptr_equal(tp_find("umad"), &tp_umad);
	assert_null(tp_find("pigeon"));
	assert_int_equal(tp_open(&t, "pigeon", &w, &e), -EINVAL);
	assert_non_null(strstr(e.text, "pigeon"));
	snprintf(w.device, sizeof(w.device), "no-such-device0");
	assert_int_equal(tp_open(&t, "umad", &w, &e), -ENODEV);
	assert_non_null(strstr(e.text, "device"));
	tp_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mads_are_sent_and_received),
		cmocka_unit_test(padded_addresses_of_old_servers_are_accepted),
		cmocka_unit_test(udp_works_too),
		cmocka_unit_test(a_missing_server_is_reported_at_once),
		cmocka_unit_test(a_refused_connection_is_reported),
		cmocka_unit_test(an_emulator_is_used_only_on_request),
		cmocka_unit_test(a_node_name_without_end_is_cut),
		cmocka_unit_test(a_server_of_another_user_is_refused),
		cmocka_unit_test(packets_of_another_user_are_ignored),
		cmocka_unit_test(a_silent_server_does_not_block),
		cmocka_unit_test(a_full_queue_takes_what_fits),
		cmocka_unit_test(bad_packets_are_ignored),
		cmocka_unit_test(transaction_ids_of_other_requesters_are_kept),
		cmocka_unit_test(a_lost_server_is_noticed),
		cmocka_unit_test(two_connections_of_one_process),
		cmocka_unit_test(transports_have_names),
	};

	unsetenv("IBSIM_SERVER_NAME");
	unsetenv("IBSIM_SOCKNAME");
	unsetenv("SIM_HOST");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
