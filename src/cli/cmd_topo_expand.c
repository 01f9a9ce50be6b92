/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo expand: HCAs with virtual functions as the switches and hosts that other tools see. State: the
 * option of the command. Way in: cmd_topo_expand. Does not expand: fab_wire() does.
 */
#include "cli/cmds.h"
#include "cli/topo_output.h"

static const char *out_path = "-";

static int expand_run(char **args, unsigned nargs UNUSED)
{
	struct strbuf text = {0};
	struct fab *f, *wire, *plain;
	struct err e;
	int rc;

	if (cli_json && !strcmp(out_path, "-"))
		return cli_bad("--json requires -o FILE: the netlist itself is not JSON");
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	wire = fab_wire(f, &e);
	fab_free(f);
	if (!wire)
		return cli_bad("%s: %s", args[0], e.text);
	plain = fab_with_vfs(wire, FAB_SRIOV_NONE, 0);
	fab_free(wire);
	fab_netlist_write(plain, &text);
	rc = cli_write(out_path, &text);
	if (rc == CLI_OK && cli_json)
		rc = topo_print_written(plain, out_path);
	fab_free(plain);
	return rc;
}

/* clang-format off */
static const struct cli_opt expand_opts[] = {
	{.name = "output", .letter = 'o', .type = CLI_STR, .dst = &out_path, .arg = "FILE",
	 .help = "write to FILE (default: standard output)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_topo_expand = {
	.name = "topo expand",
	.args = "FILE",
	.summary = "write HCAs with virtual functions as switches and hosts",
	.about =
		"Devices show an HCA in vSwitch mode as a small switch, with a host for its physical "
		"function and one for each virtual function behind it. The result is a plain netlist that "
		"ibsim and every other tool reads. HCAs with a shared port, and fabrics without virtual "
		"functions, do not change but for the attribute sriov, which is left out.",
	.examples = "weft topo gen mtree 4 2 --vfs 4 -o net.txt\n"
		    "weft topo expand net.txt -o wire.txt",
	.opts = expand_opts,
	.min_args = 1,
	.max_args = 1,
	.run = expand_run,
};
