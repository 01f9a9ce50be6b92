/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * weft model fattree: SMPs and times that a published model predicts. Keeps the options of the command. Way in:
 * cmd_model_fattree. Measures nothing.
 */
#include "cli/cli.h"
#include "cli/cmds.h"
#include "experiment/fattree_model.h"

static unsigned mtu = 2048;
static const char *sets;
static const char *const set_readings[] = {"eq7", "eq10", "blocks", NULL};

static int model_json(const struct fattree_model *f)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	json_u64(&j, "m", f->m);
	json_u64(&j, "n", f->n);
	json_u64(&j, "hosts", f->hosts);
	json_u64(&j, "switches", f->switches);
	json_open(&j, "smps", '{');
	json_u64(&j, "get", f->get);
	json_u64(&j, "get_node_info", f->get_node_info);
	json_u64(&j, "get_port_info", f->get_port_info);
	json_u64(&j, "set_port_info", f->set_port_info);
	json_u64(&j, "set_lft", f->set_lft);
	json_u64(&j, "total", f->get + f->set_port_info + f->set_lft);
	json_close(&j);
	json_open(&j, "time_ms", '{');
	json_double(&j, "td", f->td_ms);
	json_double(&j, "pc", f->pc_ms);
	json_double(&j, "pd", f->pd_ms);
	json_close(&j);
	json_open(&j, "readings", '{');
	for (unsigned i = 0; i < FATTREE_READINGS; i++) {
		const struct fattree_reading *r = &f->readings[i];

		json_open(&j, r->name, '{');
		json_u64(&j, "sets_per_table", r->s);
		json_u64(&j, "set_lft", r->set_lft);
		json_double(&j, "td_ms", r->td_ms);
		json_double(&j, "pd_ms", r->pd_ms);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	return cli_print_json(&j);
}

static void model_text(const struct fattree_model *f)
{
	static const char *const about[] = {"equation 7: 1 + ceil(3 hosts / MTU) Sets a table",
					    "equation 10: ceil(3 hosts / MTU) Sets a table",
					    "IBA: one Set for each block of 64 LIDs"};
	struct cli_table t;

	printf("%u-port %u-tree: %s hosts, %s switches\n", f->m, f->n, cli_count(f->hosts),
	       cli_count(f->switches));
	printf("%s Get SMPs, %s Set(PortInfo); path computation %.2f ms\n\n", cli_count(f->get),
	       cli_count(f->set_port_info), f->pc_ms);
	cli_table_init(&t, "lrrr", "Set(LinearForwardingTable) by", "Sets", "discovery, ms",
		       "distribution, ms");
	for (unsigned i = 0; i < FATTREE_READINGS; i++) {
		cli_table_add(&t, "%s", about[i]);
		cli_table_add(&t, "%s", cli_count(f->readings[i].set_lft));
		cli_table_add(&t, "%.2f", f->readings[i].td_ms);
		cli_table_add(&t, "%.2f", f->readings[i].pd_ms);
	}
	cli_table_print(&t, stdout);
}

static int number_of(const char *text, unsigned least, unsigned most, const char *what, unsigned *v)
{
	uint64_t n;

	if (parse_u64(text, &n) || n < least || n > most)
		return cli_bad("expected %s from %u to %u, found '%.40s'", what, least, most, text);
	*v = (unsigned)n;
	return CLI_OK;
}

static int model_run(char **args, unsigned nargs UNUSED)
{
	struct fattree_model f;
	unsigned m = 0, n = 0;
	struct err e;

	if (number_of(args[0], 2, 254, "an even number of ports M", &m) ||
	    number_of(args[1], 1, 20, "a number of levels N", &n))
		return CLI_BAD;
	if (fattree_model(m, n, mtu, &fattree_table1, &f, &e))
		return cli_bad("%s", e.text);
	if (sets)
		fattree_model_read(&f, sets);
	if (cli_json)
		return model_json(&f);
	model_text(&f);
	return CLI_OK;
}

static const struct cli_opt model_opts[] = {
	{.name = "mtu",
	 .type = CLI_UINT,
	 .dst = &mtu,
	 .arg = "BYTES",
	 .min = 256,
	 .max = 4096,
	 .help = "bytes of a packet, as the paper counts table entries (default 2048)"},
	{.name = "sets",
	 .type = CLI_CHOICE,
	 .dst = &sets,
	 .arg = "READING",
	 .choices = set_readings,
	 .help = "Set SMPs of a table, in .smps and .time_ms: by equation 7, by equation 10, or IBA's blocks "
		 "(default: SMPs and discovery by equation 7, distribution by equation 10)"},
	{0},
};

const struct cli_cmd cmd_model_fattree = {
	.name = "model fattree",
	.args = "M N",
	.summary = "predict the SMPs and times of OpenSM on an M-port N-tree by a published model",
	.about =
		"The model of Vishnu, Mamidala, Jin and Panda (2005), equations 1 to 10, with the times that it gives for "
		"one switch and eight hosts (Table 1). Its equations 7 and 10 do not agree on the Set SMPs of a "
		"forwarding table: both are shown, and the blocks of 64 LIDs that IBA sends. In JSON, .smps and "
		".time_ms.td follow equation 7, .time_ms.pd equation 10, .readings has all.",
	.examples =
		"weft model fattree 8 1\nweft model fattree 16 4 --json\nweft model fattree 16 4 --sets blocks --json",
	.opts = model_opts,
	.min_args = 2,
	.max_args = 2,
	.run = model_run,
};
