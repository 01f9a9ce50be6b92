/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs to bring a tree up, of a manager that starts again on it, and of a standby that takes over with its mirror
 * (docs/taking-over.md). State: the counts. usage: warm-bench PORTS LEVELS
 */
#include "lab/lab.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct count {
	struct lab *lab;
	uint64_t gets, sets, tables, gmps;
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct count *c = ctx;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(c->lab))
		return;
	if (iba_is_vendor(smp->mad)) {
		c->gmps += iba_smp_method(smp->mad) == IBA_GET;
		return;
	}
	c->gets += iba_smp_method(smp->mad) == IBA_GET;
	c->sets += iba_smp_method(smp->mad) == IBA_SET;
	c->tables += iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
}

static void tell(const char *what, struct count *c)
{
	printf("%s: %llu SMPs, %llu Gets and %llu Sets, of them %llu for tables\n", what,
	       (unsigned long long)(c->gets + c->sets), (unsigned long long)c->gets,
	       (unsigned long long)c->sets, (unsigned long long)c->tables);
	c->gets = c->sets = c->tables = c->gmps = 0;
}

static bool run(struct count *c)
{
	time_ps limit = sim_now(lab_sim(c->lab)) + 1000 * PS_PER_S;

	if (lab_run_ready(c->lab, limit))
		return true;
	fputs("the manager did not come to rest\n", stderr);
	return false;
}

static void on_moment(void *ctx, uint64_t cookie)
{
	(void)ctx;
	(void)cookie;
}

/* Until the second manager has another copy of what the first one knows; false: it has not. */
static bool copy(struct count *c, const char *what)
{
	struct sim *s = lab_sim(c->lab);
	struct sm_mirror_status st;
	uint64_t before;

	sm_mirror_status(lab_manager_sm(c->lab, 1), &st);
	before = st.generation;
	for (unsigned i = 0; i < 100000 && (!st.complete || st.generation == before); i++) {
		sim_call(s, sim_now(s) + PS_PER_MS, on_moment, NULL, 0);
		lab_run_until(c->lab, sim_now(s) + PS_PER_MS);
		sm_mirror_status(lab_manager_sm(c->lab, 1), &st);
	}
	printf("%s: %llu bytes, %llu GMPs\n", what, (unsigned long long)st.bytes,
	       (unsigned long long)c->gmps);
	c->gets = c->sets = c->tables = c->gmps = 0;
	return st.complete && st.generation != before;
}

/* The first link between two switches. */
static port_id some_link(const struct fab *f)
{
	port_id p = 0;

	while (f->ports[p].peer == FAB_NONE || !fab_is_switch(f, f->ports[p].node) ||
	       !fab_is_switch(f, f->ports[f->ports[p].peer].node))
		p++;
	return p;
}

/* A standby on the last host takes over from a master that dies. */
static bool take_over(const struct fab *f, struct lab_config cfg)
{
	struct count c = {0};
	node_id last = f->nnodes - 1;
	struct err e;
	bool ok;

	while (fab_is_switch(f, last))
		last--;
	cfg.sm.contest = cfg.sm.mirror = true;
	cfg.sm.standby_poll_ps = 250 * PS_PER_MS;
	cfg.sm.priority = 5;
	c.lab = lab_new(f, &cfg, &e);
	cfg.sm.priority = 1;
	lab_manager_add(c.lab, last, &cfg.sm);
	lab_manager_stop(c.lab, 1);
	lab_power_on(c.lab, NULL);
	ok = run(&c);
	lab_manager_start(c.lab, 1, false);
	lab_manager_lead(c.lab, 1);
	sim_watch(lab_sim(c.lab), (struct sim_watch){on_seen, &c});
	ok = ok && copy(&c, "mirror");
	sim_uncable(lab_sim(c.lab), some_link(f));
	ok = ok && copy(&c, "mirror after a link failed");
	lab_manager_stop(c.lab, 0);
	ok = ok && run(&c);
	tell("taken over", &c);
	lab_free(c.lab);
	return ok;
}

int main(int argc, char **argv)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2};
	uint64_t ports, levels;
	struct lab_config cfg;
	struct count c = {0};
	struct fab *f;
	struct err e;
	bool ok;

	if (argc != 3 || parse_u64(argv[1], &ports) || parse_u64(argv[2], &levels)) {
		fputs("usage: warm-bench PORTS LEVELS\n", stderr);
		return 2;
	}
	g.dims[0] = (unsigned)ports;
	g.dims[1] = (unsigned)levels;
	f = fab_generate(&g, &e);
	if (!f) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	lab_config_default(&cfg);
	cfg.sm.read_back = true;
	c.lab = lab_new(f, &cfg, &e);
	sim_watch(lab_sim(c.lab), (struct sim_watch){on_seen, &c});
	lab_power_on(c.lab, NULL);
	if (!run(&c))
		return 1;
	tell("cold", &c);
	lab_manager_stop(c.lab, 0);
	lab_manager_start(c.lab, 0, false);
	if (!run(&c))
		return 1;
	tell("again", &c);
	lab_manager_stop(c.lab, 0);
	if (!lab_manager_resume(c.lab, 0) || !run(&c))
		return 1;
	tell("again, with what was known", &c);
	lab_free(c.lab);
	ok = take_over(f, cfg);
	fab_free(f);
	return !ok;
}
