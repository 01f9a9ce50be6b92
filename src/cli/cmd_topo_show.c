/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft topo show: the figures of a fabric as text and JSON. Keeps no state. Way in: cmd_topo_show. Does not
 * compute them: fab_stats() does.
 */
#include "cli/cmds.h"
#include "cli/topo_output.h"

/* Mean number of connected ports of a switch, in hundredths. */
static uint64_t degree_mean(const struct fab_stats *s)
{
	return s->switches ? (s->degree_sum * 100 + s->switches / 2) / s->switches : 0;
}

static void rate_text(char buf[32], unsigned width, unsigned speed)
{
	if (width && speed)
		snprintf(buf, 32, "%ux %s", width, fab_speed_name(speed));
	else
		snprintf(buf, 32, "unknown");
}

static void rates_json(struct json *j, const struct fab_stats *s)
{
	char name[32];

	json_open(j, "rates", '[');
	for (unsigned i = 0; i < FAB_NSPEEDS * 13; i++) {
		unsigned speed = i / 13, width = i % 13;

		if (!s->rate[speed][width])
			continue;
		rate_text(name, width, speed);
		json_open(j, NULL, '{');
		json_str(j, "rate", name);
		json_u64(j, "width", width);
		json_str(j, "speed", fab_speed_name(speed));
		json_u64(j, "links", s->rate[speed][width]);
		json_close(j);
	}
	json_close(j);
}

static void cables_json(struct json *j, const struct fab_stats *s)
{
	json_open(j, "cables", '{');
	json_u64(j, "known", s->cables);
	json_fixed(j, "min_m", s->cable_min_cm, 2);
	json_fixed(j, "max_m", s->cable_max_cm, 2);
	json_fixed(j, "total_m", s->cable_sum_cm, 2);
	json_close(j);
}

/* HCAs with virtual functions; nothing in a fabric without. */
static void virtual_json(struct json *j, const struct fab_stats *s)
{
	json_open(j, "virtual", '{');
	for (unsigned i = FAB_SRIOV_VSWITCH; i <= FAB_SRIOV_SHARED; i++) {
		json_open(j, fab_sriov_name(i), '{');
		json_u64(j, "hypervisors", s->hypervisors[i]);
		json_u64(j, "vfs", s->vfs[i]);
		json_close(j);
	}
	json_close(j);
}

static void warnings_json(struct json *j, const struct fab_netlist *net)
{
	struct strbuf b = {0};

	json_open(j, "warnings", '[');
	for (size_t i = 0; i < net->warnings.n; i++) {
		topo_warning_text(&net->warnings.at[i], &b);
		json_str(j, NULL, b.s);
	}
	json_close(j);
	strbuf_free(&b);
}

static int show_json(const struct fab *f, const struct fab_stats *s, const struct fab_netlist *net)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "switches", s->switches);
	json_u64(&j, "hosts", s->hosts);
	json_u64(&j, "routers", s->routers);
	json_u64(&j, "links", s->links);
	json_u64(&j, "switch_links", s->switch_links);
	json_u64(&j, "diameter", s->diameter);
	json_u64(&j, "host_diameter", s->host_diameter);
	json_u64(&j, "levels", s->levels);
	json_open(&j, "degrees", '{');
	json_u64(&j, "min", s->degree_min);
	json_fixed(&j, "mean", degree_mean(s), 2);
	json_u64(&j, "max", s->degree_max);
	json_close(&j);
	json_u64(&j, "ports_free", s->ports_free);
	json_u64(&j, "components", s->components);
	json_u64(&j, "isolated", s->isolated);
	rates_json(&j, s);
	cables_json(&j, s);
	json_u64(&j, "lids", fab_lid_count(f));
	virtual_json(&j, s);
	warnings_json(&j, net);
	json_close(&j);
	return cli_print_json(&j);
}

static void count_row(struct cli_table *t, const char *name, uint64_t v, const char *note)
{
	cli_table_add(t, "%s", name);
	cli_table_add(t, "%s", cli_count(v));
	cli_table_add(t, "%s", note);
}

static void show_rates(const struct fab_stats *s)
{
	struct cli_table t;
	char name[32];

	if (!s->links)
		return;
	putchar('\n');
	cli_table_init(&t, "lr", "rate", "links");
	for (unsigned i = 0; i < FAB_NSPEEDS * 13; i++) {
		if (!s->rate[i / 13][i % 13])
			continue;
		rate_text(name, i % 13, i / 13);
		cli_table_add(&t, "%s", name);
		cli_table_add(&t, "%s", cli_count(s->rate[i / 13][i % 13]));
	}
	cli_table_print(&t, stdout);
}

static void show_cables(const struct fab_stats *s)
{
	char min[16], max[16];

	if (!s->cables)
		return;
	fab_cable_text(min, s->cable_min_cm);
	fab_cable_text(max, s->cable_max_cm);
	printf("\n%s of %s cables have a known length: %s to %s, %s m in total\n",
	       cli_count(s->cables), cli_count(s->links), min, max,
	       cli_count((s->cable_sum_cm + 50) / 100));
}

static void virtual_rows(struct cli_table *t, const struct fab_stats *s)
{
	static const char *const notes[] = {"", "VFs behind vSwitches, each with a LID",
					    "VFs behind shared ports, with the LID of the host"};
	char note[96];

	for (unsigned i = FAB_SRIOV_VSWITCH; i <= FAB_SRIOV_SHARED; i++) {
		if (!s->hypervisors[i])
			continue;
		snprintf(note, sizeof(note), "with %s %s", cli_count(s->vfs[i]), notes[i]);
		count_row(t, "  hypervisors", s->hypervisors[i], note);
	}
}

static void show_text(const struct fab *f, const struct fab_stats *s, const struct fab_netlist *net)
{
	uint64_t mean = degree_mean(s);
	struct strbuf b = {0};
	struct cli_table t;
	char degrees[80];

	snprintf(degrees, sizeof(degrees),
		 "connected ports of a switch: %u to %u, mean %llu.%02llu", s->degree_min,
		 s->degree_max, (unsigned long long)mean / 100, (unsigned long long)mean % 100);
	cli_table_init(&t, "lrl", "switches", cli_count(s->switches), ""); /* no headings */
	count_row(&t, "hosts", s->hosts, "");
	virtual_rows(&t, s);
	count_row(&t, "routers", s->routers, "");
	count_row(&t, "links", s->links, "");
	count_row(&t, "  between switches", s->switch_links, "");
	count_row(&t, "switch ports free", s->ports_free, degrees);
	count_row(&t, "diameter", s->diameter, "hops between switches");
	count_row(&t, "host diameter", s->host_diameter, "links between hosts");
	count_row(&t, "levels", s->levels,
		  "of switches, by distance from the nearest switch with hosts");
	count_row(&t, "parts", s->components,
		  s->components > 1 ? "not connected to each other" : "");
	count_row(&t, "isolated nodes", s->isolated, "");
	count_row(&t, "LIDs", fab_lid_count(f), "");
	cli_table_print(&t, stdout);
	show_rates(s);
	show_cables(s);
	if (net->warnings.n)
		printf("\n%s warnings\n", cli_count(net->warnings.n));
	for (size_t i = 0; i < net->warnings.n; i++) {
		topo_warning_text(&net->warnings.at[i], &b);
		printf("  %s\n", b.s);
	}
	strbuf_free(&b);
}

static int show_run(char **args, unsigned nargs UNUSED)
{
	struct fab_netlist net;
	struct fab *f = cli_load_quiet(args[0], &net);
	struct fab_stats s;
	int rc = CLI_OK;

	if (!f)
		return CLI_BAD;
	fab_stats(f, &s);
	if (cli_json)
		rc = show_json(f, &s, &net);
	else
		show_text(f, &s, &net);
	fab_netlist_free(&net);
	fab_free(f);
	return rc;
}

const struct cli_cmd cmd_topo_show = {
	.name = "topo show",
	.args = "FILE",
	.summary = "show sizes, distances and rates of a netlist",
	.about =
		"FILE is the output of ibnetdiscover or an input of ibsim; '-' is standard input. Warnings "
		"about the file are printed with the figures and do not change the exit status.",
	.examples = "ibnetdiscover | weft topo show -\nweft topo show net.txt --json",
	.min_args = 1,
	.max_args = 1,
	.run = show_run,
};
