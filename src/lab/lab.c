/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SM on a simulated fabric: SMPs across, work charged to the CPU model, routes on request. State:
 * struct lab. Way in: lab_new(), lab_power_on(), lab_run_*(). Does not decide anything an SM would.
 */
#include "lab/lab_priv.h"

void lab_config_default(struct lab_config *c)
{
	memset(c, 0, sizeof(*c));
	sim_config_default(&c->sim);
	sm_config_default(&c->sm);
	c->cpu = &lab_cpus[0];
	c->sm_node = FAB_NONE;
}

/* ---- the SM's side ---- */

static void lab_step(struct lab *l, struct sm_event *ev);

static void on_wake(void *ctx, uint64_t cookie)
{
	struct lab *l = ctx;

	if (cookie != l->wake_at)
		return; /* an earlier one was asked for meanwhile */
	l->wake_at = TIME_NEVER;
	lab_step(l, &(struct sm_event){.kind = SM_EV_WAKE});
}

static void on_smp_processed(void *ctx, uint64_t cookie)
{
	struct lab *l = ctx;
	struct sim_smp smp = l->inbox.at[l->inbox_head++];

	(void)cookie;
	if (l->inbox_head == l->inbox.n)
		l->inbox.n = l->inbox_head = 0;
	lab_step(l, &(struct sm_event){.kind = SM_EV_SMP, .mad = smp.mad, .slid = smp.slid});
}

/* The SM takes SMPs one after another, each for the model's time. */
static void on_smp(void *ctx, const struct sim_smp *smp)
{
	struct lab *l = ctx;

	vec_push(&l->inbox, *smp);
	l->sm_free = MAX(l->sm_free, sim_now(l->sim)) + l->cfg.cpu->sm_ps;
	sim_call(l->sim, l->sm_free, on_smp_processed, l, 0);
}

/* ---- routes ---- */

static void on_routes(void *ctx, uint64_t cookie)
{
	struct lab *l = ctx;
	struct sm_routes r = l->routes;

	if (r.epoch != cookie)
		return; /* the SM asked again since */
	l->routes = (struct sm_routes){0};
	lab_step(l, &(struct sm_event){.kind = SM_EV_ROUTES, .routes = r});
}

/* How far an overlapped computation has come: the SM hears of it in so many steps. */
enum { PROGRESS_STEPS = 64 };

static void on_progress(void *ctx, uint64_t cookie)
{
	struct lab *l = ctx;
	uint32_t step = cookie % PROGRESS_STEPS + 1, top = l->progress_top;
	uint32_t ready = MAX(top * step / PROGRESS_STEPS, 1u); /* 0 would mean all */

	lab_step(l, &(struct sm_event){.kind = SM_EV_PROGRESS,
				       .routes = {.epoch = (uint32_t)(cookie / PROGRESS_STEPS),
						  .ready = (uint16_t)ready}});
}

static void overlap(struct lab *l, const struct sm_compute *c, time_ps cost)
{
	l->progress_top = l->routes.tables->stride - 1;
	l->routes.ready = 1;
	for (uint64_t k = 0; k < PROGRESS_STEPS; k++)
		sim_call(l->sim, sim_now(l->sim) + cost * (k + 1) / PROGRESS_STEPS, on_progress, l,
			 c->epoch * (uint64_t)PROGRESS_STEPS + k);
}

static void compute(struct lab *l, const struct sm_compute *c)
{
	struct sm_work_done done;
	time_ps cost;

	sm_routes_free(&l->routes); /* an answer nobody waits for any more */
	sm_compute_run(c, l->cfg.threads, &l->routes, &done);
	cost = l->cfg.cpu->route_ps(c->fab, &done);
	if (c->overlap && l->routes.verified) {
		overlap(l, c, cost);
		cost = 0;
	}
	sim_call(l->sim, sim_now(l->sim) + cost, on_routes, l, c->epoch);
}

/* ---- actions ---- */

static void sum_round(struct lab *l)
{
	const struct sm_round *last = &l->st.last;
	struct lab_sum *s = &l->sum;
	uint32_t seen = l->st.rounds;

	sm_status(l->sm, &l->st);
	if (l->st.rounds == seen)
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

static void lab_step(struct lab *l, struct sm_event *ev)
{
	struct sim_smp smp;

	ev->now = sim_now(l->sim);
	sm_step(l->sm, ev, &l->out);
	sum_round(l);
	for (size_t i = 0; l->note && i < l->out.notes.n; i++)
		l->note(l->note_ctx, &l->out.notes.at[i]);
	for (size_t i = 0; i < l->out.sends.n; i++) {
		const struct sm_send *s = &l->out.sends.at[i];

		memcpy(smp.mad, s->mad, IBA_MAD_SIZE);
		smp.slid = s->slid;
		smp.dlid = s->dlid;
		smp.sl = s->sl;
		sim_send(l->sim, l->node, l->cfg.sm.port, &smp);
	}
	if (l->out.compute.epoch)
		compute(l, &l->out.compute);
	if (l->out.wake < l->wake_at) {
		l->wake_at = l->out.wake;
		sim_call(l->sim, l->wake_at, on_wake, l, l->wake_at);
	}
}

static void on_start(void *ctx, uint64_t cookie)
{
	(void)cookie;
	lab_step(ctx, &(struct sm_event){.kind = SM_EV_START});
}

/* ---- life ---- */

/* How many nodes can be reached from n; those are marked in seen. */
static uint32_t part_size(const struct fab *f, node_id n, uint32_t *dist, bool *seen)
{
	uint32_t size = 0;

	fab_distances(f, n, dist);
	for (node_id m = 0; m < f->nnodes; m++) {
		size += dist[m] != UINT32_MAX;
		seen[m] |= dist[m] != UINT32_MAX;
	}
	return size;
}

/* The first host of the largest part, so that a stray node does not make the subnet its own. */
node_id lab_choose_node(const struct fab *f)
{
	uint32_t *dist = mem_array(f->nnodes, sizeof(*dist)), best_size = 0;
	bool *seen = mem_zarray(f->nnodes, sizeof(*seen));
	node_id best = FAB_NONE;

	for (int hosts = 1; hosts >= 0 && best == FAB_NONE; hosts--)
		for (node_id n = 0; n < f->nnodes; n++) {
			bool host = f->nodes[n].type == IBA_NODE_CA && !(f->nodes[n].flags & FAB_SHARP_AN);
			uint32_t size;

			if (seen[n] || host != hosts)
				continue;
			size = part_size(f, n, dist, seen);
			best = size > best_size ? n : best;
			best_size = MAX(size, best_size);
		}
	free(dist);
	free(seen);
	return best;
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

struct lab *lab_new(const struct fab *f, const struct lab_config *c, struct err *e)
{
	struct lab *l;
	node_id n = c->sm_node != FAB_NONE ? c->sm_node : lab_choose_node(f);

	if (n == FAB_NONE) {
		err_set(e, -EINVAL, "the fabric is empty: there is no node for the subnet manager");
		return NULL;
	}
	l = mem_zalloc(sizeof(*l));
	l->cfg = *c;
	l->fab = f;
	l->node = n;
	l->cfg.sm.port = choose_port(f, n);
	l->cfg.sim.traps |= c->sm.mechanism.traps;
	l->cfg.sim.smi_ps = c->cpu->smi_ps;
	l->cfg.sim.sma_ps = c->cpu->sma_ps;
	l->sim = sim_new(f, &l->cfg.sim);
	l->sm = sm_new(&l->cfg.sm);
	l->wake_at = TIME_NEVER;
	return l;
}

void lab_free(struct lab *l)
{
	if (!l)
		return;
	sm_routes_free(&l->routes);
	sm_free(l->sm);
	sim_free(l->sim);
	sm_actions_free(&l->out);
	vec_free(&l->inbox);
	free(l);
}

void lab_on_note(struct lab *l, void (*fn)(void *ctx, const struct sm_note *n), void *ctx)
{
	l->note = fn;
	l->note_ctx = ctx;
}

void lab_on_tick(struct lab *l, void (*fn)(void *ctx), void *ctx)
{
	l->tick = fn;
	l->tick_ctx = ctx;
}

struct sim *lab_sim(struct lab *l)
{
	return l->sim;
}

const struct sm *lab_sm(const struct lab *l)
{
	return l->sm;
}

node_id lab_sm_node(const struct lab *l)
{
	return l->node;
}

void lab_power_on(struct lab *l, const bool *on)
{
	for (node_id n = 0; n < l->fab->nnodes; n++)
		if (!on || on[n])
			sim_node_power(l->sim, n, true);
	sim_attach(l->sim, l->node, l->cfg.sm.port, on_smp, l);
	sim_call(l->sim, sim_now(l->sim), on_start, l, 0);
}

/* ---- running ---- */

static void run_one(struct lab *l)
{
	sim_step(l->sim);
	if (l->tick && sim_stats(l->sim)->events % 65536 == 0)
		l->tick(l->tick_ctx);
}

static bool at_rest(const struct lab *l)
{
	return l->st.phase == SM_READY && !l->st.change_pending && l->st.rounds;
}

bool lab_run_ready(struct lab *l, time_ps limit)
{
	while (!at_rest(l) && sim_next(l->sim) <= limit)
		run_one(l);
	return at_rest(l);
}

bool lab_run_settled(struct lab *l, time_ps since, time_ps limit)
{
	const struct sm_status *st = &l->st;

	for (;;) {
		if (at_rest(l) && st->clean_sweeps && st->last_sweep_start >= since &&
		    st->last_sweep_start >= st->last.end)
			return true;
		if (sim_next(l->sim) > limit)
			return false;
		run_one(l);
	}
}

void lab_run_until(struct lab *l, time_ps t)
{
	for (unsigned i = 0; sim_next(l->sim) <= t; i++)
		if (i % 64 || !sim_run_apart(l->sim, t, l->cfg.threads, l->tick, l->tick_ctx))
			run_one(l);
}

void lab_sum_reset(struct lab *l)
{
	l->sum = (struct lab_sum){0};
}

const struct lab_sum *lab_sum(const struct lab *l)
{
	return &l->sum;
}
