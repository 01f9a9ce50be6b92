/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thesis's example of 8 switches and 7 hosts (Fig. 76) with the LIDs of its tables, and lines
 * of numbers from the tables themselves. Include after cmocka.h.
 */
#ifndef WEFT_GOLDEN_EXAMPLE15_H
#define WEFT_GOLDEN_EXAMPLE15_H

#include "fabric/fabric.h"

/* The netlist's node descriptions are the LIDs of the tables: "lid 5". */
static inline struct fab *example15_load(const char *dir)
{
	char path[4096];
	struct fab_netlist n = {0};
	struct fab_builder *b;
	struct err e;

	snprintf(path, sizeof(path), "%s/example15-routing.net", dir);
	if (fab_netlist_load(&n, path, &e))
		fail_msg("%s", e.text);
	b = fab_builder_from(n.fab);
	for (node_id i = 0; i < n.fab->nnodes; i++) {
		unsigned lid;

		assert_int_equal(sscanf(fab_node_name(n.fab, i), "lid %u", &lid), 1);
		fab_builder_port(b, i, fab_is_switch(n.fab, i) ? 0 : 1)->lid = (uint16_t)lid;
	}
	fab_netlist_free(&n);
	return fab_build(b);
}

static inline FILE *table_open(const char *dir, const char *name)
{
	char path[4096], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f)); /* the head */
	return f;
}

/* The next line's n numbers, n up to 4; closes the file after the last line. */
static inline bool table_next(FILE *f, unsigned n, unsigned v[4])
{
	char line[128];

	if (!fgets(line, sizeof(line), f)) {
		fclose(f);
		return false;
	}
	assert_int_equal(sscanf(line, "%u,%u,%u,%u", &v[0], &v[1], &v[2], &v[3]), n);
	return true;
}

#endif
