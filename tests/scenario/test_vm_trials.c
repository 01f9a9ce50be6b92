/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trials of virtual machines, in TAP. Keeps the totals of a batch of seeds. Way in: main(), which runs seeds FIRST to
 * FIRST+COUNT-1 of vm_trial_run(), every tenth twice, and compares the two trace hashes. Does not judge a trial: src/trial
 * does. usage: test_vm_trials FIRST COUNT [MAX_SWITCHES] [hash]
 * Covers: vm_trial.c, vm_checks.c
 */
#include "seeds.h"
#include "trial/vm_trial.h"

static struct {
	unsigned done, refused, lost, restarts, changes, predicted;
} total;

static void run(struct seed_run *r)
{
	struct vm_trial t;

	vm_trial_run(r->seed, r->max_switches, NULL, &t);
	r->ok = t.ok;
	r->hash = t.hash;
	r->size = t.requests;
	snprintf(r->why, sizeof(r->why), "%s, %s, %u switches, loss %g: %s", t.mechanism, t.scheme,
		 t.switches, t.loss, t.why);
	if (r->again)
		return;
	total.done += t.done;
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
		"%u requests done, %u refused, %u lost with %u managers; %u failures; tables predicted %u times",
		total.done, total.refused, total.lost, total.restarts, total.changes,
		total.predicted);
	memset(&total, 0, sizeof(total));
}

int main(int argc, char **argv)
{
	static const struct seeds trials = {
		.name = "test_vm_trials",
		.replay = "weft sim trial --vms --seed",
		.batch = 50,
		.again = 10,
		.max_switches = 10,
		.run = run,
		.sums = sums,
	};

	return seeds_main(argc, argv, &trials);
}
