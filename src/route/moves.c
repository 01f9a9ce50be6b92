/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which entries of tables a move of LIDs changes, and the change itself. Keeps no state; the ways in are
 * rt_moves_effects() and rt_moves_apply(). Chooses no order: moves_plan.c does.
 */
#include "route/moves.h"

/* A move as the rows see it. */
struct column {
	uint16_t lid, like; /* like 0: empty */
	uint32_t only;	    /* the one switch that changes, FAB_NONE: any */
};

static int column_cmp(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	return (x->lid > y->lid) - (x->lid < y->lid);
}

static uint8_t entry(const uint8_t *row, const struct rt_tables *t, uint32_t lid)
{
	return lid && lid <= t->top_lid ? row[lid] : IBA_PORT_NONE;
}

/* The switch from which packets to this LID leave for a host or for its own port 0, FAB_NONE when they
 * do not arrive. Routes of all switches end there. */
static uint32_t last_switch(const struct fab *f, const struct rt_tables *t, uint32_t lid)
{
	uint32_t s = 0;

	for (uint32_t hops = 0; hops < f->nswitches; hops++) {
		node_id n = f->switches[s];
		unsigned port = entry(rt_row(t, s), t, lid);
		port_id peer;

		if (port == 0)
			return s;
		if (port > f->nodes[n].nports)
			return FAB_NONE;
		peer = f->ports[fab_port_id(f, n, port)].peer;
		if (peer == FAB_NONE)
			return FAB_NONE;
		if (!fab_is_switch(f, f->ports[peer].node))
			return s;
		s = f->switch_index[f->ports[peer].node];
	}
	return FAB_NONE;
}

static struct column *columns_make(const struct fab *f, const struct rt_tables *t,
				   const struct rt_move *m, size_t n)
{
	struct column *c = mem_array(n, sizeof(*c));

	for (size_t i = 0; i < n; i++) {
		uint32_t at = FAB_NONE;

		if (f && f->nswitches && m[i].like)
			at = last_switch(f, t, m[i].like);
		if (at != FAB_NONE && last_switch(f, t, m[i].lid) != at)
			at = FAB_NONE;
		c[i] = (struct column){m[i].lid, m[i].like, at};
	}
	qsort(c, n, sizeof(*c), column_cmp);
	return c;
}

void rt_moves_effects(const struct fab *f, const struct rt_tables *t, const struct rt_move *m,
		      size_t n, rt_move_entries *out)
{
	struct column *c = columns_make(f, t, m, n);

	for (uint32_t s = 0; s < t->nswitches; s++) {
		const uint8_t *row = rt_row(t, s);

		for (size_t i = 0; i < n; i++) {
			uint8_t from = entry(row, t, c[i].lid), to = entry(row, t, c[i].like);

			if (from != to && (c[i].only == FAB_NONE || c[i].only == s))
				vec_push(out, (struct rt_move_entry){s, c[i].lid, from, to, 0});
		}
	}
	free(c);
}

/* Rows of `from` bytes as rows of `to` bytes; new bytes are `fill`. */
static uint8_t *restride(uint8_t *rows, size_t n, uint32_t from, uint32_t to, uint8_t fill)
{
	uint8_t *wide = aligned_alloc(64, MAX(n * to, (size_t)64));

	if (!wide)
		mem_none();
	for (size_t i = 0; i < n; i++) {
		memcpy(wide + i * to, rows + i * from, from);
		memset(wide + i * to + from, fill, to - from);
	}
	free(rows);
	return wide;
}

void rt_moves_reach(struct rt_tables *t, uint32_t lid)
{
	uint32_t stride = (lid + 64) & ~63u;

	if (lid <= t->top_lid)
		return;
	if (stride > t->stride) {
		t->lft = restride(t->lft, t->nswitches, t->stride, stride, IBA_PORT_NONE);
		if (t->lanes)
			t->lanes->sl =
				restride(t->lanes->sl, t->lanes->nrows, t->stride, stride, 0);
		t->stride = stride;
	}
	t->top_lid = lid;
}

void rt_moves_apply(struct rt_tables *t, const rt_move_entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		rt_row(t, e->at[i].sw)[e->at[i].lid] = e->at[i].to;
}

void rt_moves_apply_stage(struct rt_tables *t, const rt_move_entries *e, unsigned stage)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->at[i].stage == stage)
			rt_row(t, e->at[i].sw)[e->at[i].lid] = e->at[i].to;
}

void rt_moves_undo(struct rt_tables *t, const rt_move_entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		rt_row(t, e->at[i].sw)[e->at[i].lid] = e->at[i].from;
}

static bool same_block(const struct rt_move_entry *a, const struct rt_move_entry *b)
{
	return a->sw == b->sw && a->lid / 64 == b->lid / 64;
}

uint32_t rt_moves_blocks(const rt_move_entries *e, uint32_t *switches)
{
	uint32_t blocks = 0, rows = 0;

	for (size_t i = 0, first = 0; i < e->n; i++) {
		size_t k;

		rows += !i || e->at[i].sw != e->at[i - 1].sw;
		if (!same_block(&e->at[first], &e->at[i]))
			first = i;
		/* at most 64 entries are in a block */
		for (k = first; k < i && e->at[k].stage != e->at[i].stage; k++)
			;
		blocks += k == i;
	}
	if (switches)
		*switches = rows;
	return blocks;
}
