/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes after a failure, as the manager makes them from a reference: computing, verifying and planning, in CPU time, for one
 * failure of each kind on an m-port 3-tree. State: struct bench. Sends no SMP.
 * usage: update-bench [PORTS [KIND [TIMES]]]
 */
#include "route/route.h"

#include <time.h>

struct bench {
	struct fab *f;
	uint64_t *rank;
	struct rt_tables *t;
	unsigned times;
};

static const char *const kinds[] = {"leaf-link", "upper-link", "leaf", "middle", "top", "pivot"};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool is_top(const struct fab *f, node_id n)
{
	const char *name = fab_node_name(f, n);

	return !strncmp(name, "root", 4) || !strncmp(name, "core", 4);
}

/* A switch in the middle of those of a kind; pivot: that of the smallest rank. */
static node_id switch_of(const struct bench *b, const char *kind)
{
	uint32_t count = 0, best = 0;

	if (!strcmp(kind, "pivot")) {
		for (uint32_t s = 0; s < b->f->nswitches; s++)
			best = b->rank[s] < b->rank[best] ? s : best;
		return b->f->switches[best];
	}
	for (unsigned pass = 0;; pass++, best = count / 2, count = 0)
		for (uint32_t s = 0; s < b->f->nswitches; s++) {
			node_id n = b->f->switches[s];
			const char *name = fab_node_name(b->f, n);
			bool leaf = !strncmp(name, "leaf", 4), top = is_top(b->f, n);

			if (*kind == 'l' ? !leaf : *kind == 't' ? !top : leaf || top)
				continue;
			if (pass && count == best)
				return n;
			count++;
		}
}

static struct fab *without(const struct fab *f, node_id gone, port_id cut)
{
	struct fab_builder *b = fab_builder_new();

	for (node_id n = 0; n < f->nnodes; n++) {
		const struct fab_node *s = &f->nodes[n];
		node_id k;

		if (n == gone)
			continue;
		k = fab_add_node(b, s->type, s->guid, s->nports, "");
		for (unsigned i = 0; i <= s->nports; i++) {
			fab_builder_port(b, k, i)->guid = f->ports[s->first_port + i].guid;
			fab_builder_port(b, k, i)->lid = f->ports[s->first_port + i].lid;
		}
	}
	for (port_id p = 0; p < f->nports; p++) {
		const struct fab_port *s = &f->ports[p];
		port_id q = s->peer;

		if (q != FAB_NONE && q > p && p != cut && q != cut && s->node != gone &&
		    f->ports[q].node != gone)
			fab_add_link(b, fab_builder_find(b, f->nodes[s->node].guid), s->num,
				     fab_builder_find(b, f->nodes[f->ports[q].node].guid),
				     f->ports[q].num);
	}
	return fab_build(b);
}

static void one(const struct bench *b, const char *kind)
{
	bool link = strstr(kind, "link");
	node_id n = switch_of(b, kind);
	port_id p = fab_port_id(b->f, n, b->f->nodes[n].nports);
	struct fab *f = without(b->f, link ? FAB_NONE : n, link ? p : FAB_NONE);
	struct rt_tables *old = rt_tables_carry(b->f, b->t, f), *t = NULL;
	struct rt_before ref = {b->f, b->rank, b->t};
	uint64_t *rank = mem_array(f->nswitches, sizeof(*rank));
	double compute = 1e9, verify = 1e9, plan = 1e9;
	struct rt_update_stats st = {0};
	struct rt_plan pl = {0};
	bool quick = false, planned = false;
	struct err e;

	for (unsigned i = 0; i < b->times; i++) {
		double a = now(), v, c;

		rt_tables_free(t);
		rt_plan_free(&pl);
		if (rt_reroute(f, &ref, &t, rank, &st, &e)) {
			fprintf(stderr, "%s\n", e.text);
			exit(1);
		}
		v = now();
		quick = rt_verify_change(f, t, rank, &ref);
		c = now();
		planned = rt_plan_change(f, old, t, rank, &ref, &pl);
		if (!planned && rt_plan(f, old, t, rank, NULL, 1, &pl, &e)) {
			fprintf(stderr, "%s\n", e.text);
			exit(1);
		}
		compute = MIN(compute, v - a);
		verify = MIN(verify, c - v);
		plan = MIN(plan, now() - c);
	}
	printf("%-10s %9llu entries  %6.1f + %5.1f + %5.1f = %6.1f ms  %s%s%s\n", kind,
	       (unsigned long long)st.changed, compute, verify, plan, compute + verify + plan,
	       rt_plan_name(pl.kind), quick ? "" : ", verified as a whole",
	       planned ? "" : ", planned as a whole");
	rt_plan_free(&pl);
	rt_tables_free(t);
	rt_tables_free(old);
	free(rank);
	fab_free(f);
}

int main(int argc, char **argv)
{
	struct fab_gen g = {
		.kind = "mtree", .dims = {argc > 1 ? (unsigned)atoi(argv[1]) : 36, 3}, .ndims = 2};
	struct bench b = {.times = argc > 3 ? (unsigned)atoi(argv[3]) : 5};
	struct rt_opts o = {.threads = 1};
	struct fab *f;
	struct err e;

	f = fab_generate(&g, &e);
	b.f = f ? fab_assign_lids(f, 0, &e) : NULL;
	if (!b.f)
		return 2;
	b.rank = mem_array(b.f->nswitches, sizeof(*b.rank));
	if (rt_compute(&rt_tree, b.f, &o, &b.t, &e) ||
	    rt_engine_ranks(&rt_tree, b.f, &o, b.rank, &e))
		return 2;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (argc < 3 || !strcmp(argv[2], kinds[i]) || !strcmp(argv[2], "all"))
			one(&b, kinds[i]);
	rt_tables_free(b.t);
	free(b.rank);
	fab_free(b.f);
	fab_free(f);
	return 0;
}
