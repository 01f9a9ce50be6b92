/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ports count and what links suffer in express mode, and flows counted without sending them.
 * State: one struct port_counters a port; troubles once one was set. Way in: the calls of sim.h.
 * Does not know how counters look on the wire: that is pma.c's.
 */
#include "sim/kernel/sim_priv.h"

static const char *const counter_names[SIM_NCOUNTERS] = {
	[SIM_CNT_XMIT_DATA] = "PortXmitData",
	[SIM_CNT_RCV_DATA] = "PortRcvData",
	[SIM_CNT_XMIT_PKTS] = "PortXmitPkts",
	[SIM_CNT_RCV_PKTS] = "PortRcvPkts",
	[SIM_CNT_UNI_XMIT] = "PortUnicastXmitPkts",
	[SIM_CNT_UNI_RCV] = "PortUnicastRcvPkts",
	[SIM_CNT_MULTI_XMIT] = "PortMulticastXmitPkts",
	[SIM_CNT_MULTI_RCV] = "PortMulticastRcvPkts",
	[SIM_CNT_SYMBOL_ERROR] = "SymbolErrorCounter",
	[SIM_CNT_LINK_RECOVERY] = "LinkErrorRecoveryCounter",
	[SIM_CNT_LINK_DOWNED] = "LinkDownedCounter",
	[SIM_CNT_RCV_ERRORS] = "PortRcvErrors",
	[SIM_CNT_RCV_REMOTE_PHYS] = "PortRcvRemotePhysicalErrors",
	[SIM_CNT_RCV_SWITCH_RELAY] = "PortRcvSwitchRelayErrors",
	[SIM_CNT_XMIT_DISCARDS] = "PortXmitDiscards",
	[SIM_CNT_XMIT_CONSTRAINT] = "PortXmitConstraintErrors",
	[SIM_CNT_RCV_CONSTRAINT] = "PortRcvConstraintErrors",
	[SIM_CNT_LOCAL_INTEGRITY] = "LocalLinkIntegrityErrors",
	[SIM_CNT_BUFFER_OVERRUN] = "ExcessiveBufferOverrunErrors",
	[SIM_CNT_VL15_DROPPED] = "VL15Dropped",
	[SIM_CNT_XMIT_WAIT] = "PortXmitWait",
};

const char *sim_counter_name(enum sim_counter c)
{
	return c < SIM_NCOUNTERS ? counter_names[c] : "?";
}

void sim_count(struct sim *s, port_id p, enum sim_counter c, uint64_t add)
{
	uint64_t *v;

	if (!s->counters)
		return;
	v = &s->counters[p].c[c];
	*v = add > UINT64_MAX - *v ? UINT64_MAX : *v + add;
}

void sim_count_set(struct sim *s, port_id p, enum sim_counter c, uint64_t value)
{
	if (s->counters)
		s->counters[p].c[c] = value;
}

uint64_t sim_counted(const struct sim *s, port_id p, enum sim_counter c)
{
	return s->counters ? s->counters[p].c[c] : 0;
}

/* ---- troubles ---- */

void sim_set_link_fault(struct sim *s, port_id p, const struct sim_link_fault *t)
{
	port_id q = s->ports[p].peer;

	if (!s->trouble)
		s->trouble = mem_zarray(s->fab->nports, sizeof(*s->trouble));
	s->trouble[p] = *t;
	if (q != FAB_NONE)
		s->trouble[q] = *t;
}

void sim_get_link_fault(const struct sim *s, port_id p, struct sim_link_fault *t)
{
	*t = s->trouble ? s->trouble[p] : (struct sim_link_fault){0};
}

/* ---- flows ---- */

struct flow {
	struct sim *s;
	uint16_t dlid;
	uint64_t packets, words;
	node_id node;
	unsigned in_port; /* 0: it begins here */
};

static void flow_count(const struct flow *f, port_id at, bool out)
{
	struct sim *s = f->s;

	sim_count(s, at, out ? SIM_CNT_XMIT_DATA : SIM_CNT_RCV_DATA, f->words);
	sim_count(s, at, out ? SIM_CNT_XMIT_PKTS : SIM_CNT_RCV_PKTS, f->packets);
	sim_count(s, at, out ? SIM_CNT_UNI_XMIT : SIM_CNT_UNI_RCV, f->packets);
}

/* Over the link of that port. */
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

/* Through the switch it is at: to its port 0, over a link, or nowhere. */
static bool flow_forward(struct flow *f, bool *there)
{
	struct sim *s = f->s;
	unsigned out = lid_route(s, f->node, f->dlid);
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

/* From switch to switch, until it is where its LID is. */
static int flow_walk(struct flow *f, int hops)
{
	struct sim *s = f->s;
	bool there;

	while (sim_is_switch(s, f->node)) {
		if ((uint32_t)hops > s->fab->nswitches + 1) { /* it has been here before */
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
