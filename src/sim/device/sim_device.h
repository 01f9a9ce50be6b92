/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices' contract: nodes with their SMI, SMA and agents, ports, cables, and the programs
 * attached to ports. Keeps what a device keeps: PortInfo, SwitchInfo, tables, counters, pending
 * traps. Promises to answer MADs as IBA says, and to report every state change to the watchers.
 *
 * Called by the laboratory and the emulator: they power nodes, move cables, attach SMs and
 * programs, send MADs, and read what a device holds without asking it by MAD.
 */
#ifndef WEFT_SIM_DEVICE_H
#define WEFT_SIM_DEVICE_H

#include "fabric/fabric.h"
#include "sim/sim_config.h"

struct sim;

/* ---- power and cables ---- */

/* Off loses all state. The functions of an HCA go on and off with it. */
void sim_node_power(struct sim *s, node_id n, bool on);
/* Connects two free ports. Where the snapshot has this link, the cable has the snapshot's
 * length. */
void sim_cable(struct sim *s, port_id a, port_id b);
void sim_cable_length(struct sim *s, port_id a, uint32_t cm); /* of the cable at a; 0: unknown */
void sim_uncable(struct sim *s, port_id a); /* removes the cable, if there is one */
void sim_set_faults(struct sim *s, const struct sim_faults *f);
void sim_set_training(struct sim *s, time_ps t); /* of links that come up from now on */

/* ---- programs at ports ---- */

/* A packet on VL15. dlid == IBA_LID_PERMISSIVE means directed. */
struct sim_smp {
	uint8_t mad[IBA_MAD_SIZE];
	uint16_t slid, dlid;
	uint8_t sl;
};

/* SMPs for an SM at this node (GetResp, Trap, all SMInfo) go to recv. Sets IsSM. One for each port;
 * for a switch, port 0. NULL recv detaches. */
void sim_attach(struct sim *s, node_id n, unsigned port,
		void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx);
/* Like sim_attach(), for programs of any kind: recv gets what the node does not answer itself, that
 * is responses, traps, SMInfo requests (only while IsSM is set: otherwise the SMA refuses them) and
 * GMPs of classes without an agent. Does not change IsSM. */
void sim_attach_port(struct sim *s, node_id n, unsigned port,
		     void (*recv)(void *ctx, const struct sim_smp *smp), void *ctx);
void sim_set_is_sm(struct sim *s, node_id n, unsigned port, bool on);
/* NodeDescription, at most 64 bytes, until the node is powered off. In express mode the node sends
 * trap 144. */
void sim_set_node_desc(struct sim *s, node_id n, const char *text);

/* Passes a MAD to the SMI of that port, which sends it in turn. In express mode also GMPs (any
 * class but subnet management), with a DLID: they travel as data on VL 0, along the tables, over
 * Active ports. Every node answers PerfMgt requests itself. Otherwise only SMPs and GMPs of vendors'
 * classes (0x30 to 0x4f), which share SMI queues and VL15 with SMPs. */
void sim_send(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp);

/* ---- what becomes of SMPs and GMPs ---- */

/* Why an SMP or GMP was dropped. */
enum sim_drop {
	SIM_DROP_FAULT,	      /* by the fault model */
	SIM_DROP_LINK,	      /* on, or bound for, a link that went down */
	SIM_DROP_NODE,	      /* inside a node that was powered off */
	SIM_DROP_UNROUTABLE,  /* no entry for its DLID */
	SIM_DROP_TURNED_BACK, /* routed to the port it arrived at */
	SIM_DROP_BAD_PATH,    /* invalid hop pointer, hop count or port of a directed route */
	SIM_DROP_NOT_FOR_US,  /* LID-routed to a port that does not have that LID */
	SIM_DROP_MKEY,	      /* M_Key check */
	SIM_DROP_BAD_MAD,     /* version, class or method that no SMI accepts */
	SIM_DROP_NO_SM,	      /* a response or trap for a port without an SM */
	SIM_DROP_BUFFER,      /* no room on VL15; with the data plane only */
	SIM_DROP_LIFETIME,    /* in a forwarding loop; in express mode only */
	SIM_DROP_NO_AGENT,    /* a GMP without an agent at its port */
	SIM_NDROPS
};

/* sim_stats() in sim_stats.h reads it. */
struct sim_stats {
	uint64_t sent;	    /* SMPs injected: requests, responses and traps */
	uint64_t delivered; /* to an SMA or an SM */
	uint64_t hops;	    /* links crossed */
	uint64_t duplicated, delayed;
	uint64_t traps; /* trap SMPs sent, repetitions included */
	uint64_t dropped[SIM_NDROPS];
	uint64_t in_flight; /* in queues or on links now */
};

/* ---- watchers ---- */

/* smp is NULL for state changes. */
enum sim_seen {
	SIM_SEEN_SEND,	 /* a manager or an SMA sends; port: the one it uses */
	SIM_SEEN_RECV,	 /* detail: 1 a manager receives, 0 an SMA */
	SIM_SEEN_DROP,	 /* detail: enum sim_drop */
	SIM_SEEN_PORT,	 /* detail: the new state */
	SIM_SEEN_NODE,	 /* detail: 1 power on, 0 off */
	SIM_SEEN_SMI_IN, /* the SMI takes an SMP; detail: 1 from its own node, 0 from a link */
	SIM_SEEN_SMI_OUT, /* it sends it through this port; 0: by the forwarding table of its switch */
	SIM_SEEN_SMI_UP, /* it passes it to its own node */
};
struct sim_watch {
	void (*seen)(void *ctx, enum sim_seen what, node_id n, unsigned port,
		     const struct sim_smp *smp, unsigned detail);
	void *ctx;
};
void sim_watch(struct sim *s, struct sim_watch w);	/* all but SIM_SEEN_SMI_* */
void sim_watch_smis(struct sim *s, struct sim_watch w); /* those; never in express mode */

/* A change in a device that affects data packets: by a Set, by its links or by its power. Called
 * only when a value differs from the one before. */
enum sim_change {
	SIM_CHANGED_TABLE,
	SIM_CHANGED_MASKS, /* of multicast */
	SIM_CHANGED_SLVL,
	SIM_CHANGED_PORT,
	SIM_CHANGED_POWER
};
struct sim_change_watch {
	void (*changed)(void *ctx, node_id n, enum sim_change what);
	void *ctx;
};
void sim_watch_changes(struct sim *s, struct sim_change_watch w);

/* A packet that begins to cross a link, from this port; its last byte arrives at `end`. smp is NULL for data packets.
 * Not in express mode. */
struct sim_hop {
	port_id from;
	const struct sim_smp *smp;
	time_ps start, end;
	uint16_t slid, dlid;
	uint8_t vl;
};
struct sim_hop_watch {
	void (*hop)(void *ctx, const struct sim_hop *h);
	void *ctx;
};
void sim_watch_hops(struct sim *s, struct sim_hop_watch w);

/* ---- what a device holds, read without a MAD ---- */

bool sim_node_on(const struct sim *s, node_id n);
port_id sim_port_peer(const struct sim *s, port_id p); /* the cable's other end, or FAB_NONE */
const struct iba_port_info *sim_port_info(const struct sim *s, port_id p);
uint64_t sim_port_guid(const struct sim *s, port_id p);			/* a VF's can be set */
bool sim_port_has_alias(const struct sim *s, port_id p, uint64_t guid); /* in its GUIDInfo */
/* Entry i of GUIDInfo: of a shared port, the GUID of VF i. */
uint64_t sim_alias_guid(const struct sim *s, port_id p, unsigned i);
uint64_t sim_function_guid(const struct sim *s, node_id n); /* of a function: in hardware */
const struct iba_switch_info *sim_switch_info(const struct sim *s, node_id n);
uint8_t sim_lft(const struct sim *s, node_id n, uint32_t lid); /* 255: no entry */
/* The output port of a switch for a LID, by linear or random table and default port, as the device
 * computes it: 0 is the switch itself, more than its ports means that there is no route. */
unsigned sim_route(const struct sim *s, node_id n, uint16_t lid);
/* The ports of a switch that get copies of packets to a multicast LID, a bit for each: 256. False: none. */
bool sim_mft(const struct sim *s, node_id n, uint16_t mlid, uint64_t ports[4]);
uint32_t sim_mlids_used(const struct sim *s,
			node_id n); /* behind the last one of a block that was set */
uint32_t sim_mft_changes(const struct sim *s, node_id n); /* what sim_mft() says may have changed */
/* Sets of PortInfo with ClientReregister that the port accepted. */
uint32_t sim_reregisters(const struct sim *s, port_id p);
unsigned sim_slvl(const struct sim *s, node_id n, unsigned in, unsigned out, unsigned sl);
/* An entry of the port's P_Key table; 0: it is empty, or there is none. */
uint16_t sim_pkey(const struct sim *s, port_id p, unsigned index);
/* No service level leads from `in` to a data VL of `out`: packets that take this turn are
 * discarded. */
bool sim_turn_off(const struct sim *s, node_id n, unsigned in, unsigned out);
time_ps sim_wire_time(const struct sim *s, port_id p, uint64_t bytes); /* at the port's rate */
/* A snapshot of the present state: nodes that are on, links that are up, LIDs as set. Nodes keep
 * GUIDs and names; ids are new. */
struct fab *sim_snapshot(const struct sim *s);

/* ---- an agent that lies ---- */

/* Called with each response of an agent before it is sent; it may change the MAD. */
struct sim_tamper {
	void (*respond)(void *ctx, node_id n, uint8_t *mad);
	void *ctx;
};
void sim_set_tamper(struct sim *s, struct sim_tamper t);

/* ---- faults of links; not with the data plane ---- */

struct sim_link_fault {
	uint64_t loss_q32;  /* probability of 2^32 that a packet is lost, in each direction */
	uint16_t loss_attr; /* only MADs of this attribute; 0: all packets; in express mode only */
	time_ps latency_ps; /* one way */
};
void sim_set_link_fault(struct sim *s, port_id p, const struct sim_link_fault *t); /* both ends */
void sim_get_link_fault(const struct sim *s, port_id p, struct sim_link_fault *t);

/* ---- express mode: counters ---- */

/* Counters of a port as the PMA reports them: 64 bits, limited to the width of each attribute
 * there. */
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
	SIM_CNT_FEC_CORRECTED, /* blocks, on the first lane */
	SIM_CNT_FEC_UNCORRECTED,
	SIM_NCOUNTERS
};
/* What a node's performance management agent has. */
enum sim_agent {
	SIM_AGENT_WIDE,	  /* PortCounters, and PortCountersExtended without announced errors */
	SIM_AGENT_NARROW, /* PortCounters alone */
	SIM_AGENT_FULL,	  /* PortCountersExtended with errors, PortExtendedSpeedsCounters */
	SIM_AGENT_SILENT, /* it does not answer */
	SIM_NAGENTS
};
const char *sim_agent_name(enum sim_agent a);
void sim_set_agent(struct sim *s, node_id n, enum sim_agent a);
enum sim_agent sim_agent(const struct sim *s, node_id n);
const char *sim_counter_name(enum sim_counter c); /* as in IBA: "SymbolErrorCounter" */
void sim_count(struct sim *s, port_id p, enum sim_counter c, uint64_t add);
void sim_count_set(struct sim *s, port_id p, enum sim_counter c, uint64_t value);
uint64_t sim_counted(const struct sim *s, port_id p, enum sim_counter c);
/* Counts packets of so many bytes (LRH to ICRC) along the tables from a host or switch to a LID,
 * as if they had been sent. Returns the number of hops; -1: they would not arrive, and the port
 * that would discard them counted them. */
int sim_flow(struct sim *s, node_id n, unsigned port, uint16_t dlid, uint64_t packets,
	     uint32_t bytes);

#endif
