/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spanning trees that always offer a way. State: struct escape_tree; the ways in are escape_init() and escape_aim(). Knows no
 * lane, load or table.
 */
#include "route/escape_tree.h"

uint32_t escape_back(const struct switch_graph *g, uint32_t arc)
{
	const struct fab *f = g->f;
	const struct graph_arc *a = &g->arc[arc];
	port_id peer = f->ports[fab_port_id(f, f->switches[a->from], a->port)].peer;

	return graph_arc(g, a->to, f->ports[peer].num);
}

/* The switches of one part, from its root outwards; at: how many there are already. */
static uint32_t part_span(struct escape_tree *t, uint32_t root, bool *seen, uint32_t at)
{
	const struct switch_graph *g = t->g;
	uint32_t head = at;

	seen[root] = true;
	t->up[root] = FAB_NONE;
	for (t->order[at++] = root; head < at; head++) {
		uint32_t s = t->order[head];

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
			uint32_t v = g->arc[a].to;

			if (seen[v])
				continue;
			seen[v] = true;
			t->up[v] = escape_back(g, a);
			t->order[at++] = v;
		}
	}
	return at;
}

static void in_make(struct escape_tree *t)
{
	const struct switch_graph *g = t->g;
	uint32_t *at = mem_array((size_t)g->n + 1, sizeof(*at));

	for (uint32_t s = 0; s < g->n; s++)
		if (t->up[s] != FAB_NONE) {
			t->in_first[s + 1]++;
			t->in_first[g->arc[t->up[s]].to + 1]++;
		}
	for (uint32_t s = 0; s < g->n; s++)
		t->in_first[s + 1] += t->in_first[s];
	memcpy(at, t->in_first, ((size_t)g->n + 1) * sizeof(*at));
	for (uint32_t s = 0; s < g->n; s++)
		if (t->up[s] != FAB_NONE) {
			t->in[at[s]++] = escape_back(g, t->up[s]);
			t->in[at[g->arc[t->up[s]].to]++] = t->up[s];
		}
	free(at);
}

void escape_init(struct escape_tree *t, const struct switch_graph *g, uint32_t root)
{
	size_t n = (size_t)g->n + 1;
	bool *seen = mem_zarray(n, sizeof(*seen));
	uint32_t at = 0;

	*t = (struct escape_tree){.g = g, .aim = FAB_NONE};
	t->up = mem_array(n, sizeof(*t->up));
	t->order = mem_array(n, sizeof(*t->order));
	t->toward = mem_array(n, sizeof(*t->toward));
	t->in_first = mem_zarray(n, sizeof(*t->in_first));
	t->in = mem_array(2 * n, sizeof(*t->in));
	if (g->n)
		at = part_span(t, root, seen, at);
	for (uint32_t s = 0; s < g->n; s++)
		if (!seen[s])
			at = part_span(t, s, seen, at);
	in_make(t);
	memcpy(t->toward, t->up, g->n * sizeof(*t->up));
	free(seen);
}

void escape_free(struct escape_tree *t)
{
	free(t->up);
	free(t->order);
	free(t->toward);
	free(t->in_first);
	free(t->in);
}

/* All switches lead to the root, but for those between the root and the aim. */
void escape_aim(struct escape_tree *t, uint32_t to)
{
	const struct graph_arc *arc = t->g->arc;

	for (uint32_t s = t->aim; s != FAB_NONE;) {
		t->toward[s] = t->up[s];
		s = t->up[s] == FAB_NONE ? FAB_NONE : arc[t->up[s]].to;
	}
	t->aim = to;
	t->toward[to] = FAB_NONE;
	for (uint32_t s = to; t->up[s] != FAB_NONE; s = arc[t->up[s]].to)
		t->toward[arc[t->up[s]].to] = escape_back(t->g, t->up[s]);
}

/* Paths that come to a switch and leave it by arc b, which does not lead back. */
static void turns_each(const struct escape_tree *t, uint32_t b,
		       void (*need)(void *ctx, uint32_t a, uint32_t b), void *ctx)
{
	const struct graph_arc *arc = t->g->arc;
	uint32_t s = arc[b].from;

	for (uint32_t i = t->in_first[s]; i < t->in_first[s + 1]; i++)
		if (arc[t->in[i]].from != arc[b].to)
			need(ctx, t->in[i], b);
}

void escape_each(const struct escape_tree *t, const uint32_t *dests,
		 void (*need)(void *ctx, uint32_t a, uint32_t b), void *ctx)
{
	const struct switch_graph *g = t->g;
	uint64_t *below = mem_zarray((size_t)g->n + 1, sizeof(*below)), *all;

	all = mem_zarray((size_t)g->n + 1, sizeof(*all));
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t s = t->order[i];

		below[s] += dests[s];
		if (t->up[s] != FAB_NONE)
			below[g->arc[t->up[s]].to] += below[s];
	}
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t s = t->order[i];

		all[s] = t->up[s] == FAB_NONE ? below[s] : all[g->arc[t->up[s]].to];
		if (t->up[s] == FAB_NONE)
			continue;
		if (all[s] > below[s])
			turns_each(t, t->up[s], need, ctx);
		if (below[s])
			turns_each(t, escape_back(g, t->up[s]), need, ctx);
	}
	free(below);
	free(all);
}
