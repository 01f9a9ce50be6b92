/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A YAML text as a tree with places. State: struct reader, for one text. Way in: yaml_tree_read(). Does not know
 * which keys an experiment has: experiment_read.c does.
 */
#include "yaml/yaml_tree.h"

#include <yaml.h>

/* A look for keys that are given twice reads all keys of the mapping: the limit bounds its time as well. */
enum { DEPTH_MOST = 16, NODES_MOST = 20000 };

struct reader {
	yaml_parser_t parser;
	yaml_event_t ev;
	bool live; /* ev holds an event */
	const char *file;
	struct err *e;
	unsigned nodes;
};

int yaml_fault(struct err *e, const char *file, const struct yaml_node *at, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, -EINVAL, "%s:%u:%u: %s", file, at->line, at->column, text);
}

int yaml_key_fault(struct err *e, const char *file, const struct yaml_node *value, const char *text)
{
	return err_set(e, -EINVAL, "%s:%u:%u: %s", file, value->key_line, value->key_column, text);
}

void yaml_tree_free(struct yaml_node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->keys.n; i++)
		free(n->keys.at[i]);
	for (size_t i = 0; i < n->items.n; i++)
		yaml_tree_free(n->items.at[i]);
	vec_free(&n->keys);
	vec_free(&n->items);
	free(n->text);
	free(n);
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	for (size_t i = 0; i < map->keys.n; i++)
		if (!strcmp(map->keys.at[i], key))
			return map->items.at[i];
	return NULL;
}

const char *yaml_kind_name(const struct yaml_node *n)
{
	switch (n->kind) {
	case YAML_TEXT:
		return "a single value";
	case YAML_LIST:
		return "a list";
	case YAML_MAP:
		return "a mapping";
	}
	return "?";
}

/* ---- events ---- */

static void event_fault(struct reader *r, const char *fmt, const char *what)
{
	char text[300];

	snprintf(text, sizeof(text), fmt, what);
	err_set(r->e, -EINVAL, "%s:%zu:%zu: %s", r->file, r->ev.start_mark.line + 1,
		r->ev.start_mark.column + 1, text);
}

static bool next(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;

	if (r->live)
		yaml_event_delete(&r->ev);
	r->live = yaml_parser_parse(&r->parser, &r->ev);
	if (!r->live)
		err_set(r->e, -EINVAL, "%s:%zu:%zu: not YAML: %s%s%s", r->file,
			p->problem_mark.line + 1, p->problem_mark.column + 1,
			p->problem ? p->problem : "?", p->context ? ", " : "",
			p->context ? p->context : "");
	return r->live;
}

/* Nothing beside the value: no anchor and no tag. */
static bool is_plain(struct reader *r)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	if (r->ev.type == YAML_SCALAR_EVENT) {
		anchor = r->ev.data.scalar.anchor;
		tag = r->ev.data.scalar.tag;
	} else if (r->ev.type == YAML_SEQUENCE_START_EVENT) {
		anchor = r->ev.data.sequence_start.anchor;
		tag = r->ev.data.sequence_start.tag;
	} else if (r->ev.type == YAML_MAPPING_START_EVENT) {
		anchor = r->ev.data.mapping_start.anchor;
		tag = r->ev.data.mapping_start.tag;
	}
	if (anchor)
		event_fault(r, "found an anchor (&%.40s): not supported here",
			    (const char *)anchor);
	if (tag)
		event_fault(r, "found a tag (%.40s): not supported here", (const char *)tag);
	return !anchor && !tag;
}

/* ---- nodes ---- */

static struct yaml_node *node_read(struct reader *r, unsigned depth); /* from the current event */

static struct yaml_node *node_new(struct reader *r, enum yaml_kind kind)
{
	struct yaml_node *n = mem_zalloc(sizeof(*n));

	n->kind = kind;
	n->line = (unsigned)r->ev.start_mark.line + 1;
	n->column = (unsigned)r->ev.start_mark.column + 1;
	return n;
}

static bool has_nul(struct reader *r)
{
	if (strlen((const char *)r->ev.data.scalar.value) == r->ev.data.scalar.length)
		return false;
	event_fault(r, "%s", "found a NUL character in a text");
	return true;
}

static struct yaml_node *text_read(struct reader *r)
{
	const char *s = (const char *)r->ev.data.scalar.value;
	struct yaml_node *n;

	if (has_nul(r))
		return NULL;
	n = node_new(r, YAML_TEXT);
	n->plain = r->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	n->text = mem_strdup(s);
	return n;
}

static struct yaml_node *list_read(struct reader *r, unsigned depth)
{
	struct yaml_node *n = node_new(r, YAML_LIST), *item;

	while (next(r) && r->ev.type != YAML_SEQUENCE_END_EVENT) {
		item = node_read(r, depth + 1);
		if (!item)
			break;
		vec_push(&n->items, item);
	}
	if (r->live && r->ev.type == YAML_SEQUENCE_END_EVENT)
		return n;
	yaml_tree_free(n);
	return NULL;
}

/* The key of the current event, new in n; NULL after a fault. */
static char *key_read(struct reader *r, const struct yaml_node *n)
{
	const char *key = (const char *)r->ev.data.scalar.value;

	if (r->ev.type != YAML_SCALAR_EVENT) {
		event_fault(r, "expected the name of a key, found %s",
			    r->ev.type == YAML_ALIAS_EVENT ? "an alias" : "a list or a mapping");
		return NULL;
	}
	if (has_nul(r))
		return NULL;
	if (!is_plain(r))
		return NULL;
	if (yaml_get(n, key)) {
		event_fault(r, "the key '%.60s' is given twice", key);
		return NULL;
	}
	return mem_strdup(key);
}

static struct yaml_node *map_read(struct reader *r, unsigned depth)
{
	struct yaml_node *n = node_new(r, YAML_MAP), *item;
	yaml_mark_t at;
	char *key;

	while (next(r) && r->ev.type != YAML_MAPPING_END_EVENT) {
		at = r->ev.start_mark;
		key = key_read(r, n);
		item = key && next(r) ? node_read(r, depth + 1) : NULL;
		if (!item) {
			free(key);
			yaml_tree_free(n);
			return NULL;
		}
		item->key_line = (unsigned)at.line + 1;
		item->key_column = (unsigned)at.column + 1;
		vec_push(&n->keys, key);
		vec_push(&n->items, item);
	}
	if (r->live)
		return n;
	yaml_tree_free(n);
	return NULL;
}

static struct yaml_node *node_read(struct reader *r, unsigned depth)
{
	if (depth > DEPTH_MOST || ++r->nodes > NODES_MOST) {
		event_fault(r, "%s", "the text is nested too deeply or has too many values");
		return NULL;
	}
	if (!is_plain(r))
		return NULL;
	if (r->ev.type == YAML_SCALAR_EVENT)
		return text_read(r);
	if (r->ev.type == YAML_SEQUENCE_START_EVENT)
		return list_read(r, depth);
	if (r->ev.type == YAML_MAPPING_START_EVENT)
		return map_read(r, depth);
	event_fault(r, "%s", "found an alias: not supported here");
	return NULL;
}

static struct yaml_node *document_read(struct reader *r)
{
	struct yaml_node *n;

	if (!next(r) || !next(r)) /* the stream, the document */
		return NULL;
	if (r->ev.type != YAML_DOCUMENT_START_EVENT) {
		err_set(r->e, -EINVAL, "%s:1:1: the file is empty", r->file);
		return NULL;
	}
	n = next(r) ? node_read(r, 0) : NULL;
	if (!n || !next(r) || !next(r)) { /* its end, the next one */
		yaml_tree_free(n);
		return NULL;
	}
	if (r->ev.type == YAML_DOCUMENT_START_EVENT) {
		event_fault(r, "%s", "found a second document: expected one in a file");
		yaml_tree_free(n);
		return NULL;
	}
	return n;
}

struct yaml_node *yaml_tree_read(const char *file, const char *text, size_t len, struct err *e)
{
	struct reader r = {.file = file, .e = e};
	struct yaml_node *n;

	if (!yaml_parser_initialize(&r.parser))
		mem_none();
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	n = document_read(&r);
	if (r.live)
		yaml_event_delete(&r.ev);
	yaml_parser_delete(&r.parser);
	return n;
}
