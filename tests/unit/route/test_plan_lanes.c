/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans between tables with lanes, beside a model that follows each packet by itself through all mixtures: always the same
 * dependencies and the same verdict. Keeps no state; each test makes its own fabrics.
 * Covers: plan_lanes.c, plan_lanes_ports.c
 */
#include "route/plan_priv.h"
#include "route_fixture.h"

/* ---- the model: a packet, its SL, the port where it came in, and whether a new entry brought it there ---- */

enum mixture { ONLY_NEW, OUTWARD, ANY_ORDER };

struct model {
	const struct fab *f;
	const struct rt_tables *t[2]; /* old, new */
	enum mixture mixture;
	uint32_t n, lid; /* channels: VL times port id */
	bool *dep;	 /* [channel][channel] */
	uint8_t *mark;	 /* by channel */
	bool *seen;	 /* [port id][SL][by_new] */
};

static unsigned entry(const struct model *m, int w, uint32_t sw)
{
	return m->lid <= m->t[w]->top_lid ? rt_row(m->t[w], sw)[m->lid] : IBA_PORT_NONE;
}

/* Whether packets of this SL may leave on this VL. */
static bool may_have(const struct model *m, uint32_t sw, unsigned in, unsigned out, unsigned sl,
		     unsigned vl)
{
	const struct rt_lanes *old = m->t[0]->lanes;
	unsigned was = rt_vl(m->t[0], sw, in, out, sl);

	if (rt_vl(m->t[1], sw, in, out, sl) == vl && vl < rt_nvls(m->t[1]))
		return true;
	if (m->mixture == ONLY_NEW)
		return false;
	return (was == vl && vl < rt_nvls(m->t[0])) ||
	       (was == RT_VL_NONE && !sl && old && old->any_vl);
}

static bool may_use(const struct model *m, int w, bool by_new)
{
	return w || m->mixture == ANY_ORDER || (m->mixture == OUTWARD && !by_new);
}

static unsigned vls(const struct model *m)
{
	return MAX(rt_nvls(m->t[0]), rt_nvls(m->t[1]));
}

static void follow(struct model *m, uint32_t sw, unsigned in, unsigned sl, bool by_new);

/* A packet that left by `out` on some VL is at the next switch. */
static void arrive(struct model *m, uint32_t sw, unsigned out, unsigned vl, unsigned sl,
		   bool by_new)
{
	const struct fab *f = m->f;
	port_id from = fab_port_id(f, f->switches[sw], out);
	uint32_t to = world_peer(f, sw, out), held = vl * f->nports + from;
	unsigned in = f->ports[f->ports[from].peer].num;

	for (int w = 0; w < 2; w++) {
		unsigned next = entry(m, w, to);

		if (!may_use(m, w, by_new) || !next || world_peer(f, to, next) == FAB_NONE)
			continue;
		for (unsigned k = 0; k < vls(m); k++)
			if (may_have(m, to, in, next, sl, k))
				m->dep[(size_t)held * m->n + k * f->nports +
				       fab_port_id(f, f->switches[to], next)] = true;
	}
	follow(m, to, in, sl, by_new);
}

static void follow(struct model *m, uint32_t sw, unsigned in, unsigned sl, bool by_new)
{
	port_id at = fab_port_id(m->f, m->f->switches[sw], in);
	bool *seen = &m->seen[((size_t)at * RT_SLS + sl) * 2 + by_new];

	if (*seen)
		return;
	*seen = true;
	for (int w = 0; w < 2; w++) {
		unsigned out = entry(m, w, sw);

		if (!may_use(m, w, by_new) || !out || world_peer(m->f, sw, out) == FAB_NONE)
			continue;
		for (unsigned vl = 0; vl < vls(m); vl++)
			if (may_have(m, sw, in, out, sl, vl))
				arrive(m, sw, out, vl, sl, w && entry(m, 0, sw) != out);
	}
}

static bool closes(struct model *m, uint32_t v)
{
	m->mark[v] = 1;
	for (uint32_t w = 0; w < m->n; w++)
		if (m->dep[(size_t)v * m->n + w] &&
		    (m->mark[w] == 1 || (!m->mark[w] && closes(m, w))))
			return true;
	m->mark[v] = 2;
	return false;
}

static void enter(struct model *m, uint32_t sw)
{
	const struct fab *f = m->f;

	for (unsigned in = 0; in <= world_ports(f, sw); in++) {
		port_id peer = f->ports[fab_port_id(f, f->switches[sw], in)].peer;

		if (in && (peer == FAB_NONE || fab_is_switch(f, f->ports[peer].node)))
			continue;
		for (int w = m->mixture == ONLY_NEW; w < 2; w++)
			follow(m, sw, in, rt_sl(m->t[w], sw, in, m->lid), false);
	}
}

/* Every dependency of the model, and no other, is in the graph. */
static void expect_graph(const struct model *m, const struct cdg *c)
{
	const struct fab *f = m->f;
	unsigned wrong = 0;

	for (uint32_t v = 0; v < m->n; v++) {
		port_id from = v % f->nports, peer = f->ports[from].peer;
		port_id base = peer == FAB_NONE ? 0 : f->nodes[f->ports[peer].node].first_port;

		for (uint32_t next = 0; next < vls(m); next++)
			for (unsigned out = 0; peer != FAB_NONE && out < c->words * 64; out++) {
				bool has = cdg_row(c, from, v / f->nports, next)[out / 64] >>
						   out % 64 &
					   1;
				bool wants =
					out <= f->nodes[f->ports[peer].node].nports &&
					m->dep[(size_t)v * m->n + next * f->nports + base + out];

				wrong += has != wants;
			}
	}
	assert_int_equal(wrong, 0);
}

/* Whether this mixture has a cycle. c: what plan_lanes.c made of it; NULL: it is not looked at. */
static bool is_cyclic(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		      enum mixture mixture, const struct cdg *c)
{
	struct model m = {.f = f, .t = {old, new}, .mixture = mixture};
	size_t nseen = (size_t)f->nports * RT_SLS * 2;
	bool cycle = false;

	m.n = f->nports * vls(&m);
	m.dep = mem_zarray((size_t)m.n * m.n, 1);
	m.mark = mem_zarray(m.n, 1);
	m.seen = mem_array(nseen, 1);
	for (m.lid = 1; m.lid <= MAX(old->top_lid, new->top_lid); m.lid++) {
		memset(m.seen, 0, nseen);
		for (uint32_t s = 0; s < f->nswitches; s++)
			enter(&m, s);
	}
	if (c)
		expect_graph(&m, c);
	for (uint32_t v = 0; v < m.n && !cycle; v++)
		cycle = !m.mark[v] && closes(&m, v);
	free(m.dep);
	free(m.mark);
	free(m.seen);
	return cycle;
}

/* ---- tables at random ---- */

static struct rt_sl2vl map_random(struct rng *r, unsigned nvls)
{
	struct rt_sl2vl m;

	for (unsigned sl = 0; sl < RT_SLS; sl++)
		m.vl[sl] = (uint8_t)(rng_below(r, 8) ? rng_below(r, nvls) : RT_VL_NONE);
	return m;
}

static void map_spoil(const struct fab *f, struct rt_tables *t, struct rng *r)
{
	uint32_t s = rng_below(r, f->nswitches);
	unsigned in = rng_below(r, 2) ? rng_below(r, world_ports(f, s) + 1) : RT_ANY_PORT;
	unsigned out = rng_below(r, 2) ? rng_below(r, world_ports(f, s) + 1) : RT_ANY_PORT;
	struct rt_sl2vl m = map_random(r, t->lanes->nvls);

	rt_sl2vl_use(t, s, in, out, rt_sl2vl_map(t, &m));
}

/* Maps of a switch that are the same but from a port to itself, as a manager knows them. */
static void map_by_pair(const struct fab *f, struct rt_tables *t, uint32_t s)
{
	struct rt_sl2vl none;
	unsigned number;

	memset(&none, RT_VL_NONE, sizeof(none));
	number = rt_sl2vl_map(t, &none);
	for (unsigned p = 0; p <= world_ports(f, s); p++)
		rt_sl2vl_use(t, s, p, p, number);
}

/* Service levels by switch and LID; `most` of them. */
static void lanes_random(const struct fab *f, struct rt_tables *t, struct rng *r, unsigned most)
{
	rt_lanes_add(t, f, 1 + rng_below(r, 4), f->nswitches);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			rt_sl_row(t, s)[lid] = (uint8_t)rng_below(r, most);
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
		if (!rng_below(r, 2))
			rt_sl_row_use(t, s, rng_below(r, world_ports(f, s) + 1),
				      rng_below(r, f->nswitches));
		if (!rng_below(r, 2))
			map_by_pair(f, t, s);
	}
	for (unsigned n = rng_below(r, 3); n; n--)
		map_spoil(f, t, r);
	t->lanes->any_vl = !rng_below(r, 3);
}

/* Some entries, service levels and maps. */
static void change_some(const struct fab *f, struct rt_tables *t, struct rng *r)
{
	for (unsigned n = rng_below(r, 4); n; n--) {
		uint32_t s = rng_below(r, f->nswitches);

		rt_row(t, s)[1 + rng_below(r, t->top_lid)] =
			(uint8_t)(1 + rng_below(r, world_ports(f, s)));
	}
	for (unsigned n = rng_below(r, 3); t->lanes && n; n--)
		rt_sl_row(t, rng_below(r, t->lanes->nrows))[1 + rng_below(r, t->top_lid)] =
			(uint8_t)rng_below(r, 4);
	if (t->lanes && !rng_below(r, 3))
		map_spoil(f, t, r);
}

/* The verdict on graphs: a kind of plan, or RT_PLAN_TURNS; one more: not even the new tables are free of cycles. */
static unsigned judge(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		      const struct plan_graphs *g)
{
	bool now = is_cyclic(f, old, new, ONLY_NEW, g ? &g->now : NULL);
	bool outward = is_cyclic(f, old, new, OUTWARD, g ? &g->outward : NULL);
	bool any = is_cyclic(f, old, new, ANY_ORDER, g ? &g->any : NULL);

	if (now)
		return RT_PLAN_TURNS + 1;
	return outward ? RT_PLAN_TURNS : any ? RT_PLAN_OUTWARDS : RT_PLAN_ANY_ORDER;
}

static void compare(const struct fab *f, const struct rt_tables *old, const struct rt_tables *new,
		    unsigned *kinds)
{
	unsigned nvls = MAX(rt_nvls(old), rt_nvls(new)), kind;
	struct plan_graphs g;
	struct rt_plan p;
	struct err e;

	cdg_init(&g.now, f, nvls);
	cdg_init(&g.outward, f, nvls);
	cdg_init(&g.any, f, nvls);
	plan_lanes_collect(f, old, new, &g, 1);
	kind = judge(f, old, new, &g);
	cdg_free(&g.now);
	cdg_free(&g.outward);
	cdg_free(&g.any);
	if (!rt_plan_cut(f, old, new, NULL, NULL, 1, &p, &e)) {
		if (p.kind == RT_PLAN_NOTHING)
			kind = RT_PLAN_NOTHING;
		assert_int_equal(p.kind, kind);
		rt_plan_free(&p);
	} else {
		assert_int_equal(kind, RT_PLAN_TURNS + 1);
	}
	kinds[kind]++;
}

/* Routes before and after a link or a switch failed, over the same ranks, without lanes. */
struct failure {
	struct fab *f;
	uint64_t *rank;
	struct rt_tables *old, *new;
};

static struct fab *fabric_random(struct rng *r)
{
	const struct fab_gen gen[] = {
		{.kind = "ring", .dims = {4 + rng_below(r, 3)}},
		{.kind = "mesh", .dims = {2, 3}},
		{.kind = "irregular",
		 .dims = {4 + rng_below(r, 4)},
		 .ports = 5,
		 .seed = rng_u64(r)},
	};

	return world_make(gen[rng_below(r, ARRAY_LEN(gen))]);
}

static struct failure failure_random(struct rng *r)
{
	struct fab *whole = fabric_random(r);
	uint64_t *rank = mem_array(whole->nswitches, sizeof(*rank)), *kept;
	struct world_down d = world_down_new(whole);
	struct rt_tables *t;
	struct failure x;
	uint32_t root = 0;

	rt_updown_rank(whole, whole->switches[rng_below(r, whole->nswitches)], rank);
	t = world_fera(whole, rank);
	world_change(whole, &d, r);
	x.f = world_now(whole, &d);
	kept = mem_array(x.f->nswitches, sizeof(*kept));
	x.rank = mem_array(x.f->nswitches, sizeof(*x.rank));
	rt_updown_rank_carry(whole, rank, x.f, kept);
	for (uint32_t s = 0; s < x.f->nswitches; s++)
		root = kept[s] < kept[root] ? s : root;
	if (!rng_below(r, 4))
		root = rng_below(r, x.f->nswitches);
	rt_updown_rank_keep(x.f, x.f->switches[root], kept, x.rank);
	x.old = rt_tables_carry(whole, t, x.f);
	x.new = world_fera(x.f, x.rank);
	rt_tables_free(t);
	world_down_free(&d);
	fab_free(whole);
	free(rank);
	free(kept);
	return x;
}

static void failure_free(struct failure *x)
{
	rt_tables_free(x->old);
	rt_tables_free(x->new);
	free(x->rank);
	fab_free(x->f);
}

static void print_kinds(const unsigned kinds[5])
{
	print_message("# %u nothing, %u any order, %u outwards, %u cut, %u refused\n", kinds[0],
		      kinds[1], kinds[2], kinds[3], kinds[4]);
}

/* The lanes of x->old for x->new. */
static void lanes_copy(struct failure *x)
{
	struct rt_tables *t = rt_tables_carry(x->f, x->old, x->f);

	for (uint32_t s = 0; s < x->f->nswitches; s++)
		memcpy(rt_row(t, s), rt_row(x->new, s), MIN(t->stride, x->new->stride));
	rt_tables_free(x->new);
	x->new = t;
}

TEST(plans_with_lanes_are_those_of_a_model)
{
	unsigned kinds[5] = {0};
	struct rng r;

	rng_seed(&r, 31, 0);
	for (unsigned i = 0; i < 400; i++) {
		struct failure x = failure_random(&r);

		lanes_random(x.f, x.old, &r, 1 + rng_below(&r, 4));
		if (i % 5 == 0) /* routes that go back where they came from */
			change_some(x.f, x.old, &r);
		if (i % 4)
			lanes_copy(&x);
		else
			lanes_random(x.f, x.new, &r, 1 + rng_below(&r, 4));
		if (i % 2)
			memcpy(x.new->lft, x.old->lft, (size_t)x.old->nswitches * x.old->stride);
		x.new->lanes->any_vl = false;
		if (i % 5 == 0)
			map_by_pair(x.f, x.new, rng_below(&r, x.f->nswitches));
		if (i % 3)
			change_some(x.f, x.new, &r);
		compare(x.f, x.old, x.new, kinds);
		failure_free(&x);
	}
	print_kinds(kinds);
	for (unsigned k = 0; k < 5; k++)
		assert_true(kinds[k] > 5);
}

/* All packets have SL 0, on any VL of old maps; new tables have one lane: the plan is that without lanes. */
TEST(maps_do_not_matter_where_new_tables_have_one_lane)
{
	unsigned kinds[5] = {0};
	struct rng r;

	rng_seed(&r, 32, 0);
	for (unsigned i = 0; i < 200; i++) {
		struct failure x = failure_random(&r);
		struct rt_tables *old = rt_tables_carry(x.f, x.old, x.f);
		struct rt_plan p, q;
		struct err e;

		lanes_random(x.f, old, &r, 1);
		compare(x.f, old, x.new, kinds);
		assert_int_equal(rt_plan(x.f, x.old, x.new, x.rank, NULL, 1, &p, &e), 0);
		assert_int_equal(rt_plan(x.f, old, x.new, x.rank, NULL, 1, &q, &e), 0);
		if (p.kind != RT_PLAN_NOTHING)
			assert_int_equal(p.kind, q.kind);
		assert_int_equal(p.entries, q.entries);
		assert_int_equal(p.turns.n, q.turns.n);
		assert_int_equal(p.turns_in_use, q.turns_in_use);
		rt_plan_free(&p);
		rt_plan_free(&q);
		rt_tables_free(old);
		failure_free(&x);
	}
	print_kinds(kinds);
	for (unsigned k = 1; k < 4; k++)
		assert_true(kinds[k] > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_with_lanes_are_those_of_a_model),
		cmocka_unit_test(maps_do_not_matter_where_new_tables_have_one_lane),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
