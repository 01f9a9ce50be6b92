/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations of virtual machines on computed tables: which entries change, in how many SMPs and stages, and
 * whether every state on the way is sound. No manager and no device takes part; `weft sim migrate` has
 * both.
 */
#ifndef WEFT_ROUTE_MIGRATIONS_H
#define WEFT_ROUTE_MIGRATIONS_H

#include "base/rng.h"
#include "route/moves.h"

/* How far apart the switches of the two hosts are. */
enum mig_class {
	MIG_LEAF,   /* the same switch */
	MIG_POD,    /* neighbours, or with a common neighbour */
	MIG_ACROSS, /* farther */
	MIG_NCLASSES
};

extern const char *const mig_class_name[]; /* "leaf", "pod", "across" */

/* A place for a VM: a VF, or the host itself where there are none. */
struct mig_slot {
	node_id host;
	unsigned slot; /* 0: the host's own LID */
	uint16_t
		lid; /* prepopulated: its own, which changes with migrations; dynamic: of the host */
};

/* Dynamic: one on each host at the start. */
struct mig_vm {
	uint16_t lid;
	uint32_t slot; /* where it is */
};

struct mig {
	struct fab *f; /* with LIDs */
	struct rt_tables *t;
	uint64_t *rank; /* NULL: not known */
	bool swap;	/* prepopulated LIDs */
	unsigned threads;
	uint32_t lids;		    /* without those of VMs that started */
	VEC(struct mig_slot) slots; /* by the switch of their host, then host, then slot */
	uint32_t *first;	    /* by switch: its slots; one more at the end */
	VEC(struct mig_vm) vms;	    /* dynamic only, by the slots where they started */
	rt_move_entries e;
};

struct mig_result {
	enum mig_class class;
	uint16_t lid;
	uint32_t smps;	   /* for tables, as the stages have them */
	uint32_t together; /* if each block were sent once */
	uint32_t switches, entries, stages, drains;
	uint64_t states; /* that were verified */
	bool sound;	 /* all of them */
	char why[192];
};

struct mig_opts {
	bool swap;
	unsigned vfs; /* 0: as the fabric has them */
	const char *engine;
	struct rt_opts routes;
};

/* Fill m for a copy of f in which every VF (prepopulated), or one VM on each host (dynamic), has a LID.
 * -EINVAL, -ENOSPC with e filled. */
int mig_make(struct mig *m, const struct fab *f, const struct mig_opts *o, struct err *e);
void mig_free(struct mig *m);

uint32_t mig_find(const struct mig *m, node_id host, unsigned slot); /* FAB_NONE */
/* A VM, by the slot where it is (prepopulated) or where it started (dynamic), and a slot on another host for
 * it to go to, as far apart as wanted, MIG_NCLASSES: any; false when no such pair was found. */
bool mig_draw(const struct mig *m, struct rng *r, enum mig_class want, uint32_t *vm, uint32_t *to);

/* The VM goes to this slot, and the tables with it. verify: mixtures of each stage to draw and to
 * verify, besides the states between stages; 0: none. */
int mig_run(struct mig *m, uint32_t vm, uint32_t to, unsigned verify, struct rng *r,
	    struct mig_result *out, struct err *e);

#endif
