/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches for rare branches: without the build option a seed changes nothing; with it the run differs, repeats, and ends
 * as well. State: none.
 */
#include "unit_test.h"

#include "trial/schedule_run.h"

static void run(uint64_t provoke, struct schedule_result *r)
{
	static const char text[] =
		"fabric ring 5\nmanager S-0002000000000001\n"
		"manager S-0002000000000004 priority 2\n"
		"at 40ms reboot S-0002000000000002\nat 90ms crash 1\nat 300ms restart 1 with-state\n";
	struct schedule s;
	struct fab *f;
	struct err e;

	assert_int_equal(schedule_read(&s, &f, "test", text, sizeof(text) - 1, &e), 0);
	for (size_t i = 0; i < s.managers.n; i++)
		s.managers.at[i].sm.provoke = provoke;
	schedule_run(&s, NULL, r);
	if (r->fault)
		fail_msg("%s", r->why);
	fab_free(f);
	schedule_free(&s);
}

TEST(a_seed_takes_rare_branches_in_builds_that_have_them)
{
	struct schedule_result none, once, twice;
	unsigned differ = 0;

	run(0, &none);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		run(seed, &once);
		run(seed, &twice);
		assert_int_equal(once.hash, twice.hash);
		differ += once.hash != none.hash;
	}
	assert_true(sm_can_provoke() ? differ > 0 : differ == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_takes_rare_branches_in_builds_that_have_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
