/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `weft why` as text. State: none. Way in: why_show(). Judges nothing: the object says what is suspicious.
 */
#include "cli/ctl.h"
#include "cli/why.h"

static void line(const char *label, const char *fmt, ...) PRINTF(2, 3);
static void line(const char *label, const char *fmt, ...)
{
	va_list ap;

	printf("%-14s ", label);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void port_show(const json_t *p, bool first)
{
	const json_t *peer = json_object_get(p, "peer");
	unsigned num = (unsigned)ctl_number(p, "port");

	if (json_is_true(json_object_get(p, "isolated")))
		line(first ? "plugged" : "",
		     "port %u at %s port %u: %s, isolated: no route uses it", num,
		     ctl_text(peer, "name"), (unsigned)ctl_number(peer, "port"),
		     ctl_text(p, "state"));
	else if (json_is_object(peer))
		line(first ? "plugged" : "", "port %u at %s port %u: %s, %s%s%s", num,
		     ctl_text(peer, "name"), (unsigned)ctl_number(peer, "port"),
		     ctl_text(p, "state"), ctl_text(p, "rate"),
		     json_is_string(json_object_get(p, "could")) ? "; both ends could " : "",
		     json_is_string(json_object_get(p, "could")) ? ctl_text(p, "could") : "");
	else if (json_is_true(json_object_get(p, "held")))
		line(first ? "plugged" : "",
		     "port %u: %s, held: it changes too often and counts as Down", num,
		     ctl_text(p, "state"));
	else if (json_is_string(json_object_get(p, "state")))
		line(first ? "plugged" : "", "port %u: nothing (%s, %s)", num, ctl_text(p, "state"),
		     ctl_text(p, "physical"));
	else /* of a host's other ports the manager is told nothing: they may have a link to another subnet */
		line(first ? "plugged" : "", "port %u: no link in this subnet", num);
}

static void errors_show(const json_t *w)
{
	const json_t *p;
	json_t *value;
	const char *key;
	bool any = false;
	size_t i;

	json_array_foreach(json_object_get(w, "ports"), i, p)
		json_object_foreach(json_object_get(p, "errors"), key, value)
	{
		line(any ? "" : "errors", "port %u: %s %lld", (unsigned)ctl_number(p, "port"), key,
		     (long long)json_integer_value(value));
		any = true;
	}
	if (!any)
		line("errors", "%s",
		     json_is_true(json_object_get(w, "counters")) ? "none counted"
								  : "the counters were not read");
}

static void trends_show(const json_t *w)
{
	const json_t *p, *fec;
	bool any = false;
	size_t i;

	json_array_foreach(json_object_get(w, "ports"), i, p)
	{
		if (!json_is_object(json_object_get(p, "trend")))
			continue;
		line(any ? "" : "trend", "port %u: %s", (unsigned)ctl_number(p, "port"),
		     ctl_text(json_object_get(p, "trend"), "text"));
		any = true;
	}
	json_array_foreach(json_object_get(w, "ports"), i, p)
	{
		if ((fec = json_object_get(p, "fec")))
			line("",
			     "port %u: forward error correction corrected %llu blocks, failed for %llu",
			     (unsigned)ctl_number(p, "port"),
			     (unsigned long long)ctl_number(fec, "corrected"),
			     (unsigned long long)ctl_number(fec, "uncorrected"));
	}
}

static void list_show(const json_t *w, const char *key, const char *label, const char *none)
{
	const json_t *list = json_object_get(w, key), *v;
	size_t i;

	json_array_foreach(list, i, v) line(i ? "" : label, "%s", json_string_value(v));
	if (!json_array_size(list))
		line(label, "%s", none);
}

static void changes_show(const json_t *w)
{
	const json_t *list = json_object_get(w, "changes"), *c;
	size_t i;

	json_array_foreach(list, i, c)
		line(i ? "" : "last changes", "%s  %s (change %llu)", ctl_text(c, "began"),
		     ctl_text(c, "text"), (unsigned long long)ctl_number(c, "number"));
	if (!json_array_size(list))
		line("last changes", "none in the manager's history");
}

static void routes_show(const json_t *r)
{
	const json_t *worst = json_object_get(r, "worst"), *a = json_object_get(worst, "from"),
		     *b = json_object_get(worst, "to");

	if (!json_is_object(worst)) {
		line("routes to it", "none");
		return;
	}
	line("routes to it",
	     "from %llu hosts; worst link: %s port %llu - %s port %llu, %s, %llu hosts",
	     (unsigned long long)ctl_number(r, "hosts"), ctl_text(a, "name"),
	     (unsigned long long)ctl_number(a, "port"), ctl_text(b, "name"),
	     (unsigned long long)ctl_number(b, "port"), ctl_text(worst, "rate"),
	     (unsigned long long)ctl_number(worst, "hosts"));
}

/* A key without bit 15 is that of a limited member. */
static void partitions_show(const json_t *w)
{
	const json_t *list = json_object_get(w, "partitions"), *v;
	size_t i;

	json_array_foreach(list, i, v) line(i ? "" : "partitions", "%s%s", json_string_value(v),
					    strtoul(json_string_value(v), NULL, 16) & 0x8000
						    ? ""
						    : ", limited: reaches full members only");
	if (!json_array_size(list))
		line("partitions", "not known");
}

void why_show(const json_t *w)
{
	const json_t *machine = json_object_get(w, "machine");
	const json_t *p;
	size_t i;

	if (json_is_true(json_object_get(w, "present"))) {
		printf("%s: %s, %s, LID %llu\n", ctl_text(w, "name"), ctl_text(w, "type"),
		       ctl_text(w, "id"), (unsigned long long)ctl_number(w, "lid"));
		if (json_is_object(machine))
			line("machine", "%s, GUID %s: a virtual machine or function of this host",
			     ctl_text(machine, "name"), ctl_text(machine, "guid"));
		json_array_foreach(json_object_get(w, "ports"), i, p) port_show(p, !i);
		errors_show(w);
		trends_show(w);
	} else {
		printf("%s: not in the subnet\n", ctl_text(w, "name"));
	}
	changes_show(w);
	if (json_is_true(json_object_get(w, "present"))) {
		partitions_show(w);
		list_show(w, "groups", "groups", "none");
		routes_show(json_object_get(w, "routes"));
	}
	list_show(w, "suspicious", "suspicious", "nothing");
}
