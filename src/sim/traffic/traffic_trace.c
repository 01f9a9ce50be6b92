/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the text of a trace. State: the cursor in struct reader. Way in: traffic_trace_parse().
 * Does not read files; a text with an error gives no packets.
 */
#include "sim/traffic/traffic.h"

enum { LINES_MAX = 10000000, BYTES_MAX = 4096, SL_MAX = 15, SHOWN = 32 };

struct word {
	const char *s;
	size_t n; /* 0: the line has ended */
};

struct reader {
	const char *name, *at, *end; /* end of the line */
	unsigned line;
	uint32_t nhosts;
	struct err *e;
};

/* ---- messages ---- */

/* The word as printed in errors: shortened, and without control characters. */
static void word_shown(struct word w, char out[SHOWN + 4])
{
	size_t at = 0, to = 0;

	while (at < w.n) {
		unsigned len = utf8_len(w.s + at, w.n - at);

		if (to + MAX(len, 1u) > SHOWN) {
			memcpy(out + to, "...", 3);
			to += 3;
			break;
		}
		memcpy(out + to, len ? w.s + at : "?", MAX(len, 1u));
		to += MAX(len, 1u);
		at += MAX(len, 1u);
	}
	out[to] = 0;
}

static int refuse(const struct reader *r, struct word w, const char *expected)
{
	char shown[SHOWN + 4];

	if (!w.n)
		return err_set(r->e, -EINVAL, "%s:%u: found the end of the line, expected %s",
			       r->name, r->line, expected);
	word_shown(w, shown);
	return err_set(r->e, -EINVAL, "%s:%u: found '%s', expected %s", r->name, r->line, shown,
		       expected);
}

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct word next_word(struct reader *r)
{
	struct word w;

	while (r->at < r->end && is_blank(*r->at))
		r->at++;
	w.s = r->at;
	while (r->at < r->end && !is_blank(*r->at))
		r->at++;
	w.n = (size_t)(r->at - w.s);
	return w;
}

/* The whole word as a decimal number, at most max. */
static bool word_number(struct word w, uint64_t max, uint64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < w.n; i++) {
		uint64_t digit = (uint64_t)(w.s[i] - '0');

		if (!is_digit(w.s[i]) || *v > (max - MIN(digit, max)) / 10)
			return false;
		*v = *v * 10 + digit;
	}
	return w.n > 0 && *v <= max;
}

static int read_number(struct reader *r, uint64_t max, const char *what, uint64_t *v)
{
	struct word w = next_word(r);
	char expected[80];

	if (word_number(w, max, v))
		return 0;
	snprintf(expected, sizeof(expected), "%s from 0 to %llu", what, (unsigned long long)max);
	return refuse(r, w, expected);
}

/* ---- time ---- */

static uint64_t unit_ps(const char *s, size_t n)
{
	static const struct {
		const char *name;
		time_ps ps;
	} units[] = {{"", PS_PER_NS},	{"ps", 1},	   {"ns", PS_PER_NS},
		     {"us", PS_PER_US}, {"ms", PS_PER_MS}, {"s", PS_PER_S}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strlen(units[i].name) == n && !memcmp(units[i].name, s, n))
			return units[i].ps;
	return 0;
}

/* Digits after the point, in picoseconds; false when they are below one. */
static bool fraction_ps(const char *s, size_t n, uint64_t unit, uint64_t *ps)
{
	for (*ps = 0; n; s++, n--) {
		if (unit % 10 && *s != '0')
			return false;
		unit /= 10;
		*ps += unit * (uint64_t)(*s - '0');
	}
	return true;
}

static int read_time(struct reader *r, struct word w, uint64_t *ps)
{
	const char *wrong = "a time such as 12.5us (ps, ns, us, ms, s; without unit ns)";
	size_t whole = 0, frac = 0, number;
	uint64_t unit, v, below;

	while (whole < w.n && is_digit(w.s[whole]))
		whole++;
	number = whole;
	if (number < w.n && w.s[number] == '.') {
		while (number + 1 + frac < w.n && is_digit(w.s[number + 1 + frac]))
			frac++;
		if (!frac)
			return refuse(r, w, wrong);
		number += 1 + frac;
	}
	unit = unit_ps(w.s + number, w.n - number);
	if (!whole || !unit)
		return refuse(r, w, wrong);
	if (!fraction_ps(w.s + number - frac, frac, unit, &below))
		return refuse(r, w, "a time in whole picoseconds");
	/* TIME_NEVER is not a valid time. */
	if (!word_number((struct word){w.s, whole}, (TIME_NEVER - unit) / unit, &v))
		return refuse(r, w, "a time below 2^64 picoseconds (213 days)");
	*ps = v * unit + below;
	return 0;
}

/* ---- lines ---- */

/* The rest of a line whose first word is its time. */
static int read_packet(struct reader *r, struct word time, struct traffic_trace_item *it)
{
	uint64_t src, dst, bytes, sl = 0;
	struct word w;
	int rc = read_time(r, time, &it->when_ps);

	if (rc || (rc = read_number(r, r->nhosts - 1, "a source host", &src)) ||
	    (rc = read_number(r, r->nhosts - 1, "a destination host", &dst)))
		return rc;
	if (src == dst)
		return err_set(r->e, -EINVAL,
			       "%s:%u: found host %u sending to itself, expected two hosts",
			       r->name, r->line, (unsigned)src);
	rc = read_number(r, BYTES_MAX, "a payload in bytes", &bytes);
	if (rc)
		return rc;
	w = next_word(r);
	if (w.n && !word_number(w, SL_MAX, &sl))
		return refuse(r, w, "a service level from 0 to 15");
	w = next_word(r);
	if (w.n)
		return refuse(r, w, "the end of the line");
	it->src = (uint32_t)src;
	it->dst = (uint32_t)dst;
	it->bytes = (uint16_t)bytes;
	it->sl = (uint8_t)sl;
	return 0;
}

static int read_line(struct reader *r, const char *end, traffic_trace *list)
{
	const char *hash = memchr(r->at, '#', (size_t)(end - r->at));
	struct traffic_trace_item it;
	struct word w;
	int rc;

	if (end > r->at && end[-1] == '\r')
		end--;
	r->end = hash && hash < end ? hash : end;
	w = next_word(r);
	if (!w.n)
		return 0;
	rc = read_packet(r, w, &it);
	if (!rc)
		vec_push(list, it);
	return rc;
}

static int read_lines(struct reader *r, const char *text, size_t len, traffic_trace *list)
{
	const char *p = text, *end = len ? text + len : text, *eol;
	int rc = 0;

	for (; p < end && !rc; p = eol + 1) {
		if (r->line++ == LINES_MAX)
			return err_set(r->e, -EINVAL,
				       "%s:%u: found one more line, expected at most %u", r->name,
				       r->line, LINES_MAX);
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		r->at = p;
		rc = read_line(r, eol, list);
		if (eol == end)
			break;
	}
	return rc;
}

/* ---- order ---- */

static void merge(const struct traffic_trace_item *from, struct traffic_trace_item *to, size_t lo,
		  size_t mid, size_t hi)
{
	size_t a = lo, b = mid;

	while (lo < hi) {
		bool first = a < mid && (b == hi || from[a].when_ps <= from[b].when_ps);

		to[lo++] = first ? from[a++] : from[b++];
	}
}

/* Merging keeps the order of the lines where times are equal; qsort() need not. */
static void sort_by_time(traffic_trace *l)
{
	struct traffic_trace_item *other, *swap;
	size_t i = 1;

	while (i < l->n && l->at[i - 1].when_ps <= l->at[i].when_ps)
		i++;
	if (i >= l->n)
		return;
	other = mem_array(l->cap, sizeof(*other));
	for (size_t run = 1; run < l->n; run *= 2) {
		for (i = 0; i < l->n; i += 2 * run)
			merge(l->at, other, i, MIN(i + run, l->n), MIN(i + 2 * run, l->n));
		swap = l->at;
		l->at = other;
		other = swap;
	}
	free(other);
}

int traffic_trace_parse(traffic_trace *out, uint32_t nhosts, const char *name, const char *text,
			size_t len, struct err *e)
{
	struct reader r = {.name = name, .nhosts = nhosts, .e = e};
	traffic_trace list = {0};
	int rc;

	*out = list;
	if (nhosts < 2)
		return err_set(e, -EINVAL, "%s:1: found %u hosts, expected at least 2 for a trace",
			       name, nhosts);
	rc = read_lines(&r, text, len, &list);
	if (rc) {
		vec_free(&list);
		return rc;
	}
	sort_by_time(&list);
	*out = list;
	return 0;
}
