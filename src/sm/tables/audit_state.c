/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an audit has to read back: Sets that may have been carried out twice or late. State: struct
 * sm_auditing. Ways in: sm_audit_doubt(), sm_audit_doubling(). Does not read anything back: see read_back.c.
 */
#include "sm/manager.h"

#include "base/rng.h"

void sm_audit_init(struct sm *sm)
{
	sm->audit.due = TIME_NEVER;
}

void sm_audit_free(struct sm *sm)
{
	vec_free(&sm->audit.doubts);
	map64_free(&sm->audit.doubt_by);
}

bool sm_audit_open(const struct sm *sm)
{
	return sm->audit.doubts.n || sm->audit.all;
}

/* An audit that was still due reads what was set in the earlier round, too. */
void sm_audit_round(struct sm *sm)
{
	struct sm_auditing *a = &sm->audit;

	a->rewrote = a->mending = false;
	a->due = TIME_NEVER;
	if (!sm_audit_open(sm))
		a->generation = (uint8_t)(a->generation == UINT8_MAX ? 1 : a->generation + 1);
}

void sm_audit_never(struct sm *sm)
{
	sm->audit.due = TIME_NEVER;
}

/* ---- doubts ---- */

static uint64_t key_of(const struct sm_written *w)
{
	return hash64(w->guid) ^ hash64((uint64_t)w->attr_id << 32 | w->item);
}

static bool is_same(const struct sm_written *a, const struct sm_written *b)
{
	return a->guid == b->guid && a->attr_id == b->attr_id && a->item == b->item;
}

/* Attributes whose values differ from Set to Set. VL arbitration tables are always the same. */
static bool can_be_undone(const struct sm_written *w)
{
	return w->guid && (w->attr_id == IBA_ATTR_PORT_INFO || w->attr_id == IBA_ATTR_SWITCH_INFO ||
			   w->attr_id == IBA_ATTR_LFT || w->attr_id == IBA_ATTR_RFT ||
			   w->attr_id == IBA_ATTR_MFT || w->attr_id == IBA_ATTR_SLVL_TABLE);
}

/* Two items of one hash are both kept; the second may then be listed, and read, twice. */
void sm_audit_doubt(struct sm *sm, struct sm_written what, time_ps until)
{
	struct sm_auditing *a = &sm->audit;
	struct sm_doubt d = {.what = what, .until = until};
	uint32_t at = map64_get(&a->doubt_by, key_of(&what));

	if (!can_be_undone(&what))
		return;
	if (at != MAP_NONE && is_same(&a->doubts.at[at].what, &what)) {
		a->doubts.at[at] = d;
		return;
	}
	if (at == MAP_NONE)
		map64_put(&a->doubt_by, key_of(&what), (uint32_t)a->doubts.n);
	vec_push(&a->doubts, d);
}

static void all_in_doubt(struct sm *sm, time_ps until)
{
	sm->audit.all = true;
	sm->audit.all_until = until;
}

void sm_audit_doubling(struct sm *sm, time_ps until)
{
	sm->audit.doubling = true;
	all_in_doubt(sm, until);
	sm_pkeys_doubling(sm, until);
}

void sm_audit_forget(struct sm *sm)
{
	sm->audit.doubts.n = 0;
	map64_clear(&sm->audit.doubt_by);
	sm->audit.all = false;
	sm->audit.due = TIME_NEVER;
}

/* ---- audits ---- */

void sm_audit_rewrote(struct sm *sm)
{
	sm->audit.rewrote = true;
}

void sm_audit_mended(struct sm *sm)
{
	sm->audit.mending = false;
}

bool sm_audit_wanted(struct sm *sm, time_ps until)
{
	if (sm->audit.rewrote && sm->audit.doubling) /* copies of this round's Sets are younger */
		all_in_doubt(sm, until);
	return sm_audit_open(sm);
}

/* The next audit is due when the last copy of what is left can have arrived. */
void sm_audit_read(struct sm *sm)
{
	struct sm_auditing *a = &sm->audit;
	time_ps until = a->all ? a->all_until : 0;
	size_t kept = 0;

	map64_clear(&a->doubt_by);
	for (size_t i = 0; i < a->doubts.n; i++) {
		struct sm_doubt *d = &a->doubts.at[i];

		if (d->settled)
			continue;
		until = MAX(until, d->until);
		if (map64_get(&a->doubt_by, key_of(&d->what)) == MAP_NONE)
			map64_put(&a->doubt_by, key_of(&d->what), (uint32_t)kept);
		a->doubts.at[kept++] = *d;
	}
	a->doubts.n = kept;
	a->due = sm_audit_open(sm) ? until : TIME_NEVER;
}

void sm_audit_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->audit.due, by);
	sm_time_shift(&sm->audit.all_until, by);
	for (size_t i = 0; i < sm->audit.doubts.n; i++)
		sm_time_shift(&sm->audit.doubts.at[i].until, by);
}
