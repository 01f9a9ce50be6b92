/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storm of bad datagrams against a server of ibsim's protocol, and against an SM on its fabric. Honest
 * clients must be served all the while: one asks after every few datagrams, another, a process of its own,
 * without end. State: struct world. Way in: main(). Does not judge what became of the fabric:
 * census does.
 */
#include "storm.h"

#include <getopt.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SEATS_MAX = 16,
	SALT_PROBE = 200,
	PROBE_EACH = 64,
	FLOOD_PROBE_EACH = 1000,
	DRAIN_EACH = 64,
	CONTROL_EACH = 300,
	MOVE_EACH = 2000,
	TRIES = 50
};

struct world {
	const char *server, *home; /* home: where the honest ones sit */
	const char *seats[SEATS_MAX];
	unsigned nseats;
	struct peer peer[SEATS_MAX];
	struct peer probe;
	struct storm storm;
	struct rng rng; /* for everything but datagrams: which client sends, which leaves */
	uint64_t count, reconnects;
	bool flood, deaf; /* valid requests only; responses are not read */
	uint64_t home_guid;
};

struct asked {
	uint64_t times, worst_us;
};

/* ---- the honest ones ---- */

/* "H-0001000000000010" */
static uint64_t guid_of(const char *node)
{
	const char *dash = strchr(node, '-');

	return dash ? strtoull(dash + 1, NULL, 16) : 0;
}

static void ask_home(struct peer *p, struct rng *r, uint64_t guid, struct asked *a, const char *who)
{
	struct iba_node_info ni;
	uint64_t began = soak_now_us(), took;
	int rc = peer_node_info(p, rng_u64(r), &ni);

	if (rc)
		soak_fail("%s: no answer to question %llu: %s", who, (unsigned long long)a->times,
			  strerror(-rc));
	if (ni.node_guid != guid)
		soak_fail("%s: asked 0x%llx, the answer is from 0x%llx", who,
			  (unsigned long long)guid, (unsigned long long)ni.node_guid);
	took = soak_now_us() - began;
	a->times++;
	a->worst_us = MAX(a->worst_us, took);
}

static void witness(const struct world *w, int stop_fd)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
	struct asked a = {0};
	struct peer p;
	struct rng r;
	int rc = peer_open(&p, w->server, w->home, 0, false);

	if (rc)
		soak_fail("witness: cannot connect: %s", strerror(-rc));
	rng_seed(&r, (uint64_t)getpid(), 3);
	while (!poll(&stop, 1, 1))
		ask_home(&p, &r, w->home_guid, &a, "witness");
	peer_close(&p, true);
	printf("# witness: %llu answers, the slowest after %llu ms\n", (unsigned long long)a.times,
	       (unsigned long long)a.worst_us / 1000);
	exit(0);
}

static pid_t witness_start(const struct world *w, int *stop)
{
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		soak_fail("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		soak_fail("fork: %s", strerror(errno));
	if (!pid) {
		close(fds[1]);
		witness(w, fds[0]);
	}
	close(fds[0]);
	*stop = fds[1];
	return pid;
}

/* ---- the others ---- */

/* Refused where an SM is already, and by answers to what the seat threw before it left. */
static void seat_open(struct world *w, unsigned i)
{
	int rc = peer_open(&w->peer[i], w->server, w->seats[i], 1 + i, rng_below(&w->rng, 4) == 0);

	for (unsigned k = 0; k < TRIES && (rc == -EACCES || rc == -ECONNREFUSED); k++) {
		usleep(1000 * k);
		rc = peer_open(&w->peer[i], w->server, w->seats[i], 1 + i, false);
	}
	if (rc)
		soak_fail("storm: cannot connect at '%s': %s", w->seats[i], strerror(-rc));
}

static void seat_again(struct world *w, unsigned i, bool goodbye)
{
	peer_close(&w->peer[i], goodbye);
	seat_open(w, i);
	w->reconnects++;
}

static void throw_control(struct world *w, unsigned i)
{
	uint8_t buf[STORM_MAX_BYTES];
	size_t len = storm_control(&w->storm, w->peer[i].client, buf);

	peer_ctl_raw(&w->peer[i], buf, len);
	peer_ctl_drain(&w->peer[i]);
}

/* Answers Get(SMInfo) as a manager of high rank, or with random values. */
static void answer_back(struct world *w, unsigned i, const struct ibsim_packet *got)
{
	struct iba_sm_info si = {
		.guid = rng_u64(&w->rng), .priority = 15, .state = rng_below(&w->rng, 5) & 7};
	struct ibsim_packet p = *got;

	if (iba_smp_method(p.mad) != IBA_GET || iba_smp_attr_id(p.mad) != IBA_ATTR_SM_INFO)
		return;
	iba_smp_set_method(p.mad, IBA_GET_RESP);
	iba_smp_set_status(p.mad, iba_smp_is_dr(p.mad) ? IBA_STATUS_DR_RETURN : 0);
	iba_sm_info_put(&si, iba_smp_data(p.mad));
	p.dlid = got->slid;
	p.slid = got->dlid;
	peer_send(&w->peer[i], &p, sizeof(p));
}

static void seat_read(struct world *w, unsigned i)
{
	struct ibsim_packet p;

	while (peer_recv(&w->peer[i], &p, 0))
		answer_back(w, i, &p);
}

/* Get(NodeInfo) of the node itself. */
static size_t good_request(struct world *w, uint8_t *buf)
{
	struct ibsim_packet p;

	peer_directed(&p, IBA_GET, IBA_ATTR_NODE_INFO, 0, NULL, 0);
	iba_smp_set_tid(p.mad, rng_u64(&w->rng));
	memcpy(buf, &p, sizeof(p));
	return sizeof(p);
}

static void throw_packet(struct world *w, unsigned i)
{
	uint8_t buf[STORM_MAX_BYTES];
	size_t len = w->flood ? good_request(w, buf) : storm_packet(&w->storm, buf);
	int rc = peer_send(&w->peer[i], buf, len);

	if (rc == -ENOTCONN) /* a control message of ours, or of another seat, ended it */
		seat_again(w, i, false);
	else if (rc)
		soak_fail("storm: the server takes nothing any more: %s", strerror(-rc));
}

/* The probe's answer also says that the server has come so far: UDP throws away what finds no room, and who
 * leaves takes along what was not read yet. A storm must arrive; a flood need not. */
static void rage(struct world *w, struct asked *a)
{
	unsigned probe_each = w->flood ? FLOOD_PROBE_EACH : PROBE_EACH;
	struct rng r;

	rng_seed(&r, (uint64_t)getpid(), 4);
	for (uint64_t n = 0; n < w->count; n++) {
		unsigned i = rng_below(&w->rng, w->nseats);

		throw_packet(w, i);
		if (!w->flood && n % CONTROL_EACH == CONTROL_EACH - 1)
			throw_control(w, i);
		if (!w->flood && n % MOVE_EACH == MOVE_EACH - 1)
			seat_again(w, i, n / MOVE_EACH % 2);
		if (!w->deaf && n % DRAIN_EACH == 0)
			for (unsigned s = 1; s < w->nseats; s++) /* the first never reads */
				seat_read(w, s);
		if (n % probe_each == probe_each - 1)
			ask_home(&w->probe, &r, w->home_guid, a, "probe");
	}
}

/* ---- life ---- */

static void report(const struct world *w, const struct asked *a, uint64_t us)
{
	printf("# storm: %llu datagrams in %llu ms, %llu a second", (unsigned long long)w->count,
	       (unsigned long long)us / 1000,
	       (unsigned long long)(w->count * 1000000 / MAX(us, 1u)));
	for (unsigned k = 0; !w->flood && k < STORM_NKINDS; k++)
		printf("%s%llu %s", k ? ", " : ": ", (unsigned long long)w->storm.sent[k],
		       storm_names[k]);
	putchar('\n');
	printf("# storm: %llu new connections; %llu probes, the slowest after %llu ms\n",
	       (unsigned long long)w->reconnects, (unsigned long long)a->times,
	       (unsigned long long)a->worst_us / 1000);
}

static void parse(struct world *w, int argc, char **argv)
{
	uint64_t seed = 1;
	int o;

	w->home = "";
	w->storm.ports = 8;
	while ((o = getopt(argc, argv, "s:n:S:a:h:l:p:v:FD")) >= 0) {
		if (o == 's')
			w->server = optarg;
		else if (o == 'n')
			w->count = soak_number(optarg);
		else if (o == 'S')
			seed = soak_number(optarg);
		else if (o == 'a' && w->nseats < SEATS_MAX)
			w->seats[w->nseats++] = optarg;
		else if (o == 'h')
			w->home = optarg;
		else if (o == 'l')
			w->storm.sm_lid = (uint16_t)soak_number(optarg);
		else if (o == 'p')
			w->storm.ports = (unsigned)soak_number(optarg);
		else if (o == 'F')
			w->flood = true;
		else if (o == 'D')
			w->deaf = true;
		else if (o == 'v')
			w->storm.victim = (uint32_t)soak_number(optarg);
		else
			soak_fail(
				"usage: storm -s SERVER -n COUNT -h HOME -a SEAT... [-S SEED] [-l SM_LID] [-p PORTS] [-v PID] [-F] [-D]");
	}
	if (!w->server || !w->count || !w->nseats || !w->storm.ports)
		soak_fail("storm: -s, -n, -h and -a are needed");
	rng_seed(&w->storm.rng, seed, 1);
	rng_seed(&w->rng, seed, 2);
	w->home_guid = guid_of(w->home);
}

int main(int argc, char **argv)
{
	static struct world w;
	struct asked a = {0};
	uint64_t began;
	int stop, status, rc;
	pid_t pid;

	parse(&w, argc, argv);
	pid = witness_start(&w, &stop);
	if (!w.storm.victim)
		w.storm.victim = (uint32_t)pid;
	rc = peer_open(&w.probe, w.server, w.home, SALT_PROBE, false);
	if (rc)
		soak_fail("probe: cannot connect: %s", strerror(-rc));
	for (unsigned i = 0; i < w.nseats; i++)
		seat_open(&w, i);
	began = soak_now_us();
	rage(&w, &a);
	report(&w, &a, soak_now_us() - began);
	for (unsigned i = 0; i < w.nseats; i++)
		peer_close(&w.peer[i], true);
	peer_close(&w.probe, true);
	close(stop);
	if (waitpid(pid, &status, 0) != pid || status)
		soak_fail("storm: the witness was not served");
	return 0;
}
