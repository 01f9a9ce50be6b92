/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with units. Keeps no state. Way in: parse_share(), parse_time(). Does not round: a value that cannot
 * be represented exactly is refused.
 */
#include "base/units.h"

#define TRILLION 1000000000000ull

/* "12.5" as 12 and 500000000000 trillionths; *s moves past it. */
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
				return -ERANGE; /* more digits than fit */
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
	if (!*s && !whole && !frac) { /* 0 needs no unit */
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
