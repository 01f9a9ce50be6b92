/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of virtual machines, in TAP. Keeps the totals of a batch of seeds. Way in: main(), which runs seeds FIRST to
 * FIRST+COUNT-1 of vm_trial_run(), every tenth twice, and compares the two trace hashes. Does not judge a trial: src/trial
 * does. usage: test_vm_trials FIRST COUNT [MAX_SWITCHES] [hash]
 * Covers: vm_trial.c, vm_checks.c, vm_cut.c, vm_fabrics.c, vm_ledger.c, vm_partitions.c, vm_predict.c
 */
#include "seeds.h"
#include "trial/vm_trial.h"

static struct {
	unsigned done, migrations, refused, lost, restarts, changes, predicted;
} total;

static void run(struct seed_run *r)
{
	struct vm_trial t;

	vm_trial_run(r->seed, &(struct vm_trial_opts){.max_switches = r->max_switches}, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.requests;
	snprintf(r->why, sizeof(r->why), "%s, %s, %u switches, loss %g: %s", t.mechanism, t.scheme,
		 t.switches, t.loss, t.why);
	if (r->again)
		return;
	total.done += t.done;
	total.migrations += t.migrations;
	total.refused += t.refused;
	total.lost += t.lost;
	total.restarts += t.restarts;
	total.changes += t.changes;
	total.predicted += t.predicted;
}

static void sums(char *text, size_t len)
{
	snprintf(
		text, len,
		"%u requests done, %u of them migrations, %u refused, %u lost with %u managers; %u failures; tables predicted %u times",
		total.done, total.migrations, total.refused, total.lost, total.restarts,
		total.changes, total.predicted);
	memset(&total, 0, sizeof(total));
}

/* Each fabric that has a name. */
static bool five_fabrics(void)
{
	bool ok = true;

	for (unsigned i = 0; vm_fabrics[i]; i++) {
		struct vm_trial t;

		vm_trial_run(7, &(struct vm_trial_opts){.fabric = vm_fabrics[i], .migrations = 20},
			     &t);
		if (!t.ok)
			printf("# %s: %s\n", t.fabric, t.why);
		ok &= t.ok && t.migrations >= 20 && t.predicted;
	}
	return ok;
}

/* Between managers, again and again. */
static bool cuts(void)
{
	unsigned n = 0;
	bool ok = true;

	for (uint64_t seed = 1; seed <= 25; seed++) {
		struct vm_trial t;

		vm_trial_run(seed, &(struct vm_trial_opts){.max_switches = 10, .cuts = true}, &t);
		if (!t.ok)
			printf("# weft sim trial --vms --cuts --seed %llu: %s\n",
			       (unsigned long long)seed, t.why);
		ok &= t.ok;
		n += t.cuts;
	}
	return ok && n > 25;
}

/* Managers where programs are in real time. */
static bool at_pfs(void)
{
	bool ok = true;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct vm_trial t;

		vm_trial_run(seed,
			     &(struct vm_trial_opts){
				     .max_switches = 10, .at_pf = true, .cuts = seed > 25},
			     &t);
		if (!t.ok)
			printf("# seed %llu, managers at PFs: %s\n", (unsigned long long)seed,
			       t.why);
		ok &= t.ok;
	}
	return ok;
}

static bool partitions(void)
{
	bool ok = true;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct vm_trial t;

		vm_trial_run(seed,
			     &(struct vm_trial_opts){
				     .max_switches = 10, .partitions = true, .cuts = seed > 30},
			     &t);
		if (!t.ok)
			printf("# weft sim trial --vms --partitions%s --seed %llu: %s\n",
			       seed > 30 ? " --cuts" : "", (unsigned long long)seed, t.why);
		ok &= t.ok;
	}
	return ok;
}

static bool others(void)
{
	return five_fabrics() & cuts() & at_pfs() & partitions();
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_vm_trials",
		.replay = "weft sim trial --vms --seed",
		.batch = 50,
		.again = 10,
		.max_switches = 10,
		.before_name =
			"migrations on five fabrics; subnets cut in two; managers at PFs; partitions",
		.before = others,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
