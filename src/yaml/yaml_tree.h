/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A YAML text as a tree with the place of every node: scalars, lists and mappings, no anchors, aliases or tags,
 * no key twice in a mapping. Depth and size are limited, so no text can exhaust memory. The caller owns the tree.
 */
#ifndef WEFT_YAML_TREE_H
#define WEFT_YAML_TREE_H

#include "base/vec.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	unsigned line, column;	       /* from 1 */
	unsigned key_line, key_column; /* of its key, in a mapping */
	char *text;		       /* of a scalar */
	bool plain;		       /* a scalar without quotes */
	VEC(char *) keys;	       /* of a mapping, parallel to `at` */
	struct {
		struct yaml_node **at;
		size_t n, cap;
	} items;
};

/* A fault is "FILE:LINE:COLUMN: what, expected what". NULL with e set. */
struct yaml_node *yaml_tree_read(const char *file, const char *text, size_t len, struct err *e);
void yaml_tree_free(struct yaml_node *n);

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL: absent */
const char *yaml_kind_name(const struct yaml_node *n);				/* "a list" */
/* Writes "FILE:LINE:COLUMN: text" and returns -EINVAL. */
int yaml_fault(struct err *e, const char *file, const struct yaml_node *at, const char *fmt, ...)
	PRINTF(4, 5);
/* The same about the key that the node is the value of. */
int yaml_key_fault(struct err *e, const char *file, const struct yaml_node *value,
		   const char *text);

#endif
