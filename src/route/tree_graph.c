/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": the switches with their neighbours, parallel links as one group. State: struct tree. Ways in:
 * tree_graph_new(), tree_upper_first(), tree_free(). Finds no levels.
 */
#include "route/tree.h"

static uint32_t switch_behind(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* A host for the levels: not an aggregation node, not a router. */
static bool is_host(const struct fab *f, port_id p)
{
	port_id peer = f->ports[p].peer;
	const struct fab_node *n = peer == FAB_NONE ? NULL : &f->nodes[f->ports[peer].node];

	return n && n->type == IBA_NODE_CA && !(n->flags & FAB_SHARP_AN);
}

struct link {
	uint32_t sw;
	uint8_t port;
};

static int link_cmp(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* The groups of one switch, by neighbour; a cable from a switch to itself is left out. */
static void groups_add(struct tree *t, uint32_t s, uint32_t *ngroups, uint32_t *nports)
{
	const struct fab *f = t->f;
	node_id n = f->switches[s];
	struct link l[256];
	unsigned nl = 0;

	for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
		uint32_t v = switch_behind(f, fab_port_id(f, n, p));

		t->hosts[s] += is_host(f, fab_port_id(f, n, p));
		if (v != FAB_NONE && v != s)
			l[nl++] = (struct link){v, (uint8_t)p};
	}
	qsort(l, nl, sizeof(*l), link_cmp);
	for (unsigned i = 0; i < nl; i++) {
		if (!i || l[i].sw != l[i - 1].sw)
			t->group[(*ngroups)++] =
				(struct tree_group){.sw = l[i].sw, .first = *nports};
		t->group[*ngroups - 1].nports++;
		t->port[(*nports)++] = l[i].port;
	}
}

static void parts_find(struct tree *t)
{
	uint32_t *queue = mem_array(t->n, sizeof(*queue));

	memset(t->part, 0xff, t->n * sizeof(*t->part));
	for (uint32_t from = 0; from < t->n; from++) {
		uint32_t head = 0, tail = 0;

		if (t->part[from] != FAB_NONE)
			continue;
		t->part[from] = t->nparts;
		queue[tail++] = from;
		while (head < tail) {
			uint32_t s = queue[head++];

			for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++)
				if (t->part[t->group[g].sw] == FAB_NONE) {
					t->part[t->group[g].sw] = t->nparts;
					queue[tail++] = t->group[g].sw;
				}
		}
		t->nparts++;
	}
	free(queue);
}

void tree_graph_new(struct tree *t, const struct fab *f)
{
	uint32_t n = f->nswitches, ngroups = 0, nports = 0;

	*t = (struct tree){.f = f, .n = n};
	t->first = mem_array((size_t)n + 1, sizeof(*t->first));
	t->group = mem_array((size_t)f->nlinks * 2, sizeof(*t->group));
	t->port = mem_array((size_t)f->nlinks * 2, sizeof(*t->port));
	t->hosts = mem_zarray(n, sizeof(*t->hosts));
	t->part = mem_array(n, sizeof(*t->part));
	t->level = mem_zarray(n, sizeof(*t->level));
	for (uint32_t s = 0; s < n; s++) {
		t->first[s] = ngroups;
		groups_add(t, s, &ngroups, &nports);
	}
	t->first[n] = ngroups;
	parts_find(t);
}

/* ---- upper and lower neighbours ---- */

/*
 * Links inside a level are left out, since they would take routes away from links that share the load. Only a switch that
 * has no other way up goes up by them, to switches that have one.
 */
static bool leads_up(const struct tree *t, const bool *stuck, uint32_t s, uint32_t v)
{
	return t->level[v] > t->level[s] || (t->level[v] == t->level[s] && stuck[s] && !stuck[v]);
}

static bool *find_stuck(const struct tree *t)
{
	bool *stuck = mem_array(t->n, sizeof(*stuck));

	for (uint32_t s = 0; s < t->n; s++) {
		stuck[s] = !t->level[s];
		for (uint32_t g = t->first[s]; g < t->first[s + 1]; g++)
			stuck[s] &= t->level[t->group[g].sw] <= t->level[s];
	}
	return stuck;
}

/* Keeps the groups that lead up, which come first, and those that lead down. */
void tree_upper_first(struct tree *t)
{
	bool *stuck = find_stuck(t);
	uint32_t at = 0, from = 0;
	struct tree_group low[256];

	t->nup = mem_zarray(t->n, sizeof(*t->nup));
	for (uint32_t s = 0; s < t->n; s++) {
		uint32_t nlow = 0, end = t->first[s + 1];

		t->first[s] = at;
		for (uint32_t g = from; g < end; g++) {
			uint32_t v = t->group[g].sw;

			if (leads_up(t, stuck, s, v))
				t->group[t->first[s] + t->nup[s]++] = t->group[g];
			else if (leads_up(t, stuck, v, s))
				low[nlow++] = t->group[g];
		}
		at += t->nup[s] + nlow;
		memcpy(t->group + at - nlow, low, nlow * sizeof(*low));
		from = end;
	}
	t->first[t->n] = at;
	free(stuck);
}

void tree_free(struct tree *t)
{
	free(t->first);
	free(t->group);
	free(t->port);
	free(t->hosts);
	free(t->part);
	free(t->level);
	free(t->order);
	free(t->rank);
	free(t->pivot);
	free(t->pos);
	free(t->row);
	free(t->width);
	free(t->nup);
	free(t->seq);
	free(t->dest_first);
	free(t->dest);
	for (size_t l = 0; l < ARRAY_LEN(t->digit); l++)
		free(t->digit[l]);
}
