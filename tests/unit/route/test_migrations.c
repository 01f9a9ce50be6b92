/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations on computed tables: both schemes, every state on the way verified, classes by distance. Keeps
 * no state; each test makes its own fabric.
 */
#include "route_fixture.h"
#include "route/migrations.h"

static struct mig mig_of(struct fab_gen g, bool swap, unsigned vfs)
{
	struct mig_opts o = {.swap = swap, .vfs = vfs, .engine = "fera"};
	struct fab *f = world_make(g);
	struct mig m;
	struct err e;

	o.routes.root = rt_root_centre(f);
	if (mig_make(&m, f, &o, &e))
		fail_msg("%s", e.text);
	fab_free(f);
	return m;
}

static struct mig_result run(struct mig *m, struct rng *r, enum mig_class want, unsigned verify)
{
	struct mig_result x;
	uint32_t vm, to;
	struct err e;

	assert_true(mig_draw(m, r, want, &vm, &to));
	if (mig_run(m, vm, to, verify, r, &x, &e))
		fail_msg("%s", e.text);
	return x;
}

static void migrate_and_verify(struct fab_gen g, unsigned n)
{
	for (int way = 0; way < 3; way++) {
		struct mig m = mig_of(g, way != 1, way == 2 ? 2 : 0);
		struct rng r;

		rng_seed(&r, 1, 1);
		for (unsigned i = 0; i < n; i++) {
			struct mig_result x = run(&m, &r, MIG_NCLASSES, 2);

			assert_true(x.sound);
			assert_int_equal(x.states, 3 * x.stages + 1);
			assert_true(x.together <= x.smps);
			assert_true(x.smps <= (m.swap ? 2 : 1) * x.switches);
			assert_true(x.switches <= m.f->nswitches);
			if (x.class == MIG_LEAF)
				assert_true(x.switches == 1 && x.stages == 1);
		}
		mig_free(&m);
	}
}

TEST(every_state_of_a_migration_is_sound)
{
	migrate_and_verify((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, 40);
	migrate_and_verify((struct fab_gen){.kind = "torus", .dims = {3, 4}}, 30);
	migrate_and_verify((struct fab_gen){.kind = "irregular",
					    .dims = {10},
					    .ports = 6,
					    .hosts = 20,
					    .has_hosts = true,
					    .seed = 5},
			   30);
	migrate_and_verify((struct fab_gen){.kind = "dragonfly", .dims = {2, 4, 2}}, 20);
}

TEST(classes_are_by_distance)
{
	struct mig m = mig_of((struct fab_gen){.kind = "mtree", .dims = {4, 3}}, false, 0);
	struct rng r;

	rng_seed(&r, 1, 1);
	for (int i = 0; i < 10; i++) {
		struct mig_result leaf = run(&m, &r, MIG_LEAF, 0), pod = run(&m, &r, MIG_POD, 0),
				  across = run(&m, &r, MIG_ACROSS, 0);

		assert_int_equal(leaf.class, MIG_LEAF);
		assert_int_equal(leaf.smps, 1);
		assert_int_equal(pod.class, MIG_POD);
		assert_int_equal(across.class, MIG_ACROSS);
		assert_true(across.stages > leaf.stages);
	}
	mig_free(&m);
}

/* Prepopulated: VFs have LIDs of their own, and ways of their own. */
TEST(each_vf_has_a_lid)
{
	struct mig m = mig_of((struct fab_gen){.kind = "mtree", .dims = {4, 2}}, true, 3);
	uint32_t a = mig_find(&m, m.slots.at[0].host, 1), b = mig_find(&m, m.slots.at[0].host, 3);

	assert_int_equal(m.slots.n, 8 * 3);
	assert_int_equal(m.lids, 6 + 8 * 4);
	assert_true(a != FAB_NONE && b != FAB_NONE);
	assert_int_not_equal(m.slots.at[a].lid, m.slots.at[b].lid);
	assert_int_equal(mig_find(&m, m.slots.at[0].host, 4), FAB_NONE);
	assert_int_equal(mig_find(&m, m.slots.at[0].host, 0), FAB_NONE);
	mig_free(&m);
}

TEST(lids_run_out_with_figures)
{
	struct fab *f = world_make((struct fab_gen){.kind = "mtree", .dims = {12, 3}});
	struct mig_opts o = {.swap = true, .vfs = 252, .engine = "fera"};
	struct mig m;
	struct err e = {{0}};

	assert_int_equal(mig_make(&m, f, &o, &e), -ENOSPC);
	assert_true(e.text[0]);
	mig_free(&m);
	fab_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_of_a_migration_is_sound),
		cmocka_unit_test(classes_are_by_distance),
		cmocka_unit_test(each_vf_has_a_lid),
		cmocka_unit_test(lids_run_out_with_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
