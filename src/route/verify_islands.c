/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which switches cables join, for the verifier: pairs that nothing connects are no fault of tables. State: v->island and
 * v->nislands; the way in is islands_find(). Reads no tables.
 */
#include "route/verify_priv.h"

/* All switches that cables join with this one. queue has room for all switches. */
static bool island_fill(struct verifier *v, uint32_t from, uint32_t number, uint32_t *queue)
{
	uint32_t n = 0;
	bool counts = false;

	v->island[from] = number;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = queue[i];

		counts |= v->hosts[s] || v->speaks[s];
		for (unsigned p = 1; p <= v->nports[s]; p++) {
			uint32_t to = v->behind[v->first[s] + p];

			if (!is_switch_index(to) || v->island[to] != FAB_NONE)
				continue;
			v->island[to] = number;
			queue[n++] = to;
		}
	}
	return counts;
}

void islands_find(struct verifier *v)
{
	uint32_t n = v->f->nswitches, number = 0;
	uint32_t *queue = mem_array(n, sizeof(*queue));

	v->island = mem_array(n, sizeof(*v->island));
	for (uint32_t s = 0; s < n; s++)
		v->island[s] = FAB_NONE;
	for (uint32_t s = 0; s < n; s++)
		if (v->island[s] == FAB_NONE)
			v->nislands += island_fill(v, s, number++, queue);
	for (size_t i = 0; i < v->loose.n; i++) {
		port_id peer = v->f->ports[v->loose.at[i]].peer;

		v->nislands += v->loose.at[i] < peer || !v->f->ports[peer].lid;
	}
	free(queue);
}

void islands_free(struct verifier *v)
{
	free(v->island);
}
