/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What migrations do to packets: those lost, the time in which a VM cannot be reached, and the time in which two others
 * have no route. State: counters of the result, cut of each migration. Ways in: migrate_measure_begin() and _end().
 * Does not ask the manager.
 *
 * A VM behind a vSwitch can be reached while a VF has its GUID and is Active: tables lead there by then. Senders go on
 * sending to its LID. A VM on a shared port gets another LID: it can be reached again when others know that one, a given
 * time after the manager has answered; until then they send to the host where it was, which discards their packets.
 */
#include "lab/migrate_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

/* Least time between two scans: with a thousand VMs each takes longer than what is simulated between two changes. */
#define SCAN_GAP (200 * PS_PER_US)

static bool is_shared(const struct migrate_run *x, node_id host)
{
	return x->p->fab->nodes[host].sriov == FAB_SRIOV_SHARED;
}

/* ---- connectivity of VMs ---- */

static bool runs_at(const struct migrate_run *x, node_id host, uint64_t guid)
{
	const struct fab *w = x->l->fab;

	if (is_shared(x, host))
		return sim_port_has_alias(x->l->sim, fab_port_id(w, host, 1), guid);
	for (unsigned s = 1; s <= x->p->fab->nodes[host].vfs; s++) {
		port_id vf = w->ports[fab_port_id(w, host, FAB_SLOT0_PORT + s)].peer;
		const struct iba_port_info *pi = sim_port_info(x->l->sim, vf);

		if (pi->lid && pi->state == IBA_PORT_ACTIVE && sim_port_guid(x->l->sim, vf) == guid)
			return true;
	}
	return false;
}

static void reached_again(struct migrate_run *x, struct lab_migration *m)
{
	if (m->cut_from)
		m->cut += sim_now(x->l->sim) - m->cut_from;
	m->cut_from = 0;
}

static void look(struct migrate_run *x, struct lab_migration *m)
{
	bool there = runs_at(x, m->from.host, m->guid) || runs_at(x, m->to.host, m->guid);

	if (!there && !m->cut_from)
		m->cut_from = sim_now(x->l->sim);
	else if (there && !is_shared(x, m->to.host))
		reached_again(x, m);
}

/* VFInfo and GUIDInfo change at the HCA. */
static void on_change(void *ctx, node_id n, enum sim_change what UNUSED)
{
	struct migrate_run *x = ctx;

	if (n >= x->p->fab->nnodes || !x->p->fab->nodes[n].sriov)
		return;
	for (size_t i = x->first; i < x->r->all.n; i++)
		if (x->r->all.at[i].from.host == n || x->r->all.at[i].to.host == n)
			look(x, &x->r->all.at[i]);
}

static void on_told(void *ctx, uint64_t migration)
{
	struct migrate_run *x = ctx;
	struct lab_migration *m = &x->r->all.at[migration];

	if (x->p->traffic)
		sim_machine_told(x->l->sim, m->guid);
	reached_again(x, m);
}

void migrate_answered(struct migrate_run *x, size_t migration)
{
	if (is_shared(x, x->r->all.at[migration].to.host))
		sim_call(x->l->sim, sim_now(x->l->sim) + x->p->inform, on_told, x, migration);
}

/* ---- packets ---- */

/* At a shared port a packet for a machine that is not there has the LID of the host. */
static bool is_of_migration(const struct migrate_run *x, enum sim_discard why, uint16_t slid,
			    uint16_t dlid)
{
	return x->moving[slid] || x->moving[dlid] || why == SIM_DISCARD_WRONG_HOST;
}

static void on_discard(void *ctx, node_id n UNUSED, unsigned port UNUSED, enum sim_discard why,
		       uint16_t slid, uint16_t dlid)
{
	struct migrate_run *x = ctx;

	if (!x->counting)
		return;
	x->r->lost++;
	if (is_of_migration(x, why, slid, dlid))
		x->r->lost_vms++;
	else
		x->r->lost_others++;
}

/* PF and VMs of a host share what it offers; on the average all hosts have as many VMs. */
static int traffic_start(struct migrate_run *x, struct err *e)
{
	struct traffic_config t = *x->p->traffic;
	uint32_t hosts = MAX(x->p->fab->nhosts, 1u);

	t.start_ps = sim_now(x->l->sim);
	t.stop_ps = TIME_NEVER / 2;
	t.machines = true;
	t.interval_ps = t.interval_ps * (hosts + x->vms.n) / hosts;
	if (sim_traffic(x->l->sim, &t, e))
		return -EINVAL;
	sim_watch_discards(x->l->sim, (struct sim_discard_watch){on_discard, x});
	lab_run_to(x->l, sim_now(x->l->sim) + x->p->warmup);
	x->r->sent = sim_plane_stats(x->l->sim)->generated;
	return 0;
}

int migrate_measure_begin(struct migrate_run *x, struct err *e)
{
	if (!x->p->traffic) {
		sim_watch_changes(x->l->sim, (struct sim_change_watch){on_change, x});
		return 0;
	}
	if (traffic_start(x, e))
		return -EINVAL;
	lab_watch_start(&x->watch, x->l);
	lab_scan_machines(x->watch.scan);
	x->watch.gap = SCAN_GAP;
	x->watch.also = on_change;
	x->watch.also_ctx = x;
	x->counting = true;
	return 0;
}

void migrate_measure_end(struct migrate_run *x)
{
	lab_run_to(x->l, sim_now(x->l->sim) + MAX(x->p->inform, x->p->traffic ? x->p->tail : 0));
	if (x->p->traffic) {
		x->counting = false;
		x->r->sent = sim_plane_stats(x->l->sim)->generated - x->r->sent;
		lab_watch_stop(&x->watch);
		x->r->cut_others = x->watch.below;
	}
	for (size_t i = 0; i < x->r->all.n; i++)
		reached_again(x, &x->r->all.at[i]);
	sim_watch_changes(x->l->sim, (struct sim_change_watch){0});
}
