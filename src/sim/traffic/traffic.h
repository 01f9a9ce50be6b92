/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic generator: destination, time, length and service level of the packets of each host.
 * Keeps one seeded random stream for each host. Promises the same packets for the same seed,
 * whatever else is simulated: it uses integers only. Called by the data plane; the command line
 * parses traces with it.
 */
#ifndef WEFT_TRAFFIC_H
#define WEFT_TRAFFIC_H

#include "base/rng.h"
#include "base/vec.h"

enum traffic_pattern {
	TRAFFIC_UNIFORM,     /* any other host */
	TRAFFIC_PERMUTATION, /* one constant partner, drawn at random without fixed points */
	TRAFFIC_SHIFT,	     /* host i to i + shift */
	TRAFFIC_HOTSPOT,     /* a share goes to one host, the rest is uniform */
	TRAFFIC_COMPLEMENT,  /* host i to n - 1 - i (bit complement where n is a power of two) */
	TRAFFIC_TORNADO,     /* host i to i + n/2 - 1 */
	TRAFFIC_ALL_TO_ALL,  /* every other host in turn */
	TRAFFIC_INCAST,	     /* all to one host, which sends nothing */
	TRAFFIC_TRACE,	     /* from a file */
};

enum traffic_arrivals {
	TRAFFIC_POISSON,
	TRAFFIC_CONSTANT, /* at equal intervals, each host with its own random phase */
	TRAFFIC_BURSTY,	  /* on and off times with a heavy tail (Pareto), self-similar in the sum */
};

struct traffic_trace_item { /* one line: time source destination bytes sl */
	uint64_t when_ps;
	uint32_t src, dst;
	uint16_t bytes;
	uint8_t sl;
};
typedef VEC(struct traffic_trace_item) traffic_trace;

struct traffic_config {
	enum traffic_pattern pattern;
	enum traffic_arrivals arrivals;
	uint64_t interval_ps;	/* mean time between packets of one host; not for traces */
	uint16_t payload;	/* bytes, 0..4096 */
	uint16_t sl_mask;	/* service levels drawn uniformly; 0: SL 0 */
	uint32_t hot_host;	/* hot spot, incast */
	uint64_t hot_share_q32; /* hot spot: share of the traffic, of 2^32 */
	uint32_t shift;
	unsigned
		burst_packets; /* bursty: mean packets of a burst, sent back to back at burst_gap_ps */
	uint64_t burst_gap_ps;
	uint64_t start_ps, stop_ps; /* packets are generated in [start, stop) */
	bool known_only; /* a host whose port was never Active neither sends nor receives */
	bool late_lids; /* others learn the new LID of a host when its port becomes Active, not when it is set */
	bool machines; /* hosts are PFs, VFs and shared ports' VFs on which a machine runs at the start */
	bool silent_new; /* with it: a host whose port was not yet Active at the start never sends */
	uint64_t seed;
	const traffic_trace *trace; /* sorted by time */
};

struct traffic_packet {
	uint64_t when_ps;
	uint32_t dst; /* host number */
	uint16_t payload;
	uint8_t sl;
};

struct traffic;

/* For n hosts numbered 0..n-1. Returns NULL with e filled when the pattern does not fit n. */
struct traffic *traffic_new(const struct traffic_config *c, uint32_t n, struct err *e);
void traffic_free(struct traffic *t);

/* The next packet of a host, in order of time; false: it has sent all. */
bool traffic_next(struct traffic *t, uint32_t host, struct traffic_packet *p);

const char *traffic_pattern_name(enum traffic_pattern p);
const char *traffic_arrivals_name(enum traffic_arrivals a);

/* Text with one packet on each line: "time src dst bytes [sl]", time as 12.5us or in ns without
 * unit, '#' starts a comment. Sorts by time. -EINVAL with "name:line: ..." in e. */
int traffic_trace_parse(traffic_trace *out, uint32_t nhosts, const char *name, const char *text,
			size_t len, struct err *e);

#endif
