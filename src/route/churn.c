/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VMs that start, stop and migrate at random on computed tables, for weft route churn. State: struct churn. Ways in:
 * churn_make(), churn_step(), churn_measure(), churn_defragment(). Which entries change is src/route/moves.h; LIDs are
 * given as the manager gives them, the lowest that is free.
 */
#include "route/churn.h"

enum { STREAM = 0x6368726e }; /* of random draws */

const char *const churn_event_name[] = {"starts", "stops", "migrations", NULL};

/* ---- making it ---- */

static struct fab *with_lids(const struct fab *f, const struct churn_opts *o, struct err *e)
{
	struct fab *wide = o->vfs ? fab_with_vfs(f, FAB_SRIOV_VSWITCH, o->vfs) : NULL;
	struct fab_builder *b = fab_builder_from(wide ? wide : f);
	struct fab *bare, *g;

	fab_builder_drop_vlids(b);
	bare = fab_build(b);
	g = o->swap ? fab_assign_vf_lids(bare, 0, e) : fab_assign_lids(bare, 0, e);
	fab_free(bare);
	fab_free(wide);
	return g;
}

static int tables_make(struct churn *c, const struct churn_opts *o, struct err *e)
{
	const struct rt_engine *g = rt_engine_find(o->engine);
	int rc = rt_compute(g, c->f, &o->routes, &c->t, e);

	if (rc)
		return rc;
	rt_tables_fill(c->t);
	free(c->t->dflt);
	c->t->dflt = NULL;
	if (g->updown) {
		c->rank = mem_array(c->f->nswitches, sizeof(*c->rank));
		rt_updown_rank_by(c->f, o->routes.root, o->routes.directions, c->rank);
	}
	return 0;
}

static void hosts_make(struct churn *c)
{
	const struct fab *f = c->f;
	const struct fab_vlid *v;

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *x = &f->nodes[n];
		uint32_t sw = x->sriov == FAB_SRIOV_VSWITCH ? rt_switch_of(f, fab_port_id(f, n, 1))
							    : FAB_NONE;

		if (sw == FAB_NONE)
			continue;
		vec_push(&c->hosts, (struct churn_host){n, sw, c->room, (unsigned)x->vfs, 0});
		c->room += x->vfs;
	}
	c->slots = mem_zarray(c->room, sizeof(*c->slots));
	c->vms = mem_array(c->room, sizeof(*c->vms));
	c->used = mem_zarray(IBA_LID_MAX_UNICAST + 1u, 1);
	memset(c->used, 1, fab_top_lid(f) + 1);
	for (size_t h = 0; h < c->hosts.n; h++) {
		port_id p = fab_port_id(f, c->hosts.at[h].node, 1);
		uint32_t n = fab_vlids_of(f, p, &v);

		for (uint32_t i = 0; i < n; i++)
			c->slots[c->hosts.at[h].first + v[i].slot - 1].lid = v[i].lid;
	}
}

/* ---- tables and loads ---- */

static struct churn_host *host_of(const struct churn *c, uint32_t slot)
{
	size_t low = 0, high = c->hosts.n;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (c->hosts.at[mid].first <= slot)
			low = mid;
		else
			high = mid;
	}
	return &c->hosts.at[low];
}

static uint16_t pf_lid(const struct churn *c, const struct churn_host *h)
{
	return c->f->ports[fab_port_id(c->f, h->node, 1)].lid;
}

/* Carries moves out, and counts their SMPs as stages have them. */
static int moves_do(struct churn *c, enum churn_event what, const struct rt_move *m, size_t n,
		    struct err *e)
{
	struct rt_moves_plan p;
	int rc;

	c->e.n = 0;
	rt_moves_effects(c->f, c->t, m, n, &c->e);
	rc = rt_moves_plan(c->f, c->t, c->rank, NULL, &c->e, &p, e);
	if (rc)
		return rc;
	c->smps[what] += rt_moves_blocks(&c->e, NULL);
	rt_moves_apply(c->t, &c->e);
	return 0;
}

static void load_count(struct churn *c, uint32_t slot, bool add)
{
	rt_link_loads_lid(&c->loads, c->t, c->slots[slot].lid, host_of(c, slot)->sw, add);
}

/* ---- events ---- */

static void vm_put(struct churn *c, uint32_t slot)
{
	c->slots[slot].runs = true;
	host_of(c, slot)->used++;
	c->vms[c->running++] = slot;
	load_count(c, slot, true);
}

static uint32_t vm_take(struct churn *c, uint32_t vm)
{
	uint32_t slot = c->vms[vm];

	load_count(c, slot, false);
	c->slots[slot].runs = false;
	host_of(c, slot)->used--;
	c->vms[vm] = c->vms[--c->running];
	return slot;
}

static uint32_t slot_free(const struct churn *c, const struct churn_host *h)
{
	for (uint32_t s = h->first; s < h->first + h->vfs; s++)
		if (!c->slots[s].runs)
			return s;
	return FAB_NONE;
}

/* The lowest LID that is free; 0: none. */
static uint16_t lid_give(struct churn *c)
{
	uint32_t lid = 1;

	while (lid <= IBA_LID_MAX_UNICAST && c->used[lid])
		lid++;
	if (lid > IBA_LID_MAX_UNICAST)
		return 0;
	c->used[lid] = 1;
	rt_moves_reach(c->t, lid);
	return (uint16_t)lid;
}

static int vm_start(struct churn *c, const struct churn_host *h, struct err *e)
{
	uint32_t slot = slot_free(c, h);
	uint16_t lid = c->swap ? c->slots[slot].lid : lid_give(c);
	struct rt_move m = {lid, pf_lid(c, h)};

	if (!lid)
		return err_set(e, -ENOSPC, "%u VMs run, and no LID is free", c->running);
	if (!c->swap && moves_do(c, CHURN_START, &m, 1, e))
		return -EDEADLK;
	c->slots[slot].lid = lid;
	vm_put(c, slot);
	return 0;
}

static int vm_stop(struct churn *c, struct err *e)
{
	uint32_t slot = vm_take(c, rng_below(&c->rng, c->running));
	struct rt_move m = {c->slots[slot].lid, 0};

	if (c->swap)
		return 0;
	c->used[m.lid] = 0;
	c->slots[slot].lid = 0;
	return moves_do(c, CHURN_STOP, &m, 1, e);
}

static int vm_migrate(struct churn *c, const struct churn_host *h, uint32_t vm, struct err *e)
{
	uint32_t to = slot_free(c, h), from = vm_take(c, vm);
	uint16_t lid = c->slots[from].lid, other = c->slots[to].lid;
	struct rt_move m[] = {{lid, c->swap ? other : pf_lid(c, h)}, {other, lid}};
	int rc = moves_do(c, CHURN_MIGRATE, m, c->swap ? 2 : 1, e);

	c->slots[to].lid = lid;
	c->slots[from].lid = other;
	vm_put(c, to);
	return rc;
}

/* A host with a free VF: the fullest of some. */
static const struct churn_host *host_draw(struct churn *c, const struct churn_host *but)
{
	const struct churn_host *best = NULL;

	for (unsigned tries = 0, found = 0; tries < 1000 * c->pack && found < c->pack; tries++) {
		const struct churn_host *h = &c->hosts.at[rng_below(&c->rng, (uint32_t)c->hosts.n)];

		if (h == but || h->used == h->vfs)
			continue;
		found++;
		if (!best || h->used > best->used)
			best = h;
	}
	return best;
}

static int migrate_draw(struct churn *c, bool *done, struct err *e)
{
	uint32_t vm = rng_below(&c->rng, c->running);
	const struct churn_host *h = host_draw(c, host_of(c, c->vms[vm]));

	*done = h != NULL;
	if (!h)
		return 0;
	c->events[CHURN_MIGRATE]++;
	return vm_migrate(c, h, vm, e);
}

/* Half of all are migrations, while there is room; VMs start and stop so that about as many run as are wanted. */
int churn_step(struct churn *c, struct err *e)
{
	const struct churn_host *h = NULL;
	bool done = false;
	int rc = 0;

	if (c->running && rng_below(&c->rng, 2))
		rc = migrate_draw(c, &done, e);
	if (done || rc)
		return rc;
	if (!c->running || rng_below(&c->rng, 2 * c->want) >= c->running)
		h = host_draw(c, NULL);
	if (!h && !c->running)
		return err_set(e, -ENOSPC, "no host has a free VF");
	c->events[h ? CHURN_START : CHURN_STOP]++;
	return h ? vm_start(c, h, e) : vm_stop(c, e);
}

/* As many on each host. */
static int vms_start(struct churn *c, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; c->running < c->want && !rc; i++) {
		const struct churn_host *h = &c->hosts.at[i % c->hosts.n];

		if (h->used < h->vfs)
			rc = vm_start(c, h, e);
	}
	memset(c->smps, 0, sizeof(c->smps));
	return rc;
}

int churn_make(struct churn *c, const struct fab *f, const struct churn_opts *o, struct err *e)
{
	int rc;

	*c = (struct churn){.swap = o->swap, .pack = MAX(o->pack, 1u), .f = with_lids(f, o, e)};
	if (!c->f)
		return -ENOSPC;
	rng_seed(&c->rng, o->seed, STREAM);
	rng_seed(&c->draws, o->seed, STREAM + 1);
	rc = tables_make(c, o, e);
	if (rc)
		return rc;
	rt_link_loads_init(&c->loads, c->f);
	hosts_make(c);
	if (c->hosts.n < 2)
		return err_set(e, -EINVAL, "there are no two hosts with VFs");
	c->want = MAX((uint32_t)((uint64_t)c->room * o->load / 100), 1u);
	return vms_start(c, e);
}

void churn_free(struct churn *c)
{
	vec_free(&c->hosts);
	vec_free(&c->e);
	free(c->slots);
	free(c->vms);
	free(c->used);
	free(c->rank);
	rt_link_loads_free(&c->loads);
	rt_tables_free(c->t);
	fab_free(c->f);
}

/* ---- figures ---- */

struct fab *churn_fabric(const struct churn *c)
{
	struct fab_builder *b = fab_builder_from(c->f);

	fab_builder_drop_vlids(b);
	for (size_t h = 0; h < c->hosts.n; h++)
		for (unsigned s = 0; s < c->hosts.at[h].vfs; s++) {
			const struct churn_slot *x = &c->slots[c->hosts.at[h].first + s];

			if (x->runs)
				fab_add_vlid(b, c->hosts.at[h].node, s + 1, x->lid, 0);
		}
	return fab_build(b);
}

int churn_measure(struct churn *c, struct churn_sample *s, struct err *e)
{
	struct fab *f = churn_fabric(c);
	struct rt_opts ro = {.root = FAB_NONE, .rank = c->rank};
	struct rt_link_loads l;
	struct rt_tables *t;
	int rc = rt_compute(&rt_fera, f, &ro, &t, e);

	if (!rc) {
		rt_link_loads_init(&l, f);
		rt_link_loads_vlids(&l, t);
		rt_balance_get(&l, &s->fresh);
		rt_balance_get(&c->loads, &s->now);
		s->vms = c->running;
		rt_link_loads_free(&l);
		rt_tables_free(t);
	}
	fab_free(f);
	return rc;
}

/* ---- defragmentation ---- */

/* Every pair is connected in every state: no LID moves. */
static int state_verify(const struct churn *c, const struct fab *f, struct churn_check *k,
			struct err *e)
{
	struct rt_verify_opts o = {.rank = c->rank};
	struct rt_report r;
	int rc = rt_verify(f, c->t, &o, &r, e);

	if (rc)
		return rc;
	k->states++;
	k->sound = k->sound && r.ok && !r.down_up;
	rt_report_free(&r);
	return 0;
}

static int stage_do(struct churn *c, const struct fab *f, const rt_move_entries *all,
		    unsigned stage, struct churn_check *k, struct err *e)
{
	rt_move_entries drawn = {0};
	int rc = 0;

	for (unsigned i = 0; i < k->draws && !rc; i++) {
		drawn.n = 0;
		for (size_t n = 0; n < all->n; n++)
			if (all->at[n].stage == stage && rng_below(&c->draws, 2))
				vec_push(&drawn, all->at[n]);
		rt_moves_apply(c->t, &drawn);
		rc = state_verify(c, f, k, e);
		rt_moves_undo(c->t, &drawn);
	}
	vec_free(&drawn);
	rt_moves_apply_stage(c->t, all, stage);
	return !rc && k->draws ? state_verify(c, f, k, e) : rc;
}

int churn_defragment(struct churn *c, bool even, struct churn_check *k, struct rt_defragment *out,
		     struct err *e)
{
	struct fab *f = churn_fabric(c);
	struct rt_defragment_opts o = {.rank = c->rank, .even = even};
	int rc = rt_defragment(f, c->t, &o, out, e);

	k->states = 0;
	k->sound = true;
	for (uint32_t i = 0; i < c->running && !rc; i++)
		load_count(c, c->vms[i], false);
	for (unsigned s = 0; s < out->plan.stages && !rc; s++)
		rc = stage_do(c, f, &out->entries, s, k, e);
	for (uint32_t i = 0; i < c->running && !rc; i++)
		load_count(c, c->vms[i], true);
	fab_free(f);
	return rc;
}
