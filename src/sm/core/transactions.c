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
	for (uint32_t i = sm->cfg.window; i-- > 0;)
		x->free[x->nfree++] = i;
	x->next_deadline = TIME_NEVER;
}

void sm_txns_free(struct sm *sm)
{
	free(sm->txn.slots);
	free(sm->txn.free);
}

/* ---- timeouts ---- */

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
 * In real time, one device that reports a response time of hours must not delay the retry to
 * another for hours; patience() gives slow devices more time.
 */
time_ps sm_timeout(const struct sm *sm)
{
	time_ps t = 2 * subnet_time(sm) + iba_time_from_exp(MAX(sm->topo.max_resp, 8u)),
		floor = sm->cfg.timeout_ps;

	return floor ? MIN(MAX(t, floor), MAX(PS_PER_S, floor)) : t;
}

/* In real time a busy machine may be why no response came: each retry waits longer. */
static time_ps patience(const struct sm *sm, const struct sm_txn *t)
{
	return sm_timeout(sm) << (sm->cfg.timeout_ps ? MIN(t->tries - 1, 6) : 0);
}

/* ---- the table ---- */

/* Slot, whether it is a Set, generation: 32 bits in all, since ibsim keeps no more. */
enum { TID_SLOT = SM_MAX_WINDOW - 1, TID_SET = SM_MAX_WINDOW };

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

bool sm_tid_is_set(const uint8_t *mad)
{
	return iba_smp_tid(mad) & TID_SET;
}

void sm_txn_close(struct sm *sm, struct sm_txn *t)
{
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
		if (t->method == IBA_SET && t->attr_id != IBA_ATTR_SWITCH_INFO)
			sm_audit_doubled(sm);
		sm_set_unacknowledged(sm, t);
		sm_txn_close(sm, t);
	}
}

void sm_forget_outstanding(struct sm *sm)
{
	sm_forget_some(sm, NULL);
}

/* ---- on the wire ---- */

static void make_mad(struct sm *sm, const struct sm_req *r, uint64_t tid, struct sm_send *s)
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
	sm_count_smp(sm, t->purpose);
	vec_push(&sm->core.out->sends, t->send);
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
	make_mad(sm, r, txn_tid(sm, t), &t->send);
	sm->txn.outstanding++;
	put_on_wire(sm, t);
}

bool sm_txn_repeat(struct sm *sm, struct sm_txn *t)
{
	if (t->tries >= (sm->cfg.retries + 1) * sm_key_count(sm))
		return false;
	iba_smp_set_m_key(t->send.mad, sm_key_next(sm, iba_smp_m_key(t->send.mad), t->tries));
	if (t->method == IBA_SET)
		sm_audit_doubled(sm);
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

void sm_respond(struct sm *sm, const struct sm_send *s)
{
	vec_push(&sm->core.out->sends, *s);
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

void sm_txn_deadline(struct sm *sm, time_ps next)
{
	sm->txn.next_deadline = next;
}

void sm_txns_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->txn.next_deadline, by);
	for (uint32_t i = 0; i < sm->cfg.window; i++)
		sm_time_shift(&sm->txn.slots[i].deadline, by);
}
