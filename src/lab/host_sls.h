/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels that hosts have learnt. The manager has no subnet administration yet, which would tell hosts the SL of
 * a path; here every host that the manager knows learns the SLs of all its paths at the moment when the tables they
 * belong to are all in the switches, and uses them for each packet that it begins to send. A host that the manager does
 * not know keeps those that it had. Hosts that have learnt none use SL 0; before the first are learnt, the traffic says
 * which SL a packet has.
 */
#ifndef WEFT_HOST_SLS_H
#define WEFT_HOST_SLS_H

#include "lab/lab.h"

/* After a step of a manager; seen: the number of those that hosts have from it. */
void lab_sls_learn(struct lab *l, const struct sm *sm, uint32_t *seen);
unsigned lab_host_sl(const struct lab *l, port_id host, uint16_t dlid);
void lab_sls_free(struct lab *l);

#endif
