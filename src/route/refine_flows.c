/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What refine.c knows of flows: those of each shift over each link, and the routes of all pairs. State: struct refine. Ways in: those of
 * refine_priv.h. Decides nothing.
 */
#include "route/quality.h"
#include "route/refine_priv.h"

enum {
	MORE = 3, /* a path may become longer than the longest one so far */
	MOST_STEPS =
		16000000, /* of the paths of all flows in all shifts; fewer shifts above that */
};

/* The shifts that count: all, or some at equal distances. */
static uint32_t shift_by(const struct refine *r, uint32_t k)
{
	return 1 + (uint32_t)((uint64_t)k * (r->n - 1) / r->nshifts);
}

static uint32_t sender(const struct refine *r, uint32_t k, uint32_t h)
{
	return (h + r->n - shift_by(r, k)) % r->n;
}

uint32_t refine_shift(const struct refine *r, uint32_t from, uint32_t h)
{
	uint32_t by = (h + r->n - from) % r->n, k;

	if (!by)
		return REFINE_NOWHERE;
	k = (uint32_t)(((uint64_t)(by - 1) * r->nshifts + r->n - 2) / (r->n - 1));
	return k < r->nshifts && shift_by(r, k) == by ? k : REFINE_NOWHERE;
}

/* ---- flows of a shift ---- */

/* The flow to h: its path; returns its length. */
static uint32_t path_of(const struct refine *r, uint32_t k, uint32_t h, uint32_t *path)
{
	const uint32_t *taken = refine_taken(r, h);
	uint32_t len = 0;

	for (uint32_t s = r->sw[sender(r, k, h)], a; (a = taken[s]) != FAB_NONE;
	     s = r->g->arc[a].to)
		path[len++] = a;
	return len;
}

int64_t refine_flow_count(struct refine *r, uint32_t k, uint32_t h, int by)
{
	struct link_state *at = refine_links(r, k);
	uint32_t path[REFINE_LONGEST], len = path_of(r, k, h, path), most = 1, times = 0;

	for (uint32_t i = 0; i < len; i++) {
		uint32_t n = at[path[i]].load;

		times = n > most ? 1 : times + (n == most);
		most = MAX(most, n);
	}
	for (uint32_t i = 0; i < len; i++)
		if (at[path[i]].load == most) {
			at[path[i]].limits += (uint16_t)by;
			at[path[i]].alone += times > 1 ? 0 : (uint16_t)by;
		}
	r->work += 2 * len;
	return r->share[most];
}

void refine_flow_add(struct refine *r, uint32_t k, uint32_t h)
{
	uint32_t path[REFINE_LONGEST], len = path_of(r, k, h, path), *next = refine_next(r, k);

	for (uint32_t i = 0; i < len; i++) {
		uint32_t *first = &refine_first(r, k)[path[i]];

		refine_links(r, k)[path[i]].load++;
		next[h * r->len + i] = *first;
		*first = h * r->len + i;
	}
}

void refine_flow_remove(struct refine *r, uint32_t k, uint32_t h)
{
	uint32_t path[REFINE_LONGEST], len = path_of(r, k, h, path), *next = refine_next(r, k);

	for (uint32_t i = 0; i < len; i++) {
		uint32_t *at = &refine_first(r, k)[path[i]];

		while (*at != h * r->len + i)
			at = &next[*at];
		*at = next[*at];
		refine_links(r, k)[path[i]].load--;
	}
}

static void shift_count(struct refine *r, uint32_t k)
{
	for (uint32_t a = 0; a < r->g->narcs; a++)
		refine_first(r, k)[a] = REFINE_NOWHERE;
	for (uint32_t h = 0; h < r->n; h++)
		refine_flow_add(r, k, h);
	for (uint32_t h = 0; h < r->n; h++)
		refine_flow_count(r, k, h, 1);
}

/* ---- tables ---- */

static void hosts_find(struct refine *r)
{
	const struct fab *f = r->g->f;
	rt_hosts all = {0};

	rt_quality_hosts(f, &all);
	r->sw = mem_array(all.n + 1, sizeof(*r->sw));
	r->lid = mem_array(all.n + 1, sizeof(*r->lid));
	r->host_at = mem_array(all.n + 1, sizeof(*r->host_at));
	r->host_first = mem_zarray((size_t)r->g->n + 2, sizeof(*r->host_first));
	for (size_t i = 0; i < all.n; i++) {
		uint32_t s = f->switch_index[f->ports[f->ports[all.at[i]].peer].node];

		if (s == FAB_NONE)
			continue;
		r->sw[r->n] = s;
		r->lid[r->n++] = f->ports[all.at[i]].lid;
		r->host_first[s + 2]++;
	}
	for (uint32_t s = 0; s < r->g->n; s++)
		r->host_first[s + 2] += r->host_first[s + 1];
	for (uint32_t h = 0; h < r->n; h++)
		r->host_at[r->host_first[r->sw[h] + 1]++] = h;
	vec_free(&all);
}

static void taken_read(struct refine *r)
{
	r->taken = mem_array((size_t)r->n * r->g->n + 1, sizeof(*r->taken));
	for (uint32_t h = 0; h < r->n; h++)
		for (uint32_t s = 0; s < r->g->n; s++)
			refine_taken(r, h)[s] =
				s == r->sw[h] ? FAB_NONE
					      : graph_arc(r->g, s, rt_row(r->t, s)[r->lid[h]]);
}

void refine_tables_write(const struct refine *r)
{
	for (uint32_t h = 0; h < r->n; h++)
		for (uint32_t s = 0; s < r->g->n; s++)
			if (refine_taken(r, h)[s] != FAB_NONE)
				rt_row(r->t, s)[r->lid[h]] = r->g->arc[refine_taken(r, h)[s]].port;
}

/* The routes of all pairs; false: a path is too long, or does not end. */
static bool routes_count(struct refine *r)
{
	uint32_t longest = 0;

	r->routes = mem_zarray((size_t)r->g->narcs + 1, sizeof(*r->routes));
	for (uint32_t h = 0; h < r->n; h++)
		for (uint32_t x = 0; x < r->n; x++) {
			uint32_t len = 0;

			for (uint32_t s = r->sw[x], a; (a = refine_taken(r, h)[s]) != FAB_NONE;
			     s = r->g->arc[a].to) {
				if (++len + MORE > REFINE_LONGEST)
					return false;
				r->routes[a]++;
			}
			longest = MAX(longest, len);
		}
	r->len = longest + MORE;
	return true;
}

/* ---- all of it ---- */

static void shifts_init(struct refine *r)
{
	size_t n = (size_t)r->g->n + 1, hosts = (size_t)r->n + 1;
	uint64_t most = MAX((uint64_t)MOST_STEPS / ((uint64_t)r->n * r->len), (uint64_t)1);

	r->nshifts = (uint32_t)MIN(most, (uint64_t)r->n - 1);
	r->at = mem_zarray((size_t)r->nshifts * r->g->narcs + 1, sizeof(*r->at));
	r->first = mem_array((size_t)r->nshifts * r->g->narcs + 1, sizeof(*r->first));
	r->next = mem_array((size_t)r->nshifts * r->n * r->len, sizeof(*r->next));
	r->share = mem_array(hosts + 1, sizeof(*r->share));
	r->share[0] = REFINE_UNIT;
	for (uint32_t i = 1; i <= hosts; i++)
		r->share[i] = REFINE_UNIT / i;
	r->dist = mem_array(n, sizeof(*r->dist));
	r->order = mem_array(n, sizeof(*r->order));
	r->first_child = mem_array(n, sizeof(*r->first_child));
	r->next_child = mem_array(n, sizeof(*r->next_child));
	r->depth = mem_array(n, sizeof(*r->depth));
	r->stack = mem_array(n, sizeof(*r->stack));
	r->above = mem_array(n, sizeof(*r->above));
	r->moved = mem_array(hosts, sizeof(*r->moved));
	r->others = mem_array(hosts, sizeof(*r->others));
	r->mark = mem_zarray(hosts, sizeof(*r->mark));
	for (uint32_t k = 0; k < r->nshifts; k++)
		shift_count(r, k);
}

void refine_free(struct refine *r)
{
	free(r->sw);
	free(r->lid);
	free(r->host_first);
	free(r->host_at);
	free(r->taken);
	free(r->at);
	free(r->first);
	free(r->next);
	free(r->share);
	free(r->routes);
	free(r->dist);
	free(r->order);
	free(r->first_child);
	free(r->next_child);
	free(r->moved);
	free(r->above);
	free(r->depth);
	free(r->stack);
	free(r->others);
	free(r->mark);
}

bool refine_init(struct refine *r)
{
	hosts_find(r);
	taken_read(r);
	if (r->n < 3 || r->n > UINT16_MAX || !routes_count(r))
		return false;
	shifts_init(r);
	return true;
}
