/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options by which a run is like those of the thesis, and the profile that sets them all. State: o, the options
 * of the one command that runs. Way in: profile_settings(), profile_config(). Does not run anything.
 */
#include "cli/profile_opts.h"

static const char *const profiles[] = {"iba", "thesis", "opensm2005", NULL};
static const char *const new_hosts[] = {"send", "silent", NULL};

static struct {
	const char *profile, *new_hosts;
	bool one_set, reassign, link_sets, default_port, by_switch, links_first, each_port;
	time_ps on_at, traffic_at, change_at;
} o = {.on_at = TIME_NEVER, .traffic_at = TIME_NEVER, .change_at = TIME_NEVER};

/* clang-format off */
const struct cli_opt profile_opts[] = {
	{.name = "profile", .type = CLI_CHOICE, .dst = &o.profile, .arg = "NAME", .choices = profiles,
	 .help = "thesis: --cpu thesis --mechanism basic --lft-entries 1024 --one-set --reassign-lids "
		 "--link-sets --default-ports --by-switch --links-first --new-hosts silent --ties first --drain 0 --subnet-timeout 12 --on-at 10s, traffic at 60s, a "
		 "change at 60.1s, the manager on the first switch; opensm2005: --cpu opensm2005 --mechanism basic "
		 "--exploration bfs --window 1 --each-port --by-switch; each can be given again (default iba)"},
	{.name = "one-set", .type = CLI_FLAG, .dst = &o.one_set,
	 .help = "not IBA: ports have no Armed, and become Active by one Set"},
	{.name = "reassign-lids", .type = CLI_FLAG, .dst = &o.reassign,
	 .help = "a full discovery assigns all LIDs again"},
	{.name = "link-sets", .type = CLI_FLAG, .dst = &o.link_sets,
	 .help = "set MTU and VLs of ports that came up, and SL-to-VL tables of new pairs of ports, by SMPs of "
		 "their own"},
	{.name = "default-ports", .type = CLI_FLAG, .dst = &o.default_port,
	 .help = "also set DefaultPort with tables that have one"},
	{.name = "by-switch", .type = CLI_FLAG, .dst = &o.by_switch,
	 .help = "send tables switch by switch (default: the first block of each switch, then the second)"},
	{.name = "links-first", .type = CLI_FLAG, .dst = &o.links_first,
	 .help = "with --one-set: new ports become Active before tables are sent, unless all traffic stops"},
	{.name = "each-port", .type = CLI_FLAG, .dst = &o.each_port,
	 .help = "ask NodeInfo of each port of a host as well, not only through each port of a switch"},
	{.name = "on-at", .type = CLI_TIME, .dst = &o.on_at, .arg = "TIME",
	 .help = "when nodes are switched on (default 0)"},
	{0},
};

const struct cli_opt profile_traffic_opts[] = {
	{.name = "traffic-at", .type = CLI_TIME, .dst = &o.traffic_at, .arg = "TIME",
	 .help = "when hosts begin to send (default: when the subnet is at rest)"},
	{0},
};

const struct cli_opt profile_change_opts[] = {
	{.name = "new-hosts", .type = CLI_CHOICE, .dst = &o.new_hosts, .arg = "HOW", .choices = new_hosts,
	 .help = "whether hosts that come send packets as others do (default send)"},
	{.name = "change-at", .type = CLI_TIME, .dst = &o.change_at, .arg = "TIME",
	 .help = "when the fabric changes (default: half-way between two sweeps)"},
	{0},
};
/* clang-format on */

static bool profile_is(const char *name)
{
	return o.profile && !strcmp(o.profile, name);
}

bool profile_is_thesis(void)
{
	return profile_is("thesis");
}

void profile_settings(struct settings *s)
{
	if (profile_is_thesis()) {
		s->sm.mechanism = *sm_mechanism_find("basic");
		s->sm.lft_entries = 1024;
		s->sm.ties = RT_TIES_FIRST;
		s->sm.drain_ps = 0;
		s->sm.subnet_timeout = 12; /* else a longer path means a Set to each switch */
	} else if (profile_is("opensm2005")) {
		s->sm.mechanism = *sm_mechanism_find("basic");
		s->sm.explore = SM_EXPLORE_BFS;
		s->sm.window = 1;
	}
}

static node_id first_switch(const struct fab *f)
{
	node_id best = FAB_NONE;

	for (uint32_t i = 0; i < f->nswitches; i++)
		if (best == FAB_NONE || f->nodes[f->switches[i]].guid < f->nodes[best].guid)
			best = f->switches[i];
	return best;
}

void profile_config(const struct fab *f, bool sm_given, struct lab_config *c)
{
	bool thesis = profile_is_thesis(), opensm = profile_is("opensm2005");

	c->sm.one_set = c->sim.no_armed = o.one_set || thesis;
	c->sm.reassign = o.reassign || thesis;
	c->sm.link_sets = o.link_sets || thesis;
	c->sm.default_port = o.default_port || thesis;
	c->sm.by_switch = o.by_switch || thesis || opensm;
	c->sm.each_port = o.each_port || opensm;
	c->sm.links_first = o.links_first || thesis;
	c->on_at = profile_on_at();
	if (thesis || opensm)
		c->cpu = lab_cpu_find(o.profile);
	if (thesis && !sm_given)
		c->sm_node = first_switch(f);
}

/* ---- moments ---- */

static time_ps moment(time_ps given, time_ps of_thesis)
{
	return given != TIME_NEVER ? given : profile_is_thesis() ? of_thesis : 0;
}

time_ps profile_on_at(void)
{
	return moment(o.on_at, 10 * PS_PER_S);
}

time_ps profile_traffic_at(void)
{
	return moment(o.traffic_at, 60 * PS_PER_S);
}

time_ps profile_change_at(void)
{
	return moment(o.change_at, 60100 * PS_PER_MS);
}

bool profile_silent_new(void)
{
	return o.new_hosts ? !strcmp(o.new_hosts, "silent") : profile_is_thesis();
}
