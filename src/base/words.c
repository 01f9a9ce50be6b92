/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words as people type them: the nearest of those that would have done, shares and times with units.
 * State: none but the caller's struct word_near. Prints nothing.
 */
#include "base/words.h"

#include <limits.h>

/* ---- near misses ---- */

unsigned word_distance(const char *a, const char *b)
{
	unsigned d[WORD_LONGEST + 1][WORD_LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_LONGEST || lb > WORD_LONGEST)
		return UINT_MAX;
	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			best = MIN(best, MIN(d[i - 1][j], d[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, d[i - 2][j - 2] + 1);
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

void word_near_offer(struct word_near *n, const char *candidate, const char *means)
{
	size_t len = strlen(n->word);
	unsigned d = word_distance(n->word, candidate);

	if (len >= 2 && !strncmp(candidate, n->word, len))
		d = MIN(d, 1u); /* an abbreviation */
	if (d > 1 + len / 4 || d >= len)
		return;
	if (!n->best || d < n->distance) {
		n->best = means;
		n->distance = d;
	}
}

/* ---- values ---- */

#define TRILLION 1000000000000ull

/* "12.5" as 12 and 500000000000 (trillionths); *s moves behind it. */
static int decimal(const char **s, uint64_t *whole, uint64_t *frac)
{
	const char *p = *s;
	uint64_t unit = TRILLION;

	if (!(*p >= '0' && *p <= '9'))
		return -EINVAL;
	for (*whole = *frac = 0; *p >= '0' && *p <= '9'; p++) {
		if (*whole > (UINT64_MAX - 9) / 10)
			return -ERANGE;
		*whole = *whole * 10 + (uint64_t)(*p - '0');
	}
	if (*p == '.') {
		if (!(p[1] >= '0' && p[1] <= '9'))
			return -EINVAL;
		for (p++; *p >= '0' && *p <= '9'; p++) {
			unit /= 10;
			if (!unit && *p != '0')
				return -ERANGE; /* finer than can be kept */
			*frac += unit * (uint64_t)(*p - '0');
		}
	}
	*s = p;
	return 0;
}

int parse_share(const char *s, double *v)
{
	uint64_t whole, frac, full = 1;
	int rc = decimal(&s, &whole, &frac);

	if (rc)
		return rc;
	if (*s == '%') {
		full = 100;
		s++;
	}
	if (*s)
		return -EINVAL;
	if (whole > full || (whole == full && frac))
		return -ERANGE;
	/* One division of exact integers: 5% and 0.05 give the same bits. */
	*v = (double)(whole * TRILLION + frac) / (double)(full * TRILLION);
	return 0;
}

int parse_time(const char *s, time_ps *v)
{
	static const struct {
		const char *name;
		time_ps ps;
	} units[] = {{"ps", 1},
		     {"ns", PS_PER_NS},
		     {"us", PS_PER_US},
		     {"ms", PS_PER_MS},
		     {"s", PS_PER_S}};
	uint64_t whole, frac;
	int rc = decimal(&s, &whole, &frac);

	if (rc)
		return rc;
	if (!*s && !whole && !frac) { /* nought needs no unit */
		*v = 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		time_ps unit = units[i].ps;

		if (strcmp(s, units[i].name))
			continue;
		if (frac % (TRILLION / unit) || whole > (TIME_NEVER - unit) / unit)
			return -ERANGE;
		*v = whole * unit + frac / (TRILLION / unit);
		return 0;
	}
	return -EINVAL;
}
