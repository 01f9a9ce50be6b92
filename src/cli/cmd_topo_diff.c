/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo diff: the differences of two fabrics as text and JSON. Keeps no state. Way in: cmd_topo_diff.
 * Does not compare: fab_diff() does.
 */
#include "cli/cmds.h"

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

static int diff_json(const struct fab *const f[2], const fab_diff_list *l)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_bool(&j, "equal", !l->n);
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

static int diff_text(const struct fab *const f[2], const fab_diff_list *l)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < l->n; i++) {
		const struct fab_diff_item *d = &l->at[i];

		strbuf_addf(&b, "%s %-12s  ", diff_kinds[d->kind].sign, diff_kinds[d->kind].word);
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
	if (!l->n)
		strbuf_add(&b, "no difference\n");
	return cli_write("-", &b);
}

static int diff_run(char **args, unsigned nargs UNUSED)
{
	struct fab *f[2] = {NULL, NULL};
	fab_diff_list l = {0};
	int rc = CLI_BAD;

	if (!strcmp(args[0], "-") && !strcmp(args[1], "-"))
		return cli_bad("only one of the two files can be standard input");
	f[0] = cli_load(args[0]);
	f[1] = f[0] ? cli_load(args[1]) : NULL;
	if (f[1]) {
		const struct fab *const both[2] = {f[0], f[1]};

		fab_diff(f[0], f[1], &l);
		rc = cli_json ? diff_json(both, &l) : diff_text(both, &l);
		if (rc == CLI_OK && l.n)
			rc = CLI_NO;
		fab_diff_free(&l);
	}
	fab_free(f[0]);
	fab_free(f[1]);
	return rc;
}

const struct cli_cmd cmd_topo_diff = {
	.name = "topo diff",
	.args = "BEFORE AFTER",
	.summary = "list the differences between two netlists",
	.about =
		"Nodes are compared by GUID; their order in the files does not matter. The status is 0 if "
		"the netlists are equal and 1 if they differ.",
	.examples =
		"weft topo diff yesterday.txt today.txt\nibnetdiscover | weft topo diff plan.txt -",
	.min_args = 2,
	.max_args = 2,
	.run = diff_run,
};
