/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of subnet administration, as fields.h has the attributes of subnet management. A record is the list of its
 * components in the order of the wire, reserved ones included: the n-th entry is bit n of the component mask (IBA 15.2.2.1),
 * and positions follow from the widths.
 *
 *	F(type, name, width, format)  a number of `width` bits
 *	B(name, bytes, format)        bytes: a GID, a name, a table
 *	R(name, width)                reserved: a component without a value
 *
 * Records that carry an attribute of subnet management list its components here once more, since the mask counts each.
 * Facts: IBA specification volume 1, chapter 15.
 */
#ifndef WEFT_SA_FIELDS_H
#define WEFT_SA_FIELDS_H

#define IBA_SA_NODE_FIELDS(F, B, R)                                                                \
	F(uint16_t, lid, 16, DEC)                                                                  \
	R(r1, 16)                                                                                  \
	F(uint8_t, base_version, 8, DEC)                                                           \
	F(uint8_t, class_version, 8, DEC)                                                          \
	F(uint8_t, node_type, 8, NODE_TYPE)                                                        \
	F(uint8_t, num_ports, 8, DEC)                                                              \
	F(uint64_t, sys_guid, 64, GUID)                                                            \
	F(uint64_t, node_guid, 64, GUID)                                                           \
	F(uint64_t, port_guid, 64, GUID)                                                           \
	F(uint16_t, partition_cap, 16, DEC)                                                        \
	F(uint16_t, device_id, 16, HEX)                                                            \
	F(uint32_t, revision, 32, HEX)                                                             \
	F(uint8_t, local_port, 8, DEC)                                                             \
	F(uint32_t, vendor_id, 24, HEX)                                                            \
	B(desc, 64, TEXT)

/* options: 0x80 says that M_Keys are shown as zero. */
#define IBA_SA_PORT_FIELDS(F, B, R)                                                                \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint8_t, port, 8, DEC)                                                                   \
	F(uint8_t, options, 8, HEX)                                                                \
	F(uint64_t, m_key, 64, HEX)                                                                \
	F(uint64_t, gid_prefix, 64, HEX)                                                           \
	F(uint16_t, base_lid, 16, DEC)                                                             \
	F(uint16_t, sm_lid, 16, DEC)                                                               \
	F(uint32_t, cap_mask, 32, HEX)                                                             \
	F(uint16_t, diag_code, 16, HEX)                                                            \
	F(uint16_t, m_key_lease, 16, DEC)                                                          \
	F(uint8_t, local_port, 8, DEC)                                                             \
	F(uint8_t, width_enabled, 8, HEX)                                                          \
	F(uint8_t, width_supported, 8, HEX)                                                        \
	F(uint8_t, width_active, 8, WIDTH)                                                         \
	F(uint8_t, speed_supported, 4, HEX)                                                        \
	F(uint8_t, state, 4, PORT_STATE)                                                           \
	F(uint8_t, phys_state, 4, PHYS_STATE)                                                      \
	F(uint8_t, down_default, 4, DEC)                                                           \
	F(uint8_t, m_key_protect, 2, DEC)                                                          \
	R(r2, 3)                                                                                   \
	F(uint8_t, lmc, 3, DEC)                                                                    \
	F(uint8_t, speed_active, 4, SPEED)                                                         \
	F(uint8_t, speed_enabled, 4, HEX)                                                          \
	F(uint8_t, neighbor_mtu, 4, MTU)                                                           \
	F(uint8_t, sm_sl, 4, DEC)                                                                  \
	F(uint8_t, vl_cap, 4, VLS)                                                                 \
	F(uint8_t, init_type, 4, HEX)                                                              \
	F(uint8_t, vl_high_limit, 8, DEC)                                                          \
	F(uint8_t, vl_arb_high_cap, 8, DEC)                                                        \
	F(uint8_t, vl_arb_low_cap, 8, DEC)                                                         \
	F(uint8_t, init_reply, 4, HEX)                                                             \
	F(uint8_t, mtu_cap, 4, MTU)                                                                \
	F(uint8_t, vl_stall_count, 3, DEC)                                                         \
	F(uint8_t, hoq_life, 5, DEC)                                                               \
	F(uint8_t, oper_vls, 4, VLS)                                                               \
	F(uint8_t, part_enf_in, 1, DEC)                                                            \
	F(uint8_t, part_enf_out, 1, DEC)                                                           \
	F(uint8_t, filter_raw_in, 1, DEC)                                                          \
	F(uint8_t, filter_raw_out, 1, DEC)                                                         \
	F(uint16_t, m_key_violations, 16, DEC)                                                     \
	F(uint16_t, p_key_violations, 16, DEC)                                                     \
	F(uint16_t, q_key_violations, 16, DEC)                                                     \
	F(uint8_t, guid_cap, 8, DEC)                                                               \
	F(uint8_t, client_reregister, 1, DEC)                                                      \
	R(r3, 2)                                                                                   \
	F(uint8_t, subnet_timeout, 5, DEC)                                                         \
	R(r4, 3)                                                                                   \
	F(uint8_t, resp_time, 5, DEC)                                                              \
	F(uint8_t, local_phy_errors, 4, DEC)                                                       \
	F(uint8_t, overrun_errors, 4, DEC)                                                         \
	F(uint16_t, max_credit_hint, 16, DEC)                                                      \
	R(r5, 8)                                                                                   \
	F(uint32_t, round_trip_latency, 24, DEC)                                                   \
	F(uint16_t, cap_mask2, 16, HEX)                                                            \
	F(uint8_t, speed_ext_active, 4, SPEED_EXT)                                                 \
	F(uint8_t, speed_ext_supported, 4, HEX)                                                    \
	R(r7, 3)                                                                                   \
	F(uint8_t, speed_ext_enabled, 5, HEX)

#define IBA_SA_SLVL_FIELDS(F, B, R)                                                                \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint8_t, in_port, 8, DEC)                                                                \
	F(uint8_t, out_port, 8, DEC)                                                               \
	R(r1, 32)                                                                                  \
	B(vls, 8, HEX)

#define IBA_SA_SWITCH_FIELDS(F, B, R)                                                              \
	F(uint16_t, lid, 16, DEC)                                                                  \
	R(r1, 16)                                                                                  \
	F(uint16_t, linear_cap, 16, DEC)                                                           \
	F(uint16_t, random_cap, 16, DEC)                                                           \
	F(uint16_t, mcast_cap, 16, DEC)                                                            \
	F(uint16_t, linear_top, 16, DEC)                                                           \
	F(uint8_t, default_port, 8, DEC)                                                           \
	F(uint8_t, mcast_primary_port, 8, DEC)                                                     \
	F(uint8_t, mcast_not_primary_port, 8, DEC)                                                 \
	F(uint8_t, life_time, 5, DEC)                                                              \
	F(uint8_t, port_state_change, 1, DEC)                                                      \
	F(uint8_t, optimized_slvl, 2, DEC)                                                         \
	F(uint16_t, lids_per_port, 16, DEC)                                                        \
	F(uint16_t, partition_enf_cap, 16, DEC)                                                    \
	F(uint8_t, inbound_enf_cap, 1, DEC)                                                        \
	F(uint8_t, outbound_enf_cap, 1, DEC)                                                       \
	F(uint8_t, filter_raw_in_cap, 1, DEC)                                                      \
	F(uint8_t, filter_raw_out_cap, 1, DEC)                                                     \
	F(uint8_t, enhanced_port0, 1, DEC)                                                         \
	R(r2, 3)                                                                                   \
	R(r3, 8)                                                                                   \
	F(uint16_t, mcast_top, 16, HEX)

#define IBA_SA_LFT_FIELDS(F, B, R)                                                                 \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint16_t, block, 16, DEC)                                                                \
	R(r1, 32)                                                                                  \
	B(ports, 64, HEX)

#define IBA_SA_RFT_FIELDS(F, B, R)                                                                 \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint16_t, block, 16, DEC)                                                                \
	R(r1, 32)                                                                                  \
	B(entries, 64, HEX)

#define IBA_SA_MFT_FIELDS(F, B, R)                                                                 \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint8_t, position, 4, DEC)                                                               \
	R(r1, 3)                                                                                   \
	F(uint16_t, block, 9, DEC)                                                                 \
	R(r2, 32)                                                                                  \
	B(masks, 64, HEX)

#define IBA_SA_SM_FIELDS(F, B, R)                                                                  \
	F(uint16_t, lid, 16, DEC)                                                                  \
	R(r1, 16)                                                                                  \
	F(uint64_t, guid, 64, GUID)                                                                \
	F(uint64_t, sm_key, 64, HEX)                                                               \
	F(uint32_t, act_count, 32, DEC)                                                            \
	F(uint8_t, priority, 4, DEC)                                                               \
	F(uint8_t, state, 4, SM_STATE)

#define IBA_SA_LINK_FIELDS(F, B, R)                                                                \
	F(uint16_t, from_lid, 16, DEC)                                                             \
	F(uint8_t, from_port, 8, DEC)                                                              \
	F(uint8_t, to_port, 8, DEC)                                                                \
	F(uint16_t, to_lid, 16, DEC)

#define IBA_SA_GUID_FIELDS(F, B, R)                                                                \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint8_t, block, 8, DEC)                                                                  \
	R(r1, 8)                                                                                   \
	R(r2, 32)                                                                                  \
	F(uint64_t, guid0, 64, GUID)                                                               \
	F(uint64_t, guid1, 64, GUID)                                                               \
	F(uint64_t, guid2, 64, GUID)                                                               \
	F(uint64_t, guid3, 64, GUID)                                                               \
	F(uint64_t, guid4, 64, GUID)                                                               \
	F(uint64_t, guid5, 64, GUID)                                                               \
	F(uint64_t, guid6, 64, GUID)                                                               \
	F(uint64_t, guid7, 64, GUID)

#define IBA_SA_SERVICE_FIELDS(F, B, R)                                                             \
	F(uint64_t, id, 64, HEX)                                                                   \
	B(gid, 16, GID)                                                                            \
	F(uint16_t, pkey, 16, HEX)                                                                 \
	R(r1, 16)                                                                                  \
	F(uint32_t, lease, 32, DEC)                                                                \
	B(key, 16, HEX)                                                                            \
	B(name, 64, TEXT)                                                                          \
	IBA_SA_SERVICE_DATA(F)

#define IBA_SA_SERVICE_DATA(F)                                                                     \
	F(uint8_t, data8_0, 8, HEX)                                                                \
	F(uint8_t, data8_1, 8, HEX)                                                                \
	F(uint8_t, data8_2, 8, HEX)                                                                \
	F(uint8_t, data8_3, 8, HEX)                                                                \
	F(uint8_t, data8_4, 8, HEX)                                                                \
	F(uint8_t, data8_5, 8, HEX)                                                                \
	F(uint8_t, data8_6, 8, HEX)                                                                \
	F(uint8_t, data8_7, 8, HEX)                                                                \
	F(uint8_t, data8_8, 8, HEX)                                                                \
	F(uint8_t, data8_9, 8, HEX)                                                                \
	F(uint8_t, data8_10, 8, HEX)                                                               \
	F(uint8_t, data8_11, 8, HEX)                                                               \
	F(uint8_t, data8_12, 8, HEX)                                                               \
	F(uint8_t, data8_13, 8, HEX)                                                               \
	F(uint8_t, data8_14, 8, HEX)                                                               \
	F(uint8_t, data8_15, 8, HEX)                                                               \
	F(uint16_t, data16_0, 16, HEX)                                                             \
	F(uint16_t, data16_1, 16, HEX)                                                             \
	F(uint16_t, data16_2, 16, HEX)                                                             \
	F(uint16_t, data16_3, 16, HEX)                                                             \
	F(uint16_t, data16_4, 16, HEX)                                                             \
	F(uint16_t, data16_5, 16, HEX)                                                             \
	F(uint16_t, data16_6, 16, HEX)                                                             \
	F(uint16_t, data16_7, 16, HEX)                                                             \
	F(uint32_t, data32_0, 32, HEX)                                                             \
	F(uint32_t, data32_1, 32, HEX)                                                             \
	F(uint32_t, data32_2, 32, HEX)                                                             \
	F(uint32_t, data32_3, 32, HEX)                                                             \
	F(uint64_t, data64_0, 64, HEX)                                                             \
	F(uint64_t, data64_1, 64, HEX)

#define IBA_SA_PKEY_FIELDS(F, B, R)                                                                \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint16_t, block, 16, DEC)                                                                \
	F(uint8_t, port, 8, DEC)                                                                   \
	R(r1, 24)                                                                                  \
	B(pkeys, 64, HEX)

#define IBA_SA_PATH_FIELDS(F, B, R)                                                                \
	F(uint8_t, service_id_high, 8, HEX)                                                        \
	F(uint64_t, service_id_low, 56, HEX)                                                       \
	B(dgid, 16, GID)                                                                           \
	B(sgid, 16, GID)                                                                           \
	F(uint16_t, dlid, 16, DEC)                                                                 \
	F(uint16_t, slid, 16, DEC)                                                                 \
	F(uint8_t, raw_traffic, 1, DEC)                                                            \
	R(r1, 3)                                                                                   \
	F(uint32_t, flow_label, 20, HEX)                                                           \
	F(uint8_t, hop_limit, 8, DEC)                                                              \
	F(uint8_t, traffic_class, 8, HEX)                                                          \
	F(uint8_t, reversible, 1, DEC)                                                             \
	F(uint8_t, num_paths, 7, DEC)                                                              \
	F(uint16_t, pkey, 16, HEX)                                                                 \
	F(uint16_t, qos_class, 12, DEC)                                                            \
	F(uint8_t, sl, 4, DEC)                                                                     \
	F(uint8_t, mtu_selector, 2, SELECTOR)                                                      \
	F(uint8_t, mtu, 6, MTU)                                                                    \
	F(uint8_t, rate_selector, 2, SELECTOR)                                                     \
	F(uint8_t, rate, 6, RATE)                                                                  \
	F(uint8_t, life_selector, 2, SELECTOR)                                                     \
	F(uint8_t, life, 6, DEC)                                                                   \
	F(uint8_t, preference, 8, DEC)                                                             \
	R(r2, 48)

#define IBA_SA_VLARB_FIELDS(F, B, R)                                                               \
	F(uint16_t, lid, 16, DEC)                                                                  \
	F(uint8_t, out_port, 8, DEC)                                                               \
	F(uint8_t, block, 8, DEC)                                                                  \
	R(r1, 32)                                                                                  \
	B(entries, 64, HEX)

#define IBA_SA_MEMBER_FIELDS(F, B, R)                                                              \
	B(mgid, 16, GID)                                                                           \
	B(port_gid, 16, GID)                                                                       \
	F(uint32_t, qkey, 32, HEX)                                                                 \
	F(uint16_t, mlid, 16, HEX)                                                                 \
	F(uint8_t, mtu_selector, 2, SELECTOR)                                                      \
	F(uint8_t, mtu, 6, MTU)                                                                    \
	F(uint8_t, traffic_class, 8, HEX)                                                          \
	F(uint16_t, pkey, 16, HEX)                                                                 \
	F(uint8_t, rate_selector, 2, SELECTOR)                                                     \
	F(uint8_t, rate, 6, RATE)                                                                  \
	F(uint8_t, life_selector, 2, SELECTOR)                                                     \
	F(uint8_t, life, 6, DEC)                                                                   \
	F(uint8_t, sl, 4, DEC)                                                                     \
	F(uint32_t, flow_label, 20, HEX)                                                           \
	F(uint8_t, hop_limit, 8, DEC)                                                              \
	F(uint8_t, scope, 4, HEX)                                                                  \
	F(uint8_t, join_state, 4, HEX)                                                             \
	F(uint8_t, proxy_join, 1, DEC)                                                             \
	R(r1, 23)

#define IBA_SA_TRACE_FIELDS(F, B, R)                                                               \
	F(uint64_t, gid_prefix, 64, HEX)                                                           \
	F(uint16_t, generation, 16, DEC)                                                           \
	R(r1, 8)                                                                                   \
	F(uint8_t, node_type, 8, NODE_TYPE)                                                        \
	F(uint64_t, node_id, 64, HEX)                                                              \
	F(uint64_t, chassis_id, 64, HEX)                                                           \
	F(uint64_t, entry_port_id, 64, HEX)                                                        \
	F(uint64_t, exit_port_id, 64, HEX)                                                         \
	F(uint8_t, entry_port, 8, DEC)                                                             \
	F(uint8_t, exit_port, 8, DEC)                                                              \
	R(r2, 16)

/* GIDs follow: those of sources, then those of destinations. */
#define IBA_SA_MULTIPATH_FIELDS(F, B, R)                                                           \
	F(uint8_t, raw_traffic, 1, DEC)                                                            \
	R(r1, 3)                                                                                   \
	F(uint32_t, flow_label, 20, HEX)                                                           \
	F(uint8_t, hop_limit, 8, DEC)                                                              \
	F(uint8_t, traffic_class, 8, HEX)                                                          \
	F(uint8_t, reversible, 1, DEC)                                                             \
	F(uint8_t, num_paths, 7, DEC)                                                              \
	F(uint16_t, pkey, 16, HEX)                                                                 \
	F(uint16_t, qos_class, 12, DEC)                                                            \
	F(uint8_t, sl, 4, DEC)                                                                     \
	F(uint8_t, mtu_selector, 2, SELECTOR)                                                      \
	F(uint8_t, mtu, 6, MTU)                                                                    \
	F(uint8_t, rate_selector, 2, SELECTOR)                                                     \
	F(uint8_t, rate, 6, RATE)                                                                  \
	F(uint8_t, life_selector, 2, SELECTOR)                                                     \
	F(uint8_t, life, 6, DEC)                                                                   \
	F(uint8_t, service_id_high, 8, HEX)                                                        \
	F(uint8_t, independence, 2, DEC)                                                           \
	R(r2, 6)                                                                                   \
	F(uint8_t, sgid_count, 8, DEC)                                                             \
	F(uint8_t, dgid_count, 8, DEC)                                                             \
	F(uint64_t, service_id_low, 56, HEX)

#define IBA_SA_ASSOCIATION_FIELDS(F, B, R)                                                         \
	B(key, 16, HEX)                                                                            \
	B(name, 64, TEXT)

#define IBA_SA_INFORM_FIELDS(F, B, R)                                                              \
	B(gid, 16, GID)                                                                            \
	F(uint16_t, lid_first, 16, DEC)                                                            \
	F(uint16_t, lid_last, 16, DEC)                                                             \
	R(r1, 16)                                                                                  \
	F(uint8_t, is_generic, 8, DEC)                                                             \
	F(uint8_t, subscribe, 8, DEC)                                                              \
	F(uint16_t, type, 16, HEX)                                                                 \
	F(uint16_t, trap_number, 16, DEC)                                                          \
	F(uint32_t, qpn, 24, DEC)                                                                  \
	R(r2, 3)                                                                                   \
	F(uint8_t, resp_time, 5, DEC)                                                              \
	R(r3, 8)                                                                                   \
	F(uint32_t, producer_type, 24, DEC)

#define IBA_SA_INFORM_RECORD_FIELDS(F, B, R)                                                       \
	B(subscriber_gid, 16, GID)                                                                 \
	F(uint16_t, number, 16, DEC)                                                               \
	R(r0, 48)                                                                                  \
	IBA_SA_INFORM_FIELDS(F, B, R)

/*
 * X(stem of struct and functions, list, constant IBA_SA_..., attribute id, name in IBA, bytes in a table): a table has them
 * at multiples of 8 bytes.
 */
/* clang-format off */
#define IBA_SA_RECORDS(X)                                                                          \
	X(inform, IBA_SA_INFORM_FIELDS, INFORM, 0x0003, "InformInfo", 40)                          \
	X(node, IBA_SA_NODE_FIELDS, NODE, 0x0011, "NodeRecord", 112)                               \
	X(port, IBA_SA_PORT_FIELDS, PORT, 0x0012, "PortInfoRecord", 72)                            \
	X(slvl, IBA_SA_SLVL_FIELDS, SLVL, 0x0013, "SLtoVLMappingTableRecord", 16)                  \
	X(switch, IBA_SA_SWITCH_FIELDS, SWITCH, 0x0014, "SwitchInfoRecord", 24)                    \
	X(lft, IBA_SA_LFT_FIELDS, LFT, 0x0015, "LinearForwardingTableRecord", 72)                  \
	X(rft, IBA_SA_RFT_FIELDS, RFT, 0x0016, "RandomForwardingTableRecord", 72)                  \
	X(mft, IBA_SA_MFT_FIELDS, MFT, 0x0017, "MulticastForwardingTableRecord", 72)               \
	X(sm, IBA_SA_SM_FIELDS, SM, 0x0018, "SMInfoRecord", 32)                                    \
	X(link, IBA_SA_LINK_FIELDS, LINK, 0x0020, "LinkRecord", 8)                                 \
	X(guid, IBA_SA_GUID_FIELDS, GUID, 0x0030, "GUIDInfoRecord", 72)                            \
	X(service, IBA_SA_SERVICE_FIELDS, SERVICE, 0x0031, "ServiceRecord", 176)                   \
	X(pkey, IBA_SA_PKEY_FIELDS, PKEY, 0x0033, "P_KeyTableRecord", 72)                          \
	X(path, IBA_SA_PATH_FIELDS, PATH, 0x0035, "PathRecord", 64)                                \
	X(vlarb, IBA_SA_VLARB_FIELDS, VLARB, 0x0036, "VLArbitrationTableRecord", 72)               \
	X(member, IBA_SA_MEMBER_FIELDS, MEMBER, 0x0038, "MCMemberRecord", 56)                      \
	X(trace, IBA_SA_TRACE_FIELDS, TRACE, 0x0039, "TraceRecord", 48)                            \
	X(multipath, IBA_SA_MULTIPATH_FIELDS, MULTIPATH, 0x003a, "MultiPathRecord", 24)            \
	X(association, IBA_SA_ASSOCIATION_FIELDS, ASSOCIATION, 0x003b, "ServiceAssociationRecord", 80) \
	X(inform_record, IBA_SA_INFORM_RECORD_FIELDS, INFORM_RECORD, 0x00f3, "InformInfoRecord", 64)
/* clang-format on */

#endif
