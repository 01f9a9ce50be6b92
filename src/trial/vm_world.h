/* SPDX-License-Identifier: BSD-2-Clause */
/* The world of a trial of virtual machines, and what must hold in it. Private to the files vm_*.c. */
#ifndef WEFT_VM_WORLD_H
#define WEFT_VM_WORLD_H

#include "lab/watch.h"
#include "trial/vm_trial.h"

enum { VM_NAMES = 16, VM_MANAGERS = 3 };

struct vm_entry { /* a VM, as the answers say */
	bool exists, running;
	uint64_t guid, host;
	unsigned slot;
	uint16_t lid;
};

typedef VEC(struct sm_vm_request) vm_requests;

/* Tables that copies and swaps predict, from the last check on. */
struct vm_prediction {
	bool holds;
	uint8_t *entries; /* by switch of the compact fabric, then LID */
	uint16_t *slots;  /* LIDs of VFs, by node and slot */
	uint32_t rounds;  /* of the manager at that check */
	unsigned restarts;
	const struct sm *by; /* the master then */
};

struct vm_world {
	struct vm_trial_opts opts;
	struct rng rng;
	struct fab *fab, *wire; /* compact, and what devices show */
	struct lab *lab;
	struct sim *sim;
	node_id seats[VM_MANAGERS]; /* nodes of managers */
	uint32_t token;
	vm_requests asked, lost; /* without an answer; those that never get one */
	struct vm_entry vms[VM_NAMES];
	struct vm_prediction predicted;
	struct pol *policy;	/* with opts.partitions, once VMs were created */
	bool policy_stands;	/* devices were at rest with it */
	bool divided;		/* parts have masters of their own, or have just been joined */
	struct lab_watch watch; /* cycles of dependencies, at every change of a device */
	struct vm_trial *out;
};

/* vm_fabrics.c: a compact fabric with VFs, and the nodes of managers */
struct fab *vm_fabric_draw(struct vm_world *t, enum fab_sriov sriov, struct err *e);
unsigned vm_seats_draw(struct vm_world *t, unsigned n); /* how many there are */

/* vm_cut.c: two parts with a master each; the caller joins them */
void vm_cut(struct vm_world *t);

/* vm_partitions.c */
void vm_partitions_set(struct vm_world *t);			/* another policy */
void vm_partitions_moment(struct vm_world *t);			/* what holds at every moment */
void vm_partitions_check(struct vm_world *t, const char *when); /* and at rest */

/* vm_ledger.c: what VMs must be by the answers */
void vm_ledger_answer(struct vm_world *t, const struct sm_vm_result *r);
void vm_ledger_crash(struct vm_world *t); /* requests so far get no answer */
void vm_ledger_check(struct vm_world *t, const char *when);
struct vm_entry *vm_entry_of(struct vm_world *t, const char *name); /* NULL */

/* vm_predict.c */
void vm_predict_result(struct vm_world *t, const struct sm_vm_request *q,
		       const struct sm_vm_result *r, const struct vm_entry *before);
void vm_predict_check(struct vm_world *t, const char *when);
void vm_predict_free(struct vm_world *t);

/* vm_checks.c */
void vm_checks_start(struct vm_world *t);	     /* watches devices at every moment */
void vm_check(struct vm_world *t, const char *when); /* at rest */
/* The port of a function, in the devices' view; slot 0 is the PF. */
port_id vm_function(const struct vm_world *t, node_id host, unsigned slot);

#endif
