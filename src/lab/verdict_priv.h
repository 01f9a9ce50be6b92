/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between verdict.c and lane_verdict.c.
 */
#ifndef WEFT_VERDICT_PRIV_H
#define WEFT_VERDICT_PRIV_H

#include "lab/verdict.h"

/* Whether devices and hosts have the lanes of these tables of the manager; why: which do not. */
bool lab_lanes_same(const struct lab *l, const struct fab *known, const struct rt_tables *t,
		    char why[LAB_WHY]);
/* The lanes that devices and hosts have, into tables of the subnet f; none, while hosts have learnt no service levels. */
void lab_lanes_read(const struct lab *l, const struct fab *f, struct rt_tables *t);

#endif
