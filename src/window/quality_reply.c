/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quality of routes for a page. Keeps no state. Way in: quality_reply(). Measures nothing itself: src/route/quality.c does.
 */
#include "window/quality_reply.h"

#include "route/quality.h"

static struct rt_tables *copy_tables(const struct quality_tables *t)
{
	struct rt_tables *c = rt_tables_new(t->nswitches, t->top_lid);

	for (uint32_t s = 0; s < t->nswitches; s++)
		memcpy(rt_row(c, s), t->out + s * t->stride, t->top_lid + 1);
	return c;
}

static void add_share(struct json *j, const char *key, uint64_t share)
{
	json_fixed(j, key, (share + 500) / 1000, 6);
}

static void add_pattern(struct json *j, enum rt_pattern p, const struct rt_shares *s)
{
	json_open(j, NULL, '{');
	json_str(j, "pattern", rt_pattern_names[p]);
	json_u64(j, "flows", s->flows);
	json_u64(j, "drawn", s->patterns);
	json_u64(j, "no_path", s->no_path);
	add_share(j, "mean", rt_shares_mean(s));
	add_share(j, "p5", (uint64_t)rt_shares_percentile(s, 50) * (RT_SHARE_ONE / 1000));
	add_share(j, "worst", s->worst);
	json_u64(j, "busiest", s->busiest);
	json_close(j);
}

/* Flows are those of one bisection, in the mean. */
static void add_link(struct json *j, const struct fab *f, const struct rt_quality *q, port_id p,
		     const struct quality_places *where)
{
	uint64_t patterns = MAX(q->by[RT_BISECTION].patterns, 1u);
	uint32_t link = where->link(where->ctx, p);

	json_open(j, NULL, '{');
	if (link == UINT32_MAX)
		json_none(j, "link");
	else
		json_u64(j, "link", link);
	json_u64(j, "from", where->node(where->ctx, f->ports[p].node));
	json_u64(j, "port", f->ports[p].num);
	json_fixed(j, "flows", (q->flows[p] * 1000 + patterns / 2) / patterns, 3);
	json_u64(j, "routes", q->routes[p]);
	json_close(j);
}

static void add_paths(struct json *j, const struct rt_quality *q)
{
	json_open(j, "hops", '{');
	json_u64(j, "max", q->hops_max);
	json_fixed(j, "mean",
		   q->hops_paths ? (q->hops_sum * 1000 + q->hops_paths / 2) / q->hops_paths : 0, 3);
	json_close(j);
}

static void add_all(struct json *j, const struct fab *f, const struct rt_quality *q,
		    const struct quality_places *where)
{
	port_id worst[QUALITY_WORST];
	uint32_t n = rt_quality_worst_links(f, q, worst, QUALITY_WORST);

	json_u64(j, "hosts", q->hosts);
	json_u64(j, "without_lid", q->without_lid);
	json_u64(j, "links", q->links / 2);
	if (q->hops_paths)
		add_paths(j, q);
	else
		json_none(j, "hops");
	json_open(j, "patterns", '[');
	for (unsigned p = 0; p < RT_NPATTERNS; p++)
		if (q->by[p].flows)
			add_pattern(j, p, &q->by[p]);
	json_close(j);
	json_open(j, "worst", '[');
	for (uint32_t i = 0; i < n; i++)
		add_link(j, f, q, worst[i], where);
	json_close(j);
}

int quality_reply(const struct fab *f, const struct quality_tables *t,
		  const struct quality_places *where, struct json *reply, struct err *e)
{
	struct rt_quality_opts o = {.seed = 1, .threads = 1};
	struct rt_quality q = {0};
	struct rt_tables *copy;
	rt_hosts hosts = {0};
	uint32_t n;
	int rc;

	rt_quality_hosts(f, &hosts);
	n = (uint32_t)hosts.n;
	vec_free(&hosts);
	if (n < 2)
		return err_set(e, -EINVAL, "expected two hosts with a LID and a cable, or more");
	o.quick = n > QUALITY_ALL;
	o.patterns = MIN(MAX(QUALITY_FLOWS / n, 4u), (uint32_t)QUALITY_PATTERNS);
	copy = copy_tables(t);
	rc = rt_quality(f, copy, &o, &q, e);
	rt_tables_free(copy);
	if (rc)
		return rc;
	add_all(reply, f, &q, where);
	rt_quality_free(&q);
	return 0;
}
