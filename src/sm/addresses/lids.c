/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which port has which LID. State: a list by port GUID that outlives every discovery, so that
 * LIDs are stable. Way in: sm_lid_give(). Does not set anything in a device.
 */
#include "sm/manager.h"

bool sm_lid_free(const struct sm *sm, uint32_t lid, unsigned lmc)
{
	uint32_t n = 1u << lmc;

	if (!lid || lid % n || lid + n - 1 > IBA_LID_MAX_UNICAST)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (sm->lids.used[lid + i])
			return false;
	return true;
}

static void range_mark(struct sm *sm, const struct sm_lid *l, uint8_t used)
{
	memset(sm->lids.used + l->lid, used, 1u << l->lmc);
	for (uint32_t i = 0; used && i < 1u << l->lmc; i++)
		sm->lids.holder[l->lid + i] = (uint32_t)(l - sm->lids.list.at);
	sm_count_lids(sm, used ? 1 << l->lmc : -(1 << l->lmc));
}

static uint32_t search(struct sm *sm, unsigned lmc)
{
	uint32_t *from = &sm->lids.next[lmc];

	while (*from <= IBA_LID_MAX_UNICAST && !sm_lid_free(sm, *from, lmc))
		*from += 1u << lmc;
	return *from <= IBA_LID_MAX_UNICAST ? *from : 0;
}

/*
 * All LIDs are taken: those of ports that were seen neither in this discovery nor in the last are
 * free again.
 */
static uint32_t reclaim(struct sm *sm, unsigned lmc)
{
	for (size_t i = 0; i < sm->lids.list.n; i++) {
		struct sm_lid *l = &sm->lids.list.at[i];

		if (l->lid && l->epoch + 1 < sm->topo.epoch) {
			range_mark(sm, l, 0);
			l->lid = 0;
		}
	}
	for (unsigned k = 0; k < ARRAY_LEN(sm->lids.next); k++)
		sm->lids.next[k] = 1u << k;
	return search(sm, lmc);
}

static struct sm_lid *owner(struct sm *sm, uint64_t guid)
{
	uint32_t at = map64_get(&sm->lids.by_guid, guid);

	if (at == MAP_NONE) {
		at = (uint32_t)sm->lids.list.n;
		vec_push(&sm->lids.list, (struct sm_lid){.guid = guid});
		map64_put(&sm->lids.by_guid, guid, at);
	}
	return &sm->lids.list.at[at];
}

static void keep(struct sm *sm, struct sm_lid *l, uint32_t lid, unsigned lmc)
{
	l->lid = (uint16_t)lid;
	l->lmc = (uint8_t)lmc;
	range_mark(sm, l, 1);
}

void sm_seed_lid(struct sm *sm, uint64_t port_guid, uint16_t lid, unsigned lmc)
{
	struct sm_lid *l;

	if (!port_guid || lmc >= ARRAY_LEN(sm->lids.next) || !sm_lid_free(sm, lid, lmc))
		return;
	l = owner(sm, port_guid);
	if (!l->lid)
		keep(sm, l, lid, lmc);
}

void sm_lid_recall(struct sm *sm, uint64_t guid, uint16_t lid, unsigned lmc)
{
	uint32_t n = 1u << lmc;
	struct sm_lid *l;

	if (!guid || lmc >= ARRAY_LEN(sm->lids.next) || !lid || lid % n ||
	    lid + n - 1 > IBA_LID_MAX_UNICAST)
		return;
	l = owner(sm, guid);
	if (l->lid == lid && l->lmc == lmc)
		return;
	if (l->lid)
		range_mark(sm, l, 0);
	for (uint32_t i = lid; i < lid + n; i++) {
		struct sm_lid *was;

		if (!sm->lids.used[i])
			continue;
		was = &sm->lids.list.at[sm->lids.holder[i]];
		range_mark(sm, was, 0);
		was->lid = 0;
		sm_note(sm, .kind = SM_NOTE_LID, .address = {was->guid, 0, 0});
	}
	l->set = l->given = false;
	keep(sm, l, lid, lmc);
	sm_note(sm, .kind = SM_NOTE_LID, .address = {guid, lid, (uint8_t)lmc});
}

/*
 * Ports that own one of these LIDs and were not met in this discovery lose it; false: one was
 * met.
 */
static bool range_take(struct sm *sm, const struct sm_lid *by, uint32_t lid, unsigned lmc)
{
	uint32_t n = 1u << lmc;

	if (!lid || lid % n || lid + n - 1 > IBA_LID_MAX_UNICAST)
		return false;
	if (sm_lid_free(sm, lid, lmc))
		return true;
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < sm->lids.list.n; i++) {
			struct sm_lid *l = &sm->lids.list.at[i];

			if (l == by || !l->lid || l->lid >= lid + n ||
			    l->lid + (1u << l->lmc) <= lid)
				continue;
			if (!pass && l->epoch == sm->topo.epoch)
				return false;
			if (pass) {
				range_mark(sm, l, 0);
				l->lid = 0;
			}
		}
	return true;
}

/*
 * On a fabric that was managed before, the LID that a port has counts for more than the one recorded: it may be in
 * use. Not if this manager gave the recorded one: whether another master changed it is judged when every port was met
 * (lid_assignment.c).
 */
bool sm_lid_claim(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported)
{
	struct sm_lid *l = owner(sm, guid);

	if (l->lid == reported && l->lmc == lmc && reported) {
		l->epoch = sm->topo.epoch;
		return true;
	}
	if (l->lid && (l->set || l->epoch == sm->topo.epoch)) /* it has another LID already */
		return false;
	if (l->lid && l->given && l->lmc == lmc) {
		l->epoch = sm->topo.epoch;
		return false;
	}
	if (!range_take(sm, l, reported, lmc))
		return false;
	if (l->lid)
		range_mark(sm, l, 0);
	l->epoch = sm->topo.epoch;
	keep(sm, l, reported, lmc);
	sm_note(sm, .kind = SM_NOTE_LID, .address = {guid, reported, (uint8_t)lmc});
	return true;
}

bool sm_lid_disown(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported)
{
	struct sm_lid *l = owner(sm, guid);

	if (!l->given || l->set || !reported || (l->lid == reported && l->lmc == lmc))
		return false;
	l->given = false;
	l->epoch = 0; /* other ports may claim it as that of a port that was not met */
	return true;
}

uint16_t sm_lid_give(struct sm *sm, uint64_t guid, unsigned lmc, uint16_t reported)
{
	struct sm_lid *l = owner(sm, guid);
	uint32_t lid;

	l->epoch = sm->topo.epoch;
	if (l->lid && l->lmc == lmc)
		return l->lid;
	if (l->lid)
		range_mark(sm, l, 0);
	l->lid = 0;
	/* The port keeps the LID that it has if no other port has it. */
	lid = !sm->cfg.reassign && sm_lid_free(sm, reported, lmc) ? reported : search(sm, lmc);
	if (!lid)
		lid = reclaim(sm, lmc);
	if (!lid)
		return 0;
	keep(sm, l, lid, lmc);
	sm_note(sm, .kind = SM_NOTE_LID, .address = {guid, (uint16_t)lid, (uint8_t)lmc});
	return l->lid;
}

uint16_t sm_lid_of(const struct sm *sm, uint64_t port_guid, unsigned *lmc)
{
	uint32_t at = map64_get(&sm->lids.by_guid, port_guid);

	if (at == MAP_NONE)
		return 0;
	if (lmc)
		*lmc = sm->lids.list.at[at].lmc;
	return sm->lids.list.at[at].lid;
}

bool sm_lid_is_given(const struct sm *sm, uint64_t port_guid)
{
	uint32_t at = map64_get(&sm->lids.by_guid, port_guid);

	return at != MAP_NONE && sm->lids.list.at[at].given;
}

void sm_lid_keep(struct sm *sm, uint64_t port_guid)
{
	uint32_t at = map64_get(&sm->lids.by_guid, port_guid);

	if (at != MAP_NONE)
		sm->lids.list.at[at].epoch = sm->topo.epoch;
}

/* ---- LIDs of virtual functions ---- */

/* The one that had it before gets what this one had, as after a swap. Not from ports with several LIDs. */
bool sm_lid_exchange(struct sm *sm, uint64_t guid, uint16_t lid)
{
	struct sm_lid *l = owner(sm, guid), *was;
	uint16_t old = l->lid;

	if (!lid || lid > IBA_LID_MAX_UNICAST || l->lmc)
		return false;
	l->epoch = sm->topo.epoch;
	if (old == lid)
		return true;
	was = sm->lids.used[lid] ? &sm->lids.list.at[sm->lids.holder[lid]] : NULL;
	if (was && was->lmc)
		return false;
	if (old)
		range_mark(sm, l, 0);
	if (was) {
		range_mark(sm, was, 0);
		was->lid = 0;
		if (old)
			keep(sm, was, old, 0);
		sm_note(sm, .kind = SM_NOTE_LID, .address = {was->guid, old, 0});
	}
	keep(sm, l, lid, 0);
	sm_note(sm, .kind = SM_NOTE_LID, .address = {guid, lid, 0});
	return true;
}

void sm_lid_found(struct sm *sm, uint64_t guid, uint16_t lid)
{
	const struct sm_lid *had = lid <= IBA_LID_MAX_UNICAST && sm->lids.used[lid]
					   ? &sm->lids.list.at[sm->lids.holder[lid]]
					   : NULL;

	if (had && had->guid != guid && had->epoch == sm->topo.epoch)
		sm_lid_keep(sm, guid);
	else
		sm_lid_exchange(sm, guid, lid);
}

void sm_lid_release(struct sm *sm, uint64_t guid)
{
	struct sm_lid *l = owner(sm, guid);

	if (!l->lid)
		return;
	range_mark(sm, l, 0);
	for (unsigned k = 0; k < ARRAY_LEN(sm->lids.next); k++)
		sm->lids.next[k] = MIN(sm->lids.next[k], (uint32_t)l->lid >> k << k);
	l->lid = 0;
	for (unsigned k = 0; k < ARRAY_LEN(sm->lids.next); k++)
		sm->lids.next[k] = MAX(sm->lids.next[k], 1u << k);
	sm_note(sm, .kind = SM_NOTE_LID, .address = {guid, 0, 0});
}

/* ---- what else is known of LIDs ---- */

void sm_lids_init(struct sm *sm)
{
	for (unsigned k = 0; k < ARRAY_LEN(sm->lids.next); k++)
		sm->lids.next[k] = 1u << k;
}

void sm_lids_free(struct sm *sm)
{
	vec_free(&sm->lids.list);
	vec_free(&sm->lids.waiting);
	map64_free(&sm->lids.by_guid);
}

/* As the thesis does (7.4.2): no port keeps its LID. */
void sm_lids_reassign(struct sm *sm)
{
	for (size_t i = 0; i < sm->lids.list.n; i++) {
		struct sm_lid *l = &sm->lids.list.at[i];

		if (l->lid)
			range_mark(sm, l, 0);
		l->lid = 0;
		l->set = false;
	}
	sm_lids_init(sm);
}

void sm_lids_unrouted(struct sm *sm)
{
	memset(sm->lids.routed, 0, sizeof(sm->lids.routed));
}

void sm_lid_routed(struct sm *sm, uint16_t lid)
{
	sm->lids.routed[lid] = 1;
}

void sm_lids_waiting_clear(struct sm *sm)
{
	sm->lids.waiting.n = 0;
	sm->lids.looked_again = false;
}

void sm_lid_was_set(struct sm *sm, uint64_t port_guid)
{
	uint32_t at = map64_get(&sm->lids.by_guid, port_guid);

	if (at != MAP_NONE)
		sm->lids.list.at[at].set = sm->lids.list.at[at].given = true;
}

void sm_lid_was_given(struct sm *sm, uint64_t port_guid)
{
	uint32_t at = map64_get(&sm->lids.by_guid, port_guid);

	if (at != MAP_NONE)
		sm->lids.list.at[at].given = true;
}

void sm_lids_arrive(struct sm *sm)
{
	for (size_t i = 0; i < sm->lids.list.n; i++)
		sm->lids.list.at[i].set = false;
}

void sm_lid_own_unknown(struct sm *sm)
{
	sm->lids.own = 0;
}
