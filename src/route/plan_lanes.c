/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dependencies between old and new tables with several lanes. State: struct crossings, which all threads read, and struct
 * crossing, of one thread; the ways in are plan_lanes_collect() and plan_lanes_old(). Judges nothing: plan.c does.
 *
 * Packets to one LID are followed from every ingress through every mixture: at each switch by the old
 * or the new entry, with the old or the new SL, by the old or the new map. What can happen next
 * depends on where a packet came in, on its SL and on whether a new entry brought it there.
 *
 * Where maps are the same for two ports of a switch, packets that came in there go on alike, and are followed as one
 * (plan_lanes_ports.c). And where neither entries nor SLs of a LID change, nor maps on its routes, all mixtures are the
 * new tables: these routes are followed once.
 */
#include "route/plan_lanes.h"
#include "route/route_priv.h"

/* How tables may mix. */
enum mixture {
	ONLY_NEW,
	OUTWARD, /* a packet that a new entry brought to a switch meets the new entry there */
	ANY_ORDER,
	NMIXTURES
};

struct place {
	uint32_t sw;
	port_id at;  /* the port by which it came in, or port 0 where that is the same */
	bool by_new; /* an entry that changed, in its new form, brought it here */
};

struct crossing {
	const struct crossings *c;
	struct cdg *graph;
	enum mixture mixture;
	uint32_t lid;
	bool mixes; /* old maps differ from new ones where packets were followed */
	/* by place.by_new, then by port id: SLs met there, and those of them that are not followed yet */
	uint16_t *seen[2], *ahead[2];
	VEC(struct place) todo, met;
};

/* From port `in` to port `out` of a switch. */
struct way {
	const struct rt_sl2vl *map[2];
	port_id from;  /* port `out` */
	port_id there; /* the port of the switch behind it */
};

static unsigned entry(const struct crossing *x, enum which w, uint32_t sw)
{
	const struct rt_tables *t = x->c->t[w];

	return x->lid <= t->top_lid ? rt_row(t, sw)[x->lid] : IBA_PORT_NONE;
}

static bool may_use(const struct crossing *x, bool by_new, enum which w)
{
	if (w == NEW)
		return true;
	return x->mixture == ANY_ORDER || (x->mixture == OUTWARD && !by_new);
}

/* Whether w is the first of the entries in use by which packets leave this way. */
static bool is_first(const struct crossing *x, uint32_t sw, bool by_new, enum which w)
{
	return may_use(x, by_new, w) &&
	       (w == OLD || !may_use(x, by_new, OLD) || entry(x, OLD, sw) != entry(x, NEW, sw));
}

/* False: no switch is there. */
static bool way_find(const struct crossing *x, uint32_t sw, port_id at, unsigned out, struct way *y)
{
	const struct crossings *c = x->c;
	unsigned in = c->f->ports[at].num;

	if (!out || out > c->f->nodes[c->f->switches[sw]].nports)
		return false;
	y->from = c->first[sw] + out;
	y->there = c->there[y->from];
	if (y->there == FAB_NONE)
		return false;
	y->map[OLD] = rt_sl2vl_at(c->t[OLD], sw, in, out);
	y->map[NEW] = rt_sl2vl_at(c->t[NEW], sw, in, out);
	return true;
}

/* VLs, as a mask, by which packets of an SL may leave. */
static uint16_t vls_out(const struct crossing *x, const struct way *y, unsigned sl)
{
	uint16_t mask = crossings_vls(x->c, NEW, y->map[NEW], sl);

	if (x->mixture != ONLY_NEW)
		mask |= crossings_vls(x->c, OLD, y->map[OLD], sl);
	return mask;
}

static void depend(struct crossing *x, port_id from, uint16_t vls, unsigned out, uint16_t next_vls)
{
	for (uint16_t a = vls; a; a &= (uint16_t)(a - 1))
		for (uint16_t b = next_vls; b; b &= (uint16_t)(b - 1))
			cdg_add(x->graph, from, (unsigned)__builtin_ctz(a), out,
				(unsigned)__builtin_ctz(b));
}

/* A packet that goes back by the port where it came in is followed by itself. */
static port_id place_of(struct crossing *x, uint32_t sw, port_id in)
{
	unsigned num = x->c->f->ports[in].num;
	bool back = num && (entry(x, OLD, sw) == num || entry(x, NEW, sw) == num);
	port_id at = back ? in : x->c->like[in];

	x->mixes |= back || x->c->mixed[at];
	return at;
}

static void meet(struct crossing *x, uint32_t sw, port_id in, bool by_new, uint16_t sls)
{
	struct place p = {.sw = sw, .at = place_of(x, sw, in), .by_new = by_new};
	uint16_t *seen = &x->seen[by_new][p.at], *ahead = &x->ahead[by_new][p.at];

	sls &= (uint16_t) ~*seen;
	if (!sls)
		return;
	if (!*seen)
		vec_push(&x->met, p);
	if (!*ahead)
		vec_push(&x->todo, p);
	*seen |= sls;
	*ahead |= sls;
}

/* What packets may wait for behind a way: the same for both entries there that they may meet. Returns SLs that are not
 * discarded. */
static uint16_t wait_behind(struct crossing *x, const struct way *y, uint32_t to, bool by_new,
			    uint16_t sls)
{
	uint16_t pass = 0;

	for (uint16_t rest = sls; rest; rest &= (uint16_t)(rest - 1))
		if (vls_out(x, y, (unsigned)__builtin_ctz(rest)))
			pass |= (uint16_t)(rest & -rest);
	for (enum which w = OLD; w <= NEW; w++) {
		unsigned out = entry(x, w, to);
		struct way next;

		if (!is_first(x, to, by_new, w) || !way_find(x, to, y->there, out, &next))
			continue;
		for (uint16_t rest = pass; rest; rest &= (uint16_t)(rest - 1)) {
			unsigned sl = (unsigned)__builtin_ctz(rest);

			depend(x, y->from, vls_out(x, y, sl), out, vls_out(x, &next, sl));
		}
	}
	return pass;
}

/* One step of packets at p by the entry w. */
static void step(struct crossing *x, const struct place *p, enum which w, uint16_t sls)
{
	const struct fab *f = x->c->f;
	unsigned out = entry(x, w, p->sw);
	bool by_new = w == NEW && entry(x, OLD, p->sw) != out;
	struct way y;
	uint32_t to;

	if (!way_find(x, p->sw, p->at, out, &y))
		return;
	to = f->switch_index[f->ports[y.there].node];
	meet(x, to, y.there, by_new, wait_behind(x, &y, to, by_new, sls));
}

static void lid_follow(struct crossing *x)
{
	while (x->todo.n) {
		struct place p = x->todo.at[--x->todo.n];
		uint16_t sls = x->ahead[p.by_new][p.at];

		x->ahead[p.by_new][p.at] = 0;
		for (enum which w = OLD; w <= NEW; w++)
			if (is_first(x, p.sw, p.by_new, w))
				step(x, &p, w, sls);
	}
}

static void lid_cross(struct crossing *x, uint32_t lid)
{
	const struct crossings *c = x->c;

	x->lid = lid;
	x->mixes = false;
	for (size_t i = 0; i < c->ingress.n; i++) {
		const struct ingress *g = &c->ingress.at[i];

		for (enum which w = x->mixture == ONLY_NEW ? NEW : OLD; w <= NEW; w++)
			meet(x, g->sw, g->at, false,
			     (uint16_t)(1u << rt_sl(c->t[w], g->sw, c->f->ports[g->at].num, lid)));
	}
	lid_follow(x);
	while (x->met.n) {
		struct place p = x->met.at[--x->met.n];

		x->seen[p.by_new][p.at] = 0;
	}
}

/* The dependencies of mixtures, from new tables alone to the last asked for. */
static void mixtures_cross(const struct crossings *c, enum mixture last, struct cdg **graphs,
			   int threads UNUSED)
{
	uint32_t top = MAX(c->t[OLD]->top_lid, c->t[NEW]->top_lid), n = c->f->nports;

	RT_OMP(omp parallel num_threads(threads))
	{
		struct crossing x = {.c = c};
		uint16_t *sls = mem_zarray((size_t)n * 4, sizeof(*sls));

		for (unsigned i = 0; i < 2; i++) {
			x.seen[i] = sls + (size_t)n * i;
			x.ahead[i] = sls + (size_t)n * (2 + i);
		}
		RT_OMP(omp for schedule(dynamic, 16))
		for (uint32_t lid = 1; lid <= top; lid++)
			for (enum mixture m = ONLY_NEW; m <= last; m++) {
				x.mixture = m;
				x.graph = graphs[m];
				lid_cross(&x, lid);
				if (!c->changes[lid] && !x.mixes)
					break;
			}
		free(sls);
		vec_free(&x.todo);
		vec_free(&x.met);
	}
	for (enum mixture m = OUTWARD; m <= last; m++)
		cdg_unite(graphs[m], graphs[m - 1]);
}

void plan_lanes_old(const struct fab *f, const struct rt_tables *old, struct plan_graphs *g,
		    int threads)
{
	struct cdg *graphs[NMIXTURES] = {&g->old};
	struct crossings c;

	crossings_init(&c, f, old, old);
	mixtures_cross(&c, ONLY_NEW, graphs, threads);
	crossings_free(&c);
}

void plan_lanes_collect(const struct fab *f, const struct rt_tables *old,
			const struct rt_tables *new, struct plan_graphs *g, int threads)
{
	struct cdg *graphs[NMIXTURES] = {&g->now, &g->outward, &g->any};
	struct crossings c;

	crossings_init(&c, f, old, new);
	mixtures_cross(&c, ANY_ORDER, graphs, threads);
	crossings_free(&c);
}
