/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a change took, as the thesis defines it (Table 10, 5.5.1, 7.3.1, 8.4): its discovery SMPs include the
 * sweep and the configuration of what is new, its distribution begins with the deactivation and ends when ports
 * are Active again, and times count from the detection.
 */
#ifndef WEFT_THESIS_TERMS_H
#define WEFT_THESIS_TERMS_H

#include "lab/lab.h"

struct lab_thesis {
	uint64_t discovery_smps, distribution_smps;
	uint64_t deactivation_smps, table_smps, activation_smps; /* of the distribution */
	time_ps discovery, distribution;
	time_ps deactivation, tables, activation; /* of the distribution */
	time_ps assimilation; /* until the first tables of the change serve: provisional ones, or final */
	time_ps provisional; /* until provisional tables serve; 0: there were none */
	time_ps final;	     /* until the final ones do */
	uint64_t discarded;  /* packets, until the last round ended; lab_change_run() fills it in */
};

void lab_thesis_terms(const struct lab_sum *s, struct lab_thesis *t);

#endif
