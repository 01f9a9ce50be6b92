/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the events of a schedule do to a running lab. State: struct run_faults. Way in: run_fault(), run_heal(). Does
 * not check anything: invariants.c does.
 */
#include "base/rng.h"
#include "trial/run_priv.h"

static uint64_t q32(uint64_t millionths)
{
	return (millionths << 32) / 1000000;
}

static port_id port_of(const struct run *r, const struct schedule_port *p)
{
	node_id n = fab_node_by_guid(r->fab, p->guid);

	if (n == FAB_NONE || p->port > r->fab->nodes[n].nports)
		return FAB_NONE;
	return fab_port_id(r->fab, n, p->port);
}

static node_id node_of(const struct run *r, const struct schedule_event *ev)
{
	return fab_node_by_guid(r->fab, ev->port.guid);
}

/* ---- managers ---- */

static void crash(struct run *r, unsigned i)
{
	const uint8_t *bytes;
	size_t len;

	run_see_pairs(r, i);
	lab_manager_stop(r->lab, i);
	bytes = lab_manager_memory(r->lab, i, &len);
	if (!bytes || r->faults.old[i])
		return;
	r->faults.old[i] = mem_alloc(len);
	memcpy(r->faults.old[i], bytes, len);
	r->faults.old_len[i] = len;
}

static void start_with(struct run *r, unsigned i, enum schedule_knows knows)
{
	const uint8_t *bytes;
	struct err e;
	size_t len;

	switch (knows) {
	case SCHEDULE_NOTHING:
	case SCHEDULE_LIDS:
		lab_manager_start(r->lab, i, knows == SCHEDULE_LIDS);
		return;
	case SCHEDULE_STATE:
		lab_manager_resume(r->lab, i);
		return;
	case SCHEDULE_OLD_STATE:
		if (r->faults.old[i])
			lab_manager_resume_with(r->lab, i, r->faults.old[i], r->faults.old_len[i],
						&e);
		else
			lab_manager_start(r->lab, i, true);
		return;
	case SCHEDULE_TORN_STATE:
		bytes = lab_manager_memory(r->lab, i, &len);
		lab_manager_resume_with(r->lab, i, bytes, bytes ? len / 2 : 0, &e);
		return;
	}
}

static void restart(struct run *r, unsigned i, enum schedule_knows knows)
{
	if (!lab_manager_sm(r->lab, i) && sim_node_on(r->sim, lab_manager_node(r->lab, i)))
		start_with(r, i, knows);
}

/* ---- cables and power ---- */

static void unlink(struct run *r, port_id p)
{
	if (p != FAB_NONE)
		sim_uncable(r->sim, p);
}

static void relink(struct run *r, port_id p)
{
	port_id far = p == FAB_NONE ? FAB_NONE : r->fab->ports[p].peer;

	if (far != FAB_NONE && far != p && sim_port_peer(r->sim, p) == FAB_NONE &&
	    sim_port_peer(r->sim, far) == FAB_NONE)
		sim_cable(r->sim, p, far);
}

static void move(struct run *r, unsigned i, port_id to)
{
	port_id p = lab_manager_port(r->lab, i);

	if (to == FAB_NONE || !r->fab->ports[p].num || to == p ||
	    sim_port_peer(r->sim, to) != FAB_NONE)
		return;
	sim_uncable(r->sim, p);
	sim_cable(r->sim, p, to);
}

static void power(struct run *r, node_id n, bool on)
{
	if (n == FAB_NONE || sim_node_on(r->sim, n) == on)
		return;
	for (unsigned i = 0; !on && i < lab_managers(r->lab); i++)
		if (lab_manager_node(r->lab, i) == n)
			crash(r, i);
	sim_node_power(r->sim, n, on);
	for (unsigned i = 0; on && i < lab_managers(r->lab); i++)
		if (lab_manager_node(r->lab, i) == n)
			restart(r, i, SCHEDULE_LIDS);
}

static void on_again(void *ctx, uint64_t cookie)
{
	struct run *r = ctx;

	power(r, (node_id)cookie, true);
	run_forgive(r);
}

static void cut(struct run *r, const struct schedule_event *ev)
{
	bool *inside = mem_zarray(r->fab->nnodes, sizeof(*inside));

	for (size_t i = 0; i < ev->nodes.n; i++) {
		node_id n = fab_node_by_guid(r->fab, ev->nodes.at[i]);

		if (n != FAB_NONE)
			inside[n] = true;
	}
	for (port_id p = 0; p < r->fab->nports; p++) {
		port_id q = sim_port_peer(r->sim, p);

		if (q == FAB_NONE || !inside[r->fab->ports[p].node] ||
		    inside[r->fab->ports[q].node])
			continue;
		sim_uncable(r->sim, p);
		vec_push(&r->faults.cut, (struct run_link){p, q});
	}
	free(inside);
}

static void join(struct run *r)
{
	for (size_t i = 0; i < r->faults.cut.n; i++) {
		struct run_link l = r->faults.cut.at[i];

		if (sim_port_peer(r->sim, l.a) == FAB_NONE &&
		    sim_port_peer(r->sim, l.b) == FAB_NONE)
			sim_cable(r->sim, l.a, l.b);
	}
	r->faults.cut.n = 0;
}

/* ---- the wire ---- */

static void loss(struct run *r, const struct schedule_event *ev)
{
	port_id p = port_of(r, &ev->port);
	struct sim_link_fault t;

	if (!ev->port.guid) {
		r->faults.smps.loss_q32 = q32(ev->share);
		sim_set_faults(r->sim, &r->faults.smps);
		return;
	}
	if (p == FAB_NONE)
		return;
	sim_get_link_fault(r->sim, p, &t);
	t.loss_q32 = q32(ev->share);
	sim_set_link_fault(r->sim, p, &t);
	r->faults.slow = true;
}

static void latency(struct run *r, const struct schedule_event *ev)
{
	port_id p = port_of(r, &ev->port);
	struct sim_link_fault t;

	if (p == FAB_NONE)
		return;
	sim_get_link_fault(r->sim, p, &t);
	t.latency_ps = ev->time;
	sim_set_link_fault(r->sim, p, &t);
	r->faults.slow = true;
}

static void wire(struct run *r, uint64_t *share, const struct schedule_event *ev)
{
	*share = q32(ev->share);
	r->faults.smps.delay_max_ps = 2 * PS_PER_MS;
	sim_set_faults(r->sim, &r->faults.smps);
}

/* ---- lies ---- */

/* A few bits of what was asked for are wrong. Responses to Sets are true: they show what was stored. */
static void on_response(void *ctx, node_id n, uint8_t *mad)
{
	struct run *r = ctx;
	uint8_t *data = iba_smp_data(mad);

	if (!r->faults.lie_q32[n] || iba_smp_method(mad) != IBA_GET ||
	    !rng_chance(&r->faults.rng, r->faults.lie_q32[n]))
		return;
	for (unsigned k = 1 + rng_below(&r->faults.rng, 3); k; k--)
		data[rng_below(&r->faults.rng, IBA_SMP_DATA_SIZE)] ^=
			(uint8_t)(1u << rng_below(&r->faults.rng, 8));
}

static void lie(struct run *r, node_id n, uint64_t share)
{
	if (n == FAB_NONE)
		return;
	if (!r->faults.lie_q32) {
		r->faults.lie_q32 = mem_zarray(r->fab->nnodes, sizeof(*r->faults.lie_q32));
		rng_seed(&r->faults.rng, r->s->seed, 31);
		sim_set_tamper(r->sim, (struct sim_tamper){on_response, r});
	}
	r->faults.lied |= share > 0;
	r->faults.lie_q32[n] = q32(share);
}

/* ---- events ---- */

static void on_crash(struct run *r, const struct schedule_event *ev)
{
	crash(r, ev->manager);
}

static void on_restart(struct run *r, const struct schedule_event *ev)
{
	restart(r, ev->manager, ev->knows);
}

static void on_pause(struct run *r, const struct schedule_event *ev)
{
	lab_manager_pause(r->lab, ev->manager);
}

static void on_continue(struct run *r, const struct schedule_event *ev)
{
	lab_manager_continue(r->lab, ev->manager);
}

static void on_user_order(struct run *r, const struct schedule_event *ev)
{
	lab_manager_order(r->lab, ev->manager,
			  ev->kind == SCHEDULE_RESYNC ? SM_EV_RESYNC : SM_EV_HANDOVER, 0);
}

static void on_order(struct run *r, const struct schedule_event *ev)
{
	run_order(r, ev->manager, ev->order);
}

/* Of the manager's port; the port of a manager on a switch has no cable. */
static void on_cable(struct run *r, const struct schedule_event *ev)
{
	port_id p = lab_manager_port(r->lab, ev->manager);

	if (ev->kind == SCHEDULE_PLUG)
		relink(r, p);
	else if (ev->kind == SCHEDULE_MOVE)
		move(r, ev->manager, port_of(r, &ev->port));
	else if (r->fab->ports[p].num)
		unlink(r, p);
}

static void on_power(struct run *r, const struct schedule_event *ev)
{
	power(r, node_of(r, ev), ev->kind == SCHEDULE_ON);
}

static void on_reboot(struct run *r, const struct schedule_event *ev)
{
	node_id n = node_of(r, ev);

	if (n == FAB_NONE || !sim_node_on(r->sim, n))
		return;
	power(r, n, false);
	sim_call(r->sim, sim_now(r->sim) + ev->time, on_again, r, n);
}

static void on_link(struct run *r, const struct schedule_event *ev)
{
	if (ev->kind == SCHEDULE_RELINK)
		relink(r, port_of(r, &ev->port));
	else
		unlink(r, port_of(r, &ev->port));
}

static void on_join(struct run *r, const struct schedule_event *ev)
{
	(void)ev;
	join(r);
}

static void on_delay(struct run *r, const struct schedule_event *ev)
{
	wire(r, &r->faults.smps.delay_q32, ev);
}

static void on_dup(struct run *r, const struct schedule_event *ev)
{
	wire(r, &r->faults.smps.dup_q32, ev);
}

static void on_rogue(struct run *r, const struct schedule_event *ev)
{
	run_rogue_toggle(r, node_of(r, ev));
}

static void on_lie(struct run *r, const struct schedule_event *ev)
{
	lie(r, node_of(r, ev), ev->share);
}

static void on_new_cable(struct run *r, const struct schedule_event *ev)
{
	port_id a = port_of(r, &ev->port), b = port_of(r, &ev->far);

	if (a != FAB_NONE && b != FAB_NONE && a != b && sim_port_peer(r->sim, a) == FAB_NONE &&
	    sim_port_peer(r->sim, b) == FAB_NONE)
		sim_cable(r->sim, a, b);
}

static void on_add(struct run *r, const struct schedule_event *ev)
{
	power(r, node_of(r, ev), true);
}

static void on_seat(struct run *r, const struct schedule_event *ev)
{
	node_id n = node_of(r, ev);

	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (n == FAB_NONE || lab_manager_node(r->lab, i) == n)
			return;
	if (lab_manager_sm(r->lab, ev->manager))
		crash(r, ev->manager);
	lab_manager_seat(r->lab, ev->manager, n);
	restart(r, ev->manager, SCHEDULE_LIDS);
}

void run_fault(struct run *r, const struct schedule_event *ev)
{
	static void (*const apply[SCHEDULE_NKINDS])(struct run *, const struct schedule_event *) = {
		[SCHEDULE_CRASH] = on_crash,
		[SCHEDULE_RESTART] = on_restart,
		[SCHEDULE_PAUSE] = on_pause,
		[SCHEDULE_CONTINUE] = on_continue,
		[SCHEDULE_HANDOVER] = on_user_order,
		[SCHEDULE_RESYNC] = on_user_order,
		[SCHEDULE_ORDER] = on_order,
		[SCHEDULE_PULL] = on_cable,
		[SCHEDULE_PLUG] = on_cable,
		[SCHEDULE_MOVE] = on_cable,
		[SCHEDULE_OFF] = on_power,
		[SCHEDULE_ON] = on_power,
		[SCHEDULE_REBOOT] = on_reboot,
		[SCHEDULE_UNLINK] = on_link,
		[SCHEDULE_RELINK] = on_link,
		[SCHEDULE_CUT] = cut,
		[SCHEDULE_JOIN] = on_join,
		[SCHEDULE_LOSS] = loss,
		[SCHEDULE_LATENCY] = latency,
		[SCHEDULE_DELAY] = on_delay,
		[SCHEDULE_DUP] = on_dup,
		[SCHEDULE_ROGUE] = on_rogue,
		[SCHEDULE_LIE] = on_lie,
		[SCHEDULE_ADD] = on_add,
		[SCHEDULE_LINK] = on_new_cable,
		[SCHEDULE_SEAT] = on_seat,
	};

	apply[ev->kind](r, ev);
}

static void heal_wire(struct run *r)
{
	struct sim_link_fault none = {0};

	r->faults.smps = (struct sim_faults){0};
	sim_set_faults(r->sim, &r->faults.smps);
	for (port_id p = 0; r->faults.slow && p < r->fab->nports; p++)
		sim_set_link_fault(r->sim, p, &none);
	r->faults.slow = false;
	sim_set_tamper(r->sim, (struct sim_tamper){0});
}

void run_enable(struct run *r)
{
	for (unsigned i = 0; i < lab_managers(r->lab); i++)
		if (lab_manager_sm(r->lab, i) &&
		    lab_manager_status(r->lab, i)->state == IBA_SM_NOT_ACTIVE) {
			crash(r, i);
			restart(r, i, SCHEDULE_LIDS);
		}
}

void run_heal(struct run *r)
{
	unsigned running = 0;

	heal_wire(r);
	run_rogue_end(r);
	run_enable(r);
	for (unsigned i = 0; i < lab_managers(r->lab); i++) {
		lab_manager_continue(r->lab, i);
		if (r->faults
			    .lied) /* a manager that believed a lie finds out when it reads again */
			lab_manager_order(r->lab, i, SM_EV_RESYNC, 0);
		running += lab_manager_sm(r->lab, i) != NULL;
	}
	for (unsigned i = 0; !running && i < lab_managers(r->lab); i++) {
		power(r, lab_manager_node(r->lab, i), true);
		restart(r, i, SCHEDULE_LIDS);
		running = lab_manager_sm(r->lab, i) != NULL;
	}
}

/* A manager that believed a lie finds out when it reads everything again. */
bool run_resync(struct run *r)
{
	for (unsigned i = 0; r->faults.lied && i < lab_managers(r->lab); i++)
		lab_manager_order(r->lab, i, SM_EV_RESYNC, 0);
	return r->faults.lied;
}

void run_faults_free(struct run *r)
{
	for (unsigned i = 0; i < RUN_MANAGERS; i++)
		free(r->faults.old[i]);
	free(r->faults.lie_q32);
	vec_free(&r->faults.cut);
}
