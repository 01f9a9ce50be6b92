/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What config.c and config_read.c share: faults of a configuration, by line and column.
 */
#ifndef WEFT_CONFIG_PRIV_H
#define WEFT_CONFIG_PRIV_H

#include "run/run.h"

struct cfg_fault {
	unsigned line, column; /* from 1; 0: the whole file */
	char *text;
};
typedef VEC(struct cfg_fault) cfg_faults;

/* What may be in a text. */
struct cfg_source {
	const char *exposed; /* why it may not hold keys: "its mode is 0644"; NULL: it may */
	bool keys_only;	     /* it may hold nothing else */
	bool places;	     /* directories that values name must be there */
	bool *lists;	     /* becomes true where it has lists, for cfg_policy_read(); or NULL */
};

/* c is changed only when there is no fault. */
void cfg_read(const char *text, size_t len, const struct cfg_source *from, struct settings *c,
	      cfg_faults *faults);
/* The lists of a text without faults. 0, or -EINVAL with "FILE:LINE:COLUMN: ..." in e. */
int cfg_policy_read(const char *file, const char *text, size_t len, struct pol *p, struct err *e);
void cfg_fault_text(const char *file, const struct cfg_fault *f, struct strbuf *out);
void cfg_faults_free(cfg_faults *f);
/* 0, or -ENOENT/-ENOTDIR with e filled: the directory that a setting names, or that of its file, is not there. */
int cfg_place_check(const struct setting *k, const struct settings *c, struct err *e);

#endif
