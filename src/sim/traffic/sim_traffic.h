/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic contract: which packets hosts put into the data plane. Keeps one generator for each
 * simulation (traffic.h says what it can draw). Promises the same packets for the same seed,
 * whatever else is simulated. Called by the laboratory.
 */
#ifndef WEFT_SIM_TRAFFIC_H
#define WEFT_SIM_TRAFFIC_H

#include "sim/traffic/traffic.h"

struct sim;

/* Every linked port of a CA that is Active at the time of a packet sends as the configuration
 * says; hosts are numbered in port order, sim_host_count() of them. Replaces earlier traffic. 0,
 * or -EINVAL with e filled. */
int sim_traffic(struct sim *s, const struct traffic_config *c, struct err *e);
uint32_t sim_host_count(const struct sim *s);
/* Others learn the present LID of the machine with this GUID, which runs on a shared port. */
void sim_machine_told(struct sim *s, uint64_t guid);
/* Hosts of the traffic that runs. */
uint32_t sim_traffic_hosts(const struct sim *s);
/* Sends one packet now. dlid may be a multicast LID. */
void sim_inject(struct sim *s, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl);

#endif
