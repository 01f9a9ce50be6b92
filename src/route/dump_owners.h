/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a GUID and a name in a dump mean: a port of the fabric, or a function of an HCA with SR-IOV.
 */
#ifndef WEFT_ROUTE_DUMP_OWNERS_H
#define WEFT_ROUTE_DUMP_OWNERS_H

#include "route/dump_lines.h"

enum { DUMP_PORT_ITSELF = UINT8_MAX };

struct dump_owner {
	port_id port; /* FAB_NONE: the fabric does not have it */
	uint8_t slot; /* of the function; DUMP_PORT_ITSELF for the port */
};

struct dump_owners {
	const struct fab *f;
	struct map64 ports; /* port GUID -> port id */
	struct map64 functions,
		names; /* GUID -> index in list; hash of a name -> node with SR-IOV */
	VEC(struct dump_owner) list;
};

void dump_owners_init(struct dump_owners *o, const struct fab *f);
void dump_owners_free(struct dump_owners *o);
struct dump_owner dump_owner_find(const struct dump_owners *o, uint64_t guid, const char *name,
				  size_t len);

static inline bool dump_owner_same(struct dump_owner a, struct dump_owner b)
{
	return a.port == b.port && a.slot == b.slot;
}

/* The name of a function as dumps show it: "host0 VF3", "host0 PF". */
void dump_add_function(struct strbuf *b, const struct fab *f, port_id hca, unsigned slot);

#endif
