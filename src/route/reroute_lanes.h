/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to rt_reroute_lanes(): between reroute_lanes.c, which decides column by column, reroute_lanes_tree.c, which knows the
 * routes to one LID before and after, reroute_lanes_deps.c, which keeps the dependencies of all of them free of cycles, and
 * reroute_lanes_escape.c, which keeps a way for those that find none.
 */
#ifndef WEFT_ROUTE_REROUTE_LANES_H
#define WEFT_ROUTE_REROUTE_LANES_H

#include "route/channel_order.h"
#include "route/reroute.h"

enum { FAR = UINT32_MAX };

/* A dependency, or a service level of a switch, that was added and may have to be removed again. */
struct lane_added {
	uint32_t x, y; /* channels; x == y: switch y / RT_SLS and SL y % RT_SLS */
};

struct lane_mend {
	struct reroute x;
	bool old; /* routes of the reference that are replaced count too: packets may still be on them */
	uint8_t *vl;   /* [arc][SL] */
	uint8_t *sl;   /* [switch][stride of the tables]; NULL: 0 for all */
	uint16_t base; /* SLs of which no two have the same VLs everywhere, as bits */
	struct channel_order order;
	uint64_t *load;		  /* by arc: routes of hosts to hosts */
	uint32_t *up;		  /* by switch: the arc up a spanning tree; FAB_NONE: a root */
	bool *of_tree;		  /* by arc: it is one, up or down */
	unsigned tree_sl;	  /* RT_SLS: there is no tree */
	uint64_t changed, failed; /* entries; ways that would close a cycle */
	uint32_t columns;
	/* of one LID */
	uint32_t lid, dest, stamp;
	bool to_host;
	uint32_t *marked, *broken; /* by switch: the stamp of the LID for which it is */
	uint32_t *arc;		   /* by switch: the arc by which it leaves; FAB_NONE */
	uint32_t *
		was; /* by switch: the arc by which a marked one left; FAB_NONE: it leads nowhere now */
	uint16_t *sls,
		*was_sls;      /* by switch: SLs of packets that leave it; that left a marked one */
	uint32_t *dist;	       /* by switch: links to the destination; FAR: none, or not known */
	uint32_t *list, nlist; /* switches, each after the next one on its route */
	uint32_t *path;
	uint64_t *flow;
	uint32_t *todo, ntodo; /* marked switches */
	uint32_t *offer, noffers;
	VEC(struct lane_added) added;
};

static inline unsigned lane_sl(const struct lane_mend *m, uint32_t s)
{
	return m->sl ? m->sl[(size_t)s * m->x.t->stride + m->lid] : 0;
}

static inline uint32_t lane_channel(const struct lane_mend *m, uint32_t a, unsigned sl)
{
	return channel(a, m->vl[(size_t)a * RT_SLS + sl]);
}

/* Whether the arc has a VL for this SL, and does not discard its packets. */
static inline bool lane_serves(const struct lane_mend *m, uint32_t a, unsigned sl)
{
	return m->vl[(size_t)a * RT_SLS + sl] < CHANNEL_VLS;
}

/* ---- reroute_lanes_tree.c ---- */

/* Routes to a LID as the tables have them, and no switch marked. to: its switch, FAB_NONE: it has none any more. */
void lane_column_begin(struct lane_mend *m, uint32_t lid, uint32_t to);
/* Marks a switch, whose entry does not lead on if broken. */
void lane_mark(struct lane_mend *m, uint32_t s, bool broken);
/* Marks all switches whose route leads over a marked one. */
void lane_mark_before(struct lane_mend *m);
/* Fills list, sls and dist from the switches that are not marked, was, was_sls and the distances that marked ones would
 * have by the shortest ways; todo in the order of these. */
void lane_column_known(struct lane_mend *m);
void lane_column_list(struct lane_mend *m); /* list, from all switches with a route */

/* ---- reroute_lanes_deps.c ---- */

/* The dependencies of all routes that stay, and with m->old of all others. False: they have a cycle. */
bool lane_deps_collect(struct lane_mend *m);
/* Let marked switch s leave by arc a with this SL. strict: also with the SLs of all packets that may still come to it by
 * routes of the reference. False: a cycle, or a packet that is discarded; nothing changes. */
bool lane_place(struct lane_mend *m, uint32_t s, uint32_t a, unsigned sl, bool strict);
/* One dependency, noted in added; false: it would close a cycle. And those in added removed again. */
bool lane_dep_add(struct lane_mend *m, uint32_t x, uint32_t y);
void lane_added_remove(struct lane_mend *m);

/* ---- reroute_lanes_escape.c ---- */

void lane_tree_reserve(struct lane_mend *m);
/* Routes along the tree for all switches, which are marked; false: there is no tree. */
bool lane_tree_route(struct lane_mend *m);

#endif
