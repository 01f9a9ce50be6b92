/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the data plane: each goes to the file it belongs to, unless the node was powered off or
 * the link went down since it was scheduled. State: none of its own. Ways in: plane_event(),
 * plane_run(). Does not schedule anything.
 */
#include "sim/plane/plane_priv.h"

/* ---- one handler for each kind; an event is void if its node was powered off since ---- */

static bool chan_alive(const struct shard *sh, const struct ev_what *e)
{
	return sh->plane->ports[chan_port(sh->plane, e->chan.chan)].life == e->chan.life;
}

static bool port_alive(const struct shard *sh, const struct ev_what *e)
{
	return sh->plane->ports[e->port.port].life == e->port.life;
}

#define FOR_CHAN(name, function)                                                                   \
	static void name(struct shard *sh, const struct ev_what *e)                                \
	{                                                                                          \
		if (chan_alive(sh, e))                                                             \
			function(sh, e->chan.chan);                                                \
	}

FOR_CHAN(on_mapped, switch_request)
FOR_CHAN(on_header_crossed, switch_cross_head)
FOR_CHAN(on_crossed, switch_cross_done)
FOR_CHAN(on_complete, host_sink)
FOR_CHAN(on_hoq_life, limit_out_over)
FOR_CHAN(on_stall_end, limit_stall_over)
FOR_CHAN(on_lifetime, limit_in_over)

static void on_arbiter(struct shard *sh, const struct ev_what *e)
{
	if (port_alive(sh, e))
		link_decide(sh, e->port.port);
}

static void on_sent(struct shard *sh, const struct ev_what *e)
{
	if (port_alive(sh, e))
		link_tx_done(sh, e->port.port);
}

static void on_header(struct shard *sh, const struct ev_what *e)
{
	link_head(sh, e->head.port, e->head.cell, e->head.epoch);
}

static void on_credit(struct shard *sh, const struct ev_what *e)
{
	if ((sh->ports[e->credit.port].link_epoch & FC_EPOCH_MASK) == e->credit.epoch)
		link_fc(sh, e->credit.port, e->credit.slot, e->credit.fctbs, e->credit.fccl);
}

static void on_routed(struct shard *sh, const struct ev_what *e)
{
	const struct sim_node *n = &sh->nodes[e->node.node];

	if (n->on && n->incarnation == e->node.incarnation)
		switch_route_done(sh, e->node.node);
}

static void on_packet_due(struct shard *sh, const struct ev_what *e)
{
	if (e->make.epoch == sh->plane->traffic_epoch)
		host_make(sh, e->make.host);
}

static void on_paced(struct shard *sh, const struct ev_what *e)
{
	host_paced(sh, e->paced.pkt, e->paced.incarnation);
}

static void on_refresh(struct shard *sh, const struct ev_what *e)
{
	if (sh->ports[e->link.port].link_epoch == e->link.epoch)
		refresh_due(sh, e->link.port);
}

static void on_recovered(struct shard *sh, const struct ev_what *e)
{
	if (sh->ports[e->link.port].link_epoch == e->link.epoch)
		retrain_over(sh, e->link.port);
}

static void (*const handlers[])(struct shard *sh, const struct ev_what *e) = {
	[EV_P_HEAD] = on_header,	  [EV_P_FC] = on_credit,
	[EV_P_ROUTE] = on_routed,	  [EV_P_MAP] = on_mapped,
	[EV_P_CROSS] = on_header_crossed, [EV_P_CROSSED] = on_crossed,
	[EV_P_LINK] = on_arbiter,	  [EV_P_SENT] = on_sent,
	[EV_P_SINK] = on_complete,	  [EV_P_MAKE] = on_packet_due,
	[EV_P_PACED] = on_paced,	  [EV_P_HOQ] = on_hoq_life,
	[EV_P_LIFE] = on_lifetime,	  [EV_P_STALL] = on_stall_end,
	[EV_P_REFRESH] = on_refresh,	  [EV_P_RETRAIN] = on_recovered,
};

void plane_event(struct shard *sh, const struct ev_what *e)
{
	handlers[e->kind](sh, e);
}

bool plane_run(struct shard *sh, time_ps limit, unsigned most, struct ev *other)
{
	struct ev e;

	while (most-- && evq_next(&sh->q) <= limit && shard_next(sh, &e)) {
		if (e.what.kind < EV_P_HEAD) {
			*other = e;
			return true;
		}
		handlers[e.what.kind](sh, &e.what);
	}
	return false;
}
