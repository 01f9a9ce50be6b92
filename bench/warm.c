/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SMPs to bring a tree up, and SMPs of a manager that starts again on it (docs/taking-over.md). State:
 * the counts. usage: warm-bench PORTS LEVELS
 */
#include "lab/lab.h"
#include "sim/device/sim_device.h"
#include "sim/kernel/sim_kernel.h"

struct count {
	struct lab *lab;
	uint64_t gets, sets, tables;
};

static void on_seen(void *ctx, enum sim_seen what, node_id n, unsigned port,
		    const struct sim_smp *smp, unsigned detail)
{
	struct count *c = ctx;

	(void)port;
	(void)detail;
	if (what != SIM_SEEN_SEND || n != lab_sm_node(c->lab))
		return;
	c->gets += iba_smp_method(smp->mad) == IBA_GET;
	c->sets += iba_smp_method(smp->mad) == IBA_SET;
	c->tables += iba_smp_attr_id(smp->mad) == IBA_ATTR_LFT;
}

static void tell(const char *what, struct count *c)
{
	printf("%s: %llu SMPs, %llu Gets and %llu Sets, of them %llu for tables\n", what,
	       (unsigned long long)(c->gets + c->sets), (unsigned long long)c->gets,
	       (unsigned long long)c->sets, (unsigned long long)c->tables);
	c->gets = c->sets = c->tables = 0;
}

static bool run(struct count *c)
{
	time_ps limit = sim_now(lab_sim(c->lab)) + 1000 * PS_PER_S;

	if (lab_run_ready(c->lab, limit))
		return true;
	fputs("the manager did not come to rest\n", stderr);
	return false;
}

int main(int argc, char **argv)
{
	struct fab_gen g = {.kind = "mtree", .ndims = 2};
	uint64_t ports, levels;
	struct lab_config cfg;
	struct count c = {0};
	struct fab *f;
	struct err e;

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
	fab_free(f);
	return 0;
}
