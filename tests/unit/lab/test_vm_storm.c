/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot storms: all VMs start, requests that arrive together share SMPs, too many are refused before the first. State: none.
 */
#include "vm_fixture.h"

#include "lab/vm_storm.h"

static struct lab_storm_result storm(enum sm_scheme scheme, unsigned vms, time_ps within)
{
	struct lab_storm_plan p = {.vms = vms, .within = within, .seed = 5, .limit = 10 * PS_PER_S};
	struct lab_storm_result r;
	struct vm_world w;
	struct err e;

	vm_draw(&w, scheme, FAB_SRIOV_VSWITCH, 8);
	w.lab = lab_new(w.wire, &w.cfg, &e);
	assert_non_null(w.lab);
	p.fab = w.fab;
	lab_storm_run(w.lab, &p, &r);
	vm_close(&w);
	return r;
}

static uint64_t tables(const struct lab_storm_result *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->vms.n; i++)
		n += r->vms.at[i].r.smps_tables;
	return n;
}

TEST(all_vms_start)
{
	const enum sm_scheme schemes[] = {SM_SCHEME_DYNAMIC, SM_SCHEME_PREPOPULATED};

	for (unsigned i = 0; i < ARRAY_LEN(schemes); i++) {
		struct lab_storm_result r = storm(schemes[i], 40, 10 * PS_PER_MS);

		if (!r.up || r.why[0])
			fail_msg("%s", r.why);
		assert_true(r.v.verified && r.v.lids_unique && !r.refused && !r.rounds);
		assert_int_equal(r.vms.n, 40);
		for (size_t k = 0; k < r.vms.n; k++) {
			const struct lab_storm_vm *v = &r.vms.at[k];

			assert_true(!k || v->asked >= r.vms.at[k - 1].asked);
			assert_true(v->asked < 10 * PS_PER_MS);
			assert_true(v->r.lid_after && v->r.ended > r.from + v->asked);
			assert_true(v->r.ended <= r.from + r.time);
		}
		assert_int_equal(tables(&r) > 0, schemes[i] == SM_SCHEME_DYNAMIC);
		lab_storm_free(&r);
	}
}

/* 40 LIDs are in one or two blocks of each of 6 switches. */
TEST(together_they_share_smps)
{
	struct lab_storm_result apart = storm(SM_SCHEME_DYNAMIC, 40, 100 * PS_PER_MS),
				together = storm(SM_SCHEME_DYNAMIC, 40, 0);

	assert_true(apart.up && together.up);
	assert_true(tables(&together) <= 12);
	assert_true(tables(&apart) > 5 * tables(&together));
	assert_true(together.time < apart.time);
	lab_storm_free(&apart);
	lab_storm_free(&together);
}

TEST(more_vms_than_vfs)
{
	struct lab_storm_result r = storm(SM_SCHEME_DYNAMIC, 65, PS_PER_MS);

	assert_false(r.up);
	assert_string_equal(r.why, "65 VMs, and the manager reaches 64 VFs");
	lab_storm_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_vms_start),
		cmocka_unit_test(together_they_share_smps),
		cmocka_unit_test(more_vms_than_vfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
