/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings, errors, numbers, files and vectors. State: a scratch directory. Does not test a lack of memory.
 * Covers: base.c, vec.h
 */
#include "unit_test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
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

TEST(strbuf_addf_grows_for_long_text)
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

TEST(err_set_returns_the_code_and_truncates_the_text)
{
	char longer[700];
	struct err e;

	assert_int_equal(err_set(&e, -EINVAL, "%s:%d: expected %s", "net.txt", 12, "a port"),
			 -EINVAL);
	assert_string_equal(e.text, "net.txt:12: expected a port");
	assert_int_equal(err_set(NULL, -ENOENT, "ignored"), -ENOENT);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	err_set(&e, -1, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

TEST(parse_u64_takes_the_whole_text)
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

TEST(file_write_replaces_the_file_in_one_step)
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
	/* A new file took the name: the old one, still open, has the old text. */
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

TEST(large_and_empty_files)
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

TEST(file_errors_contain_the_path)
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
	assert_true(file_read(dir, &data, &len, &e) < 0); /* a directory cannot be read */
	assert_true(file_write(dir, "x", 1, &e) < 0);
	assert_int_equal(file_write("/dev/full", "x", 1, &e), -ENOSPC);
	assert_string_equal(e.text, "/dev/full: cannot write: No space left on device");
}

TEST(vectors_grow_and_keep_elements)
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
		cmocka_unit_test(strbuf_addf_grows_for_long_text),
		cmocka_unit_test(err_set_returns_the_code_and_truncates_the_text),
		cmocka_unit_test(parse_u64_takes_the_whole_text),
		cmocka_unit_test(file_write_replaces_the_file_in_one_step),
		cmocka_unit_test(large_and_empty_files),
		cmocka_unit_test(file_errors_contain_the_path),
		cmocka_unit_test(vectors_grow_and_keep_elements),
	};

	return cmocka_run_group_tests_name("base", tests, files_setup, files_teardown);
}
