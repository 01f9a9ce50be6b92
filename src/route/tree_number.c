/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Engine "tree": a number for each destination, and the digits of it that choose among ports. State: struct tree.
 * Ways in: tree_classes(), tree_number(). Chooses no port.
 *
 * Destinations of a class are numbered pod by pod, leaf by leaf. Digit l of a number is the number divided by the
 * product of the widths below level l; a switch of level l goes up to the neighbour in slot (digit l modulo its
 * width), as D-mod-K does. So hosts next to one another use different links at every level, up and down, and
 * all routes to one host come down the same way.
 *
 * Where the link at the end of that way is dead, the digit of this destination is another one, everywhere: it
 * shares the whole way of another host of its leaf instead of a part of many ways. It takes the least used.
 */
#include "route/tree.h"

/* ---- destinations ---- */

/* The LIDs of port id and of its VFs. */
static uint32_t dest_add(struct tree *t, uint32_t at, port_id id, unsigned port, uint8_t class)
{
	const struct fab_port *p = &t->f->ports[id];
	const struct fab_vlid *v;
	uint32_t nv = fab_vlids_of(t->f, id, &v), from = at;

	for (unsigned i = 0; p->lid && i < 1u << p->lmc; i++)
		t->dest[at++] = (struct tree_dest){.lid = (uint16_t)(p->lid + i),
						   .port = (uint8_t)port,
						   .class = class,
						   .number = i};
	for (uint32_t i = 0; i < nv; i++)
		t->dest[at++] = (struct tree_dest){.lid = v[i].lid,
						   .port = (uint8_t)port,
						   .class = class,
						   .number = (1u << p->lmc) - 1 + v[i].slot};
	if (at > from)
		t->dest[from].head = true;
	return at;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Hosts in node order, then the switch itself. */
static uint32_t dests_of(struct tree *t, uint32_t s, uint32_t at, const uint8_t *class)
{
	const struct fab *f = t->f;
	node_id sw = f->switches[s];
	port_id peers[256];
	unsigned n = 0;

	for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
		port_id peer = f->ports[fab_port_id(f, sw, p)].peer;

		if (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node))
			peers[n++] = peer;
	}
	qsort(peers, n, sizeof(*peers), by_number);
	for (unsigned i = 0; i < n; i++)
		at = dest_add(t, at, peers[i], f->ports[f->ports[peers[i]].peer].num,
			      class[peers[i]]);
	return dest_add(t, at, fab_port_id(f, sw, 0), 0, class[fab_port_id(f, sw, 0)]);
}

static void dests_make(struct tree *t, const uint8_t *class, uint32_t top_lid)
{
	uint32_t at = 0, next[256] = {0};

	t->dest_first = mem_array((size_t)t->n + 1, sizeof(*t->dest_first));
	t->dest = mem_array((size_t)top_lid + 1, sizeof(*t->dest));
	for (uint32_t s = 0; s < t->n; s++) {
		t->dest_first[s] = at;
		at = dests_of(t, s, at, class);
	}
	t->dest_first[t->n] = at;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->seq[i], base = 0;

		for (uint32_t d = t->dest_first[s]; d < t->dest_first[s + 1]; d++) {
			if (t->dest[d].head)
				base = next[t->dest[d].class]++;
			t->dest[d].number += base;
		}
	}
}

void tree_classes(const struct tree *t, const uint8_t *group, uint8_t *by_port)
{
	const struct fab *f = t->f;

	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_node *n = &f->nodes[f->ports[p].node];
		port_id peer = f->ports[p].peer;
		uint32_t s = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
		bool plain = n->type == IBA_NODE_CA && !(n->flags & FAB_SHARP_AN) &&
			     s != FAB_NONE && !t->level[s];

		by_port[p] = n->type == IBA_NODE_SWITCH ? TREE_SWITCH
			     : plain			? TREE_COMPUTE
							: TREE_SPECIAL;
		if (plain && group && group[p])
			by_port[p] = (uint8_t)(TREE_CLASSES + group[p] - 1);
	}
}

/* ---- digits ---- */

/* The width that most switches of a level have. */
static uint32_t usual_width(const struct tree *t, uint32_t level)
{
	uint32_t count[257] = {0}, best = 1;

	for (uint32_t s = 0; s < t->n; s++)
		if (t->level[s] == level)
			count[MIN(t->width[s], 256u)]++;
	for (uint32_t w = 1; w < ARRAY_LEN(count); w++)
		best = count[w] > count[best] ? w : best;
	return best;
}

/* The most parallel links that a switch of this level has to one upper neighbour. */
static uint32_t parallel_links(const struct tree *t, uint32_t level)
{
	uint32_t most = 1;

	for (uint32_t s = 0; s < t->n; s++)
		for (uint32_t g = t->first[s]; t->level[s] == level && g < t->first[s] + t->nup[s];
		     g++)
			most = MAX(most, t->group[g].nports);
	return most;
}

static uint32_t common_multiple(uint32_t a, uint32_t b)
{
	uint32_t x = a, y = b;

	while (y) {
		uint32_t r = x % y;

		x = y;
		y = r;
	}
	return a / x * b;
}

/* A digit is a byte, so it is reduced to a multiple of what it will be divided by. */
static void digits_make(struct tree *t, uint32_t top_lid)
{
	uint32_t below = 1, links = 1;

	for (uint32_t l = 0; l < t->nlevels; l++) {
		uint32_t w = usual_width(t, l), m = common_multiple(w, links);

		m = m <= 256 ? 256 / m * m : 256 / w * w;
		t->digit[l] = mem_zarray((size_t)top_lid + 1, 1);
		for (uint32_t d = 0; d < t->dest_first[t->n]; d++)
			t->digit[l][t->dest[d].lid] = (uint8_t)(t->dest[d].number / below % m);
		links = parallel_links(t, l);
		below = MIN(below * w, 1u << 20);
	}
}

/* ---- dead links at the destination's side ---- */

struct descent {
	struct tree *t;
	uint32_t
		*at; /* by destination: the switch of the current level on its way down; FAB_NONE */
	uint32_t *load; /* by group */
};

static uint32_t group_in_slot(const struct tree *t, uint32_t s, uint32_t slot)
{
	uint32_t first = t->first[s], n = t->nup[s];

	if (slot < n && t->group[first + slot].slot == slot)
		return first + slot;
	for (uint32_t g = first; g < first + n; g++)
		if (t->group[g].slot == slot)
			return g;
	return FAB_NONE;
}

/* The group with the fewest destinations for each of its links; of equals the next one after the slot. */
static uint32_t least_used(const struct descent *x, uint32_t s, uint32_t slot)
{
	const struct tree *t = x->t;
	uint32_t n = t->nup[s], best = FAB_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t g = t->first[s] + (slot + i) % n;

		if (best == FAB_NONE || (uint64_t)x->load[g] * t->group[best].nports <
						(uint64_t)x->load[best] * t->group[g].nports)
			best = g;
	}
	return best;
}

/* One step up from the destination for those whose nominal link is there, or for the others. */
static void step_up(struct descent *x, uint32_t l, uint8_t class, bool others)
{
	struct tree *t = x->t;

	for (uint32_t d = 0; d < t->dest_first[t->n]; d++) {
		uint32_t s = x->at[d], slot, g;
		uint8_t *digit = &t->digit[l][t->dest[d].lid];

		if (t->dest[d].class != class || s == FAB_NONE || t->level[s] != l || !t->nup[s])
			continue;
		slot = *digit % t->width[s];
		g = group_in_slot(t, s, slot);
		if ((g == FAB_NONE) != others)
			continue;
		if (others) {
			g = least_used(x, s, slot);
			*digit = (uint8_t)(*digit - slot + t->group[g].slot);
		}
		x->load[g]++;
		x->at[d] = t->group[g].sw;
	}
}

static void descents_make(struct tree *t)
{
	uint8_t classes = TREE_CLASSES;
	struct descent x = {.t = t,
			    .at = mem_array(t->dest_first[t->n], sizeof(*x.at)),
			    .load = mem_array(t->first[t->n], sizeof(*x.load))};

	for (uint32_t s = 0; s < t->n; s++)
		for (uint32_t d = t->dest_first[s]; d < t->dest_first[s + 1]; d++)
			x.at[d] = s;
	for (uint32_t d = 0; d < t->dest_first[t->n]; d++)
		classes = MAX(classes, (uint8_t)(t->dest[d].class + 1));
	for (uint8_t class = 0; class < classes; class ++) {
		memset(x.load, 0, t->first[t->n] * sizeof(*x.load));
		for (uint32_t l = 0; l + 1 < t->nlevels; l++) {
			step_up(&x, l, class, false);
			step_up(&x, l, class, true);
		}
	}
	free(x.at);
	free(x.load);
}

void tree_number(struct tree *t, const uint8_t *class_by_port, uint32_t top_lid)
{
	dests_make(t, class_by_port, top_lid);
	digits_make(t, top_lid);
	descents_make(t);
}
