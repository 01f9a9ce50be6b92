/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a manager on a port of the simulated fabric: delivers SMPs both ways, charges its work to the CPU
 * model, computes routes on request. State: struct lab_manager. Way in: the simulator's callbacks and
 * lab_manager_*(). Does not decide anything a manager decides.
 */
#include "lab/lab_priv.h"
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

static void on_wake(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (!m->sm || cookie != m->wake_at)
		return; /* the manager asked for an earlier one */
	m->wake_at = TIME_NEVER;
	manager_step(m, &(struct sm_event){.kind = SM_EV_WAKE});
}

static void on_smp_processed(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;
	struct sim_smp smp;

	if (!is_current(m, cookie))
		return;
	smp = m->inbox.at[m->inbox_head++];
	if (m->inbox_head == m->inbox.n)
		m->inbox.n = m->inbox_head = 0;
	manager_step(m, &(struct sm_event){.kind = SM_EV_SMP, .mad = smp.mad, .slid = smp.slid});
}

/* The manager processes SMPs one after another, each in the time of the CPU model. */
static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct lab_manager *m = ctx;
	struct sim *sim = m->lab->sim;

	vec_push(&m->inbox, *smp);
	m->sm_free = MAX(m->sm_free, sim_now(sim)) + m->lab->cfg.cpu->sm_ps;
	sim_call(sim, m->sm_free, on_smp_processed, m, cookie_of(m, 0));
}

/* ---- routes ---- */

static void on_routes(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;
	struct sm_routes r = m->routes;

	if (!is_current(m, cookie) || r.epoch != (uint32_t)cookie)
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

	if (!is_current(m, cookie))
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
	sm_compute_run(c, cfg->threads, &m->routes, &done);
	cost = cfg->cpu->route_ps(c->fab, &done);
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
		s->compute[i] += last->compute[i];
	}
	s->entries += last->entries;
	s->sent_blocks += last->sent_blocks;
	for (unsigned i = 0; i < SM_NPHASES; i++)
		s->time[i] += last->time[i];
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		s->smps[i] += last->smps[i];
}

static void manager_step(struct lab_manager *m, struct sm_event *ev)
{
	struct lab *l = m->lab;
	struct sim_smp smp;

	ev->now = sim_now(l->sim);
	sm_step(m->sm, ev, &m->out);
	sum_round(m);
	for (size_t i = 0; l->note && i < m->out.notes.n; i++)
		l->note(l->note_ctx, &m->out.notes.at[i]);
	for (size_t i = 0; i < m->out.sends.n; i++) {
		const struct sm_send *s = &m->out.sends.at[i];

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
}

/* ---- start and stop ---- */

static void on_start(void *ctx, uint64_t cookie)
{
	struct lab_manager *m = ctx;

	if (is_current(m, cookie))
		manager_step(m, &(struct sm_event){.kind = SM_EV_START});
}

static unsigned choose_port(const struct fab *f, node_id n)
{
	if (fab_is_switch(f, n))
		return 0;
	for (unsigned p = 1; p <= f->nodes[n].nports; p++)
		if (f->ports[fab_port_id(f, n, p)].peer != FAB_NONE)
			return p;
	return 1;
}

static void manager_init(struct lab_manager *m, struct lab *l, node_id n, const struct sm_config *c)
{
	*m = (struct lab_manager){.lab = l, .node = n, .cfg = *c, .wake_at = TIME_NEVER};
	m->cfg.port = choose_port(l->fab, n);
	m->sm = sm_new(&m->cfg);
}

void lab_manager_free(struct lab_manager *m)
{
	sm_routes_free(&m->routes);
	sm_free(m->sm);
	sm_actions_free(&m->out);
	vec_free(&m->inbox);
	vec_free(&m->lids);
	free(m->memory);
}

void lab_manager_power_on(struct lab_manager *m)
{
	struct sim *sim = m->lab->sim;

	sim_attach(sim, m->node, m->cfg.port, on_smp, m);
	sim_call(sim, sim_now(sim), on_start, m, cookie_of(m, 0));
}

/* What a daemon keeps in its state file. */
static void keep_lids(struct lab_manager *m)
{
	const struct fab *f = m->lab->fab;
	struct lab_lid l;

	for (port_id p = 0; p < f->nports; p++) {
		l.guid = f->ports[p].guid ? f->ports[p].guid
					  : f->nodes[f->ports[p].node].guid + f->ports[p].num;
		l.lid = sm_lid_of(m->sm, l.guid, &l.lmc);
		if (l.lid)
			vec_push(&m->lids, l);
	}
}

void lab_manager_stop(struct lab *l, unsigned index)
{
	struct lab_manager *m = &l->manager[index];

	if (!m->sm)
		return;
	m->lids.n = 0;
	keep_lids(m);
	free(m->memory);
	m->memory = sm_at_rest(m->sm) ? sm_state_save(m->sm, &m->memory_len) : NULL;
	sim_attach(l->sim, m->node, m->cfg.port, NULL, NULL);
	sm_routes_free(&m->routes);
	sm_free(m->sm);
	m->sm = NULL;
	m->generation++;
	m->inbox.n = m->inbox_head = 0;
	m->sm_free = 0;
	m->wake_at = TIME_NEVER;
	memset(&m->st, 0, sizeof(m->st));
}

static void manager_new(struct lab_manager *m, bool with_lids)
{
	assert(!m->sm);
	m->sm = sm_new(&m->cfg);
	for (size_t i = 0; with_lids && i < m->lids.n; i++)
		sm_seed_lid(m->sm, m->lids.at[i].guid, m->lids.at[i].lid, m->lids.at[i].lmc);
}

void lab_manager_start(struct lab *l, unsigned index, bool with_lids)
{
	manager_new(&l->manager[index], with_lids);
	lab_manager_power_on(&l->manager[index]);
}

bool lab_manager_resume(struct lab *l, unsigned index)
{
	struct lab_manager *m = &l->manager[index];
	struct err e;

	manager_new(m, true);
	if (m->memory && sm_state_load(m->sm, m->memory, m->memory_len, &e))
		assert(!"a manager cannot read the state that a manager wrote");
	lab_manager_power_on(m);
	return m->memory != NULL;
}

void lab_manager_config(struct lab *l, unsigned index, const struct sm_config *c)
{
	struct lab_manager *m = &l->manager[index];
	unsigned port = m->cfg.port;

	m->cfg = *c;
	m->cfg.port = port;
}

void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c)
{
	assert(l->nmanagers < LAB_MANAGERS);
	manager_init(&l->manager[l->nmanagers], l, n, c);
	l->nmanagers++;
}

void lab_manager_lead(struct lab *l, unsigned index)
{
	l->lead = &l->manager[index];
}
