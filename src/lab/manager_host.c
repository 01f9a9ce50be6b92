/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a manager on a port of the simulated fabric: delivers SMPs both ways, charges its work to the CPU
 * model, computes routes on request. State: struct lab_manager. Way in: the simulator's callbacks and
 * lab_manager_*(). Does not decide anything a manager decides.
 */
#include "lab/given_tables.h"
#include "lab/host_sls.h"
#include "lab/lab_priv.h"
#include "policy/policy.h"
#include "sim/kernel/sim_kernel.h"

/* The upper half of a cookie is the manager's generation: events of a stopped manager are ignored. */
static uint64_t cookie_of(const struct lab_manager *m, uint32_t low)
{
	return (uint64_t)m->generation << 32 | low;
}

static bool is_current(const struct lab_manager *m, uint64_t cookie)
{
	return m->sm && cookie >> 32 == m->generation;
}

static void manager_step(struct lab_manager *m, struct sm_event *ev);

/* A paused manager gets its timers and routes when it continues. */
static bool is_late(struct lab_manager *m, void (*fn)(void *ctx, uint64_t cookie), uint64_t cookie)
{
	if (m->paused)
		vec_push(&m->late, (struct lab_late){fn, cookie});
	return m->paused;
}

static void on_wake(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (!m->sm || cookie != m->wake_at || is_late(m, on_wake, cookie))
		return; /* the manager asked for an earlier one */
	m->wake_at = TIME_NEVER;
	manager_step(m, &(struct sm_event){.kind = SM_EV_WAKE});
}

static void on_smp_processed(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;
	struct sim_smp smp;

	if (!is_current(m, cookie) || (uint32_t)cookie != m->pauses || m->paused)
		return;
	smp = m->inbox.at[m->inbox_head++];
	if (m->inbox_head == m->inbox.n)
		m->inbox.n = m->inbox_head = 0;
	if (iba_smp_mgmt_class(smp.mad) == IBA_CLASS_SUBN_ADM) {
		lab_sa_take(m, &smp);
		return;
	}
	manager_step(m, &(struct sm_event){.kind = SM_EV_SMP,
					   .mad = smp.mad,
					   .slid = smp.slid,
					   .qp = iba_is_vendor(smp.mad)});
}

/* The manager processes SMPs one after another, each in the time of the CPU model. */
static void process_next(struct lab_manager *m)
{
	const struct lab_cpu *cpu = m->lab->cfg.cpu;
	struct sim *sim = m->lab->sim;
	time_ps t = cpu->smp_ps ? cpu->smp_ps(m->lab->fab, &m->cfg, m->st.phase) : cpu->sm_ps;

	if (m->st.phase == SM_DISCOVER) {
		m->sum.processed++;
		m->sum.processing += t;
	}
	m->sm_free = MAX(m->sm_free, sim_now(sim)) + t;
	sim_call(sim, m->sm_free, on_smp_processed, m, cookie_of(m, m->pauses));
}

static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct lab_manager *m = ctx;

	if (m->paused && m->inbox.n - m->inbox_head >= LAB_PAUSED_SMPS)
		return;
	vec_push(&m->inbox, *smp);
	if (!m->paused)
		process_next(m);
}

/* ---- routes ---- */

static void on_routes(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;
	struct sm_routes r = m->routes;

	if (!is_current(m, cookie) || r.epoch != (uint32_t)cookie || is_late(m, on_routes, cookie))
		return; /* the manager has sent a newer request */
	m->routes = (struct sm_routes){0};
	manager_step(m, &(struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

/* The manager is informed of the progress of an overlapped computation in this many steps. */
enum { PROGRESS_STEPS = 64 };

static void on_progress(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;
	uint32_t low = (uint32_t)cookie, step = low % PROGRESS_STEPS + 1;
	uint32_t ready = MAX(m->progress_top * step / PROGRESS_STEPS, 1u); /* 0 means all */

	if (!is_current(m, cookie) || is_late(m, on_progress, cookie))
		return;
	manager_step(m, &(struct sm_event){.kind = SM_EV_PROGRESS,
					   .routes = {.epoch = low / PROGRESS_STEPS,
						      .ready = (uint16_t)ready}});
}

static void overlap(struct lab_manager *m, const struct sm_compute *c, time_ps cost)
{
	struct sim *sim = m->lab->sim;

	m->progress_top = m->routes.tables->stride - 1;
	m->routes.ready = 1;
	for (uint32_t k = 0; k < PROGRESS_STEPS; k++)
		sim_call(sim, sim_now(sim) + cost * (k + 1) / PROGRESS_STEPS, on_progress, m,
			 cookie_of(m, c->epoch * PROGRESS_STEPS + k));
}

static void compute(struct lab_manager *m, const struct sm_compute *c)
{
	const struct lab_config *cfg = &m->lab->cfg;
	struct sm_work_done done;
	time_ps cost;

	sm_routes_free(&m->routes); /* the answer to an older request */
	if (!cfg->given || !lab_given_answer(cfg->given, c, cfg->threads, &m->routes, &done))
		sm_compute_run(c, cfg->threads, &m->routes, &done);
	cost = cfg->cpu->route_ps(c->fab, &done) + m->routes.tried_ps;
	if (c->overlap && m->routes.verified) {
		overlap(m, c, cost);
		cost = 0;
	}
	sim_call(m->lab->sim, sim_now(m->lab->sim) + cost, on_routes, m, cookie_of(m, c->epoch));
}

/* ---- actions ---- */

static void sum_round(struct lab_manager *m)
{
	const struct sm_round *last = &m->st.last;
	struct lab_sum *s = &m->sum;
	uint32_t seen = m->st.rounds;

	sm_status(m->sm, &m->st);
	if (m->st.rounds == seen)
		return;
	if (!s->rounds++) {
		s->first_start = last->start;
		s->cause = last->cause;
	}
	s->last_end = last->end;
	s->restarts += last->restarts;
	for (unsigned i = 0; i < SM_NSTAGES; i++) {
		s->in_place[i] = last->in_place[i] ? last->in_place[i] : s->in_place[i];
		s->complete[i] = last->complete[i] ? last->complete[i] : s->complete[i];
		s->compute[i] += last->compute[i];
	}
	s->entries += last->entries;
	s->sent_blocks += last->sent_blocks;
	for (unsigned i = 0; i < SM_NPHASES; i++) {
		s->time[i] += last->time[i];
		s->sent[i] += last->sent[i];
	}
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		s->smps[i] += last->smps[i];
	if (m->lab->round && m == m->lab->lead)
		m->lab->round(m->lab->round_ctx);
}

void lab_manager_sum_reset(struct lab_manager *m)
{
	m->sum = (struct lab_sum){0};
}

static void count_request(struct lab_manager *m, const uint8_t *mad)
{
	struct lab_requests *r = &m->sum.requests;
	unsigned attr = iba_smp_attr_id(mad);

	if (attr >= LAB_ATTRS || iba_is_gmp(mad))
		return;
	if (iba_smp_method(mad) == IBA_GET)
		r->get[attr]++;
	else if (iba_smp_method(mad) == IBA_SET)
		r->set[attr]++;
}

static void manager_step(struct lab_manager *m, struct sm_event *ev)
{
	struct lab *l = m->lab;
	struct sim_smp smp;

	ev->now = sim_now(l->sim);
	sm_step(m->sm, ev, &m->out);
	lab_sls_learn(l, m->sm, &m->sls_number);
	sum_round(m);
	for (size_t i = 0; l->note && i < m->out.notes.n; i++)
		lab_note_now(l, m->index, &m->out.notes.at[i]);
	for (size_t i = 0; l->vm && i < m->out.vms.n; i++)
		l->vm(l->vm_ctx, &m->out.vms.at[i]);
	for (size_t i = 0; i < m->out.sends.n; i++) {
		const struct sm_send *s = &m->out.sends.at[i];

		count_request(m, s->mad);
		memcpy(smp.mad, s->mad, IBA_MAD_SIZE);
		smp.slid = s->slid;
		smp.dlid = s->dlid;
		smp.sl = s->sl;
		sim_send(l->sim, m->node, m->cfg.port, &smp);
	}
	if (m->out.compute.epoch)
		compute(m, &m->out.compute);
	if (m->out.wake < m->wake_at) {
		m->wake_at = m->out.wake;
		sim_call(l->sim, m->wake_at, on_wake, m, m->wake_at);
	}
	lab_sa_work(m);
}

void lab_manager_event(struct lab_manager *m, struct sm_event *ev)
{
	manager_step(m, ev);
}

/* ---- start and stop ---- */

static void on_start(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (is_current(m, cookie) && !is_late(m, on_start, cookie))
		manager_step(m, &(struct sm_event){.kind = SM_EV_START});
}

/* In an HCA in vSwitch mode the uplink, unless the manager takes that for an ordinary switch. */
static unsigned choose_port(const struct fab *f, node_id n, const struct sm_config *c)
{
	if (fab_is_switch(f, n))
		return f->nodes[n].flags & FAB_VSWITCH && c->scheme != SM_SCHEME_NONE ? FAB_UPLINK
										      : 0;
	for (unsigned p = 1; p <= f->nodes[n].nports; p++)
		if (f->ports[fab_port_id(f, n, p)].peer != FAB_NONE)
			return p;
	return 1;
}

struct lab_manager *lab_manager_new(struct lab *l, unsigned index, const struct lab_seat *seat)
{
	struct lab_manager *m = mem_zalloc(sizeof(*m));

	*m = (struct lab_manager){.lab = l,
				  .index = index,
				  .node = seat->node,
				  .cfg = seat->sm,
				  .start = seat->start,
				  .wake_at = TIME_NEVER};
	m->cfg.port = choose_port(l->fab, m->node, &m->cfg);
	m->sm = sm_new(&m->cfg);
	if (l->cfg.given)
		lab_given_seed(l->cfg.given, m->sm);
	lab_sa_open(m);
	return m;
}

void lab_manager_free(struct lab_manager *m)
{
	lab_sa_free(m);
	sm_routes_free(&m->routes);
	sm_free(m->sm);
	sm_actions_free(&m->out);
	vec_free(&m->inbox);
	vec_free(&m->lids);
	vec_free(&m->vms);
	vec_free(&m->late);
	free(m->memory);
	pol_free(m->policy);
	free(m);
}

static void attach(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;

	sim_attach(sim, m->node, m->cfg.port, on_smp, m);
	sim_call(sim, sim_now(sim), on_start, m, cookie_of(m, 0));
}

static void on_power(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (is_current(m, cookie))
		attach(m);
}

void lab_manager_power_on(struct lab_manager *m)
{
	if (m->start)
		sim_call(m->lab->sim, m->start, on_power, m, cookie_of(m, 0));
	else
		attach(m);
}

/* Netlists may have no port GUIDs. A manager at a vSwitch takes the port of its PF for its own. */
static uint64_t port_guid(const struct fab *f, port_id p)
{
	if (f->nodes[f->ports[p].node].flags & FAB_VSWITCH)
		return fab_function_guid(f->nodes[f->ports[p].node].guid, 0);
	return f->ports[p].guid ? f->ports[p].guid
				: f->nodes[f->ports[p].node].guid + f->ports[p].num;
}

uint64_t lab_manager_guid(const struct lab *l, unsigned index)
{
	return port_guid(l->fab, lab_manager_port(l, index));
}

/* What a daemon keeps in its state file. */
static void keep_lids(struct lab_manager *m)
{
	const struct fab *f = m->lab->fab;
	struct lab_lid l;

	for (port_id p = 0; p < f->nports; p++) {
		l.guid = port_guid(f, p);
		l.lid = sm_lid_of(m->sm, l.guid, &l.lmc);
		if (l.lid)
			vec_push(&m->lids, l);
	}
}

static void keep_vms(struct lab_manager *m)
{
	struct sm_vm v;

	m->vms.n = 0;
	for (size_t i = 0; sm_vm_get(m->sm, i, &v); i++) {
		vec_push(&m->vms, v);
		if (v.lid && sm_lid_of(m->sm, v.guid, NULL))
			vec_push(&m->lids, (struct lab_lid){v.guid, v.lid, 0});
	}
}

static void manager_stop(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;

	m->lids.n = 0;
	keep_lids(m);
	keep_vms(m);
	free(m->memory);
	m->memory = sm_at_rest(m->sm) ? sm_state_save(m->sm, &m->memory_len) : NULL;
	sim_attach(sim, m->node, m->cfg.port, NULL, NULL);
	lab_sa_close(m);
	sm_routes_free(&m->routes);
	sm_free(m->sm);
	m->sm = NULL;
	m->generation++;
	m->inbox.n = m->inbox_head = 0;
	m->paused = false;
	m->late.n = 0;
	m->sm_free = 0;
	m->wake_at = TIME_NEVER;
	memset(&m->st, 0, sizeof(m->st));
}

void lab_manager_stop(struct lab *l, unsigned index)
{
	if (l->managers.at[index]->sm)
		manager_stop(l->managers.at[index]);
}

static void manager_new(struct lab_manager *m, bool with_lids)
{
	assert(!m->sm);
	m->sm = sm_new(&m->cfg);
	if (m->policy)
		sm_policy_set(m->sm, m->policy);
	m->sls_number = 0;
	for (size_t i = 0; with_lids && i < m->lids.n; i++)
		sm_seed_lid(m->sm, m->lids.at[i].guid, m->lids.at[i].lid, m->lids.at[i].lmc);
	for (size_t i = 0; with_lids && i < m->vms.n; i++)
		sm_seed_vm(m->sm, &m->vms.at[i]);
	lab_sa_open(m);
}

void lab_manager_start(struct lab *l, unsigned index, bool with_lids)
{
	manager_new(l->managers.at[index], with_lids);
	attach(l->managers.at[index]);
}

bool lab_manager_resume(struct lab *l, unsigned index)
{
	struct lab_manager *m = l->managers.at[index];
	struct err e;

	manager_new(m, true);
	if (m->memory && sm_state_load(m->sm, m->memory, m->memory_len, &e))
		assert(!"a manager cannot read the state that a manager wrote");
	attach(m);
	return m->memory != NULL;
}

int lab_manager_resume_with(struct lab *l, unsigned index, const uint8_t *state, size_t len,
			    struct err *e)
{
	struct lab_manager *m = l->managers.at[index];
	int rc;

	manager_new(m, true);
	rc = sm_state_load(m->sm, state, len, e);
	if (rc) { /* as the daemon: a manager that read half of it is not used */
		lab_sa_close(m);
		sm_free(m->sm);
		m->sm = NULL;
		manager_new(m, true);
	}
	attach(m);
	return rc;
}

const uint8_t *lab_manager_memory(const struct lab *l, unsigned index, size_t *len)
{
	*len = l->managers.at[index]->memory_len;
	return l->managers.at[index]->memory;
}

/* ---- a process that is stopped and goes on ---- */

static void manager_pause(struct lab_manager *m)
{
	if (!m->sm || m->paused)
		return;
	m->paused = true;
	m->pauses++;
}

static void manager_continue(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;

	if (!m->paused)
		return;
	m->paused = false;
	for (size_t i = 0; i < m->late.n; i++)
		sim_call(sim, sim_now(sim), m->late.at[i].fn, m, m->late.at[i].cookie);
	m->late.n = 0;
	for (size_t i = m->inbox_head; i < m->inbox.n; i++)
		process_next(m);
}

void lab_manager_pause(struct lab *l, unsigned index)
{
	manager_pause(l->managers.at[index]);
}

void lab_manager_continue(struct lab *l, unsigned index)
{
	manager_continue(l->managers.at[index]);
}

bool lab_manager_paused(const struct lab *l, unsigned index)
{
	return l->managers.at[index]->paused;
}

void lab_manager_order(struct lab *l, unsigned index, enum sm_event_kind order, uint64_t guid)
{
	struct lab_manager *m = l->managers.at[index];

	if (m->sm && !m->paused && m->st.phase != SM_OFF)
		manager_step(m, &(struct sm_event){.kind = order, .guid = guid});
}

void lab_manager_isolate(struct lab *l, unsigned index, uint64_t guid, unsigned port, bool isolate)
{
	struct lab_manager *m = l->managers.at[index];

	if (m->sm && !m->paused && m->st.phase != SM_OFF)
		manager_step(m, &(struct sm_event){.kind = SM_EV_ISOLATE,
						   .guid = guid,
						   .port = (uint8_t)port,
						   .isolate = isolate});
}

void lab_manager_policy(struct lab *l, unsigned index, const struct pol *p)
{
	struct lab_manager *m = l->managers.at[index];

	pol_free(m->policy);
	m->policy = pol_copy(p);
	if (!m->sm)
		return;
	sm_policy_set(m->sm, p);
	lab_manager_order(l, index, SM_EV_WAKE, 0);
}

bool lab_manager_vms(struct lab *l, unsigned index, const struct sm_vm_request *r, size_t n)
{
	struct lab_manager *m = l->managers.at[index];

	if (!m->sm || m->paused || m->st.phase == SM_OFF)
		return false;
	manager_step(m, &(struct sm_event){.kind = SM_EV_VMS, .vms = r, .nvms = n});
	return true;
}

bool lab_manager_groups(struct lab *l, unsigned index, const struct sm_group *g, size_t n)
{
	struct lab_manager *m = l->managers.at[index];

	if (!m->sm || m->paused)
		return false;
	for (size_t i = 0; i < n; i++)
		l->mlid_sl[(g[i].mlid - IBA_LID_MCAST_FIRST) % FAB_MCAST_MAX] = g[i].sl;
	manager_step(m, &(struct sm_event){.kind = SM_EV_GROUPS, .groups = g, .ngroups = n});
	return true;
}

bool lab_manager_aliases(struct lab *l, unsigned index, const struct sm_alias *a, size_t n)
{
	struct lab_manager *m = l->managers.at[index];

	if (!m->sm || m->paused)
		return false;
	manager_step(m, &(struct sm_event){.kind = SM_EV_ALIASES, .aliases = a, .naliases = n});
	return true;
}

void lab_on_vm(struct lab *l, void (*fn)(void *ctx, const struct sm_vm_result *r), void *ctx)
{
	l->vm = fn;
	l->vm_ctx = ctx;
}

void lab_manager_seat(struct lab *l, unsigned index, node_id n)
{
	struct lab_manager *m = l->managers.at[index];

	assert(!m->sm);
	m->node = n;
	m->cfg.port = choose_port(l->fab, n, &m->cfg);
}

static void set_config(struct lab_manager *m, const struct sm_config *c)
{
	unsigned port = m->cfg.port;

	m->cfg = *c;
	m->cfg.port = port;
}

void lab_manager_config(struct lab *l, unsigned index, const struct sm_config *c)
{
	set_config(l->managers.at[index], c);
}
