/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree as blocks: the top switches of a block, and below them the blocks into which it falls without these. The
 * last block is the whole tree, each block has a greater number than those inside it. layout_tree.c recognises trees
 * and makes blocks, layout_tree_order.c sorts, layout_tree_place.c places.
 */
#ifndef WEFT_DRAW_LAYOUT_TREE_PRIV_H
#define WEFT_DRAW_LAYOUT_TREE_PRIV_H

#include "draw/layout_priv.h"

struct block {
	uint32_t parent;
	uint32_t level;	      /* of its top switches */
	uint32_t ntops, tops; /* slices of tops[] and kids[] */
	uint32_t nkids, kids;
	uint32_t nswitches; /* in all */
};

struct tree {
	struct lay_part *p;
	uint32_t nlevels, nblocks, nplanes;
	struct block *block;
	uint32_t *tops;	 /* switches */
	uint32_t *kids;	 /* blocks */
	uint32_t *plane; /* switch -> plane, for those of the top level; others 0 */
};

static inline bool tree_is_top(const struct tree *t, uint32_t s)
{
	return t->p->level[s] + 1u == t->nlevels;
}

static inline enum lay_style tree_style(const struct tree *t, uint32_t s)
{
	return t->p->level[s] ? LAY_CORNER : LAY_ROWS;
}

double tree_slot_width(const struct tree *t, uint32_t s); /* with a gap */
double tree_kid_gap(const struct tree *t, uint32_t b);	  /* beside this block */
void tree_order(struct tree *t);
void tree_place(struct tree *t);

#endif
