/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SMA's tables: GUIDs, P_Keys, SL to VL, VL arbitration, forwarding. State: arrays of nodes
 * and ports, allocated at the first Set. Way in: the table in sma.c. Does not forward anything.
 */
#include "sim/device/sma_priv.h"

/* ---- GUIDs: entry 0 is the port's own and read-only; those of the VFs of a shared port follow ---- */

enum { GUID_BLOCK = 8 };

static uint64_t guid_entry(const struct req *r, unsigned num, unsigned i)
{
	return sim_alias_guid(r->s, req_node(r)->first_port + num, i);
}

unsigned sma_guid_info_get(struct req *r)
{
	unsigned num = sim_is_switch(r->s, r->n) ? 0 : r->in_port;
	struct iba_guid_info gi;

	if (r->mod > (req_port(r, num)->pi.guid_cap - 1u) / GUID_BLOCK)
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; i < GUID_BLOCK; i++)
		gi.guid[i] = guid_entry(r, num, r->mod * GUID_BLOCK + i);
	iba_guid_info_put(&gi, r->out);
	return IBA_STATUS_OK;
}

static void guid_tell(struct req *r, unsigned num, uint64_t was, uint64_t now)
{
	if (was != now && r->s->net && req_node(r)->sriov == FAB_SRIOV_SHARED)
		r->s->net->guid_set(r->s, req_node(r)->first_port + num, was, now);
}

unsigned sma_guid_info_set(struct req *r)
{
	unsigned num = sim_is_switch(r->s, r->n) ? 0 : r->in_port;
	struct sim_port *p = req_port(r, num);
	struct iba_guid_info gi;

	if (r->mod > (p->pi.guid_cap - 1u) / GUID_BLOCK)
		return IBA_STATUS_BAD_FIELD;
	if (!p->guids) {
		uint64_t *all = mem_zarray(p->pi.guid_cap, sizeof(*all));

		for (unsigned i = 1; i < p->pi.guid_cap; i++)
			all[i] = guid_entry(r, num, i);
		p->guids = all;
	}
	iba_guid_info_get(&gi, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < GUID_BLOCK && r->mod * GUID_BLOCK + i < p->pi.guid_cap; i++) {
		uint64_t *entry = &p->guids[r->mod * GUID_BLOCK + i], was = *entry;

		*entry = gi.guid[i];
		guid_tell(r, num, was, *entry);
	}
	if (req_node(r)->sriov == FAB_SRIOV_SHARED)
		sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	return sma_guid_info_get(r);
}

bool sim_port_has_alias(const struct sim *s, port_id p, uint64_t guid)
{
	for (unsigned i = 1; s->ports[p].guids && i < s->ports[p].pi.guid_cap; i++)
		if (s->ports[p].guids[i] == guid)
			return true;
	return false;
}

static bool pkey_where(struct req *r, unsigned *num, unsigned *block)
{
	*block = r->mod & 0xffff;
	if (!sma_pick_port(r, sim_is_switch(r->s, r->n) ? r->mod >> 16 : 0, num))
		return false;
	return *block < (r->s->cfg.pkey_cap + 31u) / 32;
}

static struct sim_port *pkey_port(const struct req *r, unsigned num)
{
	return &r->s->ports[pkey_holder(r->s, req_node(r)->first_port + num)];
}

unsigned sma_pkey_get(struct req *r)
{
	struct iba_pkey_table t = {0};
	unsigned num, block;

	if (!pkey_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	if (pkey_port(r, num)->pkeys)
		memcpy(t.pkey, pkey_port(r, num)->pkeys + block * 32, sizeof(t.pkey));
	else if (block == 0)
		t.pkey[0] = 0xffff; /* full member of the default partition at power-on */
	iba_pkey_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_pkey_set(struct req *r)
{
	struct iba_pkey_table t;
	struct sim_port *p;
	unsigned num, block;

	if (!pkey_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	p = pkey_port(r, num);
	if (!p->pkeys) {
		p->pkeys = mem_zarray((r->s->cfg.pkey_cap + 31u) / 32 * 32, sizeof(*p->pkeys));
		p->pkeys[0] = 0xffff;
	}
	iba_pkey_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	memcpy(p->pkeys + block * 32, t.pkey, sizeof(t.pkey));
	return sma_pkey_get(r);
}

/* ---- SL to VL: by input and output port of a switch; for an endport, one for each port ---- */

static bool slvl_where(struct req *r, unsigned *in, unsigned *out)
{
	if (!sim_is_switch(r->s, r->n)) {
		*in = 0;
		*out = r->in_port;
		return true;
	}
	*in = r->mod >> 8 & 0xff;
	*out = r->mod & 0xff;
	return *in <= req_node(r)->nports && *out <= req_node(r)->nports;
}

unsigned sma_slvl_get(struct req *r)
{
	struct iba_slvl_table t;
	unsigned in, out;

	if (!slvl_where(r, &in, &out))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned sl = 0; sl < 16; sl++)
		t.vl[sl] = (uint8_t)sim_slvl(r->s, r->n, in, out, sl);
	iba_slvl_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_slvl_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	unsigned in, out, width = req_node(r)->nports + 1u;
	struct iba_slvl_table t;

	if (!slvl_where(r, &in, &out))
		return IBA_STATUS_BAD_FIELD;
	iba_slvl_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	if (!node->slvl) {
		uint8_t *all = mem_array((size_t)width * width * 16, 1);

		for (unsigned i = 0; i < width * width * 16; i++)
			all[i] = (uint8_t)slvl_default(r->s, r->n, i / 16 % width, i % 16);
		node->slvl = all;
	}
	if (memcmp(node->slvl + (size_t)(in * width + out) * 16, t.vl, 16)) {
		memcpy(node->slvl + (size_t)(in * width + out) * 16, t.vl, 16);
		sim_changed(r->s, r->n, SIM_CHANGED_SLVL);
	}
	return sma_slvl_get(r);
}

static bool vlarb_where(struct req *r, unsigned *num, unsigned *block)
{
	*block = r->mod >> 16;
	if (!sma_pick_port(r, r->mod & 0xff, num))
		return false;
	/* Blocks 1, 2 low and 3, 4 high priority, 32 entries each. */
	return *block >= 1 && *block <= 4 && (*block % 2 || r->s->cfg.vlarb_cap > 32);
}

unsigned sma_vlarb_get(struct req *r)
{
	struct iba_vlarb_table t = {0};
	unsigned num, block;

	if (!vlarb_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	if (req_port(r, num)->vlarb)
		t = req_port(r, num)->vlarb[block - 1];
	iba_vlarb_table_put(&t, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_vlarb_set(struct req *r)
{
	struct iba_vlarb_table t;
	struct sim_port *p;
	unsigned num, block;

	if (!vlarb_where(r, &num, &block))
		return IBA_STATUS_BAD_FIELD;
	iba_vlarb_table_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < 32; i++)
		if (t.vl[i] == 15 && t.weight[i])
			return IBA_STATUS_BAD_FIELD; /* VL15 is not arbitrated */
	p = req_port(r, num);
	if (!p->vlarb)
		p->vlarb = mem_zarray(4, sizeof(*p->vlarb));
	p->vlarb[block - 1] = t;
	return sma_vlarb_get(r);
}

/* ---- forwarding tables ---- */

static bool block_there(uint32_t block, uint32_t cap, uint32_t per_block)
{
	return block < (cap + per_block - 1) / per_block;
}

unsigned sma_lft_get(struct req *r)
{
	if (!block_there(r->mod, r->s->nodes[r->n].si.linear_cap, IBA_LFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		r->out[i] = r->s->nodes[r->n].vswitch
				    ? sma_vswitch_entry(r, r->mod * IBA_LFT_BLOCK + i)
				    : sim_lft(r->s, r->n, r->mod * IBA_LFT_BLOCK + i);
	return IBA_STATUS_OK;
}

unsigned sma_lft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	uint32_t end = (r->mod + 1) * IBA_LFT_BLOCK;

	if (!block_there(r->mod, r->s->nodes[r->n].si.linear_cap, IBA_LFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	if (end > node->lft_size) {
		/* Sized by LinearFDBTop, so that it grows once. */
		uint32_t top = (node->si.linear_top / IBA_LFT_BLOCK + 1u) * IBA_LFT_BLOCK;
		uint32_t size = MAX(end, top);

		node->lft = mem_resize(node->lft, size, 1);
		memset(node->lft + node->lft_size, IBA_PORT_NONE, size - node->lft_size);
		node->lft_size = size;
	}
	if (memcmp(node->lft + end - IBA_LFT_BLOCK, r->in, IBA_LFT_BLOCK)) {
		memcpy(node->lft + end - IBA_LFT_BLOCK, r->in, IBA_LFT_BLOCK);
		sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	}
	return IBA_STATUS_OK; /* the response carries what was set */
}

unsigned sma_rft_get(struct req *r)
{
	struct iba_rft t = {0};

	if (!block_there(r->mod, r->s->nodes[r->n].si.random_cap, IBA_RFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	if (r->s->nodes[r->n].rft)
		t = r->s->nodes[r->n].rft[r->mod];
	iba_rft_put(&t, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_rft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	struct iba_rft t;

	if (!block_there(r->mod, r->s->nodes[r->n].si.random_cap, IBA_RFT_BLOCK))
		return IBA_STATUS_BAD_FIELD;
	iba_rft_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_RFT_BLOCK; i++)
		if (t.valid[i] &&
		    (t.port[i] > req_node(r)->nports || t.lid[i] & ((1u << t.lmc[i]) - 1)))
			return IBA_STATUS_BAD_FIELD;
	if (!node->rft)
		node->rft =
			mem_zarray((node->si.random_cap + 15u) / IBA_RFT_BLOCK, sizeof(*node->rft));
	node->rft[r->mod] = t;
	sim_changed(r->s, r->n, SIM_CHANGED_TABLE);
	node->rft_used = MAX(node->rft_used, r->mod + 1);
	return sma_rft_get(r);
}

/* A multicast block is 32 LIDs by 16 ports: modifier bits 0-8 the block, 28-31 the port group. */
static bool mft_where(struct req *r, unsigned *block, unsigned *group)
{
	*block = r->mod & 0x1ff;
	*group = r->mod >> 28;
	return block_there(*block, r->s->nodes[r->n].si.mcast_cap, IBA_MFT_BLOCK) &&
	       *group <= req_node(r)->nports / 16u;
}

unsigned sma_mft_get(struct req *r)
{
	struct iba_mft t = {0};
	unsigned block, group;

	if (!mft_where(r, &block, &group))
		return IBA_STATUS_BAD_FIELD;
	for (unsigned i = 0; r->s->nodes[r->n].mft && i < IBA_MFT_BLOCK; i++)
		t.mask[i] = r->s->nodes[r->n].mft[(block * IBA_MFT_BLOCK + i) * 16 + group];
	iba_mft_put(&t, r->out);
	return IBA_STATUS_OK;
}

unsigned sma_mft_set(struct req *r)
{
	struct sim_node *node = &r->s->nodes[r->n];
	struct iba_mft t;
	unsigned block, group;
	bool changed = false;

	if (!mft_where(r, &block, &group))
		return IBA_STATUS_BAD_FIELD;
	if (!node->mft)
		node->mft =
			mem_zarray((node->si.mcast_cap + 31u) / 32 * 32 * 16, sizeof(*node->mft));
	iba_mft_get(&t, r->in, IBA_SMP_DATA_SIZE);
	for (unsigned i = 0; i < IBA_MFT_BLOCK; i++) {
		uint16_t *mask = &node->mft[(block * IBA_MFT_BLOCK + i) * 16 + group];

		changed |= *mask != t.mask[i];
		*mask = t.mask[i];
	}
	node->mft_used = MAX(node->mft_used, (block + 1) * IBA_MFT_BLOCK);
	node->mft_changes++;
	if (changed)
		sim_changed(r->s, r->n, SIM_CHANGED_MASKS);
	return sma_mft_get(r);
}
