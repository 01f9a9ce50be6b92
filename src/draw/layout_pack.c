/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Islands side by side, positions rounded, rectangles of islands and groups. State: struct lay. Way in:
 * lay_group_add(), lay_pack(). Does not place the nodes of an island, except those without a switch.
 */
#include <math.h>

#include "draw/layout_priv.h"

#define ISLAND_GAP 8.0
#define PAD	   0.75 /* of a group around its boxes and the groups inside */
#define LOOSE_STEP 3.0	/* between nodes without a switch */

struct rect {
	double x0, y0, x1, y1;
};

static const struct rect nothing = {1e30, 1e30, -1e30, -1e30};

static void cover(struct rect *r, double x, double y, double half_w, double half_h)
{
	r->x0 = MIN(r->x0, x - half_w);
	r->y0 = MIN(r->y0, y - half_h);
	r->x1 = MAX(r->x1, x + half_w);
	r->y1 = MAX(r->y1, y + half_h);
}

static void cover_node(const struct lay *l, struct rect *r, node_id n, double x, double y)
{
	if (fab_is_switch(l->f, n))
		cover(r, x, y, LAYOUT_SWITCH_W / 2.0, LAYOUT_SWITCH_H / 2.0);
	else
		cover(r, x, y, LAYOUT_HOST / 2.0, LAYOUT_HOST / 2.0);
}

uint32_t lay_group_add(struct lay *l, enum layout_group_kind kind, uint32_t parent,
		       const char *name)
{
	struct layout_group g = {.parent = parent, .kind = (uint8_t)kind};

	snprintf(g.name, sizeof(g.name), "%s", name);
	vec_push(&l->groups, g);
	return (uint32_t)l->groups.n - 1;
}

/* ---- nodes without a switch ---- */

/* The next node without a switch, beside those that it is linked to. */
static uint32_t take_loose(struct lay *l, node_id n, uint32_t part, node_id *list, uint32_t count)
{
	const struct fab *f = l->f;
	uint32_t head = count;

	l->out->part[n] = part;
	list[count++] = n;
	for (; head < count; head++)
		for (unsigned i = 1; i <= f->nodes[list[head]].nports; i++) {
			port_id peer = f->ports[fab_port_id(f, list[head], i)].peer;
			node_id m = peer == FAB_NONE ? list[head] : f->ports[peer].node;

			if (l->out->part[m] == FAB_NONE) {
				l->out->part[m] = part;
				list[count++] = m;
			}
		}
	return count;
}

/* All of them in rows, as an island of its own. */
static void place_loose(struct lay *l)
{
	const struct fab *f = l->f;
	node_id *list = mem_array(f->nnodes, sizeof(*list));
	uint32_t count = 0, cols = 1, part = l->out->nparts;

	for (node_id n = 0; n < f->nnodes; n++) {
		if (l->spot[n] != FAB_NONE && !fab_is_switch(f, n))
			l->out->part[n] = l->out->part[l->node[l->spot[n]]];
		else if (l->spot[n] == FAB_NONE && l->out->part[n] == FAB_NONE)
			count = take_loose(l, n, part, list, count);
	}
	while (cols * cols < 2 * count)
		cols++;
	for (uint32_t i = 0; i < count; i++)
		l->at[list[i]] =
			(struct lay_point){(i % cols) * LOOSE_STEP, (i / cols) * LOOSE_STEP};
	if (count) {
		l->out->parts[part] = (struct layout_part){.shape = LAYOUT_NO_SWITCH, .nlevels = 1};
		l->out->nparts++;
	}
	free(list);
}

/* ---- islands ---- */

struct shelf {
	struct lay *l;
	struct rect *rect;
	uint32_t *order;
};

static double height(const struct shelf *h, uint32_t p)
{
	return h->rect[p].y1 - h->rect[p].y0;
}

/* Tall ones first, nodes without a switch last. */
static int by_height(const void *a, const void *b, void *arg)
{
	const struct shelf *h = arg;
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
	bool pl = h->l->out->parts[p].shape == LAYOUT_NO_SWITCH;
	bool ql = h->l->out->parts[q].shape == LAYOUT_NO_SWITCH;

	if (pl != ql)
		return pl ? 1 : -1;
	if (height(h, p) > height(h, q) || height(h, p) < height(h, q))
		return height(h, p) > height(h, q) ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* Rows of islands in a square, roughly; offsets that move each one to its place. */
static void shelve(struct shelf *h, struct lay_point *by)
{
	uint32_t n = h->l->out->nparts;
	double area = 0, widest = 0, x = PAD * 4, y = PAD * 4, row = 0;

	for (uint32_t p = 0; p < n; p++) {
		double w = h->rect[p].x1 - h->rect[p].x0 + ISLAND_GAP;

		area += w * (height(h, p) + ISLAND_GAP);
		widest = MAX(widest, w);
		h->order[p] = p;
	}
	qsort_r(h->order, n, sizeof(*h->order), by_height, h);
	widest = MAX(widest, 1.3 * sqrt(area));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = h->order[i];
		double w = h->rect[p].x1 - h->rect[p].x0;

		if (x > PAD * 4 && x + w > widest + PAD * 4) {
			x = PAD * 4;
			y += row + ISLAND_GAP;
			row = 0;
		}
		by[p] = (struct lay_point){x - h->rect[p].x0, y - h->rect[p].y0};
		x += w + ISLAND_GAP;
		row = MAX(row, height(h, p));
	}
}

static double to_64th(double v)
{
	return (double)(int64_t)(v * 64 + 0.5) / 64;
}

static void move_islands(struct lay *l)
{
	uint32_t n = l->out->nparts;
	struct shelf h = {.l = l};
	struct lay_point *by = mem_array(n, sizeof(*by));

	h.rect = mem_array(n, sizeof(*h.rect));
	h.order = mem_array(n, sizeof(*h.order));
	for (uint32_t p = 0; p < n; p++)
		h.rect[p] = nothing;
	for (node_id v = 0; v < l->f->nnodes; v++)
		cover_node(l, &h.rect[l->out->part[v]], v, l->at[v].x, l->at[v].y);
	shelve(&h, by);
	for (node_id v = 0; v < l->f->nnodes; v++) {
		const struct lay_point *b = &by[l->out->part[v]];

		l->out->x[v] = (float)to_64th(l->at[v].x + b->x);
		l->out->y[v] = (float)to_64th(l->at[v].y + b->y);
	}
	free(by);
	free(h.rect);
	free(h.order);
}

/* ---- rectangles ---- */

static void frame_groups(struct lay *l, struct rect *r)
{
	uint32_t n = l->out->ngroups;
	struct layout_group *g = l->out->groups;

	for (node_id v = 0; v < l->f->nnodes; v++) {
		uint32_t in = l->out->group[v];

		if (in == FAB_NONE)
			continue;
		cover_node(l, &r[in], v, l->out->x[v], l->out->y[v]);
		g[in].nswitches += fab_is_switch(l->f, v);
		g[in].nhosts += !fab_is_switch(l->f, v);
	}
	for (uint32_t i = n; i-- > 0;) {
		g[i].x0 = (float)(r[i].x0 - PAD);
		g[i].y0 = (float)(r[i].y0 - PAD);
		g[i].x1 = (float)(r[i].x1 + PAD);
		g[i].y1 = (float)(r[i].y1 + PAD);
		if (g[i].parent == FAB_NONE)
			continue;
		cover(&r[g[i].parent], g[i].x0, g[i].y0, 0, 0);
		cover(&r[g[i].parent], g[i].x1, g[i].y1, 0, 0);
		g[g[i].parent].nswitches += g[i].nswitches;
		g[g[i].parent].nhosts += g[i].nhosts;
	}
}

static void frame_parts(struct lay *l, struct rect *r)
{
	struct layout *o = l->out;

	for (node_id v = 0; v < l->f->nnodes; v++) {
		cover_node(l, &r[o->part[v]], v, o->x[v], o->y[v]);
		o->parts[o->part[v]].nswitches += fab_is_switch(l->f, v);
		o->parts[o->part[v]].nhosts += !fab_is_switch(l->f, v);
		o->width = MAX(o->width, o->x[v] + 6);
		o->height = MAX(o->height, o->y[v] + 5);
	}
	for (uint32_t p = 0; p < o->nparts; p++) {
		o->parts[p].x0 = (float)r[p].x0;
		o->parts[p].y0 = (float)r[p].y0;
		o->parts[p].x1 = (float)r[p].x1;
		o->parts[p].y1 = (float)r[p].y1;
	}
}

void lay_pack(struct lay *l)
{
	struct layout *o = l->out;
	uint32_t most;
	struct rect *r;

	place_loose(l);
	move_islands(l);
	for (node_id v = 0; v < l->f->nnodes; v++) {
		o->level[v] = fab_is_switch(l->f, v) ? (uint8_t)(l->level[l->spot[v]] + 1) : 0;
		o->group[v] = l->spot[v] == FAB_NONE ? FAB_NONE : l->group[l->spot[v]];
	}
	o->ngroups = (uint32_t)l->groups.n;
	o->groups = l->groups.at;
	most = MAX(o->ngroups, o->nparts);
	r = mem_array(most, sizeof(*r));
	for (uint32_t i = 0; i < most; i++)
		r[i] = nothing;
	frame_groups(l, r);
	for (uint32_t i = 0; i < most; i++)
		r[i] = nothing;
	frame_parts(l, r);
	free(r);
}
