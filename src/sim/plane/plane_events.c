/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of the data plane: each goes to the file it belongs to, unless the node was powered off or the link
 * went down since it was scheduled. State: none of its own. Ways in: plane_event(), plane_step(). Does
 * not schedule anything.
 */
#include "sim/plane/plane_priv.h"

/* Whether the node was not powered off since the event was scheduled. */
static bool same_life(const struct shard *sh, port_id p, uint32_t life)
{
	return sh->plane->ports[p].life == life;
}

/* Large fabrics do not fit the cache: what the next events need is fetched while this one runs. The port
 * or channel is the first word of every payload; of the few kinds where it is not, the prefetch is void. */
static void prefetch(const struct shard *sh)
{
	const struct plane *pl = sh->plane;

	for (uint32_t i = 0; i < MIN(sh->q.nheap, 3u); i++) {
		const struct ev_what *e = &sh->q.heap[i].what;
		bool by_port = e->kind == EV_P_HEAD || e->kind == EV_P_FC || e->kind == EV_P_LINK ||
			       e->kind == EV_P_SENT;
		port_id p = by_port ? e->port.port : chan_port(pl, e->chan.chan);

		if (e->kind < EV_P_HEAD || p >= sh->fab->nports)
			continue;
		__builtin_prefetch(&pl->ports[p]);
		if (by_port) {
			__builtin_prefetch(&sh->ports[p]);
			__builtin_prefetch(&sh->ports[p].pi.state);
			__builtin_prefetch(&pl->out[chan_of(pl, p, 0)]);
		} else {
			__builtin_prefetch(&pl->in[e->chan.chan]);
		}
	}
}

void plane_event(struct shard *sh, const struct ev_what *e)
{
	const struct plane *pl = sh->plane;

	if (pl->large)
		prefetch(sh);
	switch ((enum sim_ev)e->kind) {
	case EV_P_HEAD:
		link_head(sh, e->head.port, e->head.cell, e->head.epoch);
		break;
	case EV_P_FC:
		if ((sh->ports[e->credit.port].link_epoch & FC_EPOCH_MASK) == e->credit.epoch)
			link_fc(sh, e->credit.port, e->credit.slot, e->credit.fctbs,
				e->credit.fccl);
		break;
	case EV_P_ROUTE:
		if (sh->nodes[e->node.node].on &&
		    sh->nodes[e->node.node].incarnation == e->node.incarnation)
			switch_route_done(sh, e->node.node);
		break;
	case EV_P_MAP:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			switch_request(sh, e->chan.chan);
		break;
	case EV_P_CROSS:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			switch_cross_head(sh, e->chan.chan);
		break;
	case EV_P_CROSSED:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			switch_cross_done(sh, e->chan.chan);
		break;
	case EV_P_LINK:
		if (same_life(sh, e->port.port, e->port.life))
			link_decide(sh, e->port.port);
		break;
	case EV_P_SENT:
		if (same_life(sh, e->port.port, e->port.life))
			link_tx_done(sh, e->port.port);
		break;
	case EV_P_SINK:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			host_sink(sh, e->chan.chan);
		break;
	case EV_P_MAKE:
		if (e->make.epoch == pl->traffic_epoch)
			host_make(sh, e->make.host);
		break;
	case EV_P_PACED:
		host_paced(sh, e->paced.pkt, e->paced.incarnation);
		break;
	case EV_P_HOQ:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			limit_out_over(sh, e->chan.chan);
		break;
	case EV_P_STALL:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			limit_stall_over(sh, e->chan.chan);
		break;
	case EV_P_LIFE:
		if (same_life(sh, chan_port(pl, e->chan.chan), e->chan.life))
			limit_in_over(sh, e->chan.chan);
		break;
	case EV_P_REFRESH:
		if (sh->ports[e->link.port].link_epoch == e->link.epoch)
			refresh_due(sh, e->link.port);
		break;
	case EV_P_RETRAIN:
		if (sh->ports[e->link.port].link_epoch == e->link.epoch)
			retrain_over(sh, e->link.port);
		break;
	case EV_CALL:
	case EV_LINK:
	case EV_ARRIVE:
	case EV_SMI:
	case EV_INJECT:
	case EV_TRAP:
	case EV_LEASE:
	case EV_ORDER:
		break;
	}
}

bool plane_step(struct shard *sh)
{
	struct ev e;

	if (!shard_next(sh, &e))
		return false;
	plane_event(sh, &e.what);
	return true;
}
