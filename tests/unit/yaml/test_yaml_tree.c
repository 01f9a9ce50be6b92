/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * YAML as a tree: places of values and keys, what is refused, limits.
 */
#include "unit_test.h"

#include "yaml/yaml_tree.h"

static struct yaml_node *read_text(const char *text, struct err *e)
{
	return yaml_tree_read("f.yaml", text, strlen(text), e);
}

static const char *fault_of(const char *text)
{
	static struct err e;
	struct yaml_node *n = read_text(text, &e);

	assert_null(n);
	return e.text;
}

TEST(values_know_their_places)
{
	struct err e;
	struct yaml_node *n = read_text("a: 1\nb:\n  - x\n  - {c: \"two words\"}\n", &e);
	const struct yaml_node *b = yaml_get(n, "b"), *c;

	assert_non_null(b);
	assert_int_equal(n->kind, YAML_MAP);
	assert_int_equal(yaml_get(n, "a")->line, 1);
	assert_int_equal(yaml_get(n, "a")->column, 4);
	assert_true(yaml_get(n, "a")->plain);
	assert_int_equal(b->kind, YAML_LIST);
	assert_int_equal(b->line, 3);
	assert_int_equal(b->key_line, 2); /* the key is not where its value is */
	assert_int_equal(b->key_column, 1);
	assert_int_equal(b->items.n, 2);
	assert_string_equal(b->items.at[0]->text, "x");
	c = yaml_get(b->items.at[1], "c");
	assert_string_equal(c->text, "two words");
	assert_int_equal(c->line, 4);
	assert_int_equal(c->column, 9);
	assert_int_equal(c->key_column, 6);
	assert_false(c->plain);
	assert_null(yaml_get(n, "d"));
	yaml_tree_free(n);
}

TEST(kinds_have_names)
{
	struct err e;
	struct yaml_node *n = read_text("[a, {}]", &e);

	assert_string_equal(yaml_kind_name(n), "a list");
	assert_string_equal(yaml_kind_name(n->items.at[0]), "a single value");
	assert_string_equal(yaml_kind_name(n->items.at[1]), "a mapping");
	assert_int_equal(yaml_fault(&e, "g", n->items.at[0], "odd %d", 7), -EINVAL);
	assert_string_equal(e.text, "g:1:2: odd 7");
	yaml_tree_free(n);
}

TEST(what_experiments_do_not_need_is_refused)
{
	assert_string_equal(fault_of("a: 1\na: 2\n"), "f.yaml:2:1: the key 'a' is given twice");
	assert_string_equal(fault_of("a: &x 1\nb: 2\n"),
			    "f.yaml:1:4: found an anchor (&x): not supported here");
	assert_string_equal(fault_of("a: *x\n"), "f.yaml:1:4: found an alias: not supported here");
	assert_string_equal(fault_of("*x : 1\n"),
			    "f.yaml:1:1: expected the name of a key, found an alias");
	assert_string_equal(fault_of("a: !!str 1\n"),
			    "f.yaml:1:4: found a tag (tag:yaml.org,2002:str): not supported here");
	assert_string_equal(fault_of("[a]: 1\n"),
			    "f.yaml:1:1: expected the name of a key, found a list or a mapping");
	assert_string_equal(fault_of("a: 1\n---\nb: 1\n"),
			    "f.yaml:2:1: found a second document: expected one in a file");
}

TEST(an_empty_text_is_refused)
{
	assert_string_equal(fault_of(""), "f.yaml:1:1: the file is empty");
	assert_string_equal(fault_of("# only a remark\n"), "f.yaml:1:1: the file is empty");
}

TEST(faults_of_yaml_itself_have_a_place)
{
	assert_non_null(strstr(fault_of("a: [1, 2\nb: 3\n"), "f.yaml:2:2: not YAML: "));
	assert_non_null(strstr(fault_of("a: 1\n\tb: 2\n"), "f.yaml:2:1: not YAML: "));
	assert_non_null(strstr(fault_of("a: 'x\n"), "not YAML: "));
	assert_non_null(strstr(fault_of("a: \x01\n"), "not YAML: "));
	assert_non_null(strstr(fault_of("\xff\xfe\xff"), "not YAML: "));
}

/* "a\0b" as a C string is "a": a key would hide what follows. */
TEST(nul_characters_are_refused)
{
	assert_string_equal(fault_of("a: \"x\\0y\"\n"),
			    "f.yaml:1:4: found a NUL character in a text");
	assert_string_equal(fault_of("\"a\\0b\": 1\n"),
			    "f.yaml:1:1: found a NUL character in a text");
}

TEST(depth_is_limited)
{
	struct strbuf b = {0};
	struct yaml_node *n;
	struct err e;

	for (int i = 0; i < 17; i++)
		strbuf_add(&b, "[");
	for (int i = 0; i < 17; i++)
		strbuf_add(&b, "]");
	n = read_text(b.s, &e); /* depths 0 to 16 */
	assert_non_null(n);
	yaml_tree_free(n);
	b.len = 0;
	for (int i = 0; i < 5000; i++)
		strbuf_add(&b, "[");
	assert_string_equal(fault_of(b.s),
			    "f.yaml:1:18: the text is nested too deeply or has too many values");
	strbuf_free(&b);
}

TEST(the_number_of_values_is_limited)
{
	struct strbuf b = {0};

	strbuf_add(&b, "[");
	for (int i = 0; i < 30000; i++)
		strbuf_add(&b, "1,\n");
	strbuf_add(&b, "]");
	assert_string_equal(fault_of(b.s),
			    "f.yaml:20000:1: the text is nested too deeply or has too many values");
	strbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_know_their_places),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(what_experiments_do_not_need_is_refused),
		cmocka_unit_test(an_empty_text_is_refused),
		cmocka_unit_test(faults_of_yaml_itself_have_a_place),
		cmocka_unit_test(nul_characters_are_refused),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(the_number_of_values_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
