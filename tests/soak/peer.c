/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of ibsim's protocol down to its datagrams. State: struct peer. Way in: peer_open(). Does not
 * know which MADs are sensible.
 */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SALT_STEP = 1 << 22, GOODBYE_MS = 2000 };

uint64_t soak_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t soak_now_ms(void)
{
	return soak_now_us() / 1000;
}

void soak_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

uint64_t soak_number(const char *text)
{
	uint64_t v;

	if (parse_u64(text, &v))
		soak_fail("expected a number, found '%s'", text);
	return v;
}

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
};

/* NAME:WHAT<number>, without one when it is negative; or that port on the loopback. */
static socklen_t address(const struct peer *p, union address *a, const char *what, int64_t number,
			 unsigned port)
{
	int n;

	memset(a, 0, sizeof(*a));
	if (p->udp) {
		a->in.sin_family = AF_INET;
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a->in.sin_port = htons((uint16_t)port);
		return sizeof(a->in);
	}
	a->un.sun_family = AF_UNIX;
	n = number < 0 ? snprintf(a->un.sun_path + 1, sizeof(a->un.sun_path) - 1, "%s:%s",
				  p->server, what)
		       : snprintf(a->un.sun_path + 1, sizeof(a->un.sun_path) - 1, "%s:%s%lld",
				  p->server, what, (long long)number);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

static int end_bind(const struct peer *p, const char *what)
{
	union address a;
	socklen_t len = address(p, &a, what, p->id, 0);
	int fd = socket(a.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	if (!bind(fd, &a.any, len))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int end_connect(const struct peer *p, int fd, const char *what, int64_t number,
		       unsigned port)
{
	union address a;
	socklen_t len = address(p, &a, what, number, port);

	return connect(fd, &a.any, len) ? -errno : 0;
}

static int end_wait(int fd, short events, int wait_ms)
{
	struct pollfd f = {.fd = fd, .events = events};
	int rc = poll(&f, 1, wait_ms);

	return rc > 0 || (rc < 0 && errno == EINTR) ? 0 : rc ? -errno : -ETIMEDOUT;
}

static int end_send(int fd, const void *bytes, size_t len)
{
	uint64_t until = soak_now_ms() + PEER_WAIT_MS;

	while (send(fd, bytes, len, MSG_NOSIGNAL) < 0) {
		if (errno == ECONNREFUSED || errno == ENOTCONN || errno == ECONNRESET)
			return -ENOTCONN;
		if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
			return -errno;
		if (soak_now_ms() >= until)
			return -ETIMEDOUT;
		end_wait(fd, POLLOUT, 100);
	}
	return 0;
}

/* ---- control ---- */

static int ctl_answer(struct peer *p, uint32_t type, struct ibsim_ctl *c)
{
	uint64_t until = soak_now_ms() + PEER_WAIT_MS;

	while (soak_now_ms() < until) {
		ssize_t n = recv(p->ctl, c, sizeof(*c), 0);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0)
			end_wait(p->ctl, POLLIN, 100);
		else if (n == (ssize_t)sizeof(*c) && c->magic == IBSIM_MAGIC &&
			 (c->type == type || c->type == IBSIM_ERROR))
			return c->type == type ? 0 : -EACCES;
	}
	return -ETIMEDOUT;
}

int peer_ctl(struct peer *p, uint32_t type, void *data, uint32_t len)
{
	struct ibsim_ctl c = {.magic = IBSIM_MAGIC, .client = p->client, .type = type, .len = len};
	int rc;

	if (len)
		memcpy(c.data, data, len);
	peer_ctl_drain(p);
	rc = end_send(p->ctl, &c, sizeof(c));
	rc = rc ? rc : ctl_answer(p, type, &c);
	if (!rc && len)
		memcpy(data, c.data, len);
	return rc;
}

void peer_ctl_raw(struct peer *p, const void *bytes, size_t len)
{
	if (send(p->ctl, bytes, len, MSG_NOSIGNAL) < 0)
		end_wait(p->ctl, POLLOUT, 100);
}

void peer_ctl_drain(struct peer *p)
{
	struct ibsim_ctl c;

	while (recv(p->ctl, &c, sizeof(c), 0) >= 0)
		;
}

/* ---- life ---- */

static int join(struct peer *p, const char *node, bool is_sm)
{
	struct ibsim_client_info i = {.is_sm = is_sm};
	union address a;
	socklen_t len = sizeof(a);
	int rc = end_connect(p, p->ctl, "ctl", -1, p->udp);

	if (p->udp && !rc && !getsockname(p->fd, &a.any, &len))
		p->id = ntohs(a.in.sin_port);
	i.id = p->id;
	snprintf(i.node, sizeof(i.node), "%s", node);
	rc = rc ? rc : peer_ctl(p, IBSIM_CONNECT, &i, sizeof(i));
	if (rc)
		return rc;
	p->client = i.id;
	return end_connect(p, p->fd, "out", p->client, p->udp + 1 + p->client);
}

int peer_open(struct peer *p, const char *server, const char *node, unsigned salt, bool is_sm)
{
	int rc;

	*p = (struct peer){.ctl = -1, .fd = -1, .id = (uint32_t)getpid() + salt * SALT_STEP};
	snprintf(p->server, sizeof(p->server), "%s", server);
	if (!strncmp(server, "udp:", 4))
		p->udp = (unsigned)soak_number(server + 4);
	p->ctl = end_bind(p, "ctl");
	p->fd = end_bind(p, "in");
	rc = p->ctl < 0 ? p->ctl : p->fd < 0 ? p->fd : join(p, node, is_sm);
	if (rc)
		peer_close(p, false);
	return rc;
}

void peer_close(struct peer *p, bool goodbye)
{
	struct ibsim_ctl c = {.magic = IBSIM_MAGIC, .client = p->client, .type = IBSIM_DISCONNECT};

	if (goodbye && p->ctl >= 0 && !end_send(p->ctl, &c, sizeof(c)))
		end_wait(p->ctl, POLLIN, GOODBYE_MS);
	if (p->ctl >= 0)
		close(p->ctl);
	if (p->fd >= 0)
		close(p->fd);
	p->ctl = p->fd = -1;
}

/* ---- packets ---- */

int peer_send(struct peer *p, const void *bytes, size_t len)
{
	return end_send(p->fd, bytes, len);
}

bool peer_recv(struct peer *p, struct ibsim_packet *pkt, int wait_ms)
{
	ssize_t n = recv(p->fd, pkt, sizeof(*pkt), 0);

	if (n < 0 && wait_ms > 0 && !end_wait(p->fd, POLLIN, wait_ms))
		n = recv(p->fd, pkt, sizeof(*pkt), 0);
	return n == (ssize_t)sizeof(*pkt);
}

/* ---- requests ---- */

void peer_directed(struct ibsim_packet *pkt, enum iba_method method, uint16_t attr, uint32_t mod,
		   const uint8_t *path, unsigned hops)
{
	*pkt = (struct ibsim_packet){.dlid = htons(IBA_LID_PERMISSIVE),
				     .slid = htons(IBA_LID_PERMISSIVE),
				     .length = __builtin_bswap64(IBA_MAD_SIZE)};
	iba_smp_init(pkt->mad, IBA_CLASS_SUBN_DR, method, attr, mod);
	iba_smp_set_dr_slid(pkt->mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(pkt->mad, IBA_LID_PERMISSIVE);
	iba_smp_set_m_key(pkt->mad, SOAK_KEY);
	iba_smp_set_hop_cnt(pkt->mad, (uint8_t)hops);
	if (hops)
		memcpy(iba_smp_initial_path(pkt->mad) + 1, path + 1, hops);
}

static bool answers(const struct ibsim_packet *got, const struct ibsim_packet *asked)
{
	return !got->status && iba_smp_method(got->mad) == IBA_GET_RESP &&
	       (uint32_t)iba_smp_tid(got->mad) == (uint32_t)iba_smp_tid(asked->mad) &&
	       iba_smp_attr_id(got->mad) == iba_smp_attr_id(asked->mad);
}

int peer_ask(struct peer *p, struct ibsim_packet *pkt, uint64_t tid, int wait_ms)
{
	uint64_t until = soak_now_ms() + (unsigned)wait_ms, now;
	struct ibsim_packet got;
	int rc;

	iba_smp_set_tid(pkt->mad, tid);
	while ((now = soak_now_ms()) < until) {
		uint64_t again = MIN(now + PEER_AGAIN_MS, until);

		rc = peer_send(p, pkt, sizeof(*pkt));
		if (rc)
			return rc;
		for (; now < again; now = soak_now_ms())
			if (peer_recv(p, &got, (int)(again - now)) && answers(&got, pkt)) {
				*pkt = got;
				return 0;
			}
	}
	return -ETIMEDOUT;
}

int peer_node_info(struct peer *p, uint64_t tid, struct iba_node_info *ni)
{
	struct ibsim_packet pkt;
	int rc;

	peer_directed(&pkt, IBA_GET, IBA_ATTR_NODE_INFO, 0, NULL, 0);
	rc = peer_ask(p, &pkt, tid, PEER_WAIT_MS);
	if (!rc)
		iba_node_info_get(ni, iba_smp_data(pkt.mad), IBA_SMP_DATA_SIZE);
	return rc;
}
