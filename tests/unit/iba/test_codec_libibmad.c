/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our layouts against libibmad's, bit by bit and in both directions, on random values. Each field of each
 * layout must be mapped to libibmad's id or be listed as unknown to it, so that no new field is missed.
 * Keeps no state; opens no device.
 * Covers: codec.c
 */
#include "unit_test.h"

#include <strings.h>

#include "base/rng.h"
#include "iba/iba.h"

#include <infiniband/mad.h>

enum { ROUNDS = 200 };

/* One id of libibmad: bits low .. low + width - 1 of an element of one of our fields. */
struct known {
	const char *layout, *field;
	enum MAD_FIELDS id;
	unsigned element, low, width;
};

/* The whole field; or part of it; or element i. */
#define WHOLE(l, f, id, w)                                                                         \
	{                                                                                          \
#l, #f, id, 0, 0, w                                                                \
	}
#define PART(l, f, id, low, w)                                                                     \
	{                                                                                          \
#l, #f, id, 0, low, w                                                              \
	}
#define ELEM(l, f, i, id, w)                                                                       \
	{                                                                                          \
#l, #f, id, i, 0, w                                                                \
	}

static const struct known knowns[] = {
	WHOLE(mad_hdr, base_version, IB_MAD_BASEVER_F, 8),
	WHOLE(mad_hdr, mgmt_class, IB_MAD_MGMTCLASS_F, 8),
	WHOLE(mad_hdr, class_version, IB_MAD_CLASSVER_F, 8),
	PART(mad_hdr, method, IB_MAD_METHOD_F, 0, 7),
	PART(mad_hdr, method, IB_MAD_RESPONSE_F, 7, 1),
	WHOLE(mad_hdr, status, IB_MAD_STATUS_F, 16),
	PART(mad_hdr, status, IB_DRSMP_STATUS_F, 0, 15),
	PART(mad_hdr, status, IB_DRSMP_DIRECTION_F, 15, 1),
	PART(mad_hdr, class_specific, IB_DRSMP_HOPCNT_F, 0, 8),
	PART(mad_hdr, class_specific, IB_DRSMP_HOPPTR_F, 8, 8),
	WHOLE(mad_hdr, tid, IB_MAD_TRID_F, 64),
	WHOLE(mad_hdr, attr_id, IB_MAD_ATTRID_F, 16),
	WHOLE(mad_hdr, attr_mod, IB_MAD_ATTRMOD_F, 32),
	WHOLE(smp_hdr, m_key, IB_MAD_MKEY_F, 64),
	WHOLE(smp_hdr, dr_slid, IB_DRSMP_DRSLID_F, 16),
	WHOLE(smp_hdr, dr_dlid, IB_DRSMP_DRDLID_F, 16),
	WHOLE(notice, is_generic, IB_NOTICE_IS_GENERIC_F, 1),
	WHOLE(notice, type, IB_NOTICE_TYPE_F, 7),
	WHOLE(notice, producer_type, IB_NOTICE_PRODUCER_F, 24),
	WHOLE(notice, trap_number, IB_NOTICE_TRAP_NUMBER_F, 16),
	WHOLE(notice, issuer_lid, IB_NOTICE_ISSUER_LID_F, 16),
	WHOLE(notice, toggle, IB_NOTICE_TOGGLE_F, 1),
	WHOLE(notice, count, IB_NOTICE_COUNT_F, 15),
	WHOLE(node_info, base_version, IB_NODE_BASE_VERS_F, 8),
	WHOLE(node_info, class_version, IB_NODE_CLASS_VERS_F, 8),
	WHOLE(node_info, node_type, IB_NODE_TYPE_F, 8),
	WHOLE(node_info, num_ports, IB_NODE_NPORTS_F, 8),
	WHOLE(node_info, sys_guid, IB_NODE_SYSTEM_GUID_F, 64),
	WHOLE(node_info, node_guid, IB_NODE_GUID_F, 64),
	WHOLE(node_info, port_guid, IB_NODE_PORT_GUID_F, 64),
	WHOLE(node_info, partition_cap, IB_NODE_PARTITION_CAP_F, 16),
	WHOLE(node_info, device_id, IB_NODE_DEVID_F, 16),
	WHOLE(node_info, revision, IB_NODE_REVISION_F, 32),
	WHOLE(node_info, local_port, IB_NODE_LOCAL_PORT_F, 8),
	WHOLE(node_info, vendor_id, IB_NODE_VENDORID_F, 24),
	WHOLE(switch_info, linear_cap, IB_SW_LINEAR_FDB_CAP_F, 16),
	WHOLE(switch_info, random_cap, IB_SW_RANDOM_FDB_CAP_F, 16),
	WHOLE(switch_info, mcast_cap, IB_SW_MCAST_FDB_CAP_F, 16),
	WHOLE(switch_info, linear_top, IB_SW_LINEAR_FDB_TOP_F, 16),
	WHOLE(switch_info, default_port, IB_SW_DEF_PORT_F, 8),
	WHOLE(switch_info, mcast_primary_port, IB_SW_DEF_MCAST_PRIM_F, 8),
	WHOLE(switch_info, mcast_not_primary_port, IB_SW_DEF_MCAST_NOT_PRIM_F, 8),
	WHOLE(switch_info, life_time, IB_SW_LIFE_TIME_F, 5),
	WHOLE(switch_info, port_state_change, IB_SW_STATE_CHANGE_F, 1),
	WHOLE(switch_info, optimized_slvl, IB_SW_OPT_SLTOVL_MAPPING_F, 2),
	WHOLE(switch_info, lids_per_port, IB_SW_LIDS_PER_PORT_F, 16),
	WHOLE(switch_info, partition_enf_cap, IB_SW_PARTITION_ENFORCE_CAP_F, 16),
	WHOLE(switch_info, inbound_enf_cap, IB_SW_PARTITION_ENF_INB_F, 1),
	WHOLE(switch_info, outbound_enf_cap, IB_SW_PARTITION_ENF_OUTB_F, 1),
	WHOLE(switch_info, filter_raw_in_cap, IB_SW_FILTER_RAW_INB_F, 1),
	WHOLE(switch_info, filter_raw_out_cap, IB_SW_FILTER_RAW_OUTB_F, 1),
	WHOLE(switch_info, enhanced_port0, IB_SW_ENHANCED_PORT0_F, 1),
	WHOLE(switch_info, mcast_top, IB_SW_MCAST_FDB_TOP_F, 16),
	ELEM(guid_info, guid, 0, IB_GI_GUID0_F, 64),
	ELEM(guid_info, guid, 1, IB_GI_GUID1_F, 64),
	ELEM(guid_info, guid, 2, IB_GI_GUID2_F, 64),
	ELEM(guid_info, guid, 3, IB_GI_GUID3_F, 64),
	ELEM(guid_info, guid, 4, IB_GI_GUID4_F, 64),
	ELEM(guid_info, guid, 5, IB_GI_GUID5_F, 64),
	ELEM(guid_info, guid, 6, IB_GI_GUID6_F, 64),
	ELEM(guid_info, guid, 7, IB_GI_GUID7_F, 64),
	WHOLE(port_info, m_key, IB_PORT_MKEY_F, 64),
	WHOLE(port_info, gid_prefix, IB_PORT_GID_PREFIX_F, 64),
	WHOLE(port_info, lid, IB_PORT_LID_F, 16),
	WHOLE(port_info, sm_lid, IB_PORT_SMLID_F, 16),
	WHOLE(port_info, cap_mask, IB_PORT_CAPMASK_F, 32),
	WHOLE(port_info, diag_code, IB_PORT_DIAG_F, 16),
	WHOLE(port_info, m_key_lease, IB_PORT_MKEY_LEASE_F, 16),
	WHOLE(port_info, local_port, IB_PORT_LOCAL_PORT_F, 8),
	WHOLE(port_info, width_enabled, IB_PORT_LINK_WIDTH_ENABLED_F, 8),
	WHOLE(port_info, width_supported, IB_PORT_LINK_WIDTH_SUPPORTED_F, 8),
	WHOLE(port_info, width_active, IB_PORT_LINK_WIDTH_ACTIVE_F, 8),
	WHOLE(port_info, speed_supported, IB_PORT_LINK_SPEED_SUPPORTED_F, 4),
	WHOLE(port_info, state, IB_PORT_STATE_F, 4),
	WHOLE(port_info, phys_state, IB_PORT_PHYS_STATE_F, 4),
	WHOLE(port_info, down_default, IB_PORT_LINK_DOWN_DEF_F, 4),
	WHOLE(port_info, m_key_protect, IB_PORT_MKEY_PROT_BITS_F, 2),
	WHOLE(port_info, lmc, IB_PORT_LMC_F, 3),
	WHOLE(port_info, speed_active, IB_PORT_LINK_SPEED_ACTIVE_F, 4),
	WHOLE(port_info, speed_enabled, IB_PORT_LINK_SPEED_ENABLED_F, 4),
	WHOLE(port_info, neighbor_mtu, IB_PORT_NEIGHBOR_MTU_F, 4),
	WHOLE(port_info, sm_sl, IB_PORT_SMSL_F, 4),
	WHOLE(port_info, vl_cap, IB_PORT_VL_CAP_F, 4),
	WHOLE(port_info, init_type, IB_PORT_INIT_TYPE_F, 4),
	WHOLE(port_info, vl_high_limit, IB_PORT_VL_HIGH_LIMIT_F, 8),
	WHOLE(port_info, vl_arb_high_cap, IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8),
	WHOLE(port_info, vl_arb_low_cap, IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8),
	WHOLE(port_info, init_reply, IB_PORT_INIT_TYPE_REPLY_F, 4),
	WHOLE(port_info, mtu_cap, IB_PORT_MTU_CAP_F, 4),
	WHOLE(port_info, vl_stall_count, IB_PORT_VL_STALL_COUNT_F, 3),
	WHOLE(port_info, hoq_life, IB_PORT_HOQ_LIFE_F, 5),
	WHOLE(port_info, oper_vls, IB_PORT_OPER_VLS_F, 4),
	WHOLE(port_info, part_enf_in, IB_PORT_PART_EN_INB_F, 1),
	WHOLE(port_info, part_enf_out, IB_PORT_PART_EN_OUTB_F, 1),
	WHOLE(port_info, filter_raw_in, IB_PORT_FILTER_RAW_INB_F, 1),
	WHOLE(port_info, filter_raw_out, IB_PORT_FILTER_RAW_OUTB_F, 1),
	WHOLE(port_info, m_key_violations, IB_PORT_MKEY_VIOL_F, 16),
	WHOLE(port_info, p_key_violations, IB_PORT_PKEY_VIOL_F, 16),
	WHOLE(port_info, q_key_violations, IB_PORT_QKEY_VIOL_F, 16),
	WHOLE(port_info, guid_cap, IB_PORT_GUID_CAP_F, 8),
	WHOLE(port_info, client_reregister, IB_PORT_CLIENT_REREG_F, 1),
	WHOLE(port_info, mcast_pkey_suppress, IB_PORT_MCAST_PKEY_SUPR_ENAB_F, 2),
	WHOLE(port_info, subnet_timeout, IB_PORT_SUBN_TIMEOUT_F, 5),
	WHOLE(port_info, resp_time, IB_PORT_RESP_TIME_VAL_F, 5),
	WHOLE(port_info, local_phy_errors, IB_PORT_LOCAL_PHYS_ERR_F, 4),
	WHOLE(port_info, overrun_errors, IB_PORT_OVERRUN_ERR_F, 4),
	WHOLE(port_info, max_credit_hint, IB_PORT_MAX_CREDIT_HINT_F, 16),
	WHOLE(port_info, round_trip_latency, IB_PORT_LINK_ROUND_TRIP_F, 24),
	WHOLE(port_info, cap_mask2, IB_PORT_CAPMASK2_F, 16),
	WHOLE(port_info, speed_ext_active, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4),
	WHOLE(port_info, speed_ext_supported, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 4),
	WHOLE(port_info, speed_ext_enabled, IB_PORT_LINK_SPEED_EXT_ENABLED_F, 5),
	WHOLE(sm_info, guid, IB_SMINFO_GUID_F, 64),
	WHOLE(sm_info, sm_key, IB_SMINFO_KEY_F, 64),
	WHOLE(sm_info, act_count, IB_SMINFO_ACT_F, 32),
	WHOLE(sm_info, priority, IB_SMINFO_PRIO_F, 4),
	WHOLE(sm_info, state, IB_SMINFO_STATE_F, 4),
	WHOLE(trap_switch, lid, IB_NOTICE_DATA_LID_F, 16),
	WHOLE(trap_cap, lid, IB_NOTICE_DATA_144_LID_F, 16),
	WHOLE(trap_cap, cap_mask, IB_NOTICE_DATA_144_CAPMASK_F, 32),
	WHOLE(port_counters, port_select, IB_PC_PORT_SELECT_F, 8),
	WHOLE(port_counters, counter_select, IB_PC_COUNTER_SELECT_F, 16),
	WHOLE(port_counters, symbol_error, IB_PC_ERR_SYM_F, 16),
	WHOLE(port_counters, link_recovery, IB_PC_LINK_RECOVERS_F, 8),
	WHOLE(port_counters, link_downed, IB_PC_LINK_DOWNED_F, 8),
	WHOLE(port_counters, rcv_errors, IB_PC_ERR_RCV_F, 16),
	WHOLE(port_counters, rcv_remote_phys, IB_PC_ERR_PHYSRCV_F, 16),
	WHOLE(port_counters, rcv_switch_relay, IB_PC_ERR_SWITCH_REL_F, 16),
	WHOLE(port_counters, xmit_discards, IB_PC_XMT_DISCARDS_F, 16),
	WHOLE(port_counters, xmit_constraint, IB_PC_ERR_XMTCONSTR_F, 8),
	WHOLE(port_counters, rcv_constraint, IB_PC_ERR_RCVCONSTR_F, 8),
	WHOLE(port_counters, counter_select2, IB_PC_COUNTER_SELECT2_F, 8),
	WHOLE(port_counters, local_integrity, IB_PC_ERR_LOCALINTEG_F, 4),
	WHOLE(port_counters, buffer_overrun, IB_PC_ERR_EXCESS_OVR_F, 4),
	WHOLE(port_counters, vl15_dropped, IB_PC_VL15_DROPPED_F, 16),
	WHOLE(port_counters, xmit_data, IB_PC_XMT_BYTES_F, 32),
	WHOLE(port_counters, rcv_data, IB_PC_RCV_BYTES_F, 32),
	WHOLE(port_counters, xmit_pkts, IB_PC_XMT_PKTS_F, 32),
	WHOLE(port_counters, rcv_pkts, IB_PC_RCV_PKTS_F, 32),
	WHOLE(port_counters, xmit_wait, IB_PC_XMT_WAIT_F, 32),
	WHOLE(port_counters_ext, port_select, IB_PC_EXT_PORT_SELECT_F, 8),
	WHOLE(port_counters_ext, counter_select, IB_PC_EXT_COUNTER_SELECT_F, 16),
	WHOLE(port_counters_ext, counter_select2, IB_PC_EXT_COUNTER_SELECT2_F, 32),
	WHOLE(port_counters_ext, xmit_data, IB_PC_EXT_XMT_BYTES_F, 64),
	WHOLE(port_counters_ext, rcv_data, IB_PC_EXT_RCV_BYTES_F, 64),
	WHOLE(port_counters_ext, xmit_pkts, IB_PC_EXT_XMT_PKTS_F, 64),
	WHOLE(port_counters_ext, rcv_pkts, IB_PC_EXT_RCV_PKTS_F, 64),
	WHOLE(port_counters_ext, uni_xmit, IB_PC_EXT_XMT_UPKTS_F, 64),
	WHOLE(port_counters_ext, uni_rcv, IB_PC_EXT_RCV_UPKTS_F, 64),
	WHOLE(port_counters_ext, multi_xmit, IB_PC_EXT_XMT_MPKTS_F, 64),
	WHOLE(port_counters_ext, multi_rcv, IB_PC_EXT_RCV_MPKTS_F, 64),
	WHOLE(port_counters_ext, symbol_error, IB_PC_EXT_ERR_SYM_F, 64),
	WHOLE(port_counters_ext, link_recovery, IB_PC_EXT_LINK_RECOVERS_F, 64),
	WHOLE(port_counters_ext, link_downed, IB_PC_EXT_LINK_DOWNED_F, 64),
	WHOLE(port_counters_ext, rcv_errors, IB_PC_EXT_ERR_RCV_F, 64),
	WHOLE(port_counters_ext, rcv_remote_phys, IB_PC_EXT_ERR_PHYSRCV_F, 64),
	WHOLE(port_counters_ext, rcv_switch_relay, IB_PC_EXT_ERR_SWITCH_REL_F, 64),
	WHOLE(port_counters_ext, xmit_discards, IB_PC_EXT_XMT_DISCARDS_F, 64),
	WHOLE(port_counters_ext, xmit_constraint, IB_PC_EXT_ERR_XMTCONSTR_F, 64),
	WHOLE(port_counters_ext, rcv_constraint, IB_PC_EXT_ERR_RCVCONSTR_F, 64),
	WHOLE(port_counters_ext, local_integrity, IB_PC_EXT_ERR_LOCALINTEG_F, 64),
	WHOLE(port_counters_ext, buffer_overrun, IB_PC_EXT_ERR_EXCESS_OVR_F, 64),
	WHOLE(port_counters_ext, vl15_dropped, IB_PC_EXT_VL15_DROPPED_F, 64),
	WHOLE(port_counters_ext, xmit_wait, IB_PC_EXT_XMT_WAIT_F, 64),
	WHOLE(port_counters_ext, qp1_dropped, IB_PC_EXT_QP1_DROP_F, 64),
	WHOLE(ext_speeds_counters, port_select, IB_PESC_PORT_SELECT_F, 8),
	WHOLE(ext_speeds_counters, counter_select, IB_PESC_COUNTER_SELECT_F, 64),
	WHOLE(ext_speeds_counters, sync_header, IB_PESC_SYNC_HDR_ERR_CTR_F, 16),
	WHOLE(ext_speeds_counters, unknown_block, IB_PESC_UNK_BLOCK_CTR_F, 16),
	WHOLE(ext_speeds_counters, rs_corrected_blocks, IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, 32),
	WHOLE(ext_speeds_counters, rs_uncorrected_blocks, IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, 32),
	WHOLE(ext_speeds_counters, rs_corrected_symbols, IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F, 32),
	WHOLE(class_port_info, base_version, IB_CPI_BASEVER_F, 8),
	WHOLE(class_port_info, class_version, IB_CPI_CLASSVER_F, 8),
	WHOLE(class_port_info, cap_mask, IB_CPI_CAPMASK_F, 16),
	WHOLE(class_port_info, cap_mask2, IB_CPI_CAPMASK2_F, 27),
	WHOLE(class_port_info, resp_time, IB_CPI_RESP_TIME_VALUE_F, 5),
	WHOLE(class_port_info, redirect_tclass, IB_CPI_REDIRECT_TC_F, 8),
	WHOLE(class_port_info, redirect_sl, IB_CPI_REDIRECT_SL_F, 4),
	WHOLE(class_port_info, redirect_lid, IB_CPI_REDIRECT_LID_F, 16),
	WHOLE(class_port_info, redirect_pkey, IB_CPI_REDIRECT_PKEY_F, 16),
	WHOLE(class_port_info, redirect_qp, IB_CPI_REDIRECT_QP_F, 24),
	WHOLE(class_port_info, redirect_qkey, IB_CPI_REDIRECT_QKEY_F, 32),
	WHOLE(class_port_info, trap_tclass, IB_CPI_TRAP_TC_F, 8),
	WHOLE(class_port_info, trap_sl, IB_CPI_TRAP_SL_F, 4),
	WHOLE(class_port_info, trap_lid, IB_CPI_TRAP_LID_F, 16),
	WHOLE(class_port_info, trap_pkey, IB_CPI_TRAP_PKEY_F, 16),
	WHOLE(class_port_info, trap_hop_limit, IB_CPI_TRAP_HL_F, 8),
	WHOLE(class_port_info, trap_qp, IB_CPI_TRAP_QP_F, 24),
	WHOLE(class_port_info, trap_qkey, IB_CPI_TRAP_QKEY_F, 32),
	WHOLE(mlnx_ext_port_info, state_change_enable, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F, 8),
	WHOLE(mlnx_ext_port_info, speed_supported, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F, 8),
	WHOLE(mlnx_ext_port_info, speed_enabled, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F, 8),
	WHOLE(mlnx_ext_port_info, speed_active, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F, 8),
	WHOLE(port_info_ext, cap_mask, IB_PORT_EXT_CAPMASK_F, 32),
	WHOLE(port_info_ext, fec_active, IB_PORT_EXT_FEC_MODE_ACTIVE_F, 16),
	WHOLE(port_info_ext, fdr_fec_supported, IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F, 16),
	WHOLE(port_info_ext, fdr_fec_enabled, IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F, 16),
	WHOLE(port_info_ext, edr_fec_supported, IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F, 16),
	WHOLE(port_info_ext, edr_fec_enabled, IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F, 16),
};

/* Arrays that libibmad moves as one piece of bytes; elements are 1 or 2 bytes, big-endian. */
static const struct {
	const char *layout, *field;
	enum MAD_FIELDS id;
	unsigned bytes;
} arrays[] = {
	{"node_desc", "text", IB_NODE_DESC_F, 64},
	{"notice", "details", IB_NOTICE_DATA_DETAILS_F, 54},
	{"lft", "port", IB_LINEAR_FORW_TBL_F, 64},
	{"mft", "mask", IB_MULTICAST_FORW_TBL_F, 64},
	{"class_port_info", "redirect_gid", IB_CPI_REDIRECT_GID_F, 16},
	{"class_port_info", "trap_gid", IB_CPI_TRAP_GID_F, 16},
};

/* Arrays of parts of bytes: each has a test of its own below. */
static const struct {
	const char *layout, *field;
} special[] = {
	{"slvl_table", "vl"},
	{"vlarb_table", "vl"},
	{"vlarb_table", "weight"},
	{"ext_speeds_counters", "lane_errors"},
	{"ext_speeds_counters", "lane_corrected"},
	{"ext_speeds_counters", "lane_uncorrected"},
};

/* What libibmad has no id for. The bytes of these are laid out by hand in test_codec.c. */
static const struct {
	const char *layout, *field, *reason;
} unknown[] = {
	{"pkey_table", NULL, "libibmad leaves P_Key blocks to its callers"},
	{"rft", NULL, "libibmad has no random forwarding tables"},
	{"trap_gid", NULL, "libibmad knows the details of traps 128 and 144 only"},
	{"trap_port", NULL, "libibmad knows the details of traps 128 and 144 only"},
	{"trap_cap", "other_changes", "libibmad knows LID and capability mask of trap 144 only"},
	{"trap_cap", "local_changes", "libibmad stops after trap 144's capability mask"},
	{"trap_sysguid", NULL, "libibmad knows the details of traps 128 and 144 only"},
	{"trap_mkey", NULL, "libibmad knows the details of traps 128 and 144 only"},
	{"trap_pkey", NULL, "libibmad knows the details of traps 128 and 144 only"},
	{"class_port_info", "redirect_flow", "libibmad counts the SL to it"},
	{"class_port_info", "trap_flow", "libibmad counts the SL to it"},
	{"port_info_ext", "hdr_fec_supported", "libibmad has it in EDR's place"},
	{"port_info_ext", "hdr_fec_enabled", "libibmad has it in NDR's place"},
	{"port_info_ext", "ndr_fec_supported", "libibmad has it in HDR's place"},
	{"port_info_ext", "ndr_fec_enabled", "libibmad has it behind its place"},
	{"mirror_hdr", NULL, "of Weft, not of IBA"},
	{"mirror_root", NULL, "of Weft, not of IBA"},
	{"vf_info", NULL, "of Weft, not of IBA"},
	{"trap_swpkey", NULL, "libibmad knows the details of traps 128 and 144 only"},
};

#define NAME(stem, FIELDS, size, ...) #stem,
static const char *const stems[] = {IBA_STRUCTS(NAME)};

union host {
#define MEMBER(stem, FIELDS, size, ...) struct iba_##stem stem;
	IBA_STRUCTS(MEMBER)
};

static const struct iba_field *field_of(const struct iba_layout *l, const char *name)
{
	for (unsigned i = 0; i < l->nfields; i++)
		if (!strcmp(l->fields[i].name, name))
			return &l->fields[i];
	fail_msg("%s has no field %s", l->name, name);
	return NULL;
}

/* Where a layout starts in the buffer that libibmad counts from: header ids count from the MAD's
 * start, trap ids from the Notice's. */
static unsigned base_of(const char *layout)
{
	if (!strcmp(layout, "smp_hdr"))
		return IBA_SMP_HDR_OFF;
	return strncmp(layout, "trap_", 5) ? 0 : 10;
}

static void random_bytes(struct rng *r, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)rng_u64(r);
}

static uint64_t mask_of(unsigned width)
{
	return width == 64 ? UINT64_MAX : (1ull << width) - 1;
}

static void host_store(const struct iba_field *f, union host *h, unsigned element, uint64_t v)
{
	memcpy((uint8_t *)h + f->offset + (size_t)element * f->size, &v, f->size);
}

TEST(fields_decode_as_in_libibmad)
{
	uint8_t buf[IBA_MAD_SIZE];
	union host h;
	struct rng r;

	rng_seed(&r, 1, 0);
	for (size_t i = 0; i < ARRAY_LEN(knowns); i++) {
		const struct known *k = &knowns[i];
		const struct iba_layout *l = iba_layout_by_name(k->layout);
		const struct iba_field *f = field_of(l, k->field);

		for (int round = 0; round < ROUNDS; round++) {
			uint64_t theirs = 0, ours;

			random_bytes(&r, buf, sizeof(buf));
			assert_int_equal(
				iba_layout_get(l, &h, buf + base_of(k->layout), l->wire_size), 0);
			ours = iba_field_value(f, &h, k->element) >> k->low & mask_of(k->width);
			mad_decode_field(buf, k->id, &theirs); /* 32 or 64 bits, host order */
			if (ours != theirs)
				fail_msg("%s.%s: ours 0x%llx, libibmad %s 0x%llx", k->layout,
					 k->field, (unsigned long long)ours, mad_field_name(k->id),
					 (unsigned long long)theirs);
		}
	}
}

/* The whole buffer must come out alike: neither may touch a bit beside the field. */
TEST(fields_encode_as_in_libibmad)
{
	uint8_t ours[IBA_MAD_SIZE], theirs[IBA_MAD_SIZE];
	struct rng r;

	rng_seed(&r, 2, 0);
	for (size_t i = 0; i < ARRAY_LEN(knowns); i++) {
		const struct known *k = &knowns[i];
		const struct iba_layout *l = iba_layout_by_name(k->layout);

		for (int round = 0; round < ROUNDS; round++) {
			uint64_t v = rng_u64(&r) & mask_of(k->width);
			union host h = {0};

			memset(ours, 0, sizeof(ours));
			memset(theirs, 0, sizeof(theirs));
			host_store(field_of(l, k->field), &h, k->element, v << k->low);
			iba_layout_put(l, &h, ours + base_of(k->layout));
			mad_encode_field(theirs, k->id, &v);
			if (memcmp(ours, theirs, sizeof(ours)))
				fail_msg("%s.%s = 0x%llx is written otherwise by libibmad %s",
					 k->layout, k->field, (unsigned long long)v,
					 mad_field_name(k->id));
		}
	}
}

TEST(byte_arrays_agree_with_libibmad)
{
	uint8_t buf[IBA_MAD_SIZE], theirs[64], back[IBA_MAD_SIZE];
	struct rng r;

	rng_seed(&r, 3, 0);
	for (size_t i = 0; i < ARRAY_LEN(arrays); i++) {
		const struct iba_layout *l = iba_layout_by_name(arrays[i].layout);
		const struct iba_field *f = field_of(l, arrays[i].field);
		unsigned each = f->width / 8;
		union host h, only = {0};

		assert_int_equal(f->count * each, arrays[i].bytes);
		random_bytes(&r, buf, sizeof(buf));
		iba_layout_get(l, &h, buf, l->wire_size);
		mad_get_array(buf, 0, arrays[i].id, theirs);
		for (unsigned k = 0; k < f->count; k++) {
			uint64_t want =
				each == 1 ? theirs[k] : theirs[2 * k] * 256u + theirs[2 * k + 1];

			assert_int_equal(iba_field_value(f, &h, k), want);
			host_store(f, &only, k, want);
		}
		memset(back, 0, sizeof(back));
		mad_set_array(back, 0, arrays[i].id, theirs);
		iba_layout_put(l, &only, buf);
		assert_memory_equal(buf, back, l->wire_size);
	}
}

/* libibmad takes the 16 nibbles as one number, the first SL on top; its printer takes them one by
 * one: both must agree with us. */
TEST(sl_to_vl_agrees_with_libibmad)
{
	uint8_t buf[64], back[64] = {0};
	struct iba_slvl_table t;
	struct strbuf want = {0};
	char text[256];
	struct rng r;

	rng_seed(&r, 4, 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t theirs;

		random_bytes(&r, buf, sizeof(buf));
		iba_slvl_table_get(&t, buf, sizeof(buf));
		mad_dump_sltovl(text, sizeof(text), buf, 8);
		want.len = 0;
		strbuf_add(&want, "|");
		for (int sl = 0; sl < 16; sl++)
			strbuf_addf(&want, "%2u|", t.vl[sl]);
		strbuf_add(&want, "\n");
		assert_string_equal(text, want.s);
		iba_slvl_table_put(&t, back);
		assert_memory_equal(back, buf, 8);
		mad_decode_field(buf, IB_SLTOVL_MAPPING_TABLE_F, &theirs);
		for (int sl = 0; sl < 16; sl++)
			assert_int_equal(t.vl[sl], theirs >> (60 - 4 * sl) & 15);
	}
	strbuf_free(&want);
}

/* Twelve lanes, each an id of its own. */
TEST(counters_of_lanes_agree_with_libibmad)
{
	struct iba_ext_speeds_counters v;
	uint8_t buf[192], back[192];
	struct rng r;

	rng_seed(&r, 5, 0);
	for (int round = 0; round < ROUNDS; round++) {
		random_bytes(&r, buf, sizeof(buf));
		iba_ext_speeds_counters_get(&v, buf, sizeof(buf));
		memset(back, 0, sizeof(back));
		iba_ext_speeds_counters_put(&v, back);
		for (unsigned i = 0; i < 12; i++) {
			uint8_t *bytes = i % 2 ? buf : back;

			assert_int_equal(v.lane_errors[i],
					 mad_get_field(bytes, 0, IB_PESC_ERR_DET_CTR_LANE0_F + i));
			assert_int_equal(
				v.lane_corrected[i],
				mad_get_field(bytes, 0, IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F + i));
			assert_int_equal(
				v.lane_uncorrected[i],
				mad_get_field(bytes, 0, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F + i));
		}
	}
}

/* The numbers of one line of libibmad's table, "VL    : |0x3 |0x5 |...". */
static void numbers_of(const char *text, const char *title, unsigned *v, unsigned n)
{
	const char *p = strstr(text, title);

	assert_non_null(p);
	for (unsigned i = 0; i < n; i++) {
		p = strstr(p, "0x");
		assert_non_null(p);
		v[i] = (unsigned)strtoul(p, NULL, 16);
		p += 2;
	}
}

TEST(vl_arbitration_agrees_with_libibmad)
{
	unsigned vl[32], weight[32];
	struct iba_vlarb_table t;
	uint8_t buf[64], back[64];
	char text[1024];
	struct rng r;

	rng_seed(&r, 5, 0);
	for (int round = 0; round < ROUNDS; round++) {
		random_bytes(&r, buf, sizeof(buf));
		mad_dump_vlarbitration(text, sizeof(text), buf, sizeof(buf));
		numbers_of(text, "VL ", vl, 32);
		numbers_of(text, "WEIGHT", weight, 32);
		iba_vlarb_table_get(&t, buf, sizeof(buf));
		for (int i = 0; i < 32; i++) {
			assert_int_equal(t.vl[i], vl[i]);
			assert_int_equal(t.weight[i], weight[i]);
		}
		iba_vlarb_table_put(&t, back);
		mad_dump_vlarbitration(text, sizeof(text), back, sizeof(back));
		numbers_of(text, "VL ", vl, 32);
		numbers_of(text, "WEIGHT", weight, 32);
		for (int i = 0; i < 32; i++)
			assert_true(t.vl[i] == vl[i] && t.weight[i] == weight[i]);
	}
}

TEST(offsets_in_an_smp_agree_with_libibmad)
{
	uint8_t mad[IBA_MAD_SIZE], bytes[64];
	struct rng r;

	rng_seed(&r, 6, 0);
	random_bytes(&r, mad, sizeof(mad));
	/* The entry of IB_SM_DATA_F in libibmad's table is empty; the constants are used instead.
	 */
	assert_int_equal(iba_smp_data(mad) - mad, IB_SMP_DATA_OFFS);
	assert_int_equal(IBA_SMP_DATA_SIZE, IB_SMP_DATA_SIZE);
	mad_get_array(mad, 0, IB_DRSMP_PATH_F, bytes);
	assert_memory_equal(bytes, iba_smp_initial_path(mad), 64);
	mad_get_array(mad, 0, IB_DRSMP_RPATH_F, bytes);
	assert_memory_equal(bytes, iba_smp_return_path(mad), 64);
	assert_int_equal(iba_smp_base_version(mad), mad_get_field(mad, 0, IB_MAD_BASEVER_F));
	assert_int_equal(iba_smp_mgmt_class(mad), mad_get_field(mad, 0, IB_MAD_MGMTCLASS_F));
	assert_int_equal(iba_smp_class_version(mad), mad_get_field(mad, 0, IB_MAD_CLASSVER_F));
	assert_int_equal(iba_smp_method(mad), mad_get_field(mad, 0, IB_MAD_RESPONSE_F) << 7 |
						      mad_get_field(mad, 0, IB_MAD_METHOD_F));
	assert_int_equal(iba_smp_status(mad), mad_get_field(mad, 0, IB_MAD_STATUS_F));
	assert_int_equal(iba_smp_is_return(mad), mad_get_field(mad, 0, IB_DRSMP_DIRECTION_F));
	assert_int_equal(iba_smp_hop_ptr(mad), mad_get_field(mad, 0, IB_DRSMP_HOPPTR_F));
	assert_int_equal(iba_smp_hop_cnt(mad), mad_get_field(mad, 0, IB_DRSMP_HOPCNT_F));
	assert_true(iba_smp_tid(mad) == mad_get_field64(mad, 0, IB_MAD_TRID_F));
	assert_int_equal(iba_smp_attr_id(mad), mad_get_field(mad, 0, IB_MAD_ATTRID_F));
	assert_int_equal(iba_smp_attr_mod(mad), mad_get_field(mad, 0, IB_MAD_ATTRMOD_F));
	assert_true(iba_smp_m_key(mad) == mad_get_field64(mad, 0, IB_MAD_MKEY_F));
	assert_int_equal(iba_smp_dr_slid(mad), mad_get_field(mad, 0, IB_DRSMP_DRSLID_F));
	assert_int_equal(iba_smp_dr_dlid(mad), mad_get_field(mad, 0, IB_DRSMP_DRDLID_F));
}

/* Codes mean the same to both: MTU in bytes, VLs by their last, widths. */
TEST(codes_agree_with_libibmad)
{
	static const int widths[] = {IBA_WIDTH_1X, IBA_WIDTH_4X, IBA_WIDTH_8X, IBA_WIDTH_12X,
				     IBA_WIDTH_2X};
	char text[128];

	for (int code = 1; code <= 5; code++) {
		mad_dump_mtu(text, sizeof(text), &code, sizeof(code));
		assert_int_equal(strtoul(text, NULL, 10), iba_mtu_bytes((unsigned)code));
		mad_dump_opervls(text, sizeof(text), &code, sizeof(code));
		assert_string_equal(text, iba_format_word(IBA_FMT_VLS, (unsigned)code));
	}
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		int w = widths[i];

		mad_dump_linkwidth(text, sizeof(text), &w, sizeof(w));
		assert_int_equal(strcasecmp(text, iba_format_word(IBA_FMT_WIDTH, (unsigned)w)), 0);
	}
}

/* ---- nothing is left out ---- */

static uint64_t known_bits(const char *layout, const char *field, unsigned element)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < ARRAY_LEN(knowns); i++)
		if (!strcmp(knowns[i].layout, layout) && !strcmp(knowns[i].field, field) &&
		    knowns[i].element == element)
			bits |= mask_of(knowns[i].width) << knowns[i].low;
	return bits;
}

static bool in_arrays(const char *layout, const char *field)
{
	for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
		if (!strcmp(arrays[i].layout, layout) && !strcmp(arrays[i].field, field))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(special); i++)
		if (!strcmp(special[i].layout, layout) && !strcmp(special[i].field, field))
			return true;
	return false;
}

static bool in_unknown(const char *layout, const char *field)
{
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		if (!strcmp(unknown[i].layout, layout) &&
		    (!unknown[i].field || !strcmp(unknown[i].field, field)))
			return true;
	return false;
}

static void check_listed(const struct iba_layout *l, const struct iba_field *f)
{
	bool all = true, any = in_arrays(l->name, f->name);

	for (unsigned k = 0; k < f->count && !in_arrays(l->name, f->name); k++) {
		uint64_t bits = known_bits(l->name, f->name, k);

		all = all && bits == mask_of(f->width);
		any = any || bits;
	}
	if (in_unknown(l->name, f->name)) {
		if (any)
			fail_msg("%s.%s is listed as known and as unknown", l->name, f->name);
	} else if (!any || !all) {
		fail_msg("%s.%s is not fully compared with libibmad", l->name, f->name);
	}
}

TEST(every_field_is_compared_or_listed_as_unknown)
{
	unsigned compared = 0, excused = 0;

	for (size_t i = 0; i < ARRAY_LEN(stems); i++) {
		const struct iba_layout *l = iba_layout_by_name(stems[i]);

		for (unsigned k = 0; k < l->nfields; k++) {
			check_listed(l, &l->fields[k]);
			if (in_unknown(l->name, l->fields[k].name))
				excused++;
			else
				compared++;
		}
	}
	print_message("# %u fields compared, %u unknown to libibmad\n", compared, excused);
	assert_true(compared > excused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_compared_or_listed_as_unknown),
		cmocka_unit_test(fields_decode_as_in_libibmad),
		cmocka_unit_test(fields_encode_as_in_libibmad),
		cmocka_unit_test(byte_arrays_agree_with_libibmad),
		cmocka_unit_test(sl_to_vl_agrees_with_libibmad),
		cmocka_unit_test(counters_of_lanes_agree_with_libibmad),
		cmocka_unit_test(vl_arbitration_agrees_with_libibmad),
		cmocka_unit_test(offsets_in_an_smp_agree_with_libibmad),
		cmocka_unit_test(codes_agree_with_libibmad),
	};

	return cmocka_run_group_tests_name("iba against libibmad", tests, NULL, NULL);
}
