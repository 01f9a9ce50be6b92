/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings as YAML and as JSON. State: none. Ways in: settings_print_yaml(),
 * settings_print_json(). Reads nothing.
 */
#include <ctype.h>

#include "settings/settings.h"

enum { COMMENT_COLUMNS = 98 };

/* ---- YAML ---- */

void setting_sentence(const struct setting *k, struct strbuf *out)
{
	bool word = k->help[strcspn(k->help, " :")] == ':'; /* one to be written as it is */
	char first = k->help[0];

	strbuf_addf(out, "%c%s.", word ? first : toupper((unsigned char)first), k->help + 1);
}

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

static void key_comment(struct strbuf *out, const struct setting *k)
{
	struct strbuf text = {0}, range = {0};

	setting_range(k, &range);
	setting_sentence(k, &text);
	if (range.len || k->start)
		strbuf_addf(&text, " [%s%s%s]", range.len ? range.s : "",
			    range.len && k->start ? "; " : "", k->start ? "at the start only" : "");
	comment(out, "  ", text.s);
	strbuf_free(&text);
	strbuf_free(&range);
}

/* Whether a technique is the mechanism's own: it is then not written, and follows the mechanism. */
static bool is_own(const struct setting *k, const struct settings *c)
{
	struct settings own = *c;
	const struct sm_mechanism *m = sm_mechanism_find(c->sm.mechanism.name);

	if (!k->part || !m)
		return false;
	settings_mechanism(m, &own.sm.mechanism);
	return setting_same(k, c, &own);
}

static void key_print(struct strbuf *out, const struct setting *k, const struct settings *c,
		      bool comments)
{
	struct strbuf value = {0};
	bool own = is_own(k, c);

	if (comments)
		key_comment(out, k);
	setting_text(k, c, &value);
	if (!own || comments)
		strbuf_addf(out, "  %s%s: %s\n", own ? "# " : "", k->key, value.s);
	strbuf_free(&value);
}

void settings_print_yaml(const struct settings *c, bool comments, struct strbuf *out)
{
	settings_print_yaml_with(c, comments, NULL, NULL, out);
}

void settings_print_yaml_with(const struct settings *c, bool comments,
			      void (*more)(void *ctx, const char *section, struct strbuf *out),
			      void *ctx, struct strbuf *out)
{
	for (const struct settings_section *s = settings_sections; s->name; s++) {
		if (comments && s != settings_sections)
			strbuf_add(out, "\n");
		if (comments)
			comment(out, "", s->help);
		strbuf_addf(out, "%s:\n", s->name);
		for (const struct setting *k = settings_table; k->key; k++)
			if (!strcmp(k->section, s->name))
				key_print(out, k, c, comments);
		if (more)
			more(ctx, s->name, out);
	}
}

/* ---- JSON ---- */

static void list_json(struct json *j, const char *name, const uint64_t *v, size_t n)
{
	json_open(j, name, '[');
	for (size_t i = 0; i < n && v[i]; i++)
		json_hex64(j, NULL, v[i]);
	json_close(j);
}

static void texts_json(struct json *j, const char *name, const char *s)
{
	char *copy = mem_strdup(s), *rest = copy;

	json_open(j, name, '[');
	for (char *at; (at = strsep(&rest, "\n")) && *at;)
		json_str(j, NULL, at);
	json_close(j);
	free(copy);
}

void setting_json(const struct setting *k, const struct settings *s, const char *name,
		  struct json *j)
{
	struct strbuf text = {0};

	setting_text(k, s, &text);
	if (k->kind == SETTING_HEXES)
		list_json(j, name, (const void *)((const char *)s + k->at),
			  k->size / sizeof(uint64_t));
	else if (k->kind == SETTING_LIST)
		texts_json(j, name, (const char *)s + k->at);
	else if (k->kind == SETTING_BOOL || k->kind == SETTING_UINT)
		json_raw(j, name, text.s);
	else if (k->kind == SETTING_TEXT) /* as it is, without the quotes of YAML */
		json_str(j, name,
			 !*((const char *)s + k->at) ? k->nothing : (const char *)s + k->at);
	else
		json_str(j, name, text.s);
	strbuf_free(&text);
}

void settings_print_json(const struct settings *c, struct json *j)
{
	json_open(j, NULL, '{');
	for (const struct settings_section *s = settings_sections; s->name; s++) {
		json_open(j, s->name, '{');
		for (const struct setting *k = settings_table; k->key; k++)
			if (!strcmp(k->section, s->name))
				setting_json(k, c, k->key, j);
		json_close(j);
	}
	json_close(j);
}
