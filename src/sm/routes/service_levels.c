/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels that paths have: those of the last tables that were all in place. State: routes.sls. Hosts learn them
 * when those tables are in place, and use them until the next ones are. Does not choose any: engines do.
 */
#include "sm/manager.h"

bool sm_lanes_wanted(const struct sm *sm)
{
	const struct sm_supply *s = sm_final_routes(sm);

	if (s->choose)
		return sm->cfg.auto_lanes != 1 &&
		       !sm_mechanism_needs_directions(&sm->cfg.mechanism);
	return s->engine && s->engine->lanes;
}

static void clear(struct sm_service_levels *x)
{
	free(x->sl);
	x->sl = NULL;
	x->nrows = 0;
	x->nvls = 1;
	map64_clear(&x->by_guid);
	x->first.n = x->row.n = x->owner.n = 0;
}

void sm_sls_forget(struct sm *sm)
{
	struct sm_service_levels *x = &sm->routes.sls;

	clear(x);
	map64_free(&x->by_guid);
	vec_free(&x->first);
	vec_free(&x->row);
	vec_free(&x->owner);
	*x = (struct sm_service_levels){.number = x->number};
}

static void own_rows(struct sm_service_levels *x)
{
	for (uint32_t row = 0; row < x->nrows; row++)
		vec_push(&x->owner, 0);
	for (uint32_t s = (uint32_t)x->first.n - 1; s--;)
		for (uint32_t i = x->first.at[s]; i < x->first.at[s + 1]; i++)
			x->owner.at[x->row.at[i]] = s;
}

void sm_sls_recall(struct sm *sm, struct sm_service_levels *x)
{
	sm_sls_forget(sm);
	own_rows(x);
	sm->routes.sls = *x;
}

static void take(struct sm *sm, const struct rt_tables *t)
{
	struct sm_service_levels *x = &sm->routes.sls;
	const struct rt_lanes *l = t->lanes;
	const struct fab *f = sm->topo.fab;

	x->stride = t->stride;
	x->top_lid = t->top_lid;
	x->nrows = l->nrows;
	x->nvls = l->nvls;
	x->sl = mem_array(l->nrows, t->stride);
	memcpy(x->sl, l->sl, (size_t)l->nrows * t->stride);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		map64_put(&x->by_guid, f->nodes[f->switches[s]].guid, s);
		vec_push(&x->first, l->first[s]);
	}
	vec_push(&x->first, l->first[f->nswitches]);
	for (uint32_t i = 0; i < l->first[f->nswitches]; i++)
		vec_push(&x->row, l->sl_row[i]);
	own_rows(x);
}

bool sm_sls_in_place(struct sm *sm)
{
	const struct rt_tables *t = sm->routes.tables;
	struct sm_service_levels *x = &sm->routes.sls;

	x->known = true;
	if (!t->lanes && !x->nrows && (x->number || !sm_lanes_wanted(sm)))
		return false;
	clear(x);
	if (t->lanes)
		take(sm, t);
	x->number++;
	return true;
}

const uint8_t *sm_sls_from(const struct sm *sm, uint64_t switch_guid, unsigned port,
			   uint32_t *top_lid)
{
	const struct sm_service_levels *x = &sm->routes.sls;
	uint32_t s = x->nrows ? map64_get(&x->by_guid, switch_guid) : MAP_NONE;

	*top_lid = x->top_lid;
	if (s == MAP_NONE || port >= x->first.at[s + 1] - x->first.at[s])
		return NULL;
	return x->sl + (size_t)x->row.at[x->first.at[s] + port] * x->stride;
}

uint32_t sm_sls_number(const struct sm *sm)
{
	return sm->routes.sls.number;
}

/* Row 0 is SL 0, for switches that had no service levels. */
void sm_sls_tell(const struct sm *sm, struct rt_tables *old)
{
	const struct sm_service_levels *x = &sm->routes.sls;
	const struct fab *f = sm->topo.fab;

	for (uint32_t row = 0; row < x->nrows; row++)
		memcpy(rt_sl_row(old, row + 1), x->sl + (size_t)row * x->stride,
		       MIN(x->top_lid, old->top_lid) + 1);
	for (uint32_t s = 0; x->nrows && s < f->nswitches; s++) {
		const struct fab_node *n = &f->nodes[f->switches[s]];
		uint32_t was = map64_get(&x->by_guid, n->guid);

		if (was == MAP_NONE || x->first.at[was + 1] - x->first.at[was] != n->nports + 1u)
			continue;
		for (unsigned in = 0; in <= n->nports; in++)
			rt_sl_row_use(old, s, in, x->row.at[x->first.at[was] + in] + 1);
	}
}
