/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric in simulated time: every node with its SMI and SMA, links that carry SMPs, and a kernel
 * that runs events in the order (time, priority, sequence; from links by port). It knows nothing of any subnet manager:
 * whoever wants to be one attaches to a port, gets the SMPs that are for an SM, and sends through
 * that port's SMI.
 *
 * Nodes and ports have the ids of the snapshot the simulation was made from; cables may be moved
 * later. One seed and the same calls give the same run, event by event (sim_hash()).
 */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "base/hist.h"
#include "fabric/fabric.h"
#include "sim/traffic.h"

/* What goes wrong with SMPs on their way, each a probability in units of 2^-32 an SMP sent. */
struct sim_faults {
	uint64_t loss_q32;
	uint64_t delay_q32;
	uint64_t dup_q32;
	time_ps delay_max_ps; /* a delayed SMP or the copy of one comes up to this much later */
};

/* The packet-level data plane. Off: the network carries SMPs only, hop by hop, and is fast. */
struct sim_plane_config {
	bool on;
	time_ps route_ps, map_ps, crossbar_ps, setup_ps,
		link_arb_ps;	   /* units of a switch and a port */
	unsigned header_bytes;	   /* LRH and BTH: what must be there before a packet is routed */
	unsigned buffer_bytes;	   /* of each VL, input and output alike */
	uint64_t byte_error_q40;   /* probability that a byte is damaged on a link, of 2^40 */
	time_ps retrain_ps;	   /* a link with too many errors trains so long; 0: never does */
	uint64_t retrain_fail_q32; /* probability that it goes down instead */
	bool fc_refresh;   /* flow control packets every 65,536 symbol times, errors or not */
	bool rate_control; /* static rate control: no faster to a host than its own link */
};

struct sim_config {
	uint64_t seed;
	struct sim_plane_config plane;
	/* Times (thesis 4.2 and 4.3.5; sim_config_default() says where each value comes from). */
	time_ps smi_ps;	     /* one SMP through one SMI, in or out */
	time_ps sma_ps;	     /* one request handled by an SMA, on top of the SMI */
	time_ps hop_ps;	     /* a LID-routed SMP through a switch: routing, crossbar, arbitration */
	time_ps wire_ps;     /* propagation on a link whose cable has no known length */
	time_ps cable_m_ps;  /* on one metre of a cable that has */
	time_ps training_ps; /* from cable or power on to Initialize */
	/* What the devices can do. */
	uint8_t mtu_cap, vl_cap; /* IBA codes */
	uint8_t vlarb_cap;	 /* entries a priority */
	uint8_t resp_time;	 /* RespTimeValue exponent */
	uint8_t phy_errors;	 /* LocalPhyErrors of PortInfo at power-on, 0 to 15 */
	uint16_t lft_cap, rft_cap, mft_cap, pkey_cap;
	/* By node, read by sim_new() and no later: RandomFDBCap of switches that have no linear table, 0
	 * for all others. NULL: there is none. */
	const uint16_t *random_only;
	bool express;	 /* SMPs and GMPs take no time but where a link has latency of its own: for
				    * emulation. Not with the data plane. See sim_settle(). Devices have all
				    * the capabilities that programs ask for. */
	bool link_pairs; /* as hardware: a port that is ordered Down or Polling takes its link down
				    * and trains it anew, at the best speed and width both ends enable. Off:
				    * as the thesis has it, Down leads to Initialize at this end alone.
				    * express implies it */
	bool traps;	 /* switches send trap 128, all nodes trap 256 */
	uint32_t trap_limit; /* sends of one trap without an answer; 0: no limit */
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
	SIM_DROP_FAULT,	      /* the fault model took it */
	SIM_DROP_LINK,	      /* it was on a link, or bound for one, that went down */
	SIM_DROP_NODE,	      /* it was inside a node that went off */
	SIM_DROP_UNROUTABLE,  /* no entry for its DLID */
	SIM_DROP_TURNED_BACK, /* routed out of the port it came in by */
	SIM_DROP_BAD_PATH,    /* hop pointer, hop count or port of a directed route make no sense */
	SIM_DROP_NOT_FOR_US,  /* LID-routed to a port that does not have that LID */
	SIM_DROP_MKEY,	      /* M_Key check */
	SIM_DROP_BAD_MAD,     /* version, class or method that no SMI takes */
	SIM_DROP_NO_SM,	      /* a response or trap for an SM that is not there */
	SIM_DROP_BUFFER,      /* VL15 had no room; with the data plane only */
	SIM_DROP_LIFETIME,    /* in a forwarding loop; in express mode only */
	SIM_DROP_NO_AGENT,    /* a GMP that nobody at its port takes; in express mode only */
	SIM_NDROPS
};
const char *sim_drop_name(enum sim_drop d);

/* Why a data packet was discarded (thesis Table 10, and what IBA adds). */
enum sim_discard {
	SIM_DISCARD_INACTIVE_PORT,    /* at a port that is Down, or on a link that was cut */
	SIM_DISCARD_DEACTIVATED_PORT, /* at a port in Initialize or Armed */
	SIM_DISCARD_BUFFER,	      /* no room: VL15 only, unless credits went wrong */
	SIM_DISCARD_TURNED_BACK,      /* routed to the port it came in by */
	SIM_DISCARD_UNROUTABLE,
	SIM_DISCARD_CLEARED,	/* in a node that went off */
	SIM_DISCARD_UNMAPPABLE, /* its SL leads to VL15 or to no VL */
	SIM_DISCARD_MTU,
	SIM_DISCARD_PKEY,
	SIM_DISCARD_LIFETIME,	/* head of a queue for too long */
	SIM_DISCARD_WRONG_HOST, /* arrived where its LID is not */
	SIM_DISCARD_ERROR,	/* damaged on a link */
	SIM_DISCARD_RETRAINING, /* on a link that began to train anew */
	SIM_DISCARD_STALLED,	/* on a VL that was stalled because too many had waited too long */
	SIM_NDISCARDS
};
const char *sim_discard_name(enum sim_discard d);

struct sim_plane_stats {
	uint64_t generated, delivered, in_flight; /* data packets */
	uint64_t copies;	  /* made by multicast; generated + copies are conserved */
	uint64_t delivered_bytes; /* payload */
	uint64_t hops;		  /* links crossed by data packets */
	uint64_t discarded[SIM_NDISCARDS];
	uint64_t fc_packets;
	uint64_t recoveries, downed;	     /* links that trained anew; that failed to */
	struct hist latency, header_latency; /* from generation, picoseconds, in the window */
	uint64_t window_delivered, window_bytes, window_generated;
	time_ps window_start, window_end; /* what counts for latency and throughput */
};

struct sim_stats {
	uint64_t events;
	uint64_t sent;	    /* SMPs injected, requests and responses and traps */
	uint64_t delivered; /* to an SMA or an SM */
	uint64_t hops;	    /* links crossed */
	uint64_t duplicated, delayed;
	uint64_t traps; /* trap SMPs sent, repetitions included */
	uint64_t dropped[SIM_NDROPS];
	uint64_t in_flight; /* in queues or on links right now */
};

/* What a watcher sees. smp is NULL for state changes. */
enum sim_seen { SIM_SEEN_SEND, SIM_SEEN_RECV, SIM_SEEN_DROP, SIM_SEEN_PORT, SIM_SEEN_NODE };
struct sim_watch {
	void (*seen)(void *ctx, enum sim_seen what, node_id n, unsigned port,
		     const struct sim_smp *smp,
		     unsigned detail); /* drop reason, new port state, or node on/off */
	void *ctx;
};

/* A change in a device that data packets can feel, by a Set, by its links or by its power. Told only
 * when a value is another one than before. */
enum sim_change { SIM_CHANGED_TABLE, SIM_CHANGED_SLVL, SIM_CHANGED_PORT, SIM_CHANGED_POWER };
struct sim_change_watch {
	void (*changed)(void *ctx, node_id n, enum sim_change what);
	void *ctx;
};

struct sim;

struct sim *sim_new(const struct fab *f, const struct sim_config *c);
void sim_free(struct sim *s);
void sim_watch(struct sim *s, struct sim_watch w);
void sim_watch_changes(struct sim *s, struct sim_change_watch w);

/* ---- time ---- */

time_ps sim_now(const struct sim *s);
time_ps sim_next(const struct sim *s); /* when the next event is due, TIME_NEVER: none */
bool sim_step(struct sim *s);	       /* run one event; false when none is left */
/* All events up to `limit` (at most; see sim_next()) on so many threads, with the very same outcome.
 * False: nothing was done, sim_step() has to; so it is while SMPs are under way, somebody watches, or
 * it would not pay. tick, if given, is called now and then. */
bool sim_run_apart(struct sim *s, time_ps limit, unsigned threads, void (*tick)(void *ctx),
		   void *ctx);
/* Call fn(ctx, cookie) at `when` (not before now). It cannot be taken back: check on arrival. */
void sim_call(struct sim *s, time_ps when, void (*fn)(void *ctx, uint64_t cookie), void *ctx,
	      uint64_t cookie);

/* ---- the world changes ---- */

void sim_node_power(struct sim *s, node_id n, bool on); /* off forgets everything; on starts anew */
/* Connects; both ports must be free. Where the snapshot has this link, it is the same cable. */
void sim_cable(struct sim *s, port_id a, port_id b);
void sim_cable_length(struct sim *s, port_id a, uint32_t cm); /* of the cable at a; 0: not known */
void sim_uncable(struct sim *s, port_id a);		      /* cuts, if there is a cable */
void sim_set_faults(struct sim *s, const struct sim_faults *f);
void sim_set_training(struct sim *s, time_ps t); /* of links that come up from now on */

/* ---- an SM's way in ---- */

/* SMPs for an SM at this node (GetResp, Trap, anything SMInfo) go to recv. Sets IsSM. One a port;
 * a switch's is port 0. NULL recv detaches. */
void sim_attach(struct sim *s, node_id n, unsigned port,
		void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx);
/* Hand an SMP to the SMI of that port, which sends it in turn. */
void sim_send(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);

/* ---- emulation: many programs on one fabric ---- */

/* Like sim_attach(), for programs of every kind at a port: what is not answered by the node itself goes
 * to recv: responses, traps, SMInfo requests (only while IsSM is set: otherwise the SMA refuses them) and
 * GMPs of classes no agent here serves. IsSM is set apart. */
void sim_attach_port(struct sim *s, node_id n, unsigned port,
		     void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx);
void sim_set_is_sm(struct sim *s, node_id n, unsigned port, bool on);
/* NodeDescription until the node is powered off; at most 64 bytes count. Express: trap 144 tells. */
void sim_set_node_desc(struct sim *s, node_id n, const char *text);
/* GMPs (any class but subnet management) go by sim_send() too, with a DLID: as data on VL 0, along the
 * tables, over Active ports. PerfMgt requests are answered by every node's own agent (pma.c). */

/* Express: do all that is due at `now`, which is real time and does not go back. What was sent arrives
 * before it returns, unless a link has latency; what happens to the world between two calls happens at the
 * time of the first. A program that calls it while it gets something is not heard. */
void sim_settle(struct sim *s, time_ps now);

struct sim_link_trouble {
	uint64_t loss_q32;  /* probability of 2^32 that a packet is lost, in each direction */
	uint16_t loss_attr; /* only MADs of this attribute; 0: all packets */
	time_ps latency_ps; /* one way */
};
void sim_set_trouble(struct sim *s, port_id p, const struct sim_link_trouble *t); /* both ends */
void sim_get_trouble(const struct sim *s, port_id p, struct sim_link_trouble *t);

/* Counters of a port as the PMA reports them: 64 bits, cut to the width of each attribute there. */
enum sim_counter {
	SIM_CNT_XMIT_DATA,
	SIM_CNT_RCV_DATA,
	SIM_CNT_XMIT_PKTS,
	SIM_CNT_RCV_PKTS, /* data: 4 bytes */
	SIM_CNT_UNI_XMIT,
	SIM_CNT_UNI_RCV,
	SIM_CNT_MULTI_XMIT,
	SIM_CNT_MULTI_RCV,
	SIM_CNT_SYMBOL_ERROR,
	SIM_CNT_LINK_RECOVERY,
	SIM_CNT_LINK_DOWNED,
	SIM_CNT_RCV_ERRORS,
	SIM_CNT_RCV_REMOTE_PHYS,
	SIM_CNT_RCV_SWITCH_RELAY,
	SIM_CNT_XMIT_DISCARDS,
	SIM_CNT_XMIT_CONSTRAINT,
	SIM_CNT_RCV_CONSTRAINT,
	SIM_CNT_LOCAL_INTEGRITY,
	SIM_CNT_BUFFER_OVERRUN,
	SIM_CNT_VL15_DROPPED,
	SIM_CNT_XMIT_WAIT,
	SIM_NCOUNTERS
};
const char *sim_counter_name(enum sim_counter c); /* as in IBA: "SymbolErrorCounter" */
void sim_count(struct sim *s, port_id p, enum sim_counter c, uint64_t add);
void sim_count_set(struct sim *s, port_id p, enum sim_counter c, uint64_t value);
uint64_t sim_counted(const struct sim *s, port_id p, enum sim_counter c);
/* Packets of so many bytes, from LRH to ICRC, from a host or switch to a LID: counted along the tables as
 * if they had been sent. How far they came, in hops; -1: they did not arrive, and the port that discarded
 * them counted them. */
int sim_flow(struct sim *s, node_id n, unsigned port, uint16_t dlid, uint64_t packets,
	     uint32_t bytes);

/* ---- traffic: with the data plane on ---- */

/* Every linked port of a CA that is Active when its turn comes sends as the configuration says; hosts
 * are numbered in port order, sim_host_count() of them. 0, or -EINVAL with e filled. */
int sim_traffic(struct sim *s, const struct traffic_config *c, struct err *e);
uint32_t sim_host_count(const struct sim *s);
/* One packet, now. dlid may be a multicast LID. */
void sim_inject(struct sim *s, uint32_t host, uint16_t dlid, uint16_t payload, uint8_t sl);
void sim_window(struct sim *s, time_ps start, time_ps end); /* clears the windowed statistics */
const struct sim_plane_stats *sim_plane_stats(const struct sim *s);

struct sim_port_counters {
	uint64_t tx_bytes, rx_bytes, tx_packets, rx_packets;
	uint64_t errors;    /* packets that arrived damaged, flow control included */
	uint64_t discarded; /* data packets, whatever the cause */
	uint64_t recoveries,
		downed; /* LinkErrorRecoveryCounter, LinkDownedCounter: training after errors */
};
const struct sim_port_counters *sim_port_counters(const struct sim *s, port_id p);
time_ps sim_wire_time(const struct sim *s, port_id p, uint64_t bytes); /* at the port's rate */
/* How full the switches' data input buffers are, in millionths: all together, and the fullest. */
void sim_buffer_use(const struct sim *s, uint32_t *mean, uint32_t *max);

/* Every packet as it begins to leave a port: for captures. mad is NULL for data. */
struct sim_tap {
	void (*sent)(void *ctx, port_id port, unsigned vl, const struct sim_smp *smp, uint16_t slid,
		     uint16_t dlid, uint8_t sl, uint16_t pkey, uint16_t wire_bytes);
	void *ctx;
};
void sim_tap(struct sim *s, struct sim_tap tap);

/* Every data packet that is discarded: where and why. */
struct sim_discard_watch {
	void (*discarded)(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid,
			  uint16_t dlid);
	void *ctx;
};
void sim_watch_discards(struct sim *s, struct sim_discard_watch w);

/* Packets waiting for each other in a ring right now: the output ports of one ring, in order; 0 when
 * there is none. Caller frees *ring. */
size_t sim_deadlock(struct sim *s, port_id **ring);
/* A network at rest: no data packet anywhere, and every sender has the whole far buffer before it.
 * false: what is wrong, in why. Credits are on their way for a while after the last packet. */
bool sim_plane_rests(const struct sim *s, char *why, size_t size);

/* ---- looking from outside, as no SM can ---- */

bool sim_node_on(const struct sim *s, node_id n);
port_id sim_port_peer(const struct sim *s, port_id p); /* the cable, or FAB_NONE */
const struct iba_port_info *sim_port_info(const struct sim *s, port_id p);
const struct iba_switch_info *sim_switch_info(const struct sim *s, node_id n);
uint8_t sim_lft(const struct sim *s, node_id n, uint32_t lid); /* 255: none */
/* Where a switch sends a packet, by linear or random table and default port as the device does it: 0
 * is the switch itself, more than its ports means nowhere. */
unsigned sim_route(const struct sim *s, node_id n, uint16_t lid);
unsigned sim_slvl(const struct sim *s, node_id n, unsigned in, unsigned out, unsigned sl);
/* No service level leads from `in` to a data VL of `out`: whoever takes this turn is discarded. */
bool sim_turn_off(const struct sim *s, node_id n, unsigned in, unsigned out);
const struct sim_stats *sim_stats(const struct sim *s);
uint64_t sim_hash(const struct sim *s); /* of everything delivered and every state change so far */

/* The snapshot of what is there now: nodes that are on, links that are up, LIDs as set. Nodes keep
 * GUIDs and names; ids are new. */
struct fab *sim_snapshot(const struct sim *s);

#endif
