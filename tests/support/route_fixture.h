/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabrics that change, for tests of routes: a whole fabric with LIDs, parts of which are down. LIDs and GUIDs
 * stay; node and switch numbers change, as they do for a manager.
 */
#ifndef WEFT_TEST_ROUTE_FIXTURE_H
#define WEFT_TEST_ROUTE_FIXTURE_H

#include "unit_test.h"

#include "base/rng.h"
#include "route/route.h"

static inline struct fab *world_lids(struct fab *f, unsigned lmc)
{
	struct err e;
	struct fab *g = fab_assign_lids(f, lmc, &e);

	assert_non_null(g);
	fab_free(f);
	return g;
}

static inline struct fab *world_make(struct fab_gen g)
{
	struct err e;
	struct fab *f;

	while (g.ndims < ARRAY_LEN(g.dims) && g.dims[g.ndims])
		g.ndims++;
	f = fab_generate(&g, &e);
	if (!f)
		fail_msg("%s", e.text);
	return world_lids(f, 0);
}

/* Each host with one port becomes an HCA in vSwitch mode whose VFs have LIDs. */
static inline struct fab *world_vfs(struct fab *f, unsigned vfs)
{
	struct fab_builder *b = fab_builder_from(f);
	struct fab *bare, *g;
	struct err e;

	for (node_id n = 0; n < f->nnodes; n++)
		if (f->nodes[n].type == IBA_NODE_CA && f->nodes[n].nports == 1) {
			fab_builder_node(b, n)->sriov = FAB_SRIOV_VSWITCH;
			fab_builder_node(b, n)->vfs = (uint8_t)vfs;
		}
	bare = fab_build(b);
	g = fab_assign_vf_lids(bare, 0, &e);
	if (!g)
		fail_msg("%s", e.text);
	fab_free(f);
	fab_free(bare);
	return g;
}

/* Switches with GUIDs from 1, a host on the last port of each, links {switch, port, switch, port}
 * with switches counted from 0. */
static inline struct fab *world_links(unsigned n, unsigned nports, const uint8_t (*link)[4],
				      size_t nlinks)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 1 + i, nports, "switch");
	for (unsigned i = 0; i < n; i++) {
		node_id h = fab_add_node(b, IBA_NODE_CA, 0x100 + 2 * i, 1, "host");

		fab_builder_port(b, h, 1)->guid = 0x101 + 2 * i;
		assert_int_equal(fab_add_link(b, h, 1, i, nports), 0);
	}
	for (size_t i = 0; i < nlinks; i++)
		assert_int_equal(fab_add_link(b, link[i][0], link[i][1], link[i][2], link[i][3]),
				 0);
	return world_lids(fab_build(b), 0);
}

/* Nodes, and ports at either end of a link, that are down. */
struct world_down {
	bool *node, *port;
};

static inline struct world_down world_down_new(const struct fab *f)
{
	return (struct world_down){mem_zarray(f->nnodes, sizeof(bool)),
				   mem_zarray(f->nports, sizeof(bool))};
}

static inline void world_down_free(struct world_down *d)
{
	free(d->node);
	free(d->port);
}

/* The fabric without nodes and links that are down. */
static inline struct fab *world_now(const struct fab *f, const struct world_down *d)
{
	struct fab_builder *b = fab_builder_new();
	node_id *at = mem_array(f->nnodes, sizeof(*at));

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *x = &f->nodes[n];

		at[n] = FAB_NONE;
		if (d->node[n])
			continue;
		at[n] = fab_add_node(b, x->type, x->guid, x->nports, fab_node_name(f, n));
		fab_builder_node(b, at[n])->sriov = x->sriov;
		fab_builder_node(b, at[n])->vfs = x->vfs;
		for (unsigned p = 0; p <= x->nports; p++) {
			const struct fab_port *from = &f->ports[fab_port_id(f, n, p)];
			struct fab_port *to = fab_builder_port(b, at[n], p);

			to->guid = from->guid;
			to->lid = from->lid;
			to->lmc = from->lmc;
		}
	}
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p], *y;

		if (x->peer == FAB_NONE || x->peer < p || d->port[p] || d->port[x->peer])
			continue;
		y = &f->ports[x->peer];
		if (at[x->node] != FAB_NONE && at[y->node] != FAB_NONE)
			assert_int_equal(fab_add_link(b, at[x->node], x->num, at[y->node], y->num),
					 0);
	}
	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];
		node_id n = at[f->ports[v->port].node];

		if (n != FAB_NONE)
			fab_add_vlid(b, n, v->slot, v->lid, v->guid);
	}
	free(at);
	return fab_build(b);
}

/* Two VFs change their LIDs, as when a virtual machine moves. */
static inline void world_swap(struct fab *f, struct rng *r)
{
	struct fab_vlid *a, *b;
	uint16_t lid;

	if (!f->nvlids)
		return;
	a = &f->vlids[rng_below(r, f->nvlids)];
	b = &f->vlids[rng_below(r, f->nvlids)];
	lid = a->lid;
	a->lid = b->lid;
	b->lid = lid;
}

/* A random switch, host or link goes down, or comes up again. */
static inline void world_change(const struct fab *f, struct world_down *d, struct rng *r)
{
	if (rng_below(r, 2)) {
		node_id n = rng_below(r, f->nnodes);

		d->node[n] = !d->node[n];
	} else {
		port_id p = rng_below(r, f->nports);

		while (f->ports[p].peer == FAB_NONE || !fab_is_switch(f, f->ports[p].node))
			p = (p + 1) % f->nports;
		d->port[p] = !d->port[p];
	}
}

/* ---- lookups ---- */

static inline uint32_t world_peer(const struct fab *f, uint32_t sw, unsigned port)
{
	node_id n = f->switches[sw];
	port_id p = port <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, port)].peer : FAB_NONE;

	return p == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[p].node];
}

static inline unsigned world_ports(const struct fab *f, uint32_t sw)
{
	return f->nodes[f->switches[sw]].nports;
}

static inline struct rt_tables *world_fera(const struct fab *f, const uint64_t *rank)
{
	struct rt_opts o = {.root = FAB_NONE, .rank = rank};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_fera, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static inline struct rt_report world_verify(const struct fab *f, const struct rt_tables *t,
					    struct rt_verify_opts o)
{
	struct rt_report r;
	struct err e;

	if (rt_verify(f, t, &o, &r, &e))
		fail_msg("%s", e.text);
	return r;
}

#endif
