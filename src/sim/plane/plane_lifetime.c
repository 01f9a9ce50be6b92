/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a packet may wait: starts the timers. State: one timer for each blocked channel. Ways
 * in: limit_out(), limit_in(), limit_stall(). Does not handle their expiry: plane_timeout.c does.
 *
 * HOQLife (IBA 17.2.6 and PortInfo): a packet at the head of an output VL that may not be sent for
 * so long is discarded. LifeTimeValue (SwitchInfo): the same for the head of an input VL that finds
 * no room at its output. 20 and more mean without limit. This resolves a deadlock. VLStallCount
 * (PortInfo) heads of one VL discarded in a row by HOQLife stall it: for 8 HOQLife all its packets
 * are discarded.
 */
#include "sim/plane/plane_priv.h"

enum { FOR_EVER = 20 };

static void arm(struct shard *sh, enum sim_ev kind, uint32_t chan, time_ps since, unsigned exponent)
{
	node_id n = sh->fab->ports[chan_port(sh->plane, chan)].node;

	sim_push(sh, MAX(sh->now, since + iba_time_from_exp(exponent)), PRIO_NET,
		 (struct ev_what){.kind = kind, .chan = {chan, sh->nodes[n].incarnation}});
}

void limit_out(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct out_chan *o = &pl->out[chan];
	unsigned life = sh->ports[chan_port(pl, chan)].pi.hoq_life;

	if (o->timed || o->head == CELL_NONE || life >= FOR_EVER || o->cap == UINT16_MAX)
		return; /* hosts have no limit */
	o->timed = true;
	arm(sh, EV_P_HOQ, chan, o->head_since, life);
}

void limit_stall(struct shard *sh, uint32_t chan)
{
	unsigned life = sh->ports[chan_port(sh->plane, chan)].pi.hoq_life;

	arm(sh, EV_P_STALL, chan, sh->now + 7 * iba_time_from_exp(life), life);
}

void limit_in(struct shard *sh, uint32_t chan)
{
	const struct plane *pl = sh->plane;
	struct in_chan *in = &pl->in[chan];
	unsigned life = sh->nodes[sh->fab->ports[chan_port(pl, chan)].node].si.life_time;

	if (in->timed || life >= FOR_EVER)
		return;
	in->timed = true;
	arm(sh, EV_P_LIFE, chan, in->since, life);
}
