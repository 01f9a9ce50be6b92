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
	uint32_t stride;  /* bytes a row: top_lid + 1 rounded up to 64 */
	uint8_t *lft;     /* nswitches * stride, 255 where nothing was computed */
	uint64_t entries; /* entries the engine computed */
};

static inline uint8_t *rt_row(const struct rt_tables *t, uint32_t sw)
{
	return t->lft + (size_t)sw * t->stride;
}

struct rt_tables *rt_tables_new(uint32_t nswitches, uint32_t top_lid);
void rt_tables_free(struct rt_tables *t);

struct rt_opts {
	node_id root;     /* sink of the up/down graph; FAB_NONE: the first switch */
	unsigned threads; /* 0: as many as the machine has */
};

/*
 * An engine. route() fills tables made by rt_tables_new() and returns 0, or a negative errno with
 * e filled when this topology is not for it. It must not depend on anything but its arguments, and
 * leaves unreachable destinations at 255.
 */
struct rt_engine {
	const char *name, *summary;
	int (*route)(const struct fab *f, const struct rt_opts *o, struct rt_tables *t, struct err *e);
};

extern const struct rt_engine rt_fera;

const struct rt_engine *rt_engine_find(const char *name); /* NULL */
extern const struct rt_engine *const rt_engines[];        /* ends with NULL */

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

/* ---- the verifier ---- */

struct rt_verify_opts {
	unsigned threads;      /* 0: as many as the machine has */
	bool hosts_only;       /* judge routes from host to host only, none from or to a switch */
	const uint64_t *rank;  /* by switch index: also look for down-up turns; NULL: do not */
	/* The VL a packet of service level sl takes from port `in` to port `out` of a switch; NULL:
	 * every packet of one SL stays on one VL, so one dependency graph stands for all. */
	unsigned (*vl)(const void *ctx, uint32_t sw, unsigned in, unsigned out, unsigned sl);
	const void *vl_ctx;
	uint16_t sl_mask;      /* service levels in use, with vl only */
};

struct rt_report {
	bool ok;
	uint64_t pairs;        /* ordered pairs of different LIDs' ports that were looked at */
	uint64_t unreachable;  /* pairs that end at 255, at a dead port or at the wrong node */
	uint64_t loops;        /* pairs that never end */
	uint64_t down_up;      /* switch-destination pairs where a route turns up after down */
	uint32_t cycles;       /* strongly connected parts of the channel dependency graph with a cycle */
	uint32_t cyclic_channels; /* directed links (and VLs) in those parts */
	uint32_t hops_max;     /* links from a source port to a destination port */
	uint64_t hops_sum;
	uint64_t link_load_max, link_load_sum; /* routes over a link and direction between switches */
	uint32_t nlinks;       /* directed links between switches */
	uint32_t nproblems;    /* texts below, in words for a person: the first few of each kind */
	char problem[8][192];
	VEC(port_id) cycle;    /* one cycle, as the output ports in order */
};

/* Returns 0 and fills r whatever the verdict; free r with rt_report_free(). */
int rt_verify(const struct fab *f, const struct rt_tables *t, const struct rt_verify_opts *o,
	      struct rt_report *r, struct err *e);
void rt_report_free(struct rt_report *r);

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
