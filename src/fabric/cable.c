/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lengths of cables as people write them: 3m, 0.5m, 50cm, 1.2km. Keeps no state. Ways in:
 * fab_cable_take(), fab_cable_text(). Does not know how long a signal takes: that is src/sim.
 */
#include "fabric/fabric.h"

static bool digit_at(const char *s, const char *end)
{
	return s < end && *s >= '0' && *s <= '9';
}

/* Centimetres a unit, 0 when no unit stands there or a word goes on behind it. */
static uint32_t unit_take(const char **at, const char *end)
{
	static const struct {
		const char *name;
		uint32_t cm;
	} units[] = {{"cm", 1}, {"km", 100000}, {"m", 100}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i].name);
		const char *s = *at + n;

		if ((size_t)(end - *at) < n || memcmp(*at, units[i].name, n))
			continue;
		if (s < end && (digit_at(s, end) || *s == '_' || (unsigned char)*s >= 0x80 ||
				((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z')))
			return 0;
		*at = s;
		return units[i].cm;
	}
	return 0;
}

bool fab_cable_take(const char **at, const char *end, uint32_t *cm)
{
	const char *s = *at;
	uint64_t value = 0, scale = 1, unit;

	if (!digit_at(s, end))
		return false;
	for (; digit_at(s, end); s++)
		value = MIN(value * 10 + (uint64_t)(*s - '0'), UINT32_MAX);
	if (s < end && *s == '.' && digit_at(s + 1, end))
		for (s++; digit_at(s, end); s++)
			if (scale < 100000) { /* what is finer is less than a centimetre */
				value = value * 10 + (uint64_t)(*s - '0');
				scale *= 10;
			}
	unit = unit_take(&s, end);
	value = value * unit / scale;
	if (!value || value > FAB_CABLE_MAX_CM)
		return false;
	*cm = (uint32_t)value;
	*at = s;
	return true;
}

void fab_cable_text(char buf[16], uint32_t cm)
{
	if (!cm)
		snprintf(buf, 16, "unknown");
	else if (cm % 100 == 0)
		snprintf(buf, 16, "%um", cm / 100);
	else if (cm % 10 == 0)
		snprintf(buf, 16, "%u.%um", cm / 100, cm % 100 / 10);
	else
		snprintf(buf, 16, "%u.%02um", cm / 100, cm % 100);
}
