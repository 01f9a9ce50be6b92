/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers that have expired: a head of a queue that waited too long, a stalled VL, credits to be
 * sent again. State: none of its own. Ways in: the *_over() functions, from plane_event(). Does not
 * start timers: plane_lifetime.c does.
 */
#include "sim/plane/plane_priv.h"

/* IBA leaves a count of 0 undefined; here it stalls nothing. */
static void count_expired(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan];
	const struct iba_port_info *pi = &sh->ports[chan_port(pl, chan)].pi;

	o->expired += o->expired < UINT8_MAX;
	if (!pi->vl_stall_count || o->expired < pi->vl_stall_count)
		return;
	o->expired = 0;
	o->stalled = true;
	limit_stall(sh, chan);
	while (o->head != CELL_NONE)
		link_discard_head(sh, chan, SIM_DISCARD_STALLED);
}

void limit_stall_over(struct shard *sh, uint32_t chan)
{
	sh->plane->out[chan].stalled = false;
}

void limit_out_over(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan];
	port_id port = chan_port(pl, chan);
	time_ps life = iba_time_from_exp(sh->ports[port].pi.hoq_life);

	o->timed = false;
	if (o->head == CELL_NONE)
		return;
	if (sh->now >= o->head_since + life) {
		if (link_has_credit(pl, chan) && !pl->ports[port].retraining)
			return; /* it waits for the link only */
		link_discard_head(sh, chan, SIM_DISCARD_LIFETIME);
		count_expired(sh, chan);
	}
	limit_out(sh, chan);
}

void limit_in_over(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned life = sh->nodes[sh->fab->ports[chan_port(pl, chan)].node].si.life_time;

	in->timed = false;
	if (in->state != IN_WAITING)
		return;
	if (sh->now >= in->since + iba_time_from_exp(life))
		switch_give_up(sh, chan);
	else
		limit_in(sh, chan);
}

void refresh_due(struct shard *sh, port_id port)
{
	for (unsigned slot = 0; slot < sh->plane->nvl; slot++)
		link_fc_want(sh, port, slot);
	refresh_start(sh, port);
}
