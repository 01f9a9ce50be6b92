/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --rft: switches with random forwarding tables. State: the names given, and a table size for each node.
 * Way in: rft_apply(). Does not simulate anything.
 */
#include "cli/rft_opts.h"

enum { DEFAULT_CAP = 1024 };

static cli_strings rft_switches;
static uint16_t *caps;

/* clang-format off */
const struct cli_opt rft_opts[] = {
	{.name = "rft", .type = CLI_LIST, .dst = &rft_switches, .arg = "NODE[:N]",
	 .help = "this switch, or all, has a random forwarding table with N entries (default "
		 "1024) and no linear one"},
	{0},
};
/* clang-format on */

/* "name:64" into its name and 64; names may have colons of their own. */
static int split(const char *text, char *name, size_t size, uint64_t *cap)
{
	const char *colon = strrchr(text, ':');

	*cap = DEFAULT_CAP;
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		colon = text + strlen(text);
	else if (parse_u64(colon + 1, cap) || !*cap || *cap > UINT16_MAX)
		return cli_bad("--rft '%.60s': found %.20s entries, expected 1 to %u", text,
			       colon + 1, UINT16_MAX);
	snprintf(name, size, "%.*s", (int)MIN((size_t)(colon - text), size - 1), text);
	return CLI_OK;
}

static int apply_one(const struct fab *f, const char *text)
{
	char name[256];
	uint64_t cap;
	node_id n;

	if (split(text, name, sizeof(name), &cap))
		return CLI_BAD;
	if (!strcmp(name, "all")) {
		for (uint32_t s = 0; s < f->nswitches; s++)
			caps[f->switches[s]] = (uint16_t)cap;
		return CLI_OK;
	}
	if (cli_find_node(f, "--rft", name, &n))
		return CLI_BAD;
	if (!fab_is_switch(f, n))
		return cli_bad(
			"--rft '%.60s' is not a switch: only switches have forwarding tables",
			name);
	caps[n] = (uint16_t)cap;
	return CLI_OK;
}

int rft_apply(const struct fab *f, struct sim_config *c)
{
	free(caps);
	caps = NULL;
	if (rft_switches.n)
		caps = mem_zarray(f->nnodes, sizeof(*caps));
	for (size_t i = 0; i < rft_switches.n; i++)
		if (apply_one(f, rft_switches.at[i]))
			return CLI_BAD;
	c->random_only = caps;
	return CLI_OK;
}
