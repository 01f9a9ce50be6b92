/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When sweeps and retries are due, and how long the last sweep took. State: struct sm_sweeping. Does not
 * ask any switch: see sweep.c and partial_discovery.c.
 */
#include "sm/manager.h"

void sm_sweep_init(struct sm *sm)
{
	sm->sweep.next = sm->sweep.retry_at = sm->sweep.own_next = TIME_NEVER;
	sm->sweep.retry_was = TIME_NEVER;
	sm->sweep.clear = NONE;
}

void sm_retry_never(struct sm *sm)
{
	if (sm->sweep.retry_at != TIME_NEVER)
		sm->sweep.retry_was = sm->sweep.retry_at;
	sm->sweep.retry_at = TIME_NEVER;
}

/* It would drop requests for P_Key tables: where sweeps are frequent, none of these would ever be answered. */
time_ps sm_sweep_at(const struct sm *sm)
{
	return sm->partitions.asked ? TIME_NEVER : sm->sweep.next;
}

void sm_sweep_start(struct sm *sm)
{
	sm->sweep.start = sm->core.now;
	sm_election_sweep(sm);
	sm_round_mark(sm);
}

void sm_sweep_clean(struct sm *sm)
{
	sm->sweep.duration = sm->core.now - sm->sweep.start;
	sm_count_sweep(sm, sm->sweep.start);
	sm_mfts_intact(sm);
}

void sm_sweep_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->sweep.start, by);
	sm_time_shift(&sm->sweep.next, by);
	sm_time_shift(&sm->sweep.own_next, by);
	sm_time_shift(&sm->sweep.retry_at, by);
	sm_time_shift(&sm->sweep.retry_was, by);
}
