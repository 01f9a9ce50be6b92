/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dependencies between old and new tables with several lanes. State: struct crossing, of one
 * thread; the way in is plan_lanes_collect(). Judges nothing: plan.c does.
 *
 * Packets to one LID are followed from every ingress through every mixture: at each switch by the old
 * or the new entry, with the old or the new SL, by the old or the new map. What can happen next
 * depends on where a packet came in, on its SL and on whether a new entry brought it there.
 */
#include "route/plan_priv.h"
#include "route/route_priv.h"

enum which { OLD, NEW };

/* How tables may mix. */
enum mixture {
	ONLY_NEW,
	OUTWARD, /* a packet that a new entry brought to a switch meets the new entry there */
	ANY_ORDER,
	NMIXTURES
};

struct place {
	uint32_t sw;
	uint8_t in, sl;
	bool by_new; /* an entry that changed, in its new form, brought it here */
};

struct crossing {
	const struct fab *f;
	const struct rt_tables *t[2];
	struct cdg *graph;
	enum mixture mixture;
	uint32_t lid;
	uint16_t *seen[2]; /* by place.by_new, then by port id: SLs met there */
	VEC(struct place) todo;
};

static unsigned entry(const struct crossing *x, enum which w, uint32_t sw)
{
	const struct rt_tables *t = x->t[w];

	return x->lid <= t->top_lid ? rt_row(t, sw)[x->lid] : IBA_PORT_NONE;
}

/* The port of the switch behind port `out`, FAB_NONE when there is none. */
static port_id arrives_at(const struct fab *f, uint32_t sw, unsigned out)
{
	node_id n = f->switches[sw];
	port_id peer =
		out && out <= f->nodes[n].nports ? f->ports[fab_port_id(f, n, out)].peer : FAB_NONE;

	return peer != FAB_NONE && fab_is_switch(f, f->ports[peer].node) ? peer : FAB_NONE;
}

static bool may_use(const struct crossing *x, const struct place *p, enum which w)
{
	if (w == NEW)
		return true;
	return x->mixture == ANY_ORDER || (x->mixture == OUTWARD && !p->by_new);
}

/* All packets have SL 0 until new maps are in place. */
static bool is_unknown(const struct rt_tables *t, unsigned vl, unsigned sl)
{
	return t->lanes && t->lanes->any_vl && vl == RT_VL_NONE && !sl;
}

/* VLs, as a mask, by which a packet at p may leave by `out`. */
static uint16_t vls_out(const struct crossing *x, const struct place *p, unsigned out)
{
	uint16_t mask = 0;

	for (enum which w = x->mixture == ONLY_NEW ? NEW : OLD; w <= NEW; w++) {
		unsigned vl = rt_vl(x->t[w], p->sw, p->in, out, p->sl);

		if (vl < rt_nvls(x->t[w]))
			mask |= (uint16_t)(1u << vl);
		else if (w == OLD && is_unknown(x->t[w], vl, p->sl))
			mask |= (uint16_t)((1u << x->graph->nvls) - 1);
	}
	return mask;
}

static void depend(struct crossing *x, port_id from, uint16_t vls, unsigned out, uint16_t next_vls)
{
	for (uint16_t a = vls; a; a &= (uint16_t)(a - 1))
		for (uint16_t b = next_vls; b; b &= (uint16_t)(b - 1))
			cdg_add(x->graph, from, (unsigned)__builtin_ctz(a), out,
				(unsigned)__builtin_ctz(b));
}

static void meet(struct crossing *x, struct place p)
{
	port_id at = fab_port_id(x->f, x->f->switches[p.sw], p.in);

	if (x->seen[p.by_new][at] >> p.sl & 1)
		return;
	x->seen[p.by_new][at] |= (uint16_t)(1u << p.sl);
	vec_push(&x->todo, p);
}

/* One step of a packet at p by the entry w, and what it may wait for behind it. */
static void step(struct crossing *x, const struct place *p, enum which w)
{
	const struct fab *f = x->f;
	unsigned out = entry(x, w, p->sw);
	port_id there = arrives_at(f, p->sw, out);
	uint16_t vls;
	struct place q;

	if (there == FAB_NONE)
		return;
	vls = vls_out(x, p, out);
	if (!vls)
		return;
	q = (struct place){.sw = f->switch_index[f->ports[there].node],
			   .in = f->ports[there].num,
			   .sl = p->sl,
			   .by_new = w == NEW && entry(x, OLD, p->sw) != out};
	for (enum which next = OLD; next <= NEW; next++) {
		unsigned next_out = entry(x, next, q.sw);

		if (may_use(x, &q, next) && arrives_at(f, q.sw, next_out) != FAB_NONE)
			depend(x, f->ports[there].peer, vls, next_out, vls_out(x, &q, next_out));
	}
	meet(x, q);
}

static bool is_ingress(const struct fab *f, uint32_t sw, unsigned in)
{
	port_id peer = f->ports[fab_port_id(f, f->switches[sw], in)].peer;

	return !in || (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node));
}

static void lid_cross(struct crossing *x, uint32_t lid)
{
	const struct fab *f = x->f;

	x->lid = lid;
	memset(x->seen[0], 0, f->nports * sizeof(*x->seen[0]));
	memset(x->seen[1], 0, f->nports * sizeof(*x->seen[1]));
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= f->nodes[f->switches[s]].nports; in++)
			for (enum which w = x->mixture == ONLY_NEW ? NEW : OLD;
			     is_ingress(f, s, in) && w <= NEW; w++)
				meet(x, (struct place){.sw = s,
						       .in = (uint8_t)in,
						       .sl = (uint8_t)rt_sl(x->t[w], s, in, lid)});
	while (x->todo.n) {
		struct place p = x->todo.at[--x->todo.n];

		for (enum which w = OLD; w <= NEW; w++)
			if (may_use(x, &p, w))
				step(x, &p, w);
	}
}

/* The dependencies of mixtures, from new tables alone to the last asked for. */
static void mixtures_cross(const struct fab *f, const struct rt_tables *old,
			   const struct rt_tables *new, enum mixture last, struct cdg **graphs,
			   int threads UNUSED)
{
	uint32_t top = MAX(old->top_lid, new->top_lid);

	RT_OMP(omp parallel num_threads(threads))
	{
		struct crossing x = {.f = f, .t = {old, new}};

		x.seen[0] = mem_array(f->nports, sizeof(*x.seen[0]));
		x.seen[1] = mem_array(f->nports, sizeof(*x.seen[1]));
		RT_OMP(omp for schedule(dynamic, 16))
		for (uint32_t lid = 1; lid <= top; lid++)
			for (enum mixture m = ONLY_NEW; m <= last; m++) {
				x.mixture = m;
				x.graph = graphs[m];
				lid_cross(&x, lid);
			}
		free(x.seen[0]);
		free(x.seen[1]);
		vec_free(&x.todo);
	}
}

void plan_lanes_old(const struct fab *f, const struct rt_tables *old, struct plan_graphs *g,
		    int threads)
{
	struct cdg *graphs[NMIXTURES] = {&g->old};

	mixtures_cross(f, old, old, ONLY_NEW, graphs, threads);
}

void plan_lanes_collect(const struct fab *f, const struct rt_tables *old,
			const struct rt_tables *new, struct plan_graphs *g, int threads)
{
	struct cdg *graphs[NMIXTURES] = {&g->now, &g->outward, &g->any};

	mixtures_cross(f, old, new, ANY_ORDER, graphs, threads);
}
