/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that go and come while the manager watches: the options that name them, and what happens.
 */
#ifndef WEFT_FLAP_OPTS_H
#define WEFT_FLAP_OPTS_H

#include "cli/cli.h"
#include "lab/lab.h"

extern const struct cli_opt flap_opts[]; /* ends with name == NULL */

/* The links of flap_o.links by one of their ports; CLI_OK, or CLI_BAD after a message. */
typedef VEC(port_id) flap_ports;
int flap_find(const struct fab *f, flap_ports *ports);

/* From now until the last of them has come back. */
void flap_run(struct lab *l, const struct fab *f, const flap_ports *ports);

#endif
