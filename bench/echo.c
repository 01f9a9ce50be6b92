/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least a server of ibsim's protocol can do: sends every packet of its one client back as a
 * response, at once and in batches, and never sleeps. What bench/flood.c measures with it is what the
 * sockets and the client allow. Keeps nothing. Way in: main().
 *
 *	echo NAME
 */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BATCH = 32, CONNECT = 1, METHOD = 32 + 3 };

static struct {
	uint8_t b[288];
} packet[BATCH];

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

static int bound(const char *name, const char *what, long number)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a, name, what, number);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len)) {
		perror("bind");
		exit(1);
	}
	return fd;
}

/* Control messages: there is one client, number 0; everything else it wants is fine. */
static void control(int ctl, const char *name, int *data)
{
	uint32_t msg[20];
	struct sockaddr_un from, a;
	socklen_t len = sizeof(from), alen;

	if (recvfrom(ctl, msg, sizeof(msg), MSG_DONTWAIT, (struct sockaddr *)&from, &len) !=
	    sizeof(msg))
		return;
	if (msg[2] == CONNECT) {
		if (*data >= 0)
			close(*data);
		*data = bound(name, "out", 0);
		alen = address(&a, name, "in", (long)msg[4]);
		if (connect(*data, (struct sockaddr *)&a, alen))
			perror("connect");
		msg[4] = 0;
	}
	sendto(ctl, msg, sizeof(msg), 0, (struct sockaddr *)&from, len);
}

static void turn(int fd, struct mmsghdr *msg)
{
	int n = recvmmsg(fd, msg, BATCH, MSG_DONTWAIT, NULL), done = 0, k;

	if (n <= 0) {
		sched_yield();
		return;
	}
	for (int i = 0; i < n; i++)
		packet[i].b[METHOD] |= 0x80;
	while (done < n) {
		k = sendmmsg(fd, msg + done, (unsigned)(n - done), MSG_DONTWAIT);
		if (k < 0 && errno != EAGAIN)
			return; /* the client is gone */
		done += k > 0 ? k : 0;
	}
}

int main(int argc, char **argv)
{
	static struct mmsghdr msg[BATCH];
	static struct iovec iov[BATCH];
	int ctl, fd = -1;

	if (argc != 2) {
		fprintf(stderr, "usage: echo NAME\n");
		return 2;
	}
	for (unsigned i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec){&packet[i], sizeof(packet[i])};
		msg[i].msg_hdr = (struct msghdr){.msg_iov = &iov[i], .msg_iovlen = 1};
	}
	ctl = bound(argv[1], "ctl", -1);
	for (unsigned long rounds = 0;; rounds++) {
		if (fd >= 0)
			turn(fd, msg);
		if (fd < 0 || rounds % 4096 == 0)
			control(ctl, argv[1], &fd);
	}
}
