/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's contract: a simulation, its clock and its events. Keeps struct sim, with nodes and
 * ports numbered as in the snapshot it was made from. Promises: events run in the order (time,
 * priority, sequence; arrivals from links by port), so that the same seed and the same calls give
 * the same run, event by event (sim_hash()), on any number of threads.
 *
 * Called by the laboratory and the emulator. What happens in devices is in sim_device.h, data
 * packets in sim_plane.h, their generator in sim_traffic.h, figures in sim_stats.h. The simulator
 * knows nothing of a subnet manager: one attaches to a port like any other program.
 */
#ifndef WEFT_SIM_KERNEL_H
#define WEFT_SIM_KERNEL_H

#include "fabric/fabric.h"
#include "sim/sim_config.h"

struct sim;

struct sim *sim_new(const struct fab *f, const struct sim_config *c); /* f must outlive it */
void sim_free(struct sim *s);

time_ps sim_now(const struct sim *s);
time_ps sim_next(const struct sim *s); /* time of the next event; TIME_NEVER: there is none */
bool sim_step(struct sim *s);	       /* runs one event; false when none is left */

/* The same as some calls of sim_step(), faster: runs events up to `limit`, at most `most` of them,
 * and stops after the first one that is not about data packets. So nothing outside of the data
 * plane has changed, unless by the last event. */
void sim_steps(struct sim *s, time_ps limit, unsigned most);

/* Runs all events up to `limit` on so many threads, with the same outcome as sim_step(). It may
 * stop earlier: see sim_next(). False: nothing was run, and the caller has to use sim_step();
 * that is the case while SMPs are in flight, while a watcher is set, or when it would not pay.
 * tick, if not NULL, is called now and then. */
bool sim_run_parallel(struct sim *s, time_ps limit, unsigned threads, void (*tick)(void *ctx),
		      void *ctx);

/* Calls fn(ctx, cookie) at `when`, or now if that has passed. It cannot be cancelled: fn has to
 * check whether it still applies. */
void sim_call(struct sim *s, time_ps when, void (*fn)(void *ctx, uint64_t cookie), void *ctx,
	      uint64_t cookie);

/* Express mode: runs everything due at `now`, which is real time and must not go back. Packets sent
 * before arrive before it returns, unless a link has latency; changes made between two calls happen
 * at the time of the first. Not re-entrant: calls from a receive callback are ignored. */
void sim_settle(struct sim *s, time_ps now);

uint64_t sim_events(const struct sim *s); /* run so far */
uint64_t
sim_hash(const struct sim
		 *s); /* of all deliveries and state changes so far, and of the number of events */
uint64_t
sim_trace_hash(const struct sim *s); /* the same without that number: watching changes nothing */

#endif
