/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of a snapshot: counts, distances, diameters. State: struct walk, one a call. Way in:
 * fab_stats(), fab_distances(). Only switches forward; does not look at forwarding tables.
 */
#include "fabric/fabric.h"

void fab_distances(const struct fab *f, node_id from, uint32_t *dist)
{
	node_id *queue = mem_array(f->nnodes, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	memset(dist, 0xff, f->nnodes * sizeof(*dist));
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		const node_id n = queue[head++];
		const struct fab_port *p = f->ports + f->nodes[n].first_port;

		if (n != from && !fab_is_switch(f, n))
			continue;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			node_id m;

			if (p[i].peer == FAB_NONE)
				continue;
			m = f->ports[p[i].peer].node;
			if (dist[m] == UINT32_MAX) {
				dist[m] = dist[n] + 1;
				queue[tail++] = m;
			}
		}
	}
	free(queue);
}

/*
 * Breadth-first from 64 nodes at once: bit i of a node's word says that source i has reached it. So
 * a diameter costs nodes/64 walks over the links, which is what keeps trees of thousands of
 * switches under a second.
 */
struct walk {
	const struct fab *f;
	uint32_t *first; /* node -> start in adj[]; nnodes + 1 entries */
	node_id *adj;
	uint64_t *seen, *now, *next;
	node_id *list, *list_next;
	uint32_t nlist, nnext;
};

static void walk_init(struct walk *w, const struct fab *f)
{
	uint32_t at = 0;

	*w = (struct walk){.f = f};
	w->first = mem_array((size_t)f->nnodes + 1, sizeof(*w->first));
	w->adj = mem_array((size_t)f->nlinks * 2, sizeof(*w->adj));
	w->seen = mem_zarray(f->nnodes, sizeof(*w->seen));
	w->now = mem_zarray(f->nnodes, sizeof(*w->now));
	w->next = mem_zarray(f->nnodes, sizeof(*w->next));
	w->list = mem_array(f->nnodes, sizeof(*w->list));
	w->list_next = mem_array(f->nnodes, sizeof(*w->list));
	for (node_id n = 0; n < f->nnodes; n++) {
		w->first[n] = at;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			port_id peer = f->ports[fab_port_id(f, n, i)].peer;

			if (peer != FAB_NONE)
				w->adj[at++] = f->ports[peer].node;
		}
	}
	w->first[f->nnodes] = at;
}

static void walk_free(struct walk *w)
{
	free(w->first);
	free(w->adj);
	free(w->seen);
	free(w->now);
	free(w->next);
	free(w->list);
	free(w->list_next);
}

static void walk_mark(struct walk *w, node_id n, uint64_t bits)
{
	uint64_t fresh = bits & ~w->seen[n];

	if (!fresh)
		return;
	if (!w->next[n])
		w->list_next[w->nnext++] = n;
	w->next[n] |= fresh;
	w->seen[n] |= fresh;
}

/* What was marked becomes the front. True when a node of that type is in it. */
static bool walk_turn(struct walk *w, uint8_t type)
{
	node_id *list = w->list;
	uint64_t *now = w->now;
	bool hit = false;

	for (uint32_t i = 0; i < w->nlist; i++)
		w->now[w->list[i]] = 0;
	w->list = w->list_next;
	w->nlist = w->nnext;
	w->list_next = list;
	w->nnext = 0;
	w->now = w->next;
	w->next = now;
	for (uint32_t i = 0; i < w->nlist && !hit; i++)
		hit = w->f->nodes[w->list[i]].type == type;
	return hit;
}

/* The largest distance from any of up to 64 sources to a node of that type. */
static uint32_t walk_reach(struct walk *w, const node_id *src, unsigned n, uint8_t type)
{
	uint32_t far = 0;

	memset(w->seen, 0, w->f->nnodes * sizeof(*w->seen));
	for (unsigned i = 0; i < n; i++)
		walk_mark(w, src[i], 1ull << i);
	for (uint32_t step = 0; w->nnext; step++) {
		if (walk_turn(w, type))
			far = step;
		for (uint32_t i = 0; i < w->nlist; i++) {
			node_id m = w->list[i];

			if (step && !fab_is_switch(w->f, m))
				continue;
			for (uint32_t k = w->first[m]; k < w->first[m + 1]; k++)
				walk_mark(w, w->adj[k], w->now[m]);
		}
	}
	walk_turn(w, type);
	return far;
}

static uint32_t walk_diameter(struct walk *w, const node_id *src, uint32_t n, uint8_t type)
{
	uint32_t d = 0;

	for (uint32_t i = 0; i < n; i += 64) {
		uint32_t r = walk_reach(w, src + i, MIN(64, n - i), type);

		d = MAX(d, r);
	}
	return d;
}

/* Hosts to measure from. Hosts with one link that share a switch are as far from everything as each
 * other, and the walk from the first of them meets the others. */
static uint32_t host_sources(const struct walk *w, node_id *src)
{
	uint8_t *done = mem_zarray(w->f->nnodes, 1);
	uint32_t n = 0;

	for (node_id h = 0; h < w->f->nnodes; h++) {
		uint32_t links = w->first[h + 1] - w->first[h];

		if (w->f->nodes[h].type != IBA_NODE_CA || !links)
			continue;
		if (links == 1 && done[w->adj[w->first[h]]]++)
			continue;
		src[n++] = h;
	}
	free(done);
	return n;
}

static void measure_distances(struct walk *w, struct fab_stats *s)
{
	node_id *src = mem_array(w->f->nnodes, sizeof(*src));
	uint32_t n = host_sources(w, src);

	s->diameter = walk_diameter(w, w->f->switches, w->f->nswitches, IBA_NODE_SWITCH);
	s->host_diameter = walk_diameter(w, src, n, IBA_NODE_CA);
	free(src);
}

static void flood_switches(struct walk *w, node_id from)
{
	uint32_t top = 0;

	w->seen[from] = 1;
	w->list[top++] = from;
	while (top) {
		node_id m = w->list[--top];

		for (uint32_t k = w->first[m]; k < w->first[m + 1]; k++) {
			if (!w->seen[w->adj[k]] && fab_is_switch(w->f, w->adj[k])) {
				w->seen[w->adj[k]] = 1;
				w->list[top++] = w->adj[k];
			}
		}
	}
}

/* Links whose ends are both not at a switch, each a subnet of its own; and nodes without links. */
static uint32_t count_small_parts(const struct walk *w)
{
	uint32_t ends = 0, bare = 0;

	for (node_id n = 0; n < w->f->nnodes; n++) {
		if (fab_is_switch(w->f, n))
			continue;
		bare += w->first[n] == w->first[n + 1];
		for (uint32_t k = w->first[n]; k < w->first[n + 1]; k++)
			ends += !fab_is_switch(w->f, w->adj[k]);
	}
	return bare + ends / 2;
}

/* A host or router with ports in two subnets does not join them: only switches forward. */
static uint32_t count_components(struct walk *w)
{
	uint32_t count = count_small_parts(w);

	memset(w->seen, 0, w->f->nnodes * sizeof(*w->seen));
	for (uint32_t i = 0; i < w->f->nswitches; i++) {
		if (w->seen[w->f->switches[i]])
			continue;
		count++;
		flood_switches(w, w->f->switches[i]);
	}
	return count;
}

static bool bears_hosts(const struct walk *w, node_id sw)
{
	for (uint32_t k = w->first[sw]; k < w->first[sw + 1]; k++)
		if (w->f->nodes[w->adj[k]].type == IBA_NODE_CA)
			return true;
	return false;
}

/* A breadth-first walk from all host-bearing switches together; every distance up to the largest
 * occurs, so the number of distances is the number of steps. */
static uint32_t count_levels(struct walk *w)
{
	uint32_t head = 0, tail = 0, levels = 0;

	memset(w->seen, 0, w->f->nnodes * sizeof(*w->seen));
	for (uint32_t i = 0; i < w->f->nswitches; i++) {
		if (bears_hosts(w, w->f->switches[i])) {
			w->seen[w->f->switches[i]] = 1;
			w->list[tail++] = w->f->switches[i];
		}
	}
	while (head < tail) {
		node_id m = w->list[head++];

		levels = (uint32_t)w->seen[m];
		for (uint32_t k = w->first[m]; k < w->first[m + 1]; k++) {
			node_id o = w->adj[k];

			if (!w->seen[o] && fab_is_switch(w->f, o)) {
				w->seen[o] = w->seen[m] + 1;
				w->list[tail++] = o;
			}
		}
	}
	return levels;
}

static void count_links(const struct fab *f, struct fab_stats *s)
{
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *a = &f->ports[p], *b;

		if (a->peer == FAB_NONE || a->peer < p)
			continue;
		b = &f->ports[a->peer];
		if (fab_is_switch(f, a->node) && fab_is_switch(f, b->node))
			s->switch_links++;
		s->rate[MIN(a->speed ? a->speed : b->speed, FAB_NSPEEDS - 1)]
		       [MIN(a->width ? a->width : b->width, 12)]++;
		if (!a->cable_cm)
			continue;
		s->cable_min_cm = s->cables++ ? MIN(s->cable_min_cm, a->cable_cm) : a->cable_cm;
		s->cable_max_cm = MAX(s->cable_max_cm, a->cable_cm);
		s->cable_sum_cm += a->cable_cm;
	}
}

static void count_degrees(const struct walk *w, struct fab_stats *s)
{
	for (node_id n = 0; n < w->f->nnodes; n++) {
		uint32_t d = w->first[n + 1] - w->first[n];

		s->isolated += d == 0;
		if (!fab_is_switch(w->f, n))
			continue;
		s->degree_min = n == w->f->switches[0] ? d : MIN(s->degree_min, d);
		s->degree_max = MAX(s->degree_max, d);
		s->degree_sum += d;
		s->ports_free += w->f->nodes[n].nports - d;
	}
}

void fab_stats(const struct fab *f, struct fab_stats *s)
{
	struct walk w;

	*s = (struct fab_stats){.switches = f->nswitches,
				.hosts = f->nhosts,
				.routers = f->nrouters,
				.links = f->nlinks};
	for (node_id n = 0; n < f->nnodes; n++) {
		s->hypervisors[f->nodes[n].sriov] += f->nodes[n].sriov != FAB_SRIOV_NONE;
		s->vfs[f->nodes[n].sriov] += f->nodes[n].vfs;
	}
	walk_init(&w, f);
	count_links(f, s);
	count_degrees(&w, s);
	s->components = count_components(&w);
	s->levels = count_levels(&w);
	measure_distances(&w, s);
	walk_free(&w);
}
