/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places a tree: in each block the top switches above its blocks, these in one row or, where that would be too wide,
 * in several; of the whole tree then half of the rows is above the top switches, upside down. State: struct placer,
 * for one call. Way in: tree_place(). Does not sort.
 */
#include "draw/layout_tree_priv.h"

struct size {
	double w, h;
};

struct placer {
	struct tree *t;
	struct size *size; /* by block */
	uint32_t *rows;	   /* of blocks in a block */
};

static double slot_height(const struct tree *t, uint32_t s)
{
	struct lay_extent e = lay_slot(t->p->hosts[s], tree_style(t, s));

	return e.up + e.down;
}

/* ---- top switches: planes side by side, each in columns ---- */

struct band {
	double w, h;	       /* of all */
	double step_w, step_h; /* of a switch */
	double extra;	       /* beside each column when there is room */
	uint32_t cols;	       /* of a plane */
	uint32_t nplanes;
	uint32_t *count; /* switches of a plane */
};

#define PLANE_GAP 3.0

static uint32_t rows_of(uint32_t n, uint32_t cols)
{
	return cols ? (n + cols - 1) / cols : 0;
}

/* The width of all planes with so many columns each. */
static double band_width(const struct band *a, uint32_t cols)
{
	double w = 0;

	for (uint32_t i = 0; i < a->nplanes; i++)
		w += MIN(cols, a->count[i]) * a->step_w + (i ? PLANE_GAP : 0);
	return w;
}

/* In as many columns as there is room for (0: for all of them); planes stay apart. */
static void band_make(struct band *a, const struct tree *t, const struct block *b, double room)
{
	uint32_t most = 0, columns = 0;

	*a = (struct band){.nplanes = b->level + 1 == t->nlevels ? t->nplanes : 1};
	a->count = mem_zarray(a->nplanes, sizeof(*a->count));
	for (uint32_t k = 0; k < b->ntops; k++) {
		uint32_t s = t->tops[b->tops + k];

		a->step_w = MAX(a->step_w, tree_slot_width(t, s));
		a->step_h = MAX(a->step_h, slot_height(t, s) + 2);
		a->count[t->plane[s]]++;
		most = MAX(most, a->count[t->plane[s]]);
	}
	a->cols = most;
	while (room > 0 && a->cols > 1 && band_width(a, a->cols) > room)
		a->cols--;
	for (uint32_t i = 0; i < a->nplanes; i++)
		columns += MIN(a->cols, a->count[i]);
	a->w = band_width(a, a->cols);
	a->h = rows_of(most, a->cols) * a->step_h - 2;
	if (a->cols == most && columns && a->w < room) {
		a->extra = (room - a->w) / columns;
		a->w = room;
	}
}

/* From the left edge x, and y the edge of the first row; down: rows follow downwards, else upwards. */
static void band_place(const struct band *a, const struct tree *t, const struct block *b, double x,
		       double y, bool down)
{
	struct lay_part *p = t->p;
	double step = a->step_w + a->extra, sign = down ? 1 : -1;

	for (uint32_t k = 0; k < b->ntops;) {
		uint32_t plane = t->plane[t->tops[b->tops + k]], n = a->count[plane];

		for (uint32_t i = 0; i < n; i++, k++) {
			uint32_t s = t->tops[b->tops + k], row = i / a->cols;
			uint32_t used = MIN(a->cols, n - row * a->cols);
			double in = (MIN(a->cols, n) - used) * step / 2;

			p->x[s] = x + in + (i % a->cols + 0.5) * step;
			p->y[s] = y + sign * (LAYOUT_SWITCH_H / 2.0 + row * a->step_h);
			p->seat[s] = (struct lay_seat){.style = tree_style(t, s), .above = !down};
		}
		x += MIN(a->cols, n) * step + PLANE_GAP;
	}
}

/* ---- blocks ---- */

static uint32_t kid(const struct placer *c, const struct block *b, uint32_t k)
{
	return c->t->kids[b->kids + k];
}

/* All rows but the last have equally many blocks. */
static uint32_t row_start(const struct block *b, uint32_t rows, uint32_t r)
{
	uint32_t each = (b->nkids + rows - 1) / rows;

	return MIN(each * r, b->nkids);
}

static struct size row_size(const struct placer *c, const struct block *b, uint32_t rows,
			    uint32_t r)
{
	struct size z = {0, 0};

	for (uint32_t k = row_start(b, rows, r); k < row_start(b, rows, r + 1); k++) {
		z.w += c->size[kid(c, b, k)].w + tree_kid_gap(c->t, kid(c, b, k));
		z.h = MAX(z.h, c->size[kid(c, b, k)].h);
	}
	return z;
}

#define ROW_GAP 5.0

/* Between top switches and blocks, so that links are not too flat. */
static double fall(double width, uint32_t rows)
{
	double h = rows > 1 ? width / 12 : width / 6;

	return MAX(7, MIN(h, 44));
}

static struct size block_size(const struct placer *c, const struct block *b, uint32_t rows)
{
	struct size z = {0, 0};
	struct band a;

	for (uint32_t r = 0; r < rows; r++) {
		struct size row = row_size(c, b, rows, r);

		z.w = MAX(z.w, row.w);
		z.h += row.h + (r ? ROW_GAP : 0);
	}
	band_make(&a, c->t, b, rows > 1 ? z.w : 0);
	z.w = MAX(z.w, a.w);
	z.h += a.h + (b->nkids ? fall(z.w, rows) : 0);
	free(a.count);
	return z;
}

/* How far width and height are from those of a screen; a last row with few blocks counts a little. */
static double misfit(struct size z, const struct block *b, uint32_t rows)
{
	uint32_t each = row_start(b, rows, 1), last = b->nkids - row_start(b, rows, rows - 1);
	double ratio = z.w / z.h / 2.2;

	return (ratio > 1 ? ratio : 1 / ratio) * (1.5 - 0.5 * last / each);
}

/* One row unless that is too wide; then as many that the block fits a screen best. */
static void choose_rows(struct placer *c, uint32_t i)
{
	const struct block *b = &c->t->block[i];
	bool root = i + 1 == c->t->nblocks, pods = false;
	double least = 1e30;

	for (uint32_t k = 0; k < b->nkids; k++)
		pods = pods || c->t->block[kid(c, b, k)].nswitches > 1;
	c->rows[i] = b->nkids > 0;
	c->size[i] = block_size(c, b, c->rows[i]);
	if (c->size[i].w <= c->size[i].h * (pods ? 4.5 : 9))
		return;
	for (uint32_t rows = 2; rows <= MIN(b->nkids, 64); rows += root ? 2 : 1) {
		struct size z = block_size(c, b, rows);

		if (row_start(b, rows, rows - 1) < b->nkids && misfit(z, b, rows) < least) {
			least = misfit(z, b, rows);
			c->rows[i] = rows;
			c->size[i] = z;
		}
	}
}

static void place_block(struct placer *c, uint32_t i, double x, double y, bool down);

/* Rows r0 to r1 of the blocks inside, from y on; the width of the whole is w. */
static void place_rows(struct placer *c, const struct block *b, uint32_t rows, uint32_t r0,
		       uint32_t r1, struct lay_point at, double w, bool down)
{
	for (uint32_t r = r0; r < r1; r++) {
		struct size z = row_size(c, b, rows, r);
		uint32_t n = row_start(b, rows, r + 1) - row_start(b, rows, r);
		double extra = rows == 1 && n ? (w - z.w) / n : 0, x = at.x;

		x += rows > 1 ? (w - z.w) / 2 : 0;

		for (uint32_t k = row_start(b, rows, r); k < row_start(b, rows, r + 1); k++) {
			uint32_t in = kid(c, b, k);
			double gap = tree_kid_gap(c->t, in) + extra;

			place_block(c, in, x + gap / 2, at.y, down);
			x += c->size[in].w + gap;
		}
		at.y += (down ? 1 : -1) * (z.h + ROW_GAP);
	}
}

/* The left edge of a block is at x; its top switches begin at y and the rest follows downwards, or upwards. */
static void place_block(struct placer *c, uint32_t i, double x, double y, bool down)
{
	const struct block *b = &c->t->block[i];
	double w = c->size[i].w, sign = down ? 1 : -1;
	struct lay_point at;
	struct band a;

	band_make(&a, c->t, b, w);
	band_place(&a, c->t, b, x + (w - a.w) / 2, y, down);
	at = (struct lay_point){x, y + sign * (a.h + fall(w, c->rows[i]))};
	place_rows(c, b, c->rows[i], 0, c->rows[i], at, w, down);
	free(a.count);
}

/* The whole tree in several rows: half of them above the top switches. */
static void place_both_sides(struct placer *c)
{
	uint32_t i = c->t->nblocks - 1, rows = c->rows[i];
	const struct block *b = &c->t->block[i];
	double w = c->size[i].w;
	struct lay_point at = {0, -fall(w, rows)};
	struct band a;

	band_make(&a, c->t, b, w);
	band_place(&a, c->t, b, (w - a.w) / 2, 0, true);
	place_rows(c, b, rows, 0, rows / 2, at, w, false);
	at.y = a.h + fall(w, rows);
	place_rows(c, b, rows, rows / 2, rows, at, w, true);
	free(a.count);
}

/* ---- groups ---- */

static void add_planes(struct tree *t)
{
	const struct block *b = &t->block[t->nblocks - 1];
	uint32_t id = FAB_NONE, last = FAB_NONE, n = 0;
	bool several = t->nplanes > 1;

	if (several ? b->ntops < 2 * t->nplanes : b->ntops < 2)
		return;
	for (uint32_t k = 0; k < b->ntops; k++) {
		uint32_t s = t->tops[b->tops + k];

		if (t->plane[s] != last) {
			char name[24] = "top";

			if (several)
				snprintf(name, sizeof(name), "plane %u", ++n);
			id = lay_group_add(t->p->l, LAYOUT_PLANE, t->p->island, name);
			last = t->plane[s];
		}
		t->p->group[s] = id;
	}
}

/* Pods of the whole tree, then those inside each; a single switch is none, and one pod alone is none. Returns how
 * many there are. */
static uint32_t add_pods(struct tree *t, uint32_t i, uint32_t group, const char *prefix)
{
	const struct block *b = &t->block[i];
	uint32_t n = 0, large = 0;

	for (uint32_t k = 0; k < b->nkids; k++)
		large += t->block[t->kids[b->kids + k]].nswitches > 1;
	for (uint32_t k = 0; k < b->nkids; k++) {
		uint32_t in = t->kids[b->kids + k], id = group;
		char name[24] = "";

		if (t->block[in].nswitches > 1 && large > 1 && strlen(prefix) < 12) {
			snprintf(name, sizeof(name), "%.11s%s%u", prefix, *prefix ? "." : "pod ",
				 ++n);
			id = lay_group_add(t->p->l, LAYOUT_POD, group, name);
		}
		for (uint32_t s = 0; s < t->block[in].ntops; s++)
			t->p->group[t->tops[t->block[in].tops + s]] = id;
		add_pods(t, in, id, id == group ? prefix : name);
	}
	return n;
}

void tree_place(struct tree *t)
{
	struct placer c = {.t = t};
	uint32_t root = t->nblocks - 1;

	c.size = mem_array(t->nblocks, sizeof(*c.size));
	c.rows = mem_array(t->nblocks, sizeof(*c.rows));
	for (uint32_t i = 0; i < t->nblocks; i++)
		choose_rows(&c, i);
	if (c.rows[root] > 1)
		place_both_sides(&c);
	else
		place_block(&c, root, 0, 0, true);
	if (add_pods(t, root, t->p->island, ""))
		add_planes(t);
	free(c.size);
	free(c.rows);
}
