/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast tables that were there before this manager. State: none of its own. Ways in: sm_mft_takeover(), when a switch is
 * met that has a LID and tables, and each answer. Blocks are read from the first on, up to MulticastFDBTop where the switch
 * says one, else up to the first that is empty in all switches. What is behind is not known: it is emptied before an MLID of it
 * is used.
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

/* Blocks up to the first that is empty in all switches so far. */
static void ask_more(struct sm *sm, uint32_t node, struct sm_mft *m)
{
	uint32_t end = MIN(sm->multicast.extent + 1, blocks_in_use(sm, node));

	while (m->asked < end)
		ask(sm, node, m->asked++);
}

void sm_mft_takeover(struct sm *sm, uint32_t node)
{
	struct sm_mft *m;

	if (!sm->cfg.multicast || !blocks_in_use(sm, node))
		return;
	m = sm_mft_make(sm, sm->topo.nodes.at[node].guid);
	m->epoch = sm->topo.epoch;
	m->asked = 0;
	ask_more(sm, node, m);
}

static bool is_empty(const uint8_t *data)
{
	for (unsigned i = 0; i < IBA_SMP_DATA_SIZE; i++)
		if (data[i])
			return false;
	return true;
}

/* A tree need not pass all switches: where one has entries, all are asked for the next block. */
void sm_mft_takeover_block(struct sm *sm, uint32_t node, uint32_t modifier, const uint8_t *data)
{
	uint32_t block = modifier & 0x1ff;

	sm_mft_read(sm, sm->topo.nodes.at[node].guid, modifier, data);
	if (block < sm->multicast.extent || is_empty(data))
		return;
	sm->multicast.extent = block + 1;
	for (uint32_t n = 0; n < sm->topo.nodes.n; n++) {
		struct sm_mft *m = sm->topo.nodes.at[n].type == IBA_NODE_SWITCH
					   ? sm_mft_find(sm, sm->topo.nodes.at[n].guid)
					   : NULL;

		if (m && m->epoch == sm->topo.epoch && !sm->topo.nodes.at[n].gone)
			ask_more(sm, n, m);
	}
}
