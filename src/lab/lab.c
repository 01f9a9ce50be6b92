/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Managers on a simulated fabric, under one clock. State: struct lab. Way in: lab_new(), lab_power_on(),
 * lab_run_*(). Does not run a manager's steps: manager_host.c does.
 */
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"

void lab_config_default(struct lab_config *c)
{
	memset(c, 0, sizeof(*c));
	sim_config_default(&c->sim);
	sm_config_default(&c->sm);
	c->cpu = &lab_cpus[0];
	c->sm_node = FAB_NONE;
}

/* ---- making a lab ---- */

/* The number of nodes connected to n; they are marked in seen. */
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

/* The first host of the largest part, so that the manager is not on an isolated node. */
node_id lab_choose_node(const struct fab *f)
{
	uint32_t *dist = mem_array(f->nnodes, sizeof(*dist)), best_size = 0;
	bool *seen = mem_zarray(f->nnodes, sizeof(*seen));
	node_id best = FAB_NONE;

	for (int hosts = 1; hosts >= 0 && best == FAB_NONE; hosts--)
		for (node_id n = 0; n < f->nnodes; n++) {
			bool host = f->nodes[n].type == IBA_NODE_CA &&
				    !(f->nodes[n].flags & FAB_SHARP_AN);
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

struct lab *lab_new(const struct fab *f, const struct lab_config *c, struct err *e)
{
	struct lab *l;
	node_id n = c->sm_node != FAB_NONE ? c->sm_node : lab_choose_node(f);

	if (n == FAB_NONE) {
		err_set(e, -EINVAL, "the fabric has no node for the subnet manager");
		return NULL;
	}
	l = mem_zalloc(sizeof(*l));
	l->cfg = *c;
	l->fab = f;
	l->cfg.sim.traps |= c->sm.mechanism.traps;
	l->cfg.sim.smi_ps = c->cpu->smi_ps;
	l->cfg.sim.sma_ps = c->cpu->sma_ps;
	l->sim = sim_new(f, &l->cfg.sim);
	lab_manager_add(l, n, &l->cfg.sm);
	l->lead = &l->manager[0];
	l->cfg.sm.port = l->manager[0].cfg.port;
	return l;
}

void lab_free(struct lab *l)
{
	if (!l)
		return;
	for (unsigned i = 0; i < l->nmanagers; i++)
		lab_manager_free(&l->manager[i]);
	sim_free(l->sim);
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
	return l->lead->sm;
}

node_id lab_sm_node(const struct lab *l)
{
	return l->lead->node;
}

const struct fab *lab_fabric(const struct lab *l)
{
	return l->fab;
}

const struct lab_config *lab_config(const struct lab *l)
{
	return &l->cfg;
}

const struct sm_status *lab_status(const struct lab *l)
{
	return &l->lead->st;
}

void lab_power_on(struct lab *l, const bool *on)
{
	for (node_id n = 0; n < l->fab->nnodes; n++)
		if (!on || on[n])
			sim_node_power(l->sim, n, true);
	for (unsigned i = 0; i < l->nmanagers; i++)
		if (l->manager[i].sm)
			lab_manager_power_on(&l->manager[i]);
}

/* ---- running ---- */

static void run_one(struct lab *l)
{
	sim_step(l->sim);
	if (l->tick && sim_events(l->sim) % 65536 == 0)
		l->tick(l->tick_ctx);
}

static bool at_rest(const struct lab *l)
{
	const struct sm_status *st = &l->lead->st;

	return st->phase == SM_READY && !st->change_pending && st->rounds;
}

bool lab_run_ready(struct lab *l, time_ps limit)
{
	while (!at_rest(l) && sim_next(l->sim) <= limit)
		run_one(l);
	return at_rest(l);
}

bool lab_run_settled(struct lab *l, time_ps since, time_ps limit)
{
	const struct sm_status *st = &l->lead->st;

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
		if (i % 64 || !sim_run_parallel(l->sim, t, l->cfg.threads, l->tick, l->tick_ctx))
			run_one(l);
}

void lab_sum_reset(struct lab *l)
{
	l->lead->sum = (struct lab_sum){0};
}

const struct lab_sum *lab_sum(const struct lab *l)
{
	return &l->lead->sum;
}

const struct sm *lab_manager_sm(const struct lab *l, unsigned index)
{
	return l->manager[index].sm;
}

const struct sm_status *lab_manager_status(const struct lab *l, unsigned index)
{
	return &l->manager[index].st;
}
