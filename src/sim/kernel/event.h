/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events: what happens at a time, as a tagged union. Keeps nothing. The kind says which member is
 * valid; a constructor cannot mix them up, since members have names. struct ev_what fits two
 * registers and struct ev half a cache line: a simulation is mostly a stream of these.
 *
 * Written by the files that schedule, read by simulation.c and plane.c, which dispatch.
 */
#ifndef WEFT_SIM_EVENT_H
#define WEFT_SIM_EVENT_H

#include "fabric/fabric.h"

enum sim_ev {
	/* devices */
	EV_CALL,   /* call: a callback is due */
	EV_LINK,   /* link: training is over */
	EV_ARRIVE, /* arrive: an SMP arrives at a port */
	EV_SMI,	   /* node: the SMI has served the head of its queue */
	EV_INJECT, /* inject: a delayed SMP, or a duplicate, enters the SMI */
	EV_TRAP,   /* trap: time to repeat it */
	EV_LEASE,  /* lease: the M_Key lease ran out */
	EV_ORDER,  /* order: a Set of the physical state takes effect */
	/* data plane */
	EV_P_HEAD,    /* head: the header of a packet has arrived */
	EV_P_FC,      /* credit: a flow control packet has arrived */
	EV_P_ROUTE,   /* node: the routing unit is done */
	EV_P_MAP,     /* chan (input): its head is mapped and requests the crossbar */
	EV_P_CROSS,   /* chan (input): the header of its head has crossed */
	EV_P_CROSSED, /* chan (input): the tail has crossed, too */
	EV_P_LINK,    /* port: the link arbiter decides */
	EV_P_SENT,    /* port: the last byte has left */
	EV_P_SINK,    /* chan (input of a host): its head is complete */
	EV_P_MAKE,    /* make: the next packet of a host is due */
	EV_P_PACED,   /* paced: static rate control releases a packet */
	EV_P_HOQ,     /* chan (output): its head may have exceeded HOQLife */
	EV_P_LIFE,    /* chan (input): its head may have exceeded LifeTimeValue */
	EV_P_STALL,   /* chan (output): it is no longer stalled */
	EV_P_REFRESH, /* link: credits have to be sent again */
	EV_P_RETRAIN, /* link: error recovery is over */
};

/* Incarnations, lives and epochs identify the node, the node's ports or the link as it was when
 * the event was scheduled: if it was powered off or went down since, the event is void. */
struct ev_what {
	union {
		struct {
			uint32_t kind; /* enum sim_ev */
			union {
				struct {
					uint32_t slot; /* in sim.calls */
				} call;
				struct {
					port_id port;
					uint32_t epoch;
				} link;
				struct {
					port_id port;
					uint32_t pkt, epoch;
				} arrive;
				struct {
					node_id node;
					uint32_t incarnation;
				} node;
				struct {
					node_id node;
					uint32_t incarnation, pkt;
				} inject;
				struct {
					node_id node;
					uint32_t incarnation, slot;
				} trap;
				struct {
					port_id port;
					uint32_t epoch; /* of the lease */
				} lease;
				struct {
					port_id port;
					uint32_t incarnation;
					uint32_t to; /* enum iba_phys_state */
				} order;
				struct {
					port_id port;
					uint32_t cell, epoch;
				} head;
				struct {
					port_id port;
					uint16_t fccl, fctbs;
					uint32_t slot : 4, epoch : 28;
				} credit;
				struct {
					uint32_t chan, life;
				} chan;
				struct {
					port_id port;
					uint32_t life;
				} port;
				struct {
					uint32_t host, epoch; /* of the traffic */
				} make;
				struct {
					uint32_t pkt, incarnation;
				} paced;
			};
		};
		uint64_t word[2];
	};
};

struct ev {
	time_ps when;
	uint64_t order; /* priority in the top byte, rank or sequence number below */
	struct ev_what what;
};

static inline bool ev_is_before(const struct ev *x, const struct ev *y)
{
	return x->when != y->when ? x->when < y->when : x->order < y->order;
}

/* The frequent ones are made of whole words: what is written in parts and read as a whole at once,
 * as a push does, makes the processor wait. */
static inline struct ev_what ev_words(enum sim_ev kind, uint32_t a, uint32_t b, uint32_t c)
{
	return (struct ev_what){.word = {kind | (uint64_t)a << 32, b | (uint64_t)c << 32}};
}

static inline struct ev_what ev_port(enum sim_ev kind, port_id port, uint32_t life)
{
	return ev_words(kind, port, life, 0);
}

static inline struct ev_what ev_chan(enum sim_ev kind, uint32_t chan, uint32_t life)
{
	return ev_words(kind, chan, life, 0);
}

static inline struct ev_what ev_node(enum sim_ev kind, node_id node, uint32_t incarnation)
{
	return ev_words(kind, node, incarnation, 0);
}

static inline struct ev_what ev_head(port_id port, uint32_t cell, uint32_t epoch)
{
	return ev_words(EV_P_HEAD, port, cell, epoch);
}

static inline struct ev_what ev_credit(port_id port, uint16_t fccl, uint16_t fctbs, unsigned slot,
				       uint32_t epoch)
{
	return ev_words(EV_P_FC, port, fccl | (uint32_t)fctbs << 16, (slot & 15) | epoch << 4);
}

_Static_assert(sizeof(struct ev_what) == 16, "an event's payload is passed in registers");
_Static_assert(sizeof(struct ev) == 32, "two events fill a cache line");

#endif
