/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets to the server. State: those of struct umad_port. Way in: server_open(). Speaks
 * ibsim's protocol; does not look into MADs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "preload/preload.h"
#include "transport/socket_owner.h"

enum { AGAIN_MS = 500 };

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
	} a;
	socklen_t len;
};

static bool remote(void)
{
	const char *host = getenv("IBSIM_SERVER_NAME");

	return host && *host;
}

static const char *env(const char *name, const char *otherwise)
{
	const char *v = getenv(name);

	return v && *v ? v : otherwise;
}

static void local(struct address *a, const char *what, long number)
{
	const char *name = env("IBSIM_SOCKNAME", "sim");
	int n;

	*a = (struct address){0};
	a->a.un.sun_family = AF_UNIX;
	n = number < 0 ? snprintf(a->a.un.sun_path + 1, sizeof(a->a.un.sun_path) - 1, "%s:%s", name,
				  what)
		       : snprintf(a->a.un.sun_path + 1, sizeof(a->a.un.sun_path) - 1, "%s:%s%ld",
				  name, what, number);
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

/* The server's control socket, or with a number, the data socket of that client. */
static void server(struct address *a, long client)
{
	unsigned long port = strtoul(env("IBSIM_SERVER_PORT", "7070"), NULL, 10);

	if (!remote()) {
		local(a, client < 0 ? "ctl" : "out", client);
		return;
	}
	*a = (struct address){.len = sizeof(a->a.in)};
	a->a.in.sin_family = AF_INET;
	a->a.in.sin_port = htons((uint16_t)(port + (unsigned long)(client + 1)));
	if (!inet_aton(env("IBSIM_SERVER_NAME", ""), &a->a.in.sin_addr))
		a->a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static int socket_bound(const char *what)
{
	int fd = socket(remote() ? AF_INET : AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct address a = {.len = sizeof(a.a.in)};

	a.a.in.sin_family = AF_INET;
	if (!remote())
		local(&a, what, getpid());
	if (fd >= 0 && (bind(fd, &a.a.any, a.len) || (!remote() && socket_owner_request(fd)))) {
		int e = errno;

		plain_close(fd);
		errno = e;
		fd = -1;
	}
	return fd;
}

/* Any local user may serve a unix name: datagrams of others than this user and root are refused. */
static ssize_t take(int fd, void *buf, size_t len, int flags)
{
	unsigned uid;
	ssize_t n =
		remote() ? recv(fd, buf, len, flags) : socket_owner_recv(fd, buf, len, flags, &uid);

	if (n < 0 && errno == EPERM)
		fprintf(stderr,
			"weft-umad: user %u serves socket '%s': expected this user or root\n", uid,
			env("IBSIM_SOCKNAME", "sim"));
	return n;
}

int server_ask(struct umad_port *p, unsigned type, void *data, size_t len)
{
	struct ibsim_ctl m = {
		.magic = IBSIM_MAGIC, .client = p->client, .type = type, .len = (uint32_t)len};

	memcpy(m.data, data, len);
	errno = 0;
	if (send(p->ctl, &m, sizeof(m), 0) != sizeof(m) ||
	    take(p->ctl, &m, sizeof(m), 0) != sizeof(m))
		return errno ? -errno : -EIO;
	if (m.type == IBSIM_ERROR)
		return -EIO;
	memcpy(data, m.data, len);
	return 0;
}

static int connect_to(int fd, long client)
{
	struct address a;

	server(&a, client);
	return connect(fd, &a.a.any, a.len) ? -errno : 0;
}

static int join(struct umad_port *p)
{
	struct ibsim_client_info i = {.id = (uint32_t)getpid()};
	struct address own = {.len = sizeof(own.a)};
	uint32_t never[2] = {0, 0};
	int rc;

	if (remote() && !getsockname(p->data, &own.a.any, &own.len))
		i.id = ntohs(own.a.in.sin_port);
	snprintf(i.node, sizeof(i.node), "%s", env("SIM_HOST", ""));
	rc = server_ask(p, IBSIM_CONNECT, &i, sizeof(i));
	if (rc)
		return rc;
	p->client = i.id;
	rc = connect_to(p->data, (long)i.id);
	if (!rc)
		server_ask(p, IBSIM_SET_TIMEOUT, never, sizeof(never)); /* ibsim ignores it */
	return rc;
}

int server_open(struct umad_port *p)
{
	int rc;

	p->ctl = socket_bound("ctl");
	p->data = socket_bound("in");
	if (p->ctl < 0 || p->data < 0)
		return -errno;
	while ((rc = connect_to(p->ctl, -1)) == -ECONNREFUSED)
		usleep(AGAIN_MS * 1000);
	return rc ? rc : join(p);
}

void server_close(struct umad_port *p)
{
	uint8_t nothing[1] = {0};

	server_ask(p, IBSIM_DISCONNECT, nothing, 0);
	plain_close(p->ctl);
	plain_close(p->data);
}

void server_send(struct umad_port *p, const struct ib_user_mad_hdr *to, unsigned qpn,
		 const uint8_t mad[IBA_MAD_SIZE])
{
	struct ibsim_packet out = {.dlid = to->lid,
				   .slid = to->lid == 0xffff ? 0xffff : 0,
				   .dqp = to->qpn,
				   .sqp = htonl(qpn),
				   .length = __builtin_bswap64(IBA_MAD_SIZE)};

	memcpy(out.mad, mad, IBA_MAD_SIZE);
	while (send(p->data, &out, sizeof(out), 0) < 0 && errno == EINTR)
		; /* a packet that cannot be sent is lost, as on a link */
}

int server_recv(struct umad_port *p, struct ibsim_packet *in)
{
	ssize_t n = take(p->data, in, sizeof(*in), MSG_DONTWAIT);

	return n == sizeof(*in) ? 0 : n < 0 ? -errno : -EBADMSG;
}
