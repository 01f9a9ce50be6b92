/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes after a change (rt_update()). State: struct update, for one call; fera.c searches,
 * update_delta.c compares the snapshots. Chooses no ranks and does not say how to program the tables:
 * plan.c does.
 *
 * Within a row, entries are decided by destination switch from the first to the last, either by a
 * search for all switches or, where the distances did not change, at the few switches that lost the
 * port they used. So neither threads nor hints change the result.
 */
#include "route/update.h"

enum {
	WAVE = 64 /* blocks searched side by side at most, for any number of threads */
};

struct update {
	struct fera g;
	const struct rt_tables *old;
	struct delta *delta; /* NULL: search everything */
	uint32_t **use;	     /* by switch: entries by port, NULL until a choice needs them */
	bool *special;	     /* by switch: its links changed, so mend() decides its entries */
	bool *search;	     /* by destination switch */
	uint64_t *changed, *computed; /* by switch */
	VEC(uint16_t) gone;
	int threads;
	bool even;
};

/* One decision: switch s, destination switch d, its c equal ports. */
struct choice {
	uint32_t s, d, start; /* start: where FERa begins to deal */
	unsigned c;
	uint64_t good[4];	/* the equal ports as bits */
	const uint64_t *gained; /* ports of s whose link changed, NULL: not known */
	uint8_t port[256];
	uint16_t group[256]; /* entries for d by port; counted only for `even` */
};

/* ---- one entry ---- */

static void put(struct update *u, uint32_t s, uint32_t lid, uint8_t port)
{
	uint8_t *at = rt_row(u->g.t, s) + lid;

	u->changed[s] += *at != port;
	*at = port;
}

/* Count the entries of a row by port, up to its end: no port has number 255. Four counters side
 * by side, because equal ports often follow one another. */
static uint32_t *row_use(struct update *u, uint32_t s)
{
	const uint8_t *row = rt_row(u->g.t, s);
	uint32_t n[4][256] = {0};

	if (u->use[s])
		return u->use[s];
	for (uint32_t lid = 0; lid < u->g.t->stride; lid += 4)
		for (unsigned k = 0; k < 4; k++)
			n[k][row[lid + k]]++;
	u->use[s] = mem_array(256, sizeof(*u->use[s]));
	for (unsigned p = 0; p < 256; p++)
		u->use[s][p] = n[0][p] + n[1][p] + n[2][p] + n[3][p];
	return u->use[s];
}

/* The least used of the equal ports, counted from where FERa would start. */
static uint8_t least_used(struct update *u, const struct choice *x, uint32_t start)
{
	uint8_t best = x->port[start % x->c];
	uint32_t *use;

	if (x->c == 1) /* no choice: no need to count the row */
		return best;
	use = row_use(u, x->s);
	for (unsigned i = 1; i < x->c; i++) {
		uint8_t p = x->port[(start + i) % x->c];

		if (use[p] < use[best])
			best = p;
	}
	return best;
}

static void move(struct update *u, struct choice *x, uint32_t lid, uint8_t had, uint8_t port)
{
	put(u, x->s, lid, port);
	if (u->use[x->s]) {
		u->use[x->s][had]--;
		u->use[x->s][port]++;
	}
	x->group[had]--;
	x->group[port]++;
}

/* Whether an entry that could stay moves to where FERa would put it: to a new port, or to a port
 * that other entries for the same destination switch have left. So a link that returns gets its
 * share again. */
static bool goes_back(const struct choice *x, uint8_t had, uint8_t own)
{
	if (had == own)
		return false;
	if (x->gained && (x->gained[own / 64] >> own % 64 & 1))
		return true;
	return x->group[had] >= x->group[own] + 2;
}

/* ---- one switch and one destination switch ---- */

static void decide_entry(struct update *u, struct choice *x, const struct dest *at)
{
	uint8_t had = rt_row(u->g.t, x->s)[at->lid];
	uint8_t own = x->port[(x->start + at->spread) % x->c];

	if (had == IBA_PORT_NONE)
		move(u, x, at->lid, had, own);
	else if (!(x->good[had / 64] >> had % 64 & 1))
		move(u, x, at->lid, had, least_used(u, x, x->start + at->spread));
	else if (u->even && goes_back(x, had, own))
		move(u, x, at->lid, had, own);
}

/* x has s, d, the ports and those gained; this function decides the entries. */
static void decide(struct update *u, struct choice *x)
{
	const struct fera *g = &u->g;
	const struct dest *first = g->dest + g->dest_first[x->d];
	const struct dest *end = g->dest + g->dest_first[x->d + 1];

	if (x->s == x->d || !x->c) {
		for (const struct dest *at = first; at < end; at++)
			put(u, x->s, at->lid, x->s == x->d ? at->port : IBA_PORT_NONE);
		u->computed[x->s] += x->s == x->d ? (uint64_t)(end - first) : 0;
		return;
	}
	u->computed[x->s] += (uint64_t)(end - first);
	x->start = x->c > 1 ? fera_tie_start(g, x->s, x->d, x->c) : 0;
	memset(x->good, 0, sizeof(x->good));
	for (unsigned i = 0; i < x->c; i++)
		x->good[x->port[i] / 64] |= 1ull << x->port[i] % 64;
	if (u->even) {
		memset(x->group, 0, sizeof(x->group));
		for (const struct dest *at = first; at < end; at++)
			x->group[rt_row(g->t, x->s)[at->lid]]++;
	}
	for (const struct dest *at = first; at < end; at++)
		decide_entry(u, x, at);
}

static void decide_searched(struct update *u, const struct work *w, uint32_t s, uint32_t d,
			    uint32_t i, const uint64_t *gained)
{
	struct choice x; /* not initialised as a whole: this runs for every row */

	x.gained = gained;
	x.s = s;
	x.d = d;
	x.c = w->count[i];
	for (unsigned k = 0; k < x.c; k++)
		x.port[k] = w->port[k][i];
	decide(u, &x);
}

/* Whether an entry for d uses a port whose link changed. */
static bool bad_entries(const struct update *u, const struct delta_switch *q, uint32_t d)
{
	const struct fera *g = &u->g;
	const uint8_t *row = rt_row(g->t, q->sw);
	bool bad = false;

	for (uint32_t i = g->dest_first[d]; q->sw != d && i < g->dest_first[d + 1]; i++) {
		uint8_t port = row[g->dest[i].lid];

		bad |= q->ports[port / 64] >> port % 64 & 1;
	}
	return bad;
}

/* Distances to d did not change: replace entries that use lost ports, and with `even` give new
 * ports a share. */
static void mend(struct update *u, const struct delta_switch *q, uint32_t nq, uint32_t d)
{
	struct choice x;
	bool looked = false;

	for (uint32_t k = 0; k < nq; k++) {
		uint32_t s = q[k].sw;
		uint64_t computed = u->computed[s], changed = u->changed[s];

		if (!bad_entries(u, &q[k], d) && (!u->even || !q[k].gained || s == d))
			continue;
		if (!looked && u->g.dest_first[d] < u->g.dest_first[d + 1])
			delta_dest(u->delta, d);
		looked = true;
		x.s = s;
		x.d = d;
		x.gained = q[k].ports;
		x.c = delta_offers(u->delta, s, x.port);
		decide(u, &x);
		u->computed[s] = computed + u->changed[s] - changed;
	}
}

/* ---- all of them ---- */

struct wave {
	struct work *block[WAVE];
	uint32_t dest[WAVE * BLOCK], ndest, nblocks;
};

static uint32_t block_size(const struct wave *v, uint32_t b)
{
	return MIN((uint32_t)BLOCK, v->ndest - b * BLOCK);
}

/* The next destinations that need a search, from *d on; false: there are none. */
static bool wave_fill(struct update *u, struct wave *v, uint32_t *d, uint32_t room)
{
	v->ndest = 0;
	for (; *d < u->g.f->nswitches && v->ndest < room; ++*d)
		if (u->search[*d])
			v->dest[v->ndest++] = *d;
	v->nblocks = (v->ndest + BLOCK - 1) / BLOCK;
	return v->ndest;
}

static void wave_search(struct update *u, struct wave *v)
{
	RT_OMP(omp parallel for num_threads(u->threads) schedule(dynamic))
	for (uint32_t b = 0; b < v->nblocks; b++) {
		if (!v->block[b])
			v->block[b] = fera_work_new(u->g.f->nswitches);
		fera_search(&u->g, v->block[b], v->dest + b * BLOCK, block_size(v, b));
	}
}

/* Rows of switches whose own links did not change. w is scratch space; distances are those of
 * the block. */
static void wave_row(struct update *u, const struct wave *v, struct work *w, uint32_t s)
{
	for (uint32_t b = 0; b < v->nblocks; b++) {
		w->down = v->block[b]->down;
		w->dist = v->block[b]->dist;
		fera_offers(&u->g, w, s);
		for (uint32_t i = 0; i < block_size(v, b); i++)
			decide_searched(u, w, s, v->dest[b * BLOCK + i], i, NULL);
	}
}

static void wave_rows(struct update *u, const struct wave *v)
{
	RT_OMP(omp parallel num_threads(u->threads))
	{
		struct work *w = mem_alloc(sizeof(*w));

		RT_OMP(omp for schedule(dynamic, 16))
		for (uint32_t s = 0; s < u->g.f->nswitches; s++)
			if (!u->special[s])
				wave_row(u, v, w, s);
		free(w);
	}
}

/* The rows of delta's switches for destinations [from, to): those searched are block b's, in order;
 * without a block none of them is. */
static void special_rows(struct update *u, const struct wave *v, uint32_t b, uint32_t from,
			 uint32_t to)
{
	const struct delta_switch *q;
	uint32_t nq, i = 0;
	struct work *w;

	q = delta_switches(u->delta, &nq);
	w = mem_array(nq, sizeof(*w));
	for (uint32_t k = 0; b < v->nblocks && k < nq; k++) {
		w[k].down = v->block[b]->down;
		w[k].dist = v->block[b]->dist;
		fera_offers(&u->g, &w[k], q[k].sw);
	}
	for (uint32_t d = from; d < to; d++) {
		if (u->search[d]) {
			for (uint32_t k = 0; k < nq; k++)
				decide_searched(u, &w[k], q[k].sw, d, i, q[k].ports);
			i++;
		} else {
			mend(u, q, nq, d);
		}
	}
	free(w);
}

static uint32_t wave_special(struct update *u, const struct wave *v, uint32_t from)
{
	for (uint32_t b = 0; b < v->nblocks; b++) {
		uint32_t to = v->dest[b * BLOCK + block_size(v, b) - 1] + 1;

		special_rows(u, v, b, from, to);
		from = to;
	}
	return from;
}

static void rows_decide(struct update *u)
{
	struct wave *v = mem_zalloc(sizeof(*v));
	uint32_t next = 0, done = 0, room = MIN((uint32_t)u->threads, (uint32_t)WAVE) * BLOCK;

	while (wave_fill(u, v, &next, room)) {
		wave_search(u, v);
		wave_rows(u, v);
		if (u->delta)
			done = wave_special(u, v, done);
	}
	if (u->delta)
		special_rows(u, v, 0, done, u->g.f->nswitches);
	for (size_t b = 0; b < ARRAY_LEN(v->block); b++)
		if (v->block[b])
			fera_work_free(v->block[b]);
	free(v);
}

/* ---- before and after ---- */

/* LIDs that no port has any more. */
static void gone_find(struct update *u)
{
	const struct fera *g = &u->g;
	uint32_t top = u->old->top_lid;
	bool *now = mem_zarray(MAX(top, g->t->top_lid) + 1, sizeof(*now));

	for (uint32_t i = 0; i < g->dest_first[g->f->nswitches]; i++)
		now[g->dest[i].lid] = true;
	for (uint32_t lid = 0; lid <= top; lid++)
		if (!now[lid] && (!u->delta || delta_had_lid(u->delta, lid)))
			vec_push(&u->gone, (uint16_t)lid);
	free(now);
}

/* Start from the old row; entries for LIDs that are gone are the first that differ. */
static void row_copy(struct update *u, uint32_t s)
{
	struct rt_tables *t = u->g.t;
	const uint8_t *old = rt_row(u->old, s);
	uint8_t *row = rt_row(t, s);
	uint32_t n = MIN(t->top_lid, u->old->top_lid) + 1;

	memcpy(row, old, n);
	memset(row + n, IBA_PORT_NONE, t->stride - n);
	for (size_t i = 0; i < u->gone.n; i++) {
		u->changed[s] += old[u->gone.at[i]] != IBA_PORT_NONE;
		if (u->gone.at[i] < n)
			row[u->gone.at[i]] = IBA_PORT_NONE;
	}
}

static void update_prepare(struct update *u)
{
	uint32_t n = u->g.f->nswitches, nq = 0;
	const struct delta_switch *q = u->delta ? delta_switches(u->delta, &nq) : NULL;

	u->use = mem_zarray(n, sizeof(*u->use));
	u->special = mem_zarray(n, sizeof(*u->special));
	u->search = mem_zarray(n, sizeof(*u->search));
	u->changed = mem_zarray(n, sizeof(*u->changed));
	u->computed = mem_zarray(n, sizeof(*u->computed));
	for (uint32_t i = 0; i < nq; i++)
		u->special[q[i].sw] = true;
	for (uint32_t d = 0; d < n; d++)
		u->search[d] = !u->delta || delta_touches(u->delta, d);
	gone_find(u);
	RT_OMP(omp parallel for num_threads(u->threads))
	for (uint32_t s = 0; s < n; s++)
		row_copy(u, s);
}

static void update_end(struct update *u, struct rt_update_stats *st)
{
	struct rt_tables *t = u->g.t;

	*st = (struct rt_update_stats){0};
	t->entries = 0;
	for (uint32_t s = 0; s < u->g.f->nswitches; s++) {
		st->searched += u->search[s];
		st->changed += u->changed[s];
		t->entries += u->computed[s];
		free(u->use[s]);
	}
	free(u->use);
	free(u->special);
	free(u->search);
	free(u->changed);
	free(u->computed);
	vec_free(&u->gone);
	delta_free(u->delta);
	fera_free(&u->g);
}

/* As much of a FERa as destinations are searched, and a look through all rows; the thesis has none. */
const struct rt_cost rt_update_cost = {.search_ps = 300,
				       .cell_ps = 100,
				       .entry_ps = 2000,
				       .thesis_s = 2.33e-5,
				       .thesis_exponent = 2.684};

int rt_update(const struct fab *f, const struct rt_opts *o, const struct rt_tables *old,
	      struct rt_tables *t, struct rt_update_stats *st, struct err *e)
{
	struct update u = {.g = {.f = f, .t = t}, .old = old, .even = o->even};
	int rc = fera_check(f, t, e);

	if (rc)
		return rc;
	if (!o->rank)
		return err_set(e, -EINVAL, "update: no ranks given");
	if (old->nswitches != f->nswitches || t->nswitches != f->nswitches)
		return err_set(e, -EINVAL, "update: tables of %u switches for a fabric with %u",
			       old->nswitches != f->nswitches ? old->nswitches : t->nswitches,
			       f->nswitches);
	fera_init(&u.g, o);
	if (o->before)
		u.delta = delta_new(&u.g, o, &rc, e);
	if (rc) {
		fera_free(&u.g);
		return rc;
	}
	u.threads = rt_threads(o->threads, f->nswitches, (uint64_t)f->nswitches * t->top_lid);
	update_prepare(&u);
	rows_decide(&u);
	update_end(&u, st);
	return 0;
}
