/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture of a simulated run for Wireshark: every packet as it begins to leave a port. The file
 * gets its name only when it is complete.
 */
#ifndef WEFT_CAPTURE_H
#define WEFT_CAPTURE_H

#include "lab/lab.h"

struct capture;

/* All ports, or those of one node. NULL with e filled. The simulation must have the data plane. */
struct capture *capture_open(const char *path, const struct fab *f, struct sim *s, node_id only,
			     struct err *e);
/* keep: 0, or a negative errno with e filled; else no file is left. */
int capture_close(struct capture *c, bool keep, struct err *e);

#endif
