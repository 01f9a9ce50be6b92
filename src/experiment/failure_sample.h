/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which failures a sample takes: those that matter most, as far as the fabric's shape tells, and some of the others.
 * The choice depends on the fabric alone, so that every mechanism and engine meets the same failures.
 */
#ifndef WEFT_FAILURE_SAMPLE_H
#define WEFT_FAILURE_SAMPLE_H

#include "experiment/failures.h"

enum { WEIGHT_OF_A_PAIR = 1 << 16 };

struct failure_weights {
	uint64_t *nodes; /* by node */
	uint64_t *ports; /* by port; both ends of a link have the link's */
};

/*
 * Pairs of hosts, in WEIGHT_OF_A_PAIR, that pass each switch and each link between switches if each switch shares
 * what it sends evenly among its shortest ways. In large fabrics from some of the switches with hosts only.
 */
void failure_weights(const struct fab *f, struct failure_weights *out);
void failure_weights_free(struct failure_weights *w);

/*
 * Keeps `many` of the failures from `from` on, in their order: half are those with the largest weights, where many
 * have about the same spread evenly among these; the others are spread over the rest.
 */
void failure_sample(const struct failure_weights *w, lab_failures *all, size_t from, size_t many);

#endif
