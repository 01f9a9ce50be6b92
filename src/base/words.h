/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words as people type them, on a command line or in a file: which of the known ones is nearest to one
 * that is not known, and numbers with units.
 */
#ifndef WEFT_WORDS_H
#define WEFT_WORDS_H

#include "base/base.h"

enum { WORD_LONGEST = 40 };

/* Changes (insert, drop, replace, swap neighbours) between two words; UINT_MAX for long words. */
unsigned word_distance(const char *a, const char *b);

/* Keeps the nearest of the words offered to it. Start with {.word = "typed"}. */
struct word_near {
	const char *word, *best;
	unsigned distance;
};
void word_near_offer(struct word_near *n, const char *candidate, const char *means);

int parse_share(const char *s, double *v); /* "5%", "0.05"; 0 or -EINVAL / -ERANGE */
int parse_time(const char *s, time_ps *v); /* "10ms", "1.5s", "0" */

#endif
