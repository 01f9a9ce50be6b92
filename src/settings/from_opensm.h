/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's configuration as settings and a policy. Pure: reads no file. The caller owns the result.
 */
#ifndef WEFT_FROM_OPENSM_H
#define WEFT_FROM_OPENSM_H

#include "policy/policy.h"
#include "settings/settings.h"

enum opensm_how {
	OPENSM_NUMBER,	/* decimal or hexadecimal, to a number */
	OPENSM_HEX,	/* to a key or GUID */
	OPENSM_BOOL,	/* TRUE and FALSE */
	OPENSM_NOT,	/* the same, inverted */
	OPENSM_SECONDS, /* to a time */
	OPENSM_MS,
	OPENSM_TEXT,   /* (null): nothing */
	OPENSM_CHOICE, /* a word of the setting */
	OPENSM_WORDS,  /* by a table of words: routing engines, traps */
	OPENSM_CLASS,  /* a table of VLs */
	OPENSM_FILE,   /* a file that the caller may read */
	OPENSM_LIST,   /* a file of GUIDs that the manager reads: @FILE */
	OPENSM_LFTS,   /* tables of engine file */
	OPENSM_PERF,   /* whether and how often counters are read, both by the end of the text */
	OPENSM_LEFT,   /* no equivalent */
};

struct opensm_key {
	const char *name, *dflt; /* as OpenSM writes it into its template */
	enum opensm_how how;
	const char *
		to; /* "section.key"; OPENSM_CLASS: the kind of port; OPENSM_LEFT: why there is no equivalent */
	bool always; /* OpenSM's default has an effect that Weft's has not */
};

extern const struct opensm_key opensm_keys[]; /* ends with name == NULL */

struct opensm_result {
	struct settings s;
	struct pol *p;
	VEC(char *) left;			   /* sentences: "FILE:LINE: KEY VALUE: why" */
	char partitions[256], qos_policy[256];	   /* files that it names; "": none */
	unsigned partitions_line, qos_policy_line; /* where; 0: at its default */
};

/* 0, or -EINVAL with "FILE:LINE: expected ..., found ..." in e. Free the result either way. */
int settings_from_opensm(const char *file, const char *text, size_t len, struct opensm_result *r,
			 struct err *e);
void opensm_result_free(struct opensm_result *r);
/* The settings that are not Weft's defaults, and the lists of the policy. */
void settings_print_changed(const struct settings *s, const struct pol *p, struct strbuf *out);

#endif
