/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": levels from the wiring alone, or the reason why there are none. State: struct guess, one for each part
 * of the fabric. Way in: tree_levels(). Gives no ranks.
 *
 * Leaves are the switches with many hosts, and the level of a switch is its distance from the nearest leaf. How
 * many hosts are many is tried: more than half of the most that a switch has, half of that, and so on down to one.
 * Single hosts at upper switches (a manager, storage) then do not make leaves of these, and leaves with few hosts
 * are found all the same. The guess with the fewest levels counts, and of equals the first. The links of a tree join odd and
 * even levels: where all links of a part do that for some two colours, leaves are of the colour with most hosts.
 */
#include "route/tree.h"

enum {
	STRAYS = 50,   /* at most one of so many links may join two switches of a level, */
	ONE_STRAY = 8, /* or one at all where there are so many */
	FEW = 10, /* one of so many pairs of leaves without a way up and down is no reason to try another guess, */
	SEPARATE = 2, /* and at most one of so many pairs of leaves may have no way up and down */
};

struct guess {
	struct tree *t;
	const uint32_t *member;
	uint32_t n;
	uint8_t *level; /* by member's switch: of the guess that is tried */
	uint32_t *queue;
	uint8_t *colour; /* 0 and 1, 2: leaves may have both */
	uint32_t nleaves, nlevels;
	uint64_t links, strays;
	uint32_t a, b;	       /* a stray link */
	uint64_t pairs, apart; /* of leaves with hosts; without a way up and down */
	uint32_t c, d;	       /* two of them */
};

/* ---- distances from leaves ---- */

static void flood(struct guess *x, uint32_t tail)
{
	const struct tree *t = x->t;

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t s = x->queue[head];

		x->nlevels = MAX(x->nlevels, x->level[s] + 1u);
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			uint32_t v = t->group[g].sw;

			if (x->level[v] != UINT8_MAX)
				continue;
			x->level[v] = (uint8_t)MIN(x->level[s] + 1, UINT8_MAX - 1);
			x->queue[tail++] = v;
		}
	}
}

/* Colours by the distance from one switch; whether each link joins two colours. */
static bool paint(struct guess *x, uint64_t hosts[2])
{
	bool two = true;

	for (uint32_t i = 0; i < x->n; i++)
		x->level[x->member[i]] = UINT8_MAX;
	x->level[x->member[0]] = 0;
	x->queue[0] = x->member[0];
	for (uint32_t head = 0, tail = 1; head < tail; head++) {
		uint32_t s = x->queue[head];

		hosts[x->level[s]] += x->t->hosts[s];
		for (uint32_t g = x->t->first[s]; g < x->t->first[s + 1]; g++) {
			uint32_t v = x->t->group[g].sw;

			two &= x->level[v] != x->level[s];
			if (x->level[v] != UINT8_MAX)
				continue;
			x->level[v] = !x->level[s];
			x->queue[tail++] = v;
		}
	}
	return two;
}

/* Leaves are of one colour if that has at least three quarters of the hosts. */
static void colours_find(struct guess *x)
{
	uint64_t hosts[2] = {0};
	bool two = paint(x, hosts);
	uint8_t leaves = hosts[1] > hosts[0];

	two &= hosts[leaves] >= 3 * hosts[!leaves];
	for (uint32_t i = 0; i < x->n; i++)
		x->colour[x->member[i]] = two ? x->level[x->member[i]] != leaves : 2;
}

/* A hub has many hosts, but is linked to more leaves than these leaves are to hubs. */
static bool is_hub(const struct tree *t, uint32_t s, uint32_t least)
{
	uint32_t mine = 0, theirs = 0;

	for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
		uint32_t v = t->group[g].sw, k = 0;

		if (t->hosts[v] < least)
			continue;
		mine++;
		for (uint32_t h = t->first[v]; h < t->first[v + 1]; h++)
			k += t->hosts[t->group[h].sw] >= least;
		theirs = MAX(theirs, k);
	}
	return mine > theirs;
}

static void distances(struct guess *x, uint32_t least, bool hubs)
{
	uint32_t tail = 0;

	x->nlevels = 0;
	for (uint32_t i = 0; i < x->n; i++)
		x->level[x->member[i]] = UINT8_MAX;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = x->member[i];

		if (x->t->hosts[s] >= least && x->colour[s] != 1 &&
		    (!hubs || !is_hub(x->t, s, least))) {
			x->level[s] = 0;
			x->queue[tail++] = s;
		}
	}
	x->nleaves = tail;
	flood(x, tail);
}

/* ---- leaves with few hosts or none ---- */

static uint32_t degree(const struct tree *t, uint32_t s)
{
	return t->first[s + 1] - t->first[s];
}

static bool is_neighbour(const struct tree *t, uint32_t s, uint32_t v)
{
	uint32_t lo = t->first[s], hi = t->first[s + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->group[mid].sw < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->first[s + 1] && t->group[lo].sw == v;
}

/* How many neighbours two switches share, in percent of all that either has. */
static uint32_t alike(const struct tree *t, uint32_t s, uint32_t v)
{
	uint32_t k = 0;

	for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++)
		k += is_neighbour(t, v, t->group[g].sw);
	return 100 * k / MAX(MAX(degree(t, s), degree(t, v)), 1u);
}

/* The switch of this level that is most like s, of those behind two of its first, middle and last
 * neighbours. */
static uint32_t best_twin(const struct guess *x, uint32_t s, uint32_t level)
{
	const struct tree *t = x->t;
	uint32_t best = 0, d = degree(t, s);
	const uint32_t by[] = {0, d / 2, d - 1};

	for (size_t i = 0; i < ARRAY_LEN(by); i++) {
		uint32_t v = t->group[t->first[s] + by[i]].sw;

		uint32_t w = t->group[t->first[s] + by[(i + 1) % ARRAY_LEN(by)]].sw;

		for (uint32_t g = t->first[v]; g < t->first[v + 1] && best < 100; g++)
			if (t->group[g].sw != s && x->level[t->group[g].sw] == level &&
			    is_neighbour(t, w, t->group[g].sw))
				best = MAX(best, alike(t, s, t->group[g].sw));
	}
	return best;
}

static bool is_peak(const struct guess *x, uint32_t s)
{
	const struct tree *t = x->t;

	for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++)
		if (x->level[t->group[g].sw] >= x->level[s])
			return false;
	return degree(t, s) > 0;
}

/* A leaf that is not among those with many hosts is as far from them as the level above its neighbours. It is known
 * by its neighbours, which are those of a leaf. */
static void lower_leaves(struct guess *x)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = x->member[i], l = x->level[s], low;

		if (l >= 2 && is_peak(x, s)) {
			low = best_twin(x, s, l - 2);
			if (low >= 80 && low >= best_twin(x, s, l))
				x->level[s] = (uint8_t)(l - 2);
		}
		most = MAX(most, x->level[s] + 1u);
	}
	x->nlevels = most;
}

static void count_strays(struct guess *x)
{
	const struct tree *t = x->t;

	x->links = x->strays = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = x->member[i];

		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			uint32_t v = t->group[g].sw;

			x->links += t->group[g].nports;
			if (x->level[v] != x->level[s])
				continue;
			x->strays += t->group[g].nports;
			x->a = MIN(s, v);
			x->b = MAX(s, v);
		}
	}
}

/* ---- pairs of leaves without a way up and down ---- */

struct above { /* which switches without an upper one are above each switch, as bits */
	uint32_t words;
	uint64_t *set; /* [switch][words] */
};

/* Members by level, the lowest first. */
static void sort_by_level(const struct guess *x, uint32_t *by)
{
	uint32_t at[UINT8_MAX + 2] = {0};

	for (uint32_t i = 0; i < x->n; i++)
		at[x->level[x->member[i]] + 1]++;
	for (unsigned l = 1; l <= UINT8_MAX; l++)
		at[l] += at[l - 1];
	for (uint32_t i = 0; i < x->n; i++)
		by[at[x->level[x->member[i]]]++] = x->member[i];
}

static uint32_t count_tops(const struct guess *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		n += is_peak(x, x->member[i]) || !degree(x->t, x->member[i]);
	return n;
}

static void above_fill(const struct guess *x, const uint32_t *by_level, struct above *a)
{
	const struct tree *t = x->t;
	uint32_t bit = 0;

	for (uint32_t i = x->n; i-- > 0;) {
		uint32_t s = by_level[i];
		uint64_t *mine = a->set + (size_t)s * a->words;
		bool top = true;

		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++) {
			const uint64_t *up = a->set + (size_t)t->group[g].sw * a->words;

			top &= x->level[t->group[g].sw] < x->level[s];
			for (uint32_t k = 0; x->level[t->group[g].sw] > x->level[s] && k < a->words;
			     k++)
				mine[k] |= up[k];
		}
		if (top) {
			mine[bit / 64] |= 1ull << bit % 64;
			bit++;
		}
	}
}

static bool meet(const struct above *a, uint32_t s, uint32_t v)
{
	for (uint32_t k = 0; k < a->words; k++)
		if (a->set[(size_t)s * a->words + k] & a->set[(size_t)v * a->words + k])
			return true;
	return false;
}

static void count_apart(struct guess *x)
{
	struct above a = {.words = (count_tops(x) + 63) / 64};
	uint32_t *leaf = x->queue, n = 0;

	sort_by_level(x, x->queue);
	a.set = mem_zarray((size_t)x->t->n * a.words, sizeof(*a.set));
	above_fill(x, x->queue, &a);
	for (uint32_t i = 0; i < x->n && !x->level[x->queue[i]]; i++)
		if (x->t->hosts[x->queue[i]])
			leaf[n++] = x->queue[i];
	x->pairs = (uint64_t)n * (n - (n > 0)) / 2;
	x->apart = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			if (!meet(&a, leaf[i], leaf[j])) {
				x->apart++;
				x->c = MIN(leaf[i], leaf[j]);
				x->d = MAX(leaf[i], leaf[j]);
			}
	free(a.set);
}

/* ---- which guess ---- */

/* Links are counted from both ends. */
static bool has_few_strays(const struct guess *x)
{
	return x->strays * STRAYS <= x->links || (x->strays == 2 && x->links >= 2 * ONE_STRAY);
}

static bool is_tree(const struct guess *x)
{
	return x->n && x->nlevels <= TREE_MAX_LEVELS && has_few_strays(x) &&
	       x->apart * SEPARATE <= x->pairs;
}

static bool is_better(const struct guess *x, const struct guess *best)
{
	bool few = x->apart * FEW <= x->pairs, had = best->apart * FEW <= best->pairs;

	if (!best->n || is_tree(x) != is_tree(best))
		return !best->n || is_tree(x);
	return is_tree(x) && (few != had ? few : x->nlevels < best->nlevels);
}

static void try_guess(struct guess *x, uint32_t least, bool hubs, struct guess *best)
{
	uint32_t before = x->nleaves;

	distances(x, least, hubs);
	if (!x->nleaves || x->nleaves == before)
		return;
	lower_leaves(x);
	count_strays(x);
	count_apart(x);
	if (!is_better(x, best))
		return;
	*best = *x;
	for (uint32_t i = 0; i < x->n; i++)
		x->t->level[x->member[i]] = x->level[x->member[i]];
}

/* ---- reasons ---- */

const char *tree_name(const struct tree *t, uint32_t s, char buf[96])
{
	const char *name = fab_node_name(t->f, t->f->switches[s]);
	char id[32];

	fab_node_ident(t->f, t->f->switches[s], id);
	if (*name)
		snprintf(buf, 96, "%.48s (%s)", name, id);
	else
		snprintf(buf, 96, "%s", id);
	return buf;
}

static int reason(const struct guess *best, struct err *e)
{
	const struct tree *t = best->t;
	char a[96], b[96];
	uint32_t far = 0;

	for (uint32_t i = 0; i < best->n; i++)
		far = t->level[best->member[i]] >= TREE_MAX_LEVELS ? best->member[i] : far;
	if (best->nlevels > TREE_MAX_LEVELS)
		return err_set(e, -EINVAL,
			       "tree: not a tree: %s is more than %u links away from any leaf",
			       tree_name(t, far, a), TREE_MAX_LEVELS - 1);
	if (is_tree(best))
		return 0;
	if (has_few_strays(best))
		return err_set(
			e, -EINVAL,
			"tree: not a tree: no way up and then down joins %s and %s, nor %llu of %llu pairs "
			"of leaf switches",
			tree_name(t, best->c, a), tree_name(t, best->d, b),
			(unsigned long long)best->apart, (unsigned long long)best->pairs);
	return err_set(
		e, -EINVAL,
		"tree: not a tree: a link joins %s and %s, which are both at level %u; so do %llu of %llu "
		"links between switches",
		tree_name(t, best->a, a), tree_name(t, best->b, b), t->level[best->a],
		(unsigned long long)best->strays / 2, (unsigned long long)best->links / 2);
}

/* No hosts, so no leaves: distances from any switch serve. */
static int without_hosts(struct guess *x, struct err *e)
{
	memset(x->level, 0xff, x->t->n);
	x->level[x->member[0]] = 0;
	x->queue[0] = x->member[0];
	x->strays = x->links = x->nlevels = 0;
	x->pairs = x->apart = 0;
	flood(x, 1);
	for (uint32_t i = 0; i < x->n; i++)
		x->t->level[x->member[i]] = x->level[x->member[i]];
	return reason(x, e);
}

static int guess_levels(struct guess *x, struct err *e)
{
	struct guess best = {0};
	uint32_t most = 0;

	for (uint32_t i = 0; i < x->n; i++)
		most = MAX(most, x->t->hosts[x->member[i]]);
	if (!most)
		return without_hosts(x, e);
	x->nleaves = 0;
	colours_find(x);
	for (uint32_t least = most / 2 + 1; least; least = least > 1 ? (least + 1) / 2 : 0)
		try_guess(x, least, false, &best);
	try_guess(x, most / 2 + 1, true, &best);
	return reason(&best, e);
}

/* ---- the way in ---- */

static int guess_parts(struct tree *t, uint32_t *member, struct err *e)
{
	struct guess x = {.t = t,
			  .level = mem_array(t->n, 1),
			  .colour = mem_array(t->n, 1),
			  .queue = mem_array(t->n, sizeof(*x.queue))};
	int rc = 0;

	for (uint32_t p = 0; p < t->nparts && !rc; p++) {
		x.n = 0;
		for (uint32_t s = 0; s < t->n; s++)
			if (t->part[s] == p)
				member[x.n++] = s;
		x.member = member;
		rc = guess_levels(&x, e);
		for (uint32_t i = 0; i < x.n; i++)
			t->nlevels = MAX(t->nlevels, t->level[member[i]] + 1u);
	}
	free(x.level);
	free(x.colour);
	free(x.queue);
	return rc;
}

int tree_levels(struct tree *t, struct err *e)
{
	uint32_t *member = mem_array(t->n, sizeof(*member));
	int rc = guess_parts(t, member, e);

	free(member);
	if (rc)
		return rc;
	tree_upper_first(t);
	return 0;
}
