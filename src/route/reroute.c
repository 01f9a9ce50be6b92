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
 */
#include "route/reroute.h"

enum { NO_WAY = UINT16_MAX, FEW = 24 };
enum {
	LOST = 1,
	COPIED = 2
}; /* in reroute.lost; COPIED: has the column of the first LID of its port */

struct solve {
	struct reroute x;
	uint32_t *order; /* switches by rank */
	uint32_t *added; /* by arc: entries that were moved to it */
	uint64_t changed;
	uint32_t columns; /* with a marked switch */
	/* of one LID */
	uint32_t lid, dest, stamp;
	bool whole;	  /* all switches are marked, and nothing is kept */
	uint32_t *marked; /* by switch: the stamp of the LID for which it is */
	uint32_t *known;  /* the same for the next two */
	uint16_t *down;	  /* by switch: links to the destination if all of them lead down */
	uint16_t *dist;
	uint32_t *todo, ntodo; /* the marked switches, by rank */
	uint32_t *path;
};

static uint8_t *entry(const struct solve *z, uint32_t s)
{
	return rt_row(z->x.t, s) + z->lid;
}

static uint32_t next_switch(const struct solve *z, uint32_t s)
{
	uint32_t a = graph_arc(&z->x.g, s, *entry(z, s));

	return a == FAB_NONE ? FAB_NONE : z->x.g.arc[a].to;
}

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

			if (z->marked[v] != z->stamp && next_switch(z, v) == z->todo[i])
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

/* Follows the entries from a switch that is not marked to one with a known distance. */
static void walk(struct solve *z, uint32_t s)
{
	const uint64_t *rank = z->x.rank;
	uint32_t n = 0;

	while (z->known[s] != z->stamp) {
		uint32_t v = next_switch(z, s);

		z->known[s] = z->stamp;
		z->down[s] = z->dist[s] = NO_WAY;
		if (v == FAB_NONE)
			break;
		z->path[n++] = s;
		s = v;
	}
	while (n--) {
		uint32_t v = s;

		s = z->path[n];
		if (z->dist[v] == NO_WAY)
			continue;
		z->dist[s] = (uint16_t)(z->dist[v] + 1);
		if (z->down[v] != NO_WAY && rank[v] > rank[s])
			z->down[s] = (uint16_t)(z->down[v] + 1);
	}
}

/* One look tells of most switches that their route does not lead down. */
static uint16_t down_of(struct solve *z, uint32_t s)
{
	uint32_t v = z->known[s] == z->stamp ? s : next_switch(z, s);

	if (v == FAB_NONE || z->x.rank[v] < z->x.rank[s])
		return NO_WAY;
	walk(z, s);
	return z->down[s];
}

static uint16_t dist_of(struct solve *z, uint32_t s)
{
	walk(z, s);
	return z->dist[s];
}

static bool is_upper(const struct solve *z, uint32_t a)
{
	const struct graph_arc *arc = &z->x.g.arc[a];

	return z->x.rank[arc->to] < z->x.rank[arc->from];
}

static uint16_t step(uint16_t d)
{
	return (uint16_t)(d + (d != NO_WAY));
}

/* From the largest rank to the smallest: neighbours below have their distances. Then back, for those without a way
 * down. False: one of them has no way, though links lead there. */
static bool distances(struct solve *z)
{
	const struct switch_graph *g = &z->x.g;
	bool all = true;

	for (uint32_t i = 0; i < z->ntodo; i++) {
		z->known[z->todo[i]] = z->stamp;
		z->down[z->todo[i]] = z->dist[z->todo[i]] = NO_WAY;
	}
	for (uint32_t i = z->ntodo; i-- > 0;) {
		uint32_t s = z->todo[i];

		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			if (!is_upper(z, a))
				z->down[s] = MIN(z->down[s], step(down_of(z, g->arc[a].to)));
	}
	for (uint32_t i = 0; i < z->ntodo; i++) {
		uint32_t s = z->todo[i];

		z->dist[s] = z->down[s];
		for (uint32_t a = g->first[s]; z->down[s] == NO_WAY && a < g->first[s + 1]; a++)
			if (is_upper(z, a))
				z->dist[s] = MIN(z->dist[s], step(dist_of(z, g->arc[a].to)));
		all &= z->dist[s] != NO_WAY || z->x.part[s] != z->x.part[z->dest];
	}
	return all;
}

/* ---- choices ---- */

/* The arcs by which a marked switch may leave, by port; how many. */
static unsigned offers(struct solve *z, uint32_t s, uint32_t arc[256])
{
	const struct switch_graph *g = &z->x.g;
	unsigned n = 0;

	if (z->dist[s] == NO_WAY)
		return 0;
	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t v = g->arc[a].to;

		if (is_upper(z, a) ? z->down[s] == NO_WAY && dist_of(z, v) + 1 == z->dist[s]
				   : z->down[s] != NO_WAY && down_of(z, v) + 1 == z->down[s])
			arc[n++] = a;
	}
	return n;
}

/* The arc to which the fewest entries were moved so far; of equals the next one after the port that the entry had, where
 * it had none by the number of the LID. */
static uint32_t choose(const struct solve *z, const uint32_t *arc, unsigned n, uint8_t had)
{
	const struct graph_arc *of = z->x.g.arc;
	unsigned start = had == IBA_PORT_NONE ? z->lid % n : 0;
	uint32_t best;

	while (had != IBA_PORT_NONE && start < n && of[arc[start]].port < had)
		start++;
	best = arc[start % n];
	for (unsigned i = 1; i < n; i++) {
		uint32_t a = arc[(start + i) % n];

		if (z->added[a] < z->added[best])
			best = a;
	}
	return best;
}

static void decide(struct solve *z, uint32_t s)
{
	uint8_t had = z->x.lost[z->lid] ? IBA_PORT_NONE : *entry(z, s), port = IBA_PORT_NONE;
	uint32_t arc[256], best;
	unsigned n = offers(z, s, arc);
	bool stays = false;

	for (unsigned i = 0; i < n; i++)
		stays |= z->x.g.arc[arc[i]].port == had;
	if (stays)
		return;
	if (n) {
		best = choose(z, arc, n, had);
		z->added[best]++;
		port = z->x.g.arc[best].port;
	}
	z->changed += *entry(z, s) != port;
	*entry(z, s) = port;
}

/* ---- columns ---- */

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
	for (uint32_t i = 0; i < z->ntodo; i++)
		decide(z, z->todo[i]);
	z->columns++;
}

static int broken_cmp(const void *a, const void *b)
{
	const struct reroute_broken *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static void broken_solve(struct solve *z)
{
	struct reroute *x = &z->x;
	size_t end;

	if (x->broken.n)
		qsort(x->broken.at, x->broken.n, sizeof(*x->broken.at), broken_cmp);
	for (size_t i = 0; i < x->broken.n; i = end) {
		column_begin(z, x->broken.at[i].lid);
		for (end = i; end < x->broken.n && x->broken.at[end].lid == z->lid; end++)
			mark(z, x->broken.at[end].sw);
		mark_before(z);
		column_solve(z);
	}
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
	rt_updown_rank_carry(ref->f, ref->rank, f, old);
	rt_updown_rank_mend(f, old, rank);
	free(old);
	z.x.t = rt_tables_carry(ref->f, ref->t, f);
	graph_init(&z.x.g, f, z.x.t->top_lid);
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
