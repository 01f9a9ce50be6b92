/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of devices for others. State: that of node_names.c, which is only read. Requests nothing.
 */
#include "sm/manager.h"

const char *sm_name_known(const struct sm *sm, uint64_t node_guid)
{
	uint32_t at = map64_get(&sm->names.by_guid, node_guid);

	return at == MAP_NONE || !sm->names.list.at[at].known ? NULL : sm->names.list.at[at].text;
}

const char *sm_node_desc(const struct sm *sm, uint64_t node_guid)
{
	uint32_t at = map64_get(&sm->names.by_guid, node_guid);

	return at == MAP_NONE ? "" : sm->names.list.at[at].text;
}

bool sm_names_settled(const struct sm *sm)
{
	return !sm->routes.wishes.by_name ||
	       (sm->topo.fab && sm->names.next >= sm->topo.fab->nnodes && !sm->txn.outstanding);
}
