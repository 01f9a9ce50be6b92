/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes in the verdict on a subnet: SL-to-VL tables of devices and service levels of hosts. Keeps no state. Ways in:
 * lab_lanes_same(), lab_lanes_read(). Does not trust the manager.
 */
#include "lab/host_sls.h"
#include "lab/lab_priv.h"
#include "lab/verdict_priv.h"
#include "sim/plane/sim_plane.h"

static bool is_linked(const struct fab *f, node_id n, unsigned port)
{
	return f->ports[fab_port_id(f, n, port)].peer != FAB_NONE;
}

static bool to_switch(const struct fab *f, node_id n, unsigned port)
{
	return is_linked(f, n, port) &&
	       fab_is_switch(f, f->ports[f->ports[fab_port_id(f, n, port)].peer].node);
}

static bool same_maps(const struct lab *l, const struct fab *f, const struct rt_tables *t,
		      uint32_t sw, char why[LAB_WHY])
{
	node_id n = f->switches[sw], device = fab_node_by_guid(l->fab, f->nodes[n].guid);

	for (unsigned in = 0; in <= f->nodes[n].nports; in++)
		for (unsigned out = 1; out <= f->nodes[n].nports; out++)
			for (unsigned sl = 0;
			     sl < RT_SLS && to_switch(f, n, out) && (!in || is_linked(f, n, in));
			     sl++) {
				unsigned is = sim_slvl(l->sim, device, in, out, sl),
					 known = rt_vl(t, sw, in, out, sl);

				if (is == known)
					continue;
				lab_fail(why,
					 "%016llx maps SL %u from port %u to port %u to VL %u: the "
					 "manager believes VL %u",
					 (unsigned long long)f->nodes[n].guid, sl, in, out, is,
					 known);
				return false;
			}
	return true;
}

/* Ports of hosts that send through one port of a switch, by the manager's snapshot; FAB_NONE: none. */
static port_id host_behind(const struct lab *l, const struct fab *f, node_id sw, unsigned in)
{
	port_id peer = in ? f->ports[fab_port_id(f, sw, in)].peer : FAB_NONE;
	node_id n;

	if (peer == FAB_NONE || fab_is_switch(f, f->ports[peer].node))
		return FAB_NONE;
	n = fab_node_by_guid(l->fab, f->nodes[f->ports[peer].node].guid);
	return n == FAB_NONE || fab_is_switch(l->fab, n)
		       ? FAB_NONE
		       : fab_port_id(l->fab, n, f->ports[peer].num);
}

static bool same_sls(const struct lab *l, const struct fab *f, const struct rt_tables *t,
		     uint32_t sw, char why[LAB_WHY])
{
	node_id n = f->switches[sw];

	for (unsigned in = 1; in <= f->nodes[n].nports; in++) {
		port_id host = host_behind(l, f, n, in);

		for (uint32_t lid = 1; host != FAB_NONE && lid <= t->top_lid; lid++)
			if (lab_host_sl(l, host, (uint16_t)lid) != rt_sl(t, sw, in, lid)) {
				lab_fail(why,
					 "the host at port %u of %016llx uses SL %u to LID %u: the "
					 "manager believes SL %u",
					 in, (unsigned long long)f->nodes[n].guid,
					 lab_host_sl(l, host, (uint16_t)lid), lid,
					 rt_sl(t, sw, in, lid));
				return false;
			}
	}
	return true;
}

bool lab_lanes_same(const struct lab *l, const struct fab *known, const struct rt_tables *t,
		    char why[LAB_WHY])
{
	for (uint32_t sw = 0; t->lanes && sw < known->nswitches; sw++)
		if (!same_maps(l, known, t, sw, why) || !same_sls(l, known, t, sw, why))
			return false;
	return true;
}

static void switch_read(const struct lab *l, const struct fab *f, struct rt_tables *t, uint32_t sw,
			uint32_t *row)
{
	node_id n = f->switches[sw], device = fab_node_by_guid(l->fab, f->nodes[n].guid);

	for (unsigned in = 0; in <= f->nodes[n].nports; in++) {
		port_id host = host_behind(l, f, n, in);

		for (unsigned out = 1; out <= f->nodes[n].nports; out++) {
			struct rt_sl2vl m;

			for (unsigned sl = 0; sl < RT_SLS; sl++)
				m.vl[sl] = (uint8_t)sim_slvl(l->sim, device, in, out, sl);
			if (is_linked(f, n, out) && (!in || is_linked(f, n, in)))
				rt_sl2vl_use(t, sw, in, out, rt_sl2vl_map(t, &m));
		}
		if (host == FAB_NONE)
			continue;
		for (uint32_t lid = 1; lid <= t->top_lid; lid++)
			rt_sl_row(t, *row)[lid] = (uint8_t)lab_host_sl(l, host, (uint16_t)lid);
		rt_sl_row_use(t, sw, in, (*row)++);
	}
}

void lab_lanes_read(const struct lab *l, const struct fab *f, struct rt_tables *t)
{
	uint32_t row = 1; /* row 0: switches send with SL 0 */
	uint32_t hosts = 0;

	if (!l->sls)
		return;
	for (port_id p = 0; p < f->nports; p++)
		hosts += !fab_is_switch(f, f->ports[p].node);
	rt_lanes_add(t, f, iba_vl_count(l->cfg.sim.vl_cap), 1 + hosts);
	for (uint32_t sw = 0; sw < f->nswitches; sw++)
		switch_read(l, f, t, sw, &row);
}
