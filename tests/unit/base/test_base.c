/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The helpers that everything stands on: strings, errors, files, the map, random streams, JSON.
 * Keeps no state but a scratch directory; run as a program. Does not test running out of memory.
 */
#include "unit_test.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/json.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"

TEST(strbuf_grows_and_stays_terminated)
{
	struct strbuf b = {0};

	strbuf_add(&b, "");
	assert_string_equal(b.s, "");
	for (int i = 0; i < 1000; i++) {
		strbuf_addf(&b, "%d,", i % 10);
		assert_int_equal(b.len, 2 * (i + 1));
		assert_int_equal(strlen(b.s), b.len);
	}
	assert_memory_equal(b.s + 1990, "5,6,7,8,9,", 11);
	strbuf_addn(&b, "a\0b", 3); /* bytes, not a C string */
	assert_int_equal(b.len, 2003);
	assert_memory_equal(b.s + 2000, "a\0b", 4);
	strbuf_free(&b);
	assert_null(b.s);
	assert_int_equal(b.len, 0);
}

TEST(strbuf_addf_takes_text_longer_than_its_first_guess)
{
	struct strbuf b = {0};
	char *want;

	for (int n = 60; n < 400; n += 17) { /* around every growth */
		strbuf_addf(&b, "%0*d", n, 7);
		assert_int_equal(asprintf(&want, "%0*d", n, 7), n);
		assert_string_equal(b.s + b.len - (size_t)n, want);
		free(want);
	}
	strbuf_free(&b);
}

TEST(errors_carry_a_code_and_a_cut_text)
{
	char longer[700];
	struct err e;

	assert_int_equal(err_set(&e, -EINVAL, "%s:%d: expected %s", "net.txt", 12, "a port"),
			 -EINVAL);
	assert_string_equal(e.text, "net.txt:12: expected a port");
	assert_int_equal(err_set(NULL, -ENOENT, "nobody reads this"), -ENOENT);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	err_set(&e, -1, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

TEST(numbers_are_read_whole_or_not_at_all)
{
	static const struct {
		const char *s;
		int rc;
		uint64_t v;
	} cases[] = {
		{"0", 0, 0},
		{"42", 0, 42},
		{"007", 0, 7}, /* decimal, not octal */
		{"0x2A", 0, 42},
		{"0Xff", 0, 255},
		{"18446744073709551615", 0, UINT64_MAX},
		{"0xffffffffffffffff", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"0x10000000000000000", -ERANGE, 0},
		{"", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"0x", -EINVAL, 0},
		{"0xg", -EINVAL, 0},
		{"12a", -EINVAL, 0},
		{"ff", -EINVAL, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t v = 99;

		assert_int_equal(parse_u64(cases[i].s, &v), cases[i].rc);
		if (!cases[i].rc)
			assert_true(v == cases[i].v);
	}
}

/* ---- map64 against a list ---- */

#define KEYS 512

/* Few keys, many operations: every slot is taken, freed and taken again. */
TEST(map_agrees_with_a_plain_array)
{
	static uint32_t want[KEYS];
	struct map64 m = {0};
	struct rng r;
	uint32_t n = 0;

	rng_seed(&r, 1, 1);
	memset(want, 0xff, sizeof(want));
	assert_int_equal(map64_get(&m, 5), MAP_NONE); /* empty, no memory yet */
	map64_del(&m, 5);
	for (int i = 0; i < 60000; i++) {
		/* The share of puts swings, so that the map fills and drains. */
		uint32_t k = rng_below(&r, KEYS), puts = i / 10000 % 2 ? 3 : 7;
		uint64_t key = (uint64_t)k * 0x100000001ull;

		if (rng_below(&r, 10) < puts) {
			n += want[k] == MAP_NONE;
			want[k] = rng_below(&r, 1000);
			map64_put(&m, key, want[k]);
		} else {
			n -= want[k] != MAP_NONE;
			want[k] = MAP_NONE;
			map64_del(&m, key);
		}
		assert_int_equal(m.n, n);
		k = rng_below(&r, KEYS);
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), want[k]);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), want[k]);
	map64_clear(&m);
	assert_int_equal(m.n, 0);
	for (uint32_t k = 0; k < KEYS; k++)
		assert_int_equal(map64_get(&m, (uint64_t)k * 0x100000001ull), MAP_NONE);
	map64_free(&m);
}

/* Keys 0 and all ones are keys like any other. */
TEST(map_has_no_forbidden_key)
{
	struct map64 m = {0};

	map64_put(&m, 0, 0);
	map64_put(&m, UINT64_MAX, MAP_NONE - 1);
	assert_int_equal(map64_get(&m, 0), 0);
	assert_int_equal(map64_get(&m, UINT64_MAX), MAP_NONE - 1);
	map64_del(&m, 0);
	assert_int_equal(map64_get(&m, 0), MAP_NONE);
	assert_int_equal(map64_get(&m, UINT64_MAX), MAP_NONE - 1);
	map64_free(&m);
}

/* ---- random streams ---- */

/* The expected words come from a separate implementation of the published algorithms. A change
 * here changes the result of every seeded run. */
TEST(streams_are_the_same_everywhere)
{
	static const struct {
		uint64_t seed, stream, want[4];
	} cases[] = {
		{0,
		 0,
		 {0xfc72158253f7415e, 0x1fdd9141b20d58b1, 0x01e47fb3be09449e, 0xefdef2f9f678bc62}},
		{1,
		 0,
		 {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
		{1,
		 1,
		 {0xabc868451bd580dc, 0x3dd06cbdfc7e8a0c, 0x676314fccd1691b1, 0xd52c01da966103bd}},
		{42,
		 7,
		 {0xc9f6aa62aae562d1, 0x2aae73a94de7bc66, 0x9b2627d66ce7331d, 0x985697e2bed2c9b3}},
	};
	static const uint32_t below[] = {90, 45, 46, 10, 75, 55, 9, 35};
	struct rng r;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rng_seed(&r, cases[i].seed, cases[i].stream);
		for (int k = 0; k < 4; k++)
			assert_true(rng_u64(&r) == cases[i].want[k]);
	}
	rng_seed(&r, 42, 7);
	for (size_t i = 0; i < ARRAY_LEN(below); i++)
		assert_int_equal(rng_below(&r, 100), below[i]);
	assert_true(hash64(1) == 0x5692161d100b05e5);
	assert_true(hash64_add(hash64_add(0, 1), 2) != hash64_add(hash64_add(0, 2), 1));
}

TEST(draws_stay_below_their_bound_and_reach_every_value)
{
	unsigned hits[7] = {0};
	struct rng r;

	rng_seed(&r, 3, 0);
	for (int i = 0; i < 7000; i++)
		hits[rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(hits[i], 850, 1150);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(rng_below(&r, 1), 0);
		assert_true(rng_below(&r, UINT32_MAX) < UINT32_MAX);
	}
}

TEST(chance_follows_its_share)
{
	struct rng r;
	int hits = 0;

	assert_true(prob_q32(0) == 0 && prob_q32(-1) == 0);
	assert_true(prob_q32(1) == 1ull << 32 && prob_q32(2) == 1ull << 32);
	assert_true(prob_q32(0.25) == 1ull << 30);
	rng_seed(&r, 5, 5);
	for (int i = 0; i < 10000; i++)
		hits += rng_chance(&r, prob_q32(0.25));
	assert_int_equal(hits, 2479); /* from the separate implementation, too */
	for (int i = 0; i < 1000; i++) {
		assert_true(rng_chance(&r, prob_q32(1)));
		assert_false(rng_chance(&r, prob_q32(0)));
	}
}

/* ---- JSON ---- */

TEST(json_keeps_commas_and_indent)
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

TEST(json_on_one_line)
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

TEST(json_strings_are_ascii_whatever_goes_in)
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

/* ---- files ---- */

static char dir[] = "/tmp/weft-test-XXXXXX";
static char path[64];

static int files_setup(void **state UNUSED)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	return 0;
}

static int files_teardown(void **state UNUSED)
{
	unlink(path);
	return rmdir(dir); /* fails when a temporary file was left */
}

static unsigned files_in_dir(void)
{
	unsigned n = 0;
	DIR *d = opendir(dir);
	struct dirent *ent;

	assert_non_null(d);
	while ((ent = readdir(d)))
		n += ent->d_name[0] != '.';
	closedir(d);
	return n;
}

TEST(files_are_replaced_whole)
{
	struct stat before, after;
	char *data;
	size_t len;
	struct err e;
	FILE *old;
	char seen[16] = "";

	assert_int_equal(file_write(path, "first\0text", 10, &e), 0);
	assert_int_equal(stat(path, &before), 0);
	old = fopen(path, "r");
	assert_non_null(old);
	assert_int_equal(file_write(path, "second", 6, &e), 0);
	assert_int_equal(stat(path, &after), 0);
	/* A new file took the name: who had the old one open still reads the old text. */
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(fread(seen, 1, sizeof(seen), old), 10);
	assert_memory_equal(seen, "first\0text", 10);
	fclose(old);
	assert_int_equal(file_read(path, &data, &len, &e), 0);
	assert_int_equal(len, 6);
	assert_string_equal(data, "second");
	free(data);
	assert_int_equal(files_in_dir(), 1);
}

TEST(large_and_empty_files_come_back)
{
	size_t n = 200001, len;
	char *big = mem_alloc(n), *data;
	struct err e;

	memset(big, 'q', n);
	assert_int_equal(file_write(path, big, n, &e), 0);
	assert_int_equal(file_read(path, &data, &len, &e), 0);
	assert_int_equal(len, n);
	assert_memory_equal(data, big, n);
	assert_int_equal(data[n], 0);
	free(data);
	free(big);
	assert_int_equal(file_write(path, "", 0, &e), 0);
	assert_int_equal(file_read(path, &data, &len, &e), 0);
	assert_int_equal(len, 0);
	assert_string_equal(data, "");
	free(data);
}

TEST(file_errors_name_the_file)
{
	char bad[96], want[192];
	struct err e;
	char *data;
	size_t len;

	snprintf(bad, sizeof(bad), "%s/no/such", dir);
	assert_int_equal(file_read(bad, &data, &len, &e), -ENOENT);
	snprintf(want, sizeof(want), "%s: No such file or directory", bad);
	assert_string_equal(e.text, want);
	assert_int_equal(file_write(bad, "x", 1, &e), -ENOENT);
	snprintf(want, sizeof(want), "%s: cannot write: No such file or directory", bad);
	assert_string_equal(e.text, want);
	assert_true(file_read(dir, &data, &len, &e) < 0); /* a directory is no text */
	assert_true(file_write(dir, "x", 1, &e) < 0);
	assert_int_equal(file_write("/dev/full", "x", 1, &e), -ENOSPC);
	assert_string_equal(e.text, "/dev/full: cannot write: No space left on device");
}

TEST(vectors_grow)
{
	VEC(int) v = {0};

	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v.at[i], i);
	vec_free(&v);
	assert_int_equal(v.n, 0);
	assert_null(v.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strbuf_grows_and_stays_terminated),
		cmocka_unit_test(strbuf_addf_takes_text_longer_than_its_first_guess),
		cmocka_unit_test(errors_carry_a_code_and_a_cut_text),
		cmocka_unit_test(numbers_are_read_whole_or_not_at_all),
		cmocka_unit_test(map_agrees_with_a_plain_array),
		cmocka_unit_test(map_has_no_forbidden_key),
		cmocka_unit_test(streams_are_the_same_everywhere),
		cmocka_unit_test(draws_stay_below_their_bound_and_reach_every_value),
		cmocka_unit_test(chance_follows_its_share),
		cmocka_unit_test(json_keeps_commas_and_indent),
		cmocka_unit_test(json_on_one_line),
		cmocka_unit_test(json_strings_are_ascii_whatever_goes_in),
		cmocka_unit_test(files_are_replaced_whole),
		cmocka_unit_test(large_and_empty_files_come_back),
		cmocka_unit_test(file_errors_name_the_file),
		cmocka_unit_test(vectors_grow),
	};

	return cmocka_run_group_tests_name("base", tests, files_setup, files_teardown);
}
