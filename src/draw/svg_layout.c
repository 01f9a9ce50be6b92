/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a layout to whole pixels. State: struct pic, owned by the caller. Way in: pic_layout(). Does not compute
 * positions (layout.c does) and does not write SVG.
 */
#include "draw/svg_priv.h"

static void size_boxes(struct pic *p)
{
	int most = 0;

	for (uint32_t s = 0; s < p->f->nswitches; s++) {
		size_t len = strlen(fab_node_name(p->f, p->f->switches[s]));

		p->half[p->f->switches[s]] = (int)MAX(MIN(len, PIC_LABEL), 3) * 3 + 4;
		most = MAX(most, p->half[p->f->switches[s]]);
	}
	p->scale = MAX(PIC_CELL, (2 * most + 4) / LAYOUT_SWITCH_W);
}

int pic_px(const struct pic *p, float v)
{
	return (int)(v * (float)p->scale + 0.5f);
}

void pic_layout(struct pic *p, const struct fab *f)
{
	*p = (struct pic){.f = f, .layout = layout_make(f)};
	p->x = mem_zarray(f->nnodes, sizeof(*p->x));
	p->y = mem_zarray(f->nnodes, sizeof(*p->y));
	p->half = mem_zarray(f->nnodes, sizeof(*p->half));
	size_boxes(p);
	for (node_id n = 0; n < f->nnodes; n++) {
		p->x[n] = pic_px(p, p->layout->x[n]);
		p->y[n] = pic_px(p, p->layout->y[n]) + PIC_HEAD;
	}
	p->width = MAX(420, pic_px(p, p->layout->width));
	p->height = PIC_HEAD + MAX(20, pic_px(p, p->layout->height));
}

bool pic_in_levels(const struct pic *p, node_id a, node_id b)
{
	const struct layout *l = p->layout;

	return l->part[a] == l->part[b] && l->parts[l->part[a]].shape == LAYOUT_TREE;
}

void pic_free(struct pic *p)
{
	layout_free(p->layout);
	free(p->x);
	free(p->y);
	free(p->half);
}
