/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Up/down ranks that outlive a change. State: struct keep, for one call; the ways in are
 * rt_updown_rank_keep() and rt_updown_rank_carry(). Chooses no root and computes no routes.
 *
 * An order of the switches is an acyclic direction of the links; it has one sink when every switch but
 * the root has a neighbour before it. So the old order is read out again, always the first switch that
 * has a neighbour among those already read: if no link is missing, that is the old order. A switch that
 * lost its upper neighbours waits for the first neighbour that is reached some other way and follows
 * right behind it, with all switches below: only the links of that one path change direction.
 */
#include "route/route_priv.h"

struct place {
	uint64_t key, tie;
	uint32_t sw;
};

struct keep {
	const struct fab *f;
	const uint64_t *old;
	uint64_t *fresh;     /* ranks of a new graph */
	struct place *place; /* the wanted order */
	uint32_t *pos;	     /* by switch: its index in place[] */
	uint32_t *known;     /* by switch: number of previously known switches before it */
	uint32_t *heap, nheap;
	bool *met;
};

static bool is_known(const struct keep *k, uint32_t s)
{
	return k->old[s] != UINT64_MAX;
}

/* The switch behind a port, FAB_NONE for none and for a cable back to the switch itself. */
static uint32_t behind(const struct fab *f, uint32_t s, unsigned port)
{
	port_id peer = f->ports[fab_port_id(f, f->switches[s], port)].peer;
	uint32_t v = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

	return v == s ? FAB_NONE : v;
}

static unsigned ports_of(const struct fab *f, uint32_t s)
{
	return f->nodes[f->switches[s]].nports;
}

static int place_cmp(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->tie != y->tie)
		return x->tie < y->tie ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* ---- where new switches come in ---- */

/* Links of new switch x that would differ in direction from a new graph, if x came behind `slot`
 * of the previously known switches. New switches in one slot keep the order of the new graph. */
static uint32_t disagreements(const struct keep *k, uint32_t x, uint32_t slot)
{
	uint32_t n = 0;

	for (unsigned p = 1; p <= ports_of(k->f, x); p++) {
		uint32_t v = behind(k->f, x, p);

		if (v == FAB_NONE)
			continue;
		if (is_known(k, v))
			n += (k->fresh[v] < k->fresh[x]) != (k->known[v] < slot);
		else if (k->fresh[v] < k->fresh[x]) /* has its slot already */
			n += slot < k->known[v];
	}
	return n;
}

static uint32_t slot_choose(const struct keep *k, uint32_t x, uint32_t ideal)
{
	uint32_t best = ideal, cost = disagreements(k, x, ideal), far = 0;

	for (unsigned p = 1; cost && p <= ports_of(k->f, x); p++) {
		uint32_t v = behind(k->f, x, p), slot, c, d;

		if (v == FAB_NONE || (!is_known(k, v) && k->fresh[v] > k->fresh[x]))
			continue;
		slot = k->known[v] + (is_known(k, v) && k->fresh[v] < k->fresh[x]);
		c = disagreements(k, x, slot);
		d = slot > ideal ? slot - ideal : ideal - slot;
		if (c < cost || (c == cost && (d < far || (d == far && slot < best)))) {
			best = slot;
			cost = c;
			far = d;
		}
	}
	return best;
}

/* Known switches keep their order; new ones, in the order of a new graph, come where they agree
 * with it best. */
static void wanted_order(struct keep *k)
{
	uint32_t n = k->f->nswitches, nknown = 0, seen = 0;

	for (uint32_t s = 0; s < n; s++)
		k->place[s] = (struct place){k->old[s], k->fresh[s], s};
	qsort(k->place, n, sizeof(*k->place), place_cmp);
	for (uint32_t i = 0; i < n && is_known(k, k->place[i].sw); i++)
		k->known[k->place[i].sw] = nknown++;
	for (uint32_t s = 0; s < n; s++)
		k->place[s] = (struct place){k->fresh[s], 0, s};
	qsort(k->place, n, sizeof(*k->place), place_cmp);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = k->place[i].sw;

		if (is_known(k, s))
			seen++;
		else
			k->known[s] = slot_choose(k, s, seen);
	}
	for (uint32_t s = 0; s < n; s++)
		k->place[s] = (struct place){2ull * k->known[s] + is_known(k, s), k->fresh[s], s};
	qsort(k->place, n, sizeof(*k->place), place_cmp);
	for (uint32_t i = 0; i < n; i++)
		k->pos[k->place[i].sw] = i;
}

/* ---- reading the order out ---- */

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t x = *a;

	*a = *b;
	*b = x;
}

static void heap_push(struct keep *k, uint32_t pos)
{
	uint32_t i = k->nheap++;

	k->heap[i] = pos;
	for (; i && k->heap[i] < k->heap[(i - 1) / 2]; i = (i - 1) / 2)
		swap(&k->heap[i], &k->heap[(i - 1) / 2]);
}

static uint32_t heap_pop(struct keep *k)
{
	uint32_t top = k->heap[0], i = 0, c;

	k->heap[0] = k->heap[--k->nheap];
	while ((c = 2 * i + 1) < k->nheap) {
		c += c + 1 < k->nheap && k->heap[c + 1] < k->heap[c];
		if (k->heap[i] <= k->heap[c])
			break;
		swap(&k->heap[i], &k->heap[c]);
		i = c;
	}
	return top;
}

/* Mark the part of the fabric that s is in. */
static void part_mark(struct keep *k, uint32_t s, bool *marked)
{
	uint32_t *queue = k->heap + k->nheap, head = 0, tail = 0;

	marked[s] = true;
	queue[tail++] = s;
	while (head < tail) {
		uint32_t x = queue[head++];

		for (unsigned p = 1; p <= ports_of(k->f, x); p++) {
			uint32_t v = behind(k->f, x, p);

			if (v != FAB_NONE && !marked[v]) {
				marked[v] = true;
				queue[tail++] = v;
			}
		}
	}
}

/* The sinks: the root, and in every part without it the first of the order. */
static void sinks_push(struct keep *k, uint32_t root)
{
	uint32_t n = k->f->nswitches;
	bool *marked = mem_zarray(n, sizeof(*marked));

	for (uint32_t i = 0; i <= n; i++) {
		uint32_t s = i ? k->place[i - 1].sw : root;

		if (marked[s])
			continue;
		part_mark(k, s, marked);
		heap_push(k, k->pos[s]);
		k->met[s] = true;
	}
	free(marked);
}

static void read_out(struct keep *k, uint64_t *rank)
{
	uint64_t next = 0;

	while (k->nheap) {
		uint32_t s = k->place[heap_pop(k)].sw;

		rank[s] = next++;
		for (unsigned p = 1; p <= ports_of(k->f, s); p++) {
			uint32_t v = behind(k->f, s, p);

			if (v != FAB_NONE && !k->met[v]) {
				k->met[v] = true;
				heap_push(k, k->pos[v]);
			}
		}
	}
}

static uint32_t turned(const struct keep *k, const uint64_t *rank)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < k->f->nswitches; s++)
		for (unsigned p = 1; is_known(k, s) && p <= ports_of(k->f, s); p++) {
			uint32_t v = behind(k->f, s, p);

			if (v != FAB_NONE && is_known(k, v) && k->known[s] < k->known[v])
				n += rank[s] > rank[v];
		}
	return n;
}

uint32_t rt_updown_rank_keep(const struct fab *f, node_id root, const uint64_t *old, uint64_t *rank)
{
	uint32_t n = f->nswitches, sink = 0, links;
	struct keep k = {.f = f, .old = old};

	if (!n)
		return 0;
	k.fresh = mem_array(n, sizeof(*k.fresh));
	k.place = mem_array(n, sizeof(*k.place));
	k.pos = mem_array(n, sizeof(*k.pos));
	k.known = mem_array(n, sizeof(*k.known));
	k.heap = mem_array(2 * (size_t)n, sizeof(*k.heap)); /* part_mark() queues behind it */
	k.met = mem_zarray(n, sizeof(*k.met));
	rt_updown_rank(f, root, k.fresh);
	for (uint32_t s = 1; s < n; s++) /* no switch ranks before the root */
		sink = k.fresh[s] < k.fresh[sink] ? s : sink;
	rt_updown_rank_parts(f, root, k.fresh);
	wanted_order(&k);
	sinks_push(&k, sink);
	read_out(&k, rank);
	links = turned(&k, rank);
	free(k.fresh);
	free(k.place);
	free(k.pos);
	free(k.known);
	free(k.heap);
	free(k.met);
	return links;
}

void rt_updown_rank_carry(const struct fab *from, const uint64_t *rank, const struct fab *to,
			  uint64_t *old)
{
	for (uint32_t s = 0; s < to->nswitches; s++) {
		node_id n = fab_node_by_guid(from, to->nodes[to->switches[s]].guid);
		bool known = n != FAB_NONE && fab_is_switch(from, n);

		old[s] = known ? rank[from->switch_index[n]] : UINT64_MAX;
	}
}
