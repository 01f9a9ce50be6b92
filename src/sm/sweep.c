/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * At rest, and looking for changes: every period one Get(SwitchInfo) to every switch, LID-routed;
 * PortStateChange tells (thesis 3.2.2). The first switch that tells has its bit cleared and discovery
 * begins. State: when the next sweep is due. Does not find out what changed.
 */
#include "sm/rft.h"

enum { SWEEP_GET, SWEEP_CLEAR, SWEEP_OWN_PORT };

/* ---- at rest ---- */

static void round_end(struct sm *sm)
{
	sm->round.end = sm->now;
	sm->unseen |= sm->dirty;
	sm->round.clean = !sm->unseen && !sm->shunned.n;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		sm->round.smps[i] = sm->st.smps[i] - sm->mark[i];
	sm->st.last = sm->round;
	sm->st.rounds++;
}

static time_ps sweep_period(const struct sm *sm)
{
	/* Before the first sweep its duration is guessed: a time-out covers the longest way. */
	time_ps d = sm->sweep_duration ? sm->sweep_duration : sm_timeout(sm);

	if (!sm->cfg.sweep_factor)
		return sm->cfg.sweep_period_ps;
	/* A device may report response times of hours: the product must not run over. */
	return MIN(d, TIME_NEVER / 4 / sm->cfg.sweep_factor) * sm->cfg.sweep_factor;
}

void sm_sweep_plan(struct sm *sm)
{
	time_ps period = sweep_period(sm);

	if (sm->phase == SM_READY)
		sm->next_sweep = period ? sm->now + period : TIME_NEVER;
}

/* What lies beyond 63 hops can be asked now that tables lead to the last switches seen. */
static void look_further(struct sm *sm)
{
	uint32_t known = sm->fab ? sm->fab->nnodes : 0;

	if (sm->far && known > sm->far_nodes) {
		sm->change_pending = true;
		sm->pending_cause = SM_CAUSE_FAR;
	}
	sm->far_nodes = sm->far ? known : 0;
	sm->far = false;
}

/*
 * Something did not answer, or was left out because it refused: try again, less and less often. To try
 * a device that refuses again stops the traffic of the others, so that is done rarely.
 */
static void plan_retry(struct sm *sm)
{
	time_ps most = sm->shunned.n ? 600 * PS_PER_S : 10 * PS_PER_S;

	sm->retry_at = TIME_NEVER;
	if (sm->rival) { /* it was at work at the same time: once more, when it has stopped */
		sm->rival = false;
		sm->retry_at = sm->now + sm_timeout(sm);
		return;
	}
	if (!sm->unseen && !sm->shunned.n) {
		sm->backoff_ps = 0;
		return;
	}
	sm->backoff_ps = sm->backoff_ps ? MIN(2 * sm->backoff_ps, most) : sm_timeout(sm);
	if (sm->shunned.n)
		sm->backoff_ps = MAX(sm->backoff_ps, 10 * PS_PER_S);
	sm->retry_at = sm->now + sm->backoff_ps;
}

static void ready_begin(struct sm *sm)
{
	bool swept = sm->sweep_start != TIME_NEVER && sm->round.end, in_vain = sm->in_vain;
	time_ps period;

	sm_config_settle(sm);
	period = sweep_period(sm);
	sm->in_vain = sm->taking_over = sm->found_old = sm->arriving = false;
	if (!sm->round.end) {
		/* A late trap, told of long ago, is no more than a sweep, unless it mends what the last round left. */
		if (in_vain && !sm->read_ports && sm->round.cause == SM_CAUSE_TRAP &&
		    sm->st.last.clean && !sm->worked)
			sm->round.end = sm->now;
		else
			round_end(sm);
		plan_retry(sm);
	}
	look_further(sm);
	sm_names_begin(sm);
	/* Somebody whose traps lead nowhere must not keep the SM from looking where it hurts. */
	if (in_vain && sm->next_sweep != TIME_NEVER)
		return;
	/* Factor 1 means one sweep right after the other: periods count from start to start. */
	sm->next_sweep = !period ? TIME_NEVER
			 : swept ? MAX(sm->now, sm->sweep_start + period)
				 : sm->now + period;
}

/* A port told that there is an SM now. */
static bool ask_sm_next(struct sm *sm, struct sm_req *r)
{
	if (!sm->sm_ports.n)
		return false;
	sm_req_port(sm, r, IBA_GET, SM_FOR_SWEEP, sm->sm_ports.at[--sm->sm_ports.n]);
	r->attr_id = IBA_ATTR_SM_INFO;
	r->attr_mod = 0;
	return true;
}

static bool ready_next(struct sm *sm, struct sm_req *r)
{
	/* A sweep that is due asks everybody, those who told of a change among them. */
	if (sm->partial && sm->now >= sm->next_sweep)
		sm_phase_set(sm, SM_SWEEP);
	else if (sm->change_pending)
		sm_change(sm, sm->pending_cause, 0);
	else if (sm->trouble && sm->fab && sm->tables)
		sm_phase_set(sm, SM_AUDIT);
	else
		sm_ahead_think(sm);
	return sm->phase == SM_READY &&
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
	sm->partial = false;
	sm->sweep_start = sm->now;
	sm->cur_node = 0;
	sm->sweep_clear = NONE;
	sm->sweep_si.port_state_change = 0;
	memcpy(sm->mark, sm->st.smps, sizeof(sm->mark));
}

static bool own_port_next(struct sm *sm, struct sm_req *r)
{
	if (sm->cur_node++ || !sm->nodes.n)
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

	if (sm->sweep_clear != NONE) {
		node = sm->sweep_clear;
		sm->sweep_clear = NONE;
		sm_req_node(sm, r, IBA_SET, SM_FOR_SWEEP, node, IBA_ATTR_SWITCH_INFO, 0);
		r->lid = sm->ports.at[sm->nodes.at[node].first_port].pi.lid;
		r->kind = SWEEP_CLEAR;
		iba_switch_info_put(&sm->sweep_si, r->data);
		sm->cur_node = sm->fab->nswitches; /* no more questions: the answer is yes */
		return true;
	}
	if (!sm->fab || !sm->fab->nswitches)
		return own_port_next(sm, r);
	if (sm->cur_node >= sm->fab->nswitches)
		return false;
	node = sm->node_of[sm->fab->switches[sm->cur_node++]];
	sm_req_node(sm, r, IBA_GET, SM_FOR_SWEEP, node, IBA_ATTR_SWITCH_INFO, 0);
	r->lid = sm->ports.at[sm->nodes.at[node].first_port].pi.lid;
	r->kind = SWEEP_GET;
	return true;
}

static void own_port_recv(struct sm *sm, const uint8_t *data)
{
	const struct sm_node *own = &sm->nodes.at[0];
	struct iba_port_info pi;

	iba_port_info_get(&pi, data, IBA_SMP_DATA_SIZE);
	if (sm->cfg.port <= own->nports &&
	    pi.state != sm->ports.at[own->first_port + sm->cfg.port].pi.state)
		sm_change(sm, SM_CAUSE_SWEEP, own->guid);
}

static void sweep_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_switch_info si;

	switch (t->kind) {
	case SWEEP_GET:
		iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
		if (sm_rft_restarted(sm, t->ref, &si)) {
			sm_change(sm, SM_CAUSE_SWEEP, sm->nodes.at[t->ref].guid);
			return;
		}
		if (!si.port_state_change || sm->sweep_si.port_state_change)
			return;
		sm->sweep_si = si; /* with PortStateChange set: writing one clears */
		sm->sweep_clear = t->ref;
		sm_forget_outstanding(sm);
		return;
	case SWEEP_CLEAR:
		sm->sweep_si.port_state_change = 0;
		sm_change(sm, SM_CAUSE_SWEEP, sm->nodes.at[t->ref].guid);
		return;
	case SWEEP_OWN_PORT:
		own_port_recv(sm, data);
		return;
	}
}

static void sweep_fail(struct sm *sm, const struct sm_txn *t)
{
	sm->sweep_si.port_state_change = 0;
	sm_change(sm, SM_CAUSE_SILENCE, t->kind == SWEEP_OWN_PORT ? 0 : sm->nodes.at[t->ref].guid);
}

static void sweep_done(struct sm *sm)
{
	sm->sweep_duration = sm->now - sm->sweep_start;
	sm->st.sweeps++;
	sm->st.clean_sweeps++;
	sm->st.last_sweep_start = sm->sweep_start;
	sm_phase_set(sm, SM_READY);
}

const struct sm_part sm_part_sweep = {sweep_begin, sweep_next, sweep_recv, sweep_fail, sweep_done};
