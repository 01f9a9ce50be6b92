/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log of every message at SM, SMI and SMA, in the words of the simulator of Kim et al. (their Fig. 6). Nodes
 * have the numbers of the netlist's order, from 1. The figure abbreviates an SMI as "SM" as well; here it is
 * "SMI".
 */
#ifndef WEFT_MESSAGE_LOG_H
#define WEFT_MESSAGE_LOG_H

#include "lab/lab.h"
#include "sim/device/sim_device.h"

/* Appends the line for what a watcher of the simulator saw, without a line feed. False: no line is for it. */
bool lab_message_line(struct strbuf *b, struct lab *l, enum sim_seen what, node_id n, unsigned port,
		      const struct sim_smp *smp, unsigned detail);

#endif
