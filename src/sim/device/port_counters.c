/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port counters and faults of links in express mode. State: one struct port_counters for each port;
 * faults and agents once one was set. Ways in: the calls of sim_device.h. Does not know the layout of counters
 * in MADs: pma.c does.
 */
#include "sim/device/device_priv.h"

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
	[SIM_CNT_FEC_CORRECTED] = "FECCorrectableBlockCtr",
	[SIM_CNT_FEC_UNCORRECTED] = "FECUncorrectableBlockCtr",
};

const char *sim_counter_name(enum sim_counter c)
{
	return c < SIM_NCOUNTERS ? counter_names[c] : "?";
}

void sim_count(struct sim *s, port_id p, enum sim_counter c, uint64_t add)
{
	uint64_t *v;

	if (!s->dev.counters)
		return;
	v = &s->dev.counters[p].c[c];
	*v = add > UINT64_MAX - *v ? UINT64_MAX : *v + add;
}

void sim_count_set(struct sim *s, port_id p, enum sim_counter c, uint64_t value)
{
	if (s->dev.counters)
		s->dev.counters[p].c[c] = value;
}

uint64_t sim_counted(const struct sim *s, port_id p, enum sim_counter c)
{
	return s->dev.counters ? s->dev.counters[p].c[c] : 0;
}

/* ---- agents ---- */

const char *sim_agent_name(enum sim_agent a)
{
	static const char *const names[SIM_NAGENTS] = {"wide", "narrow", "full", "silent"};

	return a < SIM_NAGENTS ? names[a] : "?";
}

void sim_set_agent(struct sim *s, node_id n, enum sim_agent a)
{
	if (!s->dev.agents)
		s->dev.agents = mem_zarray(s->fab->nnodes, 1);
	s->dev.agents[n] = (uint8_t)a;
}

enum sim_agent sim_agent(const struct sim *s, node_id n)
{
	return s->dev.agents ? (enum sim_agent)s->dev.agents[n] : SIM_AGENT_WIDE;
}

/* ---- faults ---- */

void sim_set_link_fault(struct sim *s, port_id p, const struct sim_link_fault *t)
{
	port_id q = s->ports[p].peer;

	if (!s->dev.faults)
		s->dev.faults = mem_zarray(s->fab->nports, sizeof(*s->dev.faults));
	s->dev.faults[p] = *t;
	if (q != FAB_NONE)
		s->dev.faults[q] = *t;
}

void sim_get_link_fault(const struct sim *s, port_id p, struct sim_link_fault *t)
{
	*t = s->dev.faults ? s->dev.faults[p] : (struct sim_link_fault){0};
}
