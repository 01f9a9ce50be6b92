/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between plan_lanes.c, which follows packets LID by LID, and plan_lanes_ports.c, which knows what does not depend on the LID:
 * which ports of a switch are alike, where packets enter, and which LIDs change at all.
 */
#ifndef WEFT_ROUTE_PLAN_LANES_H
#define WEFT_ROUTE_PLAN_LANES_H

#include "route/plan_priv.h"

enum which { OLD, NEW };

/* Packets enter a switch here; one for all ports with the same SLs, new and old, and the same maps. */
struct ingress {
	uint32_t sw;
	port_id at;
};

struct crossings {
	const struct fab *f;
	const struct rt_tables *t[2];
	uint16_t any_vl; /* what VL a packet may have where that is not known, as a mask */
	port_id *first;	 /* by switch: its port 0 */
	/* by port id: */
	port_id *there; /* the port of the switch behind a port of a switch, FAB_NONE: none */
	port_id *
		like; /* port 0 of the switch, if maps from there are the same but towards the port itself; else the port */
	bool *mixed;  /* some old map from here is not the new one */
	uint8_t *changes; /* by LID: entries or SLs differ */
	VEC(struct ingress) ingress;
};

void crossings_init(struct crossings *c, const struct fab *f, const struct rt_tables *old,
		    const struct rt_tables *new);
void crossings_free(struct crossings *c);

/* VLs, as a mask, that a map of these tables gives packets of an SL. None: it discards them. */
static inline uint16_t crossings_vls(const struct crossings *c, enum which w,
				     const struct rt_sl2vl *map, unsigned sl)
{
	const struct rt_tables *t = c->t[w];
	unsigned vl = map->vl[sl];

	if (vl < rt_nvls(t))
		return (uint16_t)(1u << vl);
	/* All packets have SL 0 until new maps are in place. */
	return w == OLD && t->lanes && t->lanes->any_vl && vl == RT_VL_NONE && !sl ? c->any_vl : 0;
}

#endif
