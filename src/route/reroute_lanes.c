/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of a reference on another snapshot, for routes without link directions and with any number of lanes
 * (rt_reroute_lanes()). State: struct lane_mend, for one call. Knows no engine: it is the update of any whose SL depends on the
 * switch where a packet enters and on its destination, and whose VL on the link and the SL. SL-to-VL maps stay as they are.
 *
 * For each LID the switches are marked whose route of the reference meets an entry that does not lead on. The others keep their
 * entries and service levels. Marked switches are decided from the destination outwards: each takes the shortest way over
 * decided ones that closes no cycle of dependencies, of equals the one with the fewest routes. It closes none if its packets, and
 * those that come by routes of the reference while tables change, can follow it with the SLs that they have: then the change
 * needs no turn disabled. Where there is no such way, the switch gets another SL, or leaves the latter out of account; and where
 * there is none at all, all routes to that LID go along a spanning tree whose dependencies were kept free.
 *
 * The result depends on the reference and the snapshot alone; on the snapshot of the reference it is the reference.
 */
#include "route/reroute_lanes.h"

enum {
	EFFORT =
		400000000, /* ways that may fail, times links: routes from scratch are quicker then */
	DETOUR = 2, /* links more than the shortest way that a route may have to keep its SL */
	LOST = 1,
	COPIED = 2, /* in reroute.lost: has the column of the first LID of its port */
};

/* ---- one column ---- */

static bool is_decided(const struct lane_mend *m, uint32_t s)
{
	if (m->marked[s] == m->stamp)
		return m->arc[s] != FAB_NONE;
	return m->dist[s] != FAR;
}

static bool is_before(const struct lane_mend *m, uint32_t a, uint32_t b)
{
	const struct graph_arc *arc = m->x.g.arc;

	if (m->dist[arc[a].to] != m->dist[arc[b].to])
		return m->dist[arc[a].to] < m->dist[arc[b].to];
	return m->load[a] < m->load[b];
}

/* Arcs to decided switches, the best first. */
static void offers_find(struct lane_mend *m, uint32_t s)
{
	const struct switch_graph *g = &m->x.g;

	m->noffers = 0;
	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t k = m->noffers;

		if (!is_decided(m, g->arc[a].to))
			continue;
		for (; k && is_before(m, a, m->offer[k - 1]); k--)
			m->offer[k] = m->offer[k - 1];
		m->offer[k] = a;
		m->noffers++;
	}
}

static void switch_decide(struct lane_mend *m, uint32_t s, uint32_t a, unsigned sl)
{
	const struct switch_graph *g = &m->x.g;

	m->arc[s] = a;
	m->dist[s] = m->dist[g->arc[a].to] + 1;
	if (m->sl)
		m->sl[(size_t)s * m->x.t->stride + m->lid] = (uint8_t)sl;
	for (uint32_t v = s; m->to_host && v != m->dest; v = g->arc[m->arc[v]].to)
		m->load[m->arc[v]] += g->senders[s];
}

/* By at most so many links: with the SL that its packets have, and all that may come to it. */
static bool keep_within(struct lane_mend *m, uint32_t s, uint32_t most)
{

	offers_find(m, s);
	for (uint32_t i = 0; i < m->noffers; i++) {
		uint32_t a = m->offer[i];

		if (m->dist[m->x.g.arc[a].to] + 1 > most)
			return false;
		if (!lane_place(m, s, a, lane_sl(m, s), true))
			continue;
		switch_decide(m, s, a, lane_sl(m, s));
		return true;
	}
	return false;
}

static bool switch_keep(struct lane_mend *m, uint32_t s)
{
	return keep_within(m, s, m->dist[s] + DETOUR);
}

static bool switch_force(struct lane_mend *m, uint32_t s)
{
	offers_find(m, s);
	for (uint32_t i = 0; i < m->noffers; i++) {
		uint16_t sls = (uint16_t)(m->base & ~(1u << lane_sl(m, s)));
		unsigned sl = lane_sl(m, s);

		for (;;) {
			if (lane_place(m, s, m->offer[i], sl, false)) {
				switch_decide(m, s, m->offer[i], sl);
				return true;
			}
			if (!sls)
				break;
			sl = (unsigned)__builtin_ctz(sls);
			sls &= (uint16_t)(sls - 1);
		}
	}
	return false;
}

/* By a way of any length if its packets keep their SLs, else by any. */
static bool switch_any(struct lane_mend *m, uint32_t s)
{
	return switch_keep(m, s) || keep_within(m, s, FAR) || switch_force(m, s);
}

/* Those that the function decides leave todo. Returns whether there were any. */
static bool todo_try(struct lane_mend *m, bool (*decide)(struct lane_mend *, uint32_t))
{
	uint32_t n = m->ntodo, kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!decide(m, m->todo[i]))
			m->todo[kept++] = m->todo[i];
	m->ntodo = kept;
	return kept < n;
}

static void column_write(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	for (uint32_t s = 0; s < g->n; s++) {
		uint8_t *at = rt_row(m->x.t, s) + m->lid, port;

		if (m->marked[s] != m->stamp)
			continue;
		port = m->arc[s] == FAB_NONE ? IBA_PORT_NONE : g->arc[m->arc[s]].port;
		m->changed += *at != port;
		*at = port;
	}
	m->columns++;
}

static bool is_too_much(const struct lane_mend *m)
{
	return m->failed * m->x.g.narcs > EFFORT;
}

/* The switches are marked. False: one of them finds no way, though links lead there, and there is no tree. */
static bool column_solve(struct lane_mend *m)
{
	lane_column_known(m);
	if (!m->old || m->x.lost[m->lid]) /* no packet is under way */
		for (uint32_t s = 0; s < m->x.g.n; s++)
			m->was[s] = FAB_NONE;
	while (m->ntodo)
		if (is_too_much(m)) {
			return false;
		} else if (!todo_try(m, switch_keep) && !todo_try(m, switch_any)) {
			if (!lane_tree_route(m))
				return false;
			break;
		}
	column_write(m);
	return true;
}

/* ---- all columns ---- */

static bool broken_solve(struct lane_mend *m)
{
	const struct reroute *x = &m->x;

	for (size_t i = 0; i < x->broken.n;) {
		uint32_t lid = x->broken.at[i].lid;

		lane_column_begin(m, lid, x->at[lid]);
		m->to_host = m->dest != FAB_NONE && rt_row(x->t, m->dest)[lid];
		for (; i < x->broken.n && x->broken.at[i].lid == lid; i++)
			lane_mark(m, x->broken.at[i].sw, true);
		lane_mark_before(m);
		if (!column_solve(m))
			return false;
	}
	return true;
}

static bool lost_solve(struct lane_mend *m, uint32_t to, const struct graph_dest *d)
{
	lane_column_begin(m, d->lid, to);
	m->to_host = d->port;
	for (uint32_t s = 0; s < m->x.g.n; s++)
		lane_mark(m, s, true);
	return column_solve(m);
}

/* A LID of a VF that is new here has the routes of its HCA, as it gets them when a VM moves. */
static void copies_find(struct lane_mend *m)
{
	const struct fab *f = m->x.f;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		const struct fab_vlid *v = &f->vlids[i];

		if (m->x.lost[v->lid] && f->ports[v->port].lid && m->x.at[v->lid] != FAB_NONE)
			m->x.lost[v->lid] = COPIED;
	}
}

static void copies_make(struct lane_mend *m)
{
	const struct fab *f = m->x.f;

	for (uint32_t i = 0; i < f->nvlids; i++) {
		uint32_t lid = f->vlids[i].lid, of = f->ports[f->vlids[i].port].lid;

		for (uint32_t s = 0; m->x.lost[lid] == COPIED && s < m->x.g.n; s++) {
			uint8_t *row = rt_row(m->x.t, s);
			uint8_t *sl = m->sl ? m->sl + (size_t)s * m->x.t->stride : NULL;

			m->changed += row[lid] != row[of];
			row[lid] = row[of];
			if (sl)
				sl[lid] = sl[of];
		}
	}
}

static bool columns_solve(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	if (!broken_solve(m))
		return false;
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->dest_first[s]; i < g->dest_first[s + 1]; i++) {
			uint8_t *at = rt_row(m->x.t, s) + g->dest[i].lid;

			if (m->x.lost[g->dest[i].lid] == LOST && !lost_solve(m, s, &g->dest[i]))
				return false;
			m->changed += *at != g->dest[i].port;
			*at = g->dest[i].port;
		}
	copies_make(m);
	return true;
}

/* ---- lanes of the reference ---- */

static bool is_ingress(const struct fab *f, node_id n, unsigned in)
{
	port_id peer = f->ports[fab_port_id(f, n, in)].peer;

	return !in || (peer != FAB_NONE && !fab_is_switch(f, f->ports[peer].node));
}

/* One row of SLs for all that enter at a switch, one map for all that leave it by a port. */
static bool switch_is_plain(const struct fab *f, const struct rt_tables *t, uint32_t s)
{
	const struct rt_lanes *l = t->lanes;
	node_id n = f->switches[s];

	for (unsigned in = 1; in <= f->nodes[n].nports; in++) {
		if (is_ingress(f, n, in) && l->sl_row[l->first[s] + in] != l->sl_row[l->first[s]] &&
		    memcmp(rt_sl_row(t, l->sl_row[l->first[s] + in]),
			   rt_sl_row(t, l->sl_row[l->first[s]]), t->stride))
			return false;
		for (unsigned out = 1; l->by_pair[s] && out <= f->nodes[n].nports; out++)
			for (unsigned sl = 0; sl < RT_SLS; sl++)
				if (rt_vl(t, s, in, out, sl) != rt_vl(t, s, 0, out, sl))
					return false;
	}
	return true;
}

static int lanes_check(const struct lane_mend *m, struct err *e)
{
	const struct rt_tables *t = m->x.t;

	if (rt_nvls(t) > CHANNEL_VLS)
		return err_set(e, -ENOTSUP, "reroute: the tables of the reference use %u lanes",
			       rt_nvls(t));
	for (uint32_t s = 0; t->lanes && s < t->nswitches; s++)
		if (!switch_is_plain(m->x.f, t, s))
			return err_set(e, -ENOTSUP,
				       "reroute: lanes of the reference depend on input ports");
	return 0;
}

static bool sls_same(const struct lane_mend *m, unsigned a, unsigned b)
{
	for (uint32_t i = 0; i < m->x.g.narcs; i++)
		if (m->vl[(size_t)i * RT_SLS + a] != m->vl[(size_t)i * RT_SLS + b])
			return false;
	return true;
}

static void lanes_read(struct lane_mend *m)
{
	const struct rt_tables *t = m->x.t;
	const struct switch_graph *g = &m->x.g;

	for (uint32_t a = 0; a < g->narcs; a++)
		for (unsigned sl = 0; sl < RT_SLS; sl++)
			m->vl[(size_t)a * RT_SLS + sl] =
				(uint8_t)rt_vl(t, g->arc[a].from, 0, g->arc[a].port, sl);
	for (unsigned sl = 0; sl < RT_SLS; sl++) {
		bool other = true;

		for (unsigned k = 0; k < sl && other; k++)
			other = !(m->base >> k & 1) || !sls_same(m, k, sl);
		m->base |= (uint16_t)(other << sl);
	}
	if (!t->lanes)
		return;
	m->sl = mem_array((size_t)g->n + 1, t->stride);
	for (uint32_t s = 0; s < g->n; s++)
		memcpy(m->sl + (size_t)s * t->stride,
		       rt_sl_row(t, t->lanes->sl_row[t->lanes->first[s]]), t->stride);
}

/* ---- the way in ---- */

static void mend_init(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;
	size_t n = (size_t)g->n + 1, arcs = (size_t)g->narcs + 1;

	m->vl = mem_array(arcs, RT_SLS);
	m->load = mem_array(arcs, sizeof(*m->load));
	m->up = mem_array(n, sizeof(*m->up));
	m->of_tree = mem_array(arcs, sizeof(*m->of_tree));
	m->marked = mem_zarray(n, sizeof(*m->marked));
	m->broken = mem_zarray(n, sizeof(*m->broken));
	m->arc = mem_array(n, sizeof(*m->arc));
	m->was = mem_array(n, sizeof(*m->was));
	m->sls = mem_array(n, sizeof(*m->sls));
	m->was_sls = mem_array(n, sizeof(*m->was_sls));
	m->dist = mem_array(n, sizeof(*m->dist));
	m->list = mem_array(n, sizeof(*m->list));
	m->path = mem_array(n, sizeof(*m->path));
	m->flow = mem_array(n, sizeof(*m->flow));
	m->todo = mem_array(n, sizeof(*m->todo));
	m->offer = mem_array((size_t)g->ports + 1, sizeof(*m->offer));
	channel_order_init(&m->order, g, NULL);
	lanes_read(m);
}

static void mend_free(struct lane_mend *m)
{
	free(m->vl);
	free(m->sl);
	free(m->load);
	free(m->up);
	free(m->of_tree);
	free(m->marked);
	free(m->broken);
	free(m->arc);
	free(m->was);
	free(m->sls);
	free(m->was_sls);
	free(m->dist);
	free(m->list);
	free(m->path);
	free(m->flow);
	free(m->todo);
	free(m->offer);
	vec_free(&m->added);
	channel_order_free(&m->order);
}

static int broken_cmp(const void *a, const void *b)
{
	const struct reroute_broken *x = a, *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

static int solve(struct lane_mend *m, struct err *e)
{
	struct reroute *x = &m->x;
	int rc = 0;
	bool ok;

	mend_init(m);
	copies_find(m);
	if (x->broken.n)
		qsort(x->broken.at, x->broken.n, sizeof(*x->broken.at), broken_cmp);
	ok = lane_deps_collect(m);
	if (ok)
		lane_tree_reserve(m);
	if (!ok || !columns_solve(m))
		rc = is_too_much(m)
			     ? err_set(e, -ETIME, "reroute: too many ways would close a cycle")
			     : err_set(e, -EDEADLK,
				       "reroute: no ways are left that close no cycle");
	else if (m->sl)
		rt_sl_by_switch(x->t, m->sl);
	mend_free(m);
	return rc;
}

static int try(const struct fab *f, const struct rt_before *ref, bool old, struct rt_tables **t,
	       struct rt_update_stats *st, struct err *e)
{
	struct lane_mend m = {.x = {.f = f, .ref = ref}, .old = old};
	int rc;

	m.x.t = rt_tables_carry(ref->f, ref->t, f);
	graph_init(&m.x.g, f, m.x.t->top_lid);
	rc = lanes_check(&m, e);
	if (!rc)
		rc = reroute_compare(&m.x, e);
	if (!rc && f->nswitches)
		rc = solve(&m, e);
	*st = (struct rt_update_stats){.searched = m.columns,
				       .changed = m.changed,
				       .new_links = m.x.new_links,
				       .gone_links = m.x.gone_links};
	m.x.t->entries = m.changed;
	reroute_compare_free(&m.x);
	graph_free(&m.x.g);
	if (rc)
		rt_tables_free(m.x.t);
	else
		*t = m.x.t;
	return rc;
}

/* Where routes that count as long as packets may be on them leave no way, they do not count. */
int rt_reroute_lanes(const struct fab *f, const struct rt_before *ref, struct rt_tables **t,
		     uint64_t *rank UNUSED, struct rt_update_stats *st, struct err *e)
{
	int rc;

	if (ref->t->nswitches != ref->f->nswitches)
		return err_set(e, -EINVAL, "reroute: tables of %u switches for %u of the reference",
			       ref->t->nswitches, ref->f->nswitches);
	rc = try(f, ref, true, t, st, e);
	return rc == -EDEADLK ? try(f, ref, false, t, st, e) : rc;
}
