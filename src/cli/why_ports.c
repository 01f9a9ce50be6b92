/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates and errors of ports, from a manager's answers. State: none. Ways in: why_rate_*(), why_errors(). Asks nothing.
 */
#include "cli/why.h"

/* The text of a field of PortInfo; "": it has none. */
static const char *field(const json_t *port, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(port, "fields"), i, row)
	{
		const char *key = json_string_value(json_array_get(row, 0)),
			   *value = json_string_value(json_array_get(row, 1));

		if (key && value && !strcmp(key, name))
			return value;
	}
	return "";
}

static unsigned number(const char *text)
{
	return (unsigned)strtoul(text, NULL, 0);
}

struct why_rate why_rate_active(const json_t *port)
{
	const char *width = json_string_value(json_object_get(port, "width")),
		   *speed = json_string_value(json_object_get(port, "speed"));
	struct why_rate r = {.width = width ? (unsigned)strtoul(width, NULL, 10) : 0};

	for (unsigned s = FAB_SDR; speed && s < FAB_NSPEEDS; s++)
		if (!strcmp(fab_speed_name(s), speed))
			r.speed = s;
	return r;
}

/* IBA 14.2.5.6: bits of LinkWidthSupported, LinkSpeedSupported and LinkSpeedExtSupported, or of those that are enabled. */
static struct why_rate best_of(unsigned w, unsigned s, unsigned x)
{
	static const struct {
		unsigned bit, lanes;
	} widths[] = {{1, 1}, {16, 2}, {2, 4}, {4, 8}, {8, 12}};
	struct why_rate r = {0};

	for (unsigned i = 0; i < ARRAY_LEN(widths); i++)
		if (w & widths[i].bit)
			r.width = widths[i].lanes;
	r.speed = s & 4 ? FAB_QDR : s & 2 ? FAB_DDR : s & 1 ? FAB_SDR : FAB_SPEED_UNKNOWN;
	for (unsigned bit = 0; bit < 4; bit++)
		if (x & 1u << bit)
			r.speed = FAB_FDR + bit;
	return r;
}

struct why_rate why_rate_supported(const json_t *port)
{
	return best_of(number(field(port, "width_supported")),
		       number(field(port, "speed_supported")),
		       number(field(port, "speed_ext_supported")));
}

struct why_rate why_rate_enabled(const json_t *port)
{
	return best_of(number(field(port, "width_enabled")), number(field(port, "speed_enabled")),
		       number(field(port, "speed_ext_enabled")));
}

struct why_rate why_rate_common(struct why_rate a, struct why_rate b)
{
	return (struct why_rate){MIN(a.width, b.width), MIN(a.speed, b.speed)};
}

bool why_rate_less(struct why_rate a, struct why_rate b)
{
	return a.width && a.speed && (a.width < b.width || a.speed < b.speed);
}

void why_rate_text(struct why_rate r, char buf[24])
{
	if (r.width && r.speed)
		snprintf(buf, 24, "%ux %s", r.width, fab_speed_name(r.speed));
	else
		snprintf(buf, 24, "an unknown rate");
}

static const char *const error_names[] = {"symbol_error",    "link_recovery",	"link_downed",
					  "rcv_errors",	     "rcv_remote_phys", "local_integrity",
					  "buffer_overrun",  "xmit_discards",	"rcv_constraint",
					  "xmit_constraint", "rcv_switch_relay"};

static json_t *unless_empty(json_t *out)
{
	if (json_object_size(out))
		return out;
	json_decref(out);
	return NULL;
}

json_t *why_errors_in(const json_t *counters)
{
	json_t *out = json_object();

	for (unsigned k = 0; k < ARRAY_LEN(error_names); k++)
		if (json_integer_value(json_object_get(counters, error_names[k])))
			json_object_set(out, error_names[k],
					json_object_get(counters, error_names[k]));
	return unless_empty(out);
}

json_t *why_errors(const json_t *counters)
{
	json_t *out = json_object();
	const json_t *row;
	size_t i;

	json_array_foreach(counters, i, row)
	{
		const char *key = json_string_value(json_array_get(row, 0)),
			   *value = json_string_value(json_array_get(row, 1));

		for (unsigned k = 0; key && value && k < ARRAY_LEN(error_names); k++)
			if (!strcmp(key, error_names[k]) && strtoull(value, NULL, 0))
				json_object_set_new(
					out, key,
					json_integer((json_int_t)strtoull(value, NULL, 0)));
	}
	return unless_empty(out);
}
