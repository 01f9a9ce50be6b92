/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transactions: requests that wait for a response, within the window, repeated when they time out. State:
 * struct sm_transactions. Ways in: sm_txn_send(), sm_txn_find(). Does not know what a request is about,
 * nor which part asked.
 */
#include "sm/tables/random_tables.h"

void sm_txns_init(struct sm *sm)
{
	struct sm_transactions *x = &sm->txn;

	x->slots = mem_zarray(sm->cfg.window, sizeof(*x->slots));
	x->free = mem_array(sm->cfg.window, sizeof(*x->free));
	x->depth = SM_PAST_SETS;
	x->past = mem_zarray(sm->cfg.window * (size_t)x->depth, sizeof(*x->past));
	for (uint32_t i = sm->cfg.window; i-- > 0;)
		x->free[x->nfree++] = i;
	x->next_deadline = TIME_NEVER;
}

void sm_txns_free(struct sm *sm)
{
	free(sm->txn.slots);
	free(sm->txn.free);
	free(sm->txn.past);
}

/* ---- timeouts ---- */

/*
 * Thesis 3.1.3 and 4.3.4: 2 * subnettimeout + resptimevalue, where subnettimeout is the longest
 * distance times what one hop may take. Before distances are known, a few hops are assumed.
 */
static time_ps round_trip(const struct sm *sm, unsigned resp)
{
	time_ps there =
		MAX(sm->topo.max_hops, 4u) * (sm->cfg.link_smp_ps + iba_time_from_exp(resp));

	return 2 * there + iba_time_from_exp(resp);
}

/*
 * One device that reports a response time of hours must not delay the retry to another for hours; in real
 * time, patience() gives slow devices more time.
 */
time_ps sm_timeout(const struct sm *sm)
{
	enum { LEAST = 8 };
	time_ps t = round_trip(sm, MAX(sm->topo.max_resp, (unsigned)LEAST)),
		floor = sm->cfg.timeout_ps;

	if (!floor)
		return MIN(t, MAX(PS_PER_S, round_trip(sm, LEAST)));
	return MIN(MAX(t, floor), MAX(PS_PER_S, floor));
}

/* What is sent now arrives before, or never. */
time_ps sm_copies_until(const struct sm *sm)
{
	return sm->core.now + sm_timeout(sm);
}

/*
 * In real time a busy machine may be why no response came: each retry waits longer. Other keys are no retries. What a
 * device reports lengthens no retry beyond a second: it may not be true.
 */
static time_ps patience(const struct sm *sm, const struct sm_txn *t)
{
	unsigned retries = MIN((t->tries - 1u) / sm_key_count(sm), 6u);
	time_ps once = sm_timeout(sm), floor = sm->cfg.timeout_ps << retries;

	if (!sm->cfg.timeout_ps)
		return once;
	return MIN(once << retries, MAX(MAX(PS_PER_S, floor), once));
}

/* ---- the table ---- */

/*
 * Slot, whether it is a Set, generation: 32 bits in all, since ibsim keeps no more. 2 * SM_MAX_WINDOW is the
 * election's (asks.c).
 */
enum { TID_SLOT = SM_MAX_WINDOW - 1, TID_SET = SM_MAX_WINDOW, TID_ASIDE = 4 * SM_MAX_WINDOW };

static uint64_t txn_tid(const struct sm *sm, const struct sm_txn *t)
{
	return (uint32_t)t->gen << 16 | (t->method == IBA_SET ? TID_SET : 0) |
	       (uint32_t)(t - sm->txn.slots);
}

struct sm_txn *sm_txn_find(struct sm *sm, const uint8_t *mad)
{
	uint64_t tid = iba_smp_tid(mad);
	uint32_t slot = tid & TID_SLOT;
	struct sm_txn *t = slot < sm->cfg.window ? &sm->txn.slots[slot] : NULL;

	return t && t->used && txn_tid(sm, t) == (tid & 0xffffffff) ? t : NULL;
}

uint32_t sm_tid_aside(uint16_t gen)
{
	return (uint32_t)gen << 16 | TID_ASIDE;
}

bool sm_tid_is_aside(const uint8_t *mad)
{
	return iba_smp_tid(mad) & TID_ASIDE;
}

/* ---- Sets of which copies may be carried out late ---- */

static bool clears_change(const struct sm_txn *t)
{
	struct iba_switch_info si;

	iba_switch_info_get(&si, iba_smp_data_const(t->send.mad), IBA_SMP_DATA_SIZE);
	return si.port_state_change;
}

static struct sm_written written(const struct sm *sm, const struct sm_txn *t)
{
	struct sm_written w = {.attr_id = t->attr_id, .item = iba_smp_attr_mod(t->send.mad)};

	if (t->target.node == NONE || t->target.kind == SM_TARGET_NONE)
		return w;
	w.guid = sm->topo.nodes.at[t->target.node].guid;
	if (t->attr_id == IBA_ATTR_PORT_INFO ||
	    (t->attr_id == IBA_ATTR_SLVL_TABLE && t->target.kind == SM_TARGET_PORT))
		w.item = sm->topo.ports.at[t->target.port].num;
	else if (t->attr_id == IBA_ATTR_SWITCH_INFO)
		w.item = clears_change(t);
	return w;
}

static struct sm_past_set *past_of(struct sm *sm, uint32_t slot, uint16_t gen)
{
	return &sm->txn.past[slot * (size_t)sm->txn.depth + gen % sm->txn.depth];
}

static void past_deepen(struct sm *sm)
{
	struct sm_transactions *x = &sm->txn;
	size_t n = sm->cfg.window * (size_t)x->depth;
	struct sm_past_set *old = x->past;

	x->past = mem_zarray(2 * n, sizeof(*x->past));
	x->depth *= 2;
	for (size_t i = 0; i < n; i++)
		if (old[i].used)
			*past_of(sm, (uint32_t)(i / (x->depth / 2)), old[i].gen) = old[i];
	free(old);
}

/* The place for a Set; none whose copies may still arrive is forgotten for it, as long as memory allows. */
static struct sm_past_set *past_place(struct sm *sm, uint32_t slot, uint16_t gen)
{
	struct sm_past_set *p = past_of(sm, slot, gen);

	while (p->used && sm->core.now < p->until &&
	       2 * sm->cfg.window * (size_t)sm->txn.depth <= SM_PAST_SETS_MAX) {
		past_deepen(sm);
		p = past_of(sm, slot, gen);
	}
	return p;
}

static void past_note(struct sm *sm, const struct sm_txn *t, bool answered)
{
	if (t->method == IBA_SET)
		*past_place(sm, (uint32_t)(t - sm->txn.slots), t->gen) =
			(struct sm_past_set){.what = written(sm, t),
					     .gen = t->gen,
					     .left = (uint8_t)(t->tries - answered),
					     .used = true,
					     .until = sm_copies_until(sm)};
}

/*
 * A copy that the manager sent itself may be answered, once each. Any further response shows that the subnet
 * doubles SMPs, which no Set of the manager tells in advance. SwitchInfo of a Set that was given up is asked
 * again by the discovery that follows.
 */
void sm_txn_stray(struct sm *sm, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)iba_smp_tid(mad), slot = tid & TID_SLOT;
	uint16_t gen = (uint16_t)(tid >> 16);
	struct sm_past_set *p = slot < sm->cfg.window ? past_of(sm, slot, gen) : NULL;
	bool known = p && p->used && p->gen == gen, own = known && p->left;

	if (!(tid & TID_SET))
		return;
	if (own)
		p->left--;
	else
		sm_audit_doubling(sm, sm_copies_until(sm));
	if (known && !own)
		sm_vf_stray(sm, &p->what);
	if (known && !(own && p->what.attr_id == IBA_ATTR_SWITCH_INFO))
		sm_audit_doubt(sm, p->what, sm_copies_until(sm));
}

/* ---- the end of a transaction ---- */

void sm_txn_close(struct sm *sm, struct sm_txn *t, bool answered)
{
	past_note(sm, t, answered);
	t->used = false;
	t->gen++;
	if (!--sm->txn.outstanding) /* deadlines of the past would wake the manager at once */
		sm->txn.next_deadline = TIME_NEVER;
	sm->txn.free[sm->txn.nfree++] = (uint32_t)(t - sm->txn.slots);
}

void sm_forget_some(struct sm *sm, bool (*drop)(const struct sm *sm, const struct sm_txn *t))
{
	for (uint32_t i = 0; sm->txn.outstanding && i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txn.slots[i];

		if (!t->used || (drop && !drop(sm, t)))
			continue;
		/* The device may yet carry it out, after what replaces it: the audit tells. */
		if (t->method == IBA_SET && t->tries && t->attr_id != IBA_ATTR_SWITCH_INFO)
			sm_audit_doubt(sm, written(sm, t), sm_copies_until(sm));
		sm_set_unacknowledged(sm, t);
		sm_txn_close(sm, t, false);
	}
}

void sm_forget_outstanding(struct sm *sm)
{
	sm_forget_some(sm, NULL);
}

/* ---- on the wire ---- */

/* A directed route, after a first part by LID if via is not 0. */
static void make_directed(const struct sm *sm, uint16_t via, const struct sm_way *way,
			  struct sm_send *s)
{
	/* A manager at the PF of a vSwitch, which is its own node. */
	unsigned first = !via && sm->virtual.seat == SM_SEAT_PF && way->n < IBA_MAX_HOPS;

	s->slid = via ? sm->lids.own : IBA_LID_PERMISSIVE;
	s->dlid = via ? via : IBA_LID_PERMISSIVE;
	iba_smp_set_dr_slid(s->mad, s->slid);
	iba_smp_set_dr_dlid(s->mad, IBA_LID_PERMISSIVE);
	iba_smp_set_hop_cnt(s->mad, (uint8_t)(way->n + first));
	if (first)
		iba_smp_initial_path(s->mad)[1] = (uint8_t)sm->cfg.port;
	memcpy(iba_smp_initial_path(s->mad) + 1 + first, way->hops, way->n);
}

static void make_mad(struct sm *sm, const struct sm_req *r, uint64_t tid, struct sm_send *s)
{
	struct sm_path path = r->path;
	uint16_t lid = r->lid ? r->lid : path.n || r->extra_hop ? 0 : path.via;
	unsigned more = lid ? 0 : path.n + (r->extra_hop ? 1u : 0u);
	struct sm_way way = {0};
	uint8_t *m = s->mad;

	if (r->by)
		way = *r->by;
	else if (sm->cfg.plain && r->attr_id != IBA_ATTR_NOTICE &&
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
	s->sl = s->qp = 0;
	s->aside = r->aside;
	if (lid) {
		s->slid = sm_own_lid(sm);
		s->dlid = lid;
		return;
	}
	if (path.n)
		memcpy(way.hops + way.n, sm->topo.hops.at + path.at, path.n);
	way.n += path.n;
	if (r->extra_hop)
		way.hops[way.n++] = r->extra_hop;
	make_directed(sm, path.via, &way, s);
}

static void put_on_wire(struct sm *sm, struct sm_txn *t)
{
	t->held = t->method == IBA_SET && t->attr_id != IBA_ATTR_SM_INFO && sm_mirror_holds_set(sm);
	if (t->held) {
		t->deadline = TIME_NEVER;
		return;
	}
	if (t->method == IBA_SET)
		sm->txn.set_at = sm->core.now;
	assert(t->method != IBA_SET || !sm->cfg.observe);
	t->tries++;
	if (t->tries <= 2)
		t->answers = sm_answers_of(sm, &t->target);
	t->extended = false;
	t->deadline = sm->core.now + patience(sm, t) / (PROVOKE(sm, EARLY_TIMEOUT) ? 16 : 1);
	sm->txn.next_deadline = MIN(sm->txn.next_deadline, t->deadline);
	sm_count_smp(sm, t->purpose);
	vec_push(&sm->core.out->sends, t->send);
}

/* The stamp is cleared: Sets that waited go out. */
void sm_sets_release(struct sm *sm)
{
	for (uint32_t i = 0; sm->txn.outstanding && i < sm->cfg.window; i++)
		if (sm->txn.slots[i].used && sm->txn.slots[i].held)
			put_on_wire(sm, &sm->txn.slots[i]);
}

void sm_txn_send(struct sm *sm, const struct sm_req *r)
{
	struct sm_txn *t = &sm->txn.slots[sm->txn.free[--sm->txn.nfree]];

	t->used = true;
	t->tries = 0;
	t->purpose = r->purpose;
	t->attr_id = r->attr_id;
	t->method = r->method;
	t->question = r->question;
	t->target = r->target;
	t->number = ++sm->txn.sent;
	make_mad(sm, r, txn_tid(sm, t), &t->send);
	sm->txn.outstanding++;
	put_on_wire(sm, t);
}

bool sm_txn_repeat(struct sm *sm, struct sm_txn *t)
{
	if (t->tries >= (sm->cfg.retries + 1) * sm_key_count(sm) ||
	    (t->question == Q_SM_INFO && t->tries > 1 && sm_other_is_silent(sm, t->target.port))) {
		if (t->method == IBA_SET)
			sm_audit_doubt(sm, written(sm, t), sm_copies_until(sm));
		return false;
	}
	iba_smp_set_m_key(t->send.mad, sm_key_next(sm, iba_smp_m_key(t->send.mad), t->tries));
	if (t->method == IBA_SET)
		sm_audit_doubt(sm, written(sm, t), sm_copies_until(sm));
	put_on_wire(sm, t);
	return true;
}

void sm_txn_expire(struct sm *sm, struct sm_txn *t)
{
	t->deadline = sm->txn.next_deadline = sm->core.now;
}

void sm_send_now(struct sm *sm, const struct sm_req *r, uint64_t tid)
{
	vec_room(&sm->core.out->sends, sm->core.out->sends.n + 1);
	make_mad(sm, r, tid, &sm->core.out->sends.at[sm->core.out->sends.n++]);
	sm_count_smp(sm, r->purpose);
}

static void send_as(struct sm *sm, const struct sm_send *s, uint8_t qp)
{
	vec_push(&sm->core.out->sends, *s);
	sm->core.out->sends.at[sm->core.out->sends.n - 1].qp = qp;
	sm->core.out->sends.at[sm->core.out->sends.n - 1].aside = false;
}

void sm_respond(struct sm *sm, const struct sm_send *s)
{
	send_as(sm, s, 0);
}

void sm_send_gmp(struct sm *sm, const struct sm_send *s)
{
	send_as(sm, s, 1);
}

/* The first transaction that is overdue from slot *at on; *at goes behind it. */
struct sm_txn *sm_txn_overdue(struct sm *sm, uint32_t *at, time_ps *next)
{
	while (*at < sm->cfg.window) {
		struct sm_txn *t = &sm->txn.slots[(*at)++];

		if (!t->used)
			continue;
		if (t->deadline <= sm->core.now)
			return t;
		*next = MIN(*next, t->deadline);
	}
	return NULL;
}

/*
 * A manager that was stopped or busy has seen no response meanwhile, and those that wait for it were handed over
 * first. What is left may be delayed for the same reason, such as a busy machine that runs both ends: each try
 * gets the time that was missed once more, up to a timeout, and only once, so that a manager that is always
 * late repeats requests all the same.
 */
void sm_txns_extend(struct sm *sm)
{
	time_ps more = sm->core.now + MIN(sm->core.late, sm_timeout(sm));

	for (uint32_t i = 0; sm->core.late && i < sm->cfg.window; i++) {
		struct sm_txn *t = &sm->txn.slots[i];

		if (!t->used || t->extended || t->deadline > sm->core.now)
			continue;
		t->deadline = more;
		t->extended = true;
	}
}

void sm_txn_deadline(struct sm *sm, time_ps next)
{
	sm->txn.next_deadline = next;
}

void sm_txns_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->txn.next_deadline, by);
	for (size_t i = 0; i < sm->cfg.window * (size_t)sm->txn.depth; i++)
		sm_time_shift(&sm->txn.past[i].until, by);
	for (uint32_t i = 0; i < sm->cfg.window; i++)
		sm_time_shift(&sm->txn.slots[i].deadline, by);
}
