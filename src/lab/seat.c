/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A manager's seat: SMPs across, work charged to the CPU model, routes on request. State: struct
 * lab_seat; whoever sat there before left nothing but SMPs under way. Does not decide anything a
 * manager would.
 */
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"

/* Events that were set for a manager who is gone are for nobody: the cookie's upper half says whose. */
static uint64_t cookie_of(const struct lab_seat *x, uint32_t low)
{
	return (uint64_t)x->life << 32 | low;
}

static bool is_ours(const struct lab_seat *x, uint64_t cookie)
{
	return x->sm && cookie >> 32 == x->life;
}

static void seat_step(struct lab_seat *x, struct sm_event *ev);

static void on_wake(void *ctx, uint64_t cookie)
{
	struct lab_seat *x = ctx;

	if (!x->sm || cookie != x->wake_at)
		return; /* an earlier one was asked for meanwhile */
	x->wake_at = TIME_NEVER;
	seat_step(x, &(struct sm_event){.kind = SM_EV_WAKE});
}

static void on_smp_processed(void *ctx, uint64_t cookie)
{
	struct lab_seat *x = ctx;
	struct sim_smp smp;

	if (!is_ours(x, cookie))
		return;
	smp = x->inbox.at[x->inbox_head++];
	if (x->inbox_head == x->inbox.n)
		x->inbox.n = x->inbox_head = 0;
	seat_step(x, &(struct sm_event){.kind = SM_EV_SMP, .mad = smp.mad, .slid = smp.slid});
}

/* The SM takes SMPs one after another, each for the model's time. */
static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct lab_seat *x = ctx;
	struct sim *sim = x->lab->sim;

	vec_push(&x->inbox, *smp);
	x->sm_free = MAX(x->sm_free, sim_now(sim)) + x->lab->cfg.cpu->sm_ps;
	sim_call(sim, x->sm_free, on_smp_processed, x, cookie_of(x, 0));
}

/* ---- routes ---- */

static void on_routes(void *ctx, uint64_t cookie)
{
	struct lab_seat *x = ctx;
	struct sm_routes r = x->routes;

	if (!is_ours(x, cookie) || r.epoch != (uint32_t)cookie)
		return; /* the SM asked again since */
	x->routes = (struct sm_routes){0};
	seat_step(x, &(struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

/* How far an overlapped computation has come: the SM hears of it in so many steps. */
enum { PROGRESS_STEPS = 64 };

static void on_progress(void *ctx, uint64_t cookie)
{
	struct lab_seat *x = ctx;
	uint32_t low = (uint32_t)cookie, step = low % PROGRESS_STEPS + 1;
	uint32_t ready = MAX(x->progress_top * step / PROGRESS_STEPS, 1u); /* 0 would mean all */

	if (!is_ours(x, cookie))
		return;
	seat_step(x, &(struct sm_event){
			     .kind = SM_EV_PROGRESS,
			     .routes = {.epoch = low / PROGRESS_STEPS, .ready = (uint16_t)ready}});
}

static void overlap(struct lab_seat *x, const struct sm_compute *c, time_ps cost)
{
	struct sim *sim = x->lab->sim;

	x->progress_top = x->routes.tables->stride - 1;
	x->routes.ready = 1;
	for (uint32_t k = 0; k < PROGRESS_STEPS; k++)
		sim_call(sim, sim_now(sim) + cost * (k + 1) / PROGRESS_STEPS, on_progress, x,
			 cookie_of(x, c->epoch * PROGRESS_STEPS + k));
}

static void compute(struct lab_seat *x, const struct sm_compute *c)
{
	const struct lab_config *cfg = &x->lab->cfg;
	struct sm_work_done done;
	time_ps cost;

	sm_routes_free(&x->routes); /* an answer nobody waits for any more */
	sm_compute_run(c, cfg->threads, &x->routes, &done);
	cost = cfg->cpu->route_ps(c->fab, &done);
	if (c->overlap && x->routes.verified) {
		overlap(x, c, cost);
		cost = 0;
	}
	sim_call(x->lab->sim, sim_now(x->lab->sim) + cost, on_routes, x, cookie_of(x, c->epoch));
}

/* ---- actions ---- */

static void sum_round(struct lab_seat *x)
{
	const struct sm_round *last = &x->st.last;
	struct lab_sum *s = &x->sum;
	uint32_t seen = x->st.rounds;

	sm_status(x->sm, &x->st);
	if (x->st.rounds == seen)
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

static void seat_step(struct lab_seat *x, struct sm_event *ev)
{
	struct lab *l = x->lab;
	struct sim_smp smp;

	ev->now = sim_now(l->sim);
	sm_step(x->sm, ev, &x->out);
	sum_round(x);
	for (size_t i = 0; l->note && i < x->out.notes.n; i++)
		l->note(l->note_ctx, &x->out.notes.at[i]);
	for (size_t i = 0; i < x->out.sends.n; i++) {
		const struct sm_send *s = &x->out.sends.at[i];

		memcpy(smp.mad, s->mad, IBA_MAD_SIZE);
		smp.slid = s->slid;
		smp.dlid = s->dlid;
		smp.sl = s->sl;
		sim_send(l->sim, x->node, x->cfg.port, &smp);
	}
	if (x->out.compute.epoch)
		compute(x, &x->out.compute);
	if (x->out.wake < x->wake_at) {
		x->wake_at = x->out.wake;
		sim_call(l->sim, x->wake_at, on_wake, x, x->wake_at);
	}
}

/* ---- who sits there ---- */

static void on_start(void *ctx, uint64_t cookie)
{
	struct lab_seat *x = ctx;

	if (is_ours(x, cookie))
		seat_step(x, &(struct sm_event){.kind = SM_EV_START});
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

void lab_seat_init(struct lab_seat *x, struct lab *l, node_id n, const struct sm_config *c)
{
	*x = (struct lab_seat){.lab = l, .node = n, .cfg = *c, .wake_at = TIME_NEVER};
	x->cfg.port = choose_port(l->fab, n);
	x->sm = sm_new(&x->cfg);
}

void lab_seat_free(struct lab_seat *x)
{
	sm_routes_free(&x->routes);
	sm_free(x->sm);
	sm_actions_free(&x->out);
	vec_free(&x->inbox);
	vec_free(&x->lids);
	free(x->memory);
}

void lab_seat_start(struct lab_seat *x)
{
	struct sim *sim = x->lab->sim;

	sim_attach(sim, x->node, x->cfg.port, on_smp, x);
	sim_call(sim, sim_now(sim), on_start, x, cookie_of(x, 0));
}

/* What a daemon would have written down. */
static void keep_lids(struct lab_seat *x)
{
	const struct fab *f = x->lab->fab;
	struct lab_lid l;

	for (port_id p = 0; p < f->nports; p++) {
		l.guid = f->ports[p].guid ? f->ports[p].guid
					  : f->nodes[f->ports[p].node].guid + f->ports[p].num;
		l.lid = sm_lid_of(x->sm, l.guid, &l.lmc);
		if (l.lid)
			vec_push(&x->lids, l);
	}
}

void lab_manager_stop(struct lab *l, unsigned seat)
{
	struct lab_seat *x = &l->seat[seat];

	if (!x->sm)
		return;
	x->lids.n = 0;
	keep_lids(x);
	free(x->memory);
	x->memory = sm_at_rest(x->sm) ? sm_memory_save(x->sm, &x->memory_len) : NULL;
	sim_attach(l->sim, x->node, x->cfg.port, NULL, NULL);
	sm_routes_free(&x->routes);
	sm_free(x->sm);
	x->sm = NULL;
	x->life++;
	x->inbox.n = x->inbox_head = 0;
	x->sm_free = 0;
	x->wake_at = TIME_NEVER;
	memset(&x->st, 0, sizeof(x->st));
}

static void seat_fill(struct lab_seat *x, bool seeded)
{
	assert(!x->sm);
	x->sm = sm_new(&x->cfg);
	for (size_t i = 0; seeded && i < x->lids.n; i++)
		sm_seed_lid(x->sm, x->lids.at[i].guid, x->lids.at[i].lid, x->lids.at[i].lmc);
}

void lab_manager_start(struct lab *l, unsigned seat, bool seeded)
{
	seat_fill(&l->seat[seat], seeded);
	lab_seat_start(&l->seat[seat]);
}

bool lab_manager_resume(struct lab *l, unsigned seat)
{
	struct lab_seat *x = &l->seat[seat];
	struct err e;

	seat_fill(x, true);
	if (x->memory && sm_memory_load(x->sm, x->memory, x->memory_len, &e))
		assert(!"an SM does not know what an SM wrote");
	lab_seat_start(x);
	return x->memory != NULL;
}

void lab_manager_config(struct lab *l, unsigned seat, const struct sm_config *c)
{
	struct lab_seat *x = &l->seat[seat];
	unsigned port = x->cfg.port;

	x->cfg = *c;
	x->cfg.port = port;
}

void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c)
{
	assert(l->nseats < LAB_SEATS);
	lab_seat_init(&l->seat[l->nseats], l, n, c);
	l->nseats++;
}

void lab_manager_lead(struct lab *l, unsigned seat)
{
	l->lead = &l->seat[seat];
}
