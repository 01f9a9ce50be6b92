/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "dragonfly": shortest routes over one link between groups, and a share of destinations over another group. Keeps no
 * state between calls; the way in is rt_dragonfly.route(). Groups are found by dragonfly_groups.c, lanes by layers.c, or by
 * dragonfly_lanes.c where those are too many.
 *
 * All routes from a group to another one meet at the few links between the two. Two things relieve these links:
 *
 *   - some routes are as short over a third group, from a switch with a link to it; half of the destinations take them;
 *   - refine.h moves single entries from busy links to others, where that costs the rest little;
 *   - instead, where asked for or the tables are large, a share of the destinations (Valiant) is reached over another group: one
 *     that has a link to the destination's own switch, so that the detour takes one link between groups more and no link inside a group.
 *
 * Such a destination has one other group, from which its routes are direct. So no route of it returns to a group.
 */
#include "route/dragonfly.h"
#include "route/layers.h"
#include "route/lmc_ways.h"
#include "route/multicast_trees.h"
#include "route/refine.h"

enum {
	DEFAULT_LANES = 8,
	DEFAULT_VALIANT = 8,
	NO_DETOURS = UINT16_MAX,
	FEW_DETOURS = 1 << 12,	  /* one destination of a group or none */
	REFINE_ENTRIES = 1000000, /* larger tables are not refined */
	TREES_ENTRIES =
		20000, /* of larger ones it takes too long to know whether multicast trees fit */
	REFINE_ROUNDS = 3,
	REFINE_EVEN = 560,
};

struct fly {
	struct switch_graph g;
	struct groups groups;
	struct rt_tables *t;
	uint32_t one_in;  /* of so many destinations a group reaches one over another group */
	bool direct;	  /* of equal ways only those with the fewest links between groups */
	bool steps;	  /* lanes change with the group */
	uint32_t *number; /* by group: its hosts' LIDs so far */
	/* of one destination switch */
	uint32_t *dist, *order, reached;
	/* of one LID */
	uint32_t *taken;   /* by switch: the arc by which it leaves */
	uint32_t *changes; /* by switch: links between groups on its way */
	bool *leads;	   /* by switch: has a link to the other group */
};

static uint32_t group(const struct fly *y, uint32_t s)
{
	return y->groups.of[s];
}

static bool is_global(const struct fly *y, uint32_t a)
{
	return group(y, y->g.arc[a].from) != group(y, y->g.arc[a].to);
}

/* Arcs by which a switch may leave, and the one of them that a destination takes. */
struct choice {
	uint32_t n, pick;
	uint32_t arc[256];
};

static uint32_t choose(const struct choice *c)
{
	return c->arc[c->pick % c->n];
}

/* ---- shortest ways ---- */

/* The shortest with the fewest, or the most, links between groups. */
static void way_take(struct fly *y, uint32_t s, uint32_t number, bool most)
{
	const struct switch_graph *g = &y->g;
	struct choice c = {.n = 0, .pick = number};
	uint32_t best = 0;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t next = g->arc[a].to, changes;

		if (y->dist[next] != y->dist[s] - 1)
			continue;
		changes = y->changes[next] + is_global(y, a);
		if (c.n && changes != best && (changes > best) != most)
			continue;
		c.n = c.n && changes == best ? c.n : 0;
		best = changes;
		c.arc[c.n++] = a;
	}
	y->taken[s] = choose(&c);
	y->changes[s] = best;
}

/* ---- over another group ---- */

/* A group with a link to switch `to`, FAB_NONE: there is none. */
static uint32_t other_group(const struct fly *y, uint32_t to, uint32_t number)
{
	const struct switch_graph *g = &y->g;
	struct choice c = {.n = 0, .pick = number};

	for (uint32_t i = g->in_first[to]; i < g->in_first[to + 1]; i++)
		if (is_global(y, g->in[i]))
			c.arc[c.n++] = g->in[i];
	return c.n ? group(y, g->arc[choose(&c)].from) : FAB_NONE;
}

/* The links of s to the other group whose far ends go on to the destination's group at once. */
static void links_to(const struct fly *y, uint32_t s, uint32_t over, struct choice *c)
{
	const struct switch_graph *g = &y->g;

	c->n = 0;
	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		if (group(y, g->arc[a].to) == over && y->dist[g->arc[a].to] != UINT32_MAX &&
		    y->changes[g->arc[a].to] == 1)
			c->arc[c->n++] = a;
}

/* Whether a group takes the detour to a LID with this number. */
static bool goes_over(const struct fly *y, uint32_t from, uint32_t to, uint32_t number)
{
	uint32_t apart = (to + y->groups.n - from) % y->groups.n;

	return ((uint64_t)number + (uint64_t)(y->one_in / 2) * apart) % y->one_in == 0;
}

static void detour_take(struct fly *y, uint32_t to, uint32_t number)
{
	const struct switch_graph *g = &y->g;
	uint32_t over = other_group(y, to, number / MAX(y->one_in / 2, 1u));
	struct choice c = {.pick = number / y->one_in};

	if (over == FAB_NONE)
		return;
	for (uint32_t s = 0; s < g->n; s++) {
		links_to(y, s, over, &c);
		y->leads[s] = c.n > 0;
	}
	for (uint32_t i = 1; i < y->reached; i++) {
		uint32_t s = y->order[i], from = group(y, s);

		if (from == over || from == group(y, to) ||
		    !goes_over(y, from, group(y, to), number))
			continue;
		links_to(y, s, over, &c);
		for (uint32_t a = g->first[s]; !y->leads[s] && a < g->first[s + 1]; a++)
			if (!is_global(y, a) && y->leads[g->arc[a].to])
				c.arc[c.n++] = a;
		if (c.n)
			y->taken[s] = choose(&c);
	}
}

/* ---- all destinations ---- */

/* Each LID has a number of its own, so that further LIDs of a port (LMC) take other ways. */
static void lid_route(struct fly *y, uint32_t to, const struct graph_dest *d, uint32_t number)
{
	bool most = !y->direct && d->port && number * 5 % 8 < 4;

	y->changes[to] = 0;
	for (uint32_t i = 1; i < y->reached; i++)
		way_take(y, y->order[i], number, most);
	if (d->port && y->one_in != NO_DETOURS)
		detour_take(y, to, number);
	for (uint32_t i = 1; i < y->reached; i++)
		rt_row(y->t, y->order[i])[d->lid] = y->g.arc[y->taken[y->order[i]]].port;
	rt_row(y->t, to)[d->lid] = d->port;
}

static void all_route(struct fly *y)
{
	const struct switch_graph *g = &y->g;

	memset(y->number, 0, g->n * sizeof(*y->number));
	y->t->entries = 0;
	for (uint32_t to = 0; to < g->n; to++) {
		uint32_t *number = &y->number[group(y, to)];

		if (g->dest_first[to] == g->dest_first[to + 1])
			continue;
		y->reached = graph_distances(g, to, y->dist, y->order);
		for (uint32_t i = g->dest_first[to]; i < g->dest_first[to + 1]; i++) {
			lid_route(y, to, &g->dest[i], *number);
			*number += g->dest[i].port != 0;
		}
		y->t->entries += (uint64_t)y->reached * (g->dest_first[to + 1] - g->dest_first[to]);
	}
}

/* ---- the engine ---- */

static void fly_init(struct fly *y)
{
	size_t n = (size_t)y->g.n + 1;

	y->number = mem_zarray(n, sizeof(*y->number));
	y->dist = mem_array(n, sizeof(*y->dist));
	y->order = mem_array(n, sizeof(*y->order));
	y->taken = mem_array(n, sizeof(*y->taken));
	y->changes = mem_zarray(n, sizeof(*y->changes));
	y->leads = mem_zarray(n, sizeof(*y->leads));
}

static void fly_free(struct fly *y)
{
	graph_free(&y->g);
	free(y->groups.of);
	free(y->number);
	free(y->dist);
	free(y->order);
	free(y->taken);
	free(y->changes);
	free(y->leads);
}

static int lanes_refuse(unsigned need, unsigned most, struct err *e)
{
	return err_set(
		e, -ENOSPC, "dragonfly: these routes need %s%u lanes, of which %u may be used",
		need > LANES_MOST ? "more than " : "", MIN(need, (unsigned)LANES_MOST), most);
}

/* Returns how many there must be; the tables have them if they are at most `most`. */
static unsigned lanes_give(struct fly *y, unsigned most)
{
	return y->steps ? dragonfly_steps(&y->g, &y->groups, y->t, most)
			: layers_assign(&y->g, y->t, most, LANES_MOST);
}

static bool is_large(const struct fly *y)
{
	return (uint64_t)y->g.n * y->t->top_lid > REFINE_ENTRIES;
}

/* Shortest routes, refined; a step may take a link that leads no nearer. False: they need too many lanes. */
static bool refined(struct fly *y, const struct rt_opts *o, unsigned most)
{
	struct refine_opts how = {
		.extra = 1, .rounds = REFINE_ROUNDS, .even = REFINE_EVEN, .threads = o->threads};

	if (o->valiant || (o->steady && most == 1) || is_large(y))
		return false;
	y->one_in = NO_DETOURS;
	all_route(y);
	/* Refined routes hardly need fewer lanes than these: what cannot end well is not begun. */
	if (layers_assign(&y->g, y->t, 0, MIN(most + 1, (unsigned)LANES_MOST)) > most + 1)
		return false;
	all_route(y);
	if (!refine_with_layers(&y->g, y->t, &how, most))
		return false;
	if (y->t->entries > TREES_ENTRIES || rt_multicast_sls(y->g.f, y->t, NULL))
		return true;
	/* No SL is left for the trees of multicast groups: once more from other routes. */
	rt_lanes_drop(y->t);
	y->one_in = FEW_DETOURS;
	all_route(y);
	return refine_with_layers(&y->g, y->t, &how, most);
}

static unsigned plain_route(struct fly *y, uint32_t one_in, unsigned most)
{
	y->one_in = one_in;
	all_route(y);
	return lanes_give(y, most);
}

/* Shortest routes: with an SL for each path, then with lanes that change with the group, then with the fewest changes of it.
 * Returns how many lanes they need. */
static unsigned shortest(struct fly *y, unsigned most)
{
	unsigned need = LANES_MOST + 1;

	for (unsigned i = 0; i < 3 && need > most; i++) {
		unsigned n;

		y->steps = i > 0;
		y->direct = i > 1;
		n = plain_route(y, NO_DETOURS, most);
		need = MIN(need, n);
	}
	return need;
}

/* The first of these that lanes suffice for. Detours that were asked for, and no others. */
static int some_route(struct fly *y, const struct rt_opts *o, unsigned most, struct err *e)
{
	unsigned need = LANES_MOST + 1;

	if (refined(y, o, most))
		return 0;
	if (o->valiant ? o->valiant != NO_DETOURS : is_large(y))
		need = plain_route(y, o->valiant ? o->valiant : DEFAULT_VALIANT, most);
	if (need > most && (!o->valiant || o->valiant == NO_DETOURS))
		need = shortest(y, most);
	return need <= most ? 0 : lanes_refuse(need, most, e);
}

/* Further LIDs of a port take other shortest ways where lanes suffice. */
static void further_spread(struct fly *y, unsigned most)
{
	size_t size = (size_t)y->t->nswitches * y->t->stride;
	uint8_t *was;

	if (!lmc_in_use(y->g.f))
		return;
	was = mem_array(size + 1, 1);
	memcpy(was, y->t->lft, size);
	rt_lanes_drop(y->t);
	lmc_spread(&y->g, y->t, &(struct lmc_rules){.extra = 0});
	if (lanes_give(y, most) > most) {
		memcpy(y->t->lft, was, size);
		lanes_give(y, most);
	}
	free(was);
}

static int dragonfly_route(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
			   struct err *e)
{
	unsigned most = o->lanes ? o->lanes : DEFAULT_LANES;
	int rc = rt_tables_fit(t, f, "dragonfly", e);
	struct fly y = {.t = t};

	if (rc)
		return rc;
	graph_init(&y.g, f, t->top_lid);
	rc = groups_find(&y.g, &y.groups, e);
	if (!rc) {
		fly_init(&y);
		rc = some_route(&y, o, most, e);
		if (!rc)
			further_spread(&y, most);
	}
	fly_free(&y);
	return rc;
}

const struct rt_engine rt_dragonfly = {
	.name = "dragonfly",
	.summary = "dragonflies: short routes, some of them over another group",
	.about =
		"Engine dragonfly routes dragonflies and Dragonfly+, whose groups it finds in the wiring:\n"
		"shortest paths, of which some are moved over another group, so that not all routes between\n"
		"two groups meet at one link; with --valiant and in large fabrics, a fixed share of the\n"
		"destinations. Links and switches may be missing. A fabric without such groups is refused,\n"
		"with a switch that shows it.",
	.route = dragonfly_route,
	.lanes = true,
	.update = rt_reroute_lanes,
	.use = RT_USE_SHAPE,
	.cost = {.search_ps = 300, .cell_ps = 40000},
};
