/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comma-separated values: a line of names, then rows. Lines that begin with # are remarks. No quotes: the
 * sources' tables have numbers and words. The caller owns what is read.
 */
#ifndef WEFT_CSV_H
#define WEFT_CSV_H

#include "base/vec.h"

struct csv {
	VEC(char *) names;
	VEC(char *) cells;   /* row by row, names.n each */
	VEC(unsigned) lines; /* of each row, in the text */
	char *text;
};

struct csv *csv_read(const char *file, const char *text, struct err *e); /* NULL with e */
void csv_free(struct csv *c);
int csv_column(const struct csv *c, const char *name); /* -1: none */
const char *csv_cell(const struct csv *c, size_t row, int column);

#endif
