/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VL arbitration and SL-to-VL tables by kind of port. State: none. Ways in: pol_vls_set(), pol_vls_of(). Does not know
 * how many VLs a port has.
 */
#include "policy/policy_priv.h"

static const char *const names[POL_NCLASSES] = {"default", "ca", "sw0", "swe", "rtr"};

const char *pol_class_name(enum pol_class c)
{
	return c < POL_NCLASSES ? names[c] : "?";
}

/* The number up to the separator or the end; *s moves behind the separator. */
static int number_take(const char **s, char separator, unsigned max, unsigned *v)
{
	char word[16];
	size_t n = strcspn(*s, separator == ':' ? ":," : ",");
	uint64_t number;

	if (n >= sizeof(word) || (separator == ':' && (*s)[n] != ':'))
		return -EINVAL;
	memcpy(word, *s, n);
	word[n] = 0;
	*s += n + ((*s)[n] == separator);
	if (pol_number(pol_trim(word), 0, max, &number))
		return -EINVAL;
	*v = (unsigned)number;
	return 0;
}

static int vlarb_set(struct pol_vlarb *t, uint8_t *n, const char *text)
{
	struct pol_vlarb got[POL_VLARB_MOST];
	unsigned count = 0, vl, weight;

	while (*text) {
		if (count == POL_VLARB_MOST || number_take(&text, ':', 14, &vl) ||
		    number_take(&text, ',', 255, &weight))
			return -EINVAL;
		got[count++] = (struct pol_vlarb){(uint8_t)vl, (uint8_t)weight};
	}
	if (!count)
		return -EINVAL;
	memcpy(t, got, count * sizeof(got[0]));
	*n = (uint8_t)count;
	return 0;
}

static int sl2vl_set(uint8_t vl[16], const char *text)
{
	unsigned v = 0, n = 0;
	uint8_t got[16];

	while (*text) {
		if (n == 16 || number_take(&text, ',', 15, &v))
			return -EINVAL;
		got[n++] = (uint8_t)v;
	}
	if (!n)
		return -EINVAL;
	while (n < 16)
		got[n++] = 0;
	memcpy(vl, got, 16);
	return 0;
}

int pol_vls_set(struct pol_vls *v, const char *key, const char *text, struct err *e)
{
	uint64_t limit;

	if (!strcmp(key, "high_limit")) {
		if (pol_number(text, 0, 255, &limit))
			return err_set(e, -EINVAL,
				       "expected a limit from 0 to 255 for %s, found '%.40s'", key,
				       text);
		v->high_limit = (uint8_t)limit;
		v->has |= POL_HAS_HIGH_LIMIT;
	} else if (!strcmp(key, "vlarb_high") || !strcmp(key, "vlarb_low")) {
		bool high = !strcmp(key, "vlarb_high");

		if (vlarb_set(high ? v->high : v->low, high ? &v->nhigh : &v->nlow, text))
			return err_set(
				e, -EINVAL,
				"expected up to 64 pairs of a VL from 0 to 14 and a weight from 0 to 255, such "
				"as 0:4,1:64, for %s, found '%.40s'",
				key, text);
		v->has |= high ? POL_HAS_HIGH : POL_HAS_LOW;
	} else if (!strcmp(key, "sl2vl")) {
		if (sl2vl_set(v->sl2vl, text))
			return err_set(
				e, -EINVAL,
				"expected up to 16 VLs from 0 to 15, such as 0,1,2, for %s, found '%.40s'",
				key, text);
		v->has |= POL_HAS_SL2VL;
	} else {
		return -ENOENT;
	}
	return 0;
}

void pol_vls_of(const struct pol *p, enum pol_class c, struct pol_vls *v)
{
	const struct pol_vls *d = &p->vls[POL_ANY_PORT], *own = &p->vls[c];

	*v = *d;
	if (own->has & POL_HAS_HIGH_LIMIT)
		v->high_limit = own->high_limit;
	if (own->has & POL_HAS_HIGH) {
		memcpy(v->high, own->high, sizeof(v->high));
		v->nhigh = own->nhigh;
	}
	if (own->has & POL_HAS_LOW) {
		memcpy(v->low, own->low, sizeof(v->low));
		v->nlow = own->nlow;
	}
	if (own->has & POL_HAS_SL2VL)
		memcpy(v->sl2vl, own->sl2vl, sizeof(v->sl2vl));
	v->has |= own->has;
}

bool pol_has_sl2vl(const struct pol *p)
{
	for (unsigned c = 0; c < POL_NCLASSES; c++)
		if (p->vls[c].has & POL_HAS_SL2VL)
			return true;
	return false;
}
