/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulation's inside: what all of it shares (struct sim) and what an executor of events owns (struct
 * shard). Devices and data plane build on it; device_priv.h and plane_priv.h say what those keep.
 *
 * Without a parallel run there is one shard, sim.main. A parallel run (parallel.c) divides nodes and data
 * packets among several. Code that may run in one of several takes a struct shard *: through it,
 * everything shared is const, except nodes, ports and channels, of which a shard writes only its own.
 * Code that needs the simulation as a whole takes a struct sim *, which shard.whole gives only to the
 * shard that runs alone.
 */
#ifndef WEFT_KERNEL_PRIV_H
#define WEFT_KERNEL_PRIV_H

#include "base/rng.h"
#include "base/vec.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/event_queue.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/stats/sim_stats.h"

enum { PRIO_WORLD = 0, PRIO_NET = 1, PRIO_CALL = 2 };

#define PKT_NONE UINT32_MAX

/* An SMP or GMP in the fabric. */
struct pkt {
	struct sim_smp smp;
	uint32_t next;	    /* in an SMI queue or the free list */
	node_id node;	    /* where it is */
	uint8_t in_port;    /* where it arrived; 0: from the node's own SM or SMA */
	uint8_t from_local; /* injected here and not yet handled by this node's SMI */
	uint16_t hops;	    /* links crossed, in express mode */
};

/* The program attached to a port. */
struct port_client {
	node_id node;
	uint8_t port;
	void (*recv)(void *ctx, const struct sim_smp *smp);
	void *ctx;
};

struct call {
	void (*fn)(void *ctx, uint64_t cookie);
	void *ctx;
	uint64_t cookie;
	uint32_t next;
};

struct sim_node;      /* device_priv.h */
struct sim_port;      /* device_priv.h */
struct port_counters; /* device_priv.h */
struct device_net;    /* device_priv.h */
struct plane;	      /* plane_priv.h */
struct lineage;	      /* plane_priv.h */

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
	struct sim_stats stats; /* one of several counts only events */
	struct sim_plane_stats plane_stats;
	uint32_t dpkt_free, cell_free; /* free places of the plane's pools */
	VEC(struct lineage) lineage;   /* plane_truncate.c */
	size_t lineage_full;	       /* then it is time to remove what no longer counts */
	struct outbox *outbox;	       /* NULL: the only shard */
	unsigned self;		       /* its number */
	char gap[64];		       /* the next one is another thread's */
};

struct sim {
	const struct fab *fab;
	struct sim_config cfg;
	uint16_t *random_only; /* by node: see sim_config; NULL: none */
	struct sim_node *nodes;
	struct sim_port *ports;
	struct shard main;
	VEC(struct pkt) pkts;
	uint32_t pkt_free;
	VEC(struct call) calls;
	uint32_t call_free;
	VEC(struct port_client) clients;
	uint32_t *client_of; /* by port: 1 + place in clients, 0: none. A switch's is at port 0 */
	/* express mode only */
	uint32_t walk_head, walk_tail; /* packets that have not been moved yet */
	bool walking;
	struct port_counters *counters;
	struct sim_link_fault *faults; /* by port, once one was set */
	struct rng fault_rng, error_rng;
	uint64_t *hash; /* by node: simultaneous events of two nodes have no order */
	struct sim_watch watch;
	struct sim_change_watch changes;
	struct plane *plane;	      /* NULL: SMPs only */
	const struct device_net *net; /* what devices call in the data plane; NULL: none */
	uint64_t parallel_after;      /* events; before that another parallel run would not pay */
};

static inline void sim_hash_add(struct shard *sh, node_id n, uint64_t x)
{
	sh->hash[n] = hash64_add(sh->hash[n], x);
}

static inline bool sim_is_switch(const struct sim *s, node_id n)
{
	return s->fab->nodes[n].type == IBA_NODE_SWITCH;
}

/* The shared part of a shard, and nothing pending. */
void shard_init(struct shard *sh, const struct sim *s);
/* Takes the next event and sets the clock; false when none is left. */
static inline bool shard_next(struct shard *sh, struct ev *e)
{
	if (evq_next(&sh->q) == TIME_NEVER || !evq_pop(&sh->q, e))
		return false;
	assert(e->when >= sh->now);
	sh->now = e->when;
	sh->stats.events++;
	return true;
}

void sim_push(struct shard *sh, time_ps when, uint8_t priority, struct ev_what what);
/* An arrival from the link at a port: before other events of the same time, ranked by port and, for one
 * port, data before flow control. */
void sim_push_arrival(struct shard *sh, time_ps when, port_id at, struct ev_what what);
void sim_run_call(struct sim *s, uint32_t slot);

uint32_t pkt_new(struct sim *s);
void pkt_drop(struct sim *s, uint32_t p, enum sim_drop why);
void pkt_free(struct sim *s, uint32_t p);

/* For watchers and for the hash. */
void sim_seen(struct shard *sh, enum sim_seen what, node_id n, unsigned port,
	      const struct sim_smp *smp, unsigned detail);
void sim_hash_smp(struct sim *s, node_id n, const struct sim_smp *smp);
void sim_changed(const struct sim *s, node_id n, enum sim_change what);

#endif
