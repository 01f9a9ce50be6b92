/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Virtual machines under faults, drawn from a seed. State: struct trial during one run. Way in: vm_trial_run(). Does not
 * judge: vm_checks.c does.
 */
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/vm_checks.h"

#define LIMIT (600 * PS_PER_S)

enum { VMS = 12, BURST = 10 };

/* ---- drawing ---- */

static struct fab *draw_fabric(struct rng *r, unsigned max, struct err *e)
{
	struct fab_gen g = {.kind = "irregular", .ndims = 1};

	if (rng_below(r, 3) == 0) {
		g = (struct fab_gen){.kind = "mtree", .dims = {4, 2}, .ndims = 2};
	} else {
		g.dims[0] = 2 + rng_below(r, MAX(max, 3u) - 1);
		g.ports = 4 + rng_below(r, 3);
		g.seed = rng_u64(r);
	}
	return fab_generate(&g, e);
}

/* Most hosts have VFs. */
static struct fab *with_vfs(struct vm_world *t, struct fab *plain)
{
	struct fab_builder *b = fab_builder_from(plain);
	unsigned vfs = 1 + rng_below(&t->rng, 8);

	for (node_id n = 0; n < plain->nnodes; n++) {
		if (fab_is_switch(plain, n) || plain->nodes[n].nports != 1 ||
		    rng_below(&t->rng, 6) == 0)
			continue;
		fab_builder_node(b, n)->sriov = FAB_SRIOV_VSWITCH;
		fab_builder_node(b, n)->vfs = (uint8_t)vfs;
	}
	t->out->vfs = vfs;
	fab_free(plain);
	return fab_build(b);
}

static void draw_config(struct vm_world *t, const struct sm_mechanism *m, struct lab_config *c)
{
	static const unsigned windows[] = {1, 4, 32, 256};
	struct rng *r = &t->rng;
	unsigned per_mille = rng_below(r, 3) ? 0 : rng_below(r, 31);

	c->threads = 1;
	c->sim.seed = rng_u64(r);
	c->sim.traps = rng_below(r, 4) > 0;
	c->sim.faults.loss_q32 = ((uint64_t)per_mille << 32) / 1000;
	if (per_mille && rng_below(r, 2)) {
		c->sim.faults.dup_q32 = c->sim.faults.loss_q32 / 2;
		c->sim.faults.delay_q32 = c->sim.faults.loss_q32;
		c->sim.faults.delay_max_ps = 5 * PS_PER_US + rng_below(r, 200) * PS_PER_US;
	}
	c->sm.mechanism = *(rng_below(r, 2) ? sm_mechanism_find("weft") : trial_draw_mechanism(r));
	if (m)
		c->sm.mechanism = *m;
	c->sm.window = windows[rng_below(r, ARRAY_LEN(windows))];
	c->sm.lmc = rng_below(r, 5) ? 0 : 1;
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	c->sm.read_back = true;
	c->sm.scheme = rng_below(r, 2) ? SM_SCHEME_DYNAMIC : SM_SCHEME_PREPOPULATED;
	t->out->loss = per_mille / 1000.0;
	t->out->mechanism = c->sm.mechanism.name;
	t->out->scheme = c->sm.scheme == SM_SCHEME_DYNAMIC ? "dynamic" : "prepopulated";
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
	static const enum sm_vm_op ops[] = {SM_VM_CREATE,  SM_VM_START,	  SM_VM_START,
					    SM_VM_MIGRATE, SM_VM_MIGRATE, SM_VM_MIGRATE,
					    SM_VM_STOP,	   SM_VM_DESTROY};
	struct sm_vm_request q = {.token = ++t->token, .host = draw_host(t)};

	q.op = ops[rng_below(&t->rng, ARRAY_LEN(ops))];
	q.slot = rng_below(&t->rng, 3) ? 0 : 1 + rng_below(&t->rng, t->out->vfs);
	snprintf(q.name, sizeof(q.name), "vm%u", rng_below(&t->rng, VMS));
	return q;
}

static void ask(struct vm_world *t, struct sm_vm_request *q, unsigned n)
{
	t->waiting += n; /* some are answered at once */
	if (lab_manager_vms(t->lab, 0, q, n))
		t->out->requests += n;
	else
		t->waiting -= n;
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
	struct vm_world *t = ctx;

	t->out->done += !r->rc;
	t->out->refused += r->rc != 0;
	t->waiting--;
	vm_model_result(t, r);
}

/* VMs to begin with, some of them started. */
static void populate(struct vm_world *t)
{
	struct sm_vm_request q[2 * VMS];
	unsigned n = 0;

	for (unsigned i = 0; i < VMS; i++) {
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

static bool may_power(struct vm_world *t, node_id n)
{
	return trial_may_power_off(t->lab, n);
}

static void fault(struct vm_world *t)
{
	node_id n = rng_below(&t->rng, t->fab->nnodes);
	port_id p = rng_below(&t->rng, t->wire->nports), far = t->wire->ports[p].peer;
	port_id own = trial_manager_port(t->lab);

	t->out->changes++;
	if (rng_below(&t->rng, 2)) {
		if (may_power(t, n))
			sim_node_power(t->sim, n, !sim_node_on(t->sim, n));
	} else if (far != FAB_NONE && p != own && far != own &&
		   t->wire->ports[p].node < t->fab->nnodes &&
		   t->wire->ports[far].node < t->fab->nnodes) {
		if (sim_port_peer(t->sim, p) != FAB_NONE)
			sim_uncable(t->sim, p);
		else
			sim_cable(t->sim, p, far);
	}
}

/* The next manager has LIDs and VMs of the one that crashed, or its whole state if that was at rest. */
static void crash(struct vm_world *t)
{
	lab_manager_stop(t->lab, 0);
	t->out->lost += t->waiting;
	t->waiting = 0;
	t->out->restarts++;
	if (rng_below(&t->rng, 2))
		trial_run_for(t->lab, rng_u64(&t->rng) % (10 * PS_PER_MS));
	if (rng_below(&t->rng, 2))
		lab_manager_resume(t->lab, 0);
	else
		lab_manager_start(t->lab, 0, true);
}

/* ---- one trial ---- */

static void settle(struct vm_world *t, const char *when)
{
	if (!lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + LIMIT) ||
	    !lab_run_ready(t->lab, sim_now(t->sim) + LIMIT))
		trial_fail(t->out->why, "%s: the manager did not come to rest in 600 s", when);
	else
		vm_check(t, when);
}

static void turn(struct vm_world *t)
{
	unsigned within = rng_below(&t->rng, 2) ? 60 : 600;

	burst(t);
	for (unsigned n = rng_below(&t->rng, 4); n; n--) {
		trial_run_for(t->lab, rng_u64(&t->rng) % (within * PS_PER_US));
		if (rng_below(&t->rng, 3))
			fault(t);
		else
			crash(t);
	}
	if (rng_below(&t->rng, 2))
		burst(t);
	settle(t, "after requests");
	if (t->waiting)
		trial_fail(t->out->why, "%u requests were not answered", t->waiting);
}

static void run(struct vm_world *t)
{
	lab_power_on(t->lab, NULL);
	settle(t, "bring-up");
	populate(t);
	settle(t, "first VMs");
	for (unsigned n = 2 + rng_below(&t->rng, 6); n && !t->out->why[0]; n--)
		turn(t);
}

static void free_all(struct vm_world *t)
{
	if (t->lab) {
		t->out->hash = sim_hash(t->sim);
		t->out->end = sim_now(t->sim);
	}
	if (t->watched)
		lab_watch_stop(&t->watch);
	vm_checks_free(t);
	lab_free(t->lab);
	if (t->watched)
		lab_watch_free(&t->watch);
	fab_free(t->wire);
	fab_free(t->fab);
}

void vm_trial_run(uint64_t seed, unsigned max_switches, const struct sm_mechanism *mechanism,
		  struct vm_trial *out)
{
	struct vm_world t = {.out = out};
	struct fab *plain;
	struct lab_config c;
	struct err e = {{0}};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 14);
	lab_config_default(&c);
	draw_config(&t, mechanism, &c);
	plain = draw_fabric(&t.rng, max_switches, &e);
	t.fab = plain ? with_vfs(&t, plain) : NULL;
	t.wire = t.fab ? fab_wire(t.fab, &e) : NULL;
	c.sm_node = FAB_NONE;
	for (node_id n = 0; t.fab && c.sm_node == FAB_NONE && n < t.fab->nnodes; n++)
		if (!fab_is_switch(t.fab, n))
			c.sm_node = n;
	t.lab = t.wire ? lab_new(t.wire, &c, &e) : NULL;
	if (!t.lab) {
		trial_fail(out->why, "no topology: %.200s", e.text);
		fab_free(t.fab);
		return;
	}
	t.sim = lab_sim(t.lab);
	out->switches = t.fab->nswitches;
	out->hosts = t.fab->nhosts;
	lab_on_vm(t.lab, on_result, &t);
	vm_checks_start(&t);
	run(&t);
	out->ok = !out->why[0];
	free_all(&t);
}
