/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switches of a fabric as islands with distinct neighbours, and the switch that each host is placed beside.
 * State: struct lay. Way in: lay_graph(). Does not place anything.
 */
#include "draw/layout_priv.h"

/* The switch at the other end of a port, FAB_NONE if there is none. */
static node_id switch_behind(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;

	return peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node) ? f->ports[peer].node
									 : FAB_NONE;
}

/* A host with several ports is placed beside the first switch, and counts for the levels of all. */
static void find_homes(struct lay *l)
{
	const struct fab *f = l->f;

	for (node_id n = 0; n < f->nnodes; n++) {
		node_id home = FAB_NONE;

		if (fab_is_switch(f, n))
			continue;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			node_id sw = switch_behind(f, fab_port_id(f, n, i));

			if (sw == FAB_NONE)
				continue;
			home = home == FAB_NONE ? sw : home;
			l->linked[l->spot[sw]] += !(f->nodes[n].flags & FAB_SHARP_AN);
		}
		l->spot[n] = home == FAB_NONE ? FAB_NONE : l->spot[home];
		if (home != FAB_NONE)
			l->hosts[l->spot[home]]++;
	}
}

/* All switches joined with `from`: part[] of each is set. queue[] has room for all switches. */
static uint32_t mark_island(const struct fab *f, node_id from, uint32_t number, uint32_t *part,
			    node_id *queue)
{
	uint32_t head = 0, tail = 0;

	part[from] = number;
	queue[tail++] = from;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			node_id m = switch_behind(f, fab_port_id(f, n, i));

			if (m != FAB_NONE && part[m] == FAB_NONE) {
				part[m] = number;
				queue[tail++] = m;
			}
		}
	}
	return tail;
}

/* Islands in the order of their first switch; inside, spots in node order. */
static void find_islands(struct lay *l)
{
	const struct fab *f = l->f;
	uint32_t *part = l->out->part, np = 0;
	node_id *queue = mem_array(l->n + 1, sizeof(*queue));
	uint32_t *fill;

	memset(part, 0xff, f->nnodes * sizeof(*part));
	for (uint32_t i = 0; i < l->n; i++)
		if (part[f->switches[i]] == FAB_NONE) {
			uint32_t n = mark_island(f, f->switches[i], np, part, queue);

			l->start[np + 1] = l->start[np] + n;
			np++;
		}
	l->out->nparts = np;
	fill = queue;
	memcpy(fill, l->start, np * sizeof(*fill));
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t s = fill[part[f->switches[i]]]++;

		l->node[s] = f->switches[i];
		l->spot[f->switches[i]] = s;
	}
	free(queue);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void find_neighbours(struct lay *l)
{
	const struct fab *f = l->f;
	uint32_t at = 0;

	for (uint32_t s = 0; s < l->n; s++) {
		node_id n = l->node[s];
		uint32_t base = l->start[l->out->part[n]], from = at, end;

		l->first[s] = at;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			node_id m = switch_behind(f, fab_port_id(f, n, i));

			if (m != FAB_NONE && m != n)
				l->adj[at++] = l->spot[m] - base;
		}
		qsort(l->adj + from, at - from, sizeof(*l->adj), by_number);
		end = at;
		at = from;
		for (uint32_t k = from; k < end; k++)
			if (k == from || l->adj[k] != l->adj[k - 1])
				l->adj[at++] = l->adj[k];
	}
	l->first[l->n] = at;
}

void lay_graph(struct lay *l, const struct fab *f)
{
	uint32_t n = f->nswitches;

	l->f = f;
	l->n = n;
	l->node = mem_array(n, sizeof(*l->node));
	l->spot = mem_array(f->nnodes, sizeof(*l->spot));
	l->start = mem_zarray((size_t)n + 1, sizeof(*l->start));
	l->first = mem_zarray((size_t)n + 1, sizeof(*l->first));
	l->adj = mem_array((size_t)f->nlinks * 2, sizeof(*l->adj));
	l->hosts = mem_zarray(n, sizeof(*l->hosts));
	l->linked = mem_zarray(n, sizeof(*l->linked));
	l->x = mem_zarray(n, sizeof(*l->x));
	l->y = mem_zarray(n, sizeof(*l->y));
	l->at = mem_zarray(f->nnodes, sizeof(*l->at));
	l->level = mem_zarray(n, sizeof(*l->level));
	l->group = mem_array(n, sizeof(*l->group));
	l->seat = mem_zarray(n, sizeof(*l->seat));
	find_islands(l);
	find_homes(l);
	find_neighbours(l);
}

void lay_graph_free(struct lay *l)
{
	free(l->node);
	free(l->spot);
	free(l->start);
	free(l->first);
	free(l->adj);
	free(l->hosts);
	free(l->linked);
	free(l->x);
	free(l->y);
	free(l->at);
	free(l->level);
	free(l->group);
	free(l->seat);
}

bool lay_adjacent(const struct lay_part *p, uint32_t a, uint32_t b)
{
	uint32_t lo = p->first[a], hi = p->first[a + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->adj[mid] == b)
			return true;
		if (p->adj[mid] < b)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}
