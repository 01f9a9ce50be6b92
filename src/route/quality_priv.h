/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private to quality*.c: the fabric as paths need it, the flows of one pattern, and what one thread works with.
 * Hosts are numbers from 0 here, in the order in which they were given.
 */
#ifndef WEFT_QUALITY_PRIV_H
#define WEFT_QUALITY_PRIV_H

#include "route/quality.h"
#include "route/route_priv.h"

#define BEHIND_HOST    0x80000000u /* or'ed to a port */
#define BEHIND_NOTHING UINT32_MAX

struct meter_switch {
	port_id first;
	uint32_t nports;
};

/* Hosts that cables join. */
struct meter_island {
	const uint32_t *hosts;	 /* in the order in which they were given */
	const uint32_t *by_name; /* in the order of names */
	const uint32_t *storage;
	uint32_t number, n, nstorage;
};

struct meter {
	const struct fab *f;
	const struct rt_tables *t;
	const struct rt_quality_opts *o;
	const port_id *hosts;
	uint32_t n;
	uint32_t *sw; /* by host: its switch; FAB_NONE: a cable to another host */
	struct meter_switch *switches;
	uint32_t *behind; /* by port: the switch at the other end of its cable, or a host's port */
	bool *listed;	  /* by port: it is one of the hosts */
	uint32_t *island; /* by host: the number of its island */
	struct meter_island *islands;
	uint32_t nislands, most;      /* most: hosts of the largest one */
	uint32_t *in_order, *by_name; /* hosts island by island */
	uint64_t apart;		      /* pairs of hosts in two islands */
	uint32_t *shifts;	      /* those to measure */
	uint32_t nshifts;
	uint32_t *storage; /* hosts, island by island */
	bool *is_storage;  /* by host */
	uint32_t nstorage;
	int threads;
};

struct flow {
	uint32_t from, to;
};

/* One thread's. */
struct meter_work {
	VEC(struct flow) flows;
	VEC(uint32_t) steps; /* ports that the flows leave by, flow after flow */
	VEC(uint32_t) ends;  /* by flow: where its steps end */
	uint32_t *load;	     /* by port */
	uint32_t *perm;	     /* by host */
	uint64_t *total;     /* by port: over all patterns; NULL: not wanted */
	struct rt_shares s;
};

/* The LID that a host sends to. */
static inline uint32_t meter_lid(const struct meter *m, uint32_t from, uint32_t to)
{
	const struct fab_port *p = &m->f->ports[m->hosts[to]];

	return p->lid + (m->o->spread ? from & ((1u << p->lmc) - 1) : 0);
}

/* The port by which switch s sends to lid; FAB_NONE: it does not. */
static inline port_id meter_out(const struct meter *m, uint32_t s, uint32_t lid)
{
	uint8_t port = lid <= m->t->top_lid ? rt_row(m->t, s)[lid] : IBA_PORT_NONE;

	if (port == IBA_PORT_NONE && m->t->dflt)
		port = m->t->dflt[s];
	return port && port <= m->switches[s].nports ? m->switches[s].first + port : FAB_NONE;
}

/* The number of the thread that asks. */
static inline int meter_thread(void)
{
#ifdef _OPENMP
	return omp_get_thread_num();
#else
	return 0;
#endif
}

/* quality_islands.c: the islands of hosts. by_name: all hosts in the order of names. */
void meter_islands_find(struct meter *m, const uint32_t *by_name);
void meter_islands_free(struct meter *m);

/* quality_patterns.c: how many patterns of a kind there are; the flows of one, into w->flows. */
uint32_t pattern_count(const struct meter *m, enum rt_pattern p);
void pattern_make(const struct meter *m, enum rt_pattern p, uint32_t i, struct meter_work *w);
void pattern_grid(uint32_t hosts, unsigned dims, uint32_t side[3]);

/* quality_shares.c: follow the flows of a pattern, count them by link, add their shares. */
void shares_add(const struct meter *m, struct meter_work *w);
void shares_one(struct rt_shares *s, uint64_t ends, uint64_t busiest, uint64_t times);
void shares_pattern(struct rt_shares *s, rt_share_sum sum_before, uint64_t flows_before);
void shares_merge(struct rt_shares *into, const struct rt_shares *from);

/* quality_all.c: every pair of hosts: load of links, shares, hops, lanes. */
void meter_all_pairs(const struct meter *m, struct rt_quality *q);

#endif
