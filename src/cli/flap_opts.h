/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that go and come while the manager watches: the options that name them, and what happens.
 */
#ifndef WEFT_FLAP_OPTS_H
#define WEFT_FLAP_OPTS_H

#include "cli/cli.h"
#include "lab/lab.h"

struct flap_opts {
	cli_strings links;
	unsigned times;
	time_ps period;
};

extern struct flap_opts flap_o; /* of the one command that runs */

/* clang-format off */
#define FLAP_OPTS \
	{"flap", 0, CLI_LIST, &flap_o.links, "NODE:PORT", "once all is up, this link goes and comes; may be given again", NULL, 0, 0}, \
	{"flap-times", 0, CLI_UINT, &flap_o.times, "N", "how often (default 10)", NULL, 1, 1000000}, \
	{"flap-period", 0, CLI_TIME, &flap_o.period, "TIME", "from going to going; it is away for half of it (default 100ms)", NULL, 0, 0}
/* clang-format on */

/* The links of flap_o.links by one of their ports; CLI_OK, or CLI_BAD after a message. */
typedef VEC(port_id) flap_ports;
int flap_find(const struct fab *f, flap_ports *ports);

/* From now until the last of them has come back. */
void flap_run(struct lab *l, const struct fab *f, const flap_ports *ports);

#endif
