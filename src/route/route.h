/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes: engines that compute forwarding tables for a snapshot, and a verifier that trusts none.
 *
 * Tables are linear forwarding tables, one row a switch (in the order of fab.switches), one byte a
 * LID; 255 means no route. Engines read LIDs from the snapshot: fab_port.lid and .lmc, and fab.vlids,
 * which are further LIDs of host ports. The result never depends on the number of threads.
 */
#ifndef WEFT_ROUTE_H
#define WEFT_ROUTE_H

#include "fabric/fabric.h"

struct rt_lanes;

struct rt_tables {
	uint32_t nswitches;
	uint32_t top_lid;
	uint32_t stride; /* bytes a row: top_lid + 1 rounded up to 64 */
	uint8_t *lft;	 /* nswitches * stride, 255 where nothing was computed */
	uint8_t *
		dflt; /* by switch: default port of empty entries, 255: none; NULL: no default ports */
	uint64_t entries;	/* entries the engine computed, default ports not counted */
	struct rt_lanes *lanes; /* NULL: one lane; see "service levels and virtual lanes" */
};

static inline uint8_t *rt_row(const struct rt_tables *t, uint32_t sw)
{
	return t->lft + (size_t)sw * t->stride;
}

struct rt_tables *rt_tables_new(uint32_t nswitches, uint32_t top_lid);
void rt_tables_free(struct rt_tables *t);
/* The tables of fabric `from` in the order of the switches of `to`, by GUID. Rows of new switches are
 * empty, rows of lost ones are left out, LIDs do not change. Lanes go with the tables; new switches have
 * row 0 and map 0. */
struct rt_tables *rt_tables_carry(const struct fab *from, const struct rt_tables *t,
				  const struct fab *to);
/* Tables of f that end with the last LID in use, as those of engines do. */
void rt_tables_cut(struct rt_tables **t, const struct fab *f);
/* Write the default ports into empty entries, as a linear table needs it (thesis 6.2.3); LID 0 stays
 * 255. Tables without default ports do not change. */
void rt_tables_fill(struct rt_tables *t);

/* ---- service levels and virtual lanes ---- */

/*
 * Tables with t->lanes == NULL use SL 0 and VL 0 for every packet. An engine that needs several VLs
 * to be free of deadlock adds lanes to its tables:
 *
 *	rt_lanes_add(t, f, nvls, nrows);           every packet SL 0, VL = SL modulo nvls
 *	rt_sl_row(t, row)[lid] = sl;               the SL of packets to this LID ...
 *	rt_sl_row_use(t, sw, RT_ANY_PORT, row);    ... that enter the subnet at this switch
 *	map = rt_sl2vl_map(t, &(struct rt_sl2vl){{0, 1, 0, 1}});
 *	rt_sl2vl_use(t, sw, in, out, map);         SL to VL from port `in` to port `out` of switch sw
 *
 * A packet gets its SL where it enters the subnet and keeps it. The SL depends on the ingress, which
 * is the switch port that the sender's cable is plugged into (port 0: the switch itself sends), and
 * on the destination LID: rt_sl(). At each switch the SL, the port by which the packet came in and
 * the port by which it leaves give its VL on the link it leaves by: rt_vl(). A VL that is not below
 * nvls discards the packet; RT_VL_NONE (VL15) says so on purpose.
 *
 * What is stored is as small as what an engine says. One row serves an engine that chooses the SL by
 * destination (Nue), a row for each switch one that chooses it by path (DFSSSP, LASH, torus-2QoS);
 * rt_lanes_pack() lets ingresses share equal rows. A switch has one map for all its port pairs until
 * rt_sl2vl_use() names single ports (datelines).
 *
 * The link from a sender to its first switch is in no credit loop, so its VL is not stored here. A
 * manager programs host ports with SL modulo nvls.
 *
 * The verifier and the plan follow each packet's SL through these maps and look for cycles among
 * (link, VL) pairs. They trust nothing here but that the numbers are what devices will hold.
 */
enum {
	RT_SLS = 16,
	RT_MAX_VLS = 15,   /* data VLs that IBA has */
	RT_VL_NONE = 15,   /* discards the packet */
	RT_ANY_PORT = 256, /* for `in` and `out`: all ports of the switch, 0 included */
};

struct rt_sl2vl {
	uint8_t vl[RT_SLS];
};

struct rt_lanes {
	unsigned nvls;	    /* data VLs in use: 0 .. nvls - 1 */
	uint32_t *first;    /* by switch: where its ports begin in sl_row; one more at the end */
	uint32_t *sl_row;   /* by first[switch] + ingress port: its row */
	uint32_t nrows;	    /* at least 1 */
	uint8_t *sl;	    /* [row][stride of the tables]: the SL by destination LID */
	uint16_t *map;	    /* by switch: the map of its port pairs ... */
	uint16_t **by_pair; /* ... unless this is not NULL: [in][out] */
	VEC(struct rt_sl2vl) maps;
	bool any_vl; /* old tables of a plan: where a map discards SL 0, its VL is not known */
};

/* Add lanes to tables that have none, for fabric f; 1 <= nvls <= RT_MAX_VLS, 1 <= nrows. All
 * ingresses use row 0, all switches map 0. */
void rt_lanes_add(struct rt_tables *t, const struct fab *f, unsigned nvls, uint32_t nrows);
void rt_lanes_drop(struct rt_tables *t);

/* One byte for each LID up to t->top_lid, each below RT_SLS. Threads may fill different rows. */
static inline uint8_t *rt_sl_row(const struct rt_tables *t, uint32_t row)
{
	return t->lanes->sl + (size_t)row * t->stride;
}

void rt_sl_row_use(struct rt_tables *t, uint32_t sw, unsigned in, uint32_t row);
/* Other SLs for all: one row of bytes for each switch, with the stride of the tables. */
void rt_sl_by_switch(struct rt_tables *t, const uint8_t *sl);
/* The number of a map like this one, which is added if there is none. One thread at a time. */
unsigned rt_sl2vl_map(struct rt_tables *t, const struct rt_sl2vl *m);
/* Later calls overrule earlier ones. */
void rt_sl2vl_use(struct rt_tables *t, uint32_t sw, unsigned in, unsigned out, unsigned map);
/* Let ingresses with equal rows share one, and free the others. */
void rt_lanes_pack(struct rt_tables *t);

/* SL of a packet that enters at port `in` of switch sw and goes to lid. 0 for LIDs beyond the tables. */
unsigned rt_sl(const struct rt_tables *t, uint32_t sw, unsigned in, uint32_t lid);
/* VL of a packet with this SL from port `in` to port `out` of switch sw. */
unsigned rt_vl(const struct rt_tables *t, uint32_t sw, unsigned in, unsigned out, unsigned sl);
/* Data VLs in use. */
static inline unsigned rt_nvls(const struct rt_tables *t)
{
	return t->lanes ? t->lanes->nvls : 1;
}

/* Whether two tables of fabric f give every packet the same SL and VLs. */
bool rt_lanes_same(const struct fab *f, const struct rt_tables *a, const struct rt_tables *b);
/* The highest VL of any map, VLs that discard left out. */
unsigned rt_lanes_highest(const struct rt_tables *t);
/* Whether no map in use discards an SL in use. */
bool rt_lanes_discard_nothing(const struct rt_tables *t);
/* 0, or -EINVAL when the lanes are not made for f or hold an SL above 15. */
int rt_lanes_check(const struct fab *f, const struct rt_tables *t, struct err *e);

/* How the links of the up/down graph get their directions (thesis 6.1.1). */
enum rt_directions {
	RT_BY_DISTANCE, /* by distance from the root, then GUID */
	RT_BY_BFS, /* by the order in which a breadth-first tree from the root finds the switches */
	RT_BY_DFS, /* by the order of a depth-first tree */
};

/* Which of several equal ports FERa takes. */
enum rt_ties {
	RT_TIES_SPREAD, /* in turn, so that equal ports share the destinations evenly */
	RT_TIES_FIRST,	/* the one with the smallest number */
	RT_TIES_RANDOM, /* drawn for each switch and LID, always alike for the same GUID and LID */
};

struct rt_before;
struct rt_update_stats;

/* Text of a dump in one of OpenSM's formats. */
struct rt_dump {
	const char *name; /* for messages */
	const char *text; /* NULL: there is none */
	size_t len;
	bool part; /* what it says about devices that the fabric has not is left out; else that is a fault */
};

/* Tables from outside, for engine file. sls and sl2vl without text: SL 0, VL = SL. */
struct rt_given {
	struct rt_dump lfts, sls, sl2vl;
};

struct rt_opts {
	node_id root; /* sink of the up/down graph; FAB_NONE: the first switch */
	/* Of engine updn, which uses all of them; hosts stand for their switches. nroots 0: it finds roots itself. */
	const node_id *roots;
	uint32_t nroots;
	enum rt_directions directions;
	enum rt_ties ties; /* of FERa; rt_update() always spreads */
	unsigned threads;  /* 0: as many as the machine has */
	unsigned lanes;	   /* data VLs that an engine with lanes may use; 0: as it likes */
	unsigned
		valiant; /* dragonfly: one destination in so many is reached over another group; 0: 8 */
	/* By port: the group of a host, of which each is balanced by itself by engines with rt_engine.groups; NULL: all in 0. */
	const uint8_t *group;
	const struct rt_given *given; /* of engine file; NULL: none are given */
	/* By switch index: use these ranks instead of root and directions; NULL: use those. */
	const uint64_t *rank;
	/* For rt_update() only: the state before the change (NULL: not known, search everything), and
	 * whether new links take over their share of routes that need not move. */
	const struct rt_before *before;
	bool even;
	/* For rt_choose() only: the tables will follow the fabric, and repairs need link directions, so an engine without
	 * them (updown) must be a tenth better in bisections and in shifts than one with them. And they are waited for: nue and balanced try fewer
	 * ways, and rivals of an engine for the
	 * shape are tried only where they are quick. */
	bool steady;
	bool directed; /* for rt_choose() only: among engines with link directions */
	/* For rt_choose() only: asked before each engine; true: it ends with -EINTR. NULL: it does not end early. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

/*
 * What computing tables costs, for CPU models. The first three are measured on the machine this
 * was written on (bench/); the thesis gives seconds = factor * nodes^exponent for its own machine.
 */
struct rt_cost {
	unsigned search_ps; /* for each live port and each destination switch searched */
	unsigned cell_ps;   /* for each switch and LID */
	unsigned entry_ps;  /* for each entry computed */
	double thesis_s, thesis_exponent;
};

/* What rt_choose() may do with an engine. */
enum rt_use {
	RT_USE_WHEN_NAMED, /* nothing */
	RT_USE_SHAPE,	   /* it refuses quickly what does not have its shape */
	RT_USE_ANYWHERE,
};

/*
 * An engine: one file, src/route/NAME.c, which defines rt_NAME, and one line in engines.h. All that
 * other rooms need to know about an engine is a field here.
 *
 * route() fills tables made by rt_tables_new() and returns 0, or a negative errno with e filled when
 * it cannot route this topology. The result depends only on the arguments, and not on o->threads.
 * It leaves unreachable destinations at 255.
 */
struct rt_engine {
	const char *name, *summary; /* one line */
	const char *about;	    /* a paragraph for the help, lines up to 78 characters */
	int (*route)(const struct fab *f, const struct rt_opts *o, struct rt_tables *t,
		     struct err *e);
	/* Its routes are up*-down* over the ranks that o gives (o->root, o->directions or o->rank), or over
	 * those that ranks() gives: the verifier checks them for turns from down to up, and one dependency graph
	 * proves them. */
	bool updown;
	/* NULL: over the ranks that o gives. Else the engine has ranks of its own, each once, whatever o says but its
	 * roots: 0, or a negative errno as route(). rank has f->nswitches entries. */
	int (*ranks)(const struct fab *f, const struct rt_opts *o, uint64_t *rank, struct err *e);
	/* Without updown: whether tables that it made obey ranks all the same, which it gives. Then rt_reroute() and all that needs
	 * ranks serve. NULL: they do not. */
	bool (*obeys)(const struct fab *f, const struct rt_opts *o, const struct rt_tables *t,
		      uint64_t *rank);
	/* It may use more than one VL (t->lanes). A manager that cannot program SL-to-VL tables must
	 * not use it. */
	bool lanes;
	bool groups; /* it balances each group of hosts by itself */
	bool given;  /* its tables are those of o->given: it computes none */
	/* Routes after a change, from those that the engine computed from scratch for an earlier snapshot: rt_reroute(), where
	 * updown is false rt_reroute_lanes(), or a function that keeps their promises. rank: NULL where the tables of ref obey none.
	 * NULL: there is none. */
	int (*update)(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
		      uint64_t *rank, struct rt_update_stats *st, struct err *e);
	/* Another engine with routes of the same up/down graph, to which entries of these may change one
	 * by one while traffic flows. */
	const struct rt_engine *refined_by;
	enum rt_use use;
	struct rt_cost cost;
};

#define X(name) extern const struct rt_engine rt_##name;
#include "route/engines.h"
#undef X

const struct rt_engine *rt_engine_find(const char *name); /* NULL */
extern const struct rt_engine *const rt_engines[];	  /* ends with NULL */
extern const char *const rt_engine_names[];		  /* the same, by name; ends with NULL */
extern const char *const rt_engine_choices[];		  /* "auto" and these: see choose.h */

/* The ranks of an engine with updown: its own, or by o->root and o->directions (o->rank is not looked at). */
/* Ranks that tables of an engine obey, to be freed; NULL: there are none. */
uint64_t *rt_tables_ranks(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
			  const struct rt_tables *t);
int rt_engine_ranks(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
		    uint64_t *rank, struct err *e);
/* Make tables and let the engine fill them. */
int rt_compute(const struct rt_engine *g, const struct fab *f, const struct rt_opts *o,
	       struct rt_tables **out, struct err *e);

/* ---- the up/down graph ---- */

/*
 * Rank of every switch (by switch index) for up*-down* routing: a link's up end is the switch with
 * the smaller (distance from the root, GUID). Unreachable switches get UINT64_MAX. Routes may go to
 * smaller ranks first and to larger ranks afterwards, never the other way round (thesis 6.1.1).
 */
void rt_updown_rank(const struct fab *f, node_id root, uint64_t *rank);
/* The same with a choice of directions; every rank but UINT64_MAX is unique. Trees take the ports of a
 * switch in the order of their numbers. */
void rt_updown_rank_by(const struct fab *f, node_id root, enum rt_directions d, uint64_t *rank);

/* The switch from which the farthest is nearest; of equals the one with the smallest GUID. In a fabric
 * of several parts that of the largest; FAB_NONE without switches. */
node_id rt_root_centre(const struct fab *f);
/* The root as every command chooses it: the first of these GUIDs that f has (0 ends them; NULL: none),
 * else `otherwise`, and where that is FAB_NONE the centre. */
node_id rt_root_choose(const struct fab *f, const uint64_t *guids, size_t n, node_id otherwise);

/*
 * The ranks in use before a change, carried over to the snapshot after it so that as few links as
 * possible change direction. old[s] is the previous rank of switch s, UINT64_MAX when it is new. In the
 * result the root is the only switch without an upper neighbour in its part of the fabric (every
 * other part has a sink of its own), ranks count from 0 without gaps or duplicates, and switches that
 * need not move keep their order. New switches come where their links have the directions of a new
 * graph, as far as the old order allows. Returns how many links between previously known switches
 * changed direction.
 */
uint32_t rt_updown_rank_keep(const struct fab *f, node_id root, const uint64_t *old,
			     uint64_t *rank);
/*
 * The same for ranks that belong to reference tables: routes between hosts of a tree stay legal. A switch without a way up
 * gets an upper neighbour from below, with all that is above it. Each part of the fabric has its first switch as root. New
 * switches come last. Returns how many links changed direction. The ranks count from 0 without gaps.
 */
uint32_t rt_updown_rank_mend(const struct fab *f, const uint64_t *old, uint64_t *rank);
/* The ranks of fabric `from` by the switches of `to`: what rt_updown_rank_keep() takes as old. */
void rt_updown_rank_carry(const struct fab *from, const uint64_t *rank, const struct fab *to,
			  uint64_t *old);

/* ---- break nodes: switches that two or more up links leave (thesis 7.1.1) ---- */

struct rt_turn { /* from port in to port out of a switch */
	uint32_t sw;
	uint8_t in, out;
};
typedef VEC(struct rt_turn) rt_turns;

/* Every turn from an up link to another up link (down, then up): what the ranks forbid. In the order
 * of switch, in, out, added to `out`. The switches in it are the break nodes. Down one of two parallel
 * links and up the other is a turn as well. */
void rt_forbidden_turns(const struct fab *f, const uint64_t *rank, rt_turns *out);

/* ---- changing tables while traffic flows ---- */

/*
 * Routes after a change, with as few changed entries as possible: the distances are those of FERa over
 * these ranks (o->rank is required, each rank once), an entry of `old` stays where it is still among
 * the best, and only destinations that the change affects are searched. An entry that must move goes to
 * the port least used in its row among the equal best; an entry that was empty is chosen as FERa
 * chooses it, so empty tables become FERa's tables. LIDs that f no longer has get 255. `old` has rows
 * by f's switches and f's LIDs (see rt_tables_carry()). Fills t as an engine does; t->entries counts
 * the entries of searched destinations and those changed elsewhere.
 *
 * Without o->before every destination is searched, and `old` may be any tables. With o->before, which
 * must be what rt_fera or rt_update() made and what `old` was carried from, the two snapshots are
 * compared and only differences are searched. The result is the same, byte for byte (except with
 * o->even).
 *
 * A link that returns is no better than those that replaced it, so no entry returns to it. With o->even
 * some do, where FERa would put them: to a port whose link changed (with o->before only), or to one
 * that has at least two LIDs of the same destination switch fewer. About as many entries change then as
 * when the link was lost.
 */
struct rt_before {
	const struct fab *f;
	const uint64_t *rank; /* by f's switches, as all below; none UINT64_MAX */
	const struct rt_tables *t;
};

struct rt_update_stats {
	uint32_t searched; /* destination switches searched, of f->nswitches */
	uint64_t changed;  /* entries that differ from old */
	uint32_t
		new_links; /* rt_reroute(): ends of links between switches that the reference has not */
	uint32_t gone_links; /* and of those that it has alone, at switches that are there */
};

extern const struct rt_cost rt_update_cost;

int rt_update(const struct fab *f, const struct rt_opts *o, const struct rt_tables *old,
	      struct rt_tables *t, struct rt_update_stats *st, struct err *e);
/*
 * Routes after a change by reference tables: those that an engine computed from scratch for an earlier snapshot, with its
 * ranks, verified and without lanes. Every entry is that of the reference where its route still leads to the
 * destination; the others take a shortest way that is left, and share the ports that offer one. The result depends on the
 * reference and f alone, not on changes between them: when f is the fabric of the reference again, so are the tables.
 * Links that the reference has not are used only where nothing else is left. LIDs that f no longer has keep their
 * entries. rank (f->nswitches) becomes the ranks that the tables obey. st counts columns and entries that differ from the
 * reference.
 */
int rt_reroute(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
	       uint64_t *rank, struct rt_update_stats *st, struct err *e);

/*
 * The same for tables without ranks (ref->rank and rank are not looked at), with any number of lanes up to 8: free of deadlock
 * for each (link, VL), with the SL-to-VL maps of the reference. SLs of paths that change may change. Ways are chosen so that
 * old and new tables are free of deadlock together where that is possible. -EDEADLK: no such ways were found; -ETIME: the search
 * takes too long; -ENOTSUP: SLs or
 * VLs of the reference depend on input ports.
 */
int rt_reroute_lanes(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
		     uint64_t *rank, struct rt_update_stats *st, struct err *e);

/*
 * Entries for LIDs that no port of f has, where they lead down and then up again by these ranks: 255, in all
 * switches. Returns how many. rt_update() with o->before and the decision to keep tables leave such LIDs as they are.
 */
uint32_t rt_drop_stale(const struct fab *f, struct rt_tables *t, const uint64_t *rank);

/*
 * A safe way from the tables in the switches to new ones while traffic flows. Every mixture that can
 * occur on the way is covered: an entry is old or new, switch by switch, in any combination the
 * plan's order allows, and the channel dependencies of all of them together have no cycle but through
 * turns that are disabled. With lanes, a packet may carry the SL of either tables and each
 * SL-to-VL map may be either, at any time: hosts learn their SLs late, and maps may be set in any
 * order. So no packet can meet a deadlock or a loop on the way.
 */
enum rt_plan_kind {
	RT_PLAN_NOTHING,   /* the tables are the same */
	RT_PLAN_ANY_ORDER, /* all at once */
	RT_PLAN_OUTWARDS, /* for each destination from its switch outwards: a switch changes after the
			    * next switch on its new route has */
	RT_PLAN_TURNS, /* disable turns first (map to VL15), then outwards, then enable them again */
};

struct rt_plan {
	enum rt_plan_kind kind;
	/* RT_PLAN_TURNS only: the turns to disable; none can be left out, unless the search for that was
	 * cut short. In and out may be the same port: mixed tables can send a packet back where it came
	 * from. In the order of switch, in, out. */
	rt_turns turns;
	bool turns_in_use; /* old tables take one of them */
	uint64_t entries;  /* that differ */
	uint64_t blocks;   /* of 64 entries that differ */
	bool lanes;	   /* service levels or SL-to-VL maps differ */
};

const char *
rt_plan_name(enum rt_plan_kind k); /* "nothing", "any order", "outwards", "disable turns" */

/*
 * `old` as in rt_update(). rank: of the new tables; turns that it forbids and the new tables do not
 * take may be disabled; NULL: none may be. off: turns that are and stay disabled, may be NULL. -EINVAL
 * when the new tables are not free of deadlock themselves, or old and new ones close a cycle without
 * such a turn.
 * Turns that the old tables do not take either are disabled if they suffice.
 */
int rt_plan(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
	    const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *p,
	    struct err *e);

/*
 * The same where packets may be lost for it: if rt_plan() finds no way, turns that old or new tables take are disabled as
 * well, as few as the search finds. For tables without ranks. -EINVAL only when the new tables are not free of deadlock.
 */
int rt_plan_cut(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *p,
		struct err *e);

void rt_plan_free(struct rt_plan *p);
/*
 * The same plan, quickly, where both tables are known to obey ranks: `before` is what was verified with its ranks and
 * what `old` was carried from, `new` was verified with rank, and no turn is disabled. Only entries that differ and what they
 * lead to are looked at. False: no plan was made, since that does not hold or packets may have several SLs or VLs; rt_plan()
 * makes one.
 */
bool rt_plan_change(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		    const uint64_t *rank, const struct rt_before *before, struct rt_plan *p);

/* Tables, ranks that they obey, and the plan that leads to them. */
struct rt_leg {
	struct rt_tables *tables;
	uint64_t *rank;
	struct rt_plan plan;
};

typedef VEC(struct rt_leg) rt_legs;

/*
 * From old to new tables over others between them, for plans with turns_in_use: no leg disables a turn that
 * tables take. Before each further leg, packets on the routes before the last one must have drained. `legs` gets
 * one leg for each tables between, and a last one with the plan to `new` alone. False: none was found, or
 * tables have lanes. `old` must connect every pair and obey old_rank, and no turn may be disabled.
 */
bool rt_detour(const struct fab *f, const struct rt_tables *old, const uint64_t *old_rank,
	       const struct rt_tables *new, const uint64_t *rank, rt_legs *legs);
void rt_legs_free(rt_legs *legs);

/* ---- the verifier ---- */

struct rt_verify_opts {
	unsigned threads;     /* 0: as many as the machine has */
	bool hosts_only;      /* judge routes from host to host only, none from or to a switch */
	const uint64_t *rank; /* by switch index: also look for down-up turns; NULL: do not */
};

/* A link in one direction, as the output port it leaves, on one VL. */
struct rt_channel {
	port_id port;
	uint8_t vl;
};

struct rt_report {
	bool ok;
	uint64_t pairs;	  /* ordered pairs of different endports with LIDs */
	uint64_t apart;	  /* pairs that no cables connect, which is no fault */
	uint32_t islands; /* parts of the fabric with endports, between which there are no cables */
	uint64_t unreachable; /* other pairs that end at 255, at a dead port or at the wrong node */
	uint64_t loops;	      /* pairs that never end */
	uint64_t discarded; /* pairs that would arrive, but have no VL at some switch on the way */
	uint64_t down_up;   /* switch-destination pairs where a route turns up after down */
	uint32_t cycles; /* strongly connected parts of the channel dependency graph with a cycle */
	uint32_t cyclic_channels; /* directed links (and VLs) in those parts */
	uint32_t hops_max;	  /* links from a source port to a destination port */
	uint64_t hops_sum;
	uint64_t link_load_max,
		link_load_sum; /* routes over a link and direction between switches */
	uint32_t nlinks;       /* directed links between switches */
	uint32_t nproblems;    /* sentences below: the first faults of each kind */
	char problem[8][192];
	VEC(struct rt_channel) cycle; /* one credit loop, in order */
};

/*
 * Follow every route of tables t through fabric f, with the SL that t->lanes gives it, and look for
 * credit loops among (link, VL) pairs. Returns 0 and fills r whether the tables are good or not (free
 * r with rt_report_free()), or -EINVAL when f and t do not go together.
 */
int rt_verify(const struct fab *f, const struct rt_tables *t, const struct rt_verify_opts *o,
	      struct rt_report *r, struct err *e);
void rt_report_free(struct rt_report *r);
/*
 * The same verdict, quickly, for tables after a change: `before` holds tables that were verified with
 * its ranks. Only routes that differ are walked. True: rt_verify() with these ranks would find no fault;
 * false: it may, or the two snapshots do not compare.
 */
bool rt_verify_change(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		      const struct rt_before *before);

/* ---- tables as text: OpenSM's opensm-lfts.dump, also what dump_lfts prints ---- */

void rt_lfts_write(const struct fab *f, const struct rt_tables *t, struct strbuf *out);
/* The same, switch by switch: the text of a large fabric is larger than its memory. */
void rt_lfts_each(const struct fab *f, const struct rt_tables *t,
		  void (*put)(void *ctx, const char *text, size_t len), void *ctx);

/*
 * Read tables for f. The dump's own LIDs (by port GUID) replace those of the snapshot: *with_lids
 * is a copy of f that has them. -EINVAL with file and line in e.
 */
int rt_lfts_parse(const struct fab *f, const char *name, const char *text, size_t len,
		  struct fab **with_lids, struct rt_tables **t, struct err *e);

/* The same. */
int rt_lfts_read(const struct fab *f, const struct rt_dump *d, struct fab **with_lids,
		 struct rt_tables **t, struct err *e);

/*
 * Service levels and SL-to-VL maps, port by port as OpenSM dumps them; ibdmchk reads both with -c and
 * -d. A large fabric's are larger than its memory, so put() gets them port by port.
 */
void rt_path_sls_each(const struct fab *f, const struct rt_tables *t,
		      void (*put)(void *ctx, const char *text, size_t len), void *ctx);
void rt_sl2vl_each(const struct fab *f, const struct rt_tables *t,
		   void (*put)(void *ctx, const char *text, size_t len), void *ctx);

/*
 * Give t, which are tables for f, the lanes that two dumps hold; either may be NULL. A path that the
 * dumps do not name has SL 0, a pair of ports without a map has VL = SL. Lanes that t has are
 * replaced. -EINVAL with file and line in e; t has no lanes then.
 */
int rt_lanes_parse(const struct fab *f, struct rt_tables *t, const struct rt_dump *sls,
		   const struct rt_dump *sl2vl, struct err *e);

#endif
