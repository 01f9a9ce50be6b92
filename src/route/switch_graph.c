/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links between switches as arrays. State: struct switch_graph, read only once it is made. Knows no engine, weight or lane.
 */
#include "route/switch_graph.h"

static uint32_t peer_switch(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

static void arcs_make(struct switch_graph *g)
{
	const struct fab *f = g->f;

	memset(g->arc_of, 0xff, (size_t)g->n * g->ports * sizeof(*g->arc_of));
	for (uint32_t s = 0; s < g->n; s++) {
		node_id node = f->switches[s];

		g->first[s] = g->narcs;
		for (unsigned p = 1; p <= f->nodes[node].nports; p++) {
			port_id id = fab_port_id(f, node, p);
			uint32_t v = peer_switch(f, id);

			g->senders[s] += v == FAB_NONE && f->ports[id].peer != FAB_NONE;
			if (v == FAB_NONE || v == s)
				continue;
			g->arc_of[(size_t)s * g->ports + p] = g->narcs;
			g->arc[g->narcs++] = (struct graph_arc){s, v, (uint8_t)p,
								f->ports[f->ports[id].peer].num};
		}
	}
	g->first[g->n] = g->narcs;
}

static void arcs_in_make(struct switch_graph *g)
{
	uint32_t *at;

	for (uint32_t a = 0; a < g->narcs; a++)
		g->in_first[g->arc[a].to + 1]++;
	for (uint32_t s = 0; s < g->n; s++)
		g->in_first[s + 1] += g->in_first[s];
	at = mem_array((size_t)g->n + 1, sizeof(*at));
	memcpy(at, g->in_first, ((size_t)g->n + 1) * sizeof(*at));
	for (uint32_t a = 0; a < g->narcs; a++)
		g->in[at[g->arc[a].to]++] = a;
	free(at);
}

static uint32_t dest_add(struct switch_graph *g, uint32_t at, port_id id, unsigned port)
{
	const struct fab_port *p = &g->f->ports[id];
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(g->f, id, &v);

	for (unsigned i = 0; p->lid && i < 1u << p->lmc; i++)
		g->dest[at++] = (struct graph_dest){(uint16_t)(p->lid + i), (uint8_t)port};
	for (uint32_t i = 0; i < nv; i++)
		g->dest[at++] = (struct graph_dest){v[i].lid, (uint8_t)port};
	return at;
}

static void dests_make(struct switch_graph *g)
{
	const struct fab *f = g->f;
	uint32_t at = 0;

	for (uint32_t s = 0; s < g->n; s++) {
		node_id node = f->switches[s];

		g->dest_first[s] = at;
		for (unsigned p = 1; p <= f->nodes[node].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, node, p)].peer;

			if (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node))
				at = dest_add(g, at, peer, p);
		}
		at = dest_add(g, at, fab_port_id(f, node, 0), 0);
	}
	g->dest_first[g->n] = at;
}

void graph_init(struct switch_graph *g, const struct fab *f, uint32_t top_lid)
{
	uint32_t n = f->nswitches;

	*g = (struct switch_graph){.f = f, .n = n};
	for (uint32_t s = 0; s < n; s++)
		g->ports = MAX(g->ports, f->nodes[f->switches[s]].nports + 1u);
	g->arc_of = mem_array((size_t)n * g->ports + 1, sizeof(*g->arc_of));
	g->first = mem_zarray((size_t)n + 1, sizeof(*g->first));
	g->arc = mem_array((size_t)f->nlinks * 2 + 1, sizeof(*g->arc));
	g->senders = mem_zarray((size_t)n + 1, sizeof(*g->senders));
	g->in_first = mem_zarray((size_t)n + 1, sizeof(*g->in_first));
	g->dest_first = mem_zarray((size_t)n + 1, sizeof(*g->dest_first));
	g->dest = mem_array((size_t)top_lid + 1, sizeof(*g->dest));
	arcs_make(g);
	g->in = mem_array((size_t)g->narcs + 1, sizeof(*g->in));
	arcs_in_make(g);
	dests_make(g);
}

void graph_free(struct switch_graph *g)
{
	free(g->first);
	free(g->arc);
	free(g->arc_of);
	free(g->senders);
	free(g->in_first);
	free(g->in);
	free(g->dest_first);
	free(g->dest);
}

uint32_t graph_distances(const struct switch_graph *g, uint32_t to, uint32_t *dist, uint32_t *order)
{
	uint32_t tail = 0;

	memset(dist, 0xff, (size_t)g->n * sizeof(*dist));
	dist[to] = 0;
	order[tail++] = to;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = order[head];

		for (uint32_t i = g->in_first[v]; i < g->in_first[v + 1]; i++) {
			uint32_t u = g->arc[g->in[i]].from;

			if (dist[u] == UINT32_MAX) {
				dist[u] = dist[v] + 1;
				order[tail++] = u;
			}
		}
	}
	return tail;
}
