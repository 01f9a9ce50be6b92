/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines under faults, drawn from a seed. State: struct trial during one run. Way in: vm_trial_run(). Does not
 * judge: vm_checks.c does.
 */
#include "policy/policy.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/vm_world.h"

#define LIMIT (600 * PS_PER_S)

enum { BURST = 10 };

/* ---- drawing ---- */

static void draw_faults(struct vm_world *t, struct sim_config *c)
{
	struct rng *r = &t->rng;
	unsigned per_mille = trial_draw_sim(r, 2, c);

	t->out->loss = per_mille / 1000.0;
	if (!per_mille || rng_below(r, 2))
		return;
	c->faults.dup_q32 = c->faults.loss_q32 / 2;
	c->faults.delay_q32 = c->faults.loss_q32;
	c->faults.delay_max_ps = 5 * PS_PER_US + rng_below(r, 200) * PS_PER_US;
}

/* Managers that stand by and copy what the master knows. */
static void draw_contest(struct vm_world *t, struct sm_config *c)
{
	c->contest = c->mirror = true;
	c->sm_key = 1;
	c->standby_poll_ps = (2 + rng_below(&t->rng, 9)) * PS_PER_MS;
	c->standby_tries = 2 + rng_below(&t->rng, 2);
	c->stall_ps = c->standby_poll_ps * c->standby_tries / 2;
	c->settle_ps = 100 * PS_PER_MS;
	c->copy_ps = 200 * c->standby_poll_ps; /* as a daemon's */
	c->sweep_factor = 0;
	c->sweep_period_ps = (5 + rng_below(&t->rng, 46)) * PS_PER_MS;
}

static enum fab_sriov draw_config(struct vm_world *t, struct lab_config *c)
{
	static const char *const schemes[] = {"dynamic", "prepopulated", "shared"};
	struct rng *r = &t->rng;
	unsigned scheme = rng_below(r, 5);

	scheme = scheme < 4 ? scheme / 2 : 2;
	c->threads = 1;
	draw_faults(t, &c->sim);
	c->sm.mechanism = *trial_draw_weft(r);
	if (t->opts.mechanism)
		c->sm.mechanism = *t->opts.mechanism;
	c->sm.window = trial_draw_window(r);
	c->sm.lmc = rng_below(r, 5) ? 0 : 1;
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	c->sm.read_back = true;
	c->sm.scheme = scheme == 1 ? SM_SCHEME_PREPOPULATED : SM_SCHEME_DYNAMIC;
	t->out->mechanism = c->sm.mechanism.name;
	t->out->scheme = schemes[scheme];
	t->out->managers = rng_below(r, 3) ? 1 : 2 + rng_below(r, VM_MANAGERS - 1);
	if (t->opts.cuts)
		t->out->managers = MAX(t->out->managers, 2u);
	if (t->out->managers > 1)
		draw_contest(t, &c->sm);
	return scheme == 2 ? FAB_SRIOV_SHARED : FAB_SRIOV_VSWITCH;
}

/* ---- requests ---- */

/* Seldom a node without VFs: refused. */
static uint64_t draw_host(struct vm_world *t)
{
	node_id n = rng_below(&t->rng, t->fab->nnodes);

	for (unsigned i = 0; i < 8 && !t->fab->nodes[n].vfs; i++)
		n = rng_below(&t->rng, t->fab->nnodes);
	return t->fab->nodes[n].guid;
}

static struct sm_vm_request draw_request(struct vm_world *t)
{
	static const enum sm_vm_op ops[] = {SM_VM_CREATE,  SM_VM_STOP,	 SM_VM_DESTROY,
					    SM_VM_START,   SM_VM_START,	 SM_VM_MIGRATE,
					    SM_VM_MIGRATE, SM_VM_MIGRATE};
	struct sm_vm_request q = {.token = ++t->token, .host = draw_host(t)};

	q.op = ops[rng_below(&t->rng, ARRAY_LEN(ops))];
	if (t->opts.migrations && rng_below(&t->rng, 4))
		q.op = SM_VM_MIGRATE;
	q.slot = rng_below(&t->rng, 3) ? 0 : 1 + rng_below(&t->rng, t->out->vfs);
	snprintf(q.name, sizeof(q.name), "vm%u", rng_below(&t->rng, VM_NAMES));
	return q;
}

/* The manager that takes requests; VM_MANAGERS: none. */
static unsigned master(const struct vm_world *t)
{
	for (unsigned i = 0; i < t->out->managers; i++)
		if (t->out->managers == 1 || lab_manager_is_master(t->lab, i))
			return i;
	return VM_MANAGERS;
}

/* Some are answered at once. */
static void ask(struct vm_world *t, const struct sm_vm_request *q, unsigned n)
{
	unsigned to = master(t);
	size_t before = t->asked.n;

	for (unsigned i = 0; i < n; i++)
		vec_push(&t->asked, q[i]);
	if (to != VM_MANAGERS && lab_manager_vms(t->lab, to, q, n))
		t->out->requests += n;
	else
		t->asked.n = before;
}

static void burst(struct vm_world *t)
{
	struct sm_vm_request q[BURST];
	unsigned n = 1 + rng_below(&t->rng, BURST);

	for (unsigned i = 0; i < n; i++)
		q[i] = draw_request(t);
	ask(t, q, n);
}

static void on_result(void *ctx, const struct sm_vm_result *r)
{
	vm_ledger_answer(ctx, r);
}

/* VMs to begin with, some of them started. */
static void populate(struct vm_world *t)
{
	struct sm_vm_request q[2 * VM_NAMES];
	unsigned n = 0;

	for (unsigned i = 0; i < VM_NAMES; i++) {
		q[n] = (struct sm_vm_request){.op = SM_VM_CREATE, .token = ++t->token};
		snprintf(q[n++].name, SM_VM_NAME, "vm%u", i);
		if (rng_below(&t->rng, 4) == 0)
			continue;
		q[n] = (struct sm_vm_request){
			.op = SM_VM_START, .token = ++t->token, .host = draw_host(t)};
		snprintf(q[n++].name, SM_VM_NAME, "vm%u", i);
	}
	ask(t, q, n);
}

/* ---- faults ---- */

/* A manager's node and the switch that it is cabled to stay. */
static bool is_needed(const struct vm_world *t, node_id n)
{
	for (unsigned i = 0; i < t->out->managers; i++) {
		port_id far = t->fab->ports[fab_port_id(t->fab, t->seats[i], 1)].peer;

		if (n == t->seats[i] || n == t->fab->ports[far].node)
			return true;
	}
	return false;
}

/* Managers that cannot reach each other would each be master, which is another trial. */
static bool are_joined(const struct vm_world *t)
{
	for (unsigned i = 1; i < t->out->managers; i++)
		if (!lab_connected(t->lab, lab_manager_port(t->lab, 0),
				   lab_manager_port(t->lab, i)))
			return false;
	return true;
}

/* Off, on, or off and on again. */
static void power(struct vm_world *t, node_id n)
{
	bool on = sim_node_on(t->sim, n);

	if (is_needed(t, n))
		return;
	sim_node_power(t->sim, n, !on);
	if (on && (rng_below(&t->rng, 3) == 0 || !are_joined(t))) {
		if (rng_below(&t->rng, 2) && are_joined(t))
			trial_run_for(t->lab, rng_u64(&t->rng) % (100 * PS_PER_US));
		sim_node_power(t->sim, n, true);
	}
}

static void plug(struct vm_world *t, port_id p)
{
	port_id far = t->wire->ports[p].peer;

	if (far == FAB_NONE || t->wire->ports[p].node >= t->fab->nnodes ||
	    t->wire->ports[far].node >= t->fab->nnodes)
		return; /* no cable, or inside an HCA */
	for (unsigned i = 0; i < t->out->managers; i++)
		if (t->seats[i] == t->wire->ports[p].node ||
		    t->seats[i] == t->wire->ports[far].node)
			return;
	if (sim_port_peer(t->sim, p) == FAB_NONE) {
		sim_cable(t->sim, p, far);
		return;
	}
	sim_uncable(t->sim, p);
	if (!are_joined(t))
		sim_cable(t->sim, p, far);
}

static void fault(struct vm_world *t)
{
	t->out->changes++;
	if (rng_below(&t->rng, 2))
		power(t, rng_below(&t->rng, t->fab->nnodes));
	else
		plug(t, rng_below(&t->rng, t->wire->nports));
}

/* All links and nodes are as at the start. */
static void heal(struct vm_world *t)
{
	for (node_id n = 0; n < t->fab->nnodes; n++)
		if (!sim_node_on(t->sim, n))
			sim_node_power(t->sim, n, true);
	for (port_id p = 0; p < t->wire->nports; p++)
		if (t->wire->ports[p].peer != FAB_NONE && t->wire->ports[p].peer != p &&
		    sim_port_peer(t->sim, p) == FAB_NONE)
			sim_cable(t->sim, p, t->wire->ports[p].peer);
}

/* ---- managers ---- */

/* The next manager has LIDs and VMs of the one that crashed, or its whole state if that was at rest. */
static void start(struct vm_world *t, unsigned i)
{
	if (rng_below(&t->rng, 2))
		lab_manager_resume(t->lab, i);
	else
		lab_manager_start(t->lab, i, true);
}

static void start_all(struct vm_world *t)
{
	for (unsigned i = 0; i < t->out->managers; i++)
		if (!lab_manager_sm(t->lab, i))
			start(t, i);
}

static bool all_copied(const struct vm_world *t)
{
	unsigned i = master(t);
	struct sm_mirror_status st;

	if (i == VM_MANAGERS || !lab_manager_sm(t->lab, i))
		return false;
	sm_mirror_status(lab_manager_sm(t->lab, i), &st);
	return st.mirrors + 1 >= t->out->managers;
}

/* A standby without a copy knows no name: the master may crash when all have one. */
static void wait_for_copies(struct vm_world *t)
{
	for (unsigned i = 0; i < 200 && t->out->managers > 1 && !all_copied(t); i++)
		trial_run_for(t->lab, 5 * PS_PER_MS);
}

/* The only manager restarts; of several the master goes, and returns when another one is master, or before. */
static void crash(struct vm_world *t)
{
	unsigned i = master(t);

	if (i == VM_MANAGERS || !lab_manager_sm(t->lab, i))
		return;
	for (unsigned k = 0; k < t->out->managers; k++)
		if (k != i && !lab_manager_sm(t->lab, k))
			return; /* one at a time */
	lab_manager_stop(t->lab, i);
	vm_ledger_crash(t);
	t->out->restarts++;
	if (rng_below(&t->rng, 2))
		trial_run_for(t->lab, rng_u64(&t->rng) % (10 * PS_PER_MS));
	if (t->out->managers == 1 || rng_below(&t->rng, 4) == 0)
		start(t, i);
}

/* ---- one trial ---- */

static void settle(struct vm_world *t, const char *when)
{
	if (!lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + LIMIT) ||
	    !lab_run_ready(t->lab, sim_now(t->sim) + LIMIT))
		lab_fail(t->out->why, "%s: the manager did not come to rest in 600 s", when);
	else
		vm_check(t, when);
	if (t->asked.n)
		lab_fail(t->out->why, "%s: %zu requests were not answered", when, t->asked.n);
}

/* While requests are carried out, or not. */
static void partition(struct vm_world *t)
{
	t->policy_stands = false;
	vm_partitions_set(t);
	if (rng_below(&t->rng, 2))
		settle(t, "partitions");
}

static void turn(struct vm_world *t)
{
	unsigned within = rng_below(&t->rng, 2) ? 60 : 600;
	bool crashes = t->out->managers == 1;

	if (rng_below(&t->rng, 2))
		heal(t);
	start_all(t);
	if (t->out->managers > 1 && rng_below(&t->rng, 2)) {
		wait_for_copies(t);
		crashes = all_copied(t);
	}
	burst(t);
	if (t->opts.partitions && !rng_below(&t->rng, 4))
		partition(t);
	for (unsigned n = rng_below(&t->rng, 2) ? rng_below(&t->rng, 4) : 0; n; n--) {
		trial_run_for(t->lab, rng_u64(&t->rng) % (within * PS_PER_US));
		if (rng_below(&t->rng, 3) || !crashes)
			fault(t);
		else
			crash(t);
	}
	if (rng_below(&t->rng, 2))
		burst(t);
	settle(t, "after requests");
}

/* The subnet is cut in two and joined again: one master stays, and has all VMs. */
static void divide(struct vm_world *t)
{
	heal(t);
	start_all(t);
	wait_for_copies(t);
	if (!all_copied(t))
		return;
	vm_cut(t);
	heal(t);
	settle(t, "parts are joined");
	t->divided = false;
}

static bool goes_on(const struct vm_world *t, unsigned turns)
{
	if (t->out->why[0])
		return false;
	if (!t->opts.migrations)
		return turns;
	return t->out->migrations < t->opts.migrations && t->out->checks < 100 + t->opts.migrations;
}

static void run(struct vm_world *t)
{
	unsigned turns = 2 + rng_below(&t->rng, 6);

	lab_power_on(t->lab, NULL);
	settle(t, "bring-up");
	populate(t);
	settle(t, "first VMs");
	if (t->opts.partitions)
		partition(t);
	for (; goes_on(t, turns); turns--) {
		if (t->opts.cuts && t->out->managers > 1 && rng_below(&t->rng, 2))
			divide(t);
		turn(t);
	}
	if (t->out->why[0])
		return;
	heal(t);
	start_all(t);
	settle(t, "all is repaired");
}

static void free_all(struct vm_world *t)
{
	if (t->lab) {
		t->out->hash = sim_hash(t->sim);
		t->out->end = sim_now(t->sim);
		lab_watch_stop(&t->watch);
	}
	lab_free(t->lab);
	lab_watch_free(&t->watch);
	vm_predict_free(t);
	pol_free(t->policy);
	vec_free(&t->asked);
	vec_free(&t->lost);
	fab_free(t->wire);
	fab_free(t->fab);
}

/* Programs of a host with a vSwitch are at its PF; the laboratory's own seat is the vSwitch itself. */
static node_id seat_of(const struct vm_world *t, unsigned i)
{
	node_id n = t->seats[i];

	return t->opts.at_pf && t->wire->nodes[n].flags & FAB_VSWITCH
		       ? t->wire->ports[t->wire->ports[fab_port_id(t->wire, n, FAB_SLOT0_PORT)]
						.peer]
				 .node
		       : n;
}

static void make(struct vm_world *t)
{
	struct lab_config c;
	struct err e = {{0}};
	enum fab_sriov sriov;

	lab_config_default(&c);
	sriov = draw_config(t, &c);
	t->fab = vm_fabric_draw(t, sriov, &e);
	t->wire = t->fab ? fab_wire(t->fab, &e) : NULL;
	if (t->wire)
		t->out->managers = vm_seats_draw(t, t->out->managers);
	c.sm_node = seat_of(t, 0);
	t->lab = t->wire && t->out->managers ? lab_new(t->wire, &c, &e) : NULL;
	if (!t->lab) {
		lab_fail(t->out->why, "no topology: %.200s", e.text);
		return;
	}
	for (unsigned i = 1; i < t->out->managers; i++) {
		c.sm.priority = rng_below(&t->rng, 3);
		lab_manager_add(t->lab, seat_of(t, i), &c.sm);
	}
	if (t->out->managers > 1)
		lab_master_leads(t->lab);
	t->sim = lab_sim(t->lab);
	t->out->switches = t->fab->nswitches;
	t->out->hosts = t->fab->nhosts;
	lab_on_vm(t->lab, on_result, t);
	vm_checks_start(t);
}

void vm_trial_run(uint64_t seed, const struct vm_trial_opts *o, struct vm_trial *out)
{
	struct vm_world t = {.out = out, .opts = *o};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	out->fabric = o->fabric ? o->fabric : "drawn";
	rng_seed(&t.rng, seed, 14);
	make(&t);
	if (t.lab)
		run(&t);
	out->ok = !out->why[0];
	free_all(&t);
}
