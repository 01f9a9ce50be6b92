/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Managers on a simulated fabric, under one clock. State: struct lab. Way in: lab_new(), lab_power_on(),
 * lab_run_*(). Does not run a manager's steps: manager_host.c does.
 */
#include "lab/host_sls.h"
#include "lab/lab_priv.h"
#include "sim/kernel/sim_kernel.h"

enum { EVENTS_AT_ONCE = 1024, EVENTS_PER_TICK = 65536 };

void lab_config_default(struct lab_config *c)
{
	memset(c, 0, sizeof(*c));
	sim_config_default(&c->sim);
	sm_config_default(&c->sm);
	c->cpu = &lab_cpus[0];
	c->sm_node = FAB_NONE;
}

/* ---- making a lab ---- */

struct parts {
	const struct fab *f;
	node_id *queue;
	uint32_t *part; /* by node: the last part that has it; 0: none yet */
	uint32_t n;	/* parts so far */
};

/* The number of nodes connected to `from`. Takes time for these alone: a fabric may have many parts. Hosts do not
 * forward. */
static uint32_t part_size(struct parts *parts, node_id from)
{
	const struct fab *f = parts->f;
	uint32_t head = 0, tail = 0;

	parts->part[from] = ++parts->n;
	parts->queue[tail++] = from;
	while (head < tail) {
		const node_id n = parts->queue[head++];
		const struct fab_port *p = f->ports + f->nodes[n].first_port;

		if (n != from && !fab_is_switch(f, n))
			continue;
		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			node_id m = p[i].peer == FAB_NONE ? n : f->ports[p[i].peer].node;

			if (parts->part[m] != parts->n)
				parts->queue[tail++] = m;
			parts->part[m] = parts->n;
		}
	}
	return tail;
}

/* An HCA in vSwitch mode is a host, its functions are not. */
static bool is_host(const struct fab *f, node_id n)
{
	const struct fab_node *s = &f->nodes[n];

	return s->flags & FAB_VSWITCH ||
	       (s->type == IBA_NODE_CA && !(s->flags & (FAB_SHARP_AN | FAB_FUNCTION)));
}

/* The first host of the largest part, so that the manager is not on an isolated node. */
node_id lab_choose_node(const struct fab *f)
{
	struct parts parts = {f, mem_array(f->nnodes, sizeof(*parts.queue)),
			      mem_zarray(f->nnodes, sizeof(*parts.part)), 0};
	uint32_t best_size = 0;
	node_id best = FAB_NONE;

	for (int hosts = 1; hosts >= 0 && best == FAB_NONE; hosts--)
		for (node_id n = 0; n < f->nnodes; n++) {
			uint32_t size;

			if (parts.part[n] || is_host(f, n) != hosts)
				continue;
			size = part_size(&parts, n);
			best = size > best_size ? n : best;
			best_size = MAX(size, best_size);
		}
	free(parts.queue);
	free(parts.part);
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
	for (unsigned i = 0; i < c->nseats; i++)
		l->cfg.sim.traps |= c->seats[i].sm.mechanism.traps;
	l->cfg.sim.smi_ps = c->cpu->smi_ps;
	l->cfg.sim.sma_ps = c->cpu->sma_ps;
	l->sim = sim_new(f, &l->cfg.sim);
	lab_seat_add(l, &(struct lab_seat){n, l->cfg.sm, c->sm_start});
	l->lead = l->managers.at[0];
	l->cfg.sm.port = l->lead->cfg.port;
	for (unsigned i = 0; i < c->nseats; i++)
		lab_seat_add(l, &c->seats[i]);
	l->follow = c->nseats > 0;
	l->cfg.seats = NULL;
	return l;
}

void lab_free(struct lab *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->managers.n; i++)
		lab_manager_free(l->managers.at[i]);
	vec_free(&l->managers);
	sim_free(l->sim);
	lab_sls_free(l);
	free(l);
}

void lab_on_note(struct lab *l, void (*fn)(void *ctx, const struct sm_note *n), void *ctx)
{
	l->note = fn;
	l->note_ctx = ctx;
}

void lab_note_now(struct lab *l, unsigned index, const struct sm_note *n)
{
	l->noting = index;
	l->note(l->note_ctx, n);
}

unsigned lab_noting(const struct lab *l)
{
	return l->noting;
}

void lab_on_tick(struct lab *l, void (*fn)(void *ctx), void *ctx)
{
	l->tick = fn;
	l->tick_ctx = ctx;
}

void lab_on_round(struct lab *l, void (*fn)(void *ctx), void *ctx)
{
	l->round = fn;
	l->round_ctx = ctx;
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

static void on_time(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

/* The clock stops at the last event, so there must be one at t. */
void lab_run_to(struct lab *l, time_ps t)
{
	sim_call(l->sim, t, on_time, NULL, 0);
	lab_run_until(l, t);
}

void lab_power_on(struct lab *l, const bool *on)
{
	if (l->cfg.on_at > sim_now(l->sim))
		lab_run_to(l, l->cfg.on_at);
	for (node_id n = 0; n < l->fab->nnodes; n++)
		if (!on || on[n])
			sim_node_power(l->sim, n, true);
	for (size_t i = 0; i < l->managers.n; i++)
		if (l->managers.at[i]->sm)
			lab_manager_power_on(l->managers.at[i]);
}

/* ---- running ---- */

static bool is_master(const struct lab_manager *m)
{
	return m->sm && !m->paused && m->st.state == IBA_SM_MASTER;
}

/* Where the master leads: the one that led before, if it still can. */
static void choose_lead(struct lab *l)
{
	struct lab_manager *runs = l->lead->sm ? l->lead : NULL;

	if (is_master(l->lead))
		return;
	for (size_t i = 0; i < l->managers.n; i++) {
		struct lab_manager *m = l->managers.at[i];

		if (is_master(m)) {
			l->lead = m;
			return;
		}
		runs = runs || !m->sm ? runs : m;
	}
	l->lead = runs ? runs : l->lead;
}

/* Some events: managers are as they were, unless the last one changed them. */
static void run_some(struct lab *l, time_ps limit)
{
	uint64_t before = sim_events(l->sim);

	sim_steps(l->sim, limit, EVENTS_AT_ONCE);
	if (l->follow)
		choose_lead(l);
	if (l->tick && sim_events(l->sim) / EVENTS_PER_TICK != before / EVENTS_PER_TICK)
		l->tick(l->tick_ctx);
}

static bool rests(const struct lab_manager *m)
{
	return m->st.phase == SM_READY && !m->st.change_pending && !m->st.comparing && m->st.rounds;
}

/* All managers have started, none discovers, all masters are at rest, and none of them reaches another one. */
static bool elected(const struct lab *l)
{
	if (!is_master(l->lead))
		return false;
	for (size_t i = 0; i < l->managers.n; i++) {
		const struct lab_manager *m = l->managers.at[i];

		if (!m->sm || m->paused)
			continue;
		if (m->st.phase == SM_OFF || m->st.state == IBA_SM_DISCOVERING ||
		    (is_master(m) && !rests(m)))
			return false;
		for (size_t k = 0; is_master(m) && k < i; k++)
			if (is_master(l->managers.at[k]) &&
			    lab_connected(l, lab_manager_port(l, (unsigned)i),
					  lab_manager_port(l, (unsigned)k)))
				return false;
	}
	return true;
}

static bool at_rest(const struct lab *l)
{
	return rests(l->lead) && (!l->follow || elected(l));
}

bool lab_run_ready(struct lab *l, time_ps limit)
{
	while (!at_rest(l) && sim_next(l->sim) <= limit)
		run_some(l, limit);
	return at_rest(l);
}

bool lab_run_settled(struct lab *l, time_ps since, time_ps limit)
{
	for (;;) {
		const struct sm_status *st = &l->lead->st;

		if (at_rest(l) && st->clean_sweeps && st->last_sweep_start >= since &&
		    st->last_sweep_start >= st->last.end)
			return true;
		if (sim_next(l->sim) > limit)
			return false;
		run_some(l, limit);
	}
}

void lab_run_until(struct lab *l, time_ps t)
{
	while (sim_next(l->sim) <= t)
		if (!sim_run_parallel(l->sim, t, l->cfg.threads, l->tick, l->tick_ctx))
			run_some(l, t);
}

void lab_sum_reset(struct lab *l)
{
	for (size_t i = 0; i < l->managers.n; i++)
		lab_manager_sum_reset(l->managers.at[i]);
}

const struct lab_sum *lab_sum(const struct lab *l)
{
	return &l->lead->sum;
}

/* ---- several managers ---- */

void lab_seat_add(struct lab *l, const struct lab_seat *seat)
{
	struct lab_manager *m = lab_manager_new(l, (unsigned)l->managers.n, seat);

	vec_push(&l->managers, m);
}

void lab_manager_add(struct lab *l, node_id n, const struct sm_config *c)
{
	lab_seat_add(l, &(struct lab_seat){.node = n, .sm = *c});
}

void lab_manager_lead(struct lab *l, unsigned index)
{
	l->lead = l->managers.at[index];
	l->follow = false;
}

void lab_master_leads(struct lab *l)
{
	l->follow = true;
	choose_lead(l);
}

unsigned lab_managers(const struct lab *l)
{
	return (unsigned)l->managers.n;
}

const struct sm *lab_manager_sm(const struct lab *l, unsigned index)
{
	return l->managers.at[index]->sm;
}

const struct sm_status *lab_manager_status(const struct lab *l, unsigned index)
{
	return &l->managers.at[index]->st;
}

const struct sm_config *lab_manager_cfg(const struct lab *l, unsigned index)
{
	return &l->managers.at[index]->cfg;
}

node_id lab_manager_node(const struct lab *l, unsigned index)
{
	return l->managers.at[index]->node;
}

port_id lab_manager_port(const struct lab *l, unsigned index)
{
	const struct lab_manager *m = l->managers.at[index];

	return fab_port_id(l->fab, m->node, m->cfg.port);
}

bool lab_manager_is_master(const struct lab *l, unsigned index)
{
	return is_master(l->managers.at[index]);
}
