/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs in virtual machines: each belongs to the GUID of its VF, and goes with it to another one. State: vguid
 * of struct emu_client. Way in: machines_watch(), then the simulation calls. Does not move any GUID: a manager or
 * the command vm does, by VFInfo.
 */
#include "emu/emu_priv.h"
#include "sim/device/sim_device.h"

static void follow(struct emu *m, uint32_t c, port_id p, uint64_t guid)
{
	struct emu_client *cl = &m->clients[c];

	if (cl->vguid == guid && cl->port != p)
		clients_move(m, c, p);
	else if (cl->port == p && cl->vguid == sim_function_guid(m->sim, m->fab->ports[p].node))
		cl->vguid = guid; /* it was there before the machine */
}

static void changed(void *ctx, node_id n, enum sim_change what)
{
	struct emu *m = ctx;
	port_id p = fab_port_id(m->fab, n, 1);
	uint64_t guid;

	if (what != SIM_CHANGED_PORT || !(m->fab->nodes[n].flags & FAB_FUNCTION) ||
	    !sim_port_info(m->sim, p)->lid)
		return;
	guid = clients_machine(m, p);
	for (uint32_t c = 0; guid && c < m->cfg.clients; c++)
		if (m->clients[c].used && m->clients[c].vguid)
			follow(m, c, p, guid);
}

void machines_watch(struct emu *m)
{
	sim_watch_changes(m->sim, (struct sim_change_watch){changed, m});
}
