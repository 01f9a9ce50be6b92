/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft why: one page about a host, a switch or a cable, from a running manager. State: the options of the running command, and the
 * page. Way in: cmd_why. Changes nothing; counters are read from the device, not cleared.
 */
#include "cli/cmds.h"
#include "cli/ctl.h"
#include "cli/why.h"

enum { CHANGES_MOST = 10, DOWNS_OFTEN = 2 };

static struct {
	struct running from;
	bool no_counters;
} o;

struct page {
	json_t *w, *suspicious;
	const char *asked;
	char node[128];
	unsigned port; /* of a cable; 0: the whole device */
};

static void suspect(struct page *p, const char *fmt, ...) PRINTF(2, 3);
static void suspect(struct page *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(p->suspicious, json_string(text));
}

/* "leaf0[3]": the cable at port 3. */
static int place_parse(const char *text, struct page *p)
{
	const char *open = strrchr(text, '[');
	size_t len = strlen(text);
	char *end;

	p->asked = text;
	snprintf(p->node, sizeof(p->node), "%s", text);
	if (!open || open == text || text[len - 1] != ']' || open - text >= (long)sizeof(p->node))
		return CLI_OK;
	p->node[open - text] = 0;
	p->port = (unsigned)strtoul(open + 1, &end, 10);
	if (*end != ']' || !p->port || p->port > 254)
		return cli_bad(
			"expected NODE or NODE[PORT] with a port from 1 to 254, found '%.60s'",
			text);
	return CLI_OK;
}

/* "leaf0:3" as in `weft ctl counters`, where no node is called so. */
static bool place_with_colon(struct page *p)
{
	char *colon = strrchr(p->node, ':');
	uint64_t n;

	if (p->port || !colon || parse_u64(colon + 1, &n) || !n || n > 254)
		return false;
	*colon = 0;
	p->port = (unsigned)n;
	return true;
}

/* ---- ports ---- */

static const json_t *port_of(const json_t *node, unsigned num)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i,
			   p) if (ctl_number(p, "port") == num) return p;
	return NULL;
}

/* What both ends of the cable could; 0 where the other end cannot be asked. */
static struct why_rate both_could(const json_t *port)
{
	const json_t *peer = json_object_get(port, "peer");
	json_t *other;
	struct why_rate r = {0};

	if (!json_is_object(peer))
		return r;
	other = running_ask_about(&o.from, "node", "node", ctl_text(peer, "guid"));
	if (port_of(other, (unsigned)ctl_number(peer, "port")))
		r = why_rate_common(
			why_rate_supported(port),
			why_rate_supported(port_of(other, (unsigned)ctl_number(peer, "port"))));
	json_decref(other);
	return r;
}

static void port_judge(struct page *p, const json_t *port, struct why_rate now,
		       struct why_rate could)
{
	const json_t *peer = json_object_get(port, "peer");
	unsigned num = (unsigned)ctl_number(port, "port");
	char a[24], b[24];

	why_rate_text(now, a);
	why_rate_text(could, b);
	if (why_rate_less(now, could))
		suspect(p,
			"port %u runs at %s, though both ends could %s: reseat or replace the cable to %s port %u",
			num, a, b, ctl_text(peer, "name"), (unsigned)ctl_number(peer, "port"));
	if (strcmp(ctl_text(port, "state"), "Active"))
		suspect(p, "port %u has a link to %s but is %s, not Active", num,
			ctl_text(peer, "name"), ctl_text(port, "state"));
}

static void port_add(struct page *p, json_t *list, const json_t *port)
{
	json_t *row = json_object(), *peer = json_object_get(port, "peer");
	struct why_rate now = why_rate_active(port), could = both_could(port);
	char text[24];

	json_object_set_new(row, "port", json_integer((json_int_t)ctl_number(port, "port")));
	json_object_set(row, "state", json_object_get(port, "state"));
	json_object_set(row, "physical", json_object_get(port, "physical"));
	if (json_is_object(peer)) {
		why_rate_text(now, text);
		json_object_set_new(row, "rate", json_string(text));
		why_rate_text(could, text);
		if (could.width && could.speed)
			json_object_set_new(row, "could", json_string(text));
		json_object_set(row, "peer", peer);
		port_judge(p, port, now, could);
	}
	json_array_append_new(list, row);
}

static void ports_add(struct page *p, const json_t *node)
{
	json_t *list = json_array();
	const json_t *port;
	bool is_switch = !strcmp(ctl_text(node, "type"), "switch"), linked = false;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i, port)
	{
		bool has = json_is_object(json_object_get(port, "peer"));

		linked |= has;
		if (p->port ? ctl_number(port, "port") == p->port
			    : ctl_number(port, "port") && (has || !is_switch))
			port_add(p, list, port);
	}
	if (!linked)
		suspect(p, "no port has a link");
	json_object_set_new(p->w, "ports", list);
}

static void errors_judge(struct page *p, unsigned num, const json_t *errors)
{
	struct strbuf b = {0};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)errors, key, value) strbuf_addf(
		&b, "%s%s %lld", b.len ? ", " : "", key, (long long)json_integer_value(value));
	suspect(p, "port %u has counted errors: %s", num, b.s);
	strbuf_free(&b);
}

static void counters_add(struct page *p)
{
	json_t *a = o.no_counters ? NULL : running_ask_about(&o.from, "counters", "node", p->node),
	       *row;
	const json_t *c;
	size_t i, k;

	json_object_set_new(p->w, "counters",
			    json_boolean(a && json_is_true(json_object_get(a, "ok"))));
	json_array_foreach(json_object_get(a, "ports"), i, c)
		json_array_foreach(json_object_get(p->w, "ports"), k, row)
	{
		json_t *errors = ctl_number(row, "port") == ctl_number(c, "port")
					 ? why_errors(json_object_get(c, "counters"))
					 : NULL;

		if (!errors)
			continue;
		errors_judge(p, (unsigned)ctl_number(row, "port"), errors);
		json_object_set_new(row, "errors", errors);
	}
	json_decref(a);
}

/* ---- changes ---- */

static bool end_is(const struct page *p, const json_t *end)
{
	const char *guid = json_string_value(json_object_get(p->w, "guid"));

	return (!strcmp(ctl_text(end, "name"), ctl_text(p->w, "name")) ||
		(guid && !strcmp(ctl_text(end, "guid"), guid)) ||
		!strcmp(ctl_text(end, "guid"), p->node)) &&
	       (!p->port || ctl_number(end, "port") == p->port);
}

static void event_add(json_t *all, const json_t *change, const json_t *event)
{
	json_array_append_new(
		all,
		json_pack("{s:O, s:O, s:o}", "number", json_object_get(change, "number"), "began",
			  json_object_get(change, "began"), "text",
			  json_sprintf("%s%s", ctl_text(event, "text"), ctl_isolation(change))));
	if (json_array_size(all) > CHANGES_MOST)
		json_array_remove(all, 0);
}

/* The last thing that happened to each port's link, if it went down; the other end is named. */
struct losses {
	const json_t *change[256], *far[256];
};

static void loss_note(struct losses *l, const struct page *p, const json_t *change,
		      const json_t *link)
{
	const json_t *a = json_object_get(link, "a"), *b = json_object_get(link, "b");
	const json_t *near = end_is(p, a) ? a : b;
	bool down = !strcmp(ctl_text(link, "event"), "down") && !*ctl_isolation(change);
	unsigned port = (unsigned)ctl_number(near, "port") & 255;

	l->change[port] = down ? change : NULL;
	l->far[port] = near == a ? b : a;
}

static void losses_judge(struct page *p, const struct losses *l)
{
	for (unsigned i = 0; i < ARRAY_LEN(l->change); i++)
		if (l->change[i] && json_is_true(json_object_get(p->w, "present")))
			suspect(p,
				"port %u lost its link to %s port %u at %.19s: its cable, or the other end",
				i, ctl_text(l->far[i], "name"),
				(unsigned)ctl_number(l->far[i], "port"),
				ctl_text(l->change[i], "began"));
}

static void changes_add(struct page *p)
{
	json_t *a = running_ask(&o.from, "{\"cmd\":\"changes\"}"), *all = json_array();
	struct losses lost = {0};
	const json_t *c, *e;
	unsigned downs = 0;
	size_t i, k;

	json_array_foreach(json_object_get(a, "changes"), i, c)
	{
		json_array_foreach(json_object_get(c, "nodes"), k, e) if (!p->port && end_is(p, e))
			event_add(all, c, e);
		json_array_foreach(json_object_get(c, "links"), k,
				   e) if (end_is(p, json_object_get(e, "a")) ||
					  end_is(p, json_object_get(e, "b")))
		{
			event_add(all, c, e);
			loss_note(&lost, p, c, e);
			downs += !strcmp(ctl_text(e, "event"), "down") && !*ctl_isolation(c);
		}
	}
	if (downs >= DOWNS_OFTEN)
		suspect(p, "its links went down %u times in the manager's history", downs);
	losses_judge(p, &lost);
	json_object_set_new(p->w, "changes", all);
	json_decref(a);
}

/* ---- partitions, groups, routes ---- */

static void partitions_add(struct page *p)
{
	json_t *list = json_array(), *a, *q;
	const json_t *path, *had;
	struct json j = {.line = true};
	size_t i, k;

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", "paths");
	json_str(&j, "from", p->node);
	json_str(&j, "to", p->node);
	json_close(&j);
	a = running_ask(&o.from, j.out.s);
	json_free(&j);
	json_array_foreach(json_object_get(a, "paths"), i, path)
	{
		q = json_object_get(path, "pkey");
		json_array_foreach(list, k, had) if (json_equal(had, q)) break;
		if (k == json_array_size(list))
			json_array_append(list, q);
	}
	json_object_set_new(p->w, "partitions", list);
	json_decref(a);
}

static bool is_member(const struct page *p, const json_t *group)
{
	const json_t *m, *row;
	size_t i, k;

	json_array_foreach(json_object_get(group, "members"), i, m)
	{
		if (!strcmp(ctl_text(m, "name"), ctl_text(p->w, "name")))
			return true;
		json_array_foreach(json_object_get(p->w, "port_guids"), k,
				   row) if (!strcmp(ctl_text(m, "guid"), json_string_value(row)) ||
					    !strcmp(ctl_text(m, "port_guid"),
						    json_string_value(row))) return true;
	}
	return false;
}

static void groups_add(struct page *p)
{
	json_t *a = running_ask(&o.from, "{\"cmd\":\"groups\"}"), *list = json_array();
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(a, "groups"), i, g) if (is_member(p, g))
		json_array_append(list, json_object_get(g, "mgid"));
	json_object_set_new(p->w, "groups", list);
	json_decref(a);
}

static void slower_judge(struct page *p, const json_t *worst)
{
	const json_t *a = json_object_get(worst, "from"), *b = json_object_get(worst, "to");

	suspect(p, "routes of %u hosts to it pass a slower link: %s port %u - %s port %u, %s",
		(unsigned)ctl_number(worst, "hosts"), ctl_text(a, "name"),
		(unsigned)ctl_number(a, "port"), ctl_text(b, "name"),
		(unsigned)ctl_number(b, "port"), ctl_text(worst, "rate"));
}

static void routes_add(struct page *p, const json_t *node)
{
	json_t *tree = running_ask_about(&o.from, "tree", "to", p->node), *r = NULL;
	const char *out = json_string_value(json_object_get(tree, "out"));
	struct fab *f = out ? running_topology(&o.from) : NULL;
	uint64_t guid = 0;

	if (f && !parse_u64(ctl_text(node, "guid"), &guid) && fab_node_by_guid(f, guid) != FAB_NONE)
		r = why_worst_link(f, fab_node_by_guid(f, guid), out);
	if (json_is_true(json_object_get(r, "slower")))
		slower_judge(p, json_object_get(r, "worst"));
	if (!r && f && f->nhosts > 1)
		suspect(p, "no host has a route to it");
	json_object_set_new(p->w, "routes", r ? r : json_null());
	fab_free(f);
	json_decref(tree);
}

/* ---- the page ---- */

static void head_add(struct page *p, const json_t *node)
{
	static const char *const keys[] = {"name", "id", "guid", "type", "lid"};
	json_t *guids = json_array();
	const json_t *port;
	size_t i;

	for (unsigned k = 0; k < ARRAY_LEN(keys); k++)
		json_object_set(p->w, keys[k], json_object_get(node, keys[k]));
	json_array_foreach(json_object_get(node, "ports"), i,
			   port) if (json_is_string(json_object_get(port, "port_guid")))
		json_array_append(guids, json_object_get(port, "port_guid"));
	json_object_set_new(p->w, "port_guids", guids);
}

static void absent_judge(struct page *p, const char *error)
{
	const json_t *changes = json_object_get(p->w, "changes");

	if (json_array_size(changes))
		suspect(p,
			"it left the subnet (last change above): no power, no driver, or its cable");
	else
		suspect(p, "%s", error);
}

static int page_fill(struct page *p)
{
	json_t *node = running_ask_about(&o.from, "node", "node", p->node);
	bool present = node && json_is_true(json_object_get(node, "ok"));

	if (node && !present && place_with_colon(p)) {
		json_decref(node);
		node = running_ask_about(&o.from, "node", "node", p->node);
		present = node && json_is_true(json_object_get(node, "ok"));
	}
	if (!node)
		return CLI_BAD;
	json_object_set_new(p->w, "present", json_boolean(present));
	if (present)
		head_add(p, node);
	else
		json_object_set_new(p->w, "name", json_string(p->node));
	if (present && p->port && !port_of(node, p->port)) {
		json_decref(node);
		return cli_bad("%s has no port %u", p->node, p->port);
	}
	if (present) {
		ports_add(p, node);
		counters_add(p);
		why_trends(&o.from, p->node, p->port, json_object_get(p->w, "ports"),
			   p->suspicious);
	}
	changes_add(p);
	if (present) {
		partitions_add(p);
		groups_add(p);
		routes_add(p, node);
	} else {
		absent_judge(p, ctl_text(node, "error"));
	}
	json_decref(node);
	return CLI_OK;
}

static int why_run(char **args, unsigned nargs UNUSED)
{
	struct page p = {0};
	struct strbuf out = {0};
	char *text;
	int rc = place_parse(args[0], &p);

	if (rc || (rc = running_find(&o.from)))
		return rc;
	p.w = json_object();
	p.suspicious = json_array();
	rc = page_fill(&p);
	json_object_set_new(p.w, "suspicious", p.suspicious);
	if (!rc && cli_json) {
		text = json_dumps(p.w, JSON_INDENT(2));
		strbuf_addf(&out, "%s\n", text);
		free(text);
		rc = cli_write("-", &out);
	} else if (!rc) {
		why_show(p.w);
	}
	if (!rc && !json_is_true(json_object_get(p.w, "present")))
		rc = CLI_NO;
	json_decref(p.w);
	return rc;
}

static const struct cli_opt opts[] = {
	RUNNING_OPTS(o.from),
	{.name = "no-counters",
	 .type = CLI_FLAG,
	 .dst = &o.no_counters,
	 .help = "do not read the device's counters"},
	{0},
};

const struct cli_cmd cmd_why = {
	.name = "why",
	.args = "NODE",
	.summary = "one page about a host, a switch or a cable, and what is suspicious about it",
	.about =
		"Asks the running manager where NODE is plugged, at which rate and what both ends could, which errors its ports "
		"counted, what changed lately, its partitions and multicast groups, and the worst link of all routes to it. NODE "
		"is a GUID, an id such as S-0002000000000001 or a name; NODE[PORT] or NODE:PORT is the cable at a port. The status is 1 if "
		"the subnet has no such node: then the page has its last changes.",
	.examples = "weft why 'host 12'\nweft why leaf0_3\nweft why 'leaf0_3[7]' --json",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.run = why_run,
};
