/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The performance manager (IBA 16.1): reads the counters of every linked port of every device that the subnet manager
 * lists, round after round, and says which links are sick. Pure, as the manager is: MADs in, MADs out, time comes in with
 * each call, and the caller sends what perf_next() gives.
 *
 *	perf_manager(p, sm, &st, now)   after each step of the manager: its snapshot or state may be another one
 *	perf_take(p, &mad, now)         a response of performance management arrived (perf_owns() says whether it is ours)
 *	perf_wake(p, now)               the time of perf_due() has come (early or late does no harm)
 *	while (room) perf_next(p, &out) what is to be sent
 *	while (perf_event(p, &ev))      what happened: a link is sick, or well; a device is silent
 *
 * Only a master or an observer reads counters, and only while its manager is at rest: SMPs come first. Counters are never cleared unless
 * the configuration says so. Whatever bytes a MAD holds, the worst that happens is that it is counted and ignored. Memory
 * is bounded: perf_port_bytes() for each linked port, and at most PERF_PORTS of them.
 */
#ifndef WEFT_PERF_H
#define WEFT_PERF_H

#include "base/map.h"
#include "sm/sm.h"

struct perf;

/* Counters of PortCounters and PortCountersExtended that both have. Data is in units of 4 bytes, as devices count. */
enum perf_counter {
	PERF_XMIT_DATA,
	PERF_RCV_DATA,
	PERF_XMIT_PKTS,
	PERF_RCV_PKTS,
	PERF_XMIT_WAIT,
	PERF_SYMBOL_ERROR,
	PERF_LINK_RECOVERY,
	PERF_LINK_DOWNED,
	PERF_RCV_ERRORS,
	PERF_RCV_REMOTE_PHYS,
	PERF_RCV_SWITCH_RELAY,
	PERF_XMIT_DISCARDS,
	PERF_XMIT_CONSTRAINT,
	PERF_RCV_CONSTRAINT,
	PERF_LOCAL_INTEGRITY,
	PERF_BUFFER_OVERRUN,
	PERF_VL15_DROPPED,
	/* Of links with forward error correction, where devices have PortExtendedSpeedsCounters: blocks (with RS-FEC,
	 * symbols) that were corrected, and blocks that could not be. Sums over the lanes. */
	PERF_FEC_CORRECTED,
	PERF_FEC_UNCORRECTED,
	PERF_NCOUNTERS
};
enum { PERF_LAST_ERROR = PERF_VL15_DROPPED };	    /* from PERF_SYMBOL_ERROR on */
const char *perf_counter_name(enum perf_counter c); /* as in fields.h: "symbol_error" */

enum perf_isolate { PERF_ISOLATE_OFF, PERF_ISOLATE_SWITCHES, PERF_ISOLATE_ALL };

enum {
	PERF_MAX_WINDOW = 4096,
	PERF_PORTS = 1 << 18, /* linked ports; further devices are not read */
	PERF_OF_ONE = 4,      /* queries to one device at a time */
	PERF_SLOT_S = 20,     /* the last hour by slots of so many seconds */
	PERF_SLOTS = 180,
	PERF_MINUTES = 1440,	  /* the last day */
	PERF_PARTS = 8,		  /* of the time over which errors are added up */
	PERF_QUALITY_ROUNDS = 10, /* corrected errors are read in each of so many rounds */
	PERF_EVENTS = 4096,	  /* that wait for the caller; further ones are only counted */
};

struct perf_config {
	time_ps period; /* from the beginning of a round to that of the next; 0: counters are not read */
	unsigned window;
	time_ps timeout;
	bool clear;	/* counters that near their end are set to 0 */
	bool day;	/* the last day by the minute for each port, too */
	unsigned ber;	/* a link is sick with more than one error in 10^ber bits, */
	unsigned least; /* and at least so many, within: */
	time_ps watch;
	time_ps well; /* and well when it had less than a tenth of that for so long */
	enum perf_isolate isolate;
	unsigned isolate_most; /* links at once */
};
void perf_config_default(struct perf_config *c);

struct perf_mad {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t lid; /* received: of its sender; to be sent: of its receiver */
	uint8_t sl;
};

/* ---- what happens ---- */

enum perf_event_kind {
	PERF_SICK,    /* errors, over_us, bits */
	PERF_WELL,    /* the same */
	PERF_ISOLATE, /* the manager is to isolate this link: guid and port are those of a switch */
	PERF_REINSTATE, /* it is to use it again */
	PERF_KEPT,	/* the manager uses it again by itself: it is the only way to a switch */
	PERF_SATURATED, /* counter: it is at its maximum, and counts no more */
	PERF_CLEARED,	/* counter: it was set to 0, as configured */
	PERF_SILENT,	/* the device does not answer, or refuses: it is asked less often */
	PERF_ANSWERS,	/* again */
	PERF_NEVENTS
};

struct perf_event {
	enum perf_event_kind kind;
	uint64_t guid, peer; /* node GUIDs; peer 0: not known */
	uint8_t port, peer_port;
	enum perf_counter counter;
	uint64_t errors, bits, over_us;
	uint64_t round; /* how many were complete; 0 for devices */
};

/* ---- looking in ---- */

enum perf_flags {
	PERF_IS_SICK = 1,
	PERF_IS_ISOLATED = 2,
	PERF_IS_SATURATED = 4, /* a counter is at its maximum */
	PERF_IS_SILENT = 8,    /* its device does not answer */
	PERF_IS_READ = 16,     /* it was read at least twice: rates are known */
	PERF_IS_NARROW = 32,   /* its device has 32-bit data counters alone */
	PERF_IS_LINKED = 64,   /* in the present snapshot */
	PERF_IS_QUALITY = 128, /* PERF_FEC_* are known */
};

struct perf_view {
	uint64_t guid, peer;
	uint8_t port, peer_port;
	unsigned flags;
	uint64_t bps;			 /* of the link: data bits a second */
	uint64_t count[PERF_NCOUNTERS];	 /* since the first read, without roll-over */
	uint64_t device[PERF_NCOUNTERS]; /* as the device last said */
	uint64_t xmit_bytes, rcv_bytes;	 /* a second, between the last two reads */
	uint64_t wait;			 /* PortXmitWait ticks a second */
	uint64_t errors;		 /* weighed, within the time of `watch` */
	uint64_t bits;			 /* that the link can carry in that time */
	uint64_t sick_since_us, read_us; /* ago; UINT64_MAX: never */
};

struct perf_status {
	bool on, serving, paused; /* paused: the manager works on a change */
	uint64_t rounds, queries, answers, refused, timeouts, bad, late_rounds, events_dropped;
	uint64_t round_us, round_queries; /* of the last complete round */
	uint64_t
		put_off; /* questions about errors that the last round has left to the next one: it would have been late */
	uint32_t devices, ports, silent, sick, isolated, saturated, narrow;
	uint32_t outstanding;
	size_t bytes; /* of memory, for ports and devices */
};

/* A minute of the whole fabric. */
struct perf_minute {
	uint64_t xmit_bytes, rcv_bytes, errors, wait;
	uint32_t ports, sick, isolated, silent;
	bool known;
};

/* A slot or minute of one port; approximate to 1/1024. */
struct perf_sample {
	bool known;
	uint64_t xmit_bytes, rcv_bytes, wait; /* a second */
	uint64_t errors;		      /* in it */
};

enum perf_sort { PERF_BY_LOAD, PERF_BY_ERRORS, PERF_BY_WAIT, PERF_BY_NAME, PERF_NSORTS };
const char *perf_sort_name(enum perf_sort s);

/* ---- life ---- */

struct perf *perf_new(const struct perf_config *c);
void perf_free(struct perf *p);
void perf_reconfigure(struct perf *p, const struct perf_config *c);
void perf_time_back(struct perf *p, time_ps by); /* as sm_time_back() */

bool perf_owns(
	const uint8_t
		*mad); /* by its transaction: other parts of a program may send queries as well */
void perf_manager(struct perf *p, const struct sm *sm, const struct sm_standing *st, time_ps now);
void perf_take(struct perf *p, const struct perf_mad *in, time_ps now);
void perf_lost(struct perf *p, const uint8_t *mad, time_ps now); /* it was not delivered */
void perf_wake(struct perf *p, time_ps now);
time_ps perf_due(const struct perf *p);				   /* TIME_NEVER: nothing is */
bool perf_next(struct perf *p, struct perf_mad *out, time_ps now); /* false: nothing to send */
bool perf_event(struct perf *p, struct perf_event *ev);		   /* false: there are no more */
/* The manager is another one: it has isolated nothing. If it only observes, counters are read although it is not master, and no link is isolated. */
void perf_new_manager(struct perf *p, bool observes);

void perf_status(const struct perf *p, struct perf_status *st);
/* What all ports have counted since the first read of each, also those that are gone. */
void perf_totals(const struct perf *p, uint64_t total[PERF_NCOUNTERS]);
size_t perf_port_bytes(bool day); /* memory of one port */
bool perf_port_get(const struct perf *p, uint64_t guid, unsigned port, struct perf_view *v,
		   time_ps now);
/* The first `most` ports in that order that have all these flags; both ends of a link count. Returns how many. */
uint32_t perf_list(const struct perf *p, enum perf_sort by, unsigned flags, struct perf_view *out,
		   uint32_t most, time_ps now);
/* The same of links at these nodes alone: keys of the map are GUIDs; NULL: of all. */
uint32_t perf_list_at(const struct perf *p, enum perf_sort by, unsigned flags,
		      const struct map64 *nodes, struct perf_view *out, uint32_t most, time_ps now);
/* The last n slots (n <= PERF_SLOTS) or minutes (n <= PERF_MINUTES), the oldest first, the one under way not included.
 * False: there is no such port, or its days are not kept. */
bool perf_hour(const struct perf *p, uint64_t guid, unsigned port, struct perf_sample *out,
	       uint32_t n, time_ps now);
bool perf_day(const struct perf *p, uint64_t guid, unsigned port, struct perf_sample *out,
	      uint32_t n, time_ps now);
void perf_fabric_day(const struct perf *p, struct perf_minute *out, uint32_t n, time_ps now);
/* Errors in a number of bits as "3.2e-10"; "0" for none. */
void perf_ber_text(uint64_t errors, uint64_t bits, char out[16]);

#endif
