/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sm: the configuration from file and options, and the daemon. State: the options of the running
 * command. Way in: cmd_sm. Does not manage anything: src/run does.
 */
#include "cli/cli.h"
#include "run/run.h"

static const char *const mechanisms[] = {"basic",	   "improved", "improved+partial",
					 "improved+traps", "weft",     NULL};
static const char *const levels[] = {"error", "warning", "notice", "info", "debug", NULL};
static const char *const formats[] = {"text", "json", NULL};

enum { NOT_GIVEN = 65535 };

static struct {
	const char *config, *transport, *device, *server, *mechanism, *state, *control, *dumps,
		*level, *format, *log;
	bool check, print, schema, once, foreground;
	unsigned port, window, priority;
	uint64_t guid;
} o = {.port = NOT_GIVEN, .window = NOT_GIVEN, .priority = NOT_GIVEN};

/* ---- options over the file ---- */

static int set_text(char *dst, size_t size, const char *option, const char *text, struct err *e)
{
	if (!text)
		return 0;
	if (strlen(text) >= size)
		return err_set(e, -EINVAL, "--%s: longer than %zu characters", option, size - 1);
	snprintf(dst, size, "%s", text);
	return 0;
}

static unsigned index_of(const char *const *names, const char *name)
{
	unsigned i = 0;

	while (strcmp(names[i], name))
		i++;
	return i;
}

static int apply_texts(struct settings *c, struct err *e)
{
	const struct {
		char *dst;
		size_t size;
		const char *option, *text;
	} texts[] = {
		{c->transport, sizeof(c->transport), "transport",
		 o.transport && !strcmp(o.transport, "auto") ? "" : o.transport},
		{c->where.device, sizeof(c->where.device), "device", o.device},
		{c->where.server, sizeof(c->where.server), "server", o.server},
		{c->state, sizeof(c->state), "state", o.state},
		{c->control, sizeof(c->control), "control", o.control},
		{c->dumps, sizeof(c->dumps), "dumps", o.dumps},
		{c->log_file, sizeof(c->log_file), "log", o.log},
	};

	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		if (set_text(texts[i].dst, texts[i].size, texts[i].option, texts[i].text, e))
			return -EINVAL;
	return 0;
}

static int apply(struct settings *c, struct err *e)
{
	int rc = apply_texts(c, e);

	if (o.port != NOT_GIVEN)
		c->where.port = o.port;
	if (o.guid)
		c->where.port_guid = o.guid;
	if (o.mechanism)
		c->sm.mechanism = *sm_mechanism_find(o.mechanism);
	if (o.window != NOT_GIVEN)
		c->sm.window = o.window;
	if (o.priority != NOT_GIVEN)
		c->sm.priority = o.priority;
	if (o.level)
		c->log_level = (enum run_log_level)index_of(levels, o.level);
	if (o.format)
		c->log_format = (enum run_log_format)index_of(formats, o.format);
	c->once = o.once;
	return rc;
}

static int load(void *ctx, struct settings *c, struct err *e)
{
	int rc = 0;

	(void)ctx;
	settings_default(c);
	if (o.config)
		rc = run_config_load(o.config, c, e);
	rc = rc ? rc : apply(c, e);
	return rc ? rc : settings_check(c, NULL, e);
}

static void tell_fault(void *ctx, const char *fault)
{
	(void)ctx;
	cli_bad("%s", fault);
}

/* Every fault of the file, not the first alone; then what options make of it. */
static int check(struct settings *c)
{
	struct err e;

	settings_default(c);
	if (o.config && run_config_faults(o.config, c, tell_fault, NULL))
		return CLI_BAD;
	if (load(NULL, c, &e))
		return cli_bad("%s", e.text);
	printf("%s is right\n", o.config ? o.config : "no file, so the configuration");
	return CLI_OK;
}

static int reread(void *ctx, struct settings *c, struct err *e)
{
	int rc = load(ctx, c, e);

	return rc ? rc : run_config_paths(c, e);
}

/* ---- the summary of --once ---- */

static void print_up(void *ctx, const struct run_view *v)
{
	struct sm_status st;
	struct json j = {0};
	uint64_t smps = 0;

	(void)ctx;
	sm_status(v->sm, &st);
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		smps += st.smps[i];
	if (!cli_json) {
		printf("SUBNET UP: %u switches, %u hosts, %u LIDs in %s, %s SMPs, %.0f MiB\n",
		       st.switches, st.nodes - st.switches, st.lids, cli_duration(v->now),
		       cli_count(smps), cli_rss_mib());
		fflush(stdout);
		return;
	}
	json_open(&j, NULL, '{');
	json_str(&j, "state", "up");
	json_bool(&j, "clean", st.last.clean);
	json_u64(&j, "switches", st.switches);
	json_u64(&j, "hosts", st.nodes - st.switches);
	json_u64(&j, "lids", st.lids);
	json_u64(&j, "took_us", v->now / PS_PER_US);
	json_u64(&j, "compute_ms", v->compute_ms);
	json_open(&j, "phases_us", '{');
	for (unsigned p = 0; p < SM_NPHASES; p++)
		if (st.last.time[p])
			json_u64(&j, sm_phase_name(p), st.last.time[p] / PS_PER_US);
	json_close(&j);
	json_u64(&j, "smps", smps);
	json_open(&j, "smps_by_purpose", '{');
	for (unsigned i = 0; i < SM_NPURPOSES; i++)
		json_u64(&j, sm_purpose_name(i), st.smps[i]);
	json_close(&j);
	json_u64(&j, "retries", st.retries);
	json_u64(&j, "rss_kib", (uint64_t)(cli_rss_mib() * 1024));
	json_close(&j);
	cli_print_json(&j);
	fflush(stdout);
}

/* ---- the command ---- */

static int sm(char **args UNUSED, unsigned nargs UNUSED)
{
	const struct run_hooks hooks = {.reread = reread, .up = print_up};
	struct settings c;
	struct strbuf out = {0};
	struct err e;

	if (o.schema) {
		settings_schema(&out);
		return cli_write("-", &out);
	}
	if (o.check)
		return check(&c);
	if (load(NULL, &c, &e))
		return cli_bad("%s", e.text);
	if (o.print) {
		settings_print_yaml(&c, true, &out);
		return cli_write("-", &out);
	}
	if (run_config_paths(&c, &e))
		return cli_bad("%s", e.text);
	if (!run_sm(&c, &hooks, &e))
		return CLI_OK;
	cli_bad("%s", e.text);
	return CLI_NO;
}

static const struct cli_opt opts[] = {
	{"config", 'c', CLI_STR, &o.config, "FILE",
	 "read this configuration; options below go over it", NULL, 0, 0},
	{"check-config", 0, CLI_FLAG, &o.check, NULL,
	 "say what is wrong with the configuration, all of it, and end", NULL, 0, 0},
	{"print-config", 0, CLI_FLAG, &o.print, NULL,
	 "print the configuration that would be used, with every key explained, and end", NULL, 0,
	 0},
	{"schema", 0, CLI_FLAG, &o.schema, NULL,
	 "print the JSON Schema of the configuration, and end", NULL, 0, 0},
	{"transport", 't', CLI_CHOICE, &o.transport, "NAME", tp_kinds_help, tp_kinds, 0, 0},
	{"device", 'd', CLI_STR, &o.device, "NAME",
	 "umad: the device; ibsim: the node to sit on (default: the first with a link; $SIM_HOST)",
	 NULL, 0, 0},
	{"port", 'p', CLI_UINT, &o.port, "N",
	 "umad: the device's port (default: the first with a link)", NULL, 0, 254},
	{"guid", 'g', CLI_U64, &o.guid, "GUID", "umad: the port with this GUID", NULL, 0, 0},
	{"server", 's', CLI_STR, &o.server, "NAME",
	 "ibsim: socket name, or HOST:PORT for UDP (default $IBSIM_SOCKNAME, else sim)", NULL, 0,
	 0},
	{"mechanism", 0, CLI_CHOICE, &o.mechanism, "NAME",
	 "how a change is assimilated (default weft)", mechanisms, 0, 0},
	{"window", 'w', CLI_UINT, &o.window, "N", "SMPs outstanding at once", NULL, 1,
	 SM_MAX_WINDOW},
	{"priority", 0, CLI_UINT, &o.priority, "N", "against other SMs; the highest is master",
	 NULL, 0, 15},
	{"once", '1', CLI_FLAG, &o.once, NULL,
	 "end when the subnet is up, with a summary on standard output", NULL, 0, 0},
	{"state", 0, CLI_STR, &o.state, "FILE", "what must survive; '' keeps nothing", NULL, 0, 0},
	{"control", 0, CLI_STR, &o.control, "PATH", "socket for weft ctl; '' for none", NULL, 0, 0},
	{"dumps", 0, CLI_STR, &o.dumps, "DIR", "write OpenSM's files there after each change", NULL,
	 0, 0},
	{"log", 0, CLI_STR, &o.log, "FILE", "log there (default standard error)", NULL, 0, 0},
	{"log-level", 'l', CLI_CHOICE, &o.level, "LEVEL", "what is worth a line (default notice)",
	 levels, 0, 0},
	{"log-format", 0, CLI_CHOICE, &o.format, "FORMAT", "lines of text or of JSON", formats, 0,
	 0},
	{"foreground", 'f', CLI_FLAG, &o.foreground, NULL,
	 "what it always does; here for scripts that say so", NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_sm = {
	.name = "sm",
	.args = "[options]",
	.summary = "manage a subnet: the subnet manager on a real or emulated fabric",
	.about =
		"Brings the subnet at a local port up and keeps it so: discovers it, gives LIDs, computes\n"
		"and verifies routes, programs the switches, and follows every change. It stays in the\n"
		"foreground; systemd or a shell may do otherwise with it. Without a configuration it does\n"
		"what is right for most.\n"
		"\n"
		"SIGTERM and SIGINT end it, SIGHUP reads the configuration again, SIGUSR1 writes dumps and\n"
		"opens the log file anew. Exit status: 0 ended as told, 1 could not run, 2 bad\n"
		"configuration.",
	.examples = "weft sm\n"
		    "weft sm --config /etc/weft/weft.yaml --check-config\n"
		    "weft sm --device mlx5_0 --port 1\n"
		    "weft sm --transport ibsim --server lab0 --once --json | jq .took_us\n",
	.opts = opts,
	.min_args = 0,
	.max_args = 0,
	.run = sm,
};
