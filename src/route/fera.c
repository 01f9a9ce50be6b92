/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "fera", Fully Explicit Routing (thesis 6.2.2): every switch gets an entry for every LID.
 * Keeps no state between calls; the way in is rt_fera.route(). Does not use service levels or VLs.
 *
 * All LIDs behind one switch share their ways through the fabric, so the search runs once for each
 * destination switch and many of them side by side: two passes over the switches in rank order give
 *
 *	down[n] = 1 + min down[v] over lower neighbours v       (from the lowest switch upwards)
 *	dist[n] = down[n] if there is any, else 1 + min dist[u] over upper neighbours u
 *
 * which is the flood without down-up turns that prefers any way down to every way up.
 */
#include "base/rng.h"
#include "route/fera.h"

static uint32_t peer_switch(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* ---- the graph ---- */

/* A cable from a switch to itself reaches no other switch and is left out. */
static void arcs_make(struct fera *g, const uint64_t *rank)
{
	const struct fab *f = g->f;
	uint32_t nup = 0, ndown = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		g->up_first[s] = nup;
		g->down_first[s] = ndown;
		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			uint32_t v = peer_switch(f, fab_port_id(f, n, p));

			if (v == FAB_NONE || v == s)
				continue;
			if (rank[v] < rank[s])
				g->up[nup++] = (struct arc){v, (uint8_t)p};
			else
				g->down[ndown++] = (struct arc){v, (uint8_t)p};
		}
	}
	g->up_first[f->nswitches] = nup;
	g->down_first[f->nswitches] = ndown;
}

/* ---- destinations ---- */

/* The LIDs of port id behind `port`, and those of its VFs: like several addresses of one port they are dealt
 * out over different ways. A slot's place does not depend on which other VFs have a LID. */
static uint32_t dest_add(struct fera *g, uint32_t at, port_id id, unsigned port, unsigned k)
{
	const struct fab_port *p = &g->f->ports[id];
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(g->f, id, &v);

	for (unsigned i = 0; p->lid && i < 1u << p->lmc; i++)
		g->dest[at++] =
			(struct dest){(uint16_t)(p->lid + i), (uint16_t)(k + i), (uint8_t)port};
	k += (1u << p->lmc) - 1;
	for (uint32_t i = 0; i < nv; i++)
		g->dest[at++] = (struct dest){v[i].lid, (uint16_t)(k + v[i].slot), (uint8_t)port};
	return at;
}

/* The LIDs behind each switch: its hosts' by port number, then its own. */
static void dests_make(struct fera *g)
{
	const struct fab *f = g->f;
	uint32_t n = 0, hosts = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id sw = f->switches[s];
		unsigned k = 0;

		g->dest_first[s] = n;
		g->hosts_before[s] = hosts;
		for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, sw, p)].peer;

			if (peer == FAB_NONE || fab_is_switch(f, f->ports[peer].node))
				continue;
			n = dest_add(g, n, peer, p, k++);
		}
		n = dest_add(g, n, fab_port_id(f, sw, 0), 0, k);
		hosts += k;
		g->level[s] = k ? 0 : UINT8_MAX;
	}
	g->dest_first[f->nswitches] = n;
}

/* Level: links to the nearest switch with hosts. */
static void levels_make(struct fera *g)
{
	const struct fab *f = g->f;
	uint32_t *queue = mem_array(f->nswitches, sizeof(*queue)), head = 0, tail = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		if (!g->level[s])
			queue[tail++] = s;
	g->direct = tail == f->nswitches;
	while (head < tail) {
		uint32_t s = queue[head++];
		node_id n = f->switches[s];

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			uint32_t v = peer_switch(f, fab_port_id(f, n, p));

			if (v != FAB_NONE && g->level[v] == UINT8_MAX) {
				g->level[v] = (uint8_t)MIN(g->level[s] + 1, UINT8_MAX - 1);
				queue[tail++] = v;
			}
		}
	}
	free(queue);
}

/* Number the leaf switches so that those under one switch of the next level are consecutive. */
static uint32_t number_siblings(struct fera *g, uint32_t mid, uint32_t next)
{
	const struct fab *f = g->f;
	node_id n = f->switches[mid];

	for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
		uint32_t v = peer_switch(f, fab_port_id(f, n, p));

		if (v != FAB_NONE && !g->level[v] && g->leaf_number[v] == FAB_NONE)
			g->leaf_number[v] = next++;
	}
	return next;
}

static void leaves_number(struct fera *g)
{
	const struct fab *f = g->f;
	uint32_t next = 0;

	memset(g->leaf_number, 0xff, f->nswitches * sizeof(*g->leaf_number));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		if (g->leaf_number[s] == FAB_NONE)
			g->leaf_number[s] = next++;
		for (unsigned p = 1; !g->level[s] && p <= f->nodes[n].nports; p++) {
			uint32_t v = peer_switch(f, fab_port_id(f, n, p));

			if (v != FAB_NONE && g->level[v] == 1)
				next = number_siblings(g, v, next);
		}
	}
}

/* ---- the search ---- */

static void lower(uint16_t *restrict best, const uint16_t *restrict other)
{
	for (unsigned i = 0; i < BLOCK; i++)
		best[i] = MIN(best[i], other[i]);
}

static void step(uint16_t *restrict to, const uint16_t *restrict best)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		uint16_t d = (uint16_t)(best[i] + (best[i] != DIST_NONE));

		to[i] = MIN(to[i], d);
	}
}

void fera_search(const struct fera *g, struct work *w, const uint32_t *dests, uint32_t nd)
{
	uint32_t n = g->f->nswitches;
	uint16_t best[BLOCK];

	memset(w->down, 0xff, (size_t)n * BLOCK * sizeof(*w->down));
	for (uint32_t d = 0; d < nd; d++)
		w->down[(size_t)dests[d] * BLOCK + d] = 0;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t s = g->order[i];

		memset(best, 0xff, sizeof(best));
		for (uint32_t a = g->down_first[s]; a < g->down_first[s + 1]; a++)
			lower(best, w->down + (size_t)g->down[a].sw * BLOCK);
		step(w->down + (size_t)s * BLOCK, best);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = g->order[i];
		const uint16_t *down = w->down + (size_t)s * BLOCK;
		uint16_t *dist = w->dist + (size_t)s * BLOCK;

		memset(best, 0xff, sizeof(best));
		for (uint32_t a = g->up_first[s]; a < g->up_first[s + 1]; a++)
			lower(best, w->dist + (size_t)g->up[a].sw * BLOCK);
		memset(dist, 0xff, BLOCK * sizeof(*dist));
		step(dist, best);
		for (unsigned k = 0; k < BLOCK; k++)
			dist[k] = down[k] != DIST_NONE ? down[k] : dist[k];
	}
}

/* ---- from distances to ports ---- */

/* The distance that a neighbour must have to be one of the equal best ways on. */
static void wanted(struct work *w, uint32_t s)
{
	const uint16_t *down = w->down + (size_t)s * BLOCK, *dist = w->dist + (size_t)s * BLOCK;

	for (unsigned i = 0; i < BLOCK; i++) {
		bool goes_down = down[i] != DIST_NONE;
		bool goes = dist[i] != DIST_NONE && dist[i];

		w->want_down[i] = goes && goes_down ? (uint16_t)(down[i] - 1) : DIST_NEVER;
		w->want_up[i] = goes && !goes_down ? (uint16_t)(dist[i] - 1) : DIST_NEVER;
	}
}

static void offer(struct work *w, const uint16_t *restrict have, const uint16_t *restrict want,
		  uint8_t port)
{
	uint16_t any = 0;

	for (unsigned i = 0; i < BLOCK; i++)
		any |= have[i] == want[i];
	if (!any)
		return;
	for (unsigned i = 0; i < BLOCK; i++) {
		w->port[w->count[i]][i] = port;
		w->count[i] = (uint8_t)(w->count[i] + (have[i] == want[i]));
	}
}

void fera_offers(const struct fera *g, struct work *w, uint32_t s)
{
	wanted(w, s);
	memset(w->count, 0, sizeof(w->count));
	for (uint32_t a = g->down_first[s]; a < g->down_first[s + 1]; a++)
		offer(w, w->down + (size_t)g->down[a].sw * BLOCK, w->want_down, g->down[a].port);
	for (uint32_t a = g->up_first[s]; a < g->up_first[s + 1]; a++)
		offer(w, w->dist + (size_t)g->up[a].sw * BLOCK, w->want_up, g->up[a].port);
}

uint32_t fera_tie_start(const struct fera *g, uint32_t s, uint32_t d, unsigned c)
{
	uint32_t x = g->leaf_number[d];

	if (g->direct)
		return (uint32_t)(hash64_add(hash64(s), g->hosts_before[d]) % c);
	if (!g->level[s])
		return g->hosts_before[d] % c;
	for (unsigned l = 1; l < g->level[s] && x; l++)
		x /= MAX(c, 2u);
	return x % c;
}

/* Which of c equal ports leads from switch s to a LID behind switch d; start: see fera_tie_start(). */
static unsigned tie(const struct fera *g, uint32_t s, const struct dest *x, uint32_t start,
		    unsigned c)
{
	switch (g->ties) {
	case RT_TIES_SPREAD:
		return (start + x->spread) % c;
	case RT_TIES_FIRST:
		return 0;
	case RT_TIES_RANDOM:
		return (unsigned)(hash64_add(hash64(g->f->nodes[g->f->switches[s]].guid), x->lid) %
				  c);
	}
	return 0;
}

static uint64_t deal(const struct fera *g, const struct work *w, uint32_t s, uint32_t d, unsigned i)
{
	uint8_t *row = rt_row(g->t, s);
	const struct dest *at = g->dest + g->dest_first[d], *end = g->dest + g->dest_first[d + 1];
	unsigned c = w->count[i];
	uint32_t start;

	if (s == d) {
		for (const struct dest *x = at; x < end; x++)
			row[x->lid] = x->port;
	} else if (c == 0) {
		return 0;
	} else if (c == 1) {
		for (const struct dest *x = at; x < end; x++)
			row[x->lid] = w->port[0][i];
	} else {
		start = fera_tie_start(g, s, d, c);
		for (const struct dest *x = at; x < end; x++)
			row[x->lid] = w->port[tie(g, s, x, start, c)][i];
	}
	return (uint64_t)(end - at);
}

static uint64_t block(const struct fera *g, struct work *w, uint32_t d0, uint32_t nd)
{
	uint64_t entries = 0;
	uint32_t dests[BLOCK];

	for (uint32_t i = 0; i < nd; i++)
		dests[i] = d0 + i;
	fera_search(g, w, dests, nd);
	for (uint32_t s = 0; s < g->f->nswitches; s++) {
		fera_offers(g, w, s);
		for (uint32_t i = 0; i < nd; i++)
			entries += deal(g, w, s, d0 + i, i);
	}
	return entries;
}

static uint64_t blocks(const struct fera *g, unsigned threads)
{
	uint32_t n = g->f->nswitches, nblocks = (n + BLOCK - 1) / BLOCK;
	int nthreads UNUSED = rt_threads(threads, nblocks, (uint64_t)n * g->t->top_lid);
	uint64_t entries = 0;

	RT_OMP(omp parallel num_threads(nthreads) reduction(+ : entries))
	{
		struct work *w = fera_work_new(n);

		RT_OMP(omp for schedule(dynamic))
		for (uint32_t b = 0; b < nblocks; b++)
			entries += block(g, w, b * BLOCK, MIN((uint32_t)BLOCK, n - b * BLOCK));
		fera_work_free(w);
	}
	return entries;
}

/* ---- the engine ---- */

struct work *fera_work_new(uint32_t nswitches)
{
	struct work *w = mem_alloc(sizeof(*w));

	w->down = mem_array((size_t)nswitches * BLOCK, sizeof(*w->down));
	w->dist = mem_array((size_t)nswitches * BLOCK, sizeof(*w->dist));
	return w;
}

void fera_work_free(struct work *w)
{
	free(w->down);
	free(w->dist);
	free(w);
}

void fera_init(struct fera *g, const struct rt_opts *o)
{
	uint32_t n = g->f->nswitches;
	uint64_t *rank = mem_array(n, sizeof(*rank));

	g->order = mem_array(n, sizeof(*g->order));
	g->up_first = mem_array(n + 1, sizeof(*g->up_first));
	g->down_first = mem_array(n + 1, sizeof(*g->down_first));
	g->up = mem_array(g->f->nlinks, sizeof(*g->up));
	g->down = mem_array(g->f->nlinks, sizeof(*g->down));
	g->dest_first = mem_array(n + 1, sizeof(*g->dest_first));
	g->dest = mem_array(g->t->top_lid + 1, sizeof(*g->dest));
	g->hosts_before = mem_array(n, sizeof(*g->hosts_before));
	g->leaf_number = mem_array(n, sizeof(*g->leaf_number));
	g->level = mem_array(n, sizeof(*g->level));
	rt_rank_dense(g->f, o, g->order, rank);
	arcs_make(g, rank);
	dests_make(g);
	levels_make(g);
	leaves_number(g);
	free(rank);
}

void fera_free(struct fera *g)
{
	free(g->order);
	free(g->up_first);
	free(g->down_first);
	free(g->up);
	free(g->down);
	free(g->dest_first);
	free(g->dest);
	free(g->hosts_before);
	free(g->leaf_number);
	free(g->level);
}

int fera_check(const struct fab *f, const struct rt_tables *t, struct err *e)
{
	int rc;

	if (f->nswitches > MAX_SWITCHES)
		return err_set(e, -E2BIG, "fera: %u switches are more than the %u it can route",
			       f->nswitches, (unsigned)MAX_SWITCHES);
	rc = rt_tables_fit(t, f, "fera", e);
	if (rc)
		return rc;
	return 0;
}

static int fera_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		      struct err *e)
{
	struct fera g = {.f = f, .t = t, .ties = o->ties};
	int rc = fera_check(f, t, e);

	if (rc)
		return rc;
	fera_init(&g, o);
	t->entries = blocks(&g, o->threads);
	fera_free(&g);
	return 0;
}

const struct rt_engine rt_fera = {
	.name = "fera",
	.summary = "up*/down* from one root, every entry explicit (thesis 6.2.2)",
	.about =
		"Engine fera routes up*/down* from one root: no route goes up after it went down, and\n"
		"a switch that has a way down takes it even where a way up is shorter. Equal ports\n"
		"share the destinations evenly.",
	.route = fera_route,
	.updown = true,
	.use = RT_USE_ANYWHERE,
	.cost = {.search_ps = 300, .cell_ps = 2000, .thesis_s = 2.33e-5, .thesis_exponent = 2.684},
};
