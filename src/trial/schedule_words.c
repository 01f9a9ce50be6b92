/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of a schedule's line: numbers, times, shares, nodes and ports. State: struct reader. Way in: reader_split(),
 * reader_*(). Does not know the lines: schedule_read.c and schedule_events.c do.
 */
#include "base/units.h"
#include "trial/schedule_read_priv.h"

int reader_bad(struct reader *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!r->line)
		return err_set(r->e, -EINVAL, "%.100s: %s", r->name, text);
	return err_set(r->e, -EINVAL, "%.100s:%u: %s", r->name, r->line, text);
}

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Words of a line, in place; a word in quotes may hold blanks. */
int reader_split(struct reader *r, char *p)
{
	r->n = r->next = 0;
	for (;;) {
		bool quoted;

		while (is_blank(*p))
			*p++ = 0;
		if (!*p || *p == '#')
			return 0;
		if (r->n == SCHEDULE_LINE_WORDS)
			return reader_bad(r, "expected no more than %d words", SCHEDULE_LINE_WORDS);
		quoted = *p == '"';
		r->word[r->n++] = p += quoted;
		while (*p && (quoted ? *p != '"' : !is_blank(*p)))
			p++;
		if (quoted && !*p)
			return reader_bad(r, "expected a closing quote after '%.40s'",
					  r->word[r->n - 1]);
		if (*p)
			*p++ = 0;
	}
}

const char *reader_peek(const struct reader *r)
{
	return r->next < r->n ? r->word[r->next] : NULL;
}

/* The next word; NULL with a message. */
char *reader_take(struct reader *r, const char *what)
{
	if (r->next < r->n)
		return r->word[r->next++];
	reader_bad(r, "expected %s after '%.40s'", what, r->n ? r->word[r->n - 1] : "");
	return NULL;
}

int reader_u64(struct reader *r, const char *what, uint64_t min, uint64_t max, uint64_t *v)
{
	char *w;

	w = reader_take(r, what);
	if (!w)
		return -EINVAL;
	if (parse_u64(w, v) || *v < min || *v > max)
		return reader_bad(r, "expected %s from %llu to %llu, found '%.40s'", what,
				  (unsigned long long)min, (unsigned long long)max, w);
	return 0;
}

int reader_time(struct reader *r, time_ps *t)
{
	char *w;

	w = reader_take(r, "a time such as 2.5ms");
	if (!w)
		return -EINVAL;
	if (parse_time(w, t) || *t > 86400 * PS_PER_S)
		return reader_bad(r, "expected a time such as 2.5ms, found '%.40s'", w);
	return 0;
}

int reader_share(struct reader *r, uint64_t *millionths)
{
	double v;
	char *w;

	w = reader_take(r, "a share such as 5%");
	if (!w)
		return -EINVAL;
	if (parse_share(w, &v))
		return reader_bad(r, "expected a share such as 5%% or 0.05, found '%.40s'", w);
	*millionths = (uint64_t)(v * 1e6 + 0.5);
	return 0;
}

/* ---- nodes and ports ---- */

int reader_need_fabric(struct reader *r)
{
	struct err why;

	if (r->fab)
		return 0;
	if (!r->s->gen.kind && !r->s->netlist)
		return reader_bad(r,
				  "expected a line 'fabric ...' or 'netlist FILE' before this one");
	r->fab = schedule_fabric(r->s, &why);
	if (!r->fab)
		return reader_bad(r, "no fabric: %.200s", why.text);
	return 0;
}

static int find_node(struct reader *r, const char *text, node_id *n)
{
	if (reader_need_fabric(r))
		return -EINVAL;
	*n = fab_node_by_text(r->fab, text);
	if (*n == FAB_NONE)
		return reader_bad(
			r,
			"'%.60s' is not in the fabric: expected a node GUID, an S-/H- id or a name",
			text);
	return 0;
}

int reader_node(struct reader *r, uint64_t *guid)
{
	char *w;
	node_id n;

	w = reader_take(r, "a node");
	if (!w || find_node(r, w, &n))
		return -EINVAL;
	*guid = r->fab->nodes[n].guid;
	return 0;
}

/* S-0002000000000001[3] */
int reader_port(struct reader *r, struct schedule_port *p)
{
	char *w, *bracket, *end;
	unsigned long num;
	node_id n;

	w = reader_take(r, "a port such as S-0002000000000001[3]");
	if (!w)
		return -EINVAL;
	bracket = strrchr(w, '[');
	num = bracket ? strtoul(bracket + 1, &end, 10) : 0;
	if (!bracket || end == bracket + 1 || strcmp(end, "]"))
		return reader_bad(r, "expected a port such as S-0002000000000001[3], found '%.40s'",
				  w);
	*bracket = 0;
	if (find_node(r, w, &n))
		return -EINVAL;
	if (!num || num > r->fab->nodes[n].nports)
		return reader_bad(r, "'%.60s' has ports 1 to %u, found %lu", w,
				  r->fab->nodes[n].nports, num);
	*p = (struct schedule_port){r->fab->nodes[n].guid, (unsigned)num};
	return 0;
}
