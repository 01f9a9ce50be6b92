/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside a switch (thesis 4.2.3): the routing unit takes the heads of input channels one after
 * another, VL15 first; the mapping unit finds the output VL; the crossbar takes a packet across when
 * its output channel is free and has room for all of it. State: struct plane_switch, in_chan,
 * out_chan. Does not know links.
 */
#include "sim/plane/plane_priv.h"

static node_id chan_node(const struct sim *s, uint32_t chan)
{
	return s->plane->ports[chan_port(s->plane, chan)].node;
}

static unsigned chan_num(const struct sim *s, uint32_t chan)
{
	return s->plane->ports[chan_port(s->plane, chan)].num;
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
	if (slot_is_15(pl, chan_slot(pl, chan)))
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
	dpkt_free(s, c->pkt);
	c->trail = true;
	in->state = IN_CROSSING;
	in->out = UINT8_MAX; /* crosses to nowhere */
	sim_push(s, MAX(s->now, c->tail), PRIO_NET,
		 (struct ev){.kind = EV_P_CROSSED,
			     .a = chan,
			     .c = pl->ports[chan_port(pl, chan)].life});
}

static unsigned route_of(struct sim *s, uint32_t chan, const struct dpkt *p)
{
	if (p->fixed_out)
		return p->fixed_out;
	if (p->dlid == IBA_LID_PERMISSIVE)
		return 0;
	return lid_route(s, chan_node(s, chan), p->dlid);
}

/* Slots beyond the last: the packet goes nowhere, and why. */
enum refused { NO_VL, TOO_LONG, NO_MEMBER };

/* The slot of the VL a data packet goes on, or nslots and the reason when the output does not take it:
 * its SL leads nowhere (thesis 2.5.2), the link's MTU is too small, the partition is not the port's. */
static unsigned map_of(struct sim *s, uint32_t chan, unsigned out, const struct dpkt *p)
{
	struct plane *pl = s->plane;
	node_id n = chan_node(s, chan);
	const struct iba_port_info *pi = &node_port(s, n, out)->pi;
	unsigned vl = sim_slvl(s, n, chan_num(s, chan), out, p->sl);

	if (vl >= iba_vl_count(pi->oper_vls) || vl >= pl->nvl)
		return pl->nslots + NO_VL;
	if (pi->state == IBA_PORT_ACTIVE && p->bytes > iba_mtu_bytes(pi->neighbor_mtu) + 26)
		return pl->nslots + TOO_LONG;
	if (pi->part_enf_out && !pkey_ok(s, s->fab->nodes[n].first_port + out, p->pkey))
		return pl->nslots + NO_MEMBER;
	return vl;
}

static enum sim_discard refusal(const struct plane *pl, unsigned slot)
{
	static const enum sim_discard why[] = {[NO_VL] = SIM_DISCARD_UNMAPPABLE,
					       [TOO_LONG] = SIM_DISCARD_MTU,
					       [NO_MEMBER] = SIM_DISCARD_PKEY};

	return why[slot - pl->nslots];
}

/* ---- multicast: one copy after another, by the ports of the table's mask ---- */

void plane_copies_room(struct sim *s)
{
	struct plane *pl = s->plane;

	if (!pl->copies_left)
		pl->copies_left =
			mem_zarray((size_t)s->fab->nports << pl->shift, sizeof(*pl->copies_left));
}

static bool copies_begin(struct sim *s, uint32_t chan, uint16_t dlid)
{
	struct plane *pl = s->plane;
	const struct sim_node *node = &s->nodes[chan_node(s, chan)];
	unsigned lid = dlid - IBA_LID_MCAST_FIRST, in = chan_num(s, chan);
	uint64_t *left;

	if (!node->mft)
		return false;
	plane_copies_room(s);
	left = pl->copies_left[chan];
	memset(left, 0, sizeof(pl->copies_left[chan]));
	for (unsigned group = 0; lid < s->cfg.mft_cap && group < 16; group++)
		left[group / 4] |= (uint64_t)node->mft[lid * 16 + group] << group % 4 * 16;
	left[0] &= ~1ull; /* port 0 takes no data here */
	left[in / 64] &= ~(1ull << in % 64);
	return left[0] | left[1] | left[2] | left[3];
}

static bool copies_remain(const struct plane *pl, uint32_t chan)
{
	const uint64_t *left = pl->copies_left[chan];

	return left[0] | left[1] | left[2] | left[3];
}

/* The head's next port, taken from those that are left. */
static void copies_next(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	uint64_t *left = pl->copies_left[chan];
	unsigned w = 0;

	while (!left[w])
		w++;
	in->out = (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(left[w]));
	left[w] &= left[w] - 1;
	in->out_slot = (uint8_t)(in->out <= s->fab->nodes[chan_node(s, chan)].nports
					 ? map_of(s, chan, in->out,
						  &pl->pkts.at[pl->cells.at[in->head].pkt])
					 : pl->nslots);
	in->state = IN_MAPPING;
	later(s, s->cfg.plane.map_ps, EV_P_MAP, chan, chan_node(s, chan));
}

/* A packet of its own for the copy that goes first; the last one is the packet itself. */
static uint32_t copy_of(struct sim *s, uint32_t pkt)
{
	uint32_t copy = dpkt_new(s);
	struct dpkt *d = &s->plane->pkts.at[copy];

	uint16_t serial = d->serial;

	*d = s->plane->pkts.at[pkt];
	d->serial = serial;
	s->plane->stats.copies++;
	s->plane->stats.in_flight++;
	return copy;
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
	in->copies = p->smp == PKT_NONE && p->dlid >= IBA_LID_MCAST_FIRST;
	if (in->copies && !p->broken) {
		if (copies_begin(s, chan, p->dlid))
			copies_next(s, chan);
		else
			drop_head(s, chan, SIM_DISCARD_UNROUTABLE);
	} else if (p->broken) {
		drop_head(s, chan, (enum sim_discard)p->why);
	} else if (out > s->fab->nodes[n].nports) {
		drop_head(s, chan, SIM_DISCARD_UNROUTABLE);
	} else if (out && out == chan_num(s, chan) && !p->fixed_out) {
		drop_head(s, chan, SIM_DISCARD_TURNED_BACK);
	} else {
		if (p->smp == PKT_NONE)
			slot = out ? map_of(s, chan, out, p)
				   : pl->nslots; /* no data for port 0 here */
		in->state = IN_MAPPING;
		in->out = (uint8_t)out;
		in->out_slot = (uint8_t)slot;
		later(s, s->cfg.plane.map_ps, EV_P_MAP, chan, n);
	}
}

/* ---- the crossbar ---- */

static bool room_for(const struct plane *pl, uint32_t out, const struct cell *c)
{
	return !pl->out[out].busy && pl->out[out].used + c->blocks <= pl->out[out].cap;
}

/* Arbitration, set-up, then byte by byte at the output's rate, but not before the tail is in. */
static void cross(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	struct cell *c = &pl->cells.at[in->head];
	port_id pace =
		pl->ports[chan_port(pl, chan)].first + (in->out ? in->out : chan_num(s, chan));
	time_ps start = s->now + s->cfg.plane.crossbar_ps + s->cfg.plane.setup_ps;
	time_ps end = MAX(start + wire_time(s, pace, c->bytes), c->tail);

	in->state = IN_CROSSING;
	if (in->out) {
		struct out_chan *out = &pl->out[chan_of(pl, pace, in->out_slot)];

		out->busy = true;
		out->used = (uint16_t)(out->used + c->blocks);
		sim_push(s, start + wire_time(s, pace, s->cfg.plane.header_bytes), PRIO_NET,
			 (struct ev){.kind = EV_P_CROSS,
				     .a = chan,
				     .c = pl->ports[chan_port(pl, chan)].life});
	}
	c->tail = end; /* from now on: when the last byte is across */
	sim_push(s, end, PRIO_NET,
		 (struct ev){.kind = EV_P_CROSSED,
			     .a = chan,
			     .c = pl->ports[chan_port(pl, chan)].life});
}

void switch_request(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	const struct cell *c = &pl->cells.at[in->head];
	uint32_t out;

	if (in->out_slot >= pl->nslots && in->copies && copies_remain(pl, chan)) {
		uint32_t cell = cell_new(s, copy_of(s, pl->cells.at[in->head].pkt));

		plane_discard(s, chan_node(s, chan), chan_num(s, chan), pl->cells.at[cell].pkt,
			      refusal(pl, in->out_slot));
		cell_free(s, cell);
		copies_next(s, chan);
		return;
	}
	if (in->out_slot >= pl->nslots) {
		drop_head(s, chan, refusal(pl, in->out_slot));
		return;
	}
	if (!in->out) {
		cross(s, chan); /* to the SMI */
		return;
	}
	out = chan_of(pl, pl->ports[chan_port(pl, chan)].first + in->out, in->out_slot);
	if (pl->out[out].wait_head == CHAN_NONE && room_for(pl, out, c)) {
		cross(s, chan);
	} else if (slot_is_15(pl, in->out_slot) && !pl->out[out].busy &&
		   pl->out[out].wait_head == CHAN_NONE) {
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
	uint32_t out = chan_of(pl, pl->ports[chan_port(pl, chan)].first + in->out, in->out_slot);
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
	switch_room(s, out); /* the next in line may want less */
}

void switch_room(struct sim *s, uint32_t out)
{
	struct plane *pl = s->plane;
	struct out_chan *o = &pl->out[out];

	while (o->wait_head != CHAN_NONE) {
		uint32_t chan = o->wait_head;
		const struct cell *c = &pl->cells.at[pl->in[chan].head];
		bool drop = slot_is_15(pl, chan_slot(pl, out)) && !o->busy &&
			    o->used + c->blocks > o->cap;

		if (!drop && !room_for(pl, out, c))
			return;
		pop(pl, &o->wait_head, &o->wait_tail);
		if (drop)
			drop_head(s, chan, SIM_DISCARD_BUFFER);
		else
			cross(s, chan);
	}
}

/* The place becomes that of another packet, which is just as long. */
static void cell_give(struct plane *pl, uint32_t cell, uint32_t pkt)
{
	pl->cells.at[cell].pkt = pkt;
	pl->cells.at[cell].serial = pl->pkts.at[pkt].serial;
}

/* The header is in the output buffer: the packet may go on while its tail follows. */
void switch_cross_head(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	bool more = in->copies && copies_remain(pl, chan);
	uint32_t here = in->head, there = cell_copy(s, here);

	pl->cells.at[there].ready = s->now;
	if (more) {
		cell_give(pl, there, copy_of(s, pl->cells.at[here].pkt));
		cut_copied(s, here, pl->cells.at[there].pkt);
	}
	pl->cells.at[here].trail = !more;
	out_add(s, pl->ports[chan_port(pl, chan)].first + in->out, in->out_slot, there);
}

/* An SMP for this switch is across to port 0. */
static void to_smi(struct sim *s, uint32_t chan, uint32_t cell)
{
	struct plane *pl = s->plane;
	struct dpkt *p = &pl->pkts.at[pl->cells.at[cell].pkt];
	uint32_t smp = p->smp;
	node_id n = chan_node(s, chan);

	if (p->broken) {
		plane_discard(s, n, chan_num(s, chan), pl->cells.at[cell].pkt,
			      (enum sim_discard)p->why);
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
	unsigned out = in->out, slot = in->out_slot;

	if (out == 0)
		to_smi(s, chan, in->head);
	if (out != UINT8_MAX && in->copies && copies_remain(pl, chan))
		copies_next(s, chan);
	else
		in_release(s, chan);
	if (out && out != UINT8_MAX) {
		uint32_t o = chan_of(pl, pl->ports[chan_port(pl, chan)].first + out, slot);

		pl->out[o].busy = false;
		switch_room(s, o);
	}
}
