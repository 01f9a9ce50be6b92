/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command line split into words, and the values in them. Keeps no state. Way in: line_split().
 * Does not know any command or node.
 */
#include "emu/command_line.h"

#include <ctype.h>

#include "base/units.h"

#define LINE_DAYS_MAX 100ull /* well below the end of simulated time */

static bool is_blank(char c)
{
	return c && isspace((unsigned char)c);
}

/* Takes "[13]" at *s, if it is there. */
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
static int port_inside(struct line_word *w, struct err *e)
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

static int word_take(const char **s, struct line_word *w, struct err *e)
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

int line_split(struct line *w, const char *line, struct err *e)
{
	w->n = 0;
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line || *line == '#')
			return 0;
		if (w->n == LINE_WORDS)
			return err_set(e, -EINVAL, "expected no more than %d words, found '%.40s'",
				       LINE_WORDS, line);
		if (word_take(&line, &w->at[w->n], e))
			return -EINVAL;
		w->n++;
	}
}

/* ---- values ---- */

int line_time(const char *s, time_ps *t)
{
	uint64_t seconds;

	if (!parse_u64(s, &seconds) && seconds <= LINE_DAYS_MAX * 86400) {
		*t = seconds * PS_PER_S;
		return 0;
	}
	return parse_time(s, t) || *t > LINE_DAYS_MAX * 86400 * PS_PER_S ? -EINVAL : 0;
}

int line_share(const char *s, uint64_t *q32)
{
	double v;

	if (parse_share(s, &v))
		return -EINVAL;
	*q32 = (uint64_t)(v * 4294967296.0);
	return 0;
}
