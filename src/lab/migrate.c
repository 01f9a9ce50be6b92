/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations of virtual machines on a simulated subnet. State: struct migrate_run, for the time of the experiment. Way in:
 * lab_migrate_run(). Decides nothing about slots and tables: the manager does.
 */
#include "lab/migrate_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"

#define STEP PS_PER_US

enum { STREAM = 0x6d6967 }; /* of random draws */
/* Tokens of requests: a migration by its index; VM i is created or started: TOKEN_VM + i. */
enum { TOKEN_VM = 0x40000000 };
/* At rest after the starts: no migration waits for packets on tables before those. */
#define QUIET (5 * PS_PER_MS)

typedef VEC(struct sm_vm_request) requests;

/* ---- requests ---- */

/* With two requests, a stop and a start, the answers are added up. */
static void take(struct lab_migration *m, const struct sm_vm_result *r)
{
	struct sm_vm_result before = m->r;

	m->r = *r;
	m->r.lid_before = before.lid_before;
	m->r.smps_hypervisors += before.smps_hypervisors;
	m->r.smps_tables += before.smps_tables;
	m->r.switches_touched += before.switches_touched;
	if (before.started)
		m->r.started = before.started;
}

static void started(struct migrate_run *x, const struct sm_vm_result *r)
{
	struct migrate_vm *vm = &x->vms.at[r->token - TOKEN_VM];

	if (r->rc)
		lab_fail(x->r->why, "%s", r->why);
	vm->guid = r->guid;
	vm->at.slot = r->slot ? r->slot : vm->at.slot;
	if (r->token == TOKEN_VM && r->slot) {
		x->r->start_hypervisors = r->smps_hypervisors;
		x->r->start_tables = r->smps_tables;
	}
}

static void on_vm(void *ctx, const struct sm_vm_result *r)
{
	struct migrate_run *x = ctx;

	x->open--;
	if (r->token >= TOKEN_VM) {
		started(x, r);
		return;
	}
	take(&x->r->all.at[r->token], r);
	migrate_answered(x, r->token);
}

static struct sm_vm_request request(const struct migrate_run *x, enum sm_vm_op op, size_t vm,
				    struct lab_place to)
{
	struct sm_vm_request q = {.token = TOKEN_VM + (uint32_t)vm, .op = op, .slot = to.slot};

	snprintf(q.name, sizeof(q.name), "vm%zu", vm);
	q.host = to.host == FAB_NONE ? 0 : x->p->fab->nodes[to.host].guid;
	return q;
}

static bool ask(struct migrate_run *x, const struct sm_vm_request *q, size_t n)
{
	time_ps end = sim_now(x->l->sim) + x->p->limit;

	x->open += n;
	if (lab_manager_vms(x->l, 0, q, n))
		while (x->open && sim_now(x->l->sim) < end)
			lab_run_to(x->l, sim_now(x->l->sim) + STEP);
	if (x->open)
		lab_fail(x->r->why, "the manager did not answer %zu of %zu requests in time",
			 x->open, n);
	return !x->open;
}

/* ---- VMs ---- */

/* The VMs from the first to the last one. */
static bool vms_ask(struct migrate_run *x, enum sm_vm_op op, size_t first, size_t end)
{
	requests all = {0};
	bool answered;

	for (size_t vm = first; vm < end; vm++)
		vec_push(&all, request(x, op, vm, x->vms.at[vm].at));
	answered = !all.n || ask(x, all.at, all.n);
	vec_free(&all);
	return answered && !x->r->why[0];
}

/* The first one alone, so that its SMPs are known. */
static bool vms_run(struct migrate_run *x)
{
	return vms_ask(x, SM_VM_CREATE, 0, x->vms.n) && vms_ask(x, SM_VM_START, 0, 1) &&
	       vms_ask(x, SM_VM_START, 1, x->vms.n);
}

static void vm_add(struct migrate_run *x, struct lab_place at)
{
	vec_push(&x->vms, (struct migrate_vm){migrate_place_take(x, at), 0});
}

/* Half of all VFs at most, so that there is room to migrate to. */
static bool vms_start(struct migrate_run *x)
{
	size_t room = 0, want = MAX(x->p->vms, x->p->together ? x->p->count : 0);

	if (x->p->vm.host != FAB_NONE) {
		vm_add(x, x->p->vm);
		return vms_run(x);
	}
	for (size_t i = 0; i < x->hosts.n; i++)
		room += x->p->fab->nodes[x->hosts.at[i]].vfs;
	if (!want)
		want = MIN((size_t)x->p->count, MAX(room / 2, (size_t)1));
	if (want > MAX(room / 2, (size_t)1)) {
		lab_fail(x->r->why,
			 "%zu VMs need as many free VFs to migrate to: there are %zu VFs", want,
			 room);
		return false;
	}
	while (x->vms.n < want) {
		node_id n = migrate_host_next(x, x->vms.n);

		if (n == FAB_NONE)
			return false;
		vm_add(x, (struct lab_place){n, 0});
	}
	return vms_run(x);
}

/* ---- migrations ---- */

/* What the manager says of a VM, for its LID before the request. */
static uint16_t lid_of(const struct migrate_run *x, const char *name)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(x->l->lead->sm, i, &v); i++)
		if (!strcmp(v.name, name))
			return v.lid;
	return 0;
}

static struct sm_vm_request migration(struct migrate_run *x, size_t vm, struct lab_place to)
{
	struct sm_vm_request q = request(x, SM_VM_MIGRATE, vm, to);
	struct lab_migration m = {.from = x->vms.at[vm].at, .to = to, .guid = x->vms.at[vm].guid};

	q.token = (uint32_t)x->r->all.n;
	m.r.lid_before = lid_of(x, q.name);
	if (x->p->fab->nodes[to.host].sriov == FAB_SRIOV_VSWITCH)
		x->moving[m.r.lid_before] = true;
	vec_push(&x->r->all, m);
	return q;
}

/* Prepopulated: the slot that a VM left has the LID that its new slot had, which moved, too. */
static void swapped(struct migrate_run *x, struct lab_place left)
{
	const struct fab *f = sm_fabric(x->l->lead->sm);
	uint64_t guid = x->p->fab->nodes[left.host].guid;

	for (uint32_t i = 0; f && i < f->nvlids; i++)
		if (f->vlids[i].slot == left.slot &&
		    f->nodes[f->ports[f->vlids[i].port].node].guid == guid)
			x->moved[f->vlids[i].lid] = true;
}

/* Takes over where VMs are now. */
static void concluded(struct migrate_run *x, const size_t *vms)
{
	for (size_t i = x->first; i < x->r->all.n; i++) {
		struct lab_migration *m = &x->r->all.at[i];
		struct lab_place *at = &x->vms.at[vms[i - x->first]].at;

		if (m->r.rc) {
			x->r->refused++;
			lab_fail(x->r->why, "%s", m->r.why);
			migrate_place_free(x, m->to);
			continue;
		}
		migrate_place_free(x, m->from);
		m->to.slot = m->r.slot;
		*at = m->to;
		x->moved[m->r.lid_after] = x->moved[m->r.lid_before] = true;
		swapped(x, m->from);
	}
}

/* The round that the manager begins when it is told to discard what it knows. */
static bool reconfigure(struct migrate_run *x)
{
	lab_manager_order(x->l, 0, SM_EV_RESYNC, 0);
	if (lab_run_ready(x->l, sim_now(x->l->sim) + x->p->limit))
		return true;
	lab_fail(x->r->why, "the manager did not come to rest in time");
	return false;
}

/* Stops, a round of the manager, starts. */
static bool migrate_fully(struct migrate_run *x, requests *all)
{
	requests stops = {0};
	bool done;

	for (size_t i = 0; i < all->n; i++) {
		vec_push(&stops, all->at[i]);
		stops.at[i].op = SM_VM_STOP;
		all->at[i].op = SM_VM_START;
	}
	done = ask(x, stops.at, stops.n) && reconfigure(x) && ask(x, all->at, all->n);
	vec_free(&stops);
	return done;
}

static bool migrate_all(struct migrate_run *x, const size_t *vms, const struct lab_place *to,
			size_t n)
{
	requests all = {0};
	bool answered;

	x->first = x->r->all.n;
	for (size_t i = 0; i < n; i++)
		vec_push(&all, migration(x, vms[i], to[i]));
	answered = x->p->full ? migrate_fully(x, &all) : ask(x, all.at, all.n);
	concluded(x, vms);
	vec_free(&all);
	return answered;
}

static bool migrate_one(struct migrate_run *x, size_t vm, struct lab_place to)
{
	to = migrate_place_take(x, to);
	return migrate_all(x, &vm, &to, 1);
}

static void migrate_together(struct migrate_run *x)
{
	size_t n = x->p->count, kept = 0, *vms = mem_array(n, sizeof(*vms));
	struct lab_place *to = mem_array(n, sizeof(*to));

	migrate_draw_together(x, vms, to, n);
	for (size_t i = 0; i < n; i++)
		if (to[i].host != FAB_NONE) {
			vms[kept] = vms[i];
			to[kept++] = to[i];
		}
	if (kept < n)
		lab_fail(x->r->why, "no host with a free VF was found");
	migrate_all(x, vms, to, kept);
	free(vms);
	free(to);
}

static void migrate(struct migrate_run *x)
{
	bool go = true;

	if (x->p->vm.host != FAB_NONE) {
		migrate_one(x, 0, x->p->to);
		return;
	}
	if (x->p->together) {
		migrate_together(x);
		return;
	}
	for (unsigned i = 0; go && i < x->p->count; i++) {
		size_t vm = rng_below(&x->rng, (uint32_t)x->vms.n);
		node_id n = migrate_host_draw(x, x->vms.at[vm].at.host);

		go = n != FAB_NONE && migrate_one(x, vm, (struct lab_place){n, 0});
		if (n == FAB_NONE)
			lab_fail(x->r->why, "no host with a free VF was found");
	}
}

/* ---- tables ---- */

/* Entries of switches, vSwitches left out, for LIDs of which no VM moved. */
static uint64_t others_changed(const struct migrate_run *x)
{
	struct lab_device_tables now;
	const struct fab *w = x->l->fab;
	uint64_t n = 0;

	lab_device_tables_read(x->l, &now);
	for (uint32_t s = 0; s < w->nswitches; s++)
		for (uint32_t lid = 1; lid < MIN(now.stride, x->before.stride); lid++)
			n += !(w->nodes[w->switches[s]].flags & FAB_VSWITCH) && !x->moved[lid] &&
			     now.port[(size_t)s * now.stride + lid] !=
				     x->before.port[(size_t)s * x->before.stride + lid];
	lab_device_tables_free(&now);
	return n;
}

/* ---- the whole ---- */

static void hosts_find(struct migrate_run *x)
{
	struct sm_hypervisor h;

	for (size_t at = 0; sm_hypervisor_next(x->l->lead->sm, &at, &h);)
		vec_push(&x->hosts, fab_node_by_guid(x->p->fab, h.guid));
	x->r->hosts = (uint32_t)x->hosts.n;
	x->r->switches = x->p->fab->nswitches;
}

static bool bring_up(struct migrate_run *x)
{
	lab_power_on(x->l, NULL);
	if (!lab_run_ready(x->l, x->p->limit)) {
		lab_fail(x->r->why, "the subnet did not come up in time");
		return false;
	}
	hosts_find(x);
	if (!x->hosts.n) {
		lab_fail(x->r->why, "the manager found no host with SR-IOV");
		return false;
	}
	x->r->up = vms_start(x);
	x->r->vms = (uint32_t)x->vms.n;
	return x->r->up;
}

static void rounds_sum(struct migrate_run *x)
{
	const struct lab_sum *sum = lab_sum(x->l);

	x->r->rounds = sum->rounds;
	x->r->compute = sum->time[SM_COMPUTE];
	x->r->distribute = sum->time[SM_TABLES];
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		x->r->round_smps += sum->smps[i];
	x->r->round_tables = sum->requests.set[IBA_ATTR_LFT];
	for (size_t i = 0; i < x->r->all.n; i++) /* requests are counted outside of rounds, too */
		x->r->round_tables -= MIN(x->r->round_tables, x->r->all.at[i].r.smps_tables);
}

static int run_all(struct migrate_run *x, struct err *e)
{
	time_ps from;

	if (!bring_up(x))
		return 0;
	lab_run_to(x->l, sim_now(x->l->sim) + QUIET);
	if (migrate_measure_begin(x, e))
		return -EINVAL;
	lab_device_tables_read(x->l, &x->before);
	lab_sum_reset(x->l);
	from = sim_now(x->l->sim);
	migrate(x);
	x->r->time = sim_now(x->l->sim) - from;
	rounds_sum(x);
	migrate_measure_end(x);
	x->r->disturbed = others_changed(x);
	lab_judge(x->l, &x->r->v);
	return 0;
}

int lab_migrate_run(struct lab *l, const struct lab_migrate_plan *p, struct lab_migrate_result *r,
		    struct err *e)
{
	struct migrate_run *x = mem_zalloc(sizeof(*x));
	int rc;

	memset(r, 0, sizeof(*r));
	*x = (struct migrate_run){.l = l, .p = p, .r = r};
	x->used = mem_zarray(p->fab->nnodes, sizeof(*x->used));
	rng_seed(&x->rng, p->seed, STREAM);
	lab_on_vm(l, on_vm, x);
	rc = run_all(x, e);
	lab_on_vm(l, NULL, NULL);
	if (p->traffic)
		sim_watch_discards(l->sim, (struct sim_discard_watch){0});
	r->hash = sim_hash(l->sim);
	lab_device_tables_free(&x->before);
	lab_watch_free(&x->watch);
	vec_free(&x->vms);
	vec_free(&x->hosts);
	free(x->used);
	free(x);
	return rc;
}

void lab_migrate_free(struct lab_migrate_result *r)
{
	vec_free(&r->all);
	rt_report_free(&r->v.report);
}

node_id lab_migrate_seat(const struct fab *f)
{
	return lab_choose_node(f);
}
