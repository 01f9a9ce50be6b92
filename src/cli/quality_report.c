/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What weft route quality measured, as text. Keeps no state. Way in: quality_print(). Measures nothing: src/route/quality.c
 * does.
 */
#include "cli/quality_report.h"

static const char *const titles[RT_NPATTERNS] = {"random bisections",
						 "random permutations",
						 "shifts",
						 "shifts, by name",
						 "all to all",
						 "bit complement",
						 "tornado",
						 "ring",
						 "2-D neighbours",
						 "3-D neighbours",
						 "recursive doubling",
						 "incast to storage"};

static void add_share(struct cli_table *x, uint64_t share)
{
	uint64_t v = (share + RT_SHARE_ONE / 2000) / (RT_SHARE_ONE / 1000);

	cli_table_add(x, "%llu.%03llu", (unsigned long long)(v / 1000),
		      (unsigned long long)(v % 1000));
}

static void add_row(struct cli_table *x, const char *title, const struct rt_shares *s)
{
	static const unsigned percentiles[] = {10, 50, 250, 500, 750};

	cli_table_add(x, "%s", title);
	cli_table_add(x, "%s", cli_count(s->patterns));
	if (!s->flows) {
		for (unsigned i = 0; i < 9; i++)
			cli_table_add(x, "-");
		return;
	}
	add_share(x, rt_shares_mean(s));
	add_share(x, s->worst_pattern);
	add_share(x, s->worst);
	for (unsigned i = 0; i < ARRAY_LEN(percentiles); i++)
		add_share(x, (uint64_t)rt_shares_percentile(s, percentiles[i]) *
				     (RT_SHARE_ONE / 1000));
	cli_table_add(x, "%s", cli_count(s->busiest));
}

static void print_shares(const struct rt_quality *q)
{
	struct cli_table x;

	cli_table_init(&x, "lrrrrrrrrrr", "pattern", "patterns", "mean", "worst pattern",
		       "worst flow", "p1", "p5", "p25", "median", "p75", "busiest link");
	for (unsigned p = 0; p < RT_NPATTERNS; p++)
		add_row(&x, titles[p], &q->by[p]);
	cli_table_print(&x, stdout);
}

static void print_end(const struct fab *f, struct cli_table *x, port_id p)
{
	char id[32];

	fab_node_ident(f, f->ports[p].node, id);
	cli_table_add(x, "%s", fab_node_name(f, f->ports[p].node));
	cli_table_add(x, "%s[%u]", id, f->ports[p].num);
}

static void print_worst(const struct quality *x)
{
	port_id worst[QUALITY_WORST_LINKS];
	uint32_t n = rt_quality_worst_links(x->f, &x->q, worst, QUALITY_WORST_LINKS);
	uint64_t patterns = MAX(x->q.by[RT_BISECTION].patterns, 1u);
	struct cli_table t;

	if (!n)
		return;
	printf("\nbusiest links between switches, by flows in a random bisection:\n");
	cli_table_init(&t, "llllrr", "from", "port", "to", "port", "flows", "routes");
	for (uint32_t i = 0; i < n; i++) {
		uint64_t flows = (x->q.flows[worst[i]] * 100 + patterns / 2) / patterns;

		print_end(x->f, &t, worst[i]);
		print_end(x->f, &t, x->f->ports[worst[i]].peer);
		cli_table_add(&t, "%llu.%02llu", (unsigned long long)(flows / 100),
			      (unsigned long long)(flows % 100));
		cli_table_add(&t, "%s", cli_count(x->q.routes[worst[i]]));
	}
	cli_table_print(&t, stdout);
}

/* Links between switches by flows, in per cent of all links of all bisections. */
static void print_histogram(const struct rt_quality *q)
{
	const struct rt_shares *s = &q->by[RT_BISECTION];
	uint64_t all = (uint64_t)s->patterns * q->links;
	unsigned last = RT_LINK_BINS;

	if (!all)
		return;
	while (last > 1 && !s->links[last - 1])
		last--;
	printf("\nflows over a link between switches in a random bisection:\n");
	for (unsigned i = 0; i < last; i++) {
		double share = (double)s->links[i] / (double)all;

		printf("%3u%s %6.2f %%  %.*s\n", i, i == RT_LINK_BINS - 1 ? "+" : " ", share * 100,
		       (int)(share * 50 + 0.5),
		       "##################################################");
	}
}

static void print_sizes(const struct quality *x)
{
	const struct rt_quality *q = &x->q;

	if (x->tables)
		printf("%-14s %s\n", "tables", x->tables);
	else
		printf("%-14s %s%s%s\n", "engine", x->engine, x->choice.engine ? ": " : "",
		       x->choice.engine ? x->choice.why : "");
	printf("%-14s %s", "hosts", cli_count(q->hosts));
	if (q->without_lid)
		printf(", %s more have no LID", cli_count(q->without_lid));
	if (q->apart)
		printf("; in %s islands, patterns run inside each", cli_count(q->islands));
	if (q->apart)
		printf(": %s pairs of hosts that no cables join have no flow", cli_count(q->apart));
	printf("\n%-14s %s", "switches", cli_count(x->f->nswitches));
	printf(", %s links between them\n", cli_count(q->links / 2));
}

static void print_verdict(const struct quality *x)
{
	const struct rt_report *r = &x->verdict;

	printf("%-14s %s", "verified", r->ok ? "yes" : "NO");
	if (!r->ok)
		printf(": %s credit loops, %s pairs unreachable", cli_count(r->cycles),
		       cli_count(r->unreachable + r->loops + r->discarded));
	printf("\n");
	route_islands_print(stdout, r);
	for (uint32_t i = 0; i < r->nproblems; i++)
		printf("%-14s %s\n", i ? "" : "problems", r->problem[i]);
}

static void print_paths(const struct quality *x)
{
	const struct rt_quality *q = &x->q;
	uint64_t lost = q->by[RT_ALL_TO_ALL].no_path;

	printf("%-14s max %u, mean %.3f\n", "hops", q->hops_max,
	       q->hops_paths ? (double)q->hops_sum / (double)q->hops_paths : 0);
	if (lost)
		printf("%-14s %s of ", "no path", cli_count(lost));
	if (lost)
		printf("%s pairs of hosts\n", cli_count(q->by[RT_ALL_TO_ALL].flows));
	printf("%-14s %u\n", "lanes", q->lanes);
	print_verdict(x);
	if (!x->against)
		return;
	printf("%-14s %s entries in ", "changed", cli_count(x->changes.entries));
	printf("%s blocks of %s switches", cli_count(x->changes.blocks),
	       cli_count(x->changes.switches));
	if (x->lids_changed)
		printf("; %s ports have other LIDs", cli_count(x->lids_changed));
	printf("\n");
}

void quality_print(const struct quality *x)
{
	print_sizes(x);
	print_paths(x);
	printf("\n");
	print_shares(&x->q);
	print_worst(x);
	print_histogram(&x->q);
}
