/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "nue": routes on any fabric with any number of lanes (the idea of Nue routing). Keeps no state between calls; the
 * way in is rt_nue.route(). Routes of one lane are those of nue_lane.c.
 *
 * The LIDs are split among the lanes. The lanes route side by side, a few destinations in each turn, and learn each other's loads of
 * the turn before, so any number of threads gives the same tables. In a second pass each LID chooses again, with the loads of
 * all others known. What a detour may cost, and how LIDs are best split, depends on the fabric: small ones are
 * computed in several ways, and the best one is taken.
 */
#include "route/lmc_ways.h"
#include "route/nue_lane.h"
#include "route/quality.h"

enum {
	DEFAULT_LANES = 8,
	/* larger tables are computed in one way; those between with several costs, but one root and split */
	TRIAL_ENTRIES = 400000,
	STEADY_ENTRIES = 20000, /* the same where a manager waits */
	SMALL_ENTRIES = 150000,
	ONCE_ENTRIES = 1000000, /* larger tables are computed in one pass */
	TRIAL_PATTERNS = 256,
	PASSES = 2,
	TURNS = 64,	       /* of a pass, about */
	ROOTS = 4,	       /* tried */
	PARTS = 16,	       /* costs are counted in so many parts of the mean load of a link */
	DIRECT = 1024 * PARTS, /* a link more is worse than any load */
	TO_SWITCH = 256,
	LMC_EXTRA = 2, /* links that a further LID of a port may take more */
};

enum split {
	BY_PLACE, /* each lane gets neighbours: hosts in the order of a search from the first switch, in runs */
	BY_ORDER, /* hosts in the order of the netlist, in runs */
	BY_TURNS, /* one host after another */
	SPLITS
};

/* How routes are chosen. */
struct recipe {
	unsigned hop, against, turn; /* of struct nue_costs, in parts of the mean load */
	unsigned lanes, root;
	enum split split;
};

struct job { /* one LID of a lane */
	uint32_t sw;
	const struct graph_dest *dest;
};

struct lane {
	struct nue_lane routes;
	VEC(struct job) jobs; /* hosts first */
	size_t at;
};

struct nue {
	const struct switch_graph *g;
	uint64_t mean;	/* routes over a link, with shortest paths */
	uint32_t hosts; /* LIDs of hosts */
	uint32_t most;	/* hosts of the switch that has the most */
	uint32_t *near; /* switches in the order of a search from the first one of each part */
};

/* One way to route all LIDs. */
struct run {
	const struct nue *x;
	struct rt_tables *t;
	struct recipe recipe;
	uint8_t *lane_of; /* by number in g->dest */
	struct lane *lanes;
	unsigned turn;
	int threads;
	bool no_detour; /* stop where a path is not a shortest one */
	bool direct;	/* shortest paths where there are any, without a heap */
};

/* ---- what the fabric is like ---- */

/* Links to some LIDs from each switch, in sum. dests: by switch, how many there are. */
static void distances_sum(const struct switch_graph *g, const uint32_t *dests, uint64_t *sum)
{
	uint32_t *dist = mem_array((size_t)g->n + 1, sizeof(*dist));
	uint32_t *order = mem_array((size_t)g->n + 1, sizeof(*order));

	memset(sum, 0, g->n * sizeof(*sum));
	for (uint32_t d = 0; d < g->n; d++) {
		uint32_t n = dests[d] ? graph_distances(g, d, dist, order) : 0;

		for (uint32_t i = 0; i < n; i++)
			sum[order[i]] += (uint64_t)dests[d] * dist[order[i]];
	}
	free(dist);
	free(order);
}

static void near_make(struct nue *x)
{
	const struct switch_graph *g = x->g;
	uint32_t *dist = mem_array((size_t)g->n + 1, sizeof(*dist)), n = 0;
	bool *seen = mem_zarray((size_t)g->n + 1, sizeof(*seen));

	x->near = mem_array((size_t)g->n + 1, sizeof(*x->near));
	for (uint32_t s = 0; s < g->n; s++) {
		uint32_t end = seen[s] ? n : n + graph_distances(g, s, dist, x->near + n);

		for (; n < end; n++)
			seen[x->near[n]] = true;
	}
	free(dist);
	free(seen);
}

static void nue_init(struct nue *x, const struct switch_graph *g)
{
	uint32_t *dests = mem_zarray((size_t)g->n + 1, sizeof(*dests));
	uint64_t *sum = mem_array((size_t)g->n + 1, sizeof(*sum)), steps = 0;

	*x = (struct nue){.g = g};
	for (uint32_t s = 0; s < g->n; s++) {
		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++)
			dests[s] += g->dest[i].port != 0;
		x->hosts += dests[s];
		x->most = MAX(x->most, g->senders[s]);
	}
	distances_sum(g, dests, sum);
	for (uint32_t s = 0; s < g->n; s++)
		steps += sum[s] * g->senders[s];
	x->mean = MAX(steps / MAX(g->narcs, 1u), (uint64_t)PARTS);
	near_make(x);
	free(dests);
	free(sum);
}

/* ---- lanes ---- */

static unsigned lane_choose(const struct run *r, uint32_t host)
{
	uint32_t hosts = MAX(r->x->hosts, 1u);

	if (r->recipe.split == BY_TURNS)
		return host % r->recipe.lanes;
	return (unsigned)((uint64_t)MIN(host, hosts - 1) * r->recipe.lanes / hosts);
}

/* The LIDs of a switch itself go with its last host. */
static void split(struct run *r)
{
	const struct switch_graph *g = r->x->g;
	uint32_t host = 0;

	r->lane_of = mem_zarray((size_t)g->dest_first[g->n] + 1, 1);
	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t s = r->recipe.split == BY_PLACE ? r->x->near[k] : k;

		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++) {
			bool is_host = g->dest[i].port != 0;

			r->lane_of[i] = (uint8_t)lane_choose(r, host - (!is_host && host));
			host += is_host;
		}
	}
}

static void jobs_deal(struct run *r)
{
	const struct switch_graph *g = r->x->g;

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t k = 0; k < g->n; k++)
			for (uint32_t s = r->x->near[k], i = g->dest_first[s];
			     i < g->dest_first[s + 1]; i++)
				if ((g->dest[i].port != 0) == (pass == 0))
					vec_push(&r->lanes[r->lane_of[i]].jobs,
						 (struct job){s, &g->dest[i]});
}

struct centre {
	uint64_t sum;
	uint32_t sw;
};

static int by_sum(const void *a, const void *b)
{
	const struct centre *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/*
 * Of the switches with many hosts the one nearest to all hosts of the lane, or others further off. With hosts, because
 * in a tree up*-down* paths from a leaf use every link, and from a top switch hardly any.
 */
static uint32_t root_choose(const struct run *r, const uint32_t *dests)
{
	const struct switch_graph *g = r->x->g;
	struct centre *c = mem_array((size_t)g->n + 1, sizeof(*c));
	uint64_t *sum = mem_array((size_t)g->n + 1, sizeof(*sum));
	uint32_t n = 0, root = 0;

	distances_sum(g, dests, sum);
	for (uint32_t s = 0; s < g->n; s++)
		if (2 * g->senders[s] >= r->x->most)
			c[n++] = (struct centre){sum[s], s};
	qsort(c, n, sizeof(*c), by_sum);
	if (n)
		root = c[(uint64_t)n * r->recipe.root / ROOTS].sw;
	free(c);
	free(sum);
	return root;
}

static void lane_init(struct run *r, struct lane *l)
{
	const struct switch_graph *g = r->x->g;
	uint64_t part = r->x->mean / PARTS;
	uint32_t *dests = mem_zarray((size_t)g->n + 1, sizeof(*dests)), root;

	for (size_t i = 0; i < l->jobs.n; i++)
		dests[l->jobs.at[i].sw] += l->jobs.at[i].dest->port != 0;
	root = root_choose(r, dests);
	for (size_t i = 0; i < l->jobs.n; i++)
		dests[l->jobs.at[i].sw]++;
	nue_lane_init(&l->routes, g, r->t, root, dests);
	l->routes.costs = (struct nue_costs){.direct = r->direct,
					     .hop = part * r->recipe.hop,
					     .against = part * r->recipe.against,
					     .turn = part * r->recipe.turn};
	l->routes.costs.to_switch = TO_SWITCH * MAX(l->routes.costs.hop, r->x->mean);
	free(dests);
}

/* The LIDs of the next switch, or of several. Other lanes' loads are those of the turn before: threads need not wait for
 * each other but at the end of a turn. */
static void lane_turn(struct run *r, unsigned k, bool again)
{
	struct lane *l = &r->lanes[k];
	size_t end = MIN(l->jobs.n, l->at + l->jobs.n / TURNS + 1);

	nue_lane_begin(&l->routes, r->turn);
	for (unsigned i = 0; i < r->recipe.lanes; i++)
		if (i != k)
			nue_lane_learn(&l->routes, &r->lanes[i].routes);
	while (end && end < l->jobs.n && l->jobs.at[end].sw == l->jobs.at[end - 1].sw)
		end++;
	for (; l->at < end; l->at++)
		nue_lane_route(&l->routes, l->jobs.at[l->at].sw, l->jobs.at[l->at].dest, again);
}

static void pass(struct run *r, bool again)
{
	unsigned n = r->recipe.lanes;
	size_t left = 0;

	for (unsigned k = 0; k < n; k++) {
		nue_lane_pass(&r->lanes[k].routes);
		r->lanes[k].at = 0;
		left += r->lanes[k].jobs.n;
	}
	while (left && !(r->no_detour && r->lanes[0].routes.detours)) {
		RT_OMP(omp parallel for num_threads(r->threads) schedule(dynamic) if (r->threads > 1))
		for (unsigned k = 0; k < n; k++)
			lane_turn(r, k, again);
		r->turn++;
		left = 0;
		for (unsigned k = 0; k < n; k++)
			left += r->lanes[k].jobs.n - r->lanes[k].at;
	}
}

/* ---- further LIDs of a port ---- */

struct further {
	struct run *r;
	uint8_t *lane_of; /* by LID */
	struct nue_lane *lane;
};

static void further_lid(void *ctx, uint32_t lid)
{
	struct further *x = ctx;

	x->lane = &x->r->lanes[x->lane_of[lid]].routes;
}

static bool further_take(void *ctx, uint32_t a, uint32_t b)
{
	return nue_lane_take(((struct further *)ctx)->lane, a, b);
}

static void further_release(void *ctx, uint32_t a, uint32_t b)
{
	nue_lane_release(((struct further *)ctx)->lane, a, b);
}

/* They take other links where the lane has room for that. */
static void further_spread(struct run *r)
{
	const struct switch_graph *g = r->x->g;
	struct further x = {.r = r};
	struct lmc_rules rules = {.extra = LMC_EXTRA,
				  .ctx = &x,
				  .lid = further_lid,
				  .take = further_take,
				  .release = further_release};

	if (!lmc_in_use(g->f))
		return;
	x.lane_of = mem_zarray((size_t)r->t->top_lid + 1, 1);
	for (uint32_t i = 0; i < g->dest_first[g->n]; i++)
		x.lane_of[g->dest[i].lid] = r->lane_of[i];
	for (unsigned k = 0; k < r->recipe.lanes; k++)
		nue_lane_pass(&r->lanes[k].routes);
	lmc_spread(g, r->t, &rules);
	free(x.lane_of);
}

/* ---- one way to route all LIDs ---- */

static void lanes_write(struct run *r)
{
	const struct switch_graph *g = r->x->g;

	rt_lanes_drop(r->t);
	if (r->recipe.lanes == 1)
		return;
	rt_lanes_add(r->t, g->f, r->recipe.lanes, 1);
	for (uint32_t i = 0; i < g->dest_first[g->n]; i++)
		rt_sl_row(r->t, 0)[g->dest[i].lid] = r->lane_of[i];
}

/* False: no_detour, and there is one. The tables are not complete then. */
static bool route_all(const struct nue *x, struct recipe recipe, unsigned passes, int threads,
		      bool no_detour, struct rt_tables *t)
{
	struct run r = {.x = x,
			.t = t,
			.recipe = recipe,
			.threads = threads,
			.no_detour = no_detour,
			.direct = (uint64_t)x->g->n * t->top_lid > TRIAL_ENTRIES};

	bool ok;

	r.lanes = mem_zarray(recipe.lanes, sizeof(*r.lanes));
	split(&r);
	jobs_deal(&r);
	RT_OMP(omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1))
	for (unsigned k = 0; k < recipe.lanes; k++)
		lane_init(&r, &r.lanes[k]);
	for (unsigned i = 0; i < passes; i++)
		pass(&r, i > 0);
	lanes_write(&r);
	t->entries = 0;
	ok = !no_detour || !r.lanes[0].routes.detours;
	for (unsigned k = 0; k < recipe.lanes; k++)
		t->entries += r.lanes[k].routes.entries;
	if (ok)
		further_spread(&r);
	for (unsigned k = 0; k < recipe.lanes; k++) {
		nue_lane_free(&r.lanes[k].routes);
		vec_free(&r.lanes[k].jobs);
	}
	free(r.lanes);
	free(r.lane_of);
	return ok;
}

/* ---- trials ---- */

/* Mean shares of bisections and shifts, multiplied, as rt_choose() judges engines; 0 when they cannot be measured. */
static uint64_t merit(const struct fab *f, const struct rt_tables *t)
{
	struct rt_quality_opts o = {
		.patterns = TRIAL_PATTERNS, .seed = 1, .threads = 1, .quick = true};
	struct rt_quality q;
	uint64_t product;
	struct err e;

	if (rt_quality(f, t, &o, &q, &e))
		return 0;
	product = rt_shares_mean(&q.by[RT_BISECTION]) * rt_shares_mean(&q.by[RT_SHIFTS]);
	rt_quality_free(&q);
	return product;
}

/* The recipe that routes best; of equals the first. */
static struct recipe best_of(const struct nue *x, const struct recipe *recipe, unsigned n,
			     const struct rt_tables *t, unsigned threads UNUSED)
{
	uint64_t *merits = mem_zarray(n, sizeof(*merits));
	unsigned best = 0;

	RT_OMP(omp parallel for num_threads(rt_threads(threads, n, (uint64_t)n << 20)) schedule(dynamic))
	for (unsigned i = 0; i < n; i++) {
		struct rt_tables *mine = rt_tables_new(t->nswitches, t->top_lid);

		route_all(x, recipe[i], PASSES, 1, false, mine);
		merits[i] = merit(x->g->f, mine);
		rt_tables_free(mine);
	}
	for (unsigned i = 1; i < n; i++)
		if (merits[i] > merits[best])
			best = i;
	free(merits);
	return recipe[best];
}

/* The same with other roots, splits, and with one lane, which is taken where further ones bring nothing. Further LIDs of a port
 * find other ways in several. */
static struct recipe variant_choose(const struct nue *x, struct recipe recipe,
				    const struct rt_tables *t, unsigned threads)
{
	struct recipe then[1 + ROOTS + SPLITS];
	unsigned n = 0;

	if (recipe.lanes > 1 && !lmc_in_use(x->g->f)) {
		then[n] = recipe;
		then[n++].lanes = 1;
	}
	for (unsigned i = 0; i < ROOTS; i++) {
		then[n] = recipe;
		then[n++].root = i;
	}
	for (unsigned i = BY_ORDER; recipe.lanes > 1 && i < SPLITS; i++) {
		then[n] = recipe;
		then[n++].split = (enum split)i;
	}
	return best_of(x, then, n, t, threads);
}

static struct recipe recipe_choose(const struct nue *x, unsigned lanes, const struct rt_tables *t,
				   const struct rt_opts *o)
{
	const struct recipe costs[] = {
		{.hop = DIRECT, .against = PARTS, .lanes = lanes},
		{.hop = DIRECT, .turn = PARTS / 4, .lanes = lanes},
		{.hop = PARTS, .against = 4 * PARTS, .lanes = lanes},
		{.hop = 1, .against = PARTS, .lanes = lanes},
	};
	uint64_t entries = (uint64_t)x->g->n * t->top_lid;
	struct recipe best;

	if (entries > (o->steady ? STEADY_ENTRIES : TRIAL_ENTRIES) || !x->hosts)
		return costs[0];
	best = best_of(x, costs, ARRAY_LEN(costs), t, o->threads);
	return entries > SMALL_ENTRIES ? best : variant_choose(x, best, t, o->threads);
}

/* ---- the engine ---- */

static int nue_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		     struct err *e)
{
	unsigned lanes = o->lanes ? o->lanes : DEFAULT_LANES;
	int rc = rt_tables_fit(t, f, "nue", e);
	uint64_t entries = (uint64_t)f->nswitches * t->top_lid;
	struct switch_graph g;
	struct recipe recipe;
	struct nue x;

	if (rc)
		return rc;
	graph_init(&g, f, t->top_lid);
	nue_init(&x, &g);
	if (!g.narcs) /* nothing waits for anything */
		lanes = 1;
	recipe = recipe_choose(&x, lanes, t, o);
	lanes = recipe.lanes;
	recipe.lanes = 1;
	/* One lane for what has all its shortest paths in one. */
	if (entries <= TRIAL_ENTRIES || !route_all(&x, recipe, 1, 1, true, t)) {
		recipe.lanes = lanes;
		route_all(&x, recipe, entries > ONCE_ENTRIES ? 1 : PASSES,
			  rt_threads(o->threads, lanes, entries), false, t);
	}
	free(x.near);
	graph_free(&g);
	return 0;
}

const struct rt_engine rt_nue = {
	.name = "nue",
	.summary = "any fabric with any number of lanes, paths chosen free of deadlock (Nue)",
	.about =
		"Engine nue routes any fabric with the lanes that it is given, one or more, and never\n"
		"fails. Destinations are split among the lanes, and the routes of each lane are chosen\n"
		"one after another, each the least loaded one that closes no cycle with those before.",
	.route = nue_route,
	.lanes = true,
	.update = rt_reroute_lanes,
	.use = RT_USE_ANYWHERE,
	.cost = {.search_ps = 300, .cell_ps = 400000},
};
