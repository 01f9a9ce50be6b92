/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the known words a user meant who typed an unknown one.
 */
#ifndef WEFT_SPELLING_H
#define WEFT_SPELLING_H

#include "base/base.h"

enum { SPELLING_LONGEST = 40 };

/* The number of edits (insert, delete, replace, swap neighbours) between two words; UINT_MAX for long words. */
unsigned spelling_distance(const char *a, const char *b);

/* Keeps the best of the candidates offered to it; best is NULL while none is near enough. Start with
 * {.word = "typed"}. */
struct spelling {
	const char *word, *best;
	unsigned distance;
};

/* means: what to suggest if this candidate is the nearest. */
void spelling_offer(struct spelling *n, const char *candidate, const char *means);

#endif
