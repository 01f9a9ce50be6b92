/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LID assignment during discovery: when each port gets its LID, and which ports have it already.
 * State: lids.waiting, ports that wait. lids.c chooses the LID. Does not send anything.
 */
#include "sm/manager.h"

static unsigned lmc_of(const struct sm *sm, const struct sm_port *p)
{
	const struct sm_node *n = &sm->topo.nodes.at[p->node];

	return n->type == IBA_NODE_SWITCH && !n->si.enhanced_port0 ? 0 : sm->cfg.lmc;
}

/* Whether the port has everything that discovery would set. */
static bool has_all(struct sm *sm, const struct sm_port *p, uint16_t lid, unsigned lmc)
{
	const struct iba_port_info *is = &p->pi;
	struct iba_port_info to;

	sm_port_fill(sm, p, &to);
	if (sm->lids.reregister && sm_port_reregisters(p))
		return false;
	return is->lid == lid && is->lmc == lmc && is->sm_lid == to.sm_lid &&
	       is->sm_sl == to.sm_sl && is->gid_prefix == to.gid_prefix && is->m_key == to.m_key &&
	       (!to.m_key || /* without a key protection and lease have no effect */
		(is->m_key_protect == to.m_key_protect && is->m_key_lease == to.m_key_lease));
}

/* The LID that the port has, and be it none. */
static void lid_observed(struct sm *sm, uint32_t port)
{
	const struct sm_port *p = &sm->topo.ports.at[port];

	if (p->pi.lid)
		sm_lid_recall(sm, p->guid, p->pi.lid, p->pi.lmc);
	else
		sm_lid_release(sm, p->guid);
	sm_port_has_lid(sm, port, true);
}

void sm_lid_assign(struct sm *sm, uint32_t port)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	unsigned lmc = lmc_of(sm, p);
	bool must_wait;
	uint16_t lid;

	if (sm->cfg.observe) {
		lid_observed(sm, port);
		return;
	}
	must_wait = sm_lid_must_wait(sm, p, lmc); /* claims the LID that the port has */
	if (!sm->lids.own || must_wait) {	  /* the Set also tells the port the SM's LID */
		vec_push(&sm->lids.waiting, port);
		return;
	}
	lid = sm_lid_give(sm, p->guid, lmc, p->pi.lid);
	if (!lid) {
		sm_note(sm, .kind = SM_NOTE_NO_LID, .about = sm_about_port(sm, port));
		return;
	}
	if ((sm->cfg.mechanism.thrifty || sm_is_taking_over(&sm->disc)) &&
	    has_all(sm, p, lid, lmc)) {
		sm_port_has_lid(sm, port, true);
		sm_lid_was_given(sm, p->guid);
		return;
	}
	if (sm->lids.looked_again) /* a Set of the manager before may still arrive */
		sm_audit_doubt(sm,
			       (struct sm_written){sm->topo.nodes.at[p->node].guid, p->num,
						   IBA_ATTR_PORT_INFO},
			       sm_copies_until(sm));
	sm_port_lid(sm, port, lid, lmc);
	sm_ask_port(sm, Q_SET_LID, port);
}

static void give_held(struct sm *sm)
{
	size_t n = sm->lids.waiting.n;

	sm->lids.waiting.n =
		0; /* ports that must wait longer are queued again, behind those that were read */
	for (size_t i = 0; i < n; i++)
		sm_lid_assign(sm, sm->lids.waiting.at[i]);
}

static void own_lid_known(struct sm *sm, const struct sm_port *own)
{
	sm->lids.own = sm_lid_give(sm, own->guid, lmc_of(sm, own), own->pi.lid);
	if (!sm->lids.own) { /* waiting ports go on waiting */
		sm_note(sm, .kind = SM_NOTE_NO_LID, .about = sm_about_port(sm, sm_own_port(sm)));
		return;
	}
	give_held(sm);
}

/* ---- ports that had no LID when they were read ---- */

/*
 * A manager that died while it assigned LIDs may have sent more Sets than the ports that were read show. Where
 * any port has a LID, ports without one are read again a timeout later, and keep the LID that they have then.
 */
static bool look_again(struct sm *sm)
{
	bool managed = false, any = false;

	if (!sm_is_taking_over(&sm->disc) || sm->restored.saved || sm->lids.looked_again)
		return false;
	for (uint32_t p = 0; p < sm->topo.ports.n; p++)
		managed |= sm_in_use(sm, p) && sm->topo.ports.at[p].pi.lid;
	for (size_t i = 0; managed && i < sm->lids.waiting.n; i++)
		if (!sm->topo.ports.at[sm->lids.waiting.at[i]].pi.lid) {
			sm_ask_port(sm, Q_PORT_AGAIN, sm->lids.waiting.at[i]);
			any = true;
		}
	if (any) {
		sm_phase_hold(sm, sm_copies_until(sm));
		sm_discovery_disturbed(sm);
	}
	sm->lids.looked_again = any;
	return any;
}

void sm_lid_appeared(struct sm *sm, uint32_t port, const struct iba_port_info *pi)
{
	struct sm_port *p = &sm->topo.ports.at[port];

	if (!sm->lids.looked_again || p->pi.lid || !pi->lid)
		return;
	sm_port_took(sm, port, pi);
	sm_lid_must_wait(sm, p, lmc_of(sm, p)); /* claims it, if no other port has it */
}

/* ---- LIDs that another master may have changed ---- */

/*
 * A manager that stood by takes over. Where ports have other LIDs than it gave them, the master before it may have
 * changed them, or a forged Set: the port that says so cannot tell. The subnet can: the LID that most ports have as
 * MasterSMLID is that of the last master. It may be this manager's, and the master in between never was one; unless
 * that one's port has this LID now, and the port of this manager another one.
 */
static bool was_last_master(const struct sm *sm, uint16_t own, uint16_t other)
{
	uint32_t *named, most = 0;
	uint64_t rival = sm->election.polled.guid;
	bool last, taken = false, lost = sm->topo.ports.at[sm_own_port(sm)].pi.lid != own;

	if (!own || !other || own == other)
		return false;
	named = mem_zalloc((IBA_LID_MAX_UNICAST + 1) * sizeof(*named));
	for (uint32_t i = 0; i < sm->topo.ports.n; i++) {
		uint16_t lid = sm->topo.ports.at[i].pi.sm_lid;

		if (sm_in_use(sm, i) && lid && lid <= IBA_LID_MAX_UNICAST && ++named[lid] > most)
			most = named[lid];
		taken |= sm_in_use(sm, i) && sm->topo.ports.at[i].guid == rival &&
			 sm->topo.ports.at[i].pi.lid == own;
	}
	last = named[own] == most && !(lost && taken);
	free(named);
	return last;
}

static void judge_changed_lids(struct sm *sm)
{
	const struct sm_topology *t = &sm->topo;
	uint16_t own = sm_lid_of(sm, sm_own_guid(sm), NULL);
	bool any = false;

	if (!sm_is_taking_over(&sm->disc) || sm_is_distrustful(sm) || sm_election_keeps_lids(sm) ||
	    was_last_master(sm, own, sm_lid_of(sm, sm->election.polled.guid, NULL)))
		return;
	for (uint32_t i = 0; i < t->ports.n; i++)
		if (sm_in_use(sm, i))
			any |= sm_lid_disown(sm, t->ports.at[i].guid, t->ports.at[i].pi.lmc,
					     t->ports.at[i].pi.lid);
	for (uint32_t i = 0; any && i < t->ports.n; i++)
		if (sm_in_use(sm, i) && t->ports.at[i].pi.lid &&
		    t->ports.at[i].pi.lmc == lmc_of(sm, &t->ports.at[i]))
			sm_lid_claim(sm, t->ports.at[i].guid, t->ports.at[i].pi.lmc,
				     t->ports.at[i].pi.lid);
}

/* What a discovery in doubt did not meet may have a LID that seems to be free. */
static bool is_too_early(const struct sm *sm)
{
	return sm_is_taking_over(&sm->disc) && sm_is_doubtful(&sm->disc) &&
	       sm->disc.restarts < sm->cfg.restarts;
}

/*
 * Every device was met: no LID in use and no SM can turn up any more, and waiting ports get their
 * LIDs.
 */
void sm_lid_assign_deferred(struct sm *sm)
{
	const struct sm_port *own = &sm->topo.ports.at[sm_own_port(sm)];

	if (look_again(sm))
		return;
	sm_all_devices_met(sm);
	sm_election_event(sm, SM_EVENT_COMPLETE, (struct sm_met){0});
	/* A manager that ends before it repeats the discovery would hide from the next one what this one did not meet. */
	if (!is_too_early(sm))
		sm_clear_deferred(sm);
	if ((!sm_is_taking_over(&sm->disc) && !sm->cfg.contest) || is_too_early(sm) ||
	    sm->cfg.observe)
		return; /* no port had to wait, or the discovery is repeated */
	judge_changed_lids(sm);
	if (!sm->lids.own && own->ask.known)
		own_lid_known(sm, own);
	else
		give_held(sm);
}

/* The SM's own port was read. */
void sm_lid_assign_own(struct sm *sm, const struct sm_port *own)
{
	if (sm->cfg.observe)
		sm->lids.own = own->pi.lid;
	else if (!sm_lid_must_wait(sm, own, lmc_of(sm, own)))
		own_lid_known(sm, own);
}

/*
 * The response shows what the device accepted (thesis 3.1.3); another value counts as a failure.
 */
void sm_lid_confirm(struct sm *sm, uint32_t port, const uint8_t *data)
{
	struct sm_port *p = &sm->topo.ports.at[port];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (pi.lid != p->pi.lid || pi.lmc != p->pi.lmc || pi.sm_lid != sm->lids.own) {
		sm_note(sm, .kind = SM_NOTE_MISMATCH, .about = sm_about_port(sm, port),
			.request = {.attribute = IBA_ATTR_PORT_INFO});
		sm_discovery_doubt(sm);
		return;
	}
	if ((pi.state == IBA_PORT_DOWN) != (p->pi.state == IBA_PORT_DOWN))
		sm_discovery_doubt(sm); /* the link came or went since the port was read */
	sm_port_took(sm, port, &pi);
	sm_port_has_lid(sm, port, true);
	sm_lid_was_set(sm, p->guid);
	sm_key_learnt(sm, p->guid, sm->cfg.m_key); /* it was set with the rest */
}
