/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of ibsim's protocol: one socket for control messages and one for packets, both connected
 * and non-blocking. State: struct sim_tp. Way in: tp_ibsim. Does not interpret MADs.
 */
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "transport/ibsim.h"
#include "transport/ibsim_address.h"
#include "transport/socket_owner.h"
#include "transport/transport.h"

enum {
	BATCH = 32,	  /* datagrams per system call */
	ANSWER_MS = 3000, /* a server that loads a large netlist responds late */
	GOODBYE_MS = 200,
	PROBE_MS = 500,	   /* how often a silent server is probed */
	DROPPED = 110,	   /* status of a packet that was not delivered */
	IDS_MAX = 64,	   /* connections of one process */
	ID_STEP = 1 << 22, /* larger than any pid */
};

struct sim_tp {
	struct tp tp;
	int ctl, fd;
	uint32_t client;
	bool gone;
	bool mirrors;	   /* the server is weft fabric: it carries GMPs between managers */
	bool unix_sockets; /* the sender of each datagram is checked; UDP has none */
	unsigned stranger; /* the user whose datagram was refused, after -EPERM */
	uint64_t heard_ms; /* when the server last sent, or was last probed */
	struct tp_info info;
	struct ibsim_packet out[BATCH], in[BATCH];
	struct iovec out_iov[BATCH], in_iov[BATCH];
	struct mmsghdr out_hdr[BATCH], in_hdr[BATCH];
	struct socket_owner_room in_owner[BATCH];
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- which server ---- */

static bool is_set(const char *variable)
{
	const char *v = getenv(variable);

	return v && *v;
}

/* Only when asked for: any local user may serve ibsim's default name. The server may start later. */
static bool sim_is_present(const struct tp_where *w)
{
	return *w->server || is_set("IBSIM_SOCKNAME") || is_set("IBSIM_SERVER_NAME");
}

static void sim_instance(const struct tp_where *w, char *out, size_t size)
{
	const char *socket = getenv("IBSIM_SOCKNAME");

	snprintf(out, size, "%.60s", *w->server ? w->server : socket && *socket ? socket : "sim");
}

/* ---- control ---- */

static int wait_for(int fd, short events, uint64_t until_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now = now_ms();
	int rc;

	if (now >= until_ms)
		return -ETIMEDOUT;
	rc = poll(&p, 1, (int)(until_ms - now));
	return rc < 0 && errno != EINTR ? -errno : rc == 0 ? -ETIMEDOUT : 0;
}

static int ctl_send(struct sim_tp *s, const struct ibsim_ctl *c, uint64_t until_ms)
{
	int rc = 0;

	while (!rc) {
		if (send(s->ctl, c, sizeof(*c), MSG_NOSIGNAL) == (ssize_t)sizeof(*c))
			return 0;
		rc = errno == EAGAIN || errno == EINTR ? wait_for(s->ctl, POLLOUT, until_ms)
						       : -errno;
	}
	return rc;
}

static ssize_t ctl_take(struct sim_tp *s, struct ibsim_ctl *c)
{
	return s->unix_sockets ? socket_owner_recv(s->ctl, c, sizeof(*c), 0, &s->stranger)
			       : recv(s->ctl, c, sizeof(*c), 0);
}

/* Skips late responses to requests that timed out. */
static int ctl_recv(struct sim_tp *s, struct ibsim_ctl *c, uint32_t type, uint64_t until_ms)
{
	int rc = 0;

	while (!rc) {
		ssize_t n = ctl_take(s, c);

		if (n == (ssize_t)sizeof(*c) && c->magic == IBSIM_MAGIC && c->type == IBSIM_ERROR)
			return -EACCES;
		if (n == (ssize_t)sizeof(*c) && c->magic == IBSIM_MAGIC && c->type == type)
			return 0;
		if (n < 0)
			rc = errno == EAGAIN || errno == EINTR ? wait_for(s->ctl, POLLIN, until_ms)
							       : -errno;
	}
	return rc;
}

static int ask(struct sim_tp *s, enum ibsim_ctl_type type, void *data, uint32_t len,
	       unsigned limit_ms)
{
	struct ibsim_ctl c = {.magic = IBSIM_MAGIC, .client = s->client, .type = type, .len = len};
	uint64_t until = now_ms() + limit_ms;
	int rc;

	if (len)
		memcpy(c.data, data, len);
	rc = ctl_send(s, &c, until);
	if (!rc)
		rc = ctl_recv(s, &c, type, until);
	if (!rc && len)
		memcpy(data, c.data, len);
	return rc;
}

/* ---- opening ---- */

/* The id is part of our socket names; each connection of this process needs its own. */
static int bind_pair(struct sim_tp *s, const struct ibsim_where *w, uint32_t *id)
{
	int rc = -EADDRINUSE;

	for (int i = 0; i < IDS_MAX && rc == -EADDRINUSE; i++) {
		*id = (uint32_t)(getpid() + i * ID_STEP);
		rc = w->udp ? 0 : ibsim_bind(w, s->ctl, "ctl", (int)*id);
		if (!rc)
			rc = ibsim_bind(w, s->fd, "in", (int)*id);
	}
	return rc;
}

static void sockets_close(struct sim_tp *s)
{
	if (s->ctl >= 0)
		close(s->ctl);
	if (s->fd >= 0)
		close(s->fd);
	s->ctl = s->fd = -1;
}

/* Opens both sockets and connects the control socket. -ECONNREFUSED: no server listens at this form of the
 * address. */
static int sockets_open(struct sim_tp *s, const struct ibsim_where *w, uint32_t *id)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int rc;

	s->ctl = ibsim_socket(w);
	s->fd = ibsim_socket(w);
	s->unix_sockets = !w->udp;
	rc = s->ctl < 0 ? s->ctl : s->fd < 0 ? s->fd : 0;
	if (!rc)
		rc = ibsim_connect(w, s->ctl, "ctl", -1, 0);
	if (!rc)
		rc = bind_pair(s, w, id);
	if (!rc && s->unix_sockets)
		rc = socket_owner_request(s->ctl);
	if (!rc && s->unix_sockets)
		rc = socket_owner_request(s->fd);
	if (!rc && w->udp) {
		rc = getsockname(s->fd, (struct sockaddr *)&a, &len) ? -errno : 0;
		*id = ntohs(a.sin_port);
	}
	if (rc)
		sockets_close(s);
	return rc;
}

/* "0x..." is the GUID of a host; any other text is an id or name that the server knows. */
static void node_name(const struct tp_where *w, char *out, size_t size)
{
	const char *text = *w->device ? w->device : getenv("SIM_HOST");
	uint64_t guid;

	if (w->port_guid)
		snprintf(out, size, "H-%016llx", (unsigned long long)w->port_guid);
	else if (text && !strncmp(text, "0x", 2) && !parse_u64(text, &guid))
		snprintf(out, size, "H-%016llx", (unsigned long long)guid);
	else
		snprintf(out, size, "%.*s", (int)size - 1, text ? text : "");
}

static int client_connect(struct sim_tp *s, const struct ibsim_where *w, uint32_t id,
			  struct ibsim_client_info *c)
{
	uint32_t never[2] = {0, 0}, mirror[3] = {IBA_CLASS_MIRROR, 1};
	int rc;

	c->id = id;
	rc = ask(s, IBSIM_CONNECT, c, sizeof(*c), ANSWER_MS);
	c->node[sizeof(c->node) - 1] = 0; /* the server may have sent 32 other bytes */
	if (rc)
		return rc;
	s->client = c->id;
	/* The sender has its own timeouts. A request that the server repeats could undo a later one. */
	ask(s, IBSIM_SET_TIMEOUT, never, sizeof(never), ANSWER_MS);
	s->mirrors = !ask(s, IBSIM_SET_SERVES, mirror, sizeof(mirror), ANSWER_MS) &&
		     mirror[2] == IBSIM_SERVES;
	return ibsim_connect(w, s->fd, "out", (int)s->client, s->client + 1);
}

static int port_identify(struct sim_tp *s)
{
	struct iba_node_info ni;
	struct iba_port_info pi;
	uint8_t data[64] = {0};
	int rc = ask(s, IBSIM_GET_NODE_INFO, data, sizeof(data), ANSWER_MS);

	if (rc)
		return rc;
	iba_node_info_get(&ni, data, sizeof(data));
	memset(data, 0, sizeof(data));
	rc = ask(s, IBSIM_GET_PORT_INFO, data, sizeof(data), ANSWER_MS);
	if (rc)
		return rc;
	iba_port_info_get(&pi, data, sizeof(data));
	s->info.node_guid = ni.node_guid;
	s->info.node_type = (uint8_t)ni.node_type;
	s->info.port = ni.node_type == IBA_NODE_SWITCH ? 0 : (uint8_t)MAX(pi.local_port, 1);
	s->info.port_guid = ni.node_guid + s->info.port;
	return 0;
}

static void headers_init(struct sim_tp *s)
{
	for (unsigned i = 0; i < BATCH; i++) {
		s->out_iov[i] = (struct iovec){&s->out[i], sizeof(s->out[i])};
		s->in_iov[i] = (struct iovec){&s->in[i], sizeof(s->in[i])};
		s->out_hdr[i].msg_hdr = (struct msghdr){.msg_iov = &s->out_iov[i], .msg_iovlen = 1};
		s->in_hdr[i].msg_hdr = (struct msghdr){.msg_iov = &s->in_iov[i], .msg_iovlen = 1};
	}
}

static int explain(int rc, const struct sim_tp *s, const struct ibsim_where *w,
		   const struct ibsim_client_info *c, struct err *e)
{
	char server[160];

	if (w->udp)
		snprintf(server, sizeof(server), "UDP port %u", ntohs(w->in.sin_port));
	else
		snprintf(server, sizeof(server), "socket '%s'", w->name);
	switch (rc) {
	case -ECONNREFUSED:
	case -ENOTCONN:
		return err_set(e, -ECONNREFUSED, "no ibsim or weft fabric serves %s", server);
	case -ETIMEDOUT:
		return err_set(e, rc, "the server at %s does not respond", server);
	case -EACCES:
		return err_set(e, rc, "the server at %s refused the connection: %s%s%s", server,
			       *c->node ? "unknown node '" : "too many clients", c->node,
			       *c->node ? "', or too many clients" : "");
	case -EPERM:
		return err_set(
			e, rc,
			"user %u serves %s: expected this user (%u) or root; refused, since an emulator is trusted with the subnet",
			s->stranger, server, (unsigned)geteuid());
	default:
		return err_set(e, rc, "cannot connect to the server at %s: %s", server,
			       strerror(-rc));
	}
}

static int sim_open(struct tp **t, const struct tp_where *tw, struct err *e)
{
	struct ibsim_client_info c = {0};
	struct sim_tp *s;
	struct ibsim_where w;
	uint32_t id;
	int rc = ibsim_where_from(&w, tw->server, e);

	if (rc)
		return rc;
	s = mem_zalloc(sizeof(*s));
	*s = (struct sim_tp){.tp.ops = &tp_ibsim, .ctl = -1, .fd = -1, .heard_ms = now_ms()};
	headers_init(s);
	node_name(tw, c.node, sizeof(c.node));
	rc = sockets_open(s, &w, &id);
	if (rc == -ECONNREFUSED && !w.udp) {
		w.whole = true;
		rc = sockets_open(s, &w, &id);
	}
	if (!rc)
		rc = client_connect(s, &w, id, &c);
	if (!rc)
		rc = port_identify(s);
	if (rc) {
		explain(rc, s, &w, &c, e);
		sockets_close(s);
		free(s);
		return rc == -ENOTCONN ? -ECONNREFUSED : rc;
	}
	snprintf(s->info.name, sizeof(s->info.name), "%.31s on ibsim '%s'", c.node,
		 w.udp ? tw->server : w.name);
	*t = &s->tp;
	return 0;
}

static void sim_close(struct tp *t)
{
	struct sim_tp *s = (struct sim_tp *)t;

	if (!s->gone)
		ask(s, IBSIM_DISCONNECT, NULL, 0, GOODBYE_MS);
	sockets_close(s);
	free(s);
}

static int sim_fd(const struct tp *t)
{
	return ((const struct sim_tp *)t)->fd;
}

/* ---- MADs ---- */

/* After a failed call: 0 when it can be repeated later, -ENOTCONN when the server is gone. */
static int connection_check(struct sim_tp *s)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS)
		return 0;
	s->gone = true;
	return -ENOTCONN;
}

/* As a kernel does: the high half of a request's transaction is the client's, so that two clients at one port are told apart. */
static void tid_mark(const struct sim_tp *s, uint8_t *mad)
{
	unsigned method = iba_smp_method(mad);

	if (method == IBA_GET || method == IBA_SET)
		iba_smp_set_tid(mad, ((uint64_t)s->client + 1) << 32 | (uint32_t)iba_smp_tid(mad));
}

static void pack(const struct sim_tp *s, struct ibsim_packet *p, const struct tp_mad *m)
{
	uint8_t length[8];

	memset(p, 0, offsetof(struct ibsim_packet, mad));
	iba_be16_put((uint8_t *)&p->dlid, m->dlid);
	iba_be16_put((uint8_t *)&p->slid, m->slid);
	p->dqp = p->sqp = htonl(m->qp);
	iba_be64_put(length, IBA_MAD_SIZE);
	memcpy(&p->length, length, sizeof(length));
	memcpy(p->mad, m->mad, IBA_MAD_SIZE);
	tid_mark(s, p->mad);
}

/* ibsim would hand GMPs between managers to any SM, and libumad2sim crashes at a class that is not registered. */
static bool is_carried(const struct sim_tp *s, const struct tp_mad *m)
{
	return s->mirrors || iba_smp_mgmt_class(m->mad) != IBA_CLASS_MIRROR;
}

static int sim_send(struct tp *t, const struct tp_mad *m, unsigned n)
{
	struct sim_tp *s = (struct sim_tp *)t;
	unsigned sent = 0;

	while (sent < n && !s->gone) {
		unsigned k = 0;
		int rc;

		if (!is_carried(s, &m[sent])) {
			sent++; /* as if lost */
			continue;
		}
		for (; k < MIN(n - sent, (unsigned)BATCH) && is_carried(s, &m[sent + k]); k++)
			pack(s, &s->out[k], &m[sent + k]);
		rc = sendmmsg(s->fd, s->out_hdr, k, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (rc < 0 && connection_check(s))
			break;
		sent += rc > 0 ? (unsigned)rc : 0;
		if (rc < (int)k)
			break;
	}
	return s->gone && !sent ? -ENOTCONN : (int)sent;
}

static bool unpack(const struct ibsim_packet *p, unsigned len, struct tp_mad *m)
{
	m->lost = ntohl(p->status) == DROPPED;
	if (len != sizeof(*p) ||
	    (m->lost && iba_smp_method(p->mad) != IBA_GET && iba_smp_method(p->mad) != IBA_SET))
		return false;
	memcpy(m->mad, p->mad, IBA_MAD_SIZE);
	if (iba_smp_method(m->mad) == IBA_GET_RESP ||
	    m->lost) /* the high bits are not the sender's */
		iba_smp_set_tid(m->mad, iba_smp_tid(m->mad) & UINT32_MAX);
	m->slid = iba_be16((const uint8_t *)&p->slid);
	m->dlid = iba_be16((const uint8_t *)&p->dlid);
	m->sl = 0;
	m->qp = ntohl(p->dqp) ? 1 : 0;
	return true;
}

/*
 * Only sending reveals that the server is gone. An empty datagram is not a message of the protocol: the
 * server reads and ignores it.
 */
static void probe(struct sim_tp *s)
{
	uint64_t now = now_ms();
	struct ibsim_ctl c;

	if (now < s->heard_ms + PROBE_MS)
		return;
	s->heard_ms = now;
	while (ctl_take(s, &c) >= 0)
		;
	if (errno != EAGAIN && errno != EINTR)
		s->gone = true;
	if (send(s->ctl, "", 0, MSG_NOSIGNAL) < 0)
		connection_check(s);
}

/* recvmmsg() overwrites the lengths. */
static void owners_prepare(struct sim_tp *s, unsigned n)
{
	for (unsigned i = 0; s->unix_sockets && i < n; i++) {
		s->in_hdr[i].msg_hdr.msg_control = s->in_owner[i].bytes;
		s->in_hdr[i].msg_hdr.msg_controllen = sizeof(s->in_owner[i].bytes);
	}
}

/* Before the socket is connected to the server's, any process can send to it. */
static bool is_from_server(struct sim_tp *s, int i)
{
	return !s->unix_sockets || socket_owner_is_trusted(&s->in_hdr[i].msg_hdr, NULL);
}

static int sim_recv(struct tp *t, struct tp_mad *m, unsigned max)
{
	struct sim_tp *s = (struct sim_tp *)t;
	unsigned got = 0;

	while (got < max && !s->gone) {
		unsigned k = MIN(max - got, (unsigned)BATCH);
		int rc;

		owners_prepare(s, k);
		rc = recvmmsg(s->fd, s->in_hdr, k, MSG_DONTWAIT, NULL);

		if (rc < 0 && !connection_check(s) && !got)
			probe(s);
		for (int i = 0; i < rc; i++)
			if (is_from_server(s, i))
				got += unpack(&s->in[i], s->in_hdr[i].msg_len, &m[got]);
		if (rc > 0)
			s->heard_ms = now_ms();
		if (rc < (int)k)
			break;
	}
	return s->gone && !got ? -ENOTCONN : (int)got;
}

/*
 * Clears the bit first: after an SM on this node was killed, ibsim's server still has a client with the
 * bit set and sends our traps there. Clearing the bit makes the server notice that this client is dead.
 */
static int sim_set_is_sm(struct tp *t, bool on)
{
	struct sim_tp *s = (struct sim_tp *)t;
	unsigned limit_ms = on ? ANSWER_MS : GOODBYE_MS;
	int32_t value = 0;
	int rc = ask(s, IBSIM_SET_IS_SM, &value, sizeof(value), limit_ms);

	if (rc || !on)
		return rc;
	value = 1;
	return ask(s, IBSIM_SET_IS_SM, &value, sizeof(value), limit_ms);
}

static void sim_info(const struct tp *t, struct tp_info *i)
{
	*i = ((const struct sim_tp *)t)->info;
}

const struct tp_ops tp_ibsim = {
	.is_present = sim_is_present,
	.instance = sim_instance,
	.open = sim_open,
	.close = sim_close,
	.fd = sim_fd,
	.send = sim_send,
	.recv = sim_recv,
	.set_is_sm = sim_set_is_sm,
	.info = sim_info,
};
