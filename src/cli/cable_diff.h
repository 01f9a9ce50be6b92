/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What became of cables, from the links that one snapshot lacks and the other has: swapped, moved; and links that are slower.
 */
#ifndef WEFT_CLI_CABLE_DIFF_H
#define WEFT_CLI_CABLE_DIFF_H

#include "fabric/fabric.h"

struct cable_end {
	uint64_t guid;
	uint8_t port;
};

struct cable {
	struct cable_end a, b;
};

enum cable_fate {
	CABLE_SWAPPED, /* was[0] and was[1] exchanged one end each: now[0] and now[1] */
	CABLE_MOVED,   /* one end of was[0] is plugged elsewhere: now[0] */
	CABLE_SLOWER,  /* was[0] is there: text has both rates */
	CABLE_FASTER,
};

struct cable_item {
	enum cable_fate fate;
	struct cable was[2], now[2];
	char text[48];
};
typedef VEC(struct cable_item) cable_list;

/* Takes the links that it explains out of diff. In the order of diff, then slower and faster links in the order of nodes. */
void cable_diff(const struct fab *before, const struct fab *after, fab_diff_list *diff,
		cable_list *out);

#endif
