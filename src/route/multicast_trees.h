/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast: a tree of links between switches for each MLID, and what each switch holds of it.
 *
 * A switch sends a packet for an MLID to all ports of its mask but the one it came in by. So a tree has no direction: a
 * packet may enter at any of its switches. What can wait for what is any two links of the tree that meet in a switch, in
 * both directions, and that together with the dependencies of unicast routes has no cycle:
 *
 * - Where unicast routes obey ranks (up, then down), so do trees: each switch of a tree has at most one link up.
 * - Elsewhere trees are grown inside an order of (link, VL) channels that the dependencies of all routes and all trees follow.
 *
 * Trees are numbered as switches are in the snapshot. Everything here is pure, and depends on its arguments alone.
 */
#ifndef WEFT_ROUTE_MULTICAST_H
#define WEFT_ROUTE_MULTICAST_H

#include "route/route.h"

/* Ports of a switch, a bit for each; 0: the switch itself. */
struct rt_ports {
	uint64_t w[4];
};

static inline bool rt_ports_has(const struct rt_ports *p, unsigned port)
{
	return p->w[port / 64] >> port % 64 & 1;
}

static inline void rt_ports_add(struct rt_ports *p, unsigned port)
{
	p->w[port / 64] |= 1ull << port % 64;
}

static inline void rt_ports_drop(struct rt_ports *p, unsigned port)
{
	p->w[port / 64] &= ~(1ull << port % 64);
}

static inline bool rt_ports_none(const struct rt_ports *p)
{
	return !(p->w[0] | p->w[1] | p->w[2] | p->w[3]);
}

/* The first port from `port` on; 256: there is none. */
unsigned rt_ports_next(const struct rt_ports *p, unsigned port);

struct rt_member {
	port_id port;  /* of a host; port 0 of a switch: the switch itself */
	bool receives; /* false: send-only, it gets no copies */
};

struct rt_group {
	uint16_t mlid;
	uint8_t sl;
	const struct rt_member *members;
	uint32_t nmembers;
};

struct rt_branch {
	uint32_t sw; /* index in fab.switches */
	struct rt_ports ports;
};

struct rt_mtree {
	uint16_t mlid;
	uint8_t sl;
	bool partial; /* members are left out: their switch has no room, or no way there is safe */
	VEC(struct rt_branch) at; /* by switch; no empty masks */
};

typedef VEC(struct rt_mtree) rt_mtrees; /* by MLID */

void rt_mtrees_free(rt_mtrees *t);
const struct rt_mtree *rt_mtree_find(const rt_mtrees *t, uint16_t mlid); /* NULL */
/* What a switch holds of it; NULL: nothing. */
const struct rt_ports *rt_mtree_at(const struct rt_mtree *t, uint32_t sw);

struct rt_multicast {
	const struct fab *f;
	const struct rt_tables *t;     /* unicast tables in force with these trees */
	const uint64_t *rank;	       /* that t obeys; NULL: it has lanes, or none are known */
	const uint16_t *cap;	       /* by switch: MLIDs that it has room for; NULL: for all */
	const struct rt_group *groups; /* by MLID, each once */
	uint32_t ngroups;
	/* By MLID: what switches hold. Links of it that still serve stay, the rest of a tree is built around them. */
	const rt_mtrees *old;
	/*
	 * What a computation leaves for the next one over the same snapshot and ranks; NULL: nothing. *space is made if it
	 * is NULL. If not, the groups given are some of all: it counts the trees of all as they were, those of `old`
	 * included. NULL again afterwards: ranks did not suffice.
	 */
	struct mc_space **space;
};

void rt_mspace_free(struct mc_space *x);

/*
 * A tree for each group. Trees that need no change come out as they went in. Returns how many have members left out.
 * A group without members has a tree without branches.
 */
uint32_t rt_multicast(const struct rt_multicast *m, rt_mtrees *out);

/*
 * SLs for which trees can be built whatever the members are: a bit for each. Where t obeys ranks these are all. With several
 * lanes there may be an SL whose lane is so full of unicast dependencies that no tree over all switches fits.
 */
unsigned rt_multicast_sls(const struct fab *f, const struct rt_tables *t, const uint64_t *rank);

/* ---- from old trees to new ones while traffic flows ---- */

struct rt_mchange {
	const struct fab *f; /* with links that only old tables use */
	const struct rt_tables
		*was; /* unicast tables that change to t meanwhile; NULL: they do not change */
	const struct rt_tables *t;
	const uint64_t *rank; /* that t obeys; NULL as above */
	const struct rt_plan *
		plan; /* of the change from was to t; NULL: there is none, no link of a tree stays */
	const rt_turns *off; /* turns that are disabled all the time; may be NULL */
	/* By port id: no link is known there, but packets may pass it. NULL: there is no such port. */
	const uint8_t *astray;
	const rt_mtrees *old; /* what switches may hold */
	const rt_mtrees *new;
};

/*
 * What switches are to hold before unicast tables change and before a switch gets an entry of the new trees. Each mask is
 * a part of the old one. From the old trees to these, and from these to the new ones, switches may change in any order:
 * there is no cycle of dependencies and no packet gets back to a switch.
 */
struct rt_mlosses {
	uint32_t
		links; /* trees that lose a link: its packets must drain before unicast tables change */
	uint32_t
		astray; /* that lose a port which leads astray: they must drain before new trees come, as must the others */
};

void rt_multicast_between(const struct rt_mchange *c, rt_mtrees *mid, struct rt_mlosses *lost);

/* ---- the verifier: shares no code with the above ---- */

struct rt_mreport {
	bool ok;
	uint32_t groups;
	uint64_t pairs;	    /* of a switch with members and a port that receives */
	uint64_t missing;   /* of these, without a copy */
	uint64_t doubled;   /* with more than one */
	uint64_t strangers; /* copies to ports that are not of the group */
	uint64_t loops;	    /* packets that get back to a switch */
	uint64_t dead;	    /* copies to ports without a link */
	uint64_t discarded; /* copies that no VL carries */
	uint32_t cyclic;    /* channels in cycles of dependencies, unicast and multicast together */
	uint32_t nproblems;
	char problem[4][192];
};

/*
 * Sends a packet from each switch with a member through trees, and searches the dependencies of t and of all trees for
 * cycles. With rank, which t was verified to obey, it searches trees for turns from down to up instead. t may be NULL: trees alone. Trees of no group may exist; they carry nothing but dependencies.
 */
void rt_multicast_verify(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
			 const struct rt_group *groups, uint32_t ngroups, const rt_mtrees *trees,
			 struct rt_mreport *r);

#endif
