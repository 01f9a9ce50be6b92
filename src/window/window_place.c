/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places nodes in rows: hosts below, switches above them by their distance from a host. State: none. Way in:
 * window_place(). Does not know shapes.
 */
#include "window/window_place.h"

enum { LEVELS = 250, APART_X = 6, APART_Y = 12 };

/* Switches at a host have level 1; each further link adds one. */
static void set_levels(const struct fab *f, uint8_t *level)
{
	node_id *queue = mem_array(f->nnodes + 1, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	for (node_id n = 0; n < f->nnodes; n++) {
		level[n] = fab_is_switch(f, n) ? LEVELS : 0;
		if (!level[n])
			queue[tail++] = n;
	}
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
			port_id q = f->ports[fab_port_id(f, n, p)].peer;
			node_id m = q == FAB_NONE ? FAB_NONE : f->ports[q].node;

			if (m == FAB_NONE || level[m] != LEVELS)
				continue;
			level[m] = (uint8_t)MIN(level[n] + 1, LEVELS - 1);
			queue[tail++] = m;
		}
	}
	for (node_id n = 0; n < f->nnodes; n++)
		level[n] = level[n] == LEVELS ? 1 : level[n]; /* no host is near */
	free(queue);
}

struct layout *window_place(const struct fab *f)
{
	struct layout *p = mem_zalloc(sizeof(*p));
	uint32_t row[LEVELS + 1] = {0}, in[LEVELS + 1] = {0}, widest = 0;
	unsigned top = 0;

	p->x = mem_zarray(f->nnodes, sizeof(*p->x));
	p->y = mem_zarray(f->nnodes, sizeof(*p->y));
	p->level = mem_zarray(f->nnodes, sizeof(*p->level));
	p->group = mem_array(f->nnodes, sizeof(*p->group));
	memset(p->group, 0xff, f->nnodes * sizeof(*p->group));
	set_levels(f, p->level);
	for (node_id n = 0; n < f->nnodes; n++) {
		widest = MAX(widest, ++row[p->level[n]]);
		top = MAX(top, p->level[n]);
	}
	for (node_id n = 0; n < f->nnodes; n++) {
		unsigned l = p->level[n];

		p->x[n] = ((float)in[l]++ + 0.5f) * (float)widest / (float)row[l] * APART_X;
		p->y[n] = (float)(top - l) * APART_Y;
	}
	return p;
}

void window_place_free(struct layout *p)
{
	free(p->x);
	free(p->y);
	free(p->level);
	free(p->group);
	free(p->groups);
	free(p);
}
