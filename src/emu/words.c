/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What people type, cut into words, and the values in them. Keeps no state. Way in: words_split().
 * Does not know any command or node.
 */
#include "emu/words.h"

#include <ctype.h>

static bool is_blank(char c)
{
	return c && isspace((unsigned char)c);
}

/* "[13]" at *s, if anything is there. */
static int port_take(const char **s, int *port, struct err *e)
{
	char *end;
	unsigned long v;

	if (**s != '[')
		return 0;
	v = strtoul(*s + 1, &end, 10);
	if (!isdigit((unsigned char)(*s)[1]) || *end != ']' || v > 254)
		return err_set(e, -EINVAL, "expected a port number in brackets, found '%.40s'", *s);
	*port = (int)v;
	*s = end + 1;
	return 0;
}

/* A port inside the quotes, as in "S-0002[13]", belongs to the word as well. */
static int port_inside(struct word *w, struct err *e)
{
	char *bracket = strrchr(w->text, '[');
	const char *at = bracket;
	int rc;

	if (!bracket || bracket == w->text || w->text[strlen(w->text) - 1] != ']' || w->port >= 0)
		return 0;
	rc = port_take(&at, &w->port, e);
	if (!rc)
		*bracket = 0;
	return rc;
}

static int word_take(const char **s, struct word *w, struct err *e)
{
	bool quoted = **s == '"';
	const char *p = *s + quoted;
	size_t n = 0;

	w->from = *s;
	w->port = -1;
	while (p[n] && (quoted ? p[n] != '"' : !is_blank(p[n]) && p[n] != '['))
		n++;
	if (quoted && !p[n])
		return err_set(e, -EINVAL, "expected a closing quote after '%.40s'", p);
	if (n >= WORD_SIZE)
		return err_set(e, -EINVAL, "expected a shorter word than '%.40s...'", p);
	memcpy(w->text, p, n);
	w->text[n] = 0;
	*s = p + n + quoted;
	if (port_take(s, &w->port, e) || (quoted && port_inside(w, e)))
		return -EINVAL;
	if (**s && !is_blank(**s))
		return err_set(e, -EINVAL, "expected a blank before '%.40s'", *s);
	return 0;
}

int words_split(struct words *w, const char *line, struct err *e)
{
	w->n = 0;
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line || *line == '#')
			return 0;
		if (w->n == WORDS_MAX)
			return err_set(e, -EINVAL, "expected no more than %d words, found '%.40s'", WORDS_MAX,
				       line);
		if (word_take(&line, &w->at[w->n], e))
			return -EINVAL;
		w->n++;
	}
}

/* ---- values ---- */

#define TRILLION 1000000000000ull

/* "12.5" as 12 and 500000000000 trillionths; what is finer is cut. */
static int decimal(const char **s, uint64_t *whole, uint64_t *frac)
{
	uint64_t unit = TRILLION;
	const char *p = *s;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (*whole = *frac = 0; isdigit((unsigned char)*p); p++) {
		if (*whole > 1000000000ull)
			return -ERANGE;
		*whole = *whole * 10 + (uint64_t)(*p - '0');
	}
	if (*p == '.' && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p); p++) {
			unit /= 10;
			*frac += unit * (uint64_t)(*p - '0');
		}
	*s = p;
	return 0;
}

int words_time(const char *s, time_ps *t)
{
	static const struct {
		const char *name;
		time_ps ps;
	} units[] = {{"", PS_PER_S},      {"s", PS_PER_S},   {"ms", PS_PER_MS},
		     {"us", PS_PER_US},   {"ns", PS_PER_NS}, {"ps", 1},
		     {"min", 60 * PS_PER_S}};
	uint64_t whole, frac;

	if (decimal(&s, &whole, &frac))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		time_ps unit = units[i].ps;

		if (strcmp(s, units[i].name))
			continue;
		if (whole > 100 * 86400 * PS_PER_S / unit)
			return -ERANGE; /* a hundred days are far from the end of time */
		*t = whole * unit + (time_ps)((unsigned __int128)frac * unit / TRILLION);
		return 0;
	}
	return -EINVAL;
}

int words_share(const char *s, uint64_t *q32)
{
	uint64_t whole, frac, full = 1;
	unsigned __int128 v;

	if (decimal(&s, &whole, &frac))
		return -EINVAL;
	if (*s == '%') {
		full = 100;
		s++;
	}
	v = (((unsigned __int128)whole * TRILLION + frac) << 32) / (full * TRILLION);
	if (*s || v > 1ull << 32)
		return -EINVAL;
	*q32 = (uint64_t)v;
	return 0;
}
