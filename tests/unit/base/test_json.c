/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON writer: layout, numbers, escapes. Keeps no state.
 */
#include "unit_test.h"

#include <math.h>

#include "base/json.h"

TEST(commas_and_indent)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "max", UINT64_MAX);
	json_i64(&j, "min", INT64_MIN);
	json_hex64(&j, "guid", 0x2c903);
	json_bool(&j, "yes", true);
	json_none(&j, "nothing");
	json_fixed(&j, "share", 12345, 3);
	json_seconds(&j, "time", 1500 * PS_PER_MS);
	json_double(&j, "wall", 0.5);
	json_double(&j, "none", (double)NAN);
	json_open(&j, "empty", '[');
	json_close(&j);
	json_open(&j, "list", '[');
	json_u64(&j, NULL, 1);
	json_open(&j, NULL, '{');
	json_close(&j);
	json_raw(&j, NULL, "[2]");
	json_close(&j);
	json_bool(&j, "last", false);
	json_close(&j);
	assert_string_equal(j.out.s, "{\n"
				     "  \"max\": 18446744073709551615,\n"
				     "  \"min\": -9223372036854775808,\n"
				     "  \"guid\": \"0x000000000002c903\",\n"
				     "  \"yes\": true,\n"
				     "  \"nothing\": null,\n"
				     "  \"share\": 12.345,\n"
				     "  \"time\": 1.500000000000,\n"
				     "  \"wall\": 0.5,\n"
				     "  \"none\": null,\n"
				     "  \"empty\": [],\n"
				     "  \"list\": [\n"
				     "    1,\n"
				     "    {},\n"
				     "    [2]\n"
				     "  ],\n"
				     "  \"last\": false\n"
				     "}\n");
	json_free(&j);
}

TEST(everything_on_one_line)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_bool(&j, "ok", true);
	json_open(&j, "list", '[');
	json_u64(&j, NULL, 1);
	json_str(&j, NULL, "a b");
	json_close(&j);
	json_open(&j, "empty", '{');
	json_close(&j);
	json_close(&j);
	assert_string_equal(j.out.s, "{\"ok\":true,\"list\":[1,\"a b\"],\"empty\":{}}");
	json_free(&j);
}

TEST(strings_are_written_as_ascii)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_str(&j, "k\"ey", "a\"b\\c\n\t\x01\x7f\xe9\xc3\xa9");
	json_close(&j);
	assert_string_equal(j.out.s,
			    "{\n  \"k\\\"ey\": "
			    "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u007f\\u00e9\xc3\xa9\"\n}\n");
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_indent),
		cmocka_unit_test(everything_on_one_line),
		cmocka_unit_test(strings_are_written_as_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
