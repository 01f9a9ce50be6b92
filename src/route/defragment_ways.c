/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways by which hosts reach switches with VMs: FERa deals the LIDs behind a switch out over equal ports in turn, and a
 * way is what a LID gets at one place of this turn. State: leaves of struct frag. Way in: frag_ways_make(). Chooses
 * nothing.
 */
#include "route/defragment_priv.h"
#include "route/fera.h"

struct search {
	struct frag *x;
	struct fera g;
	struct work *w;
	uint32_t first, n; /* leaves of this search */
	uint8_t *columns;  /* [leaf][way][switch] */
	uint32_t
		turn[BLOCK]; /* by leaf: after so many places all equal ports are dealt out alike */
};

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* VMs whose entry at this switch is not a shortest way keep their routes. */
static void check_vms(struct search *q, uint32_t s, uint32_t i)
{
	struct frag *x = q->x;
	const struct frag_leaf *l = &x->leaves.at[q->first + i];
	const uint8_t *row = rt_row(x->t, s);
	uint64_t offered[4] = {0};

	for (unsigned k = 0; k < q->w->count[i]; k++)
		offered[q->w->port[k][i] / 64] |= 1ull << q->w->port[k][i] % 64;
	for (uint32_t k = l->first; k < l->end && s != l->sw; k++) {
		struct frag_vm *v = &x->vms.at[x->by_leaf.at[k]];
		uint8_t port = row[v->lid];

		v->fixed |= q->w->count[i] && !(offered[port / 64] >> port % 64 & 1);
	}
}

static void turns_find(struct search *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		q->turn[i] = 1;
	for (uint32_t s = 0; s < q->x->f->nswitches; s++) {
		fera_offers(&q->g, q->w, s);
		for (uint32_t i = 0; i < q->n; i++) {
			uint32_t c = q->w->count[i], all;

			check_vms(q, s, i);
			if (!c)
				continue;
			all = q->turn[i] / gcd(q->turn[i], c) * c;
			q->turn[i] = all <= FRAG_WAYS
					     ? all
					     : MAX(q->turn[i], MIN(c, (uint32_t)FRAG_WAYS));
		}
	}
}

static void columns_fill(struct search *q)
{
	uint32_t n = q->x->f->nswitches;

	for (uint32_t s = 0; s < n; s++) {
		fera_offers(&q->g, q->w, s);
		for (uint32_t i = 0; i < q->n; i++) {
			unsigned c = q->w->count[i];
			uint32_t d = q->x->leaves.at[q->first + i].sw;
			uint32_t start = c > 1 ? fera_tie_start(&q->g, s, d, c) : 0;
			uint8_t *to = q->columns + (size_t)i * FRAG_WAYS * n + s;

			for (uint32_t k = 0; k < q->turn[i]; k++)
				to[(size_t)k * n] =
					c ? q->w->port[(start + k) % c][i] : IBA_PORT_NONE;
		}
	}
}

static void ways_take(struct search *q)
{
	uint32_t n = q->x->f->nswitches;

	for (uint32_t i = 0; i < q->n; i++) {
		struct frag_leaf *l = &q->x->leaves.at[q->first + i];

		l->room = q->turn[i];
		l->ways = mem_zarray(l->room, sizeof(*l->ways));
		for (uint32_t k = 0; k < q->turn[i]; k++) {
			const uint8_t *column = q->columns + ((size_t)i * FRAG_WAYS + k) * n;

			if (rt_flows_of(&q->x->loads, column, 1, NULL, l->sw, &l->ways[l->nways]))
				l->nways++;
		}
	}
}

int frag_ways_make(struct frag *x, const struct rt_defragment_opts *o, struct err *e)
{
	struct search q = {.x = x, .g = {.f = x->f}};
	struct rt_tables *t = rt_tables_new(x->f->nswitches, fab_top_lid(x->f));
	uint32_t dests[BLOCK];
	int rc = fera_check(x->f, t, e);

	q.g.t = t;
	if (!rc) {
		fera_init(&q.g, &(struct rt_opts){.root = FAB_NONE, .rank = o->rank});
		q.w = fera_work_new(x->f->nswitches);
		q.columns = mem_array((size_t)BLOCK * FRAG_WAYS, x->f->nswitches);
	}
	for (; !rc && q.first < x->leaves.n; q.first += q.n) {
		q.n = (uint32_t)MIN(x->leaves.n - q.first, (size_t)BLOCK);
		for (uint32_t i = 0; i < q.n; i++)
			dests[i] = x->leaves.at[q.first + i].sw;
		fera_search(&q.g, q.w, dests, q.n);
		turns_find(&q);
		columns_fill(&q);
		ways_take(&q);
		if (o->stop && o->stop(o->ctx))
			rc = err_set(e, -ECANCELED, "stopped");
	}
	if (q.w) {
		fera_free(&q.g);
		fera_work_free(q.w);
		free(q.columns);
	}
	rt_tables_free(t);
	return rc;
}

void frag_ways_free(struct frag *x)
{
	for (size_t i = 0; i < x->leaves.n; i++) {
		for (uint32_t k = 0; k < x->leaves.at[i].room; k++)
			vec_free(&x->leaves.at[i].ways[k]);
		free(x->leaves.at[i].ways);
	}
	vec_free(&x->leaves);
}
