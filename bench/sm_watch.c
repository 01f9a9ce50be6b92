/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the managers at some nodes for their SMInfo again and again, as a third program on the fabric, and prints each
 * change: seconds since 1970, node, state. State: struct watch. Way in: main(). Believes no manager and judges
 * nothing: bench/ha.sh reads the lines.
 *
 *	sm-watch NETLIST SERVER OWN-NODE MS NODE...	ask every MS milliseconds, until killed
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "fabric/fabric.h"
#include "transport/transport.h"

enum { MAX_SEATS = 16, SILENT_MS = 100 };

struct seat {
	const char *name;
	node_id node;
	uint8_t path[IBA_PATH_SIZE];
	unsigned hops;
	int state;	 /* as printed last; -1: no response */
	double answered; /* when the last response came */
};

struct watch {
	struct fab_netlist net;
	struct tp *tp;
	struct seat seats[MAX_SEATS];
	unsigned n;
	uint32_t tid;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "sm-watch: %s\n", what);
	exit(2);
}

/* The shortest directed route from `from` to the seat, over the netlist's cables. */
static void find_path(const struct fab *f, node_id from, struct seat *s)
{
	port_id *via = mem_array(f->nnodes, sizeof(*via));
	VEC(node_id) queue = {0};
	uint8_t back[IBA_PATH_SIZE];

	for (node_id n = 0; n < f->nnodes; n++)
		via[n] = FAB_NONE;
	vec_push(&queue, from);
	for (size_t i = 0; i < queue.n; i++) {
		node_id n = queue.at[i];

		for (unsigned p = 1; (n == from || fab_is_switch(f, n)) && p <= f->nodes[n].nports;
		     p++) {
			port_id far = f->ports[fab_port_id(f, n, p)].peer;
			node_id to = far == FAB_NONE ? from : f->ports[far].node;

			if (to == from || via[to] != FAB_NONE)
				continue;
			via[to] = fab_port_id(f, n, p);
			vec_push(&queue, to);
		}
	}
	for (node_id n = s->node; n != from; n = f->ports[via[n]].node) {
		if (via[n] == FAB_NONE || s->hops == IBA_MAX_HOPS)
			die("a node cannot be reached");
		back[s->hops++] = f->ports[via[n]].num;
	}
	for (unsigned i = 0; i < s->hops; i++)
		s->path[i + 1] = back[s->hops - 1 - i];
	vec_free(&queue);
	free(via);
}

static void ask(struct watch *w, unsigned i)
{
	struct tp_mad m = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	iba_smp_init(m.mad, IBA_CLASS_SUBN_DR, IBA_GET, IBA_ATTR_SM_INFO, 0);
	iba_smp_set_tid(m.mad, (uint64_t)w->tid++ * MAX_SEATS + i);
	iba_smp_set_dr_slid(m.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(m.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(m.mad, (uint8_t)w->seats[i].hops);
	memcpy(iba_smp_initial_path(m.mad), w->seats[i].path, w->seats[i].hops + 1u);
	if (tp_send(w->tp, &m, 1) < 0)
		die("the fabric is gone");
}

static void say(struct seat *s, int state)
{
	static const char *const words[] = {"NotActive", "Discovering", "Standby", "Master"};

	if (s->state == state)
		return;
	s->state = state;
	printf("%.4f %s %s\n", now_s(), s->name, state < 0 || state > 3 ? "silent" : words[state]);
	fflush(stdout);
}

static void take(struct watch *w, const struct tp_mad *m)
{
	struct seat *s = &w->seats[iba_smp_tid(m->mad) % MAX_SEATS];
	struct iba_sm_info si;

	if (m->lost || m->qp || iba_smp_method(m->mad) != IBA_GET_RESP ||
	    iba_smp_status(m->mad) & 0x7fff)
		return;
	iba_sm_info_get(&si, iba_smp_data_const(m->mad), IBA_SMP_DATA_SIZE);
	s->answered = now_s();
	say(s, si.state);
}

static void round_of(struct watch *w, int ms)
{
	struct tp_mad in[MAX_SEATS];
	double end = now_s() + ms / 1e3;
	int n;

	for (unsigned i = 0; i < w->n; i++)
		ask(w, i);
	for (double left = ms / 1e3; left > 0; left = end - now_s()) {
		struct pollfd p = {.fd = tp_fd(w->tp), .events = POLLIN};

		poll(&p, 1, (int)(left * 1e3) + 1);
		while ((n = tp_recv(w->tp, in, MAX_SEATS)) > 0)
			for (int i = 0; i < n; i++)
				take(w, &in[i]);
		if (n < 0)
			die("the fabric is gone");
	}
	for (unsigned i = 0; i < w->n; i++)
		if (now_s() - w->seats[i].answered > SILENT_MS / 1e3)
			say(&w->seats[i], -1);
}

int main(int argc, char **argv)
{
	struct tp_where where = {0};
	struct watch w = {.tid = 1};
	struct err e = {{0}};
	node_id own;
	int ms;

	if (argc < 6 || argc - 5 > MAX_SEATS || (ms = atoi(argv[4])) < 1)
		die("usage: sm-watch NETLIST SERVER OWN-NODE MS NODE...");
	if (fab_netlist_load(&w.net, argv[1], &e))
		die(e.text);
	snprintf(where.server, sizeof(where.server), "%s", argv[2]);
	snprintf(where.device, sizeof(where.device), "%s", argv[3]);
	own = fab_node_by_text(w.net.fab, argv[3]);
	for (int i = 5; i < argc; i++) {
		struct seat *s = &w.seats[w.n++];

		*s = (struct seat){
			.name = argv[i], .node = fab_node_by_text(w.net.fab, argv[i]), .state = -2};
		if (s->node == FAB_NONE || own == FAB_NONE)
			die("no such node");
		find_path(w.net.fab, own, s);
	}
	if (tp_open(&w.tp, "ibsim", &where, &e))
		die(e.text);
	for (;;)
		round_of(&w, ms);
}
