/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": any fat tree, by levels that it recognises. Keeps no state between calls; the ways in are
 * rt_tree.route() and rt_tree.rank(). Does not use service levels or VLs.
 *
 * All LIDs behind one switch have the same neighbours to choose from (tree_search.c), and their digits choose
 * (tree_number.c). A slot whose neighbour does not lead to the destination is replaced: the destinations that would take it
 * are dealt out over those that do, by the next digit.
 */
#include "route/tree.h"

enum { DIGITS = 256 };

struct run { /* LIDs in a row behind one switch */
	uint16_t lid, n;
};

struct dealing {
	const struct tree *t;
	struct rt_tables *tables;
	uint8_t *slot; /* [switch][digit]: which of its groups; TREE_NO_SLOT */
	uint8_t *port; /* the same as a port, of switches with `whole` */
	bool *whole;   /* by switch: all slots are filled, by one link each */
	uint32_t *run_first;
	struct run *run;
};

/* ---- slots ---- */

static void slots_fill(struct dealing *x, uint32_t s)
{
	const struct tree *t = x->t;
	const struct tree_group *g = t->group + t->first[s];
	uint8_t *slot = x->slot + (size_t)s * DIGITS, *port = x->port + (size_t)s * DIGITS;

	x->whole[s] = t->nup[s] == t->width[s];
	memset(slot, TREE_NO_SLOT, DIGITS);
	for (uint32_t i = 0; i < t->nup[s]; i++) {
		x->whole[s] &= g[i].nports == 1;
		for (uint32_t k = g[i].slot; k < DIGITS; k += t->width[s]) {
			slot[k] = (uint8_t)i;
			port[k] = t->port[g[i].first];
		}
	}
}

static void runs_make(struct dealing *x)
{
	const struct tree *t = x->t;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n; s++) {
		x->run_first[s] = n;
		for (uint32_t d = t->dest_first[s]; d < t->dest_first[s + 1]; d++) {
			struct run *last = &x->run[n - 1];

			if (n > x->run_first[s] && last->lid + last->n == t->dest[d].lid)
				last->n++;
			else
				x->run[n++] = (struct run){t->dest[d].lid, 1};
		}
	}
	x->run_first[t->n] = n;
}

/* ---- ports ---- */

static const struct run *runs_of(const struct dealing *x, uint32_t d, const struct run **end)
{
	*end = x->run + x->run_first[d + 1];
	return x->run + x->run_first[d];
}

/* Which digit chooses among parallel links: the one that switches of this level have left over. */
static const uint8_t *link_digits(const struct tree *t, uint32_t s, bool climbs)
{
	return t->digit[MIN(t->level[s] + (climbs ? 1u : 0u), t->nlevels - 1)];
}

static uint8_t link_of(const struct tree *t, const struct tree_group *g, uint8_t digit)
{
	return t->port[g->first + (g->nports > 1 ? digit % g->nports : 0u)];
}

static void deal_one(const struct dealing *x, uint32_t s, uint32_t d, uint32_t k)
{
	const struct tree *t = x->t;
	const struct tree_group *g = &t->group[t->first[s] + k];
	const uint8_t *digit = link_digits(t, s, k < t->nup[s]);
	uint8_t *row = rt_row(x->tables, s);
	const struct run *end;

	for (const struct run *r = runs_of(x, d, &end); r < end; r++)
		if (g->nports == 1)
			memset(row + r->lid, t->port[g->first], r->n);
		else
			for (uint32_t lid = r->lid; lid < (uint32_t)r->lid + r->n; lid++)
				row[lid] = link_of(t, g, digit[lid]);
}

static void deal_whole(const struct dealing *x, uint32_t s, uint32_t d)
{
	const uint8_t *digit = x->t->digit[x->t->level[s]], *port = x->port + (size_t)s * DIGITS;
	uint8_t *row = rt_row(x->tables, s);
	const struct run *end;

	for (const struct run *r = runs_of(x, d, &end); r < end; r++)
		for (uint32_t lid = r->lid; lid < (uint32_t)r->lid + r->n; lid++)
			row[lid] = port[digit[lid]];
}

struct choice { /* for one switch and one destination switch */
	const struct dealing *x;
	const struct tree_work *w;
	uint32_t s, i, n;
	uint8_t k[256]; /* groups that lead there */
};

/* Of several neighbours below, the one whose place is the digit by which the level under it goes up. */
static uint32_t child_of(const struct choice *c, uint32_t lid)
{
	const struct tree *t = c->x->t;

	for (uint32_t j = 0; t->level[c->s] >= 2 && j < c->n; j++) {
		uint32_t v = t->group[t->first[c->s] + c->k[j]].sw;

		if (t->level[v] < t->level[c->s] &&
		    t->digit[t->level[c->s] - 2][lid] % t->row[v] == t->pos[v])
			return c->k[j];
	}
	return TREE_NO_SLOT;
}

static uint8_t choose(const struct choice *c, uint32_t lid)
{
	const struct tree *t = c->x->t;
	uint32_t l = t->level[c->s], k = c->x->slot[(size_t)c->s * DIGITS + t->digit[l][lid]];
	bool climbs = c->w->climbs[c->i] > 0;

	if (!climbs)
		k = child_of(c, lid);
	else if (k != TREE_NO_SLOT && !c->w->valid[k][c->i])
		k = TREE_NO_SLOT;
	if (k == TREE_NO_SLOT)
		k = c->k[(link_digits(t, c->s, climbs)[lid] + (climbs ? t->digit[l][lid] : 0u)) %
			 c->n];
	return link_of(t, &t->group[t->first[c->s] + k],
		       link_digits(t, c->s, k < t->nup[c->s])[lid]);
}

static void deal_some(const struct dealing *x, const struct tree_work *w, uint32_t s, uint32_t d,
		      uint32_t i)
{
	struct choice c = {.x = x, .w = w, .s = s, .i = i};
	uint8_t *row = rt_row(x->tables, s);
	const struct run *end;

	for (uint32_t k = 0; k < x->t->first[s + 1] - x->t->first[s]; k++)
		if (w->valid[k][i])
			c.k[c.n++] = (uint8_t)k;
	for (const struct run *r = runs_of(x, d, &end); r < end; r++)
		for (uint32_t lid = r->lid; lid < (uint32_t)r->lid + r->n; lid++)
			row[lid] = choose(&c, lid);
}

static uint64_t deal(const struct dealing *x, const struct tree_work *w, uint32_t s, uint32_t d,
		     uint32_t i)
{
	const struct tree *t = x->t;
	uint32_t from = t->dest_first[d], to = t->dest_first[d + 1];

	if (s == d)
		for (uint32_t k = from; k < to; k++)
			rt_row(x->tables, s)[t->dest[k].lid] = t->dest[k].port;
	else if (!w->all[i])
		return 0;
	else if (w->all[i] == 1)
		deal_one(x, s, d, w->last[i]);
	else if (w->climbs[i] == w->all[i] && w->all[i] == t->nup[s] && x->whole[s])
		deal_whole(x, s, d);
	else
		deal_some(x, w, s, d, i);
	return to - from;
}

/* ---- blocks of destination switches ---- */

/* Those to which the pivot has no way down are left for later; how many. */
static uint32_t put_off(const struct tree *t, const struct tree_work *w, const uint32_t *dests,
			uint32_t nd, bool *off, uint32_t *later)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nd; i++) {
		uint32_t pivot = t->pivot[t->part[dests[i]]];

		off[i] = !w->any && w->down[(size_t)pivot * TREE_BLOCK + i] == TREE_FAR;
		if (off[i])
			later[n++] = dests[i];
	}
	return n;
}

static uint64_t block(const struct dealing *x, struct tree_work *w, const uint32_t *dests,
		      uint32_t nd, bool any)
{
	uint32_t later[TREE_BLOCK], nlater;
	bool off[TREE_BLOCK];
	uint64_t entries = 0;

	tree_search(x->t, w, dests, nd, any);
	nlater = put_off(x->t, w, dests, nd, off, later);
	for (uint32_t s = 0; s < x->t->n; s++) {
		tree_offers(x->t, w, s);
		for (uint32_t i = 0; i < nd; i++)
			if (!off[i])
				entries += deal(x, w, s, dests[i], i);
	}
	return nlater ? entries + block(x, w, later, nlater, true) : entries;
}

static uint64_t blocks(const struct dealing *x, unsigned threads)
{
	uint32_t n = x->t->n, nblocks = (n + TREE_BLOCK - 1) / TREE_BLOCK;
	int nthreads UNUSED = rt_threads(threads, nblocks, (uint64_t)n * x->tables->top_lid);
	uint64_t entries = 0;

	RT_OMP(omp parallel num_threads(nthreads) reduction(+ : entries))
	{
		struct tree_work *w = tree_work_new(n);

		RT_OMP(omp for schedule(dynamic))
		for (uint32_t b = 0; b < nblocks; b++)
			entries += block(x, w, x->t->seq + b * TREE_BLOCK,
					 MIN((uint32_t)TREE_BLOCK, n - b * TREE_BLOCK), false);
		tree_work_free(w);
	}
	return entries;
}

/* ---- the engine ---- */

static int recognise(struct tree *t, const struct fab *f, struct err *e)
{
	int rc;

	tree_graph_new(t, f);
	rc = tree_levels(t, e);
	if (!rc)
		rc = tree_rank(t, e);
	return rc;
}

/* Entries that there must be: within each part from all switches to all LIDs. */
static uint64_t entries_due(const struct tree *t)
{
	uint64_t *switches = mem_zarray(t->nparts, sizeof(*switches)), due = 0;

	for (uint32_t s = 0; s < t->n; s++)
		switches[t->part[s]]++;
	for (uint32_t s = 0; s < t->n; s++)
		due += switches[t->part[s]] * (t->dest_first[s + 1] - t->dest_first[s]);
	free(switches);
	return due;
}

static void tables_fill(struct tree *t, struct rt_tables *tables, const struct rt_opts *o)
{
	struct dealing x = {.t = t, .tables = tables};
	uint8_t *class = mem_array(t->f->nports, 1);

	tree_shape(t);
	tree_classes(t, o->group, class);
	tree_number(t, class, tables->top_lid);
	free(class);
	x.slot = mem_array(t->n, DIGITS);
	x.port = mem_array(t->n, DIGITS);
	x.whole = mem_array(t->n, sizeof(bool));
	x.run_first = mem_array((size_t)t->n + 1, sizeof(*x.run_first));
	x.run = mem_array((size_t)t->dest_first[t->n] + 1, sizeof(*x.run));
	for (uint32_t s = 0; s < t->n; s++)
		slots_fill(&x, s);
	runs_make(&x);
	tables->entries = blocks(&x, o->threads);
	free(x.slot);
	free(x.port);
	free(x.whole);
	free(x.run_first);
	free(x.run);
}

static int tree_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *tables,
		      struct err *e)
{
	struct tree t;
	int rc = rt_tables_fit(tables, f, "tree", e);

	if (rc)
		return rc;
	rc = recognise(&t, f, e);
	if (!rc && f->nswitches) {
		tables_fill(&t, tables, o);
		if (tables->entries != entries_due(&t))
			rc = err_set(
				e, -EINVAL,
				"tree: %llu of %llu entries would belong to routes of more than %u links",
				(unsigned long long)(entries_due(&t) - tables->entries),
				(unsigned long long)entries_due(&t), TREE_NEVER - 2u);
	}
	tree_free(&t);
	return rc;
}

static int tree_ranks(const struct fab *f, const struct rt_opts *o UNUSED, uint64_t *rank,
		      struct err *e)
{
	struct tree t;
	int rc = recognise(&t, f, e);

	for (uint32_t s = 0; !rc && s < t.n; s++)
		rank[s] = t.rank[s];
	tree_free(&t);
	return rc;
}

const struct rt_engine rt_tree = {
	.name = "tree",
	.summary = "any fat tree, whole or degraded, balanced by destination",
	.about =
		"Engine tree routes any fat tree: levels are recognised from the wiring, hosts next to\n"
		"one another use different links at every level, and no route goes up after it went\n"
		"down. Links and switches may be missing. --root, --directions and --ties mean nothing\n"
		"to it. A fabric that is not a tree is refused, with a link or switch that shows it.",
	.route = tree_route,
	.updown = true,
	.ranks = tree_ranks,
	.groups = true,
	.use = RT_USE_SHAPE,
	.update = rt_reroute,
	.cost = {.search_ps = 100, .cell_ps = 1000},
};
