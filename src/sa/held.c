/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests for paths that come between a change of the subnet and its forwarding tables: they wait until those are computed,
 * so that the answer is of the state that will stand. State: struct sa_held. Ways in: sa_hold(), sa_held_release(). Bounded
 * in number and time: who comes too many, or waits too long, gets "busy". A host that repeats its request waits once.
 */
#include "base/rng.h"
#include "sa/sa_priv.h"

enum { HELD_MOST = 4096, HELD_MS = 1000 };

/* The place of the same MAD, or the one of the next. */
static size_t place_of(struct sa_held *h, const struct sa_request *q, uint64_t key)
{
	uint32_t at = map64_get(&h->by, key);

	return at != MAP_NONE && h->list.at[at].lid == q->lid &&
			       !memcmp(h->list.at[at].mad, q->mad, IBA_MAD_SIZE)
		       ? at
		       : h->list.n;
}

bool sa_hold(struct sa *sa, const struct sa_request *q, uint8_t sl)
{
	struct sa_mad m = {.lid = q->lid, .sl = sl};
	uint64_t key = hash64_add(q->lid, iba_smp_tid(q->mad));

	if (sa->held.open || q->len != IBA_MAD_SIZE || iba_rmpp_active(q->mad))
		return false;
	if (place_of(&sa->held, q, key) < sa->held.list.n)
		return true;
	if (sa->held.list.n >= HELD_MOST)
		return false;
	memcpy(m.mad, q->mad, IBA_MAD_SIZE);
	map64_put(&sa->held.by, key, (uint32_t)sa->held.list.n);
	vec_push(&sa->held.list, m);
	if (sa->held.list.n == 1)
		sa->held.until = q->now + HELD_MS * PS_PER_MS;
	return true;
}

bool sa_held_release(struct sa *sa, const struct sm *sm, time_ps now, struct sa_held *out)
{
	if (!sa->held.list.n || (!sm_tables_to_stand(sm) && now < sa->held.until && sa->serving))
		return false;
	*out = sa->held;
	sa->held = (struct sa_held){.until = TIME_NEVER};
	map64_free(&out->by);
	return true;
}

void sa_held_free(struct sa *sa)
{
	vec_free(&sa->held.list);
	map64_free(&sa->held.by);
}
