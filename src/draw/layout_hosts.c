/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts beside their switch: in rows, or on arcs away from the links. Keeps no state. Way in: lay_slot(), lay_disc(),
 * lay_hosts(). Does not move switches.
 */
#include "draw/layout_priv.h"

#define HALF_W	   (LAYOUT_SWITCH_W / 2.0)
#define HALF_H	   (LAYOUT_SWITCH_H / 2.0)
#define HALF_HOST  (LAYOUT_HOST / 2.0)
#define ROWS_DOWN  3.0 /* from the switch to the first row of hosts */
#define CORNER_X   2.4 /* to the first column beside a link */
#define CORNER_Y   2.0
#define FAN_RADIUS 3.8	/* boxes do not touch in any direction */
#define FAN_STEP   1.48 /* more than the diagonal of a host, along an arc */
#define FAN_TURNS  0.38 /* how far a fan opens */

static uint32_t columns(uint32_t hosts)
{
	uint32_t c = 5, rows;

	while (c * c < 2 * hosts)
		c++;
	rows = (hosts + c - 1) / c;
	return rows ? (hosts + rows - 1) / rows : 0;
}

struct lay_extent lay_slot(uint32_t hosts, enum lay_style style)
{
	struct lay_extent e = {HALF_W, HALF_W, HALF_H, HALF_H};
	double cols = columns(hosts),
	       rows = hosts ? (hosts + columns(hosts) - 1) / columns(hosts) : 0;

	if (!hosts)
		return e;
	if (style == LAY_CORNER) {
		e.right = MAX(HALF_W, CORNER_X + (cols - 1) * LAYOUT_HOST + HALF_HOST);
		e.down = CORNER_Y + (rows - 1) * LAYOUT_HOST + HALF_HOST;
	} else {
		e.left = e.right = MAX(HALF_W, cols * HALF_HOST);
		e.down = ROWS_DOWN + (rows - 1) * LAYOUT_HOST + HALF_HOST;
	}
	return e;
}

static uint32_t fan_room(double radius)
{
	return 1 + (uint32_t)(FAN_TURNS * 6.283185307 * radius / FAN_STEP);
}

double lay_disc(uint32_t hosts)
{
	double r = FAN_RADIUS;

	if (!hosts)
		return 2.75;
	for (; hosts > fan_room(r); r += FAN_STEP)
		hosts -= fan_room(r);
	return r + 0.75;
}

static struct lay_point in_rows(uint32_t i, uint32_t hosts, const struct lay_seat *seat)
{
	uint32_t cols = columns(hosts), row = i / cols, col = i % cols;
	uint32_t used = MIN(cols, hosts - row * cols);
	struct lay_point at;

	if (seat->style == LAY_CORNER) {
		at.x = CORNER_X + col * LAYOUT_HOST;
		at.y = CORNER_Y + row * LAYOUT_HOST;
	} else {
		at.x = (2.0 * col + 1 - used) * HALF_HOST; /* the last row is centred */
		at.y = ROWS_DOWN + row * LAYOUT_HOST;
	}
	if (seat->above)
		at.y = -at.y;
	return at;
}

static struct lay_point in_fan(uint32_t i, uint32_t hosts, const struct lay_seat *seat)
{
	double r = FAN_RADIUS, t, c, s;
	uint32_t used;

	for (; i >= fan_room(r); r += FAN_STEP) {
		i -= fan_room(r);
		hosts -= fan_room(r);
	}
	used = MIN(hosts, fan_room(r));
	t = (2.0 * i + 1 - used) / 2 * FAN_STEP / (r * 6.283185307);
	c = lay_cos(t);
	s = lay_sin(t);
	return (struct lay_point){r * (seat->ux * c - seat->uy * s),
				  r * (seat->ux * s + seat->uy * c)};
}

void lay_hosts(struct lay *l)
{
	const struct fab *f = l->f;
	uint32_t *next = mem_zarray(l->n, sizeof(*next));

	for (node_id n = 0; n < f->nnodes; n++) {
		uint32_t s = l->spot[n];
		struct lay_point at = {0, 0};

		if (s == FAB_NONE)
			continue;
		if (!fab_is_switch(f, n))
			at = l->seat[s].style == LAY_FAN
				     ? in_fan(next[s]++, l->hosts[s], &l->seat[s])
				     : in_rows(next[s]++, l->hosts[s], &l->seat[s]);
		l->at[n].x = l->x[s] + at.x;
		l->at[n].y = l->y[s] + at.y;
	}
	free(next);
}
