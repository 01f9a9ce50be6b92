/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hosts that ask subnet administration in band: each asks for ClassPortInfo, joins the broadcast group of IPoIB and asks for
 * paths to hosts drawn from a seed, by MADs over the fabric to the manager's LID, from the moment when its port is Active. What
 * is not answered is repeated; "busy" is asked again. At the end answers are compared with what devices hold.
 */
#ifndef WEFT_SA_CLIENTS_H
#define WEFT_SA_CLIENTS_H

#include "lab/lab.h"

struct lab_clients_config {
	unsigned clients; /* hosts that ask; fewer where there are fewer */
	unsigned paths;	  /* that each of them asks for */
	uint64_t seed;
};

struct lab_clients_count {
	unsigned clients, done; /* done: all its requests are answered */
	uint64_t requests;	/* sent, repetitions included */
	uint64_t repeated;	/* without an answer in time */
	uint64_t answers, busy, refused;
	unsigned gave_up;	     /* hosts whose request was refused again and again */
	unsigned last_status;	     /* with which, of the last of them */
	uint64_t paths, members;     /* that hosts have in the end */
	uint64_t wrong_paths;	     /* of these: tables of devices do not lead there */
	uint64_t wrong_trees;	     /* pairs of members: not one copy arrives */
	time_ps mean_ps, longest_ps; /* from the first request to the answer */
};

struct lab_clients;

/* Before lab_power_on(), in a lab with cfg.sa. The hosts of managers do not ask. */
struct lab_clients *lab_clients_new(struct lab *l, const struct lab_clients_config *c);
void lab_clients_free(struct lab_clients *c);
/* Runs until all have their answers, or gave up, and the manager is at rest; false: the limit came first, or some gave up. */
bool lab_clients_run(struct lab_clients *c, time_ps limit);
void lab_clients_result(const struct lab_clients *c, struct lab_clients_count *out);

#endif
