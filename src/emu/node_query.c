/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the emulator itself to a node's SMA, through a port of that node. State: asking,
 * answered and answer of struct emu. Way in: emu_ask(). Does not wait: in express mode the response
 * comes at once.
 */
#include "emu/emu_priv.h"

bool emu_ask(struct emu *m, port_id p, unsigned method, unsigned attr, uint32_t mod,
	     uint8_t data[64])
{
	node_id n = m->fab->ports[p].node;
	port_id at = fab_port_id(m->fab, n, clients_port_num(m, p));
	struct sim_smp smp = {.slid = IBA_LID_PERMISSIVE, .dlid = IBA_LID_PERMISSIVE};

	clients_port_open(m, at);
	iba_smp_init(smp.mad, IBA_CLASS_SUBN_DR, (enum iba_method)method, (uint16_t)attr, mod);
	iba_smp_set_tid(smp.mad, EMU_ASK_TID);
	iba_smp_set_m_key(smp.mad, sim_port_info(m->sim, at)->m_key);
	iba_smp_set_dr_slid(smp.mad, IBA_LID_PERMISSIVE);
	iba_smp_set_dr_dlid(smp.mad, IBA_LID_PERMISSIVE);
	memcpy(iba_smp_data(smp.mad), data, IBA_SMP_DATA_SIZE);
	m->asking = true;
	m->answered = false;
	sim_send(m->sim, n, clients_port_num(m, p), &smp);
	emu_settle(m, emu_now(m));
	m->asking = false;
	clients_port_close(m, at);
	if (!m->answered || iba_smp_status(m->answer) & 0x7fff)
		return false;
	memcpy(data, iba_smp_data(m->answer), IBA_SMP_DATA_SIZE);
	return true;
}
