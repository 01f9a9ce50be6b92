/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo slurm: a fabric as Slurm's topology.conf or topology.yaml. State: the options of the running command. Way in:
 * cmd_topo_slurm. slurm_tree.c finds the tree.
 */
#include "cli/cmds.h"
#include "cli/host_groups.h"
#include "cli/slurm_tree.h"

static struct {
	unsigned block;
	bool yaml, blocks;
	const char *out;
	cli_strings groups; /* NAME=NODES */
} o;

/* Nodes with a topology of their own. */
struct group {
	const char *name; /* "": the whole fabric */
	size_t len;
	struct slurm_tree t;
};
typedef VEC(struct group) groups;

static void tree_conf(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_add(
		b,
		"# topology.conf of Slurm, for TopologyPlugin=topology/tree; written by weft topo slurm\n");
	for (size_t i = 0; i < t->n; i++)
		strbuf_addf(b, "SwitchName=%s %s=%s\n", t->at[i].name,
			    t->at[i].leaf ? "Nodes" : "Switches", t->at[i].below.s);
}

static void topology_yaml(const struct group *g, bool first, struct strbuf *b)
{
	if (g->len)
		strbuf_addf(b, "- topology: %.*s\n", (int)g->len, g->name);
	else
		strbuf_addf(b, "- topology: %s\n", o.blocks ? "block" : "tree");
	strbuf_addf(b, "  cluster_default: %s\n", first ? "true" : "false");
}

static void tree_yaml(const struct slurm_tree *t, struct strbuf *b)
{
	strbuf_add(b, "  tree:\n    switches:\n");
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
	strbuf_addf(b, "  block:\n    block_sizes:\n      - %u\n    blocks:\n",
		    o.block ? o.block : t->least);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].leaf)
			strbuf_addf(b, "      - block: %s\n        nodes: \"%s\"\n", t->at[i].name,
				    t->at[i].below.s);
}

static void tree_json(const struct slurm_tree *t, struct json *j)
{
	json_open(j, "switches", '[');
	for (size_t i = 0; i < t->n; i++) {
		json_open(j, NULL, '{');
		json_str(j, "name", t->at[i].name);
		json_str(j, t->at[i].leaf ? "nodes" : "switches", t->at[i].below.s);
		json_close(j);
	}
	json_close(j);
	json_u64(j, "block_size", o.block ? o.block : t->least);
}

static int json_show(const groups *all)
{
	struct json j = {0};
	char name[80];

	json_open(&j, NULL, '{');
	if (!o.groups.n)
		tree_json(&all->at[0].t, &j);
	else
		json_open(&j, "groups", '[');
	for (size_t i = 0; o.groups.n && i < all->n; i++) {
		json_open(&j, NULL, '{');
		snprintf(name, sizeof(name), "%.*s", (int)all->at[i].len, all->at[i].name);
		json_str(&j, "name", name);
		tree_json(&all->at[i].t, &j);
		json_close(&j);
	}
	if (o.groups.n)
		json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static int slurm_write(const groups *all)
{
	struct strbuf b = {0};

	if (cli_json)
		return json_show(all);
	if (!o.yaml) {
		(o.blocks ? block_conf : tree_conf)(&all->at[0].t, &b);
		return cli_write(o.out ? o.out : "-", &b);
	}
	strbuf_add(&b, "# topology.yaml of Slurm, written by weft topo slurm\n---\n");
	for (size_t i = 0; i < all->n; i++) {
		topology_yaml(&all->at[i], !i, &b);
		(o.blocks ? block_yaml : tree_yaml)(&all->at[i].t, &b);
	}
	return cli_write(o.out ? o.out : "-", &b);
}

/* ---- groups of nodes ---- */

/* Letters, digits, '-', '_' and '.'. */
static int name_check(const char *text, size_t *len)
{
	for (*len = 0; text[*len] && text[*len] != '='; ++*len)
		if (!strchr("-_.", text[*len]) && !(text[*len] >= '0' && text[*len] <= '9') &&
		    !((text[*len] | 0x20) >= 'a' && (text[*len] | 0x20) <= 'z'))
			break;
	if (*len && text[*len] == '=' && text[*len + 1])
		return CLI_OK;
	return cli_bad(
		"--group: expected NAME=NODES with a name of letters, digits, '-', '_' and '.', found '%.60s'",
		text);
}

/* All nodes of the group that the text at `first` names: a name may be given several times. */
static int group_find(const struct fab *f, const rt_hosts *hosts, size_t first, size_t len,
		      bool *wanted)
{
	cli_strings nodes = {0};
	rt_hosts found = {0};
	int rc;

	for (size_t i = first; i < o.groups.n; i++)
		if (!strncmp(o.groups.at[i], o.groups.at[first], len + 1))
			vec_push(&nodes, o.groups.at[i] + len + 1);
	rc = host_groups_find(f, "--group", &nodes, hosts, &found);
	for (size_t i = 0; i < found.n; i++)
		wanted[f->ports[found.at[i]].node] = true;
	vec_free(&nodes);
	vec_free(&found);
	return rc;
}

static bool is_repeated(size_t i, size_t len)
{
	for (size_t k = 0; k < i; k++)
		if (!strncmp(o.groups.at[k], o.groups.at[i], len + 1))
			return true;
	return false;
}

static int tree_add(const struct fab *f, const char *file, const bool *wanted, struct group g,
		    groups *all)
{
	struct err e;
	int rc = CLI_OK;

	if (slurm_tree_find(f, wanted, &g.t, &e))
		rc = cli_bad("%s: %s", file, e.text);
	vec_push(all, g);
	return rc;
}

/* Hosts are found by name among those with a LID. */
static int groups_add(const struct fab *f, const char *file, groups *all)
{
	struct err e;
	struct fab *with_lids = fab_assign_lids(f, 0, &e);
	rt_hosts hosts = {0};
	int rc = with_lids ? CLI_OK : cli_bad("%s: %s", file, e.text);

	if (with_lids)
		rt_quality_hosts(with_lids, &hosts);
	for (size_t i = 0; i < o.groups.n && !rc; i++) {
		struct group g = {.name = o.groups.at[i]};
		bool *wanted = mem_zarray((size_t)f->nnodes + 1, sizeof(*wanted));

		rc = name_check(g.name, &g.len);
		if (!rc && !is_repeated(i, g.len)) {
			rc = group_find(with_lids, &hosts, i, g.len, wanted);
			rc = rc ? rc : tree_add(f, file, wanted, g, all);
		}
		free(wanted);
	}
	vec_free(&hosts);
	fab_free(with_lids);
	if (!rc && all->n > 1 && !o.yaml && !cli_json)
		rc = cli_bad(
			"topology.conf has one topology, found %zu groups: use --yaml, or write a file for each group",
			all->n);
	return rc;
}

static int slurm_run(char **args, unsigned nargs UNUSED)
{
	struct fab *f = cli_load(args[0]);
	groups all = {0};
	int rc;

	if (!f)
		return CLI_BAD;
	rc = o.groups.n ? groups_add(f, args[0], &all)
			: tree_add(f, args[0], NULL, (struct group){.name = ""}, &all);
	rc = rc ? rc : slurm_write(&all);
	for (size_t i = 0; i < all.n; i++)
		slurm_tree_free(&all.at[i].t);
	vec_free(&all);
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
	{.name = "group",
	 .type = CLI_LIST,
	 .dst = &o.groups,
	 .arg = "NAME=NODES",
	 .help = "a topology of these nodes alone; again with the same name for further nodes, or with another for a further "
		 "topology (--yaml). NODES: " HOST_GROUPS_HELP},
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
		    "weft topo slurm cluster.net --block\nweft topo slurm cluster.net --yaml\n"
		    "weft topo slurm cluster.net --yaml --group gpu=leaf0_0 --group cpu='host 1*'",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.run = slurm_run,
};
