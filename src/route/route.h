/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes: engines that compute forwarding tables for a snapshot, and a verifier that trusts none.
 *
 * Tables are linear forwarding tables, one row a switch (in the order of fab.switches), one byte a
 * LID; 255 means no route. Engines read LIDs from the snapshot (fab_port.lid, .lmc). The result
 * never depends on the number of threads.
 */
#ifndef WEFT_ROUTE_H
#define WEFT_ROUTE_H

#include "fabric/fabric.h"

struct rt_tables {
	uint32_t nswitches;
	uint32_t top_lid;
	uint32_t stride; /* bytes a row: top_lid + 1 rounded up to 64 */
	uint8_t *lft;	 /* nswitches * stride, 255 where nothing was computed */
	uint8_t *
		dflt; /* by switch: the way for entries left open, 255: none; NULL: no such engine */
	uint64_t entries; /* entries the engine computed, default ports not counted */
};

static inline uint8_t *rt_row(const struct rt_tables *t, uint32_t sw)
{
	return t->lft + (size_t)sw * t->stride;
}

struct rt_tables *rt_tables_new(uint32_t nswitches, uint32_t top_lid);
void rt_tables_free(struct rt_tables *t);
/* The tables of fabric `from` in the order of the switches of `to` (by GUID): what a switch has now
 * it also has in the next snapshot. Rows of new switches are open, those of lost ones left out, LIDs
 * stay what they are. */
struct rt_tables *rt_tables_carry(const struct fab *from, const struct rt_tables *t,
				  const struct fab *to);
/* Write the default ports into the entries left open, as a linear table needs it (thesis 6.2.3);
 * LID 0 stays 255. Tables without default ports are left as they are. */
void rt_tables_fill(struct rt_tables *t);

/* How the links of the up/down graph get their directions (thesis 6.1.1). */
enum rt_directions {
	RT_BY_DISTANCE, /* by distance from the root, then GUID */
	RT_BY_BFS, /* by the order in which a breadth-first tree from the root finds the switches */
	RT_BY_DFS, /* by the order of a depth-first tree */
};

struct rt_before;

struct rt_opts {
	node_id root; /* sink of the up/down graph; FAB_NONE: the first switch */
	enum rt_directions directions;
	unsigned threads; /* 0: as many as the machine has */
	/* By switch index: use these ranks instead of root and directions; NULL: as said above. */
	const uint64_t *rank;
	/* For rt_update() only: what was before the change (NULL: it looks at everything), and whether
	 * links that are new get their share of what others carry well already. */
	const struct rt_before *before;
	bool even;
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
	/* Its routes are up*-down* over the ranks that o gives (o->root, o->directions or o->rank): the
	 * verifier checks them for turns from down to up, and one dependency graph proves them. */
	bool updown;
	/* It may use more than one VL (t->lanes). A manager that cannot program SL-to-VL tables must
	 * not use it. */
	bool lanes;
	/* Another engine with routes of the same up/down graph, to which entries of these may change one
	 * by one while traffic flows. */
	const struct rt_engine *refined_by;
	struct rt_cost cost;
};

#define X(name) extern const struct rt_engine rt_##name;
#include "route/engines.h"
#undef X

const struct rt_engine *rt_engine_find(const char *name); /* NULL */
extern const struct rt_engine *const rt_engines[];	  /* ends with NULL */
extern const char *const rt_engine_names[];		  /* the same, by name; ends with NULL */

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

/*
 * The ranks in use before a change, carried over to the snapshot after it so that as few links as
 * possible turn round. old[s] is the rank of switch s before, UINT64_MAX when it is new. In the
 * result the root is the only switch without an upper neighbour in its part of the fabric (every
 * other part has a sink of its own), ranks count from 0, each is there once, and switches that need
 * not move keep their order. New switches come where they have the directions that a graph made anew
 * would give them, as far as the old order allows. Returns how many links between switches known
 * before changed direction.
 */
uint32_t rt_updown_rank_keep(const struct fab *f, node_id root, const uint64_t *old,
			     uint64_t *rank);
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

/* ---- changing tables without harm ---- */

/*
 * Routes after a change, with as little new as possible: the distances are those of FERa over these
 * ranks (o->rank is needed, every rank once), an entry of `old` stays where it is still among the
 * best, and only destinations that the change touches are searched. An entry that has to move goes to
 * the port least used in its row among the equal best; an entry that was open is dealt as FERa deals
 * it, so from nothing come FERa's tables. LIDs that f has no more get 255. `old` has rows by f's
 * switches and LIDs as f's (see rt_tables_carry()). Fills t as an engine does; t->entries counts the
 * entries of searched destinations and those changed elsewhere.
 *
 * Tables do not show what is new, so by themselves they let nothing be left out: every destination is
 * searched, and `old` may be anything. With o->before, which must be what rt_fera or rt_update() made
 * and what `old` was carried from, the two snapshots are compared and only what differs is looked at.
 * The result is the same, byte for byte (but for o->even).
 *
 * A link that comes back is no better than those that stood in for it, so no entry returns to it. With
 * o->even some do, where FERa would put them: to a port that is not what it was before (with o->before
 * only), or to one that has at least two LIDs of the same destination switch fewer. About as many
 * entries change then as did when the link was lost.
 */
struct rt_before {
	const struct fab *f;
	const uint64_t *rank; /* by f's switches, as all below; none UINT64_MAX */
	const struct rt_tables *t;
};

struct rt_update_stats {
	uint32_t searched; /* destination switches searched anew, of f->nswitches */
	uint64_t changed;  /* entries that differ from old */
};

extern const struct rt_cost rt_update_cost;

int rt_update(const struct fab *f, const struct rt_opts *o, const struct rt_tables *old,
	      struct rt_tables *t, struct rt_update_stats *st, struct err *e);

/*
 * A safe way from the tables in the switches to new ones while traffic flows. Every mixture that can
 * occur on the way is covered: an entry is old or new, switch by switch, in any combination the
 * plan's order allows, and the channel dependencies of all of them together have no cycle but through
 * turns that are switched off. So no packet can meet a deadlock or a loop on the way.
 */
enum rt_plan_kind {
	RT_PLAN_NOTHING,   /* the tables are the same */
	RT_PLAN_ANY_ORDER, /* all at once */
	RT_PLAN_OUTWARDS, /* for each destination from its switch outwards: a switch changes after the
			    * next switch on its new route has */
	RT_PLAN_TURNS, /* switch the turns off first (map to VL15), then outwards, then on again */
};

struct rt_plan {
	enum rt_plan_kind kind;
	/* RT_PLAN_TURNS only: none of them can be spared, unless finding out took too long. In and out
	 * may be the same port: mixed tables can send a packet back where it came from. In the order of
	 * switch, in, out. */
	rt_turns turns;
	uint64_t entries; /* that differ */
	uint64_t blocks;  /* of 64 entries that differ */
};

const char *rt_plan_name(enum rt_plan_kind k); /* "nothing", "any order", "outwards", "turns off" */

/*
 * `old` as in rt_update(); rank: of the new tables (its forbidden turns are what may be switched
 * off, but those the new tables need). off: turns that are switched off already and stay so, may be
 * NULL. -EINVAL when the new tables are not free of deadlock themselves, or old and new ones close a
 * cycle without such a turn.
 */
int rt_plan(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
	    const uint64_t *rank, const rt_turns *off, unsigned threads, struct rt_plan *p,
	    struct err *e);
void rt_plan_free(struct rt_plan *p);

/* ---- the verifier ---- */

struct rt_verify_opts {
	unsigned threads;     /* 0: as many as the machine has */
	bool hosts_only;      /* judge routes from host to host only, none from or to a switch */
	const uint64_t *rank; /* by switch index: also look for down-up turns; NULL: do not */
	/* The VL a packet of service level sl takes from port `in` to port `out` of a switch; NULL:
	 * every packet of one SL stays on one VL, so one dependency graph stands for all. */
	unsigned (*vl)(const void *ctx, uint32_t sw, unsigned in, unsigned out, unsigned sl);
	const void *vl_ctx;
	uint16_t sl_mask; /* service levels in use, with vl only */
};

struct rt_report {
	bool ok;
	uint64_t pairs;	      /* ordered pairs of different LIDs' ports that were looked at */
	uint64_t unreachable; /* pairs that end at 255, at a dead port or at the wrong node */
	uint64_t loops;	      /* pairs that never end */
	uint64_t down_up;     /* switch-destination pairs where a route turns up after down */
	uint32_t cycles; /* strongly connected parts of the channel dependency graph with a cycle */
	uint32_t cyclic_channels; /* directed links (and VLs) in those parts */
	uint32_t hops_max;	  /* links from a source port to a destination port */
	uint64_t hops_sum;
	uint64_t link_load_max,
		link_load_sum; /* routes over a link and direction between switches */
	uint32_t nlinks;       /* directed links between switches */
	uint32_t nproblems;    /* texts below, in words for a person: the first few of each kind */
	char problem[8][192];
	VEC(port_id) cycle; /* one cycle, as the output ports in order */
};

/* Returns 0 and fills r whatever the verdict; free r with rt_report_free(). */
int rt_verify(const struct fab *f, const struct rt_tables *t, const struct rt_verify_opts *o,
	      struct rt_report *r, struct err *e);
void rt_report_free(struct rt_report *r);
/*
 * The same verdict, quickly, for tables after a change: `before` are tables that were verified with its
 * ranks. Only routes that differ are walked. True: rt_verify() with these ranks would find nothing; false:
 * it may, or the two snapshots do not compare.
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

#endif
