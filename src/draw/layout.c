/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The layout of a fabric: the shape of each island is recognised, its switches are placed, then hosts and islands.
 * State: struct lay, for one call. Way in: layout_make(). Does not draw.
 */
#include "draw/layout_priv.h"

static const char *const shape_names[LAYOUT_NSHAPES] = {
	[LAYOUT_SINGLE] = "single switch",
	[LAYOUT_CHAIN] = "chain",
	[LAYOUT_RING] = "ring",
	[LAYOUT_GRID] = "grid",
	[LAYOUT_TREE] = "tree",
	[LAYOUT_FULL_MESH] = "full mesh",
	[LAYOUT_DRAGONFLY] = "dragonfly",
	[LAYOUT_FREE] = "free",
	[LAYOUT_NO_SWITCH] = "no switch",
};

const char *layout_shape_name(enum layout_shape shape)
{
	return shape_names[shape];
}

static bool single(struct lay_part *p)
{
	p->out->shape = LAYOUT_SINGLE;
	return p->n == 1;
}

/* A short line with hosts at its ends is rather a tree. */
static bool long_line(struct lay_part *p)
{
	return p->n > 4 && lay_line(p);
}

/* The first that fits. */
static void place_part(struct lay_part *p)
{
	static bool (*const shapes[])(struct lay_part *) = {
		single,	  long_line,	 lay_grid,	lay_tree,
		lay_line, lay_full_mesh, lay_dragonfly, lay_damaged_grid,
	};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		if (shapes[i](p))
			return;
	lay_free(p);
}

/* Where there are several islands, those of more than one node are groups. */
static uint32_t island_group(struct lay *l, const struct lay_part *p, uint32_t *number)
{
	char name[24];

	if (l->out->nparts < 2 || (p->n == 1 && !p->hosts[0]))
		return FAB_NONE;
	snprintf(name, sizeof(name), "island %u", ++*number);
	return lay_group_add(l, LAYOUT_ISLAND, FAB_NONE, name);
}

static void place_parts(struct lay *l)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < l->out->nparts; i++) {
		uint32_t at = l->start[i];
		struct lay_part p = {
			.l = l,
			.out = &l->out->parts[i],
			.n = l->start[i + 1] - at,
			.first = l->first + at,
			.adj = l->adj,
			.hosts = l->hosts + at,
			.linked = l->linked + at,
			.x = l->x + at,
			.y = l->y + at,
			.level = l->level + at,
			.group = l->group + at,
			.seat = l->seat + at,
		};

		p.out->nlevels = 1;
		p.island = island_group(l, &p, &number);
		for (uint32_t s = 0; s < p.n; s++)
			p.group[s] = p.island;
		place_part(&p);
	}
}

struct layout *layout_make(const struct fab *f)
{
	struct layout *o = mem_zalloc(sizeof(*o));
	struct lay l = {.out = o};

	o->nnodes = f->nnodes;
	o->x = mem_zarray(f->nnodes, sizeof(*o->x));
	o->y = mem_zarray(f->nnodes, sizeof(*o->y));
	o->level = mem_zarray(f->nnodes, sizeof(*o->level));
	o->group = mem_zarray(f->nnodes, sizeof(*o->group));
	o->part = mem_zarray(f->nnodes, sizeof(*o->part));
	o->parts = mem_zarray((size_t)f->nswitches + 1, sizeof(*o->parts));
	lay_graph(&l, f);
	place_parts(&l);
	lay_hosts(&l);
	lay_pack(&l);
	lay_graph_free(&l);
	return o;
}

void layout_free(struct layout *l)
{
	if (!l)
		return;
	free(l->x);
	free(l->y);
	free(l->level);
	free(l->group);
	free(l->part);
	free(l->parts);
	free(l->groups);
	free(l);
}
