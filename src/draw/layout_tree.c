/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognises trees: levels by distance from hosts, few links inside a level. State: struct tree, for one call. Way
 * in: lay_tree(). Does not place anything.
 */
#include "draw/layout_tree_priv.h"

enum {
	MOST_LEVELS = 100,
};

/* Levels as distances from the switches with at least so many hosts; their number, 0 when there are too many. */
static uint32_t find_levels(const struct lay_part *p, uint32_t hosts)
{
	uint32_t *queue = mem_array(p->n, sizeof(*queue)), head = 0, tail = 0, most = 0;

	for (uint32_t s = 0; s < p->n; s++) {
		p->level[s] = UINT8_MAX;
		if (p->linked[s] >= hosts) {
			p->level[s] = 0;
			queue[tail++] = s;
		}
	}
	while (head < tail && most < MOST_LEVELS) {
		uint32_t s = queue[head++];

		most = MAX(most, p->level[s] + 1u);
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			if (p->level[p->adj[k]] == UINT8_MAX) {
				p->level[p->adj[k]] = (uint8_t)(p->level[s] + 1);
				queue[tail++] = p->adj[k];
			}
	}
	free(queue);
	return tail == p->n && most < MOST_LEVELS ? most : 0;
}

/* Whether two switches have nearly the same neighbours. */
static bool are_twins(const struct lay_part *p, uint32_t s, uint32_t t)
{
	uint32_t n = 0;

	for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
		n += lay_adjacent(p, t, p->adj[k]);
	return n * 10 >= MAX(lay_degree(p, s), lay_degree(p, t)) * 8;
}

/* A twin of s at this level, found by way of a neighbour: the first and the last one, since one may be a stray. */
static bool has_twin(const struct lay_part *p, uint32_t s, uint32_t level)
{
	const uint32_t by[] = {p->adj[p->first[s]], p->adj[p->first[s + 1] - 1]};

	for (size_t i = 0; i < ARRAY_LEN(by); i++)
		for (uint32_t k = p->first[by[i]]; k < p->first[by[i] + 1]; k++)
			if (p->adj[k] != s && p->level[p->adj[k]] == level &&
			    are_twins(p, s, p->adj[k]))
				return true;
	return false;
}

static bool is_peak(const struct lay_part *p, uint32_t s)
{
	for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
		if (p->level[p->adj[k]] >= p->level[s])
			return false;
	return true;
}

/* A leaf with no or few hosts is as far from other hosts as a root. It is a leaf if it has the neighbours of one, or
 * hosts and no twin: roots have twins. */
static void lower_leaves(const struct lay_part *p)
{
	for (uint32_t s = 0; s < p->n; s++) {
		uint8_t l = p->level[s];

		if (l && has_twin(p, s, 0))
			p->level[s] = 0;
		else if (l >= 2 && is_peak(p, s) &&
			 (has_twin(p, s, l - 2u) || (p->linked[s] && !has_twin(p, s, l))))
			p->level[s] -= 2;
	}
}

static uint32_t count_levels(const struct lay_part *p)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < p->n; s++)
		n = MAX(n, p->level[s] + 1u);
	return n;
}

/* Several levels, and at most a tenth of the links inside a level. */
static bool has_levels(const struct lay_part *p)
{
	uint64_t flat = 0, all = p->first[p->n] - p->first[0];

	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			flat += p->level[s] == p->level[p->adj[k]];
	return count_levels(p) > 1 && flat * 10 <= all;
}

/* First only switches with many hosts are leaves: single hosts at upper levels do not make leaves of these. */
static bool find_tree(struct tree *t)
{
	const struct lay_part *p = t->p;
	uint32_t most = 0;

	for (uint32_t s = 0; s < p->n; s++)
		most = MAX(most, p->linked[s]);
	for (uint32_t least = (most + 1) / 2; least; least = least > 1 ? 1 : 0) {
		if (!find_levels(p, least))
			continue;
		lower_leaves(p);
		if (has_levels(p)) {
			t->nlevels = count_levels(p);
			return true;
		}
	}
	memset(p->level, 0, p->n);
	return false;
}

/* ---- blocks ---- */

static uint32_t find(uint32_t *up, uint32_t s)
{
	while (up[s] != s) {
		up[s] = up[up[s]];
		s = up[s];
	}
	return s;
}

static void join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = find(up, a);
	b = find(up, b);
	up[MAX(a, b)] = MIN(a, b);
}

/* Joins each switch of a level with its neighbours of the level below. */
static void join_level(const struct lay_part *p, uint32_t *up, uint32_t level)
{
	for (uint32_t s = 0; s < p->n; s++)
		for (uint32_t k = p->first[s]; p->level[s] == level && k < p->first[s + 1]; k++)
			if (p->level[p->adj[k]] + 1u == level)
				join(up, s, p->adj[k]);
}

/* Planes: top switches joined by the level below them alone. */
static void find_planes(struct tree *t, uint32_t *up)
{
	const struct lay_part *p = t->p;
	uint32_t *number = mem_array(p->n, sizeof(*number));

	for (uint32_t s = 0; s < p->n; s++) {
		up[s] = s;
		number[s] = FAB_NONE;
	}
	join_level(p, up, t->nlevels - 1);
	for (uint32_t s = 0; s < p->n; s++) {
		uint32_t r = find(up, s);

		if (!tree_is_top(t, s))
			continue;
		if (number[r] == FAB_NONE)
			number[r] = t->nplanes++;
		t->plane[s] = number[r];
	}
	free(number);
}

/* The blocks whose top switches are of this level; of[] leads from the representative of a part to its block, rep[]
 * from a block to a switch in it. */
static void add_blocks(struct tree *t, uint32_t level, uint32_t *up, uint32_t *of, uint32_t *rep)
{
	const struct lay_part *p = t->p;
	uint32_t before = t->nblocks;
	bool last = level + 1 == t->nlevels;

	for (uint32_t s = 0; s < p->n; s++)
		of[s] = FAB_NONE;
	for (uint32_t s = 0; s < p->n; s++) {
		uint32_t r = last ? 0 : find(up, s);

		if (p->level[s] != level)
			continue;
		if (of[r] == FAB_NONE) {
			of[r] = t->nblocks++;
			rep[of[r]] = s;
			t->block[of[r]] = (struct block){.parent = FAB_NONE, .level = level};
		}
		t->block[of[r]].ntops++;
		t->block[of[r]].nswitches++;
		t->plane[s] = last ? t->plane[s] : of[r]; /* its block, until they are sorted */
	}
	for (uint32_t b = 0; b < before; b++) {
		uint32_t in = of[last ? 0 : find(up, rep[b])];

		if (t->block[b].parent != FAB_NONE || in == FAB_NONE)
			continue;
		t->block[b].parent = in;
		t->block[in].nkids++;
		t->block[in].nswitches += t->block[b].nswitches;
	}
}

static void fill_blocks(struct tree *t)
{
	uint32_t tops = 0, kids = 0;

	for (uint32_t b = 0; b < t->nblocks; b++) {
		t->block[b].tops = tops;
		t->block[b].kids = kids;
		tops += t->block[b].ntops;
		kids += t->block[b].nkids;
		t->block[b].ntops = t->block[b].nkids = 0;
	}
	for (uint32_t b = 0; b + 1 < t->nblocks; b++) {
		struct block *up = &t->block[t->block[b].parent];

		t->kids[up->kids + up->nkids++] = b;
	}
	for (uint32_t s = 0; s < t->p->n; s++) {
		struct block *b = &t->block[tree_is_top(t, s) ? t->nblocks - 1 : t->plane[s]];

		t->tops[b->tops + b->ntops++] = s;
		t->plane[s] = tree_is_top(t, s) ? t->plane[s] : 0;
	}
}

static void make_blocks(struct tree *t)
{
	uint32_t n = t->p->n, *up = mem_array(n, sizeof(*up)), *of = mem_array(n, sizeof(*of));
	uint32_t *rep = mem_array(n, sizeof(*rep));

	find_planes(t, up);
	for (uint32_t s = 0; s < n; s++)
		up[s] = s;
	for (uint32_t l = 0; l < t->nlevels; l++) {
		join_level(t->p, up, l);
		add_blocks(t, l, up, of, rep);
	}
	fill_blocks(t);
	free(up);
	free(of);
	free(rep);
}

double tree_slot_width(const struct tree *t, uint32_t s)
{
	struct lay_extent e = lay_slot(t->p->hosts[s], tree_style(t, s));

	return 2 * MAX(e.left, e.right) + 1;
}

double tree_kid_gap(const struct tree *t, uint32_t b)
{
	return t->block[b].nswitches > 1 ? 4 : 0;
}

bool lay_tree(struct lay_part *p)
{
	struct tree t = {.p = p};

	if (!find_tree(&t))
		return false;
	t.block = mem_zarray(p->n, sizeof(*t.block));
	t.tops = mem_array(p->n, sizeof(*t.tops));
	t.kids = mem_array(p->n, sizeof(*t.kids));
	t.plane = mem_zarray(p->n, sizeof(*t.plane));
	make_blocks(&t);
	tree_order(&t);
	tree_place(&t);
	p->out->shape = LAYOUT_TREE;
	p->out->nlevels = t.nlevels;
	free(t.block);
	free(t.tops);
	free(t.kids);
	free(t.plane);
	return true;
}
