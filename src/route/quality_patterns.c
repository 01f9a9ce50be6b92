/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traffic patterns over the hosts of each island. State: none; what is drawn depends on seed, kind and number of a pattern alone.
 * Ways in: pattern_count(), pattern_make(). Follows no paths: quality_shares.c does.
 */
#include "base/rng.h"
#include "route/quality_priv.h"

const char *const rt_pattern_names[] = {
	"bisection",	      "permutations", "shifts", "shifts_by_name", "all_to_all",
	"bit_complement",     "tornado",      "ring",	"neighbours_2d",  "neighbours_3d",
	"recursive_doubling", "incast",	      NULL};

/* ---- grids ---- */

/* The most even sides of a grid of exactly n hosts, the shortest first; false: the longest is more than twice the
 * shortest. */
static bool grid_of(uint32_t n, unsigned dims, uint32_t side[3])
{
	bool found = false;

	for (uint32_t a = 1; dims == 2 ? a == 1 : (uint64_t)a * a * a <= n; a++) {
		if (n % a)
			continue;
		for (uint32_t b = a; (uint64_t)b * b <= n / a; b++) {
			uint32_t c = n / a / b;

			if (n / a % b || c > 2 * (dims == 2 ? b : a))
				continue;
			if (!found || c < side[2] || (c == side[2] && b < side[1]))
				memcpy(side, (uint32_t[]){a, b, c}, 3 * sizeof(*side));
			found = true;
		}
	}
	return found;
}

void pattern_grid(uint32_t hosts, unsigned dims, uint32_t side[3])
{
	memset(side, 0, 3 * sizeof(*side));
	while (hosts && !grid_of(hosts, dims, side))
		hosts--;
}

/* ---- flows ---- */

static void add(struct meter_work *w, uint32_t from, uint32_t to)
{
	if (from != to)
		vec_push(&w->flows, (struct flow){from, to});
}

/* The hosts of an island at random. */
static void shuffle(const struct meter *m, const struct meter_island *x, enum rt_pattern p,
		    uint32_t i, uint32_t *perm)
{
	struct rng r;

	rng_seed(&r, m->o->seed, (uint64_t)x->number << 40 | (uint64_t)p << 32 | i);
	memcpy(perm, x->hosts, x->n * sizeof(*perm));
	for (uint32_t k = x->n; k > 1; k--) {
		uint32_t at = rng_below(&r, k), swap = perm[at];

		perm[at] = perm[k - 1];
		perm[k - 1] = swap;
	}
}

static void bisection(const struct meter *m, const struct meter_island *x, uint32_t i,
		      struct meter_work *w)
{
	uint32_t half = x->n / 2;

	shuffle(m, x, RT_BISECTION, i, w->perm);
	for (uint32_t k = 0; k < half; k++) {
		add(w, w->perm[k], w->perm[half + k]);
		add(w, w->perm[half + k], w->perm[k]);
	}
}

static void permutation(const struct meter *m, const struct meter_island *x, uint32_t i,
			struct meter_work *w)
{
	shuffle(m, x, RT_PERMUTATIONS, i, w->perm);
	for (uint32_t k = 0; k < x->n; k++)
		add(w, x->hosts[k], w->perm[k]);
}

/* A small island has fewer shifts than the largest. */
static void shift(uint32_t n, uint32_t by, const uint32_t *order, struct meter_work *w)
{
	for (uint32_t k = 0; by < n && k < n; k++)
		add(w, order[k], order[by < n - k ? k + by : k + by - n]);
}

static void shift_listed(const struct meter *m, const struct meter_island *x, uint32_t i,
			 struct meter_work *w)
{
	shift(x->n, m->shifts[i], x->hosts, w);
}

static void shift_by_name(const struct meter *m, const struct meter_island *x, uint32_t i,
			  struct meter_work *w)
{
	shift(x->n, m->shifts[i], x->by_name, w);
}

static void bit_complement(const struct meter *m UNUSED, const struct meter_island *x,
			   uint32_t i UNUSED, struct meter_work *w)
{
	for (uint32_t k = 0; k < x->n; k++)
		add(w, x->hosts[k], x->hosts[x->n - 1 - k]);
}

static void tornado(const struct meter *m UNUSED, const struct meter_island *x, uint32_t i UNUSED,
		    struct meter_work *w)
{
	shift(x->n, (x->n - 1) / 2, x->hosts, w);
}

static void ring(const struct meter *m UNUSED, const struct meter_island *x, uint32_t i UNUSED,
		 struct meter_work *w)
{
	shift(x->n, 1, x->hosts, w);
}

/* To the next one and the one before, where these are two, along each side of the grid. */
static void neighbours(const struct meter_island *x, unsigned dims, struct meter_work *w)
{
	uint32_t side[3], step[3], n;

	pattern_grid(x->n, dims, side);
	step[2] = 1;
	step[1] = side[2];
	step[0] = side[2] * side[1];
	n = step[0] * side[0];
	for (uint32_t k = 0; k < n; k++) {
		for (unsigned d = 0; d < 3; d++) {
			uint32_t at = k / step[d] % side[d], base = k - at * step[d];

			add(w, x->hosts[k], x->hosts[base + (at + 1) % side[d] * step[d]]);
			if (side[d] > 2)
				add(w, x->hosts[k],
				    x->hosts[base + (at + side[d] - 1) % side[d] * step[d]]);
		}
	}
}

static void neighbours_2d(const struct meter *m UNUSED, const struct meter_island *x,
			  uint32_t i UNUSED, struct meter_work *w)
{
	neighbours(x, 2, w);
}

static void neighbours_3d(const struct meter *m UNUSED, const struct meter_island *x,
			  uint32_t i UNUSED, struct meter_work *w)
{
	neighbours(x, 3, w);
}

static unsigned log2_of(uint32_t n)
{
	unsigned k = 0;

	while (n >>= 1)
		k++;
	return k;
}

static void doubling(const struct meter *m UNUSED, const struct meter_island *x, uint32_t step,
		     struct meter_work *w)
{
	uint32_t n = 1u << log2_of(x->n);

	for (uint32_t k = 0; 1u << step < n && k < n; k++)
		add(w, x->hosts[k], x->hosts[k ^ 1u << step]);
}

static void incast(const struct meter *m, const struct meter_island *x, uint32_t i UNUSED,
		   struct meter_work *w)
{
	uint32_t next = 0;

	for (uint32_t k = 0; x->nstorage && k < x->n; k++)
		if (!m->is_storage[x->hosts[k]])
			add(w, x->hosts[k], x->storage[next++ % x->nstorage]);
}

uint32_t pattern_count(const struct meter *m, enum rt_pattern p)
{
	switch (p) {
	case RT_BISECTION:
	case RT_PERMUTATIONS:
		return m->o->patterns ? m->o->patterns : rt_quality_patterns(m->n);
	case RT_SHIFTS:
	case RT_SHIFTS_BY_NAME:
		return m->nshifts;
	case RT_RECURSIVE_DOUBLING:
		return m->n ? log2_of(m->most) : 0;
	case RT_ALL_TO_ALL:
	case RT_BIT_COMPLEMENT:
	case RT_TORNADO:
	case RT_RING:
	case RT_NEIGHBOURS_2D:
	case RT_NEIGHBOURS_3D:
		return m->n > 0;
	case RT_INCAST:
		return m->nstorage > 0;
	case RT_NPATTERNS:
		break;
	}
	return 0;
}

typedef void make_flows(const struct meter *m, const struct meter_island *x, uint32_t i,
			struct meter_work *w);

/* RT_ALL_TO_ALL is not here: quality_all.c. */
static make_flows *const makers[RT_NPATTERNS] = {
	[RT_BISECTION] = bisection,
	[RT_PERMUTATIONS] = permutation,
	[RT_SHIFTS] = shift_listed,
	[RT_SHIFTS_BY_NAME] = shift_by_name,
	[RT_BIT_COMPLEMENT] = bit_complement,
	[RT_TORNADO] = tornado,
	[RT_RING] = ring,
	[RT_NEIGHBOURS_2D] = neighbours_2d,
	[RT_NEIGHBOURS_3D] = neighbours_3d,
	[RT_RECURSIVE_DOUBLING] = doubling,
	[RT_INCAST] = incast,
};

void pattern_make(const struct meter *m, enum rt_pattern p, uint32_t i, struct meter_work *w)
{
	w->flows.n = 0;
	for (uint32_t k = 0; k < m->nislands; k++)
		makers[p](m, &m->islands[k], i, w);
}
