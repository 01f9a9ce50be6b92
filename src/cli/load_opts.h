/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options about traffic and the network it travels, for every command that simulates data packets,
 * and the configurations they make. Functions that return int return CLI_OK, or CLI_BAD after a
 * message.
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

/* Options that several commands share; these end with name == NULL. */
extern const struct cli_opt load_rate_opts[];	 /* --load, --rate, --of-saturation */
extern const struct cli_opt load_traffic_opts[]; /* what hosts send, and the network it travels */

/* Checks that --load and --rate do not contradict each other; neither needs to be given. */
int load_check_rate(void);
bool load_given(void);		     /* --load or --rate */
const char *load_option_given(void); /* name of another option that was given, or NULL */

int load_traffic(const struct fab *f, uint64_t seed,
		 struct traffic_config *t); /* all but the interval */
int load_network(struct sim_config *c);	    /* ports, buffers and wires; turns the data plane on */
void load_describe(const struct traffic_config *t, const char *trace, char buf[160]);

/* Bring the fabric up on its packet-level network; a new lab. Links that make errors may keep the
 * manager from finishing: the limit ends it. */
int load_up(const char *file, struct lab *l);
time_ps load_limit(time_ps given); /* of simulated time; TIME_NEVER: the default */

/* The interval that --load or --rate asks for; 0 after a message. */
uint64_t load_choose_interval(const char *file, const struct fab *f, const struct lab_config *c,
			      const struct lab_load *d);
int load_saturate(const char *file, const struct fab *f, const struct lab_config *lc,
		  const struct lab_load *d, unsigned points, struct lab_saturation *s);

#endif
