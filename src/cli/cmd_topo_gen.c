/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo gen: generate a fabric, or list the families. State: the options of the command. Way in:
 * cmd_topo_gen. Does not build fabrics: fab_generate() does.
 */
#include "cli/cmds.h"
#include "cli/topo_output.h"

#include <limits.h>
#include <strings.h>

static const char *out_path = "-";
static unsigned gen_switches, gen_ports, gen_hosts = UINT_MAX, gen_links, gen_leaves,
					 gen_leaf_hosts;
static uint64_t gen_seed = 1;
static bool gen_duplicates;
static const char *gen_rate, *gen_cable, *gen_trunk, *gen_sriov;
static unsigned gen_vfs;

/* "4xEDR", "4x EDR", "12xqdr", or a speed alone for 4 lanes. */
static int rate_parse(const char *s, unsigned *width, unsigned *speed, struct err *e)
{
	const char *x = strpbrk(s, "xX");
	const char *word = s;
	char *end;

	*width = 4;
	if (*s >= '0' && *s <= '9' && x) {
		*width = (unsigned)strtoul(s, &end, 10);
		word = end == x ? x + 1 + (x[1] == ' ') : "";
	}
	for (*speed = FAB_SDR; *speed < FAB_NSPEEDS; ++*speed)
		if (!strcasecmp(word, fab_speed_name(*speed)))
			break;
	if (*speed == FAB_NSPEEDS || !strchr("\1\2\4\10\14", (int)MIN(*width, 255)) || !*width)
		return err_set(
			e, -EINVAL,
			"--rate: expected lanes (1, 2, 4, 8 or 12), x and a speed (SDR to XDR) as "
			"in 4xEDR, found '%s'",
			s);
	return 0;
}

static int cable_parse(const char *option, const char *s, uint32_t *cm, struct err *e)
{
	const char *at = s, *end = s + strlen(s);

	if (fab_cable_take(&at, end, cm) && at == end)
		return 0;
	return err_set(e, -EINVAL,
		       "--%s: expected a length of 1cm to 100km such as 3m or 0.5m, found '%.60s'",
		       option, s);
}

static int sizes_parse(struct fab_gen *g, char **args, unsigned nargs, struct err *e)
{
	for (unsigned i = 1; i < nargs; i++) {
		uint64_t v;

		if (parse_u64(args[i], &v) || v > UINT32_MAX)
			return err_set(e, -EINVAL, "%s: expected a size, found '%s'", g->kind,
				       args[i]);
		if (g->ndims == ARRAY_LEN(g->dims))
			return err_set(e, -EINVAL, "%s: expected at most %zu sizes, found %u",
				       g->kind, ARRAY_LEN(g->dims), nargs - 1);
		g->dims[g->ndims++] = (unsigned)v;
	}
	if (gen_switches && g->ndims)
		return err_set(e, -EINVAL, "%s: give the sizes or --switches, not both", g->kind);
	if (gen_switches)
		g->dims[g->ndims++] = gen_switches;
	return 0;
}

/* With VFs and no mode: a vSwitch. */
static int sriov_parse(struct fab_gen *g, struct err *e)
{
	if (gen_sriov && !gen_vfs)
		return err_set(e, -EINVAL, "--sriov: expected --vfs N beside it");
	g->vfs = gen_vfs;
	g->sriov = gen_vfs ? FAB_SRIOV_VSWITCH : FAB_SRIOV_NONE;
	if (gen_sriov && !strcmp(gen_sriov, fab_sriov_name(FAB_SRIOV_SHARED)))
		g->sriov = FAB_SRIOV_SHARED;
	return 0;
}

/* --switches replaces the size of a family that has one size, its number of switches. */
static int switches_check(const struct fab_gen *g, struct err *e)
{
	static const char *const by_count[] = {"irregular", "ring", "fullmesh", "odd"};

	for (size_t i = 0; i < ARRAY_LEN(by_count); i++)
		if (!gen_switches || !strcmp(g->kind, by_count[i]))
			return 0;
	return err_set(e, -EINVAL, "%s: the sizes define the number of switches; remove --switches",
		       g->kind);
}

/* A paragraph of at most 78 columns, indented by 4. */
static void wrap(struct strbuf *b, const char *text)
{
	size_t col = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		bool turn = !col || col + 1 + n > 78;

		strbuf_addf(b, "%s%.*s", !col ? "    " : turn ? "\n    " : " ", (int)n, text);
		col = (turn ? 4 : col + 1) + n;
		text += n + strspn(text + n, " ");
	}
	strbuf_add(b, ".\n");
}

static void families_text(struct strbuf *b)
{
	for (const struct fab_family *f = fab_families; f->kind; f++) {
		strbuf_addf(b, "%s%s %s\n", f == fab_families ? "" : "\n", f->kind, f->dims_help);
		wrap(b, f->summary);
		strbuf_addf(b, "    %s\n", f->example);
	}
}

static int families_print(void)
{
	struct json j = {0};

	if (!cli_json) {
		struct strbuf b = {0};

		families_text(&b);
		return cli_write("-", &b);
	}
	json_open(&j, NULL, '[');
	for (const struct fab_family *f = fab_families; f->kind; f++) {
		json_open(&j, NULL, '{');
		json_str(&j, "kind", f->kind);
		json_str(&j, "sizes", f->dims_help);
		json_str(&j, "summary", f->summary);
		json_str(&j, "example", f->example);
		json_close(&j);
	}
	json_close(&j);
	return cli_print_json(&j);
}

static int gen_run(char **args, unsigned nargs)
{
	struct fab_gen g = {.kind = nargs ? args[0] : NULL,
			    .ports = gen_ports,
			    .has_hosts = gen_hosts != UINT_MAX,
			    .hosts = gen_hosts,
			    .links = gen_links,
			    .leaves = gen_leaves,
			    .leaf_hosts = gen_leaf_hosts,
			    .seed = gen_seed,
			    .duplicates = gen_duplicates};
	struct strbuf text = {0};
	struct err e = {""};
	struct fab *f;
	int rc;

	if (!nargs)
		return families_print();
	if (cli_json && !strcmp(out_path, "-"))
		return cli_bad("--json requires -o FILE: the netlist itself is not JSON");
	if (sriov_parse(&g, &e) || switches_check(&g, &e) || sizes_parse(&g, args, nargs, &e) ||
	    (gen_rate && rate_parse(gen_rate, &g.width, &g.speed, &e)) ||
	    (gen_cable && cable_parse("cable", gen_cable, &g.cable_cm, &e)) ||
	    (gen_trunk && cable_parse("trunk", gen_trunk, &g.trunk_cm, &e)))
		return cli_bad("%s", e.text);
	f = fab_generate(&g, &e);
	if (!f)
		return cli_bad("%s", e.text);
	fab_netlist_write(f, &text);
	rc = cli_write(out_path, &text);
	if (rc == CLI_OK && cli_json)
		rc = topo_print_written(f, out_path);
	fab_free(f);
	return rc;
}

static const char *const sriov_modes[] = {"vswitch", "shared", NULL};

/* clang-format off */
static const struct cli_opt gen_opts[] = {
	{.name = "switches", .letter = 's', .type = CLI_UINT, .dst = &gen_switches, .arg = "N", .min = 1, .max = 1 << 20,
	 .help = "number of switches of irregular, ring, fullmesh and odd"},
	{.name = "ports", .letter = 'p', .type = CLI_UINT, .dst = &gen_ports, .arg = "N", .min = 1, .max = 254,
	 .help = "ports of each switch (default: 4 for irregular, otherwise as many as needed)"},
	{.name = "hosts", .type = CLI_UINT, .dst = &gen_hosts, .arg = "N", .max = 1 << 20,
	 .help = "irregular: total number of hosts; other kinds: hosts on each edge switch"},
	{.name = "links", .letter = 'l', .type = CLI_UINT, .dst = &gen_links, .arg = "N", .min = 1, .max = 1 << 24,
	 .help = "irregular: number of links between switches (default: as many as fit)"},
	{.name = "leaves", .type = CLI_UINT, .dst = &gen_leaves, .arg = "N", .min = 1, .max = 1 << 24,
	 .help = "irregular: so many switches, the last ones, have one link to another switch (default: as drawn)"},
	{.name = "leaf-hosts", .type = CLI_UINT, .dst = &gen_leaf_hosts, .arg = "N", .max = 254,
	 .help = "with --leaves: hosts of each of them (default 0)"},
	{.name = "seed", .type = CLI_U64, .dst = &gen_seed, .arg = "N",
	 .help = "seed of the random kinds (default 1)"},
	{.name = "duplicates", .type = CLI_FLAG, .dst = &gen_duplicates,
	 .help = "odd: add nodes and ports that share a GUID or a LID"},
	{.name = "rate", .letter = 'r', .type = CLI_STR, .dst = &gen_rate, .arg = "RATE",
	 .help = "width and speed of every link, such as 4xEDR (default 4xQDR)"},
	{.name = "cable", .type = CLI_STR, .dst = &gen_cable, .arg = "LENGTH",
	 .help = "length of every cable, such as 3m (default: unknown)"},
	{.name = "trunk", .type = CLI_STR, .dst = &gen_trunk, .arg = "LENGTH",
	 .help = "length of cables between switches, such as 30m (default: as --cable)"},
	{.name = "vfs", .type = CLI_UINT, .dst = &gen_vfs, .arg = "N", .min = 1, .max = FAB_MAX_VFS,
	 .help = "virtual functions (SR-IOV) of each host with one port (default: none)"},
	{.name = "sriov", .type = CLI_CHOICE, .dst = &gen_sriov, .arg = "MODE", .choices = sriov_modes,
	 .help = "with --vfs: vswitch, each with a LID, or shared, all with the LID of the host (default vswitch)"},
	{.name = "output", .letter = 'o', .type = CLI_STR, .dst = &out_path, .arg = "FILE",
	 .help = "write to FILE (default: standard output)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_topo_gen = {
	.name = "topo gen",
	.args = "[KIND SIZE...]",
	.summary = "generate a fabric as a netlist",
	.about =
		"Kinds: irregular N; mtree M N (M-port N-tree); kary K N (K-ary N-tree); clos M N R (M "
		"middle switches, N hosts on each of R edge switches); mesh and torus X Y ...; "
		"hypercube N; dragonfly P A H [G]; fullmesh N; ring N; star N; odd [N]. Without KIND, the "
		"command lists all kinds with their sizes.\n\n"
		"The same kind, sizes, options and seed give the same netlist on every machine.",
	.examples = "weft topo gen irregular 16 --hosts 14 --seed 7 -o net.txt\n"
		    "weft topo gen mtree 8 3 --rate 4xHDR -o tree.txt\n"
		    "weft topo gen mtree 8 3 --cable 2m --trunk 30m -o hall.txt\n"
		    "weft topo gen mtree 8 3 --vfs 16 -o virtual.txt\n"
		    "weft topo gen odd --seed 7 --duplicates -o odd.txt\n"
		    "weft topo gen dragonfly 2 4 2 | weft topo svg - -o dragonfly.svg",
	.opts = gen_opts,
	.max_args = 64, /* more than any kind takes; sizes_parse() has the better error message */
	.run = gen_run,
};
