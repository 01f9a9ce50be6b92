/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two files that read OpenSM's QoS policy share: the reader, and values of lines.
 */
#ifndef WEFT_QOS_POLICY_PRIV_H
#define WEFT_QOS_POLICY_PRIV_H

#include "policy/policy_priv.h"

/* A name in a rule, looked up when all is read. */
struct qos_reference {
	enum { QOS_SOURCE, QOS_DESTINATION, QOS_LEVEL } kind;
	size_t rule;
	unsigned line;
	char name[POL_NAME];
};

struct qos_reader {
	struct pol *p;
	struct pol_place at;
	struct err *e;
	int depth;
	unsigned open[4]; /* blocks, outermost first */
	unsigned open_line[4];
	VEC(struct qos_reference) references;
	VEC(struct pol_rule) ulps; /* tried after all other rules */
	unsigned ulp_default;	   /* SL + 1 of the default of qos-ulps; 0: none */
	bool has_level_name;	   /* of the rule that is being read */
};

int qos_fault(struct qos_reader *r, const char *expected, const char *found);
/* "1-3, 7": numbers up to max. */
int qos_ranges(struct qos_reader *r, char *text, uint64_t max, pol_ranges *to);
int qos_ulp_line(struct qos_reader *r, char *line); /* WHO[, SELECTOR RANGES] : SL */

#endif
