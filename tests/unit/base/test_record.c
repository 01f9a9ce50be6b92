/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records: values in a sentence and as JSON, parts that are left out, names from devices.
 */
#include "unit_test.h"

#include "base/record.h"

static const struct record_value values[] = {
	{.key = "why", .type = RECORD_TEXT, .s = "a\nb"},
	{.key = "none", .type = RECORD_TEXT},
	{.key = "n", .type = RECORD_COUNT, .u = 7},
	{.key = "guid", .type = RECORD_GUID, .u = 0x18},
	{.key = "status", .type = RECORD_HEX, .u = 0x1c},
	{.key = "took", .type = RECORD_MICROSECONDS, .u = 6543},
	{.key = "from", .type = RECORD_LID, .u = 5},
	{.key = "how", .type = RECORD_TEXT, .text_only = true, .s = "in words"},
	{.key = "node", .type = RECORD_DEVICE, .a = {"leaf0", 1, 7}},
	{0},
};

static const struct record_value link[] = {
	{.key = "link", .type = RECORD_LINK, .a = {"leaf0", 1, 7}, .b = {NULL, 2, 12}},
	{0},
};

static const struct record_value behind[] = {
	{.key = "node", .type = RECORD_BEHIND, .a = {"", 3, 1}},
	{0},
};

static void reads(const char *text, const struct record_value *v, const char *want)
{
	struct strbuf out = {0};

	record_text(text, v, &out);
	record_guids(v, &out);
	assert_string_equal(out.s, want);
	strbuf_free(&out);
}

TEST(sentences)
{
	static const struct record_value nothing[] = {{0}};

	reads("nothing[ but {why}]", nothing, "nothing");
	reads("{why}, {n}, {guid}, {status}, {took}, {from}, {how}", values,
	      "a\\x0ab, 7, 0x0000000000000018, 0x001c, 6.5 ms, LID 5, in words"
	      " (GUID 0x0000000000000001)");
	reads("at {node}[; not {none}][; but {how}]", values,
	      "at leaf0 port 7; but in words (GUID 0x0000000000000001)");
	reads("{link} went down", link,
	      "leaf0 port 7 <-> 0x0000000000000002 port 12 went down (GUID 0x0000000000000001)");
	reads("from {node}", behind, "from the device behind 0x0000000000000003 port 1");
	reads("{unclosed [and", values, "{unclosed [and (GUID 0x0000000000000001)");
}

TEST(json_keys)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	record_json(&j, values);
	record_json(&j, link);
	json_close(&j);
	assert_string_equal(j.out.s,
			    "{\"why\":\"a\\u000ab\",\"n\":7,\"guid\":\"0x0000000000000018\","
			    "\"status\":\"0x001c\",\"took\":6543,\"lid\":5,"
			    "\"node\":\"0x0000000000000001\",\"name\":\"leaf0\",\"port\":7,"
			    "\"a\":{\"name\":\"leaf0\",\"guid\":\"0x0000000000000001\",\"port\":7},"
			    "\"b\":{\"name\":\"\",\"guid\":\"0x0000000000000002\",\"port\":12}}");
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test(json_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
