/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps: answered, and looked into. State: none of its own. Does not find out what changed.
 */
#include "sm/manager.h"

static void link_state_trap(struct sm *sm, uint16_t lid)
{
	uint32_t node = sm_node_by_lid(sm, lid);
	bool looking = sm->disc.partial && !sm->core.entered &&
		       (sm->core.phase == SM_DISCOVER || sm->core.phase == SM_SWEEP);

	if (looking && node != NONE) {
		if (sm->core.phase == SM_SWEEP) {
			sm_round_begin(sm, SM_CAUSE_TRAP, lid);
			sm_phase_slide(sm, SM_DISCOVER);
		}
		sm_partial_suspect(sm, node);
		return;
	}
	if (node != NONE)
		vec_push(&sm->disc.suspects, node);
	else if (
		sm->damp.held
			.n) /* who is held off; whoever else there may be, a neighbour tells as well */
		return;
	else
		sm->disc.full_needed = true; /* nobody known has this LID */
	if (sm->core.phase == SM_READY || sm->core.phase == SM_SWEEP) {
		sm_change(sm, SM_CAUSE_TRAP, lid);
	} else {
		sm->core.change_pending = true;
		sm->core.pending_cause = SM_CAUSE_TRAP;
	}
}

/* Trap 144 tells of several things: another name, or an SM that was not there. */
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
		if (sm->cfg.contest && d.cap_mask & IBA_CAP_IS_SM && sm->core.phase == SM_READY)
			vec_push(&sm->election.sm_ports, p);
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
	sm->core.st.traps++;
	if (sm->core.phase == SM_STANDBY)
		return; /* for the master */
	sm_note(sm, SM_NOTE_TRAP, notice.trap_number, ev->slid);
	if (ev->slid && ev->slid <= IBA_LID_MAX_UNICAST) {
		memcpy(r.data, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
		vec_room(&sm->core.out->sends, sm->core.out->sends.n + 1);
		sm_transmit(sm, &r, iba_smp_tid(ev->mad),
			    &sm->core.out->sends.at[sm->core.out->sends.n++]);
		sm->core.st.smps[SM_FOR_TRAP]++;
	}
	if (!notice.is_generic || sm->core.phase == SM_OFF)
		return;
	if (notice.trap_number == IBA_TRAP_LINK_STATE)
		link_state_trap(sm, ev->slid);
	else if (notice.trap_number == IBA_TRAP_CAP_CHANGE)
		local_change(sm, &notice);
}
