/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shares and times with units: exact values, and text that is refused. Keeps no state.
 */
#include "unit_test.h"

#include "base/units.h"

TEST(shares_parse_exactly)
{
	static const struct {
		const char *text;
		double v;
	} good[] = {{"0", 0},	 {"1", 1},	   {"0.05", 0.05},  {"5%", 0.05},
		    {"100%", 1}, {"12.5%", 0.125}, {"0.1%", 0.001}, {"0.000000000001", 1e-12},
		    {"1.000", 1}};
	static const char *const bad[] = {"",	 "x",	"1.1",	"101%", "100.1%",
					  "-1",	 ".5",	"5.",	"5 %",	"5%%",
					  "nan", "inf", "1e-3", "0x1",	"99999999999999999999"};
	double v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(parse_share(good[i].text, &v), 0);
		assert_true(v == good[i].v);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_not_equal(parse_share(bad[i], &v), 0);
}

TEST(times_parse_exactly)
{
	static const struct {
		const char *text;
		time_ps v;
	} good[] = {{"0", 0},
		    {"1ps", 1},
		    {"200ns", 200 * PS_PER_NS},
		    {"0.5ns", 500},
		    {"12.5us", 12500 * PS_PER_NS},
		    {"10ms", 10 * PS_PER_MS},
		    {"1.5s", 1500 * PS_PER_MS},
		    {"1.000000000001s", PS_PER_S + 1},
		    {"18446743s", 18446743 * PS_PER_S}};
	static const char *const bad[] = {"",
					  "10",
					  "ms",
					  "1.5ps",
					  "0.0005ns",
					  "1m",
					  "1 ms",
					  "-1s",
					  "1.s",
					  "1sec",
					  "18446745s",
					  "1.0000000000001s",
					  "99999999999999999999ps"};
	time_ps v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(parse_time(good[i].text, &v), 0);
		assert_true(v == good[i].v);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_not_equal(parse_time(bad[i], &v), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_parse_exactly),
		cmocka_unit_test(times_parse_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
