/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim run, weft sim saturate: data packets on a fabric that the manager has brought up. Keeps
 * the options of the one command that runs. Ways in: cmd_sim_run, cmd_sim_saturate. Does not
 * simulate anything itself: src/lab does; load_report.c prints the results.
 */
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/given_tables_opts.h"
#include "cli/group_opts.h"
#include "cli/load_opts.h"
#include "cli/load_report.h"
#include "cli/load_watch.h"
#include "cli/manager_opts.h"
#include "cli/profile_opts.h"
#include "cli/rft_opts.h"
#include "lab/forwarding_scan.h"
#include "lab/saturation.h"
#include "sim/kernel/sim_kernel.h"
#include "sim/traffic/sim_traffic.h"

static struct {
	const char *trace, *svg, *capture, *capture_node;
	struct load_wants wants;
	unsigned points;
	bool log_x, links, nodes;
	time_ps duration, warmup;
} o = {
	.points = 12,
	.duration = TIME_NEVER,
	.warmup = TIME_NEVER,
	.wants = {.series = TIME_NEVER},
};

/* clang-format off */
static const struct cli_opt load_opts[] = {
	{.name = "duration", .letter = 'd', .type = CLI_TIME, .dst = &o.duration, .arg = "TIME",
	 .help = "duration of the measurement (default: 200 packets a host, 8000 in all, 1000 on "
		 "a host's link)"},
	{.name = "warmup", .letter = 'w', .type = CLI_TIME, .dst = &o.warmup, .arg = "TIME",
	 .help = "traffic before the measurement (default: a quarter of its duration)"},
	{.name = "limit", .type = CLI_TIME, .dst = &load_o.limit, .arg = "TIME",
	 .help = "stop when the fabric is not up after this much simulated time (default "
		 "1000s, 10s where links make errors)"},
	{0},
};
/* clang-format on */

static int make_config(const struct fab *f, struct lab_config *c)
{
	return manager_config(f, c) || load_network(&c->sim) ? CLI_BAD : given_load(f, c);
}

/* ---- weft sim run ---- */

struct progress {
	struct lab *lab;
	time_ps until;
};

static int check_run(void)
{
	bool trace = o.trace || (load_o.pattern && !strcmp(load_o.pattern, "trace"));

	if (trace && !o.trace)
		return cli_bad("--pattern trace needs --trace FILE");
	if (o.trace && load_o.pattern && strcmp(load_o.pattern, "trace"))
		return cli_bad("--trace contains the destinations: expected no --pattern %s",
			       load_o.pattern);
	if (trace && load_given())
		return cli_bad(
			"--trace contains the times of packets: expected neither --load nor --rate");
	if (load_check_rate())
		return CLI_BAD;
	if (!trace && !load_given())
		return cli_bad("expected --load SHARE or --rate N, above 0");
	if (trace)
		load_o.pattern = "trace";
	if (!o.duration)
		return cli_bad("--duration: expected a time above 0");
	return group_check() ? CLI_BAD : load_wants_check(&o.wants);
}

static int read_trace(struct lab *l, traffic_trace *trace)
{
	struct err e;
	char *text;
	size_t len;
	int rc = file_read(o.trace, &text, &len, &e);

	if (rc)
		return cli_bad("%s", e.text);
	rc = traffic_trace_parse(trace, lab_load_hosts(lab_fabric(l)),
				 strcmp(o.trace, "-") ? o.trace : "standard input", text, len, &e);
	free(text);
	return rc ? cli_bad("%s", e.text) : CLI_OK;
}

static void on_run_tick(void *ctx)
{
	const struct progress *p = ctx;
	struct sim *s = lab_sim(p->lab);
	const struct sim_plane_stats *st = sim_plane_stats(s);

	if (!p->until)
		cli_progress("bring-up: %s of simulated time", cli_duration(sim_now(s)));
	else
		cli_progress("traffic: %s packets sent, %s arrived; %s still to simulate",
			     cli_count(st->generated), cli_count(st->delivered),
			     cli_duration(p->until > sim_now(s) ? p->until - sim_now(s) : 0));
}

static int conclude(struct load_report *r)
{
	struct json j = {0};
	int rc = r->r.nring || !r->r.conserved ? CLI_NO : CLI_OK;

	if (!cli_json)
		load_report_text(r);
	else if (load_report_json(r, &j), cli_print_json(&j))
		rc = CLI_BAD;
	return rc;
}

/* Starts the recordings that were requested. */
static int watch(struct load_watch *w, struct load_report *r, struct lab *l, struct capture **c)
{
	node_id only = FAB_NONE;
	struct err e;

	if (load_watch_start(w, &o.wants, r, l))
		return CLI_BAD;
	if (o.capture_node && cli_find_node(r->fab, "--capture-node", o.capture_node, &only))
		return CLI_BAD;
	if (o.capture) {
		*c = capture_open(o.capture, r->fab, lab_sim(l), only, &e);
		if (!*c)
			return cli_bad("%s", e.text);
	}
	return CLI_OK;
}

/* Runs the traffic on a fabric that is up, and completes the files of its recordings. */
static int run_traffic(struct load_report *r, struct lab *l, struct lab_load *d)
{
	struct capture *capture = NULL;
	struct load_watch w;
	struct err e;
	int rc = watch(&w, r, l, &capture);

	if (!rc && lab_load_run(l, d, &r->r, &e))
		rc = cli_bad("%s", e.text);
	cli_progress_end();
	if (capture_close(capture, !rc, &e))
		rc = cli_bad("%s", e.text);
	if (load_watch_end(&w, !rc))
		rc = CLI_BAD;
	return rc;
}

static int run_load(const char *file, struct load_report *r, struct lab *l, struct lab_load *d)
{
	struct progress p = {.lab = l};
	double start = cli_wall_s();

	lab_on_tick(l, on_run_tick, &p);
	if (load_up(file, l))
		return CLI_BAD;
	if (profile_traffic_at() > sim_now(lab_sim(l)))
		lab_run_to(l, profile_traffic_at());
	r->up_wall_s = cli_wall_s() - start;
	r->up_events = sim_events(lab_sim(l));
	lab_load_times(r->fab, d);
	p.until = sim_now(lab_sim(l)) + d->warmup + d->duration;
	if (load_wants_fit(&o.wants, d->warmup + d->duration))
		return CLI_BAD;
	if (run_traffic(r, l, d))
		return CLI_BAD;
	r->wall_s = cli_wall_s() - start - r->up_wall_s;
	r->interval = d->traffic.interval_ps;
	r->has_levels = o.wants.levels;
	if (r->has_levels)
		lab_levels(l, &r->levels);
	return conclude(r);
}

static int run_on(const char *file, const struct fab *f)
{
	struct load_report r = {
		.fab = f, .seed = manager_o.seed, .nodes = o.nodes, .links = o.links};
	struct lab_load d = {
		.warmup = o.warmup, .duration = o.duration, .detail = o.nodes || o.links};
	traffic_trace trace = {0};
	struct lab_config c;
	struct lab *l;
	struct err e;
	int rc = CLI_BAD;

	if (load_traffic(f, manager_o.seed, &d.traffic) || make_config(f, &c))
		return CLI_BAD;
	if (!o.trace && !(d.traffic.interval_ps = load_choose_interval(file, f, &c, &d)))
		return CLI_BAD;
	d.groups = group_config(f, &d.traffic, manager_o.seed);
	c.sm.multicast |= d.groups != NULL;
	l = lab_new(f, &c, &e);
	if (!l)
		return cli_bad("%s: %s", file, e.text);
	r.lab = l;
	load_describe(&d.traffic, o.trace, r.what);
	r.sm_node = lab_sm_node(l);
	if (!o.trace || !read_trace(l, &trace)) {
		d.trace = o.trace ? &trace : NULL;
		rc = run_load(file, &r, l, &d);
	}
	lab_free(l);
	lab_series_free(&r.series);
	vec_free(&r.discards);
	lab_load_free(&r.r);
	vec_free(&trace);
	return rc;
}

static int sim_run(char **args, unsigned nargs)
{
	struct fab *f;
	int rc;

	(void)nargs;
	if (check_run())
		return CLI_BAD;
	if (!strcmp(args[0], "-") && o.trace && !strcmp(o.trace, "-"))
		return cli_bad("only one file can be standard input");
	f = cli_load_wire(args[0]);
	if (!f)
		return CLI_BAD;
	rc = run_on(args[0], f);
	given_free();
	fab_free(f);
	return rc;
}

/* clang-format off */
static const struct cli_opt run_opts[] = {
	{.name = "trace", .type = CLI_STR, .dst = &o.trace, .arg = "FILE",
	 .help = "send the packets of this file, one a line"},
	{.name = "series", .type = CLI_TIME, .dst = &o.wants.series, .arg = "TIME",
	 .help = "also a time series with one sample every TIME (at least 1us)"},
	{.name = "levels", .type = CLI_FLAG, .dst = &o.wants.levels,
	 .help = "also report connectivity and deadlock level at the end, with --series at every sample "
		 "(slow on large fabrics)"},
	{.name = "series-csv", .type = CLI_STR, .dst = &o.wants.csv, .arg = "FILE",
	 .help = "with --series: write the series as CSV"},
	{.name = "series-svg", .type = CLI_STR, .dst = &o.wants.svg, .arg = "FILE",
	 .help = "with --series: draw the series"},
	{.name = "node-series", .type = CLI_STR, .dst = &o.wants.node_csv, .arg = "FILE",
	 .help = "with --series: write a series of every node as CSV"},
	{.name = "link-series", .type = CLI_STR, .dst = &o.wants.link_csv, .arg = "FILE",
	 .help = "with --series: write a series of every link and direction as CSV"},
	{.name = "nodes", .type = CLI_FLAG, .dst = &o.nodes,
	 .help = "also report hosts and switches: in text the slowest and busiest, in JSON all"},
	{.name = "links", .type = CLI_FLAG, .dst = &o.links,
	 .help = "also report links by direction and VL, with credits and buffers: in text the busiest, in "
		 "JSON all"},
	{.name = "discards", .type = CLI_FLAG, .dst = &o.wants.discards,
	 .help = "also list discarded packets with time, place and cause (the first 10,000)"},
	{.name = "capture", .type = CLI_STR, .dst = &o.capture, .arg = "FILE",
	 .help = "write the packets of the run for Wireshark (pcapng)"},
	{.name = "capture-node", .type = CLI_STR, .dst = &o.capture_node, .arg = "NODE",
	 .help = "with --capture: only packets that leave this node"},
	{0},
};

const struct cli_cmd cmd_sim_run = {
	.name = "sim run",
	.args = "FILE",
	.summary = "send data packets over a fabric and measure throughput and latency",
	.about = "The manager brings the fabric up on the packet-level network: virtual lanes, credits, arbitration, "
		 "cut-through switches. Then every host sends as --pattern and --arrivals say. After the warm-up the "
		 "measurement begins; at its end the run ends. --load is a share of the rate of the slowest host link, "
		 "headers included; with --of-saturation a share of the rate that 'weft sim saturate' finds.\n\n"
		 "A trace has a line a packet: time source destination bytes [sl]; hosts are numbered from 0 in the order "
		 "of the netlist, times count from the start of the traffic.\n\n"
		 "Status 1 when packets deadlock or are not accounted for.",
	.examples = "weft sim run cluster.net --load 30%\n"
		    "weft sim run cluster.net --rate 100000 --pattern hotspot --hot-share 20% --json\n"
		    "weft sim run cluster.net --load 50% --of-saturation --arrivals bursty --mtu 2048\n"
		    "weft sim run cluster.net --load 20% --nodes --links\n"
		    "weft sim run cluster.net --load 20% --series 50us --series-svg run.svg --node-series nodes.csv\n"
		    "weft sim run cluster.net --load 1% --capture run.pcapng --capture-node S-0002000000000001\n"
		    "weft sim run cluster.net --trace packets.txt\n"
		    "weft sim run cluster.net --load 20% --groups 50 --group-load 0.2%\n"
		    "weft sim run fabric.net --load 20% --tables opensm-lfts.dump",
	.opts = run_opts,
	.shared = (const struct cli_opt *const[]){load_rate_opts, load_opts, load_traffic_opts, group_opts, given_opts, profile_opts, profile_traffic_opts, manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = 1,
	.run = sim_run,
};
/* clang-format on */

/* ---- weft sim saturate ---- */

enum { MAX_FILES = 16 };

static int saturate_file(const char *file, const struct fab *f, struct sat_report *r)
{
	struct lab_load d = {.warmup = o.warmup, .duration = o.duration};
	struct fab *folded = fab_fold(f); /* a host with VFs is one host */
	double start = cli_wall_s();
	struct lab_config c;
	int rc;

	rc = load_traffic(f, manager_o.seed, &d.traffic) || make_config(f, &c)
		     ? CLI_BAD
		     : load_saturate(file, f, &c, &d, o.points, &r->s);
	*r = (struct sat_report){.file = file,
				 .s = r->s,
				 .switches = folded->nswitches,
				 .hosts = folded->nhosts,
				 .full = lab_load_full_rate(f, d.traffic.payload),
				 .wall_s = cli_wall_s() - start,
				 .seed = manager_o.seed};
	load_describe(&d.traffic, o.trace, r->what);
	fab_free(folded);
	return rc;
}

static int print_reports(const struct sat_report *r, unsigned n)
{
	struct strbuf svg = {0};
	struct json j = {0};
	bool sound = true;

	for (unsigned i = 0; i < n; i++)
		sound &= r[i].s.sound;
	if (o.svg) {
		sat_report_svg(r, n, o.log_x, &svg);
		if (cli_write(o.svg, &svg))
			return CLI_BAD;
	}
	if (!cli_json)
		sat_report_text(r, n);
	else if (sat_report_json(r, n, &j), cli_print_json(&j))
		return CLI_BAD;
	return sound ? CLI_OK : CLI_NO;
}

static int check_saturate(char **args, unsigned nargs)
{
	unsigned inputs = 0;

	for (unsigned i = 0; i < nargs; i++)
		inputs += !strcmp(args[i], "-");
	if (inputs > 1)
		return cli_bad("only one FILE can be standard input");
	if (given_wanted() && nargs > 1)
		return cli_bad("--tables is for one fabric: expected one FILE");
	if (load_o.pattern && !strcmp(load_o.pattern, "trace"))
		return cli_bad("--pattern trace has its own rate: expected another pattern");
	if (o.svg && !strcmp(o.svg, "-"))
		return cli_bad("--svg -: the table goes to standard output, expected a file");
	if (!o.duration)
		return cli_bad("--duration: expected a time above 0");
	return CLI_OK;
}

static int sim_saturate(char **args, unsigned nargs)
{
	struct sat_report r[MAX_FILES] = {0};
	struct fab *f[MAX_FILES] = {0};
	int rc = check_saturate(args, nargs);
	unsigned n = 0;

	/* All files are read first, so that a typing error in the last name is reported at once. */
	for (unsigned i = 0; !rc && i < nargs; i++)
		rc = (f[i] = cli_load_wire(args[i])) ? CLI_OK : CLI_BAD;
	while (!rc && n < nargs) {
		rc = saturate_file(args[n], f[n], &r[n]);
		n += !rc;
	}
	if (!rc)
		rc = print_reports(r, n);
	for (unsigned i = 0; i < nargs; i++) {
		lab_saturation_free(&r[i].s);
		fab_free(f[i]);
	}
	given_free();
	return rc;
}

/* clang-format off */
static const struct cli_opt saturate_opts[] = {
	{.name = "points", .type = CLI_UINT, .dst = &o.points, .arg = "N", .min = 1, .max = 1000,
	 .help = "points of the curve (default 12)"},
	{.name = "svg", .type = CLI_STR, .dst = &o.svg, .arg = "FILE",
	 .help = "draw latency against offered load"},
	{.name = "log-x", .type = CLI_FLAG, .dst = &o.log_x,
	 .help = "with --svg: rates on a logarithmic axis"},
	{0},
};

const struct cli_cmd cmd_sim_saturate = {
	.name = "sim saturate",
	.args = "FILE...",
	.summary = "find the saturation rate of a fabric, and its latency curve",
	.about = "A rate is too high when less than 95 % of the offered packets arrive, or when their mean latency is more "
		 "than 5 times that of an empty fabric. Rates double from 1/64 of the host's link until one is too high; "
		 "then the interval is halved until it is 3 %. The curve has --points rates up to 120 % of the saturation "
		 "rate. Every point is a simulation of its own, from power-on.\n\n"
		 "With several FILEs, the picture has a line each.",
	.examples = "weft sim saturate cluster.net\n"
		    "weft sim saturate cluster.net --pattern tornado --points 20 --json\n"
		    "weft sim saturate small.net large.net --svg latency.svg",
	.opts = saturate_opts,
	.shared = (const struct cli_opt *const[]){load_opts, load_traffic_opts, given_opts, profile_opts, manager_opts, rft_opts, NULL},
	.settings = SETTING_FOR_SIM,
	.min_args = 1,
	.max_args = MAX_FILES,
	.run = sim_saturate,
};
/* clang-format on */
