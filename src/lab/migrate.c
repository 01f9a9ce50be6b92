/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations of virtual machines on a simulated subnet. State: struct run, for the time of the experiment. Way in:
 * lab_migrate_run(). Decides nothing about slots and tables: the manager does.
 */
#include "lab/migrate.h"

#include "base/rng.h"
#include "lab/device_tables.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/plane/sim_plane.h"
#include "sim/traffic/sim_traffic.h"

#define STEP PS_PER_US

enum { STREAM = 0x6d6967 }; /* of random draws */

struct run {
	struct lab *l;
	const struct lab_migrate_plan *p;
	struct lab_migrate_result *r;
	VEC(struct lab_place) vms; /* where each is; VM i is "vmI" */
	VEC(node_id) hosts;	   /* hypervisors that the manager reaches */
	size_t first;		   /* of r->all, that are under way */
	size_t open;		   /* requests without an answer */
	struct sm_vm_result last;  /* answer, of a request that is no migration */
	struct rng rng;
	bool moved[65536]; /* by LID: of a VM */
	bool counting;
	struct lab_device_tables before;
};

static void fault(struct run *x, const char *fmt, ...) PRINTF(2, 3);

static void fault(struct run *x, const char *fmt, ...)
{
	va_list ap;

	if (x->r->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(x->r->why, sizeof(x->r->why), fmt, ap);
	va_end(ap);
}

/* ---- requests ---- */

enum { TOKEN_OTHER = UINT32_MAX };

static void on_vm(void *ctx, const struct sm_vm_result *r)
{
	struct run *x = ctx;

	x->open--;
	if (r->token == TOKEN_OTHER)
		x->last = *r;
	else
		x->r->all.at[r->token].r = *r;
}

static struct sm_vm_request request(const struct run *x, enum sm_vm_op op, size_t vm,
				    struct lab_place to)
{
	struct sm_vm_request q = {.token = TOKEN_OTHER, .op = op, .slot = to.slot};

	snprintf(q.name, sizeof(q.name), "vm%zu", vm);
	q.host = to.host == FAB_NONE ? 0 : x->p->fab->nodes[to.host].guid;
	return q;
}

/* Whether a VF of either place holds this LID and is Active. A shared port has the LID always. */
static bool is_connected(const struct run *x, const struct lab_migration *m, uint16_t lid)
{
	const struct lab_place at[] = {m->from, m->to};
	const struct fab *w = x->l->fab;

	for (unsigned i = 0; i < ARRAY_LEN(at); i++)
		for (unsigned s = 1; s <= x->p->fab->nodes[at[i].host].vfs; s++) {
			port_id vf = w->ports[fab_port_id(w, at[i].host, FAB_SLOT0_PORT + s)].peer;
			const struct iba_port_info *pi = sim_port_info(x->l->sim, vf);

			if (pi->lid == lid && pi->state == IBA_PORT_ACTIVE)
				return true;
		}
	return false;
}

static void sample(struct run *x)
{
	for (size_t i = x->first; i < x->r->all.n; i++) {
		struct lab_migration *m = &x->r->all.at[i];
		uint16_t lid = m->r.lid_before; /* filled before the request */

		if (x->p->fab->nodes[m->from.host].sriov == FAB_SRIOV_VSWITCH && lid &&
		    !m->r.ended && !is_connected(x, m, lid))
			m->cut += STEP;
	}
}

static bool run_answered(struct run *x)
{
	time_ps end = sim_now(x->l->sim) + x->p->limit;

	while (x->open && sim_now(x->l->sim) < end) {
		lab_run_to(x->l, sim_now(x->l->sim) + STEP);
		sample(x);
	}
	return !x->open;
}

static bool ask(struct run *x, const struct sm_vm_request *q, size_t n)
{
	x->open += n;
	if (lab_manager_vms(x->l, 0, q, n) && run_answered(x))
		return true;
	fault(x, "the manager did not answer %zu of %zu requests in time", x->open, n);
	return false;
}

/* ---- VMs ---- */

static unsigned used(const struct run *x, node_id host)
{
	unsigned n = 0;

	for (size_t i = 0; i < x->vms.n; i++)
		n += x->vms.at[i].host == host;
	return n;
}

static bool vm_start(struct run *x, struct lab_place at)
{
	const struct lab_place nowhere = {FAB_NONE, 0};
	size_t vm = x->vms.n;
	struct sm_vm_request q = request(x, SM_VM_CREATE, vm, nowhere);

	if (!ask(x, &q, 1))
		return false;
	if (!x->last.rc) {
		q = request(x, SM_VM_START, vm, at);
		if (!ask(x, &q, 1))
			return false;
	}
	if (x->last.rc) {
		fault(x, "%s", x->last.why);
		return false;
	}
	at.slot = x->last.slot;
	vec_push(&x->vms, at);
	x->moved[x->last.lid_after] = true;
	if (!vm) {
		x->r->start_hypervisors = x->last.smps_hypervisors;
		x->r->start_tables = x->last.smps_tables;
	}
	return true;
}

static node_id host_draw(struct run *x, node_id but)
{
	for (unsigned tries = 0; tries < 1000; tries++) {
		node_id n = x->hosts.at[rng_below(&x->rng, (uint32_t)x->hosts.n)];

		if (n != but && used(x, n) < x->p->fab->nodes[n].vfs)
			return n;
	}
	return FAB_NONE;
}

/* Half of all VFs at most, so that there is room to migrate to. */
static bool vms_start(struct run *x)
{
	size_t room = 0, want = x->p->count;

	if (x->p->vm.host != FAB_NONE)
		return vm_start(x, x->p->vm);
	for (size_t i = 0; i < x->hosts.n; i++)
		room += x->p->fab->nodes[x->hosts.at[i]].vfs;
	want = x->p->together ? want : MIN(want, MAX(room / 2, (size_t)1));
	if (x->p->together && want > room / 2) {
		fault(x, "%zu VMs at once need as many free VFs: there are %zu VFs", want, room);
		return false;
	}
	while (x->vms.n < want) {
		node_id n = host_draw(x, FAB_NONE);

		if (n == FAB_NONE || !vm_start(x, (struct lab_place){n, 0}))
			return false;
	}
	return true;
}

/* ---- migrations ---- */

/* What the manager says of a VM, for its LID before the request. */
static uint16_t lid_of(const struct run *x, const char *name)
{
	struct sm_vm v;

	for (size_t i = 0; sm_vm_get(x->l->lead->sm, i, &v); i++)
		if (!strcmp(v.name, name))
			return v.lid;
	return 0;
}

static struct sm_vm_request migration(struct run *x, size_t vm, struct lab_place to)
{
	struct sm_vm_request q = request(x, SM_VM_MIGRATE, vm, to);
	struct lab_migration m = {.from = x->vms.at[vm], .to = to};

	q.token = (uint32_t)x->r->all.n;
	m.r.lid_before = lid_of(x, q.name);
	vec_push(&x->r->all, m);
	x->vms.at[vm] = to;
	return q;
}

/* Prepopulated: the slot that a VM left has the LID that its new slot had, which moved, too. */
static void swapped(struct run *x, struct lab_place left)
{
	const struct fab *f = sm_fabric(x->l->lead->sm);
	uint64_t guid = x->p->fab->nodes[left.host].guid;

	for (uint32_t i = 0; f && i < f->nvlids; i++)
		if (f->vlids[i].slot == left.slot &&
		    f->nodes[f->ports[f->vlids[i].port].node].guid == guid)
			x->moved[f->vlids[i].lid] = true;
}

/* Takes over where VMs are now. */
static void concluded(struct run *x, size_t first, const size_t *vms)
{
	for (size_t i = first; i < x->r->all.n; i++) {
		struct lab_migration *m = &x->r->all.at[i];

		if (m->r.rc) {
			x->r->refused++;
			fault(x, "%s", m->r.why);
			x->vms.at[vms[i - first]] = m->from;
			continue;
		}
		m->to.slot = m->r.slot;
		x->vms.at[vms[i - first]].slot = m->r.slot;
		x->moved[m->r.lid_after] = x->moved[m->r.lid_before] = true;
		swapped(x, m->from);
	}
}

static bool migrate_one(struct run *x, size_t vm, struct lab_place to)
{
	struct sm_vm_request q;
	bool answered;

	x->first = x->r->all.n;
	q = migration(x, vm, to);
	answered = ask(x, &q, 1);
	concluded(x, x->first, &vm);
	return answered;
}

static bool migrate_together(struct run *x)
{
	VEC(struct sm_vm_request) all = {0};
	VEC(size_t) vms = {0};
	bool answered;

	x->first = x->r->all.n;
	for (size_t vm = 0; vm < x->vms.n; vm++) {
		node_id n = host_draw(x, x->vms.at[vm].host);

		if (n == FAB_NONE)
			continue;
		vec_push(&vms, vm);
		vec_push(&all, migration(x, vm, (struct lab_place){n, 0}));
	}
	answered = ask(x, all.at, all.n);
	concluded(x, x->first, vms.at);
	vec_free(&all);
	vec_free(&vms);
	return answered;
}

static void migrate(struct run *x)
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
		node_id n = host_draw(x, x->vms.at[vm].host);

		go = n != FAB_NONE && migrate_one(x, vm, (struct lab_place){n, 0});
		if (n == FAB_NONE)
			fault(x, "no host with a free VF was found");
	}
}

/* ---- packets and tables ---- */

static void on_discard(void *ctx, node_id n UNUSED, unsigned port UNUSED,
		       enum sim_discard why UNUSED, uint16_t slid, uint16_t dlid)
{
	struct run *x = ctx;

	if (!x->counting)
		return;
	x->r->lost++;
	if (x->moved[slid] || x->moved[dlid])
		x->r->lost_vms++;
	else
		x->r->lost_others++;
}

static int traffic_start(struct run *x, struct err *e)
{
	struct traffic_config t;

	if (!x->p->traffic)
		return 0;
	t = *x->p->traffic;
	t.start_ps = sim_now(x->l->sim);
	t.stop_ps = TIME_NEVER;
	if (sim_traffic(x->l->sim, &t, e))
		return -EINVAL;
	sim_watch_discards(x->l->sim, (struct sim_discard_watch){on_discard, x});
	lab_run_to(x->l, sim_now(x->l->sim) + x->p->warmup);
	return 0;
}

/* Entries of switches, vSwitches left out, for LIDs of which no VM moved. */
static uint64_t others_changed(const struct run *x)
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

static void hosts_find(struct run *x)
{
	struct sm_hypervisor h;

	for (size_t at = 0; sm_hypervisor_next(x->l->lead->sm, &at, &h);)
		vec_push(&x->hosts, fab_node_by_guid(x->p->fab, h.guid));
	x->r->hosts = (uint32_t)x->hosts.n;
	x->r->switches = x->p->fab->nswitches;
}

static bool bring_up(struct run *x)
{
	lab_power_on(x->l, NULL);
	if (!lab_run_ready(x->l, x->p->limit)) {
		fault(x, "the subnet did not come up in time");
		return false;
	}
	hosts_find(x);
	if (!x->hosts.n) {
		fault(x, "the manager found no host with SR-IOV");
		return false;
	}
	x->r->up = vms_start(x);
	x->r->vms = (uint32_t)x->vms.n;
	return x->r->up;
}

static int run_all(struct run *x, struct err *e)
{
	uint64_t sent = 0;
	time_ps from;

	if (!bring_up(x))
		return 0;
	if (traffic_start(x, e))
		return -EINVAL;
	lab_device_tables_read(x->l, &x->before);
	lab_sum_reset(x->l);
	x->counting = true;
	from = sim_now(x->l->sim);
	if (x->p->traffic)
		sent = sim_plane_stats(x->l->sim)->generated;
	migrate(x);
	x->r->time = sim_now(x->l->sim) - from;
	x->r->rounds = lab_sum(x->l)->rounds;
	if (x->p->traffic)
		lab_run_to(x->l, sim_now(x->l->sim) + x->p->tail);
	x->counting = false;
	if (x->p->traffic)
		x->r->sent = sim_plane_stats(x->l->sim)->generated - sent;
	x->r->disturbed = others_changed(x);
	lab_judge(x->l, &x->r->v);
	return 0;
}

int lab_migrate_run(struct lab *l, const struct lab_migrate_plan *p, struct lab_migrate_result *r,
		    struct err *e)
{
	struct run *x = mem_zalloc(sizeof(*x));
	int rc;

	memset(r, 0, sizeof(*r));
	*x = (struct run){.l = l, .p = p, .r = r};
	rng_seed(&x->rng, p->seed, STREAM);
	lab_on_vm(l, on_vm, x);
	rc = run_all(x, e);
	lab_on_vm(l, NULL, NULL);
	if (p->traffic)
		sim_watch_discards(l->sim, (struct sim_discard_watch){0});
	r->hash = sim_hash(l->sim);
	lab_device_tables_free(&x->before);
	vec_free(&x->vms);
	vec_free(&x->hosts);
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
