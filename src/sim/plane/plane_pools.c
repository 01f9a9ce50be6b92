/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of packets and cells. State: two pools in struct plane, and a list of free places in each
 * shard. Ways in: dpkt_new(), cell_new(), cell_copy(). Does not count packets: callers do.
 */
#include "sim/plane/plane_priv.h"

/* Twice as much room, in whole cache lines: two cells fill one. */
static void *pool_grow(void *old, size_t n, size_t *cap, size_t size)
{
	void *new;

	*cap = MAX(2 * *cap, (size_t)64);
	new = mem_lines(*cap, size);
	if (n)
		memcpy(new, old, n * size);
	free(old);
	return new;
}

void plane_own_init(struct plane_own *own, time_ps window_start, time_ps window_end)
{
	*own = (struct plane_own){
		.dpkt_free = PKT_NONE,
		.cell_free = CELL_NONE,
		.stats = {.window_start = window_start, .window_end = window_end}};
}

uint32_t dpkt_add(struct plane *pl)
{
	if (pl->pkts.n == pl->pkts.cap)
		pl->pkts.at =
			pool_grow(pl->pkts.at, pl->pkts.n, &pl->pkts.cap, sizeof(*pl->pkts.at));
	return (uint32_t)pl->pkts.n++;
}

uint32_t cell_add(struct plane *pl)
{
	if (pl->cells.n == pl->cells.cap)
		pl->cells.at =
			pool_grow(pl->cells.at, pl->cells.n, &pl->cells.cap, sizeof(*pl->cells.at));
	return (uint32_t)pl->cells.n++;
}

uint32_t dpkt_new(struct shard *sh)
{
	const struct plane *pl = sh->plane;
	uint32_t p = sh->own.dpkt_free;

	if (p == PKT_NONE)
		p = dpkt_add(sh->whole->plane);
	else
		sh->own.dpkt_free = pl->pkts.at[p].next_free;
	pl->pkts.at[p] =
		(struct dpkt){.smp = PKT_NONE, .pkey = 0xffff, .serial = pl->pkts.at[p].serial};
	return p;
}

void dpkt_free(struct shard *sh, uint32_t pkt)
{
	const struct plane *pl = sh->plane;

	pl->pkts.at[pkt].serial++;
	pl->pkts.at[pkt].next_free = sh->own.dpkt_free;
	sh->own.dpkt_free = pkt;
}

static uint32_t cell_take(struct shard *sh)
{
	uint32_t c = sh->own.cell_free;

	if (c == CELL_NONE)
		return cell_add(sh->whole->plane);
	sh->own.cell_free = sh->plane->cells.at[c].next;
	return c;
}

uint32_t cell_new(struct shard *sh, uint32_t pkt)
{
	const struct plane *pl = sh->plane;
	const struct dpkt *p = &pl->pkts.at[pkt];
	uint32_t c = cell_take(sh);

	pl->cells.at[c] = (struct cell){.pkt = pkt,
					.next = CELL_NONE,
					.bytes = p->bytes,
					.blocks = p->blocks,
					.smp = p->smp != PKT_NONE,
					.serial = p->serial};
	return c;
}

uint32_t cell_copy(struct shard *sh, uint32_t cell)
{
	const struct plane *pl = sh->plane;
	uint32_t c = cell_take(sh);

	pl->cells.at[c] = pl->cells.at[cell];
	pl->cells.at[c].next = CELL_NONE;
	return c;
}

void cell_free(struct shard *sh, uint32_t cell)
{
	const struct plane *pl = sh->plane;

	if (!pl->cells.at[cell].trail)
		dpkt_free(sh, pl->cells.at[cell].pkt);
	pl->cells.at[cell].next = sh->own.cell_free;
	sh->own.cell_free = cell;
}
