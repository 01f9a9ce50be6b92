/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that are asked to register again with subnet administration (PortInfo.ClientReregister): with each Set of a LID, and
 * of all ports where what they had registered is not known. State: lids.reregister. Sends nothing.
 */
#include "sm/manager.h"

bool sm_port_reregisters(const struct sm_port *p)
{
	return p->pi.cap_mask & IBA_CAP_CLIENT_REREG;
}

void sm_reregister(struct sm *sm, bool on)
{
	sm->lids.reregister = on;
}

void sm_hosts_registered(struct sm *sm)
{
	sm->lids.reregister = false;
}
