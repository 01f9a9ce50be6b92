/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of commands. Keeps no state. Way in: main(). Does nothing itself: cli_main() finds the
 * command and runs it.
 */
#include "cli/cmds.h"
#include "cli/cli_priv.h"

/* In the order of the overview. */
/* clang-format off */
static const struct cli_cmd *const commands[] = {
	&cmd_topo_gen, &cmd_topo_show, &cmd_topo_check, &cmd_topo_diff, &cmd_topo_expand, &cmd_topo_dot, &cmd_topo_svg, &cmd_topo_slurm,
	&cmd_route_compute, &cmd_route_verify, &cmd_route_quality, &cmd_route_update, &cmd_route_migrate, &cmd_route_churn,
	&cmd_sim_demo, &cmd_sim_up, &cmd_sim_change, &cmd_sim_failures, &cmd_sim_migrate, &cmd_sim_storm, &cmd_sim_trial, &cmd_sim_run, &cmd_sim_saturate,
	&cmd_lab_list, &cmd_lab_show, &cmd_lab_check, &cmd_lab_run, &cmd_lab_compare, &cmd_lab_report, &cmd_lab_export,
	&cmd_lab_slurm, &cmd_lab_merge,
	&cmd_config_from_opensm,
	&cmd_model_fattree,
	&cmd_fabric,
	&cmd_sm,
	&cmd_perf,
	&cmd_ctl,
	&cmd_top,
	&cmd_why,
	&cmd_ui,
	&cmd_vm_list, &cmd_vm_hosts, &cmd_vm_create, &cmd_vm_start, &cmd_vm_stop, &cmd_vm_migrate, &cmd_vm_destroy,
	&cmd_vm_batch, &cmd_vm_defragment,
	&cmd_mad_decode,
	&cmd_help, &cmd_man, &cmd_completion,
	NULL,
};
/* clang-format on */

static const struct cli_group groups[] = {
	{"topo", "generate, inspect and compare fabrics as netlists"},
	{"route", "compute and verify forwarding tables"},
	{"sim", "run the subnet manager on a simulated fabric"},
	{"lab", "run experiments and compare them with their sources"},
	{"model", "published models of subnet management"},
	{"config", "the manager's configuration"},
	{"vm", "virtual machines of a running manager"},
	{"mad", "management packets"},
	{0},
};

static const struct cli_cmd *const first_steps[] = {
	&cmd_sim_demo,
	&cmd_topo_gen,
	&cmd_route_verify,
	NULL,
};

int main(int argc, char **argv)
{
	static const struct cli_app app = {
		.version = WEFT_VERSION,
		.summary = "InfiniBand subnet manager and fabric laboratory",
		.groups = groups,
		.cmds = commands,
		.first = first_steps,
	};

	return cli_main(&app, argc, argv);
}
