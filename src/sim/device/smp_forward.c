/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs on links and through switches, without a data plane: transmission, arrival, LID-routed
 * forwarding. State: when each transmitter is idle again, in struct sim_port. Ways in: link_send(),
 * link_arrive(), lid_forward(). Does not carry SMPs with a data plane: it passes them to that.
 */
#include "sim/device/device_priv.h"

static void show_hop(struct sim *s, port_id from, uint32_t p, time_ps start, time_ps end)
{
	const struct sim_smp *smp = &s->dev.pkts.at[p].smp;

	s->hops.hop(s->hops.ctx,
		    &(struct sim_hop){from, smp, start, end, smp->slid, smp->dlid, 15});
}

void link_send(struct sim *s, node_id n, unsigned out, uint32_t p)
{
	const struct fab_node *fn = &s->fab->nodes[n];
	port_id at = fn->first_port + out, to;
	struct sim_port *port = &s->ports[at];
	time_ps start, late;

	if (!out || out > fn->nports) {
		pkt_drop(s, p, SIM_DROP_BAD_PATH);
		return;
	}
	if (iba_is_gmp(s->dev.pkts.at[p].smp.mad) && !link_open(s, port, true)) {
		pkt_drop(s, p, SIM_DROP_LINK); /* as data, it needs Active ports */
		return;
	}
	if (s->net) {
		s->net->smp_out(s, n, out, p, true);
		return;
	}
	if (port->pi.state == IBA_PORT_DOWN || port->peer == FAB_NONE) {
		pkt_drop(s, p, SIM_DROP_LINK);
		return;
	}
	if (s->dev.faults && rng_chance(&s->dev.fault_rng, s->dev.faults[at].loss_q32)) {
		pkt_drop(s, p, SIM_DROP_FAULT);
		return;
	}
	to = port->peer;
	start = MAX(s->main.now, port->tx_free);
	port->tx_free = start + IBA_SMP_WIRE_BYTES * port->byte_ps;
	late = s->dev.faults ? s->dev.faults[at].latency_ps : 0;
	s->dev.stats.hops++;
	if (s->hops.hop)
		show_hop(s, at, p, start, port->tx_free + port->wire_ps + late);
	sim_push(&s->main, port->tx_free + port->wire_ps + late, PRIO_NET,
		 (struct ev_what){.kind = EV_ARRIVE, .arrive = {to, p, s->ports[to].link_epoch}});
}

void link_arrive(struct sim *s, port_id at, uint32_t p, uint32_t epoch)
{
	const struct fab_port *fp = &s->fab->ports[at];
	struct pkt *pkt = &s->dev.pkts.at[p];

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

void lid_forward(struct sim *s, node_id n, uint32_t p)
{
	struct pkt *pkt = &s->dev.pkts.at[p];
	unsigned out;

	if (!sim_is_switch(s, n)) { /* an endport: by the port that the sender chose */
		link_send(s, n, pkt->in_port, p);
		return;
	}
	if (s->net) {
		s->net->smp_out(s, n, 0, p, false);
		return;
	}
	out = lid_route(s, n, pkt->smp.dlid, lid_for_smi(s, n, pkt->smp.mad));
	if (out == 0) {
		pkt->from_local =
			false; /* the table says it is for this node: it is not forwarded again */
		smi_enqueue(s, n, p);
	} else if (out > s->fab->nodes[n].nports) {
		pkt_drop(s, p, SIM_DROP_UNROUTABLE);
	} else if (out == pkt->in_port && !pkt->from_local) {
		pkt_drop(s, p, SIM_DROP_TURNED_BACK);
	} else {
		/* The transmitter may not start before the packet has crossed the switch. */
		struct sim_port *port = node_port(s, n, out);

		port->tx_free = MAX(port->tx_free, s->main.now + s->cfg.hop_ps);
		link_send(s, n, out, p);
	}
}
