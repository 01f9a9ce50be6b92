/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which turns to switch off so that a dependency graph has no cycle. State: struct graph, the
 * cyclic parts of the dependency graph; the way in is turns_choose(). Does not know tables.
 *
 * Without the turns that ranks forbid there is no cycle at all. From there turns are put back as
 * long as none closes: first those that cannot because the rest has a way back, 64 at a time, drop
 * out; what is left is put back one after another, in two orders of which the better counts.
 */
#include "route/plan_priv.h"
#include "route/route_priv.h"

enum {
	EFFORT = 100000000, /* edges looked at; turns not looked at by then stay off */
};

/* An edge that may be cut: a forbidden turn. */
struct cut {
	uint32_t from, to;
	struct rt_turn turn;
	bool off, stays_off;
};

struct graph {
	const struct cdg *all, *keep;
	const uint64_t *rank;
	uint32_t *part;	       /* by channel */
	uint32_t *index;       /* by channel: its vertex */
	VEC(uint32_t) channel; /* by vertex */
	uint32_t *first;       /* edges of a vertex that must stay: [first[v], first[v + 1]) */
	VEC(uint32_t) edge;
	VEC(struct cut) cut; /* in the order of their vertices */
	uint32_t *cut_first;
	uint32_t *order; /* vertices, each after all that lead to it by edges that must stay */
	uint64_t effort;
};

/* ---- making it ---- */

/* What channel p does: the switch it enters and whether it goes up. */
static uint32_t enters(const struct graph *g, port_id p)
{
	const struct fab *f = g->all->f;

	return f->switch_index[f->ports[f->ports[p].peer].node];
}

static bool goes_up(const struct graph *g, port_id p)
{
	const struct fab *f = g->all->f;

	return g->rank[enters(g, p)] < g->rank[f->switch_index[f->ports[p].node]];
}

static bool goes_down(const struct graph *g, port_id p)
{
	const struct fab *f = g->all->f;

	return g->rank[enters(g, p)] > g->rank[f->switch_index[f->ports[p].node]];
}

static void edge_add(struct graph *g, port_id p, port_id q, unsigned out)
{
	const struct fab *f = g->all->f;
	bool used = cdg_row(g->keep, p, 0, 0)[out / 64] >> out % 64 & 1;
	struct cut c = {.from = g->index[p], .to = g->index[q], .off = true};

	if (!used && goes_down(g, p) && goes_up(g, q)) {
		c.turn = (struct rt_turn){enters(g, p), f->ports[f->ports[p].peer].num,
					  (uint8_t)out};
		vec_push(&g->cut, c);
	} else {
		vec_push(&g->edge, c.to);
	}
}

static void edges_of(struct graph *g, port_id p)
{
	const struct fab *f = g->all->f;
	const uint64_t *row = cdg_row(g->all, p, 0, 0);
	node_id n = f->ports[f->ports[p].peer].node;

	for (uint32_t w = 0; w < g->all->words; w++)
		for (uint64_t rest = row[w]; rest; rest &= rest - 1) {
			unsigned out = w * 64 + (unsigned)__builtin_ctzll(rest);
			port_id q = fab_port_id(f, n, out);

			if (g->part[q] == g->part[p])
				edge_add(g, p, q, out);
		}
}

static void graph_make(struct graph *g)
{
	uint32_t n = g->all->f->nports;

	g->part = mem_array(n, sizeof(*g->part));
	g->index = mem_array(n, sizeof(*g->index));
	cdg_parts(g->all, g->part);
	for (port_id p = 0; p < n; p++)
		if (g->part[p]) {
			g->index[p] = (uint32_t)g->channel.n;
			vec_push(&g->channel, p);
		}
	g->first = mem_array(g->channel.n + 1, sizeof(*g->first));
	g->cut_first = mem_array(g->channel.n + 1, sizeof(*g->cut_first));
	g->order = mem_array(g->channel.n, sizeof(*g->order));
	for (uint32_t v = 0; v < g->channel.n; v++) {
		g->first[v] = (uint32_t)g->edge.n;
		g->cut_first[v] = (uint32_t)g->cut.n;
		edges_of(g, g->channel.at[v]);
	}
	g->first[g->channel.n] = (uint32_t)g->edge.n;
	g->cut_first[g->channel.n] = (uint32_t)g->cut.n;
}

static void graph_free(struct graph *g)
{
	free(g->part);
	free(g->index);
	vec_free(&g->channel);
	free(g->first);
	vec_free(&g->edge);
	vec_free(&g->cut);
	free(g->cut_first);
	free(g->order);
}

/* Put the vertices in order; false when the edges that must stay have a cycle. */
static bool order_make(struct graph *g)
{
	uint32_t n = (uint32_t)g->channel.n, tail = 0;
	uint32_t *before = mem_zarray(n, sizeof(*before));

	for (size_t i = 0; i < g->edge.n; i++)
		before[g->edge.at[i]]++;
	for (uint32_t v = 0; v < n; v++)
		if (!before[v])
			g->order[tail++] = v;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = g->order[head];

		for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
			if (!--before[g->edge.at[i]])
				g->order[tail++] = g->edge.at[i];
	}
	free(before);
	return tail == n;
}

/* ---- turns that can never be put back: 64 of their targets at a time ---- */

struct targets {
	uint32_t at[64], n;
	uint8_t *number; /* by vertex: 1 + its place in at[], 0: none */
	uint64_t *mask;	 /* by vertex: the targets that have a way to it */
};

static void targets_spread(struct graph *g, struct targets *t)
{
	memset(t->mask, 0, g->channel.n * sizeof(*t->mask));
	for (uint32_t i = 0; i < t->n; i++)
		t->mask[t->at[i]] = 1ull << i;
	for (size_t k = 0; k < g->channel.n; k++) {
		uint32_t v = g->order[k];

		for (uint32_t i = g->first[v]; t->mask[v] && i < g->first[v + 1]; i++)
			t->mask[g->edge.at[i]] |= t->mask[v];
	}
	g->effort += g->edge.n;
	for (size_t i = 0; i < g->cut.n; i++) {
		struct cut *c = &g->cut.at[i];
		unsigned k = t->number[c->to];

		if (k)
			c->stays_off = t->mask[c->from] >> (k - 1) & 1;
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->number[t->at[i]] = 0;
	t->n = 0;
}

static void hopeless_find(struct graph *g)
{
	uint32_t n = (uint32_t)g->channel.n;
	struct targets t = {.number = mem_zarray(n, 1), .mask = mem_array(n, sizeof(*t.mask))};
	bool *done = mem_zarray(n, sizeof(*done));

	for (size_t i = 0; i < g->cut.n; i++)
		g->cut.at[i].stays_off = true;
	for (size_t i = 0; i < g->cut.n && g->effort < EFFORT; i++) {
		uint32_t v = g->cut.at[i].to;

		if (done[v])
			continue;
		done[v] = true;
		t.at[t.n++] = v;
		t.number[v] = (uint8_t)t.n;
		if (t.n == ARRAY_LEN(t.at))
			targets_spread(g, &t);
	}
	if (t.n)
		targets_spread(g, &t);
	free(done);
	free(t.number);
	free(t.mask);
}

/* ---- the others, one after another ---- */

struct look {
	uint32_t *stack, n, number;
	uint32_t *seen; /* by vertex: the last look that met it */
};

static void look_at(struct look *l, uint32_t v)
{
	if (l->seen[v] != l->number) {
		l->seen[v] = l->number;
		l->stack[l->n++] = v;
	}
}

/* Whether there is a way from `from` to `to`; true also when it would take too long to know. */
static bool leads_to(struct graph *g, struct look *l, uint32_t from, uint32_t to)
{
	l->number++;
	l->n = 0;
	look_at(l, from);
	while (l->n && l->seen[to] != l->number && g->effort < EFFORT) {
		uint32_t v = l->stack[--l->n];

		for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++)
			look_at(l, g->edge.at[i]);
		for (uint32_t i = g->cut_first[v]; i < g->cut_first[v + 1]; i++)
			if (!g->cut.at[i].off)
				look_at(l, g->cut.at[i].to);
		g->effort += g->first[v + 1] - g->first[v] + 1;
	}
	return l->seen[to] == l->number || g->effort >= EFFORT;
}

/* From the first to the last, or the other way round. Returns how many stay off. */
static size_t put_back(struct graph *g, bool last_first)
{
	uint32_t n = (uint32_t)g->channel.n;
	struct look l = {.stack = mem_array(n, sizeof(*l.stack)),
			 .seen = mem_zarray(n, sizeof(*l.seen))};
	size_t off = 0;

	for (size_t i = 0; i < g->cut.n; i++)
		g->cut.at[i].off = true;
	for (size_t i = 0; i < g->cut.n; i++) {
		struct cut *c = &g->cut.at[last_first ? g->cut.n - 1 - i : i];

		if (!c->stays_off)
			c->off = leads_to(g, &l, c->to, c->from);
		off += c->off;
	}
	free(l.stack);
	free(l.seen);
	return off;
}

/* Which are spared depends on who comes first: try both ways, half of the effort each. */
static void put_back_most(struct graph *g)
{
	size_t one, other;

	g->effort = EFFORT / 2;
	one = put_back(g, false);
	g->effort = EFFORT / 2;
	other = put_back(g, true);
	if (one <= other) {
		g->effort = EFFORT / 2;
		put_back(g, false);
	}
}

static int turn_cmp(const void *a, const void *b)
{
	const struct rt_turn *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->in != y->in ? x->in - y->in : x->out - y->out;
}

int turns_choose(const struct cdg *all, const struct cdg *keep, const uint64_t *rank,
		 rt_turns *turns, struct err *e)
{
	struct graph g = {.all = all, .keep = keep, .rank = rank};
	int rc = 0;

	graph_make(&g);
	if (order_make(&g)) {
		hopeless_find(&g);
		put_back_most(&g);
		for (size_t i = 0; i < g.cut.n; i++)
			if (g.cut.at[i].off)
				vec_push(turns, g.cut.at[i].turn);
		qsort(turns->at, turns->n, sizeof(*turns->at), turn_cmp);
	} else {
		rc = err_set(e, -EINVAL,
			     "plan: old and new tables close a cycle without any turn "
			     "that the ranks forbid and the new tables do not need");
	}
	graph_free(&g);
	return rc;
}
