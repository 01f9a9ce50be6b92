/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels and virtual lanes: rings that deadlock in one lane and are proven free in two, maps
 * that are wrong, the verifier against a check that walks every pair by itself, updates that are safe
 * because of their lanes, and the dumps. Keeps no state. Does not know any engine's way to choose lanes.
 * Covers: verify_lanes.c, lane_dumps.c
 */
#include "route_fixture.h"

/* ---- rings ---- */

/* Switches in a ring: port 1 to the next, port 2 to the one before, a host on port 3. */
static struct fab *ring(unsigned n)
{
	uint8_t links[8][4];

	for (unsigned i = 0; i < n; i++)
		memcpy(links[i], (uint8_t[]){(uint8_t)i, 1, (uint8_t)((i + 1) % n), 2}, 4);
	return world_links(n, 3, (const uint8_t(*)[4])links, n);
}

static port_id host_of(const struct fab *f, uint32_t sw)
{
	return f->ports[fab_port_id(f, f->switches[sw], 3)].peer;
}

/* Packets go clockwise where that takes at most `most` links, else the other way. */
static struct rt_tables *route_ring(const struct fab *f, unsigned most)
{
	struct rt_tables *t = rt_tables_new(f->nswitches, fab_top_lid(f));

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t d = 0; d < f->nswitches; d++) {
			uint16_t own = f->ports[fab_port_id(f, f->switches[d], 0)].lid;
			uint8_t way = (d + f->nswitches - s) % f->nswitches <= most ? 1 : 2;

			rt_row(t, s)[own] = s == d ? 0 : way;
			rt_row(t, s)[f->ports[host_of(f, d)].lid] = s == d ? 3 : way;
		}
	return t;
}

static struct rt_tables *clockwise(const struct fab *f)
{
	return route_ring(f, f->nswitches);
}

/* SL of all packets from switch or host at `from` to switch and host at `to`. */
static void sl_set(const struct fab *f, struct rt_tables *t, uint32_t from, uint32_t to,
		   unsigned sl)
{
	rt_sl_row(t, from)[f->ports[fab_port_id(f, f->switches[to], 0)].lid] = (uint8_t)sl;
	rt_sl_row(t, from)[f->ports[host_of(f, to)].lid] = (uint8_t)sl;
}

/* SL 1 for what passes through switch 0, SL 0 for all else. */
static void dateline_sls(const struct fab *f, struct rt_tables *t)
{
	rt_lanes_add(t, f, 2, f->nswitches);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
		for (uint32_t d = 0; d < f->nswitches; d++)
			sl_set(f, t, s, d, s && d && d < s);
	}
}

/* From the dateline to switch `last`, packets of SL 1 that come from a switch go on on VL 1. */
static void dateline_maps(const struct fab *f, struct rt_tables *t, uint32_t last)
{
	unsigned before = rt_sl2vl_map(t, &(struct rt_sl2vl){{0, 0}}),
		 behind = rt_sl2vl_map(t, &(struct rt_sl2vl){{0, 1}});

	for (uint32_t s = 0; s < f->nswitches; s++) {
		rt_sl2vl_use(t, s, RT_ANY_PORT, RT_ANY_PORT, before);
		if (s <= last)
			rt_sl2vl_use(t, s, 2, RT_ANY_PORT, behind);
	}
}

TEST(a_ring_of_four_deadlocks_in_one_lane)
{
	struct fab *f = ring(4);
	struct rt_tables *t = clockwise(f);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(rt_nvls(t), 1);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 4);
	assert_int_equal(r.unreachable + r.loops + r.discarded, 0);
	assert_string_equal(
		r.problem[0],
		"credit loop: S-0000000000000001[1] -> S-0000000000000002[1] -> "
		"S-0000000000000003[1] -> S-0000000000000004[1] -> S-0000000000000001[1]");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* The shortest routes have at most two links; those that pass switch 0 have a lane of their own. */
TEST(two_lanes_by_service_level_free_a_ring_of_five)
{
	struct fab *f = ring(5);
	struct rt_tables *t = route_ring(f, 2);
	struct rt_report r = world_verify(f, t, (struct rt_verify_opts){0});

	assert_int_equal(r.cycles, 2); /* one each way round */
	rt_report_free(&r);
	rt_lanes_add(t, f, 2, 5);
	for (uint32_t s = 0; s < 5; s++)
		rt_sl_row_use(t, s, RT_ANY_PORT, s);
	sl_set(f, t, 4, 1, 1);
	sl_set(f, t, 1, 4, 1);
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	rt_report_free(&r);

	/* All clockwise routes in the second lane close its loop. */
	for (uint32_t s = 0; s < 5; s++)
		sl_set(f, t, s, (s + 2) % 5, 1);
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cyclic_channels, 5);
	assert_int_equal(r.cycle.n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(r.cycle.at[i].vl, 1);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* All the way round: paths over the dateline have an SL of their own and change their lane there. */
TEST(a_lane_is_changed_at_the_dateline)
{
	struct fab *f = ring(5);
	struct rt_tables *t = clockwise(f);
	struct rt_report r;

	dateline_sls(f, t);
	dateline_maps(f, t, 2);
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_true(r.ok);
	assert_int_equal(rt_vl(t, 4, 2, 1, 1), 0);
	assert_int_equal(rt_vl(t, 0, 2, 1, 1), 1);
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* Switch 0 does not change the lane: the loop is within VL 0 and named so. */
TEST(a_missing_lane_change_is_found)
{
	struct fab *f = ring(4);
	struct rt_tables *t = clockwise(f);
	struct rt_report r;

	dateline_sls(f, t);
	dateline_maps(f, t, 1);
	rt_sl2vl_use(t, 0, 2, 1, rt_sl2vl_map(t, &(struct rt_sl2vl){{0}}));
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.cycles, 1);
	assert_int_equal(r.cycle.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(r.cycle.at[i].vl, 0);
	assert_string_equal(
		r.problem[0],
		"credit loop: S-0000000000000001[1] VL 0 -> S-0000000000000002[1] VL 0 -> "
		"S-0000000000000003[1] VL 0 -> S-0000000000000004[1] VL 0 -> "
		"S-0000000000000001[1] VL 0");
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

TEST(a_packet_without_a_lane_is_reported)
{
	struct fab *f = ring(4);
	struct rt_tables *t = clockwise(f);
	struct rt_report r;

	dateline_sls(f, t);
	dateline_maps(f, t, 1);
	rt_sl2vl_use(t, 1, 2, 1,
		     rt_sl2vl_map(t, &(struct rt_sl2vl){{0, 2}})); /* there is no VL 2 */
	r = world_verify(f, t, (struct rt_verify_opts){0});
	assert_false(r.ok);
	assert_int_equal(r.discarded, 4); /* from switch 3 and its host to switch 2 and its host */
	assert_int_equal(r.unreachable, 0);
	assert_non_null(strstr(r.problem[0], "S-0000000000000002 discards SL 1 from port 2 to port "
					     "1: no VL"));
	assert_false(rt_lanes_discard_nothing(t));
	rt_report_free(&r);
	rt_tables_free(t);
	fab_free(f);
}

/* ---- against a check that walks every pair by itself ---- */

struct brute {
	const struct fab *f;
	const struct rt_tables *t;
	uint32_t n; /* channels: port id and VL */
	uint8_t *dep, *mark;
	uint64_t discarded;
};

static void brute_walk(struct brute *b, uint32_t sw, unsigned in, uint32_t lid, bool arrives)
{
	const struct fab *f = b->f;
	unsigned sl = rt_sl(b->t, sw, in, lid), nvls = rt_nvls(b->t);
	uint32_t held = UINT32_MAX;

	for (unsigned hops = 0; hops < 4 * f->nswitches; hops++) {
		unsigned out = rt_row(b->t, sw)[lid], vl;
		node_id n = f->switches[sw];
		port_id p = out <= f->nodes[n].nports ? fab_port_id(f, n, out) : FAB_NONE;

		if (!out || p == FAB_NONE || f->ports[p].peer == FAB_NONE)
			return;
		vl = rt_vl(b->t, sw, in, out, sl);
		if (vl >= nvls) {
			b->discarded += arrives;
			return;
		}
		if (world_peer(f, sw, out) == FAB_NONE)
			return;
		if (held != UINT32_MAX)
			b->dep[(size_t)held * b->n + p * nvls + vl] = 1;
		held = p * nvls + vl;
		in = f->ports[f->ports[p].peer].num;
		sw = world_peer(f, sw, out);
	}
}

/* Does the path arrive, lanes aside? */
static bool brute_arrives(const struct brute *b, uint32_t sw, uint32_t lid, port_id dest)
{
	const struct fab *f = b->f;

	for (unsigned hops = 0; hops <= f->nswitches; hops++) {
		unsigned out = rt_row(b->t, sw)[lid];
		node_id n = f->switches[sw];

		if (out > f->nodes[n].nports)
			return false;
		if (!out)
			return dest == fab_port_id(f, n, 0);
		if (world_peer(f, sw, out) == FAB_NONE)
			return f->ports[fab_port_id(f, n, out)].peer == dest;
		sw = world_peer(f, sw, out);
	}
	return false;
}

static bool brute_closes(struct brute *b, uint32_t v)
{
	b->mark[v] = 1;
	for (uint32_t w = 0; w < b->n; w++)
		if (b->dep[(size_t)v * b->n + w] &&
		    (b->mark[w] == 1 || (!b->mark[w] && brute_closes(b, w))))
			return true;
	b->mark[v] = 2;
	return false;
}

/* Walk every pair; returns whether there is a credit loop. */
static bool brute_check(struct brute *b)
{
	const struct fab *f = b->f;
	bool loop = false;

	b->n = f->nports * rt_nvls(b->t);
	b->dep = mem_zarray((size_t)b->n * b->n, 1);
	b->mark = mem_zarray(b->n, 1);
	for (port_id src = 0; src < f->nports; src++)
		for (port_id dest = 0; dest < f->nports; dest++) {
			const struct fab_port *x = &f->ports[src];
			uint32_t sw;

			if (src == dest || !x->lid || !f->ports[dest].lid)
				continue;
			sw = f->switch_index[x->num ? f->ports[x->peer].node : x->node];
			brute_walk(b, sw, x->num ? f->ports[x->peer].num : 0, f->ports[dest].lid,
				   brute_arrives(b, sw, f->ports[dest].lid, dest));
		}
	for (uint32_t v = 0; v < b->n && !loop; v++)
		loop = !b->mark[v] && brute_closes(b, v);
	free(b->dep);
	free(b->mark);
	return loop;
}

/* Lanes at random, the fewer the less they help; some of the maps discard. */
static void lanes_random(const struct fab *f, struct rt_tables *t, struct rng *r, bool discard)
{
	unsigned nvls = 1 + rng_below(r, 4), nrows = 1 + rng_below(r, 2 * f->nswitches);

	rt_lanes_drop(t);
	rt_lanes_add(t, f, nvls, nrows);
	for (uint32_t row = 0; row < nrows; row++)
		for (uint32_t lid = 0; lid <= t->top_lid; lid++)
			rt_sl_row(t, row)[lid] = (uint8_t)rng_below(r, 1 + rng_below(r, 16));
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= world_ports(f, s); in++) {
			struct rt_sl2vl m;

			rt_sl_row_use(t, s, in, rng_below(r, nrows));
			for (unsigned sl = 0; sl < RT_SLS; sl++)
				m.vl[sl] = (uint8_t)rng_below(r, nvls);
			if (discard && !rng_below(r, 4))
				m.vl[rng_below(r, 8)] = (uint8_t)(nvls + rng_below(r, 16 - nvls));
			if (rng_below(r, 2))
				rt_sl2vl_use(t, s, rng_below(r, 2) ? in : RT_ANY_PORT,
					     rng_below(r, 2) ? rng_below(r, world_ports(f, s) + 1)
							     : RT_ANY_PORT,
					     rt_sl2vl_map(t, &m));
		}
}

static struct fab *small_random(struct rng *r)
{
	return world_make((struct fab_gen){.kind = "irregular",
					   .dims = {3 + rng_below(r, 5)},
					   .ports = 5,
					   .seed = rng_u64(r)});
}

/* Some entries at random, so that routes turn where they like, some of them for ever. */
static void entries_spoil(const struct fab *f, struct rt_tables *t, struct rng *r, unsigned n)
{
	while (n--) {
		uint32_t s = rng_below(r, f->nswitches);

		rt_row(t, s)[1 + rng_below(r, t->top_lid)] =
			(uint8_t)rng_below(r, world_ports(f, s) + 2);
	}
}

TEST(the_verifier_agrees_with_a_walk_of_every_pair)
{
	unsigned loops = 0, free_of_loops = 0, discards = 0;
	struct rng r;

	rng_seed(&r, 15, 0);
	for (int i = 0; i < 300; i++) {
		struct fab *f = small_random(&r);
		struct rt_tables *t = world_fera(f, NULL);
		struct brute b = {.f = f, .t = t};
		struct rt_report rep;
		bool loop;

		entries_spoil(f, t, &r, rng_below(&r, 12));
		if (i % 8)
			lanes_random(f, t, &r, i % 3 == 0);
		loop = brute_check(&b);
		rep = world_verify(f, t, (struct rt_verify_opts){0});
		assert_int_equal(rep.cycles > 0, loop);
		assert_int_equal(rep.discarded, b.discarded);
		assert_int_equal(rep.ok, !loop && !b.discarded && !rep.unreachable && !rep.loops);
		if (b.discarded)
			assert_false(rt_lanes_discard_nothing(t));
		loops += loop;
		free_of_loops += !loop;
		discards += b.discarded > 0;
		rt_report_free(&rep);
		rt_tables_free(t);
		fab_free(f);
	}
	print_message("# %u with credit loops, %u without, %u discard\n", loops, free_of_loops,
		      discards);
	assert_true(loops > 50 && free_of_loops > 50 && discards > 20);
}

/* ---- plans ---- */

/* Routes to one host go round the other way. The clockwise ring needs two lanes as it is, so without
 * them there is no plan at all. */
TEST(an_update_of_tables_that_need_lanes)
{
	struct fab *f = ring(4);
	uint64_t rank[4] = {0, 1, 2, 3};
	struct rt_tables *old = clockwise(f), *new = clockwise(f);
	struct rt_plan p;
	struct err e;

	/* The ring of four in two lanes, free of deadlock; then some routes go the other way. */
	dateline_sls(f, old);
	dateline_sls(f, new);
	for (uint32_t s = 0; s < 4; s++)
		if (s != 2)
			rt_row(new, s)[f->ports[host_of(f, 2)].lid] = 2;
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), 0);
	assert_true(p.kind == RT_PLAN_ANY_ORDER || p.kind == RT_PLAN_OUTWARDS);
	assert_int_equal(p.entries, 3);
	assert_false(p.lanes);
	rt_plan_free(&p);
	rt_lanes_drop(old);
	rt_lanes_drop(new);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), -EINVAL);
	rt_tables_free(old);
	rt_tables_free(new);
	fab_free(f);
}

/* Up*-down* from one root, then from another: in one lane turns must be switched off. With odd and
 * even destinations in different lanes old and new tables may mix in any order. */
TEST(tables_that_do_not_mix_in_one_lane_mix_in_two)
{
	struct fab *f = ring(4);
	uint64_t before[4], after[4];
	struct rt_tables *old, *new;
	struct rt_plan one, two;
	struct err e;

	rt_updown_rank(f, f->switches[0], before);
	rt_updown_rank(f, f->switches[2], after);
	old = world_fera(f, before);
	new = world_fera(f, after);
	assert_int_equal(rt_plan(f, old, new, after, NULL, 1, &one, &e), 0);
	assert_int_equal(one.kind, RT_PLAN_TURNS);
	for (int i = 0; i < 2; i++) {
		struct rt_tables *t = i ? new : old;

		rt_lanes_add(t, f, 2, 1);
		for (uint32_t d = 0; d < 4; d++)
			sl_set(f, t, 0, d, d % 2);
	}
	assert_int_equal(rt_plan(f, old, new, after, NULL, 1, &two, &e), 0);
	assert_int_equal(two.kind, RT_PLAN_ANY_ORDER);
	rt_plan_free(&one);
	rt_plan_free(&two);
	rt_tables_free(old);
	rt_tables_free(new);
	fab_free(f);
}

/* Tables stay, lanes change: safe in any order or not at all, but never "nothing". */
TEST(a_change_of_lanes_alone_is_planned)
{
	struct fab *f = ring(4);
	uint64_t rank[4] = {0, 1, 2, 3};
	struct rt_tables *old = clockwise(f), *new = clockwise(f);
	struct rt_plan p;
	struct err e;

	dateline_sls(f, old);
	dateline_sls(f, new);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), 0);
	assert_int_equal(p.kind, RT_PLAN_NOTHING);
	sl_set(f, new, 3, 2, 0);
	sl_set(f, new, 3, 1, 0); /* VL 0 now holds all links but no cycle with the others ... */
	sl_set(f, new, 2, 1, 0);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), -EINVAL); /* ... or does it */
	assert_string_equal(e.text, "plan: the new tables are not free of deadlock");
	rt_lanes_drop(new);
	dateline_sls(f, new);
	dateline_maps(f, new, 1);
	assert_int_equal(rt_plan(f, old, new, rank, NULL, 1, &p, &e), 0);
	assert_int_equal(p.kind, RT_PLAN_ANY_ORDER);
	assert_true(p.lanes);
	assert_int_equal(p.entries, 0);
	rt_plan_free(&p);
	rt_tables_free(old);
	rt_tables_free(new);
	fab_free(f);
}

/* A mixture of entries, SLs and maps, each old or new. */
static struct rt_tables *mix(const struct fab *f, const struct rt_tables *old,
			     const struct rt_tables *new, struct rng *r)
{
	struct rt_tables *m = rt_tables_new(f->nswitches, fab_top_lid(f));
	unsigned nvls = MAX(rt_nvls(old), rt_nvls(new));

	rt_lanes_add(m, f, nvls, m->nswitches * 6);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned in = 0; in <= world_ports(f, s); in++) {
			uint32_t row = s * 6 + in;

			rt_sl_row_use(m, s, in, row);
			for (uint32_t lid = 0; lid <= m->top_lid; lid++) {
				const struct rt_tables *t = rng_below(r, 2) ? new : old;

				rt_sl_row(m, row)[lid] = (uint8_t)rt_sl(t, s, in, lid);
				if (!in)
					rt_row(m, s)[lid] = rt_row(t, s)[lid];
			}
			for (unsigned out = 0; out <= world_ports(f, s); out++) {
				const struct rt_tables *t = rng_below(r, 2) ? new : old;
				struct rt_sl2vl v;

				for (unsigned sl = 0; sl < RT_SLS; sl++) {
					v.vl[sl] = (uint8_t)rt_vl(t, s, in, out, sl);
					if (v.vl[sl] >= rt_nvls(t))
						v.vl[sl] = RT_VL_NONE;
				}
				rt_sl2vl_use(m, s, in, out, rt_sl2vl_map(m, &v));
			}
		}
	return m;
}

TEST(any_order_allows_any_mixture_of_lanes)
{
	unsigned kinds[4] = {0}, refused = 0;
	struct rng r;

	rng_seed(&r, 16, 0);
	for (int i = 0; i < 300; i++) {
		struct fab *f = small_random(&r);
		uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
		struct rt_tables *old = world_fera(f, NULL), *new;
		struct rt_plan p;
		struct err e;

		rt_updown_rank(f, f->switches[rng_below(&r, f->nswitches)], rank);
		new = world_fera(f, rank);
		lanes_random(f, old, &r, i % 2);
		lanes_random(f, new, &r, false);
		if (rt_plan(f, old, new, rank, NULL, 1, &p, &e)) {
			refused++;
		} else {
			for (int k = 0; p.kind == RT_PLAN_ANY_ORDER && k < 10; k++) {
				struct rt_tables *m = mix(f, old, new, &r);
				struct rt_report rep =
					world_verify(f, m, (struct rt_verify_opts){0});

				assert_int_equal(rep.cycles + rep.loops, 0);
				rt_report_free(&rep);
				rt_tables_free(m);
			}
			kinds[p.kind]++;
			rt_plan_free(&p);
		}
		rt_tables_free(old);
		rt_tables_free(new);
		free(rank);
		fab_free(f);
	}
	print_message("# plans with lanes: %u any order, %u outwards, %u turns off, %u refused\n",
		      kinds[1], kinds[2], kinds[3], refused);
	assert_true(kinds[1] > 20 && kinds[3] > 20);
}

/* ---- storage ---- */

TEST(rows_that_are_equal_are_shared)
{
	struct fab *f = ring(5);
	struct rt_tables *t = clockwise(f), *same = clockwise(f);

	dateline_sls(f, t);
	dateline_sls(f, same);
	assert_int_equal(t->lanes->nrows, 5);
	rt_lanes_pack(t); /* switches 0 and 1 send nothing over the dateline */
	assert_int_equal(t->lanes->nrows, 4);
	assert_true(rt_lanes_same(f, t, same));
	rt_sl_row(same, 4)[1] ^= 1;
	assert_false(rt_lanes_same(f, t, same));
	rt_tables_free(t);
	rt_tables_free(same);
	fab_free(f);
}

/* Lanes follow their switches, by GUID, into the next snapshot. */
TEST(lanes_are_carried_to_the_next_snapshot)
{
	struct fab *f = ring(5), *g;
	struct rt_tables *t = clockwise(f), *c;
	struct world_down d = world_down_new(f);

	dateline_sls(f, t);
	dateline_maps(f, t, 2);
	rt_sl2vl_use(t, 3, 2, 1, rt_sl2vl_map(t, &(struct rt_sl2vl){{0, 1, 1}}));
	d.node[f->switches[1]] = true;
	g = world_now(f, &d);
	c = rt_tables_carry(f, t, g);
	for (uint32_t s = 0; s < g->nswitches; s++) {
		uint32_t was = s + (s > 0);

		for (unsigned in = 0; in <= 3; in++) {
			for (uint32_t lid = 0; lid <= t->top_lid; lid++)
				assert_int_equal(rt_sl(c, s, in, lid), rt_sl(t, was, in, lid));
			for (unsigned i = 0; i < 4 * RT_SLS; i++)
				assert_int_equal(rt_vl(c, s, in, i / RT_SLS, i % RT_SLS),
						 rt_vl(t, was, in, i / RT_SLS, i % RT_SLS));
		}
	}
	rt_tables_free(c);
	rt_tables_free(t);
	world_down_free(&d);
	fab_free(g);
	fab_free(f);
}

/* Ranks prove routes in any lanes; a map that discards is left to the whole verifier. */
TEST(the_quick_verifier_needs_maps_that_discard_nothing)
{
	struct fab *f = ring(4);
	uint64_t rank[4];
	struct rt_tables *old, *new;

	rt_updown_rank(f, f->switches[0], rank);
	old = world_fera(f, rank);
	new = world_fera(f, rank);
	struct rt_before before = {.f = f, .rank = rank, .t = old};

	rt_lanes_add(new, f, 3, 1);
	memset(rt_sl_row(new, 0), 2, new->top_lid + 1u);
	assert_true(rt_verify_change(f, new, rank, &before));
	rt_sl2vl_use(new, 1, 1, 2, rt_sl2vl_map(new, &(struct rt_sl2vl){{0, 1, 3}}));
	assert_false(rt_verify_change(f, new, rank, &before));
	rt_tables_free(old);
	rt_tables_free(new);
	fab_free(f);
}

TEST(lanes_of_another_fabric_are_refused)
{
	struct fab *f = ring(4), *g = world_links(4, 4, NULL, 0);
	struct rt_tables *t = clockwise(f);
	struct rt_report r;
	struct err e;

	rt_lanes_add(t, g, 2, 1);
	assert_int_equal(rt_verify(f, t, &(struct rt_verify_opts){0}, &r, &e), -EINVAL);
	assert_string_equal(e.text, "lanes of a switch with 4 ports for one with 3");
	rt_lanes_drop(t);
	rt_lanes_add(t, f, 2, 1);
	rt_sl_row(t, 0)[3] = 16;
	assert_int_equal(rt_verify(f, t, &(struct rt_verify_opts){0}, &r, &e), -EINVAL);
	assert_string_equal(e.text, "service level 16 for LID 3: IBA has 16 of them");
	rt_tables_free(t);
	fab_free(f);
	fab_free(g);
}

/* ---- dumps ---- */

static void put(void *ctx, const char *text, size_t len)
{
	strbuf_addn(ctx, text, len);
}

static int parse(const struct fab *f, struct rt_tables *t, const char *sls, const char *maps,
		 struct err *e)
{
	struct rt_dump a = {.name = "x.sls", .text = sls, .len = sls ? strlen(sls) : 0},
		       b = {.name = "x.sl2vl", .text = maps, .len = maps ? strlen(maps) : 0};

	return rt_lanes_parse(f, t, sls ? &a : NULL, maps ? &b : NULL, e);
}

TEST(what_is_written_is_read)
{
	struct rng r;

	rng_seed(&r, 17, 0);
	for (int i = 0; i < 40; i++) {
		struct fab *f = small_random(&r);
		struct rt_tables *t = world_fera(f, NULL), *u = world_fera(f, NULL);
		struct strbuf sls = {0}, maps = {0};
		struct rt_report a, b;
		struct err e;

		lanes_random(f, t, &r, false);
		rt_path_sls_each(f, t, put, &sls);
		rt_sl2vl_each(f, t, put, &maps);
		assert_int_equal(parse(f, u, sls.s, maps.s, &e), 0);
		for (uint32_t s = 0; s < f->nswitches; s++)
			for (unsigned in = 0; in <= world_ports(f, s); in++) {
				port_id p = fab_port_id(f, f->switches[s], in);
				bool is_source = !in || (f->ports[p].peer != FAB_NONE &&
							 world_peer(f, s, in) == FAB_NONE);

				for (uint32_t lid = 1; is_source && lid <= t->top_lid; lid++)
					assert_int_equal(rt_sl(u, s, in, lid),
							 rt_sl(t, s, in, lid));
			}
		a = world_verify(f, t, (struct rt_verify_opts){0});
		b = world_verify(f, u, (struct rt_verify_opts){0});
		assert_int_equal(a.ok, b.ok);
		assert_int_equal(a.cycles, b.cycles);
		rt_report_free(&a);
		rt_report_free(&b);
		strbuf_free(&sls);
		strbuf_free(&maps);
		rt_tables_free(t);
		rt_tables_free(u);
		fab_free(f);
	}
}

/* Two hosts that a cable joins without a switch: tables have no entry for their LIDs, and the reader knows them not. */
TEST(service_levels_are_written_for_lids_with_an_entry)
{
	struct fab_builder *b = fab_builder_new();
	struct strbuf text = {0};
	struct rt_tables *t;
	struct fab *f;

	fab_add_node(b, IBA_NODE_SWITCH, 7, 4, "switch");
	for (unsigned i = 0; i < 4; i++)
		fab_add_node(b, IBA_NODE_CA, 0x10 + 2 * i, 1, "host");
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(fab_add_link(b, 0, 1 + i, 1 + i, 1), 0);
	assert_int_equal(fab_add_link(b, 3, 1, 4, 1), 0);
	f = world_lids(fab_build(b), 0);
	t = world_fera(f, NULL);
	assert_int_equal(t->top_lid, 5);
	rt_path_sls_each(f, t, put, &text);
	for (port_id p = 0; p < f->nports; p++) {
		node_id n = f->ports[p].node;
		char line[32];

		snprintf(line, sizeof(line), "\n0x%04x : ", f->ports[p].lid);
		if (f->ports[p].lid)
			assert_int_equal(strstr(text.s, line) != NULL, n < 3);
	}
	strbuf_free(&text);
	rt_tables_free(t);
	fab_free(f);
}

/* What the manual page of ibdmchk describes, and what OpenSM adds to it. */
TEST(both_forms_of_a_dump_are_read)
{
	struct fab *f = ring(4);
	struct rt_tables *t = clockwise(f);
	struct err e;

	assert_int_equal(parse(f, t,
			       "0x0000000000000100 2 1\n0x1 3 2\n"
			       "Channel Adapter 0x0000000000000103, base LID 6, \"host\", port 1\n"
			       "# LID  : SL : MTU : RATE\n0x0002 : 3  : 4   : 3\n"
			       "0x0003 : UNREACHABLE\n",
			       "0x0000000000000002 1 2 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef\r\n"
			       "Switch 0x0000000000000003, base LID 3, \"switch\"\n"
			       "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
			       "2   1   : 5  5  5  5  5  5  5  5  5  5  5  5  5  5  5  5 \n"
			       "Channel Adapter 0x0000000000000103, base LID 6, \"host\"\n"
			       "#out : 0\n1 : 0\n",
			       &e),
			 0);
	assert_int_equal(rt_sl(t, 0, 3, 2), 1);
	assert_int_equal(rt_sl(t, 0, 0, 3), 2);
	assert_int_equal(rt_sl(t, 1, 3, 2), 3);
	assert_int_equal(rt_sl(t, 1, 3, 3), 0);
	assert_int_equal(rt_vl(t, 1, 1, 2, 9), 9);
	assert_int_equal(rt_vl(t, 2, 2, 1, 9), 5);
	assert_int_equal(rt_vl(t, 2, 1, 2, 9), 9);
	assert_int_equal(rt_nvls(t), 15);
	rt_tables_free(t);
	fab_free(f);
}

TEST(bad_dumps_are_refused_with_file_and_line)
{
	static const struct {
		const char *sls, *maps, *message;
	} bad[] = {
		{"\nwhat\n", NULL,
		 "x.sls:2: expected '0x0001 : 0', '0x<node GUID> LID SL' or a heading like 'Channel "
		 "Adapter 0x<port GUID>, ...', found 'what'"},
		{"0x0001 : 0\n", NULL,
		 "x.sls:1: expected a heading before the first entry, found '0x0001 : 0'"},
		{"Switch 0x9, base LID 1\n", NULL,
		 "x.sls:1: 0x0000000000000009 is not in the topology"},
		{"Switch nine\n", NULL,
		 "x.sls:1: expected a port GUID of up to 16 hexadecimal digits, found 'Switch nine'"},
		{"0x1 2 16\n", NULL, "x.sls:1: expected a service level up to 15, found 16"},
		{"0x1 9 1\n", NULL, "x.sls:1: expected a LID up to 8, found 9"},
		{"0x1 2\n", NULL, "x.sls:1: expected a service level, found the end of the line"},
		{"0x77 2 1\n", NULL, "x.sls:1: 0x0000000000000077 is not in the topology"},
		{NULL, "1 2 : 0\n",
		 "x.sl2vl:1: expected a heading like 'Switch 0x<GUID>, ...', found '1 2 : 0'"},
		{NULL, "Switch 0x1\n9 1 : 0\n",
		 "x.sl2vl:2: expected an input port of the switch, found '9 1 : 0'"},
		{NULL, "Switch 0x1\n1 9 : 0\n",
		 "x.sl2vl:2: expected an output port after the input port, found '1 9 : 0'"},
		{NULL, "Switch 0x1\n1 2 0\n", "x.sl2vl:2: expected ':', found '0'"},
		{NULL, "Switch 0x1\n1 2 : 0 1 2 16\n",
		 "x.sl2vl:2: expected sixteen VLs up to 15, found the end of the line"},
		{NULL, "0x1 1 2 0x01 0x2\n",
		 "x.sl2vl:1: expected eight pairs of VLs like 0x01, found the end of the line"},
	};
	struct fab *f = ring(4);
	struct rt_tables *t = clockwise(f);

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e;

		assert_int_equal(parse(f, t, bad[i].sls, bad[i].maps, &e), -EINVAL);
		assert_string_equal(e.text, bad[i].message);
		assert_null(t->lanes);
	}
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_of_four_deadlocks_in_one_lane),
		cmocka_unit_test(two_lanes_by_service_level_free_a_ring_of_five),
		cmocka_unit_test(a_lane_is_changed_at_the_dateline),
		cmocka_unit_test(a_missing_lane_change_is_found),
		cmocka_unit_test(a_packet_without_a_lane_is_reported),
		cmocka_unit_test(the_verifier_agrees_with_a_walk_of_every_pair),
		cmocka_unit_test(an_update_of_tables_that_need_lanes),
		cmocka_unit_test(tables_that_do_not_mix_in_one_lane_mix_in_two),
		cmocka_unit_test(a_change_of_lanes_alone_is_planned),
		cmocka_unit_test(any_order_allows_any_mixture_of_lanes),
		cmocka_unit_test(rows_that_are_equal_are_shared),
		cmocka_unit_test(lanes_are_carried_to_the_next_snapshot),
		cmocka_unit_test(the_quick_verifier_needs_maps_that_discard_nothing),
		cmocka_unit_test(lanes_of_another_fabric_are_refused),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(service_levels_are_written_for_lids_with_an_entry),
		cmocka_unit_test(both_forms_of_a_dump_are_read),
		cmocka_unit_test(bad_dumps_are_refused_with_file_and_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
