/* SPDX-License-Identifier: BSD-2-Clause */
/* Which attributes there are, by which methods (IBA 15.2.5, table 194), and what answers them. No state. */
#include "sa/records.h"

/* The name of a record is that of its layout. */
const struct sa_attribute sa_attributes[] = {
	{IBA_SA_CLASS_PORT_INFO, "ClassPortInfo", SA_GET, sa_class_port_info},
	{IBA_SA_NODE, "NodeRecord", SA_GET | SA_TABLE, sa_nodes},
	{IBA_SA_SERVICE, "ServiceRecord", SA_GET | SA_TABLE | SA_SET | SA_DELETE,
	 sa_service_records},
	{IBA_SA_ASSOCIATION, "ServiceAssociationRecord", SA_GET | SA_TABLE, sa_associations},
	{IBA_SA_MEMBER, "MCMemberRecord", SA_GET | SA_TABLE | SA_SET | SA_DELETE, sa_members},
	{IBA_SA_INFORM, "InformInfo", SA_SET, sa_inform},
	{IBA_SA_INFORM_RECORD, "InformInfoRecord", SA_GET | SA_TABLE | SA_DELETE,
	 sa_inform_records},
	{IBA_SA_PORT, "PortInfoRecord", SA_GET | SA_TABLE, sa_port_records},
	{IBA_SA_SWITCH, "SwitchInfoRecord", SA_GET | SA_TABLE, sa_switch_records},
	{IBA_SA_LFT, "LinearForwardingTableRecord", SA_GET | SA_TABLE, sa_lft_records},
	{IBA_SA_RFT, "RandomForwardingTableRecord", SA_GET | SA_TABLE, sa_rft_records},
	{IBA_SA_MFT, "MulticastForwardingTableRecord", SA_GET | SA_TABLE, sa_mft_records},
	{IBA_SA_SLVL, "SLtoVLMappingTableRecord", SA_GET | SA_TABLE, sa_slvl_records},
	{IBA_SA_VLARB, "VLArbitrationTableRecord", SA_GET | SA_TABLE, sa_vlarb_records},
	{IBA_SA_PKEY, "P_KeyTableRecord", SA_GET | SA_TABLE, sa_pkey_records},
	{IBA_SA_GUID, "GUIDInfoRecord", SA_GET | SA_TABLE | SA_SET | SA_DELETE, sa_guid_records},
	{IBA_SA_SM, "SMInfoRecord", SA_GET | SA_TABLE, sa_sm_records},
	{IBA_SA_LINK, "LinkRecord", SA_GET | SA_TABLE, sa_link_records},
	{IBA_SA_PATH, "PathRecord", SA_GET | SA_TABLE | SA_TRACE, sa_path_records},
	{IBA_SA_MULTIPATH, "MultiPathRecord", SA_MULTI, sa_multipath_records},
	{IBA_SA_TRACE, "TraceRecord", SA_TRACE, sa_trace_records},
	{0, NULL, 0, NULL},
};
const size_t sa_nattributes = ARRAY_LEN(sa_attributes) - 1;
