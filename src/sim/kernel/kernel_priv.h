/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulation's inside: what all of it shares (struct sim) and what an executor of events owns
 * (struct shard). Both are compositions: a member that belongs to the devices or the data plane is
 * a struct of that room, written there only.
 *
 * Without a parallel run there is one shard, sim.main. A parallel run (parallel.c) divides nodes
 * and data packets among several. Code that may run in one of several takes a struct shard *:
 * through it, everything shared is const, except nodes, ports and channels, of which a shard writes
 * only its own. Code that needs the simulation as a whole takes a struct sim *, which shard.whole
 * gives only to the shard that runs alone.
 */
#ifndef WEFT_KERNEL_PRIV_H
#define WEFT_KERNEL_PRIV_H

#include "sim/device/device_state.h"
#include "sim/kernel/event_queue.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/plane_state.h"

/* At the same time, in this order: links and leases of devices; packets; callbacks. */
enum { PRIO_DEVICE = 0, PRIO_NET = 1, PRIO_CALL = 2 };

struct call {
	void (*fn)(void *ctx, uint64_t cookie);
	void *ctx;
	uint64_t cookie;
	uint32_t next;
};

struct sim_node;   /* device_priv.h */
struct sim_port;   /* device_priv.h */
struct device_net; /* device_priv.h */
struct plane;	   /* plane_priv.h */

typedef VEC(struct ev) ev_list;

/* Arrivals at ports of other shards; one outbox for each thread. */
struct outbox {
	const uint16_t *shard_of; /* by port */
	ev_list *to;		  /* by shard */
	time_ps earliest;	  /* of what was sent, and of what its shards have */
	time_ps horizon;	  /* end of the window: no arrival is earlier */
};

struct shard {
	/* shared: const while several shards run */
	const struct sim *sim;
	const struct fab *fab;
	const struct sim_config *cfg;
	const struct plane *plane; /* NULL: SMPs only */
	struct sim_node *nodes;	   /* writes only its own */
	struct sim_port *ports;	   /* writes only those of its own nodes */
	uint64_t *hash;		   /* by node; writes only its own */
	struct sim *whole;	   /* the same as sim; NULL: one shard of several */
	/* owned */
	time_ps now;
	struct evq q;
	uint64_t events;       /* run so far */
	struct plane_own own;  /* the data plane's */
	struct outbox *outbox; /* NULL: the only shard */
	unsigned self;	       /* its number */
	char gap[64];	       /* the next one is another thread's */
};

struct sim {
	const struct fab *fab;
	struct sim_config cfg;
	struct shard main;
	struct sim_node *nodes;
	struct sim_port *ports;
	VEC(struct call) calls;
	uint32_t call_free;
	uint64_t *hash; /* by node: simultaneous events of two nodes have no order */
	struct sim_watch watch;
	struct sim_watch smi_watch;
	struct sim_change_watch changes;
	struct sim_hop_watch hops;
	struct devices dev;	      /* the devices' */
	struct plane *plane;	      /* NULL: SMPs only */
	const struct device_net *net; /* what devices call in the data plane; NULL: none */
};

static inline void sim_hash_add(struct shard *sh, node_id n, uint64_t x)
{
	sh->hash[n] = hash64_add(sh->hash[n], x);
}

static inline bool sim_is_switch(const struct sim *s, node_id n)
{
	return s->fab->nodes[n].type == IBA_NODE_SWITCH;
}

/* simulation.c calls kernel_init(); devices and data plane register themselves. */
void kernel_init(struct sim *s, const struct fab *f, const struct sim_config *c);
void kernel_set_devices(struct sim *s, struct sim_node *nodes, struct sim_port *ports);
void kernel_set_plane(struct sim *s, struct plane *pl, const struct device_net *net);
void kernel_free(struct sim *s);

/* One shard of several: begins at the time of the simulation without events; its events and its
 * time return to the simulation at its end. */
void shard_begin(struct shard *sh, const struct sim *s, unsigned self);
void shard_end(struct shard *sh, struct sim *s);
void shard_advance(struct shard *sh, time_ps now); /* sets the clock, never back */
/* A new window of the outbox's shards: arrivals for others go to `to`, none earlier than
 * horizon. */
void outbox_open(struct outbox *o, ev_list *to, time_ps horizon);
void outbox_attach(struct outbox *o, struct shard *sh, const uint16_t *shard_of);
void outbox_note(struct outbox *o, time_ps next); /* the next event of one of its shards */

/* Takes the next event and sets the clock; false when none is left. */
static inline bool shard_next(struct shard *sh, struct ev *e)
{
	if (evq_next(&sh->q) == TIME_NEVER || !evq_pop(&sh->q, e))
		return false;
	assert(e->when >= sh->now);
	sh->now = e->when;
	sh->events++;
	return true;
}

void sim_push(struct shard *sh, time_ps when, uint8_t priority, struct ev_what what);
/* An arrival from the link at a port: before other events of the same time, ranked by port and,
 * for one port, data before flow control. */
void sim_push_arrival(struct shard *sh, time_ps when, port_id at, struct ev_what what);
void sim_run_call(struct sim *s, uint32_t slot);

/* For watchers and for the hash. */
void sim_seen(struct shard *sh, enum sim_seen what, node_id n, unsigned port,
	      const struct sim_smp *smp, unsigned detail);
void sim_hash_smp(struct sim *s, node_id n, const struct sim_smp *smp);
void sim_changed(const struct sim *s, node_id n, enum sim_change what);

#endif
