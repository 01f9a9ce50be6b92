/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small fabrics with LIDs, FERa's tables for them, and the verifier's report, for tests of routes.
 */
#ifndef WEFT_TEST_TABLE_FIXTURE_H
#define WEFT_TEST_TABLE_FIXTURE_H

#include "unit_test.h"

#include "base/rng.h"
#include "route/route.h"

/* ---- fabrics ---- */

static inline struct fab *with_lids(struct fab *f, unsigned lmc)
{
	struct err e;
	struct fab *g = fab_assign_lids(f, lmc, &e);

	assert_non_null(g);
	fab_free(f);
	return g;
}

static inline struct fab *make(struct fab_gen g)
{
	struct err e;
	struct fab *f;

	while (g.ndims < ARRAY_LEN(g.dims) && g.dims[g.ndims])
		g.ndims++;
	f = fab_generate(&g, &e);
	if (!f)
		fail_msg("%s", e.text);
	return with_lids(f, 0);
}

static inline struct fab *ring(unsigned n)
{
	return make((struct fab_gen){.kind = "ring", .dims = {n}});
}

static inline node_id add_switch(struct fab_builder *b, uint64_t guid, unsigned nports)
{
	return fab_add_node(b, IBA_NODE_SWITCH, guid, nports, "switch");
}

/* A host whose only port is connected to a switch. */
static inline node_id add_host(struct fab_builder *b, uint64_t guid, node_id sw, unsigned port)
{
	node_id h = fab_add_node(b, IBA_NODE_CA, guid, 1, "host");

	fab_builder_port(b, h, 1)->guid = guid + 1;
	assert_int_equal(fab_add_link(b, h, 1, sw, port), 0);
	return h;
}

static inline void link_up(struct fab_builder *b, node_id x, unsigned px, node_id y, unsigned py)
{
	assert_int_equal(fab_add_link(b, x, px, y, py), 0);
}

/* Switches 0x10, 0x11, ... in a line over ports 1 and 2, one host each on port 3. */
static inline struct fab *line(unsigned n)
{
	struct fab_builder *b = fab_builder_new();

	for (unsigned i = 0; i < n; i++)
		add_switch(b, 0x10 + i, 3);
	for (unsigned i = 0; i + 1 < n; i++)
		link_up(b, i, 2, i + 1, 1);
	for (unsigned i = 0; i < n; i++)
		add_host(b, 0x100 + 0x10 * i, i, 3);
	return with_lids(fab_build(b), 0);
}

static inline uint32_t lid_of(const struct fab *f, node_id n)
{
	return f->ports[fab_port_id(f, n, fab_is_switch(f, n) ? 0 : 1)].lid;
}

static inline port_id peer_of(const struct fab *f, uint32_t sw, unsigned port)
{
	return f->ports[fab_port_id(f, f->switches[sw], port)].peer;
}

static inline uint32_t peer_switch(const struct fab *f, uint32_t sw, unsigned port)
{
	port_id p = peer_of(f, sw, port);

	return p == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[p].node];
}

static inline struct fab *two_switches(unsigned links, unsigned hosts)
{
	struct fab_builder *b = fab_builder_new();

	add_switch(b, 1, links + hosts);
	add_switch(b, 2, links + hosts);
	for (unsigned i = 1; i <= links; i++)
		link_up(b, 0, i, 1, links + 1 - i);
	for (unsigned i = 0; i < 2 * hosts; i++)
		add_host(b, 0x100 + 2 * i, i % 2, links + 1 + i / 2);
	return fab_build(b);
}

/* ---- running ---- */

static inline struct rt_tables *fera(const struct fab *f, node_id root, unsigned threads)
{
	struct rt_opts o = {.root = root, .threads = threads};
	struct rt_tables *t;
	struct err e;

	if (rt_compute(&rt_fera, f, &o, &t, &e))
		fail_msg("%s", e.text);
	return t;
}

static inline struct rt_report verify(const struct fab *f, const struct rt_tables *t,
				      struct rt_verify_opts o)
{
	struct rt_report r;
	struct err e;

	if (rt_verify(f, t, &o, &r, &e))
		fail_msg("%s", e.text);
	return r;
}

static inline uint64_t *ranks(const struct fab *f, node_id root)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));

	rt_updown_rank(f, root, rank);
	return rank;
}

static inline void expect_problem(const struct rt_report *r, const char *text)
{
	for (uint32_t i = 0; i < r->nproblems; i++)
		if (strstr(r->problem[i], text))
			return;
	for (uint32_t i = 0; i < r->nproblems; i++)
		print_error("problem: %s\n", r->problem[i]);
	fail_msg("no problem says '%s'", text);
}

#endif
