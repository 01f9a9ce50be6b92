/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options about traffic, and the configurations they make. State: load_o, the options of the one command that
 * runs. Way in: load_traffic(), load_network(), load_choose_interval(). Does not run the load itself.
 */
#include "cli/load_opts.h"
#include "base/rng.h"
#include "lab/saturation.h"
#include "sim/kernel/sim_kernel.h"

static const char *const patterns[] = {"uniform", "permutation", "shift",  "hotspot", "complement",
				       "tornado", "all-to-all",	 "incast", "trace",   NULL};
static const char *const arrivals[] = {"poisson", "constant", "bursty", NULL};
static const char *const mtus[] = {"256",  "512",  "1024",
				   "2048", "4096", NULL};		 /* by IBA code, from 1 */
static const char *const vl_counts[] = {"1", "2", "4", "8", "15", NULL}; /* the same */

struct load_opts load_o = {
	.payload = LOAD_NOT_GIVEN,
	.load = -1,
	.shift = 1,
	.burst = 16,
	.hot_share = 0.1,
	.wire = 100 * PS_PER_NS,
	.retrain = 2 * PS_PER_MS,
	.route = 40 * PS_PER_NS,
	.map = 20 * PS_PER_NS,
	.crossbar = 40 * PS_PER_NS,
	.setup = 2 * PS_PER_NS,
	.arbiter = 40 * PS_PER_NS,
	.error_limit = 8,
	.limit = TIME_NEVER,
};

/* clang-format off */
const struct cli_opt load_rate_opts[] = {
	{.name = "load", .letter = 'l', .type = CLI_SHARE, .dst = &load_o.load, .arg = "SHARE",
	 .help = "load that each host offers, as a share of its link"},
	{.name = "rate", .letter = 'r', .type = CLI_U64, .dst = &load_o.rate, .arg = "N", .min = 1, .max = 1000000000000,
	 .help = "load that each host offers, in packets per second"},
	{.name = "of-saturation", .type = CLI_FLAG, .dst = &load_o.of_saturation,
	 .help = "--load is a share of the saturation rate, which is determined first"},
	{0},
};
/* clang-format on */

/* clang-format off */
const struct cli_opt load_traffic_opts[] = {
	{.name = "pattern", .letter = 'p', .type = CLI_CHOICE, .dst = &load_o.pattern, .arg = "NAME", .choices = patterns,
	 .help = "traffic pattern: the destinations of each host (default uniform)"},
	{.name = "arrivals", .type = CLI_CHOICE, .dst = &load_o.arrivals, .arg = "NAME", .choices = arrivals,
	 .help = "how packets arrive in time (default poisson)"},
	{.name = "mtu", .type = CLI_CHOICE, .dst = &load_o.mtu, .arg = "BYTES", .choices = mtus,
	 .help = "MTU of every port (default 256)"},
	{.name = "payload", .type = CLI_UINT, .dst = &load_o.payload, .arg = "BYTES", .max = 4096,
	 .help = "payload of each packet (default: the MTU)"},
	{.name = "sl", .type = CLI_STR, .dst = &load_o.sl, .arg = "LIST",
	 .help = "service levels, drawn evenly, such as 0,2,4-7 (default 0-15)"},
	{.name = "vls", .type = CLI_CHOICE, .dst = &load_o.vls, .arg = "N", .choices = vl_counts,
	 .help = "data VLs of every port (default 2)"},
	{.name = "buffer", .type = CLI_UINT, .dst = &load_o.buffer, .arg = "BYTES", .min = 64, .max = 131072,
	 .help = "input and output buffer of each VL (default 4096, at least two packets)"},
	{.name = "wire", .type = CLI_TIME, .dst = &load_o.wire, .arg = "TIME",
	 .help = "propagation on links whose cable length the netlist does not give (default "
		 "100ns); others 5ns a metre"},
	{.name = "byte-errors", .type = CLI_SHARE, .dst = &load_o.errors, .arg = "P",
	 .help = "probability that a byte is damaged on a link, such as 0.0001%"},
	{.name = "error-limit", .type = CLI_UINT, .dst = &load_o.error_limit, .arg = "N", .max = 15,
	 .help = "damaged packets, less the good ones after them, above which a link retrains "
		 "(default 8)"},
	{.name = "retrain", .type = CLI_TIME, .dst = &load_o.retrain, .arg = "TIME",
	 .help = "duration of a retraining; 0: links never retrain (default 2ms)"},
	{.name = "retrain-fail", .type = CLI_SHARE, .dst = &load_o.retrain_fail, .arg = "P",
	 .help = "probability that a retraining fails and the link goes down (default 0)"},
	{.name = "credit-refresh", .type = CLI_FLAG, .dst = &load_o.refresh,
	 .help = "refresh credits every 65,536 symbol times even if links make no errors"},
	{.name = "rate-control", .type = CLI_FLAG, .dst = &load_o.rate_control,
	 .help = "static rate control: no host sends faster than the destination's link"},
	{.name = "route-time", .type = CLI_TIME, .dst = &load_o.route, .arg = "TIME",
	 .help = "time of a switch's routing unit for each packet (default 40ns)"},
	{.name = "map-time", .type = CLI_TIME, .dst = &load_o.map, .arg = "TIME",
	 .help = "time of a switch's SL-to-VL unit (default 20ns)"},
	{.name = "crossbar-time", .type = CLI_TIME, .dst = &load_o.crossbar, .arg = "TIME",
	 .help = "time of a switch's crossbar arbiter (default 40ns)"},
	{.name = "setup-time", .type = CLI_TIME, .dst = &load_o.setup, .arg = "TIME",
	 .help = "time to set a switch's crossbar up (default 2ns)"},
	{.name = "arbiter-time", .type = CLI_TIME, .dst = &load_o.arbiter, .arg = "TIME",
	 .help = "time of a port's VL arbiter (default 40ns)"},
	{.name = "hot", .type = CLI_STR, .dst = &load_o.hot, .arg = "NODE",
	 .help = "hotspot, incast: the destination host (default: the first)"},
	{.name = "hot-share", .type = CLI_SHARE, .dst = &load_o.hot_share, .arg = "SHARE",
	 .help = "hotspot: share of packets that go to this host (default 10%)"},
	{.name = "shift", .type = CLI_UINT, .dst = &load_o.shift, .arg = "N",
	 .help = "shift: host i sends to host i + N (default 1)"},
	{.name = "burst", .type = CLI_UINT, .dst = &load_o.burst, .arg = "N", .min = 1, .max = 1000000,
	 .help = "bursty: mean number of packets in a burst (default 16)"},
	{0},
};
/* clang-format on */

/* ---- options to configurations ---- */

/* Position of the word; `otherwise` without one. */
static unsigned chosen(const char *const *words, const char *word, unsigned otherwise)
{
	for (unsigned i = 0; word && words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return otherwise;
}

static unsigned mtu_code(void)
{
	return 1 + chosen(mtus, load_o.mtu, 0);
}

static unsigned payload(void)
{
	return load_o.payload == LOAD_NOT_GIVEN ? iba_mtu_bytes(mtu_code()) : load_o.payload;
}

/* A service level of one or two digits; *s moves past them. */
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

int load_traffic(const struct fab *f, uint64_t seed, struct traffic_config *t)
{
	node_id n;

	*t = (struct traffic_config){
		.pattern = (enum traffic_pattern)chosen(patterns, load_o.pattern, TRAFFIC_UNIFORM),
		.arrivals =
			(enum traffic_arrivals)chosen(arrivals, load_o.arrivals, TRAFFIC_POISSON),
		.payload = (uint16_t)payload(),
		.hot_share_q32 = prob_q32(load_o.hot_share),
		.shift = load_o.shift,
		.burst_packets = load_o.burst,
		.seed = seed,
	};
	if (payload() > iba_mtu_bytes(mtu_code()))
		return cli_bad("--payload %u does not fit an MTU of %u: expected at most that",
			       payload(), iba_mtu_bytes(mtu_code()));
	if (sl_mask(load_o.sl ? load_o.sl : "0-15", &t->sl_mask))
		return CLI_BAD;
	if (load_o.hot) {
		if (cli_find_node(f, "--hot", load_o.hot, &n))
			return CLI_BAD;
		t->hot_host = lab_host_number(f, n);
		if (t->hot_host == UINT32_MAX)
			return cli_bad("--hot '%.60s' cannot receive: expected a host with a link",
				       load_o.hot);
	}
	return CLI_OK;
}

/* Room for at least two packets of the largest size; credits are blocks of 64 bytes. */
static int make_buffers(struct sim_plane_config *p)
{
	unsigned packet = (iba_mtu_bytes(mtu_code()) + LAB_OVERHEAD_BYTES - 2 + 63) / 64 * 64;

	if (load_o.buffer && load_o.buffer < packet)
		return cli_bad(
			"--buffer %u does not hold a packet: expected at least %u for an MTU of %u",
			load_o.buffer, packet, iba_mtu_bytes(mtu_code()));
	p->on = true;
	p->buffer_bytes = load_o.buffer ? load_o.buffer : MAX(p->buffer_bytes, 2 * packet);
	return CLI_OK;
}

int load_network(struct sim_config *c)
{
	c->mtu_cap = (uint8_t)mtu_code();
	c->vl_cap = (uint8_t)(1 + chosen(vl_counts, load_o.vls, 1));
	c->wire_ps = load_o.wire;
	c->plane.byte_error_q40 = prob_q32(load_o.errors) << 8;
	c->plane.fc_refresh = load_o.refresh;
	c->plane.rate_control = load_o.rate_control;
	c->plane.route_ps = load_o.route;
	c->plane.map_ps = load_o.map;
	c->plane.crossbar_ps = load_o.crossbar;
	c->plane.setup_ps = load_o.setup;
	c->plane.link_arb_ps = load_o.arbiter;
	c->plane.retrain_ps = load_o.retrain;
	c->plane.retrain_fail_q32 = prob_q32(load_o.retrain_fail);
	c->phy_errors = (uint8_t)load_o.error_limit;
	return make_buffers(&c->plane);
}

void load_describe(const struct traffic_config *t, const char *trace, char buf[160])
{
	if (t->pattern == TRAFFIC_TRACE)
		snprintf(buf, 160, "packets of %.80s, %s data VLs", trace,
			 load_o.vls ? load_o.vls : "2");
	else
		snprintf(buf, 160, "%s, %s, %u bytes a packet on SL %.60s, %s data VLs",
			 traffic_pattern_name(t->pattern), traffic_arrivals_name(t->arrivals),
			 t->payload, load_o.sl ? load_o.sl : "0-15", load_o.vls ? load_o.vls : "2");
}

/* ---- the rate ---- */

bool load_given(void)
{
	return load_o.load > 0 || load_o.rate;
}

const char *load_option_given(void)
{
	const struct load_opts *l = &load_o;
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{l->pattern, "pattern"},
		{l->arrivals, "arrivals"},
		{l->mtu, "mtu"},
		{l->payload != LOAD_NOT_GIVEN, "payload"},
		{l->sl, "sl"},
		{l->vls, "vls"},
		{l->buffer, "buffer"},
		{l->wire != 100 * PS_PER_NS, "wire"},
		{l->errors > 0, "byte-errors"},
		{l->hot, "hot"},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

int load_check_rate(void)
{
	if (load_o.load > 0 && load_o.rate)
		return cli_bad("expected --load or --rate, found both");
	if (load_o.of_saturation && !(load_o.load > 0))
		return cli_bad("--of-saturation needs --load SHARE, the share of saturation");
	return CLI_OK;
}

struct progress {
	const char *file;
	unsigned runs;
	uint64_t rate;
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

/* Without errors even the largest fabrics come up within 1000 s. With links that keep retraining the
 * manager may never finish. */
time_ps load_limit(time_ps given)
{
	if (given != TIME_NEVER)
		return given;
	return (load_o.errors > 0 ? 10 : 1000) * PS_PER_S;
}

int load_up(const char *file, struct lab *l)
{
	time_ps limit = load_limit(load_o.limit);
	struct err e;

	if (!lab_load_up(l, limit, &e))
		return CLI_OK;
	cli_progress_end();
	if (!(load_o.errors > 0))
		return cli_bad(
			"%s: the subnet was not up after %s of simulated time: expected a longer --limit",
			file, cli_duration(limit));
	return cli_bad(
		"%s: the subnet was not up after %s of simulated time, links retrained %s times: "
		"expected fewer --byte-errors, a higher --error-limit or a longer --limit",
		file, cli_duration(limit), cli_count(sim_plane_stats(lab_sim(l))->recoveries));
}

static void on_up_tick(void *ctx)
{
	cli_progress("bring-up: %s of simulated time", cli_duration(sim_now(lab_sim(ctx))));
}

/* The bring-up does not depend on the rate: one attempt stands for all points of a search. */
static int check_comes_up(const char *file, const struct fab *f, const struct lab_config *c)
{
	struct err e;
	struct lab *l = lab_new(f, c, &e);
	int rc;

	if (!l)
		return cli_bad("%s: %s", file, e.text);
	lab_on_tick(l, on_up_tick, l);
	rc = load_up(file, l);
	lab_free(l);
	return rc;
}

int load_saturate(const char *file, const struct fab *f, const struct lab_config *lc,
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
	int rc;

	*s = (struct lab_saturation){0};
	if (load_o.errors > 0 && check_comes_up(file, f, lc))
		return CLI_BAD;
	rc = lab_saturation(&c, s, &e);
	cli_progress_end();
	if (!rc)
		return CLI_OK;
	lab_saturation_free(s);
	return cli_bad("%s: %s", file, e.text);
}

uint64_t load_choose_interval(const char *file, const struct fab *f, const struct lab_config *c,
			      const struct lab_load *d)
{
	struct lab_saturation s;
	struct lab_load quick = *d;
	uint64_t bps = lab_host_bps(f), share = prob_q32(load_o.load);
	unsigned __int128 bits = (unsigned __int128)(d->traffic.payload + LAB_OVERHEAD_BYTES) * 8;

	if (load_o.rate)
		return lab_load_interval(load_o.rate);
	if (load_o.of_saturation) {
		quick.duration = quick.warmup = TIME_NEVER;
		if (load_saturate(file, f, c, &quick, 0, &s))
			return 0;
		bps = (uint64_t)(s.rate * bits);
		lab_saturation_free(&s);
	}
	if (!bps || !share) {
		if (bps)
			cli_bad("--load: expected a larger share");
		else
			cli_bad("%s: found no host with a link, expected at least two", file);
		return 0;
	}
	return lab_load_share_interval(bps, d->traffic.payload, share);
}
