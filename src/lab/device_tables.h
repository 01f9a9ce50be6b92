/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The linear tables that devices hold, and how many of their entries a change altered (thesis Fig. 103): destinations
 * that came or went, or whose output port is another one. What the manager knows of the tables does not count.
 */
#ifndef WEFT_DEVICE_TABLES_H
#define WEFT_DEVICE_TABLES_H

#include "lab/lab.h"

struct lab_device_tables {
	uint32_t stride; /* LIDs of a row, from 0 */
	uint8_t *
		port; /* by switch of the fabric, then by LID; 255: no entry, or the switch is off */
};

void lab_device_tables_read(const struct lab *l, struct lab_device_tables *t);
void lab_device_tables_free(struct lab_device_tables *t);
/* Entries of the switches that are on now that differ from t. */
uint64_t lab_device_tables_changed(const struct lab *l, const struct lab_device_tables *t);

#endif
