/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simplified section of OpenSM's QoS policy, qos-ulps: a rule for each protocol, with a service level. State: rules
 * of the reader. Way in: qos_ulp_line(). Each line becomes a rule and a level as the other sections define them.
 */
#include "policy/qos_policy_priv.h"

enum selector { BY_SERVICE, BY_PORT, BY_PKEY, BY_TARGET, BY_SOURCE, BY_BOTH, BY_NOTHING };

struct ulp {
	const char *name, *selector; /* NULL: none */
	enum selector by;
	uint64_t base;		/* added to what the line says */
	struct pol_range fixed; /* without a selector */
};

/* Service ids of these protocols: their prefix and a port of TCP. */
static const struct ulp ulps[] = {
	{"sdp", NULL, BY_SERVICE, 0, {0x10000, 0x1ffff}},
	{"sdp", "port-num", BY_PORT, 0x10000, {0, 0}},
	{"rds", NULL, BY_SERVICE, 0, {0x10648ca, 0x10648ca}},
	{"rds", "port-num", BY_PORT, 0x1060000, {0, 0}},
	{"iser", NULL, BY_SERVICE, 0, {0x1060cbc, 0x1060cbc}},
	{"iser", "port-num", BY_PORT, 0x1060000, {0, 0}},
	{"srp", "target-port-guid", BY_TARGET, 0, {0, 0}},
	{"ipoib", NULL, BY_PKEY, 0, {POL_DEFAULT_KEY, POL_DEFAULT_KEY}},
	{"ipoib", "pkey", BY_PKEY, 0, {0, 0}},
	{"any", "service-id", BY_SERVICE, 0, {0, 0}},
	{"any", "pkey", BY_PKEY, 0, {0, 0}},
	{"any", "target-port-guid", BY_TARGET, 0, {0, 0}},
	{"any", "source-port-guid", BY_SOURCE, 0, {0, 0}},
	{"any", "source-target-port-guid", BY_BOTH, 0, {0, 0}},
	{"default", NULL, BY_NOTHING, 0, {0, 0}},
};

static const char expected[] =
	"default, sdp, rds, iser, srp, ipoib or any, with a selector after ',' and then ': SL'";

static uint32_t level_with(struct pol *p, unsigned sl)
{
	struct pol_level l = {.has = POL_HAS_SL, .sl = (uint8_t)sl};

	snprintf(l.name, sizeof(l.name), "sl %u", sl);
	for (size_t i = 0; i < p->levels.n; i++)
		if (!strcmp(p->levels.at[i].name, l.name))
			return (uint32_t)i;
	vec_push(&p->levels, l);
	return (uint32_t)(p->levels.n - 1);
}

static uint32_t group_with(struct qos_reader *r, pol_ranges *guids)
{
	struct pol_port_group g = {0};

	snprintf(g.name, sizeof(g.name), "qos-ulps line %u", r->at.line);
	g.guids.at = guids->at;
	g.guids.n = guids->n;
	g.guids.cap = guids->cap;
	vec_push(&r->p->port_groups, g);
	return (uint32_t)(r->p->port_groups.n - 1);
}

static void rule_add(struct qos_reader *r, const struct ulp *u, pol_ranges *ranges, unsigned sl)
{
	struct pol_rule rule = {.ulp = true, .level = level_with(r->p, sl)};
	uint32_t group;

	for (size_t i = 0; i < ranges->n; i++) {
		ranges->at[i].from += u->base;
		ranges->at[i].to += u->base;
	}
	switch (u->by) {
	case BY_SERVICE:
	case BY_PORT:
		memcpy(&rule.service_ids, ranges, sizeof(*ranges));
		break;
	case BY_PKEY:
		memcpy(&rule.pkeys, ranges, sizeof(*ranges));
		break;
	case BY_TARGET:
	case BY_SOURCE:
	case BY_BOTH:
		group = group_with(r, ranges);
		if (u->by != BY_SOURCE)
			vec_push(&rule.destinations, group);
		if (u->by != BY_TARGET)
			vec_push(&rule.sources, group);
		break;
	case BY_NOTHING:
		break;
	}
	vec_push(&r->ulps, rule);
}

static char *lower(char *s)
{
	for (char *c = s; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	return s;
}

/* Splits "any, pkey 0x1-0x3": the words before the first number. */
static char *selector_of(char *s, char **ranges)
{
	char *blank = s + strcspn(s, " \t");

	*ranges = pol_trim(blank);
	if (*blank)
		*blank = 0;
	return s;
}

static const struct ulp *ulp_find(const char *name, const char *selector)
{
	for (unsigned i = 0; i < ARRAY_LEN(ulps); i++)
		if (!strcmp(ulps[i].name, name) &&
		    (selector ? ulps[i].selector && !strcmp(ulps[i].selector, selector)
			      : !ulps[i].selector))
			return &ulps[i];
	return NULL;
}

static uint64_t most(enum selector by)
{
	return by == BY_PORT ? 0xffff : by == BY_PKEY ? 0xffff : UINT64_MAX;
}

static int with_sl(struct qos_reader *r, const struct ulp *u, char *ranges, unsigned sl)
{
	pol_ranges got = {0};
	int rc = 0;

	if (u->by == BY_NOTHING) {
		r->ulp_default = sl + 1;
		return 0;
	}
	if (u->selector)
		rc = qos_ranges(r, ranges, most(u->by), &got);
	else
		vec_push(&got, u->fixed);
	for (size_t i = 0; u->by == BY_PKEY && i < got.n; i++) {
		got.at[i].from &= POL_DEFAULT_KEY;
		got.at[i].to &= POL_DEFAULT_KEY;
	}
	if (rc)
		vec_free(&got);
	else
		rule_add(r, u, &got, sl);
	return rc;
}

int qos_ulp_line(struct qos_reader *r, char *line)
{
	char *colon = strrchr(line, ':'), *comma, *selector = NULL, *ranges = NULL, *name;
	const struct ulp *u;
	uint64_t sl;

	if (!colon)
		return qos_fault(r, expected, line);
	*colon = 0;
	if (pol_number(pol_trim(colon + 1), 0, 15, &sl))
		return qos_fault(r, "a service level from 0 to 15 after ':'", pol_trim(colon + 1));
	comma = strchr(line, ',');
	if (comma) {
		*comma = 0;
		selector = selector_of(pol_trim(comma + 1), &ranges);
	}
	name = lower(pol_trim(line));
	u = ulp_find(name, selector);
	if (!u)
		return qos_fault(r, expected, selector ? selector : name);
	return with_sl(r, u, ranges, (unsigned)sl);
}
