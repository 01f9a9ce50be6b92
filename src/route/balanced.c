/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "balanced": shortest paths that share the links evenly, then lanes that keep them free of deadlock (the idea of
 * DFSSSP). Keeps no state between calls; the way in is rt_balanced.route(). Lanes are given by layers.c.
 *
 * LID by LID every switch chooses, among its neighbours that are nearer to the destination, the one whose path is least
 * loaded, and all hosts' routes to that LID are added to the loads. A load counts in steps of `grain` routes, and of equal
 * paths the one by the lowest port is taken. A coarse grain makes neighbouring destinations choose alike: then paths turn at
 * fewer places, need fewer lanes, and meet each other less often. Which grain is best depends on the fabric, so a few are
 * tried and measured. The best one is then refined entry by entry (refine.h), still with shortest paths.
 *
 * With LMC above 0, a LID takes as few links of the other LIDs of its port as shortest paths allow; loads decide among
 * what is left. Such tables are not refined.
 */
#include "route/balanced.h"
#include "route/layers.h"
#include "route/node_groups.h"
#include "route/refine.h"

enum {
	DEFAULT_LANES = 8,
	TRIAL_ENTRIES = 1000000, /* larger tables are computed with one grain, and not measured */
	STEADY_ENTRIES = 20000,	 /* the same where a manager waits */
	PASSES = 3,
	TRIAL_PATTERNS = 64,
	REFINE_ROUNDS = 3,
	REFINE_EVEN = 2000,
	COARSEST = 8,	/* quarters of the mean load */
	OTHER_WAY = 40, /* a link of another LID of the port costs more than any load: 2^40 */
};

/* How routes are chosen. */
struct recipe {
	uint64_t grain;
	unsigned passes;
};

struct balanced {
	struct switch_graph g;
	struct rt_tables *t;
	uint64_t grain;
	unsigned ngroups;
	uint8_t *group;		 /* by LID */
	uint64_t *loads;	 /* [group][arc]: routes from host ports to LIDs of its hosts */
	uint64_t *weights;	 /* [group][arc]: load / grain */
	uint64_t *load, *weight; /* of the group of one LID, by arc */
	/* of one destination switch */
	uint32_t *dist, *order, reached;
	uint32_t *way_first, *way; /* by place in order: arcs to nearer switches */
	/* of one LID */
	uint64_t *cost;	 /* by switch */
	uint32_t *taken; /* by switch: the arc by which it leaves */
	uint64_t *flow;	 /* by switch: routes that pass it */
	uint8_t *
		used; /* by arc: other LIDs of the port that take it; NULL: no port has several LIDs */
};

static void ways_find(struct balanced *b, uint32_t to)
{
	const struct switch_graph *g = &b->g;
	uint32_t n = 0;

	b->reached = graph_distances(g, to, b->dist, b->order);
	for (uint32_t i = 1; i < b->reached; i++) {
		uint32_t s = b->order[i];

		b->way_first[i] = n;
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (b->dist[g->arc[a].to] == b->dist[s] - 1)
				b->way[n++] = a;
	}
	b->way_first[b->reached] = n;
}

static uint64_t arc_cost(const struct balanced *b, uint32_t a)
{
	return b->weight[a] + b->cost[b->g.arc[a].to] +
	       (b->used ? (uint64_t)b->used[a] << OTHER_WAY : 0);
}

/* The least loaded way of the switch at this place; of parallel links the least loaded. */
static void way_take(struct balanced *b, uint32_t i)
{
	const struct graph_arc *arc = b->g.arc;
	uint32_t best = b->way[b->way_first[i]];
	uint64_t cost = arc_cost(b, best);

	for (uint32_t k = b->way_first[i] + 1; k < b->way_first[i + 1]; k++) {
		uint32_t a = b->way[k];
		uint64_t c = arc_cost(b, a);

		if (c < cost ||
		    (c == cost && arc[a].to == arc[best].to && b->load[a] < b->load[best])) {
			cost = c;
			best = a;
		}
	}
	b->cost[b->order[i]] = cost;
	b->taken[b->order[i]] = best;
}

/* The routes of all hosts to one LID by the arcs taken: added to the loads, or removed from them. */
static void routes_count(struct balanced *b, bool add)
{
	for (uint32_t i = 0; i < b->reached; i++)
		b->flow[b->order[i]] = b->g.senders[b->order[i]];
	for (uint32_t i = b->reached; i-- > 1;) {
		uint32_t s = b->order[i], a = b->taken[s];

		b->load[a] += add ? b->flow[s] : -b->flow[s];
		b->weight[a] = b->load[a] / b->grain;
		b->flow[b->g.arc[a].to] += b->flow[s];
	}
}

static void group_take(struct balanced *b, unsigned group)
{
	b->load = b->loads + (size_t)group * (b->g.narcs + 1);
	b->weight = b->weights + (size_t)group * (b->g.narcs + 1);
}

static void lid_forget(struct balanced *b, const struct graph_dest *d)
{
	for (uint32_t i = 1; i < b->reached; i++)
		b->taken[b->order[i]] =
			graph_arc(&b->g, b->order[i], rt_row(b->t, b->order[i])[d->lid]);
	routes_count(b, false);
}

/* Links of the other LIDs of this port, as far as they have routes. */
static void others_mark(struct balanced *b, uint32_t to, const struct graph_dest *d, bool again)
{
	const struct fab *f = b->g.f;
	const struct fab_port *host =
		&f->ports[f->ports[fab_port_id(f, f->switches[to], d->port)].peer];

	memset(b->used, 0, b->g.narcs + 1);
	if (d->lid < host->lid || d->lid >= host->lid + (1u << host->lmc))
		return; /* of a virtual function */
	for (uint32_t k = 0; k < 1u << host->lmc; k++) {
		uint32_t lid = host->lid + k;

		if (lid == d->lid || (lid > d->lid && !again))
			continue;
		for (uint32_t i = 1; i < b->reached; i++)
			b->used[graph_arc(&b->g, b->order[i], rt_row(b->t, b->order[i])[lid])]++;
	}
}

/* Hardly a packet goes to a switch: such routes do not count. */
static void lid_route(struct balanced *b, uint32_t to, const struct graph_dest *d, bool again)
{
	group_take(b, b->group[d->lid]);
	if (again && d->port)
		lid_forget(b, d);
	if (b->used && d->port)
		others_mark(b, to, d, again);
	b->cost[to] = 0;
	for (uint32_t i = 1; i < b->reached; i++)
		way_take(b, i);
	for (uint32_t i = 1; i < b->reached; i++)
		rt_row(b->t, b->order[i])[d->lid] = b->g.arc[b->taken[b->order[i]]].port;
	rt_row(b->t, to)[d->lid] = d->port;
	if (d->port)
		routes_count(b, true);
}

static void pass(struct balanced *b, bool again)
{
	const struct switch_graph *g = &b->g;

	b->t->entries = 0;
	for (uint32_t d = 0; d < g->n; d++) {
		uint32_t lids = g->dest_first[d + 1] - g->dest_first[d];

		if (!lids)
			continue;
		ways_find(b, d);
		for (uint32_t i = 0; i < lids; i++)
			lid_route(b, d, &g->dest[g->dest_first[d] + i], again);
		b->t->entries += (uint64_t)b->reached * lids;
	}
}

/* In further passes each LID chooses again, with the loads of all others known. */
static void all_route(struct balanced *b, struct recipe r)
{
	b->grain = r.grain;
	memset(b->loads, 0, b->ngroups * ((size_t)b->g.narcs + 1) * sizeof(*b->loads));
	memset(b->weights, 0, b->ngroups * ((size_t)b->g.narcs + 1) * sizeof(*b->weights));
	for (unsigned i = 0; i < r.passes; i++)
		pass(b, i > 0);
}

/* ---- trials ---- */

/* Routes over a link in the mean, whatever the grain: paths are the shortest. */
static uint64_t mean_load(const struct balanced *b)
{
	uint64_t sum = 0;

	for (size_t a = 0; a < b->ngroups * ((size_t)b->g.narcs + 1); a++)
		sum += b->loads[a];
	return b->g.narcs ? sum / b->g.narcs : 0;
}

/* Mean shares of bisections and shifts together, inside groups; 0 when they cannot be measured. */
static uint64_t merit(const struct fab *f, const struct rt_tables *t, const struct rt_opts *o)
{
	uint64_t bisection, shifts;
	struct err e;

	if (rt_group_quality(f, t, o, TRIAL_PATTERNS, &bisection, &shifts, &e))
		return 0;
	return bisection + shifts;
}

struct best {
	struct recipe recipe;
	uint64_t merit;
	unsigned lanes; /* that it needs; 0: nothing tried yet */
};

static bool is_better(const struct best *x, const struct best *than, unsigned most)
{
	if (!than->lanes || (x->lanes <= most) != (than->lanes <= most))
		return !than->lanes || x->lanes <= most;
	return x->lanes <= most ? x->merit > than->merit : x->lanes < than->lanes;
}

/* How many lanes the tables need; LANES_MOST + 1: more than `count`. */
static unsigned lanes_count(struct balanced *b, unsigned count)
{
	unsigned n = layers_assign(&b->g, b->t, 0, count);

	return n <= count ? n : LANES_MOST + 1;
}

/* Lanes beyond `count` are not counted. What takes less is found first: lanes that do not suffice, or routes that are no better. */
static void recipe_try(struct balanced *b, const struct rt_opts *o, unsigned most, unsigned count,
		       struct recipe r, struct best *best)
{
	struct best x = {.recipe = r};
	bool fits = best->lanes && best->lanes <= most;

	all_route(b, r);
	if (fits) {
		x.merit = merit(b->g.f, b->t, o);
		if (x.merit <= best->merit)
			return;
	}
	x.lanes = lanes_count(b, fits ? most : count);
	if (!fits && x.lanes <= most)
		x.merit = merit(b->g.f, b->t, o);
	if (is_better(&x, best, most))
		*best = x;
}

static bool is_small(const struct balanced *b, const struct rt_opts *o)
{
	return (uint64_t)b->g.n * b->t->top_lid <= (o->steady ? STEADY_ENTRIES : TRIAL_ENTRIES);
}

static struct recipe coarse(uint64_t mean, unsigned quarters)
{
	return (struct recipe){MAX(mean * quarters / 4, (uint64_t)1), 1};
}

/*
 * That with the best routes of those that need at most so many lanes; else that with the fewest lanes.
 *
 * The finest grain needs the most lanes, the coarsest one at most two lanes more than that with the fewest (in all fabrics that
 * were measured). So where the former needs too many, the latter shows soon whether others can do with fewer.
 */
static struct best recipe_choose(struct balanced *b, const struct rt_opts *o, unsigned most)
{
	static const unsigned quarters[] = {1, 2, 4, 6, COARSEST};
	unsigned count = most;
	struct best best = {0};
	uint64_t mean;

	recipe_try(b, o, most, count, (struct recipe){1, 1}, &best);
	mean = mean_load(b);
	if (best.lanes > most) {
		best.recipe = coarse(mean, COARSEST);
		all_route(b, best.recipe);
		best.lanes = lanes_count(b, LANES_MOST);
		if (best.lanes > 2 * most)
			return best;
		count = MIN(most + 1, (unsigned)LANES_MOST);
	}
	recipe_try(b, o, most, count, (struct recipe){1, PASSES}, &best);
	for (size_t i = 0; i < ARRAY_LEN(quarters); i++)
		recipe_try(b, o, most, count, coarse(mean, quarters[i]), &best);
	return best;
}

/* ---- the engine ---- */

static bool has_lmc(const struct fab *f)
{
	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].lid && f->ports[p].lmc)
			return true;
	return false;
}

static void balanced_init(struct balanced *b, const struct fab *f, const struct rt_opts *o,
			  struct rt_tables *t)
{
	size_t n = (size_t)f->nswitches + 1, arcs = (size_t)f->nlinks * 2 + 1;

	graph_init(&b->g, f, t->top_lid);
	b->t = t;
	b->group = rt_group_by_lid(f, o, t->top_lid);
	b->ngroups = rt_group_count(f, o);
	b->loads = mem_zarray(b->ngroups * ((size_t)b->g.narcs + 1), sizeof(*b->loads));
	b->weights = mem_zarray(b->ngroups * ((size_t)b->g.narcs + 1), sizeof(*b->weights));
	b->dist = mem_array(n, sizeof(*b->dist));
	b->order = mem_array(n, sizeof(*b->order));
	b->way_first = mem_zarray(n, sizeof(*b->way_first));
	b->way = mem_array(arcs, sizeof(*b->way));
	b->cost = mem_array(n, sizeof(*b->cost));
	b->taken = mem_array(n, sizeof(*b->taken));
	b->flow = mem_array(n, sizeof(*b->flow));
	b->used = has_lmc(f) ? mem_zarray(b->g.narcs + 1, sizeof(*b->used)) : NULL;
}

static void balanced_free(struct balanced *b)
{
	graph_free(&b->g);
	free(b->loads);
	free(b->weights);
	free(b->group);
	free(b->dist);
	free(b->order);
	free(b->way_first);
	free(b->way);
	free(b->cost);
	free(b->taken);
	free(b->flow);
	free(b->used);
}

/* Shifts of all hosts are refined, so not where there are groups, and where they need no more lanes than there may be; false: the tables are as before. */
static bool refined(struct balanced *b, const struct rt_opts *o, unsigned most)
{
	struct refine_opts how = {
		.rounds = REFINE_ROUNDS, .even = REFINE_EVEN, .threads = o->threads};

	return !o->group && !b->used && refine_with_layers(&b->g, b->t, &how, most);
}

static int lanes_refuse(unsigned need, unsigned most, struct err *e)
{
	if (need > LANES_MOST)
		return err_set(
			e, -ENOSPC,
			"balanced: these routes need more than %u lanes, of which %u may be used",
			(unsigned)LANES_MOST, most);
	return err_set(e, -ENOSPC, "balanced: these routes need %u lanes, of which %u may be used",
		       need, most);
}

/* Large tables: the finest grain, and where lanes do not suffice for it the coarsest one. Returns how many lanes are needed. */
static unsigned large_route(struct balanced *b, const struct rt_opts *o, unsigned most)
{
	all_route(b, (struct recipe){1, 1});
	if (balanced_settle(&b->g, o, b->t) || layers_assign(&b->g, b->t, most, most) <= most)
		return 0;
	all_route(b, coarse(mean_load(b), COARSEST));
	return layers_assign(&b->g, b->t, most, LANES_MOST);
}

static unsigned small_route(struct balanced *b, const struct rt_opts *o, unsigned most)
{
	struct best best = recipe_choose(b, o, most);

	all_route(b, best.recipe);
	/* Refined routes hardly need fewer lanes than these: what cannot end well is not begun. */
	if (best.lanes <= most + 1 && refined(b, o, most))
		return 0;
	if (balanced_settle(&b->g, o, b->t))
		return 0;
	return best.lanes > most ? best.lanes : layers_assign(&b->g, b->t, most, most);
}

static int balanced_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
			  struct err *e)
{
	unsigned most = o->lanes ? o->lanes : DEFAULT_LANES, need;
	int rc = rt_tables_fit(t, f, "balanced", e);
	struct balanced b;

	if (rc)
		return rc;
	balanced_init(&b, f, o, t);
	need = is_small(&b, o) ? small_route(&b, o, most) : large_route(&b, o, most);
	balanced_free(&b);
	return need <= most ? 0 : lanes_refuse(need, most, e);
}

const struct rt_engine rt_balanced = {
	.name = "balanced",
	.summary = "shortest paths, loads shared evenly; lanes against deadlock (DFSSSP)",
	.about =
		"Engine balanced takes shortest paths on any fabric, each destination by the links that\n"
		"carry the fewest routes so far, and gives paths to lanes (SLs and VLs) so that none of\n"
		"them has a cycle. It uses as few lanes as it finds, and fails when they do not suffice.",
	.route = balanced_route,
	.lanes = true,
	.obeys = balanced_obeys,
	.update = balanced_update,
	.groups = true,
	.use = RT_USE_ANYWHERE,
	.cost = {.search_ps = 300, .cell_ps = 40000},
};
