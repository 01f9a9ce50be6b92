/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a queue gives the same events in the same order as the binary heap, on a load drawn from
 * the seed: ties, bursts, timers far away, drained queues, events before those already taken.
 */
#ifndef WEFT_BENCH_CHECK_H
#define WEFT_BENCH_CHECK_H

#include "queue.h"

bool check_queue(const struct queue *k, uint64_t seed);

#endif
