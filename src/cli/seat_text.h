/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --sm says: where a manager sits, and what it has of its own, as NODE[:PRIORITY][@TIME][,MECHANISM].
 */
#ifndef WEFT_SEAT_TEXT_H
#define WEFT_SEAT_TEXT_H

#include "sm/sm.h"

#define SEAT_TEXT_ARG "NODE[:PRIORITY][@TIME][,MECHANISM]"

struct seat_text {
	char node[256];
	bool has_priority, has_start;
	unsigned priority;
	time_ps start;
	const struct sm_mechanism *mechanism; /* NULL: none given */
};

/*
 * A node's name may have colons, commas and @ of its own: what does not read as a priority, a time or a mechanism
 * belongs to it. -EINVAL with e filled: a priority is too high, or what follows a priority or a time cannot be read.
 */
int seat_text_parse(const char *text, struct seat_text *s, struct err *e);

#endif
