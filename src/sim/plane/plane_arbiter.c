/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link arbiter (thesis 2.4.3): which VL of a port sends next, by the two priority tables and
 * the credits. State: the position in each table, in struct plane_port. Way in: arbiter_pick().
 * Does not send.
 */
#include "sim/plane/plane_priv.h"

enum { WEIGHT = 4 }; /* of each VL without tables, in units of 64 bytes */

/* One entry of a priority table; without tables from the SM every VL in turn, 256 bytes each. */
static bool table_entry(const struct shard *sh, const struct plane *pl, port_id port, bool high,
			unsigned i, unsigned *vl, unsigned *weight)
{
	const struct iba_vlarb_table *t = sh->ports[port].vlarb;

	if (!t) {
		*vl = i;
		*weight = high ? 0 : WEIGHT;
		return i < pl->nvl;
	}
	if (i >= MIN(sh->cfg->vlarb_cap, 64))
		return false;
	t += (high ? 2 : 0) + i / 32;
	*vl = t->vl[i % 32];
	*weight = t->weight[i % 32];
	return true;
}

/* Data VLs, as a mask, whose heads are ready and have credits. */
static uint32_t sendable(const struct shard *sh, const struct plane *pl, port_id port)
{
	uint32_t mask = 0;

	for (uint32_t left = pl->ports[port].queued & ((1u << pl->nvl) - 1); left;
	     left &= left - 1) {
		unsigned vl = (unsigned)__builtin_ctz(left);

		mask |= (uint32_t)arbiter_can_send(sh, port, vl) << vl;
	}
	return mask;
}

/* The slot, of those that can send, that may send next by this table, or nslots. Goes once around the
 * table: where nothing can be sent, that is one step. */
static unsigned table_pick(const struct shard *sh, const struct plane *pl, port_id port, bool high,
			   struct arb_table *a, uint32_t can)
{
	unsigned vl, weight, size = sh->ports[port].vlarb ? MIN(sh->cfg->vlarb_cap, 64) : pl->nvl;

	for (unsigned step = can ? 0 : size; step <= size; step++) {
		if (table_entry(sh, pl, port, high, a->at, &vl, &weight) && weight &&
		    vl < pl->nvl && a->left > 0 && can >> vl & 1)
			return vl;
		a->at = (uint8_t)(a->at + 1u < size ? a->at + 1u : 0);
		if (table_entry(sh, pl, port, high, a->at, &vl, &weight))
			a->left = (int16_t)weight;
	}
	return pl->nslots;
}

static unsigned high_limit(const struct shard *sh, port_id port)
{
	return sh->ports[port].pi.vl_high_limit;
}

/* Which data VL sends next: the high table while its counter lasts, else the low one, else the
 * high. */
unsigned arbiter_pick(struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	unsigned limit = high_limit(sh, port), blocks, slot;
	bool may_high = limit == 255 || p->high_left >= 0;
	uint32_t can = sendable(sh, pl, port);

	slot = sh->ports[port].vlarb && may_high ? table_pick(sh, pl, port, true, &p->high, can)
						 : pl->nslots;
	if (slot < pl->nslots) {
		blocks = pl->cells.at[pl->out[chan_of(pl, port, slot)].head].blocks;
		p->high.left = (int16_t)(p->high.left - (int)blocks);
		p->high_left -= limit ? (int32_t)blocks * 64 : 1; /* 0: one packet */
		return slot;
	}
	slot = table_pick(sh, pl, port, false, &p->low, can);
	p->high_left = limit ? (int32_t)limit * 4096 : 0;
	if (slot < pl->nslots) {
		blocks = pl->cells.at[pl->out[chan_of(pl, port, slot)].head].blocks;
		p->low.left = (int16_t)(p->low.left - (int)blocks);
		return slot;
	}
	if (sh->ports[port].vlarb && !may_high)
		slot = table_pick(sh, pl, port, true, &p->high, can);
	return slot;
}

/* The same where nothing is queued. Without tables it is one step in the list of VLs. */
void arbiter_idle(struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	unsigned limit = high_limit(sh, port);

	if (sh->ports[port].vlarb) {
		arbiter_pick(sh, port);
		return;
	}
	p->low.at = (uint8_t)(p->low.at + 1u < pl->nvl ? p->low.at + 1u : 0);
	p->low.left = WEIGHT;
	p->high_left = limit ? (int32_t)limit * 4096 : 0;
}
