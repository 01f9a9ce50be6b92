/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How errors of ports have grown during the last hour, from a manager that reads counters (perf.period). State: none. Ways in:
 * why_trends(), why_trend_text(). Reads no device: the manager has.
 */
#include "cli/ctl.h"
#include "cli/why.h"

enum { RECENT_S = 600, FULL = 900 /* of 1,000: a load that is worth a line */ };

/* Errors are the last of the four values of a sample: control.md. */
static uint64_t errors_of(const json_t *sample)
{
	return (uint64_t)json_integer_value(json_array_get(sample, 3));
}

struct why_trend why_trend_of(const json_t *hour)
{
	const json_t *samples = json_object_get(hour, "samples"), *s;
	size_t n = json_array_size(samples), i,
	       recent = RECENT_S / MAX(ctl_number(hour, "seconds_each"), (uint64_t)1);
	struct why_trend t = {0};

	json_array_foreach(samples, i, s)
	{
		t.hour += errors_of(s);
		t.recent += i + recent >= n ? errors_of(s) : 0;
		t.known |= json_is_array(s);
	}
	return t;
}

void why_trend_text(struct why_trend t, char buf[128])
{
	if (!t.hour && t.now)
		snprintf(buf, 128, "%llu error%s just now, none before within the last hour",
			 (unsigned long long)t.now, t.now == 1 ? "" : "s");
	else if (!t.hour)
		snprintf(buf, 128, "no error within the last hour");
	else if (!t.recent)
		snprintf(buf, 128, "%llu error%s within the last hour, none within ten minutes",
			 (unsigned long long)t.hour, t.hour == 1 ? "" : "s");
	else if (t.recent == t.hour)
		snprintf(buf, 128, "%llu error%s, all within the last ten minutes",
			 (unsigned long long)t.hour, t.hour == 1 ? "" : "s");
	else
		snprintf(buf, 128, "%llu errors within the last hour, %llu within ten minutes%s",
			 (unsigned long long)t.hour, (unsigned long long)t.recent,
			 t.recent * 6 > t.hour * 2 ? ": rising" : "");
}

static bool has_flag(const json_t *link, const char *flag)
{
	const json_t *f;
	size_t i;

	json_array_foreach(json_object_get(link, "flags"), i, f)
	{
		if (!strcmp(json_string_value(f), flag))
			return true;
	}
	return false;
}

/* Why a sick link is still in use, where the manager isolates links; "": it is not, or none is isolated. */
static const char *in_use_why(const json_t *answer, const json_t *link)
{
	uint64_t most = ctl_number(answer, "isolate_most");

	return most && !has_flag(link, "isolated") && ctl_number(answer, "isolated") >= most
		       ? "; it stays in use, since as many links as perf.isolate_most are isolated"
		       : "";
}

static void suspect_link(json_t *suspicious, const json_t *answer, const json_t *link)
{
	unsigned port = (unsigned)ctl_number(link, "port"),
		 load = (unsigned)(json_number_value(json_object_get(link, "load")) * 1000);

	if (has_flag(link, "sick"))
		json_array_append_new(
			suspicious,
			json_sprintf(
				"the link at port %u to %s port %u is sick, %s%s%s%s", port,
				ctl_text(link, "peer"), (unsigned)ctl_number(link, "peer_port"),
				ctl_number(link, "errors") ? "bit error rate "
							   : "without errors for a while",
				ctl_number(link, "errors") ? ctl_text(link, "ber") : "",
				has_flag(link, "isolated") ? "; it is isolated, no route uses it"
							   : "",
				in_use_why(answer, link)));
	else if (has_flag(link, "isolated"))
		json_array_append_new(
			suspicious,
			json_sprintf("no route uses the link at port %u to %s port %u: it is "
				     "isolated until it is well",
				     port, ctl_text(link, "peer"),
				     (unsigned)ctl_number(link, "peer_port")));
	if (has_flag(link, "saturated"))
		json_array_append_new(
			suspicious,
			json_sprintf("a counter of port %u is full and counts no more", port));
	if (load >= FULL)
		json_array_append_new(suspicious, json_sprintf("port %u is at %u %% of its rate",
							       port, load / 10));
}

static bool has_errors(const json_t *link)
{
	static const char *const other[] = {"xmit_data", "rcv_data",  "xmit_pkts",
					    "rcv_pkts",	 "xmit_wait", "fec_corrected"};
	json_t *value;
	const char *key;

	json_object_foreach(json_object_get(link, "counted"), key, value)
	{
		bool counts = json_integer_value(value) != 0;

		for (unsigned i = 0; i < ARRAY_LEN(other); i++)
			counts &= strcmp(key, other[i]) != 0;
		if (counts)
			return true;
	}
	return false;
}

static void trend_add(const struct running *from, const char *node, json_t *row)
{
	json_t *place = json_sprintf("%s:%u", node, (unsigned)ctl_number(row, "port")),
	       *a = running_ask_about(from, "perf", "node", json_string_value(place));
	struct why_trend t = why_trend_of(
		json_object_get(json_array_get(json_object_get(a, "ports"), 0), "hour"));
	char text[128];

	t.now = ctl_number(json_array_get(json_object_get(a, "ports"), 0), "errors");
	why_trend_text(t, text);
	if (t.known || t.now)
		json_object_set_new(row, "trend",
				    json_pack("{s:I, s:I, s:s}", "hour", (json_int_t)t.hour,
					      "ten_minutes", (json_int_t)t.recent, "text", text));
	json_decref(a);
	json_decref(place);
}

static void link_take(const struct running *from, const char *node, const json_t *answer,
		      const json_t *link, json_t *row, json_t *suspicious)
{
	const json_t *counted = json_object_get(link, "counted");

	json_object_set(row, "load", json_object_get(link, "load"));
	json_object_set(row, "ber", json_object_get(link, "ber"));
	if (ctl_number(counted, "fec_corrected") || ctl_number(counted, "fec_uncorrected"))
		json_object_set_new(row, "fec",
				    json_pack("{s:O, s:O}", "corrected",
					      json_object_get(counted, "fec_corrected"),
					      "uncorrected",
					      json_object_get(counted, "fec_uncorrected")));
	suspect_link(suspicious, answer, link);
	if (has_errors(link))
		trend_add(from, node, row);
}

/* An isolated link is not in the subnet that routes use: the page gets its row, other end and errors from here. */
static json_t *row_of_isolated(json_t *ports, json_t *row, const json_t *link)
{
	json_t *errors = why_errors_in(json_object_get(link, "device"));
	size_t at = json_array_size(ports);

	if (!row) {
		row = json_pack("{s:O, s:s, s:s}", "port", json_object_get(link, "port"), "state",
				"Active", "physical", "LinkUp");
		while (at &&
		       ctl_number(json_array_get(ports, at - 1), "port") > ctl_number(link, "port"))
			at--;
		json_array_insert_new(ports, at, row);
	}
	json_object_set_new(row, "isolated", json_true());
	json_object_set_new(row, "peer",
			    json_pack("{s:O, s:O, s:O}", "name", json_object_get(link, "peer"),
				      "guid", json_object_get(link, "peer_guid"), "port",
				      json_object_get(link, "peer_port")));
	if (errors && !json_object_get(row, "errors"))
		json_object_set(row, "errors", errors);
	json_decref(errors);
	return row;
}

/* The row of a port; NULL: the page has none. */
static json_t *row_of(json_t *ports, uint64_t port)
{
	json_t *row;
	size_t i;

	json_array_foreach(ports, i, row)
	{
		if (ctl_number(row, "port") == port)
			return row;
	}
	return NULL;
}

void why_trends(const struct running *from, const char *node, unsigned port, json_t *ports,
		json_t *suspicious)
{
	json_t *a = running_ask_about(from, "perf", "node", node), *row;
	const json_t *link;
	bool silent = false;
	size_t i;

	json_array_foreach(json_object_get(a, "ports"), i, link)
	{
		silent |= has_flag(link, "silent");
		if (port && ctl_number(link, "port") != port)
			continue;
		row = row_of(ports, ctl_number(link, "port"));
		if (has_flag(link, "isolated") && !json_object_get(row, "peer"))
			row = row_of_isolated(ports, row, link);
		if (row)
			link_take(from, node, a, link, row, suspicious);
	}
	if (silent)
		json_array_append_new(suspicious,
				      json_string("it does not answer queries of counters"));
	json_decref(a);
}
