/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of a reference on another snapshot (rt_reroute()): routes that still lead to their destination stay, the others
 * are replaced. State: struct reroute and struct solve, for one call. Knows no engine: it is the update of any whose routes
 * are up*-down* over its ranks.
 *
 * For each LID the switches are marked whose route of the reference meets an entry that does not lead on. The others keep
 * theirs. A marked switch goes down where it can, by the fewest links, else up; so no route comes down to one that goes
 * up, and ranks along a route first fall and then rise. What a marked switch chooses among equal ports does not depend on
 * earlier changes: the result is a function of the reference and the snapshot alone, and on the snapshot of the
 * reference it is the reference.
 *
 * Most often the switches with such an entry find another way that is as long: then all routes over them stay, and only
 * these switches are looked at (column_mend()).
 */
#include "route/reroute.h"

enum { FEW = 24 };
enum {
	LOST = 1,
	COPIED = 2
}; /* in reroute.lost; COPIED: has the column of the first LID of its port */

/* ---- which switches to decide ---- */

static void mark(struct solve *z, uint32_t s)
{
	if (z->marked[s] == z->stamp || s == z->dest)
		return;
	z->marked[s] = z->stamp;
	z->todo[z->ntodo++] = s;
}

/* All switches whose route leads over a marked one. */
static void mark_before(struct solve *z)
{
	const struct switch_graph *g = &z->x.g;

	for (uint32_t i = 0; i < z->ntodo; i++)
		for (uint32_t a = g->first[z->todo[i]]; a < g->first[z->todo[i] + 1]; a++) {
			uint32_t v = g->arc[a].to;

			if (z->marked[v] != z->stamp && *reroute_entry(z, v) == g->arc[a].back)
				mark(z, v);
		}
}

static void todo_sort(struct solve *z)
{
	const uint64_t *rank = z->x.rank;

	if (z->ntodo > FEW) {
		z->ntodo = 0;
		for (uint32_t i = 0; i < z->x.g.n; i++)
			if (z->marked[z->order[i]] == z->stamp)
				z->todo[z->ntodo++] = z->order[i];
		return;
	}
	for (uint32_t i = 1; i < z->ntodo; i++) {
		uint32_t s = z->todo[i], k = i;

		for (; k && rank[z->todo[k - 1]] > rank[s]; k--)
			z->todo[k] = z->todo[k - 1];
		z->todo[k] = s;
	}
}

/* ---- distances ---- */

static void todo_open(struct solve *z)
{
	for (uint32_t i = 0; i < z->ntodo; i++) {
		z->known[z->todo[i]] = z->stamp;
		z->down[z->todo[i]] = z->dist[z->todo[i]] = NO_WAY;
	}
}

/* From the largest rank to the smallest: neighbours below have their distances. Then back, for those without a way
 * down. False: one of them has no way, though links lead there. */
static bool distances(struct solve *z)
{
	bool all = true;

	todo_open(z);
	for (uint32_t i = z->ntodo; i-- > 0;)
		z->down[z->todo[i]] = reroute_offers(z, i, false);
	for (uint32_t i = 0; i < z->ntodo; i++) {
		uint32_t s = z->todo[i];

		z->dist[s] = z->down[s] == NO_WAY ? reroute_offers(z, i, true) : z->down[s];
		all &= z->dist[s] != NO_WAY || z->x.part[s] != z->x.part[z->dest];
	}
	return all;
}

/* ---- columns ---- */

static void entry_set(struct solve *z, uint32_t s, uint8_t port)
{
	z->changed += *reroute_entry(z, s) != port;
	*reroute_entry(z, s) = port;
}

static void column_begin(struct solve *z, uint32_t lid)
{
	z->lid = lid;
	z->dest = z->x.at[lid];
	z->stamp++;
	z->known[z->dest] = z->stamp;
	z->down[z->dest] = z->dist[z->dest] = 0;
	z->ntodo = 0;
}

static void mark_all(struct solve *z)
{
	for (uint32_t s = 0; s < z->x.g.n; s++)
		mark(z, s);
}

/*
 * Where the entries that stay leave a marked switch without a way, none stays. It can be so if a switch of the reference
 * goes up though it has a way down.
 */
static void column_solve(struct solve *z)
{
	todo_sort(z);
	if (!distances(z)) {
		uint32_t lid = z->lid;

		column_begin(z, lid);
		mark_all(z);
		todo_sort(z);
		distances(z);
	}
	for (uint32_t i = 0; i < z->ntodo; i++) {
		uint8_t port;

		z->added[reroute_decide(z, i, &port)]++;
		entry_set(z, z->todo[i], port);
	}
	z->columns++;
}

/* How many links the route of the reference has from a switch; NO_WAY: it had none. */
static uint16_t reference_way(const struct solve *z, uint32_t s)
{
	const struct rt_before *ref = z->x.ref;
	uint32_t to = z->x.was[z->dest], n = 0;

	for (s = z->x.was[s]; s != to; n++) {
		if (s == FAB_NONE || n > ref->f->nswitches)
			return NO_WAY;
		s = reroute_then(&z->x, s, rt_row(ref->t, s)[z->lid]);
	}
	return (uint16_t)n;
}

/* Whether a switch above sends the LID down to s. */
static bool is_entered(const struct solve *z, uint32_t s)
{
	const struct switch_graph *g = &z->x.g;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
		if (z->upper[a] && *reroute_entry(z, g->arc[a].to) == g->arc[a].back)
			return true;
	return false;
}

/* Another way for todo[i], over switches whose route meets no marked one. False: there is none that is as long as in the
 * reference, or a route comes down to it and it would go up. */
static bool mend(struct solve *z, uint32_t i)
{
	uint16_t d = reference_way(z, z->todo[i]), down = reroute_offers(z, i, false);

	if (down != NO_WAY)
		return down == d;
	return d != NO_WAY && reroute_offers(z, i, true) == d && !is_entered(z, z->todo[i]);
}

/*
 * Other entries for the marked switches alone: all routes over them stay as long as they were, and legal. False: nothing
 * is changed, since one of them finds none such; routes over it have to be looked at.
 */
static bool column_mend(struct solve *z)
{
	uint32_t n = 0;

	todo_sort(z);
	todo_open(z);
	for (; n < z->ntodo && mend(z, n); n++) {
		z->chosen[n] = reroute_decide(z, n, &z->port[n]);
		z->added[z->chosen[n]]++;
	}
	if (n < z->ntodo) {
		while (n--)
			z->added[z->chosen[n]]--;
		return false;
	}
	while (n--)
		entry_set(z, z->todo[n], z->port[n]);
	z->columns++;
	return true;
}

/* Broken entries LID by LID; which comes first of one LID does not matter. */
static struct reroute_broken *broken_sort(const struct reroute *x)
{
	uint32_t *at = mem_zarray((size_t)x->t->top_lid + 2, sizeof(*at));
	struct reroute_broken *sorted = mem_array(x->broken.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < x->broken.n; i++)
		at[x->broken.at[i].lid + 1]++;
	for (uint32_t lid = 0; lid <= x->t->top_lid; lid++)
		at[lid + 1] += at[lid];
	for (size_t i = 0; i < x->broken.n; i++)
		sorted[at[x->broken.at[i].lid]++] = x->broken.at[i];
	free(at);
	return sorted;
}

static void broken_solve(struct solve *z)
{
	struct reroute_broken *broken = broken_sort(&z->x);
	size_t n = z->x.broken.n, end;

	for (size_t i = 0; i < n; i = end) {
		column_begin(z, broken[i].lid);
		for (end = i; end < n && broken[end].lid == z->lid; end++)
			mark(z, broken[end].sw);
		if (column_mend(z))
			continue;
		column_begin(z, broken[i].lid);
		for (size_t k = i; k < end; k++)
			mark(z, broken[k].sw);
		mark_before(z);
		column_solve(z);
	}
	free(broken);
}

/* A LID of a VF that is new here has the routes of its HCA, as it gets them when a VM moves. */
static void copies_find(struct solve *z)
{
	const struct fab *f = z->x.f;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];

		if (z->x.lost[v->lid] && f->ports[v->port].lid && z->x.at[v->lid] != FAB_NONE)
			z->x.lost[v->lid] = COPIED;
	}
}

static void copies_make(struct solve *z)
{
	const struct fab *f = z->x.f;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];

		for (uint32_t s = 0; z->x.lost[v->lid] == COPIED && s < z->x.g.n; s++) {
			uint8_t *row = rt_row(z->x.t, s), port = row[f->ports[v->port].lid];

			z->changed += row[v->lid] != port;
			row[v->lid] = port;
		}
	}
}

static void columns_solve(struct solve *z)
{
	const struct switch_graph *g = &z->x.g;

	copies_find(z);
	broken_solve(z);
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++) {
			uint8_t *at = rt_row(z->x.t, s) + g->dest[i].lid;

			if (z->x.lost[g->dest[i].lid] == LOST) {
				column_begin(z, g->dest[i].lid);
				mark_all(z);
				column_solve(z);
			}
			z->changed += *at != g->dest[i].port;
			*at = g->dest[i].port;
		}
	copies_make(z);
}

/* ---- the way in ---- */

static void solve_init(struct solve *z)
{
	uint32_t n = z->x.g.n + 1;

	z->order = mem_array(n, sizeof(*z->order));
	z->added = mem_zarray((size_t)z->x.g.narcs + 1, sizeof(*z->added));
	z->marked = mem_zarray(n, sizeof(*z->marked));
	z->known = mem_zarray(n, sizeof(*z->known));
	z->down = mem_array(n, sizeof(*z->down));
	z->dist = mem_array(n, sizeof(*z->dist));
	z->todo = mem_array(n, sizeof(*z->todo));
	z->path = mem_array(n, sizeof(*z->path));
	z->chosen = mem_array(n, sizeof(*z->chosen));
	z->port = mem_array(n, 1);
	z->noffers = mem_array(n, sizeof(*z->noffers));
	z->offer = mem_array((size_t)n * z->x.g.ports, sizeof(*z->offer));
	z->upper = mem_array((size_t)z->x.g.narcs + 1, sizeof(*z->upper));
	for (uint32_t a = 0; a < z->x.g.narcs; a++)
		z->upper[a] = z->x.rank[z->x.g.arc[a].to] < z->x.rank[z->x.g.arc[a].from];
	for (uint32_t s = 0; s < z->x.g.n; s++)
		z->order[z->x.rank[s]] = s;
}

static void solve_free(struct solve *z)
{
	free(z->order);
	free(z->added);
	free(z->marked);
	free(z->known);
	free(z->down);
	free(z->dist);
	free(z->todo);
	free(z->path);
	free(z->chosen);
	free(z->port);
	free(z->noffers);
	free(z->offer);
	free(z->upper);
	reroute_compare_free(&z->x);
	graph_free(&z->x.g);
}

static int reference_check(const struct fab *f, const struct rt_before *ref, struct err *e)
{
	port_id *lids;
	uint32_t top;
	int rc = fab_lid_table(f, &lids, &top, e);

	if (rc)
		return rc;
	free(lids);
	if (ref->t->nswitches != ref->f->nswitches)
		return err_set(e, -EINVAL, "reroute: tables of %u switches for %u of the reference",
			       ref->t->nswitches, ref->f->nswitches);
	if (ref->t->lanes)
		return err_set(e, -EINVAL, "reroute: the tables of the reference use lanes");
	return 0;
}

int rt_reroute(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
	       uint64_t *rank, struct rt_update_stats *st, struct err *e)
{
	struct solve z = {.x = {.f = f, .ref = ref, .rank = rank}};
	uint64_t *old;
	int rc = reference_check(f, ref, e);

	if (rc)
		return rc;
	old = mem_array((size_t)f->nswitches + 1, sizeof(*old));
	z.x.t = rt_tables_carry(ref->f, ref->t, f);
	graph_init(&z.x.g, f, z.x.t->top_lid);
	rt_updown_rank_carry(ref->f, ref->rank, f, old);
	rank_mend(&z.x.g, old, rank);
	free(old);
	rc = reroute_compare(&z.x, e);
	if (!rc && f->nswitches) {
		solve_init(&z);
		columns_solve(&z);
	}
	*st = (struct rt_update_stats){.searched = z.columns,
				       .changed = z.changed,
				       .new_links = z.x.new_links,
				       .gone_links = z.x.gone_links};
	z.x.t->entries = z.changed;
	*t = z.x.t;
	solve_free(&z);
	if (rc) {
		rt_tables_free(*t);
		*t = NULL;
	}
	return rc;
}
