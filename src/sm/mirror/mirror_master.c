/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The master's side: answers standbys with the root and with pages. State: struct sm_mirror_master. Ways in:
 * sm_mirror_master_gmp(), sm_mirror_master_work(). Keeps digests only, made while the manager is at rest and only
 * if a standby asks, a few records in each step so that nothing else is late; a page is made when it is asked
 * for. Does not send anything by itself but the stamp.
 */
#include "sm/manager.h"
#include "sm/restore/saved_state.h"

enum {
	BATCH = 256 << 10, /* bytes of records that one step makes digests of */
	SPARE_US = 200,	   /* until the next such step */
	ASKED_S = 60,	   /* after which nothing is made for standbys that no longer ask */
};

/* ---- records ---- */

/* Record 0 is the head, record i + 1 that of node i of the snapshot: in GUID order. */
static bool record_make(struct sm *sm, uint32_t record)
{
	struct sm_mirror_master *m = &sm->mirror.master;
	struct sm_bytes s = {.b = {m->record.at, 0, m->record.cap}};
	bool ok = true;

	if (record)
		ok = sm_record_node(sm, sm->topo.node_of[record - 1], &s);
	else
		sm_record_head(sm, &s);
	m->record.at = s.b.at;
	m->record.n = s.b.n;
	m->record.cap = s.b.cap;
	m->recent = ok ? record : NONE;
	return ok;
}

static void digests_start(struct sm *sm)
{
	struct sm_mirror_master *m = &sm->mirror.master;

	m->built = 0;
	m->first.n = m->digests.n = 0;
	vec_push(&m->first, 0);
}

/* Whether all records have digests. */
static bool digests_more(struct sm *sm)
{
	struct sm_mirror_master *m = &sm->mirror.master;
	uint32_t records = sm->topo.fab->nnodes + 1;

	for (size_t bytes = 0; m->built < records && bytes < BATCH; m->built++) {
		if (!record_make(sm, m->built)) { /* random tables: no mirror */
			sm_mirror_master_drop(sm);
			m->asked_at = 0;
			m->none = true;
			return false;
		}
		bytes += m->record.n;
		vec_room(&m->digests, m->digests.n + m->record.n / SM_FAN);
		for (size_t at = 0; at < m->record.n; at += SM_PAGE, m->digests.n += 8)
			iba_be64_put(m->digests.at + m->digests.n,
				     sm_page_digest(m->record.at + at));
		vec_push(&m->first, (uint32_t)(m->digests.n / 8));
	}
	return m->built == records;
}

/* Levels above; level 1 is the array of digests. */
static void digests_end(struct sm *sm)
{
	struct sm_mirror_master *m = &sm->mirror.master;
	struct sm_pages *p = &m->pages;
	uint32_t n = m->first.at[m->built];

	sm_pages_free(p);
	sm_pages_shape(p, n);
	assert(p->levels > 1); /* the head, and the manager's own node */
	p->at[1] = mem_zarray(p->n[1], SM_PAGE);
	memcpy(p->at[1], m->digests.at, m->digests.n);
	vec_free(&m->digests);
	sm_pages_raise(p);
	m->of.root = sm_pages_root(p, p->at[p->levels - 1]);
	m->vms = sm->virtual.changes;
	m->valid = true;
}

/* ---- when ---- */

static bool has_names(const struct sm *sm)
{
	return !sm->cfg.names || sm->names.next >= sm->topo.fab->nnodes;
}

/* The number stays for all generations until the next Set: they differ in names only. */
static void stamp(struct sm *sm)
{
	struct sm_stamp *s = &sm->mirror.stamp;
	struct sm_mirror_master *m = &sm->mirror.master;

	if (s->state != SM_STAMP_UNKNOWN && s->state != SM_STAMP_CLEAR)
		return;
	if (!sm_stamp_place(sm)) {
		m->asked_at = 0; /* no standby can be sure of its copy */
		m->none = true;
		return;
	}
	sm_stamp_set(sm, m->of.root);
}

void sm_mirror_master_work(struct sm *sm)
{
	struct sm_mirror_master *m = &sm->mirror.master;

	m->work_at = TIME_NEVER;
	if (!m->asked_at || sm->core.now > m->asked_at + ASKED_S * PS_PER_S || !sm_at_rest(sm) ||
	    !sm->topo.fab->nnodes) /* not even its own node answered */
		return;
	if (m->valid) {
		stamp(sm);
		return;
	}
	if (sm->txn.outstanding || !has_names(sm))
		return; /* responses come, and steps with them */
	if (!m->first.n)
		digests_start(sm);
	if (digests_more(sm))
		digests_end(sm);
	if (m->asked_at)
		m->work_at = sm->core.now + (m->valid ? 0 : SPARE_US * PS_PER_US);
}

void sm_mirror_master_drop(struct sm *sm)
{
	struct sm_mirror_master *m = &sm->mirror.master;

	sm_mirror_outdated(sm);
	sm_pages_free(&m->pages);
	vec_free(&m->digests);
	vec_free(&m->record);
	m->work_at = TIME_NEVER;
}

void sm_mirror_master_free(struct sm *sm)
{
	sm_mirror_master_drop(sm);
	vec_free(&sm->mirror.master.first);
}

/* ---- answers ---- */

static bool is_ready(const struct sm *sm)
{
	return sm->mirror.master.valid && sm->mirror.stamp.state == SM_STAMP_SET;
}

/* The record that has the page: the last one that begins at or before it. */
static uint32_t record_of(const struct sm_mirror_master *m, uint32_t page)
{
	uint32_t low = 0, high = m->built;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (m->first.at[mid] <= page)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* NULL: there is none, or what it says is not what its digest was made of. */
static const uint8_t *page_of(struct sm *sm, unsigned level, uint32_t i)
{
	struct sm_mirror_master *m = &sm->mirror.master;
	const uint8_t *page;
	uint32_t record;

	if (level >= m->pages.levels || i >= m->pages.n[level])
		return NULL;
	if (level)
		return m->pages.at[level] + (size_t)i * SM_PAGE;
	record = record_of(m, i);
	if (m->recent != record && !record_make(sm, record))
		return NULL;
	page = m->record.at + (size_t)(i - m->first.at[record]) * SM_PAGE;
	if (sm_page_digest(page) == sm_pages_digest(&m->pages, 0, i))
		return page;
	sm_mirror_outdated(sm);
	return NULL;
}

static struct sm_mirror_seen *seen(struct sm *sm, uint16_t lid)
{
	struct sm_mirror_seen *list = sm->mirror.master.seen, *at = list;

	for (unsigned i = 0; i < SM_MIRRORS && at->lid != lid; i++)
		if (list[i].lid == lid || list[i].at < at->at)
			at = &list[i];
	if (at->lid != lid)
		*at = (struct sm_mirror_seen){.lid = lid};
	at->at = sm->core.now;
	return at;
}

static void seen_root(struct sm *sm, struct sm_mirror_seen *x, uint64_t root)
{
	x->root = root;
	if (root && root == sm->mirror.master.of.root) {
		x->vms_root = root;
		x->vms = sm->mirror.master.vms;
	} else if (root != x->vms_root) {
		x->vms = 0; /* a copy of something else */
	}
}

static void answer_root(struct sm *sm, struct sm_mirror_mad *r)
{
	const struct sm_mirroring *m = &sm->mirror;
	struct iba_mirror_root root = {.stamp = m->stamp.value,
				       .stamp_guid = m->stamp.guid,
				       .stamp_block = m->stamp.block,
				       .pages = m->master.pages.n[0]};
	uint8_t data[SM_PAGE] = {0};

	r->root = is_ready(sm) ? m->master.of.root : 0;
	if (r->root)
		iba_mirror_root_put(&root, data);
	sm_mirror_send(sm, r, data);
}

void sm_mirror_master_gmp(struct sm *sm, const struct sm_mirror_mad *m, uint16_t slid)
{
	struct sm_mirror_mad r = *m;
	const uint8_t *page = NULL;

	if (!slid || slid > IBA_LID_MAX_UNICAST)
		return;
	r.method = IBA_GET_RESP;
	r.slid = sm->lids.own;
	r.dlid = slid;
	if (m->attr == IBA_MIRROR_ROOT) {
		sm->mirror.master.asked_at = MAX(sm->core.now, (time_ps)1);
		seen_root(sm, seen(sm, slid), m->root);
		answer_root(sm, &r);
	} else if (m->attr == IBA_MIRROR_PAGE) {
		seen(sm, slid);
		if (is_ready(sm) && m->root == sm->mirror.master.of.root)
			page = page_of(sm, m->modifier >> 24, m->modifier & 0xffffff);
		r.root = page ? m->root : 0;
		sm_mirror_send(sm, &r, page);
	}
}
