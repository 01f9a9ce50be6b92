/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that a manager of the laboratory programs instead of computing some: those of a fabric in production, right or
 * wrong. They serve as long as the subnet is the one they were made for; after a change the engine of the manager does.
 */
#ifndef WEFT_GIVEN_TABLES_H
#define WEFT_GIVEN_TABLES_H

#include "lab/lab.h"

struct lab_given {
	const struct fab *fab; /* with the LIDs of the tables, as managers see the fabric */
	const struct rt_tables *tables;
};

/* Every port gets the LID that it has in the tables. Before the manager starts. */
void lab_given_seed(const struct lab_given *g, struct sm *sm);
/* The answer to a request for routes of the subnet that the tables are for. False: it is another subnet. */
bool lab_given_answer(const struct lab_given *g, const struct sm_compute *c, unsigned threads,
		      struct sm_routes *out, struct sm_work_done *done);

#endif
