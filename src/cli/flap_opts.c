/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that fail and recover repeatedly. State: flap_o. Ways in: flap_find(), flap_run(). Does not
 * look at the manager's reaction.
 */
#include "cli/flap_opts.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

#define USUAL_PERIOD (100 * PS_PER_MS)
enum { USUAL_TIMES = 10 };

static struct {
	cli_strings links;
	unsigned times;
	time_ps period;
} flap_o = {.times = USUAL_TIMES, .period = USUAL_PERIOD};

/* clang-format off */
const struct cli_opt flap_opts[] = {
	{.name = "flap", .type = CLI_LIST, .dst = &flap_o.links, .arg = "NODE:PORT",
	 .help = "after the bring-up, this link fails and recovers repeatedly"},
	{.name = "flap-times", .type = CLI_UINT, .dst = &flap_o.times, .arg = "N", .min = 1, .max = 1000000,
	 .help = "number of failures (default 10)"},
	{.name = "flap-period", .type = CLI_TIME, .dst = &flap_o.period, .arg = "TIME",
	 .help = "time from failure to failure; the link is down for half of it (default 100ms)"},
	{0},
};
/* clang-format on */

/* "NODE:PORT", of a port with a cable; names may have colons of their own. */
static int find_one(const struct fab *f, const char *text, port_id *port)
{
	const char *colon = strrchr(text, ':');
	char name[256];
	uint64_t num;
	node_id n;

	if (!colon || parse_u64(colon + 1, &num))
		return cli_bad("--flap '%.60s': expected NODE:PORT", text);
	snprintf(name, sizeof(name), "%.*s", (int)MIN((size_t)(colon - text), sizeof(name) - 1),
		 text);
	if (cli_find_node(f, "--flap", name, &n))
		return CLI_BAD;
	if (!num || num > f->nodes[n].nports)
		return cli_bad("--flap '%.60s': found port %llu, expected 1 to %u", text,
			       (unsigned long long)num, f->nodes[n].nports);
	*port = fab_port_id(f, n, (unsigned)num);
	if (f->ports[*port].peer == FAB_NONE)
		return cli_bad("--flap '%.60s': found no cable at this port", text);
	return CLI_OK;
}

static int check_times(void)
{
	bool times = flap_o.times != USUAL_TIMES;

	if (!flap_o.links.n && (times || flap_o.period != USUAL_PERIOD))
		return cli_bad("--flap-%s needs --flap NODE:PORT", times ? "times" : "period");
	if (flap_o.period < 2)
		return cli_bad("--flap-period: expected a time above 0");
	if (flap_o.period > TIME_NEVER / 4 / flap_o.times)
		return cli_bad("--flap-period: %u periods exceed the range of simulated time",
			       flap_o.times);
	return CLI_OK;
}

int flap_find(const struct fab *f, flap_ports *ports)
{
	if (check_times())
		return CLI_BAD;
	for (size_t i = 0; i < flap_o.links.n; i++) {
		port_id p;

		if (find_one(f, flap_o.links.at[i], &p))
			return CLI_BAD;
		for (size_t k = 0; k < ports->n; k++)
			if (ports->at[k] == p || f->ports[ports->at[k]].peer == p)
				return cli_bad("--flap '%.60s': this link is given twice",
					       flap_o.links.at[i]);
		vec_push(ports, p);
	}
	return CLI_OK;
}

struct flapping {
	struct sim *sim;
	const struct fab *fab;
	const flap_ports *ports;
};

static void on_flap(void *ctx, uint64_t comes)
{
	const struct flapping *x = ctx;

	for (size_t i = 0; i < x->ports->n; i++)
		if (comes)
			sim_cable(x->sim, x->ports->at[i], x->fab->ports[x->ports->at[i]].peer);
		else
			sim_uncable(x->sim, x->ports->at[i]);
}

void flap_run(struct lab *l, const struct fab *f, const flap_ports *ports)
{
	struct flapping x = {lab_sim(l), f, ports};
	time_ps goes = sim_now(x.sim);

	for (unsigned i = 0; i < flap_o.times; i++, goes += flap_o.period) {
		sim_call(x.sim, goes, on_flap, &x, false);
		sim_call(x.sim, goes + flap_o.period / 2, on_flap, &x, true);
		lab_run_until(l, goes + flap_o.period / 2);
	}
}
