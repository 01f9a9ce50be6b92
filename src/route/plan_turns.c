/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which turns to disable so that a dependency graph has no cycle. State: struct graph, the
 * cyclic parts of the dependency graph; the way in is turns_choose(). Does not know tables.
 *
 * Without the turns that ranks forbid there is no cycle at all. From there turns are put back as
 * long as none closes a cycle: first those that must stay off because the rest has a way back are
 * found, 64 at a time; the others are put back one after another, in two orders of which the better
 * counts. A turn has an edge for each pair of VLs by which packets take it; they go together.
 *
 * Where no ranks say which turns to forbid (turns_cut()), all turns are disabled by which the graph is more than that of
 * the new tables, which has no cycle; those that tables take are put back first.
 */
#include "route/plan_priv.h"
#include "route/route_priv.h"

enum {
	EFFORT = 100000000, /* edges looked at; turns not looked at by then stay off */
};

/* A forbidden turn: all its edges are cut or none. */
struct turn {
	struct rt_turn turn;
	uint32_t first; /* its edges: a chain in graph.cut, from the last to the first */
	bool off, stays_off;
	bool used; /* tables take it; told where no ranks are */
};

/* An edge of such a turn. */
struct cut {
	uint32_t from, to;
	uint32_t turn;
	uint32_t next;	/* of the same turn, UINT32_MAX at the end */
	bool stays_off; /* the rest has a way back */
};

struct graph {
	const struct cdg *all, *keep;
	const struct cdg *old; /* turns_cut(): dependencies of old tables; NULL: ranks tell */
	const uint64_t *rank;
	uint32_t *part;	       /* by channel, which is vl * nports + port id */
	uint32_t *index;       /* by channel: its vertex */
	VEC(uint32_t) channel; /* by vertex, in the order of port id, then VL */
	uint32_t *first;       /* edges of a vertex that must stay: [first[v], first[v + 1]) */
	VEC(uint32_t) edge;
	VEC(struct cut) cut; /* in the order of their vertices */
	VEC(struct turn) turn;
	uint32_t
		turn_of[256]; /* by output port: the turn from the port in work, UINT32_MAX: none */
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

/* A cable from a switch to itself has no direction, and no tables that are computed lead through it. */
static bool is_own_loop(const struct graph *g, port_id p)
{
	const struct fab *f = g->all->f;

	return f->ports[f->ports[p].peer].node == f->ports[p].node;
}

/* Down, then up; or back from a cable that leads to the switch itself. */
static bool is_forbidden(const struct graph *g, port_id p, port_id q)
{
	return (g->rank && goes_down(g, p) && goes_up(g, q)) || is_own_loop(g, p);
}

static bool has_edge(const struct cdg *c, port_id p, unsigned pair, unsigned out)
{
	return cdg_row(c, p, pair / c->nvls, pair % c->nvls)[out / 64] >> out % 64 & 1;
}

/* Whether tables with these dependencies take this turn on any VL. */
static bool takes(const struct cdg *c, port_id p, unsigned out)
{
	for (unsigned pair = 0; pair < c->nvls * c->nvls; pair++)
		if (has_edge(c, p, pair, out))
			return true;
	return false;
}

/* Whether this turn has an edge on some VLs that the new tables do not have. */
static bool is_more(const struct graph *g, port_id p, unsigned out)
{
	for (unsigned pair = 0; pair < g->all->nvls * g->all->nvls; pair++)
		if (has_edge(g->all, p, pair, out) && !has_edge(g->keep, p, pair, out))
			return true;
	return false;
}

static bool may_cut(const struct graph *g, port_id p, port_id q, unsigned out)
{
	return g->old ? is_more(g, p, out) : is_forbidden(g, p, q) && !takes(g->keep, p, out);
}

static void cut_add(struct graph *g, uint32_t from, uint32_t to, port_id p, unsigned out)
{
	const struct fab *f = g->all->f;
	uint32_t *k = &g->turn_of[out];

	if (*k == UINT32_MAX) {
		*k = (uint32_t)g->turn.n;
		vec_push(&g->turn,
			 (struct turn){.turn = {enters(g, p), f->ports[f->ports[p].peer].num,
						(uint8_t)out},
				       .first = UINT32_MAX,
				       .used = g->old &&
					       (takes(g->old, p, out) || takes(g->keep, p, out))});
	}
	vec_push(&g->cut, (struct cut){from, to, *k, g->turn.at[*k].first, true});
	g->turn.at[*k].first = (uint32_t)g->cut.n - 1;
}

/* Edges from channel c, which is port p on one VL, to the output ports of the switch behind it. */
static void edges_to_vl(struct graph *g, uint32_t c, port_id p, unsigned vl, unsigned next_vl)
{
	const struct fab *f = g->all->f;
	const uint64_t *row = cdg_row(g->all, p, vl, next_vl);
	node_id n = f->ports[f->ports[p].peer].node;

	for (uint32_t w = 0; w < g->all->words; w++)
		for (uint64_t rest = row[w]; rest; rest &= rest - 1) {
			unsigned out = w * 64 + (unsigned)__builtin_ctzll(rest);
			port_id q = fab_port_id(f, n, out);
			uint32_t d = next_vl * f->nports + q;

			if (g->part[d] != g->part[c])
				continue;
			if (may_cut(g, p, q, out))
				cut_add(g, g->index[c], g->index[d], p, out);
			else
				vec_push(&g->edge, g->index[d]);
		}
}

static void vertices_make(struct graph *g)
{
	uint32_t nports = g->all->f->nports, nvls = g->all->nvls;

	g->part = mem_array((size_t)nports * nvls, sizeof(*g->part));
	g->index = mem_array((size_t)nports * nvls, sizeof(*g->index));
	cdg_parts(g->all, g->part);
	for (port_id p = 0; p < nports; p++)
		for (unsigned vl = 0; vl < nvls; vl++)
			if (g->part[vl * nports + p]) {
				g->index[vl * nports + p] = (uint32_t)g->channel.n;
				vec_push(&g->channel, vl * nports + p);
			}
}

static void graph_make(struct graph *g)
{
	uint32_t nports = g->all->f->nports;
	port_id last = FAB_NONE;

	vertices_make(g);
	g->first = mem_array(g->channel.n + 1, sizeof(*g->first));
	g->cut_first = mem_array(g->channel.n + 1, sizeof(*g->cut_first));
	g->order = mem_array(g->channel.n, sizeof(*g->order));
	for (uint32_t v = 0; v < g->channel.n; v++) {
		uint32_t c = g->channel.at[v];
		port_id p = c % nports;

		g->first[v] = (uint32_t)g->edge.n;
		g->cut_first[v] = (uint32_t)g->cut.n;
		if (p != last)
			memset(g->turn_of, 0xff, sizeof(g->turn_of));
		last = p;
		for (unsigned next_vl = 0; next_vl < g->all->nvls; next_vl++)
			edges_to_vl(g, c, p, c / nports, next_vl);
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
	vec_free(&g->turn);
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
	for (size_t i = 0; i < g->cut.n; i++)
		g->turn.at[g->cut.at[i].turn].stays_off |= g->cut.at[i].stays_off;
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
			if (!g->turn.at[g->cut.at[i].turn].off)
				look_at(l, g->cut.at[i].to);
		g->effort += g->first[v + 1] - g->first[v] + 1;
	}
	return l->seen[to] == l->number || g->effort >= EFFORT;
}

/* Whether the turn, put back, closes a cycle. */
static bool closes(struct graph *g, struct look *l, const struct turn *t)
{
	for (uint32_t i = t->first; i != UINT32_MAX; i = g->cut.at[i].next)
		if (leads_to(g, l, g->cut.at[i].to, g->cut.at[i].from))
			return true;
	return false;
}

/* Those in use or the others. */
static size_t put_back_some(struct graph *g, struct look *l, bool used, bool last_first)
{
	size_t off = 0;

	for (size_t i = 0; i < g->turn.n; i++) {
		struct turn *t = &g->turn.at[last_first ? g->turn.n - 1 - i : i];

		if (t->used != used)
			continue;
		if (!t->stays_off) {
			t->off = false;
			t->off = closes(g, l, t);
		}
		off += t->off;
	}
	return off;
}

/* From the first to the last, or the other way round. Returns what those that stay off cost: each one, one in use most. */
static size_t put_back(struct graph *g, bool last_first)
{
	uint32_t n = (uint32_t)g->channel.n;
	struct look l = {.stack = mem_array(n, sizeof(*l.stack)),
			 .seen = mem_zarray(n, sizeof(*l.seen))};
	size_t cost;

	for (size_t i = 0; i < g->turn.n; i++)
		g->turn.at[i].off = true;
	cost = put_back_some(g, &l, true, last_first) * (g->turn.n + 1);
	cost += put_back_some(g, &l, false, last_first);
	free(l.stack);
	free(l.seen);
	return cost;
}

/* Which turns are put back depends on the order: try both, with half of the effort each. */
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

static int choose(struct graph *g, rt_turns *turns, struct err *e)
{
	int rc = 0;

	graph_make(g);
	if (order_make(g)) {
		hopeless_find(g);
		put_back_most(g);
		for (size_t i = 0; i < g->turn.n; i++)
			if (g->turn.at[i].off)
				vec_push(turns, g->turn.at[i].turn);
		qsort(turns->at, turns->n, sizeof(*turns->at), turn_cmp);
	} else {
		rc = err_set(e, -EINVAL,
			     "plan: old and new tables close a cycle without any turn "
			     "that the ranks forbid and the new tables do not need");
	}
	graph_free(g);
	return rc;
}

int turns_choose(const struct cdg *all, const struct cdg *keep, const uint64_t *rank,
		 rt_turns *turns, struct err *e)
{
	struct graph g = {.all = all, .keep = keep, .rank = rank};

	return choose(&g, turns, e);
}

int turns_cut(const struct cdg *all, const struct cdg *new, const struct cdg *old, rt_turns *turns,
	      struct err *e)
{
	struct graph g = {.all = all, .keep = new, .old = old};

	return choose(&g, turns, e);
}
