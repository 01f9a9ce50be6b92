/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains, rings and full meshes: switches in a row, or on a circle with their hosts outside. Keeps no state. Way in:
 * lay_line(), lay_full_mesh(). Does not place hosts.
 */
#include "draw/layout_priv.h"

enum {
	CHAIN_ROW = 16, /* a longer chain turns */
};

/* The switches in order along the links; false when they form neither a chain nor a ring. */
static bool walk(const struct lay_part *p, uint32_t *order, bool *ring)
{
	uint32_t from = FAB_NONE, before = FAB_NONE, at, ends = 0;

	for (uint32_t s = p->n; s-- > 0;) {
		if (lay_degree(p, s) > 2)
			return false;
		ends += lay_degree(p, s) == 1;
		from = lay_degree(p, s) == 1 ? s : from;
	}
	*ring = !ends;
	at = ends ? from : 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = p->first[at], next = p->adj[k];

		order[i] = at;
		if (next == before && lay_degree(p, at) == 2)
			next = p->adj[k + 1];
		before = at;
		at = next;
	}
	return true;
}

/* At the i-th of n places of a circle around (0, 0), from the top, with its hosts outside. */
static void on_circle(struct lay_part *p, uint32_t s, uint32_t i, double radius)
{
	double ux = lay_sin((double)i / p->n), uy = -lay_cos((double)i / p->n);

	p->x[s] = radius * ux;
	p->y[s] = radius * uy;
	p->seat[s] = (struct lay_seat){.style = LAY_FAN, .ux = ux, .uy = uy};
}

static double largest_disc(const struct lay_part *p)
{
	double disc = 0;

	for (uint32_t s = 0; s < p->n; s++)
		disc = MAX(disc, lay_disc(p->hosts[s]));
	return disc;
}

static void place_circle(struct lay_part *p, const uint32_t *order)
{
	double radius = lay_circle(p->n, largest_disc(p) + 0.5);

	for (uint32_t i = 0; i < p->n; i++)
		on_circle(p, order ? order[i] : i, i, radius);
}

/* From left to right; every second row back again. */
static void place_chain(struct lay_part *p, const uint32_t *order)
{
	uint32_t cols = p->n;
	double w = 0, h = 0;

	if (p->n > CHAIN_ROW)
		for (cols = CHAIN_ROW; cols * cols < 2 * p->n;)
			cols++;
	for (uint32_t s = 0; s < p->n; s++) {
		struct lay_extent e = lay_slot(p->hosts[s], LAY_CORNER);

		w = MAX(w, e.left + e.right + 3);
		h = MAX(h, e.up + e.down + 3);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t row = i / cols, col = row % 2 ? cols - 1 - i % cols : i % cols,
			 s = order[i];

		p->x[s] = col * w;
		p->y[s] = row * h;
		p->seat[s].style = p->n > CHAIN_ROW ? LAY_CORNER : LAY_ROWS;
	}
}

bool lay_line(struct lay_part *p)
{
	uint32_t *order = mem_array(p->n, sizeof(*order));
	bool ring, found = p->n > 1 && walk(p, order, &ring);

	if (found) {
		p->out->shape = ring ? LAYOUT_RING : LAYOUT_CHAIN;
		if (ring)
			place_circle(p, order);
		else
			place_chain(p, order);
	}
	free(order);
	return found;
}

bool lay_full_mesh(struct lay_part *p)
{
	if (p->n < 3)
		return false;
	for (uint32_t s = 0; s < p->n; s++)
		if (lay_degree(p, s) != p->n - 1)
			return false;
	p->out->shape = LAYOUT_FULL_MESH;
	place_circle(p, NULL);
	return true;
}
