/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIDs in a mirror: those of hosts that are off or unplugged, of their VFs and of VMs there, so that a standby that takes
 * over gives them to no other port. Keeps no state; ways in: sm_save_absent(), sm_load_absent(), sm_saved_restore_lids().
 * Format: their number, then GUID, LID and LMC of each. There are no more of them than LIDs. Does not read devices: what
 * these hold counts for more.
 */
#include "sm/restore/saved_state.h"

/* LIDs that the snapshot has: records of nodes say whose they are. */
static void mark_present(const struct fab *f, bool *present)
{
	for (port_id p = 0; p < f->nports; p++)
		for (uint32_t i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			present[f->ports[p].lid + i] = true;
	for (uint32_t i = 0; i < f->nvlids; i++)
		present[f->vlids[i].lid] = true;
}

bool sm_save_absent(const struct sm *sm, struct sm_bytes *s)
{
	const struct sm_lids *l = &sm->lids;
	bool *present = mem_zarray(IBA_LID_MAX_UNICAST + 1 + (1 << 7), sizeof(*present));
	uint32_t n = 0;

	mark_present(sm->topo.fab, present);
	for (size_t i = 0; i < l->list.n; i++)
		n += l->list.at[i].lid && !present[l->list.at[i].lid];
	if (n)
		sm_bytes_put_n(s, n, 4);
	for (size_t i = 0; n && i < l->list.n; i++) {
		const struct sm_lid *x = &l->list.at[i];

		if (!x->lid || present[x->lid])
			continue;
		sm_bytes_put_n(s, x->guid, 8);
		sm_bytes_put_n(s, x->lid, 2);
		sm_bytes_put_n(s, x->lmc, 1);
	}
	free(present);
	return n;
}

void sm_load_absent(struct sm_source *s, struct sm_saved *m)
{
	for (uint64_t n = sm_source_take_n(s, 4); n && !s->bad; n--) {
		struct sm_saved_lid x = {.guid = sm_source_take_n(s, 8)};

		x.lid = (uint16_t)sm_source_take_n(s, 2);
		x.lmc = (uint8_t)sm_source_take_n(s, 1);
		s->bad |= !x.guid || !x.lid || x.lid > IBA_LID_MAX_UNICAST || x.lmc > 7;
		if (!s->bad)
			vec_push(&m->absent, x);
	}
}

/*
 * A port that does not respond at first, or went together with the master, keeps its LID as well. Whether the LID that this
 * manager itself gave still counts is judged when every port was met (addresses/lid_assignment.c).
 */
static void restore_port(struct sm *sm, const struct sm_saved_port *p)
{
	struct iba_port_info pi;

	if (!p->guid || !p->pi)
		return;
	iba_port_info_get(&pi, p->pi, IBA_SMP_DATA_SIZE);
	if (pi.lid && !(sm_lid_is_given(sm, p->guid) && sm_lid_of(sm, p->guid, NULL)))
		sm_lid_recall(sm, p->guid, pi.lid, pi.lmc);
}

void sm_saved_restore_lids(struct sm *sm, const struct sm_saved *m)
{
	for (size_t i = 0; i < m->absent.n; i++)
		sm_lid_recall(sm, m->absent.at[i].guid, m->absent.at[i].lid, m->absent.at[i].lmc);
	for (size_t i = 0; i < m->ports.n; i++)
		restore_port(sm, &m->ports.at[i]);
}
