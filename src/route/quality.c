/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meter of routes as a whole. State: struct meter, for one run. Ways in: rt_quality() and what quality.h lists beside it.
 * Makes no patterns and follows no paths: quality_patterns.c, quality_shares.c and quality_all.c do.
 */
#include <ctype.h>

#include "base/rng.h"
#include "route/quality_priv.h"

enum { PATTERNS = 1000, STORAGE_EACH = 32, FLOWS_DRAWN = 4096000, CHUNK = 64 };

/* ---- hosts ---- */

static bool is_host(const struct fab *f, port_id p)
{
	const struct fab_node *n = &f->nodes[f->ports[p].node];

	return n->type == IBA_NODE_CA && !(n->flags & FAB_SHARP_AN) && f->ports[p].num &&
	       f->ports[p].peer != FAB_NONE;
}

uint32_t rt_quality_hosts(const struct fab *f, rt_hosts *out)
{
	uint32_t without = 0;

	for (port_id p = 0; p < f->nports; p++) {
		if (!is_host(f, p))
			continue;
		if (f->ports[p].lid)
			vec_push(out, p);
		else
			without++;
	}
	return without;
}

uint32_t rt_quality_patterns(uint32_t hosts)
{
	return hosts <= FLOWS_DRAWN / PATTERNS ? PATTERNS : MAX(FLOWS_DRAWN / hosts, 1u);
}

/* Names with the numbers in them by value: node9 before node10. */
static int name_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t la, lb;
			int c;

			a += strspn(a, "0");
			b += strspn(b, "0");
			la = strspn(a, "0123456789");
			lb = strspn(b, "0123456789");
			if (la != lb)
				return la < lb ? -1 : 1;
			c = memcmp(a, b, la);
			if (c)
				return c;
			a += la;
			b += lb;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	return (*a != 0) - (*b != 0);
}

struct named {
	const char *name;
	uint32_t host;
};

static int named_compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int c = name_compare(x->name, y->name);

	return c ? c : (x->host > y->host) - (x->host < y->host);
}

static uint32_t *order_by_name(const struct meter *m)
{
	uint32_t *order = mem_array(m->n, sizeof(*order));
	struct named *all = mem_array(m->n, sizeof(*all));

	for (uint32_t h = 0; h < m->n; h++)
		all[h] = (struct named){fab_node_name(m->f, m->f->ports[m->hosts[h]].node), h};
	qsort(all, m->n, sizeof(*all), named_compare);
	for (uint32_t h = 0; h < m->n; h++)
		order[h] = all[h].host;
	free(all);
	return order;
}

/* ---- before the first pattern ---- */

static void map_make(struct meter *m)
{
	const struct fab *f = m->f;

	m->switches = mem_array(f->nswitches, sizeof(*m->switches));
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct fab_node *n = &f->nodes[f->switches[s]];

		m->switches[s] = (struct meter_switch){n->first_port, n->nports};
	}
	m->behind = mem_array(f->nports, sizeof(*m->behind));
	for (port_id p = 0; p < f->nports; p++) {
		port_id peer = f->ports[p].peer;

		if (peer == FAB_NONE)
			m->behind[p] = BEHIND_NOTHING;
		else if (fab_is_switch(f, f->ports[peer].node))
			m->behind[p] = f->switch_index[f->ports[peer].node];
		else
			m->behind[p] = BEHIND_HOST | peer;
	}
}

/* All of them, or so many drawn, in order. */
static void shifts_choose(struct meter *m)
{
	uint32_t left = m->most ? m->most - 1 : 0, want = left;
	struct rng r;

	if (m->n > RT_ALL_SHIFTS && !m->o->full)
		want = MIN(want, (uint32_t)RT_SOME_SHIFTS);
	if (m->o->quick)
		want = MIN(want, m->o->patterns);
	m->shifts = mem_array(want, sizeof(*m->shifts));
	rng_seed(&r, m->o->seed, (uint64_t)RT_SHIFTS << 32);
	for (uint32_t k = 1; want > m->nshifts; k++, left--)
		if (rng_below(&r, left) < want - m->nshifts)
			m->shifts[m->nshifts++] = k;
}

static void storage_choose(struct meter *m)
{
	const struct rt_quality_opts *o = m->o;

	m->storage = mem_array(m->n, sizeof(*m->storage));
	m->is_storage = mem_zarray(m->n, sizeof(*m->is_storage));
	for (uint32_t i = 0; !o->storage && i < m->nislands; i++)
		for (uint32_t k = 0; k < m->islands[i].n; k += STORAGE_EACH)
			m->is_storage[m->islands[i].hosts[k]] = true;
	if (o->storage) {
		bool *is = mem_zarray(m->f->nports, sizeof(*is));

		for (uint32_t i = 0; i < o->nstorage; i++)
			is[o->storage[i]] = true;
		for (uint32_t h = 0; h < m->n; h++)
			m->is_storage[h] = is[m->hosts[h]];
		free(is);
	}
	for (uint32_t i = 0; i < m->nislands; i++) {
		struct meter_island *x = &m->islands[i];

		x->storage = m->storage + m->nstorage;
		for (uint32_t k = 0; k < x->n; k++)
			if (m->is_storage[x->hosts[k]])
				m->storage[m->nstorage + x->nstorage++] = x->hosts[k];
		m->nstorage += x->nstorage;
	}
}

static int hosts_check(struct meter *m, struct err *e)
{
	const struct fab *f = m->f;

	m->sw = mem_array(m->n, sizeof(*m->sw));
	m->listed = mem_zarray(f->nports, sizeof(*m->listed));
	for (uint32_t h = 0; h < m->n; h++) {
		port_id p = m->hosts[h];

		if (p >= f->nports || !is_host(f, p) || !f->ports[p].lid || m->listed[p])
			return err_set(
				e, -EINVAL,
				"port %u is not a host with a LID and a cable, or listed twice", p);
		m->listed[p] = true;
		m->sw[h] = f->switch_index[f->ports[f->ports[p].peer].node];
	}
	return 0;
}

static int meter_init(struct meter *m, struct err *e)
{
	uint32_t *by_name;
	int rc = 0;

	if (m->t->nswitches != m->f->nswitches)
		return err_set(e, -EINVAL, "tables of %u switches for a fabric with %u",
			       m->t->nswitches, m->f->nswitches);
	rc = rt_lanes_check(m->f, m->t, e);
	if (!rc)
		rc = hosts_check(m, e);
	if (rc)
		return rc;
	map_make(m);
	by_name = order_by_name(m);
	meter_islands_find(m, by_name);
	free(by_name);
	shifts_choose(m);
	storage_choose(m);
	m->threads = rt_threads(m->o->threads, 256, (uint64_t)m->n * 1000);
	return 0;
}

static void meter_free(struct meter *m)
{
	free(m->sw);
	free(m->listed);
	free(m->switches);
	free(m->behind);
	meter_islands_free(m);
	free(m->shifts);
	free(m->storage);
	free(m->is_storage);
}

/* ---- patterns of a kind ---- */

static struct meter_work *work_new(const struct meter *m)
{
	struct meter_work *w = mem_zalloc(sizeof(*w));

	w->load = mem_zarray(m->f->nports, sizeof(*w->load));
	w->perm = mem_array(m->n, sizeof(*w->perm));
	return w;
}

static void work_free(struct meter_work *w)
{
	vec_free(&w->flows);
	vec_free(&w->steps);
	vec_free(&w->ends);
	free(w->load);
	free(w->total);
	free(w->perm);
	free(w);
}

static void measure(const struct meter *m, enum rt_pattern p, struct meter_work **work)
{
	uint32_t count = pattern_count(m, p);

	for (uint32_t from = 0; from < count; from += MIN((uint32_t)CHUNK, count - from)) {
		uint32_t to = from + MIN((uint32_t)CHUNK, count - from);

		RT_OMP(omp parallel for schedule(dynamic) num_threads(m->threads))
		for (uint32_t i = from; i < to; i++) {
			struct meter_work *w = work[meter_thread()];

			pattern_make(m, p, i, w);
			shares_add(m, w);
		}
		if (m->o->progress)
			m->o->progress(m->o->ctx, p, to, count);
	}
}

/* Links without a flow are those that no pattern has counted. */
static void collect(const struct meter *m, enum rt_pattern p, struct meter_work **work,
		    struct rt_quality *q)
{
	struct rt_shares *s = &q->by[p];
	uint64_t busy = 0;

	for (int i = 0; i < m->threads; i++) {
		shares_merge(s, &work[i]->s);
		for (port_id k = 0; work[i]->total && k < m->f->nports; k++)
			q->flows[k] += work[i]->total[k];
		free(work[i]->total);
		work[i]->total = NULL;
		memset(&work[i]->s, 0, sizeof(work[i]->s));
	}
	for (unsigned i = 1; i < RT_LINK_BINS; i++)
		busy += s->links[i];
	s->links[0] = (uint64_t)s->patterns * q->links - busy;
}

static void measure_all(const struct meter *m, struct rt_quality *q)
{
	struct meter_work **work = mem_array((size_t)m->threads, sizeof(struct meter_work *));

	for (int i = 0; i < m->threads; i++)
		work[i] = work_new(m);
	for (unsigned p = 0; p < RT_NPATTERNS; p++) {
		if (p == RT_ALL_TO_ALL || (m->o->quick && p != RT_BISECTION && p != RT_SHIFTS))
			continue;
		for (int i = 0; p == RT_BISECTION && i < m->threads; i++)
			work[i]->total = mem_zarray(m->f->nports, sizeof(*work[i]->total));
		measure(m, p, work);
		collect(m, p, work, q);
	}
	for (int i = 0; i < m->threads; i++)
		work_free(work[i]);
	free(work);
}

int rt_quality(const struct fab *f, const struct rt_tables *t, const struct rt_quality_opts *o,
	       struct rt_quality *q, struct err *e)
{
	struct meter m = {.f = f, .t = t, .o = o, .hosts = o->hosts, .n = o->nhosts};
	rt_hosts all = {0};
	int rc;

	memset(q, 0, sizeof(*q));
	if (!o->hosts) {
		q->without_lid = rt_quality_hosts(f, &all);
		m.hosts = all.at;
		m.n = (uint32_t)all.n;
	}
	rc = meter_init(&m, e);
	if (!rc) {
		q->hosts = m.n;
		q->storage = m.nstorage;
		q->islands = m.nislands;
		q->apart = m.apart;
		q->patterns = pattern_count(&m, RT_BISECTION);
		q->flows = mem_zarray(f->nports, sizeof(*q->flows));
		q->routes = mem_zarray(f->nports, sizeof(*q->routes));
		for (port_id p = 0; p < f->nports; p++)
			q->links +=
				fab_is_switch(f, f->ports[p].node) && !(m.behind[p] & BEHIND_HOST);
		pattern_grid(m.most, 2, q->grid[0]);
		pattern_grid(m.most, 3, q->grid[1]);
		measure_all(&m, q);
		if (!o->quick)
			meter_all_pairs(&m, q);
	}
	meter_free(&m);
	vec_free(&all);
	return rc;
}

void rt_quality_free(struct rt_quality *q)
{
	free(q->flows);
	free(q->routes);
	q->flows = q->routes = NULL;
}
