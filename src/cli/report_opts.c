/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Beginning and end of a simulated run with a report, and its options. State: report_o. Ways in:
 * report_lab_new(), report_conclude(). Does not run anything.
 */
#include "cli/report_opts.h"

#include "cli/manager_opts.h"

struct report_opts report_o = {.limit = TIME_NEVER};

/* clang-format off */
const struct cli_opt report_opts[] = {
	{.name = "limit", .type = CLI_TIME, .dst = &report_o.limit, .arg = "TIME",
	 .help = "stop after this much simulated time (default 1000s, 10s where links make "
		 "errors)"},
	{.name = "timeline", .letter = 't', .type = CLI_FLAG, .dst = &report_o.timeline,
	 .help = "print events as they happen"},
	{.name = "smps", .type = CLI_FLAG, .dst = &report_o.smps,
	 .help = "print every SMP as it is sent and received"},
	{.name = "messages", .type = CLI_FLAG, .dst = &report_o.messages,
	 .help = "print every message at SM, SMI and SMA, hop by hop, under its time"},
	{0},
};
/* clang-format on */

struct lab *report_lab_new(const struct fab *f, const struct lab_config *c, struct sim_report *r)
{
	struct lab *l;
	struct err e;

	l = lab_new(f, c, &e);
	if (!l) {
		cli_bad("%s", e.text);
		return NULL;
	}
	sim_report_init(r, f, l, report_o.timeline && !cli_json, report_o.smps && !cli_json);
	if (report_o.messages && !cli_json)
		sim_report_messages(r);
	return l;
}

int report_conclude(struct sim_report *r)
{
	bool ok = r->settled && r->v.active && r->v.verified && r->v.lids_unique && r->v.complete &&
		  !r->clients.wrong_paths && !r->clients.wrong_trees;
	int rc = ok ? CLI_OK : CLI_NO;
	struct json j = {0};

	if (cli_json) {
		sim_report_json(r, &j, manager_o.seed);
		if (cli_print_json(&j))
			rc = CLI_BAD;
	} else {
		sim_report_text(r);
	}
	lab_free(r->lab);
	sim_report_free(r);
	return rc;
}
