/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which LIDs of VMs get other routes, so that links share them evenly again (rt_defragment()). State: struct choice, for
 * one call. Programs nothing; the order of the changes is src/route/moves.h.
 *
 * An SMP writes 64 entries of one switch, and a LID that gets another way needs one at most switches: what counts is how
 * many blocks of LIDs change. So the search is a greedy cover. A block is tried by giving each of its LIDs in turn the way
 * on which links carry least; its gain is what the sum of squared loads loses, loads above the goal counted more. The
 * block with the largest gain for each SMP is taken, until the goal is met. Then blocks that turn out not to be needed
 * are taken back.
 */
#include "route/defragment_priv.h"

enum {
	ABOVE = 8, /* weight of routes above the goal of the busiest link */
};

struct block {
	uint32_t first, end; /* VMs */
	bool taken;
	uint64_t gain;
	uint32_t smps;
};

struct choice {
	struct frag x;
	struct rt_balance goal;
	bool even;
	const struct rt_defragment_opts *o;
	bool stopped;
	VEC(struct block) blocks;
	uint32_t *seen, look; /* by switch: the last count that met it */
	rt_flows own;	      /* of one VM */
};

/* ---- one VM ---- */

static const rt_flows *flows_of(struct choice *c, const struct frag_vm *v)
{
	struct frag *x = &c->x;
	const struct frag_leaf *l = &x->leaves.at[v->leaf];

	if (v->way != FRAG_OWN)
		return &l->ways[v->way];
	c->own.n = 0;
	rt_flows_of(&x->loads, x->t->lft + v->lid, x->t->stride, x->t->dflt, l->sw, &c->own);
	return &c->own;
}

/* What the sum of squares gains when these are added; not all of it once that is `most` or more. */
static uint64_t cost(const struct choice *c, const rt_flows *way, uint64_t most)
{
	uint64_t sum = 0, goal = c->goal.busiest;

	for (size_t i = 0; i < way->n && sum < most; i++) {
		uint64_t was = c->x.loads.load[way->at[i].link], now = was + way->at[i].routes;

		sum += (was + now) * way->at[i].routes;
		if (now > goal) {
			uint64_t high = now - goal, low = was > goal ? was - goal : 0;

			sum += ABOVE * (high + low) * (high - low);
		}
	}
	return sum;
}

/* The VM goes on by this way. */
static void vm_put(struct choice *c, struct frag_vm *v, uint16_t way)
{
	rt_link_loads_remove(&c->x.loads, flows_of(c, v));
	v->way = way;
	rt_link_loads_add(&c->x.loads, flows_of(c, v));
}

/* The best way for one VM, and what that gains. */
static uint64_t vm_improve(struct choice *c, struct frag_vm *v)
{
	const struct frag_leaf *l = &c->x.leaves.at[v->leaf];
	const rt_flows *is = flows_of(c, v);
	uint64_t now, best;
	uint16_t way = v->way;

	if (v->fixed)
		return 0;
	rt_link_loads_remove(&c->x.loads, is);
	now = best = cost(c, is, UINT64_MAX);
	for (uint32_t k = 0; k < l->nways; k++) {
		uint64_t other = k == v->way ? now : cost(c, &l->ways[k], best);

		if (other < best) {
			best = other;
			way = (uint16_t)k;
		}
	}
	v->way = way;
	rt_link_loads_add(&c->x.loads, flows_of(c, v));
	return now - best;
}

/* ---- one block ---- */

static uint64_t block_improve(struct choice *c, const struct block *b)
{
	uint64_t gain = 0;

	for (uint32_t i = b->first; i < b->end; i++)
		gain += vm_improve(c, &c->x.vms.at[i]);
	return gain;
}

static bool differs(const struct frag *x, const struct frag_vm *v, const struct rt_flow *w,
		    uint32_t *sw)
{
	node_id n = x->f->ports[w->link].node;

	*sw = x->f->switch_index[n];
	return rt_row(x->t, *sw)[v->lid] != w->link - x->f->nodes[n].first_port;
}

/* Switches where an entry of the block differs from the tables. */
static uint32_t block_smps(struct choice *c, const struct block *b)
{
	const struct frag *x = &c->x;
	uint32_t n = 0, sw;

	c->look++;
	for (uint32_t i = b->first; i < b->end; i++) {
		const struct frag_vm *v = &x->vms.at[i];
		const rt_flows *w = v->way == FRAG_OWN ? NULL : &x->leaves.at[v->leaf].ways[v->way];

		for (size_t k = 0; w && k < w->n; k++)
			if (differs(x, v, &w->at[k], &sw) && c->seen[sw] != c->look) {
				c->seen[sw] = c->look;
				n++;
			}
	}
	return n;
}

static void block_undo(struct choice *c, const struct block *b)
{
	for (uint32_t i = b->first; i < b->end; i++)
		if (c->x.vms.at[i].way != FRAG_OWN)
			vm_put(c, &c->x.vms.at[i], FRAG_OWN);
}

static void block_try(struct choice *c, struct block *b)
{
	b->gain = block_improve(c, b);
	b->smps = MAX(block_smps(c, b), 1u);
	block_undo(c, b);
}

/* ---- the search ---- */

static bool is_stopped(struct choice *c)
{
	c->stopped = c->stopped || (c->o->stop && c->o->stop(c->o->ctx));
	return c->stopped;
}

static bool is_met(const struct choice *c)
{
	struct rt_balance b;

	rt_balance_get(&c->x.loads, &b);
	return !c->even && b.busiest <= c->goal.busiest && b.deviation <= c->goal.deviation;
}

/* The block with the largest gain for each SMP, by figures that may be old; NULL: none gains. */
static struct block *block_best(struct choice *c)
{
	struct block *best = NULL;

	for (size_t i = 0; i < c->blocks.n; i++) {
		struct block *b = &c->blocks.at[i];

		if (!b->taken && b->gain && (!best || b->gain * best->smps > best->gain * b->smps))
			best = b;
	}
	return best;
}

/* What was taken may gain more when others have changed, for the same SMPs. */
static uint64_t relax(struct choice *c)
{
	uint64_t gain = 0;

	for (size_t i = 0; i < c->blocks.n && !is_stopped(c); i++)
		if (c->blocks.at[i].taken)
			gain += block_improve(c, &c->blocks.at[i]);
	return gain;
}

/* Gains shrink as others are taken: only the best is tried again. */
static struct block *block_choose(struct choice *c)
{
	struct block *b = block_best(c), *other;

	for (; b && !is_stopped(c); b = other) {
		block_try(c, b);
		other = block_best(c);
		if (other == b)
			return b;
	}
	return NULL;
}

static void blocks_take(struct choice *c)
{
	struct block *b;

	for (size_t i = 0; i < c->blocks.n && !is_stopped(c); i++)
		block_try(c, &c->blocks.at[i]);
	for (size_t n = 1; !is_met(c) && (b = block_choose(c)); n++) {
		b->taken = true;
		block_improve(c, b);
		if (!(n & (n - 1)))
			relax(c);
	}
	for (unsigned i = 0; i < 16 && !is_met(c) && relax(c); i++)
		;
}

/* Blocks without which the goal is met as well. */
static void blocks_drop(struct choice *c)
{
	uint16_t way[IBA_LFT_BLOCK];

	for (size_t i = c->blocks.n; i-- > 0 && !c->even && !is_stopped(c);) {
		const struct block *b = &c->blocks.at[i];

		if (!b->taken)
			continue;
		for (uint32_t k = b->first; k < b->end; k++)
			way[k - b->first] = c->x.vms.at[k].way;
		block_undo(c, b);
		if (is_met(c))
			continue;
		for (uint32_t k = b->first; k < b->end; k++)
			vm_put(c, &c->x.vms.at[k], way[k - b->first]);
	}
}

/* ---- setting up ---- */

static int vm_cmp(const void *a, const void *b)
{
	const struct frag_vm *x = a, *y = b;

	return (x->lid > y->lid) - (x->lid < y->lid);
}

static void vms_make(struct frag *x)
{
	const struct fab *f = x->f;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		uint32_t sw = rt_switch_of(f, f->vlids[i].port);

		if (f->vlids[i].slot && sw != FAB_NONE && f->vlids[i].lid <= x->t->top_lid)
			vec_push(&x->vms, (struct frag_vm){f->vlids[i].lid, FRAG_OWN, sw, false});
	}
	if (x->vms.n)
		qsort(x->vms.at, x->vms.n, sizeof(*x->vms.at), vm_cmp);
}

/* Until here `leaf` of a VM is its switch. */
static void leaves_make(struct frag *x)
{
	uint32_t n = x->f->nswitches, *at = mem_zarray(n + 1, sizeof(*at));

	for (size_t i = 0; i < x->vms.n; i++)
		at[x->vms.at[i].leaf + 1]++;
	for (uint32_t s = 0; s < n; s++)
		at[s + 1] += at[s];
	vec_room(&x->by_leaf, x->vms.n);
	x->by_leaf.n = x->vms.n;
	for (uint32_t s = 0; s < n; s++)
		if (at[s + 1] > at[s])
			vec_push(&x->leaves,
				 (struct frag_leaf){.sw = s, .first = at[s], .end = at[s + 1]});
	for (uint32_t i = 0; i < x->vms.n; i++)
		x->by_leaf.at[at[x->vms.at[i].leaf]++] = i;
	for (uint32_t k = 0; k < x->leaves.n; k++)
		for (uint32_t i = x->leaves.at[k].first; i < x->leaves.at[k].end; i++)
			x->vms.at[x->by_leaf.at[i]].leaf = k;
	free(at);
}

static void blocks_make(struct choice *c)
{
	const struct frag *x = &c->x;

	for (uint32_t i = 0, end; i < x->vms.n; i = end) {
		for (end = i; end < x->vms.n && x->vms.at[end].lid / IBA_LFT_BLOCK ==
							x->vms.at[i].lid / IBA_LFT_BLOCK;
		     end++)
			;
		vec_push(&c->blocks, (struct block){.first = i, .end = end});
	}
}

/* Routes that FERa computes: how even they are, and what it would take to write them. */
static int fresh_measure(struct choice *c, const struct rt_defragment_opts *o,
			 struct rt_defragment *out, struct err *e)
{
	const struct frag *x = &c->x;
	struct rt_opts ro = {.root = FAB_NONE, .rank = o->rank, .threads = o->threads};
	struct rt_tables *t;
	struct rt_link_loads l;
	int rc = rt_compute(&rt_fera, x->f, &ro, &t, e);

	if (rc)
		return rc;
	rt_link_loads_init(&l, x->f);
	rt_link_loads_vlids(&l, t);
	rt_balance_get(&l, &out->fresh);
	rt_link_loads_free(&l);
	for (uint32_t s = 0; s < t->nswitches; s++)
		for (uint32_t first = 0; first <= t->top_lid; first += IBA_LFT_BLOCK) {
			bool other = false;

			for (uint32_t i = first; i < first + IBA_LFT_BLOCK && i <= t->top_lid; i++)
				other |= rt_row(t, s)[i] != IBA_PORT_NONE &&
					 (i > x->t->top_lid ||
					  rt_row(t, s)[i] != rt_row(x->t, s)[i]);
			out->smps_fresh += other;
		}
	out->smps_all = t->nswitches * (t->top_lid / IBA_LFT_BLOCK + 1);
	rt_tables_free(t);
	return 0;
}

/* ---- the plan ---- */

static int entry_cmp(const void *a, const void *b)
{
	const struct rt_move_entry *x = a, *y = b;

	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->lid > y->lid) - (x->lid < y->lid);
}

static void entries_make(const struct choice *c, struct rt_defragment *out)
{
	const struct frag *x = &c->x;
	uint32_t sw;

	for (size_t i = 0; i < x->vms.n; i++) {
		const struct frag_vm *v = &x->vms.at[i];
		const rt_flows *w = v->way == FRAG_OWN ? NULL : &x->leaves.at[v->leaf].ways[v->way];
		size_t before = out->entries.n;

		for (size_t k = 0; w && k < w->n; k++)
			if (differs(x, v, &w->at[k], &sw)) {
				node_id n = x->f->switches[sw];
				uint8_t to = (uint8_t)(w->at[k].link - x->f->nodes[n].first_port);

				vec_push(&out->entries,
					 (struct rt_move_entry){sw, v->lid,
								rt_row(x->t, sw)[v->lid], to, 0});
			}
		out->moved += out->entries.n > before;
		out->left += v->fixed;
	}
	if (out->entries.n)
		qsort(out->entries.at, out->entries.n, sizeof(*out->entries.at), entry_cmp);
}

static int choose(struct choice *c, const struct rt_defragment_opts *o, struct rt_defragment *out,
		  struct err *e)
{
	struct frag *x = &c->x;
	int rc = frag_ways_make(x, o, e);

	if (rc)
		return rc;
	blocks_make(c);
	c->seen = mem_zarray(x->f->nswitches, sizeof(*c->seen));
	blocks_take(c);
	blocks_drop(c);
	if (c->stopped)
		return err_set(e, -ECANCELED, "stopped");
	rt_balance_get(&x->loads, &out->after);
	if (out->after.busiest > out->before.busiest) { /* even elsewhere, but not here */
		for (size_t i = 0; i < c->blocks.n; i++)
			block_undo(c, &c->blocks.at[i]);
		out->after = out->before;
	}
	entries_make(c, out);
	rc = rt_moves_plan(x->f, x->t, o->rank, NULL, &out->entries, &out->plan, e);
	out->smps = rt_moves_blocks(&out->entries, &out->switches);
	return rc;
}

int rt_defragment(const struct fab *f, const struct rt_tables *t,
		  const struct rt_defragment_opts *o, struct rt_defragment *out, struct err *e)
{
	struct choice c = {.x = {.f = f, .t = t}, .even = o->even, .o = o};
	int rc;

	*out = (struct rt_defragment){0};
	rt_link_loads_init(&c.x.loads, f);
	rt_link_loads_vlids(&c.x.loads, t);
	rt_balance_get(&c.x.loads, &out->before);
	out->after = out->before;
	vms_make(&c.x);
	leaves_make(&c.x);
	out->lids = (uint32_t)c.x.vms.n;
	rc = fresh_measure(&c, o, out, e);
	c.goal = out->fresh;
	if (!rc && !is_met(&c))
		rc = choose(&c, o, out, e);
	out->reached =
		out->after.busiest <= c.goal.busiest && out->after.deviation <= c.goal.deviation;
	frag_ways_free(&c.x);
	vec_free(&c.x.vms);
	vec_free(&c.x.by_leaf);
	vec_free(&c.blocks);
	vec_free(&c.own);
	free(c.seen);
	rt_link_loads_free(&c.x.loads);
	return rc;
}

void rt_defragment_free(struct rt_defragment *x)
{
	vec_free(&x->entries);
}
