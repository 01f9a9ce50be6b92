/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a manager can do for a request of a host: waits at the manager's place of a fabric that is up, receives,
 * and sends each packet back with the bit of a response. What bench/sa.sh measures with it is what sockets take, beside the
 * same fabric and the same clients. Keeps nothing. Way in: main(); it runs until it is killed.
 *
 *	sa-floor SERVER NODE
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "transport/ibsim.h"
#include "transport/transport.h"

enum { MOST = 32, RESPONSE = 0x80 };

struct packets {
	struct ibsim_packet p[MOST];
	struct iovec iov[MOST];
	struct mmsghdr msg[MOST];
};

static void packets_init(struct packets *k)
{
	*k = (struct packets){0};
	for (unsigned i = 0; i < MOST; i++) {
		k->iov[i] = (struct iovec){&k->p[i], sizeof(k->p[i])};
		k->msg[i].msg_hdr = (struct msghdr){.msg_iov = &k->iov[i], .msg_iovlen = 1};
	}
}

static void answer(struct ibsim_packet *p)
{
	uint32_t to = p->slid;

	p->slid = p->dlid;
	p->dlid = to;
	iba_smp_set_method(p->mad, (uint8_t)(iba_smp_method(p->mad) | RESPONSE));
}

/* Only requests to subnet administration are answered; the fabric's other packets are not. */
static void turn(int fd, struct packets *k)
{
	int n = recvmmsg(fd, k->msg, MOST, MSG_DONTWAIT, NULL), kept = 0;

	for (int i = 0; i < n; i++) {
		if (iba_smp_mgmt_class(k->p[i].mad) != IBA_CLASS_SUBN_ADM)
			continue;
		answer(&k->p[i]);
		if (kept != i)
			k->p[kept] = k->p[i];
		kept++;
	}
	if (kept)
		sendmmsg(fd, k->msg, (unsigned)kept, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int main(int argc, char **argv)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct tp_where where = {0};
	struct err e = {{0}};
	static struct packets k;
	int poll = epoll_create1(0), off = 0;
	struct tp *t;

	if (argc != 3) {
		fprintf(stderr, "usage: sa-floor SERVER NODE\n");
		return 2;
	}
	snprintf(where.server, sizeof(where.server), "%s", argv[1]);
	snprintf(where.device, sizeof(where.device), "%s", argv[2]);
	if (tp_open(&t, "ibsim", &where, &e) || tp_set_is_sm(t, true)) {
		fprintf(stderr, "sa-floor: %s\n", e.text);
		return 1;
	}
	packets_init(&k);
	setsockopt(tp_fd(t), SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, tp_fd(t), &ev))
		return 1;
	while (epoll_wait(poll, &ev, 1, -1) >= 0)
		turn(tp_fd(t), &k);
	return 1;
}
