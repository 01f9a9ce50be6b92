/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabrics for tests: generated ones, and one with all special cases at once.
 */
#ifndef WEFT_TEST_FABRIC_FIXTURE_H
#define WEFT_TEST_FABRIC_FIXTURE_H

#include "unit_test.h"

#include "fabric/fabric.h"

#define GEN(k, ...)                                                                                \
	((struct fab_gen){.kind = (k),                                                             \
			  .dims = {__VA_ARGS__},                                                   \
			  .ndims = sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned)})

static inline struct fab *fabric_make(struct fab_gen g)
{
	struct err e = {""};
	struct fab *f = fab_generate(&g, &e);

	if (!f)
		fail_msg("%s: %s", g.kind, e.text);
	return f;
}

/* Two rings with a host between them (it does not forward), a router, a switch cabled to itself and two
 * nodes without links; names that need escaping. */
static inline struct fab *fabric_odd(void)
{
	struct fab_builder *b = fab_builder_new();
	node_id host, router;

	for (unsigned i = 0; i < 8; i++)
		fab_add_node(b, IBA_NODE_SWITCH, 0x10 + i, 5, i ? "a<b>&\"c'\\\xc3\xa9\xe9\n" : "");
	host = fab_add_node(b, IBA_NODE_CA, 0x20, 2, "between");
	router = fab_add_node(b, IBA_NODE_ROUTER, 0x21, 2, "way out");
	fab_add_node(b, IBA_NODE_CA, 0x22, 1, "alone");
	fab_add_node(b, IBA_NODE_SWITCH, 0x23, 4, "alone too");
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(fab_add_link(b, i, 1, (i + 1) % 4, 2), 0);
		assert_int_equal(fab_add_link(b, 4 + i, 1, 4 + (i + 1) % 4, 2), 0);
	}
	assert_int_equal(fab_add_link(b, 0, 3, host, 1), 0);
	assert_int_equal(fab_add_link(b, 4, 3, host, 2), 0);
	assert_int_equal(fab_add_link(b, 5, 3, router, 1), 0);
	assert_int_equal(fab_add_link(b, 6, 4, 6, 5), 0); /* a cable from a switch to itself */
	fab_builder_port(b, 0, 0)->lid = 7;
	return fab_build(b);
}

#endif
