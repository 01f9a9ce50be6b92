/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link error recovery (IBA 7.12.2, volume 2; thesis 2.4.1, LinkActDefer). State: a count of errors
 * and a flag a port, both ends of a link in step. Ways in: retrain_error() when a packet came
 * damaged, retrain_over() when training ends. Does not decide which packet is damaged.
 *
 * A port counts damaged packets up and good ones down. When the count exceeds PortInfo's
 * LocalPhyErrors, both ends train anew: what is on the cable is lost, nothing is sent, buffers and
 * port states stay. If it fails, the link goes down and comes up again in Initialize.
 */
#include "sim/plane/plane_priv.h"

static void begin(struct sim *s, port_id p)
{
	struct plane_port *port = &s->plane->ports[p];

	cut_receiving(s, p, SIM_DISCARD_RETRAINING);
	port->retrained_epoch = s->ports[p].link_epoch++; /* what was sent before does not arrive */
	port->retraining = true;
	s->ports[p].pi.phys_state = IBA_PHYS_RECOVERY;
}

void retrain_error(struct sim *s, port_id p)
{
	struct plane_port *port = &s->plane->ports[p];

	port->counters.errors++;
	if (!s->cfg.plane.retrain_ps || ++port->phy_errors <= s->ports[p].pi.local_phy_errors)
		return;
	begin(s, p);
	begin(s, s->ports[p].peer);
	sim_push(s, s->now + s->cfg.plane.retrain_ps, PRIO_NET,
		 (struct ev){.kind = EV_P_RETRAIN, .a = p, .c = s->ports[p].link_epoch});
}

/* Both ends tell what they have sent and what they can take: that mends what was lost (2.4.4). */
static void resume(struct sim *s, port_id p)
{
	struct plane_port *port = &s->plane->ports[p];

	port->retraining = false;
	port->phy_errors = 0;
	port->counters.recoveries++;
	s->ports[p].pi.phys_state = IBA_PHYS_LINK_UP;
	for (unsigned slot = 0; slot < s->plane->nvl; slot++)
		link_fc_want(s, p, slot);
	refresh_start(s, p);
	link_kick(s, p);
}

void retrain_over(struct sim *s, port_id p)
{
	port_id far = s->ports[p].peer;
	uint64_t fails = s->cfg.plane.retrain_fail_q32;

	if (!fails || rng_u64(&s->error_rng) >> 32 >= fails) {
		s->plane->stats.recoveries++;
		resume(s, p);
		resume(s, far);
		return;
	}
	s->plane->stats.downed++;
	s->plane->ports[p].counters.downed++;
	s->plane->ports[far].counters.downed++;
	link_cut(s, p);
	link_try_up(s, p);
}
