/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server of ibsim's protocol that knows nothing but another server, and lies about what that one says:
 * a share of the answers comes changed, twice, late, as an answer to something else, or not at all. After
 * so many packets, or at SIGUSR1, it tells the truth, until SIGUSR2. Meanwhile it may pelt its clients with
 * datagrams that no device sent. State: struct liar. Way in: main(). Requests go up as they are: what is in the
 * devices is what the SM sets.
 */
#include "liar.h"
#include "storm.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 16, TURN = 32, PATIENCE_MS = 200, PELT_TURN = 64 };

struct client {
	bool used;
	struct sockaddr_un ctl; /* where it asks from */
	socklen_t ctl_len;
	uint32_t id;
	int fd;		/* our end of its packets */
	struct peer up; /* its connection to the honest server */
};

struct liar {
	const char *name, *up;
	int ctl;
	struct client clients[CLIENTS];
	struct lies lies;
	uint64_t packets; /* to lie about */
	struct storm storm;
	uint64_t pelt, pelt_left, pelted, no_room;
};

static volatile sig_atomic_t honest, again, stop;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		honest = 1;
	else if (number == SIGUSR2)
		again = 1;
	else
		stop = 1;
}

/* ---- sockets ---- */

static socklen_t address(struct sockaddr_un *a, const char *server, const char *what,
			 int64_t number)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = number < 0 ? snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s", server, what)
		       : snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s:%s%lld", server,
				  what, (long long)number);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
}

static int bound(const char *server, const char *what, int64_t number)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, server, what, number);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len))
		soak_fail("liar: the socket '%s:%s': %s", server, what, strerror(errno));
	return fd;
}

/* ---- clients ---- */

static void client_gone(struct client *c, bool goodbye)
{
	close(c->fd);
	peer_close(&c->up, goodbye);
	c->used = false;
}

static bool client_come(struct liar *l, struct ibsim_ctl *m, const struct sockaddr_un *from,
			socklen_t len)
{
	struct ibsim_client_info info;
	struct sockaddr_un in;
	unsigned i = 0;

	memcpy(&info, m->data, sizeof(info));
	for (unsigned k = 0; k < CLIENTS; k++)
		if (l->clients[k].used && l->clients[k].id == info.id)
			client_gone(&l->clients[k], true);
	while (i < CLIENTS && l->clients[i].used)
		i++;
	if (i == CLIENTS)
		return false;
	info.node[sizeof(info.node) - 1] = 0;
	if (peer_open(&l->clients[i].up, l->up, info.node, i + 1, info.is_sm))
		return false;
	l->clients[i].used = true;
	l->clients[i].ctl = *from;
	l->clients[i].ctl_len = len;
	l->clients[i].id = info.id;
	l->clients[i].fd = bound(l->name, "out", i);
	len = address(&in, l->name, "in", info.id);
	if (connect(l->clients[i].fd, (struct sockaddr *)&in, len)) {
		client_gone(&l->clients[i], true);
		return false;
	}
	info.id = m->client = i;
	memcpy(m->data, &info, sizeof(info));
	return true;
}

static bool ctl_known(struct liar *l, struct ibsim_ctl *m)
{
	struct client *c = m->client < CLIENTS ? &l->clients[m->client] : NULL;

	if (!c || !c->used)
		return false;
	if (m->type == IBSIM_DISCONNECT) {
		client_gone(c, true);
		return true;
	}
	return !peer_ctl(&c->up, m->type, m->data, sizeof(m->data));
}

static void ctl_ready(struct liar *l)
{
	struct sockaddr_un from;
	socklen_t len = sizeof(from);
	struct ibsim_ctl m;
	ssize_t n;

	while ((n = recvfrom(l->ctl, &m, sizeof(m), 0, (struct sockaddr *)&from, &len)) >= 0) {
		if (n == (ssize_t)sizeof(m) && m.magic == IBSIM_MAGIC) {
			if (!(m.type == IBSIM_CONNECT ? client_come(l, &m, &from, len)
						      : ctl_known(l, &m)))
				m.type = IBSIM_ERROR;
			sendto(l->ctl, &m, sizeof(m), 0, (struct sockaddr *)&from, len);
		}
		len = sizeof(from);
	}
}

/* ---- packets ---- */

static void deliver(void *ctx, uint32_t to, const void *bytes, size_t len)
{
	struct liar *l = ctx;
	struct pollfd f = {.fd = l->clients[to].fd, .events = POLLOUT};

	if (!l->clients[to].used)
		return;
	/* A client that does not read for a while loses the packet, as with a correct server. */
	while (send(f.fd, bytes, len, MSG_NOSIGNAL) < 0)
		if (errno != EAGAIN || poll(&f, 1, PATIENCE_MS) <= 0) {
			l->lies.lost++;
			return;
		}
}

static void up_and_down(struct liar *l, uint32_t i)
{
	struct client *c = &l->clients[i];
	struct ibsim_packet p;
	ssize_t n = 0;

	for (unsigned k = 0; k < TURN && (n = recv(c->fd, &p, sizeof(p), 0)) >= 0; k++)
		if (peer_send(&c->up, &p, (size_t)n))
			n = -1;
	if (n < 0 && errno == ECONNREFUSED) {
		client_gone(c, true);
		return;
	}
	for (unsigned k = 0; k < TURN && peer_recv(&c->up, &p, 0); k++)
		lies_pass(&l->lies, i, &p, soak_now_ms());
}

/*
 * Anything, or an answer that passed lately with something wrong in it, now and then for a question that is
 * open. What there is no room for is not sent, and does not count.
 */
static bool pelt(struct liar *l, uint32_t to)
{
	uint8_t bytes[STORM_MAX_BYTES];
	size_t len = sizeof(struct ibsim_packet);

	if (l->lies.nold && rng_below(&l->storm.rng, 2))
		lies_about_old(&l->lies, (struct ibsim_packet *)bytes);
	else
		len = storm_packet(&l->storm, bytes);
	return send(l->clients[to].fd, bytes, len, MSG_NOSIGNAL) >= 0;
}

static void pelt_all(struct liar *l)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		for (unsigned k = 0; l->clients[i].used && l->pelt_left && k < PELT_TURN; k++) {
			if (!pelt(l, i)) {
				l->no_room++;
				break;
			}
			l->pelted++;
			l->pelt_left--;
		}
}

static void serve(struct liar *l)
{
	struct pollfd fds[1 + 2 * CLIENTS] = {{.fd = l->ctl, .events = POLLIN}};

	for (unsigned i = 0; i < CLIENTS; i++) {
		fds[1 + 2 * i] = (struct pollfd){.fd = l->clients[i].used ? l->clients[i].fd : -1,
						 .events = POLLIN};
		fds[2 + 2 * i] = (struct pollfd){
			.fd = l->clients[i].used ? l->clients[i].up.fd : -1, .events = POLLIN};
	}
	poll(fds, ARRAY_LEN(fds), l->pelt_left ? 0 : 5);
	ctl_ready(l);
	for (uint32_t i = 0; i < CLIENTS; i++)
		if (l->clients[i].used)
			up_and_down(l, i);
	pelt_all(l);
	if (honest)
		l->lies.left = l->pelt_left = 0;
	else if (again)
		l->lies.left = l->packets, l->pelt_left = l->pelt;
	honest = again = 0;
	lies_due(&l->lies, soak_now_ms());
}

static void parse(struct liar *l, int argc, char **argv)
{
	uint64_t seed = 1;
	int o;

	l->lies.one_in = 10;
	while ((o = getopt(argc, argv, "s:u:n:S:k:x:")) >= 0) {
		if (o == 's')
			l->name = optarg;
		else if (o == 'u')
			l->up = optarg;
		else if (o == 'n')
			l->packets = l->lies.left = soak_number(optarg);
		else if (o == 'S')
			seed = soak_number(optarg);
		else if (o == 'k')
			l->lies.one_in = (uint32_t)soak_number(optarg);
		else if (o == 'x')
			l->pelt = l->pelt_left = soak_number(optarg);
	}
	if (!l->name || !l->up || !l->lies.one_in)
		soak_fail(
			"usage: liar -s NAME -u HONEST_SERVER -n PACKETS [-k ONE_IN] [-S SEED] [-x PELTS]");
	rng_seed(&l->lies.rng, seed, 1);
	rng_seed(&l->storm.rng, seed, 2);
	l->storm.sm_lid = 1;
	l->storm.ports = 4;
}

int main(int argc, char **argv)
{
	static struct liar l;
	struct sigaction a = {.sa_handler = on_signal};
	bool lied = false;

	parse(&l, argc, argv);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGINT, &a, NULL);
	l.ctl = bound(l.name, "ctl", -1);
	l.lies.deliver = deliver;
	l.lies.ctx = &l;
	printf("liar: serving '%s'\n", l.name);
	fflush(stdout);
	while (!stop) {
		serve(&l);
		if (lied && !l.lies.left && !l.pelt_left) {
			printf("liar: pelted %llu times, %llu times no room\n",
			       (unsigned long long)l.pelted, (unsigned long long)l.no_room);
			lies_report(&l.lies);
		}
		lied = l.lies.left || l.pelt_left;
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		if (l.clients[i].used)
			client_gone(&l.clients[i], true);
	close(l.ctl);
	lies_free(&l.lies);
	return 0;
}
