/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members of groups that are behind another port now, such as virtual machines that moved. State: member_guids of struct
 * sm_multicast, made when it is needed. Way in: sm_multicast_moved(). Does not compute trees.
 */
#include "sm/manager.h"

static void index_members(struct sm_multicast *m)
{
	map64_clear(&m->member_guids);
	for (size_t i = 0; i < m->groups.n; i++)
		for (size_t k = 0; k < m->groups.at[i].nmembers; k++)
			map64_put(&m->member_guids, m->groups.at[i].members[k].port_guid, 1);
	m->indexed = true;
}

void sm_multicast_moved(struct sm *sm, uint64_t guid)
{
	struct sm_multicast *m = &sm->multicast;

	m->rest.doubt = true; /* it may become a member */
	if (!m->groups.n)
		return;
	if (!m->indexed)
		index_members(m);
	if (map64_get(&m->member_guids, guid) == MAP_NONE)
		return;
	m->version++; /* trees that are being computed lead to where it was */
	m->dirty = true;
}
