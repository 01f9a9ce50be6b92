/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VFs set in the phase configure, where they do not hold what they should: first those that lose a LID, so that no LID
 * is at two of them, then all others, several in an SMP. State: cursors of that phase. Does not decide what a VF should
 * hold.
 */
#include "sm/manager.h"

/* It holds a LID that is not, or no longer, its own. */
static bool must_lose(const struct sm *sm, uint32_t host, unsigned slot)
{
	const struct sm_slot *s = sm_slot_of(sm, host, slot);

	return sm->virtual.hosts.at[host].sriov == FAB_SRIOV_VSWITCH && s->known && s->has_lid &&
	       s->has_lid != s->lid;
}

bool sm_vf_detach_next(struct sm *sm, uint32_t *host, uint32_t *slot, struct sm_req *r)
{
	for (; *host < sm->virtual.hosts.n; ++*host, *slot = 0) {
		if (!sm_vhost_is_there(sm, *host))
			continue;
		while (*slot < sm->virtual.hosts.at[*host].vfs)
			if (must_lose(sm, *host, ++*slot)) {
				sm_vf_set(sm, *host, *slot, (struct sm_vf){0}, r);
				return true;
			}
	}
	return false;
}

bool sm_vf_config_next(struct sm *sm, uint32_t node, uint32_t *slot, struct sm_req *r)
{
	uint32_t host = sm_vhost_find(sm, sm->topo.nodes.at[node].guid);

	if (host == NONE || sm_vhost_node(sm, host) != node)
		return false;
	while (*slot < sm->virtual.hosts.at[host].vfs) {
		unsigned s = ++*slot;

		if (sm_slot_is_right(sm, host, s))
			continue;
		*slot += sm_vf_set_run(sm, host, s, r) - 1;
		return true;
	}
	return false;
}
