/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GMPs that have come to their port: requests of performance management go to the node's own agent,
 * everything else to the program at the port. Keeps no state. Way in: gsi_deliver(). Does not carry
 * GMPs: express.c does.
 */
#include "sim/sim_priv.h"

void gsi_deliver(struct sim *s, uint32_t p)
{
	struct pkt *pkt = &s->pkts.at[p];
	const struct sm_hook *hook = smi_hook(s, pkt);
	struct sim_smp smp = pkt->smp; /* whoever takes it may send, which moves the pool */

	if (!hook) {
		pkt_drop(s, p, SIM_DROP_NO_AGENT);
		return;
	}
	s->stats.delivered++;
	sim_seen(s, SIM_SEEN_RECV, pkt->node, pkt->in_port, &smp, 1);
	pkt_free(s, p);
	hook->recv(hook->ctx, &smp);
}
