/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cycles in the channel dependency graph. The state of a search lives in struct scc; the ways in
 * are cdg_cycles() and cdg_parts(). Does not know tables or routes: the code that walks them adds
 * the dependencies.
 */
#include "route/cdg.h"

enum {
	CYCLE_STARTS = 64
}; /* channels of a cyclic part from which a shortest cycle is looked for */

void cdg_init(struct cdg *c, const struct fab *f, uint32_t nvls)
{
	unsigned most = 0;

	for (uint32_t s = 0; s < f->nswitches; s++)
		most = MAX(most, f->nodes[f->switches[s]].nports);
	c->f = f;
	c->nvls = nvls;
	c->words = most / 64 + 1;
	c->bits = mem_zarray((size_t)nvls * f->nports * nvls, c->words * sizeof(*c->bits));
}

void cdg_free(struct cdg *c)
{
	free(c->bits);
	c->bits = NULL;
}

void cdg_unite(struct cdg *to, const struct cdg *from)
{
	size_t n = (size_t)to->nvls * to->f->nports * to->nvls * to->words;

	for (size_t i = 0; i < n; i++)
		to->bits[i] |= from->bits[i];
}

void cdg_cut(struct cdg *c, uint32_t sw, unsigned in, unsigned out)
{
	node_id n = c->f->switches[sw];
	port_id from;

	if (in > c->f->nodes[n].nports || out > c->f->nodes[n].nports)
		return;
	from = c->f->ports[fab_port_id(c->f, n, in)].peer;
	for (unsigned pair = 0; from != FAB_NONE && pair < c->nvls * c->nvls; pair++)
		cdg_row(c, from, pair / c->nvls, pair % c->nvls)[out / 64] &= ~(1ull << out % 64);
}

/* A vertex is vl * nports + port id. Port 0 of the switch behind the port, FAB_NONE when there
 * is none. */
static port_id base_of(const struct cdg *c, uint32_t v)
{
	port_id peer = c->f->ports[v % c->f->nports].peer;

	return peer == FAB_NONE ? FAB_NONE : c->f->nodes[c->f->ports[peer].node].first_port;
}

/* Successors are numbered by bit: next vl, then output port. */
static uint32_t next_vertex(const struct cdg *c, uint32_t v, port_id base, uint32_t *bit)
{
	uint32_t per_vl = c->words * 64, end = c->nvls * per_vl;
	const uint64_t *row = c->bits + (size_t)v * c->nvls * c->words;

	while (*bit < end) {
		uint64_t rest = row[*bit / 64] >> *bit % 64;

		if (!rest) {
			*bit = (*bit / 64 + 1) * 64;
			continue;
		}
		*bit += (uint32_t)__builtin_ctzll(rest);
		uint32_t vl = c->nvls == 1 ? 0 : *bit / per_vl, out = *bit - vl * per_vl;

		++*bit;
		return vl * c->f->nports + base + out;
	}
	return FAB_NONE;
}

struct frame {
	uint32_t v, bit;
	port_id base;
};

struct scc {
	const struct cdg *c;
	uint32_t *index, *low; /* 0: not seen yet */
	uint32_t *part;	       /* number of the part a vertex belongs to, 0: not known yet */
	VEC(struct frame) frames;
	VEC(uint32_t) open; /* vertices whose part is not known yet */
	uint32_t seen, nparts, ncyclic, in_cycles;
	VEC(uint32_t) cyclic; /* by part: its number among those with a cycle, 0: none */
	VEC(uint32_t) best;   /* the smallest part with a cycle */
};

static bool loops_to_itself(const struct cdg *c, uint32_t v)
{
	port_id base = base_of(c, v), p = v % c->f->nports;

	if (base == FAB_NONE || c->f->nodes[c->f->ports[p].node].first_port != base)
		return false; /* no cable from a switch to itself */
	for (uint32_t bit = 0, w; (w = next_vertex(c, v, base, &bit)) != FAB_NONE;)
		if (w == v)
			return true;
	return false;
}

static void part_close(struct scc *x, uint32_t v)
{
	size_t at = x->open.n;

	x->nparts++;
	do
		x->part[x->open.at[--at]] = x->nparts;
	while (x->open.at[at] != v);
	size_t size = x->open.n - at;

	vec_push(&x->cyclic, 0);
	if (size > 1 || loops_to_itself(x->c, v)) {
		x->cyclic.at[x->nparts - 1] = ++x->ncyclic;
		x->in_cycles += (uint32_t)size;
		if (!x->best.n || size < x->best.n) {
			x->best.n = 0;
			for (size_t i = at; i < x->open.n; i++)
				vec_push(&x->best, x->open.at[i]);
		}
	}
	x->open.n = at;
}

static void visit(struct scc *x, uint32_t v)
{
	x->index[v] = x->low[v] = ++x->seen;
	vec_push(&x->open, v);
	vec_push(&x->frames, (struct frame){v, 0, base_of(x->c, v)});
}

/* Tarjan's algorithm with its own stack: a ring of a thousand switches would be deep recursion. */
static void search_from(struct scc *x, uint32_t start)
{
	visit(x, start);
	while (x->frames.n) {
		struct frame *top = &x->frames.at[x->frames.n - 1];
		uint32_t v = top->v, w = next_vertex(x->c, v, top->base, &top->bit);

		if (w == FAB_NONE) {
			x->frames.n--;
			if (x->low[v] == x->index[v])
				part_close(x, v);
			if (x->frames.n) {
				uint32_t up = x->frames.at[x->frames.n - 1].v;

				x->low[up] = MIN(x->low[up], x->low[v]);
			}
		} else if (!x->index[w]) {
			visit(x, w);
		} else if (!x->part[w]) {
			x->low[v] = MIN(x->low[v], x->index[w]);
		}
	}
}

static struct rt_channel channel_of(const struct cdg *c, uint32_t v)
{
	return (struct rt_channel){v % c->f->nports, (uint8_t)(v / c->f->nports)};
}

/* Breadth first from start until it is met again; `from` holds the way back. */
static void cycle_through(struct scc *x, uint32_t start, uint32_t *from, cdg_path *path)
{
	VEC(uint32_t) queue = {0};
	cdg_path found = {0};

	for (size_t i = 0; i < x->best.n; i++)
		from[x->best.at[i]] = FAB_NONE;
	vec_push(&queue, start);
	for (size_t head = 0; head < queue.n && from[start] == FAB_NONE; head++) {
		uint32_t v = queue.at[head], base = base_of(x->c, v);

		for (uint32_t bit = 0, w; (w = next_vertex(x->c, v, base, &bit)) != FAB_NONE;)
			if (x->part[w] == x->part[start] && from[w] == FAB_NONE) {
				from[w] = v;
				vec_push(&queue, w);
			}
	}
	for (uint32_t v = from[start]; v != start; v = from[v])
		vec_push(&found, channel_of(x->c, v));
	vec_push(&found, channel_of(x->c, start));
	if (!path->n || found.n < path->n) {
		path->n = 0;
		for (size_t i = found.n; i-- > 0;)
			vec_push(path, found.at[i]);
	}
	vec_free(&found);
	vec_free(&queue);
}

static void scc_run(struct scc *x, const struct cdg *c)
{
	uint32_t n = c->nvls * c->f->nports;

	*x = (struct scc){.c = c};
	x->index = mem_zarray(n, sizeof(*x->index));
	x->low = mem_zarray(n, sizeof(*x->low));
	x->part = mem_zarray(n, sizeof(*x->part));
	for (uint32_t v = 0; v < n; v++) {
		uint32_t bit = 0;

		if (!x->index[v] && next_vertex(c, v, 0, &bit) != FAB_NONE)
			search_from(x, v);
	}
}

static void scc_free(struct scc *x)
{
	free(x->index);
	free(x->low);
	free(x->part);
	vec_free(&x->frames);
	vec_free(&x->open);
	vec_free(&x->best);
	vec_free(&x->cyclic);
}

uint32_t cdg_parts(const struct cdg *c, uint32_t *part)
{
	struct scc x;

	scc_run(&x, c);
	for (uint32_t v = 0; v < c->nvls * c->f->nports; v++)
		part[v] = x.part[v] ? x.cyclic.at[x.part[v] - 1] : 0;
	scc_free(&x);
	return x.ncyclic;
}

uint32_t cdg_cycles(const struct cdg *c, cdg_path *path, uint32_t *channels)
{
	struct scc x;

	scc_run(&x, c);
	for (size_t i = 0; i < MIN(x.best.n, (size_t)CYCLE_STARTS); i++)
		cycle_through(&x, x.best.at[i], x.low, path);
	scc_free(&x);
	*channels = x.in_cycles;
	return x.ncyclic;
}
