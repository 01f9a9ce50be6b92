/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of schedules: faults do what they say, the checks see what is wrong, a failing schedule shrinks.
 * Covers: schedule_run.c, faults.c, invariants.c, rogue_sm.c, swarm_shrink.c, swarm_trial.c
 */
#include "unit_test.h"

#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"
#include "trial/swarm_trial.h"

#define HEAD "fabric ring 4\nmanager S-0002000000000001 priority 2\nmanager S-0002000000000003\n"

static void read_text(struct schedule *s, const char *text)
{
	struct fab *f;
	struct err e;

	if (schedule_read(s, &f, "test", text, strlen(text), &e))
		fail_msg("%s", e.text);
	fab_free(f);
}

static void expect_fine(const char *text)
{
	struct schedule_result r;
	struct schedule s;

	read_text(&s, text);
	schedule_run(&s, NULL, &r);
	if (r.fault)
		fail_msg("%s: %s\n%s", schedule_fault_name(r.fault), r.why, text);
	assert_true(r.end > 0 && r.smps > 50 && r.phases >> SM_READY & 1);
	schedule_free(&s);
}

TEST(one_manager_survives_what_happens_to_it)
{
	expect_fine(
		"fabric ring 4\nmanager S-0002000000000001\nat 5ms crash 0\nat 9ms restart 0\n"
		"at 30ms pause 0\nat 90ms continue 0\nat 100ms crash 0\nat 101ms restart 0 with-state\n"
		"at 150ms crash 0\nat 151ms restart 0 with-torn-state\n");
	expect_fine("fabric ring 4\nmanager H-0001000000000010\nat 30ms pull 0\nat 90ms plug 0\n");
	expect_fine("fabric ring 4\nmanager H-0001000000000010\nat 50ms cut S-0002000000000002 "
		    "S-0002000000000003\nat 200ms join\n");
	expect_fine(
		"fabric ring 4\nmanager H-0001000000000010\nat 50ms reboot S-0002000000000002 200us\n"
		"at 100ms off S-0002000000000003\nat 100ms loss 10%\nat 200ms on S-0002000000000003\n");
	expect_fine(
		"fabric ring 4\nmanager H-0001000000000010\nat 0s loss 10% S-0002000000000002[1]\n"
		"at 0s latency 50us S-0002000000000002[1]\nat 100ms delay 5%\nat 100ms dup 5%\n");
}

/* A manager on a switch dies with it, and comes back with it. */
TEST(a_manager_dies_with_its_node)
{
	expect_fine("fabric ring 4\nmanager S-0002000000000001\nat 50ms off S-0002000000000001\n"
		    "at 90ms on S-0002000000000001\n");
}

TEST(without_any_manager_one_is_started_in_the_end)
{
	expect_fine(HEAD "at 50ms crash 0\nat 51ms crash 1\n");
}

/* Two managers that never look for each other, where their tables together allow no cycle. */
static void make_deaf(struct schedule *s)
{
	for (size_t i = 0; i < s->managers.n; i++)
		s->managers.at[i].sm.contest = false;
}

TEST(two_masters_are_found)
{
	struct schedule_result r;
	struct schedule s;

	read_text(&s, "fabric mesh 4\nmanager S-0002000000000001 priority 2\n"
		      "manager S-0002000000000003\n");
	make_deaf(&s);
	schedule_run(&s, NULL, &r);
	assert_int_equal(r.fault, SCHEDULE_TWO_MASTERS);
	assert_true(r.masters >= SCHEDULE_MASTERS_BOUND);
	schedule_free(&s);
}

/* Two parts of a row of four switches; the ends have managers, which see the joint in a sweep only. */
#define PARTS                                                                                      \
	"fabric mesh 4\ntraps off\n"                                                               \
	"manager S-0002000000000001 mechanism improved sweep 1200ms own-port 50ms\n"               \
	"manager S-0002000000000004 mechanism improved sweep 1200ms own-port 50ms\n"
#define PARTS_CUT                                                                                  \
	"cut S-0002000000000001 S-0002000000000002 H-0001000000000010 H-0001000000000014\n"

static void expect_two_masters(struct schedule *s, time_ps from, time_ps until)
{
	struct schedule_result r;

	schedule_run(s, NULL, &r);
	assert_int_equal(r.fault, SCHEDULE_TWO_MASTERS);
	assert_in_range(r.end, from, until);
	schedule_free(s);
}

TEST(masters_that_do_not_know_each_other_have_until_the_next_sweep)
{
	expect_fine(PARTS "at 0s " PARTS_CUT "at 1500ms join\n");
}

/* Whether they sweep and learn nothing, or do not sweep at all. */
TEST(masters_that_do_not_learn_of_each_other_are_found)
{
	struct schedule s;

	read_text(&s, PARTS "at 0s " PARTS_CUT "at 1500ms join\n");
	make_deaf(&s);
	expect_two_masters(&s, 2400 * PS_PER_MS + SCHEDULE_MASTERS_BOUND,
			   2700 * PS_PER_MS + SCHEDULE_MASTERS_BOUND);
	read_text(&s, PARTS "at 0s " PARTS_CUT "at 1500ms join\n");
	make_deaf(&s);
	s.managers.at[0].sm.sweep_period_ps = s.managers.at[1].sm.sweep_period_ps = 0;
	expect_two_masters(&s, 1500 * PS_PER_MS + SCHEDULE_MASTERS_BOUND,
			   1600 * PS_PER_MS + SCHEDULE_MASTERS_BOUND);
}

/* They met before the cut, and could ask each other: the time counts from the joining, sweep or not. */
TEST(masters_that_know_each_other_do_not_have_until_the_next_sweep)
{
	struct schedule s;

	read_text(&s, PARTS "at 600ms " PARTS_CUT "at 1250ms join\n");
	s.managers.at[0].sm.own_port_ps = s.managers.at[1].sm.own_port_ps = 0;
	expect_two_masters(&s, 1250 * PS_PER_MS + SCHEDULE_MASTERS_BOUND,
			   1350 * PS_PER_MS + SCHEDULE_MASTERS_BOUND);
}

/* One of them is at another port now: only a sweep shows where. */
TEST(masters_of_which_one_was_moved_have_until_the_next_sweep)
{
	expect_fine(
		"fabric irregular 3 ports 6 seed 1057825595\n"
		"without 0x0001000000000014 0x0001000000000010 0x0002000000000001\n"
		"traps off\n"
		"manager 0x0001000000000018 mechanism improved+partial sweep 1023ms own-port 50ms\n"
		"manager 0x0002000000000003 sweep 1020ms own-port 50ms\n"
		"at 170ms cut 0x0002000000000002\n"
		"at 180ms move 0 0x0002000000000002[4]\n"
		"at 260ms join\n");
}

/* Another switch than those that they knew connects them now: only a sweep shows it. */
TEST(masters_that_a_new_switch_connects_have_until_the_next_sweep)
{
	expect_fine("fabric ring 6 seed 2349903044\n"
		    "without 0x0001000000000024 0x000100000000001c 0x0001000000000018 "
		    "0x0001000000000014\n"
		    "seed 186000958\ntraps off\n"
		    "manager 0x0001000000000020 mechanism improved+partial sweep 1040ms "
		    "own-port 50ms\n"
		    "manager 0x0001000000000010 sweep 1026ms own-port 50ms\n"
		    "at 0s cut 0x0002000000000004\n"
		    "at 350ms unlink 0x0002000000000006[3]\n"
		    "at 560ms join\n");
}

/* Managers with other keys are strangers: the check does not concern them. */
TEST(masters_that_cannot_reach_each_other_are_allowed)
{
	struct schedule_result r;
	struct schedule s;

	read_text(&s, "fabric mesh 2 2\nmanager S-0002000000000001\nmanager S-0002000000000004\n"
		      "at 0s cut S-0002000000000001 S-0002000000000002 H-0001000000000010 "
		      "H-0001000000000014\n");
	make_deaf(&s);
	schedule_run(&s, NULL, &r);
	if (r.fault)
		fail_msg("%s", r.why);
	schedule_free(&s);
}

/* The LID of a host changes behind the manager's back: no sweep asks for it. */
static void spoil(void *ctx, struct lab *l, const char *text)
{
	const struct fab *f = lab_fabric(l);
	port_id p = fab_port_id(f, fab_node_by_guid(f, 0x0001000000000010), 1);

	(void)ctx;
	if (strstr(text, "at rest"))
		((struct iba_port_info *)sim_port_info(lab_sim(l), p))->lid += 100;
}

TEST(a_wrong_subnet_is_found)
{
	struct schedule_story story = {.say = spoil};
	struct schedule_result r;
	struct schedule s;

	read_text(&s, "fabric ring 4\nmanager S-0002000000000001\n");
	schedule_run(&s, &story, &r);
	assert_int_equal(r.fault, SCHEDULE_WRONG_SUBNET);
	schedule_free(&s);
}

/* What does not matter to the failure is removed. */
TEST(a_failing_schedule_shrinks)
{
	struct schedule_result r;
	struct schedule s;

	read_text(&s,
		  "fabric mesh 3 2\nmanager S-0002000000000001 priority 2 lmc 1\n"
		  "manager S-0002000000000003 window 32\nmanager S-0002000000000005 priority 7\n"
		  "at 20ms unlink S-0002000000000001[1]\nat 30ms relink S-0002000000000001[1]\n"
		  "at 32ms reboot S-0002000000000004\nat 40ms loss 1%\nat 50ms loss 0%\n");
	make_deaf(&s);
	swarm_shrink(&s, SCHEDULE_TWO_MASTERS, NULL, NULL);
	assert_int_equal(s.events.n, 0);
	assert_int_equal(s.managers.n, 2);
	assert_int_equal(s.managers.at[0].sm.lmc, 0);
	assert_true(s.without.n >= 6);
	schedule_run(&s, NULL, &r);
	assert_int_equal(r.fault, SCHEDULE_TWO_MASTERS);
	schedule_free(&s);
}

/* A manager without looks between sweeps would fail for another reason. */
TEST(shrinking_keeps_looks_between_sweeps)
{
	struct schedule s;

	read_text(&s,
		  "fabric mesh 4\nmanager S-0002000000000001 priority 2 own-port 50ms window 32\n"
		  "manager S-0002000000000003 own-port 40ms\n");
	make_deaf(&s);
	swarm_shrink(&s, SCHEDULE_TWO_MASTERS, NULL, NULL);
	assert_int_equal(s.managers.n, 2);
	assert_int_equal(s.managers.at[0].sm.priority, 0);
	assert_int_equal(s.managers.at[0].sm.own_port_ps, 50 * PS_PER_MS);
	assert_int_equal(s.managers.at[1].sm.own_port_ps, 40 * PS_PER_MS);
	schedule_free(&s);
}

TEST(a_seed_gives_one_run)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct schedule_result a, b;

		swarm_trial_run(seed, &(struct swarm_managers){.most = 4}, &a);
		swarm_trial_run(seed, &(struct swarm_managers){.most = 4}, &b);
		assert_int_equal(a.hash, b.hash);
		assert_int_equal(a.fault, b.fault);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_manager_survives_what_happens_to_it),
		cmocka_unit_test(a_manager_dies_with_its_node),
		cmocka_unit_test(without_any_manager_one_is_started_in_the_end),
		cmocka_unit_test(two_masters_are_found),
		cmocka_unit_test(masters_that_do_not_know_each_other_have_until_the_next_sweep),
		cmocka_unit_test(masters_that_do_not_learn_of_each_other_are_found),
		cmocka_unit_test(masters_that_know_each_other_do_not_have_until_the_next_sweep),
		cmocka_unit_test(masters_of_which_one_was_moved_have_until_the_next_sweep),
		cmocka_unit_test(masters_that_a_new_switch_connects_have_until_the_next_sweep),
		cmocka_unit_test(masters_that_cannot_reach_each_other_are_allowed),
		cmocka_unit_test(a_wrong_subnet_is_found),
		cmocka_unit_test(a_failing_schedule_shrinks),
		cmocka_unit_test(shrinking_keeps_looks_between_sweeps),
		cmocka_unit_test(a_seed_gives_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
