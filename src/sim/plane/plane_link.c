/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both ends of a link (thesis 2.4): output buffers, the arbiter that decides which VL sends next,
 * flow control by credits, and the receiving side up to the input buffer. State: struct plane_port,
 * out_chan and the credit counters. Ways in: out_add(), link_kick(), in_release(), and the events
 * of a link. Does not route.
 */
#include "sim/plane/plane_priv.h"

enum { CREDIT_MASK = 0xfff, FC_DAMAGED = 15 };

static node_id port_node(const struct shard *sh, port_id p)
{
	return sh->plane->ports[p].node;
}

static void at_port(struct shard *sh, time_ps when, enum sim_ev kind, port_id p)
{
	sim_push(sh, when, PRIO_NET, ev_port(kind, p, sh->plane->ports[p].life));
}

/* ---- the output buffer ---- */

void out_add(struct shard *sh, port_id port, unsigned slot, uint32_t cell)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan_of(pl, port, slot)];

	if (o->head == CELL_NONE) {
		o->head = cell;
		o->head_since = sh->now;
		pl->ports[port].queued |= 1u << slot;
	} else {
		pl->cells.at[o->tail].next = cell;
	}
	o->tail = cell;
	if (pl->detail)
		detail_queue_now(sh->whole, chan_of(pl, port, slot), 1);
	if (o->stalled)
		link_discard_head(sh, chan_of(pl, port, slot), SIM_DISCARD_STALLED);
	else
		link_kick(sh, port);
}

static uint32_t out_pop(struct shard *sh, port_id port, unsigned slot)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan_of(pl, port, slot)];
	uint32_t cell = o->head;

	o->head = pl->cells.at[cell].next;
	o->head_since = sh->now;
	if (o->head == CELL_NONE) {
		o->tail = CELL_NONE;
		pl->ports[port].queued &= ~(1u << slot);
	}
	if (pl->detail)
		detail_queue_now(sh->whole, chan_of(pl, port, slot), -1);
	return cell;
}

/* Starts the arbiter, if it is idle and so is the link: at the end of a packet it decides at
 * once. */
void link_kick(struct shard *sh, port_id port)
{
	struct plane_port *p = &sh->plane->ports[port];

	if (p->tx_busy || p->arb_pending)
		return;
	p->arb_pending = true;
	at_port(sh, sh->now + sh->cfg->plane.link_arb_ps, EV_P_LINK, port);
}

/* ---- credits (thesis 2.4.4) ---- */

void link_fc_want(struct shard *sh, port_id port, unsigned slot)
{
	struct plane_port *p = &sh->plane->ports[port];

	if (!sh->plane->ports[port].num || slot_is_15(sh->plane, slot) ||
	    sh->ports[port].pi.state == IBA_PORT_DOWN)
		return;
	if (!p->fc_due)
		p->fc_since = sh->now;
	p->fc_due |= 1u << slot;
	link_kick(sh, port);
}

void in_release(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	port_id port = chan_port(pl, chan);
	uint32_t cell = in->head;
	unsigned blocks = pl->cells.at[cell].blocks;

	in->head = pl->cells.at[cell].next;
	if (in->head == CELL_NONE)
		in->tail = CELL_NONE;
	if (sh->plane->ports[port].num)
		in->used = (uint16_t)(in->used - blocks);
	in->state = IN_IDLE;
	cell_free(sh, cell);
	if (pl->detail)
		detail_lane_now(sh->whole, chan);
	link_fc_want(sh, port, chan_slot(pl, chan));
	if (in->head != CELL_NONE && sh->plane->ports[port].in_switch)
		switch_new_head(sh, chan);
}

void link_fc(struct shard *sh, port_id port, unsigned slot, uint16_t fctbs, uint16_t fccl)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in;

	if (slot == FC_DAMAGED)
		retrain_error(sh, port);
	if (slot >= pl->nvl || sh->ports[port].pi.state == IBA_PORT_DOWN)
		return;
	in = &pl->in[chan_of(pl, port, slot)];
	pl->ports[port].phy_errors -= pl->ports[port].phy_errors > 0;
	if (in->abr != fctbs) { /* corrects the loss of a damaged packet */
		in->abr = fctbs;
		link_fc_want(sh, port, slot);
	}
	pl->out[chan_of(pl, port, slot)].fccl = fccl;
	if (pl->detail)
		detail_lane_now(sh->whole, chan_of(pl, port, slot));
	link_kick(sh, port);
}

static void fc_send(struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	unsigned slot = (unsigned)__builtin_ctz(p->fc_due);
	const struct in_chan *in = &pl->in[chan_of(pl, port, slot)];
	const struct out_chan *out = &pl->out[chan_of(pl, port, slot)];
	uint16_t fccl = (uint16_t)((in->abr + MIN(in->cap - in->used, 2048)) & CREDIT_MASK);
	time_ps end = sh->now + wire_time(sh->plane, port, PLANE_FC_BYTES);
	port_id far = sh->ports[port].peer;

	p->fc_due &= ~(1u << slot);
	p->fc_since = sh->now;
	p->tx_busy = true;
	p->tx_blocks = 0;
	sh->own.stats.fc_packets++;
	p->counters.tx_bytes += PLANE_FC_BYTES;
	if (pl->detail)
		detail_link_now(sh->whole, port);
	at_port(sh, end, EV_P_SENT, port);
	if (error_hits(sh, PLANE_FC_BYTES))
		slot = FC_DAMAGED;
	sim_push_arrival(
		sh, end + sh->ports[port].wire_ps, far,
		ev_credit(far, fccl, out->fctbs, slot, sh->ports[far].link_epoch & FC_EPOCH_MASK));
}

/* ---- sending ---- */

void link_discard_head(struct shard *sh, uint32_t chan, enum sim_discard why)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan];
	port_id port = chan_port(pl, chan);
	uint32_t cell = out_pop(sh, port, chan_slot(pl, chan)), pkt = pl->cells.at[cell].pkt;

	o->used = (uint16_t)(o->cap == UINT16_MAX ? 0 : o->used - pl->cells.at[cell].blocks);
	plane_discard(sh, port_node(sh, port), sh->plane->ports[port].num, pkt, why);
	cell_free(sh, cell);
	switch_room(sh, chan);
	link_kick(sh, port);
}

static void discard_out(struct shard *sh, port_id port, unsigned slot, enum sim_discard why)
{
	uint32_t chan = chan_of(sh->plane, port, slot);

	while (sh->plane->out[chan].head != CELL_NONE)
		link_discard_head(sh, chan, why);
}

static void tap(struct shard *sh, port_id port, unsigned slot, const struct dpkt *d)
{
	const struct sim_tap *t = &sh->plane->tap;

	t->sent(t->ctx, port, slot_is_15(sh->plane, slot) ? 15 : slot,
		d->smp == PKT_NONE ? NULL : &sh->whole->dev.pkts.at[d->smp].smp, d->slid, d->dlid,
		d->sl, d->pkey, d->bytes);
}

static void show_hop(struct shard *sh, port_id port, unsigned slot, const struct dpkt *d,
		     time_ps end)
{
	const struct sim_hop_watch *w = &sh->sim->hops;

	w->hop(w->ctx,
	       &(struct sim_hop){.from = port,
				 .smp = d->smp == PKT_NONE ? NULL
							   : &sh->whole->dev.pkts.at[d->smp].smp,
				 .start = sh->now,
				 .end = end,
				 .slid = d->slid,
				 .dlid = d->dlid,
				 .vl = slot_is_15(sh->plane, slot) ? 15 : (uint8_t)slot});
}

static void transmit(struct shard *sh, port_id port, unsigned slot)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	struct out_chan *o = &pl->out[chan_of(pl, port, slot)];
	uint32_t cell = out_pop(sh, port, slot);
	struct cell *c = &pl->cells.at[cell];
	port_id far = sh->ports[port].peer;
	/* The link is busy until the tail has crossed the switch. */
	time_ps end = MAX(sh->now + wire_time(sh->plane, port, c->bytes), c->tail);
	time_ps head = sh->now +
		       wire_time(sh->plane, port, MIN(sh->cfg->plane.header_bytes, c->bytes)) +
		       sh->ports[port].wire_ps;

	if (pl->sls.sl && !p->in_switch && !c->smp)
		host_sends(sh, port, c->pkt);
	o->fctbs = (uint16_t)((o->fctbs + (slot_is_15(pl, slot) ? 0 : c->blocks)) & CREDIT_MASK);
	o->expired = 0;
	p->tx_busy = true;
	p->tx_slot = (uint8_t)slot;
	p->tx_blocks = c->blocks;
	p->counters.tx_bytes += c->bytes;
	p->counters.tx_packets++;
	if (pl->detail)
		detail_sent_now(sh->whole, chan_of(pl, port, slot), &pl->pkts.at[c->pkt]);
	if (pl->tap.sent)
		tap(sh, port, slot, &pl->pkts.at[c->pkt]);
	if (sh->sim->hops.hop)
		show_hop(sh, port, slot, &pl->pkts.at[c->pkt], end + sh->ports[port].wire_ps);
	if (c->smp)
		smp_hop(sh->whole);
	else
		sh->own.stats.hops++;
	c->slot = (uint8_t)slot; /* the same cell, now on the link */
	c->ready = head;
	c->tail = end + sh->ports[port].wire_ps;
	sim_push_arrival(sh, head, far, ev_head(far, cell, sh->ports[far].link_epoch));
	at_port(sh, end, EV_P_SENT, port);
}

/* Only an Active port sends data; packets that a port cannot send are discarded (thesis 2.4.1). */
static bool port_sends_data(struct shard *sh, port_id port)
{
	unsigned st = sh->ports[port].pi.state;

	if (st == IBA_PORT_ACTIVE)
		return true;
	for (unsigned slot = 0; slot < sh->plane->nvl; slot++)
		discard_out(sh, port, slot,
			    st == IBA_PORT_DOWN ? SIM_DISCARD_INACTIVE_PORT
						: SIM_DISCARD_DEACTIVATED_PORT);
	return false;
}

/* The earliest time at which a queued packet may be sent; TIME_NEVER: there is none. */
static time_ps next_ready(const struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	time_ps t = TIME_NEVER;

	for (uint32_t left = pl->ports[port].queued; left; left &= left - 1) {
		uint32_t chan = chan_of(pl, port, (unsigned)__builtin_ctz(left));
		time_ps ready = pl->cells.at[pl->out[chan].head].ready + sh->cfg->plane.link_arb_ps;

		if (ready > sh->now)
			t = MIN(t, ready);
	}
	return t;
}

/* Nothing can be sent now: the arbiter decides again when a queued packet or credit is ready. */
static void decide_later(struct shard *sh, port_id port)
{
	struct plane_port *p = &sh->plane->ports[port];
	time_ps t = next_ready(sh, port);

	if (p->fc_due)
		t = MIN(t, MAX(sh->now, p->fc_since + sh->cfg->plane.link_arb_ps));
	if (t == TIME_NEVER)
		return;
	p->arb_pending = true;
	at_port(sh, t, EV_P_LINK, port);
}

static void choose(struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	unsigned slot;
	bool data;

	if (port_is_idle(sh, port)) {
		arbiter_idle(sh, port);
		return;
	}
	data = port_sends_data(sh, port);
	if (sh->ports[port].pi.state == IBA_PORT_DOWN || sh->ports[port].peer == FAB_NONE) {
		discard_out(sh, port, slot15(pl), SIM_DISCARD_INACTIVE_PORT);
		return;
	}
	if (p->retraining) {
		for (slot = 0; slot < pl->nvl; slot++)
			limit_out(sh, chan_of(pl, port, slot));
		return;
	}
	if (arbiter_can_send(sh, port, slot15(pl))) {
		transmit(sh, port, slot15(pl));
		return;
	}
	if (p->fc_due && p->fc_since + sh->cfg->plane.link_arb_ps <= sh->now) {
		fc_send(sh, port);
		return;
	}
	slot = data ? arbiter_pick(sh, port) : pl->nslots;
	if (slot < pl->nslots) {
		transmit(sh, port, slot);
		return;
	}
	for (slot = 0; data && slot < pl->nvl; slot++)
		if (p->queued >> slot & 1)
			limit_out(sh, chan_of(pl, port, slot)); /* no credits */
	decide_later(sh, port);
}

void link_decide(struct shard *sh, port_id port)
{
	struct plane_port *p = &sh->plane->ports[port];

	p->arb_pending = false;
	if (!p->tx_busy)
		choose(sh, port);
}

void link_tx_done(struct shard *sh, port_id port)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	uint32_t chan = chan_of(pl, port, p->tx_slot);

	p->tx_busy = false;
	if (pl->detail)
		detail_link_now(sh->whole, port);
	if (p->tx_blocks) {
		if (pl->out[chan].cap != UINT16_MAX)
			pl->out[chan].used = (uint16_t)(pl->out[chan].used - p->tx_blocks);
		p->tx_blocks = 0;
		switch_room(sh, chan);
	}
	if (!p->arb_pending)
		choose(sh, port);
}

/* ---- receiving ---- */

static bool accept(struct shard *sh, port_id port, const struct cell *c, enum sim_discard *why)
{
	const struct iba_port_info *pi = &sh->ports[port].pi;

	if (pi->state == IBA_PORT_DOWN) {
		*why = SIM_DISCARD_INACTIVE_PORT;
		return false;
	}
	if (c->smp)
		return true;
	if (pi->state == IBA_PORT_INIT) {
		*why = SIM_DISCARD_DEACTIVATED_PORT;
		return false;
	}
	if (pi->state == IBA_PORT_ARMED) /* the first data packet activates it (thesis 2.4.1) */
		port_state_set(sh, port_node(sh, port), sh->plane->ports[port].num,
			       IBA_PORT_ACTIVE);
	if (c->bytes > iba_mtu_bytes(pi->neighbor_mtu) + 26) {
		*why = SIM_DISCARD_MTU;
		return false;
	}
	if (pi->part_enf_in && sh->plane->ports[port].in_switch &&
	    !pkey_enforced_ok(sh->sim, port, sh->plane->pkts.at[c->pkt].pkey)) {
		*why = SIM_DISCARD_PKEY;
		return false;
	}
	return true;
}

static void host_head(struct shard *sh, uint32_t chan, uint32_t cell)
{
	const struct plane *pl = sh->plane;
	const struct cell *c = &pl->cells.at[cell];

	if (!c->smp && sh->now >= sh->own.stats.window_start && sh->now < sh->own.stats.window_end)
		hist_add(&sh->own.stats.header_latency, sh->now - pl->pkts.at[c->pkt].born);
	if (!c->smp && pl->detail)
		detail_header_now(sh->whole, chan_port(pl, chan), &pl->pkts.at[c->pkt]);
	sim_push(sh, c->tail, PRIO_NET,
		 ev_chan(EV_P_SINK, chan, pl->ports[chan_port(pl, chan)].life));
}

static void damaged(struct shard *sh, port_id port, uint32_t cell)
{
	plane_discard(sh, port_node(sh, port), sh->plane->ports[port].num,
		      sh->plane->cells.at[cell].pkt, SIM_DISCARD_ERROR);
	cell_free(sh, cell); /* not counted as received: the next FCTBS corrects it (2.4.4) */
	retrain_error(sh, port);
}

/* The packet is accepted: into the input buffer. */
static void in_add(struct shard *sh, port_id port, uint32_t chan, uint32_t cell)
{
	const struct plane *pl = sh->plane;
	struct plane_port *p = &pl->ports[port];
	const struct cell *c = &pl->cells.at[cell];
	struct in_chan *in = &pl->in[chan];

	p->phy_errors -= p->phy_errors > 0;
	p->rx_cell = cell;
	p->rx_tail = c->tail;
	p->counters.rx_bytes += c->bytes;
	p->counters.rx_packets++;
	in->used = (uint16_t)(in->used + c->blocks);
	if (pl->detail)
		detail_lane_now(sh->whole, chan);
	if (in->head == CELL_NONE)
		in->head = cell;
	else
		pl->cells.at[in->tail].next = cell;
	in->tail = cell;
	if (!p->in_switch)
		host_head(sh, chan, cell);
	else if (in->head == cell)
		switch_new_head(sh, chan);
}

void link_head(struct shard *sh, port_id port, uint32_t cell, uint32_t epoch)
{
	const struct plane *pl = sh->plane;
	struct cell *c = &pl->cells.at[cell];
	unsigned slot = c->slot;
	struct in_chan *in = &pl->in[chan_of(pl, port, slot)];
	enum sim_discard why = SIM_DISCARD_INACTIVE_PORT;
	bool same = sh->ports[port].link_epoch == epoch, ok = same && accept(sh, port, c, &why);

	c->next = CELL_NONE;
	if (ok && error_hits(sh, c->bytes)) {
		damaged(sh, port, cell);
		return;
	}
	if (!same && epoch == pl->ports[port].retrained_epoch)
		why = SIM_DISCARD_RETRAINING;
	if (c->smp)
		pl->pkts.at[c->pkt].fixed_out = 0; /* valid for one switch only */
	if (same && !slot_is_15(pl, slot))
		in->abr = (uint16_t)((in->abr + c->blocks) & CREDIT_MASK);
	if (ok && in->used + c->blocks > in->cap) {
		ok = false;
		why = SIM_DISCARD_BUFFER;
	}
	if (ok) {
		in_add(sh, port, chan_of(pl, port, slot), cell);
		return;
	}
	plane_discard(sh, port_node(sh, port), pl->ports[port].num, c->pkt, why);
	cell_free(sh, cell);
	link_fc_want(sh, port, slot); /* its credits have to be returned */
}
