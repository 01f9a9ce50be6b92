/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ports are connected now, by links that are up between nodes that are on. Keeps no state. Ways in:
 * lab_parts(), lab_connected(), lab_way_leads(). Does not look at tables: forwarding_scan.c does.
 */
#include "lab/lab_priv.h"

typedef VEC(port_id) port_queue;

/* All ports of a switch are one; those of a CA or router are not: it forwards no SMPs. */
static void reach(const struct lab *l, port_id p, uint32_t number, uint32_t *part, port_queue *q)
{
	const struct fab_node *node = &l->fab->nodes[l->fab->ports[p].node];
	bool all = node->type == IBA_NODE_SWITCH;

	for (unsigned i = 0; i <= node->nports; i++) {
		port_id at = node->first_port + i;

		if ((at != p && !all) || part[at])
			continue;
		part[at] = number;
		vec_push(q, at);
	}
}

static bool carries(const struct lab *l, port_id at, port_id far)
{
	return far != FAB_NONE && sim_node_on(l->sim, l->fab->ports[far].node) &&
	       sim_port_info(l->sim, at)->state != IBA_PORT_DOWN;
}

static void mark(const struct lab *l, port_id from, uint32_t number, uint32_t *part, port_queue *q)
{
	q->n = 0;
	reach(l, from, number, part, q);
	for (size_t head = 0; head < q->n; head++) {
		port_id at = q->at[head], far = sim_port_peer(l->sim, at);

		if (carries(l, at, far) && !part[far])
			reach(l, far, number, part, q);
	}
}

void lab_parts(const struct lab *l, uint32_t *part)
{
	const struct fab *f = l->fab;
	port_queue q = {0};

	memset(part, 0, f->nports * sizeof(*part));
	for (port_id p = 0; p < f->nports; p++)
		if (!part[p] && sim_node_on(l->sim, f->ports[p].node))
			mark(l, p, p + 1, part, &q);
	vec_free(&q);
}

bool lab_connected(const struct lab *l, port_id a, port_id b)
{
	uint32_t *part = mem_zarray(l->fab->nports, sizeof(*part));
	port_queue q = {0};
	bool yes;

	if (sim_node_on(l->sim, l->fab->ports[a].node))
		mark(l, a, 1, part, &q);
	yes = part[b];
	vec_free(&q);
	free(part);
	return yes;
}

bool lab_way_leads(const struct lab *l, node_id from, const uint8_t *hops, unsigned n, node_id to)
{
	node_id at = from;

	for (unsigned i = 0; i < n; i++) {
		port_id out, far;

		if (hops[i] > l->fab->nodes[at].nports || !sim_node_on(l->sim, at))
			return false;
		out = fab_port_id(l->fab, at, hops[i]);
		far = sim_port_peer(l->sim, out);
		if (!carries(l, out, far))
			return false;
		at = l->fab->ports[far].node;
	}
	return n && at == to;
}
