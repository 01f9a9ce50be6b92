/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier for a change against the full verifier: it accepts only what the full one accepts, and
 * nearly all correct tables. Keeps no state.
 */
#include "route_fixture.h"

struct tally {
	unsigned good, proven, bad, corrupted;
	unsigned computed, of_those; /* by rt_update(): good, and proven */
};

static struct fab *any_fabric(uint64_t i)
{
	const struct fab_gen families[] = {
		{.kind = "ring", .dims = {6}},
		{.kind = "mesh", .dims = {3, 4}},
		{.kind = "torus", .dims = {3, 4}},
		{.kind = "mtree", .dims = {4, 3}},
		{.kind = "irregular", .dims = {8}, .ports = 5, .seed = i},
		{.kind = "irregular", .dims = {16}, .ports = 6, .seed = i},
	};
	struct fab *f = world_make(families[i % ARRAY_LEN(families)]);

	return i / ARRAY_LEN(families) % 3 ? f : world_vfs(f, 1 + i % 5);
}

static bool all_walked(const struct fab *f, const struct rt_tables *t, const uint64_t *rank)
{
	struct rt_report r =
		world_verify(f, t, (struct rt_verify_opts){.rank = rank, .threads = 1});
	bool ok = r.ok;

	rt_report_free(&r);
	return ok;
}

static void compare(const struct fab *f, const struct rt_tables *t, const uint64_t *rank,
		    const struct rt_before *b, struct tally *n)
{
	bool quick = rt_verify_change(f, t, rank, b), whole = all_walked(f, t, rank);

	assert_false(quick && !whole);
	n->good += whole;
	n->proven += quick;
	n->bad += !whole;
}

/* An entry or a few say something else: another port, one that is not there, none. */
static void spoil(struct rt_tables *t, const struct fab *f, struct rng *r)
{
	for (unsigned n = 1 + rng_below(r, 3); n; n--) {
		uint32_t s = rng_below(r, f->nswitches);

		rt_row(t, s)[1 + rng_below(r, t->top_lid)] =
			(uint8_t)(rng_below(r, 8) ? rng_below(r, world_ports(f, s) + 1u)
						  : 255 - rng_below(r, 3));
	}
}

static struct rt_tables *copy_of(const struct rt_tables *t)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, t->top_lid);

	memcpy(c->lft, t->lft, (size_t)t->nswitches * t->stride);
	return c;
}

/* From f to g: as computed, then with harm done to it. */
static void one_change(const struct fab *f, const struct fab *g, struct rng *r, struct tally *n)
{
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank)),
		 *old = mem_array(g->nswitches, sizeof(*old));
	uint64_t *kept = mem_array(g->nswitches, sizeof(*kept));
	struct rt_tables *was, *carried, *t;
	struct rt_update_stats st;
	struct rt_before before;
	struct err e;

	rt_updown_rank(f, f->switches[0], rank);
	was = world_fera(f, rank);
	carried = rt_tables_carry(f, was, g);
	t = rt_tables_new(g->nswitches, fab_top_lid(g));
	before = (struct rt_before){f, rank, was};
	if (!all_walked(f, was, rank)) /* in two parts: no proof begins with that */
		goto out;
	rt_updown_rank_carry(f, rank, g, old);
	rt_updown_rank_keep(g, g->switches[0], old, kept);
	assert_int_equal(rt_update(g,
				   &(struct rt_opts){.rank = kept, .before = &before, .even = true},
				   carried, t, &st, &e),
			 0);
	compare(g, t, kept, &before, n);
	n->computed += all_walked(g, t, kept);
	n->of_those += rt_verify_change(g, t, kept, &before);
	for (unsigned i = 0; i < 20; i++) {
		struct rt_tables *c = copy_of(t);
		unsigned bad = n->bad;

		spoil(c, g, r);
		compare(g, c, kept, &before, n);
		n->corrupted += n->bad - bad;
		rt_tables_free(c);
	}
	/* The tables from before the change, as if none had been computed. */
	if (carried->top_lid >= fab_top_lid(g))
		compare(g, carried, kept, &before, n);
out:
	rt_tables_free(was);
	rt_tables_free(carried);
	rt_tables_free(t);
	free(rank);
	free(old);
	free(kept);
}

TEST(accepts_only_what_the_full_verifier_accepts)
{
	struct tally n = {0};
	struct rng r;

	rng_seed(&r, 5, 1);
	for (uint64_t i = 0; i < 240; i++) {
		struct fab *f = any_fabric(i), *g;
		struct world_down d = world_down_new(f);

		do {
			memset(d.node, 0, f->nnodes * sizeof(*d.node));
			memset(d.port, 0, f->nports * sizeof(*d.port));
			world_change(f, &d, &r);
		} while (d.node[f->switches[0]]);
		g = world_now(f, &d);
		one_change(f, g, &r, &n); /* something goes, */
		one_change(g, f, &r, &n); /* and comes back */
		fab_free(g);
		world_down_free(&d);
		fab_free(f);
	}
	print_message(
		"# %u good tables, %u of them proven; of %u as computed %u; %u bad, %u of them by harm\n",
		n.good, n.proven, n.computed, n.of_those, n.bad, n.corrupted);
	assert_int_equal(n.computed, n.of_those);
	assert_true(n.corrupted > 1000);
}

/* Other tables than verified ones, and a fabric of other switches: there is no proof from that. */
TEST(tables_that_cannot_be_compared_are_not_accepted)
{
	struct fab *f = world_make((struct fab_gen){.kind = "ring", .dims = {4}});
	uint64_t rank[4];
	struct rt_tables *few = rt_tables_new(3, fab_top_lid(f)), *t;
	struct rt_before before = {f, rank, few};

	rt_updown_rank(f, f->switches[0], rank);
	t = world_fera(f, rank);
	assert_false(rt_verify_change(f, t, rank, &before));
	before.t = t;
	assert_true(rt_verify_change(f, t, rank, &before));
	assert_false(rt_verify_change(f, few, rank, &before));
	rt_tables_free(few);
	rt_tables_free(t);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_only_what_the_full_verifier_accepts),
		cmocka_unit_test(tables_that_cannot_be_compared_are_not_accepted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
