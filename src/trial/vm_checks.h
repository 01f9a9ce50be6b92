/* SPDX-License-Identifier: BSD-2-Clause */
/* The world of a trial of virtual machines, and what must hold in it. Private to vm_trial.c and vm_checks.c. */
#ifndef WEFT_VM_CHECKS_H
#define WEFT_VM_CHECKS_H

#include "lab/watch.h"
#include "trial/vm_trial.h"

struct vm_world {
	struct rng rng;
	struct fab *fab, *wire; /* compact, and what devices show */
	struct lab *lab;
	struct sim *sim;
	unsigned token, waiting; /* requests without an answer */
	/* tables that copies and swaps predict, from the last check on */
	struct rt_tables *tables;
	struct fab *of;	 /* the snapshot that these are for */
	uint32_t rounds; /* of the manager at that check */
	unsigned restarts;
	struct lab_watch watch; /* cycles of dependencies, at every change of a device */
	bool watched;
	struct vm_trial *out;
};

void vm_checks_start(struct vm_world *t); /* watches devices at every moment */
void vm_checks_free(struct vm_world *t);
void vm_model_result(struct vm_world *t, const struct sm_vm_result *r); /* a request was answered */
void vm_check(struct vm_world *t, const char *when);			/* at rest */

#endif
