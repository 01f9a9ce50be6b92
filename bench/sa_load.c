/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that ask subnet administration, each with a connection of its own to the fabric: what a request takes, how many a
 * second are answered, and whether the answers are right. State: struct load. Way in: main(). One line of JSON; knows
 * nothing of which manager answers, but the id of its process, whose CPU time it reads from /proc.
 *
 *	sa-load NETLIST SERVER PID CLIENTS paths COUNT [WINDOW]   Get(PathRecord) from each client to random hosts
 *	sa-load NETLIST SERVER PID CLIENTS echo COUNT [WINDOW]    the same to sa-floor: any answer is right
 *	sa-load NETLIST SERVER PID CLIENTS watch SECONDS RATE     as paths, RATE a second in all, for so long
 *	sa-load NETLIST SERVER PID CLIENTS nodes COUNT            GetTable(NodeRecord): all of them
 *	sa-load NETLIST SERVER PID CLIENTS tables COUNT           GetTable(PathRecord) from each client to all
 *	sa-load NETLIST SERVER PID CLIENTS joins SECONDS RATE     joins and leaves of 100 groups, RATE a second in all
 *
 * A request without an answer is sent again after REPEAT_MS, up to TRIES times; then it is lost. So is one that is answered
 * with "busy", after as long: the status says that the requester shall ask again (IBA 13.4.7). The LIDs of all hosts are read
 * first: an answer with another one is wrong, as is one with another status, or a table without one of the hosts. In the times
 * a lost request counts with the time until it was given up.
 */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "fabric/fabric.h"
#include "iba/rmpp.h"
#include "iba/sa_wire.h"
#include "transport/transport.h"

enum { REPEAT_MS = 250, TABLE_MS = 20000, TRIES = 8, MOST_WINDOW = 64, MOST_CLIENTS = 1000 };
enum { GROUPS = 100, BATCH = 32, PREFIX_BYTES = 8 };
#define PREFIX 0xfe80000000000000ull

enum kind { PATHS, ECHO, WATCH, NODES, TABLES, JOINS, NKINDS };
static const char *const kind_names[NKINDS] = {"paths", "echo",	  "watch",
					       "nodes", "tables", "joins"};

struct op { /* a request that waits for its answer */
	bool used;
	uint32_t tid;
	double first, last; /* when it was sent */
	unsigned tries;
	uint32_t what; /* a host, or a group */
	struct tp_mad mad;
	struct iba_rmpp_in in;
};

struct client {
	struct tp *tp;
	uint32_t host;
	struct op ops[MOST_WINDOW];
	bool member[GROUPS];
};

struct load {
	struct fab_netlist net;
	VEC(uint64_t) hosts; /* port GUIDs */
	VEC(uint64_t) nodes; /* of their nodes */
	uint16_t *lids;	     /* of them; 0: not known yet */
	struct map64 by_guid;
	struct client *clients;
	struct pollfd *fds;
	unsigned n, window;
	uint16_t sm_lid;
	enum kind kind;
	long pid;
	uint64_t count; /* to be sent; UINT64_MAX: until the end */
	double rate, until, started;
	uint32_t tid;
	struct rng rng;
	uint64_t sent, answered, lost, wrong, repeated, busy, records;
	VEC(uint32_t) took_us;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "sa-load: %s\n", what);
	exit(2);
}

/* CPU time of all threads of the manager, in microseconds; 0: it cannot be read. */
static double cpu_us(long pid)
{
	char path[320];
	struct dirent *d;
	double sum = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		unsigned long long ns = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%ld/task/%s/schedstat", pid, d->d_name);
		f = *d->d_name == '.' ? NULL : fopen(path, "r");
		if (f && fscanf(f, "%llu", &ns) == 1)
			sum += (double)ns / 1e3;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return sum;
}

/* ---- requests ---- */

static void gid_put(uint8_t gid[16], uint64_t guid)
{
	iba_be64_put(gid, PREFIX);
	iba_be64_put(gid + PREFIX_BYTES, guid);
}

static uint8_t *begin(struct load *l, struct op *op, unsigned method, uint16_t attr_id,
		      uint64_t mask)
{
	struct iba_sa_hdr h = {.mask = mask};

	iba_rmpp_in_free(&op->in);
	*op = (struct op){.used = true,
			  .tid = ++l->tid,
			  .mad = {.dlid = l->sm_lid, .qp = 1},
			  .first = now_s()};
	iba_smp_set_base_version(op->mad.mad, 1);
	iba_smp_set_mgmt_class(op->mad.mad, IBA_CLASS_SUBN_ADM);
	iba_smp_set_class_version(op->mad.mad, IBA_SA_CLASS_VERSION);
	iba_smp_set_method(op->mad.mad, (uint8_t)method);
	iba_smp_set_attr_id(op->mad.mad, attr_id);
	iba_smp_set_tid(op->mad.mad, op->tid);
	iba_sa_hdr_put(&h, op->mad.mad);
	return op->mad.mad + IBA_SA_DATA_OFF;
}

static void path_request(struct load *l, struct client *c, struct op *op)
{
	const uint64_t mask = IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, dgid) |
			      IBA_SA_BIT(path, reversible) | IBA_SA_BIT(path, num_paths) |
			      IBA_SA_BIT(path, pkey);
	struct iba_sa_path q = {.reversible = 1, .num_paths = 1, .pkey = 0xffff};
	uint32_t to = rng_below(&l->rng, (uint32_t)l->hosts.n);
	uint8_t *data = begin(l, op, IBA_GET, IBA_SA_PATH, mask);

	op->what = to;
	gid_put(q.sgid, l->hosts.at[c->host]);
	gid_put(q.dgid, l->hosts.at[to]);
	iba_sa_path_put(&q, data);
}

static void table_request(struct load *l, struct client *c, struct op *op)
{
	struct iba_sa_path q = {.num_paths = 1, .reversible = 1};
	uint8_t *data;

	if (l->kind == NODES) {
		begin(l, op, IBA_SA_GET_TABLE, IBA_SA_NODE, 0);
		return;
	}
	data = begin(l, op, IBA_SA_GET_TABLE, IBA_SA_PATH,
		     IBA_SA_BIT(path, sgid) | IBA_SA_BIT(path, num_paths) |
			     IBA_SA_BIT(path, reversible));
	gid_put(q.sgid, l->hosts.at[c->host]);
	iba_sa_path_put(&q, data);
}

/* A full member that is not one joins, another one leaves. What is joined is created if need be. */
static void member_request(struct load *l, struct client *c, struct op *op)
{
	const uint64_t few = IBA_SA_BIT(member, mgid) | IBA_SA_BIT(member, port_gid) |
			     IBA_SA_BIT(member, join_state);
	const uint64_t all = few | IBA_SA_BIT(member, qkey) | IBA_SA_BIT(member, pkey) |
			     IBA_SA_BIT(member, traffic_class) | IBA_SA_BIT(member, sl) |
			     IBA_SA_BIT(member, flow_label);
	static const uint8_t like[16] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0x0a};
	struct iba_sa_member m = {.qkey = 0xb1b, .pkey = 0xffff, .join_state = 1};
	uint32_t group = rng_below(&l->rng, GROUPS);
	bool is_free = false;
	uint8_t *data;

	while (!is_free) { /* one request at a time for a group */
		is_free = true;
		for (unsigned i = 0; i < MOST_WINDOW; i++)
			is_free &= &c->ops[i] == op || !c->ops[i].used || c->ops[i].what != group;
		group = is_free ? group : (group + 1) % GROUPS;
	}
	data = begin(l, op, c->member[group] ? IBA_SA_DELETE : IBA_SET, IBA_SA_MEMBER,
		     c->member[group] ? few : all);
	op->what = group;
	memcpy(m.mgid, like, 16);
	m.mgid[15] = (uint8_t)group;
	gid_put(m.port_gid, l->hosts.at[c->host]);
	iba_sa_member_put(&m, data);
}

static void transmit(struct load *l, struct client *c, struct op *op, double now)
{
	if (op->tries)
		l->repeated++;
	op->tries++;
	op->last = now;
	if (tp_send(c->tp, &op->mad, 1) < 0) /* not accepted: as if it were lost */
		die("the fabric is gone");
}

static void start(struct load *l, struct client *c, struct op *op)
{
	switch (l->kind) {
	case PATHS:
	case ECHO:
	case WATCH:
		path_request(l, c, op);
		break;
	case NODES:
	case TABLES:
		table_request(l, c, op);
		break;
	case JOINS:
		member_request(l, c, op);
		break;
	case NKINDS:
		return;
	}
	l->sent++;
	transmit(l, c, op, op->first);
}

/* ---- answers ---- */

static bool path_is_right(const struct load *l, const struct client *c, uint32_t to,
			  const uint8_t *record)
{
	struct iba_sa_path p;

	iba_sa_path_get(&p, record, IBA_SA_DATA_SIZE);
	return iba_be64(p.dgid + PREFIX_BYTES) == l->hosts.at[to] && p.dlid == l->lids[to] &&
	       p.slid == l->lids[c->host];
}

/* All hosts are in a table, with their LIDs; of the first table, LIDs are learned. */
static bool table_is_right(struct load *l, const struct client *c, const uint8_t *at, size_t size,
			   size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++, at += size) {
		uint32_t host;

		if (l->kind == NODES) {
			struct iba_sa_node r;

			iba_sa_node_get(&r, at, size);
			host = map64_get(&l->by_guid, r.port_guid);
			if (host == MAP_NONE)
				continue;
			if (!l->lids[host])
				l->lids[host] = r.lid;
			found += l->lids[host] == r.lid;
			continue;
		}
		host = map64_get(&l->by_guid, iba_be64(at + 16)); /* of the DGID */
		found += host != MAP_NONE && path_is_right(l, c, host, at);
	}
	l->records += n;
	return found == l->hosts.n;
}

static void finish(struct load *l, struct client *c, struct op *op, bool right)
{
	uint32_t us = (uint32_t)((now_s() - op->first) * 1e6);

	op->used = false;
	iba_rmpp_in_free(&op->in);
	l->answered++;
	l->wrong += !right;
	vec_push(&l->took_us, us);
	if (l->kind == JOINS && right)
		c->member[op->what] = !c->member[op->what];
}

static void take_short(struct load *l, struct client *c, struct op *op, const uint8_t *mad)
{
	bool right = !iba_smp_status(mad);

	if (iba_smp_status(mad) == IBA_STATUS_BUSY) {
		l->busy++;
		op->last = now_s();
		return;
	}
	if (l->kind == PATHS || l->kind == WATCH)
		right = right && path_is_right(l, c, op->what, mad + IBA_SA_DATA_OFF);
	if (l->kind == NODES || l->kind == TABLES)
		right = false; /* it has more than one segment, or none at all */
	l->records += right;
	finish(l, c, op, right);
}

static void take_segment(struct load *l, struct client *c, struct op *op, const uint8_t *mad)
{
	struct tp_mad reply = {.dlid = l->sm_lid, .qp = 1};
	enum iba_rmpp_step s = iba_rmpp_in_take(&op->in, mad, reply.mad);
	size_t size;

	if (s == IBA_RMPP_NOTHING)
		return;
	if (s != IBA_RMPP_FAILED)
		tp_send(c->tp, &reply, 1);
	op->last = now_s();
	if (s == IBA_RMPP_REPLY)
		return;
	if (s != IBA_RMPP_DONE) {
		finish(l, c, op, false);
		return;
	}
	size = (size_t)iba_be16(op->in.data + 44) * 8;
	finish(l, c, op,
	       size && table_is_right(l, c, op->in.data + IBA_SA_DATA_OFF, size,
				      (op->in.len - IBA_SA_DATA_OFF) / size));
}

static void take(struct load *l, struct client *c, const struct tp_mad *m)
{
	uint32_t tid = (uint32_t)iba_smp_tid(m->mad);

	if (m->lost || !m->qp || iba_smp_mgmt_class(m->mad) != IBA_CLASS_SUBN_ADM)
		return;
	for (unsigned i = 0; i < l->window; i++) {
		struct op *op = &c->ops[i];

		if (!op->used || op->tid != tid)
			continue;
		if (iba_rmpp_active(m->mad))
			take_segment(l, c, op, m->mad);
		else
			take_short(l, c, op, m->mad);
		return;
	}
}

/* ---- the loop ---- */

static void late(struct load *l, struct client *c, double now)
{
	double after = (l->kind == NODES || l->kind == TABLES ? TABLE_MS : REPEAT_MS) / 1e3;

	for (unsigned i = 0; i < l->window; i++) {
		struct op *op = &c->ops[i];

		if (!op->used || now - op->last < after)
			continue;
		if (op->tries < TRIES) {
			transmit(l, c, op, now);
			continue;
		}
		op->used = false;
		l->lost++;
		vec_push(&l->took_us, (uint32_t)((now - op->first) * 1e6));
	}
}

/* How many requests may be sent by now. */
static uint64_t allowed(const struct load *l, double now)
{
	if (l->rate <= 0)
		return l->count;
	if (now >= l->until)
		return l->sent;
	return (uint64_t)((now - l->started) * l->rate);
}

static struct op *place(struct client *c, unsigned window)
{
	for (unsigned i = 0; i < window; i++)
		if (!c->ops[i].used)
			return &c->ops[i];
	return NULL;
}

/* Clients take turns, so that each has the same share. */
static void send_due(struct load *l, double now)
{
	static unsigned turn;
	uint64_t most = allowed(l, now);
	unsigned full = 0;

	while (l->sent < most && full < l->n) {
		struct client *c = &l->clients[turn++ % l->n];
		struct op *op = place(c, l->window);

		if (op) {
			start(l, c, op);
			full = 0;
		} else {
			full++;
		}
	}
}

static void receive(struct load *l)
{
	struct tp_mad in[BATCH];
	int n;

	poll(l->fds, l->n, 1);
	for (unsigned i = 0; i < l->n; i++) {
		if (!(l->fds[i].revents & POLLIN))
			continue;
		n = tp_recv(l->clients[i].tp, in, BATCH);
		if (n < 0)
			die("the fabric is gone");
		for (int k = 0; k < n; k++)
			take(l, &l->clients[i], &in[k]);
	}
}

static void run(struct load *l)
{
	double looked = 0;

	for (;;) {
		double now = now_s();
		bool over = l->rate > 0 ? now >= l->until : l->sent >= l->count;

		if (over && l->answered + l->lost >= l->sent)
			return;
		send_due(l, now);
		receive(l);
		if (now - looked < 0.01)
			continue;
		looked = now;
		for (unsigned i = 0; i < l->n; i++)
			late(l, &l->clients[i], now);
	}
}

/* ---- before and after ---- */

static void own_port(struct client *c, struct iba_port_info *pi)
{
	struct tp_mad m = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE}, in;

	iba_smp_init(m.mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_PORT_INFO, 0);
	iba_smp_set_tid(m.mad, 1);
	iba_smp_set_dr_slid(m.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(m.mad, IBA_LID_PERMISSIVE);
	for (unsigned i = 0; i < 100; i++) {
		struct pollfd p = {.fd = tp_fd(c->tp), .events = POLLIN};

		tp_send(c->tp, &m, 1);
		poll(&p, 1, 100);
		if (tp_recv(c->tp, &in, 1) == 1 && !in.qp &&
		    iba_smp_method(in.mad) == IBA_GET_RESP) {
			iba_port_info_get(pi, iba_smp_data_const(in.mad), IBA_SMP_DATA_SIZE);
			return;
		}
	}
	die("a client's own port does not answer");
}

static void open_clients(struct load *l, const char *server)
{
	struct tp_where where = {0};
	struct iba_port_info pi;
	struct err e = {{0}};

	snprintf(where.server, sizeof(where.server), "%s", server);
	l->clients = mem_zarray(l->n, sizeof(*l->clients));
	l->fds = mem_zarray(l->n, sizeof(*l->fds));
	for (unsigned i = 0; i < l->n; i++) {
		struct client *c = &l->clients[i];

		/* Spread over the fabric, the manager's place left out. */
		c->host = (uint32_t)(1 + (uint64_t)i * (l->hosts.n - 1) / l->n);
		snprintf(where.device, sizeof(where.device), "0x%016llx",
			 (unsigned long long)l->nodes.at[c->host]);
		if (tp_open(&c->tp, "ibsim", &where, &e))
			die(e.text);
		l->fds[i] = (struct pollfd){.fd = tp_fd(c->tp), .events = POLLIN};
	}
	own_port(&l->clients[0], &pi);
	l->sm_lid = pi.sm_lid;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t share(const struct load *l, unsigned per_mille)
{
	return l->took_us.n ? l->took_us.at[(l->took_us.n - 1) * per_mille / 1000] : 0;
}

static void report(struct load *l, double seconds, double cpu)
{
	if (l->took_us.n)
		qsort(l->took_us.at, l->took_us.n, sizeof(l->took_us.at[0]), by_value);
	printf("{\"kind\": \"%s\", \"hosts\": %zu, \"clients\": %u, \"window\": %u, \"requests\": %llu, "
	       "\"answered\": %llu, \"records\": %llu, \"seconds\": %.3f, \"rate\": %.1f, \"cpu_us\": %.2f, "
	       "\"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u, \"repeated\": %llu, \"busy\": %llu, \"lost\": %llu, \"wrong\": %llu}\n",
	       kind_names[l->kind], l->hosts.n, l->n, l->window, (unsigned long long)l->sent,
	       (unsigned long long)l->answered, (unsigned long long)l->records, seconds,
	       (double)l->answered / seconds, l->answered ? cpu / (double)l->answered : 0,
	       share(l, 500), share(l, 990), share(l, 1000), (unsigned long long)l->repeated,
	       (unsigned long long)l->busy, (unsigned long long)l->lost,
	       (unsigned long long)l->wrong);
}

/* LIDs of all hosts, by one table of nodes. */
static void learn(struct load *l)
{
	enum kind kind = l->kind;
	uint64_t count = l->count;
	double rate = l->rate;

	l->kind = NODES;
	l->count = 1;
	l->rate = 0;
	run(l);
	if (l->wrong || l->lost)
		die("the table of all nodes is not complete, or did not come");
	l->kind = kind;
	l->count = count;
	l->rate = rate;
	l->sent = l->answered = l->records = l->repeated = l->busy = 0;
	l->took_us.n = 0;
}

static void arguments(struct load *l, int argc, char **argv)
{
	const char *usage =
		"usage: sa-load NETLIST SERVER PID CLIENTS paths|echo|nodes|tables COUNT "
		"[WINDOW] | watch|joins SECONDS RATE";

	if (argc < 7)
		die(usage);
	l->pid = atol(argv[3]);
	l->n = (unsigned)atoi(argv[4]);
	for (l->kind = 0; l->kind < NKINDS && strcmp(argv[5], kind_names[l->kind]);)
		l->kind++;
	l->window = 1;
	if (l->kind == WATCH || l->kind == JOINS) {
		l->rate = argc > 7 ? atof(argv[7]) : 0;
		l->until = atof(argv[6]);
		l->window = MOST_WINDOW;
		l->count = UINT64_MAX;
		if (l->rate <= 0 || l->until <= 0)
			die(usage);
	} else {
		l->count = strtoull(argv[6], NULL, 0);
		l->window = argc > 7 ? (unsigned)atoi(argv[7]) : 1;
	}
	if (l->kind == NKINDS || !l->n || l->n > MOST_CLIENTS || !l->window ||
	    l->window > MOST_WINDOW || !l->count)
		die(usage);
}

int main(int argc, char **argv)
{
	struct load l = {0};
	struct err e = {{0}};
	double cpu;

	arguments(&l, argc, argv);
	rng_seed(&l.rng, 1, 0);
	if (fab_netlist_load(&l.net, argv[1], &e))
		die(e.text);
	for (port_id p = 0; p < l.net.fab->nports; p++)
		if (l.net.fab->ports[p].num && l.net.fab->ports[p].guid) {
			map64_put(&l.by_guid, l.net.fab->ports[p].guid, (uint32_t)l.hosts.n);
			vec_push(&l.hosts, l.net.fab->ports[p].guid);
			vec_push(&l.nodes, l.net.fab->nodes[l.net.fab->ports[p].node].guid);
		}
	if (l.hosts.n < 2 || l.n > l.hosts.n - 1)
		die("fewer hosts than clients and a manager");
	l.lids = mem_zarray(l.hosts.n, sizeof(*l.lids));
	open_clients(&l, argv[2]);
	if (l.kind != ECHO)
		learn(&l);
	cpu = cpu_us(l.pid);
	l.started = now_s();
	l.until += l.started;
	run(&l);
	report(&l, now_s() - l.started, cpu_us(l.pid) - cpu);
	return l.wrong || l.lost;
}
