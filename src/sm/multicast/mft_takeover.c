/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast tables that were there before this manager. State: none of its own. Ways in: sm_mft_takeover(), when a switch is
 * met that has a LID and tables, and each answer. Blocks are read from the first on, up to MulticastFDBTop where the switch
 * says one, else as far as a block is not empty. What is behind is not known: it is written before an MLID of it is used.
 */
#include "sm/manager.h"

static unsigned positions(const struct sm_node *n)
{
	return n->nports / 16u + 1;
}

/* Blocks that may be in use. */
static uint32_t blocks_in_use(const struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	uint32_t blocks = sm_mft_blocks(sm, node);

	if (!(sm->topo.ports.at[n->first_port].pi.cap_mask & IBA_CAP_MCAST_TOP) ||
	    n->si.mcast_top < IBA_LID_MCAST_FIRST - 1)
		return blocks;
	return MIN(blocks, (n->si.mcast_top + 1u - IBA_LID_MCAST_FIRST + IBA_MFT_BLOCK - 1) /
				   IBA_MFT_BLOCK);
}

static void ask(struct sm *sm, uint32_t node, uint32_t block)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];

	for (unsigned p = 0; p < positions(n); p++)
		if (!sm_mft_is_known(sm, n->guid, sm_mft_modifier(block, p)))
			sm_ask_mft(sm, node, sm_mft_modifier(block, p));
}

void sm_mft_takeover(struct sm *sm, uint32_t node)
{
	const struct sm_mft *m = sm_mft_find(sm, sm->topo.nodes.at[node].guid);
	uint32_t blocks = blocks_in_use(sm, node);

	if (!sm->cfg.multicast || !blocks)
		return;
	for (uint32_t b = 0; b < (m && m->nblocks ? MIN(m->nblocks, blocks) : 1); b++)
		ask(sm, node, b);
}

/* All positions of the last block that was asked are known, and one is not empty. */
static bool goes_on(const struct sm *sm, uint32_t node, uint32_t block)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	const struct sm_mft *m = sm_mft_find(sm, n->guid);
	bool any = false;

	if (block + 1 != m->nblocks || block + 1 >= blocks_in_use(sm, node))
		return false;
	for (unsigned p = 0; p < positions(n); p++) {
		const uint16_t *has = sm_mft_known(m, block, p);

		if (!has)
			return false;
		for (unsigned i = 0; i < IBA_MFT_BLOCK; i++)
			any |= has[i] != 0;
	}
	return any;
}

void sm_mft_takeover_block(struct sm *sm, uint32_t node, uint32_t modifier, const uint8_t *data)
{
	sm_mft_read(sm, sm->topo.nodes.at[node].guid, modifier, data);
	if (goes_on(sm, node, modifier & 0x1ff))
		ask(sm, node, (modifier & 0x1ff) + 1);
}
