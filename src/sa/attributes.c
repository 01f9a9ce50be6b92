/* SPDX-License-Identifier: BSD-2-Clause */
/* Which attributes there are, by which methods (IBA 15.2.5, table 194), and what answers them. No state. */
#include "sa/sa_priv.h"

/* The name of a record is that of its layout. */
const struct sa_attribute sa_attributes[] = {
	{IBA_SA_CLASS_PORT_INFO, "ClassPortInfo", SA_GET, sa_class_port_info},
	{IBA_SA_NODE, "NodeRecord", SA_GET | SA_TABLE, sa_nodes},
	{0, NULL, 0, NULL},
};
const size_t sa_nattributes = ARRAY_LEN(sa_attributes) - 1;
