/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ports of one subnet. Keeps no state. Way in: fab_subnet(). Does not look at states of ports: a
 * link in the snapshot counts.
 */
#include "fabric/fabric.h"

/* Marks all ports of the node behind a link; a switch is walked on from. */
static void reach(const struct fab *f, port_id p, bool *in, node_id *todo, uint32_t *n)
{
	const struct fab_node *node = &f->nodes[f->ports[p].node];

	if (in[p])
		return;
	in[p] = true;
	if (node->type != IBA_NODE_SWITCH)
		return;
	for (unsigned i = 0; i <= node->nports; i++)
		in[node->first_port + i] = true;
	todo[(*n)++] = f->ports[p].node;
}

void fab_subnet(const struct fab *f, port_id from, bool *in)
{
	node_id *todo = mem_array(f->nnodes, sizeof(*todo));
	uint32_t n = 0;

	memset(in, 0, f->nports * sizeof(*in));
	reach(f, from, in, todo, &n);
	if (!n && f->ports[from].peer != FAB_NONE)
		reach(f, f->ports[from].peer, in, todo, &n);
	while (n) {
		const struct fab_node *s = &f->nodes[todo[--n]];

		for (unsigned i = 1; i <= s->nports; i++)
			if (f->ports[s->first_port + i].peer != FAB_NONE)
				reach(f, f->ports[s->first_port + i].peer, in, todo, &n);
	}
	free(todo);
}
