/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every pair of hosts. State: struct pairs for a run, struct tree for a thread. Way in: meter_all_pairs(). Stores no path:
 * the paths to one LID are a tree, walked in one pass over the switches, so a pair costs less than its path has links.
 *
 * Hosts that nothing here can tell apart are one class: the same switch, the same LID of their destinations, the same
 * service levels, and later the same load on their own links.
 */
#include "route/quality_priv.h"

struct class
{
	uint32_t sw, island;
	uint32_t residue; /* with spread: number of the host modulo 128 */
	uint32_t row, in; /* with lanes: its service levels; its port, where maps depend on that */
	uint64_t up;	  /* routes over its own link */
	uint32_t count;
	uint32_t host; /* one of them */
};

struct pairs {
	const struct meter *m;
	struct rt_quality *q;
	VEC(struct class) classes;
	uint32_t *class_of; /* by host; FAB_NONE: it has no switch */
	bool *self;	    /* by host: its own switch has a path to it */
};

/* The tree of paths to one LID, and what it adds up. */
struct tree {
	uint32_t *mark; /* by switch: 2 * turn while it is searched, 2 * turn + 1 when it is done */
	uint32_t *depth; /* by switch: links to the destination; 0: no path */
	port_id *out;	 /* by switch */
	uint32_t *order; /* switches with a path, each behind the next one on its path */
	uint32_t *stack;
	uint64_t *weight; /* by switch: senders; the most routes over a link of its path */
	uint64_t *load;	  /* by port */
	uint64_t *reach;  /* by class: destinations */
	uint32_t n, turn, hops_max;
	uint64_t hops_sum, paths;
	uint64_t by_lane[RT_MAX_VLS + 1];
	struct rt_shares s;
};

static struct tree *tree_new(const struct meter *m)
{
	struct tree *x = mem_zalloc(sizeof(*x));
	uint32_t n = m->f->nswitches;

	x->mark = mem_zarray(n, sizeof(*x->mark));
	x->depth = mem_array(n, sizeof(*x->depth));
	x->out = mem_array(n, sizeof(*x->out));
	x->order = mem_array(n, sizeof(*x->order));
	x->stack = mem_array(n, sizeof(*x->stack));
	x->weight = mem_zarray(n, sizeof(*x->weight));
	x->load = mem_zarray(m->f->nports, sizeof(*x->load));
	x->reach = mem_zarray(m->n, sizeof(*x->reach));
	return x;
}

static void tree_free(struct tree *x)
{
	free(x->mark);
	free(x->depth);
	free(x->out);
	free(x->order);
	free(x->stack);
	free(x->weight);
	free(x->load);
	free(x->reach);
	free(x);
}

/* ---- classes ---- */

static int class_compare(const void *a, const void *b)
{
	const struct class *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	if (x->residue != y->residue)
		return x->residue < y->residue ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	if (x->up != y->up)
		return x->up < y->up ? -1 : 1;
	return 0;
}

static int class_order(const void *a, const void *b)
{
	const struct class *x = a, *y = b;
	int c = class_compare(a, b);

	return c ? c : (x->host > y->host) - (x->host < y->host);
}

static struct class class_for(const struct meter *m, uint32_t host, uint64_t up)
{
	struct class c = {
		.sw = m->sw[host], .island = m->island[host], .up = up, .count = 1, .host = host};
	const struct rt_lanes *l = m->t->lanes;
	unsigned in = m->f->ports[m->f->ports[m->hosts[host]].peer].num;

	if (m->o->spread)
		c.residue = host & 127;
	if (l) {
		c.row = l->sl_row[l->first[c.sw] + in];
		c.in = l->by_pair[c.sw] ? in : 0;
	}
	return c;
}

/* load: by port; NULL: not known yet */
static void classes_make(struct pairs *p, const uint64_t *load)
{
	const struct meter *m = p->m;
	struct class *all = mem_array(m->n, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t h = 0; h < m->n; h++) {
		p->class_of[h] = FAB_NONE;
		if (m->sw[h] != FAB_NONE)
			all[n++] = class_for(m, h, load ? load[m->hosts[h]] : 0);
	}
	qsort(all, n, sizeof(*all), class_order);
	p->classes.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i && !class_compare(&all[i], &all[i - 1]))
			p->classes.at[p->classes.n - 1].count++;
		else
			vec_push(&p->classes, all[i]);
		p->class_of[all[i].host] = (uint32_t)p->classes.n - 1;
	}
	free(all);
}

/* ---- one tree ---- */

/* From a switch towards the destination until something is known; then back, so that `order` holds. */
static void climb(const struct meter *m, struct tree *x, uint32_t s, uint32_t lid, uint32_t to)
{
	uint32_t n = 0, depth = 0;

	for (;;) {
		port_id out = meter_out(m, s, lid);
		uint32_t next = out == FAB_NONE ? BEHIND_NOTHING : m->behind[out];

		x->mark[s] = 2 * x->turn;
		x->out[s] = out;
		x->stack[n++] = s;
		if (next & BEHIND_HOST) {
			depth = next == to ? 1 : 0;
			break;
		}
		if (x->mark[next] >= 2 * x->turn) { /* done, or a loop */
			depth = x->mark[next] & 1 && x->depth[next] ? x->depth[next] + 1 : 0;
			break;
		}
		s = next;
	}
	while (n--) {
		s = x->stack[n];
		x->mark[s] = 2 * x->turn + 1;
		x->depth[s] = depth;
		if (depth) {
			x->order[x->n++] = s;
			x->weight[s] = 0;
			depth++;
		}
	}
}

/* Whether hosts of a class send to this LID: those of its island. */
static bool sends(const struct pairs *p, uint32_t class, uint32_t to, uint32_t offset)
{
	uint32_t mask = (1u << p->m->f->ports[p->m->hosts[to]].lmc) - 1;

	if (p->classes.at[class].island != p->m->island[to])
		return false;
	return !p->m->o->spread || (p->classes.at[class].residue & mask) == offset;
}

/* How many of them, without the destination itself. */
static uint32_t senders(const struct pairs *p, uint32_t class, uint32_t to, uint32_t offset)
{
	if (!sends(p, class, to, offset))
		return 0;
	return p->classes.at[class].count - (p->class_of[to] == class);
}

static void tree_grow(const struct pairs *p, struct tree *x, uint32_t to, uint32_t offset)
{
	port_id port = p->m->hosts[to];

	x->turn++;
	x->n = 0;
	for (uint32_t c = 0; c < p->classes.n; c++) {
		uint32_t s = p->classes.at[c].sw;

		if (x->mark[s] < 2 * x->turn && sends(p, c, to, offset))
			climb(p->m, x, s, p->m->f->ports[port].lid + offset, BEHIND_HOST | port);
	}
}

/* ---- load ---- */

static void tree_load(const struct pairs *p, struct tree *x, uint32_t to, uint32_t offset)
{
	for (uint32_t c = 0; c < p->classes.n; c++) {
		const struct class *k = &p->classes.at[c];
		uint32_t n = senders(p, c, to, offset);

		if (!n || !x->depth[k->sw])
			continue;
		x->weight[k->sw] += n;
		x->hops_max = MAX(x->hops_max, x->depth[k->sw] + 1);
		x->hops_sum += (uint64_t)n * (x->depth[k->sw] + 1);
		x->paths += n;
	}
	for (uint32_t i = x->n; i--;) {
		uint32_t s = x->order[i], next = p->m->behind[x->out[s]];

		x->load[x->out[s]] += x->weight[s];
		if (!(next & BEHIND_HOST))
			x->weight[next] += x->weight[s];
	}
}

/* Destinations that each class reaches, the hosts of the class included. */
static void tree_reach(struct pairs *p, struct tree *x, uint32_t to, uint32_t offset)
{
	for (uint32_t c = 0; c < p->classes.n; c++) {
		if (!sends(p, c, to, offset) || !x->depth[p->classes.at[c].sw])
			continue;
		x->reach[c]++;
		if (p->class_of[to] == c)
			p->self[to] = true;
	}
}

/* ---- shares ---- */

static void tree_shares(const struct pairs *p, struct tree *x, uint32_t to, uint32_t offset)
{
	const uint64_t *load = p->q->routes;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = x->order[i], next = p->m->behind[x->out[s]];
		uint64_t rest = next & BEHIND_HOST ? 0 : x->weight[next];

		x->weight[s] = MAX(load[x->out[s]], rest);
	}
	for (uint32_t c = 0; c < p->classes.n; c++) {
		const struct class *k = &p->classes.at[c];
		uint32_t n = senders(p, c, to, offset);
		uint64_t ends;

		if (!n)
			continue;
		if (!x->depth[k->sw]) {
			shares_one(&x->s, 0, 0, n);
			continue;
		}
		ends = MAX(k->up, load[p->m->f->ports[p->m->hosts[to]].peer]);
		shares_one(&x->s, ends, MAX(ends, x->weight[k->sw]), n);
	}
}

/* ---- lanes ---- */

static void lane_walk(const struct pairs *p, struct tree *x, const struct class *k, uint32_t n,
		      uint32_t lid)
{
	const struct meter *m = p->m;
	unsigned in = m->f->ports[m->f->ports[m->hosts[k->host]].peer].num;
	unsigned sl = rt_sl(m->t, k->sw, in, lid);

	for (uint32_t s = k->sw; !(s & BEHIND_HOST); s = m->behind[x->out[s]]) {
		unsigned out = m->f->ports[x->out[s]].num;
		unsigned vl = rt_vl(m->t, s, in, out, sl);

		if (!(m->behind[x->out[s]] & BEHIND_HOST))
			x->by_lane[MIN(vl, (unsigned)RT_MAX_VLS)] += n;
		in = m->f->ports[m->f->ports[x->out[s]].peer].num;
	}
}

static void tree_lanes(const struct pairs *p, struct tree *x, uint32_t to, uint32_t offset)
{
	uint32_t lid = p->m->f->ports[p->m->hosts[to]].lid + offset;

	for (uint32_t c = 0; c < p->classes.n; c++) {
		uint32_t n = senders(p, c, to, offset);

		if (n && x->depth[p->classes.at[c].sw])
			lane_walk(p, x, &p->classes.at[c], n, lid);
	}
}

/* ---- all trees ---- */

static void tree_visit(struct pairs *p, struct tree *x, uint32_t to, bool shares)
{
	uint32_t lids = p->m->o->spread ? 1u << p->m->f->ports[p->m->hosts[to]].lmc : 1;

	for (uint32_t offset = 0; offset < lids; offset++) {
		tree_grow(p, x, to, offset);
		if (shares) {
			tree_shares(p, x, to, offset);
			continue;
		}
		if (p->m->t->lanes)
			tree_lanes(p, x, to, offset);
		tree_load(p, x, to, offset);
		tree_reach(p, x, to, offset);
	}
}

enum { CHUNK = 2048 }; /* destinations between two reports of progress */

static void visit_all(struct pairs *p, struct tree **trees, bool shares)
{
	const struct meter *m = p->m;

	for (uint32_t from = 0; from < m->n; from += CHUNK) {
		uint32_t to = MIN(m->n, from + CHUNK);

		RT_OMP(omp parallel for schedule(dynamic, 64) num_threads(m->threads))
		for (uint32_t h = from; h < to; h++)
			tree_visit(p, trees[meter_thread()], h, shares);
		if (m->o->progress)
			m->o->progress(m->o->ctx, RT_ALL_TO_ALL, to + (shares ? m->n : 0),
				       2 * (uint64_t)m->n);
	}
}

static void loads_merge(struct pairs *p, struct tree **trees)
{
	const struct meter *m = p->m;
	struct rt_quality *q = p->q;

	for (int i = 0; i < m->threads; i++) {
		const struct tree *x = trees[i];

		for (port_id k = 0; k < m->f->nports; k++)
			q->routes[k] += x->load[k];
		for (uint32_t h = 0; h < m->n; h++)
			if (p->class_of[h] != FAB_NONE)
				q->routes[m->hosts[h]] += x->reach[p->class_of[h]];
		for (unsigned k = 0; k < RT_MAX_VLS; k++)
			q->by_lane[k] += x->by_lane[k];
		q->hops_max = MAX(q->hops_max, x->hops_max);
		q->hops_sum += x->hops_sum;
		q->hops_paths += x->paths;
	}
	for (uint32_t h = 0; h < m->n; h++)
		q->routes[m->hosts[h]] -= p->self[h];
}

/* A cable between two hosts is all the fabric that they have. */
static void loose_hosts(struct pairs *p)
{
	const struct meter *m = p->m;
	struct rt_shares *s = &p->q->by[RT_ALL_TO_ALL];

	for (uint32_t h = 0; h < m->n; h++) {
		if (m->sw[h] != FAB_NONE || !m->listed[m->f->ports[m->hosts[h]].peer])
			continue;
		p->q->routes[m->hosts[h]] = 1;
		p->q->hops_max = MAX(p->q->hops_max, 1u);
		p->q->hops_sum++;
		p->q->hops_paths++;
		shares_one(s, 1, 1, 1);
	}
}

static void lanes_count(const struct pairs *p)
{
	const struct meter *m = p->m;

	for (port_id k = 0; !m->t->lanes && k < m->f->nports; k++)
		if (fab_is_switch(m->f, m->f->ports[k].node) && !(m->behind[k] & BEHIND_HOST))
			p->q->by_lane[0] += p->q->routes[k];
	p->q->lanes = 0;
	for (unsigned k = 0; k < RT_MAX_VLS; k++)
		p->q->lanes += p->q->by_lane[k] > 0;
	p->q->lanes = MAX(p->q->lanes, 1u);
}

void meter_all_pairs(const struct meter *m, struct rt_quality *q)
{
	struct rt_shares *s = &q->by[RT_ALL_TO_ALL];
	struct pairs p = {.m = m,
			  .q = q,
			  .class_of = mem_array(m->n, sizeof(*p.class_of)),
			  .self = mem_zarray(m->n, sizeof(*p.self))};
	struct tree **trees = mem_array((size_t)m->threads, sizeof(struct tree *));

	for (int i = 0; i < m->threads; i++)
		trees[i] = tree_new(m);
	classes_make(&p, NULL);
	visit_all(&p, trees, false);
	loads_merge(&p, trees);
	classes_make(&p, q->routes);
	visit_all(&p, trees, true);
	for (int i = 0; i < m->threads; i++) {
		shares_merge(s, &trees[i]->s);
		tree_free(trees[i]);
	}
	loose_hosts(&p);
	shares_pattern(s, 0, 0);
	lanes_count(&p);
	free(trees);
	free(p.class_of);
	free(p.self);
	vec_free(&p.classes);
}
