/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of every command. weft.c lists them; no other file needs their names.
 */
#ifndef WEFT_CMDS_H
#define WEFT_CMDS_H

#include "cli/cli.h"

/* cmd_topo_gen.c, cmd_topo_show.c, cmd_topo_check.c, cmd_topo_diff.c, cmd_topo_expand.c, cmd_topo_slurm.c */
extern const struct cli_cmd cmd_topo_gen, cmd_topo_show, cmd_topo_check, cmd_topo_diff,
	cmd_topo_expand, cmd_topo_slurm;

/* cmd_topo_draw.c */
extern const struct cli_cmd cmd_topo_dot, cmd_topo_svg;

/* cmd_route_compute.c, cmd_route_verify.c, cmd_route_quality.c, cmd_route_update.c, cmd_route_migrate.c, cmd_route_churn.c */
extern const struct cli_cmd cmd_route_compute, cmd_route_verify, cmd_route_quality,
	cmd_route_update, cmd_route_migrate, cmd_route_churn;

/* cmd_sim_up.c */
extern const struct cli_cmd cmd_sim_up;

/* cmd_sim_change.c */
extern const struct cli_cmd cmd_sim_change, cmd_sim_demo;

/* cmd_sim_failures.c */
extern const struct cli_cmd cmd_sim_failures;

/* cmd_sim_migrate.c, cmd_sim_storm.c */
extern const struct cli_cmd cmd_sim_migrate, cmd_sim_storm;

/* cmd_sim_trial.c */
extern const struct cli_cmd cmd_sim_trial;

/* cmd_sim_run.c */
extern const struct cli_cmd cmd_sim_run, cmd_sim_saturate;

/* cmd_lab_list.c, cmd_lab_run.c, cmd_lab_compare.c, cmd_lab_report.c, cmd_lab_slurm.c */
extern const struct cli_cmd cmd_lab_list, cmd_lab_show, cmd_lab_check, cmd_lab_run, cmd_lab_compare;
extern const struct cli_cmd cmd_lab_report, cmd_lab_export, cmd_lab_slurm, cmd_lab_merge;

/* cmd_config.c */
extern const struct cli_cmd cmd_config_from_opensm;

/* cmd_model.c */
extern const struct cli_cmd cmd_model_fattree;

/* cmd_fabric.c */
extern const struct cli_cmd cmd_fabric;

/* cmd_sm.c */
extern const struct cli_cmd cmd_sm;
extern const struct cli_cmd cmd_perf;

/* cmd_mad.c */
extern const struct cli_cmd cmd_mad_decode;

/* cmd_ctl.c, cmd_top.c, cmd_why.c */
extern const struct cli_cmd cmd_ctl, cmd_top, cmd_why;

/* cmd_ui.c */
extern const struct cli_cmd cmd_ui;

/* cmd_vms.c */
extern const struct cli_cmd cmd_vm_list, cmd_vm_hosts, cmd_vm_create, cmd_vm_start, cmd_vm_stop,
	cmd_vm_migrate, cmd_vm_destroy, cmd_vm_batch, cmd_vm_defragment;

/* help.c, man.c, completion.c: help, man pages, completion */
extern const struct cli_cmd cmd_help, cmd_man, cmd_completion;

#endif
