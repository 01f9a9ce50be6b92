/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "pira", Partially Implicit Routing (thesis 6.2.3): routes up go by a default port. Keeps no
 * state between calls; the way in is rt_pira.route(). Leaves entries empty that go by the default port:
 * rt_tables_fill() writes them.
 *
 * Switches are visited by rank, each after all its upper neighbours, and hosts after all switches.
 * A host has one upper neighbour, so every switch reaches it as it reaches the host's switch. That
 * leaves a square of bytes, column x holding every switch's port towards switch x, in which a visit
 * is: copy the parent's column, then write down the direct neighbours.
 */
#include "route/route_priv.h"

enum { ROWS = 64 }; /* written side by side: as many bytes of a column are one cache line */

struct dest {
	uint16_t lid;
	uint8_t port; /* of the destination's own switch */
};

struct pira {
	const struct fab *f;
	struct rt_tables *t;
	uint32_t *order; /* switches by rank */
	uint64_t *rank;
	uint32_t *depth;      /* links from switch s to the root over default ports */
	uint8_t *columns;     /* [switch to][switch at] */
	uint32_t *dest_first; /* LIDs behind switch s: [first[s], first[s + 1]) */
	struct dest *dest;
};

static uint8_t *column(const struct pira *g, uint32_t to)
{
	return g->columns + (size_t)to * g->f->nswitches;
}

/* ---- the visit ---- */

/* The switch that port p of x leads up to, or FAB_NONE. */
static uint32_t upper(const struct pira *g, uint32_t x, unsigned p)
{
	const struct fab *f = g->f;
	port_id peer = f->ports[fab_port_id(f, f->switches[x], p)].peer;
	uint32_t v = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

	return v != FAB_NONE && g->rank[v] < g->rank[x] ? v : FAB_NONE;
}

/*
 * The thesis takes any upper neighbour as the parent. Here it is the one with the fewest links to
 * the root, since everything without an entry goes that way; of equals the one visited last, which
 * is what Table 19 shows.
 */
static bool better_parent(const struct pira *g, uint32_t v, uint32_t than)
{
	if (than == FAB_NONE || g->depth[v] != g->depth[than])
		return than == FAB_NONE || g->depth[v] < g->depth[than];
	return g->rank[v] > g->rank[than];
}

static uint32_t parent_choose(struct pira *g, uint32_t x)
{
	uint32_t parent = FAB_NONE;

	for (unsigned p = 1; p <= g->f->nodes[g->f->switches[x]].nports; p++) {
		uint32_t v = upper(g, x, p);

		if (v != FAB_NONE && better_parent(g, v, parent)) {
			parent = v;
			g->t->dflt[x] = (uint8_t)p;
		}
	}
	g->depth[x] = parent == FAB_NONE ? 0 : g->depth[parent] + 1;
	return parent;
}

static void visit(struct pira *g, uint32_t x)
{
	const struct fab *f = g->f;
	node_id n = f->switches[x];
	uint32_t parent = parent_choose(g, x);
	uint8_t *to_x = column(g, x);

	if (parent == FAB_NONE)
		memset(to_x, IBA_PORT_NONE, f->nswitches);
	else
		memcpy(to_x, column(g, parent), f->nswitches);
	/* backwards: of parallel links the one with the smallest port number of x is written
	 * last */
	for (unsigned p = f->nodes[n].nports; p > 0; p--) {
		uint32_t v = upper(g, x, p);

		if (v == FAB_NONE)
			continue;
		to_x[v] = f->ports[f->ports[fab_port_id(f, n, p)].peer].num;
		if (v != parent)
			column(g, v)[x] = (uint8_t)p;
	}
	to_x[x] = 0;
}

/* ---- the tables ---- */

static uint32_t dest_add(struct pira *g, uint32_t at, port_id id, unsigned port)
{
	const struct fab_port *p = &g->f->ports[id];
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(g->f, id, &v);

	for (unsigned i = 0; p->lid && i < 1u << p->lmc; i++)
		g->dest[at++] = (struct dest){(uint16_t)(p->lid + i), (uint8_t)port};
	for (uint32_t i = 0; i < nv; i++)
		g->dest[at++] = (struct dest){v[i].lid, (uint8_t)port};
	return at;
}

static void dests_make(struct pira *g)
{
	const struct fab *f = g->f;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id sw = f->switches[s];

		g->dest_first[s] = n;
		n = dest_add(g, n, fab_port_id(f, sw, 0), 0);
		for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, sw, p)].peer;

			if (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node))
				n = dest_add(g, n, peer, p);
		}
	}
	g->dest_first[f->nswitches] = n;
}

static uint64_t row_write(const struct pira *g, uint32_t at, uint32_t to, uint8_t port)
{
	const struct dest *d = g->dest + g->dest_first[to], *end = g->dest + g->dest_first[to + 1];
	uint8_t *row = rt_row(g->t, at);

	if (port == IBA_PORT_NONE)
		return 0;
	for (const struct dest *x = d; x < end; x++)
		row[x->lid] = at == to ? x->port : port;
	return (uint64_t)(end - d);
}

static uint64_t rows_write(const struct pira *g, uint32_t s0, uint32_t ns)
{
	uint64_t entries = 0;

	for (uint32_t to = 0; to < g->f->nswitches; to++) {
		const uint8_t *port = column(g, to) + s0;

		for (uint32_t i = 0; i < ns; i++)
			entries += row_write(g, s0 + i, to, port[i]);
	}
	return entries;
}

static uint64_t tables_write(const struct pira *g, unsigned threads)
{
	uint32_t n = g->f->nswitches, nblocks = (n + ROWS - 1) / ROWS;
	int nthreads UNUSED = rt_threads(threads, nblocks, (uint64_t)n * g->t->top_lid);
	uint64_t entries = 0;

	RT_OMP(omp parallel for num_threads(nthreads) schedule(dynamic) reduction(+ : entries))
	for (uint32_t b = 0; b < nblocks; b++)
		entries += rows_write(g, b * ROWS, MIN((uint32_t)ROWS, n - b * ROWS));
	return entries;
}

/* ---- the engine ---- */

static int pira_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		      struct err *e)
{
	struct pira g = {.f = f, .t = t};
	uint32_t n = f->nswitches;
	int rc = rt_tables_fit(t, f, "pira", e);

	if (rc)
		return rc;
	g.order = mem_array(n, sizeof(*g.order));
	g.rank = mem_array(n, sizeof(*g.rank));
	g.depth = mem_array(n, sizeof(*g.depth));
	g.columns = mem_array((size_t)n * n, sizeof(*g.columns));
	g.dest_first = mem_array((size_t)n + 1, sizeof(*g.dest_first));
	g.dest = mem_array((size_t)t->top_lid + 1, sizeof(*g.dest));
	free(t->dflt);
	t->dflt = mem_array(n, sizeof(*t->dflt));
	memset(t->dflt, IBA_PORT_NONE, n);
	rt_rank_dense(f, o, g.order, g.rank);
	for (uint32_t i = 0; i < n; i++)
		visit(&g, g.order[i]);
	dests_make(&g);
	t->entries = tables_write(&g, o->threads);
	free(g.order);
	free(g.rank);
	free(g.depth);
	free(g.columns);
	free(g.dest_first);
	free(g.dest);
	return 0;
}

const struct rt_engine rt_pira = {
	.name = "pira",
	.summary = "up*/down* from one root, ways up by default ports (thesis 6.2.3)",
	.about =
		"Engine pira computes far fewer entries: ways up are left to a default port, and its\n"
		"routes are longer. The tables written with --lfts have the default port in every entry\n"
		"that was left open.",
	.route = pira_route,
	.updown = true,
	.refined_by = &rt_fera,
	.cost = {.cell_ps = 1000, .entry_ps = 2000, .thesis_s = 1.16e-5, .thesis_exponent = 2.494},
};
