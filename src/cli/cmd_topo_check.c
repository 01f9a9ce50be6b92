/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo check: what is wrong with a netlist. Keeps no state. Way in: cmd_topo_check. Does not check
 * syntax: a file that is not a netlist is refused by the reader.
 */
#include "cli/cmds.h"
#include "cli/topo_output.h"

typedef VEC(char *) text_list;

static void problem(text_list *l, const char *fmt, ...) PRINTF(2, 3);
static void problem(text_list *l, const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = mem_strdup("out of memory");
	va_end(ap);
	vec_push(l, s);
}

static void check_nodes(const struct fab *f, text_list *l)
{
	struct fab_stats s;
	char ident[32];

	if (!f->nnodes)
		problem(l, "no nodes");
	for (node_id n = 0; n < f->nnodes; n++) {
		bool linked = false;

		for (unsigned i = 1; i <= f->nodes[n].nports && !linked; i++)
			linked = f->ports[fab_port_id(f, n, i)].peer != FAB_NONE;
		fab_node_ident(f, n, ident);
		if (!linked)
			problem(l, "%s \"%s\" has no link", ident, fab_node_name(f, n));
	}
	fab_stats(f, &s);
	if (s.components > 1)
		problem(l, "the fabric has %u parts that are not connected to each other",
			s.components);
}

static void check_lids(const struct fab *f, text_list *l)
{
	port_id *owner = mem_array(0x10000 + 128, sizeof(*owner));
	char a[32], b[32];

	memset(owner, 0xff, (0x10000 + 128) * sizeof(*owner));
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *q = &f->ports[p];

		for (unsigned i = 0; q->lid && i < 1u << MIN(q->lmc, 7); i++) {
			port_id *o = &owner[q->lid + i];

			fab_node_ident(f, q->node, b);
			if (*o != FAB_NONE && fab_may_share_lid(f, *o, p))
				continue;
			if (*o != FAB_NONE) {
				fab_node_ident(f, f->ports[*o].node, a);
				problem(l, "LID %u belongs to both %s[%u] and %s[%u]", q->lid + i,
					a, f->ports[*o].num, b, q->num);
			} else {
				*o = p;
			}
		}
	}
	free(owner);
}

struct guid_use {
	uint64_t guid;
	port_id port;
};

static int by_guid(const void *a, const void *b)
{
	const struct guid_use *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static void check_guids(const struct fab *f, text_list *l)
{
	VEC(struct guid_use) v = {0};
	char a[32], b[32];

	for (port_id p = 0; p < f->nports; p++)
		if (f->ports[p].guid)
			vec_push(&v, (struct guid_use){f->ports[p].guid, p});
	if (v.n)
		qsort(v.at, v.n, sizeof(*v.at), by_guid);
	for (size_t i = 1; i < v.n; i++) {
		const struct fab_port *p = &f->ports[v.at[i - 1].port],
				      *q = &f->ports[v.at[i].port];

		if (v.at[i].guid != v.at[i - 1].guid || p->node == q->node)
			continue;
		fab_node_ident(f, p->node, a);
		fab_node_ident(f, q->node, b);
		problem(l, "port GUID 0x%016llx belongs to both %s[%u] and %s[%u]",
			(unsigned long long)v.at[i].guid, a, p->num, b, q->num);
	}
	vec_free(&v);
}

static int check_report(const char *path, const text_list *l)
{
	struct json j = {0};
	int rc = CLI_OK;

	if (cli_json) {
		json_open(&j, NULL, '{');
		json_bool(&j, "clean", !l->n);
		json_open(&j, "problems", '[');
		for (size_t i = 0; i < l->n; i++)
			json_str(&j, NULL, l->at[i]);
		json_close(&j);
		json_close(&j);
		rc = cli_print_json(&j);
	} else {
		for (size_t i = 0; i < l->n; i++)
			printf("%s: %s\n", path, l->at[i]);
		if (l->n)
			printf("%s problem%s\n", cli_count(l->n), l->n == 1 ? "" : "s");
		else
			printf("%s: clean\n", path);
	}
	return rc != CLI_OK ? rc : l->n ? CLI_NO : CLI_OK;
}

static int check_run(char **args, unsigned nargs UNUSED)
{
	struct fab_netlist net;
	struct fab *f = cli_load_quiet(args[0], &net);
	text_list l = {0};
	struct strbuf b = {0};
	int rc;

	if (!f)
		return CLI_BAD;
	for (size_t i = 0; i < net.warnings.n; i++) {
		topo_warning_text(&net.warnings.at[i], &b);
		problem(&l, "%s", b.s);
	}
	check_nodes(f, &l);
	check_guids(f, &l);
	check_lids(f, &l);
	rc = check_report(strcmp(args[0], "-") ? args[0] : "standard input", &l);
	for (size_t i = 0; i < l.n; i++)
		free(l.at[i]);
	vec_free(&l);
	strbuf_free(&b);
	fab_netlist_free(&net);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_topo_check = {
	.name = "topo check",
	.args = "FILE",
	.summary = "check a netlist for errors",
	.about =
		"Lists links that only one of their ends describes, nodes without links, parts that are not "
		"connected to each other, and LIDs or GUIDs used twice. The status is 0 if the netlist has "
		"no problem, 1 if it has one, 2 if FILE is not a netlist.",
	.examples = "ibnetdiscover | weft topo check -",
	.min_args = 1,
	.max_args = 1,
	.run = check_run,
};
