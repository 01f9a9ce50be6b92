/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link error recovery (IBA 7.12.2, volume 2; thesis 2.4.1, LinkActDefer). State: a flag and a count
 * of errors for each port, equal at both ends. Way in: retrain_over(), when recovery ends;
 * plane_errors.c starts it. Does not decide which packet is damaged.
 *
 * A port counts damaged packets up and good ones down. When the count exceeds PortInfo's
 * LocalPhyErrors, both ends retrain: packets on the cable are lost, nothing is sent, buffers and
 * port states stay. If it fails, the link goes down and comes up again in Initialize.
 */
#include "sim/plane/plane_priv.h"

/* Both ends send their flow control counters, which corrects for the packets that were lost
 * (2.4.4). */
static void resume(struct shard *sh, port_id p)
{
	struct plane_port *port = &sh->plane->ports[p];

	port->retraining = false;
	port->phy_errors = 0;
	port->counters.recoveries++;
	link_recovery_end(sh, p);
	for (unsigned slot = 0; slot < sh->plane->nvl; slot++)
		link_fc_want(sh, p, slot);
	refresh_start(sh, p);
	link_kick(sh, p);
}

void retrain_over(struct shard *sh, port_id p)
{
	port_id far = sh->ports[p].peer;
	uint64_t fails = sh->cfg->plane.retrain_fail_q32;

	if (!fails || rng_u64(&sh->whole->plane->error_rng) >> 32 >= fails) {
		sh->own.stats.recoveries++;
		resume(sh, p);
		resume(sh, far);
		return;
	}
	sh->own.stats.downed++;
	sh->plane->ports[p].counters.downed++;
	sh->plane->ports[far].counters.downed++;
	link_cut(sh->whole, p);
	link_try_up(sh->whole, p);
}
