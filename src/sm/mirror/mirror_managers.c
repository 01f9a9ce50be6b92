/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other managers in a standby's copy: a standby that joined has discovered nothing, and learns from the copy where
 * they are. State: standby.managers, standby.managers_at. Ways in: sm_mirror_managers_*(). Does not believe the copy: it
 * asks each of them, and election.others keeps what they answer.
 */
#include "sm/manager.h"
#include "sm/restore/saved_state.h"

enum { AGAIN_S = 10 }; /* at rest they are asked so often */

static void collect(struct sm *sm, const struct sm_saved_node *n, const struct sm_saved_port *p)
{
	struct iba_port_info pi;

	if (!p->pi || !p->guid)
		return;
	iba_port_info_get(&pi, p->pi, IBA_SMP_DATA_SIZE);
	if (!(pi.cap_mask & IBA_CAP_IS_SM) || !pi.lid || pi.lid > IBA_LID_MAX_UNICAST)
		return;
	sm_name_recall(sm, n->guid, n->name, n->name_len);
	vec_push(&sm->mirror.standby.managers,
		 (struct sm_mirror_manager){p->guid, n->guid, pi.lid});
}

/* A copy is complete. */
void sm_mirror_managers_find(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	s->managers.n = 0;
	for (size_t i = 0; i < s->whole->nodes.n && s->managers.n <= SM_OTHERS; i++) {
		const struct sm_saved_node *n = &s->whole->nodes.at[i];

		for (unsigned p = 0; p <= n->nports; p++)
			collect(sm, n, &s->whole->ports.at[n->first_port + p]);
	}
	s->managers_at = sm->core.now;
}

/* The master is polled anyway. A manager that is known is asked the way that it is known by. */
void sm_mirror_managers_ask(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	if (sm->core.now < s->managers_at)
		return;
	s->managers_at = sm->core.now + AGAIN_S * PS_PER_S;
	for (size_t i = 0; i < s->managers.n; i++) {
		const struct sm_mirror_manager *m = &s->managers.at[i];
		const struct sm_other *o = sm_other_find(sm, m->guid);
		struct sm_contact c = {.guid = m->guid, .port = NONE, .lid = m->lid};

		if (m->guid == sm_own_guid(sm) || m->guid == sm->election.polled.guid)
			continue;
		if (o && !o->silent && sm_contact_usable(sm, &o->at))
			c = o->at;
		sm_election_ask(sm, SM_ASK_INFO, &c);
	}
}
