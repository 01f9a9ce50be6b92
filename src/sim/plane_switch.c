/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside a switch (thesis 4.2.3): the routing unit takes the heads of input channels one after
 * another, VL15 first; the mapping unit finds the output VL; the crossbar takes a packet across when
 * its output channel is free and has room for all of it. State: struct plane_switch, in_chan,
 * out_chan. Does not know links.
 */
#include "sim/plane.h"

static port_id chan_port(const struct sim *s, uint32_t chan)
{
	return chan / s->plane->nslots;
}

static node_id chan_node(const struct sim *s, uint32_t chan)
{
	return s->fab->ports[chan_port(s, chan)].node;
}

static unsigned chan_num(const struct sim *s, uint32_t chan)
{
	return s->fab->ports[chan_port(s, chan)].num;
}

static void later(struct sim *s, time_ps delay, enum sim_ev kind, uint32_t what, node_id n)
{
	sim_push(s, s->now + delay, PRIO_NET,
		 (struct ev){.kind = kind, .a = what, .c = s->nodes[n].incarnation});
}

/* ---- the routing unit ---- */

static uint32_t pop(struct plane *pl, uint32_t *head, uint32_t *tail)
{
	uint32_t c = *head;

	if (c == CHAN_NONE)
		return c;
	*head = pl->in[c].next;
	if (*head == CHAN_NONE)
		*tail = CHAN_NONE;
	pl->in[c].next = CHAN_NONE;
	return c;
}

static void append(struct plane *pl, uint32_t *head, uint32_t *tail, uint32_t c)
{
	pl->in[c].next = CHAN_NONE;
	if (*tail == CHAN_NONE)
		*head = c;
	else
		pl->in[*tail].next = c;
	*tail = c;
}

static void serve(struct sim *s, node_id n)
{
	struct plane *pl = s->plane;
	struct plane_switch *sw = &pl->switches[n];

	if (sw->serving != CHAN_NONE)
		return;
	sw->serving = pop(pl, &sw->q15_head, &sw->q15_tail);
	if (sw->serving == CHAN_NONE)
		sw->serving = pop(pl, &sw->q_head, &sw->q_tail);
	if (sw->serving != CHAN_NONE)
		later(s, s->cfg.plane.route_ps, EV_P_ROUTE, n, n);
}

/* A packet has come to the head of an input channel: it wants to be routed. */
void switch_new_head(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	node_id n = chan_node(s, chan);
	struct plane_switch *sw = &pl->switches[n];

	pl->in[chan].state = IN_ROUTING;
	pl->in[chan].since = s->now;
	if (slot_is_15(pl, chan % pl->nslots))
		append(pl, &sw->q15_head, &sw->q15_tail, chan);
	else
		append(pl, &sw->q_head, &sw->q_tail, chan);
	serve(s, n);
}

/* The head goes nowhere. Its room is free when its tail is in; it is discarded now. */
static void drop_head(struct sim *s, uint32_t chan, enum sim_discard why)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	struct cell *c = &pl->cells.at[in->head];

	plane_discard(s, chan_node(s, chan), chan_num(s, chan), c->pkt, why);
	c->trail = true;
	in->state = IN_CROSSING;
	in->out = UINT8_MAX; /* crosses to nowhere */
	sim_push(s, MAX(s->now, c->tail), PRIO_NET,
		 (struct ev){.kind = EV_P_CROSSED,
			     .a = chan,
			     .c = s->nodes[chan_node(s, chan)].incarnation});
}

static unsigned route_of(struct sim *s, uint32_t chan, const struct dpkt *p)
{
	if (p->fixed_out)
		return p->fixed_out;
	if (p->dlid == IBA_LID_PERMISSIVE)
		return 0;
	return lid_route(s, chan_node(s, chan), p->dlid);
}

/* The slot of the VL a data packet goes on, or nslots when its SL leads nowhere (thesis 2.5.2). */
static unsigned map_of(struct sim *s, uint32_t chan, unsigned out, const struct dpkt *p)
{
	struct plane *pl = s->plane;
	node_id n = chan_node(s, chan);
	unsigned vl = sim_slvl(s, n, chan_num(s, chan), out, p->sl);
	unsigned live = iba_vl_count(node_port(s, n, out)->pi.oper_vls);

	return vl < live && vl < pl->nvl ? vl : pl->nslots;
}

void switch_route_done(struct sim *s, node_id n)
{
	struct plane *pl = s->plane;
	uint32_t chan = pl->switches[n].serving;
	struct in_chan *in = &pl->in[chan];
	const struct dpkt *p = &pl->pkts.at[pl->cells.at[in->head].pkt];
	unsigned out = route_of(s, chan, p), slot = slot15(pl);

	pl->switches[n].serving = CHAN_NONE;
	serve(s, n);
	if (p->broken) {
		drop_head(s, chan, SIM_DISCARD_INACTIVE_PORT);
	} else if (out > s->fab->nodes[n].nports) {
		drop_head(s, chan, SIM_DISCARD_UNROUTABLE);
	} else if (out && out == chan_num(s, chan) && !p->fixed_out) {
		drop_head(s, chan, SIM_DISCARD_TURNED_BACK);
	} else {
		if (p->smp == PKT_NONE)
			slot = out ? map_of(s, chan, out, p) : pl->nslots; /* no data for port 0 here */
		in->state = IN_MAPPING;
		in->out = (uint8_t)out;
		in->out_slot = (uint8_t)slot;
		later(s, s->cfg.plane.map_ps, EV_P_MAP, chan, n);
	}
}

/* ---- the crossbar ---- */

static bool room_for(const struct plane *pl, uint32_t out, const struct dpkt *p)
{
	return !pl->out[out].busy && pl->out[out].used + p->blocks <= pl->out[out].cap;
}

/* Arbitration, set-up, then byte by byte at the output's rate, but not before the tail is in. */
static void cross(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	node_id n = chan_node(s, chan);
	struct cell *c = &pl->cells.at[in->head];
	const struct dpkt *p = &pl->pkts.at[c->pkt];
	port_id pace = s->fab->nodes[n].first_port + (in->out ? in->out : chan_num(s, chan));
	time_ps start = s->now + s->cfg.plane.crossbar_ps + s->cfg.plane.setup_ps;
	time_ps end = MAX(start + wire_time(s, pace, p->bytes), c->tail);

	in->state = IN_CROSSING;
	if (in->out) {
		struct out_chan *out = &pl->out[chan_of(pl, pace, in->out_slot)];

		out->busy = true;
		out->used = (uint16_t)(out->used + p->blocks);
		sim_push(s, start + wire_time(s, pace, s->cfg.plane.header_bytes), PRIO_NET,
			 (struct ev){.kind = EV_P_CROSS, .a = chan, .c = s->nodes[n].incarnation});
	}
	c->tail = end; /* from now on: when the last byte is across */
	sim_push(s, end, PRIO_NET, (struct ev){.kind = EV_P_CROSSED, .a = chan, .c = s->nodes[n].incarnation});
}

void switch_request(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	const struct dpkt *p = &pl->pkts.at[pl->cells.at[in->head].pkt];
	uint32_t out;

	if (in->out_slot >= pl->nslots) {
		drop_head(s, chan, SIM_DISCARD_UNMAPPABLE);
		return;
	}
	if (!in->out) {
		cross(s, chan); /* to the SMI */
		return;
	}
	out = chan_of(pl, s->fab->nodes[chan_node(s, chan)].first_port + in->out, in->out_slot);
	if (pl->out[out].wait_head == CHAN_NONE && room_for(pl, out, p)) {
		cross(s, chan);
	} else if (slot_is_15(pl, in->out_slot) && !pl->out[out].busy && pl->out[out].wait_head == CHAN_NONE) {
		drop_head(s, chan, SIM_DISCARD_BUFFER); /* VL15 does not wait for room (2.5.2) */
	} else {
		in->state = IN_WAITING;
		append(pl, &pl->out[out].wait_head, &pl->out[out].wait_tail, chan);
		limit_in(s, chan);
	}
}

/* Out of the queue it waits in, wherever it stands there. */
void switch_give_up(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	const struct in_chan *in = &pl->in[chan];
	uint32_t out = chan_of(pl, s->fab->nodes[chan_node(s, chan)].first_port + in->out, in->out_slot);
	uint32_t *at = &pl->out[out].wait_head, last = CHAN_NONE;

	while (*at != chan) {
		last = *at;
		at = &pl->in[*at].next;
	}
	*at = in->next;
	if (pl->out[out].wait_tail == chan)
		pl->out[out].wait_tail = last;
	pl->in[chan].next = CHAN_NONE;
	drop_head(s, chan, SIM_DISCARD_LIFETIME);
}

void switch_room(struct sim *s, uint32_t out)
{
	struct plane *pl = s->plane;
	struct out_chan *o = &pl->out[out];

	while (o->wait_head != CHAN_NONE) {
		uint32_t chan = o->wait_head;
		const struct dpkt *p = &pl->pkts.at[pl->cells.at[pl->in[chan].head].pkt];
		bool drop = slot_is_15(pl, out % pl->nslots) && !o->busy && o->used + p->blocks > o->cap;

		if (!drop && !room_for(pl, out, p))
			return;
		pop(pl, &o->wait_head, &o->wait_tail);
		if (drop)
			drop_head(s, chan, SIM_DISCARD_BUFFER);
		else
			cross(s, chan);
	}
}

/* The header is in the output buffer: the packet may go on while its tail follows. */
void switch_cross_head(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	uint32_t here = in->head, there = cell_new(s, pl->cells.at[here].pkt);

	pl->cells.at[there].ready = s->now;
	pl->cells.at[there].tail = pl->cells.at[here].tail;
	pl->cells.at[here].trail = true;
	out_add(s, s->fab->nodes[chan_node(s, chan)].first_port + in->out, in->out_slot, there);
}

/* An SMP for this switch is across to port 0. */
static void to_smi(struct sim *s, uint32_t chan, uint32_t cell)
{
	struct plane *pl = s->plane;
	struct dpkt *p = &pl->pkts.at[pl->cells.at[cell].pkt];
	uint32_t smp = p->smp;
	node_id n = chan_node(s, chan);

	if (p->broken) {
		plane_discard(s, n, chan_num(s, chan), pl->cells.at[cell].pkt, SIM_DISCARD_INACTIVE_PORT);
		return;
	}
	s->pkts.at[smp].node = n;
	s->pkts.at[smp].in_port = (uint8_t)chan_num(s, chan);
	s->pkts.at[smp].from_local = false;
	p->smp = PKT_NONE;
	smi_enqueue(s, n, smp);
}

void switch_cross_done(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned out = in->out;

	if (out == 0)
		to_smi(s, chan, in->head);
	in_release(s, chan);
	if (out && out != UINT8_MAX) {
		uint32_t o = chan_of(pl, s->fab->nodes[chan_node(s, chan)].first_port + out, in->out_slot);

		pl->out[o].busy = false;
		switch_room(s, o);
	}
}
