/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One data socket for each client, with a queue of packets to be sent. State: the sockets and
 * queues of struct emu_client, and the lists of clients with something to do. Ways in:
 * wire_connect(), wire_queue(). Does not read and does not detach clients: socket_loop.c does.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "emu/client_socket.h"

enum { QUEUE_FIRST = 64 };

/* ---- addresses ---- */

/* As in libumad2sim: the length includes the NUL after the name. */
void addr_unix(struct emu_addr *a, const char *name, const char *what, long number)
{
	int n;

	*a = (struct emu_addr){0};
	a->a.un.sun_family = AF_UNIX;
	n = number < 0 ? snprintf(a->a.un.sun_path + 1, sizeof(a->a.un.sun_path) - 1, "%s:%s", name,
				  what)
		       : snprintf(a->a.un.sun_path + 1, sizeof(a->a.un.sun_path) - 1, "%s:%s%ld",
				  name, what, number);
	assert(n > 0 && (size_t)n < sizeof(a->a.un.sun_path) - 1);
	a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

void addr_loopback(struct emu_addr *a, unsigned port)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*a = (struct emu_addr){.len = sizeof(in)};
	memcpy(&a->a.storage, &in, sizeof(in));
}

int socket_bound(const struct emu_addr *a)
{
	int fd = socket(a->a.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	if (!bind(fd, &a->a.any, a->len))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* ---- sockets in the loop ---- */

static void sock_freed(uv_handle_t *h)
{
	free(h->data);
}

void sock_free(struct emu_sock *s)
{
	if (!s)
		return;
	uv_poll_stop(&s->poll);
	close(s->fd);
	uv_close((uv_handle_t *)&s->poll, sock_freed);
}

static void sock_watch(struct emu_sock *s, int events, uv_poll_cb cb)
{
	if (s->events == events)
		return;
	s->events = events;
	uv_poll_start(&s->poll, events, cb);
}

struct emu_sock *sock_new(struct emu *m, int fd, uint32_t client, bool udp, uv_poll_cb cb)
{
	struct emu_sock *s = mem_zalloc(sizeof(*s));

	s->fd = fd;
	s->m = m;
	s->client = client;
	s->udp = udp;
	uv_poll_init(&m->loop, &s->poll, fd);
	s->poll.data = s;
	sock_watch(s, UV_READABLE, cb);
	return s;
}

/* ---- lists of clients with something to do ---- */

void client_list_drop(uint32_t *list, uint32_t *n, uint32_t c)
{
	for (uint32_t i = 0; i < *n; i++)
		if (list[i] == c) {
			list[i] = list[--*n];
			return;
		}
}

static void make_ready(struct emu *m, uint32_t c)
{
	if (!m->clients[c].ready)
		m->ready[m->nready++] = c;
	m->clients[c].ready = true;
}

static void make_unsent(struct emu *m, uint32_t c)
{
	if (!m->clients[c].unsent)
		m->unsent[m->nunsent++] = c;
	m->clients[c].unsent = true;
}

static void data_ready(uv_poll_t *h, int status, int events)
{
	struct emu_sock *s = h->data;

	if (status < 0 || events & UV_READABLE)
		make_ready(s->m, s->client);
	if (events & UV_WRITABLE) {
		s->m->clients[s->client].blocked = false;
		sock_watch(s, UV_READABLE, data_ready);
		make_ready(s->m, s->client); /* the next turn sends */
	}
}

/* ---- a client's socket ---- */

int wire_connect(struct emu *m, uint32_t c, struct err *e)
{
	struct emu_client *cl = &m->clients[c];
	struct emu_addr own;
	int fd, rc;

	if (cl->udp) {
		struct sockaddr_in in;

		addr_loopback(&own, m->cfg.udp_port + 1 + c);
		memcpy(&in, &cl->ctl.a.storage,
		       sizeof(in)); /* same host, the port that the client gave */
		in.sin_port = htons((uint16_t)cl->id);
		cl->in = (struct emu_addr){.len = sizeof(in)};
		memcpy(&cl->in.a.storage, &in, sizeof(in));
	} else {
		addr_unix(&own, m->cfg.name, "out", (long)c);
		addr_unix(&cl->in, m->cfg.name, "in", (long)cl->id);
	}
	fd = socket_bound(&own);
	if (fd < 0)
		return err_set(e, fd, "cannot open a socket for the client: %s", strerror(-fd));
	if (connect(fd, &cl->in.a.any, cl->in.len)) {
		rc = -errno;
		close(fd);
		return err_set(e, rc, "cannot connect to the client's socket: %s", strerror(-rc));
	}
	cl->sock = sock_new(m, fd, c, cl->udp, data_ready);
	return 0;
}

void wire_disconnect(struct emu *m, uint32_t c)
{
	struct emu_client *cl = &m->clients[c];

	if (cl->ready)
		client_list_drop(m->ready, &m->nready, c);
	if (cl->unsent)
		client_list_drop(m->unsent, &m->nunsent, c);
	sock_free(cl->sock);
	free(cl->queue);
	cl->sock = NULL;
	cl->queue = NULL;
}

/* Unix: whether a socket has the client's address. UDP: whether its port is in use. */
bool wire_alive(struct emu *m, uint32_t c)
{
	const struct emu_client *cl = &m->clients[c];
	struct emu_addr a;
	bool alive;
	int fd;

	if (cl->udp) {
		addr_loopback(&a, cl->id);
		fd = socket_bound(&a);
		if (fd >= 0)
			close(fd);
		return fd == -EADDRINUSE;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	alive = fd < 0 || !connect(fd, &cl->in.a.any, cl->in.len) || errno != ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return alive;
}

/* ---- out ---- */

static void queue_grow(struct emu_client *cl)
{
	uint32_t cap = cl->q_cap ? cl->q_cap * 2 : QUEUE_FIRST;
	struct ibsim_packet *q = mem_array(cap, sizeof(*q));

	for (uint32_t i = 0; i < cl->q_n; i++)
		q[i] = cl->queue[(cl->q_first + i) & (cl->q_cap - 1)];
	free(cl->queue);
	cl->queue = q;
	cl->q_cap = cap;
	cl->q_first = 0;
}

void wire_queue(struct emu *m, uint32_t c, const struct sim_smp *smp, unsigned status)
{
	struct emu_client *cl = &m->clients[c];
	bool gmp = iba_smp_mgmt_class(smp->mad) != IBA_CLASS_SUBN_LID && !iba_smp_is_dr(smp->mad);
	struct ibsim_packet *p;

	if (cl->q_n == cl->q_cap) {
		if (cl->q_cap >= EMU_QUEUE_MAX) {
			cl->lost++;
			m->stats.lost++;
			return;
		}
		queue_grow(cl);
	}
	p = &cl->queue[(cl->q_first + cl->q_n++) & (cl->q_cap - 1)];
	*p = (struct ibsim_packet){.dlid = htons(smp->dlid),
				   .slid = htons(smp->slid),
				   .dqp = htonl(gmp),
				   .sqp = htonl(gmp),
				   .status = htonl(status),
				   .length = __builtin_bswap64(IBA_MAD_SIZE)};
	memcpy(p->mad, smp->mad, IBA_MAD_SIZE);
	make_unsent(m, c);
}

/* Returns the number of packets sent, or -errno when the client is gone. */
int queue_send(struct emu *m, struct emu_client *cl)
{
	int total = 0;

	while (cl->q_n) {
		unsigned want = MIN(cl->q_n, (uint32_t)EMU_BATCH);
		int n;

		for (unsigned i = 0; i < want; i++)
			m->io->out_iov[i] =
				(struct iovec){&cl->queue[(cl->q_first + i) & (cl->q_cap - 1)],
					       sizeof(*cl->queue)};
		n = sendmmsg(cl->sock->fd, m->io->out_msg, want, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != ENOBUFS)
			return -errno;
		cl->blocked = n < (int)want;
		if (n <= 0)
			break;
		cl->q_first = (cl->q_first + (uint32_t)n) & (cl->q_cap - 1);
		cl->q_n -= (uint32_t)n;
		cl->mads_out += (unsigned)n;
		total += n;
	}
	return total;
}

void wire_idle(struct emu *m)
{
	while (m->nready)
		m->clients[m->ready[--m->nready]].ready = false;
	for (uint32_t i = 0; i < m->nunsent; i++)
		sock_watch(m->clients[m->unsent[i]].sock, UV_READABLE | UV_WRITABLE, data_ready);
}
