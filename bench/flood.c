/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many SMPs a second a server of ibsim's protocol answers: Get(NodeInfo) along a directed route, so
 * many outstanding. Keeps what is outstanding. Way in: main(). Uses no code of Weft, so that every server
 * meets the same client: one that sleeps and makes one system call a MAD, as programs on libumad2sim do,
 * or, with -b, one that sends and reads in batches and never sleeps, which shows more of the server and
 * less of itself.
 *
 *	flood [-b] NAME NODE WINDOW COUNT [PORT...]
 *
 * Prints one line: SMPs a second, and how many were lost.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct packet {
	uint32_t dlid, slid, dqp, sqp, status, pad;
	uint64_t length;
	uint8_t mad[256];
};

struct control {
	uint32_t magic, client, type, length;
	uint8_t data[64];
};

enum { CONNECT = 1, DISCONNECT = 2, QUIET_MS = 2000 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static socklen_t address(struct sockaddr_un *a, const char *name, const char *what, long number)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = number < 0 ? snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s", name, what)
		       : snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s%ld", name, what,
				  number);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

static int socket_at(const char *name, const char *what)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a, name, what, getpid());

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len))
		die("socket");
	return fd;
}

static void lead_to(int fd, const char *name, const char *what, long number)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name, what, number);

	if (connect(fd, (struct sockaddr *)&a, len))
		die("connect");
}

static void ask(int fd, struct control *m)
{
	if (write(fd, m, sizeof(*m)) != sizeof(*m) || read(fd, m, sizeof(*m)) != sizeof(*m) ||
	    !m->type)
		die("control");
}

static uint32_t join(int ctl, const char *node)
{
	struct control m = {0xdeadbeef, 0, CONNECT, 44, {0}};
	uint32_t id = (uint32_t)getpid();

	memcpy(m.data, &id, sizeof(id));
	strncpy((char *)m.data + 12, node, 31);
	ask(ctl, &m);
	memcpy(&id, m.data, sizeof(id));
	return id;
}

static void request(struct packet *p, char **ports, int hops)
{
	memset(p, 0, sizeof(*p));
	p->dlid = p->slid = 0xffff;
	p->length = (uint64_t)htonl(256) << 32;
	p->mad[0] = 1;
	p->mad[1] = 0x81;
	p->mad[2] = 1;
	p->mad[3] = 1;
	p->mad[7] = (uint8_t)hops;
	p->mad[17] = 0x11;
	memset(p->mad + 32, 0xff, 4);
	for (int i = 0; i < hops; i++)
		p->mad[128 + 1 + i] = (uint8_t)atoi(ports[i]);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct run {
	int fd;
	long sent, back, bad, lost, window, count;
};

/* 1: sent, 0: no room. */
static int send_one(struct run *r, struct packet *p)
{
	uint32_t tid = htonl((uint32_t)r->sent + 1);

	memcpy(p->mad + 12, &tid, sizeof(tid));
	if (send(r->fd, p, sizeof(*p), MSG_DONTWAIT) == sizeof(*p)) {
		r->sent++;
		return 1;
	}
	if (errno != EAGAIN && errno != ENOBUFS)
		die("send");
	return 0;
}

/* One answer; wait when nothing else can be done. */
static int recv_one(struct run *r, int wait)
{
	struct packet p;
	struct pollfd pfd = {r->fd, (short)(POLLIN | (wait < 0 ? POLLOUT : 0)), 0};

	if (recv(r->fd, &p, sizeof(p), MSG_DONTWAIT) == sizeof(p)) {
		r->back++;
		r->bad += p.status || p.mad[3] != 0x81;
		return 1;
	}
	if (wait && !poll(&pfd, 1, QUIET_MS)) { /* what is outstanding is lost */
		r->lost += r->sent - r->back - r->lost;
		return 1;
	}
	return 0;
}

static void flood(struct run *r, struct packet *p)
{
	while (r->back + r->lost < r->count) {
		int full = 0;

		while (r->sent < r->count && r->sent - r->back - r->lost < r->window && !full)
			full = !send_one(r, p);
		if (!recv_one(r, full ? -1 : 1))
			continue;
		while (r->back + r->lost < r->sent && recv_one(r, 0))
			;
	}
}

/* ---- in batches ---- */

enum { BATCH = 64 };

struct batch {
	struct packet p[BATCH];
	struct iovec iov[BATCH];
	struct mmsghdr msg[BATCH];
};

static void batch_init(struct batch *b, const struct packet *p)
{
	for (int i = 0; i < BATCH; i++) {
		b->p[i] = *p;
		b->iov[i] = (struct iovec){&b->p[i], sizeof(b->p[i])};
		b->msg[i].msg_hdr = (struct msghdr){.msg_iov = &b->iov[i], .msg_iovlen = 1};
	}
}

static int batch_send(struct run *r, struct batch *b)
{
	long room = r->window - (r->sent - r->back - r->lost);
	int n = 0, k;

	for (; n < BATCH && n < room && r->sent + n < r->count; n++) {
		uint32_t tid = htonl((uint32_t)(r->sent + n) + 1);

		memcpy(b->p[n].mad + 12, &tid, sizeof(tid));
	}
	k = n ? sendmmsg(r->fd, b->msg, (unsigned)n, MSG_DONTWAIT) : 0;
	if (k < 0 && errno != EAGAIN && errno != ENOBUFS)
		die("send");
	r->sent += k > 0 ? k : 0;
	return k > 0;
}

static int batch_recv(struct run *r, struct batch *b)
{
	int n = recvmmsg(r->fd, b->msg, BATCH, MSG_DONTWAIT, NULL);

	for (int i = 0; i < n; i++)
		r->bad += b->p[i].status || b->p[i].mad[3] != 0x81;
	r->back += n > 0 ? n : 0;
	return n > 0;
}

static void flood_batches(struct run *r, const struct packet *p)
{
	static struct batch out, in;
	double last = now();

	batch_init(&out, p);
	batch_init(&in, p);
	for (unsigned long idle = 0; r->back + r->lost < r->count;) {
		if (batch_send(r, &out) | batch_recv(r, &in)) {
			idle = 0;
			continue;
		}
		if (!idle++)
			last = now();
		sched_yield();
		if (idle % 1024 == 0 && now() - last > QUIET_MS * 1e-3)
			r->lost = r->sent - r->back;
	}
}

int main(int argc, char **argv)
{
	int batches = argc > 1 && !strcmp(argv[1], "-b");
	struct control bye = {0xdeadbeef, 0, DISCONNECT, 0, {0}};
	struct run r = {0};
	struct packet p;
	double start, took;
	int ctl;

	argc -= batches;
	argv += batches;
	if (argc < 5) {
		fprintf(stderr, "usage: flood [-b] NAME NODE WINDOW COUNT [PORT...]\n");
		return 2;
	}
	r.window = atol(argv[3]);
	r.count = atol(argv[4]);
	ctl = socket_at(argv[1], "ctl");
	lead_to(ctl, argv[1], "ctl", -1);
	r.fd = socket_at(argv[1], "in");
	bye.client = join(ctl, argv[2]);
	lead_to(r.fd, argv[1], "out", bye.client);
	request(&p, argv + 5, argc - 5);
	start = now();
	if (batches)
		flood_batches(&r, &p);
	else
		flood(&r, &p);
	took = now() - start - (r.lost ? QUIET_MS * 1e-3 : 0);
	printf("%.0f %ld %ld\n", (double)r.back / took, r.lost, r.bad);
	ask(ctl, &bye);
	return r.bad != 0;
}
