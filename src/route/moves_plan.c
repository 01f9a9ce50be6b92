/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which order the entries of LIDs that move may change while traffic flows (rt_moves_plan()). State:
 * struct work, for one call. Programs nothing.
 *
 * A packet to a LID that moves came by an entry of the previous switch and waits for one of this switch. Two
 * old entries or two new ones are a dependency that tables in force have: a new column is a copy of one. So
 * only mixtures are new, each between two switches that both change: an old entry and then a new one, or
 * a new one and then an old one. The first cannot happen once the second switch changes after the packets
 * that the first one sent by its old entry have drained; the second cannot when the second switch changes
 * before. So each mixture is either harmless or ruled out by the order of two entries of one LID.
 *
 * Over known ranks all mixtures without a turn from down to up are harmless. To rule out all others is
 * always possible: a way of such orders first climbs the new route of its LID (old up, new down), then
 * descends the old one (old down, new up), and cannot come back. With the dependency graph fewer need be:
 * each mixture is tried, and ruled out only where it closes a cycle with all that is there already. A loop
 * of a packet is a cycle as well.
 */
#include "route/moves_priv.h"

enum {
	/* dependencies looked at in one attempt; those that are not looked at by then are ruled out */
	EFFORT = 20000000,
	EFFORT_RANKS = 50000, /* with ranks there is an order already */
};

/* A mixture: the dependency, and the two entries whose order rules it out. */
struct mixture {
	port_id from;
	uint8_t out;
	bool old_first; /* an old entry, then a new one: packets must drain between the two */
	bool legal;	/* by the ranks */
	uint32_t before, after;
	uint32_t weight; /* length of the longest way of orders through this one */
};
typedef VEC(struct mixture) mixtures;

struct work {
	const struct fab *f;
	const struct rt_tables *t;
	const uint64_t *rank;
	rt_move_entries *e;
	struct moves_lids lids;
	uint32_t *at;	 /* by switch: 1 + its entry for the LID in work, 0: none */
	mixtures mix;	 /* that the ranks forbid; all without ranks */
	mixtures orders; /* those that are to be ruled out */
	/* by entry: the longest way of orders that leads to it, and from it */
	uint16_t *level, *height;
	/* of the best orders so far */
	unsigned stages; /* 0: there are none */
	size_t ruled_out;
	uint64_t drain;
	struct mixture example;
	uint8_t *bound; /* by entry: it is in an order */
};

/* ---- mixtures ---- */

/* The switch behind a port, FAB_NONE: none. */
static uint32_t behind(const struct work *w, uint32_t s, unsigned port)
{
	const struct fab *f = w->f;
	const struct fab_node *n = &f->nodes[f->switches[s]];
	port_id peer = port <= n->nports ? f->ports[n->first_port + port].peer : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

static bool is_up(const struct work *w, uint32_t s, uint32_t t)
{
	return w->rank && w->rank[t] < w->rank[s];
}

static bool is_legal(const struct work *w, uint32_t s, uint32_t t, uint32_t u)
{
	const uint64_t *r = w->rank;

	return is_up(w, s, t) || (r && r[t] > r[s] && r[u] > r[t]);
}

/* Packets from the switch of entry i, where the next switch has an entry that changes as well; only where
 * the ranks forbid it, unless all are wanted. */
static bool mixture_at(const struct work *w, uint32_t i, bool old_first, bool all,
		       struct mixture *m)
{
	const struct rt_move_entry *x = &w->e->at[i], *y;
	unsigned port = moves_port(w->t, x->sw, old_first ? x->from : x->to);
	uint32_t to = behind(w, x->sw, port), k, last;

	if (to == FAB_NONE || !w->at[to] || (!all && is_up(w, x->sw, to)))
		return false;
	k = w->at[to] - 1;
	y = &w->e->at[k];
	m->out = moves_port(w->t, to, old_first ? y->to : y->from);
	last = behind(w, to, m->out);
	if (last == FAB_NONE)
		return false;
	m->from = fab_port_id(w->f, w->f->switches[x->sw], port);
	m->old_first = old_first;
	m->before = old_first ? i : k;
	m->after = old_first ? k : i;
	m->legal = is_legal(w, x->sw, to, last);
	return all || !m->legal;
}

/* The mixtures of one LID: all, or those that the ranks forbid. */
static void lid_mixtures(struct work *w, uint32_t lid, bool all, mixtures *out)
{
	const uint32_t *first = w->lids.entry + w->lids.first[lid],
		       *end = w->lids.entry + w->lids.first[lid + 1];
	struct mixture m = {0};

	for (const uint32_t *i = first; i < end; i++)
		w->at[w->e->at[*i].sw] = *i + 1;
	for (const uint32_t *i = first; i < end; i++)
		for (int old_first = 0; old_first < 2; old_first++)
			if (mixture_at(w, *i, old_first, all, &m))
				vec_push(out, m);
	for (const uint32_t *i = first; i < end; i++)
		w->at[w->e->at[*i].sw] = 0;
}

/* ---- stages by orders ---- */

/* Orders as chains by their first entry. */
struct chains {
	const mixtures *m;
	uint32_t *first, *next; /* 1 + index, 0: none */
	uint32_t *wait;		/* by entry: orders that it waits for */
	uint32_t *queue, n;	/* entries, each after those that it waits for */
};

static void chains_make(struct chains *c, const mixtures *m, size_t n)
{
	c->m = m;
	c->first = mem_zarray(n, sizeof(*c->first));
	c->next = mem_array(m->n, sizeof(*c->next));
	c->wait = mem_zarray(n, sizeof(*c->wait));
	c->queue = mem_array(n, sizeof(*c->queue));
	c->n = 0;
	for (size_t i = 0; i < m->n; i++) {
		c->next[i] = c->first[m->at[i].before];
		c->first[m->at[i].before] = (uint32_t)i + 1;
		c->wait[m->at[i].after]++;
	}
	for (uint32_t v = 0; v < n; v++)
		if (!c->wait[v] && c->first[v])
			c->queue[c->n++] = v;
}

static void chains_free(struct chains *c)
{
	free(c->first);
	free(c->next);
	free(c->wait);
	free(c->queue);
}

/* The longest ways of orders to and from each entry. -1 when they go round in a circle, else the longest
 * of all. */
static int levels(struct work *w, const mixtures *m)
{
	struct chains c;
	size_t met = 0;
	int longest = 0;

	memset(w->level, 0, w->e->n * sizeof(*w->level));
	memset(w->height, 0, w->e->n * sizeof(*w->height));
	chains_make(&c, m, w->e->n);
	for (uint32_t head = 0; head < c.n; head++)
		for (uint32_t i = c.first[c.queue[head]]; i; i = c.next[i - 1], met++) {
			uint32_t v = m->at[i - 1].after;

			w->level[v] = MAX(w->level[v], (uint16_t)(w->level[c.queue[head]] + 1));
			longest = MAX(longest, w->level[v]);
			if (!--c.wait[v])
				c.queue[c.n++] = v;
		}
	while (c.n-- > 0)
		for (uint32_t v = c.queue[c.n], i = c.first[v]; i; i = c.next[i - 1])
			w->height[v] =
				MAX(w->height[v], (uint16_t)(w->height[m->at[i - 1].after] + 1));
	chains_free(&c);
	return met < m->n ? -1 : longest;
}

/* Entries that wait for a drain change as late as they can, so that LIDs of a batch share drains. */
static void stages_set(struct work *w, const mixtures *m)
{
	struct rt_move_entry *e = w->e->at;

	memset(w->bound, 0, w->e->n);
	for (size_t i = 0; i < w->e->n; i++)
		e[i].stage = w->level[i];
	for (size_t i = 0; i < m->n; i++) {
		const struct mixture *x = &m->at[i];

		w->bound[x->before] = w->bound[x->after] = 1;
		if (x->old_first)
			e[x->after].stage = (uint16_t)(w->stages - 1 - w->height[x->after]);
	}
	w->drain = 0;
	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].old_first)
			w->drain |= 1ull << MIN(e[m->at[i].after].stage, 63);
}

/* Take orders where they are the first or give fewer stages; false when they contradict one another. */
static bool orders_take(struct work *w, const mixtures *m)
{
	int longest = levels(w, m);

	if (longest < 0)
		return false;
	if (!w->stages || (unsigned)longest + 1 < w->stages) {
		w->stages = (unsigned)longest + 1;
		w->ruled_out = m->n;
		if (m->n)
			w->example = m->at[0];
		stages_set(w, m);
	}
	return true;
}

enum kinds { BOTH, OLD_FIRST, NEW_FIRST };

static bool rule_out(struct work *w, enum kinds kind)
{
	w->orders.n = 0;
	for (size_t i = 0; i < w->mix.n; i++)
		if (w->mix.at[i].old_first == (kind == OLD_FIRST))
			vec_push(&w->orders, w->mix.at[i]);
	return orders_take(w, &w->orders);
}

/* ---- with the dependency graph ---- */

static int weight_cmp(const void *a, const void *b)
{
	const struct mixture *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return (x->after > y->after) - (x->after < y->after);
}

/* Those first that would cost most stages. */
static void mixtures_sort(struct work *w)
{
	levels(w, &w->mix);
	for (size_t i = 0; i < w->mix.n; i++) {
		struct mixture *m = &w->mix.at[i];

		m->weight = w->level[m->before] + 1u + w->height[m->after];
	}
	qsort(w->mix.at, w->mix.n, sizeof(*w->mix.at), weight_cmp);
}

/* Add mixtures that the ranks allow: they are there in any case. False when one closes a cycle: then
 * the tables in force do not obey the ranks. */
static bool allowed_add(struct work *w, struct rt_move_deps *d)
{
	mixtures all = {0};
	bool ok = true;

	for (uint32_t k = 0; k < w->lids.n && ok; k++) {
		all.n = 0;
		lid_mixtures(w, k, true, &all);
		for (size_t i = 0; i < all.n && ok; i++)
			if (all.at[i].legal)
				ok = deps_try(d, all.at[i].from, all.at[i].out);
	}
	vec_free(&all);
	return ok;
}

/* Keep what closes no cycle, rule out the rest. */
static bool try_each(struct work *w, struct rt_move_deps *d, enum kinds first)
{
	w->orders.n = 0;
	for (int pass = 0; pass < (first == BOTH ? 1 : 2); pass++)
		for (size_t i = 0; i < w->mix.n; i++) {
			const struct mixture *m = &w->mix.at[i];

			if (first != BOTH && (m->old_first == (first == OLD_FIRST)) != !pass)
				continue;
			if (!deps_try(d, m->from, m->out))
				vec_push(&w->orders, *m);
		}
	return orders_take(w, &w->orders);
}

/* One kind is ruled out, all of the other must be harmless. */
static bool one_kind(struct work *w, struct rt_move_deps *d, enum kinds out)
{
	bool ok = true;

	deps_begin(d, EFFORT);
	for (size_t i = 0; i < w->mix.n && ok; i++)
		if (w->mix.at[i].old_first != (out == OLD_FIRST))
			ok = deps_try(d, w->mix.at[i].from, w->mix.at[i].out);
	deps_end(d);
	return ok && rule_out(w, out);
}

static void with_ranks(struct work *w, struct rt_move_deps *d)
{
	const enum kinds first[] = {BOTH, OLD_FIRST, NEW_FIRST};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_LEN(first) && ok && w->stages > 1; i++) {
		if (!i)
			mixtures_sort(w);
		deps_begin(d, EFFORT_RANKS);
		ok = allowed_add(w, d) && try_each(w, d, first[i]);
		deps_end(d);
	}
}

static bool without_ranks(struct work *w, struct rt_move_deps *d)
{
	const enum kinds first[] = {BOTH, OLD_FIRST, NEW_FIRST};

	for (size_t i = 0; i < ARRAY_LEN(first) && w->stages != 1; i++) {
		deps_begin(d, EFFORT);
		try_each(w, d, first[i]);
		deps_end(d);
	}
	return w->stages || one_kind(w, d, NEW_FIRST) || one_kind(w, d, OLD_FIRST);
}

/* ---- the plan ---- */

/* An entry in no order may change at any stage: together with others of its block, so that one SMP
 * does for both. */
static void blocks_join(struct work *w)
{
	struct rt_move_entry *e = w->e->at;

	for (size_t i = 0, end; i < w->e->n; i = end) {
		size_t leader = w->e->n;

		for (end = i;
		     end < w->e->n && e[end].sw == e[i].sw && e[end].lid / 64 == e[i].lid / 64;
		     end++)
			if (w->bound[end] && leader == w->e->n)
				leader = end;
		for (size_t k = i; k < end && leader < w->e->n; k++)
			if (!w->bound[k])
				e[k].stage = e[leader].stage;
	}
}

static void report(struct work *w, struct rt_moves_plan *p)
{
	const struct fab *f = w->f;
	const struct rt_move_entry *x = &w->e->at[w->example.before],
				   *y = &w->e->at[w->example.after];

	p->stages = w->stages;
	p->ordered = w->stages > 1;
	p->drain = w->drain;
	p->drain_after = w->ruled_out < w->mix.n;
	if (p->ordered)
		snprintf(p->why, sizeof(p->why),
			 "LID %u must change at switch %.36s before switch %.36s: packets could "
			 "close a cycle between the two",
			 x->lid, fab_node_name(f, f->switches[x->sw]),
			 fab_node_name(f, f->switches[y->sw]));
}

/* Tables with lanes and without ranks: packets keep their SL, the plan of all tables judges. */
static int with_lanes(struct work *w, struct err *err)
{
	struct rt_tables *new = rt_tables_new(w->t->nswitches, w->t->top_lid);
	struct rt_plan p;
	int rc;

	memcpy(new->lft, w->t->lft, (size_t) new->nswitches *new->stride);
	new->lanes = w->t->lanes;
	rt_moves_apply(new, w->e);
	rc = rt_plan(w->f, w->t, new, NULL, NULL, 0, &p, err);
	if (!rc) {
		if (p.kind == RT_PLAN_OUTWARDS)
			rule_out(w, NEW_FIRST);
		else
			orders_take(w, &w->orders);
		rt_plan_free(&p);
	}
	new->lanes = NULL;
	rt_tables_free(new);
	return rc ? -EDEADLK : 0;
}

static int choose(struct work *w, struct rt_move_deps *cache, struct err *err)
{
	struct rt_move_deps *own = NULL;
	bool ok = true;

	if (!w->mix.n) {
		w->stages = 1;
		return 0;
	}
	if (w->t->lanes && !w->rank)
		return with_lanes(w, err);
	if (w->rank)
		ok = orders_take(w, &w->mix);
	if (!cache && !w->rank)
		cache = own = rt_move_deps_new(w->f, w->t);
	if (w->rank && ok && cache && !cache->cyclic)
		with_ranks(w, cache);
	if (!w->rank || !ok)
		ok = cache && !cache->cyclic && without_ranks(w, cache);
	rt_move_deps_free(own);
	return ok ? 0
		  : err_set(err, -EDEADLK,
			    "moves: no order was found in which %zu entries of %u LIDs can change "
			    "without a cycle of dependencies",
			    w->e->n, w->lids.n);
}

int rt_moves_plan(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		  struct rt_move_deps *cache, rt_move_entries *e, struct rt_moves_plan *p,
		  struct err *err)
{
	struct work w = {.f = f, .t = t, .rank = rank, .e = e};
	int rc;

	*p = (struct rt_moves_plan){0};
	if (!e->n)
		return 0;
	w.at = mem_zarray(f->nswitches, sizeof(*w.at));
	w.level = mem_array(e->n, sizeof(*w.level));
	w.height = mem_array(e->n, sizeof(*w.height));
	w.bound = mem_zarray(e->n, 1);
	for (size_t i = 0; i < e->n; i++)
		e->at[i].stage = 0;
	moves_lids_make(&w.lids, e);
	for (uint32_t k = 0; k < w.lids.n; k++)
		lid_mixtures(&w, k, !rank, &w.mix);
	rc = choose(&w, cache, err);
	if (!rc) {
		blocks_join(&w);
		report(&w, p);
	}
	moves_lids_free(&w.lids);
	vec_free(&w.mix);
	vec_free(&w.orders);
	free(w.at);
	free(w.level);
	free(w.height);
	free(w.bound);
	return rc;
}
