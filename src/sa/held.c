/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests for paths that come between a change of the subnet and its forwarding tables: they wait until those are computed,
 * so that the answer is of the state that will stand. State: struct sa_held. Ways in: sa_hold(), sa_held_release(). Bounded
 * in number and time: who comes too many, or waits too long, gets "busy".
 */
#include "sa/sa_priv.h"

enum { HELD_MOST = 4096, HELD_MS = 1000 };

bool sa_hold(struct sa *sa, const struct sa_request *q, uint8_t sl)
{
	struct sa_mad m = {.lid = q->lid, .sl = sl};

	if (sa->held.open || sa->held.list.n >= HELD_MOST || q->len != IBA_MAD_SIZE ||
	    iba_rmpp_active(q->mad))
		return false;
	memcpy(m.mad, q->mad, IBA_MAD_SIZE);
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
	return true;
}

void sa_held_free(struct sa *sa)
{
	vec_free(&sa->held.list);
}
