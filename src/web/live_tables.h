/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forwarding tables of a live subnet, as its manager gives them in pieces, and what follows from them: how many routes
 * from host to host use each link, and which. The tables in force are used: no route is computed.
 */
#ifndef WEFT_LIVE_TABLES_H
#define WEFT_LIVE_TABLES_H

#include <jansson.h>

#include "base/vec.h"
#include "fabric/fabric.h"

enum { LIVE_USERS_MOST = 1000, LIVE_VERSION = 64 };

struct live_tables {
	char version[LIVE_VERSION]; /* "": there are none */
	uint32_t nswitches, top_lid;
	uint8_t *out;	/* nswitches * (top_lid + 1) */
	uint32_t known; /* rows, from the first */
};

void live_tables_clear(struct live_tables *t);
static inline bool live_tables_whole(const struct live_tables *t)
{
	return t->nswitches && t->known == t->nswitches;
}

/* Takes an answer to "tables"; it begins again where the version is another one. False: not such an answer. */
bool live_tables_take(struct live_tables *t, const json_t *answer);

/* Two hexadecimal digits; -1: they are not. */
int live_hex(const char *two);

/* Routes that leave by each port, by port_id of f; the caller frees them. Tables and f are of the same version. */
uint32_t *live_tables_loads(const struct live_tables *t, const struct fab *f);

struct live_user {
	node_id from, to;
};
typedef VEC(struct live_user) live_users;

/* The routes that leave by port p, the first LIVE_USERS_MOST together with those that are in the list. */
void live_tables_users(const struct live_tables *t, const struct fab *f, port_id p,
		       live_users *users);

#endif
