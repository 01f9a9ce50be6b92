/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `weft why` tells about a device or a cable. One JSON object holds all of it:
 *
 *	{name, id, guid, type, lid, present, ports: [{port, state, physical, rate, could, peer: {...}, errors: {}, load, ber,
 *	 fec: {}, trend: {}}], changes: [],
 *	 partitions: [], groups: [], routes: {hosts, worst: {}}, suspicious: []}
 */
#ifndef WEFT_CLI_WHY_H
#define WEFT_CLI_WHY_H

#include "cli/running_manager.h"

struct why_page {
	json_t *w, *suspicious;
	const struct running *from;
	char node[128]; /* how the manager finds the device: as it was asked for, or a GUID */
	unsigned port;	/* of a cable; 0: the whole device */
	uint64_t guid;	/* of the device; 0: not known, it goes by its name */
};
void why_suspect(struct why_page *p, const char *fmt, ...) PRINTF(2, 3);
const json_t *why_port_of(const json_t *node,
			  unsigned num); /* its row; NULL: it has no such port */

/* ---- why_find.c: which device a text means ---- */

/*
 * Fills node, port and guid, and "present"; *node: the manager's answer about the device, *machine: about a virtual machine or function
 * at it, or NULL; the caller owns both. CLI_BAD after a message: the manager cannot be asked, or the text means several devices.
 */
int why_find(struct why_page *p, const char *asked, const json_t *changes, json_t **node,
	     json_t **machine);

/* ---- why_changes.c: what happened to it ---- */

bool why_had(const struct why_page *p, const json_t *changes); /* a change was about it */
/* Its last changes, and what they say of its links. changes: the manager's answer. */
void why_changes(struct why_page *p, const json_t *changes);

/* ---- why_ports.c: rates and errors ---- */

/* What a port runs at and could run at, from its row of the answer to "node". 0: not known. */
struct why_rate {
	unsigned width, speed; /* lanes, enum fab_speed */
};
struct why_rate why_rate_active(const json_t *port);
struct why_rate why_rate_supported(const json_t *port);
struct why_rate why_rate_enabled(const json_t *port); /* what it is set to at most */
struct why_rate why_rate_common(struct why_rate a, struct why_rate b); /* the best that both can */
bool why_rate_less(struct why_rate a, struct why_rate b);
void why_rate_text(struct why_rate r, char buf[24]);
/* Counters of errors that are not 0, as an object; NULL: none. counters: rows of name and value. */
json_t *why_errors(const json_t *counters);
json_t *why_errors_in(const json_t *counters); /* the same of an object by name */

/* ---- why_trend.c ---- */

struct why_trend {
	bool known;
	uint64_t hour, recent; /* errors within the last hour, and within its last ten minutes */
	uint64_t now;	       /* lately, perhaps after the last complete slot of the hour */
};
struct why_trend why_trend_of(const json_t *hour); /* of the answer to "perf" about a port */
void why_trend_text(struct why_trend t, char buf[128]);
/* Load, bit error rate and trend into the rows of ports, where the manager reads counters; of one port unless
 * port is 0. */
void why_trends(const struct running *from, const char *node, unsigned port, json_t *ports,
		json_t *suspicious);

/* ---- why_routes.c ---- */

/* Of the links that routes of all hosts to this node take: the slowest one, of several the one with most hosts, and whether it is
 * slower than the node's own. NULL: there are no
 * routes. out: the answer to "tree". */
json_t *why_worst_link(const struct fab *f, node_id to, const char *out);

/* ---- why_show.c ---- */

void why_show(const json_t *w);

#endif
