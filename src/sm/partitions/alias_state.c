/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Alias GUIDs that ports are to have, and what devices acknowledged of them, by block of GUIDInfo. State: aliases of struct
 * sm_partitions. Ways in: sm_aliases_in() with what hosts registered, and what other rooms report. Sends nothing:
 * alias_guids.c does.
 */
#include "sm/manager.h"

/* ---- what is wanted ---- */

static int by_port(const void *a, const void *b)
{
	const struct sm_alias_block *x = a, *y = b;

	if (x->port_guid != y->port_guid)
		return x->port_guid < y->port_guid ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

struct sm_alias_block *sm_alias_block(const struct sm *sm, uint64_t port_guid, unsigned block)
{
	const struct sm_aliases *s = &sm->partitions.aliases;
	struct sm_alias_block key = {.port_guid = port_guid, .block = (uint8_t)block};

	return s->blocks.n ? bsearch(&key, s->blocks.at, s->blocks.n, sizeof(key), by_port) : NULL;
}

/* Whether the device holds what is wanted, as far as it acknowledged. */
bool sm_alias_is_right(const struct sm_alias_block *b)
{
	return b->held && !memcmp(b->sent, b->guid, sizeof(b->guid));
}

/* A block in which no alias is wanted any more, as the device knows. */
static bool is_spent(const struct sm_alias_block *b)
{
	static const uint64_t none[SM_GUIDS];

	return sm_alias_is_right(b) && !b->asked && !b->doubtful &&
	       !memcmp(b->guid, none, sizeof(none));
}

void sm_aliases_work(struct sm *sm)
{
	sm->partitions.aliases.work = sm->partitions.aliases.blocks.n;
	sm->partitions.aliases.at = 0;
}

/* The blocks of before, without any alias; those that devices hold so already are dropped. */
static void blocks_clear(struct sm_aliases *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->blocks.n; i++) {
		if (is_spent(&s->blocks.at[i]))
			continue;
		s->blocks.at[n] = s->blocks.at[i];
		memset(s->blocks.at[n].guid, 0, sizeof(s->blocks.at[n].guid));
		n++;
	}
	s->blocks.n = n;
}

static void blocks_add(struct sm *sm, const struct sm_alias *list, size_t n)
{
	struct sm_aliases *s = &sm->partitions.aliases;
	size_t before = s->blocks.n;

	for (size_t i = 0; i < n; i++) {
		struct sm_alias_block b = {.port_guid = list[i].port_guid,
					   .block = list[i].place / SM_GUIDS};
		bool known = before && bsearch(&b, s->blocks.at, before, sizeof(b), by_port);
		bool last = s->blocks.n > before && !by_port(&b, &s->blocks.at[s->blocks.n - 1]);

		if (!known && !last)
			vec_push(&s->blocks, b);
	}
	if (s->blocks.n)
		qsort(s->blocks.at, s->blocks.n, sizeof(s->blocks.at[0]), by_port);
}

static int by_place(const void *a, const void *b)
{
	const struct sm_alias *x = a, *y = b;

	if (x->port_guid != y->port_guid)
		return x->port_guid < y->port_guid ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void take_over(struct sm *sm, const struct sm_alias *list, size_t n)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	blocks_clear(s);
	blocks_add(sm, list, n);
	map64_clear(&s->by_guid);
	for (size_t i = 0; i < n; i++) {
		struct sm_alias_block *b =
			sm_alias_block(sm, list[i].port_guid, list[i].place / SM_GUIDS);

		b->guid[list[i].place % SM_GUIDS] = list[i].guid;
		map64_put(&s->by_guid, list[i].guid, (uint32_t)i);
	}
	for (size_t i = 0; i < s->blocks.n; i++) {
		struct sm_alias_block *b = &s->blocks.at[i];

		if (memcmp(b->sent, b->guid, sizeof(b->guid))) {
			b->given_up = false;
			b->sets = 0;
		}
	}
	sm_aliases_work(sm);
}

int sm_aliases_in(struct sm *sm, const struct sm_event *ev)
{
	struct sm_alias *list = mem_array(ev->naliases + 1, sizeof(*list));
	int rc = 0;

	if (ev->naliases)
		memcpy(list, ev->aliases, ev->naliases * sizeof(*list));
	qsort(list, ev->naliases, sizeof(*list), by_place);
	for (size_t i = 0; i < ev->naliases; i++)
		if (!list[i].place || !list[i].guid || !list[i].port_guid ||
		    (i && !by_place(&list[i - 1], &list[i])))
			rc = -EINVAL;
	if (!rc)
		take_over(sm, list, ev->naliases);
	free(list);
	return rc;
}

bool sm_alias_is_taken(const struct sm *sm, uint64_t guid)
{
	return map64_get(&sm->partitions.aliases.by_guid, guid) != MAP_NONE;
}

void sm_alias_doubt(struct sm *sm, struct sm_alias_block *b, time_ps until)
{
	time_ps *at = &sm->partitions.reread_at;

	b->doubtful = true;
	*at = *at == TIME_NEVER ? until : MAX(*at, until);
}

/* ---- what other rooms report ---- */

bool sm_aliases_busy(const struct sm *sm)
{
	return !sm->cfg.observe && sm->partitions.aliases.work;
}

void sm_aliases_round(struct sm *sm)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	for (size_t i = 0; i < s->blocks.n; i++) {
		struct sm_alias_block *b = &s->blocks.at[i];

		b->asked = b->given_up = false; /* of a phase that ended early no answer comes */
		b->sets = 0;
	}
	s->asked = 0;
	sm_aliases_work(sm);
}

void sm_aliases_unknown(struct sm *sm, uint32_t node)
{
	const struct sm_node *n = &sm->topo.nodes.at[node];
	struct sm_aliases *s = &sm->partitions.aliases;

	for (unsigned p = 0; s->blocks.n && p <= n->nports; p++)
		for (size_t i = 0; i < s->blocks.n; i++)
			if (s->blocks.at[i].port_guid == sm->topo.ports.at[n->first_port + p].guid)
				s->blocks.at[i].held = false;
	sm_aliases_work(sm);
}

void sm_aliases_forget(struct sm *sm)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	for (size_t i = 0; i < s->blocks.n; i++)
		s->blocks.at[i].held = s->blocks.at[i].asked = false;
	s->asked = 0;
	sm_aliases_work(sm);
}

void sm_aliases_doubling(struct sm *sm, time_ps until)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	for (size_t i = 0; i < s->blocks.n; i++)
		if (s->blocks.at[i].set_at &&
		    s->blocks.at[i].set_at + (until - sm->core.now) >= sm->core.now)
			sm_alias_doubt(sm, &s->blocks.at[i], until);
}

/* Copies of Sets have arrived by now: blocks in doubt are read. */
void sm_aliases_doubts_end(struct sm *sm)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	for (size_t i = 0; i < s->blocks.n; i++) {
		struct sm_alias_block *b = &s->blocks.at[i];

		b->verify |= b->doubtful;
		b->held &= !b->doubtful;
		b->doubtful = false;
	}
	sm_aliases_work(sm);
}

void sm_aliases_time_back(struct sm *sm, time_ps by)
{
	struct sm_aliases *s = &sm->partitions.aliases;

	for (size_t i = 0; i < s->blocks.n; i++)
		sm_time_shift(&s->blocks.at[i].set_at, by);
}

void sm_aliases_free(struct sm *sm)
{
	vec_free(&sm->partitions.aliases.blocks);
	map64_free(&sm->partitions.aliases.by_guid);
}
