/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a simulation is made with: times, capabilities of the devices, faults, the data plane. Keeps
 * nothing: sim_new() copies the configuration. The laboratory, the emulator and the command line
 * fill it in; start from sim_config_default(), which says where each value comes from.
 */
#ifndef WEFT_SIM_CONFIG_H
#define WEFT_SIM_CONFIG_H

#include "base/base.h"

/* Faults of SMPs, each a probability in units of 2^-32 for each SMP sent. */
struct sim_faults {
	uint64_t loss_q32;
	uint64_t delay_q32;
	uint64_t dup_q32;
	time_ps delay_max_ps; /* upper limit of the delay of a delayed SMP or of a duplicate */
};

/* The packet-level data plane. Off: the network carries SMPs only, hop by hop, and is fast. */
struct sim_plane_config {
	bool on;
	time_ps route_ps, map_ps, crossbar_ps, setup_ps,
		link_arb_ps;	   /* units of a switch and a port */
	unsigned header_bytes;	   /* LRH and BTH: received before a packet can be routed */
	unsigned buffer_bytes;	   /* of each VL, for input and for output */
	uint64_t byte_error_q40;   /* probability that a byte is damaged on a link, of 2^40 */
	time_ps retrain_ps;	   /* duration of link error recovery; 0: links never recover */
	uint64_t retrain_fail_q32; /* probability that recovery fails and the link goes down */
	bool fc_refresh;   /* flow control packets every 65,536 symbol times, errors or not */
	bool rate_control; /* static rate control: no faster to a host than its own link */
};

struct sim_config {
	uint64_t seed;
	struct sim_plane_config plane;
	/* Times (thesis 4.2 and 4.3.5). */
	time_ps smi_ps;	     /* one SMP through one SMI, in or out */
	time_ps sma_ps;	     /* one request handled by an SMA, on top of the SMI */
	time_ps hop_ps;	     /* a LID-routed SMP through a switch: routing, crossbar, arbitration */
	time_ps wire_ps;     /* propagation on a link whose cable length is unknown */
	time_ps cable_m_ps;  /* propagation on one metre of cable */
	time_ps training_ps; /* from cable or power on to Initialize */
	/* Capabilities of the devices. */
	uint8_t mtu_cap, vl_cap; /* IBA codes */
	uint8_t vlarb_cap;	 /* entries of each priority */
	uint8_t resp_time;	 /* RespTimeValue exponent */
	uint8_t phy_errors;	 /* LocalPhyErrors of PortInfo at power-on, 0 to 15 */
	uint16_t lft_cap, rft_cap, mft_cap, pkey_cap;
	/* By node, read by sim_new() only: RandomFDBCap of switches without a linear table, 0 for all
	 * other nodes. NULL: all switches have a linear table. */
	const uint16_t *random_only;
	/* Emulation: SMPs and GMPs take no time except where a link has latency of its own. Not with
	 * the data plane. See sim_settle(). Devices have all capabilities that programs query. */
	bool express;
	/* As hardware: a port that is set to Down or Polling takes its link down and retrains it at
	 * the best speed and width that both ends enable. Off: as in the thesis, Down leads to
	 * Initialize at this end alone. express implies it. */
	bool link_pairs;
	/* Not as IBA: ports have no Armed, and become Active from Initialize (thesis 4.2.3). */
	bool no_armed;
	bool traps;	     /* switches send trap 128, all nodes trap 256 */
	uint32_t trap_limit; /* sends of one trap without an answer; 0: no limit */
	struct sim_faults faults;
};

void sim_config_default(struct sim_config *c);

#endif
