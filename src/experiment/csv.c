/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comma-separated values. State: none. Way in: csv_read(). Does not convert numbers.
 */
#include "experiment/csv.h"

enum { COLUMNS_MOST = 64 };

/* Splits a line at its commas into out; cells lose blanks at both ends. */
static size_t line_split(char *line, char **out, size_t most)
{
	size_t n = 0;

	for (char *at = line; at && n < most; n++) {
		char *cell = at, *end = strchr(at, ',');

		at = end ? end + 1 : NULL;
		end = end ? end : cell + strlen(cell);
		while (*cell == ' ')
			cell++;
		while (end > cell && (end[-1] == ' ' || end[-1] == '\r'))
			end--;
		*end = '\0';
		out[n] = cell;
	}
	return n;
}

static int line_add(struct csv *c, char *line, unsigned number, const char *file, struct err *e)
{
	char *cells[COLUMNS_MOST + 1];
	size_t n = line_split(line, cells, ARRAY_LEN(cells));

	if (n > COLUMNS_MOST)
		return err_set(e, -EINVAL, "%s:%u: expected at most %d values in a line", file,
			       number, COLUMNS_MOST);
	if (c->names.n && n != c->names.n)
		return err_set(e, -EINVAL, "%s:%u: expected %zu values, found %zu", file, number,
			       c->names.n, n);
	if (!c->names.n) {
		for (size_t i = 0; i < n; i++)
			vec_push(&c->names, cells[i]);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		vec_push(&c->cells, cells[i]);
	vec_push(&c->lines, number);
	return 0;
}

struct csv *csv_read(const char *file, const char *text, struct err *e)
{
	struct csv *c = mem_zalloc(sizeof(*c));
	unsigned number = 0;
	int rc = 0;

	c->text = mem_strdup(text);
	for (char *at = c->text, *next; at && !rc; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		number++;
		if (at[strspn(at, " \r")] && *at != '#')
			rc = line_add(c, at, number, file, e);
	}
	if (!rc && !c->names.n)
		rc = err_set(e, -EINVAL, "%s:1: expected a line of names", file);
	if (!rc)
		return c;
	csv_free(c);
	return NULL;
}

void csv_free(struct csv *c)
{
	if (!c)
		return;
	vec_free(&c->names);
	vec_free(&c->cells);
	vec_free(&c->lines);
	free(c->text);
	free(c);
}

int csv_column(const struct csv *c, const char *name)
{
	for (size_t i = 0; i < c->names.n; i++)
		if (!strcmp(c->names.at[i], name))
			return (int)i;
	return -1;
}

const char *csv_cell(const struct csv *c, size_t row, int column)
{
	return c->cells.at[row * c->names.n + (size_t)column];
}
