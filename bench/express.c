/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many directed-route SMPs a second express mode carries on one core: from the first host of a
 * fat tree to every node so many hops away and back, one after another. Usage: express-bench [M [N
 * [HOPS [SMPS]]]], for an M-port N-tree; 24 3 5 2000000 unless told otherwise.
 */
#include <time.h>

#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct path {
	uint8_t ports[IBA_PATH_SIZE];
};

struct run {
	struct fab *fab;
	struct sim *sim;
	unsigned hops;
	uint64_t answers;
	VEC(struct path) paths;
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct run *r = ctx;

	r->answers += (iba_smp_status(smp->mad) & 0x7fff) == 0;
}

/* A shortest path to every node that is `hops` away from node `from`. */
static void find_paths(struct run *r, node_id from)
{
	uint32_t *dist = mem_array(r->fab->nnodes, sizeof(*dist));
	struct path *to = mem_zarray(r->fab->nnodes, sizeof(*to));
	VEC(node_id) queue = {0};

	memset(dist, 0xff, r->fab->nnodes * sizeof(*dist));
	dist[from] = 0;
	vec_push(&queue, from);
	for (size_t i = 0; i < queue.n; i++) {
		node_id n = queue.at[i];

		if (dist[n] == r->hops)
			vec_push(&r->paths, to[n]);
		for (unsigned p = 1;
		     p <= r->fab->nodes[n].nports && (!i || fab_is_switch(r->fab, n)); p++) {
			port_id peer = r->fab->ports[fab_port_id(r->fab, n, p)].peer;
			node_id m = peer == FAB_NONE ? n : r->fab->ports[peer].node;

			if (dist[m] != UINT32_MAX)
				continue;
			dist[m] = dist[n] + 1;
			to[m] = to[n];
			to[m].ports[dist[m]] = (uint8_t)p;
			vec_push(&queue, m);
		}
	}
	vec_free(&queue);
	free(to);
	free(dist);
}

static void measure(struct run *r, node_id from, unsigned method, uint16_t attr, uint64_t count)
{
	struct sim_smp s = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};
	double before = seconds(), took;

	iba_smp_init(s.mad, IBA_CLASS_SUBN_DR, (enum iba_method)method, attr, 0);
	iba_smp_set_dr_slid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(s.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(s.mad, (uint8_t)r->hops);
	r->answers = 0;
	for (uint64_t i = 0; i < count; i++) {
		memcpy(iba_smp_initial_path(s.mad), r->paths.at[i % r->paths.n].ports,
		       IBA_PATH_SIZE);
		sim_send(r->sim, from, 1, &s);
		sim_settle(r->sim, i);
	}
	took = seconds() - before;
	printf("%s %-20s %llu answers, %.3f s, %.2f million/s, %.0f ns each\n",
	       method == IBA_GET ? "Get" : "Set", iba_attr_name(attr),
	       (unsigned long long)r->answers, took, (double)count / took / 1e6,
	       took * 1e9 / (double)count);
}

int main(int argc, char **argv)
{
	unsigned arg[4] = {24, 3, 5, 2000000};
	struct fab_gen g = {.kind = "mtree", .ndims = 2};
	struct sim_config c;
	struct run r = {0};
	struct err e;
	node_id from = 0;

	for (int i = 1; i < argc && i <= 4; i++)
		arg[i - 1] = (unsigned)strtoul(argv[i], NULL, 10);
	g.dims[0] = arg[0];
	g.dims[1] = arg[1];
	r.hops = arg[2];
	r.fab = fab_generate(&g, &e);
	if (!r.fab) {
		fprintf(stderr, "express-bench: %s\n", e.text);
		return 2;
	}
	sim_config_default(&c);
	c.express = true;
	r.sim = sim_new(r.fab, &c);
	for (node_id n = 0; n < r.fab->nnodes; n++)
		sim_node_power(r.sim, n, true);
	while (fab_is_switch(r.fab, from))
		from++;
	sim_attach_port(r.sim, from, 1, on_smp, &r);
	find_paths(&r, from);
	printf("%u switches, %u hosts; %zu nodes %u hops away\n", r.fab->nswitches, r.fab->nhosts,
	       r.paths.n, r.hops);
	if (r.paths.n) {
		measure(&r, from, IBA_GET, IBA_ATTR_NODE_INFO, arg[3]);
		measure(&r, from, IBA_GET, IBA_ATTR_PORT_INFO, arg[3]);
		measure(&r, from, IBA_SET, IBA_ATTR_LFT, arg[3]);
	}
	sim_free(r.sim);
	vec_free(&r.paths);
	fab_free(r.fab);
	return 0;
}
