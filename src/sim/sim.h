/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric in simulated time: every node with its SMI and SMA, links that carry SMPs, and a kernel
 * that runs events in the order (time, priority, sequence). It knows nothing of any subnet manager:
 * whoever wants to be one attaches to a port, gets the SMPs that are for an SM, and sends through
 * that port's SMI.
 *
 * Nodes and ports have the ids of the snapshot the simulation was made from; cables may be moved
 * later. One seed and the same calls give the same run, event by event (sim_hash()).
 */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "fabric/fabric.h"

/* What goes wrong with SMPs on their way, each a probability in units of 2^-32 an SMP sent. */
struct sim_faults {
	uint64_t loss_q32;
	uint64_t delay_q32;
	uint64_t dup_q32;
	time_ps delay_max_ps; /* a delayed SMP or the copy of one comes up to this much later */
};

struct sim_config {
	uint64_t seed;
	/* Times (MECHANISM.md 8 and 9; sim_config_default() says where each value comes from). */
	time_ps smi_ps;      /* one SMP through one SMI, in or out */
	time_ps sma_ps;      /* one request handled by an SMA, on top of the SMI */
	time_ps hop_ps;      /* a LID-routed SMP through a switch: routing, crossbar, arbitration */
	time_ps wire_ps;     /* propagation on a link */
	time_ps training_ps; /* from cable or power on to Initialize */
	/* What the devices can do. */
	uint8_t mtu_cap, vl_cap;   /* IBA codes */
	uint8_t vlarb_cap;         /* entries a priority */
	uint8_t resp_time;         /* RespTimeValue exponent */
	uint16_t lft_cap, rft_cap, mft_cap, pkey_cap;
	bool traps;                /* switches send trap 128, all nodes trap 256 */
	uint32_t trap_limit;       /* sends of one trap without an answer; 0: no limit */
	struct sim_faults faults;
};

void sim_config_default(struct sim_config *c);

/* A packet on VL15. dlid == IBA_LID_PERMISSIVE means directed. */
struct sim_smp {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid;
	uint8_t sl;
};

/* Why a packet vanished. */
enum sim_drop {
	SIM_DROP_FAULT,       /* the fault model took it */
	SIM_DROP_LINK,        /* it was on a link, or bound for one, that went down */
	SIM_DROP_NODE,        /* it was inside a node that went off */
	SIM_DROP_UNROUTABLE,  /* no entry for its DLID */
	SIM_DROP_TURNED_BACK, /* routed out of the port it came in by */
	SIM_DROP_BAD_PATH,    /* hop pointer, hop count or port of a directed route make no sense */
	SIM_DROP_NOT_FOR_US,  /* LID-routed to a port that does not have that LID */
	SIM_DROP_MKEY,        /* M_Key check */
	SIM_DROP_BAD_MAD,     /* version, class or method that no SMI takes */
	SIM_DROP_NO_SM,       /* a response or trap for an SM that is not there */
	SIM_NDROPS
};
const char *sim_drop_name(enum sim_drop d);

struct sim_stats {
	uint64_t events;
	uint64_t sent;      /* SMPs injected, requests and responses and traps */
	uint64_t delivered; /* to an SMA or an SM */
	uint64_t hops;      /* links crossed */
	uint64_t duplicated, delayed;
	uint64_t traps;     /* trap SMPs sent, repetitions included */
	uint64_t dropped[SIM_NDROPS];
	uint64_t in_flight; /* in queues or on links right now */
};

/* What a watcher sees. smp is NULL for state changes. */
enum sim_seen { SIM_SEEN_SEND, SIM_SEEN_RECV, SIM_SEEN_DROP, SIM_SEEN_PORT, SIM_SEEN_NODE };
struct sim_watch {
	void (*seen)(void *ctx, enum sim_seen what, node_id n, unsigned port, const struct sim_smp *smp,
		     unsigned detail); /* drop reason, new port state, or node on/off */
	void *ctx;
};

struct sim;

struct sim *sim_new(const struct fab *f, const struct sim_config *c);
void sim_free(struct sim *s);
void sim_watch(struct sim *s, struct sim_watch w);

/* ---- time ---- */

time_ps sim_now(const struct sim *s);
time_ps sim_next(const struct sim *s); /* when the next event is due, TIME_NEVER: none */
bool sim_step(struct sim *s);          /* run one event; false when none is left */
/* Call fn(ctx, cookie) at `when` (not before now). It cannot be taken back: check on arrival. */
void sim_call(struct sim *s, time_ps when, void (*fn)(void *ctx, uint64_t cookie), void *ctx,
	      uint64_t cookie);

/* ---- the world changes ---- */

void sim_node_power(struct sim *s, node_id n, bool on); /* off forgets everything; on starts anew */
void sim_cable(struct sim *s, port_id a, port_id b);    /* connects; both ports must be free */
void sim_uncable(struct sim *s, port_id a);             /* cuts, if there is a cable */
void sim_set_faults(struct sim *s, const struct sim_faults *f);

/* ---- an SM's way in ---- */

/* SMPs for an SM at this node (GetResp, Trap, anything SMInfo) go to recv. Sets IsSM. One a port;
 * a switch's is port 0. NULL recv detaches. */
void sim_attach(struct sim *s, node_id n, unsigned port,
		void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx);
/* Hand an SMP to the SMI of that port, which sends it in turn. */
void sim_send(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);

/* ---- looking from outside, as no SM can ---- */

bool sim_node_on(const struct sim *s, node_id n);
port_id sim_port_peer(const struct sim *s, port_id p);                       /* the cable, or FAB_NONE */
const struct iba_port_info *sim_port_info(const struct sim *s, port_id p);
const struct iba_switch_info *sim_switch_info(const struct sim *s, node_id n);
uint8_t sim_lft(const struct sim *s, node_id n, uint32_t lid);               /* 255: none */
unsigned sim_slvl(const struct sim *s, node_id n, unsigned in, unsigned out, unsigned sl);
const struct sim_stats *sim_stats(const struct sim *s);
uint64_t sim_hash(const struct sim *s); /* of everything delivered and every state change so far */

/* The snapshot of what is there now: nodes that are on, links that are up, LIDs as set. Nodes keep
 * GUIDs and names; ids are new. */
struct fab *sim_snapshot(const struct sim *s);

#endif
