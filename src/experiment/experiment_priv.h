/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that read an experiment share: tables of keys, and readers of single values. Every reader returns
 * 0, or -EINVAL with a fault by file, line and column.
 */
#ifndef WEFT_EXPERIMENT_PRIV_H
#define WEFT_EXPERIMENT_PRIV_H

#include "experiment/experiment.h"
#include "yaml/yaml_tree.h"

struct exp_reader {
	struct experiment *x;
	struct err *e;
};

struct exp_key {
	const char *name;
	int (*read)(struct exp_reader *r, const struct yaml_node *n, void *into);
	size_t offset; /* of what is read, in the struct that the table is for */
	bool must;
};

/* The keys of a mapping in the order of the table, so that the order in the file has no effect. */
int exp_keys_read(struct exp_reader *r, const struct yaml_node *n, const struct exp_key *keys,
		  const char *what, void *into);
int exp_fault(struct exp_reader *r, const struct yaml_node *at, const char *fmt, ...) PRINTF(3, 4);
/* About the key that the node is the value of. */
int exp_key_fault(struct exp_reader *r, const struct yaml_node *value, const char *fmt, ...)
	PRINTF(3, 4);

int exp_text_read(struct exp_reader *r, const struct yaml_node *n, void *into);	  /* char * */
int exp_bool_read(struct exp_reader *r, const struct yaml_node *n, void *into);	  /* bool */
int exp_number_read(struct exp_reader *r, const struct yaml_node *n, void *into); /* double; 10% */
int exp_where_read(struct exp_reader *r, const struct yaml_node *n,
		   void *into); /* experiment_where */
/* The key of a mapping names no parameter. */
int exp_param_unknown(struct exp_reader *r, const struct yaml_node *value, const char *name);
int exp_param_read(struct exp_reader *r, const struct yaml_node *n, void *into);  /* int */
int exp_result_read(struct exp_reader *r, const struct yaml_node *n, void *into); /* unsigned */
int exp_expr_read(struct exp_reader *r, const struct yaml_node *n, struct expr **into);
void exp_where_any(struct experiment_where *w);
bool exp_is_word(const char *s); /* letters, digits and _, a letter first */

/* Keys that are readers of their own. */
int exp_params_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_texts_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_fabrics_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_quick_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_seeds_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_tables_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_plots_read(struct exp_reader *r, const struct yaml_node *n, void *into);
int exp_trends_read(struct exp_reader *r, const struct yaml_node *n, void *into);

void experiment_texts_free(struct experiment *x);

/* A path beside the experiment's file; free it. */
char *exp_beside(const struct experiment *x, const char *name);

#endif
