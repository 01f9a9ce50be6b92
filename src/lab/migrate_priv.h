/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a run of migrations. migrate.c asks the manager, migrate_draw.c draws VMs and hosts, migrate_measure.c
 * watches devices and packets.
 */
#ifndef WEFT_MIGRATE_PRIV_H
#define WEFT_MIGRATE_PRIV_H

#include "base/rng.h"
#include "lab/device_tables.h"
#include "lab/lab_priv.h"
#include "lab/migrate.h"
#include "lab/watch.h"

struct migrate_vm {
	struct lab_place at;
	uint64_t guid;
};

/* VFs with a VM, or that one comes to. */
struct migrate_slots {
	uint64_t bits[4];
	unsigned n;
};

struct migrate_run {
	struct lab *l;
	const struct lab_migrate_plan *p;
	struct lab_migrate_result *r;
	VEC(struct migrate_vm) vms; /* VM i is "vmI" */
	VEC(node_id) hosts;	    /* hypervisors that the manager reaches */
	struct migrate_slots *used; /* by node */
	size_t first;		    /* of r->all, that are under way */
	size_t open;		    /* requests without an answer */
	struct rng rng;
	bool moving[65536]; /* by LID: of a VM that migrates */
	bool moved[65536];  /* by LID: its entries may have changed */
	bool counting;
	struct lab_device_tables before;
	struct lab_watch watch;
};

/* migrate_draw.c */
node_id migrate_host_draw(struct migrate_run *x, node_id but); /* with a free VF; FAB_NONE */
/* The next host in turn with a free VF, so that all have as many VMs. */
node_id migrate_host_next(struct migrate_run *x, size_t vm);
/* n different VMs, and places for them so that each host has about as many as before; FAB_NONE: none was found. */
void migrate_draw_together(struct migrate_run *x, size_t *vms, struct lab_place *to, size_t n);
/* The first free VF of the host, or this one, is taken; it is free again. */
struct lab_place migrate_place_take(struct migrate_run *x, struct lab_place at);
void migrate_place_free(struct migrate_run *x, struct lab_place at);

/* migrate_measure.c */
int migrate_measure_begin(struct migrate_run *x, struct err *e); /* traffic starts, too */
void migrate_measure_end(struct migrate_run *x);
void migrate_answered(struct migrate_run *x, size_t migration); /* the manager did */

#endif
