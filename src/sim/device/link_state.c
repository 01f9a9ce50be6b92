/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Port states by the link state machine, and links that train and go down. State: struct sim_port.
 * Ways in: port_state_set(), link_try_up(), link_cut(). Does not carry packets: smp_forward.c and
 * the data plane do.
 */
#include "sim/device/device_priv.h"

/*
 * The link state machine (thesis 2.4.1, Fig. 7). sma_port.c checks that a Set of the SM is allowed;
 * only changes by the link itself set PortStateChange (IBA 14.2.5.4).
 */
static bool state_change_counts(enum iba_port_state from, enum iba_port_state to)
{
	return (from == IBA_PORT_DOWN && to == IBA_PORT_INIT) ||
	       (from != IBA_PORT_DOWN && to == IBA_PORT_DOWN);
}

void port_state_set(struct shard *sh, node_id n, unsigned num, enum iba_port_state st)
{
	port_id at = sh->fab->nodes[n].first_port + num;
	bool other = sh->ports[at].pi.state != st;

	sh->ports[at].pi.state = (uint8_t)st;
	sim_seen(sh, SIM_SEEN_PORT, n, num, NULL, st);
	if (!other)
		return;
	if (sh->sim->net)
		sh->sim->net->port_changed(sh, at);
	sim_changed(sh->sim, n, SIM_CHANGED_PORT);
	if (num == FAB_UPLINK && sh->nodes[n].vswitch)
		vswitch_uplink(sh, n);
}

static void by_link(struct sim *s, port_id at, enum iba_port_state to)
{
	struct sim_port *p = &s->ports[at];
	node_id n = s->fab->ports[at].node;
	enum iba_port_state from = p->pi.state;

	p->link_epoch++;
	if (from != IBA_PORT_DOWN && to == IBA_PORT_DOWN)
		sim_count(s, at, SIM_CNT_LINK_DOWNED, 1);
	p->tx_free = s->main.now; /* packets that wait for the transmitter are lost with the link */
	if (to != IBA_PORT_DOWN)
		p->pi.phys_state = IBA_PHYS_LINK_UP;
	else if (p->pi.phys_state != IBA_PHYS_DISABLED) /* only a Set ends it */
		p->pi.phys_state = IBA_PHYS_POLLING;
	if (from == to)
		return;
	if (s->net && to == IBA_PORT_DOWN)
		s->net->link_down(s, at);
	port_state_set(&s->main, n, s->fab->ports[at].num, to);
	if (sim_is_switch(s, n) && state_change_counts(from, to)) {
		s->nodes[n].si.port_state_change = 1;
		if (!s->nodes[n].vswitch) /* that is an HCA */
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
	if (vswitch_keeps_down(s, a))
		return;
	if (s->cfg.training_ps)
		sim_push(&s->main, s->main.now + s->cfg.training_ps, PRIO_DEVICE,
			 (struct ev_what){.kind = EV_LINK, .link = {a, s->ports[a].link_epoch}});
	else
		link_trained(s, a, s->ports[a].link_epoch);
}

/* Speed, width and LinkRoundTripLatency, in units of 4 ns. */
static bool agree(struct sim *s, port_id a, port_id b)
{
	time_ps one_way = s->ports[a].wire_ps + (s->dev.faults ? s->dev.faults[a].latency_ps : 0);

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
	if (vswitch_keeps_down(s, a) || (s->cfg.link_pairs && !agree(s, a, b)))
		return;
	by_link(s, a, IBA_PORT_INIT);
	by_link(s, b, IBA_PORT_INIT);
	if (s->net) {
		s->net->link_up(s, a);
		s->net->link_up(s, b);
	}
	vswitch_link_up(s, a);
}

void link_cut(struct sim *s, port_id a)
{
	port_id b = s->ports[a].peer;

	if (b == FAB_NONE)
		return;
	by_link(s, a, IBA_PORT_DOWN);
	by_link(s, b, IBA_PORT_DOWN);
}

/* To Disabled until the next Set, or down and up again. */
void link_order(struct sim *s, port_id at, enum iba_phys_state to)
{
	link_cut(s, at);
	s->ports[at].pi.phys_state = (uint8_t)to;
	if (to != IBA_PHYS_DISABLED)
		link_try_up(s, at);
}

/* Data needs an Active port, and Active or Armed at the other end; SMPs need a link that is not
 * Down. */
bool link_open(const struct sim *s, const struct sim_port *a, bool data)
{
	const struct sim_port *b;

	if (a->peer == FAB_NONE)
		return false;
	b = &s->ports[a->peer];
	if (data)
		return a->pi.state == IBA_PORT_ACTIVE && b->pi.state >= IBA_PORT_ARMED;
	return a->pi.state != IBA_PORT_DOWN && b->pi.state != IBA_PORT_DOWN;
}

void link_data_came(struct sim *s, port_id at)
{
	const struct fab_port *fp = &s->fab->ports[at];

	if (s->ports[at].pi.state ==
	    IBA_PORT_ARMED) /* the first data packet activates it (thesis 2.4.1) */
		port_state_set(&s->main, fp->node, fp->num, IBA_PORT_ACTIVE);
}

uint32_t link_recovery_begin(struct shard *sh, port_id p)
{
	sh->ports[p].pi.phys_state = IBA_PHYS_RECOVERY;
	return sh->ports[p].link_epoch++; /* packets sent before do not arrive */
}

void link_recovery_end(struct shard *sh, port_id p)
{
	sh->ports[p].pi.phys_state = IBA_PHYS_LINK_UP;
}
