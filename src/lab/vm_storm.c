/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A boot storm on a simulated subnet. State: struct run, for the time of the experiment. Way in: lab_storm_run(). Decides
 * nothing about slots and tables: the manager does.
 */
#include "lab/vm_storm.h"

#include "base/rng.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"

#define STEP (100 * PS_PER_US)

enum { STREAM = 0x73746f72 }; /* of random draws */

struct host {
	node_id node;
	uint64_t guid;
	unsigned free;
};

struct run {
	struct lab *l;
	const struct lab_storm_plan *p;
	struct lab_storm_result *r;
	VEC(struct host) hosts; /* hypervisors that the manager knows */
	size_t open;		/* requests without an answer */
	bool starting;
	struct rng rng;
};

/* The token of a request is the VM. */
static void on_vm(void *ctx, const struct sm_vm_result *r)
{
	struct run *x = ctx;

	x->open--;
	if (r->rc) {
		x->r->refused++;
		lab_fail(x->r->why, "%s", r->why);
	}
	if (x->starting)
		x->r->vms.at[r->token].r = *r;
}

/* ---- before ---- */

static bool hosts_find(struct run *x)
{
	struct sm_hypervisor h;
	size_t at = 0, room = 0;

	while (sm_hypervisor_next(x->l->lead->sm, &at, &h)) {
		vec_push(&x->hosts, (struct host){fab_node_by_guid(x->p->fab, h.guid), h.guid,
						  h.vfs - MIN(h.used, h.vfs)});
		room += h.vfs;
	}
	x->r->hosts = (uint32_t)x->hosts.n;
	x->r->switches = x->p->fab->nswitches;
	if (room >= x->p->vms)
		return true;
	lab_fail(x->r->why, "%u VMs, and the manager reaches %zu VFs", x->p->vms, room);
	return false;
}

static struct host *host_draw(struct run *x)
{
	for (;;) {
		struct host *h = &x->hosts.at[rng_below(&x->rng, (uint32_t)x->hosts.n)];

		if (h->free)
			return h;
	}
}

static int asked_cmp(const void *a, const void *b)
{
	const struct lab_storm_vm *x = a, *y = b;

	return (x->asked > y->asked) - (x->asked < y->asked);
}

static void vms_draw(struct run *x)
{
	uint64_t us = x->p->within / PS_PER_US;

	for (unsigned i = 0; i < x->p->vms; i++) {
		struct host *h = host_draw(x);

		h->free--;
		vec_push(&x->r->vms,
			 (struct lab_storm_vm){
				 .host = h->node,
				 .asked = us ? rng_below(&x->rng, (uint32_t)us) * PS_PER_US : 0});
	}
	qsort(x->r->vms.at, x->r->vms.n, sizeof(*x->r->vms.at), asked_cmp);
}

static struct sm_vm_request request(const struct run *x, enum sm_vm_op op, uint32_t vm)
{
	struct sm_vm_request q = {.op = op, .token = vm};

	snprintf(q.name, sizeof(q.name), "vm%u", vm);
	if (op == SM_VM_START)
		q.host = x->p->fab->nodes[x->r->vms.at[vm].host].guid;
	return q;
}

/* ---- requests ---- */

static bool ask(struct run *x, enum sm_vm_op op, uint32_t first, uint32_t n)
{
	struct sm_vm_request *q = mem_array(n, sizeof(*q));
	bool taken;

	for (uint32_t i = 0; i < n; i++)
		q[i] = request(x, op, first + i);
	x->open += n;
	taken = lab_manager_vms(x->l, 0, q, n);
	free(q);
	if (!taken)
		lab_fail(x->r->why, "the manager does not run");
	return taken;
}

static bool answered(struct run *x)
{
	time_ps end = sim_now(x->l->sim) + x->p->limit;

	while (x->open && sim_now(x->l->sim) < end)
		lab_run_to(x->l, sim_now(x->l->sim) + STEP);
	if (x->open)
		lab_fail(x->r->why, "the manager did not answer %zu requests in time", x->open);
	return !x->open;
}

/* Requests of one moment are one event of the manager. */
static bool storm(struct run *x)
{
	uint32_t n = (uint32_t)x->r->vms.n, next;

	x->starting = true;
	x->r->from = sim_now(x->l->sim);
	for (uint32_t i = 0; i < n; i = next) {
		time_ps at = x->r->vms.at[i].asked;

		for (next = i; next < n && x->r->vms.at[next].asked == at; next++)
			;
		lab_run_to(x->l, x->r->from + at);
		if (!ask(x, SM_VM_START, i, next - i))
			return false;
	}
	return answered(x);
}

static bool bring_up(struct run *x)
{
	lab_power_on(x->l, NULL);
	if (!lab_run_ready(x->l, x->p->limit)) {
		lab_fail(x->r->why, "the subnet did not come up in time");
		return false;
	}
	if (!hosts_find(x))
		return false;
	vms_draw(x);
	return ask(x, SM_VM_CREATE, 0, x->p->vms) && answered(x) && !x->r->refused;
}

static void measure(struct run *x)
{
	const struct fab *f = sm_fabric(x->l->lead->sm);

	for (size_t i = 0; i < x->r->vms.n; i++)
		x->r->time = MAX(x->r->time, x->r->vms.at[i].r.ended -
						     MIN(x->r->from, x->r->vms.at[i].r.ended));
	x->r->rounds = lab_sum(x->l)->rounds;
	if (f)
		x->r->blocks = fab_top_lid(f) / IBA_LFT_BLOCK + 1;
	lab_judge(x->l, &x->r->v);
}

void lab_storm_run(struct lab *l, const struct lab_storm_plan *p, struct lab_storm_result *r)
{
	struct run x = {.l = l, .p = p, .r = r};

	memset(r, 0, sizeof(*r));
	rng_seed(&x.rng, p->seed, STREAM);
	lab_on_vm(l, on_vm, &x);
	if (bring_up(&x)) {
		lab_sum_reset(l);
		r->up = storm(&x);
		measure(&x);
	}
	lab_on_vm(l, NULL, NULL);
	r->hash = sim_hash(l->sim);
	vec_free(&x.hosts);
}

void lab_storm_free(struct lab_storm_result *r)
{
	vec_free(&r->vms);
	rt_report_free(&r->v.report);
}
