/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MADs between a transport and a manager: received MADs and due wake-ups become steps of the manager,
 * its sends go out. Keeps the manager's clock. Never blocks.
 */
#ifndef WEFT_MAD_PUMP_H
#define WEFT_MAD_PUMP_H

#include "perf/perf.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "transport/transport.h"

struct run_pump_calls {
	void (*note)(void *ctx, const struct sm_note *n);
	void (*compute)(void *ctx, const struct sm_compute *c);
	void (*set)(void *ctx); /* before a Set is sent; may be NULL */
	void *ctx;
	void (*vm)(void *ctx, const struct sm_vm_result *r); /* after the notes; may be NULL */
	void (*perf)(
		void *ctx,
		const uint8_t
			*mad); /* of performance management, not asked for by perf; may be NULL */
	void (*registered)(void *ctx,
			   const struct sa_item *it); /* with subnet administration; may be NULL */
	void (*counted)(void *ctx, const struct perf_event *ev); /* of perf; may be NULL */
};

/* Written by mad_pump.c alone; tests change back_after. */
struct run_pump {
	struct tp *tp; /* borrowed, like sm */
	struct sm *sm;
	struct sa *sa;	    /* borrowed; NULL: requests of hosts are not answered */
	struct perf *perf;  /* borrowed; NULL: counters are not read */
	bool aliases_known; /* the manager knows alias GUIDs: */
	uint32_t aliases;   /* of this number */
	bool trees_known;   /* the manager knows multicast groups: */
	uint32_t trees;	    /* those of this number */
	struct run_pump_calls call;
	struct sm_actions out;
	uint64_t (*clock_ns)(void);
	uint64_t zero_ns;    /* clock_ns() at the manager's time 0 */
	time_ps back_after;  /* at this time the manager's clock is set back, to an eighth of it */
	time_ps wake;	     /* when the manager wants its next step */
	struct tp_mad *ring; /* from the manager, not accepted by the transport yet */
	uint32_t size, head, n;
	unsigned
		batch; /* MADs received at a time: half the window, so that others are outstanding */
	uint64_t in, sent, lost; /* lost: the ring was full */
	bool owes;     /* subnet administration may have more to send: there was no room for it */
	uint64_t own;  /* MADs to and from the manager, without subnet administration */
	bool full;     /* the last batch was: there may be more */
	unsigned more; /* MADs of the manager in full batches in a row */
	time_ps pause; /* after a longer one, Sets that wait in the ring are dropped; 0: never */
	time_ps ran;   /* when the ring was last sent from */
};

/* window: the manager's. */
void run_pump_init(struct run_pump *p, struct tp *tp, struct sm *sm, unsigned window,
		   uint64_t (*clock_ns)(void), const struct run_pump_calls *call);
void run_pump_set_sa(struct run_pump *p, struct sa *sa);
void run_pump_set_perf(struct run_pump *p, struct perf *perf);
void run_pump_set_pause(struct run_pump *p, time_ps pause); /* 0: Sets are never dropped */
void run_pump_free(struct run_pump *p);
time_ps run_pump_now(const struct run_pump *p); /* the manager's time */
time_ps run_pump_at(const struct run_pump *p,
		    uint64_t clock_ns); /* the same at that time of its clock */
/* Gives the manager an event, at the present time, and carries out its actions. */
void run_pump_event(struct run_pump *p, struct sm_event *ev);
/* Sends a MAD that is not the manager's; false: the ring is full. */
bool run_pump_send(struct run_pump *p, const struct tp_mad *m);
/* Receives a batch, steps the manager, sends. Returns how many MADs moved, in and out, or -ENOTCONN. */
int run_pump_turn(struct run_pump *p);

#endif
