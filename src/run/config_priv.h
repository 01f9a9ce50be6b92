/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration as a table of keys. From it come reading, defaults in print, comments, the JSON
 * Schema and what a reload may change, so that these cannot disagree.
 */
#ifndef WEFT_CONFIG_PRIV_H
#define WEFT_CONFIG_PRIV_H

#include "run/run.h"

enum cfg_kind {
	CFG_BOOL,
	CFG_UINT,   /* unsigned */
	CFG_BYTES,  /* size_t: "64MiB" */
	CFG_TIME,   /* time_ps, or unsigned in `unit` */
	CFG_MODE,   /* unsigned: "0660" */
	CFG_TEXT,   /* char[size]; `nothing` stands for "" */
	CFG_CHOICE, /* bool or enum: position in choices */
	CFG_ROW,    /* pointer to one of rows, each beginning with its name; or a copy of it */
	CFG_HEX,    /* uint64_t */
	CFG_HEXES,  /* uint64_t[], 0: no more */
};

struct cfg_key {
	const char *section, *name, *help;
	enum cfg_kind kind;
	size_t at, size;   /* the field in struct run_config */
	uint64_t min, max; /* CFG_TIME: in picoseconds */
	time_ps unit;
	const char *nothing;
	const char *const *choices; /* CFG_TEXT: NULL: anything */
	const void *rows;	    /* ends with a row whose name is NULL */
	size_t stride;
	bool start; /* takes effect only at the start */
	bool part;  /* of the mechanism: printed when it is not the mechanism's own */
};

struct cfg_section {
	const char *name, *help;
};

extern const struct cfg_section cfg_sections[]; /* these end with name == NULL */
extern const struct cfg_key cfg_keys[];		/* sections together, in their order */
enum { CFG_MAX_KEYS = 96 };

/* ---- values (config_value.c) ---- */

/* A list has several texts, others one. 0, or -EINVAL with "expected ..., found ..." in e. */
int cfg_value_set(const struct cfg_key *k, struct run_config *c, char *const *texts, unsigned n,
		  struct err *e);
void cfg_value_text(const struct cfg_key *k, const struct run_config *c,
		    struct strbuf *out); /* as YAML */
bool cfg_value_same(const struct cfg_key *k, const struct run_config *a,
		    const struct run_config *b);
const char *cfg_choice(const struct cfg_key *k, unsigned i); /* NULL: no more; of choices or rows */
void cfg_range(const struct cfg_key *k,
	       struct strbuf *out); /* "1 to 4096"; nothing where anything goes */
void cfg_expects(const struct cfg_key *k, struct strbuf *out); /* "a number from 1 to 4096" */

/* ---- finding (config.c) ---- */

const struct cfg_key *cfg_key_find(const char *section, const char *name); /* NULL */

/* ---- settings that do not go together (config.c) ---- */

/* 0, or -EINVAL with e; *culprit is the key to point at. */
int cfg_check(const struct run_config *c, const struct cfg_key **culprit, struct err *e);

/* ---- reading (config_read.c) ---- */

struct cfg_fault {
	unsigned line, column; /* from 1; 0: the whole file */
	char *text;
};
typedef VEC(struct cfg_fault) cfg_faults;

/* c is changed only when there is no fault. */
void cfg_read(const char *text, size_t len, struct run_config *c, cfg_faults *faults);
void cfg_fault_text(const char *file, const struct cfg_fault *f, struct strbuf *out);
void cfg_faults_free(cfg_faults *f);

#endif
