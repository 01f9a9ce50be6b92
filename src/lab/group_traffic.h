/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast traffic: groups of hosts drawn from a seed, packets to them, and how many copies of each reached every member.
 * The manager knows the groups by lab_manager_groups(). Serves load.h and change_run.h.
 */
#ifndef WEFT_GROUP_TRAFFIC_H
#define WEFT_GROUP_TRAFFIC_H

#include "lab/lab.h"

struct lab_groups_config {
	unsigned groups, members; /* members of each; fewer where there are fewer hosts */
	uint64_t interval_ps;	  /* between packets to one group, on average */
	uint16_t payload;
	uint64_t seed;
};

struct lab_groups_count {
	unsigned groups, members, sl;
	uint64_t packets; /* sent to groups */
	uint64_t
		expected; /* copies: for each packet, members but the sender whose port was Active then */
	uint64_t delivered; /* of these, that arrived, */
	uint64_t lost;	    /* and that did not, */
	uint64_t futile; /* without those to members that are no longer connected with the sender */
	uint64_t doubled; /* copies beyond the first at a member */
	uint64_t astray;  /* copies at hosts that are no members, or at the sender */
};

struct lab_groups;

/* Draws groups and tells all managers. The lab must have a data plane and a manager at rest. */
struct lab_groups *lab_groups_new(struct lab *l, const struct lab_groups_config *c);
void lab_groups_free(struct lab_groups *g);
/* Runs until switches have the tables of all groups; false: the limit came first. */
bool lab_groups_settle(struct lab_groups *g, time_ps limit);
void lab_groups_watch(struct lab_groups *g); /* it counts copies: the last one that was made does */
void lab_groups_start(struct lab_groups *g); /* from now on, until stop */
void lab_groups_stop(struct lab_groups *g);
/* After stop: runs on until no copy is missing, or for a short while. */
void lab_groups_drain(struct lab_groups *g);
/* Of packets sent since then. part: by node, nodes with the same number are connected; NULL: all are. */
void lab_groups_result(const struct lab_groups *g, time_ps since, const uint32_t *part,
		       struct lab_groups_count *out);

#endif
