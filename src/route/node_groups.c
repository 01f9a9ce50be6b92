/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of hosts. State: none. Ways in: those of node_groups.h. Routes nothing.
 */
#include "route/node_groups.h"
#include "route/quality.h"

unsigned rt_group_count(const struct fab *f, const struct rt_opts *o)
{
	unsigned most = 0;

	for (port_id p = 0; o->group && p < f->nports; p++)
		most = MAX(most, (unsigned)o->group[p]);
	return most + 1;
}

uint8_t *rt_group_by_lid(const struct fab *f, const struct rt_opts *o, uint32_t top_lid)
{
	uint8_t *by = mem_zarray((size_t)top_lid + 1, 1);

	for (port_id p = 0; o->group && p < f->nports; p++) {
		const struct fab_vlid *v;
		uint32_t nv = fab_vlids_of(f, p, &v);

		if (fab_is_switch(f, f->ports[p].node))
			continue;
		for (uint32_t i = 0; f->ports[p].lid && i < 1u << f->ports[p].lmc; i++)
			if (f->ports[p].lid + i <= top_lid)
				by[f->ports[p].lid + i] = o->group[p];
		for (uint32_t i = 0; i < nv; i++)
			if (v[i].lid <= top_lid)
				by[v[i].lid] = o->group[p];
	}
	return by;
}

/* Of one group; adds hosts, and shares multiplied by them. */
static int measure(const struct fab *f, const struct rt_tables *t, struct rt_quality_opts *q,
		   uint64_t sum[2], uint64_t *hosts, struct err *e)
{
	struct rt_quality r;
	int rc = rt_quality(f, t, q, &r, e);

	if (rc)
		return rc;
	if (!r.by[RT_BISECTION].flows) { /* no cables join two of them */
		rt_quality_free(&r);
		return 0;
	}
	sum[0] += q->nhosts * rt_shares_mean(&r.by[RT_BISECTION]);
	sum[1] += q->nhosts * rt_shares_mean(&r.by[RT_SHIFTS]);
	*hosts += q->nhosts;
	rt_quality_free(&r);
	return 0;
}

int rt_group_quality(const struct fab *f, const struct rt_tables *t, const struct rt_opts *o,
		     uint32_t patterns, uint64_t *bisection, uint64_t *shifts, struct err *e)
{
	struct rt_quality_opts q = {
		.quick = true, .seed = 1, .threads = o->threads, .patterns = patterns};
	unsigned n = rt_group_count(f, o);
	uint64_t sum[2] = {0}, hosts = 0;
	rt_hosts all = {0}, some = {0};
	int rc = 0;

	rt_quality_hosts(f, &all);
	for (unsigned g = 0; g < n && !rc; g++) {
		some.n = 0;
		for (size_t i = 0; i < all.n; i++)
			if ((o->group ? o->group[all.at[i]] : 0) == g)
				vec_push(&some, all.at[i]);
		if (some.n < 2)
			continue;
		q.hosts = some.at;
		q.nhosts = (uint32_t)some.n;
		rc = measure(f, t, &q, sum, &hosts, e);
	}
	*bisection = hosts ? sum[0] / hosts : 0;
	*shifts = hosts ? sum[1] / hosts : 0;
	vec_free(&all);
	vec_free(&some);
	return rc;
}
