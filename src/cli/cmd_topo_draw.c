/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo dot and weft topo svg. State: the option of the command. Way in: cmd_topo_dot, cmd_topo_svg.
 * Does not draw: src/draw does.
 */
#include "cli/cmds.h"
#include "cli/topo_output.h"
#include "draw/draw.h"

static const char *out_path = "-";

static int draw(const char *path, void (*render)(const struct fab *f, struct strbuf *out))
{
	struct strbuf b = {0};
	struct fab *f;
	int rc;

	if (cli_json && !strcmp(out_path, "-"))
		return cli_bad("--json requires -o FILE: the drawing itself is not JSON");
	f = cli_load(path);
	if (!f)
		return CLI_BAD;
	cli_stage("drawing");
	render(f, &b);
	cli_progress_end();
	rc = cli_write(out_path, &b);
	if (rc == CLI_OK && cli_json)
		rc = topo_print_written(f, out_path);
	fab_free(f);
	return rc;
}

static int dot_run(char **args, unsigned nargs UNUSED)
{
	return draw(args[0], draw_fabric_dot);
}

static int svg_run(char **args, unsigned nargs UNUSED)
{
	return draw(args[0], draw_fabric_svg);
}

/* clang-format off */
static const struct cli_opt draw_opts[] = {
	{.name = "output", .letter = 'o', .type = CLI_STR, .dst = &out_path, .arg = "FILE",
	 .help = "write to FILE (default: standard output)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_topo_dot = {
	.name = "topo dot",
	.args = "FILE",
	.summary = "convert a netlist to a Graphviz graph",
	.examples = "weft topo dot net.txt | neato -Tpdf -o net.pdf",
	.opts = draw_opts,
	.min_args = 1,
	.max_args = 1,
	.run = dot_run,
};

const struct cli_cmd cmd_topo_svg = {
	.name = "topo svg",
	.args = "FILE",
	.summary = "draw a netlist as SVG",
	.about =
		"The shape is recognised from the links: trees are drawn in levels with their pods, meshes, "
		"tori and hypercubes as planes of rows, dragonflies as groups on a circle; in other fabrics "
		"the distance on paper follows the distance in hops. Links are coloured by speed. Hover over "
		"a node or link to see names, GUIDs, LIDs and port numbers.",
	.examples = "weft topo gen mtree 8 3 | weft topo svg - -o tree.svg",
	.opts = draw_opts,
	.min_args = 1,
	.max_args = 1,
	.run = svg_run,
};
