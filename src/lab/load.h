/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric under load: bring-up, traffic, a warm-up that is not counted and a window that is. A node is a
 * linked port of a CA; rates are packets a second and node.
 */
#ifndef WEFT_LOAD_H
#define WEFT_LOAD_H

#include "lab/group_traffic.h"
#include "lab/lab.h"
#include "lab/usage.h"
#include "sim/traffic/traffic.h"

enum { LAB_OVERHEAD_BYTES = 26 }; /* of a data packet: LRH, BTH, ICRC, VCRC */

struct lab_load {
	struct traffic_config traffic; /* lab_load_run() sets start, stop, trace and burst gap */
	traffic_trace *trace; /* must outlive the lab; lab_load_run() adds the start to its times */
	time_ps warmup, duration;		/* TIME_NEVER: see lab_load_times() */
	bool detail;				/* also by host, switch and link */
	const struct lab_groups_config *groups; /* multicast traffic as well; NULL: none */
};

struct lab_load_result {
	uint32_t hosts, senders;
	time_ps start, window_start, window_end;
	struct sim_plane_stats plane; /* at the end of the window */
	uint64_t discarded;	      /* for all reasons */
	bool conserved;		      /* generated = delivered + discarded + in flight */
	uint64_t offered, accepted;   /* packets a second and sending node, in the window */
	uint64_t events;	      /* from the start of the traffic */
	uint64_t smps, hash;	      /* of the whole run; SMPs of the manager */
	uint64_t smps_by[SM_NPURPOSES];
	struct sim_stats net;		   /* SMPs in the network, of the whole run */
	struct lab_usage usage;		   /* with detail */
	struct lab_groups_count multicast; /* of the whole run; without groups all 0 */
	port_id *ring; /* output ports that wait for each other for good; see nring */
	size_t nring;
};

/* A network of 2 data VLs and packets of 256 bytes, and uniform traffic on all service levels: where options say nothing
 * else. The interval of the traffic is not set. */
void lab_load_network(struct sim_config *c);
void lab_load_traffic(struct traffic_config *t, uint64_t seed);
/* Picoseconds between packets of a host whose link carries bps, to use a share of it, in units of 2^-32, above 0. */
uint64_t lab_load_share_interval(uint64_t bps, unsigned payload, uint64_t share_q32);

/* Data bits a second of the slowest link of a host; 0: no host has a link. */
uint64_t lab_host_bps(const struct fab *f);
/* Packets a second that this link carries. */
uint64_t lab_load_full_rate(const struct fab *f, unsigned payload);
uint64_t lab_load_interval(uint64_t rate); /* picoseconds between packets of one node */
/* Hosts are numbered as sim_traffic() does; UINT32_MAX when n has no linked port or is no CA. */
uint32_t lab_host_number(const struct fab *f, node_id n);
uint32_t lab_load_hosts(const struct fab *f); /* that send: no VF, since none has a machine */

/* Replace TIME_NEVER in warmup and duration. Duration: each node sends 200 packets, all together 8000, and a
 * host's link could carry 1000; warm-up: a quarter of it. With a trace: no warm-up, and until 1 ms after the
 * last packet. */
void lab_load_times(const struct fab *f, struct lab_load *d);

/* Power on and wait until the manager is at rest. -ETIME with e filled. */
int lab_load_up(struct lab *l, time_ps limit, struct err *e);
/* Then send until the end of the window. 0, or -EINVAL with e filled. Free the result in either case. */
int lab_load_run(struct lab *l, const struct lab_load *d, struct lab_load_result *r, struct err *e);
void lab_load_free(struct lab_load_result *r);

/* Time between packets of a burst: as fast as the host's link carries them, or as the rate demands if that
 * is faster. */
uint64_t lab_burst_gap(const struct lab *l, const struct traffic_config *t);

#endif
