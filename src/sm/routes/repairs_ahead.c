/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Repairs computed ahead: while the SM is ready, it requests the routes that would be needed if a
 * switch or a link failed, one after another, and keeps what would change. When just that happens
 * the repair is ready. State: struct sm_ahead, for one snapshot and its tables. Does not compute
 * itself, and uses a repair only if the real snapshot matches it to the last link.
 */
#include "base/rng.h"
#include "sm/manager.h"

struct patch {
	uint32_t sw, block;
	uint8_t data[IBA_LFT_BLOCK];
};

struct remedy {
	uint64_t what; /* hash of the snapshot it is for */
	uint64_t *rank;
	struct rt_plan plan;
	struct rt_plan alive; /* holds even if the switch that counts as dead still forwards */
	bool alive_holds;
	bool settled;
	VEC(struct patch) patches;
};

struct sm_ahead {
	uint32_t next; /* failure to look at: switches, then links by their lower port */
	size_t bytes;  /* that remedies take */
	VEC(struct remedy) remedies;
	struct map64 by_what;
	struct map64 by_switch; /* GUID of the switch that fails: its repair */
	uint32_t guessed; /* the repair for a switch that is only presumed dead, plus 1; 0: none */
	/* the one being computed; id 0: none */
	uint32_t id;
	uint64_t what, switch_guid; /* 0: a link fails */
	struct sm_task *task;
};

/* ---- snapshots that might be ---- */

static uint64_t hash_of(const struct fab *f, node_id root)
{
	uint64_t h = hash64_add(f->nnodes, root == FAB_NONE ? 0 : f->nodes[root].guid);

	for (node_id n = 0; n < f->nnodes; n++)
		h = hash64_add(h, f->nodes[n].guid);
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *x = &f->ports[p];

		if (x->lid || x->peer != FAB_NONE)
			h = hash64_add(h, (uint64_t)p << 32 | x->lid << 3 | x->lmc),
			h = hash64_add(h, x->peer);
	}
	for (uint32_t i = 0; i < f->nvlids; i++)
		h = hash64_add(h, (uint64_t)f->vlids[i].port << 32 | f->vlids[i].lid << 8 |
					  f->vlids[i].slot);
	return h;
}

struct failure {
	node_id node; /* or FAB_NONE */
	port_id port; /* one end of a link */
};

static bool survives(const struct fab *f, const struct failure *x, port_id p)
{
	port_id q = f->ports[p].peer;

	return q != FAB_NONE && f->ports[p].node != x->node && f->ports[q].node != x->node &&
	       p != x->port && q != x->port;
}

/* Nodes that the SM reaches over the remaining links, as a snapshot has them. */
static bool *within_reach(const struct sm *sm, const struct failure *x)
{
	const struct fab *f = sm->topo.fab;
	node_id *queue = mem_array(f->nnodes, sizeof(*queue)), own = sm->topo.nodes.at[0].fab;
	bool *in = mem_zarray(f->nnodes, sizeof(*in));
	uint32_t head = 0, tail = 0;

	in[own] = true;
	queue[tail++] = own;
	while (head < tail) {
		node_id n = queue[head++];

		for (unsigned i = 1; i <= f->nodes[n].nports; i++) {
			if (!fab_is_switch(f, n) && (n != own || i != sm->cfg.port))
				continue;

			port_id p = fab_port_id(f, n, i);
			node_id m = survives(f, x, p) ? f->ports[f->ports[p].peer].node : FAB_NONE;

			if (m != FAB_NONE && !in[m]) {
				in[m] = true;
				queue[tail++] = m;
			}
		}
	}
	free(queue);
	return in;
}

static void copy_vlids(struct fab_builder *b, node_id k, const struct fab *f, port_id p)
{
	const struct fab_vlid *v;
	uint32_t n = fab_vlids_of(f, p, &v);

	for (uint32_t i = 0; i < n; i++)
		fab_add_vlid(b, k, v[i].slot, v[i].lid, v[i].guid);
}

static void copy_node(struct fab_builder *b, const struct fab *f, node_id n,
		      const struct failure *x)
{
	const struct fab_node *s = &f->nodes[n];
	node_id k = fab_add_node(b, s->type, s->guid, s->nports, "");

	fab_builder_node(b, k)->flags = s->flags;
	fab_builder_node(b, k)->sriov = s->sriov;
	fab_builder_node(b, k)->vfs = s->vfs;
	for (unsigned i = 0; i <= s->nports; i++) {
		struct fab_port *d = fab_builder_port(b, k, i);
		const struct fab_port *p = &f->ports[s->first_port + i];

		d->guid = p->guid;
		if (s->type != IBA_NODE_SWITCH && p->peer != FAB_NONE &&
		    !survives(f, x, s->first_port + i))
			continue; /* a host's port without a link has no LID */
		d->lid = p->lid;
		d->lmc = p->lmc;
		copy_vlids(b, k, f, s->first_port + i);
	}
}

static struct fab *fabric_without(const struct sm *sm, const struct failure *x)
{
	const struct fab *f = sm->topo.fab;
	bool *in = within_reach(sm, x);
	struct fab_builder *b = fab_builder_new();

	for (node_id n = 0; n < f->nnodes; n++)
		if (in[n])
			copy_node(b, f, n, x);
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *s = &f->ports[p], *q;

		if (!survives(f, x, p) || s->peer < p || !in[s->node])
			continue;
		q = &f->ports[s->peer];
		if (in[q->node])
			fab_add_link(b, fab_builder_find(b, f->nodes[s->node].guid), s->num,
				     fab_builder_find(b, f->nodes[q->node].guid), q->num);
	}
	free(in);
	return fab_build(b);
}

/* ---- life ---- */

static void task_free(struct sm *sm, struct sm_ahead *a)
{
	sm_retire_task(sm, a->task);
	a->task = NULL;
	a->id = 0;
}

void sm_ahead_reset(struct sm *sm)
{
	struct sm_ahead *a = sm->routes.ahead;

	sm_balance_reset(sm);
	if (!a)
		return;
	for (size_t i = 0; i < a->remedies.n; i++) {
		free(a->remedies.at[i].rank);
		rt_plan_free(&a->remedies.at[i].plan);
		rt_plan_free(&a->remedies.at[i].alive);
		vec_free(&a->remedies.at[i].patches);
	}
	vec_free(&a->remedies);
	map64_free(&a->by_what);
	map64_free(&a->by_switch);
	task_free(sm, a);
	free(a);
	sm->routes.ahead = NULL;
}

/* ---- asking ---- */

/* The next failure that leaves something to route; false: none is left. */
static bool failure_next(const struct sm *sm, uint32_t *at, struct failure *x)
{
	const struct fab *f = sm->topo.fab;
	port_id own = fab_port_id(f, sm->topo.nodes.at[0].fab,
				  sm->topo.nodes.at[0].type == IBA_NODE_SWITCH ? 0 : sm->cfg.port);
	node_id base = f->ports[own].peer == FAB_NONE ? f->ports[own].node
						      : f->ports[f->ports[own].peer].node;

	for (; *at < f->nswitches + f->nports; ++*at) {
		if (*at < f->nswitches) {
			*x = (struct failure){f->switches[*at], FAB_NONE};
			if (x->node != base && x->node != f->ports[own].node)
				return ++*at, true;
		} else {
			const struct fab_port *p = &f->ports[*at - f->nswitches];

			*x = (struct failure){FAB_NONE, *at - f->nswitches};
			if (p->peer != FAB_NONE && p->peer > x->port && fab_is_switch(f, p->node) &&
			    fab_is_switch(f, f->ports[p->peer].node))
				return ++*at, true;
		}
	}
	return false;
}

static bool may_think(const struct sm *sm)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	return m->ahead && m->provisional->keep && sm->topo.fab && sm->routes.tables &&
	       sm->routes.rank && !sm->core.incomplete && !sm->dev.off.n &&
	       sm->topo.fab->nswitches <= sm->cfg.ahead_switches && !sm_is_doubtful(&sm->disc);
}

static struct sm_task *task_for(struct sm *sm, const struct failure *x)
{
	struct sm_task *j = mem_zalloc(sizeof(*j));

	j->fab = fabric_without(sm, x);
	j->old = rt_tables_carry(sm->topo.fab, sm->routes.tables, j->fab);
	j->old_rank = mem_array(j->fab->nswitches, sizeof(*j->old_rank));
	rt_updown_rank_carry(sm->topo.fab, sm->routes.rank, j->fab, j->old_rank);
	j->before = (struct rt_before){sm->topo.fab, sm->routes.rank, sm->routes.tables};
	return j;
}

bool sm_ahead_is_open(const struct sm *sm)
{
	return sm->routes.ahead && sm->routes.ahead->id;
}

void sm_ahead_request(struct sm *sm)
{
	bool may = may_think(sm);
	struct sm_ahead *a = sm->routes.ahead;
	struct failure x;

	if (may && !a)
		a = sm->routes.ahead = mem_zalloc(sizeof(*a));
	if ((a && a->id) || sm_balance_request(sm)) /* other tables would need other repairs */
		return;
	if (sm_advice_request(sm) || !may || a->bytes > sm->cfg.ahead_bytes ||
	    !failure_next(sm, &a->next, &x))
		return;
	a->task = task_for(sm, &x);
	a->id = ++sm->routes.request_id;
	sm->core.out->compute = (struct sm_compute){.epoch = a->id,
						    .fab = a->task->fab,
						    .root = sm_root_in(sm, a->task->fab),
						    .directions = sm->cfg.directions,
						    .ties = sm->cfg.ties,
						    .stage = SM_PROVISIONAL,
						    .supply = sm->cfg.mechanism.provisional,
						    .engine = sm_final_routes(sm)->engine,
						    .plan = sm->cfg.mechanism.first->plan,
						    .ahead = true,
						    .old = a->task->old,
						    .old_rank = a->task->old_rank,
						    .before = &a->task->before,
						    .ranked = sm->routes.ranked,
						    .alive = x.node != FAB_NONE};
	sm_reference_tell(sm, a->task, &sm->core.out->compute);
	a->switch_guid = x.node == FAB_NONE ? 0 : sm->topo.fab->nodes[x.node].guid;
	a->what = hash_of(a->task->fab, sm->core.out->compute.root);
}

/* ---- the answer ---- */

static const uint8_t *block_of(const struct rt_tables *t, uint32_t sw, uint32_t block)
{
	static const uint8_t open[IBA_LFT_BLOCK] = {[0 ... IBA_LFT_BLOCK - 1] = IBA_PORT_NONE};

	return block < t->stride / IBA_LFT_BLOCK ? rt_row(t, sw) + (size_t)block * IBA_LFT_BLOCK
						 : open;
}

bool sm_ahead_answer(struct sm *sm, struct sm_routes *r)
{
	struct sm_ahead *a = sm->routes.ahead;
	struct remedy m = {.what = a ? a->what : 0, .settled = r->settled};

	if (!a || !a->id || r->epoch != a->id)
		return false;
	if (r->verified && r->tables && r->rank &&
	    r->tables->nswitches == a->task->fab->nswitches) {
		for (uint32_t s = 0; s < r->tables->nswitches; s++)
			for (uint32_t b = 0; b < r->tables->stride / IBA_LFT_BLOCK; b++) {
				struct patch p = {.sw = s, .block = b};

				memcpy(p.data, block_of(r->tables, s, b), IBA_LFT_BLOCK);
				if (memcmp(p.data, block_of(a->task->old, s, b), IBA_LFT_BLOCK))
					vec_push(&m.patches, p);
			}
		m.rank = r->rank;
		m.plan = r->plan;
		m.alive = r->alive;
		m.alive_holds = r->alive_holds;
		r->rank = NULL;
		r->plan = r->alive = (struct rt_plan){0};
		a->bytes += m.patches.n * sizeof(struct patch) +
			    a->task->fab->nswitches * sizeof(*m.rank) +
			    (m.plan.turns.n + m.alive.turns.n) * sizeof(struct rt_turn);
		map64_put(&a->by_what, a->what, (uint32_t)a->remedies.n);
		if (a->switch_guid)
			map64_put(&a->by_switch, a->switch_guid, (uint32_t)a->remedies.n);
		vec_push(&a->remedies, m);
	}
	sm_routes_free(r);
	task_free(sm, a);
	return true;
}

/*
 * A switch is presumed dead. Its repair is sent only by a plan that holds also if it is not: what it
 * forwards is part of that plan.
 */
bool sm_ahead_guess(struct sm *sm, uint64_t guid)
{
	struct sm_ahead *a = sm->routes.ahead;
	uint32_t at = a ? map64_get(&a->by_switch, guid) : MAP_NONE;

	if (at == MAP_NONE || !a->remedies.at[at].alive_holds)
		return false;
	a->guessed = at + 1;
	return true;
}

/*
 * The tables for the current snapshot, if a repair was computed for it. The switches hold what
 * they did then.
 */
bool sm_ahead_use(struct sm *sm, struct sm_routes *r)
{
	struct sm_ahead *a = sm->routes.ahead;
	uint32_t at =
		a ? map64_get(&a->by_what, hash_of(sm->topo.fab, sm_root_in(sm, sm->topo.fab)))
		  : MAP_NONE;
	struct remedy *m = at == MAP_NONE ? NULL : &a->remedies.at[at];
	struct rt_tables *was;

	if (!m)
		return false;
	if (a->guessed == at + 1) {
		struct rt_plan without = m->plan;

		m->plan = m->alive;
		m->alive = without;
	}
	was = rt_tables_carry(sm->routes.prev_fab, sm->routes.prev_tables, sm->topo.fab);
	*r = (struct sm_routes){
		.epoch = sm->routes.request_id, .verified = true, .settled = m->settled};
	r->tables = rt_tables_new(sm->topo.fab->nswitches, fab_top_lid(sm->topo.fab));
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
		memcpy(rt_row(r->tables, s), rt_row(was, s), MIN(was->stride, r->tables->stride));
	for (size_t i = 0; i < m->patches.n; i++)
		memcpy(rt_row(r->tables, m->patches.at[i].sw) +
			       (size_t)m->patches.at[i].block * IBA_LFT_BLOCK,
		       m->patches.at[i].data, IBA_LFT_BLOCK);
	r->rank = m->rank;
	r->plan = m->plan;
	m->rank = NULL;
	m->plan = (struct rt_plan){0};
	map64_del(&a->by_what, m->what);
	rt_tables_free(was);
	return true;
}
