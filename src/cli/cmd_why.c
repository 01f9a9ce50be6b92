/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft why: one page about a host, a switch or a cable, from a running manager. State: the options of the running command, and the
 * page. Way in: cmd_why. Changes nothing; counters are read from the device, not cleared.
 */
#include "cli/cmds.h"
#include "cli/ctl.h"
#include "cli/why.h"

static struct {
	struct running from;
	bool no_counters;
} o;

void why_suspect(struct why_page *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(p->suspicious, json_string(text));
}

/* ---- ports ---- */

const json_t *why_port_of(const json_t *node, unsigned num)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i,
			   p) if (ctl_number(p, "port") == num) return p;
	return NULL;
}

/* What both ends of the cable could, and what they are set to at most; 0 where the other end cannot be asked. */
struct could {
	struct why_rate could, set;
};

static struct could both_could(const json_t *port)
{
	const json_t *peer = json_object_get(port, "peer"), *far;
	struct could c = {0};
	json_t *other;

	if (!json_is_object(peer))
		return c;
	other = running_ask_about(&o.from, "node", "node", ctl_text(peer, "guid"));
	far = why_port_of(other, (unsigned)ctl_number(peer, "port"));
	if (far) {
		c.could = why_rate_common(why_rate_supported(port), why_rate_supported(far));
		c.set = why_rate_common(why_rate_enabled(port), why_rate_enabled(far));
	}
	json_decref(other);
	return c;
}

static void port_judge(struct why_page *p, const json_t *port, struct why_rate now,
		       const struct could *c)
{
	const json_t *peer = json_object_get(port, "peer");
	unsigned num = (unsigned)ctl_number(port, "port");
	char a[24], b[24];

	why_rate_text(now, a);
	why_rate_text(c->could, b);
	if (why_rate_less(now, c->could) && c->set.width && c->set.speed &&
	    !why_rate_less(now, c->set))
		why_suspect(
			p,
			"port %u runs at %s, though both ends could %s: one of them is set to no more (LinkSpeedEnabled, LinkWidthEnabled)",
			num, a, b);
	else if (why_rate_less(now, c->could))
		why_suspect(
			p,
			"port %u runs at %s, though both ends could %s: reseat or replace the cable to %s port %u",
			num, a, b, ctl_text(peer, "name"), (unsigned)ctl_number(peer, "port"));
	if (strcmp(ctl_text(port, "state"), "Active"))
		why_suspect(p, "port %u has a link to %s but is %s, not Active", num,
			    ctl_text(peer, "name"), ctl_text(port, "state"));
}

static void port_add(struct why_page *p, json_t *list, const json_t *port)
{
	json_t *row = json_object(), *peer = json_object_get(port, "peer");
	struct why_rate now = why_rate_active(port);
	struct could c = both_could(port);
	char text[24];

	json_object_set_new(row, "port", json_integer((json_int_t)ctl_number(port, "port")));
	json_object_set(row, "state", json_object_get(port, "state"));
	json_object_set(row, "physical", json_object_get(port, "physical"));
	json_object_set(row, "held", json_object_get(port, "held"));
	if (json_is_object(peer)) {
		why_rate_text(now, text);
		json_object_set_new(row, "rate", json_string(text));
		why_rate_text(c.could, text);
		if (c.could.width && c.could.speed)
			json_object_set_new(row, "could", json_string(text));
		json_object_set(row, "peer", peer);
		port_judge(p, port, now, &c);
	}
	json_array_append_new(list, row);
}

static void ports_add(struct why_page *p, const json_t *node)
{
	json_t *list = json_array();
	const json_t *port;
	bool is_switch = !strcmp(ctl_text(node, "type"), "switch"), linked = false;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i, port)
	{
		bool has = json_is_object(json_object_get(port, "peer"));
		bool is_held = json_is_true(json_object_get(port, "held"));

		linked |= has;
		if (p->port ? ctl_number(port, "port") == p->port
			    : ctl_number(port, "port") && (has || !is_switch || is_held))
			port_add(p, list, port);
	}
	if (!linked)
		why_suspect(p, "no port has a link");
	json_object_set_new(p->w, "ports", list);
}

static void errors_judge(struct why_page *p, unsigned num, const json_t *errors)
{
	struct strbuf b = {0};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)errors, key, value) strbuf_addf(
		&b, "%s%s %lld", b.len ? ", " : "", key, (long long)json_integer_value(value));
	why_suspect(p, "port %u has counted errors: %s", num, b.s);
	strbuf_free(&b);
}

static void counters_add(struct why_page *p)
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

/* ---- partitions, groups, routes ---- */

static void add_once(json_t *list, json_t *text)
{
	const json_t *had;
	size_t k;

	json_array_foreach(list, k, had) if (json_equal(had, text)) break;
	if (k == json_array_size(list))
		json_array_append(list, text);
	json_decref(text);
}

/* As hosts have it: bit 15 of a full member is set. */
static void partition_add(json_t *list, const json_t *row)
{
	const char *as = ctl_text(row, "as");
	uint64_t pkey = 0;

	parse_u64(ctl_text(row, "pkey"), &pkey);
	for (unsigned full = 0; full < 2; full++)
		if (!strcmp(as, "both") || !strcmp(as, full ? "full" : "limited"))
			add_once(list,
				 json_sprintf("0x%04x", (unsigned)pkey | (full ? 0x8000u : 0)));
}

static void memberships_add(struct why_page *p, const json_t *machine)
{
	json_t *a = machine ? json_incref((json_t *)machine)
			    : running_ask_about(&o.from, "memberships", "node", p->node);
	json_t *partitions = json_array(), *groups = json_array();
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(a, "partitions"), i, row) partition_add(partitions, row);
	json_array_foreach(json_object_get(a, "groups"), i, row)
		add_once(groups, json_incref(json_object_get(row, "mgid")));
	if (json_is_array(json_object_get(a, "partitions")) && !json_array_size(partitions))
		why_suspect(p, "it is in no partition: no host can reach it");
	json_object_set_new(p->w, "partitions", partitions);
	json_object_set_new(p->w, "groups", groups);
	json_decref(a);
}

static void slower_judge(struct why_page *p, const json_t *worst)
{
	const json_t *a = json_object_get(worst, "from"), *b = json_object_get(worst, "to");

	why_suspect(p, "routes of %u host%s to it pass a slower link: %s port %u - %s port %u, %s",
		    (unsigned)ctl_number(worst, "hosts"),
		    ctl_number(worst, "hosts") == 1 ? "" : "s", ctl_text(a, "name"),
		    (unsigned)ctl_number(a, "port"), ctl_text(b, "name"),
		    (unsigned)ctl_number(b, "port"), ctl_text(worst, "rate"));
}

static void routes_add(struct why_page *p, const json_t *node)
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
		why_suspect(p, "no host has a route to it");
	json_object_set_new(p->w, "routes", r ? r : json_null());
	fab_free(f);
	json_decref(tree);
}

/* ---- the page ---- */

static void head_add(struct why_page *p, const json_t *node)
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

static void duplicates_judge(struct why_page *p)
{
	json_t *a = running_ask(&o.from, "{\"cmd\":\"status\"}");
	const json_t *d;
	uint64_t guid;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(a, "subnet"), "duplicates"), i,
			   d) if (!parse_u64(ctl_text(d, "guid"), &guid) && p->guid &&
				  guid == p->guid) why_suspect(p, "%s", ctl_text(d, "text"));
	json_decref(a);
}

static void machine_add(struct why_page *p, const json_t *machine)
{
	if (machine)
		json_object_set_new(p->w, "machine",
				    json_pack("{s:O, s:O}", "name",
					      json_object_get(machine, "name"), "guid",
					      json_object_get(machine, "guid")));
}

static void present_fill(struct why_page *p, const json_t *node, const json_t *machine)
{
	head_add(p, node);
	machine_add(p, machine);
	if (!ctl_number(node, "lid"))
		why_suspect(p, "it has no LID: no packet can be sent to it");
	ports_add(p, node);
	counters_add(p);
	why_trends(&o.from, p->node, p->port, json_object_get(p->w, "ports"), p->suspicious);
}

static int page_fill(struct why_page *p, const char *asked)
{
	json_t *changes = running_ask(&o.from, "{\"cmd\":\"changes\"}"), *node, *machine;
	int rc = changes ? why_find(p, asked, changes, &node, &machine) : CLI_BAD;
	bool present = json_is_true(json_object_get(p->w, "present"));

	if (!changes)
		return rc;
	if (!rc && present && p->port && !why_port_of(node, p->port))
		rc = cli_bad("%s has no port %u", p->node, p->port);
	if (!rc && present)
		present_fill(p, node, machine);
	else if (!rc)
		json_object_set_new(p->w, "name", json_string(p->node));
	if (!rc)
		why_changes(p, changes);
	if (!rc)
		duplicates_judge(p);
	if (!rc && present) {
		memberships_add(p, machine);
		routes_add(p, node);
	} else if (!rc && !json_array_size(p->suspicious)) {
		why_suspect(p, "%s", ctl_text(node, "error"));
	}
	json_decref(changes);
	json_decref(node);
	json_decref(machine);
	return rc;
}

static int why_run(char **args, unsigned nargs UNUSED)
{
	struct why_page p = {.from = &o.from};
	struct strbuf out = {0};
	int rc = running_find(&o.from);
	char *text;

	if (rc)
		return rc;
	p.w = json_object();
	p.suspicious = json_array();
	rc = page_fill(&p, args[0]);
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
		"is a GUID, a LID, an id such as S-0002000000000001 or a name, also that of a virtual machine; NODE[PORT] or NODE:PORT is the cable at a port. The status is 1 if "
		"the subnet has no such node: then the page has its last changes.",
	.examples = "weft why 'host 12'\nweft why leaf0_3\nweft why 'leaf0_3[7]' --json",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.run = why_run,
};
