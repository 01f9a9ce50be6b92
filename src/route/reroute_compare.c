/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a reference does not hold any more on another snapshot. State: struct reroute. Way in: reroute_compare().
 * Changes no table.
 */
#include "route/reroute.h"

static void then_find(struct reroute *x)
{
	const struct fab *b = x->ref->f;
	uint32_t *then;

	for (uint32_t s = 0; s < b->nswitches; s++)
		x->then_ports = MAX(x->then_ports, b->nodes[b->switches[s]].nports + 1u);
	x->then = then = mem_array((size_t)b->nswitches * x->then_ports + 1, sizeof(*then));
	memset(then, 0xff, (size_t)b->nswitches * x->then_ports * sizeof(*then));
	for (uint32_t s = 0; s < b->nswitches; s++, then += x->then_ports) {
		const struct fab_node *n = &b->nodes[b->switches[s]];

		for (unsigned p = 1; p <= n->nports; p++) {
			port_id peer = b->ports[n->first_port + p].peer;
			uint32_t v =
				peer == FAB_NONE ? FAB_NONE : b->switch_index[b->ports[peer].node];

			then[p] = v == s ? FAB_NONE : v;
		}
	}
}

/* ---- LIDs ---- */

/* The switch of a port or of the switch that its cable leads to; FAB_NONE. */
static uint32_t switch_of(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;

	if (fab_is_switch(f, f->ports[p].node))
		return f->switch_index[f->ports[p].node];
	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

static int lids_compare(struct reroute *x, struct err *e)
{
	const struct switch_graph *g = &x->g;
	port_id *then;
	uint32_t top;
	int rc = fab_lid_table(x->ref->f, &then, &top, e);

	if (rc)
		return rc;
	memset(x->at, 0xff, ((size_t)x->t->top_lid + 1) * sizeof(*x->at));
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++) {
			uint32_t lid = g->dest[i].lid;
			port_id p = lid <= MIN(top, x->ref->t->top_lid) ? then[lid] : FAB_NONE;

			x->at[lid] = s;
			x->lost[lid] = p == FAB_NONE || x->was[s] == FAB_NONE ||
				       switch_of(x->ref->f, p) != x->was[s];
		}
	free(then);
	return 0;
}

/* ---- links ---- */

static bool counts(const struct reroute *x, uint32_t s, uint32_t lid)
{
	return lid <= x->t->top_lid && x->at[lid] != FAB_NONE && x->at[lid] != s && !x->lost[lid];
}

static void broken_add(struct reroute *x, uint32_t s, uint32_t lid)
{
	if (counts(x, s, lid))
		vec_push(&x->broken, (struct reroute_broken){s, (uint16_t)lid});
}

/* Which ports of a switch lead to another switch than in the reference, or no longer to one; false: none. */
static bool ports_compare(struct reroute *x, uint32_t s, bool other[256])
{
	const struct fab *f = x->f, *b = x->ref->f;
	uint32_t was = x->was[s];
	unsigned n = MAX(f->nodes[f->switches[s]].nports, b->nodes[b->switches[was]].nports);
	bool any = false;

	for (unsigned p = 1; p <= n; p++) {
		uint32_t a = graph_arc(&x->g, s, p), then = reroute_then(x, was, p);

		if ((a == FAB_NONE ? FAB_NONE : x->was[x->g.arc[a].to]) == then &&
		    (a == FAB_NONE) == (then == FAB_NONE))
			continue;
		x->new_links += a != FAB_NONE;
		x->gone_links += then != FAB_NONE;
		any |= other[p] = then != FAB_NONE;
	}
	return any;
}

/* A switch without an entry had no way to the LID; there may be one now. */
static void row_search(struct reroute *x, uint32_t s, bool parts)
{
	bool other[256] = {[IBA_PORT_NONE] = parts};
	const uint8_t *row = rt_row(x->t, s);
	bool any = parts;

	if (x->was[s] == FAB_NONE) {
		x->new_links += x->g.first[s + 1] - x->g.first[s];
		memset(other, true, sizeof(other));
		any = true;
	} else {
		any |= ports_compare(x, s, other);
	}
	for (uint32_t lid = 1; any && lid <= x->t->top_lid; lid++)
		if (other[row[lid]])
			broken_add(x, s, lid);
}

/* Whether no way of links joins some switches of the reference. */
static bool in_parts(const struct reroute *x)
{
	const struct fab *f = x->ref->f;
	uint32_t *queue = mem_array((size_t)f->nswitches + 1, sizeof(*queue)), tail = 0;
	bool *seen = mem_zarray((size_t)f->nswitches + 1, sizeof(*seen));

	seen[0] = true;
	queue[tail++] = 0;
	for (uint32_t head = 0; head < tail && f->nswitches; head++)
		for (unsigned p = 1; p <= f->nodes[f->switches[queue[head]]].nports; p++) {
			uint32_t v = reroute_then(x, queue[head], p);

			if (v != FAB_NONE && !seen[v]) {
				seen[v] = true;
				queue[tail++] = v;
			}
		}
	free(queue);
	free(seen);
	return tail < f->nswitches;
}

/* ---- turns ---- */

/* Whether a link between two switches of the reference has another direction now. */
static bool is_turned(const struct reroute *x, uint32_t a)
{
	const struct graph_arc *arc = &x->g.arc[a];
	uint32_t s = x->was[arc->from], v = x->was[arc->to];

	return s != FAB_NONE && v != FAB_NONE &&
	       (x->rank[arc->from] < x->rank[arc->to]) != (x->ref->rank[s] < x->ref->rank[v]);
}

/* Entries that lead down to switch s, where an entry leads up. */
static void turns_search(struct reroute *x, uint32_t s)
{
	const struct switch_graph *g = &x->g;
	const uint8_t *row = rt_row(x->t, s);
	bool up[256] = {false};

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		up[g->arc[a].port] = x->rank[g->arc[a].to] < x->rank[s];
	for (uint32_t i = g->in_first[s]; i < g->in_first[s + 1]; i++) {
		const struct graph_arc *in = &g->arc[g->in[i]];
		const uint8_t *from = rt_row(x->t, in->from);

		if (x->rank[in->from] > x->rank[s])
			continue;
		for (uint32_t lid = 1; lid <= x->t->top_lid; lid++)
			if (from[lid] == in->port && up[row[lid]])
				broken_add(x, in->from, lid);
	}
}

static void turned_search(struct reroute *x)
{
	for (uint32_t s = 0; s < x->g.n; s++) {
		bool any = false;

		for (uint32_t a = x->g.first[s]; a < x->g.first[s + 1] && !any; a++)
			any = is_turned(x, a);
		if (any)
			turns_search(x, s);
	}
}

static void parts_find(struct reroute *x)
{
	const struct switch_graph *g = &x->g;
	uint32_t *queue = mem_array((size_t)g->n + 1, sizeof(*queue));

	memset(x->part, 0xff, (size_t)g->n * sizeof(*x->part));
	for (uint32_t from = 0; from < g->n; from++) {
		uint32_t tail = 0;

		if (x->part[from] != FAB_NONE)
			continue;
		x->part[from] = from;
		queue[tail++] = from;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t a = g->first[queue[head]]; a < g->first[queue[head] + 1]; a++)
				if (x->part[g->arc[a].to] == FAB_NONE) {
					x->part[g->arc[a].to] = from;
					queue[tail++] = g->arc[a].to;
				}
	}
	free(queue);
}

int reroute_compare(struct reroute *x, struct err *e)
{
	const struct fab *f = x->f, *b = x->ref->f;
	bool parts;
	int rc;

	x->was = mem_array((size_t)x->g.n + 1, sizeof(*x->was));
	x->part = mem_array((size_t)x->g.n + 1, sizeof(*x->part));
	x->lost = mem_zarray((size_t)x->t->top_lid + 1, 1);
	x->at = mem_array((size_t)x->t->top_lid + 1, sizeof(*x->at));
	for (uint32_t s = 0; s < x->g.n; s++) {
		node_id n = fab_node_by_guid(b, f->nodes[f->switches[s]].guid);

		x->was[s] = n == FAB_NONE ? FAB_NONE : b->switch_index[n];
	}
	parts_find(x);
	then_find(x);
	parts = in_parts(x);
	rc = lids_compare(x, e);
	if (rc)
		return rc;
	for (uint32_t s = 0; s < x->g.n; s++)
		row_search(x, s, parts);
	if (x->rank)
		turned_search(x);
	return 0;
}

void reroute_compare_free(struct reroute *x)
{
	free(x->was);
	free(x->part);
	free(x->then);
	free(x->lost);
	free(x->at);
	vec_free(&x->broken);
}
