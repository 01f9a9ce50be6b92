/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast under faults, drawn from a seed. State: struct world during one run. Way in: multicast_trial_run(). Does not judge:
 * multicast_checks.c does.
 */
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/multicast_world.h"

#define LIMIT (600 * PS_PER_S)

/* ---- drawing ---- */

const char *const multicast_fabrics[] = {"tree", "irregular", NULL};

/* The 8-port 3-tree, or 20 to 40 switches of 8 to 12 ports. */
static struct fab *named_fabric(struct multicast_world *t, struct err *e)
{
	struct rng *r = &t->rng;
	struct fab_gen g = {.kind = "mtree", .dims = {8, 3}, .ndims = 2};

	if (strcmp(t->opts.fabric, "tree"))
		g = (struct fab_gen){.kind = "irregular",
				     .dims = {20 + rng_below(r, 21)},
				     .ndims = 1,
				     .ports = 8 + rng_below(r, 5),
				     .seed = rng_u64(r)};
	snprintf(t->out->fabric, sizeof(t->out->fabric), "%s", g.kind);
	return fab_generate(&g, e);
}

static struct fab *draw_fabric(struct multicast_world *t, struct err *e)
{
	struct rng *r = &t->rng;
	unsigned most = t->opts.max_switches, n = 4 + rng_below(r, most - 3);
	struct fab_gen g = {.kind = "irregular",
			    .dims = {n},
			    .ndims = 1,
			    .ports = 6 + rng_below(r, 7),
			    .seed = rng_u64(r)};

	switch (rng_below(r, 5)) {
	case 0:
		g = (struct fab_gen){.kind = "mtree", .dims = {most >= 80 ? 8 : 4, 3}, .ndims = 2};
		if (most < 20)
			g.dims[1] = 2;
		break;
	case 1:
		g = (struct fab_gen){.kind = "torus", .dims = {2 + rng_below(r, 3), 3}, .ndims = 2};
		break;
	case 2:
		g = (struct fab_gen){.kind = "kary", .dims = {2 + rng_below(r, 2), 2}, .ndims = 2};
		break;
	default:
		break;
	}
	if (most >= 80 && rng_below(r, 2))
		g = (struct fab_gen){.kind = "mtree", .dims = {8, 3}, .ndims = 2};
	snprintf(t->out->fabric, sizeof(t->out->fabric), "%s", g.kind);
	return fab_generate(&g, e);
}

static void draw_config(struct multicast_world *t, struct lab_config *c)
{
	struct rng *r = &t->rng;

	c->threads = 1;
	t->out->loss = trial_draw_sim(r, 2, &c->sim) / 1000.0;
	c->sm.mechanism = *trial_draw_weft(r);
	if (t->opts.mechanism)
		c->sm.mechanism = *t->opts.mechanism;
	c->sm.window = trial_draw_window(r);
	c->sm.sweep_factor = 2 + rng_below(r, 6);
	c->sm.read_back = c->sm.multicast = true;
	t->out->mechanism = c->sm.mechanism.name;
}

/* ---- groups ---- */

/* Seldom a switch itself. */
static uint64_t draw_member(struct multicast_world *t)
{
	for (;;) {
		node_id n = rng_below(&t->rng, t->fab->nnodes);
		bool sw = fab_is_switch(t->fab, n);

		if (!sw || rng_below(&t->rng, 16) == 0)
			return t->fab->ports[fab_port_id(t->fab, n, sw ? 0 : 1)].guid;
	}
}

static void join(struct multicast_world *t, struct party *p)
{
	struct sm_group_member m = {draw_member(t), rng_below(&t->rng, 6) != 0, true};

	t->out->joins++;
	for (unsigned i = 0; i < p->n; i++)
		if (p->members[i].port_guid == m.port_guid) {
			p->members[i] = m;
			return;
		}
	if (p->n < MOST_MEMBERS)
		p->members[p->n++] = m;
}

static void leave(struct multicast_world *t, struct party *p)
{
	if (!p->n)
		return;
	t->out->leaves++;
	p->members[rng_below(&t->rng, p->n)] = p->members[p->n - 1];
	p->n--;
}

/* Groups without members are gone. */
static void tell(struct multicast_world *t)
{
	struct sm_group *g = mem_array(t->nparties + 1u, sizeof(*g));
	size_t n = 0;

	for (unsigned i = 0; i < t->nparties; i++)
		if (t->parties[i].n)
			g[n++] = (struct sm_group){(uint16_t)(IBA_LID_MCAST_FIRST + i), 0,
						   t->parties[i].members, t->parties[i].n};
	lab_manager_groups(t->lab, 0, g, n);
	free(g);
}

static void regroup(struct multicast_world *t)
{
	unsigned n = 1 + rng_below(&t->rng, rng_below(&t->rng, 2) ? 3 : t->nparties);

	for (; n; n--) {
		struct party *p = &t->parties[rng_below(&t->rng, t->nparties)];

		if (rng_below(&t->rng, 8) == 0)
			p->n = 0;
		else if (rng_below(&t->rng, 2))
			leave(t, p);
		else
			for (unsigned k = 1 + rng_below(&t->rng, 4); k; k--)
				join(t, p);
	}
	tell(t);
}

/* ---- faults ---- */

static void fault(struct multicast_world *t)
{
	port_id own = trial_manager_port(t->lab);

	t->out->changes++;
	if (rng_below(&t->rng, 3) == 0) {
		node_id n = rng_below(&t->rng, t->fab->nnodes);

		if (trial_may_power_off(t->lab, n))
			sim_node_power(t->sim, n, !sim_node_on(t->sim, n));
		return;
	}
	for (;;) {
		port_id p = rng_below(&t->rng, t->fab->nports), far = t->fab->ports[p].peer;

		if (far == FAB_NONE || p == own || far == own)
			continue;
		trial_fault_apply(t->sim, t->fab,
				  trial_fault_cookie(sim_port_peer(t->sim, p) == FAB_NONE
							     ? TRIAL_LINK_UP
							     : TRIAL_LINK_DOWN,
						     p));
		return;
	}
}

static void heal(struct multicast_world *t)
{
	for (node_id n = 0; n < t->fab->nnodes; n++)
		if (!sim_node_on(t->sim, n))
			sim_node_power(t->sim, n, true);
	for (port_id p = 0; p < t->fab->nports; p++)
		if (t->fab->ports[p].peer != FAB_NONE && sim_port_peer(t->sim, p) == FAB_NONE)
			sim_cable(t->sim, p, t->fab->ports[p].peer);
}

static void settle(struct multicast_world *t, const char *when)
{
	if (!lab_run_settled(t->lab, sim_now(t->sim), sim_now(t->sim) + LIMIT) ||
	    !lab_run_ready(t->lab, sim_now(t->sim) + LIMIT))
		lab_fail(t->out->why, "%s: the manager did not come to rest in 600 s", when);
	else
		multicast_check(t, when);
}

static void on_device(void *ctx, node_id n, enum sim_change what)
{
	struct multicast_world *t = ctx;

	(void)n;
	t->rewritten += what == SIM_CHANGED_TABLE;
}

/* With the state of the one before, or without. Where it keeps tables and changes no entry on the way, it writes no multicast
 * block. */
static void restart(struct multicast_world *t)
{
	uint64_t before = t->rewritten;
	struct sm_multicast_status st;

	t->out->restarts++;
	lab_manager_stop(t->lab, 0);
	if (rng_below(&t->rng, 2))
		lab_manager_resume(t->lab, 0);
	else
		lab_manager_start(t->lab, 0, true);
	tell(t);
	settle(t, "after a restart");
	if (t->out->why[0] || t->out->loss > 0 || t->rewritten > before || multicast_lanes(t) ||
	    !lab_config(t->lab)->sm.mechanism.first->plan)
		return;
	sm_multicast_status(lab_sm(t->lab), &st);
	if (st.blocks)
		lab_fail(t->out->why, "a manager that restarted wrote %llu blocks that were right",
			 (unsigned long long)st.blocks);
}

/* ---- one trial ---- */

static void turn(struct multicast_world *t)
{
	unsigned within = rng_below(&t->rng, 2) ? 60 : 600;

	if (rng_below(&t->rng, 4) == 0)
		heal(t);
	for (unsigned n = 1 + rng_below(&t->rng, 4); n; n--) {
		if (rng_below(&t->rng, 2))
			regroup(t);
		else
			fault(t);
		if (rng_below(&t->rng, 2))
			trial_run_for(t->lab, rng_u64(&t->rng) % (within * PS_PER_US));
	}
	settle(t, "after changes");
	if (!t->out->why[0] && rng_below(&t->rng, 5) == 0)
		restart(t);
}

static void run(struct multicast_world *t)
{
	unsigned turns = 2 + rng_below(&t->rng, 8);

	lab_power_on(t->lab, NULL);
	if (rng_below(&t->rng, 2))
		settle(t, "bring-up");
	for (unsigned i = 0; i < t->nparties; i++)
		for (unsigned k = rng_below(&t->rng, MOST_MEMBERS); k; k--)
			join(t, &t->parties[i]);
	tell(t);
	settle(t, "first groups");
	for (; turns && !t->out->why[0]; turns--)
		turn(t);
	if (t->out->why[0])
		return;
	heal(t);
	settle(t, "all is repaired");
}

static void make(struct multicast_world *t)
{
	struct lab_config c;
	struct err e = {{0}};

	lab_config_default(&c);
	draw_config(t, &c);
	t->fab = t->opts.fabric ? named_fabric(t, &e) : draw_fabric(t, &e);
	t->nparties = t->opts.fabric ? t->opts.groups
				     : 1 + rng_below(&t->rng, rng_below(&t->rng, 3)
								      ? MIN(t->opts.groups, 20u)
								      : t->opts.groups);
	t->parties = mem_zarray(t->nparties, sizeof(*t->parties));
	t->lab = t->fab ? lab_new(t->fab, &c, &e) : NULL;
	if (!t->lab) {
		lab_fail(t->out->why, "no topology: %.200s", e.text);
		return;
	}
	t->sim = lab_sim(t->lab);
	t->out->switches = t->fab->nswitches;
	t->out->hosts = t->fab->nhosts;
	t->out->groups = t->nparties;
	lab_watch_start(&t->watch, t->lab);
	t->watch.also = on_device;
	t->watch.also_ctx = t;
}

static void free_all(struct multicast_world *t)
{
	struct sm_multicast_status st;

	if (t->lab) {
		sm_multicast_status(lab_sm(t->lab), &st);
		t->out->blocks = st.blocks;
		t->out->some = st.some;
		t->out->hash = sim_hash(t->sim);
		t->out->end = sim_now(t->sim);
		lab_watch_stop(&t->watch);
	}
	lab_free(t->lab);
	lab_watch_free(&t->watch);
	free(t->parties);
	fab_free(t->fab);
}

void multicast_trial_run(uint64_t seed, const struct multicast_trial_opts *o,
			 struct multicast_trial *out)
{
	struct multicast_world t = {.out = out, .opts = *o};

	memset(out, 0, sizeof(*out));
	out->seed = seed;
	rng_seed(&t.rng, seed, 18);
	make(&t);
	if (t.lab)
		run(&t);
	out->ok = !out->why[0];
	free_all(&t);
}
