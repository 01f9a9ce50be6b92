/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What weft route quality measured, as JSON. Keeps no state. Way in: quality_json(). Measures nothing: src/route/quality.c
 * does.
 */
#include "cli/quality_report.h"

/* Shares with six digits. */
static void share(struct json *j, const char *key, const struct rt_shares *s, uint64_t v)
{
	if (s->flows)
		json_fixed(j, key, (v + 500) / 1000, 6);
	else
		json_none(j, key);
}

static void json_shares(struct json *j, enum rt_pattern p, const struct rt_shares *s)
{
	static const struct {
		const char *key;
		unsigned per_mille;
	} percentiles[] = {{"p1", 10}, {"p5", 50}, {"p25", 250}, {"p50", 500}, {"p75", 750}};
	unsigned last = RT_LINK_BINS;

	json_open(j, rt_pattern_names[p], '{');
	json_u64(j, "patterns", s->patterns);
	json_u64(j, "flows", s->flows);
	json_u64(j, "no_path", s->no_path);
	share(j, "mean", s, rt_shares_mean(s));
	share(j, "worst_pattern", s, s->worst_pattern);
	share(j, "worst", s, s->worst);
	for (unsigned i = 0; i < ARRAY_LEN(percentiles); i++)
		share(j, percentiles[i].key, s,
		      (uint64_t)rt_shares_percentile(s, percentiles[i].per_mille) *
			      (RT_SHARE_ONE / 1000));
	json_u64(j, "busiest", s->busiest);
	while (last && !s->links[last - 1])
		last--;
	json_open(j, "links", '[');
	for (unsigned i = 0; i < last; i++)
		json_u64(j, NULL, s->links[i]);
	json_close(j);
	json_close(j);
}

static void json_end(struct json *j, const struct fab *f, const char *key, port_id p)
{
	char id[32];

	fab_node_ident(f, f->ports[p].node, id);
	json_open(j, key, '{');
	json_str(j, "id", id);
	json_str(j, "name", fab_node_name(f, f->ports[p].node));
	json_u64(j, "port", f->ports[p].num);
	json_close(j);
}

static void json_worst(struct json *j, const struct quality *x)
{
	port_id worst[QUALITY_WORST_LINKS];
	uint32_t n = rt_quality_worst_links(x->f, &x->q, worst, QUALITY_WORST_LINKS);
	uint64_t patterns = MAX(x->q.by[RT_BISECTION].patterns, 1u);

	json_open(j, "worst_links", '[');
	for (uint32_t i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_end(j, x->f, "from", worst[i]);
		json_end(j, x->f, "to", x->f->ports[worst[i]].peer);
		json_fixed(j, "flows", (x->q.flows[worst[i]] * 1000 + patterns / 2) / patterns, 3);
		json_u64(j, "routes", x->q.routes[worst[i]]);
		json_close(j);
	}
	json_close(j);
}

static void json_paths(struct json *j, const struct rt_quality *q)
{
	json_open(j, "hops", '{');
	json_u64(j, "max", q->hops_max);
	json_fixed(j, "mean",
		   q->hops_paths ? (q->hops_sum * 1000 + q->hops_paths / 2) / q->hops_paths : 0, 3);
	json_close(j);
	json_u64(j, "lanes", q->lanes);
	json_open(j, "by_lane", '[');
	for (unsigned i = 0; i < RT_MAX_VLS; i++)
		if (i < q->lanes || q->by_lane[i])
			json_u64(j, NULL, q->by_lane[i]);
	json_close(j);
}

static void json_verdict(struct json *j, const struct quality *x)
{
	const struct rt_report *r = &x->verdict;

	json_bool(j, "verified", r->ok);
	route_islands_json(j, r);
	json_u64(j, "unreachable", r->unreachable + r->loops);
	json_u64(j, "discarded", r->discarded);
	json_u64(j, "credit_loops", r->cycles);
	json_open(j, "problems", '[');
	for (uint32_t i = 0; i < r->nproblems; i++)
		json_str(j, NULL, r->problem[i]);
	json_close(j);
}

static void json_changes(struct json *j, const struct quality *x)
{
	if (!x->against) {
		json_none(j, "changed");
		return;
	}
	json_open(j, "changed", '{');
	json_u64(j, "entries", x->changes.entries);
	json_u64(j, "blocks", x->changes.blocks);
	json_u64(j, "switches", x->changes.switches);
	json_u64(j, "lids", x->lids_changed);
	json_close(j);
}

static void str_or_none(struct json *j, const char *key, const char *s)
{
	if (s)
		json_str(j, key, s);
	else
		json_none(j, key);
}

int quality_json(const struct quality *x)
{
	struct json j = {0};

	json_open(&j, NULL, '{');
	str_or_none(&j, "engine", x->engine);
	str_or_none(&j, "why",
		    x->choice.engine ? x->choice.why
		    : x->engine	     ? "given with --engine"
				     : NULL);
	str_or_none(&j, "tables", x->tables);
	json_u64(&j, "hosts", x->q.hosts);
	json_u64(&j, "host_islands", x->q.islands);
	json_u64(&j, "hosts_apart", x->q.apart);
	json_u64(&j, "without_lid", x->q.without_lid);
	json_u64(&j, "storage", x->q.storage);
	json_u64(&j, "switches", x->f->nswitches);
	json_u64(&j, "links", x->q.links / 2);
	json_u64(&j, "seed", x->seed);
	for (unsigned p = 0; p < RT_NPATTERNS; p++)
		json_shares(&j, p, &x->q.by[p]);
	json_paths(&j, &x->q);
	json_verdict(&j, x);
	json_worst(&j, x);
	json_changes(&j, x);
	json_double(&j, "wall_s", x->wall_s);
	json_double(&j, "rss_mib", cli_rss_mib());
	json_close(&j);
	return cli_print_json(&j);
}
