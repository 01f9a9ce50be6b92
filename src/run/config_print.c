/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration as YAML and as a JSON Schema. State: none. Ways in: run_config_print(),
 * run_config_schema(). Reads nothing.
 */
#include "run/config_priv.h"

enum { COMMENT_COLUMNS = 98 };

/* ---- YAML ---- */

static void comment(struct strbuf *out, const char *indent, const char *text)
{
	size_t column = 0;

	for (size_t word; *text; text += word + (text[word] == ' ')) {
		word = strcspn(text, " ");
		if (column && column + 1 + word > COMMENT_COLUMNS) {
			strbuf_add(out, "\n");
			column = 0;
		}
		if (!column) {
			strbuf_addf(out, "%s#", indent);
			column = strlen(indent) + 1;
		}
		strbuf_add(out, " ");
		strbuf_addn(out, text, word);
		column += 1 + word;
	}
	strbuf_add(out, "\n");
}

static void key_comment(struct strbuf *out, const struct cfg_key *k)
{
	struct strbuf text = {0}, range = {0};

	cfg_range(k, &range);
	strbuf_add(&text, k->help);
	if (range.len || k->start)
		strbuf_addf(&text, " [%s%s%s]", range.len ? range.s : "",
			    range.len && k->start ? "; " : "", k->start ? "at the start only" : "");
	comment(out, "  ", text.s);
	strbuf_free(&text);
	strbuf_free(&range);
}

/* A technique that is the mechanism's own is not written down: it follows the mechanism. */
static bool is_own(const struct cfg_key *k, const struct run_config *c)
{
	struct run_config own = *c;
	const struct sm_mechanism *m = sm_mechanism_find(c->sm.mechanism.name);

	if (!k->part || !m)
		return false;
	own.sm.mechanism = *m;
	return cfg_value_same(k, c, &own);
}

static void key_print(struct strbuf *out, const struct cfg_key *k, const struct run_config *c,
		      bool comments)
{
	struct strbuf value = {0};
	bool own = is_own(k, c);

	if (comments)
		key_comment(out, k);
	cfg_value_text(k, c, &value);
	if (!own || comments)
		strbuf_addf(out, "  %s%s: %s\n", own ? "# " : "", k->name, value.s);
	strbuf_free(&value);
}

void run_config_print(const struct run_config *c, bool comments, struct strbuf *out)
{
	for (const struct cfg_section *s = cfg_sections; s->name; s++) {
		if (comments && s != cfg_sections)
			strbuf_add(out, "\n");
		if (comments)
			comment(out, "", s->help);
		strbuf_addf(out, "%s:\n", s->name);
		for (const struct cfg_key *k = cfg_keys; k->name; k++)
			if (!strcmp(k->section, s->name))
				key_print(out, k, c, comments);
	}
}

/* ---- JSON Schema ---- */

static void schema_choices(struct json *j, const struct cfg_key *k)
{
	const char *c;

	json_open(j, "enum", '[');
	for (unsigned i = 0; (c = cfg_choice(k, i)); i++)
		json_str(j, NULL, c);
	json_close(j);
}

/* YAML readers make numbers of what looks like one. */
static void schema_text_or_number(struct json *j, const char *pattern)
{
	json_open(j, "type", '[');
	json_str(j, NULL, "string");
	json_str(j, NULL, "integer");
	json_close(j);
	json_str(j, "pattern", pattern);
}

static void schema_list(struct json *j, const struct cfg_key *k)
{
	json_str(j, "type", "array");
	json_u64(j, "maxItems", k->size / sizeof(uint64_t));
	json_open(j, "items", '{');
	schema_text_or_number(
		j, "^(0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{16}|[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$");
	json_close(j);
}

static void schema_type(struct json *j, const struct cfg_key *k)
{
	switch (k->kind) {
	case CFG_BOOL:
		json_str(j, "type", "boolean");
		return;
	case CFG_UINT:
		json_str(j, "type", "integer");
		json_u64(j, "minimum", k->min);
		json_u64(j, "maximum", k->max);
		return;
	case CFG_BYTES:
		schema_text_or_number(j, "^[0-9]+(KiB|MiB|GiB)?$");
		return;
	case CFG_TIME:
		schema_text_or_number(j, "^(0|[0-9]+(\\.[0-9]+)?(ps|ns|us|ms|s))$");
		return;
	case CFG_MODE:
		schema_text_or_number(j, "^[0-7]{1,5}$");
		return;
	case CFG_TEXT:
		json_str(j, "type", "string");
		if (k->choices)
			schema_choices(j, k);
		json_u64(j, "minLength", 1);
		json_u64(j, "maxLength", k->size - 1);
		return;
	case CFG_CHOICE:
	case CFG_ROW:
		schema_choices(j, k);
		return;
	case CFG_HEX:
		schema_text_or_number(
			j,
			"^(0|0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{16}|[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3})$");
		return;
	case CFG_HEXES:
		schema_list(j, k);
		return;
	}
}

static void schema_default(struct json *j, const struct cfg_key *k, const struct run_config *c)
{
	struct strbuf text = {0};

	cfg_value_text(k, c, &text);
	if (k->kind == CFG_BOOL || k->kind == CFG_UINT || k->kind == CFG_HEXES)
		json_raw(j, "default", text.s);
	else
		json_str(j, "default", text.s);
	strbuf_free(&text);
}

static void schema_key(struct json *j, const struct cfg_key *k, const struct run_config *c)
{
	json_open(j, k->name, '{');
	json_str(j, "description", k->help);
	schema_type(j, k);
	if (!k->part)
		schema_default(j, k, c);
	json_close(j);
}

static void schema_section(struct json *j, const struct cfg_section *s, const struct run_config *c)
{
	json_open(j, s->name, '{');
	json_str(j, "description", s->help);
	json_open(j, "type", '[');
	json_str(j, NULL, "object");
	json_str(j, NULL, "null");
	json_close(j);
	json_bool(j, "additionalProperties", false);
	json_open(j, "properties", '{');
	for (const struct cfg_key *k = cfg_keys; k->name; k++)
		if (!strcmp(k->section, s->name))
			schema_key(j, k, c);
	json_close(j);
	json_close(j);
}

void run_config_schema(struct strbuf *out)
{
	struct json j = {0};
	struct run_config c;

	run_config_default(&c);
	json_open(&j, NULL, '{');
	json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_str(&j, "title", "Configuration of weft sm");
	json_str(&j, "type", "object");
	json_bool(&j, "additionalProperties", false);
	json_open(&j, "properties", '{');
	for (const struct cfg_section *s = cfg_sections; s->name; s++)
		schema_section(&j, s, &c);
	json_close(&j);
	json_close(&j);
	strbuf_addn(out, j.out.s, j.out.len);
	json_free(&j);
}
