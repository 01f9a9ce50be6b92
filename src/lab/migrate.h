/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Migrations of virtual machines on a simulated subnet, with or without traffic: bring-up, VMs started, migrations one after
 * another or all at once, and what devices hold afterwards.
 */
#ifndef WEFT_MIGRATE_H
#define WEFT_MIGRATE_H

#include "lab/lab.h"
#include "lab/verdict.h"
#include "sim/traffic/traffic.h"

/* A VF of a host; slot 0: any. */
struct lab_place {
	node_id host;
	unsigned slot;
};

struct lab_migrate_plan {
	const struct fab *fab;	 /* compact; the lab runs on fab_wire() of it */
	struct lab_place vm, to; /* one migration; vm.host FAB_NONE: drawn ones */
	unsigned count;		 /* of drawn ones */
	unsigned vms;		 /* VMs that run, with drawn ones; 0: as many as migrate */
	bool together;		 /* drawn ones are of different VMs, requested at once */
	/* Without the manager's migration: VMs stop, the manager discovers the subnet, computes all routes and writes all
	 * tables, VMs start at their new hosts. */
	bool full;
	uint64_t seed;
	/* NULL: none. Hosts and VMs that run are the hosts of the traffic; its interval is that of a whole host, which
	 * is shared. */
	const struct traffic_config *traffic;
	time_ps inform; /* shared ports: from the manager's answer until others know the VM's new LID */
	time_ps warmup, tail; /* traffic before the first and after the last migration */
	time_ps limit;	      /* for the bring-up, the starts, and each migration */
};

struct lab_migration {
	struct lab_place from, to; /* with slots, as they were and are */
	struct sm_vm_result r;
	uint64_t guid; /* of the VM */
	time_ps cut; /* while no packet could reach it: no VF had its LID, or others did not know that LID */
	time_ps cut_from; /* it is cut off since then; 0: it is not */
};

struct lab_migrate_result {
	bool up;	   /* the subnet came up and all VMs started */
	char why[LAB_WHY]; /* the first thing that is wrong; "": nothing */
	uint32_t hosts, switches, vms;
	uint32_t start_hypervisors, start_tables; /* SMPs that started the first VM */
	VEC(struct lab_migration) all;
	uint32_t refused,
		rounds; /* rounds: of the manager, during the migrations; each computes routes */
	uint64_t round_smps;	     /* SMPs of these rounds */
	uint64_t round_tables;	     /* of them, Sets of table blocks */
	time_ps compute, distribute; /* in these rounds: routes, tables */
	uint64_t disturbed;	     /* entries of other LIDs that changed in switches */
	struct lab_verdict v;
	/* Packets, from the first request on: lost from or to VMs that migrate, and others. */
	uint64_t sent, lost, lost_vms, lost_others;
	time_ps cut_others; /* with traffic: time in which two other hosts or VMs had no route, in steps of 200 us */
	time_ps time; /* from the first request to the last answer */
	uint64_t hash;
};

/* 0, or -EINVAL with e filled. The lab is new, on the wire view, and is powered on here. Free the result in either
 * case. */
int lab_migrate_run(struct lab *l, const struct lab_migrate_plan *p, struct lab_migrate_result *r,
		    struct err *e);
void lab_migrate_free(struct lab_migrate_result *r);
/* The first host that a manager can have; FAB_NONE: there is none. */
node_id lab_migrate_seat(const struct fab *f);

#endif
