/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what --sm says, from its end: mechanism, time, priority; the rest is the node. Keeps no state. Way in:
 * seat_text_parse(). Does not know which nodes there are.
 */
#include "cli/seat_text.h"

#include "base/units.h"

enum { PRIORITY_MAX = 15 };

/* The colon of ":DIGITS" at the end; NULL: none. */
static char *find_priority(char *text)
{
	char *colon = strrchr(text, ':');
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	return digits && !colon[1 + digits] ? colon : NULL;
}

/* The @ of "@TIME" at the end; NULL: none. */
static char *find_start(char *text, time_ps *t)
{
	char *at = strrchr(text, '@');

	return at && !parse_time(at + 1, t) ? at : NULL;
}

static int refuse(const char *text, const char *found, const char *expected, struct err *e)
{
	return err_set(e, -EINVAL, "--sm '%.60s': found '%.20s', expected %s", text, found,
		       expected);
}

static int take_mechanism(struct seat_text *s, const char *text, struct err *e)
{
	char *comma = strrchr(s->node, ',');
	time_ps ignored;

	if (!comma)
		return 0;
	*comma = 0;
	s->mechanism = sm_mechanism_find(comma + 1);
	if (s->mechanism)
		return 0;
	if (find_priority(s->node) || find_start(s->node, &ignored))
		return refuse(text, comma + 1, "a mechanism such as weft", e);
	*comma = ',';
	return 0;
}

static int take_start(struct seat_text *s, const char *text, struct err *e)
{
	char *at = find_start(s->node, &s->start);

	if (at) {
		s->has_start = true;
		*at = 0;
		return 0;
	}
	at = strrchr(s->node, '@');
	if (!at)
		return 0;
	*at = 0;
	if (find_priority(s->node))
		return refuse(text, at + 1, "a time such as 20ms", e);
	*at = '@';
	return 0;
}

static int take_priority(struct seat_text *s, const char *text, struct err *e)
{
	char *colon = find_priority(s->node);

	if (!colon)
		return 0;
	s->priority = (unsigned)MIN(strtoull(colon + 1, NULL, 10), 1000ull);
	if (s->priority > PRIORITY_MAX)
		return err_set(e, -EINVAL, "--sm '%.60s': found priority %.20s, expected 0 to %d",
			       text, colon + 1, PRIORITY_MAX);
	s->has_priority = true;
	*colon = 0;
	return 0;
}

int seat_text_parse(const char *text, struct seat_text *s, struct err *e)
{
	int rc;

	*s = (struct seat_text){.priority = 0};
	if (strlen(text) >= sizeof(s->node))
		return err_set(e, -EINVAL, "--sm '%.60s...': expected fewer than %zu letters", text,
			       sizeof(s->node));
	strcpy(s->node, text);
	rc = take_mechanism(s, text, e);
	if (!rc)
		rc = take_start(s, text, e);
	return rc ? rc : take_priority(s, text, e);
}
