/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim up: the subnet manager on a simulated fabric, from power-on. State: its options, most of them
 * those that several commands share. Way in: cmd_sim_up. Does not simulate anything itself: src/lab
 * does.
 */
#include "cli/flap_opts.h"
#include "cli/load_opts.h"
#include "cli/manager_opts.h"
#include "cli/profile_opts.h"
#include "cli/report_opts.h"
#include "cli/rft_opts.h"
#include "lab/lab.h"
#include "lab/sa_clients.h"
#include "sim/kernel/sim_kernel.h"

static struct {
	unsigned clients, paths;
} o = {.paths = 8};

/* clang-format off */
static const struct cli_opt client_opts[] = {
	{.name = "clients", .type = CLI_UINT, .dst = &o.clients, .arg = "N", .min = 1, .max = 49151,
	 .help = "so many hosts ask subnet administration in band from the start: they join the broadcast group of IPoIB and ask "
		 "for paths; answers are compared with the devices"},
	{.name = "client-paths", .type = CLI_UINT, .dst = &o.paths, .arg = "N", .min = 0, .max = 1000000,
	 .help = "paths that each of them asks for (default 8)"},
	{0},
};
/* clang-format on */

/* Links fail and recover; the run ends when all are in use again and a sweep finds nothing new. */
static void run_flaps(struct sim_report *r, const flap_ports *ports)
{
	struct lab *l = r->lab;
	struct sim *s = lab_sim(l);
	time_ps since;
	struct sm_status st;

	sim_report_flaps(r);
	flap_run(l, r->fab, ports);
	sim_report_say(r, "LINKS FLAP NO MORE");
	since = sim_now(s);
	do {
		r->settled = lab_run_settled(l, since, sim_now(s) + load_limit(report_o.limit));
		sm_status(lab_sm(l), &st);
		since = st.last_sweep_start + 1;
	} while (r->settled && st.held);
}

/* NULL after a message: then there is no laboratory any more. */
static struct lab_clients *clients_new(struct sim_report *r)
{
	const struct lab_clients_config cfg = {o.clients, o.paths, manager_o.seed};
	struct lab_clients *c = lab_clients_new(r->lab, &cfg);

	lab_clients_result(c, &r->clients);
	if (r->clients.clients)
		return c;
	cli_bad("--clients: expected a host without SR-IOV besides those of managers");
	lab_clients_free(c);
	lab_free(r->lab);
	sim_report_free(r);
	return NULL;
}

/* The run ends when all hosts have their answers. */
static void ask(struct sim_report *r, struct lab_clients *c)
{
	time_ps now = sim_now(lab_sim(r->lab));

	r->settled &= lab_clients_run(c, now + load_limit(report_o.limit));
	lab_clients_result(c, &r->clients);
	lab_clients_free(c);
}

static int run_up(const struct fab *f)
{
	flap_ports flapping = {0};
	struct lab_clients *clients = NULL;
	struct sim_report r;
	struct lab_config c;
	struct lab *l = NULL;

	if (!manager_config(f, &c) && !flap_find(f, &flapping)) {
		c.sa = o.clients;
		l = report_lab_new(f, &c, &r);
	}
	if (l && o.clients && !(clients = clients_new(&r)))
		l = NULL;
	if (l) {
		lab_power_on(l, NULL);
		r.settled = lab_run_ready(l, load_limit(report_o.limit));
		if (r.settled && flapping.n)
			run_flaps(&r, &flapping);
		if (clients)
			ask(&r, clients);
		sim_report_up(&r);
	}
	vec_free(&flapping);
	return l ? report_conclude(&r) : CLI_BAD;
}

static int sim_up(char **args, unsigned nargs)
{
	struct fab *f = cli_load_wire(args[0]);
	int rc;

	(void)nargs;
	if (!f)
		return CLI_BAD;
	rc = run_up(f);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_sim_up = {
	.name = "sim up",
	.args = "FILE",
	.summary = "bring a fabric up from power-on, in simulated time",
	.about =
		"Every node of the netlist is switched on at time zero. The manager discovers the subnet, gives "
		"LIDs, configures devices, computes and verifies deadlock-free routes, writes them and "
		"activates the ports. Status 0 when the subnet is active and verified, 1 when it is not.\n\n"
		"With several --sm the managers elect a master: the one with the highest priority, then with the lowest "
		"GUID. The run ends when none of them discovers and the master is at rest.\n\n"
		"With --flap links fail and recover after that; the run ends when a sweep finds nothing new and, with "
		"--damping-changes, no link is held.\n\n"
		"With --clients hosts ask subnet administration by MADs over the fabric, as soon as their ports are Active; the run "
		"ends when all have their answers, and the status is 1 if one of these is wrong.",
	.examples =
		"weft sim up cluster.net\n"
		"weft sim up cluster.net --sm H-0001000000000010 --timeline\n"
		"weft sim up cluster.net --sm H-0001000000000010:3 --sm H-0001000000000014:9@20ms --json\n"
		"weft sim up cluster.net --loss 5% --seed 7 --json\n"
		"weft sim up cluster.net --flap S-0002000000000005:1 --damping-changes 5 --damping-within 1s --damping-hold 2s --timeline\n"
		"weft topo gen mtree 8 3 | weft sim up - --clients 100 --loss 1%",
	.opts = report_opts,
	.shared = (const struct cli_opt *const[]){client_opts, flap_opts, profile_opts,
						  manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = 1,
	.run = sim_up,
};
