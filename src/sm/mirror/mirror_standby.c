/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The standby's side: keeps a copy of what the master knows. State: struct sm_mirror_standby. Ways in:
 * sm_mirror_standby_work(), sm_mirror_standby_gmp(). Asks for the root now and then, and for pages that differ,
 * from the last level down; each page must have the digest that the level above says. Does not trust what it
 * gets: records are parsed with all checks, and the stamp decides whether they are used.
 */
#include "base/rng.h"
#include "sm/manager.h"
#include "sm/restore/saved_state.h"

enum {
	SOON = 4,    /* times as often: the master is not at rest, or a copy was interrupted */
	SILENT = 40, /* times as rarely: the master does not answer, it may be of another kind */
	TRIES = 4,
	ROOT_MS = 250,
	ROOT = SM_LEVELS, /* as the level of a request */
};

/* ---- requests ---- */

/*
 * Pages may be many, so a master that is slow has more time for each repetition. The one question for the root is repeated evenly,
 * however slow devices are: the master waits for a standby that asks, and takes one that is silent for a second for gone.
 */
static time_ps timeout(const struct sm *sm, const struct sm_mirror_ask *a)
{
	time_ps t = 4 * sm_timeout(sm);

	return a->level == ROOT ? MIN(t, ROOT_MS * PS_PER_MS) : t << MIN(a->tries, 4u);
}

static void wait(struct sm *sm, time_ps t)
{
	sm->mirror.standby.step = SM_MIRROR_WAITING;
	sm->mirror.standby.next_at = sm->core.now + t;
}

static void ask_send(struct sm *sm, struct sm_mirror_ask *a)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct sm_mirror_mad m = {
		.method = IBA_GET,
		.attr = a->level == ROOT ? IBA_MIRROR_ROOT : IBA_MIRROR_PAGE,
		.modifier = a->level == ROOT ? 0 : (uint32_t)a->level << 24 | a->index,
		.tid = a->tid,
		.nonce = a->nonce,
		.root = a->level == ROOT ? s->of.root : s->target.root,
		.slid = s->own_lid,
		.dlid = s->master_lid,
		.sl = s->sl};

	a->deadline = sm->core.now + timeout(sm, a);
	a->tries++;
	sm_mirror_send(sm, &m, NULL);
}

static void ask_new(struct sm *sm, unsigned level, uint32_t index)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	unsigned slot = 0;

	while (s->ask[slot].used)
		slot++;
	s->ask[slot] = (struct sm_mirror_ask){.used = true,
					      .level = (uint8_t)level,
					      .index = index,
					      .tid = (uint32_t)++s->gen << 16 | slot,
					      .nonce = hash64_add(sm->core.now, sm->mirror.gmps)};
	s->outstanding++;
	ask_send(sm, &s->ask[slot]);
}

static void ask_end(struct sm_mirror_standby *s, struct sm_mirror_ask *a)
{
	a->used = false;
	s->outstanding--;
}

static void ask_none(struct sm_mirror_standby *s)
{
	for (unsigned i = 0; i < SM_MIRROR_WINDOW; i++)
		s->ask[i].used = false;
	s->outstanding = 0;
}

/* ---- pages that are there already ---- */

static bool part_has(const struct sm_mirror_standby *s, uint32_t i)
{
	return sm_page_digest(s->part.at[0] + (size_t)i * SM_PAGE) ==
	       sm_pages_digest(&s->part, 0, i);
}

static void known_collect(struct sm_mirror_standby *s)
{
	map64_free(&s->known);
	for (uint32_t i = 0; s->part.at[0] && i < s->part.n[0]; i++)
		if (part_has(s, i))
			map64_put(&s->known, sm_pages_digest(&s->part, 0, i), s->have.n[0] + i);
	for (uint32_t i = 0; s->whole && s->have.levels > 1 && i < s->have.n[0]; i++)
		map64_put(&s->known, sm_pages_digest(&s->have, 0, i), i);
}

/* A page of any level at the same place, or one of level 0 at another. NULL: it must be fetched. */
static const uint8_t *known_page(const struct sm_mirror_standby *s, uint32_t i)
{
	uint64_t want = sm_pages_digest(&s->want, s->level, i);
	uint32_t at;

	if (s->whole && s->level + 1 < s->have.levels && i < s->have.n[s->level] &&
	    sm_pages_digest(&s->have, s->level, i) == want)
		return s->have.at[s->level] + (size_t)i * SM_PAGE;
	at = s->level ? MAP_NONE : map64_get(&s->known, want);
	if (at == MAP_NONE)
		return NULL;
	return at < s->have.n[0] ? s->have.at[0] + (size_t)at * SM_PAGE
				 : s->part.at[0] + (size_t)(at - s->have.n[0]) * SM_PAGE;
}

/* ---- copying ---- */

/* What came so far is used again in the next attempt. */
static void pull_stop(struct sm *sm, time_ps pause)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	ask_none(s);
	if (s->want.at[0]) {
		sm_pages_free(&s->part);
		s->part = s->want;
		s->want = (struct sm_pages){0};
	}
	sm_pages_free(&s->want);
	wait(sm, pause);
}

static void level_begin(struct sm_mirror_standby *s, unsigned level)
{
	s->level = level;
	s->cursor = 0;
	s->want.at[level] = mem_zarray(s->want.n[level], SM_PAGE);
}

static void pull_begin(struct sm *sm, const struct sm_mirror_root *target, uint32_t pages)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	sm_pages_free(&s->want);
	sm_pages_shape(&s->want, pages);
	s->target = *target;
	s->fetched = 0;
	s->step = SM_MIRROR_PULLING;
	known_collect(s);
	level_begin(s, s->want.levels - 1);
}

/* Digests stay while the copy is in use: it may come back. */
static void copy_free(struct sm_mirror_standby *s)
{
	s->have.at[0] = NULL; /* its owner is `whole` */
	sm_pages_free(&s->have);
	sm_saved_free(s->whole);
	s->whole = NULL;
	s->of = (struct sm_mirror_root){0};
}

static void pull_end(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	size_t bytes = (size_t)s->want.n[0] * SM_PAGE;
	struct sm_saved *m = sm_records_load(s->want.at[0], bytes);

	map64_free(&s->known);
	sm_pages_free(&s->part);
	if (!m) { /* a master that is not what it says */
		sm->mirror.gmps_bad++;
		sm_pages_free(&s->want);
		wait(sm, SILENT * sm_mirror_poll(sm));
		return;
	}
	copy_free(s);
	s->whole = m;
	s->have = s->want;
	s->want = (struct sm_pages){0};
	s->of = s->target;
	s->confirmed_at = sm->core.now;
	sm_note(sm, .kind = SM_NOTE_MIRROR, .mirror = {s->of.root, bytes, s->fetched});
	sm_mirror_managers_find(sm);
	sm_mirror_managers_ask(sm);
	wait(sm, 0); /* the next question tells the master, which may wait for it */
}

/* Asks for pages while there is room; a level that is complete is followed by the one below. */
static void pull_more(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	while (s->outstanding < SM_MIRROR_WINDOW) {
		bool last = s->level == s->want.levels - 1;
		const uint8_t *page;

		if (s->cursor == s->want.n[s->level]) {
			if (s->outstanding)
				return;
			if (!s->level) {
				pull_end(sm);
				return;
			}
			level_begin(s, s->level - 1);
			continue;
		}
		page = last ? NULL : known_page(s, s->cursor);
		if (page)
			memcpy(s->want.at[s->level] + (size_t)s->cursor * SM_PAGE, page, SM_PAGE);
		else
			ask_new(sm, s->level, s->cursor);
		s->cursor++;
	}
}

/* ---- answers ---- */

static void on_root(struct sm *sm, uint64_t root, const uint8_t *data)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct iba_mirror_root r;

	iba_mirror_root_get(&r, data, SM_PAGE);
	s->heard = true;
	if (!root) {
		wait(sm, sm_mirror_poll(sm) / SOON);
	} else if (s->whole && root == s->of.root) {
		s->of.stamp = r.stamp;
		s->of.stamp_guid = r.stamp_guid;
		s->of.stamp_block = r.stamp_block;
		s->confirmed_at = sm->core.now;
		sm_mirror_managers_ask(sm);
		wait(sm, sm_mirror_poll(sm));
	} else if (r.pages < 2 || r.pages > SM_MAX_PAGES || !r.stamp) {
		sm->mirror.gmps_bad++;
		wait(sm, SILENT * sm_mirror_poll(sm));
	} else {
		pull_begin(sm, &(struct sm_mirror_root){root, r.stamp, r.stamp_guid, r.stamp_block},
			   r.pages);
		pull_more(sm);
	}
}

static bool page_fits(const struct sm_mirror_standby *s, uint32_t i, const uint8_t *page)
{
	if (s->level == s->want.levels - 1)
		return sm_pages_root(&s->want, page) == s->target.root;
	return sm_page_digest(page) == sm_pages_digest(&s->want, s->level, i);
}

static void on_page(struct sm *sm, uint32_t i, uint64_t root, const uint8_t *page)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	if (root != s->target.root) { /* it knows something else by now */
		pull_stop(sm, sm_mirror_poll(sm) / SOON);
		return;
	}
	if (!page_fits(s, i, page)) {
		sm->mirror.gmps_bad++;
		pull_stop(sm, SILENT * sm_mirror_poll(sm));
		return;
	}
	memcpy(s->want.at[s->level] + (size_t)i * SM_PAGE, page, SM_PAGE);
	s->fetched += SM_PAGE;
	pull_more(sm);
}

void sm_mirror_standby_gmp(struct sm *sm, const struct sm_mirror_mad *m, const uint8_t *data)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct sm_mirror_ask *a = &s->ask[m->tid % SM_MIRROR_WINDOW], was = *a;

	if (!a->used || a->tid != (m->tid & UINT32_MAX) || a->nonce != m->nonce)
		return; /* late, or a repetition */
	ask_end(s, a);
	if (was.level == ROOT)
		on_root(sm, m->root, data);
	else
		on_page(sm, was.index, m->root, data);
}

/* ---- the own port: who is master, and where ---- */

static void port_ask(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct sm_req r = {.method = IBA_GET,
			   .attr_id = IBA_ATTR_PORT_INFO,
			   .attr_mod = sm->cfg.port,
			   .purpose = SM_FOR_MIRROR,
			   .aside = true};

	s->step = SM_MIRROR_PORT;
	s->next_at = sm->core.now + 4 * sm_timeout(sm);
	sm_send_now(sm, &r, sm_tid_aside(++s->gen));
}

bool sm_mirror_standby_port(struct sm *sm, const struct sm_event *ev)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct iba_port_info pi;

	if (s->step != SM_MIRROR_PORT ||
	    sm_tid_aside(s->gen) != (iba_smp_tid(ev->mad) & UINT32_MAX))
		return false;
	iba_port_info_get(&pi, iba_smp_data_const(ev->mad), IBA_SMP_DATA_SIZE);
	if (!pi.lid || !pi.sm_lid || pi.sm_lid == pi.lid || pi.sm_lid > IBA_LID_MAX_UNICAST ||
	    pi.state == IBA_PORT_INIT || pi.state == IBA_PORT_ARMED ||
	    iba_smp_status(ev->mad) & 0x7fff) {
		wait(sm, sm_mirror_poll(sm) / SOON); /* the master is not that far */
		return true;
	}
	s->heard &= s->master_lid == pi.sm_lid;
	s->own_lid = pi.lid;
	s->master_lid = pi.sm_lid;
	s->sl = pi.sm_sl;
	s->step = SM_MIRROR_ROOT;
	ask_new(sm, ROOT, 0);
	return true;
}

/* ---- what is due ---- */

static void overdue(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	for (unsigned i = 0; s->outstanding && i < SM_MIRROR_WINDOW; i++) {
		struct sm_mirror_ask *a = &s->ask[i];

		if (!a->used || sm->core.now < a->deadline)
			continue;
		if (a->tries < TRIES) {
			ask_send(sm, a);
			continue;
		}
		s->own_lid = 0; /* LIDs may be others now */
		pull_stop(sm, s->heard ? sm_mirror_poll(sm) : SILENT * sm_mirror_poll(sm));
		s->heard = false;
		return;
	}
}

void sm_mirror_standby_work(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	overdue(sm);
	if (s->step == SM_MIRROR_OFF)
		wait(sm, 0);
	if (sm->core.now < s->next_at)
		return;
	if (s->step == SM_MIRROR_PORT)
		wait(sm, sm_mirror_poll(sm));
	else if (s->step == SM_MIRROR_WAITING && !s->own_lid)
		port_ask(sm);
	else if (s->step == SM_MIRROR_WAITING) {
		s->step = SM_MIRROR_ROOT;
		ask_new(sm, ROOT, 0);
	}
}

void sm_mirror_standby_begin(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	pull_stop(sm, 0);
	if (!s->whole) /* it was used up */
		copy_free(s);
	s->own_lid = 0;
	s->heard = false;
}

/* ---- taking over ---- */

void sm_mirror_take_over(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;
	struct sm_saved *m = s->whole;

	pull_stop(sm, 0);
	s->step = SM_MIRROR_OFF;
	sm_pages_free(&s->part);
	if (!m)
		return;
	sm_note(sm, .kind = SM_NOTE_MIRROR_USED,
		.mirror = {s->of.root, (uint64_t)s->have.n[0] * SM_PAGE, 0});
	s->whole = NULL;
	if (sm->cfg.read_back)
		sm_mirror_use(sm, m, s->of.stamp, s->of.stamp_guid, s->of.stamp_block);
	else
		sm_saved_free(m);
}

/*
 * Else a master that dies soon after its polls were lost would leave a standby without a copy, and VMs without names. Even one
 * that the stamp does not prove any more has these.
 */
void sm_mirror_return(struct sm *sm)
{
	sm->mirror.standby.whole = sm_saved_return(sm);
}

void sm_mirror_standby_free(struct sm *sm)
{
	struct sm_mirror_standby *s = &sm->mirror.standby;

	copy_free(s);
	sm_pages_free(&s->want);
	sm_pages_free(&s->part);
	map64_free(&s->known);
	vec_free(&s->managers);
}
