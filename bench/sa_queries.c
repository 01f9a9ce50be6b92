/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time that subnet administration takes for a request, without sockets: sa-bench [ARITY] [LEVELS] [QUERIES]. One line of
 * JSON: microseconds for one PathRecord by Get, for a table of paths from one port to all, for a table of all NodeRecords.
 * Beside them what the least server takes for a packet of the fabric's size over the same kind of sockets: wait, receive,
 * send back, for a client with one packet outstanding and for one with 32. Keeps no state; the subnet is simulated.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "iba/rmpp.h"
#include "lab/lab.h"
#include "sa/sa.h"

struct bench {
	struct fab *fab;
	struct lab *lab;
	struct sa *sa;
	uint64_t tid;
	uint64_t records; /* so that nothing is left out */
	VEC(uint64_t) hosts;
};

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void gid_put(uint8_t gid[16], uint64_t guid)
{
	iba_be64_put(gid, 0xfe80000000000000);
	iba_be64_put(gid + 8, guid);
}

static void request(struct bench *b, unsigned attr_id, unsigned method, uint64_t mask,
		    const struct iba_sa_path *q)
{
	struct iba_sa_hdr h = {.mask = mask};
	struct iba_rmpp_in in = {0};
	struct sa_mad m = {.lid = 1}, ack = {.lid = 1};

	iba_smp_set_base_version(m.mad, 1);
	iba_smp_set_mgmt_class(m.mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(m.mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(m.mad, (uint8_t)method);
	iba_smp_set_attr_id(m.mad, (uint16_t)attr_id);
	iba_smp_set_tid(m.mad, ++b->tid);
	iba_sa_hdr_put(&h, m.mad);
	iba_sa_path_put(q, m.mad + IBA_SA_DATA_OFF);
	sa_take(b->sa, lab_sm(b->lab), &m, 0);
	while (sa_next(b->sa, &m, 0)) {
		b->records++;
		if (!iba_rmpp_active(m.mad))
			continue;
		if (iba_rmpp_in_take(&in, m.mad, ack.mad) != IBA_RMPP_NOTHING)
			sa_take(b->sa, lab_sm(b->lab), &ack, 0);
	}
	iba_rmpp_in_free(&in);
}

static double gets(struct bench *b, unsigned n)
{
	struct iba_sa_path q = {.reversible = 1, .num_paths = 1, .pkey = 0xffff};
	uint64_t mask = IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid) |
			IBA_SA_BIT(path, reversible) | IBA_SA_BIT(path, num_paths) |
			IBA_SA_BIT(path, pkey);
	double start = cpu_us();

	for (unsigned i = 0; i < n; i++) {
		gid_put(q.sgid, b->hosts.at[i % b->hosts.n]);
		gid_put(q.dgid, b->hosts.at[(uint64_t)i * 7919 % b->hosts.n]);
		request(b, IBA_SA_PATH, IBA_GET, mask, &q);
	}
	return (cpu_us() - start) / n;
}

static double tables(struct bench *b, unsigned attr_id, uint64_t mask, unsigned n)
{
	struct iba_sa_path q = {0};
	double start = cpu_us();

	for (unsigned i = 0; i < n; i++) {
		gid_put(q.sgid, b->hosts.at[i % b->hosts.n]);
		request(b, attr_id, IBA_SA_GET_TABLE, mask, &q);
	}
	return (cpu_us() - start) / n;
}

static void open_subnet(struct bench *b, unsigned arity, unsigned levels)
{
	struct fab_gen g = {.kind = "mtree", .dims = {arity, levels}, .ndims = 2};
	struct sa_config sc;
	struct lab_config c;
	struct err e;

	b->fab = fab_generate(&g, &e);
	if (!b->fab) {
		fprintf(stderr, "sa-bench: %s\n", e.text);
		exit(2);
	}
	lab_config_default(&c);
	b->lab = lab_new(b->fab, &c, &e);
	lab_power_on(b->lab, NULL);
	if (!lab_run_ready(b->lab, 1000 * PS_PER_S))
		exit(1);
	sa_config_default(&sc);
	b->sa = sa_new(&sc);
	for (port_id p = 0; p < b->fab->nports; p++)
		if (b->fab->ports[p].num && b->fab->ports[p].guid)
			vec_push(&b->hosts, b->fab->ports[p].guid);
}

/* ---- sockets alone ---- */

enum { PACKET = 288, MOST = 32 };

struct packets {
	uint8_t bytes[MOST][PACKET];
	struct iovec iov[MOST];
	struct mmsghdr msg[MOST];
};

static void packets_init(struct packets *p)
{
	*p = (struct packets){0};
	for (unsigned i = 0; i < MOST; i++) {
		p->iov[i] = (struct iovec){p->bytes[i], PACKET};
		p->msg[i].msg_hdr = (struct msghdr){.msg_iov = &p->iov[i], .msg_iovlen = 1};
	}
}

/* Keeps so many packets outstanding until it is killed. */
__attribute__((noreturn)) static void ask_for_ever(int fd, unsigned outstanding)
{
	struct packets p;
	int n = (int)outstanding;

	packets_init(&p);
	while (n > 0) {
		for (int sent = 0; sent < n; sent++)
			if (send(fd, p.bytes[0], PACKET, 0) != PACKET)
				_exit(1);
		n = recvmmsg(fd, p.msg, MOST, MSG_WAITFORONE, NULL);
	}
	_exit(0);
}

/* CPU time of a server for each of n packets; 0: it could not be measured. */
static double echo(unsigned n, unsigned outstanding)
{
	int fd[2], poll = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN};
	struct packets p;
	double start = 0;
	unsigned done = 0;
	pid_t child;

	if (poll < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, fd))
		return 0;
	child = fork();
	if (!child)
		ask_for_ever(fd[1], outstanding);
	packets_init(&p);
	epoll_ctl(poll, EPOLL_CTL_ADD, fd[0], &ev);
	start = cpu_us();
	while (child > 0 && done < n && epoll_wait(poll, &ev, 1, 1000) > 0) {
		int k = recvmmsg(fd[0], p.msg, MOST, MSG_DONTWAIT, NULL);

		if (k <= 0 || sendmmsg(fd[0], p.msg, (unsigned)k, 0) != k)
			break;
		done += (unsigned)k;
	}
	start = cpu_us() - start;
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(fd[0]);
	close(fd[1]);
	close(poll);
	return done ? start / done : 0;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 3 ? (unsigned)atoi(argv[3]) : 200000;
	struct bench b = {0};

	open_subnet(&b, argc > 1 ? (unsigned)atoi(argv[1]) : 12,
		    argc > 2 ? (unsigned)atoi(argv[2]) : 3);
	gets(&b, 1); /* the first one reads what the others use */
	printf("{\"hosts\": %u, \"path_us\": %.3f", b.fab->nhosts, gets(&b, MAX(n, 1u)));
	printf(", \"paths_to_all_us\": %.1f", tables(&b, IBA_SA_PATH, IBA_SA_BIT(path, sgid), 20));
	printf(", \"nodes_us\": %.1f, \"mads\": %llu", tables(&b, IBA_SA_NODE, 0, 20),
	       (unsigned long long)b.records);
	fflush(stdout);
	printf(", \"sockets_us\": %.2f, \"sockets_32_us\": %.2f}\n", echo(50000, 1),
	       echo(50000, MOST));
	vec_free(&b.hosts);
	sa_free(b.sa);
	lab_free(b.lab);
	fab_free(b.fab);
	return 0;
}
