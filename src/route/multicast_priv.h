/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that build multicast trees share: multicast.c takes group after group, multicast_updown.c builds trees
 * over ranks, multicast_grow.c inside an order of channels (multicast_order.c). The verifier does not include this.
 */
#ifndef WEFT_ROUTE_MULTICAST_PRIV_H
#define WEFT_ROUTE_MULTICAST_PRIV_H

#include "route/channel_order.h"
#include "route/multicast_trees.h"

struct mc_dep {
	uint32_t x, y; /* channels */
};

typedef VEC(struct mc_dep) mc_deps;

/* Dependencies of unicast routes and of trees so far, in an order without cycles. */
struct mc_order {
	struct channel_order o;
	const struct rt_tables *t; /* SL-to-VL maps; without lanes all is VL 0 */
	uint64_t *key;
	mc_deps log;	  /* what the running trial added */
	bool *off;	  /* [arc][port of the next switch]: turns that are disabled; NULL: none */
	uint64_t *routed; /* the same, bit by bit: what mc_order_route() added; NULL: nothing */
};

/* A tree while it is built. Arrays by switch. */
struct mc_work {
	struct rt_ports *links;	 /* ports to other switches */
	struct rt_ports *copies; /* ports to members, port 0 included */
	bool *terminal;		 /* a member is there */
	uint32_t *list, n;	 /* terminals, by switch; room for twice as many */
	uint32_t *up;		 /* updown: arc to the parent */
	uint32_t *via, *queue, *parent;
	bool *in;
};

struct mc_space {
	const struct rt_multicast *m;
	struct switch_graph g;
	uint64_t *above; /* [switch][words]: the switch, and those that it reaches going up */
	uint32_t words;
	uint32_t
		without; /* switches that have no room, when above was made; UINT32_MAX: it was not */
	uint32_t *load;		/* by arc: trees */
	uint32_t *tops;		/* by switch: trees that have their top there */
	struct mc_order *order; /* NULL: ranks are enough so far */
	struct rt_ports *base
		[RT_SLS]; /* by SL: a spanning tree whose dependencies are in the order; NULL: none */
	struct mc_work w;
};

static inline bool mc_room(const struct mc_space *x, uint32_t sw, uint16_t mlid)
{
	return !x->m->cap || mlid - IBA_LID_MCAST_FIRST < x->m->cap[sw];
}

/* The arc in the other direction of the same cable; FAB_NONE: there is none. */
static inline uint32_t mc_back(const struct switch_graph *g, uint32_t arc)
{
	const struct fab *f = g->f;
	const struct graph_arc *a = &g->arc[arc];
	port_id peer = f->ports[fab_port_id(f, f->switches[a->from], a->port)].peer;

	return graph_arc(g, a->to, f->ports[peer].num);
}

static inline unsigned mc_back_port(const struct switch_graph *g, uint32_t arc)
{
	return g->arc[mc_back(g, arc)].port;
}

/* multicast_updown.c: fills w.links; false: no switch is above all members. */
bool mc_updown_tree(struct mc_space *x, const struct rt_group *gr, const struct rt_mtree *old);
bool mc_updown_has_top(struct mc_space *x, uint16_t mlid); /* for w.list */
/* Whether links obey the ranks: no switch has two up. */
bool mc_updown_obeys(const struct switch_graph *g, const uint64_t *rank,
		     const struct rt_ports *links);

/* multicast_order.c */
/* Turns that are disabled are no dependencies; off may be NULL. */
struct mc_order *mc_order_new(const struct switch_graph *g, const struct rt_tables *t,
			      const uint64_t *rank, const rt_turns *off);
void mc_order_free(struct mc_order *o);
/* Dependencies of unicast tables; false: they have a cycle. */
bool mc_order_routes(struct mc_order *o);
bool mc_order_add(struct mc_order *o, uint32_t x, uint32_t y);
/* A unicast route goes from one link on to the next one, on VL 0. It is not for a trial: most are asked for again and again,
 * and a bit answers that. */
bool mc_order_route(struct mc_order *o, uint32_t a, uint32_t b);
/* Dependencies of a tree; false: it does not fit, and nothing was added. */
bool mc_order_tree(struct mc_order *o, const struct rt_ports *links, unsigned sl);
/* Dependencies between the links at one switch; false: one does not fit, and those before it stay. */
bool mc_order_turns(struct mc_order *o, const struct rt_ports *links, uint32_t s, unsigned sl);
void mc_order_undo(struct mc_order *o, size_t mark); /* what was logged since */

/* multicast_grow.c */
/* A tree over all switches, whose dependencies stay in the order: x->base[sl]. False: none fits. */
bool mc_order_base(struct mc_space *x, unsigned sl);
/* Whether there is one: nothing of it stays in the order. */
bool mc_order_has_base(struct mc_space *x, unsigned sl);
/* Fills w.links, with dependencies that were added to the order; false: no tree was found. */
bool mc_order_grow(struct mc_space *x, const struct rt_group *gr, const struct rt_mtree *old);

#endif
