/* SPDX-License-Identifier: BSD-2-Clause */
/* Which attributes there are, by which methods (IBA 15.2.5, table 194), and what answers them. No state. */
#include "sa/sa_priv.h"

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
	{0, NULL, 0, NULL},
};
const size_t sa_nattributes = ARRAY_LEN(sa_attributes) - 1;
