/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The linear table of each switch, as far as acknowledged Sets tell. State: dev.rows, kept by
 * GUID through every discovery. Does not send anything.
 */
#include "sm/tables/random_tables.h"

uint32_t sm_row_find(struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->dev.row_by_guid, guid);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)sm->dev.rows.n;
	vec_push(&sm->dev.rows, (struct sm_row){.guid = guid, .rank = UINT64_MAX});
	map64_put(&sm->dev.row_by_guid, guid, at);
	return at;
}

void sm_row_forget(struct sm *sm, uint32_t row)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	sm_row_all_unknown(sm, row);
	sm_maps_unknown(sm, r->guid);
	sm_mft_unknown(sm, r->guid);
	if (r->rft)
		sm_rft_forget(r->rft);
	r->rank = UINT64_MAX;
}

/*
 * With no port Armed or Active it may have restarted. Its LID shows that; but not if a Set with its LID had to be repeated,
 * which may have arrived after the restart.
 */
void sm_row_ports_read(struct sm *sm, uint32_t row, bool armed)
{
	if (!armed && sm->dev.rows.at[row].lid_repeated)
		sm_row_forget(sm, row);
	sm->dev.rows.at[row].lid_repeated &= !armed;
}

void sm_row_restarted(struct sm *sm, uint32_t row)
{
	sm_row_forget(sm, row);
	sm->dev.rows.at[row].fresh = true;
	sm_mft_restarted(sm, sm->dev.rows.at[row].guid);
	memset(sm->dev.rows.at[row].mapped, 0, sizeof(sm->dev.rows.at[row].mapped));
	sm_disabled_doubt(sm, row);
}

const uint8_t *sm_row_block(const struct sm *sm, uint32_t row, uint32_t block)
{
	const struct sm_row *r = &sm->dev.rows.at[row];

	return block < r->nblocks && r->known[block] ? r->lft + (size_t)block * IBA_LFT_BLOCK
						     : NULL;
}

bool sm_row_holds(const struct sm *sm, uint32_t row, const uint8_t *lft, uint32_t len)
{
	const struct sm_row *r = &sm->dev.rows.at[row];
	uint32_t n = len / IBA_LFT_BLOCK;

	return n <= r->nblocks && !memchr(r->known, 0, n) && !memcmp(r->lft, lft, len);
}

static void row_room(struct sm_row *r, uint32_t nblocks)
{
	if (nblocks <= r->nblocks)
		return;
	r->lft = mem_resize(r->lft, nblocks, IBA_LFT_BLOCK);
	r->known = mem_resize(r->known, nblocks, 1);
	r->sets = mem_resize(r->sets, nblocks, sizeof(*r->sets));
	memset(r->known + r->nblocks, 0, nblocks - r->nblocks);
	memset(r->sets + r->nblocks, 0, (nblocks - r->nblocks) * sizeof(*r->sets));
	r->nblocks = nblocks;
}

/* Set again in this round or the one before: a late copy of the earlier Set may undo this one. */
static void note_set(struct sm *sm, struct sm_row *r, uint32_t block, const uint8_t *data)
{
	struct sm_block_sets *s = &r->sets[block];
	bool same = r->known[block] &&
		    !memcmp(r->lft + (size_t)block * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK);

	if (s->last && (uint8_t)(sm->audit.generation - s->last) <= 1 && !same) {
		s->again = sm->audit.generation;
		sm_audit_rewrote(sm);
	}
	s->last = sm->audit.generation;
}

void sm_row_set(struct sm *sm, uint32_t row, uint32_t block, const uint8_t *data)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	row_room(r, block + 1);
	note_set(sm, r, block, data);
	memcpy(r->lft + (size_t)block * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK);
	r->known[block] = sm->audit.generation;
}

/* As if it had been set long ago. */
void sm_row_read(struct sm *sm, uint32_t row, uint32_t block, const uint8_t *data)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	row_room(r, block + 1);
	memcpy(r->lft + (size_t)block * IBA_LFT_BLOCK, data, IBA_LFT_BLOCK);
	r->known[block] = (uint8_t)(sm->audit.generation > 2 ? sm->audit.generation - 2
							     : sm->audit.generation + 100);
	r->fresh = false;
}

void sm_row_unknown(struct sm *sm, uint32_t row, uint32_t block)
{
	sm->dev.rows.at[row].fresh = false;
	if (block < sm->dev.rows.at[row].nblocks)
		sm->dev.rows.at[row].known[block] = 0;
}

void sm_row_all_unknown(struct sm *sm, uint32_t row)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	r->fresh = false;
	if (r->nblocks)
		memset(r->known, 0, r->nblocks);
}

uint8_t *sm_row_whole(struct sm *sm, uint32_t row, uint32_t nblocks)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	row_room(r, nblocks);
	memset(r->known, sm->audit.generation, nblocks);
	memset(r->known + nblocks, 0, r->nblocks - nblocks);
	return r->lft;
}

void sm_row_entry(struct sm *sm, uint32_t row, uint16_t lid, uint8_t port)
{
	struct sm_row *r = &sm->dev.rows.at[row];

	if (sm_row_block(sm, row, lid / IBA_LFT_BLOCK))
		r->lft[lid] = port;
}

bool sm_rows_in_doubt(const struct sm *sm)
{
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++) {
		const struct sm_row *r =
			&sm->dev.rows
				 .at[sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[s]]]
					     .row];

		if (r->fresh)
			continue;
		if (!r->nblocks || memchr(r->known, 0, r->nblocks))
			return true;
	}
	return false;
}

/* For the switches of the snapshot; 255 where the block is not known. */
struct rt_tables *sm_rows_tables(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab;
	struct rt_tables *t = rt_tables_new(f->nswitches, fab_top_lid(f));

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t row = sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row;

		for (uint32_t b = 0; b < t->stride / IBA_LFT_BLOCK; b++) {
			const uint8_t *data = sm_row_block(sm, row, b);

			if (data)
				memcpy(rt_row(t, s) + (size_t)b * IBA_LFT_BLOCK, data,
				       IBA_LFT_BLOCK);
		}
	}
	return t;
}

void sm_rows_unknown(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->dev.rows.n; i++) {
		sm_row_all_unknown(sm, i);
		if (sm->dev.rows.at[i].rft)
			sm_rft_forget(sm->dev.rows.at[i].rft);
	}
	sm_maps_all_unknown(sm);
	sm_mfts_unknown(sm);
}

void sm_rows_free(struct sm *sm)
{
	for (size_t i = 0; i < sm->dev.rows.n; i++) {
		free(sm->dev.rows.at[i].lft);
		free(sm->dev.rows.at[i].known);
		free(sm->dev.rows.at[i].sets);
		sm_rft_free(sm->dev.rows.at[i].rft);
	}
	vec_free(&sm->dev.rows);
	map64_free(&sm->dev.row_by_guid);
}
