/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes as users name them: by GUID of a node or of a port, by id, by name or by a pattern; and lists of GUIDs as OpenSM's
 * cn_guid_file, io_guid_file and root_guid_file.
 */
#ifndef WEFT_ROUTE_NAMED_NODES_H
#define WEFT_ROUTE_NAMED_NODES_H

#include "base/map.h"
#include "route/route.h"

/* What programs read of files that users name, for file_read_most(). Tables of a full unicast LID space in 1,000 switches have about
 * 3 GiB, a list 17 to 19 bytes for each GUID. */
#define RT_DUMP_MOST ((size_t)4 << 30)
#define RT_LIST_MOST ((size_t)16 << 20)

struct rt_naming {
	const struct fab *f;
	const char *(*name)(const void *ctx, node_id n); /* NULL: names are those of f */
	const void *ctx;
	struct map64 port; /* by GUID */
	bool *host;	   /* by port: of a CA, with a cable and a LID, and no aggregation node */
};

void rt_naming_init(struct rt_naming *x, const struct fab *f,
		    const char *(*name)(const void *ctx, node_id n), const void *ctx);
void rt_naming_free(struct rt_naming *x);
/* 0x and up to 16 digits, or digits alone. */
bool rt_guid_text(const char *text, uint64_t *guid);
/* FAB_NONE: there is none. Of several with that name, as switches without a management processor have, the first. */
node_id rt_node_named(const struct rt_naming *x, const char *text);
bool rt_node_has_name(const struct rt_naming *x, node_id n, const char *text);
/* The hosts that a text names, all that share the name, those of a switch for its name, into in[], by port. How many there are. */
size_t rt_hosts_named(const struct rt_naming *x, const char *text, bool *in);
bool rt_pattern_matches(const char *pattern, const char *name);
/* The GUIDs of a list, one in a line, text behind # is a comment; as lines of 0x and 16 digits. -EINVAL with file and line. */
int rt_guid_list(const char *name, const char *text, size_t len, struct strbuf *out, struct err *e);

#endif
