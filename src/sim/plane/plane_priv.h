/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data plane's inside: packets, virtual lanes, buffers and credits (thesis 2.4, 2.5, 4.2).
 * Present only with sim_config.plane.on; then SMPs use it too, on VL15.
 *
 * With cut-through a packet (struct dpkt) may occupy several switches at once, one cell in each.
 * The cell at its head represents the packet; the others are its trail and hold buffer space until
 * the tail has passed. A channel is one VL of one port, in or out; its number is the port's,
 * shifted, plus the slot: data VLs first, then VL15.
 */
#ifndef WEFT_PLANE_H
#define WEFT_PLANE_H

#include "sim/device/device_priv.h"
#include "sim/traffic/sim_traffic.h"

enum {
	PLANE_FC_BYTES = 6,	   /* size of a flow control packet */
	FC_EPOCH_MASK = 0xfffffff, /* the bits of a link's epoch in an event */
};

#define CELL_NONE UINT32_MAX
#define CHAN_NONE UINT32_MAX

struct dpkt {
	time_ps born;
	uint32_t smp; /* the SMP's place in sim.pkts; PKT_NONE: data */
	union {
		uint32_t src;	    /* host, by number; data only */
		uint32_t next_free; /* in the pool */
	};
	uint16_t slid, dlid, bytes; /* bytes on the wire */
	uint16_t pkey;
	uint8_t sl, blocks; /* blocks: 64-byte units of flow control */
	uint8_t fixed_out; /* SMPs from a switch's SMI on a directed route: this port; 0: by table */
	bool broken : 1;   /* it lost its tail: it is forwarded, but the receiver discards it */
	uint8_t why : 7;   /* enum sim_discard, if broken */
	uint16_t machine; /* it is for this one of a shared port, counted from 1; 0: by LID alone */
	uint16_t serial;  /* incremented each time the place is reused */
};

/* Links and buffers use the cell alone; the packet itself is for switches that route it and for
 * the host that receives it. It belongs to the cell at its head and is freed with that. */
struct cell {
	uint32_t pkt, next;
	time_ps ready;	/* arrival of its header */
	time_ps tail;	/* arrival of its last byte */
	uint16_t bytes; /* copies of the packet's fields, with the next three */
	uint8_t blocks;
	bool smp;
	uint16_t serial;
	uint8_t slot; /* of its VL, on a link */
	bool trail;   /* the packet's head is further on */
};

enum in_state { IN_IDLE, IN_ROUTING, IN_MAPPING, IN_WAITING, IN_CROSSING };

struct in_chan {
	uint32_t head, tail;	 /* cells */
	uint32_t next;		 /* in the routing unit's or an output's queue */
	uint16_t used, cap, abr; /* blocks */
	uint8_t state;		 /* enum in_state, of the head */
	uint8_t out, out_slot;	 /* output of the head; nslots and over: discarded (enum refused) */
	bool timed;		 /* an EV_P_LIFE is scheduled */
	bool copies;		 /* the head is multicast: see plane.copies_left */
	time_ps since;		 /* when the head became one, for the life-time limit */
};

struct out_chan {
	uint32_t head, tail;
	uint32_t wait_head, wait_tail; /* input channels whose head waits for it */
	uint16_t used, cap;
	uint16_t fctbs, fccl;
	bool busy;	 /* something is crossing to it */
	bool timed;	 /* an EV_P_HOQ is scheduled */
	bool stalled;	 /* VLStalled: packets are discarded */
	uint8_t expired; /* heads in a row that waited too long */
	time_ps head_since;
};

/* The arbiter's position in one priority table. */
struct arb_table {
	uint8_t at;
	int16_t left; /* units of 64 bytes the entry may still send */
};

/* Most events need the first cache line only. */
struct plane_port {
	/* constant, or changed only with the node's power: here for locality */
	uint64_t byte_q16;
	node_id node;
	port_id first; /* the node's port 0 */
	uint32_t life; /* the node's incarnation while it is on */
	uint8_t num;
	bool in_switch;
	/* sending and receiving */
	bool tx_busy, arb_pending;
	uint8_t tx_slot, tx_blocks;
	uint8_t phy_errors; /* damaged packets, minus later good ones */
	bool retraining;
	uint32_t fc_due; /* slots whose credit limit has to be sent */
	time_ps fc_since;
	uint32_t rx_cell;	  /* being received until rx_tail; the tail may still be cut off */
	uint32_t queued;	  /* slots with something in their output buffer */
	uint32_t retrained_epoch; /* the link epoch that error recovery ended last */
	time_ps rx_tail;
	struct arb_table high, low;
	struct sim_port_counters counters;
	int32_t high_left; /* HighPriCounter, bytes; see arbiter_pick() */
} __attribute__((aligned(64)));

struct plane_switch {
	uint32_t q_head, q_tail;     /* input channels waiting for the routing unit */
	uint32_t q15_head, q15_tail; /* the same on VL15: they go first */
	uint32_t serving;
};

struct plane {
	unsigned nvl, nslots; /* data VLs; with VL15 */
	unsigned shift;	      /* nslots rounded up to a power of two, as bits */
	struct in_chan *in;
	struct out_chan *out;
	struct plane_port *ports;
	struct plane_switch *switches; /* by node */
	/* The pools. Shards have lists of free places; only the shard that runs alone makes them
	 * grow. */
	VEC(struct dpkt) pkts;
	VEC(struct cell) cells;
	/* hosts: endports with traffic, numbered for the generator */
	VEC(port_id) hosts;
	uint32_t *host_of;	/* port -> host number */
	uint16_t *known;	/* by host: its present or last LID; 0: never had one */
	bool *silent;		/* by host: it never sends */
	uint64_t *machine_guid; /* by host: of the virtual machine that it is; 0: it is none */
	uint32_t nports_hosts;	/* hosts that are ports; the others are machines on shared ports */
	bool *away;		/* by host: a machine of a shared port that runs nowhere */
	struct map64 machines;	/* GUIDs of virtual machines -> host: its number moves with it */
	VEC(uint32_t) members;	/* hosts in the generator's order; empty: all that are ports */
	uint32_t *member_of;	/* and back */
	struct traffic *traffic;
	struct traffic_packet *next; /* by host: what it sends next */
	bool known_only;	     /* as in struct traffic_config */
	bool late_lids;		     /* the same */
	uint32_t traffic_epoch;	     /* events of replaced traffic are ignored */
	time_ps *allowed;	     /* [source][destination], with static rate control only */
	struct sim_sl_source sls;    /* sl NULL: the traffic says which */
	struct sim_tap tap;
	struct sim_discard_watch discards;
	struct sim_delivery_watch deliveries;
	struct plane_detail *detail; /* sim_detail.c; NULL: not requested */
	struct rng error_rng;	     /* damaged bytes, recovery that fails */
	uint64_t parallel_after;     /* events; before that another parallel run would not pay */
	uint64_t (*copies_left)
		[4]; /* by input channel: output ports that a multicast head still has to go to */
};

static inline uint32_t chan_of(const struct plane *pl, port_id port, unsigned slot)
{
	return port << pl->shift | slot;
}

static inline port_id chan_port(const struct plane *pl, uint32_t chan)
{
	return chan >> pl->shift;
}

static inline unsigned chan_slot(const struct plane *pl, uint32_t chan)
{
	return chan & ((1u << pl->shift) - 1);
}

static inline unsigned slot15(const struct plane *pl)
{
	return pl->nvl;
}

static inline bool slot_is_15(const struct plane *pl, unsigned slot)
{
	return slot == pl->nvl;
}

/* Time for n bytes at a port's rate. */
static inline time_ps wire_time(const struct plane *pl, port_id port, unsigned n)
{
	return (time_ps)((pl->ports[port].byte_q16 * n + 0xffff) >> 16);
}

static inline bool credit_for(const struct out_chan *o, unsigned blocks)
{
	/* The difference of two 12-bit counters: more than half of the circle means beyond the
	 * limit. */
	return ((o->fccl - (o->fctbs + blocks)) & 0xfff) <= 2048;
}

/* For the head of an output channel. */
static inline bool link_has_credit(const struct plane *pl, uint32_t out_chan)
{
	const struct out_chan *o = &pl->out[out_chan];

	return credit_for(o, pl->cells.at[o->head].blocks);
}

/* The head of this slot is ready and has credits. */
static inline bool arbiter_can_send(const struct shard *sh, port_id port, unsigned slot)
{
	const struct plane *pl = sh->plane;
	const struct out_chan *o = &pl->out[chan_of(pl, port, slot)];

	if (!(pl->ports[port].queued >> slot & 1) ||
	    pl->cells.at[o->head].ready + sh->cfg->plane.link_arb_ps > sh->now)
		return false;
	return slot_is_15(pl, slot) || credit_for(o, pl->cells.at[o->head].blocks);
}

/* Nothing waits at this port, and it could send. */
static inline bool port_is_idle(const struct shard *sh, port_id port)
{
	const struct plane_port *p = &sh->plane->ports[port];
	const struct sim_port *d = &sh->ports[port];

	return !p->queued && !p->fc_due && !p->retraining && d->pi.state == IBA_PORT_ACTIVE &&
	       d->peer != FAB_NONE;
}

/* From the bottom up: a function calls those of files above it in this list; plane_link.c and
 * plane_switch.c call each other. */

/* sim_detail.c, in stats. Each call comes after the change it reports. Only without other
 * shards. */
struct plane_detail *detail_new(struct sim *s);
void detail_free(struct plane *pl);
void detail_window_now(struct sim *s);
void detail_lane_now(struct sim *s, uint32_t chan);
void detail_link_now(struct sim *s, port_id port);
void detail_queue_now(struct sim *s, uint32_t out_chan, int change);
void detail_sent_now(struct sim *s, uint32_t out_chan, const struct dpkt *p);
void detail_cleared_now(struct sim *s, port_id port);
void detail_made_now(struct sim *s, uint32_t host);
void detail_header_now(struct sim *s, port_id port, const struct dpkt *p);
void detail_delivered_now(struct sim *s, port_id port, const struct dpkt *p);
void detail_discarded_now(struct sim *s, port_id port, const struct dpkt *p, enum sim_discard why);

/* plane_pools.c */
void plane_own_init(struct plane_own *own, time_ps window_start, time_ps window_end);
uint32_t dpkt_add(struct plane *pl); /* a new place in the pool, which may move */
uint32_t cell_add(struct plane *pl);
uint32_t dpkt_new(struct shard *sh);
uint32_t cell_new(struct shard *sh, uint32_t pkt);
uint32_t cell_copy(struct shard *sh, uint32_t cell); /* another place of the same packet */
void cell_free(struct shard *sh, uint32_t cell); /* and the packet, unless its head is elsewhere */
void dpkt_free(struct shard *sh, uint32_t pkt);

/* plane_discard.c */
void plane_discard(struct shard *sh, node_id n, unsigned port, uint32_t pkt, enum sim_discard why);

/* plane_truncate.c */
void cut_copied(struct shard *sh, uint32_t parent_cell, uint32_t copy); /* while it is received */
void cut_receiving(struct shard *sh, port_id p, enum sim_discard why);	/* it loses its tail */

/* plane_errors.c */
bool error_drawn(struct shard *sh, unsigned bytes); /* the packet arrives damaged */
void refresh_start(struct shard *sh, port_id port);
static inline bool error_hits(struct shard *sh, unsigned bytes)
{
	return sh->cfg->plane.byte_error_q40 && error_drawn(sh, bytes);
}
void retrain_error(struct shard *sh, port_id p); /* a damaged packet has arrived */

/* plane_lifetime.c */
void limit_out(struct shard *sh, uint32_t out_chan); /* its head is blocked: watch the time */
void limit_in(struct shard *sh, uint32_t in_chan);
void limit_stall(struct shard *sh, uint32_t out_chan); /* it discards for 8 HOQLife */

/* plane_arbiter.c */
unsigned arbiter_pick(struct shard *sh, port_id port); /* the slot of a data VL, or nslots */
void arbiter_idle(struct shard *sh, port_id port);     /* the same where nothing is queued */

/* plane_link.c */
void out_add(struct shard *sh, port_id port, unsigned slot, uint32_t cell);
void link_kick(struct shard *sh, port_id port); /* there may be something to send */
void link_decide(struct shard *sh, port_id port);
void link_tx_done(struct shard *sh, port_id port);
void link_head(struct shard *sh, port_id port, uint32_t cell, uint32_t epoch);
void link_fc(struct shard *sh, port_id port, unsigned slot, uint16_t fctbs, uint16_t fccl);
void link_fc_want(struct shard *sh, port_id port, unsigned slot);
void link_discard_head(struct shard *sh, uint32_t out_chan, enum sim_discard why);
/* The head cell has left: frees its space, returns credits, serves the next head. */
void in_release(struct shard *sh, uint32_t chan);

/* plane_switch.c */
void plane_copies_room(struct sim *s);
void switch_new_head(struct shard *sh, uint32_t chan);
void switch_route_done(struct shard *sh, node_id n);
void switch_request(struct shard *sh, uint32_t chan);
void switch_cross_head(struct shard *sh, uint32_t chan);
void switch_cross_done(struct shard *sh, uint32_t chan);
void switch_room(struct shard *sh, uint32_t out_chan);	 /* space, or the way to it, is free */
void switch_give_up(struct shard *sh, uint32_t in_chan); /* its head has waited too long */

/* plane_machines.c */
void host_machine(struct sim *s, port_id port, uint64_t guid); /* a virtual machine is here now */
void host_alias(struct sim *s, port_id port, uint64_t was, uint64_t now); /* at a shared port */
void machines_join(struct sim *s); /* those that run now are the hosts of the traffic */
bool machine_is_away(const struct shard *sh, uint32_t host);
bool machine_is_for(const struct shard *sh, port_id port, const struct dpkt *d);

/* plane_host.c */
void host_make(struct shard *sh, uint32_t host);
void host_lid_set(const struct sim *s, port_id port); /* while its port is Active */
void host_active(const struct sim *s, port_id port);  /* it has a LID that others may send to */
void host_sends(struct shard *sh, port_id port, uint32_t pkt); /* with pl->sls */
void host_sink(struct shard *sh, uint32_t chan);
void host_paced(struct shard *sh, uint32_t pkt,
		uint32_t incarnation); /* static rate control releases it */

/* plane_timeout.c */
void limit_out_over(struct shard *sh, uint32_t out_chan);
void limit_stall_over(struct shard *sh, uint32_t out_chan);
void limit_in_over(struct shard *sh, uint32_t in_chan);
void refresh_due(struct shard *sh, port_id port);

/* plane_retrain.c */
void retrain_over(struct shard *sh, port_id p);

/* plane.c */
void plane_new(struct sim *s);
void plane_free(struct sim *s);

/* plane_events.c */
void plane_event(struct shard *sh, const struct ev_what *e);
/* Runs events of the data plane up to `limit`, at most `most`. True: the next one, which the caller
 * has to run, is another kind of event; it was taken. */
bool plane_run(struct shard *sh, time_ps limit, unsigned most, struct ev *other);

#endif
