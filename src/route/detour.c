/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From old tables to new ones over others between them, where turns that are in use would have to be disabled
 * otherwise (rt_detour()). State: struct detour, for one call. Does not prove the way: rt_plan() judges
 * each part of it.
 *
 * The core is what hangs below the root by old and new ranks alike. Tables between obey both ranks there: no
 * turn goes from down to up by either. Every other switch hangs below the core, first as the old ranks have
 * it, at the end as the new ones do. They move in groups, each when no route leads through its switches:
 * then old and new links of a group are in no cycle. docs/mechanism.md has the proof.
 */
#include "route/plan_priv.h"
#include "route/route_priv.h"

enum {
	EFFORT = 20000000, /* ports times LIDs; beyond, there is no detour */
	MAX_GROUPS = 6,	   /* each is a leg, with a wait before it */
	CORE = 0,
	NO_GROUP = 255,
};

struct detour {
	const struct fab *f;
	const struct rt_tables *from; /* whose entries stay where they can */
	const struct rt_tables *last; /* at the end of the way */
	const uint64_t *old, *new;    /* ranks */
	uint8_t *group;		      /* by switch, from 1 in the order in which they move */
	uint8_t ngroups;
	uint8_t moved; /* groups up to this one hang as the new ranks have it */
	bool *hangs;   /* by switch, in the search for groups */
	struct rt_tables *t;
	bool *settled; /* by switch: it has an entry for the LID in work */
	VEC(uint32_t) queue;
};

/* The switch behind a port; FAB_NONE: there is none. */
static uint32_t behind(const struct detour *d, uint32_t s, unsigned port)
{
	const struct fab *f = d->f;
	node_id n = f->switches[s];
	port_id peer = port && port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer
							  : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* ---- groups ---- */

static bool is_parent(const struct detour *d, uint32_t t, bool hanging)
{
	return d->group[t] == CORE || (hanging ? d->hangs[t] : d->group[t] <= d->moved);
}

/* Whether a neighbour above s by these ranks is in the core, or hangs below it, or has moved. */
static bool has_parent(const struct detour *d, uint32_t s, const uint64_t *rank,
		       const uint64_t *other, bool hanging)
{
	for (unsigned k = 1; k <= d->f->nodes[d->f->switches[s]].nports; k++) {
		uint32_t t = behind(d, s, k);

		if (t != FAB_NONE && rank[t] < rank[s] && (!other || other[t] < other[s]) &&
		    is_parent(d, t, hanging))
			return true;
	}
	return false;
}

static void core_find(struct detour *d)
{
	uint32_t n = d->f->nswitches, root = 0;
	bool more;

	for (uint32_t s = 0; s < n; s++) {
		d->group[s] = NO_GROUP;
		root = d->old[s] < d->old[root] ? s : root;
	}
	d->group[root] = CORE;
	do {
		more = false;
		for (uint32_t s = 0; s < n; s++)
			if (d->group[s] == NO_GROUP && has_parent(d, s, d->old, d->new, false)) {
				d->group[s] = CORE;
				more = true;
			}
	} while (more);
}

/* Whether all that has not moved hangs by the old ranks, and through no switch of the group that moves next. */
static bool rest_hangs(struct detour *d)
{
	uint32_t n = d->f->nswitches;
	bool more;

	memset(d->hangs, 0, n * sizeof(*d->hangs));
	do {
		more = false;
		for (uint32_t s = 0; s < n; s++)
			if (d->group[s] == NO_GROUP && !d->hangs[s] &&
			    has_parent(d, s, d->old, NULL, true))
				d->hangs[s] = more = true;
	} while (more);
	for (uint32_t s = 0; s < n; s++)
		if ((d->group[s] == NO_GROUP && !d->hangs[s]) ||
		    (d->group[s] == d->ngroups && !has_parent(d, s, d->old, NULL, true)))
			return false;
	return true;
}

/* The next group: switches with a parent by the new ranks that has moved before. Returns its size. */
static uint32_t group_make(struct detour *d)
{
	uint32_t size = 0;

	d->moved = d->ngroups++;
	for (uint32_t s = 0; s < d->f->nswitches; s++) {
		if (d->group[s] != NO_GROUP || !has_parent(d, s, d->new, NULL, false))
			continue;
		d->group[s] = d->ngroups;
		if (rest_hangs(d))
			size++;
		else
			d->group[s] = NO_GROUP;
	}
	return size;
}

static bool groups_find(struct detour *d)
{
	uint32_t left = 0;

	core_find(d);
	for (uint32_t s = 0; s < d->f->nswitches; s++)
		left += d->group[s] == NO_GROUP;
	while (left) {
		uint32_t size = d->ngroups < MAX_GROUPS ? group_make(d) : 0;

		if (!size)
			return false;
		left -= size;
	}
	return true;
}

/* ---- what is allowed ---- */

/* The ranks by which a switch hangs; either in the core. */
static const uint64_t *rank_of(const struct detour *d, uint32_t s)
{
	return d->group[s] <= d->moved ? d->new : d->old;
}

/* No route leads through a switch that moves next, or has just moved. */
static bool is_leaf(const struct detour *d, uint32_t s)
{
	return d->group[s] != CORE && (d->group[s] == d->moved || d->group[s] == d->moved + 1);
}

/* Links are not used where switches hang by different ranks, and where the core would be below. */
static bool is_usable(const struct detour *d, uint32_t s, uint32_t t)
{
	bool core_s = d->group[s] == CORE, core_t = d->group[t] == CORE;

	if (core_s && core_t)
		return true;
	if (core_s)
		return rank_of(d, t)[s] < rank_of(d, t)[t];
	if (core_t)
		return rank_of(d, s)[t] < rank_of(d, s)[s];
	return rank_of(d, s) == rank_of(d, t);
}

static bool goes_down_up(const uint64_t *rank, uint32_t s, uint32_t t, uint32_t next)
{
	return rank[t] > rank[s] && rank[next] < rank[t];
}

/* Packets that s sends to t may leave it by `out`. */
static bool is_allowed(const struct detour *d, uint32_t s, uint32_t t, unsigned out)
{
	uint32_t next = behind(d, t, out);

	if (!is_usable(d, s, t))
		return false;
	if (next == FAB_NONE)
		return true; /* t delivers them */
	if (d->group[t] == CORE)
		return d->group[s] != CORE || d->group[next] != CORE ||
		       (!goes_down_up(d->old, s, t, next) && !goes_down_up(d->new, s, t, next));
	return !is_leaf(d, t) && !goes_down_up(rank_of(d, t), s, t, next);
}

/* ---- one order for all switches ---- */

/* By the core's ranks, then what hangs below it, last what has just moved. */
static unsigned class_of(const struct detour *d, uint32_t s)
{
	return d->group[s] == CORE ? 0 : d->group[s] != d->moved ? 1 : 2;
}

static bool is_above(const struct detour *d, uint32_t s, uint32_t t)
{
	unsigned x = class_of(d, s), y = class_of(d, t);

	if (x != y)
		return x < y;
	return rank_of(d, s)[s] != rank_of(d, t)[t] ? rank_of(d, s)[s] < rank_of(d, t)[t] : s < t;
}

/* Above by both ranks in the core. */
static bool is_surely_above(const struct detour *d, uint32_t s, uint32_t t)
{
	if (d->group[s] == CORE && d->group[t] == CORE && d->old[t] < d->old[s])
		return false;
	return is_above(d, s, t);
}

/* ---- one destination ---- */

static void settle(struct detour *d, uint32_t s)
{
	d->settled[s] = true;
	vec_push(&d->queue, s);
}

/* Switches without a further one on their route. */
static void ends_settle(struct detour *d, uint32_t lid)
{
	memset(d->settled, 0, d->f->nswitches * sizeof(*d->settled));
	d->queue.n = 0;
	for (uint32_t s = 0; s < d->f->nswitches; s++) {
		rt_row(d->t, s)[lid] = rt_row(d->from, s)[lid];
		if (behind(d, s, rt_row(d->from, s)[lid]) == FAB_NONE)
			settle(d, s);
	}
}

/* Entries stay where the route behind them is allowed. */
static void others_keep(struct detour *d, uint32_t lid)
{
	size_t before;

	do {
		before = d->queue.n;
		for (uint32_t s = 0; s < d->f->nswitches; s++) {
			uint32_t t = behind(d, s, rt_row(d->t, s)[lid]);

			if (!d->settled[s] && d->settled[t] &&
			    is_allowed(d, s, t, rt_row(d->t, t)[lid]))
				settle(d, s);
		}
	} while (d->queue.n > before);
}

/* From switches that have an entry to their neighbours: only to those above, or to all. */
static void spread(struct detour *d, uint32_t lid, bool above)
{
	const struct fab *f = d->f;

	for (size_t i = 0; i < d->queue.n; i++) {
		uint32_t t = d->queue.at[i];
		node_id n = f->switches[t];

		for (unsigned k = 1; k <= f->nodes[n].nports; k++) {
			uint32_t s = behind(d, t, k);

			if (s == FAB_NONE || d->settled[s] ||
			    (above && !is_surely_above(d, s, t)) ||
			    !is_allowed(d, s, t, rt_row(d->t, t)[lid]))
				continue;
			rt_row(d->t, s)[lid] = f->ports[f->ports[fab_port_id(f, n, k)].peer].num;
			settle(d, s);
		}
	}
}

/* Those above first. Then the root has a route down, and all others one up to where such a route begins. */
static bool lid_route(struct detour *d, uint32_t lid)
{
	for (unsigned keep = 2; keep--;) {
		ends_settle(d, lid);
		if (keep)
			others_keep(d, lid);
		spread(d, lid, true);
		spread(d, lid, false);
		if (d->queue.n == d->f->nswitches)
			return true;
	}
	return false;
}

/* ---- tables ---- */

static bool is_assigned(const struct detour *d, uint32_t lid)
{
	for (uint32_t s = 0; s < d->f->nswitches && lid < d->last->stride; s++)
		if (rt_row(d->last, s)[lid] != IBA_PORT_NONE)
			return true;
	return false;
}

static struct rt_tables *tables_make(struct detour *d)
{
	d->t = rt_tables_new(d->f->nswitches, d->from->top_lid);
	for (uint32_t lid = 1; lid <= d->from->top_lid; lid++)
		if (is_assigned(d, lid) && !lid_route(d, lid)) {
			rt_tables_free(d->t);
			return NULL;
		}
	return d->t;
}

/*
 * Mixed tables can send a packet from down to up, back where it came from above all. Neither tables take such a
 * turn, so it is disabled, and nothing but the packets in question is lost.
 */
static bool leg_add(struct detour *d, const struct rt_tables *to, struct rt_tables *owned,
		    uint64_t *rank, rt_legs *legs)
{
	struct rt_leg leg = {.tables = owned, .rank = rank};
	struct err e;

	if (rt_plan(d->f, d->from, to, rank, NULL, 1, &leg.plan, &e) || leg.plan.turns_in_use) {
		rt_plan_free(&leg.plan);
		rt_tables_free(owned);
		free(rank);
		return false;
	}
	vec_push(legs, leg);
	return true;
}

static uint64_t *copy_of(const struct detour *d, const uint64_t *rank)
{
	uint64_t *r = mem_array(d->f->nswitches, sizeof(*r));

	memcpy(r, rank, d->f->nswitches * sizeof(*r));
	return r;
}

/* Ranks that tables obey before and after a group has moved; the old ones before the first. */
static uint64_t *rank_between(const struct detour *d)
{
	uint32_t n = d->f->nswitches;
	uint64_t *rank;

	if (!d->moved)
		return copy_of(d, d->old);
	rank = mem_zarray(n, sizeof(*rank));
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t t = 0; t < n; t++)
			rank[s] += is_above(d, t, s);
	return rank;
}

static bool legs_find(struct detour *d, const struct rt_tables *old, const struct rt_tables *new,
		      rt_legs *legs)
{
	if (!groups_find(d))
		return false;
	d->from = old;
	for (d->moved = 0; d->moved <= d->ngroups; d->moved++) {
		struct rt_tables *t = tables_make(d);

		if (!t || !leg_add(d, t, t, rank_between(d), legs))
			return false;
		d->from = t;
	}
	return leg_add(d, new, NULL, copy_of(d, d->new), legs);
}

bool rt_detour(const struct fab *f, const struct rt_tables *old, const uint64_t *old_rank,
	       const struct rt_tables *new, const uint64_t *rank, rt_legs *legs)
{
	struct detour d = {.f = f, .last = new, .old = old_rank, .new = rank};
	bool found;

	if (old->lanes || new->lanes || (uint64_t)f->nports * old->top_lid > EFFORT)
		return false;
	d.group = mem_array(f->nswitches, sizeof(*d.group));
	d.hangs = mem_array(f->nswitches, sizeof(*d.hangs));
	d.settled = mem_array(f->nswitches, sizeof(*d.settled));
	found = legs_find(&d, old, new, legs);
	free(d.group);
	free(d.hangs);
	free(d.settled);
	vec_free(&d.queue);
	if (!found)
		rt_legs_free(legs);
	return found;
}

void rt_legs_free(rt_legs *legs)
{
	for (size_t i = 0; i < legs->n; i++) {
		rt_tables_free(legs->at[i].tables);
		free(legs->at[i].rank);
		rt_plan_free(&legs->at[i].plan);
	}
	vec_free(legs);
}
