/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the performance manager share. Times in here are microseconds of a clock that is never set back. */
#ifndef WEFT_PERF_PRIV_H
#define WEFT_PERF_PRIV_H

#include "base/map.h"
#include "base/vec.h"
#include "perf/perf.h"

#define PERF_NEVER  UINT64_MAX
#define US_PER_S    UINT64_C(1000000)
#define PERF_NOBODY UINT32_MAX

/* ---- rings of samples: history.c ---- */

/* Values that add up until a slot ends: rates are their quotient by time. */
struct perf_ring {
	uint64_t xmit, rcv, wait, errors; /* data in units of 4 bytes */
	uint64_t us;			  /* over which they were counted */
	uint64_t slot;			  /* the one under way; 0: none yet */
	uint64_t *at;			  /* packed samples, `slots` of them */
};

struct perf_delta { /* of one read */
	uint64_t xmit, rcv, wait, errors, us;
};

void perf_ring_add(struct perf_ring *r, unsigned slots, uint64_t slot_us, uint64_t now,
		   const struct perf_delta *d);
void perf_ring_read(const struct perf_ring *r, unsigned slots, uint64_t slot_us, uint64_t now,
		    struct perf_sample *out, uint32_t n);
uint16_t perf_code(uint64_t v); /* 16 bits, to 1/1024 */
uint64_t perf_decode(uint16_t code);

/* ---- ports and devices ---- */

struct perf_port {
	uint64_t last[PERF_NCOUNTERS];		       /* as the device said */
	uint64_t count[PERF_NCOUNTERS];		       /* since the first read */
	uint64_t read_narrow, read_wide, read_quality; /* when; PERF_NEVER */
	uint64_t peer, bps;
	uint64_t xmit_rate, rcv_rate, wait_rate;
	struct perf_ring hour, day;
	/* health.c */
	uint32_t part[PERF_PARTS]; /* errors, by part of the time that is watched */
	uint64_t part_now;	   /* number of the present part */
	uint64_t sick_at, calm_at; /* PERF_NEVER: it is not */
	uint32_t saturated;	   /* counters at their maximum: a bit for each */
	uint16_t lid;
	uint8_t num, peer_port;
	uint8_t times_sick;
	uint8_t order_port; /* isolated by an order about this switch's port; 0: by that of its other end */
	bool linked, sick, isolated, kept, peer_is_switch;
	bool corrects; /* its link is FDR or faster: errors may be corrected */
	uint64_t order_guid;
	uint64_t ordered_at;
	uint64_t last_sick; /* when it was last found so */
};

enum perf_has {
	PERF_HAS_WIDE = 1,
	PERF_HAS_WIDE_ERRORS = 2,
	PERF_HAS_WAIT = 4,
	PERF_HAS_QUALITY = 8, /* until it refuses: no bit of ClassPortInfo says so */
};

struct perf_device {
	uint64_t guid;
	struct perf_port *ports; /* nports of them, from number 1 */
	uint64_t *samples;	 /* of all ports */
	uint64_t gone;		 /* since when; PERF_NEVER: it is there */
	uint32_t seen;		 /* snapshot */
	uint32_t
		next; /* question: port * PERF_QUESTIONS + attribute; all of them: the round is done */
	uint32_t skip;	/* rounds until it is asked again, */
	uint32_t skips; /* and how many those are the next time */
	uint16_t lid;
	uint8_t nports, outstanding;
	uint8_t missed; /* queries in a row without an answer */
	uint8_t has;	/* enum perf_has */
	bool is_switch, used, known, silent, queued, with_day;
	bool quick; /* it is asked between rounds: narrow data counters of fast links */
};

enum perf_ask {
	PERF_ASK_CLASS,
	PERF_ASK_NARROW, /* these three of a port, in this order */
	PERF_ASK_WIDE,
	PERF_ASK_QUALITY,
	PERF_ASK_CLEAR,
};
enum { PERF_QUESTIONS = 3 };

/* Counters of a port that are to be set to 0. */
struct perf_clear {
	uint32_t device, select;
	uint8_t port;
};

struct perf_query {
	uint64_t deadline;
	uint32_t device, serial;
	uint32_t earlier, later; /* by time: PERF_NOBODY at the ends */
	uint16_t lid;
	uint8_t port, ask;
	bool used, excused; /* excused: the subnet changed meanwhile, silence means nothing */
	bool probe; /* of a device that has not answered the last one: a round does not wait for it */
};

struct perf {
	struct perf_config cfg;
	uint64_t shift; /* microseconds that the caller's clock was set back by */
	uint64_t now;
	/* devices.c */
	VEC(struct perf_device) devices; /* places are used again */
	VEC(uint32_t) places;		 /* of devices that are gone */
	struct map64 by_guid;
	VEC(uint32_t) order; /* those in the snapshot, in its order */
	uint32_t nports;     /* linked */
	uint32_t held;	     /* ports in memory */
	uint32_t snapshot;
	bool has_snapshot, serving, paused, observes;
	uint16_t own_lid;
	uint8_t *sls; /* by LID up to top_lid; NULL: SL 0 */
	uint32_t top_lid, sls_number;
	/* queries.c */
	struct perf_query *queries;
	uint32_t outstanding, probes, serial, oldest, newest; /* probes: of the outstanding ones */
	VEC(uint32_t) unused;
	uint32_t *queue; /* devices with questions, a ring of order.n */
	uint32_t queue_at, queued, queue_size;
	bool in_round, whole; /* whole: of all devices, not of the quick ones alone */
	bool turns; /* errors of devices with two attributes: every other port in a round */
	uint64_t round_began, round_due, quick_due, quick_us, round_queries;
	uint64_t round_put_off; /* questions that wait for the next round: it is not their turn */
	VEC(struct perf_clear) clears; /* that wait to be sent */
	/* events */
	VEC(struct perf_event) events;
	size_t events_taken;
	struct perf_status st;
	uint64_t total[PERF_NCOUNTERS]; /* counted by all ports */
	struct perf_minute *minutes;
	struct perf_minute minute; /* under way */
	uint64_t minute_now;
};

/* devices.c */
void perf_devices_update(struct perf *p, const struct sm *sm, const struct sm_standing *st);
void perf_devices_free(struct perf *p);
struct perf_port *perf_port_find(const struct perf *p, uint64_t guid, unsigned port,
				 const struct perf_device **of);
/* Whether the port is to be read: it is linked, or isolated and so in no snapshot. */
bool perf_port_wanted(const struct perf_port *q);

/* queries.c */
void perf_queries_drop(struct perf *p, uint32_t device); /* their answers mean nothing any more */
void perf_queue_resize(struct perf *p);
void perf_queries_excuse(struct perf *p); /* silence means nothing: the subnet changes */
uint64_t perf_queries_due(const struct perf *p);

/* counter_growth.c */
void perf_counters_narrow(struct perf *p, struct perf_device *d, struct perf_port *q,
			  const struct iba_port_counters *v);
void perf_counters_wide(struct perf *p, struct perf_device *d, struct perf_port *q,
			const struct iba_port_counters_ext *v);
void perf_counters_quality(struct perf *p, struct perf_device *d, struct perf_port *q,
			   const struct iba_ext_speeds_counters *v);
/* Microseconds in which a 32-bit data counter of such a link can fill. */
uint64_t perf_fill_us(uint64_t bps);
/* Counters to be set to 0: CounterSelect; 0: none. */
uint32_t perf_counters_to_clear(const struct perf_device *d, const struct perf_port *q);
void perf_counters_cleared(struct perf *p, struct perf_device *d, struct perf_port *q,
			   const struct iba_port_counters *v, uint32_t select);

/* health.c */
/* What a port has counted since it was read last, before so many microseconds; 0: it was not read. */
struct perf_read {
	uint64_t symbols, recoveries, downs, elapsed;
};
void perf_health(struct perf *p, struct perf_device *d, struct perf_port *q,
		 const struct perf_read *r);
uint64_t perf_health_errors(const struct perf *p, const struct perf_port *q);
uint64_t perf_health_bits(const struct perf *p, const struct perf_port *q);
void perf_health_forget_orders(struct perf *p); /* another manager has had none */
void perf_health_reinstate(struct perf *p);	/* links that the policy isolates no more */

/* perf.c */
void perf_tell(struct perf *p, const struct perf_event *ev);
void perf_minute_add(struct perf *p, const struct perf_delta *d);
uint64_t perf_us(const struct perf *p, time_ps now);

#endif
