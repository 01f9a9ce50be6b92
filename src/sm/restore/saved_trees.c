/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast tables in the saved subnet state and in a mirror: blocks that are not empty, by switch. State: none of its own. A
 * state without any has the format that it had before these. Does not save groups: subnet administration has them.
 */
#include "sm/restore/saved_state.h"

enum { ENTRY = 4 + IBA_SMP_DATA_SIZE };

static bool is_empty(const struct sm_mft_block *b)
{
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
		if (b->has[i])
			return false;
	return true;
}

/* Blocks of a switch that are known and not empty. */
static uint32_t count(const struct sm_mft *m)
{
	uint32_t n = 0;

	for (size_t i = 0; m && i < (size_t)m->nblocks * m->npos; i++)
		n += m->at[i].known && !is_empty(&m->at[i]);
	return n;
}

/* Without groups all blocks are empty, and that is known, too; before groups were given, the next manager reads them. */
bool sm_saved_has_trees(const struct sm *sm)
{
	return sm->cfg.multicast && sm->multicast.told;
}

void sm_save_trees_of(const struct sm *sm, const struct sm_node *n, struct sm_bytes *s)
{
	const struct sm_mft *m = sm_mft_find(sm, n->guid);

	sm_bytes_put_n(s, count(m), 2);
	for (uint32_t i = 0; m && i < m->nblocks * m->npos; i++) {
		uint8_t data[IBA_SMP_DATA_SIZE];
		struct iba_mft t;

		if (!m->at[i].known || is_empty(&m->at[i]))
			continue;
		memcpy(t.mask, m->at[i].has, sizeof(t.mask));
		iba_mft_put(&t, data);
		sm_bytes_put_n(s, sm_mft_modifier(i / m->npos, i % m->npos), 4);
		sm_bytes_put(s, data, sizeof(data));
	}
}

void sm_load_trees_of(struct sm_source *s, struct sm_saved_node *n)
{
	n->nmft = (uint16_t)sm_source_take_n(s, 2);
	n->mft = sm_source_take(s, (size_t)n->nmft * ENTRY);
}

/* A block that is not among them is empty. */
bool sm_saved_recall_mft(const struct sm_saved_node *n, uint32_t modifier, uint8_t *data)
{
	memset(data, 0, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < n->nmft; i++) {
		const uint8_t *e = n->mft + (size_t)i * ENTRY;

		if (((uint32_t)e[0] << 24 | (uint32_t)e[1] << 16 | (uint32_t)e[2] << 8 | e[3]) ==
		    modifier)
			memcpy(data, e + 4, IBA_SMP_DATA_SIZE);
	}
	return true;
}
