/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside a switch (thesis 4.2.3): the routing unit serves the heads of input channels one after
 * another, VL15 first; the mapping unit finds the output VL; the crossbar moves a packet when its
 * output channel is free and has room for all of it. State: struct plane_switch, in_chan, out_chan.
 * Ways in: switch_new_head(), switch_room(), and the events of a switch. Does not know links.
 */
#include "sim/plane/plane_priv.h"

static node_id chan_node(const struct shard *sh, uint32_t chan)
{
	return sh->plane->ports[chan_port(sh->plane, chan)].node;
}

static unsigned chan_num(const struct shard *sh, uint32_t chan)
{
	return sh->plane->ports[chan_port(sh->plane, chan)].num;
}

/* An event about an input channel. */
static void chan_event(struct shard *sh, time_ps when, enum sim_ev kind, uint32_t chan)
{
	uint32_t life = sh->plane->ports[chan_port(sh->plane, chan)].life;

	sim_push(sh, when, PRIO_NET, ev_chan(kind, chan, life));
}

/* ---- the routing unit ---- */

static uint32_t pop(const struct plane *pl, uint32_t *head, uint32_t *tail)
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

static void append(const struct plane *pl, uint32_t *head, uint32_t *tail, uint32_t c)
{
	pl->in[c].next = CHAN_NONE;
	if (*tail == CHAN_NONE)
		*head = c;
	else
		pl->in[*tail].next = c;
	*tail = c;
}

static void serve(struct shard *sh, node_id n)
{
	const struct plane *pl = sh->plane;
	struct plane_switch *sw = &pl->switches[n];

	if (sw->serving != CHAN_NONE)
		return;
	sw->serving = pop(pl, &sw->q15_head, &sw->q15_tail);
	if (sw->serving == CHAN_NONE)
		sw->serving = pop(pl, &sw->q_head, &sw->q_tail);
	if (sw->serving != CHAN_NONE)
		sim_push(sh, sh->now + sh->cfg->plane.route_ps, PRIO_NET,
			 ev_node(EV_P_ROUTE, n, sh->nodes[n].incarnation));
}

/* A packet has become the head of an input channel and waits for the routing unit. */
void switch_new_head(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	node_id n = chan_node(sh, chan);
	struct plane_switch *sw = &pl->switches[n];

	pl->in[chan].state = IN_ROUTING;
	pl->in[chan].since = sh->now;
	if (slot_is_15(pl, chan_slot(pl, chan)))
		append(pl, &sw->q15_head, &sw->q15_tail, chan);
	else
		append(pl, &sw->q_head, &sw->q_tail, chan);
	serve(sh, n);
}

/* Discards the head now. Its space is free when its tail has been received. */
static void drop_head(struct shard *sh, uint32_t chan, enum sim_discard why)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	struct cell *c = &pl->cells.at[in->head];

	plane_discard(sh, chan_node(sh, chan), chan_num(sh, chan), c->pkt, why);
	dpkt_free(sh, c->pkt);
	c->trail = true;
	in->state = IN_CROSSING;
	in->out = UINT8_MAX; /* discarded */
	chan_event(sh, MAX(sh->now, c->tail), EV_P_CROSSED, chan);
}

static unsigned route_of(struct shard *sh, uint32_t chan, const struct dpkt *p)
{
	node_id n = chan_node(sh, chan);

	if (p->fixed_out)
		return p->fixed_out;
	if (p->dlid == IBA_LID_PERMISSIVE)
		return 0;
	return lid_route(sh->sim, n, p->dlid,
			 p->smp != PKT_NONE &&
				 lid_for_smi(sh->sim, n, sh->sim->dev.pkts.at[p->smp].smp.mad));
}

/* Slots beyond the last: the packet is discarded, for this reason. */
enum refused { NO_VL, TOO_LONG, NO_MEMBER };

/* The slot of a data packet's output VL, or nslots plus the reason why the output does not
 * accept it: its SL maps to no VL (thesis 2.5.2), the link's MTU is too small, the port is not
 * in the partition. */
static unsigned map_of(struct shard *sh, uint32_t chan, unsigned out, const struct dpkt *p)
{
	const struct plane *pl = sh->plane;
	node_id n = chan_node(sh, chan);
	const struct iba_port_info *pi = &node_port(sh->sim, n, out)->pi;
	unsigned vl = sim_slvl(sh->sim, n, chan_num(sh, chan), out, p->sl);

	if (vl >= iba_vl_count(pi->oper_vls) || vl >= pl->nvl)
		return pl->nslots + NO_VL;
	if (pi->state == IBA_PORT_ACTIVE && p->bytes > iba_mtu_bytes(pi->neighbor_mtu) + 26)
		return pl->nslots + TOO_LONG;
	if (pi->part_enf_out &&
	    !pkey_enforced_ok(sh->sim, sh->fab->nodes[n].first_port + out, p->pkey))
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

static bool copies_begin(struct shard *sh, uint32_t chan, uint16_t dlid)
{
	const struct plane *pl = sh->plane;
	node_id n = chan_node(sh, chan);
	unsigned in = chan_num(sh, chan);
	uint64_t *left;

	if (!sh->nodes[n].mft)
		return false;
	if (!pl->copies_left)
		plane_copies_room(sh->whole);
	left = pl->copies_left[chan];
	sim_mft(sh->sim, n, dlid, left);
	left[0] &= ~1ull; /* port 0 accepts no data */
	left[in / 64] &= ~(1ull << in % 64);
	return left[0] | left[1] | left[2] | left[3];
}

static bool copies_remain(const struct plane *pl, uint32_t chan)
{
	const uint64_t *left = pl->copies_left[chan];

	return left[0] | left[1] | left[2] | left[3];
}

/* Takes the head's next port from those that are left. */
static void copies_next(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	uint64_t *left = pl->copies_left[chan];
	unsigned w = 0;

	while (!left[w])
		w++;
	in->out = (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(left[w]));
	left[w] &= left[w] - 1;
	in->out_slot = (uint8_t)(in->out <= sh->fab->nodes[chan_node(sh, chan)].nports
					 ? map_of(sh, chan, in->out,
						  &pl->pkts.at[pl->cells.at[in->head].pkt])
					 : pl->nslots);
	in->state = IN_MAPPING;
	chan_event(sh, sh->now + sh->cfg->plane.map_ps, EV_P_MAP, chan);
}

/* A new packet for this copy; the last copy is the packet itself. */
static uint32_t copy_of(struct shard *sh, uint32_t pkt)
{
	uint32_t copy = dpkt_new(sh);
	struct dpkt *d = &sh->plane->pkts.at[copy];

	uint16_t serial = d->serial;

	*d = sh->plane->pkts.at[pkt];
	d->serial = serial;
	sh->own.stats.copies++;
	sh->own.stats.in_flight++;
	return copy;
}

void switch_route_done(struct shard *sh, node_id n)
{
	const struct plane *pl = sh->plane;
	uint32_t chan = pl->switches[n].serving;
	struct in_chan *in = &pl->in[chan];
	const struct dpkt *p = &pl->pkts.at[pl->cells.at[in->head].pkt];
	unsigned out = route_of(sh, chan, p), slot = slot15(pl);

	pl->switches[n].serving = CHAN_NONE;
	serve(sh, n);
	in->copies = p->smp == PKT_NONE && p->dlid >= IBA_LID_MCAST_FIRST;
	if (in->copies && !p->broken) {
		if (copies_begin(sh, chan, p->dlid))
			copies_next(sh, chan);
		else
			drop_head(sh, chan, SIM_DISCARD_UNROUTABLE);
	} else if (p->broken) {
		drop_head(sh, chan, (enum sim_discard)p->why);
	} else if (out > sh->fab->nodes[n].nports) {
		drop_head(sh, chan, SIM_DISCARD_UNROUTABLE);
	} else if (out && out == chan_num(sh, chan) && !p->fixed_out) {
		drop_head(sh, chan, SIM_DISCARD_TURNED_BACK);
	} else {
		if (p->smp == PKT_NONE)
			slot = out ? map_of(sh, chan, out, p)
				   : pl->nslots; /* port 0 accepts no data */
		in->state = IN_MAPPING;
		in->out = (uint8_t)out;
		in->out_slot = (uint8_t)slot;
		chan_event(sh, sh->now + sh->cfg->plane.map_ps, EV_P_MAP, chan);
	}
}

/* ---- the crossbar ---- */

static bool room_for(const struct plane *pl, uint32_t out, const struct cell *c)
{
	return !pl->out[out].busy && pl->out[out].used + c->blocks <= pl->out[out].cap;
}

/* Arbitration, set-up, then the bytes at the output's rate; the end is not before the tail has
 * been received. */
static void cross(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	struct cell *c = &pl->cells.at[in->head];
	port_id pace =
		pl->ports[chan_port(pl, chan)].first + (in->out ? in->out : chan_num(sh, chan));
	time_ps start = sh->now + sh->cfg->plane.crossbar_ps + sh->cfg->plane.setup_ps;
	time_ps end = MAX(start + wire_time(sh->plane, pace, c->bytes), c->tail);

	in->state = IN_CROSSING;
	if (in->out) {
		struct out_chan *out = &pl->out[chan_of(pl, pace, in->out_slot)];

		out->busy = true;
		out->used = (uint16_t)(out->used + c->blocks);
		chan_event(sh, start + wire_time(pl, pace, sh->cfg->plane.header_bytes), EV_P_CROSS,
			   chan);
	}
	c->tail = end; /* from now on: when the last byte has crossed */
	chan_event(sh, end, EV_P_CROSSED, chan);
}

void switch_request(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	const struct cell *c = &pl->cells.at[in->head];
	uint32_t out;

	if (in->out_slot >= pl->nslots && in->copies && copies_remain(pl, chan)) {
		uint32_t cell = cell_new(sh, copy_of(sh, pl->cells.at[in->head].pkt));

		plane_discard(sh, chan_node(sh, chan), chan_num(sh, chan), pl->cells.at[cell].pkt,
			      refusal(pl, in->out_slot));
		cell_free(sh, cell);
		copies_next(sh, chan);
		return;
	}
	if (in->out_slot >= pl->nslots) {
		drop_head(sh, chan, refusal(pl, in->out_slot));
		return;
	}
	if (!in->out) {
		cross(sh, chan); /* to the SMI */
		return;
	}
	out = chan_of(pl, pl->ports[chan_port(pl, chan)].first + in->out, in->out_slot);
	if (pl->out[out].wait_head == CHAN_NONE && room_for(pl, out, c)) {
		cross(sh, chan);
	} else if (slot_is_15(pl, in->out_slot) && !pl->out[out].busy &&
		   pl->out[out].wait_head == CHAN_NONE) {
		drop_head(sh, chan, SIM_DISCARD_BUFFER); /* VL15 does not wait for room (2.5.2) */
	} else {
		in->state = IN_WAITING;
		append(pl, &pl->out[out].wait_head, &pl->out[out].wait_tail, chan);
		limit_in(sh, chan);
	}
}

/* Removes it from any place in the queue it waits in. */
void switch_give_up(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
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
	drop_head(sh, chan, SIM_DISCARD_LIFETIME);
	switch_room(sh, out); /* the next one may need less room */
}

void switch_room(struct shard *sh, uint32_t out)
{
	const struct plane *pl = sh->plane;
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
			drop_head(sh, chan, SIM_DISCARD_BUFFER);
		else
			cross(sh, chan);
	}
}

/* The cell now belongs to another packet of the same length. */
static void cell_give(const struct plane *pl, uint32_t cell, uint32_t pkt)
{
	pl->cells.at[cell].pkt = pkt;
	pl->cells.at[cell].serial = pl->pkts.at[pkt].serial;
}

/* The header is in the output buffer: the packet may be sent while its tail follows. */
void switch_cross_head(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	bool more = in->copies && copies_remain(pl, chan);
	uint32_t here = in->head, there = cell_copy(sh, here);

	pl->cells.at[there].ready = sh->now;
	if (more) {
		cell_give(pl, there, copy_of(sh, pl->cells.at[here].pkt));
		cut_copied(sh, here, pl->cells.at[there].pkt);
	}
	pl->cells.at[here].trail = !more;
	out_add(sh, pl->ports[chan_port(pl, chan)].first + in->out, in->out_slot, there);
}

/* An SMP for this switch has crossed to port 0. */
static void to_smi(struct shard *sh, uint32_t chan, uint32_t cell)
{
	const struct plane *pl = sh->plane;
	struct dpkt *p = &pl->pkts.at[pl->cells.at[cell].pkt];
	uint32_t smp = p->smp;
	node_id n = chan_node(sh, chan);

	if (p->broken) {
		plane_discard(sh, n, chan_num(sh, chan), pl->cells.at[cell].pkt,
			      (enum sim_discard)p->why);
		return;
	}
	p->smp = PKT_NONE;
	smi_arrive(sh->whole, n, chan_num(sh, chan), smp);
}

void switch_cross_done(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned out = in->out, slot = in->out_slot;

	if (out == 0)
		to_smi(sh, chan, in->head);
	if (out != UINT8_MAX && in->copies && copies_remain(pl, chan))
		copies_next(sh, chan);
	else
		in_release(sh, chan);
	if (out && out != UINT8_MAX) {
		uint32_t o = chan_of(pl, pl->ports[chan_port(pl, chan)].first + out, slot);

		pl->out[o].busy = false;
		switch_room(sh, o);
	}
}
