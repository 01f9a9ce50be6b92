/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root of the up/down graph, by default the centre of the fabric. Keeps no state; the ways in are
 * rt_root_choose() and rt_root_centre(). Looks at links between switches only, and at every switch:
 * the answer is exact.
 *
 * 64 searches run side by side, one bit each. A switch is looked at once for each distance at which
 * any of them reaches it, which in shallow fabrics is a few times and not 64.
 */
#include "route/route_priv.h"

struct centre {
	const struct fab *f;
	uint32_t *first, *to; /* neighbours of switch s: to[first[s]] .. to[first[s + 1] - 1] */
	uint64_t *seen, *news,
		*due; /* by switch: searches that reached it before, just now, in the next round */
	uint32_t *list, *next; /* switches reached just now, in the next round */
	uint32_t *farthest;    /* by switch: links to the farthest it reaches */
	uint32_t *part;	       /* by switch: switches in its part of the fabric */
};

static void neighbours_make(struct centre *c)
{
	const struct fab *f = c->f;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id sw = f->switches[s];

		c->first[s] = n;
		for (unsigned p = 1; p <= f->nodes[sw].nports; p++) {
			port_id peer = f->ports[fab_port_id(f, sw, p)].peer;
			uint32_t v =
				peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

			if (v != FAB_NONE && v != s)
				c->to[n++] = v;
		}
	}
	c->first[f->nswitches] = n;
}

static void parts_measure(struct centre *c)
{
	for (uint32_t s = 0; s < c->f->nswitches; s++) {
		uint32_t head = 0, tail = 0;

		if (c->part[s])
			continue;
		c->part[s] = 1;
		c->list[tail++] = s;
		while (head < tail) {
			uint32_t v = c->list[head++];

			for (uint32_t a = c->first[v]; a < c->first[v + 1]; a++)
				if (!c->part[c->to[a]]) {
					c->part[c->to[a]] = 1;
					c->list[tail++] = c->to[a];
				}
		}
		for (uint32_t i = 0; i < tail; i++)
			c->part[c->list[i]] = tail;
	}
}

/* One link further; returns how many switches were reached. */
static uint32_t advance(struct centre *c, uint32_t nlist)
{
	uint32_t nnext = 0;

	for (uint32_t i = 0; i < nlist; i++) {
		uint32_t s = c->list[i];

		for (uint32_t a = c->first[s]; a < c->first[s + 1]; a++) {
			uint32_t v = c->to[a];
			uint64_t bits = c->news[s] & ~c->seen[v];

			if (bits && !c->due[v])
				c->next[nnext++] = v;
			c->due[v] |= bits;
		}
	}
	return nnext;
}

static void measure(struct centre *c, uint32_t s0, uint32_t ns)
{
	uint32_t nlist = 0;

	memset(c->seen, 0, c->f->nswitches * sizeof(*c->seen));
	for (uint32_t i = 0; i < ns; i++) {
		c->seen[s0 + i] = c->news[s0 + i] = 1ull << i;
		c->list[nlist++] = s0 + i;
	}
	for (uint32_t links = 0; nlist; links++) {
		uint64_t any = 0;
		uint32_t *done = c->list;

		for (uint32_t i = 0; i < nlist; i++)
			any |= c->news[c->list[i]];
		for (; any; any &= any - 1)
			c->farthest[s0 + (unsigned)__builtin_ctzll(any)] = links;
		nlist = advance(c, nlist);
		c->list = c->next;
		c->next = done;
		for (uint32_t i = 0; i < nlist; i++) {
			uint32_t v = c->list[i];

			c->seen[v] |= c->due[v];
			c->news[v] = c->due[v];
			c->due[v] = 0;
		}
	}
}

/* A switch of a larger part of the fabric comes before one of a smaller part. */
static bool nearer(const struct centre *c, uint32_t a, uint32_t b)
{
	const struct fab *f = c->f;

	if (c->part[a] != c->part[b])
		return c->part[a] > c->part[b];
	if (c->farthest[a] != c->farthest[b])
		return c->farthest[a] < c->farthest[b];
	return f->nodes[f->switches[a]].guid < f->nodes[f->switches[b]].guid;
}

node_id rt_root_centre(const struct fab *f)
{
	uint32_t n = f->nswitches, best = 0;
	struct centre c = {.f = f,
			   .first = mem_array((size_t)n + 1, sizeof(*c.first)),
			   .to = mem_array((size_t)f->nlinks * 2, sizeof(*c.to)),
			   .seen = mem_zarray(n, sizeof(*c.seen)),
			   .news = mem_zarray(n, sizeof(*c.news)),
			   .due = mem_zarray(n, sizeof(*c.due)),
			   .list = mem_array(n, sizeof(*c.list)),
			   .next = mem_array(n, sizeof(*c.next)),
			   .farthest = mem_zarray(n, sizeof(*c.farthest)),
			   .part = mem_zarray(n, sizeof(*c.part))};

	neighbours_make(&c);
	parts_measure(&c);
	for (uint32_t s = 0; s < n; s += 64)
		measure(&c, s, MIN(64u, n - s));
	for (uint32_t s = 1; s < n; s++)
		if (nearer(&c, s, best))
			best = s;
	free(c.first);
	free(c.to);
	free(c.seen);
	free(c.news);
	free(c.due);
	free(c.list);
	free(c.next);
	free(c.farthest);
	free(c.part);
	return n ? f->switches[best] : FAB_NONE;
}

node_id rt_root_choose(const struct fab *f, const uint64_t *guids, size_t n, node_id otherwise)
{
	for (size_t i = 0; guids && i < n && guids[i]; i++) {
		node_id root = fab_node_by_guid(f, guids[i]);

		if (root != FAB_NONE)
			return root;
	}
	return otherwise == FAB_NONE ? rt_root_centre(f) : otherwise;
}
