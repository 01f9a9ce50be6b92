/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's control sockets, and one turn after another for the clients that have something to
 * read or to be sent. State: struct emu_io and the lists of struct emu. Ways in: wire_open(), then
 * wire_serve() turn by turn. Never blocks, never waits for a client; does not look into MADs.
 */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "emu/client_socket.h"

enum { CTL_TURN = 16 };

/* ---- control messages ---- */

static void ctl_ready(uv_poll_t *h, int status UNUSED, int events UNUSED)
{
	struct emu_sock *s = h->data;
	struct ibsim_ctl msg[2]; /* room to detect a message that is too long */

	for (unsigned i = 0; i < CTL_TURN; i++) {
		struct emu_addr from = {.len = sizeof(from.a)};
		ssize_t n = recvfrom(s->fd, msg, sizeof(msg), 0, &from.a.any, &from.len);

		if (n < 0)
			break;
		if (n != sizeof(msg[0]) || !ctl_answer(s->m, &msg[0], &from, s->udp)) {
			s->m->stats.bad_packets++;
			continue;
		}
		/* A client sends one request at a time: there is room for the answer, or the
		 * client is gone. */
		if (sendto(s->fd, &msg[0], sizeof(msg[0]), 0, &from.a.any, from.len) < 0)
			continue;
	}
}

static int ctl_open(struct emu *m, const struct emu_addr *a, bool udp, struct emu_sock **s)
{
	int fd = socket_bound(a);

	if (fd < 0)
		return fd;
	*s = sock_new(m, fd, CLIENT_NONE, udp, ctl_ready);
	return 0;
}

/* One descriptor for each client, and some more: the shell's default limit may be too low. */
static void allow_descriptors(unsigned clients)
{
	struct rlimit r;
	rlim_t want = clients + 64;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= want)
		return;
	r.rlim_cur = MIN(want, r.rlim_max);
	setrlimit(RLIMIT_NOFILE, &r); /* if it fails, later clients are refused */
}

int wire_open(struct emu *m, struct err *e)
{
	struct emu_addr a;
	int rc;

	allow_descriptors(m->cfg.clients);
	m->io = mem_zalloc(sizeof(*m->io));
	for (unsigned i = 0; i < EMU_BATCH; i++) {
		m->io->in_iov[i] = (struct iovec){&m->io->in[i], sizeof(m->io->in[i])};
		m->io->in_msg[i].msg_hdr =
			(struct msghdr){.msg_iov = &m->io->in_iov[i], .msg_iovlen = 1};
		m->io->out_msg[i].msg_hdr =
			(struct msghdr){.msg_iov = &m->io->out_iov[i], .msg_iovlen = 1};
	}
	if (!m->cfg.name[0])
		return 0;
	addr_unix(&a, m->cfg.name, "ctl", -1);
	rc = ctl_open(m, &a, false, &m->ctl_unix);
	if (rc == -EADDRINUSE)
		return err_set(e, rc, "fabric name '%s' is already in use", m->cfg.name);
	if (rc)
		return err_set(e, rc, "cannot open socket '%s:ctl': %s", m->cfg.name,
			       strerror(-rc));
	if (!m->cfg.udp_port)
		return 0;
	addr_loopback(&a, m->cfg.udp_port);
	rc = ctl_open(m, &a, true, &m->ctl_udp);
	return rc ? err_set(e, rc, "cannot open UDP port %u on 127.0.0.1: %s", m->cfg.udp_port,
			    strerror(-rc))
		  : 0;
}

void wire_close(struct emu *m)
{
	sock_free(m->ctl_unix);
	sock_free(m->ctl_udp);
	m->ctl_unix = m->ctl_udp = NULL;
	free(m->io);
	m->io = NULL;
}

/* ---- out ---- */

bool wire_flush(struct emu *m)
{
	bool any = false;

	for (uint32_t i = m->nunsent; i-- > 0;) {
		uint32_t c = i < m->nunsent ? m->unsent[i] : CLIENT_NONE;
		int n;

		if (c == CLIENT_NONE)
			continue;
		n = queue_send(m, &m->clients[c]);
		if (n < 0) {
			clients_detach(m, c, "process ended");
			continue;
		}
		any |= n > 0;
		m->stats.mads_out += (unsigned)n;
		if (!m->clients[c].q_n) {
			m->clients[c].unsent = false;
			client_list_drop(m->unsent, &m->nunsent, c);
		}
	}
	return any;
}

/* ---- in ---- */

static int client_read(struct emu *m, uint32_t c, time_ps now)
{
	int n = recvmmsg(m->clients[c].sock->fd, m->io->in_msg, EMU_BATCH, MSG_DONTWAIT, NULL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		if (m->io->in_msg[i].msg_len == sizeof(m->io->in[i]) &&
		    !(m->io->in_msg[i].msg_hdr.msg_flags & MSG_TRUNC))
			deliver_from_client(m, c, &m->io->in[i], now);
		else
			m->stats.bad_packets++;
	}
	return n;
}

bool wire_serve(struct emu *m, time_ps now)
{
	bool any = false;

	for (uint32_t i = m->nready; i-- > 0;) {
		uint32_t c = i < m->nready ? m->ready[i] : CLIENT_NONE;
		int n;

		if (c == CLIENT_NONE)
			continue;
		n = client_read(m, c, now);
		if (n < 0 && !wire_alive(m, c)) {
			clients_detach(m, c, "process ended");
			continue;
		}
		if (n <= 0)
			continue;
		any = true;
		emu_settle(m, now);
		wire_flush(m);
	}
	if (m->nunsent)
		any |= wire_flush(m);
	return any;
}
