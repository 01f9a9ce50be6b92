/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table updates while traffic flows (thesis 6.3): for each destination the entries change from
 * its switch outwards, each when the switches nearer to the destination have acknowledged theirs,
 * so no packet is turned back. Many destinations are updated at once, and entries due for one
 * block of one switch share one SMP. State: struct sm_waves. Does not wait for complete tables:
 * destinations follow as they are computed.
 */
#include "sm/tables/random_tables.h"

enum { OPEN = 64 }; /* destinations under way: those of one block share SMPs */

enum block_state { IDLE, QUEUED, BUSY };

struct entry {
	uint32_t sw, level;
};

struct pending {
	uint16_t lid;
	uint8_t wave;
	uint32_t next; /* in its block's list; NONE: the last */
};

struct wave {			 /* one destination */
	VEC(struct entry) order; /* by level */
	size_t at;
	uint32_t left; /* of the level under way */
	uint16_t lid;
	bool open;
};

struct sm_waves {
	uint32_t nblocks;	    /* of a linear table */
	uint32_t *first, *owner;    /* by switch: its blocks; by block: its switch */
	uint32_t *waiting, *flying; /* by block: into pool */
	uint8_t *state;
	VEC(uint32_t) queue; /* blocks with something to send */
	size_t queue_head;
	VEC(struct pending) pool;
	uint32_t pool_free;
	struct wave wave[OPEN];
	uint32_t nopen, next_lid;
	uint32_t *level, *stack; /* by switch, for one destination at a time */
	VEC(uint32_t)
	differ[IBA_LFT_BLOCK]; /* of one block: by destination, switches with another entry */
	uint32_t looked;       /* destinations before this one are in it, or were */
	VEC(uint32_t) random;  /* switches with random tables */
	bool whole_done;       /* switches whose tables are not known have them whole */
	bool tidying;	       /* all destinations are done */
};

void sm_waves_free(struct sm *sm)
{
	struct sm_waves *w = sm->dev.waves;

	if (!w)
		return;
	for (unsigned i = 0; i < OPEN; i++)
		vec_free(&w->wave[i].order);
	for (unsigned i = 0; i < IBA_LFT_BLOCK; i++)
		vec_free(&w->differ[i]);
	vec_free(&w->random);
	vec_free(&w->queue);
	vec_free(&w->pool);
	free(w->first);
	free(w->owner);
	free(w->waiting);
	free(w->flying);
	free(w->state);
	free(w->level);
	free(w->stack);
	free(w);
	sm->dev.waves = NULL;
}

/*
 * Blocks are numbered across all switches; linear and random tables have blocks of their own
 * kinds.
 */
static uint32_t blocks_number(struct sm *sm, struct sm_waves *w)
{
	uint32_t nsw = sm->topo.fab->nswitches, n = 0;

	w->nblocks = sm->routes.tables->stride / IBA_LFT_BLOCK;
	w->first = mem_array(nsw, sizeof(*w->first));
	for (uint32_t s = 0; s < nsw; s++) {
		w->first[s] = n;
		n += sm_rft_of(sm, s) ? sm_rft_of(sm, s)->nblocks : w->nblocks;
	}
	w->owner = mem_array(n, sizeof(*w->owner));
	for (uint32_t s = 0, b = 0; s < nsw; s++)
		while (b < (s + 1 < nsw ? w->first[s + 1] : n))
			w->owner[b++] = s;
	return n;
}

static enum sm_outcome waves_begin(struct sm *sm)
{
	size_t nsw = sm->topo.fab->nswitches, n;
	struct sm_waves *w;

	sm_waves_free(sm);
	w = sm->dev.waves = mem_zalloc(sizeof(*w));
	n = blocks_number(sm, w);
	w->waiting = mem_array(n, sizeof(*w->waiting));
	w->flying = mem_array(n, sizeof(*w->flying));
	memset(w->waiting, 0xff, n * sizeof(*w->waiting));
	memset(w->flying, 0xff, n * sizeof(*w->flying));
	w->state = mem_zarray(n, 1);
	w->level = mem_array(nsw, sizeof(*w->level));
	w->stack = mem_array(nsw, sizeof(*w->stack));
	w->pool_free = NONE;
	for (uint32_t s = 0; s < nsw; s++)
		if (sm_rft_of(sm, s))
			vec_push(&w->random, s);
	sm_blocks_begin(sm);
	sm_rft_begin(sm, RFT_EARLY);
	return SM_GOING_ON;
}

static uint32_t node_at(const struct sm *sm, uint32_t sw)
{
	return sm->topo.node_of[sm->topo.fab->switches[sw]];
}

/* ---- switches whose tables are not known: whole blocks, before anything leads there ---- */

static bool whole_next(struct sm *sm, struct sm_req *r)
{
	return sm_unknown_block_next(sm, &sm->run.blocks.at, r) || sm_rft_next(sm, r);
}

/* ---- one destination: who changes, and when ---- */

static uint32_t next_switch(const struct sm *sm, uint32_t sw, uint8_t out)
{
	const struct fab *f = sm->topo.fab;
	node_id n = f->switches[sw];
	port_id peer =
		out && out <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, out)].peer : FAB_NONE;

	return peer == FAB_NONE ? FAB_NONE : f->switch_index[f->ports[peer].node];
}

/* Switches between sw and the end of its new route. */
static uint32_t level_of(struct sm *sm, uint32_t sw, uint16_t lid)
{
	struct sm_waves *w = sm->dev.waves;
	uint32_t n = 0, level = 0, at = sw;

	while (at != FAB_NONE && w->level[at] == NONE && n < sm->topo.fab->nswitches) {
		w->stack[n++] = at;
		at = next_switch(sm, at, rt_row(sm->routes.tables, at)[lid]);
	}
	if (at != FAB_NONE && w->level[at] != NONE)
		level = w->level[at] + 1;
	while (n)
		w->level[w->stack[--n]] = level++;
	return w->level[sw];
}

static int entry_cmp(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Rows are long and mostly unchanged: one block of all switches is compared at a time. */
static void block_look(struct sm *sm, uint32_t last)
{
	struct sm_waves *w = sm->dev.waves;
	uint32_t from = w->looked, block = from / IBA_LFT_BLOCK, lid0 = block * IBA_LFT_BLOCK;
	uint32_t to = MIN(last, lid0 + IBA_LFT_BLOCK - 1);

	for (uint32_t i = from; i <= to; i++)
		w->differ[i - lid0].n = 0;
	for (uint32_t s = 0; s < sm->topo.fab->nswitches; s++) {
		uint32_t row = sm->topo.nodes.at[node_at(sm, s)].row;
		const uint8_t *has = sm_row_block(sm, row, block),
			      *new = rt_row(sm->routes.tables, s) + lid0;

		if (!has || sm->dev.rows.at[row].rft ||
		    !memcmp(has + from - lid0, new + from - lid0, to - from + 1))
			continue;
		for (uint32_t i = from - lid0; i <= to - lid0; i++)
			if (has[i] != new[i])
				vec_push(&w->differ[i], s);
	}
	w->looked = to + 1;
}

static void wave_fill(struct sm *sm, struct wave *v, uint16_t lid)
{
	struct sm_waves *w = sm->dev.waves;
	const uint32_t *differ = w->differ[lid % IBA_LFT_BLOCK].at;
	size_t n = w->differ[lid % IBA_LFT_BLOCK].n;

	v->order.n = 0;
	v->at = 0;
	v->left = 0;
	v->lid = lid;
	if (!n && !w->random.n)
		return;
	memset(w->level, 0xff, sm->topo.fab->nswitches * sizeof(*w->level));
	for (size_t i = 0; i < n; i++)
		vec_push(&v->order, (struct entry){differ[i], level_of(sm, differ[i], lid)});
	for (size_t i = 0; i < w->random.n; i++)
		if (sm_rft_differs(sm, w->random.at[i], lid))
			vec_push(&v->order, (struct entry){w->random.at[i],
							   level_of(sm, w->random.at[i], lid)});
	if (v->order.n)
		qsort(v->order.at, v->order.n, sizeof(*v->order.at), entry_cmp);
}

/* ---- blocks ---- */

static void pend(struct sm_waves *w, uint32_t block, uint16_t lid, uint8_t wave)
{
	uint32_t i = w->pool_free;

	if (i == NONE) {
		i = (uint32_t)w->pool.n;
		vec_push(&w->pool, (struct pending){0});
	} else {
		w->pool_free = w->pool.at[i].next;
	}
	w->pool.at[i] = (struct pending){lid, wave, w->waiting[block]};
	w->waiting[block] = i;
	if (w->state[block] == IDLE) {
		w->state[block] = QUEUED;
		vec_push(&w->queue, block);
	}
}

static uint32_t block_for(struct sm *sm, uint32_t sw, uint16_t lid)
{
	return sm->dev.waves->first[sw] +
	       (sm_rft_of(sm, sw) ? sm_rft_place(sm, sw, lid) : lid / IBA_LFT_BLOCK);
}

/* The next level of a destination is due; or it is done. */
static void wave_on(struct sm *sm, uint8_t wave)
{
	struct sm_waves *w = sm->dev.waves;
	struct wave *v = &w->wave[wave];
	uint32_t level;

	if (v->at == v->order.n) {
		v->open = false;
		w->nopen--;
		return;
	}
	level = v->order.at[v->at].level;
	for (; v->at < v->order.n && v->order.at[v->at].level == level; v->at++) {
		v->left++;
		pend(w, block_for(sm, v->order.at[v->at].sw, v->lid), v->lid, wave);
	}
}

static void waves_open(struct sm *sm)
{
	struct sm_waves *w = sm->dev.waves;
	/*
	 * To the end of the last block: LIDs that are no longer assigned may still have entries.
	 */
	uint32_t last = MIN(sm->routes.tables->stride - 1, (uint32_t)sm->routes.ready);

	for (unsigned i = 0; i < OPEN && w->next_lid <= last; i++)
		while (!w->wave[i].open && w->next_lid <= last) {
			if (w->next_lid == w->looked)
				block_look(sm, last);
			wave_fill(sm, &w->wave[i], (uint16_t)w->next_lid++);
			if (!w->wave[i].order.n)
				continue;
			w->wave[i].open = true;
			w->nopen++;
			wave_on(sm, (uint8_t)i);
		}
}

static void block_make(struct sm *sm, uint32_t block, struct sm_req *r)
{
	struct sm_waves *w = sm->dev.waves;
	uint32_t sw = w->owner[block], b = block - w->first[sw], node = node_at(sm, sw);

	if (sm_rft_of(sm, sw)) {
		sm_rft_make(sm, sw, b, r);
	} else {
		sm_req_node(sm, r, IBA_SET, SM_FOR_DISTRIBUTION, node, IBA_ATTR_LFT, b);
		memcpy(r->data, sm_row_block(sm, sm->topo.nodes.at[node].row, b), IBA_LFT_BLOCK);
		for (uint32_t i = w->waiting[block]; i != NONE; i = w->pool.at[i].next)
			r->data[w->pool.at[i].lid % IBA_LFT_BLOCK] =
				rt_row(sm->routes.tables, sw)[w->pool.at[i].lid];
	}
	w->flying[block] = w->waiting[block];
	w->waiting[block] = NONE;
	w->state[block] = BUSY;
	r->question = Q_WAVE;
	r->target = sm_target_block(node, block);
}

/* Default ports are changed last: their entries cannot change one by one. */
static bool tidy_next(struct sm *sm, struct sm_req *r)
{
	struct sm_waves *w = sm->dev.waves;

	if (w->nopen || w->next_lid < sm->routes.tables->stride)
		return false;
	if (!w->tidying)
		sm_rft_begin(sm, RFT_TIDY);
	w->tidying = true;
	return sm_rft_next(sm, r);
}

static bool waves_next(struct sm *sm, struct sm_req *r)
{
	struct sm_waves *w = sm->dev.waves;

	if (!w->whole_done) {
		if (whole_next(sm, r))
			return true;
		if (sm->txn.outstanding)
			return false;
		w->whole_done = true;
	}
	if (w->nopen < OPEN)
		waves_open(sm);
	if (w->queue_head == w->queue.n)
		return tidy_next(sm, r);
	block_make(sm, w->queue.at[w->queue_head++], r);
	if (w->queue_head == w->queue.n)
		w->queue.n = w->queue_head = 0;
	return true;
}

static enum sm_outcome waves_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	struct sm_waves *w = sm->dev.waves;
	uint32_t block = t->target.item, next;

	sm_blocks_recv(sm, t, data);
	if (t->question != Q_WAVE)
		return SM_GOING_ON;
	w->state[block] = IDLE;
	if (w->waiting[block] != NONE) {
		w->state[block] = QUEUED;
		vec_push(&w->queue, block);
	}
	for (uint32_t i = w->flying[block]; i != NONE; i = next) {
		uint8_t wave = w->pool.at[i].wave;

		next = w->pool.at[i].next;
		w->pool.at[i].next = w->pool_free;
		w->pool_free = i;
		if (--w->wave[wave].left == 0)
			wave_on(sm, wave);
	}
	w->flying[block] = NONE;
	return SM_GOING_ON;
}

static enum sm_outcome waves_done(struct sm *sm)
{
	if (sm->dev.waves->next_lid < sm->routes.tables->stride)
		return SM_GOING_ON; /* more is being computed */
	sm_waves_free(sm);
	return sm_tables_done(sm);
}

const struct sm_part sm_part_waves = {
	.begin = waves_begin,
	.next = waves_next,
	.recv = waves_recv,
	.fail = sm_failed,
	.done = waves_done,
};

/* ---- as planned: any order, or outwards ---- */

bool sm_any_order(const struct sm *sm)
{
	return sm->routes.plan.kind == RT_PLAN_NOTHING || sm->routes.plan.kind == RT_PLAN_ANY_ORDER;
}

static const struct sm_part *part_for(const struct sm *sm)
{
	return sm_any_order(sm) ? &sm_part_blocks : &sm_part_waves;
}

static enum sm_outcome planned_begin(struct sm *sm)
{
	return part_for(sm)->begin(sm);
}

static bool planned_next(struct sm *sm, struct sm_req *r)
{
	return part_for(sm)->next(sm, r);
}

static enum sm_outcome planned_recv(struct sm *sm, const struct sm_txn *t, const uint8_t *data)
{
	return part_for(sm)->recv(sm, t, data);
}

static enum sm_outcome planned_done(struct sm *sm)
{
	return part_for(sm)->done(sm);
}

const struct sm_part sm_part_planned = {
	.begin = planned_begin,
	.next = planned_next,
	.recv = planned_recv,
	.fail = sm_failed,
	.done = planned_done,
};
