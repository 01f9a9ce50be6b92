/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The routes to one LID: which switches have to be decided, where the others lead. State: struct lane_mend. Ways in:
 * lane_column_begin(), lane_column_known(). Decides nothing.
 */
#include "route/reroute_lanes.h"

void lane_column_begin(struct lane_mend *m, uint32_t lid, uint32_t to)
{
	const struct switch_graph *g = &m->x.g;

	m->lid = lid;
	m->dest = to;
	m->stamp++;
	m->ntodo = 0;
	for (uint32_t s = 0; s < g->n; s++)
		m->arc[s] = s == to ? FAB_NONE : graph_arc(g, s, rt_row(m->x.t, s)[lid]);
}

/* ---- marks ---- */

void lane_mark(struct lane_mend *m, uint32_t s, bool broken)
{
	if (broken)
		m->broken[s] = m->stamp;
	if (s == m->dest || m->marked[s] == m->stamp)
		return;
	m->marked[s] = m->stamp;
	m->todo[m->ntodo++] = s;
}

void lane_mark_before(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	for (uint32_t i = 0; i < m->ntodo; i++) {
		uint32_t s = m->todo[i];

		for (uint32_t k = g->in_first[s]; k < g->in_first[s + 1]; k++)
			if (m->arc[g->arc[g->in[k]].from] == g->in[k])
				lane_mark(m, g->arc[g->in[k]].from, false);
	}
}

/* ---- routes that stay ---- */

/* The route from s as far as the list has it not yet. */
static void list_add(struct lane_mend *m, uint32_t s)
{
	const struct switch_graph *g = &m->x.g;
	uint32_t n = 0;

	while (m->dist[s] == FAR && m->arc[s] != FAB_NONE && n < g->n) {
		m->path[n++] = s;
		s = g->arc[m->arc[s]].to;
	}
	if (m->dist[s] == FAR)
		return; /* it does not arrive */
	for (; n--; s = m->path[n]) {
		m->dist[m->path[n]] = m->dist[s] + 1;
		m->list[m->nlist++] = m->path[n];
	}
}

void lane_column_list(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	m->nlist = 0;
	memset(m->dist, 0xff, g->n * sizeof(*m->dist));
	if (m->dest == FAB_NONE)
		return;
	m->dist[m->dest] = 0;
	for (uint32_t s = 0; s < g->n; s++)
		list_add(m, s);
}

/* Packets of s with its SL pass all switches of its route. */
static void sls_spread(struct lane_mend *m, uint32_t s, const uint32_t *arc, uint16_t *sls)
{
	uint16_t bit = (uint16_t)(1u << lane_sl(m, s));

	while (s != m->dest && arc[s] != FAB_NONE && !(sls[s] & bit)) {
		sls[s] |= bit;
		s = m->x.g.arc[arc[s]].to;
	}
}

/* ---- those that do not ---- */

static void was_take(struct lane_mend *m)
{
	for (uint32_t i = 0; i < m->ntodo; i++) {
		uint32_t s = m->todo[i];

		m->was[s] = m->broken[s] == m->stamp ? FAB_NONE : m->arc[s];
		m->was_sls[s] = 0;
	}
	for (uint32_t i = 0; i < m->ntodo; i++)
		m->arc[m->todo[i]] = FAB_NONE;
	for (uint32_t i = 0; i < m->ntodo; i++)
		sls_spread(m, m->todo[i], m->was, m->was_sls);
}

static int by_dist(const void *a, const void *b, void *arg)
{
	const uint32_t *dist = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (dist[x] != dist[y])
		return dist[x] < dist[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* The distance over neighbours that are not marked. */
static uint32_t first_dist(const struct lane_mend *m, uint32_t s)
{
	const struct switch_graph *g = &m->x.g;
	uint32_t best = FAR;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t v = g->arc[a].to;

		if (m->marked[v] != m->stamp && m->dist[v] < best)
			best = m->dist[v];
	}
	return best == FAR ? FAR : best + 1;
}

static void neighbours_relax(struct lane_mend *m, uint32_t s, uint32_t *queue, uint32_t *tail)
{
	const struct switch_graph *g = &m->x.g;

	for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++) {
		uint32_t v = g->arc[a].to;

		if (m->marked[v] != m->stamp || m->dist[v] <= m->dist[s] + 1)
			continue;
		m->dist[v] = m->dist[s] + 1;
		queue[(*tail)++] = v;
	}
}

/* From those with a neighbour that is not marked on, in the order of distances: two queues, the first one sorted. A switch
 * whose distance becomes less is in the second as well, before its place in the first. */
static void distances(struct lane_mend *m)
{
	uint32_t n = m->ntodo, head = 0, tail = 0, i = 0, *queue = m->path;
	uint32_t *first = mem_array((size_t)n + 1, sizeof(*first)), done = 0;
	uint32_t *at = mem_array((size_t)n + 1, sizeof(*at));

	for (uint32_t k = 0; k < n; k++)
		m->dist[m->todo[k]] = first_dist(m, m->todo[k]);
	memcpy(first, m->todo, n * sizeof(*first));
	qsort_r(first, n, sizeof(*first), by_dist, m->dist);
	for (uint32_t k = 0; k < n; k++)
		at[k] = m->dist[first[k]];
	while (i < n || head < tail) {
		bool late = head < tail && (i == n || m->dist[queue[head]] <= at[i]);
		uint32_t s = late ? queue[head++] : first[i];
		bool stale = !late && (at[i] == FAR || m->dist[s] != at[i]);

		i += !late;
		if (!stale)
			neighbours_relax(m, s, queue, &tail);
	}
	free(first);
	free(at);
	qsort_r(m->todo, n, sizeof(*m->todo), by_dist, m->dist);
	while (done < n && m->dist[m->todo[done]] != FAR)
		done++;
	m->ntodo = done;
}

void lane_column_known(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	was_take(m);
	lane_column_list(m);
	memset(m->sls, 0, g->n * sizeof(*m->sls));
	for (uint32_t s = 0; s < g->n; s++)
		if (m->marked[s] != m->stamp)
			sls_spread(m, s, m->arc, m->sls);
	distances(m);
}
