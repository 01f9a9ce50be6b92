/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The JSON Schema of the settings. State: none. Way in: settings_schema(). Checks nothing itself.
 */
#include "settings/settings.h"

static void schema_choices(struct json *j, const struct setting *k)
{
	const char *c;

	json_open(j, "enum", '[');
	for (unsigned i = 0; (c = setting_choice(k, i)); i++)
		json_str(j, NULL, c);
	json_close(j);
}

/* YAML readers turn text that looks like a number into one. */
static void schema_text_or_number(struct json *j, const char *pattern)
{
	json_open(j, "type", '[');
	json_str(j, NULL, "string");
	json_str(j, NULL, "integer");
	json_close(j);
	json_str(j, "pattern", pattern);
}

static void schema_list(struct json *j, const struct setting *k)
{
	json_str(j, "type", "array");
	json_u64(j, "maxItems", k->size / sizeof(uint64_t));
	json_open(j, "items", '{');
	schema_text_or_number(
		j, "^(0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{16}|[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$");
	json_close(j);
}

/* One value stands for a list of one. */
static void schema_texts(struct json *j)
{
	json_open(j, "type", '[');
	json_str(j, NULL, "array");
	json_str(j, NULL, "string");
	json_str(j, NULL, "integer");
	json_close(j);
	json_open(j, "items", '{');
	json_open(j, "type", '[');
	json_str(j, NULL, "string");
	json_str(j, NULL, "integer");
	json_close(j);
	json_close(j);
}

static void schema_text(struct json *j, const struct setting *k)
{
	json_str(j, "type", "string");
	if (k->choices)
		schema_choices(j, k);
	json_u64(j, "minLength", 1);
	json_u64(j, "maxLength", k->size - 1);
}

static void schema_type(struct json *j, const struct setting *k)
{
	switch (k->kind) {
	case SETTING_BOOL:
		json_str(j, "type", "boolean");
		return;
	case SETTING_UINT:
		json_str(j, "type", "integer");
		json_u64(j, "minimum", k->min);
		json_u64(j, "maximum", k->max);
		return;
	case SETTING_BYTES:
		schema_text_or_number(j, "^[0-9]+(KiB|MiB|GiB)?$");
		return;
	case SETTING_TIME:
		schema_text_or_number(j, "^(0|[0-9]+(\\.[0-9]+)?(ps|ns|us|ms|s))$");
		return;
	case SETTING_MODE:
		schema_text_or_number(j, "^[0-7]{1,5}$");
		return;
	case SETTING_TEXT:
		schema_text(j, k);
		return;
	case SETTING_CHOICE:
	case SETTING_ROW:
		schema_choices(j, k);
		return;
	case SETTING_HEX:
		schema_text_or_number(
			j,
			"^(0|0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{16}|[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$");
		return;
	case SETTING_LIST:
		schema_texts(j);
		return;
	case SETTING_HEXES:
		schema_list(j, k);
		return;
	}
}

static void schema_key(struct json *j, const struct setting *k, const struct settings *c)
{
	struct strbuf help = {0};

	json_open(j, k->key, '{');
	setting_sentence(k, &help);
	json_str(j, "description", help.s);
	strbuf_free(&help);
	schema_type(j, k);
	if (!k->part)
		setting_json(k, c, "default", j);
	json_close(j);
}

static void schema_section(struct json *j, const struct settings_section *s,
			   const struct settings *c)
{
	json_open(j, s->name, '{');
	json_str(j, "description", s->help);
	json_open(j, "type", '[');
	json_str(j, NULL, "object");
	json_str(j, NULL, "null");
	json_close(j);
	json_bool(j, "additionalProperties", false);
	json_open(j, "properties", '{');
	for (const struct setting *k = settings_table; k->key; k++)
		if (!strcmp(k->section, s->name))
			schema_key(j, k, c);
	for (const struct settings_list *l = settings_lists; l->key; l++)
		if (!strcmp(l->section, s->name)) {
			bool map = !strcmp(l->key, "classes");

			json_open(j, l->key, '{');
			json_str(j, "description", l->help);
			json_str(j, "type", map ? "object" : "array");
			if (!map) {
				json_open(j, "items", '{');
				json_str(j, "type", "object");
				json_close(j);
			}
			json_close(j);
		}
	json_close(j);
	json_close(j);
}

void settings_schema(struct strbuf *out)
{
	struct json j = {0};
	struct settings c;

	settings_default(&c);
	json_open(&j, NULL, '{');
	json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_str(&j, "title", "Configuration of weft sm");
	json_str(&j, "type", "object");
	json_bool(&j, "additionalProperties", false);
	json_open(&j, "properties", '{');
	for (const struct settings_section *s = settings_sections; s->name; s++)
		schema_section(&j, s, &c);
	json_close(&j);
	json_close(&j);
	strbuf_addn(out, j.out.s, j.out.len);
	json_free(&j);
}
