/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line as words. A word may be quoted and may be followed by a port, as in ibsim:
 * "S-0002000000000002"[13], S-0002000000000002[13] and "switch 7[13]" are one word each.
 */
#ifndef WEFT_EMU_LINE_H
#define WEFT_EMU_LINE_H

#include "base/base.h"

enum { LINE_WORDS = 8, WORD_SIZE = 128 };

struct line_word {
	char text[WORD_SIZE]; /* without quotes and port */
	int port;	      /* -1: none */
	const char *from;     /* where it begins in the line */
};

struct line {
	struct line_word at[LINE_WORDS];
	unsigned n;
};

/* 0, or -EINVAL with what was expected in e. What follows '#' at the start of a word is a
 * comment. */
int line_split(struct line *w, const char *line, struct err *e);

int line_time(const char *s, time_ps *t);     /* 2.5s, 200us, 0; a number alone is seconds */
int line_share(const char *s, uint64_t *q32); /* 1%, 0.01, 100% in units of 2^-32 */

#endif
