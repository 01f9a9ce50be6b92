/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What VFs hold, as far as devices told: answers to VFInfo and GUIDInfo, and Sets that were not acknowledged. State:
 * has_lid and has_guid of slots. Does not send anything.
 */
#include "sm/manager.h"

bool sm_is_vf_attr(unsigned attr_id)
{
	return attr_id == IBA_ATTR_VF_INFO || attr_id == IBA_ATTR_GUID_INFO;
}

/*
 * A VF that holds nothing although it was set, and was not cleared: the HCA has restarted, and the last round set its port before
 * that was noticed. Its P_Keys are gone as well.
 */
static bool shows_restart(const struct sm_slot *s, struct sm_vf v)
{
	return (s->has_lid && !v.lid) || (s->has_guid && !v.guid);
}

static void slot_learn(struct sm *sm, uint32_t host, unsigned slot, struct sm_vf v)
{
	if (v.guid == sm_slot_own_guid(sm, host, slot))
		v.guid = 0;
	sm_slot_has(sm, sm_slot_of(sm, host, slot), v);
}

/* Of an answer from saved state there is no request. */
static uint32_t modifier_of(const struct sm_txn *t)
{
	return t->method == IBA_GET ? t->target.item : iba_smp_attr_mod(t->send.mad);
}

/* Slots that a request is about, one after another from *slot on; false: no more. */
static bool slot_next(const struct sm_vhost *h, const struct sm_txn *t, unsigned *slot)
{
	uint32_t mod = modifier_of(t), first = mod, n = IBA_VF_SLOTS;
	struct iba_vf_info vi;

	if (h->sriov == FAB_SRIOV_SHARED) {
		first = mod * SM_GUIDS;
		n = SM_GUIDS;
	} else if (t->method == IBA_SET) {
		iba_vf_info_get(&vi, iba_smp_data_const(t->send.mad), IBA_SMP_DATA_SIZE);
		n = vi.count;
	}
	*slot = MAX(MAX(*slot + 1, first), 1u);
	return *slot < first + n && *slot <= h->vfs;
}

static uint32_t host_of(const struct sm *sm, const struct sm_txn *t)
{
	return sm_vhost_find(sm, sm->topo.nodes.at[t->target.node].guid);
}

static void note_set(struct sm *sm, struct sm_slot *s)
{
	s->again = s->set_at && sm->core.now < s->set_at + sm->virtual.copies_ps;
	s->set_at = sm->core.now;
}

void sm_vf_learn(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	uint32_t host = host_of(sm, t), mod = modifier_of(t);
	bool copies = t->method == IBA_SET && (t->tries > 1 || sm->audit.doubling);
	struct iba_guid_info gi;
	struct iba_vf_info vi;

	if (host == NONE)
		return;
	iba_guid_info_get(&gi, data, IBA_SMP_DATA_SIZE);
	iba_vf_info_get(&vi, data, IBA_SMP_DATA_SIZE);
	for (unsigned s = 0; slot_next(&sm->virtual.hosts.at[host], t, &s);) {
		struct sm_vf v = {.guid = gi.guid[s % SM_GUIDS]};

		if (sm->virtual.hosts.at[host].sriov != FAB_SRIOV_SHARED)
			v = (struct sm_vf){vi.lid[s - mod], vi.guid[s - mod]};
		if (t->method == IBA_GET && shows_restart(sm_slot_of(sm, host, s), v))
			sm_pkeys_unknown(sm, t->target.node);
		slot_learn(sm, host, s, v);
		if (t->method == IBA_SET)
			note_set(sm, sm_slot_of(sm, host, s));
		if (copies)
			sm_slot_of(sm, host, s)->quiet_at = sm->core.now + sm->virtual.copies_ps;
	}
}

void sm_vf_unacknowledged(struct sm *sm, const struct sm_txn *t)
{
	uint32_t host = host_of(sm, t);

	if (host == NONE)
		return;
	for (unsigned s = 0; slot_next(&sm->virtual.hosts.at[host], t, &s);) {
		sm_slot_of(sm, host, s)->known = false;
		sm_slot_of(sm, host, s)->quiet_at = sm->core.now + sm->virtual.copies_ps;
	}
}

void sm_vf_stray(struct sm *sm, const struct sm_written *w)
{
	uint32_t host = sm_is_vf_attr(w->attr_id) ? sm_vhost_find(sm, w->guid) : NONE;

	if (host == NONE)
		return;
	for (unsigned s = 0; s < sm->virtual.hosts.at[host].vfs; s++) {
		struct sm_slot *x = &sm->virtual.hosts.at[host].slots[s];

		if (!x->again || sm->core.now >= x->set_at + sm->virtual.copies_ps)
			continue;
		x->known = false;
		sm->virtual.stray = true;
	}
}
