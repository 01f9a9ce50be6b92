/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters that sm_status() shows, and the clock. State: struct sm_status in struct sm_core. Does not
 * decide anything.
 */
#include "sm/manager.h"

void sm_count(struct sm *sm, enum sm_counter c)
{
	struct sm_status *st = &sm->core.st;
	uint64_t *const counters[] = {
		[SM_COUNT_LATE] = &st->late,	   [SM_COUNT_BAD] = &st->bad,
		[SM_COUNT_RETRIES] = &st->retries, [SM_COUNT_TIMEOUTS] = &st->timeouts,
		[SM_COUNT_TRAPS] = &st->traps,
	};

	(*counters[c])++;
}

void sm_count_smp(struct sm *sm, enum sm_purpose p)
{
	sm->core.st.smps[p]++;
}

void sm_count_sweep(struct sm *sm, time_ps start)
{
	sm->core.st.sweeps++;
	sm->core.st.clean_sweeps++;
	sm->core.st.last_sweep_start = start;
	sm->core.st.last_sweep_time = sm->core.now - start;
}

void sm_count_lids(struct sm *sm, int more)
{
	sm->core.st.lids += (uint32_t)more;
}

void sm_count_block(struct sm *sm)
{
	sm->core.round.sent_blocks++;
}

void sm_count_entries(struct sm *sm, unsigned changed)
{
	sm->core.round.entries += changed;
}

/* What is longer ago than the new clock's beginning was at its beginning. */
void sm_time_shift(time_ps *t, time_ps by)
{
	if (*t != TIME_NEVER)
		*t = *t > by ? *t - by : 0;
}

void sm_config_old_key(struct sm *sm, uint64_t key)
{
	memmove(sm->cfg.m_keys + 1, sm->cfg.m_keys,
		(SM_MAX_M_KEYS - 1) * sizeof(sm->cfg.m_keys[0]));
	sm->cfg.m_keys[0] = key;
}
