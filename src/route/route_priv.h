/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to src/route: threads, up/down ranks of fabrics in several parts, and checks that every
 * engine makes.
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

/* A switch in a sentence: its name; its id where a manager has not read names yet. */
static inline const char *rt_switch_text(const struct fab *f, uint32_t s, char buf[32])
{
	const char *name = fab_node_name(f, f->switches[s]);

	if (*name)
		return name;
	fab_node_ident(f, f->switches[s], buf);
	return buf;
}

/* Threads to use when the caller asked for `want` and there are `jobs` pieces of work. For 0: as
 * many as the machine has, but at most one for each million of table entries. A million entries
 * take milliseconds, about as long as the start of a thread on a busy machine. */
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

/* The switch index of a root: a host stands for the switch it is connected to; a host without
 * one, or FAB_NONE, for the first switch. Needs a fabric with switches. */
uint32_t rt_root_switch(const struct fab *f, node_id root);

/*
 * The ranks an engine works with, as o says: 0, 1, 2 ... without gaps, order[] being the switches by
 * rank. Parts that the root cannot reach, and switches for which o->rank holds UINT64_MAX, get ranks
 * of their own behind the others.
 */
void rt_rank_dense(const struct fab *f, const struct rt_opts *o, uint32_t *order, uint64_t *rank);

/* The map from SL to VL from port `in` to port `out` of switch sw; without lanes VL 0 for all. */
const struct rt_sl2vl *rt_sl2vl_at(const struct rt_tables *t, uint32_t sw, unsigned in,
				   unsigned out);
/* Whether some packet may have another SL than 0. */
bool rt_lanes_several_sls(const struct rt_tables *t);

/* The lanes of tables t of fabric `from` for tables c of fabric `to`, which have none yet. */
void rt_lanes_carry(const struct fab *from, const struct rt_tables *t, const struct fab *to,
		    struct rt_tables *c);

/* 0 when t can hold routes to all LIDs of f and no two ports share one; name is for the message. */
int rt_tables_fit(const struct rt_tables *t, const struct fab *f, const char *name, struct err *e);

#endif
