/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that fail and recover repeatedly: the options that name them, and the failures.
 */
#ifndef WEFT_FLAP_OPTS_H
#define WEFT_FLAP_OPTS_H

#include "cli/cli.h"
#include "lab/lab.h"

extern const struct cli_opt flap_opts[]; /* ends with name == NULL */

/* One port of each link that --flap names. CLI_OK, or CLI_BAD after a message. */
typedef VEC(port_id) flap_ports;
int flap_find(const struct fab *f, flap_ports *ports);

/* From now until the last link has recovered. */
void flap_run(struct lab *l, const struct fab *f, const flap_ports *ports);

#endif
