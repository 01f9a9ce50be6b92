/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options about multicast traffic, for commands that simulate data packets, and its results as text and JSON.
 */
#ifndef WEFT_GROUP_OPTS_H
#define WEFT_GROUP_OPTS_H

#include "base/json.h"
#include "cli/cli.h"
#include "lab/load.h"

extern const struct cli_opt group_opts[]; /* ends with name == NULL */

bool group_wanted(void);
int group_check(void); /* CLI_BAD after a message: an option without --groups */
/* With the payload of the other packets; NULL: --groups was not given. Valid until the next call. */
const struct lab_groups_config *group_config(const struct fab *f, const struct traffic_config *t,
					     uint64_t seed);

/* Nothing without groups. */
void group_text(const struct lab_groups_count *c);
void group_json(const struct lab_groups_count *c, struct json *j); /* .multicast{} */

#endif
