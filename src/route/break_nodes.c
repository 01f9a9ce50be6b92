/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Break nodes: the turns that the directions of the links forbid (thesis 7.1.1). Keeps no state; the
 * way in is rt_forbidden_turns(). Disables no turn.
 */
#include "route/route.h"

static unsigned up_ports(const struct fab *f, const uint64_t *rank, uint32_t s, uint8_t *up)
{
	node_id n = f->switches[s];
	unsigned nup = 0;

	for (unsigned p = 1; p <= f->nodes[n].nports; p++) {
		port_id peer = f->ports[fab_port_id(f, n, p)].peer;
		uint32_t v = peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];

		if (v != FAB_NONE && rank[v] < rank[s])
			up[nup++] = (uint8_t)p;
	}
	return nup;
}

/* Of two parallel links to one switch, down the one and up the other is a forbidden turn as
 * well. */
void rt_forbidden_turns(const struct fab *f, const uint64_t *rank, rt_turns *out)
{
	uint8_t up[256];

	for (uint32_t s = 0; s < f->nswitches; s++) {
		unsigned nup = up_ports(f, rank, s, up);

		for (unsigned i = 0; i < nup; i++)
			for (unsigned o = 0; o < nup; o++)
				if (i != o)
					vec_push(out, (struct rt_turn){s, up[i], up[o]});
	}
}
