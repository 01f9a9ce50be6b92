/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Express mode: packets go from node to node at once, without an event for each hop. State: the
 * list of packets not moved yet, in struct sim. Ways in: express_walk(), express_arrive(). Does not
 * decide where an SMP goes at a node: smi.c does.
 */
#include "sim/device/device_priv.h"

/* What handles the packet next. */
enum place { AT_PORT, AT_TABLE, AT_NODE, GONE };

static bool is_gmp(const struct pkt *p)
{
	unsigned class = iba_smp_mgmt_class(p->smp.mad);

	return class != IBA_CLASS_SUBN_LID && class != IBA_CLASS_SUBN_DR;
}

static bool is_multicast(const struct pkt *p)
{
	return p->smp.dlid >= IBA_LID_MCAST_FIRST && p->smp.dlid != IBA_LID_PERMISSIVE && is_gmp(p);
}

static enum place drop(struct sim *s, uint32_t p, enum sim_drop why)
{
	pkt_drop(s, p, why);
	return GONE;
}

/* Dropped at a port that has a counter for it. */
static enum place drop_counted(struct sim *s, uint32_t p, enum sim_drop why, port_id at,
			       enum sim_counter c)
{
	sim_count(s, at, c, 1);
	return drop(s, p, why);
}

static uint64_t more(uint64_t v, unsigned add)
{
	return v > UINT64_MAX - add ? UINT64_MAX : v + add;
}

static void count_packet(struct sim *s, port_id at, enum sim_counter data, enum sim_counter pkts,
			 enum sim_counter uni)
{
	uint64_t *c = s->dev.counters[at].c;

	c[data] = more(c[data], (IBA_SMP_WIRE_BYTES - 2) / 4); /* words, no VCRC (IBA 16.1.3.5) */
	c[pkts] = more(c[pkts], 1);
	c[uni] = more(c[uni], 1);
}

/* More hops than switches exist, on both LID-routed segments, mean a forwarding loop. */
static unsigned hop_limit(const struct sim *s)
{
	return MIN(2u * s->fab->nswitches + IBA_MAX_HOPS + 2u, (unsigned)UINT16_MAX);
}

static void arrive(struct sim *s, uint32_t p, port_id at)
{
	struct pkt *pkt = &s->dev.pkts.at[p];

	count_packet(s, at, SIM_CNT_RCV_DATA, SIM_CNT_RCV_PKTS,
		     is_multicast(pkt) ? SIM_CNT_MULTI_RCV : SIM_CNT_UNI_RCV);
	pkt->node = s->fab->ports[at].node;
	pkt->in_port = s->fab->ports[at].num;
	pkt->from_local = false;
	if (is_gmp(pkt))
		link_data_came(s, at);
}

static bool suffers(const struct sim_link_fault *t, const struct pkt *pkt)
{
	return !t->loss_attr || t->loss_attr == iba_smp_attr_id(pkt->smp.mad);
}

/* Crosses the link of port `out`, if it is open. */
static enum place cross(struct sim *s, uint32_t p, unsigned out)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	const struct fab_node *fn = &s->fab->nodes[pkt->node];
	port_id at = fn->first_port + out, to;
	const struct sim_link_fault *t;
	bool gmp = is_gmp(pkt);

	if (!out || out > fn->nports)
		return drop(s, p, SIM_DROP_BAD_PATH);
	if (!link_open(s, &s->ports[at], gmp))
		return drop_counted(s, p, SIM_DROP_LINK, at, SIM_CNT_XMIT_DISCARDS);
	if (pkt->hops++ > hop_limit(s))
		return drop_counted(s, p, SIM_DROP_LIFETIME, at, SIM_CNT_XMIT_DISCARDS);
	to = s->ports[at].peer;
	s->dev.stats.hops++;
	count_packet(s, at, SIM_CNT_XMIT_DATA, SIM_CNT_XMIT_PKTS,
		     is_multicast(pkt) ? SIM_CNT_MULTI_XMIT : SIM_CNT_UNI_XMIT);
	t = s->dev.faults ? &s->dev.faults[at] : NULL;
	if (t && suffers(t, pkt) && rng_chance(&s->dev.fault_rng, t->loss_q32))
		return drop_counted(s, p, SIM_DROP_FAULT, to,
				    gmp ? SIM_CNT_RCV_ERRORS : SIM_CNT_VL15_DROPPED);
	if (t && t->latency_ps) {
		sim_push(&s->main, s->main.now + t->latency_ps, PRIO_NET,
			 (struct ev_what){.kind = EV_ARRIVE,
					  .arrive = {to, p, s->ports[to].link_epoch}});
		return GONE;
	}
	arrive(s, p, to);
	return AT_PORT;
}

/* ---- multicast ---- */

/* More than so many at one time mean masks that form a loop: its copies would multiply for ever. */
static uint64_t copies_limit(const struct sim *s)
{
	return 64 * (uint64_t)s->fab->nports + 1024;
}

/* A copy for one port of the mask; for port 0, the switch itself gets it. */
static void copy_out(struct sim *s, uint32_t p, unsigned out)
{
	uint32_t copy = pkt_new(s), next;

	next = s->dev.pkts.at[copy].next;

	s->dev.pkts.at[copy] = s->dev.pkts.at[p];
	s->dev.pkts.at[copy].next = next;
	if (s->dev.walk_copies++ > copies_limit(s)) {
		pkt_drop(s, copy, SIM_DROP_LIFETIME);
	} else if (!out) {
		s->dev.pkts.at[copy].from_local = false;
		gsi_deliver(s, copy);
	} else if (cross(s, copy, out) == AT_PORT) {
		smi_enqueue(s, s->dev.pkts.at[copy].node, copy);
	}
}

/* To all ports of the mask but the one that it came in by. The packet itself counts as the first copy. */
static enum place by_mask(struct sim *s, uint32_t p)
{
	node_id n = s->dev.pkts.at[p].node;
	unsigned in = s->dev.pkts.at[p].from_local ? 0 : s->dev.pkts.at[p].in_port, copies = 0;
	port_id at = s->fab->nodes[n].first_port + in;
	uint64_t mask[4];

	sim_mft(s, n, s->dev.pkts.at[p].smp.dlid, mask);
	for (unsigned out = 0; out <= s->fab->nodes[n].nports; out++)
		if (mask[out / 64] >> out % 64 & 1 && out != in) {
			s->dev.stats.duplicated += copies++ != 0;
			copy_out(s, p, out);
		}
	if (!copies)
		return drop_counted(s, p, SIM_DROP_UNROUTABLE, at, SIM_CNT_RCV_SWITCH_RELAY);
	pkt_free(s, p);
	return GONE;
}

/* A LID-routed packet leaves an endport at the sender's port, a switch by its table. */
static enum place by_table(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	node_id n = pkt->node;
	port_id in = s->fab->nodes[n].first_port + pkt->in_port;
	unsigned out;

	if (!sim_is_switch(s, n))
		return cross(s, p, pkt->in_port);
	if (is_multicast(pkt))
		return by_mask(s, p);
	out = lid_route(s, n, pkt->smp.dlid, lid_for_smi(s, n, pkt->smp.mad));
	if (out == 0) {
		pkt->from_local = false;
		return AT_NODE;
	}
	if (out > s->fab->nodes[n].nports)
		return drop_counted(s, p, SIM_DROP_UNROUTABLE, in, SIM_CNT_RCV_SWITCH_RELAY);
	if (out == pkt->in_port && !pkt->from_local)
		return drop_counted(s, p, SIM_DROP_TURNED_BACK, in, SIM_CNT_RCV_SWITCH_RELAY);
	return cross(s, p, out);
}

static enum place at_smi(struct sim *s, uint32_t p)
{
	struct verdict v = smi_judge(s, &s->dev.pkts.at[p]);

	switch (v.kind) {
	case TO_PORT:
		return cross(s, p, v.port);
	case TO_LID:
		return AT_TABLE;
	case TO_NODE:
		smi_deliver(s, p);
		return GONE;
	case DISCARD:
		break;
	}
	return drop(s, p, v.why);
}

static enum place at_gsi(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->dev.pkts.at[p];

	if (smi_has_lid(s, pkt) || (is_multicast(pkt) && !pkt->from_local)) {
		gsi_deliver(s, p);
		return GONE;
	}
	if (pkt->smp.dlid == IBA_LID_PERMISSIVE)
		return drop(s, p, SIM_DROP_BAD_PATH);
	return pkt->from_local ? AT_TABLE : drop(s, p, SIM_DROP_NOT_FOR_US);
}

static enum place at_node(struct sim *s, uint32_t p)
{
	const struct pkt *pkt = &s->dev.pkts.at[p];

	if (!s->nodes[pkt->node].on)
		return drop(s, p, SIM_DROP_NODE);
	return is_gmp(pkt) ? at_gsi(s, p) : at_smi(s, p);
}

static void walk(struct sim *s, uint32_t p)
{
	enum place at = s->dev.pkts.at[p].from_local ? AT_NODE : AT_PORT;

	while (at != GONE) {
		const struct pkt *pkt = &s->dev.pkts.at[p];

		if (at == AT_PORT)
			at = pkt->smp.dlid != IBA_LID_PERMISSIVE && sim_is_switch(s, pkt->node)
				     ? AT_TABLE
				     : AT_NODE;
		if (at == AT_TABLE)
			at = by_table(s, p);
		else
			at = at_node(s, p);
	}
}

/* ---- the list ---- */

/* Responses of nodes, and packets that programs send while they receive, are added at the end of
 * the list. Not re-entrant: a program that settles while it receives finds `walking` set. */
void express_walk(struct sim *s)
{
	if (s->dev.walking)
		return;
	s->dev.walking = true;
	s->dev.walk_copies = 0;
	while (s->dev.walk_head != PKT_NONE) {
		uint32_t p = s->dev.walk_head;

		s->dev.walk_head = s->dev.pkts.at[p].next;
		walk(s, p);
	}
	s->dev.walking = false;
}

/* After a link with latency. */
void express_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch)
{
	if (s->ports[at].link_epoch != epoch || s->ports[at].pi.state == IBA_PORT_DOWN) {
		pkt_drop(s, p, SIM_DROP_LINK);
		return;
	}
	arrive(s, p, at);
	smi_enqueue(s, s->dev.pkts.at[p].node, p);
}
