/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pushes circles apart that overlap, a little in each round.  State: struct cells, for one call. Way in: lay_push_apart(). Does not know hops.
 */
#include <math.h>

#include "base/rng.h"
#include "draw/layout_free_priv.h"

enum {
	ROUNDS = 300,
	GROW_AFTER = 20,
	MOST_CELLS = 1 << 20,
};

/* Square cells as wide as the largest circle: what overlaps is in the same cell or beside it. */
struct cells {
	struct lay_part *p;
	double *disc, size, x0, y0;
	uint32_t cols, rows;
	uint32_t *head, *next; /* cell -> first switch -> next switch */
};

static uint32_t cell_col(const struct cells *c, uint32_t s)
{
	return (uint32_t)((c->p->x[s] - c->x0) / c->size);
}

static uint32_t cell_row(const struct cells *c, uint32_t s)
{
	return (uint32_t)((c->p->y[s] - c->y0) / c->size);
}

static void sort_into_cells(struct cells *c, double largest)
{
	const struct lay_part *p = c->p;
	double x1 = p->x[0], y1 = p->y[0];

	c->x0 = x1;
	c->y0 = y1;
	for (uint32_t s = 0; s < p->n; s++) {
		c->x0 = MIN(c->x0, p->x[s]);
		c->y0 = MIN(c->y0, p->y[s]);
		x1 = MAX(x1, p->x[s]);
		y1 = MAX(y1, p->y[s]);
	}
	for (c->size = 2 * largest + 1;; c->size *= 2) {
		double cols = (x1 - c->x0) / c->size + 2, rows = (y1 - c->y0) / c->size + 2;

		if (cols * rows <= MOST_CELLS) {
			c->cols = (uint32_t)cols;
			c->rows = (uint32_t)rows;
			break;
		}
	}
	memset(c->head, 0xff, (size_t)c->cols * c->rows * sizeof(*c->head));
	for (uint32_t s = p->n; s-- > 0;) {
		uint32_t at = cell_row(c, s) * c->cols + cell_col(c, s);

		c->next[s] = c->head[at];
		c->head[at] = s;
	}
}

/* Pushes two circles apart by as much as they overlap; returns their distance as a share of what it should be. */
static double push(struct cells *c, uint32_t a, uint32_t b, double strength)
{
	struct lay_part *p = c->p;
	double dx = p->x[b] - p->x[a], dy = p->y[b] - p->y[a], want = c->disc[a] + c->disc[b];
	double len = sqrt(dx * dx + dy * dy), by;

	if (len >= want)
		return 1;
	if (len < 1e-3) { /* in one place: any direction, but always the same */
		double t = (double)(hash64((uint64_t)a << 32 | b) % 4096) / 4096;

		dx = lay_cos(t);
		dy = lay_sin(t);
		len = 1e-3;
		by = strength * want / 2;
	} else {
		by = strength * (want - len) / len / 2;
	}
	p->x[a] -= dx * by;
	p->y[a] -= dy * by;
	p->x[b] += dx * by;
	p->y[b] += dy * by;
	return len / want;
}

/* All pairs of one cell with another, or with itself. */
static double push_cells(struct cells *c, uint32_t from, uint32_t to, double strength)
{
	double least = 1;

	for (uint32_t a = c->head[from]; a != FAB_NONE; a = c->next[a])
		for (uint32_t b = from == to ? c->next[a] : c->head[to]; b != FAB_NONE;
		     b = c->next[b]) {
			double share = push(c, a, b, strength);

			least = MIN(least, share);
		}
	return least;
}

/* One round over all pairs that can overlap; the least share of a distance. */
static double push_all(struct cells *c, double strength)
{
	double least = 1;

	for (uint32_t at = 0; at < c->cols * c->rows; at++) {
		uint32_t row = at / c->cols, col = at % c->cols;
		bool left = col > 0, right = col + 1 < c->cols, down = row + 1 < c->rows;
		const uint32_t to[] = {at, right ? at + 1 : FAB_NONE,
				       left && down ? at + c->cols - 1 : FAB_NONE,
				       down ? at + c->cols : FAB_NONE,
				       right && down ? at + c->cols + 1 : FAB_NONE};

		for (size_t i = 0; i < ARRAY_LEN(to) && c->head[at] != FAB_NONE; i++)
			if (to[i] != FAB_NONE) {
				double share = push_cells(c, at, to[i], strength);

				least = MIN(least, share);
			}
	}
	return least;
}

static void grow(struct lay_part *p, double by)
{
	for (uint32_t s = 0; s < p->n; s++) {
		p->x[s] *= by;
		p->y[s] *= by;
	}
}

/* Rounds until no two overlap; where they do not find room, everything grows a little in between. */
static void push_rounds(struct cells *c, double largest)
{
	double least = 0;

	for (uint32_t round = 1; round <= ROUNDS && least < 1; round++) {
		sort_into_cells(c, largest);
		least = push_all(c, 1.05);
		if (round % GROW_AFTER == 0 && least < 1)
			grow(c->p, 1.08);
	}
	sort_into_cells(c, largest);
	least = push_all(c, 0);
	if (least < 1)
		grow(c->p, 1.001 / MAX(least, 1e-3));
}

void lay_push_apart(struct lay_part *p)
{
	struct cells c = {.p = p};
	double largest = 0;

	c.disc = mem_array(p->n, sizeof(*c.disc));
	c.next = mem_array(p->n, sizeof(*c.next));
	c.head = mem_array(MOST_CELLS, sizeof(*c.head));
	for (uint32_t s = 0; s < p->n; s++) {
		c.disc[s] = lay_disc(p->hosts[s]) + 0.3;
		largest = MAX(largest, c.disc[s]);
	}
	push_rounds(&c, largest);
	free(c.disc);
	free(c.next);
	free(c.head);
}
