/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The screen of `weft top`. State: none but the view, which the caller owns. Way in: top_screen(). Does not ask, and does not
 * know what a terminal is.
 */
#include "cli/top_screen.h"

#include "cli/cli.h"
#include "cli/ctl.h"

struct page {
	struct strbuf *out;
	unsigned left, columns;
};

/* One line, cut to the screen; bytes that a terminal could take for more than text become question marks. */
static void line(struct page *p, const char *fmt, ...) PRINTF(2, 3);
static void line(struct page *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	size_t n;

	if (!p->left)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = strlen(text);
	n = MIN(n, (size_t)p->columns);
	while (n && text[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
			text[i] = '?';
	strbuf_addn(p->out, text, n);
	strbuf_add(p->out, "\n");
	p->left--;
}

/* ---- words ---- */

static const char *who(const json_t *x, const char *name, const char *guid)
{
	const char *text = ctl_text(x, name);

	return *text && strcmp(text, "-") ? text : ctl_text(x, guid);
}

static void rate(uint64_t bytes, char out[16])
{
	static const char units[] = " kMGT";
	unsigned u = 0;

	while (bytes >= 100000 && u < 4) {
		bytes /= 1000;
		u++;
	}
	snprintf(out, 16, "%u%c", (unsigned)MIN(bytes, (uint64_t)999999), units[u]);
}

static bool has_flag(const json_t *x, const char *flag)
{
	const json_t *f;
	size_t i;

	json_array_foreach(json_object_get(x, "flags"), i, f)
	{
		if (json_string_value(f) && !strcmp(json_string_value(f), flag))
			return true;
	}
	return false;
}

static bool same_text(const json_t *a, const char *key, const json_t *b, const char *other)
{
	return !strcmp(ctl_text(a, key), ctl_text(b, other));
}

/* The other end of a link is before it in the list, and this one has nothing to add. */
static bool is_repeated(const json_t *list, size_t at)
{
	const json_t *x = json_array_get(list, at);

	if (ctl_number(x, "errors") || json_array_size(json_object_get(x, "flags")))
		return false;
	for (size_t i = 0; i < at; i++) {
		const json_t *y = json_array_get(list, i);

		if (ctl_number(x, "port") == ctl_number(y, "peer_port") &&
		    ctl_number(x, "peer_port") == ctl_number(y, "port") &&
		    same_text(x, "guid", y, "peer_guid") && same_text(x, "peer_guid", y, "guid"))
			return true;
	}
	return false;
}

static bool passes(const struct top_view *v, const json_t *list, size_t at)
{
	const json_t *x = json_array_get(list, at);

	if (!strcmp(v->sort, "load") && is_repeated(list, at))
		return false;
	return !*v->filter || strcasestr(ctl_text(x, "node"), v->filter) ||
	       strcasestr(ctl_text(x, "guid"), v->filter) ||
	       strcasestr(ctl_text(x, "peer"), v->filter) ||
	       strcasestr(ctl_text(x, "peer_guid"), v->filter);
}

/* ---- head ---- */

static void head(struct page *p, const struct top_data *d, const struct top_view *v)
{
	const json_t *subnet = json_object_get(d->status, "subnet");
	static const char *const names[] = {"1 links", "2 sick", "3 changes", "4 managers", "port"};
	char tabs[128] = "";
	size_t at = 0;

	/* The port is last: a narrow screen must not cut numbers. */
	if (d->status)
		line(p, "weft top  %s  %llu switches, %llu hosts, %llu links  %s",
		     ctl_text(d->status, "state"),
		     (unsigned long long)ctl_number(subnet, "switches"),
		     (unsigned long long)ctl_number(subnet, "hosts"),
		     (unsigned long long)ctl_number(subnet, "links"),
		     ctl_text(json_object_get(d->status, "port"), "name"));
	else
		line(p, "weft top  no answer");
	if (v->late_s)
		line(p, "the manager has not answered for %u s%s", v->late_s,
		     d->status ? ": what is shown here is older" : "");
	else if (d->perf)
		line(p,
		     "counters: %s ports, round %s; sick %llu, isolated %llu, silent %llu; SA %.0f/s",
		     cli_count(ctl_number(d->perf, "ports")), ctl_duration(d->perf, "round_s"),
		     (unsigned long long)ctl_number(d->perf, "sick"),
		     (unsigned long long)ctl_number(d->perf, "isolated"),
		     (unsigned long long)ctl_number(d->perf, "silent"), v->sa_per_second);
	else
		line(p, "%s", d->why);
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (i < TOP_PORT || v->page == TOP_PORT)
			at += (size_t)snprintf(tabs + at, sizeof(tabs) - at,
					       i == v->page ? "[%s] " : " %s  ", names[i]);
	line(p, "%s sort: %s%s%s%s", tabs, v->sort, *v->filter || v->typing ? "  filter: " : "",
	     v->filter, v->typing ? "_" : "");
}

/* ---- links ---- */

static void link_line(struct page *p, const json_t *x, bool selected, unsigned wide)
{
	char out[16], in[16], node[128], peer[128];

	rate(ctl_number(x, "xmit_bytes_per_second"), out);
	rate(ctl_number(x, "rcv_bytes_per_second"), in);
	snprintf(node, sizeof(node), "%.*s:%llu", (int)wide - 4, who(x, "node", "guid"),
		 (unsigned long long)ctl_number(x, "port"));
	snprintf(peer, sizeof(peer), "%.*s:%llu", (int)wide - 4, who(x, "peer", "peer_guid"),
		 (unsigned long long)ctl_number(x, "peer_port"));
	line(p, "%c%-*s %-*s %7s %7s %5.1f%% %6s %7s %s%s%s", selected ? '>' : ' ', (int)wide, node,
	     (int)wide, peer, out, in, json_number_value(json_object_get(x, "load")) * 100,
	     cli_count(ctl_number(x, "errors")), ctl_text(x, "ber"), has_flag(x, "sick") ? "S" : "",
	     has_flag(x, "isolated") ? "I" : "",
	     has_flag(x, "silent")	? "?"
	     : has_flag(x, "saturated") ? "F"
					: "");
}

/* Names get what is left: at 80 columns, 18 each. */
static unsigned name_width(const struct page *p)
{
	unsigned rest = p->columns > 44 ? p->columns - 44 : 0;

	return MIN(MAX(rest / 2, 10u), 60u);
}

static unsigned links(struct page *p, const json_t *list, struct top_view *v, unsigned most,
		      bool select)
{
	unsigned wide = name_width(p), n = 0, total = 0, first;
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x) total += passes(v, list, i);
	if (select && v->selected >= total)
		v->selected = total ? total - 1 : 0;
	first = select && most && v->selected >= most ? v->selected - most + 1 : 0;
	line(p, " %-*s %-*s %7s %7s %6s %6s %7s", (int)wide, "port", (int)wide, "peer", "sends/s",
	     "recvs/s", "load", "errors", "BER");
	json_array_foreach(list, i, x)
	{
		bool here = select && n == v->selected;

		if (!passes(v, list, i))
			continue;
		if (n >= first && n < first + most)
			link_line(p, x, here, wide);
		if (here)
			snprintf(v->chosen, sizeof(v->chosen), "%.80s:%u", ctl_text(x, "guid"),
				 (unsigned)MIN(ctl_number(x, "port"), (uint64_t)255));
		n++;
	}
	return n;
}

/* ---- other pages ---- */

static void silent(struct page *p, const json_t *list)
{
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
		line(p, " %s does not answer queries of its counters", who(x, "node", "guid"));
}

/* 2026-11-18T16:26:12; without the day on a narrow screen, where the rest needs the room. */
static unsigned began_width(const struct page *p)
{
	return p->columns < 100 ? 8 : 19;
}

static const char *began_of(const struct page *p, const json_t *x)
{
	const char *text = ctl_text(x, "began"), *t = strchr(text, 'T');

	return began_width(p) == 8 && t ? t + 1 : text;
}

static void change_line(struct page *p, const json_t *x)
{
	const json_t *links_ = json_object_get(x, "links"), *nodes = json_object_get(x, "nodes");
	const json_t *first =
		json_array_size(nodes) ? json_array_get(nodes, 0) : json_array_get(links_, 0);
	size_t more = json_array_size(nodes) + json_array_size(links_);

	line(p, " %5llu %.*s %-10s %9s  %s%s%s", (unsigned long long)ctl_number(x, "number"),
	     (int)began_width(p), began_of(p, x), ctl_text(x, "cause"), ctl_duration(x, "time_s"),
	     first ? ctl_text(first, "text") : "", first ? ctl_isolation(x) : "",
	     more > 1 ? ", ..." : "");
}

/* The last one first. */
static void changes(struct page *p, const json_t *list, unsigned most)
{
	line(p, " %5s %-*s %-10s %9s  %s", "no", (int)began_width(p), "began", "cause", "took",
	     "what");
	for (size_t i = json_array_size(list); i-- > 0 && most; most--)
		change_line(p, json_array_get(list, i));
}

static void managers(struct page *p, const struct top_data *d)
{
	const json_t *x, *c;
	const char *name;
	size_t i;

	line(p, " %-20s %-28s %8s %s", "manager", "node", "priority", "state");
	json_array_foreach(json_object_get(d->status, "managers"), i, x)
		line(p, " %-20s %-28.28s %8llu %s%s", ctl_text(x, "guid"), ctl_text(x, "name"),
		     (unsigned long long)ctl_number(x, "priority"), ctl_text(x, "state"),
		     json_is_true(json_object_get(x, "own")) ? ", this one" : "");
	line(p, " ");
	line(p, " %-28s %10s %10s %10s", "subnet administration", "requests", "answered",
	     "refused");
	json_object_foreach(json_object_get(d->sa, "by_attribute"), name, c)
		line(p, " %-28s %10s %10s %10s", name, cli_count(ctl_number(c, "requests")),
		     cli_count(ctl_number(c, "answered")), cli_count(ctl_number(c, "refused")));
}

/* The last slots as columns of text: how much of the link is used. */
static void hour_line(struct page *p, const json_t *port, unsigned what, const char *label)
{
	static const char marks[] = " .:-=+*#%@";
	const json_t *s = json_object_get(json_object_get(port, "hour"), "samples"), *v;
	unsigned n = p->columns > 14 ? MIN(p->columns - 14, 180u) : 0, at = 0;
	uint64_t top = 1;
	char text[192];
	size_t i;

	json_array_foreach(s, i, v) top =
		MAX(top, (uint64_t)json_integer_value(json_array_get(v, what)));
	json_array_foreach(s, i, v)
	{
		uint64_t x = (uint64_t)json_integer_value(json_array_get(v, what));

		if (i + n >= json_array_size(s))
			text[at++] = json_is_array(v) ? marks[x ? 1 + x * 8 / top : 0] : '?';
	}
	text[at] = 0;
	line(p, " %-9s |%s|", label, text);
}

static void port(struct page *p, const struct top_data *d, struct top_view *v)
{
	const json_t *x = json_array_get(json_object_get(d->port, "ports"), 0), *c;
	const char *name;

	if (!x) {
		line(p, " %s", *d->why ? d->why : "there is no such port");
		return;
	}
	links(p, json_object_get(d->port, "ports"), v, 1, false);
	line(p, " link %.1f Gb/s, PortXmitWait %s/s",
	     json_number_value(json_object_get(x, "bits_per_second")) / 1e9,
	     cli_count(ctl_number(x, "wait_per_second")));
	hour_line(p, x, 0, "sends");
	hour_line(p, x, 1, "receives");
	hour_line(p, x, 3, "errors");
	line(p, " %-20s %20s %20s", "counter", "since the first read", "in the device");
	json_object_foreach(json_object_get(x, "counted"), name, c)
		line(p, " %-20s %20lld %20llu", name, (long long)json_integer_value(c),
		     (unsigned long long)ctl_number(json_object_get(x, "device"), name));
}

/* A large screen has the sick links and the last changes below the busiest links. */
static void links_page(struct page *p, const struct top_data *d, struct top_view *v)
{
	bool large = p->left >= 36;
	unsigned below = large ? p->left / 3 : 0,
		 most = p->left > below + 2 ? p->left - below - 2 : 0;

	links(p, json_object_get(d->perf, "links"), v, most, true);
	if (!large)
		return;
	while (p->left > below)
		line(p, " ");
	line(p, " sick: %llu", (unsigned long long)ctl_number(d->sick, "sick"));
	links(p, json_object_get(d->sick, "links"), v, below / 2 - 3, false);
	changes(p, json_object_get(d->changes, "changes"), p->left > 2 ? p->left - 2 : 0);
}

void top_screen(const struct top_data *d, struct top_view *v, unsigned rows, unsigned columns,
		struct strbuf *out)
{
	struct page p = {out, rows, columns};

	v->chosen[0] = 0;
	head(&p, d, v);
	switch (v->page) {
	case TOP_LINKS:
		links_page(&p, d, v);
		break;
	case TOP_SICK:
		links(&p, json_object_get(d->sick, "links"), v, p.left > 6 ? p.left - 6 : 1, true);
		silent(&p, json_object_get(d->sick, "silent_nodes"));
		break;
	case TOP_CHANGES:
		changes(&p, json_object_get(d->changes, "changes"), p.left > 2 ? p.left - 2 : 1);
		break;
	case TOP_MANAGERS:
		managers(&p, d);
		break;
	case TOP_PORT:
	case TOP_NPAGES:
		port(&p, d, v);
		break;
	}
	if (!p.left && rows) { /* the last line is for the keys */
		out->len--;
		while (out->len && out->s[out->len - 1] != '\n')
			out->len--;
		p.left = 1;
	}
	while (p.left > 1)
		line(&p, " ");
	line(&p, "q quit  1-4 pages  s sort  / filter  up, down, enter: port  esc back");
}
