/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the verifier share: verify.c walks tables and counts, verify_lanes.c follows SLs
 * through SL-to-VL maps, verify_report.c turns faults into sentences. One struct verifier for a run,
 * read-only while walkers run but for the dependency graph; one struct walker a thread.
 */
#ifndef WEFT_ROUTE_VERIFY_PRIV_H
#define WEFT_ROUTE_VERIFY_PRIV_H

#include "route/cdg.h"
#include "route/route_priv.h"

/* What lies behind an output port: a switch's index, or one of these. */
#define BEHIND_PORT    0x80000000u /* | port id: here packets leave the fabric */
#define BEHIND_NOTHING UINT32_MAX

static inline bool is_switch_index(uint32_t behind)
{
	return behind < BEHIND_PORT;
}

/* How a walk ends: links from the switch to the destination, or one of these. */
enum {
	UNSEEN = -1,
	ON_PATH = -2,
	UNASSIGNED = -3,
	DEAD = -4,
	WRONG = -5,
	LOOP = -6,
	TURN = -7,
	DISCARDED = -8
};

enum {
	NKINDS = 6,  /* UNASSIGNED .. DISCARDED */
	SAMPLES = 2, /* of each kind, for the sentences */
};

/* A fault: of the route to this LID at this switch. */
struct sample {
	uint32_t lid, sw;
	uint8_t in, sl; /* DISCARDED only */
};

/* The smallest faults of each kind, so that threads do not change which they are. */
struct samples {
	struct sample at[NKINDS][SAMPLES];
	uint32_t n[NKINDS];
};

struct verifier {
	const struct fab *f;
	const struct rt_tables *t;
	const struct rt_verify_opts *o;
	port_id *first;	    /* first port id by switch index */
	uint32_t *behind;   /* by port id of a switch */
	uint8_t *nports;    /* by switch */
	uint32_t *hosts;    /* by switch: host ports that send through it */
	uint8_t *speaks;    /* by switch: it has a LID and so sends itself */
	bool all_carry;	    /* every switch has a route of its own that counts for dependencies */
	VEC(port_id) loose; /* hosts that are not connected to a switch */
	uint32_t *island;   /* by switch: which of the parts that cables join */
	uint32_t nislands;  /* parts with endports that count, pairs of loose hosts included */
	uint64_t nsources;
	port_id *lid_port;
	uint32_t top_lid;
	uint32_t no_lid; /* connected ports without a LID, and the first of them */
	port_id no_lid_first;
	struct cdg cdg;
};

/* The routes to one LID with lanes: what packets came in where. NULL without lanes. */
struct lane_walk {
	uint16_t *seen; /* by port id where packets come in: SLs that were followed from there */
	uint16_t *lost; /* those of them that are discarded later */
	port_id *path;
};

struct walker {
	uint8_t *tile;	/* [TILE][nswitches] */
	uint32_t *next; /* by switch: what is behind the port its table names */
	port_id *out;	/* by switch: that port */
	int32_t *end;
	uint32_t *order, norder; /* switches, each after the one its next step leads to */
	uint64_t *flow;
	uint8_t *carries, *turns;
	struct lane_walk *lanes;
	uint64_t *load; /* by port id */
	uint64_t pairs, apart, unreachable, loops, discarded, down_up, hops_sum;
	uint32_t hops_max;
	struct samples samples;
};

/* Which switches cables join, in v->island. */
void islands_find(struct verifier *v);
void islands_free(struct verifier *v);
/* No cables lead from switch s to the switch of a destination; FAB_NONE: it has none. */
static inline bool is_apart(const struct verifier *v, uint32_t s, uint32_t dest_sw)
{
	return dest_sw == FAB_NONE || v->island[s] != v->island[dest_sw];
}

void sample_add(struct samples *x, int kind, struct sample new);

struct lane_walk *lane_walk_new(const struct fab *f);
void lane_walk_free(struct lane_walk *l);
/* Dependencies and discards of all routes to one LID; w has walked them. */
void lane_walk_lid(struct verifier *v, struct walker *w, uint32_t lid);

/* The sentences of a report. */
void problems_report(const struct verifier *v, const struct samples *x, struct rt_report *r);

#endif
