/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options and settings of simulated managers as a configuration of the laboratory. State: manager_o, seats.
 * Way in: manager_config(). Does not run anything.
 */
#include "cli/manager_opts.h"

#include "base/rng.h"
#include "base/units.h"
#include "cli/profile_opts.h"
#include "cli/rft_opts.h"
#include "cli/seat_text.h"
#include "run/inputs.h"

static const char *const cpus[] = {"host", "thesis", "pentium4", "opensm2005", NULL};

struct manager_opts manager_o = {.seed = 1};

/* clang-format off */
const struct cli_opt manager_opts[] = {
	{.name = "sm", .type = CLI_LIST, .dst = &manager_o.sm, .arg = SEAT_TEXT_ARG,
	 .help = "node of a manager: GUID, S-/H- id or name (default: the first host); with its "
		 "priority (default: --priority), when it starts (default: at power-on) and its mechanism "
		 "(default: --mechanism); repeated: several managers"},
	{.name = "root", .type = CLI_STR, .dst = &manager_o.root, .arg = "NODE",
	 .help = "root of the up/down graph, a node or centre (default: the manager's switch); "
		 "short for --roots and --routes-otherwise"},
	{.name = "cpu", .type = CLI_CHOICE, .dst = &manager_o.cpu, .arg = "MODEL", .choices = cpus,
	 .help = "what the manager's work costs: on a machine of today, on the thesis's Pentium III, on the "
		 "report's Pentium 4, or OpenSM's on a machine of 2005 (default host)"},
	{.name = "seed", .type = CLI_U64, .dst = &manager_o.seed, .arg = "N",
	 .help = "seed of everything random (default 1)"},
	{.name = "loss", .type = CLI_SHARE, .dst = &manager_o.loss, .arg = "P",
	 .help = "share of SMPs lost"},
	{.name = "delay", .type = CLI_SHARE, .dst = &manager_o.delay, .arg = "P",
	 .help = "share of SMPs delayed by up to 2 ms"},
	{.name = "dup", .type = CLI_SHARE, .dst = &manager_o.dup, .arg = "P",
	 .help = "share of SMPs that arrive twice"},
	{0},
};
/* clang-format on */

static char root_guid[24];
static struct sm_inputs root_inputs; /* those of settings, with this root */

/* --root, over --roots and --routes-otherwise. */
static int make_root(const struct fab *f, struct sm_config *c)
{
	const char *root = manager_o.root;
	node_id n;

	if (!root)
		return CLI_OK;
	if (cli_setting_given("roots") || cli_setting_given("routes-otherwise"))
		return cli_bad("expected --root, or --roots and --routes-otherwise; found both");
	if (!strcmp(root, "centre")) {
		c->root_centre = true;
		return CLI_OK;
	}
	if (cli_find_node(f, "--root", root, &n))
		return CLI_BAD;
	snprintf(root_guid, sizeof(root_guid), "0x%016llx\n", (unsigned long long)f->nodes[n].guid);
	root_inputs = c->inputs ? *c->inputs : (struct sm_inputs){0};
	root_inputs.roots = root_guid;
	root_inputs.number += f->nodes[n].guid;
	c->inputs = &root_inputs;
	return CLI_OK;
}

/* ---- seats ---- */

static struct lab_seat *seats;

static int make_seat(const struct fab *f, const char *text, const struct sm_config *c,
		     struct lab_seat *s)
{
	struct seat_text t;
	struct err e;

	*s = (struct lab_seat){.sm = *c};
	if (seat_text_parse(text, &t, &e))
		return cli_bad("%s", e.text);
	if (cli_find_node(f, "--sm", t.node, &s->node))
		return CLI_BAD;
	s->start = t.start;
	if (t.has_priority)
		s->sm.priority = t.priority;
	if (t.mechanism)
		settings_mechanism(t.mechanism, &s->sm.mechanism);
	return CLI_OK;
}

/* Several managers elect the master, and find what another one has configured. */
static void make_contest(struct sm_config *c)
{
	c->contest = c->read_back = true;
}

static int make_seats(const struct fab *f, struct lab_config *c)
{
	unsigned n = (unsigned)manager_o.sm.n;

	if (n > 1)
		make_contest(&c->sm);
	free(seats);
	seats = mem_zarray(MAX(n, 1u), sizeof(*seats));
	for (unsigned i = 0; i < n; i++) {
		if (make_seat(f, manager_o.sm.at[i], &c->sm, &seats[i]))
			return CLI_BAD;
		for (unsigned k = 0; k < i; k++)
			if (seats[k].node == seats[i].node)
				return cli_bad("--sm '%.60s': expected another node, this one has "
					       "a manager already",
					       manager_o.sm.at[i]);
	}
	if (!n)
		return CLI_OK;
	c->sm_node = seats[0].node;
	c->sm_start = seats[0].start;
	c->sm = seats[0].sm;
	c->seats = seats + 1;
	c->nseats = n - 1;
	return CLI_OK;
}

static const struct sm_inputs
	*inputs; /* read once: all managers share them, as long as the command runs */

/* Techniques that may deadlock are allowed here: the laboratory measures them. */
static int make_settings(struct lab_config *c)
{
	struct settings s;
	struct err e;
	int rc;

	settings_default_sim(&s);
	profile_settings(&s);
	rc = cli_settings_apply(&s, &e);
	if (!rc) {
		rc = sm_mechanism_check(&s.sm.mechanism, &e);
		rc = rc == -EDEADLK ? 0 : rc;
	}
	if (!rc)
		rc = settings_check_routes(&s, NULL, &e);
	if (!rc && !inputs)
		rc = run_inputs_read(&s, &e);
	if (rc)
		return cli_bad("%s", e.text);
	inputs = inputs ? inputs : s.sm.inputs;
	s.sm.inputs = inputs;
	c->sm = s.sm;
	c->threads = s.threads;
	return CLI_OK;
}

int manager_config(const struct fab *f, struct lab_config *c)
{
	const struct manager_opts *o = &manager_o;

	lab_config_default(c);
	if (make_settings(c) || make_root(f, &c->sm) || rft_apply(f, &c->sim))
		return CLI_BAD;
	profile_config(f, o->sm.n > 0, c);
	if (make_seats(f, c))
		return CLI_BAD;
	if (o->cpu)
		c->cpu = lab_cpu_find(o->cpu);
	c->sim.seed = o->seed;
	c->sim.faults.loss_q32 = prob_q32(o->loss);
	c->sim.faults.delay_q32 = prob_q32(o->delay);
	c->sim.faults.dup_q32 = prob_q32(o->dup);
	c->sim.faults.delay_max_ps = 2 * PS_PER_MS;
	return CLI_OK;
}
