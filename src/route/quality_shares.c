/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shares of one pattern's flows, by following each along the tables. State: struct meter_work, a thread's own. Ways
 * in: shares_add(), rt_shares_mean(), rt_shares_percentile(). Makes no patterns: quality_patterns.c does.
 */
#include "route/quality_priv.h"

/* The steps of one flow, counted; none when it has no path. */
static void follow(const struct meter *m, struct meter_work *w, const struct flow *x)
{
	uint32_t lid = meter_lid(m, x->from, x->to);
	uint32_t to = BEHIND_HOST | m->hosts[x->to], at = m->behind[m->hosts[x->from]];
	size_t first = w->steps.n;

	vec_push(&w->steps, m->hosts[x->from]);
	for (uint32_t hops = 0; at != to; hops++) {
		port_id out = FAB_NONE;

		if (!(at & BEHIND_HOST) && hops <= m->f->nswitches)
			out = meter_out(m, at, lid);
		if (out == FAB_NONE) {
			w->steps.n = first;
			return;
		}
		vec_push(&w->steps, out);
		at = m->behind[out];
	}
	for (size_t i = first; i < w->steps.n; i++)
		w->load[w->steps.at[i]]++;
	for (size_t i = first; w->total && i < w->steps.n; i++)
		w->total[w->steps.at[i]]++;
}

void shares_one(struct rt_shares *s, uint64_t ends, uint64_t busiest, uint64_t times)
{
	uint64_t share = busiest ? ends * RT_SHARE_ONE / busiest : 0;

	s->sum += (rt_share_sum)share * times;
	s->worst = s->flows ? MIN(s->worst, share) : share;
	s->flows += times;
	s->count[(share * (RT_SHARE_BINS - 1) + RT_SHARE_ONE / 2) / RT_SHARE_ONE] += times;
	s->no_path += busiest ? 0 : times;
	s->busiest = MAX(s->busiest, busiest);
}

void shares_pattern(struct rt_shares *s, rt_share_sum sum_before, uint64_t flows_before)
{
	uint64_t flows = s->flows - flows_before, mean;

	if (!flows)
		return;
	mean = (uint64_t)((s->sum - sum_before) / flows);
	s->worst_pattern = s->patterns ? MIN(s->worst_pattern, mean) : mean;
	s->patterns++;
}

static void judge(const struct meter_work *w, size_t from, size_t to, struct rt_shares *s)
{
	uint32_t busiest = 0, ends = 0;

	for (size_t i = from; i < to; i++)
		busiest = MAX(busiest, w->load[w->steps.at[i]]);
	if (from < to)
		ends = MAX(w->load[w->steps.at[from]], w->load[w->steps.at[to - 1]]);
	shares_one(s, ends, busiest, 1);
}

/* The links of this pattern by load; loads are 0 afterwards. */
static void count_links(const struct meter *m, struct meter_work *w)
{
	for (size_t i = 0; i < w->steps.n; i++) {
		port_id p = w->steps.at[i];
		bool trunk =
			!(m->behind[p] & BEHIND_HOST) && fab_is_switch(m->f, m->f->ports[p].node);

		if (w->load[p] && trunk)
			w->s.links[MIN(w->load[p], (uint32_t)RT_LINK_BINS - 1)]++;
		w->load[p] = 0;
	}
}

void shares_add(const struct meter *m, struct meter_work *w)
{
	rt_share_sum sum = w->s.sum;
	uint64_t flows = w->s.flows;

	w->steps.n = w->ends.n = 0;
	for (size_t i = 0; i < w->flows.n; i++) {
		follow(m, w, &w->flows.at[i]);
		vec_push(&w->ends, (uint32_t)w->steps.n);
	}
	for (size_t i = 0; i < w->flows.n; i++)
		judge(w, i ? w->ends.at[i - 1] : 0, w->ends.at[i], &w->s);
	shares_pattern(&w->s, sum, flows);
	count_links(m, w);
}

void shares_merge(struct rt_shares *into, const struct rt_shares *from)
{
	if (!from->flows)
		return;
	into->worst = into->flows ? MIN(into->worst, from->worst) : from->worst;
	into->worst_pattern = into->patterns ? MIN(into->worst_pattern, from->worst_pattern)
					     : from->worst_pattern;
	into->patterns += from->patterns;
	into->flows += from->flows;
	into->no_path += from->no_path;
	into->sum += from->sum;
	into->busiest = MAX(into->busiest, from->busiest);
	for (unsigned i = 0; i < RT_SHARE_BINS; i++)
		into->count[i] += from->count[i];
	for (unsigned i = 0; i < RT_LINK_BINS; i++)
		into->links[i] += from->links[i];
}

uint64_t rt_shares_mean(const struct rt_shares *s)
{
	return s->flows ? (uint64_t)((s->sum + s->flows / 2) / s->flows) : 0;
}

unsigned rt_shares_percentile(const struct rt_shares *s, unsigned per_mille)
{
	rt_share_sum want = (rt_share_sum)s->flows * per_mille, seen = 0;
	unsigned i = 0;

	for (; i < RT_SHARE_BINS - 1; i++) {
		seen += (rt_share_sum)s->count[i] * 1000;
		if (seen >= want && seen)
			break;
	}
	return i;
}
