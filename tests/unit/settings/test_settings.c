/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of settings: its form, single values, and that JSON and schema have every row.
 * Covers: settings.c, settings_table.c, settings_print.c, settings_schema.c, setting_value.c
 */
#include "unit_test.h"

#include <jansson.h>

#include "settings/settings.h"

static int set(struct settings *s, const char *option, const char *text, struct err *e)
{
	return setting_set(setting_find_option(option), s, text, e);
}

TEST(one_setting_at_a_time)
{
	struct settings c;
	struct err e;

	settings_default(&c);
	assert_int_equal(set(&c, "window", "128", &e), 0);
	assert_int_equal(c.sm.window, 128);
	assert_int_equal(set(&c, "window", "", &e), -EINVAL);
	assert_string_equal(e.text, "expected a number from 1 to 4096; found nothing");
	assert_int_equal(c.sm.window, 128);
	assert_int_equal(set(&c, "roots", "0x12,0x13", &e), 0);
	assert_string_equal(c.roots, "0x0000000000000012\n0x0000000000000013\n");
	assert_int_equal(set(&c, "roots", "0x14,0x", &e), -EINVAL);
	assert_int_equal(set(&c, "roots", "0x14,0", &e), -EINVAL);
	assert_int_equal(set(&c, "roots", "a,,b", &e), -EINVAL);
	assert_string_equal(c.roots, "0x0000000000000012\n0x0000000000000013\n");
	assert_int_equal(set(&c, "roots", "spine 1,0002:c903:0000:1234", &e), 0);
	assert_string_equal(c.roots, "spine 1\n0x0002c90300001234\n");
	assert_int_equal(set(&c, "roots", "", &e), 0);
	assert_string_equal(c.roots, "");
	assert_null(setting_find_option("windw"));
}

/* The later of the two ways to say how often to sweep counts; traps and both are the same. */
TEST(words_that_belong_together)
{
	struct settings c;
	struct err e;

	settings_default_sim(&c);
	assert_int_not_equal(c.sm.sweep_factor, 0);
	assert_int_equal(set(&c, "sweep", "3s", &e), 0);
	assert_int_equal(c.sm.sweep_factor, 0);
	assert_int_equal(set(&c, "sweep-factor", "7", &e), 0);
	assert_int_equal(c.sm.sweep_factor, 7);
	assert_int_equal(set(&c, "detection", "sweeps", &e), 0);
	assert_false(c.sm.mechanism.traps);
	assert_int_equal(set(&c, "detection", "both", &e), 0);
	assert_true(c.sm.mechanism.traps);
	assert_int_equal(set(&c, "detection", "sweep", &e), -EINVAL);
	assert_string_equal(
		e.text, "expected sweeps, traps or both; found 'sweep', did you mean 'sweeps'?");
}

/* Each name once, each sentence without capital and full stop, all of a section together. */
TEST(the_table_is_well_formed)
{
	unsigned n = 0, section = 0;

	for (const struct setting *k = settings_table; k->key; k++, n++) {
		size_t len = strlen(k->help);

		while (strcmp(settings_sections[section].name, k->section))
			assert_non_null(settings_sections[++section].name);
		assert_true(len && k->help[len - 1] != '.');
		assert_true(k->users & SETTING_FOR_SM && k->size && k->option);
		for (const struct setting *l = k + 1; l->key; l++) {
			assert_string_not_equal(k->option, l->option);
			assert_false(!strcmp(k->section, l->section) && !strcmp(k->key, l->key));
		}
	}
	assert_true(n <= SETTINGS_MAX);
}

/* Each key of the table, with a description and, but for parts of the mechanism, its default. */
TEST(schema_has_every_key)
{
	struct strbuf text = {0};
	json_error_t why;
	json_t *schema, *sections;

	settings_schema(&text);
	schema = json_loads(text.s, JSON_REJECT_DUPLICATES, &why);
	assert_non_null(schema);
	sections = json_object_get(schema, "properties");
	for (const struct setting *k = settings_table; k->key; k++) {
		json_t *s = json_object_get(json_object_get(sections, k->section), "properties");
		json_t *key = json_object_get(s, k->key);

		assert_non_null(json_string_value(json_object_get(key, "description")));
		assert_true(json_object_get(key, "type") || json_object_get(key, "enum"));
		assert_true(k->part || json_object_get(key, "default"));
	}
	json_decref(schema);
	strbuf_free(&text);
}

/* Every setting in its section; a list as an array. */
TEST(json_has_every_setting)
{
	struct settings s;
	struct json j = {0};
	json_t *all, *roots;
	struct err e;

	settings_default(&s);
	assert_int_equal(set(&s, "roots", "0x12,0x13", &e), 0);
	assert_int_equal(set(&s, "device", "a \"b\"", &e), 0);
	settings_print_json(&s, &j);
	all = json_loads(j.out.s, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(all);
	for (const struct setting *k = settings_table; k->key; k++)
		assert_non_null(json_object_get(json_object_get(all, k->section), k->key));
	roots = json_object_get(json_object_get(all, "routes"), "roots");
	assert_int_equal(json_array_size(roots), 2);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(all, "transport"), "device")),
		"a \"b\"");
	json_decref(all);
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_setting_at_a_time),
		cmocka_unit_test(words_that_belong_together),
		cmocka_unit_test(the_table_is_well_formed),
		cmocka_unit_test(schema_has_every_key),
		cmocka_unit_test(json_has_every_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
