/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths into layers, one after another, each into the first layer where it closes no cycle. State: struct layers, of one
 * call; the way in is layers_assign(). Does not choose paths.
 *
 * The paths to one LID are a tree, and a path is its first dependency and the path of the next switch. So the layers that
 * already have all dependencies of a path are one AND of two bit masks, and only new dependencies cost more. Layers only grow:
 * a dependency that closes a cycle in one will always do so, and is not tried again.
 */
#include "route/layers.h"

/* The paths to one LID. */
struct tree {
	uint32_t to;   /* the destination's switch */
	uint32_t n;    /* switches that reach it */
	uint32_t *at;  /* those, each after the next one on its path */
	uint32_t *arc; /* by switch: the arc by which it leaves, FAB_NONE: none */
	uint32_t *first_before,
		*next_before; /* by switch: those whose next switch it is, as a list */
	uint32_t *depth;      /* by switch: links to the destination's switch */
	bool *reaches, *used; /* by switch: is one of those; hosts' routes pass it */
	uint32_t *way;	      /* by switch: another arc; FAB_NONE: none */
	bool *down, *legal;   /* by switch: its path goes down only; never down and then up */
	uint16_t *in;	      /* by switch: bit by layer that has its whole path */
	uint16_t *never;      /* by switch: bit by layer where its path closes a cycle */
};

struct layers {
	const struct switch_graph *g;
	struct rt_tables *t;
	struct lane_graphs graphs; /* a layer is a lane */
	uint16_t *never; /* as graphs.has: bit by layer where the dependency alone closes a cycle */
	unsigned most;	 /* layers that are opened */
	uint8_t *layer;	 /* [switch][stride of t]: the layer of each path; NULL: all in layer 0 */
	struct tree tree;
};

static uint16_t *has(const struct layers *l, uint32_t a, uint32_t b)
{
	return lane_graphs_has(&l->graphs, a, b);
}

static uint16_t *never(const struct layers *l, uint32_t a, uint32_t b)
{
	return &l->never[lane_graphs_at(&l->graphs, a, b)];
}

static void layer_open(struct layers *l)
{
	lane_graphs_open(&l->graphs);
	if (l->graphs.n == 2)
		l->layer = mem_zarray((size_t)l->g->n * l->t->stride, sizeof(*l->layer));
}

/* ---- the paths to one LID ---- */

/* Which switches hosts' routes pass. Those to a switch may be changed as if there were none. */
static void tree_use(struct layers *l, bool to_host)
{
	struct tree *r = &l->tree;

	memset(r->used, 0, l->g->n * sizeof(*r->used));
	for (uint32_t i = r->n; to_host && i-- > 1;) {
		uint32_t s = r->at[i];

		r->used[s] |= l->g->senders[s] != 0;
		r->used[l->g->arc[r->arc[s]].to] |= r->used[s];
	}
}

static void tree_make(struct layers *l, uint32_t to, const struct graph_dest *d)
{
	struct tree *r = &l->tree;
	uint32_t n = l->g->n;

	memset(r->first_before, 0xff, n * sizeof(*r->first_before));
	for (uint32_t s = 0; s < n; s++) {
		uint32_t a = s == to ? FAB_NONE : graph_arc(l->g, s, rt_row(l->t, s)[d->lid]);

		r->arc[s] = a;
		if (a == FAB_NONE)
			continue;
		r->next_before[s] = r->first_before[l->g->arc[a].to];
		r->first_before[l->g->arc[a].to] = s;
	}
	memset(r->reaches, 0, n * sizeof(*r->reaches));
	r->reaches[to] = true;
	r->to = to;
	r->n = 0;
	r->at[r->n++] = to;
	r->depth[to] = 0;
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t s = r->first_before[r->at[i]]; s != FAB_NONE; s = r->next_before[s]) {
			r->depth[s] = r->depth[r->at[i]] + 1;
			r->reaches[s] = true;
			r->at[r->n++] = s;
		}
	memset(r->in, 0, n * sizeof(*r->in));
	memset(r->never, 0, n * sizeof(*r->never));
	tree_use(l, d->port != 0);
}

/* The dependency from a to b did not fit layer k beside others of its path: whether it does alone. */
static void dependency_judge(struct layers *l, unsigned k, uint32_t a, uint32_t b)
{
	if (!lane_graphs_fits(&l->graphs, k, a, b))
		*never(l, a, b) |= (uint16_t)(1u << k);
}

/* The dependencies of the path from s that layer k lacks, added from s on. False: it is as before. */
static bool path_add(struct layers *l, unsigned k, uint32_t s)
{
	struct tree *r = &l->tree;
	VEC(uint16_t *) added = {0};
	uint32_t a, b;
	bool ok = true;

	for (uint32_t v = s; ok; v = l->g->arc[a].to) {
		a = r->arc[v];
		if (l->g->arc[a].to == r->to)
			break;
		b = r->arc[l->g->arc[a].to];
		if (*has(l, a, b) >> k & 1)
			continue;
		ok = lane_graphs_add(&l->graphs, k, a, b);
		if (ok)
			vec_push(&added, has(l, a, b));
	}
	for (size_t i = 0; !ok && i < added.n; i++)
		*added.at[i] &= (uint16_t) ~(1u << k);
	if (!ok) {
		dependency_judge(l, k, a, b);
		r->never[s] |= (uint16_t)(1u << k);
	}
	vec_free(&added);
	return ok;
}

/* The layers that are known to have no place for the path from s. */
static uint16_t path_never(const struct layers *l, uint32_t s)
{
	const struct tree *r = &l->tree;
	uint16_t in = 0;

	for (uint32_t v = s; v != r->to; v = l->g->arc[r->arc[v]].to) {
		uint32_t next = l->g->arc[r->arc[v]].to;

		in |= r->never[v];
		if (next != r->to)
			in |= *never(l, r->arc[v], r->arc[next]);
	}
	return in;
}

/* A layer for the path from s, which no layer has as a whole. False: as many as may be do not suffice. */
static bool path_place(struct layers *l, uint32_t s)
{
	struct tree *r = &l->tree;
	uint16_t no = path_never(l, s);
	unsigned k = 0;

	while (k < l->graphs.n && (no >> k & 1 || !path_add(l, k, s)))
		k++;
	if (k == l->most)
		return false;
	if (k == l->graphs.n) {
		layer_open(l);
		path_add(l, k, s);
	}
	for (uint32_t v = s; v != r->to; v = l->g->arc[r->arc[v]].to)
		r->in[v] |= (uint16_t)(1u << k);
	return true;
}

/* The layers that have the path of switch s, as far as the next switch has one. */
static uint16_t path_in(const struct layers *l, uint32_t s)
{
	const struct tree *r = &l->tree;
	uint32_t a = r->arc[s], next = l->g->arc[a].to;

	return next == r->to ? UINT16_MAX
			     : r->in[next] & (r->in[next] ? *has(l, a, r->arc[next]) : 0);
}

/* ---- other ways for what only switches send ---- */

/* Of paths that have a layer: whether they go down only, and whether they never go down and then up. */
static void ways_known(struct layers *l)
{
	struct tree *r = &l->tree;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t s = r->at[i], next;

		r->way[s] = FAB_NONE;
		r->down[s] = r->legal[s] = s == r->to;
		if (s == r->to || !r->in[s])
			continue;
		next = l->g->arc[r->arc[s]].to;
		r->down[s] = lane_graphs_down(&l->graphs, r->arc[s]) && r->down[next];
		r->legal[s] =
			r->down[s] || (!lane_graphs_down(&l->graphs, r->arc[s]) && r->legal[next]);
	}
}

/* The shortest way from s by a link down, or up, that keeps to up*-down*. */
static void way_find(struct layers *l, uint32_t s, bool down)
{
	struct tree *r = &l->tree;

	for (uint32_t a = l->g->first[s]; a < l->g->first[s + 1]; a++) {
		uint32_t next = l->g->arc[a].to;

		if (lane_graphs_down(&l->graphs, a) != down ||
		    !(down ? r->down[next] : r->legal[next]) ||
		    (r->way[s] != FAB_NONE && r->depth[next] + 1 >= r->depth[s]))
			continue;
		r->way[s] = a;
		r->depth[s] = r->depth[next] + 1;
	}
	if (r->way[s] == FAB_NONE)
		return;
	r->down[s] = down;
	r->legal[s] = true;
}

/* Up*-down* ways for the paths that have no layer, where there are any: from the lowest switch upwards those that go down
 * only, then from the root downwards the others. */
static void ways_change(struct layers *l, uint32_t lid)
{
	struct tree *r = &l->tree;
	uint32_t n = l->g->n;

	ways_known(l);
	for (uint32_t i = n; i-- > 0;)
		if (r->reaches[l->graphs.by_rank[i]] && !r->in[l->graphs.by_rank[i]])
			way_find(l, l->graphs.by_rank[i], true);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = l->graphs.by_rank[i];

		if (r->reaches[s] && !r->in[s] && r->way[s] == FAB_NONE)
			way_find(l, s, false);
	}
	for (uint32_t i = 1; i < r->n; i++) {
		uint32_t s = r->at[i];

		r->never[s] = 0; /* of the former way */
		if (r->way[s] == FAB_NONE)
			continue;
		r->arc[s] = r->way[s];
		rt_row(l->t, s)[lid] = l->g->arc[r->way[s]].port;
	}
}

/* Layers for hosts' routes to one LID. */
static bool routes_place(struct layers *l)
{
	struct tree *r = &l->tree;

	for (uint32_t i = 1; i < r->n; i++) {
		uint32_t s = r->at[i];

		if (!r->used[s])
			continue;
		r->in[s] = path_in(l, s);
		if (!r->in[s] && !path_place(l, s))
			return false;
	}
	return true;
}

/* Layers for all paths to one LID; hosts' routes have theirs. */
static bool paths_place(struct layers *l, uint32_t lid)
{
	struct tree *r = &l->tree;
	bool all = true;

	for (uint32_t i = 1; i < r->n; i++) {
		r->in[r->at[i]] = path_in(l, r->at[i]);
		all &= r->in[r->at[i]] != 0;
	}
	if (!all)
		ways_change(l, lid);
	for (uint32_t i = 1; i < r->n; i++) {
		uint32_t s = r->at[i];

		if (!r->in[s])
			r->in[s] = path_in(l, s);
		if (!r->in[s] && !path_place(l, s))
			return false;
		if (l->layer)
			l->layer[(size_t)s * l->t->stride + lid] = (uint8_t)__builtin_ctz(r->in[s]);
	}
	return true;
}

/* Hosts' routes first: what only switches send must not take their place. */
static bool all_place(struct layers *l)
{
	const struct switch_graph *g = l->g;
	uint32_t lids = g->dest_first[g->n], d = 0;

	for (uint32_t i = 0; i < 2 * lids; i++) {
		const struct graph_dest *x = &g->dest[i % lids];

		for (d = i % lids ? d : 0; i % lids >= g->dest_first[d + 1];)
			d++;
		tree_make(l, d, x);
		if (i < lids ? !routes_place(l) : !paths_place(l, x->lid))
			return false;
	}
	return true;
}

/* ---- all of them ---- */

static void lanes_write(const struct layers *l)
{
	struct rt_tables *t = l->t;

	rt_lanes_add(t, l->g->f, l->graphs.n, l->g->n);
	for (uint32_t s = 0; s < l->g->n; s++) {
		memcpy(rt_sl_row(t, s), l->layer + (size_t)s * t->stride, t->stride);
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
	}
	rt_lanes_pack(t);
}

static void tree_init(struct tree *r, size_t n)
{
	r->at = mem_array(n, sizeof(*r->at));
	r->arc = mem_array(n, sizeof(*r->arc));
	r->first_before = mem_array(n, sizeof(*r->first_before));
	r->next_before = mem_array(n, sizeof(*r->next_before));
	r->depth = mem_zarray(n, sizeof(*r->depth));
	r->reaches = mem_array(n, sizeof(*r->reaches));
	r->used = mem_array(n, sizeof(*r->used));
	r->way = mem_array(n, sizeof(*r->way));
	r->down = mem_zarray(n, sizeof(*r->down));
	r->legal = mem_zarray(n, sizeof(*r->legal));
	r->in = mem_array(n, sizeof(*r->in));
	r->never = mem_zarray(n, sizeof(*r->never));
}

static void tree_free(struct tree *r)
{
	free(r->at);
	free(r->arc);
	free(r->first_before);
	free(r->next_before);
	free(r->depth);
	free(r->reaches);
	free(r->used);
	free(r->way);
	free(r->down);
	free(r->legal);
	free(r->in);
	free(r->never);
}

static void layers_init(struct layers *l, const struct switch_graph *g, struct rt_tables *t,
			unsigned most)
{
	size_t n = (size_t)g->n + 1;

	*l = (struct layers){.g = g, .t = t, .most = most};
	lane_graphs_init(&l->graphs, g);
	tree_init(&l->tree, n);
	l->never = mem_zarray((size_t)g->narcs + 1, MAX(g->ports, 1u) * sizeof(*l->never));
	layer_open(l);
}

static void layers_free(struct layers *l)
{
	lane_graphs_free(&l->graphs);
	tree_free(&l->tree);
	free(l->never);
	free(l->layer);
}

unsigned layers_assign(const struct switch_graph *g, struct rt_tables *t, unsigned most,
		       unsigned count)
{
	struct layers l;
	unsigned n;

	layers_init(&l, g, t, count);
	n = all_place(&l) ? l.graphs.n : count + 1;
	if (n > 1 && n <= most)
		lanes_write(&l);
	layers_free(&l);
	return n;
}
