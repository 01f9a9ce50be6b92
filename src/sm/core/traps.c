/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps: repressed, and followed up. State: none of its own. Does not find out what changed. */
#include "sm/manager.h"

static void link_state_trap(struct sm *sm, uint16_t lid)
{
	uint32_t node = sm_node_by_lid(sm, lid);
	bool looking = sm_is_partial(&sm->disc) && !sm->core.entered &&
		       (sm->core.phase == SM_DISCOVER || sm->core.phase == SM_SWEEP);

	if (looking && node != NONE) {
		sm_sweep_noticed(sm, SM_CAUSE_TRAP, sm_about_node(sm, node));
		sm_switch_reported(sm, node);
		return;
	}
	if (node != NONE)
		sm_suspect(sm, node);
	else if (sm->damp.held
			 .n) /* the sender is behind a held link; of others a neighbour tells too */
		return;
	else
		sm_full_discovery_needed(sm); /* no known device has this LID */
	if (sm->core.phase == SM_READY || sm->core.phase == SM_SWEEP)
		sm_phase_apply(sm, sm_changed(sm, SM_CAUSE_TRAP, sm_about_lid(sm, lid)));
	else
		sm_change_later(sm, SM_CAUSE_TRAP, sm_about_lid(sm, lid));
}

/* Trap 144 reports several things: another NodeDescription, or an SM that starts. */
static void local_change(struct sm *sm, const struct iba_notice *n)
{
	struct iba_trap_cap d;

	iba_trap_cap_get(&d, n->details, sizeof(n->details));
	for (uint32_t p = 0; p < sm->topo.ports.n; p++) {
		if (!sm_in_use(sm, p) || sm->topo.ports.at[p].pi.lid != d.lid ||
		    p == sm_own_port(sm))
			continue;
		if (d.local_changes & IBA_CHANGED_NODE_DESC)
			sm_name_ask_again(sm, sm->topo.nodes.at[sm->topo.ports.at[p].node].guid);
		if (sm->cfg.contest && d.cap_mask & IBA_CAP_IS_SM &&
		    sm->election.state == IBA_SM_MASTER)
			sm_election_ask_port(sm, p);
	}
}

void sm_trap(struct sm *sm, const struct sm_event *ev)
{
	struct sm_req r = {.method = IBA_TRAP_REPRESS,
			   .attr_id = IBA_ATTR_NOTICE,
			   .purpose = SM_FOR_TRAP,
			   .lid = ev->slid};
	struct iba_notice notice;

	iba_notice_get(&notice, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	sm_count(sm, SM_COUNT_TRAPS);
	if (sm->core.phase == SM_STANDBY)
		return; /* the master represses it */
	sm_note(sm, .kind = SM_NOTE_TRAP, .about = sm_about_switch(sm, ev->slid),
		.trap = {notice.trap_number, ev->slid});
	if (ev->slid && ev->slid <= IBA_LID_MAX_UNICAST) {
		memcpy(r.data, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
		sm_send_now(sm, &r, iba_smp_tid(ev->mad));
	}
	if (!notice.is_generic || sm->core.phase == SM_OFF)
		return;
	if (notice.trap_number == IBA_TRAP_LINK_STATE)
		link_state_trap(sm, ev->slid);
	else if (notice.trap_number == IBA_TRAP_CAP_CHANGE)
		local_change(sm, &notice);
}
