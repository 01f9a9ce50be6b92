/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows of packets counted along the tables without sending them, in express mode. Keeps no state
 * but the ports' counters. Way in: sim_flow(). Does not take time.
 */
#include "sim/device/device_priv.h"

struct flow {
	struct sim *s;
	uint16_t dlid;
	uint64_t packets, words;
	node_id node;
	unsigned in_port; /* 0: the flow starts here */
};

static void flow_count(const struct flow *f, port_id at, bool out)
{
	struct sim *s = f->s;

	sim_count(s, at, out ? SIM_CNT_XMIT_DATA : SIM_CNT_RCV_DATA, f->words);
	sim_count(s, at, out ? SIM_CNT_XMIT_PKTS : SIM_CNT_RCV_PKTS, f->packets);
	sim_count(s, at, out ? SIM_CNT_UNI_XMIT : SIM_CNT_UNI_RCV, f->packets);
}

/* Crosses the link of that port. */
static bool flow_cross(struct flow *f, unsigned out)
{
	struct sim *s = f->s;
	port_id at = s->fab->nodes[f->node].first_port + out, to = s->ports[at].peer;

	if (!link_open(s, &s->ports[at], true)) {
		sim_count(s, at, SIM_CNT_XMIT_DISCARDS, f->packets);
		return false;
	}
	flow_count(f, at, true);
	flow_count(f, to, false);
	link_data_came(s, to);
	f->node = s->fab->ports[to].node;
	f->in_port = s->fab->ports[to].num;
	return true;
}

/* Passes the present switch: to its port 0 or over a link; false when it is discarded. */
static bool flow_forward(struct flow *f, bool *there)
{
	struct sim *s = f->s;
	unsigned out = lid_route(s, f->node, f->dlid, false);
	port_id in = s->fab->nodes[f->node].first_port + f->in_port;

	*there = out == 0 && lid_is_ours(&node_port(s, f->node, 0)->pi, f->dlid);
	if (*there)
		return true;
	if (!out || out > s->fab->nodes[f->node].nports || (f->in_port && out == f->in_port)) {
		sim_count(s, in, SIM_CNT_RCV_SWITCH_RELAY, f->packets);
		return false;
	}
	return flow_cross(f, out);
}

/* From switch to switch, to the port that has the LID. */
static int flow_walk(struct flow *f, int hops)
{
	struct sim *s = f->s;
	bool there;

	while (sim_is_switch(s, f->node)) {
		if ((uint32_t)hops > s->fab->nswitches + 1) { /* a forwarding loop */
			sim_count(s, s->fab->nodes[f->node].first_port + f->in_port,
				  SIM_CNT_XMIT_DISCARDS, f->packets);
			return -1;
		}
		if (!flow_forward(f, &there))
			return -1;
		if (there)
			return hops;
		hops++;
	}
	return lid_is_ours(&node_port(s, f->node, f->in_port)->pi, f->dlid) ? hops : -1;
}

int sim_flow(struct sim *s, node_id n, unsigned port, uint16_t dlid, uint64_t packets,
	     uint32_t bytes)
{
	struct flow f = {s, dlid, packets, 0, n, 0};

	if (__builtin_mul_overflow(packets, (uint64_t)bytes / 4, &f.words))
		f.words = UINT64_MAX;
	if (!s->nodes[n].on)
		return -1;
	if (sim_is_switch(s, n))
		return flow_walk(&f, 0);
	if (!port || port > s->fab->nodes[n].nports)
		return -1;
	if (lid_is_ours(&node_port(s, n, port)->pi, dlid))
		return 0;
	return flow_cross(&f, port) ? flow_walk(&f, 1) : -1;
}
