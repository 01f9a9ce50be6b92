/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one table of wire fields. Each attribute is a list of
 *
 *	F(type, name, bit, width, format)             a field: `width` bits from bit `bit` on
 *	A(type, name, count, bit, width, stride, format)  an array: element i starts at bit + i*stride
 *
 * Bits count from the most significant bit of the attribute's first byte (IBA order). From these
 * lists and the tables at the end come the host structs and constants (iba.h), decode, encode,
 * compare (codec.c), names and printing (print.c). Formats: DEC, HEX, GUID, or the name of an
 * enumeration printed with its word.
 *
 * Facts: IBA specification volume 1, chapters 13 and 14; thesis Tables 3 to 6.
 */
#ifndef WEFT_IBA_FIELDS_H
#define WEFT_IBA_FIELDS_H

/* Common MAD header, 24 bytes. For class 0x81 the status word holds D and 15 bits of status, and
 * class_specific holds hop pointer and hop count. */
#define IBA_MAD_HDR_FIELDS(F, A)                                                                   \
	F(uint8_t, base_version, 0, 8, DEC)                                                        \
	F(uint8_t, mgmt_class, 8, 8, CLASS)                                                        \
	F(uint8_t, class_version, 16, 8, DEC)                                                      \
	F(uint8_t, method, 24, 8, METHOD)                                                          \
	F(uint16_t, status, 32, 16, HEX)                                                           \
	F(uint16_t, class_specific, 48, 16, HEX)                                                   \
	F(uint64_t, tid, 64, 64, HEX)                                                              \
	F(uint16_t, attr_id, 128, 16, ATTR)                                                        \
	F(uint32_t, attr_mod, 160, 32, HEX)

/* What a subnet management MAD adds in bytes 24 to 35; class 0x01 uses only M_Key. */
#define IBA_SMP_HDR_FIELDS(F, A)                                                                   \
	F(uint64_t, m_key, 0, 64, HEX)                                                             \
	F(uint16_t, dr_slid, 64, 16, HEX)                                                          \
	F(uint16_t, dr_dlid, 80, 16, HEX)

#define IBA_NOTICE_FIELDS(F, A)                                                                    \
	F(uint8_t, is_generic, 0, 1, DEC)                                                          \
	F(uint8_t, type, 1, 7, NOTICE_TYPE)                                                        \
	F(uint32_t, producer_type, 8, 24, DEC)                                                     \
	F(uint16_t, trap_number, 32, 16, DEC)                                                      \
	F(uint16_t, issuer_lid, 48, 16, DEC)                                                       \
	F(uint8_t, toggle, 64, 1, DEC)                                                             \
	F(uint16_t, count, 65, 15, DEC)                                                            \
	A(uint8_t, details, 54, 80, 8, 8, HEX)

#define IBA_NODE_DESC_FIELDS(F, A) A(uint8_t, text, 64, 0, 8, 8, TEXT)

#define IBA_NODE_INFO_FIELDS(F, A)                                                                 \
	F(uint8_t, base_version, 0, 8, DEC)                                                        \
	F(uint8_t, class_version, 8, 8, DEC)                                                       \
	F(uint8_t, node_type, 16, 8, NODE_TYPE)                                                    \
	F(uint8_t, num_ports, 24, 8, DEC)                                                          \
	F(uint64_t, sys_guid, 32, 64, GUID)                                                        \
	F(uint64_t, node_guid, 96, 64, GUID)                                                       \
	F(uint64_t, port_guid, 160, 64, GUID)                                                      \
	F(uint16_t, partition_cap, 224, 16, DEC)                                                   \
	F(uint16_t, device_id, 240, 16, HEX)                                                       \
	F(uint32_t, revision, 256, 32, HEX)                                                        \
	F(uint8_t, local_port, 288, 8, DEC)                                                        \
	F(uint32_t, vendor_id, 296, 24, HEX)

#define IBA_SWITCH_INFO_FIELDS(F, A)                                                               \
	F(uint16_t, linear_cap, 0, 16, DEC)                                                        \
	F(uint16_t, random_cap, 16, 16, DEC)                                                       \
	F(uint16_t, mcast_cap, 32, 16, DEC)                                                        \
	F(uint16_t, linear_top, 48, 16, DEC)                                                       \
	F(uint8_t, default_port, 64, 8, DEC)                                                       \
	F(uint8_t, mcast_primary_port, 72, 8, DEC)                                                 \
	F(uint8_t, mcast_not_primary_port, 80, 8, DEC)                                             \
	F(uint8_t, life_time, 88, 5, DEC)                                                          \
	F(uint8_t, port_state_change, 93, 1, DEC)                                                  \
	F(uint8_t, optimized_slvl, 94, 2, DEC)                                                     \
	F(uint16_t, lids_per_port, 96, 16, DEC)                                                    \
	F(uint16_t, partition_enf_cap, 112, 16, DEC)                                               \
	F(uint8_t, inbound_enf_cap, 128, 1, DEC)                                                   \
	F(uint8_t, outbound_enf_cap, 129, 1, DEC)                                                  \
	F(uint8_t, filter_raw_in_cap, 130, 1, DEC)                                                 \
	F(uint8_t, filter_raw_out_cap, 131, 1, DEC)                                                \
	F(uint8_t, enhanced_port0, 132, 1, DEC)                                                    \
	F(uint16_t, mcast_top, 144, 16, HEX)

#define IBA_GUID_INFO_FIELDS(F, A) A(uint64_t, guid, 8, 0, 64, 64, GUID)

#define IBA_PORT_INFO_FIELDS(F, A)                                                                 \
	F(uint64_t, m_key, 0, 64, HEX)                                                             \
	F(uint64_t, gid_prefix, 64, 64, HEX)                                                       \
	F(uint16_t, lid, 128, 16, DEC)                                                             \
	F(uint16_t, sm_lid, 144, 16, DEC)                                                          \
	F(uint32_t, cap_mask, 160, 32, HEX)                                                        \
	F(uint16_t, diag_code, 192, 16, HEX)                                                       \
	F(uint16_t, m_key_lease, 208, 16, DEC)                                                     \
	F(uint8_t, local_port, 224, 8, DEC)                                                        \
	F(uint8_t, width_enabled, 232, 8, HEX)                                                     \
	F(uint8_t, width_supported, 240, 8, HEX)                                                   \
	F(uint8_t, width_active, 248, 8, WIDTH)                                                    \
	F(uint8_t, speed_supported, 256, 4, HEX)                                                   \
	F(uint8_t, state, 260, 4, PORT_STATE)                                                      \
	F(uint8_t, phys_state, 264, 4, PHYS_STATE)                                                 \
	F(uint8_t, down_default, 268, 4, DEC)                                                      \
	F(uint8_t, m_key_protect, 272, 2, DEC)                                                     \
	F(uint8_t, lmc, 277, 3, DEC)                                                               \
	F(uint8_t, speed_active, 280, 4, SPEED)                                                    \
	F(uint8_t, speed_enabled, 284, 4, HEX)                                                     \
	F(uint8_t, neighbor_mtu, 288, 4, MTU)                                                      \
	F(uint8_t, sm_sl, 292, 4, DEC)                                                             \
	F(uint8_t, vl_cap, 296, 4, VLS)                                                            \
	F(uint8_t, init_type, 300, 4, HEX)                                                         \
	F(uint8_t, vl_high_limit, 304, 8, DEC)                                                     \
	F(uint8_t, vl_arb_high_cap, 312, 8, DEC)                                                   \
	F(uint8_t, vl_arb_low_cap, 320, 8, DEC)                                                    \
	F(uint8_t, init_reply, 328, 4, HEX)                                                        \
	F(uint8_t, mtu_cap, 332, 4, MTU)                                                           \
	F(uint8_t, vl_stall_count, 336, 3, DEC)                                                    \
	F(uint8_t, hoq_life, 339, 5, DEC)                                                          \
	F(uint8_t, oper_vls, 344, 4, VLS)                                                          \
	F(uint8_t, part_enf_in, 348, 1, DEC)                                                       \
	F(uint8_t, part_enf_out, 349, 1, DEC)                                                      \
	F(uint8_t, filter_raw_in, 350, 1, DEC)                                                     \
	F(uint8_t, filter_raw_out, 351, 1, DEC)                                                    \
	F(uint16_t, m_key_violations, 352, 16, DEC)                                                \
	F(uint16_t, p_key_violations, 368, 16, DEC)                                                \
	F(uint16_t, q_key_violations, 384, 16, DEC)                                                \
	F(uint8_t, guid_cap, 400, 8, DEC)                                                          \
	F(uint8_t, client_reregister, 408, 1, DEC)                                                 \
	F(uint8_t, mcast_pkey_suppress, 409, 2, DEC)                                               \
	F(uint8_t, subnet_timeout, 411, 5, DEC)                                                    \
	F(uint8_t, resp_time, 419, 5, DEC)                                                         \
	F(uint8_t, local_phy_errors, 424, 4, DEC)                                                  \
	F(uint8_t, overrun_errors, 428, 4, DEC)                                                    \
	F(uint16_t, max_credit_hint, 432, 16, DEC)                                                 \
	F(uint32_t, round_trip_latency, 456, 24, DEC)                                              \
	F(uint16_t, cap_mask2, 480, 16, HEX)                                                       \
	F(uint8_t, speed_ext_active, 496, 4, SPEED_EXT)                                            \
	F(uint8_t, speed_ext_supported, 500, 4, HEX)                                               \
	F(uint8_t, speed_ext_enabled, 507, 5, HEX)

#define IBA_PKEY_TABLE_FIELDS(F, A) A(uint16_t, pkey, 32, 0, 16, 16, HEX)
#define IBA_SLVL_TABLE_FIELDS(F, A) A(uint8_t, vl, 16, 0, 4, 4, DEC)
#define IBA_VLARB_TABLE_FIELDS(F, A)                                                               \
	A(uint8_t, vl, 32, 4, 4, 16, DEC)                                                          \
	A(uint8_t, weight, 32, 8, 8, 16, DEC)
#define IBA_LFT_FIELDS(F, A) A(uint8_t, port, 64, 0, 8, 8, DEC)
#define IBA_RFT_FIELDS(F, A)                                                                       \
	A(uint16_t, lid, 16, 0, 16, 32, DEC)                                                       \
	A(uint8_t, valid, 16, 16, 1, 32, DEC)                                                      \
	A(uint8_t, lmc, 16, 17, 3, 32, DEC)                                                        \
	A(uint8_t, port, 16, 24, 8, 32, DEC)
#define IBA_MFT_FIELDS(F, A) A(uint16_t, mask, 32, 0, 16, 16, HEX)

#define IBA_SM_INFO_FIELDS(F, A)                                                                   \
	F(uint64_t, guid, 0, 64, GUID)                                                             \
	F(uint64_t, sm_key, 64, 64, HEX)                                                           \
	F(uint32_t, act_count, 128, 32, DEC)                                                       \
	F(uint8_t, priority, 160, 4, DEC)                                                          \
	F(uint8_t, state, 164, 4, SM_STATE)

/* Details of the subnet management traps (bytes from Notice.DataDetails on). */
#define IBA_TRAP_GID_FIELDS(F,                                                                     \
			    A) /* 64 to 67: a GID (in or out of service, group made, deleted) */   \
	F(uint64_t, gid_prefix, 48, 64, HEX)                                                       \
	F(uint64_t, gid_guid, 112, 64, GUID)
#define IBA_TRAP_SWITCH_FIELDS(F, A) F(uint16_t, lid, 0, 16, DEC) /* 128: a port changed state */
#define IBA_TRAP_PORT_FIELDS(F, A)   /* 129 to 131: integrity, overrun, watchdog */                \
	F(uint16_t, lid, 16, 16, DEC)                                                              \
	F(uint8_t, port, 32, 8, DEC)
#define IBA_TRAP_CAP_FIELDS(F, A) /* 144: capability, description, link changes */                 \
	F(uint16_t, lid, 16, 16, DEC)                                                              \
	F(uint8_t, other_changes, 47, 1, DEC)                                                      \
	F(uint32_t, cap_mask, 48, 32, HEX)                                                         \
	F(uint16_t, local_changes, 80, 16, HEX)
#define IBA_TRAP_SYSGUID_FIELDS(F, A) /* 145: system image GUID changed */                         \
	F(uint16_t, lid, 16, 16, DEC)                                                              \
	F(uint64_t, sys_guid, 48, 64, GUID)
#define IBA_TRAP_MKEY_FIELDS(F, A) /* 256: bad M_Key */                                            \
	F(uint16_t, lid, 16, 16, DEC)                                                              \
	F(uint16_t, dr_slid, 32, 16, DEC)                                                          \
	F(uint8_t, method, 48, 8, METHOD)                                                          \
	F(uint16_t, attr_id, 64, 16, ATTR)                                                         \
	F(uint32_t, attr_mod, 80, 32, HEX)                                                         \
	F(uint64_t, m_key, 112, 64, HEX)                                                           \
	F(uint8_t, dr_notice, 184, 1, DEC)                                                         \
	F(uint8_t, dr_path_truncated, 185, 1, DEC)                                                 \
	F(uint8_t, dr_hop_count, 186, 6, DEC)                                                      \
	A(uint8_t, dr_return_path, 30, 192, 8, 8, DEC)
#define IBA_TRAP_PKEY_FIELDS(F, A) /* 257 bad P_Key, 258 bad Q_Key */                              \
	F(uint16_t, lid1, 16, 16, DEC)                                                             \
	F(uint16_t, lid2, 32, 16, DEC)                                                             \
	F(uint32_t, key, 48, 32, HEX)                                                              \
	F(uint8_t, sl, 80, 4, DEC)                                                                 \
	F(uint32_t, qp1, 88, 24, HEX)                                                              \
	F(uint32_t, qp2, 120, 24, HEX)                                                             \
	F(uint64_t, gid1_prefix, 144, 64, HEX)                                                     \
	F(uint64_t, gid1_guid, 208, 64, GUID)                                                      \
	F(uint64_t, gid2_prefix, 272, 64, HEX)                                                     \
	F(uint64_t, gid2_guid, 336, 64, GUID)
#define IBA_TRAP_SWPKEY_FIELDS(F, A) /* 259: bad P_Key at a switch's port */                       \
	F(uint16_t, data_valid, 0, 16, HEX)                                                        \
	F(uint16_t, lid1, 16, 16, DEC)                                                             \
	F(uint16_t, lid2, 32, 16, DEC)                                                             \
	F(uint16_t, pkey, 48, 16, HEX)                                                             \
	F(uint8_t, sl, 64, 4, DEC)                                                                 \
	F(uint32_t, qp1, 72, 24, HEX)                                                              \
	F(uint32_t, qp2, 104, 24, HEX)                                                             \
	F(uint64_t, gid1_prefix, 128, 64, HEX)                                                     \
	F(uint64_t, gid1_guid, 192, 64, GUID)                                                      \
	F(uint64_t, gid2_prefix, 256, 64, HEX)                                                     \
	F(uint64_t, gid2_guid, 320, 64, GUID)                                                      \
	F(uint16_t, switch_lid, 384, 16, DEC)                                                      \
	F(uint8_t, switch_port, 400, 8, DEC)

/* Beyond IBA: what managers tell each other, in GMPs of class 0x4a; src/sm/mirror. The header is bytes 36
 * to 63, behind the RMPP header, which is zero; data follow. */
#define IBA_MIRROR_HDR_FIELDS(F, A)                                                                \
	F(uint32_t, oui, 8, 24, HEX)                                                               \
	F(uint64_t, tag, 32, 64, HEX)                                                              \
	F(uint64_t, nonce, 96, 64, HEX)                                                            \
	F(uint64_t, root, 160, 64, HEX)
#define IBA_MIRROR_ROOT_FIELDS(F, A)                                                               \
	F(uint32_t, pages, 0, 32, DEC)                                                             \
	F(uint32_t, stamp_block, 32, 32, DEC)                                                      \
	F(uint64_t, stamp, 64, 64, HEX)                                                            \
	F(uint64_t, stamp_guid, 128, 64, GUID)

/* Beyond IBA: FDR10, as devices of Mellanox report it (attribute 0xff90). */
#define IBA_MLNX_EXT_PORT_INFO_FIELDS(F, A)                                                        \
	F(uint8_t, state_change_enable, 24, 8, HEX)                                                \
	F(uint8_t, speed_supported, 56, 8, HEX)                                                    \
	F(uint8_t, speed_enabled, 88, 8, HEX)                                                      \
	F(uint8_t, speed_active, 120, 8, HEX)
/* Beyond IBA: the VFs of an HCA in vSwitch mode, six slots from the modifier's on (attribute 0xff70 of the
 * vSwitch's SMA). LID 0: the VF is detached; GUID 0 in a Set: the VF's own. */
#define IBA_VF_INFO_FIELDS(F, A)                                                                   \
	F(uint8_t, vfs, 0, 8, DEC)                                                                 \
	F(uint8_t, count, 8, 8, DEC)                                                               \
	A(uint16_t, lid, 6, 32, 16, 16, DEC)                                                       \
	A(uint64_t, guid, 6, 128, 64, 64, GUID)
#define IBA_PORT_INFO_EXT_FIELDS(F, A)                                                             \
	F(uint32_t, cap_mask, 0, 32, HEX)                                                          \
	F(uint16_t, fec_active, 32, 16, HEX)                                                       \
	F(uint16_t, fdr_fec_supported, 48, 16, HEX)                                                \
	F(uint16_t, fdr_fec_enabled, 64, 16, HEX)                                                  \
	F(uint16_t, edr_fec_supported, 80, 16, HEX)                                                \
	F(uint16_t, edr_fec_enabled, 96, 16, HEX)                                                  \
	F(uint16_t, hdr_fec_supported, 112, 16, HEX)                                               \
	F(uint16_t, hdr_fec_enabled, 128, 16, HEX)                                                 \
	F(uint16_t, ndr_fec_supported, 144, 16, HEX)                                               \
	F(uint16_t, ndr_fec_enabled, 160, 16, HEX)

/* General services: bytes 64 on of a GMP (IBA 13.4.8.1, 16.1.3). */
#define IBA_CLASS_PORT_INFO_FIELDS(F, A)                                                           \
	F(uint8_t, base_version, 0, 8, DEC)                                                        \
	F(uint8_t, class_version, 8, 8, DEC)                                                       \
	F(uint16_t, cap_mask, 16, 16, HEX)                                                         \
	F(uint32_t, cap_mask2, 32, 27, HEX)                                                        \
	F(uint8_t, resp_time, 59, 5, DEC)                                                          \
	A(uint8_t, redirect_gid, 16, 64, 8, 8, HEX)                                                \
	F(uint8_t, redirect_tclass, 192, 8, HEX)                                                   \
	F(uint8_t, redirect_sl, 200, 4, DEC)                                                       \
	F(uint32_t, redirect_flow, 204, 20, HEX)                                                   \
	F(uint16_t, redirect_lid, 224, 16, DEC)                                                    \
	F(uint16_t, redirect_pkey, 240, 16, HEX)                                                   \
	F(uint32_t, redirect_qp, 264, 24, HEX)                                                     \
	F(uint32_t, redirect_qkey, 288, 32, HEX)                                                   \
	A(uint8_t, trap_gid, 16, 320, 8, 8, HEX)                                                   \
	F(uint8_t, trap_tclass, 448, 8, HEX)                                                       \
	F(uint8_t, trap_sl, 456, 4, DEC)                                                           \
	F(uint32_t, trap_flow, 460, 20, HEX)                                                       \
	F(uint16_t, trap_lid, 480, 16, DEC)                                                        \
	F(uint16_t, trap_pkey, 496, 16, HEX)                                                       \
	F(uint8_t, trap_hop_limit, 512, 8, DEC)                                                    \
	F(uint32_t, trap_qp, 520, 24, HEX)                                                         \
	F(uint32_t, trap_qkey, 544, 32, HEX)
#define IBA_PORT_COUNTERS_FIELDS(F, A)                                                             \
	F(uint8_t, port_select, 8, 8, DEC)                                                         \
	F(uint16_t, counter_select, 16, 16, HEX)                                                   \
	F(uint16_t, symbol_error, 32, 16, DEC)                                                     \
	F(uint8_t, link_recovery, 48, 8, DEC)                                                      \
	F(uint8_t, link_downed, 56, 8, DEC)                                                        \
	F(uint16_t, rcv_errors, 64, 16, DEC)                                                       \
	F(uint16_t, rcv_remote_phys, 80, 16, DEC)                                                  \
	F(uint16_t, rcv_switch_relay, 96, 16, DEC)                                                 \
	F(uint16_t, xmit_discards, 112, 16, DEC)                                                   \
	F(uint8_t, xmit_constraint, 128, 8, DEC)                                                   \
	F(uint8_t, rcv_constraint, 136, 8, DEC)                                                    \
	F(uint8_t, counter_select2, 144, 8, HEX)                                                   \
	F(uint8_t, local_integrity, 152, 4, DEC)                                                   \
	F(uint8_t, buffer_overrun, 156, 4, DEC)                                                    \
	F(uint16_t, vl15_dropped, 176, 16, DEC)                                                    \
	F(uint32_t, xmit_data, 192, 32, DEC)                                                       \
	F(uint32_t, rcv_data, 224, 32, DEC)                                                        \
	F(uint32_t, xmit_pkts, 256, 32, DEC)                                                       \
	F(uint32_t, rcv_pkts, 288, 32, DEC)                                                        \
	F(uint32_t, xmit_wait, 320, 32, DEC)
#define IBA_PORT_COUNTERS_EXT_FIELDS(F, A)                                                         \
	F(uint8_t, port_select, 8, 8, DEC)                                                         \
	F(uint16_t, counter_select, 16, 16, HEX)                                                   \
	F(uint32_t, counter_select2, 32, 32, HEX)                                                  \
	F(uint64_t, xmit_data, 64, 64, DEC)                                                        \
	F(uint64_t, rcv_data, 128, 64, DEC)                                                        \
	F(uint64_t, xmit_pkts, 192, 64, DEC)                                                       \
	F(uint64_t, rcv_pkts, 256, 64, DEC)                                                        \
	F(uint64_t, uni_xmit, 320, 64, DEC)                                                        \
	F(uint64_t, uni_rcv, 384, 64, DEC)                                                         \
	F(uint64_t, multi_xmit, 448, 64, DEC)                                                      \
	F(uint64_t, multi_rcv, 512, 64, DEC)                                                       \
	F(uint64_t, symbol_error, 576, 64, DEC)                                                    \
	F(uint64_t, link_recovery, 640, 64, DEC)                                                   \
	F(uint64_t, link_downed, 704, 64, DEC)                                                     \
	F(uint64_t, rcv_errors, 768, 64, DEC)                                                      \
	F(uint64_t, rcv_remote_phys, 832, 64, DEC)                                                 \
	F(uint64_t, rcv_switch_relay, 896, 64, DEC)                                                \
	F(uint64_t, xmit_discards, 960, 64, DEC)                                                   \
	F(uint64_t, xmit_constraint, 1024, 64, DEC)                                                \
	F(uint64_t, rcv_constraint, 1088, 64, DEC)                                                 \
	F(uint64_t, local_integrity, 1152, 64, DEC)                                                \
	F(uint64_t, buffer_overrun, 1216, 64, DEC)                                                 \
	F(uint64_t, vl15_dropped, 1280, 64, DEC)                                                   \
	F(uint64_t, xmit_wait, 1344, 64, DEC)                                                      \
	F(uint64_t, qp1_dropped, 1408, 64, DEC)
/* With RS-FEC, lane_corrected counts symbols, and the last three are used instead of lane_uncorrected. */
#define IBA_EXT_SPEEDS_COUNTERS_FIELDS(F, A)                                                       \
	F(uint8_t, port_select, 8, 8, DEC)                                                         \
	F(uint64_t, counter_select, 64, 64, HEX)                                                   \
	F(uint16_t, sync_header, 128, 16, DEC)                                                     \
	F(uint16_t, unknown_block, 144, 16, DEC)                                                   \
	A(uint16_t, lane_errors, 12, 160, 16, 16, DEC)                                             \
	A(uint32_t, lane_corrected, 12, 352, 32, 32, DEC)                                          \
	A(uint32_t, lane_uncorrected, 12, 736, 32, 32, DEC)                                        \
	F(uint32_t, rs_corrected_blocks, 1120, 32, DEC)                                            \
	F(uint32_t, rs_uncorrected_blocks, 1152, 32, DEC)                                          \
	F(uint32_t, rs_corrected_symbols, 1184, 32, DEC)

/*
 * Every struct of the wire: X(struct and function stem, FIELDS list, bytes on the wire, ...).
 * Attributes go on with the name of the constant (IBA_ATTR_..., IBA_PERF_...), the attribute's id and
 * its name in IBA; headers and details of traps have none. A new attribute is its list of fields
 * above and a line here: struct, codec, constant, name and printing follow.
 */
/* clang-format off */
#define IBA_HEADERS(X)                                                                             \
	X(mad_hdr, IBA_MAD_HDR_FIELDS, 24, , , )                                                   \
	X(smp_hdr, IBA_SMP_HDR_FIELDS, 12, , , )                                                   \
	X(mirror_hdr, IBA_MIRROR_HDR_FIELDS, 28, , , )                                             \
	X(mirror_root, IBA_MIRROR_ROOT_FIELDS, 24, , , )                                           \
	X(trap_gid, IBA_TRAP_GID_FIELDS, 54, , , )                                                 \
	X(trap_switch, IBA_TRAP_SWITCH_FIELDS, 54, , , )                                           \
	X(trap_port, IBA_TRAP_PORT_FIELDS, 54, , , )                                               \
	X(trap_cap, IBA_TRAP_CAP_FIELDS, 54, , , )                                                 \
	X(trap_sysguid, IBA_TRAP_SYSGUID_FIELDS, 54, , , )                                         \
	X(trap_mkey, IBA_TRAP_MKEY_FIELDS, 54, , , )                                               \
	X(trap_pkey, IBA_TRAP_PKEY_FIELDS, 54, , , )                                               \
	X(trap_swpkey, IBA_TRAP_SWPKEY_FIELDS, 54, , , )

#define IBA_SUBN_ATTRS(X)                                                                          \
	X(notice, IBA_NOTICE_FIELDS, 64, NOTICE, 0x0002, "Notice")                                 \
	X(node_desc, IBA_NODE_DESC_FIELDS, 64, NODE_DESC, 0x0010, "NodeDescription")               \
	X(node_info, IBA_NODE_INFO_FIELDS, 64, NODE_INFO, 0x0011, "NodeInfo")                      \
	X(switch_info, IBA_SWITCH_INFO_FIELDS, 64, SWITCH_INFO, 0x0012, "SwitchInfo")              \
	X(guid_info, IBA_GUID_INFO_FIELDS, 64, GUID_INFO, 0x0014, "GUIDInfo")                      \
	X(port_info, IBA_PORT_INFO_FIELDS, 64, PORT_INFO, 0x0015, "PortInfo")                      \
	X(pkey_table, IBA_PKEY_TABLE_FIELDS, 64, PKEY_TABLE, 0x0016, "P_KeyTable")                 \
	X(slvl_table, IBA_SLVL_TABLE_FIELDS, 64, SLVL_TABLE, 0x0017, "SLtoVLMappingTable")         \
	X(vlarb_table, IBA_VLARB_TABLE_FIELDS, 64, VLARB_TABLE, 0x0018, "VLArbitrationTable")      \
	X(lft, IBA_LFT_FIELDS, 64, LFT, 0x0019, "LinearForwardingTable")                           \
	X(rft, IBA_RFT_FIELDS, 64, RFT, 0x001a, "RandomForwardingTable")                           \
	X(mft, IBA_MFT_FIELDS, 64, MFT, 0x001b, "MulticastForwardingTable")                        \
	X(sm_info, IBA_SM_INFO_FIELDS, 64, SM_INFO, 0x0020, "SMInfo")                              \
	X(port_info_ext, IBA_PORT_INFO_EXT_FIELDS, 64, PORT_INFO_EXT, 0x0033, "PortInfoExtended")  \
	X(vf_info, IBA_VF_INFO_FIELDS, 64, VF_INFO, 0xff70, "VFInfo")                              \
	X(mlnx_ext_port_info, IBA_MLNX_EXT_PORT_INFO_FIELDS, 64, MLNX_EXT_PORT_INFO, 0xff90,       \
	  "MlnxExtendedPortInfo")

#define IBA_PERF_ATTRS(X)                                                                          \
	X(class_port_info, IBA_CLASS_PORT_INFO_FIELDS, 72, CLASS_PORT_INFO, 0x0001,                \
	  "ClassPortInfo")                                                                         \
	X(port_counters, IBA_PORT_COUNTERS_FIELDS, 44, PORT_COUNTERS, 0x0012, "PortCounters")      \
	X(port_counters_ext, IBA_PORT_COUNTERS_EXT_FIELDS, 184, PORT_COUNTERS_EXT, 0x001d,         \
	  "PortCountersExtended")                                                                  \
	X(ext_speeds_counters, IBA_EXT_SPEEDS_COUNTERS_FIELDS, 152, EXT_SPEEDS_COUNTERS, 0x001f,   \
	  "PortExtendedSpeedsCounters")

#define IBA_STRUCTS(X) IBA_HEADERS(X) IBA_SUBN_ATTRS(X) IBA_PERF_ATTRS(X)

/* Subnet management traps: X(constant IBA_TRAP_..., number, stem of its details, name). */
#define IBA_TRAPS(X)                                                                               \
	X(GID_IN, 64, trap_gid, "GidInService")                                                    \
	X(GID_OUT, 65, trap_gid, "GidOutOfService")                                                \
	X(MCAST_CREATED, 66, trap_gid, "MulticastGroupCreated")                                    \
	X(MCAST_DELETED, 67, trap_gid, "MulticastGroupDeleted")                                    \
	X(LINK_STATE, 128, trap_switch, "LinkStateChange")                                         \
	X(INTEGRITY, 129, trap_port, "LocalLinkIntegrity")                                         \
	X(OVERRUN, 130, trap_port, "ExcessiveBufferOverrun")                                       \
	X(WATCHDOG, 131, trap_port, "FlowControlWatchdog")                                         \
	X(CAP_CHANGE, 144, trap_cap, "CapabilityChange")                                           \
	X(SYS_GUID, 145, trap_sysguid, "SystemImageGuidChange")                                    \
	X(BAD_MKEY, 256, trap_mkey, "BadM_Key")                                                    \
	X(BAD_PKEY, 257, trap_pkey, "BadP_Key")                                                    \
	X(BAD_QKEY, 258, trap_pkey, "BadQ_Key")                                                    \
	X(SW_BAD_PKEY, 259, trap_swpkey, "SwitchBadP_Key")
/* clang-format on */

#endif
