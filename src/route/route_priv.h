/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this room share and nobody else needs: threads, and up/down ranks of fabrics in
 * several parts.
 *
 * OpenMP is optional. RT_OMP(omp for ...) is a pragma where the compiler has it and nothing where
 * it has not; no result may depend on which.
 */
#ifndef WEFT_ROUTE_PRIV_H
#define WEFT_ROUTE_PRIV_H

#include "route/route.h"

#ifdef _OPENMP
#include <omp.h>
#define RT_PRAGMA(x) _Pragma(#x)
#define RT_OMP(x)    RT_PRAGMA(x)
#else
#define RT_OMP(x)
#endif

/*
 * Threads to use when the caller asked for `want` and there are `jobs` pieces of work. Asked for 0,
 * as many as the machine has, but no more than one for each million of table entries: that many
 * take milliseconds, and so can it take until a second thread runs where other cores are busy.
 */
static inline int rt_threads(unsigned want, size_t jobs, uint64_t entries)
{
	size_t n = want;

#ifdef _OPENMP
	if (!n)
		n = (size_t)MIN((uint64_t)omp_get_max_threads(), (entries >> 20) + 1);
#else
	(void)entries;
	n = 1;
#endif
	n = MIN(n, MAX(jobs, (size_t)1));
	return (int)MIN(n, (size_t)256);
}

/*
 * As rt_updown_rank(), but parts of the fabric that the root cannot reach get ranks of their own,
 * each counted from its first switch: routes inside such a part are legal as well.
 */
void rt_updown_rank_parts(const struct fab *f, node_id root, uint64_t *rank);

#endif
