/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulation's inside, shared by its files: who does what is told in each .c file.
 */
#ifndef WEFT_SIM_PRIV_H
#define WEFT_SIM_PRIV_H

#include "base/rng.h"
#include "sim/kernel/event_queue.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/stats/sim_stats.h"
#include "sim/traffic/sim_traffic.h"

enum sim_ev {
	EV_CALL,   /* a: slot in calls */
	EV_LINK,   /* a: port, b: its link epoch; training is over */
	EV_ARRIVE, /* a: port, b: packet, c: link epoch of that port */
	EV_SMI,	   /* a: node, b: its incarnation; the packet in service is done */
	EV_INJECT, /* a: packet, b: node; a delayed copy or original enters the SMI */
	EV_TRAP,   /* a: node, b: incarnation, c: slot; time to repeat */
	EV_LEASE,  /* a: port, b: lease epoch; the M_Key lease ran out */
	EV_ORDER,  /* a: port, b: incarnation of its node, c: physical state that was ordered */
	/* the data plane (plane.c); c is the incarnation of the node unless said otherwise */
	EV_P_HEAD,    /* a: port, b: cell, c: link epoch; a header has arrived */
	EV_P_FC,      /* a: port, b: FCTBS << 16 | FCCL, c: link epoch << 4 | slot */
	EV_P_ROUTE,   /* a: node; the routing unit is done */
	EV_P_MAP,     /* a: input channel; its head is mapped and asks for its way */
	EV_P_CROSS,   /* a: input channel; the header of its head is across */
	EV_P_CROSSED, /* a: input channel; the tail too */
	EV_P_LINK,    /* a: port; the link arbiter decides */
	EV_P_SENT,    /* a: port; the last byte has left */
	EV_P_SINK,    /* a: input channel of a host; its head is complete */
	EV_P_MAKE,    /* a: host, c: traffic epoch; the next packet is due */
	EV_P_PACED,   /* a: packet; static rate control lets it go */
	EV_P_HOQ,     /* a: output channel; its head may have waited too long */
	EV_P_LIFE,    /* a: input channel; the same */
	EV_P_STALL,   /* a: output channel; it discards no longer */
	EV_P_REFRESH, /* a: port, c: link epoch; credits have to be told again */
	EV_P_RETRAIN, /* a: port, c: link epoch; training after errors is over */
};

enum { PRIO_WORLD = 0, PRIO_NET = 1, PRIO_CALL = 2 };

#define PKT_NONE UINT32_MAX

struct pkt {
	struct sim_smp smp;
	uint32_t next;	    /* in an SMI queue or the free list */
	node_id node;	    /* where it is */
	uint8_t in_port;    /* the port it came in by; 0: from the node's own SM or SMA */
	uint8_t from_local; /* injected here and not yet handled by this node's SMI */
	uint16_t hops;	    /* links crossed, in express mode */
};

enum { TRAP_SLOT_LINK, TRAP_SLOT_MKEY, TRAP_SLOT_CHANGE, TRAP_SLOTS };

struct trap_slot {
	bool pending;
	uint32_t sent;
	time_ps due;	 /* of the repetition that counts */
	uint32_t serial; /* part of the transaction id: a new event is a new notice */
	struct iba_notice notice;
	uint8_t port; /* where an endport's trap leaves */
};

/* What every packet looks at comes first, in one cache line: up to the middle of PortInfo. */
struct sim_port {
	port_id peer;
	uint32_t link_epoch;	       /* changes whenever the link goes up or down */
	struct iba_vlarb_table *vlarb; /* 4 blocks once one was set */
	struct iba_port_info pi;
	uint16_t *pkeys; /* pkey_cap entries once one was set; NULL: 0xffff alone */
	uint64_t *guids; /* 8 entries once one was set */
	uint32_t lease_epoch;
	bool lease_runs;
	uint8_t fdr10_supported, fdr10_enabled, fdr10_active; /* 0 or 1; rate.c */
	time_ps tx_free; /* when the transmitter is idle again */
	time_ps wire_ps; /* propagation to the peer */
	time_ps byte_ps;
	uint64_t byte_q16; /* the same in 2^-16 ps: exact for every rate */
} __attribute__((aligned(64)));

struct sim_node {
	bool on;
	uint32_t incarnation;
	uint32_t q_head, q_tail; /* SMI queue; the head is in service */
	uint32_t q_len;
	struct iba_switch_info si;
	uint8_t *lft;
	uint32_t lft_size;   /* entries held; what is beyond is 255 */
	struct iba_rft *rft; /* random_cap / 16 blocks once one was set */
	uint32_t rft_used;   /* blocks up to the last that was set */
	uint16_t *mft;	     /* mft_cap * 16 masks once one was set */
	uint8_t *slvl;	     /* [(nports+1)][(nports+1)][16] once one was set */
	char *desc;	     /* NodeDescription, 64 bytes, once it was set */
	struct trap_slot trap[TRAP_SLOTS];
};

struct sm_hook {
	node_id node;
	uint8_t port;
	void (*recv)(void *ctx, const struct sim_smp *smp);
	void *ctx;
};

struct port_counters { /* whole cache lines; what every packet counts is in the first */
	uint64_t c[(SIM_NCOUNTERS + 7) / 8 * 8];
};

struct call {
	void (*fn)(void *ctx, uint64_t cookie);
	void *ctx;
	uint64_t cookie;
	uint32_t next;
};

struct sim {
	const struct fab *fab;
	struct sim_config cfg;
	uint16_t *random_only; /* by node: see sim_config; NULL: none */
	struct evq q;
	time_ps now;
	struct sim_node *nodes;
	struct sim_port *ports;
	VEC(struct pkt) pkts;
	uint32_t pkt_free;
	VEC(struct call) calls;
	uint32_t call_free;
	VEC(struct sm_hook) hooks;
	uint32_t *hook_of; /* by port: 1 + place in hooks, 0: none. A switch's is at port 0 */
	/* express mode only */
	uint32_t walk_head, walk_tail; /* packets that wait for their walk */
	bool walking;
	struct port_counters *counters;
	struct sim_link_fault *trouble; /* by port, once one was set */
	struct rng fault_rng, error_rng;
	struct sim_stats stats;
	uint64_t *hash; /* by node: what happens at one time in two nodes has no order */
	struct sim_watch watch;
	struct sim_change_watch changes;
	struct plane *plane; /* NULL: SMPs only */
	struct crew *crew;   /* in the parts of a run on several threads: crew.c */
	unsigned part;	     /* which of them this is */
	uint64_t crew_after; /* events; before that many another try would not pay */
};

static inline struct sim_port *node_port(struct sim *s, node_id n, unsigned num)
{
	return &s->ports[s->fab->nodes[n].first_port + num];
}

static inline void sim_hash_add(struct sim *s, node_id n, uint64_t x)
{
	s->hash[n] = hash64_add(s->hash[n], x);
}

static inline bool sim_is_switch(const struct sim *s, node_id n)
{
	return s->fab->nodes[n].type == IBA_NODE_SWITCH;
}

static inline bool lid_is_ours(const struct iba_port_info *pi, uint16_t lid)
{
	return pi->lid && (lid & ~((1u << pi->lmc) - 1)) == pi->lid;
}

/* kernel.c */
void sim_push(struct sim *s, time_ps when, uint8_t priority, struct ev e);
void sim_push_arrival(struct sim *s, time_ps when, struct ev e); /* at port e.a, from its link */
uint32_t pkt_new(struct sim *s);
void pkt_drop(struct sim *s, uint32_t p, enum sim_drop why);
void pkt_free(struct sim *s, uint32_t p);
void sim_seen(struct sim *s, enum sim_seen what, node_id n, unsigned port,
	      const struct sim_smp *smp, unsigned detail);
void sim_hash_smp(struct sim *s, node_id n, const struct sim_smp *smp);
void sim_changed(struct sim *s, node_id n, enum sim_change what);

/* link.c: wires, port states, LID-routed forwarding */
void link_send(struct sim *s, node_id n, unsigned out, uint32_t p);
void link_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch);
void link_trained(struct sim *s, port_id at, uint32_t epoch);
void link_try_up(struct sim *s, port_id a);
void link_cut(struct sim *s, port_id a);
void link_order(struct sim *s, port_id at, enum iba_phys_state to); /* with link_pairs */
void lid_forward(struct sim *s, node_id n, uint32_t p);
unsigned lid_route(const struct sim *s, node_id n,
		   uint16_t lid); /* 0: here; over nports: nowhere */
void port_state_set(struct sim *s, node_id n, unsigned num, enum iba_port_state st);

/* smi.c: one SMP after another */
void smi_enqueue(struct sim *s, node_id n, uint32_t p);
void smi_inject(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);
void smi_done(struct sim *s, node_id n);
void smi_clear(struct sim *s, node_id n);

enum verdict_kind { TO_PORT, TO_LID, TO_NODE, DISCARD };

struct verdict {
	enum verdict_kind kind;
	unsigned port;	   /* TO_PORT */
	enum sim_drop why; /* DISCARD */
};

/* What to do with an SMP at a node. Moves the hop pointer where that is part of the answer. */
struct verdict smi_judge(struct sim *s, struct pkt *p);
bool smi_has_lid(struct sim *s, const struct pkt *p); /* the port it came in by does */
void smi_deliver(struct sim *s, uint32_t p);	      /* to SMA or SM */
const struct sm_hook *smi_hook(const struct sim *s, const struct pkt *p);

/* gsi.c: GMPs at their port */
void gsi_deliver(struct sim *s, uint32_t p);
void gsi_respond(struct sim *s, node_id n, unsigned port, struct sim_smp *smp, unsigned status);

/* pma.c: requests of performance management */
void pma_handle(struct sim *s, node_id n, unsigned port, struct sim_smp *smp);

/* express.c */
bool link_open(const struct sim *s, const struct sim_port *a, bool data);
void link_data_came(struct sim *s, port_id at);
void express_add(struct sim *s, uint32_t p);
void express_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch);

/* sma.c: requests in, responses out */
void sma_reset(struct sim *s, node_id n);
void sma_free(struct sim *s, node_id n);
bool sma_admits(struct sim *s, node_id n, const struct pkt *p); /* the M_Key check */
void sma_handle(struct sim *s, node_id n, struct pkt *p);
void sma_lease_over(struct sim *s, port_id at, uint32_t epoch);

/* rate.c: with link_pairs */
void rate_power_on(struct sim *s, node_id n, unsigned num);
bool rate_agree(struct sim_port *a,
		struct sim_port *b); /* sets what is active; false: nothing in common */
bool rate_fits(const struct sim_port *p);
bool rate_ok(const struct iba_port_info *pi, const struct iba_port_info *v);
void rate_take(struct iba_port_info *pi, const struct iba_port_info *v);

/* trap.c */
void trap_changed(struct sim *s, node_id n, unsigned port, bool node_desc);
void trap_link_state(struct sim *s, node_id n);
void trap_bad_mkey(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);
void trap_repeat(struct sim *s, node_id n, unsigned slot);
void trap_repress(struct sim *s, node_id n, const struct sim_smp *smp);
bool trap_is_ours(const struct sim_smp *smp); /* the response to a trap of a node itself */

#endif
