/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fat-tree model: the paper's own tables, and counts by its equations for trees of 8-, 16- and 24-port switches.
 */
#include "unit_test.h"

#include "experiment/fattree_model.h"

#include <math.h>

static struct fattree_model model(unsigned m, unsigned n)
{
	struct fattree_model f;
	struct err e;

	assert_int_equal(fattree_model(m, n, 2048, &fattree_table1, &f, &e), 0);
	return f;
}

/* Equal to so many digits as the paper prints. */
static void rounds_to(double v, double printed, double digit)
{
	assert_true(fabs(v - printed) <= digit / 2);
}

TEST(table_1_is_met)
{
	struct fattree_model f = model(8, 1);

	rounds_to(f.td_ms, 10.6, 0.1);
	rounds_to(f.pc_ms, 81.3, 0.1);
	rounds_to(f.pd_ms, 0.36, 0.01);
	for (unsigned i = 0; i < FATTREE_READINGS; i++) {
		rounds_to(f.readings[i].td_ms, 10.6, 0.1);
		rounds_to(f.readings[i].pd_ms, 0.36, 0.01);
	}
}

/*
 * Path computation is the paper's. Its discovery time (21.6) follows if the one switch is counted with one Set, as its
 * section 4 says, and the six with two each, as its equation 7 says, from 10.55 ms, which rounds to 10.6. Its
 * distribution time (2.24) is 6.2 times that of one switch, where equation 10 makes six of it: no reading gives it.
 */
TEST(table_2_is_met_as_far_as_the_equations_give_it)
{
	struct fattree_model f = model(4, 2);

	assert_int_equal(f.switches, 6);
	assert_int_equal(f.hosts, 8);
	rounds_to(f.pc_ms, 81.3, 0.1);
	rounds_to(f.td_ms, 21.2, 0.1);
	assert_true(fabs(f.td_ms / 21.6 - 1) < 0.02);
	rounds_to(10.55 * (double)(f.get + f.set_port_info + f.set_lft) / 41, 21.6, 0.1);
	rounds_to(f.pd_ms, 2.16, 0.01);
	assert_true(fabs(f.pd_ms / 2.24 - 1) < 0.04);
}

/* Computed by hand from the formulas: m, n, hosts, switches, Get, Set(PortInfo), S by equations 7 and 10. */
static const uint64_t trees[][8] = {
	{8, 1, 8, 1, 32, 8, 2, 1},
	{8, 2, 32, 12, 256, 32, 2, 1},
	{8, 3, 128, 80, 1536, 128, 2, 1},
	{8, 4, 512, 448, 8192, 512, 2, 1},
	{8, 5, 2048, 2304, 40960, 2048, 4, 3},
	{8, 6, 8192, 11264, 196608, 8192, 13, 12},
	{16, 1, 16, 1, 64, 16, 2, 1},
	{16, 2, 128, 24, 1024, 128, 2, 1},
	{16, 3, 1024, 320, 12288, 1024, 3, 2},
	{16, 4, 8192, 3584, 131072, 8192, 13, 12},
	{24, 1, 24, 1, 96, 24, 2, 1},
	{24, 2, 288, 36, 2304, 288, 2, 1},
	{24, 3, 3456, 720, 41472, 3456, 7, 6},
};

TEST(counts_follow_the_equations)
{
	for (unsigned i = 0; i < ARRAY_LEN(trees); i++) {
		const uint64_t *t = trees[i];
		struct fattree_model f = model((unsigned)t[0], (unsigned)t[1]);

		assert_int_equal(f.hosts, t[2]);
		assert_int_equal(f.switches, t[3]);
		assert_int_equal(f.get, t[4]);
		assert_int_equal(f.get_node_info, t[4] / 2);
		assert_int_equal(f.get_port_info, t[4] / 2);
		assert_int_equal(f.set_port_info, t[5]);
		assert_int_equal(f.readings[0].s, t[6]);
		assert_int_equal(f.readings[1].s, t[7]);
		assert_int_equal(f.set_lft, t[3] * t[6]);
		assert_int_equal(f.readings[1].set_lft, t[3] * t[7]);
		/* LIDs from 1 to hosts + switches, 64 a block, block 0 included */
		assert_int_equal(f.readings[2].s, (t[2] + t[3]) / 64 + 1);
		rounds_to(f.pc_ms, 81.3 / 8 * (double)t[2], 1e-6);
	}
}

/* The paper saves 22 % and 24 % with 16-port switches at 8,192 hosts; its own formulas save 47 % and 68 %. */
TEST(what_wide_switches_save_by_the_formulas)
{
	struct fattree_model narrow = model(8, 6), wide = model(16, 4);

	rounds_to(1 - wide.td_ms / narrow.td_ms, 0.47, 0.01);
	rounds_to(1 - wide.pd_ms / narrow.pd_ms, 0.68, 0.01);
}

TEST(times_scale_with_those_of_one_switch)
{
	const struct fattree_times twice = {2 * 10.6, 2 * 81.3, 2 * 0.36};
	struct fattree_model one = model(16, 3), two;
	struct err e;

	assert_int_equal(fattree_model(16, 3, 2048, &twice, &two, &e), 0);
	rounds_to(two.td_ms, 2 * one.td_ms, 1e-6);
	rounds_to(two.pc_ms, 2 * one.pc_ms, 1e-6);
	rounds_to(two.pd_ms, 2 * one.pd_ms, 1e-6);
}

TEST(a_smaller_mtu_takes_more_sets)
{
	struct fattree_model f;
	struct err e;

	assert_int_equal(fattree_model(16, 3, 256, &fattree_table1, &f, &e), 0);
	assert_int_equal(f.readings[1].s, 12); /* 3072 / 256 */
	assert_int_equal(f.readings[0].s, 13);
	assert_int_equal(f.readings[2].s, 22); /* blocks do not depend on it */
}

TEST(sizes_beyond_reason_are_refused)
{
	struct fattree_model f;
	struct err e;

	assert_int_equal(fattree_model(7, 1, 2048, &fattree_table1, &f, &e), -EINVAL);
	assert_string_equal(e.text, "expected an even number of ports and at least one level");
	assert_int_equal(fattree_model(0, 1, 2048, &fattree_table1, &f, &e), -EINVAL);
	assert_int_equal(fattree_model(8, 0, 2048, &fattree_table1, &f, &e), -EINVAL);
	assert_int_equal(fattree_model(8, 1, 0, &fattree_table1, &f, &e), -EINVAL);
	assert_int_equal(fattree_model(254, 20, 2048, &fattree_table1, &f, &e), -ERANGE);
	assert_string_equal(e.text, "a 254-port 20-tree has more than 100000000 hosts");
}

/* One reading for all: the distribution then takes as many Sets as are counted. */
TEST(all_by_one_reading)
{
	struct fattree_model f = model(16, 4);

	fattree_model_read(&f, "blocks");
	assert_int_equal(f.set_lft, f.readings[2].set_lft);
	assert_true(f.td_ms == f.readings[2].td_ms && f.pd_ms == f.readings[2].pd_ms);
	fattree_model_read(&f, "eq7");
	assert_int_equal(f.set_lft, f.readings[0].set_lft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_1_is_met),
		cmocka_unit_test(all_by_one_reading),
		cmocka_unit_test(table_2_is_met_as_far_as_the_equations_give_it),
		cmocka_unit_test(counts_follow_the_equations),
		cmocka_unit_test(what_wide_switches_save_by_the_formulas),
		cmocka_unit_test(times_scale_with_those_of_one_switch),
		cmocka_unit_test(a_smaller_mtu_takes_more_sets),
		cmocka_unit_test(sizes_beyond_reason_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
