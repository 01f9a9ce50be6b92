/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals of a simulation and the names of reasons. State: none of its own, the counters are in
 * struct sim and struct plane. Ways in: the calls of sim_stats.h. Does not count anything.
 */
#include "sim/plane/plane_priv.h"
#include "sim/stats/sim_stats.h"

static const char *const drop_names[SIM_NDROPS] = {
	[SIM_DROP_FAULT] = "fault",
	[SIM_DROP_LINK] = "link",
	[SIM_DROP_NODE] = "node",
	[SIM_DROP_UNROUTABLE] = "unroutable",
	[SIM_DROP_TURNED_BACK] = "turned_back",
	[SIM_DROP_BAD_PATH] = "bad_path",
	[SIM_DROP_NOT_FOR_US] = "not_for_us",
	[SIM_DROP_MKEY] = "m_key",
	[SIM_DROP_BAD_MAD] = "bad_mad",
	[SIM_DROP_NO_SM] = "no_sm",
	[SIM_DROP_BUFFER] = "buffer",
	[SIM_DROP_LIFETIME] = "lifetime",
	[SIM_DROP_NO_AGENT] = "no_agent",
};

const char *sim_drop_name(enum sim_drop d)
{
	return d < SIM_NDROPS ? drop_names[d] : "?";
}

static const char *const discard_names[SIM_NDISCARDS] = {
	[SIM_DISCARD_INACTIVE_PORT] = "inactive_port",
	[SIM_DISCARD_DEACTIVATED_PORT] = "deactivated_port",
	[SIM_DISCARD_BUFFER] = "buffer",
	[SIM_DISCARD_TURNED_BACK] = "turned_back",
	[SIM_DISCARD_UNROUTABLE] = "unroutable",
	[SIM_DISCARD_CLEARED] = "cleared",
	[SIM_DISCARD_UNMAPPABLE] = "unmappable",
	[SIM_DISCARD_MTU] = "mtu",
	[SIM_DISCARD_PKEY] = "p_key",
	[SIM_DISCARD_LIFETIME] = "lifetime",
	[SIM_DISCARD_WRONG_HOST] = "wrong_host",
	[SIM_DISCARD_ERROR] = "bit_error",
	[SIM_DISCARD_RETRAINING] = "retraining",
	[SIM_DISCARD_STALLED] = "vl_stalled",
};

const char *sim_discard_name(enum sim_discard d)
{
	return d < SIM_NDISCARDS ? discard_names[d] : "?";
}

const struct sim_stats *sim_stats(const struct sim *s)
{
	return &s->dev.stats;
}

const struct sim_plane_stats *sim_plane_stats(const struct sim *s)
{
	return s->plane ? &s->main.own.stats : NULL;
}

const struct sim_port_counters *sim_port_counters(const struct sim *s, port_id p)
{
	return &s->plane->ports[p].counters;
}

void sim_buffer_use(const struct sim *s, uint32_t *mean, uint32_t *max)
{
	const struct plane *pl = s->plane;
	uint64_t used = 0, cap = 0;

	*max = 0;
	for (port_id p = 0; p < s->fab->nports; p++)
		for (unsigned slot = 0; slot < pl->nvl; slot++) {
			const struct in_chan *in = &pl->in[chan_of(pl, p, slot)];

			if (!s->fab->ports[p].num || !sim_is_switch(s, s->fab->ports[p].node) ||
			    s->ports[p].peer == FAB_NONE)
				continue;
			used += in->used;
			cap += in->cap;
			*max = MAX(*max, (uint32_t)(in->used * 1000000ull / in->cap));
		}
	*mean = cap ? (uint32_t)(used * 1000000 / cap) : 0;
}
