/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a packet may wait, and what keeps credits right when a link makes errors. State: one timer
 * a channel that is blocked, one a port that refreshes its credits. Does not decide who sends.
 *
 * HOQLife (IBA 17.2.6 and PortInfo): a packet at the head of an output VL that may not be sent for so
 * long is discarded. LifeTimeValue (SwitchInfo): the same for the head of an input VL that finds no
 * room at its output. 20 and more mean for ever. A real deadlock ends this way. VLStallCount (PortInfo)
 * heads of one VL discarded in a row by HOQLife stall it: for 8 HOQLife all its packets are discarded.
 */
#include "sim/plane/plane_priv.h"

enum { FOR_EVER = 20 };

static void arm(struct sim *s, enum sim_ev kind, uint32_t chan, time_ps since, unsigned exponent)
{
	node_id n = s->fab->ports[chan_port(s->plane, chan)].node;

	sim_push(s, MAX(s->now, since + iba_time_from_exp(exponent)), PRIO_NET,
		 (struct ev){.kind = kind, .a = chan, .c = s->nodes[n].incarnation});
}

void limit_out(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct out_chan *o = &pl->out[chan];
	unsigned life = s->ports[chan_port(pl, chan)].pi.hoq_life;

	if (o->timed || o->head == CELL_NONE || life >= FOR_EVER || o->cap == UINT16_MAX)
		return; /* hosts wait as long as they like */
	o->timed = true;
	arm(s, EV_P_HOQ, chan, o->head_since, life);
}

/* IBA leaves a count of 0 undefined; here it stalls nothing. */
static void count_expired(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct out_chan *o = &pl->out[chan];
	const struct iba_port_info *pi = &s->ports[chan_port(pl, chan)].pi;

	o->expired += o->expired < UINT8_MAX;
	if (!pi->vl_stall_count || o->expired < pi->vl_stall_count)
		return;
	o->expired = 0;
	o->stalled = true;
	arm(s, EV_P_STALL, chan, s->now + 7 * iba_time_from_exp(pi->hoq_life), pi->hoq_life);
	while (o->head != CELL_NONE)
		link_discard_head(s, chan, SIM_DISCARD_STALLED);
}

void limit_stall_over(struct sim *s, uint32_t chan)
{
	s->plane->out[chan].stalled = false;
}

void limit_out_over(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct out_chan *o = &pl->out[chan];
	port_id port = chan_port(pl, chan);
	time_ps life = iba_time_from_exp(s->ports[port].pi.hoq_life);

	o->timed = false;
	if (o->head == CELL_NONE)
		return;
	if (s->now >= o->head_since + life) {
		if (link_has_credit(s, chan) && !pl->ports[port].retraining)
			return; /* it only waits for the link */
		link_discard_head(s, chan, SIM_DISCARD_LIFETIME);
		count_expired(s, chan);
	}
	limit_out(s, chan);
}

void limit_in(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned life = s->nodes[s->fab->ports[chan_port(pl, chan)].node].si.life_time;

	if (in->timed || life >= FOR_EVER)
		return;
	in->timed = true;
	arm(s, EV_P_LIFE, chan, in->since, life);
}

void limit_in_over(struct sim *s, uint32_t chan)
{
	struct plane *pl = s->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned life = s->nodes[s->fab->ports[chan_port(pl, chan)].node].si.life_time;

	in->timed = false;
	if (in->state != IN_WAITING)
		return;
	if (s->now >= in->since + iba_time_from_exp(life))
		switch_give_up(s, chan);
	else
		limit_in(s, chan);
}

/* ---- errors on the wire ---- */

/* Whether the packet just sent arrives damaged. Rates are small: n bytes are n times as likely. */
bool error_hits(struct sim *s, unsigned bytes)
{
	uint64_t q = s->cfg.plane.byte_error_q40;

	return q && (rng_u64(&s->error_rng) >> 24) < MIN(q * bytes, (uint64_t)1 << 40);
}

/* IBA 7.9.3: at least one flow control packet for each VL every 65,536 symbol times. Where nothing is
 * lost it changes nothing, so it is only sent where something may be. */
void refresh_start(struct sim *s, port_id port)
{
	time_ps symbol = wire_time(s, port, 1) * MAX(s->fab->ports[port].width, 1);

	if (!s->cfg.plane.byte_error_q40 && !s->cfg.plane.fc_refresh)
		return;
	sim_push(s, s->now + 65536 * symbol, PRIO_NET,
		 (struct ev){.kind = EV_P_REFRESH, .a = port, .c = s->ports[port].link_epoch});
}

void refresh_due(struct sim *s, port_id port)
{
	for (unsigned slot = 0; slot < s->plane->nvl; slot++)
		link_fc_want(s, port, slot);
	refresh_start(s, port);
}
