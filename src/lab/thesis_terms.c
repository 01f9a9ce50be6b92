/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the manager's own phases to the terms of the thesis. Keeps no state. Way in: lab_thesis_terms(). Does not
 * count packets.
 */
#include "lab/thesis_terms.h"

static time_ps since(const struct lab_sum *s, time_ps moment)
{
	return moment ? moment - s->first_start : 0;
}

void lab_thesis_terms(const struct lab_sum *s, struct lab_thesis *t)
{
	const time_ps *time = s->time;
	const uint64_t *sent = s->sent;

	t->discovery_smps = s->smps[SM_FOR_SWEEP] + s->smps[SM_FOR_TRAP] +
			    s->smps[SM_FOR_DISCOVERY] + s->smps[SM_FOR_CONFIGURATION];
	t->distribution_smps = s->smps[SM_FOR_DISTRIBUTION] + s->smps[SM_FOR_ACTIVATION];
	t->deactivation_smps = sent[SM_DEACTIVATE];
	t->table_smps = sent[SM_JOIN] + sent[SM_TABLES];
	t->activation_smps = sent[SM_RESTORE] + sent[SM_ARM] + sent[SM_ACTIVATE];
	t->discovery = time[SM_DISCOVER] + time[SM_CONFIGURE];
	t->deactivation = time[SM_DEACTIVATE];
	t->tables = time[SM_JOIN] + time[SM_TABLES];
	t->activation = time[SM_RESTORE] + time[SM_ARM] + time[SM_ACTIVATE];
	t->distribution = t->deactivation + t->tables + t->activation;
	t->provisional = since(s, s->complete[SM_PROVISIONAL]);
	t->final = since(s, s->complete[SM_FINAL] ? s->complete[SM_FINAL] : s->last_end);
	t->assimilation = t->provisional ? t->provisional : t->final;
}
