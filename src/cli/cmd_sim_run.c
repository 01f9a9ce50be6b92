/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft sim run, weft sim saturate: data packets on a fabric that the manager has brought up. Keeps
 * the options of the one command that runs. Ways in: cmd_sim_run, cmd_sim_saturate. Does not
 * simulate anything itself: that is src/lab; how results look is in load_report.c.
 */
#include <limits.h>

#include "base/rng.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/load_report.h"
#include "cli/sim_report.h"

static const char *const patterns[] = {"uniform", "permutation", "shift",  "hotspot", "complement",
				       "tornado", "all-to-all",	 "incast", "trace",   NULL};
static const char *const arrivals[] = {"poisson", "constant", "bursty", NULL};
static const char *const mtus[] = {"256",  "512",  "1024",
				   "2048", "4096", NULL};		 /* by IBA code, from 1 */
static const char *const vl_counts[] = {"1", "2", "4", "8", "15", NULL}; /* the same */

#define NOT_GIVEN UINT_MAX
#define LIMIT	  (1000 * PS_PER_S)

static struct {
	const char *pattern, *arrivals, *trace, *mtu, *vls, *sl, *sm, *root, *engine, *hot, *svg, *capture, *capture_node;
	unsigned payload, buffer, shift, burst, threads, points;
	uint64_t rate, seed;
	double load, hot_share, errors;
	bool of_saturation, qos, log_x, links, levels, discards;
	time_ps duration, warmup, series, wire;
} o = {
    .payload = NOT_GIVEN,
    .shift = 1,
    .burst = 16,
    .points = 12,
    .seed = 1,
    .hot_share = 0.1,
    .wire = 100 * PS_PER_NS,
    .duration = TIME_NEVER,
    .warmup = TIME_NEVER,
};

/* clang-format off */
#define LOAD_OPTS \
	{"pattern", 'p', CLI_CHOICE, &o.pattern, "NAME", "who sends to whom (default uniform)", patterns, 0, 0}, \
	{"arrivals", 0, CLI_CHOICE, &o.arrivals, "NAME", "when hosts send (default poisson)", arrivals, 0, 0}, \
	{"mtu", 0, CLI_CHOICE, &o.mtu, "BYTES", "MTU of every port (default 256)", mtus, 0, 0}, \
	{"payload", 0, CLI_UINT, &o.payload, "BYTES", "of each packet (default: the MTU)", NULL, 0, 4096}, \
	{"sl", 0, CLI_STR, &o.sl, "LIST", "service levels, drawn evenly, such as 0,2,4-7 (default 0-15)", NULL, 0, 0}, \
	{"vls", 0, CLI_CHOICE, &o.vls, "N", "data VLs of every port (default 2)", vl_counts, 0, 0}, \
	{"buffer", 0, CLI_UINT, &o.buffer, "BYTES", "input and output buffer of each VL (default 4096, at least two packets)", NULL, 64, 131072}, \
	{"wire", 0, CLI_TIME, &o.wire, "TIME", "propagation on every link, 5ns a metre (default 100ns)", NULL, 0, 0}, \
	{"byte-errors", 0, CLI_SHARE, &o.errors, "P", "probability that a byte is damaged on a link, such as 0.0001%", NULL, 0, 0}, \
	{"hot", 0, CLI_STR, &o.hot, "NODE", "the host that hotspot and incast aim at (default: the first)", NULL, 0, 0}, \
	{"hot-share", 0, CLI_SHARE, &o.hot_share, "SHARE", "hotspot: share of the packets that goes there (default 10%)", NULL, 0, 0}, \
	{"shift", 0, CLI_UINT, &o.shift, "N", "shift: host i sends to host i + N (default 1)", NULL, 0, 0}, \
	{"burst", 0, CLI_UINT, &o.burst, "N", "bursty: packets of a burst, in the mean (default 16)", NULL, 1, 1000000}, \
	{"duration", 'd', CLI_TIME, &o.duration, "TIME", "how long is counted (default: 200 packets a host, 8000 in all, 1000 on a host's link)", NULL, 0, 0}, \
	{"warmup", 'w', CLI_TIME, &o.warmup, "TIME", "traffic before that (default: a quarter of it)", NULL, 0, 0}, \
	{"sm", 0, CLI_STR, &o.sm, "NODE", "where the manager sits: GUID, S-/H- id or name (default: the first host)", NULL, 0, 0}, \
	{"engine", 0, CLI_STR, &o.engine, "NAME", "routing engine (default fera)", NULL, 0, 0}, \
	{"root", 0, CLI_STR, &o.root, "NODE", "root of the up/down graph (default: the manager's switch)", NULL, 0, 0}, \
	{"qos", 0, CLI_FLAG, &o.qos, NULL, "the manager also writes SL-to-VL and VL arbitration tables", NULL, 0, 0}, \
	{"threads", 0, CLI_UINT, &o.threads, "N", "threads for routes, packets and the points of a search; changes no result (default: as many as pay)", NULL, 0, 256}, \
	{"seed", 0, CLI_U64, &o.seed, "N", "seed of everything random (default 1)", NULL, 0, 0}
/* clang-format on */

/* ---- options to configurations ---- */

/* Which of the words; 0 is the default when none was chosen. */
static unsigned chosen(const char *const *words, const char *word, unsigned otherwise)
{
	for (unsigned i = 0; word && words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return otherwise;
}

static unsigned mtu_code(void)
{
	return 1 + chosen(mtus, o.mtu, 0);
}

static unsigned payload(void)
{
	return o.payload == NOT_GIVEN ? iba_mtu_bytes(mtu_code()) : o.payload;
}

/* A digit or two of a service level; *s moves behind them. */
static bool sl_number(const char **s, unsigned *v)
{
	const char *p = *s;

	for (*v = 0; *p >= '0' && *p <= '9' && p < *s + 2; p++)
		*v = *v * 10 + (unsigned)(*p - '0');
	if (p == *s || *v > 15)
		return false;
	*s = p;
	return true;
}

static int sl_mask(const char *text, uint16_t *mask)
{
	const char *s = text;
	unsigned from, to;

	*mask = 0;
	do {
		s += s != text; /* the comma */
		if (!sl_number(&s, &from))
			break;
		to = from;
		if (*s == '-' && (s++, !sl_number(&s, &to)))
			break;
		if (to < from)
			break;
		*mask |= (uint16_t)((2u << to) - (1u << from));
	} while (*s == ',');
	if (*s || !*mask || (s > text && s[-1] == ','))
		return cli_bad(
		    "--sl: expected service levels from 0 to 15 such as 0,2,4-7; found '%.60s'",
		    text);
	return CLI_OK;
}

static int make_traffic(const struct fab *f, struct traffic_config *t)
{
	node_id n;

	*t = (struct traffic_config){
	    .pattern = (enum traffic_pattern)chosen(patterns, o.pattern, TRAFFIC_UNIFORM),
	    .arrivals = (enum traffic_arrivals)chosen(arrivals, o.arrivals, TRAFFIC_POISSON),
	    .payload = (uint16_t)payload(),
	    .hot_share_q32 = prob_q32(o.hot_share),
	    .shift = o.shift,
	    .burst_packets = o.burst,
	    .seed = o.seed,
	};
	if (payload() > iba_mtu_bytes(mtu_code()))
		return cli_bad("--payload %u does not fit an MTU of %u: expected at most that",
			       payload(), iba_mtu_bytes(mtu_code()));
	if (sl_mask(o.sl ? o.sl : "0-15", &t->sl_mask))
		return CLI_BAD;
	if (o.hot) {
		if (cli_find_node(f, "--hot", o.hot, &n))
			return CLI_BAD;
		t->hot_host = lab_host_number(f, n);
		if (t->hot_host == UINT32_MAX)
			return cli_bad("--hot '%.60s' cannot receive: expected a host with a link",
				       o.hot);
	}
	return CLI_OK;
}

/* Packets of this size must fit, credits are 64-byte blocks: two whole packets at least. */
static int make_buffers(struct sim_plane_config *p)
{
	unsigned packet = (iba_mtu_bytes(mtu_code()) + LAB_OVERHEAD_BYTES - 2 + 63) / 64 * 64;

	if (o.buffer && o.buffer < packet)
		return cli_bad(
		    "--buffer %u does not hold a packet: expected at least %u for an MTU of %u",
		    o.buffer, packet, iba_mtu_bytes(mtu_code()));
	p->on = true;
	p->buffer_bytes = o.buffer ? o.buffer : MAX(p->buffer_bytes, 2 * packet);
	return CLI_OK;
}

static int make_config(const struct fab *f, struct lab_config *c)
{
	if (sim_manager_config(f, o.sm, o.root, o.engine, c))
		return CLI_BAD;
	c->sm.qos = o.qos;
	c->sim.seed = o.seed;
	c->sim.mtu_cap = (uint8_t)mtu_code();
	c->sim.vl_cap = (uint8_t)(1 + chosen(vl_counts, o.vls, 1));
	c->sim.wire_ps = o.wire;
	c->sim.plane.byte_error_q40 = prob_q32(o.errors) << 8;
	c->threads = o.threads;
	return make_buffers(&c->sim.plane);
}

static void describe(const struct traffic_config *t, char buf[160])
{
	if (t->pattern == TRAFFIC_TRACE)
		snprintf(buf, 160, "packets of %.80s, %s data VLs", o.trace, o.vls ? o.vls : "2");
	else
		snprintf(buf, 160, "%s, %s, %u bytes a packet on SL %.60s, %s data VLs",
			 traffic_pattern_name(t->pattern), traffic_arrivals_name(t->arrivals),
			 t->payload, o.sl ? o.sl : "0-15", o.vls ? o.vls : "2");
}

/* ---- saturation ---- */

struct progress {
	const char *file;
	struct lab *lab;
	unsigned runs;
	uint64_t rate;
	time_ps until;
};

static void on_sat_tick(void *ctx)
{
	const struct progress *p = ctx;

	cli_progress("%s: simulation %u%s%s", p->file, p->runs + 1,
		     p->rate ? ", the last at packets/s/node: " : "",
		     p->rate ? cli_count(p->rate) : "");
}

static void on_sat_done(void *ctx, const struct lab_sat_point *pt)
{
	struct progress *p = ctx;

	p->runs++;
	p->rate = pt->rate;
	on_sat_tick(p);
}

static int saturate(const char *file, const struct fab *f, const struct lab_config *lc,
		    const struct lab_load *d, unsigned points, struct lab_saturation *s)
{
	struct progress p = {.file = file};
	struct lab_sat_config c = {.fab = f,
				   .lab = lc,
				   .load = d,
				   .points = points,
				   .done = on_sat_done,
				   .tick = on_sat_tick,
				   .ctx = &p};
	struct err e;
	int rc = lab_saturation(&c, s, &e);

	cli_progress_end();
	if (!rc)
		return CLI_OK;
	lab_saturation_free(s);
	return cli_bad("%s: %s", file, e.text);
}

/* ---- weft sim run ---- */

static int check_run(void)
{
	bool trace = o.trace || (o.pattern && !strcmp(o.pattern, "trace"));

	if (trace && !o.trace)
		return cli_bad("--pattern trace needs --trace FILE");
	if (o.trace && o.pattern && strcmp(o.pattern, "trace"))
		return cli_bad("--trace says who sends to whom: expected no --pattern %s",
			       o.pattern);
	if (trace && (o.load > 0 || o.rate))
		return cli_bad(
		    "--trace says when packets are sent: expected neither --load nor --rate");
	if (o.load > 0 && o.rate)
		return cli_bad("expected --load or --rate, found both");
	if (o.of_saturation && !(o.load > 0))
		return cli_bad("--of-saturation needs --load SHARE, the share of saturation");
	if (!trace && !(o.load > 0) && !o.rate)
		return cli_bad("expected --load SHARE or --rate N, above 0");
	if (trace)
		o.pattern = "trace";
	if (!o.duration)
		return cli_bad("--duration: expected more than no time");
	return CLI_OK;
}

/* The interval that --load or --rate asks for; 0 after a message. */
static uint64_t choose_interval(const char *file, const struct fab *f, const struct lab_config *c,
				const struct lab_load *d)
{
	struct lab_saturation s;
	struct lab_load quick = *d;
	uint64_t bps = lab_host_bps(f), share = prob_q32(o.load);
	unsigned __int128 bits = (unsigned __int128)(d->traffic.payload + LAB_OVERHEAD_BYTES) * 8;

	if (o.rate)
		return lab_load_interval(o.rate);
	if (o.of_saturation) {
		quick.duration = quick.warmup = TIME_NEVER;
		if (saturate(file, f, c, &quick, 0, &s))
			return 0;
		bps = (uint64_t)(s.rate * bits);
		lab_saturation_free(&s);
	}
	if (!bps || !share) {
		if (bps)
			cli_bad("--load: expected a share that is not so close to 0");
		else
			cli_bad("%s: found no host with a link, expected at least two", file);
		return 0;
	}
	bits = (bits * PS_PER_S << 32) / ((unsigned __int128)bps * share);
	return bits > TIME_NEVER / 1024 ? TIME_NEVER / 1024 : MAX((uint64_t)bits, 1u);
}

static int read_trace(struct lab *l, traffic_trace *trace)
{
	struct err e;
	char *text;
	size_t len;
	int rc = file_read(o.trace, &text, &len, &e);

	if (rc)
		return cli_bad("%s", e.text);
	rc = traffic_trace_parse(trace, sim_host_count(lab_sim(l)),
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

static struct discard_log {
	struct load_report *r;
	struct sim *sim;
} discard_log;

static void on_discard(void *ctx, node_id n, unsigned port, enum sim_discard why, uint16_t slid, uint16_t dlid)
{
	struct discard_log *log = ctx;

	if (log->r->discards.n < LOAD_DISCARDS_KEPT)
		vec_push(&log->r->discards,
			 (struct load_discard){sim_now(log->sim), n, why, slid, dlid, (uint8_t)port});
}

/* What is watched while the traffic runs, if asked for. */
static int watch(struct load_report *r, struct lab *l, struct capture **c)
{
	node_id only = FAB_NONE;
	struct err e;

	if (o.capture_node && cli_find_node(r->fab, "--capture-node", o.capture_node, &only))
		return CLI_BAD;
	if (o.discards) {
		vec_room(&r->discards, 1);
		discard_log = (struct discard_log){r, lab_sim(l)};
		sim_watch_discards(lab_sim(l), (struct sim_discard_watch){on_discard, &discard_log});
	}
	if (o.series)
		lab_series_start(&r->series, l, o.series, o.levels);
	if (o.capture) {
		*c = capture_open(o.capture, r->fab, lab_sim(l), only, &e);
		if (!*c)
			return cli_bad("%s", e.text);
	}
	return CLI_OK;
}

static int run_load(struct load_report *r, struct lab *l, struct lab_load *d)
{
	struct progress p = {.lab = l};
	double start = cli_wall_s();
	struct capture *capture = NULL;
	struct err e;
	int rc;

	lab_on_tick(l, on_run_tick, &p);
	rc = lab_load_up(l, LIMIT, &e);
	r->up_wall_s = cli_wall_s() - start;
	r->up_events = sim_stats(lab_sim(l))->events;
	if (!rc && watch(r, l, &capture))
		return CLI_BAD;
	if (!rc) {
		lab_load_times(r->fab, d);
		p.until = sim_now(lab_sim(l)) + d->warmup + d->duration;
		rc = lab_load_run(l, d, &r->r, &e);
	}
	r->wall_s = cli_wall_s() - start - r->up_wall_s;
	cli_progress_end();
	lab_series_stop(&r->series);
	if (rc) {
		capture_close(capture, NULL);
		return cli_bad("%s", e.text);
	}
	if (capture_close(capture, &e))
		return cli_bad("%s", e.text);
	r->interval = d->traffic.interval_ps;
	r->sim = o.links ? lab_sim(l) : NULL;
	return conclude(r);
}

static int run_on(const char *file, const struct fab *f)
{
	struct load_report r = {.fab = f, .seed = o.seed};
	struct lab_load d = {.warmup = o.warmup, .duration = o.duration};
	traffic_trace trace = {0};
	struct lab_config c;
	struct lab *l;
	struct err e;
	int rc = CLI_BAD;

	if (make_traffic(f, &d.traffic) || make_config(f, &c))
		return CLI_BAD;
	if (!o.trace && !(d.traffic.interval_ps = choose_interval(file, f, &c, &d)))
		return CLI_BAD;
	l = lab_new(f, &c, &e);
	if (!l)
		return cli_bad("%s: %s", file, e.text);
	describe(&d.traffic, r.what);
	if (!o.trace || !read_trace(l, &trace)) {
		d.trace = o.trace ? &trace : NULL;
		rc = run_load(&r, l, &d);
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
		return cli_bad("only one of the two can be standard input");
	f = cli_load(args[0]);
	if (!f)
		return CLI_BAD;
	rc = run_on(args[0], f);
	fab_free(f);
	return rc;
}

/* clang-format off */
const struct cli_cmd cmd_sim_run = {
	.name = "sim run",
	.args = "FILE",
	.summary = "send data packets over a fabric and measure",
	.about = "The manager brings the fabric up on the packet-level network: virtual lanes, credits, arbitration, "
		 "cut-through switches. Then every host sends as --pattern and --arrivals say. After the warm-up the "
		 "packets count; at the end of the window the run ends. --load is a share of what the slowest host link "
		 "carries, headers included; with --of-saturation a share of the rate 'weft sim saturate' finds.\n\n"
		 "A trace has a line a packet: time source destination bytes [sl]; hosts are numbered from 0 in the order "
		 "of the netlist, times count from the start of the traffic.\n\n"
		 "Status 1 when packets wait for each other in a ring, or are not accounted for.",
	.examples = "weft sim run cluster.net --load 30%\n"
		    "weft sim run cluster.net --rate 100000 --pattern hotspot --hot-share 20% --json\n"
		    "weft sim run cluster.net --load 50% --of-saturation --arrivals bursty --mtu 2048\n"
		    "weft sim run cluster.net --load 20% --series 50us --links\n"
		    "weft sim run cluster.net --load 1% --capture run.pcapng --capture-node S-0002000000000001\n"
		    "weft sim run cluster.net --trace packets.txt",
	.opts = (const struct cli_opt[]){
		{"load", 'l', CLI_SHARE, &o.load, "SHARE", "what each host offers, as a share of its link", NULL, 0, 0},
		{"rate", 'r', CLI_U64, &o.rate, "N", "the same in packets a second", NULL, 1, 1000000000000},
		{"of-saturation", 0, CLI_FLAG, &o.of_saturation, NULL, "--load is a share of saturation, which is searched for first", NULL, 0, 0},
		{"trace", 0, CLI_STR, &o.trace, "FILE", "packets to send, one a line", NULL, 0, 0},
		{"series", 0, CLI_TIME, &o.series, "TIME", "also a series: what happened in every TIME", NULL, 0, 0},
		{"levels", 0, CLI_FLAG, &o.levels, NULL, "with --series, connectivity and deadlock level as well (slow on large fabrics)", NULL, 0, 0},
		{"links", 0, CLI_FLAG, &o.links, NULL, "also the counters of every port; in text, of the busiest", NULL, 0, 0},
		{"discards", 0, CLI_FLAG, &o.discards, NULL, "also when and where each packet was discarded, and why (the first 10,000)", NULL, 0, 0},
		{"capture", 0, CLI_STR, &o.capture, "FILE", "write the packets of the run for Wireshark (pcapng)", NULL, 0, 0},
		{"capture-node", 0, CLI_STR, &o.capture_node, "NODE", "only those that leave this node", NULL, 0, 0},
		LOAD_OPTS,
		{0}},
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
	double start = cli_wall_s();
	struct lab_config c;
	int rc;

	rc = make_traffic(f, &d.traffic) || make_config(f, &c)
		 ? CLI_BAD
		 : saturate(file, f, &c, &d, o.points, &r->s);
	*r = (struct sat_report){.file = file,
				 .s = r->s,
				 .switches = f->nswitches,
				 .hosts = f->nhosts,
				 .full = lab_load_full_rate(f, d.traffic.payload),
				 .wall_s = cli_wall_s() - start,
				 .seed = o.seed};
	describe(&d.traffic, r->what);
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
	if (o.pattern && !strcmp(o.pattern, "trace"))
		return cli_bad("--pattern trace has its own rate: expected another pattern");
	if (o.svg && !strcmp(o.svg, "-"))
		return cli_bad("--svg -: the table goes to standard output, expected a file");
	if (!o.duration)
		return cli_bad("--duration: expected more than no time");
	return CLI_OK;
}

static int sim_saturate(char **args, unsigned nargs)
{
	struct sat_report r[MAX_FILES] = {0};
	struct fab *f[MAX_FILES] = {0};
	int rc = check_saturate(args, nargs);
	unsigned n = 0;

	/* All are read first: a typing error in the last name shows at once. */
	for (unsigned i = 0; !rc && i < nargs; i++)
		rc = (f[i] = cli_load(args[i])) ? CLI_OK : CLI_BAD;
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
	return rc;
}

/* clang-format off */
const struct cli_cmd cmd_sim_saturate = {
	.name = "sim saturate",
	.args = "FILE...",
	.summary = "find the rate a fabric can bear, and its latency curve",
	.about = "A rate is too high when less than 95 % of what is offered arrives, or packets take more than 5 times as "
		 "long as in an empty fabric. Rates double from 1/64 of the host's link until one is, then the gap is "
		 "halved until it is 3 %. The curve has --points rates up to 120 % of what was found. Every point is a "
		 "simulation of its own, from power-on.\n\n"
		 "With several FILEs, the picture has a line each.",
	.examples = "weft sim saturate cluster.net\n"
		    "weft sim saturate cluster.net --pattern tornado --points 20 --json\n"
		    "weft sim saturate small.net large.net --svg latency.svg",
	.opts = (const struct cli_opt[]){
		{"points", 0, CLI_UINT, &o.points, "N", "of the curve (default 12)", NULL, 1, 1000},
		{"svg", 0, CLI_STR, &o.svg, "FILE", "draw latency against offered load", NULL, 0, 0},
		{"log-x", 0, CLI_FLAG, &o.log_x, NULL, "with --svg: rates on a logarithmic axis", NULL, 0, 0},
		LOAD_OPTS,
		{0}},
	.min_args = 1,
	.max_args = MAX_FILES,
	.run = sim_saturate,
};
/* clang-format on */
