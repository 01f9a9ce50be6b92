/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft ui: the window, on the loopback. State: the options of one run. Way in: cmd_ui. Serving is in src/web.
 */
#include "cli/cmds.h"
#include "cli/ctl.h"
#include "web/web.h"
#include "window/window.h"

enum { FILE_MAX = 60 << 20 };

static struct {
	const char *live, *socket;
	unsigned port;
	time_ps wait;
	bool quiet, changes;
} opt = {.wait = 5 * PS_PER_S};

static void ready(const char *url)
{
	struct json j = {.line = true};

	if (cli_json) {
		json_open(&j, NULL, '{');
		json_str(&j, "url", url);
		json_close(&j);
		printf("%s\n", j.out.s);
		json_free(&j);
	} else {
		printf("%s\n", url);
	}
	fflush(stdout);
}

/* Has the fabric as many nodes as the page can show, virtual functions included? */
static int size_check(const char *path, const struct fab *f, struct err *e)
{
	struct fab *devices = fab_devices(f, e);
	unsigned n = devices ? devices->nnodes : 0;

	if (!devices)
		return -EINVAL;
	fab_free(devices);
	return n && n <= WINDOW_NODES_MAX
		       ? 0
		       : err_set(e, -EINVAL, "%s: expected a fabric of 1 to %d nodes, found %u",
				 path, WINDOW_NODES_MAX, n);
}

/* The text of a netlist that can be shown; NULL after a message. */
static char *netlist_load(const char *path)
{
	struct fab_netlist n = {0};
	struct err e;
	char *text;
	size_t len;
	int rc = file_read(path, &text, &len, &e);

	if (rc) {
		cli_bad("%s", e.text);
		return NULL;
	}
	if (len > FILE_MAX)
		rc = err_set(&e, -EFBIG, "%s: expected a file of at most 60 MiB", path);
	else
		rc = fab_netlist_parse(&n, path, text, len, &e);
	if (!rc) {
		rc = size_check(path, n.fab, &e);
		fab_netlist_free(&n);
	}
	if (!rc)
		return text;
	cli_bad("%s", e.text);
	free(text);
	return NULL;
}

static int serve(const struct web_config *c)
{
	struct err e;

	return web_run(c, ready, &e) ? cli_bad("%s", e.text) : CLI_OK;
}

static int ui_live(struct web_config *c)
{
	struct ctl_target target = {.kind = "sm",
				    .socket = opt.socket,
				    .name = opt.live,
				    .option = "--live",
				    .wait = opt.wait};
	char path[108];

	if (ctl_socket_find(&target, path, sizeof(path)))
		return CLI_BAD;
	c->live = opt.live ? opt.live : path;
	c->live_path = path;
	return serve(c);
}

static int ui(char **args, unsigned nargs)
{
	struct web_config c = {.port = opt.port, .changes = opt.changes, .browser = !opt.quiet};
	bool live = opt.live || opt.socket;
	char *text;
	int rc;

	if (live && nargs)
		return cli_bad("give a FILE or --live, not both");
	if (opt.changes && !live)
		return cli_bad("--allow-changes goes with --live");
	if (live)
		return ui_live(&c);
	if (!nargs)
		return serve(&c);
	text = netlist_load(args[0]);
	if (!text)
		return CLI_BAD;
	c.file = strrchr(args[0], '/') ? strrchr(args[0], '/') + 1 : args[0];
	c.netlist = text;
	rc = serve(&c);
	free(text);
	return rc;
}

static const struct cli_opt opts[] = {
	{"live", 'l', CLI_STR, &opt.live, "NAME",
	 "show a running manager: ibsim's socket name, or the device, as weft ctl --name", NULL, 0,
	 0},
	{"socket", 's', CLI_STR, &opt.socket, "PATH", "show the manager with this control socket",
	 NULL, 0, 0},
	{"allow-changes", 0, CLI_FLAG, &opt.changes, NULL,
	 "the page may ask the manager to sweep, resync, hand over and move virtual machines", NULL,
	 0, 0},
	{"port", 'p', CLI_UINT, &opt.port, "N",
	 "listen on this port of 127.0.0.1; default: a free one", NULL, 0, 65535},
	{"wait", 0, CLI_TIME, &opt.wait, "TIME",
	 "--live: the longest time to wait for a manager that is starting; default 5s; 0: none",
	 NULL, 0, 0},
	{"no-browser", 0, CLI_FLAG, &opt.quiet, NULL, "do not open the browser", NULL, 0, 0},
	{0},
};

const struct cli_cmd cmd_ui = {
	.name = "ui",
	.args = "[FILE] [options]",
	.summary = "build, watch and break a fabric on screen, simulated or real",
	.about =
		"Serves a page on the loopback, prints its address, opens the browser, and ends on SIGINT or\n"
		"SIGTERM. FILE is a netlist, as 'weft topo gen' and ibnetdiscover write it. With --live the page\n"
		"follows a running 'weft sm'.\n"
		"\n"
		"The address has a token in it: who knows it can use the page. From another machine, forward the\n"
		"port with the same number: ssh -L N:127.0.0.1:N HOST.",
	.examples = "weft ui\n"
		    "weft ui lab.net --no-browser --port 8300\n"
		    "weft ui --live lab0\n",
	.opts = opts,
	.max_args = 1,
	.run = ui,
};
