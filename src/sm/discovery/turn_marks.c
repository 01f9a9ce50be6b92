/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks of switches whose turns are disabled, as switches show them: a bit in SubnetTimeOut of port 0. No state. Sets
 * nothing: takeover.c makes the requests.
 */
#include "sm/manager.h"

static unsigned plain_bit(const struct sm *sm)
{
	return sm->cfg.subnet_timeout & 1;
}

/* Port 0 of a switch. */
bool sm_is_marked(const struct sm *sm, const struct sm_port *p)
{
	return (p->pi.subnet_timeout & 1) != plain_bit(sm);
}
