/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the meter says beside shares: the busiest links, and entries that differ between two tables. Keeps no state. Ways in:
 * rt_quality_worst_links(), rt_changes_count(). Measures nothing: quality.c does.
 */
#include "route/quality_priv.h"

struct busy {
	uint64_t flows, routes;
	port_id port;
};

static int busy_compare(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->flows != y->flows)
		return x->flows > y->flows ? -1 : 1;
	if (x->routes != y->routes)
		return x->routes > y->routes ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

uint32_t rt_quality_worst_links(const struct fab *f, const struct rt_quality *q, port_id *out,
				uint32_t n)
{
	struct busy *all = mem_array(q->links, sizeof(*all));
	uint32_t k = 0;

	for (port_id p = 0; p < f->nports; p++) {
		port_id peer = f->ports[p].peer;

		if (q->flows[p] + q->routes[p] && fab_is_switch(f, f->ports[p].node) &&
		    fab_is_switch(f, f->ports[peer].node))
			all[k++] = (struct busy){q->flows[p], q->routes[p], p};
	}
	qsort(all, k, sizeof(*all), busy_compare);
	n = MIN(n, k);
	for (uint32_t i = 0; i < n; i++)
		out[i] = all[i].port;
	free(all);
	return n;
}

static uint8_t entry(const struct rt_tables *t, uint32_t sw, uint32_t lid)
{
	uint8_t port = lid <= t->top_lid ? rt_row(t, sw)[lid] : IBA_PORT_NONE;

	return port == IBA_PORT_NONE && t->dflt ? t->dflt[sw] : port;
}

void rt_changes_count(const struct rt_tables *a, const struct rt_tables *b, struct rt_changes *c)
{
	uint32_t top = MAX(a->top_lid, b->top_lid);

	*c = (struct rt_changes){0};
	for (uint32_t s = 0; s < a->nswitches; s++) {
		uint64_t before = c->entries;
		uint32_t block = UINT32_MAX;

		for (uint32_t lid = 0; lid <= top; lid++) {
			if (entry(a, s, lid) == entry(b, s, lid))
				continue;
			c->entries++;
			c->blocks += block != lid / 64;
			block = lid / 64;
		}
		c->switches += c->entries > before;
	}
}
