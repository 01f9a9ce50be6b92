/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other rooms report about the tables in the switches. State: struct sm_device_tables. Does not send
 * anything.
 */
#include "sm/tables/random_tables.h"

void sm_tables_free(struct sm *sm)
{
	sm_rows_free(sm);
	vec_free(&sm->dev.off);
	map64_free(&sm->dev.off_by);
	vec_free(&sm->dev.rft_todo);
	vec_free(&sm->dev.turns);
	sm_maps_free(sm);
}

void sm_tables_forget(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->dev.rows.n; i++)
		sm_row_forget(sm, i);
	sm_maps_all_unknown(sm);
	sm_pkeys_forget(sm);
	sm_sls_forget(sm);
	sm_disabled_clear(sm);
	sm_mfts_forget(sm);
	sm_audit_forget(sm);
}

void sm_set_unacknowledged(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = t->target.node, port = t->target.port;

	if (t->method != IBA_SET)
		return;
	if (t->attr_id == IBA_ATTR_PORT_INFO && port != NONE && !sm->topo.ports.at[port].num)
		sm_port_timeout(sm, port, UINT8_MAX); /* so that it is set again */
	if (node == NONE)
		return;
	if (t->attr_id == IBA_ATTR_LFT)
		sm_row_unknown(sm, sm->topo.nodes.at[node].row, iba_smp_attr_mod(t->send.mad));
	else if (t->attr_id == IBA_ATTR_SLVL_TABLE && t->target.kind == SM_TARGET_PORT)
		sm_map_unknown(sm, sm->topo.nodes.at[node].guid, 0, sm->topo.ports.at[port].num);
	else if (t->attr_id == IBA_ATTR_SLVL_TABLE)
		sm_map_unknown(sm, sm->topo.nodes.at[node].guid,
			       iba_smp_attr_mod(t->send.mad) >> 8 & 0xff,
			       iba_smp_attr_mod(t->send.mad) & 0xff);
	else if (t->attr_id == IBA_ATTR_MFT)
		sm_mft_sent(sm, sm->topo.nodes.at[node].guid, iba_smp_attr_mod(t->send.mad),
			    iba_smp_data_const(t->send.mad));
	else if (t->attr_id == IBA_ATTR_RFT)
		sm_rft_block_unknown(sm, node, iba_smp_attr_mod(t->send.mad));
	else if (t->attr_id == IBA_ATTR_SWITCH_INFO && t->purpose == SM_FOR_DISTRIBUTION)
		sm_rft_unknown(sm, node);
	else if (sm_is_vf_attr(t->attr_id))
		sm_vf_unacknowledged(sm, t);
}

void sm_port_set_in_round(struct sm *sm, uint32_t port)
{
	struct sm_port_order *o = &sm->topo.ports.at[port].order;

	if (o->set_in && (uint8_t)(sm->audit.generation - o->set_in) <= 1)
		sm_audit_rewrote(sm);
	o->set_in = sm->audit.generation;
}
