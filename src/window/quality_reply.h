/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How good forwarding tables are, as members of a reply to a page: shares that traffic patterns get (route/quality.h), and the
 * worst links. For the engine, and for the view of a live subnet. Bounded in time: of a large fabric fewer patterns are
 * measured.
 */
#ifndef WEFT_QUALITY_REPLY_H
#define WEFT_QUALITY_REPLY_H

#include "base/json.h"
#include "fabric/fabric.h"

enum {
	QUALITY_FLOWS = 1000000, /* of a kind of patterns, at most */
	QUALITY_PATTERNS = 200,	 /* the same */
	QUALITY_ALL = 1024,	 /* up to so many hosts all patterns are measured */
	QUALITY_WORST = 40,	 /* links in the reply */
};

/* Output ports by switch and LID; 255: none. Switches in the order of the fabric. */
struct quality_tables {
	const uint8_t *out;
	size_t stride; /* bytes of a row */
	uint32_t nswitches, top_lid;
};

/* The number of a port's link on the page, and the node's; UINT32_MAX: none. */
struct quality_places {
	uint32_t (*link)(void *ctx, port_id p);
	uint32_t (*node)(void *ctx, node_id n);
	void *ctx;
};

/* -EINVAL with e filled: there is nothing to measure. Members are added after success only. */
int quality_reply(const struct fab *f, const struct quality_tables *t,
		  const struct quality_places *where, struct json *reply, struct err *e);

#endif
