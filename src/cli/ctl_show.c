/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers of the control socket as text. State: none. Ways in: ctl_show_*(). Computes nothing: all that
 * the text says is in the answer.
 */
#include "cli/ctl.h"

/* ---- members of an answer ---- */

static const char *count(const json_t *a, const char *key)
{
	return cli_count(ctl_number(a, key));
}

static bool is_true(const json_t *a, const char *key)
{
	return json_is_true(json_object_get(a, key));
}

/* The name if there is one, else the id. */
static const char *name_or_id(const json_t *node)
{
	const char *name = ctl_text(node, "name");

	return *name && strcmp(name, "-") ? name : ctl_text(node, "id");
}

static void line(const char *label, const char *fmt, ...) PRINTF(2, 3);

static void line(const char *label, const char *fmt, ...)
{
	va_list ap;
	char s[1024];

	va_start(ap, fmt);
	vsnprintf(s, sizeof(s), fmt, ap);
	va_end(ap);
	for (char *p = s; *p; p++) /* names come from devices: no escape sequences */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	printf("%-14s %s\n", label, s);
}

static void add_port(struct cli_table *t, const json_t *row, const char *key)
{
	if (json_is_integer(json_object_get(row, key)))
		cli_table_add(t, "%llu", (unsigned long long)ctl_number(row, key));
	else
		cli_table_add(t, "%s", "");
}

/* ---- status ---- */

static const char *age(double s)
{
	static char buf[64];
	uint64_t n = s > 0 ? (uint64_t)s : 0;

	if (n >= 86400)
		snprintf(buf, sizeof(buf), "%llu d %llu h", (unsigned long long)(n / 86400),
			 (unsigned long long)(n / 3600 % 24));
	else if (n >= 3600)
		snprintf(buf, sizeof(buf), "%llu h %llu min", (unsigned long long)(n / 3600),
			 (unsigned long long)(n / 60 % 60));
	else if (n >= 60)
		snprintf(buf, sizeof(buf), "%llu min %llu s", (unsigned long long)(n / 60),
			 (unsigned long long)(n % 60));
	else
		snprintf(buf, sizeof(buf), "%llu.%llu s", (unsigned long long)n,
			 (unsigned long long)((uint64_t)(s * 10) % 10));
	return buf;
}

static void status_change(const json_t *c)
{
	const json_t *smps = json_object_get(c, "smps");

	if (!json_is_object(c)) {
		line("last change", "none yet");
		return;
	}
	line("last change", "%s at %s, by %s: %s, %s SMPs, %s entries changed in %s blocks%s",
	     count(c, "number"), ctl_text(c, "began"), ctl_text(c, "cause"),
	     ctl_duration(c, "time_s"), count(smps, "all"), count(c, "entries"), count(c, "blocks"),
	     is_true(c, "clean") ? "" : ", some devices did not respond");
}

/* "2 routers, ", or nothing where there are none. */
static const char *routers(const json_t *subnet)
{
	static char text[48];

	snprintf(text, sizeof(text), "%s routers, ", count(subnet, "routers"));
	return ctl_number(subnet, "routers") ? text : "";
}

static void status_subnet(const json_t *a)
{
	const json_t *s = json_object_get(a, "subnet"), *d;
	size_t i;

	if (!ctl_number(s, "switches") && !ctl_number(s, "hosts") &&
	    is_true(json_object_get(a, "mirror"), "on"))
		line("subnet", "not read: this manager has a copy of what the master knows");
	else
		line("subnet", "%s switches, %s hosts, %s%s links, %s LIDs", count(s, "switches"),
		     count(s, "hosts"), routers(s), count(s, "links"), count(s, "lids"));
	if (ctl_number(s, "held_ports"))
		line("held", "%s ports that change state too often", count(s, "held_ports"));
	json_array_foreach(json_object_get(s, "duplicates"), i, d)
		line("duplicate", "%s", ctl_text(d, "text"));
	if (is_true(a, "change_pending"))
		line("pending", "a change was detected and is not done yet");
}

static void status_mirror(const json_t *m)
{
	if (is_true(m, "complete"))
		line("mirror",
		     "complete, %s nodes, %s switches among them, confirmed by the master %s ago",
		     count(m, "nodes"), count(m, "switches"), ctl_duration(m, "age_s"));
	else if (is_true(m, "on"))
		line("mirror", "not complete: taking over would read the subnet");
	else if (ctl_number(m, "mirrors"))
		line("mirror", "%s standby managers have a copy of what this one knows",
		     count(m, "mirrors"));
}

/* ", this manager", or ", NAME": of the master. */
static const char *master_words(const json_t *a)
{
	static char text[128];
	const json_t *m;
	size_t i;

	*text = 0;
	json_array_foreach(json_object_get(a, "managers"), i, m)
	{
		if (strcmp(ctl_text(m, "guid"), ctl_text(a, "master")))
			continue;
		if (is_true(m, "own"))
			snprintf(text, sizeof(text), ", this manager");
		else if (*ctl_text(m, "name"))
			snprintf(text, sizeof(text), ", %.100s", ctl_text(m, "name"));
	}
	return text;
}

static void status_managers(const json_t *a)
{
	const json_t *m;
	size_t i;

	if (json_is_string(json_object_get(a, "master")))
		line("master", "%s%s", ctl_text(a, "master"), master_words(a));
	else
		line("master", "not known");
	json_array_foreach(json_object_get(a, "managers"), i, m)
		line(i ? "" : "managers", "%s %s, priority %llu%s%s%s%s", ctl_text(m, "guid"),
		     ctl_text(m, "state"), (unsigned long long)ctl_number(m, "priority"),
		     *ctl_text(m, "name") ? ", " : "", ctl_text(m, "name"),
		     is_true(m, "own") ? ", this one" : "",
		     is_true(m, "answers") ? "" : ", does not answer");
}

void ctl_show_status(const json_t *a)
{
	const json_t *p = json_object_get(a, "port"), *smps = json_object_get(a, "smps"),
		     *mads = json_object_get(a, "mads");

	line("manager", "weft %s, process %llu, up %s", ctl_text(a, "version"),
	     (unsigned long long)ctl_number(a, "pid"),
	     age(json_number_value(json_object_get(a, "uptime_s"))));
	line("state", "%s, %s%s%s", ctl_text(a, "state"), ctl_text(a, "phase"),
	     is_true(a, "observes") ? ": observes, and sends no Set" : "",
	     is_true(a, "connected") ? "" : ", NOT CONNECTED");
	if (strcmp(ctl_text(a, "administration"), "serving"))
		line("requests", "%s",
		     strcmp(ctl_text(a, "administration"), "busy")
			     ? "of hosts are not answered: this manager is not master"
			     : "of hosts are answered with \"busy\" until the subnet is known");
	line("port", "%s, GUID %s, LID %llu", ctl_text(p, "name"), ctl_text(p, "port_guid"),
	     (unsigned long long)ctl_number(p, "lid"));
	line("mechanism", "%s, priority %llu", ctl_text(a, "mechanism"),
	     (unsigned long long)ctl_number(a, "priority"));
	status_managers(a);
	status_subnet(a);
	status_mirror(json_object_get(a, "mirror"));
	status_change(json_object_get(a, "last_change"));
	if (json_is_number(json_object_get(a, "last_sweep_ago_s")))
		line("sweeps", "%s, the last clean one %s ago", count(a, "sweeps"),
		     ctl_duration(a, "last_sweep_ago_s"));
	else
		line("sweeps", "%s", count(a, "sweeps"));
	line("SMPs", "%s sent, %s of them retries; %s timed out; %s traps received",
	     count(smps, "all"), count(a, "retries"), count(a, "timeouts"), count(a, "traps"));
	line("MADs", "%s in, %s out, %s waiting; %s reconnects", count(mads, "in"),
	     count(mads, "out"), count(mads, "waiting"), count(a, "reconnects"));
	line("engine", "%s%s%s", ctl_text(a, "engine"), *ctl_text(a, "engine_why") ? ": " : "",
	     ctl_text(a, "engine_why"));
	if (*ctl_text(a, "engine_worse"))
		line("warning", "routes are clearly worse than those of auto: %s",
		     ctl_text(a, "engine_worse"));
	line("routes", "computed %s times in %s", count(a, "routes_computed"),
	     ctl_duration(a, "compute_s"));
	line("log level", "%s", ctl_text(a, "log_level"));
}

void ctl_show_reload(const json_t *a)
{
	printf("configuration reloaded\n");
	if (*ctl_text(a, "after_restart"))
		printf("effective after a restart only: %s\n", ctl_text(a, "after_restart"));
}

void ctl_show_rest(const json_t *a)
{
	const json_t *s = json_object_get(a, "subnet");

	if (strcmp(ctl_text(a, "state"), "Master") && !is_true(a, "observes"))
		printf("%s: another manager is the master%s%s%s\n", ctl_text(a, "state"),
		       *ctl_text(a, "master") ? ": " : "", ctl_text(a, "master"), master_words(a));
	else
		printf("%s: %s switches, %s hosts, %s%s links, %s LIDs; no change "
		       "pending\n",
		       is_true(a, "observes") ? "subnet was read" : "subnet is up",
		       count(s, "switches"), count(s, "hosts"), routers(s), count(s, "links"),
		       count(s, "lids"));
}

void ctl_show_smps(const json_t *a)
{
	const json_t *mads = json_object_get(a, "mads"), *v;
	struct cli_table t;
	const char *key;

	cli_table_init(&t, "lr", "SMPs for", "sent");
	json_object_foreach((json_t *)json_object_get(a, "smps"), key, v)
	{
		cli_table_add(&t, "%s", key);
		cli_table_add(&t, "%s", cli_count((uint64_t)json_integer_value(v)));
	}
	cli_table_print(&t, stdout);
	printf("\n");
	line("retries", "%s", count(a, "retries"));
	line("timeouts", "%s", count(a, "timeouts"));
	line("late", "%s responses", count(a, "late"));
	line("invalid", "%s", count(a, "bad"));
	line("traps", "%s", count(a, "traps"));
	line("MADs", "%s in, %s out, %s waiting", count(mads, "in"), count(mads, "out"),
	     count(mads, "waiting"));
}

/* ---- the subnet ---- */

void ctl_show_topology(const json_t *a)
{
	const char *netlist = json_string_value(json_object_get(a, "netlist"));

	if (netlist) {
		fputs(netlist, stdout);
		return;
	}
	line("switches", "%s", count(a, "switches"));
	line("hosts", "%s", count(a, "hosts"));
	line("routers", "%s", count(a, "routers"));
	line("links", "%s", count(a, "links"));
	line("highest LID", "%s", count(a, "top_lid"));
}

void ctl_show_route(const json_t *a)
{
	const json_t *hops = json_object_get(a, "hops"), *h;
	struct cli_table t;
	size_t i;

	cli_table_init(&t, "rlrrrrll", "hop", "type", "LID", "in", "out", "VL", "id", "name");
	json_array_foreach((json_t *)hops, i, h)
	{
		cli_table_add(&t, "%zu", i);
		cli_table_add(&t, "%s", ctl_text(h, "type"));
		add_port(&t, h, "lid");
		add_port(&t, h, "in");
		add_port(&t, h, "out");
		add_port(&t, h, "vl");
		cli_table_add(&t, "%s", ctl_text(h, "id"));
		cli_table_add(&t, "%s", ctl_text(h, "name"));
	}
	cli_table_print(&t, stdout);
	if (ctl_number(a, "sl"))
		line("service level", "%llu", (unsigned long long)ctl_number(a, "sl"));
	if (!is_true(a, "reached"))
		line("NO ROUTE", "%s", ctl_text(a, "why"));
}

void ctl_show_switches(const json_t *a)
{
	const json_t *h;
	struct cli_table t;
	size_t i;

	cli_table_init(&t, "lrrrrrl", "id", "LID", "ports", "to switches", "to hosts", "entries",
		       "name");
	json_array_foreach((json_t *)json_object_get(a, "switches"), i, h)
	{
		cli_table_add(&t, "%s", ctl_text(h, "id"));
		add_port(&t, h, "lid");
		add_port(&t, h, "ports");
		add_port(&t, h, "to_switches");
		add_port(&t, h, "to_hosts");
		cli_table_add(&t, "%s", count(h, "entries"));
		cli_table_add(&t, "%s", ctl_text(h, "name"));
	}
	cli_table_print(&t, stdout);
}

void ctl_show_ports(const json_t *a)
{
	const json_t *h;
	struct cli_table t;
	size_t i;

	cli_table_init(&t, "lrrlllll", "node", "port", "LID", "state", "physical", "rate", "MTU",
		       "leads to");
	json_array_foreach((json_t *)json_object_get(a, "ports"), i, h)
	{
		const json_t *peer = json_object_get(h, "peer");

		cli_table_add(&t, "%s", name_or_id(h));
		add_port(&t, h, "port");
		add_port(&t, h, "lid");
		cli_table_add(&t, "%s", ctl_text(h, "state"));
		cli_table_add(&t, "%s", ctl_text(h, "physical"));
		cli_table_add(&t, "%s%s", ctl_text(h, "width"), ctl_text(h, "speed"));
		cli_table_add(&t, "%s", ctl_text(h, "mtu"));
		if (json_is_object(peer))
			cli_table_add(&t, "%s[%llu]", name_or_id(peer),
				      (unsigned long long)ctl_number(peer, "port"));
		else
			cli_table_add(&t, "%s", "");
	}
	cli_table_print(&t, stdout);
}

/* ---- changes ---- */

enum { SHOWN_EVENTS = 20 }; /* of a change, with a line each */

static void phases_text(const json_t *phases, struct strbuf *out)
{
	const json_t *v;
	const char *key;

	json_object_foreach((json_t *)phases, key, v)
		strbuf_addf(out, "%s%s %s", out->len ? ", " : "", key, ctl_duration(phases, key));
}

const char *ctl_isolation(const json_t *change)
{
	return strcmp(ctl_text(change, "cause"), "isolation")
		       ? ""
		       : " for routes: it is sick and isolated";
}

/* The links and nodes that went and came in one change, a line each; the sentence is the manager's. */
static void show_events(const json_t *change)
{
	static const char *const lists[] = {"nodes", "links"};
	uint64_t n = 0, shown = 0;
	char label[32];
	const json_t *x;
	size_t i;

	snprintf(label, sizeof(label), "change %s", count(change, "number"));
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		json_array_foreach((json_t *)json_object_get(change, lists[k]), i, x)
		{
			if (n++ < SHOWN_EVENTS)
				line(shown++ ? "" : label, "%s%s", ctl_text(x, "text"),
				     ctl_isolation(change));
		}
	n += ctl_number(change, "unlisted");
	if (n > shown)
		line("", "and %s more: see --json", cli_count(n - shown));
}

void ctl_show_changes(const json_t *a)
{
	const json_t *c;
	struct cli_table t;
	size_t i;

	cli_table_init(&t, "rllrrrrrrrrrrll", "no.", "began", "cause", "time", "SMPs", "sweep",
		       "discovery", "config.", "tables", "activ.", "entries", "blocks", "restarts",
		       "clean", "phases");
	json_array_foreach((json_t *)json_object_get(a, "changes"), i, c)
	{
		static const char *const purposes[] = {
			"all", "sweep", "discovery", "configuration", "distribution", "activation"};
		const json_t *smps = json_object_get(c, "smps");
		struct strbuf phases = {0};

		cli_table_add(&t, "%s", count(c, "number"));
		cli_table_add(&t, "%s", ctl_text(c, "began"));
		cli_table_add(&t, "%s", ctl_text(c, "cause"));
		cli_table_add(&t, "%s", ctl_duration(c, "time_s"));
		for (size_t k = 0; k < ARRAY_LEN(purposes); k++)
			cli_table_add(&t, "%s", count(smps, purposes[k]));
		cli_table_add(&t, "%s", count(c, "entries"));
		cli_table_add(&t, "%s", count(c, "blocks"));
		cli_table_add(&t, "%s", count(c, "restarts"));
		cli_table_add(&t, "%s", is_true(c, "clean") ? "yes" : "NO");
		phases_text(json_object_get(c, "phases_s"), &phases);
		cli_table_add(&t, "%s", phases.len ? phases.s : "");
		strbuf_free(&phases);
	}
	cli_table_print(&t, stdout);
	json_array_foreach((json_t *)json_object_get(a, "changes"), i, c) show_events(c);
}

/* ---- the rest ---- */

void ctl_show_text(const json_t *a)
{
	const char *s = json_string_value(json_object_get(a, "text"));

	if (!s || !*s)
		return;
	fputs(s, stdout);
	if (s[strlen(s) - 1] != '\n')
		putchar('\n');
}

void ctl_show_level(const json_t *a)
{
	printf("%s\n", ctl_text(a, "level"));
}

void ctl_show_dump(const json_t *a)
{
	printf("written to %s\n", ctl_text(a, "directory"));
}

/* ---- JSON ---- */

static void break_line(struct strbuf *out, unsigned depth)
{
	strbuf_add(out, "\n");
	while (depth--)
		strbuf_add(out, "  ");
}

void ctl_json_indent(const char *s, struct strbuf *out)
{
	unsigned depth = 0;
	bool quoted = false;

	for (; *s; s++) {
		bool opens = !quoted && (*s == '{' || *s == '['),
		     closes = !quoted && (*s == '}' || *s == ']');
		bool empty = opens && (s[1] == '}' || s[1] == ']');

		if (!quoted && *s == ' ')
			continue;
		depth -= closes && depth;
		if (closes && s[-1] != '{' && s[-1] != '[')
			break_line(out, depth);
		strbuf_addn(out, s, 1);
		if (quoted && *s == '\\' && s[1])
			strbuf_addn(out, ++s, 1);
		else if (*s == '"')
			quoted = !quoted;
		depth += opens;
		if ((opens && !empty) || (!quoted && *s == ','))
			break_line(out, depth);
		else if (!quoted && *s == ':')
			strbuf_add(out, " ");
	}
	strbuf_add(out, "\n");
}
