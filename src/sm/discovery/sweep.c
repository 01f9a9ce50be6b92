/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * At rest, and looking for changes: every period one Get(SwitchInfo) to every switch, LID-routed;
 * PortStateChange tells (thesis 3.2.2). The first switch that tells has its bit cleared and discovery
 * begins. State: when the next sweep is due. Does not find out what changed.
 */
#include "sm/tables/random_tables.h"

enum { SWEEP_GET, SWEEP_CLEAR, SWEEP_OWN_PORT };

/* ---- at rest ---- */

static void round_end(struct sm *sm)
{
	sm->core.round.end = sm->core.now;
	sm->disc.unseen |= sm->disc.dirty;
	sm->core.round.clean = !sm->disc.unseen && !sm->disc.shunned.n;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		sm->core.round.smps[i] = sm->core.st.smps[i] - sm->core.mark[i];
	sm->core.st.last = sm->core.round;
	sm->core.st.rounds++;
}

static time_ps sweep_period(const struct sm *sm)
{
	/* Before the first sweep its duration is guessed: a time-out covers the longest way. */
	time_ps d = sm->sweep.duration ? sm->sweep.duration : sm_timeout(sm);

	if (!sm->cfg.sweep_factor)
		return sm->cfg.sweep_period_ps;
	/* A device may report response times of hours: the product must not run over. */
	return MIN(d, TIME_NEVER / 4 / sm->cfg.sweep_factor) * sm->cfg.sweep_factor;
}

void sm_sweep_plan(struct sm *sm)
{
	time_ps period = sweep_period(sm);

	if (sm->core.phase == SM_READY)
		sm->sweep.next = period ? sm->core.now + period : TIME_NEVER;
}

/* What lies beyond 63 hops can be asked now that tables lead to the last switches seen. */
static void look_further(struct sm *sm)
{
	uint32_t known = sm->topo.fab ? sm->topo.fab->nnodes : 0;

	if (sm->disc.far && known > sm->disc.far_nodes) {
		sm->core.change_pending = true;
		sm->core.pending_cause = SM_CAUSE_FAR;
	}
	sm->disc.far_nodes = sm->disc.far ? known : 0;
	sm->disc.far = false;
}

/*
 * Something did not answer, or was left out because it refused: try again, less and less often. To try
 * a device that refuses again stops the traffic of the others, so that is done rarely.
 */
static void plan_retry(struct sm *sm)
{
	time_ps most = sm->disc.shunned.n ? 600 * PS_PER_S : 10 * PS_PER_S;

	sm->sweep.retry_at = TIME_NEVER;
	if (sm->election
		    .rival) { /* it was at work at the same time: once more, when it has stopped */
		sm->election.rival = false;
		sm->sweep.retry_at = sm->core.now + sm_timeout(sm);
		return;
	}
	if (!sm->disc.unseen && !sm->disc.shunned.n) {
		sm->sweep.backoff_ps = 0;
		return;
	}
	sm->sweep.backoff_ps =
		sm->sweep.backoff_ps ? MIN(2 * sm->sweep.backoff_ps, most) : sm_timeout(sm);
	if (sm->disc.shunned.n)
		sm->sweep.backoff_ps = MAX(sm->sweep.backoff_ps, 10 * PS_PER_S);
	sm->sweep.retry_at = sm->core.now + sm->sweep.backoff_ps;
}

static void ready_begin(struct sm *sm)
{
	bool swept = sm->sweep.start != TIME_NEVER && sm->core.round.end,
	     in_vain = sm->disc.in_vain;
	time_ps period;

	sm_config_settle(sm);
	period = sweep_period(sm);
	sm->disc.in_vain = sm->disc.taking_over = sm->disc.found_old = sm->disc.arriving = false;
	if (!sm->core.round.end) {
		/* A late trap, told of long ago, is no more than a sweep, unless it mends what the last round left. */
		if (in_vain && !sm->disc.read_ports && sm->core.round.cause == SM_CAUSE_TRAP &&
		    sm->core.st.last.clean && !sm->core.worked)
			sm->core.round.end = sm->core.now;
		else
			round_end(sm);
		plan_retry(sm);
	}
	look_further(sm);
	sm_names_begin(sm);
	/* Somebody whose traps lead nowhere must not keep the SM from looking where it hurts. */
	if (in_vain && sm->sweep.next != TIME_NEVER)
		return;
	/* Factor 1 means one sweep right after the other: periods count from start to start. */
	sm->sweep.next = !period ? TIME_NEVER
			 : swept ? MAX(sm->core.now, sm->sweep.start + period)
				 : sm->core.now + period;
}

/* A port told that there is an SM now. */
static bool ask_sm_next(struct sm *sm, struct sm_req *r)
{
	if (!sm->election.sm_ports.n)
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_SWEEP,
		    sm->election.sm_ports.at[--sm->election.sm_ports.n]);
	r->attr_id = IBA_ATTR_SM_INFO;
	r->attr_mod = 0;
	return true;
}

static bool ready_next(struct sm *sm, struct sm_req *r)
{
	/* A sweep that is due asks everybody, those who told of a change among them. */
	if (sm->disc.partial && sm->core.now >= sm->sweep.next)
		sm_phase_set(sm, SM_SWEEP);
	else if (sm->core.change_pending)
		sm_change(sm, sm->core.pending_cause, 0);
	else if (sm->audit.trouble && sm->topo.fab && sm->routes.tables)
		sm_phase_set(sm, SM_AUDIT);
	else
		sm_ahead_think(sm);
	return sm->core.phase == SM_READY &&
	       (sm_yield_next(sm, r) || ask_sm_next(sm, r) || sm_names_next(sm, r));
}

static void ready_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	if (t->attr_id == IBA_ATTR_NODE_DESC)
		sm_names_recv(sm, t, data);
	else if (t->method == IBA_GET)
		sm_other_heard(sm, t->ref, data);
	else
		sm_yielded(sm, t);
}

static void ready_fail(struct sm *sm, const struct sm_txn *t)
{
	if (t->attr_id == IBA_ATTR_NODE_DESC)
		sm_names_fail(sm, t);
}

const struct sm_part sm_part_ready = {
	.begin = ready_begin,
	.next = ready_next,
	.recv = ready_recv,
	.fail = ready_fail,
};

/* ---- a sweep ---- */

static void sweep_begin(struct sm *sm)
{
	sm->disc.partial = false;
	sm->sweep.start = sm->core.now;
	sm->run.node = 0;
	sm->run.clear = NONE;
	sm->run.si.port_state_change = 0;
	memcpy(sm->core.mark, sm->core.st.smps, sizeof(sm->core.mark));
}

static bool own_port_next(struct sm *sm, struct sm_req *r)
{
	if (sm->run.node++ || !sm->topo.nodes.n)
		return false;
	r->method = IBA_GET;
	r->attr_id = IBA_ATTR_PORT_INFO;
	r->attr_mod = sm->cfg.port;
	r->purpose = SM_FOR_SWEEP;
	r->kind = SWEEP_OWN_PORT;
	return true;
}

static bool sweep_next(struct sm *sm, struct sm_req *r)
{
	uint32_t node;

	if (sm->run.clear != NONE) {
		node = sm->run.clear;
		sm->run.clear = NONE;
		sm_req_node(sm, r, IBA_SET, SM_FOR_SWEEP, node, IBA_ATTR_SWITCH_INFO, 0);
		r->lid = sm->topo.ports.at[sm->topo.nodes.at[node].first_port].pi.lid;
		r->kind = SWEEP_CLEAR;
		iba_switch_info_put(&sm->run.si, r->data);
		sm->run.node = sm->topo.fab->nswitches; /* no more questions: the answer is yes */
		return true;
	}
	if (!sm->topo.fab || !sm->topo.fab->nswitches)
		return own_port_next(sm, r);
	if (sm->run.node >= sm->topo.fab->nswitches)
		return false;
	node = sm->topo.node_of[sm->topo.fab->switches[sm->run.node++]];
	sm_req_node(sm, r, IBA_GET, SM_FOR_SWEEP, node, IBA_ATTR_SWITCH_INFO, 0);
	r->lid = sm->topo.ports.at[sm->topo.nodes.at[node].first_port].pi.lid;
	r->kind = SWEEP_GET;
	return true;
}

static void own_port_recv(struct sm *sm, const uint8_t *data)
{
	const struct sm_node *own = &sm->topo.nodes.at[0];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (sm->cfg.port <= own->nports &&
	    pi.state != sm->topo.ports.at[own->first_port + sm->cfg.port].pi.state)
		sm_change(sm, SM_CAUSE_SWEEP, own->guid);
}

static void sweep_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_switch_info si;

	switch (t->kind) {
	case SWEEP_GET:
		iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
		if (sm_rft_restarted(sm, t->ref, &si)) {
			sm_change(sm, SM_CAUSE_SWEEP, sm->topo.nodes.at[t->ref].guid);
			return;
		}
		if (!si.port_state_change || sm->run.si.port_state_change)
			return;
		sm->run.si = si; /* with PortStateChange set: writing one clears */
		sm->run.clear = t->ref;
		sm_forget_outstanding(sm);
		return;
	case SWEEP_CLEAR:
		sm->run.si.port_state_change = 0;
		sm_change(sm, SM_CAUSE_SWEEP, sm->topo.nodes.at[t->ref].guid);
		return;
	case SWEEP_OWN_PORT:
		own_port_recv(sm, data);
		return;
	}
}

static void sweep_fail(struct sm *sm, const struct sm_txn *t)
{
	sm->run.si.port_state_change = 0;
	sm_change(sm, SM_CAUSE_SILENCE,
		  t->kind == SWEEP_OWN_PORT ? 0 : sm->topo.nodes.at[t->ref].guid);
}

static void sweep_done(struct sm *sm)
{
	sm->sweep.duration = sm->core.now - sm->sweep.start;
	sm->core.st.sweeps++;
	sm->core.st.clean_sweeps++;
	sm->core.st.last_sweep_start = sm->sweep.start;
	sm_phase_set(sm, SM_READY);
}

const struct sm_part sm_part_sweep = {sweep_begin, sweep_next, sweep_recv, sweep_fail, sweep_done};
