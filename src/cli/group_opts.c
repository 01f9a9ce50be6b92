/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options about multicast traffic and its results. State: the options of the one command that runs. Ways in: group_config(),
 * group_text(), group_json(). Does not send anything: src/lab does.
 */
#include "cli/group_opts.h"

#include "base/rng.h"

static struct {
	unsigned groups, members;
	double load; /* below 0: not given */
} o = {.load = -1};

/* clang-format off */
const struct cli_opt group_opts[] = {
	{.name = "groups", .type = CLI_UINT, .dst = &o.groups, .arg = "N", .min = 1, .max = 10000,
	 .help = "also send packets to N multicast groups, and count copies lost and doubled"},
	{.name = "group-members", .type = CLI_UINT, .dst = &o.members, .arg = "N", .min = 2, .max = 10000,
	 .help = "with --groups: hosts in each group, drawn by the seed (default 8)"},
	{.name = "group-load", .type = CLI_SHARE, .dst = &o.load, .arg = "SHARE",
	 .help = "with --groups: packets to each group, as a share of the slowest host link (default 0.1%)"},
	{0},
};
/* clang-format on */

bool group_wanted(void)
{
	return o.groups;
}

int group_check(void)
{
	if (!o.groups && (o.members || o.load >= 0))
		return cli_bad("--%s needs groups: expected --groups N",
			       o.members ? "group-members" : "group-load");
	if (o.groups && o.load >= 0 && !(o.load > 0))
		return cli_bad("--group-load: expected a share above 0");
	return CLI_OK;
}

const struct lab_groups_config *group_config(const struct fab *f, const struct traffic_config *t,
					     uint64_t seed)
{
	static struct lab_groups_config c;
	double load = o.load > 0 ? o.load : 0.001;
	uint64_t bps = lab_host_bps(f);

	if (!o.groups || !bps)
		return NULL;
	c = (struct lab_groups_config){
		.groups = o.groups,
		.members = o.members ? o.members : 8,
		.payload = t->payload,
		.interval_ps = lab_load_share_interval(bps, t->payload, MAX(prob_q32(load), 1u)),
		.seed = seed,
	};
	return &c;
}

static void row(struct cli_table *t, const char *name, uint64_t n)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(n));
}

void group_text(const struct lab_groups_count *c)
{
	struct cli_table t;

	if (!c->groups)
		return;
	printf("%s multicast groups of %u hosts on SL %u\n", cli_count(c->groups), c->members,
	       c->sl);
	cli_table_init(&t, "lr", "multicast", "number");
	row(&t, "packets", c->packets);
	row(&t, "copies for members", c->expected);
	row(&t, "  delivered", c->delivered);
	row(&t, "  lost", c->lost);
	if (c->futile)
		row(&t, "  to hosts that are gone", c->futile);
	row(&t, "doubled", c->doubled);
	row(&t, "at other hosts", c->astray);
	cli_table_print(&t, stdout);
	putchar('\n');
}

void group_json(const struct lab_groups_count *c, struct json *j)
{
	if (!c->groups)
		return;
	json_open(j, "multicast", '{');
	json_u64(j, "groups", c->groups);
	json_u64(j, "members", c->members);
	json_u64(j, "sl", c->sl);
	json_u64(j, "packets", c->packets);
	json_u64(j, "expected", c->expected);
	json_u64(j, "delivered", c->delivered);
	json_u64(j, "lost", c->lost);
	json_u64(j, "futile", c->futile);
	json_u64(j, "doubled", c->doubled);
	json_u64(j, "astray", c->astray);
	json_close(j);
}
