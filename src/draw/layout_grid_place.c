/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places a grid: the first two dimensions are columns and rows of a plane, the third sets planes side by side, the
 * fourth sets rows of planes below each other, and so on in turn. Rows and columns that are rings are bent a little,
 * and planes are set off, so that no link runs through the switches between its ends. Keeps no state. Way in:
 * grid_place(). Does not recognise grids.
 */
#include "draw/layout_grid_priv.h"

/* What the place at i of n is set off sideways: 0 at both ends, 1 in the middle. */
static double bow(uint32_t i, uint32_t n)
{
	double t = n > 1 ? (2.0 * i - (n - 1)) / (n - 1) : 0;

	return 1 - t * t;
}

/* How far the middle of a ring is set off when the switches beside its ends shall be off the line by `free`. */
static double sag(const struct grid_dim *d, double free)
{
	return d->ring && d->size > 2 ? free / bow(1, d->size) : 0;
}

/* One dimension: from a coordinate to a shift along its axis and across it. */
struct axis {
	double pitch;	    /* along, from one to the next */
	double lean, bulge; /* across: of each step, and of the middle */
};

static struct lay_point shift(const struct axis *a, const struct grid_dim *d, uint32_t i, bool down)
{
	double along = a->pitch * i, across = a->lean * i + a->bulge * bow(i, d->size);

	return down ? (struct lay_point){across, along} : (struct lay_point){along, across};
}

static double across(const struct axis *a, const struct grid_dim *d)
{
	double most = 0;

	for (uint32_t i = 0; i < d->size; i++)
		most = MAX(most, a->lean * i + a->bulge * bow(i, d->size));
	return most;
}

/* Axes for all dimensions. The pitch of planes is what the dimensions before take; bent rows of one plane lie in each
 * other without touching. */
static void find_axes(const struct grid *g, struct axis *axis)
{
	double w = 0, h = 0, cell_w, cell_h;
	struct lay_extent most = {0, 0, 0, 0};

	for (uint32_t s = 0; s < g->p->n; s++) {
		struct lay_extent e = lay_slot(g->p->hosts[s], LAY_CORNER);

		most.left = MAX(most.left, e.left);
		most.right = MAX(most.right, e.right);
		most.up = MAX(most.up, e.up);
		most.down = MAX(most.down, e.down);
	}
	w = cell_w = most.left + most.right + 3;
	h = cell_h = most.up + most.down + 3;
	for (uint32_t d = 0; d < g->ndims; d++) {
		const struct grid_dim *dim = &g->dim[d];
		bool down = d % 2;
		double length = down ? h : w, cell = down ? cell_h : cell_w;
		double free = down ? LAYOUT_SWITCH_W / 2.0 + 1 : LAYOUT_SWITCH_H / 2.0 + 0.8;

		axis[d].pitch = d < 2 ? cell : length + 6;
		axis[d].bulge = sag(dim, free);
		/* a link to the next plane passes the neighbour of its switch with room to spare */
		axis[d].lean = d < 2 ? 0
				     : free * 0.8 * axis[d].pitch / cell +
					       axis[d].bulge * bow(1, dim->size);
		length = axis[d].pitch * (dim->size - 1) + length;
		w = down ? w + across(&axis[d], dim) : length;
		h = down ? length : h + across(&axis[d], dim);
	}
}

/* ---- groups ---- */

static uint32_t places_from(const struct grid *g, uint32_t d)
{
	uint32_t n = 1;

	for (; d < g->ndims; d++)
		n *= g->dim[d].size;
	return n;
}

/* Which group a switch is in: a number made of the coordinates from dimension d on, the last one counts most. */
static uint32_t group_number(const struct grid *g, uint32_t s, uint32_t d)
{
	uint32_t at = 0;

	for (uint32_t i = g->ndims; i-- > d;)
		at = at * g->dim[i].size + g->coord[(size_t)s * GRID_DIMS + i];
	return at;
}

static void add_groups(struct grid *g)
{
	uint32_t d = MIN(g->ndims - 1, 2u), n = places_from(g, d), first = FAB_NONE;
	bool rows = g->ndims == 2;

	if (rows && (g->dim[0].ring || g->p->n < 16)) /* bent rows lie in each other */
		return;
	for (uint32_t i = 0; i < n; i++) {
		char name[24];
		uint32_t id;

		snprintf(name, sizeof(name), "%s %u", rows ? "row" : "plane", i + 1);
		id = lay_group_add(g->p->l, rows ? LAYOUT_ROW : LAYOUT_PLANE, g->p->island, name);
		first = i ? first : id;
	}
	for (uint32_t s = 0; s < g->p->n; s++)
		g->p->group[s] = first + group_number(g, s, d);
}

void grid_place(struct grid *g)
{
	struct lay_part *p = g->p;
	struct axis axis[GRID_DIMS];

	find_axes(g, axis);
	for (uint32_t s = 0; s < p->n; s++) {
		p->x[s] = p->y[s] = 0;
		for (uint32_t d = 0; d < g->ndims; d++) {
			struct lay_point at = shift(&axis[d], &g->dim[d],
						    g->coord[(size_t)s * GRID_DIMS + d], d % 2);

			p->x[s] += at.x;
			p->y[s] += at.y;
		}
		p->seat[s].style = LAY_CORNER;
	}
	p->out->shape = LAYOUT_GRID;
	p->out->ndims = g->ndims;
	for (uint32_t d = 0; d < g->ndims; d++) {
		p->out->dims[d] = g->dim[d].size;
		p->out->wrap |= (uint32_t)g->dim[d].ring << d;
	}
	add_groups(g);
}
