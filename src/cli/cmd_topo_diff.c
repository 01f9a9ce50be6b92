/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo diff: the differences of two fabrics as text and JSON. State: the options of the running command. Way in:
 * cmd_topo_diff. Does not compare: fab_diff() and cable_diff() do.
 */
#include "cli/cable_diff.h"
#include "cli/cmds.h"
#include "cli/running_manager.h"

static struct {
	bool lids, live, names;
	struct running from;
} o;

static const struct {
	const char *word, *sign;
} diff_kinds[] = {
	[FAB_NODE_ADDED] = {"node added", "+"},	    [FAB_NODE_GONE] = {"node removed", "-"},
	[FAB_LINK_ADDED] = {"link added", "+"},	    [FAB_LINK_GONE] = {"link removed", "-"},
	[FAB_NODE_CHANGED] = {"node changed", "~"},
};

/* The node's id and name, from the newer snapshot if it is in both. */
static void node_text(struct strbuf *b, const struct fab *const f[2], uint64_t guid)
{
	for (int i = 1; i >= 0; i--) {
		node_id n = fab_node_by_guid(f[i], guid);
		char ident[32];

		if (n == FAB_NONE)
			continue;
		fab_node_ident(f[i], n, ident);
		strbuf_addf(b, "%s \"%s\"", ident, fab_node_name(f[i], n));
		return;
	}
	strbuf_addf(b, "0x%016llx", (unsigned long long)guid);
}

static const char *node_name(const struct fab *const f[2], uint64_t guid)
{
	for (int i = 1; i >= 0; i--) {
		node_id n = fab_node_by_guid(f[i], guid);

		if (n != FAB_NONE)
			return fab_node_name(f[i], n);
	}
	return "";
}

static const struct {
	const char *word, *sign;
} cable_words[] = {
	[CABLE_SWAPPED] = {"cables swapped", "x"},
	[CABLE_MOVED] = {"cable moved", ">"},
	[CABLE_SLOWER] = {"link slower", "!"},
	[CABLE_FASTER] = {"link faster", "~"},
};

static unsigned cables_of(const struct cable_item *c)
{
	return c->fate == CABLE_SWAPPED ? 2 : 1;
}

static void end_json(struct json *j, const char *key, const struct fab *const f[2],
		     const struct cable_end *e)
{
	json_open(j, key, '{');
	json_hex64(j, "guid", e->guid);
	json_str(j, "name", node_name(f, e->guid));
	json_u64(j, "port", e->port);
	json_close(j);
}

static void cables_list_json(struct json *j, const char *key, const struct fab *const f[2],
			     const struct cable *c, unsigned n)
{
	json_open(j, key, '[');
	for (unsigned i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		end_json(j, "a", f, &c[i].a);
		end_json(j, "b", f, &c[i].b);
		json_close(j);
	}
	json_close(j);
}

static void cables_json(struct json *j, const struct fab *const f[2], const cable_list *l)
{
	json_open(j, "cables", '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct cable_item *c = &l->at[i];

		json_open(j, NULL, '{');
		json_str(j, "kind", cable_words[c->fate].word);
		cables_list_json(j, "before", f, c->was, cables_of(c));
		if (c->fate <= CABLE_MOVED)
			cables_list_json(j, "after", f, c->now, cables_of(c));
		else
			json_str(j, "what", c->text);
		json_close(j);
	}
	json_close(j);
}

static void cable_text(struct strbuf *b, const struct fab *const f[2], const struct cable *c)
{
	node_text(b, f, c->a.guid);
	strbuf_addf(b, "[%u] - ", c->a.port);
	node_text(b, f, c->b.guid);
	strbuf_addf(b, "[%u]", c->b.port);
}

static void cables_text(struct strbuf *b, const struct fab *const f[2], const cable_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct cable_item *c = &l->at[i];

		for (unsigned k = 0; k < cables_of(c); k++) {
			strbuf_addf(b, "%s %-14s  ", k ? " " : cable_words[c->fate].sign,
				    k ? "" : cable_words[c->fate].word);
			cable_text(b, f, &c->was[k]);
			if (c->fate <= CABLE_MOVED) {
				strbuf_add(b, " is now ");
				cable_text(b, f, &c->now[k]);
			} else {
				strbuf_addf(b, ": %s", c->text);
			}
			strbuf_add(b, "\n");
		}
	}
}

static int diff_json(const struct fab *const f[2], const fab_diff_list *l, const cable_list *cables)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_bool(&j, "equal", !l->n && !cables->n);
	cables_json(&j, f, cables);
	json_open(&j, "changes", '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct fab_diff_item *d = &l->at[i];

		json_open(&j, NULL, '{');
		json_str(&j, "kind", diff_kinds[d->kind].word);
		json_hex64(&j, "guid", d->guid_a);
		json_str(&j, "name", node_name(f, d->guid_a));
		if (d->kind == FAB_LINK_ADDED || d->kind == FAB_LINK_GONE) {
			json_u64(&j, "port", d->port_a);
			json_hex64(&j, "peer_guid", d->guid_b);
			json_str(&j, "peer_name", node_name(f, d->guid_b));
			json_u64(&j, "peer_port", d->port_b);
		}
		if (d->text)
			json_str(&j, "what", d->text);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static int diff_text(const struct fab *const f[2], const fab_diff_list *l, const cable_list *cables)
{
	struct strbuf b = {0};

	cables_text(&b, f, cables);
	for (size_t i = 0; i < l->n; i++) {
		const struct fab_diff_item *d = &l->at[i];

		strbuf_addf(&b, "%s %-14s  ", diff_kinds[d->kind].sign, diff_kinds[d->kind].word);
		node_text(&b, f, d->guid_a);
		if (d->kind == FAB_LINK_ADDED || d->kind == FAB_LINK_GONE) {
			strbuf_addf(&b, "[%u] - ", d->port_a);
			node_text(&b, f, d->guid_b);
			strbuf_addf(&b, "[%u]", d->port_b);
		} else if (d->kind == FAB_NODE_CHANGED && d->port_a) {
			strbuf_addf(&b, "[%u]", d->port_a);
		}
		strbuf_addf(&b, "%s%s\n", d->text ? ": " : "", d->text ? d->text : "");
	}
	if (!l->n && !cables->n)
		strbuf_add(&b, "no difference\n");
	return cli_write("-", &b);
}

/* ---- links that are plugged, though the running manager uses none of them ---- */

static const char *unused_why(const json_t *node, unsigned port)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i, row)
	{
		if (json_integer_value(json_object_get(row, "port")) != port)
			continue;
		if (json_is_true(json_object_get(row, "isolated")))
			return "it is sick, and the manager has isolated it";
		if (json_is_true(json_object_get(row, "held")))
			return "it changes too often, and the manager holds it down";
	}
	return NULL;
}

/* The last answer is kept: links come by switch. */
struct last_node {
	uint64_t guid;
	json_t *answer;
};

static const char *unused_end(struct last_node *l, uint64_t guid, unsigned port)
{
	char text[24];

	if (l->guid != guid) {
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)guid);
		json_decref(l->answer);
		l->answer = running_ask_about(&o.from, "node", "node", text);
		l->guid = guid;
	}
	return unused_why(l->answer, port);
}

static void unused_explain(fab_diff_list *l)
{
	struct last_node a = {0}, b = {0};

	for (size_t i = 0; i < l->n; i++) {
		struct fab_diff_item *d = &l->at[i];
		const char *why;

		if (d->kind != FAB_LINK_GONE || d->text)
			continue;
		why = unused_end(&a, d->guid_a, d->port_a);
		why = why ? why : unused_end(&b, d->guid_b, d->port_b);
		if (why)
			d->text = mem_strdup(why);
	}
	json_decref(a.answer);
	json_decref(b.answer);
}

static int diff_show(const struct fab *const f[2])
{
	fab_diff_list l = {0};
	cable_list cables = {0};
	int rc;

	fab_diff_some(f[0], f[1], o.lids ? FAB_DIFF_LIDS : 0, &l);
	cable_diff(f[0], f[1], &l, &cables);
	if (o.live)
		unused_explain(&l);
	rc = cli_json ? diff_json(f, &l, &cables) : diff_text(f, &l, &cables);
	if (rc == CLI_OK && (l.n || cables.n))
		rc = CLI_NO;
	fab_diff_free(&l);
	vec_free(&cables);
	return rc;
}

/* ---- by name ---- */

struct named {
	const char *name;
	node_id n;
};

static int named_order(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Nodes in the order of their names. */
static struct named *names_of(const struct fab *f)
{
	struct named *v = mem_array(f->nnodes + 1, sizeof(*v));

	for (node_id n = 0; n < f->nnodes; n++)
		v[n] = (struct named){fab_node_name(f, n), n};
	qsort(v, f->nnodes, sizeof(*v), named_order);
	return v;
}

static bool is_alone(const struct named *v, uint32_t n, uint32_t i)
{
	return (!i || strcmp(v[i].name, v[i - 1].name)) &&
	       (i + 1 == n || strcmp(v[i].name, v[i + 1].name));
}

/* GUIDs for the nodes of f: those of nodes of `like` with the same name; others must not be met there by chance. NULL after a
 * message: a name is used twice. */
static uint64_t *guids_by_name(const struct fab *f, const struct fab *like)
{
	struct named *a = names_of(f), *b = names_of(like);
	uint64_t *guids = mem_array(f->nnodes + 1, sizeof(*guids));

	for (uint32_t i = 0, k = 0; guids && i < f->nnodes; i++) {
		while (k < like->nnodes && strcmp(b[k].name, a[i].name) < 0)
			k++;
		guids[a[i].n] = k < like->nnodes && !strcmp(b[k].name, a[i].name)
					? like->nodes[b[k].n].guid
					: ~(uint64_t)a[i].n;
		if (is_alone(a, f->nnodes, i))
			continue;
		cli_bad("found two nodes called '%s', expected different names with --names",
			a[i].name);
		free(guids);
		guids = NULL;
	}
	free(a);
	free(b);
	return guids;
}

/* What a plan does not say is as it is there: GUIDs, kind of device, ports without a cable. */
static void node_like(struct fab_builder *b, const struct fab *f, node_id n, const struct fab *like,
		      uint64_t guid)
{
	node_id m = fab_node_by_guid(like, guid), made;
	unsigned nports = f->nodes[n].nports;
	struct fab_node *v;

	if (m != FAB_NONE)
		nports = MAX(nports, (unsigned)like->nodes[m].nports);
	made = fab_add_node(b, f->nodes[n].type, guid, nports, fab_node_name(f, n));
	v = fab_builder_node(b, made);
	v->flags = f->nodes[n].flags;
	if (m == FAB_NONE)
		return;
	v->sys_guid = like->nodes[m].sys_guid;
	v->vendor_id = like->nodes[m].vendor_id;
	v->device_id = like->nodes[m].device_id;
	v->flags = like->nodes[m].flags;
	for (unsigned p = 0; p <= like->nodes[m].nports; p++)
		fab_builder_port(b, made, p)->guid = like->ports[fab_port_id(like, m, p)].guid;
}

/* A copy of f in which nodes have the GUIDs of those of `like` with the same name. NULL after a message. */
static struct fab *named_like(const struct fab *f, const struct fab *like)
{
	uint64_t *guids = guids_by_name(f, like);
	struct fab_builder *b = fab_builder_new();

	for (node_id n = 0; guids && n < f->nnodes; n++)
		node_like(b, f, n, like, guids[n]);
	for (port_id p = 0; guids && p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];
		struct fab_port *made = fab_builder_port(b, q->node, q->num);

		made->width = q->width;
		made->speed = q->speed;
		made->lid = q->lid;
		made->lmc = q->lmc;
		if (q->peer != FAB_NONE && q->peer < p)
			fab_add_link(b, q->node, q->num, f->ports[q->peer].node,
				     f->ports[q->peer].num);
	}
	if (guids) {
		free(guids);
		return fab_build(b);
	}
	fab_builder_free(b);
	return NULL;
}

static struct fab *second_load(char **args)
{
	if (!o.live)
		return cli_load(args[1]);
	return running_find(&o.from) ? NULL : running_topology(&o.from);
}

static int diff_run(char **args, unsigned nargs)
{
	struct fab *f[2] = {NULL, NULL};
	int rc = CLI_BAD;

	if (nargs < 2 && !o.live)
		return cli_bad("expected a second netlist, or --live; found one netlist");
	if (nargs == 2 && o.live)
		return cli_bad("--live stands for the second netlist; found two netlists");
	if (nargs == 2 && !strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two files can be standard input");
	f[0] = cli_load(args[0]);
	f[1] = f[0] ? second_load(args) : NULL;
	if (f[1] && o.names) {
		struct fab *plan = named_like(f[0], f[1]);

		fab_free(f[0]);
		f[0] = plan;
	}
	if (f[0] && f[1])
		rc = diff_show((const struct fab *const[2]){f[0], f[1]});
	fab_free(f[0]);
	fab_free(f[1]);
	return rc;
}

static const struct cli_opt opts[] = {
	{.name = "live",
	 .type = CLI_FLAG,
	 .dst = &o.live,
	 .help = "compare with the subnet of a running manager"},
	{.name = "lids", .type = CLI_FLAG, .dst = &o.lids, .help = "compare LIDs and LMCs, too"},
	{.name = "names",
	 .type = CLI_FLAG,
	 .dst = &o.names,
	 .help = "compare nodes by name: for plans without GUIDs"},
	RUNNING_OPTS(o.from),
	{0},
};

const struct cli_cmd cmd_topo_diff = {
	.name = "topo diff",
	.args = "BEFORE [AFTER]",
	.summary = "list the differences between two netlists: a plan and what is there",
	.about =
		"Nodes are compared by GUID; their order in the files does not matter, LIDs only with --lids. "
		"Cables that exchanged their ends, that are plugged elsewhere, and links that are slower are "
		"named as such; with --live also links that the manager isolates or holds down. The status is 0 if the netlists are "
		"equal and 1 if they differ.",
	.examples =
		"weft topo diff yesterday.txt today.txt\nibnetdiscover | weft topo diff plan.txt -\n"
		"weft topo diff plan.txt --live\nweft topo diff plan.topo --live --names",
	.opts = opts,
	.min_args = 1,
	.max_args = 2,
	.run = diff_run,
};
