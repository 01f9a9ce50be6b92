/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependencies between (link, VL) channels of routes that stay and of routes that come. State: order of struct lane_mend. Ways
 * in: lane_deps_collect(), lane_place(). Chooses no way.
 */
#include "route/reroute_lanes.h"

/* ---- routes that stay ---- */

static void dep_note(struct lane_mend *m, uint32_t x, uint32_t y)
{
	*channel_bits(&m->order, x / CHANNEL_VLS, y / CHANNEL_VLS) |=
		channel_bit(x % CHANNEL_VLS, y % CHANNEL_VLS);
}

/* The route of s, as far as packets with its SL were not followed before. */
static void route_follow(struct lane_mend *m, uint32_t s)
{
	const struct switch_graph *g = &m->x.g;
	unsigned sl = lane_sl(m, s);
	uint32_t held = FAB_NONE;

	for (; s != m->dest; s = g->arc[m->arc[s]].to) {
		uint32_t a = m->arc[s];

		if (a == FAB_NONE || m->broken[s] == m->stamp || !lane_serves(m, a, sl))
			return;
		if (held != FAB_NONE)
			dep_note(m, lane_channel(m, held, sl), lane_channel(m, a, sl));
		if (m->sls[s] >> sl & 1)
			return;
		m->sls[s] |= (uint16_t)(1u << sl);
		held = a;
	}
}

static void loads_add(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;

	lane_column_list(m);
	for (uint32_t i = 0; i < m->nlist; i++)
		m->flow[m->list[i]] = g->senders[m->list[i]];
	m->flow[m->dest] = 0;
	for (uint32_t i = m->nlist; i-- > 0;) {
		uint32_t s = m->list[i], a = m->arc[s];

		m->load[a] += m->flow[s];
		m->flow[g->arc[a].to] += m->flow[s];
	}
}

static void column_collect(struct lane_mend *m, bool to_host)
{
	const struct switch_graph *g = &m->x.g;

	memset(m->sls, 0, g->n * sizeof(*m->sls));
	for (uint32_t s = 0; s < g->n; s++)
		if (s != m->dest && (m->old || m->marked[s] != m->stamp))
			route_follow(m, s);
	if (!to_host)
		return;
	for (uint32_t i = 0; i < m->ntodo; i++)
		m->arc[m->todo[i]] = FAB_NONE;
	loads_add(m);
}

/* ---- the order that they follow ---- */

static uint64_t bits_from(const struct lane_mend *m, uint32_t c, uint32_t a)
{
	return *channel_bits(&m->order, c / CHANNEL_VLS, a) >> (c % CHANNEL_VLS * CHANNEL_VLS) &
	       0xff;
}

static void degrees(const struct lane_mend *m, uint32_t *degree)
{
	const struct switch_graph *g = &m->x.g;

	for (uint32_t x = 0; x < g->narcs; x++)
		for (uint32_t a = g->first[g->arc[x].to]; a < g->first[g->arc[x].to + 1]; a++)
			for (uint64_t bits = *channel_bits(&m->order, x, a); bits; bits &= bits - 1)
				degree[channel(a, (unsigned)__builtin_ctzll(bits) % CHANNEL_VLS)]++;
}

/* Channels so that each comes after all that lead to it; false: there is a cycle. */
static bool order_find(struct lane_mend *m)
{
	const struct switch_graph *g = &m->x.g;
	struct channel_order *o = &m->order;
	uint32_t n = g->narcs * CHANNEL_VLS, tail = 0;
	uint32_t *degree = mem_zarray((size_t)n + 1, sizeof(*degree));

	degrees(m, degree);
	for (uint32_t c = 0; c < n; c++)
		if (!degree[c])
			o->at[tail++] = c;
	for (uint32_t i = 0; i < tail; i++) {
		uint32_t c = o->at[i], s = g->arc[c / CHANNEL_VLS].to;

		o->place[c] = i;
		for (uint32_t a = g->first[s]; a < g->first[s + 1]; a++)
			for (uint64_t bits = bits_from(m, c, a); bits; bits &= bits - 1) {
				uint32_t y = channel(a, (unsigned)__builtin_ctzll(bits));

				if (!--degree[y])
					o->at[tail++] = y;
			}
	}
	free(degree);
	return tail == n;
}

/* LIDs that no port has any more keep their entries, and packets may still be on the way to them. */
bool lane_deps_collect(struct lane_mend *m)
{
	const struct reroute *x = &m->x;
	size_t at = 0;

	memset(m->load, 0, ((size_t)x->g.narcs + 1) * sizeof(*m->load));
	memset(m->order.has, 0,
	       ((size_t)x->g.narcs + 1) * MAX(x->g.ports, 1u) * sizeof(*m->order.has));
	for (uint32_t lid = 1; lid <= x->t->top_lid; lid++) {
		bool to_host = false;

		if (x->lost[lid])
			continue;
		lane_column_begin(m, lid, x->at[lid]);
		for (; at < x->broken.n && x->broken.at[at].lid == lid; at++)
			lane_mark(m, x->broken.at[at].sw, true);
		lane_mark_before(m);
		if (m->dest != FAB_NONE) {
			unsigned port = rt_row(x->t, m->dest)[lid];

			to_host = port != 0 && port != IBA_PORT_NONE;
		}
		column_collect(m, to_host);
	}
	return order_find(m);
}

/* ---- routes that come ---- */

bool lane_dep_add(struct lane_mend *m, uint32_t x, uint32_t y)
{
	if (channel_has(&m->order, x, y))
		return true;
	if (!channel_add(&m->order, x, y))
		return false;
	vec_push(&m->added, (struct lane_added){x, y});
	return true;
}

/* Packets with this SL that switch s sends by arc a, to the end of their route. */
static bool packets_add(struct lane_mend *m, uint32_t s, uint32_t a, unsigned sl)
{
	const struct switch_graph *g = &m->x.g;

	while (lane_serves(m, a, sl)) {
		uint32_t next = g->arc[a].to, b = m->arc[next], at = s * RT_SLS + sl;

		if (m->sls[s] >> sl & 1)
			return true;
		m->sls[s] |= (uint16_t)(1u << sl);
		vec_push(&m->added, (struct lane_added){at, at});
		if (next == m->dest)
			return true;
		if (!lane_serves(m, b, sl) ||
		    !lane_dep_add(m, lane_channel(m, a, sl), lane_channel(m, b, sl)))
			return false;
		s = next;
		a = b;
	}
	return false;
}

/* Packets that come to s by a route of the reference and go on by arc a. */
static bool arrivals_add(struct lane_mend *m, uint32_t s, uint32_t a)
{
	const struct switch_graph *g = &m->x.g;

	for (uint32_t k = g->in_first[s]; k < g->in_first[s + 1]; k++) {
		uint32_t c = g->in[k], v = g->arc[c].from;

		if (m->marked[v] != m->stamp || m->was[v] != c)
			continue;
		for (unsigned sl = 0; sl < RT_SLS; sl++)
			if ((m->was_sls[v] >> sl & 1) && lane_serves(m, c, sl) &&
			    (!packets_add(m, s, a, sl) ||
			     !lane_dep_add(m, lane_channel(m, c, sl), lane_channel(m, a, sl))))
				return false;
	}
	return true;
}

void lane_added_remove(struct lane_mend *m)
{
	while (m->added.n) {
		struct lane_added x = m->added.at[--m->added.n];

		if (x.x != x.y)
			channel_remove(&m->order, x.x, x.y);
		else
			m->sls[x.x / RT_SLS] &= (uint16_t) ~(1u << x.x % RT_SLS);
	}
}

bool lane_place(struct lane_mend *m, uint32_t s, uint32_t a, unsigned sl, bool strict)
{
	m->added.n = 0;
	if (packets_add(m, s, a, sl) && (!strict || arrivals_add(m, s, a)))
		return true;
	m->failed++;
	lane_added_remove(m);
	return false;
}
