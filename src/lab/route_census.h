/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the forwarding tables in the devices make of a fabric at this moment: how many pairs of hosts have a route,
 * and how many routes share the busiest link. Quicker than a scan of forwarding_scan.h, since it goes switch by
 * switch instead of host by host, and it does not look for cycles.
 */
#ifndef WEFT_ROUTE_CENSUS_H
#define WEFT_ROUTE_CENSUS_H

#include "lab/lab.h"

struct lab_census {
	uint64_t pairs;	    /* ordered pairs of hosts that are physically connected */
	uint64_t connected; /* of them, pairs with a route */
	uint64_t busiest;   /* routes over the busiest direction of a link between switches */
	port_id port;	    /* that sends on it; FAB_NONE: there is none */
};

void lab_census(const struct lab *l, struct lab_census *out);

/* By port, added: routes from host to host that leave by it. Links of hosts count as well. */
void lab_route_loads(const struct lab *l, uint64_t *load);

#endif
