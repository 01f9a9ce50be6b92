/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables and numbers as text. State: the static buffers that numbers are written to in turn. Ways in:
 * cli_table_*(), cli_count(), cli_duration(). Does not know what the numbers mean.
 */
#include "cli/cli.h"

/* ---- tables ---- */

static unsigned char printable(unsigned char c)
{
	return c < 0x20 || c == 0x7f ? '?'
				     : c; /* names come from the fabric: no escape sequences */
}

/* Columns on the screen: bytes that do not continue a UTF-8 sequence. */
static unsigned screen_width(const char *s)
{
	unsigned w = 0;

	for (; *s; s++)
		w += ((unsigned char)*s & 0xc0) != 0x80;
	return w;
}

void cli_table_init(struct cli_table *t, const char *align, ...)
{
	va_list ap;

	*t = (struct cli_table){.align = align, .ncols = (unsigned)strlen(align)};
	assert(t->ncols);
	va_start(ap, align);
	for (unsigned i = 0; i < t->ncols; i++)
		vec_push(&t->cells, mem_strdup(va_arg(ap, const char *)));
	va_end(ap);
}

void cli_table_add(struct cli_table *t, const char *fmt, ...)
{
	va_list ap;
	char *cell = NULL;

	va_start(ap, fmt);
	if (vasprintf(&cell, fmt, ap) < 0)
		cell = mem_strdup("?");
	va_end(ap);
	for (char *p = cell; *p; p++)
		*p = (char)printable((unsigned char)*p);
	vec_push(&t->cells, cell);
}

static void row_print(const struct cli_table *t, size_t first, const unsigned *width, FILE *f)
{
	unsigned blanks = 0; /* written only before text, so that no line ends in one */

	for (unsigned c = 0; c < t->ncols && first + c < t->cells.n; c++) {
		const char *cell = t->cells.at[first + c];
		unsigned pad = width[c] - screen_width(cell);
		bool right = t->align[c] == 'r';

		blanks += (c ? 2 : 0) + (right ? pad : 0);
		if (*cell) {
			fprintf(f, "%*s%s", (int)blanks, "", cell);
			blanks = 0;
		}
		blanks += right ? 0 : pad;
	}
	fputc('\n', f);
}

void cli_table_print(struct cli_table *t, FILE *f)
{
	unsigned *width = mem_zarray(t->ncols, sizeof(*width));

	for (size_t i = 0; i < t->cells.n; i++) {
		unsigned w = screen_width(t->cells.at[i]);

		width[i % t->ncols] = MAX(width[i % t->ncols], w);
	}
	for (size_t i = 0; i < t->cells.n; i += t->ncols)
		row_print(t, i, width, f);
	for (size_t i = 0; i < t->cells.n; i++)
		free(t->cells.at[i]);
	vec_free(&t->cells);
	free(width);
}

/* ---- numbers ---- */

static char *text_slot(void)
{
	static char slot[16][40];
	static unsigned next;

	return slot[next++ % ARRAY_LEN(slot)];
}

const char *cli_count(uint64_t n)
{
	char *p = text_slot() + 39;
	unsigned digits = 0;

	*p = 0;
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
		n /= 10;
	} while (n);
	return p;
}

const char *cli_duration(time_ps t)
{
	static const struct {
		const char *name;
		time_ps ps;
		unsigned digits;
		uint64_t scale; /* 10^digits */
	} units[] = {
		{"ps", 1, 0, 1},	  {"ns", PS_PER_NS, 1, 10},
		{"us", PS_PER_US, 1, 10}, {"ms", PS_PER_MS, 3, 1000},
		{"s", PS_PER_S, 3, 1000},
	};
	char *s = text_slot();

	if (t == TIME_NEVER)
		return "never";
	for (size_t i = 0;; i++) {
		time_ps step = units[i].ps / units[i].scale; /* value of the last digit */
		uint64_t n = t / step + (t % step >= step - step / 2 && step > 1);

		if (i + 1 < ARRAY_LEN(units) && n >= 1000 * units[i].scale)
			continue; /* so 999.96 us reads 1.000 ms, not 1000.0 us */
		if (!units[i].digits)
			snprintf(s, 40, "%llu %s", (unsigned long long)n, units[i].name);
		else
			snprintf(s, 40, "%llu.%0*llu %s", (unsigned long long)(n / units[i].scale),
				 (int)units[i].digits, (unsigned long long)(n % units[i].scale),
				 units[i].name);
		return s;
	}
}
