/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call of the simulation's event queue since record.on was set: RECORD_POP, or the time of a
 * push << 8 | its priority. Times from 20 hours on are all the same here.
 */
#ifndef WEFT_BENCH_RECORDER_H
#define WEFT_BENCH_RECORDER_H

#include "base/vec.h"
#include "queue.h"

#define RECORD_POP UINT64_MAX
#define RECORD_MAX (((time_ps)1 << 56) - 2)

extern struct record {
	bool on;
	VEC(uint64_t) log;
} record;

#endif
