/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an audit is needed: Sets that may have been carried out twice or late. State: struct
 * sm_auditing. Way in: sm_audit_doubled(). Does not read anything back: see read_back.c.
 */
#include "sm/manager.h"

void sm_audit_init(struct sm *sm)
{
	sm->audit.due = TIME_NEVER;
}

/* An audit that was still due reads what was set in the earlier round, too. */
void sm_audit_round(struct sm *sm)
{
	struct sm_auditing *a = &sm->audit;

	a->rewrote = a->mending = false;
	a->trouble = a->due != TIME_NEVER;
	a->due = TIME_NEVER;
	if (!a->trouble)
		a->generation = (uint8_t)(a->generation == UINT8_MAX ? 1 : a->generation + 1);
}

void sm_audit_never(struct sm *sm)
{
	sm->audit.due = TIME_NEVER;
}

void sm_audit_doubled(struct sm *sm)
{
	sm->audit.trouble = sm->audit.copies = true;
}

void sm_audit_rewrote(struct sm *sm)
{
	sm->audit.rewrote = true;
}

void sm_audit_mended(struct sm *sm)
{
	sm->audit.mending = false;
}

bool sm_audit_wanted(struct sm *sm)
{
	sm->audit.trouble |= sm->audit.rewrote && sm->audit.copies;
	return sm->audit.trouble;
}

void sm_audit_time_back(struct sm *sm, time_ps by)
{
	sm_time_shift(&sm->audit.due, by);
}
