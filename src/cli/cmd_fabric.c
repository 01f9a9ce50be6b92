/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft fabric: serves a netlist as a fabric to other programs. State: the options. Way in: cmd_fabric.
 * Does not emulate anything itself: src/emu does.
 */
#include "cli/cmds.h"
#include "emu/emu.h"
#include "control/default_paths.h"

static const char *name, *control, *script, *vls = "8", *mtu = "4096";
static unsigned udp, clients = 128, retries = 3;
static bool quiet, no_control, no_console;
static time_ps spin = 50 * PS_PER_US, timeout = 200 * PS_PER_MS, training;
static uint64_t seed = 1;

static const char *const vl_words[] = {"1", "2", "4", "8", "15", NULL};
static const char *const mtu_words[] = {"256", "512", "1024", "2048", "4096", NULL};

static unsigned word_code(const char *const *words, const char *w)
{
	unsigned i = 0;

	while (strcmp(words[i], w))
		i++;
	return i + 1;
}

static int control_path(struct emu_config *c)
{
	char file[80];
	struct err e;

	if (no_control)
		return 0;
	if (control) {
		if (strlen(control) >= sizeof(c->control))
			return cli_bad("--control: expected a path of at most %zu characters",
				       sizeof(c->control) - 1);
		snprintf(c->control, sizeof(c->control), "%s", control);
		return 0;
	}
	snprintf(file, sizeof(file), "fabric-%s.sock", c->name);
	return paths_runtime(c->control, sizeof(c->control), file, &e) ? cli_bad("%s", e.text) : 0;
}

static int configure(struct emu_config *c)
{
	emu_config_default(c);
	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name);
	if (!c->name[0] || strlen(name ? name : c->name) > 48 || strchr(c->name, '/'))
		return cli_bad("--name: expected 1 to 48 characters without '/', found '%.60s'",
			       name ? name : c->name);
	if (udp && udp + clients > UINT16_MAX)
		return cli_bad("--udp: expected a port that %u more can follow, found %u", clients,
			       udp);
	c->udp_port = udp;
	c->clients = clients;
	c->script = script;
	c->quiet = quiet;
	c->json = cli_json;
	c->console = !no_console;
	c->spin_us = (unsigned)MIN(spin / PS_PER_US, (time_ps)1000000);
	c->timeout_ms = (unsigned)MIN(timeout / PS_PER_MS, (time_ps)60000);
	c->retries = retries;
	c->sim.seed = seed;
	c->sim.training_ps = training;
	c->sim.vl_cap = (uint8_t)word_code(vl_words, vls);
	c->sim.mtu_cap = (uint8_t)word_code(mtu_words, mtu);
	return control_path(c);
}

static void ready_json(const struct fab *f, const struct emu_config *c)
{
	struct json j = {.line = true};

	json_open(&j, NULL, '{');
	json_str(&j, "name", c->name);
	json_u64(&j, "hosts", f->nhosts);
	json_u64(&j, "switches", f->nswitches);
	json_u64(&j, "links", f->nlinks);
	json_u64(&j, "udp", c->udp_port);
	json_str(&j, "control", c->control);
	json_close(&j);
	printf("%s\n", j.out.s);
	json_free(&j);
}

static void ready(const struct fab *f, const struct emu_config *c)
{
	if (quiet)
		return;
	if (cli_json) {
		ready_json(f, c);
		fflush(stdout);
		return;
	}
	printf("fabric '%s': %s hosts, %s switches, %s links", c->name, cli_count(f->nhosts),
	       cli_count(f->nswitches), cli_count(f->nlinks));
	if (c->udp_port)
		printf("; UDP from port %u", c->udp_port);
	if (c->control[0])
		printf("; control socket %s", c->control);
	printf("\n");
	fflush(stdout);
}

enum { MELLANOX = 0x2c9, RATES_NAMED = 8 };

/* Why a link is seen at another speed than the netlist has; NULL: it is not. */
static const char *other_speed(const struct fab *f, const struct fab_port *p)
{
	if (p->speed == FAB_XDR)
		return "XDR; PortInfo has no bit for it, and its ports report NDR";
	if (p->speed == FAB_FDR10 && (f->nodes[p->node].vendor_id != MELLANOX ||
				      f->nodes[f->ports[p->peer].node].vendor_id != MELLANOX))
		return "FDR10; tools ask only devices of vendor 0x2c9 for it, and show QDR here";
	return NULL;
}

static void speeds_warn(const struct fab *f)
{
	unsigned more = 0, named = 0;

	for (port_id i = 0; i < f->nports; i++) {
		const struct fab_port *p = &f->ports[i];
		const char *why = p->peer == FAB_NONE || p->peer < i ? NULL : other_speed(f, p);
		char a[32], b[32];

		if (!why)
			continue;
		if (named == RATES_NAMED) {
			more++;
			continue;
		}
		named++;
		fab_node_ident(f, p->node, a);
		fab_node_ident(f, f->ports[p->peer].node, b);
		fprintf(stderr, "weft fabric: %s[%u] <-> %s[%u] is %s\n", a, p->num, b,
			f->ports[p->peer].num, why);
	}
	if (more)
		fprintf(stderr, "weft fabric: and %u more links of such speeds\n", more);
}

static int fabric_run(char **args, unsigned nargs UNUSED)
{
	struct emu_config c;
	struct emu *m = NULL;
	struct fab *f;
	struct err e;
	int rc = configure(&c);

	if (rc)
		return rc;
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	if (!quiet)
		speeds_warn(f);
	rc = emu_open(&m, f, &c, &e);
	if (!rc)
		ready(f, &c);
	fab_free(f); /* the emulator keeps a copy */
	if (rc)
		return cli_bad("%s", e.text);
	emu_run(m);
	emu_close(m);
	return CLI_OK;
}

/* clang-format off */
static const struct cli_opt opts[] = {
	{.name = "name", .letter = 'n', .type = CLI_STR, .dst = &name, .arg = "NAME",
	 .help = "name of the sockets, as clients have it in IBSIM_SOCKNAME (default: $IBSIM_SOCKNAME, or sim)"},
	{.name = "udp", .type = CLI_UINT, .dst = &udp, .arg = "PORT", .min = 1, .max = 65534,
	 .help = "also serve UDP on 127.0.0.1: control at PORT, client i at PORT + 1 + i"},
	{.name = "clients", .type = CLI_UINT, .dst = &clients, .arg = "N", .min = 1, .max = 1024,
	 .help = "largest number of clients (default 128)"},
	{.name = "script", .letter = 's', .type = CLI_STR, .dst = &script, .arg = "FILE",
	 .help = "run timed commands: lines 'at TIME COMMAND' and 'every TIME COMMAND'"},
	{.name = "control", .type = CLI_STR, .dst = &control, .arg = "PATH",
	 .help = "socket for commands (default: fabric-NAME.sock in the runtime directory)"},
	{.name = "no-control", .type = CLI_FLAG, .dst = &no_control,
	 .help = "no control socket"},
	{.name = "no-console", .type = CLI_FLAG, .dst = &no_console,
	 .help = "do not read commands from standard input"},
	{.name = "quiet", .letter = 'q', .type = CLI_FLAG, .dst = &quiet,
	 .help = "do not print events"},
	{.name = "spin", .type = CLI_TIME, .dst = &spin, .arg = "TIME",
	 .help = "time to poll for the next MAD before sleeping (default 50us; 0: never)"},
	{.name = "timeout", .type = CLI_TIME, .dst = &timeout, .arg = "TIME",
	 .help = "time after which an unanswered request is sent again (default 200ms; 0: never)"},
	{.name = "retries", .type = CLI_UINT, .dst = &retries, .arg = "N", .max = 100,
	 .help = "times an unanswered request is sent again (default 3)"},
	{.name = "training", .type = CLI_TIME, .dst = &training, .arg = "TIME",
	 .help = "time from power or cable to a link in Init (default 0)"},
	{.name = "vls", .type = CLI_CHOICE, .dst = &vls, .arg = "N", .choices = vl_words,
	 .help = "data VLs of every port (default 8)"},
	{.name = "mtu", .type = CLI_CHOICE, .dst = &mtu, .arg = "BYTES", .choices = mtu_words,
	 .help = "MTU of every port (default 4096)"},
	{.name = "seed", .type = CLI_U64, .dst = &seed, .arg = "N",
	 .help = "seed of the losses of links (default 1)"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_fabric = {
	.name = "fabric",
	.args = "NETLIST [options]",
	.summary = "emulate a fabric for OpenSM, weft sm and diagnostic programs",
	.about =
		"Serves ibsim's protocol, so that programs started with libumad2sim preloaded find a port of a "
		"device whose fabric is NETLIST. SIM_HOST names the node of a program by id, name or GUID, with [2] "
		"after it port 2 of that node; without SIM_HOST it is the first host.\n\n"
		"Commands are read from standard input and from the control socket; `help` lists them. They cut and "
		"restore links, switch nodes off and on, make links lose or delay packets, and change counters. A "
		"script runs them at given times; it is checked as a whole before the emulator starts.\n\n"
		"The emulator ends at `quit`, SIGTERM or SIGINT, not at the end of input. With --json it prints events "
		"as JSON, one object a line.",
	.examples = "weft topo gen mtree 8 3 -o tree.txt && weft fabric tree.txt\n"
		    "weft fabric tree.txt --name lab0 --script events.txt < /dev/null",
	.opts = opts,
	.min_args = 1,
	.max_args = 1,
	.run = fabric_run,
};
