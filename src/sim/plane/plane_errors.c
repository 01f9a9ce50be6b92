/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors on links: which packets arrive damaged, the start of link error recovery, the timer that
 * sends credits again. State: the count of errors of each port. Ways in: error_hits(),
 * retrain_error(), refresh_start(). Does not end recovery: plane_retrain.c does.
 */
#include "sim/plane/plane_priv.h"

/* Whether the packet just sent arrives damaged. Rates are small: n bytes are n times as likely. */
bool error_drawn(struct shard *sh, unsigned bytes)
{
	uint64_t q = sh->cfg->plane.byte_error_q40;

	return (rng_u64(&sh->whole->plane->error_rng) >> 24) < MIN(q * bytes, (uint64_t)1 << 40);
}

/* IBA 7.9.3: at least one flow control packet for each VL every 65,536 symbol times. Without
 * losses it has no effect, so it is only sent where packets may be lost. */
void refresh_start(struct shard *sh, port_id port)
{
	time_ps symbol = wire_time(sh->plane, port, 1) * MAX(sh->fab->ports[port].width, 1);

	if (!sh->cfg->plane.byte_error_q40 && !sh->cfg->plane.fc_refresh)
		return;
	sim_push(
		sh, sh->now + 65536 * symbol, PRIO_NET,
		(struct ev_what){.kind = EV_P_REFRESH, .link = {port, sh->ports[port].link_epoch}});
}

static void begin(struct shard *sh, port_id p)
{
	struct plane_port *port = &sh->plane->ports[p];

	cut_receiving(sh, p, SIM_DISCARD_RETRAINING);
	port->retrained_epoch = link_recovery_begin(sh, p);
	port->retraining = true;
}

void retrain_error(struct shard *sh, port_id p)
{
	struct plane_port *port = &sh->plane->ports[p];

	port->counters.errors++;
	if (!sh->cfg->plane.retrain_ps || ++port->phy_errors <= sh->ports[p].pi.local_phy_errors)
		return;
	begin(sh, p);
	begin(sh, sh->ports[p].peer);
	sim_push(sh, sh->now + sh->cfg->plane.retrain_ps, PRIO_NET,
		 (struct ev_what){.kind = EV_P_RETRAIN, .link = {p, sh->ports[p].link_epoch}});
}
