/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonflies: groups in which nearly all switches are joined with each other, and few links between groups. In
 * Dragonfly+ groups have leaves and spines, all leaves of a group joined with all its spines, and links between groups
 * are those between spines. Groups are placed on a circle, the switches of a group on a smaller one, hosts outside. State: struct fly, for one call.
 * Way in: lay_dragonfly().
 */
#include "draw/layout_priv.h"

enum {
	MOST_SWITCHES = 20000, /* of an island; more are not looked at */
	MOST_LOOKS = 30000000, /* steps to count common neighbours */
};

struct fly {
	struct lay_part *p;
	uint32_t *common;	   /* by entry of adj[]: common neighbours of both ends */
	uint32_t *of;		   /* switch -> group */
	uint32_t *start, *members; /* of each group */
	uint32_t ngroups;
	bool spines; /* Dragonfly+ */
	uint64_t *key;
};

static uint32_t count_common(const struct lay_part *p, uint32_t a, uint32_t b)
{
	uint32_t i = p->first[a], j = p->first[b], n = 0;

	while (i < p->first[a + 1] && j < p->first[b + 1]) {
		if (p->adj[i] == p->adj[j]) {
			n++;
			i++;
			j++;
		} else if (p->adj[i] < p->adj[j]) {
			i++;
		} else {
			j++;
		}
	}
	return n;
}

static bool count_all(struct fly *y)
{
	const struct lay_part *p = y->p;
	uint64_t looks = 0;

	for (uint32_t s = 0; s < p->n; s++)
		looks += 2ull * lay_degree(p, s) * lay_degree(p, s);
	if (looks > MOST_LOOKS)
		return false;
	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			y->common[k - p->first[0]] = count_common(p, s, p->adj[k]);
	return true;
}

static bool is_leaf(const struct fly *y, uint32_t s)
{
	return y->p->linked[s] > 0;
}

/* Whether an entry of adj[] is a link inside a group: with many common neighbours, or between leaf and spine. */
static bool is_local(const struct fly *y, uint32_t s, uint32_t k, uint32_t least)
{
	return y->spines ? is_leaf(y, s) != is_leaf(y, y->p->adj[k])
			 : y->common[k - y->p->first[0]] >= least;
}

/* Groups as switches joined by such links; in order of their first switch. */
static void split(struct fly *y, uint32_t least)
{
	const struct lay_part *p = y->p;
	uint32_t tail = 0;

	memset(y->of, 0xff, p->n * sizeof(*y->of));
	y->ngroups = 0;
	for (uint32_t s = 0; s < p->n; s++) {
		if (y->of[s] != FAB_NONE)
			continue;
		y->start[y->ngroups] = tail;
		y->of[s] = y->ngroups;
		y->members[tail++] = s;
		for (uint32_t head = y->start[y->ngroups]; head < tail; head++) {
			uint32_t u = y->members[head];

			for (uint32_t k = p->first[u]; k < p->first[u + 1]; k++)
				if (is_local(y, u, k, least) && y->of[p->adj[k]] == FAB_NONE) {
					y->of[p->adj[k]] = y->ngroups;
					y->members[tail++] = p->adj[k];
				}
		}
		y->ngroups++;
	}
	y->start[y->ngroups] = tail;
}

/* At least three groups of three or more, nine in ten links of each there, and few switches without a group. */
static bool groups_are_meshes(const struct fly *y)
{
	const struct lay_part *p = y->p;
	uint32_t *inside = mem_zarray(y->ngroups, sizeof(*inside)), good = 0, largest = 0;
	bool meshes = true;

	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			inside[y->of[s]] += y->of[s] == y->of[p->adj[k]];
	for (uint32_t g = 0; g < y->ngroups; g++)
		largest = MAX(largest, y->start[g + 1] - y->start[g]);
	for (uint32_t g = 0; g < y->ngroups; g++) {
		uint64_t n = y->start[g + 1] - y->start[g];

		meshes = meshes && inside[g] * 10ull >= n * (n - 1) * 9;
		good += n >= 3 && n * 2 >= largest;
	}
	free(inside);
	return meshes && good >= 3 && (y->ngroups - good) * 10 <= good;
}

/* The same for groups of leaves and spines: no link between two leaves, nine in ten between leaves and spines. */
static bool groups_have_spines(const struct fly *y)
{
	const struct lay_part *p = y->p;
	uint32_t most = 0, least = UINT32_MAX;

	for (uint32_t g = 0; g < y->ngroups; g++) {
		uint64_t leaves = 0, links = 0, n = y->start[g + 1] - y->start[g];

		for (uint32_t i = y->start[g]; i < y->start[g + 1]; i++) {
			uint32_t s = y->members[i];

			leaves += is_leaf(y, s);
			for (uint32_t k = p->first[s]; is_leaf(y, s) && k < p->first[s + 1]; k++) {
				if (is_leaf(y, p->adj[k]))
					return false;
				links++;
			}
		}
		if (leaves < 2 || n - leaves < 2 || links * 10 < leaves * (n - leaves) * 9)
			return false;
		most = MAX(most, (uint32_t)n);
		least = MIN(least, (uint32_t)n);
	}
	return y->ngroups >= 3 && least * 2 >= most;
}

static bool find_spines(struct fly *y)
{
	y->spines = true;
	split(y, 0);
	y->spines = groups_have_spines(y);
	return y->spines;
}

static bool find_groups(struct fly *y)
{
	const struct lay_part *p = y->p;
	uint32_t most = 0;

	if (!count_all(y))
		return false;
	for (uint32_t k = p->first[0]; k < p->first[p->n]; k++)
		most = MAX(most, y->common[k - p->first[0]]);
	for (uint32_t least = 1; least <= most; least++) {
		split(y, least);
		if (y->ngroups > 2 && groups_are_meshes(y))
			return true;
		if (y->ngroups * 3 > p->n)
			return false;
	}
	return false;
}

/* ---- placing ---- */

static int by_key(const void *a, const void *b, void *arg)
{
	const struct fly *y = arg;
	uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;

	if (y->key[s] != y->key[t])
		return y->key[s] < y->key[t] ? -1 : 1;
	return s < t ? -1 : s > t;
}

/* Switches of a group in the order of the groups that their links lead to, counted clockwise from their own. */
static void order_members(struct fly *y)
{
	const struct lay_part *p = y->p;

	for (uint32_t s = 0; s < p->n; s++) {
		uint64_t sum = 0, n = 0;

		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
			uint32_t ahead = (y->of[p->adj[k]] + y->ngroups - y->of[s]) % y->ngroups;

			sum += ahead;
			n += ahead > 0;
		}
		y->key[s] = n ? sum * 65536 / n : (uint64_t)y->ngroups * 32768;
	}
	for (uint32_t g = 0; g < y->ngroups; g++)
		qsort_r(y->members + y->start[g], y->start[g + 1] - y->start[g],
			sizeof(*y->members), by_key, y);
}

/* The switches of a group around (cx, cy): seen from the middle of the whole circle, those with links to the next
 * groups clockwise are on their side, and so on round the group. */
static void place_group(struct fly *y, uint32_t g, double cx, double cy, double radius)
{
	struct lay_part *p = y->p;
	uint32_t n = y->start[g + 1] - y->start[g];
	double turn = (double)g / y->ngroups;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = y->members[y->start[g] + i];
		double t = turn + 0.5 + (i - 0.5 * (n - 1)) / n;

		p->seat[s] =
			(struct lay_seat){.style = LAY_FAN, .ux = lay_sin(t), .uy = -lay_cos(t)};
		p->x[s] = cx + radius * p->seat[s].ux;
		p->y[s] = cy + radius * p->seat[s].uy;
	}
}

/* Leaves move to both ends of the order, which are outside; spines stay in the middle. */
static void move_leaves_out(struct fly *y, uint32_t g)
{
	uint32_t n = y->start[g + 1] - y->start[g], *list = y->members + y->start[g];
	uint32_t *old = mem_array(n, sizeof(*old)), leaves = 0, spines = 0, nleaves = 0;

	memcpy(old, list, n * sizeof(*old));
	for (uint32_t i = 0; i < n; i++)
		nleaves += is_leaf(y, old[i]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = old[i], left = nleaves / 2;

		y->p->level[s] = !is_leaf(y, s);
		if (!is_leaf(y, s))
			list[left + spines++] = s;
		else if (leaves++ < left)
			list[leaves - 1] = s;
		else
			list[n - nleaves + leaves - 1] = s;
	}
	free(old);
}

static void place_groups(struct fly *y)
{
	struct lay_part *p = y->p;
	double disc = 0, radius, all;
	uint32_t largest = 0;

	for (uint32_t s = 0; s < p->n; s++)
		disc = MAX(disc, lay_disc(p->hosts[s]));
	for (uint32_t g = 0; g < y->ngroups; g++)
		largest = MAX(largest, y->start[g + 1] - y->start[g]);
	radius = lay_circle(largest, disc + 0.25);
	/* squares around two groups do not touch in any direction */
	all = lay_circle(y->ngroups, (radius + disc + 1.5) * 1.4143);
	for (uint32_t g = 0; g < y->ngroups; g++) {
		double t = (double)g / y->ngroups;
		char name[24];
		uint32_t id;

		snprintf(name, sizeof(name), "group %u", g + 1);
		id = lay_group_add(p->l, LAYOUT_GROUP, p->island, name);
		for (uint32_t i = y->start[g]; i < y->start[g + 1]; i++)
			p->group[y->members[i]] = id;
		place_group(y, g, all * lay_sin(t), -all * lay_cos(t), radius);
	}
}

bool lay_dragonfly(struct lay_part *p)
{
	struct fly y = {.p = p};
	uint32_t links = p->first[p->n] - p->first[0];
	bool found;

	if (p->n < 9 || p->n > MOST_SWITCHES)
		return false;
	y.common = mem_array(links, sizeof(*y.common));
	y.of = mem_array(p->n, sizeof(*y.of));
	y.start = mem_array((size_t)p->n + 1, sizeof(*y.start));
	y.members = mem_array(p->n, sizeof(*y.members));
	y.key = mem_array(p->n, sizeof(*y.key));
	found = find_spines(&y) || find_groups(&y);
	if (found) {
		p->out->shape = LAYOUT_DRAGONFLY;
		order_members(&y);
		for (uint32_t g = 0; y.spines && g < y.ngroups; g++)
			move_leaves_out(&y, g);
		p->out->nlevels = y.spines ? 2 : 1;
		place_groups(&y);
	}
	free(y.common);
	free(y.of);
	free(y.start);
	free(y.members);
	free(y.key);
	return found;
}
