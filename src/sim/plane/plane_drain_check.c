/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the network is drained: no packet in flight or in a buffer, all credits returned. State:
 * none. Way in: sim_plane_drained(). Does not wait: run the simulation first.
 */
#include "sim/plane/plane_priv.h"

static bool wrong(char *why, size_t size, const char *fmt, ...) PRINTF(3, 4);

static bool wrong(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return false;
}

static bool channel_rests(const struct sim *s, port_id p, unsigned vl, char *why, size_t size)
{
	const struct plane *pl = s->plane;
	const struct in_chan *in = &pl->in[chan_of(pl, p, vl)];
	const struct out_chan *out = &pl->out[chan_of(pl, p, vl)];
	port_id far = s->ports[p].peer;
	unsigned credit = ((unsigned)out->fccl - out->fctbs) & 0xfff, room;

	if (in->used || out->used || in->head != CELL_NONE || out->head != CELL_NONE)
		return wrong(why, size,
			     "port %u of %016llx, VL %u: %u and %u blocks left in its buffers",
			     s->fab->ports[p].num,
			     (unsigned long long)s->fab->nodes[s->fab->ports[p].node].guid, vl,
			     in->used, out->used);
	if (far == FAB_NONE || s->ports[p].pi.state == IBA_PORT_DOWN)
		return true;
	room = pl->in[chan_of(pl, far, vl)].cap;
	if (credit != room)
		return wrong(
			why, size,
			"port %u of %016llx, VL %u: credit for %u blocks, the far buffer has %u",
			s->fab->ports[p].num,
			(unsigned long long)s->fab->nodes[s->fab->ports[p].node].guid, vl, credit,
			room);
	return true;
}

bool sim_plane_drained(const struct sim *s, char *why, size_t size)
{
	const struct plane *pl = s->plane;

	if (s->main.own.stats.in_flight)
		return wrong(why, size, "%llu packets still in flight",
			     (unsigned long long)s->main.own.stats.in_flight);
	for (port_id p = 0; p < s->fab->nports; p++)
		for (unsigned vl = 0; vl < pl->nvl && s->fab->ports[p].num; vl++)
			if (!channel_rests(s, p, vl, why, size))
				return false;
	return true;
}
