/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options that say what hosts send and over what kind of ports, for every command that simulates
 * data packets: one table, one way from it to configurations. Functions that return int give CLI_OK,
 * or CLI_BAD after a message.
 */
#ifndef WEFT_LOAD_OPTS_H
#define WEFT_LOAD_OPTS_H

#include <limits.h>

#include "cli/cli.h"
#include "lab/lab.h"
#include "lab/saturation.h"
#include "sim/sim_config.h"
#include "sim/traffic/traffic.h"

#define LOAD_NOT_GIVEN UINT_MAX

struct load_opts {
	const char *pattern, *arrivals, *mtu, *vls, *sl, *hot;
	unsigned payload, buffer, shift, burst, error_limit;
	uint64_t rate;
	double load; /* below 0: not given */
	double hot_share, errors, retrain_fail;
	bool of_saturation, rate_control, refresh;
	time_ps wire, retrain, route, map, crossbar, setup, arbiter;
	time_ps limit; /* of a bring-up; TIME_NEVER: not given */
};

extern struct load_opts load_o; /* of the one command that runs */
extern const char *const load_patterns[], *const load_arrivals[], *const load_mtus[],
									  *const load_vl_counts[];

/* clang-format off */
#define LOAD_RATE_OPTS \
	{"load", 'l', CLI_SHARE, &load_o.load, "SHARE", "what each host offers, as a share of its link", NULL, 0, 0}, \
	{"rate", 'r', CLI_U64, &load_o.rate, "N", "the same in packets a second", NULL, 1, 1000000000000}, \
	{"of-saturation", 0, CLI_FLAG, &load_o.of_saturation, NULL, "--load is a share of saturation, which is searched for first", NULL, 0, 0}

#define LOAD_LIMIT_OPT \
	{"limit", 0, CLI_TIME, &load_o.limit, "TIME", "give up when the fabric is not up after this much simulated time (default 1000s, 10s where links make errors)", NULL, 0, 0}

#define LOAD_TRAFFIC_OPTS \
	{"pattern", 'p', CLI_CHOICE, &load_o.pattern, "NAME", "who sends to whom (default uniform)", load_patterns, 0, 0}, \
	{"arrivals", 0, CLI_CHOICE, &load_o.arrivals, "NAME", "when hosts send (default poisson)", load_arrivals, 0, 0}, \
	{"mtu", 0, CLI_CHOICE, &load_o.mtu, "BYTES", "MTU of every port (default 256)", load_mtus, 0, 0}, \
	{"payload", 0, CLI_UINT, &load_o.payload, "BYTES", "of each packet (default: the MTU)", NULL, 0, 4096}, \
	{"sl", 0, CLI_STR, &load_o.sl, "LIST", "service levels, drawn evenly, such as 0,2,4-7 (default 0-15)", NULL, 0, 0}, \
	{"vls", 0, CLI_CHOICE, &load_o.vls, "N", "data VLs of every port (default 2)", load_vl_counts, 0, 0}, \
	{"buffer", 0, CLI_UINT, &load_o.buffer, "BYTES", "input and output buffer of each VL (default 4096, at least two packets)", NULL, 64, 131072}, \
	{"wire", 0, CLI_TIME, &load_o.wire, "TIME", "propagation on links whose cable length the netlist does not give (default 100ns); others 5ns a metre", NULL, 0, 0}, \
	{"byte-errors", 0, CLI_SHARE, &load_o.errors, "P", "probability that a byte is damaged on a link, such as 0.0001%", NULL, 0, 0}, \
	{"error-limit", 0, CLI_UINT, &load_o.error_limit, "N", "damaged packets, less the good ones behind them, beyond which a link trains anew (default 8)", NULL, 0, 15}, \
	{"retrain", 0, CLI_TIME, &load_o.retrain, "TIME", "how long that takes; 0: links never do (default 2ms)", NULL, 0, 0}, \
	{"retrain-fail", 0, CLI_SHARE, &load_o.retrain_fail, "P", "probability that it fails and the link goes down (default 0)", NULL, 0, 0}, \
	{"credit-refresh", 0, CLI_FLAG, &load_o.refresh, NULL, "tell credits every 65,536 symbol times even where nothing is ever lost", NULL, 0, 0}, \
	{"rate-control", 0, CLI_FLAG, &load_o.rate_control, NULL, "static rate control: no host sends faster than the other can hear", NULL, 0, 0}, \
	{"route-time", 0, CLI_TIME, &load_o.route, "TIME", "of a switch's routing unit, for each packet (default 40ns)", NULL, 0, 0}, \
	{"map-time", 0, CLI_TIME, &load_o.map, "TIME", "of its SL-to-VL unit (default 20ns)", NULL, 0, 0}, \
	{"crossbar-time", 0, CLI_TIME, &load_o.crossbar, "TIME", "of its crossbar arbiter (default 40ns)", NULL, 0, 0}, \
	{"setup-time", 0, CLI_TIME, &load_o.setup, "TIME", "of its crossbar (default 2ns)", NULL, 0, 0}, \
	{"arbiter-time", 0, CLI_TIME, &load_o.arbiter, "TIME", "of a port's VL arbiter (default 40ns)", NULL, 0, 0}, \
	{"hot", 0, CLI_STR, &load_o.hot, "NODE", "the host that hotspot and incast aim at (default: the first)", NULL, 0, 0}, \
	{"hot-share", 0, CLI_SHARE, &load_o.hot_share, "SHARE", "hotspot: share of the packets that goes there (default 10%)", NULL, 0, 0}, \
	{"shift", 0, CLI_UINT, &load_o.shift, "N", "shift: host i sends to host i + N (default 1)", NULL, 0, 0}, \
	{"burst", 0, CLI_UINT, &load_o.burst, "N", "bursty: packets of a burst, in the mean (default 16)", NULL, 1, 1000000}
/* clang-format on */

/* --load and --rate against each other; neither is no fault here. */
int load_check_rate(void);
bool load_given(void);		     /* --load or --rate */
const char *load_option_given(void); /* one of the other options that is not as it was, or NULL */

int load_traffic(const struct fab *f, uint64_t seed,
		 struct traffic_config *t); /* all but the interval */
int load_network(struct sim_config *c);	    /* ports, buffers and wires; turns the data plane on */
void load_describe(const struct traffic_config *t, const char *trace, char buf[160]);

/* Bring the fabric up on its packet-level network; a new lab. Links that make errors may keep the
 * manager from ever being at rest: this ends at the limit. */
int load_up(const char *file, struct lab *l);
time_ps load_limit(time_ps given); /* of simulated time; TIME_NEVER: the usual one */

/* The interval that --load or --rate asks for; 0 after a message. */
uint64_t load_choose_interval(const char *file, const struct fab *f, const struct lab_config *c,
			      const struct lab_load *d);
int load_saturate(const char *file, const struct fab *f, const struct lab_config *lc,
		  const struct lab_load *d, unsigned points, struct lab_saturation *s);

#endif
