/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "updn": up*-down* routes over any number of roots. Keeps no state between calls; the way in is rt_updn.route(). Ranks
 * come from updn_roots.c; distances are FERa's over these ranks.
 *
 * Equal ports are dealt out by number, as FERa does, and by load, and the better tables are taken. Large ones are dealt out by
 * number alone, which is as good in whole trees and takes a fraction of the time. Groups of hosts are dealt out by load in any case.
 */
#include "route/lmc_ways.h"
#include "route/quality.h"
#include "route/updn.h"

enum {
	LOAD_ENTRIES = 4000000, /* larger tables are not dealt out by load */
	PASS_ENTRIES = 1000000, /* larger ones only once */
	PATTERNS = 64,
	LMC_EXTRA = 2, /* links that a further LID of a port may take more */
};

struct turns {
	const struct switch_graph *g;
	const uint64_t *rank;
};

static bool is_up(const struct turns *x, uint32_t arc)
{
	return x->rank[x->g->arc[arc].to] < x->rank[x->g->arc[arc].from];
}

/* Not from down to up. */
static bool turn_take(void *ctx, uint32_t a, uint32_t b)
{
	const struct turns *x = ctx;

	return is_up(x, a) || !is_up(x, b);
}

/* Further LIDs of a port take other links, up where routes would go down, as long as none turns from down to up. */
static void further_spread(const struct fab *f, const uint64_t *rank, struct rt_tables *t)
{
	struct switch_graph g;
	struct turns x = {&g, rank};

	if (!lmc_in_use(f))
		return;
	graph_init(&g, f, t->top_lid);
	lmc_spread(&g, t, &(struct lmc_rules){.extra = LMC_EXTRA, .ctx = &x, .take = turn_take});
	graph_free(&g);
}

uint64_t updn_merit(const struct fab *f, const struct rt_tables *t, unsigned threads)
{
	struct rt_quality_opts o = {
		.patterns = PATTERNS, .seed = 1, .threads = threads, .quick = true};
	struct rt_quality q;
	uint64_t product;
	struct err e;

	if (rt_quality(f, t, &o, &q, &e))
		return 0;
	product = rt_shares_mean(&q.by[RT_BISECTION]) * rt_shares_mean(&q.by[RT_SHIFTS]);
	rt_quality_free(&q);
	return product;
}

/* t holds tables dealt out by number. */
static void deal_by_load(const struct fab *f, const struct rt_opts *o, const uint64_t *rank,
			 struct rt_tables *t)
{
	uint64_t entries = (uint64_t)t->nswitches * t->top_lid;
	struct rt_tables *other;

	if ((entries > LOAD_ENTRIES && !o->group) || !f->nhosts)
		return;
	other = rt_tables_new(t->nswitches, t->top_lid);
	updn_deal(f, o, rank, entries > PASS_ENTRIES ? 1 : 2, other);
	if (o->group || updn_merit(f, other, o->threads) > updn_merit(f, t, o->threads))
		memcpy(t->lft, other->lft, (size_t)t->nswitches * t->stride);
	rt_tables_free(other);
}

static int updn_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		      struct err *e)
{
	uint64_t *rank = mem_array((size_t)f->nswitches + 1, sizeof(*rank));
	struct rt_opts by = {.rank = rank, .threads = o->threads};
	int rc = rt_tables_fit(t, f, "updn", e);

	if (!rc) {
		updn_ranks(f, o, rank);
		rc = rt_fera.route(f, &by, t, e);
	}
	if (!rc)
		deal_by_load(f, o, rank, t);
	if (!rc)
		further_spread(f, rank, t);
	free(rank);
	return rc;
}

static int updn_ranks_give(const struct fab *f, const struct rt_opts *o, uint64_t *rank,
			   struct err *e UNUSED)
{
	updn_ranks(f, o, rank);
	return 0;
}

const struct rt_engine rt_updn = {
	.name = "updn",
	.summary = "up*/down* over several roots, given or found",
	.about =
		"Engine updn routes up*/down* over any number of roots: a link's up end is nearer to a\n"
		"root. Roots are named with --root, once for each, or found: the top of a tree, or the\n"
		"centres that give the most bandwidth. Every pair has a route, also where two roots\n"
		"have no switch above both. Of equal ports those with the fewest routes are taken.",
	.route = updn_route,
	.updown = true,
	.ranks = updn_ranks_give,
	.update = rt_reroute,
	.groups = true,
	.use = RT_USE_ANYWHERE,
	.cost = {.search_ps = 3000, .cell_ps = 60000},
};
