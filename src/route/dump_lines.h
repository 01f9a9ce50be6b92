/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cursor over the lines of a dump, and the words that dumps are made of. Every "take" function
 * moves the cursor behind what it took, or says no and leaves it.
 */
#ifndef WEFT_ROUTE_DUMP_LINES_H
#define WEFT_ROUTE_DUMP_LINES_H

#include "route/route_priv.h"

struct dump_line {
	const char *name; /* of the file, for messages */
	uint32_t line;
	const char *at, *end; /* what is left of the line, without its end */
	struct err *e;
};

/* Call read() for every line, until it returns something but 0. */
int dump_lines_each(struct dump_line *l, const char *text, size_t len, int (*read)(void *ctx),
		    void *ctx);

/* -EINVAL with "file:line: expected <what>, found '...'" */
int dump_bad(const struct dump_line *l, const char *what);
/* The same, shown from where the bad thing begins. */
int dump_bad_from(struct dump_line *l, const char *start, const char *what);

bool dump_take(struct dump_line *l, const char *text);
/* The first place where text stands in the rest of the line: go behind it. */
bool dump_find(struct dump_line *l, const char *text);
/* At least one digit and at most `most` of them. */
bool dump_number(struct dump_line *l, unsigned base, unsigned most, uint64_t *v);
void dump_skip_blanks(struct dump_line *l);
bool dump_at_end(const struct dump_line *l);

/* Port GUID as dumps give it: made from the node's when the snapshot has none. */
uint64_t dump_port_guid(const struct fab *f, port_id p);
/* "Switch", "Router" or "Channel Adapter" */
const char *dump_type_name(unsigned type);
/* A node's name without line breaks, which would break the format. */
void dump_add_name(struct strbuf *b, const char *name);
/* ibsim numbers the ports of a host after its node GUID, whatever the netlist gives. FAB_NONE. */
port_id dump_port_by_node_guid(const struct fab *f, uint64_t guid);

#endif
