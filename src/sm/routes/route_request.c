/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The builder: asks for routes over the snapshot and waits. Whoever runs the SM computes them, on a
 * worker or charged to a CPU model, and gives them back as an event. State: which stage of the round
 * the tables are for. Computes nothing itself.
 */
#include "sm/tables/random_tables.h"

/* The sink of the up/down graph: as configured, else the switch the SM sits on (thesis 6.1.1). */
node_id sm_root_in(const struct sm *sm, const struct fab *f)
{
	node_id own = fab_node_by_guid(f, sm->topo.nodes.at[0].guid), n;
	port_id peer;

	for (unsigned i = 0; i < SM_MAX_ROOTS && sm->cfg.roots[i]; i++)
		if ((n = fab_node_by_guid(f, sm->cfg.roots[i])) != FAB_NONE)
			return n;
	if (sm->cfg.root_centre && f->nswitches)
		return rt_root_centre(f);
	if (own == FAB_NONE || fab_is_switch(f, own))
		return own;
	peer = f->ports[fab_port_id(f, own, sm->cfg.port)].peer;
	return peer == FAB_NONE ? own : f->ports[peer].node;
}

void sm_rank_ensure(struct sm *sm)
{
	if (sm->routes.rank)
		return;
	sm->routes.rank = mem_array(sm->topo.fab->nswitches, sizeof(*sm->routes.rank));
	rt_updown_rank_by(sm->topo.fab, sm_root_in(sm, sm->topo.fab), sm->cfg.directions,
			  sm->routes.rank);
}

static bool any_row_known(const struct sm *sm)
{
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
		if (sm_row_block(sm,
				 sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[s]]].row,
				 0))
			return true;
	return false;
}

/* Do the switches hold what the last snapshot's tables say, and nothing else? */
static bool as_before(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab, *g = sm->routes.prev_fab;

	if (!g)
		return false;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = fab_node_by_guid(g, f->nodes[f->switches[s]].guid);
		uint32_t row = sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row;

		for (uint32_t b = 0; b < sm->routes.prev_tables->stride / IBA_LFT_BLOCK; b++) {
			const uint8_t *has = sm_row_block(sm, row, b);

			if (n == FAB_NONE ? has != NULL
					  : !has || memcmp(has,
							   rt_row(sm->routes.prev_tables,
								  g->switch_index[n]) +
								   (size_t)b * IBA_LFT_BLOCK,
							   IBA_LFT_BLOCK))
				return false;
		}
	}
	return true;
}

/* What is in the switches, for those who compute from it. */
static void tell_old(struct sm *sm, struct sm_compute *c)
{
	const struct fab *f = sm->topo.fab;
	struct sm_task *j = mem_zalloc(sizeof(*j));
	bool more; /* in the switches than the last tables say */

	sm_retire_task(sm, sm->routes.task);
	sm->routes.task = j;
	j->old = sm_rows_tables(sm);
	more = sm_rft_overlay(sm, j->old);
	j->old_rank = mem_array(f->nswitches, sizeof(*j->old_rank));
	for (uint32_t s = 0; s < f->nswitches; s++)
		j->old_rank[s] =
			sm->dev.rows.at[sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row]
				.rank;
	c->old = j->old;
	c->old_rank = j->old_rank;
	j->before = (struct rt_before){sm->routes.prev_fab, sm->routes.prev_rank,
				       sm->routes.prev_tables};
	c->before = !more && as_before(sm) ? &j->before : NULL;
	for (size_t i = 0; i < sm->dev.off.n; i++) {
		node_id n = fab_node_by_guid(f, sm->dev.off.at[i].guid);

		if (n != FAB_NONE &&
		    sm->dev.off.at[i].sure) /* a plan must not rely on what may be */
			vec_push(&j->off, (struct rt_turn){f->switch_index[n], sm->dev.off.at[i].in,
							   sm->dev.off.at[i].out});
	}
	c->off = &j->off;
}

static void compute_begin(struct sm *sm)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;
	struct sm_compute *c = &sm->core.out->compute;
	bool old = any_row_known(sm);
	struct sm_routes known;

	sm->disc.found_old = sm->disc.taking_over && old;
	if (sm->routes.staged) { /* provisional tables are in place */
		sm->routes.stage = SM_FINAL;
	} else {
		/* Where nothing is in force, or nothing but a block is wrong, there is no need to hurry. */
		sm->audit.mending &= !sm->disc.changed;
		sm->routes.stage = strcmp(m->provisional->name, "none") && old &&
						   !sm->audit.mending && !sm->disc.found_old
					   ? SM_PROVISIONAL
					   : SM_FINAL;
	}
	*c = (struct sm_compute){.epoch = ++sm->routes.request_id,
				 .fab = sm->topo.fab,
				 .root = sm_root_in(sm, sm->topo.fab),
				 .directions = sm->cfg.directions,
				 .stage = sm->routes.stage,
				 .supply = sm->routes.stage == SM_PROVISIONAL ? m->provisional
									      : m->routes,
				 .plan = sm_technique_now(sm)->plan,
				 .overlap = sm_technique_now(sm)->tables == &sm_part_waves && old,
				 .found = sm->disc.found_old};
	if (sm->disc.found_old)
		c->supply = sm_supply_find("update");
	if (old && (c->plan || c->supply->update))
		tell_old(sm, c);
	if (c->before && c->supply->keep && !sm->dev.off.n && sm_ahead_recall(sm, &known)) {
		*c = (struct sm_compute){0}; /* no need to ask */
		sm_routes_take(sm, &known);
	}
}

const struct sm_part sm_part_compute = {.begin = compute_begin}; /* SM_EV_ROUTES moves on */

/* ---- the answer ---- */

/* Tables for the snapshot, to be distributed next; the SM owns all of it from now on. */
void sm_routes_take(struct sm *sm, const struct sm_routes *r)
{
	sm_retire_tables(sm, sm->routes.tables);
	sm_retire_memory(sm, sm->routes.rank);
	rt_plan_free(&sm->routes.plan);
	sm->routes.tables = r->tables;
	sm->routes.rank = r->rank;
	sm->routes.ranked = r->rank != NULL;
	sm->routes.plan = r->plan;
	sm->routes.settled = r->settled &&
			     sm->cfg.mechanism.routes->update; /* others have tables of their own */
	sm->routes.ready = r->ready ? r->ready : UINT16_MAX;
	rt_tables_fill(sm->routes.tables);
	if (sm_rft_prepare(sm))
		sm_phase_set(sm, SM_DEACTIVATE);
}

void sm_routes_in(struct sm *sm, const struct sm_event *ev)
{
	struct sm_routes given = ev->routes, *r = &given;

	sm_retired_free(sm, r->epoch);
	if (sm_ahead_answer(sm, r))
		return;
	if (sm->core.phase != SM_COMPUTE ||
	    r->epoch != sm->routes.request_id) { /* the world moved on */
		sm_routes_free(r);
		return;
	}
	if (!r->tables || !r->verified) {
		sm_routes_free(r);
		sm_note(sm, SM_NOTE_REFUSED, 0, 0);
		sm->disc.dirty = true;
		sm_phase_set(sm, SM_READY);
		return;
	}
	sm_routes_take(sm, r);
}

void sm_routes_progress(struct sm *sm, const struct sm_event *ev)
{
	if (ev->routes.epoch == sm->routes.request_id)
		sm->routes.ready =
			ev->routes.ready ? MAX(sm->routes.ready, ev->routes.ready) : UINT16_MAX;
}
