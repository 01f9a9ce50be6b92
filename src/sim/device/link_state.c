/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wires and what is at their ends: port states by the link state machine, SMPs on the way from port
 * to port, LID-routed forwarding in switches. State: struct sim_port. Does not look into SMPs. With
 * the data plane on, link_send() and lid_forward() hand over to it.
 */
#include "sim/plane/plane_priv.h"

/*
 * The link state machine (thesis 2.4.1, Fig. 7). Orders of the SM go through sma.c, which checks that
 * they are allowed; only what the link itself does sets PortStateChange (IBA 14.2.5.4).
 */
static bool state_change_counts(enum iba_port_state from, enum iba_port_state to)
{
	return (from == IBA_PORT_DOWN && to == IBA_PORT_INIT) ||
	       (from != IBA_PORT_DOWN && to == IBA_PORT_DOWN);
}

void port_state_set(struct sim *s, node_id n, unsigned num, enum iba_port_state st)
{
	struct sim_port *p = node_port(s, n, num);
	bool other = p->pi.state != st;

	p->pi.state = (uint8_t)st;
	sim_seen(s, SIM_SEEN_PORT, n, num, NULL, st);
	if (!other)
		return;
	if (s->plane && st == IBA_PORT_ACTIVE)
		host_active(s, s->fab->nodes[n].first_port + num);
	if (s->plane && num)
		link_kick(s, s->fab->nodes[n].first_port +
				     num); /* what waits may go, or is discarded */
	sim_changed(s, n, SIM_CHANGED_PORT);
}

static void by_link(struct sim *s, port_id at, enum iba_port_state to)
{
	struct sim_port *p = &s->ports[at];
	node_id n = s->fab->ports[at].node;
	enum iba_port_state from = p->pi.state;

	p->link_epoch++;
	if (from != IBA_PORT_DOWN && to == IBA_PORT_DOWN)
		sim_count(s, at, SIM_CNT_LINK_DOWNED, 1);
	p->tx_free = s->now; /* what waited for the transmitter is lost with the link */
	if (to != IBA_PORT_DOWN)
		p->pi.phys_state = IBA_PHYS_LINK_UP;
	else if (p->pi.phys_state != IBA_PHYS_DISABLED) /* that takes an order to end */
		p->pi.phys_state = IBA_PHYS_POLLING;
	if (from == to)
		return;
	if (s->plane && to == IBA_PORT_DOWN)
		plane_link_down(s, at);
	port_state_set(s, n, s->fab->ports[at].num, to);
	if (sim_is_switch(s, n) && state_change_counts(from, to)) {
		s->nodes[n].si.port_state_change = 1;
		trap_link_state(s, n);
	}
}

void link_try_up(struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	if (b == FAB_NONE || !s->nodes[s->fab->ports[a].node].on ||
	    !s->nodes[s->fab->ports[b].node].on)
		return;
	if (s->ports[a].pi.phys_state == IBA_PHYS_DISABLED ||
	    s->ports[b].pi.phys_state == IBA_PHYS_DISABLED)
		return;
	if (s->cfg.training_ps)
		sim_push(s, s->now + s->cfg.training_ps, PRIO_WORLD,
			 (struct ev){.kind = EV_LINK, .a = a, .b = s->ports[a].link_epoch});
	else
		link_trained(s, a, s->ports[a].link_epoch);
}

/* Speed, width and LinkRoundTripLatency, in units of 4 ns. */
static bool agree(struct sim *s, port_id a, port_id b)
{
	time_ps one_way = s->ports[a].wire_ps + (s->trouble ? s->trouble[a].latency_ps : 0);

	if (!rate_agree(&s->ports[a], &s->ports[b]))
		return false;
	s->ports[a].pi.round_trip_latency = s->ports[b].pi.round_trip_latency =
		(uint32_t)MIN(2 * one_way / (4 * PS_PER_NS), (time_ps)0xfffffe);
	return true;
}

void link_trained(struct sim *s, port_id a, uint32_t epoch)
{
	port_id b = s->ports[a].peer;

	if (s->ports[a].link_epoch != epoch || b == FAB_NONE ||
	    s->ports[a].pi.state != IBA_PORT_DOWN || s->ports[b].pi.state != IBA_PORT_DOWN)
		return;
	if (s->cfg.link_pairs && !agree(s, a, b))
		return;
	by_link(s, a, IBA_PORT_INIT);
	by_link(s, b, IBA_PORT_INIT);
	if (s->plane) {
		plane_link_up(s, a);
		plane_link_up(s, b);
	}
}

void link_cut(struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	if (b == FAB_NONE)
		return;
	by_link(s, a, IBA_PORT_DOWN);
	by_link(s, b, IBA_PORT_DOWN);
}

/* Disabled until told otherwise, or down and up again. */
void link_order(struct sim *s, port_id at, enum iba_phys_state to)
{
	link_cut(s, at);
	s->ports[at].pi.phys_state = (uint8_t)to;
	if (to != IBA_PHYS_DISABLED)
		link_try_up(s, at);
}

void link_send(struct sim *s, node_id n, unsigned out, uint32_t p)
{
	const struct fab_node *fn = &s->fab->nodes[n];
	port_id at = fn->first_port + out, to;
	struct sim_port *port = &s->ports[at];
	time_ps start;

	if (!out || out > fn->nports) {
		pkt_drop(s, p, SIM_DROP_BAD_PATH);
		return;
	}
	if (s->plane) {
		plane_smp_out(s, n, out, p, true);
		return;
	}
	if (port->pi.state == IBA_PORT_DOWN || port->peer == FAB_NONE) {
		pkt_drop(s, p, SIM_DROP_LINK);
		return;
	}
	to = port->peer;
	start = MAX(s->now, port->tx_free);
	port->tx_free = start + IBA_SMP_WIRE_BYTES * port->byte_ps;
	s->stats.hops++;
	sim_push(s, port->tx_free + port->wire_ps, PRIO_NET,
		 (struct ev){.kind = EV_ARRIVE, .a = to, .b = p, .c = s->ports[to].link_epoch});
}

void link_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch)
{
	const struct fab_port *fp = &s->fab->ports[at];
	struct pkt *pkt = &s->pkts.at[p];

	pkt->node = fp->node;
	pkt->in_port = fp->num;
	pkt->from_local = false;
	if (s->ports[at].link_epoch != epoch || s->ports[at].pi.state == IBA_PORT_DOWN) {
		pkt_drop(s, p, SIM_DROP_LINK);
		return;
	}
	if (pkt->smp.dlid != IBA_LID_PERMISSIVE && sim_is_switch(s, fp->node))
		lid_forward(s, fp->node, p);
	else
		smi_enqueue(s, fp->node, p);
}

/* Where a switch sends a LID: its own LID and table entry 0 lead to port 0 (thesis 2.5). */
unsigned lid_route(const struct sim *s, node_id n, uint16_t lid)
{
	const struct sim_node *node = &s->nodes[n];

	if (lid_is_ours(&s->ports[s->fab->nodes[n].first_port].pi, lid))
		return 0;
	if (!node->si.linear_cap || (node->rft && !node->lft_size)) {
		for (unsigned b = 0; b < node->rft_used; b++)
			for (unsigned i = 0; i < IBA_RFT_BLOCK; i++)
				if (node->rft[b].valid[i] && (lid & ~((1u << node->rft[b].lmc[i]) -
								      1)) == node->rft[b].lid[i])
					return node->rft[b].port[i];
		return node->si.default_port;
	}
	return lid <= node->si.linear_top ? sim_lft(s, n, lid) : IBA_PORT_NONE; /* IBA 14.2.5.4 */
}

unsigned sim_route(const struct sim *s, node_id n, uint16_t lid)
{
	return lid_route(s, n, lid);
}

void lid_forward(struct sim *s, node_id n, uint32_t p)
{
	struct pkt *pkt = &s->pkts.at[p];
	unsigned out;

	if (!sim_is_switch(s, n)) { /* an endport: out of the port the sender chose */
		link_send(s, n, pkt->in_port, p);
		return;
	}
	if (s->plane) {
		plane_smp_out(s, n, 0, p, false);
		return;
	}
	out = lid_route(s, n, pkt->smp.dlid);
	if (out == 0) {
		pkt->from_local =
			false; /* the table says it is for this node: it is sent no more */
		smi_enqueue(s, n, p);
	} else if (out > s->fab->nodes[n].nports) {
		pkt_drop(s, p, SIM_DROP_UNROUTABLE);
	} else if (out == pkt->in_port && !pkt->from_local) {
		pkt_drop(s, p, SIM_DROP_TURNED_BACK);
	} else {
		/* The transmitter may not start before the packet has crossed the switch. */
		struct sim_port *port = node_port(s, n, out);

		port->tx_free = MAX(port->tx_free, s->now + s->cfg.hop_ps);
		link_send(s, n, out, p);
	}
}
