/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sm: the configuration from file and options, and the daemon. State: the options of the running
 * command. Way in: cmd_sm. Does not manage anything: src/run does.
 */
#include "cli/cli.h"
#include "cli/print_election.h"
#include "cli/print_phases.h"
#include "run/inputs.h"
#include "run/run.h"

static struct {
	const char *config;
	bool check, print, schema, once, foreground, phases, election, dot;
	bool counters; /* weft perf */
} o;

/* ---- options over the file ---- */

/* Every local user can read the arguments of a process. */
static int keys_refuse(const struct settings *c, struct err *e)
{
	for (const struct setting *k = settings_table; k->key; k++)
		if (cli_setting_given(k->option) && setting_is_key(k, c))
			return err_set(
				e, -EPERM,
				"--%s: other users can read a command line: expected the key in a "
				"file of mode 0600 (--keys-file FILE, or %s.%s in the "
				"configuration)",
				k->option, k->section, k->key);
	return 0;
}

static struct pol *policy; /* of the configuration that was read last without a fault */

static void policy_take(int rc, struct pol *p)
{
	pol_free(rc ? p : policy);
	policy = rc ? policy : p;
}

static const struct pol *policy_now(void *ctx)
{
	(void)ctx;
	return policy;
}

/* weft perf: what the file says about the manager does not matter. */
static void beside_a_manager(struct settings *c)
{
	c->counters = c->sm.observe = true;
	c->perf.period = c->perf.period ? c->perf.period : PS_PER_S;
}

static int load(void *ctx, struct settings *c, struct err *e)
{
	struct pol *p = pol_new();
	int rc = 0;

	(void)ctx;
	settings_default(c);
	if (o.config)
		rc = run_config_load(o.config, c, p, e);
	rc = rc ? rc : cli_settings_apply(c, e);
	if (o.counters)
		beside_a_manager(c);
	rc = rc ? rc : keys_refuse(c, e);
	rc = rc ? rc : run_config_keys(c, e);
	c->once = o.once;
	rc = rc ? rc : settings_check(c, NULL, e);
	rc = rc ? rc : run_config_values(c, e);
	rc = rc ? rc : run_inputs_read(c, e);
	rc = rc ? rc : run_policy_files(c, p, e);
	policy_take(rc, p);
	return rc;
}

/* A line of text, or a row of the list in JSON. */
static void report_fault(void *ctx, const struct run_fault *fault)
{
	struct json *j = ctx;

	if (!cli_json) {
		cli_bad("%s", fault->text);
		return;
	}
	json_open(j, NULL, '{');
	if (fault->line) {
		json_u64(j, "line", fault->line);
		json_u64(j, "column", fault->column);
	}
	json_str(j, "text", fault->text);
	json_close(j);
}

/* All faults of the file; if it has none, those of file and options together. Returns their number. */
static unsigned faults_report(struct settings *c, struct json *j)
{
	struct err e;
	unsigned n;

	settings_default(c);
	n = o.config ? run_config_faults(o.config, c, report_fault, j) : 0;
	if (n)
		return n;
	if (load(NULL, c, &e)) {
		report_fault(j, &(struct run_fault){.text = e.text});
		return 1;
	}
	run_inputs_free(c->sm.inputs);
	return run_config_places(c, report_fault, j);
}

static int check(struct settings *c)
{
	struct json j = {0};
	unsigned n;
	int rc;

	json_open(&j, NULL, '{');
	if (o.config)
		json_str(&j, "file", o.config);
	json_open(&j, "faults", '[');
	n = faults_report(c, &j);
	json_close(&j);
	json_bool(&j, "valid", !n);
	json_close(&j);
	if (!cli_json) {
		json_free(&j);
		if (!n)
			printf("%s: no faults\n", o.config ? o.config : "default settings");
		return n ? CLI_BAD : CLI_OK;
	}
	rc = cli_print_json(&j);
	return rc ? rc : n ? CLI_BAD : CLI_OK;
}

/* Lists of the configuration; those of OpenSM's files are in these. */
static void print_lists(void *ctx, const char *section, struct strbuf *out)
{
	const struct settings *c = ctx;

	if (policy && !strcmp(section, "partitions") && !*c->partitions_file)
		pol_print_partitions(policy, out);
	if (policy && !strcmp(section, "qos") && !*c->qos_policy_file)
		pol_print_qos(policy, out);
}

static int print_config(struct settings *c)
{
	struct strbuf yaml = {0};
	struct json j = {0};

	if (cli_json) {
		settings_print_json(c, &j);
		return cli_print_json(&j);
	}
	settings_print_yaml_with(c, true, print_lists, c, &yaml);
	return cli_write("-", &yaml);
}

static int reread(void *ctx, struct settings *c, struct err *e)
{
	int rc = load(ctx, c, e);

	if (!rc && (rc = run_config_paths(c, e)))
		run_inputs_free(c->sm.inputs);
	return rc;
}

/* ---- the summary of --once ---- */

static void up_json(struct json *j, const struct run_view *v, const struct sm_status *st,
		    uint64_t smps)
{
	json_open(j, NULL, '{');
	json_str(j, "state", "up");
	json_bool(j, "clean", st->last.clean);
	json_u64(j, "switches", st->switches);
	json_u64(j, "hosts", st->nodes - st->switches - st->routers);
	json_u64(j, "routers", st->routers);
	json_u64(j, "lids", st->lids);
	json_u64(j, "took_us", v->now / PS_PER_US);
	json_u64(j, "compute_ms", v->compute_ms);
	json_open(j, "phases_us", '{');
	for (unsigned p = 0; p < SM_NPHASES; p++)
		if (st->last.time[p])
			json_u64(j, sm_phase_name(p), st->last.time[p] / PS_PER_US);
	json_close(j);
	json_u64(j, "smps", smps);
	json_open(j, "smps_by_purpose", '{');
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		json_u64(j, sm_purpose_name(i), st->smps[i]);
	json_close(j);
	json_u64(j, "retries", st->retries);
	json_u64(j, "rss_kib", (uint64_t)(cli_rss_mib() * 1024));
	json_close(j);
}

static void print_up(void *ctx UNUSED, const struct run_view *v)
{
	struct sm_status st;
	struct json j = {0};
	uint64_t smps = 0;

	sm_status(v->sm, &st);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += st.smps[i];
	if (cli_json) {
		up_json(&j, v, &st, smps);
		cli_print_json(&j);
	} else {
		char routers[32] = "";

		if (st.routers)
			snprintf(routers, sizeof(routers), ", %u routers", st.routers);
		printf("SUBNET UP: %u switches, %u hosts%s, %u LIDs in %s, %s SMPs, %.0f MiB\n",
		       st.switches, st.nodes - st.switches - st.routers, routers, st.lids,
		       cli_duration(v->now), cli_count(smps), cli_rss_mib());
	}
	fflush(stdout);
}

/* ---- the command ---- */

static int sm(char **args UNUSED, unsigned nargs UNUSED)
{
	const struct run_hooks hooks = {
		.reread = reread, .config = o.config, .up = print_up, .policy = policy_now};
	struct settings c;
	struct strbuf out = {0};
	struct err e;
	int rc;

	if (o.schema) {
		settings_schema(&out);
		return cli_write("-", &out);
	}
	if (o.dot && !o.phases && !o.election)
		return cli_bad("--dot is for --print-phases and --print-election");
	if (o.election)
		return print_election(o.dot);
	if (o.phases)
		return print_phases(o.dot);
	if (o.check)
		return check(&c);
	if (load(NULL, &c, &e))
		return cli_bad("%s", e.text);
	if (o.print) {
		run_inputs_free(c.sm.inputs);
		return print_config(&c);
	}
	rc = run_config_paths(&c, &e) ? CLI_BAD : CLI_OK;
	if (rc)
		run_inputs_free(c.sm.inputs);
	else if (run_sm(&c, &hooks, &e))
		rc = CLI_NO;
	if (rc)
		cli_bad("%s", e.text);
	return rc;
}

/* clang-format off */
static const struct cli_opt opts[] = {
	{.name = "config", .letter = 'c', .type = CLI_STR, .dst = &o.config, .arg = "FILE",
	 .help = "read settings from this file; those given as options take precedence"},
	{.name = "check-config", .type = CLI_FLAG, .dst = &o.check,
	 .help = "report every fault of the configuration, and end"},
	{.name = "print-config", .type = CLI_FLAG, .dst = &o.print,
	 .help = "print the settings in effect as YAML with comments, and end"},
	{.name = "schema", .type = CLI_FLAG, .dst = &o.schema,
	 .help = "print the JSON Schema of the configuration, and end"},
	{.name = "print-phases", .type = CLI_FLAG, .dst = &o.phases,
	 .help = "print the manager's phases and what follows each, and end"},
	{.name = "print-election", .type = CLI_FLAG, .dst = &o.election,
	 .help = "print what the manager does upon each event in each SMInfo state, and end"},
	{.name = "dot", .type = CLI_FLAG, .dst = &o.dot,
	 .help = "with --print-phases and --print-election: as a drawing for Graphviz"},
	{.name = "once", .letter = '1', .type = CLI_FLAG, .dst = &o.once,
	 .help = "end when the subnet is up, with a summary on standard output"},
	{.name = "foreground", .letter = 'f', .type = CLI_FLAG, .dst = &o.foreground,
	 .help = "stay in the foreground, as it always does; for scripts that pass this option"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_sm = {
	.name = "sm",
	.args = "[options]",
	.summary = "manage a subnet: the subnet manager on a real or emulated fabric",
	.about =
		"Brings up the subnet at a local port and manages it: discovers it, assigns LIDs, computes\n"
		"and verifies routes, programs the switches, and handles every change. It stays in the\n"
		"foreground. It needs no configuration: the defaults suit most fabrics.\n"
		"\n"
		"SIGTERM and SIGINT end it, SIGHUP reads the configuration again, SIGUSR1 writes dumps and\n"
		"reopens the log file. Exit status: 0 it was asked to end, 1 it could not run, 2 bad\n"
		"configuration.",
	.examples = "weft sm\n"
		    "weft sm --config /etc/weft/weft.yaml --check-config\n"
		    "weft sm --device mlx5_0 --port 1\n"
		    "weft sm --print-phases --dot > phases.dot\n"
		    "weft sm --print-election\n"
		    "weft sm --transport ibsim --server lab0 --once --json | jq .took_us\n",
	.opts = opts,
	.settings = SETTING_FOR_SM,
	.min_args = 0,
	.max_args = 0,
	.run = sm,
};

/* ---- weft perf ---- */

static int perf(char **args, unsigned nargs)
{
	o.counters = true;
	return sm(args, nargs);
}

/* clang-format off */
static const struct cli_opt perf_opts[] = {
	{.name = "config", .letter = 'c', .type = CLI_STR, .dst = &o.config, .arg = "FILE",
	 .help = "read settings from this file; those given as options take precedence"},
	{0},
};
/* clang-format on */

const struct cli_cmd cmd_perf = {
	.name = "perf",
	.args = "[options]",
	.summary = "read the counters of all ports beside a manager that runs elsewhere",
	.about =
		"Observes a subnet that another manager manages, and reads the counters of all linked ports,\n"
		"round after round: as 'weft sm --observe --perf-period 1s', with a control socket of its own\n"
		"(perf.sock or perf-NAME.sock). It sends no Set and isolates no link. On the machine of a standby\n"
		"it gives 'weft top', 'weft ctl counters' and metrics without work for the master.",
	.examples =
		"weft perf --server lab0\n"
		"weft perf --config /etc/weft/weft.yaml --perf-period 10s --metrics-port 9448\n",
	.opts = perf_opts,
	.settings = SETTING_FOR_SM,
	.min_args = 0,
	.max_args = 0,
	.run = perf,
};
