/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests routes over the snapshot and waits. The program that runs the SM computes them, on a
 * worker or charged to a CPU model, and returns them as an event. State: which stage of the round
 * the tables are for. Computes nothing itself.
 */
#include "sm/tables/random_tables.h"

static bool any_row_known(const struct sm *sm)
{
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++)
		if (sm_row_block(sm,
				 sm->topo.nodes.at[sm->topo.node_of[sm->topo.fab->switches[s]]].row,
				 0))
			return true;
	return false;
}

/* Whether the switches hold exactly the tables of the last snapshot. */
static bool as_before(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab, *g = sm->routes.prev_fab;

	if (!g)
		return false;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		node_id n = fab_node_by_guid(g, f->nodes[f->switches[s]].guid);
		uint32_t row = sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row;

		if (n != FAB_NONE &&
		    sm_row_holds(sm, row, rt_row(sm->routes.prev_tables, g->switch_index[n]),
				 sm->routes.prev_tables->stride))
			continue;
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

/*
 * Lanes of what the switches hold, where routes have some or shall have some. Without service levels all packets
 * have SL 0, and tables are free of deadlock whatever its VL.
 */
static void tell_lanes(const struct sm *sm, struct sm_compute *c, struct rt_tables *old)
{
	if (!sm_lanes_wanted(sm) && !sm->routes.sls.nrows)
		return;
	c->maps_in_doubt = sm_maps_in_doubt(sm);
	c->sls_known = sm->routes.sls.known;
	rt_lanes_add(old, sm->topo.fab, 1, sm->routes.sls.nrows + 1);
	sm_maps_tell(sm, old);
	sm_sls_tell(sm, old);
	old->lanes->any_vl = !sm->routes.sls.nrows;
	old->lanes->nvls = MAX(rt_lanes_highest(old) + 1, sm->routes.sls.nvls);
}

static bool any_random_table(const struct sm *sm)
{
	for (uint32_t sw = 0; sw < sm->topo.fab->nswitches; sw++)
		if (sm_rft_of(sm, sw))
			return true;
	return false;
}

/* Whether each switch is where it was: as many are there also when one came and another one went. */
static bool same_switches(const struct fab *f, const struct fab *g)
{
	bool same = f->nswitches == g->nswitches;

	for (uint32_t s = 0; same && s < f->nswitches; s++)
		same = f->nodes[f->switches[s]].guid == g->nodes[g->switches[s]].guid;
	return same;
}

/* Whether the last tables can stand for what the switches hold, which is the same: no copy of them is needed. */
static bool as_they_are(const struct sm *sm)
{
	const struct rt_tables *t = sm->routes.prev_tables;

	return sm->core.phase == SM_COMPUTE && same_switches(sm->topo.fab, sm->routes.prev_fab) &&
	       t->top_lid == fab_top_lid(sm->topo.fab) && !t->dflt && !t->lanes &&
	       !sm_lanes_wanted(sm) && !sm->routes.sls.nrows && !any_random_table(sm);
}

/* What the switches hold, for the request. */
static void tell_old(struct sm *sm, struct sm_compute *c)
{
	const struct fab *f = sm->topo.fab;
	struct sm_task *j = mem_zalloc(sizeof(*j));
	bool before = as_before(sm), same = before && as_they_are(sm);
	bool more; /* the switches hold more than the last tables say */

	sm_retire_task(sm, sm->routes.task);
	sm->routes.task = j;
	j->old = same ? sm->routes.prev_tables : sm_rows_tables(sm);
	more = !same && sm_rft_overlay(sm, j->old);
	if (!same)
		tell_lanes(sm, c, j->old);
	j->old_rank = mem_array(f->nswitches, sizeof(*j->old_rank));
	for (uint32_t s = 0; s < f->nswitches; s++)
		j->old_rank[s] =
			sm->dev.rows.at[sm->topo.nodes.at[sm->topo.node_of[f->switches[s]]].row]
				.rank;
	c->old = j->old;
	c->old_rank = j->old_rank;
	j->before = (struct rt_before){sm->routes.prev_fab, sm->routes.prev_rank,
				       sm->routes.prev_tables};
	c->before = !more && before ? &j->before : NULL;
	c->ranked = sm->routes.prev_ranked;
	for (size_t i = 0; i < sm->dev.off.n; i++) {
		node_id n = fab_node_by_guid(f, sm->dev.off.at[i].guid);

		if (n != FAB_NONE &&
		    sm->dev.off.at[i].sure) /* a plan must not rely on a turn that may be enabled */
			vec_push(&j->off, (struct rt_turn){f->switch_index[n], sm->dev.off.at[i].in,
							   sm->dev.off.at[i].out});
	}
	c->off = &j->off;
	if (sm->core.phase == SM_COMPUTE && sm->multicast.told)
		c->trees = j->trees = sm_trees_task_new(sm);
	if (!sm->routes.staged)
		sm_reference_tell(sm, j, c);
}

/* ---- the answer ---- */

/*
 * A table that does not fit is not written in part: its switch is excluded, and the others get routes
 * that do without it. If it is the SM's own, no device can be served.
 */
static enum sm_outcome tables_fit(struct sm *sm)
{
	switch (sm_rft_prepare(sm)) {
	case SM_RFT_FITS:
		break;
	case SM_RFT_OTHERS_FULL:
		return sm_changed(sm, SM_CAUSE_SILENCE, SM_ABOUT_NOTHING);
	case SM_RFT_OWN_FULL:
		sm_discovery_doubt(sm);
		return SM_REFUSED;
	}
	return SM_DONE;
}

/* Whether or not they get in force: they are right for this snapshot. */
static void reference_take(struct sm *sm)
{
	struct sm_routing *x = &sm->routes;

	if (x->by && (x->rank || !x->by->updown) && x->leg == x->legs.n)
		sm_reference_take(sm, x->by);
}

/* Multicast entries that must not be there while the tables change go first. */
static enum sm_outcome trees_first(struct sm *sm, enum sm_outcome fit, struct sm_trees *trees)
{
	bool first = sm_trees_first(sm, trees);

	return fit == SM_DONE && first ? SM_GROUPS : fit;
}

/* Tables for the snapshot, to be distributed next; the SM owns all of it from now on. */
static enum sm_outcome routes_take(struct sm *sm, const struct sm_routes *r)
{
	struct sm_routing *x = &sm->routes;

	sm_retire_tables(sm, x->tables);
	sm_retire_memory(sm, x->rank);
	rt_plan_free(&x->plan);
	x->tables = r->tables;
	x->rank = r->rank;
	x->ranked = r->rank != NULL;
	x->plan = r->plan;
	x->unplanned = r->unplanned;
	rt_legs_free(&x->legs);
	x->legs = r->legs;
	x->leg = 0;
	x->by = r->by;
	if (x->stage == SM_FINAL)
		sm_wishes_taken(sm);
	x->balance.measured = r->by; /* from scratch, or the reference again */
	/* Other engines have tables of their own. */
	x->settled = r->settled && (sm_final_routes(sm)->update || x->ref.engine);
	x->ready = r->ready ? r->ready : UINT16_MAX;
	rt_tables_fill(x->tables);
	reference_take(sm);
	return trees_first(sm, tables_fit(sm), r->trees);
}

/* The next leg of a detour. */
static enum sm_outcome leg_take(struct sm *sm)
{
	struct sm_routing *x = &sm->routes;
	struct rt_leg *l = &x->legs.at[x->leg++];

	sm_retire_tables(sm, x->tables);
	sm_retire_memory(sm, x->rank);
	rt_plan_free(&x->plan);
	x->tables = l->tables;
	x->rank = l->rank;
	x->plan = l->plan;
	x->unplanned = false;
	*l = (struct rt_leg){0};
	reference_take(sm);
	return trees_first(sm, tables_fit(sm), NULL);
}

/* ---- the request ---- */

/* An update of routes with lanes would replace all of them, and the final ones once more. */
static bool unsuited(const struct sm *sm)
{
	return sm_lanes_wanted(sm) && sm->cfg.mechanism.provisional->update;
}

/* Which tables are asked for: provisional or final. */
static void stage_choose(struct sm *sm, bool old)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	sm_adopt(sm, old);
	if (sm->routes.staged) { /* provisional tables are in place */
		sm->routes.stage = SM_FINAL;
		return;
	}
	/* Where nothing is in force, or nothing but a block is wrong, there is no need to hurry. */
	if (sm->disc.findings & SM_FOUND_CHANGE)
		sm_audit_mended(sm);
	sm->routes.stage = !m->provisional->absent && !unsuited(sm) && old && !sm->audit.mending &&
					   sm->disc.arrival != SM_ADOPTING
				   ? SM_PROVISIONAL
				   : SM_FINAL;
}

static const struct sm_supply *supply_now(const struct sm *sm)
{
	const struct sm_mechanism *m = &sm->cfg.mechanism;

	if (sm->disc.arrival == SM_ADOPTING && !sm_lanes_wanted(sm) && !sm_choice_is_open(sm))
		return m->adopt_routes;
	return sm->routes.stage == SM_PROVISIONAL ? m->provisional : sm_final_routes(sm);
}

static bool is_isolated(const struct sm *sm, port_id p)
{
	const struct fab_port *x = &sm->topo.data_fab->ports[p];

	return sm_damp_isolates_end(sm, sm->topo.data_fab->nodes[x->node].guid, x->num);
}

/* Whether the links that only plans count are all isolated by order. */
static bool counted_are_isolated(const struct sm *sm)
{
	const struct fab *f = sm->topo.fab, *data = sm->topo.data_fab;

	for (port_id p = 0; data && p < data->nports; p++) {
		port_id peer = data->ports[p].peer;

		if (f->ports[p].peer == FAB_NONE && peer != FAB_NONE && !is_isolated(sm, p) &&
		    !is_isolated(sm, peer))
			return false;
	}
	return true;
}

void sm_routes_request(struct sm *sm, bool old)
{
	struct sm_compute *c = &sm->core.out->compute;
	uint32_t fewest;

	*c = (struct sm_compute){
		.epoch = ++sm->routes.request_id,
		.fab = sm->topo.fab,
		.data_fab = sm->topo.data_fab,
		.root = sm_root_in(sm, sm->topo.fab),
		.directions = sm->cfg.directions,
		.ties = sm->cfg.ties,
		.stage = sm->routes.stage,
		.supply = supply_now(sm),
		.engine = sm_final_routes(sm)->engine,
		.choose = sm->cfg.mechanism.routes->choose,
		.directed = sm_mechanism_needs_directions(&sm->cfg.mechanism),
		.lanes = sm_choice_lanes(sm, sm_lanes_wanted(sm) ? sm_lanes_most(sm, &fewest) : 0),
		.plan = sm_technique_now(sm)->plan,
		.detour = !any_random_table(sm) && counted_are_isolated(sm),
		.overlap = sm_technique_now(sm)->overlaps && old,
		.found = sm->disc.arrival == SM_ADOPTING,
		.own = sm->restored.same};
	sm_wishes_tell(sm, c);
	if (old && (c->plan || c->supply->update))
		tell_old(sm, c);
	/* Without `before` the switches may hold a mixture of tables. */
	sm->routes.until_then = c->before && !c->old->lanes && !sm->dev.off.n ? c->old : NULL;
}

/* Which engine serves, if not the one asked for, and how many lanes are in use, if that is news. */
void sm_engine_note(struct sm *sm, const struct sm_routes *r)
{
	unsigned used = r->tables ? rt_nvls(r->tables) : sm->routes.lanes_noted, most;
	struct sm_subject about;
	uint32_t port;

	sm->routes.instead = r->instead;
	snprintf(sm->routes.instead_why, SM_WHY, "%s", r->instead ? r->why : "");
	if (!r->instead && !sm_lanes_wanted(sm))
		return;
	most = sm_lanes_most(sm, &port);
	about = sm_lanes_wanted(sm) && (!r->instead || r->few_lanes) ? sm_about_port(sm, port)
								     : SM_ABOUT_NOTHING;
	if (r->instead) {
		struct sm_note n = {.kind = SM_NOTE_OTHER_ENGINE, .about = about};

		snprintf(n.engine.name, sizeof(n.engine.name), "%s", sm_final_routes(sm)->name);
		snprintf(n.engine.why, sizeof(n.engine.why), "%s", r->why);
		snprintf(n.engine.instead, sizeof(n.engine.instead), "%s", r->instead->name);
		n.engine.vls = r->few_lanes ? most : 0;
		sm_note_put(sm, n);
	} else if (used != sm->routes.lanes_noted) {
		sm_note(sm, .kind = SM_NOTE_LANES, .about = about, .lanes = {used, most});
	}
	sm->routes.lanes_noted = used;
}

static enum sm_outcome compute_begin(struct sm *sm)
{
	struct sm_compute *c = &sm->core.out->compute;
	bool old = any_row_known(sm);
	struct sm_routes known;

	if (sm_routes_more(sm))
		return leg_take(sm);
	if (sm_balance_use(sm, &known)) {
		sm_choice_take(sm, &known);
		sm_engine_note(sm, &known);
		return routes_take(sm, &known);
	}
	sm_balance_reset(sm);
	sm_advice_drop(sm);
	stage_choose(sm, old);
	sm_routes_request(sm, old);
	if (c->before && c->supply->keep && !sm->dev.off.n && !sm->topo.data_fab &&
	    sm_ahead_use(sm, &known)) {
		*c = (struct sm_compute){0}; /* no need to ask */
		return routes_take(sm, &known);
	}
	if (sm->disc.presumes) { /* no other plan knows what the switch may still forward */
		*c = (struct sm_compute){0};
		return sm_look_first(sm);
	}
	return SM_GOING_ON;
}

const struct sm_part sm_part_compute = {.begin = compute_begin}; /* SM_EV_ROUTES moves on */

enum sm_outcome sm_routes_in(struct sm *sm, const struct sm_event *ev)
{
	struct sm_routes given = ev->routes, *r = &given;

	sm_retired_free(sm, r->epoch);
	if (sm_ahead_answer(sm, r) || sm_balance_answer(sm, r) || sm_defragment_answer(sm, r) ||
	    sm_advice_answer(sm, r))
		return SM_GOING_ON;
	if (sm->core.phase != SM_COMPUTE || r->epoch != sm->routes.request_id) { /* outdated */
		sm_routes_free(r);
		return SM_GOING_ON;
	}
	if (r->tables && r->verified) {
		sm_choice_take(sm, r);
		sm_engine_note(sm, r);
		return routes_take(sm, r);
	}
	sm_routes_free(r);
	sm_choice_forget(sm);
	sm_note(sm, .kind = SM_NOTE_REFUSED);
	sm_discovery_doubt(sm);
	return SM_REFUSED;
}

void sm_routes_progress(struct sm *sm, const struct sm_event *ev)
{
	if (ev->routes.epoch == sm->routes.request_id)
		sm->routes.ready =
			ev->routes.ready ? MAX(sm->routes.ready, ev->routes.ready) : UINT16_MAX;
}
