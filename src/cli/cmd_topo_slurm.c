/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo slurm: a fabric as Slurm's topology.conf or topology.yaml. State: the options of the running command. Way in:
 * cmd_topo_slurm. slurm_tree.c finds the tree.
 */
#include "cli/cmds.h"
#include "cli/slurm_tree.h"

static struct {
	unsigned block;
	bool yaml, blocks;
	const char *out;
} o;

static void tree_conf(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_add(
		b,
		"# topology.conf of Slurm, for TopologyPlugin=topology/tree; written by weft topo slurm\n");
	for (size_t i = 0; i < t->n; i++)
		strbuf_addf(b, "SwitchName=%s %s=%s\n", t->at[i].name,
			    t->at[i].leaf ? "Nodes" : "Switches", t->at[i].below.s);
}

static void tree_yaml(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_add(b,
		   "# topology.yaml of Slurm, written by weft topo slurm\n---\n- topology: tree\n"
		   "  cluster_default: true\n  tree:\n    switches:\n");
	for (size_t i = 0; i < t->n; i++)
		strbuf_addf(b, "      - switch: %s\n        %s: \"%s\"\n", t->at[i].name,
			    t->at[i].leaf ? "nodes" : "children", t->at[i].below.s);
}

static void block_conf(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_add(
		b,
		"# topology.conf of Slurm, for TopologyPlugin=topology/block; written by weft topo slurm\n");
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].leaf)
			strbuf_addf(b, "BlockName=%s Nodes=%s\n", t->at[i].name, t->at[i].below.s);
	strbuf_addf(b, "BlockSizes=%u\n", o.block ? o.block : t->least);
}

static void block_yaml(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_addf(
		b,
		"# topology.yaml of Slurm, written by weft topo slurm\n---\n- topology: block\n"
		"  cluster_default: true\n  block:\n    block_sizes:\n      - %u\n    blocks:\n",
		o.block ? o.block : t->least);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].leaf)
			strbuf_addf(b, "      - block: %s\n        nodes: \"%s\"\n", t->at[i].name,
				    t->at[i].below.s);
}

static void json_show(const struct slurm_tree *t, struct json *j)
{
	json_open(j, NULL, '{');
	json_open(j, "switches", '[');
	for (size_t i = 0; i < t->n; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", t->at[i].name);
		json_str(j, t->at[i].leaf ? "nodes" : "switches", t->at[i].below.s);
		json_close(j);
	}
	json_close(j);
	json_u64(j, "block_size", o.block ? o.block : t->least);
	json_close(j);
}

static int slurm_write(const struct slurm_tree *t)
{
	struct strbuf b = {0};
	struct json j = {0};

	if (cli_json) {
		json_show(t, &j);
		return cli_print_json(&j);
	}
	if (o.blocks)
		(o.yaml ? block_yaml : block_conf)(t, &b);
	else
		(o.yaml ? tree_yaml : tree_conf)(t, &b);
	return cli_write(o.out ? o.out : "-", &b);
}

static int slurm_run(char **args, unsigned nargs UNUSED)
{
	struct fab *f = cli_load(args[0]);
	struct slurm_tree t = {0};
	struct err e;
	int rc;

	if (!f)
		return CLI_BAD;
	rc = slurm_tree_find(f, &t, &e) ? cli_bad("%s: %s", args[0], e.text) : slurm_write(&t);
	slurm_tree_free(&t);
	fab_free(f);
	return rc;
}

static const struct cli_opt opts[] = {
	{.name = "yaml",
	 .type = CLI_FLAG,
	 .dst = &o.yaml,
	 .help = "topology.yaml (Slurm 25.05 and later) instead of topology.conf"},
	{.name = "block",
	 .type = CLI_FLAG,
	 .dst = &o.blocks,
	 .help = "for topology/block: each leaf switch is a block"},
	{.name = "block-size",
	 .type = CLI_UINT,
	 .dst = &o.block,
	 .arg = "N",
	 .help = "smallest block that jobs get; default: the fewest nodes of a leaf switch",
	 .min = 1,
	 .max = 65536},
	{.name = "output",
	 .letter = 'o',
	 .type = CLI_STR,
	 .dst = &o.out,
	 .arg = "FILE",
	 .help = "write this file"},
	{0},
};

const struct cli_cmd cmd_topo_slurm = {
	.name = "topo slurm",
	.args = "FILE",
	.summary = "write the topology file of Slurm for a fabric",
	.about =
		"A tree: switches with hosts are leaves; switches above them that are connected to each other become one switch "
		"of Slurm, since Slurm knows no redundant ones. A node's name is its NodeDescription without the name of the "
		"adapter: 'node12 mlx5_0' and 'node12 HCA-1' are node12. A node at several leaves is listed at the first.",
	.examples = "weft topo slurm cluster.net -o topology.conf\n"
		    "weft topo slurm cluster.net --block\nweft topo slurm cluster.net --yaml",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.run = slurm_run,
};
