/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions of nodes: trees in layers, hosts below their switch. State: struct pic, owned by the caller. Way
 * in: pic_layout(). Does not write SVG, and leaves fabrics that are not trees to svg_spread.c.
 */
#include "draw/svg_priv.h"

static void find_homes(struct pic *p)
{
	const struct fab *f = p->f;

	for (node_id n = 0; n < f->nnodes; n++) {
		p->home[n] = FAB_NONE;
		if (fab_is_switch(f, n))
			continue;
		for (unsigned i = 1; i <= f->nodes[n].nports && p->home[n] == FAB_NONE; i++) {
			port_id peer = f->ports[fab_port_id(f, n, i)].peer;

			if (peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node))
				p->home[n] = f->ports[peer].node;
		}
		if (p->home[n] != FAB_NONE)
			p->nhosts[p->home[n]]++;
	}
}

static void find_neighbours(struct pic *p)
{
	const struct fab *f = p->f;
	uint32_t at = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = f->switches[s];

		p->first[s] = at;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			port_id peer = f->ports[fab_port_id(f, n, i)].peer;
			node_id m = peer == FAB_NONE ? n : f->ports[peer].node;

			if (m != n && fab_is_switch(f, m))
				p->adj[at++] = f->switch_index[m];
		}
	}
	p->first[f->nswitches] = at;
}

/* Distance from the nearest switch with hosts; switches that no host reaches are in layer 0. */
static void find_levels(struct pic *p)
{
	const struct fab *f = p->f;
	uint32_t *queue = mem_array(f->nswitches, sizeof(*queue)), head = 0, tail = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		p->level[f->switches[s]] = UINT32_MAX;
		if (p->nhosts[f->switches[s]]) {
			p->level[f->switches[s]] = 0;
			queue[tail++] = s;
		}
	}
	p->nlevels = f->nswitches > 0;
	while (head < tail) {
		uint32_t s = queue[head++], l = p->level[f->switches[s]] + 1;

		p->nlevels = MAX(p->nlevels, l);
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++) {
			if (p->level[f->switches[p->adj[k]]] == UINT32_MAX) {
				p->level[f->switches[p->adj[k]]] = l;
				queue[tail++] = p->adj[k];
			}
		}
	}
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (p->level[f->switches[s]] == UINT32_MAX)
			p->level[f->switches[s]] = 0;
	free(queue);
}

/* A tree has several layers and few links within a layer. */
static bool looks_layered(const struct pic *p)
{
	const struct fab *f = p->f;
	uint32_t flat = 0, all = p->first[f->nswitches];

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t k = p->first[s]; k < p->first[s + 1]; k++)
			flat += p->level[f->switches[s]] == p->level[f->switches[p->adj[k]]];
	return (p->nlevels > 1 && flat * 10 <= all) || f->nswitches < 3;
}

static void size_boxes(struct pic *p)
{
	for (uint32_t s = 0; s < p->f->nswitches; s++) {
		size_t len = strlen(fab_node_name(p->f, p->f->switches[s]));

		p->half[p->f->switches[s]] = (int)MAX(MIN(len, PIC_LABEL), 3) * 3 + 4;
	}
}

static int slot_width(const struct pic *p, node_id sw)
{
	return MAX(2 * p->half[sw] + 6, (int)pic_host_cols(p->nhosts[sw]) * PIC_CELL + 8);
}

/* ---- layers ---- */

struct order {
	struct pic *p;
	uint32_t *at;	 /* switch indexes, layer after layer, in drawing order */
	uint32_t *start; /* of each layer in at[]; nlevels + 1 entries */
	uint32_t
		*place; /* switch index -> position in its layer, in 1/65536 of the layer's width */
	uint64_t *key;
};

static uint32_t layer_of(const struct order *o, uint32_t s)
{
	return o->p->level[o->p->f->switches[s]];
}

static void number_layer(struct order *o, uint32_t l)
{
	uint32_t n = o->start[l + 1] - o->start[l];

	for (uint32_t i = 0; i < n; i++)
		o->place[o->at[o->start[l] + i]] = (uint32_t)((2ull * i + 1) * 32768 / n);
}

/* The first initial order: that of the snapshot. */
static void order_as_given(struct order *o)
{
	uint32_t *fill = mem_array(o->p->nlevels, sizeof(*fill));

	memcpy(fill, o->start, o->p->nlevels * sizeof(*fill));
	for (uint32_t s = 0; s < o->p->f->nswitches; s++)
		o->at[fill[layer_of(o, s)]++] = s;
	free(fill);
}

/* The second: depth first from the first switch of the lowest layer, so that connected switches are next to
 * each other for any order of the file. */
static void order_depth_first(struct order *o)
{
	const struct fab *f = o->p->f;
	uint32_t *stack = mem_array((size_t)o->p->first[f->nswitches] + 1, sizeof(*stack)), top;
	uint32_t *fill = mem_zarray(o->p->nlevels + 1, sizeof(*fill));
	uint8_t *done = mem_zarray(f->nswitches, 1);

	for (uint32_t l = 0; l < o->p->nlevels; l++)
		fill[l] = o->start[l];
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t s = 0; s < f->nswitches; s++) {
			if (done[s] || (!pass && layer_of(o, s)))
				continue;
			stack[0] = s;
			for (top = 1; top;) {
				uint32_t u = stack[--top];

				if (done[u])
					continue;
				done[u] = 1;
				o->at[fill[layer_of(o, u)]++] = u;
				for (uint32_t k = o->p->first[u + 1]; k-- > o->p->first[u];)
					if (!done[o->p->adj[k]])
						stack[top++] = o->p->adj[k];
			}
		}
	}
	free(stack);
	free(fill);
	free(done);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	uint32_t s = *(const uint32_t *)a, t = *(const uint32_t *)b;

	if (o->key[s] != o->key[t])
		return o->key[s] < o->key[t] ? -1 : 1;
	if (o->place[s] != o->place[t])
		return o->place[s] < o->place[t] ? -1 : 1;
	return s < t ? -1 : s > t;
}

/* Sort a layer by the mean position of its neighbours in the layer `to`. */
static void order_layer(struct order *o, uint32_t l, uint32_t to)
{
	uint32_t n = o->start[l + 1] - o->start[l];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = o->at[o->start[l] + i], count = 0;
		uint64_t sum = 0;

		for (uint32_t k = o->p->first[s]; k < o->p->first[s + 1]; k++) {
			if (layer_of(o, o->p->adj[k]) == to) {
				sum += o->place[o->p->adj[k]];
				count++;
			}
		}
		o->key[s] = count ? sum / count : o->place[s];
	}
	qsort_r(o->at + o->start[l], n, sizeof(*o->at), by_key, o);
	number_layer(o, l);
}

/* The horizontal length of all links, which a sweep should reduce. */
static uint64_t order_cost(const struct order *o)
{
	uint64_t cost = 0;

	for (uint32_t s = 0; s < o->p->f->nswitches; s++)
		for (uint32_t k = o->p->first[s]; k < o->p->first[s + 1]; k++) {
			uint32_t a = o->place[s], b = o->place[o->p->adj[k]];

			cost += a < b ? b - a : a - b;
		}
	return cost;
}

static void order_sweep(struct order *o, bool up)
{
	uint32_t n = o->p->nlevels;

	for (uint32_t i = 1; i < n; i++)
		if (up)
			order_layer(o, i, i - 1);
		else
			order_layer(o, n - 1 - i, n - i);
}

static void order_init(struct order *o, struct pic *p)
{
	uint32_t n = p->f->nswitches;

	*o = (struct order){.p = p};
	o->at = mem_array(n, sizeof(*o->at));
	o->start = mem_zarray(p->nlevels + 1, sizeof(*o->start));
	o->place = mem_zarray(n, sizeof(*o->place));
	o->key = mem_zarray(n, sizeof(*o->key));
	for (uint32_t s = 0; s < n; s++)
		o->start[layer_of(o, s) + 1]++;
	for (uint32_t l = 0; l < p->nlevels; l++)
		o->start[l + 1] += o->start[l];
}

static void order_free(struct order *o)
{
	free(o->at);
	free(o->start);
	free(o->place);
	free(o->key);
}

/* A few sweeps up and down from one initial order. A sweep may make the drawing worse, so best[] keeps the
 * best order seen. */
static void order_try(struct order *o, uint32_t *best, uint64_t *least)
{
	for (uint32_t l = 0; l < o->p->nlevels; l++)
		number_layer(o, l);
	for (int i = 0; i < 9; i++) {
		uint64_t cost;

		if (i)
			order_sweep(o, i % 2 == 1);
		cost = order_cost(o);
		if (cost < *least) {
			*least = cost;
			memcpy(best, o->at, o->p->f->nswitches * sizeof(*best));
		}
	}
}

static void order_choose(struct order *o)
{
	uint32_t n = o->p->f->nswitches, *best = mem_zarray(n, sizeof(*best));
	uint64_t least = UINT64_MAX;

	order_as_given(o);
	order_try(o, best, &least);
	order_depth_first(o);
	order_try(o, best, &least);
	memcpy(o->at, best, n * sizeof(*best));
	free(best);
}

static int layer_width(const struct order *o, uint32_t l)
{
	int w = 0;

	for (uint32_t i = o->start[l]; i < o->start[l + 1]; i++)
		w += slot_width(o->p, o->p->f->switches[o->at[i]]);
	return w;
}

/* Spread a layer over the whole width, each switch in the middle of its part. */
static void place_layer(struct order *o, uint32_t l, int total, int y)
{
	uint32_t n = o->start[l + 1] - o->start[l];
	int own = layer_width(o, l), x = 0;

	for (uint32_t i = 0; i < n; i++) {
		node_id sw = o->p->f->switches[o->at[o->start[l] + i]];
		int w = slot_width(o->p, sw);
		int before = (int)((int64_t)(total - own) * (2 * i + 1) / (2 * n));

		o->p->x[sw] = PIC_MARGIN + x + before + w / 2;
		o->p->y[sw] = y;
		x += w;
	}
}

static void place_layers(struct pic *p)
{
	struct order o;
	int total = 360, gap;

	order_init(&o, p);
	order_choose(&o);
	for (uint32_t l = 0; l < p->nlevels; l++)
		total = MAX(total, layer_width(&o, l));
	gap = MIN(MAX(total / 8, 100), 240);
	for (uint32_t l = 0; l < p->nlevels; l++)
		place_layer(&o, l, total, PIC_HEAD + 20 + (int)(p->nlevels - 1 - l) * gap);
	order_free(&o);
}

/* ---- hosts, and the size of the drawing ---- */

static void place_hosts(struct pic *p)
{
	const struct fab *f = p->f;
	uint32_t *next = mem_zarray(f->nnodes, sizeof(*next)), stray = 0;
	int bottom = PIC_HEAD;

	for (uint32_t s = 0; s < f->nswitches; s++)
		bottom = MAX(bottom, p->y[f->switches[s]] + PIC_BOX_H);
	for (node_id n = 0; n < f->nnodes; n++) {
		node_id sw = p->home[n];
		unsigned i, cols, row, used;

		if (fab_is_switch(f, n) || sw == FAB_NONE)
			continue;
		i = next[sw]++;
		cols = pic_host_cols(p->nhosts[sw]);
		row = i / cols;
		used = MIN(cols, p->nhosts[sw] - row * cols); /* the last row is centred */
		p->x[n] = p->x[sw] + ((int)(2 * (i % cols) + 1) - (int)used) * PIC_CELL / 2;
		p->y[n] = p->y[sw] + PIC_BOX_H / 2 + (p->layered ? 26 : 12) + (int)row * PIC_CELL;
		bottom = MAX(bottom, p->y[n]);
	}
	for (node_id n = 0; n < f->nnodes; n++) {
		if (fab_is_switch(f, n) || p->home[n] != FAB_NONE)
			continue;
		p->x[n] = PIC_MARGIN + 6 + (int)(stray % 40) * 2 * PIC_CELL;
		p->y[n] = bottom + 40 + (int)(stray++ / 40) * 2 * PIC_CELL;
	}
	free(next);
}

static void find_extent(struct pic *p)
{
	p->width = 420;
	p->height = PIC_HEAD + 20;
	for (node_id n = 0; n < p->f->nnodes; n++) {
		p->width = MAX(p->width, p->x[n] + p->half[n] + PIC_MARGIN + PIC_CELL);
		p->height = MAX(p->height, p->y[n] + PIC_BOX_H + PIC_MARGIN);
	}
}

void pic_layout(struct pic *p, const struct fab *f)
{
	*p = (struct pic){.f = f};
	p->x = mem_zarray(f->nnodes, sizeof(*p->x));
	p->y = mem_zarray(f->nnodes, sizeof(*p->y));
	p->half = mem_zarray(f->nnodes, sizeof(*p->half));
	p->home = mem_zarray(f->nnodes, sizeof(*p->home));
	p->nhosts = mem_zarray(f->nnodes, sizeof(*p->nhosts));
	p->level = mem_zarray(f->nnodes, sizeof(*p->level));
	p->first = mem_zarray((size_t)f->nswitches + 1, sizeof(*p->first));
	p->adj = mem_array((size_t)f->nlinks * 2, sizeof(*p->adj));
	find_homes(p);
	find_neighbours(p);
	find_levels(p);
	size_boxes(p);
	p->layered = looks_layered(p);
	if (p->layered)
		place_layers(p);
	else
		pic_spread(p);
	place_hosts(p);
	find_extent(p);
}

void pic_free(struct pic *p)
{
	free(p->x);
	free(p->y);
	free(p->half);
	free(p->home);
	free(p->nhosts);
	free(p->level);
	free(p->first);
	free(p->adj);
}
