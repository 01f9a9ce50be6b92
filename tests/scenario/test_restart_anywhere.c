/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A switch restarts, or a link is cut and joined, at every moment of a change: at each SMP that arrives
 * somewhere while the manager handles a first failure. After every change of a device the watch looks for
 * a cycle of dependencies; at the end each device must be configured correctly. In TAP, a line for each
 * mechanism and fabric. State: struct run, for one run. Does not draw anything: all moments are tried.
 * usage: test_restart_anywhere LINE [STRIDE], a line of tried[], from 1, and one of STRIDE moments; or
 * MECHANISM KIND SWITCHES PORTS SEED FIRST
 * Covers: drain.c, new_links.c
 */
#include "base/rng.h"
#include "lab/verdict.h"
#include "lab/watch.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

#define LIMIT (60 * PS_PER_S)
#define PAUSE (30 * PS_PER_US) /* a switch is off, or a cable is out */

enum { NEVER = 0 };

struct run {
	struct fab *fab;
	struct lab *lab;
	struct sim *sim;
	struct lab_watch watch;
	const struct tried *t;
	node_id other;	 /* the switch that comes or goes first */
	unsigned smps;	 /* that arrived since the first failure */
	unsigned moment; /* the second failure comes with this one; NEVER */
	node_id sw;	 /* restarts, unless FAB_NONE */
	port_id link;	 /* is cut and joined */
	char why[256];
};

enum first { LINK_GOES, SWITCH_GOES, SWITCH_COMES };

static const struct tried {
	const char *mechanism, *kind;
	unsigned size, ports, seed;
	enum first first;
} tried[] = {
	{"weft", "ring", 5, 0, 0, LINK_GOES},
	{"weft", "irregular", 6, 4, 3, SWITCH_GOES},
	{"weft", "irregular", 7, 5, 1, SWITCH_COMES},
	{"improved+traps", "irregular", 6, 4, 3, SWITCH_COMES},
};

/* ---- the second failure ---- */

static void on_back(void *ctx, uint64_t cookie)
{
	struct run *r = ctx;

	(void)cookie;
	if (r->sw != FAB_NONE)
		sim_node_power(r->sim, r->sw, true);
	else
		sim_cable(r->sim, r->link, r->fab->ports[r->link].peer);
}

static void on_due(void *ctx, uint64_t cookie)
{
	struct run *r = ctx;

	(void)cookie;
	if (r->sw != FAB_NONE)
		sim_node_power(r->sim, r->sw, false);
	else
		sim_uncable(r->sim, r->link);
	sim_call(r->sim, sim_now(r->sim) + PAUSE, on_back, r, 0);
}

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct run *r = ctx;

	(void)n;
	(void)port;
	(void)smp;
	(void)detail;
	if (what == SIM_SEEN_RECV && ++r->smps == r->moment)
		sim_call(r->sim, sim_now(r->sim), on_due, r, 0);
}

/* ---- one run ---- */

static void judge(struct run *r)
{
	struct lab_verdict v;

	lab_judge(r->lab, &v);
	if (r->watch.unsafe_at != TIME_NEVER)
		snprintf(r->why, sizeof(r->why), "a cycle of %zu links at %llu us", r->watch.ncycle,
			 (unsigned long long)(r->watch.unsafe_at / PS_PER_US));
	else if (!v.active || !v.verified || !v.lids_unique || !v.complete)
		snprintf(r->why, sizeof(r->why), "%.200s", v.why);
	else if (r->watch.now.connected != r->watch.now.pairs)
		snprintf(r->why, sizeof(r->why), "not all hosts are connected");
	rt_report_free(&v.report);
}

static void settle(struct run *r)
{
	if (!lab_run_settled(r->lab, sim_now(r->sim) + PS_PER_MS, sim_now(r->sim) + LIMIT))
		snprintf(r->why, sizeof(r->why), "the manager did not come to rest");
}

/* The first change: the link `first` goes for good, or a switch goes or comes. */
static void run(struct run *r, const struct fab *f, port_id first)
{
	bool *on = mem_array(f->nnodes, sizeof(*on));
	struct lab_config c;
	struct err e;

	lab_config_default(&c);
	c.threads = 1;
	c.sim.traps = true;
	c.sm.mechanism = *sm_mechanism_find(r->t->mechanism);
	c.sm.window = 4;
	c.sm.sweep_factor = 4;
	r->lab = lab_new(f, &c, &e);
	r->sim = lab_sim(r->lab);
	memset(on, true, f->nnodes * sizeof(*on));
	on[r->other] = r->t->first != SWITCH_COMES;
	lab_power_on(r->lab, on);
	free(on);
	lab_run_settled(r->lab, 0, LIMIT);
	lab_watch_start(&r->watch, r->lab);
	sim_watch(r->sim, (struct sim_watch){on_seen, r});
	if (r->t->first == LINK_GOES)
		sim_uncable(r->sim, first);
	else
		sim_node_power(r->sim, r->other, r->t->first == SWITCH_COMES);
	settle(r);
	sim_watch(r->sim, (struct sim_watch){0});
	if (r->moment)
		settle(r); /* the failure may have come with the last SMP of all */
	lab_watch_stop(&r->watch);
	judge(r);
	lab_free(r->lab);
	lab_watch_free(&r->watch);
}

/* ---- all runs ---- */

static bool is_trunk(const struct fab *f, port_id p)
{
	port_id q = f->ports[p].peer;

	return q != FAB_NONE && q > p && fab_is_switch(f, f->ports[p].node) &&
	       fab_is_switch(f, f->ports[q].node);
}

static port_id first_trunk(const struct fab *f)
{
	port_id p = 0;

	while (!is_trunk(f, p))
		p++;
	return p;
}

/* The manager's switch, which stays. */
static node_id own_switch(const struct fab *f)
{
	struct lab_config c;
	struct err e;
	struct lab *l;
	port_id p;

	lab_config_default(&c);
	l = lab_new(f, &c, &e);
	p = f->ports[fab_port_id(f, lab_sm_node(l), lab_config(l)->sm.port)].peer;
	lab_free(l);
	return f->ports[p].node;
}

/* The switch that comes or goes first: the last that may. */
static node_id other(const struct fab *f)
{
	uint32_t s = f->nswitches - 1;

	return f->switches[s] == own_switch(f) ? f->switches[s - 1] : f->switches[s];
}

static void report(const struct run *r)
{
	const struct fab *f = r->fab;

	printf("# %s, %s %016llx at SMP %u: %s\n", r->t->mechanism,
	       r->sw == FAB_NONE ? "a link of" : "restart of",
	       (unsigned long long)f->nodes[r->sw == FAB_NONE ? f->ports[r->link].node : r->sw]
		       .guid,
	       r->moment, r->why);
}

/* Runs of one fabric, and those that failed. */
struct count {
	unsigned runs, bad;
	unsigned stride; /* one of so many moments; each second failure begins with another one */
	unsigned seconds;
};

/* Moments of one second failure, up to the last SMP of a run without it, sweeps included. */
static void every_moment(struct fab *f, const struct tried *t, node_id sw, port_id link,
			 struct count *c)
{
	struct run plain = {.fab = f, .t = t, .other = other(f), .sw = sw, .link = link};

	run(&plain, f, first_trunk(f));
	for (unsigned moment = 1 + c->seconds++ % c->stride; moment <= plain.smps;
	     moment += c->stride) {
		struct run r = {.fab = f,
				.t = t,
				.other = other(f),
				.moment = moment,
				.sw = sw,
				.link = link};

		run(&r, f, first_trunk(f));
		c->runs++;
		if (r.why[0]) {
			c->bad++;
			report(&r);
		}
	}
}

static unsigned try_all(const struct tried *t, unsigned stride)
{
	struct fab_gen g = {
		.kind = t->kind, .ndims = 1, .dims = {t->size}, .ports = t->ports, .seed = t->seed};
	struct count c = {.stride = stride};
	struct err e = {{0}};
	struct fab *f = fab_generate(&g, &e);

	for (uint32_t s = 0; f && s < f->nswitches; s++)
		if (f->switches[s] != own_switch(f) && f->switches[s] != other(f))
			every_moment(f, t, f->switches[s], 0, &c);
	for (port_id p = first_trunk(f) + 1, links = 0; f && p < f->nports && links < 2; p++)
		if (is_trunk(f, p)) {
			every_moment(f, t, FAB_NONE, p, &c);
			links++;
		}
	printf("1..1\n%s 1 - %s, %s of %u switches: %u runs\n", c.bad || !f ? "not ok" : "ok",
	       t->mechanism, t->kind, t->size, c.runs);
	fab_free(f);
	return c.bad;
}

int main(int argc, char **argv)
{
	unsigned line = argc == 2 || argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	unsigned stride = argc == 3 ? (unsigned)atoi(argv[2]) : 1;

	if (argc == 7) {
		struct tried one = {argv[1],
				    argv[2],
				    (unsigned)atoi(argv[3]),
				    (unsigned)atoi(argv[4]),
				    (unsigned)atoi(argv[5]),
				    (enum first)atoi(argv[6])};

		return try_all(&one, 1) ? 1 : 0;
	}
	if (!line || line > ARRAY_LEN(tried) || !stride) {
		printf("Bail out! expected a line from 1 to %zu, and a stride\n", ARRAY_LEN(tried));
		return 2;
	}
	return try_all(&tried[line - 1], stride) ? 1 : 0;
}
