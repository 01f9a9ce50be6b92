/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device's tables say: output port of a LID, VL of an SL, membership of a partition. State:
 * the tables of struct sim_node and struct sim_port, which sma_tables.c sets. Ways in: lid_route(),
 * sim_slvl(), pkey_ok(). Does not forward anything.
 */
#include "sim/device/device_priv.h"

/* ---- forwarding ---- */

uint8_t sim_lft(const struct sim *s, node_id n, uint32_t lid)
{
	return lid < s->nodes[n].lft_size ? s->nodes[n].lft[lid] : IBA_PORT_NONE;
}

/* A vSwitch has no table: to the function that has the LID, everything else to the uplink. */
static unsigned vswitch_route(const struct sim *s, node_id n, uint16_t lid, bool qp0)
{
	const struct vswitch *v = s->nodes[n].vswitch;

	if (lid_is_ours(&s->ports[s->fab->nodes[n].first_port].pi, lid))
		return qp0 || !v->shared ? 0 : FAB_SLOT0_PORT;
	for (unsigned p = FAB_SLOT0_PORT; p <= s->fab->nodes[n].nports; p++)
		if (v->at[p].lid && (lid & v->at[p].mask) == v->at[p].lid)
			return p;
	return FAB_UPLINK;
}

/* Where a switch sends a LID: its own LID and table entry 0 lead to port 0 (thesis 2.5). */
unsigned lid_route(const struct sim *s, node_id n, uint16_t lid, bool qp0)
{
	const struct sim_node *node = &s->nodes[n];

	if (node->vswitch)
		return vswitch_route(s, n, lid, qp0);
	if (lid_is_ours(&s->ports[s->fab->nodes[n].first_port].pi, lid))
		return 0;
	if (!node->si.linear_cap || (node->rft && !node->lft_size)) {
		for (unsigned b = 0; b < node->rft_used; b++)
			for (unsigned i = 0; i < IBA_RFT_BLOCK; i++)
				if (node->rft[b].valid[i] && (lid & ~((1u << node->rft[b].lmc[i]) -
								      1)) == node->rft[b].lid[i])
					return node->rft[b].port[i];
		return node->si.default_port;
	}
	return lid <= node->si.linear_top ? sim_lft(s, n, lid) : IBA_PORT_NONE; /* IBA 14.2.5.4 */
}

/* Entries behind MulticastFDBTop are not in force, where the switch has it (IBA 14.2.5.4). */
bool sim_mft(const struct sim *s, node_id n, uint16_t mlid, uint64_t ports[4])
{
	const struct sim_node *node = &s->nodes[n];
	uint32_t at = mlid - IBA_LID_MCAST_FIRST;
	const struct iba_port_info *pi = &s->ports[s->fab->nodes[n].first_port].pi;

	memset(ports, 0, 4 * sizeof(*ports));
	if (!node->mft || mlid < IBA_LID_MCAST_FIRST || at >= node->si.mcast_cap ||
	    (pi->cap_mask & IBA_CAP_MCAST_TOP && node->si.mcast_top && mlid > node->si.mcast_top))
		return false;
	for (unsigned group = 0; group <= s->fab->nodes[n].nports / 16u; group++)
		ports[group / 4] |= (uint64_t)node->mft[at * 16 + group] << group % 4 * 16;
	return ports[0] | ports[1] | ports[2] | ports[3];
}

uint32_t sim_mlids_used(const struct sim *s, node_id n)
{
	return s->nodes[n].mft_used;
}

uint32_t sim_mft_changes(const struct sim *s, node_id n)
{
	return s->nodes[n].mft_changes;
}

unsigned sim_route(const struct sim *s, node_id n, uint16_t lid)
{
	return lid_route(s, n, lid, false);
}

/* GMPs go to the PF, unless a manager of the laboratory sits in the vSwitch itself. */
bool lid_for_smi(const struct sim *s, node_id n, const uint8_t *mad)
{
	return iba_smp_mgmt_class(mad) == IBA_CLASS_SUBN_LID || iba_smp_is_dr(mad) ||
	       s->dev.client_of[s->fab->nodes[n].first_port];
}

/* ---- SL to VL ---- */

unsigned slvl_default(const struct sim *s, node_id n, unsigned out, unsigned sl)
{
	const struct iba_port_info *pi = &s->ports[s->fab->nodes[n].first_port + out].pi;
	unsigned vls = iba_vl_count(pi->oper_vls);

	if (!(vls & (vls - 1))) /* a power of two, as most are */
		return vls ? sl & (vls - 1) : 0;
	return sl % vls; /* cyclic (thesis 4.4.2) */
}

uint32_t sim_reregisters(const struct sim *s, port_id p)
{
	return s->ports[p].reregisters;
}

unsigned sim_slvl(const struct sim *s, node_id n, unsigned in, unsigned out, unsigned sl)
{
	unsigned width = s->fab->nodes[n].nports + 1u;

	if (!s->nodes[n].slvl)
		return slvl_default(s, n, out, sl);
	return s->nodes[n].slvl[(in * width + out) * 16 + sl];
}

bool sim_turn_off(const struct sim *s, node_id n, unsigned in, unsigned out)
{
	const struct iba_port_info *pi = &s->ports[s->fab->nodes[n].first_port + out].pi;
	unsigned live = iba_vl_count(pi->oper_vls);

	for (unsigned sl = 0; sl < 16; sl++)
		if (sim_slvl(s, n, in, out, sl) < live)
			return false;
	return true;
}

/* ---- partitions ---- */

/*
 * A link inside an HCA has one table: that of the function, at both ends. Port 0 of the vSwitch has that of the PF while they
 * share a LID.
 */
port_id pkey_holder(const struct sim *s, port_id p)
{
	const struct fab_port *x = &s->fab->ports[p];
	const struct vswitch *v = s->nodes[x->node].vswitch;

	if (v && x->num >= FAB_SLOT0_PORT)
		return x->peer;
	return v && !x->num && v->shared ? s->fab->ports[p + FAB_SLOT0_PORT].peer : p;
}

uint16_t sim_pkey(const struct sim *s, port_id p, unsigned index)
{
	const uint16_t *t = s->ports[pkey_holder(s, p)].pkeys;

	if (index >= (s->cfg.pkey_cap + 31u) / 32 * 32)
		return 0;
	return t ? t[index] : index ? 0 : 0xffff;
}

/* Full member on one side at least, and the same 15 bits (IBA 10.9.3). */
static bool pkey_in_table(const struct sim *s, port_id port, uint16_t pkey)
{
	const uint16_t *t = s->ports[port].pkeys;

	if (!t)
		return (pkey & 0x7fff) == 0x7fff;
	for (unsigned i = 0; i < (s->cfg.pkey_cap + 31u) / 32 * 32; i++)
		if ((t[i] & 0x7fff) && (t[i] & 0x7fff) == (pkey & 0x7fff) &&
		    ((t[i] | pkey) & 0x8000))
			return true;
	return false;
}

static bool pkey_judge(const struct sim *s, port_id port, port_id holder, uint16_t pkey)
{
	if (pkey_in_table(s, holder, pkey))
		return true;
	if (s->ports[port].pi.p_key_violations < UINT16_MAX)
		s->ports[port].pi.p_key_violations++;
	return false;
}

bool pkey_ok(const struct sim *s, port_id port, uint16_t pkey)
{
	return pkey_judge(s, port, port, pkey);
}

bool pkey_enforced_ok(const struct sim *s, port_id port, uint16_t pkey)
{
	return pkey_judge(s, port, pkey_holder(s, port), pkey);
}
