/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dispatcher: owns the list of requests that wait for a response, keeps it within the window,
 * repeats what times out, hands each response to the part that asked, and moves from phase to phase.
 * State: the transaction table and the phase. Does not know what the requests are about.
 */
#include "sm/rft.h"

/* ---- phases: what may follow what ---- */

static void nothing_to_stop(struct sm *sm)
{
	sm_phase_set(sm, SM_JOIN);
}

static void nothing_to_join(struct sm *sm)
{
	sm_phase_set(sm, SM_TABLES);
}

static const struct sm_part part_no_stop = {.done = nothing_to_stop}, part_no_join = {.done = nothing_to_join};

/* The parts below are those of the basic mechanism; part_now() knows the others. */
static const struct {
	const char *name;
	const struct sm_part *part;
	uint16_t next; /* bits of the phases that may follow */
} phases[SM_NPHASES] = {
	[SM_OFF] = {"off", NULL, 1 << SM_DISCOVER},
	[SM_DISCOVER] = {"discover", &sm_part_discover,
			 1 << SM_DISCOVER | 1 << SM_CONFIGURE | 1 << SM_READY},
	[SM_CONFIGURE] = {"configure", &sm_part_configure,
			  1 << SM_DISCOVER | 1 << SM_COMPUTE | 1 << SM_READY},
	[SM_COMPUTE] = {"compute", &sm_part_compute,
			1 << SM_DISCOVER | 1 << SM_DEACTIVATE | 1 << SM_READY},
	[SM_DEACTIVATE] = {"deactivate", &part_no_stop, 1 << SM_DISCOVER | 1 << SM_JOIN | 1 << SM_READY},
	[SM_JOIN] = {"join", &part_no_join, 1 << SM_DISCOVER | 1 << SM_TABLES | 1 << SM_READY},
	[SM_TABLES] = {"tables", &sm_part_blocks, 1 << SM_DISCOVER | 1 << SM_RESTORE | 1 << SM_READY},
	[SM_RESTORE] = {"restore", &sm_part_restore, 1 << SM_DISCOVER | 1 << SM_ARM | 1 << SM_READY},
	[SM_ARM] = {"arm", &sm_part_arm, 1 << SM_DISCOVER | 1 << SM_ACTIVATE | 1 << SM_READY},
	[SM_ACTIVATE] = {"activate", &sm_part_activate,
			 1 << SM_DISCOVER | 1 << SM_COMPUTE | 1 << SM_AUDIT | 1 << SM_READY},
	[SM_AUDIT] = {"audit", &sm_part_audit, 1 << SM_DISCOVER | 1 << SM_READY},
	[SM_READY] = {"ready", &sm_part_ready, 1 << SM_DISCOVER | 1 << SM_SWEEP | 1 << SM_AUDIT},
	[SM_SWEEP] = {"sweep", &sm_part_sweep, 1 << SM_DISCOVER | 1 << SM_READY},
};

const char *sm_phase_name(enum sm_phase p)
{
	return p < SM_NPHASES ? phases[p].name : "?";
}

const struct sm_technique *sm_technique_now(const struct sm *sm)
{
	return sm->stage == SM_FINAL && sm->staged ? sm->cfg.mechanism.second : sm->cfg.mechanism.first;
}

/* Can what is known be built upon? */
static bool can_be_partial(const struct sm *sm)
{
	return sm->cfg.mechanism.discovery->part == &sm_part_partial && sm->fab && sm->fab->nswitches &&
	       !sm->full_needed;
}

static const struct sm_part *part_now(const struct sm *sm)
{
	switch (sm->phase) {
	case SM_DISCOVER:
	case SM_SWEEP:
		/* A discovery stays what it began as. */
		if (sm->begin_again ? can_be_partial(sm) : sm->partial)
			return &sm_part_partial;
		break;
	case SM_DEACTIVATE:
		if (sm_technique_now(sm)->before)
			return sm_technique_now(sm)->before;
		break;
	case SM_JOIN:
		if (sm_technique_now(sm)->plan)
			return &sm_part_join;
		break;
	case SM_TABLES:
		return sm_technique_now(sm)->tables;
	case SM_OFF:
	case SM_CONFIGURE:
	case SM_COMPUTE:
	case SM_RESTORE:
	case SM_ARM:
	case SM_ACTIVATE:
	case SM_AUDIT:
	case SM_READY:
	case SM_NPHASES:
		break;
	}
	return phases[sm->phase].part;
}

static const char *const purpose_names[SM_NPURPOSES] = {
	[SM_FOR_SWEEP] = "sweep",
	[SM_FOR_DISCOVERY] = "discovery",
	[SM_FOR_CONFIGURATION] = "configuration",
	[SM_FOR_DISTRIBUTION] = "distribution",
	[SM_FOR_ACTIVATION] = "activation",
	[SM_FOR_AUDIT] = "audit",
	[SM_FOR_TRAP] = "trap",
};

const char *sm_purpose_name(enum sm_purpose p)
{
	return p < SM_NPURPOSES ? purpose_names[p] : "?";
}

static const char *const note_names[] = {
	[SM_NOTE_PHASE] = "phase",
	[SM_NOTE_CHANGE] = "change",
	[SM_NOTE_UNREACHABLE] = "unreachable",
	[SM_NOTE_BAD_STATUS] = "bad_status",
	[SM_NOTE_RESTART] = "restart",
	[SM_NOTE_REFUSED] = "refused",
	[SM_NOTE_TOO_FAR] = "too_far",
	[SM_NOTE_NO_LID] = "no_lid",
	[SM_NOTE_MISMATCH] = "mismatch",
	[SM_NOTE_TRAP] = "trap",
	[SM_NOTE_LEFT_OUT] = "left_out",
	[SM_NOTE_PLAN] = "plan",
	[SM_NOTE_GONE] = "gone",
	[SM_NOTE_NO_ROOM] = "no_room",
	[SM_NOTE_GUESS] = "guess",
	[SM_NOTE_HELD] = "held",
	[SM_NOTE_RELEASED] = "released",
	[SM_NOTE_LID] = "lid",
	[SM_NOTE_NAME] = "name",
	[SM_NOTE_STATE] = "state",
	[SM_NOTE_OTHER_SM] = "other_sm",
};

const char *sm_note_name(enum sm_note_kind k)
{
	return k < ARRAY_LEN(note_names) ? note_names[k] : "?";
}

const char *sm_cause_name(enum sm_cause c)
{
	static const char *const names[] = {"start", "sweep", "trap", "silence", "retry", "far", "release"};

	return c < ARRAY_LEN(names) ? names[c] : "?";
}

void sm_note(struct sm *sm, enum sm_note_kind k, uint64_t a, uint64_t b)
{
	uint64_t smps = 0;

	if (!sm->out) /* between steps nobody listens */
		return;
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += sm->st.smps[i];
	vec_push(&sm->out->notes, (struct sm_note){k, sm->now, a, b, smps});
}

void sm_phase_slide(struct sm *sm, enum sm_phase to)
{
	assert(phases[sm->phase].next & 1 << to);
	sm->round.time[sm->phase] += sm->now - sm->phase_since;
	if (sm->phase == SM_COMPUTE)
		sm->round.compute[sm->stage] += sm->now - sm->phase_since;
	sm_note(sm, SM_NOTE_PHASE, sm->phase, to);
	sm->phase = to;
	sm->phase_since = sm->now;
}

void sm_phase_set(struct sm *sm, enum sm_phase to)
{
	assert(sm->noutstanding == 0);
	sm_phase_slide(sm, to);
	sm->begin_again = true;
	sm->hold_until = 0;
}

void sm_round_begin(struct sm *sm, enum sm_cause cause, uint64_t who)
{
	if (sm->round.end || sm->phase == SM_OFF) { /* the last round is over: this is a new one */
		if (sm->phase != SM_SWEEP) /* a sweep's marks were set when it began */
			memcpy(sm->mark, sm->st.smps, sizeof(sm->mark));
		sm->round = (struct sm_round){.cause = cause, .start = sm->now};
		sm->rewrote = sm->mending = false;
		/* An audit that was still to come reads what was set then, too. */
		sm->trouble = sm->audit_at != TIME_NEVER;
		sm->retry_at = sm->audit_at = TIME_NEVER;
		if (!sm->trouble)
			sm->generation = (uint8_t)(sm->generation == UINT8_MAX ? 1 : sm->generation + 1);
		sm->restarts = 0;
		sm->incomplete |= sm->shunned.n > 0;
		sm->shunned.n = 0; /* perhaps it is the other device that changed */
		sm->phase_since = sm->now;
	}
	sm_note(sm, SM_NOTE_CHANGE, cause, who);
	sm->change_pending = false;
}

/* A new look at everything, whatever is going on. Late answers to old questions are dropped. */
void sm_change(struct sm *sm, enum sm_cause cause, uint64_t who)
{
	sm_round_begin(sm, cause, who);
	sm_forget_outstanding(sm);
	sm_phase_set(sm, SM_DISCOVER);
}

/* The device a request was for: what its mark means follows from the attribute; NONE: not known. */
static uint32_t node_asked(const struct sm *sm, const struct sm_txn *t)
{
	if (t->purpose == SM_FOR_AUDIT && t->attr_id != IBA_ATTR_PORT_INFO)
		return NONE;
	if (t->attr_id == IBA_ATTR_PORT_INFO || t->attr_id == IBA_ATTR_VLARB_TABLE)
		return t->ref < sm->ports.n ? sm->ports.at[t->ref].node : NONE;
	return t->ref < sm->nodes.n ? t->ref : NONE;
}

/* A part of a table that was sent and not acknowledged: nobody knows what the switch has now. */
static void table_unknown(struct sm *sm, const struct sm_txn *t)
{
	if (t->method != IBA_SET || t->ref >= sm->nodes.n)
		return;
	if (t->attr_id == IBA_ATTR_LFT)
		sm_row_unknown(sm, sm->nodes.at[t->ref].row, iba_smp_attr_mod(t->send.mad));
	else
		sm_rft_undone(sm, t);
}

/*
 * Mostly the device is gone and the next discovery shows it. One that is there and refuses would keep
 * the SM going round for ever, and everybody else without routes: after so many failures the one that
 * failed last is left out. If that cannot be, the SM rests and tries again later.
 */
enum { FAILURES_A_ROUND = 8 };

static bool leave_out(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = node_asked(sm, t);

	if (node == NONE || node == 0) /* 0: the SM's own */
		return false;
	vec_push(&sm->shunned, sm->nodes.at[node].guid);
	sm_note(sm, SM_NOTE_LEFT_OUT, sm->nodes.at[node].guid, t->attr_id);
	sm->round.restarts = 0;
	return true;
}

void sm_failed(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = node_asked(sm, t);

	table_unknown(sm, t);
	if (node != NONE)
		vec_push(&sm->suspects, node);
	if (sm->round.restarts) { /* once more: let nothing be taken for granted, nor that tables are as set */
		sm->full_needed = true;
		sm_rows_doubt(sm);
	}
	sm_note(sm, SM_NOTE_UNREACHABLE, 0, t->attr_id);
	sm->round.restarts++;
	if (sm->round.end || sm->round.restarts <= FAILURES_A_ROUND || leave_out(sm, t)) {
		sm_change(sm, SM_CAUSE_SILENCE, t->attr_id);
		return;
	}
	sm->dirty = true;
	sm_forget_outstanding(sm);
	sm_phase_set(sm, SM_READY);
}

/* ---- the transaction table ---- */

/*
 * Thesis 3.1.3 and 4.3.4: 2 * subnettimeout + resptimevalue, where subnettimeout is the longest
 * distance times what one hop may take. Before distances are known, a few hops are assumed.
 */
static time_ps subnet_time(const struct sm *sm)
{
	return MAX(sm->max_hops, 4u) * (sm->cfg.link_smp_ps + iba_time_from_exp(MAX(sm->max_resp, 8u)));
}

time_ps sm_timeout(const struct sm *sm)
{
	return 2 * subnet_time(sm) + iba_time_from_exp(MAX(sm->max_resp, 8u));
}

/* Slot, whether it is a Set, generation: all in 32 bits, ibsim keeps no more. */
enum { TID_SLOT = SM_MAX_WINDOW - 1, TID_SET = SM_MAX_WINDOW };

static uint64_t txn_tid(const struct sm *sm, const struct sm_txn *t)
{
	return (uint32_t)t->gen << 16 | (t->method == IBA_SET ? TID_SET : 0) | (uint32_t)(t - sm->txns);
}

static void txn_free(struct sm *sm, struct sm_txn *t)
{
	t->used = false;
	t->gen++;
	sm->noutstanding--;
	sm->txn_free[sm->nfree++] = (uint32_t)(t - sm->txns);
}

void sm_forget_some(struct sm *sm, bool (*drop)(const struct sm *sm, const struct sm_txn *t))
{
	for (uint32_t i = 0; sm->noutstanding && i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txns[i];

		if (!t->used || (drop && !drop(sm, t)))
			continue;
		/* It may yet be carried out, after what replaces it. */
		sm->trouble |= t->method == IBA_SET;
		sm->copies |= t->method == IBA_SET;
		table_unknown(sm, t);
		txn_free(sm, t);
	}
}

void sm_forget_outstanding(struct sm *sm)
{
	sm_forget_some(sm, NULL);
}

void sm_transmit(struct sm *sm, const struct sm_req *r, uint64_t tid, struct sm_send *s)
{
	uint16_t lid = r->lid ? r->lid : r->path.n || r->extra_hop ? 0 : r->path.via;
	uint8_t *m = s->mad;

	iba_smp_init(m, lid ? IBA_CLASS_SUBN_LID : IBA_CLASS_SUBN_DR, r->method, r->attr_id,
		     r->attr_mod);
	iba_smp_set_tid(m, tid);
	iba_smp_set_m_key(m, sm->cfg.m_key);
	if (r->method == IBA_SET || r->method == IBA_TRAP_REPRESS)
		memcpy(iba_smp_data(m), r->data, IBA_SMP_DATA_SIZE);
	s->sl = 0;
	if (lid) {
		s->slid = sm->own_lid;
		s->dlid = lid;
		return;
	}
	s->slid = r->path.via ? sm->own_lid : IBA_LID_PERMISSIVE;
	s->dlid = r->path.via ? r->path.via : IBA_LID_PERMISSIVE;
	iba_smp_set_dr_slid(m, s->slid);
	iba_smp_set_dr_dlid(m, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(m, (uint8_t)(r->path.n + (r->extra_hop ? 1 : 0)));
	memcpy(iba_smp_initial_path(m) + 1, sm->hops.at + r->path.at, r->path.n);
	if (r->extra_hop)
		iba_smp_initial_path(m)[r->path.n + 1] = r->extra_hop;
}

static void put_on_wire(struct sm *sm, struct sm_txn *t)
{
	t->tries++;
	t->deadline = sm->now + sm_timeout(sm);
	sm->next_deadline = MIN(sm->next_deadline, t->deadline);
	sm->st.smps[t->purpose]++;
	vec_push(&sm->out->sends, t->send);
}

static void send_request(struct sm *sm, const struct sm_req *r)
{
	struct sm_txn *t = &sm->txns[sm->txn_free[--sm->nfree]];

	t->used = true;
	t->tries = 0;
	t->purpose = r->purpose;
	t->attr_id = r->attr_id;
	t->method = r->method;
	t->kind = r->kind;
	t->ref = r->ref;
	sm_transmit(sm, r, txn_tid(sm, t), &t->send);
	sm->noutstanding++;
	put_on_wire(sm, t);
}

static unsigned window_now(const struct sm *sm)
{
	return sm->phase == SM_DISCOVER && sm->cfg.explore == SM_EXPLORE_BFS ? 1 : sm->cfg.window;
}

/* Send while there is room and something to say; when all is said and answered, go on. */
static void pump(struct sm *sm)
{
	struct sm_req r;

	for (;;) {
		const struct sm_part *part = part_now(sm);

		if (!part || sm->now < sm->hold_until)
			return;
		sm->hold_until = 0;
		if (sm->begin_again) {
			sm->begin_again = false;
			if (part->begin)
				part->begin(sm);
			continue;
		}
		if (part->next && sm->noutstanding < window_now(sm)) {
			memset(&r, 0, offsetof(struct sm_req, data));
			if (part->next(sm, &r)) {
				send_request(sm, &r);
				continue;
			}
		}
		if (sm->noutstanding)
			return;
		if (part->done)
			part->done(sm);
		if (!sm->begin_again)
			return;
	}
}

/* ---- events ---- */

static void on_response(struct sm *sm, const struct sm_event *ev)
{
	uint64_t tid = iba_smp_tid(ev->mad);
	uint32_t slot = tid & TID_SLOT;
	const struct sm_part *part = part_now(sm);
	struct sm_txn *t, copy;
	uint16_t status = iba_smp_status(ev->mad) & 0x7fff;

	t = slot < sm->cfg.window ? &sm->txns[slot] : NULL;
	if (!t || !t->used || txn_tid(sm, t) != (tid & 0xffffffff) || t->attr_id != iba_smp_attr_id(ev->mad)) {
		sm->st.late++;
		sm->trouble |= (tid & TID_SET) != 0; /* it was carried out twice, or too late */
		sm->copies |= (tid & TID_SET) != 0;
		return;
	}
	copy = *t;
	txn_free(sm, t);
	if (status) {
		sm->st.bad++;
		sm_note(sm, SM_NOTE_BAD_STATUS, 0, (uint64_t)copy.attr_id << 16 | status);
		part->fail(sm, &copy);
	} else if (part->recv) {
		part->recv(sm, &copy, iba_smp_data_const(ev->mad));
	}
}

static void link_state_trap(struct sm *sm, uint16_t lid)
{
	uint32_t node = sm_node_by_lid(sm, lid);
	bool looking = sm->partial && !sm->begin_again && (sm->phase == SM_DISCOVER || sm->phase == SM_SWEEP);

	if (looking && node != NONE) {
		if (sm->phase == SM_SWEEP) {
			sm_round_begin(sm, SM_CAUSE_TRAP, lid);
			sm_phase_slide(sm, SM_DISCOVER);
		}
		sm_partial_suspect(sm, node);
		return;
	}
	if (node != NONE)
		vec_push(&sm->suspects, node);
	else if (sm->damp.held.n) /* who is held off; whoever else there may be, a neighbour tells as well */
		return;
	else
		sm->full_needed = true; /* nobody known has this LID */
	if (sm->phase == SM_READY || sm->phase == SM_SWEEP) {
		sm_change(sm, SM_CAUSE_TRAP, lid);
	} else {
		sm->change_pending = true;
		sm->pending_cause = SM_CAUSE_TRAP;
	}
}

static void on_trap(struct sm *sm, const struct sm_event *ev)
{
	struct sm_req r = {.method = IBA_TRAP_REPRESS,
			   .attr_id = IBA_ATTR_NOTICE,
			   .purpose = SM_FOR_TRAP,
			   .lid = ev->slid};
	struct iba_notice notice;

	iba_notice_get(&notice, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	sm->st.traps++;
	sm_note(sm, SM_NOTE_TRAP, notice.trap_number, ev->slid);
	if (ev->slid && ev->slid <= IBA_LID_MAX_UNICAST) {
		memcpy(r.data, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
		vec_room(&sm->out->sends, sm->out->sends.n + 1);
		sm_transmit(sm, &r, iba_smp_tid(ev->mad), &sm->out->sends.at[sm->out->sends.n++]);
		sm->st.smps[SM_FOR_TRAP]++;
	}
	if (notice.is_generic && notice.trap_number == IBA_TRAP_LINK_STATE && sm->phase != SM_OFF)
		link_state_trap(sm, ev->slid);
}

static void on_smp(struct sm *sm, const struct sm_event *ev)
{
	unsigned cls = iba_smp_mgmt_class(ev->mad), method = iba_smp_method(ev->mad);

	if (iba_smp_base_version(ev->mad) != 1 || iba_smp_class_version(ev->mad) != 1 ||
	    (cls != IBA_CLASS_SUBN_LID && cls != IBA_CLASS_SUBN_DR)) {
		sm->st.bad++;
		return;
	}
	if (method == IBA_GET_RESP)
		on_response(sm, ev);
	else if (method == IBA_TRAP && iba_smp_attr_id(ev->mad) == IBA_ATTR_NOTICE)
		on_trap(sm, ev);
	else if ((method == IBA_GET || method == IBA_SET) && iba_smp_attr_id(ev->mad) == IBA_ATTR_SM_INFO)
		sm_info_answer(sm, ev);
	else
		sm->st.bad++;
}

static void on_deadline(struct sm *sm)
{
	uint32_t epoch = sm->epoch;
	time_ps next = TIME_NEVER;

	if (sm->now < sm->next_deadline)
		return;
	for (uint32_t i = 0; i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txns[i], copy;

		if (!t->used)
			continue;
		if (t->deadline > sm->now) {
			next = MIN(next, t->deadline);
			continue;
		}
		if (t->tries <= sm->cfg.retries) {
			sm->trouble |= t->method == IBA_SET;
			sm->copies |= t->method == IBA_SET;
			sm->st.retries++;
			put_on_wire(sm, t);
			next = MIN(next, t->deadline);
			continue;
		}
		sm->st.timeouts++;
		copy = *t;
		txn_free(sm, t);
		part_now(sm)->fail(sm, &copy);
		if (sm->epoch != epoch || sm->begin_again)
			break; /* all else was forgotten */
	}
	sm->next_deadline = next;
}

static void on_wake(struct sm *sm)
{
	if (sm->noutstanding)
		on_deadline(sm);
	if (sm->phase == SM_READY && sm->now >= sm->retry_at) {
		sm->full_needed = true;
		sm_change(sm, SM_CAUSE_RETRY, 0);
	} else if (sm->phase == SM_READY && sm->now >= sm->audit_at) {
		sm_phase_set(sm, SM_AUDIT);
	} else if (sm->phase == SM_READY && sm->now >= sm_damp_due(sm)) {
		sm_damp_release(sm);
	} else if (sm->phase == SM_READY && sm->now >= sm->next_sweep) {
		sm_phase_set(sm, SM_SWEEP);
	}
}

/* Tables for the snapshot, to be distributed next; the SM owns all of it from now on. */
void sm_routes_take(struct sm *sm, const struct sm_routes *r)
{
	sm_retire_tables(sm, sm->tables);
	sm_retire_memory(sm, sm->rank);
	rt_plan_free(&sm->plan);
	sm->tables = r->tables;
	sm->rank = r->rank;
	sm->plan = r->plan;
	sm->settled = r->settled && sm->cfg.mechanism.routes->update; /* others have tables of their own */
	sm->ready = r->ready ? r->ready : UINT16_MAX;
	rt_tables_fill(sm->tables);
	if (sm_rft_prepare(sm))
		sm_phase_set(sm, SM_DEACTIVATE);
}

static void on_routes(struct sm *sm, const struct sm_event *ev)
{
	struct sm_routes given = ev->routes, *r = &given;

	sm_retired_free(sm, r->epoch);
	if (sm_ahead_answer(sm, r))
		return;
	if (sm->phase != SM_COMPUTE || r->epoch != sm->compute_id) { /* the world moved on */
		sm_routes_free(r);
		return;
	}
	if (!r->tables || !r->verified) {
		sm_routes_free(r);
		sm_note(sm, SM_NOTE_REFUSED, 0, 0);
		sm->dirty = true;
		sm_phase_set(sm, SM_READY);
		return;
	}
	sm_routes_take(sm, r);
}

static void on_progress(struct sm *sm, const struct sm_event *ev)
{
	if (ev->routes.epoch == sm->compute_id)
		sm->ready = ev->routes.ready ? MAX(sm->ready, ev->routes.ready) : UINT16_MAX;
}

static time_ps wake_time(const struct sm *sm)
{
	time_ps t = sm->noutstanding ? sm->next_deadline : TIME_NEVER;

	if (sm->phase == SM_READY)
		t = MIN(MIN(t, sm_damp_due(sm)), MIN(sm->next_sweep, MIN(sm->retry_at, sm->audit_at)));
	else if (sm->hold_until)
		t = MIN(t, sm->hold_until);
	return t;
}

int sm_step(struct sm *sm, const struct sm_event *ev, struct sm_actions *out)
{
	int rc = 0;

	out->sends.n = 0;
	out->notes.n = 0;
	out->compute.epoch = 0;
	sm->out = out;
	sm->now = MAX(sm->now, ev->now);
	switch (ev->kind) {
	case SM_EV_START:
		if (sm->phase == SM_OFF)
			sm_change(sm, SM_CAUSE_START, 0);
		else
			rc = -EINVAL;
		break;
	case SM_EV_SMP:
		on_smp(sm, ev);
		break;
	case SM_EV_WAKE:
		on_wake(sm);
		break;
	case SM_EV_ROUTES:
		on_routes(sm, ev);
		break;
	case SM_EV_PROGRESS:
		on_progress(sm, ev);
		break;
	case SM_EV_SWEEP:
		if (sm->phase == SM_READY)
			sm_phase_set(sm, SM_SWEEP);
		break;
	}
	pump(sm);
	out->wake = wake_time(sm);
	sm->out = NULL;
	return rc;
}
