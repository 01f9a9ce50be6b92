/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans against every order in which switches can carry them out (docs/mechanism.md, "Why no cycle closes"):
 * small fabrics, old tables that may be what an abandoned plan left, switches that were found empty, and one
 * that restarts at any point. State: struct model, for one plan. Does not use the manager: the rules by
 * which it sends entries are stated here a second time.
 * Covers: plan.c, detour.c
 *
 * For one LID the model is a graph of situations: which switches have their new entry, whether one has
 * restarted, and where a packet is. Time passes when a switch changes; a packet may wait as long as it
 * likes. Every dependency that a packet makes in any reachable situation goes into one channel dependency
 * graph, the verifier's, for all LIDs together: if that has no cycle, no sequence of events has one.
 */
#include "base/rng.h"
#include "route/cdg.h"
#include "route_fixture.h"

enum { MAX_SW = 8, MAX_PORTS = 8, STARTS_EMPTY = 2 };

struct model {
	const struct fab *f;
	const struct rt_tables *old, *new;
	const struct rt_plan *plan;
	bool empty[MAX_SW]; /* found empty */
	bool turns_back; /* packets may leave by the port of their arrival: no plan relies on more */
	bool whole_first;  /* they get their whole tables first, as once was the rule */
	uint32_t restarts; /* the switch that may restart at any point; FAB_NONE */
	uint32_t lid;
	struct cdg graph;
	/* by set of changed switches, restarted or not, switch, port of arrival (0: from a host) */
	bool seen[1 << MAX_SW][2][MAX_SW][MAX_PORTS + 1];
};

/* ---- entries ---- */

static unsigned entry(const struct rt_tables *t, uint32_t sw, uint32_t lid)
{
	return lid <= t->top_lid ? rt_row(t, sw)[lid] : IBA_PORT_NONE;
}

/* Whether the old table of a neighbour leads this LID to the switch. */
static bool is_led_to(const struct model *m, uint32_t sw)
{
	for (uint32_t s = 0; s < m->f->nswitches; s++)
		if (s != sw && !m->empty[s] && world_peer(m->f, s, entry(m->old, s, m->lid)) == sw)
			return true;
	return false;
}

/* What a switch forwards by, when the switches in `changed` have changed. */
static unsigned entry_now(const struct model *m, uint32_t sw, unsigned changed, bool restarted)
{
	if (restarted && sw == m->restarts)
		return IBA_PORT_NONE;
	if (changed >> sw & 1)
		return entry(m->new, sw, m->lid);
	if (!m->empty[sw])
		return entry(m->old, sw, m->lid);
	return m->whole_first || !is_led_to(m, sw) ? entry(m->new, sw, m->lid) : IBA_PORT_NONE;
}

/* The plan allows this switch to change now. */
static bool may_change(const struct model *m, uint32_t sw, unsigned changed)
{
	uint32_t next = world_peer(m->f, sw, entry(m->new, sw, m->lid));

	if (changed >> sw & 1)
		return false;
	return m->plan->kind == RT_PLAN_ANY_ORDER || next == FAB_NONE || changed >> next & 1;
}

static bool is_off(const struct model *m, uint32_t sw, unsigned in, unsigned out)
{
	for (size_t i = 0; i < m->plan->turns.n; i++)
		if (m->plan->turns.at[i].sw == sw && m->plan->turns.at[i].in == in &&
		    m->plan->turns.at[i].out == out)
			return true;
	return false;
}

/* ---- situations ---- */

static void visit(struct model *m, unsigned changed, bool restarted, uint32_t sw, unsigned in);

/* The packet moves on by the entry of this moment. */
static void forward(struct model *m, unsigned changed, bool restarted, uint32_t sw, unsigned in)
{
	const struct fab *f = m->f;
	unsigned out = entry_now(m, sw, changed, restarted);
	uint32_t next = world_peer(f, sw, out);
	port_id here = fab_port_id(f, f->switches[sw], out);

	/* No link of a switch that restarted is Active. */
	if (next == FAB_NONE || (restarted && (sw == m->restarts || next == m->restarts)) ||
	    (in && (is_off(m, sw, in, out) || (in == out && !m->turns_back))))
		return;
	if (in)
		cdg_add(&m->graph, f->ports[fab_port_id(f, f->switches[sw], in)].peer, 0, out, 0);
	visit(m, changed, restarted, next, f->ports[f->ports[here].peer].num);
}

static void visit(struct model *m, unsigned changed, bool restarted, uint32_t sw, unsigned in)
{
	bool *seen = &m->seen[changed][restarted][sw][in];

	if (*seen)
		return;
	*seen = true;
	forward(m, changed, restarted, sw, in);
	for (uint32_t s = 0; s < m->f->nswitches; s++)
		if (may_change(m, s, changed))
			visit(m, changed | 1u << s, restarted, sw, in);
	if (m->restarts != FAB_NONE && !restarted)
		visit(m, changed, true, sw, in);
}

/* Packets come from a host at any time; hosts of switches found empty become Active last. */
static bool has_cycle(struct model *m)
{
	uint32_t *part = mem_array(m->f->nports, sizeof(*part)), parts;

	cdg_init(&m->graph, m->f, 1);
	for (m->lid = 1; m->lid <= MAX(m->old->top_lid, m->new->top_lid); m->lid++) {
		memset(m->seen, 0, sizeof(m->seen));
		for (uint32_t s = 0; s < m->f->nswitches; s++)
			if (!m->empty[s])
				visit(m, 0, false, s, 0);
	}
	parts = cdg_parts(&m->graph, part);
	cdg_free(&m->graph);
	free(part);
	return parts;
}

/* ---- cases ---- */

static struct fab *draw_fab(struct rng *r)
{
	return world_make((struct fab_gen){.kind = rng_below(r, 4) ? "irregular" : "ring",
					   .ndims = 1,
					   .dims = {4 + rng_below(r, 3)},
					   .ports = 4 + rng_below(r, 2),
					   .seed = rng_u64(r)});
}

static uint64_t *draw_rank(const struct fab *f, struct rng *r)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));

	rt_updown_rank(f, f->switches[rng_below(r, f->nswitches)], rank);
	return rank;
}

/* What is left of a plan from t to other tables that was abandoned: for each LID some switches changed. */
static void abandon(const struct fab *f, struct rt_tables *t, struct rng *r)
{
	uint64_t *rank = draw_rank(f, r);
	struct rt_tables *to = world_fera(f, rank);
	struct model *m = mem_zalloc(sizeof(*m));
	struct rt_plan p;
	struct err e;

	if (!rt_plan(f, t, to, rank, NULL, 1, &p, &e)) {
		*m = (struct model){.f = f, .old = t, .new = to, .plan = &p, .restarts = FAB_NONE};
		for (m->lid = 1; m->lid <= t->top_lid && p.kind != RT_PLAN_TURNS; m->lid++) {
			unsigned changed = 0;

			for (unsigned i = rng_below(r, 3 * f->nswitches); i; i--) {
				uint32_t s = rng_below(r, f->nswitches);

				if (may_change(m, s, changed))
					changed |= 1u << s;
			}
			for (uint32_t s = 0; s < f->nswitches; s++)
				if (changed >> s & 1)
					rt_row(t, s)[m->lid] = rt_row(to, s)[m->lid];
		}
		rt_plan_free(&p);
	}
	free(m);
	rt_tables_free(to);
	free(rank);
}

/* Links and switches go, and directions stay where they can. f and *old are replaced. */
static struct fab *lose(struct fab *f, struct rt_tables **old, const uint64_t *before,
			uint64_t *after, struct rng *r)
{
	struct world_down d = world_down_new(f);
	struct rt_tables *was = *old;
	uint64_t *carried;
	struct fab *now;

	world_change(f, &d, r);
	now = world_now(f, &d);
	carried = mem_array(now->nswitches, sizeof(*carried));
	rt_updown_rank_carry(f, before, now, carried);
	rt_updown_rank_keep(now, now->switches[0], carried, after);
	*old = rt_tables_carry(f, was, now);
	rt_tables_free(was);
	free(carried);
	world_down_free(&d);
	fab_free(f);
	return now;
}

static struct {
	unsigned cases, ordered, turns, in_use, detours, legs, whole_first_closes;
} sums;

/* One switch after another restarts, and none. */
static void every_restart(struct model *m)
{
	for (uint32_t x = 0; x <= m->f->nswitches; x++) {
		m->restarts = x < m->f->nswitches ? x : FAB_NONE;
		assert_false(has_cycle(m));
	}
}

static void try_case(uint64_t seed)
{
	struct rng r;
	struct model *m = mem_zalloc(sizeof(*m));
	struct fab *f;
	uint64_t *before, *after;
	struct rt_tables *old, *new;
	struct rt_plan p;
	struct err e;

	rng_seed(&r, seed, 21);
	f = draw_fab(&r);
	before = draw_rank(f, &r);
	old = world_fera(f, before);
	if (rng_below(&r, 2)) {
		after = draw_rank(f, &r);
	} else {
		after = mem_array(f->nswitches, sizeof(*after));
		f = lose(f, &old, before, after, &r);
	}
	new = world_fera(f, after);
	if (rng_below(&r, 2))
		abandon(f, old, &r);
	*m = (struct model){.f = f, .old = old, .new = new, .plan = &p, .turns_back = true};
	for (unsigned i = rng_below(&r, STARTS_EMPTY + 1); i; i--) {
		uint32_t s = rng_below(&r, f->nswitches);

		m->empty[s] = true;
		memset(rt_row(old, s), IBA_PORT_NONE, old->stride);
	}
	if (!rt_plan(f, old, new, after, NULL, 1, &p, &e)) {
		sums.cases++;
		sums.ordered += p.kind == RT_PLAN_OUTWARDS;
		sums.turns += p.kind == RT_PLAN_TURNS;
		every_restart(m);
		m->restarts = FAB_NONE;
		m->whole_first = true;
		sums.whole_first_closes += has_cycle(m);
		rt_plan_free(&p);
	}
	rt_tables_free(old);
	rt_tables_free(new);
	free(before);
	free(after);
	fab_free(f);
	free(m);
}

TEST(no_order_and_no_restart_closes_a_cycle)
{
	for (uint64_t seed = 1; seed <= 400; seed++)
		try_case(seed);
	print_message("# %u cases, %u outwards, %u with turns disabled\n", sums.cases, sums.ordered,
		      sums.turns);
	assert_true(sums.cases > 350 && sums.ordered > 5 && sums.turns > 50);
}

/* The rule that once was: what the model is for. */
TEST(whole_tables_for_switches_found_empty_can_close_one)
{
	print_message("# %u cases\n", sums.whole_first_closes);
	assert_true(sums.whole_first_closes > 0);
}

/*
 * Tables that are not known: every turn that the new ranks forbid is disabled, and any order is safe. A switch
 * discards packets that its table sends back (IBA, PortRcvSwitchRelayErrors).
 */
TEST(forbidden_turns_hold_for_any_tables)
{
	struct model *m = mem_zalloc(sizeof(*m));

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct rt_plan p = {.kind = RT_PLAN_ANY_ORDER};
		struct rng r;
		struct fab *f;
		uint64_t *rank;
		struct rt_tables *old, *new;

		rng_seed(&r, seed, 22);
		f = draw_fab(&r);
		rank = draw_rank(f, &r);
		new = world_fera(f, rank);
		old = rt_tables_new(f->nswitches, new->top_lid);
		for (uint32_t s = 0; s < f->nswitches; s++)
			for (uint32_t lid = 1; lid <= old->top_lid; lid++)
				rt_row(old, s)[lid] =
					(uint8_t)(1 + rng_below(&r, world_ports(f, s)));
		rt_forbidden_turns(f, rank, &p.turns);
		*m = (struct model){
			.f = f, .old = old, .new = new, .plan = &p, .restarts = FAB_NONE};
		assert_false(has_cycle(m));
		rt_plan_free(&p);
		rt_tables_free(old);
		rt_tables_free(new);
		free(rank);
		fab_free(f);
	}
	free(m);
}

/*
 * Each leg of a detour: packets on the routes before its old tables have drained, so it is a case of its own. No
 * turn that it disables is taken before or after.
 */
static void every_leg(const struct fab *f, const struct rt_tables *old, const uint64_t *before,
		      const struct rt_tables *new, const uint64_t *after)
{
	struct model *m = mem_zalloc(sizeof(*m));
	const struct rt_tables *at = old;
	rt_legs legs = {0};

	if (rt_detour(f, old, before, new, after, &legs)) {
		sums.detours++;
		sums.legs += (unsigned)legs.n;
	}
	for (size_t i = 0; i < legs.n; i++) {
		const struct rt_tables *to = i + 1 < legs.n ? legs.at[i].tables : new;

		*m = (struct model){
			.f = f, .old = at, .new = to, .plan = &legs.at[i].plan, .turns_back = true};
		assert_false(legs.at[i].plan.turns_in_use);
		every_restart(m);
		at = to;
	}
	rt_legs_free(&legs);
	free(m);
}

/* A fabric shrinks, directions are kept, and then become those of a fresh start. */
static void try_detour(uint64_t seed)
{
	struct fab *f;
	struct rng r;
	uint64_t *first, *kept, *fresh;
	struct rt_tables *old, *mid, *new;
	struct rt_plan p;
	struct err e;

	rng_seed(&r, seed, 23);
	f = world_make((struct fab_gen){
		.kind = "irregular", .ndims = 1, .dims = {8}, .ports = 4, .seed = rng_u64(&r)});
	first = mem_array(f->nswitches, sizeof(*first));
	kept = mem_array(f->nswitches, sizeof(*kept));
	fresh = mem_array(f->nswitches, sizeof(*fresh));
	rt_updown_rank(f, f->switches[0], first);
	old = world_fera(f, first);
	f = lose(f, &old, first, kept, &r);
	rt_updown_rank(f, f->switches[0], fresh);
	mid = world_fera(f, kept);
	new = world_fera(f, fresh);
	if (!rt_plan(f, mid, new, fresh, NULL, 1, &p, &e)) {
		if (p.turns_in_use) {
			sums.in_use++;
			every_leg(f, mid, kept, new, fresh);
		}
		rt_plan_free(&p);
	}
	rt_tables_free(old);
	rt_tables_free(mid);
	rt_tables_free(new);
	free(first);
	free(kept);
	free(fresh);
	fab_free(f);
}

TEST(no_leg_of_a_detour_closes_a_cycle)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		try_detour(seed);
	print_message("# %u plans with turns in use, %u detours of %u legs\n", sums.in_use,
		      sums.detours, sums.legs);
	assert_true(sums.in_use > 10 && sums.detours > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_and_no_restart_closes_a_cycle),
		cmocka_unit_test(forbidden_turns_hold_for_any_tables),
		cmocka_unit_test(whole_tables_for_switches_found_empty_can_close_one),
		cmocka_unit_test(no_leg_of_a_detour_closes_a_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
