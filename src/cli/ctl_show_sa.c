/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers about subnet administration as text: counters, paths, groups, partitions, services, subscriptions. State: none. Ways in:
 * ctl_show_*(). Computes nothing: all that the text says is in the answer.
 */
#include "cli/ctl.h"

static void line(const char *label, const char *value)
{
	printf("%-14s %s\n", label, value);
}

static void line_n(const char *label, const json_t *a, const char *key)
{
	line(label, cli_count(ctl_number(a, key)));
}

static const char *who(const json_t *x)
{
	const char *name = ctl_text(x, "name");

	return *name && strcmp(name, "-") ? name : ctl_text(x, "guid");
}

/* A number with its digits, or a word. */
static const char *value(const json_t *x, const char *key)
{
	static char text[4][32];
	static unsigned turn;
	const json_t *v = json_object_get(x, key);
	char *out = text[turn++ % 4];

	if (json_is_real(v))
		snprintf(out, sizeof(text[0]), "%g", json_real_value(v));
	else if (json_is_integer(v))
		snprintf(out, sizeof(text[0]), "%lld", (long long)json_integer_value(v));
	else
		return ctl_text(x, key);
	return out;
}

/* ---- counters ---- */

static void by_attribute(const json_t *list)
{
	static const char *const columns[] = {"requests", "answered", "refused", "untrusted",
					      "dropped"};
	struct cli_table t;
	const char *name;
	const json_t *c;

	if (!json_object_size(list))
		return;
	cli_table_init(&t, "lrrrrr", "attribute", "requests", "answered", "refused", "untrusted",
		       "dropped");
	json_object_foreach((json_t *)list, name, c)
	{
		cli_table_add(&t, "%s", name);
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			cli_table_add(&t, "%s", cli_count(ctl_number(c, columns[i])));
	}
	cli_table_print(&t, stdout);
}

void ctl_show_sa(const json_t *a)
{
	bool serving = json_is_true(json_object_get(a, "serving"));

	line("serving", serving ? "yes" : "no: this manager is not master, or has no subnet yet");
	line_n("requests", a, "requests");
	line_n("responses", a, "responses");
	line_n("segments", a, "segments");
	line_n("groups", a, "groups");
	line_n("members", a, "members");
	line_n("services", a, "services");
	line_n("subscriptions", a, "subscriptions");
	line_n("reports", a, "reports");
	by_attribute(json_object_get(a, "by_attribute"));
}

/* ---- paths ---- */

static void hops_text(const json_t *hops, struct strbuf *out)
{
	const json_t *h;
	size_t i;

	json_array_foreach((json_t *)hops, i, h) strbuf_addf(out, "%s%s", i ? " > " : "", who(h));
}

void ctl_show_paths(const json_t *a)
{
	const json_t *paths = json_object_get(a, "paths"), *p;
	struct cli_table t;
	size_t i;

	if (!json_array_size(paths)) {
		puts("there is no path");
		return;
	}
	cli_table_init(&t, "rrrlrrl", "SLID", "DLID", "SL", "P_Key", "MTU", "Gb/s", "hops");
	json_array_foreach((json_t *)paths, i, p)
	{
		struct strbuf hops = {0};

		cli_table_add(&t, "%s", value(p, "slid"));
		cli_table_add(&t, "%s", value(p, "dlid"));
		cli_table_add(&t, "%s", value(p, "sl"));
		cli_table_add(&t, "%s", ctl_text(p, "pkey"));
		cli_table_add(&t, "%s", value(p, "mtu"));
		cli_table_add(&t, "%s", value(p, "rate"));
		hops_text(json_object_get(p, "hops"), &hops);
		cli_table_add(&t, "%s", hops.len ? hops.s : "");
		strbuf_free(&hops);
	}
	cli_table_print(&t, stdout);
}

/* ---- registrations ---- */

static void nothing_or_more(const json_t *a, const char *what)
{
	uint64_t n = ctl_number(a, "records"), next = ctl_number(a, "next");

	if (!n)
		printf("there are no %s\n", what);
	else if (next < n)
		printf("and %s more records: see --json\n", cli_count(n - next));
}

enum { SHOWN_MEMBERS = 8 };

static void members_text(const json_t *members, struct strbuf *out)
{
	size_t n = json_array_size(members), i;
	const json_t *m;

	json_array_foreach((json_t *)members, i, m)
	{
		if (i < SHOWN_MEMBERS)
			strbuf_addf(out, "%s%s%s", i ? ", " : "", who(m),
				    json_is_true(json_object_get(m, "full")) ? "" : " (sends)");
	}
	if (n > SHOWN_MEMBERS)
		strbuf_addf(out, " and %zu more", n - SHOWN_MEMBERS);
}

void ctl_show_groups(const json_t *a)
{
	const json_t *groups = json_object_get(a, "groups"), *g;
	struct cli_table t;
	size_t i;

	cli_table_init(&t, "lllrrrl", "MGID", "MLID", "P_Key", "SL", "MTU", "Gb/s", "members");
	json_array_foreach((json_t *)groups, i, g)
	{
		struct strbuf members = {0};

		cli_table_add(&t, "%s", ctl_text(g, "mgid"));
		cli_table_add(&t, "%s", ctl_text(g, "mlid"));
		cli_table_add(&t, "%s", ctl_text(g, "pkey"));
		cli_table_add(&t, "%s", value(g, "sl"));
		cli_table_add(&t, "%s", value(g, "mtu"));
		cli_table_add(&t, "%s", value(g, "rate"));
		members_text(json_object_get(g, "members"), &members);
		cli_table_add(&t, "%s", members.len ? members.s : "none");
		strbuf_free(&members);
	}
	if (json_array_size(groups))
		cli_table_print(&t, stdout);
	nothing_or_more(a, "groups");
}

static void partition_flags(const json_t *p, struct strbuf *out)
{
	static const char *const flags[] = {"ipoib", "indx0"};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (json_is_true(json_object_get(p, flags[i])))
			strbuf_addf(out, "%s%s", out->len ? ", " : "", flags[i]);
	if (ctl_number(p, "sl"))
		strbuf_addf(out, "%sSL %s", out->len ? ", " : "", value(p, "sl"));
}

static void partition_members(const json_t *members, size_t all, struct strbuf *out)
{
	const json_t *m;
	size_t i;

	json_array_foreach((json_t *)members, i, m)
	{
		if (i < SHOWN_MEMBERS)
			strbuf_addf(out, "%s%s=%s", i ? ", " : "", who(m), ctl_text(m, "as"));
	}
	if (all > SHOWN_MEMBERS)
		strbuf_addf(out, " and %zu more", all - SHOWN_MEMBERS);
}

static void ipoib_groups(const json_t *groups, struct strbuf *out)
{
	const json_t *g;
	size_t i;

	json_array_foreach((json_t *)groups, i, g)
	{
		if (json_is_true(json_object_get(g, "ipoib")))
			strbuf_addf(out, "%s%s", out->len ? " " : "", ctl_text(g, "mlid"));
	}
}

void ctl_show_partitions(const json_t *a)
{
	const json_t *list = json_object_get(a, "partitions"), *p;
	struct cli_table t;
	size_t i;

	if (!json_is_true(json_object_get(a, "configured")))
		puts("no partitions are configured: devices keep the keys that they have");
	cli_table_init(&t, "lllrrll", "P_Key", "name", "flags", "full", "limited", "IPoIB",
		       "members");
	json_array_foreach((json_t *)list, i, p)
	{
		struct strbuf flags = {0}, groups = {0}, members = {0};

		partition_flags(p, &flags);
		ipoib_groups(json_object_get(p, "groups"), &groups);
		partition_members(json_object_get(p, "members"),
				  ctl_number(p, "full") + ctl_number(p, "limited"), &members);
		cli_table_add(&t, "%s", ctl_text(p, "pkey"));
		cli_table_add(&t, "%s", ctl_text(p, "name"));
		cli_table_add(&t, "%s", flags.len ? flags.s : "");
		cli_table_add(&t, "%s", cli_count(ctl_number(p, "full")));
		cli_table_add(&t, "%s", cli_count(ctl_number(p, "limited")));
		cli_table_add(&t, "%s", groups.len ? groups.s : "");
		cli_table_add(&t, "%s", members.len ? members.s : "none");
		strbuf_free(&flags);
		strbuf_free(&groups);
		strbuf_free(&members);
	}
	if (json_array_size(list))
		cli_table_print(&t, stdout);
	nothing_or_more(a, "partitions");
}

static void list(const json_t *a, const char *what, struct cli_table *t, const char *const *columns,
		 size_t n)
{
	const json_t *rows = json_object_get(a, what), *x;
	size_t i;

	json_array_foreach((json_t *)rows, i, x)
	{
		cli_table_add(t, "%s", who(x));
		for (size_t k = 0; k < n; k++)
			cli_table_add(t, "%s", value(x, columns[k]));
	}
	if (json_array_size(rows))
		cli_table_print(t, stdout);
	nothing_or_more(a, what);
}

void ctl_show_services(const json_t *a)
{
	static const char *const columns[] = {"id", "service", "pkey", "lease_s"};
	struct cli_table t;

	cli_table_init(&t, "llllr", "at", "id", "name", "P_Key", "lease s");
	list(a, "services", &t, columns, ARRAY_LEN(columns));
}

void ctl_show_subscriptions(const json_t *a)
{
	static const char *const columns[] = {"qpn", "trap"};
	struct cli_table t;

	cli_table_init(&t, "lrr", "subscriber", "QP", "trap");
	list(a, "subscriptions", &t, columns, ARRAY_LEN(columns));
}
