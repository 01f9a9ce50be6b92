/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phase move (Algorithm 1 of the vSwitch architecture): a batch of VMs starts, stops and migrates. The slots that VMs
 * leave are detached, table blocks follow stage by stage, then the slots that VMs get are attached; each step begins when
 * the one before is acknowledged. So a LID is at one slot at most at every moment. Where partitions are configured, P_Keys
 * are where a VM goes before it leaves, and are removed where it was. Then requests are answered, and empty slots with prepopulated LIDs get theirs: the LID that a VM leaves behind is free only now. State: step of struct sm_batch.
 * Does not compute routes. A batch that is interrupted is settled by the discovery that follows: vf_settle.c.
 */
#include "sm/manager.h"

static enum sm_outcome move_begin(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;

	sm->virtual.moved = true;
	b->at = 0;
	b->step = SM_MOVE_LEFT;
	if (sm_batch_begin(sm)) {
		b->step = SM_MOVE_KEYS;
		sm_batch_mark(sm, true);
		sm_vm_keys_begin(sm, false);
	} else if (!sm->virtual.left.n) {
		return SM_DONE;
	}
	sm_audit_round(sm);
	return SM_GOING_ON;
}

/* ---- steps: the next request; false: none, until the others are acknowledged ---- */

static bool keys_next(struct sm *sm, struct sm_req *r)
{
	struct sm_vm_result *x;
	size_t job;

	if (!sm_vm_keys_next(sm, &job, r))
		return false;
	x = &sm->virtual.batch.jobs.at[job].result;
	if (sm->topo.nodes.at[r->target.node].type == IBA_NODE_SWITCH)
		x->smps_tables++;
	else
		x->smps_hypervisors++;
	return true;
}

/* With prepopulated LIDs a VM that stops leaves the VF its LID. */
static bool detach_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;

	while (b->at < b->jobs.n) {
		struct sm_job *j = &b->jobs.at[b->at++];

		if (j->detached)
			continue;
		sm_vf_set(sm, j->from, j->from_slot,
			  (struct sm_vf){j->to == NONE ? j->lid_left : 0, 0}, r);
		r->target.item = b->at - 1;
		j->result.smps_hypervisors++;
		return true;
	}
	return false;
}

static bool tables_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;

	if (b->at >= b->blocks.n)
		return false;
	sm_batch_block_make(sm, b->at++, r);
	return true;
}

/* Blocks from that of the last LID so far to that of the new one. */
static bool fill_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;
	uint32_t was = sm->topo.top_lid / IBA_LFT_BLOCK, now = b->top / IBA_LFT_BLOCK;
	uint32_t n = b->top > sm->topo.top_lid ? now - was + 1 : 0;

	while (b->at < sm->topo.fab->nswitches * n) {
		uint32_t at = b->at++;

		if (sm_batch_fill_make(sm, at / n, was + at % n, r))
			return true;
	}
	return false;
}

static bool top_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;

	while (b->at < sm->topo.fab->nswitches) {
		uint32_t node = sm->topo.node_of[sm->topo.fab->switches[b->at++]];
		struct iba_switch_info si = sm->topo.nodes.at[node].si;

		if (si.linear_top >= b->top || !si.linear_cap)
			continue;
		si.linear_top = sm_linear_top(sm, &si);
		si.port_state_change = 0;
		sm_switch_learn(sm, node, &si);
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_SWITCH_INFO, 0);
		iba_switch_info_put(&si, r->data);
		return true;
	}
	return false;
}

static bool attach_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;

	while (b->at < b->jobs.n) {
		struct sm_job *j = &b->jobs.at[b->at++];

		if (j->to == NONE)
			continue;
		sm_vf_set(sm, j->to, j->to_slot,
			  (struct sm_vf){j->lid, sm->virtual.vms.at[j->vm].v.guid}, r);
		r->target.item = b->at - 1;
		j->attach_sent = true;
		j->result.smps_hypervisors++;
		return true;
	}
	return false;
}

/* Requests that wait may need these slots: they go first. */
static bool left_next(struct sm *sm, struct sm_req *r)
{
	struct sm_virtual *v = &sm->virtual;
	size_t kept = 0, i = 0;
	bool made = false;

	if (v->queue.n)
		return false;
	for (v->left_at = 0; i < v->left.n && !made; i++) {
		struct sm_place x = v->left.at[i];
		struct sm_slot *s = sm_slot_of(sm, x.host, x.slot);

		if (!sm_vhost_is_there(sm, x.host) || sm_slot_is_right(sm, x.host, x.slot))
			continue;
		if (s->quiet_at > sm->core.now) { /* a copy of what was set may arrive */
			v->left_at = MAX(v->left_at, s->quiet_at);
			v->left.at[kept++] = x;
			continue;
		}
		sm_vf_set_run(sm, x.host, x.slot, r);
		made = true;
	}
	if (i < v->left.n)
		memmove(v->left.at + kept, v->left.at + i, (v->left.n - i) * sizeof(*v->left.at));
	v->left.n -= i - kept;
	return made;
}

static bool (*const nexts[SM_MOVE_END])(struct sm *sm, struct sm_req *r) = {
	[SM_MOVE_KEYS] = keys_next,  [SM_MOVE_DETACH] = detach_next, [SM_MOVE_TABLES] = tables_next,
	[SM_MOVE_FILL] = fill_next,  [SM_MOVE_TOP] = top_next,	     [SM_MOVE_ATTACH] = attach_next,
	[SM_MOVE_UNKEY] = keys_next, [SM_MOVE_LEFT] = left_next,
};

/* ---- from step to step ---- */

static bool must_drain(const struct sm_batch *b)
{
	return b->plan.drain >> MIN(b->stage, 63u) & 1;
}

/* A plan does not know packets of the routes before those that it starts from. */
static void stage_begin(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;

	sm_batch_blocks(sm);
	if (b->blocks.n && (!b->stage || must_drain(b)) && sm->dev.drained_at > sm->core.now)
		sm_phase_hold(sm, sm->dev.drained_at);
}

/* GUIDs of a shared port are set eight at a time: a copy of what the first step set must not arrive after this one. */
static void attach_begin(struct sm *sm)
{
	const struct sm_batch *b = &sm->virtual.batch;
	time_ps quiet = 0;

	for (size_t i = 0; i < b->jobs.n; i++)
		if (b->jobs.at[i].to != NONE)
			quiet = MAX(
				quiet,
				sm_slot_of(sm, b->jobs.at[i].to, b->jobs.at[i].to_slot)->quiet_at);
	if (quiet > sm->core.now)
		sm_phase_hold(sm, quiet);
}

/* The step is acknowledged; false: it was the last. */
static bool advance(struct sm *sm)
{
	struct sm_batch *b = &sm->virtual.batch;

	if (b->step == SM_MOVE_END)
		return false;
	b->at = 0;
	if (b->step == SM_MOVE_TABLES && b->stage + 1 < b->plan.stages) {
		b->stage++;
		stage_begin(sm);
		return true;
	}
	if (b->step == SM_MOVE_FILL)
		sm_top_raise(sm, b->top);
	if (b->step == SM_MOVE_UNKEY)
		sm_batch_end(sm);
	b->step++;
	if (b->step == SM_MOVE_TABLES)
		stage_begin(sm);
	if (b->step == SM_MOVE_ATTACH)
		attach_begin(sm);
	if (b->step == SM_MOVE_UNKEY)
		sm_vm_keys_begin(sm, true);
	return b->step != SM_MOVE_END;
}

/* A copy of an earlier Set may have attached a slot again that the batch detached. */
static enum sm_outcome move_due(struct sm *sm)
{
	if (!sm->virtual.stray)
		return SM_GOING_ON;
	sm_unfinished(sm);
	return sm_changed(sm, SM_CAUSE_SILENCE, SM_ABOUT_NOTHING);
}

static bool move_next(struct sm *sm, struct sm_req *r)
{
	struct sm_batch *b = &sm->virtual.batch;

	while (b->step != SM_MOVE_END && sm->core.now >= sm->core.hold_until) {
		if (nexts[b->step](sm, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		advance(sm);
	}
	return false;
}

/* ---- answers ---- */

static enum sm_outcome mismatch(struct sm *sm, const struct sm_txn *t)
{
	sm_note(sm, .kind = SM_NOTE_MISMATCH, .about = sm_about_target(sm, &t->target),
		.request = {.attribute = t->attr_id});
	return sm_failed(sm, t);
}

/* The response shows what the VF accepted. */
static enum sm_outcome slot_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_job *j = &sm->virtual.batch.jobs.at[t->target.item];
	bool off = sm->virtual.batch.step == SM_MOVE_DETACH;
	uint32_t host = off ? j->from : j->to;
	const struct sm_slot *s = sm_slot_of(sm, host, off ? j->from_slot : j->to_slot);
	bool shared = sm->virtual.hosts.at[host].sriov == FAB_SRIOV_SHARED;
	uint16_t lid = shared ? 0 : off ? (j->to == NONE ? j->lid_left : 0) : j->lid;
	uint64_t guid = off ? 0 : sm->virtual.vms.at[j->vm].v.guid;

	sm_vf_learn(sm, t, data);
	if (s->has_lid != lid || ((lid || shared) && s->has_guid != guid))
		return mismatch(sm, t);
	if (off)
		j->detached = true;
	return SM_GOING_ON;
}

static enum sm_outcome left_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t host = sm_vhost_find(sm, sm->topo.nodes.at[t->target.node].guid);

	sm_vf_learn(sm, t, data);
	return host != NONE && !sm_slot_is_right(sm, host, iba_smp_attr_mod(t->send.mad))
		       ? mismatch(sm, t)
		       : SM_GOING_ON;
}

static enum sm_outcome move_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct iba_switch_info si;

	if (sm_pkeys_recv(sm, t, data))
		return SM_GOING_ON;
	if (sm_is_vf_attr(t->attr_id) && sm->virtual.batch.step == SM_MOVE_LEFT)
		return left_recv(sm, t, data);
	if (sm_is_vf_attr(t->attr_id))
		return slot_recv(sm, t, data);
	if (t->attr_id == IBA_ATTR_LFT) {
		sm_blocks_recv(sm, t, data);
		sm_drain_moved(sm);
		return SM_GOING_ON;
	}
	iba_switch_info_get(&si, data, IBA_SMP_DATA_SIZE);
	if (si.port_state_change)
		sm_switch_doubt(sm, t->target.node);
	return SM_GOING_ON;
}

/* A device that refuses P_Keys serves as others do; one that does not respond is looked for. */
static enum sm_outcome move_fail(struct sm *sm, const struct sm_txn *t)
{
	if (t->status && sm_pkeys_fail(sm, t))
		return SM_GOING_ON;
	sm_unfinished(sm);
	return sm_failed(sm, t);
}

static enum sm_outcome move_done(struct sm *sm)
{
	if (sm->virtual.batch.step != SM_MOVE_END)
		return SM_GOING_ON; /* it waits for packets to drain */
	return sm_audit_wanted(sm, sm_copies_until(sm)) ? SM_DOUBTFUL : SM_DONE;
}

const struct sm_part sm_part_move = {
	.begin = move_begin,
	.due = move_due,
	.next = move_next,
	.recv = move_recv,
	.fail = move_fail,
	.done = move_done,
};
