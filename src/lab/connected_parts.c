/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ports are connected now, by links that are up between nodes that are on. Keeps no state. Ways in:
 * lab_parts(), lab_connected(), lab_connected_over(). Does not look at tables: forwarding_scan.c does.
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

/* over: by node, those that count; NULL: all. */
static void mark(const struct lab *l, port_id from, uint32_t number, const bool *over,
		 uint32_t *part, port_queue *q)
{
	q->n = 0;
	reach(l, from, number, part, q);
	for (size_t head = 0; head < q->n; head++) {
		port_id at = q->at[head], far = sim_port_peer(l->sim, at);

		if (far != FAB_NONE && !part[far] && (!over || over[l->fab->ports[far].node]) &&
		    sim_node_on(l->sim, l->fab->ports[far].node) &&
		    sim_port_info(l->sim, at)->state != IBA_PORT_DOWN)
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
			mark(l, p, p + 1, NULL, part, &q);
	vec_free(&q);
}

bool lab_connected(const struct lab *l, port_id a, port_id b)
{
	return lab_connected_over(l, a, b, NULL);
}

bool lab_connected_over(const struct lab *l, port_id a, port_id b, const bool *over)
{
	uint32_t *part = mem_zarray(l->fab->nports, sizeof(*part));
	port_queue q = {0};
	bool yes;

	if (sim_node_on(l->sim, l->fab->ports[a].node))
		mark(l, a, 1, over, part, &q);
	yes = part[b];
	vec_free(&q);
	free(part);
	return yes;
}
