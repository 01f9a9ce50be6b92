/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at the levels again and again without new memory; lab_levels() is one such look.
 */
#ifndef WEFT_LEVELS_H
#define WEFT_LEVELS_H

#include "lab/lab.h"

struct lab_scan;

struct lab_scan *lab_scan_new(const struct lab *l);
void lab_scan_free(struct lab_scan *s);
void lab_scan_run(struct lab_scan *s, struct lab_levels *v);
/* One cycle that the last look found, as output ports in order; 0: none. Caller frees *ring. */
size_t lab_scan_cycle(struct lab_scan *s, port_id **ring);
uint64_t lab_scan_steps(const struct lab_scan *s); /* tables looked up so far: what looking costs */

#endif
