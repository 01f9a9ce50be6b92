/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses and sockets of ibsim's protocol. State: none. Ways in: those of ibsim_address.h. Sends
 * nothing.
 */
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "transport/ibsim_address.h"

static int udp_where(struct ibsim_where *w, const char *host, const char *port, struct err *e)
{
	struct addrinfo hint = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *found;
	int rc = getaddrinfo(host, port, &hint, &found);

	if (rc)
		return err_set(e, -EINVAL, "cannot resolve ibsim's server %s port %s: %s", host,
			       port, gai_strerror(rc));
	memcpy(&w->in, found->ai_addr, sizeof(w->in));
	freeaddrinfo(found);
	w->udp = true;
	return 0;
}

int ibsim_where_from(struct ibsim_where *w, const char *server, struct err *e)
{
	const char *host = getenv("IBSIM_SERVER_NAME"), *port = getenv("IBSIM_SERVER_PORT"), *colon;
	char text[128];

	memset(w, 0, sizeof(*w));
	if (!*server && host && *host)
		return udp_where(w, host, port && *port ? port : "7070", e);
	if (!*server)
		server = getenv("IBSIM_SOCKNAME");
	if (!server || !*server)
		server = "sim";
	colon = strchr(server, ':');
	if (colon) {
		snprintf(text, sizeof(text), "%.*s", (int)(colon - server), server);
		return udp_where(w, text, colon[1] ? colon + 1 : "7070", e);
	}
	if (strlen(server) > 80)
		return err_set(e, -EINVAL, "'%.20s...': a socket name has at most 80 characters",
			       server);
	snprintf(w->name, sizeof(w->name), "%s", server);
	return 0;
}

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
};

/* NAME:WHAT<id>, without a number when id is negative; or the server's UDP port plus port_add. */
static socklen_t address(const struct ibsim_where *w, union address *a, const char *what, int id,
			 unsigned port_add)
{
	int n;

	memset(a, 0, sizeof(*a));
	if (w->udp) {
		a->in = w->in;
		a->in.sin_port = htons((uint16_t)(ntohs(w->in.sin_port) + port_add));
		return sizeof(a->in);
	}
	a->un.sun_family = AF_UNIX;
	n = snprintf(a->un.sun_path + 1, sizeof(a->un.sun_path) - 1, id < 0 ? "%s:%s" : "%s:%s%d",
		     w->name, what, id);
	return w->whole ? sizeof(a->un)
			: (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

int ibsim_socket(const struct ibsim_where *w)
{
	int fd = socket(w->udp ? AF_INET : AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int ibsim_bind(const struct ibsim_where *w, int fd, const char *what, int id)
{
	union address a;
	socklen_t len = address(w, &a, what, id, 0);

	if (w->udp) {
		memset(&a, 0, sizeof(a));
		a.in.sin_family = AF_INET;
		len = sizeof(a.in);
	}
	return bind(fd, &a.any, len) ? -errno : 0;
}

int ibsim_connect(const struct ibsim_where *w, int fd, const char *what, int id, unsigned port_add)
{
	union address a;
	socklen_t len = address(w, &a, what, id, port_add);

	return connect(fd, &a.any, len) ? -errno : 0;
}
