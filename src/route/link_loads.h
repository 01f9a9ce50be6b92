/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes over links: how many routes, one from each host to each of some LIDs, leave by each port of a switch towards
 * another switch, and how even that is.
 */
#ifndef WEFT_ROUTE_LINK_LOADS_H
#define WEFT_ROUTE_LINK_LOADS_H

#include "route/route.h"

/* Routes of one LID over one link. */
struct rt_flow {
	port_id link; /* the port of a switch by which they leave */
	uint32_t routes;
};
typedef VEC(struct rt_flow) rt_flows;

struct rt_link_loads {
	const struct fab *f;
	uint32_t *hosts;   /* by switch: host ports connected to it */
	uint32_t *next;	   /* by port id: the switch behind a port of a switch; FAB_NONE: none */
	uint64_t *load;	   /* by port id: routes */
	uint32_t *passing; /* of one LID, by switch; zero between calls */
};

/* All links between switches, in each direction. */
struct rt_balance {
	uint32_t links;
	uint64_t busiest;	  /* routes over the busiest of them */
	uint64_t mean, deviation; /* routes over a link, in thousandths; the standard deviation */
};

/* f must outlive it. */
void rt_link_loads_init(struct rt_link_loads *l, const struct fab *f);
void rt_link_loads_free(struct rt_link_loads *l);

/*
 * The routes of one LID, added to `out`: entry of switch s is column[s * step]; `dflt` stands for empty ones, may be
 * NULL. False when a host's route does not end at switch `to`; `out` is as before then. Hosts whose own switch has no
 * entry are left out.
 */
bool rt_flows_of(struct rt_link_loads *l, const uint8_t *column, size_t step, const uint8_t *dflt,
		 uint32_t to, rt_flows *out);
void rt_link_loads_add(struct rt_link_loads *l, const rt_flows *x);
void rt_link_loads_remove(struct rt_link_loads *l, const rt_flows *x);
/* The same with a LID of tables that hangs on switch `to`; false: it does not arrive. */
bool rt_link_loads_lid(struct rt_link_loads *l, const struct rt_tables *t, uint16_t lid,
		       uint32_t to, bool add);
/* All LIDs of virtual functions of f; returns those that do not arrive. */
uint32_t rt_link_loads_vlids(struct rt_link_loads *l, const struct rt_tables *t);

void rt_balance_get(const struct rt_link_loads *l, struct rt_balance *b);
/* The switch that the port of a host is connected to; FAB_NONE: none. */
uint32_t rt_switch_of(const struct fab *f, port_id host);

#endif
