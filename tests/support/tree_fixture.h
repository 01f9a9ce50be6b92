/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fat trees for tests: parallel-port generalised fat trees (PGFT) of any shape, with extra endpoints and links, made
 * into fabrics with dead links and switches and with nodes, GUIDs and ports in any order. The level of each switch is
 * known here, so that a test need not ask the code it tests.
 */
#ifndef WEFT_TEST_TREE_FIXTURE_H
#define WEFT_TEST_TREE_FIXTURE_H

#include "table_fixture.h"

struct pgft {
	unsigned levels;   /* of switches */
	unsigned down[6];  /* neighbours below a switch of each level; of a leaf: hosts */
	unsigned up[6];	   /* neighbours above */
	unsigned links[6]; /* to each of them */
};

struct forest_link {
	uint32_t low, high;
	bool dead;
};

struct forest_host {
	uint32_t sw, sw2; /* sw2: of its second port; FAB_NONE */
	uint8_t type, flags;
	bool extra; /* not one of the tree's own hosts */
};

struct forest {
	uint32_t n;
	uint8_t level[4096];
	bool dead[4096];
	VEC(struct forest_link) links;
	VEC(struct forest_host) hosts;
};

/* Switches of level l: as many as combinations of children above it and of parents up to it. */
static inline uint32_t pgft_count(const struct pgft *g, unsigned l, uint32_t *ways)
{
	uint32_t n = 1;

	*ways = 1;
	for (unsigned i = l + 1; i < g->levels; i++)
		n *= g->down[i];
	for (unsigned i = 0; i < l; i++)
		*ways *= g->up[i];
	return n * *ways;
}

/* Adds one tree; the number of its first switch. */
static inline uint32_t forest_add(struct forest *x, const struct pgft *g)
{
	uint32_t base = x->n, at = base, ways, above;

	for (unsigned l = 0; l < g->levels; l++) {
		uint32_t n = pgft_count(g, l, &ways), next = at + n;

		assert_true(next <= ARRAY_LEN(x->level));
		for (uint32_t i = 0; i < n; i++) {
			x->level[at + i] = (uint8_t)l;
			for (unsigned h = 0; !l && h < g->down[0]; h++)
				vec_push(&x->hosts, (struct forest_host){at + i, FAB_NONE,
									 IBA_NODE_CA, 0, false});
			for (unsigned u = 0; l + 1 < g->levels && u < g->up[l]; u++) {
				pgft_count(g, l + 1, &above);
				for (unsigned k = 0; k < g->links[l]; k++)
					vec_push(&x->links,
						 (struct forest_link){
							 at + i,
							 next + i / ways / g->down[l + 1] * above +
								 i % ways + u * ways,
							 false});
			}
		}
		at = next;
	}
	x->n = at;
	return base;
}

static inline void forest_free(struct forest *x)
{
	vec_free(&x->links);
	vec_free(&x->hosts);
}

static inline void forest_shuffle(uint32_t *a, uint32_t n, struct rng *r)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = rng_below(r, i), x = a[i - 1];

		a[i - 1] = a[j];
		a[j] = x;
	}
}

/* Ports of a switch that are still free, in the order in which they are used. */
struct forest_ports {
	uint32_t at[64], next;
};

static inline unsigned forest_port(struct forest_ports *p)
{
	assert_true(p->next < ARRAY_LEN(p->at));
	return p->at[p->next++];
}

/* A fabric; GUIDs of switches are 0x1000 + their number here where seed is 0. With a seed switches, GUIDs and ports
 * are in an order of its own; hosts are always in the order of the forest. of[]: by switch of the fabric, its number. */
static inline struct fab *forest_fab(const struct forest *x, uint64_t seed, uint32_t *of)
{
	struct fab_builder *b = fab_builder_new();
	struct forest_ports *ports = mem_zarray(x->n, sizeof(*ports));
	uint32_t *order = mem_array(x->n, sizeof(*order)), *guid = mem_array(x->n, sizeof(*guid)),
		 nsw = 0;
	node_id *node = mem_array(x->n, sizeof(*node));
	struct rng r;

	rng_seed(&r, seed, 7);
	for (uint32_t s = 0; s < x->n; s++) {
		order[s] = guid[s] = s;
		for (uint32_t p = 0; p < 64; p++)
			ports[s].at[p] = p + 1;
		if (seed)
			forest_shuffle(ports[s].at, 64, &r);
	}
	if (seed) {
		forest_shuffle(order, x->n, &r);
		forest_shuffle(guid, x->n, &r);
	}
	for (uint32_t i = 0; i < x->n; i++)
		if (!x->dead[order[i]]) {
			node[order[i]] = fab_add_node(b, IBA_NODE_SWITCH, 0x1000 + guid[order[i]],
						      64, "switch");
			of[nsw++] = order[i];
		}
	for (size_t i = 0; i < x->hosts.n; i++) {
		const struct forest_host *h = &x->hosts.at[i];
		bool two = h->sw2 != FAB_NONE;
		node_id n;

		if (x->dead[h->sw])
			continue;
		n = fab_add_node(b, h->type, 0x100000 + 16 * i, two ? 2 : 1, "host");
		fab_builder_node(b, n)->flags = h->flags;
		fab_builder_port(b, n, 1)->guid = 0x100001 + 16 * i;
		link_up(b, n, 1, node[h->sw], forest_port(&ports[h->sw]));
		if (two && !x->dead[h->sw2]) {
			fab_builder_port(b, n, 2)->guid = 0x100002 + 16 * i;
			link_up(b, n, 2, node[h->sw2], forest_port(&ports[h->sw2]));
		}
	}
	for (size_t i = 0; i < x->links.n; i++) {
		const struct forest_link *l = &x->links.at[i];
		unsigned low = forest_port(&ports[l->low]), high = forest_port(&ports[l->high]);

		if (!l->dead && !x->dead[l->low] && !x->dead[l->high])
			link_up(b, node[l->low], low, node[l->high], high);
	}
	free(ports);
	free(order);
	free(guid);
	free(node);
	return with_lids(fab_build(b), 0);
}

#endif
