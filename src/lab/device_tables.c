/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linear tables of the simulated switches. State: struct lab_device_tables, which the caller owns. Way in:
 * lab_device_tables_read(), lab_device_tables_changed(). Does not look at random tables.
 */
#include "lab/device_tables.h"
#include "lab/lab_priv.h"

static uint32_t stride_of(const struct lab *l)
{
	const struct fab *f = l->fab;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nswitches; i++)
		if (sim_node_on(l->sim, f->switches[i]))
			n = MAX(n, sim_switch_info(l->sim, f->switches[i])->linear_top + 1u);
	return n;
}

void lab_device_tables_read(const struct lab *l, struct lab_device_tables *t)
{
	const struct fab *f = l->fab;

	t->stride = stride_of(l);
	t->port = mem_array((size_t)MAX(f->nswitches, 1u) * t->stride + 1, 1);
	for (uint32_t i = 0; i < f->nswitches; i++)
		for (uint32_t lid = 0; lid < t->stride; lid++)
			t->port[(size_t)i * t->stride + lid] =
				sim_node_on(l->sim, f->switches[i])
					? sim_lft(l->sim, f->switches[i], lid)
					: IBA_PORT_NONE;
}

void lab_device_tables_free(struct lab_device_tables *t)
{
	free(t->port);
	*t = (struct lab_device_tables){0};
}

uint64_t lab_device_tables_changed(const struct lab *l, const struct lab_device_tables *t)
{
	const struct fab *f = l->fab;
	uint32_t lids = MAX(stride_of(l), t->stride);
	uint64_t n = 0;

	for (uint32_t i = 0; i < f->nswitches; i++)
		for (uint32_t lid = 0; lid < lids && sim_node_on(l->sim, f->switches[i]); lid++)
			n += sim_lft(l->sim, f->switches[i], lid) !=
			     (lid < t->stride ? t->port[(size_t)i * t->stride + lid]
					      : IBA_PORT_NONE);
	return n;
}
