/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft ctl: asks a running manager or emulator over its control socket. State: the options of one run.
 * Way in: cmd_ctl. Computes nothing: it shows the answer (docs/control.md).
 */
#include <time.h>
#include <unistd.h>

#include "base/spelling.h"
#include "cli/cmds.h"
#include "cli/ctl.h"
#include "control/lines.h"

static struct {
	const char *socket, *name;
	time_ps timeout, wait;
	bool summary, watch;
} opt = {.timeout = 10 * PS_PER_S, .wait = 5 * PS_PER_S};

struct verb {
	const char *name, *args[2]; /* names of the request's members */
	unsigned min, max;
	bool number;	 /* the argument is a number */
	ctl_show *show;	 /* NULL: nothing to show */
	const char *cmd; /* of the request; NULL: the name */
};

static const struct verb verbs[] = {
	{"status", {0}, 0, 0, false, ctl_show_status, NULL},
	{"wait", {0}, 0, 0, false, ctl_show_rest, NULL},
	{"topology", {0}, 0, 0, false, ctl_show_topology, NULL},
	{"route", {"from", "to"}, 2, 2, false, ctl_show_route, NULL},
	{"switches", {0}, 0, 0, false, ctl_show_switches, NULL},
	{"ports", {"node"}, 0, 1, false, ctl_show_ports, NULL},
	{"counters", {"node"}, 0, 1, false, ctl_show_perf, "perf"},
	{"sick", {0}, 0, 0, false, ctl_show_sick, NULL},
	{"changes", {"count"}, 0, 1, true, ctl_show_changes, NULL},
	{"smps", {0}, 0, 0, false, ctl_show_smps, NULL},
	{"sa", {0}, 0, 0, false, ctl_show_sa, NULL},
	{"paths", {"from", "to"}, 2, 2, false, ctl_show_paths, NULL},
	{"groups", {0}, 0, 0, false, ctl_show_groups, NULL},
	{"partitions", {0}, 0, 0, false, ctl_show_partitions, NULL},
	{"services", {0}, 0, 0, false, ctl_show_services, NULL},
	{"subscriptions", {0}, 0, 0, false, ctl_show_subscriptions, NULL},
	{"config", {0}, 0, 0, false, ctl_show_text, NULL},
	{"sweep", {0}, 0, 0, false, NULL, NULL},
	{"resync", {0}, 0, 0, false, NULL, NULL},
	{"handover", {"guid"}, 0, 1, false, NULL, NULL},
	{"log", {"level"}, 0, 1, false, ctl_show_level, NULL},
	{"dump", {0}, 0, 0, false, ctl_show_dump, NULL},
	{"reload", {0}, 0, 0, false, ctl_show_reload, NULL},
	{"stop", {0}, 0, 0, false, NULL, NULL},
	{"fabric", {0}, 1, 32, false, ctl_show_text, NULL},
};

static const char *const verb_names[] = {
	"status",   "wait",	     "topology", "route",  "switches", "ports",	   "counters",
	"sick",	    "changes",	     "smps",	 "sa",	   "paths",    "groups",   "partitions",
	"services", "subscriptions", "config",	 "sweep",  "resync",   "handover", "log",
	"dump",	    "reload",	     "stop",	 "fabric", NULL};

_Static_assert(ARRAY_LEN(verb_names) == ARRAY_LEN(verbs) + 1,
	       "each verb has its word for completion");

static const struct verb *verb_find(const char *name)
{
	struct spelling near = {.word = name};

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		spelling_offer(&near, verbs[i].name, verbs[i].name);
	}
	if (near.best)
		cli_bad("unknown command '%.60s', did you mean '%s'? (see 'weft ctl --help')", name,
			near.best);
	else
		cli_bad("unknown command '%.60s' (see 'weft ctl --help')", name);
	return NULL;
}

/* ---- the request ---- */

/* The emulator parses a line of its console. Names with blanks lost their quotes in the shell. */
static void fabric_line(char **args, unsigned n, struct strbuf *q)
{
	for (unsigned i = 0; i < n; i++) {
		const char *quote =
			n > 1 && strchr(args[i], ' ') && !strchr(args[i], '"') ? "\"" : "";

		strbuf_addf(q, "%s%s%s%s", i ? " " : "", quote, args[i], quote);
	}
}

static int request(const struct verb *v, char **args, unsigned n, struct strbuf *q)
{
	struct json j = {.line = true};
	uint64_t number;

	json_open(&j, NULL, '{');
	json_str(&j, "cmd", v->cmd ? v->cmd : v->name);
	for (unsigned i = 0; i < n; i++) {
		if (!v->number) {
			json_str(&j, v->args[i], args[i]);
		} else if (parse_u64(args[i], &number) || number > INT64_MAX) {
			json_free(&j);
			return cli_bad("%s: expected a number, found '%.60s'", v->name, args[i]);
		} else {
			json_u64(&j, v->args[i], number);
		}
	}
	if (opt.summary)
		json_u64(&j, "netlist", 0);
	json_close(&j);
	strbuf_addn(q, j.out.s, j.out.len);
	json_free(&j);
	return CLI_OK;
}

/* ---- the answer ---- */

/* Why the request is refused: each fault in a line of its own. */
static int refusal(const struct verb *v, const json_t *a)
{
	const char *error = json_string_value(json_object_get(a, "error"));
	const json_t *faults = json_object_get(a, "faults"), *f;
	size_t i;

	json_array_foreach(faults, i, f)
		cli_bad("%s: %s", v->name, json_string_value(f) ? json_string_value(f) : "?");
	if (!json_array_size(faults))
		cli_bad("%s: %s", v->name, error ? error : "refused");
	return CLI_BAD;
}

static int show(const struct verb *v, const char *answer)
{
	struct strbuf text = {0};
	json_error_t why;
	json_t *a = json_loads(answer, 0, &why);
	int rc = CLI_OK;

	if (!a)
		return cli_bad("the answer is not JSON: %s", why.text);
	if (!json_is_true(json_object_get(a, "ok"))) {
		rc = refusal(v, a);
	} else if (cli_json) {
		ctl_json_indent(answer, &text);
		rc = cli_write("-", &text);
	} else if (v->show) {
		v->show(a);
	}
	if (rc == CLI_OK && json_is_false(json_object_get(a, "reached")))
		rc = CLI_NO;
	json_decref(a);
	return rc;
}

static int ask(const char *path, const char *q, struct strbuf *answer)
{
	struct err e;

	if (lines_ask(path, q, (unsigned)MIN(opt.timeout / PS_PER_MS, (time_ps)86400000), answer,
		      &e))
		return cli_bad("%s", e.text);
	return CLI_OK;
}

static int ask_once(const struct verb *v, const char *path, const char *q)
{
	bool rest = !strcmp(v->name, "wait");
	struct strbuf answer = {0};
	int rc = rest ? ctl_wait_for_rest(path, opt.timeout, &answer) : ask(path, q, &answer);

	if (!rc)
		rc = show(v, answer.s);
	if (!rc && !strcmp(v->name, "stop"))
		rc = ctl_socket_wait_end(path, opt.timeout);
	strbuf_free(&answer);
	return rc;
}

static int ask_repeatedly(const struct verb *v, const char *path, const char *q)
{
	int rc;

	do {
		if (isatty(STDOUT_FILENO))
			printf("\033[H\033[J");
		rc = ask_once(v, path, q);
		fflush(stdout);
	} while (!rc && !ferror(stdout) && !nanosleep(&(struct timespec){.tv_sec = 1}, NULL));
	return rc;
}

static int ctl(char **args, unsigned nargs)
{
	const struct verb *v = verb_find(args[0]);
	bool fabric = v && !strcmp(v->name, "fabric");
	struct ctl_target target = {.socket = opt.socket, .name = opt.name, .wait = opt.wait};
	struct strbuf q = {0};
	char path[108];
	int rc;

	if (!v)
		return CLI_BAD;
	if (nargs - 1 < v->min || nargs - 1 > v->max)
		return cli_bad("%s: expected %u%s argument%s, found %u (see 'weft ctl --help')",
			       v->name, v->min, v->max > v->min ? " or more" : "",
			       v->min == 1 && v->max == 1 ? "" : "s", nargs - 1);
	if (opt.summary && strcmp(v->name, "topology"))
		return cli_bad("--summary goes with topology");
	if (opt.watch && (!v->show || !strcmp(v->name, "reload")))
		return cli_bad("--watch goes with commands that show something, not with %s",
			       v->name);
	if (fabric)
		fabric_line(args + 1, nargs - 1, &q);
	else if (request(v, args + 1, nargs - 1, &q))
		return CLI_BAD;
	target.kind = fabric ? "fabric" : "sm";
	rc = ctl_socket_find(&target, path, sizeof(path));
	if (!rc)
		rc = opt.watch ? ask_repeatedly(v, path, q.s) : ask_once(v, path, q.s);
	strbuf_free(&q);
	return rc;
}

static const struct cli_opt opts[] = {
	{"socket", 's', CLI_STR, &opt.socket, "PATH",
	 "the control socket; default: that of the only manager on this machine", NULL, 0, 0},
	{"name", 'n', CLI_STR, &opt.name, "NAME",
	 "the manager of this fabric: ibsim's socket name, or the device; default $IBSIM_SOCKNAME",
	 NULL, 0, 0},
	{"timeout", 't', CLI_TIME, &opt.timeout, "TIME",
	 "the longest time to wait for a response, or for rest with 'wait'; default 10s", NULL, 0,
	 0},
	{"wait", 0, CLI_TIME, &opt.wait, "TIME",
	 "the longest time to wait for a manager or emulator that is starting; default 5s; 0: none",
	 NULL, 0, 0},
	{"summary", 0, CLI_FLAG, &opt.summary, NULL,
	 "topology: only counts of switches, hosts and links", NULL, 0, 0},
	{"watch", 'w', CLI_FLAG, &opt.watch, NULL, "ask again every second", NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_ctl = {
	.name = "ctl",
	.args = "COMMAND [ARG...]",
	.words = verb_names,
	.summary = "ask and control a running manager or emulator",
	.about =
		"Asks 'weft sm' over its control socket. NODE is a GUID of a node or port, a LID, an id such as\n"
		"S-0002000000000001, or a name. A manager that is starting is waited for (--wait).\n"
		"\n"
		"  status            the manager's state, all managers, the subnet in numbers, the last change\n"
		"  wait              return when the subnet is up and everything that has changed so far is\n"
		"                    done; status 1 when that takes longer than --timeout\n"
		"  topology          the subnet as a netlist, as ibnetdiscover writes it\n"
		"  route NODE NODE   the route from one to the other, hop by hop; status 1 when there is none\n"
		"  switches          every switch\n"
		"  ports [NODE]      every port of a node, or every port with a link\n"
		"  counters [NODE[:PORT]]  counters by the performance manager: the busiest links; the ports of a node; one\n"
		"                    port with its last hour (perf.period must be set)\n"
		"  sick              links with too many errors, isolated ones, devices that do not answer\n"
		"  changes [N]       the last N changes (default: all in the history): cause, time, SMPs, phases\n"
		"  smps              SMPs by purpose, retries, timeouts\n"
		"  paths NODE NODE   the path records that a host would get: LIDs, SL, MTU, rate, hops\n"
		"  groups            multicast groups with their members\n"
		"  partitions        partitions with their flags, groups and members\n"
		"  services          services that hosts have registered\n"
		"  subscriptions     who is told of which notices\n"
		"  sa                requests to subnet administration by attribute and result\n"
		"  config            the configuration in force\n"
		"  sweep             look for changes now\n"
		"  resync            discard what is known, read the whole subnet and correct it\n"
		"  handover [GUID]   hand the subnet over to the manager with this port GUID, or to the best one\n"
		"  log [LEVEL]       show or set the log level: error, warning, notice, info or debug\n"
		"  dump              write the files in OpenSM's formats\n"
		"  reload            read the configuration again; its faults, if it has some, and status 2: then\n"
		"                    nothing changes\n"
		"  stop              end the manager; returns when its files can be used again\n"
		"  fabric COMMAND... a command of the console of 'weft fabric'\n"
		"\n"
		"Exit status 2 when no process listens at the socket or the request is refused.",
	.examples = "weft ctl status --watch\n"
		    "weft ctl topology | weft topo show -\n"
		    "weft ctl route H-0001000000000010 H-0001000000000020\n"
		    "weft ctl status --json | jq -r '.managers[] | [.guid, .state] | @tsv'\n"
		    "weft ctl changes 5 --json | jq '.changes[].time_s'\n"
		    "weft ctl --name lab0 fabric unlink '\"S-0002000000000001\"[3]'\n",
	.opts = opts,
	.min_args = 1,
	.max_args = 33,
	.run = ctl,
};
