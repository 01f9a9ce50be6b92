/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts SMPs from clients by method and attribute, with the time of the first and the last, since
 * the last `meter reset`. State: the meter of struct emu. Way in: meter_count() for every MAD. Does
 * not look at the sender, so that any two managers are measured in the same way.
 */
#include "emu/emu_priv.h"

static unsigned row_of(unsigned method)
{
	return method == IBA_GET ? 0 : method == IBA_SET ? 1 : 2;
}

void meter_count(struct emu *m, const uint8_t *mad, time_ps now)
{
	unsigned attr = iba_smp_attr_id(mad);
	struct emu_meter *t;

	if (iba_smp_mgmt_class(mad) != IBA_CLASS_SUBN_LID && !iba_smp_is_dr(mad))
		return;
	t = &m->meter[row_of(iba_smp_method(mad))][MIN(attr, (unsigned)EMU_METER_ATTRS - 1)];
	if (!t->n++)
		t->first = now;
	t->last = now;
}
