/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps: a notice goes to the master SM's LID, and again after every subnet timeout until a
 * TrapRepress with its transaction id arrives (thesis 4.3.3). State: for each node one slot for
 * each kind of notice. Ways in: trap_link_state(), trap_bad_mkey(), trap_changed(). Does not detect
 * the changes it reports.
 */
#include "sim/device/device_priv.h"

enum { TID_MARK = 0x72 }; /* the highest byte of the transaction ids of traps */

/* The serial number distinguishes events: a TrapRepress for an earlier one must not stop this
 * one. */
static uint64_t trap_tid(const struct trap_slot *t, unsigned slot)
{
	return (uint64_t)t->serial << 8 | slot | (uint64_t)TID_MARK << 56;
}

static void trap_send(struct sim *s, node_id n, unsigned slot)
{
	struct trap_slot *t = &s->nodes[n].trap[slot];
	const struct iba_port_info *pi = &node_port(s, n, sim_is_switch(s, n) ? 0 : t->port)->pi;
	struct sim_smp smp;
	time_ps again =
		MAX(iba_time_from_exp(pi->subnet_timeout), iba_time_from_exp(pi->resp_time));

	/* The M_Key stays 0 (IBA o14-1): a notice must not reveal the key. */
	iba_smp_init(smp.mad, IBA_CLASS_SUBN_LID, IBA_TRAP, IBA_ATTR_NOTICE, 0);
	iba_smp_set_tid(smp.mad, trap_tid(t, slot));
	t->notice.issuer_lid = pi->lid;
	iba_notice_put(&t->notice, iba_smp_data(smp.mad));
	smp.dlid = pi->sm_lid;
	smp.slid = pi->lid;
	smp.sl = pi->sm_sl;
	if (pi->sm_lid && pi->lid) { /* no SM has configured the port yet */
		t->sent++;
		s->dev.stats.traps++;
		smi_inject(s, n, t->port, &smp);
	}
	t->due = s->main.now + again;
	sim_push(&s->main, t->due, PRIO_NET,
		 (struct ev_what){.kind = EV_TRAP, .trap = {n, s->nodes[n].incarnation, slot}});
}

void trap_repeat(struct sim *s, node_id n, unsigned slot)
{
	struct trap_slot *t = &s->nodes[n].trap[slot];

	if (!t->pending || t->due != s->main.now)
		return;
	if (s->cfg.trap_limit && t->sent >= s->cfg.trap_limit) {
		t->pending = false;
		return;
	}
	trap_send(s, n, slot);
}

static void trap_raise(struct sim *s, node_id n, unsigned slot, unsigned port,
		       struct iba_notice notice)
{
	struct trap_slot *t = &s->nodes[n].trap[slot];
	bool was = t->pending;

	t->pending = true;
	t->serial++;
	t->sent = 0;
	t->port = (uint8_t)port;
	t->notice = notice;
	if (!was) /* otherwise the timer runs: at most one trap in each timeout */
		trap_send(s, n, slot);
}

void trap_link_state(struct sim *s, node_id n)
{
	struct iba_notice notice = {.is_generic = 1,
				    .type = IBA_NOTICE_URGENT,
				    .producer_type = IBA_NODE_SWITCH,
				    .trap_number = IBA_TRAP_LINK_STATE};
	struct iba_trap_switch d = {.lid = node_port(s, n, 0)->pi.lid};

	if (!s->cfg.traps || !s->nodes[n].on || !d.lid)
		return;
	iba_trap_switch_put(&d, notice.details);
	trap_raise(s, n, TRAP_SLOT_LINK, 0, notice);
}

void trap_bad_mkey(struct sim *s, node_id n, unsigned port, const struct sim_smp *smp)
{
	const uint8_t *m = smp->mad;
	struct iba_notice notice = {.is_generic = 1,
				    .type = IBA_NOTICE_SECURITY,
				    .producer_type = s->fab->nodes[n].type,
				    .trap_number = IBA_TRAP_BAD_MKEY};
	struct iba_trap_mkey d = {.lid = node_port(s, n, sim_is_switch(s, n) ? 0 : port)->pi.lid,
				  .method = iba_smp_method(m),
				  .attr_id = iba_smp_attr_id(m),
				  .attr_mod = iba_smp_attr_mod(m),
				  .m_key = iba_smp_m_key(m)};

	if (!s->cfg.traps || s->nodes[n].trap[TRAP_SLOT_MKEY].pending)
		return;
	if (iba_smp_is_dr(m)) {
		const uint8_t *path = iba_smp_return_path((uint8_t *)m); /* up to this node */
		unsigned hops = MIN(iba_smp_hop_cnt(m), (unsigned)IBA_MAX_HOPS);

		d.dr_notice = 1;
		d.dr_slid = iba_smp_dr_slid(m);
		d.dr_hop_count = (uint8_t)hops;
		d.dr_path_truncated = hops >= sizeof(d.dr_return_path);
		memcpy(d.dr_return_path, path, sizeof(d.dr_return_path));
	}
	iba_trap_mkey_put(&d, notice.details);
	trap_raise(s, n, TRAP_SLOT_MKEY, port, notice);
}

/* Trap 144: an endport's capabilities or its node's description have changed. */
void trap_changed(struct sim *s, node_id n, unsigned port, bool node_desc)
{
	const struct iba_port_info *pi = &node_port(s, n, port)->pi;
	struct iba_notice notice = {.is_generic = 1,
				    .type = IBA_NOTICE_INFO,
				    .producer_type = s->fab->nodes[n].type,
				    .trap_number = IBA_TRAP_CAP_CHANGE};
	struct iba_trap_cap d = {.lid = pi->lid,
				 .cap_mask = pi->cap_mask,
				 .other_changes = node_desc,
				 .local_changes = node_desc};

	if (!s->cfg.traps || !s->nodes[n].on || !pi->lid)
		return;
	iba_trap_cap_put(&d, notice.details);
	trap_raise(s, n, TRAP_SLOT_CHANGE, port, notice);
}

bool trap_is_ours(const struct sim_smp *smp)
{
	return iba_smp_tid(smp->mad) >> 56 == TID_MARK;
}

bool trap_pending(const struct sim *s, node_id n, const struct sim_smp *smp)
{
	for (unsigned i = 0; i < TRAP_SLOTS; i++) {
		const struct trap_slot *t = &s->nodes[n].trap[i];

		if (t->pending && iba_smp_tid(smp->mad) == trap_tid(t, i))
			return true;
	}
	return false;
}

void trap_repress(struct sim *s, node_id n, const struct sim_smp *smp)
{
	for (unsigned i = 0; i < TRAP_SLOTS; i++) {
		struct trap_slot *t = &s->nodes[n].trap[i];

		if (t->pending && iba_smp_tid(smp->mad) == trap_tid(t, i))
			t->pending = false;
	}
}
