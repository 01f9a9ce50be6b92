/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings from YAML: values are collected first and applied in the order of the table, so that
 * the order in the file has no effect. State: struct reader, for one text. Way in: cfg_read(). Does
 * not open files: config.c does.
 */
#include <yaml.h>

#include "base/spelling.h"
#include "run/config_priv.h"

enum { FAULTS_MOST = 100 };

struct place {
	unsigned line, column;
};

struct given { /* what the file says about one key */
	VEC(char *) texts;
	struct place at; /* of its value */
	bool there;
};

struct reader {
	yaml_parser_t parser;
	yaml_event_t ev;
	bool live;   /* ev holds an event */
	bool broken; /* reading ends here */
	cfg_faults *faults;
	bool lists; /* there are some */
	struct given given[SETTINGS_MAX];
};

/* ---- faults ---- */

static void fault(struct reader *r, struct place at, const char *fmt, ...) PRINTF(3, 4);

static void fault(struct reader *r, struct place at, const char *fmt, ...)
{
	char text[480];
	va_list ap;

	if (r->broken) /* further faults only follow from it */
		return;
	r->broken = r->faults->n + 1 == FAULTS_MOST;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	vec_push(r->faults, (struct cfg_fault){at.line, at.column, mem_strdup(text)});
}

static int fault_order(const void *a, const void *b)
{
	const struct cfg_fault *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

void cfg_fault_text(const char *file, const struct cfg_fault *f, struct strbuf *out)
{
	if (f->line)
		strbuf_addf(out, "%s:%u:%u: %s", file, f->line, f->column, f->text);
	else
		strbuf_addf(out, "%s: %s", file, f->text);
}

void cfg_faults_free(cfg_faults *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].text);
	vec_free(f);
}

/* ---- events ---- */

static struct place place_of(yaml_mark_t m)
{
	return (struct place){(unsigned)m.line + 1, (unsigned)m.column + 1};
}

static struct place here(const struct reader *r)
{
	return place_of(r->ev.start_mark);
}

static void syntax_fault(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct place at = place_of(p->problem_mark);

	if (p->error == YAML_READER_ERROR)
		fault(r, (struct place){0}, "not UTF-8 text: %s at byte %zu",
		      p->problem ? p->problem : "?", p->problem_offset);
	else if (p->context)
		fault(r, at, "not YAML: %s, %s (line %zu)", p->problem ? p->problem : "?",
		      p->context, p->context_mark.line + 1);
	else
		fault(r, at, "not YAML: %s", p->problem ? p->problem : "?");
	r->broken = true;
}

/* The next event; YAML_NO_EVENT after a fault that ends reading. */
static yaml_event_type_t next(struct reader *r)
{
	if (r->live)
		yaml_event_delete(&r->ev);
	r->live = false;
	if (r->broken)
		return YAML_NO_EVENT;
	if (!yaml_parser_parse(&r->parser, &r->ev)) {
		syntax_fault(r);
		return YAML_NO_EVENT;
	}
	r->live = true;
	return r->ev.type;
}

static yaml_event_type_t now(const struct reader *r)
{
	return r->live ? r->ev.type : YAML_NO_EVENT;
}

/* Report what the current node has beside its value, and ignore it. */
static void plain_only(struct reader *r)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (now(r) == YAML_ALIAS_EVENT) {
		fault(r, here(r), "found an alias (*%s): not supported here",
		      (char *)r->ev.data.alias.anchor);
		return;
	}
	if (now(r) == YAML_SCALAR_EVENT) {
		anchor = r->ev.data.scalar.anchor;
		tag = r->ev.data.scalar.tag;
	} else if (now(r) == YAML_SEQUENCE_START_EVENT) {
		anchor = r->ev.data.sequence_start.anchor;
		tag = r->ev.data.sequence_start.tag;
	} else if (now(r) == YAML_MAPPING_START_EVENT) {
		anchor = r->ev.data.mapping_start.anchor;
		tag = r->ev.data.mapping_start.tag;
	}
	if (anchor)
		fault(r, here(r), "found an anchor (&%s): not supported here",
		      (const char *)anchor);
	if (tag)
		fault(r, here(r), "found a tag (%s): not supported here", (const char *)tag);
}

/* Skips to the last event of the node that begins with the current one. */
static void node_skip(struct reader *r)
{
	unsigned depth = 0;

	for (;;) {
		yaml_event_type_t t = now(r);

		depth += t == YAML_SEQUENCE_START_EVENT || t == YAML_MAPPING_START_EVENT;
		depth -= t == YAML_SEQUENCE_END_EVENT || t == YAML_MAPPING_END_EVENT;
		if (!depth || t == YAML_NO_EVENT)
			return;
		next(r);
	}
}

static const char *node_name(const struct reader *r)
{
	return now(r) == YAML_SEQUENCE_START_EVENT  ? "a list"
	       : now(r) == YAML_MAPPING_START_EVENT ? "a mapping"
						    : "an alias";
}

/* `key:` without a value. */
static bool is_nothing(const struct reader *r)
{
	return now(r) == YAML_SCALAR_EVENT && r->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       !r->ev.data.scalar.length;
}

/* The current scalar, or NULL after a fault; free it. */
static char *scalar_take(struct reader *r)
{
	const char *s = (const char *)r->ev.data.scalar.value;

	plain_only(r);
	if (strlen(s) == r->ev.data.scalar.length)
		return mem_strdup(s);
	fault(r, here(r), "found a NUL character in a text");
	return NULL;
}

/* The key of a mapping's next pair; NULL at its end, or after a fault. */
static char *key_take(struct reader *r)
{
	char *name;

	for (;;) {
		next(r);
		if (now(r) == YAML_MAPPING_END_EVENT || now(r) == YAML_NO_EVENT)
			return NULL;
		if (now(r) == YAML_SCALAR_EVENT) {
			name = scalar_take(r);
			if (name)
				return name;
		} else {
			fault(r, here(r), "expected the name of a key, found %s", node_name(r));
			node_skip(r);
		}
		next(r);
		node_skip(r);
	}
}

/* ---- values ---- */

static void list_take(struct reader *r, struct given *g)
{
	plain_only(r);
	while (next(r) != YAML_SEQUENCE_END_EVENT && now(r) != YAML_NO_EVENT) {
		char *text = NULL;

		if (now(r) == YAML_SCALAR_EVENT) {
			text = scalar_take(r);
		} else {
			fault(r, here(r), "expected a value in the list, found %s", node_name(r));
			node_skip(r);
		}
		if (text)
			vec_push(&g->texts, text);
	}
}

static void value_take(struct reader *r, const struct setting *k)
{
	struct given *g = &r->given[k - settings_table];
	struct strbuf want = {0};
	char *text;

	g->at = here(r);
	if (now(r) == YAML_SEQUENCE_START_EVENT && setting_is_list(k)) {
		list_take(r, g);
		g->there = true;
	} else if (now(r) == YAML_SCALAR_EVENT) {
		text = scalar_take(r);
		if (text) {
			vec_push(&g->texts, text);
			g->there = true;
		}
	} else if (now(r) == YAML_ALIAS_EVENT) {
		plain_only(r);
	} else {
		setting_expects(k, &want);
		fault(r, here(r), "%s.%s: expected %s; found %s", k->section, k->key, want.s,
		      node_name(r));
		strbuf_free(&want);
		node_skip(r);
	}
}

static void key_unknown(struct reader *r, const char *section, const char *name, struct place at)
{
	struct spelling near = {.word = name};

	for (const struct setting *k = settings_table; k->key; k++) {
		if (!strcmp(k->section, section)) {
			spelling_offer(&near, k->key, k->key);
		} else if (!strcmp(k->key, name)) {
			fault(r, at, "'%.40s' is a key of %s, not of %s", name, k->section,
			      section);
			return;
		}
	}
	fault(r, at, "unknown key '%.40s' in %s%s%s%s", name, section,
	      near.best ? ", did you mean '" : "", near.best ? near.best : "",
	      near.best ? "'?" : "");
}

static void key_read(struct reader *r, const char *section, const char *name)
{
	const struct setting *k = setting_find(section, name);
	const struct given *g = k ? &r->given[k - settings_table] : NULL;
	struct place at = here(r);

	if (settings_is_list(section, name))
		r->lists = true;
	else if (!k)
		key_unknown(r, section, name, at);
	else if (g->at.line)
		fault(r, at, "%s.%s is given twice; first in line %u", section, name, g->at.line);
	next(r);
	if (k && !g->at.line)
		value_take(r, k);
	else
		node_skip(r);
}

/* ---- sections ---- */

static void section_unknown(struct reader *r, const char *name, struct place at)
{
	struct spelling near = {.word = name};

	for (const struct setting *k = settings_table; k->key; k++)
		if (!strcmp(k->key, name)) {
			fault(r, at, "'%.40s' is a key of %s: write it below '%s:'", name,
			      k->section, k->section);
			return;
		}
	for (const struct settings_section *s = settings_sections; s->name; s++)
		spelling_offer(&near, s->name, s->name);
	fault(r, at, "unknown section '%.40s'%s%s%s", name, near.best ? ", did you mean '" : "",
	      near.best ? near.best : "", near.best ? "'?" : "");
}

static void section_read(struct reader *r, const char *section)
{
	char *name;

	if (is_nothing(r)) {
		plain_only(r);
		return;
	}
	if (now(r) != YAML_MAPPING_START_EVENT) {
		fault(r, here(r), "%s: expected keys and their values, found %s", section,
		      now(r) == YAML_SCALAR_EVENT ? "a single value" : node_name(r));
		node_skip(r);
		return;
	}
	plain_only(r);
	while ((name = key_take(r))) {
		key_read(r, section, name);
		free(name);
	}
}

static void sections_read(struct reader *r)
{
	unsigned seen[32] = {0}; /* lines */
	char *name;

	plain_only(r);
	while ((name = key_take(r))) {
		struct place at = here(r);
		unsigned i = 0;

		while (settings_sections[i].name && strcmp(settings_sections[i].name, name))
			i++;
		assert(i < ARRAY_LEN(seen));
		next(r);
		if (!settings_sections[i].name)
			section_unknown(r, name, at);
		else if (seen[i])
			fault(r, at, "section %s is given twice; first in line %u", name, seen[i]);
		if (!settings_sections[i].name || seen[i])
			node_skip(r);
		else
			section_read(r, settings_sections[i].name);
		seen[i] = seen[i] ? seen[i] : at.line;
		free(name);
	}
}

static void document_read(struct reader *r)
{
	next(r); /* the stream begins */
	if (next(r) != YAML_DOCUMENT_START_EVENT)
		return; /* an empty file, or not YAML */
	next(r);
	if (now(r) == YAML_MAPPING_START_EVENT)
		sections_read(r);
	else if (is_nothing(r))
		plain_only(r);
	else if (r->live)
		fault(r, here(r), "expected sections such as 'manager:', found %s",
		      now(r) == YAML_SCALAR_EVENT ? "a single value" : node_name(r));
	while (now(r) != YAML_DOCUMENT_END_EVENT && now(r) != YAML_NO_EVENT)
		next(r);
	if (next(r) == YAML_DOCUMENT_START_EVENT)
		fault(r, here(r), "found a second document: expected one in a file");
}

/* ---- applying ---- */

static void key_check(struct reader *r, const struct cfg_source *from, const struct setting *k,
		      const struct settings *c)
{
	const struct given *g = &r->given[k - settings_table];
	struct err e;

	if (from->keys_only && !k->secret)
		fault(r, g->at,
		      "%s.%s: expected keys only: keys.m_key, keys.former or election.sm_key",
		      k->section, k->key);
	else if (from->exposed && setting_is_key(k, c))
		fault(r, g->at,
		      "%s.%s: a key in a file that others may read (%s): expected mode 0600 or "
		      "stricter, and an owner that is this user or root; or a file of its own "
		      "(keys.file)",
		      k->section, k->key, from->exposed);
	else if (k->at == offsetof(struct settings, metrics_address) && run_config_values(c, &e))
		fault(r, g->at, "%s", e.text);
	else if (from->places && cfg_place_check(k, c, &e))
		fault(r, g->at, "%s", e.text);
}

static void values_apply(struct reader *r, const struct cfg_source *from, struct settings *c)
{
	for (unsigned i = 0; settings_table[i].key; i++) {
		struct given *g = &r->given[i];
		struct err e;

		if (g->there &&
		    setting_set_list(&settings_table[i], c, g->texts.at, (unsigned)g->texts.n, &e))
			fault(r, g->at, "%s.%s: %s", settings_table[i].section,
			      settings_table[i].key, e.text);
		else if (g->there)
			key_check(r, from, &settings_table[i], c);
	}
}

static void together_check(struct reader *r, const struct settings *c)
{
	const struct setting *k = NULL;
	struct place at = {0};
	struct err e;

	if (!settings_check(c, &k, &e))
		return;
	for (unsigned i = 0; settings_table[i].key;
	     i++) /* the key itself, or another of its section */
		if (r->given[i].there && (!at.line || &settings_table[i] == k) &&
		    !strcmp(settings_table[i].section, k->section))
			at = r->given[i].at;
	fault(r, at, "%s", e.text);
}

static void reader_free(struct reader *r)
{
	if (r->live)
		yaml_event_delete(&r->ev);
	yaml_parser_delete(&r->parser);
	for (unsigned i = 0; i < SETTINGS_MAX; i++) {
		for (size_t j = 0; j < r->given[i].texts.n; j++)
			free(r->given[i].texts.at[j]);
		vec_free(&r->given[i].texts);
	}
	free(r);
}

void cfg_read(const char *text, size_t len, const struct cfg_source *from, struct settings *c,
	      cfg_faults *faults)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	struct settings wanted = *c;

	r->faults = faults;
	if (!yaml_parser_initialize(&r->parser))
		mem_none();
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	document_read(r);
	values_apply(r, from, &wanted);
	if (from->lists)
		*from->lists = r->lists;
	if (!faults->n && !from->keys_only && !*wanted.keys_file) /* else: when all is read */
		together_check(r, &wanted);
	reader_free(r);
	if (faults->n)
		qsort(faults->at, faults->n, sizeof(faults->at[0]), fault_order);
	else
		*c = wanted;
}
