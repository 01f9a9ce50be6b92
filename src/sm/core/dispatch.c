/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dispatcher: owns the list of requests that wait for a response, keeps it within the window,
 * repeats what times out and hands each response to the part that asked. State: the transaction table.
 * Does not know what the requests are about.
 */
#include "sm/tables/random_tables.h"

/* The device a request was for: what its mark means follows from the attribute; NONE: not known. */
static uint32_t node_asked(const struct sm *sm, const struct sm_txn *t)
{
	if (t->purpose == SM_FOR_AUDIT && t->attr_id != IBA_ATTR_PORT_INFO)
		return NONE;
	if (t->attr_id == IBA_ATTR_PORT_INFO || t->attr_id == IBA_ATTR_VLARB_TABLE)
		return t->ref < sm->topo.ports.n ? sm->topo.ports.at[t->ref].node : NONE;
	return t->ref < sm->topo.nodes.n ? t->ref : NONE;
}

/* Sent and not acknowledged, a part of a table or the mark of a switch: nobody knows what it has now. */
static void set_unknown(struct sm *sm, const struct sm_txn *t)
{
	if (t->method == IBA_SET && t->attr_id == IBA_ATTR_PORT_INFO && t->ref < sm->topo.ports.n &&
	    !sm->topo.ports.at[t->ref].num)
		sm->topo.ports.at[t->ref].pi.subnet_timeout =
			UINT8_MAX; /* so that it is set again */
	if (t->method != IBA_SET || t->ref >= sm->topo.nodes.n)
		return;
	if (t->attr_id == IBA_ATTR_LFT)
		sm_row_unknown(sm, sm->topo.nodes.at[t->ref].row, iba_smp_attr_mod(t->send.mad));
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
	vec_push(&sm->disc.shunned, sm->topo.nodes.at[node].guid);
	sm_note(sm, SM_NOTE_LEFT_OUT, sm->topo.nodes.at[node].guid, t->attr_id);
	sm->core.round.restarts = 0;
	return true;
}

void sm_failed(struct sm *sm, const struct sm_txn *t)
{
	uint32_t node = node_asked(sm, t);

	set_unknown(sm, t);
	if (node != NONE)
		vec_push(&sm->disc.suspects, node);
	if (sm->core.round
		    .restarts) { /* once more: let nothing be taken for granted, nor that tables are as set */
		sm->disc.full_needed = true;
		sm_rows_doubt(sm);
	}
	sm_note(sm, SM_NOTE_UNREACHABLE, 0, t->attr_id);
	sm->core.round.restarts++;
	if (sm->core.round.end || sm->core.round.restarts <= FAILURES_A_ROUND || leave_out(sm, t)) {
		sm_change(sm, SM_CAUSE_SILENCE, t->attr_id);
		return;
	}
	sm->disc.dirty = true;
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
	return MAX(sm->topo.max_hops, 4u) *
	       (sm->cfg.link_smp_ps + iba_time_from_exp(MAX(sm->topo.max_resp, 8u)));
}

/*
 * Where time is real, one device that says it needs hours must not stop the SM for hours when an SMP to
 * another is lost; patience() waits longer for whoever is that slow.
 */
time_ps sm_timeout(const struct sm *sm)
{
	time_ps t = 2 * subnet_time(sm) + iba_time_from_exp(MAX(sm->topo.max_resp, 8u)),
		floor = sm->cfg.timeout_ps;

	return floor ? MIN(MAX(t, floor), MAX(PS_PER_S, floor)) : t;
}

/* Where time is real, silence may be a busy machine's: patience grows. */
static time_ps patience(const struct sm *sm, const struct sm_txn *t)
{
	return sm_timeout(sm) << (sm->cfg.timeout_ps ? MIN(t->tries - 1, 6) : 0);
}

/* Slot, whether it is a Set, generation: all in 32 bits, ibsim keeps no more. */
enum { TID_SLOT = SM_MAX_WINDOW - 1, TID_SET = SM_MAX_WINDOW };

static uint64_t txn_tid(const struct sm *sm, const struct sm_txn *t)
{
	return (uint32_t)t->gen << 16 | (t->method == IBA_SET ? TID_SET : 0) |
	       (uint32_t)(t - sm->txn.slots);
}

static void txn_free(struct sm *sm, struct sm_txn *t)
{
	t->used = false;
	t->gen++;
	sm->txn.outstanding--;
	sm->txn.free[sm->txn.nfree++] = (uint32_t)(t - sm->txn.slots);
}

void sm_forget_some(struct sm *sm, bool (*drop)(const struct sm *sm, const struct sm_txn *t))
{
	for (uint32_t i = 0; sm->txn.outstanding && i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txn.slots[i];

		if (!t->used || (drop && !drop(sm, t)))
			continue;
		/* It may yet be carried out, after what replaces it: of ports and tables the audit tells. */
		sm->audit.trouble |= t->method == IBA_SET && t->attr_id != IBA_ATTR_SWITCH_INFO;
		sm->audit.copies |= t->method == IBA_SET && t->attr_id != IBA_ATTR_SWITCH_INFO;
		set_unknown(sm, t);
		txn_free(sm, t);
	}
}

void sm_forget_outstanding(struct sm *sm)
{
	sm_forget_some(sm, NULL);
}

void sm_transmit(struct sm *sm, const struct sm_req *r, uint64_t tid, struct sm_send *s)
{
	struct sm_path path = r->path;
	uint16_t lid = r->lid ? r->lid : path.n || r->extra_hop ? 0 : path.via;
	unsigned more = lid ? 0 : path.n + (r->extra_hop ? 1u : 0u);
	struct sm_way way = {0};
	uint8_t *m = s->mad;

	if (sm->cfg.plain && r->attr_id != IBA_ATTR_NOTICE &&
	    sm_way_instead(sm, lid ? lid : path.via, more, &way)) {
		if (lid) /* all of it was to go by LID */
			path.n = 0;
		lid = path.via = 0;
	}
	iba_smp_init(m, lid ? IBA_CLASS_SUBN_LID : IBA_CLASS_SUBN_DR, r->method, r->attr_id,
		     r->attr_mod);
	iba_smp_set_tid(m, tid);
	iba_smp_set_m_key(m, r->keyed ? r->m_key : sm->cfg.m_key);
	if (r->method == IBA_SET || r->method == IBA_TRAP_REPRESS)
		memcpy(iba_smp_data(m), r->data, IBA_SMP_DATA_SIZE);
	s->sl = 0;
	if (lid) {
		s->slid = sm->lids.own;
		s->dlid = lid;
		return;
	}
	s->slid = path.via ? sm->lids.own : IBA_LID_PERMISSIVE;
	s->dlid = path.via ? path.via : IBA_LID_PERMISSIVE;
	iba_smp_set_dr_slid(m, s->slid);
	iba_smp_set_dr_dlid(m, IBA_LID_PERMISSIVE);
	if (path.n)
		memcpy(way.hops + way.n, sm->topo.hops.at + path.at, path.n);
	way.n += path.n;
	if (r->extra_hop)
		way.hops[way.n++] = r->extra_hop;
	iba_smp_set_hop_cnt(m, way.n);
	memcpy(iba_smp_initial_path(m) + 1, way.hops, way.n);
}

static void put_on_wire(struct sm *sm, struct sm_txn *t)
{
	t->tries++;
	t->deadline = sm->core.now + patience(sm, t);
	sm->txn.next_deadline = MIN(sm->txn.next_deadline, t->deadline);
	sm->core.st.smps[t->purpose]++;
	vec_push(&sm->core.out->sends, t->send);
}

static void send_request(struct sm *sm, const struct sm_req *r)
{
	struct sm_txn *t = &sm->txn.slots[sm->txn.free[--sm->txn.nfree]];

	t->used = true;
	t->tries = 0;
	t->purpose = r->purpose;
	t->attr_id = r->attr_id;
	t->method = r->method;
	t->kind = r->kind;
	t->ref = r->ref;
	sm_transmit(sm, r, txn_tid(sm, t), &t->send);
	sm->txn.outstanding++;
	put_on_wire(sm, t);
}

static unsigned window_now(const struct sm *sm)
{
	return sm->core.phase == SM_DISCOVER && sm->cfg.explore == SM_EXPLORE_BFS ? 1
										  : sm->cfg.window;
}

/* Send while there is room and something to say; when all is said and answered, go on. */
void sm_pump(struct sm *sm)
{
	struct sm_req r;

	for (;;) {
		const struct sm_part *part = sm_part_now(sm);

		if (!part || sm->core.now < sm->core.hold_until)
			return;
		sm->core.hold_until = 0;
		if (sm->core.entered) {
			sm->core.entered = false;
			if (part->begin)
				part->begin(sm);
			continue;
		}
		if (part->next && sm->txn.outstanding < window_now(sm)) {
			memset(&r, 0, offsetof(struct sm_req, data));
			if (part->next(sm, &r)) {
				send_request(sm, &r);
				continue;
			}
		}
		if (sm->txn.outstanding)
			return;
		if (part->done)
			part->done(sm);
		if (!sm->core.entered)
			return;
	}
}

void sm_txn_response(struct sm *sm, const struct sm_event *ev)
{
	uint64_t tid = iba_smp_tid(ev->mad);
	uint32_t slot = tid & TID_SLOT;
	const struct sm_part *part = sm_part_now(sm);
	struct sm_txn *t, copy;
	uint16_t status = iba_smp_status(ev->mad) & 0x7fff;

	t = slot < sm->cfg.window ? &sm->txn.slots[slot] : NULL;
	if (!t || !t->used || txn_tid(sm, t) != (tid & 0xffffffff) ||
	    t->attr_id != iba_smp_attr_id(ev->mad)) {
		sm->core.st.late++;
		if (tid & TID_SET && iba_smp_attr_id(ev->mad) != IBA_ATTR_SWITCH_INFO)
			sm->audit.trouble = sm->audit.copies =
				true; /* it was carried out twice, or too late */
		return;
	}
	copy = *t;
	txn_free(sm, t);
	sm_key_answered(sm, &copy);
	if (status) {
		sm->core.st.bad++;
		sm_note(sm, SM_NOTE_BAD_STATUS, 0, (uint64_t)copy.attr_id << 16 | status);
		part->fail(sm, &copy);
	} else if (part->recv) {
		part->recv(sm, &copy, iba_smp_data_const(ev->mad));
	}
}

/* As if its time were up. It is asked for again, or given up, as others are. */
void sm_txn_lost(struct sm *sm, const struct sm_event *ev)
{
	uint32_t slot = iba_smp_tid(ev->mad) & TID_SLOT;
	struct sm_txn *t = slot < sm->cfg.window ? &sm->txn.slots[slot] : NULL;

	if (!t || !t->used || txn_tid(sm, t) != (iba_smp_tid(ev->mad) & 0xffffffff))
		return;
	t->deadline = sm->txn.next_deadline = sm->core.now;
	sm_txns_overdue(sm);
}

void sm_txns_overdue(struct sm *sm)
{
	uint32_t epoch = sm->topo.epoch;
	time_ps next = TIME_NEVER;

	if (sm->core.now < sm->txn.next_deadline)
		return;
	for (uint32_t i = 0; i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txn.slots[i], copy;

		if (!t->used)
			continue;
		if (t->deadline > sm->core.now) {
			next = MIN(next, t->deadline);
			continue;
		}
		if (t->tries < (sm->cfg.retries + 1) * sm_key_count(sm)) {
			iba_smp_set_m_key(t->send.mad,
					  sm_key_next(sm, iba_smp_m_key(t->send.mad), t->tries));
			sm->audit.trouble |= t->method == IBA_SET;
			sm->audit.copies |= t->method == IBA_SET;
			sm->core.st.retries++;
			put_on_wire(sm, t);
			next = MIN(next, t->deadline);
			continue;
		}
		sm->core.st.timeouts++;
		copy = *t;
		txn_free(sm, t);
		sm_part_now(sm)->fail(sm, &copy);
		if (sm->topo.epoch != epoch || sm->core.entered)
			break; /* all else was forgotten */
	}
	sm->txn.next_deadline = next;
}
