/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How good routes are: traffic patterns laid over forwarding tables, without a simulation. Pure; the result depends on
 * fabric, tables and options, never on the number of threads.
 *
 * Hosts are ports of CAs with a LID and a cable. A flow goes from one host to the base LID of another (or, with
 * `spread`, to one of its 2^LMC LIDs). All flows of a pattern are there at once, and each gets an equal part of the
 * busiest link on its path: its share is
 *
 *	share = ends / busiest
 *
 * busiest: the most flows over one link of its path, in its direction, links of hosts included.
 * ends: the most flows over the first and the last link of the path, those of its two hosts.
 *
 * Where a host sends one flow and gets one, ends is 1. A share of 1 always means: the fabric is no limit, only the
 * two hosts are. A flow without a path has share 0 and loads no link. Where hosts are in several islands, which no cables
 * join, each pattern runs inside every island by itself, and in all of them at once: no flow goes from one to another. Flows on different VLs of a link share its
 * bandwidth, so they are counted by link and not by VL. All links count alike, whatever their rates are.
 */
#ifndef WEFT_ROUTE_QUALITY_H
#define WEFT_ROUTE_QUALITY_H

#include "route/route.h"

typedef VEC(port_id) rt_hosts;
typedef unsigned __int128 rt_share_sum;

enum rt_pattern {
	RT_BISECTION,	 /* drawn: hosts in pairs at random, both of a pair send to each other */
	RT_PERMUTATIONS, /* drawn: each host sends to one and gets from one, perhaps itself: no flow */
	RT_SHIFTS,	 /* host i to host i + k, for every k, in the order of the hosts given */
	RT_SHIFTS_BY_NAME, /* the same in the order of names, numbers in them by value */
	RT_ALL_TO_ALL,	   /* each host to all others, at once */
	RT_BIT_COMPLEMENT, /* host i to host n - 1 - i */
	RT_TORNADO,	   /* host i to host i + (n - 1) / 2 */
	RT_RING,	   /* host i to host i + 1 */
	RT_NEIGHBOURS_2D,  /* each host to its neighbours in a periodic grid, at once */
	RT_NEIGHBOURS_3D,
	RT_RECURSIVE_DOUBLING, /* step k: host i to host i xor 2^k */
	RT_INCAST,	       /* all other hosts to the storage nodes in turn, at once */
	RT_NPATTERNS
};

extern const char *const rt_pattern_names[]; /* "bisection", ...: keys of JSON as well */

enum {
	RT_SHARE_ONE = 1000000000, /* shares are whole numbers of this part */
	RT_SHARE_BINS = 1001,	   /* thousandths, rounded */
	RT_LINK_BINS = 65,
	RT_ALL_SHIFTS =
		4096, /* up to so many hosts all shifts are measured, unless told otherwise ... */
	RT_SOME_SHIFTS = 512, /* ... and of more so many, drawn */
};

/* All flows of all patterns of one kind. */
struct rt_shares {
	uint32_t patterns;
	uint64_t flows;
	uint64_t no_path; /* flows without a path */
	rt_share_sum sum;
	uint64_t worst;		/* share of a flow */
	uint64_t worst_pattern; /* mean of a pattern, rounded down */
	uint64_t busiest;	/* most flows over a link in one pattern */
	uint64_t count[RT_SHARE_BINS];
	/* Links between switches, both directions, pattern by pattern: by the number of flows over them, the last
	 * for so many or more. Not for RT_ALL_TO_ALL. */
	uint64_t links[RT_LINK_BINS];
};

struct rt_quality_opts {
	const port_id *hosts; /* NULL: all, as rt_quality_hosts() finds them. Each once */
	uint32_t nhosts;
	const port_id *storage; /* some of the hosts; NULL: every 32nd, the first one included */
	uint32_t nstorage;
	uint32_t patterns; /* drawn of RT_BISECTION and RT_PERMUTATIONS; 0: rt_quality_patterns() */
	uint64_t seed;
	bool quick; /* RT_BISECTION and RT_SHIFTS only, at most `patterns` of each; no routes, hops or lanes */
	bool full; /* all shifts of any number of hosts */
	bool spread; /* a flow uses the LID of its destination that the number of the sender gives, modulo 2^LMC */
	unsigned threads; /* 0: as many as the machine has */
	/* Called by the calling thread from time to time; NULL: never. */
	void (*progress)(void *ctx, enum rt_pattern p, uint64_t done, uint64_t of);
	void *ctx;
};

struct rt_quality {
	uint32_t hosts, storage, patterns;
	uint32_t islands; /* in which these hosts are */
	uint64_t apart;	  /* ordered pairs of hosts in two islands: patterns leave them out */
	uint32_t
		without_lid; /* hosts with a cable that were left out for want of a LID; 0 where hosts were given */
	struct rt_shares by[RT_NPATTERNS];
	uint32_t grid
		[2]
		[3]; /* sides of the grids of RT_NEIGHBOURS_2D and _3D, in the largest island; the first of 2D is 1 */
	uint32_t links;	   /* between switches, both directions */
	uint64_t *flows;   /* by port: flows that leave it, in all patterns of RT_BISECTION */
	uint64_t *routes;  /* by port: the same in RT_ALL_TO_ALL */
	uint32_t hops_max; /* links from host to host */
	uint64_t hops_sum, hops_paths;
	unsigned lanes;		      /* VLs that paths from host to host use */
	uint64_t by_lane[RT_MAX_VLS]; /* steps of these paths over links between switches */
};

/* Ports of CAs with a LID and a cable, without SHARP aggregation nodes, in the order of the fabric; returns how many
 * have a cable and no LID. */
uint32_t rt_quality_hosts(const struct fab *f, rt_hosts *out);
/* 1,000; fewer above 4,096 hosts, so that about four million flows are drawn. */
uint32_t rt_quality_patterns(uint32_t hosts);

/* -EINVAL when f and t do not go together or a host has no LID or no cable. Free q after success. */
int rt_quality(const struct fab *f, const struct rt_tables *t, const struct rt_quality_opts *o,
	       struct rt_quality *q, struct err *e);
void rt_quality_free(struct rt_quality *q);

uint64_t rt_shares_mean(const struct rt_shares *s); /* rounded; 0 without flows */
/* The largest share that this many thousandths of the flows do not exceed, in thousandths: 500: the median. */
unsigned rt_shares_percentile(const struct rt_shares *s, unsigned per_mille);

/* Links between switches with routes from host to host, by flows in bisections, then routes in all-to-all, the busiest first; equal ones in the
 * order of ports. Returns how many of at most n. */
uint32_t rt_quality_worst_links(const struct fab *f, const struct rt_quality *q, port_id *out,
				uint32_t n);

/* Entries, and blocks of 64, that differ between the tables of one fabric. */
struct rt_changes {
	uint64_t entries, blocks;
	uint32_t switches; /* with such entries */
};
void rt_changes_count(const struct rt_tables *a, const struct rt_tables *b, struct rt_changes *c);

#endif
