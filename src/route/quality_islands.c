/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which hosts cables join, for the meter: patterns run inside each island by itself. State: the islands of struct meter. Ways
 * in: meter_islands_find(), meter_islands_free(). Makes no patterns and reads no tables.
 */
#include "route/quality_priv.h"

/* All switches that cables join with this one. queue has room for all switches. */
static void island_fill(const struct meter *m, uint32_t from, uint32_t number, uint32_t *of,
			uint32_t *queue)
{
	uint32_t n = 0;

	of[from] = number;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		const struct meter_switch *s = &m->switches[queue[i]];

		for (uint32_t p = 1; p <= s->nports; p++) {
			uint32_t to = m->behind[s->first + p];

			if (to & BEHIND_HOST || of[to] != FAB_NONE)
				continue;
			of[to] = number;
			queue[n++] = to;
		}
	}
}

/* Islands have numbers in the order of their first hosts. A cable between two hosts makes one, too. */
static void hosts_number(struct meter *m)
{
	uint32_t n = m->f->nswitches;
	uint32_t *of = mem_array(n, sizeof(*of)), *queue = mem_array(n, sizeof(*queue));
	uint32_t *of_port = mem_array(m->f->nports, sizeof(*of_port));

	for (uint32_t s = 0; s < n; s++)
		of[s] = FAB_NONE;
	for (port_id p = 0; p < m->f->nports; p++)
		of_port[p] = FAB_NONE;
	for (uint32_t h = 0; h < m->n; h++) {
		uint32_t s = m->sw[h];
		uint32_t *at = s == FAB_NONE ? &of_port[m->f->ports[m->hosts[h]].peer] : &of[s];

		m->island[h] = *at == FAB_NONE ? m->nislands++ : *at;
		if (s == FAB_NONE)
			of_port[m->hosts[h]] = m->island[h];
		else if (of[s] == FAB_NONE)
			island_fill(m, s, m->island[h], of, queue);
	}
	free(of);
	free(queue);
	free(of_port);
}

/* Hosts island by island, inside each in the order given; NULL: that of their numbers. */
static uint32_t *sort(const struct meter *m, const uint32_t *order)
{
	uint32_t *out = mem_array(m->n, sizeof(*out));
	uint32_t *next = mem_zarray((size_t)m->nislands + 1, sizeof(*next));

	for (uint32_t h = 0; h < m->n; h++)
		next[m->island[h] + 1]++;
	for (uint32_t i = 0; i < m->nislands; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t h = order ? order[i] : i;

		out[next[m->island[h]]++] = h;
	}
	free(next);
	return out;
}

void meter_islands_find(struct meter *m, const uint32_t *by_name)
{
	uint64_t pairs = (uint64_t)m->n * m->n;

	m->island = mem_array(m->n, sizeof(*m->island));
	hosts_number(m);
	m->islands = mem_zarray(m->nislands, sizeof(*m->islands));
	m->in_order = sort(m, NULL);
	m->by_name = sort(m, by_name);
	for (uint32_t h = 0; h < m->n; h++)
		m->islands[m->island[h]].n++;
	for (uint32_t i = 0, first = 0; i < m->nislands; i++) {
		struct meter_island *x = &m->islands[i];

		x->number = i;
		x->hosts = m->in_order + first;
		x->by_name = m->by_name + first;
		first += x->n;
		pairs -= (uint64_t)x->n * x->n;
		m->most = MAX(m->most, x->n);
	}
	m->apart = pairs;
}

void meter_islands_free(struct meter *m)
{
	free(m->island);
	free(m->islands);
	free(m->in_order);
	free(m->by_name);
}
