/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines that start, stop and migrate at random for a long time, on computed tables: how evenly links share the
 * routes to them, beside routes computed anew for the same VMs, and what a defragmentation does. No manager and no device
 * takes part.
 */
#ifndef WEFT_ROUTE_CHURN_H
#define WEFT_ROUTE_CHURN_H

#include "base/rng.h"
#include "route/defragment.h"

/* A virtual function. */
struct churn_slot {
	uint16_t
		lid; /* prepopulated: its own, which changes with migrations; dynamic: of its VM, 0: none */
	bool runs; /* a VM is here */
};

struct churn_host {
	node_id node;
	uint32_t sw;	/* that it is connected to */
	uint32_t first; /* its slots; as many as it has VFs */
	unsigned vfs, used;
};

struct churn_opts {
	bool swap;    /* prepopulated LIDs */
	unsigned vfs; /* of each host with one port; 0: as the fabric has them */
	unsigned
		load; /* percent of all VFs have a VM at the start, as many on each host, and about as many later */
	unsigned pack; /* of so many hosts drawn the fullest gets a VM; 1: any */
	uint64_t seed;
	const char *engine;
	struct rt_opts routes;
};

enum churn_event { CHURN_START, CHURN_STOP, CHURN_MIGRATE, CHURN_NEVENTS };

extern const char *const churn_event_name[]; /* "starts", "stops", "migrations" */

struct churn {
	struct fab *f; /* with LIDs of ports, and of VFs where these are prepopulated */
	struct rt_tables *t;
	uint64_t *rank; /* NULL: not known */
	bool swap;
	unsigned pack;
	uint32_t room, want, running; /* VFs; VMs that are to run, that run */
	VEC(struct churn_host) hosts;
	struct churn_slot *slots;
	uint32_t *vms;		    /* slots with a VM, in no order */
	uint8_t *used;		    /* by LID */
	struct rt_link_loads loads; /* of VMs that run */
	struct rng rng, draws;	    /* of events; of states to verify */
	rt_move_entries e;
	uint64_t events[CHURN_NEVENTS], smps[CHURN_NEVENTS]; /* so far; SMPs to tables */
};

/* Balance of the routes to VMs that run. */
struct churn_sample {
	uint32_t vms;
	struct rt_balance now, fresh; /* fresh: computed for the VMs where they are */
};

/* -EINVAL, -ENOSPC with e filled. Free c in any case. */
int churn_make(struct churn *c, const struct fab *f, const struct churn_opts *o, struct err *e);
void churn_free(struct churn *c);
/* One event, drawn. */
int churn_step(struct churn *c, struct err *e);
int churn_measure(struct churn *c, struct churn_sample *s, struct err *e);
/* Other routes for VMs, carried out stage by stage. states: verified on the way, where wanted; sound: all of them. */
struct churn_check {
	unsigned draws; /* mixtures of each stage to draw and to verify; 0: none */
	uint64_t states;
	bool sound;
};
int churn_defragment(struct churn *c, bool even, struct churn_check *k, struct rt_defragment *out,
		     struct err *e);
/* The fabric with the LIDs of VMs that run. */
struct fab *churn_fabric(const struct churn *c);

#endif
