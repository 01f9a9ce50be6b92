/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The up/down graph by distance: a rank for every switch. Keeps no state; the ways in are
 * rt_updown_rank() and rt_updown_rank_parts(). Chooses no root by merit and computes no routes.
 */
#include "route/route_priv.h"

#define DIST_NONE UINT32_MAX

struct by_guid {
	uint64_t guid;
	uint32_t sw;
};

static int by_guid_cmp(const void *a, const void *b)
{
	const struct by_guid *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

uint32_t rt_root_switch(const struct fab *f, node_id root)
{
	if (root == FAB_NONE || root >= f->nnodes)
		return 0;
	if (fab_is_switch(f, root))
		return f->switch_index[root];
	for (unsigned p = 1; p <= f->nodes[root].nports; p++) {
		port_id peer = f->ports[fab_port_id(f, root, p)].peer;

		if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
			return f->switch_index[f->ports[peer].node];
	}
	return 0;
}

/* Breadth first over links between switches; queue has room for every switch. */
static void flood(const struct fab *f, uint32_t from, uint32_t *dist, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t s = queue[head++];
		node_id n = f->switches[s];

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, n, p)].peer;
			uint32_t t =
				peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

			if (t != FAB_NONE && dist[t] == DIST_NONE) {
				dist[t] = dist[s] + 1;
				queue[tail++] = t;
			}
		}
	}
}

static void rank_all(const struct fab *f, node_id root, bool parts, uint64_t *rank)
{
	uint32_t n = f->nswitches;
	uint32_t *dist = mem_array(n, sizeof(*dist)), *queue = mem_array(n, sizeof(*queue));
	struct by_guid *order = mem_array(n, sizeof(*order));

	for (uint32_t s = 0; s < n; s++) {
		order[s] = (struct by_guid){f->nodes[f->switches[s]].guid, s};
		dist[s] = DIST_NONE;
	}
	qsort(order, n, sizeof(*order), by_guid_cmp);
	if (n)
		flood(f, rt_root_switch(f, root), dist, queue);
	for (uint32_t s = 0; parts && s < n; s++)
		if (dist[s] == DIST_NONE)
			flood(f, s, dist, queue);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i].sw;

		rank[s] = dist[s] == DIST_NONE ? UINT64_MAX : (uint64_t)dist[s] << 32 | i;
	}
	free(dist);
	free(queue);
	free(order);
}

void rt_updown_rank(const struct fab *f, node_id root, uint64_t *rank)
{
	rank_all(f, root, false, rank);
}

void rt_updown_rank_parts(const struct fab *f, node_id root, uint64_t *rank)
{
	rank_all(f, root, true, rank);
}
