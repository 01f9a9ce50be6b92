/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Discards a packet and counts it: a data packet by reason and port, an SMP as dropped. State: the
 * counters of struct plane. Way in: plane_discard(). Does not free the packet's cell.
 */
#include "sim/plane/plane_priv.h"

static const uint8_t smp_reason[SIM_NDISCARDS] = {
	[SIM_DISCARD_INACTIVE_PORT] = SIM_DROP_LINK,
	[SIM_DISCARD_DEACTIVATED_PORT] = SIM_DROP_LINK,
	[SIM_DISCARD_BUFFER] = SIM_DROP_BUFFER,
	[SIM_DISCARD_TURNED_BACK] = SIM_DROP_TURNED_BACK,
	[SIM_DISCARD_UNROUTABLE] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_CLEARED] = SIM_DROP_NODE,
	[SIM_DISCARD_UNMAPPABLE] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_MTU] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_PKEY] = SIM_DROP_UNROUTABLE,
	[SIM_DISCARD_LIFETIME] = SIM_DROP_BUFFER,
	[SIM_DISCARD_WRONG_HOST] = SIM_DROP_NOT_FOR_US,
	[SIM_DISCARD_ERROR] = SIM_DROP_LINK,
	[SIM_DISCARD_RETRAINING] = SIM_DROP_LINK,
	[SIM_DISCARD_STALLED] = SIM_DROP_BUFFER,
};

void plane_discard(struct shard *sh, node_id n, unsigned port, uint32_t pkt, enum sim_discard why)
{
	struct dpkt *p = &sh->plane->pkts.at[pkt];

	if (p->smp != PKT_NONE) {
		pkt_at(sh->whole, p->smp, n, port);
		pkt_drop(sh->whole, p->smp, (enum sim_drop)smp_reason[why]);
		p->smp = PKT_NONE;
		return;
	}
	sh->own.stats.discarded[why]++;
	sh->own.stats.in_flight--;
	sh->plane->ports[sh->fab->nodes[n].first_port + port].counters.discarded++;
	if (sh->plane->detail)
		detail_discarded_now(sh->whole, sh->fab->nodes[n].first_port + port, p, why);
	sim_hash_add(sh, n, sh->now ^ (uint64_t)n << 40 ^ (uint64_t)why << 32 ^ p->dlid);
	if (sh->plane->discards.discarded)
		sh->plane->discards.discarded(sh->plane->discards.ctx, n, port, why, p->slid,
					      p->dlid);
}
